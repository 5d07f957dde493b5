//! Points, rectangles and straight lines, and the faults of a drawing.
//!
//! In:  coordinates.
//! Out: distances, crossings, overlaps.

use super::{Diagram, Faults, Line, Point, strokes};

/// A rectangle along the axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rectangle {
    /// Its middle.
    pub center: Point,
    /// Half its width and height.
    pub half: Point,
}

impl Rectangle {
    /// Tells whether two rectangles share more than their border.
    pub fn overlaps(&self, other: &Rectangle) -> bool {
        (self.center.0 - other.center.0).abs() < self.half.0 + other.half.0 - TOUCH
            && (self.center.1 - other.center.1).abs() < self.half.1 + other.half.1 - TOUCH
    }

    /// Tells whether it has no area.
    pub fn is_empty(&self) -> bool {
        self.half.0 <= 0.0 || self.half.1 <= 0.0
    }

    /// Gives the rectangle with a margin around it.
    pub fn grown(&self, margin: f64) -> Rectangle {
        Rectangle {
            center: self.center,
            half: (self.half.0 + margin, self.half.1 + margin),
        }
    }

    /// Gives left, top, right, bottom.
    pub fn sides(&self) -> [f64; 4] {
        [
            self.center.0 - self.half.0,
            self.center.1 - self.half.1,
            self.center.0 + self.half.0,
            self.center.1 + self.half.1,
        ]
    }

    /// Gives the rectangle between two corners.
    pub fn between(low: Point, high: Point) -> Rectangle {
        Rectangle {
            center: (0.5 * (low.0 + high.0), 0.5 * (low.1 + high.1)),
            half: (0.5 * (high.0 - low.0), 0.5 * (high.1 - low.1)),
        }
    }

    /// Gives the point where the ray from the middle towards `to` leaves the rectangle.
    pub fn exit(&self, to: Point) -> Point {
        let (dx, dy) = (to.0 - self.center.0, to.1 - self.center.1);
        let along_x = if dx == 0.0 {
            f64::INFINITY
        } else {
            self.half.0 / dx.abs()
        };
        let along_y = if dy == 0.0 {
            f64::INFINITY
        } else {
            self.half.1 / dy.abs()
        };
        let part = along_x.min(along_y);
        if !part.is_finite() {
            return self.center;
        }
        (self.center.0 + part * dx, self.center.1 + part * dy)
    }

    /// Tells whether the straight line between two points passes through the inside.
    pub fn is_cut_by(&self, a: Point, b: Point) -> bool {
        // Liang & Barsky 1984: the part of the line that is inside all four half planes.
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let [left, top, right, bottom] = self.sides();
        let axes = [(a.0, b.0 - a.0, left, right), (a.1, b.1 - a.1, top, bottom)];
        for (start, slope, low, high) in axes {
            if slope.abs() < 1e-9 {
                if start <= low + TOUCH || start >= high - TOUCH {
                    return false;
                }
                continue;
            }
            let (t1, t2) = (
                (low + TOUCH - start) / slope,
                (high - TOUCH - start) / slope,
            );
            enter = enter.max(t1.min(t2));
            leave = leave.min(t1.max(t2));
        }
        enter < leave
    }
}

/// Rectangles that meet by less than this, in points, only touch.
const TOUCH: f64 = 0.01;

/// Tells whether two straight lines cross at a point inside both.
pub fn cross(a: Point, b: Point, c: Point, d: Point) -> bool {
    let side = |p: Point, q: Point, r: Point| (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0);
    let (s1, s2) = (side(a, b, c), side(a, b, d));
    let (s3, s4) = (side(c, d, a), side(c, d, b));
    s1 * s2 < -1e-12 && s3 * s4 < -1e-12
}

/// Gives the distance of a point from a straight line between two points.
pub fn distance(p: Point, a: Point, b: Point) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length2 = dx * dx + dy * dy;
    let t = if length2 == 0.0 {
        0.0
    } else {
        (((p.0 - a.0) * dx + (p.1 - a.1) * dy) / length2).clamp(0.0, 1.0)
    };
    let (x, y) = (p.0 - a.0 - t * dx, p.1 - a.1 - t * dy);
    (x * x + y * y).sqrt()
}

impl Diagram {
    /// Lists where labels are: names of junctions, moduli, numbers, ports and frames.
    pub fn labels(&self) -> impl Iterator<Item = Rectangle> + '_ {
        let of_bond = |b: &Line| [b.label_box, b.port_boxes[0], b.port_boxes[1]];
        let of_nodes = self.nodes.iter().map(|n| n.small_box);
        let of_bonds = self.bonds.iter().flat_map(of_bond);
        let of_frames = self.frames.iter().map(|f| f.name_box);
        let all = of_nodes.chain(of_bonds).chain(of_frames);
        all.filter(|area| !area.is_empty())
    }

    /// Counts the faults of the drawing.
    pub fn faults(&self) -> Faults {
        let mut faults = Faults {
            merged: strokes::n_merged(&self.bonds),
            ..Faults::default()
        };
        let labels: Vec<Rectangle> = self.labels().collect();
        let mut boxes = labels.clone();
        boxes.extend(self.nodes.iter().map(|n| n.area));
        for (k, a) in boxes.iter().enumerate() {
            faults.overlaps += boxes[..k].iter().filter(|b| a.overlaps(b)).count();
        }
        for (k, one) in self.bonds.iter().enumerate() {
            let (a, b) = (one.points[0], one.points[1]);
            let crosses = |o: &&Line| cross(a, b, o.points[0], o.points[1]);
            faults.crossings += self.bonds[..k].iter().filter(crosses).count();
            faults.covered += labels.iter().filter(|area| area.is_cut_by(a, b)).count();
            let others = self.nodes.iter().enumerate();
            faults.pierced += others
                .filter(|(n, node)| *n != one.tail && *n != one.head && node.area.is_cut_by(a, b))
                .count();
        }
        for frame in &self.frames {
            let is_inside = |k: &usize| frame.area.overlaps(&self.nodes[*k].area);
            let strangers = (0..self.nodes.len()).filter(|k| frame.nodes.binary_search(k).is_err());
            faults.strangers += strangers.filter(is_inside).count();
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_share_an_end_do_not_cross() {
        let o = (0.0, 0.0);
        assert!(!cross(o, (2.0, 0.0), o, (0.0, 2.0)));
        assert!(!cross(o, (2.0, 0.0), (1.0, 0.0), (1.0, 1.0)));
        assert!(cross(o, (2.0, 0.0), (1.0, -1.0), (1.0, 1.0)));
    }

    #[test]
    fn a_ray_leaves_a_rectangle_at_its_border() {
        let r = Rectangle {
            center: (1.0, 1.0),
            half: (2.0, 1.0),
        };
        assert_eq!(r.exit((9.0, 1.0)), (3.0, 1.0));
        assert_eq!(r.exit((1.0, -9.0)), (1.0, 0.0));
        assert_eq!(r.exit((1.0, 1.0)), (1.0, 1.0));
    }

    #[test]
    fn a_line_beside_a_rectangle_does_not_cut_it() {
        let r = Rectangle {
            center: (0.0, 0.0),
            half: (1.0, 1.0),
        };
        assert!(r.is_cut_by((-2.0, 0.5), (2.0, 0.5)));
        assert!(!r.is_cut_by((-2.0, 1.0), (2.0, 1.0)));
        assert!(!r.is_cut_by((-2.0, 0.5), (-1.5, 0.5)));
    }
}
