//! Fewer points for a curve that looks the same.
//!
//! In:  a curve of any number of points.
//! Out: its points, or some of them; gaps are values that are not numbers.
//!
//! | curve | what is kept |
//! |---|---|
//! | over time | the lowest and the highest point of each bin |
//! | held between samples | the points where it changes |
//! | phase plot | what leaves new ink, in pieces that follow the curve |
//!
//! **Invariant:** every kept point is a point of the curve, in its order; both ends stay.

use crate::series::Series;

/// The size of a panel on paper or screen, in the unit in which ink is counted: about a pixel.
const PANEL: (f64, f64) = (700.0, 240.0);
/// Ink is first counted in cells of this size. Finer ones cannot be told apart on any screen.
const FINEST: f64 = 0.35;

/// How many points a curve may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    pub over_time: usize,
    /// More, since a phase plot may fill an area.
    pub phase: usize,
}

/// The points of a curve that have to be drawn.
pub(crate) fn seen(series: &Series, most: Most) -> (Vec<f64>, Vec<f64>) {
    let (x, y) = (&series.x, &series.y);
    if series.is_held {
        let (x, y) = changes(x, y);
        return extremes(&x, &y, most.over_time);
    }
    // Compared so that a gap in x does not make a curve over time a phase plot.
    let goes_back = x.windows(2).any(|w| w[1] < w[0]);
    match goes_back {
        true => new_ink(x, y, most.phase),
        false => extremes(x, y, most.over_time),
    }
}

/// Corners of a held curve: each value until the next one comes.
pub(crate) fn steps(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::with_capacity(2 * points.len());
    for &(x, y) in points {
        if let Some(&(_, before)) = out.last().filter(|last| last.1 != y) {
            out.push((x, before));
        }
        out.push((x, y));
    }
    out
}

/// Tells whether a curve looks like one that is held between samples: it changes at once, and then stays for
/// two points at least. A curve that moves is seen to move in neighbouring points.
pub fn looks_held(y: &[f64]) -> bool {
    let is_change: Vec<bool> = y.windows(2).map(|w| w[0] != w[1]).collect();
    let n_changes = is_change.iter().filter(|&&c| c).count();
    n_changes > 0 && is_change.windows(2).all(|w| !(w[0] && w[1]))
}

/// The points where a held curve changes, and the last one.
fn changes(x: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let n = x.len().min(y.len());
    let is_kept = |&i: &usize| i == 0 || i + 1 == n || y[i].to_bits() != y[i - 1].to_bits();
    let kept: Vec<usize> = (0..n).filter(is_kept).collect();
    pick(x, y, &kept)
}

fn pick(x: &[f64], y: &[f64], kept: &[usize]) -> (Vec<f64>, Vec<f64>) {
    (
        kept.iter().map(|&i| x[i]).collect(),
        kept.iter().map(|&i| y[i]).collect(),
    )
}

/// Places of the lowest and the highest value of each of many bins, and of both ends: some `max_points` of them.
pub fn extremes_of(y: &[f64], max_points: usize) -> Vec<usize> {
    let n = y.len();
    let per_bin = n.div_ceil((max_points / 2).max(1)).max(1);
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
    kept.push(n.saturating_sub(1));
    kept.dedup();
    kept
}

/// Keeps the extremes of each of many bins, so that a spike is still seen; the ends stay, too.
fn extremes(x: &[f64], y: &[f64], max_points: usize) -> (Vec<f64>, Vec<f64>) {
    let n = x.len().min(y.len());
    if n <= max_points {
        return (x[..n].to_vec(), y[..n].to_vec());
    }
    let kept = extremes_of(&y[..n], max_points);
    pick(x, y, &kept)
}

