//! Makes everything a machine needs to run out of reduced equations, once.
//!
//! In:  [`Reduced`] equations, the columns to record, the engine to use.
//! Out: a [`Machine`] around an [`Image`] that all its copies share.
//!
//! **Invariant:** the image does not depend on the values of parameters, so one image serves
//! every point of a sweep.

mod events;

use std::sync::Arc;

use paynter_symbolic::dae::{Action, Equation, Mode, Role, Switch};
use paynter_symbolic::expr::{Comparison, ExprId, Function1, Node, Pool, SymbolId};
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::walk::{below, for_each_argument, symbols_of};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::affine::{Line, Lines};
use crate::ahead::{Cells, Dependences, Reads, Tape, Watched, for_each_input};
use crate::anchors::{Anchors, anchor_expressions};
use crate::audit::{AuditLayout, Power, rate_expressions};
use crate::balance::{Balances, balance_expressions};
use crate::block::{BlockShape, whole};
use crate::emit::{Emitter, LowerError, STRAIGHT_LIMIT, for_each_expression};
use crate::image::{
    ActionInfo, Binding, Corners, Decider, Image, ModeInfo, Sampled, StartAim, StartInfo,
    SwitchKind,
};
use crate::machine::Machine;
use crate::map::{Inputs, Map};
use crate::plan::{Plan, Solved, SolvedKind, Source, plan};

/// What runs the operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The interpreter at first; machine code as soon as it would have paid, where it can be made.
    #[default]
    Auto,
    /// Interpreter, from a list.
    Interpreter,
    /// Machine code; an error if it cannot be made.
    Jit,
}

/// Which variables the solver sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// States only; blocks are solved inside the right-hand side.
    #[default]
    Explicit,
    /// States, and unknowns of the blocks with an algebraic row each: the Jacobian stays sparse.
    Dae,
}

/// Choices of a lowering.
#[derive(Clone, Copy, Debug)]
pub struct Lowering {
    /// What runs the operations.
    pub engine: Engine,
    /// Which variables the solver sees.
    pub form: Form,
    /// Routines with more operations than this become kernels over index tables.
    pub straight_limit: usize,
    /// What is recorded has slopes, and every switch that is not a straight line of time is a guard: for code that runs
    /// without this program.
    pub is_for_export: bool,
}

impl Default for Lowering {
    fn default() -> Self {
        Lowering {
            engine: Engine::Auto,
            form: Form::Explicit,
            straight_limit: STRAIGHT_LIMIT,
            is_for_export: false,
        }
    }
}

/// Makes a machine whose variables are the states.
///
/// # Errors
///
/// A symbol is read that nothing defines, sampled equations go round in a cycle, or machine code
/// was demanded and cannot be made.
pub fn lower(reduced: &Reduced, wanted: &[ExprId], engine: Engine) -> Result<Machine, LowerError> {
    lower_with(
        reduced,
        wanted,
        Lowering {
            engine,
            ..Lowering::default()
        },
    )
}

/// Makes a machine with all choices given.
///
/// # Errors
///
/// As [`lower`].
pub fn lower_with(
    reduced: &Reduced,
    wanted: &[ExprId],
    lowering: Lowering,
) -> Result<Machine, LowerError> {
    let mut image = Maker::new(reduced, lowering).make(reduced, wanted)?;
    match lowering.engine {
        Engine::Interpreter => {}
        Engine::Auto => image.code.patience = Some(crate::jit::time_to_compile(&mut image)),
        Engine::Jit => {
            crate::jit::compile(&mut image)
                .map_err(|reason| LowerError::NoMachineCode { reason })?;
            image.code.is_eager = true;
        }
    }
    Ok(Machine::new(Arc::new(image)))
}

/// Two sides of a comparison that differ by less than this part of their size are equal: a voltage
/// that rests at 200 V wanders by some roundings, and must not switch at each of them.
const EQUAL_SIDES: f64 = 64.0 * f64::EPSILON;

