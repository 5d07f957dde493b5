//! Expressions as texts: put together, compared, and asked whether they are constant.
//!
//! In:  texts of the language.
//! Out: texts with as few brackets as their operators need; answers found at random points.
//!
//! Two expressions are equal if they agree at random values of everything they read. A literal with a unit and a
//! function that is not known here are read as one name each: what is found equal is equal.

use paynter::syntax::ast::{self, BinaryOp, Expr, ExprKind, UnaryOp};
use paynter::syntax::{FileId, parse as parse_file};
use std::hash::{Hash, Hasher};

/// Points at which two expressions are compared.
const N_POINTS: u64 = 6;

/// Agreement of two sums of some ten terms of size one.
const CLOSE: f64 = 1e-11;

/// An expression and the text that its spans point into.
pub struct Parsed {
    /// The text.
    pub source: String,
    /// What it means.
    pub expr: Expr,
}

impl Parsed {
    /// The text under a part of it.
    pub fn slice(&self, e: &Expr) -> &str {
        let (start, end) = (e.span.start as usize, e.span.end as usize);
        self.source.get(start..end).unwrap_or_default()
    }
}

/// Reads an expression; none if it has errors.
pub fn parse(text: &str) -> Option<Parsed> {
    let source = format!("model M {{ x = {text}\n}}");
    let parsed = parse_file(FileId(0), &source);
    if parsed.has_errors() {
        return None;
    }
    let ast::ItemKind::Model(model) = parsed.ast.items.into_iter().next()?.kind else {
        return None;
    };
    match model.body.into_iter().next()?.kind {
        ast::StmtKind::Define(define) => Some(Parsed {
            source,
            expr: define.value,
        }),
        _ => None,
    }
}

/// How tightly the outermost operator binds: 0 for `if`, 9 for a name.
fn level(text: &str) -> u8 {
    let Some(parsed) = parse(text) else { return 0 };
    // What stands in brackets is parsed to its content, but its span is within them.
    if text.trim().starts_with('(') && parsed.slice(&parsed.expr).trim() != text.trim() {
        return 9;
    }
    match &parsed.expr.kind {
        ExprKind::Binary { op, .. } => match op {
            BinaryOp::Add | BinaryOp::Sub => 4,
            BinaryOp::Mul | BinaryOp::Div => 5,
            BinaryOp::Pow => 7,
            _ => 1,
        },
        ExprKind::Unary { .. } => 4,
        ExprKind::Number { value, .. } if *value < 0.0 => 4,
        ExprKind::If { .. } => 0,
        _ => 9,
    }
}

/// The text, in brackets unless its operator binds at least so tightly.
pub fn bracketed(text: &str, least: u8) -> String {
    let text = text.trim();
    match level(text) >= least {
        true => text.to_owned(),
        false => format!("({text})"),
    }
}

/// a·b
pub fn product(a: &str, b: &str) -> String {
    match (number(a), number(b)) {
        (Some(0.0), _) => "0".to_owned(),
        (_, Some(0.0)) => "0".to_owned(),
        (Some(1.0), _) => b.trim().to_owned(),
        (_, Some(1.0)) => a.trim().to_owned(),
        (Some(-1.0), _) => negative(b),
        (_, Some(-1.0)) => negative(a),
        _ => format!("{}*{}", bracketed(a, 5), bracketed(b, 6)),
    }
}

/// a/b
pub fn quotient(a: &str, b: &str) -> String {
    match (number(a), number(b)) {
        (_, Some(1.0)) => a.trim().to_owned(),
        _ if is_equal(a, b) => "1".to_owned(),
        _ => format!("{}/{}", bracketed(a, 5), bracketed(b, 7)),
    }
}

/// a + b
pub fn sum(a: &str, b: &str) -> String {
    match (number(a), number(b)) {
        (Some(0.0), _) => b.trim().to_owned(),
        (_, Some(0.0)) => a.trim().to_owned(),
        _ => match b.trim().strip_prefix('-') {
            Some(rest) if level(rest) >= 5 => format!("{} - {rest}", bracketed(a, 4)),
            _ => format!("{} + {}", bracketed(a, 4), bracketed(b, 4)),
        },
    }
}

/// −a
pub fn negative(a: &str) -> String {
    match a.trim().strip_prefix('-') {
        Some(rest) if level(rest) >= 5 => rest.trim().to_owned(),
        _ => format!("-{}", bracketed(a, 5)),
    }
}

/// a²
pub fn square(a: &str) -> String {
    match number(a) {
        Some(1.0) => "1".to_owned(),
        _ => format!("{}^2", bracketed(a, 8)),
    }
}

