//! Facts about constraints: index, states, projection, dependent storages.

use super::super::testing::*;
use super::super::*;
use crate::dae::Role;

#[test]
fn two_capacitors_in_parallel_have_one_state() {
    let text = "
        param R = 2
        param C1 = 0.25
        param C2 = 0.5
        prefer q1
        u1 = q1/C1 -> u1
        u2 = u1 -> u2
        q2 = C2*u2 -> q2
        i2 = der(q2) -> i2
        ur = u1 -> ur
        ir = ur/R -> ir
        i1 = -ir - i2 -> i1
        der(q1) = i1 -> der(q1)";
    let r = reduced(text);
    assert_eq!(state_names(&r), ["q1"]);
    assert_eq!(r.structural_index, 2);
    assert!(!r.is_selection_dynamic);
    let v = run(&r, &[("q1", 1.0)]);
    assert!(largest_residual(&r, &v) < 1e-12);
    // (C1 + C2) u̇ = −u/R
    let expected = -4.0 / 2.0 / 0.75 * 0.25;
    assert!((v["der(q1)"] - expected).abs() < 1e-12);
}

#[test]
fn a_capacitor_across_a_source_has_no_state() {
    let r = reduced(
        "
        param C = 0.5
        u = 3*sin(2*time) -> u
        q = C*u -> q
        i = der(q) -> i",
    );
    assert!(r.states.is_empty());
    assert_eq!(r.structural_index, 2);
    let v = run(&r, &[("time", 0.3)]);
    assert!((v["i"] - 0.5 * 6.0 * 0.6_f64.cos()).abs() < 1e-12);
}

#[test]
fn a_switched_source_across_a_capacitor_is_named() {
    let r = reduced(
        "
        mode m = 1
        u = 3*m
        q = 2*u
        i = der(q)",
    );
    let m = r
        .dae
        .symbols
        .iter()
        .position(|s| matches!(s.role, Role::Mode { .. }))
        .expect("m");
    assert!(
        r.differentiated_switches
            .iter()
            .all(|(_, s, _)| s.0 as usize == m)
    );
    assert!(!r.differentiated_switches.is_empty());
}

#[test]
fn two_inertias_on_one_shaft_add_up() {
    let r = reduced(
        "
        param I1 = 2
        param I2 = 3
        param b = 0.5
        prefer p1
        f1 = p1/I1 -> f1
        f2 = f1 -> f2
        p2 = I2*f2 -> p2
        e2 = der(p2) -> e2
        er = b*f1 -> er
        e1 = 7 - er - e2 -> e1
        der(p1) = e1 -> der(p1)",
    );
    assert_eq!(state_names(&r), ["p1"]);
    let v = run(&r, &[("p1", 4.0)]);
    assert!(largest_residual(&r, &v) < 1e-12);
    // (I1 + I2) ḟ = 7 − b f
    assert!((v["der(p1)"] - 2.0 * (7.0 - 0.5 * 2.0) / 5.0).abs() < 1e-12);
    assert!(r.blocks.iter().any(|b| matches!(
        b,
        Block::Linear {
            positive_definite: true,
            ..
        }
    )));
}

/// Two inertias seen from a third through cos θ and sin θ: the gimbal of a gyroscope.
pub(super) const GIMBAL: &str = "
    param I1 = 2
    param I2 = 3
    param I3 = 5
    prefer p1 theta
    f1 = p1/I1 -> f1
    f2 = cos(theta)*f1 -> f2
    f3 = sin(theta)*f1 -> f3
    p2 = I2*f2 -> p2
    p3 = I3*f3 -> p3
    e2 = der(p2) -> e2
    e3 = der(p3) -> e3
    e21 = cos(theta)*e2 -> e21
    e31 = sin(theta)*e3 -> e31
    der(theta) = w -> der(theta)
    w = 0.5 + 0.1*theta -> w
    der(p1) = 1 - e21 - e31 -> der(p1)";

