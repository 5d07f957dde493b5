//! The list of units: names, factor to SI, dimension; prefixes; and what people mistype.
//!
//! In:  the name of a unit as written, perhaps with a prefix.
//! Out: its row and the power of ten of the prefix, or a guess at what was meant.
//!
//! **Invariant:** adding a unit is one row of `UNITS`. A whole name wins over prefix and unit.

use std::f64::consts::PI;

use super::{Dimension, Dimension as D, Unit};

/// One unit: its names, and `SI = numerator/denominator · 10^ten · value (+ offset)`.
pub(super) struct UnitRow {
    pub(super) names: &'static [&'static str],
    pub(super) numerator: f64,
    pub(super) denominator: f64,
    pub(super) ten: i32,
    pub(super) offset: f64,
    pub(super) dimension: Dimension,
    pub(super) takes_prefix: bool,
}

impl UnitRow {
    const fn new(
        names: &'static [&'static str],
        numerator: f64,
        denominator: f64,
        dimension: Dimension,
    ) -> UnitRow {
        UnitRow {
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
    const fn si(names: &'static [&'static str], dimension: Dimension) -> UnitRow {
        UnitRow::new(names, 1.0, 1.0, dimension).prefixed()
    }

    const fn prefixed(mut self) -> UnitRow {
        self.takes_prefix = true;
        self
    }

    const fn ten(mut self, ten: i32) -> UnitRow {
        self.ten = ten;
        self
    }

    const fn offset(mut self, offset: f64) -> UnitRow {
        self.offset = offset;
        self
    }

    pub(super) fn must_stand_alone(&self) -> bool {
        self.offset != 0.0 || self.dimension == Dimension::LEVEL
    }

    pub(super) fn alone(&self, name: &str) -> Unit {
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
    pub(super) fn linear_alternative(&self) -> Option<String> {
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

const AREA: Dimension = Dimension::si(0, 2, 0, 0);
const VOLUME: Dimension = Dimension::si(0, 3, 0, 0);
const SPEED: Dimension = Dimension::si(0, 1, -1, 0);

/// All units. Exact values are from the SI brochure (9th edition, 2019) and NIST SP 811 (2008),
/// appendix B.8, unless said otherwise.
static UNITS: &[UnitRow] = &[
    // SI base. The gram carries the prefixes of mass.
    UnitRow::si(&["m"], D::LENGTH),
    UnitRow::si(&["g"], D::MASS).ten(-3),
    UnitRow::si(&["s"], D::TIME),
    UnitRow::si(&["A"], D::CURRENT),
    UnitRow::si(&["K"], D::TEMPERATURE),
    UnitRow::si(&["mol"], D::AMOUNT),
    UnitRow::si(&["cd"], D::LUMINOUS_INTENSITY),
    // SI derived, with names of their own.
    UnitRow::si(&["Hz"], D::FREQUENCY),
    UnitRow::si(&["N"], D::FORCE),
    UnitRow::si(&["Pa"], D::PRESSURE),
    UnitRow::si(&["J"], D::ENERGY),
    UnitRow::si(&["W"], D::POWER),
    UnitRow::si(&["C"], D::si(0, 0, 1, 1)),
    UnitRow::si(&["V"], D::VOLTAGE),
    UnitRow::si(&["F"], D::si(-1, -2, 4, 2)),
    // Two code points look the same: Greek omega and the ohm sign.
    UnitRow::si(&["ohm", "\u{3a9}", "\u{2126}"], D::si(1, 2, -3, -2)),
    UnitRow::si(&["S"], D::si(-1, -2, 3, 2)),
    UnitRow::si(&["Wb"], D::si(1, 2, -2, -1)),
    UnitRow::si(&["T"], D::si(1, 0, -2, -1)),
    UnitRow::si(&["H"], D::si(1, 2, -2, -2)),
    UnitRow::si(&["lm"], D::LUMINOUS_INTENSITY),
    // Reactive and apparent power are watts to the dimension, not to the engineer.
    UnitRow::si(&["VA", "var"], D::POWER),
    // Angles are plain numbers.
    UnitRow::si(&["rad"], D::ONE),
    UnitRow::si(&["sr"], D::ONE),
    UnitRow::new(&["deg", "\u{b0}"], PI, 180.0, D::ONE),
    UnitRow::new(&["arcmin"], PI, 10_800.0, D::ONE),
    UnitRow::new(&["arcsec"], PI, 648_000.0, D::ONE),
    UnitRow::new(&["rev"], 2.0 * PI, 1.0, D::ONE),
    UnitRow::new(&["rpm"], PI, 30.0, D::FREQUENCY),
    // Numbers.
    UnitRow::new(&["%"], 1.0, 1.0, D::ONE).ten(-2),
    UnitRow::new(&["ppm"], 1.0, 1.0, D::ONE).ten(-6),
    UnitRow::new(&["dB"], 1.0, 1.0, D::LEVEL),
    // Accepted beside the SI.
    UnitRow::new(&["min"], 60.0, 1.0, D::TIME),
    UnitRow::new(&["h"], 3600.0, 1.0, D::TIME),
    UnitRow::new(&["day"], 86_400.0, 1.0, D::TIME),
    UnitRow::si(&["L", "l"], VOLUME).ten(-3),
    UnitRow::si(&["bar"], D::PRESSURE).ten(5),
    UnitRow::new(&["t"], 1.0, 1.0, D::MASS).ten(3),
    UnitRow::new(&["ha"], 1.0, 1.0, AREA).ten(4),
    // Elementary charge times one volt, exact since 2019.
    UnitRow::new(&["eV"], 1.602_176_634, 1.0, D::ENERGY)
        .ten(-19)
        .prefixed(),
    UnitRow::new(&["Wh"], 3600.0, 1.0, D::ENERGY).prefixed(),
    UnitRow::new(&["Ah"], 3600.0, 1.0, D::si(0, 0, 1, 1)).prefixed(),
    UnitRow::new(&["atm"], 101_325.0, 1.0, D::PRESSURE),
    UnitRow::new(&["mmHg"], 133.322_387_415, 1.0, D::PRESSURE),
    UnitRow::new(&["Torr"], 101_325.0, 760.0, D::PRESSURE),
    // Thermochemical calorie, and BTU of the International Table.
    UnitRow::new(&["cal"], 4.184, 1.0, D::ENERGY).prefixed(),
    UnitRow::new(&["BTU"], 1_055.055_852_62, 1.0, D::ENERGY),
    UnitRow::new(&["kgf"], STANDARD_GRAVITY, 1.0, D::FORCE),
    // Temperatures with their own zero.
    UnitRow::new(&["degC", "\u{b0}C"], 1.0, 1.0, D::TEMPERATURE).offset(273.15),
    UnitRow::new(&["degF", "\u{b0}F"], 5.0, 9.0, D::TEMPERATURE).offset(459.67 * 5.0 / 9.0),
    UnitRow::new(&["degR"], 5.0, 9.0, D::TEMPERATURE),
    // Imperial length, area, volume.
    UnitRow::new(&["in"], 2.54, 1.0, D::LENGTH).ten(-2),
    UnitRow::new(&["ft"], FOOT, 1.0, D::LENGTH),
    UnitRow::new(&["yd"], 0.9144, 1.0, D::LENGTH),
    UnitRow::new(&["mi"], 1609.344, 1.0, D::LENGTH),
    UnitRow::new(&["nmi"], 1852.0, 1.0, D::LENGTH),
    // US gallon: 231 cubic inches, exact.
    UnitRow::new(&["gal"], 3.785_411_784, 1.0, VOLUME).ten(-3),
    // Imperial speed.
    UnitRow::new(&["mph"], 0.447_04, 1.0, SPEED),
    UnitRow::new(&["kn"], 1852.0, 3600.0, SPEED),
    // Imperial mass and force: 1 lbf = 1 slug·ft/s².
    UnitRow::new(&["lbm"], POUND, 1.0, D::MASS),
    UnitRow::new(&["oz"], POUND, 16.0, D::MASS),
    UnitRow::new(&["slug"], POUND_FORCE, FOOT, D::MASS),
    UnitRow::new(&["lbf"], POUND_FORCE, 1.0, D::FORCE),
    UnitRow::new(&["ozf"], POUND_FORCE, 16.0, D::FORCE),
    // 1 in² = 0.00064516 m² exactly.
    UnitRow::new(&["psi"], POUND_FORCE, 6.4516, D::PRESSURE).ten(4),
    UnitRow::new(&["ksi"], POUND_FORCE, 6.4516, D::PRESSURE).ten(7),
    UnitRow::new(&["psf"], POUND_FORCE, FOOT * FOOT, D::PRESSURE),
    // Mechanical horsepower: 550 ft·lbf/s.
    UnitRow::new(&["hp"], 550.0 * FOOT * POUND_FORCE, 1.0, D::POWER),
];

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
pub(super) struct Found {
    pub(super) row: &'static UnitRow,
    pub(super) prefix_ten: i32,
}

/// Finds a unit. A whole name wins over prefix and unit, so `min` is a minute and never a
/// milli-inch, `cd` a candela, `Pa` a pascal, `T` a tesla, `ft` a foot.
pub(super) fn find(name: &str) -> Option<Found> {
    let whole = |name: &str| UNITS.iter().find(|row| row.names.contains(&name));
    if let Some(row) = whole(name) {
        return Some(Found { row, prefix_ten: 0 });
    }
    PREFIXES.iter().find_map(|&(prefix, prefix_ten)| {
        let row = whole(name.strip_prefix(prefix)?)?;
        row.takes_prefix.then_some(Found { row, prefix_ten })
    })
}

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

/// Guesses what was meant by a name that is not an unit.
pub(super) fn suggest(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    if let Some((_, meant)) = HABITS.iter().find(|(habit, _)| *habit == lower) {
        return Some((*meant).to_owned());
    }

    let all_names = || {
        UNITS
            .iter()
            .flat_map(|row| row.names.iter().map(move |n| (*n, row)))
    };
    if let Some((right, _)) = all_names().find(|(n, _)| n.to_lowercase() == lower) {
        return Some(format!("did you mean `{right}`?"));
    }

    // Powers without their sign: `m/s2`, `m/s²`.
    let base = name.trim_end_matches(|c: char| digit(c).is_some());
    if base.len() < name.len() && find(base).is_some() {
        let exponent: String = name[base.len()..].chars().filter_map(digit).collect();
        return Some(format!("write `{base}^{exponent}`"));
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

/// A digit, raised or not.
fn digit(c: char) -> Option<char> {
    match "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|raised| raised == c) {
        Some(value) => char::from_digit(value as u32, 10),
        None => Some(c).filter(char::is_ascii_digit),
    }
}
