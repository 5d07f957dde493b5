//! `reduce --assume "turn.f << Omega"`: moduli without what is small.
//!
//! In:  a net, and what is small beside what.
//! Out: the net with moduli in which the small quantity is zero; gyrators go of which nothing is left. What was dropped and what was kept, at the coordinates.
//!
//! Inertias and gyrators at junctions whose flow sources give only load these sources. They go first (the motion is exact, the load of the source is lost), and
//! their momenta in moduli become flows; so an addend that is small can be seen. Only moduli are cut, at both ends of a gyrator at once: what is left keeps power, and
//! the error is of the first order in what was dropped beside what was kept.

use crate::algebra::Algebra;
use crate::kinematics::{Form, GIVEN, Kinematics};
use crate::minimal::{clear, flow_text, gyrator};
use crate::net::{Image, Images, Kind, Net, Step, ThingId};
use paynter::symbolic::ExprId;
use std::collections::BTreeMap;

/// What is small beside what.
pub struct Smallness {
    /// The flow of a 1-junction, an input or a parameter.
    pub small: String,
    /// What a modulus keeps.
    pub large: String,
}

/// What was cut.
pub struct Truncated {
    /// What was done.
    pub steps: Vec<Step>,
    /// Dropped and kept, as expressions of the model as it was.
    pub shares: Vec<(String, String)>,
}

/// Cuts moduli.
///
/// # Errors
///
/// The small quantity is none of the model, is read where it cannot be left out, or no modulus has anything large beside it.
pub fn truncate(net: &mut Net, what: &Smallness) -> Result<Truncated, String> {
    let mut cutter = Cutter {
        algebra: Algebra::new(&net.constants),
        momenta: BTreeMap::new(),
        steps: Vec::new(),
    };
    cutter.check(net, what)?;
    cutter.give_junctions(net);
    let plan = cutter.cuts(net, what)?;
    let shares = cutter.shares(net, &plan);
    cutter.leave_out_driven(net)?;
    cutter.carry_out(net, plan)?;
    cutter.steps.extend(clear(&mut cutter.algebra, net));
    Ok(Truncated {
        steps: cutter.steps,
        shares,
    })
}

/// A modulus that is cut.
struct Cut {
    two_port: ThingId,
    dropped: ExprId,
    kept: ExprId,
}

struct Cutter {
    algebra: Algebra,
    /// Momenta of driven inertias in flows.
    momenta: BTreeMap<String, ExprId>,
    steps: Vec<Step>,
}

impl Cutter {
    fn check(&mut self, net: &Net, what: &Smallness) -> Result<(), String> {
        for (side, missing) in [(&what.small, "what is small"), (&what.large, "beside what")] {
            if side.is_empty() {
                return Err(format!("it does not say {missing}"));
            }
            if side.contains("<<") || side.contains(">>") {
                return Err("it compares more than two quantities".to_owned());
            }
        }
        let mut known = |name: &str| match name.strip_suffix(".f") {
            Some(junction) => {
                let is_it = |t: &ThingId| net.things[*t].name.as_deref() == Some(junction);
                net.alive().into_iter().find(is_it).is_some_and(|t| {
                    let form = Kinematics::new(net).of(&mut self.algebra, t);
                    form.is_ok_and(|f| f.contains_key(&t))
                })
            }
            None => net.names.contains(name),
        };
        match known(&what.small) {
            true => Ok(()),
            false => Err(format!(
                "`{}` is neither a name of the model nor the flow of a 1-junction that follows from no other",
                what.small
            )),
        }
    }

    /// The flow of a thing where sources alone give it.
    fn driven(&mut self, net: &Net, form: &Form) -> bool {
        let is_set = |&c: &ThingId| {
            let at = net.at(c).into_iter();
            c == GIVEN
                || at
                    .map(|b| net.across(b, c))
                    .any(|t| net.things[t].kind == Kind::Sf)
        };
        form.keys().filter(|&&c| c != GIVEN).all(is_set)
    }

