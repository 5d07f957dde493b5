//! Powers and energies of the first-law audit, as quadratures of a run.
//!
//! In:  the power ports of the equations.
//! Out: one vector of rates per evaluation, laid out by [`AuditLayout`]: the model's own
//!      integrals, totals, and the power of each element where these are not too many.
//!
//! **Invariant:** totals are summed in an order that the ports alone decide, so that engines and machines
//! agree bit for bit.

use std::ops::Range;

use paynter_symbolic::Dae;
use paynter_symbolic::dae::{EnergyRole, PowerPort};
use paynter_symbolic::expr::{ExprId, Function1, Pool};

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

    /// Tells how many quadratures, the first ones, decide on the first law: the rest are sums of sizes, which
    /// have kinks, and parts that only reports show.
    pub(crate) fn n_checked(&self) -> usize {
        if self.has_totals() {
            self.scale
        } else {
            self.len
        }
    }

    /// Tells whether there is anything to audit.
    pub fn has_totals(&self) -> bool {
        self.len > self.own.len()
    }
}

/// Computes rates of the own integrals, then totals, then powers of all elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Power {
    /// A small model: every rate in order, then right-hand sides. A large one: own rates, then power of each port.
    pub routine: Routine,
    /// How many right-hand sides the routine computes as well.
    pub n_rhs: usize,
    /// Large models: slots of the powers that make each total.
    sums: Vec<Vec<u32>>,
}

/// Total of the audit that the power of a port belongs to beside `scale`; none for a storage whose law is known.
fn total_of(port: &PowerPort) -> Option<Total> {
    Some(match port.role {
        EnergyRole::Source => Total::Supplied,
        EnergyRole::Dissipator => Total::Dissipated,
        EnergyRole::Unpowered => Total::Unpowered,
        EnergyRole::Conserving => Total::Conserving,
        EnergyRole::Storage if port.energy.is_none() => Total::StoredWithoutLaw,
        EnergyRole::Storage => return None,
    })
}

/// Totals in the order of [`AuditLayout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Total {
    Supplied,
    Dissipated,
    Unpowered,
    StoredWithoutLaw,
    Scale,
    Conserving,
}

impl Total {
    /// Tells whether sizes are summed: nothing there may cancel.
    fn sums_sizes(self) -> bool {
        matches!(self, Total::Scale | Total::Conserving)
    }
}

/// Writes the rates of all quadratures as expressions, in the order of the layout.
pub(crate) fn rate_expressions(dae: &mut Dae, layout: &AuditLayout) -> Vec<ExprId> {
    let mut rates: Vec<ExprId> = dae.quadratures.iter().map(|q| q.rate).collect();
    if !layout.has_totals() {
        return rates;
    }
    let mut parts: [Vec<ExprId>; N_TOTALS] = std::array::from_fn(|_| Vec::new());
    let mut elements = Vec::new();
    for port in &dae.power {
        let size = dae.pool.call1(Function1::Abs, port.power);
        for total in [Some(Total::Scale), total_of(port)].into_iter().flatten() {
            let part = if total.sums_sizes() { size } else { port.power };
            parts[total as usize].push(part);
        }
        elements.push(port.power);
    }
    rates.extend(parts.map(|parts| sum_by_halves(&mut dae.pool, parts)));
    if !layout.elements.is_empty() {
        rates.extend(elements);
    }
    rates
}

/// Sums neighbours, then their sums: a processor can do what stands side by side at once.
fn sum_by_halves(pool: &mut Pool, mut parts: Vec<ExprId>) -> ExprId {
    while parts.len() > 1 {
        parts = parts
            .chunks(2)
            .map(|pair| match *pair {
                [a, b] => pool.add(a, b),
                _ => pair[0],
            })
            .collect();
    }
    parts.first().copied().unwrap_or_else(|| pool.number(0.0))
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
        let mut sums = vec![Vec::new(); N_TOTALS];
        for (port, &slot) in dae.power.iter().zip(&routine.outputs[layout.own.len()..]) {
            for total in [Some(Total::Scale), total_of(port)].into_iter().flatten() {
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
        let outputs = &self.routine.outputs;
        if self.sums.is_empty() || !layout.has_totals() {
            for (rate, &slot) in rates.iter_mut().zip(outputs) {
                *rate = slots[slot as usize];
            }
            return;
        }
        let n_own = layout.own.len();
        for (rate, &slot) in rates[..n_own].iter_mut().zip(outputs) {
            *rate = slots[slot as usize];
        }
        for (total, sum) in self.sums.iter().enumerate() {
            let sums_sizes = total == Total::Scale as usize || total == Total::Conserving as usize;
            let powers = sum.iter().map(|&slot| slots[slot as usize]);
            rates[n_own + total] = if sums_sizes {
                powers.map(f64::abs).sum()
            } else {
                powers.sum()
            };
        }
        let elements = &mut rates[layout.elements.clone()];
        for (rate, &slot) in elements.iter_mut().zip(&outputs[n_own..]) {
            *rate = slots[slot as usize];
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
