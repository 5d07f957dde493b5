//! Goes on with another machine of the same model, whose equations have another structure.
//!
//! In:  a machine that has come to an instant, and the states of the new one there.
//! Out: the new machine with clocks, discrete values, modes and `when` conditions of the old one,
//!      after it has reacted to what the change of structure moved.
//!
//! **Invariant:** what is held between events is carried by its symbol; both machines number them alike.

use std::collections::HashMap;

use paynter_solve::{EvalError, EventOutcome, System};
use paynter_symbolic::SymbolId;
use paynter_symbolic::dae::When;
use paynter_symbolic::walk::depends_on;

use crate::events::{ROUNDS_TOGETHER, SWITCH_NOISE, mode_at, rounds_allowed};
use crate::failure::Fault;
use crate::image::{ActionInfo, Decider, SwitchKind};
use crate::machine::{Machine, fatal};

/// A silenced switch may change the variables by this part of the error allowed.
const LARGEST_EFFECT: f64 = 0.01;
/// A switch is silenced up to this many times the value at which it was seen to do nothing.
const MOST_REACH: f64 = 1e4;

impl Machine {
    /// Takes over from another machine at `t`, with the variables `y`. The first `n_whens` events
    /// are the same in both; those after them begin anew. `held` gives modes a value of their own.
    ///
    /// # Errors
    ///
    /// The equations have no value here.
    pub fn take_over(
        &mut self,
        from: &Machine,
        (t, y): (f64, &mut [f64]),
        n_whens: usize,
        held: &[(SymbolId, f64)],
    ) -> Result<EventOutcome, EvalError> {
        let image = self.image.clone();
        let sources = from.image.events.discrete.iter().map(|d| (d.0, d.1));
        let sources = sources.chain(from.image.events.modes.iter().map(|m| (m.symbol, m.slot)));
        let mut values: HashMap<SymbolId, f64> = sources
            .map(|(symbol, slot)| (symbol, from.memory.slots[slot as usize]))
            .collect();
        values.extend(held.iter().copied());
        let targets = image.events.discrete.iter().map(|d| (d.0, d.1));
        let targets = targets.chain(image.events.modes.iter().map(|m| (m.symbol, m.slot)));
        for (symbol, slot) in targets {
            if let Some(&value) = values.get(&symbol) {
                self.memory.slots[slot as usize] = value;
            }
        }

        self.carry_switch_sizes(from);
        self.clocks.clone_from(&from.clocks);
        self.conditions.fill(false);
        let n = n_whens
            .min(self.conditions.len())
            .min(from.conditions.len());
        self.conditions[..n].copy_from_slice(&from.conditions[..n]);
        self.jumps.fill(0.0);
        let n = self.jumps.len().min(from.jumps.len());
        self.jumps[..n].copy_from_slice(&from.jumps[..n]);
        self.impulses = from.impulses;
        self.carry_anchors(from);
        self.carry_balances(from);
        self.storage_jumps.clone_from(&from.storage_jumps);
        self.next_time = None;
        for factor in &mut self.memory.factors {
            factor.expect_jump();
        }

        self.follow_values((t, y), held).map_err(fatal)?;
        self.refresh_unknowns(t, y).map_err(fatal)?;
        self.start = y.to_vec();
        self.start_is_set.clear();
        self.react(t, y, &[]).map_err(fatal)
    }

    /// Lets switches follow values that the other equations have moved: a diode must carry at once what a contact
    /// that opened has carried. Those in `held` stay.
    fn follow_values(
        &mut self,
        (t, y): (f64, &[f64]),
        held: &[(SymbolId, f64)],
    ) -> Result<(), Fault> {
        let image = self.image.clone();
        for round in 0..rounds_allowed(image.events.modes.len()) {
            self.load(t, y)?;
            self.run_switches()?;
            let mut has_changed = false;
            for mode in &image.events.modes {
                let Decider::State { output, .. } = mode.decider else {
                    continue;
                };
                let value = self.room.switches[output];
                let is_noise = value.abs() <= SWITCH_NOISE * self.room.switch_sizes[output];
                if is_noise || held.iter().any(|h| h.0 == mode.symbol) {
                    continue;
                }
                let slot = &mut self.memory.slots[mode.slot as usize];
                let new = mode_at(mode.kind, value, Some(*slot));
                if new != *slot {
                    *slot = new;
                    has_changed = true;
                    if round >= ROUNDS_TOGETHER {
                        break;
                    }
                }
            }
            if !has_changed {
                return Ok(());
            }
        }
        Ok(())
    }

    /// What noise of a switch value is small against was seen by the other machine.
    fn carry_switch_sizes(&mut self, from: &Machine) {
        let outputs = from.image.events.modes.iter().filter_map(|mode| {
            let Decider::State { output, .. } = mode.decider else {
                return None;
            };
            Some((mode.symbol, from.room.switch_sizes[output]))
        });
        let sizes: HashMap<SymbolId, f64> = outputs.collect();
        for mode in &self.image.events.modes {
            if let Decider::State { output, .. } = mode.decider
                && let Some(&size) = sizes.get(&mode.symbol)
            {
                let own = &mut self.room.switch_sizes[output];
                *own = own.max(size);
            }
        }
    }

