//! Expressions of C, with as few parentheses as keep the order of operations.
//!
//! In:  operations of the program and texts of their operands.
//! Out: a [`Text`] that computes the same roundings as the interpreter.

use paynter::exec::program::Op;
use paynter::symbolic::expr::{Comparison, Function1, Function2};

/// How tightly a text binds; larger binds tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bind {
    Choice,
    Or,
    And,
    Equality,
    Comparison,
    Sum,
    Product,
    Sign,
    Whole,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub text: String,
    bind: Bind,
    /// The same as a condition, for truth values.
    condition: Option<(String, Bind)>,
}

impl Text {
    /// A name or call: binds tightest.
    pub(super) fn whole(text: impl Into<String>) -> Self {
        Text {
            text: text.into(),
            bind: Bind::Whole,
            condition: None,
        }
    }

    fn new(text: String, bind: Bind) -> Self {
        Text {
            text,
            bind,
            condition: None,
        }
    }

    /// A truth value, 1 or 0.
    fn truth(condition: String, bind: Bind, numbers: &Numbers) -> Self {
        let (one, zero) = (numbers.write(1.0), numbers.write(0.0));
        Text {
            text: format!("{} ? {one} : {zero}", above(&condition, bind, Bind::Or)),
            bind: Bind::Choice,
            condition: Some((condition, bind)),
        }
    }

    /// In parentheses unless it binds tighter than `least`.
    fn within(&self, least: Bind) -> String {
        above(&self.text, self.bind, least)
    }

    /// As a factor of a product.
    pub(super) fn within_product(&self) -> String {
        self.within(Bind::Whole)
    }

    fn as_condition(&self, least: Bind, numbers: &Numbers) -> String {
        match &self.condition {
            Some((text, bind)) => above(text, *bind, least),
            None => {
                let text = format!("{} != {}", self.within(Bind::Equality), numbers.write(0.0));
                above(&text, Bind::Equality, least)
            }
        }
    }
}

fn above(text: &str, bind: Bind, least: Bind) -> String {
    if bind >= least {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub is_float: bool,
}

impl Numbers {
    /// A number that reads back to the same bits (of its type).
    pub(super) fn write(&self, x: f64) -> String {
        let sign = if x.is_sign_negative() { "-" } else { "" };
        let is_huge = self.is_float && x.abs() > f64::from(f32::MAX);
        if x.is_nan() {
            return "R_NAN".to_owned();
        }
        if x.is_infinite() || is_huge {
            return format!("{sign}R_INFINITY");
        }
        if self.is_float {
            // Below the smallest normal number the compiler would warn.
            let x = if x.abs() < f64::from(f32::MIN_POSITIVE) {
                0.0
            } else {
                x
            };
            return format!("{:?}F", x as f32);
        }
        format!("{x:?}")
    }

    pub(super) fn text(&self, x: f64) -> Text {
        let text = self.write(x);
        match text.starts_with('-') {
            true => Text::new(text, Bind::Sum),
            false => Text::whole(text),
        }
    }
}

/// Writes an operation.
pub(super) fn operation(op: Op, args: &[Text], numbers: &Numbers) -> Text {
    let infix = |sign: &str, bind: Bind, tighter: Bind| {
        let (left, right) = (args[0].within(bind), args[1].within(tighter));
        Text::new(format!("{left} {sign} {right}"), bind)
    };
    let condition = |k: usize, least: Bind| args[k].as_condition(least, numbers);

    match op {
        Op::Copy => args[0].clone(),
        Op::Neg => Text::new(format!("-{}", args[0].within(Bind::Whole)), Bind::Sign),
        Op::Add => infix("+", Bind::Sum, Bind::Product),
        Op::Sub => infix("-", Bind::Sum, Bind::Product),
        Op::Mul => infix("*", Bind::Product, Bind::Sign),
        Op::Div => infix("/", Bind::Product, Bind::Sign),
        Op::PowerWhole(2) => call("square", args),
        Op::PowerWhole(n) => Text::whole(format!("whole_power({}, {n})", args[0].text)),
        Op::Power => call("power", args),
        Op::Call1(f) => call(function1(f), args),
        Op::Call2(f) => call(function2(f), args),
        Op::Compare(comparison) => {
            let (sign, bind, tighter) = match comparison {
                Comparison::Less => ("<", Bind::Comparison, Bind::Sum),
                Comparison::LessEqual => ("<=", Bind::Comparison, Bind::Sum),
                Comparison::Greater => (">", Bind::Comparison, Bind::Sum),
                Comparison::GreaterEqual => (">=", Bind::Comparison, Bind::Sum),
                Comparison::Equal => ("==", Bind::Equality, Bind::Comparison),
                Comparison::NotEqual => ("!=", Bind::Equality, Bind::Comparison),
            };
            let (left, right) = (args[0].within(tighter), args[1].within(tighter));
            Text::truth(format!("{left} {sign} {right}"), bind, numbers)
        }
        Op::Not => Text::truth(
            format!("!{}", condition(0, Bind::Whole)),
            Bind::Sign,
            numbers,
        ),
        Op::And => {
            let (left, right) = (condition(0, Bind::And), condition(1, Bind::And));
            Text::truth(format!("{left} && {right}"), Bind::And, numbers)
        }
        Op::Or => {
            // Compilers warn of `a && b || c` without parentheses.
            let (left, right) = (condition(0, Bind::Equality), condition(1, Bind::Equality));
            Text::truth(format!("{left} || {right}"), Bind::Or, numbers)
        }
        Op::Select => {
            let (b, c) = (args[1].within(Bind::Or), args[2].within(Bind::Or));
            Text::new(
                format!("{} ? {b} : {c}", condition(0, Bind::Or)),
                Bind::Choice,
            )
        }
    }
}

fn call(name: &str, args: &[Text]) -> Text {
    let args: Vec<&str> = args.iter().map(|a| a.text.as_str()).collect();
    Text::whole(format!("{name}({})", args.join(", ")))
}

fn function1(f: Function1) -> &'static str {
    match f {
        Function1::Sin => "sine",
        Function1::Cos => "cosine",
        Function1::Tan => "R_TAN",
        Function1::Asin => "R_ASIN",
        Function1::Acos => "R_ACOS",
        Function1::Atan => "R_ATAN",
        Function1::Sinh => "R_SINH",
        Function1::Cosh => "R_COSH",
        Function1::Tanh => "R_TANH",
        Function1::Exp => "R_EXP",
        Function1::Log => "R_LOG",
        Function1::Log10 => "R_LOG10",
        Function1::Sqrt => "R_SQRT",
        Function1::Abs => "absolute",
        Function1::Sign => "signum",
        Function1::Floor => "R_FLOOR",
        Function1::Ceil => "R_CEIL",
        Function1::Round => "R_ROUND",
    }
}

