//! Controllers from matrices: `lqr`, `lqe`, `lqi`, `dare`, `dlqr`, `place`, `lyap`, `expm`, `c2d`.
//!
//! In:  matrices of expressions, in one set of units.
//! Out: gains and matrices of expressions, so that they may follow the state (gains computed at each sample) or be searched.
//!
//! Equations are solved by external functions with exact slopes, from `paynter-linear` or `care`; gains are put together from
//! them as expressions.
//!
//! **Invariant:** what has no answer is an error at the point where it is met, never a number.

use std::sync::Arc;

use paynter_linear::{
    Complex, Matrix, NotPlaced, Regulated, dare, discrete_lyapunov, exponential, lyapunov, place,
    solve, transpose,
};
use paynter_symbolic::expr::External;
use paynter_symbolic::{ExprId, Pool};

use super::care::{self, Given, given, square_value};
use super::linear::solve_expressions;
use super::{Array, Call, Dimensioned, FunctionRow, Refusal, Shape, Value};

pub(super) const ROWS: &[FunctionRow] = &[
    FunctionRow {
        name: "lqr",
        parameters: &["A", "B", "Q", "R", "S?"],
        summary: "K of u = -K*x that minimizes the integral of x'*Q*x + 2*x'*S*u + u'*R*u",
        lower: regulator,
    },
    FunctionRow {
        name: "lqe",
        parameters: &["A", "C", "Q", "R"],
        summary: "L of der(x) = A*x + L*(y - C*x), the Kalman filter for noise of intensities Q and R",
        lower: observer,
    },
    FunctionRow {
        name: "lqi",
        parameters: &["A", "B", "C", "Q", "R"],
        summary: "K of u = -K*[x; s] with der(s) = r - C*x: an optimal controller without steady-state error",
        lower: servo,
    },
    FunctionRow {
        name: "dare",
        parameters: &["A", "B", "Q", "R", "S?"],
        summary: "stabilising P of Riccati's equation in steps: P = A'*P*A - (A'*P*B + S)*inv(R + B'*P*B)*(B'*P*A + S') + Q",
        lower: steps_equation,
    },
    FunctionRow {
        name: "dlqr",
        parameters: &["A", "B", "Q", "R", "S?"],
        summary: "K of u = -K*x that minimizes the sum of x'*Q*x + 2*x'*S*u + u'*R*u over all steps",
        lower: steps_regulator,
    },
    FunctionRow {
        name: "place",
        parameters: &["A", "B", "real", "imaginary?"],
        summary: "K such that A - B*K has these eigenvalues; complex ones in pairs",
        lower: placed,
    },
    FunctionRow {
        name: "lyap",
        parameters: &["A", "Q"],
        summary: "symmetric X of A*X + X*A' + Q = 0",
        lower: balance,
    },
    FunctionRow {
        name: "expm",
        parameters: &["A"],
        summary: "exponential of a square matrix",
        lower: exponential_of,
    },
    FunctionRow {
        name: "c2d",
        parameters: &["A", "B", "T"],
        summary: "[Ad, Bd] of the model in steps of T, exact for inputs that are held",
        lower: in_steps,
    },
];

// ---------------------------------------------------------------------------------------
// Matrices of expressions
// ---------------------------------------------------------------------------------------

#[derive(Clone)]
struct Block {
    rows: usize,
    columns: usize,
    entries: Vec<ExprId>,
}

impl Block {
    fn of(entries: &[ExprId], rows: usize, columns: usize) -> Block {
        Block {
            rows,
            columns,
            entries: entries.to_vec(),
        }
    }

    fn at(&self, i: usize, j: usize) -> ExprId {
        self.entries[i * self.columns + j]
    }

    fn transposed(&self) -> Block {
        let places = (0..self.columns).flat_map(|j| (0..self.rows).map(move |i| (i, j)));
        Block {
            rows: self.columns,
            columns: self.rows,
            entries: places.map(|(i, j)| self.at(i, j)).collect(),
        }
    }

