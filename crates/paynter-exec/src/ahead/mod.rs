//! Switches and corners that depend on time alone, found ahead of the integration and at their own resolution.
//!
//! In:  functions of time ([`Tape`]), each with the cells into which its values fall: the two sides of a comparison, the
//!      whole numbers of a `floor`, the pieces of a table.
//! Out: the cell that holds from an instant on, and the first instant at which another takes over. However fast the
//!      function and however slow the states, no change is stepped over.
//!
//! **Invariant:** the instant that [`Clockwork::next_change`] announces is one from which on [`Clockwork::cell`] gives
//! another cell, and before which it gives the same.

mod exit;
mod functions;
mod hidden;
mod interval;
mod lines;
mod tape;
mod waves;

pub(crate) use hidden::Hidden;
pub(crate) use interval::Interval;
pub(crate) use lines::Ends;
pub(crate) use tape::{Dependences, Reads, Tape, for_each_input};
pub(crate) use waves::Waves;

use crate::events::mode_at;
use crate::image::SwitchKind;
use exit::{Exit, Search};
use interval::Jet;

/// What distinguishes the values of a function of time.
#[derive(Clone, Debug)]
pub(crate) enum Cells {
    /// By a switch.
    Switch(SwitchKind),
    /// By these values, ascending.
    Between(Vec<f64>),
}

/// A function of time that is watched.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub tape: Tape,
    pub cells: Cells,
}

/// What a run knows of one watched function.
#[derive(Clone, Debug)]
pub(crate) struct Clockwork {
    registers: Vec<Jet>,
    /// Values of the slots that the tape was bound with.
    held: Vec<f64>,
    /// The cell, by the value of its mode or by its number, and its range.
    cell: f64,
    range: Interval,
    /// From when on the cell is known.
    since: f64,
    exit: Exit,
    scale: f64,
    /// When it was first found to wind faster than can be followed.
    pub unresolved: Option<f64>,
}

/// A search that gets no farther than this part of the rest of the run cannot follow the function …
const HOPELESS_SHARE: f64 = 1e-8;
/// … which is then looked at again after this part, and reported.
const BLIND_SHARE: f64 = 0.05;

impl Clockwork {
    pub(crate) fn new() -> Self {
        Clockwork {
            registers: Vec::new(),
            held: Vec::new(),
            cell: f64::NAN,
            range: Interval::ENTIRE,
            since: f64::INFINITY,
            exit: Exit::NotBefore(f64::NEG_INFINITY),
            scale: 0.0,
            unresolved: None,
        }
    }

    /// Forgets what is known, as at a new start.
    pub(crate) fn forget(&mut self) {
        *self = Self::new();
    }

    /// Gives the cell that holds from t on.
    pub(crate) fn cell(&mut self, watched: &Watched, slots: &[f64], (t, t_end): (f64, f64)) -> f64 {
        self.cell_from(watched, slots, (t, t, t_end))
    }

    /// Gives the cell that holds from an event at t on, by values not before `seen`, a few roundings later: changes in
    /// between belong to the event.
    pub(crate) fn cell_from(
        &mut self,
        watched: &Watched,
        slots: &[f64],
        (t, seen, t_end): (f64, f64, f64),
    ) -> f64 {
        self.bind(watched, slots);
        let (Exit::At(end) | Exit::NotBefore(end)) = self.exit;
        if !(t >= self.since && seen < end) {
            self.find_cell(watched, (seen, t_end));
            self.since = t;
        }
        self.cell
    }

    /// The announced change if it is the same instant as t, to the roundings of a search.
    pub(crate) fn change_near(&self, t: f64) -> Option<f64> {
        const ROUNDINGS: f64 = 4.0 * exit::TIME_ULPS;
        match self.exit {
            Exit::At(at) if at > t && at - t <= ROUNDINGS * f64::EPSILON * t.abs() => Some(at),
            _ => None,
        }
    }

    /// Gives the cell at the very instant t, by the value there.
    pub(crate) fn cell_at(&mut self, watched: &Watched, slots: &[f64], t: f64) -> f64 {
        self.bind(watched, slots);
        let value = watched.tape.at(&mut self.registers, t).value;
        match watched.cells {
            Cells::Switch(kind) => mode_at(kind, on_bound(kind, value), None),
            Cells::Between(ref bounds) => bounds.partition_point(|&b| b <= value.middle()) as f64,
        }
    }

    /// Gives the first instant after t at which the cell changes, and up to where that is known.
    pub(crate) fn next_change(
        &mut self,
        watched: &Watched,
        slots: &[f64],
        (t, t_end): (f64, f64),
    ) -> (Option<f64>, f64) {
        self.cell(watched, slots, (t, t_end));
        if let Exit::NotBefore(known) = self.exit
            && known <= t
        {
            let mut search = Search {
                tape: &watched.tape,
                registers: &mut self.registers,
                range: self.range,
                scale: &mut self.scale,
                is_blind: false,
            };
            self.exit = search.first_exit(t, t_end);
            if search.is_blind {
                self.unresolved.get_or_insert(t);
            }
            self.give_up_if_hopeless((t, t_end));
        }
        match self.exit {
            Exit::At(at) => (Some(at), f64::INFINITY),
            Exit::NotBefore(known) if known >= t_end => (None, f64::INFINITY),
            Exit::NotBefore(known) => (None, known),
        }
    }

