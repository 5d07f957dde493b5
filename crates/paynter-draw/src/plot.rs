//! Plots of quantities over time or over each other.
//!
//! In:  panels, each with series of numbers.
//! Out: one SVG with the panels below each other, sharing the horizontal axis' style.
//!
//! **Invariant:** points that are not finite break the curve; they are never joined over.

use crate::svg::{Svg, escape};
use std::fmt::Write as _;

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Shown in the legend.
    pub name: String,
    /// Horizontal values.
    pub x: Vec<f64>,
    /// Vertical values.
    pub y: Vec<f64>,
    /// Drawn dashed: a reference or a command.
    pub is_reference: bool,
}

/// One pair of axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Label of the vertical axis; usually the unit.
    pub y_label: String,
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Its curves.
    pub series: Vec<Series>,
    /// Times of events, marked by thin lines.
    pub marks: Vec<f64>,
}

/// A figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Above everything.
    pub title: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// Okabe & Ito's palette, which colour-blind readers can tell apart; dark ones first.
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#f0e442",
];

const WIDTH: f64 = 760.0;
const PANEL_HEIGHT: f64 = 240.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 26.0;
const BELOW: f64 = 42.0;
/// More points than this in one curve cannot be seen at this width; extremes of each bin are kept.
const MAX_POINTS: usize = 4000;
/// More marks than this make a grey wall instead of marks.
const MAX_MARKS: usize = 60;

const STYLE: &str = "text{fill:#222;font-size:12px}.title{font-size:14px;font-weight:600}.tick{font-size:11px;fill:#555}\
.mid{text-anchor:middle}.end{text-anchor:end}.grid{stroke:#e4e4e4;stroke-width:1}.axis{stroke:#888;stroke-width:1;fill:none}\
.mark{stroke:#bbb;stroke-width:1;stroke-dasharray:1 3}.curve{fill:none;stroke-width:1.6;stroke-linejoin:round}\
.ref{stroke-dasharray:5 4}.bg{fill:#fff}\
@media (prefers-color-scheme:dark){.bg{fill:#16181d}text{fill:#ddd}.tick{fill:#aaa}.grid{stroke:#2c3038}.axis{stroke:#777}}";

impl Plot {
    /// Draws the figure.
    pub fn to_svg(&self) -> String {
        let head = if self.title.is_empty() { 6.0 } else { 28.0 };
        let height = head + self.panels.len() as f64 * (PANEL_HEIGHT + BELOW + TOP) + 4.0;
        let mut svg = Svg::new();
        svg.rect((0.0, 0.0), (WIDTH, height), "bg");
        if !self.title.is_empty() {
            svg.text((WIDTH / 2.0, 20.0), &self.title, "title mid");
        }
        for (number, panel) in self.panels.iter().enumerate() {
            let top = head + number as f64 * (PANEL_HEIGHT + BELOW + TOP) + TOP;
            draw_panel(&mut svg, panel, top);
        }
        svg.finish(WIDTH, height, STYLE)
    }
}

