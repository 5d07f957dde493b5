//! Sizes of positions and momenta in a mechanism: what its geometry and its fastest motion make of them.
//!
//! In:  positions at the start and the slopes of the locks there; how momenta move positions.
//! Out: a size for each position, and for the momenta of each part of the mechanism sizes that go together: all of
//!      them move some position by its own size in the same time.
//!
//! A coordinate that stays zero has no size of its own: a planar chain in space does not leave its plane but for
//! roundings, and a tolerance made from those would set every step. What an error in it does to the mechanism does not
//! depend on how large it is, though: a tilt of a milliradian opens the same gap in every direction. So a position has
//! the size that moves locks by as much as the terms they are made of, and momenta are compared by the speeds they
//! stand for: a light flap on a heavy body has a tolerance that fits the flap.
//!
//! **Invariant:** coordinates that no lock reads, and what does not move these, have no size here.

use paynter_symbolic::SymbolId;
use paynter_symbolic::reduced::Reduced;

use crate::lower::{Engine, lower};
use crate::machine::Machine;
use crate::map::components;

/// How large a mechanism is and how fast it moves, as it starts.
#[derive(Clone, Debug, Default)]
pub struct MechanismScales {
    /// Typical sizes of positions and momenta.
    pub states: Vec<(SymbolId, f64)>,
    /// What each lock balances.
    pub locks: Vec<LockScale>,
}

/// The largest of the terms that a lock balances, and of their rates, in m or rad and s, as the motion starts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LockScale {
    /// How far its joint is from the middle of a body.
    pub term: f64,
    /// How fast a term changes.
    pub speed: f64,
    /// How fast that changes, with nothing held.
    pub acceleration: f64,
}

/// Finds the scales of a mechanism, given with its locks released.
pub fn scales_of_mechanism(released: &Reduced, t0: f64) -> Option<MechanismScales> {
    let mut machine = lower(released, &[], Engine::Interpreter).ok()?;
    machine.initialise(t0).ok()?;
    let mut found = MechanismScales {
        locks: machine.scales_of_locks(t0).unwrap_or_default(),
        ..MechanismScales::default()
    };
    for part in machine.mechanism_sizes(t0) {
        let momenta = part.momenta.iter().map(|&(k, size)| (k, part.pace * size));
        let all = part.positions.iter().copied().chain(momenta);
        let sized = all.filter(|s| s.1 > 0.0);
        let states = sized.map(|(k, size)| (machine.image.states[k], size));
        found.states.extend(states);
    }
    Some(found)
}

/// The sizes of one part of a mechanism; parts share no lock.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartSizes {
    /// (variable, size) of positions; 0 for what no lock gives a size.
    pub positions: Vec<(usize, f64)>,
    /// (variable, size) of momenta at a motion of one position by its own size in a second.
    pub momenta: Vec<(usize, f64)>,
    /// How many of their own sizes positions move per second as the motion begins: by the speeds of the start, or
    /// from rest by the accelerations there.
    pub pace: f64,
}

impl Machine {
    /// Gives the sizes of all parts held together by locks, at the start found last.
    pub(crate) fn mechanism_sizes(&mut self, t0: f64) -> Vec<PartSizes> {
        let n_locks = self.image.dae.constraints.len();
        let n = self.image.inputs.n;
        if n_locks == 0 || self.start.len() != n {
            return Vec::new();
        }
        let y = self.start.clone();
        let Some(mut parts) = self.position_sizes(t0, &y) else {
            return Vec::new();
        };

        let entries = self.entries_at_start(t0, self.image.states.len());
        let mut rates = vec![0.0; n];
        if paynter_solve::System::rhs(self, t0, &y, &mut rates).is_err() {
            rates.fill(0.0);
        }
        for part in &mut parts {
            part.add_momenta(&entries, &rates, n);
        }
        parts
    }

    /// What each lock balances at the start found last; none if the locks have no value there.
    fn scales_of_locks(&mut self, t0: f64) -> Option<Vec<LockScale>> {
        let image = self.image.clone();
        let map = &image.locks.map;
        let first_invariant = map.rows.len() - image.dae.invariants.len();
        let first_lock = first_invariant - image.dae.constraints.len();
        let y = self.start.clone();
        let mut rates = vec![0.0; y.len()];
        if paynter_solve::System::rhs(self, t0, &y, &mut rates).is_err() {
            rates.fill(0.0);
        }
        let mut accelerations = vec![0.0; y.len()];
        for (row, column, slope) in self.entries_at_start(t0, image.states.len()) {
            accelerations[row] += slope * rates[column];
        }
        self.residuals(t0, &y, map).ok()?;
        let slopes = self.entries(map).ok()?;
        let of_row = |row: usize| {
            let largest = |values: &[f64]| {
                let terms = map.rows[row].iter().zip(&slopes[row]);
                let sizes = terms.map(|(&c, slope)| (slope * values[c as usize]).abs());
                sizes.filter(|x| x.is_finite()).fold(0.0, f64::max)
            };
            LockScale {
                term: largest(&y),
                speed: largest(&rates),
                acceleration: largest(&accelerations),
            }
        };
        Some((first_lock..first_invariant).map(of_row).collect())
    }

