//! `reduce --minimal`: dependent inertias move over transformers to the coordinates they follow from.
//!
//! In:  a model, and the inertias that are meant; all that depend on others where none are named.
//! Out: the model in which every coordinate has one momentum. With f_k = Σ t_ki v_i the kinetic energy is ½ vᵀM v, M = Σ J_k t_kᵀ t_k. A constant M is an
//!      I or an I-field; one that depends on places is an IC field with the energy ½ pᵀM⁻¹p, whose q-ports stand at the junctions that move these places.
//!
//! Σ_k t_ki ṗ_k = Ṗ_i − Σ_k p_k ṫ_ki, and the field gives Ṗ_i at its p-ports and −Σ_k p_k Σ_i ∂_j t_ki v_i at its q-ports: the difference is powerless,
//! gyrators between coordinate i and place j (`gyrators.rs`). They vanish where the rows are closed, and cancel an Eulerian ring.
//!
//! Tiernego and van Dixhoorn (1979) and Allen (1979) write M v̇ and a gyristor BᵀJḂ instead. It is reported, not written: an I with a modulus and a
//! resistor that gives power keep no energy of their own, and no audit could be made of them.

mod clear;
mod field;
mod gyrators;
mod places;

use crate::algebra::Algebra;
use crate::code;
use crate::kinematics::{Form, GIVEN, Kinematics};
use crate::net::{Image, Kind, Net, Step, ThingId};
use crate::read::Source;
use crate::session::{Rewritten, Wish, rewrite};
pub(crate) use clear::clear;
use field::Field;
pub(crate) use field::flow_text;
use gyrators::Turned;
pub(crate) use gyrators::gyrator;
use paynter::DesignError;
use paynter::model::project::Loader;
use paynter::symbolic::ExprId;
use paynter::syntax::Diagnostic;
use places::Places;
use std::collections::{BTreeMap, BTreeSet};

/// The determinant of a larger matrix is a sum of thousands of products.
pub(crate) const MAX_COORDINATES: usize = 6;

/// Moves dependent inertias.
///
/// # Errors
///
/// The file cannot be read or has errors, or an inertia that is named cannot be moved.
pub fn minimal<L: Loader + Clone>(
    loader: &mut L,
    path: &str,
    wish: &Wish,
    named: &[String],
) -> Result<Rewritten, DesignError> {
    rewrite(loader, path, wish, &mut |net, source| {
        let mut mover = Mover {
            algebra: Algebra::new(&net.constants),
            source,
            steps: Vec::new(),
        };
        mover.run(net, named)?;
        Ok(mover.steps)
    })
}

/// Coordinates whose momenta are constant, after their masses have moved.
pub(crate) struct Cyclic {
    /// What was done.
    pub steps: Vec<Step>,
    /// For each coordinate its momentum in old names, and its flow in new ones.
    pub motions: Vec<(String, String)>,
    /// Energies that the elements of the new model do not count.
    pub hidden: Vec<String>,
}