    /// Tells whether a `when` that reads this mode moves a state: what it does is not a rate that could be averaged.
    pub fn moves_states(&self, mode: SymbolId) -> bool {
        let whens = self.image.dae.whens.iter().zip(&self.image.events.actions);
        whens.into_iter().any(|(when, actions)| {
            let is_move =
                |a: &ActionInfo| matches!(a, ActionInfo::SetState { .. } | ActionInfo::Aim { .. });
            actions.iter().any(is_move) && depends_on(&self.image.dae.pool, when.condition, mode)
        })
    }

    /// Silences a guard whose switch makes no difference where it is: that of `abs(x)` when x has died
    /// away and only its noise changes sign. `weights` are the errors allowed in the variables,
    /// `h` a time in which they count. Tells whether that is so.
    ///
    /// The guard is heard again as soon as its value is large enough to make a difference.
    pub fn silence(
        &mut self,
        (t, y): (f64, &[f64]),
        guard: usize,
        (weights, h): (&[f64], f64),
    ) -> bool {
        let image = self.image.clone();
        let Some(mode) = image.mode_at_guard(guard) else {
            return false;
        };
        let Decider::State { output, .. } = mode.decider else {
            return false;
        };
        let acts = |when: &When| depends_on(&image.dae.pool, when.condition, mode.symbol);
        let other = |held: f64| match mode.kind {
            SwitchKind::Relation(_) => Some(1.0 - held),
            SwitchKind::Sign if held == 0.0 => None,
            SwitchKind::Sign => Some(-held),
            SwitchKind::Floor => None,
        };

        let held = self.memory.slots[mode.slot as usize];
        let Some(other) = other(held).filter(|_| !image.dae.whens.iter().any(acts)) else {
            return false;
        };
        let mut rates = [vec![0.0; y.len()], vec![0.0; y.len()]];
        let mut values = [0.0; 2];
        for (k, side) in [held, other].into_iter().enumerate() {
            self.memory.slots[mode.slot as usize] = side;
            let is_fine = self.rhs(t, y, &mut rates[k]).is_ok()
                && self.load(t, y).is_ok()
                && self.run_switches().is_ok();
            self.memory.slots[mode.slot as usize] = held;
            if !is_fine {
                return false;
            }
            values[k] = self.room.switches[output].abs();
        }

        let effect = rates[0]
            .iter()
            .zip(&rates[1])
            .zip(weights)
            .map(|((a, b), weight)| (a - b).abs() * h / weight)
            .fold(0.0, f64::max);

        // The effect grows with the value, at least in proportion to it.
        let reach = LARGEST_EFFECT / effect.max(f64::MIN_POSITIVE);
        if reach < 2.0 {
            return false;
        }

        let value = values[0].max(values[1]);
        let noise = 1e-14 * self.room.switch_sizes[output];
        self.room.mute[output] = value.max(noise) * reach.min(MOST_REACH);
        true
    }

    /// Lets the events from `first_when` on, and the modes that only they read, count as not yet come.
    pub fn rearm(&mut self, first_when: usize, modes: &[SymbolId]) {
        for (mode, is_rearmed) in self
            .image
            .events
            .modes
            .iter()
            .zip(&mut self.room.is_rearmed)
        {
            if modes.contains(&mode.symbol) {
                self.memory.slots[mode.slot as usize] = 0.0;
                *is_rearmed = true;
            }
        }
        let n = self.conditions.len();
        self.conditions[first_when.min(n)..].fill(false);
    }

    /// Books energy that a change of structure added to the model, J.
    pub fn book_jump(&mut self, when: usize, energy: f64) {
        if let Some(jump) = self.jumps.get_mut(when) {
            *jump += energy;
        }
    }

    /// Forgets energy booked so far: the run begins here.
    pub fn forget_jumps(&mut self) {
        self.jumps.fill(0.0);
        self.impulses = 0.0;
    }

    /// Lists the `when`s that acted at the last event, each with the round in which it did.
    pub fn acted(&self) -> &[(usize, usize)] {
        &self.room.acted
    }

    /// Puts a switch on a side, whatever its value.
    pub fn hold_mode(&mut self, mode: SymbolId, value: f64) {
        let own = self.image.events.modes.iter().find(|m| m.symbol == mode);
        if let Some(own) = own {
            self.memory.slots[own.slot as usize] = value;
        }
    }

    /// Gives the values of the discrete symbols.
    pub fn discrete_values(&self) -> Vec<(SymbolId, f64)> {
        let discrete = self.image.events.discrete.iter();
        discrete
            .map(|d| (d.0, self.memory.slots[d.1 as usize]))
            .collect()
    }
}
