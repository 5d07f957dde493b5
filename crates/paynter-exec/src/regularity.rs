//! Tells how far a closed mechanism is from a singular position.
//!
//! In:  a state.
//! Out: for each lock how much of its demand on the rates is new beside the locks before it, 1 at most at the start, in an order of
//!      elimination that stays. One vanishes where the mechanism is in line with itself and has more than one way to go on,
//!      or where the locks that were kept as independent ones no longer are.
//!
//! **Invariant:** nothing here changes the state or the equations.

use crate::failure::Fault;
use crate::least::LeastNorm;
use crate::machine::Machine;

/// The rates that locks demand, as rows over momenta.
#[derive(Clone, Debug)]
pub(crate) struct Demands {
    least: LeastNorm,
    /// For each row the momenta it reads: (position in the state, place in the row).
    places: Vec<Vec<(u32, u32)>>,
    values: Vec<f64>,
    /// Empty until rows are first loaded.
    row_scales: Vec<f64>,
    column_scales: Vec<f64>,
}

impl Demands {
    /// None where no lock is kept by its rate.
    fn new(machine: &Machine) -> Option<Self> {
        let map = &machine.image.locks.map;
        let dae = &machine.image.dae;
        let n_positions = dae.invariants.len() + dae.constraints.len();
        let n_rows = map.rows.len().checked_sub(n_positions)?;
        let mut is_position = vec![false; machine.image.inputs.n];
        for row in &map.rows[n_rows..] {
            row.iter().for_each(|&c| is_position[c as usize] = true);
        }
        let n_states = machine.image.states.len();
        let momenta = |(at, &column): (usize, &u32)| {
            let is_momentum = (column as usize) < n_states && !is_position[column as usize];
            is_momentum.then_some((column, at as u32))
        };
        let places: Vec<Vec<(u32, u32)>> = map.rows[..n_rows]
            .iter()
            .map(|row| row.iter().enumerate().filter_map(momenta).collect())
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
            places,
            row_scales: Vec::new(),
            column_scales: Vec::new(),
        })
    }

    /// Loads the rows. Rows and momenta are scaled by what their entries were when they were first loaded: a row that
    /// vanishes is as singular as one that others imply, and would not be seen if it were always made of length 1.
    fn load(&mut self, entries: &[Vec<f64>], n_states: usize) {
        if self.row_scales.is_empty() {
            self.scale(entries, n_states);
        }
        let mut first = 0;
        for ((row, slopes), scale) in self.places.iter().zip(entries).zip(&self.row_scales) {
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
        for (row, slopes) in self.places.iter().zip(entries) {
            for &(column, at) in row {
                squares[column as usize] += slopes[at as usize].powi(2);
            }
        }
        self.column_scales = squares.into_iter().map(inverse).collect();
        let length = |(row, slopes): (&Vec<(u32, u32)>, &Vec<f64>)| {
            let scaled = row
                .iter()
                .map(|&(column, at)| slopes[at as usize] * self.column_scales[column as usize]);
            inverse(scaled.map(|x| x * x).sum())
        };
        self.row_scales = self.places.iter().zip(entries).map(length).collect();
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
