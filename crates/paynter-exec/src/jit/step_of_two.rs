//! All stages of an explicit Runge–Kutta step, of two runs side by side.
//!
//! In:  the routines of the right-hand side, and the numbers of a method.
//! Out: a function that makes one attempt at a step for each of two runs of one model. Every number of the first run is
//!      computed beside that of the second, by one instruction for both: each keeps its own time, step, variables and
//!      parameters.
//!
//! A stage waits for the one before it, and most of its operations for each other; the second run fills the waiting.
//!
//! **Invariant:** the bits of each run are those that it has alone ([`super::step`]), or the function says that its
//! numbers may not be used. What is odd in one run does not touch the other.

use std::sync::Arc;

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{
    AbiParam, ConstantData, Endianness, FuncRef, InstBuilder, MemFlagsData, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Module};
use paynter_solve::{Tableau, Term, Trial};

use super::assembler::Assembler;
use super::body::{Body, Slots};
use super::operations::{constant, pair};
use super::rows::{Layout, Row, Rows, anywhere};
use super::whole::write_whole;
use super::{Code, FUNCTION_SIZE};
use crate::image::Image;

/// A function that makes one attempt at a step for each of two runs.
#[derive(Debug)]
pub(super) struct StepOfTwo {
    function: *const u8,
    /// Pairs of numbers that it works with.
    n_pairs: usize,
    /// Keeps the memory of the function.
    _code: Arc<Code>,
}

// SAFETY: as for `Compiled`.
unsafe impl Send for StepOfTwo {}
// SAFETY: as for `Compiled`.
unsafe impl Sync for StepOfTwo {}

/// Two numbers side by side, where the processor finds them at once.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
pub(super) struct Pair([f64; 2]);

/// One of the runs, as the code reads it.
#[repr(C)]
struct Lane {
    slots: *const f64,
    y0: *const f64,
    rates: *mut f64,
    integrands: *mut f64,
    last_stage: *mut f64,
    y1: *mut f64,
    errors: *mut f64,
    integrals: *mut f64,
    t: f64,
    h: f64,
}

