//! The power through every bond: from a run of its own, or from the columns of a result.
//!
//! In:  a design, and which instant is meant.
//! Out: a [`PowerFlow`] to be drawn, along the half arrow of each bond.
//!
//! Means of a run are integrals on the dense output of its steps, as in the audit. Columns of a
//! result give the powers of some bonds; the others follow where junctions, transformers and gyrators
//! leave no choice.

use crate::layout::{Layout, run_spec};
use crate::refused::Refused;
use crate::simulate::{Ending, Run, Wanted, prepare, simulate};
use paynter_design::compile::{Settings, compile};
use paynter_design::design::Design;
use paynter_draw::diagram::PowerFlow;
use paynter_exec::Engine;
use paynter_model::graph::{BondGraph, BondId, ElementId, ElementKind};
use paynter_model::units::{Unit, format_number};
use paynter_run::recorder::Progress;
use paynter_run::table::Table;
use paynter_symbolic::{Dae, ExprId, Names};
use std::sync::Arc;

/// Which powers are meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// The mean over the run.
    Mean,
    /// At this time, s.
    At(f64),
}

/// Reads `mean`, or a time such as `0.1` or `20 [ms]`.
///
/// # Errors
///
/// What to write instead.
pub fn read_when(text: &str) -> Result<When, String> {
    if text == "mean" {
        return Ok(When::Mean);
    }
    let (number, unit) = match text
        .trim()
        .strip_suffix(']')
        .and_then(|t| t.split_once('['))
    {
        Some((number, unit)) => (number, unit),
        None => (text, "s"),
    };
    let wrong = || format!("`{text}` is neither `mean` nor a time; write 0.1 or \"100 [ms]\"");
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let unit = Unit::parse_text(unit).map_err(|_| wrong())?;
    let is_time = Unit::parse_text("s").is_ok_and(|s| s.dimension == unit.dimension);
    if !is_time || !number.is_finite() {
        return Err(wrong());
    }
    Ok(When::At(unit.to_si(number)))
}

/// Runs the experiment and gives the power of each bond.
///
/// # Errors
///
/// See [`Refused`].
pub fn powers_of_run(
    design: &Design,
    when: When,
    engine: Engine,
    progress: Progress<'_>,
) -> Result<PowerFlow, Refused> {
    let plan = &design.plan;
    if let When::At(t) = when
        && !(t >= plan.start && t <= plan.stop)
    {
        return Err(Refused::Call(format!(
            "the run goes from {} s to {} s; {} s is outside",
            plan.start, plan.stop, t
        )));
    }

    // The integrals are in the graph, so that every structure of switches has them.
    let mut graph = BondGraph::clone(&design.graph);
    let powers: Vec<ExprId> = (0..graph.bonds.len() as u32)
        .map(|b| bond_power(&mut graph, BondId(b)))
        .collect();

    let mut layout = Layout::of(Vec::new());
    match when {
        When::Mean => integrate_powers(&mut graph.signals, &powers),
        When::At(_) => layout.wanted.extend(powers.iter().map(|&value| Wanted {
            name: String::new(),
            value,
            unit: String::new(),
            factor: 1.0,
            offset: 0.0,
        })),
    }

    let compiled = compile(Arc::new(graph), Settings::of(plan))?;
    let mut spec = run_spec(plan, &layout, &[], engine);
    spec.output_times = match when {
        When::Mean => Vec::new(),
        When::At(t) => vec![t],
    };
    let mut machine = prepare(&compiled, &spec)?;
    let run = simulate(&mut machine, &compiled, &spec, progress)?;

    let end = match run.ending {
        Ending::Reached => plan.stop,
        Ending::Stopped { time, .. } | Ending::Cancelled { time } => time,
        Ending::Failed {
            why: diagnostics, ..
        } => return Err(Refused::Run(diagnostics)),
    };
    let watts = watts(&run, when, powers.len(), (plan.start, end))?;

    Ok(PowerFlow {
        watts,
        title: title(when, plan.start, end),
    })
}

