//! Changes what is there: directions, strokes, values, kinds.
//!
//! In:  an id and what it is to become.
//! Out: the same statement with another arrow, value or kind.

use super::Refusal;
use super::add::known_kind;
use super::chain::{Found, find_bond, reference, single_out, statement, statement_of};
use super::connect::{node, takes_power};
use super::draft::Draft;
use crate::view::{Node, NodeSort, StrokeAt};
use paynter::syntax::{Span, ast};

/// Writes a stroke at one end of a bond, or takes it away.
///
/// # Errors
///
/// The bond is inherited, or the stroke mixed.
pub fn set_stroke(draft: &mut Draft<'_>, bond: &str, at: Option<StrokeAt>) -> Result<(), Refusal> {
    let (index, place) = find_bond(draft, bond)?;
    if draft.read().view.bonds[index].forced == at {
        return Ok(());
    }
    statement_of(draft, &place)?;
    let place = single_out(draft, bond)?;
    let found = statement_of(draft, &place)?;
    let arrow = found.chain.arrows[place.arrow];
    let text = match (arrow.multi, at) {
        (_, Some(StrokeAt::Mixed)) => {
            return Err(Refusal::new(
                "a stroke is written at the tail or at the head",
            ));
        }
        (multi, at) => arrow_text(multi, at),
    };
    draft.replace_span(arrow.span, text)
}

fn arrow_text(multi: bool, stroke: Option<StrokeAt>) -> &'static str {
    match (multi, stroke) {
        (false, Some(StrokeAt::Head)) => "->|",
        (false, Some(StrokeAt::Tail)) => "|->",
        (true, Some(StrokeAt::Head)) => "=>|",
        (true, Some(StrokeAt::Tail)) => "|=>",
        (false, _) => "->",
        (true, _) => "=>",
    }
}

/// Turns an arrow round; a written stroke stays at its node.
///
/// # Errors
///
/// The arrow cannot point the other way.
pub fn reverse(draft: &mut Draft<'_>, bond: &str) -> Result<(), Refusal> {
    let (index, _) = find_bond(draft, bond)?;
    let view_bond = draft.read().view.bonds[index].clone();
    for end in [&view_bond.from, &view_bond.to] {
        let node = node(draft, &end.node)?;
        refuse_fixed_direction(&node)?;
    }
    let place = single_out(draft, bond)?;
    let Found {
        span,
        chain,
        is_named,
    } = statement_of(draft, &place)?;
    let n = chain.groups.len();
    let (tail, head) = (
        &chain.groups[place.arrow][0],
        &chain.groups[place.arrow + 1][0],
    );
    // An end that stands alone moves with its making into the new statement; one that goes on stays.
    let is_tail_alone = place.arrow == 0;
    let is_head_alone = place.arrow + 2 == n;
    let end = |node: &ast::Node, is_alone: bool, end: &crate::view::BondEnd| {
        let port = end.port.as_deref().filter(|_| end.is_implied);
        match (port, is_alone) {
            (Some(port), _) => Ok(format!("{}.{port}", reference(draft, node)?)),
            (None, true) => Ok(draft.slice(node.span)),
            (None, false) => reference(draft, node),
        }
    };
    let tail_text = end(tail, is_tail_alone, &view_bond.from)?;
    let head_text = end(head, is_head_alone, &view_bond.to)?;
    let mirrored = match view_bond.forced {
        Some(StrokeAt::Head) => Some(StrokeAt::Tail),
        Some(StrokeAt::Tail) => Some(StrokeAt::Head),
        other => other,
    };
    let arrow = arrow_text(view_bond.is_multi, mirrored);
    let mut pieces = Vec::new();
    let moved = |is_alone: bool, end: &crate::view::BondEnd| {
        is_alone && !(end.is_implied && end.port.is_some())
    };
    if !moved(is_tail_alone, &view_bond.from) {
        pieces.extend(statement(draft, &chain, 0..place.arrow + 1, &|_, _| true)?);
    }
    let prefix = match is_named {
        true => draft.text()[span.start as usize..chain.span.start as usize].to_owned(),
        false => String::new(),
    };
    pieces.push(format!("{prefix}{head_text} {arrow} {tail_text}"));
    if !moved(is_head_alone, &view_bond.to) {
        pieces.extend(statement(draft, &chain, place.arrow + 1..n, &|_, _| true)?);
    }
    draft.replace_statement(span, &pieces)
}

fn refuse_fixed_direction(node: &Node) -> Result<(), Refusal> {
    if takes_power(node) {
        return Err(Refusal::new(format!(
            "an arrow must point into {} `{}`: it takes power",
            node.kind, node.id
        )));
    }
    if node.is_two_port() {
        return Err(Refusal::new(format!(
            "the arrows of a {} stay in line: one in, one out",
            node.kind
        )));
    }
    if node.sort == NodeSort::Port {
        return Err(Refusal::new(format!(
            "the arrow at port `{}` is in line with the one outside",
            node.id
        )));
    }
    Ok(())
}

