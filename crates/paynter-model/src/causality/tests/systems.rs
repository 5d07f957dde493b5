//! The systems of the literature come out as their authors have them.

use super::builder::Builder;
use super::{derivative, integral};
use crate::causality::assign_causality;
use crate::graph::ElementKind::{C, Gy, I, One, R, Se, Sf, Tf, Zero};
use paynter_symbolic::Function1;

/// McBride 2005, fig. 3.6.
pub(super) fn circuit() -> Builder {
    let mut g = Builder::new();
    g.add("supply", Se, 10.0);
    g.add("mesh", One, 0.0);
    g.add("node", Zero, 0.0);
    g.add("branch", One, 0.0);
    g.add("r1", R, 100.0);
    g.add("c1", C, 1e-4);
    g.add("r2", R, 10.0);
    g.add("l1", I, 0.1);
    g.chain("supply mesh node branch");
    g.chain("mesh r1");
    g.chain("node c1");
    g.chain("branch r2");
    g.chain("branch l1");
    g
}

#[test]
fn circuit_of_the_thesis_has_order_two_and_no_loop() {
    let g = circuit();
    let c = assign_causality(&g.graph);
    assert!(c.is_complete());
    assert_eq!(integral(&g.graph, &c), "c1 l1");
    assert_eq!(c.order(), 2);
    assert!(c.loops.is_empty());
    assert!(c.zero_order_paths.is_empty());
}

/// McBride 2005, 4.2.2.
pub(super) fn wheatstone() -> Builder {
    let mut g = Builder::new();
    g.add("supply", Se, 10.0);
    for name in ["in", "ab", "ad", "bridge"] {
        g.add(name, One, 0.0);
    }
    for name in ["a", "b", "d"] {
        g.add(name, Zero, 0.0);
    }
    for (name, value) in [
        ("r1", 50.0),
        ("r2", 100.0),
        ("r3", 220.0),
        ("r4", 330.0),
        ("r5", 150.0),
    ] {
        g.add(name, R, value);
    }
    g.add("c1", C, 1e-5);
    g.add("c2", C, 2.2e-5);
    g.chain("supply in a ab b r3");
    g.chain("in r1");
    g.chain("a c1");
    g.chain("ab r2");
    g.chain("a ad d r5");
    g.chain("ad r4");
    g.chain("d bridge b");
    g.chain("bridge c2");
    g
}

#[test]
pub(super) fn wheatstone_bridge_has_one_loop_torn_at_a_resistor_to_ground() {
    let g = wheatstone();
    let c = assign_causality(&g.graph);
    assert!(c.is_complete());
    assert_eq!(integral(&g.graph, &c), "c1 c2");
    assert_eq!(c.order(), 2);
    assert_eq!(c.loops.len(), 1);
    let r3 = g.graph.element(g.id("r3")).ports[0];
    let r5 = g.graph.element(g.id("r5")).ports[0];
    let candidates = [g.graph.bond(r3).effort, g.graph.bond(r5).effort];
    assert!(candidates.contains(&c.loops[0].tearing), "{:?}", c.loops);
}

#[test]
fn gear_train_has_order_three_and_one_dependent_inertia() {
    let mut g = Builder::new();
    g.add("torque", Se, 1.0);
    for (name, value) in [("i1", 0.02), ("i2", 0.1), ("i3", 0.5)] {
        g.add(name, I, value);
    }
    g.add("gear", Tf, 0.05 / 0.15);
    g.add("spring", C, 1.0 / 50.0);
    g.add("damper", R, 0.4);
    for name in ["w1", "w2", "w3"] {
        g.add(name, One, 0.0);
    }
    g.add("twist", Zero, 0.0);
    g.chain("torque w1 gear w2 twist w3");
    g.chain("w1 i1");
    g.chain("w2 i2");
    g.chain("twist spring");
    g.chain("w3 i3");
    g.chain("w3 damper");
    let c = assign_causality(&g.graph);
    assert!(c.is_complete());
    assert_eq!(c.order(), 3);
    // The larger of the two inertias on the rigid shaft is the state.
    assert_eq!(integral(&g.graph, &c), "i2 i3 spring");
    assert_eq!(derivative(&g.graph, &c), "i1");
    let [dependent] = c.dependent.as_slice() else {
        panic!("one dependent storage")
    };
    let on: Vec<String> = dependent
        .on
        .iter()
        .map(|d| g.graph.element_name(d.element))
        .collect();
    assert_eq!(on, ["i2"]);
}

