//! Turns matrix transformers whose inverse is their transpose to the direction that strokes ask for.
//!
//! In:  a bond graph in which every matrix transformer is written as f₂ = M f₁, e₁ = Mᵀ e₂.
//! Out: the same physics; where M is orthogonal and power is better followed the other way, the
//!      transformer is written as f₁ = Mᵀ f₂, e₂ = M e₁.
//!
//! The entries of a rotation can vanish, so no stroke should divide by one of them: as scalars they work in the
//! direction in which they are written only, and a mass beyond them would depend on a velocity before them. The
//! whole matrix divides by nothing either way. Both ways have the same elements: junctions of inputs and outputs
//! change their kind, and entries their form.
//!
//! Which way is asked for shows in a simpler graph, with every rotation replaced by a permutation: there strokes pass
//! freely. One assignment of that graph decides for all transformers at once, chains of them included.
//!
//! **Invariant:** the graph is changed only if strokes are better for it; no symbol, bond or element is added or lost.

use super::laws::{evaluate, reads};
use super::{Causality, assign_causality};
use crate::graph::{BondGraph, BondId, ElementId, ElementKind, End, GroupId, Law, Stroke};
use crate::relax::position;
use paynter_symbolic::dae::Role;
use paynter_symbolic::{ExprId, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Writes orthogonal transformers in the direction that strokes ask for, and gives the parameters whose values decide
/// about that. Mechanisms are left as they are: how their locks are kept decides about strokes, see [`with_reactions`].
pub fn orient_transformers(graph: &mut BondGraph) -> Vec<SymbolId> {
    let nothing = Vec::new();
    if is_broken(graph) || graph.elements.iter().any(|e| position(e).is_some()) {
        return nothing;
    }
    let (rotations, decided_by) = find_rotations(graph);
    if rotations.is_empty() {
        return nothing;
    }
    let before = assign_causality(graph);
    if is_perfect(&before) {
        return nothing;
    }
    let turned = ask_strokes(graph, rotations);
    if turned.is_empty() {
        return nothing;
    }
    turned.iter().for_each(|m| turn(graph, m));
    let after = assign_causality(graph);
    if burden(&after) >= burden(&before) {
        turned.iter().for_each(|m| turn(graph, m));
        return nothing;
    }
    decided_by
}

/// Gives the graph in which every lock is a source of an effort that is found with the equations, its reaction λ; the
/// ones with the reactions in `idle` give none. Orthogonal transformers are written in the direction that strokes ask for
/// then: bodies give their rates to the joints, and locks their efforts to the bodies.
///
/// Also gives the parameters whose values decide about the directions.
pub fn with_reactions(graph: &BondGraph, idle: &[SymbolId]) -> (BondGraph, Vec<SymbolId>) {
    let mut free = graph.clone();
    for index in 0..free.elements.len() {
        let element = &free.elements[index];
        if position(element).is_none() {
            continue;
        }
        let reaction = free.bond(element.ports[0]).effort;
        let pool = &mut free.signals.pool;
        let value = match idle.contains(&reaction) {
            true => pool.number(0.0),
            false => pool.symbol(reaction),
        };
        let element = &mut free.elements[index];
        element.kind = ElementKind::Se;
        element.is_modulated = true;
        element.law = Law::Source {
            value,
            position: None,
        };
    }
    let decided_by = follow_strokes(&mut free);
    (free, decided_by)
}

/// Writes orthogonal transformers in the direction that strokes ask for, in a graph in which storages can all be
/// integral then: nothing is tried out. Gives the parameters whose values decide.
pub fn follow_strokes(graph: &mut BondGraph) -> Vec<SymbolId> {
    if is_broken(graph) {
        return Vec::new();
    }
    let (rotations, decided_by) = find_rotations(graph);
    let turned = ask_strokes(graph, rotations);
    turned.iter().for_each(|m| turn(graph, m));
    decided_by
}

/// Gives a graph the directions of transformers that another form of it has.
pub fn turn_like(graph: &mut BondGraph, other: &BondGraph) {
    for (own, other) in graph.elements.iter_mut().zip(&other.elements) {
        if own.part_of.is_some() && own.kind != other.kind && other.kind.is_junction() {
            own.kind = other.kind;
        }
        if own.kind == ElementKind::Tf {
            own.law = other.law.clone();
        }
    }
}

/// Tells whether a bond lacks an end: a model with errors.
fn is_broken(graph: &BondGraph) -> bool {
    let n = graph.elements.len() as u32;
    let is_joined = |end: End| end.element.0 < n;
    let mut bonds = graph.bonds.iter();
    !bonds.all(|b| is_joined(b.tail) && is_joined(b.head))
}

/// Lists the matrix transformers whose inverse is their transpose, and the parameters whose present values alone make
/// them so.
fn find_rotations(graph: &BondGraph) -> (Vec<Matrix>, Vec<SymbolId>) {
    let mut matrices = find_matrices(graph);
    if matrices.is_empty() {
        return (matrices, Vec::new());
    }
    let definitions = definitions(graph);
    let mut points: Vec<Point> = (0..N_POINTS)
        .map(|number| Point::new(graph, &definitions, (number, 1.0)))
        .collect();
    matrices.retain(|m| is_orthogonal(&mut points, m));
    let mut elsewhere = [Point::new(graph, &definitions, (N_POINTS, OTHER_VALUES))];
    let mut decided_by = Vec::new();
    for m in &matrices {
        if !is_orthogonal(&mut elsewhere, m) {
            decided_by.extend(elsewhere[0].parameters_of(m));
        }
    }
    decided_by.sort_unstable();
    decided_by.dedup();
    (matrices, decided_by)
}

/// Picks those through which strokes would go backwards.
fn ask_strokes(graph: &BondGraph, rotations: Vec<Matrix>) -> Vec<Matrix> {
    if rotations.is_empty() {
        return rotations;
    }
    let simple = with_permutations(graph, &rotations);
    let strokes = assign_causality(&simple);
    let is_turned = |m: &Matrix| {
        let mut entries = m.permutation.iter().map(|&k| &m.entries[k]);
        entries.all(|entry| runs_backwards(&simple, &strokes, entry))
    };
    rotations.into_iter().filter(is_turned).collect()
}

/// A square matrix transformer.
struct Matrix {
    n: usize,
    /// Junctions: inputs, then outputs.
    inputs: Vec<ElementId>,
    outputs: Vec<ElementId>,
    entries: Vec<Entry>,
    /// Positions among `entries` of one entry in every row and column.
    permutation: Vec<usize>,
}

/// An entry of a matrix that is not the number 0.
struct Entry {
    row: usize,
    column: usize,
    by: By,
}

#[derive(Clone, Copy)]
enum By {
    /// A transformer with this modulus.
    TwoPort(ElementId, ExprId),
    /// A bond: the entry is 1.
    Bond(BondId),
}

impl Entry {
    /// The modulus, where there is one.
    fn modulus(&self) -> Option<ExprId> {
        match self.by {
            By::TwoPort(_, modulus) => Some(modulus),
            By::Bond(_) => None,
        }
    }
}

/// Lists the square matrix transformers that are written flow-forward.
fn find_matrices(graph: &BondGraph) -> Vec<Matrix> {
    let mut members: FxHashMap<GroupId, Vec<ElementId>> = FxHashMap::default();
    for (index, element) in graph.elements.iter().enumerate() {
        if let Some((group, _)) = element.part_of
            && graph.groups[group.0 as usize].kind == Some(ElementKind::Tf)
        {
            members
                .entry(group)
                .or_default()
                .push(ElementId(index as u32));
        }
    }
    let mut groups: Vec<(GroupId, Vec<ElementId>)> = members.into_iter().collect();
    groups.sort_unstable();
    groups
        .iter()
        .filter_map(|(_, members)| read_matrix(graph, members))
        .collect()
}

/// Reads the entries of one matrix off its elements; none if it is not square, or of another form.
fn read_matrix(graph: &BondGraph, members: &[ElementId]) -> Option<Matrix> {
    let of_kind = |kind: ElementKind| -> Vec<ElementId> {
        let is_it = |e: &&ElementId| graph.element(**e).kind == kind;
        members.iter().filter(is_it).copied().collect()
    };
    let (inputs, outputs) = (of_kind(ElementKind::One), of_kind(ElementKind::Zero));
    let n = inputs.len();
    if n != outputs.len() || n == 0 {
        return None;
    }
    let place = |list: &[ElementId], e: ElementId| list.iter().position(|&x| x == e);
    let mut entries = Vec::new();
    for id in of_kind(ElementKind::Tf) {
        let element = graph.element(id);
        let (&Law::Gain(modulus), &[first, second]) = (&element.law, &element.ports[..]) else {
            return None;
        };
        entries.push(Entry {
            row: place(&outputs, graph.bond(second).head.element)?,
            column: place(&inputs, graph.bond(first).tail.element)?,
            by: By::TwoPort(id, modulus),
        });
    }

    for (column, &input) in inputs.iter().enumerate() {
        for &b in &graph.element(input).ports {
            if let Some(row) = place(&outputs, graph.bond(b).head.element) {
                entries.push(Entry {
                    row,
                    column,
                    by: By::Bond(b),
                });
            }
        }
    }

    // A side that is left open has no bond of its own there: turned round it would be closed.
    let is_bonded =
        |id: ElementId, n_entries: usize| graph.element(id).ports.len() == n_entries + 1;
    let in_column = |k: usize| entries.iter().filter(|e| e.column == k).count();
    let in_row = |k: usize| entries.iter().filter(|e| e.row == k).count();
    let are_bonded =
        (0..n).all(|k| is_bonded(inputs[k], in_column(k)) && is_bonded(outputs[k], in_row(k)));
    if !are_bonded {
        return None;
    }
    let permutation = permutation(n, &entries)?;
    Some(Matrix {
        n,
        inputs,
        outputs,
        entries,
        permutation,
    })
}

/// Picks entries, one for every row and column (augmenting paths).
fn permutation(n: usize, entries: &[Entry]) -> Option<Vec<usize>> {
    fn place(row: usize, entries: &[Entry], seen: &mut [bool], of: &mut [Option<usize>]) -> bool {
        for (k, entry) in entries.iter().enumerate().filter(|(_, e)| e.row == row) {
            if std::mem::replace(&mut seen[entry.column], true) {
                continue;
            }
            let is_free = match of[entry.column] {
                None => true,
                Some(other) => place(entries[other].row, entries, seen, of),
            };
            if is_free {
                of[entry.column] = Some(k);
                return true;
            }
        }
        false
    }
    let mut of = vec![None; n];
    let is_complete = (0..n).all(|row| place(row, entries, &mut vec![false; n], &mut of));
    if is_complete {
        of.into_iter().collect()
    } else {
        None
    }
}

/// For each symbol the expression that an equation gives for it.
fn definitions(graph: &BondGraph) -> FxHashMap<SymbolId, ExprId> {
    let pool = &graph.signals.pool;
    let equations = graph.signals.equations.iter();
    equations
        .filter_map(|e| Some((pool.as_symbol(e.left)?, e.right)))
        .collect()
}

/// Points at which a matrix is looked at. What is orthogonal at all of them is so by its form, or by its parameters.
const N_POINTS: u32 = 4;

/// Share of its value that a parameter has at a point that tells the two apart.
const OTHER_VALUES: f64 = 1.17;

/// Products of sines and cosines are rounded in the last digits; what is farther off was not meant to be a rotation.
const ROUNDING: f64 = 1e-12;

/// Tells whether M Mᵀ = 1 at made-up points.
fn is_orthogonal(points: &mut [Point<'_>], m: &Matrix) -> bool {
    points.iter_mut().all(|point| {
        let mut dense = vec![0.0; m.n * m.n];
        for entry in &m.entries {
            let value = match entry.by {
                By::Bond(_) => Some(1.0),
                By::TwoPort(_, e) => point.value(e),
            };
            match value {
                Some(v) => dense[entry.row * m.n + entry.column] += v,
                None => return false,
            }
        }
        let product = |i: usize, j: usize| -> f64 {
            (0..m.n)
                .map(|k| dense[i * m.n + k] * dense[j * m.n + k])
                .sum()
        };
        let is_one =
            |i: usize, j: usize| (product(i, j) - f64::from(u8::from(i == j))).abs() <= ROUNDING;
        (0..m.n).all(|i| (0..=i).all(|j| is_one(i, j)))
    })
}

/// Values of signals at a made-up point.
struct Point<'a> {
    graph: &'a BondGraph,
    definitions: &'a FxHashMap<SymbolId, ExprId>,
    number: u32,
    /// Share of its own value that every parameter has.
    share: f64,
    values: FxHashMap<SymbolId, f64>,
    /// Symbols whose definition is being followed: a cycle has no value.
    open: FxHashSet<SymbolId>,
}

impl<'a> Point<'a> {
    fn new(
        graph: &'a BondGraph,
        definitions: &'a FxHashMap<SymbolId, ExprId>,
        (number, share): (u32, f64),
    ) -> Self {
        let mut point = Point {
            graph,
            definitions,
            number,
            share,
            values: FxHashMap::default(),
            open: FxHashSet::default(),
        };
        let invariants = graph.signals.invariants.iter();
        invariants.for_each(|invariant| point.keep(invariant.residual));
        point
    }

    /// Moves what an invariant reads to where it holds, along its slope: a quaternion has length 1. An invariant of
    /// something that is defined elsewhere is left alone.
    fn keep(&mut self, residual: ExprId) {
        let symbols = reads(&self.graph.signals.pool, residual);
        let is_free = |s: &SymbolId| {
            let role = &self.graph.signals.symbol(*s).role;
            !self.definitions.contains_key(s) && matches!(role, Role::Unknown)
        };
        if !symbols.iter().all(is_free) || symbols.iter().any(|s| self.define(*s).is_none()) {
            return;
        }
        // Newton's method squares its error, from differences too: these are exact for squares.
        const MAX_STEPS: usize = 60;
        let mut last = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            let Some(r) = self.known_value(residual) else {
                return;
            };
            // A residual that does not become smaller is rounding, or never vanishes.
            if r.abs() < f64::EPSILON || r.abs() >= last {
                return;
            }
            last = r.abs();
            let slopes: Vec<f64> = symbols.iter().map(|&s| self.slope(residual, s)).collect();
            let square: f64 = slopes.iter().map(|g| g * g).sum();
            if !square.is_normal() {
                return;
            }
            for (s, g) in symbols.iter().zip(&slopes) {
                *self.values.entry(*s).or_default() -= r * g / square;
            }
        }
    }

    /// Parameters that a matrix is made of and that nothing binds.
    fn parameters_of(&self, m: &Matrix) -> Vec<SymbolId> {
        let mut open: Vec<ExprId> = m.entries.iter().filter_map(Entry::modulus).collect();
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        while let Some(e) = open.pop() {
            for s in reads(&self.graph.signals.pool, e) {
                if !seen.insert(s) {
                    continue;
                }
                match (self.graph.signals.symbol(s).role, self.definitions.get(&s)) {
                    (Role::Parameter { binding: None, .. }, _) => found.push(s),
                    (Role::Parameter { binding, .. }, _) => open.extend(binding),
                    (_, definition) => open.extend(definition),
                }
            }
        }
        found
    }

    fn slope(&mut self, e: ExprId, s: SymbolId) -> f64 {
        let x = self.values[&s];
        let mut at = |shift: f64| {
            self.values.insert(s, x + shift);
            self.known_value(e).unwrap_or(f64::NAN)
        };
        let slope = at(0.5) - at(-0.5);
        self.values.insert(s, x);
        slope
    }

    fn value(&mut self, e: ExprId) -> Option<f64> {
        for s in reads(&self.graph.signals.pool, e) {
            self.define(s)?;
        }
        self.known_value(e)
    }

    /// The value of an expression all of whose symbols have one.
    fn known_value(&self, e: ExprId) -> Option<f64> {
        let values = &self.values;
        let value = evaluate(&self.graph.signals.pool, e, &|s| values.get(&s).copied());
        value.filter(|v| v.is_finite())
    }

    fn define(&mut self, s: SymbolId) -> Option<()> {
        if self.values.contains_key(&s) {
            return Some(());
        }
        if !self.open.insert(s) || self.open.len() > DEEPEST {
            return None;
        }
        let value = match (self.definitions.get(&s), &self.graph.signals.symbol(s).role) {
            (Some(&e), Role::Unknown) => self.value(e)?,
            (
                _,
                &Role::Parameter {
                    binding: Some(e), ..
                },
            ) => self.value(e)?,
            (_, &Role::Parameter { value, .. }) => value * self.share,
            // Some number of its own for each symbol and point, none of them special.
            _ => {
                3.0 * (0.618 * f64::from(s.0 + 1) + 0.37 * f64::from(self.number + 1)).fract() - 1.4
            }
        };
        self.open.remove(&s);
        self.values.insert(s, value);
        Some(())
    }
}

