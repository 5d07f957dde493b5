//! Regulators, pole placement and models in steps, against closed forms and their own equations.

use paynter_linear::{
    Complex, LinearModel, Matrix, NoRegulator, NoSteps, NotPlaced, Regulated, Rule, c2d, care, d2c,
    dare, discrete_lyapunov, dlqr, eigenvalues, lqe, lqr, lyapunov, place, solve, transpose,
};

/// Numbers between −1 and 1, the same every time.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn matrix(&mut self, n: usize, m: usize) -> Matrix {
        let values: Vec<f64> = (0..n * m).map(|_| self.next()).collect();
        Matrix::from_fn(n, m, |i, j| values[i * m + j])
    }

    /// Powers of ten from 1e-5 to 1e5.
    fn units(&mut self, n: usize) -> Vec<f64> {
        (0..n)
            .map(|_| 10f64.powf((5.0 * self.next()).round()))
            .collect()
    }
}

fn close(found: &Matrix, exact: &Matrix, tolerance: f64) {
    for i in 0..exact.n_rows() {
        for j in 0..exact.n_columns() {
            let (a, b) = (found[(i, j)], exact[(i, j)]);
            assert!(
                (a - b).abs() <= tolerance * b.abs(),
                "({i}, {j}): {a} instead of {b}"
            );
        }
    }
}

#[test]
fn a_double_integrator_in_any_units_has_its_textbook_gains() {
    // Q = diag(q, 0), R = r: K = (√(q/r), √(2 √(q/r))). In other units each gain scales with its state and its input.
    for (s, t, v) in [
        (1.0, 1.0, 1.0),
        (1e6, 1e-5, 1e3),
        (1e-7, 1e4, 1e-6),
        (1.0, 1e9, 1.0),
    ] {
        let a = Matrix::from_rows(&[&[0.0, t / s], &[0.0, 0.0]]);
        let b = Matrix::from_rows(&[&[0.0], &[v / t]]);
        let q = Matrix::from_rows(&[&[4.0 * s * s, 0.0], &[0.0, 0.0]]);
        let r = Matrix::from_rows(&[&[v * v]]);
        let found = lqr(&Regulated {
            a: &a,
            b: &b,
            q: &q,
            r: &r,
        })
        .expect("it can be regulated");
        close(
            &found.gain,
            &Matrix::from_rows(&[&[2.0 * s / v, 2.0 * t / v]]),
            1e-12,
        );
    }
}

#[test]
fn random_plants_in_wild_units_meet_riccatis_equation() {
    let mut random = Seeded(3);
    for n in [2, 3, 5, 8] {
        for _ in 0..10 {
            let (a, b) = (random.matrix(n, n), random.matrix(n, 2));
            let c = random.matrix(n, n);
            let q = transpose(&c).times(&c);
            let r = Matrix::from_rows(&[&[1.0, 0.2], &[0.2, 0.5]]);
            let plain = care(&Regulated {
                a: &a,
                b: &b,
                q: &q,
                r: &r,
            })
            .expect("a random plant is controllable");
            // The same plant in other units has the same answer in other units, to ten digits.
            let t = random.units(n);
            let wild = |m: &Matrix, f: &dyn Fn(usize, usize) -> f64| {
                Matrix::from_fn(m.n_rows(), m.n_columns(), |i, j| m[(i, j)] * f(i, j))
            };
            let (wa, wb) = (wild(&a, &|i, j| t[j] / t[i]), wild(&b, &|i, _| 1.0 / t[i]));
            let wq = wild(&q, &|i, j| t[i] * t[j]);
            let other = care(&Regulated {
                a: &wa,
                b: &wb,
                q: &wq,
                r: &r,
            })
            .expect("the same plant");
            let back = wild(&other, &|i, j| 1.0 / (t[i] * t[j]));
            assert!(
                back.plus(-1.0, &plain).norm() < 1e-10 * plain.norm(),
                "n = {n}"
            );
            let gain = solve(&r, &transpose(&b).times(&plain)).expect("r is regular");
            let left = transpose(&a)
                .times(&plain)
                .plus(1.0, &plain.times(&a))
                .plus(-1.0, &plain.times(&b).times(&gain))
                .plus(1.0, &q);
            assert!(
                left.norm() < 1e-12 * (plain.norm() * a.norm() + q.norm()),
                "{}",
                left.norm()
            );
        }
    }
}

