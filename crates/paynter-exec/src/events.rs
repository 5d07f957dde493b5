//! What happens at an event: ticks, switches, `when` actions, until nothing changes any more.
//!
//! In:  an instant, the state at its left, the guards that crossed there.
//! Out: the state at its right, new modes and discrete values, and whether anything changed.
//!
//! Order inside one instant: clocks that are due read left limits and write together; guards
//! that crossed set their modes by the direction of crossing, not by a value that is zero but
//! for rounding; other modes follow where the jump moved their values; then `when` conditions
//! that have become true act, and the rest is repeated.
//!
//! **Invariant:** between two events no mode and no discrete value changes.

use paynter_solve::{Crossing, Direction, EventOutcome};
use paynter_symbolic::expr::Comparison;

use crate::code::run;
use crate::failure::Fault;
use crate::image::{Decider, ModeInfo, SwitchKind};
use crate::machine::Machine;
use crate::time_line::TimeLine;

/// Switches that need more rounds than this to settle drive each other in a cycle
/// (ENGINE §9); real cascades are as long as the longest chain of switches.
pub(crate) const MAX_ROUNDS: usize = 20;

/// So many rounds all switches that are wrong change together; after that only the first of them does. In a network of
/// passive laws and diodes that comes to an end whatever the order (Murty 1974: least-index pivoting of P-matrices;
/// the two phases: Júdice & Pires 1994), while changing all at once may go round in a cycle.
pub(crate) const ROUNDS_TOGETHER: usize = 8;

/// Rounds that switches may need one by one: a few for each; what needs more is taken for a cycle.
pub(crate) fn rounds_allowed(n_modes: usize) -> usize {
    MAX_ROUNDS + (8 * n_modes).min(2000)
}

/// Stands for "on this side" in a guard whose value is exactly zero.
const THIS_SIDE: f64 = 1e-300;
/// Guards below this size are zero, with the side that the modes say: no quantity is that small but by intent.
const NO_SIZE: f64 = 1e-290;

/// Values this near to a whole number, as a share, count as that number: what root finding leaves.
const FLOOR_BAND: f64 = 1e-12;

/// A switch value this small against what it was during the run is zero but for rounding.
pub(crate) const SWITCH_NOISE: f64 = 1e-10;

/// What is stored at the left of an event.
struct EnergiesBefore {
    total: f64,
    of_storages: Vec<f64>,
    storage_jumps: Vec<f64>,
    /// Sum of the jumps that actions have booked so far.
    booked: f64,
}

impl Machine {
    /// Computes the guards at the point in memory.
    pub(crate) fn compute_guards(&mut self, guards: &mut [f64]) -> Result<(), Fault> {
        let image = &self.image;
        run(&image.events.switches.steps, &mut self.memory)?;
        for mode in &image.events.modes {
            let Decider::State {
                output,
                first_guard,
            } = mode.decider
            else {
                continue;
            };
            let value = self.memory.slots[image.events.switches.outputs[output] as usize];
            let state = self.memory.slots[mode.slot as usize];
            let size = &mut self.room.switch_sizes[output];
            *size = size.max(value.abs());
            let is_mute = value.abs() <= self.room.mute[output];
            let value = if is_mute { 0.0 } else { value };
            match mode.kind {
                // What is equal is so until it moves, either way.
                kind if is_equality(kind, state) => {
                    guards[first_guard] = off_zero(-value.abs(), true);
                }
                SwitchKind::Relation(comparison) => {
                    guards[first_guard] = off_zero(value, is_positive_side(comparison, state));
                }
                SwitchKind::Floor => {
                    // Negative inside [m, m + 1); just after a change both ends count as inside.
                    let band = FLOOR_BAND * (1.0 + value.abs());
                    let beyond = |distance: f64| {
                        if distance.abs() <= band {
                            -THIS_SIDE
                        } else {
                            distance
                        }
                    };
                    guards[first_guard] = beyond(state - value);
                    guards[first_guard + 1] = beyond(value - (state + 1.0));
                }
                SwitchKind::Sign => {
                    guards[first_guard] = off_zero(value, state > 0.0);
                    guards[first_guard + 1] = off_zero(value, state >= 0.0);
                }
            }
        }
        Ok(())
    }

