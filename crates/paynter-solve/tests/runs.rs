//! Projection, quadratures, sampled systems, systems without states, and honest failures.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use common::{Closures, Log, ode, options, solve};
use paynter_solve::{
    Absolute, BadInput, Clock, Clocks, Crossing, Dense, EvalError, EventOutcome, Failure,
    FinishReason, Function, Method, NoObserver, Observer, Options, Projection, System, integrate,
};

const ADAPTIVE: [Method; 4] = [Method::Tsit5, Method::Dop853, Method::Rodas5P, Method::Bdf];

// --- projection -----------------------------------------------------------------------------

/// A point that runs round the unit circle; the projection puts it back on the circle.
fn circle(projects: bool) -> Closures {
    let mut system = ode(2, |_, y, f| {
        f[0] = -y[1];
        f[1] = y[0];
    });
    if projects {
        system.projector = Some(Box::new(|y| {
            let radius = y[0].hypot(y[1]);
            let size = (radius - 1.0).abs();
            let moved = size > 1e-15;
            if moved {
                y[0] /= radius;
                y[1] /= radius;
            }
            Projection { moved, size }
        }));
    }
    system
}

#[test]
fn projection_keeps_an_invariant_over_a_thousand_seconds() {
    for method in [Method::Tsit5, Method::Dop853, Method::Rodas5P, Method::Auto] {
        let options = options(method, 1e-6, 1e-8);
        let free = solve(&mut circle(false), &[1.0, 0.0], (0.0, 1000.0), &options);
        let held = solve(&mut circle(true), &[1.0, 0.0], (0.0, 1000.0), &options);
        let drift = |y: &[f64]| (y[0].hypot(y[1]) - 1.0).abs();
        assert!(drift(&free.y) > 1e-7, "{method:?} drifts without");
        assert!(drift(&held.y) < 1e-15, "{method:?}: {}", drift(&held.y));
        assert!(held.statistics.projections > 0);
        // The part of the error that is projected away does not cost steps.
        let (with, without) = (held.statistics.steps, free.statistics.steps);
        assert!(
            with <= without + without / 20,
            "{method:?}: {with} {without}"
        );
    }
}

#[test]
fn projected_steps_stay_continuous_inside() {
    for method in [Method::Tsit5, Method::Dop853, Method::Rodas5P] {
        let mut log = Log {
            exact: Some(f64::cos),
            ..Log::default()
        };
        let options = options(method, 1e-8, 1e-8);
        integrate(
            &mut circle(true),
            0.0,
            &[1.0, 0.0],
            10.0,
            &options,
            &mut log,
        )
        .unwrap();
        // Ten times what steps and interpolants may err.
        assert!(log.worst_dense < 1e-6, "{method:?}: {}", log.worst_dense);
    }
}

#[test]
fn bdf_refuses_a_system_that_projects() {
    let options = options(Method::Bdf, 1e-6, 1e-9);
    let error = integrate(
        &mut circle(true),
        0.0,
        &[1.0, 0.0],
        1.0,
        &options,
        &mut NoObserver,
    );
    let failure = error.unwrap_err().failure;
    assert_eq!(failure, Failure::BadInput(BadInput::Projection));
}

// --- quadratures ----------------------------------------------------------------------------

#[test]
fn quadratures_are_as_exact_as_the_trajectory() {
    for method in ADAPTIVE {
        let mut system = ode(2, |_, y, f| {
            f[0] = y[1];
            f[1] = -y[0] - 0.2 * y[1];
        });
        // Power into the damper; stored energy falls by its integral.
        system.n_quadratures = 2;
        system.q = Box::new(|t, y, q| {
            q[0] = 0.2 * y[1] * y[1];
            q[1] = t;
        });
        let finish = solve(
            &mut system,
            &[1.0, 0.0],
            (0.0, 20.0),
            &options(method, 1e-8, 1e-10),
        );
        let stored = 0.5 * (finish.y[0].powi(2) + finish.y[1].powi(2));
        let balance = stored + finish.quadratures[0] - 0.5;
        // BDF interpolates with its own order only.
        let tolerance = if method == Method::Bdf { 2e-6 } else { 1e-7 };
        assert!(balance.abs() < tolerance, "{method:?}: {balance}");
        // A polynomial is integrated to rounding.
        assert!((finish.quadratures[1] - 200.0).abs() < 1e-11, "{method:?}");
    }
}

