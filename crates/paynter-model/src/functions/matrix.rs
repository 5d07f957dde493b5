//! Vectors and matrices: products, special matrices, rotations.
//!
//! In:  arrays of expressions.
//! Out: arrays of expressions, entry by entry; `A*B` and `A'` are operators and live with the
//!      elaborator.

use paynter_symbolic::{ExprId, Function1};
use paynter_syntax::Diagnostic;

use super::{Array, Call, Dimensioned, FunctionRow, Refusal, Shape, Value, give, times};
use crate::code;
use crate::units::Dimension;

pub(super) const ROWS: &[FunctionRow] = &[
    FunctionRow {
        name: "dot",
        parameters: &["a", "b"],
        summary: "sum of products of entries",
        lower: dot,
    },
    FunctionRow {
        name: "cross",
        parameters: &["a", "b"],
        summary: "vector product, 3 entries",
        lower: cross,
    },
    FunctionRow {
        name: "norm",
        parameters: &["a"],
        summary: "length of a vector",
        lower: norm,
    },
    FunctionRow {
        name: "skew",
        parameters: &["a"],
        summary: "matrix with skew(a)*b equal to cross(a, b)",
        lower: skew,
    },
    FunctionRow {
        name: "diag",
        parameters: &["a"],
        summary: "matrix with these numbers on its diagonal",
        lower: diagonal,
    },
    FunctionRow {
        name: "eye",
        parameters: &["n"],
        summary: "unit matrix",
        lower: identity,
    },
    FunctionRow {
        name: "zeros",
        parameters: &["n", "m?"],
        summary: "vector or matrix of zeros",
        lower: zeros,
    },
    FunctionRow {
        name: "rot_x",
        parameters: &["angle"],
        summary: "from old axes to axes turned about x",
        lower: |c| rotation(c, 0),
    },
    FunctionRow {
        name: "rot_y",
        parameters: &["angle"],
        summary: "from old axes to axes turned about y",
        lower: |c| rotation(c, 1),
    },
    FunctionRow {
        name: "rot_z",
        parameters: &["angle"],
        summary: "from old axes to axes turned about z",
        lower: |c| rotation(c, 2),
    },
];

/// Largest size of a matrix made from a number: 10⁶ entries are beyond any model and still
/// fit into memory.
const LARGEST_SIZE: f64 = 1000.0;

/// Σ aᵢbᵢ; products whose dimensions are known must agree.
fn dot(call: &mut Call) -> Result<Value, Refusal> {
    let (a, b) = (call.vector(0)?, call.vector(1)?);
    if a.len() != b.len() {
        return Err(call.wrong_shape(1, &format!("a vector of {}, as `a` is", a.len())));
    }
    let products: Vec<Dimensioned> = a
        .iter()
        .zip(&b)
        .map(|(a, b)| product(call, *a, *b))
        .collect();
    let sum = sum(call, &products)?;
    give(sum.expr, sum.dimension)
}

fn product(call: &mut Call, a: Dimensioned, b: Dimensioned) -> Dimensioned {
    Dimensioned {
        expr: call.pool().mul(a.expr, b.expr),
        dimension: times(a.dimension, b.dimension),
    }
}

fn sum(call: &mut Call, terms: &[Dimensioned]) -> Result<Dimensioned, Refusal> {
    let mut total = Dimensioned {
        expr: call.pool().number(0.0),
        dimension: None,
    };
    for term in terms {
        total.dimension = merge(call, total.dimension, term.dimension)?;
        total.expr = call.pool().add(total.expr, term.expr);
    }
    Ok(total)
}

fn merge(
    call: &Call,
    a: Option<Dimension>,
    b: Option<Dimension>,
) -> Result<Option<Dimension>, Refusal> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Err(Box::new(
            Diagnostic::error(
                code::ARGUMENT_UNIT,
                format!("`{}` adds quantities of different units", call.name),
            )
            .primary(
                call.context.call,
                format!("{} and {}", a.describe(), b.describe()),
            ),
        )),
        (a, b) => Ok(a.or(b)),
    }
}

fn three(call: &Call, slot: usize) -> Result<[Dimensioned; 3], Refusal> {
    let entries = call.vector(slot)?;
    entries
        .try_into()
        .map_err(|_| call.wrong_shape(slot, "a vector of 3"))
}

fn cross(call: &mut Call) -> Result<Value, Refusal> {
    let (a, b) = (three(call, 0)?, three(call, 1)?);
    let mut entries = Vec::with_capacity(3);
    for (i, j) in [(1, 2), (2, 0), (0, 1)] {
        let (left, right) = (product(call, a[i], b[j]), product(call, a[j], b[i]));
        let dimension = merge(call, left.dimension, right.dimension)?;
        let expr = call.pool().sub(left.expr, right.expr);
        entries.push(Dimensioned { expr, dimension });
    }
    Ok(Value::Array(Array {
        shape: Shape::Vector(3),
        entries,
    }))
}

