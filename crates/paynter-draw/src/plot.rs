//! Plots of quantities over time or over each other.
//!
//! In:  panels, each with series of numbers; [`panels_by_unit`] makes them from quantities with units.
//! Out: one SVG with the panels below each other, sharing the horizontal axis' style.
//!
//! **Invariant:** points that are not finite break the curve; they are never joined over. Quantities
//! of different units never share an axis. Curves of one panel differ by colour and by marker, so
//! that they can be distinguished in black and white, too.

use crate::field::{BAND, draw_band, draw_bar, draw_cells};
use crate::svg::{Svg, escape};
use crate::thin::{Most, seen, steps};

pub use crate::field::{Band, Cells, Scale};
pub use crate::series::{Series, Side};
use std::fmt::Write as _;

/// One horizontal axis with one or two vertical ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Label of the vertical axis; usually the unit.
    pub y_label: String,
    /// Label of the vertical axis at the right; drawn if a curve is on it.
    pub right_label: String,
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Its curves.
    pub series: Vec<Series>,
    /// Times of events, marked by thin lines.
    pub marks: Vec<f64>,
    /// Decades to the right: values must be positive.
    pub is_x_logarithmic: bool,
    /// Upwards are degrees, which read best in steps of 15, 30, 45, 90.
    pub is_y_angle: bool,
    /// Behind the curves, on the left axis.
    pub bands: Vec<Band>,
    /// A map behind the curves; needs a scale.
    pub cells: Option<Cells>,
    /// What the colours of cells, and of curves with a [`Series::level`], mean: explained at the right.
    pub scale: Option<Scale>,
}

impl Panel {
    fn has_right(&self) -> bool {
        self.series.iter().any(|s| s.side == Side::Right)
    }

    /// Curves that have a name of their own in the legend.
    fn named(&self) -> Vec<(usize, &Series)> {
        let is_named = |s: &(usize, &Series)| s.1.level.is_none() || self.scale.is_none();
        self.series.iter().enumerate().filter(is_named).collect()
    }
}

/// A figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Above everything.
    pub title: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// Puts curves with their units on axes: one unit takes one axis, two units take the left and the
/// right one of a panel, and of more units each takes a panel of its own.
pub fn panels_by_unit(curves: Vec<(Series, String)>, x_label: &str, marks: &[f64]) -> Vec<Panel> {
    let mut units: Vec<String> = Vec::new();
    for (_, unit) in &curves {
        if !units.contains(unit) {
            units.push(unit.clone());
        }
    }

    let label = |unit: &str| match unit {
        "" => String::new(),
        unit => format!("[{unit}]"),
    };

    let blank = || Panel {
        x_label: x_label.to_owned(),
        marks: marks.to_vec(),
        ..Panel::default()
    };

    let mut panels: Vec<Panel> = Vec::new();
    if units.len() > 2 {
        panels.extend(units.iter().map(|unit| Panel {
            y_label: label(unit),
            ..blank()
        }));
    } else {
        panels.push(Panel {
            y_label: units.first().map(|u| label(u)).unwrap_or_default(),
            right_label: units.get(1).map(|u| label(u)).unwrap_or_default(),
            ..blank()
        });
    }

    for (mut series, unit) in curves {
        let at = units.iter().position(|u| *u == unit).unwrap_or(0);
        if units.len() == 2 {
            if !unit.is_empty() {
                series.name = format!("{} [{unit}]", series.name);
            }
            series.side = [Side::Left, Side::Right][at];
        }
        let panel = if units.len() > 2 { at } else { 0 };
        panels[panel].series.push(series);
    }
    panels
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
/// Room for the numbers and the label of an axis at the right.
const RIGHT_AXIS: f64 = 66.0;
const TOP: f64 = 26.0;
const BELOW: f64 = 42.0;
const LEGEND_ROW: f64 = 16.0;
/// More points than this in one curve cannot be seen at this width; extremes of each bin are kept.
const MAX_POINTS: Most = Most {
    over_time: 4000,
    phase: 16_000,
};
/// More marks than this make a grey wall instead of marks.
const MAX_MARKS: usize = 60;
/// Markers on a curve: enough to follow it, too few to hide it.
const N_MARKERS: usize = 8;

const STYLE: &str = ".plot text{fill:#222;font-size:12px}.plot .title{font-size:14px;font-weight:600}.plot .tick{font-size:11px;fill:#555}\
.plot .mid{text-anchor:middle}.plot .end{text-anchor:end}.plot .grid{stroke:#e4e4e4;stroke-width:1}.plot .axis{stroke:#888;stroke-width:1;fill:none}\
.plot .fine{stroke:#f2f2f2;stroke-width:1}.plot .mark{stroke:#bbb;stroke-width:1;stroke-dasharray:1 3}.plot .curve{fill:none;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}\
.plot .dot{fill:#fff;stroke-width:1.3}.plot .ref{stroke-dasharray:5 4}.plot .bg{fill:#fff}.plot .ink{stroke:#000}\
@media (prefers-color-scheme:dark){.plot .bg,.plot .dot{fill:#16181d}.plot text{fill:#ddd}.plot .tick{fill:#aaa}.plot .grid{stroke:#2c3038}.plot .fine{stroke:#20232a}.plot .axis{stroke:#777}}";

impl Plot {
    /// Draws the figure.
    pub fn to_svg(&self) -> String {
        let head = if self.title.is_empty() { 6.0 } else { 28.0 };
        // Panels share the place of their horizontal axes, so that times are above each other.
        let has_scale = |p: &Panel| p.has_right() || p.scale.is_some();
        let right = if self.panels.iter().any(has_scale) {
            RIGHT_AXIS
        } else {
            RIGHT
        };
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
            draw_panel(&mut svg, panel, legend, top, right);
            top += PANEL_HEIGHT + BELOW;
        }
        svg.finish(WIDTH, height, STYLE)
    }
}

