//! Finds algebraic loops and where to tear them.
//!
//! In:  the causal graph.
//! Out: one [`AlgebraicLoop`] for each variable that has to be guessed, with a shortest cycle
//!      through it and its class as zero-order causal path.
//!
//! Each strongly connected set of variables is shrunk by the rules of Levy & Low (1988), which
//! keep the size of the smallest set that cuts all cycles: a variable with one predecessor
//! is merged into it, likewise with one successor, a variable that reads itself is cut.
//! Where no rule applies the busiest variable is cut.
//!
//! **Invariant:** without the tearing variables the algebraic part of the causal graph has no
//! cycle.

use super::components::components;
use super::links::{Kind, Links};
use super::ranking::{Ranking, natural};
use super::{AlgebraicLoop, Causality, PathClass, Status};
use crate::graph::{BondGraph, BondId, ElementId, ElementKind};
use paynter_symbolic::SymbolId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// Variables looked at while drawing cycles; loops beyond that are reported without their path.
const MAX_PATH_VISITS: usize = 4_000_000;

/// Finds all algebraic loops.
pub(super) fn find_loops(
    graph: &BondGraph,
    causality: &Causality,
    links: &Links,
    ranking: &Ranking,
) -> Vec<AlgebraicLoop> {
    let owner = owners(graph);
    let n = graph.signals.symbols.len();
    let successors = |v: u32| -> Vec<u32> {
        links
            .out_of(SymbolId(v))
            .filter(|l| l.kind.is_algebraic())
            .map(|l| l.to.0)
            .collect()
    };
    let found = components(n, successors);
    let mut loops = Vec::new();
    let mut n_visits = 0;
    for members in &found.members {
        let reads_itself = |v: u32| {
            links
                .out_of(SymbolId(v))
                .any(|l| l.kind.is_algebraic() && l.to.0 == v)
        };
        if members.len() < 2 && !members.iter().any(|&v| reads_itself(v)) {
            continue;
        }
        let knot = Knot::new(graph, links, ranking, &owner, members);
        for tear in knot.tear() {
            let tearing = knot.nicest(graph, causality, &owner, tear);
            let path = if n_visits < MAX_PATH_VISITS {
                knot.cycle(tearing, &mut n_visits)
            } else {
                vec![knot.symbols[tearing]]
            };
            let class = classify(graph, links, &path);
            loops.push(AlgebraicLoop {
                tearing: knot.symbols[tearing],
                path,
                class,
            });
        }
    }

    loops.sort_by_key(|l| {
        owner
            .get(&l.tearing)
            .map(|&(b, _)| ranking.bond[b.0 as usize])
    });
    loops
}

/// The bond of each effort (false) and flow (true).
pub(super) fn owners(graph: &BondGraph) -> FxHashMap<SymbolId, (BondId, bool)> {
    let mut owner = FxHashMap::default();
    for (index, bond) in graph.bonds.iter().enumerate() {
        owner.insert(bond.effort, (BondId(index as u32), false));
        owner.insert(bond.flow, (BondId(index as u32), true));
    }
    owner
}

/// A strongly connected set of variables, numbered in order of rank.
struct Knot {
    symbols: Vec<SymbolId>,
    successors: Vec<Vec<u32>>,
    predecessors: Vec<Vec<u32>>,
}

/// Links of a knot while it is cut: variables that cannot matter any more are taken out.
struct Uncut {
    next: Vec<BTreeSet<u32>>,
    last: Vec<BTreeSet<u32>>,
    is_gone: Vec<bool>,
    /// Variables to look at.
    queue: VecDeque<u32>,
}

impl Uncut {
    /// Takes out all variables through which cycles pass on one way only, and those that read themselves, which are tears.
    fn contract(&mut self, tears: &mut Vec<usize>) {
        let Uncut {
            next,
            last,
            is_gone,
            queue,
        } = self;
        while let Some(v) = queue.pop_front() {
            let i = v as usize;
            if is_gone[i] {
                continue;
            }
            let reads_itself = next[i].contains(&v);
            if reads_itself {
                tears.push(i);
            } else if next[i].len() > 1 && last[i].len() > 1 {
                continue;
            }
            is_gone[i] = true;
            let (to, from) = (std::mem::take(&mut next[i]), std::mem::take(&mut last[i]));
            to.iter().for_each(|&w| {
                last[w as usize].remove(&v);
            });
            from.iter().for_each(|&u| {
                next[u as usize].remove(&v);
            });
            // With one predecessor or one successor, every cycle through v goes through it too.
            if !reads_itself {
                for &u in &from {
                    for &w in &to {
                        next[u as usize].insert(w);
                        last[w as usize].insert(u);
                    }
                }
            }
            queue.extend(from.into_iter().chain(to).filter(|&w| w != v));
        }
    }
}

