//! How much springs in the place of locks change the motion of a run.
//!
//! In:  how far locks gave way in the run, what their dampers took, and the scales of the mechanism.
//! Out: the error that this makes, as a part of the way that the mechanism goes; a warning where it is large.
//!
//! A spring that carries the reaction λ with the gap g has the energy λ g/2, and the motion goes on as if that much of its
//! energy were missing. λ is about m v²/L in a mechanism of the size L, so that speeds are off by about g/L. A damper takes energy for
//! good; half of the share that is gone is missing from the speeds. Signs are not known: both are estimates of how large, from
//! recorded times, and no bounds.
//!
//! **Invariant:** nothing here changes the run.

use paynter_design::code;
use paynter_design::compile::{Compiled, Lock};
use paynter_design::digits::significant;
use paynter_run::audit::Audit;
use paynter_run::gaps::{Gap, worst};
use paynter_run::table::Column;
use paynter_syntax::Diagnostic;

/// An error of the motion beyond this part of its way is worth a warning: curves lie beside each other to the eye.
const MOST_OF_WAY: f64 = 1e-3;
/// Springs that are asked for instead should err by this part.
const GOOD: f64 = 1e-5;

/// The error that springs in the place of locks make.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringError {
    /// The largest gap as a part of the mechanism's size, or in rad.
    pub gap: f64,
    /// Energy that the dampers of locks took, as a part of the energy in the mechanism.
    pub lost: f64,
    /// The time in which the springs swing, s.
    pub time: f64,
}

impl SpringError {
    /// Reads it off a run; `energy` is the column of the stored energy. None where the model has no springs for locks.
    pub(crate) fn new(
        compiled: &Compiled,
        gaps: &[Gap],
        energy: Option<&Column>,
        audit: Option<&Audit>,
    ) -> Option<Self> {
        let scales = compiled.springs.as_ref()?;
        let share = |gap: &&Gap| match gap.is_turning {
            true => gap.size,
            false if scales.length > 0.0 => gap.size / scales.length,
            false => 0.0,
        };
        let gap = worst(gaps).iter().map(share).fold(0.0, f64::max);
        let largest = energy.map_or(0.0, |c| c.values.iter().fold(0.0, |m, x| x.abs().max(m)));
        let lost = audit.map_or(0.0, |audit| {
            let taken = taken_by_dampers(&compiled.locks, audit);
            // What a drive brings in makes up for losses.
            let whole = largest + audit.supplied.abs();
            if whole > 0.0 { taken / whole } else { 0.0 }
        });
        Some(SpringError {
            gap,
            lost,
            time: scales.time,
        })
    }

    /// About how much of its way the mechanism is off.
    pub fn of_way(&self) -> f64 {
        self.gap + 0.5 * self.lost
    }

    /// Says that springs give way too much.
    pub(crate) fn warning(&self, is_stiffness_given: bool) -> Option<Diagnostic> {
        let error = self.of_way();
        if error <= MOST_OF_WAY {
            return None;
        }
        let parts = format!(
            "they give way by {} of the mechanism's size, and their dampers take {} of its energy",
            significant(self.gap, 2),
            significant(self.lost, 2)
        );
        let message = format!(
            "springs instead of locks change the motion: it is off by about {} % of its range",
            significant(100.0 * error, 2)
        );
        let help = match is_stiffness_given {
            true => "give a larger `k`, or write `constraints = multiplier`".to_owned(),
            false => {
                let time = self.time * (GOOD / error).sqrt();
                let time = significant(time, 1);
                format!(
                    "write `constraints = parasitic(time = {time} [s])`, or `constraints = multiplier`"
                )
            }
        };
        Some(
            Diagnostic::warning(code::SOFT_SPRINGS, message)
                .fact(parts)
                .help(help),
        )
    }
}

/// Energy that the dampers in the place of locks took, J.
fn taken_by_dampers(locks: &[Lock], audit: &Audit) -> f64 {
    let names: std::collections::HashSet<String> = locks
        .iter()
        .map(|lock| format!("{}.R", lock.name))
        .collect();
    let elements = audit.elements.iter();
    let dampers = elements.filter(|(name, ..)| names.contains(name));
    dampers.map(|(.., energy)| energy.abs()).sum()
}
