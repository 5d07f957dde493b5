//! Typical sizes of the states, from which absolute tolerances are made.
//!
//! In:  the state at the start, rates at some instants of the run, the Jacobian at the start.
//! Out: a size for each variable, never larger than what a plain default would take.
//!
//! A state with a nominal value or a start that is not zero has its size from there. The others
//! begin at zero, and a tolerance that does not fit their scale gives wrong digits without a sign: a
//! nanocoulomb is nothing beside 1e-6. Their size follows from what drives them: rate times own time
//! constant where a source acts, and for the rest the share that a coupling passes on — that of equal
//! energy, √|Jᵢⱼ/Jⱼᵢ|, or the static one, |Jᵢⱼ/Jᵢᵢ|, whichever is smaller.
//!
//! **Invariant:** too small a size costs steps, too large a one costs digits, so every choice here
//! is on the small side.

use crate::code::run;
use crate::machine::Machine;
use crate::start::LEFT_OF_ZERO;
use paynter_solve::System;
use paynter_symbolic::PathId;
use paynter_symbolic::reduced::Reduced;
use rustc_hash::FxHashMap;

/// Finds the states that are components of one vector.
pub(crate) fn vectors(reduced: &Reduced) -> Vec<Vec<(usize, f64)>> {
    // Longer ones are lists of different things.
    const LONGEST: usize = 16;
    let names = &reduced.dae.names;
    let mut found: FxHashMap<(PathId, &str), Vec<(usize, f64)>> = FxHashMap::default();
    for (k, state) in reduced.states.iter().enumerate() {
        let path = reduced.dae.symbol(state.symbol).name;
        if let (Some(parent), (text, Some(_))) = (names.parent(path), names.last(path)) {
            found.entry((parent, text)).or_default().push((k, 1.0));
        }
    }
    let mut vectors: Vec<Vec<(usize, f64)>> = found.into_values().collect();
    vectors.retain(|v| (2..=LONGEST).contains(&v.len()));
    vectors.sort_by_key(|v| v[0].0);
    vectors
}

/// Size of a state of which nothing is known, and the largest that is inferred: states of more than
/// this have their relative tolerance anyway.
const DEFAULT_SIZE: f64 = 1e-4;
/// Size of a state that nothing drives as far as can be seen.
const UNSEEN_SIZE: f64 = 1e-8;
/// Instants of the run at which rates are looked at, beside the start.
const LOOKS: usize = 8;
/// A rate is taken for no less than this part of the terms that make it up: what the errors allowed in the
/// others leave of a balance (a preloaded spring, a linkage at its dead centre) is not a sign of a size.
const BALANCE: f64 = 1e-3;
/// Couplings that pass on less than this tell nothing of a size.
const WEAK: f64 = 1e-6;
/// What is integrated without any time constant is taken over this part of the run.
const SHARE_OF_RUN: f64 = 1e-2;

impl Machine {
    /// Gives a typical size of each variable for a run from `t0` to `t1`, from the start found last.
    pub(crate) fn typical_sizes(&mut self, t0: f64, t1: f64) -> Vec<f64> {
        let n = self.image.inputs.n;
        let n_states = self.image.states.len();
        let starts = self.start_sizes();
        let mut sizes: Vec<f64> = (0..n)
            .map(|k| match self.image.states.get(k) {
                Some(&symbol) => {
                    let nominal = self.image.dae.symbol(symbol).nominal.abs();
                    if nominal > 0.0 {
                        nominal
                    } else {
                        starts.get(k).copied().unwrap_or(0.0)
                    }
                }
                // Block unknowns of the algebraic form.
                None => 1.0,
            })
            .collect();

        if sizes.iter().all(|&size| size > 0.0) || self.start.len() != n {
            sizes
                .iter_mut()
                .filter(|s| **s == 0.0)
                .for_each(|s| *s = DEFAULT_SIZE);
            return sizes;
        }

        let is_known: Vec<bool> = sizes.iter().map(|&size| size > 0.0).collect();
        let entries = self.entries_at_start(t0, n_states);
        let coupling = Coupling::new(&entries, n_states);
        let rates = self.largest_rates(t0, t1);
        let mut terms = vec![0.0; n];
        for &(i, j, value) in &entries {
            terms[i] += (value * self.start[j]).abs();
        }

        for k in 0..n_states {
            let rate = rates[k].max(BALANCE * terms[k]);
            if !is_known[k] && rate > 0.0 {
                sizes[k] = rate * coupling.time(k).min(SHARE_OF_RUN * (t1 - t0));
            }
        }

        coupling.spread(&mut sizes);
        for k in 0..n_states {
            if is_known[k] {
                continue;
            }
            sizes[k] = if sizes[k] > 0.0 && sizes[k].is_finite() {
                sizes[k].min(DEFAULT_SIZE)
            } else {
                UNSEEN_SIZE
            };
        }
        sizes
    }

