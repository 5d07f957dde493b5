//! Loop gains: how strongly dependent storages act back on those that set them.
//!
//! In:  a design; its experiment is run once where it has one.
//! Out: [`Loops`]: every class-1 causal path with its gain as a formula, over all angles and along the run; the gain of all loops
//!      together, which decides whether delayed differentiation is stable.
//!
//! **Invariant:** a range "over all angles" is given only for gains that read nothing but parameters and whole multiples of coordinates inside
//! sines and cosines; each coordinate then goes once round.

use crate::reach::short_name;
use paynter::Design;
use paynter::compile::{Settings, compile};
use paynter::exec::Engine;
use paynter::experiment::{Layout, run_spec};
use paynter::model::BondGraph;
use paynter::model::equations::build_equations;
use paynter::model::gains::{LoopGains, loop_gains};
use paynter::refused::Refused;
use paynter::simulate::{Ending, Wanted, prepare, simulate};
use paynter::symbolic::calculus::derivative;
use paynter::symbolic::evaluate::evaluate;
use paynter::symbolic::normal::normal_form;
use paynter::symbolic::print::{Style, to_text};
use paynter::symbolic::walk::{for_each_argument, substitute, symbols_of};
use paynter::symbolic::{Dae, ExprId, Function1, Node, Role, SymbolId};
use paynter::table::Column;
use std::f64::consts::PI;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Least and largest value.
pub type Range = (f64, f64);

/// A gain as a formula, and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    /// In the names of the user.
    pub formula: String,
    /// Along the run.
    pub visited: Option<Range>,
    /// Over all values of the angles that it reads.
    pub angles: Option<Range>,
}

/// One class-1 path.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopPath {
    /// The storage in integral form.
    pub independent: String,
    /// The storage in derivative form.
    pub dependent: String,
    /// All elements, from one to the other.
    pub through: Vec<String>,
    /// Its gain.
    pub gain: Gain,
}

/// What [`loops`] finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Loops {
    /// Every class-1 path.
    pub paths: Vec<LoopPath>,
    /// For each independent storage, the gains of its loops added up.
    pub totals: Vec<(String, Gain)>,
    /// The gain of all loops together, at the recorded instants of the run.
    pub together: Option<Range>,
    /// Dependent storages without a formula: fields, or behind independent junctions.
    pub unknown: Vec<String>,
}

/// Finds the loops.
///
/// # Errors
///
/// See [`Refused`].
pub fn loops(design: &Design) -> Result<Loops, Refused> {
    let causality = design.causality();
    let mut dae = build_equations(&design.graph, &causality);
    let gains = loop_gains(&design.graph, &causality, &mut dae);
    let mut asked: Vec<ExprId> = gains.paths.iter().map(|p| p.gain).collect();
    asked.extend(&gains.totals);
    let visited = match gains.paths.is_empty() || design.plan.name.is_none() {
        true => None,
        false => run(design, &mut dae, &gains, &asked)?,
    };
    let mut gain = |k: usize| Gain {
        formula: formula(&mut dae, asked[k]),
        visited: visited.as_ref().and_then(|v| v.ranges[k]),
        angles: over_all_angles(&design.graph, &mut dae, asked[k]),
    };
    let graph = &design.graph;
    let paths = gains.paths.iter().enumerate().map(|(k, path)| {
        let (from, to) = (
            gains.independent[path.independent].element,
            gains.dependent[path.dependent].element,
        );
        let all = std::iter::once(&from).chain(&path.through).chain([&to]);
        LoopPath {
            independent: short_name(graph, from),
            dependent: short_name(graph, to),
            through: all.map(|&e| short_name(graph, e)).collect(),
            gain: gain(k),
        }
    });
    let paths: Vec<LoopPath> = paths.collect();
    let totals = gains.independent.iter().enumerate();
    let totals = totals.map(|(k, s)| (short_name(graph, s.element), gain(gains.paths.len() + k)));
    Ok(Loops {
        totals: totals.collect(),
        paths,
        together: visited.and_then(|v| v.together),
        unknown: (gains.unknown.iter().map(|&e| short_name(graph, e))).collect(),
    })
}

