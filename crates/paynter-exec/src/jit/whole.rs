//! A right-hand side as one function, from time and variables to rates.
//!
//! In:  a routine of straight code.
//! Out: a function that takes variables and gives rates and integrands without a detour over memory: in small models
//!      copying would cost as much as computing.

use std::sync::Arc;

use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Module};
use rustc_hash::FxHashMap;

use super::Code;
use super::assembler::Assembler;
use super::body::{Body, Surroundings, Verdict};
use crate::map::Inputs;

/// A function from time and variables to rates, and to integrands of quadratures.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    pub(super) function: *const u8,
    pub(super) n: usize,
    pub(super) n_quadratures: usize,
    pub(super) n_slots: usize,
    /// Keeps the memory of the function.
    pub(super) _code: Arc<Code>,
}

// SAFETY: as for `Compiled`.
unsafe impl Send for Whole {}
// SAFETY: as for `Compiled`.
unsafe impl Sync for Whole {}

type WholeFn = unsafe extern "C" fn(*const f64, *const f64, *mut f64, *mut f64, f64) -> u8;

impl Whole {
    /// Computes rates `f` and integrands `q`. False if they may not be used: then the routine itself shows why.
    #[inline]
    #[must_use]
    pub(crate) fn run(
        &self,
        slots: &[f64],
        (t, y): (f64, &[f64]),
        f: &mut [f64],
        q: &mut [f64],
    ) -> bool {
        assert!(
            slots.len() >= self.n_slots
                && y.len() >= self.n
                && f.len() >= self.n
                && q.len() >= self.n_quadratures,
            "memory, variables and rates have the lengths of the model"
        );
        // SAFETY: `function` was made by `write_whole` with this signature.
        let function = unsafe { std::mem::transmute::<*const u8, WholeFn>(self.function) };
        // SAFETY: the code reads slots below `n_slots` and the first `n` variables, and writes the first `n` rates and
        // the first `n_quadratures` integrands, which all exist; the four slices do not overlap.
        let is_usable = unsafe {
            function(
                slots.as_ptr(),
                y.as_ptr(),
                f.as_mut_ptr(),
                q.as_mut_ptr(),
                t,
            )
        };
        is_usable != 0
    }
}

/// Parameters: slots, variables, rates, integrands, time; result: whether the numbers may be used.
pub(super) fn sign(signature: &mut Signature) {
    signature.params.extend([AbiParam::new(types::I64); 4]);
    signature.params.push(AbiParam::new(types::F64));
    signature.returns.push(AbiParam::new(types::I8));
}

/// Writes the function. The first `n_quadratures` outputs of the body are integrands, the others rates.
pub(super) fn write_whole(
    assembler: &mut Assembler,
    body: &Body<'_>,
    inputs: &Inputs,
    n_quadratures: usize,
) -> Result<FuncId, String> {
    let mut signature = assembler.module.make_signature();
    sign(&mut signature);
    let helpers = assembler.declare_helpers(body.instrs)?;
    let (function, functions) = assembler.begin(&signature, &helpers)?;
    let mut b = FunctionBuilder::new(&mut assembler.context.func, &mut assembler.builder_context);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let &[memory, variables, rates, integrands, time] = b.block_params(block) else {
        unreachable!("the signature has five parameters")
    };
    let mut values = FxHashMap::default();
    values.insert(inputs.time, time);
    let around = Surroundings {
        memory,
        variables,
        inputs,
        constants: &assembler.constants,
        functions: &functions,
    };

    let mut verdict = Verdict::default();
    body.write(&mut b, &around, &mut values, &mut verdict);
    let (first, second) = body.routine.outputs.split_at(n_quadratures);

    // In pairs, as they will be read: the processor does not join what was stored one by one.
    let width = if assembler.has_pairs { 2 } else { 1 };
    for (slots, to) in [(first, integrands), (second, rates)] {
        for (place, two) in slots.chunks(width).enumerate() {
            let numbers: Vec<Value> = two
                .iter()
                .map(|&slot| around.value(&mut b, &mut values, slot))
                .collect();
            let value = match numbers[..] {
                [first, second] => {
                    let pair = b.ins().splat(types::F64X2, first);
                    b.ins().insertlane(pair, second, 1)
                }
                _ => numbers[0],
            };
            let flags = MemFlagsData::new().with_notrap();
            b.ins().store(flags, value, to, (place * width * 8) as i32);
        }
    }

    let is_usable = verdict.is_usable(&mut b);
    b.ins().return_(&[is_usable]);
    b.seal_all_blocks();
    b.finalize(assembler.module.target_config());
    assembler.end(function)
}
