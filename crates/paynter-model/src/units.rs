//! Units of measurement: what `[N*m/deg]` means, and which quantities may meet.
//!
//! In:  the unit behind a literal or a declared name ([`ast::Unit`]).
//! Out: a [`Unit`]: how to turn a number into SI and back, and its [`Dimension`].
//!
//! **Invariant:** inside, every number is SI. `rad` is the number 1 and `deg` is π/180,
//! so N·m/deg and N·m/rad differ by 57.3 and cannot be confused. `degC` and `degF` are
//! temperatures, never differences: they have a zero point of their own and may not stand
//! in a product. `dB` is a level: it is kept apart from plain numbers by a base of its own,
//! so that `3 [dB]` can be compared with a gain margin but can never scale a voltage.
//!
//! Gradual checking (a bare number has no known unit) is done where expressions are read;
//! here a dimension is always known.

use paynter_syntax::{Diagnostic, Span, ast};
use std::f64::consts::PI;
use std::fmt;

use crate::code;

/// A unit: its text, its dimension, and how its numbers become SI numbers.
///
/// `SI value = value · factor + offset`. The offset is zero for everything but `degC`, `degF`.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// SI value of one of it.
    pub factor: f64,
    /// SI value of its zero: 273.15 K for `degC`.
    pub offset: f64,
    /// What it measures.
    pub dimension: Dimension,
    /// As written, without brackets: `N*m/deg`.
    pub text: String,
    // factor = numerator/denominator. Kept apart because 10 [uF] = 10/10⁶ is rounded once,
    // while 10·(10⁻⁶) is rounded twice and prints as 9.999999999999999e-6.
    numerator: f64,
    denominator: f64,
}

/// A unit that cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitError {
    /// Where.
    pub span: Span,
    /// Which rule was broken.
    pub kind: UnitErrorKind,
    /// What to type instead, where that is known.
    pub suggestion: Option<String>,
}

/// Why a unit cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitErrorKind {
    /// No unit has this name.
    Unknown(String),
    /// A unit with its own zero, or a level, inside a product or power.
    NotAlone(String),
    /// An exponent so large that no quantity has it.
    Exponent(String),
}

impl UnitError {
    /// Turns the error into a message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let diagnostic = match &self.kind {
            UnitErrorKind::Unknown(name) => {
                Diagnostic::error(code::UNKNOWN_UNIT, format!("there is no unit `{name}`"))
                    .primary(self.span, "not a unit")
            }
            UnitErrorKind::NotAlone(name) => Diagnostic::error(
                code::UNIT_NOT_ALONE,
                format!("`{name}` cannot be part of a product of units"),
            )
            .primary(
                self.span,
                "has a zero point of its own, so it does not multiply",
            ),
            UnitErrorKind::Exponent(name) => Diagnostic::error(
                code::UNIT_EXPONENT,
                format!("the exponent of `{name}` is out of range"),
            )
            .primary(self.span, "no quantity has such a power"),
        };
        match &self.suggestion {
            Some(help) => diagnostic.help(help.clone()),
            None => diagnostic,
        }
    }
}

impl Unit {
    /// The plain number 1.
    pub fn one() -> Self {
        Unit {
            factor: 1.0,
            offset: 0.0,
            dimension: Dimension::ONE,
            text: "1".to_owned(),
            numerator: 1.0,
            denominator: 1.0,
        }
    }

    /// Finds out what a written unit means.
    ///
    /// # Errors
    ///
    /// The first name that is no unit, or a `degC` inside a product, with its place.
    pub fn parse(unit: &ast::Unit) -> Result<Self, UnitError> {
        let mut product = Product::default();
        for factor in &unit.factors {
            let name = &factor.name.text;
            let found = find(name).ok_or_else(|| UnitError {
                span: factor.name.span,
                kind: UnitErrorKind::Unknown(name.to_string()),
                suggestion: suggest(name),
            })?;
            let exponent = Ratio::new(i64::from(factor.exponent.0), i64::from(factor.exponent.1));
            if found.row.must_stand_alone() {
                if unit.factors.len() > 1 || exponent != Ratio::ONE {
                    return Err(UnitError {
                        span: factor.name.span,
                        kind: UnitErrorKind::NotAlone(name.to_string()),
                        suggestion: found.row.linear_alternative(),
                    });
                }
                return Ok(found.row.alone(name));
            }
            if exponent.numerator.unsigned_abs() > MAX_EXPONENT
                || exponent.denominator.unsigned_abs() > MAX_EXPONENT
            {
                return Err(UnitError {
                    span: factor.name.span,
                    kind: UnitErrorKind::Exponent(name.to_string()),
                    suggestion: None,
                });
            }
            product.multiply(&found, exponent);
        }
        Ok(product.into_unit(written(unit)))
    }

    /// Reads a unit from plain text such as `kg*m^2/s^2`, as tables and data files hold it.
    ///
    /// # Errors
    ///
    /// As [`Unit::parse`]; places are positions in `text`.
    pub fn parse_text(text: &str) -> Result<Self, UnitError> {
        Unit::parse(&split_text(text)?)
    }

    /// Turns a number in this unit into SI.
    pub fn to_si(&self, value: f64) -> f64 {
        value * self.numerator / self.denominator + self.offset
    }

    /// Turns an SI number into this unit.
    pub fn from_si(&self, value: f64) -> f64 {
        (value - self.offset) * self.denominator / self.numerator
    }

