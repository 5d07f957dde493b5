//! Turns expressions into routines: steps over slots that compute some outputs.
//!
//! In:  a [`Plan`], and the expressions wanted.
//! Out: [`Routine`]s that compute what the wanted expressions need and nothing else.
//!      What depends on parameters only is computed once, in the set-up routine.
//!
//! A small routine is one straight list of instructions. A large one is cut into rows
//! (one per definition or shared part), rows of the same shape whose inputs are ready at the
//! same level become one kernel: the code does not grow with the number of rows.
//!
//! **Invariant:** steps are in an order in which every slot is written before it is read.

use std::sync::Arc;

use paynter_symbolic::dae::Role;
use paynter_symbolic::expr::{ArgsId, ExprId, ExternalId, Node, SymbolId};
use paynter_symbolic::walk::for_each_argument;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::block::{LinearBlock, NewtonBlock};
use crate::code::{ExternalCall, Instr, Kernel, Op, Step, Straight};
use crate::plan::{Plan, Solved, SolvedKind, Source};

/// Why equations cannot be made to run.
#[derive(Clone, Debug, PartialEq)]
pub enum LowerError {
    /// An expression reads a symbol that nothing defines.
    Undefined {
        /// Which.
        symbol: SymbolId,
    },
    /// Sampled equations need each other's values of the same tick.
    SampleLoop {
        /// The symbols in the circle, or behind it.
        symbols: Vec<SymbolId>,
    },
    /// The host processor cannot run the machine code that was made.
    NoMachineCode {
        /// In the words of the code generator.
        reason: String,
    },
}

impl std::fmt::Display for LowerError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LowerError::Undefined { symbol } => {
                write!(out, "nothing defines symbol number {}", symbol.0)
            }
            LowerError::SampleLoop { symbols } => {
                write!(
                    out,
                    "{} sampled equations need each other at one tick",
                    symbols.len()
                )
            }
            LowerError::NoMachineCode { reason } => write!(out, "no machine code: {reason}"),
        }
    }
}

impl std::error::Error for LowerError {}

/// Steps that compute some outputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routine {
    pub steps: Vec<Step>,
    pub outputs: Vec<u32>,
    /// (block, slot of a pivot, slot of the size of its column) of the blocks written out.
    pub checks: Vec<(u32, u32, u32)>,
}

/// Definition number of instructions that belong to no symbol.
pub(crate) const NO_OWNER: u32 = u32::MAX;

/// Routines beyond this many operations become kernels: straight code would leave the
/// instruction cache, and take seconds to compile (5 µs per operation).
pub(crate) const STRAIGHT_LIMIT: usize = 20_000;

/// Fewer rows than this of one shape are cheaper as straight instructions.
const FEWEST_ROWS: usize = 8;

/// Slots and constants while routines are being made.
#[derive(Debug)]
pub(crate) struct Emitter {
    pub plan: Plan,
    pub n_slots: u32,
    pub constants: Vec<(u32, f64)>,
    constant_slots: FxHashMap<u64, u32>,
    /// Slots of inputs, by symbol.
    pub input_slots: FxHashMap<SymbolId, u32>,
    /// Whether a node depends on parameters only.
    is_fixed: FxHashMap<ExprId, bool>,
    fixed_slots: FxHashMap<ExprId, u32>,
    /// What the set-up routine must compute.
    fixed_roots: Vec<(ExprId, u32)>,
    pub n_externals: u32,
    pub straight_limit: usize,
    /// Unknowns of blocks that were written out, with their blocks.
    inlined_blocks: FxHashMap<SymbolId, u32>,
}

impl Emitter {
    pub(crate) fn new(plan: Plan, straight_limit: usize) -> Self {
        let mut inlined_blocks = FxHashMap::default();
        for (number, solved) in plan.solved.iter().enumerate() {
            if matches!(solved.kind, SolvedKind::Inlined { .. }) {
                inlined_blocks.extend(solved.unknowns.iter().map(|&s| (s, number as u32)));
            }
        }
        Emitter {
            inlined_blocks,
            plan,
            n_slots: 0,
            constants: Vec::new(),
            constant_slots: FxHashMap::default(),
            input_slots: FxHashMap::default(),
            is_fixed: FxHashMap::default(),
            fixed_slots: FxHashMap::default(),
            fixed_roots: Vec::new(),
            n_externals: 0,
            straight_limit,
        }
    }

    /// Gives a new slot.
    pub(crate) fn new_slot(&mut self) -> u32 {
        self.new_slots(1)
    }

    /// Gives the first of n new slots in a row.
    pub(crate) fn new_slots(&mut self, n: u32) -> u32 {
        let first = self.n_slots;
        self.n_slots = first.checked_add(n).expect("fewer than 2^32 slots");
        first
    }

    /// Gives the slot of a number.
    pub(crate) fn constant(&mut self, value: f64) -> u32 {
        if let Some(&slot) = self.constant_slots.get(&value.to_bits()) {
            return slot;
        }
        let slot = self.new_slot();
        self.constant_slots.insert(value.to_bits(), slot);
        self.constants.push((slot, value));
        slot
    }

