//! Bounds of the built-in functions and their first two derivatives over a range.
//!
//! In:  a [`Jet`] of each argument.
//! Out: the [`Jet`] of the result. At a corner (`abs`, `min`, a table) the slope is that of either side and nothing is
//!      known of the curvature; at a jump (`floor`, `sign`) nothing is known of the slope either.

use paynter_symbolic::expr::{External, Function1, Function2};

use super::interval::{Interval, Jet};

const ONE: Interval = Interval::point(1.0);

/// f(a).
pub(crate) fn call1(f: Function1, a: Jet) -> Jet {
    let x = a.value;
    match f {
        Function1::Sin => a.chain([x.sin(), x.cos(), x.sin().neg()]),
        Function1::Cos => a.chain([x.cos(), x.sin().neg(), x.cos().neg()]),
        Function1::Tan => tan(a),
        Function1::Asin => arc(a, x.meet_unit().rising(f64::asin), 1.0),
        Function1::Acos => arc(a, x.meet_unit().falling(f64::acos), -1.0),
        Function1::Atan => {
            // f′ = 1/(1 + x²), f″ = −2x f′²
            let slope = ONE.div(ONE.add(x.square()));
            let curve = x.mul(slope.square()).scale(-2.0);
            a.chain([x.rising(f64::atan), slope, curve])
        }
        Function1::Sinh => a.chain([x.rising(f64::sinh), cosh(x), x.rising(f64::sinh)]),
        Function1::Cosh => a.chain([cosh(x), x.rising(f64::sinh), cosh(x)]),
        Function1::Tanh => {
            // f′ = 1 − f², f″ = −2 f f′
            let value = x.rising(f64::tanh);
            let slope = ONE.sub(value.square()).not_negative();
            a.chain([value, slope, value.mul(slope).scale(-2.0)])
        }
        Function1::Exp => {
            let value = x.rising(f64::exp).not_negative();
            a.chain([value, value, value])
        }
        Function1::Log => logarithm(a, x.rising(f64::ln), 1.0),
        Function1::Log10 => logarithm(a, x.rising(f64::log10), std::f64::consts::LOG10_E),
        Function1::Sqrt => square_root(a),
        Function1::Abs => absolute(a),
        Function1::Sign | Function1::Floor | Function1::Ceil | Function1::Round => step(f, a),
    }
}

/// f(a, b).
pub(crate) fn call2(f: Function2, a: Jet, b: Jet) -> Jet {
    match f {
        Function2::Min => smaller(a, b),
        Function2::Max => smaller(a.neg(), b.neg()).neg(),
        Function2::Mod => {
            let turns = step(Function1::Floor, a.div(b));
            a.sub(b.mul(turns))
        }
        Function2::Hypot => {
            let square =
                |j: Jet| j.chain([j.value.square(), j.value.scale(2.0), Interval::point(2.0)]);
            square_root(square(a).add(square(b)))
        }
        Function2::Atan2 => atan2(a, b),
    }
}

/// aᵇ.
pub(crate) fn power(a: Jet, b: Jet) -> Jet {
    let exponent = b.value.lo;
    let is_fixed = b.value.width() == 0.0 && b.slope.is_zero();
    if is_fixed && exponent.fract() == 0.0 && exponent.abs() <= 1000.0 {
        let n = exponent as i32;
        // n xⁿ⁻¹ and n (n − 1) xⁿ⁻²; where the factor is zero, whatever the power is.
        let term = |factor: f64, n: i32| match factor == 0.0 {
            true => Interval::ZERO,
            false => a.value.powi(n).scale(factor),
        };
        let n_ = f64::from(n);
        return a.chain([
            a.value.powi(n),
            term(n_, n - 1),
            term(n_ * (n_ - 1.0), n - 2),
        ]);
    }
    if a.value.is_positive() {
        return call1(Function1::Exp, b.mul(call1(Function1::Log, a)));
    }
    if is_fixed && exponent > 0.0 && a.value.lo >= 0.0 {
        return Jet::jumping(a.value.rising(|x| x.powf(exponent)));
    }
    Jet::ENTIRE
}