    /// Prints an SI number in this unit: `0.087…` in `deg` is `5 deg`.
    pub fn format(&self, si_value: f64) -> String {
        let number = format_number(self.from_si(si_value));
        match self.text.as_str() {
            "1" => number,
            text => format!("{number} {text}"),
        }
    }

    /// Tells whether the unit has a zero point of its own (`degC`, `degF`).
    ///
    /// The sum of two such values has no meaning; their difference is in K.
    pub fn is_absolute(&self) -> bool {
        self.offset != 0.0
    }
}

/// Prints a number for people: up to 12 significant digits, which hides the rounding of
/// unit conversion (one part in 10¹⁵) and keeps everything an engineer types.
pub fn format_number(value: f64) -> String {
    const SHOWN_DIGITS: usize = 12;
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let rounded: f64 = format!("{value:.*e}", SHOWN_DIGITS - 1)
        .parse()
        .expect("Rust reads what it printed");
    let size = rounded.abs();
    // Within this range the plain form is shorter than the one with an exponent.
    if (1e-4..1e9).contains(&size) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

/// Largest exponent a written unit may have: far beyond physics (T⁴ is the largest in common
/// use), and small enough that products of all factors of a unit cannot overflow.
const MAX_EXPONENT: u32 = 99;

// ---------------------------------------------------------------------------------------
// Dimensions
// ---------------------------------------------------------------------------------------

/// Number of bases: the seven of the SI, and the level (dB).
const N_BASES: usize = 8;

/// The letters of the bases, in the order in which a product is printed.
const BASE_NAMES: [&str; N_BASES] = ["kg", "m", "s", "A", "K", "mol", "cd", "dB"];

/// What a quantity measures: exponents of kg, m, s, A, K, mol, cd (and dB, see the module).
///
/// Exponents are fractions, because √(N/m) occurs. They saturate instead of overflowing:
/// no meaningful quantity comes near the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dimension {
    exponents: [Ratio; N_BASES],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Ratio {
    numerator: i32,
    denominator: i32,
}

fn clip(x: i64) -> i32 {
    x.clamp(-i64::from(i32::MAX), i64::from(i32::MAX)) as i32
}

impl Ratio {
    const ZERO: Ratio = Ratio {
        numerator: 0,
        denominator: 1,
    };
    const ONE: Ratio = Ratio {
        numerator: 1,
        denominator: 1,
    };

    /// Reduces to lowest terms with a positive denominator; a zero denominator counts as one.
    fn new(numerator: i64, denominator: i64) -> Self {
        let (numerator, denominator) = match denominator {
            0 => (numerator, 1),
            d if d < 0 => (numerator.saturating_neg(), d.saturating_neg()),
            d => (numerator, d),
        };
        let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let common = i64::try_from(a.max(1)).unwrap_or(1);
        Ratio {
            numerator: clip(numerator / common),
            denominator: clip(denominator / common),
        }
    }

    /// A whole number, as nearly all exponents are: nothing to reduce.
    fn whole(n: i64) -> Self {
        Ratio {
            numerator: clip(n),
            denominator: 1,
        }
    }

    fn add(self, other: Ratio) -> Ratio {
        let (a, b) = (i64::from(self.numerator), i64::from(self.denominator));
        let (c, d) = (i64::from(other.numerator), i64::from(other.denominator));
        if b == 1 && d == 1 {
            return Ratio::whole(a + c);
        }
        Ratio::new((a * d).saturating_add(c * b), b * d)
    }

    fn times(self, other: Ratio) -> Ratio {
        if self.denominator == 1 && other.denominator == 1 {
            return Ratio::whole(i64::from(self.numerator) * i64::from(other.numerator));
        }
        Ratio::new(
            i64::from(self.numerator) * i64::from(other.numerator),
            i64::from(self.denominator) * i64::from(other.denominator),
        )
    }

    fn to_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

impl Dimension {
    /// A plain number, and an angle.
    pub const ONE: Dimension = Dimension {
        exponents: [Ratio::ZERO; N_BASES],
    };
    /// Mass.
    pub const MASS: Dimension = Dimension::si(1, 0, 0, 0);
    /// Length.
    pub const LENGTH: Dimension = Dimension::si(0, 1, 0, 0);
    /// Time.
    pub const TIME: Dimension = Dimension::si(0, 0, 1, 0);
    /// Electric current.
    pub const CURRENT: Dimension = Dimension::si(0, 0, 0, 1);
    /// Temperature.
    pub const TEMPERATURE: Dimension = Dimension::base(4);
    /// Amount of substance.
    pub const AMOUNT: Dimension = Dimension::base(5);
    /// Luminous intensity.
    pub const LUMINOUS_INTENSITY: Dimension = Dimension::base(6);
    /// Level in dB.
    pub const LEVEL: Dimension = Dimension::base(7);
    /// 1/s: a frequency or an angular velocity.
    pub const FREQUENCY: Dimension = Dimension::si(0, 0, -1, 0);
    /// N
    pub const FORCE: Dimension = Dimension::si(1, 1, -2, 0);
    /// J, and N·m
    pub const ENERGY: Dimension = Dimension::si(1, 2, -2, 0);
    /// W
    pub const POWER: Dimension = Dimension::si(1, 2, -3, 0);
    /// Pa
    pub const PRESSURE: Dimension = Dimension::si(1, -1, -2, 0);
    /// V
    pub const VOLTAGE: Dimension = Dimension::si(1, 2, -3, -1);

    /// kgᵃ·mᵇ·sᶜ·Aᵈ
    pub const fn si(kg: i32, m: i32, s: i32, ampere: i32) -> Dimension {
        let mut exponents = [Ratio::ZERO; N_BASES];
        exponents[0].numerator = kg;
        exponents[1].numerator = m;
        exponents[2].numerator = s;
        exponents[3].numerator = ampere;
        Dimension { exponents }
    }

    const fn base(which: usize) -> Dimension {
        let mut exponents = [Ratio::ZERO; N_BASES];
        exponents[which].numerator = 1;
        Dimension { exponents }
    }

    /// Tells whether it is a plain number (or an angle).
    pub fn is_one(self) -> bool {
        self == Dimension::ONE
    }

    /// Of a product.
    #[must_use]
    pub fn times(self, other: Dimension) -> Dimension {
        let mut out = self;
        for (mine, theirs) in out.exponents.iter_mut().zip(other.exponents) {
            *mine = mine.add(theirs);
        }
        out
    }

    /// Of a quotient.
    #[must_use]
    pub fn per(self, other: Dimension) -> Dimension {
        self.times(other.pow(-1, 1))
    }

    /// Of a power with the exponent `numerator/denominator`.
    #[must_use]
    pub fn pow(self, numerator: i32, denominator: i32) -> Dimension {
        let by = Ratio::new(i64::from(numerator), i64::from(denominator));
        Dimension {
            exponents: self.exponents.map(|e| e.times(by)),
        }
    }

    /// Of a power with an exponent given as a number; `None` if it is no fraction with a
    /// denominator up to 12 (then no unit can be written for the result).
    pub fn powf(self, exponent: f64) -> Option<Dimension> {
        if self.is_one() {
            return Some(self);
        }
        (1..=12).find_map(|denominator: i32| {
            let numerator = exponent * f64::from(denominator);
            // Both are typed numbers or quotients of them: a few roundings apart, not more.
            let is_whole =
                (numerator - numerator.round()).abs() <= 1e-12 * numerator.abs().max(1.0);
            (is_whole && numerator.abs() <= f64::from(MAX_EXPONENT))
                .then(|| self.pow(numerator.round() as i32, denominator))
        })
    }

    /// Of a square root.
    #[must_use]
    pub fn sqrt(self) -> Dimension {
        self.pow(1, 2)
    }

    /// Gives the SI unit it is shown in when none was chosen: `N`, `J`, `kg*m/s^3`.
    pub fn unit(self) -> Unit {
        let text = self.describe();
        // Where several names share a dimension the first is the general one.
        let first = text.split(" = ").next().unwrap_or(&text);
        Unit::parse_text(first).expect("a dimension prints as a unit")
    }

    /// Gives the most familiar way to write it: `N*m` rather than `kg*m^2/s^2`.
    pub fn describe(self) -> String {
        match familiar(self) {
            Some(name) => name.to_owned(),
            None => self.to_string(),
        }
    }
}

impl fmt::Display for Dimension {
    /// Prints the product of SI bases: `kg*m^2/s^2`; a plain number is `1`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let powers: Vec<(&str, Ratio)> = BASE_NAMES
            .into_iter()
            .zip(self.exponents)
            .filter(|(_, e)| e.numerator != 0)
            .collect();
        out.write_str(&product_text(&powers))
    }
}

/// Writes a product of powers: positive ones, then `/` and the others.
fn product_text(powers: &[(&str, Ratio)]) -> String {
    let write = |(name, e): &(&str, Ratio)| match (e.numerator.abs(), e.denominator) {
        (1, 1) => (*name).to_owned(),
        (n, 1) => format!("{name}^{n}"),
        (n, d) => format!("{name}^({n}/{d})"),
    };
    let join = |positive: bool| {
        let parts: Vec<String> = powers
            .iter()
            .filter(|p| (p.1.numerator > 0) == positive)
            .map(write)
            .collect();
        (parts.len(), parts.join("*"))
    };
    match (join(true), join(false)) {
        ((0, _), (0, _)) => "1".to_owned(),
        ((_, above), (0, _)) => above,
        ((0, _), (1, below)) => format!("1/{below}"),
        ((0, _), (_, below)) => format!("1/({below})"),
        ((_, above), (1, below)) => format!("{above}/{below}"),
        ((_, above), (_, below)) => format!("{above}/({below})"),
    }
}

/// Familiar names, first match wins. Products that share a dimension (J and N·m) show both.
fn familiar(dimension: Dimension) -> Option<&'static str> {
    use Dimension as D;
    let table: &[(Dimension, &'static str)] = &[
        (D::FORCE, "N"),
        (D::ENERGY, "J = N*m"),
        (D::POWER, "W"),
        (D::PRESSURE, "Pa"),
        (D::VOLTAGE, "V"),
        (D::si(0, 0, 1, 1), "C"),
        (D::si(1, 2, -3, -2), "ohm"),
        (D::si(-1, -2, 3, 2), "S"),
        (D::si(-1, -2, 4, 2), "F"),
        (D::si(1, 2, -2, -2), "H"),
        (D::si(1, 2, -2, -1), "Wb = V*s"),
        (D::si(1, 0, -2, -1), "T"),
        (D::FREQUENCY, "1/s = rad/s"),
        (D::si(1, 0, -2, 0), "N/m"),
        (D::si(1, 0, -1, 0), "N*s/m = kg/s"),
        (D::si(1, 1, -1, 0), "N*s"),
        (D::si(1, 2, -1, 0), "N*m*s"),
        (D::si(1, -1, -1, 0), "Pa*s"),
        (D::si(1, -4, -1, 0), "Pa*s/m^3"),
        (D::POWER.per(D::TEMPERATURE), "W/K"),
        (D::ENERGY.per(D::TEMPERATURE), "J/K"),
        (D::TEMPERATURE.per(D::POWER), "K/W"),
        (D::ENERGY.per(D::AMOUNT), "J/mol"),
        (D::ENERGY.per(D::MASS.times(D::TEMPERATURE)), "J/(kg*K)"),
    ];
    table
        .iter()
        .find(|(d, _)| *d == dimension)
        .map(|(_, name)| *name)
}

// ---------------------------------------------------------------------------------------
// The table of units
// ---------------------------------------------------------------------------------------

/// One unit: its names, and `SI = numerator/denominator · 10^ten · value (+ offset)`.
struct Row {
    names: &'static [&'static str],
    numerator: f64,
    denominator: f64,
    ten: i32,
    offset: f64,
    dimension: Dimension,
    takes_prefix: bool,
}