    fn times(&self, pool: &mut Pool, other: &Block) -> Block {
        let mut entries = Vec::with_capacity(self.rows * other.columns);
        for i in 0..self.rows {
            for j in 0..other.columns {
                let mut sum = pool.number(0.0);
                for k in 0..self.columns {
                    let term = pool.mul(self.at(i, k), other.at(k, j));
                    sum = pool.add(sum, term);
                }
                entries.push(sum);
            }
        }
        Block {
            rows: self.rows,
            columns: other.columns,
            entries,
        }
    }

    fn plus(&self, pool: &mut Pool, other: &Block) -> Block {
        let pairs = self.entries.iter().zip(&other.entries);
        Block {
            entries: pairs.map(|(a, b)| pool.add(*a, *b)).collect(),
            ..*self
        }
    }

    fn value(self) -> Value {
        let quantity = |expr: ExprId| Dimensioned {
            expr,
            // Gains carry the units of inputs per states: left open.
            dimension: None,
        };
        Value::Array(Array {
            shape: Shape::Matrix(self.rows, self.columns),
            entries: self.entries.into_iter().map(quantity).collect(),
        })
    }
}

impl Given {
    /// A, B, Q, R, S.
    fn blocks(&self) -> [Block; 5] {
        let (n, m) = (self.n, self.m);
        let (a, rest) = self.inputs.split_at(n * n);
        let (b, rest) = rest.split_at(n * m);
        let (q, rest) = rest.split_at(n * n);
        let (r, s) = rest.split_at(m * m);
        [
            Block::of(a, n, n),
            Block::of(b, n, m),
            Block::of(q, n, n),
            Block::of(r, m, m),
            Block::of(s, n, m),
        ]
    }
}

/// K = R⁻¹ (Bᵀ P + Sᵀ)
fn continuous_gain(pool: &mut Pool, given: &Given) -> Block {
    let [_, b, _, r, s] = given.blocks();
    let p = Block::of(&care::solution(pool, given), given.n, given.n);
    let right = b.transposed().times(pool, &p);
    let right = right.plus(pool, &s.transposed());
    let k = solve_expressions(pool, (&r.entries, given.m), (&right.entries, given.n));
    Block::of(&k, given.m, given.n)
}

fn regulator(call: &mut Call) -> Result<Value, Refusal> {
    let given = given(call)?;
    Ok(continuous_gain(call.pool(), &given).value())
}

/// A, C, and what follows them; sizes are those of A and of the rows of C.
fn with_outputs(call: &mut Call, slot: usize) -> Result<(Block, Block), Refusal> {
    let (n, columns, a) = call.matrix(0)?;
    if n != columns || n == 0 {
        return Err(call.wrong_shape(0, "a square matrix"));
    }
    let (p, columns, c) = call.matrix(slot)?;
    if columns != n || p == 0 {
        let rule = format!("a matrix of {n} columns, as `A` has");
        return Err(call.wrong_shape(slot, &rule));
    }
    let a: Vec<ExprId> = a.iter().map(|q| q.expr).collect();
    let c: Vec<ExprId> = c.iter().map(|q| q.expr).collect();
    Ok((Block::of(&a, n, n), Block::of(&c, p, n)))
}

fn square_argument(call: &Call, slot: usize, n: usize) -> Result<Block, Refusal> {
    let (rows, columns, entries) = call.matrix(slot)?;
    if (rows, columns) != (n, n) {
        return Err(call.wrong_shape(slot, &format!("a matrix of {n} by {n}")));
    }
    let entries: Vec<ExprId> = entries.iter().map(|q| q.expr).collect();
    Ok(Block::of(&entries, n, n))
}

/// The regulator of the transposed plant, transposed.
fn observer(call: &mut Call) -> Result<Value, Refusal> {
    let (a, c) = with_outputs(call, 1)?;
    let (n, p) = (a.rows, c.rows);
    let q = square_argument(call, 2, n)?;
    let r = square_argument(call, 3, p)?;
    let pool = call.pool();
    let zero = pool.number(0.0);
    let dual = Given {
        n,
        m: p,
        inputs: [
            a.transposed().entries,
            c.transposed().entries,
            q.entries,
            r.entries,
            vec![zero; n * p],
        ]
        .concat(),
    };
    Ok(continuous_gain(pool, &dual).transposed().value())
}