    /// Puts a 1-junction before inertias that only load sources and stand at a sum of flows: a 0-junction without a way out would tie
    /// what it only sums.
    fn give_junctions(&mut self, net: &mut Net) {
        for thing in net.alive() {
            let bonds = net.at(thing);
            let (Kind::I, &[bond]) = (net.things[thing].kind, bonds.as_slice()) else {
                continue;
            };
            let form = Kinematics::new(net).of_bond(&mut self.algebra, bond);
            let is_sum = net.things[net.bonds[bond].tail].kind == Kind::Zero;
            if !is_sum || !form.is_ok_and(|form| self.driven(net, &form)) {
                continue;
            }
            let own = net.things[thing].name.clone().unwrap_or_default();
            let name = net.fresh(&format!("{own}_rate"));
            let owner = net.bonds[bond].owner;
            let made = net.make(Some(name), Kind::One, "", owner);
            net.things[made].def = Kind::One.letters().to_owned();
            net.things[made].gain = None;
            net.move_end(bond, thing, made);
            net.bond(made, thing, owner);
        }
    }

    /// Inertias that only load sources.
    fn driven_inertias(&mut self, net: &Net) -> Vec<(ThingId, ThingId, String, Form)> {
        let mut found = Vec::new();
        for thing in net.alive() {
            let bonds = net.at(thing);
            let (Kind::I, Some(gain), &[bond]) = (
                net.things[thing].kind,
                net.things[thing].gain.clone(),
                bonds.as_slice(),
            ) else {
                continue;
            };
            let junction = net.bonds[bond].tail;
            let form = Kinematics::new(net).of_bond(&mut self.algebra, bond);
            if let Ok(form) = form
                && net.things[junction].kind == Kind::One
                && self.driven(net, &form)
            {
                found.push((thing, junction, gain, form));
            }
        }
        found
    }

    /// The moduli that read what is small.
    fn cuts(&mut self, net: &Net, what: &Smallness) -> Result<Vec<Cut>, String> {
        for (thing, _, gain, form) in self.driven_inertias(net) {
            let (Some(name), Some(gain)) =
                (net.things[thing].name.clone(), self.algebra.read(&gain))
            else {
                continue;
            };
            let flow = flow_text(&mut self.algebra, net, &form);
            let flow = self.algebra.read(&flow).ok_or("a flow cannot be read")?;
            let p = self.algebra.pool.mul(gain, flow);
            self.momenta.insert(format!("{name}.p"), p);
        }
        let mut cuts = Vec::new();
        for thing in net.alive() {
            let (true, Some(gain)) = (
                net.things[thing].kind.is_two_port(),
                net.things[thing].gain.clone(),
            ) else {
                continue;
            };
            let Some(modulus) = self.algebra.read(&gain) else {
                continue;
            };
            let modulus = self.in_coordinates(net, modulus);
            if !self.algebra.reads(modulus, &what.small) {
                continue;
            }
            let zero = self.algebra.pool.number(0.0);
            let kept = self
                .algebra
                .with(modulus, &|name| (name == what.small).then_some(zero));
            let kept = self.algebra.short(kept);
            let rest = self.algebra.pool.sub(modulus, kept);
            let dropped = self.algebra.short(rest);
            if net.things[thing].kind == Kind::Tf && self.algebra.is_zero(kept) {
                return Err(format!("nothing would be left of {}", net.label(thing)));
            }
            cuts.push(Cut {
                two_port: thing,
                dropped,
                kept,
            });
        }
        let algebra = &mut self.algebra;
        match cuts.iter().any(|c| algebra.reads(c.kept, &what.large)) {
            true => Ok(cuts),
            false => Err(format!(
                "no modulus has `{}` beside `{}`",
                what.large, what.small
            )),
        }
    }

    /// Momenta and flows in flows of coordinates.
    fn in_coordinates(&mut self, net: &Net, e: ExprId) -> ExprId {
        let momenta = self.momenta.clone();
        let e = self.algebra.with(e, &|name| momenta.get(name).copied());
        let mut flows = BTreeMap::new();
        for name in self.algebra.varying(e) {
            let Some(junction) = name.strip_suffix(".f") else {
                continue;
            };
            let is_it = |t: &ThingId| net.things[*t].name.as_deref() == Some(junction);
            let Some(t) = net.alive().into_iter().find(is_it) else {
                continue;
            };
            let form = Kinematics::new(net).of(&mut self.algebra, t);
            if let Ok(form) = form
                && !form.contains_key(&t)
            {
                let text = flow_text(&mut self.algebra, net, &form);
                flows.extend(self.algebra.read(&text).map(|e| (name, e)));
            }
        }
        self.algebra.with(e, &|name| flows.get(name).copied())
    }