impl Row {
    const fn new(
        names: &'static [&'static str],
        numerator: f64,
        denominator: f64,
        dimension: Dimension,
    ) -> Row {
        Row {
            names,
            numerator,
            denominator,
            ten: 0,
            offset: 0.0,
            dimension,
            takes_prefix: false,
        }
    }

    /// A coherent unit that takes prefixes.
    const fn si(names: &'static [&'static str], dimension: Dimension) -> Row {
        Row::new(names, 1.0, 1.0, dimension).prefixed()
    }

    const fn prefixed(mut self) -> Row {
        self.takes_prefix = true;
        self
    }

    const fn ten(mut self, ten: i32) -> Row {
        self.ten = ten;
        self
    }

    const fn offset(mut self, offset: f64) -> Row {
        self.offset = offset;
        self
    }

    fn must_stand_alone(&self) -> bool {
        self.offset != 0.0 || self.dimension == Dimension::LEVEL
    }

    fn alone(&self, name: &str) -> Unit {
        Unit {
            factor: self.numerator / self.denominator,
            offset: self.offset,
            dimension: self.dimension,
            text: name.to_owned(),
            numerator: self.numerator,
            denominator: self.denominator,
        }
    }

    /// What to write inside a product instead.
    fn linear_alternative(&self) -> Option<String> {
        match self.names[0] {
            "degC" => Some("differences of temperature are in `K`, such as `[W/K]`".to_owned()),
            "degF" => Some("differences of temperature are in `K` or `degR` (5/9 K)".to_owned()),
            _ => Some("write the ratio as a plain number".to_owned()),
        }
    }
}

