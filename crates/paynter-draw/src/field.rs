//! What a panel shows behind its curves: bands between two curves, and cells of a map in colours.
//!
//! In:  plain numbers; colours follow [`Scale`], which a bar beside the panel explains.
//! Out: SVG below the curves of `plot`, in the places that the panel gives.
//!
//! **Invariant:** a value that is not finite has no colour: its cell stays empty.

use crate::svg::{Svg, number};

/// The room between two curves: a range of quantiles, or the bars of a histogram as stairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// Shown in the legend; empty for none.
    pub name: String,
    /// Horizontal values, never falling.
    pub x: Vec<f64>,
    /// Lower curve.
    pub low: Vec<f64>,
    /// Upper curve.
    pub high: Vec<f64>,
    /// How dark, between 0 and 1.
    pub shade: f64,
}

/// A map: one value for each pair of columns and rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// Borders to the right, one more than columns, rising.
    pub x: Vec<f64>,
    /// Borders upwards, one more than rows, rising.
    pub y: Vec<f64>,
    /// Row by row from below.
    pub values: Vec<f64>,
}

/// What colours mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scale {
    /// Beside the bar.
    pub label: String,
    /// At its lower end.
    pub low: f64,
    /// At its upper end.
    pub high: f64,
}

impl Scale {
    /// A scale over values; none where there is nothing to tell apart.
    pub fn over(label: &str, values: impl Iterator<Item = f64>) -> Option<Scale> {
        let finite = values.filter(|x| x.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| {
            (l.min(x), h.max(x))
        });
        (low < high).then(|| Scale {
            label: label.to_owned(),
            low,
            high,
        })
    }

    /// The colour of a value.
    pub(crate) fn colour(&self, value: f64) -> String {
        let part = (value - self.low) / (self.high - self.low);
        colour(if part.is_finite() { part } else { 0.5 })
    }
}

/// Colours of growing lightness that colour-blind readers and grey printers keep in order: viridis (van der Walt & Smith 2015), at
/// equal steps.
const VIRIDIS: [(u8, u8, u8); 9] = [
    (68, 1, 84),
    (72, 40, 120),
    (62, 74, 137),
    (49, 104, 142),
    (38, 130, 142),
    (31, 158, 137),
    (53, 183, 121),
    (109, 205, 89),
    (220, 216, 50),
];

/// The colour at a part of the way along the scale.
pub(crate) fn colour(part: f64) -> String {
    let place = part.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let k = (place as usize).min(VIRIDIS.len() - 2);
    let between = place - k as f64;
    let mix = |a: u8, b: u8| (f64::from(a) + between * (f64::from(b) - f64::from(a))).round() as u8;
    let (a, b) = (VIRIDIS[k], VIRIDIS[k + 1]);
    format!(
        "#{:02x}{:02x}{:02x}",
        mix(a.0, b.0),
        mix(a.1, b.1),
        mix(a.2, b.2)
    )
}

/// Colour of bands and bars.
pub(crate) const BAND: &str = "#0072b2";

/// Draws a band, at the places of its points; what is not finite breaks it.
pub(crate) fn draw_band(svg: &mut Svg, band: &Band, place: &dyn Fn(f64, f64) -> (f64, f64)) {
    let is_good =
        |i: usize| [band.x[i], band.low[i], band.high[i]].map(f64::is_finite) == [true; 3];
    let n = band.x.len().min(band.low.len()).min(band.high.len());
    let mut from = 0;
    while from < n {
        let until = (from..n).find(|&i| !is_good(i)).unwrap_or(n);
        if until > from + 1 {
            let there = (from..until).map(|i| place(band.x[i], band.high[i]));
            let back = (from..until).rev().map(|i| place(band.x[i], band.low[i]));
            let points: Vec<String> = there
                .chain(back)
                .map(|(x, y)| format!("{},{}", number(x), number(y)))
                .collect();
            svg.raw(&format!(
                r#"<polygon points="{}" fill="{BAND}" fill-opacity="{}" class="band"/>"#,
                points.join(" "),
                number(band.shade)
            ));
        }
        from = until + 1;
    }
}

/// Draws the cells of a map.
pub(crate) fn draw_cells(
    svg: &mut Svg,
    cells: &Cells,
    scale: &Scale,
    place: &dyn Fn(f64, f64) -> (f64, f64),
) {
    let n_columns = cells.x.len().saturating_sub(1);
    let n_rows = cells.y.len().saturating_sub(1);
    for row in 0..n_rows {
        for column in 0..n_columns {
            let value = cells.values[row * n_columns + column];
            if !value.is_finite() {
                continue;
            }
            let (left, bottom) = place(cells.x[column], cells.y[row]);
            let (right, top) = place(cells.x[column + 1], cells.y[row + 1]);
            // A hair wider, so that no seams are seen between neighbours.
            svg.raw(&format!(
                r#"<rect x="{}" y="{}" width="{}" height="{}" fill="{}" class="cell"/>"#,
                number(left),
                number(top),
                number(right - left + 0.3),
                number(bottom - top + 0.3),
                scale.colour(value)
            ));
        }
    }
}

/// Draws the bar that explains the colours: its left upper corner and its height are given.
pub(crate) fn draw_bar(svg: &mut Svg, (left, top): (f64, f64), height: f64) {
    const STRIPES: usize = 48;
    const WIDTH: f64 = 10.0;
    let each = height / STRIPES as f64;
    for k in 0..STRIPES {
        let part = 1.0 - (k as f64 + 0.5) / STRIPES as f64;
        svg.raw(&format!(
            r#"<rect x="{}" y="{}" width="{WIDTH}" height="{}" fill="{}"/>"#,
            number(left),
            number(top + k as f64 * each),
            number(each + 0.3),
            colour(part)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_run_from_dark_to_light_without_a_fall() {
        let lightness = |part: f64| {
            let c = colour(part);
            let byte = |k: usize| f64::from(u8::from_str_radix(&c[k..k + 2], 16).expect("hex"));
            0.299 * byte(1) + 0.587 * byte(3) + 0.114 * byte(5)
        };
        let all: Vec<f64> = (0..=40).map(|k| lightness(f64::from(k) / 40.0)).collect();
        assert!(all.windows(2).all(|w| w[1] > w[0]), "{all:?}");
        assert_eq!(colour(-1.0), colour(0.0));
        assert_eq!(colour(7.0), colour(1.0));
    }

    #[test]
    fn a_cell_without_a_value_stays_empty_and_a_band_is_broken_there() {
        let mut svg = Svg::new();
        let cells = Cells {
            x: vec![0.0, 1.0, 2.0],
            y: vec![0.0, 1.0],
            values: vec![3.0, f64::NAN],
        };
        let scale = Scale::over("z", [3.0, 4.0].into_iter()).expect("two values");
        draw_cells(&mut svg, &cells, &scale, &|x, y| (x, -y));
        let band = Band {
            x: vec![0.0, 1.0, 2.0, 3.0, 4.0],
            low: vec![0.0, 0.0, f64::NAN, 0.0, 0.0],
            high: vec![1.0; 5],
            ..Band::default()
        };
        draw_band(&mut svg, &band, &|x, y| (x, -y));
        let text = svg.finish(1.0, 1.0, "");
        assert_eq!(text.matches("class=\"cell\"").count(), 1);
        assert_eq!(text.matches("<polygon").count(), 2);
        assert!(!text.contains("NaN"));
        assert_eq!(Scale::over("z", [3.0, 3.0].into_iter()), None);
    }
}
