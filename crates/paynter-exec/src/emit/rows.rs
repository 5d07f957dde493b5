//! Cuts large routines into rows, and puts rows of one shape together.
//!
//! In:  definitions in an order of computation, and the expressions wanted.
//! Out: one kernel for all rows of one shape that are ready at the same level; straight code for the few others.
//!
//! **Invariant:** a row reads slots of lower levels only, so rows of one level can be computed in any order.

use std::sync::Arc;

use paynter_symbolic::expr::{ExprId, Node, SymbolId};
use paynter_symbolic::walk::for_each_argument;
use rustc_hash::FxHashMap;

use super::build::{Builder, external_call};
use super::{CallKey, Fixed, Item, NO_OWNER, Notes, for_each_expression, read_slots};
use crate::code::{Instr, Kernel, Op, Step};
use crate::plan::{SolvedKind, Source};

/// Fewer rows than this of one shape are cheaper as straight instructions.
const FEWEST_ROWS: usize = 8;

/// One formula of a large routine, before rows of one shape are put together.
struct FormulaRow {
    level: u32,
    shape: u32,
    /// Where its leaves begin among those of all rows.
    first_leaf: u32,
    dst: u32,
    owner: u32,
}

/// Entries of a matrix: row, column, value.
type Entries = [(u32, u32, ExprId)];

/// Marks an operand that is the result of an earlier instruction of the same row.
const LOCAL: u32 = 1 << 31;

/// Rows, shapes and levels of a large routine.
#[derive(Default)]
struct Rows {
    rows: Vec<FormulaRow>,
    /// Slots that the rows read, row after row.
    leaves: Vec<u32>,
    /// Number of leaves and instructions of each shape.
    shapes: Vec<(usize, Arc<[Instr]>)>,
    /// The registers of the instructions begin after the leaves, so they tell how many leaves there are.
    shape_ids: FxHashMap<Arc<[Instr]>, u32>,
    /// Level at which a slot is ready; inputs are ready at level 0.
    levels: Vec<u32>,
    /// Steps that are not rows, with their levels.
    others: Vec<(u32, Step)>,
    local: LocalRow,
    /// Room for walks, kept from row to row: for cut nodes, and inside one row.
    walks: [Walk; 2],
}

/// Nodes to visit, with whether their inputs are ready; and the inputs of the node at hand.
#[derive(Default)]
struct Walk {
    stack: Vec<(ExprId, bool)>,
    inputs: Vec<ExprId>,
}

impl Rows {
    fn level_after<'s>(&self, slots: impl IntoIterator<Item = &'s u32>) -> u32 {
        slots
            .into_iter()
            .map(|&slot| self.levels.get(slot as usize).copied().unwrap_or(0))
            .max()
            .unwrap_or(0)
            + 1
    }

    fn set_level(&mut self, slot: u32, level: u32) {
        let slot = slot as usize;
        if slot >= self.levels.len() {
            self.levels.resize(slot + 1, 0);
        }
        self.levels[slot] = level;
    }

    fn leaves_of(&self, row: &FormulaRow) -> &[u32] {
        let first = row.first_leaf as usize;
        &self.leaves[first..first + self.shapes[row.shape as usize].0]
    }
}

