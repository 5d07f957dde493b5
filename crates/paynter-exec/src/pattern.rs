//! Which outputs of a routine depend on which inputs, and inputs that can be varied together.
//!
//! In:  the steps of a routine and the slots of its inputs, in columns.
//! Out: for each output the columns it depends on; groups of columns that share no output.
//!
//! **Invariant:** a column that is not listed for an output cannot change it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::code::Step;
use crate::emit::Notes;

/// Columns that an output depends on, ascending. Outputs that depend on the same ones share the list: the rates of a
/// mechanism all depend on nearly all of its states.
pub type Columns = Arc<[u32]>;

/// Sets of columns; number 0 is the empty set.
#[derive(Debug)]
struct Sets {
    /// Columns of all sets, ascending in each.
    columns: Vec<u32>,
    /// Where each set ends among them.
    ends: Vec<usize>,
    /// What large sets united are.
    unions: FxHashMap<(u32, u32), u32>,
    of_slot: Notes,
    scratch: Vec<u32>,
    ids: Vec<u32>,
}

/// Up to this many columns uniting two sets again is cheaper than finding what they united are.
const FEW_COLUMNS: usize = 32;

impl Sets {
    fn new() -> Self {
        Sets {
            columns: Vec::new(),
            ends: vec![0],
            unions: FxHashMap::default(),
            of_slot: Notes::default(),
            scratch: Vec::new(),
            ids: Vec::new(),
        }
    }

    fn get(&self, id: u32) -> &[u32] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.columns[start..self.ends[id]]
    }

    fn push(&mut self, columns: &[u32]) -> u32 {
        self.columns.extend_from_slice(columns);
        self.ends.push(self.columns.len());
        self.ends.len() as u32 - 1
    }

    fn of(&self, slot: u32) -> u32 {
        self.of_slot.get(slot).unwrap_or(0)
    }

    fn set(&mut self, slot: u32, id: u32) {
        if id != 0 {
            self.of_slot.set(slot, id);
        }
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        if a == b || b == 0 {
            return a;
        }
        if a == 0 {
            return b;
        }
        let is_large = self.get(a).len() + self.get(b).len() > FEW_COLUMNS;
        let key = (a.min(b), a.max(b));
        if is_large && let Some(&id) = self.unions.get(&key) {
            return id;
        }
        let (small, large) = match self.get(a).len() < self.get(b).len() {
            true => (a, b),
            false => (b, a),
        };
        let id = match self.holds(large, small) {
            true => large,
            false => self.unite(&[a, b]),
        };
        if is_large {
            self.unions.insert(key, id);
        }
        id
    }

    /// Tells whether a set holds all of a smaller one: the rates of a mechanism depend on nearly all states, and few more
    /// are united with them again and again.
    fn holds(&self, large: u32, small: u32) -> bool {
        let large = self.get(large);
        let mut small = self.get(small).iter();
        small.all(|column| large.binary_search(column).is_ok())
    }

    /// Unites many sets at once: linear in their sizes.
    fn union_all(&mut self, slots: impl Iterator<Item = u32>) -> u32 {
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        ids.extend(slots.map(|slot| self.of(slot)).filter(|&id| id != 0));
        ids.sort_unstable();
        ids.dedup();
        let id = match ids[..] {
            [] => 0,
            [one] => one,
            [a, b] => self.union(a, b),
            _ => self.unite(&ids),
        };
        self.ids = ids;
        id
    }

    fn unite(&mut self, ids: &[u32]) -> u32 {
        let mut largest = 0;
        for &id in ids {
            if self.get(id).len() > self.get(largest).len() {
                largest = id;
            }
        }
        if ids.iter().all(|&id| self.holds(largest, id)) {
            return largest;
        }
        let mut all = std::mem::take(&mut self.scratch);
        all.clear();
        ids.iter()
            .for_each(|&id| all.extend_from_slice(self.get(id)));
        all.sort_unstable();
        all.dedup();
        let id = self.push(&all);
        self.scratch = all;
        id
    }

    fn follow(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Straight(straight) => {
                    for i in &straight.instrs {
                        let mut id = 0;
                        for operand in i.operands() {
                            let other = self.of(operand);
                            id = self.union(id, other);
                        }
                        self.set(i.dst, id);
                    }
                }
                Step::Kernel(kernel) => {
                    let n_rows = kernel.dst.len();
                    for row in 0..n_rows {
                        let leaves = (0..kernel.n_leaves).map(|l| kernel.leaves[l * n_rows + row]);
                        let id = self.union_all(leaves);
                        self.set(kernel.dst[row], id);
                    }
                }
                Step::External(call) => {
                    let id = self.union_all(call.inputs.iter().copied());
                    for slot in call.first_output..call.first_output + call.n_outputs {
                        self.set(slot, id);
                    }
                }
                Step::Linear(linear) => {
                    let entries = linear.matrix.iter().map(|entry| entry.2);
                    let id = self.union_all(entries.chain(linear.right.iter().copied()));
                    for &slot in &linear.unknowns {
                        self.set(slot, id);
                    }
                }
                Step::Newton(newton) => {
                    self.follow(&newton.body);
                    let id = self.union_all(newton.residuals.iter().copied());
                    for &slot in &newton.unknowns {
                        self.set(slot, id);
                    }
                    self.follow(&newton.body);
                }
                Step::Fused(fused) => self.follow(&fused.parts),
                Step::LinearTangent(_) | Step::NewtonTangent(_) => {}
            }
        }
    }
}

