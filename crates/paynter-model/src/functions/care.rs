//! The continuous algebraic Riccati equation: `care(A, B, Q, R, S)`.
//!
//! In:  matrices of a linear system x' = A x + B u and of the cost ∫ x'Qx + 2x'Su + u'Ru.
//! Out: the symmetric stabilising P of `A'P + PA − (PB + S) R⁻¹ (B'P + S') + Q = 0`, with exact
//!      slopes.
//!
//! Structured doubling (Chu, Fan & Lin 2005, *Linear Algebra Appl.* 396) finds P with
//! quadratic convergence from factorisations alone. Newton's method (Kleinman 1968) then removes
//! the rounding that its inversions leave. Cheap control makes Q and R differ by many orders of
//! magnitude, so states and cost are scaled first.
//!
//! **Invariant:** a P that is given back satisfies the equation to rounding and makes
//! A − B R⁻¹(B'P + S') stable; everything else is an error.

use std::sync::Arc;

use paynter_symbolic::expr::External;
use paynter_symbolic::{ExprId, Pool};

use super::linear::Lu;
use super::{Array, Call, Dimensioned, FunctionRow, Refusal, Shape, Value};

pub(super) const ROWS: &[FunctionRow] = &[FunctionRow {
    name: "care",
    parameters: &["A", "B", "Q", "R", "S?"],
    summary: "stabilising P of A'*P + P*A - (P*B + S)*inv(R)*(B'*P + S') + Q = 0",
    lower,
}];

/// The arguments of a Riccati equation.
pub(super) struct Given {
    /// States.
    pub n: usize,
    /// Inputs.
    pub m: usize,
    /// A, B, Q, R, S, each row by row.
    pub inputs: Vec<ExprId>,
}

/// Reads `A, B, Q, R, S` and checks their shapes; S is zero where it is left out.
pub(super) fn given(call: &mut Call) -> Result<Given, Refusal> {
    let (n, columns, a) = call.matrix(0)?;
    if n != columns || n == 0 {
        return Err(call.wrong_shape(0, "a square matrix"));
    }
    let (rows, m, b) = call.matrix(1)?;
    if rows != n || m == 0 {
        return Err(call.wrong_shape(1, &format!("a matrix of {n} rows, as `A` has")));
    }
    let mut inputs: Vec<ExprId> = Vec::new();
    inputs.extend(a.iter().chain(&b).map(|q| q.expr));
    for (slot, rows, columns) in [(2, n, n), (3, m, m), (4, n, m)] {
        if !call.is_given(slot) {
            let zero = call.pool().number(0.0);
            inputs.extend(std::iter::repeat_n(zero, rows * columns));
            continue;
        }
        let (found_rows, found_columns, entries) = call.matrix(slot)?;
        if (found_rows, found_columns) != (rows, columns) {
            return Err(call.wrong_shape(slot, &format!("a matrix of {rows} by {columns}")));
        }
        inputs.extend(entries.iter().map(|q| q.expr));
    }
    Ok(Given { n, m, inputs })
}

fn lower(call: &mut Call) -> Result<Value, Refusal> {
    let given = given(call)?;
    let p = solution(call.pool(), &given);
    Ok(square_value(call, p))
}

/// P, row by row.
pub(super) fn solution(pool: &mut Pool, given: &Given) -> Vec<ExprId> {
    let &Given { n, m, ref inputs } = given;
    let function = pool.add_external(Arc::new(Care { n, m }));
    let entries = (0..n * n).map(|k| pool.call_external(function, inputs, k as u32));
    entries.collect()
}

/// A square matrix of the size of the first argument, which may be a number.
pub(super) fn square_value(call: &Call, entries: Vec<ExprId>) -> Value {
    let quantity = |expr: ExprId| Dimensioned {
        expr,
        // Entries of P have as many units as the cost has pairs of states: left open.
        dimension: None,
    };
    let entries: Vec<Dimensioned> = entries.into_iter().map(quantity).collect();
    match call.slots[0].map(|a| &a.value) {
        Some(Value::Number(_)) => Value::Number(entries[0]),
        _ => {
            let n = entries.len().isqrt();
            Value::Array(Array {
                shape: Shape::Matrix(n, n),
                entries,
            })
        }
    }
}

