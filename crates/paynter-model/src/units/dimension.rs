//! What a quantity measures: exponents of the bases, and how they multiply.
//!
//! In:  dimensions of the table, of domains, and of expressions.
//! Out: those of products, quotients, powers and roots, and how each is written.
//!
//! **Invariant:** exponents are fractions in lowest terms; they saturate and never overflow.

use std::fmt;

use super::Unit;

/// Largest exponent a written unit may have: far beyond physics (T⁴ is the largest in common
/// use), and small enough that products of all factors of a unit cannot overflow.
pub(super) const MAX_EXPONENT: u32 = 99;

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
pub(super) struct Ratio {
    pub(super) numerator: i32,
    pub(super) denominator: i32,
}

fn clip(x: i64) -> i32 {
    x.clamp(-i64::from(i32::MAX), i64::from(i32::MAX)) as i32
}

impl Ratio {
    pub(super) const ZERO: Ratio = Ratio {
        numerator: 0,
        denominator: 1,
    };
    pub(super) const ONE: Ratio = Ratio {
        numerator: 1,
        denominator: 1,
    };

    /// Reduces to lowest terms with a positive denominator; a zero denominator counts as one.
    pub(super) fn new(numerator: i64, denominator: i64) -> Self {
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

    pub(super) fn to_f64(self) -> f64 {
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

    /// Of a power with an exponent given as a number; `None` if it is not a fraction with a
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

    /// Gives the exponents of kg, m, s, A, K, mol and cd; none where one is a fraction, or for a level.
    pub fn whole_exponents(self) -> Option<[i32; 7]> {
        let is_whole = self.exponents.iter().all(|e| e.denominator == 1);
        let exponents = self.exponents.map(|e| e.numerator);
        let [kg, m, s, ampere, kelvin, mol, cd, level] = exponents;
        (is_whole && level == 0).then_some([kg, m, s, ampere, kelvin, mol, cd])
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
pub(super) fn product_text(powers: &[(&str, Ratio)]) -> String {
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
        (D::si(-1, 0, 2, 0), "m/N"),
        (D::si(1, 0, -1, 0), "N*s/m = kg/s"),
        (D::si(-1, 0, 1, 0), "m/(N*s)"),
        (D::si(-1, -2, 2, 0), "1/(N*m) = rad/(N*m)"),
        (D::si(-1, 4, 2, 0), "m^3/Pa"),
        (D::si(1, -4, -2, 0), "Pa/m^3"),
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
