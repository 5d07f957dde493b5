//! Prints many lines of one shape as one line with an index.
//!
//! In:  lines in order.
//! Out: fewer lines: runs whose names differ only by an index that grows by one become a loop.
//!
//! **Invariant:** writing out the loops gives the lines back. Only the first line of a run is
//! rearranged, so 10⁵ lines cost little more than reading them.

use super::Line;
use crate::classes::{Hole, classify};
use crate::expr::{ExprId, Pool, SymbolId};
use crate::normal::normal_form;
use crate::print::Style;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Two lines are read faster than a loop.
const SHORTEST_RUN: usize = 3;

/// For which indices a line holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The letter of the index.
    pub variable: String,
    /// First index.
    pub from: i64,
    /// Last index.
    pub to: i64,
    /// Names with the letter in them, for the symbols of the printed line.
    pub names: FxHashMap<SymbolId, String>,
}

/// Rearranges lines, runs of equal shape as loops.
pub(super) fn lines(
    pool: &mut Pool,
    style: &Style<'_>,
    formulas: &[(SymbolId, ExprId)],
) -> Vec<Line> {
    let values: Vec<ExprId> = formulas.iter().map(|f| f.1).collect();
    let classes = classify(pool, &values, &|s| u8::from((style.is_state)(s)));
    let mut names = IndexedNames::default();
    let mut runs: Vec<Run> = Vec::new();
    for class in &classes {
        // Several rows of cells may take turns: one open run for each kind of left side.
        let mut open: BTreeMap<u32, Run> = BTreeMap::new();
        for row in &class.rows {
            let left = formulas[row.expression].0;
            let member = names.member(left, &row.holes, style);
            let pattern = names.known[&left].pattern;
            let continued = match open.get_mut(&pattern) {
                Some(run) => run.takes(row.expression, &member),
                None => false,
            };
            if !continued {
                runs.extend(open.insert(pattern, Run::new(row.expression, member)));
            }
        }
        runs.extend(open.into_values());
    }

    let mut lines: Vec<(usize, Line)> = Vec::new();
    for run in runs {
        // Of a loop the first line is enough.
        let is_loop = run.n_rows >= SHORTEST_RUN;
        let printed = if is_loop { 1 } else { run.n_rows };
        let at = run.expressions.clone();
        let mut range = is_loop.then(|| run.into_loop(&names));
        for &k in &at[..printed] {
            let (symbol, value) = formulas[k];
            let right = normal_form(pool, value, style).for_reading(style.name);
            lines.push((
                k,
                Line {
                    symbol,
                    right,
                    range: range.take(),
                },
            ));
        }
    }

    lines.sort_by_key(|(at, _)| *at);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// A name with its indices apart: `cap[3].q` is `cap[].q` and 3.
#[derive(Clone, Debug, PartialEq)]
struct Name {
    pattern: u32,
    indices: Vec<i64>,
}

/// What a row reads, the left side first.
#[derive(Clone, Debug, PartialEq)]
enum Read {
    Symbol(SymbolId, Name),
    Number(f64),
}

type Member = Vec<Read>;

#[derive(Default)]
struct IndexedNames {
    patterns: FxHashMap<String, u32>,
    texts: Vec<String>,
    known: FxHashMap<SymbolId, Name>,
}

impl IndexedNames {
    fn member(&mut self, left: SymbolId, holes: &[Hole], style: &Style<'_>) -> Member {
        let mut member = vec![Read::Symbol(left, self.name(left, style))];
        for hole in holes {
            member.push(match *hole {
                Hole::Symbol(s) => Read::Symbol(s, self.name(s, style)),
                Hole::Number(x) => Read::Number(x),
            });
        }
        member
    }

    fn name(&mut self, s: SymbolId, style: &Style<'_>) -> Name {
        if let Some(name) = self.known.get(&s) {
            return name.clone();
        }
        let (pattern, indices) = split_indices(&(style.name)(s));
        let texts = &mut self.texts;
        let id = *self.patterns.entry(pattern).or_insert_with_key(|pattern| {
            texts.push(pattern.clone());
            (texts.len() - 1) as u32
        });
        let name = Name {
            pattern: id,
            indices,
        };
        self.known.insert(s, name.clone());
        name
    }
}

/// Takes whole numbers in brackets out of a name.
fn split_indices(name: &str) -> (String, Vec<i64>) {
    let mut pattern = String::new();
    let mut indices = Vec::new();
    let mut rest = name;
    while let Some(open) = rest.find('[') {
        let (before, after) = rest.split_at(open + 1);
        pattern.push_str(before);
        rest = after;
        if let Some(close) = rest.find(']')
            && let Ok(index) = rest[..close].parse()
        {
            indices.push(index);
            rest = &rest[close..];
        } else {
            // Not a number: keep what is inside, and do not take the bracket for an empty index.
            pattern.push('\u{0}');
        }
    }
    pattern.push_str(rest);
    (pattern, indices)
}

struct Run {
    expressions: Vec<usize>,
    n_rows: usize,
    first: Member,
    last: Member,
    /// For each read and each of its indices: whether it grows. Known from the second row on.
    grows: Option<Vec<Vec<bool>>>,
}

impl Run {
    fn new(expression: usize, member: Member) -> Self {
        Run {
            expressions: vec![expression],
            n_rows: 1,
            first: member.clone(),
            last: member,
            grows: None,
        }
    }

    /// Takes the next row if it continues the run.
    fn takes(&mut self, expression: usize, member: &Member) -> bool {
        let Some(grows) = growth(&self.last, member) else {
            return false;
        };
        if self.grows.as_ref().is_some_and(|known| *known != grows) {
            return false;
        }
        self.grows = Some(grows);
        self.last = member.clone();
        self.n_rows += 1;
        // Runs that stay short are printed line by line.
        if self.expressions.len() < SHORTEST_RUN {
            self.expressions.push(expression);
        }
        true
    }

    fn into_loop(self, names: &IndexedNames) -> Loop {
        let grows = self.grows.unwrap_or_default();
        let index_of = |member: &Member| match &member[0] {
            Read::Symbol(_, name) => {
                let at = grows[0].iter().position(|&g| g).unwrap_or(0);
                name.indices.get(at).copied().unwrap_or(0)
            }
            Read::Number(_) => 0,
        };
        let (from, to) = (index_of(&self.first), index_of(&self.last));
        let taken: FxHashSet<&str> = self
            .first
            .iter()
            .filter_map(|read| match read {
                Read::Symbol(_, name) => Some(names.texts[name.pattern as usize].as_str()),
                Read::Number(_) => None,
            })
            .collect();

        let variable = ["i", "j", "k", "m"]
            .into_iter()
            .find(|v| !taken.contains(v))
            .unwrap_or("index");
        let mut printed = FxHashMap::default();
        for (read, grows) in self.first.iter().zip(&grows) {
            if let Read::Symbol(s, name) = read {
                let pattern = &names.texts[name.pattern as usize];
                printed.insert(
                    *s,
                    with_variable(pattern, &name.indices, grows, variable, from),
                );
            }
        }

        Loop {
            variable: variable.to_owned(),
            from,
            to,
            names: printed,
        }
    }
}

/// Which indices grow by one from one row to the next; `None` if anything else changes.
fn growth(before: &Member, after: &Member) -> Option<Vec<Vec<bool>>> {
    if before.len() != after.len() {
        return None;
    }
    let mut all = Vec::with_capacity(before.len());
    for (a, b) in before.iter().zip(after) {
        all.push(match (a, b) {
            (Read::Number(x), Read::Number(y)) if x.to_bits() == y.to_bits() => Vec::new(),
            (Read::Symbol(_, a), Read::Symbol(_, b)) if a.pattern == b.pattern => {
                let steps = a
                    .indices
                    .iter()
                    .zip(&b.indices)
                    .map(|(a, b)| b.checked_sub(*a));
                steps
                    .map(|step| match step {
                        Some(0) => Some(false),
                        Some(1) => Some(true),
                        _ => None,
                    })
                    .collect::<Option<Vec<bool>>>()?
            }
            _ => return None,
        });
    }
    // The left side must name the index.
    all[0].contains(&true).then_some(all)
}

fn with_variable(
    pattern: &str,
    indices: &[i64],
    grows: &[bool],
    variable: &str,
    from: i64,
) -> String {
    let mut out = String::new();
    let mut k = 0;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{0}' {
            continue;
        }
        out.push(c);
        if c == '[' && chars.peek() == Some(&']') && k < indices.len() {
            let offset = indices[k] - from;
            out.push_str(&match (grows.get(k), offset) {
                (Some(true), 0) => variable.to_owned(),
                (Some(true), 1..) => format!("{variable}+{offset}"),
                (Some(true), _) => format!("{variable}{offset}"),
                _ => indices[k].to_string(),
            });
            k += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_taken_out_and_put_back() {
        let (pattern, indices) = split_indices("row[2].cap[7].q'");
        assert_eq!(
            (pattern.as_str(), &indices[..]),
            ("row[].cap[].q'", &[2, 7][..])
        );
        assert_eq!(
            with_variable(&pattern, &indices, &[false, true], "i", 8),
            "row[2].cap[i-1].q'"
        );
        let (pattern, indices) = split_indices("a[x].b[1]");
        assert_eq!(indices, [1]);
        assert_eq!(
            with_variable(&pattern, &indices, &[false], "i", 0),
            "a[x].b[1]"
        );
    }
}