impl Lane {
    fn new((slots, trial): (&[f64], &mut Trial<'_>)) -> Self {
        Lane {
            slots: slots.as_ptr(),
            y0: trial.y0.as_ptr(),
            rates: trial.rates.as_mut_ptr(),
            integrands: trial.integrands.as_mut_ptr(),
            last_stage: trial.last_stage.as_mut_ptr(),
            y1: trial.y1.as_mut_ptr(),
            errors: trial.errors.as_mut_ptr(),
            integrals: trial.integrals.as_mut_ptr(),
            t: trial.t,
            h: trial.h,
        }
    }
}

/// Its addresses, in order.
#[derive(Clone, Copy)]
enum Part {
    Slots,
    Y0,
    Rates,
    Integrands,
    LastStage,
    Y1,
    Errors,
    Integrals,
}

/// Places of its numbers, in bytes.
const T: i32 = std::mem::offset_of!(Lane, t) as i32;
const H: i32 = std::mem::offset_of!(Lane, h) as i32;

type StepOfTwoFn = unsafe extern "C" fn(*const Lane, *const Lane, *mut Pair) -> u8;

impl StepOfTwo {
    /// Makes both attempts; tells for each whether its numbers may be used.
    ///
    /// # Safety
    ///
    /// Slots and rows of both are as long as `StepCode::fits` has seen them to be.
    pub(super) unsafe fn run(
        &self,
        first: (&[f64], &mut Trial<'_>),
        second: (&[f64], &mut Trial<'_>),
        room: &mut Vec<Pair>,
    ) -> [bool; 2] {
        if room.len() < self.n_pairs {
            room.resize(self.n_pairs, Pair::default());
        }
        let (first, second) = (Lane::new(first), Lane::new(second));
        // SAFETY: `function` was made by `write_step` with this signature.
        let function = unsafe { std::mem::transmute::<*const u8, StepOfTwoFn>(self.function) };
        // SAFETY: the caller promises the lengths; the room has `n_pairs`; rows of two runs do not overlap, since
        // both are borrowed for writing.
        let usable = unsafe { function(&first, &second, room.as_mut_ptr()) };
        [usable & 1 != 0, usable & 2 != 0]
    }
}

/// Estimates the number of operations in the right-hand sides of a step; none if they are not one function each.
pub(super) fn operations(image: &Image, has_integrands: bool) -> Option<usize> {
    let mut routines = vec![&image.rhs.routine];
    if has_integrands {
        routines.push(&image.energy.power.routine);
    }
    let each = routines.into_iter().map(super::operations_of_whole);
    let all: Vec<usize> = each.collect();
    all.iter().all(|&n| n > 0).then(|| all.iter().sum())
}

/// Makes the code.
pub(super) fn compile(
    image: &Image,
    tableau: &'static Tableau,
    has_integrands: bool,
) -> Result<StepOfTwo, String> {
    const NOT_WHOLE: &str = "the right-hand side is not one function";
    let mut assembler = Assembler::new(image.constants.iter().copied().collect())?;
    if !assembler.has_pairs {
        return Err("the processor does not compute on pairs of numbers".to_owned());
    }
    let n_quadratures = match has_integrands {
        true => image.energy.audit.len(),
        false => 0,
    };
    let routines = [&image.rhs.routine, &image.energy.power.routine];
    let plain = Body::new(routines[0], FUNCTION_SIZE, &assembler).ok_or(NOT_WHOLE)?;
    let full = match has_integrands {
        true => Some(Body::new(routines[1], FUNCTION_SIZE, &assembler).ok_or(NOT_WHOLE)?),
        false => None,
    };
    let bodies = [Some(&plain), full.as_ref()].into_iter().flatten();
    let read = |body: &Body<'_>| body.slots_read(&image.inputs, &assembler.constants);
    let mut packed: Vec<u32> = bodies.flat_map(read).collect();
    packed.sort_unstable();
    packed.dedup();

    let slots = Slots::Packed(&packed);
    let mut whole = |body: &Body<'_>, n_quadratures| {
        write_whole(&mut assembler, body, &image.inputs, n_quadratures, slots)
    };
    let plain = whole(&plain, 0)?;
    let full = match &full {
        Some(full) => whole(full, n_quadratures)?,
        None => plain,
    };
    let shape = Shape {
        tableau,
        n: image.inputs.n,
        n_quadratures,
        packed: &packed,
    };
    let function = write_step(&mut assembler, &shape, [plain, full])?;
    let finished = assembler.module.finalize_definitions();
    finished.map_err(|error| error.to_string())?;
    Ok(StepOfTwo {
        function: assembler.module.get_finalized_function(function),
        n_pairs: shape.n_pairs(),
        _code: Arc::new(Code::new(assembler.module)),
    })
}

/// What the step is made of, and where its numbers lie in the room, in pairs.
struct Shape<'a> {
    tableau: &'static Tableau,
    n: usize,
    n_quadratures: usize,
    packed: &'a [u32],
}

impl Shape<'_> {
    fn y0(&self) -> usize {
        self.packed.len()
    }

    fn state(&self) -> usize {
        self.y0() + self.n
    }

    fn rates(&self) -> usize {
        self.state() + self.n
    }

    fn integrands(&self) -> usize {
        self.rates() + (self.tableau.stages.len() + 1) * self.n
    }

    fn n_pairs(&self) -> usize {
        let rows = self.tableau.stages.iter().filter_map(|s| s.integrands);
        let n_rows = rows.max().unwrap_or(0) + 1;
        self.integrands() + n_rows * self.n_quadratures
    }

    /// Rows of rates that are read after the step; the first is there already.
    fn kept(&self) -> impl Iterator<Item = usize> + use<> {
        let rows = self.tableau.end.iter().map(|term| term.0);
        rows.filter(|&row| row > 0)
    }
}

