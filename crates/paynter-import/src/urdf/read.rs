//! Reads links and joints off the XML.
//!
//! In:  the text.
//! Out: a [`Robot`], each thing with its place; messages for attributes that are missing or make no sense.
//!
//! Pictures, collisions, materials, sensors and what simulators add are not part of the motion and passed over.
//!
//! **Invariant:** numbers are finite; masses and moments are those of some body.

use super::rotation::{M, ONE, V, of_angles};
use crate::code;
use paynter_syntax::{Diagnostic, FileId, Span};
use roxmltree::{Document, Node};

/// What a URDF says about the motion.
pub(super) struct Robot {
    pub name: String,
    pub links: Vec<Link>,
    pub joints: Vec<Joint>,
    pub span: Span,
}

pub(super) struct Link {
    pub name: String,
    pub inertial: Option<Inertial>,
    pub span: Span,
}

#[derive(Clone, Copy)]
pub(super) struct Inertial {
    pub mass: f64,
    /// About the centre of mass, in the axes of `origin`.
    pub moments: M,
    pub origin: Origin,
}

/// Where a frame is, seen from another one.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub place: V,
    pub turn: M,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Revolute,
    Prismatic,
    Fixed,
    Floating,
    Planar,
}

pub(super) struct Joint {
    pub name: String,
    pub kind: Kind,
    pub parent: String,
    pub child: String,
    pub origin: Origin,
    pub axis: V,
    pub damping: f64,
    pub limit: Option<Limit>,
    /// The child has no mass.
    pub is_massless: bool,
    pub span: Span,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Limit {
    /// Ends of the range; a continuous joint has none.
    pub range: Option<(f64, f64)>,
    pub effort: Option<f64>,
    pub velocity: Option<f64>,
}

/// Reads the robot; none if the file is none.
pub(super) fn read(text: &str, file: FileId, found: &mut Vec<Diagnostic>) -> Option<Robot> {
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            found.push(not_xml(text, file, &error));
            return None;
        }
    };
    let root = document.root_element();
    let mut reader = Reader { file, found };
    if root.tag_name().name() != "robot" {
        let message = format!("`<{}>` is not a robot", root.tag_name().name());
        reader.report(
            code::NOT_URDF,
            message,
            (root, "a URDF begins with `<robot>`"),
        );
        return None;
    }

    let is_template = |node: &Node<'_, '_>| {
        let space = node.tag_name().namespace();
        space.is_some_and(|uri| uri.contains("xacro"))
    };
    if let Some(node) = document.descendants().find(is_template) {
        let message = "this file is a xacro template, not a URDF".to_owned();
        reader.report(
            code::NOT_URDF,
            message,
            (node, "run `xacro FILE.xacro > FILE.urdf` first"),
        );
        return None;
    }

    let elements = |name: &'static str| {
        root.children()
            .filter(move |n| n.is_element() && n.tag_name().name() == name)
    };
    let links = elements("link").map(|node| reader.link(node)).collect();
    let joints = elements("joint").filter_map(|node| reader.joint(node));
    let joints = joints.collect();
    Some(Robot {
        name: root.attribute("name").unwrap_or("robot").to_owned(),
        links,
        joints,
        span: reader.span(root),
    })
}

fn not_xml(text: &str, file: FileId, error: &roxmltree::Error) -> Diagnostic {
    let place = error.pos();
    let before = text.split_inclusive('\n').take(place.row as usize - 1);
    let line: usize = before.map(str::len).sum();
    let rest = text.get(line..).unwrap_or("");
    let in_line = rest.char_indices().nth(place.col as usize - 1);
    let start = line + in_line.map_or(0, |(at, _)| at);
    let end = start + text[start..].chars().next().map_or(0, char::len_utf8);
    let why = error.to_string();
    let why = why.split(" at ").next().unwrap_or("it ends too early");
    Diagnostic::error(code::NOT_XML, format!("this is not XML: {why}"))
        .primary(Span::new(file, start, end), "reading stopped here")
}

struct Reader<'f> {
    file: FileId,
    found: &'f mut Vec<Diagnostic>,
}

type Element<'a, 'i> = Node<'a, 'i>;

