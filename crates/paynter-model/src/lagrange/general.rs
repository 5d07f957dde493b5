//! A kinetic energy that is written out, taken apart into squares again.
//!
//! In:  T, quadratic in rates, that is no sum of squares as it stands.
//! Out: the same as inertias at rates, found in this order:
//!
//! 1. *squares for each parameter*: every addend holds one inertia parameter; for each the matrix of second
//!    derivatives is LDLᵀ with pivots that are squares. Among orders of pivots that with the fewest
//!    gyrators, then the fewest operations.
//! 2. *a field*: the whole matrix is the same everywhere.
//! 3. *Brown's way*: pivots D(q) of the whole matrix go into the rates as roots, with inertias of size one.

use super::forms::{Forms, affine_terms};
use super::gyrators::curl;
use super::points::{PLACES, at_places, is_zero};
use super::poly::{Atom, Poly, expression_of, poly_of};
use super::squares::{Inertia, rate_for};
use super::system::{Role, System};
use crate::units::Dimension;
use paynter_symbolic::calculus::gradient;
use paynter_symbolic::expr::Function1;
use paynter_symbolic::walk::count_operations;
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::Span;

/// How inertias were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Parameters,
    Field,
    Roots,
}

impl Way {
    /// For the comment in the text.
    pub fn words(self) -> &'static str {
        match self {
            Way::Parameters => "squares for each inertia parameter",
            Way::Field => "one field, its matrix is the same everywhere",
            Way::Roots => "roots of pivots in the rates, inertias of size one",
        }
    }
}

/// A field: p = M f over coordinates.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub name: String,
    pub coordinates: Vec<usize>,
    pub matrix: Vec<ExprId>,
    pub span: Span,
}

/// T in coordinates: its matrix of second derivatives.
pub(super) struct Matrix {
    pub n: usize,
    /// Row by row.
    pub entries: Vec<ExprId>,
}

impl Matrix {
    /// Of an expression in velocities and rates.
    pub fn of(system: &mut System, forms: &Forms, e: ExprId) -> Matrix {
        let n = system.coordinates.len();
        let zero = system.pool.number(0.0);
        let mut entries = vec![zero; n * n];
        let moving = system.rates_in(e);
        let slopes = gradient(&mut system.pool, e, &moving);
        for (&a, slope) in moving.iter().zip(slopes) {
            let bends = gradient(&mut system.pool, slope, &moving);
            for (&b, bend) in moving.iter().zip(bends) {
                let bend = system.at_rest(bend);
                if is_zero(system, bend) {
                    continue;
                }
                let (fa, fb) = (
                    forms.of(system, a).over.clone(),
                    forms.of(system, b).over.clone(),
                );
                for &(i, x) in &fa {
                    for &(j, y) in &fb {
                        let product = system.pool.mul(x, y);
                        let product = system.pool.mul(bend, product);
                        let sum = &mut entries[i * n + j];
                        *sum = system.pool.add(*sum, product);
                    }
                }
            }
        }
        for e in &mut entries {
            *e = system.simplify(*e);
        }
        Matrix { n, entries }
    }

    /// A point and a direction with negative energy, if there is one: positions and direction.
    pub fn negative_direction(&self, system: &System) -> Option<(usize, Vec<f64>)> {
        let entries = self.entries.iter();
        let values: Vec<Vec<f64>> = entries.map(|&e| at_places(system, e)).collect();
        (0..PLACES).find_map(|p| {
            let matrix: Vec<f64> = values.iter().map(|v| v[p]).collect();
            if matrix.iter().any(|x| x.is_nan()) {
                return None;
            }
            let (value, vector) = smallest_eigenvalue(&matrix, self.n);
            let size = matrix.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            (value < -1e-9 * size).then_some((p, vector))
        })
    }
}