/// McBride & Cellier 2001, fig. 4.
pub(super) fn gyroscope() -> Builder {
    let mut g = Builder::new();
    for name in ["tilt", "turn", "spin", "along", "across", "rotor"] {
        g.add(name, One, 0.0);
    }
    g.add("sum", Zero, 0.0);
    for (name, value) in [
        ("i1", 3.4),
        ("i2", 2.2),
        ("i3", 4.0),
        ("i4", 2.6),
        ("i5", 3.2),
    ] {
        g.add(name, I, value);
    }
    for name in ["SE15", "SE12", "SE6"] {
        g.add(name, Se, 0.0);
    }
    let tilt = g.chain("tilt i1")[0];
    g.chain("turn i2");
    g.chain("spin i3");
    g.chain("along i4");
    g.chain("across i5");
    let (theta, rate) = g.coordinate("theta");
    let flow = g.graph.bond(tilt).flow;
    let flow = g.read(flow);
    g.define(rate, flow);
    let (cos, sin) = (g.call(Function1::Cos, theta), g.call(Function1::Sin, theta));
    g.modulated("tf_cos", Tf, cos);
    g.modulated("tf_sin", Tf, sin);
    for (name, of) in [("gy5", "i5"), ("gy3", "i3"), ("gy4", "i4")] {
        let momentum = g.graph.element(g.id(of)).states[0];
        let momentum = g.read(momentum);
        g.modulated(name, Gy, momentum);
    }
    g.chain("turn tf_cos along sum spin");
    g.chain("turn tf_sin across");
    g.chain("rotor sum");
    g.chain("along gy5 tilt");
    g.chain("tilt gy3 across");
    g.chain("tilt gy4 across");
    g.chain("SE15 tilt");
    g.chain("SE12 turn");
    g.chain("SE6 rotor");
    g
}

#[test]
fn gyroscope_has_three_integral_and_two_derivative_inertias() {
    let g = gyroscope();
    let c = assign_causality(&g.graph);
    assert!(c.is_complete(), "{:?}", c.conflicts);
    assert_eq!(integral(&g.graph, &c), "i1 i2 i3");
    assert_eq!(derivative(&g.graph, &c), "i4 i5");
    assert_eq!(c.order(), 4);
    assert_eq!(c.coordinates.len(), 1);
    for dependent in &c.dependent {
        let on: Vec<String> = dependent
            .on
            .iter()
            .map(|d| g.graph.element_name(d.element))
            .collect();
        assert_eq!(on, ["i2"]);
    }
}

