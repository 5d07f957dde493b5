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

/// Okabe & Ito's palette, which colour-blind readers can tell apart; dark ones first. Black and
/// yellow are toned to be seen on dark and on white paper.
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f", "#b8a800",
];

const WIDTH: f64 = 760.0;
const PANEL_HEIGHT: f64 = 240.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 26.0;
const BELOW: f64 = 42.0;
const LEGEND_ROW: f64 = 16.0;
/// More points than this in one curve cannot be seen at this width; extremes of each bin are kept.
const MAX_POINTS: usize = 4000;
/// More marks than this make a grey wall instead of marks.
const MAX_MARKS: usize = 60;

const STYLE: &str = ".plot text{fill:#222;font-size:12px}.plot .title{font-size:14px;font-weight:600}.plot .tick{font-size:11px;fill:#555}\
.plot .mid{text-anchor:middle}.plot .end{text-anchor:end}.plot .grid{stroke:#e4e4e4;stroke-width:1}.plot .axis{stroke:#888;stroke-width:1;fill:none}\
.plot .mark{stroke:#bbb;stroke-width:1;stroke-dasharray:1 3}.plot .curve{fill:none;stroke-width:1.6;stroke-linejoin:round}\
.plot .ref{stroke-dasharray:5 4}.plot .bg{fill:#fff}.plot .ink{stroke:#000}\
@media (prefers-color-scheme:dark){.plot .bg{fill:#16181d}.plot text{fill:#ddd}.plot .tick{fill:#aaa}.plot .grid{stroke:#2c3038}.plot .axis{stroke:#777}}";

impl Plot {
    /// Draws the figure.
    pub fn to_svg(&self) -> String {
        let head = if self.title.is_empty() { 6.0 } else { 28.0 };

        let legends: Vec<Legend> = self.panels.iter().map(Legend::of).collect();
        let heights = legends.iter().map(|l| PANEL_HEIGHT + BELOW + l.height());
        let height = head + heights.sum::<f64>() + 4.0;
        let mut svg = Svg::new();
        svg.rect((0.0, 0.0), (WIDTH, height), "bg");
        if !self.title.is_empty() {
            svg.text((WIDTH / 2.0, 20.0), &self.title, "title mid");
        }

        let mut top = head;
        for (panel, legend) in self.panels.iter().zip(&legends) {
            top += legend.height();
            draw_panel(&mut svg, panel, legend, top);
            top += PANEL_HEIGHT + BELOW;
        }
        svg.finish(WIDTH, height, STYLE)
    }
}

/// Where the names of the curves stand, in rows above the panel.
struct Legend {
    /// Left end and row of each, rows counted from the lowest.
    places: Vec<(f64, usize)>,
    n_rows: usize,
}

impl Legend {
    fn of(panel: &Panel) -> Legend {
        let mut places = Vec::new();
        let (mut x, mut row) = (LEFT + 4.0, 0);
        for series in &panel.series {
            // 7 px is the mean width of a letter at this size.
            let width = 38.0 + 7.0 * series.name.chars().count() as f64;
            if x + width > WIDTH && x > LEFT + 4.0 {
                (x, row) = (LEFT + 4.0, row + 1);
            }
            places.push((x, row));
            x += width;
        }
        let n_rows = row + 1;
        places.iter_mut().for_each(|p| p.1 = n_rows - 1 - p.1);
        Legend { places, n_rows }
    }

    fn height(&self) -> f64 {
        TOP + LEGEND_ROW * (self.n_rows as f64 - 1.0)
    }
}

