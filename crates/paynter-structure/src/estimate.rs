//! Bicausal estimation: parameters of elements from measured signals (Gawthrop 1995; Gawthrop & Smith 1996, ch. 9).
//!
//! In:  a design, sensors, the elements whose size is not known, and a table of what was measured.
//! Out: effort and flow of these elements over time, and the sizes that fit them best.
//!
//! What a sensor measured is given, and an element whose law is not known lets both its effort and its flow be found: the inverse of the model in
//! which the element is a source. The rest of the model is taken as it is. Where there is no such inverse, the sensors do not tell the
//! element, and where it is unstable they do not tell it reliably; both are refused with the reason.
//!
//! **Invariant:** the law of an element that is estimated is not used.

use crate::balances::{column_of_sensor, constant, curve, drive_by, symbol};
use crate::channels::{Channels, channels};
use crate::code;
use crate::inverse::{Frame, inverse_within};
use crate::measured::{MOST_DIFFERENTIATIONS, Piecewise};
use crate::reach::short_name;
use crate::subject::Subject;
use paynter::Design;
use paynter::linear::LinearRequest;
use paynter::linear_algebra::Complex;
use paynter::model::BondGraph;
use paynter::model::domains::Domains;
use paynter::model::experiment::{Column as Recorded, Quantity};
use paynter::model::graph::{ElementId, ElementKind, Law, Variable};
use paynter::simulate::Wanted;
use paynter::symbolic::dae::Equation;
use paynter::symbolic::evaluate::evaluate;
use paynter::symbolic::walk::symbols_of;
use paynter::symbolic::{ExprId, Role, SymbolId};
use paynter::syntax::Diagnostic;
use paynter::table::{Column, Table};
use std::sync::Arc;

/// The size of one element.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The element.
    pub element: String,
    /// `R`, `C` or `I`.
    pub kind: &'static str,
    /// R = e/f, C = q/e or I = p/f, SI.
    pub value: f64,
    /// Standard deviation of it, if what is left over is noise.
    pub deviation: f64,
    /// What the model has.
    pub given: Option<f64>,
    /// Unit of it, where the domain is known.
    pub unit: String,
    /// What the law leaves over, as a part of the range of what it explains.
    pub left_over: f64,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Estimates {
    /// One for each element.
    pub list: Vec<Estimate>,
    /// Effort and flow of each element.
    pub table: Table,
    /// How often what each sensor measured is differentiated.
    pub differentiations: Vec<i64>,
    /// Poles of what computes the elements from the sensors.
    pub zeros: Vec<Complex>,
}

/// Estimates elements from data.
///
/// # Errors
///
/// Elements that have no size, sensors that do not tell them, data that does not move them.
pub fn estimate(
    design: &Design,
    ask: LinearRequest,
    names: &[String],
    data: &Table,
) -> Result<Estimates, Vec<Diagnostic>> {
    let known = Subject::new(design, ask)?;
    known.needs_output()?;
    let elements = elements_of(&known, names)?;
    let turned = turn(&known, &elements, data)?;
    let subject = Subject::new(&turned.design, turned.ask.clone())?;
    let compiled = turned.design.compile();
    let compiled = compiled.map_err(|why| vec![undetermined(&known, &elements, &why)])?;
    can_be_told(&known, &elements, &channels(&subject, &compiled)?)?;
    let frame = Frame {
        beside: turned.opened.iter().flat_map(Opened::columns).collect(),
        times: &data.time,
        start: Vec::new(),
    };
    let (inverse, columns) = inverse_within(&subject, &compiled, &turned.measured, &frame)?;
    let mut list = Vec::new();
    let mut table = Table {
        time: inverse.table.time,
        ..Table::default()
    };
    for (&element, columns) in elements.iter().zip(columns.chunks(3)) {
        list.push(fitted(&known, element, columns).map_err(|message| vec![*message])?);
        table.columns.extend(columns[..2].iter().cloned());
    }
    Ok(Estimates {
        list,
        table,
        differentiations: inverse.differentiations,
        zeros: inverse.zeros,
    })
}