/// The power of each bond: the mean of its integral, or its value at an instant.
fn watts(
    run: &Run,
    when: When,
    n_bonds: usize,
    (start, end): (f64, f64),
) -> Result<Vec<f64>, Refused> {
    let watts = match when {
        When::Mean => {
            let span = end - start;
            let n_before = run.integrals.len() - n_bonds;
            let means = run.integrals[n_before..].iter().map(|joules| joules / span);
            means.collect()
        }
        When::At(t) => {
            let value = |c: &paynter_run::table::Column| c.values.first().copied();
            let list: Option<Vec<f64>> = run.table.columns.iter().map(value).collect();
            list.ok_or_else(|| Refused::Call(format!("the run ended at {end} s, before {t} s")))?
        }
    };
    Ok(watts)
}

fn title(when: When, start: f64, end: f64) -> String {
    match when {
        When::Mean => format!(
            "mean power from {} s to {} s",
            format_number(start),
            format_number(end)
        ),
        When::At(t) => format!("power at {} s", format_number(t)),
    }
}

/// Adds an integral of each power, after those that are there.
fn integrate_powers(dae: &mut Dae, powers: &[ExprId]) {
    let base = dae.names.child(Names::ROOT, "mean power", None);
    for (number, &rate) in powers.iter().enumerate() {
        let name = dae.names.child(base, "bond", Some(number as i64 + 1));
        dae.integrate(name, rate);
    }
}

/// Power along the arrow of a bond; the flow of a pseudo bond is a power already.
pub fn bond_power(graph: &mut BondGraph, bond: BondId) -> ExprId {
    let (effort, flow) = (graph.bond(bond).effort, graph.bond(bond).flow);
    let is_pseudo = is_pseudo(graph, bond);
    let pool = &mut graph.signals.pool;
    let flow = pool.symbol(flow);
    if is_pseudo {
        return flow;
    }
    let effort = pool.symbol(effort);
    pool.mul(effort, flow)
}

fn is_pseudo(graph: &BondGraph, bond: BondId) -> bool {
    let domain = graph.bond(bond).domain;
    domain
        .and_then(|d| graph.domains.get(d.0 as usize))
        .is_some_and(|d| d.is_pseudo)
}

/// Takes the power of each bond from the columns of a result.
///
/// # Errors
///
/// What has to be recorded, where the columns leave bonds open.
pub fn powers_of_table(design: &Design, table: &Table, when: When) -> Result<PowerFlow, Refused> {
    let graph = &design.graph;
    let (Some(&start), Some(&end)) = (table.time.first(), table.time.last()) else {
        return Err(Refused::Call("the result has no rows".to_owned()));
    };
    if let When::At(t) = when
        && !(t >= start && t <= end)
    {
        return Err(Refused::Call(format!(
            "the result goes from {start} s to {end} s; {t} s is outside"
        )));
    }
    let mut watts: Vec<Option<f64>> = (0..graph.bonds.len() as u32)
        .map(|b| {
            let values = recorded(graph, table, BondId(b))?;
            Some(read_off(&table.time, &values, when))
        })
        .collect();
    balance(graph, &mut watts);
    if watts.iter().any(Option::is_none) {
        return Err(Refused::Call(what_to_record(graph, &watts)));
    }
    Ok(PowerFlow {
        watts: watts.into_iter().flatten().collect(),
        title: match when {
            When::Mean => format!("{}, {} rows", title(when, start, end), table.time.len()),
            When::At(_) => title(when, start, end),
        },
    })
}

