//! Causal paths: what inputs act on, and what outputs read, along the strokes.
//!
//! In:  the causal graph of a model ([`Links`]), and where to begin.
//! Out: for every symbol the fewest integrations on a path to it, and such a path.
//!
//! Linear in the number of bonds. Sampled blocks act at ticks only and end a path, unless it is asked for with them.

use paynter::model::causality::{Causality, Link, LinkKind, Links};
use paynter::model::graph::{BondGraph, ElementId, End};
use paynter::symbolic::walk::symbols_of;
use paynter::symbolic::{ExprId, Role, SymbolId};
use std::collections::VecDeque;

/// Which way links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From causes to effects.
    Forward,
    /// From effects to causes.
    Backward,
}

/// What was reached.
#[derive(Clone, Debug)]
pub struct Reached {
    way: Way,
    /// Integrations on the way, by symbol; `UNREACHED` for none.
    integrations: Vec<u32>,
    /// The symbol before it on the way; itself for a start.
    before: Vec<u32>,
    /// Links that were looked at.
    #[cfg(test)]
    n_links: usize,
}

const UNREACHED: u32 = u32::MAX;

/// Follows links from some symbols to everything they lead to, along as few integrations as possible.
pub fn reach(links: &Links, n_symbols: usize, starts: &[SymbolId], way: Way) -> Reached {
    follow(links, n_symbols, (starts, way), false)
}

/// The same through sampled blocks, which pass on at their next tick what they read.
pub fn reach_through_ticks(
    links: &Links,
    n_symbols: usize,
    starts: &[SymbolId],
    way: Way,
) -> Reached {
    follow(links, n_symbols, (starts, way), true)
}

fn follow(
    links: &Links,
    n_symbols: usize,
    (starts, way): (&[SymbolId], Way),
    through_ticks: bool,
) -> Reached {
    let mut reached = Reached {
        way,
        integrations: vec![UNREACHED; n_symbols],
        before: vec![UNREACHED; n_symbols],
        #[cfg(test)]
        n_links: 0,
    };
    let mut queue: VecDeque<(SymbolId, u32)> = VecDeque::new();
    for &start in starts {
        reached.integrations[start.0 as usize] = 0;
        reached.before[start.0 as usize] = start.0;
        queue.push_back((start, 0));
    }
    // Links weigh 0 or 1, so a queue with two ends keeps the order of distances.
    while let Some((symbol, distance)) = queue.pop_front() {
        if distance > reached.integrations[symbol.0 as usize] {
            continue;
        }
        let mut follow = |link: Link| {
            #[cfg(test)]
            {
                reached.n_links += 1;
            }
            let next = match way {
                Way::Forward => link.to,
                Way::Backward => link.from,
            };
            let weight = match link.kind {
                LinkKind::Sampled if !through_ticks => return,
                LinkKind::Integration => 1,
                _ => 0,
            };
            let known = &mut reached.integrations[next.0 as usize];
            if distance + weight >= *known {
                return;
            }
            *known = distance + weight;
            reached.before[next.0 as usize] = symbol.0;
            match weight {
                0 => queue.push_front((next, distance)),
                _ => queue.push_back((next, distance + 1)),
            }
        };
        match way {
            Way::Forward => links.out_of(symbol).for_each(&mut follow),
            Way::Backward => links.into(symbol).for_each(&mut follow),
        }
    }
    reached
}

impl Reached {
    /// Tells the integrations on the way to a symbol; none if nothing leads there.
    pub fn integrations(&self, symbol: SymbolId) -> Option<u32> {
        let found = self.integrations.get(symbol.0 as usize).copied();
        found.filter(|&n| n != UNREACHED)
    }

    /// Gives the symbols on the way, causes first; empty if nothing leads there.
    pub fn path(&self, symbol: SymbolId) -> Vec<SymbolId> {
        let mut path = Vec::new();
        let mut at = symbol.0;
        if self.integrations(symbol).is_none() {
            return path;
        }
        loop {
            path.push(SymbolId(at));
            let before = self.before[at as usize];
            if before == at {
                break;
            }
            at = before;
        }
        if self.way == Way::Forward {
            path.reverse();
        }
        path
    }
}

/// The symbols that an input sets: itself, or what reads it if it is a parameter.
pub fn set_by(graph: &BondGraph, causality: &Causality, input: SymbolId) -> Vec<SymbolId> {
    let dae = &graph.signals;
    if !matches!(dae.symbol(input).role, Role::Parameter { .. }) {
        return vec![input];
    }
    let mut found = Vec::new();
    let reads = |e: ExprId| {
        let read = symbols_of(&dae.pool, e);
        read.iter()
            .any(|s| crate::generic::follows_any(graph, *s, &[input]))
    };
    for (index, element) in graph.elements.iter().enumerate() {
        if !element.law.expressions().iter().any(|&e| reads(e)) {
            continue;
        }
        for (port, &bond) in element.ports.iter().enumerate() {
            let end = End {
                element: ElementId(index as u32),
                port: port as u32,
            };
            let bond = graph.bond(bond);
            match causality.effort_is_input(graph, end) {
                Some(true) => found.push(bond.flow),
                Some(false) => found.push(bond.effort),
                None => {}
            }
        }
    }
    for equation in &dae.equations {
        if let Some(target) = dae.pool.as_symbol(equation.left)
            && reads(equation.right)
        {
            found.push(target);
        }
    }
    found
}

