//! Facts about laws, on graphs built by hand.

use paynter_symbolic::dae::Origin;
use paynter_symbolic::{Comparison, Function1, Names, Role, Symbol};

use super::*;
use crate::graph::{Bond, BondId, Domain, DomainId, ElementKind, Variable};

/// A graph under construction: elements joined by bonds from a 1-junction.
struct Builder {
    graph: BondGraph,
}

impl Builder {
    fn new() -> Self {
        Builder {
            graph: BondGraph::default(),
        }
    }

    fn symbol(&mut self, name: &str, role: Role) -> SymbolId {
        let dae = &mut self.graph.signals;
        let name = dae.names.child(Names::ROOT, name, None);
        dae.add_symbol(Symbol {
            name,
            role,
            nominal: 0.0,
            origin: Origin(0),
        })
    }

    fn parameter(&mut self, name: &str, value: f64) -> ExprId {
        let s = self.symbol(
            name,
            Role::Parameter {
                value,
                binding: None,
            },
        );
        self.graph.signals.pool.symbol(s)
    }

    fn signal(&mut self, name: &str) -> ExprId {
        let s = self.symbol(name, Role::Unknown);
        self.graph.signals.pool.symbol(s)
    }

    fn pool(&mut self) -> &mut Pool {
        &mut self.graph.signals.pool
    }

    fn number(&mut self, x: f64) -> ExprId {
        self.pool().number(x)
    }

    fn element(&mut self, name: &str, kind: ElementKind) -> ElementId {
        let path = self.graph.signals.names.child(Names::ROOT, name, None);
        self.graph.elements.push(Element {
            name: Some(path),
            kind,
            ports: Vec::new(),
            states: Vec::new(),
            law: Law::Junction,
            is_modulated: false,
            can_vanish: false,
            is_unpowered: false,
            depth: 0,
            part: Names::ROOT,
            part_of: None,
            domain: None,
            origin: Origin(0),
        });
        ElementId(self.graph.elements.len() as u32 - 1)
    }

    fn bond(&mut self, tail: ElementId, head: ElementId) -> BondId {
        let id = BondId(self.graph.bonds.len() as u32);
        let effort = self.symbol(&format!("e{}", id.0), Role::Unknown);
        let flow = self.symbol(&format!("f{}", id.0), Role::Unknown);
        let elements = &mut self.graph.elements;
        let mut end = |element: ElementId| {
            let ports = &mut elements[element.0 as usize].ports;
            ports.push(id);
            End {
                element,
                port: ports.len() as u32 - 1,
            }
        };
        let (tail, head) = (end(tail), end(head));
        self.graph.bonds.push(Bond {
            tail,
            head,
            effort,
            flow,
            forced: None,
            name: None,
            part_of: None,
            domain: None,
            origin: Origin(0),
        });
        id
    }

    /// An element `x` with n ports, each on a 1-junction with a source.
    fn ports(&mut self, kind: ElementKind, n: usize) -> ElementId {
        let x = self.element("x", kind);
        for port in 0..n {
            let junction = self.element(&format!("j{port}"), ElementKind::One);
            let source = self.element(&format!("s{port}"), ElementKind::Se);
            let value = self.number(1.0);
            self.graph.elements[source.0 as usize].law = Law::Source {
                value,
                position: None,
            };
            self.bond(source, junction);
            self.bond(junction, x);
        }
        if matches!(kind, ElementKind::C | ElementKind::I) {
            for port in 0..n {
                let state = self.symbol(&format!("x.q{port}"), Role::Unknown);
                self.graph.elements[x.0 as usize].states.push(state);
            }
        }
        x
    }

    fn own(&mut self, x: ElementId, port: usize, variable: Variable) -> ExprId {
        let element = self.graph.element(x).clone();
        let bond = self.graph.bond(element.ports[port]);
        let symbol = match variable {
            Variable::Effort => bond.effort,
            Variable::Flow => bond.flow,
            Variable::Stored => element.states[port],
        };
        self.pool().symbol(symbol)
    }

    fn check(mut self, x: ElementId, law: Law) -> Vec<&'static str> {
        self.graph.elements[x.0 as usize].law = law;
        self.codes()
    }

    fn codes(&mut self) -> Vec<&'static str> {
        let size = self.graph.signals.pool.len();
        let found = check_graph(&mut self.graph)
            .iter()
            .map(|d| d.code)
            .collect();
        assert!(
            self.graph.signals.pool.len() >= size,
            "the pool is given back"
        );
        found
    }
}

