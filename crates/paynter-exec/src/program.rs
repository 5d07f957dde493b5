//! The export seam: everything a machine computes, as a plain value that others turn into code.
//!
//! In:  a [`Machine`] that was lowered with [`Lowering::is_for_export`](crate::Lowering::is_for_export).
//! Out: a [`Program`]: slots, routines that fill them, and what happens at starts, ticks and events.
//!
//! A program is a memory of numbered slots, and routines over it. To run it: write constants and parameters, run
//! the bindings in order, then `set_up`; write time and variables; run a routine; read its outputs. A tangent is
//! run after the routine it belongs to, at the same point, with seeds in their slots.
//!
//! **Invariant:** a step reads only slots that were given or that an earlier step of the same routine (for a
//! tangent: of its routine as well) has written. Nothing here refers to machine code or to kernels.

use std::sync::Arc;

use paynter_symbolic::SymbolId;
use paynter_symbolic::expr::External;

use crate::block::whole;
use crate::code::{self};
pub use crate::code::{Instr, Op};
use crate::emit;
pub use crate::image::SwitchKind;
use crate::image::{ActionInfo, Decider, Image, StartAim, owner_symbol};
use crate::machine::Machine;
use crate::map::Map;

/// One step of a routine.
#[derive(Clone, Debug)]
pub enum Step {
    /// One operation, and the quantity whose definition it belongs to.
    Operation(Instr, Option<SymbolId>),
    /// A function computed by a recipe of its own.
    Call {
        /// Which.
        function: Arc<dyn External>,
        /// Its slopes instead of its values.
        wants_slopes: bool,
        /// Slots of the arguments.
        inputs: Vec<u32>,
        /// First of the slots of the results, which follow one another.
        first_output: u32,
    },
    /// A z = b.
    Linear {
        /// Number of the block.
        block: u32,
        /// Slots of z.
        unknowns: Vec<u32>,
        /// (row, column, slot); entries at one place add up.
        matrix: Vec<(u32, u32, u32)>,
        /// Slots of b.
        right: Vec<u32>,
    },
    /// A ż = ḃ − Ȧ z with the factor of the last solution.
    LinearTangent {
        /// Number of the block.
        block: u32,
        /// Slots of z.
        unknowns: Vec<u32>,
        /// Slots of ż.
        tangents: Vec<u32>,
        /// (row, column, slot of Ȧ).
        matrix: Vec<(u32, u32, u32)>,
        /// (row, slot of ḃ).
        right: Vec<(u32, u32)>,
    },
    /// r(z) = 0.
    Newton(Arc<Newton>),
    /// (∂r/∂z) ż = −ṙ.
    NewtonTangent {
        /// The block.
        newton: Arc<Newton>,
        /// Slots of ż.
        tangents: Vec<u32>,
        /// Computes ṙ; run with ż = 0 before the solution, and once more after it.
        body: Vec<Step>,
        /// (row, slot of ṙ).
        residuals: Vec<(u32, u32)>,
    },
}

/// Equations that Newton's method solves.
#[derive(Clone, Debug)]
pub struct Newton {
    /// Number of the block.
    pub block: u32,
    /// Slots of z.
    pub unknowns: Vec<u32>,
    /// Typical sizes of z; 0 where unknown.
    pub nominals: Vec<f64>,
    /// Computes r from z.
    pub body: Vec<Step>,
    /// Slots of r.
    pub residuals: Vec<u32>,
    /// Computes ∂r/∂z after `body`.
    pub slopes: Vec<Step>,
    /// (row, column, slot) of ∂r/∂z.
    pub jacobian: Vec<(u32, u32, u32)>,
    /// Modes that a search from afar may change: (slot, kind, slot of what decides on it).
    pub loose: Vec<(u32, SwitchKind, u32)>,
}

/// Steps that compute some outputs.
#[derive(Clone, Debug, Default)]
pub struct Routine {
    /// In order.
    pub steps: Vec<Step>,
    /// Slots of what they compute.
    pub outputs: Vec<u32>,
    /// (block, slot of a pivot, slot of what it is small against): where a pivot is rounding, the block is singular.
    pub checks: Vec<(u32, u32, u32)>,
}

/// A routine with its derivatives along seeds.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// The values.
    pub values: Routine,
    /// Computes derivatives along the seeds.
    pub tangent: Vec<Step>,
    /// Slot of the derivative of each output; none is zero.
    pub tangents: Vec<Option<u32>>,
    /// For each output the variables that it depends on, ascending.
    pub rows: Vec<Vec<u32>>,
}

