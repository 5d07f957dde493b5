//! Puts closed mechanisms together: consistent positions, and which locks say nothing new.
//!
//! In:  equations in which every lock ([`Dae::constraints`](paynter_symbolic::Dae)) is released, so that all
//!      positions and rates are states of their own.
//! Out: an [`Assembly`]: positions that meet all locks; locks that others imply, each with those others;
//!      locks whose declared position does not belong to their flow.
//!
//! Locks are independent if the gradients of their positions are. They are taken one by one in the order
//! given (by name), and one whose gradient lies in the span of those before is redundant if it
//! does so at other assembled positions too. If it does so only here, the mechanism is at a
//! singular place, a dead centre, and the lock is needed elsewhere.
//!
//! Redundancy and mismatch are properties of the geometry, so the other positions are random ones
//! nearby, made consistent again; the random numbers are the same on every machine.
//!
//! **Invariant:** the locks that are not redundant have gradients of full rank at one of the
//! positions looked at; nothing here changes the equations.

use paynter_solve::System;
use paynter_symbolic::reduced::Reduced;

use crate::failure::Fault;
use crate::least::LeastNorm;
use crate::lower::{Engine, lower};
use crate::machine::Machine;
use crate::map::Map;
use crate::start::StartError;

/// What was found about the locks of a mechanism; numbers are positions in `Dae::constraints`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// Locks that others imply.
    pub redundant: Vec<Redundant>,
    /// Locks that say nothing new at the start only: a singular place.
    pub singular: Vec<Redundant>,
    /// Locks whose declared position is not the integral of their flow.
    pub mismatched: Vec<Mismatch>,
    /// Independent locks.
    pub rank: usize,
    /// Locks that share loads with others in a way that rigid bodies do not determine: those that take part in a
    /// redundancy, at any position looked at. The reactions of all others are determinate.
    pub shared: Vec<usize>,
    /// Locks whose reaction has no direction at the start.
    pub without_direction: Vec<usize>,
}

/// A lock that others imply.
#[derive(Clone, Debug, PartialEq)]
pub struct Redundant {
    /// The lock.
    pub lock: usize,
    /// The locks that together demand the same.
    pub implied_by: Vec<usize>,
}

/// A lock whose declared position does not change as its flow says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mismatch {
    /// The lock.
    pub lock: usize,
    /// How fast its position changes at a point looked at.
    pub rate: f64,
    /// Its flow there.
    pub flow: f64,
    /// Rate by flow (one of ±, as the arrow of the lock has it), if that is the same everywhere: the two demand the same all the same.
    pub factor: Option<f64>,
}

/// Positions looked at beside the start.
const N_PLACES: usize = 3;
/// How far the other positions are from the start, as a share of the size of each variable: far enough
/// to leave a dead centre, near enough to be assembled again.
const AWAY: f64 = 0.05;
/// A gradient is new if this share of it lies outside the span of the others. Positions are assembled to
/// about 1e-9 of themselves, and the slopes are as exact as the positions.
const NEW: f64 = 1e-7;
/// Rate and flow are the same up to rounding and the error of assembly.
const SAME: f64 = 1e-6;
/// A sparse factor of squares has half the digits: what it finds this much is new beyond doubt.
const CLEARLY_NEW: f64 = 1e-8;
/// Shares below this in a combination found by squares are roundings.
const NEW_AMONG_MANY: f64 = 1e-4;
/// Dense orthogonalisation costs the cube of this; locks of larger mechanisms are compared by a sparse factor.
const MAX_LOCKS: usize = 400;

