//! Facts about equations that have no unique solution.

use super::super::testing::*;
use super::super::*;

#[test]
fn an_unknown_without_equation_is_named() {
    let error = failure(
        "
        der(x) = y + z
        y = 2*x*x",
    );
    let StructuralError::UnderDetermined { part, .. } = error else {
        panic!("{error:?}")
    };
    let d = dae("
        der(x) = y + z
        y = 2*x*x");
    let names: Vec<String> = part.unknowns.iter().map(|&s| d.name_of(s)).collect();
    assert!(names.contains(&"z".to_owned()));
}

#[test]
fn too_many_equations_are_named() {
    let error = failure(
        "
        a = sin(time)
        a*b = 1
        a + exp(b) = 2
        c = a + b",
    );
    let StructuralError::OverDetermined(part) = error else {
        panic!("{error:?}")
    };
    let lines: Vec<usize> = part.equations.iter().map(|e| e.index).collect();
    assert_eq!(lines, [0, 1, 2]);
    assert_eq!(part.unknowns.len(), 2);
}

#[test]
fn one_wrong_equation_shows_both_parts() {
    let error = failure(
        "
        a = sin(time)
        a = cos(time)
        b*c = 1",
    );
    let StructuralError::Singular { over, under, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(over.equations.len(), 2);
    assert_eq!(under.unknowns.len(), 2);
}

#[test]
fn a_repeated_alias_is_told_beside_what_it_leaves_open() {
    let error = failure(
        "
        a = b
        b = c
        c = a
        d = a*time",
    );
    let StructuralError::UnderDetermined { redundant, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(redundant.len(), 1);
}

#[test]
fn constraints_without_a_force_to_keep_them_end_in_an_error() {
    // Both flows given: no unknown effort can keep the third equation.
    let error = failure(
        "
        der(x) = 1
        der(y) = 2
        x = y*y
        z = x",
    );
    assert!(
        matches!(error, StructuralError::OverDetermined(_)),
        "{error:?}"
    );
}

/// Writes equations without any sense: each a sum of random terms.
fn nonsense(seed: u64) -> String {
    let mut random = crate::testing::RandomExpressions::new(seed);
    let n = 1 + random.below(7);
    let mut text = String::from("param k = 0.5\nparam z = 0\nmode m = 1\n");
    for _ in 0..n {
        let mut terms: Vec<String> = Vec::new();
        for _ in 0..1 + random.below(4) {
            let i = random.below(1 + n / 2);
            terms.push(match random.below(12) {
                0 => format!("{}", random.below(3)),
                1 => "time".to_owned(),
                2 | 3 => format!("y{i}"),
                4 => format!("(k*y{i})"),
                5 => format!("der(x{i})"),
                6 => format!("x{i}"),
                7 => format!("(x{i}*y{i})"),
                8 => format!("(z*y{i})"),
                9 => format!("(m*der(x{i}))"),
                10 => format!("(cos(x{i})*der(x{i}))"),
                _ => format!("(x{i}*x{i})"),
            });
        }
        let sign = [" + ", " - "][random.below(2) as usize];
        text += &format!(
            "{} = {}\n",
            terms.join(sign),
            ["0", "1", "y0", "-y1"][random.below(4) as usize]
        );
    }
    text
}

#[test]
fn nonsense_ends_in_an_error_or_in_values_that_fit() {
    let mut n_solved = 0;
    for seed in 0..5000 {
        let text = nonsense(seed);
        let dynamic = [DynamicSelection::Project, DynamicSelection::Choose][seed as usize % 2];
        let options = Options {
            dynamic,
            ..Options::default()
        };
        let Ok(r) = reduce_with(dae(&text), &options) else {
            continue;
        };
        let has_iteration = r
            .blocks
            .iter()
            .any(|b| matches!(b, Block::Nonlinear { .. }));
        let given = [
            ("x0", 0.3),
            ("x1", -0.4),
            ("x2", 0.5),
            ("x3", 0.9),
            ("time", 0.2),
            ("m", 1.0),
        ];
        let v = run(&r, &given);
        // Off the constraints, singular at this point, or not sure to converge: nothing to compare.
        let is_projected = !r.constraints.is_empty();
        if is_projected || has_iteration || v.values().any(|x| x.is_nan() || x.abs() > 1e6) {
            continue;
        }
        n_solved += 1;
        assert!(largest_residual(&r, &v) < 1e-6, "{seed}: {text} {v:?}");
    }
    assert!(n_solved > 300, "only {n_solved} systems had a solution");
}

#[test]
fn a_zero_coefficient_and_a_loop_of_equal_equations_are_named() {
    let error = failure("param L = 0\n u = sin(time)\n L*i = u");
    let StructuralError::SingularBlock(part) = error else {
        panic!("{error:?}")
    };
    assert_eq!((part.equations.len(), part.unknowns.len()), (1, 1));
    // A loop of transformers with ratios 2 and 1/2: any flow may circulate.
    let error = failure("a = 2*b\n a = 4*c/2\n c = b*(1 + time - time)\n d = a");
    let says_the_same_twice = matches!(
        error,
        StructuralError::Dependent {
            is_contradiction: false,
            ..
        }
    );
    assert!(says_the_same_twice, "{error:?}");
    // Regular in one position of the switch, so not refused.
    reduced("mode m = 1\n u = sin(time)\n m*i = u");
}
