//! Facts about equations whose terms cancel in combination.

use super::super::testing::*;
use super::super::*;

/// Two gyrators between junctions that are joined: f₁ and f₂ are both e/r and leave nothing.
const RING: &str = "
    e = r*f2
    e = r*f1
    3*sin(time) = p/4 + f1 - f2
    der(p) = e";

#[test]
fn terms_that_cancel_leave_a_constraint() {
    let r = reduced(&format!("param r = 0.5 {RING}"));
    assert!(r.states.is_empty());
    let v = run(&r, &[("time", 0.8)]);
    // p = 12 sin t, e = ṗ.
    assert!((v["p"] - 12.0 * 0.8_f64.sin()).abs() < 1e-14);
    assert!((v["e"] - 12.0 * 0.8_f64.cos()).abs() < 1e-14);
    assert!((v["f1"] - v["e"] / 0.5).abs() < 1e-12);
    assert!(r.decided_by.is_empty(), "whatever r is");
}

#[test]
fn a_modulus_that_varies_cancels_as_well() {
    let text = format!("r = 2 + sin(time) {RING}");
    let r = reduced(&text);
    let v = run(&r, &[("time", 0.8)]);
    assert!((v["e"] - 12.0 * 0.8_f64.cos()).abs() < 1e-12);
}

#[test]
fn parameters_that_are_equal_by_chance_are_named() {
    let ring = RING.replace("e = r*f1", "e = s*f1");
    let r = reduced(&format!("param r = 0.5\n param s = 0.5 {ring}"));
    assert!(r.states.is_empty());
    let names: Vec<String> = r.decided_by.iter().map(|&s| r.dae.name_of(s)).collect();
    assert_eq!(names, ["r", "s"]);
    let other = reduced(&format!("param r = 0.5\n param s = 0.4 {ring}"));
    assert_eq!(other.states.len(), 1);
}

#[test]
fn what_cancels_completely_says_the_same_twice_or_contradicts_itself() {
    let error = failure("x + y = 1\n 2*x + 2*y = 2\n z = x");
    let StructuralError::Dependent {
        part,
        is_contradiction,
    } = error
    else {
        panic!("{error:?}")
    };
    assert!(!is_contradiction);
    assert_eq!(part.equations.len(), 2);
    assert!(!part.unknowns.is_empty());
    let error = failure("x + y = 1\n 2*x + 2*y = 3\n z = x");
    assert!(
        matches!(
            error,
            StructuralError::Dependent {
                is_contradiction: true,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_constraint_cancels_with_the_derivative_of_another() {
    // The sum of the rates is the rate of the sum, so a = ḃ; then c = a + x = ż = x − z, and z = −a.
    let r = reduced(
        "
        der(x) + der(y) = a
        x + y = b
        b = sin(time)
        der(x) + der(y) + c = 2*a + x
        c = der(z)
        der(z) = -z + x",
    );
    assert!(r.states.is_empty());
    let v = run(&r, &[("time", 0.3)]);
    let (sin, cos) = 0.3_f64.sin_cos();
    let expected = [
        ("a", cos),
        ("z", -cos),
        ("c", sin),
        ("x", sin - cos),
        ("y", cos),
    ];
    for (name, value) in expected {
        assert!((v[name] - value).abs() < 1e-12, "{name}: {v:?}");
    }
}
