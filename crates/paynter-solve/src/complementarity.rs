//! Linear complementarity: which of two sides each contact of a network is on.
//!
//! In:  pairs of quantities w and z that follow from free variables a: w = W a + w₀, z = Z a + z₀.
//! Out: for every pair the side that is not zero, such that 0 ≤ w ⟂ z ≥ 0; or the pairs that prove that
//!      there is no such choice.
//!
//! First each pair gives one of its two as independent, so that the other ones follow:
//! w' = M z' + q. Where the relation between w and z is passive (wᵀz ≥ 0 for every difference of two
//! points of it) a greedy choice never gets stuck: a row that were left without a pivot would be a
//! point of the relation itself, made of chosen columns only, and these are independent. M is then
//! positive semidefinite, and Lemke's method with a lexicographic rule against degeneracy ends with a
//! solution or with a ray that proves that there is none (Cottle, Pang & Stone 1992, §4.4).
//!
//! **Invariant:** the columns of the sides chosen are independent: the network with these sides set to
//! zero has one solution.

/// w = W a + w₀ and z = Z a + z₀, matrices by rows.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// W.
    pub w: Vec<f64>,
    /// w₀.
    pub w0: Vec<f64>,
    /// Z.
    pub z: Vec<f64>,
    /// z₀.
    pub z0: Vec<f64>,
}

/// What a complementarity problem comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Complement {
    /// Some choice solves it.
    Solution {
        /// For each pair: whether w is zero and z is free (true), or z is zero and w is free (false).
        carries: Vec<bool>,
        /// The free variables there.
        a: Vec<f64>,
    },
    /// No choice solves it; these pairs together prove that.
    None(Vec<usize>),
    /// The relation is not passive, or its numbers are beyond telling.
    Unclear,
}

/// A pivot below this share of the largest entry that it was computed from is a zero that rounding has moved.
const LEAST_PIVOT: f64 = 1e-11;
/// Ratios that agree to this share are equal: the lexicographic rule decides.
const SAME_RATIO: f64 = 1e-12;
/// Lemke's method takes about as many pivots as there are pairs; the worst case is exponential.
const MOST_PIVOTS: usize = 50;

/// Finds sides with 0 ≤ w ⟂ z ≥ 0. Values of q below `noise` are zero.
///
/// # Panics
///
/// If the sizes of the matrices do not fit together.
pub fn complement(pairs: &Pairs, noise: f64) -> Complement {
    let Some(hybrid) = Hybrid::new(pairs) else {
        return Complement::Unclear;
    };
    let carries = match lemke(&hybrid.m, &hybrid.q, noise) {
        Lemke::Solution(is_swapped) => is_swapped,
        Lemke::Ray(rows) => return Complement::None(rows),
        Lemke::Unclear => return Complement::Unclear,
    };
    let sides = carries.iter().zip(&hybrid.z_is_independent);
    // Independent quantities are zero where Lemke has not taken them in.
    let carries: Vec<bool> = sides.map(|(&taken, &z)| taken == z).collect();
    match pairs.solve(&carries) {
        Some(a) => Complement::Solution { carries, a },
        None => Complement::Unclear,
    }
}

impl Pairs {
    /// Gives the free variables at which one of each pair is zero; none if these do not fix them.
    fn solve(&self, carries: &[bool]) -> Option<Vec<f64>> {
        let n = carries.len();
        let mut t = Vec::with_capacity(n * n);
        let mut rest = Vec::with_capacity(n);
        for (k, &w_is_zero) in carries.iter().enumerate() {
            let (rows, constants) = match w_is_zero {
                true => (&self.w, &self.w0),
                false => (&self.z, &self.z0),
            };
            t.extend_from_slice(&rows[k * n..(k + 1) * n]);
            rest.push(constants[k]);
        }

        // Each exchange makes one variable follow from rows that are zero: its constant is then its value.
        let mut a = vec![0.0; n];
        let mut order: Vec<Option<usize>> = vec![None; n];
        for _ in 0..n {
            let free = |list: &[Option<usize>], c: usize| !list.contains(&Some(c));
            let mut best = (0.0, 0, 0);
            for row in (0..n).filter(|&row| order[row].is_none()) {
                for column in (0..n).filter(|&c| free(&order, c)) {
                    let pivot = t[row * n + column].abs();
                    if pivot > best.0 {
                        best = (pivot, row, column);
                    }
                }
            }
            let (pivot, row, column) = best;
            if !(pivot.is_finite() && pivot > 0.0) {
                return None;
            }
            eliminate(&mut t, &mut rest, n, (row, column));
            order[row] = Some(column);
        }
        for (row, column) in order.iter().enumerate() {
            a[(*column)?] = -rest[row];
        }
        a.iter().all(|a| a.is_finite()).then_some(a)
    }
}

