//! Published problems, written as models, against their published end values.
//!
//! Source: F. Mazzia & C. Magherini, *Test Set for Initial Value Problem Solvers*, release 2.4
//! (2008). The same problems test the solver alone in `paynter-solve`; here they pass through
//! text, equations and machine code.

use crate::kit::{column, last, run_text};

/// Worst relative error of the named columns at the end.
fn worst(text: &str, expected: &[(&str, f64)]) -> f64 {
    let outcome = run_text(text);
    expected
        .iter()
        .map(|(name, value)| ((last(&outcome, name) - value) / value).abs())
        .fold(0.0, f64::max)
}

#[test]
fn van_der_pol_reaches_its_end_values() {
    let error = worst(
        "model M { der(x) = v; der(v) = 1000*(1 - x^2)*v - x; start x = 2 }
         experiment e of M { stop = 2000; rtol = 1e-8; atol = 1e-10; record x, v }",
        &[("x", 1.706167732170469), ("v", -0.8928097010248125e-3)],
    );
    // Five fast transitions add up their phase errors; CVODE errs by 8e-7 likewise.
    assert!(error < 3e-6, "{error:e}");
}

#[test]
fn robertson_reaches_equilibrium_over_eleven_decades() {
    let error = worst(
        "model M {
            der(a) = -0.04*a + 1e4*b*c
            der(b) = 0.04*a - 1e4*b*c - 3e7*b^2
            der(c) = 3e7*b^2
            start a = 1
        }
        experiment e of M { stop = 1e11; rtol = 1e-8; atol = 1e-20; method = rodas5p; record a, b, c }",
        &[
            ("a", 0.2083340149701255e-7),
            ("b", 0.8333360770334713e-13),
            ("c", 0.999999979166505),
        ],
    );
    assert!(error < 1e-6, "{error:e}");
}

#[test]
fn hires_reaches_its_end_values() {
    let error = worst(
        "model M {
            k = 280*y6*y8
            der(y1) = -1.71*y1 + 0.43*y2 + 8.32*y3 + 0.0007
            der(y2) = 1.71*y1 - 8.75*y2
            der(y3) = -10.03*y3 + 0.43*y4 + 0.035*y5
            der(y4) = 8.32*y2 + 1.71*y3 - 1.12*y4
            der(y5) = -1.745*y5 + 0.43*y6 + 0.43*y7
            der(y6) = -k + 0.69*y4 + 1.71*y5 - 0.43*y6 + 0.69*y7
            der(y7) = k - 1.81*y7
            der(y8) = -k + 1.81*y7
            start y1 = 1, y8 = 0.0057
        }
        experiment e of M { stop = 321.8122; rtol = 1e-9; atol = 1e-13; record y1, y2, y3, y4, y5, y6, y7, y8 }",
        &[
            ("y1", 0.7371312573325668e-3),
            ("y2", 0.1442485726316185e-3),
            ("y3", 0.5888729740967575e-4),
            ("y4", 0.1175651343283149e-2),
            ("y5", 0.2386356198831331e-2),
            ("y6", 0.6238968252742796e-2),
            ("y7", 0.2849998395185769e-2),
            ("y8", 0.2850001604814231e-2),
        ],
    );
    // The values fall steeply at the end, which magnifies errors in time.
    assert!(error < 2e-5, "{error:e}");
}

