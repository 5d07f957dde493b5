//! Which parts of a model are bodies, joints and forces, and what hangs on what.
//!
//! In:  the texts of a project, the model, and the names of all its parts.
//! Out: the parts that have a place in space, each with its class.
//!
//! A body is a part with a place `r` that changes and a turn, `A` in space or `angle` in a plane. A joint is a part
//! between two cuts `a` and `b` of bodies. Nothing here asks for names of the library, but for shapes.

use paynter_model::project::Project;
use paynter_syntax::ast;

/// What a part is on the stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// Has mass, a place and a turn.
    Body { shape: ShapeAsk },
    /// Between two cuts.
    Joint {
        has_axis: bool,
        force: ForceAsk,
        is_line: bool,
    },
    /// Pushes at a cut `at`.
    Push,
    /// Hands a cut on: a point fixed in a body.
    Point,
    /// Does not move.
    Ground { has_gravity: bool },
}

/// Where the shape of a body comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeAsk {
    /// `l` along its own x axis, as thick as `radius` says.
    Rod { has_radius: bool },
    /// `radius`.
    Ball,
    /// `edges`.
    Box,
    /// `radius` and `length` along x.
    Cylinder,
    /// The parameter `shape`: one entry is the radius of a ball, two are radius and length of a cylinder along x,
    /// three are the edges of a box.
    Declared { entries: usize },
    /// The box of even density with this mass and inertia.
    Inertia,
}

/// How a joint tells its force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceAsk {
    /// A vector in inertial axes, on b.
    Vector,
    /// One number.
    Number,
    /// Not at all.
    None,
}

/// A part with a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its full name.
    pub name: String,
    /// Its model.
    pub class: String,
    /// What it is.
    pub role: Role,
    /// Two coordinates instead of three.
    pub is_planar: bool,
}

/// An arrow between parts: tail with its port, head with its port; empty where the arrow names none.
pub type Link = [(String, String); 2];

/// A model with the file it is in, and what its maker says about it.
#[derive(Clone, Copy)]
struct Class<'a> {
    file: usize,
    model: &'a ast::Model,
    args: &'a [ast::Arg],
}

impl<'a> Class<'a> {
    /// The model of this name that the main file knows, as it is without arguments.
    fn named(project: &'a Project, name: &str) -> Option<Self> {
        let (file, item) = project.find_name(name, 0)?;
        let ast::ItemKind::Model(model) = &item.kind else {
            return None;
        };
        Some(Class {
            file,
            model,
            args: &[],
        })
    }
}

/// Finds the parts that have a place, in the order of `names`.
pub fn parts(
    project: &Project,
    model: &str,
    names: &[String],
    experiment: Option<&str>,
) -> Vec<Part> {
    let Some(top) = Class::named(project, model) else {
        return Vec::new();
    };
    let swapped = swapped(project, experiment);
    let place = |name: &String| {
        let class = class_of(project, top, name, &swapped)?;
        let (role, is_planar) = role(&Declared::of(project, class))?;
        Some(Part {
            name: name.clone(),
            class: class.model.name.text.to_string(),
            role,
            is_planar,
        })
    };
    names.iter().filter_map(place).collect()
}

/// Lists the arrows of a model and of all its parts, by full names.
pub fn links(
    project: &Project,
    model: &str,
    names: &[String],
    experiment: Option<&str>,
) -> Vec<Link> {
    let Some(top) = Class::named(project, model) else {
        return Vec::new();
    };
    let swapped = swapped(project, experiment);
    let mut found = Vec::new();
    let mut add = |class: Class<'_>, prefix: &str| {
        for (_, level) in project.lineage(class.model, class.file) {
            each_chain(&level.body, &mut |chain| {
                for pair in chain.groups.windows(2) {
                    let [left, right] = pair else { continue };
                    for (l, r) in left.iter().flat_map(|l| right.iter().map(move |r| (l, r))) {
                        if let Some((l, r)) = end(l, prefix).zip(end(r, prefix)) {
                            found.push([l, r]);
                        }
                    }
                }
            });
        }
    };

    add(top, "");
    for name in names {
        if let Some(class) = class_of(project, top, name, &swapped) {
            add(class, &format!("{name}."));
        }
    }
    found
}

/// The part and port that an end of an arrow names. An index that runs is left out: such ends have no one name.
fn end(node: &ast::Node, prefix: &str) -> Option<(String, String)> {
    match &node.kind {
        ast::NodeKind::Thing { name, index, .. } => Some((
            format!("{prefix}{}{}", name.text, indices(index)?),
            String::new(),
        )),
        ast::NodeKind::Ref(r) => {
            let (last, before) = r.parts.split_last()?;
            let text = |p: &ast::RefPart| Some(format!("{}{}", p.name.text, indices(&p.index)?));
            let before: Option<Vec<String>> = before.iter().map(text).collect();
            let before = before?;
            match before.is_empty() {
                true => Some((format!("{prefix}{}", text(last)?), String::new())),
                false => Some((format!("{prefix}{}", before.join(".")), text(last)?)),
            }
        }
        _ => None,
    }
}

