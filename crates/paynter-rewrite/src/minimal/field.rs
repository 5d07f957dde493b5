//! The field that stands for masses: its matrix, its ports, its energy, and the gyristor that the documents would write.
//!
//! In:  masses with their flows.
//! Out: lines of the model. A block of the matrix that is constant is an I; blocks that read places are an IC with a port for each momentum and each place.
//!
//! **Invariant:** a place has one port in all fields: two copies of it would have two start values.

use super::places::{Holder, Place, Places};
use super::{Group, MAX_COORDINATES, Mass};
use crate::algebra::Algebra;
use crate::expression::{product, quotient, square, sum};
use crate::kinematics::{Form, GIVEN, Kinematics};
use crate::net::{Image, Images, Kind, Net, Step, ThingId};
use paynter::symbolic::ExprId;
use paynter::symbolic::antiderivative::antiderivative;
use paynter::syntax::ast::{ItemKind, NodeKind, StmtKind};
use paynter::syntax::{FileId, parse};

/// Letters of an energy that nobody would read.
const PAGE: usize = 3000;

/// A part of the matrix that is tied to no other.
pub struct Block {
    coordinates: Vec<ThingId>,
    matrix: Vec<Vec<ExprId>>,
    /// Places that the matrix reads.
    reads: Vec<Place>,
}

/// Masses and what stands for them.
pub struct Field {
    /// The masses that go.
    pub masses: Vec<Mass>,
    /// Every place that a modulus of theirs reads.
    pub all_places: Vec<Place>,
    /// Coordinates whose momentum is constant, and the parameter that it is.
    pub frozen: Vec<(ThingId, String)>,
    blocks: Vec<Block>,
}

/// Blocks that are one element.
struct Cluster<'f> {
    blocks: Vec<&'f Block>,
    reads: Vec<Place>,
    frozen: &'f [(ThingId, String)],
    name: String,
}

impl Field {
    /// Plans a field.
    ///
    /// # Errors
    ///
    /// What keeps the masses from being moved.
    pub fn of(
        algebra: &mut Algebra,
        net: &Net,
        places: &Places,
        group: Group,
    ) -> Result<Field, String> {
        let all_places = places_read(algebra, net, places, &group.masses)?;
        let mut blocks = Vec::new();
        for (coordinates, matrix) in group.blocks {
            let n = coordinates.len();
            if n > MAX_COORDINATES {
                return Err(format!(
                    "they follow from {n} velocities together, and no more than {MAX_COORDINATES} are taken together"
                ));
            }
            let det = determinant(algebra, &matrix);
            if algebra.is_zero(det) {
                return Err("together they leave one velocity without inertia".to_owned());
            }
            let mut reads = Vec::new();
            for place in &all_places {
                let mut entries = matrix.iter().flatten();
                if entries.any(|&e| changes(algebra, e, &place.name)) {
                    reads.push(place.clone());
                }
            }
            let letters: Vec<String> = (1..=n).map(|k| format!("p[{k}]")).collect();
            if !reads.is_empty() && n > 3 && kinetic(algebra, &matrix, &letters).len() > PAGE {
                return Err(format!(
                    "they follow from {n} velocities together, and their energy would fill a page"
                ));
            }
            blocks.push(Block {
                coordinates,
                matrix,
                reads,
            });
        }
        Ok(Field {
            masses: group.masses,
            all_places,
            frozen: Vec::new(),
            blocks,
        })
    }

    /// Tells whether two fields have a place in common that needs a port.
    pub fn shares_place(&self, other: &Field) -> bool {
        let own = self.blocks.iter().flat_map(|b| &b.reads);
        let mut others = other.blocks.iter().flat_map(|b| &b.reads);
        let own: Vec<&Place> = own.collect();
        others.any(|p| own.contains(&p))
    }

    /// Both in one.
    pub fn with(mut self, other: Field) -> Field {
        self.masses.extend(other.masses);
        self.frozen.extend(other.frozen);
        self.blocks.extend(other.blocks);
        for place in other.all_places {
            if !self.all_places.contains(&place) {
                self.all_places.push(place);
            }
        }
        self
    }