/// The solver for n states and m inputs. Its numbers come as A, B, Q, R, S, each row by row.
#[derive(Clone, Copy, Debug)]
pub struct Care {
    /// States.
    pub n: usize,
    /// Inputs.
    pub m: usize,
}

/// A solved equation.
struct Solved {
    /// P
    p: Vec<f64>,
    /// K = R⁻¹(B'P + S')
    gain: Vec<f64>,
    /// The Lyapunov operator X ↦ F'X + XF of the closed loop F = A − BK, factorised.
    lyapunov: Lyapunov,
}

impl Care {
    fn split<'a>(&self, inputs: &'a [f64]) -> [&'a [f64]; 5] {
        let (n, m) = (self.n, self.m);
        let (a, rest) = inputs.split_at(n * n);
        let (b, rest) = rest.split_at(n * m);
        let (q, rest) = rest.split_at(n * n);
        let (r, s) = rest.split_at(m * m);
        [a, b, q, r, s]
    }

    fn solve(&self, inputs: &[f64]) -> Result<Solved, String> {
        let (n, m) = (self.n, self.m);
        let [a, b, q, r, s] = self.split(inputs);
        if !inputs.iter().all(|x| x.is_finite()) {
            return Err("`care` was given a value that is not finite".to_owned());
        }
        let (q, r) = (symmetric(q, n), symmetric(r, m));
        let r = Lu::new(&r, m).ok_or("`R` of `care` is singular")?;
        // Without cross term: Ã = A − B R⁻¹ S', Q̃ = Q − S R⁻¹ S', G = B R⁻¹ B'.
        let r_inv_st = r.solve_columns(&transpose(s, n, m), n);
        let r_inv_bt = r.solve_columns(&transpose(b, n, m), n);
        let plain = Riccati {
            n,
            a: subtract(a, &product(b, &r_inv_st, n, m, n)),
            g: symmetric(&product(b, &r_inv_bt, n, m, n), n),
            h: symmetric(&subtract(&q, &product(s, &r_inv_st, n, m, n)), n),
        };
        let p = plain.solve()?;
        let closed = subtract(&plain.a, &product(&plain.g, &p, n, n, n));
        let lyapunov = Lyapunov::new(&closed, n).ok_or(NO_STABLE)?;
        let gain = add(&product(&r_inv_bt, &p, m, n, n), &r_inv_st);
        Ok(Solved { p, gain, lyapunov })
    }
}

const NO_STABLE: &str = "the Riccati equation has no solution that makes the loop stable";

impl External for Care {
    fn name(&self) -> &str {
        "care"
    }

    fn n_inputs(&self) -> usize {
        let (n, m) = (self.n, self.m);
        2 * n * n + 2 * n * m + m * m
    }

    fn n_outputs(&self) -> usize {
        self.n * self.n
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        outputs.copy_from_slice(&self.solve(inputs)?.p);
        Ok(())
    }

    /// F' dP + dP F + W = 0 with W = dA'P + P dA − P dB K − K'dB'P + dQ − dS K − K'dS' + K'dR K.
    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        let (n, m, n_inputs) = (self.n, self.m, self.n_inputs());
        let Solved { p, gain, lyapunov } = self.solve(inputs)?;
        // Every W is L + L' with one outer product L = x y'; the pairs follow the order of inputs.
        let column_of_p = |k: usize| (0..n).map(|i| p[n * i + k]).collect::<Vec<f64>>();
        let row_of_k = |k: usize| gain[n * k..n * (k + 1)].to_vec();
        let unit = |k: usize| {
            (0..n)
                .map(|i| f64::from(u8::from(i == k)))
                .collect::<Vec<f64>>()
        };

