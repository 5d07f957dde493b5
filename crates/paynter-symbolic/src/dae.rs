//! Differential-algebraic equations with events: what a bond graph becomes.
//!
//! In:  built by `paynter-model`, by tests, or by hand.
//! Out: read by `reduce`, by printing and by the engine.
//!
//! **Invariant:** one equation for every unknown that is not given by a state;
//! every equation and symbol has an origin in the model text.

use crate::expr::{Comparison, ExprId, Pool, SymbolId};
use crate::names::{Names, PathId};

/// An opaque mark that the model layer turns back into a place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Origin(pub u32);

/// Something an expression can read.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// Its name in the model.
    pub name: PathId,
    /// What it is.
    pub role: Role,
    /// A typical size in SI units, from which absolute tolerances are made; 0 means unknown.
    pub nominal: f64,
    /// Where it comes from.
    pub origin: Origin,
}

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// The independent variable.
    Time,
    /// Fixed during a run.
    Parameter {
        /// Its value in SI units.
        value: f64,
        /// How it follows from other parameters; `value` is then the value of this.
        binding: Option<ExprId>,
    },
    /// Varies continuously; a state if some symbol is its derivative.
    Unknown,
    /// The time derivative of another symbol.
    Derivative {
        /// Of which.
        of: SymbolId,
    },
    /// Changes only at events or ticks.
    Discrete {
        /// Value before the first event.
        start: f64,
    },
    /// The value of a discrete symbol before the present event or tick,
    /// or, of a continuous one, its left limit.
    Pre {
        /// Of which.
        of: SymbolId,
    },
    /// Frozen truth (0 or 1) or whole number of a [`Mode`], by its position in [`Dae::modes`].
    Mode {
        /// Position in [`Dae::modes`].
        mode: u32,
    },
}

/// `left = right`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equation {
    /// Left.
    pub left: ExprId,
    /// Right.
    pub right: ExprId,
    /// The symbol that causality computes from this equation, where causality was complete.
    pub solves: Option<SymbolId>,
    /// Where it comes from.
    pub origin: Origin,
}

/// A switch of an expression, frozen between events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The symbol expressions read instead of the switch.
    pub symbol: SymbolId,
    /// What it stands for.
    pub switch: Switch,
    /// Where it comes from.
    pub origin: Origin,
}

/// What a [`Mode`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Switch {
    /// `a ◁ b`: 1 where it holds. The guard is a − b.
    Relation {
        /// Which comparison.
        comparison: Comparison,
        /// Left.
        left: ExprId,
        /// Right.
        right: ExprId,
    },
    /// ⌊a⌋: changes when a leaves [m, m+1).
    Floor {
        /// Of what.
        of: ExprId,
    },
    /// −1, 0, 1 as the sign of a.
    Sign {
        /// Of what.
        of: ExprId,
    },
}

/// A sampled block: all its equations run together at each tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// Ticks per second, as an exact fraction (numerator, denominator).
    pub rate: (u64, u64),
    /// `symbol = expression`, to be sorted by dependency.
    pub equations: Vec<(SymbolId, ExprId)>,
    /// Where it comes from.
    pub origin: Origin,
}

/// `when` condition: acts on the rising edge.
#[derive(Clone, Debug, PartialEq)]
pub struct When {
    /// Its name in reports.
    pub name: PathId,
    /// The condition; its comparisons are [`Mode`]s.
    pub condition: ExprId,
    /// What happens.
    pub actions: Vec<Action>,
    /// Where it comes from.
    pub origin: Origin,
}

/// What a [`When`] does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Sets a continuous quantity.
    Reinit {
        /// Which.
        target: SymbolId,
        /// To what, computed from values before the event.
        value: ExprId,
        /// Where it comes from.
        origin: Origin,
    },
    /// Sets a discrete symbol.
    Assign {
        /// Which.
        target: SymbolId,
        /// To what.
        value: ExprId,
        /// Where it comes from.
        origin: Origin,
    },
    /// Ends the run.
    Stop {
        /// In the user's words.
        message: String,
    },
}

/// `left = right` at the start (a demand), or a hint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// What is demanded.
    pub target: ExprId,
    /// Its value.
    pub value: ExprId,
    /// Only a hint.
    pub is_guess: bool,
    /// Where it comes from.
    pub origin: Origin,
}

/// A position that a constraint holds: g(x) = 0, with rate `flow`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositionConstraint {
    /// g(x), which must stay 0.
    pub position: ExprId,
    /// The flow that the lock holds at zero; d(position)/dt on the manifold.
    pub flow: ExprId,
    /// The effort of the lock: its reaction.
    pub reaction: SymbolId,
    /// Its name.
    pub name: PathId,
    /// Where it comes from.
    pub origin: Origin,
}

/// `left == right` that the exact solution keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Invariant {
    /// left − right.
    pub residual: ExprId,
    /// Where it comes from.
    pub origin: Origin,
}

/// An integral that nothing reads back: symbol' = rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quadrature {
    /// The integral.
    pub symbol: SymbolId,
    /// Its rate.
    pub rate: ExprId,
}

