//! The error moves with the tolerance, decade by decade, between the ends of steps as at them.
//!
//! In:  every smooth reference of the gallery (an experiment with `compare` and rtol 1e-11), and driven
//!      relaxations with a closed form.
//! Out: at every output point the error is at most ten times the relative tolerance, as a part of the column's
//!      range, for every adaptive method; and it falls with the tolerance.
//!
//! With the variable `PAYNTER_ALL_DECADES` set, all of 1e-4 … 1e-11 are run and printed; otherwise every other one.

use crate::kit::{self, column, run_design, run_text};
use paynter::exec::Engine;
use paynter::model::experiment::Method;
use paynter::simulate::Ending;
use paynter::{Choice, Design};

fn decades() -> Vec<i32> {
    if std::env::var_os("PAYNTER_ALL_DECADES").is_some() {
        (4..=11).collect()
    } else {
        vec![4, 6, 8, 10]
    }
}

/// Lags of 1 kHz make the platform slow for all methods but one, so that the others take part at a loose tolerance, and
/// only when all are asked for.
fn decades_of(experiment: &str, method: Method) -> Vec<i32> {
    let decades = decades();
    if experiment != "platform_camera" || method == Method::Dop853 {
        decades
    } else if decades.contains(&5) {
        vec![4]
    } else {
        Vec::new()
    }
}

/// A column that may err by more than ten times the tolerance of its own range, and why.
struct Exception {
    experiment: &'static str,
    column: &'static str,
    /// The range that counts, as a multiple of the column's own.
    range: f64,
}

/// Steps are controlled by the states. A column that is a small difference of large states cannot be better than
/// they are, so it is measured by their size.
const EXCEPTIONS: &[Exception] = &[
    // α' = P/I − γ' sin β …: its range is 0.08 rad/s, that of γ' 1 rad/s.
    Exception {
        experiment: "table_pulse_friction",
        column: "alpha_dot",
        range: 12.5,
    },
    Exception {
        experiment: "table_pulse_friction_noMGY",
        column: "alpha_dot",
        range: 12.5,
    },
    // Tilt and turn of the gyroscopes, 1e-3 to 1e-2 rad/s, are what is left of a rotor's 1500 rad/s: P₃ cos θ is
    // subtracted, where θ is near 90°. They are measured by a thousandth of that.
    gyro_rate("gr_thd", 600.0),
    gyro_rate("gr_phd", 2000.0),
    gyro_rate("gp_thd", 480.0),
    gyro_rate("gp_phd", 150.0),
    gyro_rate("gy_thd", 1150.0),
    gyro_rate("gy_phd", 150.0),
];

const fn gyro_rate(column: &'static str, range: f64) -> Exception {
    Exception {
        experiment: "platform_camera",
        column,
        range,
    }
}

/// How far a reference itself is off, as a part of a range.
fn error_of_reference(experiment: &str) -> f64 {
    if experiment.starts_with("ch6_") {
        // All methods agree among each other to 1e-11 at the tightest tolerance, and differ from these references by
        // the same 3.2e-10.
        4e-10
    } else if experiment == "platform_camera" {
        // The axes are controlled by what is left of 1500 rad/s, with its roundings. Runs that differ in nothing
        // but these, at whatever tolerance, differ by up to 1.3e-9.
        2e-9
    } else {
        1e-12
    }
}

/// Worst error over all columns, in units of the tolerance; none if the method does not apply.
fn error(design: &Design, experiment: &str) -> Option<f64> {
    let rtol = design.plan.rtol;
    let outcome = run_design(design, Engine::Auto).ok()?;
    if let Ending::Failed { .. } = outcome.run.ending {
        return None;
    }
    let comparison = &outcome.comparisons[0].result;
    assert!(comparison.n_times > 2 && comparison.n_times_missing == 0);
    let of_column = |c: &paynter::compare::ColumnDifference| {
        let is_here = |e: &&Exception| e.experiment == experiment && e.column == c.name;
        let range = EXCEPTIONS.iter().find(is_here).map_or(1.0, |e| e.range);
        assert!(c.scaled.is_finite(), "{experiment}: {}", c.name);
        (c.scaled / range - error_of_reference(experiment)).max(0.0) / rtol
    };
    Some(comparison.columns.iter().map(of_column).fold(0.0, f64::max))
}

