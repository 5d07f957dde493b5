//! Branches that carry no effort any more.
//!
//! In:  a net in which inertias have moved.
//! Out: the same without 1-junctions that nothing hangs on, the 0-junctions that lead only there, and the transformers before them.
//!
//! A 1-junction with one bond has no effort, so that its 0-junction has none, and no transformer before that loads anything. All of it goes together:
//! a 0-junction left without a way out would tie what it was only told.

use super::field::flow_text;
use crate::algebra::Algebra;
use crate::kinematics::{GIVEN, Kinematics};
use crate::net::{Image, Images, Kind, Net, Step, ThingId};

/// Takes branches away until none is left that can go.
pub fn clear(algebra: &mut Algebra, net: &mut Net) -> Vec<Step> {
    let mut names = Vec::new();
    while let Some(branch) = find(algebra, net) {
        for (thing, images) in branch {
            names.extend(net.things[thing].name.clone());
            net.drop(thing, images);
        }
    }
    match names.is_empty() {
        true => Vec::new(),
        false => vec![Step {
            rule: "idle",
            text: format!(
                "`{}` carry no effort any more and go with their transformers",
                names.join("`, `")
            ),
        }],
    }
}

/// A branch that can go.
fn find(algebra: &mut Algebra, net: &Net) -> Option<Vec<(ThingId, Images)>> {
    for thing in net.alive() {
        let bonds = net.at(thing);
        let (Kind::One, &[bond]) = (net.things[thing].kind, bonds.as_slice()) else {
            continue;
        };
        if net.bonds[bond].head != thing || !net.is_plain(bond) {
            continue;
        }
        let Ok(form) = Kinematics::new(net).of(algebra, thing) else {
            continue;
        };
        if form.contains_key(&thing) {
            continue;
        }
        let mut branch = vec![(thing, vec![("f", flow(algebra, net, &form))])];
        if before(net, net.bonds[bond].tail, &mut branch)
            && branch
                .iter()
                .all(|(t, images)| net.may_drop(*t, images).is_ok())
        {
            return Some(branch);
        }
    }
    None
}

fn flow(algebra: &mut Algebra, net: &Net, form: &crate::kinematics::Form) -> Image {
    if let (1, Some((&c, &t))) = (form.len(), form.iter().next())
        && c != GIVEN
    {
        let name = net.things[c].name.clone().unwrap_or_default();
        return Image::times(&algebra.text(t), &format!("{name}.f"));
    }
    Image::of(flow_text(algebra, net, form))
}

/// What leads only to a branch; false where something else hangs on it.
fn before(net: &Net, thing: ThingId, branch: &mut Vec<(ThingId, Images)>) -> bool {
    let bonds = net.at(thing);
    match net.things[thing].kind {
        Kind::One => true,
        // Without effort it gives no power.
        Kind::Sf => {
            let Some(gain) = net.things[thing].gain.clone() else {
                return false;
            };
            let zero = || Image::of("0");
            branch.push((
                thing,
                vec![
                    ("f", Image::of(gain)),
                    ("e", zero()),
                    ("power", zero()),
                    ("energy", zero()),
                ],
            ));
            true
        }
        Kind::Tf => {
            branch.push((thing, Vec::new()));
            net.in_out(thing).is_some_and(|(into, _)| {
                net.is_plain(into) && before(net, net.bonds[into].tail, branch)
            })
        }
        Kind::Zero => {
            branch.push((thing, Vec::new()));
            let ways_in: Vec<_> = bonds
                .iter()
                .filter(|&&b| net.bonds[b].head == thing)
                .collect();
            ways_in.len() + 1 == bonds.len()
                && ways_in
                    .into_iter()
                    .all(|&b| net.is_plain(b) && before(net, net.bonds[b].tail, branch))
        }
        _ => false,
    }
}
