//! Operations on numbered slots, and the interpreter that runs them.
//!
//! In:  lists of [`Step`]s made by `emit`, and a memory of slots.
//! Out: the same memory with every result slot filled in.
//!
//! **Invariant:** a step reads only slots that were inputs or were written by an earlier step.
//! Every operation is one IEEE operation or one call of a function shared with
//! `paynter-symbolic`, so machine code made from the same steps gives the same bits.
//! `Select` computes both branches and takes one: what the other branch gives, NaN included,
//! never reaches the result.

use std::sync::Arc;

use paynter_symbolic::expr::{Comparison, External, Function1, Function2, power};
use rustc_hash::FxHashSet;

use crate::block::{LinearBlock, NewtonBlock};
use crate::failure::Fault;
use crate::fuse::Fused;
use crate::jit::Compiled;
use crate::memory::Memory;

/// What one instruction computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Op {
    Copy,
    Neg,
    Add,
    Sub,
    Mul,
    Div,
    /// a to a whole power, |n| ≤ 64, by the multiplications of [`power`].
    PowerWhole(i8),
    Power,
    Call1(Function1),
    Call2(Function2),
    Compare(Comparison),
    Not,
    And,
    Or,
    /// b where a ≠ 0, else c.
    Select,
}

impl Op {
    /// How many of `a`, `b`, `c` it reads.
    pub fn n_operands(self) -> usize {
        match self {
            Op::Copy | Op::Neg | Op::PowerWhole(_) | Op::Call1(_) | Op::Not => 1,
            Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Div
            | Op::Power
            | Op::Call2(_)
            | Op::Compare(_)
            | Op::And
            | Op::Or => 2,
            Op::Select => 3,
        }
    }

    /// Computes the operation.
    #[inline(always)]
    pub(crate) fn apply(self, a: f64, b: f64, c: f64) -> f64 {
        match self {
            Op::Copy => a,
            Op::Neg => -a,
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            Op::Div => a / b,
            Op::PowerWhole(2) => a * a,
            Op::PowerWhole(n) => power(a, f64::from(n)),
            Op::Power => power(a, b),
            Op::Call1(f) => f.eval(a),
            Op::Call2(f) => f.eval(a, b),
            Op::Compare(comparison) => truth(comparison.holds(a, b)),
            Op::Not => truth(a == 0.0),
            Op::And => truth(a != 0.0 && b != 0.0),
            Op::Or => truth(a != 0.0 || b != 0.0),
            Op::Select => {
                if a != 0.0 {
                    b
                } else {
                    c
                }
            }
        }
    }
}

fn truth(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// `dst = op(a, b, c)`; operands beyond those the operation reads are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instr {
    /// What is computed.
    pub op: Op,
    /// Slot of the result.
    pub dst: u32,
    /// Slot of the first operand.
    pub a: u32,
    /// Slot of the second operand.
    pub b: u32,
    /// Slot of the third operand.
    pub c: u32,
}

impl Instr {
    /// The slots it reads.
    pub fn operands(&self) -> impl Iterator<Item = u32> {
        [self.a, self.b, self.c]
            .into_iter()
            .take(self.op.n_operands())
    }
}

/// Instructions in a row, each run once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Straight {
    pub instrs: Vec<Instr>,
    /// For each instruction the number of the definition it belongs to, for messages.
    pub owners: Vec<u32>,
    pub compiled: Option<Compiled>,
}

/// One formula for many rows: gather the leaves, compute, scatter the result.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// Registers 0‥`n_leaves` are the leaves; instruction i writes register `n_leaves + i`.
    pub body: Arc<[Instr]>,
    pub n_leaves: usize,
    /// Slot of leaf l of row r at `[l * n_rows + r]`.
    pub leaves: Vec<u32>,
    /// Slot of the result of each row.
    pub dst: Vec<u32>,
    /// Definition each row belongs to.
    pub owners: Vec<u32>,
    pub compiled: Option<Compiled>,
}