    /// Gives the slot of an input, making one if there is none.
    pub(crate) fn input(&mut self, symbol: SymbolId) -> u32 {
        if let Some(&slot) = self.input_slots.get(&symbol) {
            return slot;
        }
        let slot = self.new_slot();
        self.input_slots.insert(symbol, slot);
        slot
    }

    /// Makes the routine that computes some expressions.
    pub(crate) fn routine(&mut self, wanted: &[ExprId]) -> Result<Routine, LowerError> {
        self.routine_where(wanted, Fixed::Elsewhere)
    }

    /// Makes the routine that computes everything that depends on parameters only. Last.
    pub(crate) fn set_up(&mut self) -> Result<Routine, LowerError> {
        let roots = std::mem::take(&mut self.fixed_roots);
        let wanted: Vec<ExprId> = roots.iter().map(|root| root.0).collect();
        let mut routine = self.routine_where(&wanted, Fixed::Here)?;
        let mut copies = Straight::default();
        for (&(_, dst), &from) in roots.iter().zip(&routine.outputs) {
            copies.instrs.push(Instr {
                op: Op::Copy,
                dst,
                a: from,
                b: 0,
                c: 0,
            });
            copies.owners.push(NO_OWNER);
        }
        routine.steps.push(Step::Straight(copies));
        Ok(routine)
    }

    /// Makes the routine of one sampled equation; `known` symbols are in their slots already.
    pub(crate) fn routine_after(
        &mut self,
        value: ExprId,
        known: &mut FxHashMap<SymbolId, u32>,
    ) -> Routine {
        let mut builder = Builder::new(self, Fixed::Elsewhere);
        builder.symbols = std::mem::take(known);
        let output = builder.slot(value);
        *known = std::mem::take(&mut builder.symbols);
        Routine {
            steps: builder.finish(),
            outputs: vec![output],
            checks: Vec::new(),
        }
    }

    /// Makes the routine of one bound parameter, sharing nothing with others.
    pub(crate) fn binding(&mut self, value: ExprId) -> Result<Routine, LowerError> {
        self.routine_where(&[value], Fixed::Here)
    }

    fn routine_where(&mut self, wanted: &[ExprId], fixed: Fixed) -> Result<Routine, LowerError> {
        let (items, n_nodes, inlined) = self.collect(wanted, fixed)?;
        let mut wanted = wanted.to_vec();
        let n_outputs = wanted.len();
        for &(_, pivot, scale) in &inlined {
            wanted.extend([pivot, scale]);
        }
        let mut builder = Builder::new(self, fixed);
        let slots = if n_nodes <= builder.emitter.straight_limit {
            builder.build_straight(&items, &wanted)
        } else {
            builder.build_rows(&items, &wanted)
        };
        let steps = builder.finish();
        let checks = inlined
            .iter()
            .zip(slots[n_outputs..].chunks(2))
            .map(|(&(block, _, _), pair)| (block, pair[0], pair[1]))
            .collect();
        Ok(Routine {
            steps,
            outputs: slots[..n_outputs].to_vec(),
            checks,
        })
    }

    /// Lists the definitions that some expressions need, in an order of computation.
    fn collect(&mut self, wanted: &[ExprId], fixed: Fixed) -> Result<Collected, LowerError> {
        let mut items = Vec::new();
        let mut inlined = Vec::new();
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut seen_blocks: FxHashSet<u32> = FxHashSet::default();
        let mut stack: Vec<Visit> = wanted.iter().rev().map(|&e| Visit::Node(e)).collect();
        while let Some(visit) = stack.pop() {
            let e = match visit {
                Visit::Done(item) => {
                    items.push(item);
                    continue;
                }
                Visit::Node(e) => e,
            };
            if (fixed == Fixed::Elsewhere && self.depends_on_parameters_only(e)) || !seen.insert(e)
            {
                continue;
            }
            let Some(symbol) = self.plan.dae.pool.as_symbol(e) else {
                for_each_argument(&self.plan.dae.pool, e, |a| stack.push(Visit::Node(a)));
                continue;
            };
            match self.plan.sources[symbol.0 as usize] {
                Source::Nowhere => return Err(LowerError::Undefined { symbol }),
                Source::Input => {
                    self.input(symbol);
                }
                Source::Forward(value) => stack.push(Visit::Node(value)),
                Source::Assign(value) => {
                    if let Some(&block) = self.inlined_blocks.get(&symbol)
                        && seen_blocks.insert(block)
                        && let SolvedKind::Inlined { pivots } =
                            &self.plan.solved[block as usize].kind
                    {
                        inlined.extend(pivots.iter().map(|&(pivot, scale)| (block, pivot, scale)));
                        stack.extend(pivots.iter().map(|&(_, scale)| Visit::Node(scale)));
                        stack.extend(pivots.iter().map(|&(pivot, _)| Visit::Node(pivot)));
                    }
                    stack.push(Visit::Done(Item::Assign(symbol, value)));
                    stack.push(Visit::Node(value));
                }
                Source::Solved(block) => {
                    if seen_blocks.insert(block) {
                        stack.push(Visit::Done(Item::Solved(block)));
                        let solved = &self.plan.solved[block as usize];
                        for_each_expression(solved, |e| stack.push(Visit::Node(e)));
                    }
                }
            }
        }
        Ok((items, seen.len(), inlined))
    }

