//! The graph of one model as it is written: things, bonds, and who reads what.
//!
//! In:  made by `read`.
//! Out: changed by rules, one at a time; written back by `write`.
//!
//! **Invariant:** nothing that is read goes without an image: [`Net::may_drop`] is asked before [`Net::drop`].
//! A statement whose things and bonds are all as they were is not touched.

use crate::expression::{parse, product};
use crate::walk::{dotted, each};
use paynter::syntax::ast::StrokeAt;
use std::collections::{BTreeMap, BTreeSet};

/// Position in [`Net::things`].
pub type ThingId = usize;
/// Position in [`Net::bonds`].
pub type BondId = usize;

/// What a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 0-junction.
    Zero,
    /// 1-junction.
    One,
    /// Source of effort.
    Se,
    /// Source of flow.
    Sf,
    /// Resistor.
    R,
    /// Capacitor.
    C,
    /// Inertia.
    I,
    /// Transformer.
    Tf,
    /// Gyrator.
    Gy,
    /// A part, a vector, another element, or something made elsewhere: it is bonded to, and left as it is.
    Other,
}

impl Kind {
    /// A 0 or 1.
    pub fn is_junction(self) -> bool {
        matches!(self, Kind::Zero | Kind::One)
    }

    /// TF or GY.
    pub fn is_two_port(self) -> bool {
        matches!(self, Kind::Tf | Kind::Gy)
    }

    /// An element with one port.
    pub fn is_one_port(self) -> bool {
        matches!(self, Kind::Se | Kind::Sf | Kind::R | Kind::C | Kind::I)
    }

    /// The letters of an element.
    pub fn letters(self) -> &'static str {
        match self {
            Kind::Zero => "0",
            Kind::One => "1",
            Kind::Se => "Se",
            Kind::Sf => "Sf",
            Kind::R => "R",
            Kind::C => "C",
            Kind::I => "I",
            Kind::Tf => "TF",
            Kind::Gy => "GY",
            Kind::Other => "",
        }
    }

    /// The letter that a junction shares: `f` of a 1, `e` of a 0.
    pub fn shared(self) -> &'static str {
        match self {
            Kind::Zero => "e",
            _ => "f",
        }
    }
}

/// A junction or element.
#[derive(Clone, Debug)]
pub struct Thing {
    /// Its name; the written reference for something made elsewhere.
    pub name: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// Kind, values and laws as written: `I(A + A1)`.
    pub def: String,
    /// The value of `KIND(value)`, where this is all there is.
    pub gain: Option<String>,
    /// Other lines, blocks or models may bond to it, so that not all of its bonds are known here.
    pub has_hidden_bonds: bool,
    /// Something outside of what is rewritten reads it by name.
    pub is_pinned: bool,
    /// The statement that makes it; none for what is made elsewhere.
    pub owner: Option<usize>,
    /// It is still there.
    pub is_alive: bool,
}

/// A bond.
#[derive(Clone, Debug)]
pub struct Bond {
    /// Where power comes from.
    pub tail: ThingId,
    /// Where power goes.
    pub head: ThingId,
    /// A stroke that the text demands.
    pub stroke: Option<StrokeAt>,
    /// `bond name: …`
    pub name: Option<String>,
    /// The statement it stands in.
    pub owner: usize,
    /// It is still there.
    pub is_alive: bool,
}

/// What a quantity of the old model is in the new one.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// As an expression.
    pub text: String,
    /// It is this quantity times this factor: then a start value can be carried over.
    pub scaled: Option<(String, String)>,
}

impl Image {
    /// Another quantity.
    pub fn same(of: &str) -> Image {
        Image::times("1", of)
    }

    /// Another quantity times a factor.
    pub fn times(factor: &str, of: &str) -> Image {
        Image {
            text: product(factor, of),
            scaled: Some((of.to_owned(), factor.to_owned())),
        }
    }

    /// An expression.
    pub fn of(text: impl Into<String>) -> Image {
        Image {
            text: text.into(),
            scaled: None,
        }
    }
}

/// Images by quantity: `e`, `f`, `p` …
pub type Images = Vec<(&'static str, Image)>;

/// A rule that was applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name.
    pub rule: &'static str,
    /// What was done, and why it may be.
    pub text: String,
}