/// Signals that read signals: more than this many in a row are a chain of bodies that is too long to follow here.
const DEEPEST: usize = 400;

/// Replaces every rotation by a permutation: its other entries pass nothing on.
fn with_permutations(graph: &BondGraph, rotations: &[Matrix]) -> BondGraph {
    let mut simple = graph.clone();
    let (zero, one) = (
        simple.signals.pool.number(0.0),
        simple.signals.pool.number(1.0),
    );
    for m in rotations {
        for (k, entry) in m.entries.iter().enumerate() {
            if let By::TwoPort(id, _) = entry.by {
                let element = &mut simple.elements[id.0 as usize];
                let is_kept = m.permutation.contains(&k);
                element.law = Law::Gain(if is_kept { one } else { zero });
                element.can_vanish = false;
            }
        }
    }
    simple
}

/// Tells whether flow comes in at the output of an entry.
fn runs_backwards(graph: &BondGraph, causality: &Causality, entry: &Entry) -> bool {
    match entry.by {
        By::TwoPort(element, _) => {
            causality.effort_is_input(graph, End { element, port: 1 }) == Some(false)
        }
        // From the input's 1-junction to the output's 0-junction: effort goes the way of the arrow.
        By::Bond(b) => causality.stroke(b) == Some(Stroke::Head),
    }
}

/// Writes a matrix transformer the other way round; twice is not at all.
fn turn(graph: &mut BondGraph, m: &Matrix) {
    let pair = [
        (ElementKind::One, ElementKind::Zero),
        (ElementKind::Zero, ElementKind::One),
    ];
    for &id in m.inputs.iter().chain(&m.outputs) {
        let kind = &mut graph.elements[id.0 as usize].kind;
        if let Some(&(_, other)) = pair.iter().find(|(from, _)| from == kind) {
            *kind = other;
        }
    }
    for entry in &m.entries {
        if let By::TwoPort(id, modulus) = entry.by {
            let law = &mut graph.elements[id.0 as usize].law;
            *law = match law {
                Law::Gain(_) => Law::InverseGain(modulus),
                _ => Law::Gain(modulus),
            };
        }
    }
}

/// Tells whether there is nothing to gain.
fn is_perfect(causality: &Causality) -> bool {
    burden(causality) == [0; 4]
}

/// What is to be avoided, worst first.
fn burden(causality: &Causality) -> [usize; 4] {
    [
        causality.conflicts.len(),
        causality.dependent.len() + causality.free.len(),
        causality.reversed_moduli.len(),
        causality.loops.len() + causality.storage_loops.len(),
    ]
}
