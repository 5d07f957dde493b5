//! Bicausal strokes of an inverse: how the graph computes inputs from outputs.
//!
//! In:  a [`Subject`] with as many outputs as inputs; inputs are sources, outputs what junctions share.
//! Out: [`Bicausal`]: the graph with a source-sensor (SS) at each output, the bonds that carry effort and flow the same way, the
//!      strokes of all others, and which storages stay in integral form: the order of the inverse.
//!
//! A sensor that is given both its flow (the wanted one) and its effort (zero) passes both on, from junction to junction, to the source that
//! is to be found (Gawthrop 1995). A junction on that line takes what it shares from the sensor's side; all its other bonds take it
//! from the junction, and their answers add up to what goes on. The lines of several pairs have no junction in common (Ngwompo,
//! Scavarda & Thomasset 1996). Among all pairings and shortest lines the one is taken that leaves most storages in integral form.
//!
//! **Invariant:** every bond on a line is bicausal, every other bond has one stroke.

use crate::attach::{add_source, attach_source};
use crate::code;
use crate::control::{junction_of, resolve};
use crate::reach::short_name;
use crate::subject::Subject;
use paynter::model::causality::{Causality, StorageForm, assign_causality};
use paynter::model::graph::{Bond, BondGraph, BondId, ElementId, ElementKind, End, Law};
use paynter::symbolic::dae::Symbol;
use paynter::symbolic::{Names, Role, SymbolId};
use paynter::syntax::Diagnostic;
use std::collections::VecDeque;

/// A bond that carries effort and flow the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoWay {
    /// Which.
    pub bond: BondId,
    /// Both go along the half arrow; else both go against it.
    pub is_to_head: bool,
}

/// The strokes of an inverse.
#[derive(Clone, Debug)]
pub struct Bicausal {
    /// The graph with an SS at each output.
    pub graph: BondGraph,
    /// Strokes of the bonds that are not bicausal.
    pub causality: Causality,
    /// Bicausal bonds, from each output to its input.
    pub lines: Vec<Vec<TwoWay>>,
    /// Elements that are SS: those at outputs, then sources.
    pub ends: Vec<ElementId>,
    /// Elements on each line, from output to input.
    pub names: Vec<Vec<String>>,
    /// Storages in integral form: states of the inverse.
    pub integral: Vec<String>,
    /// Storages that differentiate.
    pub derivative: Vec<String>,
}

/// More pairs have too many pairings to try.
const MOST_PAIRS: usize = 5;

/// Assigns bicausal strokes.
///
/// # Errors
///
/// Outputs that no junction shares, inputs that are no sources, or lines that do not exist.
pub fn bicausal(subject: &Subject<'_>) -> Result<Bicausal, Vec<Diagnostic>> {
    subject.needs_input()?;
    subject.needs_output()?;
    let (n, m) = (subject.outputs.len(), subject.inputs.len());
    if n != m || n > MOST_PAIRS {
        let why = format!(
            "it takes as many outputs as inputs, {MOST_PAIRS} at most; here are {n} and {m}"
        );
        return Err(vec![refused(subject, why)]);
    }
    let sources = sources(subject)?;
    let mut graph = subject.graph().clone();
    let mut sensors = Vec::new();
    for (k, &output) in subject.outputs.iter().enumerate() {
        sensors.push(add_sensor(subject, &mut graph, k, output)?);
    }
    let mut best: Option<Bicausal> = None;
    for order in orders(n) {
        let pairs: Vec<_> = (0..n).map(|k| (sensors[k], sources[order[k]])).collect();
        let Some(lines) = disjoint_lines(&graph, &pairs) else {
            continue;
        };
        let Some(found) = assign(&graph, &pairs, &lines) else {
            continue;
        };
        if best
            .as_ref()
            .is_none_or(|b| found.integral.len() > b.integral.len())
        {
            best = Some(found);
        }
    }
    best.ok_or_else(|| {
        let why = "no lines without a common junction lead from the outputs to the inputs along which both effort and flow can be passed on";
        vec![refused(subject, why.to_owned())]
    })
}

fn refused(subject: &Subject<'_>, why: String) -> Diagnostic {
    let message = format!("no bicausal strokes: {why}");
    let message = Diagnostic::error(code::NO_BICAUSAL, message);
    let message = match subject.ask.to.first() {
        Some(output) => message.primary(output.span, "from this output"),
        None => subject.placed(message),
    };
    message.help(
        "name sources with `--from`, and as many efforts of 0- or flows of 1-junctions with `--to`",
    )
}

/// The source of each input.
fn sources(subject: &Subject<'_>) -> Result<Vec<ElementId>, Vec<Diagnostic>> {
    let inputs = subject.inputs.iter().zip(&subject.ask.from);
    inputs
        .map(|(&input, quantity)| {
            let why = format!("`{}` is not the value of one source", quantity.column.name);
            let source = subject.source_of(input);
            source.ok_or_else(|| vec![refused(subject, why)])
        })
        .collect()
}