fn function2(f: Function2) -> &'static str {
    match f {
        Function2::Atan2 => "R_ATAN2",
        Function2::Min => "smaller",
        Function2::Max => "larger",
        Function2::Mod => "modulo",
        Function2::Hypot => "R_HYPOT",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: Numbers = Numbers { is_float: false };

    fn op(op: Op, args: &[Text]) -> Text {
        operation(op, args, &NUMBERS)
    }

    #[test]
    fn parentheses_stand_only_where_the_order_needs_them() {
        let (a, b, c) = (Text::whole("a"), Text::whole("b"), Text::whole("c"));
        let sum = op(Op::Add, &[a.clone(), b.clone()]);
        assert_eq!(op(Op::Mul, &[sum.clone(), c.clone()]).text, "(a + b) * c");
        assert_eq!(op(Op::Sub, &[sum.clone(), c.clone()]).text, "a + b - c");
        assert_eq!(op(Op::Sub, &[c.clone(), sum.clone()]).text, "c - (a + b)");
        let quotient = op(Op::Div, &[b.clone(), c.clone()]);
        assert_eq!(
            op(Op::Div, &[a.clone(), quotient.clone()]).text,
            "a / (b / c)"
        );
        assert_eq!(op(Op::Neg, std::slice::from_ref(&sum)).text, "-(a + b)");
        let less = op(Op::Compare(Comparison::Less), &[sum.clone(), c.clone()]);
        assert_eq!(
            op(Op::Select, &[less.clone(), a.clone(), b.clone()]).text,
            "a + b < c ? a : b"
        );
        assert_eq!(
            op(Op::Add, &[less.clone(), a.clone()]).text,
            "(a + b < c ? 1.0 : 0.0) + a"
        );
        let both = op(
            Op::And,
            &[less.clone(), op(Op::Not, std::slice::from_ref(&less))],
        );
        assert_eq!(
            both.condition.expect("it is a truth").0,
            "a + b < c && !(a + b < c)"
        );
        assert_eq!(op(Op::Mul, &[NUMBERS.text(-2.0), a]).text, "(-2.0) * a");
    }

    #[test]
    fn numbers_read_back() {
        for x in [0.1, 1e-300, 5e-324, 1e22, 123456789.0, f64::MAX] {
            assert_eq!(NUMBERS.write(x).parse(), Ok(x));
        }
        assert_eq!(NUMBERS.write(f64::NEG_INFINITY), "-R_INFINITY");
        let floats = Numbers { is_float: true };
        assert_eq!(floats.write(1e-300), "0.0F");
        assert_eq!(floats.write(0.1), "0.1F");
    }
}
