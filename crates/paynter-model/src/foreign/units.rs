//! Units of an FMU in ours.
//!
//! In:  a description with units by name, with or without their meaning.
//! Out: the same with the scale of every variable, and a name of ours for its unit; the units that nobody knows.
//!
//! **Invariant:** a variable with a unit afterwards is in SI units once it is scaled.

use paynter_fmi::{Description, UnitOf};
use rustc_hash::FxHashMap;

use crate::units::{Dimension, Unit};

/// How we write a unit, and its scale: SI value = factor · value + offset.
type Meaning = (String, (f64, f64));

/// Finds the scale of every variable. Gives unknown units, each with one variable.
pub(super) fn settle(description: &mut Description) -> Vec<(String, String)> {
    let mut known: FxHashMap<String, Option<Meaning>> = FxHashMap::default();
    let mut unknown = Vec::new();
    let units = &description.units;
    for variable in &mut description.variables {
        let Some(name) = variable.unit.take() else {
            continue;
        };
        let found = known
            .entry(name.clone())
            .or_insert_with(|| meaning(&name, units.get(&name)));
        match found {
            Some((text, scale)) => {
                variable.scale = *scale;
                variable.unit = Some(text.clone());
            }
            None if unknown.iter().any(|(unit, _)| *unit == name) => {}
            None => unknown.push((name, variable.name.clone())),
        }
    }
    unknown
}

/// How we write a unit, and its scale: by what the FMU says of it, else by its name.
fn meaning(name: &str, given: Option<&UnitOf>) -> Option<Meaning> {
    let ours = Unit::parse_text(name).ok();
    let Some(given) = given else {
        return ours.map(|unit| (name.to_owned(), (unit.factor, unit.offset)));
    };
    let dimension = dimension(&given.exponents);
    if dimension.is_one() && given.scale == (1.0, 0.0) {
        // A plain number or an angle.
        let is_angle = given.exponents[7] == 1;
        return Some((if is_angle { "rad" } else { "1" }.to_owned(), given.scale));
    }
    // What has a zero point of its own is read and shown in kelvin.
    let is_same = |u: &Unit| {
        u.dimension == dimension && (u.factor, u.offset) == given.scale && u.offset == 0.0
    };
    let text = match ours.filter(is_same) {
        Some(_) => name.to_owned(),
        None => dimension.unit().text,
    };
    Some((text, given.scale))
}

fn dimension(exponents: &[i32; 8]) -> Dimension {
    let bases = [
        Dimension::MASS,
        Dimension::LENGTH,
        Dimension::TIME,
        Dimension::CURRENT,
        Dimension::TEMPERATURE,
        Dimension::AMOUNT,
        Dimension::LUMINOUS_INTENSITY,
    ];
    let powers = bases.into_iter().zip(exponents);
    powers.fold(Dimension::ONE, |product, (base, &n)| {
        product.times(base.pow(n, 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_by_their_meaning_then_by_their_name() {
        let volt = UnitOf {
            exponents: [1, 2, -3, -1, 0, 0, 0, 0],
            scale: (1.0, 0.0),
        };
        assert_eq!(
            meaning("V", Some(&volt)),
            Some(("V".to_owned(), (1.0, 0.0)))
        );
        // The name of the FMU is its own matter.
        let milli = UnitOf {
            scale: (1e-3, 0.0),
            ..volt
        };
        assert_eq!(
            meaning("tick", Some(&milli)),
            Some(("V".to_owned(), (1e-3, 0.0)))
        );
        assert_eq!(meaning("mm", None).map(|m| m.1), Some((1e-3, 0.0)));
        assert_eq!(meaning("furlongs_of_a_kind", None), None);
        let angle = UnitOf {
            exponents: [0, 0, 0, 0, 0, 0, 0, 1],
            scale: (1.0, 0.0),
        };
        assert_eq!(
            meaning("rad", Some(&angle)).map(|m| m.0),
            Some("rad".to_owned())
        );
    }
}
