//! Effort, flow and power of bonds of the canvas over a run.
//!
//! In:  a design, and bonds of a view.
//! Out: columns for the run: each bond of the view is one or more scalar bonds of the flat graph.

use paynter::Design;
use paynter::model::domains::Domains;
use paynter::model::experiment::Column;
use paynter::model::graph::{Bond, BondGraph, BondId, End};
use paynter::symbolic::{ExprId, Names};
use paynter::syntax::FileId;
use paynter_service::view::{Bond as Drawn, View};
use std::sync::Arc;

/// The scalar bonds behind a drawn one: made by the same arrow, between elements of the same names.
fn flat_bonds(graph: &BondGraph, drawn: &Drawn) -> Vec<BondId> {
    let (start, end) = drawn.range.bytes;
    let is_here = |bond: &Bond| {
        let span = graph.span(bond.origin);
        span.file == FileId(0) && (span.start as usize, span.end as usize) == (start, end)
    };
    let fits = |bond: &Bond| {
        fits_end(graph, bond.tail, &drawn.from.node) && fits_end(graph, bond.head, &drawn.to.node)
    };
    let bonds = graph.bonds.iter().enumerate();
    let mine = bonds.filter(|(_, b)| is_here(b) && fits(b));
    mine.map(|(i, _)| BondId(i as u32)).collect()
}

/// Tells whether an element may be the node of this id: an unnamed one always may.
fn fits_end(graph: &BondGraph, end: End, node: &str) -> bool {
    let element = graph.element(end.element);
    let names = &graph.signals.names;
    let path = if element.part == Names::ROOT {
        element.name
    } else {
        Some(element.part)
    };
    let Some(path) = path else { return true };
    let full = names.display(path);
    let first = full.split(['.', '[']).next().unwrap_or(&full);
    full == node || first == node || first == node.split('[').next().unwrap_or(node)
}

/// Asks a design for effort, flow and power of one drawn bond, and for nothing else; none if it has no scalar
/// bond, or several (a multibond has no one effort).
pub fn want_signals(design: &mut Design, drawn: &Drawn) -> Option<()> {
    let found = flat_bonds(&design.graph, drawn);
    let [only] = found.as_slice() else {
        return None;
    };
    let mut graph = BondGraph::clone(&design.graph);
    let bond = graph.bond(*only).clone();
    let (effort_unit, flow_unit) = units(&graph, &bond);
    let pool = &mut graph.signals.pool;
    let (e, f) = (pool.symbol(bond.effort), pool.symbol(bond.flow));
    let power = pool.mul(e, f);
    let columns = vec![
        column(&format!("e|{effort_unit}"), e),
        column(&format!("f|{flow_unit}"), f),
        column("P|W", power),
    ];
    replace_plan(design, graph, columns);
    Some(())
}

/// Units of effort and flow; empty where the domain is not one of the built-in ones.
fn units(graph: &BondGraph, bond: &Bond) -> (String, String) {
    let name = bond
        .domain
        .and_then(|d| graph.domains.get(d.0 as usize))
        .map(|d| d.name.as_str());
    let domains = Domains::built_in();
    let domain = domains.iter().find(|(_, d)| Some(d.name.as_str()) == name);
    domain
        .map(|(_, d)| (d.effort.unit.text.clone(), d.flow.unit.text.clone()))
        .unwrap_or_default()
}

/// Asks a design for the power of every drawn bond, and for nothing else.
pub fn want_powers(design: &mut Design, view: &View) {
    let mut graph = BondGraph::clone(&design.graph);
    let mut columns = Vec::new();
    for drawn in &view.bonds {
        let parts = flat_bonds(&graph, drawn);
        let mut total: Option<ExprId> = None;
        for part in parts {
            let bond = graph.bond(part).clone();
            let pool = &mut graph.signals.pool;
            let (e, f) = (pool.symbol(bond.effort), pool.symbol(bond.flow));
            let power = pool.mul(e, f);
            total = Some(total.map_or(power, |sum| pool.add(sum, power)));
        }
        columns.extend(total.map(|power| column(&drawn.id, power)));
    }
    replace_plan(design, graph, columns);
}

fn column(name: &str, value: ExprId) -> Column {
    Column {
        name: name.to_owned(),
        value,
        unit: None,
    }
}

fn replace_plan(design: &mut Design, graph: BondGraph, columns: Vec<Column>) {
    design.graph = Arc::new(graph);
    let plan = &mut design.plan;
    plan.columns = columns;
    plan.plots.clear();
    plan.measures.clear();
    plan.comparisons.clear();
    plan.linearize.clear();
    design.references.clear();
}
