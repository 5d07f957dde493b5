//! Finds a state that meets the demands on the start, and keeps states on their constraints.
//!
//! In:  `start` demands, `guess` hints, hidden constraints; states nobody mentions.
//! Out: a consistent state, with a report of what was assumed and what had to give way; or
//!      the demands that contradict each other.
//!
//! Demands on states are met by setting them. Other demands (`c.e = 5`, `rotor.f = 3`) and
//! constraints form groups that share states; each group is solved for the states that are
//! not set, moving them as little as possible (Gauss–Newton with orthogonal factors, damped).
//! Where a constraint cannot be met otherwise, the states that were set give way.
//!
//! **Invariant:** after success the constraints hold to rounding, and every demand that does
//! not is in the report.

mod misfit;
mod search;

pub use misfit::{Misfit, single_out};

use std::ops::Range;

use paynter_solve::Projection;
use paynter_symbolic::SymbolId;

use crate::code::{run, run_past_faults};
use crate::dense::{PivotedQr, pivoted_qr};
use crate::events::{ROUNDS_TOGETHER, mode_at, rounds_allowed};
use crate::failure::{Failure, Fault};
use crate::image::{Decider, StartAim, StartInfo};
use crate::least::LeastNorm;
use crate::machine::Machine;
use crate::map::{Component, Map, components};
use search::Outcome;
pub(crate) use search::{Search, aside};

/// How a start came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartReport {
    /// The variables at the start.
    pub y0: Vec<f64>,
    /// States that no demand reaches: they start at zero, or where least change leaves them.
    pub defaulted: Vec<SymbolId>,
    /// Demands that gave way to constraints.
    pub changed: Vec<ChangedStart>,
}

/// A demand that constraints did not allow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangedStart {
    /// Position in `Dae::starts`.
    pub start: usize,
    /// What was demanded.
    pub asked: f64,
    /// What the start has instead.
    pub got: f64,
}

/// Why there is no start.
#[derive(Clone, Debug, PartialEq)]
pub enum StartError {
    /// Pairs of demands that contradict each other, by position in `Dae::starts`.
    Conflict {
        /// The pairs.
        pairs: Vec<(usize, usize)>,
    },
    /// Demands that no choice of states meets, by position in `Dae::starts`.
    Unreachable {
        /// Which.
        starts: Vec<usize>,
    },
    /// Constraints that no state near the demands meets: positions in `Reduced::constraints`,
    /// then those of the invariants.
    Constraints {
        /// Which, and how far each stays from zero.
        rows: Vec<(usize, f64)>,
        /// When, s.
        t: f64,
        /// Where the search began, and the best that it found.
        places: [Vec<f64>; 2],
    },
    /// The equations have no value at the start.
    Failure(Failure),
}

/// Roundings of the largest variable that a solution of the constraints can leave in another.
pub(crate) const LEFT_OF_ZERO: f64 = 64.0 * f64::EPSILON;

/// Steps of Gauss–Newton, damped ones included; a search this long goes nowhere.
const MAX_STEPS: usize = 80;
/// Demands are met when they miss by no more than this share of what they are made of:
/// far above rounding, far below anything an engineer would write.
const MET: f64 = 1e-9;
/// The same while a run is kept on its constraints. Where a mechanism passes a dead centre, one direction fades: what
/// is left of it is divided by nearly nothing, and would throw rates from one branch to the other.
const NOISE_OF_PROJECTION: f64 = 1e-7;
/// Up to this many rows a dense factor with column exchanges is fast, and it finds the best of solutions that
/// contradict each other.
const DENSE_ROWS: usize = 40;
/// Moves onto the constraints with one set of slopes end when the next would change no variable by more than this share of
/// its size.
const SLID: f64 = 1e-13;
/// A move longer than this share of the sizes is searched for with care: near a dead centre slopes change along the
/// way, and lead far along the direction that fades.
const MOST_SLIDE: f64 = 1e-6;
/// Slopes fit if each move is this much shorter than the one before.
const GOOD_SLIDE: f64 = 0.1;
/// From the error of a step to rounding it takes fewer such moves than this.
const MAX_SLIDES: usize = 8;
/// How far a place without slopes is left, as a share of the sizes of the variables.
const ASIDE: f64 = 1e-2;
/// A direction in which demands change less than this share of the strongest is not a direction.
const NOISE: f64 = 1e-10;

