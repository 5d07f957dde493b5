//! Functions of numbers: trigonometry, roots, rounding, limits.
//!
//! In:  arguments in place.
//! Out: an expression, and the dimension that follows from theirs.

use paynter_symbolic::{Function1, Function2};

use super::{Call, FunctionRow, Refusal, Value, give};
use crate::units::Dimension;

pub(super) const ROWS: &[FunctionRow] = &[
    FunctionRow {
        name: "sin",
        parameters: &["angle"],
        summary: "sine",
        lower: |c| plain(c, Function1::Sin),
    },
    FunctionRow {
        name: "cos",
        parameters: &["angle"],
        summary: "cosine",
        lower: |c| plain(c, Function1::Cos),
    },
    FunctionRow {
        name: "tan",
        parameters: &["angle"],
        summary: "tangent",
        lower: |c| plain(c, Function1::Tan),
    },
    FunctionRow {
        name: "asin",
        parameters: &["x"],
        summary: "angle whose sine is x",
        lower: |c| plain(c, Function1::Asin),
    },
    FunctionRow {
        name: "acos",
        parameters: &["x"],
        summary: "angle whose cosine is x",
        lower: |c| plain(c, Function1::Acos),
    },
    FunctionRow {
        name: "atan",
        parameters: &["x"],
        summary: "angle whose tangent is x",
        lower: |c| plain(c, Function1::Atan),
    },
    FunctionRow {
        name: "sinh",
        parameters: &["x"],
        summary: "hyperbolic sine",
        lower: |c| plain(c, Function1::Sinh),
    },
    FunctionRow {
        name: "cosh",
        parameters: &["x"],
        summary: "hyperbolic cosine",
        lower: |c| plain(c, Function1::Cosh),
    },
    FunctionRow {
        name: "tanh",
        parameters: &["x"],
        summary: "hyperbolic tangent",
        lower: |c| plain(c, Function1::Tanh),
    },
    FunctionRow {
        name: "exp",
        parameters: &["x"],
        summary: "power of e",
        lower: |c| plain(c, Function1::Exp),
    },
    FunctionRow {
        name: "log",
        parameters: &["x"],
        summary: "natural logarithm",
        lower: |c| plain(c, Function1::Log),
    },
    FunctionRow {
        name: "log10",
        parameters: &["x"],
        summary: "decimal logarithm",
        lower: |c| plain(c, Function1::Log10),
    },
    // How far to round depends on the unit, so it must be divided out first.
    FunctionRow {
        name: "floor",
        parameters: &["x"],
        summary: "largest whole number up to x",
        lower: |c| plain(c, Function1::Floor),
    },
    FunctionRow {
        name: "ceil",
        parameters: &["x"],
        summary: "smallest whole number from x on",
        lower: |c| plain(c, Function1::Ceil),
    },
    FunctionRow {
        name: "round",
        parameters: &["x"],
        summary: "nearest whole number; halves go away from zero",
        lower: |c| plain(c, Function1::Round),
    },
    FunctionRow {
        name: "sqrt",
        parameters: &["x"],
        summary: "square root",
        lower: square_root,
    },
    FunctionRow {
        name: "abs",
        parameters: &["x"],
        summary: "size without sign",
        lower: absolute,
    },
    FunctionRow {
        name: "sign",
        parameters: &["x"],
        summary: "-1, 0 or 1",
        lower: sign,
    },
    FunctionRow {
        name: "min",
        parameters: &["a", "b"],
        summary: "the smaller",
        lower: |c| agreeing(c, Function2::Min),
    },
    FunctionRow {
        name: "max",
        parameters: &["a", "b"],
        summary: "the larger",
        lower: |c| agreeing(c, Function2::Max),
    },
    FunctionRow {
        name: "mod",
        parameters: &["a", "b"],
        summary: "a - b*floor(a/b), of the sign of b",
        lower: |c| agreeing(c, Function2::Mod),
    },
    FunctionRow {
        name: "hypot",
        parameters: &["a", "b"],
        summary: "sqrt(a^2 + b^2) without overflow",
        lower: |c| agreeing(c, Function2::Hypot),
    },
    FunctionRow {
        name: "atan2",
        parameters: &["y", "x"],
        summary: "angle of the point (x, y)",
        lower: angle_of_point,
    },
    FunctionRow {
        name: "clamp",
        parameters: &["x", "low", "high"],
        summary: "x kept between two limits",
        lower: clamp,
    },
    FunctionRow {
        name: "signed_sqrt",
        parameters: &["x", "eps"],
        summary: "sign(x)*sqrt(abs(x)), made smooth where abs(x) is below eps",
        lower: signed_square_root,
    },
];

