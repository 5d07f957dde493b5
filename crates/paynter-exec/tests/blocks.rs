//! Blocks solved at run time, on reduced equations written by hand.

mod kit;

use kit::{Kit, assert_close, observe};
use paynter_exec::{Engine, Failure, Form, Lowering, Machine, lower_with};
use paynter_solve::{EvalError, System};
use paynter_symbolic::expr::{ExprId, Function1, SymbolId};
use paynter_symbolic::reduced::{Block, Known, Reduced, State};

/// How the block of a test is given.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Linear,
    PositiveDefinite,
    Nonlinear,
}

/// One state x; n unknowns with (D + x B) z = b(x) on a ring, or the same with z³ added; ẋ = Σ z.
fn ring(n: usize, kind: Kind) -> (Reduced, Vec<ExprId>) {
    let mut k = Kit::new();
    let x = k.unknown("x");
    let dx = k.der(x);
    let z: Vec<ExprId> = (0..n).map(|i| k.unknown(&format!("z{i}"))).collect();
    let ids: Vec<SymbolId> = z.iter().map(|&e| k.id(e)).collect();
    let mut matrix = Vec::new();
    let mut right = Vec::new();
    for i in 0..n {
        let diagonal = k.num(4.0 + i as f64 / n as f64);
        matrix.push((i as u32, i as u32, diagonal));
        for j in [(i + 1) % n, (i + n - 1) % n] {
            let weight = k.num(if kind == Kind::Linear {
                1.0 + (i + 2 * j) as f64 / n as f64
            } else {
                -0.7
            });
            let entry = k.mul(weight, x);
            matrix.push((i as u32, j as u32, entry));
        }
        let phase = k.num(i as f64);
        let angle = k.sum(x, phase);
        right.push(k.call(Function1::Sin, angle));
    }
    let mut sum = z[0];
    for &other in &z[1..] {
        sum = k.sum(sum, other);
    }
    let block = match kind {
        Kind::Linear | Kind::PositiveDefinite => Block::Linear {
            unknowns: ids.clone(),
            matrix,
            right,
            positive_definite: kind == Kind::PositiveDefinite,
            inner: vec![(k.id(dx), sum)],
            origins: Vec::new(),
        },
        Kind::Nonlinear => {
            let cubes: Vec<ExprId> = (0..n).map(|i| k.unknown(&format!("cube{i}"))).collect();
            let mut inner = Vec::new();
            let mut residuals: Vec<ExprId> = right.iter().map(|&b| k.neg(b)).collect();
            let mut jacobian = matrix.clone();
            for i in 0..n {
                let cube = k.dae.pool.powi(z[i], 3);
                inner.push((k.id(cubes[i]), cube));
                residuals[i] = k.sum(residuals[i], cubes[i]);
                let square = k.square(z[i]);
                jacobian.push((i as u32, i as u32, k.scale(3.0, square)));
            }
            for &(i, j, value) in &matrix {
                let term = k.mul(value, z[j as usize]);
                residuals[i as usize] = k.sum(residuals[i as usize], term);
            }
            Block::Nonlinear {
                unknowns: ids.clone(),
                inner,
                residuals,
                jacobian,
                origins: Vec::new(),
            }
        }
    };
    let rate = Block::Assign {
        symbol: k.id(dx),
        value: sum,
    };
    let mut blocks = vec![block];
    if kind == Kind::Nonlinear {
        blocks.push(rate);
    }
    let states = vec![State {
        symbol: k.id(x),
        derivative: k.id(dx),
    }];
    let known = vec![Known::Itself; k.dae.symbols.len()];
    (
        Reduced {
            states,
            blocks,
            known,
            dae: k.dae,
            ..Reduced::default()
        },
        z,
    )
}

fn machine(reduced: &Reduced, wanted: &[ExprId], engine: Engine, form: Form) -> Machine {
    let lowering = Lowering {
        engine,
        form,
        ..Lowering::default()
    };
    lower_with(reduced, wanted, lowering).expect("the ring can be lowered")
}

