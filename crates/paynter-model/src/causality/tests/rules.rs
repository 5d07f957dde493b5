//! What each kind of port wants.

use super::builder::Builder;
use super::{derivative, integral};
use crate::causality::{Causality, ConflictKind, Status, assign_causality};
use crate::graph::ElementKind::{C, D, Gy, I, One, R, Rs, Se, Sf, Tf, Zero};
use crate::graph::{End, Law, Stroke, Variable};
use paynter_symbolic::Function1;
use paynter_symbolic::dae::Role;

fn gives_effort(g: &Builder, c: &Causality, name: &str, port: u32) -> bool {
    c.effort_is_input(
        &g.graph,
        End {
            element: g.id(name),
            port,
        },
    ) == Some(false)
}

fn status(g: &Builder, c: &Causality, name: &str) -> Status {
    c.status(g.graph.element(g.id(name)).ports[0])
}

#[test]
fn a_resistance_of_zero_gives_effort_only() {
    let mut g = Builder::new();
    g.add("j", One, 0.0);
    g.add("wire", R, 0.0);
    g.add("r", R, 1.0);
    g.chain("j wire");
    g.chain("j r");
    let c = assign_causality(&g.graph);
    assert!(gives_effort(&g, &c, "wire", 0));
    assert_eq!(status(&g, &c, "wire"), Status::Fixed);
    assert!(!gives_effort(&g, &c, "r", 0));
}

#[test]
fn a_conductance_of_zero_gives_flow_only() {
    let mut g = Builder::new();
    g.add("j", Zero, 0.0);
    let zero = g.number(0.0);
    g.add_law("open", R, Law::InverseGain(zero));
    g.add("r", R, 1.0);
    g.chain("j open");
    g.chain("j r");
    let c = assign_causality(&g.graph);
    assert!(!gives_effort(&g, &c, "open", 0));
    assert_eq!(status(&g, &c, "open"), Status::Fixed);
}

/// Adds a resistor e = f(flow) on a new junction, with an inertia that would set the flow.
fn resistor_beside_inertia(function: Function1, is_written_for_flow: bool) -> (Builder, Causality) {
    let mut g = Builder::new();
    g.add("j", One, 0.0);
    g.add("i", I, 1.0);
    let r = g.add("r", R, 1.0);
    g.chain("j i");
    let bond = g.chain("j r")[0];
    let bond = g.graph.bond(bond).clone();
    let (variable, input) = if is_written_for_flow {
        (Variable::Flow, bond.effort)
    } else {
        (Variable::Effort, bond.flow)
    };
    let value = g.call(function, input);
    g.graph.elements[r.0 as usize].law = Law::Explicit(vec![(0, variable, value)]);
    let c = assign_causality(&g.graph);
    (g, c)
}

#[test]
fn dry_friction_has_no_inverse_and_comes_before_storages() {
    let (g, c) = resistor_beside_inertia(Function1::Sign, false);
    assert_eq!(integral(&g.graph, &c), "i");
    assert_eq!(status(&g, &c, "r"), Status::Fixed);
    let (g, c) = resistor_beside_inertia(Function1::Sign, true);
    assert_eq!(
        derivative(&g.graph, &c),
        "i",
        "the jump sets the flow, and nothing else can"
    );
}

#[test]
fn a_smooth_law_yields_to_storages_and_is_then_inverted() {
    let (g, c) = resistor_beside_inertia(Function1::Sinh, true);
    assert_eq!(integral(&g.graph, &c), "i");
    assert_eq!(
        c.inverted_laws,
        [End {
            element: g.id("r"),
            port: 0
        }]
    );
    let (_, c) = resistor_beside_inertia(Function1::Sinh, false);
    assert!(c.inverted_laws.is_empty());
}

#[test]
fn a_spring_with_a_dead_zone_is_never_derivative() {
    let mut g = Builder::new();
    g.add("rod", One, 0.0);
    g.add("source", Se, 1.0);
    g.add("node", Zero, 0.0);
    let spring = g.add("spring", C, 1.0);
    g.chain("source node spring");
    let q = g.graph.elements[spring.0 as usize].states[0];
    let law = g.call(Function1::Floor, q);
    g.graph.elements[spring.0 as usize].law = Law::Explicit(vec![(0, Variable::Effort, law)]);
    let c = assign_causality(&g.graph);
    assert_eq!(
        c.conflicts.len(),
        1,
        "a source of effort cannot say how far it is bent"
    );
    let linear = g.read(q);
    g.graph.elements[spring.0 as usize].law = Law::Explicit(vec![(0, Variable::Effort, linear)]);
    let c = assign_causality(&g.graph);
    assert!(c.conflicts.is_empty());
    assert_eq!(derivative(&g.graph, &c), "spring");
}

#[test]
fn a_spring_without_stiffness_keeps_its_state() {
    let mut g = Builder::new();
    g.add("fin", One, 0.0);
    g.add("i", I, 1.0);
    let zero = g.number(0.0);
    g.add_law("hinge", C, Law::InverseGain(zero));
    g.chain("fin i");
    g.chain("fin hinge");
    let c = assign_causality(&g.graph);
    assert_eq!(integral(&g.graph, &c), "hinge i");
    assert_eq!(status(&g, &c, "hinge"), Status::Fixed);
}

#[test]
fn friction_that_heats_needs_the_temperature() {
    let mut g = Builder::new();
    g.add("wheel", One, 0.0);
    g.add("j", I, 1.0);
    g.add("pad", Rs, 1.0);
    g.add("disc", Zero, 0.0);
    g.add("heat", C, 1.0);
    g.chain("wheel j");
    g.chain("wheel pad disc heat");
    let c = assign_causality(&g.graph);
    assert!(c.is_complete());
    assert!(!gives_effort(&g, &c, "pad", 1), "it gives the entropy flow");
    assert_eq!(integral(&g.graph, &c), "heat j");
}

