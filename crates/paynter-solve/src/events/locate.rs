//! Finds the instant of the first event among guards known to cross within a part of a step.
//!
//! In:  a bracket in time for each guard that was seen across.
//! Out: the instant, and every guard that crosses there, with those that no sample showed.
//!
//! **Invariant:** at the instant found, no guard is across that has not fired.

use super::{
    BEYOND_EVENT, Bracket, CLOSEST_LOOK, Found, Guards, JUMP_SHARE, LARGEST_ERROR_AT_EVENT, PARTS,
    ZERO_WITH_A_SIDE, evaluate, sample_time, time_width,
};
use crate::observer::Dense;
use crate::options::Failure;
use crate::stepper::{Context, min_step};

impl Guards {
    /// Narrows the brackets, keeps the earliest and those that cannot be told from it.
    pub(super) fn locate(
        &mut self,
        cx: &mut Context<'_>,
        dense: &dyn Dense,
    ) -> Result<Found, Failure> {
        let width = time_width(dense);
        let mut brackets = std::mem::take(&mut self.brackets);
        let (earliest, t_event) = loop {
            let (earliest, t_event) = self.earliest(cx, dense, &mut brackets)?;
            dense.eval(t_event, &mut self.y);
            evaluate(cx, t_event, &self.y, &mut self.values)?;
            if !self.bracket_what_is_across(dense, t_event, &mut brackets) {
                break (earliest, t_event);
            }
        };

        if let Some(h) = self.closer_look_at(cx, dense, t_event) {
            self.brackets = brackets;
            return Ok(Found::LookCloser(h));
        }

        self.fired.clear();
        for &(guard, bracket) in &brackets {
            if bracket.a > earliest + width || bracket.b > t_event {
                continue;
            }
            let size = bracket.v_a.abs().max(self.values[guard].abs());
            // One that jumps across is nowhere near its surface, and may come back at any time.
            let has_jumped = size > JUMP_SHARE * self.scale[guard];
            self.tell(guard, if has_jumped { 0.0 } else { 2.0 * size });
        }

        self.brackets = brackets;
        self.tell_what_arrives(cx, t_event);
        self.start.copy_from_slice(&self.values);
        self.silence_noise(cx, t_event);
        self.note_events(t_event)?;
        Ok(Found::Event(t_event))
    }

    /// Gives the step up to an event, with the state there in `y`, where the error of the whole step is too large for it.
    ///
    /// Beyond a switch a law goes on as it was before: a short steep ramp climbs to values that the run never has. They
    /// allow errors that are small beside them, and large at the event.
    fn closer_look_at(&mut self, cx: &Context<'_>, dense: &dyn Dense, t_event: f64) -> Option<f64> {
        cx.weights
            .inverse_scale_of_step(dense.y0(), &self.y, &mut self.inverse_scale);
        let error = dense.error_norm(&self.inverse_scale);
        let (t0, t1) = self.step;
        let h = BEYOND_EVENT * (t_event - t0);
        let is_shorter = h < 0.9 * (t1 - t0);
        let is_long_enough = h > CLOSEST_LOOK * min_step(t_event);
        (error > LARGEST_ERROR_AT_EVENT && is_shorter && is_long_enough).then_some(h)
    }

    /// Lets guards fire that have come to their surface at this very event and are on their way across: the saw of
    /// `mod` ends where it passes zero, and what reads it must see one instant, not two.
    fn tell_what_arrives(&mut self, cx: &mut Context<'_>, t: f64) {
        let has_arrived = |this: &Self, guard: usize| {
            this.values[guard].abs() < ZERO_WITH_A_SIDE
                && this.sample(guard, 0) > this.band[guard].max(ZERO_WITH_A_SIDE)
                && this.fired.iter().all(|crossing| crossing.guard != guard)
        };
        if !(0..self.told.len()).any(|guard| has_arrived(self, guard)) {
            return;
        }
        // Where the way cannot be told, they fire when they are seen across.
        let mut rates = vec![0.0; self.told.len()];
        let is_known = cx.rhs(t, &self.y, &mut self.rate).is_ok()
            && cx.system.guard_rates(t, &self.y, &self.rate, &mut rates) == Ok(true);
        for guard in 0..self.told.len() {
            if is_known && has_arrived(self, guard) && self.told[guard] * rates[guard] < 0.0 {
                self.tell(guard, 0.0);
            }
        }
    }

