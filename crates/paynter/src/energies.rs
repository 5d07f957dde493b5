//! Lists the energies of a model: T, V, D, forces and Lagrange's equations, or its Hamiltonian form.
//!
//! In:  a design whose graph is mechanical: flows follow from those of 1-junctions.
//! Out: text, LaTeX or JSON, in the model's own names; or why it has no such form.

use crate::listing::{Format, ListEntry, write};
use paynter_design::design::Design;
use paynter_model::BondGraph;
use paynter_model::energies::{Energies, Hamiltonian, energies};
use paynter_symbolic::normal::normal_form;
use paynter_symbolic::print::{Style, Tree};
use paynter_symbolic::walk::symbols_of;
use paynter_symbolic::{ExprId, SymbolId};
use rustc_hash::FxHashMap;

/// Lists T, V, D, Q and the equations of motion.
///
/// # Errors
///
/// What keeps the graph from having them, in words.
pub fn lagrange(design: &Design, format: Format) -> Result<String, String> {
    let graph = &design.graph;
    let mut energies = energies(graph)?;
    let mut entries = coordinates(&energies);
    followers(&mut energies, graph, &mut entries);
    for (name, e) in [
        ("T", energies.kinetic),
        ("V", energies.potential),
        ("D", energies.loss),
    ] {
        entries.push(named(&mut energies, graph, name.to_owned(), e));
    }
    for i in 0..energies.coordinates.len() {
        let left = format!("Q_{}", energies.coordinates[i].name);
        let force = energies.forces[i];
        if energies.pool.as_number(force) != Some(0.0) {
            entries.push(named(&mut energies, graph, left, force));
        }
    }
    if !energies.left_out.is_empty() {
        entries.push(ListEntry::Note(format!(
            "without closed form, and so not in V or D: {}",
            energies.left_out.join(", ")
        )));
    }
    equations(&mut energies, graph, &mut entries);
    gyrators(&mut energies, graph, &mut entries);
    let name = |s: SymbolId| energies.name(graph, s);
    Ok(write(&entries, format, &name))
}

fn coordinates(energies: &Energies) -> Vec<ListEntry> {
    let words = energies
        .coordinates
        .iter()
        .map(|c| match c.name == c.junction {
            true => c.name.clone(),
            false => format!("{} (rate {}.f)", c.name, c.junction),
        });
    let words: Vec<String> = words.collect();
    vec![ListEntry::Note(format!(
        "coordinates: {}",
        words.join(", ")
    ))]
}

/// Displacements that follow coordinates: V reads them.
fn followers(energies: &mut Energies, graph: &BondGraph, entries: &mut Vec<ListEntry>) {
    for (state, rate) in energies.followers() {
        let left = format!("{}'", energies.name(graph, state));
        entries.push(named(energies, graph, left, rate));
    }
}

/// d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q + ∂D/∂q̇ = Q, with reactions of constraints.
fn equations(energies: &mut Energies, graph: &BondGraph, entries: &mut Vec<ListEntry>) {
    entries.push(ListEntry::Note("equations of motion".to_owned()));
    let locks = energies.locks.clone();
    for i in 0..energies.coordinates.len() {
        let (mut left, right) = (energies.loads[i], energies.forces[i]);
        for lock in &locks {
            // Power of the reaction: its effort times what its coordinates give.
            let rate = energies.coordinates[i].rate;
            let slope = paynter_symbolic::calculus::derivative(&mut energies.pool, lock.gap, rate);
            let reaction = energies.pool.symbol(lock.reaction);
            let part = energies.pool.mul(slope, reaction);
            left = energies.pool.add(left, part);
        }
        entries.push(ListEntry::Equation {
            left: tree(energies, graph, left),
            right: tree(energies, graph, right),
        });
    }
    for lock in &locks {
        entries.push(ListEntry::Note(format!("{} holds", lock.name)));
        entries.push(ListEntry::Equation {
            left: tree(energies, graph, lock.gap),
            right: Tree::Number(0.0),
        });
    }
}

