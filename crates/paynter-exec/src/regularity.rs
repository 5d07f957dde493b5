//! Tells how far a closed mechanism is from a singular position.
//!
//! In:  a state.
//! Out: for each lock how much of its demand is new beside the locks before it, 1 at most at the start, in an order of
//!      elimination that stays. Demands are those on the rates of momenta; where storages depend on others some of these are
//!      solved for and not there to be looked at, and the same demands on positions stand for all. One vanishes where the mechanism is in line with itself and has more than one way to go on,
//!      or where the locks that were kept as independent ones no longer are.
//!
//! **Invariant:** nothing here changes the state or the equations.

use crate::failure::Fault;
use crate::least::LeastNorm;
use crate::machine::Machine;

/// What locks demand, as rows over momenta or positions.
#[derive(Clone, Debug)]
pub(crate) struct Demands {
    least: LeastNorm,
    /// The rows among the constraints.
    rows: Vec<usize>,
    /// For each row the variables it reads: (position in the state, place in the row).
    places: Vec<Vec<(u32, u32)>>,
    values: Vec<f64>,
    /// Empty until rows are first loaded.
    row_scales: Vec<f64>,
    column_scales: Vec<f64>,
}

impl Demands {
    /// None where no lock is kept by its rate or position.
    fn new(machine: &Machine) -> Option<Self> {
        let map = &machine.image.locks.map;
        let locks = &machine.image.locks;
        let dae = &machine.image.dae;
        let n_positions = dae.invariants.len() + dae.constraints.len();
        let n_rates = map.rows.len().checked_sub(n_positions)?;
        let n_states = machine.image.states.len();
        let is_rate_of_each = n_rates + locks.released.len() >= dae.constraints.len();
        let mut is_read = vec![false; machine.image.inputs.n];
        let mut mark = |rows: std::ops::Range<usize>, is: bool| {
            let columns = map.rows[rows].iter().flat_map(|row| row.iter());
            columns.for_each(|&c| is_read[c as usize] = is);
        };
        let rows: Vec<usize> = if is_rate_of_each {
            mark(0..n_rates, true);
            mark(n_rates..map.rows.len(), false);
            (0..n_rates).collect()
        } else {
            mark(n_rates..map.rows.len(), true);
            let is_kept = |lock: &usize| locks.released.binary_search(lock).is_err();
            let kept = (0..dae.constraints.len()).filter(is_kept);
            let invariants = n_rates + dae.constraints.len()..map.rows.len();
            kept.map(|lock| n_rates + lock).chain(invariants).collect()
        };

        let reads_of = |(at, &column): (usize, &u32)| {
            let is_state = (column as usize) < n_states && is_read[column as usize];
            is_state.then_some((column, at as u32))
        };
        let places: Vec<Vec<(u32, u32)>> = rows
            .iter()
            .map(|&row| map.rows[row].iter().enumerate())
            .map(|row| row.filter_map(reads_of).collect())
            .collect();
        if places.iter().all(Vec::is_empty) {
            return None;
        }

        let reads: Vec<Vec<u32>> = places
            .iter()
            .map(|row| row.iter().map(|p| p.0).collect())
            .collect();

        Some(Demands {
            least: LeastNorm::new(reads.iter().map(Vec::as_slice), n_states),
            values: vec![0.0; places.iter().map(Vec::len).sum()],
            rows,
            places,
            row_scales: Vec::new(),
            column_scales: Vec::new(),
        })
    }

    /// Loads the rows. Rows and variables are scaled by what their entries were when they were first loaded: a row that
    /// vanishes is as singular as one that others imply, and would not be seen if it were always made of length 1.
    fn load(&mut self, entries: &[Vec<f64>], n_states: usize) {
        if self.row_scales.is_empty() {
            self.scale(entries, n_states);
        }
        let mut first = 0;
        let rows = self.places.iter().zip(&self.rows);
        for ((row, &of), scale) in rows.zip(&self.row_scales) {
            let slopes = &entries[of];
            let own = &mut self.values[first..first + row.len()];
            first += row.len();
            for (value, &(column, at)) in own.iter_mut().zip(row) {
                *value = scale * slopes[at as usize] * self.column_scales[column as usize];
            }
        }
    }

    fn scale(&mut self, entries: &[Vec<f64>], n_states: usize) {
        let inverse = |square: f64| {
            if square > 0.0 {
                1.0 / square.sqrt()
            } else {
                1.0
            }
        };
        let mut squares = vec![0.0_f64; n_states];
        for (row, &of) in self.places.iter().zip(&self.rows) {
            let slopes = &entries[of];
            for &(column, at) in row {
                squares[column as usize] += slopes[at as usize].powi(2);
            }
        }
        self.column_scales = squares.into_iter().map(inverse).collect();
        let length = |(row, &of): (&Vec<(u32, u32)>, &usize)| {
            let scaled = row.iter().map(|&(column, at)| {
                entries[of][at as usize] * self.column_scales[column as usize]
            });
            inverse(scaled.map(|x| x * x).sum())
        };
        self.row_scales = self.places.iter().zip(&self.rows).map(length).collect();
    }
}

impl Machine {
    /// Appends the measures at a state; false if there is nothing to be measured.
    pub(crate) fn measure_regularity(
        &mut self,
        t: f64,
        y: &[f64],
        out: &mut Vec<f64>,
    ) -> Result<bool, Fault> {
        if !self.image.locks.closes_loops {
            return Ok(false);
        }
        let made = self
            .room
            .demands
            .take()
            .or_else(|| Demands::new(self).map(Box::new));
        let Some(mut demands) = made else {
            return Ok(false);
        };
        let image = self.image.clone();
        self.residuals(t, y, &image.locks.map)?;
        let entries = self.entries(&image.locks.map)?;
        demands.load(&entries, image.states.len());
        demands.least.factor(&demands.values);
        out.extend(demands.least.news().map(f64::sqrt));
        self.room.demands = Some(demands);
        Ok(true)
    }
}
