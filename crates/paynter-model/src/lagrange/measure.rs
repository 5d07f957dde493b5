//! Checks that energies are energies: kinetic and potential in joules, losses in watts.
//!
//! In:  a system, and what its symbols measure where that is known.
//! Out: errors at energies of another unit. What has no known unit agrees with anything, as everywhere.

use super::system::{Coordinate, Named, Role, System};
use crate::code;
use crate::units::Dimension;
use paynter_symbolic::expr::{Function1, Function2};
use paynter_symbolic::walk::below;
use paynter_symbolic::{ExprId, Node, SymbolId};
use paynter_syntax::Diagnostic;
use rustc_hash::FxHashMap;

/// What an expression measures.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    /// A bare number: a factor without unit, or an addend of any.
    Number,
    Known(Dimension),
    Unknown,
    /// Addends of two units.
    Mixed(Dimension, Dimension),
}

/// Finds energies that are not in joules, losses that are not in watts, and coordinates without a unit where
/// the file asks for them.
pub(super) fn check(system: &System) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    if system.is_strict {
        let is_bare = |c: &&Coordinate| !system.dimensions.contains_key(&c.position);
        let bare = system.coordinates.iter().filter(is_bare);
        errors.extend(bare.map(|c| {
            Diagnostic::error(
                code::NOT_AN_ENERGY,
                format!("the coordinate `{}` has no unit", c.name),
            )
            .primary(c.span, "`units strict` asks for one")
            .help(format!("write `{} [m]` or `{} [rad]`", c.name, c.name))
        }));
    }
    let mut measures = Measures {
        system,
        symbols: FxHashMap::default(),
    };
    let mixed: Vec<Diagnostic> = (0..system.rates.len())
        .filter_map(|k| mixed_rate(&mut measures, k))
        .collect();
    if !mixed.is_empty() {
        // Energies that read such a rate are wrong for the same reason.
        errors.extend(mixed);
        return errors;
    }
    let energies = system.kinetic.iter().chain(&system.potential);
    for named in energies {
        errors.extend(wrong(&mut measures, named, Dimension::ENERGY, "joules"));
    }
    for named in &system.loss {
        errors.extend(wrong(&mut measures, named, Dimension::POWER, "watts"));
    }
    errors
}

/// What an expression measures, where that is known.
pub(super) fn dimension(system: &System, e: ExprId) -> Option<Dimension> {
    let mut measures = Measures {
        system,
        symbols: FxHashMap::default(),
    };
    match measures.expression(e) {
        Measure::Known(dimension) => Some(dimension),
        _ => None,
    }
}

/// What symbols were found to measure.
struct Measures<'s> {
    system: &'s System,
    symbols: FxHashMap<SymbolId, Measure>,
}

fn wrong(
    measures: &mut Measures<'_>,
    named: &Named,
    wanted: Dimension,
    word: &str,
) -> Option<Diagnostic> {
    let message = match measures.expression(named.value) {
        Measure::Known(found) if found != wanted => Diagnostic::error(
            code::NOT_AN_ENERGY,
            format!("`{}` is in {}, not in {word}", named.name, found.describe()),
        )
        .help(format!(
            "a factor in {} is missing; a number needs its unit, as in `9.81 [m/s^2]`",
            wanted.per(found).unit().text
        )),
        Measure::Mixed(a, b) => Diagnostic::error(
            code::NOT_AN_ENERGY,
            format!(
                "`{}` adds {} to {}, and should be in {word}",
                named.name,
                b.describe(),
                a.describe()
            ),
        ),
        _ => return None,
    };
    Some(message.primary(named.span, "from the units of what it reads"))
}