        let scaled = |v: Vec<f64>, by: f64| v.into_iter().map(|x| x * by).collect::<Vec<f64>>();
        let mut outer: Vec<(Vec<f64>, Vec<f64>)> = Vec::with_capacity(n_inputs);
        for k in 0..n {
            outer.extend((0..n).map(|l| (column_of_p(k), unit(l))));
        }
        for k in 0..n {
            outer.extend((0..m).map(|l| (scaled(column_of_p(k), -1.0), row_of_k(l))));
        }
        for k in 0..n {
            outer.extend((0..n).map(|l| (scaled(unit(k), 0.5), unit(l))));
        }
        for k in 0..m {
            outer.extend((0..m).map(|l| (scaled(row_of_k(k), 0.5), row_of_k(l))));
        }
        for k in 0..n {
            outer.extend((0..m).map(|l| (scaled(unit(k), -1.0), row_of_k(l))));
        }
        let mut w = vec![0.0; n * n];
        for (input, (x, y)) in outer.iter().enumerate() {
            for at in 0..n * n {
                let (i, j) = (at / n, at % n);
                w[at] = x[i] * y[j] + x[j] * y[i];
            }
            let dp = lyapunov.solve(&w);
            for (output, d) in dp.iter().enumerate() {
                slopes[output * n_inputs + input] = *d;
            }
        }
        Ok(())
    }
}

// ---------------------------------------------------------------------------------------
// A'P + PA − PGP + H = 0
// ---------------------------------------------------------------------------------------

#[derive(Clone)]
struct Riccati {
    n: usize,
    a: Vec<f64>,
    g: Vec<f64>,
    h: Vec<f64>,
}

/// Doubling squares the closed loop each time: 60 times is a ratio of time constants of 2⁶⁰,
/// beyond what double precision can tell apart.
const MOST_DOUBLINGS: usize = 60;
/// Newton doubles the digits each time: three steps after doubling, some more from a start far
/// away. Slower convergence is that of a loop at the border of stability, which is refused.
const MOST_NEWTON_STEPS: usize = 12;
/// What rounding leaves of the equation, relative to its largest term, even for
/// ill-conditioned problems after Newton's method. More means that there is no solution.
const LARGEST_RESIDUAL: f64 = 1e-9;

impl Riccati {
    fn solve(&self) -> Result<Vec<f64>, String> {
        let n = self.n;
        let (balanced, scale) = self.balance();
        // Shifts near the size of the closed-loop poles converge fastest; others are tried in
        // case one meets a singular matrix.
        let size = norm(&balanced.a).max((norm(&balanced.g) * norm(&balanced.h)).sqrt());
        let size = if size > 0.0 { size } else { 1.0 };
        let try_from = |cost: &Riccati| {
            [1.0, 0.31, 3.3, 0.1, 11.0].iter().find_map(|share| {
                let start = cost.double(share * size)?;
                balanced.refine(start)
            })
        };
        // Doubling finds the least P ≥ 0. Where the cost does not see an unstable motion that
        // is not the stabilising one; a cost that sees everything gives Newton's method a
        // stabilising start instead.
        let p = try_from(&balanced)
            .or_else(|| try_from(&balanced.with_full_cost(size)))
            .ok_or(NO_STABLE)?;
        Ok((0..n * n)
            .map(|at| p[at] * scale[at / n] * scale[at % n])
            .collect())
    }

    /// The same problem with a cost on every state, of the size that moves the poles by theirs.
    fn with_full_cost(&self, size: f64) -> Riccati {
        let g = norm(&self.g);
        let weight = if g > 0.0 { size * size / g } else { size };
        let cost = scale(&identity(self.n), weight);
        Riccati {
            h: add(&self.h, &cost),
            ..self.clone()
        }
    }

    /// Scales states and cost so that A, G and H have rows and columns of like size.
    /// Gives d with P = diag(d) P̂ diag(d). Powers of two: no rounding.
    fn balance(&self) -> (Riccati, Vec<f64>) {
        let n = self.n;
        let mut scaled = self.clone();
        // x = D z turns A into D⁻¹AD, G into D⁻¹GD⁻¹, H into DHD, and P = D⁻¹P̂D⁻¹.
        let mut scale = vec![1.0; n];

        // Cost in other units: H/s, sG, P/s.
        let (g, h) = (norm(&self.g), norm(&self.h));
        if g > 0.0 && h > 0.0 {
            let s = power_of_two((h / g).sqrt());
            // A factor s on P is √s on each side; s is a power of four to keep that exact.
            let root = power_of_two(s.sqrt());
            scaled.g.iter_mut().for_each(|x| *x *= root * root);
            scaled.h.iter_mut().for_each(|x| *x /= root * root);
            scale.fill(root);
        }

        // Few sweeps come near the optimum (Parlett & Reinsch 1969 stop when a sweep gains < 5 %).
        for _ in 0..10 {
            let mut changed = false;
            for i in 0..n {
                let others =
                    |f: &dyn Fn(usize) -> f64| (0..n).filter(|&j| j != i).map(f).sum::<f64>();
                let grows = others(&|j| scaled.a[n * j + i].abs() + scaled.h[n * i + j].abs())
                    + scaled.h[n * i + i].abs();
                let shrinks = others(&|j| scaled.a[n * i + j].abs() + scaled.g[n * i + j].abs())
                    + scaled.g[n * i + i].abs();
                if grows == 0.0 || shrinks == 0.0 {
                    continue;
                }
                let d = power_of_two((shrinks / grows).sqrt());
                if d == 1.0 {
                    continue;
                }
                changed = true;
                scale[i] /= d;
                for j in 0..n {
                    scaled.a[n * j + i] *= d;
                    scaled.a[n * i + j] /= d;
                    scaled.h[n * i + j] *= d;
                    scaled.h[n * j + i] *= d;
                    scaled.g[n * i + j] /= d;
                    scaled.g[n * j + i] /= d;
                }
            }
            if !changed {
                break;
            }
        }
        (scaled, scale)
    }