    /// Tells whether an expression keeps its value during a run.
    pub(crate) fn depends_on_parameters_only(&mut self, e: ExprId) -> bool {
        if let Some(&is_fixed) = self.is_fixed.get(&e) {
            return is_fixed;
        }
        let mut stack = vec![(e, false)];
        while let Some((e, is_ready)) = stack.pop() {
            if self.is_fixed.contains_key(&e) && !is_ready {
                continue;
            }
            let mut arguments = Vec::new();
            let mut fixed = true;
            match self.plan.dae.pool.as_symbol(e) {
                Some(symbol) => match self.plan.sources[symbol.0 as usize] {
                    Source::Input => {
                        let role = self.plan.dae.symbol(symbol).role;
                        fixed = matches!(role, Role::Parameter { .. });
                    }
                    Source::Forward(value) | Source::Assign(value) => arguments.push(value),
                    Source::Nowhere | Source::Solved(_) => fixed = false,
                },
                None => for_each_argument(&self.plan.dae.pool, e, |a| arguments.push(a)),
            }
            if is_ready {
                fixed &= arguments
                    .iter()
                    .all(|a| self.is_fixed.get(a) == Some(&true));
                self.is_fixed.insert(e, fixed);
            } else {
                // Until known otherwise it varies, which also ends definitions in a circle.
                self.is_fixed.insert(e, false);
                stack.push((e, true));
                stack.extend(arguments.into_iter().map(|a| (a, false)));
            }
        }
        self.is_fixed[&e]
    }
}

/// Definitions in order, number of nodes, and pivots to check: (block, pivot, scale).
type Collected = (Vec<Item>, usize, Vec<(u32, ExprId, ExprId)>);

/// Where parts that depend on parameters only are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fixed {
    /// In this routine: it is the set-up routine.
    Here,
    /// In the set-up routine.
    Elsewhere,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Assign(SymbolId, ExprId),
    Solved(u32),
}

enum Visit {
    Node(ExprId),
    Done(Item),
}

fn for_each_expression(solved: &Solved, mut f: impl FnMut(ExprId)) {
    match &solved.kind {
        SolvedKind::Linear { matrix, right, .. } => {
            matrix.iter().for_each(|entry| f(entry.2));
            right.iter().for_each(|&e| f(e));
        }
        SolvedKind::Nonlinear {
            inner,
            residuals,
            jacobian,
        } => {
            inner.iter().for_each(|entry| f(entry.1));
            residuals.iter().for_each(|&e| f(e));
            jacobian.iter().for_each(|entry| f(entry.2));
        }
        SolvedKind::Inlined { .. } => {}
    }
}

type CallKey = (ExternalId, ArgsId, bool);

/// Makes the steps of one routine.
struct Builder<'a> {
    emitter: &'a mut Emitter,
    fixed: Fixed,
    /// Slots of nodes that are computed already.
    memo: FxHashMap<ExprId, u32>,
    calls: FxHashMap<CallKey, u32>,
    symbols: FxHashMap<SymbolId, u32>,
    steps: Vec<Step>,
    straight: Straight,
    owner: u32,
    /// Nodes and calls added since the last mark, to be forgotten after a Jacobian.
    log: Vec<ExprId>,
    call_log: Vec<CallKey>,
}

impl<'a> Builder<'a> {
    fn new(emitter: &'a mut Emitter, fixed: Fixed) -> Self {
        Builder {
            emitter,
            fixed,
            memo: FxHashMap::default(),
            calls: FxHashMap::default(),
            symbols: FxHashMap::default(),
            steps: Vec::new(),
            straight: Straight::default(),
            owner: NO_OWNER,
            log: Vec::new(),
            call_log: Vec::new(),
        }
    }

    fn flush(&mut self) {
        if !self.straight.instrs.is_empty() {
            self.steps
                .push(Step::Straight(std::mem::take(&mut self.straight)));
        }
    }

    fn finish(mut self) -> Vec<Step> {
        self.flush();
        self.steps
    }

    fn build_straight(&mut self, items: &[Item], wanted: &[ExprId]) -> Vec<u32> {
        for &item in items {
            match item {
                Item::Assign(symbol, value) => {
                    self.owner = symbol.0;
                    let slot = self.slot(value);
                    self.symbols.insert(symbol, slot);
                }
                Item::Solved(block) => self.build_solved(block),
            }
        }
        self.owner = NO_OWNER;
        wanted.iter().map(|&e| self.slot(e)).collect()
    }