/// Thins a curve along itself: straight parts lose their inner points, and parts that run where ink is already
/// are left out. Coarser, as long as that leaves too many points.
fn new_ink(x: &[f64], y: &[f64], max_points: usize) -> (Vec<f64>, Vec<f64>) {
    let n = x.len().min(y.len());
    if n <= max_points {
        return (x[..n].to_vec(), y[..n].to_vec());
    }
    let (x_scale, y_scale) = (Scale::of(&x[..n], PANEL.0), Scale::of(&y[..n], PANEL.1));
    let points: Vec<(f64, f64)> = x[..n]
        .iter()
        .zip(y)
        .map(|(&x, &y)| (x_scale.at(x), y_scale.at(y)))
        .collect();
    let mut cell = FINEST;
    loop {
        let pieces = ink(&points, cell);
        let n_kept: usize = pieces.iter().map(|p| p.len() + 1).sum();
        if n_kept <= max_points || cell > PANEL.0 {
            return joined(x, y, &pieces);
        }
        cell *= 1.5;
    }
}

/// Pieces one after the other, with gaps between.
fn joined(x: &[f64], y: &[f64], pieces: &[Vec<usize>]) -> (Vec<f64>, Vec<f64>) {
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for piece in pieces {
        if !xs.is_empty() {
            xs.push(f64::NAN);
            ys.push(f64::NAN);
        }
        let (x, y) = pick(x, y, piece);
        xs.extend(x);
        ys.extend(y);
    }
    (xs, ys)
}

/// From values to places on a panel.
struct Scale {
    low: f64,
    factor: f64,
}

impl Scale {
    fn of(values: &[f64], length: f64) -> Scale {
        let finite = values.iter().copied().filter(|x| x.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        // Halves, so that the width of the largest numbers does not overflow.
        let half_width = 0.5 * high - 0.5 * low;
        let factor = match half_width > 0.0 && half_width.is_finite() {
            true => 0.5 * length / half_width,
            false => 0.0,
        };
        Scale { low, factor }
    }

    fn at(&self, value: f64) -> f64 {
        (value - self.low) * self.factor
    }
}

/// Indices of points in pieces that leave new ink in cells of the given size.
fn ink(points: &[(f64, f64)], cell: f64) -> Vec<Vec<usize>> {
    let mut paper = Paper::new(cell);
    let mut pieces: Vec<Vec<usize>> = Vec::new();
    let mut start = 0;
    let is_finite = |p: &(f64, f64)| p.0.is_finite() && p.1.is_finite();
    for run in points.chunk_by(|a, b| is_finite(a) == is_finite(b)) {
        if is_finite(&run[0]) {
            let kept = corners(run, 0.5 * cell);
            let mut is_down = false;
            for pair in kept.windows(2) {
                // The end of a run is drawn in any case: there the eye looks for where it stops.
                let is_drawn = paper.draw(run[pair[0]], run[pair[1]]) || pair[1] + 1 == run.len();
                match pieces.last_mut().filter(|_| is_down) {
                    Some(piece) if is_drawn => piece.push(start + pair[1]),
                    _ if is_drawn => pieces.push(vec![start + pair[0], start + pair[1]]),
                    _ => {}
                }
                is_down = is_drawn;
            }
        }
        start += run.len();
    }
    pieces
}

/// Which cells of a panel have ink.
struct Paper {
    cell: f64,
    n_columns: usize,
    n_rows: usize,
    has_ink: Vec<bool>,
}

impl Paper {
    fn new(cell: f64) -> Paper {
        let n_columns = (PANEL.0 / cell) as usize + 1;
        let n_rows = (PANEL.1 / cell) as usize + 1;
        Paper {
            cell,
            n_columns,
            n_rows,
            has_ink: vec![false; n_columns * n_rows],
        }
    }