fn constant_law(kind: ElementKind, law: fn(ExprId) -> Law, value: f64) -> Vec<&'static str> {
    let mut b = Builder::new();
    let x = b.ports(kind, 1);
    let value = b.parameter("value", value);
    b.check(x, law(value))
}

#[test]
fn sizes_must_be_positive() {
    for kind in [ElementKind::C, ElementKind::I] {
        assert!(constant_law(kind, Law::Gain, 2.0).is_empty());
        assert_eq!(constant_law(kind, Law::Gain, 0.0), [code::STORAGE_SIZE]);
        assert_eq!(constant_law(kind, Law::Gain, -1.0), [code::STORAGE_SIZE]);
        assert_eq!(
            constant_law(kind, Law::Gain, f64::NAN),
            [code::LAW_NOT_FINITE]
        );
        assert_eq!(
            constant_law(kind, Law::Gain, f64::INFINITY),
            [code::LAW_NOT_FINITE]
        );
        assert!(constant_law(kind, Law::InverseGain, 0.0).is_empty());
        assert_eq!(
            constant_law(kind, Law::InverseGain, -1.0),
            [code::STORAGE_UNSTABLE]
        );
    }
}

#[test]
fn resistors_take_power() {
    assert!(constant_law(ElementKind::R, Law::Gain, 5.0).is_empty());
    assert!(constant_law(ElementKind::R, Law::Gain, 0.0).is_empty());
    assert_eq!(
        constant_law(ElementKind::R, Law::Gain, -5.0),
        [code::ACTIVE_RESISTOR]
    );
    assert_eq!(
        constant_law(ElementKind::R, Law::InverseGain, -5.0),
        [code::ACTIVE_RESISTOR]
    );
}

#[test]
fn a_modulated_storage_is_refused_unless_declared() {
    for (unpowered, expected) in [(false, &[code::MODULATED_STORAGE][..]), (true, &[])] {
        let mut b = Builder::new();
        let x = b.ports(ElementKind::C, 1);
        let gain = b.signal("gap");
        b.graph.elements[x.0 as usize].is_modulated = true;
        b.graph.elements[x.0 as usize].is_unpowered = unpowered;
        assert_eq!(b.check(x, Law::Gain(gain)), expected);
    }
    let mut b = Builder::new();
    let x = b.ports(ElementKind::C, 1);
    let gain = b.signal("gap");
    b.graph.elements[x.0 as usize].is_modulated = true;
    b.graph.elements[x.0 as usize].law = Law::Gain(gain);
    let found = check_graph(&mut b.graph);
    assert!(found[0].message.contains("`gap`"), "{}", found[0].message);
}

#[test]
fn a_modulated_resistor_is_fine() {
    let mut b = Builder::new();
    let x = b.ports(ElementKind::R, 1);
    let gain = b.signal("valve");
    b.graph.elements[x.0 as usize].is_modulated = true;
    assert!(b.check(x, Law::Gain(gain)).is_empty());
}

fn explicit(kind: ElementKind, law: impl Fn(&mut Pool, ExprId) -> ExprId) -> Vec<&'static str> {
    let mut b = Builder::new();
    let x = b.ports(kind, 1);
    let f = b.own(x, 0, Variable::Flow);
    let e = law(b.pool(), f);
    b.check(x, Law::Explicit(vec![(0, Variable::Effort, e)]))
}

#[test]
fn resistor_laws_are_tried() {
    let r = ElementKind::R;
    assert!(explicit(r, |p, f| p.powi(f, 3)).is_empty());
    assert!(explicit(r, |p, f| p.call1(Function1::Sign, f)).is_empty());
    assert_eq!(explicit(r, |p, f| p.neg(f)), [code::ACTIVE_RESISTOR]);
    // e = f² drives for negative flow, and only there.
    assert_eq!(
        explicit(r, |p, f| p.powi(f, 2)),
        [code::RESISTOR_MAY_CREATE_POWER]
    );
    // A van der Pol element gives power when small.
    let van_der_pol = |p: &mut Pool, f: ExprId| {
        let cube = p.powi(f, 3);
        p.sub(cube, f)
    };
    assert_eq!(explicit(r, van_der_pol), [code::RESISTOR_MAY_CREATE_POWER]);
    let diode = |p: &mut Pool, f: ExprId| {
        let (zero, small, large) = (p.number(0.0), p.number(1e-3), p.number(500.0));
        let conducts = p.compare(Comparison::Greater, f, zero);
        let resistance = p.if_else(conducts, small, large);
        p.mul(resistance, f)
    };
    assert!(explicit(r, diode).is_empty());
    assert_eq!(
        explicit(ElementKind::Rs, |p, f| p.neg(f)),
        [code::ACTIVE_RESISTOR]
    );
}

