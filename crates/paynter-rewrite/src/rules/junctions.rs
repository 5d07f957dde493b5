//! Junctions: two of one kind that are bonded are one; one with two bonds in line is a bond.

use crate::net::{Image, Images, Kind, Net, Step, ThingId};

/// 1–1 and 0–0.
pub fn merge(net: &mut Net) -> Option<Step> {
    for bond in 0..net.bonds.len() {
        let b = net.bonds[bond].clone();
        if !b.is_alive || b.tail == b.head {
            continue;
        }
        let kind = net.things[b.tail].kind;
        if !kind.is_junction() || net.things[b.head].kind != kind || !net.is_plain(bond) {
            continue;
        }
        let between = net
            .at(b.tail)
            .into_iter()
            .filter(|&k| net.across(k, b.tail) == b.head);
        if between.count() > 1 {
            let (x, y) = (net.label(b.tail), net.label(b.head));
            net.refuse(
                "merge",
                &format!("{x} and {y} are bonded twice: what circulates there is not determined"),
            );
            continue;
        }
        let (stays, goes) = survivor(net, b.tail, b.head);
        let Some(name) = net.things[stays].name.clone() else {
            continue;
        };
        let letter = kind.shared();
        let images: Images = vec![(letter, Image::same(&format!("{name}.{letter}")))];
        if !net.can_drop("merge", goes, &images) {
            continue;
        }
        let text = format!(
            "{} is {} ({}–{}): one {} for both",
            net.label(goes),
            net.label(stays),
            kind.letters(),
            kind.letters(),
            if kind == Kind::One { "flow" } else { "effort" },
        );
        net.cut(bond);
        for k in net.at(goes) {
            net.move_end(k, goes, stays);
        }
        net.drop(goes, images);
        return Some(Step {
            rule: "merge",
            text,
        });
    }
    None
}

/// Which of two junctions keeps its name: the one that has to, else the one that is read, else the first.
fn survivor(net: &Net, a: ThingId, b: ThingId) -> (ThingId, ThingId) {
    let weight = |t: ThingId| {
        let thing = &net.things[t];
        let n_read = thing.name.as_ref().map_or(0, |n| net.read_of(n).len());
        let stays = thing.has_hidden_bonds || thing.is_pinned;
        (stays, thing.name.is_some(), n_read)
    };
    match weight(b) > weight(a) {
        true => (b, a),
        false => (a, b),
    }
}

/// A junction with one bond in and one out is a bond.
pub fn in_line(net: &mut Net) -> Option<Step> {
    for junction in net.alive() {
        let kind = net.things[junction].kind;
        if !kind.is_junction() {
            continue;
        }
        let Some((into, out)) = net.in_out(junction) else {
            continue;
        };
        let (before, behind) = (net.across(into, junction), net.across(out, junction));
        let is_joined = net
            .at(before)
            .iter()
            .any(|&k| net.across(k, before) == behind);
        let is_end = |t: ThingId| net.things[t].kind.is_one_port();
        if before == behind || is_joined || (is_end(before) && is_end(behind)) {
            continue;
        }
        if !net.is_plain(into) || !net.is_plain(out) || net.things[junction].has_hidden_bonds {
            continue;
        }
        let images = shared_by(net, kind, before, behind);
        if !net.can_drop("junction", junction, &images) {
            continue;
        }
        let text = format!(
            "{} is a bond: one in, one out, nothing else there",
            net.label(junction)
        );
        let owner = net.bonds[out].owner;
        net.drop(junction, images);
        net.bond(before, behind, owner);
        return Some(Step {
            rule: "junction",
            text,
        });
    }
    None
}

/// What the junction shared is an effort or flow of its neighbours.
fn shared_by(net: &Net, kind: Kind, before: ThingId, behind: ThingId) -> Images {
    let letter = kind.shared();
    for (thing, side) in [(behind, "in"), (before, "out")] {
        let t = &net.things[thing];
        let Some(name) = &t.name else { continue };
        let path = match t.kind {
            k if k.is_one_port() => format!("{name}.{letter}"),
            k if k.is_two_port() => format!("{name}.{side}.{letter}"),
            k if k.is_junction() && k.shared() == letter => format!("{name}.{letter}"),
            _ => continue,
        };
        return vec![(letter, Image::same(&path))];
    }
    Vec::new()
}
