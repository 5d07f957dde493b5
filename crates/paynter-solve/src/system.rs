//! What an integrator needs to know of a problem: numbers only, no model.
//!
//! In:  an implementation of [`System`] made by someone who knows the model.
//! Out: the contract between that implementation and every method of this crate.
//!
//! The problem is `M ẏ = f(t, y)` with `M` diagonal: ones for differential rows, zeros for
//! algebraic rows. Beside it are guards (state events), exact time events, a projection on
//! invariants, and quadratures that are integrated but never fed back.
//!
//! **Invariant:** `rhs`, `jacobian`, `time_derivative`, `guards` and `quadrature_rates` are
//! functions of `(t, y)` and of the discrete modes; the modes change in `handle_event` only.

use crate::tableau::Trial;

/// A sparsity pattern in compressed sparse column form.
///
/// Rows inside a column are strictly increasing; `column_starts` has one entry more than
/// there are columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    n: usize,
    column_starts: Vec<usize>,
    rows: Vec<usize>,
}

impl Pattern {
    /// Builds a square pattern of size `n`, or returns `None` if the arrays do not describe one.
    pub fn new(n: usize, column_starts: Vec<usize>, rows: Vec<usize>) -> Option<Self> {
        let shape_is_right = column_starts.len() == n + 1
            && column_starts.first() == Some(&0)
            && column_starts.last() == Some(&rows.len())
            && column_starts.is_sorted();
        if !shape_is_right {
            return None;
        }
        for column in column_starts.windows(2) {
            let entries = &rows[column[0]..column[1]];
            let is_increasing = entries.windows(2).all(|pair| pair[0] < pair[1]);
            if !is_increasing || entries.last().is_some_and(|&row| row >= n) {
                return None;
            }
        }
        Some(Self {
            n,
            column_starts,
            rows,
        })
    }

    /// Builds a pattern from `(row, column)` pairs in any order; repeated pairs count once.
    /// Returns `None` if a pair lies outside of the square.
    pub fn from_entries(n: usize, entries: &[(usize, usize)]) -> Option<Self> {
        if entries.iter().any(|&(row, column)| row >= n || column >= n) {
            return None;
        }
        let mut sorted: Vec<(usize, usize)> = entries.iter().map(|&(r, c)| (c, r)).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut column_starts = vec![0; n + 1];
        for &(column, _) in &sorted {
            column_starts[column + 1] += 1;
        }
        for column in 0..n {
            column_starts[column + 1] += column_starts[column];
        }
        let rows = sorted.into_iter().map(|(_, row)| row).collect();
        Some(Self {
            n,
            column_starts,
            rows,
        })
    }

    /// Number of rows, which is the number of columns.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of entries that may differ from zero.
    pub fn n_entries(&self) -> usize {
        self.rows.len()
    }

    /// Where each column starts in [`Pattern::rows`]; `n + 1` entries.
    pub fn column_starts(&self) -> &[usize] {
        &self.column_starts
    }

    /// Row of each entry, column after column.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Rows of one column, increasing.
    pub fn column(&self, column: usize) -> &[usize] {
        &self.rows[self.column_starts[column]..self.column_starts[column + 1]]
    }
}

/// Why a function of the system could not be evaluated. Names are added by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// A computed value is not a finite number; `index` is its row.
    NotFinite {
        /// Row of the function that was evaluated.
        index: usize,
    },
    /// The system gave up for a reason it knows by this number, e.g. the number of an
    /// algebraic block that found no solution. The solver tries a smaller step first.
    Failed {
        /// Code chosen by the system.
        code: u32,
    },
    /// The system gave up for a reason that no smaller step can cure; the run ends.
    Fatal {
        /// Code chosen by the system.
        code: u32,
    },
}

/// One change of sign of one guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Number of the guard.
    pub guard: usize,
    /// The way it crossed.
    pub direction: Direction,
}

/// The way a guard crosses zero as time goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
}

/// What the solver must do after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOutcome {
    /// Go on. With `changed` the state, a mode or the right-hand side jumped, so the method
    /// starts anew from the state given back; without, the trajectory is as smooth as before.
    Continue {
        /// Whether anything the right-hand side or a guard sees has jumped.
        changed: bool,
    },
    /// End the run here, for a reason the system knows by this number.
    Stop {
        /// Code chosen by the system.
        code: u32,
    },
}

/// A step that was just made, and what is known of its inside.
#[derive(Clone, Copy, Debug)]
pub struct Stepped<'a> {
    /// Its ends.
    pub t: (f64, f64),
    /// The states there.
    pub y: (&'a [f64], &'a [f64]),
    /// Where the method has evaluated between them, as shares of the step.
    pub nodes: &'a [f64],
    /// The states at the nodes, on the interpolant; none in a first look, since they cost evaluations.
    pub at_nodes: &'a [Vec<f64>],
}

/// What lies inside of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Passed {
    /// Nothing that its stages have not seen.
    Nothing,
    /// Something at this instant.
    At(f64),
    /// That depends on where the stages were: to be asked again with the states at the nodes.
    Unsure,
}