/// a − b, or exactly zero where that is rounding. Nothing changes for a comparison with zero.
fn without_noise(pool: &mut Pool, a: ExprId, b: ExprId) -> ExprId {
    let difference = pool.sub(a, b);
    if pool.as_number(a) == Some(0.0) || pool.as_number(b) == Some(0.0) {
        return difference;
    }
    let (size_a, size_b) = (pool.call1(Function1::Abs, a), pool.call1(Function1::Abs, b));
    let size = pool.add(size_a, size_b);
    let share = pool.number(EQUAL_SIDES);
    let noise = pool.mul(share, size);
    let distance = pool.call1(Function1::Abs, difference);
    let is_noise = pool.compare(Comparison::LessEqual, distance, noise);
    let zero = pool.number(0.0);
    pool.if_else(is_noise, zero, difference)
}

/// The shape of a block that is solved at run time.
fn shape_of(solved: &Solved) -> BlockShape {
    let place = |&(row, column, _): &(u32, u32, ExprId)| (row, column);
    let (entries, is_symmetric) = match &solved.kind {
        SolvedKind::Inlined { .. } => return BlockShape::default(),
        SolvedKind::Linear {
            matrix,
            is_positive_definite,
            ..
        } => (matrix, *is_positive_definite),
        SolvedKind::Nonlinear { jacobian, .. } => (jacobian, false),
    };
    BlockShape {
        n: solved.unknowns.len(),
        places: entries.iter().map(place).collect(),
        is_symmetric,
    }
}

/// Collects the parts of an image.
struct Maker {
    emitter: Emitter,
    image: Image,
    lines: Lines,
    dependences: Dependences,
    form: Form,
    is_for_export: bool,
    state_index: FxHashMap<SymbolId, usize>,
}

impl Maker {
    fn new(reduced: &Reduced, lowering: Lowering) -> Self {
        let plan = plan(reduced);
        let mut emitter = Emitter::new(plan, lowering.straight_limit);
        let states: Vec<SymbolId> = reduced.states.iter().map(|state| state.symbol).collect();
        let unknowns = match lowering.form {
            Form::Explicit => Vec::new(),
            Form::Dae => block_unknowns(&emitter.plan),
        };
        let n = states.len() + unknowns.len();
        let inputs = Inputs {
            first: emitter.new_slots(n as u32),
            n,
            first_seed: emitter.new_slots(n as u32),
            time: emitter.new_slot(),
            time_seed: emitter.new_slot(),
        };

        for (k, &symbol) in states.iter().enumerate() {
            emitter.input_slots.set(symbol.0, inputs.first + k as u32);
        }
        for (s, symbol) in emitter.plan.dae.symbols.iter().enumerate() {
            if symbol.role == Role::Time {
                emitter.input_slots.set(s as u32, inputs.time);
            }
        }

        let state_index: FxHashMap<SymbolId, usize> =
            states.iter().enumerate().map(|(k, &s)| (s, k)).collect();
        let mut image = Image {
            vectors: crate::sizes::vectors(reduced),
            states,
            inputs,
            ..Image::default()
        };

        image.events.has_impulses = !reduced.differentiated_switches.is_empty();
        // In exported code, inputs are such states, and they change whenever somebody sets them.
        let lines = match lowering.is_for_export {
            true => Lines::default(),
            false => Lines::with_held(&reduced.states, &emitter.plan),
        };

        Maker {
            emitter,
            image,
            lines,
            dependences: Dependences::of_states(&state_index),
            form: lowering.form,
            is_for_export: lowering.is_for_export,
            state_index,
        }
    }

