//! What moduli read: places, and the junctions that move them.
//!
//! In:  the statements of a model.
//! Out: `der(x) = j.f` and `c.q` of a C at a 1-junction as [`Place`]s; other signals as what they are defined by.

use crate::algebra::Algebra;
use crate::net::{Kind, Net, ThingId};
use crate::read::Source;
use paynter::symbolic::ExprId;
use paynter::syntax::ast::StmtKind;
use std::collections::BTreeMap;

/// Definitions may lead to definitions; longer chains are circles.
const MAX_DEPTH: usize = 20;

/// Where a place has its rate from.
#[derive(Clone, Debug, PartialEq)]
pub enum Holder {
    /// `der(x) = j.f`, a statement of the model.
    Statement(usize),
    /// The C whose `.q` it is.
    Spring(ThingId),
}

/// Something whose rate is the flow of a junction.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// How it is read: `x`, `spring.q`.
    pub name: String,
    /// The 1-junction.
    pub junction: ThingId,
    /// Where it is kept.
    pub holder: Holder,
}

/// Places and signals of a model.
pub struct Places {
    places: BTreeMap<String, Place>,
    signals: BTreeMap<String, String>,
}

impl Places {
    /// Reads them.
    pub fn read(net: &Net, source: &Source<'_>) -> Places {
        let mut found = Places {
            places: BTreeMap::new(),
            signals: BTreeMap::new(),
        };
        for (at, statement) in source.model.body.iter().enumerate() {
            match &statement.kind {
                StmtKind::Define(d) => {
                    let name = source.slice(d.target.span);
                    let value = source.slice(d.value.span);
                    match d.is_derivative {
                        true => found.add_state(net, name, &value, at),
                        false => found.add_signal(net, name, value),
                    }
                }
                StmtKind::Output(decls) => {
                    for d in decls {
                        if let Some(value) = &d.value {
                            let value = source.slice(value.span);
                            found.add_signal(net, d.name.text.to_string(), value);
                        }
                    }
                }
                _ => {}
            }
        }
        found.add_springs(net);
        found
    }

    fn add_signal(&mut self, net: &Net, name: String, value: String) {
        if !net.constants.contains(&name) {
            self.signals.insert(name, value);
        }
    }

    fn add_state(&mut self, net: &Net, name: String, rate: &str, at: usize) {
        let junction = rate.strip_suffix(".f").and_then(|j| named(net, j));
        let is_one = |j: &ThingId| net.things[*j].kind == Kind::One;
        if let Some(junction) = junction.filter(is_one) {
            let holder = Holder::Statement(at);
            self.places.insert(
                name.clone(),
                Place {
                    name,
                    junction,
                    holder,
                },
            );
        }
    }

    fn add_springs(&mut self, net: &Net) {
        for thing in net.alive() {
            let (Kind::C, Some(name)) = (net.things[thing].kind, &net.things[thing].name) else {
                continue;
            };
            let bonds = net.at(thing);
            let &[bond] = bonds.as_slice() else { continue };
            let junction = net.across(bond, thing);
            if net.things[junction].kind == Kind::One && net.bonds[bond].head == thing {
                let name = format!("{name}.q");
                let holder = Holder::Spring(thing);
                self.places.insert(
                    name.clone(),
                    Place {
                        name,
                        junction,
                        holder,
                    },
                );
            }
        }
    }

    /// The place of this name.
    pub fn get(&self, name: &str) -> Option<&Place> {
        self.places.get(name)
    }

    /// An expression in places: signals are replaced by what they are.
    pub fn resolved(&self, algebra: &mut Algebra, e: ExprId) -> ExprId {
        let mut e = e;
        for _ in 0..MAX_DEPTH {
            let read = algebra.varying(e);
            let defined = read.iter().filter_map(|name| {
                let text = self.signals.get(name)?;
                Some((name.clone(), text.clone()))
            });
            let defined: Vec<(String, String)> = defined.collect();
            if defined.is_empty() {
                return e;
            }
            let mut images = BTreeMap::new();
            for (name, text) in defined {
                if let Some(image) = algebra.read(&text) {
                    images.insert(name, image);
                }
            }
            e = algebra.with(e, &|name| images.get(name).copied());
        }
        e
    }
}

fn named(net: &Net, name: &str) -> Option<ThingId> {
    let is_it = |t: &ThingId| net.things[*t].name.as_deref() == Some(name);
    net.alive().into_iter().find(is_it)
}
