//! What is searched: an aim and constraints over the unit cube.
//!
//! In:  points of the unit cube.
//! Out: [`Trial`]s: a value, no value, or the end of the search; exact slopes, where the problem has them.

use crate::dense::Dense;

/// Slopes at a point.
#[derive(Clone, Debug)]
pub struct Slopes {
    /// Of the aim.
    pub aim: Vec<f64>,
    /// Of each constraint, by rows.
    pub constraints: Dense,
}

impl Slopes {
    /// Tells whether every number is one.
    pub fn is_finite(&self) -> bool {
        let constraints = self.constraints.entries.iter();
        self.aim.iter().chain(constraints).all(|s| s.is_finite())
    }
}

/// A function to make small, under constraints.
///
/// Variables lie between 0 and 1: whoever states the problem knows their sizes.
pub trait Problem: Sync {
    /// Number of variables.
    fn n_variables(&self) -> usize;
    /// Number of constraints.
    fn n_constraints(&self) -> usize;
    /// Tries a point.
    fn evaluate(&self, x: &[f64]) -> Trial;
    /// Slopes of aim and constraints at a point that has values, where they are known without differences.
    fn slopes(&self, _x: &[f64]) -> Option<Slopes> {
        None
    }
    /// Sizes of constraints, where they are known beforehand: limits, say.
    fn constraint_sizes(&self) -> Vec<Option<f64>> {
        vec![None; self.n_constraints()]
    }
    /// How far a constraint can be from its limit at all: an equality is two constraints with a little room between
    /// them.
    fn room(&self, _constraint: usize) -> f64 {
        f64::INFINITY
    }
}

/// What trying a point gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Trial {
    /// Values.
    Good(Evaluation),
    /// No values there; the search goes on elsewhere.
    Bad,
    /// The search was ended from outside.
    Ended,
}

/// Values at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// What is to become small.
    pub aim: f64,
    /// What is not to be positive.
    pub constraints: Vec<f64>,
}

impl Evaluation {
    /// Tells whether every number is one.
    pub fn is_finite(&self) -> bool {
        self.aim.is_finite() && self.constraints.iter().all(|c| !c.is_nan())
    }

    /// Tells whether all constraints hold.
    pub fn is_feasible(&self) -> bool {
        self.constraints.iter().all(|c| *c <= 0.0)
    }

    /// Sum of the violations, each in its scale.
    pub fn violation(&self, scales: &Scales) -> f64 {
        let each = self.constraints.iter().zip(&scales.constraints);
        each.map(|(c, s)| c.max(0.0) / s).sum()
    }
}

/// A point that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Where.
    pub x: Vec<f64>,
    /// What it gave; none where it has no value.
    pub value: Option<Evaluation>,
}

/// Sizes by which values are compared.
///
/// Far from the best point values may be astronomic: what is unstable grows without bound. Beyond a few sizes they are
/// compressed to their logarithm, smoothly and without changing which is larger.
#[derive(Clone, Debug, PartialEq)]
pub struct Scales {
    /// The best aim of the sample: above it aims are compressed.
    pub centre: f64,
    /// Of the aim.
    pub aim: f64,
    /// Of each constraint.
    pub constraints: Vec<f64>,
}

impl Scales {
    /// Reads the sizes off the better quarter of a sample; the problem may know those of its constraints.
    pub fn of(sample: &[Evaluation], known: &[Option<f64>]) -> Self {
        let mut scales = Scales {
            centre: 0.0,
            aim: 1.0,
            constraints: known.iter().map(|k| k.unwrap_or(1.0)).collect(),
        };
        for (k, size) in known.iter().enumerate() {
            if size.is_none() {
                let sizes = sample.iter().map(|e| e.constraints[k].abs());
                scales.constraints[k] = low_quartile(sizes).unwrap_or(1.0);
            }
        }
        let mut best: Vec<&Evaluation> = sample.iter().collect();
        best.sort_by(|a, b| compare(a, b, &scales));
        best.truncate(sample.len().div_ceil(4).max(4));
        let aims = || best.iter().map(|e| e.aim);
        scales.centre = aims().fold(f64::INFINITY, f64::min);
        if !scales.centre.is_finite() {
            scales.centre = 0.0;
        }
        let distances = aims().map(|a| a - scales.centre).filter(|d| *d > 0.0);
        let size = scales.centre.abs();
        let spread = low_quartile(distances).filter(|s| *s > 1e-9 * size);
        scales.aim = spread.unwrap_or(if size > 0.0 { size } else { 1.0 });
        scales
    }

    /// The aim in its size, compressed above the centre.
    pub fn aim_of(&self, aim: f64) -> f64 {
        let x = (aim - self.centre) / self.aim;
        if x > 0.0 { x.asinh() } else { x }
    }

    /// A constraint in its size, compressed on both sides.
    pub fn constraint_of(&self, k: usize, value: f64) -> f64 {
        (value / self.constraints[k]).asinh()
    }

    /// Slopes of the values that [`Scales::aim_of`] and [`Scales::constraint_of`] give, from those of the values
    /// themselves, at a point with these scaled values.
    pub fn slopes_of(&self, mut slopes: Slopes, at: &Evaluation) -> Slopes {
        // asinh has the slope 1/√(1 + x²), and x = sinh(asinh x): 1/cosh of the scaled value.
        let by_aim = 1.0 / (self.aim * at.aim.max(0.0).cosh());
        slopes.aim.iter_mut().for_each(|s| *s *= by_aim);
        let n = slopes.aim.len();
        for (j, c) in at.constraints.iter().enumerate() {
            let by_constraint = 1.0 / (self.constraints[j] * c.cosh());
            for k in 0..n {
                slopes.constraints[(j, k)] *= by_constraint;
            }
        }
        slopes
    }

    /// The multiplier of a constraint, from that of the compressed values.
    pub fn multiplier(&self, k: usize, compressed: f64, at: &Evaluation) -> f64 {
        let x = ((at.aim - self.centre) / self.aim).max(0.0);
        let c = at.constraints[k] / self.constraints[k];
        // dλ: slopes of asinh are 1/√(1 + x²).
        compressed * (self.aim * (1.0 + x * x).sqrt())
            / (self.constraints[k] * (1.0 + c * c).sqrt())
    }
}

/// The value below which a quarter of the positive finite ones lie.
fn low_quartile(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|x| x.is_finite() && *x > 0.0).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 4).copied()
}

/// Order of points, the better first: feasible ones by aim, others by violation (Deb 2000).
pub fn compare(a: &Evaluation, b: &Evaluation, scales: &Scales) -> std::cmp::Ordering {
    match (a.is_feasible(), b.is_feasible()) {
        (true, true) => a.aim.total_cmp(&b.aim),
        (true, false) => std::cmp::Ordering::Less,
        (false, true) => std::cmp::Ordering::Greater,
        (false, false) => a.violation(scales).total_cmp(&b.violation(scales)),
    }
}

/// The better of two values that may be missing.
pub fn is_better(a: Option<&Evaluation>, b: Option<&Evaluation>, scales: &Scales) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => compare(a, b, scales).is_lt(),
        (Some(_), None) => true,
        (None, _) => false,
    }
}
