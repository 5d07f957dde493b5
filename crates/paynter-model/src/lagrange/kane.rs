//! Kane's equations at a point: Lagrange's, seen from the speeds.
//!
//! In:  a system with speeds, and a place.
//! Out: velocities and accelerations that belong to random speeds and obey the constraints; and the matrix by which
//!      efforts on coordinates become efforts on speeds, given motions, and flows that constraints ask for.
//!
//! Each speed and constraint is a row W q̇ = r. Rows come from the block as it is written, differentiated, and are
//! solved in numbers: nothing of what derived the graph is used.

use super::loads::Dual;
use super::names::{junction_of, velocity_junction};
use super::points::{is_zero, random};
use super::proof::change;
use super::system::{System, TIME};
use paynter_symbolic::calculus::{gradient, total_derivative};
use paynter_symbolic::evaluate::Evaluator;
use paynter_symbolic::{ExprId, SymbolId};
use rustc_hash::FxHashMap;

/// Points where W is worse than this are drawn again: what is compared there would be rounding.
const MIN_PIVOT: f64 = 1e-3;

/// Values of symbols at a point.
type Values = FxHashMap<SymbolId, f64>;
type Rows = Vec<Vec<f64>>;

/// What speeds and constraints say.
pub(super) struct Speeds {
    /// Junctions of speeds, of given motions, and of flows that constraints ask for.
    pub junctions: Vec<String>,
    rows: Vec<SpeedRow>,
    n_speeds: usize,
}

/// One row: Σ_i slopes_i q̇_i + free = r, where r is a speed, or zero.
struct SpeedRow {
    /// By coordinate, given ones included.
    slopes: Vec<ExprId>,
    /// For a constraint: what it asks for, −free, and how that changes.
    asked: Option<[ExprId; 2]>,
    /// What is left of its rate where no coordinate accelerates.
    drift: ExprId,
    is_speed: bool,
}

impl Speeds {
    /// Reads speeds and constraints; `rates` are the named rates in velocities.
    pub fn new(
        system: &mut System,
        rates: &FxHashMap<SymbolId, ExprId>,
        accelerations: &[SymbolId],
    ) -> Self {
        let mut values: Vec<(ExprId, bool)> = Vec::new();
        for (symbol, _) in system.speeds.clone() {
            let own = system.pool.symbol(symbol);
            values.push((system.substitute(own, rates), true));
        }
        for constraint in system.constraints.clone() {
            let value = system.substitute(constraint.value, rates);
            let is_rolling = !system.rates_in(value).is_empty();
            let value = match is_rolling {
                true => value,
                false => change(system, value, accelerations),
            };
            values.push((value, false));
        }
        let n_free = system.n_free();
        let speeds = system.speeds.iter();
        let mut junctions: Vec<String> = speeds.map(|&(s, _)| junction_of(system, s)).collect();
        for i in n_free..system.coordinates.len() {
            junctions.push(velocity_junction(system, i));
        }
        let mut rows = Vec::new();
        for (k, &(value, is_speed)) in values.iter().enumerate() {
            let row = row(system, value, is_speed, accelerations);
            if row.asked.is_some() {
                let constraint = &system.constraints[k - system.speeds.len()];
                junctions.push(format!("{}_flow", constraint.name));
            }
            rows.push(row);
        }
        Speeds {
            junctions,
            rows,
            n_speeds: system.speeds.len(),
        }
    }

    /// Draws speeds, puts velocities and accelerations into the values, and tells how efforts are seen from the speeds.
    pub fn at(&self, system: &System, values: &mut Values, draw: usize) -> Option<Projection> {
        let n = system.n_free();
        let accelerations = accelerations(system);
        let mut tops = self.drawn(system, (values, &accelerations), draw)?;
        let (left, right) = self.rows_at(system, values)?;
        let columns = solve(left.clone(), right, n)?;
        let flows: Vec<f64> = tops.iter().map(|top| top.0.0).collect();
        for i in 0..n {
            let velocity = dot(&columns[i], &flows);
            values.insert(system.coordinates[i].velocity, velocity);
        }
        let changes = self.changes(system, values, &mut tops)?;
        let found = solve(left, changes, n)?;
        for i in 0..n {
            values.insert(accelerations[i], found[i][0]);
        }
        Some(Projection {
            columns,
            tops,
            n_speeds: self.n_speeds,
        })
    }

    /// Flow of each top and its rate: speeds at random, given motions as they are. How fast a flow that a constraint asks for
    /// changes is not known yet.
    fn drawn(
        &self,
        system: &System,
        (values, accelerations): (&Values, &[SymbolId]),
        draw: usize,
    ) -> Option<Vec<(Dual, bool)>> {
        let mut tops = Vec::new();
        for r in 0..self.n_speeds {
            let drawn = |salt: u64| 2.6 * random(r as u64, salt + draw as u64) - 1.3;
            tops.push(((drawn(700_000), drawn(800_000)), false));
        }
        for i in system.n_free()..system.coordinates.len() {
            let velocity = values[&system.coordinates[i].velocity];
            tops.push(((velocity, values[&accelerations[i]]), true));
        }
        for asked in self.rows.iter().filter_map(|row| row.asked) {
            tops.push(((number(system, values, asked[0])?, 0.0), true));
        }
        Some(tops)
    }