/// Moves the masses of cyclic coordinates, with their momenta as parameters (Routh 1877; in the momenta no term linear in rates is left).
///
/// # Errors
///
/// What keeps the masses from being moved, or acts on a momentum.
pub(crate) fn freeze(
    net: &mut Net,
    source: &Source<'_>,
    constant: &[(ThingId, String)],
) -> Result<Cyclic, String> {
    let mut mover = Mover {
        algebra: Algebra::new(&net.constants),
        source,
        steps: Vec::new(),
    };
    let parameters = constant.iter().map(|(_, p)| p.clone());
    mover.algebra.add_constants(parameters);
    let places = Places::read(net, source);
    let masses = mover.all_masses(net, &places).0;
    let held = Kinematics::new(net).held(&mut mover.algebra);
    let mut fields = Vec::new();
    for group in mover.groups(masses) {
        let own: BTreeSet<ThingId> = group.blocks.iter().flat_map(|b| b.0.clone()).collect();
        let meant = constant.iter().filter(|(c, _)| own.contains(c));
        let meant: Vec<(ThingId, String)> = meant.cloned().collect();
        if meant.is_empty() {
            continue;
        }
        if let Some(why) = own.iter().find_map(|c| held.get(c)) {
            return Err(why.clone());
        }
        let mut field = Field::of(&mut mover.algebra, net, &places, group)?;
        let reads = |p: &&places::Place| constant.iter().any(|(c, _)| *c == p.junction);
        if let Some(place) = field.all_places.iter().find(reads) {
            return Err(format!("a modulus reads `{}`", place.name));
        }
        field.frozen = meant;
        fields.push(field);
    }
    let mut motions = Vec::new();
    let fields = joined(fields);
    for (coordinate, _) in constant {
        let field = fields.iter().find(|f| f.has(*coordinate));
        let motion = field.and_then(|f| {
            let momentum = f.momentum(&mut mover.algebra, net, *coordinate)?;
            Some((momentum, f.rate(&mut mover.algebra, net, *coordinate)?))
        });
        motions.push(motion.ok_or("it moves no inertia that can be followed")?);
    }
    let hidden = fields.iter();
    let hidden = hidden.filter_map(|f| f.energy_at_rest(&mut mover.algebra));
    let hidden: Vec<String> = hidden.collect();
    for field in &fields {
        mover.carry_out(net, &places, field)?;
    }
    Ok(Cyclic {
        steps: mover.steps,
        motions,
        hidden,
    })
}

/// An inertia and its flow.
#[derive(Clone)]
pub(crate) struct Mass {
    /// The element.
    pub thing: ThingId,
    /// The 1-junction it stands at; none behind a transformer.
    pub junction: Option<ThingId>,
    /// Its value.
    pub inertia: ExprId,
    /// Its flow.
    pub form: Form,
}

/// Masses that are moved together.
pub(crate) struct Group {
    /// The masses.
    pub masses: Vec<Mass>,
    /// ½ vᵀM v in parts that are not tied to each other: coordinates, and the matrix row by row.
    pub blocks: Vec<(Vec<ThingId>, Vec<Vec<ExprId>>)>,
}

/// Masses that stay, and why.
type Refusal = (Vec<ThingId>, String);

struct Mover<'m, 'a> {
    algebra: Algebra,
    source: &'m Source<'a>,
    steps: Vec<Step>,
}

impl Mover<'_, '_> {
    fn run(&mut self, net: &mut Net, named: &[String]) -> Result<(), Vec<Diagnostic>> {
        let places = Places::read(net, self.source);
        let (masses, unknown) = self.masses(net, &places, named)?;
        let mut kinematics = Kinematics::new(net);
        let held = kinematics.held(&mut self.algebra);
        let groups = self.groups(masses);
        let mut fields: Vec<Field> = Vec::new();
        let mut refused: Vec<Refusal> = Vec::new();
        for group in groups {
            let whose: Vec<ThingId> = group.masses.iter().map(|m| m.thing).collect();
            match self.planned(net, &places, &held, group) {
                Ok(Some(field)) => fields.push(field),
                Ok(None) => {}
                Err(why) => refused.push((whose, why)),
            }
        }
        let fields = joined(fields);
        for field in fields {
            let whose: Vec<ThingId> = field.masses.iter().map(|m| m.thing).collect();
            if let Err(why) = self.carry_out(net, &places, &field) {
                refused.push((whose, why));
            }
        }
        // Where others have moved, what cannot be looked at depends on nothing that could take it.
        if self.steps.is_empty() {
            refused.extend(unknown);
        }
        self.refuse(net, named, refused)
    }

    fn refuse(
        &self,
        net: &mut Net,
        named: &[String],
        refused: Vec<Refusal>,
    ) -> Result<(), Vec<Diagnostic>> {
        for (whose, why) in refused {
            let labels: Vec<String> = whose.iter().map(|&t| net.label(t)).collect();
            let asked = whose.iter().find_map(|&t| {
                let name = net.things[t].name.clone()?;
                named.contains(&name).then_some(name)
            });
            match asked {
                Some(name) => return Err(vec![self.not_moved(&name, &why)]),
                None => net.refuse("minimal", &format!("{} stay: {why}", labels.join(", "))),
            }
        }
        Ok(())
    }

