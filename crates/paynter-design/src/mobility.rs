//! Counts a mechanism: bodies, joints, locks, and the freedoms that are left.
//!
//! In:  the graph, and what was found when the mechanism was put together.
//! Out: a [`Mobility`], and messages where nothing is left to move, or where a body hangs on nothing.
//!
//! A body is a part with a translational inertia; a joint is a part with locks. Relative rates of a joint are its
//! 0-junctions, each the difference of two flows.
//!
//! **Invariant:** freedoms are the rates of the bodies that something holds, six each in space, less the independent locks.

use crate::code;
use paynter_exec::Assembly;
use paynter_model::graph::{BondGraph, ElementKind};
use paynter_symbolic::{Dae, Names, PathId};
use paynter_syntax::{Diagnostic, Span};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What a mechanism is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mobility {
    /// Parts with mass.
    pub bodies: usize,
    /// Parts with locks.
    pub joints: Vec<Joint>,
    /// Locks.
    pub locks: usize,
    /// Those of them that others imply.
    pub redundant: usize,
    /// Motions that the locks leave to the bodies, where all locks belong to joints.
    pub freedoms: Option<usize>,
    /// Bodies that nothing holds.
    pub free: Vec<String>,
    /// Where locks are redundant, those whose reactions are determinate all the same.
    pub determinate: Vec<String>,
}

/// A part with locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joint {
    /// Its name.
    pub name: String,
    /// Locks in it.
    pub locks: usize,
    /// Relative motions that it allows, where that can be seen.
    pub freedoms: Option<usize>,
}

impl Mobility {
    /// Counts.
    pub(crate) fn new(graph: &BondGraph, dae: &Dae, assembly: &Assembly) -> Self {
        let rates = rates_of_bodies(graph);
        let bodies: Vec<PathId> = rates.keys().copied().collect();
        let free = free_bodies(graph, dae, &bodies);
        let held = rates.iter().filter(|(body, _)| !free.contains(body));
        let n_rates: usize = held.map(|(_, n)| n).sum();
        let joints = joints(graph, dae);
        let in_joints: usize = joints.iter().map(|joint| joint.locks).sum();
        let is_countable = n_rates > 0 && in_joints == dae.constraints.len();
        let freedoms = n_rates.checked_sub(assembly.rank);
        let name = |path: PathId| graph.signals.names.display(path);
        let determinate = match assembly.redundant.is_empty() {
            true => Vec::new(),
            false => {
                let locks = dae.constraints.iter().enumerate();
                let own = locks.filter(|(i, _)| assembly.shared.binary_search(i).is_err());
                own.map(|(_, lock)| dae.names.display(lock.name)).collect()
            }
        };
        Mobility {
            determinate,
            joints,
            locks: dae.constraints.len(),
            redundant: assembly.redundant.len(),
            freedoms: freedoms.filter(|_| is_countable),
            free: free.into_iter().map(name).collect(),
            bodies: bodies.len(),
        }
    }

    /// One line: `3 bodies, 4 joints, 20 locks (3 redundant), 1 freedom`.
    pub fn summary(&self) -> String {
        let redundant = match self.redundant {
            0 => String::new(),
            n => format!(" ({n} redundant)"),
        };
        let freedoms = self.freedoms.map_or(String::new(), |n| {
            format!(", {}", count(n, "freedom", "freedoms"))
        });
        format!(
            "{}, {}, {}{redundant}{freedoms}",
            count(self.bodies, "body", "bodies"),
            count(self.joints.len(), "joint", "joints"),
            count(self.locks, "lock", "locks"),
        )
    }

    /// Tells whether every joint holds one body more, so that no loop is closed.
    pub(crate) fn is_tree(&self) -> bool {
        self.freedoms.is_some()
            && self.redundant == 0
            && self.joints.len() + self.free.len() == self.bodies
    }

    /// The freedoms of each joint: `main 1, pin 3`.
    pub fn joint_freedoms(&self) -> Vec<String> {
        let seen = self.joints.iter();
        seen.filter_map(|j| Some(format!("{} {}", j.name, j.freedoms?)))
            .collect()
    }

