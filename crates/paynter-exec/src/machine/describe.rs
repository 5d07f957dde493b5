//! Names for what went wrong: a number that came through the solver becomes a [`Failure`] with symbols.

use super::*;

impl Machine {
    /// Puts the model's names to a number that came through the solver.
    pub fn describe_failure(&self, code: u32) -> Failure {
        let block = |number: u32| {
            self.image
                .blocks
                .get(number as usize)
                .cloned()
                .unwrap_or_default()
        };
        match Fault::from_code(code) {
            Fault::Singular(number) => {
                let (unknowns, origins) = block(number);
                Failure::Singular { unknowns, origins }
            }
            Fault::NoConvergence(number) => {
                let (unknowns, origins) = block(number);
                Failure::NoConvergence { unknowns, origins }
            }
            Fault::BlockNotFinite(number) => Failure::NotFinite {
                symbol: block(number).0.first().copied(),
            },
            Fault::External(_) => Failure::External {
                message: self.memory.message.clone(),
            },
            Fault::EventLoop => Failure::EventLoop {
                modes: self.room.restless.clone(),
            },
            Fault::Reinit(number) => match self.image.events.aims.get(number as usize) {
                Some(&(target, origin)) => Failure::Reinit { target, origin },
                None => Failure::Projection,
            },
            Fault::Projection => Failure::Projection,
            Fault::Conflict => match self.room.conflict {
                Some(conflict) => Failure::Conflict(conflict),
                None => Failure::Projection,
            },
            Fault::Sample(number) => {
                let sampled = self.image.clocks.sampled.get(number as usize);
                let symbol = sampled.and_then(|sampled| {
                    let mut discrete = self.image.events.discrete.iter();
                    discrete.find(|d| d.1 == sampled.dst).map(|d| d.0)
                });
                Failure::NotFinite { symbol }
            }
            Fault::Stop(number) => {
                let (when, message) = self
                    .image
                    .events
                    .stops
                    .get(number as usize)
                    .cloned()
                    .unwrap_or_default();
                Failure::Stop { message, when }
            }
        }
    }

    /// Finds the first definition that is not finite at a point where the right-hand side
    /// is not, or where it was evaluated last: a step fails beyond the state it starts from.
    /// `None` if everything is finite at both.
    pub fn find_not_finite(&mut self, t: f64, y: &[f64]) -> Option<Failure> {
        let inputs = &self.image.inputs;
        let first = inputs.first as usize;
        let slots = &self.memory.slots;
        let last_t = slots[inputs.time as usize];
        let last_y = slots[first..first + inputs.n].to_vec();
        self.find_not_finite_at(t, y)
            .or_else(|| self.find_not_finite_at(last_t, &last_y))
    }

    fn find_not_finite_at(&mut self, t: f64, y: &[f64]) -> Option<Failure> {
        if let Err(fault) = self.load(t, y) {
            return Some(self.describe_failure(fault.code()));
        }
        // A model without states has nothing to compute but what is recorded and audited.
        let image = self.image.clone();
        let routines = [
            &image.rhs.routine,
            &image.energy.power.routine,
            &image.observe,
        ];
        for routine in routines {
            match find_not_finite(
                &routine.steps,
                &mut self.memory,
                &image.parameters.set_up_slots,
            ) {
                Ok(Some(owner)) => {
                    let symbol = owner_symbol(owner);
                    return Some(Failure::NotFinite { symbol });
                }
                Ok(None) => {}
                Err(fault) => return Some(self.describe_failure(fault.code())),
            }
        }
        None
    }
}
