//! One operation of the interpreter as machine instructions, or as a call of the very function that the interpreter calls.
//!
//! In:  an operation and its operands.
//! Out: its value, with the bits that the interpreter gives.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{
    FuncRef, InstBuilder, Opcode, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use paynter_symbolic::expr::{Comparison, Function1, Function2, power};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Instr, Op};

/// Sines and cosines of the same angle, which one call gives together.
pub(super) struct Pairs {
    /// Angles of which both are wanted.
    pub(super) angles: FxHashSet<u32>,
    /// What the call for an angle gave: sine and cosine.
    made: FxHashMap<u32, (Value, Value)>,
}

impl Pairs {
    pub(super) fn new(instrs: &[Instr]) -> Self {
        let angles_of = |f: Function1| -> FxHashSet<u32> {
            instrs
                .iter()
                .filter(|i| i.op == Op::Call1(f))
                .map(|i| i.a)
                .collect()
        };
        let sines = angles_of(Function1::Sin);
        Pairs {
            angles: angles_of(Function1::Cos)
                .intersection(&sines)
                .copied()
                .collect(),
            made: FxHashMap::default(),
        }
    }

    /// Gives the value of an instruction that is half of a pair.
    pub(super) fn value(
        &mut self,
        b: &mut FunctionBuilder<'_>,
        helpers: &FxHashMap<Helper, FuncRef>,
        i: &Instr,
        angle: Value,
    ) -> Option<Value> {
        let is_sine = match i.op {
            Op::Call1(Function1::Sin) => true,
            Op::Call1(Function1::Cos) => false,
            _ => return None,
        };
        if !self.angles.contains(&i.a) {
            return None;
        }
        let (sine, cosine) = *self.made.entry(i.a).or_insert_with(|| {
            let room = StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3);
            let room = b.create_sized_stack_slot(room);
            let address = b.ins().stack_addr(types::I64, room, 0);
            let call = b.ins().call(helpers[&Helper::SinCos], &[angle, address]);
            let sine = b.inst_results(call)[0];
            (sine, b.ins().stack_load(types::I64, types::F64, room, 0))
        });
        Some(if is_sine { sine } else { cosine })
    }
}

/// A function that machine code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Helper {
    /// The function of an operation.
    Of(Op),
    /// Sine and cosine together.
    SinCos,
}

pub(super) const SIN_COS_NAME: &str = "paynter_sin_cos";

/// Gives the sine and writes the cosine: the very numbers that the two functions give alone.
pub(super) extern "C" fn sin_cos(angle: f64, cosine: *mut f64) -> f64 {
    let (sine, other) = paynter_symbolic::angle::sin_cos(angle);
    // SAFETY: the code that calls this gives the address of eight bytes of its own stack.
    unsafe { *cosine = other };
    sine
}

/// Writes one operation.
pub(super) fn emit(
    b: &mut FunctionBuilder<'_>,
    helpers: &FxHashMap<Helper, FuncRef>,
    op: Op,
    [x, y, z]: [Value; 3],
) -> Value {
    match op {
        Op::Copy => x,
        Op::Neg => b.ins().fneg(x),
        Op::Add | Op::Mul => {
            // A constant as the second operand is taken straight from the code.
            let (x, y) = if is_constant(b, x) { (y, x) } else { (x, y) };
            if op == Op::Add {
                b.ins().fadd(x, y)
            } else {
                b.ins().fmul(x, y)
            }
        }
        Op::Sub => b.ins().fsub(x, y),
        Op::Div => b.ins().fdiv(x, y),
        Op::PowerWhole(n) => whole_power(b, x, n),
        Op::Call1(Function1::Sqrt) => b.ins().sqrt(x),
        Op::Call1(Function1::Abs) => b.ins().fabs(x),
        Op::Call1(Function1::Floor) => b.ins().floor(x),
        Op::Call1(Function1::Ceil) => b.ins().ceil(x),
        Op::Call1(Function1::Sign) => sign(b, x),
        Op::Call2(f @ (Function2::Min | Function2::Max)) => min_or_max(b, f, (x, y)),
        Op::Compare(comparison) => {
            let holds = b.ins().fcmp(condition(comparison), x, y);
            truth(b, holds)
        }
        Op::Not => {
            let zero = b.ins().f64const(0.0);
            let holds = b.ins().fcmp(FloatCC::Equal, x, zero);
            truth(b, holds)
        }
        Op::And | Op::Or => {
            let zero = b.ins().f64const(0.0);
            let [first, second] = [x, y].map(|x| b.ins().fcmp(FloatCC::NotEqual, x, zero));
            let holds = if op == Op::And {
                b.ins().band(first, second)
            } else {
                b.ins().bor(first, second)
            };
            truth(b, holds)
        }
        Op::Select => {
            let zero = b.ins().f64const(0.0);
            let holds = b.ins().fcmp(FloatCC::NotEqual, x, zero);
            b.ins().select(holds, y, z)
        }
        Op::Power | Op::Call1(_) | Op::Call2(_) => {
            let operands = &[x, y][..op.n_operands()];
            let call = b.ins().call(helpers[&Helper::Of(op)], operands);
            b.inst_results(call)[0]
        }
    }
}

