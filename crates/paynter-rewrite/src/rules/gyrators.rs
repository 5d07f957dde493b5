//! Gyrators that load nothing: pairs that cancel, rings whose loads are zero whatever moves.
//!
//! `a -> GY(r) -> b` loads a with r f_b and b with −r f_a. With p = I f of every inertia at one of the junctions, the
//! loads of a set of gyrators are compared at random points: an Eulerian ring vanishes where its inertias are equal.

use crate::expression::{is_number, negative, product, sum};
use crate::net::{Kind, Net, Step, ThingId};
use crate::subst::replace_paths;
use std::collections::BTreeMap;

/// Finds one gyrator, a pair or a ring of three without any load.
pub fn idle_gyrators(net: &mut Net) -> Option<Step> {
    let gyrators: Vec<Link> = net
        .alive()
        .into_iter()
        .filter_map(|t| link(net, t))
        .collect();
    for set in sets(&gyrators) {
        let names = || -> Vec<String> { set.iter().map(|l| net.label(l.gyrator)).collect() };
        if !is_idle(net, &set) {
            continue;
        }
        let label = match set.len() {
            1 => format!("{} joins a junction with itself", names()[0]),
            2 => format!("{} cancel each other", names().join(" and ")),
            _ => format!(
                "the ring of {} vanishes: the inertias are equal",
                names().join(", ")
            ),
        };
        let gyrators: Vec<ThingId> = set.iter().map(|l| l.gyrator).collect();
        if gyrators
            .iter()
            .any(|&g| !net.can_drop("ring", g, &Vec::new()))
        {
            continue;
        }
        gyrators.into_iter().for_each(|g| net.drop(g, Vec::new()));
        return Some(Step {
            rule: "ring",
            text: label,
        });
    }
    None
}

/// A gyrator between two 1-junctions.
#[derive(Clone)]
struct Link {
    gyrator: ThingId,
    from: ThingId,
    to: ThingId,
    /// Its modulus in flows of junctions.
    modulus: String,
}

fn link(net: &Net, gyrator: ThingId) -> Option<Link> {
    let thing = &net.things[gyrator];
    if thing.kind != Kind::Gy {
        return None;
    }
    let (into, out) = net.in_out(gyrator)?;
    let (from, to) = (net.across(into, gyrator), net.across(out, gyrator));
    let are_ones = [from, to]
        .iter()
        .all(|&t| net.things[t].kind == Kind::One && net.things[t].name.is_some());
    if !are_ones || !net.is_plain(into) || !net.is_plain(out) {
        return None;
    }
    let modulus = replace_paths(thing.gain.as_ref()?, &|path| momentum(net, path));
    Some(Link {
        gyrator,
        from,
        to,
        modulus,
    })
}

/// `i.p` as inertia times the flow of its junction.
fn momentum(net: &Net, path: &str) -> Option<String> {
    let name = path.strip_suffix(".p")?;
    let id = net
        .alive()
        .into_iter()
        .find(|&t| net.things[t].name.as_deref() == Some(name))?;
    let thing = &net.things[id];
    let bonds = net.at(id);
    let (Kind::I, Some(gain), &[bond]) = (thing.kind, &thing.gain, bonds.as_slice()) else {
        return None;
    };
    let at = &net.things[net.across(bond, id)];
    let flow = format!("{}.f", at.name.as_ref()?);
    (at.kind == Kind::One).then(|| product(gain, &flow))
}

/// Every gyrator alone, all pairs between the same junctions, all rings of three.
fn sets(links: &[Link]) -> Vec<Vec<Link>> {
    let mut found: Vec<Vec<Link>> = Vec::new();
    let mut from: BTreeMap<ThingId, Vec<usize>> = BTreeMap::new();
    for (k, link) in links.iter().enumerate() {
        if link.from == link.to {
            found.push(vec![link.clone()]);
        }
        from.entry(link.from).or_default().push(k);
        from.entry(link.to).or_default().push(k);
    }
    let other = |k: usize, t: ThingId| match links[k].from == t {
        true => links[k].to,
        false => links[k].from,
    };
    for (a, first) in links.iter().enumerate() {
        for &b in from.get(&first.to).into_iter().flatten() {
            if b <= a {
                continue;
            }
            let third = other(b, first.to);
            if third == first.from {
                found.push(vec![first.clone(), links[b].clone()]);
                continue;
            }
            for &c in from.get(&third).into_iter().flatten() {
                if c > a && c != b && other(c, third) == first.from {
                    found.push(vec![first.clone(), links[b].clone(), links[c].clone()]);
                }
            }
        }
    }
    found
}

/// Tells whether a set of gyrators loads none of its junctions.
fn is_idle(net: &Net, set: &[Link]) -> bool {
    let mut loads: BTreeMap<ThingId, String> = BTreeMap::new();
    let flow = |t: ThingId| format!("{}.f", net.things[t].name.as_deref().unwrap_or_default());
    for link in set {
        let forward = product(&link.modulus, &flow(link.to));
        let backward = negative(&product(&link.modulus, &flow(link.from)));
        for (at, load) in [(link.from, forward), (link.to, backward)] {
            let entry = loads.entry(at).or_insert_with(|| "0".to_owned());
            *entry = sum(entry, &load);
        }
    }
    loads.values().all(|load| is_number(load, 0.0))
}
