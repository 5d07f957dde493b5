//! Mends what cells cannot know: bonds through nodes, strokes that merge, frames around strangers.
//!
//! In:  a placement on the grid.
//! Out: one whose drawing has fewer faults, or the same.
//!
//! Cells are all alike, but nodes are as wide as their names: a slanted bond that passes a cell may
//! touch what is in it. Here the drawing itself is looked at, without its labels.
//!
//! **Invariant:** the work is bounded by [`MAX_WORK`]; equal placements give equal results.

use super::Diagram;
use super::arrange::{Sheet, skeleton};
use super::geometry::cross;
use super::place::{Cell, Placement};
use super::strokes;

/// Drawings looked at, at most.
const MAX_LOOKS: usize = 1200;
/// Pairs of bonds and nodes looked at, at most: some tenths of a second.
const MAX_WORK: usize = 6_000_000;
/// A node is tried in cells so far away.
const REACH: i32 = 2;
/// A fault in cells of length: worth a detour, but not a turn of the whole drawing.
const FAULT: f64 = 40.0;
/// A crossing, likewise.
const CROSSING: f64 = 8.0;

/// Moves nodes until the drawing has no faults, or no move helps.
pub(super) fn repair(sheet: &Sheet<'_>, mut placement: Placement) -> Placement {
    if placement.is_pinned {
        return placement;
    }
    let pairs = sheet.view.nodes.len() * sheet.view.edges.len() + 1;
    let max_looks = (MAX_WORK / pairs).min(MAX_LOOKS);
    let mut n_looks = 0;
    let mut present = look(sheet, &placement);
    while !present.guilty.is_empty() && n_looks < max_looks {
        let mut best: Option<(Look, Vec<Cell>)> = None;
        for cells in moves(&placement.cells, &present.guilty) {
            let tried = Placement {
                cells,
                is_pinned: false,
            };
            let found = look(sheet, &tried);
            n_looks += 1;
            let least = best.as_ref().map_or(present.cost, |(b, _)| b.cost);
            if found.cost < least - 1e-6 {
                best = Some((found, tried.cells));
            }
            if n_looks >= max_looks {
                break;
            }
        }
        let Some((found, cells)) = best else { break };
        (present, placement.cells) = (found, cells);
    }
    placement
}

/// What a drawing looks like.
struct Look {
    cost: f64,
    /// Nodes that have a part in a fault.
    guilty: Vec<usize>,
}

fn look(sheet: &Sheet<'_>, placement: &Placement) -> Look {
    let drawn = skeleton(sheet, placement, 1.0);
    let mut guilty = guilty_nodes(&drawn);
    let n_faults = guilty.len();
    let n_merged = strokes::merged_nodes(&drawn.bonds, &mut guilty);
    let n_strangers = strangers(sheet, &drawn, &mut guilty);
    guilty.sort_unstable();
    guilty.dedup();
    let mut cost = FAULT * (n_faults / 3 + n_merged + n_strangers) as f64;
    for (k, bond) in drawn.bonds.iter().enumerate() {
        let (a, b) = (bond.points[0], bond.points[1]);
        let (dx, dy) = ((b.0 - a.0).abs(), (b.1 - a.1).abs());
        cost += 0.02 * (dx + dy) + if dx.min(dy) > 1.0 { 2.0 } else { 0.0 };
        let crosses = |o: &&super::Line| cross(a, b, o.points[0], o.points[1]);
        cost += CROSSING * drawn.bonds[..k].iter().filter(crosses).count() as f64;
    }
    Look { cost, guilty }
}

/// Ends of bonds that pass through a node, and the node: three for each fault.
fn guilty_nodes(drawn: &Diagram) -> Vec<usize> {
    let mut guilty = Vec::new();
    for bond in &drawn.bonds {
        let (a, b) = (bond.points[0], bond.points[1]);
        for (k, node) in drawn.nodes.iter().enumerate() {
            let is_end = k == bond.tail || k == bond.head;
            // A little more than the letters.
            if !is_end && node.area.grown(2.0).is_cut_by(a, b) {
                guilty.extend([k, bond.tail, bond.head]);
            }
        }
    }
    guilty
}

/// Counts nodes inside frames that are not theirs.
fn strangers(sheet: &Sheet<'_>, drawn: &Diagram, guilty: &mut Vec<usize>) -> usize {
    let mut n = 0;
    for (frame, members) in sheet.members.iter().enumerate() {
        let area = sheet.rough_frame(drawn, frame);
        for (k, node) in drawn.nodes.iter().enumerate() {
            if members.binary_search(&k).is_err() && area.overlaps(&node.area) {
                guilty.push(k);
                n += 1;
            }
        }
    }
    n
}

/// Small changes: a node to another cell, two nodes swapped, or everything beyond a node moved on.
fn moves(cells: &[Cell], guilty: &[usize]) -> Vec<Vec<Cell>> {
    let mut all = Vec::new();
    for &node in guilty {
        let own = cells[node];
        for dy in -REACH..=REACH {
            for dx in -REACH..=REACH {
                let to = (own.0 + dx, own.1 + dy);
                if to == own {
                    continue;
                }
                let mut changed = cells.to_vec();
                if let Some(other) = cells.iter().position(|&c| c == to) {
                    changed[other] = own;
                }
                changed[node] = to;
                all.push(from_zero(changed));
            }
        }
        // A free row or column before the node.
        for (column, row) in [(1, 0), (0, 1)] {
            let is_beyond = |c: &Cell| match column {
                1 => c.0 >= own.0,
                _ => c.1 >= own.1,
            };
            let moved = cells.iter().map(|c| match is_beyond(c) {
                true => (c.0 + column, c.1 + row),
                false => *c,
            });
            all.push(moved.collect());
        }
    }
    all
}

fn from_zero(mut cells: Vec<Cell>) -> Vec<Cell> {
    let left = cells.iter().map(|c| c.0).min().unwrap_or(0);
    let top = cells.iter().map(|c| c.1).min().unwrap_or(0);
    cells.iter_mut().for_each(|c| *c = (c.0 - left, c.1 - top));
    cells
}