fn write_step(
    assembler: &mut Assembler,
    shape: &Shape<'_>,
    wholes: [FuncId; 2],
) -> Result<FuncId, String> {
    let mut signature = assembler.module.make_signature();
    signature.params.extend([AbiParam::new(types::I64); 3]);
    signature.returns.push(AbiParam::new(types::I8));
    let (function, _) = assembler.begin(&signature, &[])?;
    let module = &mut assembler.module;
    let wholes = wholes.map(|id| module.declare_func_in_func(id, &mut assembler.context.func));
    let mut b = FunctionBuilder::new(&mut assembler.context.func, &mut assembler.builder_context);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let &[first, second, room] = b.block_params(block) else {
        unreachable!("the signature has three parameters")
    };
    let lanes = [first, second];
    let [t, h] = [T, H].map(|offset| {
        let [first, second] = lanes.map(|lane| b.ins().load(types::F64, anywhere(), lane, offset));
        pair(&mut b, first, second)
    });
    let rows = Rows {
        b,
        layout: Layout::OfTwoRuns,
        n: shape.n,
        h,
        hh: h,
    };
    let mut step = Step { rows, lanes, room };
    step.join(shape);
    let usable = step.stages(shape, t, wholes);
    step.end(shape);
    let mut b = step.rows.b;
    b.ins().return_(&[usable]);
    b.seal_all_blocks();
    b.finalize(assembler.module.target_config());
    assembler.end(function)
}

/// The step being written.
struct Step<'a> {
    rows: Rows<'a>,
    /// Addresses of the two runs.
    lanes: [Value; 2],
    /// Address of the room.
    room: Value,
}