fn indices(index: &[ast::Expr]) -> Option<String> {
    let numbers: Option<Vec<String>> = index
        .iter()
        .map(|e| match &e.kind {
            ast::ExprKind::Number { value, .. } => Some(value.to_string()),
            _ => None,
        })
        .collect();
    let numbers = numbers?;
    Some(match numbers.is_empty() {
        true => String::new(),
        false => format!("[{}]", numbers.join(",")),
    })
}

/// Parts that the experiment replaces: (full name, model).
fn swapped<'a>(project: &'a Project, experiment: Option<&str>) -> Vec<(String, &'a ast::Path)> {
    let Some(file) = project.files.first() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in &file.ast.items {
        let ast::ItemKind::Experiment(own) = &item.kind else {
            continue;
        };
        if Some(&*own.name.text) != experiment {
            continue;
        }
        for statement in own.statements() {
            let ast::ExperimentKind::With(assigns) = &statement.kind else {
                continue;
            };
            for assign in assigns {
                let ast::ExprKind::Call { function, .. } = &assign.value.kind else {
                    continue;
                };
                let steps = assign.target.parts.iter().map(|p| p.name.text.to_string());
                found.push((steps.collect::<Vec<_>>().join("."), function));
            }
        }
    }
    found
}

/// The class of a part, by its full name.
fn class_of<'a>(
    project: &'a Project,
    top: Class<'a>,
    name: &str,
    swapped: &[(String, &'a ast::Path)],
) -> Option<Class<'a>> {
    let mut class = top;
    let mut way = String::new();
    for step in name.split('.') {
        let bare = step.split('[').next()?;
        if !way.is_empty() {
            way.push('.');
        }
        way.push_str(bare);
        if let Some((_, path)) = swapped.iter().find(|(n, _)| *n == way) {
            let (file, model) = project.find_model(path, 0)?;
            class = Class {
                file,
                model,
                args: &[],
            };
            continue;
        }
        class = inner(project, class, bare)?;
    }
    Some(class)
}

/// The class of a part of a class.
fn inner<'a>(project: &'a Project, class: Class<'a>, name: &str) -> Option<Class<'a>> {
    let levels = project.lineage(class.model, class.file);
    // What the maker puts in the place of a replaceable part comes before what the model says.
    let given = class.args.iter().chain(
        levels
            .iter()
            .filter_map(|(_, m)| m.extends.as_ref())
            .flat_map(|e| &e.args),
    );
    let given = given.filter(|a| a.name.as_ref().is_some_and(|n| &*n.text == name));
    for arg in given {
        if let ast::ExprKind::Call { function, args } = &arg.value.kind {
            let (file, model) = find_anywhere(project, function)?;
            return Some(Class { file, model, args });
        }
    }
    for (file, level) in levels {
        if let Some((path, args)) = made(&level.body, name) {
            let (file, model) = project.find_model(path, file)?;
            return Some(Class { file, model, args });
        }
    }
    None
}

fn find_anywhere<'a>(project: &'a Project, path: &ast::Path) -> Option<(usize, &'a ast::Model)> {
    (0..project.files.len()).find_map(|file| project.find_model(path, file))
}

/// The model and arguments of the part of this name.
fn made<'a>(body: &'a [ast::Stmt], name: &str) -> Option<(&'a ast::Path, &'a [ast::Arg])> {
    for statement in body {
        let found = match &statement.kind {
            ast::StmtKind::Replaceable {
                name: own, default, ..
            } if &*own.text == name => default.as_ref().map(|d| (&d.path, d.args.as_slice())),
            ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. } => {
                let nodes = chain.groups.iter().flatten();
                nodes.into_iter().find_map(|n| thing(n, name))
            }
            ast::StmtKind::For { body, .. } => made(body, name),
            ast::StmtKind::If {
                then, otherwise, ..
            } => made(then, name).or_else(|| made(otherwise, name)),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn thing<'a>(node: &'a ast::Node, name: &str) -> Option<(&'a ast::Path, &'a [ast::Arg])> {
    match &node.kind {
        ast::NodeKind::Thing {
            name: own, kind, ..
        } if &*own.text == name => match &kind.head {
            ast::KindHead::Named(path) => Some((path, kind.args.as_deref().unwrap_or_default())),
            _ => None,
        },
        ast::NodeKind::Tuple(nodes) => nodes.iter().find_map(|n| thing(n, name)),
        _ => None,
    }
}

fn each_chain(body: &[ast::Stmt], see: &mut dyn FnMut(&ast::Chain)) {
    for statement in body {
        match &statement.kind {
            ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. } => see(chain),
            ast::StmtKind::For { body, .. } => each_chain(body, see),
            ast::StmtKind::If {
                then, otherwise, ..
            } => {
                each_chain(then, see);
                each_chain(otherwise, see);
            }
            _ => {}
        }
    }
}

