//! What a placement costs: long, slanted, crossing and covered bonds, narrow angles, strangers.
//!
//! In:  a board on which some nodes have places.
//! Out: a number; lower is better. Nodes without a place cost nothing yet.

use super::{Board, Cell, Edge, Role};
use crate::diagram::geometry::distance;

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
    /// A source is elsewhere than at the left.
    pub(super) const SOURCE_ASIDE: f64 = 0.5;
    /// The main line leaves its row.
    pub(super) const BENT: f64 = 0.8;
    /// The two bonds of a two-port make a corner.
    pub(super) const CORNER: f64 = 0.9;
    /// Two bonds leave a node in nearly one direction.
    pub(super) const NARROW: f64 = 2.0;
    /// A node is in the frame of a submodel that is not its own.
    pub(super) const STRANGER: f64 = 12.0;
    /// For every cell of the length of a signal.
    pub(super) const SIGNAL: f64 = 0.12;
}

/// Rows are lower than columns are wide; angles and distances count that.
const ROW_HEIGHT: f64 = 0.8;
/// An edge that passes the middle of a node nearer than this covers it. Less than a column and than a
/// row, so that only nodes between the ends of an edge, or beside it by no cell, can be covered.
const NEAR: f64 = 0.42;

impl Board {
    /// The cost of everything that depends on the places of some nodes.
    pub(super) fn cost_at(&mut self, nodes: &[usize]) -> f64 {
        self.cost_up_to(nodes, f64::INFINITY)
    }

    /// As [`Board::cost_at`], but gives up with something above the limit as soon as that is passed:
    /// most changes are bad, and are found so by the first thing looked at.
    pub(super) fn cost_up_to(&mut self, nodes: &[usize], limit: f64) -> f64 {
        let mut cost = 0.0;
        for &node in nodes {
            for &index in &self.edges_at[node] {
                let edge = self.edges[index];
                if self.is_placed[edge.tail] && self.is_placed[edge.head] {
                    cost += self.edge_cost(edge);
                }
            }
        }

        if cost > limit {
            return cost;
        }
        if !self.frames.is_empty() {
            cost += self.strangers();
        }
        for &node in nodes {
            if cost > limit {
                return cost;
            }
            cost += self.angles(node) + self.covered(node);
            for at in 0..self.edges_at[node].len() {
                let index = self.edges_at[node][at];
                let edge = self.edges[index];
                let is_drawn = self.is_placed[edge.tail] && self.is_placed[edge.head];
                if edge.is_signal || !is_drawn {
                    continue;
                }
                cost += self.conflicts_of_edge(index);
                cost += self.angles(edge.other(node));
                if cost > limit {
                    return cost;
                }
            }
        }
        cost
    }

    /// The cost of the whole placement, in which each pair of things counts once.
    pub(super) fn whole_cost(&mut self) -> f64 {
        self.whole_cost_up_to(f64::INFINITY)
    }

    /// As [`Board::whole_cost`], but gives up with something above the limit.
    pub(super) fn whole_cost_up_to(&mut self, limit: f64) -> f64 {
        let mut cost: f64 = self.edges.iter().map(|&e| self.edge_cost(e)).sum();
        if !self.frames.is_empty() {
            cost += self.strangers();
        }
        for node in 0..self.cells.len() {
            cost += self.angles(node);
        }
        for (index, (line, edge)) in self.lines.iter().zip(&self.edges).enumerate() {
            if cost > limit {
                break;
            }
            let earlier = &self.lines[..index];
            cost += price::CROSSING * earlier.iter().filter(|o| line.crosses(o)).count() as f64;
            for (node, &cell) in self.cells.iter().enumerate() {
                let is_end = edge.tail == node || edge.head == node;
                if line.box_holds(cell) && !is_end && line.is_near(cell) {
                    cost += price::COVERED;
                }
            }
            self.work += (index + self.cells.len()) as u64;
        }
        cost
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
        let line = self.lines[index];
        // An edge shares its ends with itself, and such lines do not cross.
        let n_crossings = self.lines.iter().filter(|o| line.crosses(o)).count();
        let mut cost = price::CROSSING * n_crossings as f64;
        for (node, &cell) in self.cells.iter().enumerate() {
            if line.box_holds(cell)
                && node != edge.tail
                && node != edge.head
                && self.is_placed[node]
                && line.is_near(cell)
            {
                cost += price::COVERED;
            }
        }
        self.work += (self.edges.len() + self.cells.len()) as u64;
        cost
    }

    /// Edges of others that pass over a node.
    fn covered(&mut self, node: usize) -> f64 {
        let at = self.cells[node];
        let mut cost = 0.0;
        for (line, edge) in self.lines.iter().zip(&self.edges) {
            if line.box_holds(at) && edge.tail != node && edge.head != node && line.is_near(at) {
                cost += price::COVERED;
            }
        }
        self.work += self.edges.len() as u64;
        cost
    }

    /// Notes where the edges of a node go, after its cell changed.
    pub(super) fn draw_lines(&mut self, node: usize) {
        for &index in &self.edges_at[node] {
            let edge = self.edges[index];
            let is_drawn =
                !edge.is_signal && self.is_placed[edge.tail] && self.is_placed[edge.head];
            self.lines[index] = if is_drawn {
                CellLine::between(self.cells[edge.tail], self.cells[edge.head])
            } else {
                CellLine::NOWHERE
            };
        }
    }

