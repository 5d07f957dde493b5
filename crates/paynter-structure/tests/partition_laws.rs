//! Parts that drive others: which bonds act one way, and what cutting them costs.

mod kit;

use kit::design;
use paynter_structure::{Partition, activities, partition};

/// A heavy swing that shakes a light one on it.
fn swings(m2: f64, k2: f64) -> String {
    format!(
        "model Swings {{
    hand: Se(sin(3*time)) -> big: 1 -> m1: I(10), k1: C(1/40), b1: R(2)
    big -> gap: 0 -> small: 1 -> m2: I({m2})
    gap -> hook: 1 -> k2: C(1/{k2}), b2: R(0.001)
}}
experiment run of Swings {{ stop = 20 [s]; record big.f as v1, small.f as v2 }}
"
    )
}

fn parts(text: &str, limit: f64) -> Option<Partition> {
    let design = design(text, "", "");
    let moved = activities(&design).expect("it runs");
    partition(&design, &moved, limit).expect("both run")
}

#[test]
fn a_heavy_part_drives_a_light_one() {
    let found = parts(&swings(0.01, 1.0), 0.05).expect("it falls apart");
    assert_eq!(found.parts.len(), 2);
    assert!(found.parts[0].contains(&"m1".to_owned()), "{found:?}");
    assert!(found.parts[1].contains(&"m2".to_owned()), "{found:?}");
    let [cut] = &found.cuts[..] else {
        panic!("{found:?}")
    };
    assert_eq!((cut.junction.as_str(), cut.gives), ("big", "flow"));
    assert_eq!(cut.from_to, (0, 1));
    assert!(found.errors.iter().all(|e| e.worst < 0.05), "{found:?}");
}

#[test]
fn the_lighter_the_driven_part_the_smaller_the_error() {
    let error = |scale: f64| {
        let found = parts(&swings(0.01 * scale, scale), 0.05).expect("it falls apart");
        let worst = found.errors.iter().map(|e| e.worst);
        worst.fold(0.0, f64::max)
    };
    // What the heavy part does not feel is proportional to the mass that shakes it.
    let ratio = error(1.0) / error(0.1);
    assert!((5.0..20.0).contains(&ratio), "{ratio}");
}

#[test]
fn a_single_element_is_no_part() {
    // The wheel's mass moves little, but nothing else is connected to it.
    let text = "model Car {
    road: Sf(0.1*sin(10*time)) -> tyre: 0 -> kt: C(1/193.9e3)
    tyre -> wheel: 1 -> mw: I(36.6)
    wheel -> gap: 0 -> body: 1 -> mb: I(267)
    gap -> susp: 1 -> k: C(1/18.7e3), b: R(700)
}
experiment drive of Car { stop = 5 [s]; record body.f as v }
";
    assert_eq!(parts(text, 0.3), None);
}

#[test]
fn equal_parts_hold_together() {
    assert_eq!(parts(&swings(10.0, 40.0), 0.05), None);
}
