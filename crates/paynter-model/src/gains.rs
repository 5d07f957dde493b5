//! Gains of the loops that close through dependent storages (class-1 causal paths).
//!
//! In:  a bond graph with its strokes, and its equations.
//! Out: [`LoopGains`]: every class-1 path between a storage in integral and one in derivative form with its gain as a formula in the
//!      pool of the equations; the moduli of all paths, from which [`LoopGains::radius`] has the gain of all loops together.
//!
//! A dependent inertia J moves with n times the flow of an independent one, I, and loads it with n J n f': the loop from I over J back to I has
//! the gain n² J/I (Tiernego & van Dixhoorn 1979). Loops that share a storage act together: the gain of all of them is the largest
//! eigenvalue of (M − N'SN)⁻¹ N'SN, with M the inertias at the independent flows, S those that are looked at, and N the moduli.
//!
//! **Invariant:** storages with several ports, and independent junctions without a storage of their own, have no gain here; what depends on
//! them is listed in `unknown`, never left out silently.

use crate::causality::{Causality, LinkKind, Links, draw_links};
use crate::graph::{BondGraph, ElementId, ElementKind, End, Memory};
use paynter_symbolic::calculus::derivative;
use paynter_symbolic::expr::Node;
use paynter_symbolic::simplify::simplify;
use paynter_symbolic::{Dae, ExprId, Pool, SymbolId};
use rustc_hash::FxHashMap;

/// One class-1 path, there and back.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassOne {
    /// The storage in integral form, by its position in [`LoopGains::independent`].
    pub independent: usize,
    /// The storage in derivative form, by its position in [`LoopGains::dependent`].
    pub dependent: usize,
    /// Elements on the way, from the independent to the dependent storage.
    pub through: Vec<ElementId>,
    /// What a flow (or effort) is multiplied by on the way.
    pub modulus: ExprId,
    /// modulus² times the slopes of both laws.
    pub gain: ExprId,
}

/// A storage of a class-1 path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stored {
    /// Which.
    pub element: ElementId,
    /// Its momentum or displacement.
    pub state: SymbolId,
    /// Its inertia or capacitance: the slope of its law.
    pub slope: ExprId,
}

/// All class-1 paths of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopGains {
    /// Every path.
    pub paths: Vec<ClassOne>,
    /// Storages in integral form on these paths.
    pub independent: Vec<Stored>,
    /// Storages in derivative form on these paths.
    pub dependent: Vec<Stored>,
    /// Sum of the moduli of all paths, by dependent and independent storage; none where no path leads.
    pub moduli: Vec<Vec<Option<ExprId>>>,
    /// For each independent storage, the gains of the loops over all dependent ones added up.
    pub totals: Vec<ExprId>,
    /// Dependent storages whose gains have no formula.
    pub unknown: Vec<ElementId>,
}

/// Paths beyond which nobody reads on.
const MOST_PATHS: usize = 500;
/// Steps of the search before it is stopped.
const MOST_STEPS: usize = 200_000;

/// Finds all class-1 paths with their gains. Expressions are added to the pool of `dae`.
pub fn loop_gains(graph: &BondGraph, causality: &Causality, dae: &mut Dae) -> LoopGains {
    let solver = dae.equations.iter().enumerate().filter_map(|(k, e)| {
        let target = e.solves.or(dae.pool.as_symbol(e.left))?;
        Some((target, k))
    });
    let solver = solver.collect();
    let mut search = Search {
        graph,
        links: draw_links(graph, causality),
        solver,
        dae,
        found: LoopGains::default(),
        n_steps: 0,
    };
    for dependent in &causality.dependent {
        search.trace(dependent.storage);
    }
    search.add_up();
    search.found
}

struct Search<'a> {
    graph: &'a BondGraph,
    links: Links,
    /// The equation that causality solves for each symbol.
    solver: FxHashMap<SymbolId, usize>,
    dae: &'a mut Dae,
    found: LoopGains,
    n_steps: usize,
}

/// A way back from a dependent storage: the symbols from its input on, and the elements between.
#[derive(Clone, Default)]
struct Way {
    symbols: Vec<SymbolId>,
    elements: Vec<ElementId>,
}