/// International foot, m (1959 agreement: exact).
const FOOT: f64 = 0.3048;
/// Avoirdupois pound, kg (1959 agreement: exact).
const POUND: f64 = 0.453_592_37;
/// Standard gravity, m/s² (CGPM 1901: exact).
const STANDARD_GRAVITY: f64 = 9.806_65;
/// Pound-force, N: exact product.
const POUND_FORCE: f64 = 4.448_221_615_260_5;

/// All units. Exact values are from the SI brochure (9th edition, 2019) and NIST SP 811 (2008),
/// appendix B.8, unless said otherwise.
fn rows() -> &'static [Row] {
    use Dimension as D;
    const AREA: Dimension = D::si(0, 2, 0, 0);
    const VOLUME: Dimension = D::si(0, 3, 0, 0);
    const SPEED: Dimension = D::si(0, 1, -1, 0);
    static ROWS: &[Row] = &[
        // SI base. The gram carries the prefixes of mass.
        Row::si(&["m"], D::LENGTH),
        Row::si(&["g"], D::MASS).ten(-3),
        Row::si(&["s"], D::TIME),
        Row::si(&["A"], D::CURRENT),
        Row::si(&["K"], D::TEMPERATURE),
        Row::si(&["mol"], D::AMOUNT),
        Row::si(&["cd"], D::LUMINOUS_INTENSITY),
        // SI derived, with names of their own.
        Row::si(&["Hz"], D::FREQUENCY),
        Row::si(&["N"], D::FORCE),
        Row::si(&["Pa"], D::PRESSURE),
        Row::si(&["J"], D::ENERGY),
        Row::si(&["W"], D::POWER),
        Row::si(&["C"], D::si(0, 0, 1, 1)),
        Row::si(&["V"], D::VOLTAGE),
        Row::si(&["F"], D::si(-1, -2, 4, 2)),
        // Two code points look the same: Greek omega and the ohm sign.
        Row::si(&["ohm", "\u{3a9}", "\u{2126}"], D::si(1, 2, -3, -2)),
        Row::si(&["S"], D::si(-1, -2, 3, 2)),
        Row::si(&["Wb"], D::si(1, 2, -2, -1)),
        Row::si(&["T"], D::si(1, 0, -2, -1)),
        Row::si(&["H"], D::si(1, 2, -2, -2)),
        Row::si(&["lm"], D::LUMINOUS_INTENSITY),
        // Reactive and apparent power are watts to the dimension, not to the engineer.
        Row::si(&["VA", "var"], D::POWER),
        // Angles are plain numbers.
        Row::si(&["rad"], D::ONE),
        Row::si(&["sr"], D::ONE),
        Row::new(&["deg", "\u{b0}"], PI, 180.0, D::ONE),
        Row::new(&["arcmin"], PI, 10_800.0, D::ONE),
        Row::new(&["arcsec"], PI, 648_000.0, D::ONE),
        Row::new(&["rev"], 2.0 * PI, 1.0, D::ONE),
        Row::new(&["rpm"], PI, 30.0, D::FREQUENCY),
        // Numbers.
        Row::new(&["%"], 1.0, 1.0, D::ONE).ten(-2),
        Row::new(&["ppm"], 1.0, 1.0, D::ONE).ten(-6),
        Row::new(&["dB"], 1.0, 1.0, D::LEVEL),
        // Accepted beside the SI.
        Row::new(&["min"], 60.0, 1.0, D::TIME),
        Row::new(&["h"], 3600.0, 1.0, D::TIME),
        Row::new(&["day"], 86_400.0, 1.0, D::TIME),
        Row::si(&["L", "l"], VOLUME).ten(-3),
        Row::si(&["bar"], D::PRESSURE).ten(5),
        Row::new(&["t"], 1.0, 1.0, D::MASS).ten(3),
        Row::new(&["ha"], 1.0, 1.0, AREA).ten(4),
        // Elementary charge times one volt, exact since 2019.
        Row::new(&["eV"], 1.602_176_634, 1.0, D::ENERGY)
            .ten(-19)
            .prefixed(),
        Row::new(&["Wh"], 3600.0, 1.0, D::ENERGY).prefixed(),
        Row::new(&["Ah"], 3600.0, 1.0, D::si(0, 0, 1, 1)).prefixed(),
        Row::new(&["atm"], 101_325.0, 1.0, D::PRESSURE),
        Row::new(&["mmHg"], 133.322_387_415, 1.0, D::PRESSURE),
        Row::new(&["Torr"], 101_325.0, 760.0, D::PRESSURE),
        // Thermochemical calorie, and BTU of the International Table.
        Row::new(&["cal"], 4.184, 1.0, D::ENERGY).prefixed(),
        Row::new(&["BTU"], 1_055.055_852_62, 1.0, D::ENERGY),
        Row::new(&["kgf"], STANDARD_GRAVITY, 1.0, D::FORCE),
        // Temperatures with their own zero.
        Row::new(&["degC", "\u{b0}C"], 1.0, 1.0, D::TEMPERATURE).offset(273.15),
        Row::new(&["degF", "\u{b0}F"], 5.0, 9.0, D::TEMPERATURE).offset(459.67 * 5.0 / 9.0),
        Row::new(&["degR"], 5.0, 9.0, D::TEMPERATURE),
        // Imperial length, area, volume.
        Row::new(&["in"], 2.54, 1.0, D::LENGTH).ten(-2),
        Row::new(&["ft"], FOOT, 1.0, D::LENGTH),
        Row::new(&["yd"], 0.9144, 1.0, D::LENGTH),
        Row::new(&["mi"], 1609.344, 1.0, D::LENGTH),
        Row::new(&["nmi"], 1852.0, 1.0, D::LENGTH),
        // US gallon: 231 cubic inches, exact.
        Row::new(&["gal"], 3.785_411_784, 1.0, VOLUME).ten(-3),
        // Imperial speed.
        Row::new(&["mph"], 0.447_04, 1.0, SPEED),
        Row::new(&["kn"], 1852.0, 3600.0, SPEED),
        // Imperial mass and force: 1 lbf = 1 slug·ft/s².
        Row::new(&["lbm"], POUND, 1.0, D::MASS),
        Row::new(&["oz"], POUND, 16.0, D::MASS),
        Row::new(&["slug"], POUND_FORCE, FOOT, D::MASS),
        Row::new(&["lbf"], POUND_FORCE, 1.0, D::FORCE),
        Row::new(&["ozf"], POUND_FORCE, 16.0, D::FORCE),
        // 1 in² = 0.00064516 m² exactly.
        Row::new(&["psi"], POUND_FORCE, 6.4516, D::PRESSURE).ten(4),
        Row::new(&["ksi"], POUND_FORCE, 6.4516, D::PRESSURE).ten(7),
        Row::new(&["psf"], POUND_FORCE, FOOT * FOOT, D::PRESSURE),
        // Mechanical horsepower: 550 ft·lbf/s.
        Row::new(&["hp"], 550.0 * FOOT * POUND_FORCE, 1.0, D::POWER),
    ];
    ROWS
}

