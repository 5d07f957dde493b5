//! Parts of a model that drive others and hardly feel them.
//!
//! In:  a design with the [`Activities`] of its run, and a limit.
//! Out: a [`Partition`]: the bonds that act one way, the parts that fall apart there, and the error that cutting them
//!      makes on the recorded columns, from a run of the cut graph.
//!
//! A bond that moves little energy beside the others of a 1-junction has little effort there: the junction hardly feels it, but its flow
//! drives what lies behind the bond (Rideout, Stein & Louca 2007). At a 0-junction it is the other way round. Such a bond is cut at the
//! junction and driven by a source that follows the junction.
//!
//! **Invariant:** only bonds that part storages from storages are cut; what is proposed has been run.

use crate::activity::{Activities, bond_name};
use crate::attach::add_source;
use crate::reach::short_name;
use crate::reduce::{ColumnError, compare, table_of};
use paynter::Design;
use paynter::model::graph::{BondGraph, BondId, ElementId, ElementKind};
use paynter::syntax::Diagnostic;
use std::sync::Arc;

/// A bond that acts one way.
#[derive(Clone, Debug, PartialEq)]
pub struct OneWay {
    /// Which.
    pub bond: BondId,
    /// Its name, or its ends.
    pub name: String,
    /// The junction that drives and does not feel it.
    pub junction: String,
    /// What the junction gives: `flow` of a 1, `effort` of a 0.
    pub gives: &'static str,
    /// Its activity beside that of the most active bond of the junction.
    pub share: f64,
    /// The parts it leads from and to, by position in [`Partition::parts`].
    pub from_to: (usize, usize),
}

/// A model that falls apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Storages and resistors of each part, by name; those that drive come first.
    pub parts: Vec<Vec<String>>,
    /// The bonds between them.
    pub cuts: Vec<OneWay>,
    /// The error on each recorded column.
    pub errors: Vec<ColumnError>,
}

/// Cuts bonds whose activity at a junction is below `limit` of the largest there; none if the model does not fall apart.
///
/// # Errors
///
/// What keeps the model, or the cut one, from being run.
pub fn partition(
    design: &Design,
    activities: &Activities,
    limit: f64,
) -> Result<Option<Partition>, Vec<Diagnostic>> {
    let graph = &design.graph;
    let mut cuts = weak_ends(graph, activities, limit);
    // A bond that parts no storage from another holds after all, and may hold others together.
    let parts = loop {
        let parts = components(graph, &cuts);
        let n_before = cuts.len();
        cuts.retain(|&(bond, _, _)| {
            let [a, b] = ends(graph, bond).map(|e| parts[e.0 as usize]);
            a != b && holds_storage(graph, &parts, a) && holds_storage(graph, &parts, b)
        });
        if cuts.len() == n_before {
            break parts;
        }
    };
    if cuts.is_empty() {
        return Ok(None);
    }
    let order = order_of(graph, &parts, &cuts);
    let position = |e: ElementId| order.iter().position(|&p| p == parts[e.0 as usize]);
    let one_way = cuts.iter().map(|&(bond, junction, share)| {
        let behind = far_end(graph, bond, junction);
        OneWay {
            bond,
            name: bond_name(graph, bond),
            junction: short_name(graph, junction),
            gives: match graph.element(junction).kind {
                ElementKind::One => "flow",
                _ => "effort",
            },
            share,
            from_to: (
                position(junction).unwrap_or(0),
                position(behind).unwrap_or(0),
            ),
        }
    });
    let names = order.iter().map(|&part| names_of(graph, &parts, part));

    let mut cut = design.clone();
    let mut changed = BondGraph::clone(graph);
    for &(bond, junction, _) in &cuts {
        follow(&mut changed, bond, junction);
    }
    cut.graph = Arc::new(changed);
    let errors = compare(&table_of(design)?, &table_of(&cut)?);
    Ok(Some(Partition {
        parts: names.collect(),
        cuts: one_way.collect(),
        errors,
    }))
}

/// A bond, a junction that hardly feels it, and how much it moves there beside the most active bond.
type Weak = (BondId, ElementId, f64);

/// The ends of bonds at which little is felt; where both ends are such, the weaker one.
fn weak_ends(graph: &BondGraph, activities: &Activities, limit: f64) -> Vec<Weak> {
    let moved = |b: BondId| activities.bonds[b.0 as usize].joules;
    let share = |bond: BondId, junction: ElementId| {
        let element = graph.element(junction);
        let is_junction = matches!(element.kind, ElementKind::One | ElementKind::Zero);
        let largest = element.ports.iter().map(|&b| moved(b)).fold(0.0, f64::max);
        (is_junction && largest > 0.0).then(|| moved(bond) / largest)
    };
    let all = (0..graph.bonds.len() as u32).map(BondId);
    let weak = all.filter_map(|bond| {
        let ends = ends(graph, bond).into_iter();
        // A single element that moves little is a matter of reduction.
        let ends = ends.filter(|&e| graph.element(far_end(graph, bond, e)).ports.len() > 1);
        let shares = ends.filter_map(|e| Some((bond, e, share(bond, e)?)));
        let least = shares.min_by(|a, b| a.2.total_cmp(&b.2))?;
        (least.2 < limit).then_some(least)
    });
    weak.collect()
}

