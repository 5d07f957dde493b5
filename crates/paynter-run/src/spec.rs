//! What a run is asked for, how it can end, and the machine that can run it.
//!
//! In:  times, tolerances, a method and the quantities to record.
//! Out: a [`RunSpec`]; with reduced equations, the machine that fits it.

use crate::recorder::Onlooker;
use crate::trace::Measured;
use crate::trouble::Trouble;
use paynter_exec::{Engine, Form, LowerError, Lowering, Machine, lower_with};
use paynter_solve::Method;
use paynter_symbolic::dae::Origin;
use paynter_symbolic::reduced::{Block, Reduced};
use paynter_symbolic::{ExprId, SymbolId};
use std::ops::Range;

/// A quantity to record.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Name of its column.
    pub name: String,
    /// Its value in SI units.
    pub value: ExprId,
    /// The unit it is written in; empty for SI.
    pub unit: String,
    /// SI value of one such unit.
    pub factor: f64,
    /// SI value of zero in that unit.
    pub offset: f64,
}

impl Wanted {
    /// Turns a value in SI units into one in the column's unit.
    pub fn to_unit(&self, x: f64) -> f64 {
        if self.factor == 1.0 && self.offset == 0.0 {
            x
        } else {
            (x - self.offset) / self.factor
        }
    }
}

/// Everything a run needs beside the equations.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// First instant, s.
    pub start: f64,
    /// Last instant, s.
    pub stop: f64,
    /// When to record, ascending.
    pub output_times: Vec<f64>,
    /// Which method.
    pub method: Method,
    /// Step of methods with fixed step.
    pub fixed_step: Option<f64>,
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance for all variables; by nominal values where none is given.
    pub atol: Option<f64>,
    /// Largest step.
    pub max_step: Option<f64>,
    /// Steps after which the run is stopped.
    pub max_steps: Option<usize>,
    /// First step.
    pub initial_step: Option<f64>,
    /// Interpreter or machine code.
    pub engine: Engine,
    /// What to record.
    pub wanted: Vec<Wanted>,
    /// Columns that measures read inside every step as well.
    pub measured: Vec<Measured>,
    /// Find min and max between the output times as well.
    pub wants_ranges: bool,
    /// Integrate the columns, and the sizes of these, which have one unit and say how finely; columns after them have no ranges.
    pub wants_areas: Option<Range<usize>>,
    /// Parameters changed after compiling, SI units.
    pub parameters: Vec<(SymbolId, f64)>,
    /// Methods keep their past over ticks: see [`paynter_solve::Options::keeps_past`].
    pub keeps_past: bool,
    /// Run in minimal coordinates.
    pub is_minimal: bool,
    /// States of an equilibrium to start from instead; empty where nothing was trimmed.
    pub rest: Vec<(SymbolId, f64)>,
    /// Who looks at the rows while the run goes on.
    pub onlooker: Option<Onlooker>,
}

/// Time, unknowns, and origins of equations that leave these open.
pub type LeftOpen = (f64, Vec<SymbolId>, Vec<Origin>);

/// Why a run ended: `Why` is a [`Trouble`] here, and messages for people above this crate.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending<Why = Box<Trouble>> {
    /// The stop time was reached.
    Reached,
    /// The model said `stop` at this time.
    Stopped {
        /// When.
        time: f64,
        /// In the model's words.
        message: String,
    },
    /// The user broke it off at this time.
    Cancelled {
        /// When.
        time: f64,
    },
    /// The solver gave up at this time.
    Failed {
        /// When.
        time: f64,
        /// Why.
        why: Why,
    },
}

impl Ending {
    /// The end of a run that got into trouble.
    pub(crate) fn failed(why: Box<Trouble>) -> Self {
        let time = why.time;
        Ending::Failed { time, why }
    }
}

impl<Why> Ending<Why> {
    /// The same ending with its reason told in another way.
    pub fn map<Other>(self, tell: impl FnOnce(Why) -> Other) -> Ending<Other> {
        match self {
            Ending::Reached => Ending::Reached,
            Ending::Stopped { time, message } => Ending::Stopped { time, message },
            Ending::Cancelled { time } => Ending::Cancelled { time },
            Ending::Failed { time, why } => Ending::Failed {
                time,
                why: tell(why),
            },
        }
    }
}

/// Makes the machine for a run, with further columns after those of the run.
pub fn prepare_wanted(
    reduced: &Reduced,
    spec: &RunSpec,
    further: &[ExprId],
) -> Result<Machine, LowerError> {
    // What `auto` begins with is explicit; if the run turns out stiff, it goes on with opened blocks.
    let is_implicit = spec.method.is_implicit();
    let form = if is_implicit && has_large_block(reduced) {
        Form::Dae
    } else {
        Form::Explicit
    };
    lower_for(reduced, spec, further, form)
}

/// As [`prepare_wanted`], with the unknowns of blocks as variables of the solver.
pub(crate) fn prepare_opened(
    reduced: &Reduced,
    spec: &RunSpec,
    further: &[ExprId],
) -> Result<Machine, LowerError> {
    lower_for(reduced, spec, further, Form::Dae)
}

fn lower_for(
    reduced: &Reduced,
    spec: &RunSpec,
    further: &[ExprId],
    form: Form,
) -> Result<Machine, LowerError> {
    let mut wanted: Vec<ExprId> = spec.wanted.iter().map(|w| w.value).collect();
    wanted.extend_from_slice(further);
    let lowering = Lowering {
        engine: spec.engine,
        form,
        ..Lowering::default()
    };
    let mut machine = lower_with(reduced, &wanted, lowering)?;
    if spec.is_minimal {
        machine.use_minimal_coordinates();
    }
    Ok(machine)
}

/// Beyond this many unknowns a block solved inside the right-hand side makes the Jacobian of an
/// implicit method dense, which costs more than the extra variables do.
const LARGE_BLOCK: usize = 40;

pub(crate) fn has_large_block(reduced: &Reduced) -> bool {
    reduced.blocks.iter().any(|b| match b {
        Block::Assign { .. } => false,
        Block::Linear { unknowns, .. } | Block::Nonlinear { unknowns, .. } => {
            unknowns.len() > LARGE_BLOCK
        }
    })
}