    fn make(mut self, reduced: &Reduced, wanted: &[ExprId]) -> Result<Image, LowerError> {
        self.image.blocks = self
            .emitter
            .plan
            .solved
            .iter()
            .map(|solved| (solved.unknowns.clone(), solved.origins.clone()))
            .collect();

        self.image.block_shapes = self.emitter.plan.solved.iter().map(shape_of).collect();
        self.make_discrete();
        self.make_events()?;
        self.make_clocks()?;
        self.make_rhs(reduced)?;
        self.image.listeners = crate::listeners::listeners(&self.image.rhs.routine.steps);
        if self.is_for_export {
            self.image.observed = Map::new(&mut self.emitter, &self.image.inputs, wanted)?;
        }

        self.image.observe = self.emitter.routine(wanted)?;
        self.make_starts(reduced)?;
        self.make_audit(reduced)?;
        self.make_corners(&reduced.dae.equations)?;
        if !self.is_for_export {
            self.make_pulses(&reduced.dae.equations);
        }

        self.image.parameters.set_up = self.emitter.set_up()?;
        self.make_bindings()?;
        self.image.n_slots = self.emitter.n_slots as usize;
        self.image.constants = std::mem::take(&mut self.emitter.constants);
        self.image.parameters.set_up_slots = std::mem::take(&mut self.emitter.set_up_slots);
        for (symbol, slot) in self.emitter.input_slots.iter() {
            let symbol = SymbolId(symbol);
            if matches!(
                self.emitter.plan.dae.symbol(symbol).role,
                Role::Parameter { .. }
            ) {
                self.image.parameters.slots.insert(symbol, slot);
            }
        }

        self.image.dae = self.emitter.plan.dae;
        if self.image.dae.whens.is_empty() {
            // Only conditions are looked at again during a run.
            self.image.dae.pool = Pool::new();
        }
        Ok(self.image)
    }

    fn make_discrete(&mut self) {
        let symbols: Vec<(SymbolId, Role)> = self
            .emitter
            .plan
            .dae
            .symbols
            .iter()
            .enumerate()
            .map(|(s, symbol)| (SymbolId(s as u32), symbol.role))
            .collect();

        for &(symbol, role) in &symbols {
            if let Role::Discrete { start } = role {
                let slot = self.emitter.input(symbol);
                self.image.events.discrete.push((symbol, slot, start));
            }
        }

        for &(symbol, role) in &symbols {
            if let Role::Pre { of } = role
                && matches!(self.emitter.plan.dae.symbol(of).role, Role::Discrete { .. })
            {
                let pair = (self.emitter.input(of), self.emitter.input(symbol));
                self.image.events.pre_discrete.push(pair);
            }
        }

        let quadratures: Vec<SymbolId> = self
            .emitter
            .plan
            .dae
            .quadratures
            .iter()
            .map(|q| q.symbol)
            .collect();

        self.image.energy.quadrature_slots = quadratures
            .into_iter()
            .map(|symbol| self.emitter.input(symbol))
            .collect();
    }

    fn make_clocks(&mut self) -> Result<(), LowerError> {
        let clocks = self.emitter.plan.dae.clocks.clone();
        self.image.clocks.rates = clocks.iter().map(|clock| clock.rate).collect();
        let equations: Vec<(usize, SymbolId, ExprId)> = clocks
            .iter()
            .enumerate()
            .flat_map(|(c, clock)| clock.equations.iter().map(move |&(s, e)| (c, s, e)))
            .collect();
        let order = sort_sampled(&self.emitter.plan, &equations)?;

        // Continuous symbols are read at their left limits, computed together beforehand.
        let mut read: Vec<SymbolId> = Vec::new();
        let mut seen = FxHashSet::default();
        for &(_, _, value) in &equations {
            for symbol in symbols_of(&self.emitter.plan.dae.pool, value) {
                let source = self.emitter.plan.sources[symbol.0 as usize];
                if source != Source::Input && seen.insert(symbol) {
                    read.push(symbol);
                }
            }
        }

        let wanted: Vec<ExprId> = read
            .iter()
            .map(|&s| self.emitter.plan.dae.pool.symbol(s))
            .collect();
        self.image.clocks.inputs = self.emitter.routine(&wanted)?;
        let known: FxHashMap<SymbolId, u32> = read
            .iter()
            .copied()
            .zip(self.image.clocks.inputs.outputs.iter().copied())
            .collect();

        for number in order {
            let (clock, symbol, value) = equations[number];
            let dst = self.emitter.input(symbol);
            let routine = self.emitter.routine_after(value, &known);
            self.image.clocks.sampled.push(Sampled {
                clock,
                dst,
                routine,
            });
        }
        Ok(())
    }

