//! Changes to a machine whose solver sees the unknowns of blocks, once a run has turned out stiff.
//!
//! In:  a run under way with the method `auto`, at an instant at which an implicit method was chosen.
//! Out: the same run with another machine at the same point. Explicit methods solve blocks inside the
//!      right-hand side; the Jacobian of that is dense, so an implicit method wants them opened.
//!
//! **Invariant:** the machine that a run was given is in its place again when it is dropped.

use super::HybridRun;
use crate::configuration::opened;
use crate::spec::has_large_block;
use paynter_exec::Machine;
use paynter_solve::{Method, System};

impl HybridRun<'_> {
    /// Makes the unknowns of large blocks variables of the solver if an implicit method has been chosen: its Jacobian
    /// would be dense otherwise.
    pub(super) fn open_if_stiff(&mut self, t: f64, y: &mut Vec<f64>) {
        let is_stiff = self.statistics.method().is_some_and(Method::is_implicit);
        if self.spec.method != Method::Auto || !is_stiff || !self.can_open() {
            return;
        }
        let key = self.current.clone().unwrap_or_default();
        let spec = self.spec;
        let opened = match &self.current {
            Some(configuration) => {
                let entry = self.configurations.get(configuration);
                entry.and_then(|entry| entry.open(spec, t, y))
            }
            None => {
                let (machine, reduced) = self.at_present();
                opened(machine, reduced, (spec, &[]), (t, y)).map(|(new, y)| {
                    self.put_in_place(new);
                    y
                })
            }
        };
        if let Some(all) = opened {
            // Those of the closed form lack the unknowns.
            self.tolerances.remove(&key);
            *y = all;
        }
    }

    /// Lets another machine go on in the place of the plain one. Gives back what stood there, unless it is what the run was
    /// given, which is kept.
    pub(super) fn put_in_place(&mut self, new: Machine) -> Option<Machine> {
        let before = std::mem::replace(self.plain, new);
        match self.given {
            Some(_) => Some(before),
            None => {
                self.given = Some(before);
                None
            }
        }
    }

    /// Tells whether the present machine solves a large block inside its right-hand side.
    pub(super) fn can_open(&mut self) -> bool {
        let (machine, reduced) = self.at_present();
        machine.algebraic().is_empty() && has_large_block(reduced)
    }
}

impl Drop for HybridRun<'_> {
    /// The next run with the machine begins as this one did.
    fn drop(&mut self) {
        if let Some(given) = self.given.take() {
            *self.plain = given;
        }
    }
}