    /// Tells on which side of zero each guard is by the modes at present; 0 for one that was armed anew and goes by
    /// its value.
    pub(crate) fn take_guard_sides(&self, sides: &mut [f64]) {
        let side = |is_positive: bool| if is_positive { 1.0 } else { -1.0 };
        for (mode, &is_rearmed) in self.image.events.modes.iter().zip(&self.room.is_rearmed) {
            let Decider::State { first_guard, .. } = mode.decider else {
                continue;
            };
            let state = self.memory.slots[mode.slot as usize];
            match mode.kind {
                kind if is_equality(kind, state) => sides[first_guard] = 1.0,
                SwitchKind::Relation(Comparison::Equal | Comparison::NotEqual) => {
                    sides[first_guard] = 0.0;
                }
                _ if is_rearmed => {
                    sides[first_guard..first_guard + mode.kind.n_guards()].fill(0.0);
                }
                SwitchKind::Relation(comparison) => {
                    sides[first_guard] = side(is_positive_side(comparison, state));
                }
                SwitchKind::Floor => sides[first_guard..first_guard + 2].fill(-1.0),
                SwitchKind::Sign => {
                    sides[first_guard] = side(state > 0.0);
                    sides[first_guard + 1] = side(state >= 0.0);
                }
            }
        }
    }

    /// Computes how the guards at the point in memory move along ẏ. What iterated blocks find is differentiated as
    /// the solution it is, so no noise of the search enters.
    pub(crate) fn compute_guard_rates(
        &mut self,
        dy: &[f64],
        rates: &mut [f64],
    ) -> Result<(), Fault> {
        let image = self.image.clone();
        run(&image.events.switch_flow.routine.steps, &mut self.memory)?;
        let mut along = std::mem::take(&mut self.room.switch_rates);
        along.resize(image.events.switches.outputs.len(), 0.0);
        let direction = (1.0, Some(dy));
        let outcome = image.events.switch_flow.along(
            &image.inputs,
            &mut self.memory,
            direction,
            |k, rate| {
                along[k] = rate;
            },
        );

        for mode in &image.events.modes {
            let Decider::State {
                output,
                first_guard,
            } = mode.decider
            else {
                continue;
            };
            let value = image.events.switch_flow.value(&self.memory, output);
            let is_mute = value.abs() <= self.room.mute[output] && self.room.mute[output] > 0.0;
            let rate = if is_mute { 0.0 } else { along[output] };
            let state = self.memory.slots[mode.slot as usize];
            rates[first_guard] = match mode.kind {
                kind if is_equality(kind, state) => -rate.abs(),
                SwitchKind::Relation(_) => rate,
                SwitchKind::Floor => {
                    rates[first_guard + 1] = rate;
                    -rate
                }
                SwitchKind::Sign => {
                    // At rest a sign has a side of its own, zero: nothing has to be looked for ahead.
                    let rate = if rate == 0.0 { f64::MIN_POSITIVE } else { rate };
                    rates[first_guard + 1] = rate;
                    rate
                }
            };
        }

        self.room.switch_rates = along;
        outcome
    }

    /// Gives the first tick, switch by time or corner strictly after t.
    pub(crate) fn find_next_time_event(&mut self, t: f64) -> Option<f64> {
        if let Some(next) = self.next_time
            && next > t
            && t < self.time_known_until
        {
            return next.is_finite().then_some(next);
        }

        self.time_known_until = f64::INFINITY;
        let mut next = f64::INFINITY;
        for ticks in &self.clocks {
            let mut ticks = *ticks;
            while ticks.next_time() <= t {
                ticks.next += 1;
            }
            next = next.min(ticks.next_time());
        }

        // A fault shows again, and is reported, when the right-hand side is evaluated.
        if self.prepare().is_err() || self.run_timing(t).is_err() {
            return next.is_finite().then_some(next);
        }

        let image = &self.image;
        let slots = &self.memory.slots;
        let output = |k: usize| slots[image.events.timing.outputs[k] as usize];
        for mode in &image.events.modes {
            if let Decider::Time { output: k } = mode.decider {
                let line = self.time_line(k);
                let change = line.next_change(mode.kind, slots[mode.slot as usize], t);
                next = change.map_or(next, |change| next.min(change));
            }
        }

        for corners in &image.events.corners {
            let (slope, offset) = (output(corners.output), output(corners.output + 1));
            if slope == 0.0 {
                continue;
            }
            for &corner in &corners.corners {
                let at = (corner - offset) / slope;
                if at > t {
                    next = next.min(at);
                }
            }
        }

        let span = (t, self.horizon(t));
        for (clockwork, watched) in self.clockworks.iter_mut().zip(&image.events.watched) {
            let (change, known) = clockwork.next_change(watched, slots, span);
            next = change.map_or(next, |change| next.min(change));
            self.time_known_until = self.time_known_until.min(known);
        }

        self.next_time = Some(next);
        next.is_finite().then_some(next)
    }