impl Machine {
    /// Finds the start at `t0`: modes, discrete values, first ticks, states.
    ///
    /// # Errors
    ///
    /// The demands contradict each other or the constraints, or the equations have no value.
    pub fn initialise(&mut self, t0: f64) -> Result<StartReport, StartError> {
        self.reset(t0);
        self.room.is_starting = true;
        let result = self.find_start(t0);
        self.room.is_starting = false;
        if let Ok(report) = &result {
            self.start.clone_from(&report.y0);
            self.set_anchors(t0, &report.y0);
        }
        result
    }

    fn reset(&mut self, t0: f64) {
        let image = self.image.clone();
        for factor in &mut self.memory.factors {
            factor.forget();
        }
        for &(_, slot, start) in &image.events.discrete {
            self.memory.slots[slot as usize] = start;
        }
        for mode in &image.events.modes {
            self.memory.slots[mode.slot as usize] = 0.0;
        }
        for &slot in &image.energy.quadrature_slots {
            self.memory.slots[slot as usize] = 0.0;
        }
        for ticks in &mut self.clocks {
            ticks.start(t0);
        }
        self.jumps.fill(0.0);
        self.impulses = 0.0;
        self.anchored = Default::default();
        self.storage_jumps.fill(0.0);
        self.room.switch_sizes.fill(0.0);
        self.room.has_crossed.fill(false);
        self.room.mute.fill(0.0);
        self.room.is_rearmed.fill(false);
        for clockwork in &mut self.clockworks {
            clockwork.forget();
        }
        self.next_time = None;
    }

    fn fail(&self, fault: Fault) -> StartError {
        StartError::Failure(self.describe_failure(fault.code()))
    }

    fn find_start(&mut self, t0: f64) -> Result<StartReport, StartError> {
        let image = self.image.clone();
        let mut y = vec![0.0; image.inputs.n];
        let values = self
            .start_values(t0, &y)
            .map_err(|fault| self.fail(fault))?;
        let set_by = self.set_directly(&values, &mut y)?;
        self.start_is_set = set_by.iter().map(Option::is_some).collect();
        let mut outcome = Outcome::default();
        for round in 0.. {
            if round == rounds_allowed(image.events.modes.len()) {
                return Err(self.fail(Fault::EventLoop));
            }
            // The very first modes are guesses: a block may be singular under them.
            let settled = self.evaluate_modes(t0, &y, round >= ROUNDS_TOGETHER);
            if round == 0 && settled.is_err() {
                self.guess_modes(t0, &y);
            }
            if matches!(settled, Ok(false)) && round > 0 {
                break;
            }
            if round > 0 {
                settled.map_err(|fault| self.fail(fault))?;
            }
            outcome = self.meet_demands(t0, &mut y, &set_by, &values)?;
        }

        self.set_late(t0, &mut y)
            .map_err(|fault| self.fail(fault))?;
        self.first_tick(t0, &mut y)
            .map_err(|fault| self.fail(fault))?;
        let defaulted = self.defaulted(&set_by, &outcome);
        let changed = self
            .start_values(t0, &y)
            .and_then(|values| self.changed(t0, &y, &values))
            .map_err(|fault| self.fail(fault))?;

        Ok(StartReport {
            y0: y,
            defaulted,
            changed,
        })
    }

    /// What the demands ask for, where the states are y.
    fn start_values(&mut self, t: f64, y: &[f64]) -> Result<Vec<f64>, Fault> {
        let image = self.image.clone();
        self.load(t, y)?;
        run(&image.start.values.steps, &mut self.memory)?;
        let outputs = image.start.values.outputs.iter();
        Ok(outputs
            .map(|&slot| self.memory.slots[slot as usize])
            .collect())
    }

