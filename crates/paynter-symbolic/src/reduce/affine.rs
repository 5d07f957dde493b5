//! Writes a torn group as A z = b, or as r(z) = 0 with its exact Jacobian.
//!
//! In:  torn unknowns z, what follows from them in order, and the rows left over.
//! Out: a [`Block`].
//!
//! **Invariant:** entries of A and b read no unknown of the group. Entries of the Jacobian are
//! total derivatives: what follows from z is differentiated along.

use super::system::System;
use super::tearing::{Solver, Torn, origins_of};
use crate::calculus::gradient;
use crate::expr::{ExprId, Pool, SymbolId};
use crate::linear::linear_in;
use crate::reduced::Block;
use crate::walk::Walker;
use rustc_hash::FxHashMap;

/// A dense Cholesky factorisation is tried on matrices up to this size when looking for
/// definiteness; larger ones are solved by sparse elimination with pivots in any case.
const MAX_CHECKED_SIZE: usize = 40;

/// Definiteness is looked at in this many points. It holds everywhere for a congruence
/// I + Tᵀ I T; what only happens to be definite at some points is found out by a few.
const N_POINTS: u64 = 6;

/// Σ coefficient · z + rest.
#[derive(Clone, Debug)]
struct Form {
    coefficients: Vec<(u32, ExprId)>,
    rest: ExprId,
}

/// Where the unknowns of a group are.
struct Places {
    torn: FxHashMap<SymbolId, u32>,
    inner: FxHashMap<SymbolId, usize>,
}

impl Places {
    fn of(torn: &Torn) -> Places {
        Places {
            torn: torn
                .unknowns
                .iter()
                .enumerate()
                .map(|(i, &s)| (s, i as u32))
                .collect(),
            inner: torn
                .inner
                .iter()
                .enumerate()
                .map(|(i, e)| (e.symbol, i))
                .collect(),
        }
    }

    /// Lists the unknowns of the group that an expression reads.
    fn read_by(&self, walker: &mut Walker, pool: &Pool, e: ExprId) -> Vec<SymbolId> {
        let mut symbols = Vec::new();
        walker.symbols_of(pool, e, &mut symbols);
        symbols.retain(|s| self.torn.contains_key(s) || self.inner.contains_key(s));
        symbols
    }
}

/// Writes a torn group as A z = b; `None` if it is not affine.
pub(crate) fn linear_block(system: &mut System, solver: &mut Solver, torn: &Torn) -> Option<Block> {
    let forms = residual_forms(system, &mut solver.walker, torn)?;
    let mut matrix = entries_of(&forms);
    let pool = &mut system.dae.pool;
    let mut right: Vec<ExprId> = forms.iter().map(|form| pool.neg(form.rest)).collect();
    let positive_definite = make_definite(system, solver, torn, &mut matrix, &mut right);
    if !positive_definite && is_never_regular(system, solver, torn, &matrix) {
        solver.note_singular(system, torn);
    }
    Some(Block::Linear {
        unknowns: torn.unknowns.clone(),
        matrix,
        right,
        positive_definite,
        inner: torn.inner.iter().map(|e| (e.symbol, e.value)).collect(),
        origins: origins_of(system, &torn.rows),
    })
}

/// Writes the rows that are left over in the torn unknowns.
fn residual_forms(system: &mut System, walker: &mut Walker, torn: &Torn) -> Option<Vec<Form>> {
    let places = Places::of(torn);
    let pool = &mut system.dae.pool;
    let mut inner: Vec<Form> = Vec::with_capacity(torn.inner.len());
    for explicit in &torn.inner {
        let form = form_of(pool, &places, walker, &inner, explicit.value)?;
        inner.push(form);
    }
    let mut forms = Vec::with_capacity(torn.residuals.len());
    for &row in &torn.residuals {
        let equation = system.rows[row as usize].equation;
        let residual = pool.sub(equation.left, equation.right);
        forms.push(form_of(pool, &places, walker, &inner, residual)?);
    }
    Some(forms)
}

