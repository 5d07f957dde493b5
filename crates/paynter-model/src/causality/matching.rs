//! Decides exactly whether open strokes can be completed, by a perfect matching.
//!
//! In:  the [`Network`] and a [`StrokeTable`] that is closed under propagation.
//! Out: a complete assignment that agrees with the table (the witness), or the set of
//!      elements that cannot all have their strong bond (a Hall violator).
//!
//! Each node must be matched by its strong bond. A bond that is strong at both ends or at
//! neither is an edge; a bond that is strong at exactly one end is an edge with a vertex of its
//! own in the middle, which goes to one side or the other; the bond of a one-port is a half
//! edge, which may be used or not. Gyrators make odd rings, so this is matching in general
//! graphs: augmenting paths with blossoms (Edmonds 1965), where a path may also end at a vertex
//! with a free half edge, or at a vertex that is matched by one.
//!
//! **Invariant:** no edge of the witness contradicts the table it was last repaired for.

use super::propagate::{Network, StrokeTable};
use super::ranking::Ranking;
use crate::graph::{BondId, ElementId, Stroke};
use rustc_hash::FxHashSet;

/// A complete assignment that is kept in step with a growing table.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    /// Ends; `u32::MAX` as second end for a half edge.
    edges: Vec<Edge>,
    /// Edges at each vertex; vertices are elements, then middles of bonds.
    at: Vec<Vec<u32>>,
    mate: Vec<Option<u32>>,
    /// Edges of each bond.
    edges_of: Vec<[Option<u32>; 2]>,
    n_elements: usize,
    /// Vertices in the order in which they are served: elements by name, then bonds by name.
    order: Vec<u32>,
    /// Vertices that may be without a mate: all others have one, or need none.
    open: Vec<u32>,
    // Of the search; valid where `stamp` is that of the present search.
    stamp: Vec<u32>,
    now: u32,
    base: Vec<u32>,
    is_outer: Vec<bool>,
    parent: Vec<Option<u32>>,
    visited: Vec<u32>,
    pub n_visits: u64,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    ends: [u32; 2],
    bond: BondId,
    /// The edge is part of the matching exactly if the bond has this stroke.
    stroke: Stroke,
}

const HALF: u32 = u32::MAX;

/// The edges, those at each vertex, and those of each bond: one where one of its ends has a rule or both want the same
/// stroke, else one on each side of a vertex in its middle.
#[expect(
    clippy::type_complexity,
    reason = "three tables that are made together and taken apart at once"
)]
fn edges(network: &Network) -> (Vec<Edge>, Vec<Vec<u32>>, Vec<[Option<u32>; 2]>) {
    let mut edges = Vec::new();
    let mut at: Vec<Vec<u32>> = vec![Vec::new(); network.n_elements()];
    let mut edges_of = vec![[None; 2]; network.n_bonds()];
    for (index, of) in edges_of.iter_mut().enumerate() {
        let bond = BondId(index as u32);
        let [tail, head] = *network.ends(bond);
        let node = |e: ElementId| network.is_node[e.0 as usize].then_some(e.0);
        let mut add = |slot: usize, ends: [u32; 2], stroke: Stroke, at: &mut Vec<Vec<u32>>| {
            let id = edges.len() as u32;
            edges.push(Edge { ends, bond, stroke });
            of[slot] = Some(id);
            for end in ends.into_iter().filter(|&v| v != HALF) {
                at[end as usize].push(id);
            }
        };
        let strong = [0, 1].map(|end| network.strong_stroke(bond, end));
        match (node(tail.element), node(head.element)) {
            (None, None) => {}
            (Some(t), None) => add(0, [t, HALF], strong[0], &mut at),
            (None, Some(h)) => add(0, [h, HALF], strong[1], &mut at),
            (Some(t), Some(h)) if strong[0] == strong[1] => {
                // Both ends at one element would be strong twice there: never used.
                if t != h {
                    add(0, [t, h], strong[0], &mut at);
                }
            }
            (Some(t), Some(h)) => {
                let middle = at.len() as u32;
                at.push(Vec::new());
                add(0, [t, middle], strong[0], &mut at);
                add(1, [h, middle], strong[1], &mut at);
            }
        }
    }
    (edges, at, edges_of)
}

