//! All stages of an explicit Runge–Kutta step as one function.
//!
//! In:  the function of the right-hand side, and the numbers of a method.
//! Out: a function that makes one attempt at a step. Sums over stages are written out for two variables at a time;
//!      between them and the right-hand side nothing is checked, copied or looked up.
//!
//! The right-hand side is called, not repeated: with a copy for each stage the code of a small model would no longer
//! fit into the cache of decoded instructions, and take ten times as long to make.
//!
//! **Invariant:** the bits are those of the method going stage by stage over the interpreter, or the function says
//! that its numbers may not be used.

use std::sync::Arc;

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{
    AbiParam, ConstantData, InstBuilder, MemFlagsData, SigRef, Type, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Module};
use paynter_solve::{Stage, Tableau, Term, Trial};
use rustc_hash::FxHashMap;

use super::assembler::Assembler;
use super::whole::{Whole, sign};
use super::{Code, TIME_OF_MODULE};
use crate::image::Image;

/// A function that makes one attempt at a step.
#[derive(Debug)]
pub(crate) struct StepCode {
    function: *const u8,
    tableau: &'static Tableau,
    n: usize,
    n_quadratures: usize,
    /// Numbers in all rows of integrands that it touches.
    n_integrands: usize,
    n_slots: usize,
    /// Keeps the memory of the function.
    _code: Arc<Code>,
    /// What it calls.
    _called: [Whole; 2],
}

// SAFETY: as for `Compiled`.
unsafe impl Send for StepCode {}
// SAFETY: as for `Compiled`.
unsafe impl Sync for StepCode {}

type StepFn = unsafe extern "C" fn(
    *const f64,
    *const f64,
    *mut f64,
    *mut f64,
    *mut f64,
    *mut f64,
    *mut f64,
    *mut f64,
    f64,
    f64,
) -> u8;

impl StepCode {
    /// Makes an attempt. False if its numbers may not be used.
    #[inline]
    #[must_use]
    pub(crate) fn run(&self, slots: &[f64], trial: Trial<'_>) -> bool {
        let n_stages = self.tableau.stages.len() + 1;
        if !std::ptr::eq(self.tableau, trial.tableau) {
            return false;
        }

        assert!(
            slots.len() >= self.n_slots
                && trial.y0.len() >= self.n
                && trial.y1.len() >= self.n
                && trial.last_stage.len() >= self.n
                && trial.rates.len() >= n_stages * self.n
                && trial.errors.len() >= self.tableau.errors.len() * self.n
                && trial.integrands.len() >= self.n_integrands
                && trial.integrals.len() >= self.tableau.integrals.len() * self.n_quadratures,
            "memory and rows have the lengths of the model"
        );

        // SAFETY: `function` was made by `write_step` with this signature.
        let function = unsafe { std::mem::transmute::<*const u8, StepFn>(self.function) };
        // SAFETY: the code reads slots below `n_slots` and the first `n` variables, and touches as much of the rows as
        // was just seen to exist; the slices do not overlap.
        let is_usable = unsafe {
            function(
                slots.as_ptr(),
                trial.y0.as_ptr(),
                trial.rates.as_mut_ptr(),
                trial.integrands.as_mut_ptr(),
                trial.last_stage.as_mut_ptr(),
                trial.y1.as_mut_ptr(),
                trial.errors.as_mut_ptr(),
                trial.integrals.as_mut_ptr(),
                trial.t,
                trial.h,
            )
        };
        is_usable != 0
    }
}

/// Steps with more operations than this go stage by stage: there the loops of the method are as good.
const MOST_OPERATIONS: usize = 8000;

