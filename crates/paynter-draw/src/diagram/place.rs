//! Gives every node a cell of a grid, so that the drawing looks drawn by a person.
//!
//! In:  a view and its signals.
//! Out: one cell for each node, no two the same.
//!
//! First the main line: the longest way of power from a source, left to right. Then everything
//! else, one by one, to the cheapest free cell nearby, one-ports last. Then small changes (move,
//! swap, move a junction with its one-ports, turn over a submodel, shift a half) as long as they
//! pay, with a little threshold annealing from a fixed seed against local minima.
//! Opened submodels are laid out by themselves first and then as blocks among the others.
//!
//! **Invariant:** a node with a place in the text keeps it; equal views give equal cells; the
//! work is bounded by [`MAX_WORK`], whatever the model.

use super::geometry::{cross, distance};
use super::view::View;
use super::{NodeKind, Point};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A cell: column and row, rows downwards.
pub(super) type Cell = (i32, i32);

/// Width and height of a cell where places are given in the text, in points.
pub(super) const PITCH: Point = (96.0, 72.0);

/// Cells of all nodes, and whether they are on the fixed pitch of given places.
#[derive(Clone, Debug, Default)]
pub(super) struct Placement {
    pub cells: Vec<Cell>,
    /// Some places were given, so columns and rows have the fixed [`PITCH`].
    pub is_pinned: bool,
}

/// Pairs of things looked at, at most: about a second of work.
const MAX_WORK: u64 = 60_000_000;

/// Ways to place a view that differ by chance only.
pub(super) const N_TRIES: usize = SEEDS.len();

/// Starts of the random numbers; any would do, and these are from the golden ratio, π, e and √2.
const SEEDS: [u64; 4] = [
    0x9e37_79b9_7f4a_7c15,
    0x2436_f6a8_885a_308d,
    0xb7e1_5162_8aed_2a6b,
    0x6a09_e667_f3bc_c908,
];

/// Places the nodes of a view, in one of [`N_TRIES`] ways.
pub(super) fn place(view: &View, signals: &[(usize, usize)], number_of_try: usize) -> Placement {
    let seed = SEEDS[number_of_try % N_TRIES];
    let is_pinned = view.nodes.iter().any(|n| n.pinned.is_some());
    let mut board = Board::of_view(view, signals);
    if is_pinned || view.frames.is_empty() {
        board.build();
    } else {
        for part in board.components() {
            let line = board.main_line(&part);
            board.mark_main(&line);
        }
        board.put_all(place_blocks(view, signals, seed));
    }
    board.improve(seed);
    Placement {
        cells: board.normalized(is_pinned),
        is_pinned,
    }
}

/// Lays out each submodel by itself, innermost first, then as a block in what surrounds it.
fn place_blocks(view: &View, signals: &[(usize, usize)], seed: u64) -> Vec<Cell> {
    let n_frames = view.frames.len();
    // Inside of each frame, and of the whole drawing as the last: (member, cell in the frame).
    let mut inside: Vec<Vec<(usize, Cell)>> = vec![Vec::new(); n_frames + 1];
    let level_of = |frame: Option<usize>| frame.unwrap_or(n_frames);
    let order = (0..n_frames).rev().chain([n_frames]);
    for level in order {
        let own: Vec<usize> = (0..view.nodes.len())
            .filter(|&k| level_of(view.nodes[k].frame) == level)
            .collect();
        let blocks: Vec<usize> = (0..n_frames)
            .filter(|&f| level_of(view.frames[f].parent) == level)
            .collect();
        let mut item_of: FxHashMap<usize, usize> =
            own.iter().enumerate().map(|(i, &k)| (k, i)).collect();
        for (i, &f) in blocks.iter().enumerate() {
            item_of.extend(inside[f].iter().map(|&(k, _)| (k, own.len() + i)));
        }
        let mut board = Board::of_items(view, signals, &own, blocks.len(), &item_of);
        board.build();

        board.improve(seed);
        let cells = trimmed(&board.cells[..own.len() + blocks.len()]);
        inside[level] = expand(&cells, &own, &blocks, &inside);
    }
    let mut cells = vec![(0, 0); view.nodes.len()];
    for &(k, cell) in &inside[n_frames] {
        cells[k] = cell;
    }
    cells
}