/// Changes what stands in parentheses and braces behind a kind.
///
/// # Errors
///
/// The text is no value, or the node is inherited.
pub fn set_value(
    draft: &mut Draft<'_>,
    id: &str,
    value: Option<&str>,
    law: Option<&str>,
) -> Result<(), Refusal> {
    let found = own_node(draft, id)?;
    let (start, end) = found.range.bytes;
    match found.sort {
        NodeSort::For | NodeSort::If => {
            let text = value.ok_or_else(|| Refusal::new("a block has a text"))?;
            return draft.replace(start, end, text.trim());
        }
        NodeSort::Replaceable => {
            let text = value.ok_or_else(|| Refusal::new("a replaceable part has a value"))?;
            return set_default(draft, &found, text.trim());
        }
        NodeSort::Element | NodeSort::Part | NodeSort::Unknown => {}
        _ => return Err(Refusal::new(format!("a {} has no value", found.kind))),
    }
    let kind =
        kind_at(draft, (start, end)).ok_or_else(|| Refusal::new(format!("`{id}` has no value")))?;
    let head_end = match (&kind.size, &kind.head) {
        (Some(size), _) => {
            // Behind the bracket that closes the size.
            let at = size.span.end as usize;
            at + draft.text()[at..].find(']').map_or(0, |i| i + 1)
        }
        (None, ast::KindHead::Named(path)) => path.span.end as usize,
        (None, ast::KindHead::Zero(span) | ast::KindHead::One(span)) => span.end as usize,
    };
    let tail_end = kind.flags.first().map_or(kind.span.end, |f| f.span.start) as usize;
    let gap = if kind.flags.is_empty() { "" } else { " " };
    let value = value.map_or_else(String::new, |v| format!("({})", v.trim()));
    let law = law.map_or_else(String::new, |l| format!(" {{ {} }}", l.trim()));
    let before = draft.read().view.nodes.len();
    draft.replace(head_end, tail_end, &format!("{value}{law}{gap}"))?;
    // A value such as `1) -> x: R(2` would make more than a value.
    if draft.read().view.nodes.len() != before {
        return Err(Refusal::new("this is not a value"));
    }
    Ok(())
}

fn set_default(draft: &mut Draft<'_>, node: &Node, text: &str) -> Result<(), Refusal> {
    let (_, model) = draft.syntax();
    let found = model.body.iter().find_map(|s| match &s.kind {
        ast::StmtKind::Replaceable {
            name,
            default,
            bound,
        } => {
            let is_it = Some(&*name.text) == node.name.as_deref();
            is_it.then(|| (default.as_ref().map(|d| d.span), bound.span))
        }
        _ => None,
    });
    match found {
        Some((Some(span), _)) => draft.replace_span(span, text),
        Some((None, bound)) => {
            let end = bound.end as usize;
            draft.replace(end, end, &format!(" = {text}"))
        }
        None => Err(Refusal::new(format!("there is no `{}`", node.id))),
    }
}

/// A node that is made in this model itself.
fn own_node(draft: &Draft<'_>, id: &str) -> Result<Node, Refusal> {
    let found = node(draft, id)?;
    match &found.inherited {
        Some(model) => Err(Refusal::new(format!(
            "`{id}` is made in `{model}`, which this model extends; change it there"
        ))),
        None => Ok(found),
    }
}

/// The kind of the node that is made at these bytes.
pub fn kind_at(draft: &Draft<'_>, bytes: (usize, usize)) -> Option<ast::Kind> {
    let (_, model) = draft.syntax();
    let mut open: Vec<&ast::Node> = model
        .body
        .iter()
        .flat_map(|s| match &s.kind {
            ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. } => {
                chain.groups.iter().flatten().collect::<Vec<_>>()
            }
            _ => Vec::new(),
        })
        .collect();
    while let Some(node) = open.pop() {
        let is_it = (node.span.start as usize, node.span.end as usize) == bytes;
        match &node.kind {
            ast::NodeKind::Thing { kind, .. } | ast::NodeKind::Anonymous(kind) if is_it => {
                return Some((**kind).clone());
            }
            ast::NodeKind::Tuple(members) => open.extend(members),
            _ => {}
        }
    }
    None
}

