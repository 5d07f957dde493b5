//! An element alone behind a two-port moves over it: BᵀRB, and the dual kinds over a gyrator.

use crate::expression::{product, quotient, square};
use crate::net::{Image, Images, Kind, Net, Step, ThingId};

/// Moves one element over the two-port it stands behind.
pub fn over(net: &mut Net) -> Option<Step> {
    for element in net.alive() {
        let bonds = net.at(element);
        let (true, &[bond]) = (net.things[element].kind.is_one_port(), bonds.as_slice()) else {
            continue;
        };
        let two_port = net.across(bond, element);
        if !net.things[two_port].kind.is_two_port() || !net.is_plain(bond) {
            continue;
        }
        if let Some(step) = move_over(net, element, two_port) {
            return Some(step);
        }
    }
    None
}

/// What the element becomes.
struct Moved {
    kind: Kind,
    gain: String,
    /// It divides by the modulus.
    divides: bool,
    /// It is a storage: the modulus must not vary.
    stores: bool,
}

fn move_over(net: &mut Net, element: ThingId, two_port: ThingId) -> Option<Step> {
    let (into, out) = net.in_out(two_port)?;
    let is_behind = net.across(out, two_port) == element;
    let near = match is_behind {
        true => net.across(into, two_port),
        false => net.across(out, two_port),
    };
    if net.things[near].kind.is_one_port() || !net.is_plain(into) || !net.is_plain(out) {
        return None;
    }
    let value = net.things[element].gain.clone()?;
    let modulus = net.things[two_port].gain.clone()?;
    let is_gyrator = net.things[two_port].kind == Kind::Gy;
    let moved = moved(
        net.things[element].kind,
        &value,
        &modulus,
        (is_gyrator, is_behind),
    )?;
    let label = net.label(element);
    let name = new_name(net, element, near);
    let has_name = name.is_some();
    if let Some(why) = refusal(net, &moved, (element, two_port), has_name) {
        net.refuse("over", &format!("{label} stays: {why}"));
        return None;
    }
    let images = images(
        (net.things[element].kind, &value),
        &modulus,
        name.as_deref(),
        is_gyrator,
    );
    if !net.can_drop("over", element, &images) || !net.can_drop("over", two_port, &Vec::new()) {
        return None;
    }
    let (new, gain) = (moved.kind.letters(), &moved.gain);
    let text = format!("{label} moves over {}: {new}({gain})", net.label(two_port));
    let owner = net.bonds[if is_behind { into } else { out }].owner;
    let named = name.map(|n| net.fresh(&n));
    if let Some(named) = &named {
        remember_origin(net, element, named, (&modulus, is_gyrator));
    }
    net.drop(two_port, Vec::new());
    net.drop(element, images);
    let made = net.make(named, moved.kind, &moved.gain, owner);
    match is_behind {
        true => net.bond(near, made, owner),
        false => net.bond(made, near, owner),
    };
    Some(Step { rule: "over", text })
}

/// Why an element has to stay behind its two-port, if it has to.
fn refusal(
    net: &Net,
    moved: &Moved,
    (element, two_port): (ThingId, ThingId),
    has_name: bool,
) -> Option<String> {
    let value = net.things[element].gain.as_ref()?;
    let modulus = net.things[two_port].gain.as_ref()?;
    if (moved.divides || moved.stores) && !net.is_constant(modulus) {
        let why = match moved.stores {
            true => "its energy would depend on the modulus",
            false => "it would be divided by the modulus, which may vanish",
        };
        return Some(format!("`{modulus}` is not a constant, and {why}"));
    }
    let is_gyrator = net.things[two_port].kind == Kind::Gy;
    if is_gyrator && net.things[element].kind == Kind::R && !net.is_constant(value) {
        return Some(format!(
            "`{value}` may vanish, and over the gyrator it divides"
        ));
    }
    let is_lost = moved.stores && !has_name;
    is_lost.then(|| "a storage needs a name, so that its state can be followed".to_owned())
}

