//! Pairs brackets before parsing, so that one missing bracket stays one error.
//!
//! In:  the significant tokens with their lines and indentation.
//! Out: the partner of each bracket; where an unclosed brace should have been closed;
//!      which closing braces close nothing.
//!
//! Balanced braces are paired exactly. Only in a file whose braces do not balance is
//! indentation believed: a `}` at the start of a line belongs to a `{` of a line with the
//! same indentation, and a line indented no more than that of an open `{` is where it
//! should have been closed. An item such as `model` in column 0 closes everything.
//!
//! **Invariant:** pairs nest, and a brace pair is never crossed by a pair of parentheses.

use crate::lex::TokenKind;

/// No partner.
pub(crate) const NONE: u32 = u32::MAX;

/// How far down the stack of open braces indentation is compared. Code nests a few levels
/// deep; the bound keeps hostile input linear.
const MAX_LEVELS_COMPARED: usize = 64;

/// What the pairing reads of a significant token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenPlace {
    pub(crate) line: u32,
    /// Bytes before the first token of its line; far out is all the same.
    pub(crate) indent: u16,
    pub(crate) kind: TokenKind,
    /// An item keyword in column 0.
    pub(crate) is_item_start: bool,
}

/// The pairing of all brackets.
#[derive(Debug)]
pub(crate) struct Brackets {
    /// For each significant token the index of its partner, or [`NONE`].
    pub(crate) partner: Vec<u32>,
    /// (`{`, the token before which its `}` is missing), in order of `{`.
    unclosed: Vec<(u32, u32)>,
    /// Closing braces without partner, in order.
    stray_braces: Vec<u32>,
    /// The same of round and square brackets.
    stray_others: Vec<u32>,
}

impl Brackets {
    /// Gives the token before which the unclosed `{` at `open` ought to be closed.
    pub(crate) fn missing_close(&self, open: u32) -> Option<u32> {
        let i = self
            .unclosed
            .binary_search_by_key(&open, |&(open, _)| open)
            .ok()?;
        Some(self.unclosed[i].1)
    }

    /// Gives the first `}` without partner at or after token `from`.
    pub(crate) fn next_stray_brace(&self, from: u32) -> Option<u32> {
        first_from(&self.stray_braces, from)
    }

    /// Gives the first closing bracket without partner at or after token `from`.
    pub(crate) fn next_stray(&self, from: u32) -> Option<u32> {
        let brace = first_from(&self.stray_braces, from);
        let other = first_from(&self.stray_others, from);
        brace.into_iter().chain(other).min()
    }
}

/// Pairs all brackets of a file in linear time.
pub(crate) fn pair_brackets(places: &[TokenPlace]) -> Brackets {
    let mut brackets = Brackets {
        partner: vec![NONE; places.len() + 1],
        unclosed: vec![],
        stray_braces: vec![],
        stray_others: vec![],
    };
    if !pair_balanced_braces(places, &mut brackets.partner) {
        brackets.partner.fill(NONE);
        pair_braces_by_indentation(places, &mut brackets);
        brackets.unclosed.sort_unstable();
    }
    brackets.stray_others = pair_round_and_square(places, &mut brackets.partner);
    brackets
}

/// Pairs braces exactly, and tells whether all of them have a partner.
fn pair_balanced_braces(places: &[TokenPlace], partner: &mut [u32]) -> bool {
    let mut open = Vec::new();
    for (i, place) in places.iter().enumerate() {
        match place.kind {
            TokenKind::LBrace => open.push(i),
            TokenKind::RBrace => {
                let Some(start) = open.pop() else {
                    return false;
                };
                partner[start] = i as u32;
                partner[i] = start as u32;
            }
            // An item inside a body: the braces balance by accident.
            _ if place.is_item_start && !open.is_empty() => return false,
            _ => {}
        }
    }
    open.is_empty()
}

struct OpenBrace {
    token: u32,
    line: u32,
    indent: u16,
    should_close_before: Option<u32>,
}

