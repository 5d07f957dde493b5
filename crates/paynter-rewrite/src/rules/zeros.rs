//! Zeros: sources of zero, junctions that stand still or are grounded, resistors and two-ports of value zero.
//!
//! A source of zero is idle where the other variable is shared: `Se(0)` at a 1, `Sf(0)` at a 0. Elsewhere it holds its junction: nothing
//! there takes or gives power any more, and what is behind a two-port is held in turn.

use crate::expression::{is_number, product};
use crate::net::{BondId, Image, Images, Kind, Net, Step, ThingId};

fn zero_image() -> Image {
    Image::of("0")
}

fn is_zero(net: &Net, thing: ThingId) -> bool {
    let gain = net.things[thing].gain.as_ref();
    gain.is_some_and(|g| is_number(&net.carried_text(g), 0.0))
}

/// `Se(0)` and `Sf(0)`.
pub fn zero(net: &mut Net) -> Option<Step> {
    for source in net.alive() {
        let kind = net.things[source].kind;
        if !matches!(kind, Kind::Se | Kind::Sf) || !is_zero(net, source) {
            continue;
        }
        let bonds = net.at(source);
        let &[bond] = bonds.as_slice() else { continue };
        if !net.is_plain(bond) {
            continue;
        }
        let at = net.across(bond, source);
        let step = match (kind, net.things[at].kind) {
            (Kind::Se, Kind::One) | (Kind::Sf, Kind::Zero) => idle_source(net, source, at),
            (Kind::Se, Kind::Zero) | (Kind::Sf, Kind::One) => held(net, source, at),
            (_, Kind::Tf | Kind::Gy) => through(net, source, at),
            _ => None,
        };
        if step.is_some() {
            return step;
        }
    }
    None
}

fn idle_source(net: &mut Net, source: ThingId, junction: ThingId) -> Option<Step> {
    let (own, shared) = match net.things[source].kind {
        Kind::Se => ("e", "f"),
        _ => ("f", "e"),
    };
    if net.at(junction).len() < 3 && !net.things[junction].has_hidden_bonds {
        return None;
    }
    let mut images: Images = vec![
        (own, zero_image()),
        ("power", zero_image()),
        ("energy", zero_image()),
    ];
    if let Some(name) = &net.things[junction].name {
        images.push((shared, Image::same(&format!("{name}.{shared}"))));
    }
    if !net.can_drop("zero", source, &images) {
        return None;
    }
    let text = format!(
        "{} adds nothing to {}",
        net.label(source),
        net.label(junction)
    );
    net.drop(source, images);
    Some(Step { rule: "zero", text })
}

/// A junction that is held at zero: everything there falls away, and two-ports are held at their other side.
fn held(net: &mut Net, source: ThingId, junction: ThingId) -> Option<Step> {
    let kind = net.things[source].kind;
    let shared = net.things[junction].kind.shared();
    // What holds it carries the rest, which nobody may ask for.
    let carried: Images = vec![
        (shared, zero_image()),
        ("power", zero_image()),
        ("energy", zero_image()),
    ];
    let own: Images = vec![(shared, zero_image())];
    if !net.can_drop("zero", source, &carried) || !net.can_drop("zero", junction, &own) {
        return None;
    }
    let Around { fallen, kept } = around(net, source, junction)?;

    let mut names: Vec<String> = fallen.iter().map(|(t, _)| net.label(*t)).collect();
    names.sort();
    let what = match kind {
        Kind::Sf => "stands still",
        _ => "is grounded",
    };
    let with = match names.is_empty() {
        true => String::new(),
        false => format!(", and {} there with it", names.join(", ")),
    };
    let text = format!("{} {what}{with}", net.label(junction));
    for (bond, other) in kept {
        let owner = net.bonds[bond].owner;
        let held = net.make(None, kind, "0", owner);
        match net.bonds[bond].tail == other {
            true => net.bond(other, held, owner),
            false => net.bond(held, other, owner),
        };
    }
    for (thing, images) in fallen {
        // A momentum that nothing changes stays at its start, zero; so does a displacement.
        let letter = match net.things[thing].kind {
            Kind::I => Some("p"),
            Kind::C => Some("q"),
            _ => None,
        };
        if let (Some(name), Some(letter)) = (net.things[thing].name.clone(), letter) {
            net.tie(&format!("{name}.{letter}"), "0");
        }
        net.drop(thing, images);
    }
    net.drop(source, carried);
    net.drop(junction, own);
    Some(Step { rule: "zero", text })
}

