//! How far rates move if every operation is rounded in another way.
//!
//! In:  a state.
//! Out: the noise of each rate.
//!
//! The steps of the right-hand side are interpreted a few times with each result moved up or down by one unit of
//! rounding, by chance (Vignes 1974, *permutation–perturbation*): what large terms leave of each other shows, too. Systems
//! of equations are solved as always; their entries are shaken.
//!
//! **Invariant:** the noise of a rate is made of units of rounding only, however wild the rate itself is.

use crate::code::{Instr, Op, Step, run};
use crate::failure::Fault;
use crate::machine::{Machine, failed};
use crate::memory::Memory;
use paynter_solve::{EvalError, System};

/// Times that the rates are computed: the largest of three distances is seldom below half of the true spread.
const N_LOOKS: u64 = 3;

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
        let mut shaken = y.to_vec();
        for look in 1..=N_LOOKS {
            let mut chance = Chance(look);
            for (shaken, y) in shaken.iter_mut().zip(y) {
                *shaken = chance.shake(*y);
            }
            self.load(chance.shake(t), &shaken).map_err(failed)?;
            run_shaken(&image.rhs.routine.steps, &mut self.memory, &mut chance).map_err(failed)?;
            let slots = &self.memory.slots;
            let outputs = image.rhs.routine.outputs.iter();
            for ((noise, rate), &slot) in noise.iter_mut().zip(&rates).zip(outputs) {
                *noise = noise.max((slots[slot as usize] - rate).abs());
            }
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