/// The elements of these names, as many as there are sensors.
fn elements_of(subject: &Subject<'_>, names: &[String]) -> Result<Vec<ElementId>, Vec<Diagnostic>> {
    let mut elements = Vec::new();
    for name in names {
        elements.push(element_of(subject, name).map_err(|message| vec![*message])?);
    }
    let n_sensors = subject.ask.to.len();
    if elements.len() == n_sensors {
        return Ok(elements);
    }
    let message = format!(
        "{} to estimate, and {}",
        count(elements.len(), "element"),
        count(n_sensors, "sensor")
    );
    Err(vec![refused(subject, message).help(
        "name as many sensors with `--to` as elements with `--estimate`",
    )])
}

/// A design in which the elements are sources and the sensors are given.
struct Turned {
    design: Design,
    ask: LinearRequest,
    measured: Vec<Quantity>,
    opened: Vec<Opened>,
}

fn turn(
    known: &Subject<'_>,
    elements: &[ElementId],
    data: &Table,
) -> Result<Turned, Vec<Diagnostic>> {
    let mut graph = known.graph().clone();
    drive_by(&mut graph, known, data);
    let mut measured = Vec::new();
    for quantity in &known.ask.to {
        let column = column_of_sensor(data, quantity)?;
        let value = curve(&mut graph, (data, column), Piecewise::quintic);
        measured.push(Quantity {
            column: Recorded {
                value,
                ..quantity.column.clone()
            },
            span: quantity.span,
        });
    }
    let opened: Vec<Opened> = elements.iter().map(|&e| open(&mut graph, e)).collect();
    // Where the data begins is where the model begins: start values of the experiment are of another run.
    let starts = graph.signals.starts.iter_mut();
    starts.for_each(|start| start.is_guess = true);
    Ok(Turned {
        ask: LinearRequest {
            from: opened.iter().map(|o| o.quantity.clone()).collect(),
            ..known.ask.clone()
        },
        design: Design {
            graph: Arc::new(graph),
            ..known.design.clone()
        },
        measured,
        opened,
    })
}

