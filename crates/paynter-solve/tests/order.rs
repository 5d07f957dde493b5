//! Integrators are proved by order: halving the step divides the error by 2ᵖ.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Log, fixed, ode, solve};
use paynter_solve::{Method, integrate};

/// Largest errors at and between the ends of steps, for a problem that is non-linear and not
/// autonomous: y = 1 / (1 + 9 e^(−t − t²/2)).
fn errors(method: Method, h: f64) -> (f64, f64) {
    let mut system = ode(2, |t, y, f| {
        f[0] = y[0] * (1.0 - y[0]) * (1.0 + t);
        f[1] = y[1] * y[0] * t.cos();
    })
    .jacobian(|t, y, j| {
        j[0] = (1.0 - 2.0 * y[0]) * (1.0 + t);
        j[1] = y[1] * t.cos();
        j[2] = 0.0;
        j[3] = y[0] * t.cos();
    });
    let mut log = Log {
        exact: Some(|t| 1.0 / (1.0 + 9.0 * (-t - 0.5 * t * t).exp())),
        ..Log::default()
    };
    integrate(
        &mut system,
        0.0,
        &[0.1, 1.0],
        2.0,
        &fixed(method, h),
        &mut log,
    )
    .unwrap();
    (log.worst_end, log.worst_dense)
}

fn orders(method: Method, h: f64) -> (f64, f64) {
    let (coarse, coarse_dense) = errors(method, h);
    let (fine, fine_dense) = errors(method, 0.5 * h);
    ((coarse / fine).log2(), (coarse_dense / fine_dense).log2())
}

// The measured order differs from the true one by terms of order h. A third below leaves room
// for those and still shows a method one order short; above, the next order may still rule.
#[track_caller]
fn assert_order((end, dense): (f64, f64), (p_end, p_dense): (f64, f64)) {
    assert!(
        (p_end - 0.35..p_end + 1.0).contains(&end),
        "at the end: {end}"
    );
    assert!(dense > p_dense - 0.35, "inside: {dense}");
}

#[test]
fn euler_has_order_1() {
    assert_order(orders(Method::Euler, 1.0 / 256.0), (1.0, 1.0));
}

#[test]
fn adams_bashforth_has_order_2() {
    assert_order(orders(Method::Ab2, 1.0 / 256.0), (2.0, 2.0));
}

#[test]
fn rk4_has_order_4_and_hermite_inside() {
    assert_order(orders(Method::Rk4, 1.0 / 64.0), (4.0, 4.0));
}

#[test]
fn tsit5_has_order_5_and_4_inside() {
    assert_order(orders(Method::Tsit5, 1.0 / 32.0), (5.0, 4.0));
}

#[test]
fn dop853_has_order_8_and_7_inside() {
    assert_order(orders(Method::Dop853, 1.0 / 4.0), (8.0, 7.0));
}

/// A method of order p integrates polynomials of degree p exactly, whatever the step.
#[test]
fn polynomials_up_to_the_order_are_exact() {
    for (method, degree) in [
        (Method::Euler, 1),
        (Method::Ab2, 2),
        (Method::Rk4, 4),
        (Method::Tsit5, 5),
        (Method::Dop853, 8),
    ] {
        let mut system = ode(1, move |t, _, f| {
            f[0] = f64::from(degree) * t.powi(degree - 1)
        });
        let finish = solve(&mut system, &[0.0], (0.0, 1.0), &fixed(method, 0.2));
        // Rounding of five steps with coefficients up to 50.
        assert!(
            (finish.y[0] - 1.0).abs() < 1e-13,
            "{method:?}: {}",
            finish.y[0]
        );
    }
}

#[test]
fn rodas5p_has_order_5_and_4_inside() {
    assert_order(orders(Method::Rodas5P, 1.0 / 32.0), (5.0, 4.0));
}