/// Prefixes of the SI with their power of ten. `u` and both signs for micro are one.
const PREFIXES: &[(&str, i32)] = &[
    ("da", 1),
    ("y", -24),
    ("z", -21),
    ("a", -18),
    ("f", -15),
    ("p", -12),
    ("n", -9),
    ("u", -6),
    ("\u{b5}", -6),
    ("\u{3bc}", -6),
    ("m", -3),
    ("c", -2),
    ("d", -1),
    ("h", 2),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
    ("Z", 21),
    ("Y", 24),
];

/// A unit of the table, with the power of ten of its prefix.
struct Found {
    row: &'static Row,
    prefix_ten: i32,
}

/// Finds a unit. A whole name wins over prefix and unit, so `min` is a minute and never a
/// milli-inch, `cd` a candela, `Pa` a pascal, `T` a tesla, `ft` a foot.
fn find(name: &str) -> Option<Found> {
    let whole = |name: &str| rows().iter().find(|row| row.names.contains(&name));
    if let Some(row) = whole(name) {
        return Some(Found { row, prefix_ten: 0 });
    }
    PREFIXES.iter().find_map(|&(prefix, prefix_ten)| {
        let row = whole(name.strip_prefix(prefix)?)?;
        row.takes_prefix.then_some(Found { row, prefix_ten })
    })
}

/// A product under construction.
struct Product {
    numerator: f64,
    denominator: f64,
    /// Power of ten, kept whole as long as possible.
    ten: i64,
    dimension: Dimension,
}