/// The regulator of the plant with the integrals of what its outputs miss.
fn servo(call: &mut Call) -> Result<Value, Refusal> {
    let (a, c) = with_outputs(call, 2)?;
    let (n, p) = (a.rows, c.rows);
    let (rows, m, b) = call.matrix(1)?;
    if rows != n || m == 0 {
        return Err(call.wrong_shape(1, &format!("a matrix of {n} rows, as `A` has")));
    }
    let b: Vec<ExprId> = b.iter().map(|q| q.expr).collect();
    let q = square_argument(call, 3, n + p)?;
    let r = square_argument(call, 4, m)?;
    let pool = call.pool();
    let zero = pool.number(0.0);
    let mut wide = Vec::new();
    for i in 0..n {
        wide.extend((0..n).map(|j| a.at(i, j)));
        wide.extend(vec![zero; p]);
    }
    for i in 0..p {
        wide.extend((0..n).map(|j| pool.neg(c.at(i, j))));
        wide.extend(vec![zero; p]);
    }
    let mut tall = b;
    tall.extend(vec![zero; p * m]);
    let given = Given {
        n: n + p,
        m,
        inputs: [wide, tall, q.entries, r.entries, vec![zero; (n + p) * m]].concat(),
    };
    Ok(continuous_gain(pool, &given).value())
}

fn steps_solution(pool: &mut Pool, given: &Given) -> Vec<ExprId> {
    let function = pool.add_external(Arc::new(Dare {
        n: given.n,
        m: given.m,
    }));
    let entries = 0..given.n * given.n;
    entries
        .map(|k| pool.call_external(function, &given.inputs, k as u32))
        .collect()
}

fn steps_equation(call: &mut Call) -> Result<Value, Refusal> {
    let given = given(call)?;
    let p = steps_solution(call.pool(), &given);
    Ok(square_value(call, p))
}

/// K = (R + Bᵀ P B)⁻¹ (Bᵀ P A + Sᵀ)
fn steps_regulator(call: &mut Call) -> Result<Value, Refusal> {
    let given = given(call)?;
    let pool = call.pool();
    let [a, b, _, r, s] = given.blocks();
    let p = Block::of(&steps_solution(pool, &given), given.n, given.n);
    let bp = b.transposed().times(pool, &p);
    let left = bp.times(pool, &b);
    let left = left.plus(pool, &r);
    let right = bp.times(pool, &a);
    let right = right.plus(pool, &s.transposed());
    let k = solve_expressions(pool, (&left.entries, given.m), (&right.entries, given.n));
    Ok(Block::of(&k, given.m, given.n).value())
}

fn placed(call: &mut Call) -> Result<Value, Refusal> {
    let (n, columns, a) = call.matrix(0)?;
    if n != columns || n == 0 {
        return Err(call.wrong_shape(0, "a square matrix"));
    }
    let (rows, m, b) = call.matrix(1)?;
    if rows != n || m == 0 {
        return Err(call.wrong_shape(1, &format!("a matrix of {n} rows, as `A` has")));
    }
    let mut inputs: Vec<ExprId> = a.iter().chain(&b).map(|q| q.expr).collect();
    for slot in [2, 3] {
        if !call.is_given(slot) {
            let zero = call.pool().number(0.0);
            inputs.extend(vec![zero; n]);
            continue;
        }
        let array = call.array(slot)?;
        if array.entries.len() != n {
            return Err(call.wrong_shape(slot, &format!("a vector of {n}, one for each state")));
        }
        inputs.extend(array.entries.iter().map(|q| q.expr));
    }
    let pool = call.pool();
    let function = pool.add_external(Arc::new(PlacedPoles { n, m }));
    let entries: Vec<ExprId> = (0..n * m)
        .map(|k| pool.call_external(function, &inputs, k as u32))
        .collect();
    Ok(Block::of(&entries, m, n).value())
}

