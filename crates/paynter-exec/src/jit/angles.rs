//! Sines and cosines written out, two angles at a time.
//!
//! In:  two angles.
//! Out: the operations of [`paynter_symbolic::angle`] on both, in the same order: the same bits.
//!
//! There is no branch for large angles: [`Turned::size`] tells afterwards whether the numbers may be used.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use paynter_symbolic::angle::{COSINE, QUARTER, QUARTERS_PER_RADIAN, ROUNDER, SINE};

/// The numbers of the formula, each twice.
#[repr(align(16))]
struct Numbers([[u64; 2]; N_NUMBERS]);

const N_NUMBERS: usize = 25;

static TABLE: Numbers = {
    let mut all = [[0; 2]; N_NUMBERS];
    let reals = [
        QUARTERS_PER_RADIAN,
        ROUNDER,
        QUARTER[0],
        QUARTER[1],
        QUARTER[2],
        1.0,
        0.5,
    ];
    let mut k = 0;
    while k < reals.len() {
        all[RATIO + k] = [reals[k].to_bits(); 2];
        k += 1;
    }
    k = 0;
    while k < 6 {
        all[FIRST_OF_SINE + k] = [SINE[k].to_bits(); 2];
        all[FIRST_OF_COSINE + k] = [COSINE[k].to_bits(); 2];
        k += 1;
    }
    all[SIZE_BITS] = [u64::MAX >> 1; 2];
    all[BIT_0] = [1; 2];
    all[BIT_1] = [2; 2];
    // Quarters more for the first, the second, both.
    all[MORE] = [1, 0];
    all[MORE + 1] = [0, 1];
    all[MORE + 2] = [1, 1];
    Numbers(all)
};

// Places of the numbers in the table.
const RATIO: usize = 0;
const ROUND: usize = 1;
const FIRST_QUARTER: usize = 2;
const ONE: usize = 5;
const HALF: usize = 6;
const FIRST_OF_SINE: usize = 7;
const FIRST_OF_COSINE: usize = 13;
const SIZE_BITS: usize = 19;
const BIT_0: usize = 20;
const BIT_1: usize = 21;
const MORE: usize = 22;

/// Two angles turned back by quarters into −π/4 … π/4.
pub(super) struct Turned {
    table: Value,
    quarters: Value,
    sine: Value,
    cosine: Value,
    /// Size of each angle; the numbers may be used below [`paynter_symbolic::angle::LARGEST`].
    pub(super) size: Value,
}

/// Takes the nearest number of quarters off two angles: that number added to the constant that rounds, what is left, and
/// what rounding has lost of it. A quarter is subtracted in three parts (Cody & Waite 1980).
fn turn_back(b: &mut FunctionBuilder<'_>, angle: Value, table: Value) -> (Value, Value, Value) {
    let get = |b: &mut FunctionBuilder<'_>, place: usize| get(b, types::F64X2, table, place);
    let ratio = get(b, RATIO);
    let n = b.ins().fmul(angle, ratio);
    let rounder = get(b, ROUND);
    let sum = b.ins().fadd(n, rounder);
    let n = b.ins().fsub(sum, rounder);
    let [first, second, third] = [0, 1, 2].map(|part| {
        let part = get(b, FIRST_QUARTER + part);
        b.ins().fmul(n, part)
    });
    let coarse = b.ins().fsub(angle, first);
    let r = b.ins().fsub(coarse, second);
    let lost = b.ins().fsub(coarse, r);
    let lost = b.ins().fsub(lost, second);
    let tail = b.ins().fsub(lost, third);
    (sum, r, tail)
}