#[test]
fn pleiades_reach_their_end_values() {
    let start_x = [3.0, 3.0, -1.0, -3.0, 2.0, -2.0, 2.0];
    let start_y = [3.0, -3.0, 2.0, 0.0, 0.0, -4.0, 4.0];
    let start_u = [0.0, 0.0, 0.0, 0.0, 0.0, 1.75, -1.5];
    let start_v = [0.0, 0.0, 0.0, -1.25, 1.0, 0.0, 0.0];
    // Each star has two inertias and feels the sum of the pulls.
    let mut text = String::from("model M {\n");
    for i in 1..=7 {
        let pull = |axis: &str| {
            let terms = (1..=7).filter(|&j| j != i).map(|j| {
                let r2 = format!("((x{j} - x{i})^2 + (y{j} - y{i})^2)");
                format!("{}*({axis}{j} - {axis}{i})/{r2}^1.5", i * j)
            });
            terms.collect::<Vec<_>>().join(" + ")
        };
        text += &format!("px{i}: Se({}) -> vx{i}: 1 -> mx{i}: I({i})\n", pull("x"));
        text += &format!("py{i}: Se({}) -> vy{i}: 1 -> my{i}: I({i})\n", pull("y"));
        text += &format!("der(x{i}) = vx{i}.f\nder(y{i}) = vy{i}.f\n");
        let k = i - 1;
        text += &format!(
            "start x{i} = {}, y{i} = {}, vx{i}.f = {}, vy{i}.f = {}\n",
            start_x[k], start_y[k], start_u[k], start_v[k]
        );
    }
    text += "}\nexperiment e of M { stop = 3; rtol = 1e-11; atol = 1e-11; record x1, x2, x3, x4, x5, x6, x7, y1, y2, y3, y4, y5, y6, y7 }";
    let error = worst(
        &text,
        &[
            ("x1", 0.3706139143970502),
            ("x2", 3.237284092057233),
            ("x3", -3.222559032418324),
            ("x4", 0.659709145577531),
            ("x5", 0.3425581707156584),
            ("x6", 1.562172101400631),
            ("x7", -0.7003092922212495),
            ("y1", -3.943437585517392),
            ("y2", -3.27138097397255),
            ("y3", 5.225081843456543),
            ("y4", -2.59061243497747),
            ("y5", 1.198213693392275),
            ("y6", -0.2429682344935824),
            ("y7", 1.09144924042898),
        ],
    );
    // Close encounters multiply errors by about a thousand.
    assert!(error < 3e-7, "{error:e}");
}

#[test]
fn transistor_amplifier_reaches_its_end_values() {
    // A bond graph: nodes are 0-junctions, capacitors couple them, transistors draw currents.
    // Its states are charges of some 1e-6 C, hence the absolute tolerance.
    let mut text = String::from(
        "model M {
            g1 = 1e-6*(exp((n2.e - n3.e)/0.026) - 1)
            g2 = 1e-6*(exp((n5.e - n6.e)/0.026) - 1)
            ue: Se(0.1*sin(200*pi*time)) -> in: 1 -> n1: 0
            in -> r0: R(1000)
            ub: Se(6) -> rail: 0
            n1 -> j1: 1 -> n2: 0 -> r1: R(9000)
            n4: 0 -> j3: 1 -> n5: 0 -> r5: R(9000)
            n7: 0 -> j5: 1 -> n8: 0 -> r9: R(9000)
            j1 -> c1: C(1e-6)
            j3 -> c3: C(3e-6)
            j5 -> c5: C(5e-6)
            n3: 0 -> c2: C(2e-6), r3: R(9000)
            n6: 0 -> c4: C(4e-6), r7: R(9000)
            n2 -> base1: Sf(0.01*g1)
            n4 -> take1: Sf(0.99*g1)
            give1: Sf(g1) -> n3
            n5 -> base2: Sf(0.01*g2)
            n7 -> take2: Sf(0.99*g2)
            give2: Sf(g2) -> n6
            start c1.e = -3, c2.e = 3, c3.e = 3, c4.e = 3, c5.e = 6
            guess n2.e = 3, n5.e = 3
        ",
    );
    for (resistor, node) in [("r2", "n2"), ("r4", "n4"), ("r6", "n5"), ("r8", "n7")] {
        text += &format!("rail -> to_{node}: 1 -> {node}\nto_{node} -> {resistor}: R(9000)\n");
    }
    text += "}\nexperiment e of M { stop = 0.2; rtol = 1e-9; atol = 1e-16; record n1.e, n2.e, n3.e, n4.e, n5.e, n6.e, n7.e, n8.e }";
    let error = worst(
        &text,
        &[
            ("n1.e", -0.5562145012262709e-2),
            ("n2.e", 3.006522471903042),
            ("n3.e", 2.849958788608128),
            ("n4.e", 2.926422536206241),
            ("n5.e", 2.704617865010554),
            ("n6.e", 2.761837778393145),
            ("n7.e", 4.770927631616772),
            ("n8.e", 1.236995868091548),
        ],
    );
    assert!(error < 1e-6, "{error:e}");
}

