//! Matrices as texts: the entries of an expression, each an expression.
//!
//! In:  an expression of the language.
//! Out: rows of entries; none where they cannot be written down.

use crate::expression::{is_number, negative, product, sum};
use paynter::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use std::collections::BTreeMap;

/// Rows of entries. A vector is a column.
pub type Entries = Vec<Vec<String>>;

/// Shapes of names, and the text that expressions point into.
pub struct Shapes<'a> {
    /// (rows, columns) by name; a vector has one column.
    pub of: BTreeMap<String, (usize, usize)>,
    /// The text.
    pub text: &'a str,
}

impl Shapes<'_> {
    fn slice(&self, e: &Expr) -> String {
        let text = self.text.get(e.span.start as usize..e.span.end as usize);
        let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
        words.join(" ")
    }

    /// The entries of a matrix or vector; none for a scalar and for what cannot be written down.
    pub fn entries(&self, e: &Expr) -> Option<Entries> {
        match &e.kind {
            ExprKind::Matrix { rows, unit } => self.literal(rows, unit.as_ref()),
            ExprKind::Name(name) => self.named(&name.text),
            ExprKind::Transpose(of) => Some(transposed(&self.entries(of)?)),
            ExprKind::Unary {
                op: UnaryOp::Neg,
                of,
            } => Some(mapped(&self.entries(of)?, &|x| negative(x))),
            ExprKind::Binary { op, left, right } => self.combined(*op, left, right),
            ExprKind::Call { function, args } => {
                let name = function.segments.last().map_or("", |s| &s.text);
                match args.as_slice() {
                    [only] => self.called(name, &only.value),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn literal(
        &self,
        rows: &[Vec<Expr>],
        unit: Option<&paynter::syntax::ast::Unit>,
    ) -> Option<Entries> {
        let unit = match unit {
            Some(u) => {
                let text = self.text.get(u.span.start as usize..u.span.end as usize)?;
                format!(" {text}")
            }
            None => String::new(),
        };
        let entry = |e: &Expr| -> Option<String> {
            let text = self.slice(e);
            match (&e.kind, unit.is_empty()) {
                (_, true) => Some(text),
                (ExprKind::Number { unit: None, .. }, _) => Some(format!("{text}{unit}")),
                (ExprKind::Unary { of, .. }, _) if matches!(of.kind, ExprKind::Number { .. }) => {
                    Some(format!("{text}{unit}"))
                }
                _ => None,
            }
        };
        let rows: Option<Entries> = rows
            .iter()
            .map(|row| row.iter().map(entry).collect())
            .collect();
        let rows = rows?;
        // One row is a vector, which is a column here.
        Some(match rows.len() {
            1 => transposed(&rows),
            _ => rows,
        })
    }

    fn named(&self, name: &str) -> Option<Entries> {
        let &(m, n) = self.of.get(name)?;
        let entry = |i: usize, j: usize| match n {
            1 => format!("{name}[{i}]"),
            _ => format!("{name}[{i},{j}]"),
        };
        Some(
            (1..=m)
                .map(|i| (1..=n).map(|j| entry(i, j)).collect())
                .collect(),
        )
    }

    fn combined(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<Entries> {
        let (a, b) = (self.entries(left), self.entries(right));
        match (op, a, b) {
            (BinaryOp::Mul, Some(a), Some(b)) => matrix_product(&a, &b),
            (BinaryOp::Mul, None, Some(b)) => {
                let factor = self.slice(left);
                Some(mapped(&b, &|x| product(&factor, x)))
            }
            (BinaryOp::Mul, Some(a), None) => {
                let factor = self.slice(right);
                Some(mapped(&a, &|x| product(x, &factor)))
            }
            (BinaryOp::Add, Some(a), Some(b)) => matrix_sum(&a, &b),
            (BinaryOp::Sub, Some(a), Some(b)) => matrix_sum(&a, &mapped(&b, &|x| negative(x))),
            _ => None,
        }
    }

    fn called(&self, name: &str, argument: &Expr) -> Option<Entries> {
        let text = self.slice(argument);
        let (c, s, m) = (
            format!("cos({text})"),
            format!("sin({text})"),
            format!("-sin({text})"),
        );
        let rows = |r: [[&str; 3]; 3]| -> Entries {
            r.iter()
                .map(|row| row.iter().map(|x| (*x).to_owned()).collect())
                .collect()
        };
        match name {
            "rot_x" => Some(rows([["1", "0", "0"], ["0", &c, &s], ["0", &m, &c]])),
            "rot_y" => Some(rows([[&c, "0", &m], ["0", "1", "0"], [&s, "0", &c]])),
            "rot_z" => Some(rows([[&c, &s, "0"], [&m, &c, "0"], ["0", "0", "1"]])),
            "eye" => {
                let n: usize = text.parse().ok()?;
                let entry = |i: usize, j: usize| if i == j { "1" } else { "0" }.to_owned();
                (n <= 12).then(|| {
                    (0..n)
                        .map(|i| (0..n).map(|j| entry(i, j)).collect())
                        .collect()
                })
            }
            "diag" => {
                let v = self.entries(argument)?;
                let entry = |i: usize, j: usize| match i == j {
                    true => v[i][0].clone(),
                    false => "0".to_owned(),
                };
                let n = v.len();
                Some(
                    (0..n)
                        .map(|i| (0..n).map(|j| entry(i, j)).collect())
                        .collect(),
                )
            }
            "skew" => {
                let v = self.entries(argument)?;
                let [x, y, z] = [v.first()?, v.get(1)?, v.get(2)?].map(|r| r[0].clone());
                let (mx, my, mz) = (negative(&x), negative(&y), negative(&z));
                Some(rows([["0", &mz, &y], [&z, "0", &mx], [&my, &x, "0"]]))
            }
            _ => None,
        }
    }

    /// Tells whether a matrix is a rotation by the way it is written: its inverse is its transpose.
    pub fn is_rotation(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Call { function, .. } => {
                let name = function.segments.last().map_or("", |s| &s.text);
                matches!(name, "rot_x" | "rot_y" | "rot_z" | "eye")
            }
            ExprKind::Transpose(of) => self.is_rotation(of),
            ExprKind::Binary {
                op: BinaryOp::Mul,
                left,
                right,
            } => self.is_rotation(left) && self.is_rotation(right),
            _ => false,
        }
    }
}

fn mapped(of: &Entries, f: &dyn Fn(&str) -> String) -> Entries {
    let rows = of.iter();
    rows.map(|row| row.iter().map(|x| f(x)).collect()).collect()
}

fn transposed(of: &Entries) -> Entries {
    let n = of.first().map_or(0, Vec::len);
    (0..n)
        .map(|j| of.iter().map(|row| row[j].clone()).collect())
        .collect()
}

fn matrix_product(a: &Entries, b: &Entries) -> Option<Entries> {
    if a.first()?.len() != b.len() {
        return None;
    }
    let n = b.first()?.len();
    let entry = |i: usize, j: usize| {
        let terms = (0..b.len()).map(|k| product(&a[i][k], &b[k][j]));
        terms
            .filter(|t| !is_number(t, 0.0))
            .fold("0".to_owned(), |s, t| sum(&s, &t))
    };
    Some(
        (0..a.len())
            .map(|i| (0..n).map(|j| entry(i, j)).collect())
            .collect(),
    )
}

fn matrix_sum(a: &Entries, b: &Entries) -> Option<Entries> {
    if a.len() != b.len() || a.first()?.len() != b.first()?.len() {
        return None;
    }
    let rows = a.iter().zip(b);
    Some(
        rows.map(|(x, y)| x.iter().zip(y).map(|(p, q)| sum(p, q)).collect())
            .collect(),
    )
}
