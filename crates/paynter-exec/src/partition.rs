//! Minimal coordinates: as many variables are integrated as a mechanism has freedoms.
//!
//! In:  all positions and momenta, of which some follow from the others by locks and invariants.
//! Out: a choice of independent ones; at every evaluation the others are solved for, so that rates are a function of
//!      the independent variables alone: an ODE that cannot drift (generalised coordinate partitioning, Wehage &
//!      Haug 1982; the two levels of transformers of Allen 1979 are the two stages here).
//!
//! Positions come first: Newton's method on the locks and invariants. Rates are linear in the momenta and follow. Which
//! variables are independent is decided by orthogonal factors with exchanges, and again when the choice becomes bad.
//!
//! The solver carries dependent variables along: they begin each search near its end, and are replaced after each step.
//!
//! **Invariant:** rates, columns, guards and powers are those of a state that meets all constraints.

use paynter_solve::Projection;
use paynter_symbolic::SymbolId;

use crate::dense::{factor_lu, pivoted_qr, solve_lu};
use crate::failure::Fault;
use crate::machine::Machine;
use crate::pattern::Columns;

/// Rows beyond which a dense factor in every evaluation is no way to run a model.
pub const MAX_ROWS: usize = 400;

/// A direction in which rows change by less than this share of the strongest is none: assembled positions are exact
/// to about 1e-9 of themselves.
const NOISE: f64 = 1e-8;
/// A choice is made anew when its weakest pivot is this share of what it was: early, since a step may go as far again.
const FADED: f64 = 0.6;
/// A step of Newton's method that changes variables by this share of their sizes is the last.
const SETTLED: f64 = 1e-13;
/// A step this short that does not become shorter is rounding: near a dead centre it is amplified.
const ROUNDING: f64 = 1e-10;
/// Beyond this step the slopes are computed again.
const FAR: f64 = 1e-5;
/// Newton's method squares its error: a search this long goes nowhere.
const MAX_STEPS: usize = 25;
/// A momentum that moves a rate by less than this part of what another one does, per unit of it, moves it by rounding.
const FLAT: f64 = 1e-9;

/// Which variables follow from the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partition {
    /// Positions, then rates.
    stages: [Stage; 2],
    is_chosen: bool,
    /// How often a choice was made.
    n_choices: u64,
    /// Room for a state that meets the constraints.
    settled: Vec<f64>,
    /// The steepest slope of a rate that each variable had at any choice.
    steepest: Vec<f64>,
}

impl Partition {
    /// Keeps the steepest slopes of the rows of rates.
    fn note_slopes(&mut self, rows: &[Columns], entries: &[Vec<f64>], n: usize) {
        self.steepest.resize(n, 0.0);
        for (row, slopes) in rows.iter().zip(entries) {
            for (&c, slope) in row.iter().zip(slopes) {
                let steepest = &mut self.steepest[c as usize];
                *steepest = steepest.max(slope.abs());
            }
        }
    }
}

/// Rows that are met by solving for as many variables.
#[derive(Clone, Debug, Default)]
struct Stage {
    rows: Vec<usize>,
    /// Dependent variables, ascending.
    columns: Vec<usize>,
    /// Their sizes.
    sizes: Vec<f64>,
    /// Variables among which they were chosen, ascending, with their sizes.
    candidates: Vec<(usize, f64)>,
    /// The weakest pivot when the choice was made.
    weakest_at_choice: f64,
    weakest: f64,
    factor: Vec<f64>,
    scales: Vec<f64>,
    pivots: Vec<u32>,
    right: Vec<f64>,
}

impl Machine {
    /// Makes this machine run in minimal coordinates; false if it has too many constraints for that.
    pub fn use_minimal_coordinates(&mut self) -> bool {
        let is_possible = self.image.locks.n <= MAX_ROWS;
        if is_possible && self.image.locks.n > 0 {
            self.partition = Some(Box::default());
        }
        is_possible
    }

    /// Lists the variables that are integrated, at this state: all but those that follow from others.
    pub fn independent_states(&mut self, t: f64, y: &[f64]) -> Vec<SymbolId> {
        let mut is_dependent = vec![false; y.len()];
        if let Some(mut partition) = self.partition.take() {
            // Where no choice can be made the first evaluation says why.
            if partition.is_chosen || self.choose(t, y, &mut partition).is_ok() {
                let columns = partition.stages.iter().flat_map(|s| &s.columns);
                columns.for_each(|&c| is_dependent[c] = true);
            }
            self.partition = Some(partition);
        }
        let states = self.image.states.iter().zip(&is_dependent);
        states.filter(|s| !s.1).map(|s| *s.0).collect()
    }

