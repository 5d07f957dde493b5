//! Two elements of one kind at one junction are one: values add, or their inverses do.

use crate::expression::{harmonic, product, quotient, square, sum};
use crate::net::{Image, Images, Kind, Net, Step, ThingId};

/// Puts two R, C or I of one junction together.
pub fn parallel(net: &mut Net) -> Option<Step> {
    for junction in net.alive() {
        if !net.things[junction].kind.is_junction() {
            continue;
        }
        let elements: Vec<ThingId> = net
            .at(junction)
            .into_iter()
            .filter(|&b| net.is_plain(b))
            .map(|b| net.across(b, junction))
            .filter(|&t| matches!(net.things[t].kind, Kind::R | Kind::C | Kind::I))
            .filter(|&t| net.things[t].gain.is_some())
            .collect();
        for (k, &a) in elements.iter().enumerate() {
            for &b in &elements[k + 1..] {
                if net.things[a].kind == net.things[b].kind
                    && let Some(step) = together(net, junction, (a, b))
                {
                    return Some(step);
                }
            }
        }
    }
    None
}

fn together(net: &mut Net, junction: ThingId, (a, b): (ThingId, ThingId)) -> Option<Step> {
    let kind = net.things[a].kind;
    let is_one = net.things[junction].kind == Kind::One;
    let (x, y) = (net.things[a].gain.clone()?, net.things[b].gain.clone()?);
    // What is shared is f at a 1 and e at a 0: I and R add at a 1, C at a 0, the others by their inverses.
    let adds = (kind == Kind::C) != is_one;
    let (la, lb) = (net.label(a), net.label(b));
    let names = (net.things[a].name.clone(), net.things[b].name.clone());
    let may_vanish = !net.is_constant(&x) || !net.is_constant(&y);
    let why_not = if !adds && kind != Kind::R && (has_start(net, a, b) || begins_apart(net, b)) {
        "a start value is given, and where the two differ a constant would be lost".to_owned()
    } else if !adds && may_vanish {
        format!("the sum of `{x}` and `{y}` may vanish")
    } else if kind != Kind::R && (names.0.is_none() || names.1.is_none()) {
        "a storage needs a name, so that its state can be followed".to_owned()
    } else {
        String::new()
    };
    if !why_not.is_empty() {
        net.refuse("parallel", &format!("{la} and {lb} stay: {why_not}"));
        return None;
    }
    let wish = match &names {
        (Some(a), Some(b)) => Some(format!("{a}_{b}")),
        (Some(one), None) | (None, Some(one)) => Some(format!("{one}_and_more")),
        (None, None) => None,
    };
    let are_constant = net.is_constant(&x) && net.is_constant(&y);
    let fresh = wish.map(|w| net.fresh(&w));
    let merged = Merged {
        kind,
        is_one,
        adds,
        total: sum(&x, &y),
        name: fresh.clone().unwrap_or_default(),
        are_constant,
    };
    let (ia, ib) = (merged.images(&x), merged.images(&y));
    if !net.can_drop("parallel", a, &ia) || !net.can_drop("parallel", b, &ib) {
        return None;
    }
    let value = match adds {
        true => sum(&x, &y),
        false => harmonic(&x, &y),
    };
    let at = net.label(junction);
    let text = format!("{la} and {lb} at {at} are one {}({value})", kind.letters());
    remember(net, &merged, (names.0.as_deref(), names.1.as_deref()));
    let owner = net.things[a].owner?;
    net.drop(a, ia);
    net.drop(b, ib);
    let made = net.make(fresh, kind, &value, owner);
    net.bond(junction, made, owner);
    Some(Step {
        rule: "parallel",
        text,
    })
}

fn has_start(net: &Net, a: ThingId, b: ThingId) -> bool {
    [a, b].iter().any(|&t| {
        let name = net.things[t].name.clone().unwrap_or_default();
        net.assigned
            .iter()
            .any(|p| p.starts_with(&format!("{name}.")))
    })
}

/// A run begins with other contents than those of its neighbour.
fn begins_apart(net: &Net, b: ThingId) -> bool {
    let name = net.things[b].name.clone().unwrap_or_default();
    ["p", "q"]
        .iter()
        .any(|letter| !net.may_tie(&format!("{name}.{letter}")))
}

/// The element that stands for two.
struct Merged {
    kind: Kind,
    is_one: bool,
    adds: bool,
    total: String,
    name: String,
    are_constant: bool,
}

impl Merged {
    /// Quantities of one of the two, of this value.
    fn images(&self, value: &str) -> Images {
        let of = |q: &str| format!("{}.{q}", self.name);
        let (shared, own) = match self.is_one {
            true => ("f", "e"),
            false => ("e", "f"),
        };
        let share = quotient(value, &self.total);
        let part = |q: &str| Image::times(&share, &of(q));
        let mut images: Images = vec![(shared, Image::same(&of(shared)))];
        match (self.kind, self.adds) {
            (Kind::R, true) => {
                images.push(("e", Image::times(value, &of("f"))));
                images.push(("power", Image::of(product(value, &square(&of("f"))))));
                if self.are_constant {
                    images.push(("energy", part("energy")));
                }
            }
            (Kind::R, false) => {
                images.push(("f", Image::of(quotient(&of("e"), value))));
                images.push(("power", Image::of(quotient(&square(&of("e")), value))));
            }
            (_, true) => {
                let stored = if self.kind == Kind::I { "p" } else { "q" };
                for q in [own, stored, "power", "energy", "stored"] {
                    images.push((q, part(q)));
                }
            }
            (Kind::C, false) => {
                images.push(("q", Image::same(&of("q"))));
                images.push(("e", Image::of(quotient(&of("q"), value))));
            }
            _ => {
                images.push(("p", Image::same(&of("p"))));
                images.push(("f", Image::of(quotient(&of("p"), value))));
            }
        }
        images
    }
}

/// The state of the merged storage in those of the two.
fn remember(net: &mut Net, merged: &Merged, names: (Option<&str>, Option<&str>)) {
    let letter = match merged.kind {
        Kind::I => "p",
        Kind::C => "q",
        _ => return,
    };
    let of = |n: Option<&str>| n.map(|n| format!("{n}.{letter}"));
    let (Some(a), Some(b)) = (of(names.0), of(names.1)) else {
        return;
    };
    let origin = match merged.adds {
        true => format!("{a} + {b}"),
        false => {
            net.tie(&b, &a);
            a
        }
    };
    net.origins
        .insert(format!("{}.{letter}", merged.name), origin);
}
