//! Elimination of sparse rows in which terms may cancel exactly.
//!
//! In:  rows of entries, each with its values at some points.
//! Out: for every row that the rows before it make zero, the weights of that combination.
//!
//! **Invariant:** a row is combined with rows before it only, and its own weight is 1. An entry is zero
//! if at all points with the present parameters it is what rounding leaves of its terms.

use super::combine::{N_POINTS, N_PRESENT};
use crate::expr::{ExprId, Pool};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// A sum this small a part of its largest term is what rounding leaves of zero: some hundred operations of
/// relative error 1e-16 each, with room; nobody writes coefficients that agree to eleven digits and differ.
const ROUNDING: f64 = 1e-11;

/// A pivot below this part of the terms it came from has lost digits; another one is taken if there is one.
const GOOD_PART: f64 = 1e-3;

/// An entry of a matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub value: ExprId,
    /// Its value at each point.
    at: [f64; N_POINTS],
    /// The largest term that went into it at each point.
    size: [f64; N_POINTS],
}

impl Entry {
    pub fn new(value: ExprId, at: [f64; N_POINTS]) -> Entry {
        Entry {
            value,
            at,
            size: at.map(f64::abs),
        }
    }

    fn is_zero_in(&self, mut points: std::ops::Range<usize>) -> bool {
        points.all(|k| self.at[k].abs() <= ROUNDING * self.size[k])
    }

    /// Tells whether it is zero with the present values of parameters.
    pub fn is_zero(&self) -> bool {
        self.is_zero_in(0..N_PRESENT)
    }

    /// Tells whether it is zero whatever the values of parameters.
    fn is_always_zero(&self) -> bool {
        self.is_zero_in(0..N_POINTS)
    }

    /// The part of its terms that is left.
    fn part(&self) -> f64 {
        (0..N_PRESENT).fold(1.0, |m: f64, k| m.min(self.at[k].abs() / self.size[k]))
    }

    pub fn times(&self, other: &Entry, pool: &mut Pool) -> Entry {
        self.combined(other, pool.mul(self.value, other.value), |a, b| a * b)
    }

    pub fn plus(&self, other: &Entry, pool: &mut Pool) -> Entry {
        self.summed(other, pool.add(self.value, other.value), 1.0)
    }

    fn combined(&self, other: &Entry, value: ExprId, f: impl Fn(f64, f64) -> f64) -> Entry {
        let mut entry = *self;
        entry.value = value;
        for k in 0..N_POINTS {
            entry.at[k] = f(self.at[k], other.at[k]);
            // Relative errors add up; the larger one rules.
            let loss = (self.size[k] / self.at[k].abs()).max(other.size[k] / other.at[k].abs());
            entry.size[k] = entry.at[k].abs() * loss.max(1.0);
        }
        entry
    }

    fn summed(&self, other: &Entry, value: ExprId, sign: f64) -> Entry {
        let mut entry = *self;
        entry.value = value;
        for k in 0..N_POINTS {
            entry.at[k] = self.at[k] + sign * other.at[k];
            entry.size[k] = self.size[k].max(other.size[k]);
        }
        entry
    }
}

/// Rows of (column, entry), by column.
pub(super) type Rows = Vec<Vec<(u32, Entry)>>;

/// How expressions are made while numbers decide.
pub(super) trait Arithmetic {
    fn divide(&mut self, a: ExprId, b: ExprId) -> ExprId;
    fn multiply(&mut self, a: ExprId, b: ExprId) -> ExprId;
    fn subtract(&mut self, a: ExprId, b: ExprId) -> ExprId;
    fn negate(&mut self, a: ExprId) -> ExprId;
    fn one(&mut self) -> ExprId;
    /// How gladly it is divided by: the smaller the better.
    fn rank(&self, e: ExprId) -> u8;
    /// Is told of a sum that is zero with the present parameters only.
    fn vanishes(&mut self, e: ExprId);
}

/// Makes no expressions: to find out whether anything cancels.
pub(super) struct Number;

impl Arithmetic for Number {
    fn divide(&mut self, a: ExprId, _: ExprId) -> ExprId {
        a
    }
    fn multiply(&mut self, a: ExprId, _: ExprId) -> ExprId {
        a
    }
    fn subtract(&mut self, a: ExprId, _: ExprId) -> ExprId {
        a
    }
    fn negate(&mut self, a: ExprId) -> ExprId {
        a
    }
    fn one(&mut self) -> ExprId {
        ExprId(0)
    }
    fn rank(&self, _: ExprId) -> u8 {
        0
    }
    fn vanishes(&mut self, _: ExprId) {}
}