/// The smallest eigenvalue of a symmetric matrix, with its vector, by Jacobi's rotations.
fn smallest_eigenvalue(matrix: &[f64], n: usize) -> (f64, Vec<f64>) {
    let mut a = matrix.to_vec();
    let mut v = vec![0.0; n * n];
    for i in 0..n {
        v[i * n + i] = 1.0;
    }
    // Converges quadratically; ten sweeps are more than matrices of any size here need.
    for _ in 0..10 {
        for p in 0..n {
            for q in p + 1..n {
                let apq = a[p * n + q];
                if apq == 0.0 {
                    continue;
                }
                let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                }
                for k in 0..n {
                    let (x, y) = (v[k * n + p], v[k * n + q]);
                    v[k * n + p] = c * x - s * y;
                    v[k * n + q] = s * x + c * y;
                }
            }
        }
    }
    let least = (0..n).min_by(|&i, &j| a[i * n + i].total_cmp(&a[j * n + j]));
    let least = least.unwrap_or(0);
    let mut vector: Vec<f64> = (0..n).map(|k| v[k * n + least]).collect();
    let largest = vector.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let sign = vector
        .iter()
        .find(|x| x.abs() == largest)
        .map_or(1.0, |x| x.signum());
    vector.iter_mut().for_each(|x| *x /= sign * largest);
    (a[least * n + least], vector)
}

// ---- squares for each parameter

/// A row of LDLᵀ: μ k f², f over coordinates.
#[derive(Clone, Debug)]
struct SquareRow {
    parameter: Option<SymbolId>,
    k: f64,
    pivot: usize,
    over: Vec<Poly>,
}

/// Squares for each inertia parameter, if T has them.
pub(super) fn by_parameters(
    system: &mut System,
    forms: &mut Forms,
    matrix: &Matrix,
    (name, span): (&str, Span),
) -> Option<Vec<Inertia>> {
    let n = matrix.n;
    let mut polys = Vec::new();
    for &e in &matrix.entries {
        polys.push(poly_of(system, e)?.reduced());
    }
    let parameters = inertia_parameters(system, &polys)?;
    let mut rows = Vec::new();
    for parameter in parameters {
        let part: Vec<Poly> = polys.iter().map(|p| without(p, parameter)).collect();
        rows.extend(best_rows(system, &part, n, parameter)?);
    }
    let mut found = Vec::new();
    for row in rows {
        let mut linear = system.pool.number(0.0);
        for (i, poly) in row.over.iter().enumerate() {
            let coefficient = expression_of(system, poly);
            let velocity = system.pool.symbol(system.coordinates[i].velocity);
            let term = system.pool.mul(coefficient, velocity);
            linear = system.pool.add(linear, term);
        }
        let mut size = system.pool.number(row.k);
        if let Some(parameter) = row.parameter {
            let parameter = system.pool.symbol(parameter);
            size = system.pool.mul(size, parameter);
        }
        let of = row
            .parameter
            .map_or(name, |p| system.symbol_name(p))
            .to_owned();
        let wanted = format!("{of}_{}", system.coordinates[row.pivot].name);
        let inertia_name = system.fresh(&wanted);
        let terms = affine_terms(system, linear)?.0;
        let rate = rate_for(system, forms, linear, terms, (&inertia_name, span));
        found.push(Inertia {
            name: inertia_name,
            rate,
            size,
            span,
        });
    }
    Some(found)
}

/// Parameters so that every addend holds exactly one of them, and that once.
fn inertia_parameters(system: &System, polys: &[Poly]) -> Option<Vec<Option<SymbolId>>> {
    let monomials: Vec<Vec<(SymbolId, i32)>> = polys
        .iter()
        .flat_map(|p| p.0.keys())
        .map(|m| {
            let constant = |&(atom, n): &(Atom, i32)| match atom {
                Atom::Constant(s) => Some((s, n)),
                _ => None,
            };
            m.0.iter().filter_map(constant).collect()
        })
        .collect();
    let mut chosen = Vec::new();
    if cover(system, &monomials, &mut chosen) {
        return Some(chosen.into_iter().map(Some).collect());
    }
    // Numbers alone: one group of all.
    let has_none = monomials.iter().all(|m| m.is_empty());
    has_none.then(|| vec![None])
}

/// Chooses parameters until each monomial holds exactly one; tells whether that can be done.
fn cover(system: &System, monomials: &[Vec<(SymbolId, i32)>], chosen: &mut Vec<SymbolId>) -> bool {
    let count = |m: &[(SymbolId, i32)], chosen: &[SymbolId]| -> i32 {
        let found = m.iter().filter(|p| chosen.contains(&p.0));
        found.map(|p| p.1.abs()).sum()
    };
    if monomials.iter().any(|m| count(m, chosen) > 1) {
        return false;
    }
    let Some(open) = monomials.iter().find(|m| count(m, chosen) == 0) else {
        return true;
    };
    let mut candidates: Vec<SymbolId> = open.iter().filter(|p| p.1 == 1).map(|p| p.0).collect();
    // Where units are known, what holds kilograms is an inertia.
    let holds_mass = |s: &SymbolId| {
        let dimension = system.dimensions.get(s);
        dimension.is_some_and(|d| format!("{d}").contains("kg"))
    };
    candidates.sort_by_key(|s| !holds_mass(s));
    for candidate in candidates {
        chosen.push(candidate);
        if cover(system, monomials, chosen) {
            return true;
        }
        chosen.pop();
    }
    false
}

