//! Finds the one joint that keeps a mechanism from being put together.
//!
//! In:  equations whose locks cannot all be met, and the locks of each joint.
//! Out: joints such that all others can be closed while this one stays open, and how far it does; the narrowest gaps only.
//!
//! The best compromise between all locks spreads one wrong length over every joint. Here the locks of one joint count for little,
//! so that all others are met and what does not fit shows at that joint alone, as small as it can be made.
//!
//! **Invariant:** nothing here changes the equations.

use super::search::Search;
use super::*;
use crate::lower::{Engine, lower};
use paynter_symbolic::reduced::Reduced;

/// Locks of the joint that may stay open count for this much: the others are then off by about its square.
const LITTLE: f64 = 1e-3;
/// The others are met if they are off by less than this part of the gap.
const CLOSED: f64 = 1e-2;
/// Gaps within this factor of the narrowest are as good an explanation.
const AS_GOOD: f64 = 1.05;
/// Each joint takes a search of its own. Larger mechanisms are explained by the compromise between all locks.
const MOST_JOINTS: usize = 24;
/// Locks whose part in the gap is smaller than this are closed.
const PART_OF_GAP: f64 = 1e-2;

/// A joint that stays open while all others are closed.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// Which of the joints asked about.
    pub joint: usize,
    /// Its open locks, by position in `Dae::constraints`, and how far each stays from zero; the widest first.
    pub gaps: Vec<(usize, f64)>,
    /// The gap in SI units: a metre and a radian count alike.
    size: f64,
}

/// Finds joints that can be blamed alone; `places` are where the search for a start began and ended, at the time `t`, and
/// `rows` what stayed open there. None where no joint can, or where the mechanism is too large to try.
pub fn single_out(
    reduced: &Reduced,
    (t, places): (f64, &[Vec<f64>; 2]),
    rows: &[(usize, f64)],
    joints: &[Vec<usize>],
) -> Vec<Misfit> {
    let Ok(mut machine) = lower(reduced, &[], Engine::Interpreter) else {
        return Vec::new();
    };
    if joints.len() > MOST_JOINTS || places[0].len() != machine.n_variables() {
        return Vec::new();
    }
    // Parameters may have had other values where the search failed: then nothing here speaks of it.
    let is_same = machine.misses_alike(t, &places[1], rows);
    if !is_same.unwrap_or(false) {
        return Vec::new();
    }
    let mut found: Vec<Misfit> = Vec::new();
    for (joint, locks) in joints.iter().enumerate() {
        let from = |place: &Vec<f64>| machine.open_only(joint, locks, (t, place)).ok()?;
        let ways = places.iter().filter_map(from);
        found.extend(ways.min_by(|a, b| a.size.total_cmp(&b.size)));
    }
    let narrowest = found.iter().fold(f64::INFINITY, |m, f| m.min(f.size));
    found.retain(|f| f.size <= AS_GOOD * narrowest);
    found
}

impl Machine {
    fn n_variables(&self) -> usize {
        self.image.inputs.n
    }

    /// Tells whether these constraints have these values.
    fn misses_alike(&mut self, t: f64, y: &[f64], rows: &[(usize, f64)]) -> Result<bool, Fault> {
        let image = self.image.clone();
        let residuals = self.residuals(t, y, &image.locks.map)?;
        let is_alike = |&(row, missing): &(usize, f64)| {
            let here = residuals.get(row).copied().unwrap_or(f64::NAN);
            (here - missing).abs() <= CLOSED * missing.abs()
        };
        Ok(rows.iter().all(is_alike))
    }

    /// Closes all joints but one as well as possible, and that one as well as the others allow.
    fn open_only(
        &mut self,
        joint: usize,
        locks: &[usize],
        (t, near): (f64, &[f64]),
    ) -> Result<Option<Misfit>, Fault> {
        let image = self.image.clone();
        let map = &image.locks.map;
        let n_rows = map.rows.len();
        let first_lock = n_rows - image.dae.invariants.len() - image.dae.constraints.len();
        let is_open = |row: &usize| {
            let lock = row.checked_sub(first_lock);
            lock.is_some_and(|lock| locks.contains(&lock))
        };
        let rows: Vec<usize> = (first_lock..n_rows).collect();
        let is_free = self.is_position();
        let mut searches: Vec<Search> = components(&map.rows, &rows, near.len())
            .into_iter()
            .map(|part| Search::new(part, &is_free))
            .collect();
        for search in &mut searches {
            for (row, urgency) in search.rows.iter().zip(&mut search.urgency) {
                if is_open(row) {
                    *urgency = LITTLE;
                }
            }
        }

        let mut y = near.to_vec();
        self.search(t, &mut y, map, &mut searches)?;
        let residuals = self.residuals(t, &y, map)?;
        let squares = |rows: &mut dyn Iterator<Item = usize>| -> f64 {
            rows.map(|row| residuals[row].powi(2)).sum()
        };
        let gap = squares(&mut rows.iter().copied().filter(is_open));
        let rest = squares(&mut rows.iter().copied().filter(|row| !is_open(row)));
        let is_closed = rest <= CLOSED.powi(2) * gap;
        if !is_closed {
            return Ok(None);
        }

        let of_row = |&row: &usize| (row - first_lock, residuals[row]);
        let mut gaps: Vec<(usize, f64)> = rows.iter().filter(|r| is_open(r)).map(of_row).collect();
        gaps.retain(|g| g.1.powi(2) > PART_OF_GAP.powi(2) * gap);
        gaps.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let size = gap.sqrt();
        Ok(Some(Misfit { joint, gaps, size }))
    }
}
