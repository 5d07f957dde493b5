//! Facts about the order of solution: assignments, blocks, values.

use super::super::testing::*;
use super::super::*;
use super::index::{GIMBAL, PENDULUM};
use crate::dae::Role;

/// A series circuit: voltage source, resistor, inductor, capacitor, with copies of the current.
pub(super) const SERIES_RLC: &str = "
    param R = 2
    param L = 0.5
    param C = 0.1
    prefer p q
    us = 5*sin(time) -> us
    f1 = p/L -> f1
    fs = f1 -> fs
    fr = f1 -> fr
    fc = f1 -> fc
    ur = R*fr -> ur
    uc = q/C -> uc
    der(q) = fc -> der(q)
    ul = us - ur - uc -> ul
    der(p) = ul -> der(p)";

#[test]
fn a_circuit_in_integral_causality_is_a_list_of_assignments() {
    let r = reduced(SERIES_RLC);
    assert_eq!(state_names(&r), ["p", "q"]);
    assert_eq!(r.structural_index, 1);
    assert!(r.blocks.iter().all(|b| matches!(b, Block::Assign { .. })));
    let v = run(&r, &[("p", 1.0), ("q", 0.3), ("time", 0.25)]);
    assert!(largest_residual(&r, &v) < 1e-12);
    // ṗ = u − R p/L − q/C
    let expected = 5.0 * 0.25_f64.sin() - 2.0 * 2.0 - 3.0;
    assert!((v["der(p)"] - expected).abs() < 1e-12);
    assert!((v["fs"] - 2.0).abs() < 1e-15);
}

#[test]
fn without_causality_the_same_values_come_out() {
    let plain: String = SERIES_RLC
        .lines()
        .map(|l| {
            l.split_once("->")
                .map_or(l, |(equation, _)| equation)
                .to_owned()
                + "\n"
        })
        .collect();
    let given = [("p", 1.0), ("q", 0.3), ("time", 0.25)];
    assert_same_values(
        &run(&reduced(SERIES_RLC), &given),
        &run(&reduced(&plain), &given),
    );
}

/// A bridge of resistors fed through one of them: no storage, one loop.
pub(super) const WHEATSTONE: &str = "
    param Ra = 1
    param R1 = 2
    param R2 = 3
    param R3 = 4
    param R4 = 5
    param R5 = 6
    v = 10
    va = v - Ra*i
    i = i1 + i2
    va - v1 = R1*i1
    va - v2 = R2*i2
    v1 = R3*i3
    v2 = R4*i4
    v1 - v2 = R5*i5
    i1 = i3 + i5
    i4 = i2 + i5";

#[test]
fn a_bridge_of_resistors_is_one_linear_block_torn_small() {
    let r = reduced(WHEATSTONE);
    let linear: Vec<_> = r
        .blocks
        .iter()
        .filter_map(|b| match b {
            Block::Linear { unknowns, .. } => Some(unknowns.len()),
            Block::Assign { .. } => None,
            Block::Nonlinear { .. } => panic!("resistors are linear"),
        })
        .collect();
    assert_eq!(linear.len(), 1);
    assert!(linear[0] <= 3, "torn at {} unknowns", linear[0]);
    let v = run(&r, &[]);
    assert!(largest_residual(&r, &v) < 1e-12);
    assert_same_values(&run_dense(&dae(WHEATSTONE), &[], &[]), &v);
}

#[test]
fn a_diode_in_a_loop_is_solved_by_iteration() {
    let text = "
        param R = 2
        u = 3
        u = ur + ud
        ur = R*i
        i = exp(ud) - 1";
    let r = reduced(text);
    let nonlinear = r.blocks.iter().find_map(|b| match b {
        Block::Nonlinear { unknowns, .. } => Some(unknowns.len()),
        _ => None,
    });
    assert_eq!(nonlinear, Some(1));
    let v = run(&r, &[]);
    assert!(largest_residual(&r, &v) < 1e-12);
    assert_same_values(&run_dense(&dae(text), &[], &[]), &v);
}

#[test]
fn a_divisor_with_a_state_is_left_to_a_solver_that_pivots() {
    let r = reduced(
        "
        der(x) = 1 -> der(x)
        cos(x)*y = 2 -> y",
    );
    assert!(matches!(
        &r.blocks[..],
        [_, Block::Linear { .. }] | [Block::Linear { .. }, _]
    ));
}