impl Knot {
    fn new(
        graph: &BondGraph,
        links: &Links,
        ranking: &Ranking,
        owner: &FxHashMap<SymbolId, (BondId, bool)>,
        members: &[u32],
    ) -> Self {
        let mut symbols: Vec<SymbolId> = members.iter().map(|&v| SymbolId(v)).collect();
        // Power before signals; power by bond, signals by name.
        let key = |s: &SymbolId| {
            owner
                .get(s)
                .map(|&(b, is_flow)| (ranking.bond[b.0 as usize], is_flow))
        };
        symbols.sort_by(|a, b| match (key(a), key(b)) {
            (Some(x), Some(y)) => x.cmp(&y),
            (None, None) => natural(&graph.signals.name_of(*a), &graph.signals.name_of(*b)),
            (x, y) => x.is_none().cmp(&y.is_none()),
        });

        let place: FxHashMap<SymbolId, u32> = symbols
            .iter()
            .enumerate()
            .map(|(i, &s)| (s, i as u32))
            .collect();

        let mut successors = vec![Vec::new(); symbols.len()];
        let mut predecessors = vec![Vec::new(); symbols.len()];
        for (i, &symbol) in symbols.iter().enumerate() {
            let mut to: Vec<u32> = links
                .out_of(symbol)
                .filter(|l| l.kind.is_algebraic())
                .filter_map(|l| place.get(&l.to).copied())
                .collect();
            to.sort_unstable();
            to.dedup();
            to.iter()
                .for_each(|&j| predecessors[j as usize].push(i as u32));
            successors[i] = to;
        }

        Knot {
            symbols,
            successors,
            predecessors,
        }
    }

    /// Gives variables without which no cycle is left.
    fn tear(&self) -> Vec<usize> {
        let n = self.symbols.len();
        let as_set = |all: &Vec<u32>| all.iter().copied().collect();
        let mut left = Uncut {
            next: self.successors.iter().map(as_set).collect(),
            last: self.predecessors.iter().map(as_set).collect(),
            is_gone: vec![false; n],
            queue: (0..n as u32).collect(),
        };

        let mut tears = Vec::new();
        let mut busiest: Option<BinaryHeap<(usize, Reverse<u32>)>> = None;
        loop {
            left.contract(&mut tears);
            let heap = busiest.get_or_insert_with(|| {
                (0..n as u32)
                    .filter(|&v| !left.is_gone[v as usize])
                    .map(|v| (usize::MAX, Reverse(v)))
                    .collect()
            });
            let Some((score, Reverse(v))) = heap.pop() else {
                return tears;
            };
            let i = v as usize;
            if left.is_gone[i] {
                continue;
            }
            let now = left.next[i].len() * left.last[i].len();
            if now < score {
                heap.push((now, Reverse(v)));
                continue;
            }
            // Cut it: a self-link is removed by the rule above.
            left.next[i].insert(v);
            left.last[i].insert(v);
            left.queue.push_back(v);
        }
    }

    /// Among variables that cut the same cycles, takes the output of a resistor if there is one.
    fn nicest(
        &self,
        graph: &BondGraph,
        causality: &Causality,
        owner: &FxHashMap<SymbolId, (BondId, bool)>,
        tear: usize,
    ) -> usize {
        let mut equal = vec![tear];
        let mut seen: FxHashSet<usize> = FxHashSet::from_iter([tear]);
        let follow = |step: &dyn Fn(usize) -> Option<usize>,
                      seen: &mut FxHashSet<usize>,
                      equal: &mut Vec<usize>| {
            let mut at = tear;
            while let Some(v) = step(at).filter(|&v| seen.insert(v)) {
                equal.push(v);
                at = v;
            }
        };

        let only = |list: &Vec<u32>| {
            if let [one] = list.as_slice() {
                Some(*one as usize)
            } else {
                None
            }
        };
        follow(&|v| only(&self.successors[v]), &mut seen, &mut equal);
        follow(&|v| only(&self.predecessors[v]), &mut seen, &mut equal);
        let grade = |&v: &usize| {
            let Some(&(bond, is_flow)) = owner.get(&self.symbols[v]) else {
                return (3, v);
            };
            let ends = graph.bond(bond);
            let is_resistive_output = [ends.tail, ends.head].into_iter().any(|end| {
                graph.element(end.element).kind.loses_power()
                    && causality.effort_is_input(graph, end) == Some(is_flow)
            });
            match (is_resistive_output, causality.status(bond)) {
                (true, Status::Chosen) => (0, v),
                (true, _) => (1, v),
                (false, _) => (2, v),
            }
        };
        equal.into_iter().min_by_key(grade).unwrap_or(tear)
    }

    /// A shortest cycle through a variable.
    fn cycle(&self, start: usize, n_visits: &mut usize) -> Vec<SymbolId> {
        let mut from: FxHashMap<u32, u32> = FxHashMap::default();
        let mut queue = VecDeque::from([start as u32]);
        while let Some(v) = queue.pop_front() {
            *n_visits += 1;
            for &w in &self.successors[v as usize] {
                if w as usize == start {
                    let mut path = vec![self.symbols[v as usize]];
                    let mut at = v;
                    while at as usize != start {
                        at = from[&at];
                        path.push(self.symbols[at as usize]);
                    }
                    path.reverse();
                    return path;
                }
                from.entry(w).or_insert_with(|| {
                    queue.push_back(w);
                    v
                });
            }
        }
        vec![self.symbols[start]]
    }
}

/// Sorts a cycle into the classes of zero-order causal paths by where it turns round.
fn classify(graph: &BondGraph, links: &Links, path: &[SymbolId]) -> Option<PathClass> {
    let mut turns: Vec<ElementId> = Vec::new();
    for (i, &from) in path.iter().enumerate() {
        let link = links.link(from, path[(i + 1) % path.len()])?;
        if link.kind == Kind::Signal {
            return None;
        }
        let by = link.by?;
        let kind = graph.element(by).kind;
        let is_junction_structure =
            kind.is_junction() || matches!(kind, ElementKind::Tf | ElementKind::Gy);
        if !is_junction_structure && !turns.contains(&by) {
            turns.push(by);
        }
    }
    Some(match turns.len() {
        0 => PathClass::JunctionStructure,
        1 => PathClass::SamePort,
        _ => PathClass::Resistors,
    })
}
