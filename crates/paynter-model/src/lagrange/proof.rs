//! The proof: the written graph, read back, against Lagrange's equations.
//!
//! In:  a `lagrangian` block, and the bond graph elaborated from the text that was written for it.
//! Out: how far the efforts that the graph puts on each coordinate are from d/dt ∂L/∂q̇ − ∂L/∂q + ∂D/∂q̇ − Q, at
//!      random places, speeds and accelerations, with random parameters.
//!
//! With speeds the efforts are those on the speeds, Σ_i E_ir (…)_i with q̇ = Σ_r E_r w_r; E comes from numbers here, by
//! elimination at every point.
//!
//! Both sides start from different ends: one from the energies as the user wrote them, differentiated, the
//! other from elements and bonds (`loads.rs`). An energy audit would not do: a missing gyrator is powerless.

use super::Block;
use super::forms::{Forms, forms};
use super::kane::Speeds;
use super::loads::{Loads, Point};
use super::names::velocity_junction;
use super::points::random;
use super::read::read;
use super::system::{Role, System, TIME};
use crate::graph::BondGraph;
use paynter_symbolic::calculus::{gradient, total_derivative};
use paynter_symbolic::evaluate::Evaluator;
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::Diagnostic;
use rustc_hash::FxHashMap;

/// Points looked at.
const N_POINTS: usize = 100;

/// Points outside of the domain of a root or logarithm are drawn again; so often, for each one wanted.
const MAX_DRAWS: usize = 20;

/// Largest difference allowed, as a part of the largest effort at the point: rounding of some thousand operations.
const ALLOWED: f64 = 1e-12;

/// What a proof found.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Points compared.
    pub n_points: usize,
    /// Largest difference, as a part of the largest effort at its point.
    pub largest: f64,
    /// The coordinate with the largest difference.
    pub worst: Option<String>,
    /// Why nothing could be compared.
    pub failed: Option<String>,
    /// What the graph is compared with.
    pub with: &'static str,
}

impl Proof {
    /// Tells whether graph and energies are equal.
    pub fn holds(&self) -> bool {
        self.failed.is_none() && self.n_points > 0 && self.largest <= ALLOWED
    }

    /// The line that ends the written text.
    pub fn line(&self) -> String {
        match (&self.failed, &self.worst) {
            (Some(why), _) => format!("proof FAILED: {why}"),
            (None, Some(worst)) if !self.holds() => format!(
                "proof FAILED: `{worst}` differs from {} by {:.1e} of the largest effort ({ALLOWED:.0e} allowed)",
                self.with, self.largest
            ),
            _ => format!(
                "proof: equal to {} at {} random points, largest difference {:.1e} ({ALLOWED:.0e} allowed)",
                self.with, self.n_points, self.largest
            ),
        }
    }
}

/// Compares a graph with the energies it was derived from.
///
/// # Errors
///
/// What is wrong with the block.
pub fn prove(block: &Block<'_>, graph: &BondGraph) -> Result<Proof, Vec<Diagnostic>> {
    let mut system = read(block)?;
    let equations = Equations::new(&mut system)?;
    let mut proof = Proof {
        n_points: 0,
        largest: 0.0,
        worst: None,
        failed: None,
        with: match equations.speeds.is_some() {
            true => "Kane's equations",
            false => "Euler–Lagrange",
        },
    };
    let coordinates: Vec<(String, String)> = (0..system.coordinates.len())
        .map(|i| {
            let name = system.coordinates[i].name.clone();
            (name, velocity_junction(&system, i))
        })
        .collect();
    let tops = equations.tops(&system);
    let mut loads = match Loads::new(graph, &coordinates, &tops) {
        Ok(loads) => loads,
        Err(why) => {
            proof.failed = Some(why);
            return Ok(proof);
        }
    };
    let mut draw = 0;
    while proof.n_points < N_POINTS && draw < N_POINTS * MAX_DRAWS {
        draw += 1;
        let Some(wanted) = equations.at(&system, draw) else {
            continue;
        };
        let found = match loads.at(&wanted.point) {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(why) => {
                proof.failed = Some(why);
                return Ok(proof);
            }
        };
        proof.n_points += 1;
        compare(&mut proof, (&system, &tops), &wanted, &found);
    }
    if proof.n_points == 0 {
        proof.failed = Some("the energies have no value at any random point".to_owned());
    }
    Ok(proof)
}

/// What one side says at a point.
pub(super) struct Found {
    /// Effort on each coordinate, or on each speed and each motion that is given.
    pub loads: Vec<f64>,
    /// Velocity of each coordinate.
    pub velocities: Vec<f64>,
    /// Size of the terms that were summed.
    pub size: f64,
    /// What each constraint is away from holding, as a rate.
    pub gaps: Vec<f64>,
}

