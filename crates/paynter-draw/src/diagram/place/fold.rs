//! Long chains in several rows, as a text has lines: one endless row is not a picture.
//!
//! In:  cells of a drawing that is wider than a page.
//! Out: cells in which the chain turns at the end of a row and comes back below, as one mows a lawn.
//!
//! **Invariant:** a row ends only where a single level bond leads on and no frame is cut; the order
//! along the chain stays.

use super::Cell;
use crate::diagram::view::View;

/// More columns than this are folded: about a page in landscape.
const MAX_COLUMNS: i32 = 10;

/// Folds a drawing that is too wide, if it can be cut.
pub(super) fn fold(view: &View, cells: &mut [Cell]) {
    let mut left = 0;
    let n_columns = cells.iter().map(|c| c.0 + 1).max().unwrap_or(0);
    // Rows of about the same length.
    let n_rows = (n_columns + MAX_COLUMNS - 1) / MAX_COLUMNS;
    let mut turns: Vec<Turn> = Vec::new();
    while n_columns - left > MAX_COLUMNS {
        let wanted = left + (n_columns + n_rows - 1) / n_rows.max(1) - 1;
        let places = left + MAX_COLUMNS / 2..left + MAX_COLUMNS;
        let found = places
            .filter_map(|column| turn_at(view, cells, column))
            .min_by_key(|turn| (turn.column - wanted).abs());
        let Some(turn) = found else { break };
        left = turn.column + 1;
        turns.push(turn);
    }
    if !turns.is_empty() {
        lay_rows(cells, &turns);
    }
}

/// A place where a row may end.
#[derive(Clone, Debug)]
struct Turn {
    /// The last column of the row.
    column: i32,
    /// The bond that leads on.
    ends: [usize; 2],
    /// One-ports in the way of that bond, once it goes down: below its first end, above its second.
    in_the_way: [Option<usize>; 2],
}

fn turn_at(view: &View, cells: &[Cell], column: i32) -> Option<Turn> {
    let is_left = |k: usize| cells[k].0 <= column;
    let mut across = view
        .edges
        .iter()
        .filter(|e| is_left(e.tail) != is_left(e.head));
    let edge = across.next().filter(|_| across.next().is_none())?;
    let ends = match is_left(edge.tail) {
        true => [edge.tail, edge.head],
        false => [edge.head, edge.tail],
    };
    let [a, b] = ends.map(|k| cells[k]);
    let is_level = a.1 == b.1 && a.0 == column && b.0 == column + 1;
    if !is_level || is_frame_cut(view, cells, column) {
        return None;
    }
    let hangs_on = |k: usize, node: usize| {
        let mut own = view.edges.iter().filter(|e| e.tail == k || e.head == k);
        let is_at = |e: &crate::diagram::view::ViewEdge| e.tail == node || e.head == node;
        own.next().is_some_and(is_at) && own.next().is_none()
    };

    let beyond = |node: usize, sign: i32| {
        let at = cells[node];
        let is_beyond = move |k: &usize| {
            let c = cells[*k];
            c.0 == at.0 && (c.1 - at.1) * sign > 0
        };
        (0..cells.len()).filter(is_beyond).collect::<Vec<usize>>()
    };

    let mut in_the_way = [None, None];
    for (k, sign) in [(0, 1), (1, -1)] {
        match beyond(ends[k], sign)[..] {
            [] => {}
            [one] if hangs_on(one, ends[k]) => in_the_way[k] = Some(one),
            _ => return None,
        }
    }

    Some(Turn {
        column,
        ends,
        in_the_way,
    })
}

fn is_frame_cut(view: &View, cells: &[Cell], column: i32) -> bool {
    let mut sides = vec![[false; 2]; view.frames.len()];
    for (node, cell) in view.nodes.iter().zip(cells) {
        let mut at = node.frame;
        while let Some(f) = at {
            sides[f][usize::from(cell.0 > column)] = true;
            at = view.frames[f].parent;
        }
    }
    sides.contains(&[true, true])
}

/// Puts the part behind each turn below the part before it, every second one mirrored.
fn lay_rows(cells: &mut [Cell], turns: &[Turn]) {
    let row_of = |column: i32| turns.iter().filter(|t| column > t.column).count();
    let rows: Vec<usize> = cells.iter().map(|c| row_of(c.0)).collect();
    let span = |row: usize, cells: &[Cell]| {
        let own = cells.iter().zip(&rows).filter(|(_, r)| **r == row);
        own.fold((i32::MAX, i32::MIN), |(low, high), (c, _)| {
            (low.min(c.1), high.max(c.1))
        })
    };

    // Where each row starts: its first column, where that is drawn, and the height above it.
    let (mut first, mut x, mut below) = (0, 0, 0);
    let old = cells.to_vec();
    for row in 0..=turns.len() {
        let sign = if row % 2 == 0 { 1 } else { -1 };
        let (top, bottom) = span(row, &old);
        for (k, cell) in cells
            .iter_mut()
            .enumerate()
            .filter(|(k, _)| rows[*k] == row)
        {
            *cell = (x + sign * (old[k].0 - first), below + old[k].1 - top);
        }
        below += bottom - top + 1;
        if let Some(turn) = turns.get(row) {
            x += sign * (turn.column - first);
            first = turn.column + 1;
        }
    }

    for (k, turn) in turns.iter().enumerate() {
        let outwards = if k % 2 == 0 { 1 } else { -1 };
        for (end, one_port) in turn.ends.iter().zip(turn.in_the_way) {
            if let Some(one_port) = one_port {
                cells[one_port] = (cells[*end].0 + outwards, cells[*end].1);
            }
        }
    }
    close_gaps(cells);
}

/// Takes out rows and columns without nodes.
fn close_gaps(cells: &mut [Cell]) {
    let mut columns: Vec<i32> = cells.iter().map(|c| c.0).collect();
    let mut rows: Vec<i32> = cells.iter().map(|c| c.1).collect();
    for list in [&mut columns, &mut rows] {
        list.sort_unstable();
        list.dedup();
    }
    for cell in cells.iter_mut() {
        let place = |list: &[i32], at: i32| list.partition_point(|&x| x < at) as i32;
        *cell = (place(&columns, cell.0), place(&rows, cell.1));
    }
}