    /// Gives the slot of a node if it needs no computing.
    fn ready_slot(&mut self, e: ExprId) -> Option<u32> {
        if let Some(&slot) = self.memo.get(&e) {
            return Some(slot);
        }
        if let Some(value) = self.emitter.plan.dae.pool.as_number(e) {
            return Some(self.emitter.constant(value));
        }
        if let Some(symbol) = self.emitter.plan.dae.pool.as_symbol(e) {
            if self.emitter.plan.sources[symbol.0 as usize] == Source::Input {
                return Some(self.emitter.input(symbol));
            }
            if let Some(&slot) = self.symbols.get(&symbol) {
                return Some(slot);
            }
        }
        if self.fixed == Fixed::Elsewhere && self.emitter.depends_on_parameters_only(e) {
            return Some(self.fixed_slot(e));
        }
        None
    }

    fn fixed_slot(&mut self, e: ExprId) -> u32 {
        if let Some(&slot) = self.emitter.fixed_slots.get(&e) {
            return slot;
        }
        let slot = self.emitter.new_slot();
        self.emitter.fixed_slots.insert(e, slot);
        self.emitter.fixed_roots.push((e, slot));
        slot
    }

    /// Emits straight code for a node and gives its slot.
    fn slot(&mut self, root: ExprId) -> u32 {
        let mut stack = vec![(root, false)];
        while let Some((e, is_ready)) = stack.pop() {
            if self.ready_slot(e).is_some() {
                continue;
            }
            let arguments = self.arguments(e);
            if !is_ready {
                stack.push((e, true));
                stack.extend(arguments.into_iter().map(|a| (a, false)));
                continue;
            }
            let slots: Vec<u32> = arguments
                .iter()
                .map(|&a| {
                    self.ready_slot(a)
                        .expect("arguments are computed before their user")
                })
                .collect();
            let slot = self.compute(e, &slots);
            self.memo.insert(e, slot);
            self.log.push(e);
        }
        self.ready_slot(root).expect("the root was computed last")
    }

    /// What must be computed before a node: its arguments, or what a name stands for.
    fn arguments(&self, e: ExprId) -> Vec<ExprId> {
        let pool = &self.emitter.plan.dae.pool;
        if let Some(symbol) = pool.as_symbol(e) {
            return match self.emitter.plan.sources[symbol.0 as usize] {
                Source::Forward(value) | Source::Assign(value) => vec![value],
                _ => unreachable!("unknowns of blocks are computed before their users"),
            };
        }
        let mut arguments = Vec::new();
        for_each_argument(pool, e, |a| arguments.push(a));
        arguments
    }

    fn compute(&mut self, e: ExprId, slots: &[u32]) -> u32 {
        match self.emitter.plan.dae.pool.node(e) {
            Node::Symbol(_) | Node::Smooth(_) => slots[0],
            Node::External(f, args, output) => self.call((f, args, false), slots) + output,
            Node::ExternalSlope(f, args, number) => self.call((f, args, true), slots) + number,
            node => {
                let op = op_of(self.emitter, node).expect("only calls and names have no operation");
                let dst = self.emitter.new_slot();
                let operand = |k: usize| slots.get(k).copied().unwrap_or(0);
                let n = op.n_operands();
                let [a, b, c] = [0, 1, 2].map(|k| if k < n { operand(k) } else { 0 });
                self.straight.instrs.push(Instr { op, dst, a, b, c });
                self.straight.owners.push(self.owner);
                dst
            }
        }
    }

    /// Calls an external function once for all its results; gives the first slot.
    fn call(&mut self, key: CallKey, inputs: &[u32]) -> u32 {
        if let Some(&first) = self.calls.get(&key) {
            return first;
        }
        self.flush();
        let call = external_call(self.emitter, key, inputs);
        let first = call.first_output;
        self.steps.push(Step::External(call));
        self.calls.insert(key, first);
        self.call_log.push(key);
        first
    }

    fn build_solved(&mut self, block: u32) {
        let solved = self.emitter.plan.solved[block as usize].clone();
        self.owner = solved.unknowns.first().map_or(NO_OWNER, |s| s.0);
        match &solved.kind {
            SolvedKind::Linear {
                matrix,
                right,
                is_positive_definite,
            } => {
                let matrix: Vec<_> = matrix
                    .iter()
                    .map(|&(r, c, e)| (r, c, self.slot(e)))
                    .collect();
                let right: Vec<u32> = right.iter().map(|&e| self.slot(e)).collect();
                self.flush();
                self.push_linear(
                    block,
                    &solved.unknowns,
                    matrix,
                    right,
                    *is_positive_definite,
                );
            }
            SolvedKind::Nonlinear {
                inner,
                residuals,
                jacobian,
            } => {
                self.hoist(&solved, inner);
                let newton = self.newton(block, &solved.unknowns, (inner, residuals, jacobian));
                self.steps.push(Step::Newton(Arc::new(newton)));
            }
            SolvedKind::Inlined { .. } => {}
        }
    }

    fn push_linear(
        &mut self,
        block: u32,
        unknowns: &[SymbolId],
        matrix: Vec<(u32, u32, u32)>,
        right: Vec<u32>,
        is_positive_definite: bool,
    ) {
        let unknowns = self.unknown_slots(unknowns);
        self.steps.push(Step::Linear(Arc::new(LinearBlock {
            block,
            unknowns,
            matrix,
            right,
            is_positive_definite,
        })));
    }

