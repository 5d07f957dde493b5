//! Everything the page shows about the text and the model looked at, in one answer.
//!
//! In:  the workspace, and which model at which level is looked at.
//! Out: an [`Analysis`], a pure function of the texts.

use crate::derived::{derived, is_lagrangian};
use crate::view::{canvas, part_kind, reasons};
use crate::wire::{
    Analysis, ExperimentItem, Facts, Fix, Focus, Label, LessonStep, Loop, Message, ModelItem,
    Parameter, Reason, Span, Spans, TextChange,
};
use paynter::syntax::{FileId, ast};
use paynter_service::document::Document;
use paynter_service::place::Range;
use paynter_service::view::{Signal, SignalSort, Structure};
use paynter_service::{Severity, View as Level, Workspace};
use std::sync::Arc;
use std::time::Instant;

/// Answers everything about a focus; `full` is the full path of its text.
pub fn analyse(workspace: &Workspace, full: &str, focus: &Focus, version: usize) -> Analysis {
    let begin = Instant::now();
    let found = workspace.messages(full);
    let document = workspace.document(full);
    let items = document.as_deref().map(Items::of).unwrap_or_default();
    let model = items.chosen(focus);
    let top = model
        .as_deref()
        .and_then(|m| enter(workspace, full, m, &[]));
    // Inside of a part there is another level to look at.
    let inner = match (&model, focus.level.is_empty()) {
        (Some(model), false) => Some(enter(workspace, full, model, &focus.level)),
        _ => None,
    };
    let level = inner.as_ref().map_or(top.as_ref(), Option::as_ref);
    let view = level.map(|(path, level)| {
        let is_foreign = path != full;
        let messages = match is_foreign {
            true => messages_of(workspace, full, path),
            false => found.clone(),
        };
        canvas(level, &focus.level, is_foreign, &messages)
    });
    let top = top.as_ref().map(|(_, top)| top);
    let structure = top
        .filter(|v| !v.has_errors)
        .and_then(|v| v.structure.as_ref());
    Analysis {
        event: "analysis",
        path: focus.path.clone(),
        version,
        messages: found.iter().map(message).collect(),
        top: model.clone(),
        view,
        change: None,
        spans: Spans::default(),
        parameters: top.map(|v| items.parameters(v, focus)).unwrap_or_default(),
        facts: Facts {
            order: structure.map(|s| s.order),
            states: structure.map(|s| s.states.clone()).unwrap_or_default(),
            dependent: structure.map(|s| s.dependent.clone()).unwrap_or_default(),
            n_loops: structure.map_or(0, |s| s.loops.len()),
            loops: structure.map(loops).unwrap_or_default(),
            strict: document
                .as_ref()
                .is_some_and(|d| d.parsed.ast.units_strict.is_some()),
        },
        models: items.models,
        experiments: items.experiments,
        ms: 1e3 * begin.elapsed().as_secs_f64(),
    }
}

/// More loops than these nobody looks at one by one; they are sent at every key stroke.
const MOST_LOOPS: usize = 50;
/// More variables than these are no name of a loop.
const MOST_VARIABLES: usize = 6;

fn loops(structure: &Structure) -> Vec<Loop> {
    let pairs = structure.loops.iter().zip(&structure.loop_bonds);
    let made = pairs.take(MOST_LOOPS).map(|(variables, bonds)| Loop {
        variables: variables.iter().take(MOST_VARIABLES).cloned().collect(),
        n_variables: variables.len(),
        bonds: bonds.clone(),
    });
    made.collect()
}

/// Why a bond of the level looked at has its stroke.
pub fn why(workspace: &Workspace, full: &str, focus: &Focus, bond: &str) -> Vec<Reason> {
    let document = workspace.document(full);
    let items = document.as_deref().map(Items::of).unwrap_or_default();
    let level = items
        .chosen(focus)
        .and_then(|m| enter(workspace, full, &m, &focus.level));
    let Some((_, level)) = level else {
        return Vec::new();
    };
    let found = level.bonds.iter().find(|b| b.id == bond);
    found
        .map(|b| reasons(&level, &b.reasons, &focus.level))
        .unwrap_or_default()
}

/// The assignment of causality step by step: each decision with what follows from it.
pub fn lesson(workspace: &Workspace, full: &str, focus: &Focus) -> Vec<LessonStep> {
    let document = workspace.document(full);
    let items = document.as_deref().map(Items::of).unwrap_or_default();
    let level = items
        .chosen(focus)
        .and_then(|m| enter(workspace, full, &m, &focus.level));
    let Some((_, level)) = level else {
        return Vec::new();
    };
    let steps = level.structure.as_ref().map(|s| s.steps.as_slice());
    let step = |(decision, follows): &(String, Vec<String>)| LessonStep {
        decision: reasons(&level, std::slice::from_ref(decision), &focus.level).pop(),
        follows: reasons(&level, follows, &focus.level),
    };
    steps.unwrap_or_default().iter().map(step).collect()
}

