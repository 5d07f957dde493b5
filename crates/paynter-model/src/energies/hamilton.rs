//! The Hamiltonian form of a graph: ẋ = (J − R) ∂H + g u, y = gᵀ ∂H.
//!
//! In:  the energies of a graph.
//! Out: H(q, p) with p = M q̇, J = [0 1; −1 −G], R = diag(0, ∂²D), g, and what can be said of J.
//!
//! G holds what gyrators do beside those of T: a magnetic field, a motor. Jacobi's identity is tested in
//! numbers, with exact derivatives.

use super::{Energies, N_POINTS, Refusal, random_value};
use paynter_symbolic::calculus::gradient;
use paynter_symbolic::evaluate::evaluate;
use paynter_symbolic::simplify::simplify;
use paynter_symbolic::walk::substitute;
use paynter_symbolic::{ExprId, SymbolId};
use rustc_hash::FxHashMap;

/// A graph in Hamiltonian form; x = (q, p).
#[derive(Clone, Debug)]
pub struct Hamiltonian {
    /// Momenta p.
    pub momenta: Vec<SymbolId>,
    /// H(q, p); none where the matrix is too large to be inverted in symbols.
    pub hamiltonian: Option<ExprId>,
    /// M(q), row by row.
    pub inertia: Vec<ExprId>,
    /// Entries of J in the block of momenta: (row, column, −G).
    pub gyroscopic: Vec<(usize, usize, ExprId)>,
    /// Entries of R in the block of momenta.
    pub resistive: Vec<(usize, usize, ExprId)>,
    /// Entries of g: (momentum, input, factor).
    pub ports: Vec<(usize, SymbolId, ExprId)>,
    /// Number of Casimirs: by how much the rank of J falls short.
    pub n_casimirs: usize,
    /// Jacobi's identity holds: brackets of brackets are consistent.
    pub is_poisson: bool,
}

/// Larger matrices are not inverted in symbols: nobody would read the result.
const MAX_INVERTED: usize = 3;

/// Makes the Hamiltonian form.
///
/// # Errors
///
/// What has no such form, in words.
pub fn hamiltonian(energies: &mut Energies) -> Result<Hamiltonian, Refusal> {
    if let Some(lock) = energies.locks.first() {
        return Err(format!(
            "`{}` is a constraint: the Hamiltonian form is for coordinates that are free (reduced by a rolling constraint it is almost Poisson: Jacobi's identity fails)",
            lock.name
        ));
    }

    if let Some(name) = energies.left_out.first() {
        return Err(format!("the energy of `{name}` has no closed form"));
    }
    let n = energies.coordinates.len();
    let inertia = energies.inertia_matrix();
    let rates: Vec<SymbolId> = energies.coordinates.iter().map(|c| c.rate).collect();
    let rest = at_rest(energies, energies.kinetic, &rates);
    let linear = gradient(&mut energies.pool, energies.kinetic, &rates);
    let is_driven = linear.iter().any(|&e| {
        let e = at_rest(energies, e, &rates);
        !is_zero(energies, e)
    });
    if is_driven || !is_zero(energies, rest) {
        return Err("a source of flow drives an inertia: the energy is not a function of the free coordinates alone".to_owned());
    }
    let next = energies.own_names.keys().map(|s| s.0).max().unwrap_or(0) + 1;
    let momenta: Vec<SymbolId> = (0..n as u32).map(|k| SymbolId(next + k)).collect();
    for (c, &p) in energies.coordinates.iter().zip(&momenta) {
        energies
            .own_names
            .insert(p, format!("p_{}", c.name.replace(['.', '[', ']'], "_")));
    }

    let gyroscopic = blocks(energies, |e, i| e.extra[i], -1.0)?;
    let losses = gradient(&mut energies.pool, energies.loss, &rates);
    let mut resistive = Vec::new();
    for (i, loss) in losses.into_iter().enumerate() {
        for (j, bend) in gradient(&mut energies.pool, loss, &rates)
            .into_iter()
            .enumerate()
        {
            let bend = simplify(&mut energies.pool, bend);
            if !is_zero(energies, bend) {
                resistive.push((i, j, bend));
            }
        }
    }

    let ports = ports(energies);
    let hamiltonian = (n <= MAX_INVERTED).then(|| total(energies, &inertia, &momenta));
    let (n_casimirs, is_poisson) = structure(energies, &gyroscopic);
    Ok(Hamiltonian {
        momenta,
        hamiltonian,
        inertia,
        gyroscopic,
        resistive,
        ports,
        n_casimirs,
        is_poisson,
    })
}