    /// Sizes of the variables at the start; 0 for what a search for the others has left of a zero.
    pub(crate) fn start_sizes(&self) -> Vec<f64> {
        let largest = self.start.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let is_set = |k: usize| self.start_is_set.get(k).copied().unwrap_or(false);
        let starts = self.start.iter().enumerate();
        starts
            .map(
                |(k, x)| match is_set(k) || x.abs() > LEFT_OF_ZERO * largest {
                    true => x.abs(),
                    false => 0.0,
                },
            )
            .collect()
    }

    /// (row, column, ∂fᵢ/∂yⱼ) of the states at the start, of rates that depend on few of them. The rates of a large
    /// mechanism depend on all of its states; their sizes come from its geometry.
    pub(crate) fn entries_at_start(&mut self, t: f64, n_states: usize) -> Vec<(usize, usize, f64)> {
        let image = self.image.clone();
        let mut entries = Vec::with_capacity(4 * n_states);
        let start = std::mem::take(&mut self.start);
        let loaded = self.load(t, &start);
        self.start = start;
        if loaded.is_err() || image.rhs.evaluate(&mut self.memory).is_err() {
            return entries;
        }
        let done =
            image
                .rhs
                .narrow_jacobian(&image.inputs, &mut self.memory, |row, column, value| {
                    if row < n_states && column < n_states && value != 0.0 && value.is_finite() {
                        entries.push((row, column, value));
                    }
                });
        if done.is_err() {
            entries.clear();
        }
        entries
    }

    /// The largest rate of each state with the start held, over some instants of the run; with sampled
    /// inputs that are zero taken as one.
    fn largest_rates(&mut self, t0: f64, t1: f64) -> Vec<f64> {
        let image = self.image.clone();
        let y = std::mem::take(&mut self.start);
        let mut largest = vec![0.0_f64; y.len()];
        let mut rates = vec![0.0; y.len()];
        let held: Vec<(u32, f64)> = image
            .events
            .modes
            .iter()
            .map(|mode| mode.slot)
            .chain(image.events.discrete.iter().map(|d| d.1))
            .map(|slot| (slot, self.memory.slots[slot as usize]))
            .collect();

        for look in 0..=LOOKS + 1 {
            if look == LOOKS + 1 {
                let zero = |d: &&(_, u32, f64)| self.memory.slots[d.1 as usize] == 0.0;
                let slots: Vec<u32> = image
                    .events
                    .discrete
                    .iter()
                    .filter(zero)
                    .map(|d| d.1)
                    .collect();
                slots
                    .iter()
                    .for_each(|&slot| self.memory.slots[slot as usize] = 1.0);
            }
            // The golden section meets no period twice at the same phase.
            const GOLDEN: f64 = 0.618_033_988_749_895;
            let share = (look as f64 * GOLDEN).fract();
            let t = if look <= LOOKS {
                t0 + share * (t1 - t0)
            } else {
                t0
            };
            let is_there = self.load(t, &y).is_ok()
                && (image.events.timing.outputs.is_empty() || self.settle_modes_by_time(t).is_ok());
            if is_there && self.rhs(t, &y, &mut rates).is_ok() {
                for (largest, rate) in largest.iter_mut().zip(&rates) {
                    if rate.is_finite() {
                        *largest = largest.max(rate.abs());
                    }
                }
            }
            for &(slot, value) in &held {
                self.memory.slots[slot as usize] = value;
            }
        }

        self.room.restless.clear();
        self.next_time = None;
        for factor in &mut self.memory.factors {
            factor.expect_jump();
        }

        // Whatever the looks have left behind is computed anew.
        if self.load(t0, &y).is_ok() {
            let _ = run(&image.events.switches.steps, &mut self.memory);
        }

        self.start = y;
        largest
    }
}

