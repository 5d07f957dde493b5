//! Machine code for straight steps and kernels, by Cranelift.
//!
//! In:  an [`Image`] whose steps are lists of instructions.
//! Out: the same image, its steps beside functions that do the same work.
//!
//! The code computes the very operations of the interpreter in the same order: no fused
//! multiply-add, no other association; functions of mathematics are called through
//! `extern "C"` wrappers of the functions that the interpreter calls. Results are therefore
//! equal bit for bit (NaN payloads aside, which neither promises).
//!
//! A value that only its own function reads stays in a register and is never stored.
//!
//! **Invariant:** a function reads and writes slots below `n_slots` only; both callers check
//! that the memory has that many.

#![expect(
    unsafe_code,
    reason = "machine code can only be called through raw pointers"
)]

mod angles;
mod assembler;
mod body;
mod fused;
mod operations;
mod readers;
mod step;
mod whole;

use std::mem::ManuallyDrop;
use std::sync::Arc;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};
use paynter_symbolic::expr::Function1;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Instr, Kernel, Op, Step, Straight};
use crate::emit::Routine;
use crate::fuse::{FusedKernel, fuse};
use crate::image::{Image, for_each_steps};
use assembler::Assembler;
use body::Body;
use operations::{Pairs, emit};
use readers::{NOBODY, Readers, find_readers, find_readers_of_segments};
pub(crate) use step::{StepCode, compile_step, estimate};
pub(crate) use whole::Whole;
use whole::write_whole;

/// Machine code of one step.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    functions: Arc<[*const u8]>,
    n_slots: usize,
    /// Keeps the memory of the functions.
    _code: Arc<Code>,
}

// SAFETY: the pointers lead to finished code, which nothing writes to while `_code` lives;
// reading and running it from several threads is sound.
unsafe impl Send for Compiled {}
// SAFETY: as above.
unsafe impl Sync for Compiled {}

/// Executable memory, given back when the last function that lies in it is dropped.
struct Code(ManuallyDrop<JITModule>);

// SAFETY: after `finalize_definitions` the module is not used again but to free its memory,
// which `drop` does once, from whichever thread is last.
unsafe impl Send for Code {}
// SAFETY: as above; no method takes `&Code`.
unsafe impl Sync for Code {}

impl std::fmt::Debug for Code {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Code")
    }
}

impl Code {
    fn new(module: JITModule) -> Self {
        Code(ManuallyDrop::new(module))
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: `drop` runs once, and takes the module out once.
        let module = unsafe { ManuallyDrop::take(&mut self.0) };
        // SAFETY: every `Compiled` that points into this memory holds an `Arc` of it, so none
        // is left.
        unsafe { module.free_memory() };
    }
}

type StraightFn = unsafe extern "C" fn(*mut f64);
type KernelFn = unsafe extern "C" fn(*mut f64, *const u32, *const u32, u64);
type FusedFn = unsafe extern "C" fn(*mut f64, *const u32);

impl Compiled {
    /// Runs a straight step.
    pub(crate) fn run_straight(&self, slots: &mut [f64]) {
        assert!(
            slots.len() >= self.n_slots,
            "the memory has a slot for every number"
        );
        for &function in self.functions.iter() {
            // SAFETY: `function` was made by `straight_function` with this signature.
            let function = unsafe { std::mem::transmute::<*const u8, StraightFn>(function) };
            // SAFETY: the code touches slots below `n_slots` only, which the memory has.
            unsafe { function(slots.as_mut_ptr()) };
        }
    }

    /// Runs a kernel over its rows.
    pub(crate) fn run_kernel(&self, slots: &mut [f64], leaves: &[u32], dst: &[u32]) {
        assert!(
            slots.len() >= self.n_slots,
            "the memory has a slot for every number"
        );
        for &function in self.functions.iter() {
            // SAFETY: `function` was made by `kernel_function` with this signature.
            let function = unsafe { std::mem::transmute::<*const u8, KernelFn>(function) };
            let n_rows = dst.len() as u64;
            // SAFETY: `leaves` holds `n_leaves` numbers for each row and `dst` one, all of them
            // slots below `n_slots`: `compile` checked this kernel's own tables.
            unsafe { function(slots.as_mut_ptr(), leaves.as_ptr(), dst.as_ptr(), n_rows) };
        }
    }
}

