//! Signals with corners: steps, pulses, ramps, pulse-width modulation.
//!
//! In:  an argument (usually `time`) and the corners.
//! Out: expressions whose comparisons are the corners, so that the engine stops there exactly.
//!
//! **Invariant:** each piece owns its left end: a step at 0.1 s has risen at 0.1 s, a pulse
//! to 0.4 s is over at 0.4 s.

use paynter_symbolic::{Comparison, Function1};

use super::{Call, Dimensioned, FunctionRow, Refusal, Value, give, times};
use crate::units::Dimension;

pub(super) const ROWS: &[FunctionRow] = &[
    FunctionRow {
        name: "step",
        parameters: &["time", "height", "at?"],
        summary: "0 before `at`, then `height`",
        lower: step,
    },
    FunctionRow {
        name: "pulse",
        parameters: &["time", "height", "from", "to"],
        summary: "`height` from `from` until `to`, else 0",
        lower: pulse,
    },
    FunctionRow {
        name: "ramp",
        parameters: &["time", "slope", "from?", "to?"],
        summary: "rises with `slope` from `from` until `to`, then stays",
        lower: ramp,
    },
    FunctionRow {
        name: "pwm",
        parameters: &["time", "frequency", "duty"],
        summary: "1 for the part `duty` of each period, then 0",
        lower: pulse_width_modulation,
    },
];

/// Position of a corner, by default at zero.
fn corner(call: &mut Call, slot: usize) -> Result<Dimensioned, Refusal> {
    if call.is_given(slot) {
        return call.number(slot);
    }
    let expr = call.pool().number(0.0);
    Ok(Dimensioned {
        expr,
        dimension: None,
    })
}

fn step(call: &mut Call) -> Result<Value, Refusal> {
    call.agree(&[0, 2])?;
    let (time, height, at) = (call.number(0)?, call.number(1)?, corner(call, 2)?);
    let pool = call.pool();
    let zero = pool.number(0.0);
    let has_risen = pool.compare(Comparison::GreaterEqual, time.expr, at.expr);
    let expr = pool.if_else(has_risen, height.expr, zero);
    give(expr, height.dimension)
}

fn pulse(call: &mut Call) -> Result<Value, Refusal> {
    call.agree(&[0, 2, 3])?;
    let (time, height) = (call.number(0)?, call.number(1)?);
    let (from, to) = (call.number(2)?, call.number(3)?);
    let pool = call.pool();
    let zero = pool.number(0.0);
    let has_begun = pool.compare(Comparison::GreaterEqual, time.expr, from.expr);
    let is_over = pool.compare(Comparison::GreaterEqual, time.expr, to.expr);
    let goes_on = pool.not(is_over);
    let is_high = pool.and(has_begun, goes_on);
    let expr = pool.if_else(is_high, height.expr, zero);
    give(expr, height.dimension)
}

fn ramp(call: &mut Call) -> Result<Value, Refusal> {
    let along = call.agree(&[0, 2, 3])?;
    let (time, slope, from) = (call.number(0)?, call.number(1)?, corner(call, 2)?);
    let to = if call.is_given(3) {
        Some(call.number(3)?)
    } else {
        None
    };
    let pool = call.pool();
    let zero = pool.number(0.0);
    let mut run = pool.sub(time.expr, from.expr);
    if let Some(to) = to {
        let is_over = pool.compare(Comparison::GreaterEqual, time.expr, to.expr);
        let whole = pool.sub(to.expr, from.expr);
        run = pool.if_else(is_over, whole, run);
    }
    let has_begun = pool.compare(Comparison::GreaterEqual, time.expr, from.expr);
    run = pool.if_else(has_begun, run, zero);
    let expr = pool.mul(slope.expr, run);
    give(expr, times(slope.dimension, along))
}

/// phase = f·t − ⌊f·t⌋; high while phase < duty.
fn pulse_width_modulation(call: &mut Call) -> Result<Value, Refusal> {
    let time = call.number_in(0, Dimension::TIME)?;
    let frequency = call.number_in(1, Dimension::FREQUENCY)?;
    let duty = call.plain(2)?;
    let pool = call.pool();
    let (zero, one) = (pool.number(0.0), pool.number(1.0));
    let periods = pool.mul(frequency.expr, time.expr);
    let whole = pool.call1(Function1::Floor, periods);
    let phase = pool.sub(periods, whole);
    let is_high = pool.compare(Comparison::Less, phase, duty.expr);
    let expr = pool.if_else(is_high, one, zero);
    // A switching function multiplies what it switches: a plain number, unless nothing is known.
    give(expr, frequency.dimension.map(|_| Dimension::ONE))
}
