//! Bodies in motion: where every body is and how it is turned over a run.
//!
//! In:  a design, and the choice that made it.
//! Out: a [`Film`]: what the bodies, joints and forces are, and their places as columns over even times. Studio and the
//!      report page show the same film.
//!
//! **Invariant:** every number is one of the run; nothing is computed twice by other formulas.

mod parts;
mod shape;

use parts::{ForceAsk, Link, Part, Role, ShapeAsk, links, parts};
use paynter_analysis::run::{RunChoice, run_staged};
use paynter_design::design::{Choice, Design, DesignError, LinearChoice};
use paynter_design::mobility::Mobility;
use paynter_model::experiment::Column;
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Pictures of a film.
const N_FRAMES: usize = 601;
/// More bodies than this are not picture any more.
const MAX_PARTS: usize = 2_000;

/// The bodies of a model over a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Film {
    /// What there is, and which columns each thing has: plain JSON, read by the pages.
    pub head: Value,
    /// Even times, s.
    pub time: Vec<f64>,
    /// Numbers in SI units at these times.
    pub columns: Vec<Vec<f64>>,
}

/// Tells whether a design has bodies to show.
pub fn has_bodies(design: &Design) -> bool {
    Stage::of(design).is_ok()
}

/// Runs the experiment of a design once more and gives the film of its bodies.
///
/// # Errors
///
/// Why there is none: no bodies, errors, or a run that does not start.
pub fn film(
    design: &Design,
    choice: &Choice,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Film, String> {
    let stage = Stage::of(design)?;
    let mut wanted = Wanted::default();
    let cast = stage.cast(&mut wanted);
    let choice = Choice {
        linear: Some(LinearChoice {
            to: Some(wanted.texts.join(", ")),
            ..LinearChoice::default()
        }),
        ..choice.clone()
    };

    let mut design = design.varied(&choice, &[]).map_err(first_words)?;
    want(&mut design, wanted.texts.len())?;
    let (start, stop) = (design.plan.start, design.plan.stop);
    let times = (0..N_FRAMES).map(|i| start + (stop - start) * i as f64 / (N_FRAMES - 1) as f64);
    let choice = RunChoice {
        times: Some(times.collect()),
        ..RunChoice::default()
    };
    let (staged, outcome) = run_staged(&design, &choice, progress)
        .map_err(|m| m.first().map_or(String::new(), |m| m.message.clone()))?;
    let table = outcome.run.table;
    let columns: Vec<Vec<f64>> = table.columns.into_iter().map(|c| c.values).collect();
    if table.time.is_empty() || columns.len() != wanted.texts.len() {
        return Err("the run has no point to show".to_owned());
    }

    let mobility = staged.mobility.as_ref().map(Mobility::summary);
    let head = json!({
        "model": design.model, "experiment": design.plan.name.clone().unwrap_or_default(),
        "from": table.time[0], "to": table.time[table.time.len() - 1],
        "n": table.time.len(), "columns": columns.len(),
        "up": stage.up(&cast, &columns), "mobility": mobility.unwrap_or_default(),
        "isPlanar": stage.is_planar(),
        "bodies": stage.bodies(&cast, &columns), "joints": stage.joints(&cast), "pushes": stage.pushes(&cast),
    });

    Ok(Film {
        head,
        time: table.time,
        columns,
    })
}

fn first_words(error: DesignError) -> String {
    match error {
        DesignError::Unreadable(why) => why,
        DesignError::Model(failed) => {
            let first = failed.diagnostics.iter().find(|d| d.is_error());
            first.map_or(String::new(), |d| format!("{}: {}", d.code, d.message))
        }
    }
}

/// Records what was asked for, and nothing else.
fn want(design: &mut Design, n: usize) -> Result<(), String> {
    let columns: Vec<Column> = design
        .linear
        .to
        .iter()
        .map(|q| Column {
            unit: None,
            ..q.column.clone()
        })
        .collect();
    if columns.len() != n {
        return Err("a part has another shape than its name says".to_owned());
    }
    let plan = &mut design.plan;
    plan.columns = columns;
    plan.plots.clear();
    plan.measures.clear();
    plan.comparisons.clear();
    plan.linearize.clear();
    design.references.clear();
    Ok(())
}

/// Columns to be recorded, as one would write them.
#[derive(Default)]
struct Wanted {
    texts: Vec<String>,
}

impl Wanted {
    fn number(&mut self, part: &str, name: &str) -> usize {
        self.texts.push(format!("{part}.{name}"));
        self.texts.len() - 1
    }

    fn vector(&mut self, part: &str, name: &str, n: usize) -> usize {
        let first = self.texts.len();
        self.texts
            .extend((1..=n).map(|i| format!("{part}.{name}[{i}]")));
        first
    }

    fn matrix(&mut self, part: &str, name: &str, n: usize) -> usize {
        let first = self.texts.len();
        let entries = (1..=n).flat_map(|i| (1..=n).map(move |k| (i, k)));
        self.texts
            .extend(entries.map(|(i, k)| format!("{part}.{name}[{i},{k}]")));
        first
    }
}

/// The parts of a model that have a place.
struct Stage {
    parts: Vec<Part>,
    links: Vec<Link>,
}

/// First columns of what is known of a part; those that it has not are none.
#[derive(Clone, Debug, Default)]
struct Columns {
    r: Option<usize>,
    turn: Option<usize>,
    mass: Option<usize>,
    size: Option<usize>,
    a: Option<usize>,
    a_turn: Option<usize>,
    b: Option<usize>,
    axis: Option<usize>,
    force: Option<usize>,
    gravity: Option<usize>,
}

impl Stage {
    fn of(design: &Design) -> Result<Self, String> {
        let names = &design.graph.signals.names;
        let all = design.graph.instances.iter().take(MAX_PARTS);
        let all: Vec<String> = all.map(|&p| names.display(p)).collect();
        let experiment = design.plan.name.as_deref();
        let found = parts(&design.project, &design.model, &all, experiment);
        if !found.iter().any(|p| matches!(p.role, Role::Body { .. })) {
            return Err(format!(
                "{} has no bodies: parts with a place `r`, a turn, a mass `m` and an inertia `J`, such as those of mechanics3d and mechanics2d",
                design.model
            ));
        }
        Ok(Stage {
            parts: found,
            links: links(&design.project, &design.model, &all, experiment),
        })
    }

    fn is_planar(&self) -> bool {
        self.parts
            .iter()
            .all(|p| p.is_planar || !matches!(p.role, Role::Body { .. }))
    }

    /// Names the columns of every part.
    fn cast(&self, wanted: &mut Wanted) -> Vec<Columns> {
        self.parts.iter().map(|p| cast_one(p, wanted)).collect()
    }

    /// Against gravity; up is y where nothing is said.
    fn up(&self, cast: &[Columns], columns: &[Vec<f64>]) -> [f64; 3] {
        let gravity = cast.iter().find_map(|c| c.gravity);
        let pull = gravity.map(|first| [0, 1, 2].map(|i| columns[first + i][0]));
        let length = pull.map_or(0.0, |g| g.iter().map(|x| x * x).sum::<f64>().sqrt());
        match pull {
            Some(g) if length > 0.0 => g.map(|x| -x / length),
            _ if self.is_planar() => [0.0, 1.0, 0.0],
            _ => [0.0, 0.0, 1.0],
        }
    }

    fn of_role<'s>(
        &'s self,
        cast: &'s [Columns],
        is_it: fn(&Role) -> bool,
    ) -> impl Iterator<Item = (&'s Part, &'s Columns)> {
        self.parts
            .iter()
            .zip(cast)
            .filter(move |(p, _)| is_it(&p.role))
    }

    fn bodies(&self, cast: &[Columns], columns: &[Vec<f64>]) -> Vec<Value> {
        let bodies = self.of_role(cast, |r| matches!(r, Role::Body { .. }));
        let show = |(part, c): (&Part, &Columns)| {
            let mass = c.mass.map_or(0.0, |i| columns[i][0]);
            json!({
                "name": part.name, "class": part.class, "mass": mass, "planar": part.is_planar, "r": c.r, "turn": c.turn,
                "shape": shape_of(part, c, mass, columns),
            })
        };
        bodies.map(show).collect()
    }

    fn joints(&self, cast: &[Columns]) -> Vec<Value> {
        let joints = self.of_role(cast, |r| matches!(r, Role::Joint { .. }));
        let show = |(part, c): (&Part, &Columns)| {
            let Role::Joint { force, is_line, .. } = part.role else {
                return Value::Null;
            };
            json!({
                "name": part.name, "class": part.class, "planar": part.is_planar, "a": c.a, "aTurn": c.a_turn, "b": c.b,
                "axis": c.axis, "force": c.force, "isVector": force == ForceAsk::Vector, "isLine": is_line,
                "holds": [self.held_by(&part.name, "a"), self.held_by(&part.name, "b")],
            })
        };
        joints.map(show).collect()
    }

    fn pushes(&self, cast: &[Columns]) -> Vec<Value> {
        let pushes = self.of_role(cast, |r| matches!(r, Role::Push));
        pushes
            .map(|(part, c)| json!({ "name": part.name, "planar": part.is_planar, "at": c.a, "force": c.force }))
            .collect()
    }

    /// The body or ground at an end of a joint, also through points fixed in it; empty if that cannot be seen.
    fn held_by(&self, joint: &str, end: &str) -> String {
        let ends = self.links.iter().filter_map(|[tail, head]| {
            let own_tail = if tail.1.is_empty() { "b" } else { &tail.1 };
            let own_head = if head.1.is_empty() { "a" } else { &head.1 };
            match () {
                () if tail.0 == joint && own_tail == end => Some(&head.0),
                () if head.0 == joint && own_head == end => Some(&tail.0),
                () => None,
            }
        });
        ends.into_iter()
            .find_map(|part| self.solid(part, joint))
            .unwrap_or_default()
    }

    /// The body or ground that a part is, or that it is fixed in.
    fn solid(&self, name: &str, from: &str) -> Option<String> {
        let mut seen = vec![from.to_owned()];
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            let part = self.parts.iter().find(|p| p.name == name)?;
            match part.role {
                Role::Body { .. } | Role::Ground { .. } => return Some(name),
                Role::Point => {
                    for [tail, head] in &self.links {
                        let next = match () {
                            () if tail.0 == name => &head.0,
                            () if head.0 == name => &tail.0,
                            () => continue,
                        };
                        if !seen.contains(next) {
                            open.push(next.clone());
                        }
                    }
                }
                _ => {}
            }
            seen.push(name);
        }
        None
    }
}