    fn not_moved(&self, name: &str, why: &str) -> Diagnostic {
        let place = self.source.place_of(name);
        Diagnostic::error(
            code::NOT_MOVED,
            format!("the inertia `{name}` cannot be moved"),
        )
        .primary(place, why.to_owned())
    }

    /// The inertias whose flows are sums over coordinates; those that are named, and those at their coordinates.
    fn masses(
        &mut self,
        net: &mut Net,
        places: &Places,
        named: &[String],
    ) -> Result<(Vec<Mass>, Vec<Refusal>), Vec<Diagnostic>> {
        for name in named {
            let is_it = |t: &&crate::net::Thing| t.name.as_deref() == Some(name);
            let found = net.things.iter().find(is_it);
            if found.is_none_or(|t| t.kind != Kind::I) {
                return Err(vec![
                    self.not_moved(name, "there is no scalar inertia of this name"),
                ]);
            }
        }
        let is_named = |net: &Net, t: ThingId| {
            let name = net.things[t].name.as_ref();
            name.is_some_and(|n| named.contains(n))
        };
        let (mut all, mut refused) = self.all_masses(net, places);
        if named.is_empty() {
            return Ok((all, refused));
        }
        refused.retain(|(t, _)| is_named(net, t[0]));
        self.refuse(net, named, refused)?;
        let meant = all.iter().filter(|m| is_named(net, m.thing));
        let coordinates: BTreeSet<ThingId> = meant.flat_map(|m| m.form.keys().copied()).collect();
        let is_own = |m: &Mass| m.junction.is_some_and(|j| coordinates.contains(&j));
        all.retain(|m| is_named(net, m.thing) || is_own(m));
        Ok((all, Vec::new()))
    }

    /// All inertias whose flows are known, and why the others' are not.
    fn all_masses(&mut self, net: &Net, places: &Places) -> (Vec<Mass>, Vec<Refusal>) {
        let (mut all, mut refused) = (Vec::new(), Vec::new());
        for thing in net.alive() {
            if net.things[thing].kind != Kind::I {
                continue;
            }
            match self.mass(net, places, thing) {
                Ok(mass) => all.push(mass),
                Err(why) => refused.push((vec![thing], why)),
            }
        }
        (all, refused)
    }

    fn mass(&mut self, net: &Net, places: &Places, thing: ThingId) -> Result<Mass, String> {
        let gain = net.things[thing].gain.clone();
        let gain = gain.ok_or("it has a law of its own")?;
        if !net.is_constant(&gain) {
            return Err(format!("`{gain}` is not a constant"));
        }
        let bonds = net.at(thing);
        let &[bond] = bonds.as_slice() else {
            return Err("it has no bond that is known here".to_owned());
        };
        if net.bonds[bond].head != thing || !net.is_plain(bond) {
            return Err("its bond has a stroke or a name, or points away from it".to_owned());
        }
        let form = Kinematics::new(net).of_bond(&mut self.algebra, bond)?;
        if form.contains_key(&GIVEN) {
            return Err("a source gives a part of its flow".to_owned());
        }
        let mut plain = Form::new();
        for (at, t) in form {
            let t = places.resolved(&mut self.algebra, t);
            let t = self.algebra.short(t);
            if !self.algebra.is_zero(t) {
                plain.insert(at, t);
            }
        }
        let beside = net.across(bond, thing);
        Ok(Mass {
            thing,
            junction: (net.things[beside].kind == Kind::One).then_some(beside),
            inertia: self.algebra.read(&gain).ok_or("its value cannot be read")?,
            form: plain,
        })
    }

