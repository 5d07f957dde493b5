//! Orders variables so that a sparse matrix has a narrow band.
//!
//! In:  a pattern, taken as symmetric.
//! Out: the variables in their new sequence. Reverse Cuthill–McKee from a vertex far from all
//!      others (George & Liu 1981, ch. 4). Time linear in the entries, up to sorting.

use crate::system::Pattern;

/// Returns the variables of `pattern` in an order of narrow band.
pub(crate) fn reverse_cuthill_mckee(pattern: &Pattern) -> Vec<usize> {
    let n = pattern.n();
    let graph = Graph::new(pattern);
    let mut is_placed = vec![false; n];
    let mut depth = vec![usize::MAX; n];
    let mut order = Vec::with_capacity(n);
    let mut by_degree: Vec<usize> = (0..n).collect();
    by_degree.sort_by_key(|&v| graph.neighbours(v).len());

    for &seed in &by_degree {
        if is_placed[seed] {
            continue;
        }
        let start = graph.far_vertex(seed, &mut depth);
        let first = order.len();
        order.push(start);
        is_placed[start] = true;
        let mut next = first;
        while next < order.len() {
            let vertex = order[next];
            next += 1;
            let sorted_from = order.len();
            for &other in graph.neighbours(vertex) {
                if !is_placed[other] {
                    is_placed[other] = true;
                    order.push(other);
                }
            }
            order[sorted_from..].sort_by_key(|&v| (graph.neighbours(v).len(), v));
        }
    }

    order.reverse();
    order
}

/// Neighbours in the symmetric pattern, without the diagonal.
struct Graph {
    starts: Vec<usize>,
    neighbours: Vec<usize>,
}

impl Graph {
    fn new(pattern: &Pattern) -> Self {
        let n = pattern.n();
        let mut pairs = Vec::with_capacity(2 * pattern.n_entries());
        for column in 0..n {
            for &row in pattern.column(column) {
                if row != column {
                    pairs.push((row, column));
                    pairs.push((column, row));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; n + 1];
        for &(vertex, _) in &pairs {
            starts[vertex + 1] += 1;
        }
        for vertex in 0..n {
            starts[vertex + 1] += starts[vertex];
        }
        let neighbours = pairs.into_iter().map(|(_, other)| other).collect();
        Self { starts, neighbours }
    }

    fn neighbours(&self, vertex: usize) -> &[usize] {
        &self.neighbours[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// Walks to a vertex of greatest distance, twice: enough to reach an end of a chain.
    /// `depth` is scratch and is left as it was found.
    fn far_vertex(&self, seed: usize, depth: &mut [usize]) -> usize {
        let mut start = seed;
        for _ in 0..2 {
            let mut queue = vec![start];
            depth[start] = 0;
            let mut next = 0;
            while next < queue.len() {
                let vertex = queue[next];
                next += 1;
                for &other in self.neighbours(vertex) {
                    if depth[other] == usize::MAX {
                        depth[other] = depth[vertex] + 1;
                        queue.push(other);
                    }
                }
            }
            let farthest = queue.iter().map(|&v| depth[v]).max().unwrap_or(0);
            start = queue
                .iter()
                .copied()
                .filter(|&v| depth[v] == farthest)
                .min_by_key(|&v| self.neighbours(v).len())
                .unwrap_or(start);
            for vertex in queue {
                depth[vertex] = usize::MAX;
            }
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bandwidth(pattern: &Pattern, order: &[usize]) -> usize {
        let mut position = vec![0; order.len()];
        for (place, &vertex) in order.iter().enumerate() {
            position[vertex] = place;
        }
        (0..pattern.n())
            .flat_map(|c| pattern.column(c).iter().map(move |&r| (r, c)))
            .map(|(r, c)| position[r].abs_diff(position[c]))
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn a_shuffled_chain_becomes_tridiagonal() {
        let n = 1009;
        // A permutation, since 1009 is prime.
        let name = |i: usize| i * 331 % n;
        let entries: Vec<_> = (0..n - 1).map(|i| (name(i), name(i + 1))).collect();
        let pattern = Pattern::from_entries(n, &entries).expect("entries lie inside");
        let order = reverse_cuthill_mckee(&pattern);
        assert_eq!(bandwidth(&pattern, &order), 1);
    }

    #[test]
    fn every_vertex_is_placed_once_even_without_neighbours() {
        let pattern = Pattern::from_entries(5, &[(0, 3), (4, 4)]).expect("entries lie inside");
        let mut order = reverse_cuthill_mckee(&pattern);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }
}
