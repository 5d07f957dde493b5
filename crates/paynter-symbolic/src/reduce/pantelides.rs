//! Differentiates equations until every highest derivative has an equation of its own.
//!
//! In:  a [`System`] with as many equations as unknowns.
//! Out: the same with derivatives of some rows added; a matching of the highest derivatives.
//!
//! **Invariant:** no row is differentiated more often than it must be, whatever the order of
//! rows (Pantelides 1988). A system without any complete matching is refused before, so the
//! search ends.

use super::error::{EquationRef, Part, StructuralError};
use super::graph::{Incidence, Marks, NONE};
use super::matching::{Matching, maximize, unpaired};
use super::system::{EquationRow, System};
use crate::calculus::total_derivative;
use crate::dae::{Equation, Role};
use crate::expr::{ExprId, Pool, SymbolId};

/// Checks that the equations determine the unknowns, counting an unknown and its derivatives
/// as one.
///
/// # Errors
///
/// The parts with too many or too few equations.
pub(crate) fn check_structure(
    system: &mut System,
    redundant: &[EquationRef],
) -> Result<(), StructuralError> {
    let n_columns = system.dae.symbols.len();
    let base = bases(system);

    let mut merged = Incidence::default();
    let mut row: Vec<u32> = Vec::new();
    for r in 0..system.rows.len() as u32 {
        row.clear();
        row.extend(system.incidence.row(r).iter().map(|&s| base[s as usize]));
        row.sort_unstable();
        row.dedup();
        merged.push(row.iter().copied());
    }

    let mut matching = Matching::new(system.rows.len(), n_columns);
    for (r, row) in system.rows.iter().enumerate() {
        if let Some(s) = row.equation.solves {
            let s = base[s.0 as usize];
            if merged.row(r as u32).binary_search(&s).is_ok() {
                matching.pair(r as u32, s);
            }
        }
    }

    maximize(&merged, &mut matching);
    system.work += matching.work;
    let counts = |c: u32| system.is_unknown[c as usize] && base[c as usize] == c;
    let is_complete = matching.column_of.iter().all(|&c| c != NONE)
        && (0..n_columns as u32).all(|c| !counts(c) || matching.row_of[c as usize] != NONE);
    if is_complete {
        return Ok(());
    }
    let parts = unpaired(&merged, &matching, &counts);
    let part = |(rows, columns): (Vec<u32>, Vec<u32>)| {
        let rows = rows.into_iter();
        let mut equations: Vec<EquationRef> = rows.map(|r| system.reference(r)).collect();
        equations.sort_unstable();
        Part {
            equations,
            unknowns: columns.into_iter().map(SymbolId).collect(),
        }
    };
    let (over, under) = (part(parts.over), part(parts.under));
    let redundant = redundant.to_vec();
    let has_over = !over.equations.is_empty();
    Err(match (has_over, !under.unknowns.is_empty()) {
        (true, false) => StructuralError::OverDetermined(over),
        (false, _) => StructuralError::UnderDetermined {
            part: under,
            redundant,
        },
        (true, true) => StructuralError::Singular {
            over,
            under,
            redundant,
        },
    })
}

/// For each unknown what it is a derivative of, of any order; itself where it is none.
fn bases(system: &System) -> Vec<u32> {
    let ids = (0..system.dae.symbols.len() as u32).map(SymbolId);
    ids.map(|s| {
        // A derivative may have a smaller id than what it is the derivative of: walk the chain.
        let chain = std::iter::successors(Some(s), |&at| system.integral_of(at));
        chain.last().map_or(s.0, |base| base.0)
    })
    .collect()
}

/// Differentiates rows as needed. [`check_structure`] must have passed.
///
/// Returns for each highest derivative the row that it is paired with.
pub(crate) fn differentiate(system: &mut System) -> Vec<u32> {
    let mut matching = match_highest(system);
    let mut search = Search::default();
    for r in 0..system.rows.len() as u32 {
        let mut row = r;
        while matching.column_of[row as usize] == NONE
            && !search.augment(system, &mut matching, row)
        {
            let columns = std::mem::take(&mut search.columns_reached);
            let rows = std::mem::take(&mut search.rows_reached);
            for &c in &columns {
                system.derivative_of(SymbolId(c));
            }
            matching.row_of.resize(system.dae.symbols.len(), NONE);
            for &r in &rows {
                differentiate_row(system, r);
                matching.column_of.push(NONE);
            }
            for &c in &columns {
                let d = system.derivative_of(SymbolId(c)).0;
                let of = matching.row_of[c as usize];
                let derived = derived_row(system, of);
                matching.pair(derived, d);
            }
            row = derived_row(system, row);
        }
    }

    system.work += matching.work + search.work;
    let mut row_of = matching.row_of;
    for (s, row) in row_of.iter_mut().enumerate() {
        if !is_highest(system, s as u32) {
            *row = NONE;
        }
    }
    row_of
}