/// Largest error over the run, relative to the largest value, of a column with a known course.
fn error_over_run(text: &str, exact: impl Fn(f64) -> f64) -> f64 {
    let outcome = run_text(text);
    let name = outcome.run.table.columns[0].name.clone();
    let times = &outcome.run.table.time;
    let size = times.iter().map(|&t| exact(t).abs()).fold(0.0, f64::max);
    let values = times.iter().zip(column(&outcome, &name));
    values
        .map(|(&t, v)| (v - exact(t)).abs() / size)
        .fold(0.0, f64::max)
}

#[test]
fn error_follows_the_tolerance_whatever_the_size_of_the_states() {
    // States start at zero; their size is found from what drives them: picocoulombs to meganewtons.
    for decade in 4..=10 {
        let rtol = 10.0_f64.powi(-decade);
        for c in [1e-12, 1e-9, 1e-6, 1.0, 1e3] {
            let tau = 1000.0 * c;
            let text = format!(
                "model M {{ s: Se(5) -> j: 1 -> r: R(1000), c: C({c:e}) }}
                experiment x of M {{ stop = {:e}; rtol = {rtol:e}; record c.e as v }}",
                5.0 * tau
            );
            let error = error_over_run(&text, |t| 5.0 * (1.0 - (-t / tau).exp()));
            assert!(error < 10.0 * rtol, "C = {c:e}, {rtol:e}: {error:e}");
        }
        for (m, k) in [(1e-9, 1e-3), (1.0, 1.0), (1e6, 1e9)] {
            let w: f64 = f64::sqrt(k / m);
            let text = format!(
                "model M {{ s: Se({k:e}) -> j: 1 -> m: I({m:e}), c: C({:e}) }}
                experiment x of M {{ stop = {:e}; rtol = {rtol:e}; record c.q as x }}",
                1.0 / k,
                20.0 / w
            );
            let error = error_over_run(&text, |t| 1.0 - (w * t).cos());
            assert!(error < 10.0 * rtol, "m = {m:e}, {rtol:e}: {error:e}");
        }
    }
}

#[test]
fn squeezer_of_andrews_reaches_its_end_values() {
    // Seven bodies in a plane, 20 locks, three closed loops: index 3 as written. The end values were found again
    // by minimal coordinates with Lagrange multipliers and projection, to 1e-9.
    let expected = [
        ("beta", 15.81077119629904),
        ("Theta", -15.75637105984298),
        ("gamma", 0.04082224013073101),
        ("Phi", -0.5347301163226948),
        ("delta", 0.5244099658805304),
        ("Omega", 0.5347301163226948),
        ("epsilon", 1.048080741042263),
    ];
    let text = include_str!("../models/squeezer.bond");
    for (rtol, largest) in [(1e-7, 1e-6), (1e-9, 1e-8)] {
        let outcome = run_text(&text.replace("rtol = 1e-9", &format!("rtol = {rtol:e}")));
        for (name, value) in expected {
            let error = ((last(&outcome, name) - value) / value).abs();
            assert!(error < largest, "{name} at {rtol}: {error:e}");
        }
        // The loops stay closed to ten times the absolute tolerance of a length of 0.05 m.
        let atol = 1e-2 * rtol * 0.05;
        for gap in ["gap3", "gap4", "gap6"] {
            let largest = column(&outcome, gap)
                .iter()
                .fold(0.0, |m: f64, x| m.max(x.abs()));
            assert!(largest < 10.0 * atol, "{gap} at {rtol}: {largest:e}");
        }
        let audit = outcome.run.audit.as_ref().expect("there is power");
        assert!(audit.is_good(), "{audit:?}");
    }
}
