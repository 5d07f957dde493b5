//! Says for every symbol where its value comes from, before any code is made.
//!
//! In:  [`Reduced`] equations.
//! Out: a [`Plan`]: inputs, forwards, assignments, and blocks left to solve at run time.
//!      Small linear blocks have become assignments: their elimination is written out.
//!
//! **Invariant:** following forwards and assignments from any symbol ends at inputs and
//! solved blocks.

use paynter_symbolic::dae::Role;
use paynter_symbolic::expr::{Comparison, ExprId, Function1, Function2, Pool, SymbolId};
use paynter_symbolic::reduced::{Block, Known, Reduced};
use paynter_symbolic::{Dae, Names, Origin};

/// Where the value of a symbol comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// Nothing defines it.
    Nowhere,
    /// It is given from outside: parameter, time, state, discrete symbol, mode.
    Input,
    /// It is another name of this expression.
    Forward(ExprId),
    /// It is computed from this expression.
    Assign(ExprId),
    /// It is an unknown of this solved block, or follows from one inside it.
    Solved(u32),
}

/// Equations solved together at run time.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    pub unknowns: Vec<SymbolId>,
    pub origins: Vec<Origin>,
    pub kind: SolvedKind,
}

/// What is solved.
#[derive(Clone, Debug)]
pub(crate) enum SolvedKind {
    Linear {
        /// Of a positive definite block the entries on and below the diagonal: those above are the same.
        matrix: Vec<(u32, u32, ExprId)>,
        right: Vec<ExprId>,
        is_positive_definite: bool,
    },
    Nonlinear {
        inner: Vec<(SymbolId, ExprId)>,
        residuals: Vec<ExprId>,
        jacobian: Vec<(u32, u32, ExprId)>,
    },
    /// Written out as assignments; each pivot must stand clear of the rounding of
    /// the size beside it.
    Inlined { pivots: Vec<(ExprId, ExprId)> },
}

/// The whole map.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Without names, and without the equations that the blocks stand for.
    pub dae: Dae,
    pub sources: Vec<Source>,
    pub solved: Vec<Solved>,
}

/// Linear blocks up to this size are written out when row exchanges may be needed …
const INLINE_WITH_EXCHANGES: usize = 3;
/// … and up to this size when not. Beyond, the code grows faster than the call it saves.
const INLINE_POSITIVE_DEFINITE: usize = 4;

/// Makes the plan.
pub(crate) fn plan(reduced: &Reduced) -> Plan {
    let given = &reduced.dae;
    let dae = Dae {
        pool: given.pool.clone(),
        names: Names::new(),
        symbols: given.symbols.clone(),
        time: given.time,
        equations: Vec::new(),
        modes: given.modes.clone(),
        clocks: given.clocks.clone(),
        whens: given.whens.clone(),
        starts: given.starts.clone(),
        late_starts: given.late_starts.clone(),
        constraints: given.constraints.clone(),
        invariants: given.invariants.clone(),
        quadratures: given.quadratures.clone(),
        power: given.power.clone(),
        balances: given.balances.clone(),
        anchors: given.anchors.clone(),
        preferred_states: Vec::new(),
        tearing: Vec::new(),
        rates: given.rates.clone(),
    };

    let sources = dae
        .symbols
        .iter()
        .map(|symbol| source_of_role(symbol.role))
        .collect();
    let mut plan = Plan {
        dae,
        sources,
        solved: Vec::new(),
    };
    for (s, known) in reduced.known.iter().enumerate().take(plan.sources.len()) {
        match *known {
            Known::Itself => {}
            Known::Alias { of, negated } => {
                let value = plan.dae.pool.symbol(of);
                let value = if negated {
                    plan.dae.pool.neg(value)
                } else {
                    value
                };
                plan.sources[s] = Source::Forward(value);
            }
            Known::Expression(e) => plan.sources[s] = Source::Forward(e),
        }
    }

    for state in &reduced.states {
        plan.sources[state.symbol.0 as usize] = Source::Input;
    }
    for quadrature in &reduced.dae.quadratures {
        plan.sources[quadrature.symbol.0 as usize] = Source::Input;
    }
    for block in &reduced.blocks {
        plan.add_block(block);
    }
    plan
}

fn source_of_role(role: Role) -> Source {
    match role {
        Role::Time
        | Role::Parameter { .. }
        | Role::Discrete { .. }
        | Role::Pre { .. }
        | Role::Mode { .. } => Source::Input,
        Role::Unknown | Role::Derivative { .. } => Source::Nowhere,
    }
}

impl Plan {
    fn assign(&mut self, symbol: SymbolId, value: ExprId) {
        self.sources[symbol.0 as usize] = Source::Assign(value);
    }

