//! Functions as other languages call them, and what to write here.

/// Each name with the words of a help line.
const HABITS: &[(&str, &str)] = &[
    ("ln", "the natural logarithm is `log(x)`"),
    ("lg", "the decimal logarithm is `log10(x)`"),
    ("pow", "powers are written `a^b`"),
    ("power", "powers are written `a^b`"),
    ("square", "powers are written `x^2`"),
    (
        "sqr",
        "powers are written `x^2`; the square root is `sqrt(x)`",
    ),
    ("cbrt", "write `x^(1/3)`"),
    ("arcsin", "write `asin(x)`"),
    ("arccos", "write `acos(x)`"),
    ("arctan", "write `atan(x)`"),
    ("arctan2", "write `atan2(y, x)`"),
    ("sgn", "write `sign(x)`"),
    ("signum", "write `sign(x)`"),
    ("fabs", "write `abs(x)`"),
    ("sat", "write `clamp(x, low, high)`"),
    ("saturate", "write `clamp(x, low, high)`"),
    ("saturation", "write `clamp(x, low, high)`"),
    ("limit", "write `clamp(x, low, high)`"),
    (
        "heaviside",
        "write `step(time, 1)`, or `if x > 0 then 1 else 0`",
    ),
    ("unitstep", "write `step(time, 1)`"),
    (
        "trunc",
        "write `floor(x)`, or `ceil(x)` for negative numbers",
    ),
    (
        "int",
        "write `integral(x)` for ∫ x dt, `floor(x)` for the whole part",
    ),
    ("integrate", "write `integral(x)`"),
    ("derivative", "write `der(x)`"),
    ("deriv", "write `der(x)`"),
    ("ddt", "write `der(x)`"),
    ("fmod", "write `mod(a, b)`, which has the sign of b"),
    ("rem", "write `mod(a, b)`, which has the sign of b"),
    ("interp", "write `table(x, y, u)`"),
    ("interp1", "write `table(x, y, u)`"),
    ("lookup", "write `table(x, y, u)`"),
    ("radians", "angles have units: write `30 [deg]`"),
    ("deg2rad", "angles have units: write `30 [deg]`"),
    ("sind", "angles have units: write `sin(30 [deg])`"),
    ("cosd", "angles have units: write `cos(30 [deg])`"),
    (
        "delay",
        "continuous signals cannot be delayed exactly; use `tf` with a Padé approximation, or `pre` inside `sample`",
    ),
    ("rand", RANDOM),
    ("random", RANDOM),
    ("noise", RANDOM),
    ("randn", RANDOM),
];

const RANDOM: &str = "a run has no random signals; draw parameters with `sweep p in random(…)`, or read noise from a file with `table`";

/// What to write instead of a function of another language.
pub fn instead(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    HABITS.iter().find(|row| row.0 == name).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_are_no_functions_and_tell_of_functions_that_exist() {
        for (habit, help) in HABITS {
            assert!(!super::super::is_built_in(habit), "{habit} exists");
            for told in help.split('`').skip(1).step_by(2) {
                let Some((name, _)) = told.split_once('(') else {
                    continue;
                };
                let is_special = ["integral", "der", "x^", "sweep p in random"].contains(&name);
                assert!(is_special || super::super::is_built_in(name), "{told}");
            }
        }
    }
}
