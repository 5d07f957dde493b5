//! A routine of straight code as values of one function.
//!
//! In:  its instructions, and values for time and variables.
//! Out: a value for each slot, and whether all of them may be used.
//!
//! **Invariant:** the values have the bits of the interpreter wherever [`Verdict`] says that they may be used.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{FuncRef, InstBuilder, MemFlagsData, Opcode, Value, types};
use cranelift_frontend::FunctionBuilder;
use paynter_symbolic::angle::LARGEST;
use paynter_symbolic::expr::Function1;
use rustc_hash::{FxHashMap, FxHashSet};

use super::angles::{Turned, table};
use super::assembler::Assembler;
use super::operations::{Helper, condition, emit};
use crate::code::{Instr, Op, Step};
use crate::emit::Routine;
use crate::map::{Inputs, SMALLEST_PIVOT};

/// Instructions in the order in which they are written.
pub(super) struct Body<'a> {
    pub(super) routine: &'a Routine,
    pub(super) instrs: &'a [Instr],
    pieces: Vec<Piece<'a>>,
}

enum Piece<'a> {
    One(&'a Instr),
    /// Sines and cosines none of which needs another.
    Angles(Vec<&'a Instr>),
}

/// What must hold for the values of a function to be used.
#[derive(Default)]
pub(super) struct Verdict {
    /// The largest angles written out.
    size: Option<Value>,
    /// Where the numbers of the formula are.
    table: Option<Value>,
    /// Not 0 if a pivot vanished.
    is_singular: Option<Value>,
}

/// Where a body finds what it does not compute.
pub(super) struct Surroundings<'a> {
    /// Address of the slots.
    pub(super) memory: Value,
    /// Address of the variables, and the slots that stand for them.
    pub(super) variables: Value,
    pub(super) inputs: &'a Inputs,
    pub(super) constants: &'a FxHashMap<u32, f64>,
    pub(super) functions: &'a FxHashMap<Helper, FuncRef>,
}

impl<'a> Body<'a> {
    /// Takes a routine that is one straight list of at most `most` instructions.
    pub(super) fn new(routine: &'a Routine, most: usize, assembler: &Assembler) -> Option<Self> {
        match &routine.steps[..] {
            [Step::Straight(straight)] if straight.instrs.len() <= most => Some(Body {
                routine,
                instrs: &straight.instrs,
                pieces: schedule(&straight.instrs, assembler.has_pairs),
            }),
            _ => None,
        }
    }

    /// Writes the instructions. `values` holds the time, and takes every slot that is computed.
    pub(super) fn write(
        &self,
        b: &mut FunctionBuilder<'_>,
        around: &Surroundings<'_>,
        values: &mut FxHashMap<u32, Value>,
        verdict: &mut Verdict,
    ) {
        let mut truths = FxHashMap::default();
        for piece in &self.pieces {
            match piece {
                Piece::One(i) if i.op == Op::Select => {
                    let holds = around.truth(b, values, &truths, i.a);
                    let [yes, no] = [i.b, i.c].map(|slot| around.value(b, values, slot));
                    let value = b.ins().select(holds, yes, no);
                    values.insert(i.dst, value);
                }
                Piece::One(i) => {
                    if let Op::Compare(comparison) = i.op {
                        let [x, y] = [i.a, i.b].map(|slot| around.value(b, values, slot));
                        truths.insert(i.dst, b.ins().fcmp(condition(comparison), x, y));
                    }
                    let mut operands = [around.memory; 3];
                    for (operand, slot) in operands.iter_mut().zip(i.operands()) {
                        *operand = around.value(b, values, slot);
                    }
                    let value = emit(b, around.functions, i.op, operands);
                    values.insert(i.dst, value);
                }
                Piece::Angles(instrs) => write_angles(b, around, instrs, values, verdict),
            }
        }

        for &(_, pivot, scale) in &self.routine.checks {
            let [pivot, scale] = [pivot, scale].map(|slot| around.value(b, values, slot));
            verdict.note_pivot(b, pivot, scale);
        }
    }
}

impl Surroundings<'_> {
    /// Whether a slot differs from 0.
    fn truth(
        &self,
        b: &mut FunctionBuilder<'_>,
        values: &mut FxHashMap<u32, Value>,
        truths: &FxHashMap<u32, Value>,
        slot: u32,
    ) -> Value {
        if let Some(&holds) = truths.get(&slot) {
            return holds;
        }
        let is_read_here = !values.contains_key(&slot)
            && !self.constants.contains_key(&slot)
            && !self.is_variable(slot);
        if is_read_here {
            // The bits but for the sign tell it without a comparison of numbers.
            let flags = MemFlagsData::trusted();
            let offset = slot as i32 * 8;
            let bits = b.ins().load(types::I64, flags, self.memory, offset);
            let bits = b.ins().ishl_imm_u(bits, 1);
            return b.ins().icmp_imm_u(IntCC::NotEqual, bits, 0);
        }
        let value = self.value(b, values, slot);
        let zero = b.ins().f64const(0.0);
        b.ins().fcmp(FloatCC::NotEqual, value, zero)
    }

    fn is_variable(&self, slot: u32) -> bool {
        (slot.wrapping_sub(self.inputs.first) as usize) < self.inputs.n
    }

    /// The value of a slot.
    pub(super) fn value(
        &self,
        b: &mut FunctionBuilder<'_>,
        values: &mut FxHashMap<u32, Value>,
        slot: u32,
    ) -> Value {
        // An instruction takes a constant from the code; kept in a register it would be in the way.
        if let Some(&value) = self.constants.get(&slot) {
            return b.ins().f64const(value);
        }
        *values.entry(slot).or_insert_with(|| {
            let (from, place) = if self.is_variable(slot) {
                (self.variables, slot - self.inputs.first)
            } else {
                (self.memory, slot)
            };
            let flags = MemFlagsData::trusted();
            b.ins().load(types::F64, flags, from, place as i32 * 8)
        })
    }
}

