//! Puts the model's names to numbers that went wrong.
//!
//! In:  typed errors of `reduce`, `lower`, `initialise` and `integrate`.
//! Out: diagnostics that point into the text.

use crate::code;
use crate::digits::significant;
use crate::floating::{Floating, floating};
use crate::spec::LeftOpen;
use paynter_exec::{Conflict, Failure as MachineFailure, LowerError, Machine, StartError};
use paynter_model::graph::{Law, Variable};
use paynter_model::{BondGraph, Element, ElementKind};
use paynter_solve::{BadInput, EvalError, Failure, SolveError};
use paynter_symbolic::dae::{Dae, Origin, PositionConstraint};
use paynter_symbolic::expr::Function1;
use paynter_symbolic::reduce::{EquationRef, Part, StructuralError};
use paynter_symbolic::reduced::{Block, Known, Reduced};
use paynter_symbolic::walk::{below, for_each_argument, symbols_of};
use paynter_symbolic::{ExprId, Names, Node, PathId, Role, SymbolId};
use paynter_syntax::{Diagnostic, Span};

/// More names than this in one sentence are not read.
const MOST_NAMES: usize = 6;

/// Explains why the equations have no unique solution by their structure.
pub(crate) fn explain_structure(
    error: &StructuralError,
    dae: &Dae,
    graph: &BondGraph,
) -> Vec<Diagnostic> {
    let open = match error {
        StructuralError::UnderDetermined { part, .. }
        | StructuralError::Singular { under: part, .. }
        | StructuralError::SingularBlock(part) => floating(graph, &part.unknowns),
        _ => None,
    };
    if let Some(found) = open {
        return vec![no_ground(&found, graph)];
    }
    match error {
        StructuralError::OverDetermined(part) => vec![too_many(part, dae, graph)],
        StructuralError::UnderDetermined { part, redundant } => {
            vec![too_few(part, redundant, dae, graph)]
        }
        StructuralError::Singular {
            over,
            under,
            redundant,
        } => {
            vec![
                too_many(over, dae, graph),
                too_few(under, redundant, dae, graph),
            ]
        }
        StructuralError::SingularBlock(part) => {
            let names = list_names(&part.unknowns, dae);
            let d = Diagnostic::error(
                code::UNDERDETERMINED,
                format!(
                    "these equations do not fix {names}: in combination they cancel, whatever the values"
                ),
            );
            vec![
                at_origins(d, part.equations.iter().map(|e| e.origin), "takes part in it", graph)
                    .help("a ring of transformers or gyrators says the same twice, or a coefficient is zero: open the ring, or add an element to it (a resistance) that gives way"),
            ]
        }
        StructuralError::Dependent {
            part,
            is_contradiction,
        } => vec![dependent(part, *is_contradiction, dae, graph)],
        StructuralError::Contradiction {
            symbol,
            values,
            equations,
        } => {
            let name = dae.name_of(*symbol);
            let d = Diagnostic::error(
                code::CONTRADICTION,
                format!(
                    "`{name}` would have to be {} and {} at once",
                    values.0, values.1
                ),
            )
            .primary(
                graph.span(equations.1.origin),
                format!("here it is {}", values.1),
            )
            .secondary(
                graph.span(equations.0.origin),
                format!("here it is {}", values.0),
            )
            .help("remove one of the two, or put an element between them that can give way");
            vec![d]
        }
        StructuralError::False { equation, residual } => vec![
            Diagnostic::error(
                code::CONTRADICTION,
                format!("this equation has no unknown left, and its sides differ by {residual}"),
            )
            .primary(graph.span(equation.origin), "nothing here can give way"),
        ],
    }
}

/// Says that a network has no reference, in the words of its domain.
fn no_ground(found: &Floating, graph: &BondGraph) -> Diagnostic {
    let (headline, help) = match found.domain.as_deref() {
        Some("electrical") => (
            "the circuit has no ground: only differences of its voltages are fixed",
            "connect one node to ground: `gnd: Ground()` from the library `electrical`, then `node -> gnd`; or, without the library, `Se(0 [V]) -> node`",
        ),
        Some("hydraulic") => (
            "the network has no reference pressure: only differences of its pressures are fixed",
            "connect one node to a tank: `Se(0 [Pa]) -> node`",
        ),
        Some("thermal" | "heat") => (
            "the network has no reference temperature: only differences of its temperatures are fixed",
            "give one node a temperature: `Se(293 [K]) -> node`",
        ),
        _ => (
            "the network has no reference: only differences of its efforts are fixed",
            "give one of its 0-junctions an effort: `Se(0) -> node`",
        ),
    };
    let mut spans: Vec<Span> = Vec::new();
    for &id in &found.junctions {
        let element = graph.element(id);
        let part = element.name.and_then(|name| graph.part_span(name));
        let span = part.unwrap_or_else(|| graph.span(element.origin));
        if !spans.contains(&span) {
            spans.push(span);
        }
    }
    spans.sort_unstable_by_key(|s| (s.file, s.start));
    let d = Diagnostic::error(code::UNDERDETERMINED, headline);
    let marked = spans.into_iter().take(MOST_NAMES).enumerate();
    let d = marked.fold(d, |d, (k, span)| match k {
        0 => d.primary(span, "nothing in this network is tied to a reference"),
        _ => d.secondary(span, "part of it"),
    });
    d.help(help)
}