/// Largest residual of the ring at x with these unknowns.
fn residual(z: &[f64], x: f64, kind: Kind) -> f64 {
    let n = z.len();
    let mut largest: f64 = 0.0;
    for i in 0..n {
        let mut sum = (4.0 + i as f64 / n as f64) * z[i] - (x + i as f64).sin();
        for j in [(i + 1) % n, (i + n - 1) % n] {
            let weight = if kind == Kind::Linear {
                1.0 + (i + 2 * j) as f64 / n as f64
            } else {
                -0.7
            };
            sum += weight * x * z[j];
        }
        if kind == Kind::Nonlinear {
            sum += z[i].powi(3);
        }
        largest = largest.max(sum.abs());
    }
    largest
}

#[test]
fn blocks_of_every_size_and_kind_are_solved_with_exact_tangents() {
    for kind in [Kind::Linear, Kind::PositiveDefinite, Kind::Nonlinear] {
        // Written out, dense, sparse.
        for n in [3, 4, 17, 90] {
            let (reduced, z) = ring(n, kind);
            for engine in [Engine::Interpreter, Engine::Jit] {
                let mut machine = machine(&reduced, &z, engine, Form::Explicit);
                machine.initialise(0.0).expect("the ring can start");
                let at = 0.8;
                // Well conditioned, so residuals stay near rounding.
                assert!(residual(&observe(&mut machine, 0.0, &[at]), at, kind) < 1e-12);
                let mut slope = [0.0];
                assert!(machine.jacobian(0.0, &[at], &mut slope).expect("regular"));
                let mut rate = |x: f64| {
                    let mut f = [0.0];
                    machine.rhs(0.0, &[x], &mut f).expect("regular");
                    f[0]
                };
                let h = 1e-5;
                let difference = (rate(at + h) - rate(at - h)) / (2.0 * h);
                // Central differences: h² and ε/h are both near 1e-10, times n terms.
                assert_close(slope[0], difference, 1e-7);
            }
        }
    }
}

#[test]
fn the_algebraic_form_vanishes_at_the_solution_of_the_explicit_one() {
    for kind in [Kind::Linear, Kind::Nonlinear] {
        let n = 12;
        let (reduced, z) = ring(n, kind);
        let mut explicit = machine(&reduced, &z, Engine::Interpreter, Form::Explicit);
        let mut opened = machine(&reduced, &z, Engine::Interpreter, Form::Dae);
        assert_eq!(opened.n(), n + 1);
        let mut y = vec![0.3];
        y.extend(observe(&mut explicit, 0.0, &[0.3]));
        let mut f = vec![0.0; n + 1];
        opened.rhs(0.0, &y, &mut f).expect("rows are sums");
        let mut rate = [0.0];
        explicit.rhs(0.0, &[0.3], &mut rate).expect("regular");
        assert_close(f[0], rate[0], 1e-14);
        for row in &f[1..] {
            assert_close(*row, 0.0, 1e-14);
        }
        let pattern = opened
            .jacobian_pattern()
            .cloned()
            .expect("a ring is sparse");
        // Each row: itself, two neighbours, x; the rate row: all unknowns; and its own diagonal.
        assert_eq!(pattern.n_entries(), 4 * n + n + 1);
        let mut values = vec![0.0; pattern.n_entries()];
        assert!(
            opened
                .jacobian(0.0, &y, &mut values)
                .expect("rows are sums")
        );
        for column in 0..=n {
            let h = 1e-6;
            let mut moved = y.clone();
            let mut at = |x: f64| {
                moved[column] = x;
                let mut f = vec![0.0; n + 1];
                opened.rhs(0.0, &moved, &mut f).expect("rows are sums");
                f
            };
            let (up, down) = (at(y[column] + h), at(y[column] - h));
            for (place, &row) in pattern.column(column).iter().enumerate() {
                let exact = values[pattern.column_starts()[column] + place];
                assert_close(exact, (up[row] - down[row]) / (2.0 * h), 1e-8);
            }
        }
    }
}