    /// How far ahead functions of time are looked at: to the end of the run, where that is known.
    fn horizon(&self, t: f64) -> f64 {
        if self.t_end.is_finite() {
            self.t_end
        } else {
            t + t.abs().max(1.0)
        }
    }

    /// The mode that holds from t on, where time alone decides. At a start, that of the very instant: what changes
    /// right after it is an event.
    pub(crate) fn mode_by_time(&mut self, mode: &ModeInfo, t: f64) -> Option<f64> {
        let slots = &self.memory.slots;
        match mode.decider {
            Decider::State { .. } => None,
            Decider::Time { output } => Some(self.time_line(output).mode(mode.kind, t)),
            Decider::Clock { watched } => {
                let (event, seen) = self.room.seen_from;
                let seen = if event == t { seen } else { t };
                let span = (t, seen, self.horizon(t));
                let clockwork = &mut self.clockworks[watched];
                let watched = &self.image.events.watched[watched];
                Some(if self.room.is_starting {
                    clockwork.cell_at(watched, slots, t)
                } else {
                    clockwork.cell_from(watched, slots, span)
                })
            }
        }
    }

    /// Tells whether a function of time switches at the very start.
    pub(crate) fn is_switch_due(&mut self, t: f64) -> bool {
        if std::mem::take(&mut self.room.is_when_due) {
            return true;
        }
        // A fault shows again, and is reported, when the right-hand side is evaluated.
        if self.image.events.watched.is_empty() || self.prepare().is_err() {
            return false;
        }
        let image = self.image.clone();
        let is_clocked = |mode: &&ModeInfo| matches!(mode.decider, Decider::Clock { .. });
        image.events.modes.iter().filter(is_clocked).any(|mode| {
            let held = self.memory.slots[mode.slot as usize];
            self.mode_by_time(mode, t).is_some_and(|new| new != held)
        })
    }

    /// Holds the conditions of `when`s as they are at the very start: what is true then has not become true, and nothing
    /// acts; what a line of time makes true right after it acts there.
    pub(crate) fn hold_first_conditions(&mut self, t0: f64) -> Result<(), Fault> {
        let image = self.image.clone();
        let mut after = Vec::new();
        for mode in &image.events.modes {
            if let Decider::Time { output } = mode.decider {
                let at_start = self.time_line(output).mode_at_instant(mode.kind, t0);
                let held = &mut self.memory.slots[mode.slot as usize];
                after.push((mode.slot, *held));
                *held = at_start;
            }
        }
        self.rising_conditions()?;

        for (slot, mode) in after {
            self.memory.slots[slot as usize] = mode;
        }
        let first = self.conditions.clone();
        self.room.is_when_due = !self.rising_conditions()?.is_empty();
        self.conditions = first;
        Ok(())
    }

    pub(crate) fn run_timing(&mut self, t: f64) -> Result<(), Fault> {
        self.memory.slots[self.image.inputs.time as usize] = t;
        run(&self.image.events.timing.steps, &mut self.memory)?;
        run(&self.image.events.line_sizes.steps, &mut self.memory)
    }

    /// The line of a mode that time decides on, by the outputs of the timing routine.
    fn time_line(&self, output: usize) -> TimeLine {
        let image = &self.image.events;
        let timing = |k: usize| self.memory.slots[image.timing.outputs[k] as usize];
        TimeLine {
            slope: timing(output),
            offset: timing(output + 1),
            size: self.memory.slots[image.line_sizes.outputs[output / 2] as usize],
        }
    }

