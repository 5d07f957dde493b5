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
//! work is bounded by `improve::MAX_WORK`, whatever the model.
//!
//! `first` finds the first placement, `cost` weighs one, `improve` changes it, `fold` breaks long rows.

mod cost;
mod first;
mod fold;
mod improve;

use super::view::View;

use super::{NodeKind, Point};
use cost::CellLine;
use rustc_hash::FxHashMap;

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
    let mut cells = board.normalized(is_pinned);
    if !is_pinned {
        fold::fold(view, &mut cells);
    }
    Placement { cells, is_pinned }
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

/// Widens the columns and rows in which blocks are, and puts their insides there.
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
    /// Counts the changes that were kept.
    generation: u64,
    /// The cost of each node alone, and the generation for which it holds.
    known_costs: Vec<(u64, f64)>,
    /// The cost of everything, likewise.
    known_whole: (u64, f64),
    /// Where the edges go, those without a place nowhere.
    lines: Vec<CellLine>,
    /// Room for the spans of frames.
    spans: Vec<[i32; 4]>,
}

impl Edge {
    /// The end that is not this node.
    fn other(&self, node: usize) -> usize {
        if self.tail == node {
            self.head
        } else {
            self.tail
        }
    }
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
        let (edges, n) = edges_between(view, signals, own.len() + n_blocks, item_of);

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
        let lines = vec![CellLine::NOWHERE; edges.len()];
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
            generation: 1,
            known_costs: vec![(0, 0.0); n],
            known_whole: (0, 0.0),
            spans: Vec::new(),
            lines,
        }
    }

    fn put(&mut self, node: usize, cell: Cell) {
        self.cells[node] = cell;
        self.is_placed[node] = true;
        self.taken.insert(cell, node);
        self.draw_lines(node);
    }

    fn put_all(&mut self, cells: Vec<Cell>) {
        self.generation += 1;
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
        let other = move |&e: &usize| self.edges[e].other(node);
        self.edges_at[node].iter().map(other)
    }
}

/// The edges between items, and the number of items with the stubs that stand for the outside.
fn edges_between(
    view: &View,
    signals: &[(usize, usize)],
    n_items: usize,
    item_of: &FxHashMap<usize, usize>,
) -> (Vec<Edge>, usize) {
    let mut n = n_items;

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
    (edges, n)
}
