//! Facts about built-in functions.

use paynter_symbolic::evaluate::evaluate;
use paynter_symbolic::expr::External;

use super::care::Care;
use super::table::LookupTable;
use super::transfer::Transfer;
use super::*;
use crate::units::Unit;

/// A call under test: `[("height", 5.0, "deg")]`; an empty unit is a bare number.
fn run_in(pool: &mut Pool, name: &str, arguments: &[(&str, Value)]) -> Result<Value, &'static str> {
    let arguments: Vec<Argument> = arguments
        .iter()
        .map(|(name, value)| Argument {
            name: (!name.is_empty()).then_some(*name),
            value: value.clone(),
            span: Span::default(),
        })
        .collect();
    let read_file = |path: &str| match path {
        "good.csv" => {
            Ok("# made by hand\ntime [ms], theta [deg], x\n0, 0, 1\n100, 90, 2\n".to_owned())
        }
        "plain.csv" => Ok("0;1\n1;3\n".to_owned()),
        "ragged.csv" => Ok("0,1\n1\n".to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    let time = Dimensioned {
        expr: pool.number(0.05),
        dimension: Some(Dimension::TIME),
    };
    let mut context = Context {
        pool,
        time: Some(time),
        call: Span::default(),
        read_file: &read_file,
    };
    call(name, &arguments, &mut context).map_err(|d| d.code)
}

fn q(pool: &mut Pool, value: f64, unit: &str) -> Value {
    let unit = (!unit.is_empty()).then(|| Unit::parse_text(unit).expect("the unit is good"));
    let si = unit.as_ref().map_or(value, |u| u.to_si(value));
    Value::Number(Dimensioned {
        expr: pool.number(si),
        dimension: unit.map(|u| u.dimension),
    })
}

fn number(name: &str, arguments: &[(f64, &str)]) -> Result<(f64, Option<String>), &'static str> {
    let mut pool = Pool::new();
    let arguments: Vec<(&str, Value)> = arguments
        .iter()
        .map(|&(x, unit)| ("", q(&mut pool, x, unit)))
        .collect();
    match run_in(&mut pool, name, &arguments)? {
        Value::Number(result) => Ok((
            evaluate(&pool, result.expr, &|_| f64::NAN).expect("it has a value"),
            result.dimension.map(|d| d.to_string()),
        )),
        _ => Err("no number"),
    }
}

fn value(name: &str, arguments: &[(f64, &str)]) -> f64 {
    number(name, arguments).expect("the call is good").0
}

fn unit_of(name: &str, arguments: &[(f64, &str)]) -> Option<String> {
    number(name, arguments).expect("the call is good").1
}

fn vector(pool: &mut Pool, numbers: &[f64], unit: &str) -> Value {
    let entries: Vec<Dimensioned> = numbers
        .iter()
        .map(|&x| match q(pool, x, unit) {
            Value::Number(q) => q,
            _ => unreachable!("q gives numbers"),
        })
        .collect();
    Value::Array(Array {
        shape: Shape::Vector(entries.len()),
        entries,
    })
}

fn square(pool: &mut Pool, n: usize, numbers: &[f64]) -> Value {
    match vector(pool, numbers, "") {
        Value::Array(array) => Value::Array(Array {
            shape: Shape::Matrix(n, n),
            ..array
        }),
        _ => unreachable!("vector gives arrays"),
    }
}

fn entries(pool: &Pool, value: &Value) -> Vec<f64> {
    match value {
        Value::Array(array) => array
            .entries
            .iter()
            .map(|q| evaluate(pool, q.expr, &|_| f64::NAN).expect("it has a value"))
            .collect(),
        _ => unreachable!("an array is expected"),
    }
}

