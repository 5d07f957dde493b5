//! The signal-flow graph of a model: each variable with what it is computed from, and by which gain.
//!
//! In:  a [`Subject`].
//! Out: a [`FlowGraph`]: arrows with gains as expressions in the names of the user, 1/s for an integration.
//!
//! Every equation is solved for the variable that causality computes from it; its gains are the slopes. Variables that are
//! computed from one other alone are passed over, so that loops touch where they touch in the model.

use crate::generic::follows_any;
use crate::reach::{owner, short_name};
use crate::subject::Subject;
use paynter::model::equations::build_equations;
use paynter::symbolic::calculus::gradient;
use paynter::symbolic::dae::Symbol;
use paynter::symbolic::walk::symbols_of;
use paynter::symbolic::{Dae, ExprId, Names, Role, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};

/// One arrow.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    /// From which node.
    pub from: usize,
    /// The gain, an expression in the pool of the graph.
    pub gain: ExprId,
    /// Names of elements and signals that were passed, in order.
    pub through: Vec<String>,
}

/// A signal-flow graph.
#[derive(Clone, Debug)]
pub struct FlowGraph {
    /// The equations with the expressions of all gains.
    pub dae: Dae,
    /// The symbol that stands for s, 1/s.
    pub s: SymbolId,
    /// What each node is.
    pub nodes: Vec<SymbolId>,
    /// Arrows into each node.
    pub into: Vec<Vec<Arrow>>,
    /// The nodes of the inputs.
    pub inputs: Vec<usize>,
    /// The nodes of the outputs.
    pub outputs: Vec<usize>,
}

/// Why there is no signal-flow graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFlow {
    /// The strokes do not say what is computed from which equation.
    Strokes,
    /// Larger than anybody could read.
    TooLarge,
}

/// Equations beyond which path gains are not looked for.
const MOST_EQUATIONS: usize = 2000;

/// Draws the graph.
///
/// # Errors
///
/// See [`NoFlow`].
pub fn flow_graph(subject: &Subject<'_>) -> Result<FlowGraph, NoFlow> {
    let mut dae = build_equations(subject.graph(), &subject.causality);
    if dae.equations.len() > MOST_EQUATIONS {
        return Err(NoFlow::TooLarge);
    }
    let name = dae.names.child(Names::ROOT, "s", None);
    let made = |dae: &mut Dae, role: Role| {
        dae.add_symbol(Symbol {
            name,
            role,
            nominal: 0.0,
            origin: Default::default(),
        })
    };
    let s = made(&mut dae, Role::Unknown);
    let mut draft = Draft {
        into: FxHashMap::default(),
        dae,
        s,
        names: names_of(subject),
        followers: FxHashSet::default(),
    };
    let inputs: Vec<SymbolId> = subject
        .inputs
        .iter()
        .map(|&input| match draft.dae.symbol(input).role {
            Role::Parameter { .. } | Role::Discrete { .. } => input,
            // What is added to an input is a node of its own.
            _ => {
                let added = made(&mut draft.dae, Role::Discrete { start: 0.0 });
                let one = draft.dae.pool.number(1.0);
                draft.arrow(added, input, one);
                added
            }
        })
        .collect();
    draft.add_followers(subject, &inputs);
    draft.equations(&inputs)?;
    draft.rates();
    let outputs: Vec<SymbolId> = subject
        .outputs
        .iter()
        .map(|&value| {
            let node = made(&mut draft.dae, Role::Unknown);
            draft.slopes(value, node, &inputs);
            node
        })
        .collect();
    Ok(draft.finish(&inputs, &outputs))
}

impl Draft {
    /// Adds the parameters that follow a constant input: they vary with it.
    fn add_followers(&mut self, subject: &Subject<'_>, inputs: &[SymbolId]) {
        let mut bindings: Vec<(SymbolId, ExprId)> = Vec::new();
        for k in 0..subject.graph().signals.symbols.len() as u32 {
            let symbol = SymbolId(k);
            if let Role::Parameter {
                binding: Some(binding),
                ..
            } = self.dae.symbol(symbol).role
                && !inputs.contains(&symbol)
                && follows_any(subject.graph(), symbol, inputs)
            {
                self.followers.insert(symbol);
                bindings.push((symbol, binding));
            }
        }
        for (symbol, binding) in bindings {
            self.slopes(binding, symbol, inputs);
        }
    }
}