    /// Blocks by the places they share.
    fn clusters(&self, net: &Net) -> Vec<Cluster<'_>> {
        let mut clusters: Vec<Cluster<'_>> = Vec::new();
        for block in &self.blocks {
            let shares = |c: &Cluster<'_>| block.reads.iter().any(|p| c.reads.contains(p));
            let mut merged = Cluster {
                blocks: Vec::new(),
                reads: Vec::new(),
                frozen: &self.frozen,
                name: String::new(),
            };
            while let Some(k) = clusters.iter().position(shares) {
                let other = clusters.remove(k);
                merged.blocks.extend(other.blocks);
                merged.reads.extend(other.reads);
            }
            merged.blocks.push(block);
            for place in &block.reads {
                if !merged.reads.contains(place) {
                    merged.reads.push(place.clone());
                }
            }
            clusters.push(merged);
        }
        for cluster in &mut clusters {
            let names: Vec<String> = cluster
                .coordinates()
                .map(|c| net.things[c].name.clone().unwrap_or_default())
                .collect();
            cluster.name = format!("inertia_{}", names.join("_"));
            while net.names.contains(&cluster.name) {
                cluster.name.push('_');
            }
        }
        clusters
    }

    /// Springs whose place is a port of the field, with what is read of them.
    ///
    /// # Errors
    ///
    /// The energy of a spring has no closed form.
    pub fn absorbed(
        &self,
        algebra: &mut Algebra,
        net: &Net,
    ) -> Result<Vec<(ThingId, Images)>, String> {
        let mut found = Vec::new();
        for cluster in self.clusters(net) {
            for (k, place) in cluster.reads.iter().enumerate() {
                let Holder::Spring(spring) = place.holder else {
                    continue;
                };
                let port = format!("{}.{}", cluster.name, cluster.place(k));
                let energy = potential(algebra, net, spring)?;
                let slope = algebra.slope(energy, "q");
                let slope = slope.ok_or("a spring has a law without a slope")?;
                let mut shown = |e: ExprId| {
                    let at = algebra.name(&port);
                    let e = algebra.with(e, &|name| (name == "q").then_some(at));
                    algebra.text(e)
                };
                let (stored, effort) = (shown(energy), shown(slope));
                let mut images: Images = vec![
                    ("q", Image::same(&port)),
                    ("e", Image::of(effort)),
                    ("stored", Image::of(stored)),
                ];
                let junction = net.things[place.junction].name.as_ref();
                images.extend(junction.map(|j| ("f", Image::same(&format!("{j}.f")))));
                found.push((spring, images));
            }
        }
        Ok(found)
    }

    /// One line for each element, and the gyristor of the documents.
    pub fn told(&self, algebra: &mut Algebra, net: &Net) -> Vec<Step> {
        let label = |t: ThingId| net.label(t);
        let masses: Vec<String> = self.masses.iter().map(|m| label(m.thing)).collect();
        let mut steps = Vec::new();
        for cluster in self.clusters(net) {
            let at: Vec<String> = cluster.coordinates().map(label).collect();
            let places: Vec<String> = cluster
                .reads
                .iter()
                .map(|p| format!("`{}`", p.name))
                .collect();
            let way = match (places.is_empty(), cluster.moving().count()) {
                (true, _) => "the sum is constant".to_owned(),
                (false, 0) => format!(
                    "all its momenta are constant, and what is left is a C at {} that stores kinetic energy",
                    places.join(", ")
                ),
                (false, _) => format!(
                    "it depends on {}, so that it is a field by its energy, with a port where {} moves",
                    places.join(", "),
                    if places.len() == 1 { "that" } else { "each" }
                ),
            };
            steps.push(Step {
                rule: "minimal",
                text: format!(
                    "{} are one inertia `{}` at {}: {way}",
                    masses.join(", "),
                    cluster.name,
                    at.join(", ")
                ),
            });
        }
        steps.extend(self.gyristor(algebra, net));
        steps
    }

    /// BᵀJḂ, which stands beside M v̇ in Tiernego and van Dixhoorn (1979) and Allen (1979).
    fn gyristor(&self, algebra: &mut Algebra, net: &Net) -> Vec<Step> {
        let mut steps = Vec::new();
        let coordinates = self.blocks.iter().flat_map(|b| b.coordinates.clone());
        let coordinates: Vec<ThingId> = coordinates.collect();
        for &i in &coordinates {
            for &j in &coordinates {
                let mut total = algebra.pool.number(0.0);
                for mass in &self.masses {
                    let (Some(&a), Some(&b)) = (mass.form.get(&i), mass.form.get(&j)) else {
                        continue;
                    };
                    for place in &self.all_places {
                        let mover = net.things[place.junction].name.clone().unwrap_or_default();
                        let Some(slope) = algebra.slope(b, &place.name) else {
                            continue;
                        };
                        let rate = algebra.name(&format!("{mover}.f"));
                        let pool = &mut algebra.pool;
                        let rate = pool.mul(slope, rate);
                        let product = pool.mul(a, rate);
                        let term = pool.mul(mass.inertia, product);
                        total = pool.add(total, term);
                    }
                }
                if algebra.is_zero(total) {
                    continue;
                }
                let short = algebra.short(total);
                let text = algebra.text(short);
                let (a, b) = (net.label(i), net.label(j));
                let text = match i == j {
                    true => format!(
                        "a modulated I at {a} would need a resistor of {text}; its power goes through the q-ports of the field instead"
                    ),
                    false => format!(
                        "a modulated I would need an effort of {text} times the flow of {b} at {a}"
                    ),
                };
                steps.push(Step {
                    rule: "gyristor",
                    text,
                });
            }
        }
        steps
    }

    /// Writes the elements.
    pub fn write(&self, algebra: &mut Algebra, net: &mut Net) {
        for cluster in self.clusters(net) {
            net.names.insert(cluster.name.clone());
            cluster.remember(algebra, net);
            match (cluster.reads.as_slice(), cluster.blocks.as_slice()) {
                ([], [only]) if only.coordinates.len() == 1 && self.frozen.is_empty() => {
                    let value = algebra.text(only.matrix[0][0]);
                    let at = only.coordinates[0];
                    let owner = net.things[at].owner.unwrap_or_default();
                    let made = net.make(Some(cluster.name.clone()), Kind::I, &value, owner);
                    net.bond(at, made, owner);
                }
                _ => cluster.write(algebra, net),
            }
        }
    }
}