#[test]
fn functions_have_their_textbook_values() {
    use std::f64::consts::PI;
    assert_eq!(value("sin", &[(90.0, "deg")]), 1.0);
    assert_eq!(value("log10", &[(1000.0, "")]), 1000f64.log10());
    assert_eq!(value("atan2", &[(1.0, ""), (-1.0, "")]), 0.75 * PI);
    assert_eq!(value("mod", &[(-1.0, ""), (3.0, "")]), 2.0);
    assert_eq!(value("clamp", &[(5.0, ""), (-1.0, ""), (1.0, "")]), 1.0);
    assert_eq!(value("hypot", &[(3.0, "m"), (4.0, "m")]), 5.0);
    assert_eq!(value("sign", &[(-3.0, "N")]), -1.0);
    assert_eq!(value("max", &[(1.0, "bar"), (2.0, "psi")]), 1e5);
}

#[test]
fn signed_square_root_is_odd_smooth_and_right_far_away() {
    let far = value("signed_sqrt", &[(1e6, "Pa"), (10.0, "Pa")]);
    assert!((far - 1e3).abs() < 1e-6);
    assert_eq!(value("signed_sqrt", &[(-1e6, "Pa"), (10.0, "Pa")]), -far);
    // Slope at zero is 1/√ε.
    let near = value("signed_sqrt", &[(1e-6, ""), (4.0, "")]);
    assert!((near / 1e-6 - 0.5).abs() < 1e-12);
    assert_eq!(
        number("signed_sqrt", &[(1.0, ""), (0.0, "")]),
        Err(code::ARGUMENT_VALUE)
    );
}

#[test]
fn units_follow_their_rules() {
    assert_eq!(unit_of("sqrt", &[(4.0, "m^2")]).as_deref(), Some("m"));
    assert_eq!(unit_of("sqrt", &[(4.0, "")]), None);
    assert_eq!(
        unit_of("min", &[(4.0, ""), (1.0, "N")]).as_deref(),
        Some("kg*m/s^2")
    );
    assert_eq!(unit_of("sin", &[(4.0, "deg")]).as_deref(), Some("1"));
    assert_eq!(unit_of("sin", &[(4.0, "")]), None);
    assert_eq!(
        unit_of("atan2", &[(4.0, "m"), (1.0, "ft")]).as_deref(),
        Some("1")
    );
    assert_eq!(
        unit_of("ramp", &[(4.0, "s"), (2.0, "m/s")]).as_deref(),
        Some("m")
    );
    assert_eq!(
        unit_of("step", &[(4.0, "s"), (2.0, "V"), (1.0, "s")]).as_deref(),
        Some("kg*m^2/(s^3*A)")
    );
}

#[test]
fn twenty_wrong_units_are_refused() {
    for (name, arguments) in [
        ("sin", &[(1.0, "s")][..]),
        ("cos", &[(1.0, "m")]),
        ("tan", &[(1.0, "rad/s")]),
        ("asin", &[(1.0, "N")]),
        ("exp", &[(1.0, "V")]),
        ("log", &[(1.0, "Pa")]),
        ("log10", &[(1.0, "dB")]),
        ("tanh", &[(1.0, "K")]),
        ("floor", &[(1.0, "mm")]),
        ("round", &[(1.0, "deg/s")]),
        ("min", &[(1.0, "N"), (1.0, "m")]),
        ("max", &[(1.0, "psi"), (1.0, "V")]),
        ("hypot", &[(1.0, "m"), (1.0, "m/s")]),
        ("mod", &[(1.0, "s"), (1.0, "Hz")]),
        ("atan2", &[(1.0, "m"), (1.0, "rad")]),
        ("clamp", &[(1.0, "N"), (1.0, "lbm"), (1.0, "N")]),
        ("signed_sqrt", &[(1.0, "Pa"), (1.0, "N")]),
        ("step", &[(1.0, "s"), (1.0, "V"), (1.0, "m")]),
        ("pulse", &[(1.0, "s"), (1.0, "V"), (1.0, "s"), (1.0, "Hz")]),
        ("pwm", &[(1.0, "s"), (1.0, "s"), (0.5, "")]),
        ("pwm", &[(1.0, "s"), (1.0, "kHz"), (0.5, "V")]),
        ("sinh", &[(1.0, "%/s")]),
    ] {
        assert_eq!(number(name, arguments), Err(code::ARGUMENT_UNIT), "{name}");
    }
}

