//! The flows of 1-junctions as sums over those that nothing else sets.
//!
//! In:  a net.
//! Out: for each 1-junction its [`Form`]: f = Σ t_i f_i over *coordinates*, the 1-junctions that no transformer, 0-junction or 1-junction leads to;
//!      or why there is none.
//!
//! Arrows are followed: `a -> TF(n) -> b` makes b the n-fold of a, and a 0-junction with one way out makes that the sum of its ways in. A
//! 0-junction that also holds an R, C or I lets any flow through, so that what is behind it is a coordinate of its own. One with several ways out gives
//! what is left to the junction without storages: `c -> sum -> a, sum -> rel` says how fast c moves beside a.

use crate::algebra::Algebra;
use crate::net::{BondId, Kind, Net, ThingId};
use paynter::symbolic::ExprId;
use std::collections::{BTreeMap, BTreeSet};

/// f = Σ t_i f_i, by the junction of each coordinate; what sources add to it stands under [`GIVEN`].
pub type Form = BTreeMap<ThingId, ExprId>;

/// In the place of a coordinate: a flow that sources give, whatever moves.
pub const GIVEN: ThingId = ThingId::MAX;

/// What a bond brings along its arrow.
enum Flow {
    /// Any flow.
    Free,
    /// A sum over coordinates.
    Of(Form),
    /// It cannot be told.
    Unknown(String),
}

/// The forms of a net.
pub struct Kinematics<'n> {
    net: &'n Net,
    known: BTreeMap<ThingId, Result<Form, String>>,
    open: BTreeSet<ThingId>,
}

impl<'n> Kinematics<'n> {
    /// Nothing is known yet.
    pub fn new(net: &'n Net) -> Self {
        Kinematics {
            net,
            known: BTreeMap::new(),
            open: BTreeSet::new(),
        }
    }

    /// The flow of a 1-junction.
    ///
    /// # Errors
    ///
    /// Why it is no sum over coordinates.
    pub fn of(&mut self, algebra: &mut Algebra, junction: ThingId) -> Result<Form, String> {
        if let Some(known) = self.known.get(&junction) {
            return known.clone();
        }
        if !self.open.insert(junction) {
            return Err(format!(
                "{} is in a ring of transformers",
                self.net.label(junction)
            ));
        }
        let form = self.find(algebra, junction);
        self.open.remove(&junction);
        self.known.insert(junction, form.clone());
        form
    }

    fn find(&mut self, algebra: &mut Algebra, junction: ThingId) -> Result<Form, String> {
        let net = self.net;
        let label = net.label(junction);
        if net.things[junction].has_hidden_bonds {
            return Err(format!(
                "a port, a block or a vector may set the flow of {label}"
            ));
        }
        let mut found: Option<Form> = None;
        for bond in net.at(junction) {
            let tail = net.bonds[bond].tail;
            if tail == junction || net.things[tail].kind == Kind::Sf {
                continue;
            }
            match self.along(algebra, bond) {
                Flow::Free => {}
                Flow::Unknown(why) => return Err(why),
                Flow::Of(_) if found.is_some() => {
                    return Err(format!("the flow of {label} is given twice"));
                }
                Flow::Of(form) => found = Some(form),
            }
        }
        Ok(found.unwrap_or_else(|| {
            let one = algebra.pool.number(1.0);
            Form::from([(junction, one)])
        }))
    }

    /// The flow that a bond brings from its tail.
    ///
    /// # Errors
    ///
    /// Why it is no sum over coordinates.
    pub fn of_bond(&mut self, algebra: &mut Algebra, bond: BondId) -> Result<Form, String> {
        match self.along(algebra, bond) {
            Flow::Of(form) => Ok(form),
            Flow::Free => Err("its flow is free".to_owned()),
            Flow::Unknown(why) => Err(why),
        }
    }

    fn along(&mut self, algebra: &mut Algebra, bond: BondId) -> Flow {
        let net = self.net;
        let tail = net.bonds[bond].tail;
        match net.things[tail].kind {
            Kind::One => match self.of(algebra, tail) {
                Ok(form) => Flow::Of(form),
                Err(why) => Flow::Unknown(why),
            },
            Kind::Tf => self.through(algebra, tail),
            Kind::Zero => self.out_of(algebra, tail, bond),
            Kind::Sf => match net.things[tail].gain.as_ref().and_then(|g| algebra.read(g)) {
                Some(value) => Flow::Of(Form::from([(GIVEN, value)])),
                None => Flow::Unknown(format!("{} sets its flow", net.label(tail))),
            },
            Kind::Other => Flow::Unknown(format!("{} is not looked into", net.label(tail))),
            _ => Flow::Free,
        }
    }

    fn through(&mut self, algebra: &mut Algebra, two_port: ThingId) -> Flow {
        let net = self.net;
        let unknown = || {
            Flow::Unknown(format!(
                "the modulus of {} cannot be read",
                net.label(two_port)
            ))
        };
        let (Some((into, _)), Some(gain)) = (net.in_out(two_port), &net.things[two_port].gain)
        else {
            return unknown();
        };
        let Some(n) = algebra.read(gain) else {
            return unknown();
        };
        match self.along(algebra, into) {
            Flow::Of(form) => Flow::Of(
                form.into_iter()
                    .map(|(at, t)| (at, algebra.pool.mul(n, t)))
                    .collect(),
            ),
            other => other,
        }
    }

