//! The order in which rows of a symmetric matrix are eliminated so that few new entries appear.
//!
//! In:  for each row the others it has an entry with.
//! Out: the order, and for each place in it the rows that still had an entry with it: the pattern of the factor.
//!
//! Rows with the fewest neighbours left come first (minimum degree; Tinney & Walker 1967): on a tree from the leaves,
//! which makes no new entries.
//!
//! **Invariant:** the order depends on the pattern alone; of rows alike the first comes first.

use std::collections::BTreeSet;

/// An order of elimination.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elimination {
    /// Row that is eliminated as number k.
    pub order: Vec<u32>,
    /// For each place in the order the neighbours that are left, by row, ascending.
    pub fill: Vec<Vec<u32>>,
}

/// Orders rows so that each is eliminated when it has the fewest neighbours left.
pub(crate) fn minimum_degree(mut neighbours: Vec<Vec<u32>>) -> Elimination {
    let m = neighbours.len();
    let mut by_degree: BTreeSet<(usize, u32)> =
        (0..m).map(|r| (neighbours[r].len(), r as u32)).collect();
    let mut order = Vec::with_capacity(m);
    let mut fill = Vec::with_capacity(m);
    let mut merged = Vec::new();
    while let Some((_, row)) = by_degree.pop_first() {
        let around = std::mem::take(&mut neighbours[row as usize]);
        for &other in &around {
            let own = &mut neighbours[other as usize];
            by_degree.remove(&(own.len(), other));
            unite(own, &around, (row, other), &mut merged);
            std::mem::swap(own, &mut merged);
            by_degree.insert((own.len(), other));
        }
        order.push(row);
        fill.push(around);
    }
    Elimination { order, fill }
}

/// Writes the union of two ascending lists without the two rows `but`.
fn unite(a: &[u32], b: &[u32], but: (u32, u32), into: &mut Vec<u32>) {
    into.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) => x,
            (None, Some(&y)) => y,
            (None, None) => break,
        };
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
        if next != but.0 && next != but.1 {
            into.push(next);
        }
    }
}