    /// What deserves a message.
    pub(crate) fn messages(&self, graph: &BondGraph, dae: &Dae) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if self.freedoms == Some(0)
            && let Some(lock) = dae.constraints.first()
        {
            let span = graph.part_span(lock.name);
            found.push(
                Diagnostic::warning(
                    code::NO_FREEDOM,
                    "the mechanism has no degree of freedom left: nothing in it can move",
                )
                .primary(
                    span.unwrap_or_else(|| graph.span(lock.origin)),
                    "the first of its joints",
                )
                .fact(self.summary())
                .help("the run gives reactions at rest; remove a joint to let it move"),
            );
        }
        for name in &self.free {
            let span = part_named(graph, name);
            let message = format!("no joint holds `{name}`: it moves freely");
            let note = Diagnostic::note(code::FREE_BODY, message);
            found.push(match span {
                Some(span) => note.primary(span, "joined to nothing that could hold it"),
                None => note,
            });
        }
        found
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The part that an element lies in; itself at the top.
fn part_of(graph: &BondGraph, name: PathId) -> PathId {
    let parent = graph.signals.names.parent(name);
    parent.filter(|&p| p != Names::ROOT).unwrap_or(name)
}

fn part_named(graph: &BondGraph, name: &str) -> Option<Span> {
    let names = &graph.signals.names;
    let mut parts = graph.parts.iter();
    parts.find(|p| names.display(p.0) == name).map(|p| p.1)
}

/// Parts with a translational inertia in more than one direction, each with the number of its rates.
fn rates_of_bodies(graph: &BondGraph) -> BTreeMap<PathId, usize> {
    // Translational and rotational ones.
    let mut rates: BTreeMap<PathId, (usize, usize)> = BTreeMap::new();
    for element in graph.elements.iter().filter(|e| e.kind == ElementKind::I) {
        let Some(name) = element.name else {
            continue;
        };
        let (linear, angular) = rates.entry(part_of(graph, name)).or_default();
        for &bond in &element.ports {
            let domain = graph.bond(bond).domain;
            match domain.map(|d| graph.domains[d.0 as usize].name.as_str()) {
                Some("translational") => *linear += 1,
                Some("rotational") => *angular += 1,
                _ => {}
            }
        }
    }
    let bodies = rates.into_iter().filter(|(_, (linear, _))| *linear > 1);
    bodies
        .map(|(path, (linear, angular))| (path, linear + angular))
        .collect()
}

fn joints(graph: &BondGraph, dae: &Dae) -> Vec<Joint> {
    let names = &graph.signals.names;
    let mut differences: BTreeMap<PathId, usize> = BTreeMap::new();
    for element in graph
        .elements
        .iter()
        .filter(|e| e.kind == ElementKind::Zero)
    {
        let parent = element.name.and_then(|name| names.parent(name));
        if let Some(parent) = parent {
            // A junction of several bonds in parallel is one element with an index for each.
            *differences.entry(parent).or_default() += 1;
        }
    }
    let mut locks: BTreeMap<PathId, usize> = BTreeMap::new();
    for lock in &dae.constraints {
        let parent = names.parent(lock.name).filter(|&p| p != Names::ROOT);
        if let Some(joint) = parent {
            *locks.entry(joint).or_default() += 1;
        }
    }
    let joint = |(path, locks): (PathId, usize)| Joint {
        name: names.display(path),
        locks,
        freedoms: differences.get(&path).and_then(|n| n.checked_sub(locks)),
    };
    locks.into_iter().map(joint).collect()
}

/// Bodies that bonds join neither to another body nor to a lock.
fn free_bodies(graph: &BondGraph, dae: &Dae, bodies: &[PathId]) -> Vec<PathId> {
    let mut group: Vec<usize> = (0..graph.elements.len()).collect();
    fn root(group: &mut [usize], mut k: usize) -> usize {
        while group[k] != k {
            group[k] = group[group[k]];
            k = group[k];
        }
        k
    }

    for bond in &graph.bonds {
        let a = root(&mut group, bond.tail.element.0 as usize);
        let b = root(&mut group, bond.head.element.0 as usize);
        group[a.max(b)] = a.min(b);
    }

    let locks: HashSet<PathId> = dae.constraints.iter().map(|lock| lock.name).collect();
    // Groups of elements that hold something, and for each group the bodies in it.
    let mut held: HashSet<usize> = HashSet::new();
    let mut bodies_of: HashMap<usize, HashSet<PathId>> = HashMap::new();
    for k in 0..graph.elements.len() {
        let element = &graph.elements[k];
        let own = root(&mut group, k);
        let is_lock = element.kind == ElementKind::Sf
            && element.name.is_some_and(|name| locks.contains(&name));
        if element.kind == ElementKind::C || is_lock {
            held.insert(own);
        }
        if let Some(name) = element.name
            && bodies.binary_search(&part_of(graph, name)).is_ok()
        {
            let part = part_of(graph, name);
            bodies_of.entry(own).or_default().insert(part);
        }
    }

    let mut not_free: HashSet<PathId> = HashSet::new();
    for (own, inside) in &bodies_of {
        if held.contains(own) || inside.len() > 1 {
            not_free.extend(inside);
        }
    }

    let free = bodies.iter().filter(|body| !not_free.contains(body));
    free.copied().collect()
}