    /// What gyrators load the coordinates with: dropped and kept.
    fn shares(&mut self, net: &Net, cuts: &[Cut]) -> Vec<(String, String)> {
        let (mut dropped, mut kept) = (BTreeMap::new(), BTreeMap::new());
        let mut shares = Vec::new();
        for cut in cuts {
            let ends = net.in_out(cut.two_port).and_then(|(into, out)| {
                let (a, b) = (
                    net.across(into, cut.two_port),
                    net.across(out, cut.two_port),
                );
                let mut kinematics = Kinematics::new(net);
                let a = kinematics.of(&mut self.algebra, a).ok()?;
                Some((a, kinematics.of(&mut self.algebra, b).ok()?))
            });
            match (net.things[cut.two_port].kind, ends) {
                (Kind::Gy, Some((a, b))) => {
                    gyrator(&mut self.algebra, &mut dropped, cut.dropped, (&a, &b));
                    gyrator(&mut self.algebra, &mut kept, cut.kept, (&a, &b));
                }
                _ => shares.push((self.algebra.text(cut.dropped), self.algebra.text(cut.kept))),
            }
        }
        for (pair, e) in dropped {
            let whole = kept.get(&pair).copied();
            let whole = whole.unwrap_or_else(|| self.algebra.pool.number(0.0));
            if self.algebra.is_zero(e) {
                continue;
            }
            let (e, whole) = (self.algebra.short(e), self.algebra.short(whole));
            shares.push((self.algebra.text(e), self.algebra.text(whole)));
        }
        shares
    }

    /// Takes away what only loads sources.
    fn leave_out_driven(&mut self, net: &mut Net) -> Result<(), String> {
        let mut gone: Vec<(ThingId, Images)> = Vec::new();
        for (thing, junction, gain, _) in self.driven_inertias(net) {
            let name = net.things[junction].name.clone().unwrap_or_default();
            let flow = format!("{name}.f");
            let images = vec![("f", Image::same(&flow)), ("p", Image::times(&gain, &flow))];
            gone.push((thing, images));
        }
        for thing in net.alive() {
            let ends = net
                .in_out(thing)
                .filter(|_| net.things[thing].kind == Kind::Gy);
            let Some((into, out)) = ends else { continue };
            let mut is_driven = |t: ThingId| {
                let form = Kinematics::new(net).of(&mut self.algebra, t);
                form.is_ok_and(|f| self.driven(net, &f))
            };
            if is_driven(net.across(into, thing)) && is_driven(net.across(out, thing)) {
                gone.push((thing, Vec::new()));
            }
        }
        for (thing, images) in &gone {
            net.may_drop(*thing, images)?;
        }
        let labels: Vec<String> = gone.iter().map(|(t, _)| net.label(*t)).collect();
        if !labels.is_empty() {
            self.steps.push(Step {
                rule: "substitute",
                text: format!(
                    "{} only load sources of flow and go; what they hold and take is lost",
                    labels.join(", ")
                ),
            });
        }
        for (thing, images) in gone {
            net.drop(thing, images);
        }
        Ok(())
    }

    fn carry_out(&mut self, net: &mut Net, cuts: Vec<Cut>) -> Result<(), String> {
        for cut in cuts {
            if !net.things[cut.two_port].is_alive {
                continue;
            }
            let label = net.label(cut.two_port);
            let (kept, dropped) = (self.algebra.text(cut.kept), self.algebra.text(cut.dropped));
            if self.algebra.is_zero(cut.kept) {
                net.may_drop(cut.two_port, &Vec::new())?;
                net.drop(cut.two_port, Vec::new());
                self.steps.push(Step {
                    rule: "truncate",
                    text: format!("{label} goes: all of `{dropped}` is small"),
                });
                continue;
            }
            let kind = net.things[cut.two_port].kind;
            net.redefine(cut.two_port, kind, &kept);
            self.steps.push(Step {
                rule: "truncate",
                text: format!("{label} keeps `{kept}` and loses `{dropped}`"),
            });
        }
        Ok(())
    }
}