/// A rate whose addends have different units.
fn mixed_rate(measures: &mut Measures<'_>, k: usize) -> Option<Diagnostic> {
    let rate = &measures.system.rates[k];
    let (name, span) = (rate.name.clone(), rate.span);
    let Measure::Mixed(a, b) = measures.expression(rate.value) else {
        return None;
    };
    let message = format!("`{name}` adds {} to {}", b.describe(), a.describe());
    Some(
        Diagnostic::error(code::NOT_AN_ENERGY, message)
            .primary(span, "a rate has one unit")
            .help("a length is missing beside the rate of an angle: `der(x) + r*der(a)`"),
    )
}

impl Measures<'_> {
    fn expression(&mut self, e: ExprId) -> Measure {
        let pool = &self.system.pool;
        let mut found: FxHashMap<ExprId, Measure> = FxHashMap::default();
        for id in below(pool, &[e]) {
            let of = |a: &ExprId| found[a];
            let measure = match pool.node(id) {
                Node::Number(_) => Measure::Number,
                Node::Symbol(s) => self.symbol(s),
                Node::Neg(a) | Node::Smooth(a) => of(&a),
                Node::Add(a, b) | Node::Sub(a, b) | Node::If(_, a, b) => sum(of(&a), of(&b)),
                Node::Mul(a, b) => product(of(&a), of(&b), Dimension::times),
                Node::Div(a, b) => product(of(&a), of(&b), Dimension::per),
                Node::Power(a, n) => power(of(&a), pool.as_number(n)),
                Node::Call1(Function1::Sqrt, a) => power(of(&a), Some(0.5)),
                Node::Call1(Function1::Abs, a) => of(&a),
                // A plain number, which agrees with anything as a bare one does.
                Node::Call1(..) | Node::Call2(Function2::Atan2, ..) => Measure::Number,
                Node::Call2(_, a, b) => sum(of(&a), of(&b)),
                _ => Measure::Unknown,
            };
            found.insert(id, measure);
        }
        found[&e]
    }

    /// A rate measures what its value does. Rates form no circle: this was checked.
    fn symbol(&mut self, s: SymbolId) -> Measure {
        if let Some(&known) = self.symbols.get(&s) {
            return known;
        }
        let measure = match (self.system.role(s), self.system.dimensions.get(&s)) {
            (Role::Rate(k), _) => self.expression(self.system.rates[k].value),
            (_, Some(&dimension)) => Measure::Known(dimension),
            _ => Measure::Unknown,
        };
        self.symbols.insert(s, measure);
        measure
    }
}

fn sum(a: Measure, b: Measure) -> Measure {
    match (a, b) {
        (Measure::Mixed(..), _) => a,
        (_, Measure::Mixed(..)) => b,
        (Measure::Known(x), Measure::Known(y)) if x != y => Measure::Mixed(x, y),
        (Measure::Known(_), _) => a,
        (_, Measure::Known(_)) => b,
        (Measure::Unknown, _) | (_, Measure::Unknown) => Measure::Unknown,
        (Measure::Number, Measure::Number) => Measure::Number,
    }
}

fn product(a: Measure, b: Measure, of: impl Fn(Dimension, Dimension) -> Dimension) -> Measure {
    match (a, b) {
        (Measure::Mixed(..), _) => a,
        (_, Measure::Mixed(..)) => b,
        (Measure::Unknown, _) | (_, Measure::Unknown) => Measure::Unknown,
        (Measure::Number, Measure::Number) => Measure::Number,
        (Measure::Known(x), Measure::Known(y)) => Measure::Known(of(x, y)),
        (Measure::Known(x), Measure::Number) => Measure::Known(of(x, Dimension::ONE)),
        (Measure::Number, Measure::Known(y)) => Measure::Known(of(Dimension::ONE, y)),
    }
}

fn power(a: Measure, n: Option<f64>) -> Measure {
    match (a, n) {
        (Measure::Known(d), Some(n)) => d.powf(n).map_or(Measure::Unknown, Measure::Known),
        (Measure::Known(d), None) if d.is_one() => a,
        (Measure::Known(_), None) => Measure::Unknown,
        _ => a,
    }
}
