//! Breaks long equations where a reader takes a breath: before a plus or minus.
//!
//! In:  one line of text, or the right side of an equation.
//! Out: the same, broken.
//!
//! **Invariant:** joining the lines gives back what was broken; a continued line of text begins
//! with `+ ` or `- `, which no other line does.

use crate::expr::SymbolId;
use crate::print::{Term, Tree, to_latex, to_text};

/// Wider lines are broken: what a terminal and a page show without turning.
const WIDTH: usize = 100;

/// A break before this is not worth a line.
const SHORTEST: usize = 16;

/// Breaks a line of text; continued lines are indented further.
pub(super) fn text(line: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    let mut room = WIDTH;
    while rest.chars().count() > room {
        let Some(at) = place(rest, room) else {
            break;
        };
        out.push_str(rest[..at].trim_end());
        out.push('\n');
        out.push_str(indent);
        out.push_str("        ");
        rest = &rest[at + 1..];
        room = WIDTH - 8;
    }
    out.push_str(rest);
    out
}

/// Brackets around less than this are not broken open.
const SHORT_BRACKETS: usize = 40;

/// The blank before the sign with the fewest brackets around it, the last of them that fits;
/// the first one at all if none fits.
fn place(line: &str, room: usize) -> Option<usize> {
    struct Sign {
        depth: usize,
        at: usize,
        column: usize,
        bracket: Option<usize>,
    }

    let mut signs: Vec<Sign> = Vec::new();
    // Columns at which brackets open, with those at which they close.
    let mut brackets: Vec<(usize, usize)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (column, (at, c)) in line.char_indices().enumerate() {
        match c {
            '(' | '[' => {
                open.push(brackets.len());
                brackets.push((column, usize::MAX));
            }
            ')' | ']' => {
                while open.pop_if(|k| *k == CHOICE).is_some() {}
                if let Some(k) = open.pop() {
                    brackets[k].1 = column;
                }
            }
            // A choice ends with the bracket around it, and is not broken.
            'i' if is_choice(line, at) => open.push(CHOICE),
            ' ' if line[at..].starts_with(" + ") || line[at..].starts_with(" - ") => {
                let (depth, bracket) = (open.len(), open.last().copied());
                signs.push(Sign {
                    depth,
                    at,
                    column,
                    bracket,
                });
            }
            _ => {}
        }
    }

    let is_long =
        |k: usize| k != CHOICE && brackets[k].1.saturating_sub(brackets[k].0) > SHORT_BRACKETS;
    signs.retain(|s| s.column >= SHORTEST && s.bracket.is_none_or(is_long));
    let fitting = signs.iter().filter(|s| s.column <= room);
    let best = fitting.min_by_key(|s| (s.depth, std::cmp::Reverse(s.column)));
    best.or_else(|| signs.first()).map(|s| s.at)
}

/// Stands for `if` among the brackets.
const CHOICE: usize = usize::MAX;

fn is_choice(line: &str, at: usize) -> bool {
    let before = line[..at].chars().next_back();
    line[at..].starts_with("if ") && before.is_none_or(|c| c == ' ' || c == '(')
}

/// Writes the right side of an equation as LaTeX for `align*`, a long sum over several lines.
pub(super) fn latex(tree: &Tree, name: &dyn Fn(SymbolId) -> String) -> String {
    let Tree::Sum(terms) = tree else {
        return to_latex(tree, name);
    };
    if to_text(tree, name).chars().count() <= WIDTH {
        return to_latex(tree, name);
    }
    let mut lines: Vec<Vec<Term>> = vec![Vec::new()];
    let mut width = 0;
    for term in terms {
        let own = to_text(&term.tree, name).chars().count() + 3;
        if width > 0 && width + own > WIDTH {
            lines.push(Vec::new());
            width = 0;
        }
        width += own;
        if let Some(line) = lines.last_mut() {
            line.push(term.clone());
        }
    }

    let mut out = String::new();
    for (k, line) in lines.into_iter().enumerate() {
        if k > 0 {
            out.push_str(" \\\\\n&\\quad ");
            if line.first().is_some_and(|t| !t.negative) {
                out.push_str("+ ");
            }
        }
        out.push_str(&to_latex(&Tree::Sum(line), name));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_broken_before_a_sign_and_can_be_joined() {
        let terms: Vec<String> = (0..40).map(|i| format!("a{i}*(x{i} - y{i})")).collect();
        let line = format!("z' = {}", terms.join(" + "));
        let broken = text(&line, "    ");
        assert!(broken.lines().all(|l| l.chars().count() <= WIDTH + 4));
        assert!(
            broken
                .lines()
                .skip(1)
                .all(|l| l.starts_with("            + a"))
        );
        let joined: Vec<&str> = broken.lines().map(str::trim_start).collect();
        assert_eq!(joined.join(" "), line);
    }

    #[test]
    fn what_has_no_sign_is_left_whole() {
        let line = format!("z' = {}", vec!["abcdefgh"; 40].join("*"));
        assert_eq!(text(&line, ""), line);
    }

    #[test]
    fn a_choice_is_not_broken() {
        let choice = "if somewhere.x > gap/2 then somewhere.x - gap/2 else gap/2 + somewhere.x";
        let line = format!("some.p' = stiffness*damping*({choice}) + force");
        let broken = text(&line, "");
        assert!(broken.contains(choice), "{broken}");
        assert!(broken.ends_with("\n        + force"), "{broken}");
    }
}
