//! Gains of loops through dependent storages: those of the documents, and what they must be.

mod kit;

use kit::design;
use paynter_structure::{Loops, loops};

fn found(text: &str) -> Loops {
    loops(&design(text, "", "")).unwrap_or_else(|_| panic!("{text} has loops"))
}

fn is_near((low, high): (f64, f64), expected: (f64, f64)) -> bool {
    (low - expected.0).abs() < 1e-9 && (high - expected.1).abs() < 1e-9
}

/// The flight table of Tiernego and van Dixhoorn (1979), figure 10, without its Eulerian rings.
const TABLE: &str = "model Table {
    param Iy1 = 8e-3, Iz1 = 6e-3, Ix2 = 12e-3, Iy2 = 16e-3, Iz2 = 14e-3, Iz3 = 20e-3, Ix1 = 2e-3
    input M = 0
    outer: 1 -> iz3: I(Iz3)
    y2: 1 -> iy2: I(Iy2)
    outer -> TF(-sin(beta)) -> x2: 1 -> ix2: I(Ix2)
    outer -> TF(cos(beta)) -> z2: 1 -> iz2: I(Iz2)
    a: 1 -> x21: 0
    x2 -> x21 -> x1: 1 -> ix1: I(Ix1)
    y2 -> TF(cos(alpha)) -> y21: 0 -> y1: 1 -> iy1: I(Iy1)
    z2 -> TF(sin(alpha)) -> y21
    y2 -> TF(-sin(alpha)) -> z21: 0 -> z1: 1 -> iz1: I(Iz1)
    z2 -> TF(cos(alpha)) -> z21
    Se(M) -> outer
    der(alpha) = a.f
    der(beta) = y2.f
}
experiment e of Table { stop = 1 [s]; record alpha; start alpha = 0.5, beta = 0.3, outer.f = 1, y2.f = 0.4 }
";

#[test]
fn the_flight_table_has_the_gains_of_1979() {
    let loops = found(TABLE);
    let total = |name: &str| {
        let found = loops.totals.iter().find(|t| t.0 == name);
        found.unwrap_or_else(|| panic!("{loops:?}")).1.clone()
    };
    // (Iy1 cos²α + Iz1 sin²α)/Iy2.
    let middle = total("iy2").angles.expect("it reads one angle");
    assert!(is_near(middle, (0.375, 0.5)), "{middle:?}");
    // (Ix2 sin²β + (Iz2 + Iy1 sin²α + Iz1 cos²α) cos²β)/Iz3.
    let outer = total("iz3").angles.expect("it reads two angles");
    assert!(is_near(outer, (0.6, 1.1)), "{outer:?}");
    assert_eq!(loops.paths.len(), 6, "{:#?}", loops.paths);
    assert!(loops.unknown.is_empty(), "{:?}", loops.unknown);
    let path = loops.paths.iter();
    let path = path.filter(|p| p.dependent == "iy1" && p.independent == "iy2");
    let path: Vec<_> = path.collect();
    assert_eq!(path.len(), 1);
    assert_eq!(path[0].gain.formula, "Iy1*cos(alpha)^2/Iy2");
    let visited = path[0].gain.visited.expect("it was run");
    assert!(visited.0 < visited.1 && visited.1 <= 0.5, "{visited:?}");
    let (low, high) = loops.together.expect("it was run");
    assert!(0.6 < low && low <= high && high < 1.2, "{low} {high}");
}

#[test]
fn parallel_ways_to_one_storage_add_before_they_are_squared() {
    // n = 2 + 3 on two levers: 25 J/I, not 4 + 9.
    let text = "model M {
    Se(1) -> a: 1 -> i: I(10)
    a -> TF(2) -> sum: 0 -> b: 1 -> j: I(1)
    a -> TF(3) -> sum
}
experiment e of M { stop = 1 [s]; record a.f }";
    let loops = found(text);
    assert_eq!(loops.paths.len(), 2);
    let (low, high) = loops.totals[0].1.visited.expect("it was run");
    // Which of the two is a state is for causality to choose.
    let expected = match loops.totals[0].0.as_str() {
        "i" => 2.5,
        _ => 10.0 / 25.0,
    };
    assert!(is_near((low, high), (expected, expected)), "{low} {high}");
}

#[test]
fn a_spring_behind_a_gyrator_is_an_inertia() {
    let text = "model M {
    Se(1) -> a: 1 -> i: I(4)
    a -> GY(3) -> b: 0 -> c: C(0.5)
}
experiment e of M { stop = 1 [s]; record a.f }";
    let loops = found(text);
    let (low, high) = loops.totals[0].1.visited.expect("it was run");
    // r² C/I one way, its inverse the other.
    let expected = match loops.totals[0].0.as_str() {
        "i" => 9.0 * 0.5 / 4.0,
        _ => 4.0 / (9.0 * 0.5),
    };
    assert!(is_near((low, high), (expected, expected)), "{low} {high}");
}

#[test]
fn a_field_is_said_to_have_no_formula() {
    let text = "model M {
    a: 1 -> i: I(4)
    b: 1 -> k: I(1)
    (a, b) => f: I[2]([2, 0.5; 0.5, 1])
    Se(1) -> a
}
experiment e of M { stop = 1 [s]; record a.f }";
    let loops = found(text);
    assert!(!loops.unknown.is_empty(), "{loops:?}");
}

#[test]
fn independent_storages_have_no_loop() {
    let loops = found(
        "model M { Se(1) -> a: 1 -> i: I(4), C(1), R(1) }\nexperiment e of M { stop = 1 [s]; record a.f }",
    );
    assert!(loops.paths.is_empty() && loops.totals.is_empty());
}
