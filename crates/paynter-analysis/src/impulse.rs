//! Tells which switches of differentiated equations make a jump, and warns of them.
//!
//! In:  the switches that index reduction found in equations it differentiated.
//! Out: a warning for each that jumps. An `if` whose branches meet where it switches needs no impulse.
//!
//! Whether branches meet is looked at in numbers: at points on the surface where the switch changes, the
//! equation has one value with the switch on either side, or two.

use paynter_model::BondGraph;
use paynter_symbolic::dae::{Origin, Switch};
use paynter_symbolic::evaluate::evaluate;
use paynter_symbolic::reduced::{Known, Reduced};
use paynter_symbolic::walk::symbols_of;
use paynter_symbolic::{ExprId, Role, SymbolId};
use paynter_syntax::{Diagnostic, Span};
use std::collections::HashMap;

use paynter_design::code;

/// Points of the surface that are tried.
const N_POINTS: u32 = 5;
/// Sides that differ by less than this part of what they are made of meet: the place of the surface is
/// known to rounding, and slopes up to a million pass.
const MEET: f64 = 1e-8;

/// Warns of storages that follow a source with a jump.
pub(crate) fn warnings(reduced: &Reduced, graph: &BondGraph) -> Vec<Diagnostic> {
    let found = reduced.differentiated_switches.iter();
    let mut jumps: Vec<(Origin, SymbolId)> = found
        .filter(|&&(_, symbol, side)| !is_continuous(reduced, symbol, side))
        .map(|&(origin, symbol, _)| (origin, symbol))
        .collect();
    jumps.dedup();
    jumps
        .into_iter()
        .map(|(origin, symbol)| {
            let jumps_at = graph.span(reduced.dae.symbol(symbol).origin);
            let storages = dependent_storages(reduced, graph);
            let tied = storages.first().copied();
            let message = Diagnostic::warning(
                code::IMPULSE,
                "a storage follows a source that jumps: the jump would need an impulse",
            );
            let place = tied.unwrap_or_else(|| graph.span(origin));
            let message = message.primary(place, "tied to the source without a resistance");
            let message = match jumps_at == place {
                true => message,
                false => message.secondary(jumps_at, "jumps here"),
            };
            message.help("put a resistance between them, or give the source a rise time")
        })
        .collect()
}

/// Places of the storages that are not states: what they hold follows from something else.
fn dependent_storages(reduced: &Reduced, graph: &BondGraph) -> Vec<Span> {
    let is_state = |s: &SymbolId| reduced.states.iter().any(|state| state.symbol == *s);
    let stores = graph.elements.iter().filter(|e| e.kind.is_storage());
    stores
        .filter(|e| !e.states.is_empty() && !e.states.iter().any(is_state))
        .map(|e| graph.span(e.origin))
        .collect()
}

/// Tells whether a side of an equation has one value on both sides of a switch.
fn is_continuous(reduced: &Reduced, mode: SymbolId, side: ExprId) -> bool {
    let dae = &reduced.dae;
    let Role::Mode { mode: index } = dae.symbol(mode).role else {
        return false;
    };
    let Some(switch) = dae.modes.get(index as usize).map(|m| m.switch) else {
        return false;
    };
    (0..N_POINTS).all(|seed| {
        let mut point = Point::new(reduced, seed);
        let modes = point.go_to(switch);
        modes.is_some_and(|modes| point.meets(side, mode, modes))
    })
}

/// Values of symbols: made up for those that nothing defines, computed for the others.
struct Point<'a> {
    reduced: &'a Reduced,
    definitions: HashMap<SymbolId, ExprId>,
    seed: u32,
    /// Symbols that were set.
    set: HashMap<SymbolId, f64>,
}

/// Definitions inside definitions that are followed; a cycle ends here.
const MAX_DEPTH: u32 = 30;

impl<'a> Point<'a> {
    fn new(reduced: &'a Reduced, seed: u32) -> Self {
        let dae = &reduced.dae;
        let defined = dae.equations.iter().filter_map(|q| {
            let symbol = dae.pool.as_symbol(q.left)?;
            (q.solves == Some(symbol)).then_some((symbol, q.right))
        });
        Point {
            reduced,
            definitions: defined.collect(),
            seed,
            set: HashMap::new(),
        }
    }

    fn value(&self, s: SymbolId, depth: u32) -> f64 {
        if let Some(&set) = self.set.get(&s) {
            return set;
        }
        if let Role::Parameter { value, .. } = self.reduced.dae.symbol(s).role {
            return value;
        }
        if let Role::Mode { mode } = self.reduced.dae.symbol(s).role {
            return self.mode(mode, depth);
        }
        let known = self.reduced.known.get(s.0 as usize);
        match (known, self.definitions.get(&s)) {
            _ if depth >= MAX_DEPTH => self.made_up(s),
            (Some(&Known::Alias { of, negated }), _) => {
                let x = self.value(of, depth + 1);
                if negated { -x } else { x }
            }
            (Some(&Known::Expression(e)), _) | (_, Some(&e)) => self.of(e, depth + 1),
            _ => self.made_up(s),
        }
    }