    /// Where nothing can be told of the function however closely it is looked at, the run goes on without it.
    fn give_up_if_hopeless(&mut self, (t, t_end): (f64, f64)) {
        let rest = t_end - t;
        if let Exit::NotBefore(known) = self.exit
            && known < t + HOPELESS_SHARE * rest
        {
            self.unresolved.get_or_insert(t);
            let is_end = rest <= HOPELESS_SHARE * t_end.abs();
            self.exit = Exit::NotBefore(if is_end {
                t_end
            } else {
                t + BLIND_SHARE * rest
            });
        }
    }

    /// Tells whether t is the instant announced.
    pub(crate) fn is_change(&self, t: f64) -> bool {
        self.exit == Exit::At(t)
    }

    fn bind(&mut self, watched: &Watched, slots: &[f64]) {
        let now = watched.tape.slots.iter().map(|&slot| slots[slot as usize]);
        let is_bound = self.held.len() == watched.tape.slots.len() && !self.registers.is_empty();
        let same = |(a, b): (f64, &f64)| a.to_bits() == b.to_bits();
        if is_bound && now.clone().zip(&self.held).all(same) {
            return;
        }
        self.held.clear();
        self.held.extend(now);
        watched.tape.bind(&mut self.registers, slots);
        self.since = f64::INFINITY;
    }

    /// The cell of the first value at or after t that is clear of all bounds: where the function is on a bound, the
    /// way it goes on decides.
    fn find_cell(&mut self, watched: &Watched, (t, t_end): (f64, f64)) {
        // Doublings of a rounding until values are clear; a function that is not clear even then rests there.
        const MOST_DOUBLINGS: i32 = 36;
        self.since = t;
        self.exit = Exit::NotBefore(t);
        let span = if t_end > t { t_end - t } else { 1.0 };
        let unit = f64::EPSILON * t.abs().max(span.min(1e9));
        for doublings in 0..MOST_DOUBLINGS {
            let ahead = if doublings == 0 {
                0.0
            } else {
                unit * 2_f64.powi(doublings)
            };
            let value = watched.tape.at(&mut self.registers, t + ahead).value;
            if let Some((cell, range)) = clear_cell(&watched.cells, value) {
                (self.cell, self.range) = (cell, range);
                return;
            }
        }

        let value = watched.tape.at(&mut self.registers, t).value;
        let ahead = Interval::new(t, t_end.max(t));
        let all = watched.tape.over(&mut self.registers, ahead);

        // At rest on a bound, or not known even at an instant?
        let is_blind =
            !all.slope.is_zero() && value.width() >= exit::BLIND_SHARE * all.value.width();
        if is_blind && ahead.width() > exit::SHORT_ULPS * unit {
            self.unresolved.get_or_insert(t);
        }

        self.range = value;
        self.cell = match watched.cells {
            Cells::Switch(kind) => mode_at(kind, on_bound(kind, value), None),
            Cells::Between(ref bounds) => bounds.partition_point(|&b| b <= value.middle()) as f64,
        };
    }
}

/// The cell of a value that is clear of all bounds, with its range.
fn clear_cell(cells: &Cells, value: Interval) -> Option<(f64, Interval)> {
    match cells {
        Cells::Switch(kind @ (SwitchKind::Relation(_) | SwitchKind::Sign)) => {
            let range = if value.is_positive() {
                Interval::new(0.0, f64::INFINITY)
            } else if value.is_negative() {
                Interval::new(f64::NEG_INFINITY, 0.0)
            } else {
                return None;
            };
            Some((mode_at(*kind, value.middle(), None), range))
        }
        Cells::Switch(SwitchKind::Floor) => {
            let whole = value.lo.floor();
            let is_clear = value.lo > whole && value.hi < whole + 1.0;
            is_clear.then(|| (whole, Interval::new(whole, whole + 1.0)))
        }
        Cells::Between(bounds) => {
            let piece = bounds.partition_point(|&b| b <= value.lo);
            let is_clear = bounds.get(piece).is_none_or(|&b| b > value.hi)
                && (piece == 0 || bounds[piece - 1] < value.lo);
            let end = |k: Option<usize>, open: f64| {
                k.and_then(|k| bounds.get(k)).copied().unwrap_or(open)
            };
            let lo = end(piece.checked_sub(1), f64::NEG_INFINITY);
            let hi = end(Some(piece), f64::INFINITY);
            is_clear.then(|| (piece as f64, Interval::new(lo, hi)))
        }
    }
}

/// A value that is on a bound, to rounding, as that bound.
fn on_bound(kind: SwitchKind, value: Interval) -> f64 {
    match kind {
        SwitchKind::Relation(_) | SwitchKind::Sign if value.contains(0.0) => 0.0,
        SwitchKind::Floor if value.contains(value.hi.floor()) => value.hi.floor(),
        _ => value.middle(),
    }
}