fn at_rest(energies: &mut Energies, e: ExprId, rates: &[SymbolId]) -> ExprId {
    let zero = energies.pool.number(0.0);
    substitute(&mut energies.pool, e, &|s| {
        rates.contains(&s).then_some(zero)
    })
}

fn is_zero(energies: &Energies, e: ExprId) -> bool {
    super::is_zero_somewhere_random(&energies.pool, e)
}

/// Coefficients of rates in forces that are linear in them.
fn blocks(
    energies: &mut Energies,
    force: impl Fn(&Energies, usize) -> ExprId,
    sign: f64,
) -> Result<Vec<(usize, usize, ExprId)>, Refusal> {
    let rates: Vec<SymbolId> = energies.coordinates.iter().map(|c| c.rate).collect();
    let mut found = Vec::new();
    for i in 0..rates.len() {
        let e = force(energies, i);
        for (j, slope) in gradient(&mut energies.pool, e, &rates)
            .into_iter()
            .enumerate()
        {
            let sign = energies.pool.number(sign);
            let entry = energies.pool.mul(sign, slope);
            let entry = simplify(&mut energies.pool, entry);
            if !is_zero(energies, entry) {
                found.push((i, j, entry));
            }
        }
    }
    // Gyrators that are modulated by momenta make entries that read rates; half of the slope is theirs.
    for entry in &found {
        let bends = gradient(&mut energies.pool, entry.2, &rates);
        if bends.iter().any(|&e| !is_zero(energies, e)) {
            return Err("gyrators modulated by momenta do more than Lagrange's equations ask for: there is no structure matrix of places alone".to_owned());
        }
    }
    Ok(found)
}

/// How inputs enter: forces are linear in them, or they are inputs themselves.
fn ports(energies: &mut Energies) -> Vec<(usize, SymbolId, ExprId)> {
    let mut found = Vec::new();
    for i in 0..energies.coordinates.len() {
        let (force, inputs) = (energies.forces[i], energies.inputs.clone());
        let slopes = gradient(&mut energies.pool, force, &inputs);
        for (&input, slope) in inputs.iter().zip(slopes) {
            let slope = simplify(&mut energies.pool, slope);
            if !is_zero(energies, slope) {
                found.push((i, input, slope));
            }
        }
    }
    found
}

/// ½ pᵀ M⁻¹ p + V.
fn total(energies: &mut Energies, m: &[ExprId], momenta: &[SymbolId]) -> ExprId {
    let n = momenta.len();
    let (inverse, det) = adjugate(energies, m, n);
    let mut sum = energies.pool.number(0.0);
    for i in 0..n {
        for j in 0..n {
            let (a, b) = (
                energies.pool.symbol(momenta[i]),
                energies.pool.symbol(momenta[j]),
            );
            let product = energies.pool.mul(a, b);
            let part = energies.pool.mul(inverse[i * n + j], product);
            sum = energies.pool.add(sum, part);
        }
    }
    let two = energies.pool.number(2.0);
    let det = energies.pool.mul(two, det);
    let sum = simplify(&mut energies.pool, sum);
    let det = simplify(&mut energies.pool, det);
    let kinetic = energies.pool.div(sum, det);
    let total = energies.pool.add(kinetic, energies.potential);
    simplify(&mut energies.pool, total)
}