/// Widens the columns and rows in which blocks stand, and puts their insides there.
fn expand(
    cells: &[Cell],
    own: &[usize],
    blocks: &[usize],
    inside: &[Vec<(usize, Cell)>],
) -> Vec<(usize, Cell)> {
    let size = |item: usize| match item.checked_sub(own.len()) {
        None => (1, 1),
        Some(b) => inside[blocks[b]].iter().fold((1, 1), |s: Cell, (_, c)| {
            (s.0.max(c.0 + 1), s.1.max(c.1 + 1))
        }),
    };
    let columns = cells.iter().map(|c| c.0 + 1).max().unwrap_or(0) as usize;
    let rows = cells.iter().map(|c| c.1 + 1).max().unwrap_or(0) as usize;
    let (mut widths, mut heights) = (vec![1; columns], vec![1; rows]);
    for (item, cell) in cells.iter().enumerate() {
        let (w, h) = size(item);
        let (c, r) = (cell.0 as usize, cell.1 as usize);
        (widths[c], heights[r]) = (widths[c].max(w), heights[r].max(h));
    }
    let start = |sizes: &[i32], at: i32| -> i32 { sizes[..at as usize].iter().sum() };
    let mut out = Vec::new();
    for (item, cell) in cells.iter().enumerate() {
        let (w, h) = size(item);
        let x = start(&widths, cell.0) + (widths[cell.0 as usize] - w) / 2;
        let y = start(&heights, cell.1) + (heights[cell.1 as usize] - h) / 2;
        match item.checked_sub(own.len()) {
            None => out.push((own[item], (x, y))),
            Some(b) => out.extend(
                inside[blocks[b]]
                    .iter()
                    .map(|&(k, c)| (k, (x + c.0, y + c.1))),
            ),
        }
    }
    out
}

/// Cells counted from zero.
fn trimmed(cells: &[Cell]) -> Vec<Cell> {
    let left = cells.iter().map(|c| c.0).min().unwrap_or(0);
    let top = cells.iter().map(|c| c.1).min().unwrap_or(0);
    cells.iter().map(|c| (c.0 - left, c.1 - top)).collect()
}

/// What costs how much. A unit is one cell of length; the rest was weighed by looking at drawings.
mod price {
    /// For every cell of length beyond the first.
    pub(super) const LENGTH: f64 = 1.0;
    /// An edge at 45°.
    pub(super) const DIAGONAL: f64 = 2.2;
    /// An edge at any other angle.
    pub(super) const SLANTED: f64 = 3.4;
    /// Two edges cross.
    pub(super) const CROSSING: f64 = 6.0;
    /// An edge passes over a node.
    pub(super) const COVERED: f64 = 9.0;
    /// Power goes from right to left.
    pub(super) const BACKWARDS: f64 = 0.3;
    /// A one-port hangs sideways.
    pub(super) const SIDEWAYS: f64 = 0.25;
    /// A storage hangs above its junction, or a resistor below. Little, but it settles draws, so
    /// that a small edit does not turn things over.
    pub(super) const UPSIDE_DOWN: f64 = 0.08;
    /// A source stands elsewhere than at the left.
    pub(super) const SOURCE_ASIDE: f64 = 0.5;
    /// The main line leaves its row.
    pub(super) const BENT: f64 = 0.8;
    /// The two bonds of a two-port make a corner.
    pub(super) const CORNER: f64 = 0.9;
    /// Two bonds leave a node in nearly one direction.
    pub(super) const NARROW: f64 = 2.0;
    /// A node stands in the frame of a submodel that is not its own.
    pub(super) const STRANGER: f64 = 12.0;
    /// For every cell of the length of a signal.
    pub(super) const SIGNAL: f64 = 0.12;
}

/// Rows are lower than columns are wide; angles and distances count that.
const ROW_HEIGHT: f64 = 0.8;
/// An edge that passes the middle of a node nearer than this covers it.
const NEAR: f64 = 0.42;

/// Annealing has to save this much, in cells of length, to be taken.
const MIN_GAIN: f64 = 1.5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Core,
    TwoPort,
    Source,
    /// A one-port that is drawn above its junction if it has the choice.
    UpperLeaf,
    Leaf,
}

impl Role {
    /// Hangs on one node only.
    fn is_leaf(self) -> bool {
        matches!(self, Role::Source | Role::UpperLeaf | Role::Leaf)
    }
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    tail: usize,
    head: usize,
    is_signal: bool,
    /// On the main line, which should be straight.
    is_main: bool,
}

