//! Why a run could not start, or ended too soon: numbers and places, no words.
//!
//! In:  errors of lowering, of the start, of the integrators, of the search among ideal contacts.
//! Out: a [`Trouble`] with its time and the elements and symbols it is about. Who shows it to people
//!      finds the words (`paynter-analysis/src/explain/`).
//!
//! **Invariant:** everything that the words need is copied out of the machine at the instant of the failure:
//! the machine may run on.

use paynter_exec::{Failure, LowerError, Machine, StartError};
use paynter_model::graph::ElementId;
use paynter_solve::{EvalError, SolveError};
use paynter_symbolic::SymbolId;
use paynter_symbolic::reduced::Reduced;
use std::sync::Arc;

/// What went wrong, and when.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// When, s.
    pub time: f64,
    /// What.
    pub cause: Cause,
    /// The equations at that instant where they are not those of the compiled model: contacts have changed them.
    pub equations: Option<Arc<Reduced>>,
}

/// What went wrong.
#[derive(Clone, Debug)]
pub enum Cause {
    /// The equations cannot be turned into a machine.
    NotRunnable(LowerError),
    /// There is no consistent start.
    NoStart(StartError),
    /// A recorded quantity has no value; what the machine says of it, where it says something.
    NotRecorded(Option<Failure>),
    /// The integrator gave up.
    Solver(Box<Stuck>),
    /// No choice of conducting and blocking contacts fits; these contacts are in each other's way.
    NoConfiguration {
        /// Contacts that together prove it; all where there is no proof.
        contacts: Vec<ElementId>,
    },
    /// No states were found after a switching.
    NoStates,
    /// An opening contact would cut the flow of an inertia.
    CutFlow {
        /// The inertia.
        inertia: ElementId,
        /// What it holds, SI units.
        momentum: f64,
        /// What opens.
        contact: ElementId,
    },
}

/// An integrator that gave up, with what the machine knows of the place.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// The integrator's own words.
    pub error: SolveError,
    /// States in the order of its variables.
    pub states: Vec<SymbolId>,
    /// What the machine says of a value that could not be computed.
    pub behind: Option<Failure>,
    /// The mode that chatters or loops, and whether its events move states.
    pub switch: Option<(SymbolId, bool)>,
}

impl Stuck {
    /// Asks the machine what is behind an error, while it is where the error was made.
    pub fn new(machine: &mut Machine, error: SolveError) -> Self {
        use paynter_solve::Failure as Solver;
        let behind = match error.failure {
            Solver::NotFinite { t, .. } => machine.find_not_finite(t, &error.y),
            Solver::Evaluation { error, .. } => behind(machine, error),
            _ => None,
        };
        let switch = match error.failure {
            Solver::Chattering { guard, .. } | Solver::EventLoop { guard, .. } => {
                let mode = machine.mode_of_guard(guard);
                mode.map(|mode| (mode, machine.moves_states(mode)))
            }
            _ => None,
        };
        Stuck {
            states: machine.states().to_vec(),
            behind,
            switch,
            error,
        }
    }
}

/// What a machine says of an evaluation that failed.
pub(crate) fn behind(machine: &mut Machine, error: EvalError) -> Option<Failure> {
    match error {
        EvalError::Failed { code } | EvalError::Fatal { code } => {
            Some(machine.describe_failure(code))
        }
        EvalError::NotFinite { .. } => None,
    }
}
