//! Powers and energies of the first-law audit, as quadratures of a run.
//!
//! In:  the power ports of the equations.
//! Out: one vector of rates per evaluation, laid out by [`AuditLayout`]: the model's own
//!      integrals, then the power of each element that can give or take energy; only totals
//!      where these are too many.
//!
//! What a run gave to and fro, which its residual is measured against, needs no rates of its own: it is summed
//! from the energy that each element took in each step.
//!
//! **Invariant:** totals are summed in an order that the ports alone decide, so that engines and machines
//! agree bit for bit.

use std::ops::Range;

use paynter_symbolic::Dae;
use paynter_symbolic::dae::{EnergyRole, PowerPort};
use paynter_symbolic::expr::ExprId;

use crate::emit::Routine;

/// Where the quadratures of a run are in its vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditLayout {
    /// The integrals of `Dae::quadratures`, in order.
    pub own: Range<usize>,
    /// What follows them.
    audited: Audited,
}

/// What is integrated for the audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Audited {
    /// The model has no power.
    #[default]
    Nothing,
    /// One quadrature for each element that can give or take: its position in `Dae::power`, and its total.
    Elements(Vec<(usize, Option<Total>)>),
    /// One for each [`Total`], then ∫ Σ |power|: a large model.
    Totals,
}

/// With more elements than this only totals are integrated: the rest is on demand.
const MOST_ELEMENTS: usize = 2000;

/// A sum of powers in the first law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Total {
    Supplied,
    Dissipated,
    Unpowered,
    StoredWithoutLaw,
}

const N_TOTALS: usize = 4;

/// Energies of a run, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AuditTotals {
    /// ∫ power of sources.
    pub supplied: f64,
    /// ∫ power of dissipators.
    pub dissipated: f64,
    /// ∫ power into elements declared `unpowered`.
    pub unpowered: f64,
    /// ∫ power into storages whose energy has no closed form.
    pub stored_without_law: f64,
    /// What all elements gave and took, from step to step: the scale of the audit.
    pub scale: f64,
}

/// Total that the power of a port belongs to; none for a storage whose law is known, and for what conserves.
fn total_of(port: &PowerPort) -> Option<Total> {
    match port.role {
        EnergyRole::Source => Some(Total::Supplied),
        EnergyRole::Dissipator => Some(Total::Dissipated),
        EnergyRole::Unpowered => Some(Total::Unpowered),
        EnergyRole::Storage if port.energy.is_none() => Some(Total::StoredWithoutLaw),
        EnergyRole::Storage | EnergyRole::Conserving => None,
    }
}

impl AuditLayout {
    pub(crate) fn new(dae: &Dae) -> Self {
        let audited = if dae.power.is_empty() {
            Audited::Nothing
        } else if dae.power.len() > MOST_ELEMENTS {
            Audited::Totals
        } else {
            // What must conserve takes nothing; if it did, the first law would not hold for the others.
            let ports = dae.power.iter().enumerate();
            let taking = ports.filter(|(_, port)| port.role != EnergyRole::Conserving);
            Audited::Elements(taking.map(|(k, port)| (k, total_of(port))).collect())
        };
        AuditLayout {
            own: 0..dae.quadratures.len(),
            audited,
        }
    }

    /// Length of the vector.
    pub fn len(&self) -> usize {
        self.own.end
            + match &self.audited {
                Audited::Nothing => 0,
                Audited::Elements(elements) => elements.len(),
                Audited::Totals => N_TOTALS + 1,
            }
    }

    /// Tells whether nothing is integrated.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells how many quadratures, the first ones, decide on the first law: a sum of sizes has kinks.
    pub(crate) fn n_checked(&self) -> usize {
        match self.audited {
            Audited::Totals => self.own.end + N_TOTALS,
            Audited::Nothing | Audited::Elements(_) => self.len(),
        }
    }

    pub(crate) fn is_small(&self) -> bool {
        self.audited != Audited::Totals
    }