/// Values that sampled blocks hold and compute from this parameter.
pub fn held_from(graph: &BondGraph, input: SymbolId) -> Vec<SymbolId> {
    let dae = &graph.signals;
    let reads = |e: ExprId| {
        let read = symbols_of(&dae.pool, e);
        let mut read = read.iter();
        read.any(|s| crate::generic::follows_any(graph, *s, &[input]))
    };
    let lines = dae.clocks.iter().flat_map(|clock| &clock.equations);
    let found = lines.filter(|(_, e)| reads(*e));
    found.map(|&(held, _)| held).collect()
}

/// The symbols that an output reads and that vary.
pub fn read_by(graph: &BondGraph, output: ExprId) -> Vec<SymbolId> {
    let dae = &graph.signals;
    let varies = |s: &SymbolId| {
        !matches!(
            dae.symbol(*s).role,
            Role::Parameter { .. } | Role::Time | Role::Discrete { .. } | Role::Pre { .. }
        )
    };
    symbols_of(&dae.pool, output)
        .into_iter()
        .filter(varies)
        .collect()
}

/// Names what a path of symbols passes: elements by their names, signals by theirs.
pub fn names_along(graph: &BondGraph, links: &Links, path: &[SymbolId]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut push = |name: String| {
        if names.last() != Some(&name) {
            names.push(name);
        }
    };
    if let Some(&first) = path.first() {
        push(owner(graph, first));
    }
    for pair in path.windows(2) {
        match links.link(pair[0], pair[1]).and_then(|l| l.by) {
            Some(element) => push(short_name(graph, element)),
            None => push(graph.signals.name_of(pair[1])),
        }
    }
    names
}

/// The name of an element, or its kind for one without a name.
pub fn short_name(graph: &BondGraph, element: ElementId) -> String {
    match graph.element(element).name {
        Some(path) => graph.signals.names.display(path),
        None => graph.element(element).kind.letters().to_owned(),
    }
}

/// The source or storage that a symbol belongs to, or its own name.
pub fn owner(graph: &BondGraph, symbol: SymbolId) -> String {
    let name = graph.signals.name_of(symbol);
    match name.rsplit_once('.') {
        Some((element, "e" | "f" | "q" | "p")) => element.to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Subject, ask};
    use paynter::overlay::{LibraryOnly, Overlay};
    use paynter::{Choice, LinearChoice, design_in};

    /// Links looked at from the input of a ladder to all of it, and its bonds.
    fn work_on_ladder(n: usize) -> (usize, usize) {
        let text = format!(
            "model L {{
    param n = {n}
    input u = 0
    Se(u) -> s[1]
    for k in 1..n {{
        s[k]: 1 -> m[k]: I(1), r[k]: R(0.1)
        s[k] -> z[k]: 0 -> c[k]: C(1)
    }}
    for k in 1..n-1 {{ z[k] -> s[k+1] }}
    output y = z[n].e
}}"
        );
        let mut loader = Overlay::new(LibraryOnly);
        loader.set("ladder.bond", &text);
        let choice = Choice {
            linear: Some(LinearChoice::default()),
            ..Choice::default()
        };
        let design = design_in(&mut loader, "ladder.bond", &choice);
        let design = design.unwrap_or_else(|_| panic!("it has no errors"));
        let subject = Subject::new(&design, ask(&design, None)).expect("it has an input");
        let graph = subject.graph();
        let starts = set_by(graph, &subject.causality, subject.inputs[0]);
        let n_symbols = graph.signals.symbols.len();
        let found = reach(&subject.links, n_symbols, &starts, Way::Forward);
        let last = crate::control::causal_states(&subject);
        assert!(last.iter().all(|&s| found.integrations(s).is_some()));
        (found.n_links, graph.bonds.len())
    }

    #[test]
    fn paths_cost_as_much_as_there_are_bonds() {
        let (small, n_small) = work_on_ladder(2_000);
        let (large, n_large) = work_on_ladder(20_000);
        assert!(n_large > 99_000, "{n_large} bonds");
        let growth = large as f64 / small as f64;
        let size = n_large as f64 / n_small as f64;
        assert!(growth < 1.01 * size, "{small} links, then {large}");
    }
}
