//! Where every slot of the program lives in C: a number, a member of the model, or a local variable.
//!
//! In:  the seam, and the functions that will be written.
//! Out: a [`SlotPlace`] for each slot.
//!
//! **Invariant:** a slot that two functions touch is a member of the model; every other one that is computed is
//! local to its function.

use super::body::{Function, for_each_slot};
use crate::names::Identifiers;
use crate::seam::Export;

/// Where a slot lives.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SlotPlace {
    /// Computed and used in one function.
    Local,
    /// A number.
    Number(f64),
    /// A member of the model that is fixed while a function runs, with a name for reading.
    Given { member: String, name: String },
    /// A member of the model that functions may change.
    Member(String),
}

/// Places of all slots.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub places: Vec<SlotPlace>,
    /// Members of `p`: identifier, and position in [`Export::parameters`].
    pub parameters: Vec<(String, usize)>,
    /// How many numbers functions pass to each other in `w`.
    pub n_shared: usize,
}

impl Layout {
    /// Lays out what is given; what functions share follows by [`Layout::share`].
    pub(super) fn new(export: &Export) -> Self {
        let program = &export.program;
        let mut layout = Layout {
            places: vec![SlotPlace::Local; program.n_slots],
            parameters: Vec::new(),
            n_shared: 0,
        };

        for &(slot, value) in &program.constants {
            layout.set(slot, SlotPlace::Number(value));
        }
        let mut names = Identifiers::default();
        for (k, parameter) in export.parameters.iter().enumerate() {
            if parameter.is_fixed {
                layout.set(parameter.slot, SlotPlace::Number(parameter.value));
                continue;
            }
            let name = names.take(&parameter.name);
            let member = format!("m->p.{name}");
            layout.parameters.push((name.clone(), k));
            layout.set(parameter.slot, SlotPlace::Given { member, name });
        }

        layout.give(program.time, "m->t", "t");
        layout.member(program.time_seed, "m->time_seed");
        for (k, state) in export.states.iter().enumerate() {
            let slot = program.first_state + state.variable as u32;
            layout.give(slot, &format!("m->x[{k}]"), &state.name);
            let slot = program.first_seed + state.variable as u32;
            layout.member(slot, &format!("m->x_seed[{k}]"));
        }

        for (k, input) in export.inputs.iter().enumerate() {
            let slot = program.first_state + input.variable as u32;
            layout.give(slot, &format!("m->u[{k}]"), &input.name);
            let slot = program.first_seed + input.variable as u32;
            layout.member(slot, &format!("m->u_seed[{k}]"));
        }

        let numbered = |layout: &mut Layout, slots: &mut dyn Iterator<Item = u32>, name: &str| {
            for (k, slot) in slots.enumerate() {
                layout.member(slot, &format!("m->{name}[{k}]"));
            }
        };
        numbered(&mut layout, &mut program.discrete.iter().map(|d| d.1), "d");
        numbered(
            &mut layout,
            &mut program.held_before.iter().map(|p| p.1),
            "before",
        );

        numbered(
            &mut layout,
            &mut program.left_limit_slots.iter().copied(),
            "left",
        );

        numbered(
            &mut layout,
            &mut program.modes.iter().map(|m| m.slot),
            "mode",
        );

        numbered(&mut layout, &mut program.fixed.iter().copied(), "k");
        layout
    }

    fn set(&mut self, slot: u32, place: SlotPlace) {
        self.places[slot as usize] = place;
    }

    fn give(&mut self, slot: u32, member: &str, name: &str) {
        let (member, name) = (member.to_owned(), name.to_owned());
        self.set(slot, SlotPlace::Given { member, name });
    }

    fn member(&mut self, slot: u32, member: &str) {
        self.set(slot, SlotPlace::Member(member.to_owned()));
    }

    /// Makes members of the slots that several functions touch, and of unknowns of Newton blocks.
    pub(super) fn share(&mut self, functions: &[Function<'_>]) {
        const NOBODY: usize = usize::MAX;
        let mut touched_by = vec![NOBODY; self.places.len()];
        let mut shared = vec![false; self.places.len()];
        for (number, function) in functions.iter().enumerate() {
            for_each_slot(function, &mut |slot, is_public| {
                let by = &mut touched_by[slot as usize];
                shared[slot as usize] |= is_public || (*by != NOBODY && *by != number);
                *by = number;
            });
        }
        for (slot, is_shared) in shared.into_iter().enumerate() {
            if is_shared && self.places[slot] == SlotPlace::Local {
                self.places[slot] = SlotPlace::Member(format!("m->w[{}]", self.n_shared));
                self.n_shared += 1;
            }
        }
    }

    pub(super) fn place(&self, slot: u32) -> &SlotPlace {
        &self.places[slot as usize]
    }

    /// The position in `w` of a slot that functions share.
    pub(super) fn shared_index(&self, slot: u32) -> usize {
        match self.place(slot) {
            SlotPlace::Member(member) => {
                let digits = member.trim_start_matches("m->w[").trim_end_matches(']');
                digits.parse().expect("unknowns of Newton blocks are in w")
            }
            _ => unreachable!("unknowns of Newton blocks are shared"),
        }
    }
}