/// Estimates the time it takes to make the code of a step, ns, and the time that it saves at each step. None if it is
/// not made at all.
pub(crate) fn estimate(
    image: &Image,
    tableau: &'static Tableau,
    has_integrands: bool,
) -> Option<(f64, f64)> {
    // Per stage: calls, checks and copies; per term of a sum: what a pair of numbers saves.
    const SAVED_PER_STAGE: f64 = 20.0;
    const SAVED_PER_TERM: f64 = 0.5;
    /// Time to compile one of these simple operations, ns.
    const TIME_OF_OPERATION: f64 = 2e3;
    image.code.whole_rhs.as_ref()?;
    if has_integrands {
        image.code.whole_power.as_ref()?;
    }
    let stages = tableau.stages.iter().map(|stage| stage.terms);
    let ends = std::iter::once(tableau.end).chain(tableau.errors.iter().copied());
    let n_terms: usize = stages.chain(ends).map(<[Term]>::len).sum();
    let n_integrals: usize = tableau.integrals.iter().map(|weights| weights.len()).sum();
    let n_quadratures = if has_integrands {
        image.energy.audit.len()
    } else {
        0
    };
    // A load, a product and an addition for each pair.
    let n_operations =
        3 * (n_terms * image.inputs.n.div_ceil(2) + n_integrals * n_quadratures.div_ceil(2));
    (n_operations <= MOST_OPERATIONS).then(|| {
        let cost = TIME_OF_MODULE + TIME_OF_OPERATION * n_operations as f64;
        let saved = SAVED_PER_STAGE * tableau.stages.len() as f64
            + SAVED_PER_TERM * (n_terms * image.inputs.n) as f64;
        (cost, saved)
    })
}

/// Makes the code of a step.
pub(crate) fn compile_step(
    image: &Image,
    tableau: &'static Tableau,
    has_integrands: bool,
) -> Result<StepCode, String> {
    const NOT_WHOLE: &str = "the right-hand side is not one function";
    let mut assembler = Assembler::new(FxHashMap::default())?;
    if !assembler.has_pairs {
        return Err("the processor does not compute on pairs of numbers".to_owned());
    }

    let plain = image.code.whole_rhs.as_ref().ok_or(NOT_WHOLE)?;
    let full = match &image.code.whole_power {
        Some(full) if has_integrands => full,
        _ if has_integrands => return Err(NOT_WHOLE.to_owned()),
        _ => plain,
    };
    let n_quadratures = full.n_quadratures;
    let function = write_step(&mut assembler, tableau, plain, full)?;
    assembler
        .module
        .finalize_definitions()
        .map_err(|error| error.to_string())?;
    let function = assembler.module.get_finalized_function(function);
    let rows_written = tableau.stages.iter().filter_map(|s| s.integrands);
    let rows_read = tableau
        .integrals
        .iter()
        .filter_map(|w| w.len().checked_sub(1));
    let n_rows = rows_written.chain(rows_read).max().map_or(0, |row| row + 1);

    Ok(StepCode {
        function,
        tableau,
        n: image.inputs.n,
        n_quadratures,
        n_integrands: n_rows * n_quadratures,
        n_slots: image.n_slots,
        _code: Arc::new(Code::new(assembler.module)),
        _called: [plain.clone(), full.clone()],
    })
}

