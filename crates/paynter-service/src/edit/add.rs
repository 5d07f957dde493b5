//! Adds nodes: alone, or in a bond.
//!
//! In:  kind, name and value as the user gave them.
//! Out: a statement of its own, or a longer chain; a `use` where the kind comes from the library.

use super::Refusal;
use super::chain::{Found, single_out, statement_of};
use super::draft::Draft;
use super::layout::place;
use super::names::{check_new_name, fresh_name, is_name};
use paynter::model::kinds::ElementKind;
use paynter::syntax::{Span, ast};

/// A node to be made.
pub struct New<'n> {
    /// `0`, `R`, `1[3]`, `electrical.Resistor`.
    pub kind: &'n str,
    /// Its name, if the user gave one.
    pub name: Option<&'n str>,
    /// What stands in parentheses.
    pub value: Option<&'n str>,
}

impl<'n> New<'n> {
    /// A node as an edit asks for it.
    pub fn of(kind: &'n str, name: &'n Option<String>, value: &'n Option<String>) -> Self {
        New {
            kind,
            name: name.as_deref(),
            value: value.as_deref(),
        }
    }
}

/// Adds a node on a line of its own; gives its name.
///
/// # Errors
///
/// The kind is not known, or the name taken.
pub fn add_node(
    draft: &mut Draft<'_>,
    new: &New<'_>,
    at: Option<(f64, f64)>,
) -> Result<String, Refusal> {
    let (name, text) = write_node(draft, new)?;
    draft.add_statement(&text)?;
    put(draft, &name, at)?;
    Ok(name)
}

fn put(draft: &mut Draft<'_>, name: &str, at: Option<(f64, f64)>) -> Result<(), Refusal> {
    match at {
        Some((x, y)) => place(draft, name, x, y),
        None => Ok(()),
    }
}

/// Puts a node into a bond.
///
/// # Errors
///
/// As for [`add_node`], or the bond cannot be cut.
pub fn insert_on_bond(
    draft: &mut Draft<'_>,
    bond: &str,
    new: &New<'_>,
    at: Option<(f64, f64)>,
) -> Result<(), Refusal> {
    let (name, text) = write_node(draft, new)?;
    let place = single_out(draft, bond)?;
    let Found {
        span,
        chain,
        is_named,
    } = statement_of(draft, &place)?;
    let arrow = chain.arrows[place.arrow];
    let (first, second) = halves(arrow);
    if is_named {
        // A named bond joins two nodes: it keeps its first end, and a line behind it goes on.
        let head = &chain.groups[1][0];
        let head_text = draft.slice(head.span);
        let start = draft.text()[span.start as usize..arrow.span.start as usize].to_owned();
        let pieces = [
            format!("{start}{first} {text}"),
            format!("{name} {second} {head_text}"),
        ];
        draft.replace_statement(span, &pieces)?;
    } else {
        draft.replace_span(arrow.span, &format!("{first} {text} {second}"))?;
    }
    put(draft, &name, at)
}

/// The two arrows that one becomes: a stroke stays at its end.
fn halves(arrow: ast::Arrow) -> (&'static str, &'static str) {
    match (arrow.multi, arrow.stroke) {
        (false, None) => ("->", "->"),
        (false, Some(ast::StrokeAt::Head)) => ("->", "->|"),
        (false, Some(ast::StrokeAt::Tail)) => ("|->", "->"),
        (true, None) => ("=>", "=>"),
        (true, Some(ast::StrokeAt::Head)) => ("=>", "=>|"),
        (true, Some(ast::StrokeAt::Tail)) => ("|=>", "=>"),
    }
}

/// Gives the name and the text `name: Kind(value)`; adds a `use` where one is needed.
fn write_node(draft: &mut Draft<'_>, new: &New<'_>) -> Result<(String, String), Refusal> {
    let (kind, needs_parentheses) = known_kind(draft, new.kind)?;
    let name = match new.name {
        Some(name) => {
            check_new_name(draft, name)?;
            name.to_owned()
        }
        None => fresh_name(draft, kind.split('[').next().unwrap_or(&kind)),
    };
    let is_junction = matches!(kind.split('[').next(), Some("0" | "1"));
    let value = match new.value {
        Some(_) if is_junction => return Err(Refusal::new("a junction has no value")),
        // A law stands in braces of its own.
        Some(value) if value.trim_start().starts_with('{') => format!(" {}", value.trim()),
        Some(value) => format!("({})", value.trim()),
        None if needs_parentheses => "()".to_owned(),
        None => String::new(),
    };
    let text = format!("{name}: {kind}{value}");
    Ok((name, text))
}

/// Checks a kind and gives it as it is to be written, and whether empty parentheses belong to it.
///
/// # Errors
///
/// Nobody knows the kind.
pub fn known_kind(draft: &mut Draft<'_>, kind: &str) -> Result<(String, bool), Refusal> {
    let kind = kind.trim();
    let head = kind.split('[').next().unwrap_or(kind).trim();
    if matches!(head, "0" | "1") {
        return Ok((kind.to_owned(), false));
    }
    let own = draft.document.model(head).is_some();
    let is_hidden = |k: ElementKind| k.describe().yields_to_models && own;
    if let Some(element) = ElementKind::called(head).filter(|k| !is_hidden(*k)) {
        // One that may be written without a value is written `D()`.
        let needs_parentheses = element.describe().example.ends_with("()");
        return Ok((kind.to_owned(), needs_parentheses));
    }
    if !head.split('.').all(is_name) {
        return Err(Refusal::new(format!("`{kind}` is not a kind")));
    }
    let path = path_of(head);
    if own || draft.analysis.find_model(&path, 0).is_some() {
        if head == draft.model {
            return Err(Refusal::new(format!("`{head}` cannot contain itself")));
        }
        return Ok((kind.to_owned(), true));
    }
    if let Some((library, name)) = head.split_once('.') {
        add_use(draft, library, name)?;
        return Ok((name.to_owned(), true));
    }
    Err(Refusal::new(format!("there is no kind `{head}`")))
}

fn path_of(text: &str) -> ast::Path {
    let segments = text.split('.').map(|s| ast::Ident {
        text: s.into(),
        span: Span::default(),
    });
    ast::Path {
        segments: segments.collect(),
        span: Span::default(),
    }
}

/// Takes a model from the library into the text: longer `use`, or a new one.
fn add_use(draft: &mut Draft<'_>, library: &str, name: &str) -> Result<(), Refusal> {
    let text = paynter::library::library(library)
        .ok_or_else(|| Refusal::new(format!("there is no library `{library}`")))?;
    let parsed = paynter::syntax::parse(Default::default(), text);
    let offers = |item: &ast::Item| match &item.kind {
        ast::ItemKind::Model(model) => &*model.name.text == name,
        _ => false,
    };
    if !parsed.ast.items.iter().any(offers) {
        return Err(Refusal::new(format!("`{library}` has no model `{name}`")));
    }
    let items = &draft.document.parsed.ast.items;
    let is_taken = items
        .iter()
        .filter_map(crate::analysis::item_name)
        .any(|n| &*n.text == name);
    if is_taken {
        return Err(Refusal::new(format!(
            "this text has a `{name}` of its own; rename it to use the one of `{library}`"
        )));
    }
    match crate::fix::use_edit(&draft.document, library, name) {
        Some((range, text)) => draft.replace(range.bytes.0, range.bytes.1, &text),
        // It is used already.
        None => Ok(()),
    }
}