/// Makes a node one of another kind.
///
/// # Errors
///
/// The kind is not known, or the node inherited.
pub fn set_kind(draft: &mut Draft<'_>, id: &str, kind: &str) -> Result<(), Refusal> {
    own_node(draft, id)?;
    let (kind_text, _) = known_kind(draft, kind)?;
    // A `use` may have moved the text.
    let found = own_node(draft, id)?;
    let n_unresolved = draft.read().view.unresolved.len();
    let old = kind_at(draft, found.range.bytes)
        .ok_or_else(|| Refusal::new(format!("the kind of `{id}` cannot be changed")))?;
    let span = match &old.head {
        ast::KindHead::Zero(span) | ast::KindHead::One(span) => *span,
        ast::KindHead::Named(path) => path.span,
    };
    let is_junction = matches!(kind_text.split('[').next(), Some("0" | "1"));
    let has_size = kind_text.contains('[');
    let mut end = span.end as usize;
    if let (Some(size), true) = (&old.size, has_size) {
        let at = size.span.end as usize;
        end = at + draft.text()[at..].find(']').map_or(0, |i| i + 1);
    }
    draft.replace(span.start as usize, end, &kind_text)?;
    // A two-port without a name needs a bond on either side, where it is written.
    if draft.read().view.unresolved.len() > n_unresolved {
        return Err(Refusal::new(format!(
            "a {kind} cannot take the place of `{id}`"
        )));
    }
    // A junction has neither value nor law.
    if is_junction && (old.args.is_some() || old.law.is_some()) {
        let found = own_node_at(draft, id, found.range.bytes.0)?;
        clear_value(draft, &found)?;
    }
    Ok(())
}

fn own_node_at(draft: &Draft<'_>, id: &str, start: usize) -> Result<Node, Refusal> {
    let reading = draft.read();
    let nodes = &reading.view.nodes;
    let found = nodes
        .iter()
        .find(|n| n.inherited.is_none() && n.range.bytes.0 == start && n.sort != NodeSort::Tuple);
    found
        .cloned()
        .ok_or_else(|| Refusal::new(format!("there is no `{id}`")))
}

fn clear_value(draft: &mut Draft<'_>, node: &Node) -> Result<(), Refusal> {
    let Some(kind) = kind_at(draft, node.range.bytes) else {
        return Ok(());
    };
    let start = match (&kind.size, &kind.head) {
        (Some(size), _) => {
            let at = size.span.end as usize;
            at + draft.text()[at..].find(']').map_or(0, |i| i + 1)
        }
        (None, ast::KindHead::Named(path)) => path.span.end as usize,
        (None, ast::KindHead::Zero(span) | ast::KindHead::One(span)) => span.end as usize,
    };
    draft.replace(start, kind.span.end as usize, "")
}

/// Changes the value of a named signal.
///
/// # Errors
///
/// There is none, or it is inherited, or the text is no value.
pub fn set_signal(draft: &mut Draft<'_>, name: &str, value: &str) -> Result<(), Refusal> {
    let value = value.trim();
    if value.is_empty() {
        return Err(Refusal::new("a value is missing"));
    }
    let n_signals = draft.read().view.signals.len();
    let (at, text) = {
        let (_, model) = draft.syntax();
        let mut found: Option<(Span, bool)> = None;
        for statement in &model.body {
            match &statement.kind {
                ast::StmtKind::Param(list)
                | ast::StmtKind::Input(list)
                | ast::StmtKind::Output(list) => {
                    if let Some(decl) = list.iter().find(|d| &*d.name.text == name) {
                        found = Some(match &decl.value {
                            Some(value) => (value.span, true),
                            None => (declared_end(decl), false),
                        });
                    }
                }
                ast::StmtKind::Define(define)
                    if draft.document.slice(define.target.span) == name =>
                {
                    found = Some((define.value.span, true));
                }
                _ => {}
            }
        }
        match found {
            Some((span, true)) => (span, value.to_owned()),
            Some((span, false)) => (span, format!(" = {value}")),
            None => {
                return Err(Refusal::new(format!(
                    "there is no parameter, input or definition `{name}` in this model itself"
                )));
            }
        }
    };
    draft.replace_span(at, &text)?;
    if draft.read().view.signals.len() != n_signals {
        return Err(Refusal::new("this is not a value"));
    }
    Ok(())
}

/// The empty place behind name, shape and unit of a declaration.
fn declared_end(decl: &ast::Decl) -> Span {
    let mut end = decl.name.span.end;
    for span in [
        decl.unit.as_ref().map(|u| u.span),
        decl.kind.as_ref().map(|k| k.span),
    ]
    .into_iter()
    .flatten()
    {
        end = end.max(span.end);
    }
    if let (Some(shape), None) = (&decl.shape, &decl.unit)
        && let Some(last) = shape.last()
    {
        // Behind the bracket.
        end = end.max(last.span.end + 1);
    }
    Span {
        start: end,
        end,
        ..decl.span
    }
}
