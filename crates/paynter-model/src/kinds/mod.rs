//! The kinds of element: the axioms of the field, each described in one place.
//!
//! In:  nothing.
//! Out: for every [`ElementKind`] a [`Kind`]: its letters and words, what its law relates, what it remembers, where its
//!      power goes, what its ports want of causality, and its equations. Stages ask this description.
//!
//! A new kind is a file here and a row in the table below. Where a stage treats a kind in a way of its own (a
//! 0-junction spreads strokes, a lock is assembled), that stage says so.

mod contacts;
mod heating;
mod junctions;
mod memristor;
mod resistor;
mod sources;
mod storages;
mod two_ports;

use crate::causality::Collector;
use crate::equations::Writer;
use crate::graph::{Element, ElementId, Variable};
use paynter_symbolic::dae::EnergyRole;
use paynter_syntax::ast;

/// What an element kind is.
pub struct Kind {
    /// The letters that stand in texts and drawings.
    pub letters: &'static str,
    /// `a` or `an`, before the letters.
    pub article: &'static str,
    /// What it is, in a line.
    pub what: &'static str,
    /// One of them, as it is written.
    pub example: &'static str,
    /// What to write where its value is missing.
    pub needs: &'static str,
    /// Quantities that can be read of it, each with its dot.
    pub readable: &'static str,
    /// Beginnings of the words that newcomers try, and what is meant by them.
    pub words: (&'static [&'static str], &'static str),
    /// A model of the same name is meant in its place: letters that people give to models.
    pub yields_to_models: bool,
    /// What it does with power.
    pub nature: Nature,
    /// What it integrates.
    pub memory: Option<Memory>,
    /// The value in parentheses is the first of these, for each unit of the second where there is one.
    pub value: Option<(Variable, Option<Variable>)>,
    /// Letters of a law in braces.
    pub letters_of_law: &'static [(&'static str, Variable)],
    /// Those that a law may give.
    pub law_gives: &'static [&'static str],
    /// Another kind that is meant by what comes after the letters.
    pub as_written: Option<fn(&ast::Kind) -> ElementKind>,
    /// Says what its ports want of causality.
    pub(crate) ask: fn(&mut Collector<'_>, ElementId, &Element),
    /// Writes its equations, one for each port and one for each integral.
    pub(crate) write: fn(&mut Writer<'_>, ElementId, &Element),
}

/// What an element does with power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// Passes it on among its bonds.
    Junction,
    /// Gives or takes it as the world asks.
    Source,
    /// Loses it by a smooth law.
    Resistor,
    /// Loses it, or stops it, by a law with two branches.
    Contact,
    /// Keeps it.
    Storage,
    /// Passes it on from side to side.
    TwoPort,
    /// Turns it into heat at its second port.
    Heater,
}

/// What an element integrates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// q = ∫ f dt
    Displacement,
    /// p = ∫ e dt
    Momentum,
}

impl Memory {
    /// The letter of the integral.
    pub fn letter(self) -> &'static str {
        match self {
            Memory::Displacement => "q",
            Memory::Momentum => "p",
        }
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident => $row:path,)*) => {
        /// Names a kind of element; see [`Kind`] for what it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ElementKind {
            $($(#[$doc])* $name,)*
        }

        impl ElementKind {
            /// All kinds.
            pub const ALL: &'static [ElementKind] = &[$(ElementKind::$name,)*];

            /// Describes a kind.
            pub fn describe(self) -> &'static Kind {
                match self {
                    $(ElementKind::$name => &$row,)*
                }
            }
        }
    };
}