/// Puts a mechanism together at time `t0` and looks at its locks, in the order given.
///
/// None if the released equations cannot be run.
///
/// # Errors
///
/// The start demands contradict each other, or the locks cannot all be met.
pub fn assemble(
    released: &Reduced,
    t0: f64,
    order: &[usize],
) -> Result<Option<Assembly>, StartError> {
    let locks = &released.dae.constraints;
    if locks.is_empty() {
        return Ok(None);
    }
    let flows: Vec<_> = locks.iter().map(|lock| lock.flow).collect();
    let Ok(mut machine) = lower(released, &flows, Engine::Interpreter) else {
        return Ok(None);
    };
    let start = match machine.initialise(t0) {
        Ok(report) => report.y0,
        // The equations as they are say better what has no value.
        Err(StartError::Failure(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut look = Look {
        first_row: released.constraints.len() - locks.len(),
        machine,
        t0,
        order,
        random: 0x9E37_79B9_7F4A_7C15,
    };
    Ok(look.around(&start).ok())
}

struct Look<'a> {
    machine: Machine,
    t0: f64,
    /// Row of the first lock among the constraints.
    first_row: usize,
    order: &'a [usize],
    random: u64,
}

impl Look<'_> {
    fn around(&mut self, start: &[f64]) -> Result<Assembly, Fault> {
        let here = self.dependent(start)?;
        let mut places = Vec::new();
        // Where no lock is in doubt the other positions only show whether positions belong to flows. In a large
        // mechanism the start shows that as well: its joints are at many angles, or are many of a kind.
        let n_places = match here.is_empty() && self.order.len() > MAX_LOCKS {
            true => 0,
            false => N_PLACES,
        };
        for _ in 0..n_places {
            if let Ok(place) = self.place_near(start) {
                places.push(place);
            }
        }

        let mut elsewhere: Vec<Vec<Redundant>> = Vec::new();
        for place in &places {
            elsewhere.push(self.dependent(place)?);
        }

        let is_everywhere = |found: &&Redundant| {
            elsewhere
                .iter()
                .all(|there| there.iter().any(|r| r.lock == found.lock))
        };
        let (redundant, singular): (Vec<_>, Vec<_>) =
            here.iter().cloned().partition(|r| is_everywhere(&r));
        places.insert(0, start.to_vec());

        // Forces in equilibrium with themselves are combinations of gradients that vanish: one for each redundant lock.
        let is_redundant = |r: &&Redundant| redundant.iter().any(|own| own.lock == r.lock);
        let found = elsewhere.iter().flatten().chain(&here);
        let mut shared: Vec<usize> = (found.filter(is_redundant))
            .flat_map(|r| r.implied_by.iter().copied().chain([r.lock]))
            .collect();
        shared.sort_unstable();
        shared.dedup();

        Ok(Assembly {
            without_direction: self.machine.locks_without_direction(self.t0, start)?,
            shared,
            rank: self.order.len() - redundant.len(),
            redundant,
            singular,
            mismatched: self.mismatches(&places)?,
        })
    }

    /// A number in −1 … 1 (xorshift64*).
    fn draw(&mut self) -> f64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        let bits = self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        bits as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Another assembled position near the start, with rates of its own.
    fn place_near(&mut self, start: &[f64]) -> Result<Vec<f64>, Fault> {
        let sizes = self.machine.sizes(start);
        let mut y = start.to_vec();
        for (x, size) in y.iter_mut().zip(&sizes) {
            *x += AWAY * size * self.draw();
        }
        self.machine.project_on_constraints(self.t0, &mut y)?;
        Ok(y)
    }

    /// Locks whose gradients lie in the span of those before them.
    fn dependent(&mut self, y: &[f64]) -> Result<Vec<Redundant>, Fault> {
        let image = self.machine.image.clone();
        let map = &image.locks.map;
        self.machine.residuals(self.t0, y, map)?;
        let entries = self.machine.entries(map)?;
        let sizes = self.machine.sizes(y);
        let gradients = Gradients::new(map, &entries, &sizes);

        // Invariants, and constraints that the equations have without any lock, come first.
        let last_row = self.first_row + self.order.len();
        let given: Vec<usize> = (0..self.first_row)
            .chain(last_row..map.rows.len())
            .collect();
        let mut sparse = gradients.least_norm();
        sparse.factor(&gradients.values);
        if sparse.weakest() > CLEARLY_NEW && gradients.lengths.iter().all(|&l| l > 0.0) {
            return Ok(Vec::new());
        }
        if self.order.len() > MAX_LOCKS {
            return Ok(self.dependent_among_many(&sparse, &gradients));
        }
        let mut basis = Basis::default();
        for row in given {
            if let Some(g) = gradients.dense(row) {
                basis.add(g, None);
            }
        }
        let mut found = Vec::new();
        for &lock in self.order {
            let implied_by = match gradients.dense(self.first_row + lock) {
                Some(g) => basis.add(g, Some(lock)),
                None => Some(Vec::new()),
            };
            found.extend(implied_by.map(|implied_by| Redundant { lock, implied_by }));
        }
        Ok(found)
    }

    /// As [`Look::dependent`], from a sparse factor: which of several locks is taken as redundant is decided by the
    /// order of elimination.
    fn dependent_among_many(&self, sparse: &LeastNorm, gradients: &Gradients) -> Vec<Redundant> {
        let last_row = self.first_row + self.order.len();
        let lock_of = |row: usize| {
            let is_lock = (self.first_row..last_row).contains(&row);
            is_lock.then(|| row - self.first_row)
        };
        let mut found: Vec<Redundant> = Vec::new();
        for (row, mut shares) in sparse.combinations() {
            if gradients.lengths[row] == 0.0 {
                shares.clear();
            }
            let mut locks: Vec<(usize, f64)> = shares
                .iter()
                .filter(|(_, share)| share.abs() > NEW_AMONG_MANY)
                .filter_map(|&(other, share)| Some((lock_of(other)?, share.abs())))
                .collect();
            // Where it is an invariant that is implied, the lock that has most to do with it is the one too many.
            let lock = lock_of(row).or_else(|| {
                locks.sort_by(|a, b| b.1.total_cmp(&a.1));
                (!locks.is_empty()).then(|| locks.remove(0).0)
            });
            let Some(lock) = lock.filter(|&lock| found.iter().all(|f| f.lock != lock)) else {
                continue;
            };
            let mut implied_by: Vec<usize> = locks.into_iter().map(|l| l.0).collect();
            implied_by.sort_unstable();
            found.push(Redundant { lock, implied_by });
        }
        found.sort_by_key(|f| self.order.iter().position(|&lock| lock == f.lock));
        found
    }

    /// Compares d(position)/dt with the flow of each lock.
    fn mismatches(&mut self, places: &[Vec<f64>]) -> Result<Vec<Mismatch>, Fault> {
        let samples = self.rates_and_flows(places)?;
        let found = self
            .order
            .iter()
            .filter_map(|&lock| mismatch(lock, &samples[lock]));
        Ok(found.collect())
    }

    /// For each lock d(position)/dt and its flow, at several places with any rates: zero ones would show nothing.
    fn rates_and_flows(&mut self, places: &[Vec<f64>]) -> Result<Vec<Vec<(f64, f64)>>, Fault> {
        let image = self.machine.image.clone();
        let map = &image.locks.map;
        let m = self.order.len();
        let mut is_position = vec![false; image.inputs.n];
        for &column in map.rows.iter().flat_map(|row| row.iter()) {
            is_position[column as usize] = true;
        }
        let mut samples: Vec<Vec<(f64, f64)>> = vec![Vec::new(); m];
        for place in places {
            let sizes = self.machine.sizes(place);
            let mut y = place.clone();
            for k in 0..y.len() {
                if !is_position[k] {
                    y[k] += sizes[k] * self.draw();
                }
            }
            let mut dy = vec![0.0; y.len()];
            let mut flows = vec![0.0; m];
            let is_known = self.machine.rhs(self.t0, &y, &mut dy).is_ok()
                && self.machine.observe(self.t0, &y, &mut flows).is_ok();
            if !is_known {
                continue;
            }

            self.machine.residuals(self.t0, &y, map)?;
            let mut rates = vec![0.0; map.rows.len()];
            let along = (1.0, Some(dy.as_slice()));
            map.along(&image.inputs, &mut self.machine.memory, along, |k, rate| {
                rates[k] = rate;
            })?;
            for (lock, samples) in samples.iter_mut().enumerate() {
                samples.push((rates[self.first_row + lock], flows[lock]));
            }
        }
        Ok(samples)
    }
}

/// Tells how the rate of a lock's position differs from its flow, if it does. The arrow of the lock decides the sign of
/// its flow, so both signs agree.
fn mismatch(lock: usize, samples: &[(f64, f64)]) -> Option<Mismatch> {
    let size = |&(rate, flow): &(f64, f64)| rate.abs().max(flow.abs());
    let largest = samples.iter().map(size).fold(0.0, f64::max);
    let agrees = |sign: f64| {
        let differences = samples.iter().map(|&(r, f)| (r - sign * f).abs());
        differences.fold(0.0, f64::max) <= SAME * largest
    };
    if agrees(1.0) || agrees(-1.0) {
        return None;
    }

    let differs = |&&(rate, flow): &&(f64, f64)| (rate - flow).abs() > SAME * largest;
    let &(rate, flow) = samples.iter().find(differs)?;
    let factor = rate / flow;
    let follows = |&(rate, flow): &(f64, f64)| (rate - factor * flow).abs() <= SAME * largest;
    let is_constant = factor.is_finite() && factor != 0.0 && samples.iter().all(follows);
    Some(Mismatch {
        lock,
        rate,
        flow,
        factor: is_constant.then_some(factor),
    })
}

/// Gradients of constraints in the measure of the variables, each of length 1.
pub(crate) struct Gradients<'a> {
    map: &'a Map,
    /// Row after row.
    values: Vec<f64>,
    /// Where each row begins among them.
    starts: Vec<usize>,
    /// Lengths before they became 1; 0 for what cannot move, or has no slope here.
    pub lengths: Vec<f64>,
    pub n_columns: usize,
}