fn write_step(
    assembler: &mut Assembler,
    tableau: &'static Tableau,
    plain: &Whole,
    full: &Whole,
) -> Result<FuncId, String> {
    let mut signature = assembler.module.make_signature();
    signature.params.extend([AbiParam::new(types::I64); 8]);
    signature.params.extend([AbiParam::new(types::F64); 2]);
    signature.returns.push(AbiParam::new(types::I8));
    let (function, _) = assembler.begin(&signature, &[])?;
    let mut signature = assembler.module.make_signature();
    sign(&mut signature);

    let mut b = FunctionBuilder::new(&mut assembler.context.func, &mut assembler.builder_context);
    let signature = b.import_signature(signature);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let arguments = Arguments::of(b.block_params(block));
    let Arguments { y0, rates, h, .. } = arguments;

    let hh = b.ins().splat(types::F64X2, h);
    let n = plain.n;
    let mut rows = Rows { b, n, h, hh };
    let (mut is_usable, probe) =
        rows.write_stages(tableau.stages, (plain, full), signature, &arguments);
    let end = rows.state_after((rates, tableau.end), y0);
    rows.store(&end, arguments.y1, 0);
    for (number, terms) in tableau.errors.iter().enumerate() {
        let error = rows.sum(rates, terms);
        rows.store(&error, arguments.errors, number);
    }
    rows.n = full.n_quadratures;
    for (number, weights) in tableau.integrals.iter().enumerate() {
        let terms: Vec<Term> = weights.iter().copied().enumerate().collect();
        let integral = rows.sum(arguments.integrands, &terms);
        rows.store(&integral, arguments.integrals, number);
    }
    let mut b = rows.b;
    if let Some(probe) = probe {
        // Only what is not a number differs from itself.
        let is_finite = b.ins().fcmp(FloatCC::Equal, probe, probe);
        let is_finite = b.ins().vall_true(is_finite);
        is_usable = b.ins().band(is_usable, is_finite);
    }
    b.ins().return_(&[is_usable]);
    b.seal_all_blocks();
    b.finalize(assembler.module.target_config());
    assembler.end(function)
}

/// What the function of a step is called with, in the order of its signature.
struct Arguments {
    memory: Value,
    y0: Value,
    rates: Value,
    integrands: Value,
    state: Value,
    y1: Value,
    errors: Value,
    integrals: Value,
    t: Value,
    h: Value,
}

impl Arguments {
    fn of(parameters: &[Value]) -> Self {
        let &[
            memory,
            y0,
            rates,
            integrands,
            state,
            y1,
            errors,
            integrals,
            t,
            h,
        ] = parameters
        else {
            unreachable!("the signature has ten parameters")
        };
        Arguments {
            memory,
            y0,
            rates,
            integrands,
            state,
            y1,
            errors,
            integrals,
            t,
            h,
        }
    }
}

/// Numbers of all variables, two by two; the last may be alone.
type Pairs = Vec<Value>;

/// Sums over stages, and what they are taken from.
struct Rows<'a> {
    b: FunctionBuilder<'a>,
    /// Length of a row.
    n: usize,
    h: Value,
    /// Twice `h`, side by side.
    hh: Value,
}