/// Lists for each output the columns it depends on, ascending.
pub(crate) fn dependencies(steps: &[Step], columns: &[u32], outputs: &[u32]) -> Vec<Columns> {
    let mut sets = Sets::new();
    for (column, &slot) in columns.iter().enumerate() {
        let id = sets.push(&[column as u32]);
        sets.set(slot, id);
    }
    sets.follow(steps);
    let mut shared: FxHashMap<u32, Columns> = FxHashMap::default();
    let mut share = |id: u32| {
        let list = shared.entry(id).or_insert_with(|| sets.get(id).into());
        list.clone()
    };
    outputs.iter().map(|&slot| share(sets.of(slot))).collect()
}

/// Gives each column a colour such that no row depends on two columns of one colour.
///
/// Greedy in the order of columns (Curtis, Powell & Reid 1974); a band gets as many colours
/// as it is wide.
pub(crate) fn colour(rows: &[Columns], n_columns: usize) -> Vec<u32> {
    // A row that depends on everything leaves no choice: the rates of a mechanism, say.
    if rows.iter().any(|row| row.len() == n_columns) {
        return (0..n_columns as u32).collect();
    }

    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); n_columns];
    for (row, columns) in rows.iter().enumerate() {
        for &column in columns.iter() {
            rows_of[column as usize].push(row as u32);
        }
    }

    const NONE: u32 = u32::MAX;
    let mut colours = vec![NONE; n_columns];
    let mut taken_by: Vec<u32> = Vec::new();
    for column in 0..n_columns {
        for &row in &rows_of[column] {
            for &other in rows[row as usize].iter() {
                let colour = colours[other as usize];
                if colour != NONE {
                    taken_by[colour as usize] = column as u32;
                }
            }
        }
        let free = taken_by.iter().position(|&by| by != column as u32);
        let colour = free.unwrap_or(taken_by.len());
        if colour == taken_by.len() {
            taken_by.push(NONE);
        }
        colours[column] = colour as u32;
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Instr, Op, Straight};
    use std::collections::BTreeSet;

    #[test]
    fn outputs_depend_on_what_their_operands_depend_on() {
        let (n_columns, n_instrs) = (70_u32, 900_u32);
        let mut x = 99_u64;
        let mut next = move |below: u32| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (x >> 33) as u32 % below
        };
        let mut straight = Straight::default();
        let mut known: Vec<BTreeSet<u32>> = (0..n_columns).map(|c| BTreeSet::from([c])).collect();
        for k in 0..n_instrs {
            // One of the last results with any other: sets grow until they hold every column.
            let n = n_columns + k;
            let (a, b) = (n - 1 - next(9), next(n));
            straight.instrs.push(Instr {
                op: Op::Add,
                dst: n,
                a,
                b,
                c: 0,
            });
            straight.owners.push(0);
            known.push(&known[a as usize] | &known[b as usize]);
        }
        let columns: Vec<u32> = (0..n_columns).collect();
        let outputs: Vec<u32> = (0..n_columns + n_instrs).collect();
        let found = dependencies(&[Step::Straight(straight)], &columns, &outputs);
        assert!(known.iter().any(|set| set.len() > FEW_COLUMNS));
        for (found, known) in found.iter().zip(&known) {
            assert!(found.iter().eq(known));
        }
    }

    #[test]
    fn a_tridiagonal_pattern_needs_three_colours() {
        let n = 50_u32;
        let rows: Vec<Columns> = (0..n)
            .map(|i| (i.saturating_sub(1)..=(i + 1).min(n - 1)).collect())
            .collect();
        let colours = colour(&rows, n as usize);
        assert_eq!(colours.iter().max(), Some(&2));
        for row in rows {
            let mut seen: Vec<u32> = row.iter().map(|&c| colours[c as usize]).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), row.len());
        }
    }
}