/// Nodes on a grid.
#[derive(Clone)]
struct Board {
    roles: Vec<Role>,
    edges: Vec<Edge>,
    edges_at: Vec<Vec<usize>>,
    /// Members of each frame.
    frames: Vec<Vec<usize>>,
    is_member: Vec<Vec<bool>>,
    /// Frames that contain one another may share cells.
    is_nested: Vec<Vec<bool>>,
    is_pinned: Vec<bool>,
    pins: Vec<Option<Cell>>,
    cells: Vec<Cell>,
    is_placed: Vec<bool>,
    taken: FxHashMap<Cell, usize>,
    work: u64,
}

impl Board {
    fn of_view(view: &View, signals: &[(usize, usize)]) -> Board {
        let own: Vec<usize> = (0..view.nodes.len()).collect();
        let item_of = own.iter().map(|&k| (k, k)).collect();
        let mut board = Board::of_items(view, signals, &own, 0, &item_of);
        let mut members = vec![Vec::new(); view.frames.len()];
        for (k, node) in view.nodes.iter().enumerate() {
            let mut at = node.frame;
            while let Some(f) = at {
                members[f].push(k);
                at = view.frames[f].parent;
            }
        }
        let contains = |outer: usize, inner: usize| {
            std::iter::successors(Some(inner), |&f| view.frames[f].parent).any(|f| f == outer)
        };
        board.is_nested = (0..members.len())
            .map(|a| {
                (0..members.len())
                    .map(|b| contains(a, b) || contains(b, a))
                    .collect()
            })
            .collect();
        board.is_member = members
            .iter()
            .map(|m| {
                (0..view.nodes.len())
                    .map(|k| m.binary_search(&k).is_ok())
                    .collect()
            })
            .collect();
        board.frames = members;
        board
    }

    /// A board of some nodes of a view and of blocks.
    fn of_items(
        view: &View,
        signals: &[(usize, usize)],
        own: &[usize],
        n_blocks: usize,
        item_of: &FxHashMap<usize, usize>,
    ) -> Board {
        let mut n = own.len() + n_blocks;
        let mut edges: Vec<Edge> = Vec::new();
        let bonds = view.edges.iter().map(|e| (e.tail, e.head, false));
        let arrows = signals.iter().map(|&(from, to)| (from, to, true));
        for (tail, head, is_signal) in bonds.chain(arrows) {
            let (tail, head) = match (item_of.get(&tail), item_of.get(&head)) {
                (Some(&tail), Some(&head)) if tail != head => (tail, head),
                // A bond to the outside: a stub keeps one side of the port free for it.
                (Some(&tail), None) if !is_signal => (tail, n),
                (None, Some(&head)) if !is_signal => (n, head),
                _ => continue,
            };
            n = n.max(tail.max(head) + 1);
            edges.push(Edge {
                tail,
                head,
                is_signal,
                is_main: false,
            });
        }
        let mut edges_at = vec![Vec::new(); n];
        for (index, edge) in edges.iter().enumerate() {
            edges_at[edge.tail].push(index);
            edges_at[edge.head].push(index);
        }
        let role = |item: usize| {
            let n_bonds = edges_at[item]
                .iter()
                .filter(|&&e| !edges[e].is_signal)
                .count();
            match own.get(item).map(|&k| &view.nodes[k]) {
                Some(node) if n_bonds <= 1 && node.is_source => Role::Source,
                Some(node) if n_bonds <= 1 && node.is_resistor => Role::UpperLeaf,
                Some(node) if n_bonds <= 1 && node.kind != NodeKind::Closed => Role::Leaf,
                Some(node) if node.kind == NodeKind::TwoPort => Role::TwoPort,
                None if item >= own.len() + n_blocks => Role::Leaf,
                _ => Role::Core,
            }
        };
        let cell = |p: Point| {
            (
                (p.0 / PITCH.0).round() as i32,
                (p.1 / PITCH.1).round() as i32,
            )
        };
        let pins: Vec<Option<Cell>> = (0..n)
            .map(|i| own.get(i).and_then(|&k| view.nodes[k].pinned).map(cell))
            .collect();
        Board {
            roles: (0..n).map(role).collect(),
            is_pinned: pins.iter().map(Option::is_some).collect(),
            pins,
            edges_at,
            edges,
            frames: Vec::new(),
            is_member: Vec::new(),
            is_nested: Vec::new(),
            cells: vec![(0, 0); n],
            is_placed: vec![false; n],
            taken: FxHashMap::default(),
            work: 0,
        }
    }