fn check_folder(folder: &str) {
    let mut n_checked = 0;
    for file in kit::bond_files(&kit::gallery().join(folder)) {
        for experiment in paynter::experiments(&file).expect("it can be read") {
            let choice = Choice {
                experiment: Some(experiment.clone()),
                ..Choice::default()
            };
            let Ok(mut design) = paynter::design(&file, &choice) else {
                panic!("{experiment} is not made");
            };
            let plan = &design.plan;
            let is_smooth_reference =
                plan.rtol == 1e-11 && plan.method == Method::Dop853 && !plan.comparisons.is_empty();
            if !is_smooth_reference {
                continue;
            }
            for method in [Method::Tsit5, Method::Dop853, Method::Rodas5P, Method::Bdf] {
                design.plan.method = method;
                n_checked += usize::from(check_method(&mut design, &experiment));
            }
        }
    }
    assert!(n_checked > 0, "{folder} has no smooth reference");
}

/// Runs all decades with the method that the plan names; false if it does not apply.
fn check_method(design: &mut Design, experiment: &str) -> bool {
    let method = design.plan.method;
    let mut errors = Vec::new();
    let decades = decades_of(experiment, method);
    for &decade in &decades {
        design.plan.rtol = 10.0_f64.powi(-decade);
        let Some(error) = error(design, experiment) else {
            // BDF refuses a model that is projected.
            assert_eq!(method, Method::Bdf, "{experiment} fails");
            return false;
        };
        errors.push(error);
    }
    let shown: Vec<String> = errors.iter().map(|e| format!("{e:7.3}")).collect();
    println!("{experiment:28} {method:?}: {}", shown.join(" "));
    assert!(
        errors.iter().all(|&e| e <= 10.0),
        "{experiment}, {method:?}: errors in units of rtol {errors:?}"
    );
    // Over two decades the error falls; one alone may be lucky by a zero of the error, as may be an error far
    // below what was asked for.
    let apart = if decades.get(1) == Some(&5) { 2 } else { 1 };
    let absolute: Vec<f64> = errors
        .iter()
        .zip(&decades)
        .map(|(e, &d)| e.max(0.1) * 10.0_f64.powi(-d))
        .collect();
    assert!(
        absolute.windows(1 + apart).all(|e| e[apart] < 0.5 * e[0]),
        "{experiment}, {method:?}: errors {absolute:?} do not fall"
    );
    true
}

macro_rules! folders {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { check_folder(stringify!($name)); })*
    };
}

// Left out: `servo` and `slider_crank` have no reference of this kind.
folders!(
    ball_joint,
    circuit,
    disc,
    flight_table,
    gear_train,
    gyroscope,
    missile,
    pendulum,
    platform,
    rate_gyro,
    spring_mass_damper,
    wheatstone,
);

/// Largest error over the output points, in units of the tolerance, of a sine-driven RC.
fn relaxation_error(tau: f64, method: &str, rtol: f64) -> f64 {
    let text = format!(
        "model M {{ s: Se(sin(2*pi*time)) -> j: 1 -> r: R(1), c: C({tau}) }}
        experiment x of M {{ stop = 5; output_step = 0.003; rtol = {rtol:e}; method = {method}; record c.e as v }}"
    );
    let outcome = run_text(&text);
    let w = std::f64::consts::TAU;
    // τ v̇ = sin ωt − v from rest: v = (sin ωt − ωτ cos ωt + ωτ e^(−t/τ)) / (1 + ω²τ²)
    let exact = |t: f64| {
        let wt = w * tau;
        ((w * t).sin() - wt * (w * t).cos() + wt * (-t / tau).exp()) / (1.0 + wt * wt)
    };
    let times = &outcome.run.table.time;
    let size = times.iter().map(|&t| exact(t).abs()).fold(0.0, f64::max);
    let values = times.iter().zip(column(&outcome, "v"));
    let errors = values.map(|(&t, v)| (v - exact(t)).abs() / (2.0 * size * rtol));
    errors.fold(0.0, f64::max)
}

