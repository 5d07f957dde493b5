//! What the `when`s that have become true do together.
//!
//! In:  the `when`s of one round of an event, and the state before any of them.
//! Out: the state and the discrete values after all of them.
//!
//! All of one round read the values from before it, so none of them comes first: where two ask for
//! different values of one quantity, no order of the text may decide, and the round fails with both.
//! A `when` that becomes true by what another one did acts in the next round, after it.
//!
//! **Invariant:** the outcome does not depend on the order in which the `when`s are given.

use paynter_symbolic::dae::Action;
use paynter_symbolic::{Origin, SymbolId};
use rustc_hash::FxHashMap;

use crate::code::run;
use crate::dense::pivoted_qr;
use crate::failure::{Conflict, Fault};
use crate::image::{ActionInfo, Image};
use crate::machine::Machine;

/// Two formulas of one value may differ by this share of it: what roundings leave.
const SAME_VALUE: f64 = 1e-12;

/// What one action asks for.
#[derive(Clone, Copy, Debug)]
struct Demand {
    value: f64,
    /// The `when`, and the place among its actions.
    from: (usize, usize),
}

/// What a round writes, each place once.
#[derive(Default)]
struct Writes {
    states: FxHashMap<usize, Demand>,
    slots: FxHashMap<u32, Demand>,
    /// Quantities that follow from states: row of the reinit map, number of the action.
    aims: Vec<(usize, u32, Demand)>,
}

impl Machine {
    /// Performs the actions of some `when`s, all with values from before any of them.
    pub(crate) fn act(
        &mut self,
        t: f64,
        y: &mut [f64],
        rising: &[usize],
        stop: &mut Option<u32>,
    ) -> Result<bool, Fault> {
        let image = self.image.clone();
        let energy_before = self.energy()?;
        let energies_before = self.room.energies.clone();
        self.keep_discrete();
        run(&image.events.assigned_values.steps, &mut self.memory)?;
        let writes = self.gather(rising, stop)?;

        let mut has_changed = false;
        for (&slot, ask) in &writes.slots {
            let held = &mut self.memory.slots[slot as usize];
            has_changed |= held.to_bits() != ask.value.to_bits();
            *held = ask.value;
        }

        let has_moved = !writes.states.is_empty() || !writes.aims.is_empty();
        if has_moved {
            for (&index, ask) in &writes.states {
                y[index] = ask.value;
            }
            self.meet(t, y, &writes)?;
            if image.locks.n > 0 {
                self.project_on_constraints(t, y)?;
            }
            self.load(t, y)?;
            // Several `when`s at one instant share the jump; the first one carries it.
            self.jumps[rising[0]] += self.energy()? - energy_before;
            self.book_jumps_since(&energies_before);
            self.room.has_moved = true;
        }
        Ok(has_changed | has_moved)
    }

    /// Lists what the round writes. Two different values for one place are a conflict.
    fn gather(&mut self, rising: &[usize], stop: &mut Option<u32>) -> Result<Writes, Fault> {
        let image = self.image.clone();
        let mut writes = Writes::default();
        let mut clash = None;
        for &when in rising {
            for (place, action) in image.events.actions[when].iter().enumerate() {
                let ask = |value: f64| Demand {
                    value,
                    from: (when, place),
                };
                let clashes = match *action {
                    ActionInfo::SetState {
                        value,
                        index,
                        is_negated,
                    } => {
                        let value = self.room.reinit[value];
                        let value = if is_negated { -value } else { value };
                        agree(writes.states.entry(index).or_insert(ask(value)), ask(value))
                    }
                    ActionInfo::Assign { value, slot } => {
                        let output = image.events.assigned_values.outputs[value];
                        let value = self.memory.slots[output as usize];
                        agree(writes.slots.entry(slot).or_insert(ask(value)), ask(value))
                    }
                    ActionInfo::Aim { value, row, action } => {
                        let ask = ask(self.room.reinit[value]);
                        let target = image.events.aims[action as usize].0;
                        let same = |a: &&mut (usize, u32, Demand)| {
                            image.events.aims[a.1 as usize].0 == target
                        };
                        match writes.aims.iter_mut().find(same) {
                            Some((_, _, first)) => agree(first, ask),
                            None => {
                                writes.aims.push((row, action, ask));
                                None
                            }
                        }
                    }
                    ActionInfo::Stop { stop: number } => {
                        stop.get_or_insert(number);
                        None
                    }
                };
                clash = clash.or(clashes);
            }
        }

        match clash {
            Some((a, b)) => Err(self.conflict(a, b)),
            None => Ok(writes),
        }
    }

    /// Remembers two asks that cannot both be met.
    fn conflict(&mut self, a: Demand, b: Demand) -> Fault {
        let (first, second) = (action(&self.image, a.from), action(&self.image, b.from));
        self.room.conflict = Some(Conflict {
            targets: [first.0, second.0],
            values: [a.value, b.value],
            origins: [first.1, second.1],
        });
        Fault::Conflict
    }