fn field(kind: ElementKind, inverse: bool, numbers: &[f64]) -> Vec<&'static str> {
    let mut b = Builder::new();
    let n = numbers.len().isqrt();
    let x = b.ports(kind, n);
    let entries: Vec<ExprId> = numbers.iter().map(|&v| b.number(v)).collect();
    let law = if inverse {
        Law::InverseField(entries)
    } else {
        Law::Field(entries)
    };
    b.check(x, law)
}

#[test]
fn storage_fields_are_reciprocal_and_positive() {
    for kind in [ElementKind::C, ElementKind::I] {
        assert!(field(kind, false, &[2.0, 1.0, 1.0, 2.0]).is_empty());
        assert_eq!(
            field(kind, false, &[2.0, 1.0, 0.5, 2.0]),
            [code::NOT_RECIPROCAL]
        );
        assert_eq!(
            field(kind, true, &[2.0, 1.0, 0.5, 2.0]),
            [code::NOT_RECIPROCAL]
        );
        assert_eq!(
            field(kind, false, &[1.0, 2.0, 2.0, 1.0]),
            [code::STORAGE_SIZE]
        );
        assert_eq!(
            field(kind, false, &[1.0, 1.0, 1.0, 1.0]),
            [code::STORAGE_SIZE]
        );
        // A stiffness may be singular.
        assert!(field(kind, true, &[1.0, -1.0, -1.0, 1.0]).is_empty());
        assert_eq!(
            field(kind, true, &[1.0, 2.0, 2.0, 1.0]),
            [code::STORAGE_UNSTABLE]
        );
    }
}

#[test]
fn resistor_fields_may_gyrate_but_not_give() {
    assert!(field(ElementKind::R, false, &[1.0, 5.0, -5.0, 1.0]).is_empty());
    assert!(field(ElementKind::R, false, &[1.0, 1.0, 1.0, 1.0]).is_empty());
    assert_eq!(
        field(ElementKind::R, false, &[1.0, 2.0, 2.0, 1.0]),
        [code::ACTIVE_RESISTOR]
    );
}

/// A movable-plate condenser: e = q x/c, F = q²/(2c), reciprocal; with another factor it is not.
fn condenser(factor: f64) -> Vec<&'static str> {
    let mut b = Builder::new();
    let x = b.ports(ElementKind::C, 2);
    let (q, gap) = (b.own(x, 0, Variable::Stored), b.own(x, 1, Variable::Stored));
    let factor = b.number(factor);
    let pool = b.pool();
    let voltage = pool.mul(q, gap);
    let square = pool.mul(q, q);
    let force = pool.mul(factor, square);
    b.check(
        x,
        Law::Explicit(vec![
            (0, Variable::Effort, voltage),
            (1, Variable::Effort, force),
        ]),
    )
}

#[test]
fn a_field_law_comes_from_one_energy() {
    assert!(condenser(0.5).is_empty());
    assert_eq!(condenser(0.4), [code::NOT_RECIPROCAL]);
}

#[test]
fn a_law_given_the_other_way_round_is_mirrored_with_opposite_sign() {
    // Energy F(q₁, e₂) = q₁e₂: e₁ = ∂F/∂q₁ = e₂, q₂ = −∂F/∂e₂ = −q₁.
    for (sign, expected) in [(-1.0, &[][..]), (1.0, &[code::NOT_RECIPROCAL])] {
        let mut b = Builder::new();
        let x = b.ports(ElementKind::C, 2);
        let (q1, e2) = (b.own(x, 0, Variable::Stored), b.own(x, 1, Variable::Effort));
        let sign = b.number(sign);
        let q2 = b.pool().mul(sign, q1);
        let law = Law::Explicit(vec![(0, Variable::Effort, e2), (1, Variable::Stored, q2)]);
        assert_eq!(b.check(x, law), expected);
    }
}