impl Search<'_> {
    /// Follows the input of a dependent storage back to the storages that set it.
    fn trace(&mut self, storage: End) {
        let element = self.graph.element(storage.element);
        let (&[state], &[bond]) = (&element.states[..], &element.ports[..]) else {
            return self.give_up(storage.element);
        };
        let bond = self.graph.bond(bond);
        let input = match element.memory(0) {
            Some(Memory::Momentum) => bond.flow,
            _ => bond.effort,
        };
        let Some(slope) = self.slope(state, input) else {
            return self.give_up(storage.element);
        };
        let Some(ways) = self.ways(input) else {
            return self.give_up(storage.element);
        };
        if ways.is_empty() {
            return; // Sources alone set it: no loop.
        }
        let dependent = self.found.dependent.len();
        self.found.dependent.push(Stored {
            element: storage.element,
            state,
            slope,
        });

        for (giver, way) in ways {
            if self.add(giver, dependent, &way).is_none() {
                self.found.paths.retain(|p| p.dependent != dependent);
                self.found.dependent.truncate(dependent);
                return self.give_up(storage.element);
            }
        }
    }

    fn give_up(&mut self, element: ElementId) {
        if self.found.unknown.last() != Some(&element) {
            self.found.unknown.push(element);
        }
    }

    /// All ways back to storages in integral form; none if a way ends elsewhere than at a storage with one port or a source.
    fn ways(&mut self, input: SymbolId) -> Option<Vec<(ElementId, Way)>> {
        let mut found = Vec::new();
        let start = Way {
            symbols: vec![input],
            elements: Vec::new(),
        };
        let mut open = vec![start];
        while let Some(way) = open.pop() {
            self.n_steps += 1;
            if self.n_steps > MOST_STEPS || self.found.paths.len() + found.len() > MOST_PATHS {
                return None;
            }
            let at = *way.symbols.last()?;
            let links = &self.links;
            let before: Vec<_> = links.into(at).collect();
            for link in before {
                let Some(by) = link.by else { continue };
                match self.graph.element(by).kind {
                    // An independent junction without a storage has nothing to divide by.
                    _ if link.kind == LinkKind::Integration => return None,
                    _ if !matches!(link.kind, LinkKind::Copy | LinkKind::Algebra) => {}
                    kind if kind.is_storage() => {
                        if self.graph.element(by).states.len() != 1 {
                            return None;
                        }
                        found.push((by, way.clone()));
                    }
                    ElementKind::Zero | ElementKind::One | ElementKind::Tf | ElementKind::Gy
                        if !way.symbols.contains(&link.from) =>
                    {
                        let mut longer = way.clone();
                        longer.symbols.push(link.from);
                        longer.elements.push(by);
                        open.push(longer);
                    }
                    // A way does not cross itself; over a resistor the way back is another one: no path of class 1.
                    _ => {}
                }
            }
        }
        Some(found)
    }

    /// Adds the path of a way back; none if a step has no formula.
    fn add(&mut self, giver: ElementId, dependent: usize, way: &Way) -> Option<()> {
        let state = *self.graph.element(giver).states.first()?;
        let given = *way.symbols.last()?;
        let independent = match self.found.independent.iter().position(|s| s.state == state) {
            Some(known) => known,
            None => {
                let compliance = self.slope(given, state)?;
                let one = self.dae.pool.number(1.0);
                let slope = self.dae.pool.div(one, compliance);
                let slope = simplify(&mut self.dae.pool, slope);
                self.found.independent.push(Stored {
                    element: giver,
                    state,
                    slope,
                });
                self.found.independent.len() - 1
            }
        };

        let mut modulus = self.dae.pool.number(1.0);
        for pair in way.symbols.windows(2) {
            let slope = self.slope(pair[0], pair[1])?;
            modulus = self.dae.pool.mul(slope, modulus);
        }
        let gain = self.gain(independent, dependent, modulus);
        let mut through: Vec<ElementId> = way.elements.iter().rev().copied().collect();
        through.dedup();
        self.found.paths.push(ClassOne {
            independent,
            dependent,
            through,
            modulus,
            gain,
        });
        Some(())
    }

    /// modulus² S/I.
    fn gain(&mut self, independent: usize, dependent: usize, modulus: ExprId) -> ExprId {
        let pool = &mut self.dae.pool;
        let square = squared(pool, modulus);
        let there = pool.mul(self.found.dependent[dependent].slope, square);
        let gain = pool.div(there, self.found.independent[independent].slope);
        simplify(pool, gain)
    }

    /// ∂target/∂from by the equation that causality solves for the target.
    fn slope(&mut self, target: SymbolId, from: SymbolId) -> Option<ExprId> {
        let equation = self.dae.equations[*self.solver.get(&target)?];
        let pool = &mut self.dae.pool;
        let slope = if pool.as_symbol(equation.left) == Some(target) {
            derivative(pool, equation.right, from)
        } else {
            let residual = pool.sub(equation.left, equation.right);
            let (by_from, own) = (
                derivative(pool, residual, from),
                derivative(pool, residual, target),
            );
            let ratio = pool.div(by_from, own);
            pool.neg(ratio)
        };
        Some(simplify(pool, slope))
    }

    /// Adds up parallel paths, and the loops of each independent storage.
    fn add_up(&mut self) {
        let (rows, columns) = (self.found.dependent.len(), self.found.independent.len());
        let mut moduli: Vec<Vec<Option<ExprId>>> = vec![vec![None; columns]; rows];
        for path in &self.found.paths {
            let entry = &mut moduli[path.dependent][path.independent];
            *entry = Some(match *entry {
                Some(sum) => self.dae.pool.add(sum, path.modulus),
                None => path.modulus,
            });
        }
        for independent in 0..columns {
            let mut total = self.dae.pool.number(0.0);
            for (dependent, row) in moduli.iter().enumerate() {
                if let Some(modulus) = row[independent] {
                    let gain = self.gain(independent, dependent, modulus);
                    total = self.dae.pool.add(total, gain);
                }
            }
            self.found.totals.push(total);
        }
        self.found.moduli = moduli;
    }
}