/// Refuses sensors that do not tell the elements apart, or only after too many differentiations.
fn can_be_told(
    subject: &Subject<'_>,
    elements: &[ElementId],
    found: &Channels,
) -> Result<(), Vec<Diagnostic>> {
    if !found.is_invertible() {
        return Err(vec![untold(subject, elements, found.rank)]);
    }
    let most = found.infinite.iter().max().copied().unwrap_or(0);
    if most <= MOST_DIFFERENTIATIONS {
        return Ok(());
    }
    let message = format!("what is measured would be differentiated {most} times");
    Err(vec![refused(subject, message).help(format!(
        "of data nothing is left after {MOST_DIFFERENTIATIONS} times: measure nearer to the element, or fit with `paynter fit`"
    ))])
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn refused(subject: &Subject<'_>, why: String) -> Diagnostic {
    let message = Diagnostic::error(
        code::NO_ESTIMATE,
        format!("the elements cannot be estimated: {why}"),
    );
    match subject.ask.to.first() {
        Some(sensor) => message.primary(sensor.span, "from this sensor"),
        None => subject.placed(message),
    }
}

/// Names of elements, to stand between backticks.
fn listed(subject: &Subject<'_>, elements: &[ElementId]) -> String {
    let names = elements.iter().map(|&e| short_name(subject.graph(), e));
    names.collect::<Vec<_>>().join("`, `")
}

/// With the elements as sources the rest of the model has no equations.
fn undetermined(subject: &Subject<'_>, elements: &[ElementId], why: &[Diagnostic]) -> Diagnostic {
    let first = why.first().map_or("", |m| m.message.as_str());
    let names = listed(subject, elements);
    let message =
        format!("without the laws of `{names}` the rest of the model is not determined: {first}");
    refused(subject, message).help("estimate fewer elements of one junction at a time")
}

/// The sensors see fewer of the elements than are asked for.
fn untold(subject: &Subject<'_>, elements: &[ElementId], rank: usize) -> Diagnostic {
    let names = listed(subject, elements);
    let why = match rank {
        0 => format!("what `{names}` does reaches no sensor, whatever the parameters are"),
        _ => {
            format!("the sensors tell only {rank} of `{names}` apart, whatever the parameters are")
        }
    };
    refused(subject, why)
        .help("measure something that the element acts on: the flow or effort of its junction")
}

/// A one-port R, C or I of one size.
fn element_of(subject: &Subject<'_>, name: &str) -> Result<ElementId, Box<Diagnostic>> {
    let graph = subject.graph();
    let named = (0..graph.elements.len() as u32).map(ElementId);
    let found = named.into_iter().find(|&e| {
        let own = graph.element(e).name;
        own.is_some_and(|own| graph.signals.names.display(own) == name)
    });
    let wrong = |why: String| {
        let message = Diagnostic::error(
            code::NO_ESTIMATE,
            format!("`{name}` cannot be estimated: {why}"),
        );
        let message = match found {
            Some(e) => message.primary(graph.span(graph.element(e).origin), "this element"),
            None => subject.placed(message),
        };
        Box::new(message.help("name elements of one size, such as R(b), C(1/k) or I(m)"))
    };
    let Some(id) = found else {
        return Err(wrong("there is no element of this name".to_owned()));
    };
    let element = graph.element(id);
    let is_storage_or_loss = matches!(
        element.kind,
        ElementKind::R | ElementKind::C | ElementKind::I
    );
    match &element.law {
        _ if !is_storage_or_loss || element.ports.len() != 1 => {
            Err(wrong("it is no R, C or I with one port".to_owned()))
        }
        _ if element.is_modulated => Err(wrong("its size changes with what it reads".to_owned())),
        Law::Gain(_) | Law::InverseGain(_) => Ok(id),
        _ => Err(wrong("its law is not that of one size".to_owned())),
    }
}

/// An element that became a source.
struct Opened {
    quantity: Quantity,
    effort: ExprId,
    flow: ExprId,
    /// q of a C, p of an I; the flow of an R.
    held: ExprId,
}

impl Opened {
    fn columns(&self) -> Vec<Wanted> {
        let name = self
            .quantity
            .column
            .name
            .trim_end_matches(".e")
            .trim_end_matches(".f");
        let column = |letter: &str, value: ExprId| Wanted {
            name: format!("{name}.{letter}"),
            value,
            unit: String::new(),
            factor: 1.0,
            offset: 0.0,
        };
        vec![
            column("e", self.effort),
            column("f", self.flow),
            column("held", self.held),
        ]
    }
}

/// Makes an element a source of effort at a 1-junction, of flow at a 0-junction. What it remembers is still remembered:
/// others may read it.
fn open(graph: &mut BondGraph, id: ElementId) -> Opened {
    let name = short_name(graph, id);
    let element = graph.element(id).clone();
    let bond = graph.bond(element.ports[0]);
    let (effort, flow) = (bond.effort, bond.flow);
    let other = if bond.tail.element == id {
        bond.head
    } else {
        bond.tail
    };
    let is_flow = graph.element(other.element).kind == ElementKind::Zero;
    let unknown = constant(graph);
    graph.inputs.push(unknown);
    let value = graph.signals.pool.symbol(unknown);
    let span = graph.span(element.origin);
    let own = &mut graph.elements[id.0 as usize];
    own.kind = if is_flow {
        ElementKind::Sf
    } else {
        ElementKind::Se
    };
    own.law = Law::Source {
        value,
        position: None,
    };
    own.states.clear();
    let held = match element.states.first() {
        Some(&state) => remember(
            graph,
            state,
            if element.kind == ElementKind::C {
                flow
            } else {
                effort
            },
        ),
        None => flow,
    };
    let pool = &mut graph.signals.pool;
    Opened {
        quantity: Quantity {
            column: Recorded {
                name: format!("{name}.{}", if is_flow { "f" } else { "e" }),
                value,
                unit: None,
            },
            span,
        },
        effort: pool.symbol(effort),
        flow: pool.symbol(flow),
        held: pool.symbol(held),
    }
}

/// Keeps a state as the integral of what changes it.
fn remember(graph: &mut BondGraph, state: SymbolId, by: SymbolId) -> SymbolId {
    let rate = symbol(graph, Role::Derivative { of: state });
    let dae = &mut graph.signals;
    let (left, right) = (dae.pool.symbol(rate), dae.pool.symbol(by));
    let origin = dae.symbol(state).origin;
    dae.equations.push(Equation {
        left,
        right,
        solves: Some(rate),
        origin,
    });
    state
}

/// Rows in which an element moves less than this part of what it moves at most tell nothing of it.
const AT_REST: f64 = 1e-9;

/// The size that fits best: e = R f, e = q/C or f = p/I, where q and p begin anywhere.
fn fitted(
    subject: &Subject<'_>,
    id: ElementId,
    columns: &[Column],
) -> Result<Estimate, Box<Diagnostic>> {
    let graph = subject.graph();
    let element = graph.element(id);
    let name = short_name(graph, id);
    let [e, f, held] = [0, 1, 2].map(|k| columns[k].values.as_slice());
    let (x, y, kind) = match element.kind {
        ElementKind::R => (f, e, "R"),
        ElementKind::C => (held, e, "C"),
        _ => (held, f, "I"),
    };
    let line = match kind {
        "R" => through_zero(x, y),
        _ => with_offset(x, y),
    };
    let Some(line) = line else {
        let message = format!("`{name}` cannot be estimated: it does not move in this data");
        return Err(Box::new(
            Diagnostic::error(code::NO_ESTIMATE, message)
                .primary(
                    graph.span(element.origin),
                    "its flow is zero or constant all the time",
                )
                .help("take data of a run that excites it"),
        ));
    };
    let (value, deviation) = match kind {
        "R" => (line.slope, line.deviation),
        _ => (1.0 / line.slope, line.deviation / line.slope.powi(2)),
    };
    Ok(Estimate {
        element: name,
        kind,
        value,
        deviation,
        given: given(graph, id),
        unit: unit(graph, id),
        left_over: line.left_over,
    })
}

/// A straight line through points.
struct Line {
    slope: f64,
    deviation: f64,
    left_over: f64,
}

fn through_zero(x: &[f64], y: &[f64]) -> Option<Line> {
    line(x, y, 1)
}

fn with_offset(x: &[f64], y: &[f64]) -> Option<Line> {
    let n = x.len().max(1) as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let x: Vec<f64> = x.iter().map(|v| v - mx).collect();
    let y: Vec<f64> = y.iter().map(|v| v - my).collect();
    line(&x, &y, 2)
}

/// Least squares of y = slope·x; `n_found` numbers are found from the points.
fn line(x: &[f64], y: &[f64], n_found: usize) -> Option<Line> {
    let largest = |v: &[f64]| v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (xx, xy) = (sum(x, x), sum(x, y));
    let is_at_rest = largest(x) <= AT_REST * largest(y) || xx == 0.0 || !xx.is_finite();
    if is_at_rest || x.len() <= n_found {
        return None;
    }
    let slope = xy / xx;
    let rest: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - slope * x).collect();
    let spread = sum(&rest, &rest) / (x.len() - n_found) as f64;
    Some(Line {
        slope,
        deviation: (spread / xx).sqrt(),
        left_over: largest(&rest) / largest(y).max(f64::MIN_POSITIVE),
    })
}