    /// Sets the states whose values follow from those that the demands fix.
    fn set_late(&mut self, t: f64, y: &mut [f64]) -> Result<(), Fault> {
        let image = self.image.clone();
        if image.start.late_states.is_empty() {
            return Ok(());
        }
        self.load(t, y)?;
        run(&image.start.late_values.steps, &mut self.memory)?;
        for (&(index, is_negated), &slot) in image
            .start
            .late_states
            .iter()
            .zip(&image.start.late_values.outputs)
        {
            let value = self.memory.slots[slot as usize];
            y[index] = if is_negated { -value } else { value };
        }
        Ok(())
    }

    /// Sets states, discrete symbols and starting points of blocks that are named directly.
    /// Gives for each state the demand that sets it.
    fn set_directly(
        &mut self,
        values: &[f64],
        y: &mut [f64],
    ) -> Result<Vec<Option<usize>>, StartError> {
        let image = self.image.clone();
        let mut set_by: Vec<Option<usize>> = vec![None; y.len()];
        let mut pairs = Vec::new();
        for wants_guess in [true, false] {
            for (k, start) in image.start.aims.iter().enumerate() {
                if start.is_guess != wants_guess {
                    continue;
                }
                match start.aim {
                    StartAim::State { index, is_negated } => {
                        let value = if is_negated { -values[k] } else { values[k] };
                        match set_by[index] {
                            Some(other) if !start.is_guess && y[index] != value => {
                                pairs.push((other, k));
                            }
                            _ => y[index] = value,
                        }
                        if !start.is_guess {
                            set_by[index].get_or_insert(k);
                        }
                    }
                    StartAim::Discrete { slot } => self.memory.slots[slot as usize] = values[k],
                    StartAim::Unknown { block, place } => {
                        self.memory.factors[block as usize].guess(place, values[k]);
                    }
                    StartAim::Row(_) => {}
                }
            }
        }

        if pairs.is_empty() {
            Ok(set_by)
        } else {
            Err(StartError::Conflict { pairs })
        }
    }

    /// Sets the modes that are known whatever the equations give. With all of them at zero an equation may have no
    /// solution: with its `floor` at 0, `exp((x - floor(x))^2)` overflows for an x of 30.
    fn guess_modes(&mut self, t: f64, y: &[f64]) {
        let image = self.image.clone();
        for _ in 0..ROUNDS_TOGETHER {
            run_past_faults(&image.events.switches.steps, &mut self.memory);
            let mut has_changed = false;
            for mode in &image.events.modes {
                let Decider::State { output, .. } = mode.decider else {
                    continue;
                };
                let value = self.memory.slots[image.events.switches.outputs[output] as usize];
                if value.is_finite() {
                    let new = mode_at(mode.kind, value, None);
                    let held = &mut self.memory.slots[mode.slot as usize];
                    has_changed |= std::mem::replace(held, new) != new;
                }
            }
            // A fault that stays is reported when the modes are settled.
            if !has_changed || self.evaluate_modes(t, y, false).is_ok() {
                return;
            }
        }
    }

    /// Sets every mode as the values at y say, or only the first that is wrong. Tells whether one changed.
    fn evaluate_modes(&mut self, t: f64, y: &[f64], is_one_by_one: bool) -> Result<bool, Fault> {
        let image = self.image.clone();
        self.load(t, y)?;
        let mut has_changed = false;
        self.run_timing(t)?;
        for mode in &image.events.modes {
            if let Some(new) = self.mode_by_time(mode, t) {
                let held = &mut self.memory.slots[mode.slot as usize];
                has_changed |= new != *held;
                *held = new;
            }
        }
        self.run_switches()?;
        for mode in &image.events.modes {
            if let Decider::State { output, .. } = mode.decider {
                let new = mode_at(mode.kind, self.room.switches[output], None);
                let held = &mut self.memory.slots[mode.slot as usize];
                if new == *held {
                    continue;
                }
                self.room.restless.push(mode.symbol);
                has_changed = true;
                *held = new;
                if is_one_by_one {
                    break;
                }
            }
        }
        Ok(has_changed)
    }

