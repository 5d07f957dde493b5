//! Linear equations: `inv` and `solve`.
//!
//! In:  matrices of expressions.
//! Out: for up to 3 unknowns closed expressions (Cramer's rule, which the equations then show);
//!      for more an external function by elimination, with exact slopes.
//!
//! **Invariant:** a singular matrix is an error at the point where it is met, never infinity.

use std::sync::Arc;

use paynter_symbolic::expr::{External, Recipe};
use paynter_symbolic::{ExprId, Pool};

use super::{Array, Call, Dimensioned, FunctionRow, Refusal, Shape, Value};
use crate::units::Dimension;

pub(super) const ROWS: &[FunctionRow] = &[
    FunctionRow {
        name: "inv",
        parameters: &["A"],
        summary: "inverse of a square matrix",
        lower: inverse,
    },
    FunctionRow {
        name: "solve",
        parameters: &["A", "b"],
        summary: "x with A*x equal to b; b may have several columns",
        lower: solution,
    },
];

/// Up to this size Cramer's rule is cheaper than elimination and reads well (3: 12 products
/// and a determinant); beyond it the expressions swell as n!.
const LARGEST_CLOSED: usize = 3;

/// Rows of a matrix that is inverted or solved with. Each entry of the result reads all entries of the
/// matrix, n⁴ of them in all.
const MAX_ROWS: usize = 50;

fn inverse(call: &mut Call) -> Result<Value, Refusal> {
    let (n, entries) = square(call)?;
    let expressions: Vec<ExprId> = entries.iter().map(|q| q.expr).collect();
    let pool = call.pool();
    let result = if n <= LARGEST_CLOSED {
        let (adjugate, determinant) = adjugate(pool, &expressions, n);
        adjugate
            .into_iter()
            .map(|a| pool.div(a, determinant))
            .collect()
    } else {
        let function = pool.add_external(Arc::new(Inverse { n }));
        external_entries(pool, function, &expressions, n * n)
    };
    let dimension = shared(&entries).map(|d| d.pow(-1, 1));
    let entries = result
        .into_iter()
        .map(|expr| Dimensioned { expr, dimension })
        .collect();
    Ok(match call.slots[0].map(|a| &a.value) {
        Some(Value::Number(_)) => single(entries),
        _ => Value::Array(Array {
            shape: Shape::Matrix(n, n),
            entries,
        }),
    })
}

fn solution(call: &mut Call) -> Result<Value, Refusal> {
    let (n, a) = square(call)?;
    let right = call.array(1)?;
    let (rows, columns) = right.shape.as_matrix();
    if rows != n {
        return Err(call.wrong_shape(1, &format!("of {n} rows, as `A` has")));
    }
    let dimension = shared(&right.entries).and_then(|b| Some(b.per(shared(&a)?)));
    let a: Vec<ExprId> = a.iter().map(|q| q.expr).collect();
    let b: Vec<ExprId> = right.entries.iter().map(|q| q.expr).collect();
    let result = solve_expressions(call.pool(), (&a, n), (&b, columns));
    let entries = result
        .into_iter()
        .map(|expr| Dimensioned { expr, dimension })
        .collect();
    Ok(match call.slots[1].map(|a| &a.value) {
        Some(Value::Number(_)) => single(entries),
        _ => Value::Array(Array {
            shape: right.shape,
            entries,
        }),
    })
}

/// A⁻¹ B: a square matrix of n rows, and one of so many columns, row by row.
pub(super) fn solve_expressions(
    pool: &mut Pool,
    (a, n): (&[ExprId], usize),
    (b, columns): (&[ExprId], usize),
) -> Vec<ExprId> {
    if n <= LARGEST_CLOSED {
        return solve_closed(pool, a, b, n, columns);
    }
    let function = pool.add_external(Arc::new(Solution { n, columns }));
    let inputs: Vec<ExprId> = a.iter().chain(b).copied().collect();
    external_entries(pool, function, &inputs, n * columns)
}

fn single(entries: Vec<Dimensioned>) -> Value {
    Value::Number(entries[0])
}

fn square(call: &Call) -> Result<(usize, Vec<Dimensioned>), Refusal> {
    let (rows, columns, entries) = call.matrix(0)?;
    if rows != columns || rows == 0 {
        return Err(call.wrong_shape(0, "a square matrix"));
    }
    if rows > MAX_ROWS {
        let rule = format!("a square matrix of at most {MAX_ROWS} rows");
        return Err(call.wrong_shape(0, &rule));
    }
    Ok((rows, entries))
}

