//! Laws of linear models, against closed forms.

use paynter_linear::{
    Channel, Complex, Corner, LinearModel, Matrix, Response, balance, eigenvalues, frequency_sweep,
    margins, modes, step_horizon, step_response, zeros,
};
use proptest::prelude::*;
use std::f64::consts::PI;

fn channel(a: &[&[f64]], b: &[f64], c: &[f64], d: &[f64]) -> Channel {
    Channel {
        a: Matrix::from_rows(a),
        b: b.to_vec(),
        c: c.to_vec(),
        d: d.to_vec(),
    }
}

/// A chain of integrators with feedback: poles are the roots of sⁿ + aₙ₋₁ sⁿ⁻¹ + … + a₀.
fn companion(coefficients: &[f64]) -> Matrix {
    let n = coefficients.len();
    Matrix::from_fn(n, n, |i, j| {
        if i + 1 == n {
            -coefficients[j]
        } else if j == i + 1 {
            1.0
        } else {
            0.0
        }
    })
}

/// Series RLC in charge and flux: v_C/v = 1/(LC s² + RC s + 1).
fn rlc(r: f64, l: f64, c: f64) -> Channel {
    channel(
        &[&[0.0, 1.0 / l], &[-1.0 / c, -r / l]],
        &[0.0, 1.0],
        &[1.0 / c, 0.0],
        &[0.0],
    )
}

#[test]
fn the_response_of_a_series_circuit_is_its_transfer_function() {
    let (r, l, c) = (3.0, 2e-3, 47e-9);
    let response = Response::new(&rlc(r, l, c));
    for k in 0..=240 {
        let omega = 10.0_f64.powf(-2.0 + 0.05 * f64::from(k));
        let s = Complex::new(0.0, omega);
        let exact = Complex::new(1.0, 0.0) / (s * s * (l * c) + s * (r * c) + 1.0);
        let found = response.at_frequency(omega);
        assert!((found - exact).norm() <= 1e-12 * exact.norm(), "{omega}");
    }
}

#[test]
fn poles_of_a_badly_scaled_circuit_are_exact() {
    // q in nC beside flux in Wb: entries of A differ by 1e10.
    let (r, l, c) = (3.0, 2e-3, 47e-12);
    let found = modes(&rlc(r, l, c).a).expect("two poles");
    let natural = 1.0 / (l * c).sqrt();
    let damping = r / 2.0 * (c / l).sqrt();
    assert!((found[0].natural_frequency() / natural - 1.0).abs() < 1e-14);
    // The real part is 1e-4 of the size, so it has four digits less.
    assert!((found[0].damping() / damping - 1.0).abs() < 1e-10);
    assert_eq!(found[0].pole.im, -found[1].pole.im);
}

#[test]
fn a_channel_with_resonance_and_notch_has_its_zeros() {
    // (s² + 4)/((s + 1)(s + 2)(s + 3)), in a chain of integrators.
    let found = zeros(&Channel {
        a: companion(&[6.0, 11.0, 6.0]),
        b: vec![0.0, 0.0, 1.0],
        c: vec![4.0, 0.0, 1.0],
        d: vec![0.0],
    });
    let found = found.expect("finite").expect("something passes");
    assert_eq!(found.len(), 2);
    assert!(
        found
            .iter()
            .all(|z| (z.norm() - 2.0).abs() < 1e-13 && z.re.abs() < 1e-13)
    );
}