fn balance(call: &mut Call) -> Result<Value, Refusal> {
    let (n, columns, _) = call.matrix(0)?;
    if n != columns || n == 0 {
        return Err(call.wrong_shape(0, "a square matrix"));
    }
    let (a, q) = (square_argument(call, 0, n)?, square_argument(call, 1, n)?);
    let inputs = [a.entries, q.entries].concat();
    let pool = call.pool();
    let function = pool.add_external(Arc::new(Lyap { n }));
    let entries = (0..n * n).map(|k| pool.call_external(function, &inputs, k as u32));
    let entries = entries.collect();
    Ok(square_value(call, entries))
}

fn exponential_entries(pool: &mut Pool, inputs: &[ExprId], n: usize) -> Block {
    let function = pool.add_external(Arc::new(Expm { n }));
    let entries = (0..n * n).map(|k| pool.call_external(function, inputs, k as u32));
    let entries: Vec<ExprId> = entries.collect();
    Block::of(&entries, n, n)
}

fn exponential_of(call: &mut Call) -> Result<Value, Refusal> {
    let (n, columns, _) = call.matrix(0)?;
    if n != columns || n == 0 {
        return Err(call.wrong_shape(0, "a square matrix"));
    }
    let a = square_argument(call, 0, n)?;
    let e = exponential_entries(call.pool(), &a.entries, n);
    Ok(square_value(call, e.entries))
}

/// The upper rows of e^{[A B; 0 0] T}.
fn in_steps(call: &mut Call) -> Result<Value, Refusal> {
    let (n, columns, _) = call.matrix(0)?;
    if n != columns || n == 0 {
        return Err(call.wrong_shape(0, "a square matrix"));
    }
    let a = square_argument(call, 0, n)?;
    let (rows, m, b) = call.matrix(1)?;
    if rows != n || m == 0 {
        return Err(call.wrong_shape(1, &format!("a matrix of {n} rows, as `A` has")));
    }
    let step = call.number(2)?.expr;
    let pool = call.pool();
    let zero = pool.number(0.0);
    let mut wide = Vec::new();
    for i in 0..n + m {
        for j in 0..n + m {
            wide.push(match (i < n, j < n) {
                (true, true) => pool.mul(a.at(i, j), step),
                (true, false) => pool.mul(b[i * m + j - n].expr, step),
                _ => zero,
            });
        }
    }
    let e = exponential_entries(pool, &wide, n + m);
    Ok(Block::of(&e.entries[..n * (n + m)], n, n + m).value())
}

// ---------------------------------------------------------------------------------------
// Numbers
// ---------------------------------------------------------------------------------------

fn matrix(values: &[f64], rows: usize, columns: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |i, j| values[i * columns + j])
}

fn all_finite(name: &str, inputs: &[f64]) -> Result<(), String> {
    match inputs.iter().all(|x| x.is_finite()) {
        true => Ok(()),
        false => Err(format!("`{name}` was given a value that is not finite")),
    }
}

/// A matrix that is one in one place.
fn only(rows: usize, columns: usize, at: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |i, j| {
        f64::from(u8::from(i * columns + j == at))
    })
}

fn is_symmetric(a: &Matrix) -> bool {
    let size = a.norm();
    let n = a.n_rows();
    (0..n).all(|i| (0..i).all(|j| (a[(i, j)] - a[(j, i)]).abs() <= 1e-9 * size))
}

/// Riccati's equation in steps for n states and m inputs; numbers come as A, B, Q, R, S.
#[derive(Clone, Copy, Debug)]
struct Dare {
    n: usize,
    m: usize,
}

/// A solved equation.
struct Stepped {
    p: Matrix,
    gain: Matrix,
    /// A − B K
    closed: Matrix,
}