    /// Reacts to an event; see the module.
    pub(crate) fn react(
        &mut self,
        t: f64,
        y: &mut [f64],
        fired: &[Crossing],
    ) -> Result<EventOutcome, Fault> {
        // Landing on the announced instant of a corner is a change of its own.
        let mut has_changed = self.is_corner(t)?;
        self.next_time = None;
        self.room.has_crossed.fill(false);
        self.room.is_rearmed.fill(false);
        self.room.has_moved = false;
        // Blocks that search a new solution may change modes on their own.
        self.begin_event();
        self.load(t, y)?;
        self.run_switches()?;
        self.keep_left_limits()?;
        let energies_before = match self.image.events.has_impulses {
            true => Some(self.energies_at_event()?),
            false => None,
        };

        // Two switches of one function, as those of ⌊|sin t|⌋, change together, though each was searched by itself.
        let changes = self.clockworks.iter().filter_map(|c| c.change_near(t));
        self.room.seen_from = (t, changes.fold(t, f64::max));
        // A source that steps at this very instant has its new value: only states are left limits.
        self.room.restless.clear();
        self.room.acted.clear();
        self.settle_modes_by_time(t)?;
        has_changed |= !self.room.restless.is_empty();
        let has_ticked = self.tick(t)?;
        let mut reinit_is_ready = false;
        if !self.image.events.reinit_values.outputs.is_empty() {
            self.compute_reinit_values()?;
            reinit_is_ready = true;
        }
        has_changed |= self.cross(fired);
        for factor in &mut self.memory.factors {
            factor.expect_jump();
        }
        let (has_acted, stop) = self.react_in_rounds(t, y, reinit_is_ready)?;
        has_changed |= has_acted;

        self.refresh_unknowns(t, y)?;
        if let Some(before) = energies_before {
            self.load(t, y)?;
            self.book_impulses(before)?;
        }
        let modes_before = self.room.modes_before.iter().copied();
        has_changed |= !self.mode_values().eq(modes_before);
        self.room.has_only_ticked = has_ticked && !has_changed;
        has_changed |= has_ticked;
        if let Some(stop) = stop {
            return Ok(EventOutcome::Stop {
                code: Fault::Stop(stop).code(),
            });
        }
        Ok(EventOutcome::Continue {
            changed: has_changed,
        })
    }

    /// Lets modes settle and `when`s act, round after round, until no condition becomes true any more. Tells whether
    /// anything changed, and which action stops the run.
    fn react_in_rounds(
        &mut self,
        t: f64,
        y: &mut [f64],
        mut reinit_is_ready: bool,
    ) -> Result<(bool, Option<u32>), Fault> {
        let mut has_changed = false;
        let mut stop = None;
        for round in 0.. {
            if round == MAX_ROUNDS {
                return Err(Fault::EventLoop);
            }
            has_changed |= self.settle_modes(t)?;
            let rising = self.rising_conditions()?;
            if rising.is_empty() {
                break;
            }
            if !reinit_is_ready && !self.image.events.reinit_values.outputs.is_empty() {
                self.compute_reinit_values()?;
            }
            reinit_is_ready = false;
            self.room.acted.extend(rising.iter().map(|&w| (round, w)));
            has_changed |= self.act(t, y, &rising, &mut stop)?;
            self.load(t, y)?;
        }
        Ok((has_changed, stop))
    }

    /// The energies at the left of an event, and the jumps that are booked already.
    fn energies_at_event(&mut self) -> Result<EnergiesBefore, Fault> {
        let booked = self.jumps.iter().sum::<f64>();
        Ok(EnergiesBefore {
            total: self.energy()?,
            of_storages: self.room.energies.clone(),
            storage_jumps: self.storage_jumps.clone(),
            booked,
        })
    }

    /// Books the energy that an event has added as an impulse, without what `reinit` has booked itself.
    fn book_impulses(&mut self, before: EnergiesBefore) -> Result<(), Fault> {
        let by_reinit = self.jumps.iter().sum::<f64>() - before.booked;
        self.impulses += self.energy()? - before.total - by_reinit;
        self.storage_jumps = before.storage_jumps;
        self.book_jumps_since(&before.of_storages);
        Ok(())
    }

