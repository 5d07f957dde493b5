//! Why a right-hand side has no value.
//!
//! In:  what the machine says of a block, a formula or a recorded quantity that failed.
//! Out: a diagnostic at the law or line behind it, with what usually helps.

use super::{MOST_NAMES, at_origins, list_names, seconds};
use crate::code;
use paynter_exec::{Conflict, Failure as MachineFailure, Machine};
use paynter_model::graph::{Law, Variable};
use paynter_model::{BondGraph, Element, ElementKind};
use paynter_solve::EvalError;
use paynter_symbolic::dae::{Dae, Origin};
use paynter_symbolic::expr::Function1;
use paynter_symbolic::reduced::{Block, Known, Reduced};
use paynter_symbolic::walk::{below, for_each_argument, symbols_of};
use paynter_symbolic::{ExprId, Node, Role, SymbolId};
use paynter_syntax::Diagnostic;

/// Explains a failure of a recorded quantity.
pub fn explain_recording(
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

/// Explains why a machine has no value; `fallback` is the code where nothing more is known.
pub fn explain_machine(
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
            let what = format!("the equations do not determine {names} {when}");
            let d = Diagnostic::error(code::SINGULAR_BLOCK, what);
            let d = mind_saturation(d, unknowns, reduced);
            at_origins(d, origins.iter().copied(), "part of the loop", graph)
        }
        MachineFailure::NoConvergence { unknowns, origins } => {
            let names = list_names(unknowns, dae);
            let what = format!("no solution was found for {names} {when}");
            let d = Diagnostic::error(code::NO_CONVERGENCE, what);
            let d = mind_saturation(d, unknowns, reduced);
            at_origins(d, origins.iter().copied(), "part of the loop", graph).help(
                "the equations may have no real solution; if there is one, give a `guess` near it",
            )
        }
        MachineFailure::NotFinite {
            symbol: Some(symbol),
        } => not_finite(*symbol, (fallback, when), dae, graph),
        MachineFailure::NotFinite { symbol: None } => {
            Diagnostic::error(fallback, format!("a value is not a number {when}"))
        }
        MachineFailure::External { message } => {
            let d = Diagnostic::error(code::EXTERNAL_FAILED, format!("{message} ({when})"));
            at_origins(d, external_calls(graph), "called here", graph)
        }
        MachineFailure::EventLoop { modes } => {
            let what = format!("switches keep changing each other {when}");
            let d = Diagnostic::error(code::EVENT_LOOP, what);
            let origins = modes.iter().map(|&m| dae.symbol(m).origin);
            at_origins(d, origins, "switches here", graph)
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

/// Says where a value that is infinite or not a number comes from.
fn not_finite(
    symbol: SymbolId,
    (fallback, when): (&'static str, &str),
    dae: &Dae,
    graph: &BondGraph,
) -> Diagnostic {
    let backwards = element_of(symbol, graph).filter(|e| is_backwards(symbol, e, graph));
    if let Some(element) = backwards {
        return no_such_value(symbol, element, (fallback, when), dae, graph);
    }

    let own = || (dae.symbol(symbol).origin, Vec::new());
    let (origin, read) = definition(symbol, graph).unwrap_or_else(own);
    let what = format!("`{}` is not a number {when}", dae.name_of(symbol));
    let label = "its definition gives infinity or NaN here";
    let mut message = Diagnostic::error(fallback, what).primary(graph.span(origin), label);
    for symbol in symbols_of_all(&graph.signals, &read) {
        let read = graph.signals.symbol(symbol);
        if matches!(read.role, Role::Parameter { value: 0.0, .. }) {
            message = message.secondary(graph.span(read.origin), "this is zero");
        }
    }
    message
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
        "the rest of the model requires what this law never reaches",
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
            return d.help("laws that saturate, such as diodes in reverse, do not determine how they share a voltage: give each a large resistance in parallel, such as `+ e/1e12` in its law");
        }
        for_each_argument(pool, e, |argument| open.push(argument));
    }
    d
}

/// Tells of equations that leave their unknowns open, to the last digit.
pub fn explain_open(
    (t, unknowns, origins): &(f64, Vec<SymbolId>, Vec<Origin>),
    reduced: &Reduced,
    graph: &BondGraph,
) -> Diagnostic {
    let names = list_names(unknowns, &reduced.dae);
    let d = Diagnostic::warning(
        code::LEFT_OPEN,
        format!(
            "the laws do not determine {names} at t = {}: other values fit as well, to the last digit",
            seconds(*t)
        ),
    );
    let d = at_origins(d, origins.iter().copied(), "part of it", graph);
    mind_saturation(d, unknowns, reduced)
}

/// Finds an unknown whose value is a constant that is not a number.
pub fn constant_without_value(reduced: &Reduced, graph: &BondGraph) -> Option<MachineFailure> {
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
pub fn mind_zero_states(
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
            "`{}` is 0, where the law has no value; a state without a start value starts at 0: write `start {first} = …`",
            names.join("`, `")
        )),
        None => d,
    }
}

/// Adds the advice for ideal switches and diodes, where one takes part.
pub fn mind_switches(d: Diagnostic, graph: &BondGraph) -> Diagnostic {
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
