//! Slopes of aim and constraints, by differences where the problem does not know them.
//!
//! In:  a point of the unit cube with its values, and a step.
//! Out: slopes by central differences; one-sided ones at a face of the cube or beside a point without a value.

use crate::dense::Dense;
use crate::problem::{Evaluation, Slopes};

/// Why there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSlopes {
    /// No value on either side of this variable.
    Blocked,
    /// The search was ended.
    Ended,
}

/// Gives the values at a point, `Ok(None)` where there are none.
pub type TryAt<'t> = &'t mut dyn FnMut(&[f64]) -> Result<Option<Evaluation>, NoSlopes>;

/// Finds slopes at `x`; `try_at` gives values, `Ok(None)` where there are none.
///
/// # Errors
///
/// See [`NoSlopes`].
pub fn slopes(
    x: &[f64],
    here: &Evaluation,
    step: f64,
    try_at: TryAt<'_>,
) -> Result<Slopes, NoSlopes> {
    let mut found = Slopes {
        aim: vec![0.0; x.len()],
        constraints: Dense::zeros(here.constraints.len(), x.len()),
    };
    let mut at = x.to_vec();
    for k in 0..x.len() {
        // The difference of what is added, not of what was meant: rounding cancels.
        let mut side = |h: f64| {
            at[k] = x[k] + h;
            let moved = at[k] - x[k];
            let value = if (0.0..=1.0).contains(&at[k]) {
                try_at(&at)?
            } else {
                None
            };
            at[k] = x[k];
            Ok(value.map(|v| (moved, v)))
        };
        let (left, right) = (side(-step)?, side(step)?);
        let weights: Vec<(f64, Evaluation)> = match (left, right) {
            (Some((l, a)), Some((r, b))) => vec![(-1.0 / (r - l), a), (1.0 / (r - l), b)],
            // Three points on one side are as good as two on both.
            (None, Some((h, a))) => match side(2.0 * step)? {
                Some((_, b)) => vec![(-1.5 / h, here.clone()), (2.0 / h, a), (-0.5 / h, b)],
                None => vec![(-1.0 / h, here.clone()), (1.0 / h, a)],
            },
            (Some((h, a)), None) => match side(-2.0 * step)? {
                Some((_, b)) => vec![(-1.5 / h, here.clone()), (2.0 / h, a), (-0.5 / h, b)],
                None => vec![(-1.0 / h, here.clone()), (1.0 / h, a)],
            },
            (None, None) => return Err(NoSlopes::Blocked),
        };
        for (weight, value) in &weights {
            found.aim[k] += weight * value.aim;
            for (j, c) in value.constraints.iter().enumerate() {
                found.constraints[(j, k)] += weight * c;
            }
        }
    }
    Ok(found)
}
