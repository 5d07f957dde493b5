//! Powers and energies of the first-law audit, as quadratures of a run.
//!
//! In:  the power ports of the equations.
//! Out: one vector of rates per evaluation, laid out by [`AuditLayout`]: the model's own
//!      integrals, totals, and the power of each element where these are not too many.
//!
//! **Invariant:** totals are summed in the order of the ports, so that engines and machines
//! agree bit for bit.

use std::ops::Range;

use paynter_symbolic::Dae;
use paynter_symbolic::dae::EnergyRole;

use crate::emit::Routine;

/// Where the quadratures of a run stand in its vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditLayout {
    /// The integrals of `Dae::quadratures`, in order.
    pub own: Range<usize>,
    /// ∫ power of sources, J.
    pub supplied: usize,
    /// ∫ power of dissipators, J.
    pub dissipated: usize,
    /// ∫ power into elements declared `unpowered`, J.
    pub unpowered: usize,
    /// ∫ power into storages whose energy has no closed form, J.
    pub stored_without_law: usize,
    /// ∫ Σ |power| over all elements, J: the scale of the audit.
    pub scale: usize,
    /// ∫ Σ |power| of what must neither give nor take, J: zero but for rounding.
    pub conserving: usize,
    /// ∫ power of each element in the order of `Dae::power`; empty when there are too many.
    pub elements: Range<usize>,
    /// Length of the vector.
    pub len: usize,
}

/// With more elements than this only totals are integrated: the rest is on demand.
const MOST_ELEMENTS: usize = 2000;

const N_TOTALS: usize = 6;

impl AuditLayout {
    pub(crate) fn new(dae: &Dae) -> Self {
        let n_own = dae.quadratures.len();
        if dae.power.is_empty() {
            return AuditLayout {
                own: 0..n_own,
                elements: n_own..n_own,
                len: n_own,
                ..AuditLayout::default()
            };
        }
        let first = n_own + N_TOTALS;
        let n_elements = if dae.power.len() <= MOST_ELEMENTS {
            dae.power.len()
        } else {
            0
        };
        AuditLayout {
            own: 0..n_own,
            supplied: n_own,
            dissipated: n_own + 1,
            unpowered: n_own + 2,
            stored_without_law: n_own + 3,
            scale: n_own + 4,
            conserving: n_own + 5,
            elements: first..first + n_elements,
            len: first + n_elements,
        }
    }

    /// Tells whether there is anything to audit.
    pub fn has_totals(&self) -> bool {
        self.len > self.own.len()
    }
}

/// Computes rates of the own integrals, then powers of all elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Power {
    pub routine: Routine,
}

impl Power {
    pub(crate) fn new(routine: Routine) -> Self {
        Power { routine }
    }

    /// Sums what the routine has computed.
    pub(crate) fn rates(&self, dae: &Dae, layout: &AuditLayout, slots: &[f64], rates: &mut [f64]) {
        let outputs = &self.routine.outputs;
        let n_own = layout.own.len();
        for (rate, &slot) in rates[..n_own].iter_mut().zip(outputs) {
            *rate = slots[slot as usize];
        }
        if !layout.has_totals() {
            return;
        }
        rates[n_own..n_own + N_TOTALS].fill(0.0);
        for (k, port) in dae.power.iter().enumerate() {
            let power = slots[outputs[n_own + k] as usize];
            rates[layout.scale] += power.abs();
            match port.role {
                EnergyRole::Source => rates[layout.supplied] += power,
                EnergyRole::Dissipator => rates[layout.dissipated] += power,
                EnergyRole::Unpowered => rates[layout.unpowered] += power,
                EnergyRole::Conserving => rates[layout.conserving] += power.abs(),
                EnergyRole::Storage if port.energy.is_none() => {
                    rates[layout.stored_without_law] += power;
                }
                EnergyRole::Storage => {}
            }
            if !layout.elements.is_empty() {
                rates[layout.elements.start + k] = power;
            }
        }
    }
}

/// Energy kept in the model, from the laws of its storages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredEnergy {
    /// Sum over all storages, J.
    pub total: f64,
    /// (position in `Dae::power`, energy in J) of each storage whose law could be integrated.
    pub elements: Vec<(usize, f64)>,
}