    fn put(&mut self, node: usize, cell: Cell) {
        self.cells[node] = cell;
        self.is_placed[node] = true;
        self.taken.insert(cell, node);
    }

    fn put_all(&mut self, cells: Vec<Cell>) {
        self.taken.clear();
        for (node, cell) in cells.into_iter().enumerate() {
            self.put(node, cell);
        }
    }

    /// Cells counted from zero, unless places were given.
    fn normalized(&self, is_pinned: bool) -> Vec<Cell> {
        if is_pinned {
            self.cells.clone()
        } else {
            trimmed(&self.cells)
        }
    }

    fn neighbours(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.edges_at[node].iter().map(move |&e| {
            let edge = &self.edges[e];
            if edge.tail == node {
                edge.head
            } else {
                edge.tail
            }
        })
    }

    // ---------------------------------------------------------------------------------
    // First placement
    // ---------------------------------------------------------------------------------

    fn build(&mut self) {
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
    fn components(&self) -> Vec<Vec<usize>> {
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
    fn main_line(&self, part: &[usize]) -> Vec<usize> {
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

    fn mark_main(&mut self, line: &[usize]) {
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

    // ---------------------------------------------------------------------------------
    // Cost
    // ---------------------------------------------------------------------------------

    fn point(&self, node: usize) -> Point {
        let cell = self.cells[node];
        (f64::from(cell.0), ROW_HEIGHT * f64::from(cell.1))
    }

    /// The cost of everything that depends on the places of some nodes.
    fn cost_at(&mut self, nodes: &[usize]) -> f64 {
        let mut cost = 0.0;
        for &node in nodes {
            for at in 0..self.edges_at[node].len() {
                let index = self.edges_at[node][at];
                let edge = self.edges[index];
                if !(self.is_placed[edge.tail] && self.is_placed[edge.head]) {
                    continue;
                }
                cost += self.edge_cost(edge);
                if !edge.is_signal {
                    cost += self.conflicts_of_edge(index);
                    let other = if edge.tail == node {
                        edge.head
                    } else {
                        edge.tail
                    };
                    cost += self.angles(other);
                }
            }
            cost += self.angles(node) + self.covered(node);
        }
        cost + self.strangers()
    }

    fn edge_cost(&self, edge: Edge) -> f64 {
        let (tail, head) = (self.cells[edge.tail], self.cells[edge.head]);
        let (dx, dy) = (head.0 - tail.0, head.1 - tail.1);
        let (long, short) = (dx.abs().max(dy.abs()), dx.abs().min(dy.abs()));
        if edge.is_signal {
            return price::SIGNAL * f64::from(long + short);
        }
        let mut cost = price::LENGTH * f64::from(long - 1 + short);
        if short > 0 {
            cost += if long == short {
                price::DIAGONAL
            } else {
                price::SLANTED
            };
        }
        let (tail_role, head_role) = (self.roles[edge.tail], self.roles[edge.head]);
        if tail_role == Role::Source {
            if dy != 0 || dx < 0 {
                cost += price::SOURCE_ASIDE;
            }
        } else if tail_role.is_leaf() || head_role.is_leaf() {
            let is_upper = tail_role == Role::UpperLeaf || head_role == Role::UpperLeaf;
            // Seen from the junction.
            let down = if head_role.is_leaf() { dy } else { -dy };
            if dy == 0 {
                cost += price::SIDEWAYS;
            } else if (down > 0) == is_upper {
                cost += price::UPSIDE_DOWN;
            }
        } else if dx < 0 {
            cost += price::BACKWARDS;
        }
        if edge.is_main && dy != 0 {
            cost += price::BENT;
        }
        cost
    }

    /// Crossings of an edge, and nodes under it.
    fn conflicts_of_edge(&mut self, index: usize) -> f64 {
        let edge = self.edges[index];
        let (a, b) = (self.point(edge.tail), self.point(edge.head));
        let mut cost = 0.0;
        for (other_index, other) in self.edges.iter().enumerate() {
            if other.is_signal
                || other_index == index
                || !self.is_placed[other.tail]
                || !self.is_placed[other.head]
            {
                continue;
            }
            if cross(a, b, self.point(other.tail), self.point(other.head)) {
                cost += price::CROSSING;
            }
        }
        for node in 0..self.cells.len() {
            if node != edge.tail
                && node != edge.head
                && self.is_placed[node]
                && distance(self.point(node), a, b) < NEAR
            {
                cost += price::COVERED;
            }
        }
        self.work += (self.edges.len() + self.cells.len()) as u64;
        cost
    }

    /// Edges of others that pass over a node.
    fn covered(&mut self, node: usize) -> f64 {
        let at = self.point(node);
        let mut cost = 0.0;
        for edge in &self.edges {
            let is_own = edge.tail == node || edge.head == node;
            if edge.is_signal || is_own || !self.is_placed[edge.tail] || !self.is_placed[edge.head]
            {
                continue;
            }
            if distance(at, self.point(edge.tail), self.point(edge.head)) < NEAR {
                cost += price::COVERED;
            }
        }
        self.work += self.edges.len() as u64;
        cost
    }

    /// Corners of two-ports, and bonds that leave in nearly one direction.
    fn angles(&self, node: usize) -> f64 {
        let here = self.point(node);
        let mut directions: Vec<Point> = Vec::new();
        for &e in &self.edges_at[node] {
            let edge = self.edges[e];
            let other = if edge.tail == node {
                edge.head
            } else {
                edge.tail
            };
            if edge.is_signal || !self.is_placed[other] {
                continue;
            }
            let there = self.point(other);
            let (dx, dy) = (there.0 - here.0, there.1 - here.1);
            let length = (dx * dx + dy * dy).sqrt().max(1e-9);
            directions.push((dx / length, dy / length));
        }
        let mut cost = 0.0;
        for (k, a) in directions.iter().enumerate() {
            for b in &directions[..k] {
                // cos 35°: closer bonds leave no room for strokes and labels between them.
                if a.0 * b.0 + a.1 * b.1 > 0.82 {
                    cost += price::NARROW;
                }
            }
        }
        if let (Role::TwoPort, [a, b]) = (self.roles[node], directions.as_slice())
            && a.0 * b.0 + a.1 * b.1 > -0.99
        {
            cost += price::CORNER;
        }
        cost
    }

    /// Nodes and frames inside frames that are not theirs.
    fn strangers(&mut self) -> f64 {
        let mut cost = 0.0;
        let mut spans: Vec<[i32; 4]> = Vec::with_capacity(self.frames.len());
        for (frame, members) in self.frames.iter().enumerate() {
            let mut span = [i32::MAX, i32::MAX, i32::MIN, i32::MIN];
            for &k in members {
                let (x, y) = self.cells[k];
                span = [
                    span[0].min(x),
                    span[1].min(y),
                    span[2].max(x),
                    span[3].max(y),
                ];
            }
            for (k, &(x, y)) in self.cells.iter().enumerate() {
                let is_inside = x >= span[0] && x <= span[2] && y >= span[1] && y <= span[3];
                if is_inside && !self.is_member[frame][k] {
                    cost += price::STRANGER;
                }
            }
            for (other, s) in spans.iter().enumerate() {
                let meets =
                    s[0] <= span[2] && span[0] <= s[2] && s[1] <= span[3] && span[1] <= s[3];
                if meets && !self.is_nested[frame][other] {
                    cost += price::STRANGER;
                }
            }
            // A frame as small as it can be leaves room for the rest.
            cost += 0.1 * f64::from(span[2] - span[0] + span[3] - span[1]);
            spans.push(span);
            self.work += self.cells.len() as u64 / 4;
        }
        cost
    }

    // ---------------------------------------------------------------------------------
    // Improvement
    // ---------------------------------------------------------------------------------

    fn improve(&mut self, seed: u64) {
        if self.cells.len() < 2 {
            return;
        }
        self.descend();
        // The second time from the best found, with half the freedom.
        let quiet = (self.whole_cost(), self.cells.clone());
        for heat in [2.5, 1.2] {
            self.anneal(heat, seed);
            self.descend();
        }
        // What chance finds must be worth it: without it a small edit moves less.
        if self.whole_cost() > quiet.0 - MIN_GAIN {
            self.put_all(quiet.1);
        }
    }

    /// Takes every small change that pays, until none does.
    fn descend(&mut self) {
        // Each sweep lowers the cost; a dozen reach the bottom, the bound is for the rest.
        for _ in 0..12 {
            let mut is_better = false;
            for node in 0..self.cells.len() {
                for dy in -3..=3 {
                    for dx in -3..=3 {
                        is_better |= self.try_move(&[node], (dx, dy), 0.0);
                    }
                }
                let star = self.star(node);
                for shift in [
                    (0, 1),
                    (0, -1),
                    (1, 0),
                    (-1, 0),
                    (0, 2),
                    (0, -2),
                    (2, 0),
                    (-2, 0),
                ] {
                    is_better |= star.len() > 1 && self.try_move(&star, shift, 0.0);
                }
            }
            for frame in 0..self.frames.len() {
                let members = self.frames[frame].clone();
                for shift in [
                    (0, 1),
                    (0, -1),
                    (1, 0),
                    (-1, 0),
                    (0, 2),
                    (0, -2),
                    (2, 0),
                    (-2, 0),
                ] {
                    is_better |= self.try_move(&members, shift, 0.0);
                }
                for turn in [Turn::LeftRight, Turn::UpDown, Turn::Diagonal] {
                    is_better |= self.try_turn(&members, turn, 0.0);
                }
            }
            is_better |= self.close_gaps();
            if !is_better || self.work > MAX_WORK {
                break;
            }
        }
    }

    /// Small random changes, at first also some that cost a little.
    fn anneal(&mut self, first_heat: f64, seed: u64) {
        let n = self.cells.len() as u64;
        let mut dice = Dice(seed);
        // Enough for every node to try its surroundings several times.
        let n_tries = 1500 * n.min(60);
        let allowed = self.work + MAX_WORK / 3;
        let mut best = (self.whole_cost(), self.cells.clone());
        for step in 0..n_tries {
            if self.work > allowed {
                break;
            }
            let part_done = step as f64 / n_tries as f64;
            let heat = first_heat * (1.0 - part_done) * (1.0 - part_done) + 0.02;
            // A threshold instead of the Metropolis rule (Dueck & Scheuer 1990): no logarithm,
            // whose last bit differs between machines.
            let luck = dice.part();
            let credit = heat * luck * luck;
            self.try_random(&mut dice, credit);
            if step % 64 == 63 {
                let cost = self.whole_cost();
                if cost < best.0 - 1e-9 {
                    best = (cost, self.cells.clone());
                }
            }
        }
        if self.whole_cost() > best.0 {
            self.put_all(best.1);
        }
    }

    fn whole_cost(&mut self) -> f64 {
        let all: Vec<usize> = (0..self.cells.len()).collect();
        self.cost_at(&all)
    }

    fn try_random(&mut self, dice: &mut Dice, credit: f64) {
        let node = dice.below(self.cells.len());
        match dice.below(10) {
            0 | 1 => {
                let star = self.star(node);
                let shift = (dice.below(5) as i32 - 2, dice.below(5) as i32 - 2);
                self.try_move(&star, shift, credit);
            }
            2 if !self.frames.is_empty() => {
                let members = self.frames[dice.below(self.frames.len())].clone();
                match dice.below(5) {
                    0 => self.try_turn(&members, Turn::LeftRight, credit),
                    1 => self.try_turn(&members, Turn::UpDown, credit),
                    2 => self.try_turn(&members, Turn::Diagonal, credit),
                    _ => {
                        let shift = (dice.below(5) as i32 - 2, dice.below(5) as i32 - 2);
                        self.try_move(&members, shift, credit)
                    }
                };
            }
            3 => {
                let far: Vec<usize> = match dice.below(4) {
                    0 => self.beyond(|c, at| c.0 >= at.0, node),
                    1 => self.beyond(|c, at| c.1 >= at.1, node),
                    2 => self.beyond(|c, at| c.0 <= at.0, node),
                    _ => self.beyond(|c, at| c.1 <= at.1, node),
                };
                let shift = [(0, 1), (0, -1), (1, 0), (-1, 0)][dice.below(4)];
                self.try_move(&far, shift, credit);
            }
            4..=6 => {
                // Beside a neighbour, where most nodes belong.
                let near: Vec<usize> = self.neighbours(node).collect();
                if near.is_empty() {
                    return;
                }
                let at = self.cells[near[dice.below(near.len())]];
                let side = [
                    (0, 1),
                    (0, -1),
                    (1, 0),
                    (-1, 0),
                    (1, 1),
                    (-1, -1),
                    (1, -1),
                    (-1, 1),
                ][dice.below(8)];
                let own = self.cells[node];
                self.try_move(
                    &[node],
                    (at.0 + side.0 - own.0, at.1 + side.1 - own.1),
                    credit,
                );
            }
            _ => {
                let shift = (dice.below(7) as i32 - 3, dice.below(7) as i32 - 3);
                self.try_move(&[node], shift, credit);
            }
        }
    }

    fn beyond(&self, test: impl Fn(Cell, Cell) -> bool, node: usize) -> Vec<usize> {
        (0..self.cells.len())
            .filter(|&k| test(self.cells[k], self.cells[node]))
            .collect()
    }

    /// A node and the one-ports that hang on it alone.
    fn star(&self, node: usize) -> Vec<usize> {
        let mut star = vec![node];
        star.extend(self.neighbours(node).filter(|&k| self.roles[k].is_leaf()));
        star.sort_unstable();
        star.dedup();
        star
    }

    /// Removes rows and columns without nodes.
    fn close_gaps(&mut self) -> bool {
        let mut is_better = false;
        for node in 0..self.cells.len() {
            let right = self.beyond(|c, at| c.0 >= at.0, node);
            is_better |= self.try_move(&right, (-1, 0), 0.0);
            let below = self.beyond(|c, at| c.1 >= at.1, node);
            is_better |= self.try_move(&below, (0, -1), 0.0);
        }
        is_better
    }

    fn try_turn(&mut self, nodes: &[usize], turn: Turn, credit: f64) -> bool {
        let (mut low, mut high) = ((i32::MAX, i32::MAX), (i32::MIN, i32::MIN));
        for &k in nodes {
            let c = self.cells[k];
            low = (low.0.min(c.0), low.1.min(c.1));
            high = (high.0.max(c.0), high.1.max(c.1));
        }
        let turned = |c: Cell| match turn {
            Turn::LeftRight => (low.0 + high.0 - c.0, c.1),
            Turn::UpDown => (c.0, low.1 + high.1 - c.1),
            Turn::Diagonal => (low.0 + c.1 - low.1, low.1 + c.0 - low.0),
        };
        let to: Vec<Cell> = nodes.iter().map(|&k| turned(self.cells[k])).collect();
        self.try_cells(nodes, &to, credit)
    }

    /// Moves nodes if that costs at most `credit`; a single node changes places with what is there.
    fn try_move(&mut self, nodes: &[usize], shift: Cell, credit: f64) -> bool {
        if shift == (0, 0) {
            return false;
        }
        let to: Vec<Cell> = nodes
            .iter()
            .map(|&k| (self.cells[k].0 + shift.0, self.cells[k].1 + shift.1))
            .collect();
        if let [node] = *nodes
            && let Some(&other) = self.taken.get(&to[0])
        {
            let own = self.cells[node];
            return self.try_cells(&[node, other], &[to[0], own], credit);
        }
        self.try_cells(nodes, &to, credit)
    }

    fn try_cells(&mut self, nodes: &[usize], to: &[Cell], credit: f64) -> bool {
        if nodes.iter().any(|&k| self.is_pinned[k]) {
            return false;
        }
        let is_free = |cell: &Cell| self.taken.get(cell).is_none_or(|k| nodes.contains(k));
        if !to.iter().all(is_free) {
            return false;
        }
        let from: Vec<Cell> = nodes.iter().map(|&k| self.cells[k]).collect();
        let before = self.cost_at(nodes);
        self.set_cells(nodes, to);
        let after = self.cost_at(nodes);
        // Less than rounding is no gain; without this two equal places would alternate for ever.
        let limit = if credit > 0.0 {
            before + credit
        } else {
            before - 1e-6
        };
        if after < limit {
            return true;
        }
        self.set_cells(nodes, &from);
        false
    }

    fn set_cells(&mut self, nodes: &[usize], to: &[Cell]) {
        for &k in nodes {
            self.taken.remove(&self.cells[k]);
        }
        for (&k, &cell) in nodes.iter().zip(to) {
            self.cells[k] = cell;
            self.taken.insert(cell, k);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    LeftRight,
    UpDown,
    /// Columns become rows.
    Diagonal,
}

/// Random numbers that are the same on every machine: Marsaglia 2003, xorshift64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 11) % n.max(1) as u64) as usize
    }

    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