    fn meet_demands(
        &mut self,
        t: f64,
        y: &mut [f64],
        set_by: &[Option<usize>],
        values: &[f64],
    ) -> Result<Outcome, StartError> {
        let image = self.image.clone();
        let map = &image.start.demands;
        let (n_demands, n_hard) = (image.start.n_demands, image.start.n_demands + image.locks.n);
        let is_free: Vec<bool> = set_by
            .iter()
            .enumerate()
            .map(|(k, by)| by.is_none() && k < image.states.len())
            .collect();
        self.follow_hints(t, y, (map, n_hard), &is_free);
        let rows: Vec<usize> = (0..n_hard).collect();
        if rows.is_empty() {
            return Ok(Outcome::default());
        }

        let begin = y.to_vec();
        let solved = self.solve_demands(t, y, (map, &rows), &is_free);
        let mut outcome = solved.map_err(|fault| self.fail(fault))?;
        if outcome.unmet.is_empty() {
            self.find_rates_again(t, (&begin, y), &is_free, &mut outcome);
        }

        // What a demand is made of may be constants only, of which the search sees nothing.
        let asked = asked_of_rows(&image.start.aims, values, n_hard);
        outcome
            .unmet
            .retain(|&(row, missing)| missing.abs() > MET * asked[row].abs());
        if outcome.unmet.iter().any(|&(row, _)| row >= n_demands) {
            self.force_constraints(t, y, (map, n_demands..n_hard), begin)?;
            outcome.unmet.clear();
        }

        if outcome.unmet.is_empty() {
            return Ok(outcome);
        }
        Err(self.blame(&outcome, map, set_by))
    }

    /// Moves what demands and constraints read towards its hints. Hints choose where a search begins: a state that nothing
    /// searches for stays where it is, since a hint is not a start value, and one that cannot be followed is not an error.
    fn follow_hints(
        &mut self,
        t: f64,
        y: &mut [f64],
        (map, n_hard): (&Map, usize),
        is_free: &[bool],
    ) {
        let mut is_sought = vec![false; y.len()];
        for &column in map.rows[..n_hard].iter().flat_map(|row| row.iter()) {
            is_sought[column as usize] = is_free[column as usize];
        }
        let can_help = |&row: &usize| map.rows[row].iter().any(|&c| is_sought[c as usize]);
        let n_rows = map.routine.outputs.len();
        let hints: Vec<usize> = (n_hard..n_rows).filter(can_help).collect();
        if hints.is_empty() {
            return;
        }
        let before = y.to_vec();
        if self.solve_rows(t, y, (map, &hints), &is_sought).is_err() {
            y.copy_from_slice(&before);
        }
    }

    /// Meets the constraints with all states free, also those that have start values; `begin` is where the search began.
    fn force_constraints(
        &mut self,
        t: f64,
        y: &mut [f64],
        (map, rows): (&Map, Range<usize>),
        begin: Vec<f64>,
    ) -> Result<(), StartError> {
        let n_states = self.image.states.len();
        let all: Vec<bool> = (0..y.len()).map(|k| k < n_states).collect();
        let first = rows.start;
        let constraints: Vec<usize> = rows.collect();
        let solved = self.solve_rows(t, y, (map, &constraints), &all);
        let forced = solved.map_err(|fault| self.fail(fault))?;
        if forced.unmet.is_empty() {
            return Ok(());
        }
        let unmet = forced.unmet.iter();
        Err(StartError::Constraints {
            rows: unmet
                .map(|&(row, missing)| (row - first, missing))
                .collect(),
            t,
            places: [begin, y.to_vec()],
        })
    }

    /// Solves demands and constraints for the free states. Places that only modulate stay where they are, unless that
    /// leaves something open: `rotor.f = 3` is a demand on momenta, also where the rotor hangs on a shaft whose angle nobody
    /// has mentioned.
    fn solve_demands(
        &mut self,
        t: f64,
        y: &mut [f64],
        (map, rows): (&Map, &[usize]),
        is_free: &[bool],
    ) -> Result<Outcome, Fault> {
        let is_moved = self.without_modulators(t, y, (map, rows), is_free);
        if is_moved != is_free {
            let mut trial = y.to_vec();
            if let Ok(outcome) = self.solve_rows(t, &mut trial, (map, rows), &is_moved)
                && outcome.unmet.is_empty()
            {
                y.copy_from_slice(&trial);
                return Ok(outcome);
            }
        }
        self.solve_rows(t, y, (map, rows), is_free)
    }

