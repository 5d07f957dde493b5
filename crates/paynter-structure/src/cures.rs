//! Which additional sources or sensors make a model controllable or observable.
//!
//! In:  a [`Subject`] with what was found for one side.
//! Out: smallest sets of [`Cure`]s, those with the largest margin first.
//!
//! A source can act at every junction: Se at a 1, Sf at a 0; a sensor can read what a junction shares. All sets of one,
//! then two, then three are tried on the exact generic model, so that a set is found only if it works for
//! almost all parameters; where that would take too long, the set is grown one by one, taking what helps most. The
//! margin of a set is that of the linear model with the present numbers.

use crate::findings::{Cure, Side, SideFindings};
use crate::generic::{GenericModel, Matrix, Probe, loosen};
use crate::ranks::{Reach, krylov};
use crate::subject::Subject;
use paynter::Design;
use paynter::linear::{LinearRequest, linearize};
use paynter::linear_algebra::{LinearModel, reach_margin, transpose};
use paynter::model::BondGraph;
use paynter::model::experiment::{Column, Quantity};
use paynter::model::graph::{ElementId, ElementKind};
use paynter::symbolic::{ExprId, SymbolId};
use std::sync::Arc;

/// Places that are looked at; beyond them the first ones are.
const MOST_PLACES: usize = 60;
/// In larger models a single set takes seconds.
const MOST_STATES: usize = 150;
/// Sets of up to this many are all tried.
const LARGEST_SET: usize = 3;
/// Work for trying sets, in multiplications; a few seconds.
const MOST_WORK: f64 = 5e8;
/// Cures that are listed.
const SHOWN: usize = 8;

/// Finds what would cure one side; nothing if it is whole or cannot be computed.
pub fn cures(subject: &Subject<'_>, found: &SideFindings) -> Vec<Cure> {
    let is_small = |reach: &Reach| reach.order <= MOST_STATES;
    if found.is_whole() || !found.generic.as_ref().is_ok_and(is_small) {
        return Vec::new();
    }
    let places = places(subject.graph());
    let Some(candidates) = Candidates::new(subject, found.side, &places) else {
        return Vec::new();
    };
    let sets = candidates.smallest_sets();
    let numbers = candidates.numbers(subject);
    let mut cures: Vec<Cure> = sets
        .iter()
        .map(|set| Cure {
            add: set.iter().map(|&k| candidates.names[k].clone()).collect(),
            margin: numbers.as_ref().and_then(|n| candidates.margin(n, set)),
        })
        .collect();
    let margin = |c: &Cure| c.margin.unwrap_or(0.0);
    cures.sort_by(|a, b| margin(b).total_cmp(&margin(a)));
    cures.truncate(SHOWN);
    cures
}

/// Junctions with a name.
fn places(graph: &BondGraph) -> Vec<ElementId> {
    let all = (0..graph.elements.len() as u32).map(ElementId);
    let named = all.filter(|&id| {
        let element = graph.element(id);
        element.kind.is_junction() && element.name.is_some() && !element.ports.is_empty()
    });
    named.take(MOST_PLACES).collect()
}

struct Candidates {
    side: Side,
    names: Vec<String>,
    /// The graph with a probe at every place, for the control side.
    graph: BondGraph,
    symbols: Vec<SymbolId>,
    /// Aᵀ and Cᵀ for the observe side.
    a: Matrix,
    /// The ports that are there first, then the candidates.
    b: Matrix,
    n_there: usize,
}

impl Candidates {
    fn new(subject: &Subject<'_>, side: Side, places: &[ElementId]) -> Option<Self> {
        let mut graph = subject.graph().clone();
        let mut names = Vec::new();
        let mut symbols = Vec::new();
        for &junction in places {
            let element = graph.element(junction);
            let is_one = element.kind == ElementKind::One;
            let name = graph.signals.names.display(element.name?);
            let bond = graph.bond(element.ports[0]);
            match side {
                Side::Control => {
                    names.push(format!("{} at `{name}`", if is_one { "Se" } else { "Sf" }));
                    symbols.push(Probe::add(&mut graph, junction).input);
                }
                Side::Observe => {
                    names.push(format!("`{name}.{}`", if is_one { "f" } else { "e" }));
                    symbols.push(if is_one { bond.flow } else { bond.effort });
                }
            }
        }
        let mut loose = graph.clone();
        loosen(&mut loose, &subject.inputs);
        let model = generic(subject, side, &mut loose, &symbols)?;
        let (a, b, n_there) = match side {
            Side::Control => (model.a, model.b, subject.inputs.len()),
            Side::Observe => (
                model.a.transposed(),
                model.c.transposed(),
                subject.outputs.len(),
            ),
        };
        Some(Candidates {
            side,
            names,
            graph,
            symbols,
            a,
            b,
            n_there,
        })
    }

