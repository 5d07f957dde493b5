//! Proves that an edit which moves statements between models changes nothing else.
//!
//! In:  a workspace, the edits, and the model.
//! Out: nothing, or why the edit is refused.
//!
//! **Invariant:** the flat graph of the model is the same before and after, but for the parts that its elements stand in; no
//! text has an error that it did not have.

use super::{Refusal, TextEdit};
use crate::message::Severity;
use crate::workspace::Workspace;
use paynter::model::graph::BondGraph;

/// Refuses edits after which the model is another one.
///
/// # Errors
///
/// What would be different.
pub fn same_model(
    workspace: &Workspace,
    (path, model): (&str, &str),
    edits: &[TextEdit],
) -> Result<(), Refusal> {
    let mut after = Workspace::new(workspace.roots().to_vec());
    for open in workspace.open_files() {
        if let Some(text) = workspace.text(&open) {
            after.open(&open, text);
        }
    }
    // A text that is edited may be on the disk only.
    let mut paths: Vec<&str> = edits.iter().map(|e| e.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    for edited in &paths {
        if let (false, Some(text)) = (after.is_open(edited), workspace.text(edited)) {
            after.open(edited, text);
        }
    }
    after.apply(edits);
    for edited in paths {
        no_new_errors(workspace, &after, edited)?;
    }
    let flat = |w: &Workspace| w.analysis(path).and_then(|a| a.flat(model));
    if let Some(old) = flat(workspace) {
        let same =
            flat(&after).is_some_and(|new| fingerprint(&old.graph) == fingerprint(&new.graph));
        if !same {
            return Err(Refusal::new(
                "the model would not be the same afterwards; choose other nodes",
            ));
        }
    }
    Ok(())
}

fn no_new_errors(before: &Workspace, after: &Workspace, path: &str) -> Result<(), Refusal> {
    let errors = |w: &Workspace| -> Vec<String> {
        let all = w.messages(path);
        let errors = all.iter().filter(|m| m.severity == Severity::Error);
        errors.map(|m| m.text.clone()).collect()
    };
    let (old, new) = (errors(before), errors(after));
    match new.len() > old.len() {
        true => {
            let first = new.into_iter().find(|m| !old.contains(m));
            Err(Refusal::new(format!(
                "the text would have an error afterwards: {}",
                first.unwrap_or_default()
            )))
        }
        false => Ok(()),
    }
}

/// Elements and bonds, free of names: kinds, what they join in which port, strokes that the text demands. Each element carries
/// what its neighbours are, several steps far, so that equal lists mean equal graphs for all but contrived ones.
fn fingerprint(graph: &BondGraph) -> Vec<String> {
    let mut labels: Vec<String> = graph
        .elements
        .iter()
        .map(|e| {
            format!(
                "{}{}{}",
                e.kind.letters(),
                e.ports.len(),
                if e.is_modulated { "m" } else { "" }
            )
        })
        .collect();
    // Colours are refined as in tests of isomorphism (Weisfeiler and Leman 1968); hashes keep them short.
    for _ in 0..8 {
        let next = graph.elements.iter().enumerate().map(|(k, element)| {
            let mut around: Vec<String> = element
                .ports
                .iter()
                .map(|&b| {
                    let bond = graph.bond(b);
                    let is_tail = bond.tail.element.0 as usize == k;
                    let other = if is_tail { bond.head } else { bond.tail };
                    format!(
                        "{is_tail}{:?}{}",
                        bond.forced, labels[other.element.0 as usize]
                    )
                })
                .collect();
            around.sort_unstable();
            format!("{:x}", short_hash(&(&labels[k], around)))
        });
        labels = next.collect();
    }
    labels.sort_unstable();
    labels
}

fn short_hash(what: &impl std::hash::Hash) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