    fn make_rhs(&mut self, reduced: &Reduced) -> Result<(), LowerError> {
        let pool = &mut self.emitter.plan.dae.pool;
        let mut wanted: Vec<ExprId> = reduced
            .states
            .iter()
            .map(|state| pool.symbol(state.derivative))
            .collect();
        let n_states = wanted.len();
        let saved = self.emitter.plan.sources.clone();
        if self.form == Form::Dae {
            let unknowns = block_unknowns(&self.emitter.plan);
            let exprs: Vec<ExprId> = unknowns
                .iter()
                .map(|&s| self.emitter.plan.dae.pool.symbol(s))
                .collect();
            self.image.unknowns = self.emitter.routine(&exprs)?;
            wanted.extend(self.open_blocks(n_states as u32));
        }
        self.image.rhs = Map::new(&mut self.emitter, &self.image.inputs, &wanted)?;
        self.emitter.plan.sources = saved;
        if self.form == Form::Dae {
            // The slots of the opened unknowns belong to the solver's variables only.
            for symbol in block_unknowns(&self.emitter.plan) {
                self.emitter.input_slots.remove(symbol.0);
            }
        }
        self.image.is_algebraic = (0..wanted.len()).map(|row| row >= n_states).collect();
        Ok(())
    }

    /// Makes the unknowns of blocks variables, and their equations rows.
    fn open_blocks(&mut self, n_states: u32) -> Vec<ExprId> {
        let mut rows = Vec::new();
        let mut next = n_states;
        let Emitter {
            plan, input_slots, ..
        } = &mut self.emitter;
        for solved in plan.solved.clone() {
            if matches!(solved.kind, SolvedKind::Inlined { .. }) {
                continue;
            }
            for &symbol in &solved.unknowns {
                plan.sources[symbol.0 as usize] = Source::Input;
                input_slots.set(symbol.0, self.image.inputs.first + next);
                next += 1;
            }
            match solved.kind {
                SolvedKind::Linear {
                    matrix,
                    right,
                    is_positive_definite,
                } => {
                    // 0 = b − A z
                    let first = rows.len();
                    rows.extend(right);
                    for (row, column, value) in whole(&matrix, is_positive_definite) {
                        let z = plan.dae.pool.symbol(solved.unknowns[column as usize]);
                        let part = plan.dae.pool.mul(value, z);
                        let sum = &mut rows[first + row as usize];
                        *sum = plan.dae.pool.sub(*sum, part);
                    }
                }
                SolvedKind::Nonlinear {
                    inner, residuals, ..
                } => {
                    for (symbol, value) in inner {
                        plan.sources[symbol.0 as usize] = Source::Assign(value);
                    }
                    rows.extend(residuals);
                }
                SolvedKind::Inlined { .. } => {}
            }
        }
        rows
    }