/// The name that a path shows where it passes a symbol.
fn names_of(subject: &Subject<'_>) -> FxHashMap<SymbolId, String> {
    let graph = subject.graph();
    let mut names = FxHashMap::default();
    for link in subject.links.all() {
        let is_rate = matches!(graph.signals.symbol(link.to).role, Role::Derivative { .. });
        match link.by {
            Some(element) => {
                names.insert(link.to, short_name(graph, element));
            }
            None if is_rate => {}
            None => {
                let name = || graph.signals.name_of(link.to);
                names.entry(link.to).or_insert_with(name);
            }
        }
    }
    names
}

struct Draft {
    into: FxHashMap<SymbolId, Vec<(SymbolId, ExprId)>>,
    dae: Dae,
    s: SymbolId,
    names: FxHashMap<SymbolId, String>,
    followers: FxHashSet<SymbolId>,
}

impl Draft {
    fn arrow(&mut self, from: SymbolId, to: SymbolId, gain: ExprId) {
        self.into.entry(to).or_default().push((from, gain));
    }

    fn is_node(&self, s: SymbolId, inputs: &[SymbolId]) -> bool {
        let role = self.dae.symbol(s).role;
        matches!(role, Role::Unknown | Role::Derivative { .. })
            || inputs.contains(&s)
            || self.followers.contains(&s)
    }

    /// Arrows into `to` from everything that an expression reads.
    fn slopes(&mut self, e: ExprId, to: SymbolId, inputs: &[SymbolId]) {
        let read = symbols_of(&self.dae.pool, e);
        let read: Vec<SymbolId> = read
            .into_iter()
            .filter(|s| self.is_node(*s, inputs))
            .collect();
        let slopes = gradient(&mut self.dae.pool, e, &read);
        for (from, gain) in read.into_iter().zip(slopes) {
            if self.dae.pool.as_number(gain) != Some(0.0) {
                self.arrow(from, to, gain);
            }
        }
    }

    fn equations(&mut self, inputs: &[SymbolId]) -> Result<(), NoFlow> {
        for k in 0..self.dae.equations.len() {
            let equation = self.dae.equations[k];
            let given = equation.solves.or(self.dae.pool.as_symbol(equation.left));
            let target = given.ok_or(NoFlow::Strokes)?;
            if self.dae.pool.as_symbol(equation.left) == Some(target) {
                self.slopes(equation.right, target, inputs);
                continue;
            }
            // left − right = 0, solved for the target.
            let residual = self.dae.pool.sub(equation.left, equation.right);
            let read = symbols_of(&self.dae.pool, residual);
            let read: Vec<SymbolId> = read
                .into_iter()
                .filter(|s| self.is_node(*s, inputs))
                .collect();
            let slopes = gradient(&mut self.dae.pool, residual, &read);
            let own = read
                .iter()
                .position(|s| *s == target)
                .ok_or(NoFlow::Strokes)?;
            for (k, &from) in read.iter().enumerate().filter(|(k, _)| *k != own) {
                if self.dae.pool.as_number(slopes[k]) == Some(0.0) {
                    continue;
                }
                let gain = self.dae.pool.div(slopes[k], slopes[own]);
                let gain = self.dae.pool.neg(gain);
                self.arrow(from, target, gain);
            }
        }
        Ok(())
    }

    /// x = (1/s) x' where the rate is computed, x' = s x where the state is.
    fn rates(&mut self) {
        for k in 0..self.dae.symbols.len() {
            let rate = SymbolId(k as u32);
            let Role::Derivative { of } = self.dae.symbol(rate).role else {
                continue;
            };
            let s = self.dae.pool.symbol(self.s);
            if self.into.contains_key(&of) {
                self.arrow(of, rate, s);
            } else {
                let one = self.dae.pool.number(1.0);
                let integration = self.dae.pool.div(one, s);
                self.arrow(rate, of, integration);
            }
        }
    }

