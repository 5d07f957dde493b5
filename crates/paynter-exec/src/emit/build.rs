//! Makes the steps of one routine: straight code, and blocks solved at run time.
//!
//! In:  definitions in an order of computation, and the expressions wanted.
//! Out: steps, and the slots of what was wanted.
//!
//! **Invariant:** a node is computed once in a routine, but for the Jacobian of a Newton block, whose nodes
//! belong to an iterate before the last and are forgotten.

use std::sync::Arc;

use paynter_symbolic::dae::{Role, Switch};
use paynter_symbolic::expr::{ExprId, Node, SymbolId};
use paynter_symbolic::walk::{below, for_each_argument};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{CallKey, Emitter, Fixed, Item, NO_OWNER, for_each_expression};
use crate::block::{LinearBlock, NewtonBlock};
use crate::code::{ExternalCall, Instr, Op, Step, Straight};
use crate::image::SwitchKind;
use crate::plan::{Solved, SolvedKind, Source};

/// Makes the steps of one routine.
pub(super) struct Builder<'a> {
    pub(super) emitter: &'a mut Emitter,
    pub(super) fixed: Fixed,
    pub(super) calls: FxHashMap<CallKey, u32>,
    /// Symbols that another routine has computed.
    known: &'a FxHashMap<SymbolId, u32>,
    pub(super) steps: Vec<Step>,
    pub(super) straight: Straight,
    pub(super) owner: u32,
    /// Nodes and calls added since the last mark, to be forgotten after a Jacobian.
    log: Vec<ExprId>,
    call_log: Vec<CallKey>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        emitter: &'a mut Emitter,
        fixed: Fixed,
        known: &'a FxHashMap<SymbolId, u32>,
    ) -> Self {
        emitter.scratch.memo.forget();
        emitter.scratch.symbols.forget();
        Builder {
            emitter,
            fixed,
            calls: FxHashMap::default(),
            known,
            steps: Vec::new(),
            straight: Straight::default(),
            owner: NO_OWNER,
            log: Vec::new(),
            call_log: Vec::new(),
        }
    }

    pub(super) fn flush(&mut self) {
        if !self.straight.instrs.is_empty() {
            self.steps
                .push(Step::Straight(std::mem::take(&mut self.straight)));
        }
    }

    pub(super) fn finish(mut self) -> Vec<Step> {
        self.flush();
        self.steps
    }

    pub(super) fn build_straight(&mut self, items: &[Item], wanted: &[ExprId]) -> Vec<u32> {
        for &item in items {
            match item {
                Item::Assign(symbol, value) => {
                    self.owner = symbol.0;
                    let slot = self.slot(value);
                    self.set_symbol(symbol, slot);
                }
                Item::Solved(block) => self.build_solved(block),
            }
        }
        self.owner = NO_OWNER;
        wanted.iter().map(|&e| self.slot(e)).collect()
    }

    pub(super) fn set_symbol(&mut self, symbol: SymbolId, slot: u32) {
        self.emitter.scratch.symbols.set(symbol.0, slot);
    }

    /// Gives the slot of a node if it needs no computing.
    #[inline]
    pub(super) fn ready_slot(&mut self, e: ExprId) -> Option<u32> {
        if let Some(slot) = self.emitter.scratch.memo.get(e.0) {
            return Some(slot);
        }
        let slot = self.given_slot(e)?;
        self.emitter.scratch.memo.set(e.0, slot);
        Some(slot)
    }

    /// The slot of a number, of an input, of what is computed elsewhere.
    fn given_slot(&mut self, e: ExprId) -> Option<u32> {
        match self.emitter.plan.dae.pool.node(e) {
            Node::Number(bits) => return Some(self.emitter.constant(f64::from_bits(bits))),
            Node::Symbol(symbol) => {
                if self.emitter.plan.sources[symbol.0 as usize] == Source::Input {
                    return Some(self.emitter.input(symbol));
                }
                let own = self.emitter.scratch.symbols.get(symbol.0);
                if let Some(slot) = own.or_else(|| self.known.get(&symbol).copied()) {
                    return Some(slot);
                }
            }
            _ => {}
        }
        let is_elsewhere =
            self.fixed == Fixed::Elsewhere && self.emitter.depends_on_parameters_only(e);
        is_elsewhere.then(|| self.fixed_slot(e))
    }

    fn fixed_slot(&mut self, e: ExprId) -> u32 {
        if let Some(slot) = self.emitter.fixed_slots.get(e.0) {
            return slot;
        }
        let slot = self.emitter.new_slot();
        self.emitter.fixed_slots.set(e.0, slot);
        self.emitter.fixed_roots.push((e, slot));
        slot
    }

    /// What must be computed before a node, and the operation it then takes; none for names and calls.
    pub(super) fn operation(&mut self, e: ExprId, inputs: &mut Vec<ExprId>) -> Option<Op> {
        inputs.clear();
        if self.fixed == Fixed::Elsewhere
            && let Some((a, reciprocal)) = self.emitter.reciprocal_in(e)
        {
            inputs.extend([a, reciprocal]);
            return Some(Op::Mul);
        }
        self.emitter.each_input(e, |a| inputs.push(a));
        op_of(self.emitter, self.emitter.plan.dae.pool.node(e))
    }

    /// Emits straight code for a node and gives its slot.
    pub(super) fn slot(&mut self, root: ExprId) -> u32 {
        let mut stack = vec![(root, false)];
        let mut inputs = Vec::new();
        let mut slots = Vec::new();
        while let Some((e, is_ready)) = stack.pop() {
            if self.ready_slot(e).is_some() {
                continue;
            }
            let op = self.operation(e, &mut inputs);
            if !is_ready {
                stack.push((e, true));
                stack.extend(inputs.iter().map(|&a| (a, false)));
                continue;
            }
            slots.clear();
            for &a in &inputs {
                let slot = self.ready_slot(a);
                slots.push(slot.expect("arguments are computed before their user"));
            }
            let slot = self.compute(e, op, &slots);
            self.emitter.scratch.memo.set(e.0, slot);
            self.log.push(e);
        }
        self.ready_slot(root).expect("the root was computed last")
    }

    fn compute(&mut self, e: ExprId, op: Option<Op>, slots: &[u32]) -> u32 {
        let Some(op) = op else {
            return match self.emitter.plan.dae.pool.node(e) {
                Node::External(f, args, output) => self.call((f, args, false), slots) + output,
                Node::ExternalSlope(f, args, number) => self.call((f, args, true), slots) + number,
                // A name.
                _ => slots[0],
            };
        };
        let dst = self.emitter.new_slot();
        let n = op.n_operands();
        let [a, b, c] = [0, 1, 2].map(|k| if k < n { slots[k] } else { 0 });
        self.straight.instrs.push(Instr { op, dst, a, b, c });
        self.straight.owners.push(self.owner);
        dst
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
                let loose = self.loose_modes(&solved, inner);
                self.hoist(&solved, inner, &loose);
                let newton = self.newton(
                    block,
                    &solved.unknowns,
                    (inner, residuals, jacobian),
                    &loose,
                );
                self.steps.push(Step::Newton(Arc::new(newton)));
            }
            SolvedKind::Inlined { .. } => {}
        }
    }

    pub(super) fn push_linear(
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
                self.set_symbol(symbol, slot);
                slot
            })
            .collect()
    }

    /// Computes, before a Newton iteration, every part that does not change inside it.
    pub(super) fn hoist(
        &mut self,
        solved: &Solved,
        inner: &[(SymbolId, ExprId)],
        loose: &[LooseMode],
    ) {
        let mut own = own_symbols(solved, inner);
        own.extend(loose.iter().map(|mode| mode.symbol));
        let mut roots = Vec::new();
        for_each_expression(solved, |e| roots.push(e));
        let mut varies: FxHashMap<ExprId, bool> = FxHashMap::default();
        let mut inputs = Vec::new();
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
            self.operation(e, &mut inputs);
            if !is_ready {
                stack.push((e, true));
                stack.extend(inputs.iter().map(|&a| (a, false)));
                continue;
            }
            let does = inputs.iter().any(|a| varies.get(a) == Some(&true));
            varies.insert(e, does);
            if !does {
                self.slot(e);
            }
        }
        self.flush();
    }

    /// Lists the modes whose switches depend on the unknowns of a block and on nothing that is
    /// computed after it: a search from afar must be free to change them.
    pub(super) fn loose_modes(
        &mut self,
        solved: &Solved,
        inner: &[(SymbolId, ExprId)],
    ) -> Vec<LooseMode> {
        if self.emitter.plan.dae.modes.is_empty() {
            return Vec::new();
        }
        let own = own_symbols(solved, inner);
        let mut roots = Vec::new();
        for_each_expression(solved, |e| roots.push(e));
        let dae = &self.emitter.plan.dae;
        let mut read: Vec<u32> = below(&dae.pool, &roots)
            .into_iter()
            .filter_map(|e| match dae.symbol(dae.pool.as_symbol(e)?).role {
                Role::Mode { mode } => Some(mode),
                _ => None,
            })
            .collect();

        read.sort_unstable();
        let mut loose = Vec::new();
        for number in read {
            let mode = self.emitter.plan.dae.modes[number as usize];
            let (kind, value) = match mode.switch {
                Switch::Relation {
                    comparison,
                    left,
                    right,
                } => {
                    let value = self.emitter.plan.dae.pool.sub(left, right);
                    (SwitchKind::Relation(comparison), value)
                }
                Switch::Sign { of } => (SwitchKind::Sign, of),
                Switch::Floor { .. } => continue,
            };
            if self.follows_from(value, &own) {
                loose.push(LooseMode {
                    symbol: mode.symbol,
                    kind,
                    value,
                });
            }
        }
        loose
    }

    /// Tells whether an expression reads some of these symbols, and beside them only what is known.
    fn follows_from(&mut self, root: ExprId, own: &FxHashSet<SymbolId>) -> bool {
        let mut reads_own = false;
        let mut seen = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            let symbol = self.emitter.plan.dae.pool.as_symbol(e);
            if symbol.is_some_and(|s| own.contains(&s)) {
                reads_own = true;
                continue;
            }
            if self.ready_slot(e).is_some() {
                continue;
            }
            if let Some(symbol) = symbol {
                match self.emitter.plan.sources[symbol.0 as usize] {
                    Source::Forward(value) | Source::Assign(value) => stack.push(value),
                    _ => return false,
                }
                continue;
            }
            for_each_argument(&self.emitter.plan.dae.pool, e, |a| stack.push(a));
        }
        reads_own
    }

    pub(super) fn newton(
        &mut self,
        block: u32,
        unknowns: &[SymbolId],
        (inner, residuals, jacobian): NonlinearParts<'_>,
        loose: &[LooseMode],
    ) -> NewtonBlock {
        let dae = &self.emitter.plan.dae;
        let nominals = unknowns.iter().map(|&s| dae.symbol(s).nominal).collect();
        let slots = self.unknown_slots(unknowns);
        let outer = std::mem::take(&mut self.steps);
        for &(symbol, value) in inner {
            self.owner = symbol.0;
            let slot = self.slot(value);
            self.set_symbol(symbol, slot);
        }

        let residuals = residuals.iter().map(|&e| self.slot(e)).collect();
        let loose = loose
            .iter()
            .map(|mode| {
                (
                    self.emitter.input(mode.symbol),
                    mode.kind,
                    self.slot(mode.value),
                )
            })
            .collect();

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
            self.emitter.scratch.memo.remove(e.0);
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
            loose,
        }
    }
}

/// A mode that a block may change while it is searched from afar.
pub(super) struct LooseMode {
    symbol: SymbolId,
    kind: SwitchKind,
    /// What decides on it.
    value: ExprId,
}

fn own_symbols(solved: &Solved, inner: &[(SymbolId, ExprId)]) -> FxHashSet<SymbolId> {
    let unknowns = solved.unknowns.iter().copied();
    unknowns.chain(inner.iter().map(|entry| entry.0)).collect()
}

type NonlinearParts<'a> = (
    &'a [(SymbolId, ExprId)],
    &'a [ExprId],
    &'a [(u32, u32, ExprId)],
);

pub(super) fn external_call(emitter: &mut Emitter, key: CallKey, inputs: &[u32]) -> ExternalCall {
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