/// The size that the model has.
fn given(graph: &BondGraph, id: ElementId) -> Option<f64> {
    let dae = &graph.signals;
    let (e, is_inverse) = match graph.element(id).law {
        Law::Gain(e) => (e, false),
        Law::InverseGain(e) => (e, true),
        _ => return None,
    };
    let value = |s: SymbolId| match dae.symbol(s).role {
        Role::Parameter { value, .. } => value,
        _ => f64::NAN,
    };
    let is_known = symbols_of(&dae.pool, e)
        .into_iter()
        .all(|s| !value(s).is_nan());
    let size = evaluate(&dae.pool, e, &value).ok().filter(|_| is_known)?;
    Some(if is_inverse { 1.0 / size } else { size })
}

/// The unit of e/f, q/e or p/f in a built-in domain.
fn unit(graph: &BondGraph, id: ElementId) -> String {
    let element = graph.element(id);
    let named = element.domain.and_then(|d| graph.domains.get(d.0 as usize));
    let built_in = Domains::built_in();
    let Some(found) = named.and_then(|d| built_in.find(&d.name)) else {
        return String::new();
    };
    let domain = built_in.get(found);
    let of = |variable: Variable| domain.dimension(variable, element.kind);
    let dimension = match element.kind {
        ElementKind::R => of(Variable::Effort).per(of(Variable::Flow)),
        ElementKind::C => of(Variable::Stored).per(of(Variable::Effort)),
        _ => of(Variable::Stored).per(of(Variable::Flow)),
    };
    dimension.unit().text
}