/// Words equations of which a combination reads no unknown.
fn dependent(part: &Part, is_contradiction: bool, dae: &Dae, graph: &BondGraph) -> Diagnostic {
    let elements = list_elements(&part.equations, graph);
    let d = if is_contradiction {
        Diagnostic::error(
            code::CONTRADICTION,
            format!("{elements} contradict each other, whatever the states are"),
        )
        .help("take one of the sources away, or put an element between them that can give way")
    } else {
        let names = list_names(&part.unknowns, dae);
        Diagnostic::error(
            code::UNDERDETERMINED,
            format!("nothing fixes {names}: {elements} say the same twice"),
        )
        .help("take one of them away, or add an element that gives way (a resistance); a network that floats needs a ground")
    };
    let origins = part.equations.iter().map(|e| e.origin);
    let d = at_origins(d, origins, "takes part in it", graph);
    in_parts(d, &part.unknowns, dae, graph)
}

/// Names the elements that equations come from, each once.
fn list_elements(equations: &[EquationRef], graph: &BondGraph) -> String {
    let mut names: Vec<String> = Vec::new();
    for equation in equations {
        let is_source = |e: &&Element| e.origin == equation.origin && e.name.is_some();
        let Some(element) = graph.elements.iter().find(is_source) else {
            continue;
        };
        let name = format!(
            "`{}`",
            graph
                .signals
                .names
                .display(element.name.expect("it has one"))
        );
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let n = names.len();
    if n > MOST_NAMES {
        names.truncate(MOST_NAMES);
        names.push(format!("{} more", n - MOST_NAMES));
    }
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            format!("the equations of {} and {last}", rest.join(", "))
        }
        Some((only, _)) => format!("the equations of {only}"),
        None => "these equations".to_owned(),
    }
}

fn too_many(part: &Part, dae: &Dae, graph: &BondGraph) -> Diagnostic {
    let names = list_names(&part.unknowns, dae);
    let n = part.unknowns.len();
    let headline = match n {
        0 => "a demand reads nothing that could give way".to_owned(),
        _ => format!(
            "{} equations for {n} unknown{}: {names}",
            part.equations.len(),
            plural(n)
        ),
    };
    let d = Diagnostic::error(code::OVERDETERMINED, headline);
    let d = at_origins(
        d,
        part.equations.iter().map(|e| e.origin),
        "takes part in it",
        graph,
    );
    if n == 0 {
        return d.help(
            "a `solve` block finds its unknowns: each of its demands has to read one of them",
        );
    }
    in_parts(d, &part.unknowns, dae, graph)
        .help("two of these elements fight over one effort or flow; remove one, or put a resistance or compliance between them")
}

fn too_few(part: &Part, redundant: &[EquationRef], dae: &Dae, graph: &BondGraph) -> Diagnostic {
    let names = list_names(&part.unknowns, dae);
    let d = Diagnostic::error(code::UNDERDETERMINED, format!("nothing fixes {names}"));
    let d = at_origins(
        d,
        part.equations.iter().map(|e| e.origin),
        "leaves it open",
        graph,
    );
    let d = match (&d.primary, part.unknowns.first()) {
        (None, Some(s)) if (s.0 as usize) < dae.symbols.len() => {
            d.primary(graph.span(dae.symbol(*s).origin), "no equation reads it")
        }
        _ => d,
    };
    let d = in_parts(d, &part.unknowns, dae, graph);
    let d = redundant.iter().take(MOST_NAMES).fold(d, |d, e| {
        d.secondary(
            graph.span(e.origin),
            "this says nothing new: other equations imply it",
        )
    });
    d.help("connect a source, storage or resistor that sets it, or define it by a signal")
}

/// Adds the lines that make the parts in which the unknowns lie: the equations of a library part point
/// into the library.
fn in_parts(d: Diagnostic, unknowns: &[SymbolId], dae: &Dae, graph: &BondGraph) -> Diagnostic {
    let mut spans = Vec::new();
    for &s in unknowns {
        let span = graph.part_span(dae.symbol(s).name);
        if let Some(span) = span.filter(|s| !spans.contains(s)) {
            spans.push(span);
        }
        if spans.len() == MOST_NAMES {
            break;
        }
    }
    spans
        .into_iter()
        .fold(d, |d, span| d.secondary(span, "in this part"))
}