/// What is bonded to a junction that is held at zero.
struct Around {
    /// One-ports that fall away, with what they are from then on.
    fallen: Vec<(ThingId, Images)>,
    /// Two-ports, which are held at their other side.
    kept: Vec<(BondId, ThingId)>,
}

/// Sorts what is bonded to a junction beside its source; none if something there has to stay.
fn around(net: &mut Net, source: ThingId, junction: ThingId) -> Option<Around> {
    let by = net.things[source].kind;
    let (mut fallen, mut kept) = (Vec::new(), Vec::new());
    for bond in net.at(junction) {
        let other = net.across(bond, junction);
        if other == source {
            continue;
        }
        if !net.is_plain(bond) {
            return None;
        }
        let kind = net.things[other].kind;
        match kind {
            Kind::Zero | Kind::One if kind != net.things[junction].kind => {}
            _ if kind.is_one_port() => {
                let name = net.things[other].name.clone().unwrap_or_default();
                // A start value of something else gives it a constant that is not zero.
                let is_free = |q: &&str| net.may_tie(&format!("{name}.{q}"));
                if !["p", "q"].iter().all(is_free) {
                    return None;
                }
                let images = at_rest(net, other, by)?;
                if !net.can_drop("zero", other, &images) {
                    return None;
                }
                fallen.push((other, images));
            }
            Kind::Zero | Kind::One => return None,
            _ => kept.push((bond, other)),
        }
    }
    Some(Around { fallen, kept })
}

/// What an element does whose effort (held by Se) or flow (held by Sf) is zero; none if it may act all the same.
fn at_rest(net: &mut Net, thing: ThingId, by: Kind) -> Option<Images> {
    let t = &net.things[thing];
    let held = if by == Kind::Se { "e" } else { "f" };
    let value = t.gain.clone();
    let zero_power = [("power", zero_image()), ("energy", zero_image())];
    let mut images: Images = vec![(held, zero_image())];
    images.extend(zero_power);
    let stays = |net: &mut Net, why: &str| {
        let label = net.label(thing);
        net.refuse("zero", &format!("{label} stays: {why}"));
        None
    };
    match (t.kind, by) {
        (Kind::R, _) => match value {
            Some(_) => images.extend([("e", zero_image()), ("f", zero_image())]),
            None => return stays(net, "its law need not be zero at zero"),
        },
        // The stored quantity does not change; nobody gave it a start, so it is zero.
        (Kind::I, _) | (Kind::C, _) => {
            let name = t.name.clone().unwrap_or_default();
            let letter = if t.kind == Kind::I { "p" } else { "q" };
            let has_start = net
                .assigned
                .iter()
                .any(|p| p.starts_with(&format!("{name}.")));
            if has_start {
                return stays(net, "it has a start value");
            }
            images.push((letter, zero_image()));
            if value.is_some() {
                images.extend([
                    ("e", zero_image()),
                    ("f", zero_image()),
                    ("stored", zero_image()),
                ]);
            }
        }
        (Kind::Se, Kind::Sf) => images.push(("e", Image::of(value?))),
        (Kind::Sf, Kind::Se) => images.push(("f", Image::of(value?))),
        _ => return None,
    }
    Some(images)
}