impl Compiled {
    /// Runs fused kernels, one after the other.
    pub(crate) fn run_fused(&self, slots: &mut [f64], kernels: &[FusedKernel]) {
        assert!(
            slots.len() >= self.n_slots && kernels.len() == self.functions.len(),
            "the memory has a slot for every number, and each kernel its function"
        );
        for (&function, kernel) in self.functions.iter().zip(kernels) {
            // SAFETY: `function` was made by `fused_function` with this signature.
            let function = unsafe { std::mem::transmute::<*const u8, FusedFn>(function) };
            // SAFETY: the function was made for this kernel, whose columns name slots below `n_slots` only:
            // `fused_function` checked its tables.
            unsafe { function(slots.as_mut_ptr(), kernel.tables.as_ptr()) };
        }
    }
}

/// Straight code is cut into functions of this size: compiling takes more than linear time
/// in the size of a function.
const FUNCTION_SIZE: usize = 2000;

/// Straight steps beyond this size are left to the interpreter: at 5 µs per operation the
/// code would take longer to make than most runs take.
const MOST_INSTRUCTIONS: usize = 20_000;

/// Time to make an empty module, and to compile one operation, ns.
const TIME_OF_MODULE: f64 = 3e5;
const TIME_OF_OPERATION: f64 = 5e3;
/// Time that one interpreted operation takes longer than a compiled one, ns.
pub(crate) const TIME_LOST: f64 = 1.5;

/// Estimates the time that [`compile`] takes, ns, and counts the work of what runs most.
pub(crate) fn time_to_compile(image: &mut Image) -> f64 {
    let mut n_operations = 0_usize;
    let mut kernels: FxHashSet<*const Instr> = FxHashSet::default();
    for_each_steps(image, &mut |steps| {
        count_operations(steps, &mut n_operations, &mut kernels)
    });
    n_operations += [&image.rhs.routine, &image.energy.power.routine]
        .into_iter()
        .map(operations_of_whole)
        .sum::<usize>();
    image.code.work = [
        work_of(&image.rhs.routine.steps),
        work_of(&image.energy.power.routine.steps),
        work_of(&image.rhs.tangent),
    ];
    TIME_OF_MODULE + TIME_OF_OPERATION * n_operations as f64
}

/// Operations of a routine that becomes one function, with sines and cosines written out.
fn operations_of_whole(routine: &Routine) -> usize {
    // Of a pair of angles, to each of the two.
    const OF_ANGLE: usize = 50;
    let [Step::Straight(straight)] = &routine.steps[..] else {
        return 0;
    };
    if straight.instrs.len() > FUNCTION_SIZE {
        return 0;
    }
    let of = |i: &Instr| match i.op {
        Op::Call1(Function1::Sin | Function1::Cos) => OF_ANGLE,
        _ => 1,
    };
    straight.instrs.iter().map(of).sum()
}

/// Counts what [`compile`] would compile: kernels of one shape once.
fn count_operations(
    steps: &[Step],
    n_operations: &mut usize,
    kernels: &mut FxHashSet<*const Instr>,
) {
    for step in steps {
        match step {
            Step::Straight(straight) if straight.instrs.len() <= MOST_INSTRUCTIONS => {
                *n_operations += straight.instrs.len();
            }
            Step::Kernel(kernel) if kernels.insert(kernel.body.as_ptr()) => {
                *n_operations += kernel.body.len() + kernel.n_leaves;
            }
            Step::Newton(newton) => {
                count_operations(&newton.body, n_operations, kernels);
                count_operations(&newton.slopes, n_operations, kernels);
            }
            Step::NewtonTangent(tangent) => count_operations(&tangent.body, n_operations, kernels),
            _ => {}
        }
    }
}

/// Iterations that a block usually takes, from a start near its solution.
const USUAL_ITERATIONS: u64 = 2;