/// One call of an external function.
#[derive(Clone, Debug)]
pub(crate) struct ExternalCall {
    pub function: Arc<dyn External>,
    /// Gives slopes instead of values.
    pub wants_slopes: bool,
    pub inputs: Vec<u32>,
    /// First of the slots for the results, which follow one another.
    pub first_output: u32,
    pub n_outputs: u32,
    /// Position among all external calls, for messages.
    pub number: u32,
}

/// One part of a routine.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Straight(Straight),
    Kernel(Kernel),
    External(ExternalCall),
    Linear(Arc<LinearBlock>),
    LinearTangent(Arc<crate::block::LinearTangent>),
    Newton(Arc<NewtonBlock>),
    NewtonTangent(Arc<crate::block::NewtonTangent>),
    /// Kernels and straight code as fewer functions; made with machine code only.
    Fused(Box<Fused>),
}

/// Rows computed together by the interpreter: one batch of all registers of a usual
/// formula stays in the first-level cache.
const BATCH: usize = 64;

/// Runs steps in order.
pub(crate) fn run(steps: &[Step], memory: &mut Memory) -> Result<(), Fault> {
    for step in steps {
        match step {
            Step::Straight(straight) => match &straight.compiled {
                Some(compiled) => compiled.run_straight(&mut memory.slots),
                None => run_straight(&straight.instrs, &mut memory.slots),
            },
            Step::Kernel(kernel) => match &kernel.compiled {
                Some(compiled) => {
                    compiled.run_kernel(&mut memory.slots, &kernel.leaves, &kernel.dst);
                }
                None => run_kernel(kernel, &mut memory.slots, &mut memory.batch),
            },
            Step::External(call) => run_external(call, memory)?,
            Step::Linear(block) => block.solve(memory)?,
            Step::LinearTangent(tangent) => tangent.solve(memory)?,
            Step::Newton(block) => block.solve(memory)?,
            Step::NewtonTangent(tangent) => tangent.solve(memory)?,
            Step::Fused(fused) => match &fused.compiled {
                Some(compiled) => compiled.run_fused(&mut memory.slots, &fused.kernels),
                None => run(&fused.parts, memory)?,
            },
        }
    }
    Ok(())
}

/// Runs steps in order, also past a block without a solution: what it would give is not a number, and neither is anything
/// that depends on it.
pub(crate) fn run_past_faults(steps: &[Step], memory: &mut Memory) {
    for step in steps {
        if run(std::slice::from_ref(step), memory).is_ok() {
            continue;
        }
        let results = match step {
            Step::Linear(block) => &block.unknowns[..],
            Step::Newton(block) => &block.unknowns[..],
            _ => &[],
        };
        for &slot in results {
            memory.slots[slot as usize] = f64::NAN;
        }
        if let Step::External(call) = step {
            let first = call.first_output as usize;
            memory.slots[first..first + call.n_outputs as usize].fill(f64::NAN);
        }
    }
}

/// Runs instructions by interpretation.
pub(crate) fn run_straight(instrs: &[Instr], slots: &mut [f64]) {
    for i in instrs {
        let a = slots[i.a as usize];
        // Additions and multiplications are most of any model: decide on them first.
        let value = match i.op {
            Op::Mul => a * slots[i.b as usize],
            Op::Add => a + slots[i.b as usize],
            Op::Sub => a - slots[i.b as usize],
            op => op.apply(a, slots[i.b as usize], slots[i.c as usize]),
        };
        slots[i.dst as usize] = value;
    }
}

fn run_kernel(kernel: &Kernel, slots: &mut [f64], batch: &mut Vec<f64>) {
    let n_rows = kernel.dst.len();
    let n_registers = kernel.n_leaves + kernel.body.len();
    // Grows once, at the first run of the largest kernel; later runs do not allocate.
    if batch.len() < n_registers * BATCH {
        batch.resize(n_registers * BATCH, 0.0);
    }
    let mut first = 0;
    while first < n_rows {
        let n = BATCH.min(n_rows - first);
        for leaf in 0..kernel.n_leaves {
            let row = leaf * n_rows + first;
            let register = &mut batch[leaf * BATCH..leaf * BATCH + n];
            for (value, &slot) in register.iter_mut().zip(&kernel.leaves[row..row + n]) {
                *value = slots[slot as usize];
            }
        }
        for i in kernel.body.iter() {
            run_on_batch(i, batch, n);
        }
        let result = n_registers - 1;
        let register = &batch[result * BATCH..result * BATCH + n];
        for (&value, &slot) in register.iter().zip(&kernel.dst[first..first + n]) {
            slots[slot as usize] = value;
        }
        first += n;
    }
}

