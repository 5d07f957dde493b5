//! Goes on with another machine of the same model, whose equations have another structure.
//!
//! In:  a machine that has come to an instant, and the states of the new one there.
//! Out: the new machine with clocks, discrete values, modes and `when` conditions of the old one,
//!      after it has reacted to what the change of structure moved.
//!
//! **Invariant:** what is held between events is carried by its symbol; both machines number them alike.

use std::collections::HashMap;

use paynter_solve::{EvalError, EventOutcome};
use paynter_symbolic::SymbolId;

use crate::lower::Decider;
use crate::machine::{Machine, fatal};

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
        let sources = from.image.discrete.iter().map(|d| (d.0, d.1));
        let sources = sources.chain(from.image.modes.iter().map(|m| (m.symbol, m.slot)));
        let mut values: HashMap<SymbolId, f64> = sources
            .map(|(symbol, slot)| (symbol, from.memory.slots[slot as usize]))
            .collect();
        values.extend(held.iter().copied());
        let targets = image.discrete.iter().map(|d| (d.0, d.1));
        let targets = targets.chain(image.modes.iter().map(|m| (m.symbol, m.slot)));
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
        self.next_time = None;
        for factor in &mut self.memory.factors {
            factor.expect_jump();
        }
        self.refresh_unknowns(t, y).map_err(fatal)?;
        self.start = y.to_vec();
        self.react(t, y, &[]).map_err(fatal)
    }

    /// What noise of a switch value is small against was seen by the other machine.
    fn carry_switch_sizes(&mut self, from: &Machine) {
        let outputs = from.image.modes.iter().filter_map(|mode| {
            let Decider::State { output, .. } = mode.decider else {
                return None;
            };
            Some((mode.symbol, from.room.switch_sizes[output]))
        });
        let sizes: HashMap<SymbolId, f64> = outputs.collect();
        for mode in &self.image.modes {
            if let Decider::State { output, .. } = mode.decider
                && let Some(&size) = sizes.get(&mode.symbol)
            {
                let own = &mut self.room.switch_sizes[output];
                *own = own.max(size);
            }
        }
    }

    /// Lets the events from `first_when` on, and the modes that only they read, count as not yet come.
    pub fn rearm(&mut self, first_when: usize, modes: &[SymbolId]) {
        for mode in &self.image.modes {
            if modes.contains(&mode.symbol) {
                self.memory.slots[mode.slot as usize] = 0.0;
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

    /// Gives the values of the discrete symbols.
    pub fn discrete_values(&self) -> Vec<(SymbolId, f64)> {
        let discrete = self.image.discrete.iter();
        discrete
            .map(|d| (d.0, self.memory.slots[d.1 as usize]))
            .collect()
    }
}
