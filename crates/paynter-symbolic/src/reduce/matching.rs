//! Pairs every equation with an unknown of its own, as far as that is possible.
//!
//! In:  which row mentions which column, and pairs to start from.
//! Out: a maximum matching; what stays unpaired, and why (Dulmage–Mendelsohn).
//!
//! **Invariant:** pairs are mutual, and a pair is always an incidence.
//!
//! Method: Hopcroft & Karp 1973, at most O(E √V); with causality as the start usually
//! nothing is left to do. No recursion.

use super::graph::{Incidence, NONE};

/// Which row is paired with which column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matching {
    /// Column of each row, or [`NONE`].
    pub(crate) column_of: Vec<u32>,
    /// Row of each column, or [`NONE`].
    pub(crate) row_of: Vec<u32>,
    /// Incidences looked at, for tests of growth.
    pub(crate) work: u64,
}

impl Matching {
    /// Makes an empty matching.
    pub(crate) fn new(n_rows: usize, n_columns: usize) -> Self {
        Matching {
            column_of: vec![NONE; n_rows],
            row_of: vec![NONE; n_columns],
            work: 0,
        }
    }

    /// Pairs two that are both free; tells whether they were.
    pub(crate) fn pair(&mut self, row: u32, column: u32) -> bool {
        let are_free = self.column_of[row as usize] == NONE && self.row_of[column as usize] == NONE;
        if are_free {
            self.column_of[row as usize] = column;
            self.row_of[column as usize] = row;
        }
        are_free
    }

    fn repair(&mut self, row: u32, column: u32) {
        self.column_of[row as usize] = column;
        self.row_of[column as usize] = row;
    }
}

/// Enlarges a matching until it is maximum.
pub(crate) fn maximize(graph: &Incidence, matching: &mut Matching) {
    pair_forced(graph, matching);
    for r in 0..graph.n_rows() as u32 {
        if matching.column_of[r as usize] == NONE {
            for &c in graph.row(r) {
                matching.work += 1;
                if matching.pair(r, c) {
                    break;
                }
            }
        }
    }
    let mut search = Search::default();
    while search.layers(graph, matching) {
        let mut grown = 0;
        search.next.clear();
        search.next.resize(graph.n_rows(), 0);
        for r in 0..graph.n_rows() as u32 {
            if matching.column_of[r as usize] == NONE {
                grown += u32::from(search.augment(graph, matching, r));
            }
        }
        if grown == 0 {
            break;
        }
    }
}

/// Pairs rows that have only one free column left, again and again (Karp & Sipser 1981):
/// on the sparse graphs of physical systems this leaves little for the searches.
fn pair_forced(graph: &Incidence, matching: &mut Matching) {
    let n_columns = matching.row_of.len();
    let users = graph.transposed(n_columns);
    let mut n_free: Vec<u32> = (0..graph.n_rows() as u32)
        .map(|r| {
            let row = graph.row(r);
            row.iter()
                .filter(|&&c| matching.row_of[c as usize] == NONE)
                .count() as u32
        })
        .collect();

    let mut queue: Vec<u32> = (0..graph.n_rows() as u32)
        .filter(|&r| n_free[r as usize] == 1 && matching.column_of[r as usize] == NONE)
        .collect();
    while let Some(r) = queue.pop() {
        if matching.column_of[r as usize] != NONE {
            continue;
        }
        let row = graph.row(r);
        matching.work += row.len() as u64;
        let Some(&c) = row.iter().find(|&&c| matching.row_of[c as usize] == NONE) else {
            continue;
        };
        matching.pair(r, c);
        for &user in users.row(c) {
            matching.work += 1;
            n_free[user as usize] -= 1;
            if n_free[user as usize] == 1 && matching.column_of[user as usize] == NONE {
                queue.push(user);
            }
        }
    }
}

#[derive(Default)]
struct Search {
    /// Distance of each row from an unpaired row.
    level: Vec<u32>,
    /// First column of each row not yet tried in this phase.
    next: Vec<u32>,
    queue: Vec<u32>,
    /// (row, column by which the search left it)
    path: Vec<(u32, u32)>,
}

impl Search {
    /// Layers the rows by distance; tells whether an unpaired column was reached.
    fn layers(&mut self, graph: &Incidence, matching: &mut Matching) -> bool {
        self.level.clear();
        self.level.resize(graph.n_rows(), NONE);
        self.queue.clear();
        for r in 0..graph.n_rows() as u32 {
            if matching.column_of[r as usize] == NONE {
                self.level[r as usize] = 0;
                self.queue.push(r);
            }
        }
        let mut is_reached = false;
        let mut at = 0;
        while at < self.queue.len() {
            let r = self.queue[at];
            at += 1;
            for &c in graph.row(r) {
                matching.work += 1;
                let other = matching.row_of[c as usize];
                if other == NONE {
                    is_reached = true;
                } else if self.level[other as usize] == NONE {
                    self.level[other as usize] = self.level[r as usize] + 1;
                    self.queue.push(other);
                }
            }
        }
        is_reached
    }

    /// Finds an alternating path along the layers from an unpaired row and flips it.
    fn augment(&mut self, graph: &Incidence, matching: &mut Matching, root: u32) -> bool {
        self.path.clear();
        let mut r = root;
        loop {
            let row = graph.row(r);
            let mut step = None;
            while (self.next[r as usize] as usize) < row.len() {
                let c = row[self.next[r as usize] as usize];
                self.next[r as usize] += 1;
                matching.work += 1;
                let other = matching.row_of[c as usize];
                if other == NONE
                    || self.level[other as usize] == self.level[r as usize].wrapping_add(1)
                {
                    step = Some((c, other));
                    break;
                }
            }
            match step {
                Some((c, NONE)) => {
                    self.path.push((r, c));
                    for &(r, c) in self.path.iter().rev() {
                        matching.repair(r, c);
                    }
                    return true;
                }
                Some((c, other)) => {
                    self.path.push((r, c));
                    r = other;
                }
                None => match self.path.pop() {
                    Some((previous, _)) => r = previous,
                    None => return false,
                },
            }
        }
    }
}

