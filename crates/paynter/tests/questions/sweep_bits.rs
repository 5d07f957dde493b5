//! Machine code, threads and the order of points change no bit of a sweep.

use crate::kit::{self, design};
use paynter::Choice;
use paynter::design::SweepChoice;
use paynter::exec::Engine;
use paynter::sweep::{Keep, Point, Sweeper};
use std::ops::ControlFlow;

/// All points with everything that is recorded.
fn points(design: &paynter::Design, engine: Engine, jobs: usize) -> Vec<Point> {
    let keep = Keep {
        curves: true,
        times: false,
    };
    let sweeper = Sweeper::keeping(design, &Choice::default(), engine, keep);
    let sweeper = sweeper.expect("the sweep starts");
    let all = 0..design.plan.n_points();
    sweeper.run(all, jobs, &|_| ControlFlow::Continue(()))
}

fn assert_alike(design: &paynter::Design, what: &str) {
    let interpreted = format!("{:?}", points(design, Engine::Interpreter, 1));
    for jobs in [1, 2, 3] {
        let compiled = format!("{:?}", points(design, Engine::Jit, jobs));
        assert!(compiled == interpreted, "{what} with {jobs} threads");
    }
}

#[test]
fn sweeps_of_gallery_models_have_the_bits_of_the_interpreter() {
    for (file, experiment, sweep) in [
        (
            "gyroscope/gyroscope.bond",
            "gyro2_sin",
            "A in [2, 2.2, 2.4, 2.6, 2.8] [kg*m^2]",
        ),
        (
            "pendulum/pendulum.bond",
            "pendulum_thesis_hanging",
            "L in [0.6, 0.7, 0.8, 0.9] [m]",
        ),
        (
            "missile/missile.bond",
            "gains_set1",
            "KA in 0.05 [rad/s] .. 0.12 [rad/s] by 0.01 [rad/s]",
        ),
        (
            "power_limit/power_limit.bond",
            "limited",
            "pilot.most in [200, 450, 1000] [W]",
        ),
        (
            "cart_pendulum/cart_pendulum.bond",
            "pushed",
            "M in [1, 1.5, 2, 2.5, 3] [kg]",
        ),
        (
            "disc/disc.bond",
            "disc_gravity_friction",
            "m in [0.4, 0.5, 0.6] [kg]",
        ),
    ] {
        let choice = Choice {
            experiment: Some(experiment.to_owned()),
            sweep: Some(SweepChoice {
                over: vec![sweep.to_owned()],
                is_paired: false,
            }),
            ..Choice::default()
        };
        let path = kit::gallery().join(file);
        let Ok(design) = paynter::design(&path, &choice) else {
            panic!("{file}: {experiment} with {sweep} is no design")
        };
        assert_alike(&design, file);
    }
}

/// A ball that bounces at other times in every point, a spring that hardens, a switch of time, a stop, a point that
/// fails and a range that is left: points end early, restart, and are refused.
#[test]
fn events_stops_and_failures_of_points_change_no_bit_of_others() {
    let text = "\
model M {
    param m = 1 [kg] in 0.2 [kg] .. 3 [kg]
    ball: 1 -> I(m)
    ball -> R(0.4 [N*s/m])
    Se(-9.81 [N/kg] * m) -> ball
    der(h) = ball.f
    der(angle) = 3 [rad/s] * sin(h / 1 [m]) + if time > 0.7 [s] then 1 [rad/s] else 0 [rad/s]
    der(worst) = log((2.2 [kg] - m) / 1 [kg]) / 1 [s] + sqrt(1.2 - angle / 10 [rad]) / 1 [s]
    when h < 0 [m] { reinit ball.f = -0.8 * ball.f; }
    when angle > 3.5 [rad] { stop \"turned\"; }
}
experiment e of M {
    start h = 1 [m]
    stop = 2 [s]; output_step = 0.05 [s]; method = dop853; rtol = 1e-8
    record h, ball.f, angle, worst
    measure top = max(h)
    sweep m in 0.1 [kg] .. 3 [kg] by 0.1 [kg]
}
";
    assert_alike(&design(text), "a ball");
}