#[test]
fn inertias_behind_modulated_transformers_give_the_textbook_matrix() {
    let r = reduced(GIMBAL);
    assert_eq!(state_names(&r), ["p1", "theta"]);
    assert!(!r.is_selection_dynamic);
    let Some(Block::Linear {
        unknowns,
        matrix,
        positive_definite,
        ..
    }) = r.blocks.iter().find(|b| matches!(b, Block::Linear { .. }))
    else {
        panic!("the coupled inertias are a linear block");
    };
    assert!(positive_definite);
    assert_eq!(r.dae.name_of(unknowns[0]), "der(f1)");
    assert_eq!((unknowns.len(), matrix.len()), (1, 1));
    use std::f64::consts::{FRAC_PI_2, PI};
    for theta in [0.0, 0.3, FRAC_PI_2, PI, -1.1] {
        let at = |s: SymbolId| match r.dae.symbol(s).role {
            Role::Parameter { value, .. } => value,
            _ if r.dae.name_of(s) == "theta" => theta,
            _ => f64::NAN,
        };
        let entry = crate::evaluate::evaluate(&r.dae.pool, matrix[0].2, &at).expect("finite");
        let expected = 2.0 + 3.0 * theta.cos().powi(2) + 5.0 * theta.sin().powi(2);
        assert!(
            (entry - expected).abs() < 1e-12,
            "at {theta}: {entry}, not {expected}"
        );
        let v = run(&r, &[("p1", 1.3), ("theta", theta)]);
        assert!(largest_residual(&r, &v) < 1e-11, "at {theta}");
    }
}

/// A point mass on a rod in x and y, after Pantelides' paper.
pub(super) const PENDULUM: &str = "
    param L = 1
    param g = 9.81
    der(x) = u
    der(y) = v
    der(u) = -lambda*x
    der(v) = -lambda*y - g
    x^2 + y^2 = L^2";

fn choosing(text: &str) -> Reduced {
    let options = Options {
        dynamic: DynamicSelection::Choose,
        ..Options::default()
    };
    reduce_with(dae(text), &options).expect("regular")
}

#[test]
fn a_pendulum_in_x_and_y_has_index_3_and_two_states() {
    let r = choosing(PENDULUM);
    assert_eq!(r.structural_index, 3);
    assert_eq!(r.states.len(), 2);
    assert!(r.is_selection_dynamic);
    // The rod, its rate, and what the rates in it are: ẋ = u, ẏ = v.
    assert_eq!(r.hidden.len(), 4);
    assert!(r.constraints.is_empty());
}

/// A state of the pendulum at an angle from the downward vertical.
fn pendulum_at(angle: f64, rate: f64) -> Vec<(&'static str, f64)> {
    let (x, y) = (angle.sin(), -angle.cos());
    vec![("x", x), ("y", y), ("u", -y * rate), ("v", x * rate)]
}

#[test]
fn every_selection_of_the_pendulum_gives_the_same_motion() {
    for angle in [0.2, 1.3, 2.0, -1.5, 3.0] {
        let given = pendulum_at(angle, 0.7);
        let first = choosing(PENDULUM);
        let at = |s: SymbolId| {
            let name = first.dae.name_of(s);
            given
                .iter()
                .find(|(n, _)| *n == name)
                .map_or(1.0, |(_, v)| *v)
        };
        let selection = reselect(&first, &at).expect("a choice");
        assert_eq!(selection.states.len(), 2);
        let options = Options {
            selection: Some(selection.clone()),
            dynamic: DynamicSelection::Choose,
            ..Options::default()
        };
        let r = reduce_with(dae(PENDULUM), &options).expect("regular");
        let mut chosen: Vec<SymbolId> = r.states.iter().map(|s| s.symbol).collect();
        chosen.sort_unstable();
        assert_eq!(chosen, selection.states);
        // Near the vertical x is the better coordinate, near the horizontal y.
        let wanted = if angle.cos().abs() > angle.sin().abs() {
            "x"
        } else {
            "y"
        };
        assert!(state_names(&r).contains(&wanted.to_owned()), "at {angle}");
        assert!(selection_condition(&r, &at) <= selection_condition(&first, &at));
        let v = run(&r, &given);
        assert!(largest_residual(&r, &v) < 1e-9, "at {angle}");
        // λ L = g cos φ … in these signs: φ̈ = −g sin φ; acceleration along the rod is −φ̇².
        let lambda = 9.81 * angle.cos() + 0.49;
        assert!((v["lambda"] - lambda).abs() < 1e-9);
    }
}