/// Tiernego & van Dixhoorn 1979, one ring of gyrators per gimbal.
#[test]
fn flight_table_has_one_independent_inertia_per_axis() {
    let mut g = Builder::new();
    for body in ["inner", "middle"] {
        for axis in ["x", "y", "z"] {
            g.add(&format!("{body}.w{axis}"), One, 0.0);
        }
    }
    for (name, value) in [
        ("inner.ix", 2e-3),
        ("inner.iy", 8e-3),
        ("inner.iz", 6e-3),
        ("middle.ix", 12e-3),
        ("middle.iy", 16e-3),
        ("middle.iz", 14e-3),
        ("iz3", 20e-3),
    ] {
        let id = g.add(name, I, value);
        g.graph.elements[id.0 as usize].depth = u32::from(name != "iz3");
    }
    for name in ["outer", "a"] {
        g.add(name, One, 0.0);
    }
    for name in ["x21", "y21", "z21"] {
        g.add(name, Zero, 0.0);
    }
    for body in ["inner", "middle"] {
        for axis in ["x", "y", "z"] {
            g.chain(&format!("{body}.w{axis} {body}.i{axis}"));
        }
        for (gyrator, of) in [("gz", "iz"), ("gx", "ix"), ("gy", "iy")] {
            let momentum = g.graph.element(g.id(&format!("{body}.{of}"))).states[0];
            let momentum = g.read(momentum);
            g.modulated(&format!("{body}.{gyrator}"), Gy, momentum);
        }
        g.chain(&format!(
            "{body}.wx {body}.gz {body}.wy {body}.gx {body}.wz {body}.gy {body}.wx"
        ));
    }
    g.chain("outer iz3");
    let (alpha, alpha_rate) = g.coordinate("alpha");
    let (beta, beta_rate) = g.coordinate("beta");
    let (_gamma, gamma_rate) = g.coordinate("gamma");
    for (name, f, angle) in [
        ("tf1", Function1::Sin, beta),
        ("tf2", Function1::Cos, beta),
        ("tf3", Function1::Cos, alpha),
        ("tf4", Function1::Sin, alpha),
        ("tf5", Function1::Sin, alpha),
        ("tf6", Function1::Cos, alpha),
    ] {
        let modulus = g.call(f, angle);
        g.modulated(name, Tf, modulus);
    }
    g.chain("outer tf1 middle.wx x21 inner.wx");
    g.chain("outer tf2 middle.wz");
    let a = g.chain("a x21")[0];
    g.chain("middle.wy tf3 y21 inner.wy");
    g.chain("middle.wz tf4 y21");
    g.chain("middle.wy tf5 z21 inner.wz");
    g.chain("middle.wz tf6 z21");
    for (source, at) in [("ma", "a"), ("mb", "middle.wy"), ("mg", "outer")] {
        g.add(source, Se, 0.0);
        g.chain(&format!("{source} {at}"));
        g.add(&format!("r{source}"), R, 0.05);
        g.chain(&format!("{at} r{source}"));
    }
    let flows = [
        (alpha_rate, a),
        (beta_rate, g.graph.element(g.id("middle.iy")).ports[0]),
        (gamma_rate, g.graph.element(g.id("iz3")).ports[0]),
    ];
    for (rate, bond) in flows {
        let flow = g.graph.bond(bond).flow;
        let flow = g.read(flow);
        g.define(rate, flow);
    }
    let c = assign_causality(&g.graph);
    assert!(c.is_complete(), "{:?}", c.conflicts);
    assert_eq!(integral(&g.graph, &c), "inner.ix iz3 middle.iy");
    assert_eq!(
        derivative(&g.graph, &c),
        "inner.iy inner.iz middle.ix middle.iz"
    );
    assert_eq!(c.order(), 5);
    let outside: Vec<String> = c
        .outside
        .iter()
        .map(|&s| g.graph.signals.name_of(s))
        .collect();
    assert_eq!(
        outside,
        ["gamma"],
        "the angle of the outer axis acts on nothing"
    );
}

/// Tiernego & Bos 1985, fig. 10: the mass m has its inertias in the frame at rest.
pub(super) fn disc() -> Builder {
    let mut g = Builder::new();
    for name in ["gamma", "x1", "y1", "vx", "vy"] {
        g.add(name, One, 0.0);
    }
    for name in ["x0", "y0"] {
        g.add(name, Zero, 0.0);
    }
    g.add("j", I, 0.05);
    g.add("mx", I, 0.5);
    g.add("my", I, 0.5);
    g.add("friction", R, 8.0);
    g.add("gravity", Se, -4.905);
    let (angle, rate) = g.coordinate("angle");
    let (x, speed) = g.coordinate("x");
    let position = g.read(x);
    g.modulated("radius", Tf, position);
    let (cos, sin) = (g.call(Function1::Cos, angle), g.call(Function1::Sin, angle));
    let rotation = [("t11", cos), ("t12", sin), ("t21", sin), ("t22", cos)]
        .map(|(name, modulus)| g.modulated(name, Tf, modulus));
    g.group(&rotation, Tf);
    let spin = g.chain("gamma j")[0];
    let slide = g.chain("x1 friction")[0];
    g.chain("gamma radius y1");
    g.chain("x1 t11 x0 vx mx");
    g.chain("y1 t12 x0");
    g.chain("x1 t21 y0 vy my");
    g.chain("y1 t22 y0");
    g.chain("gravity vy");
    for (rate, bond) in [(rate, spin), (speed, slide)] {
        let flow = g.graph.bond(bond).flow;
        let flow = g.read(flow);
        g.define(rate, flow);
    }
    g
}

