//! Puts kernels together that go over the same things, so that what one computes the next finds in a register.
//!
//! In:  steps of a routine: kernels of one result each, and straight instructions.
//! Out: the same work as fewer, larger kernels. A row of one of them computes all that belongs to one body, one joint,
//!      one cell.
//!
//! Kernels are made of rows that are ready at the same level, one formula at a time: every operand is read from memory
//! and every result written there. Rows of two kernels belong together if one reads the other's result; the
//! permutation that puts such rows side by side is found from that. A kernel that reads results of other rows (a joint
//! that reads both of its bodies) waits until all of them are there, in a later kernel.
//!
//! **Invariant:** every operation is done once, with the operands it had before: the same bits. What a fused kernel
//! reads of itself is of the same row; all else was computed before it.

use rustc_hash::FxHashMap;

use crate::code::{Instr, Kernel, Op, Step, Straight};

/// Where a value of each row lies in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Column {
    /// The same slot for all rows.
    Same(u32),
    /// From this slot on, so many slots apart.
    Strided(u32, i32),
    /// In a table, of which this is the number.
    Table(u32),
}

/// What an operation of a fused kernel reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A value from memory, by its number.
    Leaf(u32),
    /// The result of an earlier operation.
    Result(u32),
}

/// One operation of a fused kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FusedOp {
    pub op: Op,
    pub operands: [Operand; 3],
    /// Where the result goes, by its number among the columns, if anybody else reads it.
    pub store: Option<u32>,
}

/// Many operations for many rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct FusedKernel {
    pub n_rows: usize,
    pub ops: Vec<FusedOp>,
    /// What is read and written.
    pub columns: Vec<Column>,
    /// Slots of the columns that need a table, one column after another.
    pub tables: Vec<u32>,
}

/// Steps, and the kernels that do their work.
#[derive(Clone, Debug)]
pub(crate) struct Fused {
    /// What it stands for, in order.
    pub parts: Vec<Step>,
    pub kernels: Vec<FusedKernel>,
    pub compiled: Option<crate::jit::Compiled>,
}

/// Operations in one fused kernel: compiling takes more than linear time in the size of a function.
const MOST_OPERATIONS: usize = 1500;
/// Places in the tables of one fused kernel: their addresses are 32-bit offsets in the code.
const MOST_PLACES: usize = 1 << 28;
/// So many rows make a kernel worth fusing: below, code is straight, and the gain is not worth the code.
const FEWEST_ROWS: usize = 8;

/// Replaces straight steps and kernels that follow each other by fused ones. `is_read` tells whether a slot is read by
/// others than the segment with this number; `next` is the number of the first segment.
pub(crate) fn fuse(steps: &mut Vec<Step>, next: &mut u32, is_read: &dyn Fn(u32, u32) -> bool) {
    let mut done = Vec::new();
    let mut parts: Vec<Step> = Vec::new();
    for step in std::mem::take(steps) {
        match step {
            Step::Straight(_) | Step::Kernel(_) => parts.push(step),
            other => {
                flush(&mut parts, &mut done, &|slot| is_read(slot, *next));
                *next += 1;
                done.push(other);
            }
        }
    }
    flush(&mut parts, &mut done, &|slot| is_read(slot, *next));
    *next += 1;
    *steps = done;
}

fn flush(parts: &mut Vec<Step>, done: &mut Vec<Step>, is_read: &dyn Fn(u32) -> bool) {
    let parts = std::mem::take(parts);
    let is_large = |step: &&Step| matches!(step, Step::Kernel(k) if k.dst.len() >= FEWEST_ROWS);
    if parts.iter().filter(is_large).count() < 2 {
        done.extend(parts);
        return;
    }
    let mut fusions = Fusions::default();
    for step in &parts {
        match step {
            Step::Straight(straight) => fusions.add_straight(straight),
            Step::Kernel(kernel) => fusions.add_kernel(kernel),
            _ => unreachable!("only straight steps and kernels are fused"),
        }
    }
    let kernels = fusions.finish(is_read);
    done.push(Step::Fused(Box::new(Fused {
        parts,
        kernels,
        compiled: None,
    })));
}

/// Kernels in the order in which they will run.
#[derive(Default)]
struct Fusions {
    all: Vec<Fusion>,
    /// For each slot written: its fusion, row and operation.
    writers: FxHashMap<u32, Writer>,
}

#[derive(Clone, Copy)]
struct Writer {
    fusion: u32,
    row: u32,
    op: u32,
}

#[derive(Default)]
struct Fusion {
    n_rows: usize,
    ops: Vec<FusedOp>,
    /// The slots of each column.
    columns: Vec<Vec<u32>>,
    numbers: FxHashMap<Vec<u32>, u32>,
}

