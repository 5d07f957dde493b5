//! Goes on with other locks left out as redundant, where those kept so far no longer hold the mechanism well.
//!
//! In:  a run under way, at a position where the kept locks come near to demanding one thing twice although the mechanism is
//!      regular (`paynter-exec/src/rechoice.rs`).
//! Out: the same run with a machine for the same motion that keeps better ones.
//!
//! **Invariant:** position, speed, energies and held values go on as they are; only which reactions are given as zero changes.

use super::HybridRun;
use crate::configuration::{Configuration, set_parameters};
use crate::spec::prepare_wanted;
use paynter_exec::{Engine, Machine, lower};
use paynter_solve::System;
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::{ExprId, SymbolId};
use std::collections::HashMap;
use std::sync::Arc;

/// A change of the locks that are left out as redundant; numbers are positions in `Dae::constraints`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rechosen {
    /// When, s.
    pub t: f64,
    /// Locks that are left out from there on, and were kept before.
    pub left_out: Vec<usize>,
    /// Locks that are kept from there on, and were left out before.
    pub kept: Vec<usize>,
}

/// Equations with some locks left out, and their machine.
pub(super) struct Rechoice {
    reduced: Arc<Reduced>,
    machine: Machine,
}

/// A run that changes its locks more often than this repeats itself, or lasts so long that the changes do not matter.
const MOST_CHANGES: usize = 10_000;

impl HybridRun<'_> {
    /// Leaves out other locks from here on; where that cannot be done the run goes on as it is, and does not ask again.
    pub(super) fn choose_locks(&mut self, t: f64, y: &mut Vec<f64>) {
        if self.rechosen.len() == MOST_CHANGES || self.exchange_locks(t, y).is_none() {
            self.locks_of = None;
        }
    }

    fn exchange_locks(&mut self, t: f64, y: &mut Vec<f64>) -> Option<()> {
        let before = self.plain.released().to_vec();
        let after = self.plain.better_release(t, y)?;
        let Rechoice { reduced, machine } = match self.rechoices.remove(&after) {
            Some(made) => made,
            None => self.without(&after)?,
        };
        let (machine, all) = self.take_over(machine, &reduced, (t, y))?;
        let only_in = |a: &[usize], b: &[usize]| -> Vec<usize> {
            let is_new = |lock: &&usize| !b.contains(lock);
            a.iter().filter(is_new).copied().collect()
        };
        self.rechosen.push(Rechosen {
            t,
            left_out: only_in(&after, &before),
            kept: only_in(&before, &after),
        });
        if machine.states() != self.plain.states() || machine.n() != self.plain.n() {
            self.tolerances.remove(&Configuration::default());
        }
        let machine = self.put_in_place(machine);
        if let (Some(machine), Some(reduced)) = (machine, self.present_choice.replace(reduced)) {
            let made = Rechoice { reduced, machine };
            self.rechoices.insert(before, made);
        }
        *y = all;
        Some(())
    }

    /// Makes the equations and the machine with these locks left out.
    fn without(&self, locks: &[usize]) -> Option<Rechoice> {
        let compiled = self.locks_of?;
        let make = || compiled.with_released(locks).map(Arc::new);
        let reduced = match self.configurations.store {
            Some(store) => store.equations_without(locks, make),
            None => make(),
        }?;
        let mut machine = prepare_wanted(&reduced, self.spec, &[]).ok()?;
        set_parameters(&mut machine, self.spec);
        Some(Rechoice { reduced, machine })
    }

    /// Lets a machine take over at the present state.
    fn take_over(
        &mut self,
        mut machine: Machine,
        reduced: &Reduced,
        (t, y): (f64, &[f64]),
    ) -> Option<(Machine, Vec<f64>)> {
        let states = self.plain.states().iter().copied();
        let mut values: HashMap<SymbolId, f64> = states.zip(y.iter().copied()).collect();
        let is_new = |s: &SymbolId| !values.contains_key(s);
        let new: Vec<SymbolId> = machine.states().iter().copied().filter(is_new).collect();
        if !new.is_empty() {
            let found = self.look_up(&new, (t, y))?;
            values.extend(new.into_iter().zip(found));
        }
        let mut all = vec![0.0; machine.n()];
        for (value, symbol) in all.iter_mut().zip(machine.states()) {
            *value = *values.get(symbol)?;
        }
        let n_whens = reduced.dae.whens.len();
        let taken = machine.take_over(self.plain, (t, &mut all), n_whens, &[]);
        taken.ok().map(|_| (machine, all))
    }

    /// Finds what depends on others at present and is integrated from here on: with other locks kept, other storages are
    /// the dependent ones.
    fn look_up(&mut self, symbols: &[SymbolId], (t, y): (f64, &[f64])) -> Option<Vec<f64>> {
        let spec = self.spec;
        let (_, reduced) = self.at_present();
        let mut reduced = reduced.clone();
        let n_symbols = reduced.dae.symbols.len();
        if symbols.iter().any(|s| s.0 as usize >= n_symbols) {
            return None;
        }
        let pool = &mut reduced.dae.pool;
        let wanted: Vec<ExprId> = symbols.iter().map(|&s| pool.symbol(s)).collect();
        let mut reader = lower(&reduced, &wanted, Engine::Interpreter).ok()?;
        set_parameters(&mut reader, spec);
        let mut states = y[..reader.n()].to_vec();
        let n_whens = reduced.dae.whens.len();
        let here = (t, states.as_mut_slice());
        reader.take_over(self.plain, here, n_whens, &[]).ok()?;
        let mut row = vec![0.0; wanted.len()];
        reader.observe(t, &states, &mut row).ok()?;
        row.iter().all(|x| x.is_finite()).then_some(row)
    }
}
