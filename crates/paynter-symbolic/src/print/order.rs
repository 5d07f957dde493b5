//! The order in which terms and factors are printed.
//!
//! In:  trees, names, and which symbols are states.
//! Out: sorted lists: numbers, parameters, states, functions, sums; terms by degree in the
//!      states, then by name.
//!
//! **Invariant:** the order depends on names only, never on when something was made.

use crate::expr::{Function1, SymbolId};
use crate::print::text::to_text;
use crate::print::tree::{Term, Tree};
use std::cmp::Ordering;

/// What printing has to know of symbols.
#[derive(Clone, Copy)]
pub struct Style<'a> {
    /// The name of a symbol.
    pub name: &'a dyn Fn(SymbolId) -> String,
    /// Whether it is a state (or any other quantity that varies).
    pub is_state: &'a dyn Fn(SymbolId) -> bool,
}

impl Style<'_> {
    /// Sorts the factors of a product.
    pub fn sort_factors(&self, factors: &mut [Tree]) {
        factors.sort_by_cached_key(|f| FactorKey {
            class: self.class(f),
            text: NaturalText(self.factor_text(f)),
            function: function_rank(f),
        });
    }

    /// Sorts the terms of a sum; a positive term comes first if there is one.
    pub fn sort_terms(&self, terms: &mut [Term]) {
        terms.sort_by_cached_key(|t| {
            (
                self.degree(&t.tree),
                NaturalText(to_text(&t.tree, self.name)),
            )
        });
        if let Some(positive) = terms.iter().position(|t| !t.negative) {
            terms[..=positive].rotate_right(1);
        }
    }

    fn class(&self, factor: &Tree) -> u8 {
        match factor {
            Tree::Number(_) => 0,
            Tree::Symbol(s) => 1 + u8::from((self.is_state)(*s)),
            Tree::Power(base, _) => self.class(base),
            Tree::Call1(..) | Tree::Call(..) => 3,
            Tree::Quotient(..) | Tree::Product(_) => 4,
            Tree::Sum(_) => 5,
            _ => 6,
        }
    }

    /// Functions of one argument are together: sin x, cos x, sin y.
    fn factor_text(&self, factor: &Tree) -> String {
        match factor {
            Tree::Power(base, _) => self.factor_text(base),
            Tree::Call1(_, a) => to_text(a, self.name),
            _ => to_text(factor, self.name),
        }
    }

    /// The degree of a term in the states.
    fn degree(&self, tree: &Tree) -> i32 {
        match tree {
            Tree::Symbol(s) => i32::from((self.is_state)(*s)),
            Tree::Product(factors) => factors.iter().map(|f| self.degree(f)).sum(),
            Tree::Quotient(top, _) => self.degree(top),
            Tree::Power(base, exponent) => match **exponent {
                Tree::Number(n) if n.abs() <= 64.0 => self.degree(base) * n as i32,
                _ => 0,
            },
            Tree::Sum(terms) => terms
                .iter()
                .map(|t| self.degree(&t.tree))
                .max()
                .unwrap_or(0),
            _ => 0,
        }
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FactorKey {
    class: u8,
    text: NaturalText,
    function: u8,
}

fn function_rank(factor: &Tree) -> u8 {
    match factor {
        Tree::Power(base, _) => function_rank(base),
        Tree::Call1(f, _) => match f {
            Function1::Sin => 0,
            Function1::Cos => 1,
            _ => 2,
        },
        _ => 3,
    }
}

/// Text in which numbers count by value: `x2` before `x10`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaturalText(pub String);

impl PartialOrd for NaturalText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NaturalText {
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut a, mut b) = (self.0.as_str(), other.0.as_str());
        loop {
            let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) else {
                return a.len().cmp(&b.len()).then_with(|| self.0.cmp(&other.0));
            };
            if x.is_ascii_digit() && y.is_ascii_digit() {
                let (m, rest_a) = split_digits(a);
                let (n, rest_b) = split_digits(b);
                // Without leading zeros the longer number is the larger one.
                let (m, n) = (m.trim_start_matches('0'), n.trim_start_matches('0'));
                match m.len().cmp(&n.len()).then_with(|| m.cmp(n)) {
                    Ordering::Equal => (a, b) = (rest_a, rest_b),
                    different => return different,
                }
            } else if x == y {
                (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
            } else {
                return x.cmp(&y);
            }
        }
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_by_value() {
        let mut names = ["x10", "x2", "x", "x02", "y1", "x2b"].map(|s| NaturalText(s.to_owned()));
        names.sort();
        assert_eq!(names.map(|n| n.0), ["x", "x02", "x2", "x2b", "x10", "y1"]);
    }
}