/// A function from outside the expressions, of one argument.
pub(crate) fn external(function: &dyn External, a: Jet) -> Jet {
    let Some([value, slope]) = function.range(a.value.lo, a.value.hi) else {
        return Jet::ENTIRE;
    };
    let value = Interval::new(value.0, value.1);
    let slope = Interval::new(slope.0, slope.1);
    let is_straight = slope.width() == 0.0;
    let curve = if is_straight {
        Interval::ZERO
    } else {
        Interval::ENTIRE
    };
    a.chain([value, slope, curve])
}

impl Interval {
    /// The part from −1 to 1.
    fn meet_unit(self) -> Self {
        Interval::new(self.lo.clamp(-1.0, 1.0), self.hi.clamp(-1.0, 1.0))
    }
}

fn cosh(x: Interval) -> Interval {
    let size = x.abs();
    size.rising(f64::cosh)
}

fn tan(a: Jet) -> Jet {
    let x = a.value;
    if x.cos().contains(0.0) {
        return Jet::ENTIRE;
    }
    // f′ = 1 + f², f″ = 2 f f′
    let value = x.rising(f64::tan);
    let slope = ONE.add(value.square());
    a.chain([value, slope, value.mul(slope).scale(2.0)])
}

/// asin (`sign` = 1) and acos: f′ = ±1/√(1 − x²), f″ = ±x/(1 − x²)^(3/2).
fn arc(a: Jet, value: Interval, sign: f64) -> Jet {
    let rest = ONE.sub(a.value.square());
    if !rest.is_positive() {
        return Jet::jumping(value);
    }
    let root = rest.rising(f64::sqrt);
    let slope = Interval::point(sign).div(root);
    let curve = a.value.scale(sign).div(rest.mul(root));
    a.chain([value, slope, curve])
}

fn logarithm(a: Jet, value: Interval, factor: f64) -> Jet {
    if !a.value.is_positive() {
        return Jet::ENTIRE;
    }
    let slope = Interval::point(factor).div(a.value);
    let curve = Interval::point(-factor).div(a.value.square());
    a.chain([value, slope, curve])
}

fn square_root(a: Jet) -> Jet {
    let x = a.value;
    if x.hi < 0.0 {
        return Jet::ENTIRE;
    }
    let value = Interval::new(x.lo.max(0.0), x.hi).rising(f64::sqrt);
    if !x.is_positive() {
        return Jet::jumping(Interval::new(value.lo.max(0.0), value.hi));
    }
    // f′ = 1/(2f), f″ = −1/(4 x f)
    let slope = Interval::point(0.5).div(value);
    let curve = Interval::point(-0.25).div(x.mul(value));
    a.chain([value, slope, curve])
}

fn absolute(a: Jet) -> Jet {
    if a.value.lo >= 0.0 {
        a
    } else if a.value.hi <= 0.0 {
        a.neg()
    } else {
        Jet {
            value: a.value.abs(),
            ..a.corner(a.neg())
        }
    }
}

fn smaller(a: Jet, b: Jet) -> Jet {
    if a.value.hi <= b.value.lo {
        a
    } else if b.value.hi <= a.value.lo {
        b
    } else {
        let value = Interval::new(a.value.lo.min(b.value.lo), a.value.hi.min(b.value.hi));
        Jet {
            value,
            ..a.corner(b)
        }
    }
}

/// What keeps its value between jumps.
fn step(f: Function1, a: Jet) -> Jet {
    let (lo, hi) = (f.eval(a.value.lo), f.eval(a.value.hi));
    if lo == hi {
        Jet::constant(Interval::point(lo))
    } else if lo.is_nan() || hi.is_nan() {
        Jet::ENTIRE
    } else {
        Jet::jumping(Interval::new(lo, hi))
    }
}

/// The angle of (b, a), where it does not jump.
fn atan2(a: Jet, b: Jet) -> Jet {
    let half_turn = Interval::point(std::f64::consts::FRAC_PI_2);
    if b.value.is_positive() {
        call1(Function1::Atan, a.div(b))
    } else if a.value.is_positive() {
        Jet::constant(half_turn).sub(call1(Function1::Atan, b.div(a)))
    } else if a.value.is_negative() {
        Jet::constant(half_turn.neg()).sub(call1(Function1::Atan, b.div(a)))
    } else {
        let turn = std::f64::consts::PI.next_up();
        Jet::jumping(Interval::new(-turn, turn))
    }
}