/// The dimension that all entries have, if all know the same.
fn shared(entries: &[Dimensioned]) -> Option<Dimension> {
    let first = entries.first()?.dimension?;
    entries
        .iter()
        .all(|q| q.dimension == Some(first))
        .then_some(first)
}

fn external_entries(
    pool: &mut Pool,
    function: paynter_symbolic::expr::ExternalId,
    inputs: &[ExprId],
    n: usize,
) -> Vec<ExprId> {
    (0..n)
        .map(|k| pool.call_external(function, inputs, k as u32))
        .collect()
}

/// Gives adjugate and determinant of a matrix of at most 3 rows: A⁻¹ = adj A / det A.
fn adjugate(pool: &mut Pool, a: &[ExprId], n: usize) -> (Vec<ExprId>, ExprId) {
    let mut minor = |p: usize, q: usize, r: usize, s: usize| {
        let (left, right) = (pool.mul(a[p], a[q]), pool.mul(a[r], a[s]));
        pool.sub(left, right)
    };

    match n {
        1 => (vec![pool.number(1.0)], a[0]),
        2 => {
            let determinant = minor(0, 3, 1, 2);
            let (b, c) = (pool.neg(a[1]), pool.neg(a[2]));
            (vec![a[3], b, c, a[0]], determinant)
        }
        _ => {
            let adjugate = vec![
                minor(4, 8, 5, 7),
                minor(2, 7, 1, 8),
                minor(1, 5, 2, 4),
                minor(5, 6, 3, 8),
                minor(0, 8, 2, 6),
                minor(2, 3, 0, 5),
                minor(3, 7, 4, 6),
                minor(1, 6, 0, 7),
                minor(0, 4, 1, 3),
            ];
            // Along the first row: adj is the transposed matrix of cofactors.
            let mut determinant = pool.number(0.0);
            for k in 0..3 {
                let term = pool.mul(a[k], adjugate[3 * k]);
                determinant = pool.add(determinant, term);
            }
            (adjugate, determinant)
        }
    }
}

fn solve_closed(
    pool: &mut Pool,
    a: &[ExprId],
    b: &[ExprId],
    n: usize,
    columns: usize,
) -> Vec<ExprId> {
    let (adjugate, determinant) = adjugate(pool, a, n);
    let mut x = Vec::with_capacity(n * columns);
    for i in 0..n {
        for j in 0..columns {
            let mut sum = pool.number(0.0);
            for k in 0..n {
                let term = pool.mul(adjugate[n * i + k], b[columns * k + j]);
                sum = pool.add(sum, term);
            }
            x.push(pool.div(sum, determinant));
        }
    }
    x
}

// ---------------------------------------------------------------------------------------
// Numbers
// ---------------------------------------------------------------------------------------

/// A factorised square matrix.
#[derive(Clone, Debug)]
pub struct Lu {
    n: usize,
    /// L below the diagonal, U on and above, row by row.
    factors: Vec<f64>,
    /// FunctionRow that was exchanged with row k.
    exchanges: Vec<usize>,
}

impl Lu {
    /// Factorises with exchange of rows; `None` if the matrix is singular to working precision
    /// or holds something that is not finite.
    pub fn new(a: &[f64], n: usize) -> Option<Lu> {
        let mut factors = a.to_vec();
        let mut exchanges = Vec::with_capacity(n);
        let largest = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        if !a.iter().all(|x| x.is_finite()) || largest == 0.0 {
            return (n == 0).then_some(Lu {
                n,
                factors,
                exchanges,
            });
        }

        // Each column is judged by its own size, so that units do not decide.
        let column_size: Vec<f64> = (0..n)
            .map(|j| (0..n).fold(0.0f64, |m, i| m.max(a[n * i + j].abs())))
            .collect();
        for k in 0..n {
            let pivot = (k..n)
                .max_by(|&p, &q| {
                    factors[n * p + k]
                        .abs()
                        .total_cmp(&factors[n * q + k].abs())
                })
                .expect("a row is left");
            let size = factors[n * pivot + k].abs();
            // What elimination leaves of a dependent column is rounding: n·ε of its size.
            if size <= n as f64 * f64::EPSILON * column_size[k] {
                return None;
            }
            exchanges.push(pivot);
            for j in 0..n {
                factors.swap(n * k + j, n * pivot + j);
            }
            for i in k + 1..n {
                let multiplier = factors[n * i + k] / factors[n * k + k];
                factors[n * i + k] = multiplier;
                for j in k + 1..n {
                    factors[n * i + j] -= multiplier * factors[n * k + j];
                }
            }
        }

        Some(Lu {
            n,
            factors,
            exchanges,
        })
    }

