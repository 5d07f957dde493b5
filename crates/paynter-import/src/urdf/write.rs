//! Writes the model.
//!
//! In:  the tree of links.
//! Out: the text of a `.bond` file: parameters for limits, bodies, frames, joints, guesses of where everything is, and an
//!      experiment that lets the robot go from rest with all joints at zero.
//!
//! The frame of a link is a part `NAME_frame`: a `Mount` on the body, turned and moved from its centre of mass. The root is
//! fixed to the world.
//!
//! **Invariant:** numbers survive bit for bit.

use super::read::{Joint, Kind, Limit, Origin};
use super::rotation::{M, ONE, V, add, apply, product, quaternion, transposed};
use super::tree::{Placed, Tree};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

/// Words and letters that mean something in a model.
const RESERVED: &[&str] = &[
    "model",
    "experiment",
    "param",
    "port",
    "input",
    "output",
    "start",
    "guess",
    "use",
    "units",
    "for",
    "in",
    "if",
    "then",
    "else",
    "fn",
    "return",
    "when",
    "extends",
    "replaceable",
    "outer",
    "signal",
    "record",
    "measure",
    "plot",
    "with",
    "der",
    "integral",
    "time",
    "pi",
    "true",
    "false",
    "and",
    "or",
    "not",
    "invariant",
    "of",
    "as",
    "stop",
    "world",
    "world_frame",
    "system",
    "R",
    "C",
    "I",
    "TF",
    "GY",
    "Se",
    "Sf",
    "D",
    "Sw",
    "RS",
    "M",
    "ex",
    "ey",
    "ez",
    "World",
    "Body",
    "Mount",
    "Revolute",
    "Prismatic",
    "Planar",
    "Weld",
];

/// Writes the text.
pub(super) fn write(tree: &Tree) -> String {
    let names = Names::new(tree);
    let mut used: BTreeSet<&str> = BTreeSet::from(["World"]);
    let mut body = String::new();
    let mut starts = Vec::new();
    let mut outputs = Vec::new();
    for (at, placed) in tree.links.iter().enumerate() {
        write_link(&mut body, &names, (at, placed), &mut used);
        if let Some((joint, parent)) = &placed.joint {
            let ends = (names.frame(tree, *parent), names.frame(tree, at));
            write_joint(&mut body, (joint, &names.joints[at]), &ends, &mut used);
            write_start(&mut starts, &mut outputs, (joint, &names.joints[at]));
        }
    }
    let model = names.model.clone();
    let mut text = format!("units strict\nuse mechanics3d: {}\n\n", list(&used));
    let _ = writeln!(
        text,
        "/// Robot `{}`, imported from a URDF.",
        harmless(&tree.name)
    );
    let _ = writeln!(text, "model {model} {{\n    world: World()");
    text.push_str(&body);
    for line in starts.iter().chain(&outputs) {
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("}\n\n/// Let go from rest, all joints at zero.\n");
    let _ = writeln!(text, "experiment let_go of {model} {{ stop = 1 [s] }}");
    text
}

fn list(used: &BTreeSet<&str>) -> String {
    used.iter().copied().collect::<Vec<_>>().join(", ")
}

/// A name in a comment stays in its line.
fn harmless(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).collect()
}

/// Names in the model, by place in the tree.
struct Names {
    model: String,
    links: Vec<String>,
    joints: Vec<String>,
}

impl Names {
    fn new(tree: &Tree) -> Self {
        let mut taken: HashSet<String> = RESERVED.iter().map(|w| (*w).to_owned()).collect();
        let mut model = free_name(&tree.name, &mut taken);
        if let Some(first) = model.get(..1) {
            model = format!("{}{}", first.to_uppercase(), &model[1..]);
        }
        taken.insert(model.clone());
        let mut links = Vec::new();
        let mut joints = Vec::new();
        for placed in &tree.links {
            links.push(free_name(&placed.link.name, &mut taken));
            let joint = placed.joint.as_ref().map_or("", |(joint, _)| &joint.name);
            joints.push(match joint {
                "" => String::new(),
                name => free_name(name, &mut taken),
            });
        }
        Names {
            model,
            links,
            joints,
        }
    }

    /// What the frame of a link is called: the root is the world.
    fn frame(&self, tree: &Tree, at: usize) -> String {
        match tree.links[at].joint {
            None => "world.fixed".to_owned(),
            Some(_) => format!("{}_frame.out", self.links[at]),
        }
    }
}

/// Makes a name of letters, digits and `_` that nothing else has; also with what is hung on it here.
fn free_name(name: &str, taken: &mut HashSet<String>) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut plain: String = name
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    if !plain.starts_with(|c: char| c.is_ascii_alphabetic()) {
        plain.insert_str(0, "n_");
    }
    let parts = |name: &str| {
        let ends = [
            "",
            "_frame",
            "_seat",
            "_damping",
            "_lower",
            "_upper",
            "_effort",
            "_velocity",
            "_to_limit",
        ];
        ends.map(|end| format!("{name}{end}"))
    };

    let mut chosen = plain.clone();
    let mut number = 2;
    while parts(&chosen).iter().any(|p| taken.contains(p)) {
        chosen = format!("{plain}_{number}");
        number += 1;
    }
    taken.extend(parts(&chosen));
    chosen
}

