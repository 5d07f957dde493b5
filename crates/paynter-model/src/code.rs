//! The codes of all messages of this crate, with what each means.
//!
//! In:  nothing.
//! Out: constants for the places that report, and [`TABLE`] for `paynter explain` and the book.
//!
//! **Invariant:** every constant has a row in [`TABLE`]; every row has a fixture in
//! `tests/diagnostics` whose file name begins with the code.

/// One row: code, title, explanation in a sentence or two.
pub type Row = (&'static str, &'static str, &'static str);

// E03xx: units and domains.

/// A name in brackets is no unit.
pub const UNKNOWN_UNIT: &str = "E0301";
/// `degC`, `degF` or `dB` inside a product.
pub const UNIT_NOT_ALONE: &str = "E0302";
/// A power that no quantity has.
pub const UNIT_EXPONENT: &str = "E0303";
/// A port or bond names a domain that does not exist.
pub const UNKNOWN_DOMAIN: &str = "E0310";
/// Two domains of one name.
pub const DUPLICATE_DOMAIN: &str = "E0311";
/// A `domain` item with a wrong, missing or repeated variable.
pub const DOMAIN_ROLE: &str = "E0312";
/// Effort times flow of a domain is no power.
pub const DOMAIN_NO_POWER: &str = "E0313";

// E033x: built-in functions.

/// A call of a function that does not exist.
pub const UNKNOWN_FUNCTION: &str = "E0330";
/// Too many, too few or unknown arguments of a built-in function.
pub const WRONG_ARGUMENTS: &str = "E0331";
/// A vector where a number is needed, or a matrix of the wrong size.
pub const ARGUMENT_SHAPE: &str = "E0332";
/// An argument of a built-in function with the wrong unit.
pub const ARGUMENT_UNIT: &str = "E0333";
/// A constant argument for which the function has no value.
pub const ARGUMENT_VALUE: &str = "E0334";
/// Points that make no table.
pub const TABLE_DATA: &str = "E0335";
/// A table file that cannot be read.
pub const TABLE_FILE: &str = "E0336";
/// A transfer function with more zeros than poles.
pub const IMPROPER_TRANSFER: &str = "E0337";

/// Every code, in the order in which it was added.
pub const TABLE: &[Row] = &[
    (
        UNKNOWN_UNIT,
        "unknown unit",
        "The name in brackets is not in the table of units. Prefixes are allowed on SI units only; a product needs `*`, as in `N*m`.",
    ),
    (
        UNIT_NOT_ALONE,
        "unit that cannot be multiplied",
        "`degC` and `degF` have a zero point of their own and `dB` is a level, so products and powers of them mean nothing. Temperature differences are in `K`.",
    ),
    (
        UNIT_EXPONENT,
        "exponent of a unit out of range",
        "No physical quantity has such a power of a unit.",
    ),
    (
        UNKNOWN_DOMAIN,
        "unknown domain",
        "The built-in domains are electrical, translational, rotational, hydraulic, thermal, chemical and heat; others are defined by `domain`.",
    ),
    (
        DUPLICATE_DOMAIN,
        "domain defined twice",
        "The name of a domain belongs to one definition; built-in names are taken.",
    ),
    (
        DOMAIN_ROLE,
        "variables of a domain",
        "A domain has an effort and a flow, each with a unit, and may name its momentum and displacement, which are their time integrals.",
    ),
    (
        DOMAIN_NO_POWER,
        "effort times flow is no power",
        "The product of effort and flow must be in W; in a domain marked `pseudo` the flow alone is.",
    ),
    (
        UNKNOWN_FUNCTION,
        "unknown function",
        "No built-in function and no `fn` of the model has this name.",
    ),
    (
        WRONG_ARGUMENTS,
        "wrong arguments of a function",
        "Arguments are given in order, or by name; each once, and none that the function does not have.",
    ),
    (
        ARGUMENT_SHAPE,
        "wrong shape of an argument",
        "The function needs a number, a vector or a matrix of another size.",
    ),
    (
        ARGUMENT_UNIT,
        "wrong unit of an argument",
        "Angles and exponents are plain numbers, and quantities that are compared or added must be of one kind.",
    ),
    (
        ARGUMENT_VALUE,
        "argument without a result",
        "The function has no value for this constant, such as the square root of a negative number.",
    ),
    (
        TABLE_DATA,
        "points that make no table",
        "A table needs finite numbers, as many y as x, and x that never falls.",
    ),
    (
        TABLE_FILE,
        "table file cannot be read",
        "The CSV file named in `table` is missing or cannot be read.",
    ),
    (
        IMPROPER_TRANSFER,
        "improper transfer function",
        "A numerator of higher degree than the denominator differentiates its input, which no system does.",
    ),
];