    fn unknown_slots(&mut self, unknowns: &[SymbolId]) -> Vec<u32> {
        unknowns
            .iter()
            .map(|&symbol| {
                let slot = self.emitter.new_slot();
                self.symbols.insert(symbol, slot);
                slot
            })
            .collect()
    }

    /// Computes, before a Newton iteration, every part that does not change inside it.
    fn hoist(&mut self, solved: &Solved, inner: &[(SymbolId, ExprId)]) {
        let own: FxHashSet<SymbolId> = solved
            .unknowns
            .iter()
            .copied()
            .chain(inner.iter().map(|entry| entry.0))
            .collect();
        let mut roots = Vec::new();
        for_each_expression(solved, |e| roots.push(e));
        let mut varies: FxHashMap<ExprId, bool> = FxHashMap::default();
        let mut stack: Vec<(ExprId, bool)> = roots.into_iter().map(|e| (e, false)).collect();
        while let Some((e, is_ready)) = stack.pop() {
            if varies.contains_key(&e) {
                continue;
            }
            let symbol = self.emitter.plan.dae.pool.as_symbol(e);
            if symbol.is_some_and(|s| own.contains(&s)) {
                varies.insert(e, true);
                continue;
            }
            if self.ready_slot(e).is_some() {
                varies.insert(e, false);
                continue;
            }
            let arguments = self.arguments(e);
            if !is_ready {
                stack.push((e, true));
                stack.extend(arguments.into_iter().map(|a| (a, false)));
                continue;
            }
            let does = arguments.iter().any(|a| varies.get(a) == Some(&true));
            varies.insert(e, does);
            if !does {
                self.slot(e);
            }
        }
        self.flush();
    }

    fn newton(
        &mut self,
        block: u32,
        unknowns: &[SymbolId],
        (inner, residuals, jacobian): NonlinearParts<'_>,
    ) -> NewtonBlock {
        let dae = &self.emitter.plan.dae;
        let nominals = unknowns.iter().map(|&s| dae.symbol(s).nominal).collect();
        let slots = self.unknown_slots(unknowns);
        let outer = std::mem::take(&mut self.steps);
        for &(symbol, value) in inner {
            self.owner = symbol.0;
            let slot = self.slot(value);
            self.symbols.insert(symbol, slot);
        }
        let residuals = residuals.iter().map(|&e| self.slot(e)).collect();
        self.flush();
        let body = std::mem::take(&mut self.steps);
        // What only the Jacobian needs belongs to an iterate before the last: forget it after.
        self.log.clear();
        self.call_log.clear();
        let jacobian = jacobian
            .iter()
            .map(|&(r, c, e)| (r, c, self.slot(e)))
            .collect();
        self.flush();
        let slopes = std::mem::replace(&mut self.steps, outer);
        for e in std::mem::take(&mut self.log) {
            self.memo.remove(&e);
        }
        for key in std::mem::take(&mut self.call_log) {
            self.calls.remove(&key);
        }
        NewtonBlock {
            block,
            unknowns: slots,
            nominals,
            body,
            residuals,
            slopes,
            jacobian,
        }
    }
}

type NonlinearParts<'a> = (
    &'a [(SymbolId, ExprId)],
    &'a [ExprId],
    &'a [(u32, u32, ExprId)],
);

pub(crate) fn external_call(emitter: &mut Emitter, key: CallKey, inputs: &[u32]) -> ExternalCall {
    let (f, _, wants_slopes) = key;
    let function = emitter.plan.dae.pool.external(f).clone();
    external_call_of(emitter, function, wants_slopes, inputs)
}

pub(crate) fn external_call_of(
    emitter: &mut Emitter,
    function: Arc<dyn paynter_symbolic::expr::External>,
    wants_slopes: bool,
    inputs: &[u32],
) -> ExternalCall {
    let n_values = function.n_outputs();
    let n_outputs = if wants_slopes {
        n_values * function.n_inputs()
    } else {
        n_values
    } as u32;
    let first_output = emitter.new_slots(n_outputs);
    emitter.n_externals += 1;
    let number = emitter.n_externals - 1;
    ExternalCall {
        function,
        wants_slopes,
        inputs: inputs.to_vec(),
        first_output,
        n_outputs,
        number,
    }
}

/// The operation of a node, if it is one.
fn op_of(emitter: &Emitter, node: Node) -> Option<Op> {
    Some(match node {
        Node::Neg(_) => Op::Neg,
        Node::Add(..) => Op::Add,
        Node::Sub(..) => Op::Sub,
        Node::Mul(..) => Op::Mul,
        Node::Div(..) => Op::Div,
        Node::Power(_, n) => match emitter.plan.dae.pool.as_number(n) {
            Some(n) if n.fract() == 0.0 && n.abs() <= 64.0 => Op::PowerWhole(n as i8),
            _ => Op::Power,
        },
        Node::Call1(f, _) => Op::Call1(f),
        Node::Call2(f, _, _) => Op::Call2(f),
        Node::Compare(comparison, _, _) => Op::Compare(comparison),
        Node::Not(_) => Op::Not,
        Node::And(..) => Op::And,
        Node::Or(..) => Op::Or,
        Node::If(..) => Op::Select,
        Node::Number(_)
        | Node::Symbol(_)
        | Node::Smooth(_)
        | Node::External(..)
        | Node::ExternalSlope(..) => return None,
    })
}