fn norm(call: &mut Call) -> Result<Value, Refusal> {
    let a = call.vector(0)?;
    let squares: Vec<Dimensioned> = a.iter().map(|a| product(call, *a, *a)).collect();
    let square = sum(call, &squares)?;
    let expr = call.pool().call1(Function1::Sqrt, square.expr);
    give(expr, square.dimension.map(Dimension::sqrt))
}

fn skew(call: &mut Call) -> Result<Value, Refusal> {
    let [x, y, z] = three(call, 0)?;
    let zero = Dimensioned {
        expr: call.pool().number(0.0),
        dimension: x.dimension,
    };
    let mut minus = |q: Dimensioned| Dimensioned {
        expr: call.pool().neg(q.expr),
        ..q
    };
    let entries = vec![zero, minus(z), y, z, zero, minus(x), minus(y), x, zero];
    Ok(Value::Array(Array {
        shape: Shape::Matrix(3, 3),
        entries,
    }))
}

fn diagonal(call: &mut Call) -> Result<Value, Refusal> {
    let a = call.vector(0)?;
    let n = a.len();
    if n as f64 > LARGEST_SIZE {
        return Err(call.wrong_shape(0, &format!("a vector of up to {LARGEST_SIZE}")));
    }
    let zero = call.pool().number(0.0);
    let mut entries = Vec::with_capacity(n * n);
    for at in 0..n * n {
        let q = a[at / n];
        entries.push(if at / n == at % n {
            q
        } else {
            Dimensioned { expr: zero, ..q }
        });
    }
    Ok(Value::Array(Array {
        shape: Shape::Matrix(n, n),
        entries,
    }))
}

/// A size: a whole number that is known now.
fn size(call: &Call, slot: usize) -> Result<usize, Refusal> {
    let quantity = call.plain(slot)?;
    match call.context.pool.as_number(quantity.expr) {
        Some(n) if n.fract() == 0.0 && (1.0..=LARGEST_SIZE).contains(&n) => Ok(n as usize),
        Some(n) => Err(call.refuse(
            code::ARGUMENT_VALUE,
            format!(
                "`{}` needs a whole number from 1 to {LARGEST_SIZE}",
                call.name
            ),
            slot,
            format!("this is {n}"),
        )),
        None => Err(call.refuse(
            code::ARGUMENT_VALUE,
            format!("the size of `{}` must not change during a run", call.name),
            slot,
            "this is not a number yet".to_owned(),
        )),
    }
}

fn identity(call: &mut Call) -> Result<Value, Refusal> {
    let n = size(call, 0)?;
    let (zero, one) = (call.pool().number(0.0), call.pool().number(1.0));
    let entry = |at: usize| if at / n == at % n { one } else { zero };
    Ok(matrix(n, n, (0..n * n).map(entry)))
}

fn zeros(call: &mut Call) -> Result<Value, Refusal> {
    let n = size(call, 0)?;
    let zero = call.pool().number(0.0);
    if call.is_given(1) {
        let m = size(call, 1)?;
        return Ok(matrix(n, m, std::iter::repeat_n(zero, n * m)));
    }
    let entries = vec![
        Dimensioned {
            expr: zero,
            dimension: None
        };
        n
    ];
    Ok(Value::Array(Array {
        shape: Shape::Vector(n),
        entries,
    }))
}

fn matrix(n: usize, m: usize, entries: impl Iterator<Item = ExprId>) -> Value {
    let entries = entries
        .map(|expr| Dimensioned {
            expr,
            dimension: None,
        })
        .collect();
    Value::Array(Array {
        shape: Shape::Matrix(n, m),
        entries,
    })
}

/// Components in axes turned by an angle about one of them: about x
/// `[1, 0, 0; 0, c, s; 0, -s, c]`, and so on in cyclic order.
fn rotation(call: &mut Call, axis: usize) -> Result<Value, Refusal> {
    let angle = call.plain(0)?;
    let pool = call.pool();
    let (cos, sin) = (
        pool.call1(Function1::Cos, angle.expr),
        pool.call1(Function1::Sin, angle.expr),
    );
    let (zero, one, minus_sin) = (pool.number(0.0), pool.number(1.0), pool.neg(sin));
    let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
    let entry = |row: usize, column: usize| match (row, column) {
        (r, c) if r == axis && c == axis => one,
        (r, c) if r == axis || c == axis => zero,
        (r, c) if r == c => cos,
        (r, c) if r == next && c == last => sin,
        _ => minus_sin,
    };
    let entries = (0..9).map(|at| entry(at / 3, at % 3));
    let dimension = angle.dimension.map(|_| Dimension::ONE);
    let entries = entries
        .map(|expr| Dimensioned { expr, dimension })
        .collect();
    Ok(Value::Array(Array {
        shape: Shape::Matrix(3, 3),
        entries,
    }))
}