fn pair_braces_by_indentation(places: &[TokenPlace], brackets: &mut Brackets) {
    let count = |kind| places.iter().filter(|p| p.kind == kind).count();
    let mut surplus = count(TokenKind::RBrace).saturating_sub(count(TokenKind::LBrace));
    let mut open: Vec<OpenBrace> = Vec::new();
    let mut indent = 0;
    let mut n_open = 0_usize;
    for (i, place) in places.iter().enumerate() {
        let token = i as u32;
        let is_first_of_line = i == 0 || places[i - 1].line != place.line;
        // Lines inside of parentheses and continued lines belong to the line above.
        let is_continued = n_open > 0
            || place.kind.continues_from_above()
            || i > 0 && places[i - 1].kind.continues_line();
        if is_first_of_line && (!is_continued || place.is_item_start) {
            indent = place.indent;
            n_open = 0;
            if place.is_item_start {
                leave_unclosed(&mut open, 0, token, brackets);
            } else if place.kind != TokenKind::RBrace {
                note_outdent(&mut open, indent, token);
            }
        }
        match place.kind {
            TokenKind::LParen | TokenKind::LBracket => n_open += 1,
            TokenKind::RParen | TokenKind::RBracket => n_open = n_open.saturating_sub(1),
            _ => {}
        }
        match place.kind {
            TokenKind::LBrace => open.push(OpenBrace {
                token,
                line: place.line,
                indent,
                should_close_before: None,
            }),
            TokenKind::RBrace => {
                let level = match matching_level(&open, place, is_first_of_line) {
                    Some(level) => level,
                    None if surplus == 0 && !open.is_empty() => open.len() - 1,
                    None => {
                        surplus = surplus.saturating_sub(1);
                        brackets.stray_braces.push(token);
                        continue;
                    }
                };
                leave_unclosed(&mut open, level + 1, token, brackets);
                let brace = open.pop().expect("`level` is below the top of the stack");
                brackets.partner[brace.token as usize] = token;
                brackets.partner[i] = brace.token;
            }
            _ => {}
        }
    }
    leave_unclosed(&mut open, 0, places.len() as u32, brackets);
}

/// The open brace that a closing one seems to belong to: at the same indentation, or on the same line.
fn matching_level(open: &[OpenBrace], place: &TokenPlace, is_first_of_line: bool) -> Option<usize> {
    if !is_first_of_line {
        let top = open.len().checked_sub(1);
        return top.filter(|&top| open[top].line == place.line);
    }
    open.iter()
        .enumerate()
        .rev()
        .take(MAX_LEVELS_COMPARED)
        .find(|(_, brace)| brace.indent == place.indent)
        .map(|(level, _)| level)
}

/// Gives up all open braces above `level`, met at token `at`.
fn leave_unclosed(open: &mut Vec<OpenBrace>, level: usize, at: u32, brackets: &mut Brackets) {
    for brace in open.drain(level.min(open.len())..) {
        brackets
            .unclosed
            .push((brace.token, brace.should_close_before.unwrap_or(at)));
    }
}

/// Remembers that the line starting with `token` lies outside of the braces opened deeper.
fn note_outdent(open: &mut [OpenBrace], indent: u16, token: u32) {
    for brace in open.iter_mut().rev().take(MAX_LEVELS_COMPARED) {
        if indent > brace.indent {
            break;
        }
        brace.should_close_before.get_or_insert(token);
    }
}

/// Pairs what is not a brace, and gives the closing ones without partner.
fn pair_round_and_square(places: &[TokenPlace], partner: &mut [u32]) -> Vec<u32> {
    let mut stray = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (i, place) in places.iter().enumerate() {
        match place.kind {
            _ if place.is_item_start => open.clear(),
            TokenKind::LParen | TokenKind::LBracket => open.push(i),
            TokenKind::LBrace if partner[i] != NONE => open.push(i),
            TokenKind::RBrace if partner[i] != NONE => {
                let start = partner[i] as usize;
                while open.last().is_some_and(|&top| top >= start) {
                    open.pop();
                }
            }
            TokenKind::RParen | TokenKind::RBracket => {
                let is_partner = |top: usize| {
                    matches!(
                        (places[top].kind, place.kind),
                        (TokenKind::LParen, TokenKind::RParen)
                            | (TokenKind::LBracket, TokenKind::RBracket)
                    )
                };
                // One level down as well: `f(a[1, b)` lacks the `]` only.
                let n = open.len();
                let level = (n.saturating_sub(2)..n)
                    .rev()
                    .take_while(|&level| places[open[level]].kind != TokenKind::LBrace)
                    .find(|&level| is_partner(open[level]));
                let Some(level) = level else {
                    stray.push(i as u32);
                    continue;
                };
                let start = open[level];
                open.truncate(level);
                partner[start] = i as u32;
                partner[i] = start as u32;
            }
            _ => {}
        }
    }
    stray
}

fn first_from(sorted: &[u32], from: u32) -> Option<u32> {
    sorted
        .get(sorted.partition_point(|&token| token < from))
        .copied()
}