#[test]
fn wrong_arguments_are_refused() {
    assert_eq!(number("sin", &[]), Err(code::WRONG_ARGUMENTS));
    assert_eq!(
        number("sin", &[(1.0, ""), (2.0, "")]),
        Err(code::WRONG_ARGUMENTS)
    );
    assert_eq!(number("sine", &[(1.0, "")]), Err(code::UNKNOWN_FUNCTION));
    let mut pool = Pool::new();
    let one = q(&mut pool, 1.0, "");
    for (name, arguments) in [
        (
            "step",
            vec![("", one.clone()), ("", one.clone()), ("att", one.clone())],
        ),
        (
            "step",
            vec![("", one.clone()), ("", one.clone()), ("time", one.clone())],
        ),
        ("step", vec![("at", one.clone())]),
    ] {
        assert_eq!(
            run_in(&mut pool, name, &arguments),
            Err(code::WRONG_ARGUMENTS)
        );
    }
    let text = Value::Text("x".to_owned());
    assert_eq!(
        run_in(&mut pool, "sin", &[("", text)]),
        Err(code::ARGUMENT_SHAPE)
    );
    assert_eq!(number("sqrt", &[(-1.0, "")]), Err(code::ARGUMENT_VALUE));
}

#[test]
fn each_piece_owns_its_left_end() {
    let step = |t: f64| value("step", &[(t, "s"), (5.0, "V"), (0.1, "s")]);
    assert_eq!([step(0.099), step(0.1), step(0.2)], [0.0, 5.0, 5.0]);
    let pulse = |t: f64| value("pulse", &[(t, ""), (3.0, ""), (0.2, ""), (0.4, "")]);
    assert_eq!(
        [pulse(0.1), pulse(0.2), pulse(0.3), pulse(0.4)],
        [0.0, 3.0, 3.0, 0.0]
    );
    let ramp = |t: f64| value("ramp", &[(t, ""), (2.0, ""), (1.0, ""), (3.0, "")]);
    assert_eq!(
        [ramp(0.0), ramp(1.0), ramp(2.0), ramp(3.0), ramp(9.0)],
        [0.0, 0.0, 2.0, 4.0, 4.0]
    );
    assert_eq!(value("ramp", &[(2.5, ""), (2.0, "")]), 5.0);
    let pwm = |t: f64| value("pwm", &[(t, ""), (4.0, ""), (0.25, "")]);
    assert_eq!(
        [pwm(0.0), pwm(0.03125), pwm(0.0625), pwm(0.25), pwm(10.2)],
        [1.0, 1.0, 0.0, 1.0, 0.0]
    );
}

#[test]
fn a_table_is_exact_at_its_points_and_holds_its_ends() {
    let table = LookupTable::new(
        "t",
        vec![0.0, 1.0, 1.0, 3.0, 4.0],
        vec![0.0, 2.0, 5.0, 7.0, 8.0],
    )
    .expect("good");
    let value = |u: f64| {
        let mut out = [0.0];
        table.call(&[u], &mut out).expect("it has a value");
        out[0]
    };
    assert_eq!(
        [value(-1.0), value(0.5), value(1.0), value(2.0), value(9.0)],
        [0.0, 1.0, 5.0, 6.0, 8.0]
    );
    // The middle of a straight run (x = 3) is not a corner; the jump and both ends are.
    assert_eq!(table.corners(), [0.0, 1.0, 4.0]);
    let mut slope = [0.0];
    table.slopes(&[2.0], &mut slope).expect("it has a slope");
    assert_eq!(slope, [1.0]);
    table.slopes(&[9.0], &mut slope).expect("it has a slope");
    assert_eq!(slope, [0.0]);
    assert!(table.call(&[f64::NAN], &mut slope).is_err());
}

