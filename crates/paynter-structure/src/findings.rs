//! What is found about controllability and observability.
//!
//! In:  nothing; `control.rs` and `cures.rs` fill these in.
//! Out: plain values, for words, JSON and pictures.

use crate::ranks::Reach;
use paynter::linear_algebra::Matrix;
use paynter::symbolic::SymbolId;
use paynter::syntax::Diagnostic;

/// Inputs or outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What inputs reach.
    Control,
    /// What outputs see.
    Observe,
}

/// A state with the causal path from an input, or to an output.
#[derive(Clone, Debug, PartialEq)]
pub struct StatePath {
    /// The state.
    pub state: SymbolId,
    /// Its name.
    pub name: String,
    /// Integrations on the way, and what the way passes, causes first; none if there is no way.
    pub path: Option<(u32, Vec<String>)>,
}

/// The rank by derivative form.
#[derive(Clone, Debug, PartialEq)]
pub struct CausalRank {
    /// The rank of [A B] or [A; C] that the strokes allow.
    pub rank: usize,
    /// Storages that stay in integral form.
    pub integral: Vec<String>,
}

/// The rank with the present numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct NumericRank {
    /// Number of states of the linear model.
    pub order: usize,
    /// The rank of [A B] or [A; C].
    pub rank: usize,
    /// The dimension that is reached or seen.
    pub dimension: usize,
    /// The smallest singular value that counted, relative to the size of the matrices.
    pub smallest_kept: f64,
    /// Combinations of states that are hidden: (state, weight), the largest weight 1.
    pub hidden: Vec<Vec<(String, f64)>>,
    /// Names of the states, and their Gramian in SI units, row by row; none where a pole is not left of the imaginary axis.
    ///
    /// Its diagonal has, for inputs, the square of how far inputs of unit energy can push each state; for outputs, the energy ∫y² dt that each
    /// state of size 1 gives them.
    pub gramian: Option<(Vec<String>, Matrix)>,
}

/// What was found for one side.
#[derive(Clone, Debug, PartialEq)]
pub struct SideFindings {
    /// Which.
    pub side: Side,
    /// Names of the inputs or outputs.
    pub ports: Vec<String>,
    /// Every state with its path.
    pub paths: Vec<StatePath>,
    /// By strokes; none where ports are signals or demands contradict each other.
    pub causal: Option<CausalRank>,
    /// For almost all parameters, or why not.
    pub generic: Result<Reach, String>,
    /// Names of the states of the generic model.
    pub states: Vec<String>,
    /// With the present numbers, or why not.
    pub numeric: Result<NumericRank, String>,
    /// What would make it whole, best first.
    pub cures: Vec<Cure>,
}

/// What is taken for measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensors {
    /// What the user names, or the outputs of the model.
    Named,
    /// No outputs are named, and the model has none: what the experiment records.
    Recorded,
    /// Nothing is recorded either: all states.
    AllStates,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Findings {
    /// For the inputs; none if there are none.
    pub control: Option<SideFindings>,
    /// For the outputs; none if there are none.
    pub observe: Option<SideFindings>,
    /// Where the outputs come from.
    pub sensors: Sensors,
    /// Storages that depend on others.
    pub dependent: Vec<String>,
    /// Hankel singular values, or why there are none.
    pub hankel: Result<Vec<f64>, String>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

impl SideFindings {
    /// The structural verdict: exact where it could be computed, else that of paths and strokes.
    pub fn is_whole(&self) -> bool {
        self.verdict() == Some(true)
    }

    /// The verdict: exact where it could be computed, else that of paths and strokes, else that of the numbers; none where
    /// every state has a path and no rank could be computed.
    pub fn verdict(&self) -> Option<bool> {
        if let Ok(reach) = &self.generic {
            return Some(reach.dimension == reach.order);
        }
        let numbers = self.numeric.as_ref().ok();
        let by_numbers = numbers.map(|n| n.dimension == n.order);
        // Full rank at one point is full rank for almost all parameters.
        match by_numbers {
            Some(true) => by_numbers,
            _ => self.is_whole_by_strokes().or(by_numbers),
        }
    }

    /// The verdict of paths and strokes; none where strokes do not apply.
    pub fn is_whole_by_strokes(&self) -> Option<bool> {
        let are_reached = self.paths.iter().all(|p| p.path.is_some());
        match (&self.causal, are_reached) {
            (_, false) => Some(false),
            (Some(causal), true) => Some(causal.integral.is_empty()),
            (None, true) => None,
        }
    }

    /// States without a path.
    pub fn unreached(&self) -> impl Iterator<Item = &StatePath> {
        self.paths.iter().filter(|p| p.path.is_none())
    }
}

/// A set of additional sources or sensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Cure {
    /// What to add, such as "Se at `fin`" or "`fin.f`".
    pub add: Vec<String>,
    /// How far the cured linear model is from hiding a mode; none where it has no numbers.
    pub margin: Option<f64>,
}