    /// Lists the energy that each element took: (position in `Dae::power`, J). Empty for a large model.
    pub fn elements<'a>(
        &'a self,
        quadratures: &'a [f64],
    ) -> impl Iterator<Item = (usize, f64)> + 'a {
        let elements = match &self.audited {
            Audited::Elements(elements) => &elements[..],
            Audited::Nothing | Audited::Totals => &[],
        };
        let energies = quadratures.get(self.own.end..).unwrap_or_default();
        elements.iter().zip(energies).map(|(&(k, _), &e)| (k, e))
    }

    /// Adds up a run from its quadratures and their variations; none for a model without power, or
    /// without quadratures.
    pub fn totals(&self, quadratures: &[f64], variations: &[f64]) -> Option<AuditTotals> {
        if self.audited == Audited::Nothing || quadratures.len() < self.len() {
            return None;
        }
        let energies = &quadratures[self.own.end..];
        let mut sums = [0.0; N_TOTALS];
        let scale = match &self.audited {
            Audited::Elements(elements) => {
                for ((_, total), energy) in elements.iter().zip(energies) {
                    if let Some(total) = *total {
                        sums[total as usize] += energy;
                    }
                }
                variations[self.own.end..].iter().sum()
            }
            Audited::Nothing | Audited::Totals => {
                sums.copy_from_slice(&energies[..N_TOTALS]);
                energies[N_TOTALS]
            }
        };
        let [supplied, dissipated, unpowered, stored_without_law] = sums;
        Some(AuditTotals {
            supplied,
            dissipated,
            unpowered,
            stored_without_law,
            scale,
        })
    }
}

/// Computes rates of all quadratures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Power {
    /// A small model: every rate in order, then right-hand sides. A large one: own rates, then power of each port.
    pub routine: Routine,
    /// How many right-hand sides the routine computes as well.
    pub n_rhs: usize,
    /// Large models: slots of the powers that make each total.
    sums: Vec<Vec<u32>>,
}

/// Lists the rates of all quadratures of a small model, in the order of the layout.
pub(crate) fn rate_expressions(dae: &Dae, layout: &AuditLayout) -> Vec<ExprId> {
    let own = dae.quadratures.iter().map(|q| q.rate);
    let Audited::Elements(elements) = &layout.audited else {
        return own.collect();
    };
    own.chain(elements.iter().map(|&(k, _)| dae.power[k].power))
        .collect()
}

impl Power {
    /// For a small model; the routine computes [`rate_expressions`], then so many right-hand sides.
    pub(crate) fn small(routine: Routine, n_rhs: usize) -> Self {
        Power {
            routine,
            n_rhs,
            sums: Vec::new(),
        }
    }

    /// For a large model; the routine computes own rates, then the power of each port.
    pub(crate) fn large(dae: &Dae, layout: &AuditLayout, routine: Routine) -> Self {
        let mut sums = vec![Vec::new(); N_TOTALS + 1];
        for (port, &slot) in dae.power.iter().zip(&routine.outputs[layout.own.len()..]) {
            sums[N_TOTALS].push(slot);
            if let Some(total) = total_of(port) {
                sums[total as usize].push(slot);
            }
        }
        Power {
            routine,
            n_rhs: 0,
            sums,
        }
    }

    /// Gathers what the routine has computed.
    pub(crate) fn rates(&self, layout: &AuditLayout, slots: &[f64], rates: &mut [f64]) {
        for (rate, &slot) in rates.iter_mut().zip(&self.routine.outputs) {
            *rate = slots[slot as usize];
        }
        for (k, sum) in self.sums.iter().enumerate() {
            rates[layout.own.len() + k] = if k < N_TOTALS {
                sum_of(sum, |slot| slots[slot as usize])
            } else {
                sum_of(sum, |slot| slots[slot as usize].abs())
            };
        }
    }
}

/// Adds up in four parts: one addition need not wait for the one before.
fn sum_of(slots: &[u32], value: impl Fn(u32) -> f64) -> f64 {
    let fours = slots.chunks_exact(4);
    let rest: f64 = fours.remainder().iter().map(|&slot| value(slot)).sum();
    let mut parts = [0.0; 4];
    for four in fours {
        for (part, &slot) in parts.iter_mut().zip(four) {
            *part += value(slot);
        }
    }
    parts.iter().sum::<f64>() + rest
}

/// Energy kept in the model, from the laws of its storages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredEnergy {
    /// Sum over all storages, J.
    pub total: f64,
    /// (position in `Dae::power`, energy in J) of each storage whose law could be integrated.
    pub elements: Vec<(usize, f64)>,
    /// |Σ e q| or |Σ f p| of each of them, J: an error of the state is an error in this.
    pub held: Vec<f64>,
}