#[test]
fn an_integrand_rougher_than_the_steps_is_still_integrated() {
    // The state hardly moves, so steps are long; the integrand is a bell of width 1/10 (area √π/10).
    for method in ADAPTIVE {
        let mut system = ode(1, |_, y, f| f[0] = 0.01 * y[0]);
        system.n_quadratures = 1;
        system.q = Box::new(|t, _, q| q[0] = (-(10.0 * (t - 5.0)).powi(2)).exp());
        let mut options = options(method, 1e-6, 1e-8);
        options.max_step = 0.5;
        let finish = solve(&mut system, &[1.0], (0.0, 10.0), &options);
        let area = std::f64::consts::PI.sqrt() / 10.0;
        let error = (finish.quadratures[0] - area).abs() / area;
        assert!(error < 1e-5, "{method:?}: {error:e}");
    }
}

#[test]
fn a_tolerance_that_learns_sizes_spares_steps_and_keeps_the_error() {
    // Velocity starts at zero and crosses it in every half turn. One run may gain or lose a step by chance.
    let mut work = [0, 0];
    for (method, exponent) in [(Method::Dop853, 6), (Method::Dop853, 8), (Method::Tsit5, 7)] {
        let rtol = 10.0_f64.powi(-exponent);
        for (work, share) in work.iter_mut().zip([0.0, 1e-2 * rtol]) {
            let mut system = circle(false);
            let mut options = options(method, rtol, rtol);
            options.tolerances.absolute = Absolute::Growing {
                least: vec![1e-6 * rtol; 2],
                share: vec![share; 2],
                groups: Vec::new(),
            };
            let finish = solve(&mut system, &[1.0, 0.0], (0.0, 100.0), &options);
            *work += finish.statistics.rhs;
            let error = (finish.y[0].hypot(finish.y[1]) - 1.0).abs();
            assert!(error < 100.0 * rtol, "{method:?} at {rtol:e}: {error:e}");
        }
    }
    let [fixed, learning] = work;
    assert!(learning < fixed, "{learning} and {fixed}");
}

#[test]
fn quadratures_do_not_change_the_steps() {
    let run = |n_quadratures| {
        let mut system = circle(false);
        system.n_quadratures = n_quadratures;
        system.q = Box::new(|_, y, q| q.fill(y[0]));
        solve(
            &mut system,
            &[1.0, 0.0],
            (0.0, 10.0),
            &options(Method::Dop853, 1e-8, 1e-8),
        )
    };
    let (with, without) = (run(3), run(0));
    assert_eq!(with.y, without.y);
    assert_eq!(with.statistics.steps, without.statistics.steps);
}

// --- sampled systems ------------------------------------------------------------------------

/// A stiff drive (electrical pole at −2e4, mechanical at −5, an elastic mode of 300 rad/s)
/// under a sampled controller at 6 kHz and a slower set point at 1.2 kHz.
struct Sampled {
    clocks: Clocks,
    command: f64,
    set_point: f64,
    ticks: [usize; 2],
}

impl System for Sampled {
    fn n(&self) -> usize {
        4
    }

    fn rhs(&mut self, _t: f64, y: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        let [current, speed, twist, load] = [y[0], y[1], y[2], y[3]];
        f[0] = 2e4 * (self.command - 0.1 * speed - current);
        f[1] = 50.0 * current - 5.0 * speed - 300.0 * twist;
        f[2] = 300.0 * (speed - load);
        f[3] = 300.0 * twist - 0.5 * load - load.powi(3) * 1e-3;
        Ok(())
    }

    fn next_time_event(&mut self, _t: f64) -> Option<f64> {
        self.clocks.next_time()
    }

    fn handle_event(
        &mut self,
        t: f64,
        y: &mut [f64],
        _fired: &[Crossing],
    ) -> Result<EventOutcome, EvalError> {
        let ticking = self.clocks.advance();
        if ticking.contains(&1) {
            self.ticks[1] += 1;
            self.set_point = 1.0 + (50.0 * t).sin();
        }
        if ticking.contains(&0) {
            self.ticks[0] += 1;
            self.command = 2.0 * (self.set_point - y[1]);
        }
        Ok(EventOutcome::Continue { changed: true })
    }
}

fn sampled() -> Sampled {
    let clocks = [6000, 1200].map(|rate| Clock::per_second(rate).unwrap());
    Sampled {
        clocks: Clocks::new(clocks.to_vec(), 0.0),
        command: 0.0,
        set_point: 1.0,
        ticks: [0, 0],
    }
}