/// a², without the sign of a.
fn squared(pool: &mut Pool, a: ExprId) -> ExprId {
    let a = match pool.node(a) {
        Node::Neg(inner) => inner,
        _ => a,
    };
    match pool.as_number(a) {
        Some(x) => pool.number(x * x),
        None => pool.powi(a, 2),
    }
}

/// Values of what [`LoopGains::numbers`] lists.
struct Values<'v> {
    independent: &'v [f64],
    dependent: &'v [f64],
    moduli: &'v [f64],
}

impl LoopGains {
    /// What the gain of all loops together is computed from: slopes of independent and dependent storages, then moduli by dependent storage.
    pub fn numbers(&self, pool: &mut Pool) -> Vec<ExprId> {
        let zero = pool.number(0.0);
        let slopes = self.independent.iter().chain(&self.dependent);
        let mut all: Vec<ExprId> = slopes.map(|s| s.slope).collect();
        all.extend(self.moduli.iter().flatten().map(|m| m.unwrap_or(zero)));
        all
    }

    /// The gain of all loops over the `delayed` dependent storages together, from the values of [`LoopGains::numbers`]; the others move with
    /// the independent ones at once. None where the values are not finite or an inertia is not positive.
    pub fn radius(&self, numbers: &[f64], is_delayed: &dyn Fn(usize) -> bool) -> Option<f64> {
        let (n, m) = (self.independent.len(), self.dependent.len());
        if numbers.len() != n + m + n * m || numbers.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let values = Values {
            independent: &numbers[..n],
            dependent: &numbers[n..n + m],
            moduli: &numbers[n + m..],
        };

        let slopes = &numbers[..n + m];
        if slopes.iter().any(|&x| x <= 0.0) {
            return None;
        }
        let at_once: Vec<usize> = (0..m).filter(|&d| !is_delayed(d)).collect();
        let delayed: Vec<usize> = (0..m).filter(|&d| is_delayed(d)).collect();
        let factor = cholesky(values.inertia(&at_once))?;

        // With A = L L' the gain is the largest eigenvalue of W'W, W = L⁻¹ N' S^½.
        let columns: Vec<Vec<f64>> = delayed
            .iter()
            .map(|&d| {
                let root = values.dependent[d].sqrt();
                let load = values.moduli[d * n..(d + 1) * n].iter();
                forward(&factor, load.map(|x| x * root).collect())
            })
            .collect();

        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let gram = columns
            .iter()
            .map(|a| columns.iter().map(|b| product(a, b)).collect());
        Some(largest_eigenvalue(gram.collect()))
    }
}