fn compare(
    proof: &mut Proof,
    (system, tops): (&System, &[String]),
    wanted: &Wanted,
    found: &Found,
) {
    let mut size = wanted.size.max(found.size);
    for x in &wanted.loads {
        size = size.max(x.abs());
    }
    let constraints = system.constraints.iter().map(|c| &c.name);
    let differences = wanted.loads.iter().zip(&found.loads);
    let gaps = wanted.gaps.iter().zip(&found.gaps);
    let efforts = tops.iter().zip(differences).chain(constraints.zip(gaps));
    for (name, (a, b)) in efforts {
        note(proof, name, (a - b).abs() / size);
    }
    let fastest = wanted.point.coordinates.iter().map(|c| c[1].abs());
    let fastest = fastest.fold(0.0, f64::max);
    let velocities = wanted.point.coordinates.iter().zip(&found.velocities);
    for (coordinate, (c, flow)) in system.coordinates.iter().zip(velocities) {
        note(proof, &coordinate.name, (c[1] - flow).abs() / fastest);
    }
}

fn note(proof: &mut Proof, name: &str, difference: f64) {
    if difference > proof.largest || difference.is_nan() {
        proof.largest = match difference.is_nan() {
            true => f64::INFINITY,
            false => difference,
        };
        proof.worst = Some(name.to_owned());
    }
}

/// Lagrange's equations as expressions.
struct Equations {
    /// Sum of d/dt ∂L/∂q̇, −∂L/∂q, ∂D/∂q̇ and −Q, by coordinate.
    sums: Vec<Vec<ExprId>>,
    /// Coefficients of constraints: (constraint, coordinate, coefficient).
    locks: Vec<(usize, usize, ExprId)>,
    /// Rates of constraints.
    gaps: Vec<ExprId>,
    accelerations: Vec<SymbolId>,
    /// Rate and acceleration of given motions, by coordinate.
    given: Vec<Option<[ExprId; 3]>>,
    foreign: Vec<ForeignEffort>,
    /// Where speeds are chosen: what they and the constraints say.
    speeds: Option<Speeds>,
}

/// What Lagrange's equations say at a point, and the point.
struct Wanted {
    point: Point,
    loads: Vec<f64>,
    size: f64,
    gaps: Vec<f64>,
}

/// An effort without an expression here, by name: its coefficient for each coordinate.
type ForeignEffort = (String, Vec<(usize, ExprId)>);

/// Subtracts the given efforts from the sums of their coordinates; gives those that have no expression here.
fn add_efforts(
    system: &mut System,
    forms: &Forms,
    rates: &FxHashMap<SymbolId, ExprId>,
    sums: &mut [Vec<ExprId>],
) -> Vec<ForeignEffort> {
    let mut foreign = Vec::new();
    for effort in system.effort.clone() {
        let over = forms.of(system, effort.on).over.clone();
        let Some(value) = effort.value else {
            foreign.push((effort.name, over));
            continue;
        };
        let value = system.substitute(value, rates);
        for (i, t) in over {
            let part = system.pool.mul(value, t);
            let part = system.pool.neg(part);
            sums[i].push(part);
        }
    }
    foreign
}

/// Coefficients of the constraints, (constraint, coordinate, coefficient), and their rates.
fn constraints(
    system: &mut System,
    rates: &FxHashMap<SymbolId, ExprId>,
    accelerations: &[SymbolId],
) -> (Vec<(usize, usize, ExprId)>, Vec<ExprId>) {
    let positions: Vec<SymbolId> = system.coordinates.iter().map(|c| c.position).collect();
    let velocities: Vec<SymbolId> = system.coordinates.iter().map(|c| c.velocity).collect();
    let (mut locks, mut gaps) = (Vec::new(), Vec::new());
    for (k, named) in system.constraints.clone().into_iter().enumerate() {
        let value = system.substitute(named.value, rates);
        let is_rolling = !system.rates_in(value).is_empty();
        let along = if is_rolling { &velocities } else { &positions };
        let slopes = gradient(&mut system.pool, value, along);
        locks.extend(slopes.into_iter().enumerate().map(|(i, e)| (k, i, e)));
        gaps.push(if is_rolling {
            value
        } else {
            change(system, value, accelerations)
        });
    }
    (locks, gaps)
}