/// Operations of one run of some steps.
fn work_of(steps: &[Step]) -> u64 {
    let of = |step: &Step| match step {
        Step::Straight(straight) => straight.instrs.len() as u64,
        Step::Kernel(kernel) => ((kernel.body.len() + kernel.n_leaves) * kernel.dst.len()) as u64,
        Step::Newton(newton) => {
            USUAL_ITERATIONS * (work_of(&newton.body) + work_of(&newton.slopes))
        }
        Step::NewtonTangent(tangent) => work_of(&tangent.body),
        _ => 0,
    };
    steps.iter().map(of).sum()
}

/// Compiles the steps that run often.
pub(crate) fn compile(image: &mut Image) -> Result<(), String> {
    let n_slots = image.n_slots;
    // Addresses of slots are 32-bit offsets in the code.
    if n_slots > (i32::MAX / 8) as usize {
        return Err("the model is too large for machine code".to_owned());
    }

    let segments = find_readers_of_segments(image).by_slot;
    let is_read = |slot: u32, segment: u32| {
        let reader = segments[slot as usize];
        reader != segment && reader != NOBODY
    };
    let mut next = 0;
    for_each_steps(image, &mut |steps| fuse(steps, &mut next, &is_read));
    let mut compiler = Compiler::new(
        find_readers(image),
        image.constants.iter().copied().collect(),
    )?;
    let mut result = Ok(());
    for_each_steps(image, &mut |steps| {
        let compiled = compiler.compile_steps(steps, n_slots);
        if result.is_ok() {
            result = compiled;
        }
    });

    result?;
    let n_quadratures = image.energy.audit.len();
    let mut whole = |routine: &Routine, n_quadratures: usize| {
        let assembler = &mut compiler.assembler;
        let body = Body::new(routine, FUNCTION_SIZE, assembler);
        body.map(|body| write_whole(assembler, &body, &image.inputs, n_quadratures))
            .transpose()
    };

    let wholes = [
        whole(&image.rhs.routine, 0)?,
        if image.energy.power.n_rhs > 0 {
            whole(&image.energy.power.routine, n_quadratures)?
        } else {
            None
        },
    ];

    let n_bytes = compiler.assembler.n_bytes;
    let (finished, wholes) = compiler.finish(n_slots, wholes)?;
    let n = image.inputs.n;
    let [whole_rhs, whole_power] = wholes;
    let whole = |(function, code): (*const u8, Arc<Code>), n_quadratures: usize| Whole {
        function,
        n,
        n_quadratures,
        n_slots,
        _code: code,
    };

    image.code.whole_rhs = whole_rhs.map(|made| whole(made, 0));
    image.code.whole_power = whole_power.map(|made| whole(made, n_quadratures));
    let mut finished = finished.into_iter();
    for_each_steps(image, &mut |steps| attach(steps, &mut finished));
    image.code.is_made = true;
    image.code.n_bytes = n_bytes;
    Ok(())
}

struct Compiler {
    assembler: Assembler,
    readers: Readers,
    /// Number of the next straight function, as in [`find_readers`].
    next_function: u32,
    kernels: FxHashMap<(usize, Vec<Instr>), FuncId>,
    /// Functions of each step met, in order.
    made: Vec<Option<Vec<FuncId>>>,
}

impl Compiler {
    fn new(readers: Readers, constants: FxHashMap<u32, f64>) -> Result<Self, String> {
        Ok(Compiler {
            assembler: Assembler::new(constants)?,
            readers,
            next_function: 0,
            kernels: FxHashMap::default(),
            made: Vec::new(),
        })
    }