/// Writes an expression in the torn unknowns.
fn form_of(
    pool: &mut Pool,
    places: &Places,
    walker: &mut Walker,
    forms: &[Form],
    e: ExprId,
) -> Option<Form> {
    let read = places.read_by(walker, pool, e);
    let (coefficients, mut rest) = linear_in(pool, e, &read)?;
    let mut total: Vec<(u32, ExprId)> = Vec::new();
    for (symbol, coefficient) in read.into_iter().zip(coefficients) {
        if let Some(&j) = places.torn.get(&symbol) {
            total.push((j, coefficient));
            continue;
        }
        let form = &forms[places.inner[&symbol]];
        for &(j, c) in &form.coefficients {
            let product = pool.mul(coefficient, c);
            total.push((j, product));
        }
        let product = pool.mul(coefficient, form.rest);
        rest = pool.add(rest, product);
    }
    Some(Form {
        coefficients: gather(pool, total),
        rest,
    })
}

/// Adds up entries of equal column and drops zeros.
fn gather(pool: &mut Pool, mut entries: Vec<(u32, ExprId)>) -> Vec<(u32, ExprId)> {
    entries.sort_by_key(|&(j, _)| j);
    let mut gathered: Vec<(u32, ExprId)> = Vec::with_capacity(entries.len());
    for (j, e) in entries {
        match gathered.last_mut() {
            Some((last, sum)) if *last == j => *sum = pool.add(*sum, e),
            _ => gathered.push((j, e)),
        }
    }
    gathered.retain(|&(_, e)| pool.as_number(e) != Some(0.0));
    gathered
}

/// Tells whether A is symmetric and positive definite by its structure as a congruence; rows
/// that were written with the opposite sign are turned.
fn make_definite(
    system: &mut System,
    solver: &mut Solver,
    torn: &Torn,
    matrix: &mut [(u32, u32, ExprId)],
    right: &mut [ExprId],
) -> bool {
    if !torn.is_congruence {
        return false;
    }
    let n = torn.unknowns.len();
    let mut negative = Vec::new();
    for point in 0..N_POINTS {
        let Some(mut a) = solver.entries_at(system, matrix, point) else {
            return false;
        };
        if point == 0 {
            negative = vec![false; n];
            for &(i, _, x) in a.iter().filter(|e| e.0 == e.1) {
                negative[i as usize] = x < 0.0;
            }
        }
        for (_, _, x) in a.iter_mut().filter(|e| negative[e.0 as usize]) {
            *x = -*x;
        }
        // Symmetry together with a positive diagonal is what a large congruence is known by: a factor that is not
        // definite after all shows when it is made.
        if !is_symmetric(n, &a) || n <= MAX_CHECKED_SIZE && !is_definite(n, &mut to_dense(n, &a)) {
            return false;
        }
    }

    let pool = &mut system.dae.pool;
    for (_, _, e) in matrix.iter_mut().filter(|e| negative[e.0 as usize]) {
        *e = pool.neg(*e);
    }
    for i in (0..n).filter(|&i| negative[i]) {
        right[i] = pool.neg(right[i]);
    }
    true
}

/// Tells whether entries, sorted by row and column, mirror each other, with a positive diagonal.
fn is_symmetric(n: usize, entries: &[(u32, u32, f64)]) -> bool {
    let size = entries.iter().fold(0.0_f64, |m, e| m.max(e.2.abs()));
    let at = |row: u32, column: u32| {
        let place = entries.binary_search_by_key(&(row, column), |e| (e.0, e.1));
        place.map_or(0.0, |k| entries[k].2)
    };
    let mirrors = |&(row, column, x): &(u32, u32, f64)| {
        (x - at(column, row)).abs() <= SYMMETRY_TOLERANCE * size
    };
    (0..n as u32).all(|k| at(k, k) > 0.0) && entries.iter().all(mirrors)
}