fn draw_panel(svg: &mut Svg, panel: &Panel, top: f64) {
    let xs = panel.series.iter().flat_map(|s| &s.x).copied();
    let ys = panel.series.iter().flat_map(|s| &s.y).copied();
    let x_axis = Axis::over(xs, false);
    let y_axis = Axis::over(ys, true);
    let bottom = top + PANEL_HEIGHT;
    let place = |x: f64, y: f64| {
        (
            LEFT + x_axis.part(x) * (WIDTH - LEFT - RIGHT),
            bottom - y_axis.part(y) * PANEL_HEIGHT,
        )
    };
    for &tick in &x_axis.ticks {
        let (x, _) = place(tick, y_axis.low);
        svg.line((x, top), (x, bottom), "grid");
        svg.text((x, bottom + 15.0), &x_axis.label(tick), "tick mid");
    }
    for &tick in &y_axis.ticks {
        let (_, y) = place(x_axis.low, tick);
        svg.line((LEFT, y), (WIDTH - RIGHT, y), "grid");
        svg.text((LEFT - 6.0, y + 4.0), &y_axis.label(tick), "tick end");
    }
    if panel.marks.len() <= MAX_MARKS {
        for &t in panel
            .marks
            .iter()
            .filter(|&&t| t >= x_axis.low && t <= x_axis.high)
        {
            let (x, _) = place(t, y_axis.low);
            svg.line((x, top), (x, bottom), "mark");
        }
    }
    svg.rect((LEFT, top), (WIDTH - LEFT - RIGHT, PANEL_HEIGHT), "axis");
    let mut legend = LEFT + 4.0;
    for (index, series) in panel.series.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let class = if series.is_reference {
            "curve ref"
        } else {
            "curve"
        };
        let (x, y) = thin(&series.x, &series.y);
        for piece in pieces(&x, &y) {
            let points: Vec<(f64, f64)> = piece.iter().map(|&i| place(x[i], y[i])).collect();
            svg.polyline(&points, class, &format!(r#"stroke="{colour}""#));
        }
        let mut key = String::new();
        let _ = write!(
            key,
            r#"<line x1="{legend:.1}" y1="{y:.1}" x2="{x2:.1}" y2="{y:.1}" class="{class}" stroke="{colour}"/><text x="{tx:.1}" y="{ty:.1}">{name}</text>"#,
            y = top - 9.0,
            x2 = legend + 18.0,
            tx = legend + 23.0,
            ty = top - 5.0,
            name = escape(&series.name)
        );
        svg.raw(&key);
        // 7 px is the mean width of a letter at this size.
        legend += 38.0 + 7.0 * series.name.chars().count() as f64;
    }
    svg.text(
        (LEFT + (WIDTH - LEFT - RIGHT) / 2.0, bottom + 32.0),
        &panel.x_label,
        "mid",
    );
    svg.raw(&format!(
        r#"<text transform="translate(14,{:.1}) rotate(-90)" class="mid">{}</text>"#,
        top + PANEL_HEIGHT / 2.0,
        escape(&panel.y_label)
    ));
}

/// A linear axis with round ticks.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
    ticks: Vec<f64>,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, pads: bool) -> Axis {
        let (mut low, mut high) = values
            .filter(|x| x.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        // A curve that does not move beyond rounding is drawn as a line in the middle.
        if high - low <= 1e-12 * low.abs().max(high.abs()) {
            let room = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
            (low, high) = (low - room, high + room);
        } else if pads {
            let room = 0.05 * (high - low);
            (low, high) = (low - room, high + room);
        }
        let step = round_step((high - low) / 6.0);
        let first = (low / step).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        let ticks = (first..=last).map(|k| k as f64 * step).collect();
        Axis {
            low,
            high,
            step,
            ticks,
        }
    }

    fn part(&self, x: f64) -> f64 {
        (x - self.low) / (self.high - self.low)
    }

    fn label(&self, tick: f64) -> String {
        let largest = self.low.abs().max(self.high.abs());
        if largest >= 1e5 || largest < 1e-3 {
            let exponent = largest.log10().floor();
            let scale = 10f64.powf(exponent);
            let digits = (exponent - self.step.log10().floor()).max(0.0) as usize;
            let mantissa = format!("{:.*}", digits, tick / scale);
            return if tick == 0.0 {
                "0".to_owned()
            } else {
                format!("{mantissa}e{exponent}")
            };
        }
        let digits = (-self.step.log10().floor()).max(0.0) as usize;
        format!("{tick:.digits$}")
    }
}

/// The next 1, 2 or 5 times a power of ten.
fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|f| f * power >= rough * 0.999)
        .unwrap_or(10.0);
    factor * power
}

/// Keeps the extremes of each of many bins, so that a spike is still seen.
fn thin(x: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let n = x.len().min(y.len());
    if n <= MAX_POINTS {
        return (x[..n].to_vec(), y[..n].to_vec());
    }
    let per_bin = n.div_ceil(MAX_POINTS / 2);
    let mut kept = (Vec::new(), Vec::new());
    for start in (0..n).step_by(per_bin) {
        let bin = start..(start + per_bin).min(n);
        let low = bin
            .clone()
            .min_by(|&a, &b| y[a].total_cmp(&y[b]))
            .unwrap_or(start);
        let high = bin.max_by(|&a, &b| y[a].total_cmp(&y[b])).unwrap_or(start);
        for i in [low.min(high), low.max(high)] {
            kept.0.push(x[i]);
            kept.1.push(y[i]);
        }
    }
    kept
}

/// Runs of points that are all finite.
fn pieces(x: &[f64], y: &[f64]) -> Vec<Vec<usize>> {
    let mut runs = vec![Vec::new()];
    for i in 0..x.len().min(y.len()) {
        if x[i].is_finite() && y[i].is_finite() {
            runs.last_mut().expect("never empty").push(i);
        } else {
            runs.push(Vec::new());
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(y: Vec<f64>) -> String {
        let x = (0..y.len()).map(|i| i as f64).collect();
        let series = Series {
            name: "a<b".into(),
            x,
            y,
            is_reference: false,
        };
        Plot {
            title: "t".into(),
            panels: vec![Panel {
                series: vec![series],
                ..Panel::default()
            }],
        }
        .to_svg()
    }

    #[test]
    fn names_are_escaped() {
        assert!(plot(vec![0.0, 1.0]).contains("a&lt;b"));
    }

    #[test]
    fn a_value_that_is_not_a_number_breaks_the_curve() {
        let svg = plot(vec![0.0, 1.0, f64::NAN, 2.0, 3.0]);
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn ticks_are_round_numbers_inside_the_axis() {
        let axis = Axis::over([0.0, 0.37].into_iter(), false);
        assert_eq!(
            axis.ticks
                .iter()
                .map(|&t| axis.label(t))
                .collect::<Vec<_>>(),
            ["0.0", "0.1", "0.2", "0.3"]
        );
    }

    #[test]
    fn a_spike_survives_thinning() {
        let mut y = vec![0.0; 100_000];
        y[77_777] = 1.0;
        let x: Vec<f64> = (0..y.len()).map(|i| i as f64).collect();
        assert!(thin(&x, &y).1.contains(&1.0));
    }
}