/// A source of zero at one side of a two-port is one at the other.
fn through(net: &mut Net, source: ThingId, two_port: ThingId) -> Option<Step> {
    let kind = net.things[source].kind;
    let gain = net.things[two_port].gain.clone()?;
    let (into, out) = net.in_out(two_port)?;
    let (before, behind) = (net.across(into, two_port), net.across(out, two_port));
    let is_before = before == source;
    let far = if is_before { behind } else { before };
    if !net.is_plain(into) || !net.is_plain(out) || net.things[far].kind.is_one_port() {
        return None;
    }
    let is_gyrator = net.things[two_port].kind == Kind::Gy;
    // e₁ = n e₂ and f₂ = n f₁; e₁ = r f₂ and e₂ = r f₁: one way holds for every modulus, the other divides by it.
    let divides = match (is_gyrator, kind) {
        (true, Kind::Se) => true,
        (true, _) => false,
        (false, Kind::Se) => is_before,
        (false, _) => !is_before,
    };
    if divides && !net.is_constant(&gain) {
        let label = net.label(two_port);
        net.refuse(
            "zero",
            &format!("{label} stays: its modulus may vanish, and what is behind it would move"),
        );
        return None;
    }
    let images: Images = match (kind, is_gyrator, is_before, net.things[far].name.clone()) {
        // f₂ = n f₁ where the far side is a 1-junction.
        (Kind::Se, false, false, Some(name)) if net.things[far].kind == Kind::One => {
            vec![
                ("f", Image::of(product(&gain, &format!("{name}.f")))),
                ("e", zero_image()),
            ]
        }
        _ => vec![(if kind == Kind::Se { "e" } else { "f" }, zero_image())],
    };
    if !net.can_drop("zero", source, &images) || !net.can_drop("zero", two_port, &Vec::new()) {
        return None;
    }
    let text = format!(
        "{} holds the other side of {}",
        net.label(source),
        net.label(two_port)
    );
    let owner = net.bonds[if is_before { out } else { into }].owner;
    net.drop(two_port, Vec::new());
    net.drop(source, images);
    let new_kind = match (is_gyrator, kind) {
        (false, kind) => kind,
        (true, Kind::Se) => Kind::Sf,
        (true, _) => Kind::Se,
    };
    let held = net.make(None, new_kind, "0", owner);
    match is_before {
        true => net.bond(held, far, owner),
        false => net.bond(far, held, owner),
    };
    Some(Step { rule: "zero", text })
}

/// R(0) at a 1-junction; TF(0), GY(0).
pub fn idle(net: &mut Net) -> Option<Step> {
    for thing in net.alive() {
        if !is_zero(net, thing) {
            continue;
        }
        let step = match net.things[thing].kind {
            Kind::R => idle_resistor(net, thing),
            Kind::Tf | Kind::Gy => cut_through(net, thing),
            _ => None,
        };
        if step.is_some() {
            return step;
        }
    }
    None
}

fn idle_resistor(net: &mut Net, thing: ThingId) -> Option<Step> {
    let bonds = net.at(thing);
    let &[bond] = bonds.as_slice() else {
        return None;
    };
    let at = net.across(bond, thing);
    let room = net.at(at).len() > 2 || net.things[at].has_hidden_bonds;
    if net.things[at].kind != Kind::One || !net.is_plain(bond) || !room {
        return None;
    }
    let mut images: Images = vec![
        ("e", zero_image()),
        ("power", zero_image()),
        ("energy", zero_image()),
    ];
    if let Some(name) = &net.things[at].name {
        images.push(("f", Image::same(&format!("{name}.f"))));
    }
    if !net.can_drop("idle", thing, &images) {
        return None;
    }
    let text = format!("{} takes no effort", net.label(thing));
    net.drop(thing, images);
    Some(Step { rule: "idle", text })
}

/// A two-port of modulus zero passes nothing: e₁ = 0 and f₂ = 0, or no effort at both sides.
fn cut_through(net: &mut Net, thing: ThingId) -> Option<Step> {
    let (into, out) = net.in_out(thing)?;
    let (before, behind) = (net.across(into, thing), net.across(out, thing));
    if !net.is_plain(into) || !net.is_plain(out) || !net.can_drop("idle", thing, &Vec::new()) {
        return None;
    }
    let behind_kind = match net.things[thing].kind {
        Kind::Tf => Kind::Sf,
        _ => Kind::Se,
    };
    let text = format!("{} passes nothing on", net.label(thing));
    let (first, second) = (net.bonds[into].owner, net.bonds[out].owner);
    net.drop(thing, Vec::new());
    let a = net.make(None, Kind::Se, "0", first);
    net.bond(before, a, first);
    let b = net.make(None, behind_kind, "0", second);
    net.bond(b, behind, second);
    Some(Step { rule: "idle", text })
}
