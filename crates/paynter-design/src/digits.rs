//! Numbers with as many digits as a person wants to read.
//!
//! In:  a number, and how many digits count.
//! Out: text without zeros after the last digit that counts.

/// Writes so many digits that count, and no zeros after the last of them.
pub fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}").replace("-0", "0");
    }
    let scientific = format!("{x:.*e}", digits - 1);
    let exponent: i32 = scientific
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..7).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        return trim(&format!("{x:.decimals$}"));
    }
    match scientific.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", trim(mantissa)),
        None => scientific,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_count_are_shown_and_no_others() {
        let cases = [
            (4.97, "4.97"),
            (0.6875, "0.6875"),
            (-0.670328902904, "-0.670328903"),
            (5.0, "5"),
            (-0.0, "0"),
            (1234567.8, "1234567.8"),
            (12345678.9, "1.23456789e7"),
            (2.5e-4, "0.00025"),
            (1e-8, "1e-8"),
            (9.999999999999e-5, "0.0001"),
            (f64::NAN, "NaN"),
        ];
        for (x, text) in cases {
            assert_eq!(significant(x, 9), text);
        }
    }
}