impl Witness {
    pub fn new(network: &Network, ranking: &Ranking) -> Self {
        let n_elements = network.n_elements();
        let (edges, at, edges_of) = edges(network);
        let n = at.len();
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&v| {
            let middle = at[v as usize]
                .first()
                .map(|&e| edges[e as usize].bond.0 as usize);
            match middle.filter(|_| v as usize >= n_elements) {
                Some(bond) => (true, ranking.bond[bond]),
                None => {
                    let rank = ranking.element.get(v as usize);
                    (false, rank.copied().unwrap_or(u32::MAX))
                }
            }
        });

        Witness {
            edges,
            at,
            mate: vec![None; n],
            edges_of,
            n_elements,
            open: order.clone(),
            order,
            stamp: vec![0; n],
            now: 0,
            base: vec![0; n],
            is_outer: vec![false; n],
            parent: vec![None; n],
            visited: Vec::new(),
            n_visits: 0,
        }
    }

    /// Finds a complete assignment for the table from whatever is there.
    ///
    /// # Errors
    ///
    /// The vertex that cannot be matched, and the elements that compete with it.
    pub fn complete(&mut self, network: &Network, table: &StrokeTable) -> Result<(), Shortage> {
        self.open.clone_from(&self.order);
        for vertex in 0..self.mate.len() as u32 {
            self.drop_forbidden(table, vertex);
        }
        // In a fixed order, so that it depends on names only which vertex is left over: those
        // served before it stay matched.
        for i in 0..self.order.len() {
            let vertex = self.order[i];
            if let Err(shortage) = self.cover(network, table, vertex) {
                self.take_from_later(i).then_some(()).ok_or(shortage)?;
            }
        }
        self.open.clear();
        Ok(())
    }

    /// After a failed search from vertex number `i` of the order: takes the place of the last one
    /// that it competes with, if that comes later in the order.
    fn take_from_later(&mut self, i: usize) -> bool {
        let later: FxHashSet<u32> = self.order[i + 1..].iter().copied().collect();
        let competes = |&v: &u32| self.is_outer[v as usize] && later.contains(&v);
        let outer: FxHashSet<u32> = self.visited.iter().copied().filter(competes).collect();
        let Some(&last) = self.order.iter().rev().find(|v| outer.contains(v)) else {
            return false;
        };
        let Some(old) = self.mate[last as usize].take() else {
            return false;
        };
        let partner = self.other(old, last);
        let up = self.parent[partner as usize].expect("the mate of an outer vertex has a parent");
        self.mate[partner as usize] = Some(up);
        self.flip(self.other(up, partner), up);
        true
    }

    /// As [`Witness::complete`], where only the strokes set since `mark` are new: strokes taken back since the last
    /// repair forbid nothing. In time proportional to what is new and to the searches for mates that were lost by it.
    pub fn repair(
        &mut self,
        network: &Network,
        table: &StrokeTable,
        mark: usize,
    ) -> Result<(), Shortage> {
        let touched: Vec<u32> = table.trail()[mark..]
            .iter()
            .flat_map(|b| self.edges_of[b.0 as usize])
            .flatten()
            .flat_map(|e| self.edges[e as usize].ends)
            .filter(|&v| v != HALF)
            .collect();
        self.open.extend_from_slice(&touched);
        for &vertex in &touched {
            let alone = self.drop_forbidden(table, vertex);
            self.open.extend(alone);
        }
        for done in 0..self.open.len() {
            if let Err(shortage) = self.cover(network, table, self.open[done]) {
                self.open.drain(..done);
                return Err(shortage);
            }
        }
        self.open.clear();
        Ok(())
    }

    fn is_allowed(&self, table: &StrokeTable, edge: u32) -> bool {
        let edge = self.edges[edge as usize];
        table.stroke(edge.bond).is_none_or(|s| s == edge.stroke)
    }

    fn other(&self, edge: u32, vertex: u32) -> u32 {
        let [a, b] = self.edges[edge as usize].ends;
        if a == vertex { b } else { a }
    }

    fn is_required(&self, network: &Network, table: &StrokeTable, vertex: u32) -> bool {
        let v = vertex as usize;
        v >= self.n_elements || !self.at[v].is_empty() && table.has_rule(network, ElementId(vertex))
    }

    /// Unmatches the vertex if its edge is forbidden by now; gives the vertex left alone by that.
    fn drop_forbidden(&mut self, table: &StrokeTable, vertex: u32) -> Option<u32> {
        let edge = self.mate[vertex as usize].filter(|&e| !self.is_allowed(table, e))?;
        self.mate[vertex as usize] = None;
        let other = self.other(edge, vertex);
        if other == HALF || self.mate[other as usize] != Some(edge) {
            return None;
        }
        self.mate[other as usize] = None;
        Some(other)
    }

    fn cover(
        &mut self,
        network: &Network,
        table: &StrokeTable,
        vertex: u32,
    ) -> Result<(), Shortage> {
        if self.mate[vertex as usize].is_some() || !self.is_required(network, table, vertex) {
            return Ok(());
        }
        if self.augment(network, table, vertex) {
            return Ok(());
        }
        Err(Shortage { vertex })
    }

    /// The elements that the last search, which found no mate for a vertex, came to: they compete with it.
    pub fn competing(&self) -> Vec<ElementId> {
        let visited = self.visited.iter().copied();
        let mut elements: Vec<ElementId> = visited
            .filter(|&v| (v as usize) < self.n_elements)
            .map(ElementId)
            .collect();
        elements.sort_unstable();
        elements.dedup();
        elements
    }

    /// The element of a vertex; the two ends for the middle of a bond.
    pub fn elements_of(&self, vertex: u32) -> Vec<ElementId> {
        if (vertex as usize) < self.n_elements {
            return vec![ElementId(vertex)];
        }
        self.at[vertex as usize]
            .iter()
            .map(|&e| ElementId(self.other(e, vertex)))
            .collect()
    }

    fn visit(&mut self, vertex: u32, is_outer: bool, parent: Option<u32>) {
        let v = vertex as usize;
        self.stamp[v] = self.now;
        self.base[v] = vertex;
        self.is_outer[v] = is_outer;
        self.parent[v] = parent;
        self.visited.push(vertex);
        self.n_visits += 1;
    }

    fn is_visited(&self, vertex: u32) -> bool {
        self.stamp[vertex as usize] == self.now
    }

    /// Looks for an augmenting path from an unmatched vertex and applies it.
    fn augment(&mut self, network: &Network, table: &StrokeTable, root: u32) -> bool {
        self.now += 1;
        self.visited.clear();
        self.visit(root, true, None);
        let mut queue = vec![root];
        let mut head = 0;
        while head < queue.len() {
            let u = queue[head];
            head += 1;
            for i in 0..self.at[u as usize].len() {
                let edge = self.at[u as usize][i];
                self.n_visits += 1;
                if self.mate[u as usize] == Some(edge) || !self.is_allowed(table, edge) {
                    continue;
                }
                let v = self.other(edge, u);
                // A vertex without a rule takes any stroke: the edge is as good as a half edge.
                if v == HALF || !self.is_required(network, table, v) {
                    self.flip(u, edge);
                    return true;
                }
                if !self.is_visited(v) {
                    match self.mate[v as usize] {
                        Some(mate) if self.leads_on(network, table, mate, v) => {
                            self.visit(v, false, Some(edge));
                            let w = self.other(mate, v);
                            self.visit(w, true, None);
                            queue.push(w);
                        }
                        // Unmatched, or matched by a half edge that it can do without.
                        _ => {
                            self.mate[v as usize] = Some(edge);
                            self.flip(u, edge);
                            return true;
                        }
                    }
                } else if self.base[u as usize] != self.base[v as usize]
                    && self.is_outer[self.base[v as usize] as usize]
                {
                    self.shrink(u, v, edge, &mut queue);
                }
            }
        }
        false
    }

    /// Tells whether the mate edge of `vertex` has a vertex with a rule at its other end.
    fn leads_on(&self, network: &Network, table: &StrokeTable, mate: u32, vertex: u32) -> bool {
        let w = self.other(mate, vertex);
        w != HALF && self.is_required(network, table, w)
    }

    /// Matches the outer vertex `u` by `edge` and flips the path back to the root.
    fn flip(&mut self, u: u32, edge: u32) {
        let mut vertex = u;
        let mut edge = edge;
        loop {
            let old = self.mate[vertex as usize].replace(edge);
            let Some(old) = old else { return };
            // `w` lost its mate; its parent edge leads to the next outer vertex.
            let w = self.other(old, vertex);
            if w == HALF {
                return;
            }
            let Some(up) = self.parent[w as usize].filter(|_| self.is_visited(w)) else {
                return;
            };
            self.mate[w as usize] = Some(up);
            vertex = self.other(up, w);
            edge = up;
        }
    }

    /// Contracts the odd ring closed by `edge` between the outer vertices `u` and `v`.
    fn shrink(&mut self, u: u32, v: u32, edge: u32, queue: &mut Vec<u32>) {
        let top = self.common_base(u, v);
        let mut in_ring = vec![];
        self.mark_path(u, top, edge, &mut in_ring);
        self.mark_path(v, top, edge, &mut in_ring);
        in_ring.sort_unstable();
        for i in 0..self.visited.len() {
            let w = self.visited[i];
            if in_ring.binary_search(&self.base[w as usize]).is_ok() {
                self.base[w as usize] = top;
                if !self.is_outer[w as usize] {
                    self.is_outer[w as usize] = true;
                    queue.push(w);
                }
            }
        }
    }

    fn up(&self, vertex: u32) -> Option<u32> {
        let mate = self.mate[vertex as usize]?;
        let inner = self.other(mate, vertex);
        let parent = self.parent[inner as usize]?;
        Some(self.other(parent, inner))
    }

    fn common_base(&self, u: u32, v: u32) -> u32 {
        let mut on_path = Vec::new();
        let mut at = self.base[u as usize];
        loop {
            on_path.push(at);
            match self.up(at) {
                Some(next) => at = self.base[next as usize],
                None => break,
            }
        }
        on_path.sort_unstable();
        let mut at = self.base[v as usize];
        while on_path.binary_search(&at).is_err() {
            let next = self.up(at).expect("both paths end at the root");
            at = self.base[next as usize];
        }
        at
    }

    fn mark_path(&mut self, from: u32, top: u32, edge: u32, in_ring: &mut Vec<u32>) {
        let (mut vertex, mut down) = (from, edge);
        while self.base[vertex as usize] != top {
            let mate = self.mate[vertex as usize].expect("only the root is outer and unmatched");
            let inner = self.other(mate, vertex);
            in_ring.push(self.base[vertex as usize]);
            in_ring.push(self.base[inner as usize]);
            self.parent[vertex as usize] = Some(down);
            let up = self.parent[inner as usize].expect("an inner vertex has a parent");
            down = up;
            vertex = self.other(up, inner);
        }
        in_ring.push(top);
    }
}

/// A vertex that cannot be matched; [`Witness::competing`] tells with whom it competes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shortage {
    pub vertex: u32,
}
