//! Faults: which of them the sensors show, which can be told apart, and by which residuals.
//!
//! In:  a [`Subject`]: known inputs, and outputs that are measured.
//! Out: [`Faults`]: the fault signature matrix of the simplest residuals, what is detectable and isolable, and
//!      smallest sets of further sensors that isolate everything that can be isolated.
//!
//! A fault adds something to the law of an element, to what a source sets, or to what a sensor shows. Every relation between known
//! quantities alone (an analytical redundancy relation: sensors turned round, storages in derivative form) is a combination of the equations in
//! which all unknowns cancel. These combinations form a space with one dimension for each sensor; a fault is detectable if one of them contains it, and isolable from another if
//! one contains it and not the other (Krysander & Frisk 2008 for the structural form). Computed for almost all parameters at a random s of a prime
//! field, the answer is exact. The simplest residuals are those that contain as few faults as possible: no other contains a part of them only.

use crate::findings::Side;
use crate::generic::{Basis, GenericModel, Matrix, Number, loosen};
use crate::reach::short_name;
use crate::subject::Subject;
use paynter::model::graph::{BondGraph, ElementId, ElementKind, Law, Variable};
use paynter::symbolic::{ExprId, Names, Role, Symbol, SymbolId};
use paynter::syntax::Diagnostic;
use std::collections::BTreeSet;

/// What can go wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The element, input or output.
    pub name: String,
    /// What it is.
    pub kind: FaultKind,
    /// Some residual contains it.
    pub is_detectable: bool,
    /// Faults with the same signature: they cannot be told from it.
    pub same_as: Vec<usize>,
}

/// Where a fault acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// In the law of an element.
    Element,
    /// In what an input gives.
    Input,
    /// In what a sensor shows.
    Sensor,
}

/// A relation between known quantities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residual {
    /// The faults it contains, by position.
    pub faults: Vec<usize>,
    /// The sensors it reads, by position among the outputs.
    pub sensors: Vec<usize>,
}

/// A set of further sensors.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorSet {
    /// What to measure.
    pub add: Vec<String>,
    /// Pairs of faults that then cannot be told apart.
    pub n_alike: usize,
    /// Faults that then stay undetected.
    pub n_hidden: usize,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// All faults.
    pub faults: Vec<Fault>,
    /// The simplest residuals; empty where there are too many sensors to list them.
    pub residuals: Vec<Residual>,
    /// Smallest sets of further sensors that leave the fewest faults alike, best first.
    pub sensors: Vec<SensorSet>,
}

/// With more sensors the simplest residuals are too many to list.
const MOST_SENSORS: usize = 5;
/// Sets of columns that are tried for residuals.
const MOST_TRIES: usize = 200_000;
/// Places for further sensors.
const MOST_PLACES: usize = 60;
/// Sensor sets that are listed.
const SHOWN: usize = 6;

/// Finds detectable and isolable faults.
///
/// # Errors
///
/// No outputs, or no generic model.
pub fn faults(subject: &Subject<'_>) -> Result<Faults, Vec<Diagnostic>> {
    subject.needs_output()?;
    for side in [Side::Control, Side::Observe] {
        let held = subject.refuse_held(side);
        held.map_err(|why| vec![subject.no_generic(&why)])?;
    }
    let prepared = Prepared::new(subject)?;
    let n_there = subject.outputs.len();
    let there: Vec<usize> = (0..n_there).collect();
    let signatures = prepared.signatures(&there);
    let names = prepared.faults.iter();
    let faults = names.enumerate().map(|(k, (name, kind))| Fault {
        name: name.clone(),
        kind: *kind,
        is_detectable: !is_zero(&signatures, k),
        same_as: (0..prepared.faults.len())
            .filter(|&j| j != k && !is_zero(&signatures, k) && are_alike(&signatures, j, k))
            .collect(),
    });
    Ok(Faults {
        faults: faults.collect(),
        residuals: residuals(&signatures, prepared.first_sensor_fault(), n_there),
        sensors: prepared.further_sensors(n_there),
    })
}

fn is_zero(signatures: &Matrix, k: usize) -> bool {
    signatures.column(k).iter().all(|x| x.is_zero())
}

fn are_alike(signatures: &Matrix, j: usize, k: usize) -> bool {
    !is_zero(signatures, j) && signatures.columns(&[j, k]).rank() == 1
}

/// A model with faults as inputs.
struct Prepared {
    /// From faults to sensors (those that are there, then possible ones), at a random s.
    response: Matrix,
    /// Names and kinds; faults of the sensors that are there come last.
    faults: Vec<(String, FaultKind)>,
    n_sensors_there: usize,
    /// Names of possible sensors.
    places: Vec<String>,
}

