//! Places of nodes, kept in the `layout` block.
//!
//! In:  names and places.
//! Out: one entry a line in a block at the end of the model.

use super::Refusal;
use super::connect::node;
use super::draft::{Draft, INDENT};
use super::names::fresh_name;
use crate::view::NodeSort;
use paynter::syntax::{Span, ast};

/// Puts nodes at places; an unnamed node gets a name, since an entry has to name it.
///
/// # Errors
///
/// There is no such node, or it cannot have a place.
pub fn move_nodes(draft: &mut Draft<'_>, places: &[(String, f64, f64)]) -> Result<(), Refusal> {
    // Names first: giving one changes the ids of neighbours without names.
    let mut named = Vec::new();
    for (id, x, y) in places {
        let found = node(draft, id)?;
        named.push((found, *x, *y));
    }
    named.sort_by_key(|(n, ..)| std::cmp::Reverse(n.range.bytes));
    let mut entries = Vec::new();
    for (found, x, y) in named {
        let name = match (&found.name, found.sort, &found.inherited) {
            (Some(name), ..) => name.clone(),
            (
                None,
                NodeSort::Junction | NodeSort::Element | NodeSort::Part | NodeSort::Unknown,
                None,
            ) => {
                let name = fresh_name(draft, &found.kind);
                let start = found.range.bytes.0;
                draft.replace(start, start, &format!("{name}: "))?;
                name
            }
            _ => {
                return Err(Refusal::new(format!(
                    "the {} has no name to keep a place by",
                    found.kind
                )));
            }
        };
        entries.push((name, x, y));
    }
    for (name, x, y) in entries.iter().rev() {
        place(draft, name, *x, *y)?;
    }
    Ok(())
}

/// Puts one named node at a place.
///
/// # Errors
///
/// The place is no number.
pub fn place(draft: &mut Draft<'_>, name: &str, x: f64, y: f64) -> Result<(), Refusal> {
    let entry = format!("{name} {} {}", number(x)?, number(y)?);
    let known = entries(draft);
    if let Some((_, span)) = known.iter().find(|(n, _)| n == name) {
        return draft.replace_span(*span, &entry);
    }
    match (known.last(), block(draft)) {
        (Some((_, last)), Some(_)) => {
            let end = last.end as usize;
            let is_broken = draft.text()[end..]
                .trim_start_matches([' ', '\t'])
                .starts_with(['\n', '/']);
            if !is_broken {
                return draft.replace(end, end, &format!("; {entry}"));
            }
            let end = draft.line_end(end);
            draft.replace(end, end, &format!("\n{INDENT}{INDENT}{entry}"))
        }
        (_, Some(span)) => {
            let text = format!("layout {{\n{INDENT}{INDENT}{entry}\n{INDENT}}}");
            draft.replace_span(span, &text)
        }
        (_, None) => {
            let text = format!("layout {{\n{INDENT}{INDENT}{entry}\n{INDENT}}}");
            let (_, model) = draft.syntax();
            let last = model.body.last().map(|s| s.span);
            draft.add_behind(last, &text)
        }
    }
}

/// Forgets the place of a node that is no more.
///
/// # Errors
///
/// None that a user can cause.
pub fn forget(draft: &mut Draft<'_>, name: &str) -> Result<(), Refusal> {
    let known = entries(draft);
    let Some(at) = known.iter().position(|(n, _)| n == name) else {
        return Ok(());
    };
    if known.len() == 1 {
        return match block(draft) {
            Some(span) => draft.remove_statement(span),
            None => Ok(()),
        };
    }
    draft.remove_statement(known[at].1)
}

/// Entries of the model's own layout block: name and place in the text.
fn entries(draft: &Draft<'_>) -> Vec<(String, Span)> {
    let (_, model) = draft.syntax();
    let lists = model.body.iter().filter_map(|s| match &s.kind {
        ast::StmtKind::Layout(list) => Some(list),
        _ => None,
    });
    let text = |r: &ast::Ref| crate::view::tight(draft.document.slice(r.span));
    lists.flatten().map(|p| (text(&p.target), p.span)).collect()
}

fn block(draft: &Draft<'_>) -> Option<Span> {
    let (_, model) = draft.syntax();
    let found = model
        .body
        .iter()
        .rfind(|s| matches!(s.kind, ast::StmtKind::Layout(_)));
    found.map(|s| s.span)
}

/// A place to a tenth, as people write it.
fn number(value: f64) -> Result<String, Refusal> {
    // Farther than any drawing: such a number is a slip of the caller.
    const FARTHEST: f64 = 1e6;
    if value.is_nan() || value.abs() > FARTHEST {
        return Err(Refusal::new(format!("{value} is not a place")));
    }
    let rounded = (value * 10.0).round() / 10.0;
    // No minus before zero.
    Ok(format!("{}", rounded + 0.0))
}
