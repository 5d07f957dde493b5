//! Two runs on one thread, which make their steps together.
//!
//! In:  two pieces of work that run machines, one after the other each: two workers of a sweep.
//! Out: both done. Where both are about to make a step of one model, one call of machine code makes both steps.
//!
//! The second has a stack of its own. When the first comes to a step, the second goes on until it comes to one as well, or
//! to its end; so neither knows of the other, and everything around the steps (starts, events, books, curves) is as
//! it is for one run alone.
//!
//! **Invariant:** what either computes does not depend on the other.

use std::cell::Cell;

use corosensei::stack::DefaultStack;
use corosensei::{CoroutineResult, ScopedCoroutine, ScopedCoroutineRef, Yielder};
use paynter_solve::Trial;

use super::step::{Made, StepCode};
use super::step_of_two::Pair;
use crate::image::Image;

/// Room for the second: as much as a thread has, four times over. Only what is used takes memory.
const STACK: usize = 8 << 20;

/// Does two pieces of work on this thread, in turns. They must not wait for each other.
pub fn side_by_side(first: impl FnOnce(), second: impl FnOnce()) {
    let is_free = matches!(PRESENT.get(), Present::Alone);
    let stack = is_free.then(|| DefaultStack::new(STACK).ok()).flatten();
    let Some(stack) = stack else {
        first();
        second();
        return;
    };
    // What is handed over to another stack has to be small.
    let second = Box::new(second);
    let work = |yielder: &Yielder<Made, Attempt>, _| {
        PRESENT.set(Present::Second(yielder));
        second();
    };
    ScopedCoroutine::with_stack(stack, work).scope(|coroutine| {
        let _reset = Reset;
        let mut partner = Partner {
            coroutine,
            present: None,
            answer: Made::Not,
            room: Vec::new(),
        };
        PRESENT.set(Present::First((&raw mut partner).cast()));
        first();
        PRESENT.set(Present::Alone);
        partner.finish();
    });
}

/// Who runs on this thread.
#[derive(Clone, Copy)]
enum Present {
    Alone,
    /// The first of two; the other one waits.
    First(*mut Partner<'static>),
    /// The second of two; the first waits for it.
    Second(*const Yielder<Made, Attempt>),
}

thread_local! {
    static PRESENT: Cell<Present> = const { Cell::new(Present::Alone) };
}

/// Leaves the thread as it was, also where one of two panics.
struct Reset;

impl Drop for Reset {
    fn drop(&mut self) {
        PRESENT.set(Present::Alone);
    }
}

/// A step that the second is about to make. It stays as it is until the second goes on.
struct Attempt {
    code: *const StepCode,
    slots: *const [f64],
    trial: *mut Trial<'static>,
}

type Second<'a> = ScopedCoroutineRef<'a, Made, Attempt, (), DefaultStack>;

/// The second of two, seen by the first.
struct Partner<'a> {
    coroutine: Second<'a>,
    /// How it is present while it runs; none before it has begun.
    present: Option<Present>,
    /// What came of its last attempt: what it waits for.
    answer: Made,
    room: Vec<Pair>,
}

impl Partner<'_> {
    /// Lets the second go on to its next step; none if it has come to its end.
    fn go_on(&mut self) -> Option<Attempt> {
        if self.coroutine.done() {
            return None;
        }
        let first = PRESENT.get();
        // Before it has begun it makes itself present.
        PRESENT.set(self.present.unwrap_or(first));
        let came = self.coroutine.resume(self.answer);
        self.present = Some(PRESENT.replace(first));
        match came {
            CoroutineResult::Yield(attempt) => Some(attempt),
            CoroutineResult::Return(()) => None,
        }
    }

    /// Lets the second go on alone to its end.
    fn finish(&mut self) {
        if self.present.is_some() {
            self.present = Some(Present::Alone);
        }
        while let Some(attempt) = self.go_on() {
            // It began only now, and does not know that it is alone.
            self.present = Some(Present::Alone);
            // SAFETY: what it points to lies on the stack of the second, which waits.
            let (code, slots, trial) =
                unsafe { (&*attempt.code, &*attempt.slots, &mut *attempt.trial) };
            self.answer = code.run_alone(slots, trial);
        }
    }
}

/// Makes the step of a run together with that of the one beside it. None if it is alone.
#[inline]
pub(super) fn meet(
    code: &StepCode,
    image: &Image,
    slots: &[f64],
    trial: &mut Trial<'_>,
) -> Option<Made> {
    match PRESENT.get() {
        Present::Alone => None,
        Present::First(partner) => {
            // SAFETY: the partner lives on the stack of `side_by_side`, which lies below; while the first runs nobody
            // else has hold of it.
            let partner = unsafe { &mut *partner };
            meet_second(partner, (code, image), slots, trial)
        }
        Present::Second(yielder) => {
            // SAFETY: the yielder lives as long as the second runs, which it does right now.
            let yielder = unsafe { &*yielder };
            let trial: *mut Trial<'_> = trial;
            Some(yielder.suspend(Attempt {
                code,
                slots,
                trial: trial.cast(),
            }))
        }
    }
}

fn meet_second(
    partner: &mut Partner<'_>,
    (code, image): (&StepCode, &Image),
    slots: &[f64],
    trial: &mut Trial<'_>,
) -> Option<Made> {
    let attempt = partner.go_on()?;
    // SAFETY: what it points to lies on the stack of the second or in its machine, and waits there.
    let (other_code, other_slots, other_trial) =
        unsafe { (&*attempt.code, &*attempt.slots, &mut *attempt.trial) };
    if !std::ptr::eq(code, other_code) {
        partner.answer = other_code.run_alone(other_slots, other_trial);
        return None;
    }
    let (own, other) = ((slots, trial), (other_slots, other_trial));
    let [own, other] = code.run_two(image, own, other, &mut partner.room);
    partner.answer = other;
    Some(own)
}