#[test]
fn a_scalar_plant_in_steps_follows_its_quadratic() {
    for (a, b, q, r) in [
        (1.1, 0.3, 2.0, 0.7),
        (0.5, 1e-3, 1e4, 1e-4),
        (-3.0, 2.0, 1e-6, 5.0),
    ] {
        // b² x² + (r − a² r − b² q) x − q r = 0
        let (c2, c1, c0): (f64, f64, f64) = (b * b, r - a * a * r - b * b * q, -q * r);
        let root: f64 = (c1 * c1 - 4.0 * c2 * c0).sqrt();
        let x: f64 = if c1 > 0.0 {
            -2.0 * c0 / (c1 + root)
        } else {
            (root - c1) / (2.0 * c2)
        };
        let one = |v: f64| Matrix::from_rows(&[&[v]]);
        let (ma, mb, mq, mr) = (one(a), one(b), one(q), one(r));
        let plant = Regulated {
            a: &ma,
            b: &mb,
            q: &mq,
            r: &mr,
        };
        close(&dare(&plant).expect("it has an answer"), &one(x), 1e-12);
        let found = dlqr(&plant).expect("it has an answer");
        close(&found.gain, &one(b * x * a / (r + b * b * x)), 1e-12);
    }
}

#[test]
fn an_observer_is_the_dual_regulator() {
    // A random walk seen through noise: L = √(q/r).
    let one = |v: f64| Matrix::from_rows(&[&[v]]);
    let found = lqe(&one(0.0), &one(1.0), &one(4.0), &one(0.25)).expect("it is seen");
    close(&found.gain, &one(4.0), 1e-13);
}

#[test]
fn what_cannot_be_regulated_is_refused() {
    let a = Matrix::from_rows(&[&[1.0, 0.0], &[0.0, -1.0]]);
    let b = Matrix::from_rows(&[&[0.0], &[1.0]]);
    let q = Matrix::identity(2);
    let one = Matrix::identity(1);
    let plant = Regulated {
        a: &a,
        b: &b,
        q: &q,
        r: &one,
    };
    assert_eq!(lqr(&plant).map(|_| ()), Err(NoRegulator::NotStabilizable));
    let negative = Matrix::from_rows(&[&[-1.0]]);
    assert_eq!(
        lqr(&Regulated {
            r: &negative,
            ..plant
        })
        .map(|_| ()),
        Err(NoRegulator::InputCost)
    );
    assert_eq!(
        place(&a, &b, &[Complex::new(-1.0, 0.0), Complex::new(-2.0, 0.0)]),
        Err(NotPlaced::NotControllable)
    );
    assert_eq!(
        place(&a, &b, &[Complex::new(-1.0, 0.0)]),
        Err(NotPlaced::Count { n_states: 2 })
    );
    assert_eq!(
        place(&a, &b, &[Complex::new(-1.0, 1.0), Complex::new(-2.0, 0.0)]),
        Err(NotPlaced::Unpaired)
    );
}

/// Coefficients of Π (s − p), the highest (1) left out, lowest first.
fn coefficients(poles: &[Complex]) -> Vec<f64> {
    let mut c = vec![Complex::new(1.0, 0.0)];
    for p in poles {
        let mut next = vec![Complex::new(0.0, 0.0); c.len() + 1];
        for (k, x) in c.iter().enumerate() {
            next[k + 1] += *x;
            next[k] -= *x * *p;
        }
        c = next;
    }
    c[..poles.len()].iter().map(|z| z.re).collect()
}

#[test]
fn one_input_has_the_gains_of_its_polynomials_in_any_units() {
    let pole = |re: f64, im: f64| Complex::new(re, im);
    let sets: [&[Complex]; 4] = [
        &[
            pole(-1.0, 0.0),
            pole(-2.0, 0.0),
            pole(-3.0, 1.0),
            pole(-3.0, -1.0),
        ],
        &[pole(-2.0, 0.0); 4],
        &[
            pole(-1.0, 2.0),
            pole(-1.0, -2.0),
            pole(-1.0, 2.0),
            pole(-1.0, -2.0),
        ],
        &[
            pole(-50.0, 0.0),
            pole(-0.5, 0.0),
            pole(-3.0, 8.0),
            pole(-3.0, -8.0),
        ],
    ];
    let own = [2.0, -3.0, 0.5, 1.5];
    let mut random = Seeded(7);
    for poles in sets {
        let wanted = coefficients(poles);
        for _ in 0..5 {
            let (t, v) = (random.units(4), random.units(1)[0]);
            // A companion matrix: sᴺ + Σ own s^k.
            let a = Matrix::from_fn(4, 4, |i, j| {
                let plain = if i + 1 == j {
                    1.0
                } else if i == 3 {
                    -own[j]
                } else {
                    0.0
                };
                plain * t[j] / t[i]
            });
            let b = Matrix::from_fn(4, 1, |i, _| if i == 3 { v / t[3] } else { 0.0 });
            let k = place(&a, &b, poles).expect("a companion matrix is controllable");
            close(
                &k,
                &Matrix::from_fn(1, 4, |_, j| (wanted[j] - own[j]) * t[j] / v),
                1e-10,
            );
        }
    }
}