    /// Structured doubling with shift γ.
    fn double(&self, shift: f64) -> Option<Vec<f64>> {
        let n = self.n;
        let identity = identity(n);
        // A_γ = A − γI
        let a_shifted: Vec<f64> = self
            .a
            .iter()
            .zip(&identity)
            .map(|(a, one)| a - shift * one)
            .collect();
        let a_lu = Lu::new(&a_shifted, n)?;
        let a_inv_g = a_lu.solve_columns(&self.g, n);

        // W = A_γ' + H A_γ⁻¹ G
        let w = add(
            &transpose(&a_shifted, n, n),
            &product(&self.h, &a_inv_g, n, n, n),
        );
        let w_inv = Lu::new(&w, n)?.inverse();

        // A₀ = I + 2γ (W⁻¹)', G₀ = 2γ A_γ⁻¹ G W⁻¹, H₀ = 2γ W⁻¹ H A_γ⁻¹
        let twice = 2.0 * shift;
        let mut a: Vec<f64> = transpose(&w_inv, n, n)
            .iter()
            .zip(&identity)
            .map(|(w, one)| one + twice * w)
            .collect();

        let mut g = scale(&product(&a_inv_g, &w_inv, n, n, n), twice);
        let w_inv_h = product(&w_inv, &self.h, n, n, n);
        let mut h = scale(&product(&w_inv_h, &a_lu.inverse(), n, n, n), twice);
        for _ in 0..MOST_DOUBLINGS {
            // M = (I + GH)⁻¹
            let m = Lu::new(&add(&identity, &product(&g, &h, n, n, n)), n)?.inverse();
            let am = product(&a, &m, n, n, n);
            let at = transpose(&a, n, n);
            let g_next = add(&g, &product(&product(&am, &g, n, n, n), &at, n, n, n));
            let hm = product(&h, &m, n, n, n);
            let change = product(&product(&at, &hm, n, n, n), &a, n, n, n);
            let h_next = add(&h, &change);
            if !h_next.iter().all(|x| x.is_finite()) || !g_next.iter().all(|x| x.is_finite()) {
                return None;
            }
            a = product(&am, &a, n, n, n);
            (g, h) = (symmetric(&g_next, n), symmetric(&h_next, n));
            if norm(&change) <= f64::EPSILON * norm(&h) {
                break;
            }
        }
        Some(h)
    }

    /// Newton's method: F'P₊ + P₊F + PGP + H = 0 with F = A − GP. Gives P if it solves the
    /// equation and the loop is stable.
    fn refine(&self, mut p: Vec<f64>) -> Option<Vec<f64>> {
        let n = self.n;
        let mut least = f64::INFINITY;
        let mut best = None;
        for _ in 0..MOST_NEWTON_STEPS {
            let residual = self.relative_residual(&p);
            // Newton's method ends where rounding no longer lets the residual fall.
            if residual.is_nan() || residual >= least {
                break;
            }
            least = residual;
            best = Some(p.clone());
            let gp = product(&self.g, &p, n, n, n);
            let lyapunov = Lyapunov::new(&subtract(&self.a, &gp), n)?;
            let w = symmetric(&add(&product(&p, &gp, n, n, n), &self.h), n);
            p = lyapunov.solve(&w);
        }
        let p = best.filter(|_| least <= LARGEST_RESIDUAL)?;
        let closed = subtract(&self.a, &product(&self.g, &p, n, n, n));
        is_stable(&closed, n).then_some(p)
    }