#[test]
fn projection_keeps_all_coordinates_of_the_pendulum() {
    let options = Options {
        dynamic: DynamicSelection::Project,
        ..Options::default()
    };
    let r = reduce_with(dae(PENDULUM), &options).expect("regular");
    let mut names = state_names(&r);
    names.sort();
    assert_eq!(names, ["u", "v", "x", "y"]);
    assert_eq!(r.constraints.len(), 2);
    assert!(!r.is_selection_dynamic);
    for angle in [0.0, 0.4, std::f64::consts::FRAC_PI_2, 3.0] {
        let v = run(&r, &pendulum_at(angle, 0.7));
        assert!(largest_residual(&r, &v) < 1e-11, "at {angle}");
        assert!((v["lambda"] - (9.81 * angle.cos() + 0.49)).abs() < 1e-11);
    }
}

#[test]
fn a_dependent_inertia_with_a_monotonic_law_is_computed_not_projected() {
    let r = reduced(
        "
        prefer p1
        f1 = p1/2 -> f1
        f2 = f1 -> f2
        f2 = p2 + p2^3
        e2 = der(p2) -> e2
        der(p1) = 1 - e2 -> der(p1)",
    );
    assert_eq!(state_names(&r), ["p1"]);
    assert!(r.constraints.is_empty() && !r.is_selection_dynamic);
    let v = run(&r, &[("p1", 4.0)]);
    assert!(largest_residual(&r, &v) < 1e-12);
    assert!((v["p2"] - 1.0).abs() < 1e-12);
}

/// Three rings in each other: one dependent inertia sees two independent ones.
const TWO_INDEPENDENT: &str = "
    param I1 = 2
    param I2 = 3
    param Id = 5
    param Ie = 1.5
    prefer p1 p2 theta
    f1 = p1/I1 -> f1
    f2 = p2/I2 -> f2
    fd = cos(theta)*f1 + f2 -> fd
    fe = sin(theta)*f1 - 2*f2 -> fe
    pd = Id*fd -> pd
    pe = Ie*fe -> pe
    ed = der(pd) -> ed
    ee = der(pe) -> ee
    der(theta) = f2 -> der(theta)
    e1 = -cos(theta)*ed - sin(theta)*ee -> e1
    e2 = 3 - ed + 2*ee -> e2
    der(p1) = e1 -> der(p1)
    der(p2) = e2 -> der(p2)";

#[test]
fn several_independent_inertias_give_a_symmetric_positive_definite_matrix() {
    let r = reduced(TWO_INDEPENDENT);
    assert_eq!(state_names(&r), ["p1", "p2", "theta"]);
    let block = r.blocks.iter().find(|b| matches!(b, Block::Linear { .. }));
    let Some(Block::Linear {
        unknowns,
        matrix,
        positive_definite,
        ..
    }) = block
    else {
        panic!("the coupled inertias are a linear block");
    };
    let names: Vec<String> = unknowns.iter().map(|&s| r.dae.name_of(s)).collect();
    assert!(positive_definite);
    for theta in [0.0, 0.7, std::f64::consts::FRAC_PI_2, std::f64::consts::PI] {
        let at = |s: SymbolId| match r.dae.symbol(s).role {
            Role::Parameter { value, .. } => value,
            _ if r.dae.name_of(s) == "theta" => theta,
            _ => f64::NAN,
        };
        let a = dense(
            2,
            matrix.iter().map(|&(i, j, e)| {
                (
                    i,
                    j,
                    crate::evaluate::evaluate(&r.dae.pool, e, &at).expect("finite"),
                )
            }),
        );
        let (c, s) = (theta.cos(), theta.sin());
        // I + Tᵀ I_d T with T = [[c, 1], [s, −2]]
        let expected = [
            [2.0 + 5.0 * c * c + 1.5 * s * s, 5.0 * c - 3.0 * s],
            [5.0 * c - 3.0 * s, 3.0 + 5.0 + 6.0],
        ];
        let place = |n: &str| {
            names
                .iter()
                .position(|x| x == n)
                .expect("torn at flow rates")
        };
        let order = [place("der(f1)"), place("der(f2)")];
        for i in 0..2 {
            for j in 0..2 {
                assert!((a[order[i]][order[j]] - expected[i][j]).abs() < 1e-12);
            }
        }
        let v = run(&r, &[("p1", 1.0), ("p2", -2.0), ("theta", theta)]);
        assert!(largest_residual(&r, &v) < 1e-11);
    }
}