impl Dare {
    fn split(&self, inputs: &[f64]) -> [Matrix; 5] {
        let (n, m) = (self.n, self.m);
        let (a, rest) = inputs.split_at(n * n);
        let (b, rest) = rest.split_at(n * m);
        let (q, rest) = rest.split_at(n * n);
        let (r, s) = rest.split_at(m * m);
        [
            matrix(a, n, n),
            matrix(b, n, m),
            matrix(q, n, n),
            matrix(r, m, m),
            matrix(s, n, m),
        ]
    }

    fn solve(&self, inputs: &[f64]) -> Result<Stepped, String> {
        all_finite("dare", inputs)?;
        let [a, b, q, r, s] = self.split(inputs);
        if !is_symmetric(&q) || !is_symmetric(&r) {
            return Err("`Q` and `R` of `dare` must be symmetric".to_owned());
        }
        // Without cross term: Ã = A − B R⁻¹ Sᵀ, Q̃ = Q − S R⁻¹ Sᵀ.
        let st = transpose(&s);
        let r_st = solve(&r, &st).ok_or("`R` of `dare` is singular")?;
        let plain = (a.plus(-1.0, &b.times(&r_st)), q.plus(-1.0, &s.times(&r_st)));
        let p = dare(&Regulated {
            a: &plain.0,
            b: &b,
            q: &plain.1,
            r: &r,
        });
        let no_stable = "Riccati's equation in steps has no solution that makes the loop stable";
        let p = p.map_err(|_| no_stable)?;
        let bp = transpose(&b).times(&p);
        let left = r.plus(1.0, &bp.times(&b));
        let right = bp.times(&a).plus(1.0, &st);
        let gain = solve(&left, &right).ok_or(no_stable)?;
        let closed = a.plus(-1.0, &b.times(&gain));
        Ok(Stepped { p, gain, closed })
    }
}

impl External for Dare {
    fn name(&self) -> &str {
        "dare"
    }

    fn n_inputs(&self) -> usize {
        let (n, m) = (self.n, self.m);
        2 * n * n + 2 * n * m + m * m
    }

    fn n_outputs(&self) -> usize {
        self.n * self.n
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        outputs.copy_from_slice(self.solve(inputs)?.p.values());
        Ok(())
    }

    /// dP = Fᵀ dP F + W with F = A − B K and W = Fᵀ P (dA − dB K) + (dA − dB K)ᵀ P F + dQ − dS K − Kᵀ dSᵀ + Kᵀ dR K.
    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        let (n, m, n_inputs) = (self.n, self.m, self.n_inputs());
        let Stepped { p, gain, closed } = self.solve(inputs)?;
        let fp = transpose(&closed).times(&p);
        let kt = transpose(&gain);
        let both = |half: Matrix| half.plus(1.0, &transpose(&half));
        let mut sources: Vec<Matrix> = Vec::with_capacity(n_inputs);
        sources.extend((0..n * n).map(|at| both(fp.times(&only(n, n, at)))));
        sources
            .extend((0..n * m).map(|at| both(fp.times(&only(n, m, at).times(&gain)).scaled(-1.0))));
        sources.extend((0..n * n).map(|at| both(only(n, n, at)).scaled(0.5)));
        sources
            .extend((0..m * m).map(|at| both(kt.times(&only(m, m, at).times(&gain))).scaled(0.5)));
        sources.extend((0..n * m).map(|at| both(only(n, m, at).times(&gain).scaled(-1.0))));
        for (input, w) in sources.iter().enumerate() {
            let dp =
                discrete_lyapunov(&closed, w).ok_or("the loop is at the border of stability")?;
            for (output, d) in dp.values().iter().enumerate() {
                slopes[output * n_inputs + input] = *d;
            }
        }
        Ok(())
    }
}

/// Poles placed by m inputs; numbers come as A, B, real parts, imaginary parts.
#[derive(Clone, Copy, Debug)]
struct PlacedPoles {
    n: usize,
    m: usize,
}

impl External for PlacedPoles {
    fn name(&self) -> &str {
        "place"
    }

    fn n_inputs(&self) -> usize {
        self.n * self.n + self.n * self.m + 2 * self.n
    }