/// Ranges along a run.
struct Visited {
    ranges: Vec<Option<Range>>,
    together: Option<Range>,
}

/// Runs the experiment with the gains beside its own columns; none if a gain reads what the plain model does not have.
fn run(
    design: &Design,
    dae: &mut Dae,
    gains: &LoopGains,
    asked: &[ExprId],
) -> Result<Option<Visited>, Refused> {
    let mut values = asked.to_vec();
    values.extend(gains.numbers(&mut dae.pool));
    let n_known = design.graph.signals.symbols.len();
    let reads_known = |&e: &ExprId| {
        let read = symbols_of(&dae.pool, e);
        read.iter().all(|s| (s.0 as usize) < n_known)
    };
    if !values.iter().all(reads_known) {
        return Ok(None);
    }
    let mut graph = BondGraph::clone(&design.graph);
    // The pool of the equations begins with that of the graph.
    graph.signals.pool = dae.pool.clone();
    let wanted = values.iter().map(|&value| Wanted {
        name: String::new(),
        value,
        unit: String::new(),
        factor: 1.0,
        offset: 0.0,
    });
    let layout = Layout {
        wanted: wanted.collect(),
        n_recorded: values.len(),
        n_locks: 0,
        n_gains: 0,
        measured: Vec::new(),
        named: Vec::new(),
        margins: Vec::new(),
    };
    let mut spec = run_spec(&design.plan, &layout, &[], Engine::Auto);
    spec.wants_ranges = true;
    let settings = Settings::of(&design.plan);
    let compiled = compile(Arc::new(graph), settings)?;
    let mut machine = prepare(&compiled, &spec)?;
    let run = simulate(&mut machine, &compiled, &spec, &mut |_| {
        ControlFlow::Continue(())
    });
    let run = run?;
    if let Ending::Failed {
        why: diagnostics, ..
    } = run.ending
    {
        return Err(Refused::Run(diagnostics));
    }
    let ranges = run.ranges[..asked.len()].to_vec();
    let together = radius_along(gains, &run.table.columns[asked.len()..]);
    Ok(Some(Visited { ranges, together }))
}

/// The range of the gain of all loops together over the rows of a run, from the numbers it is made of.
fn radius_along(gains: &LoopGains, columns: &[Column]) -> Option<Range> {
    let n_rows = columns.first().map_or(0, |c| c.values.len());
    let mut together: Option<Range> = None;
    for row in 0..n_rows {
        let numbers: Vec<f64> = columns.iter().map(|c| c.values[row]).collect();
        if let Some(x) = gains.radius(&numbers, &|_| true) {
            let (low, high) = together.unwrap_or((x, x));
            together = Some((low.min(x), high.max(x)));
        }
    }
    together
}

fn formula(dae: &mut Dae, e: ExprId) -> String {
    let names: Vec<String> = (0..dae.symbols.len() as u32)
        .map(|k| dae.name_of(SymbolId(k)))
        .collect();
    let name = |s: SymbolId| names[s.0 as usize].clone();
    let style = Style {
        name: &name,
        is_state: &|_| false,
    };
    to_text(&normal_form(&mut dae.pool, e, &style), &name)
}

/// Angles beyond which no range over all of them is searched.
const MOST_ANGLES: usize = 3;

