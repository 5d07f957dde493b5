//! Linear descriptor systems E ẋ + A x = b(t), solved densely and knowing nothing of bond graphs.
//!
//! In:  E, A and a right-hand side.
//! Out: rank and null space of the pencil s E + A; x at the end of a time, by collocation at Radau points.

/// A dense matrix, row by row.
pub type Matrix = Vec<Vec<f64>>;

/// A pivot this small in a matrix with entries around 1 is what rounding leaves of zero: sums of a few
/// dozen numbers with three digits never come that close to zero by chance.
const ZERO_PIVOT: f64 = 1e-9;

/// Elimination with complete pivoting: (rank, basis of {x: M x = 0}).
pub fn null_space(mut m: Matrix) -> (usize, Vec<Vec<f64>>) {
    let n = m.first().map_or(0, Vec::len);
    let mut columns: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    while rank < m.len() && rank < n {
        let mut best = (rank, rank);
        for i in rank..m.len() {
            for j in rank..n {
                if m[i][columns[j]].abs() > m[best.0][columns[best.1]].abs() {
                    best = (i, j);
                }
            }
        }
        if m[best.0][columns[best.1]].abs() <= ZERO_PIVOT {
            break;
        }
        m.swap(rank, best.0);
        columns.swap(rank, best.1);
        let pivot = m[rank].clone();
        for (i, row) in m.iter_mut().enumerate().filter(|(i, _)| *i != rank) {
            let factor = row[columns[rank]] / pivot[columns[rank]];
            if factor != 0.0 {
                row.iter_mut()
                    .zip(&pivot)
                    .for_each(|(x, p)| *x -= factor * p);
            }
            let _ = i;
        }
        rank += 1;
    }
    let basis = columns[rank..].iter().map(|&free| {
        let mut x = vec![0.0; n];
        x[free] = 1.0;
        for (row, &column) in m.iter().zip(&columns[..rank]) {
            x[column] = -row[free] / row[column];
        }
        x
    });
    (rank, basis.collect())
}

/// s E + A.
pub fn pencil(e: &Matrix, a: &Matrix, s: f64) -> Matrix {
    let row = |(e, a): (&Vec<f64>, &Vec<f64>)| e.iter().zip(a).map(|(e, a)| s * e + a).collect();
    e.iter().zip(a).map(row).collect()
}

pub fn transposed(m: &Matrix) -> Matrix {
    let n = m.first().map_or(0, Vec::len);
    (0..n)
        .map(|j| m.iter().map(|row| row[j]).collect())
        .collect()
}

/// LU with partial pivoting, kept for many right-hand sides.
pub struct Factors {
    lu: Matrix,
    order: Vec<usize>,
}

impl Factors {
    pub fn new(mut m: Matrix) -> Factors {
        let n = m.len();
        let mut order: Vec<usize> = (0..n).collect();
        for k in 0..n {
            let p = (k..n)
                .max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs()))
                .unwrap_or(k);
            m.swap(k, p);
            order.swap(k, p);
            let pivot = m[k].clone();
            for row in &mut m[k + 1..] {
                row[k] /= pivot[k];
                let factor = row[k];
                if factor != 0.0 {
                    row[k + 1..]
                        .iter_mut()
                        .zip(&pivot[k + 1..])
                        .for_each(|(x, p)| *x -= factor * p);
                }
            }
        }
        Factors { lu: m, order }
    }

    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = self.order.iter().map(|&i| b[i]).collect();
        for i in 0..x.len() {
            x[i] -= (0..i).map(|j| self.lu[i][j] * x[j]).sum::<f64>();
        }
        for i in (0..x.len()).rev() {
            let sum: f64 = (i + 1..x.len()).map(|j| self.lu[i][j] * x[j]).sum();
            x[i] = (x[i] - sum) / self.lu[i][i];
        }
        x
    }
}

/// Stages of the collocation: order 9 for ordinary equations, 4 for what has index 3
/// (Hairer & Wanner, *Solving ODEs II*, §VI.1 and VII.4).
const STAGES: usize = 5;

/// Integrates from x = 0 at t = 0, with `n_steps` equal steps of Radau IIA.
pub fn integrate(
    e: &Matrix,
    a: &Matrix,
    b: &dyn Fn(f64) -> Vec<f64>,
    stop: f64,
    n_steps: usize,
) -> Vec<f64> {
    let n = e.len();
    let h = stop / n_steps as f64;
    let nodes = radau_points();
    let slopes = differentiation(&nodes);
    let mut whole = vec![vec![0.0; STAGES * n]; STAGES * n];
    for i in 0..STAGES {
        for j in 0..STAGES {
            for row in 0..n {
                for column in 0..n {
                    let mut value = slopes[i + 1][j + 1] / h * e[row][column];
                    if i == j {
                        value += a[row][column];
                    }
                    whole[i * n + row][j * n + column] = value;
                }
            }
        }
    }
    let factors = Factors::new(whole);
    let mut x = vec![0.0; n];
    for step in 0..n_steps {
        let mut right = Vec::with_capacity(STAGES * n);
        for i in 1..=STAGES {
            let given = b((step as f64 + nodes[i]) * h);
            for row in 0..n {
                let start: f64 = e[row].iter().zip(&x).map(|(e, x)| e * x).sum();
                right.push(given[row] - slopes[i][0] / h * start);
            }
        }
        x = factors.solve(&right)[(STAGES - 1) * n..].to_vec();
    }
    x
}

/// 0 and the right Radau points of (0, 1]: zeros of P₅ − P₄ on (−1, 1], moved.
fn radau_points() -> Vec<f64> {
    let legendre = |x: f64| {
        let (mut before, mut now) = (1.0, x);
        for k in 1..STAGES {
            let k = k as f64;
            (before, now) = (now, ((2.0 * k + 1.0) * x * now - k * before) / (k + 1.0));
        }
        now - before
    };
    let mut nodes = vec![0.0];
    // Sign changes on a fine grid, then bisection; the last zero is x = 1 itself.
    let grid = 2000;
    let at = |i: usize| -1.0 + 2.0 * i as f64 / grid as f64;
    for i in 0..grid - 1 {
        let (mut low, mut high) = (at(i), at(i + 1));
        if legendre(low) * legendre(high) >= 0.0 {
            continue;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if legendre(low) * legendre(middle) <= 0.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        nodes.push(0.25 * (low + high) + 0.5);
    }
    nodes.push(1.0);
    assert_eq!(nodes.len(), STAGES + 1);
    nodes
}

/// Slopes at each node of the polynomials that are 1 at one node and 0 at the others.
fn differentiation(nodes: &[f64]) -> Matrix {
    let n = nodes.len();
    let mut d = vec![vec![0.0; n]; n];
    for j in 0..n {
        let others = || (0..n).filter(move |&k| k != j);
        let scale: f64 = others().map(|k| nodes[j] - nodes[k]).product();
        for (i, row) in d.iter_mut().enumerate() {
            for left_out in others() {
                let product: f64 = others()
                    .filter(|&k| k != left_out)
                    .map(|k| nodes[i] - nodes[k])
                    .product();
                row[j] += product / scale;
            }
        }
    }
    d
}