/// Where the names of the curves are, in rows above the panel.
struct Legend {
    /// Left end and row of each, rows counted from the lowest.
    places: Vec<(f64, usize)>,
    n_rows: usize,
}

impl Legend {
    fn of(panel: &Panel) -> Legend {
        let mut places = Vec::new();
        let (mut x, mut row) = (LEFT + 4.0, 0);
        let bands = panel.bands.iter().map(|b| &b.name);
        let bands = bands.filter(|n| !n.is_empty());
        let names = panel.named().into_iter().map(|s| &s.1.name);
        for name in names.chain(bands) {
            // 7 px is the mean width of a letter at this size.
            let width = 38.0 + 7.0 * name.chars().count() as f64;
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

fn draw_panel(svg: &mut Svg, panel: &Panel, legend: &Legend, top: f64, right: f64) {
    let frame = PanelFrame::new(panel, top, right);
    draw_grid(svg, panel, &frame);

    let on_left = |x: f64, y: f64| frame.place(Side::Left, x, y);
    if let (Some(cells), Some(scale)) = (&panel.cells, &panel.scale) {
        draw_cells(svg, cells, scale, &on_left);
    }
    for band in &panel.bands {
        draw_band(svg, band, &on_left);
    }
    if let Some(scale) = &panel.scale {
        draw_scale(svg, scale, frame.end, frame.top);
    }
    svg.rect((LEFT, frame.top), (frame.end - LEFT, PANEL_HEIGHT), "axis");

    draw_curves(svg, panel, &frame);
    draw_legend(svg, panel, legend, frame.top);
    svg.text(
        (LEFT + (frame.end - LEFT) / 2.0, frame.bottom + 32.0),
        &panel.x_label,
        "mid",
    );
    upright(svg, 14.0, frame.top, &panel.y_label);
}

/// Where the curves of a panel are: its axes and its sides.
struct PanelFrame {
    x_axis: Axis,
    /// Left and right.
    y_axes: [Axis; 2],
    top: f64,
    bottom: f64,
    /// The right side.
    end: f64,
}

impl PanelFrame {
    fn new(panel: &Panel, top: f64, right: f64) -> Self {
        let xs = panel.series.iter().flat_map(|s| &s.x).copied();
        let xs = xs.chain(panel.bands.iter().flat_map(|b| &b.x).copied());
        let xs = xs.chain(panel.cells.iter().flat_map(|c| &c.x).copied());
        let x_axis = match panel.is_x_logarithmic {
            true => Axis::decades(xs),
            false => Axis::over(xs, false),
        };
        let values = |side: Side| {
            let on_side = panel.series.iter().filter(move |s| s.side == side);
            on_side.flat_map(|s| &s.y).copied()
        };
        let bands = panel.bands.iter().flat_map(|b| b.low.iter().chain(&b.high));
        let behind = bands.chain(panel.cells.iter().flat_map(|c| &c.y)).copied();
        let behind: Vec<f64> = behind.collect();
        let y_axes = [Side::Left, Side::Right].map(|side| {
            let behind = behind.iter().copied().filter(|_| side == Side::Left);
            let values = values(side).chain(behind);
            match panel.is_y_angle {
                true => Axis::degrees(values),
                false => Axis::over(values, panel.cells.is_none()),
            }
        });

        PanelFrame {
            x_axis,
            y_axes,
            top,
            bottom: top + PANEL_HEIGHT,
            end: WIDTH - right,
        }
    }

    fn across(&self, x: f64) -> f64 {
        LEFT + self.x_axis.part(x) * (self.end - LEFT)
    }

    fn place(&self, side: Side, x: f64, y: f64) -> (f64, f64) {
        let axis = &self.y_axes[usize::from(side == Side::Right)];
        (self.across(x), self.bottom - axis.part(y) * PANEL_HEIGHT)
    }
}

/// Lines and numbers at the ticks, and marks of events.
fn draw_grid(svg: &mut Svg, panel: &Panel, frame: &PanelFrame) {
    for &tick in &frame.x_axis.ticks {
        let x = frame.across(tick);
        svg.line((x, frame.top), (x, frame.bottom), "grid");
        svg.text(
            (x, frame.bottom + 15.0),
            &frame.x_axis.label(tick),
            "tick mid",
        );
    }

    for tick in frame.x_axis.between() {
        svg.line(
            (frame.across(tick), frame.top),
            (frame.across(tick), frame.bottom),
            "fine",
        );
    }

    for &tick in &frame.y_axes[0].ticks {
        let (_, y) = frame.place(Side::Left, frame.x_axis.low, tick);
        svg.line((LEFT, y), (frame.end, y), "grid");
        svg.text(
            (LEFT - 6.0, y + 4.0),
            &frame.y_axes[0].label(tick),
            "tick end",
        );
    }

    if panel.has_right() {
        for &tick in &frame.y_axes[1].ticks {
            let (_, y) = frame.place(Side::Right, frame.x_axis.low, tick);
            svg.line((frame.end - 5.0, y), (frame.end, y), "axis");
            svg.text(
                (frame.end + 6.0, y + 4.0),
                &frame.y_axes[1].label(tick),
                "tick",
            );
        }
        upright(svg, WIDTH - 8.0, frame.top, &panel.right_label);
    }

    if panel.marks.len() <= MAX_MARKS {
        let is_inside = |t: &&f64| **t >= frame.x_axis.low && **t <= frame.x_axis.high;
        for &t in panel.marks.iter().filter(is_inside) {
            svg.line(
                (frame.across(t), frame.top),
                (frame.across(t), frame.bottom),
                "mark",
            );
        }
    }
}

fn draw_curves(svg: &mut Svg, panel: &Panel, frame: &PanelFrame) {
    let n = panel.named().len();
    for (index, series) in panel.series.iter().enumerate() {
        let (x, y) = seen(series, MAX_POINTS);
        let pen = Pen::of(index, series, panel.scale.as_ref());
        for piece in pieces(&x, &y) {
            let mut points: Vec<(f64, f64)> = piece
                .iter()
                .map(|&i| frame.place(series.side, x[i], y[i]))
                .collect();
            if series.is_held {
                points = steps(&points);
            }
            svg.polyline(&points, pen.class, &format!(r#"stroke="{}""#, pen.colour));
        }
        let is_in_scale = panel.scale.is_some() && series.level.is_some();
        if n > 1 && !is_in_scale {
            for i in marked(&x, &y, &frame.x_axis, index, n) {
                pen.dot(svg, frame.place(series.side, x[i], y[i]));
            }
        }
    }
}

/// Names of curves and bands, with their lines.
fn draw_legend(svg: &mut Svg, panel: &Panel, legend: &Legend, top: f64) {
    let series = panel.named();
    let n = series.len();
    let height = |row: usize| top - 9.0 - LEGEND_ROW * row as f64;
    for ((index, series), &(left, row)) in series.iter().zip(&legend.places) {
        let pen = Pen::of(*index, series, None);
        let y = height(row);
        svg.raw(&format!(
            r#"<line x1="{left:.1}" y1="{y:.1}" x2="{:.1}" y2="{y:.1}" class="{}" stroke="{}"/>"#,
            left + 18.0,
            pen.class,
            pen.colour
        ));
        if n > 1 {
            pen.dot(svg, (left + 9.0, y));
        }
        svg.text((left + 23.0, y + 4.0), &series.name, "name");
    }
    let bands = panel.bands.iter().filter(|b| !b.name.is_empty());
    for (band, &(left, row)) in bands.zip(&legend.places[n..]) {
        let y = height(row);
        svg.raw(&format!(
            r#"<rect x="{left:.1}" y="{:.1}" width="18" height="9" fill="{BAND}" fill-opacity="{:.2}"/>"#,
            y - 5.0,
            band.shade
        ));
        svg.text((left + 23.0, y + 4.0), &band.name, "name");
    }
}

/// The bar of colours at the right of a panel, with its ends and its label.
fn draw_scale(svg: &mut Svg, scale: &Scale, end: f64, top: f64) {
    draw_bar(svg, (end + 6.0, top), PANEL_HEIGHT);
    let axis = Axis::over([scale.low, scale.high].into_iter(), false);
    for &tick in &axis.ticks {
        let y = top + (1.0 - axis.part(tick)) * PANEL_HEIGHT;
        svg.text((end + 19.0, y + 4.0), &axis.label(tick), "tick");
    }
    upright(svg, WIDTH - 4.0, top, &scale.label);
}

/// The label of a vertical axis, read from below.
fn upright(svg: &mut Svg, x: f64, top: f64, label: &str) {
    svg.raw(&format!(
        r#"<text transform="translate({x},{:.1}) rotate(-90)" class="mid">{}</text>"#,
        top + PANEL_HEIGHT / 2.0,
        escape(label)
    ));
}

/// How a curve is drawn.
struct Pen {
    colour: String,
    class: &'static str,
    shape: usize,
}

/// Corners of markers, on a circle of radius 1: round, square, triangle, diamond, …
const SHAPES: [&[(f64, f64)]; 6] = [
    &[],
    &[(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)],
    &[(0.0, -1.1), (1.0, 0.8), (-1.0, 0.8)],
    &[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)],
    &[(0.0, 1.1), (1.0, -0.8), (-1.0, -0.8)],
    &[(1.1, 0.0), (-0.8, 1.0), (-0.8, -1.0)],
];

impl Pen {
    fn of(index: usize, series: &Series, scale: Option<&Scale>) -> Pen {
        let own = COLOURS[index % COLOURS.len()].to_owned();
        Pen {
            colour: match (scale, series.level) {
                (Some(scale), Some(level)) => scale.colour(level),
                _ => own,
            },
            class: if series.is_reference {
                "curve ref"
            } else {
                "curve"
            },
            shape: index % SHAPES.len(),
        }
    }

    /// A marker that tells the curve without its colour.
    fn dot(&self, svg: &mut Svg, (x, y): (f64, f64)) {
        const RADIUS: f64 = 3.2;
        let colour = &self.colour;
        let mut text = String::new();
        if SHAPES[self.shape].is_empty() {
            let _ = write!(
                text,
                r#"<circle cx="{x:.1}" cy="{y:.1}" r="{RADIUS}" class="dot" stroke="{colour}"/>"#
            );
        } else {
            text.push_str("<polygon points=\"");
            for (dx, dy) in SHAPES[self.shape] {
                let _ = write!(text, "{:.1},{:.1} ", x + RADIUS * dx, y + RADIUS * dy);
            }
            let _ = write!(text, r#"" class="dot" stroke="{colour}"/>"#);
        }
        svg.raw(&text);
    }
}

/// Points that carry a marker: spread over the width, beside those of the other curves.
fn marked(x: &[f64], y: &[f64], axis: &Axis, index: usize, n: usize) -> Vec<usize> {
    let is_sorted = x.windows(2).all(|w| w[0] <= w[1]);
    let shift = (index as f64 + 0.5) / n as f64;
    let mut found: Vec<usize> = (0..N_MARKERS)
        .map(|k| (k as f64 + shift) / N_MARKERS as f64)
        .filter_map(|part| {
            if x.is_empty() {
                return None;
            }
            let last = x.len() - 1;
            if !is_sorted {
                return Some((part * last as f64).round() as usize);
            }
            let at = axis.at(part);
            let next = x.partition_point(|&v| v < at);
            let near = if next > 0 && next <= last && at - x[next - 1] < x[next] - at {
                next - 1
            } else {
                next
            };
            (at >= x[0] && near <= last).then_some(near)
        })
        .filter(|&i| x[i].abs() < LARGEST && y[i].abs() < LARGEST)
        .collect();
    found.dedup();
    found
}

/// Beyond this the width of an axis overflows.
const LARGEST: f64 = 1e300;
/// Below this a number has too few digits left to divide an axis by, and nothing to do with a model: it is drawn
/// as zero.
const SMALLEST: f64 = 1e-290;

/// An axis with round ticks.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
    ticks: Vec<f64>,
    is_logarithmic: bool,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, pads: bool) -> Axis {
        let (mut low, mut high) = values
            .filter(|x| x.abs() < LARGEST)
            .map(|x| if x.abs() < SMALLEST { 0.0 } else { x })
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
        Axis::with_step(low, high, round_step((high - low) / 6.0))
    }

    fn with_step(low: f64, high: f64, step: f64) -> Axis {
        let first = (low / step).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        let ticks = (first..=last).map(|k| k as f64 * step).collect();
        Axis {
            low,
            high,
            step,
            ticks,
            is_logarithmic: false,
        }
    }

    /// An axis of angles in degrees.
    fn degrees(values: impl Iterator<Item = f64>) -> Axis {
        let plain = Axis::over(values, true);
        let (low, high) = (plain.low, plain.high);
        let rough = (high - low) / 6.0;
        let steps = [15.0, 30.0, 45.0, 90.0, 180.0, 360.0];
        match steps.into_iter().find(|&s| s >= rough * 0.999) {
            Some(step) if rough > 5.0 => Axis::with_step(low, high, step),
            _ => plain,
        }
    }

    /// An axis of decades.
    fn decades(values: impl Iterator<Item = f64>) -> Axis {
        let positive = values.filter(|&x| x > SMALLEST && x < LARGEST);
        let (low, high) = positive.fold((f64::INFINITY, 0.0_f64), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        let (low, high) = match low < high {
            true => (low, high),
            false => (0.1, 10.0),
        };
        // Every decade has a line; where they are many, only some have a number.
        let first = (low.log10() - 1e-9).ceil() as i32;
        let last = (high.log10() + 1e-9).floor() as i32;
        let every = ((last - first) / 10 + 1).max(1);
        let numbered = (first..=last).filter(|k| k.rem_euclid(every) == 0);
        Axis {
            low,
            high,
            step: 1.0,
            ticks: numbered.map(|k| 10f64.powi(k)).collect(),
            is_logarithmic: true,
        }
    }

    /// Places of finer lines between the ticks of decades.
    fn between(&self) -> Vec<f64> {
        let n_decades = (self.high / self.low).log10();
        if !self.is_logarithmic || n_decades > 6.0 {
            return Vec::new();
        }
        let (first, last) = (
            self.low.log10().floor() as i32,
            self.high.log10().ceil() as i32,
        );
        let all = (first..last).flat_map(|k| (2..10).map(move |m| f64::from(m) * 10f64.powi(k)));
        all.filter(|x| *x > self.low && *x < self.high).collect()
    }

    fn part(&self, x: f64) -> f64 {
        match self.is_logarithmic {
            true => (x / self.low).ln() / (self.high / self.low).ln(),
            false => (x - self.low) / (self.high - self.low),
        }
    }

    /// The value at a part of the way.
    fn at(&self, part: f64) -> f64 {
        match self.is_logarithmic {
            true => self.low * (self.high / self.low).powf(part),
            false => self.low + part * (self.high - self.low),
        }
    }

    fn label(&self, tick: f64) -> String {
        if self.is_logarithmic {
            let exponent = tick.log10().round();
            return match exponent {
                -3.0..=4.0 => format!("{}", 10f64.powi(exponent as i32)),
                _ => format!("1e{exponent}"),
            };
        }
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
            ..Series::default()
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

    fn curve(name: &str, unit: &str) -> (Series, String) {
        let series = Series {
            name: name.to_owned(),
            x: vec![0.0, 1.0, 2.0],
            y: vec![0.0, 1.0, 4.0],
            ..Series::default()
        };
        (series, unit.to_owned())
    }

    #[test]
    fn two_units_take_two_axes_and_three_take_three_panels() {
        let one = panels_by_unit(vec![curve("a", "V"), curve("b", "V")], "time [s]", &[]);
        assert_eq!((one.len(), one[0].has_right()), (1, false));
        assert_eq!(one[0].series[0].name, "a");
        let curves = vec![curve("a", "V"), curve("b", "mA"), curve("c", "V")];
        let two = panels_by_unit(curves.clone(), "time [s]", &[1.0]);
        assert_eq!(two.len(), 1);
        assert_eq!((&*two[0].y_label, &*two[0].right_label), ("[V]", "[mA]"));
        let sides: Vec<Side> = two[0].series.iter().map(|s| s.side).collect();
        assert_eq!(sides, [Side::Left, Side::Right, Side::Left]);
        assert_eq!(two[0].series[1].name, "b [mA]");
        let more = curves.into_iter().chain([curve("d", "K")]).collect();
        let three = panels_by_unit(more, "time [s]", &[1.0]);
        let labels: Vec<&str> = three.iter().map(|p| p.y_label.as_str()).collect();
        assert_eq!(labels, ["[V]", "[mA]", "[K]"]);
        assert!(three.iter().all(|p| p.marks == [1.0] && !p.has_right()));
    }

    #[test]
    fn a_curve_at_the_right_is_read_on_its_own_axis() {
        let (mut small, unit) = curve("small", "mV");
        small.y = vec![0.0, 1e-6, 4e-6];
        let panels = panels_by_unit(vec![curve("large", "V"), (small, unit)], "t", &[]);
        let svg = Plot {
            title: String::new(),
            panels,
        }
        .to_svg();
        let heights = |line: &str| -> Vec<String> {
            let points = line.split('"').nth(1).unwrap_or_default();
            points
                .split(' ')
                .filter_map(|p| p.split(',').nth(1))
                .map(str::to_owned)
                .collect()
        };
        let curves: Vec<Vec<String>> = svg
            .lines()
            .filter(|l| l.starts_with("<polyline") && l.matches(',').count() == 3)
            .map(heights)
            .collect();
        assert_eq!(curves.len(), 2);
        assert_eq!(curves[0], curves[1], "same shape, each on its own scale");
        assert!(svg.contains(">4e-6<") || svg.contains("e-6<"), "{svg}");
    }

    #[test]
    fn curves_of_one_panel_are_told_apart_without_colour() {
        let panels = panels_by_unit(vec![curve("a", ""), curve("b", "")], "t", &[]);
        let svg = Plot {
            title: String::new(),
            panels,
        }
        .to_svg();
        assert!(svg.contains("<circle") && svg.contains("<polygon"));
        assert!(
            !plot(vec![0.0, 1.0]).contains("class=\"dot\""),
            "one curve needs none"
        );
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
            vec![5e-324, 1e-323],
            vec![0.0, -5e-324],
            vec![1e-308, 2e-308, -3e-309],
            vec![1e-291, 1.0],
            vec![1e-289, 3e-289],
            vec![],
        ] {
            let svg = plot(y);
            assert!(!svg.contains("NaN"), "{svg}");
        }
    }
}