    /// The free states without those that do nothing to any row while nothing moves: there they are seen through moduli only.
    fn without_modulators(
        &mut self,
        t: f64,
        y: &[f64],
        (map, rows): (&Map, &[usize]),
        is_free: &[bool],
    ) -> Vec<bool> {
        let image = self.image.clone();
        let is_rate = &image.start.is_rate;
        let is_place = |&c: &u32| is_free[c as usize] && !is_rate[c as usize];
        if !rows.iter().any(|&row| map.rows[row].iter().any(is_place)) {
            return is_free.to_vec();
        }

        let mut rest = y.to_vec();
        let sizes = self.sizes(y);
        for (k, &is_rate) in is_rate.iter().enumerate() {
            // A place may be one where a slope vanishes by chance.
            rest[k] = match is_rate {
                true => 0.0,
                false => y[k] + search::aside(k) * sizes[k],
            };
        }

        // Equations with several solutions go on from where they are now.
        let memory = self.memory.clone();
        let slopes = self.residuals(t, &rest, map);
        let slopes = slopes.and_then(|_| self.entries(map));
        self.memory = memory;
        let Ok(slopes) = slopes else {
            return is_free.to_vec();
        };
        let mut is_seen = vec![false; y.len()];
        for &row in rows {
            let own = map.rows[row].iter().zip(&slopes[row]);
            let own = own.map(|(&column, slope)| (column as usize, slope.abs()));
            let own: Vec<(usize, f64)> = own.map(|(c, slope)| (c, slope * sizes[c])).collect();
            let strongest = own.iter().fold(0.0_f64, |m, entry| m.max(entry.1));
            for (column, slope) in own {
                let is_small = slope <= NOISE * strongest;
                is_seen[column] |= !is_small;
            }
        }

        let states = is_free.iter().zip(&is_seen).enumerate();
        let is_moved = |(k, (&is_free, &is_seen)): (usize, (&bool, &bool))| {
            is_free && (is_seen || is_rate.get(k) == Some(&true))
        };
        states.map(is_moved).collect()
    }

    /// Finds the rates of a mechanism anew, from what they were before its positions were found: on the way there they
    /// were moved for positions that it does not have in the end, and what nobody asked for would stay of it.
    fn find_rates_again(
        &mut self,
        t: f64,
        (begin, y): (&[f64], &mut [f64]),
        is_free: &[bool],
        outcome: &mut Outcome,
    ) {
        let image = self.image.clone();
        let is_position = self.is_position();
        let is_rate: Vec<bool> = (is_free.iter().zip(&is_position))
            .map(|(is_free, is_position)| *is_free && !is_position)
            .collect();
        let map = &image.start.demands;
        let reads_rate = |row: &usize| map.rows[*row].iter().any(|&c| is_rate[c as usize]);
        let n_hard = image.start.n_demands + image.locks.n;
        let rows: Vec<usize> = (0..n_hard).filter(reads_rate).collect();
        if image.dae.constraints.is_empty() || rows.is_empty() {
            return;
        }

        let mut trial = y.to_vec();
        for k in (0..trial.len()).filter(|&k| is_rate[k]) {
            trial[k] = begin[k];
        }
        if let Ok(again) = self.solve_rows(t, &mut trial, (map, &rows), &is_rate)
            && again.unmet.is_empty()
        {
            y.copy_from_slice(&trial);
            outcome.determined.retain(|&k| !is_rate[k]);
            outcome.determined.extend(again.determined);
        }
    }

    /// Tells which variables the positions of locks read.
    fn is_position(&self) -> Vec<bool> {
        let image = &self.image;
        let last = image.locks.map.rows.len() - image.dae.invariants.len();
        let first = last - image.dae.constraints.len();
        let mut is_position = vec![false; image.inputs.n];
        let columns = image.locks.map.rows[first..last]
            .iter()
            .flat_map(|row| row.iter());
        columns.for_each(|&c| is_position[c as usize] = true);
        is_position
    }

