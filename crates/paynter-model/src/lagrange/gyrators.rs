//! Finds the gyrators that Lagrange's equations need beside transformers.
//!
//! In:  inertias and the forms of their rates.
//! Out: gyrators between junctions, modulated by momenta.
//!
//! The load on q̇_i is Σ_j p_k Ω_ij q̇_j with Ω = −dt_k, an antisymmetric form. Where Ω is the product of two
//! forms that have junctions, Ω = ±φ_a∧φ_b, one gyrator between these junctions with the modulus p_k has exactly that
//! load; elsewhere it is spread over pairs of coordinates. With speeds all forms are
//! those that are left of them on motions that the constraints allow. A rigid body's three rates with −dω₁ = ω₂∧ω₃ and so
//! on form the Eulerian ring, and are taken first. All of it is decided in numbers at random points.

use super::forms::{Forms, affine_terms, depends_on_time};
use super::names::{junction_of, original};
use super::points::{POINTS, agree, at_points, is_zero, sum_of};
use super::speeds::Basis;
use super::squares::Inertia;
use super::system::{Named, Role, System};
use crate::code;
use paynter_symbolic::calculus::gradient;
use paynter_symbolic::{ExprId, Node, SymbolId};
use paynter_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

/// Between which junctions gyrators are put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Between two junctions whose forms say it in one gyrator, rings first; else between coordinates.
    #[default]
    Ring,
    /// As before, and two gyrators where one does not say it.
    Factored,
    /// Between junctions of coordinates, or of speeds, only.
    Coordinate,
}

/// One gyrator.
#[derive(Clone, Debug)]
pub(super) struct Gyrator {
    pub from: String,
    pub to: String,
    pub modulus: ExprId,
    /// What it stands for, in the words of the theorem.
    pub why: String,
    pub span: Span,
}

/// Finds all gyrators: of inertias, then of potentials that depend on rates.
///
/// # Errors
///
/// Potentials that depend on rates otherwise than linearly.
pub(super) fn find(
    system: &mut System,
    (forms, basis): (&Forms, &Basis),
    inertias: &[Inertia],
    style: Style,
) -> Result<Vec<Gyrator>, Vec<Diagnostic>> {
    let mut curls: Vec<Curl> = Vec::new();
    for inertia in inertias {
        let over = forms.of(system, inertia.rate).over.clone();
        let curl = curl(system, &over);
        curls.push(basis.curl_over(system, curl));
    }
    let mut found = Vec::new();
    if curls.iter().any(|curl| !curl.is_zero()) {
        let junctions = junctions(system, forms, basis);
        let rings = rings(system, &junctions, &curls, inertias);
        for (curl, inertia) in curls.iter().zip(inertias) {
            if curl.is_zero() {
                continue;
            }
            let momentum = system.add(&format!("{}.p", inertia.name), Role::Momentum);
            let momentum = system.pool.symbol(momentum);
            let what = format!("-d({})", junction_of(system, inertia.rate));
            let pairs = match style {
                Style::Coordinate => None,
                Style::Ring => one_pair(&junctions, curl, &rings).map(|pair| vec![pair]),
                Style::Factored => one_pair(&junctions, curl, &rings)
                    .map(|pair| vec![pair])
                    .or_else(|| two_pairs(&junctions, curl)),
            };
            match pairs {
                Some(pairs) => {
                    let all: Vec<String> = pairs
                        .iter()
                        .map(|&(a, b)| format!("{} ∧ {}", junctions[a].name, junctions[b].name))
                        .collect();
                    found.extend(pairs.into_iter().map(|(a, b)| Gyrator {
                        from: junctions[a].name.clone(),
                        to: junctions[b].name.clone(),
                        modulus: momentum,
                        why: format!("{what} = {}", all.join(" + ")),
                        span: inertia.span,
                    }));
                }
                None => {
                    let source = (what.as_str(), inertia.span);
                    found.extend(between_tops(system, basis, (curl, momentum), source));
                }
            }
        }
    }
    of_potentials(system, (forms, basis), &mut found)?;
    Ok(found)
}

