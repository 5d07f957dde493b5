//! Quantities that the text reads and that no element law gives: `.energy`, `.stored`, `system.…`.
//!
//! In:  the readings that elaboration found.
//! Out: an equation that defines each. Integrals over time become states, so that their
//!      error is controlled like that of any other quantity.

use super::Writer;
use crate::graph::{Reading, ReadingKind};
use paynter_symbolic::dae::{EnergyRole, Symbol};
use paynter_symbolic::{ExprId, SymbolId};

/// Defines every reading.
pub(super) fn write(w: &mut Writer) {
    let graph = w.graph;
    for &Reading { symbol, what } in &graph.readings {
        let origin = w.dae.symbol(symbol).origin;
        let (value, is_rate) = match what {
            ReadingKind::Stored(element) => (w.stored_energy(element), false),
            ReadingKind::ElementEnergy(element) => (w.power_as_read(element), true),
            ReadingKind::BondEnergy(bond) => (w.bond_power(bond), true),
            ReadingKind::Integral(rate) => (rate, true),
            ReadingKind::SystemEnergy => (system_energy(w), false),
            ReadingKind::SystemSupplied => (
                total_power(w, &[EnergyRole::Source, EnergyRole::Unpowered]),
                true,
            ),
            ReadingKind::SystemDissipated => (total_power(w, &[EnergyRole::Dissipator]), true),
            ReadingKind::SystemResidual => (residual(w, symbol), false),
        };
        if is_rate {
            let derivative = w.derivative_of(symbol);
            w.define(derivative, value, true, origin);
        } else {
            w.define(symbol, value, true, origin);
        }
    }
}

fn system_energy(w: &mut Writer) -> ExprId {
    let energies: Vec<ExprId> = w.dae.power.iter().filter_map(|p| p.energy).collect();
    sum(w, &energies)
}

/// Power given by sources, or taken by resistors; an `unpowered` storage gives what it does not take.
fn total_power(w: &mut Writer, roles: &[EnergyRole]) -> ExprId {
    let mut total = w.dae.pool.number(0.0);
    for index in 0..w.dae.power.len() {
        let port = w.dae.power[index];
        if !roles.contains(&port.role) {
            continue;
        }
        total = if port.role == EnergyRole::Unpowered {
            w.dae.pool.sub(total, port.power)
        } else {
            w.dae.pool.add(total, port.power)
        };
    }
    total
}

/// supplied − dissipated − into storages: zero at every instant if the equations conserve power. Each is an integral of its
/// own: their difference is rounding, whose size no step could keep to.
fn residual(w: &mut Writer, symbol: SymbolId) -> ExprId {
    let mut left = w.dae.pool.number(0.0);
    for (name, roles, is_given) in [
        (
            "supplied",
            &[EnergyRole::Source, EnergyRole::Unpowered][..],
            true,
        ),
        ("dissipated", &[EnergyRole::Dissipator], false),
        ("stored", &[EnergyRole::Storage], false),
    ] {
        let power = total_power(w, roles);
        if w.dae.pool.as_number(power) == Some(0.0) {
            continue;
        }
        let whole = w.dae.symbol(symbol).clone();
        let name = w.dae.names.child(whole.name, name, None);
        let part = w.dae.add_symbol(Symbol { name, ..whole });
        let rate = w.derivative_of(part);
        w.define(rate, power, true, whole.origin);
        let part = w.dae.pool.symbol(part);
        left = match is_given {
            true => w.dae.pool.add(left, part),
            false => w.dae.pool.sub(left, part),
        };
    }
    left
}

fn sum(w: &mut Writer, terms: &[ExprId]) -> ExprId {
    let zero = w.dae.pool.number(0.0);
    terms
        .iter()
        .fold(zero, |total, &term| w.dae.pool.add(total, term))
}