impl Prepared {
    fn new(subject: &Subject<'_>) -> Result<Self, Vec<Diagnostic>> {
        let mut graph = subject.graph().clone();
        loosen(&mut graph, &subject.inputs);
        let mut faults: Vec<(String, FaultKind)> = Vec::new();
        let mut inputs: Vec<SymbolId> = Vec::new();
        for index in 0..graph.elements.len() as u32 {
            if let Some(input) = add_fault(&mut graph, ElementId(index)) {
                inputs.push(input);
                faults.push((short_name(&graph, ElementId(index)), FaultKind::Element));
            }
        }
        for (quantity, &input) in subject.ask.from.iter().zip(&subject.inputs) {
            inputs.push(input);
            faults.push((quantity.column.name.clone(), FaultKind::Input));
        }
        for quantity in &subject.ask.to {
            faults.push((quantity.column.name.clone(), FaultKind::Sensor));
        }
        let (places, symbols) = places(&graph);
        let mut outputs: Vec<ExprId> = subject.outputs.clone();
        outputs.extend(symbols.iter().map(|&s| graph.signals.pool.symbol(s)));
        let model = subject
            .generic_of(&graph, &inputs, &outputs)
            .map_err(|why| vec![subject.no_generic(&why)])?;
        Ok(Prepared {
            response: response(&model),
            faults,
            n_sensors_there: subject.outputs.len(),
            places,
        })
    }

    fn first_sensor_fault(&self) -> usize {
        self.faults.len() - self.n_sensors_there
    }

    /// What each sensor of a set shows of each fault; residuals are combinations of the rows.
    fn signatures(&self, sensors: &[usize]) -> Matrix {
        let first = self.first_sensor_fault();
        Matrix::from_fn(sensors.len(), self.faults.len(), |i, j| match j < first {
            true => self.response[(sensors[i], j)],
            false if sensors[i] == j - first => Number::ONE,
            false => Number::ZERO,
        })
    }

    /// (faults not detected, pairs that are alike) with these sensors.
    fn open(&self, sensors: &[usize]) -> (usize, usize) {
        let signatures = self.signatures(sensors);
        let n = self.first_sensor_fault();
        let hidden = (0..n).filter(|&k| is_zero(&signatures, k)).count();
        let pairs = (0..n).flat_map(|j| (0..j).map(move |k| (j, k)));
        let alike = pairs.filter(|&(j, k)| are_alike(&signatures, j, k)).count();
        (hidden, alike)
    }

    /// Adds sensors one by one, and in pairs, as long as they tell more faults apart.
    fn further_sensors(&self, n_there: usize) -> Vec<SensorSet> {
        let there: Vec<usize> = (0..n_there).collect();
        let now = self.open(&there);
        let all: Vec<usize> = (n_there..n_there + self.places.len()).collect();
        let every: Vec<usize> = there.iter().chain(&all).copied().collect();
        let best = self.open(&every);
        if best == now {
            return Vec::new();
        }
        let mut sets: Vec<(Vec<usize>, (usize, usize))> = vec![(Vec::new(), now)];
        // A set is as good as all sensors together, or the largest that is tried.
        for _ in 0..3 {
            let mut larger: Vec<(Vec<usize>, (usize, usize))> = Vec::new();
            let kept: Vec<Vec<usize>> = sets.iter().take(12).map(|s| s.0.clone()).collect();
            let mut seen: BTreeSet<Vec<usize>> = BTreeSet::new();
            for set in &kept {
                for &k in all.iter().filter(|k| !set.contains(k)) {
                    let mut set = set.clone();
                    set.push(k);
                    set.sort_unstable();
                    if seen.insert(set.clone()) {
                        let sensors: Vec<usize> = there.iter().chain(&set).copied().collect();
                        larger.push((set, self.open(&sensors)));
                    }
                }
            }
            larger.sort_by_key(|s| s.1);
            let is_done = larger.first().is_some_and(|s| s.1 == best);
            if !larger.is_empty() {
                sets = larger;
            }
            if is_done {
                break;
            }
        }
        let top = sets.first().map(|s| s.1);
        let sets = sets.into_iter().filter(|s| Some(s.1) == top).take(SHOWN);
        sets.map(|(set, (n_hidden, n_alike))| SensorSet {
            add: set
                .iter()
                .map(|k| self.places[k - n_there].clone())
                .collect(),
            n_alike,
            n_hidden,
        })
        .collect()
    }
}

/// What junctions share, by name.
fn places(graph: &BondGraph) -> (Vec<String>, Vec<SymbolId>) {
    let all = graph
        .elements
        .iter()
        .filter(|e| e.kind.is_junction() && !e.ports.is_empty());
    let named = all.filter_map(|e| {
        let name = graph.signals.names.display(e.name?);
        let bond = graph.bond(e.ports[0]);
        Some(match e.kind {
            ElementKind::One => (format!("`{name}.f`"), bond.flow),
            _ => (format!("`{name}.e`"), bond.effort),
        })
    });
    named.take(MOST_PLACES).unzip()
}

