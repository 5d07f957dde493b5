//! Laws that every engine and every lowering must keep, on random expressions.

mod kit;

use kit::{Kit, observe, options};
use paynter_exec::{Engine, Form, Lowering, Machine, lower_with};
use paynter_solve::{Method, NoObserver, System, integrate};
use paynter_symbolic::dae::EnergyRole;
use paynter_symbolic::expr::{Comparison, ExprId, Function1, Function2};
use proptest::prelude::*;

/// One random operation on earlier expressions.
#[derive(Clone, Copy, Debug)]
struct Pick {
    kind: u8,
    a: usize,
    b: usize,
    c: usize,
}

fn picks() -> impl Strategy<Value = Vec<Pick>> {
    let pick =
        (0..40_u8, any::<u16>(), any::<u16>(), any::<u16>()).prop_map(|(kind, a, b, c)| Pick {
            kind,
            a: a.into(),
            b: b.into(),
            c: c.into(),
        });
    prop::collection::vec(pick, 1..60)
}

const FUNCTIONS: [Function1; 18] = [
    Function1::Sin,
    Function1::Cos,
    Function1::Tan,
    Function1::Asin,
    Function1::Acos,
    Function1::Atan,
    Function1::Sinh,
    Function1::Cosh,
    Function1::Tanh,
    Function1::Exp,
    Function1::Log,
    Function1::Log10,
    Function1::Sqrt,
    Function1::Abs,
    Function1::Sign,
    Function1::Floor,
    Function1::Ceil,
    Function1::Round,
];
const FUNCTIONS2: [Function2; 5] = [
    Function2::Atan2,
    Function2::Min,
    Function2::Max,
    Function2::Mod,
    Function2::Hypot,
];
const COMPARISONS: [Comparison; 6] = [
    Comparison::Less,
    Comparison::LessEqual,
    Comparison::Greater,
    Comparison::GreaterEqual,
    Comparison::Equal,
    Comparison::NotEqual,
];

/// A system of three states whose rates and columns are the last expressions made.
fn random_system(picks: &[Pick]) -> (Kit, Vec<ExprId>) {
    let mut k = Kit::new();
    let states: Vec<ExprId> = ["x", "y", "z"].map(|name| k.unknown(name)).to_vec();
    let mut made = states.clone();
    made.push(k.param("p", 0.7));
    made.push(k.time());
    made.push(k.num(-1.5));
    for pick in picks {
        let n = made.len();
        let (a, b, c) = (made[pick.a % n], made[pick.b % n], made[pick.c % n]);
        let pool = &mut k.dae.pool;
        made.push(match pick.kind {
            0..=3 => pool.add(a, b),
            4..=6 => pool.sub(a, b),
            7..=11 => pool.mul(a, b),
            12..=14 => pool.div(a, b),
            15 => pool.neg(a),
            16 => pool.powi(a, (pick.b % 9) as i32 - 4),
            17 => pool.pow(a, b),
            18..=27 => pool.call1(FUNCTIONS[pick.c % FUNCTIONS.len()], a),
            28..=31 => pool.call2(FUNCTIONS2[pick.c % FUNCTIONS2.len()], a, b),
            32..=33 => pool.compare(COMPARISONS[pick.c % COMPARISONS.len()], a, b),
            34 => pool.not(a),
            35 => pool.and(a, b),
            36 => pool.or(a, b),
            _ => pool.if_else(a, b, c),
        });
    }
    for (number, &state) in states.iter().enumerate() {
        let rate = k.der(state);
        let value = made[made.len() - 1 - number.min(picks.len() - 1)];
        k.eq(rate, value);
    }
    let wanted = made[made.len().saturating_sub(10)..].to_vec();
    (k, wanted)
}

fn bits(values: &[f64]) -> Vec<u64> {
    // Neither engine promises which NaN it gives.
    values
        .iter()
        .map(|x| {
            if x.is_nan() {
                f64::NAN.to_bits()
            } else {
                x.to_bits()
            }
        })
        .collect()
}