/// What a projection did to a state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Projection {
    /// Whether any component was moved.
    pub moved: bool,
    /// Size of the move, in the measure of the system's own tolerances.
    pub size: f64,
}

/// A problem `M ẏ = f(t, y)` with events, projection and quadratures.
///
/// All slices have the length announced by the matching `n…` function.
pub trait System {
    /// Number of variables.
    fn n(&self) -> usize;

    /// Tells which rows are algebraic (`M_ii = 0`, `0 = f_i`); an empty slice means none.
    fn algebraic(&self) -> &[bool] {
        &[]
    }

    /// Computes `f(t, y)`.
    ///
    /// # Errors
    ///
    /// The right-hand side has no value here. The solver then tries a smaller step, unless the
    /// error is [`EvalError::Fatal`]. It checks for values that are not finite itself.
    fn rhs(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), EvalError>;

    /// Computes how far each rate of `f(t, y)` moves if everything is rounded in another way, and returns true; false
    /// means that this is not known.
    ///
    /// # Errors
    ///
    /// As [`System::rhs`].
    fn noise(&mut self, _t: f64, _y: &[f64], _noise: &mut [f64]) -> Result<bool, EvalError> {
        Ok(false)
    }

    /// Silences a guard whose values at `(t, y)` are roundings of others: none of them means that it has crossed. Tells
    /// whether it could tell. Larger values are heard as always.
    fn silence(&mut self, _t: f64, _y: &[f64], _guard: usize) -> bool {
        false
    }

    /// Hears a guard again that was silenced.
    fn hear(&mut self, _guard: usize) {}

    /// Gives the pattern of `∂f/∂y`; `None` means dense.
    fn jacobian_pattern(&self) -> Option<&Pattern> {
        None
    }

    /// Computes `∂f/∂y` in the order of the pattern (column by column when dense) and returns
    /// true; false asks the solver to use finite differences.
    ///
    /// # Errors
    ///
    /// As [`System::rhs`].
    fn jacobian(&mut self, _t: f64, _y: &[f64], _values: &mut [f64]) -> Result<bool, EvalError> {
        Ok(false)
    }

    /// Computes `∂f/∂t` and returns true; false asks the solver to use finite differences.
    ///
    /// # Errors
    ///
    /// As [`System::rhs`].
    fn time_derivative(&mut self, _t: f64, _y: &[f64], _ft: &mut [f64]) -> Result<bool, EvalError> {
        Ok(false)
    }

    /// Number of guards.
    fn n_guards(&self) -> usize {
        0
    }

    /// Computes all guards. An event is a change of sign; a value of exactly 0 counts as the
    /// side the guard was on before. After a reaction a guard at zero may be given as less than
    /// 1e-290 in size: then its sign is the side that the reaction put it on.
    ///
    /// # Errors
    ///
    /// A guard has no value here; the run ends.
    fn guards(&mut self, _t: f64, _y: &[f64], _g: &mut [f64]) -> Result<(), EvalError> {
        Ok(())
    }

    /// Writes the side on which the system takes each guard to be, +1 or −1, or 0 where it leaves that to the
    /// value, and returns true; false if it has no sides. A value that contradicts its side, at a start or after a
    /// reaction, is an event there and then, unless it is rounding and about to return.
    fn guard_sides(&mut self, _sides: &mut [f64]) -> bool {
        false
    }

    /// Computes the derivative of each guard along the trajectory, where `dy` is ẏ, and returns true; false asks the
    /// solver to use differences, which see nothing below the noise of what is iterated.
    ///
    /// # Errors
    ///
    /// As [`System::guards`].
    fn guard_rates(
        &mut self,
        _t: f64,
        _y: &[f64],
        _dy: &[f64],
        _rates: &mut [f64],
    ) -> Result<bool, EvalError> {
        Ok(false)
    }

    /// Tells whether guards read something that may wind faster than a step: then [`System::cut_step`] is asked.
    fn may_cut_steps(&self) -> bool {
        false
    }

    /// Adds instants inside of a step, ascending, between which few samples show all that guards do: where they read
    /// something that winds faster than the step, such as a sine of time beside slow states. `y` is at the start, in the
    /// middle and at the end. False if there were too many: then they end before the step does, and it is made again
    /// up to there.
    fn cut_step(&mut self, _t: (f64, f64), _y: [&[f64]; 3], _cuts: &mut Vec<f64>) -> bool {
        true
    }

    /// Tells whether the right-hand side does something inside of a step that none of the stages can have seen: a
    /// pulse much shorter than the step. The step is then made again up to there. Nothing by default.
    fn passed_over(&mut self, _step: &Stepped<'_>) -> Passed {
        Passed::Nothing
    }

    /// Tells the system where the run ends, before it begins: how far ahead time events are wanted.
    fn expect_end(&mut self, _t_end: f64) {}

    /// Tells whether the last event changed nothing but what is held from tick to tick.
    fn has_only_ticked(&self) -> bool {
        false
    }

    /// Tells whether a time event is due at the very start of a run.
    fn is_due(&mut self, _t: f64) -> bool {
        false
    }

