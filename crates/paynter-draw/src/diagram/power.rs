//! Power on a drawing: the width of a bond says how much flows through it.
//!
//! In:  a drawing and one power for each scalar bond: mean, effective or momentary, W.
//! Out: the same drawing with the share of each line in the largest power.

use super::Diagram;

/// Sets the share of each line from the powers of its bonds, by [`BondId`](paynter_model::BondId).
///
/// Components of a multibond add up. Bonds beyond the end of the list, and powers that are not
/// finite, count as zero.
pub fn color_by_power(diagram: &mut Diagram, powers: &[f64]) {
    let power = |bond: &paynter_model::BondId| {
        powers
            .get(bond.0 as usize)
            .copied()
            .filter(|p| p.is_finite())
            .unwrap_or(0.0)
            .abs()
    };
    let sums: Vec<f64> = diagram
        .bonds
        .iter()
        .map(|line| line.bonds.iter().map(power).sum())
        .collect();
    let largest = sums.iter().copied().fold(0.0, f64::max);
    for (line, sum) in diagram.bonds.iter_mut().zip(sums) {
        line.share = Some(if largest > 0.0 { sum / largest } else { 0.0 });
    }
}