/// Makes the expressions.
pub(super) struct Symbolic<'a> {
    pub pool: &'a mut Pool,
    /// Expressions that keep their value during a run.
    pub constant: FxHashSet<ExprId>,
    /// Sums that are zero with the present parameters only.
    pub vanished: Vec<ExprId>,
}

impl Symbolic<'_> {
    fn note(&mut self, from: &[ExprId], made: ExprId) -> ExprId {
        if from.iter().all(|e| self.constant.contains(e)) {
            self.constant.insert(made);
        }
        made
    }
}

impl Arithmetic for Symbolic<'_> {
    fn divide(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let e = self.pool.div(a, b);
        self.note(&[a, b], e)
    }
    fn multiply(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let e = self.pool.mul(a, b);
        self.note(&[a, b], e)
    }
    fn subtract(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let e = self.pool.sub(a, b);
        self.note(&[a, b], e)
    }
    fn negate(&mut self, a: ExprId) -> ExprId {
        let e = self.pool.neg(a);
        self.note(&[a], e)
    }
    fn one(&mut self) -> ExprId {
        let one = self.pool.number(1.0);
        self.note(&[], one)
    }
    fn rank(&self, e: ExprId) -> u8 {
        match self.pool.as_number(e) {
            Some(x) if x.abs() == 1.0 => 0,
            Some(_) => 1,
            None if self.constant.contains(&e) => 2,
            None => 3,
        }
    }
    fn vanishes(&mut self, e: ExprId) {
        self.vanished.push(e);
    }
}

/// A row under work.
#[derive(Clone, Default)]
struct Reduced {
    entries: BTreeMap<u32, Entry>,
    /// By row.
    weights: BTreeMap<u32, Entry>,
}

/// Eliminates row by row; gives the weights of every row that becomes zero.
pub(super) fn reduce_rows(rows: &Rows, arithmetic: &mut dyn Arithmetic) -> Vec<Vec<(u32, Entry)>> {
    let mut pivots: Vec<(u32, Reduced)> = Vec::new();
    let mut place: BTreeMap<u32, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let own = Entry::new(arithmetic.one(), [1.0; N_POINTS]);
        let mut row = Reduced {
            entries: row.iter().copied().collect(),
            weights: BTreeMap::from([(i as u32, own)]),
        };
        // A pivot row was cleared of the pivots before it only, so the earliest one goes first.
        while let Some(next) = row.entries.keys().filter_map(|j| place.get(j)).min() {
            let (column, pivot) = &pivots[*next];
            eliminate(&mut row, *column, pivot, arithmetic);
        }
        let key = |(&j, e): (&u32, &Entry)| (e.part() < GOOD_PART, arithmetic.rank(e.value), j);
        match row.entries.iter().map(key).min() {
            Some((_, _, column)) => {
                place.insert(column, pivots.len());
                pivots.push((column, row));
            }
            None => found.push(row.weights.into_iter().collect()),
        }
    }
    found
}

/// Subtracts the multiple of a pivot row that clears its column.
fn eliminate(row: &mut Reduced, column: u32, pivot: &Reduced, arithmetic: &mut dyn Arithmetic) {
    let entry = row
        .entries
        .remove(&column)
        .expect("the column was found in the row");
    let divisor = &pivot.entries[&column];
    let factor = arithmetic.divide(entry.value, divisor.value);
    let factor = entry.combined(divisor, factor, |a, b| a / b);
    let others = pivot.entries.iter().filter(|(j, _)| **j != column);
    subtract(&mut row.entries, others, &factor, arithmetic);
    subtract(&mut row.weights, pivot.weights.iter(), &factor, arithmetic);
}

fn subtract<'a>(
    row: &mut BTreeMap<u32, Entry>,
    pivot: impl Iterator<Item = (&'a u32, &'a Entry)>,
    factor: &Entry,
    arithmetic: &mut dyn Arithmetic,
) {
    for (&j, b) in pivot {
        let product = arithmetic.multiply(factor.value, b.value);
        let product = factor.combined(b, product, |a, b| a * b);
        let new = match row.get(&j) {
            Some(a) => {
                let difference = arithmetic.subtract(a.value, product.value);
                a.summed(&product, difference, -1.0)
            }
            None => {
                let negative = arithmetic.negate(product.value);
                product.combined(&product, negative, |a, _| -a)
            }
        };
        if !new.is_zero() {
            row.insert(j, new);
            continue;
        }
        if !new.is_always_zero() {
            arithmetic.vanishes(new.value);
        }
        row.remove(&j);
    }
}