/// Sine and cosine of r + tail between −π/4 and π/4, as polynomials in z = r².
fn sine_and_cosine(
    b: &mut FunctionBuilder<'_>,
    (r, tail): (Value, Value),
    table: Value,
) -> (Value, Value) {
    let get = |b: &mut FunctionBuilder<'_>, place: usize| get(b, types::F64X2, table, place);
    let z = b.ins().fmul(r, r);
    let zz = b.ins().fmul(z, z);
    let fourth = b.ins().fmul(zz, zz);
    let polynomial = |b: &mut FunctionBuilder<'_>, first: usize| {
        let [low, middle, high] = [0, 2, 4].map(|place| {
            let slope = get(b, first + place + 1);
            let product = b.ins().fmul(z, slope);
            let constant = get(b, first + place);
            b.ins().fadd(product, constant)
        });
        let middle = b.ins().fmul(zz, middle);
        let lower = b.ins().fadd(low, middle);
        let high = b.ins().fmul(fourth, high);
        b.ins().fadd(lower, high)
    };
    let a_half = get(b, HALF);
    let half = b.ins().fmul(z, a_half);
    let one = get(b, ONE);
    let near_one = b.ins().fsub(one, half);

    let cube = b.ins().fmul(z, r);
    let higher = polynomial(b, FIRST_OF_SINE);
    let higher = b.ins().fmul(cube, higher);
    let turned_tail = b.ins().fmul(tail, near_one);
    let correction = b.ins().fadd(higher, turned_tail);
    let sine = b.ins().fadd(r, correction);

    let rest = b.ins().fsub(one, near_one);
    let rest = b.ins().fsub(rest, half);
    let higher = polynomial(b, FIRST_OF_COSINE);
    let higher = b.ins().fmul(zz, higher);
    let turned_tail = b.ins().fmul(r, tail);
    let correction = b.ins().fsub(higher, turned_tail);
    let correction = b.ins().fadd(rest, correction);
    let cosine = b.ins().fadd(near_one, correction);
    (sine, cosine)
}

impl Turned {
    /// Turns two angles; `table` is what [`table`] gave.
    pub(super) fn new(
        b: &mut FunctionBuilder<'_>,
        [first, second]: [Value; 2],
        table: Value,
    ) -> Self {
        let get = |b: &mut FunctionBuilder<'_>, place: usize| get(b, types::F64X2, table, place);
        let angle = b.ins().splat(types::F64X2, first);
        let angle = if first == second {
            angle
        } else {
            b.ins().insertlane(angle, second, 1)
        };
        let bits = get(b, SIZE_BITS);
        let size = b.ins().band(angle, bits);

        let (sum, r, tail) = turn_back(b, angle, table);
        let (sine, cosine) = sine_and_cosine(b, (r, tail), table);
        Turned {
            table,
            quarters: b.ins().bitcast(types::I64X2, MemFlagsData::new(), sum),
            sine,
            cosine,
            size,
        }
    }

    /// The sines of the angles that a quarter more would give, where it is wanted.
    pub(super) fn sines_after(&self, b: &mut FunctionBuilder<'_>, more: [bool; 2]) -> Value {
        let get = |b: &mut FunctionBuilder<'_>, place| get(b, types::I64X2, self.table, place);
        let place = match more {
            [false, false] => None,
            [true, false] => Some(MORE),
            [false, true] => Some(MORE + 1),
            [true, true] => Some(MORE + 2),
        };
        let quarters = match place {
            None => self.quarters,
            Some(place) => {
                let more = get(b, place);
                b.ins().iadd(self.quarters, more)
            }
        };
        let bit = get(b, BIT_0);
        let is_odd = b.ins().band(quarters, bit);
        let is_odd = b.ins().ineg(is_odd);
        let is_odd = b.ins().bitcast(types::F64X2, MemFlagsData::new(), is_odd);
        let value = b.ins().bitselect(is_odd, self.cosine, self.sine);
        let bit = get(b, BIT_1);
        let sign = b.ins().band(quarters, bit);
        let sign = b.ins().ishl_imm_u(sign, 62);
        let sign = b.ins().bitcast(types::F64X2, MemFlagsData::new(), sign);
        b.ins().bxor(value, sign)
    }
}

/// Address of the numbers, once for a function.
pub(super) fn table(b: &mut FunctionBuilder<'_>) -> Value {
    b.ins().iconst(types::I64, TABLE.0.as_ptr() as i64)
}

fn get(b: &mut FunctionBuilder<'_>, kind: Type, table: Value, place: usize) -> Value {
    let offset = place * size_of::<[u64; 2]>();
    b.ins()
        .load(kind, MemFlagsData::trusted(), table, offset as i32)
}