impl Cluster<'_> {
    fn coordinates(&self) -> impl Iterator<Item = ThingId> + '_ {
        self.blocks
            .iter()
            .flat_map(|b| b.coordinates.iter().copied())
    }

    /// The parameter that the momentum of a coordinate is, where it is constant.
    fn constant(&self, coordinate: ThingId) -> Option<&str> {
        let found = self.frozen.iter().find(|(c, _)| *c == coordinate);
        found.map(|(_, p)| p.as_str())
    }

    /// Coordinates with a port.
    fn moving(&self) -> impl Iterator<Item = ThingId> + '_ {
        self.coordinates().filter(|&c| self.constant(c).is_none())
    }

    fn n_ports(&self) -> usize {
        self.moving().count() + self.reads.len()
    }

    /// `p[2]`, or `p` of an element with one port.
    fn state(&self, letter: &str, port: usize) -> String {
        match self.n_ports() {
            1 => letter.to_owned(),
            _ => format!("{letter}[{port}]"),
        }
    }

    /// The state of a place.
    fn place(&self, k: usize) -> String {
        self.state("q", self.moving().count() + k + 1)
    }

    /// The momenta of a block, in the letters of the element.
    fn momenta(&self, block: &Block) -> Vec<String> {
        let of = |c: &ThingId| match self.constant(*c) {
            Some(parameter) => parameter.to_owned(),
            None => {
                let port = self.moving().position(|m| m == *c).unwrap_or_default();
                self.state("p", port + 1)
            }
        };
        block.coordinates.iter().map(of).collect()
    }

    /// The states in old names.
    fn remember(&self, algebra: &mut Algebra, net: &mut Net) {
        for block in &self.blocks {
            for ((row, c), state) in block
                .matrix
                .iter()
                .zip(&block.coordinates)
                .zip(self.momenta(block))
            {
                let total = momentum_text(algebra, net, (row, &block.coordinates));
                match self.constant(*c) {
                    Some(parameter) => net.parameters.push((parameter.to_owned(), total)),
                    None => {
                        net.origins.insert(format!("{}.{state}", self.name), total);
                    }
                }
            }
        }
        for (k, place) in self.reads.iter().enumerate() {
            let state = format!("{}.{}", self.name, self.place(k));
            net.origins.insert(state.clone(), place.name.clone());
            if let Holder::Statement(at) = place.holder {
                net.replaced.insert(at, format!("{} = {state}", place.name));
                net.targets.insert(place.name.clone(), state);
                let junction = net.things[place.junction].name.clone().unwrap_or_default();
                let rate = (format!("der({})", place.name), format!("{junction}.f"));
                net.compared.push(rate);
            }
        }
    }

    fn write(&self, algebra: &mut Algebra, net: &mut Net) {
        let name_of = |t: ThingId| net.things[t].name.clone().unwrap_or_default();
        let mut nodes: Vec<String> = self.moving().map(name_of).collect();
        let kind = match (nodes.is_empty(), self.reads.is_empty()) {
            (true, true) => return,
            (true, false) => "C",
            (false, true) => "I",
            (false, false) => "IC",
        };
        nodes.extend(self.reads.iter().map(|p| name_of(p.junction)));
        if let ("I", [block], 4..) = (kind, self.blocks.as_slice(), nodes.len())
            && nodes.len() == block.coordinates.len()
        {
            // The matrix itself is shorter than its inverse in an energy.
            let line = block.as_matrix(algebra, &nodes, &self.name);
            net.added.push(line);
            return;
        }
        let mut energy = "0".to_owned();
        for block in &self.blocks {
            let term = kinetic(algebra, &block.matrix, &self.momenta(block));
            energy = sum(&energy, &term);
        }
        for (k, place) in self.reads.iter().enumerate() {
            let port = self.place(k);
            energy = crate::subst::replace_paths(&energy, &|path| {
                (path == place.name).then(|| port.clone())
            });
            if let Holder::Spring(spring) = place.holder
                && let Ok(stored) = potential(algebra, net, spring)
            {
                let at = algebra.name(&port);
                let stored = algebra.with(stored, &|name| (name == "q").then_some(at));
                energy = sum(&energy, &algebra.text(stored));
            }
        }
        let line = match nodes.as_slice() {
            [only] => format!("{only} -> {}: {kind} {{ energy = {energy} }}", self.name),
            _ => format!(
                "({}) => {}: {kind}[{}] {{ energy = {energy} }}",
                nodes.join(", "),
                self.name,
                nodes.len()
            ),
        };
        net.added.push(line);
    }
}