impl Default for Product {
    fn default() -> Self {
        Product {
            numerator: 1.0,
            denominator: 1.0,
            ten: 0,
            dimension: Dimension::ONE,
        }
    }
}

impl Product {
    fn multiply(&mut self, found: &Found, exponent: Ratio) {
        let (row, ten) = (found.row, i64::from(found.row.ten + found.prefix_ten));
        self.dimension = self
            .dimension
            .times(row.dimension.pow(exponent.numerator, exponent.denominator));
        let n = i64::from(exponent.numerator);
        if exponent.denominator == 1 {
            self.ten += ten * n;
        } else {
            self.numerator *= 10f64.powf(ten as f64 * exponent.to_f64());
        }
        let power = |x: f64| match exponent.denominator {
            1 => x.powi(exponent.numerator.abs()),
            _ => x.powf(exponent.to_f64().abs()),
        };
        let (above, below) = (power(row.numerator), power(row.denominator));
        let (above, below) = if n >= 0 {
            (above, below)
        } else {
            (below, above)
        };
        self.numerator *= above;
        self.denominator *= below;
    }

    fn into_unit(self, text: String) -> Unit {
        // 10^k is exact in binary up to k = 22, so that one multiplication or division rounds once.
        let power = 10f64.powi(self.ten.unsigned_abs().min(308) as i32);
        let (numerator, denominator) = match self.ten >= 0 {
            true => (self.numerator * power, self.denominator),
            false => (self.numerator, self.denominator * power),
        };
        Unit {
            factor: numerator / denominator,
            offset: 0.0,
            dimension: self.dimension,
            text,
            numerator,
            denominator,
        }
    }
}

/// Writes a unit as the user did, apart from the place of `/` and parentheses.
fn written(unit: &ast::Unit) -> String {
    let powers: Vec<(&str, Ratio)> = unit
        .factors
        .iter()
        .map(|f| {
            (
                &*f.name.text,
                Ratio::new(i64::from(f.exponent.0), i64::from(f.exponent.1)),
            )
        })
        .filter(|(_, e)| e.numerator != 0)
        .collect();
    product_text(&powers)
}

// ---------------------------------------------------------------------------------------
// Plain text
// ---------------------------------------------------------------------------------------

/// Splits `N*m/(rad*s^2)` into factors.
fn split_text(text: &str) -> Result<ast::Unit, UnitError> {
    let span = |from: usize, to: usize| Span::new(paynter_syntax::FileId::default(), from, to);
    let bad = |from: usize, to: usize| UnitError {
        span: span(from, to),
        kind: UnitErrorKind::Unknown(text[from..to].to_owned()),
        suggestion: None,
    };
    let mut factors = Vec::new();
    // The sign in force outside each open parenthesis, and the one for the next factor.
    let mut outer: Vec<i32> = Vec::new();
    let (mut around, mut sign) = (1, 1);
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            ' ' => {}
            '*' | '\u{b7}' => sign = around,
            '/' => sign = -around,
            '(' => {
                outer.push(around);
                around = sign;
            }
            ')' => {
                around = outer.pop().ok_or_else(|| bad(at, at + 1))?;
                sign = around;
            }
            '1' if rest.peek().is_none_or(|&(_, next)| !next.is_ascii_digit()) => {}
            c if is_name(c) => {
                let mut end = at + c.len_utf8();
                while let Some(&(next, c)) = rest.peek()
                    && is_name(c)
                {
                    end = next + c.len_utf8();
                    rest.next();
                }
                let mut exponent = String::new();
                if rest.next_if(|&(_, c)| c == '^').is_some() {
                    let in_parentheses = rest.next_if(|&(_, c)| c == '(').is_some();
                    while let Some((_, c)) = rest.next_if(|&(_, c)| {
                        c.is_ascii_digit() || c == '-' || (in_parentheses && c == '/')
                    }) {
                        exponent.push(c);
                    }
                    if in_parentheses {
                        rest.next_if(|&(_, c)| c == ')')
                            .ok_or_else(|| bad(at, end))?;
                    }
                } else {
                    exponent.push('1');
                }
                let (n, d) = exponent.split_once('/').unwrap_or((&exponent, "1"));
                let whole = |digits: &str| digits.parse::<i32>().ok();
                let (Some(n), Some(d)) = (whole(n), whole(d).filter(|d| *d > 0)) else {
                    return Err(bad(at, end));
                };
                factors.push(ast::UnitFactor {
                    name: ast::Ident {
                        text: text[at..end].into(),
                        span: span(at, end),
                    },
                    exponent: (n.saturating_mul(sign), d),
                });
                sign = around;
            }
            c => return Err(bad(at, at + c.len_utf8())),
        }
    }
    Ok(ast::Unit {
        factors,
        span: span(0, text.len()),
    })
}

fn is_name(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '%' | '\u{b0}')
}

// ---------------------------------------------------------------------------------------
// Suggestions
// ---------------------------------------------------------------------------------------