/// How it is known when a mode changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// By the sign of this output of [`Program::switches`]; its guards begin at this number (a sign has two).
    Guard {
        /// Position among the outputs.
        output: usize,
        /// Number of the first guard.
        first: usize,
    },
    /// By the clock: slope · t + offset, outputs `output` and `output + 1` of [`Program::timing`].
    Line {
        /// Position among the outputs.
        output: usize,
    },
}

/// A switch that is frozen between events.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// Its symbol.
    pub symbol: SymbolId,
    /// Its slot.
    pub slot: u32,
    /// What it is of the value watched.
    pub kind: SwitchKind,
    /// How its changes are found.
    pub watch: Watch,
}

/// What a `when` does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A variable takes an output of [`Program::reinit_values`], or its negative.
    Set {
        /// Number of the variable.
        variable: usize,
        /// Position of the value.
        value: usize,
        /// It takes the negative.
        is_negated: bool,
    },
    /// An output of [`Program::reinit_targets`] shall become one of [`Program::reinit_values`]: variables move as
    /// little as possible.
    Aim {
        /// Position of the target.
        row: usize,
        /// Position of the value.
        value: usize,
    },
    /// A discrete slot takes an output of [`Program::assigned_values`].
    Assign {
        /// Its slot.
        slot: u32,
        /// Position of the value.
        value: usize,
    },
    /// The run ends.
    Stop {
        /// In the model's words.
        message: String,
    },
}

/// What a demand on the start is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// A variable is ± the value.
    Variable {
        /// Its number.
        index: usize,
        /// It is the negative.
        is_negated: bool,
    },
    /// A discrete slot has the value.
    Discrete {
        /// Its slot.
        slot: u32,
    },
    /// The search for an unknown of a block begins at the value.
    Unknown {
        /// Number of the block.
        block: u32,
        /// Which of its unknowns.
        place: usize,
    },
    /// Row of [`Program::demands`], or a hint that no variable takes directly.
    Row,
}

/// One sampled equation.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// Number of its clock.
    pub clock: usize,
    /// The discrete slot that it sets.
    pub slot: u32,
    /// Computes the value, after [`Program::sample_inputs`].
    pub routine: Routine,
}

/// Everything a machine computes.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// How many slots there are.
    pub n_slots: usize,
    /// The variables, in order.
    pub states: Vec<SymbolId>,
    /// Slot of the first variable; the others follow.
    pub first_state: u32,
    /// Slot of the seed of the first variable; the others follow.
    pub first_seed: u32,
    /// Slot of time.
    pub time: u32,
    /// Slot of the seed of time.
    pub time_seed: u32,
    /// Slots that hold numbers.
    pub constants: Vec<(u32, f64)>,
    /// Slots of the parameters that something reads, in the order of their symbols.
    pub parameters: Vec<(SymbolId, u32)>,
    /// Parameters that follow from others: symbol, slot, and how. In an order of computation.
    pub bindings: Vec<(SymbolId, u32, Routine)>,
    /// What depends on parameters only.
    pub set_up: Routine,
    /// Slots that it fills.
    pub fixed: Vec<u32>,
    /// Rates of the variables.
    pub rates: Function,
    /// What was asked to be recorded.
    pub outputs: Function,
    /// What decides on modes that are guarded.
    pub switches: Routine,
    /// Lines of time: slopes and offsets of modes, then of the arguments of corners.
    pub timing: Routine,
    /// How many guards there are.
    pub n_guards: usize,
    /// The switches.
    pub modes: Vec<Mode>,
    /// Values of a line of time (position of its slope in `timing`) at which something has a corner.
    pub corners: Vec<(usize, Vec<f64>)>,
    /// Conditions of the `when`s.
    pub conditions: Routine,
    /// What each `when` does.
    pub whens: Vec<Vec<Action>>,
    /// Values for variables, from before the event.
    pub reinit_values: Routine,
    /// What follows from variables and is set.
    pub reinit_targets: Function,
    /// Values for discrete symbols.
    pub assigned_values: Routine,
    /// (slot of a discrete symbol, slot of its value before the event).
    pub held_before: Vec<(u32, u32)>,
    /// Left limits of continuous quantities.
    pub left_limits: Routine,
    /// Slots that hold them.
    pub left_limit_slots: Vec<u32>,
    /// Discrete symbols with slot and first value.
    pub discrete: Vec<(SymbolId, u32, f64)>,
    /// Ticks per second of each clock, as a fraction.
    pub clocks: Vec<(u64, u64)>,
    /// What sampled equations read, computed before any of them.
    pub sample_inputs: Routine,
    /// Sampled equations in order.
    pub sampled: Vec<Sampled>,
    /// What demands and hints on the start are about, and whether each is a hint.
    pub starts: Vec<(Aim, bool)>,
    /// Their values.
    pub start_values: Routine,
    /// Rows that must vanish at the start: demands, then constraints; after them hints.
    pub demands: Function,
    /// How many demands there are.
    pub n_demands: usize,
    /// What must stay zero during a run.
    pub constraints: Function,
    /// Variables that are set last, to outputs of `late_values` or their negatives.
    pub late: Vec<(usize, bool)>,
    /// Their values.
    pub late_values: Routine,
    /// Size of each block that is solved at run time, 0 for others, and its unknowns.
    pub blocks: Vec<(usize, Vec<SymbolId>)>,
    /// The last solution of each block, empty where it has none: where searches begin.
    pub guesses: Vec<Vec<f64>>,
    /// Guarded modes that are functions of time alone: who only samples their guards may miss changes.
    pub sampled_only: Vec<SymbolId>,
}