#[test]
fn a_sampled_plant_takes_few_steps_per_sample() {
    let mut system = sampled();
    let options = options(Method::Rodas5P, 1e-7, 1e-9);
    let finish = integrate(&mut system, 0.0, &[0.0; 4], 0.5, &options, &mut NoObserver).unwrap();
    assert_eq!(system.ticks, [3000, 600]);
    let steps = finish.statistics.steps + finish.statistics.rejected;
    assert!(
        steps <= 15 * 3000,
        "{} steps per sample",
        steps as f64 / 3000.0
    );
}

#[test]
fn methods_agree_on_a_sampled_plant() {
    let run = |method| {
        let options = options(method, 1e-9, 1e-11);
        let finish = integrate(
            &mut sampled(),
            0.0,
            &[0.0; 4],
            0.05,
            &options,
            &mut NoObserver,
        );
        finish.unwrap().y
    };
    let reference = run(Method::Dop853);
    for method in [Method::Tsit5, Method::Rodas5P, Method::Bdf, Method::Auto] {
        for (y, reference) in run(method).iter().zip(&reference) {
            // 300 samples, each restart within tolerance.
            assert!((y - reference).abs() < 1e-6, "{method:?}: {y} {reference}");
        }
    }
}

#[test]
fn a_tick_that_changes_nothing_does_not_restart() {
    let run = |period| {
        let mut system = circle(false);
        system.period = period;
        solve(
            &mut system,
            &[1.0, 0.0],
            (0.0, 10.0),
            &options(Method::Dop853, 1e-8, 1e-8),
        )
    };
    let (ticking, free) = (run(Some(5.0)), run(None));
    assert_eq!(
        ticking.statistics.time_events, 2,
        "at 5 and at the very end"
    );
    // One landing may cut a step in two, no more.
    assert!(ticking.statistics.rhs <= free.statistics.rhs + 2 * 12);
}

// --- observers ------------------------------------------------------------------------------

/// Stops after so many steps.
struct Impatient(usize);