fn everything(machine: &mut Machine, t: f64, y: &[f64]) -> Vec<u64> {
    let mut all = vec![0.0; 3];
    machine
        .rhs(t, y, &mut all)
        .expect("assignments always have values");
    all.extend(observe(machine, t, y));
    let n_entries = machine.jacobian_pattern().map_or(9, |p| p.n_entries());
    let mut jacobian = vec![0.0; n_entries];
    machine
        .jacobian(t, y, &mut jacobian)
        .expect("assignments always have values");
    all.extend(jacobian);
    let mut rates = vec![0.0; 3];
    machine
        .time_derivative(t, y, &mut rates)
        .expect("assignments always have values");
    all.extend(rates);
    bits(&all)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn machine_code_and_kernels_give_the_bits_of_the_interpreter(
        picks in picks(),
        y in prop::array::uniform3(-3.0..3.0_f64),
        t in 0.0..2.0_f64,
    ) {
        let (k, wanted) = random_system(&picks);
        let [mut interpreter, others @ ..] = k.machines(&wanted);
        let expected = everything(&mut interpreter, t, &y);
        for mut machine in others {
            prop_assert_eq!(everything(&mut machine, t, &y), expected.clone());
        }
    }

    #[test]
    fn a_run_by_whole_steps_has_the_bits_of_one_by_stages(
        picks in picks(),
        y in prop::array::uniform3(-3.0..3.0_f64),
        scale in prop::sample::select(vec![1.0, 1e9]),
    ) {
        // With the larger scale angles leave the range that machine code writes out.
        let (mut k, wanted) = random_system(&picks);
        let scaled: Vec<ExprId> = wanted.iter().map(|&e| k.scale(scale, e)).collect();
        let angle = k.call(Function1::Sin, scaled[0]);
        k.integral(angle);
        k.power(EnergyRole::Source, wanted[0], None);
        let power = k.square(angle);
        k.power(EnergyRole::Dissipator, power, None);
        let [interpreter, machine, ..] = k.machines(&[]);
        let [expected, got] = [interpreter, machine].map(|mut machine| {
            machine.initialise(0.0).expect("nothing is demanded");
            let mut options = options(Method::Dop853, 1e-7, 1.0, &mut machine);
            options.max_steps = 60;
            match integrate(&mut machine, 0.0, &y, 1.0, &options, &mut NoObserver) {
                Ok(end) => format!(
                    "{:?} {:?} {:?} {:?}",
                    bits(&end.y), bits(&end.quadratures), bits(&end.variations), end.statistics
                ),
                Err(error) => format!("{:?} {:?} {:?}", error.failure, bits(&error.y), error.statistics),
            }
        });
        prop_assert_eq!(expected, got);
    }

    #[test]
    fn tangents_match_differences(
        picks in picks(),
        y in prop::array::uniform3(0.2..1.3_f64),
        t in 0.1..1.0_f64,
    ) {
        let (k, _) = random_system(&picks);
        let mut machine = k.machine(&[]);
        let mut jacobian = [0.0; 9];
        let pattern = machine.jacobian_pattern().cloned();
        let n_entries = pattern.as_ref().map_or(9, |p| p.n_entries());
        let is_exact = machine.jacobian(t, &y, &mut jacobian[..n_entries]).expect("values");
        let mut f = [0.0; 3];
        machine.rhs(t, &y, &mut f).expect("values");
        if !is_exact || f.iter().any(|x| !x.is_finite() || x.abs() > 1e6) {
            return Ok(());
        }
        for column in 0..3 {
            let at = |machine: &mut Machine, h: f64| {
                let mut moved = y;
                moved[column] += h;
                let mut f = [0.0; 3];
                machine.rhs(t, &moved, &mut f).expect("values");
                f
            };
            // Two widths: where they disagree the function has a corner or bends too much there.
            let [wide, narrow] = [1e-4, 1e-5].map(|h| {
                let (up, down) = (at(&mut machine, h), at(&mut machine, -h));
                [0, 1, 2].map(|row| (up[row] - down[row]) / (2.0 * h))
            });
            for row in 0..3 {
                let exact = match &pattern {
                    None => jacobian[column * 3 + row],
                    Some(pattern) => match pattern.column(column).binary_search(&row) {
                        Ok(place) => jacobian[pattern.column_starts()[column] + place],
                        Err(_) => 0.0,
                    },
                };
                let size = 1.0 + exact.abs() + f[row].abs();
                let is_smooth = (wide[row] - narrow[row]).abs() < 1e-5 * size;
                if is_smooth {
                    prop_assert!(
                        (exact - narrow[row]).abs() < 1e-3 * size,
                        "d f{}/d y{}: {} instead of {}", row, column, exact, narrow[row]
                    );
                }
            }
        }
    }
}

/// A ladder of n cells: q̇ᵢ = (qᵢ₋₁ − 2 qᵢ + qᵢ₊₁) with resistive flows as unknowns of their own.
fn ladder(n: usize) -> (Kit, Vec<ExprId>) {
    let mut k = Kit::new();
    let c = k.param("C", 0.5);
    let r = k.param("R", 2.0);
    let source = k.param("U", 1.0);
    let states: Vec<ExprId> = (0..n).map(|i| k.unknown(&format!("q{i}"))).collect();
    let flows: Vec<ExprId> = (0..n).map(|i| k.unknown(&format!("f{i}"))).collect();
    for i in 0..n {
        let left = if i == 0 {
            source
        } else {
            k.div(states[i - 1], c)
        };
        let here = k.div(states[i], c);
        let drop = k.sub(left, here);
        let flow = k.div(drop, r);
        k.eq(flows[i], flow);
    }
    for i in 0..n {
        let rate = k.der(states[i]);
        let net = if i + 1 < n {
            k.sub(flows[i], flows[i + 1])
        } else {
            flows[i]
        };
        k.eq(rate, net);
    }
    (k, states)
}

