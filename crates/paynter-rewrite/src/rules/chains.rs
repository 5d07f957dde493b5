//! Two-ports in a row are one: TF·TF, TF·GY, GY·GY, GY·TF; TF(1) is a bond, TF(−1) between a 1 and a 0 a turned one.

use crate::expression::{is_number, product, quotient};
use crate::net::{Kind, Net, Step, ThingId};

/// Joins two two-ports, or takes a TF of ratio ±1 away.
pub fn chain(net: &mut Net) -> Option<Step> {
    let two_ports = net.alive().into_iter();
    let two_ports: Vec<ThingId> = two_ports
        .filter(|&t| net.things[t].kind.is_two_port())
        .collect();
    two_ports
        .iter()
        .find_map(|&t| unit(net, t))
        .or_else(|| two_ports.iter().find_map(|&t| pair(net, t)))
}

fn unit(net: &mut Net, tf: ThingId) -> Option<Step> {
    let gain = net.things[tf].gain.clone()?;
    let (into, out) = net.in_out(tf)?;
    if net.things[tf].kind != Kind::Tf || !net.is_plain(into) || !net.is_plain(out) {
        return None;
    }
    let (before, behind) = (net.across(into, tf), net.across(out, tf));
    let kinds = (net.things[before].kind, net.things[behind].kind);
    let is_straight = is_number(&gain, 1.0);
    let is_turned = is_number(&gain, -1.0)
        && matches!(kinds, (Kind::One, Kind::Zero) | (Kind::Zero, Kind::One));
    let are_ends = kinds.0.is_one_port() && kinds.1.is_one_port();
    let is_joined = net
        .at(before)
        .iter()
        .any(|&k| net.across(k, before) == behind);
    if !(is_straight || is_turned) || are_ends || is_joined || before == behind {
        return None;
    }
    if !net.can_drop("chain", tf, &Vec::new()) {
        return None;
    }
    let text = match is_straight {
        true => format!("{} has the ratio 1: a bond", net.label(tf)),
        false => format!("{} has the ratio −1: a bond the other way", net.label(tf)),
    };
    let owner = net.bonds[into].owner;
    net.drop(tf, Vec::new());
    match is_straight {
        true => net.bond(before, behind, owner),
        false => net.bond(behind, before, owner),
    };
    Some(Step {
        rule: "chain",
        text,
    })
}

fn pair(net: &mut Net, first: ThingId) -> Option<Step> {
    let (_, between) = net.in_out(first)?;
    let second = net.across(between, first);
    let (_, out) = net.in_out(second)?;
    if !net.things[second].kind.is_two_port() || second == first {
        return None;
    }
    let (a, b) = (
        net.things[first].gain.clone()?,
        net.things[second].gain.clone()?,
    );
    let kinds = (net.things[first].kind, net.things[second].kind);
    if !net.is_plain(between) || !net.is_plain(out) {
        return None;
    }
    let (kind, gain, divides) = match kinds {
        (Kind::Tf, Kind::Tf) => (Kind::Tf, product(&a, &b), false),
        (Kind::Tf, Kind::Gy) => (Kind::Gy, product(&a, &b), false),
        (Kind::Gy, Kind::Gy) => (Kind::Tf, quotient(&a, &b), true),
        _ => (Kind::Gy, quotient(&a, &b), true),
    };
    if divides && !net.is_constant(&b) {
        let (x, y) = (net.label(first), net.label(second));
        net.refuse(
            "chain",
            &format!(
                "{x} and {y} stay: `{b}` is not a constant, and the ratio of both would divide by it"
            ),
        );
        return None;
    }
    if !net.can_drop("chain", first, &Vec::new()) || !net.can_drop("chain", second, &Vec::new()) {
        return None;
    }
    let behind = net.across(out, second);
    let text = format!(
        "{} and {} are one {}({gain})",
        net.label(first),
        net.label(second),
        kind.letters()
    );
    let owner = net.bonds[between].owner;
    net.cut(between);
    net.drop(second, Vec::new());
    // The name of either would mean something else now.
    net.things[first].name = None;
    net.redefine(first, kind, &gain);
    net.bond(first, behind, owner);
    Some(Step {
        rule: "chain",
        text,
    })
}