/// Makes a pivot one and the rest of its column zero.
fn eliminate(t: &mut [f64], rest: &mut [f64], n: usize, (row, column): (usize, usize)) {
    let pivot = t[row * n + column];
    for entry in &mut t[row * n..(row + 1) * n] {
        *entry /= pivot;
    }
    rest[row] /= pivot;
    let own: Vec<f64> = t[row * n..(row + 1) * n].to_vec();
    for i in (0..n).filter(|&i| i != row) {
        let factor = t[i * n + column];
        for (entry, own) in t[i * n..(i + 1) * n].iter_mut().zip(&own) {
            *entry -= factor * own;
        }
        t[i * n + column] = 0.0;
        rest[i] -= factor * rest[row];
    }
}

/// One of each pair in terms of the others: w' = M z' + q.
struct Hybrid {
    m: Vec<f64>,
    q: Vec<f64>,
    /// For each pair whether z is among the independent ones, rather than w.
    z_is_independent: Vec<bool>,
}

impl Hybrid {
    /// Exchanges every free variable for one quantity of a pair of its own, the largest pivot first.
    fn new(pairs: &Pairs) -> Option<Self> {
        let n = pairs.w0.len();
        assert_eq!(pairs.z0.len(), n);
        assert_eq!((pairs.w.len(), pairs.z.len()), (n * n, n * n));
        // Rows are w then z; columns are the free variables, later what has taken their places.
        let mut t: Vec<f64> = pairs.w.iter().chain(&pairs.z).copied().collect();
        let mut rest: Vec<f64> = pairs.w0.iter().chain(&pairs.z0).copied().collect();
        let mut is_chosen = vec![false; n];
        let mut column_of = vec![None; 2 * n];
        let mut is_taken = vec![false; n];
        let size = t.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
        for _ in 0..n {
            let mut best = (LEAST_PIVOT * size, 0, 0);
            for row in (0..2 * n).filter(|row| !is_chosen[row % n]) {
                for column in (0..n).filter(|&c| !is_taken[c]) {
                    let pivot = t[row * n + column].abs();
                    if pivot > best.0 {
                        best = (pivot, row, column);
                    }
                }
            }
            let (pivot, row, column) = best;
            if !(pivot.is_finite() && pivot > LEAST_PIVOT * size) {
                return None;
            }
            exchange(&mut t, &mut rest, n, (row, column));
            is_chosen[row % n] = true;
            is_taken[column] = true;
            column_of[row] = Some(column);
        }

        let z_is_independent: Vec<bool> = (0..n).map(|k| column_of[n + k].is_some()).collect();
        let mut m = vec![0.0; n * n];
        let mut q = vec![0.0; n];
        for k in 0..n {
            let row = if z_is_independent[k] { k } else { n + k };
            q[k] = rest[row];
            for j in 0..n {
                let independent = if z_is_independent[j] { n + j } else { j };
                let column = column_of[independent]?;
                m[k * n + j] = t[row * n + column];
            }
        }
        Some(Hybrid {
            m,
            q,
            z_is_independent,
        })
    }
}

/// Solves row `row` of y = T x + r for x of `column` and puts it into the other rows; the row's own
/// quantity takes the column's place.
fn exchange(t: &mut [f64], rest: &mut [f64], n: usize, (row, column): (usize, usize)) {
    let pivot = t[row * n + column];
    let own: Vec<f64> = t[row * n..(row + 1) * n].to_vec();
    let own_rest = rest[row];
    for i in 0..rest.len() {
        let factor = t[i * n + column] / pivot;
        if i == row || factor == 0.0 {
            continue;
        }
        for j in 0..n {
            t[i * n + j] -= factor * own[j];
        }
        t[i * n + column] = factor;
        rest[i] -= factor * own_rest;
    }
    t[row * n..(row + 1) * n].fill(0.0);
    t[row * n + column] = 1.0;
    rest[row] = 0.0;
}