impl Block {
    /// A constant matrix as an I-field.
    fn as_matrix(&self, algebra: &mut Algebra, nodes: &[String], name: &str) -> String {
        let mut rows = Vec::new();
        for row in &self.matrix {
            let entries: Vec<String> = row.iter().map(|&e| algebra.text(e)).collect();
            rows.push(entries.join(", "));
        }
        format!(
            "({}) => {name}: I[{}]([{}])",
            nodes.join(", "),
            nodes.len(),
            rows.join("; ")
        )
    }
}

/// (M v)_i in flows.
fn momentum_text(
    algebra: &mut Algebra,
    net: &Net,
    (row, coordinates): (&[ExprId], &[ThingId]),
) -> String {
    let mut total = "0".to_owned();
    for (&entry, &c) in row.iter().zip(coordinates) {
        if algebra.is_zero(entry) {
            continue;
        }
        let name = net.things[c].name.clone().unwrap_or_default();
        let entry = algebra.text(entry);
        total = sum(&total, &product(&entry, &format!("{name}.f")));
    }
    total
}

impl Field {
    /// Tells whether this is one of its coordinates.
    pub fn has(&self, coordinate: ThingId) -> bool {
        self.blocks
            .iter()
            .any(|b| b.coordinates.contains(&coordinate))
    }

    /// The momentum of a coordinate in flows.
    pub fn momentum(
        &self,
        algebra: &mut Algebra,
        net: &Net,
        coordinate: ThingId,
    ) -> Option<String> {
        let block = self
            .blocks
            .iter()
            .find(|b| b.coordinates.contains(&coordinate))?;
        let at = block.coordinates.iter().position(|c| *c == coordinate)?;
        Some(momentum_text(
            algebra,
            net,
            (&block.matrix[at], &block.coordinates),
        ))
    }