    /// Draws a straight line; tells whether it left ink where none was.
    fn draw(&mut self, a: (f64, f64), b: (f64, f64)) -> bool {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        // Half a cell at a time misses none by more than a corner.
        let n_steps = (2.0 * (dx * dx + dy * dy).sqrt() / self.cell)
            .ceil()
            .max(1.0);
        let mut is_new = false;
        for step in 0..=n_steps as usize {
            let part = step as f64 / n_steps;
            let column = ((a.0 + part * dx) / self.cell) as usize;
            let row = ((a.1 + part * dy) / self.cell) as usize;
            let at = row.min(self.n_rows - 1) * self.n_columns + column.min(self.n_columns - 1);
            is_new |= !std::mem::replace(&mut self.has_ink[at], true);
        }
        is_new
    }
}

/// The points between which a curve is straight but for a tolerance: a new corner where no straight line from
/// the last one passes all points since (Sklansky & Gonzalez 1980), or where the curve turns back.
fn corners(points: &[(f64, f64)], tolerance: f64) -> Vec<usize> {
    let mut kept = vec![0];
    let mut anchor = 0;
    let mut cone = Cone::default();
    for i in 1..points.len() {
        let from_anchor = |k: usize| (points[i].0 - points[k].0, points[i].1 - points[k].1);
        if !cone.admits(from_anchor(anchor), tolerance) {
            anchor = i - 1;
            kept.push(anchor);
            cone = Cone::default();
        }
        cone.narrow(from_anchor(anchor), tolerance);
    }
    if kept.last() != Some(&(points.len() - 1)) {
        kept.push(points.len() - 1);
    }
    kept
}

/// Directions of straight lines that pass all points so far near enough.
#[derive(Default)]
struct Cone {
    /// Its sides, seen from the corner; none as long as all directions are good.
    sides: Option<[(f64, f64); 2]>,
    farthest: f64,
}

impl Cone {
    fn admits(&self, d: (f64, f64), tolerance: f64) -> bool {
        let distance = (d.0 * d.0 + d.1 * d.1).sqrt();
        let turns_back = distance < self.farthest - tolerance;
        let is_inside =
            |[right, left]: [(f64, f64); 2]| cross(right, d) >= 0.0 && cross(left, d) <= 0.0;
        !turns_back && (distance <= tolerance || self.sides.is_none_or(is_inside))
    }