/// How an element takes part in the first-law audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyRole {
    /// Gives power to the system.
    Source,
    /// Keeps energy.
    Storage,
    /// Takes power out of the system.
    Dissipator,
    /// Declared `unpowered`: may create energy, booked apart.
    Unpowered,
    /// Must neither give nor take: TF, GY, junction structure.
    Conserving,
}

/// Power of one element, for the audit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerPort {
    /// Name of the element.
    pub name: PathId,
    /// Its part in the first law.
    pub role: EnergyRole,
    /// Power into the element (for a source: out of it), W.
    pub power: ExprId,
    /// Stored energy from the law, J; only for storages whose law could be integrated.
    pub energy: Option<ExprId>,
    /// Σ e q or Σ f p of a storage, J: an error of its state shows in this energy.
    pub held: Option<ExprId>,
    /// The connected part of the graph that it belongs to.
    pub part: u32,
    /// It is in a domain whose flow alone is the power.
    pub is_heat: bool,
    /// Where it comes from.
    pub origin: Origin,
}

/// Powers that add up to zero at every instant: those into a junction, TF, GY or RS, which must pass on what they
/// take; or that into a resistor, less what its law says.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// Name of the element.
    pub name: PathId,
    /// It compares a resistor with its law.
    pub is_of_law: bool,
    /// The connected part of the graph that it belongs to.
    pub part: u32,
    /// The powers, W.
    pub terms: Vec<ExprId>,
    /// Where it comes from.
    pub origin: Origin,
}

/// A storage whose energy is integrated along the run, from an anchor that the engine moves on.
///
/// The anchor is held like any discrete symbol: at rest between looks, so that the energy is a function of the present.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyAnchor {
    /// Name of the element.
    pub name: PathId,
    /// What its law is a function of, at present.
    pub arguments: Vec<ExprId>,
    /// The same at the anchor.
    pub anchor: Vec<SymbolId>,
    /// Energy at the anchor, J.
    pub energy_at_anchor: SymbolId,
    /// Energy at present, J.
    pub energy: ExprId,
    /// Panels that the quadrature from the anchor took.
    pub panels: ExprId,
    /// What its two last refinements differ by, J; infinite where the law has no value on the way.
    pub doubt: ExprId,
}

/// The whole system.
#[derive(Clone, Debug, Default)]
pub struct Dae {
    /// All expressions.
    pub pool: Pool,
    /// All names.
    pub names: Names,
    /// All symbols, by [`SymbolId`].
    pub symbols: Vec<Symbol>,
    /// The built-in `time`.
    pub time: Option<SymbolId>,
    /// Continuous equations.
    pub equations: Vec<Equation>,
    /// Frozen switches.
    pub modes: Vec<Mode>,
    /// Sampled blocks.
    pub clocks: Vec<Clock>,
    /// Events with actions.
    pub whens: Vec<When>,
    /// Demands and hints on the start.
    pub starts: Vec<Start>,
    /// States set when all demands are met, each to a value that reads the others and stays the same.
    pub late_starts: Vec<(SymbolId, ExprId)>,
    /// Locks with declared positions; possibly redundant.
    pub constraints: Vec<PositionConstraint>,
    /// What the exact solution keeps.
    pub invariants: Vec<Invariant>,
    /// Integrals nothing reads back.
    pub quadratures: Vec<Quadrature>,
    /// For the audit.
    pub power: Vec<PowerPort>,
    /// What must pass on what it takes.
    pub balances: Vec<Balance>,
    /// Storages whose energy has no closed form.
    pub anchors: Vec<EnergyAnchor>,
    /// Symbols that should be states if any choice allows: independent storages, by causality. Earlier is preferred.
    pub preferred_states: Vec<SymbolId>,
    /// Symbols that causality proposes to tear algebraic loops at.
    pub tearing: Vec<SymbolId>,
    /// Momenta and flows: all of them are zero where nothing moves.
    pub rates: Vec<SymbolId>,
}

impl Dae {
    /// Adds a symbol.
    pub fn add_symbol(&mut self, symbol: Symbol) -> SymbolId {
        self.symbols.push(symbol);
        SymbolId(u32::try_from(self.symbols.len() - 1).expect("fewer than 2^32 symbols"))
    }

    /// Adds an integral that nothing reads back, after those that are there.
    pub fn integrate(&mut self, name: PathId, rate: ExprId) {
        let symbol = self.add_symbol(Symbol {
            name,
            // No equation of the model may be solved for it.
            role: Role::Parameter {
                value: 0.0,
                binding: None,
            },
            nominal: 0.0,
            origin: Origin::default(),
        });
        self.quadratures.push(Quadrature { symbol, rate });
    }

    /// Gives a symbol.
    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.0 as usize]
    }

    /// Prints the name of a symbol as the model writes it: `der(x)` and `pre(x)` included.
    pub fn name_of(&self, id: SymbolId) -> String {
        match self.symbol(id).role {
            Role::Derivative { of } => format!("der({})", self.name_of(of)),
            Role::Pre { of } => format!("pre({})", self.name_of(of)),
            Role::Time => "time".to_owned(),
            _ => self.names.display(self.symbol(id).name),
        }
    }
}
