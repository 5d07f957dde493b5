//! Which functions read which slots: what only its own function reads stays in a register.
//!
//! In:  an [`Image`] whose steps are about to be compiled.
//! Out: for each slot nobody, one function, or several.
//!
//! **Invariant:** functions are numbered in the order in which the compiler meets them.

use crate::code::Step;
use crate::emit::{Routine, read_slots};
use crate::image::{Image, for_each_steps};
use crate::map::Map;

use super::FUNCTION_SIZE;

/// For each slot the one function that reads it, if it is one.
pub(super) struct Readers {
    pub(super) by_slot: Vec<u32>,
}

pub(super) const NOBODY: u32 = u32::MAX;
pub(super) const SEVERAL: u32 = u32::MAX - 1;

impl Readers {
    pub(super) fn add(&mut self, slot: u32, reader: u32) {
        let by = &mut self.by_slot[slot as usize];
        *by = match *by {
            NOBODY => reader,
            other if other == reader => reader,
            _ => SEVERAL,
        };
    }
}

/// Finds out which slots are read outside of the function that writes them.
///
/// Functions are numbered in the order in which [`compile`] meets them.
pub(super) fn find_readers(image: &mut Image) -> Readers {
    let mut readers = Readers {
        by_slot: vec![NOBODY; image.n_slots],
    };
    let mut next = 0;
    for_each_steps(image, &mut |steps| {
        number_readers(steps, &mut next, &mut readers)
    });
    note_other_readers(image, &mut readers);
    readers
}

/// Notes what is read from memory beside the steps that are compiled.
fn note_other_readers(image: &Image, readers: &mut Readers) {
    let mut read = Vec::new();
    for routine in all_routines(image) {
        read.extend(&routine.outputs);
        read.extend(
            routine
                .checks
                .iter()
                .flat_map(|&(_, pivot, scale)| [pivot, scale]),
        );
    }
    for map in all_maps(image) {
        read.extend(map.tangents.iter().flatten());
    }
    for routine in uncompiled_routines(image) {
        read_slots(&routine.steps, &mut read);
    }
    for map in [&image.events.reinit_targets, &image.start.demands] {
        read_slots(&map.tangent, &mut read);
    }
    for slot in read {
        readers.by_slot[slot as usize] = SEVERAL;
    }
}

/// As [`find_readers`], with straight steps and kernels that follow each other as one reader: they are numbered in the
/// order in which [`for_each_steps`] meets them.
pub(super) fn find_readers_of_segments(image: &mut Image) -> Readers {
    let mut readers = Readers {
        by_slot: vec![NOBODY; image.n_slots],
    };
    let mut next = 0;
    for_each_steps(image, &mut |steps| {
        number_segments(steps, &mut next, &mut readers)
    });
    note_other_readers(image, &mut readers);
    readers
}

fn number_segments(steps: &[Step], next: &mut u32, readers: &mut Readers) {
    let mut read = Vec::new();
    for step in steps {
        let is_inside = matches!(step, Step::Straight(_) | Step::Kernel(_));
        read.clear();
        read_slots(std::slice::from_ref(step), &mut read);
        let reader = if is_inside { *next } else { SEVERAL };
        read.iter().for_each(|&slot| readers.add(slot, reader));
        *next += u32::from(!is_inside);
    }
    *next += 1;
}

fn number_readers(steps: &[Step], next: &mut u32, readers: &mut Readers) {
    for step in steps {
        match step {
            Step::Straight(straight) => {
                for chunk in straight.instrs.chunks(FUNCTION_SIZE) {
                    for i in chunk {
                        i.operands().for_each(|slot| readers.add(slot, *next));
                    }
                    *next += 1;
                }
            }
            Step::Newton(newton) => {
                number_readers(&newton.body, next, readers);
                number_readers(&newton.slopes, next, readers);
                let entries = newton.jacobian.iter().map(|entry| &entry.2);
                for &slot in newton
                    .unknowns
                    .iter()
                    .chain(&newton.residuals)
                    .chain(entries)
                    .chain(newton.loose.iter().map(|mode| &mode.2))
                {
                    readers.add(slot, SEVERAL);
                }
            }
            Step::NewtonTangent(tangent) => {
                number_readers(&tangent.body, next, readers);
                let mut read = Vec::new();
                read_slots(&tangent.newton.slopes, &mut read);
                read.extend(tangent.newton.jacobian.iter().map(|entry| entry.2));
                read.extend(tangent.residuals.iter().map(|entry| entry.1));
                read.into_iter().for_each(|slot| readers.add(slot, SEVERAL));
            }
            other => {
                let mut read = Vec::new();
                read_slots(std::slice::from_ref(other), &mut read);
                read.into_iter().for_each(|slot| readers.add(slot, SEVERAL));
            }
        }
    }
}

fn all_maps(image: &Image) -> [&Map; 4] {
    [
        &image.rhs,
        &image.locks.map,
        &image.start.demands,
        &image.events.reinit_targets,
    ]
}

fn uncompiled_routines(image: &Image) -> Vec<&Routine> {
    let mut routines = vec![
        &image.parameters.set_up,
        &image.events.timing,
        &image.events.line_sizes,
        &image.events.conditions,
        &image.events.reinit_values,
        &image.events.assigned_values,
        &image.energy.stored,
        &image.energy.held,
        &image.energy.balances.routine,
        &image.energy.anchors.routine,
        &image.unknowns,
        &image.events.pre_continuous,
        &image.start.values,
        &image.start.late_values,
        &image.start.demands.routine,
        &image.events.reinit_targets.routine,
    ];
    routines.extend(
        image
            .parameters
            .bindings
            .iter()
            .map(|binding| &binding.routine),
    );
    routines
}

fn all_routines(image: &Image) -> Vec<&Routine> {
    let mut routines = uncompiled_routines(image);
    routines.extend([
        &image.rhs.routine,
        &image.locks.map.routine,
        &image.observe,
        &image.events.switches,
        &image.energy.power.routine,
        &image.clocks.inputs,
    ]);
    routines.extend(image.clocks.sampled.iter().map(|sampled| &sampled.routine));
    routines
}
