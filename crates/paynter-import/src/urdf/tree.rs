//! Puts links and joints in order from the root, and finds where everything is when all joints are at zero.
//!
//! In:  links and joints as they were read.
//! Out: a [`Tree`]: parents before children, each link with its frame seen from the world and what carries it.
//!
//! **Invariant:** every link is reached exactly once; a link that moves has mass.

use super::read::{Joint, Kind, Link, Origin, Robot};
use super::rotation::{ONE, add, apply, product};
use crate::code;
use paynter_syntax::Diagnostic;
use std::collections::HashMap;

/// A robot, parents before children.
pub(super) struct Tree {
    pub name: String,
    /// The root first.
    pub links: Vec<Placed>,
}

/// A link, and how it hangs on the one before.
pub(super) struct Placed {
    pub link: Link,
    /// Its frame, seen from the world.
    pub frame: Origin,
    /// The joint and the place of the parent in the list; none for the root.
    pub joint: Option<(Joint, usize)>,
}

/// Orders a robot; none if it is not a tree.
pub(super) fn tree(robot: Robot, found: &mut Vec<Diagnostic>) -> Option<Tree> {
    check_names(&robot, found);
    // What was left out for an error would leave others without a parent.
    if found.iter().any(Diagnostic::is_error) {
        return None;
    }
    let root = find_root(&robot, found)?;
    if found.iter().any(Diagnostic::is_error) {
        return None;
    }
    let Robot {
        name,
        links,
        joints,
        ..
    } = robot;

    let mut waiting: HashMap<String, Vec<Joint>> = HashMap::new();
    for joint in joints {
        waiting.entry(joint.parent.clone()).or_default().push(joint);
    }
    let mut open: HashMap<String, Link> = links.into_iter().map(|l| (l.name.clone(), l)).collect();
    let start = Origin {
        place: [0.0; 3],
        turn: ONE,
    };

    let mut placed = vec![Placed {
        link: open.remove(&root)?,
        frame: start,
        joint: None,
    }];

    let mut next = 0;
    while next < placed.len() {
        let parent = placed[next].frame;
        for mut joint in waiting.remove(&placed[next].link.name).unwrap_or_default() {
            let Some(link) = open.remove(&joint.child) else {
                continue;
            };
            joint.is_massless = link.inertial.is_none();
            let frame = Origin {
                place: add(parent.place, apply(&parent.turn, joint.origin.place)),
                turn: product(&parent.turn, &joint.origin.turn),
            };
            placed.push(Placed {
                link,
                frame,
                joint: Some((joint, next)),
            });
        }
        next += 1;
    }

    check_masses(&placed, found);
    report_cycles(&open, found);

    Some(Tree {
        name,
        links: placed,
    })
}

/// Reports links that were left over: they hang together in a cycle.
fn report_cycles(open: &HashMap<String, Link>, found: &mut Vec<Diagnostic>) {
    let mut rest: Vec<&Link> = open.values().collect();
    rest.sort_by_key(|link| link.span);
    for link in rest {
        let message = format!("link `{}` is not reached from the root", link.name);
        found.push(
            Diagnostic::error(code::NOT_A_TREE, message).primary(link.span, "part of a cycle"),
        );
    }
}

fn check_names(robot: &Robot, found: &mut Vec<Diagnostic>) {
    let mut seen = HashMap::new();
    let links = robot.links.iter().map(|l| ("link", &l.name, l.span));
    let joints = robot.joints.iter().map(|j| ("joint", &j.name, j.span));
    for (what, name, span) in links.chain(joints).filter(|(_, name, _)| !name.is_empty()) {
        if let Some(first) = seen.insert((what, name), span) {
            let message = format!("{what} `{name}` appears twice");
            let error = Diagnostic::error(code::BAD_NAME, message);
            found.push(error.primary(span, "again").secondary(first, "the first"));
        }
    }
    for joint in &robot.joints {
        for end in [&joint.parent, &joint.child] {
            if !robot.links.iter().any(|l| l.name == *end) {
                let message = format!(
                    "joint `{}` names a link `{end}` that does not exist",
                    joint.name
                );
                found.push(Diagnostic::error(code::BAD_NAME, message).primary(joint.span, "here"));
            }
        }
    }
}

/// Finds the one link that is not a child.
fn find_root(robot: &Robot, found: &mut Vec<Diagnostic>) -> Option<String> {
    let mut parents: HashMap<&str, &Joint> = HashMap::new();
    for joint in &robot.joints {
        if let Some(other) = parents.insert(&joint.child, joint) {
            let message = format!("link `{}` has two parent joints", joint.child);
            found.push(
                Diagnostic::error(code::NOT_A_TREE, message)
                    .primary(joint.span, format!("`{}` is the second", joint.name))
                    .secondary(other.span, format!("`{}` is the first", other.name))
                    .help("leave one out, and join the two ends in the model: a joint that closes a loop is written like all others"),
            );
        }
    }

    let is_root = |link: &&Link| !parents.contains_key(link.name.as_str());
    let roots: Vec<&Link> = robot.links.iter().filter(is_root).collect();
    match roots[..] {
        [root] => Some(root.name.clone()),
        [] => {
            let message = match robot.links.is_empty() {
                true => "the robot has no links".to_owned(),
                false => "no link is the root: all are children of joints".to_owned(),
            };
            let error = Diagnostic::error(code::NOT_A_TREE, message);
            found.push(error.primary(robot.span, "in this robot"));
            None
        }
        [first, second, ..] => {
            let message = format!(
                "`{}` and `{}` are connected to nothing",
                first.name, second.name
            );
            let error = Diagnostic::error(code::NOT_A_TREE, message);
            found.push(
                error
                    .primary(second.span, "a second root")
                    .secondary(first.span, "the first root")
                    .help("one link is the root; join the others to it"),
            );
            None
        }
    }
}

fn check_masses(placed: &[Placed], found: &mut Vec<Diagnostic>) {
    for one in placed.iter().filter(|p| p.link.inertial.is_none()) {
        if let Some((joint, _)) = &one.joint
            && joint.kind != Kind::Fixed
        {
            let message = format!("link `{}` moves and has no mass", one.link.name);
            found.push(
                Diagnostic::error(code::NO_MASS, message)
                    .primary(one.link.span, "has no `<inertial>`")
                    .secondary(joint.span, "lets it move"),
            );
        }
    }
}
