//! Joins two nodes by a bond.
//!
//! In:  two ends.
//! Out: the arrow where it reads best: before a node that stands alone, behind one, else on a new line.

use super::draft::Draft;
use super::names::fresh_name;
use super::{EndRef, Refusal};
use crate::view::{Node, NodeSort};
use paynter::model::kinds::Nature;
use paynter::syntax::{Span, ast};

/// Joins two nodes; turns the arrow where only one direction is allowed.
///
/// # Errors
///
/// Why these two cannot be joined.
pub fn connect(draft: &mut Draft<'_>, from: &EndRef, to: &EndRef) -> Result<(), Refusal> {
    let (mut from, mut to) = (from.clone(), to.clone());
    if from == to {
        return Err(Refusal::new("a bond joins two different nodes"));
    }
    let (tail, head) = (node(draft, &from.node)?, node(draft, &to.node)?);
    if takes_power(&tail) {
        if takes_power(&head) {
            return Err(Refusal::new(format!(
                "`{}` and `{}` both take power; elements meet at junctions: put a `1` between them where they share the flow, a `0` where they share the effort",
                tail.id, head.id
            )));
        }
        // An arrow must point into R, C and I; a line drawn the other way means the same.
        std::mem::swap(&mut from, &mut to);
    }
    name_unnamed(draft, &mut from)?;
    name_unnamed(draft, &mut to)?;
    let (tail, head) = (node(draft, &from.node)?, node(draft, &to.node)?);
    let tail_text = text_of(&tail, from.port.as_deref())?;
    let head_text = text_of(&head, to.port.as_deref())?;
    let arrow = match is_multi(&tail, &from) || is_multi(&head, &to) {
        true => "=>",
        false => "->",
    };
    // A node that stands alone is joined where it is made: the port of an arrow in or out is the implied one there.
    if let (Some(span), true) = (
        lone(draft, &head),
        implies(&head, to.port.as_deref(), false),
    ) {
        let start = span.start as usize;
        return draft.replace(start, start, &format!("{tail_text} {arrow} "));
    }
    if let (Some(span), true) = (
        lone(draft, &tail),
        implies(&tail, from.port.as_deref(), true),
    ) {
        let end = span.end as usize;
        return draft.replace(end, end, &format!(" {arrow} {head_text}"));
    }
    draft.add_statement(&format!("{tail_text} {arrow} {head_text}"))
}

/// Finds a node of the view.
///
/// # Errors
///
/// There is none of this id.
pub fn node(draft: &Draft<'_>, id: &str) -> Result<Node, Refusal> {
    let reading = draft.read();
    let found = reading.view.nodes.iter().find(|n| n.id == id);
    found
        .cloned()
        .ok_or_else(|| Refusal::new(format!("there is no `{id}`")))
}

/// Tells whether arrows must point into a node.
pub fn takes_power(node: &Node) -> bool {
    match node.nature() {
        Some(Nature::Resistor | Nature::Contact | Nature::Storage) => true,
        // A gyrator with a size is a one-port.
        Some(Nature::TwoPort) => node.kind == "GY" && node.size.is_some() && node.law.is_some(),
        _ => false,
    }
}

/// Gives an unnamed node a name, since a second line has to name it.
fn name_unnamed(draft: &mut Draft<'_>, end: &mut EndRef) -> Result<(), Refusal> {
    let found = node(draft, &end.node)?;
    let can_have_name = matches!(
        found.sort,
        NodeSort::Junction | NodeSort::Element | NodeSort::Part | NodeSort::Unknown
    );
    if found.name.is_some() || !can_have_name {
        return Ok(());
    }
    if let Some(model) = &found.inherited {
        return Err(Refusal::new(format!(
            "the {} without a name is made in `{model}`; give it a name there",
            found.kind
        )));
    }
    let name = fresh_name(draft, &found.kind);
    let start = found.range.bytes.0;
    draft.replace(start, start, &format!("{name}: "))?;
    end.node = name;
    Ok(())
}

/// How an end is written in a chain.
fn text_of(node: &Node, port: Option<&str>) -> Result<String, Refusal> {
    match (node.sort, &node.name, port) {
        (NodeSort::For | NodeSort::If, _, Some(port)) => Ok(port.to_owned()),
        (NodeSort::For | NodeSort::If, _, None) => Err(Refusal::new(
            "name a node inside the block, such as `link[1].b`",
        )),
        (NodeSort::Tuple | NodeSort::Fixed, ..) => Err(Refusal::new(
            "a tuple belongs to the bond it is written in; join its members",
        )),
        (_, Some(name), Some(port)) if port.starts_with('[') => Ok(format!("{name}{port}")),
        (_, Some(name), Some(port)) => Ok(format!("{name}.{port}")),
        (_, Some(name), None) => Ok(name.clone()),
        (_, None, _) => Err(Refusal::new(format!("the {} has no name", node.kind))),
    }
}

/// Tells whether a part alone means this port for an arrow out of (or into) it.
fn implies(node: &Node, port: Option<&str>, is_tail: bool) -> bool {
    let Some(port) = port else { return true };
    let second = node.ports.get(1).filter(|_| is_tail);
    let is_part = node.sort == NodeSort::Part;
    is_part
        && second
            .or(node.ports.first())
            .is_some_and(|p| p.name == port)
}

/// The statement `name: kind` of a node, if it has one for itself.
fn lone(draft: &Draft<'_>, node: &Node) -> Option<Span> {
    if node.inherited.is_some() {
        return None;
    }
    let (_, model) = draft.syntax();
    let mut found = model.body.iter().filter_map(|s| match &s.kind {
        ast::StmtKind::Chain(chain) if chain.arrows.is_empty() => {
            let [group] = chain.groups.as_slice() else {
                return None;
            };
            let [only] = group.as_slice() else {
                return None;
            };
            let is_it = (only.span.start as usize, only.span.end as usize) == node.range.bytes;
            is_it.then_some(only.span)
        }
        _ => None,
    });
    found.next()
}

/// Tells whether an end has several components.
fn is_multi(node: &Node, end: &EndRef) -> bool {
    let port = end.port.as_deref().or_else(|| {
        let is_part = matches!(
            node.sort,
            NodeSort::Part | NodeSort::Replaceable | NodeSort::Outer
        );
        node.ports
            .first()
            .filter(|_| is_part)
            .map(|p| p.name.as_str())
    });
    match (node.sort, port) {
        (NodeSort::Part | NodeSort::Replaceable | NodeSort::Outer, Some(port)) => {
            node.ports.iter().any(|p| p.name == port && p.is_multi)
        }
        (NodeSort::Port, None) => node.ports.iter().any(|p| p.is_multi),
        // One component of a vector is scalar.
        (_, Some(_)) => false,
        (_, None) => node.size.is_some(),
    }
}
