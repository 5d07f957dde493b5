//! Separates the states from the rest by exact elimination, and gives A, B, C, D.
//!
//! In:  [`Equations`].
//! Out: a [`GenericModel`].
//!
//! Unknowns are eliminated row by row, the sparsest first. Rows that are left without unknowns tie states
//! and inputs together (dependent storages); they are differentiated until every unknown is given, as Silverman's
//! structure algorithm does, and fix the dependent states by the others. Rates of inputs move into the states: x
//! is what is left of a state when the input it follows at once is taken away.
//!
//! **Invariant:** no number is rounded, so what is zero here is zero for all parameter values.

use super::assemble::{Equations, Row};
use super::field::Number;
use super::matrix::{Basis, Matrix};
use paynter::symbolic::SymbolId;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// ẋ = A x + B u, y = C x + D₀ u + D₁ u̇ + …, for almost all parameter values.
#[derive(Clone, Debug, Default)]
pub struct GenericModel {
    /// A
    pub a: Matrix,
    /// B
    pub b: Matrix,
    /// C
    pub c: Matrix,
    /// D₀, D₁, …; at least one.
    pub d: Vec<Matrix>,
    /// x
    pub states: Vec<SymbolId>,
    /// States that follow from the others.
    pub dependent: Vec<SymbolId>,
}

/// Why the equations have no state-space form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsolved {
    /// Unknowns are left open, or demanded twice, whatever the parameters are.
    Singular,
    /// Inputs would have to obey a relation.
    InputsTied,
    /// Rates of inputs beyond what is kept.
    TooManyRates,
}

/// Orders of rates of inputs that are kept: the structural index of a model is 3 at most, and its outputs may be rates.
const N_ORDERS: usize = 6;

/// Solves the equations for the rates of independent states and for the outputs.
///
/// # Errors
///
/// See [`Unsolved`].
pub fn solve(equations: &Equations) -> Result<GenericModel, Unsolved> {
    let echelon = eliminate(equations);
    let mut solution = Solution::new(equations, &echelon);
    solution.find_free(&echelon)?;
    solution.into_model(equations)
}

/// The rows after elimination.
struct Echelon {
    /// (unknown, row), in the order of elimination: a row holds its own unknown and such as come later.
    pivots: Vec<(usize, Row)>,
    /// Rows without unknowns.
    constraints: Vec<Row>,
    /// Unknowns that no row gives.
    free: Vec<usize>,
}

fn eliminate(equations: &Equations) -> Echelon {
    let n = equations.n_unknowns;
    let mut rows: Vec<Row> = equations.rows.clone();
    let mut holders: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
    let n_unknown = |row: &Row| row.iter().take_while(|e| e.0 < n).count();
    let mut queue = BinaryHeap::new();
    for (k, row) in rows.iter().enumerate() {
        row.iter().take_while(|e| e.0 < n).for_each(|e| {
            holders[e.0].insert(k);
        });
        queue.push(Reverse((n_unknown(row), k)));
    }
    let mut is_done = vec![false; rows.len()];
    let mut echelon = Echelon {
        pivots: Vec::new(),
        constraints: Vec::new(),
        free: Vec::new(),
    };
    let mut is_given = vec![false; n];
    while let Some(Reverse((count, k))) = queue.pop() {
        // A row that was changed since stands in the queue again.
        if is_done[k] || n_unknown(&rows[k]) != count {
            continue;
        }
        is_done[k] = true;
        let row = std::mem::take(&mut rows[k]);
        if count == 0 {
            if !row.is_empty() {
                echelon.constraints.push(row);
            }
            continue;
        }
        row[..count].iter().for_each(|e| {
            holders[e.0].remove(&k);
        });
        let rarest = row[..count].iter().min_by_key(|e| holders[e.0].len());
        let &(unknown, pivot) = rarest.expect("the row has unknowns");
        is_given[unknown] = true;
        let inverse = pivot.inverse().expect("entries are not zero");
        for other in std::mem::take(&mut holders[unknown]) {
            let entry = rows[other].iter().find(|e| e.0 == unknown);
            let factor = -(entry.expect("it holds the unknown").1 * inverse);
            let sum = combine(&rows[other], factor, &row);
            for e in rows[other].iter().take_while(|e| e.0 < n) {
                holders[e.0].remove(&other);
            }
            for e in sum.iter().take_while(|e| e.0 < n) {
                holders[e.0].insert(other);
            }
            rows[other] = sum;
            queue.push(Reverse((n_unknown(&rows[other]), other)));
        }
        echelon.pivots.push((unknown, row));
    }
    echelon.free = (0..n).filter(|&j| !is_given[j]).collect();
    echelon
}