    /// What constant momenta store where everything else is zero: an element counts its energy from there. None where it stores nothing.
    pub fn energy_at_rest(&self, algebra: &mut Algebra) -> Option<String> {
        let mut total = algebra.pool.number(0.0);
        let zero = total;
        for block in &self.blocks {
            let of = |c: &ThingId| match self.frozen.iter().find(|(f, _)| f == c) {
                Some((_, parameter)) => parameter.clone(),
                None => "momentum_at_rest".to_owned(),
            };
            let momenta: Vec<String> = block.coordinates.iter().map(of).collect();
            let energy = kinetic(algebra, &block.matrix, &momenta);
            let energy = algebra.read(&energy)?;
            let is_zero = |name: &str| {
                name == "momentum_at_rest" || block.reads.iter().any(|p| p.name == name)
            };
            let energy = algebra.with(energy, &|name| is_zero(name).then_some(zero));
            total = algebra.pool.add(total, energy);
        }
        if algebra.is_zero(total) {
            return None;
        }
        let short = algebra.short(total);
        Some(algebra.text(short))
    }

    /// The flow of a coordinate whose momentum is constant: ∂H/∂p.
    pub fn rate(&self, algebra: &mut Algebra, net: &Net, coordinate: ThingId) -> Option<String> {
        let (_, parameter) = self.frozen.iter().find(|(c, _)| *c == coordinate)?;
        for cluster in self.clusters(net) {
            let blocks = cluster.blocks.iter();
            let Some(block) = blocks
                .into_iter()
                .find(|b| b.coordinates.contains(&coordinate))
            else {
                continue;
            };
            let momenta = cluster.momenta(block).into_iter().zip(&block.coordinates);
            let momenta = momenta.map(|(p, c)| match cluster.constant(*c) {
                Some(parameter) => parameter.to_owned(),
                None => format!("{}.{p}", cluster.name),
            });
            let momenta: Vec<String> = momenta.collect();
            let energy = kinetic(algebra, &block.matrix, &momenta);
            let energy = algebra.read(&energy)?;
            let slope = algebra.slope(energy, parameter)?;
            return Some(algebra.text(slope));
        }
        None
    }
}

/// ½ pᵀM⁻¹p
fn kinetic(algebra: &mut Algebra, matrix: &[Vec<ExprId>], p: &[String]) -> String {
    if let [row] = matrix {
        let m = algebra.text(row[0]);
        return quotient(&square(&p[0]), &product("2", &m));
    }
    let det = determinant(algebra, matrix);
    let det = algebra.short(det);
    let below = product("2", &algebra.text(det));
    let n = matrix.len();
    let mut above = "0".to_owned();
    for i in 0..n {
        for j in i..n {
            let cofactor = cofactor(algebra, matrix, (i, j));
            let short = algebra.short(cofactor);
            if algebra.is_zero(short) {
                continue;
            }
            let text = algebra.text(short);
            let term = match i == j {
                true => product(&text, &square(&p[i])),
                false => product(&product("2", &text), &product(&p[i], &p[j])),
            };
            above = sum(&above, &term);
        }
    }
    quotient(&above, &below)
}

fn determinant(algebra: &mut Algebra, matrix: &[Vec<ExprId>]) -> ExprId {
    if let [row] = matrix {
        return row[0];
    }
    let mut total = algebra.pool.number(0.0);
    for (j, &entry) in matrix[0].iter().enumerate() {
        let c = cofactor(algebra, matrix, (0, j));
        let term = algebra.pool.mul(entry, c);
        total = algebra.pool.add(total, term);
    }
    total
}

/// The determinant without a row and a column, with its sign.
fn cofactor(algebra: &mut Algebra, matrix: &[Vec<ExprId>], (i, j): (usize, usize)) -> ExprId {
    let rows = matrix.iter().enumerate().filter(|(r, _)| *r != i);
    let rest: Vec<Vec<ExprId>> = rows
        .map(|(_, row)| {
            let kept = row.iter().enumerate().filter(|(c, _)| *c != j);
            kept.map(|(_, &e)| e).collect()
        })
        .collect();
    let minor = determinant(algebra, &rest);
    match (i + j) % 2 {
        0 => minor,
        _ => algebra.pool.neg(minor),
    }
}