/// The model of the file that a focus means.
pub fn chosen_model(workspace: &Workspace, full: &str, focus: &Focus) -> Option<String> {
    let document = workspace.document(full)?;
    Items::of(&document).chosen(focus)
}

/// Goes into parts, one after the other: the text and the view of the innermost.
pub fn enter(
    workspace: &Workspace,
    full: &str,
    model: &str,
    way: &[String],
) -> Option<(String, Level)> {
    let derived = is_lagrangian(workspace, full, model)
        .then(|| derived(workspace, full))
        .flatten();
    let (workspace, mut path) = match &derived {
        Some(derived) => (&derived.workspace, derived.path.clone()),
        None => (workspace, full.to_owned()),
    };
    let top = path.clone();
    let mut level = workspace.view(&path, model)?;
    for (depth, part) in way.iter().enumerate() {
        let node = level
            .nodes
            .iter()
            .find(|n| n.name.as_deref() == Some(part))?;
        let kind = part_kind(node).rsplit('.').next()?.to_owned();
        let analysis = workspace.analysis(&path)?;
        let (file, _) = analysis
            .find_name(&kind, 0)
            .or_else(|| find_anywhere(&analysis, &kind))?;
        if file != 0 {
            path = text_of(workspace, &analysis, file)?;
        }
        // Its strokes are those that it has in the whole; alone it may have others, or lack values.
        let place = (path.as_str(), kind.as_str());
        level = workspace
            .view_inside(place, (&top, model), &way[..=depth])
            .or_else(|| workspace.view(&path, &kind))?;
    }
    Some((path, level))
}

/// The messages of a text where it is held: derived ones have a workspace of their own.
fn messages_of(workspace: &Workspace, full: &str, path: &str) -> Arc<[paynter_service::Message]> {
    let own = derived(workspace, full).filter(|d| d.path == path);
    match own {
        Some(derived) => derived.workspace.messages(path),
        None => workspace.messages(path),
    }
}

fn find_anywhere<'a>(
    analysis: &'a paynter_service::analysis::Analysis,
    kind: &str,
) -> Option<(usize, &'a ast::Item)> {
    (0..analysis.project.files.len()).find_map(|file| analysis.find_name(kind, file))
}

/// The path of a file of a project: of the disk, or of the library.
fn text_of(
    workspace: &Workspace,
    analysis: &paynter_service::analysis::Analysis,
    file: usize,
) -> Option<String> {
    let name = analysis
        .project
        .sources
        .file(FileId(file as u32))
        .name
        .clone();
    let stem = name
        .rsplit('/')
        .next()
        .unwrap_or(&name)
        .trim_end_matches(".bond");
    let library = format!("library:{stem}");
    [name.clone(), library]
        .into_iter()
        .find(|p| workspace.document(p).is_some())
}

/// Models and experiments of a text.
#[derive(Default)]
struct Items {
    models: Vec<ModelItem>,
    experiments: Vec<ExperimentItem>,
    /// What experiments change: (experiment, name, text).
    changes: Vec<(String, String, String)>,
}

impl Items {
    fn of(document: &Document) -> Self {
        let mut items = Items::default();
        for item in &document.parsed.ast.items {
            let span = to_span(&document.range(item.span));
            match &item.kind {
                ast::ItemKind::Model(model) => items.models.push(ModelItem {
                    name: model.name.text.to_string(),
                    span,
                    doc: item.doc.clone().unwrap_or_default().trim().to_owned(),
                    is_part: model
                        .body
                        .iter()
                        .any(|s| matches!(s.kind, ast::StmtKind::Port(_))),
                }),
                ast::ItemKind::Lagrangian(block) => items.models.push(ModelItem {
                    name: block.name.text.to_string(),
                    span,
                    doc: item.doc.clone().unwrap_or_default().trim().to_owned(),
                    is_part: false,
                }),
                ast::ItemKind::Experiment(experiment) => {
                    items.add_changes(document, experiment);
                    let model = experiment.of.segments.last().map(|s| s.text.to_string());
                    items.experiments.push(ExperimentItem {
                        name: experiment.name.text.to_string(),
                        model: model.unwrap_or_default(),
                        span,
                    });
                }
                _ => {}
            }
        }
        items
    }

    fn add_changes(&mut self, document: &Document, experiment: &ast::Experiment) {
        for statement in experiment.statements() {
            let ast::ExperimentKind::With(assigns) = &statement.kind else {
                continue;
            };
            for assign in assigns {
                let target = document.slice(assign.target.span).to_owned();
                let value = document.slice(assign.value.span).to_owned();
                self.changes
                    .push((experiment.name.text.to_string(), target, value));
            }
        }
    }