fn write_link(
    text: &mut String,
    names: &Names,
    (at, placed): (usize, &Placed),
    used: &mut BTreeSet<&'static str>,
) {
    let name = &names.links[at];
    let (Some(inertial), Some(_)) = (placed.link.inertial, &placed.joint) else {
        // The root stands still; a link without mass is a frame only, written with the joint that fixes it.
        return;
    };
    used.extend(["Body", "Mount"]);
    let _ = writeln!(
        text,
        "\n    {name}: Body(m = {} [kg], J = {} [kg*m^2])",
        number(inertial.mass),
        matrix(&inertial.moments)
    );

    // The link frame seen from the centre of mass.
    let back = transposed(&inertial.origin.turn);
    let place = apply(&back, inertial.origin.place).map(|x| 0.0 - x);
    let mount = mount(place, &back);
    let _ = writeln!(text, "    {name}.cg => {name}_frame: Mount({mount})");
    let centre = Origin {
        place: add(
            placed.frame.place,
            apply(&placed.frame.turn, inertial.origin.place),
        ),
        turn: product(&placed.frame.turn, &inertial.origin.turn),
    };
    let [w, x, y, z] = quaternion(&centre.turn).map(number);
    let _ = writeln!(
        text,
        "    guess {name}.r = {} [m], {name}.Q = [{w}, {x}, {y}, {z}]",
        vector(centre.place)
    );
}

fn write_joint(
    text: &mut String,
    (joint, name): (&Joint, &str),
    (from, to): &(String, String),
    used: &mut BTreeSet<&'static str>,
) {
    used.insert("Mount");
    let mount = mount(joint.origin.place, &joint.origin.turn);
    let massless = to
        .strip_suffix("_frame.out")
        .filter(|_| joint_makes_frame(joint));
    if let Some(link) = massless {
        let _ = writeln!(text, "\n    {from} => {link}_frame: Mount({mount})");
        return;
    }
    if joint.kind == Kind::Floating {
        return;
    }
    let _ = writeln!(text, "    {from} => {name}_seat: Mount({mount})");
    let kind = match joint.kind {
        Kind::Revolute => "Revolute",
        Kind::Prismatic => "Prismatic",
        Kind::Planar => "Planar",
        Kind::Fixed | Kind::Floating => "Weld",
    };
    used.insert(kind);
    let axis = match joint.kind {
        Kind::Fixed => String::new(),
        _ => format!("(axis = {})", vector(joint.axis)),
    };
    let _ = writeln!(text, "    {name}_seat.out => {name}: {kind}{axis} => {to}");
    let (port, unit) = match joint.kind {
        Kind::Revolute => ("turn", "N*m*s/rad"),
        Kind::Prismatic => ("slip", "N*s/m"),
        _ => return,
    };

    if joint.damping != 0.0 {
        let _ = writeln!(
            text,
            "    {name}.{port} -> {name}_damping: R({} [{unit}])",
            number(joint.damping)
        );
    }

    if let Some(limit) = joint.limit {
        write_limit(text, (joint.kind, name), &limit);
    }
}

/// A link without mass that is fixed to another one is a frame on that one.
fn joint_makes_frame(joint: &Joint) -> bool {
    joint.is_massless && joint.kind == Kind::Fixed
}

fn write_limit(text: &mut String, (kind, name): (Kind, &str), limit: &Limit) {
    let (place, effort, rate) = match kind {
        Kind::Prismatic => ("m", "N", "m/s"),
        _ => ("rad", "N*m", "rad/s"),
    };
    let mut params = Vec::new();
    if let Some((lower, upper)) = limit.range {
        params.push(format!("{name}_lower = {} [{place}]", number(lower)));
        params.push(format!("{name}_upper = {} [{place}]", number(upper)));
    }
    if let Some(size) = limit.effort {
        params.push(format!("{name}_effort = {} [{effort}]", number(size)));
    }
    if let Some(size) = limit.velocity {
        params.push(format!("{name}_velocity = {} [{rate}]", number(size)));
    }
    if !params.is_empty() {
        let _ = writeln!(text, "    param {}", params.join(", "));
    }
}

fn write_start(starts: &mut Vec<String>, outputs: &mut Vec<String>, (joint, name): (&Joint, &str)) {
    let (place, rate, unit) = match joint.kind {
        Kind::Revolute => ("angle", "rate", "rad"),
        Kind::Prismatic => ("distance", "speed", "m"),
        _ => return,
    };
    starts.push(format!(
        "start {name}.{place} = 0 [{unit}], {name}.{rate} = 0 [{unit}/s]"
    ));
    if joint.limit.is_some_and(|l| l.range.is_some()) {
        // Negative beyond a limit: the model has no end stops.
        outputs.push(format!(
            "output {name}_to_limit [{unit}] = min({name}.{place} - {name}_lower, {name}_upper - {name}.{place})"
        ));
    }
}

fn mount(place: V, turn: &M) -> String {
    match *turn == ONE {
        true => format!("c = {} [m]", vector(place)),
        false => format!("c = {} [m], R = {}", vector(place), matrix(turn)),
    }
}

fn vector(v: V) -> String {
    format!("[{}]", v.map(number).join(", "))
}

fn matrix(m: &M) -> String {
    let rows = m.map(|row| row.map(number).join(", "));
    format!("[{}]", rows.join("; "))
}

/// The shortest text that reads as the same number.
fn number(x: f64) -> String {
    let x = x + 0.0;
    let plain = format!("{x}");
    match plain.len() > 18 {
        true => format!("{x:e}"),
        false => plain,
    }
}