    fn dimension(&self, set: &[usize]) -> usize {
        let there = 0..self.n_there;
        let columns: Vec<usize> = there.chain(set.iter().map(|k| self.n_there + k)).collect();
        krylov(&self.a, &self.b.columns(&columns)).dimension()
    }

    /// All smallest sets that reach everything; one that was grown where there are too many to try.
    fn smallest_sets(&self) -> Vec<Vec<usize>> {
        let (n, order) = (self.names.len(), self.a.n_rows());
        let each = (order as f64).powi(3).max(1.0);
        let mut n_sets = 1.0;
        for size in 1..=LARGEST_SET.min(n) {
            n_sets *= (n + 1 - size) as f64 / size as f64;
            if n_sets * each > MOST_WORK {
                break;
            }
            let sets = subsets(n, size);
            let whole = sets.into_iter().filter(|set| self.dimension(set) == order);
            let whole: Vec<Vec<usize>> = whole.collect();
            if !whole.is_empty() {
                return whole;
            }
        }
        self.grown().into_iter().collect()
    }

    /// Adds what helps most until everything is reached; none if nothing helps any more.
    fn grown(&self) -> Option<Vec<usize>> {
        let order = self.a.n_rows();
        let mut set: Vec<usize> = Vec::new();
        let mut reached = self.dimension(&set);
        while reached < order {
            let with = |k: usize| {
                let mut larger = set.clone();
                larger.push(k);
                (self.dimension(&larger), usize::MAX - k)
            };
            let best = (0..self.names.len())
                .filter(|k| !set.contains(k))
                .map(with)
                .max()?;
            if best.0 <= reached {
                return None;
            }
            reached = best.0;
            set.push(usize::MAX - best.1);
        }
        Some(set)
    }

    /// The linear model with all candidates.
    fn numbers(&self, subject: &Subject<'_>) -> Option<LinearModel> {
        let mut graph = self.graph.clone();
        let added: Vec<Quantity> = self
            .names
            .iter()
            .zip(&self.symbols)
            .map(|(name, &symbol)| Quantity {
                column: Column {
                    name: name.clone(),
                    value: graph.signals.pool.symbol(symbol),
                    unit: None,
                },
                span: Default::default(),
            })
            .collect();
        let design = Design {
            graph: Arc::new(graph),
            ..subject.design.clone()
        };
        let mut ask: LinearRequest = subject.ask.clone();
        match self.side {
            Side::Control => ask.from.extend(added),
            Side::Observe => ask.to.extend(added),
        }
        let compiled = design.compile().ok()?;
        linearize(&design, &compiled, &ask).ok().map(|l| l.model)
    }

    fn margin(&self, model: &LinearModel, set: &[usize]) -> Option<f64> {
        let there = 0..self.n_there;
        let ports: Vec<usize> = there.chain(set.iter().map(|k| self.n_there + k)).collect();
        let states: Vec<usize> = (0..model.n_states()).collect();
        match self.side {
            Side::Control => reach_margin(&model.a, &model.b.part(&states, &ports)).ok(),
            Side::Observe => {
                let seen = transpose(&model.c.part(&ports, &states));
                reach_margin(&transpose(&model.a), &seen).ok()
            }
        }
    }
}

fn generic(
    subject: &Subject<'_>,
    side: Side,
    graph: &mut BondGraph,
    symbols: &[SymbolId],
) -> Option<GenericModel> {
    let (mut inputs, mut outputs) = (subject.inputs.clone(), subject.outputs.clone());
    match side {
        Side::Control => inputs.extend(symbols),
        Side::Observe => {
            let pool = &mut graph.signals.pool;
            let values: Vec<ExprId> = symbols.iter().map(|&s| pool.symbol(s)).collect();
            outputs.extend(values);
        }
    }
    subject.generic_of(graph, &inputs, &outputs).ok()
}

/// All subsets of 0 … n − 1 with so many members, in order.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..size {
        let longer = |set: &Vec<usize>| {
            let first = set.last().map_or(0, |k| k + 1);
            let set = set.clone();
            (first..n).map(move |k| {
                let mut longer = set.clone();
                longer.push(k);
                longer
            })
        };
        sets = sets.iter().flat_map(longer).collect();
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::subsets;

    #[test]
    fn subsets_are_counted_by_binomials() {
        assert_eq!(subsets(5, 2).len(), 10);
        assert_eq!(subsets(4, 3), [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]);
    }
}