impl Values<'_> {
    /// The inertia that the independent flows see: their own, and those that move with them at once.
    fn inertia(&self, at_once: &[usize]) -> Vec<Vec<f64>> {
        let n = self.independent.len();
        let mut a = vec![vec![0.0; n]; n];
        for (i, row) in a.iter_mut().enumerate() {
            row[i] = self.independent[i];
            for &d in at_once {
                let modulus = &self.moduli[d * n..(d + 1) * n];
                for (j, entry) in row.iter_mut().enumerate() {
                    *entry += self.dependent[d] * modulus[i] * modulus[j];
                }
            }
        }
        a
    }
}

/// L of A = L L'; none where A is not positive definite.
fn cholesky(mut a: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    for j in 0..a.len() {
        let pivot = a[j][j] - a[j][..j].iter().map(|x| x * x).sum::<f64>();
        if pivot <= 0.0 {
            return None;
        }
        a[j][j] = pivot.sqrt();
        for i in j + 1..a.len() {
            let done: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
            a[i][j] = (a[i][j] - done) / a[j][j];
        }
    }
    Some(a)
}

/// L⁻¹ b.
fn forward(l: &[Vec<f64>], mut b: Vec<f64>) -> Vec<f64> {
    for (i, row) in l.iter().enumerate() {
        let done: f64 = row[..i].iter().zip(&b).map(|(x, y)| x * y).sum();
        b[i] = (b[i] - done) / row[i];
    }
    b
}

/// The largest eigenvalue of a symmetric matrix, by Jacobi's rotations; 0 for an empty one.
fn largest_eigenvalue(mut a: Vec<Vec<f64>>) -> f64 {
    /// Jacobi's method converges quadratically: a handful of sweeps is enough for any matrix.
    const SWEEPS: usize = 30;
    let n = a.len();
    for _ in 0..SWEEPS {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for row in &mut a {
                    let (x, y) = (row[p], row[q]);
                    (row[p], row[q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p][k], a[q][k]);
                    (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    (0..n).map(|k| a[k][k]).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(n: u32) -> Stored {
        Stored {
            element: ElementId(n),
            state: SymbolId(n),
            slope: Pool::new().number(1.0),
        }
    }

    fn of_size(n: usize, m: usize) -> LoopGains {
        LoopGains {
            independent: (0..n as u32).map(stored).collect(),
            dependent: (0..m as u32).map(stored).collect(),
            ..LoopGains::default()
        }
    }

    #[test]
    fn one_loop_has_its_own_gain() {
        // J = 3 behind n = 0.5 at I = 2: n² J/I.
        let gains = of_size(1, 1);
        let found = gains.radius(&[2.0, 3.0, 0.5], &|_| true);
        assert!((found.expect("a gain") - 0.375).abs() < 1e-15, "{found:?}");
    }

    #[test]
    fn what_moves_at_once_adds_to_the_inertia() {
        // I = 2 with J₁ = 3 at once and J₂ = 1 delayed, both rigid: 1/5.
        let gains = of_size(1, 2);
        let found = gains.radius(&[2.0, 3.0, 1.0, 1.0, 1.0], &|d| d == 1);
        assert!((found.expect("a gain") - 0.2).abs() < 1e-15, "{found:?}");
    }

    #[test]
    fn loops_that_share_storages_act_together() {
        // Two independent (1, 4), two dependent (2, 3): the eigenvalues of M⁻¹N'SN by hand.
        let gains = of_size(2, 2);
        let (a, b, c, d) = (0.3, -0.8, 0.9, 0.4);
        let found = gains
            .radius(&[1.0, 4.0, 2.0, 3.0, a, b, c, d], &|_| true)
            .expect("a gain");
        let (g11, g12) = (2.0 * a * a + 3.0 * c * c, 2.0 * a * b + 3.0 * c * d);
        let g22 = 2.0 * b * b + 3.0 * d * d;
        let (trace, det) = (g11 + g22 / 4.0, (g11 * g22 - g12 * g12) / 4.0);
        let expected = trace / 2.0 + (trace * trace / 4.0 - det).sqrt();
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
}