    /// Remembers the modes as they are before an event.
    pub(crate) fn begin_event(&mut self) {
        let mut before = std::mem::take(&mut self.room.modes_before);
        before.clear();
        before.extend(self.mode_values());
        self.room.modes_before = before;
        self.room.is_resting.fill(false);
    }

    fn mode_values(&self) -> impl Iterator<Item = f64> {
        let slots = &self.memory.slots;
        self.image
            .events
            .modes
            .iter()
            .map(|mode| slots[mode.slot as usize])
    }

    fn is_corner(&mut self, t: f64) -> Result<bool, Fault> {
        let mut watched = self.image.events.watched_corners.iter();
        if watched.any(|&k| self.clockworks[k].is_change(t)) {
            return Ok(true);
        }
        if self.image.events.corners.is_empty() {
            return Ok(false);
        }
        self.prepare()?;
        self.run_timing(t)?;
        let slots = &self.memory.slots;
        Ok(self.image.events.corners.iter().any(|corners| {
            let line = |k: usize| slots[self.image.events.timing.outputs[k] as usize];
            let (slope, offset) = (line(corners.output), line(corners.output + 1));
            slope != 0.0 && corners.corners.iter().any(|&c| (c - offset) / slope == t)
        }))
    }

    /// Computes the values that decide on modes, and remembers them.
    pub(crate) fn run_switches(&mut self) -> Result<(), Fault> {
        let image = &self.image;
        run(&image.events.switches.steps, &mut self.memory)?;
        self.room.switches.clear();
        let slots = &self.memory.slots;
        let values = image
            .events
            .switches
            .outputs
            .iter()
            .map(|&slot| slots[slot as usize]);
        self.room.switches.extend(values);
        Ok(())
    }

    /// Fills `pre(x)`: of discrete symbols the value so far, of continuous ones the left limit.
    pub(crate) fn keep_left_limits(&mut self) -> Result<(), Fault> {
        let image = &self.image;
        run(&image.events.pre_continuous.steps, &mut self.memory)?;
        for (&slot, &from) in image
            .events
            .pre_continuous_slots
            .iter()
            .zip(&image.events.pre_continuous.outputs)
        {
            self.memory.slots[slot as usize] = self.memory.slots[from as usize];
        }
        self.keep_discrete();
        Ok(())
    }

    pub(crate) fn keep_discrete(&mut self) {
        for &(of, pre) in &self.image.events.pre_discrete {
            self.memory.slots[pre as usize] = self.memory.slots[of as usize];
        }
    }

    /// Runs the clocks that are due. Tells whether a value changed.
    pub(crate) fn tick(&mut self, t: f64) -> Result<bool, Fault> {
        let image = self.image.clone();
        let mut is_due = false;
        for ticks in &self.clocks {
            is_due |= ticks.next_time() <= t;
        }
        if !is_due {
            return Ok(false);
        }

        run(&image.clocks.inputs.steps, &mut self.memory)?;
        let mut has_changed = false;
        for (number, sampled) in image.clocks.sampled.iter().enumerate() {
            if self.clocks[sampled.clock].next_time() > t {
                continue;
            }
            run(&sampled.routine.steps, &mut self.memory)?;
            let value = self.memory.slots[sampled.routine.outputs[0] as usize];
            if !value.is_finite() {
                return Err(Fault::Sample(number as u32));
            }
            let held = &mut self.memory.slots[sampled.dst as usize];
            has_changed |= held.to_bits() != value.to_bits();
            *held = value;
        }

        let mut n_ticks = 0;
        for ticks in &mut self.clocks {
            while ticks.next_time() <= t {
                ticks.next += 1;
                n_ticks += 1;
            }
        }

        self.count_ticks(n_ticks);
        Ok(has_changed)
    }