    /// The model looked at: the one named, that of the experiment, or the last that stands alone.
    fn chosen(&self, focus: &Focus) -> Option<String> {
        let exists = |name: &String| self.models.iter().any(|m| m.name == *name);
        let named = focus.model.clone().filter(exists);
        let of = |name: &String| self.experiments.iter().find(|e| e.name == *name);
        let tried = focus
            .experiment
            .as_ref()
            .and_then(of)
            .or_else(|| self.experiments.first());
        let tried = tried.map(|e| e.model.clone()).filter(exists);
        let whole = self
            .models
            .iter()
            .rfind(|m| !m.is_part)
            .or(self.models.last());
        named.or(tried).or_else(|| whole.map(|m| m.name.clone()))
    }

    /// Parameters and inputs of a model, with what the experiment makes of them.
    fn parameters(&self, view: &Level, focus: &Focus) -> Vec<Parameter> {
        let first = self
            .experiments
            .iter()
            .find(|e| e.model == view.model)
            .map(|e| &e.name);
        let experiment = focus.experiment.as_ref().or(first);
        let is_moved = |s: &&Signal| matches!(s.sort, SignalSort::Param | SignalSort::Input);
        let moved = view.signals.iter().filter(is_moved);
        let parameters = moved.filter_map(|signal| {
            let changed = self
                .changes
                .iter()
                .rfind(|c| Some(&c.0) == experiment && c.1 == signal.name);
            let text = changed
                .map(|c| c.2.clone())
                .or_else(|| signal.value.clone())?;
            let (value, unit) = amount(&text);
            Some(Parameter {
                name: signal.name.clone(),
                value,
                unit: if unit.is_empty() {
                    signal.unit.clone().unwrap_or_default()
                } else {
                    unit
                },
                text,
                doc: signal.doc.clone().unwrap_or_default().trim().to_owned(),
                span: to_span(&signal.range),
            })
        });
        parameters.collect()
    }
}

/// Reads a number with its unit: `334 [N*m/rad]`.
fn amount(text: &str) -> (Option<f64>, String) {
    let text = text.trim();
    let (number, unit) = match text.strip_suffix(']').and_then(|t| t.split_once('[')) {
        Some((number, unit)) => (number.trim(), unit.trim()),
        None => (text, ""),
    };
    let is_plain = number.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let value = number
        .parse::<f64>()
        .ok()
        .filter(|v| is_plain && v.is_finite());
    (value, unit.to_owned())
}

fn to_span(range: &Range) -> Span {
    Span {
        from: range.utf16.0,
        to: range.utf16.1,
    }
}

/// A message for the page.
pub fn message(m: &paynter_service::Message) -> Message {
    let (from, to) = m.range.utf16;
    let has_place = m.range.bytes != (0, 0);
    let fix = |f: &paynter_service::Fix| Fix {
        title: f.title.clone(),
        changes: f
            .edits
            .iter()
            .map(|(range, insert)| TextChange {
                from: range.utf16.0,
                to: range.utf16.1,
                insert: insert.clone(),
            })
            .collect(),
    };
    Message {
        code: m.code.clone(),
        severity: match m.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        text: m.text.clone(),
        at: has_place.then(|| Label {
            from,
            to,
            text: m.at.clone(),
            path: String::new(),
        }),
        others: m.labels.iter().map(label).collect(),
        facts: m.notes.clone(),
        help: m.helps.clone(),
        fixes: m.fixes.iter().map(fix).collect(),
    }
}

fn label(l: &paynter_service::Label) -> Label {
    let (from, to) = l.range.utf16;
    Label {
        from,
        to,
        text: l.text.clone(),
        path: l.path.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_numbers_with_units_or_nothing() {
        assert_eq!(amount("334 [N*m/rad]"), (Some(334.0), "N*m/rad".to_owned()));
        assert_eq!(amount("-0.6"), (Some(-0.6), String::new()));
        assert_eq!(amount("2*K").0, None);
        assert_eq!(amount("inf").0, None);
    }

    #[test]
    fn sliders_start_at_what_the_experiment_says() {
        let text = "model M {\n    param k = 1 [N/m], b = 2*k\n    s: Se(1) -> j: 1 -> i: I(1), c: C(1/k), r: R(b)\n}\nexperiment e of M { with k = 5 [N/m]; stop = 1 }\n";
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", text);
        let focus = Focus {
            path: "m.bond".to_owned(),
            ..Focus::default()
        };
        let found = analyse(&workspace, "/m.bond", &focus, 3);
        let values: Vec<_> = found
            .parameters
            .iter()
            .map(|p| (&*p.name, p.value, &*p.unit))
            .collect();
        assert_eq!(values, [("k", Some(5.0), "N/m"), ("b", None, "")]);
        assert_eq!((found.facts.order, found.version), (Some(2), 3));
    }

    #[test]
    fn a_text_that_is_no_model_has_messages_and_no_view() {
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", "model {{{ ->");
        let found = analyse(&workspace, "/m.bond", &Focus::default(), 0);
        assert!(found.messages.iter().any(|m| m.severity == "error"));
        assert_eq!(found.facts.order, None);
    }
}