/// The graph of a model.
#[derive(Clone, Debug, Default)]
pub struct Net {
    /// Junctions and elements.
    pub things: Vec<Thing>,
    /// Bonds.
    pub bonds: Vec<Bond>,
    /// Quantities that something reads, `r1.e`.
    pub reads: BTreeSet<String>,
    /// Quantities that are given start values.
    pub assigned: BTreeSet<String>,
    /// Quantities named where only another name may stand.
    pub plain: BTreeSet<String>,
    /// Names of constants: parameters, and signals of these.
    pub constants: BTreeSet<String>,
    /// All names of the model.
    pub names: BTreeSet<String>,
    /// What became of quantities of things that are gone.
    pub images: BTreeMap<String, Image>,
    /// Quantities of things that were made, in older names.
    pub origins: BTreeMap<String, String>,
    /// Old states that follow from others along every run the rules allow: (state, expression), in old names.
    pub ties: Vec<(String, String)>,
    /// Old states that must not be tied: a run begins elsewhere with them.
    pub apart: BTreeSet<String>,
    /// Statements to be written anew.
    pub touched: BTreeSet<usize>,
    /// Rules that nearly applied, and why they did not; of the last pass.
    pub refused: BTreeSet<String>,
    /// Quantities that mean something else from now on; nothing reads them.
    pub unlike: BTreeSet<String>,
    /// Statements in the place of others.
    pub replaced: BTreeMap<usize, String>,
    /// What a start value of a name sets from now on, where the name stays.
    pub targets: BTreeMap<String, String>,
    /// Lines to add to the model.
    pub added: Vec<String>,
    /// Lines to add to experiments: (experiment, line).
    pub added_to: Vec<(String, String)>,
    /// Experiments that the new model cannot run.
    pub dropped_experiments: BTreeSet<String>,
    /// Start values that follow from others now.
    pub dropped_starts: BTreeSet<String>,
    /// Parameters that were made, in old names: (name, expression).
    pub parameters: Vec<(String, String)>,
    /// Further quantities that the proof compares: (old, new).
    pub compared: Vec<(String, String)>,
    /// Inputs that keep their value in the proof.
    pub fixed: BTreeSet<String>,
}

impl Net {
    /// The bonds of a thing.
    pub fn at(&self, thing: ThingId) -> Vec<BondId> {
        let touches = |b: &Bond| b.is_alive && (b.tail == thing || b.head == thing);
        (0..self.bonds.len())
            .filter(|&b| touches(&self.bonds[b]))
            .collect()
    }

    /// The other end of a bond.
    pub fn across(&self, bond: BondId, from: ThingId) -> ThingId {
        let bond = &self.bonds[bond];
        match bond.tail == from {
            true => bond.head,
            false => bond.tail,
        }
    }

    /// The things that are there.
    pub fn alive(&self) -> Vec<ThingId> {
        (0..self.things.len())
            .filter(|&t| self.things[t].is_alive)
            .collect()
    }

    /// The bonds into and out of a two-port.
    pub fn in_out(&self, two_port: ThingId) -> Option<(BondId, BondId)> {
        let bonds = self.at(two_port);
        let &[a, b] = bonds.as_slice() else {
            return None;
        };
        match (
            self.bonds[a].head == two_port,
            self.bonds[b].tail == two_port,
        ) {
            (true, true) => Some((a, b)),
            (false, false) => Some((b, a)),
            _ => None,
        }
    }

    /// How a thing is called in messages.
    pub fn label(&self, thing: ThingId) -> String {
        let t = &self.things[thing];
        if let Some(name) = &t.name {
            return format!("`{name}`");
        }
        let beside: Vec<String> = self
            .at(thing)
            .iter()
            .filter_map(|&b| self.things[self.across(b, thing)].name.clone())
            .collect();
        match beside.as_slice() {
            [] => format!("the {} without a name", t.kind.letters()),
            [one] => format!("the {} at `{one}`", t.kind.letters()),
            [a, b, ..] => format!("the {} between `{a}` and `{b}`", t.kind.letters()),
        }
    }

    /// The quantities of a name that something reads.
    pub fn read_of(&self, name: &str) -> Vec<String> {
        let start = format!("{name}.");
        let all = self.reads.iter().chain(&self.assigned).chain(&self.plain);
        let mut found: Vec<String> = all
            .filter_map(|path| path.strip_prefix(&start).map(str::to_owned))
            .collect();
        found.sort();
        found.dedup();
        found
    }

    /// Tells whether a thing may go with these images.
    ///
    /// # Errors
    ///
    /// Why it has to stay.
    pub fn may_drop(&self, thing: ThingId, images: &Images) -> Result<(), String> {
        let t = &self.things[thing];
        if t.has_hidden_bonds || t.kind == Kind::Other {
            return Err(format!(
                "{} is bonded to from elsewhere: a port, a block or a vector",
                self.label(thing)
            ));
        }
        let Some(name) = &t.name else { return Ok(()) };
        if t.is_pinned {
            return Err(format!("`{name}` is read by another model"));
        }
        for quantity in self.read_of(name) {
            let path = format!("{name}.{quantity}");
            let image = images.iter().find(|(q, _)| *q == quantity);
            let Some((_, image)) = image else {
                return Err(format!("`{path}` is read"));
            };
            let plain = image.scaled.as_ref().is_some_and(|(_, f)| f == "1");
            if self.plain.contains(&path) && !plain {
                return Err(format!("`{path}` is named in an experiment"));
            }
            if self.assigned.contains(&path) && image.scaled.is_none() {
                return Err(format!("`{path}` has a start value"));
            }
        }
        Ok(())
    }