#[test]
fn a_block_without_solution_is_named() {
    // z² + x = 0 has no solution for x > 0.
    let mut k = Kit::new();
    let (x, z) = (k.unknown("x"), k.unknown("z"));
    let dx = k.der(x);
    let square = k.square(z);
    let sum = k.sum(square, x);
    let slope = k.scale(2.0, z);
    let ids = vec![k.id(z)];
    let blocks = vec![
        Block::Nonlinear {
            unknowns: ids.clone(),
            inner: Vec::new(),
            residuals: vec![sum],
            jacobian: vec![(0, 0, slope)],
            origins: Vec::new(),
        },
        Block::Assign {
            symbol: k.id(dx),
            value: z,
        },
    ];
    k.guess(z, 1.0);
    let states = vec![State {
        symbol: k.id(x),
        derivative: k.id(dx),
    }];
    let known = vec![Known::Itself; k.dae.symbols.len()];
    let reduced = Reduced {
        states,
        blocks,
        known,
        dae: k.dae,
        ..Reduced::default()
    };
    let mut machine = machine(&reduced, &[z], Engine::Interpreter, Form::Explicit);
    machine.initialise(0.0).expect("nothing is demanded");
    let mut f = [0.0];
    machine.rhs(0.0, &[-4.0], &mut f).expect("z = 2");
    assert_close(f[0], 2.0, 1e-14);
    let Err(EvalError::Failed { code }) = machine.rhs(0.0, &[1.0], &mut f) else {
        panic!("there is no solution, got {f:?}")
    };
    match machine.describe_failure(code) {
        Failure::NoConvergence { unknowns, .. } | Failure::Singular { unknowns, .. } => {
            assert_eq!(unknowns, ids);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_search_begins_anew_where_zero_is_a_bad_place() {
    // z² = 4 + x: the slope vanishes at z = 0.
    let mut k = Kit::new();
    let (x, z) = (k.unknown("x"), k.unknown("z"));
    let dx = k.der(x);
    let square = k.square(z);
    let four = k.num(4.0);
    let right = k.sum(four, x);
    let residual = k.sub(square, right);
    let slope = k.scale(2.0, z);
    let blocks = vec![
        Block::Nonlinear {
            unknowns: vec![k.id(z)],
            inner: Vec::new(),
            residuals: vec![residual],
            jacobian: vec![(0, 0, slope)],
            origins: Vec::new(),
        },
        Block::Assign {
            symbol: k.id(dx),
            value: z,
        },
    ];
    let states = vec![State {
        symbol: k.id(x),
        derivative: k.id(dx),
    }];
    let known = vec![Known::Itself; k.dae.symbols.len()];
    let reduced = Reduced {
        states,
        blocks,
        known,
        dae: k.dae,
        ..Reduced::default()
    };
    let mut machine = machine(&reduced, &[z], Engine::Interpreter, Form::Explicit);
    for _ in 0..2 {
        machine.initialise(0.0).expect("nothing is demanded");
        assert_close(observe(&mut machine, 0.0, &[0.0])[0], 2.0, 1e-14);
        // From the last solution on, not back to the first one found.
        assert_close(observe(&mut machine, 0.0, &[5.0])[0], 3.0, 1e-14);
    }
}

#[test]
fn a_run_does_not_depend_on_the_runs_before_it() {
    for kind in [Kind::Linear, Kind::Nonlinear] {
        let (reduced, z) = ring(90, kind);
        let fresh = machine(&reduced, &z, Engine::Jit, Form::Explicit);
        let mut used = fresh.clone();
        used.initialise(0.0).expect("the ring can start");
        for x in [-3.0, 0.1, 2.5] {
            observe(&mut used, 0.0, &[x]);
        }
        let columns = |mut machine: Machine| {
            machine.initialise(0.0).expect("the ring can start");
            [0.2, 0.9].map(|x| observe(&mut machine, 0.0, &[x]))
        };
        assert_eq!(columns(fresh), columns(used));
    }
}