/// Adds something unknown to the law of a resistor or storage with one port; gives the symbol of it.
pub(crate) fn add_fault(graph: &mut BondGraph, id: ElementId) -> Option<SymbolId> {
    let element = graph.element(id);
    let ([bond], ElementKind::R | ElementKind::C | ElementKind::I) =
        (&element.ports[..], element.kind)
    else {
        return None;
    };
    element.name?;
    let (bond, kind, law) = (graph.bond(*bond).clone(), element.kind, element.law.clone());
    let state = element.states.first().copied();
    let name = graph.signals.names.child(Names::ROOT, "fault", None);
    let fault = graph.signals.add_symbol(Symbol {
        name,
        role: Role::Parameter {
            value: 0.0,
            binding: None,
        },
        nominal: 0.0,
        origin: Default::default(),
    });
    let pool = &mut graph.signals.pool;
    let added = pool.symbol(fault);
    let (e, f) = (pool.symbol(bond.effort), pool.symbol(bond.flow));
    let row = match (law, kind, state) {
        (Law::Explicit(rows), ..) => {
            let [(port, variable, value)] = rows[..] else {
                return None;
            };
            (port, variable, pool.add(value, added))
        }
        (Law::Gain(r), ElementKind::R, _) => {
            let value = pool.mul(r, f);
            (0, Variable::Effort, pool.add(value, added))
        }
        (Law::InverseGain(g), ElementKind::R, _) => {
            let value = pool.mul(g, e);
            (0, Variable::Flow, pool.add(value, added))
        }
        (Law::Gain(value) | Law::InverseGain(value), ElementKind::C, Some(q)) => {
            let q = pool.symbol(q);
            let value = pool.mul(value, q);
            (0, Variable::Effort, pool.add(value, added))
        }
        (Law::Gain(value) | Law::InverseGain(value), ElementKind::I, Some(p)) => {
            let p = pool.symbol(p);
            let value = pool.mul(value, p);
            (0, Variable::Flow, pool.add(value, added))
        }
        _ => return None,
    };
    graph.elements[id.0 as usize].law = Law::Explicit(vec![row]);
    Some(fault)
}

/// C (s − A)⁻¹ B + D₀ + D₁ s + … at a random s.
pub(crate) fn response(model: &GenericModel) -> Matrix {
    let s = Number::random(11, 13);
    let (n, m) = (model.a.n_rows(), model.b.n_columns());
    let shifted = Matrix::from_fn(n, n, |i, j| match i == j {
        true => s - model.a[(i, j)],
        false => -model.a[(i, j)],
    });
    let states = shifted.solve(&model.b).expect("a random s is no pole");
    let mut sum = model.c.times(&states);
    let mut power = Number::ONE;
    for d in &model.d {
        let scale = power;
        sum = sum.plus(&Matrix::from_fn(sum.n_rows(), m, |i, j| d[(i, j)] * scale));
        power = power * s;
    }
    sum
}

/// Combinations of the rows that contain as few faults as possible: each is fixed, but for a factor, by independent faults that
/// it does not contain.
fn residuals(signatures: &Matrix, first_sensor_fault: usize, n_sensors: usize) -> Vec<Residual> {
    let n_faults = signatures.n_columns();
    let rank = signatures.rank();
    if n_sensors > MOST_SENSORS || rank == 0 {
        return Vec::new();
    }
    let mut found: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut n_tries = 0;
    let mut open: Vec<(Vec<usize>, Basis)> = vec![(Vec::new(), Basis::new(n_sensors))];
    while let Some((set, space)) = open.pop() {
        n_tries += 1;
        if n_tries > MOST_TRIES {
            return Vec::new();
        }
        if space.dimension() + 1 == rank {
            for w in space.orthogonal() {
                let row = signatures.transposed().times_vector(&w);
                let support: Vec<usize> = (0..n_faults).filter(|&k| !row[k].is_zero()).collect();
                found.insert(support);
            }
            continue;
        }
        let first = set.last().map_or(0, |k| k + 1);
        for k in first..n_faults {
            let mut larger = space.clone();
            if larger.add(signatures.column(k)) {
                let mut set = set.clone();
                set.push(k);
                open.push((set, larger));
            }
        }
    }
    // With dependent sensors several combinations share the missing faults; a residual that contains another is not simple.
    let all: Vec<Vec<usize>> = found.into_iter().filter(|f| !f.is_empty()).collect();
    let is_part = |a: &Vec<usize>, b: &Vec<usize>| a != b && a.iter().all(|k| b.contains(k));
    let simple = all
        .iter()
        .filter(|f| !all.iter().any(|other| is_part(other, f)));
    let mut list: Vec<Residual> = simple
        .map(|f| Residual {
            faults: f.clone(),
            sensors: f
                .iter()
                .filter(|k| **k >= first_sensor_fault)
                .map(|k| k - first_sensor_fault)
                .collect(),
        })
        .collect();
    list.sort_by_key(|r| (r.faults.len(), r.faults.clone()));
    list
}