/// Least and largest value of a gain over all angles that it reads, where it reads nothing else that varies.
fn over_all_angles(graph: &BondGraph, dae: &mut Dae, e: ExprId) -> Option<Range> {
    let e = with_definitions(graph, dae, e);
    let mut angles = Vec::new();
    collect_angles(dae, e, &mut angles)?;
    angles.sort_unstable();
    angles.dedup();
    if angles.len() > MOST_ANGLES {
        return None;
    }
    let value = |at: &[f64]| -> Option<f64> {
        let env = |s: SymbolId| match (angles.iter().position(|&a| a == s), dae.symbol(s).role) {
            (Some(k), _) => at[k],
            (None, Role::Parameter { value, .. }) => value,
            _ => f64::NAN,
        };
        evaluate(&dae.pool, e, &env).ok().filter(|x| x.is_finite())
    };
    let low = smallest(&value, angles.len())?;
    let high = smallest(&|at| value(at).map(|x| -x), angles.len())?;
    Some((low, -high))
}

/// Puts the definitions of signals in the place of their names, so that one angle has one name.
fn with_definitions(graph: &BondGraph, dae: &mut Dae, mut e: ExprId) -> ExprId {
    /// Definitions that read one another deeper than this stay as they are.
    const DEPTH: usize = 10;
    let definitions: Vec<(SymbolId, ExprId)> = graph
        .signals
        .equations
        .iter()
        .filter_map(|q| Some((graph.signals.pool.as_symbol(q.left)?, q.right)))
        .collect();
    for _ in 0..DEPTH {
        let of = |s: SymbolId| definitions.iter().find(|d| d.0 == s).map(|d| d.1);
        let next = substitute(&mut dae.pool, e, &of);
        if next == e {
            break;
        }
        e = next;
    }
    e
}

/// Lists what an expression reads inside sines and cosines; none if anything else in it varies.
fn collect_angles(dae: &mut Dae, e: ExprId, angles: &mut Vec<SymbolId>) -> Option<()> {
    let is_fixed = |dae: &Dae, s: SymbolId| matches!(dae.symbol(s).role, Role::Parameter { .. });
    match dae.pool.node(e) {
        Node::Symbol(s) => is_fixed(dae, s).then_some(()),
        Node::Call1(Function1::Sin | Function1::Cos, inside) => {
            let mut read = symbols_of(&dae.pool, inside);
            read.retain(|&s| !is_fixed(dae, s));
            for s in read {
                // Once round is a whole number of periods.
                let times = derivative(&mut dae.pool, inside, s);
                dae.pool.as_number(times).filter(|x| x.fract() == 0.0)?;
                angles.push(s);
            }
            Some(())
        }
        _ => {
            let mut arguments = Vec::new();
            for_each_argument(&dae.pool, e, |a| arguments.push(a));
            for argument in arguments {
                collect_angles(dae, argument, angles)?;
            }
            Some(())
        }
    }
}

/// The smallest value over n angles: the best of a grid, then steps that halve.
fn smallest(value: &dyn Fn(&[f64]) -> Option<f64>, n: usize) -> Option<f64> {
    const GRID: [usize; MOST_ANGLES + 1] = [1, 360, 72, 36];
    /// Below this step a smooth function is at its minimum to rounding.
    const SMALLEST_STEP: f64 = 1e-9;
    let per_angle = GRID[n];
    let spacing = 2.0 * PI / per_angle as f64;
    let mut best: Option<(f64, Vec<f64>)> = None;
    for k in 0..per_angle.pow(n as u32) {
        let digit = |d: usize| k / per_angle.pow(d as u32) % per_angle;
        let at: Vec<f64> = (0..n).map(|d| -PI + digit(d) as f64 * spacing).collect();
        let x = value(&at)?;
        if best.as_ref().is_none_or(|b| x < b.0) {
            best = Some((x, at));
        }
    }
    let (mut lowest, mut at) = best?;
    let mut step = spacing;
    while step > SMALLEST_STEP {
        let mut has_moved = false;
        for d in 0..n {
            for way in [-step, step] {
                let mut next = at.clone();
                next[d] += way;
                let x = value(&next)?;
                if x < lowest {
                    (lowest, at, has_moved) = (x, next, true);
                }
            }
        }
        if !has_moved {
            step *= 0.5;
        }
    }
    Some(lowest)
}