fn cast_one(part: &Part, wanted: &mut Wanted) -> Columns {
    let (name, n) = (part.name.as_str(), if part.is_planar { 2 } else { 3 });
    let mut c = Columns::default();
    match &part.role {
        Role::Body { shape } => {
            c.r = Some(wanted.vector(name, "r", n));
            c.turn = Some(match part.is_planar {
                true => wanted.number(name, "angle"),
                false => wanted.matrix(name, "A", 3),
            });
            c.mass = Some(wanted.number(name, "m"));
            c.size = Some(size_columns(part, shape, wanted));
        }
        Role::Joint {
            has_axis, force, ..
        } => {
            c.a = Some(wanted.vector(name, "a.r", n));
            c.b = Some(wanted.vector(name, "b.r", n));
            c.a_turn = Some(wanted.matrix(name, "a.A", n));
            c.axis = has_axis.then(|| wanted.vector(name, "axis", n));
            c.force = match force {
                ForceAsk::Vector => Some(wanted.vector(name, "force", n)),
                ForceAsk::Number => Some(wanted.number(name, "force")),
                ForceAsk::None => None,
            };
        }
        Role::Push => {
            c.a = Some(wanted.vector(name, "at.r", n));
            c.force = Some(wanted.vector(name, "F", n));
        }
        Role::Ground { has_gravity: true } if !part.is_planar => {
            c.gravity = Some(wanted.vector(name, "gravity", 3));
        }
        Role::Point | Role::Ground { .. } => {}
    }
    c
}

