//! How the poles of a closed loop move with the gain of the loop.
//!
//! In:  the open loop L with the sign of negative feedback, and gains k.
//! Out: the roots of 1 + k L = 0 for each gain, in branches that belong together, and the gains at which stability changes.
//!
//! **Invariant:** every branch has a value for every gain; a gain at which the loop is singular has none that are finite.

use crate::eigen::{NoEigenvalues, eigenvalues};
use crate::{Channel, Complex, Matrix};

/// Poles of a closed loop over its gain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Locus {
    /// Ascending.
    pub gains: Vec<f64>,
    /// For each pole its way over the gains.
    pub branches: Vec<Vec<Complex>>,
    /// Gains at which poles cross the border of stability, and where.
    pub crossings: Vec<(f64, Complex)>,
}

/// Where stability ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// The imaginary axis.
    Axis,
    /// The unit circle, for models in steps.
    Circle,
}

impl Border {
    /// Positive for a pole that grows.
    pub fn growth(self, pole: Complex) -> f64 {
        match self {
            Border::Axis => pole.re,
            Border::Circle => pole.norm() - 1.0,
        }
    }
}

/// Computes the locus over ascending positive gains.
///
/// # Errors
///
/// As [`eigenvalues`].
pub fn root_locus(open: &Channel, gains: &[f64], border: Border) -> Result<Locus, NoEigenvalues> {
    let n = open.b.len();
    let mut locus = Locus {
        gains: gains.to_vec(),
        branches: vec![Vec::with_capacity(gains.len()); n],
        crossings: Vec::new(),
    };
    let mut before: Option<(f64, usize)> = None;
    for &gain in gains {
        let found = closed_poles(open, gain)?;
        let Some(found) = found else {
            let none = Complex::new(f64::NAN, f64::NAN);
            locus.branches.iter_mut().for_each(|b| b.push(none));
            before = None;
            continue;
        };
        let n_growing = growing(&found, border);
        if let Some((last, n_last)) = before
            && n_last != n_growing
        {
            let crossing = cross(open, (last, gain), n_last, border)?;
            locus.crossings.push(crossing);
        }
        before = Some((gain, n_growing));
        continue_branches(&mut locus.branches, found);
    }
    Ok(locus)
}

/// The roots of 1 + k L = 0; none where the loop is singular.
fn closed_poles(open: &Channel, gain: f64) -> Result<Option<Vec<Complex>>, NoEigenvalues> {
    let direct = 1.0 + gain * open.d.first().copied().unwrap_or(0.0);
    if direct == 0.0 {
        return Ok(None);
    }
    let n = open.b.len();
    let back = gain / direct;
    let a = Matrix::from_fn(n, n, |i, j| open.a[(i, j)] - open.b[i] * back * open.c[j]);
    eigenvalues(&a).map(Some)
}

fn growing(poles: &[Complex], border: Border) -> usize {
    poles.iter().filter(|p| border.growth(**p) > 0.0).count()
}

/// The gain at which the number of growing poles changes, by bisection, and the pole that is on the border there.
fn cross(
    open: &Channel,
    (mut low, mut high): (f64, f64),
    n_low: usize,
    border: Border,
) -> Result<(f64, Complex), NoEigenvalues> {
    loop {
        let middle = (low * high).sqrt();
        if !(middle > low && middle < high) {
            break;
        }
        match closed_poles(open, middle)? {
            Some(poles) if growing(&poles, border) == n_low => low = middle,
            _ => high = middle,
        }
    }
    let poles = closed_poles(open, high)?.unwrap_or_default();
    let nearest = poles.into_iter().filter(|p| p.im >= 0.0).min_by(|a, b| {
        let off = |p: &Complex| border.growth(*p).abs();
        off(a).total_cmp(&off(b))
    });
    Ok((high, nearest.unwrap_or(Complex::new(f64::NAN, f64::NAN))))
}

/// Gives each branch the pole nearest to where it was: the nearest pair first.
fn continue_branches(branches: &mut [Vec<Complex>], mut poles: Vec<Complex>) {
    let last = |b: &Vec<Complex>| b.iter().rev().find(|p| p.re.is_finite()).copied();
    let mut open: Vec<usize> = (0..branches.len()).collect();
    while !open.is_empty() {
        let pairs = open
            .iter()
            .flat_map(|&b| (0..poles.len()).map(move |p| (b, p)));
        let distance =
            |&(b, p): &(usize, usize)| last(&branches[b]).map_or(0.0, |at| (poles[p] - at).norm());
        let nearest = pairs.min_by(|x, y| distance(x).total_cmp(&distance(y)));
        let Some((branch, pole)) = nearest else {
            return;
        };
        let pole = poles.remove(pole);
        branches[branch].push(pole);
        open.retain(|&b| b != branch);
    }
}
