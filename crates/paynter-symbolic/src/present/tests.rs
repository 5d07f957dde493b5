//! Equations of the source documents, printed.

use super::*;
use crate::reduce::reduce;
use crate::reduced::Block;
use crate::testing::dae;
use insta::assert_snapshot;

fn printed(text: &str) -> String {
    let reduced = reduce(dae(text)).expect("a regular system");
    let name = |s: SymbolId| plain_name(&reduced, s);
    present(&reduced, &Options::default()).to_text(&name)
}

const CIRCUIT: &str = "
    param Vs R1 C1 R2 L1
    prefer q p
    der(q) = f3 - f5
    f3 = e2/R1
    e2 = Vs - e4
    e4 = q/C1
    f5 = p/L1
    der(p) = e4 - e6
    e6 = R2*f5
";

#[test]
fn the_circuit_of_the_thesis_prints_as_equations_3_5_and_3_7() {
    assert_snapshot!(printed(CIRCUIT), @r"
    q' = (Vs - q/C1)/R1 - p/L1
    p' = q/C1 - R2*p/L1
    ");
}

const GYROSCOPE: &str = "
    param I1 I2 I3 I4 I5 SE6 SE12 SE15
    prefer P1 P2 P3 theta
    der(P1) = e1
    der(P2) = e2
    der(P3) = e3
    f1 = P1/I1
    f2 = P2/I2
    f4 = cos(theta)*f2
    f5 = sin(theta)*f2
    P4 = I4*f4
    P5 = I5*f5
    e4 = der(P4)
    e5 = der(P5)
    der(theta) = f1
    e3 = SE6
    ea = e4 + e3 + P5*f1
    eb = e5 - (P3 + P4)*f1
    SE12 = e2 + cos(theta)*ea + sin(theta)*eb
    e1 = SE15 + P5*f4 - (P3 + P4)*f5
";

#[test]
fn the_gyroscope_prints_as_equations_44_45_50_51() {
    assert_snapshot!(printed(GYROSCOPE), @r"
    P1' = SE15 - P2*P3*sin(theta)/I2 + P2^2*sin(theta)*cos(theta)*(I5 - I4)/I2^2
    P2' = (I1*I2*(SE12 - SE6*cos(theta)) + 2*P1*P2*sin(theta)*cos(theta)*(I4 - I5)
            + I2*P1*P3*sin(theta))/(I1*(I2 + I4*cos(theta)^2 + I5*sin(theta)^2))
    P3' = SE6
    theta' = P1/I1
    ");
}

const BRIDGE: &str = "
    param SE R1 R2 R3 R4 R5 C1 C2
    prefer q4 q11
    tear eB
    eA = q4/C1 -> eA
    ec = q11/C2 -> ec
    ec = eD - eB -> eD
    der(q4) = (SE - eA)/R1 - f2 - f4 -> der(q4)
    f2 = (eA - eB)/R2 -> f2
    f4 = (eA - eD)/R4 -> f4
    f3 = f2 + der(q11) -> f3
    eB = R3*f3 -> eB
    f5 = eD/R5 -> f5
    f4 = f5 + der(q11) -> der(q11)
";

#[test]
fn a_bridge_prints_its_tearing_variable_as_equation_4_21() {
    assert_snapshot!(printed(BRIDGE), @r"
    q4' = (SE - q4/C1)/R1 - (q4/C1 - eB - q11/C2)/R4 - (q4/C1 - eB)/R2
    q11' = q4/(C1*R4) - eB*(R4 + R5)/(R4*R5) - q11*(1/R4 + 1/R5)/C2
    where
        eB = R3*(C2*R5*q4*(R2 + R4) - C1*R2*q11*(R4 + R5))/(C1*C2*(R2*(R3*(R4 + R5) + R4*R5) + R3*R4*R5))
    ");
}

fn ladder(n: usize) -> String {
    let mut text = String::from("param r c u\n");
    for i in 1..=n {
        text += &format!("der(cap[{i}].q) = res[{i}].f - f[{i}] -> der(cap[{i}].q)\n");
        text += &format!("cap[{i}].e = cap[{i}].q/c -> cap[{i}].e\n");
        text += &format!("res[{i}].f = res[{i}].e/r -> res[{i}].f\n");
        let before = if i == 1 {
            "u".to_owned()
        } else {
            format!("cap[{}].e", i - 1)
        };
        text += &format!("res[{i}].e = {before} - cap[{i}].e -> res[{i}].e\n");
        let next = if i == n {
            "0".to_owned()
        } else {
            format!("res[{}].f", i + 1)
        };
        text += &format!("f[{i}] = {next} -> f[{i}]\n");
    }
    text
}

#[test]
fn a_ladder_prints_a_loop() {
    assert_snapshot!(printed(&ladder(100)), @r"
    cap[1].q' = (u - 2*cap[1].q/c + cap[2].q/c)/r
    for i in 2 .. 99: cap[i].q' = (cap[i-1].q - 2*cap[i].q + cap[i+1].q)/(c*r)
    cap[100].q' = (cap[99].q - cap[100].q)/(c*r)
    ");
}

#[test]
fn equal_masses_on_one_shaft_are_a_matrix_equation() {
    // Three rates in one symmetric group.
    assert_snapshot!(printed("
        param a b c d k m1 m2 m3
        prefer x y z
        m1*der(x) + a*der(y) + b*sin(x)*der(z) = k - x
        a*der(x) + m2*der(y) + c*der(z) = -y
        b*sin(x)*der(x) + c*der(y) + m3*der(z) = -d*z
    "), @r"
    M*[x', y', z'] = h
    where
        M[1,1] = m1
        M[1,2] = M[2,1] = a
        M[1,3] = M[3,1] = b*sin(x)
        M[2,2] = m2
        M[2,3] = M[3,2] = c
        M[3,3] = m3
        h[1] = k - x
        h[2] = -y
        h[3] = -d*z
    ");
}

#[test]
fn long_intermediates_that_are_used_often_keep_their_name() {
    let mut text = String::from("param k\nprefer x1 x2 x3\n");
    let long: Vec<String> = (1..=12)
        .map(|i| format!("sin(x{}*k + {i})*x{}", i % 3 + 1, (i + 1) % 3 + 1))
        .collect();
    text += &format!("force = {}\n", long.join(" + "));
    text += "der(x1) = force*x2\nder(x2) = force*x3 - x1\nder(x3) = cos(force)\n";
    assert_snapshot!(printed(&text), @r"
    x1' = force*x2
    x2' = force*x3 - x1
    x3' = cos(force)
    where
        force = x1*(sin(2 + k*x3) + sin(5 + k*x3) + sin(8 + k*x3) + sin(11 + k*x3))
                + x2*(sin(3 + k*x1) + sin(6 + k*x1) + sin(9 + k*x1) + sin(12 + k*x1))
                + x3*(sin(1 + k*x2) + sin(4 + k*x2) + sin(7 + k*x2) + sin(10 + k*x2))
    ");
}

#[test]
fn equations_without_a_formula_are_printed_as_residuals() {
    assert_snapshot!(printed("
        param k
        prefer x
        der(x) = v
        x + v + k*sin(v) = v^5
    "), @r"
    x' = v
    0 = k*sin(v) + v + x - v^5   (solved for v)
    ");
}

/// A point where every printed line must hold: values by name.
fn values_at(reduced: &Reduced, seed: u64) -> Vec<f64> {
    let mut random = crate::testing::RandomExpressions::new(seed);
    let mut values: Vec<f64> = random
        .point(reduced.dae.symbols.len())
        .into_iter()
        .map(|x| x.abs() + 0.5)
        .collect();
    for block in &reduced.blocks {
        run(reduced, block, &mut values);
    }
    values
}

fn run(reduced: &Reduced, block: &Block, values: &mut [f64]) {
    let value =
        |e: ExprId, values: &[f64]| crate::testing::evaluate_at(&reduced.dae.pool, e, values);
    match block {
        Block::Assign { symbol, value: e } => values[symbol.0 as usize] = value(*e, values),
        Block::Linear {
            unknowns,
            matrix,
            right,
            inner,
            ..
        } => {
            let n = unknowns.len();
            let mut a = vec![vec![0.0; n + 1]; n];
            for &(r, c, e) in matrix {
                a[r as usize][c as usize] += value(e, values);
            }
            for r in 0..n {
                a[r][n] = value(right[r], values);
            }
            for (s, z) in unknowns.iter().zip(gauss(a)) {
                values[s.0 as usize] = z;
            }
            for (s, e) in inner {
                values[s.0 as usize] = value(*e, values);
            }
        }
        Block::Nonlinear { .. } => panic!("these tests have no nonlinear group"),
    }
}

fn gauss(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))
            .unwrap_or(k);
        a.swap(k, pivot);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k] / a[k][k];
            for j in k..=n {
                let x = a[k][j];
                a[i][j] -= factor * x;
            }
        }
    }
    (0..n).map(|k| a[k][n] / a[k][k]).collect()
}

/// The printed text, read again, holds where the blocks were computed.
fn check_text(text: &str) {
    let reduced = reduce(dae(text)).expect("a regular system");
    let printed = printed(text);
    for seed in 0..100 {
        let values = values_at(&reduced, seed);
        let mut pool = crate::expr::Pool::new();
        let mut names = crate::testing::Names::default();
        for i in 0..reduced.dae.symbols.len() as u32 {
            names.id(&plain_name(&reduced, SymbolId(i)));
        }
        // Lines that begin with a sign continue the one before.
        let joined = printed
            .replace("\n        + ", " + ")
            .replace("\n        - ", " - ");
        let joined = joined.replace("\n            + ", " + ");
        let joined = joined.replace("\n            - ", " - ");
        for line in joined.lines().filter(|line| *line != "where") {
            let (left, right) = line.split_once(" = ").expect("an equation");
            let left = crate::testing::parse(&mut pool, &mut names, left.trim());
            let right = crate::testing::parse(&mut pool, &mut names, right);
            let left = crate::testing::evaluate_at(&pool, left, &values);
            let right = crate::testing::evaluate_at(&pool, right, &values);
            // A hundred operations at most, and no cancellation: all values are near 1.
            assert!(
                (left - right).abs() <= 1e-11 * (1.0 + left.abs()),
                "{line}: {left} {right}"
            );
        }
    }
}

#[test]
fn printed_equations_hold_at_random_points() {
    check_text(CIRCUIT);
    check_text(GYROSCOPE);
    check_text(BRIDGE);
}

#[test]
fn the_gyroscope_needs_no_more_operations_than_the_paper() {
    let reduced = reduce(dae(GYROSCOPE)).expect("a regular system");
    let found = present(&reduced, &Options::default()).count_operations();
    let mut pool = crate::expr::Pool::new();
    let mut names = crate::testing::Names::default();
    // Equations 50, 44 (over one bar), 45 and 51 of McBride & Cellier 2001.
    let paper: usize = [
        "SE15 - P2*P3/I2*sin(theta) + (P2/I2)^2*sin(theta)*cos(theta)*(I5 - I4)",
        "(I2*I1*(SE12 - SE6*cos(theta)) + P1*P3*I2*sin(theta) + 2*P1*P2*sin(theta)*cos(theta)*(I4 - I5))/(I1*(I2 + I4*cos(theta)^2 + I5*sin(theta)^2))",
        "SE6",
        "P1/I1",
    ]
    .into_iter()
    .map(|text| {
        let e = crate::testing::parse(&mut pool, &mut names, text);
        count_written_operations(&pool, e)
    })
    .sum();
    assert!(
        10 * found <= 12 * paper,
        "{found} operations against {paper}"
    );
}

#[test]
fn shuffled_equations_print_the_same_text() {
    for text in [CIRCUIT, GYROSCOPE, BRIDGE] {
        let expected = printed(text);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let (lists, mut equations): (Vec<&str>, Vec<&str>) =
            lines.into_iter().partition(|line| !line.contains(" = "));
        for k in 1..equations.len() {
            equations.rotate_left(k);
            equations.swap(0, k);
            let shuffled = [lists.join("\n"), equations.join("\n")].join("\n");
            assert_eq!(printed(&shuffled), expected);
        }
    }
}

#[test]
fn latex_and_json_carry_the_same_lines() {
    let reduced = reduce(dae(CIRCUIT)).expect("a regular system");
    let name = |s: SymbolId| plain_name(&reduced, s);
    let presentation = present(&reduced, &Options::default());
    assert_snapshot!(presentation.to_latex(&name), @r"
    \begin{align*}
    \dot{q} &= \frac{\mathit{Vs} - \frac{q}{C_{1}}}{R_{1}} - \frac{p}{L_{1}} \\
    \dot{p} &= \frac{q}{C_{1}} - \frac{R_{2} p}{L_{1}}
    \end{align*}
    ");
    let json = presentation.to_json(&name);
    assert!(json.contains(r#""text":"q/C1 - R2*p/L1""#), "{json}");
    assert!(
        json.contains(r#"{"op":"/","args":[{"symbol":"q"},{"symbol":"C1"}]}"#),
        "{json}"
    );
}

#[test]
fn latex_of_every_example_is_balanced() {
    let ladder = ladder(10);
    for text in [CIRCUIT, GYROSCOPE, BRIDGE, &ladder] {
        let reduced = reduce(dae(text)).expect("a regular system");
        let name = |s: SymbolId| plain_name(&reduced, s);
        let latex = present(&reduced, &Options::default()).to_latex(&name);
        let count = |part: &str| latex.matches(part).count();
        assert_eq!(count("{"), count("}"));
        assert_eq!(count("\\left("), count("\\right)"));
        assert_eq!(count("\\begin{align*}"), count("\\end{align*}"));
        assert!(latex.is_ascii());
    }
}