/// Adjugate and determinant of a matrix of up to three rows.
fn adjugate(energies: &mut Energies, m: &[ExprId], n: usize) -> (Vec<ExprId>, ExprId) {
    let pool = &mut energies.pool;
    let one = pool.number(1.0);
    match n {
        1 => (vec![one], m[0]),
        2 => {
            let (a, b) = (pool.mul(m[0], m[3]), pool.mul(m[1], m[2]));
            let (x, y) = (pool.neg(m[1]), pool.neg(m[2]));
            (vec![m[3], x, y, m[0]], pool.sub(a, b))
        }
        _ => {
            let mut minor = |r: usize, c: usize| {
                let rows: Vec<usize> = (0..3).filter(|&k| k != r).collect();
                let columns: Vec<usize> = (0..3).filter(|&k| k != c).collect();
                let at = |i: usize, j: usize| m[rows[i] * 3 + columns[j]];
                let (a, b) = (pool.mul(at(0, 0), at(1, 1)), pool.mul(at(0, 1), at(1, 0)));
                let value = pool.sub(a, b);
                if (r + c).is_multiple_of(2) {
                    value
                } else {
                    pool.neg(value)
                }
            };
            let entries: Vec<ExprId> = (0..9).map(|k| minor(k % 3, k / 3)).collect();
            let mut det = pool.number(0.0);
            for j in 0..3 {
                let part = pool.mul(m[j], entries[j * 3]);
                det = pool.add(det, part);
            }
            (entries, det)
        }
    }
}

/// Casimirs and Jacobi's identity of J = [0 1; −1 −G(q)].
///
/// J is regular whatever G is, so there are no Casimirs; and Jacobi's identity says that G is closed:
/// ∂_i G_jk + ∂_j G_ki + ∂_k G_ij = 0.
fn structure(energies: &mut Energies, gyroscopic: &[(usize, usize, ExprId)]) -> (usize, bool) {
    let n = energies.coordinates.len();
    let mut entries: FxHashMap<(usize, usize), ExprId> = FxHashMap::default();
    for &(i, j, e) in gyroscopic {
        entries.insert((i, j), e);
    }
    let mut is_closed = true;
    for i in 0..n {
        for j in i + 1..n {
            for k in j + 1..n {
                let mut sum = energies.pool.number(0.0);
                for (a, b, c) in [(i, j, k), (j, k, i), (k, i, j)] {
                    if let Some(&e) = entries.get(&(b, c)) {
                        let slope = energies.slope(e, a);
                        sum = energies.pool.add(sum, slope);
                    }
                }
                is_closed &= is_zero(energies, sum);
            }
        }
    }
    let rank = rank_of_structure(energies, &entries);
    (2 * n - rank, is_closed)
}

/// The rank of J at a random point, by elimination.
fn rank_of_structure(energies: &Energies, entries: &FxHashMap<(usize, usize), ExprId>) -> usize {
    let n = energies.coordinates.len();
    let size = 2 * n;
    let mut best = 0;
    for point in 0..N_POINTS.min(3) {
        let mut a = vec![vec![0.0; size]; size];
        for i in 0..n {
            a[i][n + i] = 1.0;
            a[n + i][i] = -1.0;
        }
        for (&(i, j), &e) in entries {
            let value = evaluate(&energies.pool, e, &|s| random_value(s, point));
            a[n + i][n + j] = value.unwrap_or(0.0);
        }
        let mut rank = 0;
        for column in 0..size {
            let pivot =
                (rank..size).max_by(|&x, &y| a[x][column].abs().total_cmp(&a[y][column].abs()));
            let Some(pivot) = pivot.filter(|&p| a[p][column].abs() > 1e-10) else {
                continue;
            };
            a.swap(rank, pivot);
            let row = a[rank].clone();
            for other in a.iter_mut().skip(rank + 1) {
                let factor = other[column] / row[column];
                for (x, y) in other.iter_mut().zip(&row) {
                    *x -= factor * y;
                }
            }
            rank += 1;
        }
        best = best.max(rank);
    }
    best
}