    /// Gives the first exact time event strictly after `t`. The solver lands on that very
    /// number and never steps over it.
    fn next_time_event(&mut self, _t: f64) -> Option<f64> {
        None
    }

    /// Tells up to which time the answer of [`System::next_time_event`] holds if it is none before: the solver asks
    /// again there.
    fn known_until(&self) -> f64 {
        f64::INFINITY
    }

    /// Reacts to an event at `t`. It may change `y` and the modes.
    ///
    /// `fired` holds the guards that crossed, each with its direction; it is empty at a pure
    /// time event, and both kinds may come in one call. When the reaction makes further guards
    /// change sign, or turns a guard back from its surface, the function is called again at the
    /// same `t` with those. The crossings of one guard therefore always alternate: rising,
    /// falling, rising, … (a guard that is 0 at the start counts as positive if it is about to
    /// rise, otherwise as negative).
    ///
    /// # Errors
    ///
    /// The event has no consistent outcome; the run ends.
    fn handle_event(
        &mut self,
        _t: f64,
        _y: &mut [f64],
        _fired: &[Crossing],
    ) -> Result<EventOutcome, EvalError> {
        Ok(EventOutcome::Continue { changed: false })
    }

    /// Tells whether [`System::project`] may ever move a state. Methods that keep a history
    /// over several steps are then refused.
    fn projects(&self) -> bool {
        false
    }

    /// Moves `y` to the nearest state that keeps the invariants and constraints.
    ///
    /// # Errors
    ///
    /// No such state was found near `y`; the solver tries a smaller step.
    fn project(&mut self, _t: f64, _y: &mut [f64]) -> Result<Projection, EvalError> {
        Ok(Projection::default())
    }

    /// Appends measures of how regular the system is here, in the same order at every point, and returns true; false if it
    /// cannot become singular. A measure vanishes where the right-hand side has no value, and is smooth up to its sign on
    /// the way there.
    ///
    /// # Errors
    ///
    /// The measures have no value here.
    fn regularity(&mut self, _t: f64, _y: &[f64], _out: &mut Vec<f64>) -> Result<bool, EvalError> {
        Ok(false)
    }

    /// Tells whether other equations for the same motion are more regular here. Asked where a measure of
    /// [`System::regularity`] has faded, if the caller has such equations ([`WhenFaded::Finish`](crate::WhenFaded)).
    fn has_better_form(&mut self, _t: f64, _y: &[f64]) -> bool {
        false
    }

    /// Number of quadratures.
    fn n_quadratures(&self) -> usize {
        0
    }

    /// Computes the integrands of the quadratures.
    ///
    /// # Errors
    ///
    /// An integrand has no value here; the run ends.
    fn quadrature_rates(&mut self, _t: f64, _y: &[f64], _q: &mut [f64]) -> Result<(), EvalError> {
        Ok(())
    }

    /// Sees the end of an accepted step, or of the part of it before an event, with the modes of the step. What it
    /// notes there must not change the right-hand side.
    fn step_done(&mut self, _t: f64, _y: &[f64]) {}

    /// Tells how many quadratures, the first ones, must keep the tolerance. The others have kinks, or
    /// are wanted to few digits, and take the points that the first ones need.
    fn n_checked_quadratures(&self) -> usize {
        self.n_quadratures()
    }

    /// Computes `f(t, y)` and the integrands of the quadratures, which often share most of their work.
    ///
    /// # Errors
    ///
    /// As for [`System::rhs`].
    fn rhs_and_quadrature_rates(
        &mut self,
        t: f64,
        y: &[f64],
        f: &mut [f64],
        q: &mut [f64],
    ) -> Result<(), EvalError> {
        self.rhs(t, y, f)?;
        self.quadrature_rates(t, y, q)
    }

    /// Makes all stages of an explicit step at once and returns true; false asks the solver to go stage by stage,
    /// whatever was written. A system that does this gives the bits that its other functions would give, and refuses
    /// where any of them would fail or give a rate that is not finite.
    fn step(&mut self, _trial: Trial<'_>) -> bool {
        false
    }

    /// Computes what is to be recorded at this point. Observers call it; solvers never do.
    ///
    /// # Errors
    ///
    /// As for [`System::rhs`].
    fn observe(&mut self, _t: f64, _y: &[f64], _out: &mut [f64]) -> Result<(), EvalError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_refuses_rows_out_of_order_or_out_of_range() {
        assert!(Pattern::new(2, vec![0, 2, 2], vec![1, 0]).is_none());
        assert!(Pattern::new(2, vec![0, 1, 2], vec![0, 2]).is_none());
        assert!(Pattern::new(2, vec![0, 1], vec![0]).is_none());
        assert!(Pattern::new(2, vec![0, 1, 2], vec![0, 1]).is_some());
    }

    #[test]
    fn pattern_from_entries_sorts_and_removes_repetitions() {
        let pattern = Pattern::from_entries(3, &[(2, 0), (0, 0), (2, 0), (1, 2)])
            .expect("entries lie inside the square");
        assert_eq!(pattern.column(0), [0, 2]);
        assert_eq!(pattern.column(1), [0; 0]);
        assert_eq!(pattern.column(2), [1]);
    }
}