#[test]
fn a_pulse_width_works_forward_in_effort() {
    // n2 -> pwm -> coil: the law e2 = p e1 may not be turned round.
    let mut g = Builder::new();
    let p = g.symbol("p", Role::Unknown);
    let p = g.read(p);
    g.add("n", Zero, 0.0);
    g.add("c", C, 1.0);
    let pwm = g.add_law("pwm", Tf, Law::InverseGain(p));
    g.graph.elements[pwm.0 as usize].can_vanish = true;
    g.add("coil", One, 0.0);
    g.add("l", I, 1.0);
    g.chain("n c");
    g.chain("n pwm coil l");
    let c = assign_causality(&g.graph);
    assert!(gives_effort(&g, &c, "pwm", 1));
    assert_eq!(integral(&g.graph, &c), "c l");
    assert!(c.reversed_moduli.is_empty());
}

#[test]
fn a_modulus_that_must_be_divided_by_is_named() {
    let mut g = Builder::new();
    let x = g.symbol("x", Role::Unknown);
    let x = g.read(x);
    g.add("a", Sf, 1.0);
    g.add("b", Se, 1.0);
    g.modulated("tf", Tf, x);
    // Flow comes from behind: f1 = f2/x.
    g.chain("b tf a");
    let c = assign_causality(&g.graph);
    assert!(c.is_complete());
    assert_eq!(c.reversed_moduli, [g.id("tf")]);
}

#[test]
fn an_eulerian_field_takes_flows_and_gives_efforts() {
    let mut g = Builder::new();
    for name in ["x", "y", "z"] {
        g.add(name, One, 0.0);
        g.add(&format!("i{name}"), I, 1.0);
        g.chain(&format!("{name} i{name}"));
    }
    let ring = g.explicit("ejs", Gy, Vec::new());
    g.chain("x ejs");
    g.chain("y ejs");
    g.chain("z ejs");
    let flows: Vec<_> = g
        .graph
        .element(ring)
        .ports
        .iter()
        .map(|&b| g.graph.bond(b).flow)
        .collect();
    let rows = (0..3).map(|i| (i as u32, Variable::Effort, flows[(i + 1) % 3]));
    let rows = rows
        .map(|(port, variable, flow)| (port, variable, g.read(flow)))
        .collect();
    g.graph.elements[ring.0 as usize].law = Law::Explicit(rows);
    let c = assign_causality(&g.graph);
    assert_eq!(integral(&g.graph, &c), "ix iy iz");
    assert!((0..3).all(|port| gives_effort(&g, &c, "ejs", port)));
}

#[test]
fn open_components_of_a_multibond_follow_the_others() {
    // Three resistors between junctions: one is held by a source, the others take either.
    let mut g = Builder::new();
    let mut bonds = Vec::new();
    for i in 0..3 {
        g.add(&format!("a{i}"), Zero, 0.0);
        g.add(&format!("b{i}"), One, 0.0);
        g.add(&format!("ra{i}"), R, 1.0);
        g.add(&format!("rb{i}"), R, 1.0);
        bonds.extend(g.chain(&format!("a{i} b{i}")));
        g.chain(&format!("a{i} ra{i}"));
        g.chain(&format!("b{i} rb{i}"));
    }
    let group = g.group(&[], Zero);
    for (component, b) in bonds.iter().enumerate() {
        g.graph.bonds[b.0 as usize].part_of = Some((group, component as u32));
    }
    // Alone, each bond would be weak at both ends; force the second to be strong.
    g.force(bonds[1], Stroke::Tail);
    let c = assign_causality(&g.graph);
    assert!(c.is_complete());
    assert!(bonds.iter().all(|&b| c.stroke(b) == Some(Stroke::Tail)));
    assert!(c.split_multibonds.is_empty());
    g.force(bonds[2], Stroke::Head);
    let c = assign_causality(&g.graph);
    assert_eq!(c.split_multibonds.len(), 1);
}

#[test]
fn a_diode_takes_what_is_left() {
    let mut g = Builder::new();
    g.add("supply", Se, 1.0);
    g.add("mesh", One, 0.0);
    g.add("d", D, 1.0);
    g.add("r", R, 1.0);
    g.chain("supply mesh d");
    g.chain("mesh r");
    let c = assign_causality(&g.graph);
    assert_eq!(status(&g, &c, "r"), Status::Chosen);
    assert_eq!(status(&g, &c, "d"), Status::Propagated);
}

#[test]
fn a_forced_stroke_is_obeyed_or_reported() {
    let mut g = Builder::new();
    g.add("shaft", One, 0.0);
    g.add("a", I, 5.0);
    g.add("b", I, 1.0);
    let a = g.chain("shaft a")[0];
    g.chain("shaft b");
    g.force(a, Stroke::Tail);
    let c = assign_causality(&g.graph);
    assert_eq!(integral(&g.graph, &c), "b");
    assert_eq!(c.status(a), Status::Forced);
    let b = g.graph.element(g.id("b")).ports[0];
    g.force(b, Stroke::Tail);
    let c = assign_causality(&g.graph);
    assert_eq!(c.conflicts[0].kind, ConflictKind::Bond(b));
    assert!(
        c.stroke(a).is_some() && c.stroke(b).is_some(),
        "the rest is assigned all the same"
    );
}
