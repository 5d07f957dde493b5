//! Machine code for fused kernels: one function goes over all rows and computes everything that belongs to each.
//!
//! In:  a [`FusedKernel`].
//! Out: a function of the memory and of the kernel's tables.
//!
//! A value is loaded where it is first read in a row, and kept. Columns whose slots lie evenly apart need no table.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, FuncRef, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Module};
use rustc_hash::FxHashMap;

use super::Compiler;
use super::operations::{Helper, emit};
use crate::code::Instr;
use crate::fuse::{Column, FusedKernel, FusedOp, Operand};

impl Compiler {
    /// Compiles a fused kernel.
    pub(super) fn fused_function(
        &mut self,
        kernel: &FusedKernel,
        n_slots: usize,
    ) -> Result<FuncId, String> {
        check(kernel, n_slots);
        let mut signature = self.assembler.module.make_signature();
        signature.params.extend([AbiParam::new(types::I64); 2]);
        let call = |(op, dst): (&FusedOp, u32)| Instr {
            op: op.op,
            dst,
            a: 0,
            b: 0,
            c: 0,
        };
        let calls: Vec<Instr> = kernel.ops.iter().zip(0..).map(call).collect();
        let helpers = self.assembler.declare_helpers(&calls)?;
        let (function, references) = self.assembler.begin(&signature, &helpers)?;
        let mut b = FunctionBuilder::new(
            &mut self.assembler.context.func,
            &mut self.assembler.builder_context,
        );
        let entry = b.create_block();
        let (head, body, exit) = (b.create_block(), b.create_block(), b.create_block());
        b.append_block_params_for_function_params(entry);
        b.append_block_param(head, types::I64);
        b.switch_to_block(entry);
        let &[memory, tables] = b.block_params(entry) else {
            unreachable!("the signature has two parameters")
        };
        let zero = b.ins().iconst(types::I64, 0);
        b.ins().jump(head, &[zero.into()]);
        b.switch_to_block(head);
        let row = b.block_params(head)[0];
        let n_rows = b.ins().iconst(types::I64, kernel.n_rows as i64);
        let is_done = b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, row, n_rows);
        b.ins().brif(is_done, exit, &[], body, &[]);
        b.switch_to_block(body);

        let mut places = Places {
            kernel,
            memory,
            tables,
            row,
            strides: FxHashMap::default(),
            line: None,
        };
        places.write_row(&mut b, &references, &self.assembler.constants);
        let next = b.ins().iadd_imm_u(row, 1);
        b.ins().jump(head, &[next.into()]);
        b.switch_to_block(exit);
        b.ins().return_(&[]);
        b.seal_all_blocks();
        b.finalize(self.assembler.module.target_config());
        self.assembler.end(function)
    }
}

/// Columns name slots that exist, and their tables have a line for each row.
fn check(kernel: &FusedKernel, n_slots: usize) {
    let last_row = kernel.n_rows as i64 - 1;
    let is_inside = |slot: i64| (0..n_slots as i64).contains(&slot);
    let mut n_tables = 0;
    let are_right = kernel.columns.iter().all(|column| match *column {
        Column::Same(slot) => is_inside(i64::from(slot)),
        Column::Strided(first, stride) => {
            let first = i64::from(first);
            is_inside(first) && is_inside(first + i64::from(stride) * last_row)
        }
        Column::Table(number) => {
            n_tables += 1;
            number < n_tables
        }
    });
    let slots = kernel.tables.iter();
    assert!(
        are_right
            && kernel.tables.len() == n_tables as usize * kernel.n_rows
            && slots.into_iter().all(|&slot| is_inside(i64::from(slot))),
        "the columns of a kernel name slots that exist"
    );
}

/// Addresses of one row.
struct Places<'a> {
    kernel: &'a FusedKernel,
    memory: Value,
    tables: Value,
    row: Value,
    /// Memory moved on by the row times a stride.
    strides: FxHashMap<i32, Value>,
    /// The line of the tables that belongs to the row.
    line: Option<Value>,
}

impl Places<'_> {
    /// Writes all operations of the row; a leaf is loaded where it is first read.
    fn write_row(
        &mut self,
        b: &mut FunctionBuilder<'_>,
        helpers: &FxHashMap<Helper, FuncRef>,
        constants: &FxHashMap<u32, f64>,
    ) {
        let kernel = self.kernel;
        let mut leaves: Vec<Option<Value>> = vec![None; kernel.columns.len()];
        let mut results: Vec<Value> = Vec::with_capacity(kernel.ops.len());
        for op in &kernel.ops {
            let mut operands = [self.memory; 3];
            let read = op.operands.iter().take(op.op.n_operands());
            for (value, operand) in operands.iter_mut().zip(read) {
                *value = match *operand {
                    Operand::Result(number) => results[number as usize],
                    Operand::Leaf(column) => *leaves[column as usize]
                        .get_or_insert_with(|| self.load(b, column, constants)),
                };
            }
            let value = emit(b, helpers, op.op, operands);
            if let Some(column) = op.store {
                self.store(b, column, value);
            }
            results.push(value);
        }
    }

    /// Address and offset of a column in this row.
    fn of(&mut self, b: &mut FunctionBuilder<'_>, column: u32) -> (Value, i32) {
        // Slots are fewer than 2^28, which `compile` checks.
        let offset = |slot: u32| slot as i32 * 8;
        match self.kernel.columns[column as usize] {
            Column::Same(slot) => (self.memory, offset(slot)),
            Column::Strided(first, stride) => {
                let base = *self.strides.entry(stride).or_insert_with(|| {
                    let bytes = b.ins().imul_imm_s(self.row, i64::from(stride) * 8);
                    b.ins().iadd(self.memory, bytes)
                });
                (base, offset(first))
            }
            Column::Table(number) => {
                let line = *self.line.get_or_insert_with(|| {
                    let bytes = b.ins().ishl_imm_u(self.row, 2);
                    b.ins().iadd(self.tables, bytes)
                });
                let at = number as i32 * self.kernel.n_rows as i32 * 4;
                let slot = b.ins().uload32(MemFlagsData::trusted(), line, at);
                let bytes = b.ins().ishl_imm_u(slot, 3);
                (b.ins().iadd(self.memory, bytes), 0)
            }
        }
    }

    fn load(
        &mut self,
        b: &mut FunctionBuilder<'_>,
        column: u32,
        constants: &FxHashMap<u32, f64>,
    ) -> Value {
        if let Column::Same(slot) = self.kernel.columns[column as usize]
            && let Some(&number) = constants.get(&slot)
        {
            return b.ins().f64const(number);
        }
        let (base, offset) = self.of(b, column);
        b.ins()
            .load(types::F64, MemFlagsData::trusted(), base, offset)
    }

    fn store(&mut self, b: &mut FunctionBuilder<'_>, column: u32, value: Value) {
        let (base, offset) = self.of(b, column);
        b.ins().store(MemFlagsData::trusted(), value, base, offset);
    }
}
