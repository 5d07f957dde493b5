//! Facts about causality, on graphs built by hand.

mod builder;
mod classes;
mod oracle;
mod reports;
mod rules;
mod scale;
mod systems;

use super::{Causality, StorageForm};
use crate::graph::{BondGraph, ElementId};

/// Names of the storages in one form, sorted, separated by spaces.
fn storages(graph: &BondGraph, causality: &Causality, form: StorageForm) -> String {
    let mut names: Vec<String> = (0..graph.elements.len() as u32)
        .map(ElementId)
        .filter(|&e| causality.form(graph, e, 0) == Some(form))
        .map(|e| graph.element_name(e))
        .collect();
    names.sort();
    names.join(" ")
}

fn integral(graph: &BondGraph, causality: &Causality) -> String {
    storages(graph, causality, StorageForm::Integral)
}

fn derivative(graph: &BondGraph, causality: &Causality) -> String {
    storages(graph, causality, StorageForm::Derivative)
}
