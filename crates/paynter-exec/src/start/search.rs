//! The search for states that meet a group of rows: damped Gauss–Newton with orthogonal factors.
//!
//! In:  rows of a map, the variables that are free, residuals and slopes at a point.
//! Out: steps towards a point at which all rows are zero, moving the variables as little as possible; or the rows that
//!      stay open.
//!
//! **Invariant:** a step is only kept if it makes the residuals smaller in the measure of the variables.

use super::*;

/// What a search found.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// Rows that are not zero, with their values.
    pub unmet: Vec<(usize, f64)>,
    /// Variables that the rows determine.
    pub determined: Vec<usize>,
}

/// The search in one group of rows and variables.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(super) rows: Vec<usize>,
    /// Free variables.
    pub(super) columns: Vec<usize>,
    pub(super) step: Vec<f64>,
    pub(super) weights: Vec<f64>,
    /// How much each row counts beside that: 1 but for rows that may stay open if others can be met.
    pub(super) urgency: Vec<f64>,
    pub(super) norm: f64,
    pub(super) damping: f64,
    /// Size of the step in the measure of the variables.
    pub(super) length: f64,
    pub(super) pivots: Vec<usize>,
    pub(super) is_done: bool,
    pub(super) was_better: bool,
    /// No lock is among the rows: where all of them are met nothing has to move, whatever their slopes are.
    pub(super) may_stay: bool,
    /// A direction in which rows change by less than this share of the strongest is none.
    pub(super) noise: f64,
    /// For many rows, the sparse way to a step.
    pub(super) sparse: Option<Box<SparseRows>>,
    /// For few rows, the dense one.
    pub(super) dense: Option<PivotedQr>,
    /// Sizes of the free variables when the factor was made.
    pub(super) sizes: Vec<f64>,
}

/// Rows too many for a dense factor.
#[derive(Clone, Debug)]
pub(super) struct SparseRows {
    least: LeastNorm,
    /// For each row the free columns it reads: (place among them, place in the row).
    places: Vec<Vec<(u32, u32)>>,
    values: Vec<f64>,
}

impl SparseRows {
    pub(super) fn new(map: &Map, rows: &[usize], columns: &[usize]) -> Self {
        let free = |(at, column): (usize, &u32)| {
            let place = columns.binary_search(&(*column as usize)).ok()?;
            Some((place as u32, at as u32))
        };
        let places: Vec<Vec<(u32, u32)>> = rows
            .iter()
            .map(|&row| map.rows[row].iter().enumerate().filter_map(free).collect())
            .collect();
        let reads: Vec<Vec<u32>> = places
            .iter()
            .map(|row| row.iter().map(|p| p.0).collect())
            .collect();
        SparseRows {
            least: LeastNorm::new(reads.iter().map(Vec::as_slice), columns.len()),
            values: vec![0.0; places.iter().map(Vec::len).sum()],
            places,
        }
    }

    /// Picks for each row that is not implied a variable that it can be thought to determine.
    pub(super) fn pivots(&self) -> Vec<usize> {
        let implied = self.least.implied();
        let mut first = 0;
        let mut picked = std::collections::BTreeSet::new();
        for (row, is_implied) in self.places.iter().zip(implied) {
            let values = &self.values[first..first + row.len()];
            first += row.len();
            let open = row
                .iter()
                .zip(values)
                .filter(|(p, _)| !picked.contains(&p.0));
            let best = open.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
            if let Some((place, _)) = best.filter(|_| !is_implied) {
                picked.insert(place.0);
            }
        }
        picked.into_iter().map(|place| place as usize).collect()
    }
}

impl Search {
    pub(super) fn new(part: Component, is_free: &[bool]) -> Self {
        let columns: Vec<usize> = part.columns.into_iter().filter(|&c| is_free[c]).collect();
        Search {
            noise: NOISE,
            sparse: None,
            dense: None,
            sizes: Vec::new(),
            is_done: columns.is_empty(),
            step: vec![0.0; columns.len()],
            weights: vec![1.0; part.rows.len()],
            urgency: vec![1.0; part.rows.len()],
            rows: part.rows,
            columns,
            norm: f64::INFINITY,
            damping: 1.0,
            length: 0.0,
            pivots: Vec::new(),
            was_better: false,
            may_stay: false,
        }
    }

    /// Begins anew with the same rows and variables.
    pub(super) fn renew(&mut self) {
        self.is_done = self.columns.is_empty();
        self.norm = f64::INFINITY;
        self.damping = 1.0;
        self.was_better = false;
    }