impl Fusion {
    fn column(&mut self, slots: Vec<u32>) -> u32 {
        if let Some(&number) = self.numbers.get(&slots) {
            return number;
        }
        let number = self.columns.len() as u32;
        self.columns.push(slots.clone());
        self.numbers.insert(slots, number);
        number
    }
}

impl Fusions {
    /// The last fusion that some slots come from.
    fn last_writer<'s>(&self, slots: impl Iterator<Item = &'s u32>) -> Option<u32> {
        slots
            .filter_map(|s| Some(self.writers.get(s)?.fusion))
            .max()
    }

    fn add_straight(&mut self, straight: &Straight) {
        for chunk in straight.instrs.chunks(MOST_OPERATIONS) {
            self.add_chunk(chunk);
        }
    }

    fn add_chunk(&mut self, instrs: &[Instr]) {
        let own: rustc_hash::FxHashSet<u32> = instrs.iter().map(|i| i.dst).collect();
        let read: Vec<u32> = (instrs.iter().flat_map(Instr::operands))
            .filter(|slot| !own.contains(slot))
            .collect();
        let first = self.last_writer(read.iter()).map_or(0, |f| f as usize);
        let fits = |f: &Fusion| f.n_rows == 1 && f.ops.len() + instrs.len() <= MOST_OPERATIONS;
        let place = (first..self.all.len()).find(|&f| fits(&self.all[f]));
        let place = place.unwrap_or_else(|| self.begin(1));
        for i in instrs {
            let mut operands = [Operand::Leaf(0); 3];
            for (operand, slot) in operands.iter_mut().zip(i.operands()) {
                *operand = match self.writers.get(&slot) {
                    Some(w) if w.fusion as usize == place => Operand::Result(w.op),
                    _ => Operand::Leaf(self.all[place].column(vec![slot])),
                };
            }
            self.push(place, i.op, operands, Some(vec![i.dst]));
        }
    }

    fn add_kernel(&mut self, kernel: &Kernel) {
        let n_rows = kernel.dst.len();
        let first = self.last_writer(kernel.leaves.iter());
        let first = first.map_or(0, |f| f as usize);
        let mut found = None;
        for place in first..self.all.len() {
            let fusion = &self.all[place];
            let has_room = fusion.ops.len() + kernel.body.len() <= MOST_OPERATIONS
                && (fusion.columns.len() + kernel.n_leaves + 1) * n_rows <= MOST_PLACES;
            if fusion.n_rows == n_rows
                && has_room
                && let Some(order) = self.align(kernel, place)
            {
                found = Some((place, order));
                break;
            }
        }
        let (place, order) = match found {
            Some(found) => found,
            None => (self.begin(n_rows), by_slots(kernel)),
        };
        self.append(kernel, place, &order);
    }

    fn begin(&mut self, n_rows: usize) -> usize {
        self.all.push(Fusion {
            n_rows,
            ..Fusion::default()
        });
        self.all.len() - 1
    }

    /// Finds for each row of a fusion the row of a kernel that reads its results; none if some row reads those of
    /// others.
    fn align(&self, kernel: &Kernel, place: usize) -> Option<Vec<usize>> {
        let n_rows = kernel.dst.len();
        let mut row_of: Vec<Option<usize>> = vec![None; n_rows];
        let mut is_placed = vec![false; n_rows];
        for leaf in 0..kernel.n_leaves {
            let slots = &kernel.leaves[leaf * n_rows..(leaf + 1) * n_rows];
            let of = |slot: &u32| {
                self.writers
                    .get(slot)
                    .filter(|w| w.fusion as usize == place)
            };
            let Some(first) = of(&slots[0]) else {
                if slots.iter().any(|slot| of(slot).is_some()) {
                    return None;
                }
                continue;
            };
            for (row, slot) in slots.iter().enumerate() {
                // All rows must read the same result, each of its own row.
                let writer = of(slot).filter(|w| w.op == first.op)?;
                let target = writer.row as usize;
                match row_of[target] {
                    None if !is_placed[row] => {
                        row_of[target] = Some(row);
                        is_placed[row] = true;
                    }
                    Some(other) if other == row => {}
                    _ => return None,
                }
            }
        }

        if row_of.iter().all(Option::is_none) {
            return Some(by_slots(kernel));
        }
        row_of.into_iter().collect()
    }

    fn append(&mut self, kernel: &Kernel, place: usize, order: &[usize]) {
        let n_rows = kernel.dst.len();
        let mut registers: Vec<Operand> = Vec::with_capacity(kernel.n_leaves + kernel.body.len());
        for leaf in 0..kernel.n_leaves {
            let of_leaf = &kernel.leaves[leaf * n_rows..(leaf + 1) * n_rows];
            let writer = self.writers.get(&of_leaf[0]);
            registers.push(match writer.filter(|w| w.fusion as usize == place) {
                Some(writer) => Operand::Result(writer.op),
                None => {
                    let slots = order.iter().map(|&row| of_leaf[row]).collect();
                    Operand::Leaf(self.all[place].column(slots))
                }
            });
        }
        let last = kernel.body.len() - 1;
        for (k, i) in kernel.body.iter().enumerate() {
            let mut operands = [Operand::Leaf(0); 3];
            let read = [i.a, i.b, i.c].into_iter().take(i.op.n_operands());
            for (operand, register) in operands.iter_mut().zip(read) {
                *operand = registers[register as usize];
            }
            let dst = (k == last).then(|| order.iter().map(|&row| kernel.dst[row]).collect());
            registers.push(self.push(place, i.op, operands, dst));
        }
    }

    fn push(
        &mut self,
        place: usize,
        op: Op,
        operands: [Operand; 3],
        dst: Option<Vec<u32>>,
    ) -> Operand {
        let fusion = &mut self.all[place];
        let number = fusion.ops.len() as u32;
        if let Some(slots) = &dst {
            for (row, &slot) in slots.iter().enumerate() {
                let writer = Writer {
                    fusion: place as u32,
                    row: row as u32,
                    op: number,
                };
                self.writers.insert(slot, writer);
            }
        }
        let store = dst.map(|slots| fusion.column(slots));
        fusion.ops.push(FusedOp {
            op,
            operands,
            store,
        });
        Operand::Result(number)
    }

    fn finish(mut self, is_read: &dyn Fn(u32) -> bool) -> Vec<FusedKernel> {
        // What another fusion reads must be stored, whoever else reads it.
        let mut is_shared: rustc_hash::FxHashSet<u32> = rustc_hash::FxHashSet::default();
        for (place, fusion) in self.all.iter().enumerate() {
            for op in &fusion.ops {
                let read = op.operands.iter().take(op.op.n_operands());
                for operand in read {
                    let Operand::Leaf(number) = operand else {
                        continue;
                    };
                    for slot in &fusion.columns[*number as usize] {
                        let writer = self.writers.get(slot);
                        if writer.is_some_and(|w| w.fusion as usize != place) {
                            is_shared.insert(*slot);
                        }
                    }
                }
            }
        }
        let is_wanted = |slot: &u32| is_read(*slot) || is_shared.contains(slot);
        let all = std::mem::take(&mut self.all).into_iter();
        all.map(|fusion| fusion.finish(&is_wanted)).collect()
    }
}

