//! Gives experiments what they take over from the ones they extend.
//!
//! In:  a file as it was read: `experiment b extends a { … }` has only what it writes itself.
//! Out: the same with [`ast::Experiment::of`] and [`ast::Experiment::inherited`] filled in.
//!
//! One value of a model, one start, one measure and one setting replaces the one of the same name. Of all other lines
//! (`record`, `plot`, `compare`, …) those of a kind that `b` writes itself replace all of this kind.
//!
//! **Invariant:** an experiment whose base is not in the file, or that extends itself, is reported and left out.

use crate::ast::{self, ExperimentKind as Kind, ItemKind};
use crate::diagnostic::Diagnostic;
use crate::{Span, code};
use std::collections::HashMap;

/// Fills in what experiments take over; gives what is wrong with them.
pub(super) fn extend_experiments(file: &mut ast::File) -> Vec<Diagnostic> {
    let mut known: HashMap<String, ast::Experiment> = HashMap::new();
    let mut open = Vec::new();
    for (number, item) in file.items.iter().enumerate() {
        if let ItemKind::Experiment(e) = &item.kind {
            match &e.extends {
                None => {
                    known.insert(e.name.text.to_string(), e.clone());
                }
                Some(_) => open.push(number),
            }
        }
    }

    // A base may occur below, and extend another one itself.
    loop {
        let before = open.len();
        open.retain(|&number| {
            let ItemKind::Experiment(own) = &mut file.items[number].kind else {
                return false;
            };
            let base = own.extends.as_ref().and_then(|b| known.get(&*b.text));
            let Some(base) = base else {
                return true;
            };
            take_over(own, base);
            known.insert(own.name.text.to_string(), own.clone());
            false
        });
        if open.len() == before {
            break;
        }
    }

    let mut found = Vec::new();
    for &number in &open {
        if let ItemKind::Experiment(e) = &file.items[number].kind {
            found.extend(e.extends.as_ref().map(|base| refused(file, base)));
        }
    }

    let mut number = 0;
    file.items.retain(|_| {
        number += 1;
        !open.contains(&(number - 1))
    });
    found
}

fn refused(file: &ast::File, base: &ast::Ident) -> Diagnostic {
    let experiments = file.items.iter().filter_map(|item| match &item.kind {
        ItemKind::Experiment(e) => Some(e),
        _ => None,
    });
    let names: Vec<&str> = experiments.map(|e| &*e.name.text).collect();
    let message = format!("there is no experiment `{}` to extend", base.text);
    match names.contains(&&*base.text) {
        true => Diagnostic::error(
            code::EXTENDS_NOTHING,
            format!("the experiment `{}` extends itself in the end", base.text),
        )
        .primary(base.span, "leads back here"),
        false => Diagnostic::error(code::EXTENDS_NOTHING, message)
            .primary(base.span, "not an experiment of this file")
            .help("an experiment extends one of the same file: `experiment b extends a { … }`"),
    }
}

fn take_over(own: &mut ast::Experiment, base: &ast::Experiment) {
    own.of = base.of.clone();
    let replaced = Replaced::by(&own.body);
    let taken = base.statements().filter_map(|s| replaced.rest_of(s));
    own.inherited = taken.collect();
}

/// What the lines of an experiment replace.
struct Replaced {
    /// Kind and name of single values.
    names: Vec<(&'static str, String)>,
    /// Kinds of whole lines.
    lines: Vec<&'static str>,
}

impl Replaced {
    fn by(body: &[ast::ExperimentStmt]) -> Self {
        let (mut names, mut lines) = (Vec::new(), Vec::new());
        for statement in body {
            let word = word(&statement.kind);
            match &statement.kind {
                Kind::With(list) | Kind::Start(list) | Kind::Guess(list) => {
                    names.extend(list.iter().map(|a| (word, path(&a.target))));
                }
                Kind::Measure(list) => {
                    names.extend(list.iter().map(|m| (word, m.0.text.to_string())));
                }
                Kind::Setting { name, .. } => names.push((word, name.text.to_string())),
                _ => lines.push(word),
            }
        }
        Replaced { names, lines }
    }

    /// What is left of a line of the base.
    fn rest_of(&self, statement: &ast::ExperimentStmt) -> Option<ast::ExperimentStmt> {
        let word = word(&statement.kind);
        let is_kept = |name: String| !self.names.contains(&(word, name));
        let assigns = |list: &[ast::Assign]| -> Vec<ast::Assign> {
            let kept = list.iter().filter(|a| is_kept(path(&a.target)));
            kept.cloned().collect()
        };
        let kind = match &statement.kind {
            Kind::With(list) => Kind::With(assigns(list)),
            Kind::Start(list) => Kind::Start(assigns(list)),
            Kind::Guess(list) => Kind::Guess(assigns(list)),
            Kind::Measure(list) => {
                let kept = list.iter().filter(|m| is_kept(m.0.text.to_string()));
                Kind::Measure(kept.cloned().collect())
            }
            Kind::Setting { name, .. } if !is_kept(name.text.to_string()) => return None,
            _ if self.lines.contains(&word) => return None,
            other => other.clone(),
        };
        Some(ast::ExperimentStmt {
            span: statement.span,
            kind,
        })
    }
}

fn word(kind: &Kind) -> &'static str {
    match kind {
        Kind::With(_) => "with",
        Kind::Start(_) => "start",
        Kind::Guess(_) => "guess",
        Kind::Setting { .. } => "setting",
        Kind::Record(_) => "record",
        Kind::Plot { .. } => "plot",
        Kind::Measure(_) => "measure",
        Kind::Sweep { .. } => "sweep",
        Kind::Optimize { .. } => "optimize",
        Kind::Limit(_) => "limit",
        Kind::Fit { .. } => "fit",
        Kind::Compare { .. } => "compare",
        Kind::Trim(_) => "trim",
        Kind::Linearize { .. } => "linearize",
    }
}

/// `link[3].K`; an index that is not a number makes a name of its own.
fn path(target: &ast::Ref) -> String {
    let part = |p: &ast::RefPart| {
        let index = p.index.iter().map(|e| match &e.kind {
            ast::ExprKind::Number { value, .. } => value.to_string(),
            _ => place(e.span),
        });
        format!("{}[{}]", p.name.text, index.collect::<Vec<_>>().join(","))
    };
    target.parts.iter().map(part).collect::<Vec<_>>().join(".")
}

fn place(span: Span) -> String {
    format!("@{}..{}", span.start, span.end)
}