/// What people type, and what they mean.
const HABITS: &[(&str, &str)] = &[
    ("lb", "write `lbf` for force or `lbm` for mass"),
    ("lbs", "write `lbf` for force or `lbm` for mass"),
    ("sec", "seconds are `s`"),
    ("hr", "hours are `h`"),
    ("gpm", "write `gal/min`"),
    ("lpm", "write `L/min`"),
    ("cfm", "write `ft^3/min`"),
    ("fps", "write `ft/s`"),
    ("kph", "write `km/h`"),
    ("kmh", "write `km/h`"),
    ("mps", "write `m/s`"),
    ("cc", "write `cm^3`"),
    ("micron", "write `um`"),
    ("celsius", "write `degC`"),
    ("fahrenheit", "write `degF`"),
    ("inch", "write `in`"),
    ("foot", "write `ft`"),
    ("feet", "write `ft`"),
    ("percent", "write `%`"),
    ("degree", "write `deg`"),
    ("degrees", "write `deg`"),
    ("radian", "write `rad`"),
    ("radians", "write `rad`"),
    ("meter", "write `m`"),
    ("metre", "write `m`"),
    ("second", "write `s`"),
    ("seconds", "write `s`"),
    ("volt", "write `V`"),
    ("volts", "write `V`"),
    ("amp", "write `A`"),
    ("amps", "write `A`"),
    ("newton", "write `N`"),
    ("kelvin", "write `K`"),
    ("psia", "write `psi`"),
    ("psig", "write `psi`"),
];