/// The places that moduli read.
///
/// # Errors
///
/// One reads something that is no place, or that has no slope.
fn places_read(
    algebra: &mut Algebra,
    net: &Net,
    places: &Places,
    masses: &[Mass],
) -> Result<Vec<Place>, String> {
    let mut found: Vec<Place> = Vec::new();
    let mut kinematics = Kinematics::new(net);
    for t in masses.iter().flat_map(|m| m.form.values().copied()) {
        for name in algebra.varying(t) {
            let Some(place) = places.get(&name) else {
                return Err(format!(
                    "a modulus reads `{name}`, whose rate is not a flow of this graph: the field would need a port where it moves (`der({name}) = junction.f`)"
                ));
            };
            if algebra.slope(t, &name).is_none() {
                return Err(format!(
                    "a modulus has no slope along `{name}` that can be written"
                ));
            }
            kinematics.of(algebra, place.junction)?;
            if !found.contains(place) {
                found.push(place.clone());
            }
        }
    }
    Ok(found)
}

fn changes(algebra: &mut Algebra, e: ExprId, name: &str) -> bool {
    let slope = algebra.slope(e, name);
    slope.is_none_or(|s| !algebra.is_zero(s))
}

/// Σ t_i v_i as text.
pub fn flow_text(algebra: &mut Algebra, net: &Net, form: &Form) -> String {
    let mut total = "0".to_owned();
    for (&c, &t) in form {
        let t = algebra.text(t);
        let term = match c == GIVEN {
            true => t,
            false => {
                let name = net.things[c].name.clone().unwrap_or_default();
                product(&t, &format!("{name}.f"))
            }
        };
        total = sum(&total, &term);
    }
    total
}

/// V(q) of a spring, from q = 0.
fn potential(algebra: &mut Algebra, net: &Net, spring: ThingId) -> Result<ExprId, String> {
    let label = net.label(spring);
    let no_energy = || format!("the energy of {label} has no closed form");
    let symbol = algebra.symbol("q");
    let energy = match &net.things[spring].gain {
        Some(gain) => {
            let c = algebra.read(gain).ok_or_else(no_energy)?;
            let q = algebra.name("q");
            let pool = &mut algebra.pool;
            let two = pool.number(2.0);
            let (above, below) = (pool.powi(q, 2), pool.mul(two, c));
            pool.div(above, below)
        }
        None => {
            let (target, law) = law_of(&net.things[spring].def).ok_or_else(no_energy)?;
            let law = algebra.read(&law).ok_or_else(no_energy)?;
            match target.as_str() {
                "energy" => law,
                "e" => antiderivative(&mut algebra.pool, law, symbol).ok_or_else(no_energy)?,
                _ => return Err(no_energy()),
            }
        }
    };
    let read = algebra.varying(energy);
    if let Some(other) = read.iter().find(|n| *n != "q") {
        return Err(format!("the law of {label} reads `{other}`"));
    }
    let zero = algebra.pool.number(0.0);
    let start = algebra.with(energy, &|name| (name == "q").then_some(zero));
    Ok(algebra.pool.sub(energy, start))
}

/// What a law in braces gives, and by what: `C { e = k*q }`.
fn law_of(def: &str) -> Option<(String, String)> {
    let source = format!("model M {{ x: {def}\n}}");
    let parsed = parse(FileId(0), &source);
    let ItemKind::Model(model) = &parsed.ast.items.first()?.kind else {
        return None;
    };
    let StmtKind::Chain(chain) = &model.body.first()?.kind else {
        return None;
    };
    let NodeKind::Thing { kind, .. } = &chain.groups.first()?.first()?.kind else {
        return None;
    };
    let [equation] = kind.law.as_deref()? else {
        return None;
    };
    if equation.index.is_some() || !kind.flags.is_empty() {
        return None;
    }
    let span = equation.value.span;
    let text = source.get(span.start as usize..span.end as usize)?;
    Some((equation.target.text.to_string(), text.to_owned()))
}