impl Builder<'_> {
    pub(super) fn build_rows(&mut self, items: &[Item], wanted: &[ExprId]) -> Vec<u32> {
        let mut rows = Rows::default();
        self.find_cuts(items, wanted);
        for &item in items {
            match item {
                Item::Assign(symbol, value) => {
                    self.owner = symbol.0;
                    let slot = self.row_slot(value, &mut rows);
                    self.set_symbol(symbol, slot);
                }
                Item::Solved(block) => self.add_solved(block, &mut rows),
            }
        }
        self.owner = NO_OWNER;
        let outputs = wanted
            .iter()
            .map(|&e| self.row_slot(e, &mut rows))
            .collect();
        self.put_together(rows);
        outputs
    }

    /// Finds the nodes that need a slot: roots, and parts that several definitions share.
    fn find_cuts(&mut self, items: &[Item], wanted: &[ExprId]) {
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
        let mut cuts = std::mem::take(&mut self.emitter.scratch.cuts);
        let mut seen_by = std::mem::take(&mut self.emitter.scratch.seen_by);
        cuts.forget();
        seen_by.forget();
        for root in &roots {
            cuts.set(root.0, 0);
        }

        let mut stack = Vec::new();
        for (number, &root) in roots.iter().enumerate() {
            let number = number as u32;
            stack.push(root);
            while let Some(e) = stack.pop() {
                if let Some(by) = seen_by.get(e.0) {
                    if by != number {
                        cuts.set(e.0, 0);
                    }
                    continue;
                }
                seen_by.set(e.0, number);
                if self.fixed == Fixed::Elsewhere && self.emitter.depends_on_parameters_only(e) {
                    continue;
                }
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
                            cuts.set(a.0, 0);
                        }
                    }),
                }
                if is_call {
                    cuts.set(e.0, 0);
                }
            }
        }

        self.emitter.scratch.cuts = cuts;
        self.emitter.scratch.seen_by = seen_by;
    }

    fn is_cut(&self, e: ExprId) -> bool {
        self.emitter.scratch.cuts.get(e.0).is_some()
    }

    /// Makes rows for a node and for every cut node below it; gives the slot of the node.
    fn row_slot(&mut self, root: ExprId, rows: &mut Rows) -> u32 {
        if let Some(slot) = self.ready_slot(root) {
            return slot;
        }
        let Walk {
            mut stack,
            mut inputs,
        } = std::mem::take(&mut rows.walks[0]);
        stack.push((root, false));
        self.emitter.scratch.entered.forget();
        while let Some((e, is_ready)) = stack.pop() {
            if self.ready_slot(e).is_some() {
                continue;
            }
            if is_ready {
                self.make_row(e, rows);
                continue;
            }
            if !self.emitter.scratch.entered.set(e.0, 0) {
                continue;
            }
            if self.is_cut(e) || e == root {
                stack.push((e, true));
            }
            self.operation(e, &mut inputs);
            stack.extend(inputs.iter().map(|&a| (a, false)));
        }
        rows.walks[0] = Walk { stack, inputs };
        self.ready_slot(root).expect("the root has a row")
    }

    fn make_row(&mut self, root: ExprId, rows: &mut Rows) {
        let node = self.emitter.plan.dae.pool.node(root);
        if let Node::External(f, args, number) = node {
            return self.make_call(root, (f, args, false), number, rows);
        }
        if let Node::ExternalSlope(f, args, number) = node {
            return self.make_call(root, (f, args, true), number, rows);
        }

        self.emitter.scratch.operands.forget();
        self.emitter.scratch.leaves.forget();
        let mut local = std::mem::take(&mut rows.local);
        local.clear();
        let Walk {
            mut stack,
            mut inputs,
        } = std::mem::take(&mut rows.walks[1]);
        stack.push((root, false));

        while let Some((e, is_ready)) = stack.pop() {
            if self.emitter.scratch.operands.get(e.0).is_some() {
                continue;
            }
            if let Some(slot) = self.ready_slot(e) {
                let scratch = &mut self.emitter.scratch;
                let leaf = local.leaf(slot, &mut scratch.leaves);
                scratch.operands.set(e.0, leaf);
                continue;
            }
            debug_assert!(e == root || !self.is_cut(e), "cut parts have rows already");
            let op = self.operation(e, &mut inputs);
            if !is_ready {
                stack.push((e, true));
                stack.extend(inputs.iter().map(|&a| (a, false)));
                continue;
            }
            let operands = &self.emitter.scratch.operands;
            let operand = |k: usize| {
                let known = operands.get(inputs[k].0);
                known.expect("inputs are computed before their user")
            };
            let result = match op {
                None => operand(0),
                Some(op) => local.push(op, operand),
            };
            self.emitter.scratch.operands.set(e.0, result);
        }

        let operands = &self.emitter.scratch.operands;
        let result = operands.get(root.0).expect("the root comes last");
        let slot = if result & LOCAL == 0 {
            // Only another name of a slot: no row is needed.
            local.leaves[result as usize]
        } else {
            self.add_row(&mut local, rows)
        };

        rows.local = local;
        rows.walks[1] = Walk { stack, inputs };
        self.emitter.scratch.memo.set(root.0, slot);
    }

    fn add_row(&mut self, local: &mut LocalRow, rows: &mut Rows) -> u32 {
        let level = rows.level_after(&local.leaves);
        local.number_registers();
        let shape = match rows.shape_ids.get(&local.instrs[..]) {
            Some(&shape) => shape,
            None => {
                let body: Arc<[Instr]> = local.instrs[..].into();
                let next = rows.shapes.len() as u32;
                rows.shapes.push((local.leaves.len(), body.clone()));
                rows.shape_ids.insert(body, next);
                next
            }
        };
        let dst = self.emitter.new_slot();
        rows.set_level(dst, level);
        rows.rows.push(FormulaRow {
            level,
            shape,
            first_leaf: u32::try_from(rows.leaves.len()).expect("fewer than 2^32 leaves"),
            dst,
            owner: self.owner,
        });
        rows.leaves.extend_from_slice(&local.leaves);
        dst
    }

    fn make_call(&mut self, e: ExprId, key: CallKey, number: u32, rows: &mut Rows) {
        let first = match self.calls.get(&key) {
            Some(&first) => first,
            None => {
                let mut arguments = Vec::new();
                self.operation(e, &mut arguments);
                let inputs: Vec<u32> = arguments
                    .into_iter()
                    .map(|a| self.ready_slot(a).expect("arguments of calls are cut"))
                    .collect();
                let level = rows.level_after(&inputs);
                let call = external_call(self.emitter, key, &inputs);
                let first = call.first_output;
                for slot in first..first + call.n_outputs {
                    rows.set_level(slot, level);
                }
                rows.others.push((level, Step::External(call)));
                self.calls.insert(key, first);
                first
            }
        };
        self.emitter.scratch.memo.set(e.0, first + number);
    }

    fn add_solved(&mut self, block: u32, rows: &mut Rows) {
        let solved = self.emitter.plan.solved[block as usize].clone();
        self.owner = solved.unknowns.first().map_or(NO_OWNER, |s| s.0);
        match &solved.kind {
            SolvedKind::Linear {
                matrix,
                right,
                is_positive_definite,
            } => self.add_linear(
                (block, &solved.unknowns),
                (matrix, right, *is_positive_definite),
                rows,
            ),
            SolvedKind::Nonlinear {
                inner,
                residuals,
                jacobian,
            } => {
                let before = self.emitter.n_slots;
                let loose = self.loose_modes(&solved, inner);
                self.hoist(&solved, inner, &loose);
                let newton = self.newton(
                    block,
                    &solved.unknowns,
                    (inner, residuals, jacobian),
                    &loose,
                );
                // The hoisted parts run just before the iteration, as one step with it.
                let hoisted = std::mem::take(&mut self.steps);
                let mut read = Vec::new();
                read_slots(&hoisted, &mut read);
                read_slots(&newton.body, &mut read);
                read_slots(&newton.slopes, &mut read);
                let level = rows.level_after(read.iter().filter(|&&slot| slot < before));
                for slot in before..self.emitter.n_slots {
                    rows.set_level(slot, level);
                }
                rows.others
                    .extend(hoisted.into_iter().map(|step| (level, step)));
                rows.others.push((level, Step::Newton(Arc::new(newton))));
            }
            SolvedKind::Inlined { .. } => {}
        }
    }

    /// A block that is linear in its unknowns: the rows of its entries, and the step that solves it.
    fn add_linear(
        &mut self,
        (block, unknowns): (u32, &[SymbolId]),
        (matrix, right, is_positive_definite): (&Entries, &[ExprId], bool),
        rows: &mut Rows,
    ) {
        let matrix: Vec<_> = matrix
            .iter()
            .map(|&(r, c, e)| (r, c, self.row_slot(e, rows)))
            .collect();
        let right: Vec<u32> = right.iter().map(|&e| self.row_slot(e, rows)).collect();
        let read: Vec<u32> = matrix.iter().map(|m| m.2).chain(right.clone()).collect();
        let level = rows.level_after(&read);
        self.push_linear(block, unknowns, matrix, right, is_positive_definite);
        let step = self.steps.pop().expect("the block was just pushed");
        if let Step::Linear(linear) = &step {
            for &slot in &linear.unknowns {
                rows.set_level(slot, level);
            }
        }
        rows.others.push((level, step));
    }

    /// Orders rows by level and shape, and makes a kernel of every group that is worth one.
    fn put_together(&mut self, mut rows: Rows) {
        let mut all = std::mem::take(&mut rows.rows);
        all.sort_by_key(|row| (row.level, row.shape));
        let mut others = std::mem::take(&mut rows.others);
        others.sort_by_key(|other| other.0);
        let mut others = others.into_iter().peekable();
        for group in all.chunk_by(|a, b| (a.level, a.shape) == (b.level, b.shape)) {
            let level = group[0].level;
            while let Some((_, step)) = others.next_if(|other| other.0 < level) {
                self.flush();
                self.steps.push(step);
            }
            let (n_leaves, body) = &rows.shapes[group[0].shape as usize];
            if group.len() < FEWEST_ROWS {
                for row in group {
                    self.expand(row, rows.leaves_of(row), body);
                }
                continue;
            }
            self.flush();
            let mut leaves = Vec::with_capacity(n_leaves * group.len());
            for leaf in 0..*n_leaves {
                leaves.extend(group.iter().map(|row| rows.leaves_of(row)[leaf]));
            }
            self.steps.push(Step::Kernel(Kernel {
                body: body.clone(),
                n_leaves: *n_leaves,
                leaves,
                dst: group.iter().map(|row| row.dst).collect(),
                owners: group.iter().map(|row| row.owner).collect(),
                compiled: None,
            }));
        }

        self.flush();
        self.steps.extend(others.map(|other| other.1));
    }

    /// Writes one row as straight instructions.
    fn expand(&mut self, row: &FormulaRow, leaves: &[u32], body: &[Instr]) {
        let mut slots: Vec<u32> = leaves.to_vec();
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
    }
}