/// Masses on a line and on turning arms, tied together by random rates: index 2.
fn random_mechanism(seed: u64) -> String {
    let mut random = crate::testing::RandomExpressions::new(seed);
    let n = 3 + random.below(4);
    let n_ties = 1 + random.below(n - 1);
    let mut text = String::new();
    let mut efforts: Vec<String> = vec![String::new(); n as usize];
    for k in 0..n_ties {
        let mut rate = String::new();
        for i in [k, k + 1 + random.below(n - k - 1)] {
            let ratio = ["1", "2", "cos(a)", "sin(a)", "0.5"][random.below(5) as usize];
            rate += &format!("+ {ratio}*f{i}");
            efforts[i as usize] += &format!("- {ratio}*lambda{k}");
        }
        text += &format!("0 = f{k} {rate}\n");
        efforts[k as usize] += &format!("- lambda{k}");
    }
    for i in 0..n {
        text += &format!("f{i} = p{i}/{}\n", 1 + random.below(4));
        text += &format!("der(p{i}) = 1 - 0.1*f{i} {}\n", efforts[i as usize]);
    }
    text + "der(a) = 0.3\n"
}

#[test]
fn tied_masses_keep_their_ties_in_both_kinds_of_selection() {
    for seed in 0..100 {
        let text = random_mechanism(seed);
        let original = dae(&text);
        for dynamic in [DynamicSelection::Choose, DynamicSelection::Project] {
            let options = Options {
                dynamic,
                ..Options::default()
            };
            let r = reduce_with(original.clone(), &options).expect("regular");
            assert_eq!(r.structural_index, 2, "{text}");
            let mut given: Vec<(String, f64)> = (0..9)
                .map(|i| (format!("p{i}"), 0.2 * f64::from(i) - 0.7))
                .collect();
            given.push(("a".to_owned(), 0.6));
            let given: Vec<(&str, f64)> = given.iter().map(|(n, x)| (&n[..], *x)).collect();
            let v = run(&r, &given);
            // Projected constraints hold only where the states keep them; all others always.
            let n_loose = r.constraints.len();
            let mut residuals: Vec<f64> = r
                .dae
                .equations
                .iter()
                .map(|e| {
                    let at = |s: SymbolId| v[&r.dae.name_of(s)];
                    let left = crate::evaluate::evaluate(&r.dae.pool, e.left, &at);
                    let right = crate::evaluate::evaluate(&r.dae.pool, e.right, &at);
                    (left.expect("finite") - right.expect("finite")).abs()
                })
                .collect();
            residuals.sort_by(f64::total_cmp);
            let checked = residuals.len() - n_loose;
            assert!(residuals[checked - 1] < 1e-9, "{text}{residuals:?}");
        }
    }
}

#[test]
fn a_field_of_inertias_with_a_dependent_one_is_torn_at_its_flow_rates() {
    let r = reduced(
        "
        param a = 3
        param b = 1
        param c = 2
        param Id = 5
        prefer p1 p2 theta
        p1 = a*f1 + b*f2
        p2 = b*f1 + c*f2
        fd = cos(theta)*f1 + sin(theta)*f2 -> fd
        pd = Id*fd -> pd
        ed = der(pd) -> ed
        der(theta) = 1 -> der(theta)
        e1 = -cos(theta)*ed -> e1
        e2 = 3 - sin(theta)*ed -> e2
        der(p1) = e1 -> der(p1)
        der(p2) = e2 -> der(p2)",
    );
    assert_eq!(state_names(&r), ["p1", "p2", "theta"]);
    let is_definite = |b: &Block| match b {
        Block::Linear {
            unknowns,
            positive_definite,
            ..
        } => *positive_definite && r.dae.name_of(unknowns[0]) == "der(f1)",
        _ => false,
    };
    assert!(r.blocks.iter().any(is_definite));
    let v = run(&r, &[("p1", 1.0), ("p2", -2.0), ("theta", 0.4)]);
    assert!(largest_residual(&r, &v) < 1e-11);
}