/// The factor of a parameter.
fn without(poly: &Poly, parameter: Option<SymbolId>) -> Poly {
    let Some(parameter) = parameter else {
        return poly.clone();
    };
    let mut factor = Poly::default();
    for (monomial, &c) in &poly.0 {
        let mut rest = monomial.clone();
        let n_before = rest.0.len();
        rest.0.retain(|p| p.0 != Atom::Constant(parameter));
        if rest.0.len() < n_before {
            factor.0.insert(rest, c);
        }
    }
    factor
}

/// With more coordinates than this only their order and its reverse are tried as pivots.
const MAX_PERMUTED: usize = 4;

/// The rows with the fewest gyrators, then operations, over orders of pivots.
fn best_rows(
    system: &mut System,
    matrix: &[Poly],
    n: usize,
    parameter: Option<SymbolId>,
) -> Option<Vec<SquareRow>> {
    let used: Vec<usize> = (0..n)
        .filter(|&i| (0..n).any(|j| !matrix[i * n + j].is_zero()))
        .collect();
    let mut best: Option<((usize, usize), Vec<SquareRow>)> = None;
    for order in orders(&used) {
        let Some(rows) = rows_of(matrix, n, &order, parameter) else {
            continue;
        };
        let cost = cost(system, &rows);
        if best.as_ref().is_none_or(|(old, _)| cost < *old) {
            best = Some((cost, rows));
        }
    }
    best.map(|(_, rows)| rows)
}

