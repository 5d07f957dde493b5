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
];