    /// Sets modes by the direction in which their guards crossed.
    fn cross(&mut self, fired: &[Crossing]) -> bool {
        let mut has_changed = false;
        for crossing in fired {
            let modes = &self.image.events.modes;
            let Some(mode) = modes.iter().rev().find(|mode| {
                matches!(mode.decider, Decider::State { first_guard, .. } if first_guard <= crossing.guard)
            }) else {
                continue;
            };
            let Decider::State {
                output,
                first_guard,
            } = mode.decider
            else {
                continue;
            };
            self.room.has_crossed[output] = true;
            let held = &mut self.memory.slots[mode.slot as usize];
            let before = *held;
            let is_rising = crossing.direction == Direction::Rising;
            match mode.kind {
                SwitchKind::Relation(comparison) => *held = truth_on_side(comparison, is_rising),
                // Falling means back inside, where the mode is right already.
                SwitchKind::Floor if is_rising => {
                    let is_below = crossing.guard == first_guard;
                    *held += if is_below { -1.0 } else { 1.0 };
                }
                SwitchKind::Floor => {}
                SwitchKind::Sign => {
                    let is_first = crossing.guard == first_guard;
                    let (is_positive, is_negative) = if is_first {
                        (is_rising, before < 0.0 && !is_rising)
                    } else {
                        (before > 0.0 && is_rising, !is_rising)
                    };
                    *held = f64::from(i8::from(is_positive) - i8::from(is_negative));
                }
            }
            has_changed |= *held != before;
        }
        has_changed
    }

    /// Lets modes follow values that have jumped, until they agree.
    pub(crate) fn settle_modes(&mut self, t: f64) -> Result<bool, Fault> {
        let image = self.image.clone();
        let mut has_changed = false;
        let mut has_jumped = vec![false; image.events.switches.outputs.len()];
        for round in 0..rounds_allowed(image.events.modes.len()) {
            let is_one_by_one = round >= ROUNDS_TOGETHER;
            let has_moved = std::mem::take(&mut self.room.has_moved);
            self.room.restless.clear();
            self.settle_modes_by_time(t)?;
            std::mem::swap(&mut self.room.switches, &mut self.room.switches_before);
            self.run_switches()?;
            if self.settle_what_rests()? {
                has_changed = true;
                continue;
            }
            for (k, mode) in image.events.modes.iter().enumerate() {
                let Decider::State { output, .. } = mode.decider else {
                    continue;
                };
                if self.room.is_resting[k] {
                    continue;
                }
                let value = self.room.switches[output];
                // What did not jump is where the solver saw it: its guard keeps watch.
                let has_moved_now = value.to_bits() != self.room.switches_before[output].to_bits();
                has_jumped[output] |= has_moved_now;
                let is_told = is_one_by_one && has_jumped[output];
                if !has_moved_now && !is_told {
                    continue;
                }
                let Some(new) = self.mode_after_jump(mode, output, has_moved) else {
                    continue;
                };
                let held = &mut self.memory.slots[mode.slot as usize];
                if new != *held {
                    *held = new;
                    self.room.restless.push(mode.symbol);
                    if is_one_by_one {
                        break;
                    }
                }
            }
            if self.room.restless.is_empty() {
                return Ok(has_changed);
            }
            has_changed = true;
        }
        Err(Fault::EventLoop)
    }

    /// The mode that a value which has jumped asks for; none where the value is noise about zero. `is_put` tells that
    /// `reinit` has just moved the state.
    #[inline]
    fn mode_after_jump(&self, mode: &ModeInfo, output: usize, is_put: bool) -> Option<f64> {
        let value = self.room.switches[output];
        if value.abs() <= self.room.mute[output] && value != 0.0 {
            return None;
        }
        // A value that was found at zero stays there when other equations take over
        // (a diode that starts to conduct): its sign is noise, its crossing is not.
        let is_noise = value.abs() <= SWITCH_NOISE * self.room.switch_sizes[output];
        // What `reinit` put on its threshold is there by intent: the condition is that of equality.
        let is_put_there = is_put && value.abs() < NO_SIZE;
        let has_crossed = self.room.has_crossed[output];
        let is_left = value != 0.0 || has_crossed;
        if is_noise && is_left && !is_put_there {
            return None;
        }
        // A whole number that another switch has put there, as in ⌊⌊x⌋/2⌋, is not noise of a crossing.
        let jump = (value - self.room.switches_before[output]).abs();
        let has_leapt = jump > FLOOR_BAND * (1.0 + value.abs());
        let held = self.memory.slots[mode.slot as usize];
        let told = (has_crossed || !has_leapt).then_some(held);
        Some(mode_at(mode.kind, value, told))
    }