#[test]
fn a_second_derivative_written_as_such_gives_two_states() {
    let r = reduced("der(der(x)) = -4*x - der(x)");
    assert_eq!(state_names(&r), ["x", "der(x)"]);
    assert_eq!(r.structural_index, 0);
    let v = run(&r, &[("x", 1.0), ("der(x)", 2.0)]);
    assert_eq!(v["der(der(x))"], -6.0);
}

/// The pendulum as a bond graph has it: momenta, flows, and a lock along the rod with a
/// declared position.
fn locked_pendulum(n_locks: usize) -> Dae {
    let mut text = String::from(
        "
        param m = 2
        prefer px py x y
        px = m*fx -> fx
        py = m*fy -> fy
        der(x) = fx -> der(x)
        der(y) = fy -> der(y)
        der(px) = ex -> der(px)
        der(py) = ey -> der(py)
        ",
    );
    let mut sums = (String::new(), String::new());
    for i in 0..n_locks {
        text += &format!("fl{i} = 0 -> fl{i}\n fl{i} = x*fx + y*fy\n");
        sums.0 += &format!("- x*el{i}");
        sums.1 += &format!("- y*el{i}");
    }
    text += &format!("ex = 0 {}\n ey = -m*9.81 {}\n", sums.0, sums.1);
    let mut dae = dae(&text);
    let find = |dae: &Dae, name: &str| {
        let i = (0..dae.symbols.len()).find(|&s| dae.name_of(SymbolId(s as u32)) == name);
        SymbolId(i.expect("a symbol") as u32)
    };
    let [x, y] = ["x", "y"].map(|n| {
        let s = find(&dae, n);
        let e = dae.pool.symbol(s);
        dae.pool.powi(e, 2)
    });
    let square = dae.pool.add(x, y);
    let one = dae.pool.number(1.0);
    let position = dae.pool.sub(square, one);
    for i in 0..n_locks {
        let flow = find(&dae, &format!("fl{i}"));
        let flow = dae.pool.symbol(flow);
        let reaction = find(&dae, &format!("el{i}"));
        let origin = dae
            .equations
            .iter()
            .find(|e| e.left == flow)
            .expect("the demand of the lock")
            .origin;
        let name = crate::names::Names::ROOT;
        dae.constraints.push(crate::dae::PositionConstraint {
            position,
            flow,
            reaction,
            name,
            origin,
        });
    }
    dae
}

#[test]
fn a_lock_with_a_position_is_kept_by_projection() {
    let r = reduce(locked_pendulum(1)).expect("regular");
    let mut names = state_names(&r);
    names.sort();
    assert_eq!(names, ["px", "py", "x", "y"]);
    assert!(!r.is_selection_dynamic);
    // The rate of the lock, and its position.
    assert_eq!(r.constraints.len(), 2);
    for angle in [0.0_f64, 0.5, std::f64::consts::FRAC_PI_2] {
        let (x, y, rate) = (angle.sin(), -angle.cos(), 0.7);
        let given = [
            ("x", x),
            ("y", y),
            ("px", -2.0 * y * rate),
            ("py", 2.0 * x * rate),
        ];
        let v = run(&r, &given);
        assert!(largest_residual(&r, &v) < 1e-11);
        assert!((v["el0"] - 2.0 * (9.81 * angle.cos() + rate * rate)).abs() < 1e-11);
    }
}

#[test]
fn of_two_locks_that_demand_the_same_one_is_released() {
    let options = Options {
        released: vec![1],
        ..Options::default()
    };
    let r = reduce_with(locked_pendulum(2), &options).expect("regular");
    let v = run(&r, &[("x", 0.6), ("y", -0.8), ("px", 0.8), ("py", 0.6)]);
    assert_eq!(v["el1"], 0.0);
    assert!((v["el0"] - (2.0 * 9.81 * 0.8 + 0.5)).abs() < 1e-11);
    assert_eq!(r.constraints.len(), 3);
}

