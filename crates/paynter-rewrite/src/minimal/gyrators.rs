//! What transformers with a varying modulus do beside their inertia: powerless gyrators.
//!
//! In:  a field, and the gyrators of the model that its momenta modulate.
//! Out: gyrators to add; or, where both cancel (an Eulerian ring), those that go.
//!
//! With g_ij = Σ_k p_k ∂_j t_ki, `i -> GY(-g_ij) -> j` stands between coordinate i and the junction that moves place j. All gyrators are compared at the
//! coordinates: `a -> GY(r) -> b` loads them by W = r (t_aᵀ t_b − t_bᵀ t_a).

use super::field::Field;
use super::places::Places;
use crate::algebra::Algebra;
use crate::kinematics::{Form, Kinematics};
use crate::net::{Kind, Net, Step, ThingId};
use paynter::symbolic::ExprId;
use std::collections::BTreeMap;

/// Loads between coordinates: (i, j) with i < j.
pub(crate) type Loads = BTreeMap<(ThingId, ThingId), ExprId>;

/// What becomes of gyrators.
pub struct Turned {
    /// Gyrators that go.
    gone: Vec<ThingId>,
    /// Lines to add: (from, modulus, to).
    added: Vec<(String, String, String)>,
}

/// Finds what becomes of the gyrators of a field.
pub fn turned(algebra: &mut Algebra, net: &Net, places: &Places, field: &Field) -> Turned {
    let own = derived(algebra, net, places, field);
    let (old, candidates) = existing(algebra, net, places, field);
    let mut total = own.clone();
    for (pair, r) in &old {
        add(algebra, &mut total, *pair, *r);
    }
    let cancels = total.values().all(|&r| algebra.is_zero(r));
    if cancels {
        return Turned {
            gone: candidates,
            added: Vec::new(),
        };
    }
    let mut added = Vec::new();
    for ((a, b), r) in own {
        let r = algebra.short(r);
        if algebra.is_zero(r) {
            continue;
        }
        let name = |t: ThingId| net.things[t].name.clone().unwrap_or_default();
        added.push((name(a), algebra.text(r), name(b)));
    }
    Turned {
        gone: Vec::new(),
        added,
    }
}

impl Turned {
    /// Tells whether a gyrator is added at one of these junctions.
    pub fn acts_on(&self, names: &[String]) -> bool {
        let mut ends = self.added.iter().flat_map(|(a, _, b)| [a, b]);
        ends.any(|end| names.contains(end))
    }

    /// The junctions that gyrators which go have loaded.
    pub fn loaded(&self, net: &Net) -> Vec<ThingId> {
        let ends = |&gyrator: &ThingId| {
            let (into, out) = net.in_out(gyrator)?;
            Some([net.across(into, gyrator), net.across(out, gyrator)])
        };
        self.gone.iter().filter_map(ends).flatten().collect()
    }

    /// Takes gyrators away, or adds them.
    pub fn carry_out(self, net: &mut Net) -> Vec<Step> {
        let mut steps = Vec::new();
        let may_go = |t: &ThingId| net.may_drop(*t, &Vec::new()).is_ok();
        if !self.gone.is_empty() && self.gone.iter().all(may_go) {
            let labels: Vec<String> = self.gone.iter().map(|&t| net.label(t)).collect();
            steps.push(Step {
                rule: "minimal",
                text: format!(
                    "{} go: together they are what moving transformers give, which the energy of the field holds",
                    labels.join(", ")
                ),
            });
            for gyrator in self.gone {
                net.drop(gyrator, Vec::new());
            }
        }
        for (from, modulus, to) in self.added {
            let modulus = net.carried_text(&modulus);
            let line = format!("{from} -> GY({modulus}) -> {to}");
            steps.push(Step {
                rule: "minimal",
                text: format!("`{line}`: the modulus of a transformer changes with another motion than its own, without power"),
            });
            net.added.push(line);
        }
        steps
    }
}