    /// W, and what each top gives to its rows.
    fn rows_at(&self, system: &System, values: &Values) -> Option<(Rows, Rows)> {
        let n = system.n_free();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut top = system.coordinates.len() - n + self.n_speeds;
        for (k, row) in self.rows.iter().enumerate() {
            let slopes = row.slopes.iter().map(|&e| number(system, values, e));
            let mut slopes: Vec<f64> = slopes.collect::<Option<_>>()?;
            let mut over = vec![0.0; self.junctions.len()];
            if row.is_speed {
                over[k] = 1.0;
            } else if row.asked.is_some() {
                over[top] = 1.0;
                top += 1;
            }
            for (g, slope) in slopes.drain(n..).enumerate() {
                over[self.n_speeds + g] -= slope;
            }
            left.push(slopes);
            right.push(over);
        }
        Some((left, right))
    }

    /// W q̈ = ṙ − Ẇ q̇, where the motion is known; with it the flows that constraints ask for have their rates.
    fn changes(&self, system: &System, values: &Values, tops: &mut [(Dual, bool)]) -> Option<Rows> {
        let n = system.n_free();
        let n_given = system.coordinates.len() - n;
        let mut top = n_given + self.n_speeds;
        let mut changes = Vec::new();
        for (k, row) in self.rows.iter().enumerate() {
            let mut change = -number(system, values, row.drift)?;
            if row.is_speed {
                change += tops[k].0.1;
            }
            if let Some(asked) = row.asked {
                tops[top].0.1 = number(system, values, asked[1])?;
                change += tops[top].0.1;
                top += 1;
            }
            for g in 0..n_given {
                let slope = number(system, values, row.slopes[n + g])?;
                change -= slope * tops[self.n_speeds + g].0.1;
            }
            changes.push(vec![change]);
        }
        Some(changes)
    }
}

fn number(system: &System, values: &Values, e: ExprId) -> Option<f64> {
    let x = Evaluator::new().evaluate(&system.pool, e, &|s| values[&s]);
    x.ok().filter(|x| x.is_finite())
}

/// How efforts on coordinates are seen from the speeds.
pub(super) struct Projection {
    /// E, by free coordinate and top.
    columns: Vec<Vec<f64>>,
    /// Flow of each top, its rate, and whether a source drives it.
    pub tops: Vec<(Dual, bool)>,
    n_speeds: usize,
}

impl Projection {
    /// Efforts on tops.
    pub fn apply(&self, loads: &[f64]) -> Vec<f64> {
        let n = self.columns.len();
        let own = |top: usize| {
            // A given motion also carries what is on itself.
            let given = top.checked_sub(self.n_speeds).map(|g| n + g);
            given.and_then(|i| loads.get(i)).copied().unwrap_or(0.0)
        };
        let seen = |top: usize| {
            let parts = self.columns.iter().zip(loads).map(|(e, x)| e[top] * x);
            parts.sum::<f64>() + own(top)
        };
        (0..self.tops.len()).map(seen).collect()
    }

    /// The same of a row with few entries.
    pub fn sparse(&self, row: &[(usize, f64)], n: usize) -> Vec<(usize, f64)> {
        let mut loads = vec![0.0; n];
        for &(i, x) in row {
            loads[i] += x;
        }
        self.apply(&loads).into_iter().enumerate().collect()
    }
}

fn row(system: &mut System, value: ExprId, is_speed: bool, accelerations: &[SymbolId]) -> SpeedRow {
    let velocities: Vec<SymbolId> = system.coordinates.iter().map(|c| c.velocity).collect();
    let slopes = gradient(&mut system.pool, value, &velocities);
    let free = system.at_rest(value);
    // The sum of slopes times velocities, without the free part, along the motion but for accelerations.
    let moving = system.pool.sub(value, free);
    let mut rates: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    for c in &system.coordinates {
        rates.insert(c.position, system.pool.symbol(c.velocity));
    }
    rates.insert(TIME, system.pool.number(1.0));
    let drift = total_derivative(&mut system.pool, moving, &mut |_, s| rates.get(&s).copied());
    let asked = (!is_speed && !is_zero(system, free)).then(|| {
        let flow = system.pool.neg(free);
        [flow, change(system, flow, accelerations)]
    });
    SpeedRow {
        slopes,
        asked,
        drift,
        is_speed,
    }
}

/// The symbols of accelerations, which the proof added.
fn accelerations(system: &System) -> Vec<SymbolId> {
    let of = |name: &str| {
        let wanted = format!("der(der({name}))");
        let at = system.symbols.iter().position(|s| s.0 == wanted);
        SymbolId(at.expect("the proof added one for each coordinate") as u32)
    };
    system.coordinates.iter().map(|c| of(&c.name)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Solves rows that may hold more than they need, by Gauss and Jordan; none where they hold too little.
fn solve(mut left: Rows, mut right: Rows, n: usize) -> Option<Rows> {
    for column in 0..n {
        let size = |k: usize| f64::abs(left[k][column]);
        let best = (column..left.len()).max_by(|&a, &b| size(a).total_cmp(&size(b)))?;
        if size(best) < MIN_PIVOT {
            return None;
        }
        left.swap(column, best);
        right.swap(column, best);
        let pivot = left[column][column];
        left[column].iter_mut().for_each(|x| *x /= pivot);
        right[column].iter_mut().for_each(|x| *x /= pivot);
        for k in (0..left.len()).filter(|&k| k != column) {
            let factor = left[k][column];
            let (from_left, from_right) = (left[column].clone(), right[column].clone());
            left[k]
                .iter_mut()
                .zip(&from_left)
                .for_each(|(x, y)| *x -= factor * y);
            right[k]
                .iter_mut()
                .zip(&from_right)
                .for_each(|(x, y)| *x -= factor * y);
        }
    }
    right.truncate(n);
    Some(right)
}
