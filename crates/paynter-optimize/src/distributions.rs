//! Distributions: from evenly spread numbers to drawn ones, and the quantiles that confidence needs.
//!
//! In:  a number between 0 and 1.
//! Out: the quantile of a law there; of Student's t for a number of degrees of freedom.

/// The normal distribution's quantile (Acklam's rational approximation, then one step of Halley's method: full precision).
pub fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return match p {
            _ if p == 0.0 => f64::NEG_INFINITY,
            _ if p == 1.0 => f64::INFINITY,
            _ => f64::NAN,
        };
    }

    // In the upper half the complement is the exact number.
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }

    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];

    const B: [f64; 5] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
    ];

    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];

    const D: [f64; 4] = [
        7.784695709041462e-3,
        3.224671290700398e-1,
        2.445134137142996,
        3.754408661907416,
    ];

    let polynomial = |c: &[f64], x: f64| c.iter().fold(0.0, |s, c| s * x + c);
    let x = if p < 0.02425 {
        let q = (-2.0 * p.ln()).sqrt();
        polynomial(&C, q) / (polynomial(&D, q) * q + 1.0)
    } else {
        let q = p - 0.5;
        let r = q * q;
        polynomial(&A, r) * q / (polynomial(&B, r) * r + 1.0)
    };

    let error = normal_below(x) - p;
    let u = error * (2.0 * std::f64::consts::PI).sqrt() * (0.5 * x * x).exp();
    x - u / (1.0 + 0.5 * x * u)
}

/// The part of the normal distribution below x.
pub fn normal_below(x: f64) -> f64 {
    // Q(½, x²/2) of the incomplete gamma function is the part outside ±x.
    let outside = 1.0 - gamma_below(0.5, 0.5 * x * x);
    if x < 0.0 {
        0.5 * upper(0.5, 0.5 * x * x)
    } else {
        1.0 - 0.5 * outside
    }
}

fn upper(a: f64, x: f64) -> f64 {
    if x < a + 1.0 {
        1.0 - series(a, x)
    } else {
        fraction(a, x)
    }
}

/// The regularised incomplete gamma function P(a, x).
pub fn gamma_below(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if x < a + 1.0 {
        series(a, x)
    } else {
        1.0 - fraction(a, x)
    }
}

fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
    for _ in 0..1000 {
        n += 1.0;
        term *= x / n;
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum * (a * x.ln() - x - log_gamma(a)).exp()
}

/// Lentz's method for the continued fraction of Q(a, x).
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut h = d;
    for i in 1..1000 {
        let an = -f64::from(i) * (f64::from(i) - a);
        b += 2.0;
        d = an * d + b;
        d = 1.0 / if d.abs() < TINY { TINY } else { d };
        c = b + an / c;
        c = if c.abs() < TINY { TINY } else { c };
        let factor = d * c;
        h *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    h * (a * x.ln() - x - log_gamma(a)).exp()
}

/// ln Γ(x) for x > 0 (Lanczos' approximation, g = 7).
pub fn log_gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const C: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.5203681218851,
        -1259.1392167224028,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507343278686905,
        -0.13857109526572012,
        9.984_369_578_019_572e-6,
        1.5056327351493116e-7,
    ];
    if x < 0.5 {
        // Γ(x) Γ(1 − x) = π / sin πx
        return (std::f64::consts::PI / (std::f64::consts::PI * x).sin()).ln() - log_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum = (1..9).fold(C[0], |s, i| s + C[i] / (x + i as f64));
    let t = x + G + 0.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// The part of Student's distribution with `n` degrees of freedom below t.
pub fn student_below(t: f64, n: f64) -> f64 {
    let x = n / (n + t * t);
    let tail = 0.5 * beta_below(x, 0.5 * n, 0.5);
    if t < 0.0 { tail } else { 1.0 - tail }
}

/// The quantile of Student's distribution with `n` degrees of freedom.
pub fn student_quantile(p: f64, n: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || n <= 0.0 {
        return f64::NAN;
    }
    if p < 0.5 {
        return -student_quantile(1.0 - p, n);
    }
    if n > 1e7 {
        return normal_quantile(p);
    }
    // Bisection between bounds that grow until they hold the quantile: it falls like a power in the tail.
    let (mut low, mut high) = (0.0, 1.0);
    while student_below(high, n) < p && high < 1e300 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        if student_below(middle, n) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The regularised incomplete beta function I_x(a, b).
pub fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front =
        (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast on one side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let safe = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / safe(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / safe(1.0 + even * d);
        c = safe(1.0 + even / c);
        h *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / safe(1.0 + odd * d);
        c = safe(1.0 + odd / c);
        let factor = d * c;
        h *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_tables() {
        // Abramowitz & Stegun, Tables 26.1 and 26.10; more digits from mpmath.
        for (p, x) in [
            (0.975, 1.959963984540054),
            (0.5, 0.0),
            (1e-10, -6.361340902404056),
            (0.841_344_746_068_542_9, 1.0),
        ] {
            assert!(
                (normal_quantile(p) - x).abs() < 1e-12 * (1.0 + x.abs()),
                "{p}: {}",
                normal_quantile(p)
            );
        }
        for (p, n, t) in [
            (0.975, 1.0, 12.706204736174704),
            (0.975, 5.0, 2.5705818356363155),
            (0.995, 30.0, 2.7499956535672253),
            (0.025, 10.0, -2.228_138_851_986_275),
        ] {
            assert!(
                (student_quantile(p, n) - t).abs() < 1e-13 * t.abs(),
                "{p} {n}: {}",
                student_quantile(p, n)
            );
        }
    }

    #[test]
    fn distribution_and_quantile_are_inverse() {
        for k in 1..200 {
            let p = f64::from(k) / 200.0;
            assert!((normal_below(normal_quantile(p)) - p).abs() < 1e-14);
            assert!((student_below(student_quantile(p, 3.5), 3.5) - p).abs() < 1e-13);
        }
    }
}