    fn add_block(&mut self, block: &Block) {
        match block {
            Block::Assign { symbol, value } => self.assign(*symbol, *value),
            Block::Linear {
                unknowns,
                matrix,
                right,
                positive_definite,
                inner,
                origins,
            } => {
                let n = unknowns.len();
                let limit = if *positive_definite {
                    INLINE_POSITIVE_DEFINITE
                } else {
                    INLINE_WITH_EXCHANGES
                };
                let kind = if n <= limit {
                    self.write_out(unknowns, matrix, right, *positive_definite)
                } else {
                    let is_kept = |e: &&(u32, u32, ExprId)| !*positive_definite || e.0 >= e.1;
                    SolvedKind::Linear {
                        matrix: matrix.iter().filter(is_kept).copied().collect(),
                        right: right.clone(),
                        is_positive_definite: *positive_definite,
                    }
                };
                self.add_solved(unknowns, origins, kind);
                for &(symbol, value) in inner {
                    self.assign(symbol, value);
                }
            }
            Block::Nonlinear {
                unknowns,
                inner,
                residuals,
                jacobian,
                origins,
            } => {
                let kind = SolvedKind::Nonlinear {
                    inner: inner.clone(),
                    residuals: residuals.clone(),
                    jacobian: jacobian.clone(),
                };
                let number = self.solved.len() as u32;
                self.add_solved(unknowns, origins, kind);
                for &(symbol, _) in inner {
                    self.sources[symbol.0 as usize] = Source::Solved(number);
                }
            }
        }
    }

    fn add_solved(&mut self, unknowns: &[SymbolId], origins: &[Origin], kind: SolvedKind) {
        let number = self.solved.len() as u32;
        if !matches!(kind, SolvedKind::Inlined { .. }) {
            for symbol in unknowns {
                self.sources[symbol.0 as usize] = Source::Solved(number);
            }
        }
        self.solved.push(Solved {
            unknowns: unknowns.to_vec(),
            origins: origins.to_vec(),
            kind,
        });
    }

    /// Writes Gaussian elimination with row exchanges as expressions.
    ///
    /// An exchange is a choice by value, not by branch, so the same expressions serve all
    /// points; where an entry is structurally zero the choice is made here.
    fn write_out(
        &mut self,
        unknowns: &[SymbolId],
        matrix: &[(u32, u32, ExprId)],
        right: &[ExprId],
        is_positive_definite: bool,
    ) -> SolvedKind {
        let n = unknowns.len();
        let pool = &mut self.dae.pool;
        let zero = pool.number(0.0);
        let mut a = vec![vec![zero; n + 1]; n];
        for &(row, column, value) in matrix {
            let entry = &mut a[row as usize][column as usize];
            *entry = pool.add(*entry, value);
        }

        for (row, &value) in right.iter().enumerate() {
            a[row][n] = value;
        }

        // What an entry is small against: the largest number it was made from by subtraction.
        let mut sizes: Vec<Vec<ExprId>> = a
            .iter()
            .map(|row| row.iter().map(|&e| pool.call1(Function1::Abs, e)).collect())
            .collect();
        let mut pivots = Vec::with_capacity(n);
        for k in 0..n {
            if !is_positive_definite {
                choose_pivot_row(pool, &mut a, &mut sizes, k);
            }
            let pivot = a[k][k];
            pivots.push((pivot, sizes[k][k]));
            for row in k + 1..n {
                if a[row][k] == zero {
                    continue;
                }
                let factor = pool.div(a[row][k], pivot);
                for column in k + 1..=n {
                    let part = pool.mul(factor, a[k][column]);
                    a[row][column] = pool.sub(a[row][column], part);
                    // Positive definite: no part exceeds the diagonal entry it is taken from.
                    if !is_positive_definite && column < n {
                        let part = pool.call1(Function1::Abs, part);
                        let size = sizes[row][column];
                        sizes[row][column] = pool.call2(Function2::Max, size, part);
                    }
                }
            }
        }

        let mut z: Vec<ExprId> = vec![zero; n];
        for row in (0..n).rev() {
            let mut sum = a[row][n];
            for column in row + 1..n {
                let value = pool.symbol(unknowns[column]);
                let part = pool.mul(a[row][column], value);
                sum = pool.sub(sum, part);
            }
            z[row] = pool.div(sum, a[row][row]);
        }

        for (&symbol, &value) in unknowns.iter().zip(&z) {
            self.assign(symbol, value);
        }
        SolvedKind::Inlined { pivots }
    }
}

/// Brings a large entry of column k to row k by exchanging rows.
fn choose_pivot_row(pool: &mut Pool, a: &mut [Vec<ExprId>], sizes: &mut [Vec<ExprId>], k: usize) {
    for row in k + 1..a.len() {
        let (here, there) = (pool.as_number(a[k][k]), pool.as_number(a[row][k]));
        if there == Some(0.0) {
            continue;
        }
        if here == Some(0.0) {
            a.swap(k, row);
            sizes.swap(k, row);
            continue;
        }
        let size_here = pool.call1(Function1::Abs, a[k][k]);
        let size_there = pool.call1(Function1::Abs, a[row][k]);
        let exchange = pool.compare(Comparison::Greater, size_there, size_here);
        for matrix in [&mut *a, &mut *sizes] {
            for column in k..matrix[k].len() {
                let (x, y) = (matrix[k][column], matrix[row][column]);
                matrix[k][column] = pool.if_else(exchange, y, x);
                matrix[row][column] = pool.if_else(exchange, x, y);
            }
        }
    }
}
