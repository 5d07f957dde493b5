//! A sweep cut into shards that run on different machines, and put together again.
//!
//! In:  a design with sweeps and `i/n`; or the tables of all n shards.
//! Out: the table of one shard, which says what it is a part of; or the table of the whole sweep.
//!
//! **Invariant:** the table put together is the one that the whole sweep gives in one piece, bit for bit.
//! Shards of another text, with other values or of another cut are refused, as are missing and double ones.

use crate::run::{Fnv, hash_texts};
use crate::sweep::Point;
use crate::sweep_table::to_table;
use paynter_design::design::Design;
use paynter_model::experiment::SweepSetting;
use paynter_run::table::{Column, Table};
use std::collections::BTreeSet;
use std::hash::{Hash as _, Hasher as _};
use std::ops::Range;

/// One of n equal parts of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 0.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

/// Facts of a shard's table: which one it is, how many points the sweep has, and of what.
const SHARD: &str = "shard";
const POINTS: &str = "points of the sweep";
const SWEEP_HASH: &str = "sweep_hash";

impl Shard {
    /// Reads `3/8`: the third of eight.
    ///
    /// # Errors
    ///
    /// What to write instead.
    pub fn parse(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| {
            let (i, n): (usize, usize) = (i.trim().parse().ok()?, n.trim().parse().ok()?);
            (1..=n).contains(&i).then_some((i, n))
        });
        match numbers {
            Some((i, count)) => Ok(Shard {
                index: i - 1,
                count,
            }),
            None => Err(format!(
                "`{text}` is not a shard; write 1/8 for the first of eight, up to 8/8"
            )),
        }
    }

    /// Its points in a sweep of so many.
    pub fn range(self, n_points: usize) -> Range<usize> {
        let cut = |k: usize| (n_points as u128 * k as u128 / self.count as u128) as usize;
        cut(self.index)..cut(self.index + 1)
    }

    fn name(self) -> String {
        format!("{}/{}", self.index + 1, self.count)
    }
}

/// What a shard is a part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Which part.
    pub shard: Shard,
    /// Points of the whole sweep.
    pub n_points: usize,
    /// What [`sweep_hash`] gives for the whole sweep.
    pub hash: String,
}

impl Cut {
    /// A part of all sweeps of a design.
    pub fn new(design: &Design, shard: Shard) -> Cut {
        Cut {
            shard,
            n_points: design.plan.n_points(),
            hash: sweep_hash(design),
        }
    }
}

/// A text that changes with the texts of a design and with the values that it is swept over.
pub fn sweep_hash(design: &Design) -> String {
    let mut hash = Fnv::new();
    hash_texts(design, &mut hash);
    let plan = &design.plan;
    (plan.name.as_deref(), plan.is_paired).hash(&mut hash);
    for sweep in &plan.sweeps {
        sweep.values.len().hash(&mut hash);
        for value in &sweep.values {
            value.label.hash(&mut hash);
            if let SweepSetting::Number(x, _) = value.setting {
                x.to_bits().hash(&mut hash);
            }
        }
    }
    format!("{:016x}", hash.finish())
}

/// The table of one shard.
pub fn shard_table(design: &Design, cut: &Cut, points: &[Point]) -> Table {
    let mut table = to_table(design, points);
    table.metadata.extend([
        (SHARD.to_owned(), cut.shard.name()),
        (POINTS.to_owned(), cut.n_points.to_string()),
        (SWEEP_HASH.to_owned(), cut.hash.clone()),
    ]);
    table
}

/// Puts the shards of one sweep together, given with the names of their files in any order.
///
/// # Errors
///
/// Which file does not belong to the others, or which shards are missing.
pub fn merge(shards: Vec<(String, Table)>) -> Result<Table, String> {
    let parts = parts_of_one(shards)?;
    let count = parts[0].shard.count;
    let is_there = |index: &usize| parts.iter().any(|p| p.shard.index == *index);
    let missing: Vec<String> = (0..count)
        .filter(|index| !is_there(index))
        .map(|index| Shard { index, count }.name())
        .take(MOST_NAMED)
        .collect();
    if !missing.is_empty() {
        return Err(format!("shards are missing: {}", missing.join(", ")));
    }
    Ok(together(parts))
}

