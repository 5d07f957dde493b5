//! Power on a drawing: the band behind a bond says how much flows through it, a triangle whereto.
//!
//! In:  one power for each scalar bond, mean or momentary.
//! Out: [`LinePower`] for each line of a drawing, and a scale that says what the bands mean.
//!
//! **Invariant:** components of a multibond add up with their signs; a line whose power is not finite
//! has none and is said so at the line, never drawn as zero.

use super::arrange::unit;
use super::{Diagram, Line, Point};
use crate::sankey::with_prefix;

/// Powers of a graph at an instant, or their means.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PowerFlow {
    /// Along the half arrow of each bond, by [`BondId`](paynter_model::BondId), W.
    pub watts: Vec<f64>,
    /// What they are: `mean power, 0 … 2 s`.
    pub title: String,
}

/// Power of a drawn line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePower {
    /// Along the half arrow; negative if it flows back, W.
    pub watts: f64,
    /// Part of the largest power in the drawing, 0 … 1.
    pub share: f64,
}

/// A line of the scale below a drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaleMark {
    /// Part of the largest power.
    pub share: f64,
    /// How much that is.
    pub text: String,
    /// The left end of its band.
    pub at: Point,
}

/// Length of a band of the scale.
pub(super) const SCALE_BAND: f64 = 30.0;

impl LinePower {
    /// The width of the band, 1 … 10 points.
    pub fn width(&self) -> f64 {
        band_width(self.share)
    }

    /// The colour of the band as red, green, blue.
    pub fn colour(&self) -> [u8; 3] {
        band_colour(self.share)
    }
}

/// Power spans decades; the square root keeps small flows visible and the order right.
fn part(share: f64) -> f64 {
    share.clamp(0.0, 1.0).sqrt()
}

pub(super) fn band_width(share: f64) -> f64 {
    1.0 + 9.0 * part(share)
}

/// From grey to orange, which is lighter than ink: strokes and half arrows stay visible on it.
pub(super) fn band_colour(share: f64) -> [u8; 3] {
    let mix = |low: f64, high: f64| (low + part(share) * (high - low)).round() as u8;
    [mix(195.0, 230.0), mix(200.0, 159.0), mix(205.0, 0.0)]
}

/// The triangle in the middle of a line that points where power really goes.
pub(super) fn pointer(line: &Line) -> Option<[Point; 3]> {
    let power = line.power.filter(|p| p.watts != 0.0 && p.share > 1e-6)?;
    let (&a, &b) = (line.points.first()?, line.points.last()?);
    let (dx, dy) = if power.watts > 0.0 {
        unit(a, b)
    } else {
        unit(b, a)
    };
    // Wider than the band, so that it is seen on any.
    let (long, wide) = (5.0 + 0.3 * power.width(), 3.0 + 0.5 * power.width());
    let middle = (0.5 * (a.0 + b.0), 0.5 * (a.1 + b.1));
    let back = (middle.0 - long * dx, middle.1 - long * dy);
    Some([
        (middle.0 + long * dx, middle.1 + long * dy),
        (back.0 - wide * dy, back.1 + wide * dx),
        (back.0 + wide * dy, back.1 - wide * dx),
    ])
}

/// Sets power and label of each line.
pub(super) fn put_powers(lines: &mut [Line], flow: &PowerFlow) {
    let sum = |line: &Line| -> f64 {
        let watts = |b: &paynter_model::BondId| flow.watts.get(b.0 as usize).copied();
        let list = line.bonds.iter().map(|b| watts(b).unwrap_or(f64::NAN));
        list.sum()
    };
    let sums: Vec<f64> = lines.iter().map(sum).collect();
    let largest = largest_of(&sums);
    for (line, &watts) in lines.iter_mut().zip(&sums) {
        let own = if watts.is_finite() {
            let share = if largest > 0.0 {
                watts.abs() / largest
            } else {
                0.0
            };
            line.power = Some(LinePower { watts, share });
            power_text(watts.abs(), largest)
        } else {
            "not a number".to_owned()
        };
        line.label = if line.label.is_empty() || line.dimension.is_some() {
            own
        } else {
            format!("{}: {own}", line.label)
        };
    }
}

fn largest_of(sums: &[f64]) -> f64 {
    let finite = sums.iter().copied().filter(|s| s.is_finite());
    finite.map(f64::abs).fold(0.0, f64::max)
}

/// What is smaller than rounding beside the rest is written as nothing.
fn power_text(watts: f64, largest: f64) -> String {
    if watts < 1e-9 * largest {
        "0".to_owned()
    } else {
        with_prefix(watts, "W")
    }
}

/// Writes the scale under a drawing: the largest power, a quarter and a sixteenth of it.
pub(super) fn put_scale(diagram: &mut Diagram, flow: &PowerFlow) {
    let watts: Vec<f64> = diagram
        .bonds
        .iter()
        .filter_map(|l| l.power.map(|p| p.watts))
        .collect();
    let largest = largest_of(&watts);
    let what = format!("{}; triangles point where it goes", flow.title);
    diagram.note = match (diagram.note.is_empty(), largest > 0.0) {
        (true, true) => what,
        (false, true) => format!("{what}; {}", diagram.note),
        (_, false) => format!("{}: no power flows", flow.title),
    };
    if largest > 0.0 {
        diagram.scale = [1.0, 0.25, 0.0625]
            .map(|share| ScaleMark {
                share,
                text: with_prefix(share * largest, "W"),
                at: (0.0, 0.0),
            })
            .to_vec();
    }
}