/// A motor with a pole at −666 662 1/s drives a fin through elastic teeth: slow poles far below it. The gains are from sixty digits.
#[test]
fn poles_far_below_a_fast_one_have_all_digits() {
    let a = Matrix::from_rows(&[
        &[-666666.6666666667, -6.8, 0.0, 0.0],
        &[44444.44444444445, 0.0, -833.3333333333334, 0.0],
        &[0.0, 85.0, -133.33333333333334, -34.37746770784939],
        &[0.0, 0.0, 3333.3333333333335, 0.0],
    ]);
    let b = Matrix::from_rows(&[&[1.0], &[0.0], &[0.0], &[0.0]]);
    let real = |p: f64| Complex::new(p, 0.0);
    let slow = [real(-1.0), real(-2.0), real(-3.0), real(-4.0)];
    let exact: &[f64] = &[
        -666790.0000000001,
        -10.601272578088704,
        12.016371118150204,
        1.5373897113409154,
    ];
    let k = place(&a, &b, &slow).expect("a chain is controllable");
    close(&k, &Matrix::from_rows(&[exact]), 1e-12);
    let (p, q) = (Complex::new(-300.0, 40.0), Complex::new(-300.0, -40.0));
    let exact: &[f64] = &[
        -626200.0000000001,
        9409.688939921909,
        47742.10325706378,
        -898.7652288645464,
    ];
    let k = place(&a, &b, &[p, q, real(-2e4), real(-2e4)]).expect("a chain is controllable");
    close(&k, &Matrix::from_rows(&[exact]), 1e-12);
    // Sixteen digits of gains of this size move poles near zero across it.
    let tiny = [real(-0.01), real(-0.02), real(-0.03), real(-0.04)];
    assert_eq!(place(&a, &b, &tiny), Err(NotPlaced::Rounding));
}

#[test]
fn several_inputs_place_poles_kept_ones_included() {
    let mut random = Seeded(11);
    for n in [3, 4, 6] {
        let (a, b) = (random.matrix(n, n), random.matrix(n, 2));
        let own = eigenvalues(&a).expect("a small matrix");
        let mut poles: Vec<Complex> = (1..=n).map(|k| Complex::new(-(k as f64), 0.0)).collect();
        // One real pole stays where it is.
        if let Some(kept) = own.iter().find(|p| p.im == 0.0) {
            poles[0] = *kept;
        }
        let k = place(&a, &b, &poles).expect("a random plant is controllable");
        let mut found = eigenvalues(&a.plus(-1.0, &b.times(&k))).expect("a small matrix");
        for p in &poles {
            let near = (0..found.len())
                .min_by(|&x, &y| (found[x] - *p).norm().total_cmp(&(found[y] - *p).norm()));
            let near = found.swap_remove(near.expect("as many as wanted"));
            assert!((near - *p).norm() < 1e-8, "{near} {p}");
        }
    }
}

#[test]
fn lyapunovs_equations_hold() {
    let mut random = Seeded(13);
    for n in [1, 3, 6, 12] {
        let a = random.matrix(n, n);
        let c = random.matrix(n, n);
        let q = transpose(&c).times(&c);
        let stable = a.plus(-(n as f64), &Matrix::identity(n));
        for a in [stable, a.clone()] {
            let Some(x) = lyapunov(&a, &q) else {
                panic!("no answer for n = {n}")
            };
            let left = transpose(&a)
                .times(&x)
                .plus(1.0, &x.times(&a))
                .plus(1.0, &q);
            assert!(
                left.norm() < 1e-11 * (x.norm() * a.norm() + q.norm()),
                "{}",
                left.norm()
            );
        }
        let slow = a.scaled(0.9 / n as f64);
        let x = discrete_lyapunov(&slow, &q).expect("it is stable");
        let left = transpose(&slow)
            .times(&x.times(&slow))
            .plus(-1.0, &x)
            .plus(1.0, &q);
        assert!(
            left.norm() < 1e-13 * (x.norm() + q.norm()),
            "{}",
            left.norm()
        );
    }
}