    fn make_starts(&mut self, reduced: &Reduced) -> Result<(), LowerError> {
        let starts = self.emitter.plan.dae.starts.clone();
        let values: Vec<ExprId> = starts.iter().map(|start| start.value).collect();
        self.image.start.values = self.emitter.routine(&values)?;

        // A value that depends on other states is known only with them.
        let open: Vec<usize> = (0..values.len())
            .filter(|&k| self.emitter.plan.dae.pool.as_number(values[k]).is_none())
            .collect();
        let open_values: Vec<ExprId> = open.iter().map(|&k| values[k]).collect();
        let map = Map::new(&mut self.emitter, &self.image.inputs, &open_values)?;
        let mut is_open = vec![false; values.len()];
        for (&k, row) in open.iter().zip(&map.rows) {
            is_open[k] = !row.is_empty();
        }

        let mut demands = Vec::new();
        let mut hints = Vec::new();
        for (start, is_open) in starts.iter().zip(is_open) {
            let residual = self.emitter.plan.dae.pool.sub(start.target, start.value);
            let state = self.as_state(start.target).filter(|_| !is_open);
            let aim = if let Some((index, is_negated)) = state {
                StartAim::State { index, is_negated }
            } else if let Some(slot) = self.as_discrete(start.target) {
                StartAim::Discrete { slot }
            } else if let Some((block, place)) = self.as_unknown(start.target)
                && start.is_guess
            {
                StartAim::Unknown { block, place }
            } else if start.is_guess {
                hints.push(residual);
                StartAim::Row(hints.len() - 1)
            } else {
                demands.push(residual);
                StartAim::Row(demands.len() - 1)
            };
            self.image.start.aims.push(StartInfo {
                is_guess: start.is_guess,
                aim,
            });
        }

        let rates: FxHashSet<SymbolId> = self.emitter.plan.dae.rates.iter().copied().collect();
        let is_rate = self.image.states.iter().map(|s| rates.contains(s));
        self.image.start.is_rate = is_rate.collect();
        let mut constraints = reduced.constraints.clone();
        constraints.extend(self.emitter.plan.dae.invariants.iter().map(|i| i.residual));
        self.image.start.n_demands = demands.len();
        self.image.locks.n = constraints.len();
        self.image.locks.closes_loops = reduced.closes_loops;
        self.image.locks.released.clone_from(&reduced.released);
        self.image.locks.map = Map::new(&mut self.emitter, &self.image.inputs, &constraints)?;

        for info in &mut self.image.start.aims {
            if info.is_guess
                && let StartAim::Row(row) = &mut info.aim
            {
                *row += demands.len() + constraints.len();
            }
        }

        demands.extend(constraints);
        demands.extend(hints);
        self.image.start.demands = Map::new(&mut self.emitter, &self.image.inputs, &demands)?;
        self.make_late_starts()
    }

    fn make_late_starts(&mut self) -> Result<(), LowerError> {
        let mut values = Vec::new();
        for (symbol, value) in self.emitter.plan.dae.late_starts.clone() {
            let target = self.emitter.plan.dae.pool.symbol(symbol);
            if let Some(state) = self.as_state(target) {
                self.image.start.late_states.push(state);
                values.push(value);
            }
        }
        self.image.start.late_values = self.emitter.routine(&values)?;
        Ok(())
    }

    fn as_discrete(&self, e: ExprId) -> Option<u32> {
        let symbol = self.emitter.plan.dae.pool.as_symbol(e)?;
        let is_discrete = matches!(
            self.emitter.plan.dae.symbol(symbol).role,
            Role::Discrete { .. }
        );
        is_discrete.then(|| self.emitter.input_slots.get(symbol.0))?
    }

    fn as_unknown(&self, e: ExprId) -> Option<(u32, usize)> {
        let symbol = self.emitter.plan.dae.pool.as_symbol(e)?;
        let Source::Solved(block) = self.emitter.plan.sources[symbol.0 as usize] else {
            return None;
        };
        let solved = &self.emitter.plan.solved[block as usize];
        Some((block, solved.unknowns.iter().position(|&s| s == symbol)?))
    }