/// `a -> GY(r) -> b` at the coordinates.
pub(crate) fn gyrator(algebra: &mut Algebra, loads: &mut Loads, r: ExprId, (a, b): (&Form, &Form)) {
    for (&i, &ti) in a {
        for (&j, &tj) in b {
            if i == j {
                continue;
            }
            let pool = &mut algebra.pool;
            let product = pool.mul(ti, tj);
            let value = pool.mul(r, product);
            let (pair, value) = match i < j {
                true => ((i, j), value),
                false => ((j, i), pool.neg(value)),
            };
            add(algebra, loads, pair, value);
        }
    }
}

fn add(algebra: &mut Algebra, loads: &mut Loads, pair: (ThingId, ThingId), value: ExprId) {
    let zero = algebra.pool.number(0.0);
    let entry = loads.entry(pair).or_insert(zero);
    *entry = algebra.pool.add(*entry, value);
}

/// The gyrators that come with the masses of a field.
fn derived(algebra: &mut Algebra, net: &Net, places: &Places, field: &Field) -> Loads {
    let mut loads = Loads::new();
    let mut kinematics = Kinematics::new(net);
    for mass in &field.masses {
        let p = momentum(algebra, net, (mass.inertia, &mass.form));
        for place in &field.all_places {
            // `Field::of` has seen that it has a form.
            let Ok(mover) = kinematics.of(algebra, place.junction) else {
                continue;
            };
            let mover = resolved(algebra, places, mover);
            for (&i, &t) in &mass.form {
                // `Field::of` has seen that every modulus has a slope.
                let Some(slope) = algebra.slope(t, &place.name) else {
                    continue;
                };
                let one = algebra.pool.number(1.0);
                let product = algebra.pool.mul(p, slope);
                let r = algebra.pool.neg(product);
                gyrator(algebra, &mut loads, r, (&Form::from([(i, one)]), &mover));
            }
        }
    }
    loads
}

/// The gyrators of the model that momenta of the field modulate, at the coordinates; none of them where one cannot be read.
fn existing(
    algebra: &mut Algebra,
    net: &Net,
    places: &Places,
    field: &Field,
) -> (Loads, Vec<ThingId>) {
    let mut momenta: BTreeMap<String, ExprId> = BTreeMap::new();
    for mass in &field.masses {
        if let Some(name) = &net.things[mass.thing].name {
            let p = momentum(algebra, net, (mass.inertia, &mass.form));
            momenta.insert(format!("{name}.p"), p);
        }
    }
    let mut loads = Loads::new();
    let mut found = Vec::new();
    let mut kinematics = Kinematics::new(net);
    for thing in net.alive() {
        let (Kind::Gy, Some(gain)) = (net.things[thing].kind, &net.things[thing].gain) else {
            continue;
        };
        let Some(r) = algebra.read(gain) else {
            continue;
        };
        if !momenta.keys().any(|p| algebra.reads(r, p)) {
            continue;
        }
        let ends = net.in_out(thing).and_then(|(into, out)| {
            let (a, b) = (net.across(into, thing), net.across(out, thing));
            let a = kinematics.of(algebra, a).ok()?;
            let b = kinematics.of(algebra, b).ok()?;
            Some((resolved(algebra, places, a), resolved(algebra, places, b)))
        });
        let Some((a, b)) = ends else {
            return (Loads::new(), Vec::new());
        };
        let r = algebra.with(r, &|name| momenta.get(name).copied());
        let r = places.resolved(algebra, r);
        gyrator(algebra, &mut loads, r, (&a, &b));
        found.push(thing);
    }
    (loads, found)
}

/// p = J Σ t_i v_i
fn momentum(algebra: &mut Algebra, net: &Net, (inertia, form): (ExprId, &Form)) -> ExprId {
    let mut flow = algebra.pool.number(0.0);
    for (&i, &t) in form {
        let name = net.things[i].name.clone().unwrap_or_default();
        let v = algebra.name(&format!("{name}.f"));
        let term = algebra.pool.mul(t, v);
        flow = algebra.pool.add(flow, term);
    }
    algebra.pool.mul(inertia, flow)
}

fn resolved(algebra: &mut Algebra, places: &Places, form: Form) -> Form {
    let entries = form.into_iter();
    entries
        .map(|(at, t)| (at, places.resolved(algebra, t)))
        .collect()
}