    /// Tells whether rows are met, in the measure of the variables: those that contradict each other are not, however
    /// short the best step is.
    pub(super) fn is_met(&self, residuals: &[f64]) -> bool {
        let mut rows = self.rows.iter().zip(&self.weights);
        rows.all(|(&row, &weight)| match weight > 0.0 {
            true => residuals[row].abs() * weight <= MET,
            false => residuals[row] == 0.0,
        })
    }

    /// Computes the next step with the factor that is there.
    pub(super) fn aim_again(&mut self, residuals: &[f64], y: &[f64]) {
        let rows = self.rows.iter().zip(&self.weights);
        let right: Vec<f64> = rows
            .map(|(&row, weight)| -residuals[row] * weight)
            .collect();
        self.damping = 1.0;
        self.length = 0.0;
        match (&mut self.sparse, &self.dense) {
            (Some(sparse), _) => sparse.least.solve(&sparse.values, &right, &mut self.step),
            (None, Some(qr)) => self.step = qr.least_squares(&right),
            (None, None) => return,
        }
        let columns = self.columns.iter().zip(&self.sizes);
        for ((&column, &size), dx) in columns.zip(&mut self.step) {
            *dx *= size;
            let share = dx.abs() / size.max(y[column].abs());
            // `max` would drop a NaN.
            self.length = if share.is_nan() {
                share
            } else {
                self.length.max(share)
            };
        }
    }

    /// Computes the next step: of all that solve the linearised rows best, the shortest.
    pub(super) fn aim(
        &mut self,
        map: &Map,
        (jacobian, residuals): (&[Vec<f64>], &[f64]),
        sizes: &[f64],
        y: &[f64],
    ) {
        if self.columns.is_empty() {
            return;
        }
        if self.rows.len() > DENSE_ROWS {
            self.aim_sparse(map, (jacobian, residuals), sizes);
        } else {
            self.aim_dense(map, (jacobian, residuals), sizes);
        }
        self.sizes.clear();
        self.sizes.extend(self.columns.iter().map(|&c| sizes[c]));
        self.length = 0.0;
        for (&column, dx) in self.columns.iter().zip(&mut self.step) {
            *dx *= sizes[column];
            let share = dx.abs() / (sizes[column].max(y[column].abs()));
            self.length = self.length.max(share);
        }
        // A step that rounding swallows ends the search.
        self.is_done = self.length <= 2.0 * f64::EPSILON || !self.norm.is_finite();
    }

    pub(super) fn aim_dense(
        &mut self,
        map: &Map,
        (jacobian, residuals): (&[Vec<f64>], &[f64]),
        sizes: &[f64],
    ) {
        let (m, n) = (self.rows.len(), self.columns.len());
        let mut matrix = vec![0.0; m * n];
        let mut right = vec![0.0; m];
        for (k, &row) in self.rows.iter().enumerate() {
            for (&column, &value) in map.rows[row].iter().zip(&jacobian[row]) {
                if let Ok(c) = self.columns.binary_search(&(column as usize)) {
                    matrix[k * n + c] = value * sizes[column as usize];
                }
            }
            self.weights[k] = self.urgency[k] * weight_of(&matrix[k * n..(k + 1) * n]);
            matrix[k * n..(k + 1) * n]
                .iter_mut()
                .for_each(|x| *x *= self.weights[k]);
            right[k] = -residuals[row] * self.weights[k];
        }
        self.norm = right.iter().map(|x| x * x).sum::<f64>().sqrt();
        let qr = pivoted_qr(&matrix, m, n, self.noise);
        self.step = qr.least_squares(&right);
        self.pivots = qr.order[..qr.rank]
            .iter()
            .map(|&c| self.columns[c])
            .collect();
        self.dense = Some(qr);
    }

    pub(super) fn aim_sparse(
        &mut self,
        map: &Map,
        (jacobian, residuals): (&[Vec<f64>], &[f64]),
        sizes: &[f64],
    ) {
        let mut sparse = self
            .sparse
            .take()
            .unwrap_or_else(|| Box::new(SparseRows::new(map, &self.rows, &self.columns)));
        let SparseRows {
            least,
            places,
            values,
        } = &mut *sparse;
        let mut right = vec![0.0; self.rows.len()];
        let mut first = 0;
        for (k, (&row, reads)) in self.rows.iter().zip(places).enumerate() {
            let own = &mut values[first..first + reads.len()];
            first += reads.len();
            for (value, &(place, at)) in own.iter_mut().zip(&*reads) {
                *value = jacobian[row][at as usize] * sizes[self.columns[place as usize]];
            }
            self.weights[k] = self.urgency[k] * weight_of(own);
            own.iter_mut().for_each(|x| *x *= self.weights[k]);
            right[k] = -residuals[row] * self.weights[k];
        }

        self.norm = right.iter().map(|x| x * x).sum::<f64>().sqrt();
        least.factor(values);
        least.solve(values, &right, &mut self.step);
        self.sparse = Some(sparse);
    }