/// An SS at the junction of an output, with its bond.
fn add_sensor(
    subject: &Subject<'_>,
    graph: &mut BondGraph,
    k: usize,
    output: paynter::symbolic::ExprId,
) -> Result<ElementId, Vec<Diagnostic>> {
    let found = resolve(subject, output).and_then(|s| junction_of(subject.graph(), s));
    let Some((junction, is_effort)) = found else {
        let quantity = &subject.ask.to[k];
        let message = format!("`{}` is not what a junction shares", quantity.column.name);
        return Err(vec![
            Diagnostic::error(code::NOT_AT_A_JUNCTION, message)
                .primary(
                    quantity.span,
                    "neither the effort of a 0-junction nor the flow of a 1-junction",
                )
                .help("measure what a junction shares, such as `tank.e` or `shaft.f`"),
        ]);
    };
    let kind = match is_effort {
        true => ElementKind::Se,
        false => ElementKind::Sf,
    };
    let zero = graph.signals.pool.number(0.0);
    let bond = new_symbols(graph);
    attach_source(graph, junction, kind, zero, bond);
    Ok(ElementId(graph.elements.len() as u32 - 1))
}

fn new_symbols(graph: &mut BondGraph) -> [SymbolId; 2] {
    let name = graph.signals.names.child(Names::ROOT, "sensor", None);
    [(); 2].map(|()| {
        graph.signals.add_symbol(Symbol {
            name,
            role: Role::Unknown,
            nominal: 0.0,
            origin: Default::default(),
        })
    })
}

/// All orders of 0 .. n.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in orders(n - 1) {
        for place in 0..n {
            let mut order = shorter.clone();
            order.insert(place, n - 1);
            all.push(order);
        }
    }
    all.sort();
    all
}

/// Shortest lines of bonds between pairs, none through a junction or two-port of another; none if one is missing.
fn disjoint_lines(graph: &BondGraph, pairs: &[(ElementId, ElementId)]) -> Option<Vec<Vec<BondId>>> {
    let mut is_taken = vec![false; graph.elements.len()];
    let mut lines = Vec::new();
    for &(from, to) in pairs {
        let line = shortest(graph, from, to, &is_taken)?;
        for &bond in &line {
            let Bond { tail, head, .. } = graph.bond(bond);
            is_taken[tail.element.0 as usize] = true;
            is_taken[head.element.0 as usize] = true;
        }
        lines.push(line);
    }
    Some(lines)
}

fn shortest(
    graph: &BondGraph,
    from: ElementId,
    to: ElementId,
    is_taken: &[bool],
) -> Option<Vec<BondId>> {
    let mut before: Vec<Option<BondId>> = vec![None; graph.elements.len()];
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        if at == to {
            let mut line = Vec::new();
            let mut at = to;
            while at != from {
                let bond = before[at.0 as usize]?;
                line.push(bond);
                at = other_end(graph, bond, at);
            }
            line.reverse();
            return Some(line);
        }
        for &bond in &graph.element(at).ports {
            let next = other_end(graph, bond, at);
            let passes = next == to || passes(graph, next);
            if passes
                && next != from
                && !is_taken[next.0 as usize]
                && before[next.0 as usize].is_none()
            {
                before[next.0 as usize] = Some(bond);
                queue.push_back(next);
            }
        }
    }
    None
}

/// Junctions and two-ports pass power on.
fn passes(graph: &BondGraph, element: ElementId) -> bool {
    let element = graph.element(element);
    let is_two_port = matches!(element.kind, ElementKind::Tf | ElementKind::Gy);
    element.kind.is_junction() || (is_two_port && element.ports.len() == 2)
}

fn other_end(graph: &BondGraph, bond: BondId, at: ElementId) -> ElementId {
    let Bond { tail, head, .. } = graph.bond(bond);
    if tail.element == at {
        head.element
    } else {
        tail.element
    }
}

/// Assigns the strokes that lines leave open; none where demands contradict each other.
fn assign(
    graph: &BondGraph,
    pairs: &[(ElementId, ElementId)],
    lines: &[Vec<BondId>],
) -> Option<Bicausal> {
    let mut cut = graph.clone();
    let mut two_way = Vec::new();
    let mut names = Vec::new();
    for (&(from, to), line) in pairs.iter().zip(lines) {
        let mut at = from;
        let mut passed = vec![short_name(graph, junction_beside(graph, from))];
        let mut directions = Vec::new();
        for &bond in line {
            let is_to_head = graph.bond(bond).tail.element == at;
            directions.push(TwoWay { bond, is_to_head });
            let next = other_end(graph, bond, at);
            cut_bond(&mut cut, bond, (at, next), to);
            at = next;
            passed.push(short_name(graph, at));
        }
        let ends = line.iter().flat_map(|&b| {
            let Bond { tail, head, .. } = graph.bond(b);
            [tail.element, head.element]
        });
        for two_port in ends.filter(|&e| passes(graph, e) && !graph.element(e).kind.is_junction()) {
            disarm(&mut cut, two_port);
        }
        passed.dedup();
        two_way.push(directions);
        names.push(passed);
    }
    let causality = assign_causality(&cut);
    if !causality.is_complete() {
        return None;
    }
    let with_form = |form: StorageForm| {
        let storages = (0..graph.elements.len() as u32).map(ElementId);
        let storages =
            storages.flat_map(|e| (0..cut.element(e).ports.len() as u32).map(move |p| (e, p)));
        let storages = storages.filter(|&(e, p)| causality.form(&cut, e, p) == Some(form));
        storages
            .map(|(e, _)| short_name(graph, e))
            .collect::<Vec<String>>()
    };
    Some(Bicausal {
        integral: with_form(StorageForm::Integral),
        derivative: with_form(StorageForm::Derivative),
        graph: graph.clone(),
        lines: two_way,
        ends: pairs
            .iter()
            .map(|p| p.0)
            .chain(pairs.iter().map(|p| p.1))
            .collect(),
        names,
        causality,
    })
}

