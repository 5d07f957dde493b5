//! Finds locks whose reaction has no direction where they hold.
//!
//! In:  a state.
//! Out: locks whose position has no slope there: a distance that is held at zero, an angle between axes that is held where
//!      they are in line. Such a lock is not a smooth surface, and what moves on it turns round within a rounding of lengths.
//!
//! **Invariant:** nothing here changes the equations.

use paynter_symbolic::reduced::Reduced;

use crate::assemble::Gradients;
use crate::failure::Fault;
use crate::lower::{Engine, lower};
use crate::machine::Machine;
use crate::start::aside;

/// How far apart the two states are whose slopes are compared, as a share of the usual way aside (a hundredth of sizes at
/// most): above the roundings that an assembled state has, and far below any length of a mechanism.
const APART: f64 = 1e-10;
/// Slopes that differ by this much of themselves between two such states belong to no smooth surface.
const TURNED: f64 = 0.1;

/// Lists the locks (by position in `Dae::constraints`) that have no direction at this state.
pub fn without_direction(reduced: &Reduced, t: f64, place: &[f64]) -> Vec<usize> {
    let Ok(mut machine) = lower(reduced, &[], Engine::Interpreter) else {
        return Vec::new();
    };
    if place.len() != machine.image.inputs.n {
        return Vec::new();
    }
    machine
        .locks_without_direction(t, place)
        .unwrap_or_default()
}

impl Machine {
    /// Lists the locks that have no direction at this state. The machine is left at another one.
    pub(crate) fn locks_without_direction(
        &mut self,
        t: f64,
        y: &[f64],
    ) -> Result<Vec<usize>, Fault> {
        let image = self.image.clone();
        let map = &image.locks.map;
        let sizes = self.sizes(y);
        let mut slopes_at = |sign: f64| {
            let shifted = y.iter().zip(&sizes).enumerate();
            let shifted: Vec<f64> = shifted
                .map(|(k, (x, size))| x + sign * APART * size * aside(k))
                .collect();
            self.residuals(t, &shifted, map)?;
            self.entries(map)
        };

        let sides = [slopes_at(1.0)?, slopes_at(-1.0)?];
        let [one, other] = sides
            .each_ref()
            .map(|side| Gradients::new(map, side, &sizes));
        let last_row = map.rows.len() - image.dae.invariants.len();
        let first_row = last_row - image.dae.constraints.len();
        let is_undefined = |row: usize| sides.iter().any(|s| s[row].iter().any(|x| !x.is_finite()));
        let has_turned = |row: usize| {
            let pairs = one.row(row).1.iter().zip(other.row(row).1);
            let distance = pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            one.lengths[row] > 0.0 && other.lengths[row] > 0.0 && distance > TURNED
        };
        let locks = 0..image.dae.constraints.len();
        Ok(locks
            .filter(|lock| is_undefined(first_row + lock) || has_turned(first_row + lock))
            .collect())
    }
}