#[test]
fn driven_relaxation_is_right_between_the_steps() {
    for method in ["tsit5", "dop853", "rodas5p", "bdf"] {
        for tau in [0.01, 0.05, 0.3, 2.0] {
            let errors: Vec<f64> = decades()
                .into_iter()
                .map(|d| relaxation_error(tau, method, 10.0_f64.powi(-d)))
                .collect();
            println!("τ = {tau}, {method}: {errors:.3?}");
            assert!(
                errors.iter().all(|&e| e <= 10.0),
                "τ = {tau}, {method}: {errors:?}"
            );
        }
    }
}

/// A capacitor that follows its source through 1 mΩ: the steps of a stiff method are as long as the load allows, and
/// what flows is a difference of nearly equal voltages.
#[test]
fn capacitor_near_its_source_is_right_between_the_steps_and_its_energy_is_found() {
    for method in ["rodas5p", "bdf"] {
        for decade in [6, 8, 10] {
            let rtol = 10.0_f64.powi(-decade);
            let text = format!(
                "model M {{
                    battery: Se(200) -> charge: 1 -> n: 0 -> c: C(2e-3)
                    charge -> r: R(1e-3)
                    n -> load: Sf(1 + sin(200*time))
                    start c.e = 200
                }}
                experiment x of M {{ stop = 0.3; output_step = 1e-3; rtol = {rtol:e}; method = {method}; record c.e as v }}"
            );
            let outcome = run_text(&text);
            // With u = 200 − v: τ u̇ = R (1 + sin ωt) − u from rest.
            let (r, tau, w) = (1e-3, 2e-6, 200.0);
            let exact = |t: f64| {
                let (wt, decay) = (w * tau, (-t / tau).exp());
                let swing = ((w * t).sin() - wt * (w * t).cos() + wt * decay) / (1.0 + wt * wt);
                200.0 - r * (1.0 - decay + swing)
            };
            let values = outcome.run.table.time.iter().zip(column(&outcome, "v"));
            let error = values.fold(0.0, |worst: f64, (&t, v)| worst.max((v - exact(t)).abs()));
            assert!(error < 10.0 * rtol * 200.0, "{method}, {rtol:e}: {error:e}");
            let audit = outcome.run.audit.expect("it has power");
            // What flows is known to 200 V · rtol / 1 mΩ, which at 1e-6 is a fifth of it.
            let allowed = if decade == 6 {
                100.0 * rtol
            } else {
                10.0 * rtol
            };
            assert!(
                audit.relative() < allowed,
                "{method}, {rtol:e}: {}",
                audit.relative()
            );
        }
    }
}

#[test]
fn crossing_inside_a_long_step_is_found_at_its_time() {
    // The level is crossed inside of steps; the time of the crossing is as exact as the curve.
    for method in ["tsit5", "dop853", "rodas5p", "bdf"] {
        for decade in decades() {
            let rtol = 10.0_f64.powi(-decade);
            let text = format!(
                "model M {{
                    j: 1 -> m: I(1), c: C(1)
                    when below: c.q < 0.3 {{ seen = time }}
                    start c.q = 1
                }}
                experiment x of M {{ stop = 2; rtol = {rtol:e}; method = {method}; record seen }}"
            );
            let outcome = run_text(&text);
            let seen = kit::last(&outcome, "seen");
            // q = cos t, whose slope there is 0.95.
            let error = (seen - 0.3_f64.acos()).abs();
            assert!(error < 10.0 * rtol, "{method}, {rtol:e}: {error:e}");
        }
    }
}
