//! The four classes of zero-order causal paths, each by a minimal graph.

use super::builder::Builder;
use crate::causality::{Causality, assign_causality};
use crate::graph::ElementKind::{Gy, I, One, R, Se, Tf, Zero};

fn classes(c: &Causality) -> Vec<u8> {
    let mut numbers: Vec<u8> = c
        .zero_order_paths
        .iter()
        .map(|p| p.class.number())
        .collect();
    numbers.dedup();
    numbers
}

#[test]
fn two_inertias_on_one_shaft_make_a_path_of_class_1() {
    let mut g = Builder::new();
    g.add("torque", Se, 1.0);
    g.add("shaft", One, 0.0);
    g.add("motor", I, 2.0);
    g.add("load", I, 1.0);
    g.chain("torque shaft motor");
    g.chain("shaft load");
    let c = assign_causality(&g.graph);
    assert_eq!(classes(&c), [1]);
    let names: Vec<String> = c.zero_order_paths[0]
        .elements
        .iter()
        .map(|&e| g.graph.element_name(e))
        .collect();
    assert_eq!(names, ["motor", "shaft", "load"]);
}

#[test]
fn two_resistors_in_series_make_a_path_of_class_2() {
    let mut g = Builder::new();
    g.add("supply", Se, 1.0);
    g.add("mesh", One, 0.0);
    g.add("r1", R, 1.0);
    g.add("r2", R, 1.0);
    g.chain("supply mesh r1");
    g.chain("mesh r2");
    let c = assign_causality(&g.graph);
    assert_eq!(classes(&c), [2]);
    assert_eq!(c.loops.len(), 1);
}

#[test]
fn a_resistor_in_a_ring_of_gyrators_makes_a_path_of_class_3() {
    let mut g = Builder::new();
    for name in ["a", "b", "d"] {
        g.add(name, One, 0.0);
    }
    for name in ["ab", "bd", "da"] {
        g.add(name, Gy, 2.0);
    }
    g.add("r", R, 1.0);
    g.add("supply", Se, 1.0);
    g.chain("a ab b bd d da a");
    g.chain("b r");
    g.chain("supply a");
    let c = assign_causality(&g.graph);
    assert!(c.is_complete());
    assert_eq!(classes(&c), [3]);
}

#[test]
fn a_ring_of_junctions_without_elements_makes_a_path_of_class_4() {
    let mut g = Builder::new();
    g.add("a", One, 0.0);
    g.add("b", Zero, 0.0);
    g.add("tf", Tf, 2.0);
    g.add("supply", Se, 1.0);
    g.chain("a b");
    g.chain("a tf b");
    g.chain("supply a");
    let c = assign_causality(&g.graph);
    assert!(c.is_complete());
    assert_eq!(classes(&c), [4]);
}