    /// Says which demands stand against each other.
    fn blame(&self, outcome: &Outcome, map: &Map, set_by: &[Option<usize>]) -> StartError {
        let start_of_row = |row: usize| {
            self.image
                .start
                .aims
                .iter()
                .position(|s| !s.is_guess && s.aim == StartAim::Row(row))
        };

        let mut pairs: Vec<(usize, usize)> = Vec::new();
        let mut lonely = Vec::new();
        // So many are enough to see what is wrong.
        for &(row, _) in outcome.unmet.iter().take(20) {
            let Some(start) = start_of_row(row) else {
                continue;
            };
            let by_state = map.rows[row].iter().find_map(|&c| set_by[c as usize]);
            let by_row = || {
                let shares = |other: usize| {
                    map.rows[other]
                        .iter()
                        .any(|c| map.rows[row].binary_search(c).is_ok())
                };
                (0..self.image.start.n_demands)
                    .filter(|&other| other != row && shares(other))
                    .find_map(start_of_row)
            };
            match by_state.or_else(by_row) {
                Some(other) => pairs.push((start.min(other), start.max(other))),
                None => lonely.push(start),
            }
        }

        pairs.sort_unstable();
        pairs.dedup();
        if pairs.is_empty() {
            StartError::Unreachable { starts: lonely }
        } else {
            StartError::Conflict { pairs }
        }
    }

    fn first_tick(&mut self, t0: f64, y: &mut [f64]) -> Result<(), Fault> {
        self.load(t0, y)?;
        self.keep_left_limits()?;
        self.tick(t0)?;
        self.run_switches()?;
        self.evaluate_modes(t0, y, false)?;
        self.begin_event();
        self.settle_modes(t0)?;
        self.hold_first_conditions(t0)?;
        self.refresh_unknowns(t0, y)
    }

    fn defaulted(&self, set_by: &[Option<usize>], outcome: &Outcome) -> Vec<SymbolId> {
        let mut is_mentioned: Vec<bool> = set_by.iter().map(Option::is_some).collect();
        for start in &self.image.start.aims {
            if let StartAim::State { index, .. } = start.aim {
                is_mentioned[index] = true;
            }
        }
        let late = self.image.start.late_states.iter().map(|&(index, _)| index);
        for column in outcome.determined.iter().copied().chain(late) {
            is_mentioned[column] = true;
        }
        let states = self.image.states.iter().zip(is_mentioned);
        states
            .filter(|(_, is)| !is)
            .map(|(&symbol, _)| symbol)
            .collect()
    }

    fn changed(&mut self, t: f64, y: &[f64], values: &[f64]) -> Result<Vec<ChangedStart>, Fault> {
        let image = self.image.clone();
        let mut changed = Vec::new();
        if image.locks.n == 0 {
            return Ok(changed);
        }

        self.load(t, y)?;
        image.start.demands.evaluate(&mut self.memory)?;
        // What the constraints leave of a zero is a rounding of the other variables.
        let noise = LEFT_OF_ZERO * y.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        for (k, start) in image
            .start
            .aims
            .iter()
            .enumerate()
            .filter(|(_, start)| !start.is_guess)
        {
            let got = match start.aim {
                StartAim::State { index, is_negated } => {
                    if is_negated {
                        -y[index]
                    } else {
                        y[index]
                    }
                }
                StartAim::Row(row) => values[k] + image.start.demands.value(&self.memory, row),
                _ => continue,
            };
            let size = values[k].abs().max(got.abs());
            if (got - values[k]).abs() > (MET * size).max(noise) {
                changed.push(ChangedStart {
                    start: k,
                    asked: values[k],
                    got,
                });
            }
        }
        Ok(changed)
    }

    /// A typical size of each variable.
    pub(crate) fn sizes(&self, y: &[f64]) -> Vec<f64> {
        y.iter()
            .enumerate()
            .map(|(k, x)| {
                let nominal = self
                    .image
                    .states
                    .get(k)
                    .map_or(0.0, |&s| self.image.dae.symbol(s).nominal.abs());
                if nominal > 0.0 {
                    nominal
                } else {
                    x.abs().max(1.0)
                }
            })
            .collect()
    }