impl Equations {
    fn new(system: &mut System) -> Result<Self, Vec<Diagnostic>> {
        let forms = forms(system)?;
        let n = system.coordinates.len();
        let acceleration = |i: usize| {
            let name = format!("der(der({}))", system.coordinates[i].name);
            system.add(&name, Role::Momentum)
        };
        let accelerations: Vec<SymbolId> = (0..n).map(acceleration).collect();
        let positions: Vec<SymbolId> = system.coordinates.iter().map(|c| c.position).collect();
        let velocities: Vec<SymbolId> = system.coordinates.iter().map(|c| c.velocity).collect();
        let rates = rates_in_velocities(system);

        let lagrangian = sum(system, true, &rates);
        let loss = sum(system, false, &rates);
        let momenta = gradient(&mut system.pool, lagrangian, &velocities);
        let forces = gradient(&mut system.pool, lagrangian, &positions);
        let drags = gradient(&mut system.pool, loss, &velocities);
        let mut sums: Vec<Vec<ExprId>> = vec![Vec::new(); n];
        for i in 0..n {
            let change = change(system, momenta[i], &accelerations);
            let force = system.pool.neg(forces[i]);
            sums[i].extend([change, force, drags[i]]);
        }

        let foreign = add_efforts(system, &forms, &rates, &mut sums);
        let (locks, gaps) = constraints(system, &rates, &accelerations);
        let given = (0..n).map(|i| given(system, i)).collect();
        let speeds = match system.speeds.is_empty() {
            true => None,
            false => Some(Speeds::new(system, &rates, &accelerations)),
        };
        Ok(Equations {
            speeds,
            sums,
            locks,
            gaps,
            accelerations,
            given,
            foreign,
        })
    }

    /// Both the point of a draw and what the equations say there; none where something has no value.
    fn at(&self, system: &System, draw: usize) -> Option<Wanted> {
        let (mut values, constants) = drawn(system, draw);
        self.follow_given_motions(system, &mut values)?;
        let projection = match &self.speeds {
            Some(speeds) => Some(speeds.at(system, &mut values, draw)?),
            None => None,
        };
        let reactions: Vec<f64> = (0..system.constraints.len())
            .map(|k| 2.0 * random(k as u64, 900_000 + draw as u64) - 1.0)
            .collect();
        let (mut wanted, mut foreign) = self.efforts(system, &values, &reactions)?;
        let n = system.coordinates.len();
        let state = |i: usize| {
            let c = &system.coordinates[i];
            [
                values[&c.position],
                values[&c.velocity],
                values[&self.accelerations[i]],
            ]
        };
        let is_given = |i: usize| system.coordinates[i].given.is_some();
        let coordinates: Vec<[f64; 3]> = (0..n).map(state).collect();
        let is_given: Vec<bool> = (0..n).map(is_given).collect();
        let plain = coordinates.iter().zip(&is_given);
        let mut tops = plain.map(|(c, &given)| ((c[1], c[2]), given)).collect();
        let names = system.constraints.iter().map(|c| c.name.clone());
        let mut reactions: Vec<(String, f64)> = names.zip(reactions).collect();
        if let Some(projection) = projection {
            wanted.loads = projection.apply(&wanted.loads);
            for (_, row) in &mut foreign {
                *row = projection.sparse(row, n);
            }
            tops = projection.tops;
            reactions.clear();
        }
        wanted.point = Point {
            constants,
            coordinates,
            is_given,
            tops,
            reactions,
            foreign,
        };
        Some(wanted)
    }

    /// Puts given motions and their rates where they are at the time of the draw.
    fn follow_given_motions(&self, system: &System, values: &mut Values) -> Option<()> {
        let mut evaluator = Evaluator::new();
        for (i, given) in self.given.iter().enumerate() {
            let Some(given) = given else { continue };
            let coordinate = &system.coordinates[i];
            let places = [
                coordinate.position,
                coordinate.velocity,
                self.accelerations[i],
            ];
            for (place, &e) in places.into_iter().zip(given) {
                let value = evaluator.evaluate(&system.pool, e, &|s| values[&s]).ok()?;
                values.insert(place, value);
            }
        }
        Some(())
    }