/// The power along a bond from the columns of its own name, or of a one-port at its end.
fn recorded(graph: &BondGraph, table: &Table, bond: BondId) -> Option<Vec<f64>> {
    let column = |name: String| {
        let column = table.column(&name)?;
        let unit = match column.unit.as_str() {
            "" => Unit::one(),
            unit => Unit::parse_text(unit).ok()?,
        };
        Some(
            column
                .values
                .iter()
                .map(|&x| unit.to_si(x))
                .collect::<Vec<f64>>(),
        )
    };

    let of = |name: &str, sign: f64| -> Option<Vec<f64>> {
        if let Some(power) = column(format!("{name}.power")) {
            return Some(power.into_iter().map(|p| sign * p).collect());
        }
        let flow = column(format!("{name}.f"))?;
        if is_pseudo(graph, bond) {
            return Some(flow);
        }
        let effort = column(format!("{name}.e"))?;
        Some(effort.iter().zip(&flow).map(|(e, f)| e * f).collect())
    };

    let named = graph.bond(bond).name;
    if let Some(found) = named.and_then(|p| of(&graph.signals.names.display(p), 1.0)) {
        return Some(found);
    }

    let ends = [
        (graph.bond(bond).tail.element, -1.0),
        (graph.bond(bond).head.element, 1.0),
    ];

    ends.into_iter().find_map(|(id, into)| {
        if !is_one_port(graph, id) {
            return None;
        }
        // The power of a source is counted out of it, that of others into them.
        let is_source = matches!(graph.element(id).kind, ElementKind::Se | ElementKind::Sf);
        let sign = if is_source { -into } else { into };
        of(&graph.element_name(id), sign)
    })
}

fn is_one_port(graph: &BondGraph, id: ElementId) -> bool {
    let element = graph.element(id);
    element.ports.len() == 1 && !element.kind.is_junction()
}

fn read_off(time: &[f64], values: &[f64], when: When) -> f64 {
    match when {
        When::At(t) => {
            let next = time.partition_point(|&x| x < t).min(time.len() - 1);
            if next == 0 || time[next] <= t {
                return values[next];
            }
            let part = (t - time[next - 1]) / (time[next] - time[next - 1]);
            values[next - 1] + part * (values[next] - values[next - 1])
        }
        When::Mean => {
            let span = time[time.len() - 1] - time[0];
            if span <= 0.0 {
                return values[0];
            }
            let area = |k: usize| 0.5 * (values[k] + values[k + 1]) * (time[k + 1] - time[k]);
            (0..time.len() - 1).map(area).sum::<f64>() / span
        }
    }
}

/// Fills in what follows: power into a junction, transformer or gyrator sums to zero.
fn balance(graph: &BondGraph, watts: &mut [Option<f64>]) {
    let keeps_power = |id: ElementId| {
        let element = graph.element(id);
        element.kind.is_junction()
            || (matches!(element.kind, ElementKind::Tf | ElementKind::Gy) && !element.is_unpowered)
    };
    let mut open: Vec<ElementId> = (0..graph.elements.len() as u32)
        .map(ElementId)
        .filter(|&id| keeps_power(id))
        .collect();

    // Each bond is filled in once, and wakes the elements at its ends only.
    while let Some(id) = open.pop() {
        let mut unknown = None;
        let mut into = 0.0;
        let mut n_unknown = 0;
        for &bond in &graph.element(id).ports {
            let sign = if graph.bond(bond).head.element == id {
                1.0
            } else {
                -1.0
            };
            match watts[bond.0 as usize] {
                Some(w) => into += sign * w,
                None => {
                    unknown = Some((bond, sign));
                    n_unknown += 1;
                }
            }
        }
        if let (Some((bond, sign)), 1) = (unknown, n_unknown) {
            watts[bond.0 as usize] = Some(-sign * into);
            let ends = [graph.bond(bond).tail.element, graph.bond(bond).head.element];
            open.extend(ends.into_iter().filter(|&e| keeps_power(e)));
        }
    }
}

fn what_to_record(graph: &BondGraph, watts: &[Option<f64>]) -> String {
    let mut names = Vec::new();
    for (index, _) in watts.iter().enumerate().filter(|(_, w)| w.is_none()) {
        let bond = graph.bond(BondId(index as u32));
        let ends = [bond.tail.element, bond.head.element];
        let named = |id: &ElementId| is_one_port(graph, *id) && graph.element(*id).name.is_some();
        if let Some(id) = ends.into_iter().find(named) {
            names.push(format!("{}.power", graph.element_name(id)));
        }
    }
    const MOST: usize = 12;
    let n = names.len();
    let dots = if n > MOST { ", …" } else { "" };
    names.truncate(MOST);
    let help = if names.is_empty() {
        "leave out --result, and the model is run for them".to_owned()
    } else {
        format!(
            "write `record {}{dots}` in the experiment, or leave out --result, and the model is run for them",
            names.join(", ")
        )
    };
    format!("the result does not say the power of every bond; {help}")
}