    /// Sets the modes of values that another switch has put on their bound to stay there: x of `min(x, 1) > 1` goes
    /// across together with the switch of `min`, but the difference rests at zero, where the comparison does not hold.
    /// An equality ends where its value does not rest any more. Each is set once in an event. Tells whether a mode has
    /// changed.
    fn settle_what_rests(&mut self) -> Result<bool, Fault> {
        let image = self.image.clone();
        let has_switched = |this: &Self, k: usize| {
            let now = this.memory.slots[image.events.modes[k].slot as usize];
            this.room.modes_before.get(k).is_some_and(|&m| m != now)
        };
        let n_switched = (0..image.events.modes.len())
            .filter(|&k| has_switched(self, k))
            .count();
        if n_switched == 0 {
            return Ok(false);
        }
        let mut candidates = Vec::new();
        for (k, mode) in image.events.modes.iter().enumerate() {
            let Decider::State { output, .. } = mode.decider else {
                continue;
            };
            let value = self.room.switches[output];
            let is_by_another = n_switched > usize::from(has_switched(self, k));
            if !is_by_another || self.room.is_resting[k] {
                continue;
            }
            let held = self.memory.slots[mode.slot as usize];
            let may_rest = is_on_bound(mode.kind, value) && mode_at(mode.kind, value, None) != held;
            if may_rest || is_equality(mode.kind, held) {
                candidates.push((k, output));
            }
        }
        if candidates.is_empty() {
            return Ok(false);
        }

        let rests = self.find_what_rests()?;
        let mut has_changed = false;
        for &(k, output) in &candidates {
            let mode = &image.events.modes[k];
            let (value, rests) = (self.room.switches[output], rests[output]);
            let held = &mut self.memory.slots[mode.slot as usize];
            let new = match mode.kind {
                _ if rests && is_on_bound(mode.kind, value) => mode_at(mode.kind, value, None),
                SwitchKind::Relation(comparison) if !rests && is_equality(mode.kind, *held) => {
                    truth_on_side(comparison, true)
                }
                _ => continue,
            };
            if new != *held {
                *held = new;
                has_changed = true;
                self.room.is_resting[k] = true;
                self.room.restless.push(mode.symbol);
            }
        }
        Ok(has_changed)
    }

    /// Tells of each switch value whether no state and no time can move it from here, with the modes as they are.
    fn find_what_rests(&mut self) -> Result<Vec<bool>, Fault> {
        let image = self.image.clone();
        run(&image.events.switch_flow.routine.steps, &mut self.memory)?;
        let anywhere: Vec<f64> = (0..image.inputs.n)
            .map(|k| 1.0 + 0.618 * k as f64)
            .collect();
        let mut rests = vec![true; image.events.switches.outputs.len()];
        let direction = (1.0, Some(&anywhere[..]));
        let note = |k: usize, rate: f64| rests[k] = rate == 0.0;
        image
            .events
            .switch_flow
            .along(&image.inputs, &mut self.memory, direction, note)?;
        Ok(rests)
    }

    pub(crate) fn settle_modes_by_time(&mut self, t: f64) -> Result<(), Fault> {
        let image = self.image.clone();
        if image.events.timing.outputs.is_empty() && image.events.watched.is_empty() {
            return Ok(());
        }
        // A switch by time may move the line of another one: again until all agree.
        for _ in 0..=image.events.modes.len().min(MAX_ROUNDS) {
            self.run_timing(t)?;
            let mut has_changed = false;
            for mode in &image.events.modes {
                let Some(new) = self.mode_by_time(mode, t) else {
                    continue;
                };
                let held = &mut self.memory.slots[mode.slot as usize];
                if new != *held {
                    *held = new;
                    has_changed = true;
                    self.room.restless.push(mode.symbol);
                }
            }
            if !has_changed {
                return Ok(());
            }
        }
        Err(Fault::EventLoop)
    }

    /// Evaluates `when` conditions; gives those that have become true.
    pub(crate) fn rising_conditions(&mut self) -> Result<Vec<usize>, Fault> {
        let image = &self.image;
        run(&image.events.conditions.steps, &mut self.memory)?;
        let mut rising = Vec::new();
        for (when, &slot) in image.events.conditions.outputs.iter().enumerate() {
            let holds = self.memory.slots[slot as usize] != 0.0;
            if holds && !self.conditions[when] {
                rising.push(when);
            }
            self.conditions[when] = holds;
        }
        Ok(rising)
    }

