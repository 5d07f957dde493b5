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

mod build;
mod notes;
mod rows;

use paynter_symbolic::dae::Role;
use paynter_symbolic::expr::{ArgsId, ExprId, ExternalId, Node, SymbolId};
use paynter_symbolic::walk::for_each_argument;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Instr, Op, Step, Straight};
use crate::plan::{Plan, Solved, SolvedKind, Source};
use build::Builder;
pub(crate) use build::external_call_of;
pub(crate) use notes::Notes;

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
        /// The symbols in the cycle, or those that depend on it.
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

/// Slots and constants while routines are being made.
#[derive(Debug)]
pub(crate) struct Emitter {
    pub plan: Plan,
    pub n_slots: u32,
    pub constants: Vec<(u32, f64)>,
    constant_slots: FxHashMap<u64, u32>,
    /// Slots of inputs, by symbol.
    pub input_slots: Notes,
    /// Whether a node depends on parameters only, by expression.
    is_fixed: Vec<Known>,
    fixed_slots: Notes,
    /// 1/b of divisors b that depend on parameters only.
    reciprocals: FxHashMap<ExprId, ExprId>,
    /// What the set-up routine must compute.
    fixed_roots: Vec<(ExprId, u32)>,
    /// Slots of what the set-up routine computes.
    pub set_up_slots: Vec<u32>,
    scratch: Scratch,
    pub n_externals: u32,
    pub straight_limit: usize,
    /// Unknowns of blocks that were written out, with their blocks.
    inlined_blocks: FxHashMap<SymbolId, u32>,
}

/// What is known of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Known {
    #[default]
    Nothing,
    Varies,
    /// It keeps its value during a run.
    Fixed,
}

/// Room to work in, kept from one routine to the next.
#[derive(Debug, Default)]
struct Scratch {
    /// Slots of the nodes that the present routine has computed.
    memo: Notes,
    /// Slots of its symbols.
    symbols: Notes,
    /// Nodes met while its definitions are listed.
    seen: Notes,
    /// The first definition that needs a node.
    seen_by: Notes,
    /// Nodes that need a slot of their own.
    cuts: Notes,
    /// Nodes met while rows are made.
    entered: Notes,
    /// Operands of the present row, by node; its leaves, by slot.
    operands: Notes,
    leaves: Notes,
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
            input_slots: Notes::default(),
            is_fixed: Vec::new(),
            fixed_slots: Notes::default(),
            reciprocals: FxHashMap::default(),
            fixed_roots: Vec::new(),
            set_up_slots: Vec::new(),
            scratch: Scratch::default(),
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
        if let Some(slot) = self.input_slots.get(symbol.0) {
            return slot;
        }
        let slot = self.new_slot();
        self.input_slots.set(symbol.0, slot);
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
            self.set_up_slots.push(dst);
        }
        routine.steps.push(Step::Straight(copies));
        Ok(routine)
    }

    /// Makes the routine of one sampled equation; `known` symbols are in their slots already.
    pub(crate) fn routine_after(
        &mut self,
        value: ExprId,
        known: &FxHashMap<SymbolId, u32>,
    ) -> Routine {
        let mut builder = Builder::new(self, Fixed::Elsewhere, known);
        let output = builder.slot(value);
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
        let known = FxHashMap::default();
        let mut builder = Builder::new(self, fixed, &known);
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
        let mut seen = std::mem::take(&mut self.scratch.seen);
        seen.forget();
        let mut n_nodes = 0;
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
            if (fixed == Fixed::Elsewhere && self.depends_on_parameters_only(e))
                || !seen.set(e.0, 0)
            {
                continue;
            }
            n_nodes += 1;
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

        self.scratch.seen = seen;
        Ok((items, n_nodes, inlined))
    }

    /// Tells whether an expression keeps its value during a run.
    pub(crate) fn depends_on_parameters_only(&mut self, e: ExprId) -> bool {
        match self.is_fixed.get(e.0 as usize) {
            Some(Known::Fixed) => return true,
            Some(Known::Varies) => return false,
            _ => {}
        }

        let mut is_fixed = std::mem::take(&mut self.is_fixed);
        is_fixed.resize(self.plan.dae.pool.len(), Known::Nothing);
        let pool = &self.plan.dae.pool;
        let mut stack = vec![(e, false)];
        while let Some((e, is_ready)) = stack.pop() {
            let at = e.0 as usize;
            if is_fixed[at] != Known::Nothing && !is_ready {
                continue;
            }
            let mut is_input_fixed = true;
            let mut stands_for = None;
            if let Some(symbol) = pool.as_symbol(e) {
                match self.plan.sources[symbol.0 as usize] {
                    Source::Input => {
                        let role = self.plan.dae.symbol(symbol).role;
                        is_input_fixed = matches!(role, Role::Parameter { .. });
                    }
                    Source::Forward(value) | Source::Assign(value) => stands_for = Some(value),
                    Source::Nowhere | Source::Solved(_) => is_input_fixed = false,
                }
            }
            if is_ready {
                let mut fixed = is_input_fixed;
                let mut look = |a: ExprId| fixed &= is_fixed[a.0 as usize] == Known::Fixed;
                stands_for.iter().for_each(|&a| look(a));
                for_each_argument(pool, e, look);
                is_fixed[at] = if fixed { Known::Fixed } else { Known::Varies };
            } else {
                // Until known otherwise it varies, which also ends definitions in a cycle.
                is_fixed[at] = Known::Varies;
                stack.push((e, true));
                stack.extend(stands_for.map(|a| (a, false)));
                for_each_argument(pool, e, |a| stack.push((a, false)));
            }
        }

        self.is_fixed = is_fixed;
        self.is_fixed[e.0 as usize] == Known::Fixed
    }

    /// What must be computed before a node: its arguments, or what a name stands for.
    fn each_input(&self, e: ExprId, mut visit: impl FnMut(ExprId)) {
        let pool = &self.plan.dae.pool;
        match pool.as_symbol(e) {
            Some(symbol) => match self.plan.sources[symbol.0 as usize] {
                Source::Forward(value) | Source::Assign(value) => visit(value),
                _ => unreachable!("unknowns of blocks are computed before their users"),
            },
            None => for_each_argument(pool, e, visit),
        }
    }

    /// The reciprocal that a division by something fixed is multiplied by: it is computed once.
    ///
    /// The product differs from the quotient by a rounding at most, in all engines alike.
    fn reciprocal_in(&mut self, e: ExprId) -> Option<(ExprId, ExprId)> {
        let Node::Div(a, b) = self.plan.dae.pool.node(e) else {
            return None;
        };
        if !self.depends_on_parameters_only(b) || self.depends_on_parameters_only(a) {
            return None;
        }
        let pool = &mut self.plan.dae.pool;
        let reciprocal = *self.reciprocals.entry(b).or_insert_with(|| {
            let one = pool.number(1.0);
            pool.div(one, b)
        });
        Some((a, reciprocal))
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

pub(crate) fn for_each_expression(solved: &Solved, mut f: impl FnMut(ExprId)) {
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
            Step::Fused(fused) => read_slots(&fused.parts, read),
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
                read.extend(newton.loose.iter().map(|mode| mode.2));
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
