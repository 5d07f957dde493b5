//! What can go wrong while a model runs, as numbers for the solver and as names for people.
//!
//! In:  a [`Fault`] met by a step.
//! Out: the code that travels through the solver, and back: a [`Failure`] with symbols and
//!      origins, from which the caller makes a message.

use paynter_symbolic::{Origin, SymbolId};

/// A failure in terms of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Singular(u32),
    NoConvergence(u32),
    BlockNotFinite(u32),
    External(u32),
    EventLoop,
    Reinit(u32),
    Projection,
    Stop(u32),
    /// A sampled equation gave no finite number.
    Sample(u32),
    /// Two `when`s give one quantity different values; the machine knows which.
    Conflict,
}

const KINDS: u32 = 10;

impl Fault {
    /// Gives the number that stands for it in the solver.
    pub(crate) fn code(self) -> u32 {
        let (kind, position) = match self {
            Fault::Singular(p) => (0, p),
            Fault::NoConvergence(p) => (1, p),
            Fault::BlockNotFinite(p) => (2, p),
            Fault::External(p) => (3, p),
            Fault::EventLoop => (4, 0),
            Fault::Reinit(p) => (5, p),
            Fault::Projection => (6, 0),
            Fault::Stop(p) => (7, p),
            Fault::Sample(p) => (8, p),
            Fault::Conflict => (9, 0),
        };
        position.saturating_mul(KINDS).saturating_add(kind)
    }

    /// Reads the number back.
    pub(crate) fn from_code(code: u32) -> Self {
        let position = code / KINDS;
        match code % KINDS {
            0 => Fault::Singular(position),
            1 => Fault::NoConvergence(position),
            2 => Fault::BlockNotFinite(position),
            3 => Fault::External(position),
            4 => Fault::EventLoop,
            5 => Fault::Reinit(position),
            6 => Fault::Projection,
            7 => Fault::Stop(position),
            8 => Fault::Sample(position),
            _ => Fault::Conflict,
        }
    }
}

/// A failure, or an end asked for by the model, in terms of the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// Equations that should fix these unknowns do not, at the present point.
    Singular {
        /// What they should fix.
        unknowns: Vec<SymbolId>,
        /// The equations.
        origins: Vec<Origin>,
    },
    /// No solution of these equations was found near the last one.
    NoConvergence {
        /// What they should fix.
        unknowns: Vec<SymbolId>,
        /// The equations.
        origins: Vec<Origin>,
    },
    /// The definition of this symbol makes infinity or NaN out of finite numbers.
    NotFinite {
        /// The symbol, where one is defined there.
        symbol: Option<SymbolId>,
    },
    /// An external function has no answer.
    External {
        /// The function and its own words.
        message: String,
    },
    /// These switches keep changing each other.
    EventLoop {
        /// Symbols of the modes that were still changing.
        modes: Vec<SymbolId>,
    },
    /// A `reinit` asks for a value that no state gives.
    Reinit {
        /// What should be set.
        target: SymbolId,
        /// Where the `reinit` is.
        origin: Origin,
    },
    /// Two `when`s that act together give one quantity different values.
    Conflict(Conflict),
    /// No state near the present one meets the constraints.
    Projection,
    /// The model asked for the end.
    Stop {
        /// In the user's words.
        message: String,
        /// The `when` that asked.
        when: usize,
    },
}

/// What two `when`s that act together ask for, although both cannot hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conflict {
    /// The two quantities; nearly always the same one.
    pub targets: [SymbolId; 2],
    /// What they should become.
    pub values: [f64; 2],
    /// Where that is written.
    pub origins: [Origin; 2],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_survives_the_way_through_the_solver() {
        for fault in [
            Fault::Singular(3),
            Fault::NoConvergence(0),
            Fault::BlockNotFinite(7),
            Fault::External(2),
            Fault::EventLoop,
            Fault::Reinit(9),
            Fault::Projection,
            Fault::Stop(1),
            Fault::Sample(4),
            Fault::Conflict,
        ] {
            assert_eq!(Fault::from_code(fault.code()), fault);
        }
    }
}