    fn n_outputs(&self) -> usize {
        self.n * self.m
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        let (n, m) = (self.n, self.m);
        all_finite("place", inputs)?;
        let (a, rest) = inputs.split_at(n * n);
        let (b, rest) = rest.split_at(n * m);
        let (re, im) = rest.split_at(n);
        let poles: Vec<Complex> = re
            .iter()
            .zip(im)
            .map(|(r, i)| Complex::new(*r, *i))
            .collect();
        let k = place(&matrix(a, n, n), &matrix(b, n, m), &poles).map_err(|e| match e {
            NotPlaced::Count { .. } => unreachable!("shapes were checked"),
            NotPlaced::Unpaired => {
                "a complex pole of `place` needs its conjugate beside it".to_owned()
            }
            NotPlaced::Rounding => {
                "`place` would need gains with more than sixteen digits for these poles".to_owned()
            }
            NotPlaced::NotControllable => {
                "`place` cannot reach these poles: some mode is moved by none of the inputs"
                    .to_owned()
            }
        })?;
        outputs.copy_from_slice(k.values());
        Ok(())
    }

    /// Central differences; the step is the cube root of rounding.
    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        let (n_in, n_out) = (self.n_inputs(), self.n_outputs());
        let n_before_poles = self.n * self.n + self.n * self.m;
        let size = inputs
            .iter()
            .fold(0.0, |m: f64, x| m.max(x.abs()))
            .max(f64::MIN_POSITIVE);
        let (mut low, mut high) = (vec![0.0; n_out], vec![0.0; n_out]);

        for k in 0..n_in {
            // A zero has no size of its own, and what is tiny beside the rest would choose the scales of the states.
            let least = if inputs[k] == 0.0 { 0.3 } else { 1e-3 };
            let h = 6e-6 * inputs[k].abs().max(least * size);
            let mut moved = inputs.to_vec();
            // A real pole cannot turn complex by itself, and a pair that parts moves the gains by squares only.
            let first_imaginary = n_before_poles + self.n;
            if k >= first_imaginary && inputs[k] == 0.0 {
                (0..n_out).for_each(|output| slopes[output * n_in + k] = 0.0);
                continue;
            }
            // A complex pole moves with its conjugate; by itself it has no gains.
            let partner = (k >= n_before_poles)
                .then(|| self.partner(inputs, k))
                .flatten();
            let mut shift = |by: f64, out: &mut Vec<f64>| {
                moved[k] = inputs[k] + by;
                if let Some((at, sign)) = partner {
                    moved[at] = inputs[at] + sign * by;
                }
                self.call(&moved, out)
            };
            shift(h, &mut high)?;
            shift(-h, &mut low)?;
            let share = if partner.is_some() { 0.5 } else { 1.0 };
            for output in 0..n_out {
                slopes[output * n_in + k] = share * (high[output] - low[output]) / (2.0 * h);
            }
        }
        Ok(())
    }

    fn has_exact_slopes(&self) -> bool {
        false
    }
}

impl PlacedPoles {
    /// The input that must move with a part of a complex pole, and which way.
    fn partner(&self, inputs: &[f64], k: usize) -> Option<(usize, f64)> {
        let first = self.n * self.n + self.n * self.m;
        let (is_imaginary, own) = match k - first {
            j if j < self.n => (false, j),
            j => (true, j - self.n),
        };
        let (re, im) = inputs[first..].split_at(self.n);
        if im[own] == 0.0 {
            return None;
        }
        let other = (0..self.n).find(|&j| j != own && re[j] == re[own] && im[j] == -im[own])?;
        Some(match is_imaginary {
            false => (first + other, 1.0),
            true => (first + self.n + other, -1.0),
        })
    }
}

/// A X + X Aᵀ + Q = 0; numbers come as A, Q.
#[derive(Clone, Copy, Debug)]
struct Lyap {
    n: usize,
}

impl Lyap {
    fn solved(&self, a: &Matrix, q: &Matrix) -> Result<Matrix, String> {
        let none = "`lyap` has no solution: two eigenvalues of `A` add up to zero";
        lyapunov(&transpose(a), q).ok_or_else(|| none.to_owned())
    }
}