    /// As [`Net::may_drop`]; a refusal is kept for the report.
    pub fn can_drop(&mut self, rule: &str, thing: ThingId, images: &Images) -> bool {
        match self.may_drop(thing, images) {
            Ok(()) => true,
            Err(why) => {
                let label = self.label(thing);
                self.refuse(rule, &format!("{label} stays: {why}"));
                false
            }
        }
    }

    /// Keeps a refusal for the report.
    pub fn refuse(&mut self, rule: &str, why: &str) {
        self.refused.insert(format!("{rule}: {why}"));
    }

    /// Takes a thing and its bonds away.
    pub fn drop(&mut self, thing: ThingId, images: Images) {
        for bond in self.at(thing) {
            self.cut(bond);
        }
        self.things[thing].is_alive = false;
        self.touched.extend(self.things[thing].owner);
        let Some(name) = self.things[thing].name.clone() else {
            return;
        };
        let mut given: Vec<&str> = Vec::new();
        // The first image of a quantity is the better one.
        for (quantity, image) in images {
            if !given.contains(&quantity) {
                given.push(quantity);
                self.give_image(format!("{name}.{quantity}"), image);
            }
        }
    }

    /// Says what a quantity is from now on. What is read instead of it is read, too.
    pub fn give_image(&mut self, path: String, image: Image) {
        if self.reads.contains(&path) || self.assigned.contains(&path) || self.plain.contains(&path)
        {
            let target = image.scaled.as_ref().map(|(of, _)| of.clone());
            if let Some(target) = target {
                if self.assigned.contains(&path) {
                    self.assigned.insert(target.clone());
                }
                if self.plain.contains(&path) {
                    self.plain.insert(target);
                }
            }
            self.reads.extend(paths_in(&image.text));
        }
        self.images.insert(path, image);
    }

    /// Takes a bond away.
    pub fn cut(&mut self, bond: BondId) {
        self.bonds[bond].is_alive = false;
        self.touched.insert(self.bonds[bond].owner);
    }

    /// Adds a bond to a statement.
    pub fn bond(&mut self, tail: ThingId, head: ThingId, owner: usize) -> BondId {
        self.bonds.push(Bond {
            tail,
            head,
            stroke: None,
            name: None,
            owner,
            is_alive: true,
        });
        self.touched.insert(owner);
        self.bonds.len() - 1
    }

    /// Makes an element with one value, in a statement.
    pub fn make(&mut self, name: Option<String>, kind: Kind, gain: &str, owner: usize) -> ThingId {
        self.names.extend(name.clone());
        self.reads.extend(paths_in(gain));
        self.things.push(Thing {
            name,
            kind,
            def: format!("{}({gain})", kind.letters()),
            gain: Some(gain.to_owned()),
            has_hidden_bonds: false,
            is_pinned: false,
            owner: Some(owner),
            is_alive: true,
        });
        self.touched.insert(owner);
        self.things.len() - 1
    }

    /// Changes what an element is.
    pub fn redefine(&mut self, thing: ThingId, kind: Kind, gain: &str) {
        let t = &mut self.things[thing];
        t.kind = kind;
        t.def = format!("{}({gain})", kind.letters());
        t.gain = Some(gain.to_owned());
        self.touched.extend(t.owner);
        self.reads.extend(paths_in(gain));
    }

    /// Moves an end of a bond.
    pub fn move_end(&mut self, bond: BondId, from: ThingId, to: ThingId) {
        self.touched.insert(self.bonds[bond].owner);
        let bond = &mut self.bonds[bond];
        if bond.tail == from {
            bond.tail = to;
        } else {
            bond.head = to;
        }
    }

    /// A name that nothing has yet.
    pub fn fresh(&mut self, wish: &str) -> String {
        let mut name = wish.to_owned();
        while self.names.contains(&name) {
            name.push('_');
        }
        self.names.insert(name.clone());
        name
    }

    /// A bond that can go: no stroke is demanded there, and nothing reads it by name.
    pub fn is_plain(&self, bond: BondId) -> bool {
        let bond = &self.bonds[bond];
        let is_read = |n: &String| !self.read_of(n).is_empty();
        bond.stroke.is_none() && !bond.name.as_ref().is_some_and(is_read)
    }

    /// Tells whether an expression reads constants only.
    pub fn is_constant(&self, text: &str) -> bool {
        let Some(parsed) = parse(text) else {
            return false;
        };
        let mut is_constant = true;
        each(&parsed.expr, &mut |e| {
            if let Some(path) = dotted(e) {
                is_constant &= path.len() == 1 && self.constants.contains(&path[0]);
                return false;
            }
            is_constant
        });
        is_constant
    }
}

/// The dotted paths of more than one name that a text reads.
pub fn paths_in(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    if let Some(parsed) = parse(text) {
        each(&parsed.expr, &mut |e| match dotted(e) {
            Some(path) => {
                if path.len() > 1 {
                    paths.push(path.join("."));
                }
                false
            }
            None => true,
        });
    }
    paths
}
