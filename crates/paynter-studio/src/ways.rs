//! Ways out of a conflict of causality: what its help says, as changes of the text that were tried.
//!
//! In:  a model with a conflict.
//! Out: changes of the text, each with what the strokes say after it.
//!
//! **Invariant:** what is offered leaves no conflict, and no error that was not there before.

use crate::changes::difference;
use crate::edits::{carry_out, copy_of};
use crate::view::way_of_conflict;
use crate::wire::{GraphEdit, TextChange, Way};
use paynter::model::domains::{Domain, Domains};
use paynter_service::view::{Bond, Node};
use paynter_service::{Severity, View, Workspace};

/// Tries are made for so many sources and bonds at most.
const MOST_TRIED: usize = 4;

/// Finds ways out of the first conflict of a model; none if there is no conflict.
pub fn ways(workspace: &Workspace, path: &str, model: &str) -> Vec<Way> {
    let Some(view) = workspace.view(path, model) else {
        return Vec::new();
    };
    let reasons = way_of_conflict(&view, &workspace.messages(path), &[]);
    let is_on_way = |id: &str| reasons.iter().any(|r| r.nodes.iter().any(|n| n == id));
    // The way leads from one source to where it meets what another one says.
    let meets = |id: &str| {
        let mut refused = view.bonds.iter().filter(|b| b.is_conflict);
        refused.any(|b| b.from.node == id || b.to.node == id)
    };
    let sources = view.nodes.iter();
    let sources = sources.filter(|n| is_on_way(&n.id) || meets(&n.id));
    let sources: Vec<&Node> = sources.filter(|n| other_source(n).is_some()).collect();
    let is_source = |id: &str| sources.iter().any(|s| s.id == id);
    let between = |b: &&Bond| {
        is_on_way(&b.from.node)
            && is_on_way(&b.to.node)
            && !is_source(&b.from.node)
            && !is_source(&b.to.node)
    };
    let is_of_flow = sources.iter().any(|s| s.kind == "Sf");
    let mut tries: Vec<Try> = Vec::new();
    let bonds = view.bonds.iter().filter(between).take(MOST_TRIED);
    tries.extend(bonds.filter_map(|b| part_between(b, &view, is_of_flow)));
    for source in sources.into_iter().take(MOST_TRIED) {
        tries.extend(turned(source));
        tries.push(without(source));
    }
    let found = tries
        .iter()
        .filter_map(|t| tried(workspace, (path, model), t));
    let mut found: Vec<Way> = found.collect();
    // Two bonds in a row give the same way out.
    found.dedup_by(|a, b| a.title == b.title);
    found
}

/// Something to be tried: edits one after the other.
struct Try {
    title: String,
    steps: Vec<GraphEdit>,
    /// Hangs on the node that the first step makes: kind and value.
    on_it: Option<(&'static str, String)>,
}

/// `Sf` for `Se` and the other way round.
fn other_source(node: &Node) -> Option<(&'static str, &'static str)> {
    match node.kind.as_str() {
        "Se" => Some(("Sf", "a source of flow")),
        "Sf" => Some(("Se", "a source of effort")),
        _ => None,
    }
}

fn turned(source: &Node) -> Option<Try> {
    let (part, words) = other_source(source)?;
    Some(Try {
        title: format!("Make `{}` {words}", name_of(source)),
        steps: vec![GraphEdit::Kind {
            node: source.id.clone(),
            part: part.to_owned(),
        }],
        on_it: None,
    })
}

fn without(source: &Node) -> Try {
    Try {
        title: format!("Delete `{}`", name_of(source)),
        steps: vec![GraphEdit::Delete {
            nodes: vec![source.id.clone()],
            bonds: Vec::new(),
        }],
        on_it: None,
    }
}

/// Where two flows meet something between them gives: a C at a 0-junction. Where two efforts meet something is in
/// series: an R at a 1-junction.
fn part_between(bond: &Bond, view: &View, is_of_flow: bool) -> Option<Try> {
    let name = |id: &str| view.nodes.iter().find(|n| n.id == id).map(name_of);
    let (tail, head) = (name(&bond.from.node)?, name(&bond.to.node)?);
    let (junction, part, words) = match is_of_flow {
        true => ("0", "C", "Let it give"),
        false => ("1", "R", "Put a resistance in series"),
    };
    Some(Try {
        title: format!(
            "{words}: {part} {article} between `{tail}` and `{head}`",
            article = article(junction)
        ),
        steps: vec![GraphEdit::Insert {
            bond: bond.id.clone(),
            part: junction.to_owned(),
            value: String::new(),
        }],
        on_it: Some((part, value(part, bond.domain.as_deref()))),
    })
}

fn article(junction: &str) -> &'static str {
    if junction == "0" {
        "at a 0-junction"
    } else {
        "at a 1-junction"
    }
}