/// a + factor · b, entries that cancel left out.
fn combine(a: &Row, factor: Number, b: &Row) -> Row {
    let mut sum = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let (left, right) = (a.get(i).map(|e| e.0), b.get(j).map(|e| e.0));
        let column = left.into_iter().chain(right).min().expect("one is left");
        let mut value = Number::ZERO;
        if left == Some(column) {
            value = value + a[i].1;
            i += 1;
        }
        if right == Some(column) {
            value = value + factor * b[j].1;
            j += 1;
        }
        if !value.is_zero() {
            sum.push((column, value));
        }
    }
    sum
}

/// Everything as vectors over free unknowns, states, and inputs with their rates.
struct Solution {
    n_unknowns: usize,
    n_free: usize,
    n_states: usize,
    n_inputs: usize,
    /// The rate of each state.
    rates: Vec<Vec<Number>>,
    /// The outputs.
    outputs: Vec<Vec<Number>>,
    /// Ties between states and inputs: independent, without free unknowns.
    ties: Vec<Vec<Number>>,
}

impl Solution {
    fn new(equations: &Equations, echelon: &Echelon) -> Self {
        let (n, n_states) = (equations.n_unknowns, equations.states.len());
        let mut solution = Solution {
            n_unknowns: n,
            n_free: echelon.free.len(),
            n_states,
            n_inputs: equations.n_inputs,
            rates: Vec::new(),
            outputs: Vec::new(),
            ties: Vec::new(),
        };
        let needed = needed(equations, echelon);
        let mut given: Vec<Option<Vec<Number>>> = vec![None; n];
        for (k, &unknown) in echelon.free.iter().enumerate() {
            given[unknown] = Some(solution.unit(k));
        }
        for (unknown, row) in echelon.pivots.iter().rev() {
            if !needed[*unknown] {
                continue;
            }
            let entry = row.iter().find(|e| e.0 == *unknown);
            let pivot = entry.expect("a row holds its unknown").1;
            let scale = -pivot.inverse().expect("entries are not zero");
            let others: Row = row.iter().copied().filter(|e| e.0 != *unknown).collect();
            let mut value = solution.expand(&others, &given);
            value.iter_mut().for_each(|x| *x = *x * scale);
            given[*unknown] = Some(value);
        }
        let of_row = |row: &Row| solution.expand(row, &given);
        let rates = equations
            .rates
            .iter()
            .map(|&c| of_row(&vec![(c, Number::ONE)]));
        let rates = rates.collect();
        let outputs = equations.outputs.iter().map(of_row).collect();
        (solution.rates, solution.outputs) = (rates, outputs);
        solution
    }

    fn width(&self) -> usize {
        self.n_free + self.n_states + self.n_inputs * N_ORDERS
    }

    fn unit(&self, place: usize) -> Vec<Number> {
        let mut vector = vec![Number::ZERO; self.width()];
        vector[place] = Number::ONE;
        vector
    }

    /// A row with its unknowns replaced; columns after the unknowns keep their order.
    fn expand(&self, row: &Row, given: &[Option<Vec<Number>>]) -> Vec<Number> {
        let mut sum = vec![Number::ZERO; self.width()];
        for &(column, value) in row {
            if column >= self.n_unknowns {
                let place = self.n_free + column - self.n_unknowns;
                sum[place] = sum[place] + value;
                continue;
            }
            let vector = given[column].as_ref().expect("later unknowns are known");
            for (s, v) in sum.iter_mut().zip(vector) {
                *s = *s + value * *v;
            }
        }
        sum
    }