/// A junction and its form at the points.
struct Junction {
    name: String,
    symbol: SymbolId,
    /// It moves by itself: a coordinate, or a speed.
    is_top: bool,
    /// By top.
    over: FxHashMap<usize, [f64; POINTS]>,
}

impl Junction {
    fn at(&self, top: usize, point: usize) -> f64 {
        self.over.get(&top).map_or(0.0, |v| v[point])
    }
}

fn junctions(system: &mut System, forms: &Forms, basis: &Basis) -> Vec<Junction> {
    let velocities = system.coordinates.iter().map(|c| c.velocity);
    let rates = system.rates.iter().map(|r| r.symbol);
    let symbols: Vec<SymbolId> = velocities
        .chain(rates)
        .filter(|&symbol| original(system, symbol) == symbol)
        .collect();
    let mut found = Vec::new();
    for symbol in symbols {
        let top = basis.top_of(symbol);
        let over = match top {
            Some(top) => vec![(top, system.pool.number(1.0))],
            None => basis.over(system, &forms.of(system, symbol).over),
        };
        found.push(Junction {
            name: junction_of(system, symbol),
            symbol,
            is_top: top.is_some(),
            over: over
                .into_iter()
                .map(|(i, e)| (i, at_points(system, e)))
                .collect(),
        });
    }
    found
}

/// Ω_ij = ∂_j t_i − ∂_i t_j for i < j where it is not zero, as expressions and at the points.
pub(super) struct Curl {
    entries: Vec<(usize, usize, ExprId, [f64; POINTS])>,
}

impl Curl {
    pub fn is_zero(&self) -> bool {
        self.entries.is_empty()
    }

    /// Its entries: (i, j, Ω_ij) for i < j.
    pub fn expressions(&self) -> impl Iterator<Item = (usize, usize, ExprId)> {
        self.entries.iter().map(|&(i, j, e, _)| (i, j, e))
    }

    /// The largest entry at each point.
    fn sizes(&self) -> [f64; POINTS] {
        let mut sizes = [0.0_f64; POINTS];
        for (_, _, _, values) in &self.entries {
            for (size, x) in sizes.iter_mut().zip(values) {
                *size = size.max(x.abs());
            }
        }
        sizes
    }

    /// The form whose entries for i < j have these parts.
    pub fn from_parts(
        system: &mut System,
        parts: FxHashMap<(usize, usize), Vec<ExprId>>,
        short: impl Fn(&mut System, ExprId) -> ExprId,
    ) -> Curl {
        let mut parts: Vec<_> = parts.into_iter().collect();
        parts.sort_unstable_by_key(|entry| entry.0);
        let mut entries = Vec::new();
        for ((i, j), parts) in parts {
            let Some(sum) = sum_of(system, &parts) else {
                continue;
            };
            let e = short(system, sum);
            if !is_zero(system, e) {
                entries.push((i, j, e, at_points(system, e)));
            }
        }
        Curl { entries }
    }
}

pub(super) fn curl(system: &mut System, form: &[(usize, ExprId)]) -> Curl {
    let mut parts: FxHashMap<(usize, usize), Vec<ExprId>> = FxHashMap::default();
    for &(i, coefficient) in form {
        let places = system.positions_in(coefficient);
        let symbols: Vec<SymbolId> = places
            .iter()
            .map(|&j| system.coordinates[j].position)
            .collect();
        let slopes = gradient(&mut system.pool, coefficient, &symbols);
        for (&j, slope) in places.iter().zip(slopes) {
            if i == j {
                continue;
            }
            let part = match i < j {
                true => slope,
                false => system.pool.neg(slope),
            };
            parts.entry((i.min(j), i.max(j))).or_default().push(part);
        }
    }
    Curl::from_parts(system, parts, System::simplify)
}