/// How states move each other.
struct Coupling {
    /// |Jᵢᵢ|.
    own: Vec<f64>,
    /// (j, i, |Jᵢⱼ|, |Jⱼᵢ|), by j.
    columns: Vec<(usize, usize, f64, f64)>,
    /// Number of other states that move a state.
    n_movers: Vec<usize>,
    /// Fastest rate in which a state takes part, 1/s.
    rate: Vec<f64>,
}

impl Coupling {
    fn new(entries: &[(usize, usize, f64)], n: usize) -> Self {
        let by_place: FxHashMap<(usize, usize), f64> =
            entries.iter().map(|&(i, j, v)| ((i, j), v.abs())).collect();
        let mut coupling = Coupling {
            own: vec![0.0; n],
            columns: Vec::with_capacity(entries.len()),
            n_movers: vec![0; n],
            rate: vec![0.0; n],
        };
        for &(i, j, value) in entries {
            if i == j {
                coupling.own[i] = value.abs();
                coupling.rate[i] = coupling.rate[i].max(value.abs());
                continue;
            }
            let back = by_place.get(&(j, i)).copied().unwrap_or(0.0);
            coupling.columns.push((j, i, value.abs(), back));
            coupling.n_movers[i] += 1;
            coupling.rate[i] = coupling.rate[i].max((value.abs() * back).sqrt());
        }
        coupling.columns.sort_by_key(|&(j, i, ..)| (j, i));
        // A state without a time constant of its own moves in that of what moves it.
        let alone: Vec<bool> = coupling.rate.iter().map(|&rate| rate == 0.0).collect();
        for &(i, j, _) in entries {
            if alone[i] && i != j {
                coupling.rate[i] = coupling.rate[i].max(coupling.rate[j]);
            }
        }
        coupling
    }

    /// Time in which a state answers, s; infinite where nothing tells.
    fn time(&self, k: usize) -> f64 {
        1.0 / self.rate[k]
    }

    /// Passes sizes on to states that have none, nearest first.
    fn spread(&self, sizes: &mut [f64]) {
        let mut front: Vec<usize> = (0..self.own.len()).filter(|&k| sizes[k] > 0.0).collect();
        while !front.is_empty() {
            let mut reached: Vec<(usize, f64)> = Vec::new();
            for &j in &front {
                let begin = self.columns.partition_point(|c| c.0 < j);
                let of_j = self.columns[begin..].iter().take_while(|c| c.0 == j);
                for &(_, i, there, back) in of_j {
                    if sizes[i] > 0.0 {
                        continue;
                    }
                    let equal_energy = if back > 0.0 {
                        (there / back).sqrt()
                    } else {
                        f64::INFINITY
                    };
                    let statical = self.n_movers[i] as f64 * there / self.own[i];
                    let moved = there * self.time(i);
                    let share = equal_energy.min(statical);
                    let share = if share.is_finite() { share } else { moved };
                    // In the measure of the states themselves: what is passed on against what is there.
                    if statical.is_finite() && statical < WEAK * equal_energy.min(1.0) {
                        continue;
                    }
                    reached.push((i, share * sizes[j]));
                }
            }
            front.clear();
            for (i, size) in reached {
                if size > 0.0 && size.is_finite() {
                    if sizes[i] == 0.0 {
                        front.push(i);
                    }
                    sizes[i] = sizes[i].max(size);
                }
            }
        }
    }
}