    /// Sizes of the positions that locks read, by part; none if the locks have no value at `y`.
    pub(crate) fn position_sizes(&mut self, t0: f64, y: &[f64]) -> Option<Vec<PartSizes>> {
        let image = self.image.clone();
        let map = &image.locks.map;
        let n_rows = map.rows.len();
        let first_invariant = n_rows - image.dae.invariants.len();
        let first_lock = first_invariant - image.dae.constraints.len();
        self.residuals(t0, y, map).ok()?;
        let slopes = self.entries(map).ok()?;

        let locks: Vec<usize> = (first_lock..first_invariant).collect();
        let mut parts = Vec::new();
        let mut is_position = vec![false; y.len()];
        for part in components(&map.rows, &locks, y.len()) {
            is_position.fill(false);
            part.columns.iter().for_each(|&c| is_position[c] = true);
            // An invariant of positions alone, such as the length of a quaternion, tells of their sizes too.
            let reads_positions =
                |&row: &usize| map.rows[row].iter().all(|&c| is_position[c as usize]);
            let invariants = (first_invariant..n_rows).filter(reads_positions);
            let rows: Vec<usize> = part.rows.iter().copied().chain(invariants).collect();
            let of_row = |row: usize| map.rows[row].iter().zip(&slopes[row]);

            let mut squares = vec![(0.0, 0.0); y.len()];
            for &row in &rows {
                let terms = of_row(row).map(|(&c, slope)| (slope * y[c as usize]).abs());
                let largest = terms.fold(0.0, f64::max);
                for (&c, slope) in of_row(row) {
                    let (of_terms, of_slopes) = &mut squares[c as usize];
                    *of_terms += largest * largest;
                    *of_slopes += slope * slope;
                }
            }
            // A coordinate that hardly moves the locks has no size from them.
            let most = part.columns.iter().map(|&c| y[c].abs());
            let most = most.fold(0.0, f64::max);
            let size_of = |(terms, slopes): (f64, f64)| {
                let size = (terms / slopes).sqrt().min(most);
                if size.is_finite() { size } else { 0.0 }
            };
            let mut size = vec![0.0; y.len()];
            for &c in &part.columns {
                size[c] = size_of(squares[c]);
            }
            // Rows all of whose terms are zero, across the plane of a planar mechanism: others that they read have
            // sizes, and so have they.
            let mut squares = vec![(0.0, 0.0); y.len()];
            for &row in &rows {
                let terms = of_row(row).map(|(&c, slope)| slope.abs() * size[c as usize]);
                let largest = terms.fold(0.0, f64::max);
                for (&c, slope) in of_row(row).filter(|(c, _)| size[**c as usize] == 0.0) {
                    let (of_terms, of_slopes) = &mut squares[c as usize];
                    *of_terms += largest * largest;
                    *of_slopes += slope * slope;
                }
            }
            for &c in part.columns.iter().filter(|&&c| squares[c].1 > 0.0) {
                size[c] = size_of(squares[c]);
            }
            let columns = part.columns.iter();
            parts.push(PartSizes {
                positions: columns.map(|&c| (c, size[c])).collect(),
                ..PartSizes::default()
            });
        }
        Some(parts)
    }
}

impl PartSizes {
    /// Finds what moves the positions, and how fast.
    fn add_momenta(&mut self, entries: &[(usize, usize, f64)], rates: &[f64], n: usize) {
        let mut size = vec![0.0; n];
        let mut is_position = vec![false; n];
        for &(c, s) in &self.positions {
            size[c] = s;
            is_position[c] = true;
        }
        // How strongly each variable moves positions, in their sizes; their accelerations, likewise.
        let mut strength = vec![0.0_f64; n];
        let mut acceleration = vec![0.0; n];
        for &(row, column, slope) in entries.iter().filter(|e| size[e.0] > 0.0) {
            acceleration[row] += slope * rates[column] / size[row];
            if !is_position[column] {
                strength[column] = strength[column].max(slope.abs() / size[row]);
            }
        }
        let momenta = strength.iter().enumerate().filter(|s| *s.1 > 0.0);
        self.momenta = momenta.map(|(k, strength)| (k, 1.0 / strength)).collect();

        let sized = self.positions.iter().filter(|p| p.1 > 0.0);
        let pace = |&(c, s): &(usize, f64)| {
            let by_speed: f64 = rates[c].abs() / s;
            by_speed.max(f64::sqrt(acceleration[c].abs()))
        };
        let pace = sized.map(pace).filter(|p| p.is_finite());
        self.pace = pace.fold(0.0, f64::max);
    }
}