/// What is reached by alternating paths from what stayed unpaired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unpaired {
    /// Rows and columns reached from unpaired rows: more equations than unknowns.
    pub(crate) over: (Vec<u32>, Vec<u32>),
    /// Rows and columns reached from unpaired columns: more unknowns than equations.
    pub(crate) under: (Vec<u32>, Vec<u32>),
}

/// Splits off the parts that have no perfect matching (Dulmage & Mendelsohn 1958).
///
/// Only columns for which `counts` holds are asked to be paired.
pub(crate) fn unpaired(
    graph: &Incidence,
    matching: &Matching,
    counts: &dyn Fn(u32) -> bool,
) -> Unpaired {
    let n_columns = matching.row_of.len();
    let over = {
        let mut seen_rows = vec![false; graph.n_rows()];
        let mut seen_columns = vec![false; n_columns];
        let mut stack: Vec<u32> = (0..graph.n_rows() as u32)
            .filter(|&r| matching.column_of[r as usize] == NONE)
            .collect();
        for &r in &stack {
            seen_rows[r as usize] = true;
        }
        while let Some(r) = stack.pop() {
            for &c in graph.row(r) {
                if std::mem::replace(&mut seen_columns[c as usize], true) {
                    continue;
                }
                let other = matching.row_of[c as usize];
                if other != NONE && !std::mem::replace(&mut seen_rows[other as usize], true) {
                    stack.push(other);
                }
            }
        }
        (numbers(&seen_rows), numbers(&seen_columns))
    };

    let under = {
        let users = graph.transposed(n_columns);
        let mut seen_rows = vec![false; graph.n_rows()];
        let mut seen_columns = vec![false; n_columns];
        let mut stack: Vec<u32> = (0..n_columns as u32)
            .filter(|&c| counts(c) && matching.row_of[c as usize] == NONE)
            .collect();
        for &c in &stack {
            seen_columns[c as usize] = true;
        }
        while let Some(c) = stack.pop() {
            for &r in users.row(c) {
                if std::mem::replace(&mut seen_rows[r as usize], true) {
                    continue;
                }
                let other = matching.column_of[r as usize];
                if other != NONE && !std::mem::replace(&mut seen_columns[other as usize], true) {
                    stack.push(other);
                }
            }
        }
        (numbers(&seen_rows), numbers(&seen_columns))
    };
    Unpaired { over, under }
}

fn numbers(seen: &[bool]) -> Vec<u32> {
    (0..seen.len() as u32)
        .filter(|&i| seen[i as usize])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph(rows: &[Vec<u32>]) -> Incidence {
        let mut g = Incidence::default();
        rows.iter().for_each(|r| g.push(r.iter().copied()));
        g
    }

    /// Kuhn's algorithm by recursion: slow and obviously right.
    fn size_by_kuhn(rows: &[Vec<u32>], n_columns: usize) -> usize {
        fn try_row(r: usize, rows: &[Vec<u32>], seen: &mut [bool], of: &mut [usize]) -> bool {
            for &c in &rows[r] {
                let c = c as usize;
                if std::mem::replace(&mut seen[c], true) {
                    continue;
                }
                if of[c] == usize::MAX || try_row(of[c], rows, seen, of) {
                    of[c] = r;
                    return true;
                }
            }
            false
        }
        let mut of = vec![usize::MAX; n_columns];
        (0..rows.len())
            .filter(|&r| try_row(r, rows, &mut vec![false; n_columns], &mut of))
            .count()
    }

    proptest! {
        #[test]
        fn as_many_pairs_as_by_exhaustive_search(
            rows in prop::collection::vec(prop::collection::vec(0u32..9, 0..4), 0..12)
        ) {
            let g = graph(&rows);
            let mut m = Matching::new(rows.len(), 9);
            maximize(&g, &mut m);
            let size = m.column_of.iter().filter(|&&c| c != NONE).count();
            prop_assert_eq!(size, size_by_kuhn(&rows, 9));
            for (r, &c) in m.column_of.iter().enumerate() {
                if c != NONE {
                    prop_assert!(rows[r].contains(&c));
                    prop_assert_eq!(m.row_of[c as usize], r as u32);
                }
            }
            // Hall: the over-determined part has exactly the deficit more rows than columns.
            let parts = unpaired(&g, &m, &|_| true);
            prop_assert_eq!(parts.over.0.len() - parts.over.1.len(), rows.len() - size);
            prop_assert_eq!(parts.under.1.len() - parts.under.0.len(), 9 - size);
        }
    }

    #[test]
    fn a_long_chain_is_paired_in_linear_work() {
        // Row i mentions columns i and i + 1, the last row only its first: every pair is forced,
        // but a search from the wrong end would run through the whole chain each time.
        let work = |n: u32| {
            let mut g = Incidence::default();
            (0..n).for_each(|i| g.push((i..n).take(2)));
            let mut m = Matching::new(n as usize, n as usize);
            maximize(&g, &mut m);
            assert!(m.column_of.iter().all(|&c| c != NONE));
            m.work
        };
        assert!(work(100_000) < 11 * work(10_000));
    }
}