impl Reader<'_> {
    /// The opening tag: an element as a whole may be a page.
    fn span(&self, node: Element<'_, '_>) -> Span {
        let range = node.range();
        let text = &node.document().input_text()[range.clone()];
        let end = text.find('>').map_or(range.end, |at| range.start + at + 1);
        Span::new(self.file, range.start, end)
    }

    fn report(
        &mut self,
        code: &'static str,
        message: String,
        (at, label): (Element<'_, '_>, &str),
    ) {
        let span = self.span(at);
        let message = match code.starts_with('W') {
            true => Diagnostic::warning(code, message),
            false => Diagnostic::error(code, message),
        };
        self.found.push(message.primary(span, label));
    }

    fn child<'a, 'i>(&self, node: Element<'a, 'i>, name: &str) -> Option<Element<'a, 'i>> {
        let mut children = node.children();
        children.find(|n| n.is_element() && n.tag_name().name() == name)
    }

    fn name(&mut self, node: Element<'_, '_>) -> String {
        match node.attribute("name").map(str::trim) {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => {
                let message = format!("a `<{}>` without a name", node.tag_name().name());
                self.report(code::BAD_NAME, message, (node, "add name=\"…\""));
                String::new()
            }
        }
    }

    /// Numbers of an attribute; `default` if it is not there.
    fn numbers<const N: usize>(
        &mut self,
        node: Element<'_, '_>,
        name: &str,
        default: Option<[f64; N]>,
    ) -> [f64; N] {
        let (Some(text), _) = (node.attribute(name), default) else {
            if default.is_none() {
                let message = format!("`<{}>` has no `{name}`", node.tag_name().name());
                self.report(code::BAD_ATTRIBUTE, message, (node, "needed here"));
            }
            return default.unwrap_or([1.0; N]);
        };
        let values: Option<Vec<f64>> = text.split_whitespace().map(|t| t.parse().ok()).collect();
        let is_finite = |v: &Vec<f64>| v.iter().all(|x: &f64| x.is_finite());
        let values = values.filter(is_finite);
        if let Some(Ok(values)) = values.map(TryInto::<[f64; N]>::try_into) {
            return values;
        }
        let wanted = if N == 1 { "a number" } else { "three numbers" };
        let message = format!("`{name}=\"{text}\"` is not {wanted}");
        self.report(code::BAD_ATTRIBUTE, message, (node, "in this element"));
        default.unwrap_or([1.0; N])
    }

    fn number(&mut self, node: Element<'_, '_>, name: &str, default: Option<f64>) -> f64 {
        self.numbers(node, name, default.map(|x| [x]))[0]
    }

    fn origin(&mut self, node: Element<'_, '_>) -> Origin {
        let Some(node) = self.child(node, "origin") else {
            return Origin {
                place: [0.0; 3],
                turn: ONE,
            };
        };
        Origin {
            place: self.numbers(node, "xyz", Some([0.0; 3])),
            turn: of_angles(self.numbers(node, "rpy", Some([0.0; 3]))),
        }
    }

    fn link(&mut self, node: Element<'_, '_>) -> Link {
        Link {
            name: self.name(node),
            inertial: self.child(node, "inertial").map(|n| self.inertial(n)),
            span: self.span(node),
        }
    }

    fn inertial(&mut self, node: Element<'_, '_>) -> Inertial {
        let n_before = self.found.len();
        let mass = match self.child(node, "mass") {
            Some(mass) => self.number(mass, "value", None),
            None => self.missing(node, "mass"),
        };
        let moments = match self.child(node, "inertia") {
            Some(i) => {
                let [xx, yy, zz] = ["ixx", "iyy", "izz"].map(|name| self.number(i, name, None));
                let off = ["ixy", "ixz", "iyz"].map(|name| self.number(i, name, Some(0.0)));
                let [xy, xz, yz] = off;
                [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
            }
            None => {
                self.missing(node, "inertia");
                ONE
            }
        };
        if self.found.len() == n_before {
            self.check_body(node, mass, &moments);
        }
        Inertial {
            mass,
            moments,
            origin: self.origin(node),
        }
    }

    fn missing(&mut self, node: Element<'_, '_>, name: &str) -> f64 {
        let message = format!("`<{}>` has no `<{name}>`", node.tag_name().name());
        self.report(code::BAD_ATTRIBUTE, message, (node, "needed here"));
        1.0
    }

    fn check_body(&mut self, node: Element<'_, '_>, mass: f64, moments: &M) {
        let trace = moments[0][0] + moments[1][1] + moments[2][2];
        // Moments are often written with three digits.
        const ROUNDED: f64 = 1e-3;
        let rest: M = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let half = if i == j { (0.5 + ROUNDED) * trace } else { 0.0 };
                half - moments[i][j]
            })
        });
        let (why, label) = if mass <= 0.0 {
            (
                "the mass is not positive",
                "a link without mass has no `<inertial>`",
            )
        } else if !is_positive(moments) {
            (
                "the moments of inertia are not positive",
                "in some direction",
            )
        } else if !is_positive(&rest) {
            (
                "these moments of inertia are impossible",
                "one is greater than the sum of the two others",
            )
        } else {
            return;
        };
        self.report(code::BAD_INERTIA, why.to_owned(), (node, label));
    }

    fn joint(&mut self, node: Element<'_, '_>) -> Option<Joint> {
        let name = self.name(node);
        let end = |reader: &mut Self, which: &str| {
            let link = reader.child(node, which)?.attribute("link");
            link.map(str::to_owned)
        };
        let (Some(parent), Some(child)) = (end(self, "parent"), end(self, "child")) else {
            let message = format!("joint `{name}` does not say which links it joins");
            let label = "needs `<parent link=\"…\"/>` and `<child link=\"…\"/>`";
            self.report(code::BAD_NAME, message, (node, label));
            return None;
        };

        let kind = self.kind(node, &name)?;
        let axis = match self.child(node, "axis") {
            Some(axis) => self.numbers(axis, "xyz", Some([1.0, 0.0, 0.0])),
            None => [1.0, 0.0, 0.0],
        };
        let is_moving = matches!(kind, Kind::Revolute | Kind::Prismatic | Kind::Planar);
        if is_moving && axis.iter().all(|x| *x == 0.0) {
            let message = format!("the axis of joint `{name}` is zero");
            self.report(
                code::BAD_JOINT,
                message,
                (node, "about what should it move?"),
            );
        }

        self.name_what_is_left_out(node, &name);
        let dynamics = self.child(node, "dynamics");
        Some(Joint {
            kind,
            parent,
            child,
            origin: self.origin(node),
            axis,
            damping: dynamics.map_or(0.0, |d| self.number(d, "damping", Some(0.0))),
            limit: self.limit(node),
            is_massless: false,
            span: self.span(node),
            name,
        })
    }

    fn kind(&mut self, node: Element<'_, '_>, name: &str) -> Option<Kind> {
        Some(match node.attribute("type") {
            Some("revolute" | "continuous") => Kind::Revolute,
            Some("prismatic") => Kind::Prismatic,
            Some("fixed") => Kind::Fixed,
            Some("floating") => Kind::Floating,
            Some("planar") => Kind::Planar,
            other => {
                let message = match other {
                    Some(other) => format!("joint `{name}` is of the unknown type `{other}`"),
                    None => format!("joint `{name}` has no type"),
                };
                let label = "use revolute, continuous, prismatic, fixed, floating or planar";
                self.report(code::BAD_JOINT, message, (node, label));
                return None;
            }
        })
    }

    fn limit(&mut self, node: Element<'_, '_>) -> Option<Limit> {
        let is_endless = node.attribute("type") == Some("continuous");
        let limit = self.child(node, "limit")?;
        let (lower, upper) = (
            self.number(limit, "lower", Some(0.0)),
            self.number(limit, "upper", Some(0.0)),
        );
        let mut size = |name: &str| {
            let is_there = limit.attribute(name).is_some();
            is_there.then(|| self.number(limit, name, Some(0.0)))
        };
        let (effort, velocity) = (size("effort"), size("velocity"));
        if lower > upper {
            let message = format!("the lower limit {lower} is above the upper limit {upper}");
            self.report(code::BAD_ATTRIBUTE, message, (limit, "exchange them"));
        }
        // Without numbers a joint has no range; URDF takes both as zero then.
        let range = (limit.has_attribute("lower") || limit.has_attribute("upper"))
            .then_some((lower, upper))
            .filter(|_| !is_endless);
        Some(Limit {
            range,
            effort,
            velocity,
        })
    }

    fn name_what_is_left_out(&mut self, node: Element<'_, '_>, name: &str) {
        if let Some(mimic) = self.child(node, "mimic") {
            let message = format!("joint `{name}` becomes independent: `<mimic>` is not imported");
            let label = "add a `GearPair` between the two joints";
            self.report(code::LEFT_OUT, message, (mimic, label));
        }
        if let Some(dynamics) = self.child(node, "dynamics")
            && self.number(dynamics, "friction", Some(0.0)) != 0.0
        {
            let message = format!("the dry friction of joint `{name}` is not imported");
            self.report(code::LEFT_OUT, message, (dynamics, "only its damping is"));
        }
    }
}

/// Tells whether a symmetric matrix is positive definite (Sylvester).
fn is_positive(m: &M) -> bool {
    let two = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    let three = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    m[0][0] > 0.0 && two > 0.0 && three > 0.0
}
