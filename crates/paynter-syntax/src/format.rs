//! Lays a file out in the common style.
//!
//! In:  text.
//! Out: the same tokens with other blanks between them.
//!
//! Indentation is four blanks per brace and four for a line that goes on; there is one
//! blank around `=`, `+`, `-`, comparisons and arrows, none inside of units and round `^`.
//! Line breaks stay where they are, blank lines are kept one at a time. What aligns
//! columns (two blanks or more) is kept, and so is the choice between `a*b` and `a * b`.
//!
//! **Invariant:** idempotent; the result has the same tokens in the same order and means
//! the same. A file with errors is not touched.

use crate::diagnostic::Diagnostic;
use crate::lex::{TokenKind as T, Tokens};
use crate::parse::parse;
use crate::source::FileId;
use crate::tree::{NodeKind, Tree};

/// Blanks per level.
const INDENT: usize = 4;

/// What laying out a file gives.
#[derive(Clone, Debug)]
pub struct Formatted {
    /// The new text; the old one if it has errors.
    pub text: String,
    /// The errors that kept the file from being laid out.
    pub diagnostics: Vec<Diagnostic>,
}

/// Lays out the text of a file.
///
/// ```
/// let formatted = paynter_syntax::format(Default::default(), "model A{\nx=1[m]+ y }");
/// assert_eq!(formatted.text, "model A {\n    x = 1 [m] + y }\n");
/// ```
pub fn format(file: FileId, text: &str) -> Formatted {
    let parsed = parse(file, text);
    if parsed.has_errors() {
        return Formatted {
            text: text.to_owned(),
            diagnostics: parsed.diagnostics,
        };
    }
    let mut layout = Layout::new(&parsed.tree, text);
    for token in 0..parsed.tree.tokens().len() {
        layout.token(token);
    }
    Formatted {
        text: layout.finish(),
        diagnostics: parsed.diagnostics,
    }
}

/// The output so far, and what decides about the next blank.
struct Layout<'t> {
    text: &'t str,
    tokens: &'t Tokens,
    nodes: Vec<NodeKind>,
    starts_statement: Vec<bool>,
    output: String,
    /// Openers not closed yet, as token numbers.
    open: Vec<usize>,
    /// How many of them are braces.
    n_braces: usize,
    /// The last token that is not trivia.
    previous: Option<usize>,
    /// Line breaks since the last thing written.
    n_newlines: usize,
    /// Blanks since the last thing written; a tab is one, for its width is unknown.
    blanks: usize,
    is_comment_last: bool,
}

impl<'t> Layout<'t> {
    fn new(tree: &'t Tree, text: &'t str) -> Self {
        let tokens = tree.tokens();
        let mut starts_statement = vec![false; tokens.len() + 1];
        for node in tree
            .nodes()
            .filter(|&node| tree.kind(node) == NodeKind::Statement)
        {
            starts_statement[tree.token_range(node).start] = true;
        }
        Layout {
            text,
            tokens,
            nodes: tree.innermost_kinds(),
            starts_statement,
            output: String::with_capacity(text.len() + text.len() / 8),
            open: Vec::new(),
            n_braces: 0,
            previous: None,
            n_newlines: 0,
            blanks: 0,
            is_comment_last: false,
        }
    }

    fn token(&mut self, token: usize) {
        let text = self.tokens.text(token, self.text);
        match self.tokens.kind(token) {
            T::Newline => {
                self.n_newlines += 1;
                self.blanks = 0;
            }
            T::Whitespace => self.blanks += if text.contains('\t') { 1 } else { text.len() },
            T::Comment | T::DocComment => self.comment(token, text.trim_end()),
            _ => self.significant(token, text),
        }
    }

    fn comment(&mut self, token: usize, text: &str) {
        let is_first_of_line = self.n_newlines > 0 || self.output.is_empty();
        if is_first_of_line {
            self.start_line(self.comment_indent(token), false);
        } else {
            let blanks = self.blanks.max(1);
            self.push_blanks(blanks);
        }
        self.write(text);
        self.is_comment_last = true;
    }

    /// A comment is indented like the line that follows it, but stays inside of a block
    /// that the next line closes.
    fn comment_indent(&self, token: usize) -> usize {
        let next = (token..self.tokens.len()).find(|&i| !self.tokens.kind(i).is_trivia());
        match next {
            Some(next) if !self.tokens.kind(next).is_closer() => self.indent_of(next),
            _ => self.n_braces * INDENT + self.extra_inside_brackets(),
        }
    }

    fn significant(&mut self, token: usize, text: &str) {
        let kind = self.tokens.kind(token);
        if self.n_newlines > 0 || self.output.is_empty() {
            self.start_line(self.indent_of(token), kind == T::RBrace);
        } else if let Some(previous) = self.previous {
            let blanks = self.blanks_between(previous, token);
            self.push_blanks(blanks);
        }
        match kind {
            T::LBrace => {
                self.open.push(token);
                self.n_braces += 1;
            }
            T::LParen | T::LBracket => self.open.push(token),
            T::RBrace => {
                self.open.pop();
                self.n_braces -= 1;
            }
            T::RParen | T::RBracket => {
                self.open.pop();
            }
            _ => {}
        }
        self.write(text);
        self.previous = Some(token);
        self.is_comment_last = false;
    }

