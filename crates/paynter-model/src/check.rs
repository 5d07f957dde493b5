//! Checks every model and experiment of the main file, each as far as it stands alone.
//!
//! In:  a [`Project`].
//! Out: messages in the order of the text, each cause once; and the graphs that were made on the way.
//!
//! A model that leaves parameters, inputs or ports open is checked with these as unknown
//! numbers; what would only go wrong for some values is not reported then.

use paynter_syntax::{Diagnostic, Span, ast};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::elaborate::{
    ENOUGH_BLAME, Elaborated, Elaboration, Report, code, no_model, prepare, with_stack,
};
use crate::graph::BondGraph;
use crate::project::{Project, Request};

/// Checks every model and experiment of the main file.
pub fn check(project: &Project) -> Vec<Diagnostic> {
    check_whole(project).0
}

/// Checks as [`check`] does, and hands out the graphs of models and experiments that elaborate alone, each with the
/// place of its item in the main file: whoever looks further need not elaborate again.
///
/// A graph is what [`crate::elaborate::elaborate`] gives for the same model or experiment, or it is left out.
pub fn check_whole(project: &Project) -> (Vec<Diagnostic>, Vec<(usize, BondGraph)>) {
    with_stack(|| check_here(project))
}

fn check_here(project: &Project) -> (Vec<Diagnostic>, Vec<(usize, BondGraph)>) {
    let (mut report, mut graphs) = (Report::default(), Vec::new());
    let Some(main) = project.files.first() else {
        return (Vec::new(), graphs);
    };
    let is_empty = main.ast.items.is_empty() && main.ast.units_strict.is_none();
    if is_empty && !main.is_broken {
        report.list.push(no_model());
    }

    let request = Request::default();
    let names = prepare(project);
    report.merge(names.messages().to_vec());
    let mut repeated = Repeated::default();
    for (place, item) in main.ast.items.iter().enumerate() {
        let elaboration = match &item.kind {
            ast::ItemKind::Model(model) => names.elaborate_alone(model, &request),
            ast::ItemKind::Experiment(experiment) => {
                names.elaborate_experiment(experiment, &request)
            }
            _ => continue,
        };
        let (mut messages, graph) = check_plan(elaboration);
        graphs.extend(graph.map(|graph| (place, graph)));
        let is_too_large = repeated.remove(&mut messages, item);
        report.merge(messages);
        // What is left may be as large, and take as long to find out.
        if is_too_large {
            break;
        }
    }
    (report.in_text_order(), graphs)
}

/// Adds the messages about what the experiment asks for, if there is one. The graph is the one before its
/// expressions were read.
fn check_plan(elaboration: Elaboration<'_>) -> (Vec<Diagnostic>, Option<BondGraph>) {
    let mut messages = elaboration.diagnostics;
    let Some(mut elaborated) = elaboration.elaborated else {
        return (messages, None);
    };
    // What an experiment reads adds to the graph, so a copy is taken before.
    let before = elaborated.experiment.map(|_| elaborated.graph().clone());
    messages.extend(messages_of_plan(&mut elaborated));
    (messages, elaborated.alone(before))
}

/// Checks what an experiment asks for. Messages about settings, columns and measures.
fn messages_of_plan(model: &mut Elaborated<'_>) -> Vec<Diagnostic> {
    match model.experiment {
        Some(experiment) => crate::experiment::plan(experiment, model).1,
        None => Vec::new(),
    }
}

/// What was reported of earlier items: an error in a model is one in every experiment of it.
#[derive(Default)]
struct Repeated {
    /// Names that experiments read in vain, by model; and what is too large or too deep, wherever it is met.
    told: FxHashSet<(String, String)>,
    /// The places at which each declaration was blamed for a wrong unit.
    blamed: FxHashMap<Span, Vec<Span>>,
}

impl Repeated {
    /// Takes away the messages that were reported for an earlier item. Tells whether the item is too large.
    fn remove(&mut self, messages: &mut Vec<Diagnostic>, item: &ast::Item) -> bool {
        if let ast::ItemKind::Experiment(experiment) = &item.kind {
            let model: Vec<&str> = experiment.of.segments.iter().map(|s| &*s.text).collect();
            let model = model.join(".");
            messages.retain(|m| {
                !matches!(m.code, code::UNKNOWN_NAME | code::BAD_OVERRIDE)
                    || self.told.insert((model.clone(), m.message.clone()))
            });
        }
        messages.retain(|m| {
            !matches!(m.code, code::TOO_LARGE | code::RECURSION)
                || self.told.insert((String::new(), m.message.clone()))
        });
        let is_too_large = messages.iter().any(|m| m.code == code::TOO_LARGE);
        messages.retain(|m| !self.is_blamed_enough(m));
        is_too_large
    }

    /// Tells whether a declaration with a wrong unit was named often enough: it is wrong in every experiment that gives
    /// it a value.
    fn is_blamed_enough(&mut self, m: &Diagnostic) -> bool {
        let (code::UNIT_MISMATCH | code::UNIT_NOT_OF_DOMAIN, Some(origin)) =
            (m.code, m.secondary.first())
        else {
            return false;
        };
        let times = self.blamed.entry(origin.span).or_default();
        let place = m.primary.as_ref().map_or(origin.span, |l| l.span);
        if !times.contains(&place) {
            times.push(place);
        }
        times.len() > ENOUGH_BLAME as usize
    }
}
