//! What all copies of a machine share: code, places in memory, and what happens at events.
//!
//! In:  nothing; `lower` fills it in.
//! Out: [`Image`], read by `machine`, `events`, `start` and `jit`.
//!
//! **Invariant:** every slot named here lies below `n_slots`.

use std::sync::OnceLock;

use paynter_solve::Pattern;
use paynter_symbolic::expr::{Comparison, SymbolId};
use paynter_symbolic::{Dae, Origin};
use rustc_hash::FxHashMap;

use crate::ahead::{Cells, Tape, Watched};
use crate::anchors::Anchors;
use crate::audit::{AuditLayout, Power};
use crate::balance::Balances;
use crate::block::BlockShape;
use crate::code::{ExternalCall, Step};
use crate::emit::{NO_OWNER, Routine};
use crate::map::{Inputs, Map};
use crate::pattern::Columns;

/// How a mode changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SwitchKind {
    /// 1 where the value compares so with zero, else 0.
    Relation(Comparison),
    /// The whole number below the value.
    Floor,
    /// −1, 0, 1 as the sign of the value.
    Sign,
}

impl SwitchKind {
    /// How many guards watch a mode of this kind. A whole number has one for each of its bounds: the distance to the
    /// nearer one would turn halfway between them, and the turns of the value would not show in samples of it.
    pub fn n_guards(self) -> usize {
        match self {
            SwitchKind::Relation(_) => 1,
            SwitchKind::Floor | SwitchKind::Sign => 2,
        }
    }
}

/// Where the value that decides on a mode is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Decider {
    /// Output of the switch routine; guards start at this number.
    State { output: usize, first_guard: usize },
    /// Outputs `output` (slope) and `output + 1` (offset) of the timing routine.
    Time { output: usize },
    /// A function of time that is not a straight line, by its number.
    Clock { watched: usize },
}

/// A mode at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModeInfo {
    pub symbol: SymbolId,
    pub slot: u32,
    pub kind: SwitchKind,
    pub decider: Decider,
}

/// An action of a `when`.
#[derive(Clone, Debug)]
pub(crate) enum ActionInfo {
    /// State `index` takes ± output `value` of the reinit routine.
    SetState {
        value: usize,
        index: usize,
        is_negated: bool,
    },
    /// Row `row` of the reinit map takes output `value`.
    Aim {
        value: usize,
        row: usize,
        action: u32,
    },
    /// A discrete slot takes output `value` of the assignment routine.
    Assign {
        value: usize,
        slot: u32,
    },
    Stop {
        stop: u32,
    },
}

/// One sampled equation.
#[derive(Clone, Debug)]
pub(crate) struct Sampled {
    pub clock: usize,
    pub dst: u32,
    pub routine: Routine,
}

/// A bound parameter.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub symbol: SymbolId,
    pub slot: u32,
    pub routine: Routine,
}

/// Corners of a function of time.
#[derive(Clone, Debug)]
pub(crate) struct Corners {
    /// Outputs `output` and `output + 1` of the timing routine: the argument as a line.
    pub output: usize,
    pub corners: Vec<f64>,
}

/// A demand or hint on the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartInfo {
    pub is_guess: bool,
    pub aim: StartAim,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StartAim {
    /// State `index` is ± the value.
    State { index: usize, is_negated: bool },
    /// A discrete symbol.
    Discrete { slot: u32 },
    /// Unknown `place` of a block solved at run time (hints only).
    Unknown { block: u32, place: usize },
    /// Row of the demand map: target − value.
    Row(usize),
}

/// Everything that copies of a machine share.
#[derive(Debug, Default)]
pub(crate) struct Image {
    pub dae: Dae,
    pub states: Vec<SymbolId>,
    /// States that are components of one vector, each with the size 1.
    pub vectors: Vec<Vec<(usize, f64)>>,
    pub inputs: Inputs,
    pub n_slots: usize,
    pub constants: Vec<(u32, f64)>,
    pub rhs: Map,
    pub(crate) pattern: OnceLock<Option<Pattern>>,
    pub is_algebraic: Vec<bool>,
    /// Values of the algebraic variables, from the states.
    pub unknowns: Routine,
    pub observe: Routine,
    /// The same with slopes, where they are asked for.
    pub observed: Map,
    /// Calls of functions that want to know of every step.
    pub listeners: Vec<ExternalCall>,
    /// For each block its size and the places of its matrix; size 0 if it was written out.
    pub block_shapes: Vec<BlockShape>,
    pub blocks: Vec<(Vec<SymbolId>, Vec<Origin>)>,
    /// Where parameters live, and what follows from them alone.
    pub parameters: ParameterLayout,
    /// What happens at events.
    pub events: EventLayout,
    /// Sampled blocks.
    pub clocks: ClockLayout,
    /// What the start has to meet.
    pub start: StartLayout,
    /// Constraints between states.
    pub locks: LockLayout,
    /// The energy audit.
    pub energy: EnergyLayout,
    /// Machine code, as far as it is made.
    pub code: CodeState,
}