    fn write(&mut self, text: &str) {
        self.output.push_str(text);
        self.n_newlines = 0;
        self.blanks = 0;
    }

    fn push_blanks(&mut self, n: usize) {
        self.output.extend(std::iter::repeat_n(' ', n));
    }

    /// Breaks the line, keeping one blank line if there was any, but none at the start of
    /// the file or of a block, and none before `}`.
    fn start_line(&mut self, indent: usize, is_block_end: bool) {
        if !self.output.is_empty() {
            self.output.push('\n');
            let is_block_start = !self.is_comment_last
                && self
                    .previous
                    .is_some_and(|token| self.tokens.kind(token) == T::LBrace);
            if self.n_newlines > 1 && !is_block_start && !is_block_end {
                self.output.push('\n');
            }
        }
        self.push_blanks(indent);
    }

    /// Gives the indentation of a line that starts with `token`.
    fn indent_of(&self, token: usize) -> usize {
        let kind = self.tokens.kind(token);
        if kind == T::RBrace {
            return self.n_braces.saturating_sub(1) * INDENT;
        }
        let base = self.n_braces * INDENT;
        if kind.is_closer() {
            return base;
        }
        let inside = self.extra_inside_brackets();
        let follows_brace = self
            .previous
            .is_some_and(|previous| self.tokens.kind(previous) == T::RBrace && kind == T::Else);
        let continues = !self.starts_statement[token]
            && !follows_brace
            && !matches!(kind, T::LBrace | T::Semicolon);
        if inside > 0 || continues {
            base + INDENT
        } else {
            base
        }
    }

    fn extra_inside_brackets(&self) -> usize {
        let is_inside = self
            .open
            .last()
            .is_some_and(|&open| self.tokens.kind(open) != T::LBrace);
        if is_inside { INDENT } else { 0 }
    }

    /// Gives the blanks between two tokens on one line.
    fn blanks_between(&self, left: usize, right: usize) -> usize {
        match self.gap(left, right) {
            Gap::None => 0,
            Gap::AsWritten => usize::from(self.is_spaced(left, right)),
            Gap::Blank => self.blanks.max(1),
        }
    }

    fn gap(&self, left: usize, right: usize) -> Gap {
        let (l, r) = (self.tokens.kind(left), self.tokens.kind(right));
        let (l_node, r_node) = (self.nodes[left], self.nodes[right]);
        if l_node == NodeKind::Unit && r_node == NodeKind::Unit && l != T::RBracket {
            return Gap::None;
        }
        match (l, r) {
            (_, T::Comma | T::Semicolon | T::RParen | T::RBracket | T::Colon) => Gap::None,
            (_, T::Dot | T::Prime | T::Caret) => Gap::None,
            (T::Dot | T::Caret | T::LParen | T::LBracket, _) => Gap::None,
            (T::Minus | T::Plus, _) if l_node == NodeKind::Unary => Gap::None,
            (T::Eq, _) => Gap::Blank,
            (_, T::LParen) if r_node == NodeKind::Args => Gap::None,
            (_, T::LBracket) if matches!(r_node, NodeKind::Index | NodeKind::Size) => Gap::None,
            (T::Star | T::Slash, _) | (_, T::Star | T::Slash) => Gap::AsWritten,
            (T::Comma, _) if self.is_in_index() => Gap::AsWritten,
            (T::Plus | T::Minus, _) if l_node == NodeKind::Binary && self.is_in_index() => {
                Gap::AsWritten
            }
            (_, T::Plus | T::Minus) if r_node == NodeKind::Binary && self.is_in_index() => {
                Gap::AsWritten
            }
            _ => Gap::Blank,
        }
    }

    /// Tells whether the innermost bracket holds an index, a size or a shape, where
    /// `link[i-1]` and `[3,3]` are often written tightly.
    fn is_in_index(&self) -> bool {
        self.open.last().is_some_and(|&open| {
            matches!(
                self.nodes[open],
                NodeKind::Index | NodeKind::Size | NodeKind::Shape
            )
        })
    }

    /// Tells whether there were blanks on either side of the operator that is `left` or
    /// `right`, so that both sides come out alike.
    fn is_spaced(&self, left: usize, right: usize) -> bool {
        let is_operator = |i: usize| {
            matches!(self.tokens.kind(i), T::Star | T::Slash | T::Plus | T::Minus)
                && self.nodes[i] == NodeKind::Binary
        };
        let has_blank = |i: usize| {
            matches!(
                self.tokens.kind(i),
                T::Whitespace | T::Newline | T::Comment | T::DocComment
            )
        };
        let around = |i: usize| has_blank(i + 1) || (i > 0 && has_blank(i - 1));
        if is_operator(right) {
            around(right)
        } else if is_operator(left) {
            around(left)
        } else {
            left + 1 < right
        }
    }

    fn finish(mut self) -> String {
        if !self.output.is_empty() {
            self.output.push('\n');
        }
        self.output
    }
}

/// What stands between two tokens on one line.
enum Gap {
    None,
    Blank,
    AsWritten,
}
