//! Opens the sampled blocks of a model, so that their linear form can be read off.
//!
//! In:  equations with clocks, the quantities that are looked at, and the gain at which quantisers count.
//! Out: equations in which every held value is an input of its own, and for each sampled line its value as an expression:
//!      of states, of values held before the tick, and of values that other lines have just set.
//!
//! `steps` puts the pieces together again. What is outside of any loop and cannot have a slope (generators of random
//! numbers) is distinguished from what is inside by what its lines depend on.
//!
//! **Invariant:** with all changes at zero the equations are those of the model between two ticks.

use super::augment::{Held, Input, add_chain, define, stand_still};
use paynter_symbolic::dae::{Dae, Mode, Origin, Role, Switch, Symbol};
use paynter_symbolic::events::Freezer;
use paynter_symbolic::expr::{Comparison, Function1, Node};
use paynter_symbolic::walk::{below, rebuild, substitute, symbols_of};
use paynter_symbolic::{ExprId, SymbolId};
use std::collections::{HashMap, HashSet};

/// A sampled line that takes part.
pub(super) struct Line {
    /// What it sets.
    pub symbol: SymbolId,
    /// Number of its clock.
    pub clock: usize,
    /// What it sets it to.
    pub value: ExprId,
    /// It rounds: its slope is that of its quantisers' stated gain.
    pub is_quantised: bool,
    /// Where its block is in the text.
    pub origin: Origin,
}

/// The sampled lines that take part, with an input for each held value, and one for each value just set.
#[derive(Default)]
pub(super) struct Opened {
    pub lines: Vec<Line>,
    pub held: Vec<Input>,
    pub fresh: Vec<Input>,
    /// Ticks per second of every clock, as fractions.
    pub rates: Vec<(u64, u64)>,
}

/// Lists the sampled quantities that equations or outputs read, and those that their lines read.
pub(super) fn sampled_reads(dae: &Dae, outputs: &[ExprId]) -> Vec<SymbolId> {
    let lines: HashMap<SymbolId, ExprId> = dae
        .clocks
        .iter()
        .flat_map(|c| c.equations.iter().copied())
        .collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let sides = dae.equations.iter().flat_map(|e| [e.left, e.right]);
    let mut open: Vec<ExprId> = sides.chain(outputs.iter().copied()).collect();
    open.extend(dae.modes.iter().flat_map(|m| arguments(m.switch)));
    let mut found: HashSet<SymbolId> = HashSet::new();
    while let Some(e) = open.pop() {
        for symbol in symbols_of(&dae.pool, e) {
            let of = match dae.symbol(symbol).role {
                Role::Pre { of } => of,
                _ => symbol,
            };
            if let Some(&value) = lines.get(&of)
                && found.insert(of)
            {
                open.push(value);
            }
        }
    }
    let mut found: Vec<SymbolId> = found.into_iter().collect();
    found.sort_unstable();
    found
}

fn arguments(switch: Switch) -> Vec<ExprId> {
    match switch {
        Switch::Relation { left, right, .. } => vec![left, right],
        Switch::Floor { of } | Switch::Sign { of } => vec![of],
    }
}

/// Opens the lines that set `symbols`; quantisers count as a gain.
pub(super) fn open_clocks(
    dae: &mut Dae,
    symbols: &[SymbolId],
    quantiser_gain: f64,
    n_rates: usize,
) -> Opened {
    let is_in: HashSet<SymbolId> = symbols.iter().copied().collect();
    let mut opened = Opened {
        rates: dae.clocks.iter().map(|c| c.rate).collect(),
        ..Opened::default()
    };
    let mut lines: Vec<(SymbolId, usize, ExprId, Origin)> = Vec::new();
    for (number, clock) in dae.clocks.iter_mut().enumerate() {
        let own = clock.equations.iter().filter(|e| is_in.contains(&e.0));
        lines.extend(own.map(|&(s, e)| (s, number, e, clock.origin)));
        clock.equations.retain(|e| !is_in.contains(&e.0));
    }

    let mut fresh: HashMap<SymbolId, ExprId> = HashMap::new();
    for &(symbol, _, _, _) in &lines {
        let (held, now) = (
            vary(dae, symbol, n_rates),
            vary_alone(dae, symbol, &mut fresh, n_rates),
        );
        opened.held.push(held);
        opened.fresh.push(now);
    }

    let mut freezer = Freezer::new();
    for (symbol, clock, value, origin) in lines {
        let value = at_a_tick(dae, value, &fresh);
        let (value, is_quantised) = smooth(dae, (value, origin), &mut freezer, quantiser_gain);
        opened.lines.push(Line {
            symbol,
            clock,
            value,
            is_quantised,
            origin,
        });
    }
    opened
}