/// −1, 1, or x · 0 where it is neither negative nor positive: zero with its sign, or not a number.
fn sign(b: &mut FunctionBuilder<'_>, x: Value) -> Value {
    let zero = b.ins().f64const(0.0);
    let (one, minus_one) = (b.ins().f64const(1.0), b.ins().f64const(-1.0));
    let neither = b.ins().fmul(x, zero);
    let is_negative = b.ins().fcmp(FloatCC::LessThan, x, zero);
    let or_negative = b.ins().select(is_negative, minus_one, neither);
    let is_positive = b.ins().fcmp(FloatCC::GreaterThan, x, zero);
    b.ins().select(is_positive, one, or_negative)
}

/// The smaller or the larger of two numbers; not a number if either is not.
fn min_or_max(b: &mut FunctionBuilder<'_>, f: Function2, (x, y): (Value, Value)) -> Value {
    let comparison = if f == Function2::Min {
        FloatCC::LessThan
    } else {
        FloatCC::GreaterThan
    };
    let takes_second = b.ins().fcmp(comparison, y, x);
    let chosen = b.ins().select(takes_second, y, x);
    let is_nan = b.ins().fcmp(FloatCC::Unordered, x, y);
    let nan = b.ins().f64const(f64::NAN);
    b.ins().select(is_nan, nan, chosen)
}

fn is_constant(b: &FunctionBuilder<'_>, x: Value) -> bool {
    let definition = b.func.dfg.value_def(x).inst();
    definition.is_some_and(|i| b.func.dfg.insts[i].opcode() == Opcode::F64const)
}

fn truth(b: &mut FunctionBuilder<'_>, holds: Value) -> Value {
    let (one, zero) = (b.ins().f64const(1.0), b.ins().f64const(0.0));
    b.ins().select(holds, one, zero)
}

/// The multiplications of [`power`], in its order.
fn whole_power(b: &mut FunctionBuilder<'_>, x: Value, n: i8) -> Value {
    let mut left = n.unsigned_abs();
    let mut base = x;
    let mut result: Option<Value> = None;
    while left > 0 {
        if left & 1 == 1 {
            // 1 · x is x, so the first factor needs no multiplication.
            result = Some(match result {
                None => base,
                Some(so_far) => b.ins().fmul(so_far, base),
            });
        }
        left >>= 1;
        if left > 0 {
            base = b.ins().fmul(base, base);
        }
    }
    let one = b.ins().f64const(1.0);
    let result = result.unwrap_or(one);
    if n < 0 {
        b.ins().fdiv(one, result)
    } else {
        result
    }
}

pub(super) fn condition(comparison: Comparison) -> FloatCC {
    match comparison {
        Comparison::Less => FloatCC::LessThan,
        Comparison::LessEqual => FloatCC::LessThanOrEqual,
        Comparison::Greater => FloatCC::GreaterThan,
        Comparison::GreaterEqual => FloatCC::GreaterThanOrEqual,
        Comparison::Equal => FloatCC::Equal,
        Comparison::NotEqual => FloatCC::NotEqual,
    }
}

/// Tells whether an operation is a call of a wrapper.
pub(super) fn needs_helper(op: Op) -> bool {
    match op {
        Op::Power => true,
        Op::Call1(f) => !matches!(
            f,
            Function1::Sqrt | Function1::Abs | Function1::Floor | Function1::Ceil | Function1::Sign
        ),
        Op::Call2(f) => !matches!(f, Function2::Min | Function2::Max),
        _ => false,
    }
}

pub(super) fn helper_name(op: Op) -> String {
    format!("paynter_{op:?}")
}

pub(super) type OneArgument = extern "C" fn(f64) -> f64;
pub(super) type TwoArguments = extern "C" fn(f64, f64) -> f64;

/// Wrappers of the functions that the interpreter calls.
pub(super) fn one_argument_helpers() -> [(Op, OneArgument); 13] {
    macro_rules! wrap {
        ($($name:ident),*) => {
            [$((Op::Call1(Function1::$name), {
                extern "C" fn wrapper(x: f64) -> f64 {
                    Function1::$name.eval(x)
                }
                wrapper as OneArgument
            })),*]
        };
    }
    wrap!(
        Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Exp, Log, Log10, Round
    )
}

pub(super) fn two_argument_helpers() -> [(Op, TwoArguments); 4] {
    extern "C" fn raise(x: f64, n: f64) -> f64 {
        power(x, n)
    }
    extern "C" fn atan2(y: f64, x: f64) -> f64 {
        Function2::Atan2.eval(y, x)
    }
    extern "C" fn modulo(a: f64, b: f64) -> f64 {
        Function2::Mod.eval(a, b)
    }
    extern "C" fn hypot(a: f64, b: f64) -> f64 {
        Function2::Hypot.eval(a, b)
    }
    [
        (Op::Power, raise as TwoArguments),
        (Op::Call2(Function2::Atan2), atan2),
        (Op::Call2(Function2::Mod), modulo),
        (Op::Call2(Function2::Hypot), hypot),
    ]
}
