//! Names that a `lagrangian` block makes.
//!
//! In:  the syntax of a block.
//! Out: each name with the word that declares it and the place of its declaration.
//!
//! The model that is derived from a block has members of the same names: an experiment that reads `theta` or `bob.p` means the
//! coordinate and the kinetic energy of the block.

use paynter::syntax::{Span, ast};

/// A name of a block.
#[derive(Clone, Debug)]
pub struct Made<'a> {
    /// Its name.
    pub name: &'a ast::Ident,
    /// `coordinate`, `kinetic` … ; empty for a definition.
    pub word: &'static str,
    /// The declaration without its word.
    pub span: Span,
    /// Its documentation.
    pub doc: Option<&'a str>,
}

/// Words of a block with what is typed.
pub const WORDS: &[(&str, &str)] = &[
    ("coordinate", "coordinate ${1:x} [${2:m}]"),
    ("rate", "rate ${1:v} = der(${2:x})"),
    ("speed", "speed ${1:v}"),
    ("kinetic", "kinetic ${1:bob} = 0.5*${2:m}*${3:v}^2"),
    ("potential", "potential ${1:weight} = ${2:m*g*x}"),
    ("loss", "loss ${1:drag} = 0.5*${2:b}*${3:v}^2"),
    ("effort", "effort ${1:x} = ${2:F}"),
    ("given", "given ${1:s} = ${2:0.1 [m]*sin(time)}"),
    (
        "constraint",
        "constraint ${1:rod}: ${2:x^2 + y^2} == ${3:l^2}",
    ),
    ("param", "param ${1:m} = ${2:1} [${3:kg}]"),
    ("input", "input ${1:F} = ${2:0} [${3:N}]"),
    ("output", "output ${1:height} = ${2:l*cos(theta)}"),
    ("port", "port ${1:shaft}: ${2:rotational} = ${3:theta}"),
    ("start", "start ${1:x} = ${2:0} [${3:m}]"),
];

/// Everything that a block declares, in text order.
pub fn made(lagrangian: &ast::Lagrangian) -> Vec<Made<'_>> {
    use ast::LagrangianKind as L;
    let mut found = Vec::new();
    for statement in &lagrangian.body {
        let doc = statement.doc.as_deref();
        let (word, list) = match &statement.kind {
            L::Param(list) => ("param", list),
            L::Input(list) => ("input", list),
            L::Output(list) => ("output", list),
            L::Coordinate(list) => ("coordinate", list),
            L::Rate(list) => ("rate", list),
            L::Kinetic(list) => ("kinetic", list),
            L::Potential(list) => ("potential", list),
            L::Loss(list) => ("loss", list),
            L::Given(list) => ("given", list),
            L::Port(list) => {
                found.extend(list.iter().map(|p| Made {
                    name: &p.name,
                    word: "port",
                    span: p.span,
                    doc,
                }));
                continue;
            }
            L::Constraint { name, demand } => {
                found.push(Made {
                    name,
                    word: "constraint",
                    span: name.span.to(demand.right.span),
                    doc,
                });
                continue;
            }
            L::Define(define) => {
                if let [only] = define.target.parts.as_slice() {
                    found.push(Made {
                        name: &only.name,
                        word: "",
                        span: define.span,
                        doc: define.doc.as_deref().or(doc),
                    });
                }
                continue;
            }
            // A force acts on a coordinate or rate that is declared elsewhere; a speed is one.
            L::Effort(_) | L::Speed(_) | L::Start(_) | L::Guess(_) => continue,
        };
        found.extend(list.iter().map(|d| Made {
            name: &d.name,
            word,
            span: d.span,
            doc: d.doc.as_deref().or(doc),
        }));
    }
    found
}
