//! The first law, checked over a whole run.
//!
//! In:  energy in the storages before and after, from their laws; powers integrated on the
//!      dense output of every step.
//! Out: supplied − dissipated − stored, what it is measured against, and the worst element.
//!
//! **Invariant:** no two of the three terms are computed from each other, so the residual can fail.

use crate::simulate::RunSpec;
use paynter_exec::{Machine, StoredEnergy};
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
    /// ∫ Σ |power|: what the residual is measured against.
    pub scale: f64,
    /// ∫ Σ |power| of transformers and gyrators, which must be 0 but for rounding.
    pub conserving: f64,
    /// The storage whose energy disagrees most with the power it took, and by how much.
    pub worst: Option<(String, f64)>,
    /// Energy of each element: (name, part in the first law, J); empty for very large models.
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
    before: &StoredEnergy,
    after: &StoredEnergy,
    quadratures: &[f64],
    spec: &RunSpec,
) -> Option<Audit> {
    let totals = audit_totals(machine, before, after, quadratures, spec)?;
    let layout = machine.audit_layout();
    let dae = &reduced.dae;
    let elements: Vec<(String, EnergyRole, f64)> = layout
        .elements
        .clone()
        .zip(&dae.power)
        .map(|(at, port)| (dae.names.display(port.name), port.role, quadratures[at]))
        .collect();
    let worst = after
        .elements
        .iter()
        .zip(&before.elements)
        .filter(|_| !elements.is_empty())
        .map(|(&(k, end), &(_, start))| {
            (
                k,
                (end - start - quadratures[layout.elements.start + k]).abs(),
            )
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(k, error)| (dae.names.display(dae.power[k].name), error));
    Some(Audit {
        worst,
        elements,
        ..totals
    })
}

/// As [`audit`], without a look at single elements.
pub(crate) fn audit_totals(
    machine: &Machine,
    before: &StoredEnergy,
    after: &StoredEnergy,
    quadratures: &[f64],
    spec: &RunSpec,
) -> Option<Audit> {
    let layout = machine.audit_layout();
    if !layout.has_totals() || quadratures.len() < layout.len {
        return None;
    }
    let jumps = machine.energy_jumps().iter().sum::<f64>() + machine.energy_of_impulses();
    let stored = after.total - before.total + quadratures[layout.stored_without_law];
    let (supplied, dissipated) = (quadratures[layout.supplied], quadratures[layout.dissipated]);
    let unpowered = -quadratures[layout.unpowered];
    let scale = quadratures[layout.scale];
    let peak = scale.max(before.total.abs()).max(after.total.abs());
    Some(Audit {
        supplied,
        dissipated,
        stored,
        unpowered,
        jumps,
        residual: supplied + unpowered + jumps - dissipated - stored,
        scale,
        conserving: quadratures[layout.conserving],
        worst: None,
        elements: Vec::new(),
        allowed: ALLOWED_TOLERANCES * spec.rtol * scale + ROUNDING * peak,
    })
}