impl External for Lyap {
    fn name(&self) -> &str {
        "lyap"
    }

    fn n_inputs(&self) -> usize {
        2 * self.n * self.n
    }

    fn n_outputs(&self) -> usize {
        self.n * self.n
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        let n = self.n;
        all_finite("lyap", inputs)?;
        let (a, q) = (matrix(inputs, n, n), matrix(&inputs[n * n..], n, n));
        if !is_symmetric(&q) {
            return Err("`Q` of `lyap` must be symmetric".to_owned());
        }
        outputs.copy_from_slice(self.solved(&a, &q)?.values());
        Ok(())
    }

    /// A dX + dX Aᵀ + dA X + X dAᵀ + dQ = 0
    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        let (n, n_inputs) = (self.n, self.n_inputs());
        let (a, q) = (matrix(inputs, n, n), matrix(&inputs[n * n..], n, n));
        let x = self.solved(&a, &q)?;
        for input in 0..n_inputs {
            let half = match input < n * n {
                true => only(n, n, input).times(&x),
                false => only(n, n, input - n * n).scaled(0.5),
            };
            let w = half.plus(1.0, &transpose(&half));
            let dx = self.solved(&a, &w)?;
            for (output, d) in dx.values().iter().enumerate() {
                slopes[output * n_inputs + input] = *d;
            }
        }
        Ok(())
    }
}

/// e^A
#[derive(Clone, Copy, Debug)]
struct Expm {
    n: usize,
}

impl External for Expm {
    fn name(&self) -> &str {
        "expm"
    }

    fn n_inputs(&self) -> usize {
        self.n * self.n
    }

    fn n_outputs(&self) -> usize {
        self.n * self.n
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        all_finite("expm", inputs)?;
        let e = exponential(&matrix(inputs, self.n, self.n));
        if !e.is_finite() {
            return Err("the exponential of the matrix is too large for a number".to_owned());
        }
        outputs.copy_from_slice(e.values());
        Ok(())
    }