fn oscillator() -> LinearModel {
    LinearModel {
        a: Matrix::from_rows(&[&[0.0, 1.0], &[-9.0, -0.6]]),
        b: Matrix::from_rows(&[&[0.0], &[2.0]]),
        c: Matrix::from_rows(&[&[1.0, 0.5]]),
        d: vec![Matrix::from_rows(&[&[0.3]])],
    }
}

#[test]
fn held_inputs_are_exact_and_can_be_undone() {
    let h = 0.2;
    let double = LinearModel {
        a: Matrix::from_rows(&[&[0.0, 1.0], &[0.0, 0.0]]),
        b: Matrix::from_rows(&[&[0.0], &[1.0]]),
        ..oscillator()
    };
    let steps = c2d(&double, h, Rule::Hold).expect("proper");
    close(
        &steps.a,
        &Matrix::from_rows(&[&[1.0, h], &[0.0, 1.0]]),
        1e-14,
    );
    close(&steps.b, &Matrix::from_rows(&[&[0.5 * h * h], &[h]]), 1e-14);
    let model = oscillator();
    // A damped turn by ω h: e^{−σh} (cos ωh + σ/ω sin ωh) in the corner.
    let (s, w): (f64, f64) = (0.3, (9.0f64 - 0.09).sqrt());
    let steps = c2d(&model, h, Rule::Hold).expect("proper");
    let corner = (-s * h).exp() * ((w * h).cos() + s / w * (w * h).sin());
    assert!((steps.a[(0, 0)] - corner).abs() < 1e-14);
    let back = d2c(&steps, h, Rule::Hold).expect("poles have logarithms");
    assert!(
        back.a.plus(-1.0, &model.a).norm() < 1e-11 && back.b.plus(-1.0, &model.b).norm() < 1e-11
    );
    let negative = LinearModel {
        a: Matrix::from_rows(&[&[-0.5, 0.0], &[0.0, 0.5]]),
        ..model
    };
    assert_eq!(
        d2c(&negative, h, Rule::Hold).map(|_| ()),
        Err(NoSteps::NoLogarithm)
    );
}

/// C (z − A)⁻¹ B + D at a complex z, for two states.
fn response(m: &LinearModel, z: Complex) -> Complex {
    let (a, b, c, d) = (z - m.a[(0, 0)], -m.a[(0, 1)], -m.a[(1, 0)], z - m.a[(1, 1)]);
    let det = a * d - Complex::new(b * c, 0.0);
    let x = (d * m.b[(0, 0)] - m.b[(1, 0)] * b) / det;
    let y = (a * m.b[(1, 0)] - m.b[(0, 0)] * c) / det;
    x * m.c[(0, 0)] + y * m.c[(0, 1)] + m.d[0][(0, 0)]
}

#[test]
fn the_trapezoidal_rule_maps_frequencies_as_it_should_and_can_be_undone() {
    let (model, h) = (oscillator(), 0.2);
    for prewarp in [None, Some(3.0)] {
        let steps = c2d(&model, h, Rule::Tustin(prewarp)).expect("proper");
        let alpha = prewarp.map_or(0.5 * h, |w: f64| (0.5 * w * h).tan() / w);
        for w in [0.1, 1.0, 3.0, 10.0] {
            let z = Complex::new((w * h).cos(), (w * h).sin());
            let s = (z - 1.0) / (z + 1.0) / alpha;
            let (found, exact) = (response(&steps, z), response(&model, s));
            assert!(
                (found - exact).norm() < 1e-12 * exact.norm(),
                "{w}: {found} {exact}"
            );
        }
        if let Some(w) = prewarp {
            let z = Complex::new((w * h).cos(), (w * h).sin());
            let exact = response(&model, Complex::new(0.0, w));
            assert!((response(&steps, z) - exact).norm() < 1e-12 * exact.norm());
        }
        let back = d2c(&steps, h, Rule::Tustin(prewarp)).expect("no pole at −1");
        for w in [0.5, 4.0] {
            let s = Complex::new(0.0, w);
            assert!((response(&back, s) - response(&model, s)).norm() < 1e-12);
        }
    }
    assert_eq!(c2d(&model, 0.0, Rule::Hold).map(|_| ()), Err(NoSteps::Step));
    assert_eq!(
        c2d(&model, h, Rule::Tustin(Some(20.0))).map(|_| ()),
        Err(NoSteps::Step)
    );
}