    /// Corners of two-ports, and bonds that leave in nearly one direction.
    fn angles(&self, node: usize) -> f64 {
        let here = self.cells[node];
        // Fewer than eight directions are apart by cos 35°; more bonds need not all be looked at.
        const MOST: usize = 16;
        let mut directions = [(0_i32, 0_i32); MOST];
        let mut n = 0;
        for &e in &self.edges_at[node] {
            let other = self.edges[e].other(node);
            if n < MOST && !self.edges[e].is_signal && self.is_placed[other] {
                let there = self.cells[other];
                // ROW_HEIGHT is four fifths.
                directions[n] = (5 * (there.0 - here.0), 4 * (there.1 - here.1));
                n += 1;
            }
        }

        let dot = |a: (i32, i32), b: (i32, i32)| {
            f64::from(a.0) * f64::from(b.0) + f64::from(a.1) * f64::from(b.1)
        };
        let (mut cost, mut is_straight) = (0.0, false);
        for (k, &a) in directions[..n].iter().enumerate() {
            for &b in &directions[..k] {
                // The cosine between them, squared, with its sign: no root needed.
                let cosine = dot(a, b);
                let lengths = dot(a, a) * dot(b, b);
                // cos 35°: closer bonds leave no room for strokes and labels between them.
                if cosine > 0.0 && cosine * cosine > 0.82 * 0.82 * lengths {
                    cost += price::NARROW;
                }
                is_straight = cosine < 0.0 && cosine * cosine >= 0.99 * 0.99 * lengths;
            }
        }

        if self.roles[node] == Role::TwoPort && n == 2 && !is_straight {
            cost += price::CORNER;
        }
        cost
    }

    /// Nodes and frames inside frames that are not theirs.
    fn strangers(&mut self) -> f64 {
        let mut cost = 0.0;
        let mut spans = std::mem::take(&mut self.spans);
        spans.clear();
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
            let is_member = &self.is_member[frame];
            for (k, &(x, y)) in self.cells.iter().enumerate() {
                let is_inside = x >= span[0] && x <= span[2] && y >= span[1] && y <= span[3];
                if is_inside && !is_member[k] {
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

        self.spans = spans;
        cost
    }
}

/// A straight line between two cells. Whole numbers make its tests exact and fast.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellLine {
    a: Cell,
    b: Cell,
    low: Cell,
    high: Cell,
}

impl CellLine {
    /// A line that is not drawn: it meets nothing.
    pub(super) const NOWHERE: CellLine = CellLine {
        a: (0, 0),
        b: (0, 0),
        low: (i32::MAX, i32::MAX),
        high: (i32::MIN, i32::MIN),
    };

    fn between(a: Cell, b: Cell) -> CellLine {
        CellLine {
            a,
            b,
            low: (a.0.min(b.0), a.1.min(b.1)),
            high: (a.0.max(b.0), a.1.max(b.1)),
        }
    }

    fn box_holds(&self, c: Cell) -> bool {
        (c.0 >= self.low.0) & (c.0 <= self.high.0) & (c.1 >= self.low.1) & (c.1 <= self.high.1)
    }

    /// Crosses at a point inside both.
    #[inline]
    fn crosses(&self, other: &CellLine) -> bool {
        let boxes_meet = (self.low.0 <= other.high.0)
            & (other.low.0 <= self.high.0)
            & (self.low.1 <= other.high.1)
            & (other.low.1 <= self.high.1);
        boxes_meet && self.separates(other) && other.separates(self)
    }

    /// The ends of the other lie on different sides.
    fn separates(&self, other: &CellLine) -> bool {
        let side = |r: Cell| {
            let by = |a: i32, b: i32| i64::from(a) * i64::from(b);
            by(self.b.0 - self.a.0, r.1 - self.a.1) - by(self.b.1 - self.a.1, r.0 - self.a.0)
        };
        side(other.a).signum() * side(other.b).signum() < 0
    }

    /// Passes near the middle of a cell that its box holds.
    fn is_near(&self, c: Cell) -> bool {
        if self.a.0 == self.b.0 || self.a.1 == self.b.1 {
            return true;
        }
        let point = |c: Cell| (f64::from(c.0), ROW_HEIGHT * f64::from(c.1));
        distance(point(c), point(self.a), point(self.b)) < NEAR
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::geometry::cross;

    /// All lines of a small grid: what whole numbers say, points say.
    #[test]
    fn tests_in_whole_numbers_agree_with_geometry() {
        let cells: Vec<Cell> = (0..25).map(|k| (k % 5, k / 5)).collect();
        let point = |c: Cell| (f64::from(c.0), ROW_HEIGHT * f64::from(c.1));
        let mut n_crossings = 0;
        for &a in &cells {
            for &b in cells.iter().filter(|&&b| b != a) {
                let line = CellLine::between(a, b);
                for &c in &cells {
                    let is_near = distance(point(c), point(a), point(b)) < NEAR;
                    assert_eq!(
                        line.box_holds(c) && line.is_near(c),
                        is_near,
                        "{line:?} {c:?}"
                    );
                    for &d in cells.iter().filter(|&&d| d != c) {
                        let other = CellLine::between(c, d);
                        let does = cross(point(a), point(b), point(c), point(d));
                        assert_eq!(line.crosses(&other), does, "{line:?} {other:?}");
                        n_crossings += usize::from(does);
                    }
                }
            }
        }
        assert!(n_crossings > 10_000);
    }
}
