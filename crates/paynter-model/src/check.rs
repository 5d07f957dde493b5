//! Looks through all models and experiments of the main file, without running anything.
//!
//! In:  a [`Prepared`] project.
//! Out: for each item what is wrong with it and its graph ([`CheckedItem`]); of all items together the messages in the
//!      order of the text, each cause once.
//!
//! A model that leaves parameters, inputs or ports open is checked with these as unknown
//! numbers; what would only go wrong for some values is not reported then.
//!
//! **Invariant:** what is found of an item depends on that item and what it names, not on other items or the order in
//! which they are looked at; only [`Prepared::whole`] compares them.

use std::sync::Arc;

use paynter_syntax::{Diagnostic, Span, ast};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::elaborate::{
    ENOUGH_BLAME, Elaborated, Elaboration, Prepared, Report, code, no_model, prepare, with_stack,
};
use crate::graph::BondGraph;
use crate::project::{Project, Request};

/// What was found of one item.
#[derive(Clone, Debug, Default)]
pub struct CheckedItem {
    /// Messages, in which one cause may occur that another item has as well.
    pub messages: Vec<Diagnostic>,
    /// The graph of a model or experiment that elaborates alone, as [`crate::elaborate::elaborate`] gives it.
    pub graph: Option<Arc<BondGraph>>,
}

impl CheckedItem {
    /// Tells whether the item is too large to be elaborated: items behind it are not looked at.
    pub fn is_too_large(&self) -> bool {
        self.messages.iter().any(|m| m.code == code::TOO_LARGE)
    }
}

/// Checks every model and experiment of the main file.
pub fn check(project: &Project) -> Vec<Diagnostic> {
    with_stack(|| {
        let prepared = prepare(project);
        let mut items = Vec::new();
        for place in 0..prepared.n_items() {
            items.push(prepared.item(place));
            // What is left may be as large, and take as long to find out.
            if items[place].is_too_large() {
                break;
            }
        }
        prepared.whole(items)
    })
}

impl Prepared<'_> {
    /// Number of items of the main file.
    pub fn n_items(&self) -> usize {
        let main = self.project().files.first();
        main.map_or(0, |main| main.ast.items.len())
    }

    /// Looks at one item of the main file.
    pub fn item(&self, place: usize) -> CheckedItem {
        let Some(main) = self.project().files.first() else {
            return CheckedItem::default();
        };
        with_stack(|| match &main.ast.items[place].kind {
            ast::ItemKind::Model(model) => {
                check_plan(self.elaborate_alone(model, &NOTHING_CHANGED))
            }
            ast::ItemKind::Experiment(experiment) => {
                check_plan(self.elaborate_experiment(experiment, &NOTHING_CHANGED))
            }
            _ => CheckedItem::default(),
        })
    }

    /// Puts together what was found of the items, in their order: what several have in common is reported once.
    pub fn whole(&self, items: Vec<CheckedItem>) -> Vec<Diagnostic> {
        let mut report = Report::default();
        let Some(main) = self.project().files.first() else {
            return report.list;
        };
        let is_empty = main.ast.items.is_empty() && main.ast.units_strict.is_none();
        if is_empty && !main.is_broken {
            report.list.push(no_model());
        }

        report.merge(self.messages().to_vec());
        let mut repeated = Repeated::default();
        for (item, mut found) in main.ast.items.iter().zip(items) {
            let is_too_large = found.is_too_large();
            repeated.remove(&mut found.messages, item);
            report.merge(found.messages);
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

/// Adds the messages about what the experiment asks for, if there is one. The graph is the one before its
/// expressions were read.
fn check_plan(elaboration: Elaboration<'_>) -> CheckedItem {
    let mut messages = elaboration.diagnostics;
    let Some(mut elaborated) = elaboration.elaborated else {
        let graph = None;
        return CheckedItem { messages, graph };
    };
    // What an experiment reads adds to the graph, so a copy is taken before.
    let before = elaborated.experiment.map(|_| elaborated.graph().clone());
    messages.extend(messages_of_plan(&mut elaborated));
    let graph = elaborated.alone(before).map(Arc::new);
    CheckedItem { messages, graph }
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
    /// Takes away the messages that were reported for an earlier item.
    fn remove(&mut self, messages: &mut Vec<Diagnostic>, item: &ast::Item) {
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
        messages.retain(|m| !self.is_blamed_enough(m));
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