    fn relative_residual(&self, p: &[f64]) -> f64 {
        let n = self.n;
        let pa = product(p, &self.a, n, n, n);
        let pgp = product(&product(p, &self.g, n, n, n), p, n, n, n);
        let mut residual = 0.0f64;
        for at in 0..n * n {
            let value = pa[at] + pa[n * (at % n) + at / n] - pgp[at] + self.h[at];
            residual = if value.is_nan() {
                f64::NAN
            } else {
                residual.max(value.abs())
            };
        }
        let size = norm(&pa).max(norm(&pgp)).max(norm(&self.h));
        if size == 0.0 {
            residual
        } else {
            residual / size
        }
    }
}

/// X ↦ F'X + XF on symmetric matrices, factorised in the n(n+1)/2 entries on and above the diagonal.
struct Lyapunov {
    n: usize,
    lu: Lu,
}

impl Lyapunov {
    fn new(f: &[f64], n: usize) -> Option<Lyapunov> {
        let size = n * (n + 1) / 2;
        let mut operator = vec![0.0; size * size];
        for i in 0..n {
            for j in i..n {
                let row = size * packed(n, i, j);
                for k in 0..n {
                    operator[row + packed(n, k, j)] += f[n * k + i];
                    operator[row + packed(n, i, k)] += f[n * k + j];
                }
            }
        }
        Some(Lyapunov {
            n,
            lu: Lu::new(&operator, size)?,
        })
    }

    /// Solves F'X + XF + W = 0 for symmetric W.
    fn solve(&self, w: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut x = vec![0.0; n * (n + 1) / 2];
        for i in 0..n {
            for j in i..n {
                x[packed(n, i, j)] = -w[n * i + j];
            }
        }
        self.lu.solve(&mut x);
        (0..n * n).map(|at| x[packed(n, at / n, at % n)]).collect()
    }
}

/// Position of entry (i, j) among those on and above the diagonal.
fn packed(n: usize, i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    i * (2 * n - i + 1) / 2 + (j - i)
}

/// Lyapunov's theorem: F is stable exactly if F'X + XF + I = 0 has a positive definite X.
fn is_stable(f: &[f64], n: usize) -> bool {
    Lyapunov::new(f, n).is_some_and(|l| is_positive_definite(&l.solve(&identity(n)), n))
}

/// Tells whether a symmetric matrix has a Cholesky factor.
pub fn is_positive_definite(a: &[f64], n: usize) -> bool {
    let mut l = a.to_vec();
    for k in 0..n {
        let pivot = l[n * k + k];
        if pivot.is_nan() || pivot <= 0.0 {
            return false;
        }
        for i in k + 1..n {
            let ratio = l[n * i + k] / pivot;
            for j in k + 1..n {
                l[n * i + j] -= ratio * l[n * k + j];
            }
        }
    }
    true
}

// Small dense matrices, row by row.

fn product(a: &[f64], b: &[f64], n: usize, m: usize, k: usize) -> Vec<f64> {
    let mut c = vec![0.0; n * k];
    for i in 0..n {
        for l in 0..m {
            for j in 0..k {
                c[k * i + j] += a[m * i + l] * b[k * l + j];
            }
        }
    }
    c
}

fn transpose(a: &[f64], n: usize, m: usize) -> Vec<f64> {
    (0..n * m).map(|at| a[m * (at % n) + at / n]).collect()
}

fn symmetric(a: &[f64], n: usize) -> Vec<f64> {
    (0..n * n)
        .map(|at| 0.5 * (a[at] + a[n * (at % n) + at / n]))
        .collect()
}

fn add(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn subtract(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn scale(a: &[f64], by: f64) -> Vec<f64> {
    a.iter().map(|x| x * by).collect()
}

fn norm(a: &[f64]) -> f64 {
    a.iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n)
        .map(|at| f64::from(u8::from(at / n == at % n)))
        .collect()
}

fn power_of_two(x: f64) -> f64 {
    // Beyond this range squares of factors would overflow.
    x.log2().round().clamp(-250.0, 250.0).exp2()
}