    /// Masses that share coordinates, and the parts of their matrix.
    fn groups(&mut self, masses: Vec<Mass>) -> Vec<Group> {
        let coordinates: BTreeSet<ThingId> =
            masses.iter().flat_map(|m| m.form.keys().copied()).collect();
        let coordinates: Vec<ThingId> = coordinates.into_iter().collect();
        let place = |c: &ThingId| coordinates.binary_search(c).unwrap_or_default();
        let mut shared = Sets::new(coordinates.len());
        for mass in &masses {
            let own: Vec<usize> = mass.form.keys().map(place).collect();
            own.windows(2).for_each(|w| shared.join(w[0], w[1]));
        }
        let mut groups = Vec::new();
        for own in shared.all() {
            let ids: Vec<ThingId> = own.iter().map(|&k| coordinates[k]).collect();
            let takes = |m: &&Mass| m.form.keys().any(|c| ids.contains(c));
            let masses: Vec<Mass> = masses.iter().filter(takes).cloned().collect();
            let all = self.matrix(&ids, &masses);
            let mut tied = Sets::new(ids.len());
            for (i, row) in all.iter().enumerate() {
                for (j, &entry) in row.iter().enumerate().take(i) {
                    if !self.algebra.is_zero(entry) {
                        tied.join(i, j);
                    }
                }
            }
            let part = |own: Vec<usize>| {
                let rows = own.iter();
                let matrix = rows.map(|&i| own.iter().map(|&j| all[i][j]).collect());
                let matrix: Vec<Vec<ExprId>> = matrix.collect();
                (own.iter().map(|&k| ids[k]).collect(), matrix)
            };
            let blocks = tied.all().into_iter().map(part).collect();
            groups.push(Group { masses, blocks });
        }
        groups
    }

    /// M_ij = Σ J_k t_ki t_kj
    fn matrix(&mut self, coordinates: &[ThingId], masses: &[Mass]) -> Vec<Vec<ExprId>> {
        let n = coordinates.len();
        let zero = self.algebra.pool.number(0.0);
        let mut matrix = vec![vec![zero; n]; n];
        for i in 0..n {
            for j in 0..=i {
                let mut sum = zero;
                for mass in masses {
                    let (a, b) = (
                        mass.form.get(&coordinates[i]),
                        mass.form.get(&coordinates[j]),
                    );
                    if let (Some(&a), Some(&b)) = (a, b) {
                        let pool = &mut self.algebra.pool;
                        let product = pool.mul(a, b);
                        let term = pool.mul(mass.inertia, product);
                        sum = pool.add(sum, term);
                    }
                }
                let short = self.algebra.short(sum);
                (matrix[i][j], matrix[j][i]) = (short, short);
            }
        }
        matrix
    }

    /// The field that stands for a group; none where no mass depends on another.
    fn planned(
        &mut self,
        net: &Net,
        places: &Places,
        held: &BTreeMap<ThingId, String>,
        group: Group,
    ) -> Result<Option<Field>, String> {
        let coordinates = || group.blocks.iter().flat_map(|b| &b.0);
        let is_own = |m: &Mass| m.junction.is_some_and(|j| coordinates().any(|c| *c == j));
        // Inertias side by side at one junction are the work of `simplify`.
        if group.masses.len() <= coordinates().count() || group.masses.iter().all(is_own) {
            return Ok(None);
        }
        if let Some(why) = coordinates().find_map(|c| held.get(c)) {
            return Err(why.clone());
        }
        if let Some(c) = coordinates().find(|&&c| net.things[c].name.is_none()) {
            return Err(format!("{} has no name", net.label(*c)));
        }
        Field::of(&mut self.algebra, net, places, group).map(Some)
    }

    /// Writes a field in the place of its masses.
    fn carry_out(&mut self, net: &mut Net, places: &Places, field: &Field) -> Result<(), String> {
        let absorbed = field.absorbed(&mut self.algebra, net)?;
        let images: Vec<_> = field
            .masses
            .iter()
            .map(|m| (m.thing, self.images_of(net, m)))
            .collect();
        for (thing, images) in images.iter().chain(&absorbed) {
            net.may_drop(*thing, images)
                .map_err(|why| format!("{why}, and what it is then cannot be said"))?;
        }
        let turned = gyrators::turned(&mut self.algebra, net, places, field);
        for path in efforts_before(net, field, &turned) {
            if net
                .read_of(path.trim_end_matches(".e"))
                .iter()
                .any(|q| q == "e")
            {
                return Err(format!(
                    "`{path}` is read: the effort between transformers and an inertia that moves does not exist in the new graph"
                ));
            }
            net.unlike.insert(path);
        }
        let constant = field.frozen.iter();
        let constant = constant.filter_map(|(c, _)| net.things[*c].name.clone());
        if turned.acts_on(&constant.collect::<Vec<String>>()) {
            return Err("a gyrator acts on it".to_owned());
        }
        for mass in field.masses.iter().filter(|m| m.junction.is_none()) {
            leave_a_junction(net, mass.thing);
        }
        for (thing, images) in images.into_iter().chain(absorbed) {
            net.drop(thing, images);
        }
        self.steps.extend(field.told(&mut self.algebra, net));
        field.write(&mut self.algebra, net);
        self.steps.extend(turned.carry_out(net));
        self.steps.extend(clear(&mut self.algebra, net));
        Ok(())
    }