/// Makes a held value an input: what it holds at the point, and a change.
fn vary(dae: &mut Dae, symbol: SymbolId, n_rates: usize) -> Input {
    let Symbol { name, origin, .. } = *dae.symbol(symbol);
    let chain = add_chain(dae, origin, n_rates);
    let parameter = stand_still(dae, name, origin);
    let (held, change) = (dae.pool.symbol(parameter), dae.pool.symbol(chain[0]));
    let right = dae.pool.add(held, change);
    define(dae, symbol, right);
    Input {
        chain,
        held: Some(Held::Sampled { symbol, parameter }),
    }
}

/// Makes an input for what a line has just set; only other lines read it.
fn vary_alone(
    dae: &mut Dae,
    symbol: SymbolId,
    fresh: &mut HashMap<SymbolId, ExprId>,
    n_rates: usize,
) -> Input {
    let Symbol { name, origin, .. } = *dae.symbol(symbol);
    let chain = add_chain(dae, origin, n_rates);
    let parameter = stand_still(dae, name, origin);
    let (set, change) = (dae.pool.symbol(parameter), dae.pool.symbol(chain[0]));
    fresh.insert(symbol, dae.pool.add(set, change));
    Input {
        chain,
        held: Some(Held::Sampled { symbol, parameter }),
    }
}

/// Reads other lines as they have just set, `pre` as held before, continuous quantities at their left limits.
fn at_a_tick(dae: &mut Dae, value: ExprId, fresh: &HashMap<SymbolId, ExprId>) -> ExprId {
    let mut map: HashMap<SymbolId, ExprId> = fresh.clone();
    for symbol in symbols_of(&dae.pool, value) {
        if let Role::Pre { of } = dae.symbol(symbol).role {
            map.insert(symbol, dae.pool.symbol(of));
        }
    }
    substitute(&mut dae.pool, value, &|s| map.get(&s).copied())
}

/// Freezes the switches of a line, and lets whole numbers follow their argument at the stated gain.
fn smooth(
    dae: &mut Dae,
    (value, origin): (ExprId, Origin),
    freezer: &mut Freezer,
    gain: f64,
) -> (ExprId, bool) {
    let value = signs_as_choices(dae, value);
    let is_constant: Vec<bool> = dae
        .symbols
        .iter()
        .map(|s| matches!(s.role, Role::Parameter { .. }))
        .collect();
    let Dae {
        pool,
        symbols,
        modes,
        names,
        ..
    } = dae;

    let name = names.child(paynter_symbolic::Names::ROOT, "switch", None);
    let fixed = |s: SymbolId| is_constant.get(s.0 as usize).copied().unwrap_or(false);
    let value = freezer.freeze(pool, value, &fixed, &mut |_, switch| {
        let symbol = SymbolId(symbols.len() as u32);
        symbols.push(Symbol {
            name,
            role: Role::Mode {
                mode: modes.len() as u32,
            },
            nominal: 0.0,
            origin,
        });
        modes.push(Mode {
            symbol,
            switch,
            origin,
        });
        symbol
    });

    // The argument of one may read another: outermost first.
    let floors: Vec<(SymbolId, ExprId)> = modes
        .iter()
        .rev()
        .filter_map(|m| match m.switch {
            Switch::Floor { of } => Some((m.symbol, of)),
            _ => None,
        })
        .collect();

    let (mut smooth, mut is_quantised) = (value, false);
    for (mode, of) in floors {
        if symbols_of(pool, smooth).contains(&mode) {
            let factor = pool.number(gain);
            let slope = pool.mul(factor, of);
            smooth = substitute(pool, smooth, &|s| (s == mode).then_some(slope));
            is_quantised = true;
        }
    }
    (smooth, is_quantised)
}

/// Writes sign(a) as a choice that shares its switch with abs(a): sign(a)·abs(a) is then a, also at zero.
fn signs_as_choices(dae: &mut Dae, value: ExprId) -> ExprId {
    let pool = &mut dae.pool;
    let mut rebuilt: HashMap<ExprId, ExprId> = HashMap::new();
    for id in below(pool, &[value]) {
        let mut new = rebuild(pool, id, &|a| rebuilt[&a]);
        if let Node::Call1(Function1::Sign, a) = pool.node(new)
            && pool.as_number(a).is_none()
        {
            let (zero, up, down) = (pool.number(0.0), pool.number(1.0), pool.number(-1.0));
            let is_up = pool.compare(Comparison::GreaterEqual, a, zero);
            new = pool.if_else(is_up, up, down);
        }
        rebuilt.insert(id, new);
    }
    rebuilt[&value]
}