/// A function of a plain number that gives a plain number.
fn plain(call: &mut Call, function: Function1) -> Result<Value, Refusal> {
    let x = call.plain(0)?;
    let expr = call.pool().call1(function, x.expr);
    give(expr, x.dimension)
}

fn square_root(call: &mut Call) -> Result<Value, Refusal> {
    let x = call.number(0)?;
    call.require(0, x, |x| x >= 0.0, "zero or more")?;
    let expr = call.pool().call1(Function1::Sqrt, x.expr);
    give(expr, x.dimension.map(Dimension::sqrt))
}

fn absolute(call: &mut Call) -> Result<Value, Refusal> {
    let x = call.number(0)?;
    let expr = call.pool().call1(Function1::Abs, x.expr);
    give(expr, x.dimension)
}

fn sign(call: &mut Call) -> Result<Value, Refusal> {
    let x = call.number(0)?;
    let expr = call.pool().call1(Function1::Sign, x.expr);
    give(expr, x.dimension.map(|_| Dimension::ONE))
}

/// A function of two numbers of one dimension that gives the same dimension.
fn agreeing(call: &mut Call, function: Function2) -> Result<Value, Refusal> {
    let dimension = call.agree(&[0, 1])?;
    let (a, b) = (call.number(0)?, call.number(1)?);
    let expr = call.pool().call2(function, a.expr, b.expr);
    give(expr, dimension)
}

fn angle_of_point(call: &mut Call) -> Result<Value, Refusal> {
    let dimension = call.agree(&[0, 1])?;
    let (y, x) = (call.number(0)?, call.number(1)?);
    let expr = call.pool().call2(Function2::Atan2, y.expr, x.expr);
    give(expr, dimension.map(|_| Dimension::ONE))
}

fn clamp(call: &mut Call) -> Result<Value, Refusal> {
    let dimension = call.agree(&[0, 1, 2])?;
    let (x, low, high) = (call.number(0)?, call.number(1)?, call.number(2)?);
    let pool = call.pool();
    let above = pool.call2(Function2::Max, x.expr, low.expr);
    let expr = pool.call2(Function2::Min, above, high.expr);
    give(expr, dimension)
}

/// x/(x² + ε²)^¼: odd and smooth, √|x| to one part in (ε/2x)² far from zero, slope 1/√ε at zero.
fn signed_square_root(call: &mut Call) -> Result<Value, Refusal> {
    let dimension = call.agree(&[0, 1])?;
    let (x, eps) = (call.number(0)?, call.number(1)?);
    call.require(1, eps, |eps| eps > 0.0, "greater than zero")?;
    let pool = call.pool();
    let (x2, eps2) = (pool.mul(x.expr, x.expr), pool.mul(eps.expr, eps.expr));
    let sum = pool.add(x2, eps2);
    // Two roots instead of the power ¼: cheaper, and exact for exact squares.
    let half = pool.call1(Function1::Sqrt, sum);
    let quarter = pool.call1(Function1::Sqrt, half);
    let expr = pool.div(x.expr, quarter);
    give(expr, dimension.map(Dimension::sqrt))
}
