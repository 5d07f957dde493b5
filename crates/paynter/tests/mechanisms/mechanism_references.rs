//! Mechanisms of the literature at default settings against digits found without Paynter.
//!
//! In:  models in `models/`, none with a method or an absolute tolerance of its own.
//! Out: the same values as a program of our own in Python: absolute coordinates, reactions by least squares, DOP853 at a
//!      relative tolerance of 1e-11 with projection. The four-bars are one pendulum, integrated as such to 1e-13.
//!
//! The default relative tolerance is 1e-6; errors of all steps add up, and these motions spread what they differ by.

use crate::kit::{column, run_text};

/// What accumulates over a run at the default tolerance.
const WITHIN: f64 = 2e-5;

fn check(text: &str, expected: &[(&str, f64)]) {
    let outcome = run_text(text);
    for &(name, value) in expected {
        let got = column(&outcome, name);
        let got = got[got.len() - 1];
        let size = value.abs().max(1.0);
        assert!(
            (got - value).abs() < WITHIN * size,
            "{name}: {got} for {value}"
        );
    }
}

#[test]
fn spherical_four_bar() {
    let text = include_str!("../models/spherical_four_bar.bond");
    check(
        text,
        &[
            ("r[1]", -0.155683262637),
            ("r[2]", -0.175857989741),
            ("r[3]", 0.186645892478),
            ("w[1]", 3.99618002897),
            ("w[2]", -1.79789013927),
            ("w[3]", -4.2761736719),
        ],
    );
}

#[test]
fn bricards_linkage() {
    check(
        include_str!("../models/bricard.bond"),
        &[
            ("r[1]", 0.419053537477),
            ("r[2]", -0.957747565899),
            ("r[3]", -1.03896009837),
            ("w[1]", -1.46768203127),
            ("w[2]", -1.45373788067),
            ("w[3]", -1.45296321547),
        ],
    );
}

#[test]
fn five_bar() {
    check(
        include_str!("../models/five_bar.bond"),
        &[("r[1]", -0.348905052716), ("r[2]", -0.0449158991237)],
    );
}

#[test]
fn flyball_governor() {
    let text = include_str!("../models/governor.bond").replace("stop = 2 [s]", "stop = 1 [s]");
    check(
        &text,
        &[
            ("z", 0.150008526323),
            ("rate", 7.41494254964),
            ("z1", 0.524420129267),
            ("z2", 0.524420129267),
        ],
    );
}

#[test]
fn heavy_top() {
    check(
        include_str!("../models/heavy_top.bond"),
        &[
            ("r[1]", -0.150416822729),
            ("r[2]", -0.724165591603),
            ("r[3]", -0.6730222696),
            ("w[2]", 150.0),
        ],
    );
}

#[test]
fn dzhanibekovs_nut() {
    check(
        include_str!("../models/dzhanibekov.bond"),
        &[
            ("w[1]", 4.03960279948587),
            ("w[2]", 4.200215649247354),
            ("w[3]", 2.69907381085343),
            ("Q[1]", 0.07640461921405857),
            ("Q[3]", 0.9187017038119166),
        ],
    );
}

#[test]
fn crank_and_rocker_in_space() {
    check(
        include_str!("../models/rssr.bond"),
        &[
            ("rate", 18.1026710686),
            ("rocker", -2.13836689419),
            ("r[1]", 0.0768594768478),
            ("r[2]", 0.149722903508),
            ("r[3]", 0.292222714374),
        ],
    );
}

#[test]
fn bennetts_linkage_passes_where_its_kept_locks_fail() {
    check(
        include_str!("../models/bennett.bond"),
        &[
            ("link[2].r[1]", 1.699779662360324),
            ("link[2].r[2]", -0.6849163241446818),
            ("link[2].r[3]", -0.29155425941992147),
            ("w[1]", 1.12011313611446),
            ("w[2]", -4.532613912294695),
            ("w[3]", 6.03857512775154),
        ],
    );
}

#[test]
fn four_bars_in_space_pass_their_singular_positions() {
    check(
        include_str!("../models/four_bars_in_space.bond"),
        &[("x", 0.32845811153292837), ("y", 0.9445185381813437)],
    );
}

#[test]
fn what_is_read_between_steps_is_right_at_singular_positions_too() {
    // A step of the method across such a position ends where it should, and is off by 6e-4 between its ends.
    let text = include_str!("../models/four_bars_in_space.bond");
    let text = text.replace(
        "output_step = 0.1 [s]",
        "output_step = 0.005 [s]; rtol = 1e-6; atol = 1e-6; method = dop853",
    );
    let outcome = run_text(&text);
    let (x, y) = (column(&outcome, "x"), column(&outcome, "y"));
    for (k, (x, y)) in x.iter().zip(y).enumerate() {
        let off = x.hypot(*y) - 1.0;
        assert!(off.abs() < WITHIN, "{off:e} in row {k}");
    }
    let audit = outcome.run.audit.as_ref().expect("there is power");
    assert!(audit.is_good(), "{audit:?}");
    // Five turns, twice in each.
    assert_eq!(outcome.run.statistics.passages.len(), 10);
}