#[test]
fn disc_with_sliding_mass_has_two_independent_velocities_and_a_double_loop() {
    let g = disc();
    let c = assign_causality(&g.graph);
    assert!(c.is_complete(), "{:?}", c.conflicts);
    assert_eq!(c.order(), 4);
    // γ' is the disc's; x' is nobody's, because each of the mass's inertias reaches it through a
    // cosine or sine that vanishes somewhere.
    assert_eq!(integral(&g.graph, &c), "j");
    let free: Vec<String> = c
        .free
        .iter()
        .map(|f| g.graph.element_name(f.junction))
        .collect();
    assert_eq!(free, ["x1"]);
    assert_eq!(derivative(&g.graph, &c), "mx my");
    assert!(c.reversed_moduli.is_empty());
    // Both inertias depend on both velocities, so both accelerations are solved for together.
    assert!(c.dependent.iter().all(|d| d.on.len() == 2));
    let loops: Vec<(String, usize, usize)> = c
        .storage_loops
        .iter()
        .map(|l| {
            let name = g.graph.element_name(l.independent);
            (name, l.dependent.len(), l.together_with.len())
        })
        .collect();
    assert_eq!(loops, [("j".to_owned(), 2, 1), ("x1".to_owned(), 2, 1)]);
    assert_eq!(
        c.zero_order_paths
            .iter()
            .filter(|p| p.class.number() == 1)
            .count(),
        4
    );
}

#[test]
fn disc_keeps_its_velocities_whatever_the_friction_and_the_constants() {
    for (friction, j, m) in [(0.0, 0.05, 0.5), (8.0, 5.0, 0.5), (0.0, 5.0, 0.5)] {
        let mut g = disc();
        for (name, value) in [("friction", friction), ("j", j), ("mx", m), ("my", m)] {
            let value = g.number(value);
            let id = g.id(name);
            g.graph.elements[id.0 as usize].law = crate::graph::Law::Gain(value);
        }
        let c = assign_causality(&g.graph);
        assert!(c.is_complete());
        assert_eq!(integral(&g.graph, &c), "j");
        assert_eq!(c.free.len(), 1);
        assert!(c.reversed_moduli.is_empty());
    }
}

#[test]
fn disc_with_both_mass_velocities_as_states_has_a_double_loop_within_the_transformers() {
    // The choice of fig. 11, forced: the rotation is then used backwards, as a whole.
    let mut g = disc();
    for name in ["mx", "my"] {
        let bond = g.graph.element(g.id(name)).ports[0];
        g.force(bond, crate::graph::Stroke::Head);
    }
    let c = assign_causality(&g.graph);
    assert!(c.is_complete(), "{:?}", c.conflicts);
    assert_eq!(integral(&g.graph, &c), "mx my");
    assert!(c.free.is_empty());
    assert_eq!(
        c.loops.len(),
        2,
        "one of flows, one of efforts: {:?}",
        c.loops
    );
    assert!(
        c.loops
            .iter()
            .all(|l| l.class.map(|c| c.number()) == Some(4))
    );
}

/// The speed of a lever without mass between a source of speed and a spring is not a degree of freedom.
#[test]
fn a_junction_that_no_storage_determines_is_never_free() {
    let mut g = Builder::new();
    g.add("drive", Sf, 1.0);
    g.add("spring", C, 1.0);
    g.add("a", One, 0.0);
    g.add("b", Zero, 0.0);
    let (_, rate) = g.coordinate("x");
    let x = g.read(rate);
    g.modulated("lever", Tf, x);
    g.add("load", R, 1.0);
    // Written from a to b, driven from b to a: it has to be turned round.
    g.chain("a lever b");
    g.chain("a load");
    g.chain("drive b");
    g.add("c", Zero, 0.0);
    g.chain("a c spring");
    let c = assign_causality(&g.graph);
    assert!(c.free.is_empty(), "{:?}", c.free);
}

#[test]
fn a_lock_makes_the_inertia_behind_it_dependent_on_nothing() {
    let mut g = Builder::new();
    g.add("lock", Sf, 0.0);
    g.add("shaft", One, 0.0);
    g.add("i", I, 1.0);
    g.chain("lock shaft i");
    let c = assign_causality(&g.graph);
    assert_eq!(c.order(), 0);
    let [dependent] = c.dependent.as_slice() else {
        panic!("one dependent storage")
    };
    assert_eq!(g.graph.element_name(dependent.on[0].element), "lock");
}