/// One formula of a large routine, before rows of one shape are put together.
struct Row {
    level: u32,
    shape: u32,
    leaves: Vec<u32>,
    dst: u32,
    owner: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shape {
    n_leaves: usize,
    body: Vec<Instr>,
}

/// Marks an operand that is the result of an earlier instruction of the same row.
const LOCAL: u32 = 1 << 31;

/// Rows, shapes and levels of a large routine.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    shapes: Vec<Shape>,
    shape_ids: FxHashMap<Shape, u32>,
    /// Level at which a slot is ready; inputs are ready at level 0.
    levels: FxHashMap<u32, u32>,
    /// Steps that are not rows, with their levels.
    others: Vec<(u32, Step)>,
}

impl Rows {
    fn level_after<'s>(&self, slots: impl IntoIterator<Item = &'s u32>) -> u32 {
        slots
            .into_iter()
            .map(|slot| self.levels.get(slot).copied().unwrap_or(0))
            .max()
            .unwrap_or(0)
            + 1
    }
}

impl Builder<'_> {
    fn build_rows(&mut self, items: &[Item], wanted: &[ExprId]) -> Vec<u32> {
        let mut rows = Rows::default();
        let cuts = self.find_cuts(items, wanted);
        for &item in items {
            match item {
                Item::Assign(symbol, value) => {
                    self.owner = symbol.0;
                    let slot = self.row_slot(value, &cuts, &mut rows);
                    self.symbols.insert(symbol, slot);
                }
                Item::Solved(block) => self.add_solved(block, &cuts, &mut rows),
            }
        }
        self.owner = NO_OWNER;
        let outputs = wanted
            .iter()
            .map(|&e| self.row_slot(e, &cuts, &mut rows))
            .collect();
        self.put_together(rows);
        outputs
    }

    /// Finds the nodes that need a slot: roots, and parts that several definitions share.
    fn find_cuts(&mut self, items: &[Item], wanted: &[ExprId]) -> FxHashSet<ExprId> {
        let mut roots: Vec<ExprId> = Vec::new();
        for item in items {
            match *item {
                Item::Assign(_, value) => roots.push(value),
                Item::Solved(block) => {
                    let solved = &self.emitter.plan.solved[block as usize];
                    if matches!(solved.kind, SolvedKind::Linear { .. }) {
                        for_each_expression(solved, |e| roots.push(e));
                    }
                }
            }
        }
        roots.extend(wanted);
        let mut cuts: FxHashSet<ExprId> = roots.iter().copied().collect();
        let mut seen_by: FxHashMap<ExprId, u32> = FxHashMap::default();
        for (number, &root) in roots.iter().enumerate() {
            let number = number as u32;
            let mut stack = vec![root];
            while let Some(e) = stack.pop() {
                match seen_by.get(&e) {
                    Some(&by) => {
                        if by != number {
                            cuts.insert(e);
                        }
                        continue;
                    }
                    None => seen_by.insert(e, number),
                };
                let pool = &self.emitter.plan.dae.pool;
                let is_call = matches!(pool.node(e), Node::External(..) | Node::ExternalSlope(..));
                match pool
                    .as_symbol(e)
                    .map(|s| self.emitter.plan.sources[s.0 as usize])
                {
                    Some(Source::Forward(value)) => stack.push(value),
                    Some(_) => {}
                    None => for_each_argument(pool, e, |a| {
                        stack.push(a);
                        // Arguments of a call are read from slots.
                        if is_call {
                            cuts.insert(a);
                        }
                    }),
                }
                if is_call {
                    cuts.insert(e);
                }
            }
        }
        cuts
    }

    /// Makes rows for a node and for every cut node below it; gives the slot of the node.
    fn row_slot(&mut self, root: ExprId, cuts: &FxHashSet<ExprId>, rows: &mut Rows) -> u32 {
        let mut stack = vec![(root, false)];
        let mut entered: FxHashSet<ExprId> = FxHashSet::default();
        while let Some((e, is_ready)) = stack.pop() {
            if self.ready_slot(e).is_some() {
                continue;
            }
            if is_ready {
                self.make_row(e, cuts, rows);
                continue;
            }
            if !entered.insert(e) {
                continue;
            }
            if cuts.contains(&e) || e == root {
                stack.push((e, true));
            }
            stack.extend(self.arguments(e).into_iter().map(|a| (a, false)));
        }
        self.ready_slot(root).expect("the root has a row")
    }

    fn make_row(&mut self, root: ExprId, cuts: &FxHashSet<ExprId>, rows: &mut Rows) {
        let node = self.emitter.plan.dae.pool.node(root);
        if let Node::External(f, args, number) = node {
            return self.make_call(root, (f, args, false), number, rows);
        }
        if let Node::ExternalSlope(f, args, number) = node {
            return self.make_call(root, (f, args, true), number, rows);
        }
        let mut local = LocalRow::default();
        let mut stack = vec![(root, false)];
        while let Some((e, is_ready)) = stack.pop() {
            if local.operands.contains_key(&e) {
                continue;
            }
            if let Some(slot) = self.ready_slot(e) {
                let leaf = local.leaf(slot);
                local.operands.insert(e, leaf);
                continue;
            }
            debug_assert!(
                e == root || !cuts.contains(&e),
                "cut parts have rows already"
            );
            let arguments = self.arguments(e);
            if !is_ready {
                stack.push((e, true));
                stack.extend(arguments.into_iter().map(|a| (a, false)));
                continue;
            }
            let operands: Vec<u32> = arguments.iter().map(|a| local.operands[a]).collect();
            let operand = match op_of(self.emitter, self.emitter.plan.dae.pool.node(e)) {
                None => operands[0],
                Some(op) => local.push(op, &operands),
            };
            local.operands.insert(e, operand);
        }
        let result = local.operands[&root];
        let slot = if result & LOCAL == 0 {
            // Only another name of a slot: no row is needed.
            local.leaves[result as usize]
        } else {
            self.add_row(local, rows)
        };
        self.memo.insert(root, slot);
    }

    fn add_row(&mut self, local: LocalRow, rows: &mut Rows) -> u32 {
        let level = rows.level_after(&local.leaves);
        let shape = local.shape();
        let next = rows.shapes.len() as u32;
        let shape = *rows.shape_ids.entry(shape).or_insert_with_key(|shape| {
            rows.shapes.push(shape.clone());
            next
        });
        let dst = self.emitter.new_slot();
        rows.levels.insert(dst, level);
        rows.rows.push(Row {
            level,
            shape,
            leaves: local.leaves,
            dst,
            owner: self.owner,
        });
        dst
    }

    fn make_call(&mut self, e: ExprId, key: CallKey, number: u32, rows: &mut Rows) {
        let first = match self.calls.get(&key) {
            Some(&first) => first,
            None => {
                let inputs: Vec<u32> = self
                    .arguments(e)
                    .into_iter()
                    .map(|a| self.ready_slot(a).expect("arguments of calls are cut"))
                    .collect();
                let level = rows.level_after(&inputs);
                let call = external_call(self.emitter, key, &inputs);
                let first = call.first_output;
                for slot in first..first + call.n_outputs {
                    rows.levels.insert(slot, level);
                }
                rows.others.push((level, Step::External(call)));
                self.calls.insert(key, first);
                first
            }
        };
        self.memo.insert(e, first + number);
    }

    fn add_solved(&mut self, block: u32, cuts: &FxHashSet<ExprId>, rows: &mut Rows) {
        let solved = self.emitter.plan.solved[block as usize].clone();
        self.owner = solved.unknowns.first().map_or(NO_OWNER, |s| s.0);
        match &solved.kind {
            SolvedKind::Linear {
                matrix,
                right,
                is_positive_definite,
            } => {
                let matrix: Vec<_> = matrix
                    .iter()
                    .map(|&(r, c, e)| (r, c, self.row_slot(e, cuts, rows)))
                    .collect();
                let right: Vec<u32> = right
                    .iter()
                    .map(|&e| self.row_slot(e, cuts, rows))
                    .collect();
                let read: Vec<u32> = matrix.iter().map(|m| m.2).chain(right.clone()).collect();
                let level = rows.level_after(&read);
                self.push_linear(
                    block,
                    &solved.unknowns,
                    matrix,
                    right,
                    *is_positive_definite,
                );
                let step = self.steps.pop().expect("the block was just pushed");
                if let Step::Linear(linear) = &step {
                    rows.levels
                        .extend(linear.unknowns.iter().map(|&slot| (slot, level)));
                }
                rows.others.push((level, step));
            }
            SolvedKind::Nonlinear {
                inner,
                residuals,
                jacobian,
            } => {
                let before = self.emitter.n_slots;
                self.hoist(&solved, inner);
                let newton = self.newton(block, &solved.unknowns, (inner, residuals, jacobian));
                // The hoisted parts run just before the iteration, as one step with it.
                let hoisted = std::mem::take(&mut self.steps);
                let mut read = Vec::new();
                read_slots(&hoisted, &mut read);
                read_slots(&newton.body, &mut read);
                read_slots(&newton.slopes, &mut read);
                let level = rows.level_after(read.iter().filter(|&&slot| slot < before));
                for slot in before..self.emitter.n_slots {
                    rows.levels.insert(slot, level);
                }
                rows.others
                    .extend(hoisted.into_iter().map(|step| (level, step)));
                rows.others.push((level, Step::Newton(Arc::new(newton))));
            }
            SolvedKind::Inlined { .. } => {}
        }
    }

    /// Orders rows by level and shape, and makes a kernel of every group that is worth one.
    fn put_together(&mut self, mut rows: Rows) {
        rows.rows.sort_by_key(|row| (row.level, row.shape));
        rows.others.sort_by_key(|other| other.0);
        let bodies: Vec<Arc<[Instr]>> = rows
            .shapes
            .iter()
            .map(|s| s.body.as_slice().into())
            .collect();
        let mut others = rows.others.into_iter().peekable();
        for group in rows
            .rows
            .chunk_by(|a, b| (a.level, a.shape) == (b.level, b.shape))
        {
            let (level, shape) = (group[0].level, group[0].shape as usize);
            while let Some((_, step)) = others.next_if(|other| other.0 < level) {
                self.flush();
                self.steps.push(step);
            }
            let n_leaves = rows.shapes[shape].n_leaves;
            if group.len() < FEWEST_ROWS {
                for row in group {
                    self.expand(row, n_leaves, &bodies[shape]);
                }
                continue;
            }
            self.flush();
            self.steps.push(Step::Kernel(Kernel {
                body: bodies[shape].clone(),
                n_leaves,
                leaves: (0..n_leaves)
                    .flat_map(|leaf| group.iter().map(move |row| row.leaves[leaf]))
                    .collect(),
                dst: group.iter().map(|row| row.dst).collect(),
                owners: group.iter().map(|row| row.owner).collect(),
                compiled: None,
            }));
        }
        self.flush();
        self.steps.extend(others.map(|other| other.1));
    }

    /// Writes one row as straight instructions.
    fn expand(&mut self, row: &Row, n_leaves: usize, body: &[Instr]) {
        let mut slots: Vec<u32> = row.leaves.clone();
        for (k, i) in body.iter().enumerate() {
            let dst = if k + 1 == body.len() {
                row.dst
            } else {
                self.emitter.new_slot()
            };
            let n = i.op.n_operands();
            let [a, b, c] = [(0, i.a), (1, i.b), (2, i.c)]
                .map(|(k, r)| if k < n { slots[r as usize] } else { 0 });
            self.straight.instrs.push(Instr {
                op: i.op,
                dst,
                a,
                b,
                c,
            });
            self.straight.owners.push(row.owner);
            slots.push(dst);
        }
        debug_assert_eq!(slots.len(), n_leaves + body.len());
    }
}