    /// Narrows the brackets that may be the first; gives the end of the first, and of all that end with it.
    fn earliest(
        &mut self,
        cx: &mut Context<'_>,
        dense: &dyn Dense,
        brackets: &mut [(usize, Bracket)],
    ) -> Result<(f64, f64), Failure> {
        let width = time_width(dense);
        brackets.sort_by(|p, q| p.1.b.total_cmp(&q.1.b));
        let mut earliest = f64::INFINITY;
        for (guard, bracket) in brackets.iter_mut() {
            if bracket.a > earliest + width {
                continue;
            }
            self.narrow(cx, dense, *guard, bracket)?;
            earliest = earliest.min(bracket.b);
        }
        let mut t_event = earliest;
        for (_, bracket) in brackets.iter() {
            if bracket.a <= earliest + width && bracket.b <= earliest + 2.0 * width {
                t_event = t_event.max(bracket.b);
            }
        }
        Ok((earliest, t_event.min(dense.t1())))
    }

    /// Adds brackets for guards that are across at an event, though no sample showed them there: they went across
    /// before it. So does ⌊√|x|⌋, which dips to zero and back where |x| has its corner. Tells whether there are any.
    fn bracket_what_is_across(
        &self,
        dense: &dyn Dense,
        t_event: f64,
        brackets: &mut Vec<(usize, Bracket)>,
    ) -> bool {
        let width = time_width(dense);
        let mut has_found = false;
        for guard in 0..self.told.len() {
            let v_b = self.told[guard] * self.values[guard];
            let is_across = v_b < -self.noise(guard).max(self.band[guard]);
            if !is_across || self.sample(guard, 0) <= self.band[guard] {
                continue;
            }
            let is_known = |(g, bracket): &(usize, Bracket)| *g == guard && bracket.b <= t_event;
            let safe = (0..PARTS).rev().find(|&part| {
                sample_time(dense, part) < t_event - width && self.sample(guard, part) > 0.0
            });
            if brackets.iter().any(is_known) {
                continue;
            }
            let Some(part) = safe else { continue };
            brackets.retain(|(g, _)| *g != guard);
            brackets.push((
                guard,
                Bracket {
                    a: sample_time(dense, part),
                    b: t_event,
                    v_a: self.sample(guard, part),
                    v_b,
                    offset: 0.0,
                },
            ));
            has_found = true;
        }
        has_found
    }

    /// Shrinks a bracket to the width of time by the Illinois rule, with bisection where the
    /// rule is slow (Dowell & Jarratt 1971).
    fn narrow(
        &mut self,
        cx: &mut Context<'_>,
        dense: &dyn Dense,
        guard: usize,
        bracket: &mut Bracket,
    ) -> Result<(), Failure> {
        let width = time_width(dense);
        let (mut f_a, mut f_b) = (bracket.v_a, bracket.v_b);
        let mut last_side = 0;
        let mut width_before = f64::INFINITY;
        for round in 0..200 {
            let span = bracket.b - bracket.a;
            if span <= width {
                break;
            }
            let secant = bracket.a + span * (f_a / (f_a - f_b));
            let is_slow = round % 3 == 2 && span > 0.5 * width_before;
            if round % 3 == 2 {
                width_before = span;
            }
            let t = if is_slow || !secant.is_finite() {
                bracket.a + 0.5 * span
            } else {
                secant.clamp(bracket.a + 0.25 * width, bracket.b - 0.25 * width)
            };
            if t <= bracket.a || t >= bracket.b {
                break;
            }
            let v = self.value_at(cx, dense, guard, t)? + bracket.offset;
            if v < 0.0 {
                (bracket.b, bracket.v_b, f_b) = (t, v, v);
                if last_side == 1 {
                    f_a *= 0.5;
                }
                last_side = 1;
            } else {
                (bracket.a, bracket.v_a, f_a) = (t, v, v);
                if last_side == -1 {
                    f_b *= 0.5;
                }
                last_side = -1;
            }
        }
        Ok(())
    }
}