    fn narrow(&mut self, d: (f64, f64), tolerance: f64) {
        let distance = (d.0 * d.0 + d.1 * d.1).sqrt();
        self.farthest = self.farthest.max(distance);
        if distance <= tolerance {
            return;
        }
        // Tangents to the circle of the tolerance around the point, by the sine and cosine of their angle.
        let sine = tolerance / distance;
        let cosine = (1.0 - sine * sine).sqrt();
        let turned = |s: f64| (d.0 * cosine - d.1 * s, d.0 * s + d.1 * cosine);
        let (right, left) = (turned(-sine), turned(sine));
        self.sides = Some(match self.sides {
            None => [right, left],
            Some([r, l]) => [
                if cross(r, right) > 0.0 { right } else { r },
                if cross(l, left) < 0.0 { left } else { l },
            ],
        });
    }
}

fn cross(a: (f64, f64), b: (f64, f64)) -> f64 {
    a.0 * b.1 - a.1 * b.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(x: Vec<f64>, y: Vec<f64>) -> Series {
        Series {
            x,
            y,
            ..Series::default()
        }
    }

    fn at_most(n: usize) -> Most {
        Most {
            over_time: n,
            phase: n,
        }
    }

    #[test]
    fn thinning_keeps_both_ends() {
        let x: Vec<f64> = (0..10_001).map(f64::from).collect();
        let y = x.iter().map(|t| (0.37 * t).sin()).collect();
        let (kept, _) = seen(&series(x, y), at_most(100));
        assert_eq!((kept[0], kept[kept.len() - 1]), (0.0, 10_000.0));
        assert!(kept.len() <= 102 && kept.is_sorted());
    }

    #[test]
    fn a_spike_survives_thinning() {
        let mut y = vec![0.0; 100_000];
        y[77_777] = 1.0;
        let x: Vec<f64> = (0..y.len()).map(|i| i as f64).collect();
        assert!(seen(&series(x, y), at_most(4000)).1.contains(&1.0));
    }

    /// Random spirals, flowers and orbits: no point of the curve is farther from a drawn line than the cells in
    /// which ink is counted, and every drawn line is as near to the curve.
    #[test]
    fn a_thinned_phase_plot_has_ink_where_the_curve_goes_and_nowhere_else() {
        for case in 0..12_u32 {
            let (turns, petals) = (200.0 + 130.0 * f64::from(case), f64::from(case % 5));
            let fall = f64::from(case % 3) * 2.0;
            let n = 60_000;
            let angle = |i: usize| turns * std::f64::consts::TAU * i as f64 / n as f64;
            let size = |i: usize| {
                (-fall * i as f64 / n as f64).exp() * (1.0 + 0.3 * (petals * angle(i)).cos())
            };
            let x: Vec<f64> = (0..n).map(|i| size(i) * angle(i).cos()).collect();
            let y: Vec<f64> = (0..n).map(|i| size(i) * angle(i).sin()).collect();
            let (kept_x, kept_y) = seen(&series(x.clone(), y.clone()), at_most(16_000));
            assert!(kept_x.len() <= 16_000, "{} points", kept_x.len());
            // Ink of both on one paper, in cells that are as coarse as a thick line.
            let cell = 4.0;
            let (xs, ys) = (Scale::of(&x, PANEL.0), Scale::of(&y, PANEL.1));
            let whole = ink_of(&x, &y, (&xs, &ys), cell);
            let thinned = ink_of(&kept_x, &kept_y, (&xs, &ys), cell);
            let near = |paper: &Paper, at: usize| {
                let (row, column) = (at / paper.n_columns, at % paper.n_columns);
                let rows = row.saturating_sub(1)..(row + 2).min(paper.n_rows);
                rows.flat_map(|r| {
                    (column.saturating_sub(1)..(column + 2).min(paper.n_columns))
                        .map(move |c| (r, c))
                })
                .any(|(r, c)| paper.has_ink[r * paper.n_columns + c])
            };
            for (one, other) in [(&whole, &thinned), (&thinned, &whole)] {
                let is_alone = |&at: &usize| one.has_ink[at] && !near(other, at);
                assert_eq!(
                    (0..one.has_ink.len()).filter(is_alone).count(),
                    0,
                    "case {case}"
                );
            }
        }
    }

    fn ink_of(x: &[f64], y: &[f64], scales: (&Scale, &Scale), cell: f64) -> Paper {
        let mut paper = Paper::new(cell);
        for i in 1..x.len() {
            let at = |i: usize| (scales.0.at(x[i]), scales.1.at(y[i]));
            if x[i].is_finite() && x[i - 1].is_finite() {
                paper.draw(at(i - 1), at(i));
            }
        }
        paper
    }

    #[test]
    fn gaps_of_a_phase_plot_stay_gaps() {
        let mut x: Vec<f64> = (0..50_000).map(|i| (0.01 * f64::from(i)).cos()).collect();
        let y: Vec<f64> = (0..50_000).map(|i| f64::from(i) / 5e4).collect();
        x[20_000..30_000].fill(f64::NAN);
        let (_, kept) = seen(&series(x, y), at_most(1000));
        assert!(kept.iter().all(|y| !(0.4..0.6).contains(y) || y.is_nan()));
        assert!(kept.contains(&(19_999.0 / 5e4)) && kept.contains(&(30_000.0 / 5e4)));
    }

    #[test]
    fn a_held_curve_keeps_every_change_and_has_no_ramps() {
        let x: Vec<f64> = (0..100_000).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|t| (t / 100.0).floor() % 7.0).collect();
        assert!(looks_held(&y) && !looks_held(&x) && !looks_held(&[1.0, 1.0]));
        let held = Series {
            is_held: true,
            ..series(x, y.clone())
        };
        let (x, kept) = seen(&held, at_most(4000));
        assert_eq!(kept.len(), 1001);
        let points: Vec<(f64, f64)> = x.into_iter().zip(kept).collect();
        let corners = steps(&points);
        assert!(
            corners
                .windows(2)
                .all(|w| w[0].0 == w[1].0 || w[0].1 == w[1].1)
        );
        assert!(corners.contains(&(100.0, 0.0)) && corners.contains(&(100.0, 1.0)));
    }
}