/// A row while it is made: operands below [`LOCAL`] are leaves.
#[derive(Default)]
struct LocalRow {
    leaves: Vec<u32>,
    instrs: Vec<Instr>,
}

impl LocalRow {
    fn clear(&mut self) {
        self.leaves.clear();
        self.instrs.clear();
    }

    /// The number of a slot among the leaves of the row; `known` has those that were read before.
    fn leaf(&mut self, slot: u32, known: &mut Notes) -> u32 {
        known.get(slot).unwrap_or_else(|| {
            let next = self.leaves.len() as u32;
            self.leaves.push(slot);
            known.set(slot, next);
            next
        })
    }

    fn push(&mut self, op: Op, operand: impl Fn(usize) -> u32) -> u32 {
        let n = op.n_operands();
        let [a, b, c] = [0, 1, 2].map(|k| if k < n { operand(k) } else { 0 });
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

    /// Gives the results registers after those of the leaves.
    fn number_registers(&mut self) {
        let n_leaves = self.leaves.len() as u32;
        let register = |operand: u32| {
            if operand & LOCAL == 0 {
                operand
            } else {
                (operand & !LOCAL) + n_leaves
            }
        };
        for i in &mut self.instrs {
            i.dst += n_leaves;
            [i.a, i.b, i.c] = [i.a, i.b, i.c].map(register);
        }
    }
}
