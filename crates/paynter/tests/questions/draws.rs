//! Joint draws: one sample instead of a grid, statistics with confidence, yield against limits.

use crate::kit::{design, try_design};
use paynter::Choice;
use paynter::exec::Engine;
use paynter::statistics::{Statistics, statistics};
use paynter::sweep::{Point, sweep};

/// A measure that is a function of two drawn parameters.
fn drawn(lines: &str) -> String {
    format!(
        "model M {{ param a = 1, b = 2, c = 0; Se(1) -> j: 1 -> R(1) }}\n\
         experiment e of M {{ stop = 1 [ms]; record j.f; measure s = a + b, d = a - b\n{lines} }}"
    )
}

fn run(text: &str) -> (Vec<Point>, Statistics) {
    let design = design(text);
    let points = sweep(&design, &Choice::default(), Engine::Auto, 2).expect("the sweep starts");
    assert_eq!(points.len(), design.plan.n_points());
    let found = statistics(&design, &points).expect("axes are drawn");
    (points, found)
}

fn values(points: &[Point], k: usize) -> Vec<f64> {
    points.iter().map(|p| p.values[k]).collect()
}

fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let cov: f64 = x.iter().zip(y).map(|(a, b)| (a - mx) * (b - my)).sum();
    let var = |v: &[f64], m: f64| v.iter().map(|a| (a - m).powi(2)).sum::<f64>();
    cov / (var(x, mx) * var(y, my)).sqrt()
}

#[test]
fn drawn_axes_are_one_sample_beside_the_grid() {
    for way in ["random", "latin", "sobol"] {
        let lines = format!(
            "sweep a in {way}(400, seed = 3, from = 0, to = 2)\n sweep b in {way}(400, seed = 3, mean = 5, deviation = 0.5)\n"
        );
        let (points, found) = run(&drawn(&lines));
        assert_eq!(points.len(), 400, "{way}");
        // Independent although the seed is the same: five deviations of the correlation of 400 pairs.
        let together = correlation(&values(&points, 0), &values(&points, 1));
        assert!(together.abs() < 0.25, "{way}: {together}");
        // s has mean 6 and variance 1/3 + 1/4.
        let s = found.measures[0].2.as_ref().expect("every run has a value");
        assert!(s.mean.low < 6.0 && 6.0 < s.mean.high, "{way}: {:?}", s.mean);
        assert!(
            (s.deviation - (1.0f64 / 3.0 + 0.25).sqrt()).abs() < 0.1,
            "{way}: {}",
            s.deviation
        );
        let (grid, _) = run(&drawn(&format!("{lines}sweep c in [1, 2, 3]\n")));
        assert_eq!(grid.len(), 1200, "{way}");
        assert_eq!(grid[4].values[..2], points[1].values[..2], "{way}");
    }
}

#[test]
fn layered_samples_know_means_better() {
    let error = |way: &str| {
        let (_, found) = run(&drawn(&format!(
            "sweep a in {way}(256, seed = 1, from = 0, to = 2)\n sweep b in {way}(256, from = 1, to = 5)\n"
        )));
        (found.measures[0].2.as_ref().expect("values").mean.value - 4.0).abs()
    };
    assert!(
        error("latin") < 0.01 && error("sobol") < 0.01,
        "{} {}",
        error("latin"),
        error("sobol")
    );
}

#[test]
fn the_yield_is_the_share_of_runs_that_keep_the_limits() {
    let (points, found) = run(&drawn(
        "sweep a in sobol(1024, from = 0, to = 1)\n sweep b in sobol(1024, from = 0, to = 1)\n limit s <= 1, d > 0\n",
    ));
    assert_eq!(points[0].limits.len(), 2);
    let share = |k: usize| found.limits[k].1.expect("there are runs");
    // The half below the diagonal, each way; a quarter keeps both.
    assert!((share(0).value - 0.5).abs() < 0.02 && (share(1).value - 0.5).abs() < 0.02);
    let all = found.all.expect("there are limits");
    assert!(
        (all.value - 0.25).abs() < 0.02 && all.low < 0.25 && 0.25 < all.high,
        "{all:?}"
    );
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    for lines in [
        "sweep a in latin(10, from = 0, to = 2)\n sweep b in latin(20, from = 0, to = 2)",
        "sweep a in latin(10, from = 0, to = 2)\n sweep b in sobol(10, from = 0, to = 2)",
        "sweep a in latin(10, from = 0)",
        "sweep a in latin(10, mean = 0, deviation = -1)",
        "sweep a in latin(10, from = 0, to = 2, deviation = 1)",
        "sweep a in latin(0, from = 0, to = 2)",
        "sweep a in latin(10, form = 0, to = 2)",
        "sweep a in random()",
        "sweep a in latin(10, median = 0, factor = 2)",
        "sweep a in latin(10, median = 1, factor = 0.5)",
        "sweep a in latin(10, from = 0, to = 1, top = 2)",
        "sweep a in latin(10, from = 0, to = 1, with = b)",
        "sweep a in latin(10, from = 0, to = 1, with = b, correlation = 0.5)",
        "sweep a in latin(10, from = 0, to = 1, with = a, correlation = 0.5)",
        "sweep a in latin(9, from = 0, to = 1)\n sweep b in latin(9, from = 0, to = 1, with = a, correlation = 1.5)",
        "sweep a in latin(9, from = 0, to = 1, with = c, correlation = -0.9)\n sweep b in latin(9, from = 0, to = 1, with = a, correlation = 0.9)\n sweep c in latin(9, from = 0, to = 1, with = b, correlation = 0.9)",
        "limit s",
    ] {
        assert!(try_design(&drawn(lines)).is_err(), "{lines}");
    }
}

#[test]
fn correlated_normal_axes_have_their_correlation_and_their_own_spread() {
    for way in ["random", "latin", "sobol"] {
        let lines = format!(
            "sweep a in {way}(4096, seed = 5, mean = 3, deviation = 2)\n \
             sweep b in {way}(4096, mean = 5, deviation = 0.5, with = a, correlation = -0.7)\n"
        );
        let (points, _) = run(&drawn(&lines));
        let (a, b) = (values(&points, 0), values(&points, 1));
        // The correlation of 4096 pairs errs by (1 − ρ²)/64 = 0.008; five times that.
        assert!(
            (correlation(&a, &b) + 0.7).abs() < 0.04,
            "{way}: {}",
            correlation(&a, &b)
        );
        let mean = b.iter().sum::<f64>() / 4096.0;
        let deviation = (b.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4095.0).sqrt();
        assert!(
            (mean - 5.0).abs() < 0.04 && (deviation - 0.5).abs() < 0.03,
            "{way}: {mean} {deviation}"
        );
    }
}

#[test]
fn triangles_and_lognormal_numbers_have_the_moments_of_their_law() {
    let (points, _) = run(&drawn(
        "sweep a in sobol(4096, from = 1, to = 4, top = 2)\n sweep b in sobol(4096, median = 10, factor = 1.3)\n",
    ));
    let mean = |k: usize| values(&points, k).iter().sum::<f64>() / 4096.0;
    // (1 + 2 + 4)/3, and 10 e^{(ln 1.3)²/2}.
    assert!((mean(0) - 7.0 / 3.0).abs() < 1e-3, "{}", mean(0));
    let exact = 10.0 * (0.5 * 1.3f64.ln().powi(2)).exp();
    assert!((mean(1) - exact).abs() < 0.01, "{} {exact}", mean(1));
    assert!(values(&points, 0).iter().all(|x| (1.0..=4.0).contains(x)));
}