fn orders(used: &[usize]) -> Vec<Vec<usize>> {
    if used.len() > MAX_PERMUTED {
        return vec![used.to_vec(), used.iter().rev().copied().collect()];
    }
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in used {
        all = all
            .into_iter()
            .flat_map(|begun| {
                let left = used.iter().filter(|i| !begun.contains(i));
                left.map(|&i| [begun.as_slice(), &[i]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

/// LDLᵀ with pivots that are squares, in a certain order.
fn rows_of(
    matrix: &[Poly],
    n: usize,
    order: &[usize],
    parameter: Option<SymbolId>,
) -> Option<Vec<SquareRow>> {
    let mut rest = matrix.to_vec();
    let mut rows = Vec::new();
    for &pivot in order {
        let diagonal = rest[pivot * n + pivot].clone();
        if diagonal.is_zero() {
            // A row of a positive matrix with nothing on the diagonal is nothing.
            if (0..n).any(|j| !rest[pivot * n + j].is_zero()) {
                return None;
            }
            continue;
        }
        let (k, root) = diagonal.square_root()?;
        let mut over = Vec::new();
        for j in 0..n {
            let entry = if j == pivot {
                root.clone()
            } else {
                let quotient = rest[pivot * n + j].over(&root)?;
                Poly::default().plus(&quotient, 1.0 / k)
            };
            over.push(entry);
        }
        for i in 0..n {
            for j in 0..n {
                let product = over[i].times(&over[j])?;
                rest[i * n + j] = rest[i * n + j].plus(&product, -k).reduced();
            }
        }
        rows.push(SquareRow {
            parameter,
            k,
            pivot,
            over,
        });
    }
    rest.iter().all(Poly::is_zero).then_some(rows)
}

fn cost(system: &mut System, rows: &[SquareRow]) -> (usize, usize) {
    let (mut n_turning, mut n_operations) = (0, 0);
    for row in rows {
        let mut form = Vec::new();
        for (i, poly) in row.over.iter().enumerate() {
            if !poly.is_zero() {
                let e = expression_of(system, poly);
                n_operations += 1 + count_operations(&system.pool, e);
                form.push((i, e));
            }
        }
        n_turning += usize::from(!curl(system, &form).is_zero());
    }
    (n_turning, n_operations)
}

// ---- a field

/// One field, if the matrix is the same everywhere and its coordinates are of one kind.
pub(super) fn as_field(
    system: &mut System,
    matrix: &Matrix,
    (name, span): (&str, Span),
) -> Option<Field> {
    let n = matrix.n;
    let is_used = |i: &usize| (0..n).any(|j| !is_zero(system, matrix.entries[*i * n + j]));
    let used: Vec<usize> = (0..n).filter(is_used).collect();
    let dimension = |i: usize| {
        system
            .dimensions
            .get(&system.coordinates[i].position)
            .copied()
    };
    let first = dimension(*used.first()?);
    let is_alike = used.iter().all(|&i| dimension(i) == first);
    let is_constant = matrix.entries.iter().all(|&e| system.is_constant(e));
    if !is_alike || !is_constant {
        return None;
    }
    let entries = used.iter().flat_map(|&i| used.iter().map(move |&j| (i, j)));
    Some(Field {
        name: name.to_owned(),
        matrix: entries.map(|(i, j)| matrix.entries[i * n + j]).collect(),
        coordinates: used,
        span,
    })
}

// ---- Brown's way

/// Roots of pivots in the rates, if the matrix is positive.
pub(super) fn by_roots(
    system: &mut System,
    forms: &mut Forms,
    matrix: &Matrix,
    (name, span): (&str, Span),
) -> Option<Vec<Inertia>> {
    let n = matrix.n;
    let mut rest = matrix.entries.clone();
    let mut found = Vec::new();
    for pivot in 0..n {
        let diagonal = rest[pivot * n + pivot];
        if is_zero(system, diagonal) {
            continue;
        }
        if at_places(system, diagonal).iter().any(|&x| x < 0.0) {
            return None;
        }
        let (size, scaled) = unit_inertia(system, pivot, diagonal);
        let root = system.pool.call1(Function1::Sqrt, scaled);
        let velocity = |system: &mut System, i: usize| {
            let symbol = system.coordinates[i].velocity;
            system.pool.symbol(symbol)
        };
        let mut sum = velocity(system, pivot);
        let mut ratios = vec![None; n];
        for j in pivot + 1..n {
            let entry = rest[pivot * n + j];
            if is_zero(system, entry) {
                continue;
            }
            let ratio = system.pool.div(entry, diagonal);
            let ratio = system.simplify(ratio);
            ratios[j] = Some(ratio);
            let other = velocity(system, j);
            let term = system.pool.mul(ratio, other);
            sum = system.pool.add(sum, term);
        }
        let linear = system.pool.mul(root, sum);
        subtract_square(system, &mut rest, diagonal, &ratios);
        let wanted = format!("{name}_{}", system.coordinates[pivot].name);
        let inertia_name = system.fresh(&wanted);
        let terms = affine_terms(system, linear)?.0;
        let rate = rate_for(system, forms, linear, terms, (&inertia_name, span));
        found.push(Inertia {
            name: inertia_name,
            rate,
            size,
            span,
        });
    }
    Some(found)
}

/// Takes d (Σ rᵢ fᵢ)² out of what is left of a matrix.
fn subtract_square(
    system: &mut System,
    rest: &mut [ExprId],
    diagonal: ExprId,
    ratios: &[Option<ExprId>],
) {
    let n = ratios.len();
    for i in 0..n {
        for j in 0..n {
            if let (Some(a), Some(b)) = (ratios[i], ratios[j]) {
                let product = system.pool.mul(a, b);
                let product = system.pool.mul(diagonal, product);
                let entry = system.pool.sub(rest[i * n + j], product);
                rest[i * n + j] = system.simplify(entry);
            }
        }
    }
}

/// An inertia of size one in the unit that goes with a coordinate, and a pivot divided by it.
fn unit_inertia(system: &mut System, i: usize, pivot: ExprId) -> (ExprId, ExprId) {
    let velocity = system.coordinates[i].velocity;
    let Some(&rate) = system.dimensions.get(&velocity) else {
        return (system.pool.number(1.0), pivot);
    };
    let dimension = Dimension::ENERGY.per(rate.pow(2, 1));
    let text = format!("1 [{}]", dimension.unit().text);
    let symbol = system.add(&text, Role::Constant);
    system.dimensions.insert(symbol, dimension);
    system.values.insert(symbol, 1.0);
    let size = system.pool.symbol(symbol);
    (size, system.pool.div(pivot, size))
}