impl Rows<'_> {
    /// Writes all stages. Gives whether all right-hand sides have a value, and a sum that is finite where all rates are.
    fn write_stages(
        &mut self,
        stages: &[Stage],
        (plain, full): (&Whole, &Whole),
        signature: SigRef,
        arguments: &Arguments,
    ) -> (Value, Option<Value>) {
        let &Arguments {
            memory,
            y0,
            rates,
            integrands,
            state,
            t,
            ..
        } = arguments;

        let mut is_usable = self.b.ins().iconst(types::I8, 1);
        let mut probe: Option<Value> = None;
        for (number, stage) in stages.iter().enumerate() {
            let moved = self.state_after((rates, stage.terms), y0);
            self.store(&moved, state, 0);
            let (whole, row) = match stage.integrands {
                Some(row) => (full, row),
                None => (plain, 0),
            };
            let time = self.time_after(t, stage.node);
            let to = ((rates, number + 1), (integrands, row));
            let is_good = self.evaluate(whole, signature, (memory, state, time), to);
            is_usable = self.b.ins().band(is_usable, is_good);
            for place in 0..self.n.div_ceil(2) {
                probe = Some(self.note_not_finite((rates, number + 1, place), probe));
            }
        }
        (is_usable, probe)
    }

    /// t + node · h
    fn time_after(&mut self, t: Value, node: f64) -> Value {
        let node = self.b.ins().f64const(node);
        let delay = self.b.ins().fmul(node, self.h);
        self.b.ins().fadd(t, delay)
    }

    /// Calls a right-hand side at a state; its rates and integrands go to rows of two tables. Gives whether it has a value.
    fn evaluate(
        &mut self,
        whole: &Whole,
        signature: SigRef,
        (memory, state, time): (Value, Value, Value),
        ((rates, rates_row), (integrands, integrands_row)): ((Value, usize), (Value, usize)),
    ) -> Value {
        let b = &mut self.b;
        let function = b.ins().iconst(types::I64, whole.function as i64);
        let to = b.ins().iadd_imm_u(rates, (rates_row * self.n * 8) as i64);
        let offset = integrands_row * whole.n_quadratures * 8;
        let integrands_to = b.ins().iadd_imm_u(integrands, offset as i64);
        let arguments = [memory, state, to, integrands_to, time];
        let call = b.ins().call_indirect(signature, function, &arguments);
        b.inst_results(call)[0]
    }

    /// Whether the numbers at a place of a row are one or two.
    fn kind(&self, place: usize) -> Type {
        if 2 * place + 1 < self.n {
            types::F64X2
        } else {
            types::F64
        }
    }

    fn load(&mut self, from: Value, row: usize, place: usize) -> Value {
        let offset = ((row * self.n + 2 * place) * 8) as i32;
        let kind = self.kind(place);
        self.b.ins().load(kind, anywhere(), from, offset)
    }

    fn store(&mut self, values: &[Value], to: Value, row: usize) {
        for (place, &value) in values.iter().enumerate() {
            let offset = ((row * self.n + 2 * place) * 8) as i32;
            self.b.ins().store(anywhere(), value, to, offset);
        }
    }

    /// A number beside others of a kind.
    fn constant(&mut self, kind: Type, x: f64) -> Value {
        if kind == types::F64 {
            self.b.ins().f64const(x)
        } else {
            let bytes: Vec<u8> = [x; 2].iter().flat_map(|x| x.to_le_bytes()).collect();
            let constants = &mut self.b.func.dfg.constants;
            let constant = constants.insert(ConstantData::from(&bytes[..]));
            self.b.ins().vconst(kind, constant)
        }
    }

    /// `h Σ weight row`.
    fn sum(&mut self, from: Value, terms: &[Term]) -> Pairs {
        let mut sums: Pairs = Vec::new();
        for (number, &(stage, weight)) in terms.iter().enumerate() {
            let (one, two) = (
                self.constant(types::F64, weight),
                self.constant(types::F64X2, weight),
            );
            for place in 0..self.n.div_ceil(2) {
                let weight = if self.kind(place) == types::F64 {
                    one
                } else {
                    two
                };
                let rate = self.load(from, stage, place);
                let product = self.b.ins().fmul(weight, rate);
                if number == 0 {
                    sums.push(product);
                } else {
                    sums[place] = self.b.ins().fadd(sums[place], product);
                }
            }
        }

        for (place, sum) in sums.iter_mut().enumerate() {
            let h = if self.kind(place) == types::F64 {
                self.h
            } else {
                self.hh
            };
            *sum = self.b.ins().fmul(h, *sum);
        }
        sums
    }

    /// `y0 + h Σ weight rates`.
    fn state_after(&mut self, (rates, terms): (Value, &[Term]), y0: Value) -> Pairs {
        let mut sums = self.sum(rates, terms);
        for (place, sum) in sums.iter_mut().enumerate() {
            let y0 = self.load(y0, 0, place);
            *sum = self.b.ins().fadd(*sum, y0);
        }
        sums
    }

    /// Adds a difference that is 0 if the rates at a place of a stage are finite.
    fn note_not_finite(
        &mut self,
        (rates, stage, place): (Value, usize, usize),
        before: Option<Value>,
    ) -> Value {
        let rate = self.load(rates, stage, place);
        let zero = self.b.ins().fsub(rate, rate);
        let zero = if self.kind(place) == types::F64 {
            self.b.ins().splat(types::F64X2, zero)
        } else {
            zero
        };
        match before {
            None => zero,
            Some(before) => self.b.ins().fadd(before, zero),
        }
    }
}

/// A pair may lie at any multiple of eight bytes.
fn anywhere() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}
