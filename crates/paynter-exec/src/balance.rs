//! Balance of power at every junction, transformer and gyrator of a run.
//!
//! In:  the state after some steps, and the power along each bond of what must pass on all it takes.
//! Out: for each the energy that went through it and the energy that it made or lost.
//!
//! These laws hold at every instant, so that a sample now and then shows whether they do: the integrals are
//! rough, but no error of a quadrature is in the power that they add up.
//!
//! **Invariant:** which steps are looked at depends on their number alone, never on output times.

use paynter_symbolic::dae::Balance;
use paynter_symbolic::expr::ExprId;

use crate::code::run;
use crate::emit::Routine;
use crate::machine::Machine;

/// A look every so many steps costs no more than a hundredth of what they do.
const PERIOD: u64 = 16;

/// What the code of all runs knows about balances.
#[derive(Debug, Default)]
pub(crate) struct Balances {
    /// Power along each bond.
    pub routine: Routine,
    /// Where the bonds of each element end among the outputs.
    ends: Vec<usize>,
}

/// Lists what [`Balances::routine`] computes.
pub(crate) fn balance_expressions(balances: &[Balance]) -> Vec<ExprId> {
    balances.iter().flat_map(|b| b.terms.clone()).collect()
}

impl Balances {
    pub(crate) fn new(balances: &[Balance], routine: Routine) -> Self {
        let mut end = 0;
        let ends = balances.iter().map(|b| {
            end += b.terms.len();
            end
        });
        Balances {
            ends: ends.collect(),
            routine,
        }
    }
}

/// What went through an element that must pass on all it takes, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Passed {
    /// Taken and given together, halved.
    pub through: f64,
    /// Taken and not given, or given and not taken: sizes added up.
    pub missing: f64,
    /// Taken less given.
    pub net: f64,
}

/// The samples of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Balanced {
    n_steps: u64,
    /// Time of the last look.
    looked_at: Option<f64>,
    passed: Vec<Passed>,
}

impl Machine {
    /// Gives what went through each element of `Dae::balances`, from samples; empty for a large model.
    pub fn passed(&self) -> &[Passed] {
        &self.balanced.passed
    }

    /// Notes the start of the first sample.
    pub(crate) fn start_balances(&mut self, t: f64) {
        self.balanced = Balanced {
            n_steps: 0,
            looked_at: Some(t),
            passed: vec![Passed::default(); self.image.energy.balances.ends.len()],
        };
    }

    /// Goes on with the samples of another machine of the same model.
    pub(crate) fn carry_balances(&mut self, from: &Machine) {
        self.balanced.clone_from(&from.balanced);
    }

    /// Counts a step, and tells whether it is one to look at.
    #[inline]
    pub(crate) fn is_balance_due(&mut self) -> bool {
        let n = &mut self.balanced.n_steps;
        *n += 1;
        n.is_power_of_two() || n.is_multiple_of(PERIOD)
    }

    /// Adds a sample, which stands for the time since the last one.
    #[cold]
    pub(crate) fn look_at_balances(&mut self, t: f64, y: &[f64]) {
        let image = self.image.clone();
        let balances = &image.energy.balances;
        if balances.ends.is_empty() || self.balanced.passed.is_empty() || self.load(t, y).is_err() {
            return;
        }
        // A reaction that nothing fixes may have no value; then this instant says nothing.
        if run(&balances.routine.steps, &mut self.memory).is_err() {
            return;
        }
        let duration = t - self.balanced.looked_at.replace(t).unwrap_or(t);
        let mut first = 0;
        for (passed, &end) in self.balanced.passed.iter_mut().zip(&balances.ends) {
            let (mut net, mut through) = (0.0, 0.0);
            for &slot in &balances.routine.outputs[first..end] {
                let power = self.memory.slots[slot as usize];
                net += power;
                through += 0.5 * power.abs();
            }
            first = end;
            if through.is_finite() {
                passed.through += duration * through;
                passed.missing += duration * net.abs();
                passed.net += duration * net;
            }
        }
    }
}