#[test]
fn multipliers_keep_every_storage_a_state_and_agree_with_elimination() {
    // One mass on a circle that is written as the turn of a rod: elimination keeps the rod's rate,
    // multipliers the momenta of the mass, and the reaction is the same.
    let with = |enforcement| {
        let options = Options {
            enforcement,
            ..Options::default()
        };
        reduce_with(locked_pendulum(1), &options).expect("regular")
    };
    let r = with(Enforcement::Multipliers);
    let mut names = state_names(&r);
    names.sort();
    assert_eq!(names, ["px", "py", "x", "y"]);
    assert_eq!(r.constraints.len(), 2);
    let given = [("x", 0.6), ("y", -0.8), ("px", 0.8), ("py", 0.6)];
    let reaction = run(&r, &given)["el0"];
    for other in [Enforcement::Implicit, Enforcement::Automatic] {
        let v = run(&with(other), &given);
        assert!((v["el0"] - reaction).abs() < 1e-11);
    }
    assert!((reaction - (2.0 * 9.81 * 0.8 + 0.5)).abs() < 1e-11);
}

#[test]
fn a_long_train_of_gears_is_one_division() {
    // 300 wheels, each turning 1.1 times as fast as the one before: one moment of inertia.
    let n = 300;
    let mut text = String::from("param I = 2\nprefer p0\np0 = I*f0 -> f0\n");
    for i in 1..n {
        let before = i - 1;
        text += &format!(
            "f{i} = 1.01*f{before} -> f{i}
            p{i} = I*f{i} -> p{i}
            der(p{i}) = e{i} -> e{i}
            t{i} = e{i} + 1.01*t{} -> t{i}
            ",
            i + 1
        );
    }
    text += &format!("t{n} = 0 -> t{n}\nder(p0) = 3 - 1.01*t1 -> der(p0)\n");
    let r = reduced(&text);
    let sizes: Vec<usize> = r
        .blocks
        .iter()
        .filter_map(|b| match b {
            Block::Linear { unknowns, .. } => Some(unknowns.len()),
            _ => None,
        })
        .collect();
    assert_eq!(sizes, [1]);
    let total: f64 = (0..n).map(|i| 2.0 * 1.01_f64.powi(2 * i)).sum();
    let v = run(&r, &[("p0", 1.0)]);
    // The sum of 300 terms is accurate to a few hundred roundings.
    assert!((v["der(f0)"] * total / 3.0 - 1.0).abs() < 1e-12);
}

/// A mass in the hole of a turning disc, as a bond graph has it: the mass moves in x and y.
const SLIDER: &str = "
    param J = 0.05
    param m = 0.5
    prefer pd py
    pd = J*w -> w
    px = m*fx -> px
    py = m*fy -> fy
    fx = cos(g)*fs - x*sin(g)*w
    fy = sin(g)*fs + x*cos(g)*w
    der(px) = ex -> ex
    der(py) = ey -> der(py)
    0 = cos(g)*ex + sin(g)*ey
    ed = x*sin(g)*ex - x*cos(g)*ey -> ed
    der(pd) = ed -> der(pd)
    der(x) = fs -> der(x)
    der(g) = w -> der(g)";

#[test]
fn a_slider_in_a_turning_disc_takes_its_own_rate_as_state() {
    let r = reduced(SLIDER);
    let mut names = state_names(&r);
    names.sort();
    assert_eq!(names, ["fs", "g", "pd", "x"]);
    assert!(r.constraints.is_empty() && !r.is_selection_dynamic);
    use std::f64::consts::FRAC_PI_2;
    for angle in [0.0, 0.4, FRAC_PI_2, 3.0] {
        let v = run(&r, &[("fs", 0.3), ("g", angle), ("pd", 0.1), ("x", 0.2)]);
        assert!(largest_residual(&r, &v) < 1e-11, "at {angle}");
        // r̈ = r ω² in a smooth hole
        assert!((v["der(fs)"] - 0.2 * 4.0).abs() < 1e-11);
    }
}