#[test]
fn channels_without_zeros_and_without_anything_are_told_apart() {
    let chain = companion(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    let through = Channel {
        a: chain.clone(),
        b: vec![0.0, 0.0, 0.0, 0.0, 1.0],
        c: vec![1.0, 0.0, 0.0, 0.0, 0.0],
        d: vec![0.0],
    };
    assert_eq!(zeros(&through), Ok(Some(Vec::new())));
    let apart = channel(
        &[&[-1.0, 0.0], &[0.0, -2.0]],
        &[1.0, 0.0],
        &[0.0, 1.0],
        &[0.0],
    );
    assert_eq!(zeros(&apart), Ok(None));
    // Two equal ways that cancel: what rounding leaves of them is nothing, too.
    let equal = channel(
        &[&[-0.3, 0.1], &[0.1, -0.3]],
        &[0.7, 0.7],
        &[0.3, -0.3],
        &[0.0],
    );
    assert_eq!(zeros(&equal), Ok(None));
}

#[test]
fn a_long_badly_scaled_chain_keeps_its_zero() {
    // The linear fin servo: amplifier and motor, gear, fin, and a PI controller; entries from 1 to 3e6.
    // Its only zero is that of the controller, −0.0909.
    let a = Matrix::from_rows(&[
        &[-1000.0, -3333333.3, 0.0, 0.0, -1088.62, 1.7271],
        &[2500.0, -666666.7, -6.68, 0.0, 0.0, 0.0],
        &[0.0, 44444.44, 0.0, -833.3333, 0.0, 0.0],
        &[0.0, 0.0, 83.5, -133.3333, 0.0, 0.0],
        &[0.0, 0.0, 0.0, 3333.333, 0.0, 0.0],
        &[0.0, 0.0, 0.0, 0.0, -57.29578, 0.0],
    ]);
    let found = zeros(&Channel {
        a,
        b: vec![19.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        c: vec![0.0, 0.0, 0.0, 0.0, 57.29578, 0.0],
        d: vec![0.0],
    });
    let found = found.expect("finite").expect("something passes");
    assert_eq!(found.len(), 1);
    assert!((found[0].re + 1.7271 / 19.0).abs() < 1e-12, "{found:?}");
}

#[test]
fn rates_of_the_input_are_zeros_at_finite_places() {
    // A capacitor at a source: i = C du/dt + u/R has its zero at −1/(RC), and no pole.
    let direct = channel(&[], &[], &[], &[0.5, 0.25]);
    let found = zeros(&direct).expect("finite").expect("something passes");
    assert_eq!(found.len(), 1);
    assert!((found[0] - Complex::new(-2.0, 0.0)).norm() < 1e-14);
    let at = Response::new(&direct).at_frequency(4.0);
    assert_eq!(at, Complex::new(0.5, 1.0));
}

#[test]
fn a_multiple_pole_says_how_inexact_it_is() {
    // (s + 1)⁴: rounding moves a fourfold pole by ε^(1/4) ≈ 1e-4, and the estimate must say so.
    let found = modes(&companion(&[1.0, 4.0, 6.0, 4.0])).expect("four poles");
    for mode in &found {
        let error = (mode.pole - Complex::new(-1.0, 0.0)).norm();
        assert!(error < 1e-3);
        assert!(
            mode.uncertainty * 10.0 > error,
            "{error} {}",
            mode.uncertainty
        );
    }
    // A simple pole of a normal matrix is exact and known to be.
    let simple = modes(&Matrix::from_rows(&[&[-1.0, 0.0], &[0.0, -5.0]])).expect("two poles");
    assert!(simple.iter().all(|m| m.uncertainty < 1e-14));
}

#[test]
fn integrators_are_seen_at_zero_beside_fast_poles() {
    let found = modes(&companion(&[0.0, 1e10, 2e5])).expect("three poles");
    assert!(found[0].is_at_zero());
    assert!(!found[1].is_at_zero());
}

#[test]
fn states_that_move_in_a_mode_take_part_in_it() {
    // Two circuits that do not touch.
    let a = Matrix::from_rows(&[&[0.0, 1.0, 0.0], &[-4.0, -0.1, 0.0], &[0.0, 0.0, -100.0]]);
    let found = modes(&a).expect("three poles");
    assert!(found[0].participation[0] > 0.5 && found[0].participation[2] == 0.0);
    assert_eq!(found[2].participation, vec![0.0, 0.0, 1.0]);
}

#[test]
fn a_narrow_resonance_is_not_stepped_over() {
    // ζ = 1e-5: the peak is 20 log10(1/2ζ) = 93.98 dB high and 2e-5 wide.
    let zeta = 1e-5;
    let one = channel(
        &[&[0.0, 1.0], &[-1.0, -2.0 * zeta]],
        &[0.0, 1.0],
        &[1.0, 0.0],
        &[0.0],
    );
    let corners: Vec<Corner> = eigenvalues(&one.a)
        .expect("two")
        .into_iter()
        .filter_map(Corner::of)
        .collect();
    let sweep = frequency_sweep(&Response::new(&one), &corners, None);
    let peak = sweep.values.iter().fold(0.0_f64, |m, z| m.max(z.norm()));
    assert!((peak * 2.0 * zeta - 1.0).abs() < 1e-3, "{peak}");
    assert!(sweep.omega.windows(2).all(|w| w[0] < w[1]));
    assert!(sweep.phase.windows(2).all(|p| (p[0] - p[1]).abs() < 0.5));
    assert!(sweep.omega.len() < 4000, "{}", sweep.omega.len());
    let last = sweep.phase.last().copied().expect("points");
    assert!((last + PI).abs() < 1e-3);
}

#[test]
fn margins_of_a_third_order_loop_are_those_of_its_closed_form() {
    // L = k/(s + 1)³: arg L = −180° at ω = √3, where |L| = k/8; |L| = 1 at ω² = k^(2/3) − 1.
    let k = 4.0;
    let one = Channel {
        a: companion(&[1.0, 3.0, 3.0]),
        b: vec![0.0, 0.0, 1.0],
        c: vec![k, 0.0, 0.0],
        d: vec![0.0],
    };
    let response = Response::new(&one);
    let corner = Corner {
        frequency: 1.0,
        damping: 1.0,
    };
    let found = margins(&response, &frequency_sweep(&response, &[corner], None));
    let gain = found.gain_margin().expect("one crossing");
    assert!((gain.omega - 3.0_f64.sqrt()).abs() < 1e-12);
    assert!((gain.gain_margin - 8.0 / k).abs() < 1e-12);
    let phase = found.phase_margin().expect("one crossing");
    let omega = (k.powf(2.0 / 3.0) - 1.0).sqrt();
    let exact = PI - 3.0 * omega.atan();
    assert!((phase.omega - omega).abs() < 1e-12);
    assert!((phase.phase_margin - exact).abs() < 1e-12);
    assert!((phase.delay_margin - exact / omega).abs() < 1e-12);
}

#[test]
fn cutting_a_closed_loop_gives_the_loop_back() {
    // s = −L s + w closes L = 2/(s (s + 3)) with D = 1.
    let open = channel(
        &[&[0.0, 1.0], &[0.0, -3.0]],
        &[0.0, 1.0],
        &[2.0, 0.0],
        &[0.0],
    );
    let closed = Channel {
        a: Matrix::from_fn(2, 2, |i, j| open.a[(i, j)] - open.b[i] * open.c[j]),
        b: open.b.clone(),
        c: open.c.iter().map(|c| -c).collect(),
        d: vec![1.0],
    };
    let cut = closed.cut().expect("a gain of one");
    let (expected, found) = (Response::new(&open), Response::new(&cut));
    for omega in [0.1, 1.0, 10.0] {
        let (a, b) = (expected.at_frequency(omega), found.at_frequency(omega));
        assert!((a - b).norm() < 1e-14 * a.norm(), "{a} {b}");
    }
}

#[test]
fn the_step_of_an_oscillator_is_exact_at_every_point() {
    let (zeta, omega): (f64, f64) = (0.1, 3.0);
    let model = LinearModel {
        a: Matrix::from_rows(&[&[0.0, 1.0], &[-omega * omega, -2.0 * zeta * omega]]),
        b: Matrix::from_rows(&[&[0.0], &[omega * omega]]),
        c: Matrix::from_rows(&[&[1.0, 0.0]]),
        d: vec![Matrix::zeros(1, 1)],
    };
    let horizon = step_horizon(&model, 0).expect("two poles");
    assert!((horizon - 6.0 / (zeta * omega)).abs() < 1e-9);
    let found = step_response(&model, 0, horizon, 400);
    let damped = omega * (1.0 - zeta * zeta).sqrt();
    for (t, y) in found.time.iter().zip(&found.outputs[0]) {
        let decay = (-zeta * omega * t).exp();
        let exact = 1.0
            - decay * ((damped * t).cos() + zeta / (1.0 - zeta * zeta).sqrt() * (damped * t).sin());
        assert!((y - exact).abs() < 1e-12);
    }
}

#[test]
fn a_slow_mode_that_is_not_seen_is_not_waited_for() {
    let model = LinearModel {
        a: Matrix::from_rows(&[&[-1.0, 0.0], &[0.0, -1e-4]]),
        b: Matrix::from_rows(&[&[1.0], &[1.0]]),
        c: Matrix::from_rows(&[&[1.0, 0.0]]),
        d: vec![Matrix::zeros(1, 1)],
    };
    assert!((step_horizon(&model, 0).expect("two poles") - 6.0).abs() < 1e-12);
}

#[test]
fn matrices_that_are_not_finite_are_refused() {
    let bad = Matrix::from_rows(&[&[f64::NAN]]);
    assert!(eigenvalues(&bad).is_err() && modes(&bad).is_err());
}

proptest! {
    /// Eigenvalues add up to the trace, and scaling states changes nothing.
    #[test]
    fn eigenvalues_keep_the_trace_and_do_not_see_scales(
        entries in prop::collection::vec(-1.0_f64..1.0, 36),
        scales in prop::collection::vec(-12_i32..12, 6),
    ) {
        let n = 6;
        let a = Matrix::from_fn(n, n, |i, j| entries[i * n + j]);
        let scaled = Matrix::from_fn(n, n, |i, j| {
            a[(i, j)] * 10.0_f64.powi(scales[i] - scales[j])
        });
        let trace: f64 = (0..n).map(|k| a[(k, k)]).sum();
        let (plain, other) = (eigenvalues(&a).expect("6"), modes(&scaled).expect("6"));
        let sum: Complex = plain.iter().fold(Complex::new(0.0, 0.0), |s, z| s + z);
        prop_assert!((sum.re - trace).abs() < 1e-13 * n as f64 && sum.im.abs() < 1e-13);
        // The sum of squares is the trace of A²: symmetric functions do not depend on the order.
        let squares = |values: &mut dyn Iterator<Item = Complex>| {
            values.fold(Complex::new(0.0, 0.0), |s, z| s + z * z)
        };
        let square = a.times(&a);
        let exact: f64 = (0..n).map(|k| square[(k, k)]).sum();
        prop_assert!((squares(&mut plain.iter().copied()).re - exact).abs() < 1e-12);
        prop_assert!((squares(&mut other.iter().map(|m| m.pole)).re - exact).abs() < 1e-11);
    }

    #[test]
    fn the_response_solves_its_equations(
        entries in prop::collection::vec(-1.0_f64..1.0, 35),
        exponent in -2.0_f64..2.0,
    ) {
        let n = 5;
        let a = Matrix::from_fn(n, n, |i, j| entries[i * n + j] - if i == j { 2.0 } else { 0.0 });
        let (b, c) = (entries[25..30].to_vec(), entries[30..35].to_vec());
        let one = Channel { a: a.clone(), b: b.clone(), c: c.clone(), d: vec![0.5] };
        let s = Complex::new(0.0, 10.0_f64.powf(exponent));
        // Two states at a time have inverses by hand; here: the determinant identity
        // det(s − A + b c)/det(s − A) = 1 + c (s − A)⁻¹ b, by eigenvalues.
        let product = |m: &Matrix| {
            let values = eigenvalues(m).expect("5");
            values.into_iter().fold(Complex::new(1.0, 0.0), |p, z| p * (s - z))
        };
        let closed = Matrix::from_fn(n, n, |i, j| a[(i, j)] - b[i] * c[j]);
        let expected = product(&closed) / product(&a) - 1.0 + 0.5;
        let found = Response::new(&one).at(s);
        prop_assert!((found - expected).norm() < 1e-11 * (1.0 + expected.norm()), "{found} {expected}");
    }

    /// A ladder of lossy coils and capacitors over many decades has no zero from one end to the other,
    /// and its gain is small at last without losing digits.
    #[test]
    fn ladders_over_many_decades_have_no_zeros(exponents in prop::collection::vec(-6.0_f64..1.0, 16)) {
        let value = |k: usize| 10.0_f64.powf(exponents[k]);
        let n = 9;
        // Capacitors at even places, coils between them.
        let a = Matrix::from_fn(n, n, |i, j| {
            let stored = value(i);
            match (i % 2, j as i64 - i as i64) {
                (0, 0) => -1e-3 / stored,
                (_, 0) => -value(9 + i / 2) * 10.0 / stored,
                (_, -1) => 1.0 / stored,
                (_, 1) => -1.0 / stored,
                _ => 0.0,
            }
        });
        let (mut b, mut c) = (vec![0.0; n], vec![0.0; n]);
        b[0] = 1.0 / value(0);
        c[n - 1] = 1.0;
        let one = Channel { a: a.clone(), b: b.clone(), c, d: vec![0.0] };
        prop_assert_eq!(zeros(&one), Ok(Some(Vec::new())));
        // |G| = |gain|/∏|s − λ|: the product of all couplings over the characteristic polynomial.
        let omega = 1e9;
        let poles = eigenvalues(&a).expect("9");
        let log_gain: f64 = (0..n).map(|k| -value(k).ln()).sum();
        let log_poles: f64 = poles.iter().map(|p| (Complex::new(0.0, omega) - p).norm().ln()).sum();
        let found = Response::new(&one).at_frequency(omega).norm().ln();
        prop_assert!((found - (log_gain - log_poles)).abs() < 1e-9, "{found} {}", log_gain - log_poles);
    }

    #[test]
    fn balancing_is_a_similarity(entries in prop::collection::vec(-30_i32..30, 16)) {
        let a = Matrix::from_fn(4, 4, |i, j| 10.0_f64.powi(entries[i * 4 + j]));
        let (b, d) = balance(&a);
        for i in 0..4 {
            for j in 0..4 {
                prop_assert_eq!(b[(i, j)] * d[i] / d[j], a[(i, j)]);
            }
        }
    }
}

#[test]
fn zeros_at_the_origin_and_on_the_imaginary_axis_are_exactly_there() {
    // Force between the masses of a quarter car to the speed of the upper one: -s (mu s² + kt) / … , zeros 0, ± √(kt/mu) j.
    for (ms, mu, k, r, kt) in [
        (300.0, 40.0, 2e4, 1500.0, 1.8e5),
        (250.0, 31.0, 1.3e4, 900.0, 2.1e5),
        (7.0, 0.3, 11.0, 0.7, 130.0),
    ] {
        let channel = Channel {
            a: Matrix::from_rows(&[
                &[-r / ms, r / mu, k, 0.0],
                &[r / ms, -r / mu, -k, kt],
                &[-1.0 / ms, 1.0 / mu, 0.0, 0.0],
                &[0.0, -1.0 / mu, 0.0, 0.0],
            ]),
            b: vec![1.0, -1.0, 0.0, 0.0],
            c: vec![1.0 / ms, 0.0, 0.0, 0.0],
            d: vec![0.0],
        };
        let found = zeros(&channel)
            .expect("it has eigenvalues")
            .expect("it passes");
        assert_eq!(found.iter().filter(|z| z.re == 0.0).count(), 3, "{found:?}");
        assert!(found.iter().any(|z| z.norm() == 0.0), "{found:?}");
    }
}