/// As many missing shards as a message names.
const MOST_NAMED: usize = 20;

/// As [`merge`], for a sweep that was broken off: shards may be missing.
///
/// # Errors
///
/// Which file does not belong to the others.
pub fn merge_some(shards: Vec<(String, Table)>) -> Result<Table, String> {
    parts_of_one(shards).map(together)
}

/// Reads the shards of one sweep in their order.
fn parts_of_one(shards: Vec<(String, Table)>) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    for (file, table) in shards {
        parts.push(Part::read(file, table)?);
    }
    parts.sort_by_key(|part| part.shard.index);
    let Some(first) = parts.first() else {
        return Err("no shards were given".to_owned());
    };
    for pair in parts.windows(2) {
        if pair[0].shard == pair[1].shard {
            let (a, b) = (&pair[0].file, &pair[1].file);
            return Err(format!("{a} and {b} are the same shard"));
        }
    }
    if let Some(other) = parts.iter().find(|p| !p.belongs_to(first)) {
        let (a, b) = (&first.file, &other.file);
        return Err(format!("{b} is not a shard of the same sweep as {a}"));
    }
    for part in &parts {
        part.check_rows()?;
    }
    Ok(parts)
}

/// One shard as it was read.
struct Part {
    file: String,
    table: Table,
    shard: Shard,
    n_points: usize,
}

impl Part {
    fn read(file: String, table: Table) -> Result<Part, String> {
        let shard = table.fact(SHARD).and_then(|s| Shard::parse(s).ok());
        let n_points = table.fact(POINTS).and_then(|n| n.parse().ok());
        match (shard, n_points) {
            (Some(shard), Some(n_points)) => Ok(Part {
                file,
                table,
                shard,
                n_points,
            }),
            _ => Err(format!(
                "{file} is not a shard; shards are written by `paynter sweep --shard i/n`"
            )),
        }
    }

    fn belongs_to(&self, other: &Part) -> bool {
        let names =
            |t: &Table| -> Vec<String> { t.columns.iter().map(|c| c.name.clone()).collect() };
        self.shard.count == other.shard.count
            && self.n_points == other.n_points
            && self.table.fact(SWEEP_HASH) == other.table.fact(SWEEP_HASH)
            && names(&self.table) == names(&other.table)
    }

    /// Every point of the shard, once and in order.
    fn check_rows(&self) -> Result<(), String> {
        let wanted = self.shard.range(self.n_points).map(|k| (k + 1) as f64);
        match wanted.eq(self.table.time.iter().copied()) {
            true => Ok(()),
            false => Err(format!(
                "{} does not have the points of its shard",
                self.file
            )),
        }
    }
}

fn together(parts: Vec<Part>) -> Table {
    let is_own = |key: &str| [SHARD, POINTS, SWEEP_HASH].contains(&key);
    let mut whole = Table {
        axis: parts[0].table.axis.clone(),
        columns: parts[0].table.columns.iter().map(without_values).collect(),
        ..Table::default()
    };
    let mut known = BTreeSet::new();
    for Part { table, .. } in parts {
        whole.time.extend(table.time);
        for (all, part) in whole.columns.iter_mut().zip(table.columns) {
            all.values.extend(part.values);
            // A shard whose points all failed does not know the units of its measures.
            if all.unit.is_empty() {
                all.unit = part.unit;
            }
        }
        for (key, value) in table.metadata {
            if !is_own(&key) && known.insert(key.clone()) {
                whole.metadata.push((key, value));
            }
        }
    }
    whole
}

fn without_values(column: &Column) -> Column {
    Column {
        values: Vec::new(),
        ..column.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_a_sweep_once() {
        for n_points in [0, 1, 7, 8, 1000] {
            for count in 1..12 {
                let all: Vec<usize> = (0..count)
                    .flat_map(|index| Shard { index, count }.range(n_points))
                    .collect();
                assert!(all.into_iter().eq(0..n_points));
            }
        }
    }

    #[test]
    fn only_shards_are_read() {
        assert_eq!(Shard::parse("3/8"), Ok(Shard { index: 2, count: 8 }));
        for text in ["0/8", "9/8", "3", "a/b", "-1/2", "1/0", ""] {
            assert!(Shard::parse(text).is_err(), "{text}");
        }
    }
}