    /// What the equations say with these values, the point left out; and what one unit of each foreign source does.
    fn efforts(
        &self,
        system: &System,
        values: &Values,
        reactions: &[f64],
    ) -> Option<(Wanted, Vec<Foreign>)> {
        let mut evaluator = Evaluator::new();
        let mut value = |e: ExprId| {
            let x = evaluator.evaluate(&system.pool, e, &|s| values[&s]).ok()?;
            x.is_finite().then_some(x)
        };
        let mut wanted = Wanted {
            loads: vec![0.0; system.coordinates.len()],
            size: 0.0,
            gaps: Vec::new(),
            point: Point::default(),
        };
        for (i, sum) in self.sums.iter().enumerate() {
            for &e in sum {
                let x = value(e)?;
                wanted.loads[i] += x;
                wanted.size = wanted.size.max(x.abs());
            }
        }
        // Speeds keep the constraints: there is nothing that reacts.
        if self.speeds.is_none() {
            for &(k, i, e) in &self.locks {
                wanted.loads[i] += value(e)? * reactions[k];
            }
            for &e in &self.gaps {
                wanted.gaps.push(value(e)?);
            }
        }
        let mut foreign = Vec::new();
        for (name, over) in &self.foreign {
            let mut row = Vec::new();
            for &(i, t) in over {
                row.push((i, value(t)?));
            }
            foreign.push((name.clone(), row));
        }
        Some((wanted, foreign))
    }

    /// Names of the junctions whose efforts are compared.
    fn tops(&self, system: &System) -> Vec<String> {
        match &self.speeds {
            Some(speeds) => speeds.junctions.clone(),
            None => (0..system.coordinates.len())
                .map(|i| velocity_junction(system, i))
                .collect(),
        }
    }
}

/// Values of symbols at a point.
type Values = FxHashMap<SymbolId, f64>;

/// A source whose value the graph alone knows, and what one unit of it does to which coordinates or speeds.
type Foreign = (String, Vec<(usize, f64)>);

/// Random values of all symbols, and those of parameters, inputs and time by name.
fn drawn(system: &System, draw: usize) -> (Values, FxHashMap<String, f64>) {
    let mut values = Values::default();
    let mut constants: FxHashMap<String, f64> = FxHashMap::default();
    for (k, (name, role)) in system.symbols.iter().enumerate() {
        let symbol = SymbolId(k as u32);
        let drawn = random(k as u64, 5000 + draw as u64);
        let is_literal = name.contains('[') || name == "g0";
        let value = match (role, system.values.get(&symbol)) {
            (Role::Constant, Some(&value)) if is_literal => value,
            (Role::Constant | Role::Time, _) => 0.4 + 1.2 * drawn,
            _ => 2.6 * drawn - 1.3,
        };
        values.insert(symbol, value);
        if matches!(role, Role::Constant | Role::Input | Role::Time) {
            constants.insert(name.clone(), value);
        }
    }
    (values, constants)
}

/// Values of rates in velocities alone.
fn rates_in_velocities(system: &mut System) -> FxHashMap<SymbolId, ExprId> {
    let mut known: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    // Rates form no circle: every round resolves some.
    while known.len() < system.rates.len() {
        for rate in system.rates.clone() {
            let read = system.reads(rate.value, |role| matches!(role, Role::Rate(_)));
            if !known.contains_key(&rate.symbol) && read.iter().all(|s| known.contains_key(s)) {
                let value = system.substitute(rate.value, &known);
                known.insert(rate.symbol, value);
            }
        }
    }
    known
}

/// L = T − V, or D, in velocities.
fn sum(system: &mut System, is_lagrangian: bool, rates: &FxHashMap<SymbolId, ExprId>) -> ExprId {
    let mut sum = system.pool.number(0.0);
    let (plus, minus) = match is_lagrangian {
        true => (system.kinetic.clone(), system.potential.clone()),
        false => (system.loss.clone(), Vec::new()),
    };
    for named in plus {
        let value = system.substitute(named.value, rates);
        sum = system.pool.add(sum, value);
    }
    for named in minus {
        let value = system.substitute(named.value, rates);
        sum = system.pool.sub(sum, value);
    }
    sum
}

/// d/dt of an expression in positions, velocities and time.
pub(super) fn change(system: &mut System, e: ExprId, accelerations: &[SymbolId]) -> ExprId {
    let mut rates: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    for (c, &acceleration) in system.coordinates.iter().zip(accelerations) {
        rates.insert(c.position, system.pool.symbol(c.velocity));
        rates.insert(c.velocity, system.pool.symbol(acceleration));
    }
    rates.insert(TIME, system.pool.number(1.0));
    total_derivative(&mut system.pool, e, &mut |_, s| rates.get(&s).copied())
}

fn given(system: &mut System, i: usize) -> Option<[ExprId; 3]> {
    let position = system.coordinates[i].given?;
    let mut along_time = |e: ExprId| {
        let one = system.pool.number(1.0);
        total_derivative(&mut system.pool, e, &mut |_, s| (s == TIME).then_some(one))
    };
    let velocity = along_time(position);
    let acceleration = along_time(velocity);
    Some([position, velocity, acceleration])
}
