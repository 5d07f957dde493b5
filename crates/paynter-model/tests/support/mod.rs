//! One helper knows the API; the facts use it.
#![allow(dead_code, reason = "each test file uses its part")]

use paynter_model::check::check;
use paynter_model::elaborate::elaborate;
use paynter_model::graph::{BondGraph, BondId, ElementId, Law};
use paynter_model::project::{Loader, NoFiles, Project, Request, load};
use paynter_symbolic::{ExprId, Node, Pool};
use paynter_syntax::{Diagnostic, SourceMap};

/// Loads a text with files beside it and libraries.
pub struct Files<'f>(pub &'f [(&'f str, &'f str)]);

impl Loader for Files<'_> {
    fn library(&mut self, name: &str) -> Option<String> {
        self.0.iter().find(|f| f.0 == name).map(|f| f.1.to_owned())
    }

    fn file(&mut self, path: &str, _: Option<&str>) -> Result<(String, String), String> {
        match self.0.iter().find(|f| f.0 == path) {
            Some(f) => Ok((path.to_owned(), f.1.to_owned())),
            None => Err("no such file".to_owned()),
        }
    }

    fn libraries(&self) -> Vec<String> {
        self.0.iter().map(|f| f.0.to_owned()).collect()
    }
}

/// Parses a text that has no errors of syntax.
pub fn project(text: &str, files: &[(&str, &str)]) -> Project {
    let (project, messages) = load("model.bond", text, &mut Files(files));
    assert!(
        messages.is_empty(),
        "{}",
        plain(&messages, &project.sources)
    );
    project
}

/// Elaborates the last model of a text, which must be right.
pub fn graph_of(text: &str) -> BondGraph {
    graph_with(text, &[], &Request::default())
}

pub fn graph_with(text: &str, files: &[(&str, &str)], request: &Request) -> BondGraph {
    let project = project(text, files);
    let elaboration = elaborate(&project, request);
    let messages = plain(&elaboration.diagnostics, &project.sources);
    match elaboration.elaborated {
        Some(elaborated) => elaborated.into_graph(),
        None => panic!("{messages}"),
    }
}

/// Code, line and headline of each message.
pub fn plain(messages: &[Diagnostic], sources: &SourceMap) -> String {
    let mut out = String::new();
    for m in messages {
        let place = m.primary.as_ref().map_or(String::new(), |l| {
            let (line, column) = sources.line_column(l.span);
            format!("{line}:{column} ")
        });
        out.push_str(&format!("{} {place}{}\n", m.code, m.message));
        for l in m.primary.iter().chain(&m.secondary) {
            let (line, _) = sources.line_column(l.span);
            out.push_str(&format!(
                "    {line}: `{}` {}\n",
                sources.text(l.span),
                l.text
            ));
        }
        for h in &m.help {
            out.push_str(&format!("    help: {h}\n"));
        }
        for h in &m.notes {
            out.push_str(&format!("    note: {h}\n"));
        }
    }
    out
}

/// What is wrong with a text: code and headline of each message.
pub fn errors_of(text: &str) -> String {
    let (project, mut messages) = load("model.bond", text, &mut Files(&[]));
    if messages.is_empty() {
        messages = elaborate(&project, &Request::default()).diagnostics;
    }
    plain(&messages, &project.sources)
}

/// What `check` says about a text.
pub fn check_text(text: &str, files: &[(&str, &str)]) -> String {
    let (project, mut messages) = load("model.bond", text, &mut Files(files));
    messages.extend(check(&project));
    plain(&messages, &project.sources)
}

/// Draws a graph for people: one line per bond, one per law, one per equation.
pub fn picture(graph: &BondGraph) -> String {
    let name = |id: ElementId| {
        let e = graph.element(id);
        match e.name {
            Some(path) => graph.signals.names.display(path),
            None => format!("{}#{}", e.kind.letters(), id.0),
        }
    };
    let mut out = String::new();
    for bond in &graph.bonds {
        let stroke = match bond.forced {
            None => "->",
            Some(paynter_model::graph::Stroke::Head) => "->|",
            Some(paynter_model::graph::Stroke::Tail) => "|->",
        };
        out.push_str(&format!(
            "{} {stroke} {}\n",
            name(bond.tail.element),
            name(bond.head.element)
        ));
    }
    for (at, e) in graph.elements.iter().enumerate() {
        let id = ElementId(at as u32);
        let show = |x: ExprId| show(graph, x);
        let law = match &e.law {
            Law::Junction => continue,
            Law::Source {
                value,
                position: None,
            } => show(*value),
            Law::Source {
                value,
                position: Some(p),
            } => format!("{} at {}", show(*value), show(*p)),
            Law::Gain(x) => show(*x),
            Law::InverseGain(x) => format!("inverse {}", show(*x)),
            Law::Field(list) => {
                format!(
                    "[{}]",
                    list.iter().map(|x| show(*x)).collect::<Vec<_>>().join(", ")
                )
            }
            Law::InverseField(list) => {
                format!(
                    "inverse [{}]",
                    list.iter().map(|x| show(*x)).collect::<Vec<_>>().join(", ")
                )
            }
            Law::Explicit(list) => list
                .iter()
                .map(|(p, v, x)| format!("{v:?}{p} = {}", show(*x)))
                .collect::<Vec<_>>()
                .join("; "),
            Law::Switch { on, r_on, g_off } => {
                format!("{} {} {}", show(*on), show(*r_on), show(*g_off))
            }
            Law::Diode {
                r_on,
                g_off,
                threshold,
            } => {
                format!("{} {} {}", show(*r_on), show(*g_off), show(*threshold))
            }
        };
        let marks = match (e.is_modulated, e.can_vanish) {
            (true, true) => " modulated, can vanish",
            (true, false) => " modulated",
            _ => "",
        };
        out.push_str(&format!(
            "{}: {} {law}{marks}\n",
            name(id),
            e.kind.letters()
        ));
    }
    for eq in &graph.signals.equations {
        out.push_str(&format!(
            "{} = {}\n",
            show(graph, eq.left),
            show(graph, eq.right)
        ));
    }
    out
}