/// Tells whether Ω = sign · a∧b at all points.
fn is_product(curl: &Curl, a: &Junction, b: &Junction, sign: f64) -> bool {
    let product =
        |i: usize, j: usize, p: usize| sign * (a.at(i, p) * b.at(j, p) - b.at(i, p) * a.at(j, p));
    let sizes = curl.sizes();
    let holds = |i: usize, j: usize, values: &[f64; POINTS]| {
        (0..POINTS).all(|p| agree(values[p], product(i, j, p), sizes[p]))
    };
    if !curl.entries.iter().all(|(i, j, _, v)| holds(*i, *j, v)) {
        return false;
    }
    // Where Ω is zero, the product must be, too.
    let is_entry = |i: usize, j: usize| {
        let key = (i.min(j), i.max(j));
        curl.entries.iter().any(|e| (e.0, e.1) == key)
    };
    a.over.keys().all(|&i| {
        b.over
            .keys()
            .all(|&j| i == j || is_entry(i, j) || holds(i, j, &[0.0; POINTS]))
    })
}

/// Triples of junctions whose forms turn into each other, −dA = B∧C, −dB = C∧A, −dC = A∧B; each with an inertia.
fn rings(
    system: &System,
    junctions: &[Junction],
    curls: &[Curl],
    inertias: &[Inertia],
) -> Vec<[usize; 3]> {
    let curl_of = |j: &Junction| {
        let k = inertias
            .iter()
            .position(|i| original(system, i.rate) == j.symbol)?;
        Some(&curls[k]).filter(|curl| !curl.is_zero())
    };
    let turning: Vec<(usize, &Curl)> = junctions
        .iter()
        .enumerate()
        .filter_map(|(n, j)| Some((n, curl_of(j)?)))
        .collect();
    let mut found = Vec::new();
    for &(a, da) in &turning {
        for &(b, db) in turning.iter().filter(|t| t.0 > a) {
            for &(c, dc) in turning.iter().filter(|t| t.0 > a && t.0 != b) {
                let [ja, jb, jc] = [&junctions[a], &junctions[b], &junctions[c]];
                if is_product(da, jb, jc, 1.0)
                    && is_product(db, jc, ja, 1.0)
                    && is_product(dc, ja, jb, 1.0)
                {
                    found.push([a, b, c]);
                }
            }
        }
    }
    found
}

