//! Lays a file out in the common style.
//!
//! In:  text.
//! Out: the same tokens with other blanks between them.
//!
//! Indentation is four blanks per brace and four for a line that goes on; there is one
//! blank around `=`, `+`, `-`, comparisons and arrows, none inside of units and round `^`.
//! A block is on one line if it was written on one and fits; else `{` ends its line and
//! `}` begins one. All other line breaks stay where they are, blank lines are kept one at a time. What aligns columns (two blanks or more) is kept,
//! and so is the choice between `a*b` and `a * b`.
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

/// Widest line that a block on one line may make: two such files fit side by side on a screen,
/// and all one-line blocks of textbooks do.
const MAX_WIDTH: usize = 120;

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
/// assert_eq!(formatted.text, "model A {\n    x = 1 [m] + y\n}\n");
/// ```
pub fn format(file: FileId, text: &str) -> Formatted {
    let parsed = parse(file, text);
    if parsed.has_errors() {
        return Formatted {
            text: text.to_owned(),
            diagnostics: parsed.diagnostics,
        };
    }
    let blocks = Blocks::find(parsed.tree.tokens());
    // First all blocks as they are, to learn how wide each would be on one line.
    let as_written = lay_out(&parsed.tree, text, &blocks, &[]);
    let laid_out = lay_out(&parsed.tree, text, &blocks, &as_written.columns);
    Formatted {
        text: laid_out.finish(),
        diagnostics: parsed.diagnostics,
    }
}

fn lay_out<'t>(
    tree: &'t Tree,
    text: &'t str,
    blocks: &'t Blocks,
    columns: &'t [usize],
) -> Layout<'t> {
    let mut layout = Layout::new(tree, text, blocks, columns);
    for token in 0..tree.tokens().len() {
        layout.token(token);
    }
    layout
}

/// Where the blocks of a file end, and which of them were written on several lines.
struct Blocks {
    /// For each `{` its `}`; 0 for all other tokens.
    closers: Vec<usize>,
    /// For each `{` whether there is a line break inside.
    is_broken: Vec<bool>,
}

impl Blocks {
    fn find(tokens: &Tokens) -> Blocks {
        let mut blocks = Blocks {
            closers: vec![0; tokens.len()],
            is_broken: vec![false; tokens.len()],
        };
        let mut open: Vec<usize> = Vec::new();
        let mut last_newline = None;
        for token in 0..tokens.len() {
            match tokens.kind(token) {
                T::Newline => last_newline = Some(token),
                T::LBrace => open.push(token),
                T::RBrace => {
                    if let Some(opener) = open.pop() {
                        blocks.closers[opener] = token;
                        blocks.is_broken[opener] = last_newline > Some(opener);
                    }
                }
                _ => {}
            }
        }
        blocks
    }
}

/// The output so far, and what decides about the next blank.
struct Layout<'t> {
    text: &'t str,
    tokens: &'t Tokens,
    nodes: Vec<NodeKind>,
    starts_statement: Vec<bool>,
    blocks: &'t Blocks,
    /// Where each token stood when blocks were left as they are; empty while that is found out.
    as_written: &'t [usize],
    /// Where each token begins in the output.
    columns: Vec<usize>,
    output: String,
    /// Where the last line of the output begins.
    line_start: usize,
    /// Openers not closed yet, as token numbers, and whether their block is on several lines.
    open: Vec<(usize, bool)>,
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
    fn new(tree: &'t Tree, text: &'t str, blocks: &'t Blocks, as_written: &'t [usize]) -> Self {
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
            blocks,
            as_written,
            columns: vec![0; tokens.len()],
            line_start: 0,
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
        // A documentation comment belongs to what follows; others to what is before them.
        let is_first_of_line = self.n_newlines > 0
            || self.output.is_empty()
            || self.tokens.kind(token) == T::DocComment && self.follows_open_block();
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
        if self.n_newlines > 0 || self.output.is_empty() || self.must_break_before(token) {
            self.start_line(self.indent_of(token), kind == T::RBrace);
        } else if let Some(previous) = self.previous {
            let blanks = self.blanks_between(previous, token);
            self.push_blanks(blanks);
        }
        self.columns[token] = self.output.len();
        match kind {
            T::LBrace => {
                self.open.push((token, self.is_on_several_lines(token)));
                self.n_braces += 1;
            }
            T::LParen | T::LBracket => self.open.push((token, false)),
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

    /// Decides about the block that opens here. What was broken stays broken, so that a second
    /// time gives the same.
    fn is_on_several_lines(&self, opener: usize) -> bool {
        let closer = self.blocks.closers[opener];
        if self.as_written.is_empty() || closer == 0 {
            return false;
        }
        if self.blocks.is_broken[opener] {
            return true;
        }
        let width = self.as_written[closer] + 1 - self.as_written[opener];
        let is_empty = (opener + 1..closer).all(|i| self.tokens.kind(i).is_trivia());
        self.output.len() - self.line_start + width > MAX_WIDTH && !is_empty
    }

    /// Tells whether the last thing written is the `{` of a block on several lines.
    fn follows_open_block(&self) -> bool {
        let opened = self.open.last().filter(|(_, is_broken)| *is_broken);
        !self.is_comment_last && opened.is_some_and(|(opener, _)| self.previous == Some(*opener))
    }

    /// Tells whether a token begins a line though the text has no line break before it.
    fn must_break_before(&self, token: usize) -> bool {
        let closes = || {
            let is_broken = self.open.last().is_some_and(|(_, is_broken)| *is_broken);
            is_broken && self.tokens.kind(token) == T::RBrace
        };
        self.follows_open_block() || closes()
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
        self.line_start = self.output.len();
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
            .is_some_and(|&(open, _)| self.tokens.kind(open) != T::LBrace);
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
            (T::Minus | T::Plus, _) if l_node == NodeKind::Unary || self.is_in_layout() => {
                Gap::None
            }
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
        self.open.last().is_some_and(|&(open, _)| {
            matches!(
                self.nodes[open],
                NodeKind::Index | NodeKind::Size | NodeKind::Shape
            )
        })
    }

    /// Tells whether the innermost brace is that of a layout, where `-3` is a place and `-` no operation.
    fn is_in_layout(&self) -> bool {
        let innermost = self.open.last();
        innermost.is_some_and(|&(open, _)| self.nodes[open] == NodeKind::Layout)
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

/// What is between two tokens on one line.
enum Gap {
    None,
    Blank,
    AsWritten,
}