/// Where parameters live, and what is computed once they are known.
#[derive(Debug, Default)]
pub(crate) struct ParameterLayout {
    /// Slots of parameters, by symbol.
    pub slots: FxHashMap<SymbolId, u32>,
    pub bindings: Vec<Binding>,
    pub set_up: Routine,
    /// Slots of what it computes.
    pub set_up_slots: Vec<u32>,
}

/// What decides on modes and events, and what events do.
#[derive(Debug, Default)]
pub(crate) struct EventLayout {
    pub switches: Routine,
    /// The same values as they are, without the rule that roundings are zero, and how they move.
    pub switch_flow: Map,
    pub n_guards: usize,
    /// Storages are tied to something that jumps at events.
    pub has_impulses: bool,
    pub modes: Vec<ModeInfo>,
    pub timing: Routine,
    /// For each mode that a line of time decides on, the sizes of the terms of its offset, added up.
    pub line_sizes: Routine,
    /// Functions of time that decide on modes or have corners, and which of them are the latter.
    pub watched: Vec<Watched>,
    pub watched_corners: Vec<usize>,
    /// What may wind inside a step, in guards that read states.
    pub waves: Vec<Tape>,
    /// The mode that each of them was found for.
    pub wave_modes: Vec<SymbolId>,
    /// The guards that read them, where they read nothing but time, states and what is held; and what each decides.
    pub winding_guards: Vec<Tape>,
    pub winding_cells: Vec<Cells>,
    /// What may be a short pulse in the right-hand side.
    pub pulses: Vec<Tape>,
    /// Angles, in states, whose sines those read.
    pub pulse_angles: Vec<Tape>,
    pub corners: Vec<Corners>,
    pub conditions: Routine,
    pub actions: Vec<Vec<ActionInfo>>,
    pub reinit_values: Routine,
    pub reinit_targets: Map,
    pub assigned_values: Routine,
    /// (target, origin) of every reinit that is solved for.
    pub aims: Vec<(SymbolId, Origin)>,
    pub stops: Vec<(usize, String)>,
    /// (slot of the discrete symbol or computed value, slot of its `pre`).
    pub pre_discrete: Vec<(u32, u32)>,
    /// Left limits of continuous symbols: slots of `pre`, with the routine's outputs.
    pub pre_continuous: Routine,
    pub pre_continuous_slots: Vec<u32>,
    pub discrete: Vec<(SymbolId, u32, f64)>,
}

/// Clocks and the equations that run at their ticks.
#[derive(Debug, Default)]
pub(crate) struct ClockLayout {
    pub rates: Vec<(u64, u64)>,
    pub inputs: Routine,
    pub sampled: Vec<Sampled>,
}

/// Start values, demands and hints.
#[derive(Debug, Default)]
pub(crate) struct StartLayout {
    pub aims: Vec<StartInfo>,
    pub values: Routine,
    /// States that are set last, and the values of [`StartLayout::late_values`] negated for them or not.
    pub late_states: Vec<(usize, bool)>,
    pub late_values: Routine,
    /// Demands that are not on states directly, then constraints, then hints.
    pub demands: Map,
    pub n_demands: usize,
    /// States that are momenta or flows.
    pub is_rate: Vec<bool>,
}

/// Constraints that the states have to keep.
#[derive(Debug, Default)]
pub(crate) struct LockLayout {
    pub n: usize,
    /// Some locks close loops, so that the mechanism may come to a singular position.
    pub closes_loops: bool,
    /// Locks that the equations leave out, by number, ascending.
    pub released: Vec<usize>,
    pub map: Map,
}