impl Machine {
    /// Gives everything that this machine computes; see the module.
    ///
    /// # Panics
    ///
    /// The machine was not lowered for export.
    pub fn program(&self) -> Program {
        let image = &*self.image;
        assert!(
            image.events.watched.is_empty()
                && image.observed.rows.len() == image.observe.outputs.len(),
            "the machine was lowered for export"
        );
        let mut program = frame(image);
        add_events(&mut program, image);
        add_starts(&mut program, image);
        program.guesses = self
            .memory
            .factors
            .iter()
            .map(|f| f.found().to_vec())
            .collect();
        program.sampled_only.clone_from(&image.events.wave_modes);
        program
    }
}

/// What every model has.
fn frame(image: &Image) -> Program {
    let mut parameters: Vec<(SymbolId, u32)> = image
        .parameters
        .slots
        .iter()
        .map(|(&symbol, &slot)| (symbol, slot))
        .collect();

    parameters.sort_unstable();
    let bindings = image.parameters.bindings.iter();
    let shapes = image.block_shapes.iter().zip(&image.blocks);
    Program {
        n_slots: image.n_slots,
        states: image.states.clone(),
        first_state: image.inputs.first,
        first_seed: image.inputs.first_seed,
        time: image.inputs.time,
        time_seed: image.inputs.time_seed,
        constants: image.constants.clone(),
        parameters,
        bindings: bindings
            .map(|b| (b.symbol, b.slot, routine(&b.routine)))
            .collect(),
        set_up: routine(&image.parameters.set_up),
        fixed: image.parameters.set_up_slots.clone(),
        rates: function(&image.rhs),
        outputs: function(&image.observed),
        blocks: shapes
            .map(|(shape, names)| (shape.n, names.0.clone()))
            .collect(),
        ..Program::default()
    }
}

fn add_events(program: &mut Program, image: &Image) {
    program.switches = routine(&image.events.switches);
    program.timing = routine(&image.events.timing);
    program.n_guards = image.events.n_guards;
    program.modes = image
        .events
        .modes
        .iter()
        .map(|mode| Mode {
            symbol: mode.symbol,
            slot: mode.slot,
            kind: mode.kind,
            watch: match mode.decider {
                Decider::State {
                    output,
                    first_guard: first,
                } => Watch::Guard { output, first },
                Decider::Time { output } => Watch::Line { output },
                Decider::Clock { .. } => unreachable!("lowered for export, nothing is watched"),
            },
        })
        .collect();

    let corners = image.events.corners.iter();
    program.corners = corners.map(|c| (c.output, c.corners.clone())).collect();
    program.conditions = routine(&image.events.conditions);
    let whens = image.events.actions.iter();
    program.whens = whens
        .map(|actions| actions.iter().map(|a| action(a, image)).collect())
        .collect();
    program.reinit_values = routine(&image.events.reinit_values);
    program.reinit_targets = function(&image.events.reinit_targets);
    program.assigned_values = routine(&image.events.assigned_values);
    program.held_before = image.events.pre_discrete.clone();
    program.left_limits = routine(&image.events.pre_continuous);
    program.left_limit_slots = image.events.pre_continuous_slots.clone();
    program.discrete = image.events.discrete.clone();
    program.clocks = image.clocks.rates.clone();
    program.sample_inputs = routine(&image.clocks.inputs);
    let sampled = image.clocks.sampled.iter();
    program.sampled = sampled
        .map(|s| Sampled {
            clock: s.clock,
            slot: s.dst,
            routine: routine(&s.routine),
        })
        .collect();
}