/// a·b/(a + b): two in the place of one where inverses add.
pub fn harmonic(a: &str, b: &str) -> String {
    quotient(&product(a, b), &sum(a, b))
}

/// The value of a plain literal; zero with a unit is zero, too.
pub fn number(text: &str) -> Option<f64> {
    let parsed = parse(text)?;
    let literal = |e: &Expr| match &e.kind {
        ExprKind::Number { value, unit } if unit.is_none() || *value == 0.0 => Some(*value),
        _ => None,
    };
    match &parsed.expr.kind {
        ExprKind::Unary {
            op: UnaryOp::Neg,
            of,
        } => literal(of).map(|x| -x),
        _ => literal(&parsed.expr),
    }
}

/// Tells whether an expression is this number, whatever it reads.
pub fn is_number(text: &str, value: f64) -> bool {
    match number(text) {
        Some(x) => x == value,
        None => is_equal(text, &format!("{value}")),
    }
}

/// Tells whether two expressions agree, whatever they read.
pub fn is_equal(a: &str, b: &str) -> bool {
    let (Some(a), Some(b)) = (parse(a), parse(b)) else {
        return false;
    };
    let mut n_compared = 0;
    for point in 0..N_POINTS {
        let (x, y) = (value(&a, &a.expr, point), value(&b, &b.expr, point));
        let (Some(x), Some(y)) = (x, y) else {
            continue;
        };
        if !x.is_finite() || !y.is_finite() {
            continue;
        }
        if (x - y).abs() > CLOSE * x.abs().max(y.abs()).max(1.0) {
            return false;
        }
        n_compared += 1;
    }
    n_compared >= 3
}

/// A value between 0.3 and 1.7 that belongs to a text and a point.
fn leaf(text: &str, point: u64) -> f64 {
    let mut hasher = rustc_hash::FxHasher::default();
    let tight: String = text.split_whitespace().collect();
    (tight, point).hash(&mut hasher);
    let mut z = hasher.finish().wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    0.3 + 1.4 * ((z >> 11) as f64 / (1u64 << 53) as f64)
}

fn value(of: &Parsed, e: &Expr, point: u64) -> Option<f64> {
    let at = |e: &Expr| value(of, e, point);
    Some(match &e.kind {
        ExprKind::Number { value, unit: None } => *value,
        ExprKind::Number { value: 0.0, .. } => 0.0,
        ExprKind::Unary {
            op: UnaryOp::Neg,
            of,
        } => -at(of)?,
        ExprKind::Unary {
            op: UnaryOp::Plus,
            of,
        } => at(of)?,
        ExprKind::Binary { op, left, right } => {
            let (a, b) = (at(left)?, at(right)?);
            match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                BinaryOp::Pow => a.powf(b),
                _ => return None,
            }
        }
        ExprKind::Call { function, args } if args.len() == 1 && args[0].name.is_none() => {
            let x = at(&args[0].value);
            let name = function.segments.last().map_or("", |s| &s.text);
            match (name, x) {
                ("sin", Some(x)) => x.sin(),
                ("cos", Some(x)) => x.cos(),
                ("tan", Some(x)) => x.tan(),
                ("exp", Some(x)) => x.exp(),
                ("sqrt", Some(x)) => x.sqrt(),
                ("log" | "ln", Some(x)) => x.ln(),
                ("abs", Some(x)) => x.abs(),
                _ => leaf(of.slice(e), point),
            }
        }
        ExprKind::If { .. } => leaf(of.slice(e), point),
        _ => leaf(of.slice(e), point),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_stand_where_operators_need_them() {
        assert_eq!(product("a + b", "c"), "(a + b)*c");
        assert_eq!(product("a", "b/c"), "a*(b/c)");
        assert_eq!(quotient("a", "b*c"), "a/(b*c)");
        assert_eq!(quotient("2*a", "b"), "2*a/b");
        assert_eq!(square("a"), "a^2");
        assert_eq!(square("-a"), "(-a)^2");
        assert_eq!(sum("a", "-b"), "a - b");
        assert_eq!(product("1", "a + b"), "a + b");
        assert_eq!(negative("a + b"), "-(a + b)");
    }

    #[test]
    fn equality_is_found_at_random_points() {
        assert!(is_equal("2*(a + b)", "b*2 + 2*a"));
        assert!(is_equal("sin(x)^2 + cos(x)^2", "1"));
        assert!(is_equal("j.p*2 [m]", "2 [m]*j.p"));
        assert!(!is_equal("a", "b"));
        assert!(!is_equal("1 [m]", "1"));
        assert!(is_number("0 [N*m]", 0.0) && !is_number("a", 0.0) && is_number("a - a", 0.0));
    }
}