    /// Solves A x = b in place.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for (k, &other) in self.exchanges.iter().enumerate() {
            b.swap(k, other);
        }
        for i in 0..n {
            for k in 0..i {
                b[i] -= self.factors[n * i + k] * b[k];
            }
        }
        for i in (0..n).rev() {
            for k in i + 1..n {
                b[i] -= self.factors[n * i + k] * b[k];
            }
            b[i] /= self.factors[n * i + i];
        }
    }

    /// Solves A X = B for `columns` columns; B and X row by row.
    pub fn solve_columns(&self, b: &[f64], columns: usize) -> Vec<f64> {
        let mut x = vec![0.0; self.n * columns];
        let mut column = vec![0.0; self.n];
        for j in 0..columns {
            for i in 0..self.n {
                column[i] = b[columns * i + j];
            }
            self.solve(&mut column);
            for i in 0..self.n {
                x[columns * i + j] = column[i];
            }
        }
        x
    }

    /// Gives A⁻¹.
    pub fn inverse(&self) -> Vec<f64> {
        let mut identity = vec![0.0; self.n * self.n];
        for i in 0..self.n {
            identity[self.n * i + i] = 1.0;
        }
        self.solve_columns(&identity, self.n)
    }
}

#[derive(Debug)]
struct Inverse {
    n: usize,
}

const SINGULAR: &str = "the matrix is singular";

impl External for Inverse {
    fn name(&self) -> &str {
        "inv"
    }

    fn recipe(&self) -> Recipe<'_> {
        Recipe::Inverse { n: self.n }
    }

    fn n_inputs(&self) -> usize {
        self.n * self.n
    }

    fn n_outputs(&self) -> usize {
        self.n * self.n
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        let lu = Lu::new(inputs, self.n).ok_or(SINGULAR)?;
        outputs.copy_from_slice(&lu.inverse());
        Ok(())
    }

    /// X = A⁻¹: ∂Xᵢⱼ/∂Aₖₗ = −Xᵢₖ Xₗⱼ
    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        let n = self.n;
        let x = Lu::new(inputs, n).ok_or(SINGULAR)?.inverse();
        for (i, j, k, l) in quadruples(n, n, n, n) {
            slopes[(n * i + j) * n * n + n * k + l] = -x[n * i + k] * x[n * l + j];
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Solution {
    n: usize,
    columns: usize,
}

impl External for Solution {
    fn name(&self) -> &str {
        "solve"
    }

    fn recipe(&self) -> Recipe<'_> {
        Recipe::Solve {
            n: self.n,
            columns: self.columns,
        }
    }

    fn n_inputs(&self) -> usize {
        self.n * (self.n + self.columns)
    }

    fn n_outputs(&self) -> usize {
        self.n * self.columns
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        let (a, b) = inputs.split_at(self.n * self.n);
        let lu = Lu::new(a, self.n).ok_or(SINGULAR)?;
        outputs.copy_from_slice(&lu.solve_columns(b, self.columns));
        Ok(())
    }

    /// X = A⁻¹B: ∂Xᵢⱼ/∂Aₖₗ = −(A⁻¹)ᵢₖ Xₗⱼ, ∂Xᵢⱼ/∂Bₖⱼ = (A⁻¹)ᵢₖ
    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        let (n, m, n_inputs) = (self.n, self.columns, self.n_inputs());
        let (a, b) = inputs.split_at(n * n);
        let lu = Lu::new(a, n).ok_or(SINGULAR)?;
        let (inverse, x) = (lu.inverse(), lu.solve_columns(b, m));
        slopes.fill(0.0);
        for (i, j, k, l) in quadruples(n, m, n, n) {
            slopes[(m * i + j) * n_inputs + n * k + l] = -inverse[n * i + k] * x[m * l + j];
        }
        for (i, j, k, _) in quadruples(n, m, n, 1) {
            slopes[(m * i + j) * n_inputs + n * n + m * k + j] = inverse[n * i + k];
        }
        Ok(())
    }
}

fn quadruples(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) -> impl Iterator<Item = (usize, usize, usize, usize)> {
    (0..a * b * c * d).map(move |at| (at / (b * c * d), at / (c * d) % b, at / d % c, at % d))
}
