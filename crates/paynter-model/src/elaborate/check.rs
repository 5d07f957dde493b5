//! Looks through all models and experiments of the main file, without running anything.
//!
//! In:  a [`Prepared`] project.
//! Out: for each item what is wrong with it and its graph ([`CheckedItem`]); of all items together the messages, each
//!      cause once.
//!
//! **Invariant:** what is found of an item depends on that item and what it names, not on other items or the order in
//! which they are looked at; only [`Prepared::whole`] compares them.

use super::files::{is_whole, no_model};
use super::{Elaborated, Elaboration, Elaborator, Prepared, code, elaborate_until_known, lower};
use super::{prepare, report, with_stack};
use crate::graph::BondGraph;
use crate::project::{Project, Request};
use paynter_syntax::{Diagnostic, Span, ast};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What was found of one item.
#[derive(Clone, Debug, Default)]
pub struct CheckedItem {
    /// Messages, in which one cause may stand that another item has as well.
    pub messages: Vec<Diagnostic>,
    /// The graph of a model or experiment that elaborates alone, as [`super::elaborate`] gives it.
    pub graph: Option<Arc<BondGraph>>,
}

impl CheckedItem {
    /// Tells whether the item is too large to be elaborated: items behind it are not looked at.
    pub fn is_too_large(&self) -> bool {
        self.messages.iter().any(|m| m.code == code::TOO_LARGE)
    }
}

/// Checks every model and experiment of the main file.
///
/// A model that leaves parameters, inputs or ports open is checked with these as unknown
/// numbers; what would only go wrong for some values is not reported then.
pub fn check(project: &Project) -> Vec<Diagnostic> {
    with_stack(|| {
        let prepared = prepare(project);
        let mut items = Vec::new();
        for place in 0..prepared.n_items() {
            items.push(prepared.item(place));
            if items[place].is_too_large() {
                break;
            }
        }
        prepared.whole(items)
    })
}

impl<'a> Prepared<'a> {
    /// Number of items of the main file.
    pub fn n_items(&self) -> usize {
        let main = self.0.project.files.first();
        main.map_or(0, |main| main.ast.items.len())
    }

    /// Tells whether files name things in a way that makes other messages doubtful.
    pub fn is_misnamed(&self) -> bool {
        self.0.report.has_errors()
    }

    /// Looks at one item of the main file.
    pub fn item(&self, place: usize) -> CheckedItem {
        with_stack(|| {
            let elaboration = self.elaborate_item(place);
            let mut messages = elaboration.diagnostics;
            let mut graph = None;
            if let Some(mut elaborated) = elaboration.elaborated {
                // What an experiment reads adds to the graph, so a copy is taken before.
                let before = elaborated.experiment.map(|_| elaborated.graph().clone());
                messages.extend(messages_of_plan(&mut elaborated));
                graph = elaborated.alone(before).map(Arc::new);
            }
            CheckedItem { messages, graph }
        })
    }

    fn elaborate_item(&self, place: usize) -> Elaboration<'a> {
        let names: &Elaborator<'a> = &self.0;
        let mut elaborator = names.afresh();
        elaborator.report.is_silent = self.is_misnamed();
        let nothing = |list| Elaboration {
            elaborated: None,
            diagnostics: list,
        };
        let Some(main) = names.project.files.first() else {
            return nothing(Vec::new());
        };
        match &main.ast.items[place].kind {
            ast::ItemKind::Model(model) => {
                elaborator.is_lenient = true;
                elaborator.is_whole = is_whole(main, model);
                elaborate_until_known(elaborator, |e| e.run(model, 0, None, &NOTHING_CHANGED))
                    .complete(model, None)
            }
            ast::ItemKind::Experiment(experiment) => {
                match elaborator.find_model(&experiment.of, 0) {
                    Some((model, file)) => elaborate_until_known(elaborator, |e| {
                        e.run(model, file, Some((experiment, 0)), &NOTHING_CHANGED);
                    })
                    .complete(model, Some(experiment)),
                    None => nothing(elaborator.report.list),
                }
            }
            _ => nothing(elaborator.report.list),
        }
    }

    /// Puts together what was found of the items, in their order: what several have in common is reported once.
    pub fn whole(&self, items: Vec<CheckedItem>) -> Vec<Diagnostic> {
        let mut report = report::Report::default();
        let Some(main) = self.0.project.files.first() else {
            return report.list;
        };
        let is_empty = main.ast.items.is_empty() && main.ast.units_strict.is_none();
        if is_empty && !main.is_broken {
            report.list.push(no_model());
        }
        report.merge(self.0.report.list.clone());
        let mut common = Common::default();
        for (item, found) in main.ast.items.iter().zip(items) {
            let is_too_large = found.is_too_large();
            report.merge(common.news(item, found.messages));
            // What is left may be as large, and take as long to find out.
            if is_too_large {
                break;
            }
        }
        report.in_text_order()
    }
}

/// No value is changed.
static NOTHING_CHANGED: Request = Request {
    model: None,
    experiment: None,
    overrides: Vec::new(),
    free_inputs: Vec::new(),
};

/// Checks what an experiment asks for. Messages about settings, columns and measures.
fn messages_of_plan(model: &mut Elaborated<'_>) -> Vec<Diagnostic> {
    match model.experiment {
        Some(experiment) => crate::experiment::plan(experiment, model).1,
        None => Vec::new(),
    }
}

/// What items before have reported. What is wrong in a model is wrong in every experiment of it, and reported once; so
/// is a name that several experiments of one model read in vain.
#[derive(Default)]
struct Common {
    told: FxHashSet<(String, String)>,
    blamed: FxHashMap<Span, Vec<Span>>,
}

impl Common {
    fn news(&mut self, item: &ast::Item, mut messages: Vec<Diagnostic>) -> Vec<Diagnostic> {
        if let ast::ItemKind::Experiment(experiment) = &item.kind {
            let model: Vec<&str> = experiment.of.segments.iter().map(|s| &*s.text).collect();
            let model = model.join(".");
            messages.retain(|m| {
                !matches!(m.code, code::UNKNOWN_NAME | code::BAD_OVERRIDE)
                    || self.told.insert((model.clone(), m.message.clone()))
            });
        }
        // So is what is too large or too deep, wherever it is met.
        messages.retain(|m| {
            !matches!(m.code, code::TOO_LARGE | code::RECURSION)
                || self.told.insert((String::new(), m.message.clone()))
        });
        // A declaration with a wrong unit is wrong in every experiment that gives it a value.
        messages.retain(|m| match (m.code, m.secondary.first()) {
            (code::UNIT_MISMATCH | code::UNIT_NOT_OF_DOMAIN, Some(origin)) => {
                let times = self.blamed.entry(origin.span).or_default();
                let place = m.primary.as_ref().map_or(origin.span, |l| l.span);
                if !times.contains(&place) {
                    times.push(place);
                }
                times.len() <= lower::ENOUGH_BLAME as usize
            }
            _ => true,
        });
        messages
    }
}