/// f₂ = n f₁, e₁ = n e₂; e₁ = r f₂, e₂ = r f₁.
fn moved(kind: Kind, value: &str, n: &str, (is_gyrator, is_behind): (bool, bool)) -> Option<Moved> {
    let with = |kind, gain, divides, stores| {
        Some(Moved {
            kind,
            gain,
            divides,
            stores,
        })
    };
    let times = |x: &str| product(&square(n), x);
    match (is_gyrator, is_behind, kind) {
        (false, true, Kind::R) => with(Kind::R, times(value), false, false),
        (false, true, Kind::I) => with(Kind::I, times(value), false, true),
        (false, true, Kind::C) => with(Kind::C, quotient(value, &square(n)), true, true),
        (false, true, Kind::Se) => with(Kind::Se, product(n, value), false, false),
        (false, true, Kind::Sf) => with(Kind::Sf, quotient(value, n), true, false),
        (false, false, Kind::Se) => with(Kind::Se, quotient(value, n), true, false),
        (false, false, Kind::Sf) => with(Kind::Sf, product(n, value), false, false),
        (true, true, Kind::R) => with(Kind::R, quotient(&square(n), value), false, false),
        (true, true, Kind::I) => with(Kind::C, quotient(value, &square(n)), true, true),
        (true, true, Kind::C) => with(Kind::I, times(value), false, true),
        (true, _, Kind::Se) => with(Kind::Sf, quotient(value, n), true, false),
        (true, _, Kind::Sf) => with(Kind::Se, product(n, value), false, false),
        _ => None,
    }
}

fn new_name(net: &Net, element: ThingId, near: ThingId) -> Option<String> {
    let own = net.things[element].name.clone()?;
    let near = &net.things[near];
    let beside = match (&near.name, near.kind) {
        (Some(name), k) if k.is_junction() => name.replace(['.', '[', ']'], "_"),
        _ => "moved".to_owned(),
    };
    Some(format!("{own}_{beside}"))
}

/// Effort, flow and what is stored, in those of the moved element.
fn images((kind, value): (Kind, &str), n: &str, name: Option<&str>, is_gyrator: bool) -> Images {
    let Some(name) = name else { return Vec::new() };
    let of = |q: &str| format!("{name}.{q}");
    let inverse = quotient("1", n);
    let times = |factor: &str, q: &str| Image::times(factor, &of(q));
    let mut images: Images = ["power", "energy"]
        .into_iter()
        .map(|q| (q, Image::same(&of(q))))
        .collect();
    if matches!(kind, Kind::C | Kind::I) {
        images.push(("stored", Image::same(&of("stored"))));
    }
    // What an element is given needs no division by a modulus that may vanish.
    match (kind, is_gyrator) {
        (Kind::Se, _) => images.push(("e", Image::of(value))),
        (Kind::Sf, _) => images.push(("f", Image::of(value))),
        (Kind::R, false) => images.push(("e", Image::of(product(value, &product(n, &of("f")))))),
        (Kind::R, true) => {
            images.push(("f", Image::of(quotient(&product(n, &of("f")), value))));
        }
        _ => {}
    }
    // Behind a TF: f = n f₁, e = e₁/n. Behind a GY: e = r f₁, f = e₁/r.
    match is_gyrator {
        false => {
            images.extend([("f", times(n, "f")), ("e", times(&inverse, "e"))]);
            images.extend([("q", times(n, "q")), ("p", times(&inverse, "p"))]);
        }
        true => {
            images.extend([("e", times(n, "f")), ("f", times(&inverse, "e"))]);
            images.extend([("p", times(n, "q")), ("q", times(&inverse, "p"))]);
        }
    }
    images
}

/// The state of the moved storage in that of the old one.
fn remember_origin(net: &mut Net, element: ThingId, new: &str, (n, is_gyrator): (&str, bool)) {
    let Some(old) = net.things[element].name.clone() else {
        return;
    };
    let (state, origin) = match (net.things[element].kind, is_gyrator) {
        (Kind::I, false) => ("p", product(n, &format!("{old}.p"))),
        (Kind::C, false) => ("q", quotient(&format!("{old}.q"), n)),
        (Kind::I, true) => ("q", quotient(&format!("{old}.p"), n)),
        (Kind::C, true) => ("p", product(n, &format!("{old}.q"))),
        _ => return,
    };
    net.origins.insert(format!("{new}.{state}"), origin);
}