fn to_dense(n: usize, entries: &[(u32, u32, f64)]) -> Vec<f64> {
    let mut dense = vec![0.0; n * n];
    for &(i, j, x) in entries {
        dense[i as usize * n + j as usize] += x;
    }
    dense
}

/// Tells whether the equations of a group are dependent at all made-up points. Where they
/// switch they are not looked at: they may be regular in another position of the switches.
///
/// Looks at the group before tearing: in the torn matrix a zero may be what rounding leaves of
/// large terms, and nothing there tells how large they were.
fn is_never_regular(
    system: &mut System,
    solver: &mut Solver,
    torn: &Torn,
    matrix: &[(u32, u32, ExprId)],
) -> bool {
    let n = torn.rows.len();
    if n > MAX_CHECKED_SIZE {
        return false;
    }
    let matrix = if torn.inner.is_empty() {
        matrix.to_vec()
    } else {
        let inner = torn.inner.iter().map(|e| e.symbol);
        let whole = Torn {
            unknowns: torn.unknowns.iter().copied().chain(inner).collect(),
            residuals: torn.rows.clone(),
            ..Torn::default()
        };
        let Some(forms) = residual_forms(system, &mut solver.walker, &whole) else {
            return false;
        };
        entries_of(&forms)
    };

    solver
        .dependence
        .update(&system.dae.pool, &system.dae.symbols);
    if matrix
        .iter()
        .any(|entry| solver.dependence.reads_switch(entry.2))
    {
        return false;
    }
    (0..N_POINTS).all(|point| {
        let dense = solver.dense_at(system, n, &matrix, point);
        dense.is_some_and(|mut a| is_singular(n, &mut a))
    })
}

/// Tells whether the Jacobian of a group seems to be singular everywhere: a reason to look for terms that
/// cancel, not a proof. What switches, or is flat at the points looked at, gives no reason.
pub(crate) fn is_doubtful(system: &System, solver: &mut Solver, block: &Block) -> bool {
    let Block::Nonlinear {
        unknowns, jacobian, ..
    } = block
    else {
        return false;
    };
    let n = unknowns.len();
    if n > MAX_CHECKED_SIZE || solver.values_at_points(system, jacobian).is_none() {
        return false;
    }
    solver
        .dependence
        .update(&system.dae.pool, &system.dae.symbols);
    if jacobian
        .iter()
        .any(|entry| solver.dependence.reads_switch(entry.2))
    {
        return false;
    }
    (0..N_POINTS).all(|point| {
        let dense = solver.dense_at(system, n, jacobian, point);
        dense.is_some_and(|mut a| is_singular(n, &mut a))
    })
}

/// Lists the coefficients by row and column.
fn entries_of(forms: &[Form]) -> Vec<(u32, u32, ExprId)> {
    let rows = forms.iter().enumerate();
    rows.flat_map(|(i, form)| {
        form.coefficients
            .iter()
            .map(move |&(j, c)| (i as u32, j, c))
    })
    .collect()
}

/// A pivot this small in a matrix whose rows and columns all have largest entry 1 is what
/// rounding leaves of zero.
const SINGULAR_PIVOT: f64 = 1e-13;

/// Eliminates with complete pivoting after scaling rows and columns.
fn is_singular(n: usize, a: &mut [f64]) -> bool {
    let largest =
        |values: &mut dyn Iterator<Item = f64>| values.fold(0.0_f64, |m, x| m.max(x.abs()));
    for i in 0..n {
        let size = largest(&mut (0..n).map(|j| a[i * n + j]));
        if size == 0.0 {
            return true;
        }
        (0..n).for_each(|j| a[i * n + j] /= size);
    }

    for j in 0..n {
        let size = largest(&mut (0..n).map(|i| a[i * n + j]));
        if size == 0.0 {
            return true;
        }
        (0..n).for_each(|i| a[i * n + j] /= size);
    }

    let mut rows: Vec<usize> = (0..n).collect();
    let mut columns: Vec<usize> = (0..n).collect();
    while !rows.is_empty() {
        let mut best = (0, 0);
        for p in 0..rows.len() {
            for q in 0..columns.len() {
                let size = |(p, q): (usize, usize)| a[rows[p] * n + columns[q]].abs();
                if size((p, q)) > size(best) {
                    best = (p, q);
                }
            }
        }
        let (row, column) = (rows.swap_remove(best.0), columns.swap_remove(best.1));
        let pivot = a[row * n + column];
        if pivot.abs() <= SINGULAR_PIVOT {
            return true;
        }
        for &i in &rows {
            let factor = a[i * n + column] / pivot;
            for &j in &columns {
                a[i * n + j] -= factor * a[row * n + j];
            }
        }
    }
    false
}