    /// The upper right block of exp([A E; 0 A]) is the change by E (Van Loan 1978).
    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        let (n, n_inputs) = (self.n, self.n * self.n);
        for input in 0..n_inputs {
            let wide = Matrix::from_fn(2 * n, 2 * n, |i, j| match (i < n, j < n) {
                (true, true) | (false, false) => inputs[(i % n) * n + j % n],
                (true, false) => f64::from(u8::from(i * n + (j - n) == input)),
                (false, true) => 0.0,
            });
            let e = exponential(&wide);
            for output in 0..n_inputs {
                slopes[output * n_inputs + input] = e[(output / n, n + output % n)];
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every slope against a central difference.
    fn slopes_agree(
        function: &dyn External,
        inputs: &[f64],
        pairs: &[(usize, usize)],
        tolerance: f64,
    ) {
        first_slopes_agree(function, inputs, (pairs, inputs.len()), tolerance);
    }

    /// The slopes by the first so many inputs.
    fn first_slopes_agree(
        function: &dyn External,
        inputs: &[f64],
        (pairs, n_varied): (&[(usize, usize)], usize),
        tolerance: f64,
    ) {
        let (n_in, n_out) = (function.n_inputs(), function.n_outputs());
        assert_eq!(inputs.len(), n_in);
        let mut slopes = vec![0.0; n_in * n_out];
        function.slopes(inputs, &mut slopes).expect("has slopes");
        let value = |x: &[f64]| {
            let mut out = vec![0.0; n_out];
            function.call(x, &mut out).expect("has a value");
            out
        };
        for k in 0..n_varied {
            let h = 1e-5;
            // Entries that belong together move together: those of symmetric matrices.
            let partner = pairs.iter().find(|p| p.0 == k).map(|p| p.1);
            let moved = |by: f64| {
                let mut x = inputs.to_vec();
                x[k] += by;
                if let Some(other) = partner {
                    x[other] += by;
                }
                value(&x)
            };
            let (high, low) = (moved(h), moved(-h));
            for output in 0..n_out {
                let mut exact = slopes[output * n_in + k];
                exact += partner.map_or(0.0, |o| slopes[output * n_in + o]);
                let difference = (high[output] - low[output]) / (2.0 * h);
                assert!(
                    (exact - difference).abs() <= tolerance * (1.0 + exact.abs()),
                    "{} {output} by {k}: {exact} {difference}",
                    function.name()
                );
            }
        }
    }

    #[test]
    fn a_scalar_plant_in_steps_follows_its_quadratic() {
        // p = a² p − (a b p + s)²/(r + b² p) + q for a = 1.2, b = 0.5, q = 2, r = 3, s = 0.1.
        let dare = Dare { n: 1, m: 1 };
        let mut p = [0.0];
        dare.call(&[1.2, 0.5, 2.0, 3.0, 0.1], &mut p)
            .expect("can be stabilised");
        let p = p[0];
        let right = 1.44 * p - (0.6 * p + 0.1_f64).powi(2) / (3.0 + 0.25 * p) + 2.0;
        assert!((p - right).abs() < 1e-13 * p, "{p} {right}");
        slopes_agree(&dare, &[1.2, 0.5, 2.0, 3.0, 0.1], &[], 1e-7);
    }

    #[test]
    fn slopes_are_those_of_the_solution() {
        let inputs = [
            1.1, 0.2, -0.1, 0.7, // A
            0.3, 1.0, // B
            2.0, 0.3, 0.3, 1.0, // Q
            1.5, // R
            0.1, -0.05, // S
        ];
        slopes_agree(&Dare { n: 2, m: 1 }, &inputs, &[(7, 8), (8, 7)], 1e-6);
        let a = [-1.0, 0.4, 0.3, -2.0, 1.0, 0.2, 0.2, 3.0];
        slopes_agree(&Lyap { n: 2 }, &a, &[(5, 6), (6, 5)], 1e-7);
        slopes_agree(&Expm { n: 2 }, &[0.3, -1.0, 2.0, 0.1], &[], 1e-8);
        let place = [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -1.0, -3.0, 0.0, 0.0];
        // Imaginary parts of real poles do not move one by one.
        first_slopes_agree(&PlacedPoles { n: 2, m: 1 }, &place, (&[], 8), 1e-7);
    }

    #[test]
    fn a_double_integrator_has_the_gains_of_its_polynomial() {
        // (s + 1 − 2i)(s + 1 + 2i) = s² + 2 s + 5.
        let place = PlacedPoles { n: 2, m: 1 };
        let mut k = [0.0; 2];
        let inputs = [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -1.0, -1.0, 2.0, -2.0];
        place.call(&inputs, &mut k).expect("can be placed");
        assert!(
            (k[0] - 5.0).abs() < 1e-12 && (k[1] - 2.0).abs() < 1e-12,
            "{k:?}"
        );
        // K = [σ² + ω², −2σ]: by σ and ω of the pair.
        let mut slopes = vec![0.0; 20];
        place.slopes(&inputs, &mut slopes).expect("has slopes");
        let by_pair = |output: usize, first: usize, sign: f64| {
            slopes[output * 10 + first] + sign * slopes[output * 10 + first + 1]
        };
        assert!((by_pair(0, 6, 1.0) - -2.0).abs() < 1e-8);
        assert!((by_pair(1, 6, 1.0) - -2.0).abs() < 1e-8);
        assert!((by_pair(0, 8, -1.0) - 4.0).abs() < 1e-8);
        let mut lonely = inputs;
        lonely[9] = 0.0;
        assert!(place.call(&lonely, &mut k).is_err());
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        let mut out = [0.0];
        // An unstable plant that no input reaches.
        assert!(
            Dare { n: 1, m: 1 }
                .call(&[2.0, 0.0, 1.0, 1.0, 0.0], &mut out)
                .is_err()
        );
        assert!(Lyap { n: 1 }.call(&[0.0, 1.0], &mut out).is_err());
        assert!(Expm { n: 1 }.call(&[1e4], &mut out).is_err());
    }
}