/// Powers, stored energies and what the audit compares.
#[derive(Debug, Default)]
pub(crate) struct EnergyLayout {
    pub quadrature_slots: Vec<u32>,
    pub power: Power,
    pub stored: Routine,
    /// Σ e q or Σ f p of the storages, in the order of `stored`.
    pub held: Routine,
    /// What must pass on what it takes; nothing for a large model.
    pub balances: Balances,
    /// Storages whose energy is integrated along the run.
    pub anchors: Anchors,
    pub audit: AuditLayout,
}

/// Machine code, when it is made, and what it costs.
#[derive(Debug, Default)]
pub(crate) struct CodeState {
    /// The whole right-hand side as one function, where it is one.
    pub whole_rhs: Option<crate::jit::Whole>,
    /// The same with the integrands of the quadratures.
    pub whole_power: Option<crate::jit::Whole>,
    /// A step of an explicit method as one function, without and with integrands; made when it pays.
    pub step: [OnceLock<Option<crate::jit::StepCode>>; 2],
    pub n_bytes: usize,
    pub is_made: bool,
    /// Machine code was demanded, or the machine will run many times: all of it is made before it pays.
    pub is_eager: bool,
    /// Time that the interpreter may lose before machine code is made, ns; none if it never is, or no more.
    pub patience: Option<f64>,
    /// Operations of one run of: right-hand side, integrands, one direction of the Jacobian.
    pub work: [u64; 3],
}

/// The symbol an instruction belongs to.
pub(crate) fn owner_symbol(owner: u32) -> Option<SymbolId> {
    (owner != NO_OWNER).then_some(SymbolId(owner))
}

/// Visits every list of steps that runs often enough to be worth machine code.
pub(crate) fn for_each_steps(image: &mut Image, f: &mut dyn FnMut(&mut Vec<Step>)) {
    for map in [&mut image.rhs, &mut image.locks.map] {
        f(&mut map.routine.steps);
        f(&mut map.tangent);
    }
    for routine in [
        &mut image.events.switches,
        &mut image.energy.power.routine,
        &mut image.observe,
        &mut image.clocks.inputs,
    ] {
        f(&mut routine.steps);
    }
    for sampled in &mut image.clocks.sampled {
        f(&mut sampled.routine.steps);
    }
    // What a run does once or a few times counts where there are many of them.
    if image.code.is_eager {
        for routine in [
            &mut image.parameters.set_up,
            &mut image.start.values,
            &mut image.energy.stored,
            &mut image.energy.held,
            &mut image.energy.balances.routine,
        ] {
            f(&mut routine.steps);
        }
    }
}

impl Image {
    /// The mode that a guard belongs to.
    pub(crate) fn mode_at_guard(&self, guard: usize) -> Option<&ModeInfo> {
        self.events.modes.iter().rev().find(
            |mode| matches!(mode.decider, Decider::State { first_guard, .. } if first_guard <= guard),
        )
    }

    /// The pattern of the Jacobian of the right-hand side, made when it is first asked for; none if it is nearly full.
    pub(crate) fn pattern(&self) -> Option<&Pattern> {
        // Beyond this density a sparse factorisation does more work than a dense one.
        const DENSE_SHARE: f64 = 0.5;
        let make = || {
            let n = self.inputs.n;
            let rows = &self.rhs.rows;
            let n_entries: usize = rows.iter().map(|row| row.len()).sum();
            if n_entries as f64 > DENSE_SHARE * (n * n) as f64 {
                return None;
            }
            let of_row = |(row, columns): (usize, &Columns)| {
                let columns = columns.clone();
                (0..columns.len()).map(move |k| (row, columns[k] as usize))
            };
            let mut entries: Vec<(usize, usize)> =
                rows.iter().enumerate().flat_map(of_row).collect();
            // Solvers add the diagonal of M/h.
            entries.extend((0..n).map(|k| (k, k)));
            Some(Pattern::from_entries(n, &entries).expect("rows and columns lie inside"))
        };
        self.pattern.get_or_init(make).as_ref()
    }

    /// Where an entry of the Jacobian is among its values.
    pub(crate) fn position(&self, row: usize, column: usize) -> usize {
        match self.pattern() {
            None => column * self.inputs.n + row,
            Some(pattern) => {
                let place = pattern.column(column).binary_search(&row);
                pattern.column_starts()[column] + place.expect("the pattern holds every entry")
            }
        }
    }
}
