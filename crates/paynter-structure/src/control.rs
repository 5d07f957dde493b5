//! Controllability and observability: by strokes, for almost all parameters, and with the present numbers.
//!
//! In:  a [`Subject`].
//! Out: [`Findings`]: for inputs and for outputs what is reached, the paths that prove it, what is hidden, and the
//!      sources or sensors that would cure it.
//!
//! Three answers are given side by side. Causal paths and derivative form (Sueur & Dauphin-Tanguy 1991) take
//! linear time and can be drawn; they bound the rank from above. The generic rank is exact for almost all
//! parameter values. The numeric rank is that of the linear model at the point. The generic one is the
//! structural verdict wherever it could be computed.

use crate::code;
use crate::cures::cures;
use crate::derivative::prefer_derivative;
use crate::findings::{CausalRank, Findings, NumericRank, Side, SideFindings, StatePath};
use crate::generic::GenericModel;
use crate::reach::{
    Reached, Way, held_from, names_along, reach_through_ticks, read_by, set_by, short_name,
};
use crate::subject::Subject;
use paynter::Compiled;
use paynter::linear::Linearization;
use paynter::linear_algebra::{Matrix, NoGramian, Staircase, gramian, joint_rank, transpose};
use paynter::model::graph::{BondGraph, ElementId, ElementKind};
use paynter::symbolic::SymbolId;
use paynter::syntax::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

/// Answers for inputs and outputs.
///
/// # Errors
///
/// Neither inputs nor outputs.
pub fn control(subject: &Subject<'_>, compiled: &Compiled) -> Result<Findings, Vec<Diagnostic>> {
    if subject.inputs.is_empty() && subject.outputs.is_empty() {
        subject.needs_input()?;
    }
    // Outputs that were named and do not vary are no outputs.
    if !subject.design.linear.to.is_empty() {
        subject.needs_output()?;
    }
    let linear = linear(subject, compiled);
    let generic = subject.generic_part().map_err(|why| why.0);
    let generic = generic.as_ref().map_err(String::clone);

    let mut found = Findings {
        control: None,
        observe: None,
        sensors: subject.sensors(),
        dependent: dependents(subject),
        hankel: hankel(linear.as_ref()),
        warnings: Vec::new(),
    };
    for side in [Side::Control, Side::Observe] {
        let Some(findings) = one_side(subject, side, generic.clone(), linear.as_ref()) else {
            continue;
        };
        found.warnings.extend(warnings(subject, &findings));
        match side {
            Side::Control => found.control = Some(findings),
            Side::Observe => found.observe = Some(findings),
        }
    }
    if let Ok(model) = generic {
        found.warnings.extend(same_sensors(subject, model));
    }
    Ok(found)
}

/// What inputs reach, or outputs see; none where there are none.
fn one_side(
    subject: &Subject<'_>,
    side: Side,
    generic: Result<&GenericModel, String>,
    linear: Result<&Linearization, &String>,
) -> Option<SideFindings> {
    let ports = match side {
        Side::Control => &subject.ask.from,
        Side::Observe => &subject.ask.to,
    };
    if ports.is_empty() {
        return None;
    }
    let held = subject.refuse_held(side).map_err(|why| why.0);
    let generic = held.and(generic);
    // Inputs do not have to reach what only keeps accounts.
    let generic = generic.map(|m| match side {
        Side::Control => subject.dynamics(m.clone()),
        Side::Observe => m.clone(),
    });
    let linear = linear.cloned().map(|l| match side {
        Side::Control => subject.linear_dynamics(l),
        Side::Observe => l,
    });
    let linear = linear.as_ref().map_err(|why| *why);
    let names = |states: &[SymbolId]| states.iter().map(|s| subject.name(*s)).collect();
    let mut findings = SideFindings {
        side,
        ports: ports.iter().map(|q| q.column.name.clone()).collect(),
        paths: paths(subject, side),
        causal: causal_rank(subject, side),
        generic: generic.clone().map(|m| match side {
            Side::Control => m.reached(),
            Side::Observe => m.seen(),
        }),
        states: generic.map_or_else(|_| Vec::new(), |m| names(&m.states)),
        numeric: numeric(linear, side),
        cures: Vec::new(),
    };
    findings.cures = cures(subject, &findings);
    Some(findings)
}

/// Beyond this many states the dense matrices of ranks and Gramians cost minutes, and then more memory than there is.
const MOST_STATES_IN_NUMBERS: usize = 200;

/// The model in numbers, or why there is none.
fn linear(subject: &Subject<'_>, compiled: &Compiled) -> Result<Linearization, String> {
    let n = causal_states(subject).len();
    if n > MOST_STATES_IN_NUMBERS {
        return Err(format!(
            "{n} states are more than the {MOST_STATES_IN_NUMBERS} that dense matrices are made for"
        ));
    }
    subject.linear(compiled).map_err(|e| {
        let messages = e.into_messages();
        messages
            .first()
            .map_or_else(String::new, |m| m.message.clone())
    })
}

