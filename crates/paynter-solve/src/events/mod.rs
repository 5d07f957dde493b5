//! Finds the first change of sign of any guard inside a step.
//!
//! In:  a step's interpolant and the system's guards.
//! Out: the earliest event, to a few units in the last place of time, with every guard that
//!      fires there and its direction; after the event, the guards that its reaction made
//!      jump or turn back.
//!
//! **Invariant:** each guard has a side that was told to the system. Every change of side is
//! told once, so the crossings of one guard alternate. A guard that is on its surface
//! (value within rounding of zero after an event) keeps the told side until it leaves the
//! surface; this is what keeps a bouncing ball from falling through the floor.
//!
//! A guard that dips through zero and comes back between two samples is found by following
//! each local minimum of the sampled values down to its bottom.

mod locate;
mod parts;

use crate::observer::Dense;
use crate::options::{Failure, Function};
use crate::stepper::{Context, Trouble, min_step, refuse_not_finite};
use crate::system::{Crossing, Direction};
use parts::{Part, cut};

/// A step is looked at in this many equal parts. Interpolants have degree at most 7 and turn
/// rarely inside a step, so few samples catch the minima that the search then follows.
const PARTS: usize = 5;
/// Rounding error of a guard in units of the last place of its largest value so far.
const NOISE_ULPS: f64 = 10.0;
/// Width to which the time of an event is found, in units of the last place.
const TIME_ULPS: f64 = 4.0;
/// An excursion from a surface shorter than this part of the step is looked at again with a
/// step of its own size: in the long step, rounding of its large terms may hide it.
const EXCURSION_SHARE: f64 = 0.02;
/// The trend of a guard after an event is taken over this part of a step.
const TREND_SHARE: f64 = 1e-3;
/// A guard whose value its motion makes up for in this part of the trend is on its surface: what is iterated is not
/// known better, and nothing says how large it will be.
const SURFACE_SHARE: f64 = 1e-6;
/// A slope that foretells less than this part of a change is none: what moves the guard is of a higher order.
const DOUBTFUL_SHARE: f64 = 1e-6;
/// A guard that is this part of its largest value away from zero, on either side of an instant, has jumped there.
const JUMP_SHARE: f64 = 1e-3;
/// A step whose error is beyond this multiple of what is allowed at an event inside of it is made again up to there.
/// A variable that is near zero at the event is held to its absolute tolerance, two digits below the relative one: a
/// smaller multiple would repeat steps that are good enough.
const LARGEST_ERROR_AT_EVENT: f64 = 30.0;
/// … if that is longer than so many smallest steps.
const CLOSEST_LOOK: f64 = 16.0;
/// The step is then a little longer, so that the event lies within it.
const BEYOND_EVENT: f64 = 1.02;
/// A guard that crosses within so many smallest steps is at the edge beyond which a law may have no value.
const EDGE_STEPS: f64 = 256.0;
/// A value of this size is zero, and its sign tells the side on which the system takes the guard to be.
const ZERO_WITH_A_SIDE: f64 = 1e-290;
/// So many events of one guard within `CHATTER_WINDOW` smallest steps are chattering. A guard that leaves its
/// threshold needs about ten of them, since what differs by roundings is equal.
const CHATTER_COUNT: usize = 16;
const CHATTER_WINDOW: f64 = 1000.0;
/// A guard that has fired so often, with no more than so many steps between, may be noise. Chattering shows before.
const LONG_STREAK: usize = 2 * CHATTER_COUNT;
const STEPS_BETWEEN: usize = 8;
/// Steps for which a guard stays silenced.
const STEPS_OF_SILENCE: usize = 1000;

/// The guards of a system, with the sides told to it.
pub(crate) struct Guards {
    /// +1 or −1: the side last told.
    told: Vec<f64>,
    /// Half-width of the surface the guard is on since its last event; 0 if it has left.
    band: Vec<f64>,
    /// Whether the guard was told to turn back since its last event, because of its trend.
    turned: Vec<bool>,
    /// Largest value seen, for the size of rounding errors.
    scale: Vec<f64>,
    /// Values where the search begins.
    start: Vec<f64>,
    samples: [Vec<f64>; PARTS],
    values: Vec<f64>,
    trend: Vec<f64>,
    slopes: Vec<f64>,
    trend_ahead: Vec<f64>,
    y: Vec<f64>,
    rate: Vec<f64>,
    brackets: Vec<(usize, Bracket)>,
    /// Step that would show an excursion which this one hides; infinite if none.
    closer: f64,
    fired: Vec<Crossing>,
    /// Where a step is cut into parts.
    cuts: Vec<f64>,
    /// Where the step that is looked at begins and ends, whatever its parts.
    step: (f64, f64),
    inverse_scale: Vec<f64>,
    recent: Vec<[f64; CHATTER_COUNT]>,
    /// Of each guard how often it has fired in a row, in nearly every step, and the steps of the run at the last time.
    streaks: Vec<(usize, usize)>,
    /// Guards that are silenced, each until so many steps of the run.
    silenced: Vec<(usize, usize)>,
}

/// Outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Found {
    /// No guard changes side in this step.
    Nothing,
    /// The first event is at this time.
    Event(f64),
    /// The step is too long to tell; it must be made again with this size.
    LookCloser(f64),
}

/// A time before and a time after a crossing, with the guard's values towards the told side.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    a: f64,
    b: f64,
    v_a: f64,
    v_b: f64,
    /// Added to the value: leaving a surface of finite width is leaving `−offset`.
    offset: f64,
}

impl Guards {
    pub(crate) fn new(n_guards: usize, n: usize) -> Self {
        let zeros = || vec![0.0; n_guards];
        let n = if n_guards == 0 { 0 } else { n };
        Self {
            told: zeros(),
            band: zeros(),
            turned: vec![false; n_guards],
            scale: zeros(),
            start: zeros(),
            samples: std::array::from_fn(|_| zeros()),
            values: zeros(),
            trend: zeros(),
            slopes: zeros(),
            trend_ahead: zeros(),
            y: vec![0.0; n],
            rate: vec![0.0; n],
            brackets: Vec::with_capacity(n_guards),
            closer: f64::INFINITY,
            fired: Vec::with_capacity(n_guards),
            cuts: Vec::new(),
            step: (0.0, 0.0),
            inverse_scale: vec![0.0; n],
            recent: vec![[f64::NEG_INFINITY; CHATTER_COUNT]; n_guards],
            streaks: vec![(0, 0); n_guards],
            silenced: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// Takes the sides at the start of a run. Where the system has no opinion, a guard of exactly 0 counts as
    /// positive if it is about to rise, otherwise as negative. Returns whether a guard is, or is about to be, across
    /// from where the system takes it to be: these have fired at the start.
    pub(crate) fn arm(
        &mut self,
        cx: &mut Context<'_>,
        t: f64,
        y: &[f64],
        h: f64,
    ) -> Result<bool, Failure> {
        evaluate(cx, t, y, &mut self.start)?;
        self.fired.clear();
        if !cx.system.guard_sides(&mut self.told) {
            self.told.fill(0.0);
        }
        for guard in 0..self.told.len() {
            self.scale[guard] = self.start[guard].abs();
        }

        let has_trend = self.find_trend(cx, t, y, h)?;
        for guard in 0..self.told.len() {
            let (told, value) = (self.told[guard], self.start[guard]);
            let trend = if has_trend { self.trend[guard] } else { 0.0 };
            if told == 0.0 {
                let decisive = if value == 0.0 { trend } else { value };
                self.told[guard] = if decisive > 0.0 { 1.0 } else { -1.0 };
            } else if is_on_surface(value, trend) {
                if told * trend < 0.0 {
                    self.tell(guard, value.abs());
                    self.turned[guard] = true;
                }
            } else if told * value < 0.0 && told * trend < value.abs() {
                // What is about to be made up for was rounding.
                self.tell(guard, 0.0);
            }
        }
        Ok(!self.fired.is_empty())
    }

    /// Looks for the first event after `dense.t0()`. The guards that fired are then in
    /// [`Guards::fired`]. Without an event, moves on to the end of the step.
    pub(crate) fn scan(
        &mut self,
        cx: &mut Context<'_>,
        dense: &dyn Dense,
    ) -> Result<Found, Failure> {
        self.step = (dense.t0(), dense.t1());
        if !cx.system.may_cut_steps() {
            return self.scan_part(cx, dense);
        }
        let (t0, t1) = (dense.t0(), dense.t1());
        let mut cuts = std::mem::take(&mut self.cuts);
        let reaches_end = cut(cx, dense, &mut cuts);
        // At most half of it: a step made again to its whole length would be cut in the same places, for ever.
        let h = cuts.last().map_or(t1 - t0, |last| last - t0);
        let h = h.min(0.5 * (t1 - t0));
        let outcome = if !reaches_end && h > min_step(t0) {
            Ok(Found::LookCloser(h))
        } else if cuts.is_empty() {
            self.scan_part(cx, dense)
        } else {
            self.scan_parts(cx, dense, &cuts)
        };
        self.cuts = cuts;
        outcome
    }

    /// Looks at a step part by part.
    fn scan_parts(
        &mut self,
        cx: &mut Context<'_>,
        dense: &dyn Dense,
        cuts: &[f64],
    ) -> Result<Found, Failure> {
        let mut y = [dense.y0().to_vec(), vec![0.0; dense.y0().len()]];
        let mut t0 = dense.t0();
        for &t1 in cuts.iter().chain([&dense.t1()]) {
            dense.eval(t1, &mut y[1]);
            let part = Part {
                dense,
                t: (t0, t1),
                y: &y,
            };
            match self.scan_part(cx, &part)? {
                Found::Nothing => {}
                found => return Ok(found),
            }
            y.swap(0, 1);
            t0 = t1;
        }
        Ok(Found::Nothing)
    }

    fn scan_part(&mut self, cx: &mut Context<'_>, dense: &dyn Dense) -> Result<Found, Failure> {
        self.take_samples(cx, dense)?;
        self.brackets.clear();
        self.closer = f64::INFINITY;
        for guard in 0..self.told.len() {
            if let Some(bracket) = self.first_bracket(cx, dense, guard)? {
                self.brackets.push((guard, bracket));
            }
        }
        if self.closer.is_finite() {
            return Ok(Found::LookCloser(self.closer));
        }
        if self.brackets.is_empty() {
            std::mem::swap(&mut self.start, &mut self.samples[PARTS - 1]);
            for guard in 0..self.told.len() {
                if self.start[guard].abs() > self.band[guard] {
                    self.band[guard] = 0.0;
                    self.turned[guard] = false;
                }
            }
            return Ok(Found::Nothing);
        }
        self.locate(cx, dense)
    }

    /// Moves `y` along its tangent across the guards that are about to cross within some units in the last place of
    /// time, which then have fired. Gives the time that this takes; nothing if there are none.
    pub(crate) fn reach_the_edge(
        &mut self,
        cx: &mut Context<'_>,
        t: f64,
        y: &mut [f64],
    ) -> Option<f64> {
        self.fired.clear();
        evaluate(cx, t, y, &mut self.start).ok()?;
        cx.rhs(t, y, &mut self.rate).ok()?;
        let known = cx.system.guard_rates(t, y, &self.rate, &mut self.slopes);
        if known != Ok(true) || cx.system.algebraic().contains(&true) {
            return None;
        }

        let reach = EDGE_STEPS * min_step(t);
        let wait = |this: &Self, guard: usize| {
            let speed = -this.told[guard] * this.slopes[guard];
            let distance = (this.told[guard] * this.start[guard]).max(0.0);
            if speed > 0.0 {
                distance / speed
            } else {
                f64::INFINITY
            }
        };

        let is_near = |wait: f64| (0.0..=reach).contains(&wait);
        let waits: Vec<f64> = (0..self.told.len())
            .map(|guard| wait(self, guard))
            .collect();
        let longest = waits
            .iter()
            .copied()
            .filter(|&w| is_near(w))
            .reduce(f64::max)?;
        let ahead = 2.0 * longest + min_step(t);
        for (y, rate) in y.iter_mut().zip(&self.rate) {
            *y += ahead * rate;
        }

        for (guard, wait) in waits.into_iter().enumerate() {
            if is_near(wait) {
                let band = 2.0 * (ahead * self.slopes[guard]).abs();
                self.tell(guard, band);
            }
        }

        self.note_events(t + ahead).ok()?;
        Some(ahead)
    }

    /// Guards that fire at the time found last, each with its direction.
    pub(crate) fn fired(&self) -> &[Crossing] {
        &self.fired
    }

    fn take_samples(&mut self, cx: &mut Context<'_>, dense: &dyn Dense) -> Result<(), Failure> {
        self.end_silence(cx);
        for part in 0..PARTS {
            let t = sample_time(dense, part + 1);
            dense.eval(t, &mut self.y);
            evaluate(cx, t, &self.y, &mut self.samples[part])?;
            for (scale, value) in self.scale.iter_mut().zip(&self.samples[part]) {
                *scale = scale.max(value.abs());
            }
        }
        Ok(())
    }

    /// Value of a sample towards the told side: negative means across.
    fn sample(&self, guard: usize, part: usize) -> f64 {
        let value = if part == 0 {
            self.start[guard]
        } else {
            self.samples[part - 1][guard]
        };
        self.told[guard] * value
    }

    fn noise(&self, guard: usize) -> f64 {
        NOISE_ULPS * f64::EPSILON * self.scale[guard]
    }

    /// Encloses the first crossing of one guard, if it crosses at all.
    fn first_bracket(
        &mut self,
        cx: &mut Context<'_>,
        dense: &dyn Dense,
        guard: usize,
    ) -> Result<Option<Bracket>, Failure> {
        let band = self.band[guard];
        let is_on_surface = self.sample(guard, 0).abs() <= band || self.sample(guard, 0) < 0.0;
        // A guard that was sent back moves away from its surface, however little: its signs
        // count as soon as it is seen on the told side, or if it is never seen there.
        let first_away = (1..=PARTS).find(|&part| self.sample(guard, part) > 0.0);
        let signs_count_after = match first_away {
            _ if !is_on_surface => 0,
            Some(part) if self.turned[guard] => part,
            None if self.turned[guard] => 0,
            _ => PARTS,
        };
        // One that rests within the band has not moved, whatever its trend foretold.
        let rests_at = if is_on_surface {
            self.sample(guard, 0).min(0.0)
        } else {
            0.0
        };
        let across = (1..=PARTS).find(|&part| {
            let v = self.sample(guard, part);
            v < -band || (v < rests_at && part > signs_count_after)
        });

        let last_safe = across.map_or(PARTS, |part| part - 1);
        if let Some(bracket) = self.first_dip(cx, dense, guard, last_safe, is_on_surface)? {
            return Ok(Some(bracket));
        }
        let Some(part) = across else {
            return Ok(None);
        };
        let (a, v_a) = (sample_time(dense, part - 1), self.sample(guard, part - 1));
        let (b, v_b) = (sample_time(dense, part), self.sample(guard, part));
        if part == 1 && is_on_surface {
            return self.leave_surface(cx, dense, guard, (b, v_b)).map(Some);
        }
        let offset = if v_a < 0.0 { band } else { 0.0 };
        Ok(Some(Bracket {
            a,
            b,
            v_a: v_a + offset,
            v_b: v_b + offset,
            offset,
        }))
    }

    /// The guard stood on its surface at the start and is across at `(b, v_b)`: goes back
    /// from there by halves to a time at which it was still on the told side.
    fn leave_surface(
        &mut self,
        cx: &mut Context<'_>,
        dense: &dyn Dense,
        guard: usize,
        (mut b, mut v_b): (f64, f64),
    ) -> Result<Bracket, Failure> {
        let start = dense.t0();
        let h = dense.t1() - start;
        while b - start > time_width(dense) {
            let t = start + 0.5 * (b - start);
            let v = self.value_at(cx, dense, guard, t)?;
            if v > 0.0 && self.is_solid(cx, dense, guard, t)? {
                if b - start < EXCURSION_SHARE * h {
                    self.closer = self.closer.min(2.0 * (b - start));
                }
                return Ok(Bracket {
                    a: t,
                    b,
                    v_a: v,
                    v_b,
                    offset: 0.0,
                });
            }
            if v >= 0.0 {
                // Rounding noise of the surface: no farther back is there anything to see.
                break;
            }
            (b, v_b) = (t, v);
        }

        if self.turned[guard] {
            // It was sent back and did not get away, as far as this step can show.
            let closer = EXCURSION_SHARE * h;
            if closer < min_step(start) {
                return Err(Failure::Chattering {
                    t: start,
                    guard,
                    count: self.count_recent(guard, start),
                });
            }
            self.closer = self.closer.min(closer);
        }

        Ok(Bracket {
            a: start,
            b,
            v_a: 0.0,
            v_b,
            offset: 0.0,
        })
    }

    /// Tells a true excursion from rounding noise: it holds at several times before.
    fn is_solid(
        &mut self,
        cx: &mut Context<'_>,
        dense: &dyn Dense,
        guard: usize,
        t: f64,
    ) -> Result<bool, Failure> {
        let start = dense.t0();
        for share in [0.75, 0.5, 0.25] {
            if self.value_at(cx, dense, guard, start + share * (t - start))? <= 0.0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Follows local minima between the samples `0..=last` down, and returns the first that
    /// reaches across.
    fn first_dip(
        &mut self,
        cx: &mut Context<'_>,
        dense: &dyn Dense,
        guard: usize,
        last: usize,
        is_on_surface: bool,
    ) -> Result<Option<Bracket>, Failure> {
        for middle in 1..last {
            let v: [f64; 3] = std::array::from_fn(|i| self.sample(guard, middle - 1 + i));
            let is_minimum = v[1] <= v[0] && v[1] <= v[2] && (v[0] > v[1] || v[2] > v[1]);
            let bends_up = v[0] - 2.0 * v[1] + v[2] > 0.0;
            let at_left_end = middle == 1 && !is_on_surface && bends_up && v[0] < v[1];
            let at_right_end = middle + 1 == PARTS && bends_up && v[2] < v[1];
            // Where the first samples rise or the last ones fall, the bottom may lie between
            // the outer two: only if the parabola through the three has its vertex there, or if a
            // kink may: the line through the other two reaches across.
            let vertex = vertex_offset(v);
            let is_candidate = is_minimum
                || (at_left_end && ((-1.0..0.0).contains(&vertex) || 2.0 * v[1] < v[2]))
                || (at_right_end && ((0.0..=1.0).contains(&vertex) || 2.0 * v[1] < v[0]));
            if !is_candidate {
                continue;
            }
            let times: [f64; 3] = std::array::from_fn(|i| sample_time(dense, middle - 1 + i));
            let dip = self.follow_minimum(cx, dense, guard, times, v)?;
            if let Some((t, v_t)) = dip {
                let before = (middle.saturating_sub(1)..=middle)
                    .rev()
                    .find(|&part| sample_time(dense, part) < t);
                let a = sample_time(dense, before.unwrap_or(0));
                let v_a = self.sample(guard, before.unwrap_or(0));
                return Ok(Some(Bracket {
                    a,
                    b: t,
                    v_a,
                    v_b: v_t,
                    offset: 0.0,
                }));
            }
        }
        Ok(None)
    }

    /// Searches the bottom near three samples by parabolas, guarded by golden sections
    /// (Brent 1973); returns a time across as soon as one is met.
    fn follow_minimum(
        &mut self,
        cx: &mut Context<'_>,
        dense: &dyn Dense,
        guard: usize,
        times: [f64; 3],
        v: [f64; 3],
    ) -> Result<Option<(f64, f64)>, Failure> {
        let depth = -self.noise(guard);
        let mut points: [(f64, f64); 3] = std::array::from_fn(|i| (times[i], v[i]));
        let (mut left, mut right) = (times[0], times[2]);

        // At a kink parabolas tell nothing: they are believed once one has foretold a value.
        let mut is_foretold = false;
        // Each round shrinks the bracket by a third at least, or gains digits by parabolas.
        for round in 0..40 {
            points.sort_by(|p, q| p.1.total_cmp(&q.1));
            let (best, v_best) = points[0];
            if best > left && best < right {
                // Keep the bracket around the best point.
                for &(t, _) in &points[1..] {
                    if t < best {
                        left = left.max(t);
                    } else if t > best {
                        right = right.min(t);
                    }
                }
            }
            let (vertex, v_vertex) = parabola(points);
            let is_settled = v_best - v_vertex < 0.05 * v_best && v_vertex > 0.0;
            if round >= 3 && is_settled && is_foretold || right - left <= time_width(dense) {
                return Ok(None);
            }
            let is_useful = vertex > left && vertex < right && v_vertex <= v_best && round % 4 != 3;
            let t = next_guess((left, right), best, is_useful.then_some(vertex));
            let v_t = self.value_at(cx, dense, guard, t)?;
            if v_t < depth {
                return Ok(Some((t, v_t)));
            }
            if t == vertex {
                is_foretold = (v_t - v_vertex).abs() <= 0.05 * v_t;
            }
            if v_t >= points[2].1 {
                // Worse than all: only narrows the bracket.
                if t < best {
                    left = t;
                } else {
                    right = t;
                }
            }
            points[2] = (t, v_t);
        }
        Ok(None)
    }

    /// Value of one guard at `t`, towards the told side.
    fn value_at(
        &mut self,
        cx: &mut Context<'_>,
        dense: &dyn Dense,
        guard: usize,
        t: f64,
    ) -> Result<f64, Failure> {
        dense.eval(t, &mut self.y);
        evaluate(cx, t, &self.y, &mut self.values)?;
        Ok(self.told[guard] * self.values[guard])
    }

    /// Records a change of side.
    fn tell(&mut self, guard: usize, band: f64) {
        self.told[guard] = -self.told[guard];
        self.band[guard] = band.max(self.noise(guard));
        self.turned[guard] = false;
        let direction = if self.told[guard] > 0.0 {
            Direction::Rising
        } else {
            Direction::Falling
        };
        self.fired.push(Crossing { guard, direction });
    }

    fn note_events(&mut self, t: f64) -> Result<(), Failure> {
        for &Crossing { guard, .. } in &self.fired {
            let recent = &mut self.recent[guard];
            recent.rotate_left(1);
            recent[CHATTER_COUNT - 1] = t;
            let count = self.count_recent(guard, t);
            if count >= CHATTER_COUNT {
                return Err(Failure::Chattering { t, guard, count });
            }
        }
        Ok(())
    }

    /// Silences guards that fire in step after step if their values are roundings: the voltage of a diode between
    /// resistors that carry nothing changes its sign for ever. The state of the event is in `y`.
    fn silence_noise(&mut self, cx: &mut Context<'_>, t: f64) {
        let n_steps = cx.statistics.steps;
        for &Crossing { guard, .. } in &self.fired {
            let (count, last) = &mut self.streaks[guard];
            let goes_on = n_steps <= *last + STEPS_BETWEEN;
            *count = if goes_on { *count + 1 } else { 1 };
            *last = n_steps;
            // Each time after twice as many: where it is no noise, looking costs nothing to speak of.
            let is_due = *count >= LONG_STREAK && count.is_power_of_two();
            if is_due && cx.system.silence(t, &self.y, guard) {
                *count = 0;
                self.silenced.push((guard, n_steps + STEPS_OF_SILENCE));
            }
        }
    }

    /// What is rounding at one state may be a crossing at another: silence ends, and begins anew where noise is left.
    fn end_silence(&mut self, cx: &mut Context<'_>) {
        let n_steps = cx.statistics.steps;
        self.silenced.retain(|&(guard, until)| {
            let lasts = n_steps < until;
            if !lasts {
                cx.system.hear(guard);
            }
            lasts
        });
    }

    fn count_recent(&self, guard: usize, t: f64) -> usize {
        let oldest = t - CHATTER_WINDOW * min_step(t);
        let is_recent = |time: &&f64| **time >= oldest;
        self.recent[guard].iter().filter(is_recent).count()
    }

    /// After a reaction that changed something: finds the guards that jumped across or turn
    /// back from their surface, and tells them, but no more than `most`, those with the lowest numbers. Returns whether
    /// there are any.
    pub(crate) fn settle(
        &mut self,
        cx: &mut Context<'_>,
        (t, y): (f64, &[f64]),
        h: f64,
        most: usize,
    ) -> Result<bool, Failure> {
        evaluate(cx, t, y, &mut self.start)?;
        self.fired.clear();
        self.ask_sides(cx);
        let mut has_trend = None;
        let is_late = most == 1;
        for guard in 0..self.told.len() {
            if self.fired.len() >= most {
                break;
            }
            let value = self.start[guard];
            self.scale[guard] = self.scale[guard].max(value.abs());
            let has_followed = self.follow_side(guard);
            let toward = self.told[guard] * value;
            let mut band = self.band[guard].max(self.noise(guard));
            if is_late {
                band = band.max(LATE_NOISE * self.scale[guard]);
            }
            if toward < 0.0 && -toward < ZERO_WITH_A_SIDE {
                // Put on its threshold by the reaction, which knows: nothing to tell, but armed anew.
                self.told[guard] = -self.told[guard];
                self.band[guard] = self.noise(guard);
                self.turned[guard] = false;
                continue;
            }
            let is_armed = has_followed || self.turned[guard];
            if toward > band || (toward >= -band && is_armed) {
                continue;
            }
            let is_known = match has_trend {
                Some(is_known) => is_known,
                None => self.find_trend(cx, t, y, h)?,
            };
            has_trend = Some(is_known);
            let trend = self.trend[guard];
            let has_jumped = !is_known || !is_on_surface(value, trend);
            if toward < -band && has_jumped {
                self.tell(guard, 0.0);
                self.band[guard] = 0.0;
            } else if !self.turned[guard] && !is_late {
                let band = band.max(toward.abs());
                // A guard that has just fired is within rounding of zero, so any motion
                // counts; of others, one that leaves the noise within a step.
                let has_just_fired = self.recent[guard][CHATTER_COUNT - 1] >= t - min_step(t);
                let threshold = if has_just_fired {
                    0.0
                } else {
                    TREND_SHARE * self.noise(guard)
                };
                if is_known && self.told[guard] * self.trend[guard] < -threshold {
                    self.tell(guard, band);
                    self.turned[guard] = true;
                }
            }
        }
        Ok(!self.fired.is_empty())
    }

    /// Writes the sides on which the system takes the guards to be, 0 where it has no opinion, to `self.values`.
    fn ask_sides(&mut self, cx: &mut Context<'_>) {
        if !cx.system.guard_sides(&mut self.values) {
            self.values.fill(0.0);
        }
    }

    /// A reaction may have moved a switch on its own: what was told is then no longer what the system takes it to be.
    fn follow_side(&mut self, guard: usize) -> bool {
        let side = self.values[guard];
        let has_moved = side != 0.0 && side != self.told[guard];
        if has_moved {
            self.told[guard] = side;
            self.band[guard] = self.noise(guard);
            self.turned[guard] = false;
        }
        has_moved
    }

    /// Finds how the guards move right after `(t, y)`: their change over a small part of a
    /// step along the derivative. Returns false if the derivative cannot be had.
    fn find_trend(
        &mut self,
        cx: &mut Context<'_>,
        t: f64,
        y: &[f64],
        h: f64,
    ) -> Result<bool, Failure> {
        // Long enough to stand out of rounding, short enough for a straight line.
        let ahead = (TREND_SHARE * h).max(min_step(t));
        if cx.rhs(t, y, &mut self.rate).is_err() {
            return Ok(false);
        }

        for (rate, &is_algebraic) in self.rate.iter_mut().zip(cx.system.algebraic()) {
            if is_algebraic {
                *rate = 0.0;
            }
        }

        let has_slopes = self.find_slopes(cx, t, y)?;
        for (moved, (y, rate)) in self.y.iter_mut().zip(y.iter().zip(&self.rate)) {
            *moved = y + ahead * rate;
        }

        evaluate(cx, t + ahead, &self.y, &mut self.trend)?;
        let mut is_doubtful = false;
        let is_start = self
            .scale
            .iter()
            .zip(&self.start)
            .all(|(scale, value)| *scale == value.abs());

        for guard in 0..self.trend.len() {
            let there = self.trend[guard];
            let change = there - self.start[guard];
            // One that goes into its roundings, where it keeps the side told, does not turn back.
            let keeps_side = there.abs() < ZERO_WITH_A_SIDE && self.told[guard] * there > 0.0;
            let is_across = self.told[guard] * self.start[guard] < 0.0;
            self.trend[guard] = if keeps_side && !is_across {
                // At rest, or setting out with no slope: only a look ahead can tell.
                is_doubtful |= has_slopes && is_start && self.slopes[guard] == 0.0;
                0.0
            } else if has_slopes {
                let straight = ahead * self.slopes[guard];
                is_doubtful |= straight.abs() <= DOUBTFUL_SHARE * change.abs();
                straight
            } else {
                change
            };
        }

        if is_doubtful && cx.system.algebraic().is_empty() {
            self.look_ahead(cx, (t, ahead), y)?;
        }
        Ok(true)
    }

    /// Writes the derivatives of the guards along `self.rate`; false if the system does not know them.
    fn find_slopes(&mut self, cx: &mut Context<'_>, t: f64, y: &[f64]) -> Result<bool, Failure> {
        let what = Function::Guards;
        cx.system
            .guard_rates(t, y, &self.rate, &mut self.slopes)
            .map(|is_known| is_known && self.slopes.iter().all(|slope| slope.is_finite()))
            .map_err(|error| Trouble::Evaluation { t, error, what }.into_failure())
    }

    /// Where a guard sets out with no slope, its slope a little later tells the way: after a step of the classical
    /// Runge–Kutta method it has the sign of the first derivative, up to the fourth, that is not zero.
    fn look_ahead(
        &mut self,
        cx: &mut Context<'_>,
        (t, ahead): (f64, f64),
        y: &[f64],
    ) -> Result<(), Failure> {
        // Room for once: this happens at few events.
        let mut sum = self.rate.clone();
        let mut stage = self.rate.clone();
        for (share, weight) in [(0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            for (moved, (y, rate)) in self.y.iter_mut().zip(y.iter().zip(&stage)) {
                *moved = y + share * ahead * rate;
            }
            if cx.rhs(t + share * ahead, &self.y, &mut stage).is_err() {
                return Ok(());
            }
            sum.iter_mut()
                .zip(&stage)
                .for_each(|(sum, rate)| *sum += weight * rate);
        }

        for (moved, (y, sum)) in self.y.iter_mut().zip(y.iter().zip(&sum)) {
            *moved = y + ahead / 6.0 * sum;
        }
        if cx.rhs(t + ahead, &self.y, &mut self.rate).is_err() {
            return Ok(());
        }

        let moved = std::mem::take(&mut self.y);
        let is_known = self.find_slopes(cx, t + ahead, &moved);
        let seen = evaluate(cx, t + ahead, &moved, &mut self.trend_ahead);
        self.y = moved;
        if !is_known? || seen.is_err() {
            return Ok(());
        }

        for guard in 0..self.trend.len() {
            let later = ahead * self.slopes[guard];
            let there = self.trend_ahead[guard];
            // What is still zero there, to rounding, rests.
            let has_left = there.abs() >= ZERO_WITH_A_SIDE && there * later > 0.0;
            if has_left && self.trend[guard].abs() <= DOUBTFUL_SHARE * later.abs() {
                self.trend[guard] = later;
            }
        }
        Ok(())
    }
}

fn evaluate(cx: &mut Context<'_>, t: f64, y: &[f64], values: &mut [f64]) -> Result<(), Failure> {
    cx.statistics.guard_evaluations += 1;
    let what = Function::Guards;
    cx.system
        .guards(t, y, values)
        .map_err(|error| Trouble::Evaluation { t, error, what })
        .and_then(|()| refuse_not_finite(t, values, what))
        .map_err(Trouble::into_failure)
}

/// Tells whether a value is so small against how the guard moves that its sign is rounding.
fn is_on_surface(value: f64, trend: f64) -> bool {
    value.abs() < ZERO_WITH_A_SIDE || value.abs() <= SURFACE_SHARE * trend.abs()
}

fn sample_time(dense: &dyn Dense, part: usize) -> f64 {
    let (t0, t1) = (dense.t0(), dense.t1());
    match part {
        0 => t0,
        PARTS => t1,
        _ => t0 + (t1 - t0) * (part as f64 / PARTS as f64),
    }
}

/// Where switches do not settle, values below this part of what they were in the run are rounding: conductances of
/// contacts eleven decades apart leave no more digits. What they turn out to be shows when they have left it.
const LATE_NOISE: f64 = 1e-10;

/// Width below which two times of this step are one.
pub(crate) fn time_width(dense: &dyn Dense) -> f64 {
    TIME_ULPS * f64::EPSILON * dense.t0().abs().max(dense.t1().abs())
}

/// Where the parabola through three equally spaced values has its vertex, in units of the
/// spacing from the middle one.
fn vertex_offset(v: [f64; 3]) -> f64 {
    0.5 * (v[0] - v[2]) / (v[0] - 2.0 * v[1] + v[2])
}

/// Where to look next for a bottom between `left` and `right`: at the vertex of a parabola if that is of use, else by a
/// golden section of the longer side; never on the best point itself.
#[inline]
fn next_guess((left, right): (f64, f64), best: f64, vertex: Option<f64>) -> f64 {
    let is_left_longer = best - left > right - best;
    let golden = if is_left_longer {
        best - 0.381_966 * (best - left)
    } else {
        best + 0.381_966 * (right - best)
    };
    let t = vertex.unwrap_or(golden);
    let smallest = 1e-3 * (right - left);
    if (t - best).abs() >= smallest {
        t
    } else if is_left_longer {
        best - smallest
    } else {
        best + smallest
    }
}

/// Vertex of the parabola through three points, and its value there.
fn parabola(points: [(f64, f64); 3]) -> (f64, f64) {
    let [(t0, v0), (t1, v1), (t2, v2)] = points;
    let slope1 = (v1 - v0) / (t1 - t0);
    let slope2 = (v2 - v0) / (t2 - t0);
    let curvature = (slope2 - slope1) / (t2 - t1);
    // v(t) = v0 + slope1 (t − t0) + curvature (t − t0)(t − t1)
    let vertex = 0.5 * (t0 + t1 - slope1 / curvature);
    let value = v0 + (vertex - t0) * (slope1 + curvature * (vertex - t1));
    if curvature > 0.0 && value.is_finite() {
        (vertex, value)
    } else {
        (f64::NAN, f64::NEG_INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parabola_finds_the_vertex_of_a_parabola() {
        let f = |t: f64| 3.0 * (t - 0.25) * (t - 0.25) - 0.5;
        let (t, v) = parabola([(0.0, f(0.0)), (1.0, f(1.0)), (0.4, f(0.4))]);
        // Exact arithmetic would give exact values; a few roundings are made on the way.
        assert!((t - 0.25).abs() < 1e-14 && (v + 0.5).abs() < 1e-14);
    }

    #[test]
    fn a_line_has_no_vertex() {
        assert!(parabola([(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]).0.is_nan());
    }
}
