//! Activity: how much energy every element moved in a run, and how much power every bond carries.
//!
//! In:  a design; its experiment is run once.
//! Out: [`Activities`]: ∫|P| dt of each element, ranked (Louca, Stein, Hulbert & Sprague 1997), and peak, mean and
//!      root mean square of effort, flow and power of each bond.
//!
//! Sizes of powers are integrated from zero to zero along every step ([`paynter::areas`]), so that they are as exact as the run.
//!
//! **Invariant:** the shares of resistors and storages add up to 1. Sources are listed, but have no share: the question is which
//! element could be left out.

use paynter::Design;
use paynter::areas::Area;
use paynter::compile::{Settings, compile};
use paynter::exec::Engine;
use paynter::experiment::{Layout, run_spec};
use paynter::linear::find_rest;
use paynter::model::graph::{BondGraph, BondId, ElementId, ElementKind};
use paynter::refused::Refused;
use paynter::simulate::{Ending, Wanted, prepare, simulate};
use paynter::symbolic::ExprId;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What an element moved.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementActivity {
    /// Which.
    pub element: ElementId,
    /// Its name.
    pub name: String,
    /// R, C, I …
    pub kind: &'static str,
    /// ∫|P| dt, J.
    pub joules: f64,
    /// Part of the sum over all resistors and storages, 0 where nothing moves; none for a source.
    pub share: Option<f64>,
    /// Shares added up, the largest first; none for a source.
    pub cumulative: Option<f64>,
}

/// What a bond carries.
#[derive(Clone, Debug, PartialEq)]
pub struct BondLoad {
    /// Which.
    pub bond: BondId,
    /// Its name, or its ends.
    pub name: String,
    /// Largest power along the half arrow, and against it, W; both positive or 0.
    pub peak: (f64, f64),
    /// Mean power along the half arrow, W.
    pub mean: f64,
    /// Energy moved either way, J.
    pub joules: f64,
    /// Root mean square of the effort.
    pub effort: f64,
    /// Root mean square of the flow.
    pub flow: f64,
}

/// Activities of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Activities {
    /// Elements with one or more ports, the most active first, sources last.
    pub elements: Vec<ElementActivity>,
    /// All bonds, by [`BondId`].
    pub bonds: Vec<BondLoad>,
    /// Sum over resistors and storages, J.
    pub total: f64,
    /// From when to when, s.
    pub span: (f64, f64),
}

/// Larger graphs have too many integrals for one run.
const MOST_BONDS: usize = 2000;

/// Runs the experiment and adds up.
///
/// # Errors
///
/// See [`Refused`].
pub fn activities(design: &Design) -> Result<Activities, Refused> {
    let plan = &design.plan;
    let mut graph = BondGraph::clone(&design.graph);
    if graph.bonds.len() > MOST_BONDS {
        return Err(Refused::Call(format!(
            "activities of {} bonds are too many for one run; {MOST_BONDS} is the limit",
            graph.bonds.len()
        )));
    }
    let ranked = ranked(&graph);
    let (columns, n_powers) = columns(&mut graph, &ranked);
    let layout = Layout::of(columns.into_iter().map(wanted).collect());
    let mut spec = run_spec(plan, &layout, &[], Engine::Auto);
    // Only what is added up on the way is asked for.
    spec.output_times.clear();
    spec.wants_areas = Some(0..n_powers);
    if !plan.trim.is_empty() {
        let compiled = design.compile()?;
        let (_, rest) = find_rest(design, &compiled)?;
        spec.rest = rest.states;
        spec.parameters.extend(rest.parameters);
    }
    let compiled = compile(Arc::new(graph), Settings::of(plan))?;
    let mut machine = prepare(&compiled, &spec)?;
    let run = simulate(&mut machine, &compiled, &spec, &mut |_| {
        ControlFlow::Continue(())
    });
    let run = run?;
    let end = match run.ending {
        Ending::Reached => plan.stop,
        Ending::Stopped { time, .. } | Ending::Cancelled { time } => time,
        Ending::Failed {
            why: diagnostics, ..
        } => return Err(Refused::Run(diagnostics)),
    };
    let graph = &compiled.graph;
    let joules = joules(graph, &ranked, &run.areas);
    let (elements, total) = rank(graph, &ranked, &joules);
    Ok(Activities {
        elements,
        bonds: loads(graph, &run.areas, n_powers, end - plan.start),
        total,
        span: (plan.start, end),
    })
}

/// Powers of all bonds and of the elements with several ports; then the square of each effort and of each flow. And how many powers.
fn columns(graph: &mut BondGraph, ranked: &[ElementId]) -> (Vec<ExprId>, usize) {
    let bonds = (0..graph.bonds.len() as u32).map(BondId);
    let mut list: Vec<ExprId> = bonds.map(|b| power(graph, b)).collect();
    for &element in ranked {
        if ports(graph, element).len() != 1 {
            let into = power_into(graph, element, &list);
            list.push(into);
        }
    }
    let n_powers = list.len();
    let pool = &mut graph.signals.pool;
    for bond in &graph.bonds {
        for symbol in [bond.effort, bond.flow] {
            let x = pool.symbol(symbol);
            list.push(pool.mul(x, x));
        }
    }
    (list, n_powers)
}