fn ends(graph: &BondGraph, bond: BondId) -> [ElementId; 2] {
    let bond = graph.bond(bond);
    [bond.tail.element, bond.head.element]
}

fn far_end(graph: &BondGraph, bond: BondId, near: ElementId) -> ElementId {
    let [tail, head] = ends(graph, bond);
    if tail == near { head } else { tail }
}

/// The part of each element when these bonds are gone: the first element of the part stands for it.
fn components(graph: &BondGraph, without: &[Weak]) -> Vec<ElementId> {
    let mut is_cut = vec![false; graph.bonds.len()];
    without.iter().for_each(|w| is_cut[w.0.0 as usize] = true);
    let n = graph.elements.len();
    let mut parts: Vec<Option<ElementId>> = vec![None; n];
    for first in (0..n as u32).map(ElementId) {
        let mut open = vec![first];
        while let Some(e) = open.pop() {
            if parts[e.0 as usize].is_some() {
                continue;
            }
            parts[e.0 as usize] = Some(first);
            let bonds = graph.element(e).ports.iter();
            let whole = bonds.filter(|b| !is_cut[b.0 as usize]);
            open.extend(whole.map(|&b| far_end(graph, b, e)));
        }
    }
    parts.into_iter().flatten().collect()
}

fn holds_storage(graph: &BondGraph, parts: &[ElementId], part: ElementId) -> bool {
    let members = graph.elements.iter().zip(parts).filter(|m| *m.1 == part);
    members.into_iter().any(|(e, _)| !e.states.is_empty())
}

/// The parts, those that drive before those that are driven, as far as that can be.
fn order_of(graph: &BondGraph, parts: &[ElementId], cuts: &[Weak]) -> Vec<ElementId> {
    let mut open: Vec<ElementId> = parts.to_vec();
    open.sort_unstable();
    open.dedup();
    let part = |e: ElementId| parts[e.0 as usize];
    let mut order = Vec::new();
    while !open.is_empty() {
        let is_driven = |p: ElementId, open: &[ElementId]| {
            cuts.iter().any(|&(bond, junction, _)| {
                part(far_end(graph, bond, junction)) == p
                    && part(junction) != p
                    && open.contains(&part(junction))
            })
        };
        // Parts that drive each other in a circle come in the order of the text.
        let next = (0..open.len()).find(|&k| !is_driven(open[k], &open));
        order.push(open.remove(next.unwrap_or(0)));
    }
    order
}

fn names_of(graph: &BondGraph, parts: &[ElementId], part: ElementId) -> Vec<String> {
    let all = (0..graph.elements.len() as u32).map(ElementId);
    let members = all.filter(|e| parts[e.0 as usize] == part);
    let ranked = members.filter(|&e| {
        let kind = graph.element(e).kind;
        !matches!(
            kind,
            ElementKind::Zero | ElementKind::One | ElementKind::Tf | ElementKind::Gy
        )
    });
    ranked.map(|e| graph.element_name(e)).collect()
}

/// Takes a bond from a junction and drives it by a source that follows the junction.
fn follow(graph: &mut BondGraph, bond: BondId, junction: ElementId) {
    let ports = &mut graph.elements[junction.0 as usize].ports;
    let Some(at) = ports.iter().position(|&b| b == bond) else {
        return;
    };
    ports.remove(at);
    let stay = ports.clone();
    let Some(&other) = stay.first() else { return };
    for (port, &b) in stay.iter().enumerate() {
        let b = &mut graph.bonds[b.0 as usize];
        for end in [&mut b.tail, &mut b.head] {
            if end.element == junction {
                end.port = port as u32;
            }
        }
    }
    let (kind, shared) = match graph.element(junction).kind {
        ElementKind::One => (ElementKind::Sf, graph.bond(other).flow),
        _ => (ElementKind::Se, graph.bond(other).effort),
    };
    let value = graph.signals.pool.symbol(shared);
    let source = add_source(graph, junction, kind, value, bond);
    graph.elements[source.element.0 as usize].is_modulated = true;
    let bond = &mut graph.bonds[bond.0 as usize];
    let near = match bond.tail.element == junction {
        true => &mut bond.tail,
        false => &mut bond.head,
    };
    *near = source;
}
