//! The gain of every causal path and loop, and the transfer function they add up to (Mason 1956).
//!
//! In:  a [`FlowGraph`], an input and an output.
//! Out: [`Mason`]: forward paths and loops with their gains as formulas, in the names of the user.
//!
//! G(s) = Σ Pₖ Δₖ/Δ, Δ = 1 − Σ Lᵢ + Σ LᵢLⱼ − …, sums over loops that do not touch each other; Δₖ is Δ without the loops
//! that touch path k.
//!
//! **Invariant:** all paths and loops are there, or none: a sum that leaves some out would be wrong.

use crate::flow_graph::FlowGraph;
use paynter::symbolic::print::{Style, to_text, tree_of};
use paynter::symbolic::{ExprId, SymbolId};
use std::ops::{Add, Div, Mul, Sub};

/// A path from an input to an output, or a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// Its nodes, in order; of a loop each once.
    pub nodes: Vec<usize>,
    /// Elements and signals on the way.
    pub through: Vec<String>,
    /// The product of gains.
    pub gain: ExprId,
}

/// Paths and loops of one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Mason {
    /// From the input to the output.
    pub paths: Vec<Walk>,
    /// All loops between them.
    pub loops: Vec<Walk>,
}

/// More paths or loops than this are not worth reading, and their products are without end.
const MOST_WALKS: usize = 60;
/// Steps of the search before it is stopped.
const MOST_STEPS: usize = 200_000;

/// Finds all paths from an input to an output, and all loops; none if there are too many.
pub fn mason(flow: &mut FlowGraph, input: usize, output: usize) -> Option<Mason> {
    let (from, to) = (flow.inputs[input], flow.outputs[output]);
    let out = flow.out();
    let n = flow.nodes.len();
    let mut steps = 0;
    let found = walks(&out, from, to, &vec![true; n], &mut steps)?;
    let mut loops = Vec::new();
    // Each loop is found from its first node only.
    for start in 0..n {
        let allowed: Vec<bool> = (0..n).map(|k| k >= start).collect();
        loops.extend(walks(&out, start, start, &allowed, &mut steps)?);
        if loops.len() > MOST_WALKS {
            return None;
        }
    }
    let paths = found.iter().map(|w| flow.walk(w, from)).collect();
    let loops = loops
        .iter()
        .map(|w| flow.walk(w, w[w.len() - 1].0))
        .collect();
    Some(Mason { paths, loops })
}

/// Ways as lists of (node, arrow into it).
type Way = Vec<(usize, usize)>;

fn walks(
    out: &[Vec<(usize, usize)>],
    from: usize,
    to: usize,
    allowed: &[bool],
    steps: &mut usize,
) -> Option<Vec<Way>> {
    let mut found = Vec::new();
    let mut is_on = vec![false; out.len()];
    is_on[from] = from != to;
    let mut way: Way = Vec::new();
    // For each node on the way, the next of its arrows to try.
    let mut next: Vec<(usize, usize)> = vec![(from, 0)];
    while let Some((node, k)) = next.last_mut() {
        *steps += 1;
        if *steps > MOST_STEPS || found.len() > MOST_WALKS {
            return None;
        }
        let Some(&(target, arrow)) = out[*node].get(*k) else {
            let (node, _) = next.pop().expect("it was just looked at");
            is_on[node] = false;
            way.pop();
            continue;
        };
        *k += 1;
        if target == to {
            let mut whole = way.clone();
            whole.push((target, arrow));
            found.push(whole);
        } else if allowed[target] && !is_on[target] {
            is_on[target] = true;
            way.push((target, arrow));
            next.push((target, 0));
        }
    }
    Some(found)
}

impl FlowGraph {
    fn walk(&mut self, way: &Way, from: usize) -> Walk {
        let mut gain = self.dae.pool.number(1.0);
        let mut through: Vec<String> = Vec::new();
        let mut nodes = Vec::new();
        let mut at = from;
        for &(node, arrow) in way {
            nodes.push(at);
            at = node;
            let arrow = self.into[node][arrow].clone();
            gain = self.dae.pool.mul(gain, arrow.gain);
            through.extend(arrow.through);
        }
        if at != from {
            nodes.push(at);
        }
        through.dedup();
        Walk {
            nodes,
            through,
            gain,
        }
    }

    /// Prints a gain.
    pub fn text(&self, e: ExprId) -> String {
        let name = |symbol: SymbolId| match symbol == self.s {
            true => "s".to_owned(),
            false => self.dae.name_of(symbol),
        };
        let style = Style {
            name: &name,
            is_state: &|_| false,
        };
        to_text(
            &tree_of(&self.dae.pool, e, &style).for_reading(&name),
            &name,
        )
    }
}

impl Mason {
    /// Evaluates G from the values of path and loop gains, in the order of `paths` and `loops`; none where no path leads
    /// from the input to the output.
    pub fn sum<T>(&self, paths: &[T], loops: &[T], one: T) -> Option<T>
    where
        T: Copy + Mul<Output = T> + Add<Output = T> + Sub<Output = T> + Div<Output = T>,
    {
        let all: Vec<usize> = (0..loops.len()).collect();
        let terms = self.paths.iter().zip(paths).map(|(path, &gain)| {
            let apart = all.iter().copied();
            let apart: Vec<usize> = apart.filter(|&l| !touches(&self.loops[l], path)).collect();
            gain * self.delta(&apart, loops, one)
        });
        let sum = terms.reduce(|a, b| a + b)?;
        Some(sum / self.delta(&all, loops, one))
    }

    /// 1 − Σ Lᵢ + Σ LᵢLⱼ − … over loops of a set that do not touch each other: take the first loop or leave it.
    fn delta<T>(&self, set: &[usize], loops: &[T], one: T) -> T
    where
        T: Copy + Mul<Output = T> + Add<Output = T> + Sub<Output = T>,
    {
        let Some((&first, rest)) = set.split_first() else {
            return one;
        };
        let apart: Vec<usize> = rest
            .iter()
            .copied()
            .filter(|&l| !touches(&self.loops[l], &self.loops[first]))
            .collect();
        self.delta(rest, loops, one) - loops[first] * self.delta(&apart, loops, one)
    }
}

fn touches(a: &Walk, b: &Walk) -> bool {
    a.nodes.iter().any(|n| b.nodes.contains(n))
}