impl Step<'_> {
    /// Address of a place in the room.
    fn at(&mut self, pair: usize) -> Value {
        let offset = (pair * size_of::<Pair>()) as i64;
        self.rows.b.ins().iadd_imm_u(self.room, offset)
    }

    /// Addresses of a part of both runs.
    fn part(&mut self, part: Part) -> [Value; 2] {
        let b = &mut self.rows.b;
        let offset = part as i32 * 8;
        self.lanes
            .map(|lane| b.ins().load(types::I64, anywhere(), lane, offset))
    }

    /// Brings what the step needs of both runs side by side.
    fn join(&mut self, shape: &Shape<'_>) {
        let slots = self.part(Part::Slots);
        for (place, &slot) in shape.packed.iter().enumerate() {
            let b = &mut self.rows.b;
            let offset = slot as i32 * 8;
            let [first, second] =
                slots.map(|from| b.ins().load(types::F64, anywhere(), from, offset));
            let both = pair(b, first, second);
            let to = (place * size_of::<Pair>()) as i32;
            b.ins().store(anywhere(), both, self.room, to);
        }
        self.join_row(Part::Y0, shape.n, shape.y0());
        self.join_row(Part::Rates, shape.n, shape.rates());
        self.join_row(Part::Integrands, shape.n_quadratures, shape.integrands());
    }

    /// Brings the first row of a part of both runs side by side.
    fn join_row(&mut self, part: Part, n: usize, to: usize) {
        if n == 0 {
            return;
        }
        let from = self.part(part);
        let mut values = Vec::with_capacity(n);
        for place in (0..n).step_by(2) {
            let b = &mut self.rows.b;
            let kind = if place + 1 < n {
                types::F64X2
            } else {
                types::F64
            };
            let offset = place as i32 * 8;
            let [first, second] = from.map(|from| b.ins().load(kind, anywhere(), from, offset));
            if kind == types::F64 {
                values.push(pair(b, first, second));
            } else {
                values.extend(crosswise(b, first, second));
            }
        }
        let to = self.at(to);
        self.rows.store(&values, to, 0);
    }

    /// Gives each run its numbers of a row.
    fn part_ways(&mut self, values: &[Value], to: [Value; 2], row: usize) {
        let n = values.len();
        for (place, two) in values.chunks(2).enumerate() {
            let b = &mut self.rows.b;
            let numbers = match *two {
                [first, second] => crosswise(b, first, second),
                [only] => [0, 1].map(|lane| b.ins().extractlane(only, lane)),
                _ => unreachable!("chunks of two"),
            };
            let offset = ((row * n + 2 * place) * 8) as i32;
            for (numbers, to) in numbers.into_iter().zip(to) {
                b.ins().store(anywhere(), numbers, to, offset);
            }
        }
    }

    /// Writes all stages; gives a bit for each run that tells whether its numbers may be used.
    fn stages(&mut self, shape: &Shape<'_>, t: Value, wholes: [FuncRef; 2]) -> Value {
        let (y0, state) = (self.at(shape.y0()), self.at(shape.state()));
        let (rates, integrands) = (self.at(shape.rates()), self.at(shape.integrands()));
        let h = self.rows.h;
        let mut usable = self.rows.b.ins().iconst(types::I8, 0b11);
        let mut probe: Option<Value> = None;
        let n_stages = shape.tableau.stages.len();
        for (number, stage) in shape.tableau.stages.iter().enumerate() {
            let moved = self.rows.state_after((rates, stage.terms), y0);
            self.rows.store(&moved, state, 0);
            if number + 1 == n_stages {
                let to = self.part(Part::LastStage);
                self.part_ways(&moved, to, 0);
            }
            let b = &mut self.rows.b;
            let node = constant(b, types::F64X2, stage.node);
            let delay = b.ins().fmul(node, h);
            let time = b.ins().fadd(t, delay);
            let (whole, row) = match stage.integrands {
                Some(row) => (wholes[1], row),
                None => (wholes[0], 0),
            };
            let place = |row: usize, n: usize| (row * n * size_of::<Pair>()) as i64;
            let to = b.ins().iadd_imm_u(rates, place(number + 1, shape.n));
            let offset = place(row, shape.n_quadratures);
            let integrands_to = b.ins().iadd_imm_u(integrands, offset);
            let arguments = [self.room, state, to, integrands_to, time];
            let call = b.ins().call(whole, &arguments);
            let good = b.inst_results(call)[0];
            usable = b.ins().band(usable, good);
            for place in 0..self.rows.n_places() {
                probe = Some(self.rows.note_not_finite((rates, number + 1, place), probe));
            }
        }
        let b = &mut self.rows.b;
        match probe {
            None => usable,
            Some(probe) => {
                // Only what is no number differs from itself.
                let is_finite = b.ins().fcmp(FloatCC::Equal, probe, probe);
                let finite = b.ins().vhigh_bits(types::I8, is_finite);
                b.ins().band(usable, finite)
            }
        }
    }

    /// Gives each run its state, rates, errors and integrals.
    fn end(&mut self, shape: &Shape<'_>) {
        let tableau = shape.tableau;
        let y0 = self.at(shape.y0());
        let (rates, integrands) = (self.at(shape.rates()), self.at(shape.integrands()));
        let to = self.part(Part::Rates);
        for row in shape.kept() {
            let values: Row = (0..shape.n)
                .map(|place| self.rows.load(rates, row, place))
                .collect();
            self.part_ways(&values, to, row);
        }
        let end = self.rows.state_after((rates, tableau.end), y0);
        let to = self.part(Part::Y1);
        self.part_ways(&end, to, 0);
        let to = self.part(Part::Errors);
        for (number, terms) in tableau.errors.iter().enumerate() {
            let error = self.rows.sum(rates, terms);
            self.part_ways(&error, to, number);
        }
        self.rows.n = shape.n_quadratures;
        let to = self.part(Part::Integrals);
        for (number, weights) in tableau.integrals.iter().enumerate() {
            let terms: Vec<Term> = weights.iter().copied().enumerate().collect();
            let integral = self.rows.sum(integrands, &terms);
            self.part_ways(&integral, to, number);
        }
    }
}

/// From the first two numbers of one kind and two of another: the first of both, and the second of both.
fn crosswise(b: &mut FunctionBuilder<'_>, x: Value, y: Value) -> [Value; 2] {
    let flags = MemFlagsData::new().with_endianness(Endianness::Little);
    let [x, y] = [x, y].map(|pair| b.ins().bitcast(types::I8X16, flags, pair));
    [0_u8, 8].map(|first| {
        // Bytes from 16 on are those of the second operand.
        let bytes: Vec<u8> = (first..first + 8).chain(first + 16..first + 24).collect();
        let mask = b.func.dfg.immediates.push(ConstantData::from(&bytes[..]));
        let joined = b.ins().shuffle(x, y, mask);
        b.ins().bitcast(types::F64X2, flags, joined)
    })
}