/// What a class and those it extends declare.
#[derive(Default)]
struct Declared<'a> {
    names: Vec<&'a str>,
    rates: Vec<&'a str>,
    defines: Vec<&'a str>,
    /// Parameters, inputs and outputs with their number of entries.
    values: Vec<(&'a str, usize)>,
    cuts: Vec<(&'a str, bool, bool)>,
}

impl<'a> Declared<'a> {
    fn of(project: &'a Project, class: Class<'a>) -> Self {
        let mut all = Declared::default();
        for (_, level) in project.lineage(class.model, class.file) {
            all.names.push(&level.name.text);
            for statement in &level.body {
                all.add(&statement.kind);
            }
        }
        all
    }

    fn add(&mut self, statement: &'a ast::StmtKind) {
        match statement {
            ast::StmtKind::Param(decls)
            | ast::StmtKind::Input(decls)
            | ast::StmtKind::Output(decls) => {
                let entries = |d: &ast::Decl| match d.shape.as_deref() {
                    Some([size]) => match size.kind {
                        ast::ExprKind::Number { value, .. } => value as usize,
                        _ => 0,
                    },
                    Some(_) => 0,
                    None => 1,
                };
                self.values
                    .extend(decls.iter().map(|d| (&*d.name.text, entries(d))));
            }
            ast::StmtKind::Define(define) => {
                let [only] = define.target.parts.as_slice() else {
                    return;
                };
                match define.is_derivative {
                    true => self.rates.push(&only.name.text),
                    false => self.defines.push(&only.name.text),
                }
            }
            ast::StmtKind::Port(ports) => {
                for port in ports {
                    let kind = port.kind.segments.last().map_or("", |s| &*s.text);
                    if kind == "Frame" || kind == "Cut" {
                        self.cuts
                            .push((&port.name.text, kind == "Cut", port.binding.is_some()));
                    }
                }
            }
            _ => {}
        }
    }

    fn entries(&self, name: &str) -> Option<usize> {
        self.values.iter().find(|v| v.0 == name).map(|v| v.1)
    }

    fn cut(&self, name: &str) -> Option<bool> {
        self.cuts.iter().find(|c| c.0 == name).map(|c| c.1)
    }
}

/// What a class is on the stage, and whether it lies in a plane.
fn role(d: &Declared<'_>) -> Option<(Role, bool)> {
    let is_body = d.rates.contains(&"r") && d.entries("m").is_some() && d.entries("J").is_some();
    if is_body && d.rates.contains(&"angle") {
        return Some((Role::Body { shape: shape(d) }, true));
    }
    if is_body && d.defines.contains(&"A") {
        return Some((Role::Body { shape: shape(d) }, false));
    }

    if let Some((is_planar, _)) = d.cut("a").zip(d.cut("b")) {
        let force = match d.entries("force") {
            Some(n) if n > 1 => ForceAsk::Vector,
            Some(1) => ForceAsk::Number,
            _ => ForceAsk::None,
        };
        let role = Role::Joint {
            has_axis: d.entries("axis").is_some_and(|n| n > 1),
            force,
            is_line: d.defines.contains(&"gap"),
        };
        return Some((role, is_planar));
    }

    if let Some(is_planar) = d.cut("at")
        && d.entries("F").is_some_and(|n| n > 1)
    {
        return Some((Role::Push, is_planar));
    }

    if let Some((is_planar, _)) = d.cut("body").zip(d.cut("out")) {
        return Some((Role::Point, is_planar));
    }
    let is_planar = d.cut("fixed")?;
    let has_gravity = d.entries("gravity").is_some();
    Some((Role::Ground { has_gravity }, is_planar))
}

fn shape(d: &Declared<'_>) -> ShapeAsk {
    if let Some(entries @ 1..=3) = d.entries("shape") {
        return ShapeAsk::Declared { entries };
    }
    let is = |name: &str| d.names.contains(&name);
    if is("Rod") || is("Bar") {
        return ShapeAsk::Rod {
            has_radius: d.entries("radius").is_some(),
        };
    }
    match () {
        () if is("Ball") => ShapeAsk::Ball,
        () if is("Box") => ShapeAsk::Box,
        () if is("CylinderBody") => ShapeAsk::Cylinder,
        () => ShapeAsk::Inertia,
    }
}
