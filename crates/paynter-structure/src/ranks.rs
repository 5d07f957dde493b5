//! What inputs reach and outputs see, for almost all parameter values.
//!
//! In:  a [`GenericModel`].
//! Out: a [`Reach`]: exact dimensions, and the combinations of states that stay out of reach.

use crate::generic::{Basis, GenericModel, Matrix, Number};
use paynter::symbolic::SymbolId;

/// How far inputs reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Number of states.
    pub order: usize,
    /// The rank of [A B].
    pub rank: usize,
    /// The dimension of what is reached.
    pub dimension: usize,
    /// Combinations of states out of reach, each by the states in it.
    pub hidden: Vec<Vec<usize>>,
}

/// Tells what the columns of B reach through A.
pub fn reach(a: &Matrix, b: &Matrix) -> Reach {
    let space = krylov(a, b);
    let hidden = space.orthogonal();
    Reach {
        order: a.n_rows(),
        rank: a.beside(b).rank(),
        dimension: space.dimension(),
        hidden: hidden.iter().map(|w| support(w)).collect(),
    }
}

/// The space of B, A B, A² B, …
pub fn krylov(a: &Matrix, b: &Matrix) -> Basis {
    let mut space = Basis::new(a.n_rows());
    let mut open: Vec<Vec<Number>> = (0..b.n_columns()).map(|j| b.column(j)).collect();
    while let Some(vector) = open.pop() {
        if space.add(vector.clone()) {
            open.push(a.times_vector(&vector));
        }
    }
    space
}

fn support(vector: &[Number]) -> Vec<usize> {
    (0..vector.len())
        .filter(|&k| !vector[k].is_zero())
        .collect()
}

impl GenericModel {
    /// What the inputs reach.
    pub fn reached(&self) -> Reach {
        reach(&self.a, &self.b)
    }

    /// What the outputs see.
    pub fn seen(&self) -> Reach {
        reach(&self.a.transposed(), &self.c.transposed())
    }

    /// Leaves out integrals that no rate reads (and no output, if `with_outputs`), apart from `storages`.
    pub fn without_idle(mut self, storages: &dyn Fn(SymbolId) -> bool, with_outputs: bool) -> Self {
        loop {
            let n = self.states.len();
            let is_read = |j: usize| {
                let by_rates = (0..n).any(|i| !self.a[(i, j)].is_zero());
                let mut outputs = 0..self.c.n_rows();
                by_rates || with_outputs && outputs.any(|i| !self.c[(i, j)].is_zero())
            };
            let idle = (0..n).find(|&j| !storages(self.states[j]) && !is_read(j));
            let Some(idle) = idle else {
                return self;
            };
            let kept: Vec<usize> = (0..n).filter(|&k| k != idle).collect();
            self.a = self.a.rows(&kept).columns(&kept);
            self.b = self.b.rows(&kept);
            self.c = self.c.columns(&kept);
            self.states.remove(idle);
        }
    }
}