    fn compile_steps(&mut self, steps: &[Step], n_slots: usize) -> Result<(), String> {
        for step in steps {
            match step {
                Step::Straight(straight) => {
                    let functions = self.straight(straight)?;
                    self.made.push(functions);
                }
                Step::Kernel(kernel) => {
                    let slots = kernel.leaves.iter().chain(&kernel.dst);
                    assert!(
                        slots.into_iter().all(|&slot| (slot as usize) < n_slots)
                            && kernel.leaves.len() == kernel.n_leaves * kernel.dst.len(),
                        "the tables of a kernel name slots that exist, one row after another"
                    );
                    let function = self.kernel(kernel)?;
                    self.made.push(Some(vec![function]));
                }
                Step::Newton(newton) => {
                    self.compile_steps(&newton.body, n_slots)?;
                    self.compile_steps(&newton.slopes, n_slots)?;
                }
                Step::NewtonTangent(tangent) => self.compile_steps(&tangent.body, n_slots)?,
                Step::Fused(fused) => {
                    let kernels = fused.kernels.iter();
                    let functions: Result<_, _> =
                        kernels.map(|k| self.fused_function(k, n_slots)).collect();
                    self.made.push(Some(functions?));
                }
                Step::External(_) | Step::Linear(_) | Step::LinearTangent(_) => {}
            }
        }
        Ok(())
    }

    fn straight(&mut self, straight: &Straight) -> Result<Option<Vec<FuncId>>, String> {
        let n_functions = straight.instrs.len().div_ceil(FUNCTION_SIZE) as u32;
        let first = self.next_function;
        self.next_function += n_functions;
        if straight.instrs.len() > MOST_INSTRUCTIONS {
            return Ok(None);
        }
        let mut functions = Vec::new();
        for (k, chunk) in straight.instrs.chunks(FUNCTION_SIZE).enumerate() {
            functions.push(self.straight_function(chunk, first + k as u32)?);
        }
        Ok(Some(functions))
    }

    fn straight_function(&mut self, instrs: &[Instr], number: u32) -> Result<FuncId, String> {
        let mut signature = self.assembler.module.make_signature();
        signature.params.push(AbiParam::new(types::I64));
        let helpers = self.assembler.declare_helpers(instrs)?;
        let (function, references) = self.assembler.begin(&signature, &helpers)?;
        let mut b = FunctionBuilder::new(
            &mut self.assembler.context.func,
            &mut self.assembler.builder_context,
        );
        let block = b.create_block();
        b.append_block_params_for_function_params(block);
        b.switch_to_block(block);
        let memory = b.block_params(block)[0];
        let flags = MemFlagsData::trusted();
        let fixed = unwritten();
        let written: FxHashSet<u32> = instrs.iter().map(|i| i.dst).collect();
        let mut values: FxHashMap<u32, Value> = FxHashMap::default();
        let mut pairs = Pairs::new(instrs);
        for i in instrs {
            let mut operands = [memory; 3];
            for (operand, slot) in operands.iter_mut().zip(i.operands()) {
                *operand = *values.entry(slot).or_insert_with(|| {
                    let flags = if written.contains(&slot) {
                        flags
                    } else {
                        fixed
                    };
                    b.ins().load(types::F64, flags, memory, slot as i32 * 8)
                });
            }
            let value = pairs
                .value(&mut b, &references, i, operands[0])
                .unwrap_or_else(|| emit(&mut b, &references, i.op, operands));
            values.insert(i.dst, value);
            let reader = self.readers.by_slot[i.dst as usize];
            if reader != number && reader != NOBODY {
                b.ins().store(flags, value, memory, i.dst as i32 * 8);
            }
        }

        b.ins().return_(&[]);
        b.seal_all_blocks();
        b.finalize(self.assembler.module.target_config());
        self.assembler.end(function)
    }

    fn kernel(&mut self, kernel: &Kernel) -> Result<FuncId, String> {
        let key = (kernel.n_leaves, kernel.body.to_vec());
        if let Some(&function) = self.kernels.get(&key) {
            return Ok(function);
        }
        let function = self.kernel_function(kernel)?;
        self.kernels.insert(key, function);
        Ok(function)
    }