enum Lemke {
    /// For each pair whether z' is in the basis.
    Solution(Vec<bool>),
    /// Pairs whose z' grow along the ray.
    Ray(Vec<usize>),
    Unclear,
}

/// Lemke's method for w = M z + q.
fn lemke(m: &[f64], q: &[f64], noise: f64) -> Lemke {
    let n = q.len();
    let mut tableau = Tableau::new(m, q, noise);
    let worst = (0..n).filter(|&k| tableau.right(k) < 0.0).reduce(|a, b| {
        if tableau.is_before(b, a, |_| 1.0) {
            b
        } else {
            a
        }
    });
    let Some(worst) = worst else {
        return Lemke::Solution(vec![false; n]);
    };
    let mut left = tableau.pivot(worst, tableau.artificial());
    for _ in 0..MOST_PIVOTS * (n + 2) {
        let entering = if left < n { left + n } else { left - n };
        let Some(row) = tableau.leaving(entering) else {
            return Lemke::Ray(tableau.ray(entering));
        };
        left = tableau.pivot(row, entering);
        if left == tableau.artificial() {
            let is_in = |k: usize| tableau.basis.contains(&(n + k));
            return Lemke::Solution((0..n).map(is_in).collect());
        }
    }
    Lemke::Unclear
}

/// w − M z − d z₀ = q. Columns: w, z, the artificial variable, the right side.
struct Tableau {
    n: usize,
    rows: Vec<f64>,
    /// The variable of each row.
    basis: Vec<usize>,
    /// What entries of a column are small against.
    sizes: Vec<f64>,
}

impl Tableau {
    fn new(m: &[f64], q: &[f64], noise: f64) -> Self {
        let n = q.len();
        let width = 2 * n + 2;
        let mut rows = vec![0.0; n * width];
        let mut sizes = vec![1.0; width];
        for k in 0..n {
            let row = &mut rows[k * width..(k + 1) * width];
            row[k] = 1.0;
            for j in 0..n {
                row[n + j] = -m[k * n + j];
                sizes[n + j] = f64::max(sizes[n + j], m[k * n + j].abs());
            }
            row[2 * n] = -1.0;
            row[2 * n + 1] = if q[k].abs() <= noise { 0.0 } else { q[k] };
        }
        Tableau {
            n,
            rows,
            basis: (0..n).collect(),
            sizes,
        }
    }

    fn width(&self) -> usize {
        2 * self.n + 2
    }

    fn artificial(&self) -> usize {
        2 * self.n
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.rows[row * self.width() + column]
    }

    fn right(&self, row: usize) -> f64 {
        self.at(row, 2 * self.n + 1)
    }

    /// Compares two rows, each divided by its own number, by right side and then by the columns of w: these are
    /// the perturbation q + (ε, ε², …) that breaks ties the same way all along.
    fn is_before(&self, a: usize, b: usize, divisor: impl Fn(usize) -> f64) -> bool {
        let (da, db) = (divisor(a), divisor(b));
        let columns = std::iter::once(2 * self.n + 1).chain(0..self.n);
        for column in columns {
            let (x, y) = (self.at(a, column) / da, self.at(b, column) / db);
            if (x - y).abs() > SAME_RATIO * x.abs().max(y.abs()) {
                return x < y;
            }
        }
        false
    }

    /// The row whose variable reaches zero first as a column enters; none if none does.
    fn leaving(&self, entering: usize) -> Option<usize> {
        let least = LEAST_PIVOT * self.sizes[entering];
        let rows = (0..self.n).filter(|&row| self.at(row, entering) > least);
        let first = rows.reduce(|a, b| {
            let before = self.is_before(b, a, |row| self.at(row, entering));
            if before { b } else { a }
        })?;
        // The artificial variable leaves as soon as it can.
        let ratio = |row: usize| self.right(row) / self.at(row, entering);
        let own = (0..self.n).find(|&row| self.basis[row] == self.artificial());
        let own = own.filter(|&row| {
            self.at(row, entering) > least
                && ratio(row) <= ratio(first) + SAME_RATIO * ratio(first).abs()
        });
        Some(own.unwrap_or(first))
    }