/// Whether the gyrators are those of T, and what they add where they are not.
fn gyrators(energies: &mut Energies, graph: &BondGraph, entries: &mut Vec<ListEntry>) {
    let extra: Vec<(usize, ExprId)> = energies
        .extra
        .iter()
        .enumerate()
        .filter(|(_, e)| energies.pool.as_number(**e) != Some(0.0))
        .map(|(i, &e)| (i, e))
        .collect();
    if extra.is_empty() {
        entries.push(ListEntry::Note(
            "these are the equations of Euler and Lagrange for T - V, compared at random points"
                .to_owned(),
        ));
        return;
    }
    entries.push(ListEntry::Note(
        "beside the equations of Euler and Lagrange for T - V, gyrators add on the left".to_owned(),
    ));
    for (i, e) in extra {
        let left = format!("G_{}", energies.coordinates[i].name);
        entries.push(named(energies, graph, left, e));
    }
}

/// Lists H, J, R, g, y, and what can be said of J.
///
/// # Errors
///
/// What keeps the graph from having this form, in words.
pub fn hamiltonian(design: &Design, format: Format) -> Result<String, String> {
    let graph = &design.graph;
    let mut energies = energies(graph)?;
    let found = paynter_model::energies::hamiltonian(&mut energies)?;
    let mut entries = coordinates(&energies);
    let coordinates = energies.coordinates.iter().map(|c| c.name.clone());
    let momenta = found.momenta.iter().map(|&p| energies.name(graph, p));
    let states: Vec<String> = coordinates.chain(momenta).collect();
    entries.push(ListEntry::Note(format!(
        "x = ({}), x' = (J - R) dH/dx + g u, y = g' dH/dx",
        states.join(", ")
    )));
    followers(&mut energies, graph, &mut entries);

    match found.hamiltonian {
        Some(h) => entries.push(named(&mut energies, graph, "H".to_owned(), h)),
        None => {
            entries.push(ListEntry::Note("H = p' M^-1 p/2 + V".to_owned()));
            let v = energies.potential;
            entries.push(named(&mut energies, graph, "V".to_owned(), v));
        }
    }
    hamiltonian_matrices(&found, &mut energies, graph, &mut entries);

    let jacobi = match found.is_poisson {
        true => "Jacobi's identity holds",
        false => "Jacobi's identity fails: almost Poisson",
    };
    entries.push(ListEntry::Note(format!(
        "{} Casimirs; {jacobi}",
        found.n_casimirs
    )));
    let name = |s: SymbolId| energies.name(graph, s);
    Ok(write(&entries, format, &name))
}

/// The entries of M, J, R and g that are not zero, and y.
fn hamiltonian_matrices(
    found: &Hamiltonian,
    energies: &mut Energies,
    graph: &BondGraph,
    entries: &mut Vec<ListEntry>,
) {
    let n = energies.coordinates.len();
    let at = |row: usize, column: usize| format!("[{},{}]", row + 1, column + 1);
    for (k, &e) in found.inertia.iter().enumerate() {
        if energies.pool.as_number(e) != Some(0.0) && k % n >= k / n {
            let left = format!("M{}", at(k / n, k % n));
            entries.push(named(energies, graph, left, e));
        }
    }

    for i in 0..n {
        entries.push(ListEntry::Note(format!(
            "J{} = 1, J{} = -1",
            at(i, n + i),
            at(n + i, i)
        )));
    }
    for (word, list) in [("J", &found.gyroscopic), ("R", &found.resistive)] {
        for &(i, j, e) in list {
            let left = format!("{word}{}", at(n + i, n + j));
            entries.push(named(energies, graph, left, e));
        }
    }

    for &(i, input, e) in &found.ports {
        let input = energies.name(graph, input);
        let left = format!("g[{},{input}]", n + i + 1);
        entries.push(named(energies, graph, left, e));
        let rate = energies.pool.symbol(energies.coordinates[i].rate);
        let output = energies.pool.mul(e, rate);
        entries.push(named(energies, graph, format!("y[{input}]"), output));
    }
}

fn named(energies: &mut Energies, graph: &BondGraph, left: String, e: ExprId) -> ListEntry {
    let right = tree(energies, graph, e);
    ListEntry::Named { left, right }
}

fn tree(energies: &mut Energies, graph: &BondGraph, e: ExprId) -> Tree {
    let names: FxHashMap<SymbolId, String> = symbols_of(&energies.pool, e)
        .into_iter()
        .map(|s| (s, energies.name(graph, s)))
        .collect();
    let name = |s: SymbolId| names.get(&s).cloned().unwrap_or_default();
    let style = Style {
        name: &name,
        is_state: &|s| energies.own_names.contains_key(&s),
    };
    normal_form(&mut energies.pool, e, &style).for_reading(&name)
}
