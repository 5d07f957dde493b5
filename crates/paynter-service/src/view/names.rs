//! Texts and names of nodes as the model writes them.
//!
//! In:  nodes and references of the syntax.
//! Out: the letters that stand for them in ids; names read by an expression.

use paynter::syntax::{Span, ast};

/// Text without blanks, so that two ways to write an index meet.
pub fn tight(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The head of a kind as written.
pub fn kind_text(kind: &ast::Kind) -> String {
    match &kind.head {
        ast::KindHead::Zero(_) => "0".to_owned(),
        ast::KindHead::One(_) => "1".to_owned(),
        ast::KindHead::Named(path) => path_text(path),
    }
}

/// A dotted path as text.
pub fn path_text(path: &ast::Path) -> String {
    let segments: Vec<&str> = path.segments.iter().map(|s| &*s.text).collect();
    segments.join(".")
}

/// A name with its index as written.
pub fn indexed(source: &str, name: &ast::Ident, index: &[ast::Expr]) -> String {
    match (index.first(), index.last()) {
        (Some(first), Some(last)) => {
            let inside = slice(source, first.span.to(last.span));
            format!("{}[{}]", name.text, tight(inside))
        }
        _ => name.text.to_string(),
    }
}

/// The text under a span of this source.
pub fn slice(source: &str, span: Span) -> &str {
    source
        .get(span.start as usize..span.end as usize)
        .unwrap_or("")
}

/// What stands for a node in the id of its unnamed neighbours.
pub fn label(source: &str, node: &ast::Node) -> String {
    match &node.kind {
        ast::NodeKind::Thing { name, index, .. } => indexed(source, name, index),
        ast::NodeKind::Anonymous(kind) => kind_text(kind),
        ast::NodeKind::Ref(r) => tight(slice(source, r.span)),
        ast::NodeKind::Tuple(_) => "()".to_owned(),
        ast::NodeKind::Fixed => "_".to_owned(),
    }
}

/// Calls `see` with every bare name that an expression reads first: `c1` of `c1.e`.
pub fn names_read(expr: &ast::Expr, see: &mut dyn FnMut(&ast::Ident)) {
    use ast::ExprKind as E;
    match &expr.kind {
        E::Number { .. } | E::Bool(_) | E::Text(_) => {}
        E::Matrix { rows, .. } => rows.iter().flatten().for_each(|e| names_read(e, see)),
        E::Name(name) => see(name),
        E::Field { of, .. } | E::Unary { of, .. } | E::Transpose(of) => names_read(of, see),
        E::Index { of, index } => {
            names_read(of, see);
            index.iter().for_each(|e| names_read(e, see));
        }
        E::Call { args, .. } => args.iter().for_each(|a| names_read(&a.value, see)),
        E::Comprehension { body, range, .. } => {
            names_read(body, see);
            let ends = [Some(&range.from), range.to.as_ref(), range.by.as_ref()];
            ends.into_iter().flatten().for_each(|e| names_read(e, see));
        }
        E::Binary { left, right, .. } => {
            names_read(left, see);
            names_read(right, see);
        }
        E::If {
            condition,
            then,
            otherwise,
        } => [condition, then, otherwise]
            .into_iter()
            .for_each(|e| names_read(e, see)),
    }
}