impl<'a> Gradients<'a> {
    pub(crate) fn new(map: &'a Map, entries: &[Vec<f64>], sizes: &[f64]) -> Self {
        let mut values = Vec::new();
        let mut starts = vec![0];
        let mut lengths = Vec::with_capacity(entries.len());
        for (columns, slopes) in map.rows.iter().zip(entries) {
            let first = values.len();
            let scaled = columns.iter().zip(slopes);
            values.extend(scaled.map(|(&c, slope)| slope * sizes[c as usize]));
            let norm = length(&values[first..]);
            let scale = match norm > 0.0 && norm.is_finite() {
                true => 1.0 / norm,
                false => 0.0,
            };
            for x in &mut values[first..] {
                *x = if scale > 0.0 { *x * scale } else { 0.0 };
            }
            lengths.push(if scale > 0.0 { norm } else { 0.0 });
            starts.push(values.len());
        }
        Gradients {
            map,
            values,
            starts,
            lengths,
            n_columns: sizes.len(),
        }
    }

    /// The columns and values of a row.
    pub(crate) fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let values = &self.values[self.starts[row]..self.starts[row + 1]];
        (&self.map.rows[row], values)
    }

    fn least_norm(&self) -> LeastNorm {
        LeastNorm::new(self.map.rows.iter().map(|row| &row[..]), self.n_columns)
    }

    /// A gradient with its zeros.
    fn dense(&self, row: usize) -> Option<Vec<f64>> {
        if self.lengths[row] == 0.0 {
            return None;
        }
        let mut dense = vec![0.0; self.n_columns];
        let values = &self.values[self.starts[row]..self.starts[row + 1]];
        for (&column, &value) in self.map.rows[row].iter().zip(values) {
            dense[column as usize] = value;
        }
        Some(dense)
    }
}