/// The junction that an SS stands at.
fn junction_beside(graph: &BondGraph, sensor: ElementId) -> ElementId {
    other_end(graph, graph.element(sensor).ports[0], sensor)
}

/// Takes a bicausal bond apart, for the strokes of all others: what it comes from gives what it shares to it, what it goes to takes what it
/// shares from it. Two-ports on the line pass both on and have no part in the others' strokes.
fn cut_bond(
    cut: &mut BondGraph,
    bond: BondId,
    (from, to): (ElementId, ElementId),
    source: ElementId,
) {
    let zero = cut.signals.pool.number(0.0);
    let weak = |kind: ElementKind| {
        if kind == ElementKind::One {
            ElementKind::Se
        } else {
            ElementKind::Sf
        }
    };
    let strong = |kind: ElementKind| {
        if kind == ElementKind::One {
            ElementKind::Sf
        } else {
            ElementKind::Se
        }
    };
    let kind_of = |graph: &BondGraph, e: ElementId| graph.element(e).kind;
    if to == source {
        // The source itself takes both: to its junction it answers.
        if kind_of(cut, from).is_junction() {
            let kind = weak(kind_of(cut, from));
            cut.elements[to.0 as usize].kind = kind;
        }
        return;
    }
    if !kind_of(cut, to).is_junction() {
        // A junction before a two-port: the two-port answers to it, and gives nothing on.
        if kind_of(cut, from).is_junction() {
            let kind = weak(kind_of(cut, from));
            replace_end(cut, bond, to, kind, zero);
        }
        return;
    }
    // Into a junction: it takes what it shares.
    let given = strong(kind_of(cut, to));
    if kind_of(cut, from).is_junction() {
        let answer = weak(kind_of(cut, from));
        split(cut, bond, (from, to), [answer, given], zero);
    } else {
        replace_end(cut, bond, from, given, zero);
    }
}

/// Puts a source in the place of one end of a bond.
fn replace_end(
    cut: &mut BondGraph,
    bond: BondId,
    end: ElementId,
    kind: ElementKind,
    value: paynter::symbolic::ExprId,
) {
    let source = add_source(cut, end, kind, value, bond);
    let entry = &mut cut.bonds[bond.0 as usize];
    if entry.tail.element == end {
        entry.tail = source;
    } else {
        entry.head = source;
    }
}

/// Makes a two-port whose bonds were cut an element without any demands.
fn disarm(cut: &mut BondGraph, two_port: ElementId) {
    let one = cut.signals.pool.number(1.0);
    let mut left = Vec::new();
    for (k, bond) in cut.bonds.iter_mut().enumerate() {
        for end in [&mut bond.tail, &mut bond.head] {
            if end.element == two_port {
                end.port = left.len() as u32;
                left.push(BondId(k as u32));
            }
        }
    }
    let element = &mut cut.elements[two_port.0 as usize];
    (element.kind, element.law) = (ElementKind::R, Law::Gain(one));
    (element.ports, element.can_vanish, element.is_modulated) = (left, false, false);
}

/// Ends a bond between junctions at a source on either side.
fn split(
    cut: &mut BondGraph,
    bond: BondId,
    (from, to): (ElementId, ElementId),
    [answer, given]: [ElementKind; 2],
    value: paynter::symbolic::ExprId,
) {
    let symbols = new_symbols(cut);
    let port = cut.element(to).ports.iter().position(|&b| b == bond);
    let port = port.expect("a bond is at both of its ends");
    let fresh = BondId(cut.bonds.len() as u32);
    let source = add_source(cut, to, given, value, fresh);
    let mut other = cut.bonds[bond.0 as usize].clone();
    [other.effort, other.flow] = symbols;
    let head = End {
        element: to,
        port: port as u32,
    };
    (other.tail, other.head, other.forced, other.part_of) = (source, head, None, None);
    cut.bonds.push(other);
    cut.elements[to.0 as usize].ports[port] = fresh;
    let sink = add_source(cut, from, answer, value, bond);
    let entry = &mut cut.bonds[bond.0 as usize];
    if entry.tail.element == to {
        entry.tail = sink;
    } else {
        entry.head = sink;
    }
    entry.forced = None;
}