/// Prints an expression, fully bracketed.
pub fn show(graph: &BondGraph, e: ExprId) -> String {
    show_in(graph, &graph.signals.pool, e)
}

fn show_in(graph: &BondGraph, pool: &Pool, e: ExprId) -> String {
    let s = |x: ExprId| show_in(graph, pool, x);
    match pool.node(e) {
        Node::Number(bits) => format!("{}", f64::from_bits(bits)),
        Node::Symbol(id) => graph.signals.name_of(id),
        Node::Neg(a) => format!("-{}", s(a)),
        Node::Add(a, b) => format!("({} + {})", s(a), s(b)),
        Node::Sub(a, b) => format!("({} - {})", s(a), s(b)),
        Node::Mul(a, b) => format!("{}*{}", s(a), s(b)),
        Node::Div(a, b) => format!("{}/{}", s(a), s(b)),
        Node::Power(a, b) => format!("{}^{}", s(a), s(b)),
        Node::Call1(f, a) => format!("{f:?}({})", s(a)).to_lowercase(),
        Node::Call2(f, a, b) => format!("{f:?}({}, {})", s(a), s(b)).to_lowercase(),
        Node::Compare(c, a, b) => format!("{c:?}({}, {})", s(a), s(b)),
        Node::Not(a) => format!("not {}", s(a)),
        Node::And(a, b) => format!("({} and {})", s(a), s(b)),
        Node::Or(a, b) => format!("({} or {})", s(a), s(b)),
        Node::If(a, b, c) => format!("(if {} then {} else {})", s(a), s(b), s(c)),
        Node::Smooth(a) => format!("smooth({})", s(a)),
        Node::External(..) | Node::ExternalSlope(..) => "external".to_owned(),
    }
}

/// Checks the promises of a graph: every port on one bond, both ends right, arrows as promised.
pub fn assert_sound(graph: &BondGraph) {
    for (at, bond) in graph.bonds.iter().enumerate() {
        for end in [bond.tail, bond.head] {
            let element = &graph.elements[end.element.0 as usize];
            assert_eq!(
                element.ports[end.port as usize],
                BondId(at as u32),
                "ends know their bond"
            );
        }
    }
    for (at, element) in graph.elements.iter().enumerate() {
        for (port, &bond) in element.ports.iter().enumerate() {
            let bond = graph.bond(bond);
            let ends = [bond.tail, bond.head];
            assert!(
                ends.iter()
                    .any(|e| e.element.0 as usize == at && e.port as usize == port),
                "bonds know their ends"
            );
        }
    }
}

/// A project of one text that reads no other file.
pub fn alone(text: &str) -> (Project, Vec<Diagnostic>) {
    load("model.bond", text, &mut NoFiles)
}

/// Reads constants of a model by name.
pub struct Values(&'static str);

impl Values {
    /// Keeps the text of a model.
    pub fn of(text: &'static str) -> Self {
        Values(text)
    }

    /// The numbers of a constant, row by row.
    pub fn values(&mut self, path: &str) -> Vec<f64> {
        let project = project(self.0, &[]);
        let request = Request::default();
        let elaboration = elaborate(&project, &request);
        let messages = plain(&elaboration.diagnostics, &project.sources);
        let mut elaborated = elaboration
            .elaborated
            .unwrap_or_else(|| panic!("{messages}"));
        let value = elaborated.read(path).unwrap_or_else(|m| panic!("{m:?}"));
        let elements = value.elements.clone();
        elements
            .into_iter()
            .map(|e| elaborated.constant(e).expect("a constant"))
            .collect()
    }

    /// A single constant.
    pub fn value(&mut self, path: &str) -> f64 {
        self.values(path)[0]
    }
}
