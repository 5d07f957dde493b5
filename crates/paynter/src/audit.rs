//! The first law, checked over a whole run.
//!
//! In:  energy in the storages before and after, from their laws; powers integrated on the
//!      dense output of every step.
//! Out: supplied − dissipated − stored, what it is measured against, and the worst element.
//!
//! **Invariant:** no two of the three terms are computed from each other, so the residual can fail.

use crate::spec::RunSpec;
use paynter_exec::{AuditTotals, Machine, StoredEnergy};
use paynter_symbolic::dae::EnergyRole;
use paynter_symbolic::reduced::Reduced;

/// Where the energy of a run went, all in J.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// Given by sources.
    pub supplied: f64,
    /// Lost in resistors.
    pub dissipated: f64,
    /// More in the storages than at the start.
    pub stored: f64,
    /// Given by elements declared `unpowered`.
    pub unpowered: f64,
    /// Added at events by `reinit`, by contacts that join storages, and by impulses.
    pub jumps: f64,
    /// supplied + unpowered + jumps − dissipated − stored: 0 but for the error of the solver.
    pub residual: f64,
    /// What the elements gave and took, summed from step to step: what the residual is measured against.
    pub scale: f64,
    /// The storage whose energy disagrees most with the power it took, and by how much.
    pub worst: Option<(String, f64)>,
    /// Energy of each element that can give or take: (name, part in the first law, J); empty for very large models.
    pub elements: Vec<(String, EnergyRole, f64)>,
    /// |residual| above this is worth a warning.
    pub allowed: f64,
}

/// A residual of this many relative tolerances of the scale is the solver's right; more is a warning.
const ALLOWED_TOLERANCES: f64 = 10.0;
/// Rounding in long sums, as a part of the scale.
const ROUNDING: f64 = 1e-13;

impl Audit {
    /// Tells whether the first law holds as well as the tolerances promise.
    pub fn is_good(&self) -> bool {
        self.residual.abs() <= self.allowed
    }

    /// The residual as a part of the scale.
    pub fn relative(&self) -> f64 {
        if self.scale > 0.0 {
            self.residual.abs() / self.scale
        } else {
            self.residual.abs()
        }
    }
}

/// Adds up a run; none for a model without power.
pub(crate) fn audit(
    machine: &Machine,
    reduced: &Reduced,
    stored: (&StoredEnergy, &StoredEnergy),
    booked: &Booked,
    spec: &RunSpec,
) -> Option<Audit> {
    let totals = audit_totals(machine, stored, booked, spec)?;
    let dae = &reduced.dae;
    let name = |k: usize| dae.names.display(dae.power[k].name);
    let taken: Vec<(usize, f64)> = machine
        .audit_layout()
        .elements(&booked.quadratures)
        .collect();
    let (before, after) = stored;
    let changes = after.elements.iter().zip(&before.elements);
    let mut taken_by = taken.iter().copied().peekable();
    let mut held_loosely = 0.0;
    let worst = changes
        .filter_map(|(&(k, end), &(_, start))| {
            // Both lists follow the order of the ports.
            while taken_by.next_if(|&(at, _)| at < k).is_some() {}
            let (_, taken) = taken_by.next_if(|&(at, _)| at == k)?;
            let error = (end - start - taken).abs();
            let tolerance = ALLOWED_TOLERANCES * spec.rtol * start.abs().max(end.abs());
            held_loosely += error.min(tolerance);
            Some((k, error))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(k, error)| (name(k), error));
    let elements = taken
        .into_iter()
        .map(|(k, energy)| (name(k), dae.power[k].role, energy))
        .collect();
    Some(Audit {
        worst,
        elements,
        // A storage at rest takes nothing, but its state is kept to its tolerance only: what it disagrees by with
        // the power it took, up to that, is no energy lost.
        allowed: totals.allowed + held_loosely,
        ..totals
    })
}

/// Integrals of a run, and how far each went up and down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Booked {
    pub quadratures: Vec<f64>,
    pub variations: Vec<f64>,
}

/// As [`audit`], without a look at single elements.
pub(crate) fn audit_totals(
    machine: &Machine,
    (before, after): (&StoredEnergy, &StoredEnergy),
    booked: &Booked,
    spec: &RunSpec,
) -> Option<Audit> {
    let AuditTotals {
        supplied,
        dissipated,
        unpowered,
        stored_without_law,
        scale,
    } = machine
        .audit_layout()
        .totals(&booked.quadratures, &booked.variations)?;
    let jumps = machine.energy_jumps().iter().sum::<f64>() + machine.energy_of_impulses();
    let stored = after.total - before.total + stored_without_law;
    let peak = scale.max(before.total.abs()).max(after.total.abs());
    Some(Audit {
        supplied,
        dissipated,
        stored,
        unpowered: -unpowered,
        jumps,
        residual: supplied - unpowered + jumps - dissipated - stored,
        scale,
        worst: None,
        elements: Vec::new(),
        allowed: ALLOWED_TOLERANCES * spec.rtol * scale + ROUNDING * peak,
    })
}
