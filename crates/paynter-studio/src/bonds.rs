//! Effort, flow, power and energy of bonds of the canvas over a run.
//!
//! In:  a design, and the scalar bonds of its graph behind the bonds that are drawn.
//! Out: columns for the run.

use paynter::Design;
use paynter::model::domains::Domains;
use paynter::model::experiment::Column;
use paynter::model::graph::{Bond, BondGraph, BondId, Reading, ReadingKind};
use paynter::power::bond_power;
use paynter::symbolic::dae::{Origin, Symbol};
use paynter::symbolic::{ExprId, Names, Role, SymbolId};
use std::sync::Arc;

/// Asks a design for effort, flow, power and energy of one drawn bond, and for nothing else; none if it has no scalar
/// bond, or several (a multibond has no one effort).
pub fn want_signals(design: &mut Design, behind: &[BondId]) -> Option<()> {
    let [only] = behind else {
        return None;
    };
    let mut graph = BondGraph::clone(&design.graph);
    let bond = graph.bond(*only).clone();
    let (effort_unit, flow_unit) = units(&graph, &bond);
    let power = bond_power(&mut graph, *only);
    let energy = energy_of(&mut graph, *only);
    let pool = &mut graph.signals.pool;
    let columns = vec![
        column(&format!("e|{effort_unit}"), pool.symbol(bond.effort)),
        column(&format!("f|{flow_unit}"), pool.symbol(bond.flow)),
        column("P|W", power),
        column("E|J", pool.symbol(energy)),
    ];
    replace_plan(design, graph, columns);
    Some(())
}

/// The energy that has gone along a bond since the start, as a reading that the run integrates.
fn energy_of(graph: &mut BondGraph, bond: BondId) -> SymbolId {
    let signals = &mut graph.signals;
    // A name with a blank is nobody's.
    let name = signals.names.child(Names::ROOT, "energy of a bond", None);
    let symbol = signals.add_symbol(Symbol {
        name,
        role: Role::Unknown,
        nominal: 0.0,
        origin: Origin::default(),
    });
    let what = ReadingKind::BondEnergy(bond);
    graph.readings.push(Reading { symbol, what });
    symbol
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
pub fn want_powers(design: &mut Design, drawn: &[(String, Vec<BondId>)]) {
    let mut graph = BondGraph::clone(&design.graph);
    let mut columns = Vec::new();
    for (id, parts) in drawn {
        let mut total: Option<ExprId> = None;
        for &part in parts {
            let power = bond_power(&mut graph, part);
            let pool = &mut graph.signals.pool;
            total = Some(total.map_or(power, |sum| pool.add(sum, power)));
        }
        columns.extend(total.map(|power| column(id, power)));
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
