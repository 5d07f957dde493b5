//! Measures lowering, right-hand sides and Jacobians: a long ladder, and a small dense model.
//!
//! `cargo run --release -p paynter-exec --example speed`

use std::hint::black_box;
use std::time::Instant;

use paynter_exec::{Engine, Form, Lowering, Machine, lower, lower_with};
use paynter_solve::System;
use paynter_symbolic::expr::{ExprId, Function1};
use paynter_symbolic::reduce::reduce;
use paynter_symbolic::{Dae, Equation, Names, Origin, Role, Symbol};

fn add(dae: &mut Dae, name: &str, index: i64, role: Role) -> ExprId {
    let name = dae.names.child(Names::ROOT, name, Some(index));
    let symbol = dae.add_symbol(Symbol {
        name,
        role,
        nominal: 0.0,
        origin: Origin(0),
    });
    dae.pool.symbol(symbol)
}

fn equate(dae: &mut Dae, left: ExprId, right: ExprId) {
    dae.equations.push(Equation {
        left,
        right,
        solves: None,
        origin: Origin(0),
    });
}

fn rate(dae: &mut Dae, of: ExprId) -> ExprId {
    let of = dae.pool.as_symbol(of).expect("states are symbols");
    add(dae, "rate", i64::from(of.0), Role::Derivative { of })
}

/// A ladder of n resistors and capacitors.
fn ladder(n: i64) -> Dae {
    let mut dae = Dae::default();
    let [c, r, u] = [("C", 0.5), ("R", 2.0), ("U", 1.0)].map(|(name, value)| {
        add(
            &mut dae,
            name,
            0,
            Role::Parameter {
                value,
                binding: None,
            },
        )
    });
    let q: Vec<ExprId> = (0..n)
        .map(|i| add(&mut dae, "q", i, Role::Unknown))
        .collect();
    let f: Vec<ExprId> = (0..n)
        .map(|i| add(&mut dae, "f", i, Role::Unknown))
        .collect();
    for i in 0..n as usize {
        let left = if i == 0 { u } else { dae.pool.div(q[i - 1], c) };
        let here = dae.pool.div(q[i], c);
        let drop = dae.pool.sub(left, here);
        let flow = dae.pool.div(drop, r);
        equate(&mut dae, f[i], flow);
        let rate = rate(&mut dae, q[i]);
        let net = f.get(i + 1).map_or(f[i], |&next| dae.pool.sub(f[i], next));
        equate(&mut dae, rate, net);
    }
    dae
}

/// A symmetric top in momenta: p' = p × J⁻¹ p, θ' = …: about forty operations.
fn top() -> Dae {
    let mut dae = Dae::default();
    let p: Vec<ExprId> = (0..3)
        .map(|i| add(&mut dae, "p", i, Role::Unknown))
        .collect();
    let a = add(&mut dae, "a", 0, Role::Unknown);
    let inertias: Vec<ExprId> = [2.0, 3.0, 5.0]
        .into_iter()
        .zip(0..)
        .map(|(value, i)| {
            add(
                &mut dae,
                "J",
                i,
                Role::Parameter {
                    value,
                    binding: None,
                },
            )
        })
        .collect();
    let sin = dae.pool.call1(Function1::Sin, a);
    let cos = dae.pool.call1(Function1::Cos, a);
    let w: Vec<ExprId> = (0..3).map(|i| dae.pool.div(p[i], inertias[i])).collect();
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let left = dae.pool.mul(p[j], w[k]);
        let right = dae.pool.mul(p[k], w[j]);
        let turn = dae.pool.sub(left, right);
        let push = dae.pool.mul(if i == 1 { sin } else { cos }, w[i]);
        let total = dae.pool.add(turn, push);
        let rate = rate(&mut dae, p[i]);
        equate(&mut dae, rate, total);
    }
    let rate = rate(&mut dae, a);
    let both = dae.pool.add(w[0], w[1]);
    equate(&mut dae, rate, both);
    dae
}