#[test]
fn a_table_that_makes_no_sense_is_refused() {
    for (x, y) in [
        (vec![], vec![]),
        (vec![0.0], vec![]),
        (vec![1.0, 0.0], vec![0.0, 0.0]),
        (vec![0.0, f64::NAN], vec![0.0, 0.0]),
        (vec![0.0, 1.0], vec![0.0, f64::INFINITY]),
    ] {
        assert!(LookupTable::new("t", x, y).is_err());
    }
}

#[test]
fn a_table_reads_files_with_units() {
    let mut pool = Pool::new();
    let file = |name: &str| ("", Value::Text(name.to_owned()));
    let run = |pool: &mut Pool, arguments: &[(&str, Value)]| {
        run_in(pool, "table", arguments).map(|v| match v {
            Value::Number(q) => (
                evaluate(pool, q.expr, &|_| f64::NAN).expect("it has a value"),
                q.dimension,
            ),
            _ => unreachable!("a table gives a number"),
        })
    };
    // At the built-in time, 50 ms.
    let (angle, dimension) = run(&mut pool, &[file("good.csv")]).expect("good");
    assert!((angle - std::f64::consts::FRAC_PI_4).abs() < 1e-15);
    assert_eq!(dimension, Some(Dimension::ONE));
    let at = q(&mut pool, 25.0, "ms");
    let column = ("column", Value::Text("x".to_owned()));
    assert_eq!(
        run(&mut pool, &[file("good.csv"), ("", at), column]),
        Ok((1.25, None))
    );
    let half = q(&mut pool, 0.5, "");
    assert_eq!(
        run(&mut pool, &[file("plain.csv"), ("u", half.clone())]),
        Ok((2.0, None))
    );
    let metres = q(&mut pool, 0.5, "m");
    assert_eq!(
        run(&mut pool, &[file("good.csv"), ("", metres)]),
        Err(code::ARGUMENT_UNIT)
    );
    assert_eq!(run(&mut pool, &[file("ragged.csv")]), Err(code::TABLE_DATA));
    assert_eq!(run(&mut pool, &[file("none.csv")]), Err(code::TABLE_FILE));
    let column = ("column", Value::Text("y".to_owned()));
    assert_eq!(
        run(&mut pool, &[file("good.csv"), column]),
        Err(code::TABLE_DATA)
    );
    let (x, y) = (
        vector(&mut pool, &[0.0, 1.0], "s"),
        vector(&mut pool, &[1.0, 3.0], "V"),
    );
    let found = run(&mut pool, &[("", x), ("", y)]).expect("good");
    assert_eq!(found, (1.1, Some(Dimension::VOLTAGE)));
}