impl Verdict {
    fn note_pivot(&mut self, b: &mut FunctionBuilder<'_>, pivot: Value, scale: Value) {
        let is_lost = if is_size_of(b, scale, pivot) {
            // Below a part of its own size is nothing but 0.
            let zero = b.ins().f64const(0.0);
            b.ins().fcmp(FloatCC::Equal, pivot, zero)
        } else {
            let size = b.ins().fabs(pivot);
            let smallest = b.ins().f64const(SMALLEST_PIVOT);
            let least = b.ins().fmul(smallest, scale);
            b.ins().fcmp(FloatCC::LessThanOrEqual, size, least)
        };
        self.is_singular = Some(match self.is_singular {
            None => is_lost,
            Some(before) => b.ins().bor(before, is_lost),
        });
    }

    fn note_angles(&mut self, b: &mut FunctionBuilder<'_>, size: Value) {
        self.size = Some(match self.size {
            None => size,
            Some(before) => {
                // What is not a number shows in the values themselves.
                let is_larger = b.ins().fcmp(FloatCC::LessThan, before, size);
                let is_larger = b
                    .ins()
                    .bitcast(types::F64X2, MemFlagsData::new(), is_larger);
                b.ins().bitselect(is_larger, size, before)
            }
        });
    }

    /// 1 if the values may be used, else 0.
    pub(super) fn is_usable(&self, b: &mut FunctionBuilder<'_>) -> Value {
        let is_small = match self.size {
            None => b.ins().iconst(types::I8, 1),
            Some(size) => {
                let largest = b.ins().f64const(LARGEST);
                let largest = b.ins().splat(types::F64X2, largest);
                let is_small = b.ins().fcmp(FloatCC::LessThan, size, largest);
                b.ins().vall_true(is_small)
            }
        };
        match self.is_singular {
            None => is_small,
            Some(is_singular) => {
                let is_regular = b.ins().bxor_imm_u(is_singular, 1);
                b.ins().band(is_small, is_regular)
            }
        }
    }
}

/// Tells whether the first value is the size of the second.
fn is_size_of(b: &FunctionBuilder<'_>, size: Value, of: Value) -> bool {
    let dfg = &b.func.dfg;
    let Some(i) = dfg.value_def(size).inst() else {
        return false;
    };
    dfg.insts[i].opcode() == Opcode::Fabs && dfg.inst_args(i) == [of]
}

fn is_cosine(i: &Instr) -> bool {
    i.op == Op::Call1(Function1::Cos)
}

/// Brings sines and cosines together that can be computed together: everything is sorted by how many of them lie
/// before it.
fn schedule(instrs: &[Instr], has_pairs: bool) -> Vec<Piece<'_>> {
    let mut written = FxHashSet::default();
    let is_written_once = instrs.iter().all(|i| written.insert(i.dst));
    if !has_pairs || !is_written_once {
        return instrs.iter().map(Piece::One).collect();
    }
    let mut level_of: FxHashMap<u32, usize> = FxHashMap::default();
    // What is computed at each level, and then the angles of the level.
    let mut levels: Vec<(Vec<&Instr>, Vec<&Instr>)> = Vec::new();
    for i in instrs {
        let of = |slot: u32| level_of.get(&slot).copied().unwrap_or(0);
        let level = i.operands().map(of).max().unwrap_or(0);
        if levels.len() <= level {
            levels.resize(level + 1, Default::default());
        }
        let is_angle = is_cosine(i) || i.op == Op::Call1(Function1::Sin);
        let (plain, angles) = &mut levels[level];
        if is_angle { angles } else { plain }.push(i);
        level_of.insert(i.dst, level + usize::from(is_angle));
    }
    let mut pieces = Vec::with_capacity(instrs.len());
    for (plain, angles) in levels {
        pieces.extend(plain.into_iter().map(Piece::One));
        if !angles.is_empty() {
            pieces.push(Piece::Angles(angles));
        }
    }
    pieces
}

/// Writes sines and cosines, two angles at a time.
fn write_angles(
    b: &mut FunctionBuilder<'_>,
    around: &Surroundings<'_>,
    instrs: &[&Instr],
    values: &mut FxHashMap<u32, Value>,
    verdict: &mut Verdict,
) {
    // Angles with what is wanted of them.
    let mut wanted: Vec<(u32, Vec<&Instr>)> = Vec::new();
    for &i in instrs {
        match wanted.iter_mut().find(|(angle, _)| *angle == i.a) {
            Some((_, of)) => of.push(i),
            None => wanted.push((i.a, vec![i])),
        }
    }

    for two in wanted.chunks(2) {
        let (first, second) = (&two[0], &two[two.len() - 1]);
        let angles = [first.0, second.0].map(|slot| around.value(b, values, slot));
        let table = *verdict.table.get_or_insert_with(|| table(b));
        let turned = Turned::new(b, angles, table);
        verdict.note_angles(b, turned.size);
        let n = first.1.len().max(second.1.len());
        for k in 0..n {
            let of = [first, second].map(|(_, of)| of[k.min(of.len() - 1)]);
            let sines = turned.sines_after(b, of.map(is_cosine));
            for (lane, i) in of.into_iter().enumerate() {
                let value = b.ins().extractlane(sines, lane as u8);
                values.insert(i.dst, value);
            }
        }
    }
}