fn top_by_hand(y: &[f64], f: &mut [f64], j: &[f64; 3]) {
    let w = [y[0] / j[0], y[1] / j[1], y[2] / j[2]];
    let (sin, cos) = (y[3].sin(), y[3].cos());
    f[0] = y[1] * w[2] - y[2] * w[1] + cos * w[0];
    f[1] = y[2] * w[0] - y[0] * w[2] + sin * w[1];
    f[2] = y[0] * w[1] - y[1] * w[0] + cos * w[2];
    f[3] = w[0] + w[1];
}

fn time_rhs(machine: &mut Machine, n_runs: u32) -> f64 {
    let n = machine.n();
    let y: Vec<f64> = (0..n).map(|i| 0.1 + (i as f64 * 0.7).sin()).collect();
    let mut f = vec![0.0; n];
    let start = Instant::now();
    for run in 0..n_runs {
        machine
            .rhs(f64::from(run), black_box(&y), &mut f)
            .expect("the model has values");
    }
    black_box(&f);
    start.elapsed().as_secs_f64() / f64::from(n_runs)
}

/// x' = −x: nothing but the cost of a call.
fn decay() -> Dae {
    let mut dae = Dae::default();
    let x = add(&mut dae, "x", 0, Role::Unknown);
    let rate = rate(&mut dae, x);
    let minus = dae.pool.neg(x);
    equate(&mut dae, rate, minus);
    dae
}

fn main() {
    let reduced = reduce(decay()).expect("decay is well posed");
    for engine in [Engine::Interpreter, Engine::Jit] {
        let mut machine = lower(&reduced, &[], engine).expect("decay can be lowered");
        machine.initialise(0.0).expect("decay can start");
        let ns = 1e9 * time_rhs(&mut machine, 10_000_000);
        println!("decay {engine:?}: rhs {ns:.1} ns");
    }
    let dae = top();
    let reduced = reduce(dae).expect("the top is well posed");
    for engine in [Engine::Interpreter, Engine::Jit] {
        let start = Instant::now();
        let mut machine = lower(&reduced, &[], engine).expect("the top can be lowered");
        let made = start.elapsed().as_secs_f64();
        machine.initialise(0.0).expect("the top can start");
        let ns = 1e9 * time_rhs(&mut machine, 2_000_000);
        println!(
            "top {engine:?}: lowered in {:.2} ms, rhs {ns:.1} ns",
            1e3 * made
        );
    }
    let (y, mut f, j) = ([0.1, 0.7, 0.9, 0.9], [0.0; 4], [2.0, 3.0, 5.0]);
    let start = Instant::now();
    for _ in 0..2_000_000 {
        top_by_hand(black_box(&y), black_box(&mut f), black_box(&j));
    }
    println!(
        "top by hand: rhs {:.1} ns",
        1e9 * start.elapsed().as_secs_f64() / 2e6
    );

    for n in [1_000, 10_000, 100_000] {
        let dae = ladder(n);
        let start = Instant::now();
        let reduced = reduce(dae).expect("the ladder is well posed");
        let reduction = start.elapsed().as_secs_f64();
        for engine in [Engine::Interpreter, Engine::Jit] {
            let lowering = Lowering {
                engine,
                form: Form::Explicit,
                ..Lowering::default()
            };
            let start = Instant::now();
            let mut machine =
                lower_with(&reduced, &[], lowering).expect("the ladder can be lowered");
            let made = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let report = machine.initialise(0.0).expect("the ladder can start");
            let started = start.elapsed().as_secs_f64();
            let us = 1e6 * time_rhs(&mut machine, 100);
            let n_entries = machine.jacobian_pattern().expect("sparse").n_entries();
            let mut values = vec![0.0; n_entries];
            let start = Instant::now();
            machine
                .jacobian(0.0, &report.y0, &mut values)
                .expect("the ladder has values");
            let jacobian = start.elapsed().as_secs_f64();
            println!(
                "ladder {n} {engine:?}: reduced in {reduction:.3} s, lowered in {made:.3} s, start \
                 {started:.3} s, rhs {us:.1} us, jacobian {:.1} us, code {:?} bytes",
                1e6 * jacobian,
                machine.machine_code(),
            );
        }
    }
}