fn derived_row(system: &System, row: u32) -> u32 {
    system.rows[row as usize]
        .derivative
        .expect("rows reached by the search were differentiated")
}

/// Tells whether a symbol is the highest derivative in its chain.
fn is_highest(system: &System, s: u32) -> bool {
    system.derivative[s as usize].is_none()
}

/// Pairs rows with highest derivatives as far as that goes without differentiating.
fn match_highest(system: &mut System) -> Matching {
    let n_columns = system.dae.symbols.len();
    let mut highest = Incidence::default();
    let mut matching = Matching::new(system.rows.len(), n_columns);
    for r in 0..system.rows.len() as u32 {
        let row = system.incidence.row(r);
        highest.push(row.iter().copied().filter(|&s| is_highest(system, s)));
        if let Some(s) = system.rows[r as usize].equation.solves
            && is_highest(system, s.0)
            && row.binary_search(&s.0).is_ok()
        {
            matching.pair(r, s.0);
        }
    }
    maximize(&highest, &mut matching);
    matching
}

#[derive(Default)]
struct Search {
    row_marks: Marks,
    column_marks: Marks,
    rows_reached: Vec<u32>,
    columns_reached: Vec<u32>,
    /// (row, place of the next column)
    path: Vec<(u32, u32)>,
    work: u64,
}

impl Search {
    /// Pairs a row by an alternating path; if there is none, `rows_reached` and
    /// `columns_reached` hold all that was reached: one row more than columns.
    fn augment(&mut self, system: &System, matching: &mut Matching, root: u32) -> bool {
        self.row_marks.restart(system.rows.len());
        self.column_marks.restart(system.dae.symbols.len());
        self.rows_reached.clear();
        self.columns_reached.clear();
        self.path.clear();
        self.reach(root);
        while let Some((r, at)) = self.path.pop() {
            let Some(&c) = system.incidence.row(r).get(at as usize) else {
                continue;
            };
            self.work += 1;
            self.path.push((r, at + 1));
            if !is_highest(system, c) || !self.column_marks.add(c) {
                continue;
            }
            self.columns_reached.push(c);
            let other = matching.row_of[c as usize];
            if other == NONE {
                for &(r, next) in &self.path {
                    let c = system.incidence.row(r)[next as usize - 1];
                    matching.column_of[r as usize] = c;
                    matching.row_of[c as usize] = r;
                }
                return true;
            }
            if !self.row_marks.has(other) {
                self.reach(other);
            }
        }
        false
    }

    fn reach(&mut self, row: u32) {
        self.row_marks.add(row);
        self.rows_reached.push(row);
        self.path.push((row, 0));
    }
}

/// Adds the time derivative of a row; the derivatives of its unknowns exist already.
fn differentiate_row(system: &mut System, row: u32) {
    let EquationRow {
        equation, source, ..
    } = system.rows[row as usize];
    let left = differentiate_expression(system, equation.left, row);
    let right = differentiate_expression(system, equation.right, row);
    let solves = equation
        .solves
        .and_then(|s| system.derivative[s.0 as usize]);
    let equation = Equation {
        left,
        right,
        solves,
        origin: equation.origin,
    };
    let derived = system.push(EquationRow {
        equation,
        source,
        derivative: None,
        integral: Some(row),
    });
    system.rows[row as usize].derivative = Some(derived);
}

fn differentiate_expression(system: &mut System, e: ExprId, row: u32) -> ExprId {
    let origin = system.rows[row as usize].equation.origin;
    let symbols = &system.dae.symbols;
    let derivative = &system.derivative;
    let switches = &mut system.differentiated_switches;
    let mut rate = |pool: &mut Pool, s: SymbolId| match symbols[s.0 as usize].role {
        Role::Time => Some(pool.number(1.0)),
        Role::Parameter { .. } => None,
        Role::Discrete { .. } | Role::Pre { .. } | Role::Mode { .. } => {
            switches.push((origin, s, e));
            None
        }
        Role::Unknown | Role::Derivative { .. } => derivative[s.0 as usize].map(|d| pool.symbol(d)),
    };
    total_derivative(&mut system.dae.pool, e, &mut rate)
}