/// The best pair of junctions whose product is Ω: of a ring, with a coordinate, by name.
fn one_pair(junctions: &[Junction], curl: &Curl, rings: &[[usize; 3]]) -> Option<(usize, usize)> {
    // What is better comes first.
    type Key<'j> = (bool, bool, &'j str, &'j str);
    let mut best: Option<(Key<'_>, (usize, usize))> = None;
    for a in 0..junctions.len() {
        for b in a + 1..junctions.len() {
            let pair = if is_product(curl, &junctions[a], &junctions[b], 1.0) {
                (a, b)
            } else if is_product(curl, &junctions[a], &junctions[b], -1.0) {
                (b, a)
            } else {
                continue;
            };
            let is_of_ring = rings.iter().any(|r| r.contains(&a) && r.contains(&b));
            let has_top = junctions[a].is_top || junctions[b].is_top;
            let key = (
                !is_of_ring,
                !has_top,
                &*junctions[pair.0].name,
                &*junctions[pair.1].name,
            );
            if best.as_ref().is_none_or(|(old, _)| key < *old) {
                best = Some((key, pair));
            }
        }
    }
    best.map(|(_, pair)| pair)
}

/// More junctions than this are not searched for two pairs: their number grows with the fourth power.
const MAX_JUNCTIONS_FOR_TWO: usize = 24;

/// Two pairs whose products add up to Ω.
fn two_pairs(junctions: &[Junction], curl: &Curl) -> Option<Vec<(usize, usize)>> {
    let n = junctions.len();
    if n > MAX_JUNCTIONS_FOR_TWO {
        return None;
    }
    let pairs: Vec<(usize, usize)> = (0..n)
        .flat_map(|a| (0..n).map(move |b| (a, b)))
        .filter(|&(a, b)| a != b)
        .collect();
    for (k, &(a, b)) in pairs.iter().enumerate() {
        let rest = without(curl, &junctions[a], &junctions[b]);
        if rest.entries.len() > curl.entries.len() {
            continue;
        }
        let second = pairs[k + 1..]
            .iter()
            .find(|&&(c, d)| is_product(&rest, &junctions[c], &junctions[d], 1.0));
        if let Some(&second) = second {
            return Some(vec![(a, b), second]);
        }
    }
    None
}

/// Ω − a∧b, in numbers.
fn without(curl: &Curl, a: &Junction, b: &Junction) -> Curl {
    let mut values: FxHashMap<(usize, usize), [f64; POINTS]> =
        curl.entries.iter().map(|e| ((e.0, e.1), e.3)).collect();
    for &i in a.over.keys() {
        for &j in b.over.keys().filter(|&&j| j != i) {
            let (low, high) = (i.min(j), i.max(j));
            let sign = if i < j { 1.0 } else { -1.0 };
            let entry = values.entry((low, high)).or_insert([0.0; POINTS]);
            for (p, x) in entry.iter_mut().enumerate() {
                *x -= sign * a.at(i, p) * b.at(j, p);
            }
        }
    }
    let (some, sizes) = (curl.entries[0].2, curl.sizes());
    let is_left = |v: &[f64; POINTS]| (0..POINTS).any(|p| !agree(v[p], 0.0, sizes[p]));
    let entries = values
        .into_iter()
        .filter(|(_, v)| is_left(v))
        .map(|((i, j), v)| (i, j, some, v))
        .collect();
    Curl { entries }
}

/// One gyrator for each pair of coordinates, or speeds, that Ω couples.
fn between_tops(
    system: &mut System,
    basis: &Basis,
    (curl, momentum): (&Curl, ExprId),
    (what, span): (&str, Span),
) -> Vec<Gyrator> {
    let mut found = Vec::new();
    for (i, j, e) in curl.expressions() {
        let mut ends = (&basis.tops[i], &basis.tops[j]);
        let mut size = e;
        // Read from the other end, the modulus has the other sign.
        if starts_negative(system, size) {
            ends = (ends.1, ends.0);
            size = system.pool.neg(size);
        }
        found.push(Gyrator {
            from: ends.0.junction.clone(),
            to: ends.1.junction.clone(),
            modulus: system.pool.mul(momentum, size),
            why: format!("{what} between {} and {}", ends.0.label, ends.1.label),
            span,
        });
    }
    found
}

fn starts_negative(system: &System, e: ExprId) -> bool {
    match system.pool.node(e) {
        Node::Neg(_) => true,
        Node::Number(bits) => f64::from_bits(bits) < 0.0,
        Node::Mul(a, b) => starts_negative(system, a) || starts_negative(system, b),
        Node::Div(a, _) => starts_negative(system, a),
        _ => false,
    }
}

/// A potential −A(q)·q̇ is a gyrator with the curl of A.
fn of_potentials(
    system: &mut System,
    (forms, basis): (&Forms, &Basis),
    found: &mut Vec<Gyrator>,
) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    for named in system.potential.clone() {
        if system.rates_in(named.value).is_empty() {
            continue;
        }
        match vector_potential(system, forms, &named) {
            Ok(a) => {
                let curl = curl(system, &a);
                let curl = basis.curl_over(system, curl);
                let one = system.pool.number(1.0);
                let what = format!("curl of {}", named.name);
                found.extend(between_tops(
                    system,
                    basis,
                    (&curl, one),
                    (&what, named.span),
                ));
            }
            Err(message) => errors.push(*message),
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// A in U = φ − A·q̇, by coordinate.
fn vector_potential(
    system: &mut System,
    forms: &Forms,
    named: &Named,
) -> Result<Vec<(usize, ExprId)>, Box<Diagnostic>> {
    let Some((mut terms, _)) = affine_terms(system, named.value) else {
        return Err(Box::new(
            Diagnostic::error(
                code::POTENTIAL_FORM,
                format!("the potential `{}` is not linear in the rates", named.name),
            )
            .primary(named.span, "what is quadratic in rates is kinetic energy")
            .help("write that part as `kinetic`, with the sign it has in T"),
        ));
    };
    for term in &mut terms {
        if system.reads_time(term.coefficient) {
            return Err(depends_on_time(system, named, term.coefficient));
        }
        term.coefficient = system.pool.neg(term.coefficient);
    }
    Ok(forms.over(system, &terms))
}
