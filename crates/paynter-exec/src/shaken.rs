//! How far rates move if every operation is rounded in another way.
//!
//! In:  a state.
//! Out: the noise of each rate, or of a switch.
//!
//! The steps of the right-hand side are interpreted a few times with each result moved up or down by one unit of
//! rounding, by chance (Vignes 1974, *permutation–perturbation*): what large terms leave of each other shows, too. Systems
//! of equations are solved as always; their entries are shaken.
//!
//! **Invariant:** the noise of a rate is made of units of rounding only, however wild the rate itself is.

use crate::code::{Instr, Op, Step, run};
use crate::events::is_equality;
use crate::failure::Fault;
use crate::image::{Decider, SwitchKind};
use crate::machine::{Machine, failed};
use crate::memory::Memory;
use paynter_solve::{EvalError, System};

/// Times that the rates are computed: the largest of three distances is seldom below half of the true spread.
const N_LOOKS: u64 = 3;
/// So many times its noise a switch must reach to be heard.
const MUTE: f64 = 16.0;

impl Machine {
    /// Writes the noise of each rate.
    pub(crate) fn noise_of_rates(
        &mut self,
        t: f64,
        y: &[f64],
        noise: &mut [f64],
    ) -> Result<(), EvalError> {
        if self.partition.is_some() {
            let settled = self.with_settled(t, y, |machine, y| machine.noise_of_rates(t, y, noise));
            return settled.map_err(failed)?;
        }
        let mut rates = vec![0.0; y.len()];
        self.rhs(t, y, &mut rates)?;
        noise.fill(0.0);
        let image = self.image.clone();
        let routine = &image.rhs.routine;
        let looks = self.look_shaken((t, y), &routine.steps, |slots| {
            for ((noise, rate), &slot) in noise.iter_mut().zip(&rates).zip(&routine.outputs) {
                *noise = noise.max((slots[slot as usize] - rate).abs());
            }
        });
        looks.map_err(failed)
    }

    /// Silences the switch of a guard if its value is a rounding of other values.
    pub(crate) fn silence_roundings(&mut self, t: f64, y: &[f64], guard: usize) -> bool {
        if self.partition.is_some() {
            let settled =
                self.with_settled(t, y, |machine, y| machine.silence_roundings(t, y, guard));
            return settled.unwrap_or(false);
        }
        let image = self.image.clone();
        let Some(mode) = image.mode_at_guard(guard) else {
            return false;
        };
        let Decider::State { output, .. } = mode.decider else {
            return false;
        };
        let held = self.memory.slots[mode.slot as usize];
        let has_a_side = !matches!(mode.kind, SwitchKind::Floor) && !is_equality(mode.kind, held);
        match self.noise_of_switch(t, y, output) {
            Ok((value, noise)) if has_a_side && value.abs() <= MUTE * noise => {
                let mute = &mut self.room.mute[output];
                // One that makes no difference is silenced farther already, and for good.
                let is_new = MUTE * noise > *mute;
                *mute = mute.max(MUTE * noise);
                is_new
            }
            _ => false,
        }
    }

    /// The value of a switch and its noise.
    fn noise_of_switch(&mut self, t: f64, y: &[f64], output: usize) -> Result<(f64, f64), Fault> {
        let image = self.image.clone();
        let switches = &image.events.switches;
        let slot = switches.outputs[output] as usize;
        self.load(t, y)?;
        run(&switches.steps, &mut self.memory)?;
        let value = self.memory.slots[slot];
        let mut noise = 0.0_f64;
        self.look_shaken((t, y), &switches.steps, |slots| {
            noise = noise.max((slots[slot] - value).abs());
        })?;
        Ok((value, noise))
    }

    /// Runs the steps a few times at a state with every operation shaken, and shows what they leave.
    fn look_shaken(
        &mut self,
        (t, y): (f64, &[f64]),
        steps: &[Step],
        mut see: impl FnMut(&[f64]),
    ) -> Result<(), Fault> {
        let mut shaken = y.to_vec();
        for look in 1..=N_LOOKS {
            let mut chance = Chance(look);
            for (shaken, y) in shaken.iter_mut().zip(y) {
                *shaken = chance.shake(*y);
            }
            self.load(chance.shake(t), &shaken)?;
            run_shaken(steps, &mut self.memory, &mut chance)?;
            see(&self.memory.slots);
        }
        Ok(())
    }
}

/// Up or down, by chance, the same in every run (xorshift, Marsaglia 2003).
struct Chance(u64);

impl Chance {
    fn shake(&mut self, x: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The lowest bits are the least random ones.
        if self.0 >> 63 == 0 {
            x * (1.0 + f64::EPSILON)
        } else {
            x * (1.0 - f64::EPSILON)
        }
    }
}

fn run_shaken(steps: &[Step], memory: &mut Memory, chance: &mut Chance) -> Result<(), Fault> {
    for step in steps {
        match step {
            Step::Straight(straight) => {
                for i in &straight.instrs {
                    memory.slots[i.dst as usize] = applied(i, &memory.slots, chance);
                }
            }
            Step::Kernel(kernel) => {
                let n_rows = kernel.dst.len();
                let mut registers = vec![0.0; kernel.n_leaves + kernel.body.len()];
                for row in 0..n_rows {
                    for leaf in 0..kernel.n_leaves {
                        let slot = kernel.leaves[leaf * n_rows + row];
                        registers[leaf] = memory.slots[slot as usize];
                    }
                    for i in kernel.body.iter() {
                        registers[i.dst as usize] = applied(i, &registers, chance);
                    }
                    let result = registers.last().copied().unwrap_or_default();
                    memory.slots[kernel.dst[row] as usize] = result;
                }
            }
            Step::Fused(fused) => run_shaken(&fused.parts, memory, chance)?,
            other => run(std::slice::from_ref(other), memory)?,
        }
    }
    Ok(())
}

fn applied(i: &Instr, slots: &[f64], chance: &mut Chance) -> f64 {
    let [a, b, c] = [i.a, i.b, i.c].map(|slot| slots[slot as usize]);
    let value = i.op.apply(a, b, c);
    match i.op {
        // Exact.
        Op::Copy | Op::Neg | Op::Compare(_) | Op::Not | Op::And | Op::Or | Op::Select => value,
        _ => chance.shake(value),
    }
}