/// Guesses what was meant by a name that is no unit.
fn suggest(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    if let Some((_, meant)) = HABITS.iter().find(|(habit, _)| *habit == lower) {
        return Some((*meant).to_owned());
    }
    let all_names = || {
        rows()
            .iter()
            .flat_map(|row| row.names.iter().map(move |n| (*n, row)))
    };
    if let Some((right, _)) = all_names().find(|(n, _)| n.to_lowercase() == lower) {
        return Some(format!("did you mean `{right}`?"));
    }
    // Juxtaposed units: `Nm`, `kWs`.
    let product = name.char_indices().skip(1).find_map(|(at, _)| {
        let (left, right) = name.split_at(at);
        (find(left).is_some() && find(right).is_some()).then(|| format!("write `{left}*{right}`"))
    });
    if product.is_some() {
        return product;
    }
    let with_prefixes = all_names().flat_map(|(n, row)| {
        let prefixed = PREFIXES
            .iter()
            .filter(|_| row.takes_prefix)
            .map(move |(p, _)| format!("{p}{n}"));
        std::iter::once(n.to_owned()).chain(prefixed)
    });
    crate::suggest::nearest(name, with_prefixes).map(|n| format!("did you mean `{n}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(text: &str) -> Unit {
        Unit::parse_text(text).expect("the unit is good")
    }

    fn wrong(text: &str) -> UnitError {
        Unit::parse_text(text).expect_err("the unit is wrong")
    }

    #[test]
    fn factors_have_all_their_digits() {
        // NIST SP 811 appendix B.8, or exact by definition; the decimal literal is rounded once.
        for (text, factor) in [
            ("ft", 0.3048),
            ("in", 0.0254),
            ("mi", 1609.344),
            ("lbm", 0.453_592_37),
            ("lbf", 4.448_221_615_260_5),
            ("slug", 14.593_902_937_206_364),
            ("psi", 6_894.757_293_168_362),
            ("gal", 0.003_785_411_784),
            ("hp", 745.699_871_582_270_2),
            ("mph", 0.447_04),
            ("oz", 0.028_349_523_125),
            ("slug/ft^3", 515.378_818_393_196_2),
            ("rpm", 0.104_719_755_119_659_77),
            ("deg", 0.017_453_292_519_943_295),
            ("bar", 1e5),
            ("L/min", 0.000_016_666_666_666_666_667),
            ("km/h", 0.277_777_777_777_777_8),
            ("eV", 1.602_176_634e-19),
            ("kWh", 3.6e6),
            ("uF", 1e-6),
            ("mm^3", 1e-9),
            ("kg", 1.0),
            ("mg", 1e-6),
            ("%", 0.01),
        ] {
            let found = unit(text).factor;
            // Two roundings at most, each half a unit in the last place.
            assert!(
                (found / factor - 1.0).abs() <= 2.0 * f64::EPSILON,
                "{text}: {found} {factor}"
            );
        }
    }

    #[test]
    fn a_typed_number_is_rounded_once() {
        assert_eq!(unit("uF").to_si(10.0), 1e-5);
        assert_eq!(unit("mH").to_si(0.6), 6e-4);
        assert_eq!(unit("mm").to_si(5.0), 0.005);
        assert_eq!(unit("degC").to_si(20.0), 293.15);
        assert_eq!(unit("degF").to_si(212.0), 373.15);
        assert_eq!(unit("degF").to_si(-40.0), unit("degC").to_si(-40.0));
    }

    #[test]
    fn newton_metre_per_degree_is_57_times_that_per_radian() {
        let ratio = unit("N*m/deg").to_si(334.0) / unit("N*m/rad").to_si(334.0);
        assert!((ratio - 180.0 / PI).abs() < 1e-13);
    }

    #[test]
    fn whole_names_win_over_prefixes() {
        assert_eq!(unit("min").dimension, Dimension::TIME);
        assert_eq!(unit("min").factor, 60.0);
        assert_eq!(unit("ft").dimension, Dimension::LENGTH);
        assert_eq!(unit("cd").dimension, Dimension::LUMINOUS_INTENSITY);
        assert_eq!(unit("Pa").dimension, Dimension::PRESSURE);
        assert_eq!(unit("T").dimension, Dimension::si(1, 0, -2, -1));
        assert_eq!(unit("h").factor, 3600.0);
        assert_eq!(unit("m").factor, 1.0);
        assert_eq!(unit("mm").factor, 1e-3);
        assert_eq!(unit("mmol").dimension, Dimension::AMOUNT);
        assert_eq!(unit("dam").factor, 10.0);
        assert_eq!(
            unit("\u{b5}F"),
            Unit {
                text: "\u{b5}F".to_owned(),
                ..unit("uF")
            }
        );
        assert_eq!(unit("k\u{3a9}").factor, 1e3);
    }

    #[test]
    fn units_without_prefixes_take_none() {
        for text in ["kmin", "mft", "kdeg", "mh", "kpsi", "mdegC", "kdB", "mrpm"] {
            assert!(Unit::parse_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_pound_force_moves_a_slug() {
        let product = unit("slug*ft/s^2");
        assert_eq!(product.dimension, Dimension::FORCE);
        assert!((product.factor / unit("lbf").factor - 1.0).abs() <= 2.0 * f64::EPSILON);
    }

    #[test]
    fn values_survive_the_way_there_and_back() {
        for text in [
            "degF",
            "degC",
            "psi",
            "N*m/deg",
            "rpm",
            "slug/ft^3",
            "%",
            "Hz^(1/2)",
            "uV",
        ] {
            let unit = unit(text);
            for value in [-459.0, -1.5, 0.1, 3.0, 1234.5] {
                let back = unit.from_si(unit.to_si(value));
                // Offsets are of the size of 460 degrees, which sets the rounding.
                assert!(
                    (back - value).abs() <= 1e-12 * value.abs().max(500.0),
                    "{text} {value}"
                );
            }
        }
    }

    #[test]
    fn a_product_prints_as_it_is_typed() {
        for text in [
            "kg*m^2/s^2",
            "J/(kg*K)",
            "1/s",
            "1/(s*K)",
            "N*m/deg",
            "m^(3/2)",
            "1",
        ] {
            assert_eq!(unit(text).text, text);
        }
        assert_eq!(unit("N*m*s/rad").dimension.to_string(), "kg*m^2/s");
        assert_eq!(unit("V/A").dimension.describe(), "ohm");
        assert_eq!(unit("Hz^(1/2)").dimension.to_string(), "1/s^(1/2)");
        assert_eq!(Dimension::ONE.to_string(), "1");
    }

    #[test]
    fn dimensions_multiply_divide_and_take_roots() {
        let d = |text: &str| unit(text).dimension;
        assert_eq!(d("V").times(d("A")), d("W"));
        assert_eq!(d("Pa").times(d("m^3/s")), d("W"));
        assert_eq!(d("N*m").per(d("kg*m^2")).sqrt(), d("1/s"));
        assert_eq!(d("m").powf(1.5), Some(d("m^(3/2)")));
        assert_eq!(d("m").powf(1.0 / 3.0), Some(d("m").pow(1, 3)));
        assert_eq!(d("m").powf(std::f64::consts::E), None);
        assert_eq!(
            Dimension::ONE.powf(std::f64::consts::E),
            Some(Dimension::ONE)
        );
        // Saturation: nonsense in, no panic.
        let mut huge = d("m");
        for _ in 0..100 {
            huge = huge.times(huge).pow(7, 11);
        }
        assert_ne!(huge, Dimension::ONE);
    }

    #[test]
    fn every_dimension_has_a_coherent_unit() {
        for text in [
            "N*m",
            "kg*m^2/s",
            "1",
            "dB",
            "J/mol",
            "m^(1/2)*K^3/cd",
            "V*s",
            "rad/s",
        ] {
            let given = unit(text);
            let shown = given.dimension.unit();
            assert_eq!(shown.dimension, given.dimension, "{text}");
            assert_eq!(shown.factor, 1.0, "{text}");
        }
    }

    #[test]
    fn values_are_shown_in_their_unit() {
        assert_eq!(unit("deg").format(unit("deg").to_si(5.0)), "5 deg");
        assert_eq!(unit("mm").format(0.0254), "25.4 mm");
        assert_eq!(unit("1").format(0.5), "0.5");
        assert_eq!(unit("Pa").format(1e12), "1e12 Pa");
    }

    #[test]
    fn wrong_units_are_told_with_the_right_one() {
        for (text, help) in [
            ("Nm", Some("write `N*m`")),
            ("lb", Some("write `lbf` for force or `lbm` for mass")),
            ("Ohm", Some("did you mean `ohm`?")),
            ("hz", Some("did you mean `Hz`?")),
            ("RPM", Some("did you mean `rpm`?")),
            ("sec", Some("seconds are `s`")),
            ("gpm", Some("write `gal/min`")),
            ("degrees", Some("write `deg`")),
            ("kmps", None),
            ("slgu", Some("did you mean `slug`?")),
            ("parsnip", None),
        ] {
            let error = wrong(text);
            assert!(matches!(&error.kind, UnitErrorKind::Unknown(name) if name == text));
            if help.is_some() {
                assert_eq!(error.suggestion.as_deref(), help, "{text}");
            }
        }
        for text in ["W/degC", "degF^2", "degC*m", "V*dB", "1/degC"] {
            assert!(
                matches!(wrong(text).kind, UnitErrorKind::NotAlone(_)),
                "{text}"
            );
            assert!(wrong(text).suggestion.is_some());
        }
        assert!(matches!(wrong("m^1000").kind, UnitErrorKind::Exponent(_)));
        for text in ["m)", "m^", "2*m", "m^(1/0)", "m^(1/2", "(m", "#"] {
            let _ = Unit::parse_text(text);
        }
    }

    #[test]
    fn a_level_is_no_plain_number() {
        assert_ne!(unit("dB").dimension, Dimension::ONE);
        assert_eq!(unit("dB").to_si(3.0), 3.0);
        assert_eq!(unit("dB").dimension.describe(), "dB");
    }
}