    /// What is read of a mass, in flows.
    fn images_of(&mut self, net: &Net, mass: &Mass) -> crate::net::Images {
        let gain = net.things[mass.thing].gain.clone().unwrap_or_default();
        let junction = mass.junction.and_then(|j| net.things[j].name.clone());
        let stored = |flow: &str| {
            let square = crate::expression::square(flow);
            crate::expression::product(&crate::expression::product("0.5", &gain), &square)
        };
        match junction {
            Some(name) => {
                let flow = format!("{name}.f");
                let energy = Image::of(stored(&flow));
                vec![
                    ("f", Image::same(&flow)),
                    ("p", Image::times(&gain, &flow)),
                    ("stored", energy),
                ]
            }
            None => {
                let flow = flow_text(&mut self.algebra, net, &mass.form);
                let momentum = crate::expression::product(&gain, &flow);
                let energy = stored(&flow);
                vec![
                    ("f", Image::of(flow)),
                    ("p", Image::of(momentum)),
                    ("stored", Image::of(energy)),
                ]
            }
        }
    }
}

/// Puts a 1-junction between an inertia and the 0-junction or transformer that it stands at. Where the inertia goes, that has no effort; a
/// 0-junction with one bond less would say that the flows of its others add up to zero.
fn leave_a_junction(net: &mut Net, inertia: ThingId) {
    let Some(&bond) = net.at(inertia).first() else {
        return;
    };
    let owner = net.bonds[bond].owner;
    let junction = net.make(None, Kind::One, "", owner);
    net.things[junction].def = Kind::One.letters().to_owned();
    net.things[junction].gain = None;
    net.move_end(bond, inertia, junction);
}

/// The efforts of 0-junctions on the way to masses that move, and to gyrators that go with them.
fn efforts_before(net: &Net, field: &Field, turned: &Turned) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<ThingId> = field.masses.iter().map(|m| m.thing).collect();
    open.extend(turned.loaded(net));
    let mut is_seen = BTreeSet::new();
    while let Some(thing) = open.pop() {
        if !is_seen.insert(thing) {
            continue;
        }
        for bond in net.at(thing) {
            let tail = net.bonds[bond].tail;
            let leads = matches!(net.things[tail].kind, Kind::One | Kind::Zero | Kind::Tf);
            if net.bonds[bond].head != thing || !leads {
                continue;
            }
            if let (Kind::Zero, Some(name)) = (net.things[tail].kind, &net.things[tail].name) {
                found.push(format!("{name}.e"));
            }
            open.push(tail);
        }
    }
    found
}

/// Fields that read the same place are one: two copies of a place would have two start values.
fn joined(fields: Vec<Field>) -> Vec<Field> {
    let mut joined: Vec<Field> = Vec::new();
    for mut field in fields {
        while let Some(k) = joined.iter().position(|other| other.shares_place(&field)) {
            field = joined.remove(k).with(field);
        }
        joined.push(field);
    }
    joined
}

/// Numbers that belong together.
struct Sets(Vec<usize>);

impl Sets {
    fn new(n: usize) -> Sets {
        Sets((0..n).collect())
    }

    fn join(&mut self, a: usize, b: usize) {
        let (from, to) = (self.0[a], self.0[b]);
        self.0
            .iter_mut()
            .filter(|s| **s == from)
            .for_each(|s| *s = to);
    }

    fn all(&self) -> Vec<Vec<usize>> {
        let roots: BTreeSet<usize> = self.0.iter().copied().collect();
        let members = |root: usize| (0..self.0.len()).filter(|&k| self.0[k] == root).collect();
        roots.into_iter().map(members).collect()
    }
}