/// A row while it is made: operands below [`LOCAL`] are leaves.
#[derive(Default)]
struct LocalRow {
    leaves: Vec<u32>,
    leaf_ids: FxHashMap<u32, u32>,
    instrs: Vec<Instr>,
    operands: FxHashMap<ExprId, u32>,
}

impl LocalRow {
    fn leaf(&mut self, slot: u32) -> u32 {
        let next = self.leaves.len() as u32;
        let leaves = &mut self.leaves;
        *self.leaf_ids.entry(slot).or_insert_with(|| {
            leaves.push(slot);
            next
        })
    }

    fn push(&mut self, op: Op, operands: &[u32]) -> u32 {
        let n = op.n_operands();
        let [a, b, c] = [0, 1, 2].map(|k| if k < n { operands[k] } else { 0 });
        let number = self.instrs.len() as u32;
        self.instrs.push(Instr {
            op,
            dst: number,
            a,
            b,
            c,
        });
        LOCAL | number
    }

    fn shape(&self) -> Shape {
        let n_leaves = self.leaves.len();
        let register = |operand: u32| {
            if operand & LOCAL == 0 {
                operand
            } else {
                (operand & !LOCAL) + n_leaves as u32
            }
        };
        let body = self
            .instrs
            .iter()
            .map(|i| Instr {
                op: i.op,
                dst: i.dst + n_leaves as u32,
                a: register(i.a),
                b: register(i.b),
                c: register(i.c),
            })
            .collect();
        Shape { n_leaves, body }
    }
}