fn dependents(subject: &Subject<'_>) -> Vec<String> {
    let dependents = subject.causality.dependent.iter();
    let names = dependents.map(|d| short_name(subject.graph(), d.storage.element));
    names.collect()
}

/// States of the causal graph: storages in integral form, free junctions, coordinates.
pub fn causal_states(subject: &Subject<'_>) -> Vec<SymbolId> {
    let causality = &subject.causality;
    let stored = causality.independent.iter().filter_map(|end| {
        let element = subject.graph().element(end.element);
        element.states.get(end.port as usize).copied()
    });
    let free = causality.free.iter().map(|f| f.symbol);
    stored
        .chain(free)
        .chain(causality.coordinates.iter().copied())
        .collect()
}

fn paths(subject: &Subject<'_>, side: Side) -> Vec<StatePath> {
    let graph = subject.graph();
    let mut ports: FxHashMap<SymbolId, String> = FxHashMap::default();
    let quantities = match side {
        Side::Control => &subject.ask.from,
        Side::Observe => &subject.ask.to,
    };
    for (k, quantity) in quantities.iter().enumerate() {
        let starts = match side {
            Side::Control => {
                let mut starts = set_by(graph, &subject.causality, subject.inputs[k]);
                starts.extend(held_from(graph, subject.inputs[k]));
                starts
            }
            Side::Observe => read_by(graph, subject.outputs[k]),
        };
        for start in starts {
            ports
                .entry(start)
                .or_insert_with(|| quantity.column.name.clone());
        }
    }
    let mut starts: Vec<SymbolId> = ports.keys().copied().collect();
    starts.sort_unstable();
    let way = match side {
        Side::Control => Way::Forward,
        Side::Observe => Way::Backward,
    };
    let n_symbols = graph.signals.symbols.len();
    let reached = reach_through_ticks(&subject.links, n_symbols, &starts, way);
    let told = Told {
        reached: &reached,
        ports: &ports,
        side,
    };
    let states = causal_states(subject);
    let is_told = states.len() <= MOST_TOLD;
    let states = states.into_iter();
    states
        .map(|state| state_path(subject, &told, state, is_told))
        .collect()
}

/// In larger models nobody reads the paths, and those of a chain are together as long as its length squared.
const MOST_TOLD: usize = 500;

/// What was reached, with the names of the ports it began at.
struct Told<'a> {
    reached: &'a Reached,
    ports: &'a FxHashMap<SymbolId, String>,
    side: Side,
}

impl Told<'_> {
    /// The names on the way to a state, with the port at its end.
    fn names(&self, subject: &Subject<'_>, state: SymbolId) -> Vec<String> {
        let symbols = self.reached.path(state);
        let mut names = names_along(subject.graph(), &subject.links, &symbols);
        let (end, at) = match self.side {
            Side::Control => (symbols.first(), 0),
            Side::Observe => (symbols.last(), names.len()),
        };
        let port = end.and_then(|s| self.ports.get(s));
        let is_new = |port: &&String| {
            let own = port.rsplit_once('.').map_or(port.as_str(), |p| p.0);
            let beside = names.get(at.saturating_sub(1));
            beside.is_none_or(|name| name != *port && name != own)
        };
        if let Some(port) = port.filter(is_new) {
            names.insert(at, port.clone());
        }
        names
    }
}

fn state_path(subject: &Subject<'_>, told: &Told<'_>, state: SymbolId, is_told: bool) -> StatePath {
    let path = told.reached.integrations(state).map(|n| match is_told {
        true => (n, told.names(subject, state)),
        false => (n, Vec::new()),
    });
    StatePath {
        state,
        name: subject.name(state),
        path,
    }
}

/// The rank by derivative form: only where all dynamics are storages and all ports sources, or sensors of a junction.
fn causal_rank(subject: &Subject<'_>, side: Side) -> Option<CausalRank> {
    if subject.held(side).is_some() {
        return None;
    }
    let graph = subject.graph();
    let causality = &subject.causality;
    if !causality.coordinates.is_empty() || !causality.free.is_empty() || !causality.is_complete() {
        return None;
    }
    let left = match side {
        Side::Control => {
            let turned = subject.driven();
            if turned.len() != subject.inputs.len() || has_signals(subject) {
                return None;
            }
            prefer_derivative(graph, &turned)?
        }
        Side::Observe => {
            if has_signals(subject) {
                return None;
            }
            let mut sensed = graph.clone();
            let sensors = add_sensors(&mut sensed, subject)?;
            prefer_derivative(&sensed, &sensors)?
        }
    };
    let order = causality.independent.len();
    let independent: FxHashSet<(ElementId, u32)> = causality
        .independent
        .iter()
        .map(|end| (end.element, end.port))
        .collect();
    let mut integral: Vec<String> = Vec::new();
    let mut n_left = 0;
    for storage in &left.integral {
        // A dependent storage has no state of its own; that it stays costs a rank all the same.
        n_left += 1;
        let note = if independent.contains(storage) {
            ""
        } else {
            " (dependent)"
        };
        integral.push(format!("{}{note}", short_name(graph, storage.0)));
    }
    Some(CausalRank {
        rank: order.saturating_sub(n_left),
        integral,
    })
}

