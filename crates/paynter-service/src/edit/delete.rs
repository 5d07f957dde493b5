//! Deletes nodes and bonds.
//!
//! In:  ids.
//! Out: shorter chains and fewer lines; parameters that nothing reads any more stay.
//!
//! What is deleted may still be read by signals and experiments: the text then has errors that say so.

use super::Refusal;
use super::chain::{Found, find_bond, statement_of, without_bond, without_node};
use super::connect::node;
use super::draft::Draft;
use super::layout::forget;
use crate::view::{Node, NodeSort};
use paynter::syntax::{Span, ast};

/// Deletes bonds, then nodes with all their bonds.
///
/// # Errors
///
/// One of them is inherited, or cannot be taken out.
pub fn delete(draft: &mut Draft<'_>, nodes: &[String], bonds: &[String]) -> Result<(), Refusal> {
    if nodes.is_empty() && bonds.is_empty() {
        return Err(Refusal::new("nothing is chosen"));
    }
    let reading = draft.read();
    for id in bonds {
        if !reading.view.bonds.iter().any(|b| b.id == *id) {
            return Err(Refusal::new(format!("there is no bond `{id}`")));
        }
    }
    // Bonds of nodes that go, go with them; the others are found by their ends, as ids with numbers move up.
    let goes = |id: &String| nodes.contains(id);
    let doomed = reading
        .view
        .bonds
        .iter()
        .filter(|b| bonds.contains(&b.id) && !goes(&b.from.node) && !goes(&b.to.node));
    let doomed: Vec<String> = doomed.map(|b| b.id.clone()).collect();
    // The last of several equal ones first, so that those before it keep their ids.
    for id in doomed.iter().rev() {
        delete_bond(draft, id)?;
    }
    let mut found = Vec::new();
    for id in nodes {
        found.push(node(draft, id)?);
    }
    // What is made last goes first: ids of unnamed ones before it stay.
    found.sort_by_key(|n| std::cmp::Reverse(n.range.bytes));
    for node in found {
        delete_node(draft, &node)?;
    }
    Ok(())
}

fn delete_bond(draft: &mut Draft<'_>, id: &str) -> Result<(), Refusal> {
    let (_, place) = find_bond(draft, id)?;
    let Found { span, chain, .. } = statement_of(draft, &place)?;
    let pieces = without_bond(draft, &chain, &place)?;
    draft.replace_statement(span, &pieces)
}

fn delete_node(draft: &mut Draft<'_>, node: &Node) -> Result<(), Refusal> {
    if let Some(model) = &node.inherited {
        return Err(Refusal::new(format!(
            "`{}` is made in `{model}`, which this model extends; delete it there",
            node.id
        )));
    }
    match node.sort {
        NodeSort::Port => delete_port(draft, node)?,
        NodeSort::Replaceable | NodeSort::Outer | NodeSort::For | NodeSort::If => {
            let span = span_of(node);
            delete_mentions(draft, &node.id)?;
            let span = same_statement(draft, node).unwrap_or(span);
            draft.remove_statement(span)?;
        }
        _ => delete_mentions(draft, &node.id)?,
    }
    match &node.name {
        Some(name) => forget(draft, name),
        None => Ok(()),
    }
}

fn span_of(node: &Node) -> Span {
    Span::new(Default::default(), node.range.bytes.0, node.range.bytes.1)
}

/// The statement that makes a part, found by what it is after the text has moved.
fn same_statement(draft: &Draft<'_>, node: &Node) -> Option<Span> {
    let reading = draft.read();
    let now = reading.view.nodes.iter().find(|n| n.id == node.id)?;
    Some(span_of(now))
}

/// Takes a node out of all chains of the model, one mention after the other.
fn delete_mentions(draft: &mut Draft<'_>, id: &str) -> Result<(), Refusal> {
    while let Some((statement, group, at)) = mention(draft, id)? {
        let (_, model) = draft.syntax();
        let span = model.body[statement].span;
        let chain = match &model.body[statement].kind {
            ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. } => chain.clone(),
            _ => break,
        };
        let pieces = without_node(draft, &chain, group, at)?;
        draft.replace_statement(span, &pieces)?;
    }
    Ok(())
}

/// The last mention of a node in the chains of the model: references before the place that makes it,
/// so that the node is known as long as it is mentioned.
fn mention(draft: &Draft<'_>, id: &str) -> Result<Option<(usize, usize, usize)>, Refusal> {
    let reading = draft.read();
    let means = |node: &ast::Node| match &node.kind {
        ast::NodeKind::Ref(r) => reading.means(draft.text(), r).as_deref() == Some(id),
        _ => false,
    };
    let makes = |node: &ast::Node| {
        let range = (node.span.start as usize, node.span.end as usize);
        let made = reading.view.nodes.iter().find(|n| n.id == id);
        made.is_some_and(|n| n.range.bytes == range && n.inherited.is_none())
    };
    let mut made = None;
    for (s, statement) in reading.model.body.iter().enumerate() {
        let (ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. }) =
            &statement.kind
        else {
            continue;
        };
        for (g, group) in chain.groups.iter().enumerate() {
            for (n, node) in group.iter().enumerate() {
                if let ast::NodeKind::Tuple(members) = &node.kind
                    && members.iter().any(|m| means(m) || makes(m))
                {
                    return Err(Refusal::new(format!(
                        "`{id}` is one component of a tuple; remove it from the tuple first"
                    )));
                }
                if means(node) {
                    return Ok(Some((s, g, n)));
                }
                if makes(node) {
                    made = Some((s, g, n));
                }
            }
        }
    }
    Ok(made)
}

fn delete_port(draft: &mut Draft<'_>, node: &Node) -> Result<(), Refusal> {
    delete_mentions(draft, &node.id)?;
    let span = same_statement(draft, node).unwrap_or(span_of(node));
    let (_, model) = draft.syntax();
    let holder = model.body.iter().find_map(|s| match &s.kind {
        ast::StmtKind::Port(ports) if ports.iter().any(|p| p.span == span) => Some((s.span, ports)),
        _ => None,
    });
    let Some((statement, ports)) = holder else {
        return Err(Refusal::new(format!("there is no port `{}`", node.id)));
    };
    let at = ports.iter().position(|p| p.span == span).unwrap_or(0);
    match (ports.get(at + 1), at.checked_sub(1)) {
        (None, None) => draft.remove_statement(statement),
        (Some(next), _) => {
            let (start, end) = (span.start as usize, next.span.start as usize);
            draft.replace(start, end, "")
        }
        (None, Some(before)) => {
            let start = ports[before].span.end as usize;
            draft.replace(start, span.end as usize, "")
        }
    }
}
