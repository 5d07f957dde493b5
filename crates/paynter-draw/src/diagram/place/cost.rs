//! What a placement costs: long, slanted, crossing and covered bonds, narrow angles, strangers.
//!
//! In:  a board on which some nodes have places.
//! Out: a number; lower is better. Nodes without a place cost nothing yet.

use super::{Board, Edge, Role};
use crate::diagram::Point;
use crate::diagram::geometry::{cross, distance};

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

impl Board {
    fn point(&self, node: usize) -> Point {
        let cell = self.cells[node];
        (f64::from(cell.0), ROW_HEIGHT * f64::from(cell.1))
    }

    /// The cost of everything that depends on the places of some nodes.
    pub(super) fn cost_at(&mut self, nodes: &[usize]) -> f64 {
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
}