fn at_origins(
    d: Diagnostic,
    origins: impl Iterator<Item = Origin>,
    text: &str,
    graph: &BondGraph,
) -> Diagnostic {
    let mut seen = Vec::new();
    for origin in origins {
        let span = graph.span(origin);
        if !seen.contains(&span) && seen.len() < MOST_NAMES {
            seen.push(span);
        }
    }
    let mut d = d;
    for (k, span) in seen.into_iter().enumerate() {
        d = if k == 0 {
            d.primary(span, text)
        } else {
            d.secondary(span, "and this")
        };
    }
    d
}

fn list_names(symbols: &[SymbolId], dae: &Dae) -> String {
    // Derivatives that index reduction made have no name in the model.
    let symbols: Vec<SymbolId> = symbols
        .iter()
        .copied()
        .filter(|s| (s.0 as usize) < dae.symbols.len())
        .collect();
    if symbols.is_empty() {
        return "the rates of some quantities".to_owned();
    }
    let mut names: Vec<String> = symbols
        .iter()
        .take(MOST_NAMES)
        .map(|&s| format!("`{}`", dae.name_of(s)))
        .collect();
    if symbols.len() > MOST_NAMES {
        names.push(format!("and {} more", symbols.len() - MOST_NAMES));
    }
    names.join(", ")
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// Explains why equations cannot be turned into a machine.
pub(crate) fn explain_lowering(
    error: &LowerError,
    reduced: &Reduced,
    graph: &BondGraph,
) -> Diagnostic {
    let dae = &reduced.dae;
    match error {
        LowerError::Undefined { symbol } => Diagnostic::error(
            code::NOT_RUNNABLE,
            format!("nothing defines `{}`", dae.name_of(*symbol)),
        )
        .primary(
            graph.span(dae.symbol(*symbol).origin),
            "it is read, but has no equation",
        ),
        LowerError::SampleLoop { symbols } => {
            let names = list_names(symbols, dae);
            let d = Diagnostic::error(
                code::NOT_RUNNABLE,
                format!("sampled signals need each other's new values: {names}"),
            )
            .help("use `pre(…)` for one of them: its value at the last tick");
            match symbols.first() {
                Some(&s) => d.primary(graph.span(dae.symbol(s).origin), "in this block"),
                None => d,
            }
        }
        LowerError::NoMachineCode { reason } => Diagnostic::error(
            code::NOT_RUNNABLE,
            format!("no machine code can be made here: {reason}"),
        )
        .help("use --engine interpreter"),
    }
}

/// Says which joints and invariants stay open, in which direction and by how much; the widest gap first.
fn cannot_assemble(rows: &[(usize, f64)], reduced: &Reduced, graph: &BondGraph) -> Diagnostic {
    let dae = &reduced.dae;
    // Positions of locks are the last of the constraints; invariants come after them.
    let n = reduced.constraints.len();
    let first_lock = n - dae.constraints.len();
    let mut rows = rows.to_vec();
    // Locks before invariants, the widest gap first.
    let is_invariant = |row: usize| row >= n;
    rows.sort_by(|a, b| {
        let by_kind = is_invariant(a.0).cmp(&is_invariant(b.0));
        by_kind.then(b.1.abs().total_cmp(&a.1.abs()))
    });
    let mut open: Vec<(String, Span)> = Vec::new();
    let mut joints: Vec<PathId> = Vec::new();
    for (row, missing) in rows {
        if (first_lock..n).contains(&row) {
            let lock = &dae.constraints[row - first_lock];
            // Each joint once, with the direction in which it is open most.
            let joint = dae.names.parent(lock.name).filter(|&p| p != Names::ROOT);
            if joint.is_some_and(|joint| joints.contains(&joint)) {
                continue;
            }
            joints.extend(joint);
            open.push(open_lock(lock, missing, dae, graph));
        } else if let Some(invariant) = row.checked_sub(n).and_then(|i| dae.invariants.get(i)) {
            // An open joint pulls at these too; it is the one to look at.
            if !joints.is_empty() {
                continue;
            }
            let text = format!("an invariant is off by {missing:.6}");
            open.push((text, graph.span(invariant.origin)));
        } else if let Some(&constraint) = reduced.constraints.get(row) {
            let tied = symbols_of(&dae.pool, constraint);
            let tied: Vec<SymbolId> = tied
                .into_iter()
                .filter(|&s| !matches!(dae.symbol(s).role, Role::Parameter { .. } | Role::Time))
                .collect();
            if let Some(&first) = tied.first() {
                let names = list_names(&tied, dae);
                let text = format!("what ties {names} is off by {missing:.6} (SI units)");
                open.push((text, graph.span(dae.symbol(first).origin)));
            }
        }
    }
    let what = match open.first() {
        Some((text, _)) if open.len() == 1 => {
            format!("the constraints cannot be assembled: {text}")
        }
        Some((text, _)) => format!(
            "the constraints cannot be assembled: {text}, and {} more stay open",
            open.len() - 1
        ),
        None => "no start meets all constraints".to_owned(),
    };
    let mut d = Diagnostic::error(code::START_CONSTRAINT, what);
    for (k, (text, span)) in open.into_iter().take(MOST_NAMES).enumerate() {
        d = match k {
            0 => d.primary(span, text),
            _ => d.secondary(span, text),
        };
    }
    d.help("check lengths and axes, or give a better `guess`")
}

/// Says how far a lock stays open, at the line that makes its joint rather than a line of the library.
fn open_lock(
    lock: &PositionConstraint,
    missing: f64,
    dae: &Dae,
    graph: &BondGraph,
) -> (String, Span) {
    let gap = displacement(graph, lock.reaction, missing);
    let name = dae.names.display(lock.name);
    let in_part = graph.part_span(lock.name);
    let span = in_part.unwrap_or_else(|| graph.span(lock.origin));
    (format!("`{name}` stays {gap} from closed"), span)
}

/// A displacement at the bond of a lock in the unit that an engineer reads it in.
fn displacement(graph: &BondGraph, reaction: SymbolId, x: f64) -> String {
    let bond = graph
        .bonds
        .iter()
        .find(|b| b.effort == reaction || b.flow == reaction);
    let domain = bond
        .and_then(|b| b.domain)
        .map(|d| &graph.domains[d.0 as usize]);
    let digits = |x: f64| significant(x.abs(), 6);
    match domain.map(|d| d.name.as_str()) {
        Some("translational") => format!("{} mm", digits(1e3 * x)),
        Some("rotational") => format!("{} deg", digits(x.to_degrees())),
        Some("electrical") => format!("{} C", digits(x)),
        Some("hydraulic") => format!("{} m^3", digits(x)),
        _ => format!("{} (SI units)", digits(x)),
    }
}

/// Explains why there is no start.
pub(crate) fn explain_start(
    error: &StartError,
    reduced: &Reduced,
    graph: &BondGraph,
) -> Vec<Diagnostic> {
    let starts = &reduced.dae.starts;
    match error {
        StartError::Conflict { pairs } => pairs
            .iter()
            .map(|&(a, b)| {
                Diagnostic::error(
                    code::START_CONFLICT,
                    "two start values contradict each other",
                )
                .primary(
                    graph.span(starts[b].origin),
                    "cannot hold together with the other",
                )
                .secondary(graph.span(starts[a].origin), "demanded here")
                .help("remove one of the two, or make it a `guess`")
            })
            .collect(),
        StartError::Unreachable { starts: which } => which
            .iter()
            .map(|&k| {
                Diagnostic::error(
                    code::START_UNREACHABLE,
                    "no choice of the states gives this start value",
                )
                .primary(
                    graph.span(starts[k].origin),
                    "fixed by the equations to another value",
                )
                .help("remove it, or give a start value to a state instead")
            })
            .collect(),
        StartError::Constraints { rows } => vec![cannot_assemble(rows, reduced, graph)],
        StartError::Failure(failure) => {
            vec![explain_machine(
                failure,
                code::START_FAILED,
                "at the start",
                reduced,
                graph,
            )]
        }
    }
}

/// Explains a failure of a recorded quantity.
pub(crate) fn explain_recording(
    machine: &mut Machine,
    error: EvalError,
    time: f64,
    reduced: &Reduced,
    graph: &BondGraph,
) -> Diagnostic {
    let when = format!("at t = {}", seconds(time));
    match error {
        EvalError::Failed { code } | EvalError::Fatal { code } => explain_machine(
            &machine.describe_failure(code),
            code::NOT_FINITE,
            &when,
            reduced,
            graph,
        ),
        EvalError::NotFinite { .. } => Diagnostic::error(
            code::NOT_FINITE,
            format!("a recorded quantity is not a number {when}"),
        ),
    }
}

/// Where a symbol of the graph gets its value, and from which expressions: the law of an element for
/// an effort or flow, the line of its definition for a signal.
fn definition(symbol: SymbolId, graph: &BondGraph) -> Option<(Origin, Vec<ExprId>)> {
    let signals = &graph.signals;
    let is_symbol = |e: ExprId| signals.pool.node(e) == Node::Symbol(symbol);
    if let Some(found) = signals.equations.iter().find(|q| is_symbol(q.left)) {
        return Some((found.origin, vec![found.right]));
    }
    let element = element_of(symbol, graph)?;
    Some((element.origin, element.law.expressions()))
}

/// The element whose law an effort or flow belongs to: the one it is named after, else one with a law of its
/// own rather than a two-port beside it.
fn element_of(symbol: SymbolId, graph: &BondGraph) -> Option<&Element> {
    let signals = &graph.signals;
    let owner = signals.names.parent(signals.symbol(symbol).name);
    let is_on_bond = |e: &&Element| {
        let mut bonds = e.ports.iter().map(|&b| graph.bond(b));
        !e.kind.is_junction() && bonds.any(|b| b.effort == symbol || b.flow == symbol)
    };
    let on_bond: Vec<&Element> = graph.elements.iter().filter(is_on_bond).collect();
    let by_name = on_bond.iter().find(|e| e.name.is_some() && e.name == owner);
    let is_two_port = |e: &Element| matches!(e.kind, ElementKind::Tf | ElementKind::Gy);
    let by_kind = || on_bond.iter().find(|e| !is_two_port(e));
    by_name.or_else(by_kind).or(on_bond.first()).copied()
}

/// Tells whether the law of an element gives another variable than this one: it was solved for it.
fn is_backwards(symbol: SymbolId, element: &Element, graph: &BondGraph) -> bool {
    let Law::Explicit(rows) = &element.law else {
        return false;
    };
    rows.iter().any(|&(port, variable, _)| {
        let bond = element.ports.get(port as usize).map(|&b| graph.bond(b));
        bond.is_some_and(|b| match variable {
            Variable::Effort => b.flow == symbol,
            _ => b.effort == symbol,
        })
    })
}

fn symbols_of_all(signals: &Dae, expressions: &[ExprId]) -> Vec<SymbolId> {
    let all = expressions
        .iter()
        .flat_map(|&e| symbols_of(&signals.pool, e));
    let mut found: Vec<SymbolId> = all.collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Where functions without a formula are called.
fn external_calls(graph: &BondGraph) -> impl Iterator<Item = Origin> {
    let pool = &graph.signals.pool;
    let is_call = |e: ExprId| matches!(pool.node(e), Node::External(..) | Node::ExternalSlope(..));
    let equations = graph.signals.equations.iter();
    equations
        .filter(move |q| below(pool, &[q.left, q.right]).into_iter().any(is_call))
        .map(|q| q.origin)
}

fn explain_machine(
    failure: &MachineFailure,
    fallback: &'static str,
    when: &str,
    reduced: &Reduced,
    graph: &BondGraph,
) -> Diagnostic {
    let dae = &reduced.dae;
    match failure {
        MachineFailure::Singular { unknowns, origins } => {
            let names = list_names(unknowns, dae);
            let d = Diagnostic::error(
                code::SINGULAR_BLOCK,
                format!("the equations do not fix {names} {when}"),
            );
            let d = mind_saturation(d, unknowns, reduced);
            at_origins(d, origins.iter().copied(), "takes part in the loop", graph)
        }
        MachineFailure::NoConvergence { unknowns, origins } => {
            let names = list_names(unknowns, dae);
            let d = Diagnostic::error(
                code::NO_CONVERGENCE,
                format!("no solution was found for {names} {when}"),
            );
            let d = mind_saturation(d, unknowns, reduced);
            at_origins(d, origins.iter().copied(), "takes part in the loop", graph).help(
                "the equations may have no real solution; if there is one, give a `guess` near it",
            )
        }
        MachineFailure::NotFinite {
            symbol: Some(symbol),
        } => {
            let backwards = element_of(*symbol, graph).filter(|e| is_backwards(*symbol, e, graph));
            if let Some(element) = backwards {
                return no_such_value(*symbol, element, (fallback, when), dae, graph);
            }
            let (origin, read) = definition(*symbol, graph)
                .unwrap_or_else(|| (dae.symbol(*symbol).origin, Vec::new()));
            let mut message = Diagnostic::error(
                fallback,
                format!("`{}` is not a number {when}", dae.name_of(*symbol)),
            )
            .primary(
                graph.span(origin),
                "its definition gives infinity or NaN here",
            );
            for symbol in symbols_of_all(&graph.signals, &read) {
                let read = graph.signals.symbol(symbol);
                if matches!(read.role, Role::Parameter { value: 0.0, .. }) {
                    message = message.secondary(graph.span(read.origin), "this is zero");
                }
            }
            message
        }
        MachineFailure::NotFinite { symbol: None } => {
            Diagnostic::error(fallback, format!("a value is not a number {when}"))
        }
        MachineFailure::External { message } => {
            let d = Diagnostic::error(code::EXTERNAL_FAILED, format!("{message} ({when})"));
            at_origins(d, external_calls(graph), "called here", graph)
        }
        MachineFailure::EventLoop { modes } => {
            let d = Diagnostic::error(
                code::EVENT_LOOP,
                format!("switches change each other without end {when}"),
            );
            at_origins(
                d,
                modes.iter().map(|&m| dae.symbol(m).origin),
                "switches here",
                graph,
            )
        }
        MachineFailure::Reinit { target, origin } => Diagnostic::error(
            code::REINIT_FAILED,
            format!("`{}` cannot be set {when}", dae.name_of(*target)),
        )
        .primary(graph.span(*origin), "no state gives this value"),
        MachineFailure::Conflict(conflict) => explain_conflict(conflict, when, dae, graph),
        MachineFailure::Projection => Diagnostic::error(
            code::START_CONSTRAINT,
            format!("no state near the present one meets the constraints {when}"),
        ),
        MachineFailure::Stop { message, .. } => Diagnostic::note(fallback, message.clone()),
    }
}

/// Points at two actions that give one quantity two values at one instant.
fn explain_conflict(conflict: &Conflict, when: &str, dae: &Dae, graph: &BondGraph) -> Diagnostic {
    let [a, b] = conflict.targets.map(|target| dae.name_of(target));
    let what = if a == b {
        format!("`{a}` gets two different values {when}")
    } else {
        format!("`{a}` and `{b}` cannot both get the values that are set {when}")
    };
    let [first, second] = conflict.values;
    Diagnostic::error(code::EVENT_CONFLICT, what)
        .primary(graph.span(conflict.origins[1]), format!("here {second}"))
        .secondary(graph.span(conflict.origins[0]), format!("here {first}"))
        .help("both conditions become true at this instant and neither action comes first: let one condition exclude the other, or choose the value in one `when` with `if … then … else`")
}

/// Says that a law, solved for the variable it does not give, has no solution.
fn no_such_value(
    symbol: SymbolId,
    element: &Element,
    (fallback, when): (&'static str, &str),
    dae: &Dae,
    graph: &BondGraph,
) -> Diagnostic {
    let name = element.name.map(|n| graph.signals.names.display(n));
    let law = name.map_or("a law".to_owned(), |name| format!("the law of `{name}`"));
    Diagnostic::error(
        fallback,
        format!("no value of `{}` fits {law} {when}", dae.name_of(symbol)),
    )
    .primary(
        graph.span(element.origin),
        "the rest of the model demands what this law never reaches",
    )
    .help("a law that saturates has a largest value: weaken the source, change the law, or put a resistance beside it")
}

/// Adds the advice for laws that saturate, where the loop of these unknowns has exponentials.
fn mind_saturation(d: Diagnostic, unknowns: &[SymbolId], reduced: &Reduced) -> Diagnostic {
    let pool = &reduced.dae.pool;
    let is_loop = |block: &&Block| matches!(block, Block::Nonlinear { unknowns: z, .. } if z.iter().any(|z| unknowns.contains(z)));
    let Some(Block::Nonlinear {
        inner, residuals, ..
    }) = reduced.blocks.iter().find(is_loop)
    else {
        return d;
    };
    let mut open: Vec<ExprId> = residuals.clone();
    open.extend(inner.iter().map(|(_, value)| *value));
    let mut seen = std::collections::HashSet::new();
    while let Some(e) = open.pop() {
        if !seen.insert(e) {
            continue;
        }
        if let Node::Call1(Function1::Exp, _) = pool.node(e) {
            return d.help("laws that saturate, as diodes in reverse do, leave it to less than rounding how they share a voltage: give each a large resistance in parallel, such as `+ e/1e12` in its law");
        }
        for_each_argument(pool, e, |argument| open.push(argument));
    }
    d
}

/// Tells of equations that leave their unknowns open, to the last digit.
pub(crate) fn explain_open(
    (t, unknowns, origins): &LeftOpen,
    reduced: &Reduced,
    graph: &BondGraph,
) -> Diagnostic {
    let names = list_names(unknowns, &reduced.dae);
    let d = Diagnostic::warning(
        code::LEFT_OPEN,
        format!(
            "the laws leave {names} open at t = {}: other values fit as well, to the last digit",
            seconds(*t)
        ),
    );
    let d = at_origins(d, origins.iter().copied(), "takes part in it", graph);
    mind_saturation(d, unknowns, reduced)
}

/// Finds an unknown whose value is a constant that is not a number.
fn constant_without_value(reduced: &Reduced, graph: &BondGraph) -> Option<MachineFailure> {
    let dae = &reduced.dae;
    let parameters = crate::parameters::Parameters::new(dae, &[]);
    let known = reduced.known.iter().enumerate();
    let known = known.filter_map(|(at, known)| match *known {
        Known::Expression(e) => Some((SymbolId(at as u32), e)),
        _ => None,
    });
    let assigned = reduced.blocks.iter().filter_map(|block| match *block {
        Block::Assign { symbol, value, .. } => Some((symbol, value)),
        _ => None,
    });
    let is_wrong = |e: ExprId| parameters.value(e).is_some_and(|x| !x.is_finite());
    let (wrong, _) = known.chain(assigned).find(|&(_, e)| is_wrong(e))?;

    // Of all names it has, the one whose law was solved for it tells most.
    let is_it = |at: usize| matches!(reduced.known[at], Known::Alias { of, .. } if of == wrong);
    let names = (0..reduced.known.len().min(graph.signals.symbols.len())).filter(|&at| is_it(at));
    let solved = names.map(|at| SymbolId(at as u32)).find(|&s| {
        let element = element_of(s, graph);
        element.is_some_and(|e| is_backwards(s, e, graph))
    });
    Some(MachineFailure::NotFinite {
        symbol: Some(solved.unwrap_or(wrong)),
    })
}

/// Adds which states are zero where a law that reads them has no value, as a logarithm has none.
fn mind_zero_states(
    d: Diagnostic,
    failure: &MachineFailure,
    (states, y): (&[SymbolId], &[f64]),
    graph: &BondGraph,
) -> Diagnostic {
    let MachineFailure::NotFinite {
        symbol: Some(symbol),
    } = failure
    else {
        return d;
    };
    let Some((_, read)) = definition(*symbol, graph) else {
        return d;
    };
    let read = symbols_of_all(&graph.signals, &read);
    let at_zero = states
        .iter()
        .zip(y)
        .filter(|(s, x)| **x == 0.0 && read.contains(s));
    let names: Vec<String> = at_zero
        .take(MOST_NAMES)
        .map(|(s, _)| graph.signals.name_of(*s))
        .collect();
    match names.first() {
        Some(first) => d.help(format!(
            "`{}` is 0, where the law has no value; a state that nobody gives a start value starts at 0: write `start {first} = …`",
            names.join("`, `")
        )),
        None => d,
    }
}

/// Adds the advice for ideal switches and diodes, where one takes part.
fn mind_switches(d: Diagnostic, graph: &BondGraph) -> Diagnostic {
    let has_ideal = graph
        .elements
        .iter()
        .any(|e| matches!(e.kind, ElementKind::Sw | ElementKind::D));
    if has_ideal {
        d.help("ideal switches and diodes can leave a coil without a path or short a capacitor: give them `Ron` and `Roff`, such as `Sw(on, Ron = 1 [mohm], Roff = 1 [Mohm])`")
    } else {
        d
    }
}

/// Explains why a run ended too soon.
pub(crate) fn explain_failure(
    machine: &mut Machine,
    error: &SolveError,
    reduced: &Reduced,
    graph: &BondGraph,
) -> Diagnostic {
    let d = explain_solver(machine, error, reduced, graph);
    if matches!(d.code, code::NOT_FINITE | code::SINGULAR_BLOCK) {
        mind_switches(d, graph)
    } else {
        d
    }
}

fn explain_solver(
    machine: &mut Machine,
    error: &SolveError,
    reduced: &Reduced,
    graph: &BondGraph,
) -> Diagnostic {
    let dae = &reduced.dae;
    let states = machine.states().to_vec();
    let about = |d: Diagnostic, index: usize, text: &str| match states.get(index) {
        Some(&s) => d.primary(graph.span(dae.symbol(s).origin), text),
        None => d,
    };
    let name = |index: usize| {
        states.get(index).map_or("a variable".to_owned(), |&s| {
            format!("`{}`", dae.name_of(s))
        })
    };
    match error.failure {
        Failure::BadInput(BadInput::StateNotFinite { index }) => {
            let d = Diagnostic::error(
                code::START_FAILED,
                format!("{} is not a number at the start", name(index)),
            )
            .help("give it another `start` or `guess` value");
            about(d, index, "starts at infinity or NaN")
        }
        Failure::BadInput(what) => {
            let (why, help) = match what {
                BadInput::TooManySteps => (
                    "the fixed step is so small that the run would not end",
                    "make the step of the method longer, the run shorter, or `max_steps` larger",
                ),
                BadInput::EndBeforeStart => (
                    "the run ends before it starts",
                    "make `stop` later than `start`",
                ),
                BadInput::TimeNotFinite => {
                    ("its start or end is not a time", "give both as numbers")
                }
                BadInput::Tolerance | BadInput::ToleranceLength => (
                    "a tolerance is not a positive number below 1",
                    "set `rtol` and `atol`",
                ),
                BadInput::StepSize | BadInput::FixedStepMissing => (
                    "a step is missing or not positive",
                    "write `method = rk4(step = 1 [ms])`",
                ),
                BadInput::AlgebraicRows | BadInput::Projection => (
                    "this method cannot keep the constraints of the model",
                    "leave the choice to `method = auto`",
                ),
                BadInput::StateNotFinite { .. } | BadInput::StateLength | BadInput::SystemShape => {
                    unreachable!("the machine fits its own system")
                }
            };
            Diagnostic::error(code::BAD_SETTING, format!("the run cannot start: {why}")).help(help)
        }
        Failure::StepTooSmall { t, h, worst } | Failure::NewtonFailed { t, h, worst } => {
            let d = Diagnostic::error(
                code::STEP_TOO_SMALL,
                format!(
                    "step size fell to {h:.1e} s at t = {}; {} changes fastest",
                    seconds(t),
                    name(worst)
                ),
            );
            about(d, worst, "changes fastest here")
        }
        Failure::NotFinite { t, index, .. } => {
            let when = format!("at t = {}", seconds(t));
            let found = machine.find_not_finite(t, &error.y);
            match found.or_else(|| constant_without_value(reduced, graph)) {
                Some(failure) => {
                    let d = explain_machine(&failure, code::NOT_FINITE, &when, reduced, graph);
                    mind_zero_states(d, &failure, (&states, &error.y), graph)
                }
                None => {
                    let d = Diagnostic::error(
                        code::NOT_FINITE,
                        format!("the rate of {} is not a number {when}", name(index)),
                    );
                    about(d, index, "this one")
                }
            }
        }
        Failure::Evaluation {
            t, error: inner, ..
        } => {
            let when = format!("at t = {}", seconds(t));
            match inner {
                EvalError::Failed { code } | EvalError::Fatal { code } => explain_machine(
                    &machine.describe_failure(code),
                    code::NOT_FINITE,
                    &when,
                    reduced,
                    graph,
                ),
                EvalError::NotFinite { index } => {
                    let d = Diagnostic::error(
                        code::NOT_FINITE,
                        format!("{} is not a number {when}", name(index)),
                    );
                    about(d, index, "this one")
                }
            }
        }
        Failure::TooManySteps {
            t,
            steps,
            limit,
            needed,
        } => too_many_steps(t, (steps, limit), needed),
        Failure::Singular { t, index } => {
            let d = Diagnostic::error(
                code::SINGULAR_BLOCK,
                format!(
                    "the matrix of the implicit step is singular at t = {}",
                    seconds(t)
                ),
            );
            match index {
                Some(index) => about(d, index, "nothing fixes this one"),
                None => d,
            }
        }
        Failure::Chattering { t, guard, .. } => {
            let d = Diagnostic::error(
                code::CHATTERING,
                format!("a switch is chattering at t = {}", seconds(t)),
            );
            let mode = machine.mode_of_guard(guard);
            let d = if mode.is_some_and(|mode| machine.moves_states(mode)) {
                d.help("each `reinit` lets the condition come true again sooner: let it leave the state at a distance or at rest, or end the run there with `when … { stop }`")
            } else {
                d.help("add hysteresis, use `smooth`, or end the run there with `when … { stop }`")
            };
            match mode {
                Some(mode) => d.primary(
                    graph.span(dae.symbol(mode).origin),
                    "this switches faster than time advances",
                ),
                None => d,
            }
        }
        Failure::EventLoop { t, guard, .. } => {
            let d = Diagnostic::error(
                code::EVENT_LOOP,
                format!(
                    "switches change each other without end at t = {}",
                    seconds(t)
                ),
            );
            match machine.mode_of_guard(guard) {
                Some(mode) => d.primary(graph.span(dae.symbol(mode).origin), "this is one of them"),
                None => d,
            }
        }
    }
}

/// Says how far a run came with the steps it may take.
fn too_many_steps(t: f64, (steps, limit): (usize, usize), needed: f64) -> Diagnostic {
    let text = match steps < limit {
        true => format!(
            "the end is out of reach: {steps} steps led to t = {}, and at this pace the run would take {needed:.0e}",
            seconds(t)
        ),
        false => format!(
            "{limit} steps are not enough for this run; t = {} was reached",
            seconds(t)
        ),
    };
    Diagnostic::error(code::TOO_MANY_STEPS, text)
        .help("leave the choice to `method = auto`, which finds methods for stiff models; stop earlier, loosen `rtol`, or look for a fast oscillation in the model")
}

/// Prints a time with as many digits as are read.
pub(crate) fn seconds(t: f64) -> String {
    // Six places say nothing of a time far below a second; the first trial step of a run is its start.
    const NO_TIME: f64 = 1e-18;
    if t.abs() > NO_TIME && t.abs() < 1e-3 {
        return format!("{} s", crate::digits::significant(t, 4));
    }
    let text = format!("{t:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!(
        "{} s",
        if text.is_empty() || text == "-0" {
            "0"
        } else {
            text
        }
    )
}