    /// Tells how often independent variables were chosen again in the course of a run.
    pub fn n_rechosen(&self) -> u64 {
        let partition = self.partition.as_ref();
        partition.map_or(0, |p| p.n_choices.saturating_sub(1))
    }

    /// Calls with the state that meets all constraints and has the independent variables of `y`.
    pub(crate) fn with_settled<T>(
        &mut self,
        t: f64,
        y: &[f64],
        then: impl FnOnce(&mut Machine, &[f64]) -> T,
    ) -> Result<T, Fault> {
        let Some(mut partition) = self.partition.take() else {
            return Ok(then(self, y));
        };
        let mut settled = std::mem::take(&mut partition.settled);
        settled.clear();
        settled.extend_from_slice(y);
        let outcome = self.settle_with(t, &mut settled, &mut partition);
        let result = outcome.map(|()| then(self, &settled));
        partition.settled = settled;
        self.partition = Some(partition);
        result
    }

    /// Moves the dependent variables of `y` to where the independent ones want them, and chooses again if need be.
    pub(crate) fn settle(&mut self, t: f64, y: &mut [f64]) -> Result<Projection, Fault> {
        let Some(mut partition) = self.partition.take() else {
            return Ok(Projection::default());
        };
        let before = y.to_vec();
        let mut outcome = self.settle_with(t, y, &mut partition);
        let is_faded = |s: &Stage| s.weakest < FADED * s.weakest_at_choice;
        if outcome.is_ok() && partition.stages.iter().any(is_faded) {
            outcome = self.choose(t, y, &mut partition);
        }
        self.partition = Some(partition);
        outcome?;
        let sizes = self.sizes(y);
        let moves = before.iter().zip(&*y).zip(&sizes);
        let size = moves.map(|((a, b), size)| (a - b).abs() / size);
        let size = size.fold(0.0, f64::max);
        Ok(Projection {
            moved: size > 0.0,
            size,
        })
    }

    fn settle_with(
        &mut self,
        t: f64,
        y: &mut [f64],
        partition: &mut Partition,
    ) -> Result<(), Fault> {
        if !partition.is_chosen {
            self.choose(t, y, partition)?;
        }
        for stage in &mut partition.stages {
            self.solve_stage(t, y, stage)?;
        }
        Ok(())
    }

    fn solve_stage(&mut self, t: f64, y: &mut [f64], stage: &mut Stage) -> Result<(), Fault> {
        let image = self.image.clone();
        let map = &image.locks.map;
        let n = stage.rows.len();
        let mut must_factor = true;
        let mut before = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            let residuals = self.residuals(t, y, map)?;
            if must_factor {
                let entries = self.entries(map)?;
                stage.factor(&map.rows, &entries)?;
            }
            stage.right.clear();
            stage
                .right
                .extend(stage.rows.iter().map(|&row| -residuals[row]));
            let Stage {
                factor,
                scales,
                pivots,
                right,
                ..
            } = &mut *stage;
            solve_lu(factor, n, scales, pivots, right);
            let length = right.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            if !length.is_finite() {
                return Err(Fault::Projection);
            }
            let moves = stage.right.iter().zip(&stage.sizes);
            for (&column, (dx, size)) in stage.columns.iter().zip(moves) {
                y[column] += dx * size;
            }
            let is_rounding = length <= ROUNDING && length > 0.5 * before;
            if length <= SETTLED || is_rounding {
                return Ok(());
            }
            before = length;
            must_factor = length > FAR;
        }
        Err(Fault::Projection)
    }

    /// Chooses independent variables at a state near the constraints.
    fn choose(&mut self, t: f64, y: &[f64], partition: &mut Partition) -> Result<(), Fault> {
        let image = self.image.clone();
        let map = &image.locks.map;
        let n_rows = map.rows.len();
        let n_position_rows = image.dae.invariants.len() + image.dae.constraints.len();
        let first_position = n_rows - n_position_rows;
        let mut is_position = vec![false; y.len()];
        for row in &map.rows[first_position..] {
            row.iter().for_each(|&c| is_position[c as usize] = true);
        }

        self.residuals(t, y, map)?;
        let entries = self.entries(map)?;
        let n_states = image.states.len();
        let of = |wants_position: bool| -> Vec<usize> {
            (0..n_states)
                .filter(|&c| is_position[c] == wants_position)
                .collect()
        };
        partition.note_slopes(&map.rows[..first_position], &entries, y.len());
        let slopes = Slopes {
            rows: &map.rows,
            entries: &entries,
            y,
            steepest: &partition.steepest,
        };

        partition.stages = [
            slopes.choose((first_position..n_rows).collect(), of(true)),
            slopes.choose((0..first_position).collect(), of(false)),
        ];
        for stage in &mut partition.stages {
            stage.factor(&map.rows, &entries)?;
            stage.weakest_at_choice = stage.weakest;
        }

        partition.is_chosen = true;
        partition.n_choices += 1;
        Ok(())
    }
}

