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

mod operations;
mod readers;

use std::mem::ManuallyDrop;
use std::sync::Arc;

use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, FuncRef, InstBuilder, MemFlagsData, Signature, UserFuncName, Value, types,
};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Instr, Kernel, Op, Step, Straight};
use crate::emit::Routine;
use crate::lower::{Image, for_each_steps};
use crate::map::Inputs;
use operations::{
    Helper, Pairs, SIN_COS_NAME, emit, helper_name, needs_helper, one_argument_helpers, sin_cos,
    two_argument_helpers,
};
use readers::{NOBODY, Readers, find_readers};

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

/// One function from time and variables to rates, and to integrands of quadratures: small models,
/// where copying to and from memory would cost as much as computing.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    function: *const u8,
    n: usize,
    n_quadratures: usize,
    n_slots: usize,
    /// Keeps the memory of the function.
    _code: Arc<Code>,
}

// SAFETY: as for `Compiled`.
unsafe impl Send for Whole {}
// SAFETY: as for `Compiled`.
unsafe impl Sync for Whole {}

type WholeFn = unsafe extern "C" fn(*mut f64, *const f64, *mut f64, *mut f64, f64);

impl Whole {
    /// Computes rates `f` and integrands `q`.
    #[inline]
    pub(crate) fn run(
        &self,
        slots: &mut [f64],
        (t, y): (f64, &[f64]),
        f: &mut [f64],
        q: &mut [f64],
    ) {
        assert!(
            slots.len() >= self.n_slots
                && y.len() >= self.n
                && f.len() >= self.n
                && q.len() >= self.n_quadratures,
            "memory, variables and rates have the lengths of the model"
        );
        // SAFETY: `function` was made by `whole_function` with this signature.
        let function = unsafe { std::mem::transmute::<*const u8, WholeFn>(self.function) };
        // SAFETY: the code touches slots below `n_slots`, the first `n` variables and rates and the first
        // `n_quadratures` integrands, which all exist; the four slices do not overlap.
        unsafe {
            function(
                slots.as_mut_ptr(),
                y.as_ptr(),
                f.as_mut_ptr(),
                q.as_mut_ptr(),
                t,
            );
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
    image.work = [
        work_of(&image.rhs.routine.steps),
        work_of(&image.power.routine.steps),
        work_of(&image.rhs.tangent),
    ];
    TIME_OF_MODULE + TIME_OF_OPERATION * n_operations as f64
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
    let n_quadratures = image.audit.len();
    let wholes = [
        compiler.whole(&image.rhs.routine, &image.inputs, 0)?,
        if image.power.n_rhs > 0 {
            compiler.whole(&image.power.routine, &image.inputs, n_quadratures)?
        } else {
            None
        },
    ];
    let n_bytes = compiler.n_bytes;
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
    image.whole_rhs = whole_rhs.map(|made| whole(made, 0));
    image.whole_power = whole_power.map(|made| whole(made, n_quadratures));
    let mut finished = finished.into_iter();
    for_each_steps(image, &mut |steps| attach(steps, &mut finished));
    image.has_machine_code = true;
    image.machine_code_bytes = n_bytes;
    Ok(())
}

struct Compiler {
    module: JITModule,
    context: Context,
    builder_context: FunctionBuilderContext,
    helpers: FxHashMap<Op, FuncId>,
    readers: Readers,
    /// Numbers that never change, by slot.
    constants: FxHashMap<u32, f64>,
    /// Number of the next straight function, as in [`find_readers`].
    next_function: u32,
    kernels: FxHashMap<(usize, Vec<Instr>), FuncId>,
    /// Functions of each step met, in order.
    made: Vec<Option<Vec<FuncId>>>,
    n_bytes: usize,
}

impl Compiler {
    fn new(readers: Readers, constants: FxHashMap<u32, f64>) -> Result<Self, String> {
        let mut flags = settings::builder();
        for (name, value) in [
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            ("opt_level", "speed"),
            // Debug builds check every function; it is a fifth of compiling, which release builds save.
            (
                "enable_verifier",
                if cfg!(debug_assertions) {
                    "true"
                } else {
                    "false"
                },
            ),
        ] {
            flags.set(name, value).map_err(|error| error.to_string())?;
        }
        let isa = cranelift_native::builder()
            .map_err(str::to_owned)?
            .finish(settings::Flags::new(flags))
            .map_err(|error| error.to_string())?;
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        for (op, function) in one_argument_helpers() {
            builder.symbol(helper_name(op), function as *const u8);
        }
        for (op, function) in two_argument_helpers() {
            builder.symbol(helper_name(op), function as *const u8);
        }
        builder.symbol(SIN_COS_NAME, sin_cos as *const u8);
        let module = JITModule::new(builder);
        Ok(Compiler {
            context: module.make_context(),
            module,
            builder_context: FunctionBuilderContext::new(),
            helpers: FxHashMap::default(),
            readers,
            constants,
            next_function: 0,
            kernels: FxHashMap::default(),
            made: Vec::new(),
            n_bytes: 0,
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
        let mut signature = self.module.make_signature();
        signature.params.push(AbiParam::new(types::I64));
        let helpers = self.declare_helpers(instrs)?;
        let (function, references) = self.begin(&signature, &helpers)?;
        let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
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
        b.finalize(self.module.target_config());
        self.end(function)
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
        let mut signature = self.module.make_signature();
        signature.params.extend([AbiParam::new(types::I64); 4]);
        let helpers = self.declare_helpers(&kernel.body)?;
        let (function, references) = self.begin(&signature, &helpers)?;
        let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
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
        b.finalize(self.module.target_config());
        self.end(function)
    }

    fn declare_helpers(&mut self, instrs: &[Instr]) -> Result<Vec<(Helper, FuncId)>, String> {
        let mut found: Vec<(Helper, FuncId)> = Vec::new();
        if !Pairs::new(instrs).angles.is_empty() {
            let mut signature = self.module.make_signature();
            signature.params.push(AbiParam::new(types::F64));
            signature.params.push(AbiParam::new(types::I64));
            signature.returns.push(AbiParam::new(types::F64));
            let id = self
                .module
                .declare_function(SIN_COS_NAME, Linkage::Import, &signature)
                .map_err(|error| error.to_string())?;
            found.push((Helper::SinCos, id));
        }
        for i in instrs {
            if !needs_helper(i.op) || found.iter().any(|&(of, _)| of == Helper::Of(i.op)) {
                continue;
            }
            let id = match self.helpers.get(&i.op) {
                Some(&id) => id,
                None => {
                    let mut signature = self.module.make_signature();
                    let n = i.op.n_operands();
                    signature
                        .params
                        .extend(std::iter::repeat_n(AbiParam::new(types::F64), n));
                    signature.returns.push(AbiParam::new(types::F64));
                    let name = helper_name(i.op);
                    let id = self
                        .module
                        .declare_function(&name, Linkage::Import, &signature)
                        .map_err(|error| error.to_string())?;
                    self.helpers.insert(i.op, id);
                    id
                }
            };
            found.push((Helper::Of(i.op), id));
        }
        Ok(found)
    }

    fn begin(
        &mut self,
        signature: &Signature,
        helpers: &[(Helper, FuncId)],
    ) -> Result<(FuncId, FxHashMap<Helper, FuncRef>), String> {
        let function = self
            .module
            .declare_anonymous_function(signature)
            .map_err(|error| error.to_string())?;
        self.context.func.signature = signature.clone();
        self.context.func.name = UserFuncName::user(0, function.as_u32());
        let references = helpers
            .iter()
            .map(|&(helper, id)| {
                (
                    helper,
                    self.module.declare_func_in_func(id, &mut self.context.func),
                )
            })
            .collect();
        Ok((function, references))
    }

    fn end(&mut self, function: FuncId) -> Result<FuncId, String> {
        self.module
            .define_function(function, &mut self.context)
            .map_err(|error| error.to_string())?;
        if let Some(code) = self.context.compiled_code() {
            self.n_bytes += code.code_buffer().len();
        }
        self.module.clear_context(&mut self.context);
        Ok(function)
    }

    /// Makes a routine one function, if it is small and straight; see [`Whole`].
    fn whole(
        &mut self,
        routine: &Routine,
        inputs: &Inputs,
        n_quadratures: usize,
    ) -> Result<Option<FuncId>, String> {
        match &routine.steps[..] {
            [Step::Straight(straight)] if straight.instrs.len() <= FUNCTION_SIZE => self
                .whole_function(straight, inputs, routine, n_quadratures)
                .map(Some),
            _ => Ok(None),
        }
    }

    /// The first `n_quadratures` outputs are integrands, the others rates.
    fn whole_function(
        &mut self,
        straight: &Straight,
        inputs: &Inputs,
        routine: &Routine,
        n_quadratures: usize,
    ) -> Result<FuncId, String> {
        let mut signature = self.module.make_signature();
        signature.params.extend([AbiParam::new(types::I64); 4]);
        signature.params.push(AbiParam::new(types::F64));
        let helpers = self.declare_helpers(&straight.instrs)?;
        let (function, references) = self.begin(&signature, &helpers)?;
        let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        let block = b.create_block();
        b.append_block_params_for_function_params(block);
        b.switch_to_block(block);
        let &[memory, variables, rates, integrands, time] = b.block_params(block) else {
            unreachable!("the signature has five parameters")
        };
        // A whole routine computes every slot that it writes before it reads it.
        let fixed = unwritten();
        let mut values: FxHashMap<u32, Value> = FxHashMap::default();
        values.insert(inputs.time, time);
        let is_variable = |slot: u32| slot >= inputs.first && slot < inputs.first + inputs.n as u32;
        let constants = &self.constants;
        let read = |b: &mut FunctionBuilder<'_>, slot: u32| {
            if is_variable(slot) {
                let offset = (slot - inputs.first) as i32 * 8;
                b.ins().load(types::F64, fixed, variables, offset)
            } else if let Some(&value) = constants.get(&slot) {
                b.ins().f64const(value)
            } else {
                b.ins().load(types::F64, fixed, memory, slot as i32 * 8)
            }
        };
        let mut pairs = Pairs::new(&straight.instrs);
        for i in &straight.instrs {
            let mut operands = [memory; 3];
            for (operand, slot) in operands.iter_mut().zip(i.operands()) {
                *operand = *values.entry(slot).or_insert_with(|| read(&mut b, slot));
            }
            let value = pairs
                .value(&mut b, &references, i, operands[0])
                .unwrap_or_else(|| emit(&mut b, &references, i.op, operands));
            values.insert(i.dst, value);
        }
        let flags = MemFlagsData::trusted();
        // Only what the check of pivots looks at goes to memory.
        for slot in routine
            .checks
            .iter()
            .flat_map(|&(_, pivot, scale)| [pivot, scale])
        {
            let value = *values.entry(slot).or_insert_with(|| read(&mut b, slot));
            b.ins().store(flags, value, memory, slot as i32 * 8);
        }
        let (first, second) = routine.outputs.split_at(n_quadratures);
        for (to, slots) in [(integrands, first), (rates, second)] {
            for (row, &slot) in slots.iter().enumerate() {
                let value = *values.entry(slot).or_insert_with(|| read(&mut b, slot));
                b.ins().store(flags, value, to, row as i32 * 8);
            }
        }
        b.ins().return_(&[]);
        b.seal_all_blocks();
        b.finalize(self.module.target_config());
        self.end(function)
    }

    fn finish(mut self, n_slots: usize, wholes: [Option<FuncId>; 2]) -> Result<Finished, String> {
        self.module
            .finalize_definitions()
            .map_err(|error| error.to_string())?;
        let wholes = wholes.map(|id| id.map(|id| self.module.get_finalized_function(id)));
        let pointers: Vec<Option<Arc<[*const u8]>>> = self
            .made
            .iter()
            .map(|functions| {
                let functions = functions.as_ref()?;
                Some(
                    functions
                        .iter()
                        .map(|&id| self.module.get_finalized_function(id))
                        .collect(),
                )
            })
            .collect();
        let code = Arc::new(Code(ManuallyDrop::new(self.module)));
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