#[test]
fn rotation_gives_components_in_turned_axes() {
    let mut pool = Pool::new();
    let angle = q(&mut pool, 30.0, "deg");
    let (c, s) = (30f64.to_radians().cos(), 30f64.to_radians().sin());
    let x = run_in(&mut pool, "rot_x", &[("", angle.clone())]).expect("good");
    assert_eq!(entries(&pool, &x), [1.0, 0.0, 0.0, 0.0, c, s, 0.0, -s, c]);
    let y = run_in(&mut pool, "rot_y", &[("", angle.clone())]).expect("good");
    assert_eq!(entries(&pool, &y), [c, 0.0, -s, 0.0, 1.0, 0.0, s, 0.0, c]);
    let z = run_in(&mut pool, "rot_z", &[("", angle)]).expect("good");
    assert_eq!(entries(&pool, &z), [c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn vector_products_agree_with_each_other() {
    let mut pool = Pool::new();
    let (a, b) = (
        vector(&mut pool, &[1.0, 2.0, 3.0], "m"),
        vector(&mut pool, &[4.0, 5.0, 6.0], "N"),
    );
    let cross = run_in(&mut pool, "cross", &[("", a.clone()), ("", b.clone())]).expect("good");
    assert_eq!(entries(&pool, &cross), [-3.0, 6.0, -3.0]);
    let Value::Number(power) =
        run_in(&mut pool, "dot", &[("", cross), ("", a.clone())]).expect("good")
    else {
        unreachable!("dot gives a number")
    };
    assert_eq!(pool.as_number(power.expr), Some(0.0));
    assert_eq!(
        power.dimension,
        Some(Dimension::ENERGY.times(Dimension::LENGTH))
    );
    let skew = run_in(&mut pool, "skew", &[("", a.clone())]).expect("good");
    assert_eq!(
        entries(&pool, &skew),
        [0.0, -3.0, 2.0, 3.0, 0.0, -1.0, -2.0, 1.0, 0.0]
    );
    let short = vector(&mut pool, &[1.0], "");
    assert_eq!(
        run_in(&mut pool, "cross", &[("", a.clone()), ("", short.clone())]),
        Err(code::ARGUMENT_SHAPE)
    );
    assert_eq!(
        run_in(&mut pool, "dot", &[("", a), ("", short)]),
        Err(code::ARGUMENT_SHAPE)
    );
    let huge = q(&mut pool, 1e9, "");
    assert_eq!(
        run_in(&mut pool, "eye", &[("", huge)]),
        Err(code::ARGUMENT_VALUE)
    );
}

#[test]
fn a_matrix_times_its_inverse_is_one_at_every_size() {
    for n in 1..=5 {
        let mut pool = Pool::new();
        // Diagonally dominant, so well conditioned, and without any symmetry.
        let a: Vec<f64> = (0..n * n)
            .map(|at| {
                if at / n == at % n {
                    5.0 + at as f64
                } else {
                    ((at * 7 + 3) % 5) as f64 - 2.0
                }
            })
            .collect();
        let matrix = square(&mut pool, n, &a);
        let inverse = run_in(&mut pool, "inv", &[("", matrix.clone())]).expect("good");
        let inverse = entries(&pool, &inverse);
        let b = vector(
            &mut pool,
            &(0..n).map(|i| i as f64 + 1.0).collect::<Vec<_>>(),
            "",
        );
        let x = run_in(&mut pool, "solve", &[("", matrix), ("", b)]).expect("good");
        let x = entries(&pool, &x);
        for i in 0..n {
            let from_inverse: f64 = (0..n).map(|j| inverse[n * i + j] * (j as f64 + 1.0)).sum();
            assert!((x[i] - from_inverse).abs() < 1e-13);
            for j in 0..n {
                let entry: f64 = (0..n).map(|k| a[n * i + k] * inverse[n * k + j]).sum();
                assert!(
                    (entry - f64::from(u8::from(i == j))).abs() < 1e-13,
                    "{n} {i} {j}"
                );
            }
        }
    }
    let mut pool = Pool::new();
    let singular = square(&mut pool, 4, &[1.0; 16]);
    let inverse = run_in(&mut pool, "inv", &[("", singular)]).expect("only the value is missing");
    let Value::Array(inverse) = inverse else {
        unreachable!("inv gives an array")
    };
    assert!(evaluate(&pool, inverse.entries[0].expr, &|_| f64::NAN).is_err());
}

/// Compares exact slopes with central differences.
fn check_slopes(function: &dyn External, inputs: &[f64], tolerance: f64) {
    let (n_in, n_out) = (function.n_inputs(), function.n_outputs());
    let mut slopes = vec![0.0; n_in * n_out];
    function.slopes(inputs, &mut slopes).expect("it has slopes");
    let size = slopes.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for k in 0..n_in {
        let side = |sign: f64| {
            let (mut at, mut out) = (inputs.to_vec(), vec![0.0; n_out]);
            at[k] += sign * 1e-5 * inputs[k].abs().max(1.0);
            function.call(&at, &mut out).expect("it has a value");
            out
        };
        let (up, down) = (side(1.0), side(-1.0));
        for j in 0..n_out {
            let difference = (up[j] - down[j]) / (2e-5 * inputs[k].abs().max(1.0));
            let slope = slopes[n_in * j + k];
            assert!(
                (slope - difference).abs() <= tolerance * size,
                "{k} {j}: {slope} {difference}"
            );
        }
    }
}

#[test]
fn slopes_of_linear_functions_match_differences() {
    let mut pool = Pool::new();
    let a: Vec<f64> = (0..16)
        .map(|at| {
            if at % 5 == 0 {
                6.0
            } else {
                (at % 3) as f64 - 1.0
            }
        })
        .collect();
    let matrix = square(&mut pool, 4, &a);
    let b = vector(&mut pool, &[1.0, -2.0, 3.0, 0.5], "");
    run_in(&mut pool, "inv", &[("", matrix.clone())]).expect("good");
    run_in(&mut pool, "solve", &[("", matrix), ("", b)]).expect("good");
    let inputs: Vec<f64> = a.iter().copied().chain([1.0, -2.0, 3.0, 0.5]).collect();
    // Central differences of step 1e-5 leave 1e-10 of the third derivative.
    check_slopes(
        pool.external(paynter_symbolic::expr::ExternalId(0))
            .as_ref(),
        &a,
        1e-8,
    );
    check_slopes(
        pool.external(paynter_symbolic::expr::ExternalId(1))
            .as_ref(),
        &inputs,
        1e-8,
    );
}

fn riccati(n: usize, m: usize, inputs: &[f64]) -> Result<Vec<f64>, String> {
    let mut p = vec![0.0; n * n];
    Care { n, m }.call(inputs, &mut p).map(|()| p)
}

fn close(found: &[f64], exact: &[f64], tolerance: f64) {
    let size = exact.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for (f, e) in found.iter().zip(exact) {
        assert!((f - e).abs() <= tolerance * size, "{found:?} {exact:?}");
    }
}

#[test]
fn care_knows_the_solutions_of_textbooks() {
    // Scalar: 2ap − p²b²/r + q = 0, p = r(a + √(a² + b²q/r))/b².
    for (a, b, q, r) in [
        (0.0, 1.0, 1.0, 1.0),
        (3.0, 2.0, 5.0, 0.1),
        (-4.0, 1.0, 0.0, 1.0),
        (1.0, 1.0, 0.0, 1.0),
    ] {
        let exact = r * (a + f64::sqrt(a * a + b * b * q / r)) / (b * b);
        close(
            &riccati(1, 1, &[a, b, q, r, 0.0]).expect("solvable"),
            &[exact],
            1e-14,
        );
    }
    // Double integrator with Q = I, R = 1: P = [√3, 1; 1, √3] (Bryson & Ho 1975, §5.4).
    let root = 3f64.sqrt();
    let inputs = [
        0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0,
    ];
    close(
        &riccati(2, 1, &inputs).expect("solvable"),
        &[root, 1.0, 1.0, root],
        1e-14,
    );
    // Laub 1979, example 2: A = [4, 3; −4.5, −3.5], B = [1; −1], Q = [9, 6; 6, 4], R = 1:
    // P = (1 + √2) Q.
    let inputs = [
        4.0, 3.0, -4.5, -3.5, 1.0, -1.0, 9.0, 6.0, 6.0, 4.0, 1.0, 0.0, 0.0,
    ];
    let p = 1.0 + 2f64.sqrt();
    close(
        &riccati(2, 1, &inputs).expect("solvable"),
        &[9.0 * p, 6.0 * p, 6.0 * p, 4.0 * p],
        1e-12,
    );
}

#[test]
fn care_survives_cheap_control() {
    // Double integrator, Q = diag(1, 0), R = ε²: P = [√(2ε), ε; ε, ε√(2ε)] exactly.
    for exponent in 0..7 {
        let eps = 10f64.powi(-exponent);
        let inputs = [
            0.0,
            1.0,
            0.0,
            0.0,
            0.0,
            1.0,
            1.0,
            0.0,
            0.0,
            0.0,
            eps * eps,
            0.0,
            0.0,
        ];
        let p = riccati(2, 1, &inputs).expect("solvable");
        let root = (2.0 * eps).sqrt();
        for (found, exact) in p.iter().zip([root, eps, eps, eps * root]) {
            // Entry by entry: scaling keeps even the smallest one accurate.
            assert!((found / exact - 1.0).abs() < 1e-10, "{eps}: {p:?}");
        }
    }
}

#[test]
fn care_with_cross_term_solves_its_equation() {
    let (n, m) = (3, 2);
    let a = [0.3, 1.0, -0.4, -2.0, 0.1, 0.7, 0.5, -1.2, 0.9];
    let b = [1.0, 0.2, -0.3, 1.5, 0.4, -0.6];
    let q = [4.0, 0.5, 0.1, 0.5, 3.0, -0.2, 0.1, -0.2, 5.0];
    let r = [2.0, 0.3, 0.3, 1.0];
    let s = [0.1, -0.2, 0.3, 0.05, -0.1, 0.2];
    let inputs: Vec<f64> = [&a[..], &b, &q, &r, &s].concat();
    let p = riccati(n, m, &inputs).expect("solvable");
    // Residual written out with sums, apart from the code under test.
    let det = r[0] * r[3] - r[1] * r[2];
    let r_inv = [r[3] / det, -r[1] / det, -r[2] / det, r[0] / det];
    let pb = |i: usize, k: usize| {
        (0..n).map(|l| p[n * i + l] * b[m * l + k]).sum::<f64>() + s[m * i + k]
    };
    for i in 0..n {
        for j in 0..n {
            let mut residual = q[n * i + j];
            for k in 0..n {
                residual += a[n * k + i] * p[n * k + j] + p[n * i + k] * a[n * k + j];
            }
            for k in 0..m {
                for l in 0..m {
                    residual -= pb(i, k) * r_inv[m * k + l] * pb(j, l);
                }
            }
            assert!(residual.abs() < 1e-12, "{i} {j}: {residual}");
        }
    }
    // Central differences leave about 1e-9 here.
    check_slopes(&Care { n, m }, &inputs, 1e-7);
}

#[test]
fn care_refuses_what_cannot_be_stabilised() {
    // An unstable state that the input does not reach.
    let inputs = [
        1.0, 0.0, 0.0, -1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0,
    ];
    assert!(riccati(2, 1, &inputs).is_err());
    // A free oscillation that the cost does not see stays on the imaginary axis.
    let inputs = [
        0.0, 1.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0,
    ];
    assert!(riccati(2, 1, &inputs).is_err());
    assert!(riccati(1, 1, &[0.0, 1.0, 1.0, 0.0, 0.0]).is_err());
    assert!(riccati(1, 1, &[f64::NAN, 1.0, 1.0, 1.0, 0.0]).is_err());
}

fn coefficients(pool: &mut Pool, numbers: &[f64]) -> Vec<Dimensioned> {
    numbers
        .iter()
        .map(|&x| Dimensioned {
            expr: pool.number(x),
            dimension: None,
        })
        .collect()
}

#[test]
fn a_transfer_function_becomes_states() {
    let mut pool = Pool::new();
    // (2s² + 3s + 4)/(2s² + 10s + 6) = 1 + …; at rest y = u·4/6.
    let (num, den) = (
        coefficients(&mut pool, &[2.0, 3.0, 4.0]),
        coefficients(&mut pool, &[2.0, 10.0, 6.0]),
    );
    let transfer = Transfer::new(&mut pool, &num, &den, Span::default()).expect("proper");
    assert_eq!(transfer.order(), 2);
    let u = Dimensioned {
        expr: pool.number(6.0),
        dimension: Some(Dimension::VOLTAGE),
    };
    // At rest x = (u/a₀, 0) with a₀ = 6/2.
    let states = [pool.number(2.0), pool.number(0.0)];
    let found = transfer.realise(&mut pool, u, &states);
    assert_eq!(
        found
            .rates
            .iter()
            .map(|&r| pool.as_number(r))
            .collect::<Vec<_>>(),
        [Some(0.0), Some(0.0)]
    );
    assert_eq!(pool.as_number(found.output.expr), Some(4.0));
    assert_eq!(found.output.dimension, Some(Dimension::VOLTAGE));
    // A gain has no state.
    let (num, den) = (
        coefficients(&mut pool, &[0.0, 3.0]),
        coefficients(&mut pool, &[0.0, 2.0]),
    );
    let gain = Transfer::new(&mut pool, &num, &den, Span::default()).expect("proper");
    assert_eq!(gain.order(), 0);
    let found = gain.realise(&mut pool, u, &[]);
    assert_eq!(pool.as_number(found.output.expr), Some(9.0));
}

#[test]
fn an_improper_transfer_function_is_refused() {
    let mut pool = Pool::new();
    for (num, den) in [
        (&[1.0, 0.0][..], &[1.0][..]),
        (&[1.0], &[0.0, 0.0]),
        (&[1.0], &[]),
    ] {
        let (num, den) = (coefficients(&mut pool, num), coefficients(&mut pool, den));
        let error = Transfer::new(&mut pool, &num, &den, Span::default()).expect_err("improper");
        assert_eq!(error.code, code::IMPROPER_TRANSFER);
    }
}

#[test]
fn units_of_coefficients_must_fit() {
    let mut pool = Pool::new();
    let mut with_units = |texts: &[&str]| -> Vec<Dimensioned> {
        texts
            .iter()
            .map(|text| match q(&mut pool, 1.0, text) {
                Value::Number(q) => q,
                _ => unreachable!("q gives numbers"),
            })
            .collect()
    };
    let (num, den) = (with_units(&["V"]), with_units(&["s", "1"]));
    let bad = with_units(&["s", "s"]);
    let transfer = Transfer::new(&mut pool, &num, &den, Span::default()).expect("good");
    let u = Dimensioned {
        expr: pool.number(1.0),
        dimension: Some(Dimension::CURRENT),
    };
    let state = pool.number(0.0);
    let y = transfer.realise(&mut pool, u, &[state]).output;
    assert_eq!(y.dimension, Some(Dimension::POWER));
    let error = Transfer::new(&mut pool, &num, &bad, Span::default()).expect_err("units differ");
    assert_eq!(error.code, code::ARGUMENT_UNIT);
    // Coefficients that are plain numbers are in SI: the output is of the kind of the input.
    let plain = |q: Dimensioned| Dimensioned {
        dimension: Some(Dimension::ONE),
        ..q
    };
    let one = Dimensioned {
        expr: pool.number(1.0),
        dimension: None,
    };
    let (num, den) = ([plain(one), plain(one)], [one, plain(one)]);
    let transfer = Transfer::new(&mut pool, &num, &den, Span::default()).expect("good");
    let y = transfer.realise(&mut pool, u, &[state]).output;
    assert_eq!(y.dimension, Some(Dimension::CURRENT));
}

#[test]
fn every_function_has_a_name_of_its_own_and_a_summary() {
    let mut seen = std::collections::BTreeSet::new();
    for (signature, summary) in reference() {
        assert!(!summary.is_empty(), "{signature}");
    }
    for name in names() {
        assert!(seen.insert(name), "{name}");
    }
}
