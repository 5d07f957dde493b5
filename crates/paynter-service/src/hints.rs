//! Small notes between the letters of a text: strokes at arrows, units of outputs.
//!
//! In:  a text.
//! Out: what is shown, and before which byte.

use crate::view::{Bond, SignalSort, StrokeAt};
use crate::workspace::Workspace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A note between letters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hint {
    /// Before this byte.
    pub at: usize,
    /// What is shown.
    pub text: String,
    /// What is said about it.
    pub why: Vec<String>,
}

/// Gives the notes of all models of a text.
pub fn hints(workspace: &Workspace, path: &str) -> Vec<Hint> {
    let mut found = Vec::new();
    for model in workspace.models(path) {
        let Some(view) = workspace.view(path, &model) else {
            continue;
        };
        let mut arrows: BTreeMap<(usize, usize), Vec<&Bond>> = BTreeMap::new();
        for bond in view
            .bonds
            .iter()
            .filter(|b| b.inherited.is_none() && b.forced.is_none())
        {
            arrows.entry(bond.range.bytes).or_default().push(bond);
        }
        for ((start, end), bonds) in arrows {
            // An arrow to several nodes has a stroke to show only where all agree.
            let first = bonds[0].stroke;
            let text = bonds
                .iter()
                .all(|b| b.stroke == first)
                .then_some(first)
                .flatten();
            let at = match text {
                Some(StrokeAt::Tail) => start,
                Some(StrokeAt::Head) => end,
                _ => continue,
            };
            found.push(Hint {
                at,
                text: "|".to_owned(),
                why: bonds[0].reasons.clone(),
            });
        }
        found.extend(units(workspace, path, &model, &view));
    }
    found.sort_by_key(|h| h.at);
    found
}

/// Units of outputs that do not say one.
fn units(workspace: &Workspace, path: &str, model: &str, view: &crate::view::View) -> Vec<Hint> {
    let Some(analysis) = workspace.analysis(path) else {
        return Vec::new();
    };
    let Some(flat) = analysis.flat(model) else {
        return Vec::new();
    };
    let names = &flat.graph.signals.names;
    let mut found = Vec::new();
    for signal in view
        .signals
        .iter()
        .filter(|s| s.sort == SignalSort::Output && s.inherited.is_none() && s.unit.is_none())
    {
        let output = flat
            .graph
            .outputs
            .iter()
            .find(|o| names.display(o.name) == signal.name);
        if let Some(unit) = output.and_then(|o| o.unit.as_ref()) {
            found.push(Hint {
                at: signal.range.bytes.0 + signal.name.len(),
                text: format!(" [{}]", unit.text),
                why: Vec::new(),
            });
        }
    }
    found
}