    /// Finds the free unknowns from rates of ties.
    fn find_free(&mut self, echelon: &Echelon) -> Result<(), Unsolved> {
        let n_states_and_inputs = self.width() - self.n_free;
        let mut space = Basis::new(n_states_and_inputs);
        let constraints = echelon.constraints.iter();
        let mut open: Vec<Vec<Number>> = constraints.map(|row| self.known_row(row)).collect();
        // Rows for free unknowns, each with 1 in its own place and 0 in those of the others.
        let mut found: Vec<(usize, Vec<Number>)> = Vec::new();
        while let Some(tie) = open.pop() {
            if !space.add(tie[self.n_free..].to_vec()) {
                continue;
            }
            let mut rate = self.rate_of(&tie)?;
            substitute(&mut rate, &found);
            match rate[..self.n_free].iter().position(|x| !x.is_zero()) {
                Some(place) => {
                    let scale = rate[place].inverse().expect("not zero");
                    rate.iter_mut().for_each(|x| *x = *x * scale);
                    let row = [(place, rate)];
                    found
                        .iter_mut()
                        .for_each(|(_, other)| substitute(other, &row));
                    found.extend(row);
                }
                None => open.push(rate),
            }
            self.ties.push(tie);
        }
        if found.len() < self.n_free {
            return Err(Unsolved::Singular);
        }
        for vector in self.rates.iter_mut().chain(&mut self.outputs) {
            substitute(vector, &found);
        }
        Ok(())
    }

    /// A row of states and inputs only.
    fn known_row(&self, row: &Row) -> Vec<Number> {
        let mut sum = vec![Number::ZERO; self.width()];
        for &(column, value) in row {
            sum[self.n_free + column - self.n_unknowns] = value;
        }
        sum
    }

    /// d/dt of a tie: states by their rates, inputs by the next order.
    fn rate_of(&self, tie: &[Number]) -> Result<Vec<Number>, Unsolved> {
        let mut rate = vec![Number::ZERO; self.width()];
        let first_input = self.n_free + self.n_states;
        for k in 0..self.n_states {
            let factor = tie[self.n_free + k];
            if factor.is_zero() {
                continue;
            }
            for (r, v) in rate.iter_mut().zip(&self.rates[k]) {
                *r = *r + factor * *v;
            }
        }
        for place in first_input..self.width() {
            if tie[place].is_zero() {
                continue;
            }
            let next = place + self.n_inputs;
            let slot = rate.get_mut(next).ok_or(Unsolved::TooManyRates)?;
            *slot = *slot + tie[place];
        }
        Ok(rate)
    }

    fn into_model(self, equations: &Equations) -> Result<GenericModel, Unsolved> {
        let bound = self.bind(equations)?;
        let kept: Vec<usize> = (0..self.n_states)
            .filter(|k| !bound.iter().any(|b| b.0 == *k))
            .collect();
        let replaced = |vector: &[Number]| {
            let mut vector = vector[self.n_free..].to_vec();
            for (state, row) in &bound {
                let factor = vector[*state];
                if !factor.is_zero() {
                    for (v, r) in vector.iter_mut().zip(row) {
                        *v = *v - factor * *r;
                    }
                }
            }
            vector
        };
        let rates: Vec<Vec<Number>> = kept.iter().map(|&k| replaced(&self.rates[k])).collect();
        let outputs: Vec<Vec<Number>> = self.outputs.iter().map(|o| replaced(o)).collect();
        let (n_states, n_inputs) = (self.n_states, self.n_inputs);
        let by_states =
            |rows: &[Vec<Number>]| Matrix::from_fn(rows.len(), kept.len(), |i, j| rows[i][kept[j]]);
        let by_inputs = |rows: &[Vec<Number>], order: usize| {
            Matrix::from_fn(rows.len(), n_inputs, |i, j| {
                rows[i][n_states + order * n_inputs + j]
            })
        };
        let orders = 0..N_ORDERS;
        let b: Vec<Matrix> = orders.clone().map(|k| by_inputs(&rates, k)).collect();
        let d: Vec<Matrix> = orders.map(|k| by_inputs(&outputs, k)).collect();
        let (a, c) = (by_states(&rates), by_states(&outputs));
        let (b, d) = take_up_rates(&a, &b, &c, d);
        Ok(GenericModel {
            a,
            b,
            c,
            d,
            states: kept.iter().map(|&k| equations.states[k]).collect(),
            dependent: bound.iter().map(|b| equations.states[b.0]).collect(),
        })
    }