/// e = M f written out, with M from momenta: cross(f, p) is powerless, its mirror image is not.
fn gyrator_ring(sign: f64) -> Vec<&'static str> {
    let mut b = Builder::new();
    let x = b.ports(ElementKind::Gy, 3);
    let p: Vec<ExprId> = ["px", "py", "pz"].map(|n| b.signal(n)).to_vec();
    let f: Vec<ExprId> = (0..3).map(|k| b.own(x, k, Variable::Flow)).collect();
    let sign = b.number(sign);
    let mut entries = Vec::new();
    for (k, (i, j)) in [(1, 2), (2, 0), (0, 1)].into_iter().enumerate() {
        let pool = b.pool();
        let (left, right) = (pool.mul(f[i], p[j]), pool.mul(f[j], p[i]));
        let right = pool.mul(sign, right);
        entries.push((k as u32, Variable::Effort, pool.sub(left, right)));
    }
    b.check(x, Law::Explicit(entries))
}

#[test]
fn a_gyrator_law_is_powerless() {
    assert!(gyrator_ring(1.0).is_empty());
    assert_eq!(gyrator_ring(-1.0), [code::NOT_POWERLESS]);
    assert!(field(ElementKind::Gy, false, &[0.0, 3.0, -3.0, 0.0]).is_empty());
    assert_eq!(
        field(ElementKind::Gy, false, &[0.0, 3.0, 3.0, 0.0]),
        [code::NOT_POWERLESS]
    );
    assert_eq!(
        field(ElementKind::Gy, false, &[1.0, 3.0, -3.0, 0.0]),
        [code::NOT_POWERLESS]
    );
}

#[test]
fn a_modulus_of_zero_is_told() {
    let mut b = Builder::new();
    let (left, right) = (
        b.element("left", ElementKind::One),
        b.element("right", ElementKind::One),
    );
    let x = b.element("x", ElementKind::Tf);
    b.bond(left, x);
    b.bond(x, right);
    let zero = b.number(0.0);
    assert_eq!(b.check(x, Law::Gain(zero)), [code::ZERO_MODULUS]);
}

#[test]
fn there_is_no_thermal_inertia() {
    for (domain, expected) in [("thermal", &[code::NO_INERTIA][..]), ("electrical", &[])] {
        let mut b = Builder::new();
        let x = b.ports(ElementKind::I, 1);
        b.graph.domains.push(Domain {
            name: domain.to_owned(),
            is_pseudo: false,
        });
        b.graph.elements[x.0 as usize].domain = Some(DomainId(0));
        let one = b.number(1.0);
        assert_eq!(b.check(x, Law::Gain(one)), expected);
    }
}

#[test]
fn bonds_join_two_things_that_leave_something_open() {
    let mut b = Builder::new();
    let (s1, s2) = (
        b.element("s1", ElementKind::Se),
        b.element("s2", ElementKind::Sf),
    );
    b.bond(s1, s2);
    assert_eq!(b.codes(), [code::SOURCE_MEETS_SOURCE]);
    let mut b = Builder::new();
    let j = b.element("j", ElementKind::One);
    b.bond(j, j);
    assert_eq!(b.codes(), [code::BOND_TO_ITSELF]);
    let mut b = Builder::new();
    b.element("j", ElementKind::Zero);
    assert_eq!(b.codes(), [code::JUNCTION_ALONE]);
}

#[test]
fn a_free_mass_is_no_idle_junction() {
    for (junction, kind, expected) in [
        (ElementKind::One, ElementKind::I, &[][..]),
        (ElementKind::Zero, ElementKind::C, &[]),
        (ElementKind::One, ElementKind::R, &[code::JUNCTION_IDLE]),
        (ElementKind::Zero, ElementKind::I, &[code::JUNCTION_IDLE]),
    ] {
        let mut b = Builder::new();
        let j = b.element("j", junction);
        let x = b.element("x", kind);
        b.bond(j, x);
        let one = b.number(1.0);
        assert_eq!(b.check(x, Law::Gain(one)), expected);
    }
}