fn run_on_batch(i: &Instr, batch: &mut [f64], n: usize) {
    // Operands have smaller registers than the result, so the split separates them.
    let (before, after) = batch.split_at_mut(i.dst as usize * BATCH);
    let result = &mut after[..n];
    let a = &before[i.a as usize * BATCH..][..n];
    let b = &before[i.b as usize * BATCH..][..n];
    let c = &before[i.c as usize * BATCH..][..n];
    match i.op {
        Op::Add => (0..n).for_each(|k| result[k] = a[k] + b[k]),
        Op::Sub => (0..n).for_each(|k| result[k] = a[k] - b[k]),
        Op::Mul => (0..n).for_each(|k| result[k] = a[k] * b[k]),
        Op::Div => (0..n).for_each(|k| result[k] = a[k] / b[k]),
        op => (0..n).for_each(|k| result[k] = op.apply(a[k], b[k], c[k])),
    }
}

fn run_external(call: &ExternalCall, memory: &mut Memory) -> Result<(), Fault> {
    memory.arguments.clear();
    memory
        .arguments
        .extend(call.inputs.iter().map(|&slot| memory.slots[slot as usize]));
    let first = call.first_output as usize;
    let outputs = &mut memory.slots[first..first + call.n_outputs as usize];
    let result = if call.wants_slopes {
        call.function.slopes(&memory.arguments, outputs)
    } else {
        call.function.call(&memory.arguments, outputs)
    };
    result.map_err(|message| {
        memory.message = format!("{}: {message}", call.function.name());
        Fault::External(call.number)
    })
}

/// Finds the first definition that makes a value that is not finite out of finite ones.
///
/// Runs the steps by interpretation, looking at each result. What was infinite before the run, such as the
/// reciprocal of a parameter that is zero, counts as finite: it is its use that fails.
pub(crate) fn find_not_finite(
    steps: &[Step],
    memory: &mut Memory,
    set_up_slots: &[u32],
) -> Result<Option<u32>, Fault> {
    let given: FxHashSet<u32> = set_up_slots.iter().copied().collect();
    for step in steps {
        match step {
            Step::Straight(straight) => {
                for (i, &owner) in straight.instrs.iter().zip(&straight.owners) {
                    run_straight(std::slice::from_ref(i), &mut memory.slots);
                    if is_born_here(i.dst, i.operands(), &memory.slots, &given) {
                        return Ok(Some(owner));
                    }
                }
            }
            Step::Kernel(kernel) => {
                run_kernel(kernel, &mut memory.slots, &mut memory.batch);
                let n_rows = kernel.dst.len();
                for row in 0..n_rows {
                    let leaves = (0..kernel.n_leaves).map(|l| kernel.leaves[l * n_rows + row]);
                    if is_born_here(kernel.dst[row], leaves, &memory.slots, &given) {
                        return Ok(Some(kernel.owners[row]));
                    }
                }
            }
            Step::Fused(fused) => {
                let found = find_not_finite(&fused.parts, memory, set_up_slots)?;
                if found.is_some() {
                    return Ok(found);
                }
            }
            other => run(std::slice::from_ref(other), memory)?,
        }
    }
    Ok(None)
}

fn is_born_here(
    dst: u32,
    operands: impl Iterator<Item = u32>,
    slots: &[f64],
    given: &FxHashSet<u32>,
) -> bool {
    let is_finite = |slot: u32| slots[slot as usize].is_finite();
    !is_finite(dst) && { operands }.all(|slot| is_finite(slot) || given.contains(&slot))
}
