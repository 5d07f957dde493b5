//! The first placement: the main line, then everything else near what it is joined to.
//!
//! In:  a board without places, or with those given in the text.
//! Out: the same board with a place for every node.

use super::{Board, Cell, Role};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

impl Board {
    pub(super) fn build(&mut self) {
        for node in 0..self.cells.len() {
            // Two nodes pinned to one cell: the second is placed nearby.
            if let Some(cell) = self.pins[node].filter(|c| !self.taken.contains_key(c)) {
                self.put(node, cell);
            }
        }
        for part in self.components() {
            if part.iter().all(|&k| !self.is_placed[k]) {
                let below = self.taken.keys().map(|c| c.1 + 3).max().unwrap_or(0);
                let line = self.main_line(&part);
                self.mark_main(&line);
                for (x, node) in line.into_iter().enumerate() {
                    self.put(node, (x as i32, below));
                }
            }
            self.hang(&part);
        }
    }

    /// Connected parts, the largest first.
    pub(super) fn components(&self) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.cells.len()];
        let mut parts = Vec::new();
        for start in 0..self.cells.len() {
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            let mut part = vec![start];
            let mut next = 0;
            while next < part.len() {
                let near: Vec<usize> = self.neighbours(part[next]).collect();
                for k in near {
                    if !std::mem::replace(&mut seen[k], true) {
                        part.push(k);
                    }
                }
                next += 1;
            }
            part.sort_unstable();
            parts.push(part);
        }
        parts.sort_by_key(|p| (std::cmp::Reverse(p.len()), p[0]));
        parts
    }

    /// The longest of the shortest ways between a source's junction and another core node.
    pub(super) fn main_line(&self, part: &[usize]) -> Vec<usize> {
        let is_core = |k: usize| matches!(self.roles[k], Role::Core | Role::TwoPort);
        let core: Vec<usize> = part.iter().copied().filter(|&k| is_core(k)).collect();
        let Some(&first) = core.first() else {
            return part[..1].to_vec();
        };
        let mut starts: Vec<usize> = part
            .iter()
            .filter(|&&k| self.roles[k] == Role::Source)
            .flat_map(|&k| self.neighbours(k))
            .filter(|&k| is_core(k))
            .collect();
        if starts.is_empty() {
            // The end of a longest way from anywhere is an end of a longest way in a tree.
            starts.extend(self.farthest(first, &is_core).last());
        }
        starts.sort_unstable();
        starts.dedup();

        // A handful of starts is enough to find a long line; each costs a walk over the graph.
        starts.truncate(24);
        let mut best: Vec<usize> = Vec::new();
        for start in starts {
            let line = self.farthest(start, &is_core);
            if line.len() > best.len() {
                best = line;
            }
        }

        // Power goes from left to right, for most of the line.
        let goes_on = |a: usize, b: usize| {
            self.edges_at[a]
                .iter()
                .any(|&e| self.edges[e].tail == a && self.edges[e].head == b)
        };
        let n_forward = best.windows(2).filter(|p| goes_on(p[0], p[1])).count();
        let n_backward = best.windows(2).filter(|p| goes_on(p[1], p[0])).count();
        if n_backward > n_forward {
            best.reverse();
        }
        best
    }

    pub(super) fn mark_main(&mut self, line: &[usize]) {
        let follows = |a: usize, b: usize| line.windows(2).any(|p| p[0] == a && p[1] == b);
        for edge in self.edges.iter_mut().filter(|e| !e.is_signal) {
            edge.is_main |= follows(edge.tail, edge.head) || follows(edge.head, edge.tail);
        }
    }

    /// The way from a core node to the farthest other.
    fn farthest(&self, start: usize, is_core: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let mut from: FxHashMap<usize, (usize, usize)> = FxHashMap::default();
        from.insert(start, (start, 0));
        let mut queue = VecDeque::from([start]);
        let mut far = (0, start);
        while let Some(k) = queue.pop_front() {
            let steps = from[&k].1;
            if steps > far.0 {
                far = (steps, k);
            }
            for &e in &self.edges_at[k] {
                let edge = self.edges[e];
                let near = if edge.tail == k { edge.head } else { edge.tail };
                if !edge.is_signal && is_core(near) && !from.contains_key(&near) {
                    from.insert(near, (k, steps + 1));
                    queue.push_back(near);
                }
            }
        }
        let mut line = vec![far.1];
        while let Some(&last) = line.last() {
            let before = from[&last].0;
            if before == last {
                break;
            }
            line.push(before);
        }
        line.reverse();
        line
    }

    /// Places the rest of a part, core first, each at the cheapest free cell near its neighbours.
    fn hang(&mut self, part: &[usize]) {
        let is_late = Role::is_leaf;
        for late in [false, true] {
            let mut waiting: VecDeque<usize> = part
                .iter()
                .copied()
                .filter(|&k| !self.is_placed[k] && is_late(self.roles[k]) == late)
                .collect();
            let mut n_turned_away = 0;
            while let Some(node) = waiting.pop_front() {
                let has_ground = self.neighbours(node).any(|k| self.is_placed[k]);
                if !has_ground && n_turned_away <= waiting.len() {
                    waiting.push_back(node);
                    n_turned_away += 1;
                    continue;
                }
                n_turned_away = 0;
                self.hang_one(node);
            }
        }
    }

    fn hang_one(&mut self, node: usize) {
        let mut near: Vec<Cell> = self
            .neighbours(node)
            .filter(|&k| self.is_placed[k])
            .map(|k| self.cells[k])
            .collect();
        if near.is_empty() {
            let below = self.taken.keys().map(|c| c.1 + 2).max().unwrap_or(0);
            near.push((0, below));
        }
        near.sort_unstable();
        near.dedup();
        let mut best: Option<(f64, Cell)> = None;
        let mut radius = 2;
        while best.is_none() {
            for &(x, y) in near.iter().take(6) {
                for dy in -radius..=radius {
                    for dx in -radius..=radius {
                        let cell = (x + dx, y + dy);
                        if self.taken.contains_key(&cell) {
                            continue;
                        }
                        self.cells[node] = cell;
                        self.is_placed[node] = true;
                        self.draw_lines(node);
                        let cost = self.cost_at(&[node]);
                        if best.is_none_or(|(least, _)| cost < least - 1e-9) {
                            best = Some((cost, cell));
                        }
                    }
                }
            }
            radius *= 2;
        }

        if let Some((_, cell)) = best {
            self.put(node, cell);
        }
    }
}