/// Tells whether a signal acts on power: strokes do not see such paths.
fn has_signals(subject: &Subject<'_>) -> bool {
    let graph = subject.graph();
    let is_driven = subject.driven();
    graph.elements.iter().enumerate().any(|(k, e)| {
        let is_source = matches!(e.kind, ElementKind::Se | ElementKind::Sf);
        let reads_states = || {
            let expressions = e.law.expressions();
            expressions.iter().any(|&x| !read_by(graph, x).is_empty())
        };
        let is_own = is_driven.contains(&ElementId(k as u32));
        (is_source && !is_own || e.is_modulated) && reads_states()
    })
}

/// Adds a sensor element for each output that reads one effort or flow: with the strokes of a source that may be
/// turned round; none if an output reads anything else.
fn add_sensors(graph: &mut BondGraph, subject: &Subject<'_>) -> Option<Vec<ElementId>> {
    let mut sensors = Vec::new();
    for &output in &subject.outputs {
        let symbol = resolve(subject, output)?;
        let (junction, _) = junction_of(subject.graph(), symbol)?;
        crate::generic::Probe::add(graph, junction);
        sensors.push(ElementId(graph.elements.len() as u32 - 1));
    }
    Some(sensors)
}

/// Follows definitions `a = b` to the effort or flow behind an output.
pub fn resolve(subject: &Subject<'_>, output: paynter::symbolic::ExprId) -> Option<SymbolId> {
    let dae = &subject.graph().signals;
    let mut symbol = dae.pool.as_symbol(output)?;
    for _ in 0..dae.equations.len() + 1 {
        let definition = dae
            .equations
            .iter()
            .find(|e| dae.pool.as_symbol(e.left) == Some(symbol));
        match definition.map(|e| dae.pool.as_symbol(e.right)) {
            None => return Some(symbol),
            Some(next) => symbol = next?,
        }
    }
    None
}

/// The junction that shares a variable: the 0 at the bond of an effort, the 1 at the bond of a flow.
pub fn junction_of(graph: &BondGraph, symbol: SymbolId) -> Option<(ElementId, bool)> {
    let bond = graph
        .bonds
        .iter()
        .find(|b| b.effort == symbol || b.flow == symbol)?;
    let is_effort = bond.effort == symbol;
    let wanted = if is_effort {
        ElementKind::Zero
    } else {
        ElementKind::One
    };
    let ends = [bond.tail.element, bond.head.element];
    let junction = ends
        .into_iter()
        .find(|&e| graph.element(e).kind == wanted)?;
    Some((junction, is_effort))
}

pub(crate) fn numeric(
    linear: Result<&Linearization, &String>,
    side: Side,
) -> Result<NumericRank, String> {
    let linear = linear.map_err(String::clone)?;
    let failed = |_| "the matrices have entries that are not finite".to_owned();
    let model = &linear.model;
    let (found, rank) = match side {
        Side::Control => (model.reached(), joint_rank(&model.a, &model.b)),
        Side::Observe => {
            let (a, c) = (transpose(&model.a), transpose(&model.c));
            (model.seen(), joint_rank(&a, &c))
        }
    };
    let found: Staircase = found.map_err(failed)?;
    let hidden = (0..found.unreached.n_rows()).map(|i| weights(linear, found.unreached.row(i)));
    Ok(NumericRank {
        order: model.n_states(),
        rank: rank.map_err(failed)?,
        dimension: found.dimension,
        smallest_kept: found.smallest_kept,
        hidden: hidden.collect(),
        gramian: gramian_of(linear, side),
    })
}

/// In larger models nobody reads it.
const MOST_STATES_OF_GRAMIAN: usize = 60;

fn gramian_of(linear: &Linearization, side: Side) -> Option<(Vec<String>, Matrix)> {
    let model = &linear.model;
    if !(1..=MOST_STATES_OF_GRAMIAN).contains(&model.n_states()) {
        return None;
    }
    let found = match side {
        Side::Control => gramian(&model.a, &model.b),
        Side::Observe => gramian(&transpose(&model.a), &transpose(&model.c)),
    };
    let names = linear.states.iter().map(|s| s.name.clone());
    Some((names.collect(), found.ok()?))
}