    /// The side on which another switch is at this point.
    fn mode(&self, mode: u32, depth: u32) -> f64 {
        let modes = &self.reduced.dae.modes;
        match modes.get(mode as usize).map(|m| m.switch) {
            _ if depth >= MAX_DEPTH => 1.0,
            Some(Switch::Relation {
                comparison,
                left,
                right,
            }) => {
                let (a, b) = (self.of(left, depth + 1), self.of(right, depth + 1));
                f64::from(u8::from(comparison.holds(a, b)))
            }
            Some(Switch::Floor { of }) => self.of(of, depth + 1).floor(),
            Some(Switch::Sign { of }) => self.of(of, depth + 1).signum(),
            None => 1.0,
        }
    }

    fn of(&self, e: ExprId, depth: u32) -> f64 {
        let pool = &self.reduced.dae.pool;
        evaluate(pool, e, &|s| self.value(s, depth)).unwrap_or(f64::NAN)
    }

    /// A number between 0.2 and 2.2, the same for every reader of the symbol.
    fn made_up(&self, s: SymbolId) -> f64 {
        let mixed = (s.0.wrapping_mul(0x9e37_79b9)) ^ self.seed.wrapping_mul(0x85eb_ca6b);
        let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x2c1b_3c6d);
        0.2 + 2.0 * f64::from(mixed >> 8) / f64::from(1 << 24)
    }

    /// Moves one symbol so that the switch is where it changes; gives the values it has on both sides.
    fn go_to(&mut self, switch: Switch) -> Option<(f64, f64)> {
        let (left, right, modes) = match switch {
            Switch::Relation { left, right, .. } => (left, Some(right), (0.0, 1.0)),
            Switch::Sign { of } => (of, None, (-1.0, 1.0)),
            // A staircase jumps.
            Switch::Floor { .. } => return None,
        };
        let guard = |point: &Self| {
            let right = right.map_or(0.0, |right| point.of(right, 0));
            let left = point.of(left, 0);
            (left - right, left.abs() + right.abs())
        };
        for symbol in self.leaves(&[Some(left), right]) {
            if self.find_root(symbol, &guard) {
                return Some(modes);
            }
            self.set.remove(&symbol);
        }
        None
    }

    /// Symbols that nothing defines, below some expressions; time comes first.
    fn leaves(&self, expressions: &[Option<ExprId>]) -> Vec<SymbolId> {
        let dae = &self.reduced.dae;
        let mut open: Vec<(SymbolId, u32)> = Vec::new();
        for &e in expressions.iter().flatten() {
            open.extend(symbols_of(&dae.pool, e).into_iter().map(|s| (s, 0)));
        }
        let mut found = Vec::new();
        while let Some((s, depth)) = open.pop() {
            let known = self.reduced.known.get(s.0 as usize);
            match (known, self.definitions.get(&s)) {
                _ if depth >= MAX_DEPTH || found.contains(&s) => {}
                (Some(&Known::Alias { of, .. }), _) => open.push((of, depth + 1)),
                (Some(&Known::Expression(e)), _) | (_, Some(&e)) => {
                    open.extend(symbols_of(&dae.pool, e).into_iter().map(|s| (s, depth + 1)));
                }
                _ if matches!(dae.symbol(s).role, Role::Parameter { .. }) => {}
                _ => found.push(s),
            }
        }
        found.sort_unstable_by_key(|s| (dae.symbol(*s).role != Role::Time, *s));
        found.dedup();
        found
    }

    /// Finds by secants where the guard vanishes along one symbol.
    fn find_root(&mut self, s: SymbolId, guard: &dyn Fn(&Self) -> (f64, f64)) -> bool {
        let at = |x: f64, this: &mut Self| {
            this.set.insert(s, x);
            guard(this)
        };
        let mut a = self.made_up(s);
        let mut b = a + 0.1;
        let mut fa = at(a, self).0;
        for _ in 0..60 {
            let (fb, size) = at(b, self);
            if fb.abs() <= 4.0 * f64::EPSILON * size || fb == 0.0 {
                return true;
            }
            let next = b - fb * (b - a) / (fb - fa);
            if !next.is_finite() || next == b {
                return false;
            }
            (a, fa, b) = (b, fb, next);
        }
        false
    }

    /// Tells whether an expression has one value with the mode on either side.
    fn meets(&mut self, e: ExprId, mode: SymbolId, (one, other): (f64, f64)) -> bool {
        self.set.insert(mode, one);
        let first = self.of(e, 0);
        self.set.insert(mode, other);
        let second = self.of(e, 0);
        let size = 1.0 + first.abs() + second.abs();
        (first - second).abs() <= MEET * size
    }
}