    /// Numbers the nodes and passes over those with one arrow in.
    fn finish(mut self, inputs: &[SymbolId], outputs: &[SymbolId]) -> FlowGraph {
        let nodes: Vec<SymbolId> = self.useful(inputs, outputs);
        let place: FxHashMap<SymbolId, usize> =
            nodes.iter().enumerate().map(|(k, &s)| (s, k)).collect();
        let name = |s: &SymbolId| self.names.get(s).cloned();
        let mut into: Vec<Vec<Arrow>> = Vec::with_capacity(nodes.len());
        for node in &nodes {
            let arrows = self.into.get(node).map(Vec::as_slice).unwrap_or_default();
            let known = arrows.iter().filter_map(|(from, gain)| {
                Some(Arrow {
                    from: *place.get(from)?,
                    gain: *gain,
                    through: name(node).into_iter().collect(),
                })
            });
            into.push(known.collect());
        }
        let inputs: Vec<usize> = inputs.iter().map(|s| place[s]).collect();
        let outputs: Vec<usize> = outputs.iter().map(|s| place[s]).collect();
        let keep: FxHashSet<usize> = inputs.iter().chain(&outputs).copied().collect();
        self.pass_over(&mut into, &keep);
        FlowGraph {
            dae: self.dae,
            s: self.s,
            nodes,
            into,
            inputs,
            outputs,
        }
    }

    /// What lies between inputs and outputs.
    fn useful(&self, inputs: &[SymbolId], outputs: &[SymbolId]) -> Vec<SymbolId> {
        let mut out: FxHashMap<SymbolId, Vec<SymbolId>> = FxHashMap::default();
        for (&to, arrows) in &self.into {
            arrows
                .iter()
                .for_each(|a| out.entry(a.0).or_default().push(to));
        }
        let spread = |starts: &[SymbolId], next: &dyn Fn(SymbolId) -> Vec<SymbolId>| {
            let mut seen: FxHashSet<SymbolId> = starts.iter().copied().collect();
            let mut open = starts.to_vec();
            while let Some(s) = open.pop() {
                open.extend(next(s).into_iter().filter(|n| seen.insert(*n)));
            }
            seen
        };
        let reached = spread(inputs, &|s| out.get(&s).cloned().unwrap_or_default());
        let seen = spread(outputs, &|s| {
            let arrows = self.into.get(&s).map(Vec::as_slice).unwrap_or_default();
            arrows.iter().map(|a| a.0).collect()
        });
        let mut nodes: Vec<SymbolId> = reached.intersection(&seen).copied().collect();
        nodes.extend(inputs.iter().chain(outputs));
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    fn pass_over(&mut self, into: &mut [Vec<Arrow>], keep: &FxHashSet<usize>) {
        loop {
            let single = |k: usize| into[k].len() == 1 && into[k][0].from != k;
            let found = (0..into.len()).find(|k| !keep.contains(k) && single(*k));
            let Some(k) = found else { return };
            let own = into[k].remove(0);
            for arrows in into.iter_mut() {
                for arrow in arrows.iter_mut().filter(|a| a.from == k) {
                    arrow.from = own.from;
                    arrow.gain = self.dae.pool.mul(own.gain, arrow.gain);
                    let mut through = own.through.clone();
                    through.append(&mut arrow.through);
                    through.dedup();
                    arrow.through = through;
                }
            }
        }
    }
}

impl FlowGraph {
    /// Arrows out of each node: (to, position among the arrows into it).
    pub fn out(&self) -> Vec<Vec<(usize, usize)>> {
        let mut out = vec![Vec::new(); self.into.len()];
        for (to, arrows) in self.into.iter().enumerate() {
            for (k, arrow) in arrows.iter().enumerate() {
                out[arrow.from].push((to, k));
            }
        }
        out
    }

    /// The name of a node.
    pub fn name(&self, node: usize, subject: &Subject<'_>) -> String {
        let symbol = self.nodes[node];
        match (symbol.0 as usize) < subject.graph().signals.symbols.len() {
            true => owner(subject.graph(), symbol),
            false => self.dae.name_of(symbol),
        }
    }
}
