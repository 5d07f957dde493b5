//! Names of the user for what the compiler numbered.
//!
//! In:  a graph and its reduced equations.
//! Out: for symbols named by the compiler (`integral[1]`) or by a bond (`friction.f`), the name of the
//!      signal that is the same.

use paynter_model::BondGraph;
use paynter_symbolic::names::PathId;
use paynter_symbolic::reduced::{Block, Known, Reduced};
use paynter_symbolic::{Names, Role, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Gives integrals that the compiler numbered the names of the signals they are.
pub fn names_of_integrals(graph: &BondGraph, reduced: &Reduced) -> FxHashMap<SymbolId, String> {
    let mut names = nicer_names(graph, reduced);
    names.retain(|&s, _| is_made_up(&reduced.dae.name_of(s)));
    names
}

/// The name of a symbol, nicer where there is a nicer one.
pub fn name_with(reduced: &Reduced, names: &FxHashMap<SymbolId, String>, s: SymbolId) -> String {
    if let Some(name) = names.get(&s) {
        return name.clone();
    }
    match reduced.dae.symbol(s).role {
        Role::Derivative { of } => format!("{}'", name_with(reduced, names, of)),
        Role::Pre { of } => format!("pre({})", name_with(reduced, names, of)),
        _ => reduced.dae.name_of(s),
    }
}

/// How good a name is, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Input,
    Output,
    Signal,
    Rate,
    Junction,
    PartSignal,
}

/// Finds names of the user for what was named by the compiler (`integral[1]`) or by a bond
/// (`friction.f`) and is the same as a signal, the rate of one, or what a junction shares.
pub fn nicer_names(graph: &BondGraph, reduced: &Reduced) -> FxHashMap<SymbolId, String> {
    let finder = Finder::new(graph, reduced);
    let mut names = FxHashMap::default();
    // Rates of integrals are named after the names of the integrals.
    for _ in 0..2 {
        names = finder.names(&names);
    }
    names
}

struct Finder<'a> {
    reduced: &'a Reduced,
    inputs: FxHashSet<SymbolId>,
    outputs: FxHashSet<SymbolId>,
    stored: FxHashSet<SymbolId>,
    of_bonds: FxHashSet<SymbolId>,
    junctions: FxHashSet<PathId>,
    /// Rates that are computed as copies, with what they copy.
    copied: Vec<(SymbolId, SymbolId)>,
}

impl<'a> Finder<'a> {
    fn new(graph: &BondGraph, reduced: &'a Reduced) -> Self {
        let pool = &reduced.dae.pool;
        let copies = (0..reduced.known.len())
            .map(|i| SymbolId(i as u32))
            .filter_map(|s| Some((s, same_as(reduced, s)?)));
        let computed = reduced.blocks.iter().filter_map(|block| match block {
            Block::Assign { symbol, value } => Some((*symbol, pool.as_symbol(*value)?)),
            _ => None,
        });

        Finder {
            reduced,
            inputs: graph.inputs.iter().copied().collect(),
            outputs: graph
                .outputs
                .iter()
                .filter_map(|o| pool.as_symbol(o.value))
                .collect(),
            stored: graph
                .elements
                .iter()
                .flat_map(|e| e.states.iter().copied())
                .collect(),
            of_bonds: graph
                .bonds
                .iter()
                .flat_map(|b| [b.effort, b.flow])
                .collect(),
            junctions: graph
                .elements
                .iter()
                .filter(|e| e.kind.is_junction())
                .filter_map(|e| e.name)
                .collect(),
            copied: copies.chain(computed).collect(),
        }
    }

    fn names(&self, known: &FxHashMap<SymbolId, String>) -> FxHashMap<SymbolId, String> {
        let mut best: FxHashMap<SymbolId, (Rank, usize, String)> = FxHashMap::default();
        for &(symbol, of) in &self.copied {
            let Some(rank) = self.rank(symbol, of, known) else {
                continue;
            };
            let own = name_with(self.reduced, known, symbol);
            let candidate = (rank, own.len(), own);
            match best.get_mut(&of) {
                Some(old) if *old <= candidate => {}
                Some(old) => *old = candidate,
                None => {
                    best.insert(of, candidate);
                }
            }
        }
        best.into_iter()
            .map(|(s, (_, _, name))| (s, name))
            .collect()
    }

    /// How good the name of `symbol` is for `of`, which is the same.
    fn rank(
        &self,
        symbol: SymbolId,
        of: SymbolId,
        known: &FxHashMap<SymbolId, String>,
    ) -> Option<Rank> {
        let dae = &self.reduced.dae;
        let made_up = is_made_up(&dae.name_of(of));
        if self.stored.contains(&of) || self.stored.contains(&symbol) {
            return None;
        }
        if !made_up && !self.of_bonds.contains(&of) {
            return None;
        }
        let is_top = |s: SymbolId| dae.names.parent(dae.symbol(s).name) == Some(Names::ROOT);
        let is_named = |s: SymbolId| is_top(s) && !is_made_up(&name_with(self.reduced, known, s));
        let is_of_junction = |s: SymbolId| {
            let parent = dae.names.parent(dae.symbol(s).name);
            parent.is_some_and(|p| self.junctions.contains(&p))
        };

        match dae.symbol(symbol).role {
            _ if self.inputs.contains(&symbol) => Some(Rank::Input),
            _ if self.outputs.contains(&symbol) => Some(Rank::Output),
            Role::Derivative { of } => is_named(of).then_some(Rank::Rate),
            Role::Unknown if self.of_bonds.contains(&symbol) => {
                (is_of_junction(symbol) && !is_of_junction(of)).then_some(Rank::Junction)
            }
            Role::Unknown if is_named(symbol) => Some(Rank::Signal),
            Role::Unknown if made_up && !is_made_up(&dae.name_of(symbol)) => Some(Rank::PartSignal),
            _ => None,
        }
    }
}

/// Follows copies with the same sign; `None` if the symbol is not a copy or a negative one.
fn same_as(reduced: &Reduced, s: SymbolId) -> Option<SymbolId> {
    let (mut at, mut is_negative) = (s, false);
    while let Some(&Known::Alias { of, negated }) = reduced.known.get(at.0 as usize) {
        (at, is_negative) = (of, is_negative != negated);
    }
    (at != s && !is_negative).then_some(at)
}

/// Names that the compiler gives to integrals.
fn is_made_up(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.starts_with("integral[") || last.starts_with("tf[")
}
