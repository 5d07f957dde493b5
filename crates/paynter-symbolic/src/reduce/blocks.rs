//! Groups equations that need each other and puts the groups in the order of solution.
//!
//! In:  a perfect matching and which row mentions which column.
//! Out: groups of rows; what a group reads comes from itself and from groups before it.
//!
//! **Invariant:** each row is in exactly one group; groups are as small as possible.
//!
//! Method: strongly connected components (Tarjan 1972) with explicit stacks.

use super::graph::{Incidence, NONE};

/// Groups `rows` by mutual need. A row needs the row paired with each column it mentions;
/// `row_of` gives that row or [`NONE`] for columns that are known.
pub(crate) fn sort_blocks(
    graph: &Incidence,
    row_of: &[u32],
    rows: &[u32],
    work: &mut u64,
) -> Vec<Vec<u32>> {
    let n = graph.n_rows();
    let mut index = vec![NONE; n];
    let mut low = vec![0u32; n];
    let mut is_open = vec![false; n];
    let mut open: Vec<u32> = Vec::new();

    // (row, next of its columns)
    let mut calls: Vec<(u32, u32)> = Vec::new();
    let mut blocks = Vec::new();
    let mut n_seen = 0;
    for &root in rows {
        if index[root as usize] != NONE {
            continue;
        }
        calls.push((root, 0));
        while let Some((r, at)) = calls.pop() {
            let row = r as usize;
            if at == 0 {
                index[row] = n_seen;
                low[row] = n_seen;
                n_seen += 1;
                open.push(r);
                is_open[row] = true;
            }
            if let Some(&c) = graph.row(r).get(at as usize) {
                *work += 1;
                calls.push((r, at + 1));
                let other = row_of[c as usize];
                if other == NONE || other == r {
                    continue;
                }
                if index[other as usize] == NONE {
                    calls.push((other, 0));
                } else if is_open[other as usize] {
                    low[row] = low[row].min(index[other as usize]);
                }
                continue;
            }
            if low[row] == index[row] {
                let start = open
                    .iter()
                    .rposition(|&o| o == r)
                    .expect("a row is open until closed");
                let block = open.split_off(start);
                block.iter().for_each(|&o| is_open[o as usize] = false);
                blocks.push(block);
            }
            if let Some(&(caller, _)) = calls.last() {
                low[caller as usize] = low[caller as usize].min(low[row]);
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(rows: &[&[u32]]) -> Vec<Vec<u32>> {
        let mut g = Incidence::default();
        rows.iter().for_each(|r| g.push(r.iter().copied()));
        let row_of: Vec<u32> = (0..rows.len() as u32).collect();
        let all: Vec<u32> = row_of.clone();
        sort_blocks(&g, &row_of, &all, &mut 0)
    }

    #[test]
    fn what_is_needed_comes_first() {
        assert_eq!(sorted(&[&[0, 1], &[1, 2], &[2]]), [[2], [1], [0]]);
    }

    #[test]
    fn a_ring_is_one_block_before_its_user() {
        let blocks = sorted(&[&[0, 1], &[1, 2], &[2, 3], &[3, 1]]);
        assert_eq!(blocks, [vec![1, 2, 3], vec![0]]);
    }

    #[test]
    fn a_million_rows_in_a_chain_and_in_a_ring_need_no_recursion() {
        let n = 1_000_000u32;
        let mut g = Incidence::default();
        (0..n).for_each(|i| g.push([i, (i + 1) % n]));
        let row_of: Vec<u32> = (0..n).collect();
        let mut work = 0;
        assert_eq!(sort_blocks(&g, &row_of, &row_of, &mut work).len(), 1);
        let mut chain = Incidence::default();
        (0..n).for_each(|i| chain.push([i, (i + 1).min(n - 1)]));
        assert_eq!(
            sort_blocks(&chain, &row_of, &row_of, &mut work).len(),
            1_000_000
        );
        assert!(work <= 4 * u64::from(n));
    }
}