    /// Makes some outputs of a map zero by moving free variables as little as possible.
    fn solve_rows(
        &mut self,
        t: f64,
        y: &mut [f64],
        (map, rows): (&Map, &[usize]),
        is_free: &[bool],
    ) -> Result<Outcome, Fault> {
        let mut searches: Vec<Search> = components(&map.rows, rows, y.len())
            .into_iter()
            .map(|part| Search::new(part, is_free))
            .collect();
        let start = &self.image.start;
        let locks = start.n_demands..start.n_demands + self.image.locks.n;
        for search in &mut searches {
            search.may_stay = !search.rows.iter().any(|row| locks.contains(row));
        }
        self.search(t, y, map, &mut searches)
    }

    fn search(
        &mut self,
        t: f64,
        y: &mut [f64],
        map: &Map,
        searches: &mut [Search],
    ) -> Result<Outcome, Fault> {
        let sizes = self.sizes(y);
        let mut residuals = self.residuals(t, y, map)?;
        let mut jacobian = self.entries(map)?;
        for search in &mut *searches {
            search.is_done |= search.is_lost(&jacobian) && search.stays(&residuals);
        }

        if searches.iter().any(|search| search.must_leave(&jacobian)) {
            for search in searches.iter().filter(|s| s.must_leave(&jacobian)) {
                search.step_aside(&sizes, y);
            }
            residuals = self.residuals(t, y, map)?;
            jacobian = self.entries(map)?;
        }

        for search in searches.iter_mut().filter(|search| !search.is_done) {
            search.aim(map, (&jacobian, &residuals), &sizes, y);
        }
        for _ in 0..MAX_STEPS {
            if searches.iter().all(|search| search.is_done) {
                break;
            }
            let mut trial = y.to_vec();
            for search in searches.iter().filter(|search| !search.is_done) {
                search.step(&mut trial);
            }
            let moved = self.residuals(t, &trial, map);
            let mut has_moved = false;
            for search in searches.iter_mut().filter(|search| !search.is_done) {
                search.take(&trial, y, moved.as_deref().ok());
                has_moved |= search.was_better;
            }
            if has_moved {
                // Where all have moved, the trial is the new place.
                residuals = match moved {
                    Ok(moved) if searches.iter().all(|s| s.was_better) => moved,
                    _ => self.residuals(t, y, map)?,
                };
                jacobian = self.entries(map)?;
                for search in searches.iter_mut().filter(|s| s.was_better && !s.is_done) {
                    search.damping = (2.0 * search.damping).min(1.0);
                    search.aim(map, (&jacobian, &residuals), &sizes, y);
                }
            }
        }

        self.load(t, y)?;
        let mut outcome = Outcome::default();
        for search in &*searches {
            search.judge(map, (&jacobian, &residuals), (y, &sizes), &mut outcome);
        }

        outcome.unmet.sort_by_key(|unmet| unmet.0);
        Ok(outcome)
    }

    pub(crate) fn residuals(&mut self, t: f64, y: &[f64], map: &Map) -> Result<Vec<f64>, Fault> {
        self.load(t, y)?;
        map.evaluate(&mut self.memory)?;
        Ok((0..map.routine.outputs.len())
            .map(|k| map.value(&self.memory, k))
            .collect())
    }

    /// Entries of the Jacobian, row by row in the order of `map.rows`.
    pub(crate) fn entries(&mut self, map: &Map) -> Result<Vec<Vec<f64>>, Fault> {
        let image = self.image.clone();
        let mut entries: Vec<Vec<f64>> = map.rows.iter().map(|row| vec![0.0; row.len()]).collect();
        map.jacobian(&image.inputs, &mut self.memory, |row, column, value| {
            let place = map.rows[row].binary_search(&(column as u32));
            entries[row][place.expect("the map knows its own pattern")] = value;
        })?;
        Ok(entries)
    }