/// Entries that should be equal were computed from the same numbers along two ways; they differ
/// by rounding of a few operations.
const SYMMETRY_TOLERANCE: f64 = 1e-10;

/// Tries a Cholesky factorisation of a row-major matrix.
fn is_definite(n: usize, a: &mut [f64]) -> bool {
    let size = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for i in 0..n {
        for j in 0..i {
            let difference = (a[i * n + j] - a[j * n + i]).abs();
            if difference.is_nan() || difference > SYMMETRY_TOLERANCE * size {
                return false;
            }
        }
    }
    for j in 0..n {
        let pivot = (0..j).fold(a[j * n + j], |d, k| d - a[j * n + k] * a[j * n + k]);
        if pivot.is_nan() || pivot <= 0.0 {
            return false;
        }
        let root = pivot.sqrt();
        a[j * n + j] = root;
        for i in j + 1..n {
            let sum = (0..j).fold(a[i * n + j], |s, k| s - a[i * n + k] * a[j * n + k]);
            a[i * n + j] = sum / root;
        }
    }
    true
}

/// Writes a torn group as r(z) = 0 with its Jacobian.
pub(crate) fn nonlinear_block(system: &mut System, walker: &mut Walker, torn: &Torn) -> Block {
    let places = Places::of(torn);
    let pool = &mut system.dae.pool;
    let mut slopes: Vec<Vec<(u32, ExprId)>> = Vec::with_capacity(torn.inner.len());
    for explicit in &torn.inner {
        let slope = slopes_of(pool, &places, walker, &slopes, explicit.value);
        slopes.push(slope);
    }
    let mut residuals = Vec::with_capacity(torn.residuals.len());
    let mut jacobian = Vec::new();
    for (i, &row) in torn.residuals.iter().enumerate() {
        let equation = system.rows[row as usize].equation;
        let residual = pool.sub(equation.left, equation.right);
        let slope = slopes_of(pool, &places, walker, &slopes, residual);
        jacobian.extend(slope.into_iter().map(|(j, e)| (i as u32, j, e)));
        residuals.push(residual);
    }
    Block::Nonlinear {
        unknowns: torn.unknowns.clone(),
        inner: torn.inner.iter().map(|e| (e.symbol, e.value)).collect(),
        residuals,
        jacobian,
        origins: origins_of(system, &torn.rows),
    }
}

/// Gives ∂e/∂z by the chain rule.
fn slopes_of(
    pool: &mut Pool,
    places: &Places,
    walker: &mut Walker,
    slopes: &[Vec<(u32, ExprId)>],
    e: ExprId,
) -> Vec<(u32, ExprId)> {
    let read = places.read_by(walker, pool, e);
    let partial = gradient(pool, e, &read);
    let mut total: Vec<(u32, ExprId)> = Vec::new();
    for (symbol, slope) in read.into_iter().zip(partial) {
        match places.torn.get(&symbol) {
            Some(&j) => total.push((j, slope)),
            None => {
                for &(j, inner) in &slopes[places.inner[&symbol]] {
                    let product = pool.mul(slope, inner);
                    total.push((j, product));
                }
            }
        }
    }
    gather(pool, total)
}