    /// Moves states that are not set themselves until the other targets have their values.
    fn meet(&mut self, t: f64, y: &mut [f64], writes: &Writes) -> Result<(), Fault> {
        if writes.aims.is_empty() {
            return Ok(());
        }
        let set: Vec<usize> = writes.states.keys().copied().collect();
        let aims: Vec<Aim> = writes.aims.iter().map(Aim::from).collect();
        let before = y.to_vec();
        let met = self.aim(t, y, &aims, &set);
        let Err(fault) = met else {
            return Ok(());
        };

        // Which of them contradict each other? What cannot be met alone is not a contradiction.
        for aim in &aims {
            self.aim(t, &mut before.clone(), &[*aim], &[])?;
        }
        for (aim, &(_, _, ask)) in aims.iter().zip(&writes.aims) {
            for (&index, &other) in &writes.states {
                if self.aim(t, &mut before.clone(), &[*aim], &[index]).is_err() {
                    return Err(self.conflict(other, ask));
                }
            }
        }
        for (k, &(_, _, ask)) in writes.aims.iter().enumerate() {
            for (j, &(_, _, other)) in writes.aims[..k].iter().enumerate() {
                let pair = [aims[j], aims[k]];
                if self.aim(t, &mut before.clone(), &pair, &[]).is_err() {
                    return Err(self.conflict(other, ask));
                }
            }
        }
        Err(fault)
    }

    /// Moves the state as little as possible until some targets have their values; states in `set` stay.
    fn aim(&mut self, t: f64, y: &mut [f64], aims: &[Aim], set: &[usize]) -> Result<(), Fault> {
        let Some(&Aim { action: first, .. }) = aims.first() else {
            return Ok(());
        };
        let image = self.image.clone();
        let map = &image.events.reinit_targets;
        let mut columns: Vec<u32> = aims
            .iter()
            .flat_map(|aim| map.rows[aim.row].iter().copied())
            .filter(|&column| !set.contains(&(column as usize)))
            .collect();
        columns.sort_unstable();
        columns.dedup();

        // Targets are nearly always linear in the states: one step, and one to see that it was.
        const MAX_STEPS: usize = 30;
        for _ in 0..MAX_STEPS {
            self.load(t, y)?;
            map.evaluate(&mut self.memory)?;
            let gap = |aim: &Aim| aim.value - map.value(&self.memory, aim.row);
            let gaps: Vec<f64> = aims.iter().map(gap).collect();
            let mut missed = gaps.iter().zip(aims);
            if missed.all(|(gap, aim)| gap.abs() <= 1e-12 * aim.value.abs().max(f64::MIN_POSITIVE))
            {
                return Ok(());
            }

            let largest = self.step_to_targets(y, aims, &columns, &gaps)?;
            if !largest.is_finite() {
                return Err(Fault::Reinit(first));
            }

            // Nothing moves any more: met as well as numbers allow, or not at all.
            if largest <= 1e-14 {
                let mut missed = gaps.iter().zip(aims);
                let is_close = missed.all(|(gap, aim)| gap.abs() <= 1e-9 * (1.0 + aim.value.abs()));
                return is_close.then_some(()).ok_or(Fault::Reinit(first));
            }
        }
        Err(Fault::Reinit(first))
    }

    /// Makes the least step of the states in `columns` that closes the gaps of all aims, and tells how large its largest
    /// part is.
    fn step_to_targets(
        &mut self,
        y: &mut [f64],
        aims: &[Aim],
        columns: &[u32],
        gaps: &[f64],
    ) -> Result<f64, Fault> {
        let (m, n) = (aims.len(), columns.len());
        if n == 0 {
            return Ok(0.0);
        }
        let image = self.image.clone();
        let map = &image.events.reinit_targets;
        let mut matrix = vec![0.0; m * n];
        map.jacobian(&image.inputs, &mut self.memory, |row, column, value| {
            let at = columns.binary_search(&(column as u32));
            if let (Some(k), Ok(c)) = (aims.iter().position(|aim| aim.row == row), at) {
                matrix[k * n + c] = value;
            }
        })?;

        let mut largest: f64 = 0.0;
        let step = pivoted_qr(&matrix, m, n, 1e-12).least_squares(gaps);
        for (&column, &dx) in columns.iter().zip(&step) {
            let x = &mut y[column as usize];
            largest = largest.max(dx.abs() / (x.abs() + dx.abs()).max(f64::MIN_POSITIVE));
            *x += dx;
        }
        Ok(largest)
    }
}

/// A quantity that follows from states, and what it shall become.
#[derive(Clone, Copy, Debug)]
struct Aim {
    row: usize,
    value: f64,
    /// Its number among the actions that are solved for.
    action: u32,
}

impl From<&(usize, u32, Demand)> for Aim {
    fn from(&(row, action, ask): &(usize, u32, Demand)) -> Self {
        Aim {
            row,
            value: ask.value,
            action,
        }
    }
}

/// Lets two asks for one place be one if they agree; gives both if they do not.
fn agree(held: &mut Demand, new: Demand) -> Option<(Demand, Demand)> {
    let (a, b) = (held.value, new.value);
    let is_same = a == b || (a - b).abs() <= SAME_VALUE * a.abs().max(b.abs());
    if !is_same && a.to_bits() != b.to_bits() {
        return Some((*held, new));
    }
    // Roundings must not make the order of lines visible either.
    held.value = a.min(b);
    None
}

fn action(image: &Image, (when, place): (usize, usize)) -> (SymbolId, Origin) {
    match image.dae.whens[when].actions[place] {
        Action::Reinit { target, origin, .. } | Action::Assign { target, origin, .. } => {
            (target, origin)
        }
        Action::Stop { .. } => unreachable!("a stop gives nothing a value"),
    }
}
