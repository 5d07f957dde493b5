//! How the start follows the parameters.
//!
//! In:  the demands on the start as rows G(x, θ) = 0.
//! Out: σ at the start: G_x σ = −G_θ for the states that demands set; others start where they start.
//!
//! **Invariant:** demands that leave open which state follows a parameter are refused.

use super::{LinearError, Model, model_error};
use paynter_design::code;
use paynter_design::design::Design;
use paynter_design::failure::explain_recording;
use paynter_linear::{Matrix, least_squares};
use paynter_syntax::Diagnostic;

/// What is left of a demand against its terms is rounding below this.
const ROUNDING: f64 = 1e-9;

impl Model {
    /// The start of states and sensitivities, counted in `scales`.
    pub(super) fn start(
        &mut self,
        design: &Design,
        scales: &[f64],
    ) -> Result<Vec<f64>, LinearError> {
        let (t, mut y) = (self.point_time, self.y.clone());
        let n = y.len();
        if let Err(error) = self.variational.evaluate(t, &y) {
            let machine = &mut self.variational.machine;
            let message = explain_recording(machine, error, t, &self.reduced, &design.graph);
            return Err(LinearError::Run(vec![message]));
        }

        let own = self.variational.own().to_vec();
        let unit = |place: usize, size: f64| {
            let mut direction = vec![0.0; n];
            direction[place] = size;
            direction
        };
        let columns: Vec<Vec<f64>> = own
            .iter()
            .map(|&place| self.variational.along(&unit(place, 1.0)))
            .collect();
        let n_states = self.variational.n_states();

        for (k, &scale) in scales.iter().enumerate() {
            let input = self.variational.input(k);
            let by_parameter = self.variational.along(&unit(input, scale));
            let mut sigma = vec![0.0; n_states];
            self.meet_demands(&columns, &by_parameter, &mut sigma)?;
            for &(place, row) in &self.late {
                let own_part: f64 = columns.iter().zip(&sigma).map(|(c, s)| c[row] * s).sum();
                if let Some(number) = own.iter().position(|&p| p == place) {
                    sigma[number] = own_part + by_parameter[row];
                }
            }
            y.extend(sigma);
        }
        Ok(y)
    }

    fn meet_demands(
        &self,
        columns: &[Vec<f64>],
        by_parameter: &[f64],
        sigma: &mut [f64],
    ) -> Result<(), LinearError> {
        if self.demands.iter().all(|&row| by_parameter[row] == 0.0) {
            return Ok(());
        }
        let involved: Vec<usize> = (0..columns.len())
            .filter(|&j| self.demands.iter().any(|&row| columns[j][row] != 0.0))
            .collect();

        // Rows and columns of one size: demands in volts and in radians count alike.
        let entry = |i: usize, j: usize| columns[involved[j]][self.demands[i]];
        let n_rows = self.demands.len();
        let largest = |all: &mut dyn Iterator<Item = f64>| all.fold(0.0_f64, |m, x| m.max(x.abs()));
        let of_row = |i: usize| match largest(&mut (0..involved.len()).map(|j| entry(i, j))) {
            0.0 => 1.0,
            size => size,
        };
        let rows: Vec<f64> = (0..n_rows).map(of_row).collect();
        let of_column = |j: usize| largest(&mut (0..n_rows).map(|i| entry(i, j) / rows[i]));
        let widths: Vec<f64> = (0..involved.len()).map(of_column).collect();
        let g = Matrix::from_fn(n_rows, involved.len(), |i, j| {
            entry(i, j) / rows[i] / widths[j]
        });
        let right: Vec<f64> = (0..n_rows)
            .map(|i| -by_parameter[self.demands[i]] / rows[i])
            .collect();
        let solved = least_squares(&g, &right).filter(|s| {
            let left = (0..n_rows).map(|i| {
                let met: f64 = g.row(i).iter().zip(&s.x).map(|(a, x)| a * x).sum();
                (met - right[i]).abs()
            });
            let size = right.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            s.rank == involved.len() && left.fold(0.0, f64::max) <= ROUNDING * size
        });

        let Some(solved) = solved else {
            return Err(model_error(
                Diagnostic::error(
                    code::NO_SENSITIVITY,
                    "the start values do not determine which state follows a parameter",
                )
                .primary(self.asked, "asked for here")
                .help("give each state its own start value, such as `start spring.q = …`"),
            ));
        };

        for (j, &state) in involved.iter().enumerate() {
            sigma[state] = solved.x[j] / widths[j];
        }
        Ok(())
    }
}
