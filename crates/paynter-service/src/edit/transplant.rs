//! Moves texts of statements from one model to another.
//!
//! In:  a text, places in it, and what is to stand there.
//! Out: the text as it reads elsewhere.

use paynter::syntax::{Span, TokenKind, ast, lex};
use std::collections::BTreeSet;

/// Bytes of a text, and what is to stand in their place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Swap {
    start: usize,
    end: usize,
    text: String,
}

impl Swap {
    /// Replaces `start..end`.
    pub fn new(start: usize, end: usize, text: impl Into<String>) -> Self {
        Swap {
            start,
            end,
            text: text.into(),
        }
    }

    /// Tells whether it lies in a stretch.
    pub fn is_between(&self, start: usize, end: usize) -> bool {
        start <= self.start && self.end <= end
    }
}

/// A stretch of a text that begins at byte `base`, with those swaps that lie in it.
pub fn swapped(stretch: &str, base: usize, swaps: &[Swap]) -> String {
    let mut inside: Vec<&Swap> = swaps
        .iter()
        .filter(|s| base <= s.start && s.end <= base + stretch.len())
        .collect();
    inside.sort();
    inside.dedup();
    let mut out = String::new();
    let mut at = 0;
    for swap in inside {
        let (start, end) = (swap.start - base, swap.end - base);
        if start < at {
            continue;
        }
        out.push_str(&stretch[at..start]);
        out.push_str(&swap.text);
        at = end;
    }
    out.push_str(&stretch[at..]);
    out
}

/// Tells whether a span lies in one of these stretches.
pub fn is_within(span: Span, ranges: &[(usize, usize)]) -> bool {
    let (start, end) = (span.start as usize, span.end as usize);
    ranges.iter().any(|r| r.0 <= start && end <= r.1)
}

/// The end of a dotted path whose first name ends at a byte.
pub fn path_end(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    let tokens = lex(rest);
    let mut end = 0;
    let mut i = 0;
    while i + 1 < tokens.len()
        && tokens.kind(i) == TokenKind::Dot
        && tokens.kind(i + 1) == TokenKind::Ident
    {
        end = tokens.range(i + 1).end;
        i += 2;
    }
    from + end
}

/// A comment on the same line behind a statement, with a blank before it.
pub fn trailing_comment(text: &str, end: usize) -> String {
    let line = text[end..].lines().next().unwrap_or("");
    match line.trim_start().starts_with("//") {
        true => format!("  {}", line.trim()),
        false => String::new(),
    }
}

/// Where chains name nodes that are made elsewhere: first bytes of their names. Those inside of `for` and `if` as well, if
/// `is_deep`.
pub fn chain_refs(body: &[ast::Stmt], is_deep: bool) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&ast::Stmt> = body.iter().collect();
    while let Some(statement) = open.pop() {
        match &statement.kind {
            ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. } => {
                let mut nodes: Vec<&ast::Node> = chain.groups.iter().flatten().collect();
                while let Some(node) = nodes.pop() {
                    match &node.kind {
                        ast::NodeKind::Ref(r) => {
                            found.extend(r.parts.first().map(|p| p.name.span.start));
                        }
                        ast::NodeKind::Tuple(members) => nodes.extend(members),
                        _ => {}
                    }
                }
            }
            ast::StmtKind::For { body, .. } if is_deep => open.extend(body),
            ast::StmtKind::If {
                then, otherwise, ..
            } if is_deep => open.extend(then.iter().chain(otherwise)),
            _ => {}
        }
    }
    found
}