/// Collects every slot that steps read.
pub(crate) fn read_slots(steps: &[Step], read: &mut Vec<u32>) {
    for step in steps {
        match step {
            Step::Straight(straight) => {
                straight
                    .instrs
                    .iter()
                    .for_each(|i| read.extend(i.operands()));
            }
            Step::Kernel(kernel) => read.extend(&kernel.leaves),
            Step::External(call) => read.extend(&call.inputs),
            Step::Linear(linear) => {
                read.extend(linear.matrix.iter().map(|entry| entry.2));
                read.extend(&linear.right);
            }
            Step::LinearTangent(tangent) => {
                read.extend(&tangent.unknowns);
                read.extend(tangent.matrix.iter().map(|entry| entry.2));
                read.extend(tangent.right.iter().map(|entry| entry.1));
            }
            Step::Newton(newton) => {
                read.extend(&newton.unknowns);
                read_slots(&newton.body, read);
                read.extend(&newton.residuals);
                read_slots(&newton.slopes, read);
                read.extend(newton.jacobian.iter().map(|entry| entry.2));
            }
            Step::NewtonTangent(tangent) => {
                read_slots(&tangent.newton.slopes, read);
                read.extend(tangent.newton.jacobian.iter().map(|entry| entry.2));
                read_slots(&tangent.body, read);
                read.extend(tangent.residuals.iter().map(|entry| entry.1));
            }
        }
    }
}
