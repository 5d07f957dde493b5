//! Facts about large systems: work grows as the system does.

use super::*;
use crate::dae::{Equation, Origin, Role, Symbol};
use crate::expr::ExprId;
use crate::names::Names;

/// Which hints a ladder carries, and what its cells hold.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    /// Resistor and capacitor, causality complete.
    Causal,
    /// Resistor and capacitor, no causality.
    Bare,
    /// Two resistors: no storage, so the whole ladder is one algebraic loop.
    Resistive,
    /// Resistor, and two capacitors in parallel of which one is dependent.
    Dependent,
}

struct Ladder {
    dae: Dae,
    has_hints: bool,
}

impl Ladder {
    fn unknown(&mut self, name: &str, cell: usize) -> (SymbolId, ExprId) {
        self.symbol(name, cell, Role::Unknown)
    }

    fn derivative(&mut self, name: &str, cell: usize, of: SymbolId) -> (SymbolId, ExprId) {
        self.symbol(name, cell, Role::Derivative { of })
    }

    fn symbol(&mut self, name: &str, cell: usize, role: Role) -> (SymbolId, ExprId) {
        let parent = self.dae.names.child(Names::ROOT, "cell", Some(cell as i64));
        let name = self.dae.names.child(parent, name, None);
        let s = self.dae.add_symbol(Symbol {
            name,
            role,
            nominal: 0.0,
            origin: Origin(0),
        });
        (s, self.dae.pool.symbol(s))
    }

    fn equation(&mut self, left: ExprId, right: ExprId, solves: SymbolId) {
        let origin = Origin(self.dae.equations.len() as u32);
        let solves = self.has_hints.then_some(solves);
        self.dae.equations.push(Equation {
            left,
            right,
            solves,
            origin,
        });
    }
}

impl Ladder {
    /// What is in the branch of cell `i`, with its voltage and current; `u` is the voltage of the node.
    fn storage(
        &mut self,
        cell: Cell,
        i: usize,
        (r, c): (ExprId, ExprId),
        (s_uc, uc, fc): (SymbolId, ExprId, ExprId),
        u: ExprId,
    ) {
        if let Cell::Resistive = cell {
            let voltage = self.dae.pool.mul(r, fc);
            return self.equation(uc, voltage, s_uc);
        }

        let (s_q, q) = self.unknown("q", i);
        let (s_dq, dq) = self.derivative("q", i, s_q);
        let voltage = self.dae.pool.div(q, c);
        match cell {
            Cell::Dependent => {
                let (s_p, p) = self.unknown("p", i);
                let (_, dp) = self.derivative("p", i, s_p);
                let (s_fp, fp) = self.unknown("fp", i);
                self.equation(uc, voltage, s_uc);
                let charge = self.dae.pool.mul(c, u);
                self.equation(p, charge, s_p);
                self.equation(fp, dp, s_fp);
                let left = self.dae.pool.sub(fc, fp);
                self.equation(dq, left, s_dq);
            }
            _ => {
                self.equation(uc, voltage, s_uc);
                self.equation(dq, fc, s_dq);
            }
        }
        self.dae.preferred_states.push(s_q);
    }
}

/// A ladder of `n` cells behind a source, as written by junctions: many copies.
fn ladder(n: usize, cell: Cell) -> Dae {
    let mut l = Ladder {
        dae: Dae::default(),
        has_hints: cell != Cell::Bare,
    };

    let parameter = |value| Role::Parameter {
        value,
        binding: None,
    };
    let (_, r) = l.symbol("R", 0, parameter(2.0));
    let (_, c) = l.symbol("C", 0, parameter(0.5));
    let (time, t) = l.symbol("time", 0, Role::Time);
    l.dae.time = Some(time);
    let (us, u_source) = l.unknown("us", 0);
    let wave = l.dae.pool.call1(crate::expr::Function1::Sin, t);
    l.equation(u_source, wave, us);
    let mut u_before = u_source;
    let mut before: Option<(SymbolId, ExprId, ExprId)> = None;
    for i in 1..=n {
        let (s_er, er) = l.unknown("er", i);
        let (s_fr, fr) = l.unknown("fr", i);
        let (s_f, f) = l.unknown("f", i);
        let (s_u, u) = l.unknown("u", i);
        let (s_uc, uc) = l.unknown("uc", i);
        let (s_fc, fc) = l.unknown("fc", i);
        let (s_copy, copy) = l.unknown("copy", i);
        let drop = l.dae.pool.sub(u_before, u);
        l.equation(er, drop, s_er);
        let current = l.dae.pool.div(er, r);
        l.equation(fr, current, s_fr);
        l.equation(f, fr, s_f);
        l.equation(u, uc, s_u);
        l.equation(copy, u, s_copy);
        if let Some((s, fc_before, f_before)) = before {
            let sum = l.dae.pool.sub(f_before, f);
            l.equation(fc_before, sum, s);
        }
        l.storage(cell, i, (r, c), (s_uc, uc, fc), u);
        u_before = copy;
        before = Some((s_fc, fc, f));
    }

    if let Some((s, fc, f)) = before {
        l.equation(fc, f, s);
    }
    l.dae
}

#[test]
fn work_grows_as_the_ladder() {
    for cell in [Cell::Causal, Cell::Bare, Cell::Resistive, Cell::Dependent] {
        let work = [1000, 10_000].map(|n| work_of(n, cell));
        // Exactly ten times, up to the two ends of the ladder.
        assert!(work[1] < 11 * work[0], "{work:?}");
    }
    assert!(work_of(100_000, Cell::Causal) < 110 * work_of(1000, Cell::Causal));
}

/// Counts incidences looked at and expressions made.
fn work_of(n: usize, cell: Cell) -> u64 {
    let r = reduce(ladder(n, cell)).expect("a regular ladder");
    assert_eq!(r.states.len(), if cell == Cell::Resistive { 0 } else { n });
    r.work + r.dae.pool.len() as u64
}

#[test]
fn a_ladder_of_resistors_is_one_sparse_block() {
    let n = 5000;
    let r = reduce(ladder(n, Cell::Resistive)).expect("a regular ladder");
    let largest = r.blocks.iter().filter_map(|b| match b {
        Block::Linear {
            unknowns,
            matrix,
            inner,
            ..
        } => Some((unknowns.len(), matrix.len(), inner.len())),
        _ => None,
    });
    let (n_unknowns, n_entries, n_inner) = largest.max().expect("a linear block");
    assert!(n_unknowns >= n && n_inner == 0);
    assert!(
        n_entries <= 4 * n_unknowns,
        "{n_entries} entries of {n_unknowns} unknowns"
    );
}
