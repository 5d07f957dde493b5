//! The electrical side of a motor, seen from its shaft: R = Rm + K²/Ra (Tiernego & van Dixhoorn 1979).
//!
//! A 1-junction with a resistor, sources of effort and a gyrator has no storage: its flow follows from what is outside. i = (u − K ω)/Ra, so that the
//! shaft sees a torque K u/Ra and a resistor K²/Ra. What the source gives and the resistor takes is another sum then.

use crate::expression::{negative, product, quotient, square, sum};
use crate::net::{Image, Images, Kind, Net, Step, ThingId};

/// Names that tell of supplied and lost energy.
const BOOKS: &[&str] = &["system.supplied", "system.dissipated", "system.residual"];

/// Takes a junction with a gyrator, one resistor and sources away.
pub fn motor(net: &mut Net) -> Option<Step> {
    let junctions = net.alive().into_iter();
    let junctions: Vec<ThingId> = junctions
        .filter(|&t| net.things[t].kind == Kind::One)
        .collect();
    junctions.into_iter().find_map(|coil| seen_from(net, coil))
}

/// What stands at the junction.
struct Side {
    gyrator: ThingId,
    resistor: ThingId,
    sources: Vec<ThingId>,
    near: ThingId,
    /// The arrow of the gyrator points to the shaft.
    is_forward: bool,
}

fn side(net: &Net, coil: ThingId) -> Option<Side> {
    let (mut gyrator, mut resistor, mut sources) = (None, None, Vec::new());
    for bond in net.at(coil) {
        let other = net.across(bond, coil);
        if !net.is_plain(bond) || net.things[other].gain.is_none() {
            return None;
        }
        match net.things[other].kind {
            Kind::Gy if gyrator.is_none() => gyrator = Some(other),
            Kind::R if resistor.is_none() => resistor = Some(other),
            Kind::Se if net.bonds[bond].head == coil => sources.push(other),
            _ => return None,
        }
    }
    let gyrator = gyrator?;
    let (into, out) = net.in_out(gyrator)?;
    let is_forward = net.across(into, gyrator) == coil;
    let near = net.across(if is_forward { out } else { into }, gyrator);
    let is_one = net.things[near].kind == Kind::One && net.things[near].name.is_some();
    (is_one && near != coil && !sources.is_empty()).then_some(Side {
        gyrator,
        resistor: resistor?,
        sources,
        near,
        is_forward,
    })
}

fn seen_from(net: &mut Net, coil: ThingId) -> Option<Step> {
    let side = side(net, coil)?;
    let gain = |t: ThingId| net.things[t].gain.clone().unwrap_or_default();
    let (k, ra) = (gain(side.gyrator), gain(side.resistor));
    let label = net.label(coil);
    if let Some(why) = refusal(net, &ra) {
        net.refuse("motor", &format!("{label} stays: {why}"));
        return None;
    }
    let shaft = net.things[side.near].name.clone()?;
    // i = (Σu ∓ K ω)/Ra
    let volts = side.sources.iter().map(|&s| gain(s));
    let volts = volts.reduce(|a, b| sum(&a, &b))?;
    let back = product(&k, &format!("{shaft}.f"));
    let back = match side.is_forward {
        true => negative(&back),
        false => back,
    };
    let current = quotient(&sum(&volts, &back), &ra);
    let images_of = |kind: Kind, own: &str| -> Images {
        let f = ("f", Image::of(current.clone()));
        match kind {
            Kind::R => vec![f, ("e", Image::of(product(&ra, &current)))],
            Kind::Se => vec![f, ("e", Image::of(own))],
            _ => vec![f],
        }
    };
    let ports = [coil, side.resistor]
        .into_iter()
        .chain(side.sources.clone());
    let mut going: Vec<(ThingId, Images)> = ports
        .map(|t| (t, images_of(net.things[t].kind, &gain(t))))
        .collect();
    going.push((side.gyrator, Vec::new()));
    let mut may_go = going.iter();
    if !may_go.all(|(t, images)| net.can_drop("motor", *t, images)) {
        return None;
    }

    let resistance = quotient(&square(&k), &ra);
    let text = format!(
        "{label} moves over {} to `{shaft}`: R({resistance}) and a torque; what the source gives and the resistor takes is counted at the shaft from now on",
        net.label(side.gyrator),
    );
    let [resistor, source] = [side.resistor, side.sources[0]].map(|t| name_at(net, t, &shaft));
    let owner = net.things[side.gyrator].owner?;
    for (thing, images) in going {
        net.drop(thing, images);
    }
    let resistor = net.make(resistor, Kind::R, &resistance, owner);
    net.bond(side.near, resistor, owner);
    let torque = quotient(&product(&k, &volts), &ra);
    let source = net.make(source, Kind::Se, &torque, owner);
    match side.is_forward {
        true => net.bond(source, side.near, owner),
        false => net.bond(side.near, source, owner),
    };
    Some(Step {
        rule: "motor",
        text,
    })
}

/// Why a coil with this resistance has to stay, if it has to.
fn refusal(net: &Net, ra: &str) -> Option<String> {
    if !net.is_constant(ra) {
        return Some(format!(
            "`{ra}` may vanish, and the shaft's resistor divides by it"
        ));
    }
    let book = BOOKS.iter().find(|b| net.reads.contains(**b))?;
    Some(format!(
        "`{book}` is read, and the losses at the shaft are other ones"
    ))
}

fn name_at(net: &mut Net, thing: ThingId, shaft: &str) -> Option<String> {
    let own = net.things[thing].name.clone()?;
    Some(net.fresh(&format!("{own}_{shaft}")))
}
