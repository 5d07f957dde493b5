//! Causal strokes that can be told apart: where two would merge, one bond ends a little earlier.
//!
//! In:  straight bonds with their strokes.
//! Out: the same bonds, some of them shorter; no line turns.
//!
//! **Invariant:** a stroke stays at the very end of its bond, and no bond becomes shorter than its half
//! arrow and stroke need.

use super::arrange::{STROKE, flow_side, unit};
use super::geometry::{cross, distance};
use super::{Line, Point, Strokes};

/// Middles of two strokes are at least this far apart where there is room: each is 3 wide.
const APART: f64 = 6.0;
/// Nearer than this, they are seen as one.
const MERGED: f64 = 4.0;
/// A stroke is this far from the line of another bond where there is room.
const FROM_LINE: f64 = 3.0;
/// A bond keeps this length: a half arrow, a stroke, and a piece of line between.
const MIN_LENGTH: f64 = 26.0;
/// A bond ends earlier by this much at a time.
const PULL: f64 = 3.0;
/// Pulls by 36 in all: the strokes of bonds that leave 25° apart are free of each other by then.
const MAX_ROUNDS: usize = 12;

/// A stroke: which end of which line, and from where to where it goes.
#[derive(Clone, Copy, Debug)]
struct Stroke {
    line: usize,
    end: usize,
    ink: [Point; 2],
}

/// A bar across the end of a bond: a stroke, or half of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    /// 0 at the tail, 1 at the head.
    pub(super) end: usize,
    /// From where it goes beside the bond: -1 is the side of the effort, 0 the bond, 1 the side of the flow (that of the half arrow).
    pub(super) from: f64,
    /// To where.
    pub(super) to: f64,
}

/// The bars that strokes are drawn with.
pub(super) fn bars(strokes: Strokes) -> &'static [Bar] {
    const fn bar(end: usize, from: f64, to: f64) -> Bar {
        Bar { end, from, to }
    }
    const TAIL: Bar = bar(0, -1.0, 1.0);
    const HEAD: Bar = bar(1, -1.0, 1.0);
    match strokes {
        Strokes::None => &[],
        Strokes::Tail => &[TAIL],
        Strokes::Head => &[HEAD],
        Strokes::Both => &[TAIL, HEAD],
        // An effort goes to its stroke, a flow comes from it.
        Strokes::ToHead => const { &[bar(0, 0.0, 1.0), bar(1, -1.0, 0.0)] },
        Strokes::ToTail => const { &[bar(0, -1.0, 0.0), bar(1, 0.0, 1.0)] },
    }
}

/// Moves ends of bonds back until strokes do not merge.
pub(super) fn separate(bonds: &mut [Line]) {
    for _ in 0..MAX_ROUNDS {
        let strokes = strokes_of(bonds);
        let mut pulled: Vec<(usize, usize)> = Vec::new();
        for (k, a) in strokes.iter().enumerate() {
            for b in strokes[..k].iter().filter(|b| gap(a, b) < APART) {
                pulled.extend(
                    [a, b]
                        .into_iter()
                        .filter(|s| length(&bonds[s.line]) > MIN_LENGTH + PULL)
                        .max_by(|s, t| slack(&bonds[s.line]).total_cmp(&slack(&bonds[t.line])))
                        .map(|s| (s.line, s.end)),
                );
            }
            if is_on_other_line(a, bonds) && length(&bonds[a.line]) > MIN_LENGTH + PULL {
                pulled.push((a.line, a.end));
            }
        }
        if pulled.is_empty() {
            return;
        }
        pulled.sort_unstable();
        pulled.dedup();
        for (line, end) in pulled {
            pull(&mut bonds[line], end);
        }
    }
}

/// Counts pairs of strokes that are seen as one.
pub(super) fn n_merged(bonds: &[Line]) -> usize {
    let strokes = strokes_of(bonds);
    let merged = |k: usize| {
        let earlier = strokes[..k].iter();
        earlier.filter(|b| gap(&strokes[k], b) < MERGED).count()
    };
    (0..strokes.len()).map(merged).sum()
}

/// Counts the same, and lists the nodes at the ends of their bonds.
pub(super) fn merged_nodes(bonds: &[Line], nodes: &mut Vec<usize>) -> usize {
    let strokes = strokes_of(bonds);
    let mut n = 0;
    for (k, a) in strokes.iter().enumerate() {
        for b in strokes[..k].iter().filter(|b| gap(a, b) < MERGED) {
            n += 1;
            nodes.extend([a, b].into_iter().flat_map(|s| {
                let bond = &bonds[s.line];
                [bond.tail, bond.head]
            }));
        }
    }
    n
}

fn strokes_of(bonds: &[Line]) -> Vec<Stroke> {
    let mut strokes = Vec::with_capacity(bonds.len());
    for (line, bond) in bonds.iter().enumerate() {
        strokes.extend(bars(bond.strokes).iter().map(|bar| Stroke {
            line,
            end: bar.end,
            ink: ink(bond, bar),
        }));
    }
    strokes
}

/// From where to where the stroke at an end goes.
fn ink(bond: &Line, bar: &Bar) -> [Point; 2] {
    let (a, b) = (bond.points[0], bond.points[1]);
    let s = flow_side(unit(a, b));
    let at = bond.points[bar.end];
    [bar.from, bar.to].map(|by| (at.0 + by * STROKE * s.0, at.1 + by * STROKE * s.1))
}

fn length(bond: &Line) -> f64 {
    let (a, b) = (bond.points[0], bond.points[1]);
    ((b.0 - a.0) * (b.0 - a.0) + (b.1 - a.1) * (b.1 - a.1)).sqrt()
}

/// Long and slanted bonds give way first: level ones line up with others.
fn slack(bond: &Line) -> f64 {
    let (dx, dy) = unit(bond.points[0], bond.points[1]);
    let is_slanted = dx.abs().min(dy.abs()) > 0.01;
    length(bond) + if is_slanted { 1000.0 } else { 0.0 }
}

fn gap(a: &Stroke, b: &Stroke) -> f64 {
    let far = (a.ink[0].0 - b.ink[0].0)
        .abs()
        .max((a.ink[0].1 - b.ink[0].1).abs());
    // Nothing nearer than this can be within APART.
    if far > 4.0 * STROKE + APART {
        return far;
    }
    between(a.ink, b.ink)
}

fn between(a: [Point; 2], b: [Point; 2]) -> f64 {
    if cross(a[0], a[1], b[0], b[1]) {
        return 0.0;
    }
    let ends = [
        distance(a[0], b[0], b[1]),
        distance(a[1], b[0], b[1]),
        distance(b[0], a[0], a[1]),
        distance(b[1], a[0], a[1]),
    ];
    ends.into_iter().fold(f64::INFINITY, f64::min)
}

fn is_on_other_line(stroke: &Stroke, bonds: &[Line]) -> bool {
    bonds.iter().enumerate().any(|(k, bond)| {
        let line = [bond.points[0], bond.points[1]];
        let middle = (
            0.5 * (stroke.ink[0].0 + stroke.ink[1].0),
            0.5 * (stroke.ink[0].1 + stroke.ink[1].1),
        );
        k != stroke.line
            && distance(middle, line[0], line[1]) < STROKE + FROM_LINE
            && between(stroke.ink, line) < FROM_LINE
    })
}

fn pull(bond: &mut Line, end: usize) {
    let other = bond.points[1 - end];
    let d = unit(bond.points[end], other);
    bond.points[end].0 += PULL * d.0;
    bond.points[end].1 += PULL * d.1;
}
