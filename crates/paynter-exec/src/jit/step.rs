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

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Module};
use paynter_solve::{Tableau, Term, Trial};
use rustc_hash::FxHashMap;

use super::assembler::Assembler;
use super::rows::{Layout, Rows};
use super::side_by_side;
use super::step_of_two::{self, Pair, StepOfTwo};
use super::whole::{Whole, sign};
use super::{Code, TIME_OF_MODULE, TIME_OF_OPERATION};
use crate::image::{Eagerness, Image};

/// What came of an attempt at a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Made {
    /// Its numbers may not be used.
    #[default]
    Not,
    /// It was made.
    Alone,
    /// It was made together with that of another run.
    Together,
}

impl Made {
    fn new(is_usable: bool, how: Made) -> Self {
        if is_usable { how } else { Made::Not }
    }
}

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
    /// The same for two runs side by side; made when it pays, none if it cannot be.
    of_two: OnceLock<Option<StepOfTwo>>,
    /// How often two runs have met so far.
    n_meetings: AtomicU64,
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
    /// Makes an attempt, together with another run if there is one beside it.
    #[inline]
    #[must_use]
    pub(crate) fn run(&self, image: &Image, slots: &[f64], mut trial: Trial<'_>) -> Made {
        if !self.fits(slots, &trial) {
            return Made::Not;
        }
        let met = side_by_side::meet(self, image, slots, &mut trial);
        met.unwrap_or_else(|| self.run_alone(slots, &mut trial))
    }

    /// Tells whether the code is that of the method of an attempt.
    fn fits(&self, slots: &[f64], trial: &Trial<'_>) -> bool {
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
        true
    }

    /// Makes an attempt of one run; `slots` and trial [fit](Self::fits).
    #[inline]
    pub(super) fn run_alone(&self, slots: &[f64], trial: &mut Trial<'_>) -> Made {
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
        Made::new(is_usable != 0, Made::Alone)
    }

    /// Makes the attempts of two runs of one model; `slots` and trials both [fit](Self::fits).
    pub(super) fn run_two(
        &self,
        image: &Image,
        first: (&[f64], &mut Trial<'_>),
        second: (&[f64], &mut Trial<'_>),
        room: &mut Vec<Pair>,
    ) -> [Made; 2] {
        let code = self
            .of_two
            .get()
            .map_or_else(|| self.make_of_two(image), Option::as_ref);
        match code {
            Some(code) => {
                // SAFETY: the lengths are those that `fits` has seen.
                let usable = unsafe { code.run(first, second, room) };
                usable.map(|is_usable| Made::new(is_usable, Made::Together))
            }
            None => [
                self.run_alone(first.0, first.1),
                self.run_alone(second.0, second.1),
            ],
        }
    }

    /// Makes the code for two runs once that would have paid.
    #[cold]
    fn make_of_two(&self, image: &Image) -> Option<&StepOfTwo> {
        /// What an operation costs less where it serves two runs, ns.
        const SAVED_PER_OPERATION: f64 = 0.3;
        let has_integrands = self.n_quadratures > 0;
        let n_meetings = self.n_meetings.fetch_add(1, Ordering::Relaxed);
        let Some(n_operations) = step_of_two::operations(image, has_integrands) else {
            return self.of_two.get_or_init(|| None).as_ref();
        };
        let cost = TIME_OF_MODULE + TIME_OF_OPERATION * n_operations as f64;
        let n_stages = self.tableau.stages.len();
        let saved = SAVED_PER_OPERATION * (n_stages * n_operations) as f64;
        let is_patient = image.code.eagerness < Eagerness::Everything;
        if is_patient && (n_meetings as f64) * saved < cost {
            return None;
        }
        // Where no code can be made, each run by itself gives the same bits.
        let make = || step_of_two::compile(image, self.tableau, has_integrands).ok();
        self.of_two.get_or_init(make).as_ref()
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
        of_two: OnceLock::new(),
        n_meetings: AtomicU64::new(0),
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
    sign(&mut signature, types::F64);
    let mut b = FunctionBuilder::new(&mut assembler.context.func, &mut assembler.builder_context);
    let signature = b.import_signature(signature);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
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
    ] = b.block_params(block)
    else {
        unreachable!("the signature has ten parameters")
    };
    let hh = b.ins().splat(types::F64X2, h);
    let n = plain.n;
    let mut rows = Rows {
        b,
        layout: Layout::TwoByTwo,
        n,
        h,
        hh,
    };
    let mut is_usable = rows.b.ins().iconst(types::I8, 1);
    let mut probe: Option<Value> = None;
    for (number, stage) in tableau.stages.iter().enumerate() {
        let moved = rows.state_after((rates, stage.terms), y0);
        rows.store(&moved, state, 0);
        let b = &mut rows.b;
        let node = b.ins().f64const(stage.node);
        let delay = b.ins().fmul(node, h);
        let time = b.ins().fadd(t, delay);
        let (whole, row) = match stage.integrands {
            Some(row) => (full, row),
            None => (plain, 0),
        };
        let function = b.ins().iconst(types::I64, whole.function as i64);
        let to = b.ins().iadd_imm_u(rates, ((number + 1) * n * 8) as i64);
        let offset = row * whole.n_quadratures * 8;
        let integrands_to = b.ins().iadd_imm_u(integrands, offset as i64);
        let arguments = [memory, state, to, integrands_to, time];
        let call = b.ins().call_indirect(signature, function, &arguments);
        let is_good = b.inst_results(call)[0];
        is_usable = b.ins().band(is_usable, is_good);
        for place in 0..rows.n_places() {
            probe = Some(rows.note_not_finite((rates, number + 1, place), probe));
        }
    }
    let end = rows.state_after((rates, tableau.end), y0);
    rows.store(&end, y1, 0);
    for (number, terms) in tableau.errors.iter().enumerate() {
        let error = rows.sum(rates, terms);
        rows.store(&error, errors, number);
    }
    rows.n = full.n_quadratures;
    for (number, weights) in tableau.integrals.iter().enumerate() {
        let terms: Vec<Term> = weights.iter().copied().enumerate().collect();
        let integral = rows.sum(integrands, &terms);
        rows.store(&integral, integrals, number);
    }
    let mut b = rows.b;
    if let Some(probe) = probe {
        // Only what is no number differs from itself.
        let is_finite = b.ins().fcmp(FloatCC::Equal, probe, probe);
        let is_finite = b.ins().vall_true(is_finite);
        is_usable = b.ins().band(is_usable, is_finite);
    }
    b.ins().return_(&[is_usable]);
    b.seal_all_blocks();
    b.finalize(assembler.module.target_config());
    assembler.end(function)
}