    /// What a 0-junction gives to one bond.
    fn out_of(&mut self, algebra: &mut Algebra, sum: ThingId, out: BondId) -> Flow {
        let net = self.net;
        if net.things[sum].has_hidden_bonds {
            return Flow::Unknown(format!(
                "a port, a block or a vector may act on {}",
                net.label(sum)
            ));
        }
        let others: Vec<BondId> = net.at(sum).into_iter().filter(|&b| b != out).collect();
        let is_kinematic = |k: Kind| {
            matches!(
                k,
                Kind::One | Kind::Zero | Kind::Tf | Kind::Sf | Kind::Other
            )
        };
        let kind_of = |b: BondId| net.things[net.across(b, sum)].kind;
        if others.iter().any(|&b| !is_kinematic(kind_of(b))) {
            return Flow::Free;
        }
        if others.iter().any(|&b| net.bonds[b].tail == sum) {
            match self.what_is_left(sum) {
                Some(left) if left == out => {}
                Some(_) => return Flow::Free,
                None => {
                    let label = net.label(sum);
                    return Flow::Unknown(format!("{label} leads to several junctions"));
                }
            }
        }
        let mut total = Form::new();
        for bond in others {
            let is_in = net.bonds[bond].head == sum;
            let form = match is_in {
                true => self.along(algebra, bond),
                false => match self.of(algebra, net.bonds[bond].head) {
                    Ok(form) => Flow::Of(form),
                    Err(why) => Flow::Unknown(why),
                },
            };
            let form = match form {
                Flow::Of(form) => form,
                other => return other,
            };
            for (at, t) in form {
                let t = if is_in { t } else { algebra.pool.neg(t) };
                let zero = algebra.pool.number(0.0);
                let entry = total.entry(at).or_insert(zero);
                *entry = algebra.pool.add(*entry, t);
            }
        }
        Flow::Of(total)
    }

    /// Of several ways out of a 0-junction the one to a 1-junction without storages that nothing else leads to, if there is just one.
    fn what_is_left(&self, sum: ThingId) -> Option<BondId> {
        let net = self.net;
        let outs = net.at(sum).into_iter();
        let outs: Vec<BondId> = outs.filter(|&b| net.bonds[b].tail == sum).collect();
        let head = |b: BondId| net.bonds[b].head;
        let is_one = |b: BondId| net.things[head(b)].kind == Kind::One;
        if !outs.iter().all(|&b| is_one(b)) {
            return None;
        }
        let is_bare = |&b: &BondId| {
            let across = |o: BondId| net.things[net.across(o, head(b))].kind;
            let leads = |o: BondId| net.bonds[o].head == head(b) && across(o) != Kind::Se;
            net.at(head(b)).into_iter().filter(|&o| o != b).all(|o| {
                !leads(o) && !matches!(across(o), Kind::I | Kind::C | Kind::Sf | Kind::Other)
            })
        };
        let bare: Vec<BondId> = outs.into_iter().filter(is_bare).collect();
        match bare[..] {
            [left] => Some(left),
            _ => None,
        }
    }

    /// Coordinates that are not free: a source sets their flow, or a 0-junction without a way out ties them. Each with what does it.
    pub fn held(&mut self, algebra: &mut Algebra) -> BTreeMap<ThingId, String> {
        let net = self.net;
        let mut held = BTreeMap::new();
        for thing in net.alive() {
            let kind = net.things[thing].kind;
            let bonds = net.at(thing);
            let source = bonds
                .iter()
                .map(|&b| net.across(b, thing))
                .find(|&t| net.things[t].kind == Kind::Sf);
            match kind {
                Kind::One => {
                    if let Err(why) = self.of(algebra, thing) {
                        for at in self.leading_to(algebra, thing) {
                            held.entry(at).or_insert_with(|| why.clone());
                        }
                    }
                    let Some(source) = source else { continue };
                    for at in self.of(algebra, thing).unwrap_or_default().into_keys() {
                        let why = format!(
                            "{} sets the flow of {}",
                            net.label(source),
                            net.label(thing)
                        );
                        held.entry(at).or_insert(why);
                    }
                }
                Kind::Zero if bonds.iter().all(|&b| net.bonds[b].head == thing) => {
                    let is_free = |&b: &BondId| {
                        !matches!(
                            net.things[net.bonds[b].tail].kind,
                            Kind::One | Kind::Zero | Kind::Tf | Kind::Sf | Kind::Other
                        )
                    };
                    if bonds.iter().any(is_free) {
                        continue;
                    }
                    for bond in bonds {
                        let Flow::Of(form) = self.along(algebra, bond) else {
                            continue;
                        };
                        for at in form.into_keys().filter(|&at| at != GIVEN) {
                            let why = format!("{} ties {}", net.label(thing), net.label(at));
                            held.entry(at).or_insert(why);
                        }
                    }
                }
                _ => {}
            }
        }
        held
    }

    /// Coordinates that some bond brings to a junction.
    fn leading_to(&mut self, algebra: &mut Algebra, junction: ThingId) -> Vec<ThingId> {
        let mut found = Vec::new();
        for bond in self.net.at(junction) {
            if self.net.bonds[bond].head == junction
                && let Flow::Of(form) = self.along(algebra, bond)
            {
                found.extend(form.into_keys());
            }
        }
        found
    }
}