#[test]
fn a_long_ladder_has_a_tridiagonal_jacobian_and_little_code() {
    let n = 2000;
    let (k, _) = ladder(n);
    let lowering = Lowering {
        engine: Engine::Jit,
        straight_limit: 100,
        form: Form::Explicit,
        ..Lowering::default()
    };
    let mut machine = lower_with(&k.reduce(), &[], lowering).expect("the ladder can be lowered");
    let pattern = machine
        .jacobian_pattern()
        .cloned()
        .expect("a ladder is sparse");
    assert_eq!(pattern.n_entries(), 3 * n - 2);
    assert_eq!(machine.jacobian_directions(), 3);
    let mut values = vec![0.0; pattern.n_entries()];
    let y: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    assert!(
        machine
            .jacobian(0.0, &y, &mut values)
            .expect("the ladder is linear")
    );
    for column in 0..n {
        for (place, &row) in pattern.column(column).iter().enumerate() {
            let last = row == n - 1;
            let expected = if row == column {
                if last { -1.0 } else { -2.0 }
            } else {
                1.0
            };
            assert_eq!(values[pattern.column_starts()[column] + place], expected);
        }
    }
    let small = {
        let (k, _) = ladder(200);
        lower_with(&k.reduce(), &[], lowering).expect("the ladder can be lowered")
    };
    let (small, large) = (
        small.machine_code().expect("code"),
        machine.machine_code().expect("code"),
    );
    assert!(
        large < small + small / 4,
        "code grows with the model: {small} to {large} bytes"
    );
}

#[test]
fn kernels_straight_code_and_machine_code_agree_on_a_ladder() {
    let (k, states) = ladder(300);
    let y: Vec<f64> = (0..300).map(|i| (i as f64 * 0.37).cos()).collect();
    let results: Vec<Vec<u64>> = k
        .machines(&states)
        .into_iter()
        .map(|mut machine| {
            let mut f = vec![0.0; 300];
            machine.rhs(0.0, &y, &mut f).expect("the ladder is linear");
            f.extend(observe(&mut machine, 0.0, &y));
            bits(&f)
        })
        .collect();
    for other in &results[1..] {
        assert_eq!(other, &results[0]);
    }
}

#[test]
fn a_machine_can_be_sent_to_another_thread() {
    fn is_send<T: Send + Clone>(_: &T) {}
    let (k, states) = ladder(3);
    let [_, machine, ..] = k.machines(&states);
    is_send(&machine);
    let rates = |mut machine: Machine| {
        machine.initialise(0.0).expect("nothing is demanded");
        let mut f = [0.0; 3];
        machine
            .rhs(0.0, &[1.0, 2.0, 3.0], &mut f)
            .expect("the ladder is linear");
        f
    };
    let copy = machine.clone();
    let here = rates(machine);
    let there = std::thread::spawn(move || rates(copy))
        .join()
        .expect("the thread ends");
    assert_eq!(here, there);
}

#[test]
fn machine_code_made_in_the_middle_of_a_run_changes_no_bit() {
    let (k, _) = ladder(300);
    let reduced = k.reduce();
    let make = |engine| {
        let lowering = Lowering {
            engine,
            straight_limit: 100,
            ..Lowering::default()
        };
        lower_with(&reduced, &[], lowering).expect("the ladder can be lowered")
    };
    let (mut auto, mut interpreted) = (make(Engine::Auto), make(Engine::Interpreter));
    assert_eq!(auto.machine_code(), None);
    let mut y: Vec<f64> = (0..300).map(|i| (i as f64 * 0.37).cos()).collect();
    let (mut f, mut g) = (vec![0.0; 300], vec![0.0; 300]);
    for step in 0..4000 {
        auto.rhs(0.0, &y, &mut f).expect("the ladder is linear");
        interpreted
            .rhs(0.0, &y, &mut g)
            .expect("the ladder is linear");
        assert_eq!(bits(&f), bits(&g), "step {step}");
        y.iter_mut().zip(&f).for_each(|(y, f)| *y += 1e-3 * f);
    }
    assert!(
        auto.machine_code().is_some(),
        "4000 evaluations pay for machine code"
    );
}