    fn compute_reinit_values(&mut self) -> Result<(), Fault> {
        let image = &self.image;
        run(&image.events.reinit_values.steps, &mut self.memory)?;
        self.room.reinit.clear();
        let slots = &self.memory.slots;
        self.room.reinit.extend(
            image
                .events
                .reinit_values
                .outputs
                .iter()
                .map(|&slot| slots[slot as usize]),
        );
        Ok(())
    }

    pub(crate) fn energy(&mut self) -> Result<f64, Fault> {
        self.look_from_anchors()?;
        run(&self.image.energy.stored.steps, &mut self.memory)?;
        let slots = self.image.energy.stored.outputs.iter();
        self.room.energies.clear();
        let energies = slots.map(|&slot| self.memory.slots[slot as usize]);
        self.room.energies.extend(energies);
        Ok(self.room.energies.iter().sum())
    }

    /// Books for each storage what has changed since energies were computed before the last time.
    pub(crate) fn book_jumps_since(&mut self, before: &[f64]) {
        let changes = self.room.energies.iter().zip(before);
        for (jump, (after, before)) in self.storage_jumps.iter_mut().zip(changes) {
            *jump += after - before;
        }
    }

    /// Computes the algebraic variables from the states, where they are variables.
    pub(crate) fn refresh_unknowns(&mut self, t: f64, y: &mut [f64]) -> Result<(), Fault> {
        let image = self.image.clone();
        let n_states = image.states.len();
        if image.inputs.n == n_states {
            return Ok(());
        }
        self.load(t, y)?;
        run(&image.unknowns.steps, &mut self.memory)?;
        for (x, &slot) in y[n_states..].iter_mut().zip(&image.unknowns.outputs) {
            *x = self.memory.slots[slot as usize];
        }
        Ok(())
    }
}

fn off_zero(value: f64, is_positive: bool) -> f64 {
    match (value.abs() < NO_SIZE, is_positive) {
        (false, _) => value,
        (true, true) => THIS_SIDE,
        (true, false) => -THIS_SIDE,
    }
}

/// Tells on which side of zero a − b lies while a relation has this truth.
fn is_positive_side(comparison: Comparison, truth: f64) -> bool {
    let holds = truth != 0.0;
    match comparison {
        Comparison::Less | Comparison::LessEqual => !holds,
        Comparison::Greater | Comparison::GreaterEqual => holds,
        // Equality holds in a point only: the side does not matter.
        Comparison::Equal | Comparison::NotEqual => true,
    }
}

/// Truth of a relation while a − b is positive or negative.
pub(crate) fn truth_on_side(comparison: Comparison, is_positive: bool) -> f64 {
    let holds = match comparison {
        Comparison::Less | Comparison::LessEqual => !is_positive,
        Comparison::Greater | Comparison::GreaterEqual => is_positive,
        Comparison::Equal => false,
        Comparison::NotEqual => true,
    };
    f64::from(u8::from(holds))
}

/// The mode at a value. With a mode held already, rounding does not move a floor.
pub(crate) fn mode_at(kind: SwitchKind, value: f64, held: Option<f64>) -> f64 {
    match kind {
        SwitchKind::Relation(comparison) => f64::from(u8::from(comparison.holds(value, 0.0))),
        SwitchKind::Floor => {
            let band = FLOOR_BAND * (1.0 + value.abs());
            match held {
                Some(m) if value >= m - band && value <= m + 1.0 + band => m,
                _ => value.floor(),
            }
        }
        SwitchKind::Sign => {
            if value > 0.0 {
                1.0
            } else if value < 0.0 {
                -1.0
            } else {
                0.0
            }
        }
    }
}

/// Tells whether a mode says that two values are equal.
pub(crate) fn is_equality(kind: SwitchKind, held: f64) -> bool {
    match kind {
        SwitchKind::Relation(Comparison::Equal) => held != 0.0,
        SwitchKind::Relation(Comparison::NotEqual) => held == 0.0,
        _ => false,
    }
}

/// Tells whether a value is exactly where its mode changes.
fn is_on_bound(kind: SwitchKind, value: f64) -> bool {
    match kind {
        SwitchKind::Relation(_) | SwitchKind::Sign => value == 0.0,
        SwitchKind::Floor => value == value.floor(),
    }
}