    /// Fixes one state by each tie, those first that causality does not want: (state, row with 1 in its place).
    fn bind(&self, equations: &Equations) -> Result<Vec<(usize, Vec<Number>)>, Unsolved> {
        let wish = |k: &usize| {
            let state = equations.states[*k];
            let at = equations.preferred.iter().position(|s| *s == state);
            Reverse(at.unwrap_or(usize::MAX))
        };
        let mut order: Vec<usize> = (0..self.n_states).collect();
        order.sort_by_key(wish);
        let mut bound: Vec<(usize, Vec<Number>)> = Vec::new();
        for tie in &self.ties {
            let mut row = tie[self.n_free..].to_vec();
            substitute(&mut row, &bound);
            let Some(&state) = order.iter().find(|k| !row[**k].is_zero()) else {
                return Err(Unsolved::InputsTied);
            };
            let scale = row[state].inverse().expect("not zero");
            row.iter_mut().for_each(|x| *x = *x * scale);
            let new = [(state, row)];
            bound
                .iter_mut()
                .for_each(|(_, other)| substitute(other, &new));
            bound.extend(new);
        }
        Ok(bound)
    }
}

/// Removes unknowns that rows give: each row has 1 in the place of its own.
fn substitute(vector: &mut [Number], rows: &[(usize, Vec<Number>)]) {
    for (place, row) in rows {
        let factor = vector[*place];
        if !factor.is_zero() {
            for (v, r) in vector.iter_mut().zip(row) {
                *v = *v - factor * *r;
            }
        }
    }
}

/// The unknowns that rates and outputs need.
fn needed(equations: &Equations, echelon: &Echelon) -> Vec<bool> {
    let n = equations.n_unknowns;
    let mut needed = vec![false; n];
    let of_outputs = equations.outputs.iter().flatten().map(|e| e.0);
    let roots = equations.rates.iter().copied().chain(of_outputs);
    roots.filter(|&c| c < n).for_each(|c| needed[c] = true);
    for (unknown, row) in &echelon.pivots {
        if needed[*unknown] {
            row.iter()
                .filter(|e| e.0 < n)
                .for_each(|e| needed[e.0] = true);
        }
    }
    needed
}

/// ẋ = A x + B₀ u + B₁ u̇ + … becomes x̃' = A x̃ + B u with x = x̃ + P₁ u + P₂ u̇ + …
fn take_up_rates(
    a: &Matrix,
    b: &[Matrix],
    c: &Matrix,
    mut d: Vec<Matrix>,
) -> (Matrix, Vec<Matrix>) {
    // P_m = B_m, P_k = B_k + A P_{k+1}.
    let mut shifts: Vec<Matrix> = Vec::new();
    for own in b[1..].iter().rev() {
        let shift = match shifts.last() {
            Some(next) => own.plus(&a.times(next)),
            None => own.clone(),
        };
        shifts.push(shift);
    }
    shifts.reverse();
    let input = b[0].plus(&a.times(&shifts[0]));
    for (direct, shift) in d.iter_mut().zip(&shifts) {
        *direct = direct.plus(&c.times(shift));
    }
    while d.len() > 1 && d.last().is_some_and(Matrix::is_zero) {
        d.pop();
    }
    (input, d)
}
