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
];
