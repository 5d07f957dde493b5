//! A linear model, its channels, and loops that are cut.
//!
//! **Invariant:** shapes fit; `d` has at least one matrix.

use crate::Matrix;

/// ẋ = A x + B u, y = C x + D₀ u + D₁ u̇ + D₂ ü + …
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearModel {
    /// A
    pub a: Matrix,
    /// B
    pub b: Matrix,
    /// C
    pub c: Matrix,
    /// D₀, and what outputs read of rates of the inputs.
    pub d: Vec<Matrix>,
}

/// One input and one output of a linear model.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// A
    pub a: Matrix,
    /// The column of B.
    pub b: Vec<f64>,
    /// The row of C.
    pub c: Vec<f64>,
    /// D₀, D₁, …
    pub d: Vec<f64>,
}

/// The loop cannot be cut: what returns to the cut does not depend on what is sent at finite gain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCut;

impl LinearModel {
    /// Tells the number of states.
    pub fn n_states(&self) -> usize {
        self.a.n_rows()
    }

    /// Tells whether an output follows rates of inputs: its gain grows without bound.
    pub fn is_improper(&self) -> bool {
        self.d.iter().skip(1).any(|d| !d.is_zero())
    }

    /// Gives the way from one input to one output.
    pub fn channel(&self, input: usize, output: usize) -> Channel {
        let mut d: Vec<f64> = self.d.iter().map(|d| d[(output, input)]).collect();
        while d.len() > 1 && d.last() == Some(&0.0) {
            d.pop();
        }
        Channel {
            a: self.a.clone(),
            b: self.b.column(input),
            c: self.c.row(output).to_vec(),
            d,
        }
    }
}

impl Channel {
    /// Cuts the loop at a signal s, given the channel from what is added to s to s itself.
    ///
    /// With v sent into the loop in place of s, the return is s = −L v; gives L, with the sign that
    /// negative feedback has: 1 + L = 0 at the poles of the closed loop.
    ///
    /// # Errors
    ///
    /// Nothing of what is added arrives at once, or its rate does: no state-space form.
    pub fn cut(&self) -> Result<Channel, NoCut> {
        // s = C x + D w with w added; in place of s is v, so w = (v − C x)/D, and the return is s − w.
        let [d] = self.d[..] else {
            return Err(NoCut);
        };
        if d == 0.0 {
            return Err(NoCut);
        }
        let n = self.b.len();
        Ok(Channel {
            a: Matrix::from_fn(n, n, |i, j| self.a[(i, j)] - self.b[i] * (self.c[j] / d)),
            b: self.b.iter().map(|b| b / d).collect(),
            c: self.c.iter().map(|c| -c / d).collect(),
            d: vec![1.0 / d - 1.0],
        })
    }
}
