//! Pictures of loops and roots: Nyquist, Nichols, pole–zero map, root locus.
//!
//! In:  a [`LoopReport`], a [`PoleTable`] or a [`LocusReport`].
//! Out: a [`Plot`] of each.

use super::bode::decibel;
use super::{Linearization, LocusReport, LoopReport, PoleTable};
use paynter_draw::plot::{Panel, Plot, Series};
use paynter_linear::Complex;
use std::f64::consts::TAU;

/// L beyond this size is cut off in a Nyquist diagram: what counts is near −1.
const LARGEST_SHOWN: f64 = 3.0;

impl LoopReport {
    /// Draws L(jω) in the complex plane, with −1 and the unit circle.
    pub fn nyquist(&self, title: &str) -> Plot {
        let shown = |z: &Complex| z.norm() <= LARGEST_SHOWN;
        let part = |of: &dyn Fn(&Complex) -> f64| -> Vec<f64> {
            let values = self.sweep.values.iter();
            values
                .map(|z| if shown(z) { of(z) } else { f64::NAN })
                .collect()
        };
        let series = vec![
            curve(
                &format!("loop cut at {}", self.cut),
                part(&|z| z.re),
                part(&|z| z.im),
                false,
            ),
            curve(
                "its mirror, for negative frequencies",
                part(&|z| z.re),
                part(&|z| -z.im),
                true,
            ),
            circle(),
            crosses("-1", &[Complex::new(-1.0, 0.0)], 0.06),
        ];
        plane(title, ("Re L", "Im L"), series)
    }

    /// Draws the gain in dB over the phase in degrees, with the point at −180° and 0 dB.
    pub fn nichols(&self, title: &str) -> Plot {
        let phases = self.sweep.phase.iter().map(|p| p.to_degrees()).collect();
        let gains = self.sweep.values.iter().map(|z| decibel(z.norm()));
        let series = vec![
            curve(
                &format!("loop cut at {}", self.cut),
                phases,
                gains.collect(),
                false,
            ),
            crosses("-180 deg, 0 dB", &[Complex::new(-180.0, 0.0)], 4.0),
        ];
        plane(title, ("phase [deg]", "gain [dB]"), series)
    }
}

/// Draws poles as crosses and the zeros of every channel as rings.
pub fn pole_map(linear: &Linearization, table: &PoleTable, title: &str) -> Plot {
    let poles: Vec<Complex> = table.modes.iter().map(|m| m.pole).collect();
    let zeros: Vec<Complex> = table
        .zeros
        .iter()
        .filter_map(|z| z.2.as_ref())
        .flatten()
        .copied()
        .collect();
    let all = poles.iter().chain(&zeros);
    let size = all.map(|z| z.norm()).fold(0.0, f64::max);
    let size = if size > 0.0 { 0.02 * size } else { 0.02 };
    let mut series = vec![crosses("poles", &poles, size)];
    if !zeros.is_empty() {
        series.push(rings("zeros", &zeros, size));
    }
    if linear.step().is_some() {
        series.push(circle());
    }
    plane(title, axes(linear), series)
}

impl LocusReport {
    /// Draws how the poles move, from those of the open loop on.
    pub fn plot(&self, title: &str) -> Plot {
        let branches = self.locus.branches.iter().enumerate();
        let mut series: Vec<Series> = branches
            .map(|(k, way)| {
                let part = |of: fn(&Complex) -> f64| way.iter().map(of).collect();
                curve(
                    &format!("pole {}", k + 1),
                    part(|z| z.re),
                    part(|z| z.im),
                    false,
                )
            })
            .collect();

        let starts: Vec<Complex> = self
            .locus
            .branches
            .iter()
            .filter_map(|b| b.first().copied())
            .collect();

        let all = self.locus.branches.iter().flatten().map(|z| z.norm());
        let size = 0.01 * all.filter(|x| x.is_finite()).fold(0.0, f64::max).max(1e-3);
        series.push(crosses(
            &format!(
                "at gain {}",
                self.locus.gains.first().copied().unwrap_or(0.0)
            ),
            &starts,
            size,
        ));

        if self.linear.step().is_some() {
            series.push(circle());
        }
        plane(title, axes(&self.linear), series)
    }
}

fn axes(linear: &Linearization) -> (&'static str, &'static str) {
    match linear.step() {
        None => ("Re s [1/s]", "Im s [1/s]"),
        Some(_) => ("Re z", "Im z"),
    }
}

fn plane(title: &str, (x_label, y_label): (&str, &str), series: Vec<Series>) -> Plot {
    Plot {
        title: title.to_owned(),
        panels: vec![Panel {
            x_label: x_label.to_owned(),
            y_label: y_label.to_owned(),
            series,
            ..Panel::default()
        }],
    }
}

fn curve(name: &str, x: Vec<f64>, y: Vec<f64>, is_reference: bool) -> Series {
    Series {
        name: name.to_owned(),
        x,
        y,
        is_reference,
        ..Series::default()
    }
}

/// The unit circle.
fn circle() -> Series {
    const POINTS: usize = 180;
    let angle = |k: usize| TAU * k as f64 / POINTS as f64;
    let x = (0..=POINTS).map(|k| angle(k).cos()).collect();
    let y = (0..=POINTS).map(|k| angle(k).sin()).collect();
    curve("unit circle", x, y, true)
}

/// A cross at each place; gaps between them are points without a value.
fn crosses(name: &str, places: &[Complex], size: f64) -> Series {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for place in places {
        for (dx, dy) in [
            (-1.0, -1.0),
            (1.0, 1.0),
            (f64::NAN, 0.0),
            (-1.0, 1.0),
            (1.0, -1.0),
            (f64::NAN, 0.0),
        ] {
            x.push(place.re + size * dx);
            y.push(place.im + size * dy);
        }
    }
    curve(name, x, y, false)
}

/// A ring at each place.
fn rings(name: &str, places: &[Complex], size: f64) -> Series {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for place in places {
        for k in 0..=12 {
            let angle = TAU * f64::from(k) / 12.0;
            x.push(place.re + size * angle.cos());
            y.push(place.im + size * angle.sin());
        }
        x.push(f64::NAN);
        y.push(f64::NAN);
    }
    curve(name, x, y, false)
}