fn name_of(node: &Node) -> &str {
    node.name.as_deref().unwrap_or(&node.id)
}

/// One of it, with the unit of its domain.
fn value(part: &str, domain: Option<&str>) -> String {
    let unit = |d: &Domain| match part {
        "C" => format!("{}/({})", d.displacement.unit.text, d.effort.unit.text),
        _ => format!("{}/({})", d.effort.unit.text, d.flow.unit.text),
    };
    let domains = Domains::built_in();
    let known = domains
        .iter()
        .find(|(_, d)| Some(d.name.as_str()) == domain);
    known.map_or_else(|| "1".to_owned(), |(_, d)| format!("1 [{}]", unit(d)))
}

/// Carries a try out on a copy; none if it cannot be done, or leaves a conflict or a new error.
fn tried(workspace: &Workspace, (path, model): (&str, &str), attempt: &Try) -> Option<Way> {
    let old = workspace.text(path)?;
    let n_errors = |w: &Workspace| {
        let messages = w.messages(path);
        messages
            .iter()
            .filter(|m| m.severity == Severity::Error)
            .count()
    };
    let mut copy = copy_of(workspace);
    let mut made = None;
    for step in &attempt.steps {
        made = carry_out(&mut copy, (path, model), step).ok()?;
    }
    if let Some((part, value)) = &attempt.on_it {
        let step = GraphEdit::Add {
            part: (*part).to_owned(),
            value: value.clone(),
            at: None,
            to: Some(made?),
        };
        carry_out(&mut copy, (path, model), &step).ok()?;
    }
    let structure = copy.view(path, model)?.structure?;
    if !structure.conflicts.is_empty() || n_errors(&copy) >= n_errors(workspace) {
        return None;
    }
    let change = difference(&old, &copy.text(path)?);
    let changes = change.map(|(from, to, insert)| TextChange { from, to, insert });
    Some(Way {
        title: attempt.title.clone(),
        changes: changes.into_iter().collect(),
        order: structure.order,
        dependent: structure.dependent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<Way> {
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", text);
        ways(&workspace, "/m.bond", "M")
    }

    fn titles(ways: &[Way]) -> Vec<&str> {
        ways.iter().map(|w| w.title.as_str()).collect()
    }

    #[test]
    fn two_sources_of_flow_have_ways_out_that_were_tried() {
        let text = "units strict\nmodel M {\n    motor: Sf(1 [rad/s]) -> rotor: 1 -> jm: I(1 [kg*m^2]), bm: R(1 [N*m*s/rad])\n    rotor -> gear: TF(2) -> fin: 1 -> jf: I(1 [kg*m^2])\n    clamp: Sf(0 [rad/s]) -> fin\n}\n";
        let ways = found(text);
        let all = titles(&ways);
        assert!(
            all.iter().any(|t| t.starts_with("Let it give: C")),
            "{all:?}"
        );
        assert!(
            all.contains(&"Delete `clamp`") && all.contains(&"Delete `motor`"),
            "{all:?}"
        );
        // A speed is no torque: in a text with strict units that would be another error.
        assert!(!all.iter().any(|t| t.starts_with("Make")), "{all:?}");
        let give = ways
            .iter()
            .find(|w| w.title.starts_with("Let"))
            .expect("seen above");
        assert_eq!((give.order, give.dependent.len()), (1, 2));
        let insert: String = give.changes.iter().map(|c| c.insert.as_str()).collect();
        assert!(insert.contains("C(1 [rad/(N*m)])"), "{insert}");
    }

    #[test]
    fn two_sources_of_effort_get_a_resistance_between_them() {
        let text =
            "model M {\n    a: Se(1) -> x: 0 -> r: R(1)\n    b: Se(2) -> y: 0\n    x -> y\n}\n";
        let ways = found(text);
        let all = titles(&ways);
        assert!(
            all.iter()
                .any(|t| t.starts_with("Put a resistance in series")),
            "{all:?}"
        );
        assert!(all.contains(&"Make `a` a source of flow"), "{all:?}");
    }

    #[test]
    fn a_model_without_conflict_needs_no_way_out() {
        assert!(found("model M {\n    s: Se(1) -> j: 1 -> r: R(1)\n}\n").is_empty());
        assert!(found("model M {\n    s: Se( -> j: 1\n}\n").is_empty());
    }
}