/// The states in a hidden combination, by how much of it each makes in the units shown.
fn weights(linear: &Linearization, row: &[f64]) -> Vec<(String, f64)> {
    let scaled = |k: usize| row[k] * linear.states[k].factor;
    let largest = (0..row.len()).fold(0.0_f64, |m, k| m.max(scaled(k).abs()));
    let mut list: Vec<(String, f64)> = (0..row.len())
        .map(|k| (linear.states[k].name.clone(), scaled(k) / largest))
        .filter(|(_, weight)| weight.abs() > 1e-9)
        .collect();
    list.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    list
}

fn hankel(linear: Result<&Linearization, &String>) -> Result<Vec<f64>, String> {
    let linear = linear.map_err(String::clone)?;
    if linear.inputs.is_empty() || linear.outputs.is_empty() {
        return Err("they need both inputs and outputs".to_owned());
    }
    linear.model.hankel().map_err(|why| match why {
        NoGramian::Unstable(_) => {
            "a pole is not left of the imaginary axis, so the Gramians are infinite".to_owned()
        }
        NoGramian::Numbers => "the Gramians could not be computed".to_owned(),
    })
}

fn warnings(subject: &Subject<'_>, found: &SideFindings) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    let (verb, able) = match found.side {
        Side::Control => ("reach", "controllable"),
        Side::Observe => ("see", "observable"),
    };
    if let (true, Ok(numeric)) = (found.is_whole(), &found.numeric)
        && numeric.dimension < numeric.order
    {
        let hidden: Vec<String> = numeric.hidden.iter().map(|w| combination(w)).collect();
        let message = Diagnostic::warning(
            code::NUMBERS_DISAGREE,
            format!(
                "the structure is {able}, but with these numbers {} of {} directions {} hidden",
                numeric.order - numeric.dimension,
                numeric.order,
                if hidden.len() == 1 { "is" } else { "are" },
            ),
        );
        let does = if found.ports.len() == 1 { "does" } else { "do" };
        let note = format!(
            "`{}` {does} not {verb} {}",
            found.ports.join("`, `"),
            hidden.join("; ")
        );
        list.push(subject.placed(message).fact(note));
    }
    if let (Ok(reach), Some(true)) = (&found.generic, found.is_whole_by_strokes())
        && reach.dimension < reach.order
    {
        let message = Diagnostic::warning(
            code::PATHS_CANCEL,
            format!(
                "causal paths say that the model is {able}, but they cancel for all parameter values"
            ),
        );
        list.push(subject.placed(message));
    }
    list
}

/// `a − 0.5 b`, in words that need no brackets.
pub fn combination(weights: &[(String, f64)]) -> String {
    const SHOWN: usize = 6;
    let mut text = String::new();
    for (k, (name, weight)) in weights.iter().take(SHOWN).enumerate() {
        let sign = match (k, *weight < 0.0) {
            (0, false) => "",
            (0, true) => "−",
            (_, false) => " + ",
            (_, true) => " − ",
        };
        let size = weight.abs();
        let factor = match (size - 1.0).abs() < 1e-6 {
            true => String::new(),
            false => format!(
                "{} ",
                paynter::model::units::format_number((size * 1e4).round() / 1e4)
            ),
        };
        let tiny = size < 5e-5;
        let factor = if tiny { format!("{size:.1e} ") } else { factor };
        text.push_str(&format!("{sign}{factor}`{name}`"));
    }
    if weights.len() > SHOWN {
        text.push_str(" …");
    }
    text
}

/// Outputs that are multiples of an earlier one, for all parameter values.
fn same_sensors(subject: &Subject<'_>, model: &crate::generic::GenericModel) -> Vec<Diagnostic> {
    let row = |k: usize| {
        let by_inputs = model.d.iter().flat_map(|d| d.row(k).to_vec());
        let mut row: Vec<_> = model.c.row(k).to_vec();
        row.extend(by_inputs);
        row
    };
    let mut list = Vec::new();
    for k in 0..subject.outputs.len() {
        let own = row(k);
        if own.iter().all(|x| x.is_zero()) {
            continue;
        }
        let same = (0..k).find(|&j| {
            let mut space = crate::generic::Basis::new(own.len());
            space.add(row(j)) && space.contains(own.clone())
        });
        let Some(j) = same else { continue };
        let (first, second) = (&subject.ask.to[j], &subject.ask.to[k]);
        let message = Diagnostic::warning(
            code::SAME_SENSOR,
            format!(
                "`{}` and `{}` measure the same for all parameter values",
                first.column.name, second.column.name
            ),
        );
        let message = match first.span == second.span {
            true => message.primary(second.span, "outputs of this"),
            false => message
                .primary(second.span, "tells nothing new")
                .secondary(first.span, "measured already by this"),
        };
        list.push(message.help("leave one out, or measure at another junction"));
    }
    list
}