    /// Moves y onto the constraints with the slopes where it is: a step of the solver leaves the constraints by so
    /// little that these lead all the way back. Slopes of an earlier step would do so, too, but along the constraints as
    /// well, which costs a digit. False if the way is longer than that; y may have moved then.
    fn slide(
        &mut self,
        t: f64,
        y: &mut [f64],
        map: &Map,
        searches: &mut [Search],
    ) -> Result<bool, Fault> {
        let sizes = self.sizes(y);
        let mut before = f64::INFINITY;
        for round in 0..MAX_SLIDES {
            let residuals = self.residuals(t, y, map)?;
            if round == 0 {
                let jacobian = self.entries(map)?;
                if searches.iter().any(|search| search.is_lost(&jacobian)) {
                    return Ok(false);
                }
                for search in &mut *searches {
                    search.aim(map, (&jacobian, &residuals), &sizes, y);
                }
            } else {
                for search in &mut *searches {
                    search.aim_again(&residuals, y);
                }
            }
            let mut longest = 0.0_f64;
            for length in searches.iter().map(|search| search.length) {
                // `max` would drop a NaN.
                longest = if length.is_nan() {
                    length
                } else {
                    longest.max(length)
                };
            }
            // A move that is small and no longer becomes shorter is the noise of the evaluation.
            let is_shorter = longest <= GOOD_SLIDE * before;
            if longest <= SLID || !is_shorter && longest <= NOISE {
                return Ok(searches.iter().all(|search| search.is_met(&residuals)));
            }
            if !is_shorter || longest > MOST_SLIDE {
                return Ok(false);
            }
            for search in searches.iter().filter(|search| search.length > 0.0) {
                search.step(y);
            }
            before = longest;
        }
        Ok(false)
    }

    /// Moves y to the nearest state that meets constraints and invariants.
    pub(crate) fn project_on_constraints(
        &mut self,
        t: f64,
        y: &mut [f64],
    ) -> Result<Projection, Fault> {
        let image = self.image.clone();
        let map = &image.locks.map;
        if image.locks.n == 0 {
            return Ok(Projection::default());
        }

        let before = y.to_vec();
        let sizes = self.sizes(y);
        let mut searches = std::mem::take(&mut self.room.searches);
        if searches.is_empty() {
            let all: Vec<bool> = (0..y.len()).map(|k| k < image.states.len()).collect();
            let rows: Vec<usize> = (0..image.locks.n).collect();
            let parts = components(&map.rows, &rows, y.len());
            searches.extend(parts.into_iter().map(|part| Search {
                noise: NOISE_OF_PROJECTION,
                ..Search::new(part, &all)
            }));
        }

        // A dense factor with exchanges finds the best compromise of rows that nearly contradict each other, again at
        // every move: small loops near a dead centre need that.
        let has_slid = match searches.iter().all(|s| s.rows.len() > DENSE_ROWS) {
            true => self.slide(t, y, map, &mut searches),
            false => Ok(false),
        };
        if !matches!(has_slid, Ok(true)) {
            y.copy_from_slice(&before);
            searches.iter_mut().for_each(Search::renew);
        }

        let outcome = match has_slid {
            Ok(true) => Ok(Outcome::default()),
            _ => self.search(t, y, map, &mut searches),
        };
        self.room.searches = searches;
        let outcome = outcome?;
        if !outcome.unmet.is_empty() {
            y.copy_from_slice(&before);
            return Err(Fault::Projection);
        }

        self.refresh_unknowns(t, y)?;
        let size = (0..image.states.len())
            .map(|k| (y[k] - before[k]).abs() / sizes[k])
            .fold(0.0, f64::max);

        Ok(Projection {
            moved: size > 0.0,
            size,
        })
    }
}

/// What the demands of a start ask their rows to be; 0 where it is only a guess.
fn asked_of_rows(starts: &[StartInfo], values: &[f64], n_rows: usize) -> Vec<f64> {
    let mut asked = vec![0.0; n_rows];
    for (start, &value) in starts.iter().zip(values) {
        if let StartAim::Row(row) = start.aim
            && !start.is_guess
        {
            asked[row] = value;
        }
    }
    asked
}