#[test]
fn a_parameter_that_is_zero_is_no_divisor() {
    let text = |value: &str| {
        format!(
            "
        param R = {value}
        der(x) = 1
        R*y + z = x
        z - y = 2*x"
        )
    };
    for value in ["0", "3"] {
        let r = reduced(&text(value));
        let v = run(&r, &[("x", 1.5)]);
        assert!(largest_residual(&r, &v) < 1e-12, "R = {value}");
    }
}

#[test]
fn order_of_lines_and_symbols_decides_nothing() {
    let cases: [(&str, &[(&str, f64)]); 4] = [
        (SERIES_RLC, &[("p", 1.0), ("q", 0.3), ("time", 0.25)]),
        (WHEATSTONE, &[]),
        (GIMBAL, &[("p1", 1.3), ("theta", 0.4)]),
        (PENDULUM, &[("x", 0.6), ("y", -0.8), ("u", 0.8), ("v", 0.6)]),
    ];
    for (text, given) in cases {
        let first = reduced(text);
        let mut names = state_names(&first);
        names.sort();
        let values = run(&first, given);
        for seed in 0..20 {
            let r = reduce(shuffled_dae(text, seed)).expect("regular");
            let mut shuffled = state_names(&r);
            shuffled.sort();
            assert_eq!(names, shuffled);
            assert_eq!(r.structural_index, first.structural_index);
            assert_same_values(&values, &run(&r, given));
        }
    }
}

#[test]
fn every_symbol_is_answerable() {
    for text in [SERIES_RLC, WHEATSTONE, GIMBAL, PENDULUM] {
        let r = reduced(text);
        let mut n_given = vec![0; r.dae.symbols.len()];
        let mut give = |s: SymbolId| n_given[s.0 as usize] += 1;
        for block in &r.blocks {
            match block {
                Block::Assign { symbol, .. } => give(*symbol),
                Block::Linear {
                    unknowns, inner, ..
                }
                | Block::Nonlinear {
                    unknowns, inner, ..
                } => {
                    unknowns.iter().for_each(|&s| give(s));
                    inner.iter().for_each(|&(s, _)| give(s));
                }
            }
        }
        r.states.iter().for_each(|s| give(s.symbol));
        for (s, symbol) in r.dae.symbols.iter().enumerate() {
            let is_asked = matches!(symbol.role, Role::Unknown | Role::Derivative { .. })
                && r.known[s] == crate::reduced::Known::Itself;
            assert_eq!(
                n_given[s],
                usize::from(is_asked),
                "{}",
                r.dae.name_of(SymbolId(s as u32))
            );
        }
    }
}

/// Writes a random system y = A y + c x + g(y) + states ẋ = B y, of unknowns of size one with a
/// dominant diagonal, in random shapes: copies, products with parameters, a nonlinear term.
fn random_system(seed: u64) -> String {
    let mut random = crate::testing::RandomExpressions::new(seed);
    let n = 3 + random.below(9) as usize;
    let n_states = 1 + random.below(3) as usize;
    let mut text = String::from("param k = 0.5\n");
    for i in 0..n {
        let mut right = format!("{}*x{}", 1 + random.below(3), random.below(n_states as u64));
        for _ in 0..random.below(3) {
            let j = random.below(n as u64);
            match random.below(4) {
                0 => right += &format!(" + 0.1*sin(y{j})"),
                1 => right += &format!(" - 0.2*k*y{j}"),
                2 => right += &format!(" + 0.1*cos(x0)*y{j}"),
                _ => right += &format!(" + 0.15*copy{j}"),
            }
        }
        text += &match random.below(3) {
            0 => format!("y{i} = {right}\n"),
            1 => format!("{right} = k*y{i}/k\n"),
            _ => format!("0 = {right} - y{i}\n"),
        };
        text += &match random.below(3) {
            0 => format!("copy{i} = y{i}\n"),
            1 => format!("y{i} - copy{i} = 0\n"),
            _ => format!("copy{i} = 2*y{i} - y{i}\n"),
        };
    }
    for i in 0..n_states {
        text += &format!("der(x{i}) = y{} - x{i}\n", random.below(n as u64));
    }
    text
}

#[test]
fn blocks_solve_to_the_same_point_as_one_dense_newton() {
    for seed in 0..200 {
        let text = random_system(seed);
        let given = [("x0", 0.3), ("x1", -0.4), ("x2", 0.5)];
        let r = reduced(&text);
        let original = dae(&text);
        let states: Vec<SymbolId> = r.states.iter().map(|s| s.symbol).collect();
        let v = run(&r, &given);
        assert!(largest_residual(&r, &v) < 1e-10, "{text}");
        assert_same_values(&run_dense(&original, &states, &given), &v);
    }
}