    /// Takes a column into the basis; gives the variable that leaves.
    fn pivot(&mut self, row: usize, column: usize) -> usize {
        let width = self.width();
        let pivot = self.at(row, column);
        for entry in &mut self.rows[row * width..(row + 1) * width] {
            *entry /= pivot;
        }
        let own: Vec<f64> = self.rows[row * width..(row + 1) * width].to_vec();
        for i in (0..self.n).filter(|&i| i != row) {
            let factor = self.rows[i * width + column];
            if factor == 0.0 {
                continue;
            }
            for (j, (entry, own)) in self.rows[i * width..(i + 1) * width]
                .iter_mut()
                .zip(&own)
                .enumerate()
            {
                let part = factor * own;
                let sum = *entry - part;
                // What cancels to the last digits is zero.
                let is_noise = sum.abs() <= 1e-14 * entry.abs().max(part.abs());
                *entry = if is_noise || j == column { 0.0 } else { sum };
            }
        }
        std::mem::replace(&mut self.basis[row], column)
    }

    /// Pairs whose z grow without end along the column that nothing stops.
    fn ray(&self, entering: usize) -> Vec<usize> {
        let n = self.n;
        let least = LEAST_PIVOT * self.sizes[entering];
        let rows = (0..n).filter(|&row| self.at(row, entering) < -least);
        let growing = rows.map(|row| self.basis[row]);
        let mut pairs: Vec<usize> = growing
            .chain([entering])
            .filter(|v| (n..2 * n).contains(v))
            .map(|v| v - n)
            .collect();
        pairs.sort_unstable();
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of a fixed sequence in (−1, 1): a linear congruential generator (Knuth's MMIX).
    struct Sequence(u64);

    impl Sequence {
        fn next(&mut self) -> f64 {
            let (a, c) = (6_364_136_223_846_793_005, 1_442_695_040_888_963_407);
            self.0 = self.0.wrapping_mul(a).wrapping_add(c);
            (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    /// w = M z + q as pairs, with a = z.
    fn plain(m: &[f64], q: &[f64]) -> Pairs {
        let n = q.len();
        let mut z = vec![0.0; n * n];
        for k in 0..n {
            z[k * n + k] = 1.0;
        }
        Pairs {
            w: m.to_vec(),
            w0: q.to_vec(),
            z,
            z0: vec![0.0; n],
        }
    }

    /// M = G Gᵀ of given rank plus a skew part.
    fn semidefinite(random: &mut Sequence, n: usize, rank: usize) -> Vec<f64> {
        let g: Vec<f64> = (0..n * rank).map(|_| random.next()).collect();
        let mut m = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                m[i * n + j] = (0..rank).map(|k| g[i * rank + k] * g[j * rank + k]).sum();
            }
        }
        for i in 0..n {
            for j in 0..i {
                let skew = random.next();
                m[i * n + j] += skew;
                m[j * n + i] -= skew;
            }
        }
        m
    }

    /// w and z with the sides given; none if they are not fixed by them.
    fn solve(m: &[f64], q: &[f64], carries: &[bool]) -> Option<(Vec<f64>, Vec<f64>)> {
        let n = q.len();
        let on: Vec<usize> = (0..n).filter(|&k| carries[k]).collect();
        let size = on.len();
        let mut a: Vec<Vec<f64>> = on
            .iter()
            .map(|&i| {
                let row = on.iter().map(|&j| m[i * n + j]);
                row.chain([-q[i]]).collect()
            })
            .collect();
        for k in 0..size {
            let best = (k..size).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
            a.swap(k, best);
            if a[k][k].abs() < 1e-10 {
                return None;
            }
            for i in (0..size).filter(|&i| i != k) {
                let factor = a[i][k] / a[k][k];
                let own = a[k].clone();
                for (x, y) in a[i].iter_mut().zip(own) {
                    *x -= factor * y;
                }
            }
        }
        let mut z = vec![0.0; n];
        for (k, &i) in on.iter().enumerate() {
            z[i] = a[k][size] / a[k][k];
        }
        let w = (0..n)
            .map(|i| q[i] + (0..n).map(|j| m[i * n + j] * z[j]).sum::<f64>())
            .collect();
        Some((w, z))
    }

    fn is_solution(m: &[f64], q: &[f64], carries: &[bool]) -> bool {
        let at_least = |x: &[f64]| x.iter().all(|&x| x >= -1e-8);
        solve(m, q, carries).is_some_and(|(w, z)| at_least(&w) && at_least(&z))
    }

    #[test]
    fn passive_problems_are_solved_exactly_where_some_choice_solves_them() {
        let mut random = Sequence(1);
        let (mut solved, mut refused) = (0, 0);
        for case in 0..3000 {
            let n = 1 + case % 7;
            let m = semidefinite(&mut random, n, case % (n + 1));
            let q: Vec<f64> = (0..n)
                .map(|_| {
                    let x = random.next();
                    // Zeros make it degenerate.
                    if case % 3 == 0 && x > 0.3 { 0.0 } else { x }
                })
                .collect();
            let choices = 0..1_u32 << n;
            let sides = |mask: u32| (0..n).map(|k| mask & (1 << k) != 0).collect::<Vec<bool>>();
            let is_solvable = choices
                .into_iter()
                .any(|mask| is_solution(&m, &q, &sides(mask)));
            match complement(&plain(&m, &q), 1e-13) {
                Complement::Solution { carries, .. } => {
                    assert!(is_solution(&m, &q, &carries), "case {case}");
                    solved += 1;
                }
                Complement::None(pairs) => {
                    assert!(!is_solvable, "case {case}");
                    assert!(!pairs.is_empty());
                    refused += 1;
                }
                Complement::Unclear => panic!("case {case}"),
            }
        }
        assert!(solved > 1000 && refused > 100, "{solved} {refused}");
    }

    #[test]
    fn any_description_of_the_ports_gives_the_same() {
        // The same relation in other variables: a = S b + c with S regular, pairs swapped at random.
        let mut random = Sequence(7);
        for case in 0..500 {
            let n = 1 + case % 6;
            let m = semidefinite(&mut random, n, n);
            let q: Vec<f64> = (0..n).map(|_| random.next()).collect();
            let Complement::Solution { carries, .. } = complement(&plain(&m, &q), 0.0) else {
                panic!("a definite problem has a solution");
            };
            let pairs = plain(&m, &q);
            let s: Vec<f64> = (0..n * n).map(|_| random.next()).collect();
            let c: Vec<f64> = (0..n).map(|_| random.next()).collect();
            let times = |t: &[f64]| -> Vec<f64> {
                (0..n * n)
                    .map(|at| (0..n).map(|k| t[at / n * n + k] * s[k * n + at % n]).sum())
                    .collect()
            };
            let moved = |t: &[f64], r: &[f64]| -> Vec<f64> {
                (0..n)
                    .map(|i| r[i] + (0..n).map(|k| t[i * n + k] * c[k]).sum::<f64>())
                    .collect()
            };
            let other = Pairs {
                w: times(&pairs.w),
                w0: moved(&pairs.w, &pairs.w0),
                z: times(&pairs.z),
                z0: moved(&pairs.z, &pairs.z0),
            };
            let Complement::Solution { carries: again, a } = complement(&other, 0.0) else {
                panic!("case {case}");
            };
            assert_eq!(again, carries, "case {case}");
            // The zero side of each pair is zero there.
            for k in 0..n {
                let row = if carries[k] { &other.w } else { &other.z };
                let rest = if carries[k] { &other.w0 } else { &other.z0 };
                let value: f64 = (0..n).map(|j| row[k * n + j] * a[j]).sum();
                assert!((value + rest[k]).abs() < 1e-6, "case {case}");
            }
        }
    }

    #[test]
    fn two_shorts_in_parallel_share_in_one_way() {
        // Two ideal diodes in parallel that carry 1 A together: one of them is enough.
        // w₁ = w₂ (equal efforts), z₁ + z₂ = 1, with free variables e and z₁.
        let pairs = Pairs {
            w: vec![-1.0, 0.0, -1.0, 0.0],
            w0: vec![0.0, 0.0],
            z: vec![0.0, 1.0, 0.0, -1.0],
            z0: vec![0.0, 1.0],
        };
        let Complement::Solution { carries, .. } = complement(&pairs, 0.0) else {
            panic!("it has solutions");
        };
        assert_eq!(carries.iter().filter(|&&c| c).count(), 1);
    }

    #[test]
    fn a_source_against_a_contact_is_refused() {
        // A flow of −1 that nothing else can take.
        let pairs = Pairs {
            w: vec![1.0],
            w0: vec![0.0],
            z: vec![0.0],
            z0: vec![-1.0],
        };
        assert_eq!(complement(&pairs, 0.0), Complement::None(vec![0]));
    }
}