kinds! {
    /// 0-junction: one effort, flows sum to zero.
    Zero => junctions::ZERO,
    /// 1-junction: one flow, efforts sum to zero.
    One => junctions::ONE,
    /// Source of effort.
    Se => sources::SE,
    /// Source of flow.
    Sf => sources::SF,
    /// Resistor, n ports.
    R => resistor::R,
    /// Capacitor, n ports.
    C => storages::C,
    /// Inertia, n ports.
    I => storages::I,
    /// Inertia and spring in one field, given by its energy.
    Ic => storages::IC,
    /// Transformer, scalar: ports 0 (in) and 1 (out).
    Tf => two_ports::TF,
    /// Gyrator, scalar two-port; or n-port powerless gyrator with an explicit law.
    Gy => two_ports::GY,
    /// Resistor with entropy: port 0 loses, port 1 (out) is thermal.
    Rs => heating::RS,
    /// Ideal switch.
    Sw => contacts::SW,
    /// Ideal diode.
    D => contacts::D,
    /// Memristor: a resistance that depends on the charge that has passed.
    M => memristor::M,
    /// Memristor: a conductance that depends on the flux that has passed.
    Mp => memristor::MP,
}

impl ElementKind {
    /// Finds the kind with these letters among those that are written by name: not the junctions.
    pub fn called(letters: &str) -> Option<ElementKind> {
        Self::named().find(|k| k.letters() == letters)
    }

    /// The kinds that are written by name, each once.
    pub fn named() -> impl Iterator<Item = ElementKind> {
        let all = Self::ALL.iter().copied();
        // Of kinds that share letters the first stands for all.
        let is_first =
            |k: &ElementKind| Self::ALL.iter().find(|o| o.letters() == k.letters()) == Some(k);
        all.filter(|k| !k.is_junction()).filter(is_first)
    }

    /// The kind that is meant by these letters with what comes after them.
    pub fn as_written(self, written: Option<&ast::Kind>) -> ElementKind {
        match (self.describe().as_written, written) {
            (Some(choose), Some(written)) => choose(written),
            _ => self,
        }
    }

    /// Gives the letters that stand in drawings: `0`, `1`, `Se`, `TF` …
    pub fn letters(self) -> &'static str {
        self.describe().letters
    }

    /// What it does with power.
    pub fn nature(self) -> Nature {
        self.describe().nature
    }

    /// What it integrates.
    pub fn memory(self) -> Option<Memory> {
        self.describe().memory
    }

    /// Tells whether this is a 0- or 1-junction.
    pub fn is_junction(self) -> bool {
        self.nature() == Nature::Junction
    }

    /// Tells whether this is a source.
    pub fn is_source(self) -> bool {
        self.nature() == Nature::Source
    }

    /// Tells whether this keeps energy.
    pub fn is_storage(self) -> bool {
        self.nature() == Nature::Storage
    }

    /// Tells whether this loses energy by a smooth law.
    pub fn is_resistor(self) -> bool {
        self.nature() == Nature::Resistor
    }

    /// Tells whether this loses energy, wherever it goes.
    pub fn loses_power(self) -> bool {
        matches!(
            self.nature(),
            Nature::Resistor | Nature::Contact | Nature::Heater
        )
    }

    /// Its part in the first law; none for a junction.
    pub fn energy_role(self) -> Option<EnergyRole> {
        Some(match self.nature() {
            Nature::Junction => return None,
            Nature::Source => EnergyRole::Source,
            Nature::Resistor | Nature::Contact => EnergyRole::Dissipator,
            Nature::Storage => EnergyRole::Storage,
            Nature::TwoPort | Nature::Heater => EnergyRole::Conserving,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_says_what_it_is() {
        for kind in ElementKind::ALL {
            let row = kind.describe();
            assert!(row.example.contains(row.letters), "{}", row.letters);
            assert!(!row.what.is_empty() && row.readable.starts_with('.'));
            let has_letter = |m: Memory| row.readable.contains(&format!(".{}", m.letter()));
            assert!(row.memory.is_none_or(has_letter), "{}", row.letters);
            for given in row.law_gives {
                assert!(row.letters_of_law.iter().any(|(letter, _)| letter == given));
            }
        }
    }

    #[test]
    fn letters_name_one_kind() {
        let letters: Vec<&str> = ElementKind::named().map(ElementKind::letters).collect();
        let expected = [
            "Se", "Sf", "R", "C", "I", "IC", "TF", "GY", "RS", "Sw", "D", "M",
        ];
        assert_eq!(letters, expected);
    }
}
