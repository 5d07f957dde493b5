//! Anchors of stored energies that have no closed form.
//!
//! In:  the state after each step, and the work that a law does from an anchor to the present.
//! Out: energies that are functions of the present, from a reference chosen at the start: 0 where the law can be
//!      integrated from there, else the start itself.
//!
//! An anchor stays where it is as long as the way from it is short work, for many laws at the start for the whole
//! run. It moves on to the last point looked at when it is not: a cogging torque has thousands of teeth, and the straight
//! line across an orbit meets the pole in its middle.
//!
//! **Invariant:** the energy does not jump when an anchor moves; work is bounded by a look every few steps.

use paynter_symbolic::SymbolId;
use paynter_symbolic::dae::EnergyAnchor;
use paynter_symbolic::expr::ExprId;

use crate::code::run;
use crate::emit::Routine;
use crate::failure::Fault;
use crate::machine::Machine;

/// Steps between two looks: a method that resolves the law takes several steps to a period of it.
const MOST_STEPS: u32 = 16;
/// An anchor moves when the way from it takes more panels than this: some ten periods, or one corner.
const MOST_PANELS: f64 = 48.0;
/// The reference is 0 where the work from there is known to this part: poles that can be integrated, such as
/// that of a logarithm, are; others are not.
const KNOWN_PART: f64 = 1e-9;

/// What the code of all runs knows about anchors.
#[derive(Debug, Default)]
pub(crate) struct Anchors {
    /// For each storage: energy, panels, doubt, arguments.
    pub routine: Routine,
    storages: Vec<Slots>,
}

#[derive(Debug)]
struct Slots {
    anchor: Vec<u32>,
    energy_at_anchor: u32,
    /// Its first output.
    first: usize,
}

/// Lists what [`Anchors::routine`] computes.
pub(crate) fn anchor_expressions(anchors: &[EnergyAnchor]) -> Vec<ExprId> {
    let of = |a: &EnergyAnchor| {
        let mut list = vec![a.energy, a.panels, a.doubt];
        list.extend_from_slice(&a.arguments);
        list
    };
    anchors.iter().flat_map(of).collect()
}

impl Anchors {
    pub(crate) fn new(
        anchors: &[EnergyAnchor],
        routine: Routine,
        mut slot: impl FnMut(SymbolId) -> u32,
    ) -> Self {
        let mut first = 0;
        let storages = anchors
            .iter()
            .map(|a| {
                let slots = Slots {
                    anchor: a.anchor.iter().map(|&s| slot(s)).collect(),
                    energy_at_anchor: slot(a.energy_at_anchor),
                    first,
                };
                first += 3 + a.arguments.len();
                slots
            })
            .collect();
        Anchors { routine, storages }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.storages.is_empty()
    }
}

/// How far the anchors of a run have come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Anchored {
    /// Steps between looks at present, and until the next.
    interval: u32,
    left: u32,
    /// Where each storage was seen last.
    last: Vec<Reading>,
    /// What the energy at each anchor may be wrong by, J.
    doubts: Vec<f64>,
    /// Quadratures from anchors so far, in panels.
    n_panels: u64,
}

/// A storage at an instant.
#[derive(Clone, Debug, Default)]
struct Reading {
    arguments: Vec<f64>,
    energy: f64,
    panels: f64,
    doubt: f64,
}

impl Machine {
    /// Puts the anchors at a point, which becomes the start of what is stored.
    pub fn set_anchors(&mut self, t: f64, y: &[f64]) {
        let n = self.image.energy.anchors.storages.len();
        if n == 0 {
            return;
        }

        self.anchored = Anchored {
            interval: 1,
            left: 1,
            last: vec![Reading::default(); n],
            doubts: vec![0.0; n],
            n_panels: 0,
        };

        let image = self.image.clone();
        for slots in &image.energy.anchors.storages {
            for &slot in slots.anchor.iter().chain([&slots.energy_at_anchor]) {
                self.memory.slots[slot as usize] = 0.0;
            }
        }

        // Equations without a value here end the run at its first step, with their name.
        if self.load(t, y).is_err()
            || run(&image.energy.anchors.routine.steps, &mut self.memory).is_err()
        {
            return;
        }

        for k in 0..n {
            let mut reading = self.reading(k);
            let is_known = reading.doubt <= KNOWN_PART * reading.energy.abs();
            if !is_known {
                reading.energy = 0.0;
            }
            reading.doubt = 0.0;
            self.anchored.last[k] = reading;
            self.move_anchor(k);
        }
    }