fn add_starts(program: &mut Program, image: &Image) {
    let starts = image.start.aims.iter();
    program.starts = starts
        .map(|start| {
            let aim = match start.aim {
                StartAim::State { index, is_negated } => Aim::Variable { index, is_negated },
                StartAim::Discrete { slot } => Aim::Discrete { slot },
                StartAim::Unknown { block, place } => Aim::Unknown { block, place },
                StartAim::Row(_) => Aim::Row,
            };
            (aim, start.is_guess)
        })
        .collect();
    program.start_values = routine(&image.start.values);
    program.demands = function(&image.start.demands);
    program.n_demands = image.start.n_demands;
    program.constraints = function(&image.locks.map);
    program.late = image.start.late_states.clone();
    program.late_values = routine(&image.start.late_values);
}

fn action(action: &ActionInfo, image: &Image) -> Action {
    match *action {
        ActionInfo::SetState {
            value,
            index,
            is_negated,
        } => Action::Set {
            variable: index,
            value,
            is_negated,
        },
        ActionInfo::Aim { value, row, .. } => Action::Aim { row, value },
        ActionInfo::Assign { value, slot } => Action::Assign { slot, value },
        ActionInfo::Stop { stop } => Action::Stop {
            message: image.events.stops[stop as usize].1.clone(),
        },
    }
}

fn function(map: &Map) -> Function {
    Function {
        values: routine(&map.routine),
        tangent: steps(&map.tangent),
        tangents: map.tangents.clone(),
        rows: map.rows.iter().map(|row| row.to_vec()).collect(),
    }
}

fn routine(routine: &emit::Routine) -> Routine {
    Routine {
        steps: steps(&routine.steps),
        outputs: routine.outputs.clone(),
        checks: routine.checks.clone(),
    }
}

fn steps(given: &[code::Step]) -> Vec<Step> {
    let mut steps = Vec::new();
    for step in given {
        match step {
            code::Step::Straight(straight) => {
                let all = straight.instrs.iter().zip(&straight.owners);
                steps.extend(all.map(|(&i, &owner)| Step::Operation(i, owner_symbol(owner))));
            }
            code::Step::Kernel(_) | code::Step::Fused(_) => {
                unreachable!("lowered for export, all code is straight")
            }
            code::Step::External(call) => steps.push(Step::Call {
                function: call.function.clone(),
                wants_slopes: call.wants_slopes,
                inputs: call.inputs.clone(),
                first_output: call.first_output,
            }),
            code::Step::Linear(block) => steps.push(Step::Linear {
                block: block.block,
                unknowns: block.unknowns.clone(),
                matrix: whole(&block.matrix, block.is_positive_definite).collect(),
                right: block.right.clone(),
            }),
            code::Step::LinearTangent(tangent) => steps.push(Step::LinearTangent {
                block: tangent.block,
                unknowns: tangent.unknowns.clone(),
                tangents: tangent.tangents.clone(),
                matrix: tangent.matrix.clone(),
                right: tangent.right.clone(),
            }),
            code::Step::Newton(block) => steps.push(Step::Newton(Arc::new(newton(block)))),
            code::Step::NewtonTangent(tangent) => steps.push(Step::NewtonTangent {
                newton: Arc::new(newton(&tangent.newton)),
                tangents: tangent.tangents.clone(),
                body: self::steps(&tangent.body),
                residuals: tangent.residuals.clone(),
            }),
        }
    }
    steps
}

fn newton(block: &crate::block::NewtonBlock) -> Newton {
    Newton {
        block: block.block,
        unknowns: block.unknowns.clone(),
        nominals: block.nominals.clone(),
        body: steps(&block.body),
        residuals: block.residuals.clone(),
        slopes: steps(&block.slopes),
        jacobian: block.jacobian.clone(),
        loose: block.loose.clone(),
    }
}