    fn make_audit(&mut self, reduced: &Reduced) -> Result<(), LowerError> {
        let dae = &mut self.emitter.plan.dae;
        let energies: Vec<ExprId> = dae.power.iter().filter_map(|port| port.energy).collect();
        let layout = AuditLayout::new(dae);
        self.image.energy.power = if layout.is_small() {
            let mut wanted = rate_expressions(dae, &layout);
            let n_rates = wanted.len();
            if self.form == Form::Explicit && n_rates > 0 {
                let pool = &mut dae.pool;
                wanted.extend(reduced.states.iter().map(|s| pool.symbol(s.derivative)));
            }
            let n_rhs = wanted.len() - n_rates;
            Power::small(self.emitter.routine(&wanted)?, n_rhs)
        } else {
            let own = dae.quadratures.iter().map(|q| q.rate);
            let powers = dae.power.iter().map(|port| port.power);
            let wanted: Vec<ExprId> = own.chain(powers).collect();
            let routine = self.emitter.routine(&wanted)?;
            Power::large(&self.emitter.plan.dae, &layout, routine)
        };

        self.image.energy.stored = self.emitter.routine(&energies)?;
        let ports = self.emitter.plan.dae.power.iter();
        let held: Vec<ExprId> = ports.filter_map(|port| port.held).collect();
        self.image.energy.held = self.emitter.routine(&held)?;
        if layout.is_small() {
            let balances = self.emitter.plan.dae.balances.clone();
            let routine = self.emitter.routine(&balance_expressions(&balances))?;
            self.image.energy.balances = Balances::new(&balances, routine);
        }

        let anchors = self.emitter.plan.dae.anchors.clone();
        let routine = self.emitter.routine(&anchor_expressions(&anchors))?;
        let slot = |symbol| self.emitter.input(symbol);
        self.image.energy.anchors = Anchors::new(&anchors, routine, slot);
        self.image.energy.audit = layout;
        Ok(())
    }

    /// Bound parameters in an order of computation, those that something reads.
    fn make_bindings(&mut self) -> Result<(), LowerError> {
        let used: Vec<SymbolId> = self
            .emitter
            .input_slots
            .iter()
            .map(|(symbol, _)| SymbolId(symbol))
            .collect();

        let mut done: FxHashSet<SymbolId> = FxHashSet::default();
        let mut stack: Vec<(SymbolId, bool)> = used.into_iter().rev().map(|s| (s, false)).collect();
        while let Some((symbol, is_ready)) = stack.pop() {
            let Role::Parameter {
                binding: Some(value),
                ..
            } = self.emitter.plan.dae.symbol(symbol).role
            else {
                continue;
            };
            if is_ready {
                let slot = self.emitter.input(symbol);
                let routine = self.emitter.binding(value)?;
                self.image.parameters.bindings.push(Binding {
                    symbol,
                    slot,
                    routine,
                });
            } else if done.insert(symbol) {
                stack.push((symbol, true));
                let read = symbols_of(&self.emitter.plan.dae.pool, value);
                stack.extend(read.into_iter().map(|s| (s, false)));
            }
        }
        Ok(())
    }
}

fn block_unknowns(plan: &Plan) -> Vec<SymbolId> {
    plan.solved
        .iter()
        .filter(|solved| !matches!(solved.kind, SolvedKind::Inlined { .. }))
        .flat_map(|solved| solved.unknowns.iter().copied())
        .collect()
}

/// Orders sampled equations of all clocks so that each runs after those it reads.
fn sort_sampled(
    plan: &Plan,
    equations: &[(usize, SymbolId, ExprId)],
) -> Result<Vec<usize>, LowerError> {
    let definer: FxHashMap<SymbolId, usize> = equations
        .iter()
        .enumerate()
        .map(|(k, &(_, s, _))| (s, k))
        .collect();
    let mut waits_for = vec![0_usize; equations.len()];
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); equations.len()];
    for (k, &(_, _, value)) in equations.iter().enumerate() {
        for symbol in symbols_of(&plan.dae.pool, value) {
            if let Some(&other) = definer.get(&symbol) {
                users[other].push(k);
                waits_for[k] += 1;
            }
        }
    }

    // Smallest first, so that the order does not depend on anything but the equations.
    let mut ready: std::collections::BTreeSet<usize> = (0..equations.len())
        .filter(|&k| waits_for[k] == 0)
        .collect();
    let mut order = Vec::with_capacity(equations.len());
    while let Some(k) = ready.pop_first() {
        order.push(k);
        for &user in &users[k] {
            waits_for[user] -= 1;
            if waits_for[user] == 0 {
                ready.insert(user);
            }
        }
    }

    if order.len() < equations.len() {
        let symbols = (0..equations.len())
            .filter(|&k| waits_for[k] > 0)
            .map(|k| equations[k].1)
            .collect();
        return Err(LowerError::SampleLoop { symbols });
    }
    Ok(order)
}