    /// Looks at a step now and then.
    #[cold]
    pub(crate) fn follow_with_anchors(&mut self, t: f64, y: &[f64]) {
        self.anchored.left = self.anchored.left.saturating_sub(1);
        // What has no value here shows elsewhere, with its name.
        if self.anchored.left == 0 && self.load(t, y).is_ok() {
            let _ = self.look_from_anchors();
        }
    }

    /// Looks at the present point, and moves the anchors from which the way has become long.
    pub(crate) fn look_from_anchors(&mut self) -> Result<(), Fault> {
        let image = self.image.clone();
        let anchors = &image.energy.anchors;
        if anchors.is_empty() || self.anchored.last.is_empty() {
            return Ok(());
        }
        run(&anchors.routine.steps, &mut self.memory)?;
        let mut moved = Vec::new();
        for k in 0..anchors.storages.len() {
            let reading = self.reading(k);
            self.anchored.n_panels += reading.panels as u64;
            if reading.energy.is_finite() && reading.panels <= MOST_PANELS {
                self.anchored.last[k] = reading;
            } else {
                self.move_anchor(k);
                moved.push(k);
            }
        }
        if moved.is_empty() {
            self.anchored.interval = (2 * self.anchored.interval).clamp(1, MOST_STEPS);
        } else {
            self.anchored.interval = (self.anchored.interval / 2).max(1);
            self.look_again(&moved)?;
        }
        self.anchored.left = self.anchored.interval;
        Ok(())
    }

    /// Looks from anchors that have just moved, and lets those follow from which even that was long.
    fn look_again(&mut self, moved: &[usize]) -> Result<(), Fault> {
        let image = self.image.clone();
        run(&image.energy.anchors.routine.steps, &mut self.memory)?;
        for &k in moved {
            let mut reading = self.reading(k);
            self.anchored.n_panels += reading.panels as u64;
            let is_short = reading.panels <= MOST_PANELS;
            if !reading.energy.is_finite() {
                // The law has no value between two points of the run: what lies between is not known.
                reading.energy = self.anchored.last[k].energy;
                reading.doubt = f64::INFINITY;
            }
            self.anchored.last[k] = reading;
            if !is_short || self.anchored.last[k].doubt.is_infinite() {
                self.move_anchor(k);
            }
        }
        Ok(())
    }

    /// What the routine has just computed for a storage.
    fn reading(&self, k: usize) -> Reading {
        let anchors = &self.image.energy.anchors;
        let first = anchors.storages[k].first;
        let n = anchors.storages[k].anchor.len();
        let value = |place: usize| self.memory.slots[anchors.routine.outputs[place] as usize];
        Reading {
            energy: value(first),
            panels: value(first + 1),
            doubt: self.anchored.doubts[k] + value(first + 2),
            arguments: (first + 3..first + 3 + n).map(value).collect(),
        }
    }

    /// Puts an anchor where its storage was seen last.
    fn move_anchor(&mut self, k: usize) {
        let slots = &self.image.energy.anchors.storages[k];
        let last = &self.anchored.last[k];
        for (&slot, &argument) in slots.anchor.iter().zip(&last.arguments) {
            self.memory.slots[slot as usize] = argument;
        }
        self.memory.slots[slots.energy_at_anchor as usize] = last.energy;
        self.anchored.doubts[k] = last.doubt;
    }

    /// Goes on with the anchors of another machine of the same model.
    pub(crate) fn carry_anchors(&mut self, from: &Machine) {
        let (own, given) = (
            &self.image.energy.anchors.storages,
            &from.image.energy.anchors.storages,
        );
        for (to, from_slots) in own.iter().zip(given) {
            let pairs = to.anchor.iter().zip(&from_slots.anchor);
            let energies = (&to.energy_at_anchor, &from_slots.energy_at_anchor);
            for (&to, &slot) in pairs.chain([energies]) {
                self.memory.slots[to as usize] = from.memory.slots[slot as usize];
            }
        }
        self.anchored.clone_from(&from.anchored);
    }

    /// Tells what the stored energies of the run may be wrong by because laws were hard to integrate, J; infinite
    /// where a law had no value between two points of the run. With the name of the worst storage.
    pub fn doubt_of_stored_energy(&self) -> (f64, Option<paynter_symbolic::PathId>) {
        let sights = self.anchored.last.iter();
        let worst = sights
            .clone()
            .zip(&self.image.dae.anchors)
            .max_by(|a, b| a.0.doubt.total_cmp(&b.0.doubt));
        let sum = sights.map(|reading| reading.doubt).sum();
        (sum, worst.map(|(_, anchor)| anchor.name))
    }

    /// Counts the panels of quadratures of storage laws so far: the work that stored energy took.
    pub fn panels_of_stored_energy(&self) -> u64 {
        self.anchored.n_panels
    }
}