/// The slopes of constraints at a point.
struct Slopes<'a> {
    rows: &'a [Columns],
    entries: &'a [Vec<f64>],
    y: &'a [f64],
    /// The steepest slope of a rate that each variable had so far.
    steepest: &'a [f64],
}

impl Slopes<'_> {
    /// The size of each candidate: positions have their own, of lengths and turns; momenta that of a common speed, so that
    /// heavy and light bodies count alike.
    ///
    /// The steepest slope of a momentum is that of its inertia, as soon as it has had it: one that happens to be flat
    /// here would be magnified to be as good as any other. One that is always flat but for rounding has no size.
    fn sizes(&self, rows: &[usize], candidates: &[usize]) -> Vec<f64> {
        let is_foreign = |c: &u32| candidates.binary_search(&(*c as usize)).is_err();
        // Rates read positions as well; positions read nothing else.
        let is_rate = rows
            .iter()
            .any(|&row| self.rows[row].iter().any(is_foreign));
        let steepest = candidates.iter().map(|&c| self.steepest[c]);
        let flattest = FLAT * steepest.fold(0.0, f64::max);
        let size = |&c: &usize| match self.steepest[c] > 0.0 && is_rate {
            true => 1.0 / self.steepest[c].max(flattest),
            false => self.y[c].abs().max(1.0),
        };
        candidates.iter().map(size).collect()
    }

    /// Picks rows that say something new, and for them the variables that they determine best.
    fn choose(&self, rows: Vec<usize>, candidates: Vec<usize>) -> Stage {
        let (m, n) = (rows.len(), candidates.len());
        let sizes = self.sizes(&rows, &candidates);
        let mut matrix = vec![0.0; m * n];
        for (k, &row) in rows.iter().enumerate() {
            let own = &mut matrix[k * n..(k + 1) * n];
            for (&c, &slope) in self.rows[row].iter().zip(&self.entries[row]) {
                if let Ok(place) = candidates.binary_search(&(c as usize)) {
                    own[place] = slope * sizes[place];
                }
            }
            let norm = own.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm > 0.0 {
                own.iter_mut().for_each(|x| *x /= norm);
            }
        }

        let mut transposed = vec![0.0; m * n];
        for k in 0..m {
            (0..n).for_each(|c| transposed[c * m + k] = matrix[k * n + c]);
        }

        let by_rows = pivoted_qr(&transposed, n, m, NOISE);
        let mut kept: Vec<usize> = by_rows.order[..by_rows.rank].to_vec();
        kept.sort_unstable();
        let independent: Vec<f64> = kept
            .iter()
            .flat_map(|&k| matrix[k * n..(k + 1) * n].iter().copied())
            .collect();
        let by_columns = pivoted_qr(&independent, kept.len(), n, 0.0);
        let mut places = by_columns.order[..kept.len()].to_vec();
        places.sort_unstable();

        Stage {
            rows: kept.iter().map(|&k| rows[k]).collect(),
            columns: places.iter().map(|&c| candidates[c]).collect(),
            sizes: places.iter().map(|&c| sizes[c]).collect(),
            candidates: candidates.into_iter().zip(sizes).collect(),
            ..Stage::default()
        }
    }
}

impl Stage {
    fn factor(&mut self, rows: &[Columns], entries: &[Vec<f64>]) -> Result<(), Fault> {
        let n = self.rows.len();
        self.factor.clear();
        self.factor.resize(n * n, 0.0);
        self.scales.resize(n, 1.0);
        self.pivots.resize(n, 0);
        // A row whose dependent variables fade against the independent ones is as bad as a small pivot.
        let mut least_share = 1.0_f64;
        for (k, &row) in self.rows.iter().enumerate() {
            let (mut dependent, mut all) = (0.0_f64, 0.0_f64);
            for (&c, &slope) in rows[row].iter().zip(&entries[row]) {
                let c = c as usize;
                if let Ok(place) = self.candidates.binary_search_by_key(&c, |x| x.0) {
                    all = all.max((slope * self.candidates[place].1).abs());
                }
                if let Ok(place) = self.columns.binary_search(&c) {
                    let entry = slope * self.sizes[place];
                    self.factor[k * n + place] = entry;
                    dependent = dependent.max(entry.abs());
                }
            }
            least_share = least_share.min(dependent / all);
        }
        factor_lu(&mut self.factor, n, &mut self.scales, &mut self.pivots)
            .map_err(|_| Fault::Projection)?;
        let pivots = (0..n).map(|k| self.factor[k * n + k].abs());
        self.weakest = least_share * pivots.fold(1.0, f64::min);
        Ok(())
    }
}
