//! Random points at which expressions are looked at: zero or not, equal or not.
//!
//! In:  expressions of a [`System`].
//! Out: their values at a few points.
//!
//! Algebra that proves an expression zero costs seconds where a few numbers tell the same. Parameters are
//! random as well: with the user's own values (two equal lengths, say) accidents would look like structure.
//!
//! **Invariant:** a symbol has the same value at a point for ever, so values of shared parts are kept.

use super::magnitude::magnitude;
use super::system::{Role, System};
use paynter_symbolic::evaluate::Evaluator;
use paynter_symbolic::{ExprId, SymbolId};

/// How many points are looked at. One would do for analytic functions, but for an accident of probability zero;
/// eight leave some where others lie outside of the domain of a root or logarithm.
pub(super) const POINTS: usize = 8;

/// Values of order 1 that differ by less are equal: rounding of some hundred operations.
const EQUAL: f64 = 1e-9;

/// What a few operations leave of parts that cancel, beside the parts.
const ROUNDING: f64 = 1e-14;

/// Values of shared parts at each point.
#[derive(Clone, Debug)]
pub(super) struct Points(Vec<Evaluator>);

impl Default for Points {
    fn default() -> Self {
        Points(vec![Evaluator::new(); POINTS])
    }
}

/// A number between 0 and 1 from two others: SplitMix64 (Steele, Lea & Flood 2014).
pub(super) fn random(a: u64, b: u64) -> f64 {
    let mut x = (a << 20 ^ b).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    (x >> 11) as f64 / (1_u64 << 53) as f64
}

/// The value of a symbol at a point: of size 0.3 to 1.7, so that parameters and, at every other point, places
/// are inside of most roots and logarithms.
fn value(system: &System, symbol: SymbolId, point: usize) -> f64 {
    let size = 0.3 + 1.4 * random(u64::from(symbol.0), point as u64);
    let may_be_negative = !matches!(system.role(symbol), Role::Constant | Role::Time);
    let is_negative = random(u64::from(symbol.0), 1000 + point as u64) < 0.5;
    if may_be_negative && is_negative && point % 2 == 1 {
        -size
    } else {
        size
    }
}

/// The value of an expression at every point; NaN where it has none.
pub(super) fn at_points(system: &System, e: ExprId) -> [f64; POINTS] {
    let mut found = [f64::NAN; POINTS];
    let mut points = system.points.borrow_mut();
    for (point, (found, evaluator)) in found.iter_mut().zip(&mut points.0).enumerate() {
        let x = evaluator.evaluate(&system.pool, e, &|s| value(system, s, point));
        *found = x.ok().filter(|x| x.is_finite()).unwrap_or(f64::NAN);
    }
    found
}

/// Places at which an energy is looked at for its sign: it may be negative on a part of the way only.
pub(super) const PLACES: usize = 100;

/// How far from zero places beyond the first points may be: more than half a turn.
const FARTHEST: f64 = 4.0;

/// The value of a symbol at a place; the first ones are the points.
fn value_at_place(system: &System, symbol: SymbolId, place: usize) -> f64 {
    let is_far = place >= POINTS && matches!(system.role(symbol), Role::Position(_));
    match is_far {
        true => FARTHEST * (2.0 * random(u64::from(symbol.0), 2000 + place as u64) - 1.0),
        false => value(system, symbol, place),
    }
}

/// The value of an expression at every place, with the user's own values of parameters where they are known.
pub(super) fn at_places(system: &System, e: ExprId) -> Vec<f64> {
    let at = |place: usize| {
        let value = |s: SymbolId| {
            let own = system.values.get(&s).copied();
            own.unwrap_or_else(|| value_at_place(system, s, place))
        };
        let x = Evaluator::new().evaluate(&system.pool, e, &value);
        x.ok().filter(|x| x.is_finite()).unwrap_or(f64::NAN)
    };
    (0..PLACES).map(at).collect()
}

/// Where coordinates are at a place, in words: those that an expression reads.
pub(super) fn place_text(system: &System, read: &[usize], place: usize) -> String {
    let at = |&i: &usize| {
        let coordinate = &system.coordinates[i];
        let x = value_at_place(system, coordinate.position, place);
        format!("{} = {x:.3}", coordinate.name)
    };
    read.iter().map(at).collect::<Vec<_>>().join(", ")
}

/// Tells whether a condition holds wherever an expression has a value, and that it has one.
fn everywhere(system: &System, e: ExprId, holds: impl Fn(f64) -> bool) -> bool {
    let values = at_points(system, e);
    values.iter().any(|x| !x.is_nan()) && values.iter().all(|&x| x.is_nan() || holds(x))
}

/// Tells whether an expression is zero: nothing beside what it is the sum of. Something small by itself, such as 0.5e-9 cos a, is not.
pub(super) fn is_zero(system: &System, e: ExprId) -> bool {
    if let Some(x) = system.pool.as_number(e) {
        return x == 0.0;
    }
    // Parameters and places are of order 1: what is larger needs no second look.
    everywhere(system, e, |x| x.abs() <= EQUAL) && everywhere_beside(system, e)
}

/// Tells whether an expression is zero beside its own magnitude wherever it has a value.
fn everywhere_beside(system: &System, e: ExprId) -> bool {
    let mut points = system.points.borrow_mut();
    points.0.iter_mut().enumerate().all(|(point, evaluator)| {
        let (x, size) = magnitude(&system.pool, e, &mut |pool, part| {
            let x = evaluator.evaluate(pool, part, &|s| value(system, s, point));
            x.unwrap_or(f64::NAN)
        });
        !x.is_finite() || x.abs() <= EQUAL * size
    })
}

/// Adds up; none where the parts cancel but for rounding. Numbers that the pool has already added cannot tell that by themselves.
pub(super) fn sum_of(system: &mut System, parts: &[ExprId]) -> Option<ExprId> {
    let mut sum = *parts.first()?;
    for &part in &parts[1..] {
        sum = system.pool.add(sum, part);
    }
    if is_zero(system, sum) {
        return None;
    }
    let mut sizes = [0.0; POINTS];
    for &part in parts {
        for (size, x) in sizes.iter_mut().zip(at_points(system, part)) {
            *size += x.abs();
        }
    }
    let values = at_points(system, sum);
    let cancels = values.iter().any(|x| !x.is_nan())
        && values
            .iter()
            .zip(sizes)
            .all(|(x, size)| x.is_nan() || x.abs() <= ROUNDING * size);
    (!cancels).then_some(sum)
}

/// Tells whether an expression is a certain number.
pub(super) fn is_number(system: &System, e: ExprId, number: f64) -> bool {
    if let Some(x) = system.pool.as_number(e) {
        return x == number;
    }
    everywhere(system, e, |x| (x - number).abs() <= EQUAL)
}

/// Tells whether an expression is positive.
pub(super) fn is_positive(system: &System, e: ExprId) -> bool {
    everywhere(system, e, |x| x > 0.0)
}

/// Tells whether an expression is negative.
pub(super) fn is_negative(system: &System, e: ExprId) -> bool {
    everywhere(system, e, |x| x < 0.0)
}

/// Tells whether two values are the same up to rounding of values of this size, or one of them is none.
pub(super) fn agree(a: f64, b: f64, size: f64) -> bool {
    a.is_nan() || b.is_nan() || (a - b).abs() <= EQUAL * size
}