impl Observer for Impatient {
    fn step(&mut self, _: &dyn Dense, _: &[f64], _: &mut dyn System) -> ControlFlow<()> {
        self.0 -= 1;
        if self.0 == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[test]
fn an_observer_can_end_the_run_and_keeps_what_was_computed() {
    let options = options(Method::Tsit5, 1e-6, 1e-9);
    let mut observer = Impatient(5);
    let finish = integrate(
        &mut circle(false),
        0.0,
        &[1.0, 0.0],
        10.0,
        &options,
        &mut observer,
    )
    .unwrap();
    assert_eq!(finish.reason, FinishReason::Cancelled);
    assert_eq!(finish.statistics.steps, 5);
    assert!((finish.y[0] - finish.t.cos()).abs() < 1e-5);
}

#[test]
fn steps_seen_by_the_observer_join_without_gaps() {
    for method in ADAPTIVE {
        let mut system = circle(false).guards(1, |_, y, g| g[0] = y[0] - 0.3);
        system.period = Some(0.7);
        let mut log = Log::default();
        integrate(
            &mut system,
            0.0,
            &[1.0, 0.0],
            10.0,
            &options(method, 1e-6, 1e-9),
            &mut log,
        )
        .unwrap();
        assert_eq!(log.steps[0].0, 0.0);
        assert_eq!(log.steps.last().unwrap().1, 10.0);
        assert!(log.steps.windows(2).all(|pair| pair[0].1 == pair[1].0));
    }
}

// --- no states ------------------------------------------------------------------------------

#[test]
fn a_system_without_states_runs_as_algebra_over_time() {
    for method in [Method::Auto, Method::Rodas5P, Method::Bdf, Method::Rk4] {
        let mut system = ode(0, |_, _, _| {}).guards(1, |t, _, g| g[0] = (t - 0.3).sin());
        system.n_quadratures = 1;
        system.q = Box::new(|t, _, q| q[0] = t * t);
        let mut log = Log::default();
        let mut options = options(method, 1e-6, 1e-9);
        options.fixed_step = Some(0.05);
        let finish = integrate(&mut system, 0.0, &[], 3.0, &options, &mut log).unwrap();
        assert!((finish.quadratures[0] - 9.0).abs() < 1e-12);
        assert_eq!(log.events.len(), 1);
        assert!((log.events[0].0 - 0.3).abs() < 1e-14);
    }
}

// --- failures -------------------------------------------------------------------------------

fn failure(system: &mut Closures, y0: &[f64], t_end: f64, options: &Options) -> Failure {
    integrate(system, 0.0, y0, t_end, options, &mut NoObserver)
        .unwrap_err()
        .failure
}

#[test]
fn a_blow_up_in_finite_time_is_reported_where_it_happens() {
    for method in [
        Method::Tsit5,
        Method::Dop853,
        Method::Rodas5P,
        Method::Bdf,
        Method::Auto,
    ] {
        // y = 1 / (1 − t); the second variable is calm.
        let mut system = ode(2, |_, y, f| {
            f[0] = 0.0;
            f[1] = y[1] * y[1];
        });
        let options = options(method, 1e-6, 1e-9);
        let error = integrate(
            &mut system,
            0.0,
            &[1.0, 1.0],
            2.0,
            &options,
            &mut NoObserver,
        )
        .unwrap_err();
        // Where the solution exceeds 1e10, the time is within 1e-6 of the pole.
        assert!((error.t - 1.0).abs() < 1e-5, "{method:?}: {error:?}");
        assert!(error.y[1] > 1e5 && error.statistics.steps > 10);
        match error.failure {
            Failure::StepTooSmall { worst, .. } => assert_eq!(worst, 1),
            Failure::NotFinite { .. } | Failure::Singular { .. } | Failure::NewtonFailed { .. } => {
            }
            other => panic!("{method:?}: {other:?}"),
        }
    }
}

#[test]
fn a_value_that_is_not_finite_is_named() {
    for method in [
        Method::Euler,
        Method::Rk4,
        Method::Tsit5,
        Method::Dop853,
        Method::Rodas5P,
        Method::Bdf,
    ] {
        let mut system = ode(3, |_, y, f| {
            f[0] = -1.0;
            f[1] = y[0].sqrt();
            f[2] = 0.0;
        });
        let mut options = options(method, 1e-6, 1e-9);
        options.fixed_step = Some(0.01);
        match failure(&mut system, &[0.5, 0.0, 0.0], 2.0, &options) {
            Failure::NotFinite { t, index, what } => {
                assert_eq!((index, what), (1, Function::Rhs), "{method:?}");
                assert!((0.49..0.52).contains(&t), "{method:?}: {t}");
            }
            other => panic!("{method:?}: {other:?}"),
        }
    }
}

#[test]
fn a_border_of_the_domain_can_be_approached() {
    // √ of a value that falls to 0 and turns: a stage may look over the border.
    let mut system = ode(1, |t, y, f| f[0] = 2.0 * (t - 1.0) + 0.0 * y[0].sqrt());
    let finish = solve(
        &mut system,
        &[1.0 + 1e-6],
        (0.0, 2.0),
        &options(Method::Dop853, 1e-8, 1e-10),
    );
    assert!((finish.y[0] - (1.0 + 1e-6)).abs() < 1e-8);
}

#[test]
fn a_system_may_give_up_for_good() {
    struct Refuses;
    impl System for Refuses {
        fn n(&self) -> usize {
            1
        }
        fn rhs(&mut self, t: f64, _: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
            f[0] = 1.0;
            if t > 0.5 {
                return Err(EvalError::Fatal { code: 42 });
            }
            Ok(())
        }
    }
    let options = options(Method::Tsit5, 1e-6, 1e-9);
    let error = integrate(&mut Refuses, 0.0, &[0.0], 1.0, &options, &mut NoObserver).unwrap_err();
    let expected = EvalError::Fatal { code: 42 };
    assert!(matches!(error.failure, Failure::Evaluation { error, .. } if error == expected));
    assert_eq!(error.statistics.rejected, 1);
}

#[test]
fn too_many_steps_are_too_many() {
    let mut options = options(Method::Dop853, 1e-6, 1e-9);
    options.max_steps = 10;
    let failure = failure(&mut circle(false), &[1.0, 0.0], 1e6, &options);
    assert!(matches!(failure, Failure::TooManySteps { limit: 10, .. }));
}

#[test]
fn a_singular_algebraic_row_is_reported() {
    for method in [Method::Rodas5P, Method::Bdf] {
        let mut system = ode(2, |_, y, f| {
            // The second variable is determined by nothing.
            f[0] = -y[0];
            f[1] = 0.0;
        });
        system.algebraic = vec![false, true];
        let failure = failure(&mut system, &[1.0, 0.0], 1.0, &options(method, 1e-6, 1e-9));
        let is_honest = matches!(failure, Failure::Singular { index: Some(1), .. });
        assert!(is_honest, "{method:?}: {failure:?}");
    }
}

#[test]
fn input_that_makes_no_sense_is_refused() {
    let good = options(Method::Dop853, 1e-6, 1e-9);
    let bad = |options: Options, y0: &[f64], t_end: f64| match failure(
        &mut circle(false),
        y0,
        t_end,
        &options,
    ) {
        Failure::BadInput(problem) => problem,
        other => panic!("{other:?}"),
    };
    let y = [1.0, 0.0];
    assert_eq!(bad(good.clone(), &y, -1.0), BadInput::EndBeforeStart);
    assert_eq!(bad(good.clone(), &y, f64::NAN), BadInput::TimeNotFinite);
    assert_eq!(bad(good.clone(), &[1.0], 1.0), BadInput::StateLength);
    let problem = bad(good.clone(), &[1.0, f64::NAN], 1.0);
    assert_eq!(problem, BadInput::StateNotFinite { index: 1 });
    assert_eq!(
        bad(options(Method::Tsit5, 0.0, 1e-9), &y, 1.0),
        BadInput::Tolerance
    );
    assert_eq!(
        bad(options(Method::Tsit5, 1e-6, 0.0), &y, 1.0),
        BadInput::Tolerance
    );
    let no_step = options(Method::Rk4, 1e-6, 1e-9);
    assert_eq!(bad(no_step, &y, 1.0), BadInput::FixedStepMissing);
    let mut negative = good;
    negative.max_step = -1.0;
    assert_eq!(bad(negative, &y, 1.0), BadInput::StepSize);
}

#[test]
fn a_run_of_no_length_gives_the_start_back() {
    let finish = solve(
        &mut circle(false),
        &[1.0, 0.0],
        (3.0, 3.0),
        &options(Method::Auto, 1e-6, 1e-9),
    );
    assert_eq!((finish.t, finish.y), (3.0, vec![1.0, 0.0]));
}

#[test]
fn the_same_run_gives_the_same_bits() {
    for method in ADAPTIVE {
        let seen = Rc::new(RefCell::new(Vec::new()));
        for _ in 0..2 {
            let finish = solve(
                &mut circle(false),
                &[1.0, 0.0],
                (0.0, 5.0),
                &options(method, 1e-7, 1e-9),
            );
            seen.borrow_mut().push((finish.y, finish.statistics));
        }
        let seen = seen.borrow();
        assert_eq!(seen[0], seen[1], "{method:?}");
    }
}

#[test]
fn explicit_steps_far_beyond_stability_are_at_rest_between_their_ends_as_well() {
    // Nothing moves, so steps grow until rounding, magnified by the unstable formula, reaches the tolerance. Going
    // over such a step in halves magnifies it twice: it must not be believed.
    struct Farthest(f64);
    impl paynter_solve::Observer for Farthest {
        fn needs_dense(&mut self, _: f64, _: f64) -> bool {
            true
        }
        fn step(&mut self, d: &dyn Dense, _: &[f64], _: &mut dyn System) -> ControlFlow<()> {
            let mut y = [0.0; 2];
            for k in 0..=20 {
                d.eval(d.t0() + (d.t1() - d.t0()) * f64::from(k) / 20.0, &mut y);
                self.0 = self.0.max((y[0] - 0.3).abs()).max((y[1] - 0.7).abs());
            }
            ControlFlow::Continue(())
        }
    }
    let rest = |_: f64, y: &[f64], f: &mut [f64]| {
        f[0] = -5e5 * (y[0] - 3.0 * 0.1) + 1e3 * (y[1] - 7.0 * 0.1);
        f[1] = 1e3 * (y[0] - 3.0 * 0.1) - 2e3 * (y[1] - 7.0 * 0.1);
    };
    for decade in 5..10 {
        let rtol = 10.0_f64.powi(-decade);
        let mut farthest = Farthest(0.0);
        let options = options(Method::Dop853, rtol, 1e-2 * rtol);
        let run = integrate(
            &mut ode(2, rest),
            0.0,
            &[0.3, 0.7],
            0.5,
            &options,
            &mut farthest,
        );
        run.expect("it rests");
        assert!(farthest.0 < 20.0 * rtol, "rtol {rtol:e}: {:e}", farthest.0);
    }
}