    /// Tells whether some row has no slope here: two axes point in opposite directions, and every way to turn one
    /// round is as good as any other.
    pub(super) fn is_lost(&self, jacobian: &[Vec<f64>]) -> bool {
        let has_slope = |&row: &usize| jacobian[row].iter().all(|slope| !slope.is_nan());
        !self.columns.is_empty() && !self.rows.iter().all(has_slope)
    }

    /// Tells whether all rows are met as they are and may stay so without a slope: `start spring.q = length` where the
    /// length is zero.
    pub(super) fn stays(&self, residuals: &[f64]) -> bool {
        self.may_stay && self.rows.iter().all(|&row| residuals[row] == 0.0)
    }

    /// Tells whether a place without slopes must be left.
    pub(super) fn must_leave(&self, jacobian: &[Vec<f64>]) -> bool {
        !self.is_done && self.is_lost(jacobian)
    }

    /// Leaves such a place in a direction of its own for each variable, the same on every machine.
    pub(super) fn step_aside(&self, sizes: &[f64], y: &mut [f64]) {
        for (k, &column) in self.columns.iter().enumerate() {
            y[column] += aside(k) * sizes[column];
        }
    }

    pub(super) fn step(&self, y: &mut [f64]) {
        for (&column, dx) in self.columns.iter().zip(&self.step) {
            y[column] += self.damping * dx;
        }
    }

    /// Takes its part of a trial over into `y` if that is better there; else tries a shorter step next. `residuals` are
    /// those of the trial, where it has any.
    pub(super) fn take(&mut self, trial: &[f64], y: &mut [f64], residuals: Option<&[f64]>) {
        self.was_better = residuals.is_some_and(|residuals| self.is_better(residuals));
        if self.was_better {
            self.columns.iter().for_each(|&c| y[c] = trial[c]);
        } else {
            self.damping *= 0.5;
            // So small a step that does not help is the noise of the evaluation.
            self.is_done = self.damping < 1e-8 || self.length < NOISE;
        }
    }

    pub(super) fn is_better(&self, residuals: &[f64]) -> bool {
        let norm = self
            .rows
            .iter()
            .zip(&self.weights)
            .map(|(&row, weight)| (residuals[row] * weight).powi(2))
            .sum::<f64>()
            .sqrt();
        norm < (1.0 - 1e-3 * self.damping) * self.norm
    }

    pub(super) fn judge(
        &self,
        map: &Map,
        (jacobian, residuals): (&[Vec<f64>], &[f64]),
        (y, sizes): (&[f64], &[f64]),
        outcome: &mut Outcome,
    ) {
        outcome.determined.extend(&self.pivots);
        if let Some(sparse) = &self.sparse {
            let pivots = sparse.pivots().into_iter();
            outcome.determined.extend(pivots.map(|k| self.columns[k]));
        }
        for &row in &self.rows {
            // A demand is made of its parts: it is met when it misses by a small share of them.
            let parts: f64 = map.rows[row]
                .iter()
                .zip(&jacobian[row])
                .map(|(&c, slope)| slope.abs() * (y[c as usize].abs() + 1e-3 * sizes[c as usize]))
                .sum();
            let has_slope = jacobian[row].iter().all(|slope| !slope.is_nan());
            let is_met = residuals[row].abs() <= MET * parts
                || (residuals[row] == 0.0 && (has_slope || self.may_stay));
            if !is_met {
                outcome.unmet.push((row, residuals[row]));
            }
        }
    }
}

/// How far aside the k-th variable is put, as a share of its size.
pub(crate) fn aside(k: usize) -> f64 {
    // Multiples of the golden section are spread evenly.
    let share = (0.618_033_988_749_895 * (k + 1) as f64).fract() - 0.5;
    ASIDE * share
}

/// Rows count in the measure of the variables: ohms do not outweigh farads.
fn weight_of(row: &[f64]) -> f64 {
    let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > 0.0 && norm.is_finite() {
        1.0 / norm
    } else {
        0.0
    }
}