fn size_columns(part: &Part, shape: &ShapeAsk, wanted: &mut Wanted) -> usize {
    let name = part.name.as_str();
    match shape {
        ShapeAsk::Rod { has_radius } => {
            let first = wanted.number(name, "l");
            if *has_radius {
                wanted.number(name, "radius");
            }
            first
        }
        ShapeAsk::Ball => wanted.number(name, "radius"),
        ShapeAsk::Box => wanted.vector(name, "edges", 3),
        ShapeAsk::Cylinder => {
            let first = wanted.number(name, "radius");
            wanted.number(name, "length");
            first
        }
        ShapeAsk::Declared { entries: 1 } => wanted.number(name, "shape"),
        ShapeAsk::Declared { entries } => wanted.vector(name, "shape", *entries),
        ShapeAsk::Inertia if part.is_planar => wanted.number(name, "J"),
        ShapeAsk::Inertia => wanted.matrix(name, "J", 3),
    }
}

/// The shape of a body in numbers; sizes that make no body are left to the page, which draws a point.
fn shape_of(part: &Part, c: &Columns, mass: f64, columns: &[Vec<f64>]) -> Value {
    let (Role::Body { shape }, Some(first)) = (&part.role, c.size) else {
        return Value::Null;
    };
    let at = |i: usize| columns[first + i][0];
    let box_shape = |edges: [f64; 3]| json!({ "kind": "box", "edges": edges });

    match shape {
        ShapeAsk::Rod { has_radius } => {
            // A bar of no thickness is drawn as thick as a bar usually is.
            let radius = if *has_radius { at(1) } else { 0.03 * at(0) };
            json!({ "kind": "rod", "length": at(0), "radius": radius })
        }
        ShapeAsk::Ball | ShapeAsk::Declared { entries: 1 } => {
            json!({ "kind": "ball", "radius": at(0) })
        }
        ShapeAsk::Cylinder | ShapeAsk::Declared { entries: 2 } => {
            json!({ "kind": "cylinder", "radius": at(0), "length": at(1) })
        }
        ShapeAsk::Box | ShapeAsk::Declared { .. } => box_shape([at(0), at(1), at(2)]),
        ShapeAsk::Inertia if part.is_planar => {
            // A square plate: J = m a²/6.
            let edge = (6.0 * at(0) / mass).max(0.0).sqrt();
            match edge.is_finite() && edge > 0.0 {
                true => box_shape([edge, edge, 0.2 * edge]),
                false => Value::Null,
            }
        }
        ShapeAsk::Inertia => {
            let inertia = [0, 1, 2].map(|i| [0, 1, 2].map(|k| at(3 * i + k)));
            match shape::box_of(mass, &inertia) {
                Some((edges, axes)) => json!({ "kind": "box", "edges": edges, "axes": axes }),
                None => Value::Null,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_design::design::design_in;
    use paynter_design::overlay::{LibraryOnly, Overlay};

    fn film_of(text: &str) -> Result<Film, String> {
        let mut texts = Overlay::new(LibraryOnly);
        texts.set("/m.bond", text);
        let choice = Choice::default();
        let design = design_in(&mut texts, "/m.bond", &choice).map_err(first_words)?;
        film(&design, &choice, &mut |_| ControlFlow::Continue(()))
    }

    const PENDULUM: &str = "use mechanics3d: World, Body, Rod, Revolute, Weld, ez\n\
        model Bob extends Body { param shape: [3] [m] = [0.1, 0.2, 0.3] [m] }\n\
        model M {\n    world: World(gravity = [0, -9.81, 0] [m/s^2])\n    rod: Rod(m = 1 [kg], l = 1 [m])\n    bob: Bob(m = 2 [kg], J = 0.01 [kg*m^2]*eye(3))\n\
        \x20   world => hinge: Revolute(axis = ez) => rod.a\n    rod.b => weld: Weld => bob.cg\n    start hinge.angle = 30 [deg], hinge.rate = 0 [rad/s]\n}\n\
        experiment e of M { stop = 1 [s]; record hinge.angle }\n";

    #[test]
    fn bodies_turn_about_their_hinge() {
        let Film { head, columns, .. } = film_of(PENDULUM).expect("given");
        let body = |name: &str| {
            head["bodies"]
                .as_array()
                .expect("given")
                .iter()
                .find(|b| b["name"] == name)
                .expect("given")
        };
        let (rod, bob) = (body("rod"), body("bob"));
        assert_eq!(rod["shape"]["kind"], "rod");
        assert_eq!(bob["shape"]["edges"], json!([0.1, 0.2, 0.3]));
        assert_eq!(head["up"], json!([0.0, 1.0, 0.0]));
        let joint = &head["joints"][0];
        assert_eq!(joint["holds"], json!(["world", "rod"]));
        assert_eq!(head["joints"][1]["holds"], json!(["rod", "bob"]));
        // The centre of the rod stays half a metre from the hinge, and its x axis points there.
        let first = |v: &Value| v.as_u64().expect("given") as usize;
        let (r, a) = (first(&rod["r"]), first(&rod["turn"]));
        for i in 0..columns[0].len() {
            let (x, y) = (columns[r][i], columns[r + 1][i]);
            assert!((x.hypot(y) - 0.5).abs() < 1e-6);
            assert!(
                (columns[a][i] - 2.0 * x).abs() < 1e-6
                    && (columns[a + 3][i] - 2.0 * y).abs() < 1e-6
            );
        }
        assert!((columns[r + 1][0] - 0.25).abs() < 1e-9);
    }

    #[test]
    fn bodies_in_a_plane_and_parts_of_parts_are_found() {
        let text = "use mechanics2d: Ground, Bar, Plate, Pin, Weight, Cut\n\
            model Arm {\n    port at: Cut\n    low: Bar(m = 1 [kg], l = 1 [m])\n    at => h: Pin => low.a\n    w: Weight(m = 1 [kg]) => low.cg\n}\n\
            model M {\n    ground: Ground()\n    for i in 1 .. 2 { arm[i]: Arm(); ground => arm[i].at }\n}\n\
            experiment e of M { stop = 0.5 [s]; record arm[1].low.angle }\n";
        let Film { head, columns, .. } = film_of(text).expect("given");
        assert_eq!(head["bodies"].as_array().expect("given").len(), 2);
        assert_eq!(head["bodies"][1]["name"], "arm[2].low");
        assert_eq!(head["joints"][1]["name"], "arm[2].h");
        assert_eq!(
            (head["isPlanar"].as_bool(), columns[0].len()),
            (Some(true), N_FRAMES)
        );
    }

    #[test]
    fn a_model_without_bodies_says_so() {
        let why =
            film_of("model M { s: Se(1) -> j: 1 -> r: R(1), i: I(1) }\n").expect_err("refused");
        assert!(why.contains("no bodies"), "{why}");
    }
}