impl Fusion {
    fn finish(mut self, is_wanted: &dyn Fn(&u32) -> bool) -> FusedKernel {
        for op in &mut self.ops {
            let columns = &self.columns;
            op.store = (op.store).filter(|&c| columns[c as usize].iter().any(is_wanted));
        }
        let mut tables = Vec::new();
        let mut n_tables = 0;
        let columns = self.columns.iter();
        let columns = columns.map(|slots| match stride(slots) {
            Some(0) => Column::Same(slots[0]),
            Some(stride) => Column::Strided(slots[0], stride),
            None => {
                tables.extend_from_slice(slots);
                n_tables += 1;
                Column::Table(n_tables - 1)
            }
        });
        FusedKernel {
            n_rows: self.n_rows,
            columns: columns.collect(),
            ops: self.ops,
            tables,
        }
    }
}

/// How far apart slots are, if that is the same everywhere.
fn stride(slots: &[u32]) -> Option<i32> {
    let step = |pair: &[u32]| i32::try_from(i64::from(pair[1]) - i64::from(pair[0])).ok();
    let Some(first) = slots.get(..2) else {
        return Some(0);
    };
    let first = step(first)?;
    slots
        .windows(2)
        .all(|pair| step(pair) == Some(first))
        .then_some(first)
}

/// Rows in the order of the slots they read: kernels that read inputs of the same things are in the same order then.
fn by_slots(kernel: &Kernel) -> Vec<usize> {
    let n_rows = kernel.dst.len();
    let varies = |leaf: &usize| {
        let slots = &kernel.leaves[leaf * n_rows..(leaf + 1) * n_rows];
        slots.iter().any(|slot| *slot != slots[0])
    };
    let varying: Vec<usize> = (0..kernel.n_leaves).filter(varies).collect();
    let key = |&row: &usize| {
        let slots = varying
            .iter()
            .map(|leaf| kernel.leaves[leaf * n_rows + row]);
        slots.min()
    };
    let mut order: Vec<usize> = (0..n_rows).collect();
    order.sort_by_cached_key(key);
    order
}