/// ∫|P| dt of each element: that of its bond, or its own.
fn joules(graph: &BondGraph, ranked: &[ElementId], areas: &[Area]) -> Vec<f64> {
    let mut own = areas[graph.bonds.len()..].iter();
    let of = |&element: &ElementId| match ports(graph, element) {
        [bond] => areas[bond.0 as usize].size,
        _ => own.next().map_or(f64::NAN, |area| area.size),
    };
    ranked.iter().map(of).collect()
}

fn loads(graph: &BondGraph, areas: &[Area], n_powers: usize, span: f64) -> Vec<BondLoad> {
    let bonds = (0..graph.bonds.len() as u32).map(BondId);
    let squares = areas[n_powers..].chunks_exact(2);
    let mean_root = |area: &Area| (area.signed / span).max(0.0).sqrt();
    bonds
        .zip(areas)
        .zip(squares)
        .map(|((bond, area), squares)| BondLoad {
            bond,
            name: bond_name(graph, bond),
            peak: peaks(area),
            mean: area.signed / span,
            joules: area.size,
            effort: mean_root(&squares[0]),
            flow: mean_root(&squares[1]),
        })
        .collect()
}

/// Largest power either way; what only comes back by rounding does not come back.
fn peaks(area: &Area) -> (f64, f64) {
    let (along, back) = (area.high.max(0.0), (-area.low).max(0.0));
    let clear = |x: f64, other: f64| if x < ROUNDING * other { 0.0 } else { x };
    (clear(along, back), clear(back, along))
}

/// Part of the peak below which a power the other way is rounding.
const ROUNDING: f64 = 1e-12;

/// Everything that gives, takes or stores.
fn ranked(graph: &BondGraph) -> Vec<ElementId> {
    let all = (0..graph.elements.len() as u32).map(ElementId);
    let is_ranked = |id: &ElementId| {
        !matches!(
            graph.element(*id).kind,
            ElementKind::Zero | ElementKind::One | ElementKind::Tf | ElementKind::Gy
        )
    };
    all.filter(is_ranked).collect()
}

/// Power along the half arrow; the flow of a pseudo bond is a power already.
fn power(graph: &mut BondGraph, bond: BondId) -> ExprId {
    let (effort, flow) = (graph.bond(bond).effort, graph.bond(bond).flow);
    let domain = graph.bond(bond).domain;
    let domain = domain.and_then(|d| graph.domains.get(d.0 as usize));
    let is_pseudo = domain.is_some_and(|d| d.is_pseudo);
    let pool = &mut graph.signals.pool;
    let flow = pool.symbol(flow);
    if is_pseudo {
        return flow;
    }
    let effort = pool.symbol(effort);
    pool.mul(effort, flow)
}

/// The ports of an element through which it takes power; an RS turns into heat what it takes through its first.
fn ports(graph: &BondGraph, id: ElementId) -> &[BondId] {
    let element = graph.element(id);
    match element.kind {
        ElementKind::Rs => &element.ports[..1],
        _ => &element.ports,
    }
}

/// Power into an element through all its ports.
fn power_into(graph: &mut BondGraph, id: ElementId, powers: &[ExprId]) -> ExprId {
    let mut sum = graph.signals.pool.number(0.0);
    for bond in ports(graph, id).to_vec() {
        let p = powers[bond.0 as usize];
        let is_in = graph.bond(bond).head.element == id;
        let pool = &mut graph.signals.pool;
        sum = if is_in {
            pool.add(sum, p)
        } else {
            pool.sub(sum, p)
        };
    }
    sum
}

fn wanted(value: ExprId) -> Wanted {
    Wanted {
        name: String::new(),
        value,
        unit: String::new(),
        factor: 1.0,
        offset: 0.0,
    }
}

fn rank(graph: &BondGraph, ranked: &[ElementId], joules: &[f64]) -> (Vec<ElementActivity>, f64) {
    let is_source =
        |id: ElementId| matches!(graph.element(id).kind, ElementKind::Se | ElementKind::Sf);
    let pairs = || ranked.iter().copied().zip(joules.iter().copied());
    let total: f64 = pairs().filter(|p| !is_source(p.0)).map(|p| p.1).sum();
    let mut list: Vec<(ElementId, f64)> = pairs().collect();
    list.sort_by(|a, b| {
        let sources = is_source(a.0).cmp(&is_source(b.0));
        sources.then(b.1.total_cmp(&a.1)).then(a.0.cmp(&b.0))
    });
    let mut sum = 0.0;
    let rows = list.into_iter().map(|(element, joules)| {
        let part = if total > 0.0 { joules / total } else { 0.0 };
        let share = (!is_source(element)).then_some(part);
        sum += share.unwrap_or(0.0);
        ElementActivity {
            element,
            name: graph.element_name(element),
            kind: graph.element(element).kind.letters(),
            joules,
            share,
            cumulative: share.map(|_| sum),
        }
    });
    (rows.collect(), total)
}

/// The name of a bond, or of its two ends.
pub fn bond_name(graph: &BondGraph, bond: BondId) -> String {
    let bond = graph.bond(bond);
    match bond.name {
        Some(path) => graph.signals.names.display(path),
        None => format!(
            "{} → {}",
            crate::reach::short_name(graph, bond.tail.element),
            crate::reach::short_name(graph, bond.head.element)
        ),
    }
}