/// Orthonormal vectors, each with the combination of gradients that it is.
#[derive(Default)]
struct Basis {
    vectors: Vec<Vec<f64>>,
    /// Shares of the locks in each vector.
    shares: Vec<Vec<(usize, f64)>>,
}

impl Basis {
    /// Adds a vector of length 1; if it is not new, gives the locks it is made of.
    fn add(&mut self, gradient: Vec<f64>, lock: Option<usize>) -> Option<Vec<usize>> {
        let mut rest = gradient;
        let mut parts = vec![0.0; self.vectors.len()];
        // Twice is enough (Giraud, Langou & Rozložník 2005).
        for _ in 0..2 {
            for (v, part) in self.vectors.iter().zip(&mut parts) {
                let dot: f64 = v.iter().zip(&rest).map(|(a, b)| a * b).sum();
                *part += dot;
                rest.iter_mut().zip(v).for_each(|(r, a)| *r -= dot * a);
            }
        }

        let norm = length(&rest);
        let mut shares: Vec<(usize, f64)> = Vec::new();
        for (of, part) in self.shares.iter().zip(&parts) {
            for &(other, share) in of {
                match shares.iter_mut().find(|(l, _)| *l == other) {
                    Some((_, sum)) => *sum += part * share,
                    None => shares.push((other, part * share)),
                }
            }
        }

        if norm <= NEW {
            let implied = shares.into_iter().filter(|(_, share)| share.abs() > NEW);
            return Some(implied.map(|(other, _)| other).collect());
        }

        rest.iter_mut().for_each(|x| *x /= norm);
        shares.iter_mut().for_each(|(_, share)| *share /= -norm);
        shares.extend(lock.map(|l| (l, 1.0 / norm)));
        self.vectors.push(rest);
        self.shares.push(shares);
        None
    }
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}
