//! Names of junctions, and expressions printed in the names of the model.
//!
//! In:  symbols and expressions of a [`System`].
//! Out: text of the language.

use super::system::{Role, System};
use paynter_symbolic::normal::normal_form;
use paynter_symbolic::print::{Style, to_text, tree_of};
use paynter_symbolic::walk::symbols_of;
use paynter_symbolic::{ExprId, SymbolId};
use rustc_hash::FxHashMap;

/// Name of the junction of a coordinate's velocity: the rate that is just that, if there is one.
pub(super) fn velocity_junction(system: &System, index: usize) -> String {
    let velocity = system.coordinates[index].velocity;
    let is_it = |value: ExprId| system.pool.as_symbol(value) == Some(velocity);
    let named = system.rates.iter().find(|r| is_it(r.value));
    match named {
        Some(rate) => rate.name.clone(),
        None => format!("{}_rate", system.coordinates[index].name),
    }
}

/// The velocity or rate whose junction a velocity or rate has: one that is just another has no own.
pub(super) fn original(system: &System, mut symbol: SymbolId) -> SymbolId {
    // Rates may be names for each other in a circle until that is refused.
    for _ in 0..=system.rates.len() {
        let Role::Rate(k) = system.role(symbol) else {
            break;
        };
        match system.pool.as_symbol(system.rates[k].value) {
            Some(s) if matches!(system.role(s), Role::Velocity(_) | Role::Rate(_)) => symbol = s,
            _ => break,
        }
    }
    symbol
}

/// Name of the junction of a velocity or rate.
pub(super) fn junction_of(system: &System, symbol: SymbolId) -> String {
    let symbol = original(system, symbol);
    match system.role(symbol) {
        Role::Velocity(i) => velocity_junction(system, i),
        Role::Rate(k) => system.rates[k].name.clone(),
        _ => unreachable!("only velocities and rates have junctions"),
    }
}

/// Prints an expression in the names of the model.
pub(super) fn shown(system: &mut System, e: ExprId) -> String {
    let names: FxHashMap<SymbolId, String> = symbols_of(&system.pool, e)
        .into_iter()
        .map(|s| match system.role(s) {
            Role::Velocity(_) | Role::Rate(_) => (s, format!("{}.f", junction_of(system, s))),
            _ => (s, system.symbol_name(s).to_owned()),
        })
        .collect();
    let mut pool = std::mem::take(&mut system.pool);
    let name = |s: SymbolId| names.get(&s).cloned().unwrap_or_default();
    let style = Style {
        name: &name,
        is_state: &|s| system.role(s) != Role::Constant,
    };
    let plain = to_text(&tree_of(&pool, e, &style), &name);
    // Rearranged only where that is shorter: nobody should meet another form of what he wrote for nothing.
    let arranged = to_text(&normal_form(&mut pool, e, &style), &name);
    system.pool = pool;
    if arranged.len() < plain.len() {
        arranged
    } else {
        plain
    }
}