    fn kernel_function(&mut self, kernel: &Kernel) -> Result<FuncId, String> {
        let mut signature = self.assembler.module.make_signature();
        signature.params.extend([AbiParam::new(types::I64); 4]);
        let helpers = self.assembler.declare_helpers(&kernel.body)?;
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
        let &[memory, leaves, dst, n_rows] = b.block_params(entry) else {
            unreachable!("the signature has four parameters")
        };
        let stride = b.ins().ishl_imm_u(n_rows, 2);
        let zero = b.ins().iconst(types::I64, 0);
        b.ins().jump(head, &[zero.into()]);
        b.switch_to_block(head);
        let row = b.block_params(head)[0];
        let is_done = b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, row, n_rows);
        b.ins().brif(is_done, exit, &[], body, &[]);
        b.switch_to_block(body);
        let flags = MemFlagsData::trusted();
        let offset = b.ins().ishl_imm_u(row, 2);
        let address = |b: &mut FunctionBuilder<'_>, table: Value| {
            let slot = b.ins().uload32(flags, table, 0);
            let place = b.ins().ishl_imm_u(slot, 3);
            b.ins().iadd(memory, place)
        };
        let mut table = b.ins().iadd(leaves, offset);
        let mut registers = Vec::with_capacity(kernel.n_leaves + kernel.body.len());
        for leaf in 0..kernel.n_leaves {
            if leaf > 0 {
                table = b.ins().iadd(table, stride);
            }
            let from = address(&mut b, table);
            registers.push(b.ins().load(types::F64, flags, from, 0));
        }

        for i in kernel.body.iter() {
            let operands = [i.a, i.b, i.c].map(|register| registers[register as usize]);
            registers.push(emit(&mut b, &references, i.op, operands));
        }

        let result = *registers.last().expect("a kernel computes something");
        let table = b.ins().iadd(dst, offset);
        let to = address(&mut b, table);
        b.ins().store(flags, result, to, 0);
        let next = b.ins().iadd_imm_u(row, 1);
        b.ins().jump(head, &[next.into()]);
        b.switch_to_block(exit);
        b.ins().return_(&[]);
        b.seal_all_blocks();
        b.finalize(self.assembler.module.target_config());
        self.assembler.end(function)
    }

    fn finish(mut self, n_slots: usize, wholes: [Option<FuncId>; 2]) -> Result<Finished, String> {
        self.assembler
            .module
            .finalize_definitions()
            .map_err(|error| error.to_string())?;
        let wholes = wholes.map(|id| id.map(|id| self.assembler.module.get_finalized_function(id)));
        let pointers: Vec<Option<Arc<[*const u8]>>> = self
            .made
            .iter()
            .map(|functions| {
                let functions = functions.as_ref()?;
                Some(
                    functions
                        .iter()
                        .map(|&id| self.assembler.module.get_finalized_function(id))
                        .collect(),
                )
            })
            .collect();

        let code = Arc::new(Code::new(self.assembler.module));
        let compiled = pointers
            .into_iter()
            .map(|functions| {
                Some(Compiled {
                    functions: functions?,
                    n_slots,
                    _code: code.clone(),
                })
            })
            .collect();

        let wholes = wholes.map(|function| Some((function?, code.clone())));
        Ok((compiled, wholes))
    }
}

/// Code of each step, and of the routines that are one function.
type Finished = (Vec<Option<Compiled>>, [Option<(*const u8, Arc<Code>)>; 2]);

/// Flags of loads from slots that the function does not write: they may be made where they are needed, so that nothing
/// has to be kept over a call.
fn unwritten() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly().with_can_move()
}

/// Puts functions beside steps, in the order in which they were compiled.
fn attach(steps: &mut [Step], finished: &mut std::vec::IntoIter<Option<Compiled>>) {
    const PROMISE: &str = "every step was compiled or left out";
    for step in steps {
        match step {
            Step::Straight(straight) => straight.compiled = finished.next().expect(PROMISE),
            Step::Kernel(kernel) => kernel.compiled = finished.next().expect(PROMISE),
            Step::Fused(fused) => fused.compiled = finished.next().expect(PROMISE),
            Step::Newton(newton) => {
                let mut block = (**newton).clone();
                attach(&mut block.body, finished);
                attach(&mut block.slopes, finished);
                *newton = Arc::new(block);
            }
            Step::NewtonTangent(tangent) => {
                let mut block = (**tangent).clone();
                attach(&mut block.body, finished);
                *tangent = Arc::new(block);
            }
            Step::External(_) | Step::Linear(_) | Step::LinearTangent(_) => {}
        }
    }
}