fn draw_panel(svg: &mut Svg, panel: &Panel, legend: &Legend, top: f64) {
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
    for (index, (series, &(left, row))) in panel.series.iter().zip(&legend.places).enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let class = if series.is_reference {
            "curve ref"
        } else {
            "curve"
        };
        let (x, y) = thin_to(&series.x, &series.y, MAX_POINTS);
        for piece in pieces(&x, &y) {
            let points: Vec<(f64, f64)> = piece.iter().map(|&i| place(x[i], y[i])).collect();
            svg.polyline(&points, class, &format!(r#"stroke="{colour}""#));
        }
        let mut key = String::new();
        let _ = write!(
            key,
            r#"<line x1="{left:.1}" y1="{y:.1}" x2="{x2:.1}" y2="{y:.1}" class="{class}" stroke="{colour}"/><text x="{tx:.1}" y="{ty:.1}">{name}</text>"#,
            y = top - 9.0 - LEGEND_ROW * row as f64,
            x2 = left + 18.0,
            tx = left + 23.0,
            ty = top - 5.0 - LEGEND_ROW * row as f64,
            name = escape(&series.name)
        );
        svg.raw(&key);
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

/// Beyond this the width of an axis overflows.
const LARGEST: f64 = 1e300;

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
            .filter(|x| x.abs() < LARGEST)
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
        if !(1e-3..1e5).contains(&largest) {
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

/// Keeps the extremes of each of many bins, so that a spike is still seen; the ends stay, too.
pub(crate) fn thin_to(x: &[f64], y: &[f64], max_points: usize) -> (Vec<f64>, Vec<f64>) {
    let n = x.len().min(y.len());
    if n <= max_points {
        return (x[..n].to_vec(), y[..n].to_vec());
    }
    let per_bin = n.div_ceil((max_points / 2).max(1));
    let mut kept: Vec<usize> = vec![0];
    for start in (0..n).step_by(per_bin) {
        let bin = start..(start + per_bin).min(n);
        let low = bin
            .clone()
            .min_by(|&a, &b| y[a].total_cmp(&y[b]))
            .unwrap_or(start);
        let high = bin.max_by(|&a, &b| y[a].total_cmp(&y[b])).unwrap_or(start);
        kept.extend([low.min(high), low.max(high)]);
    }
    kept.push(n - 1);
    kept.dedup();
    (
        kept.iter().map(|&i| x[i]).collect(),
        kept.iter().map(|&i| y[i]).collect(),
    )
}

/// Runs of points that are all finite.
fn pieces(x: &[f64], y: &[f64]) -> Vec<Vec<usize>> {
    let mut runs = vec![Vec::new()];
    for i in 0..x.len().min(y.len()) {
        if x[i].abs() < LARGEST && y[i].abs() < LARGEST {
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
    fn thinning_keeps_both_ends() {
        let x: Vec<f64> = (0..10_001).map(f64::from).collect();
        let (kept, _) = thin_to(
            &x,
            &x.iter().map(|t| (0.37 * t).sin()).collect::<Vec<_>>(),
            100,
        );
        assert_eq!((kept[0], kept[kept.len() - 1]), (0.0, 10_000.0));
        assert!(kept.len() <= 102 && kept.is_sorted());
    }

    #[test]
    fn a_long_legend_takes_several_rows() {
        let series = |k: usize| Series {
            name: format!("quantity number {k}"),
            ..Series::default()
        };
        let panel = Panel {
            series: (0..12).map(series).collect(),
            ..Panel::default()
        };
        let legend = Legend::of(&panel);
        assert!(legend.n_rows > 1);
        assert!(
            legend
                .places
                .iter()
                .all(|p| p.0 + 38.0 + 7.0 * 17.0 < WIDTH + 7.0 * 2.0)
        );
        let svg = Plot {
            title: String::new(),
            panels: vec![panel],
        }
        .to_svg();
        assert!(!svg.contains("NaN") && svg.contains("quantity number 11"));
    }

    #[test]
    fn huge_and_equal_values_have_axes() {
        for y in [
            vec![f64::MAX, f64::MIN, 1.0],
            vec![3.0, 3.0],
            vec![1e20, 1.000_001e20],
            vec![],
        ] {
            let svg = plot(y);
            assert!(!svg.contains("NaN"), "{svg}");
        }
    }

    #[test]
    fn a_spike_survives_thinning() {
        let mut y = vec![0.0; 100_000];
        y[77_777] = 1.0;
        let x: Vec<f64> = (0..y.len()).map(|i| i as f64).collect();
        assert!(thin_to(&x, &y, MAX_POINTS).1.contains(&1.0));
    }
}
