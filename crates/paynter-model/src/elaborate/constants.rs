//! Which expressions are fixed before a run, and their values.
//!
//! In:  the pool and the symbols as they grow.
//! Out: for every expression whether it reads only numbers and parameters, and its value then.
//!
//! **Invariant:** each node is looked at once, after its arguments; a parameter's symbol is
//! made before any expression that reads it, with its final value.

use paynter_symbolic::expr::power;
use paynter_symbolic::walk::for_each_argument;
use paynter_symbolic::{Dae, ExprId, Node, Role};

/// Constancy and value of every node of a pool.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    values: Vec<Option<f64>>,
}

impl Constants {
    /// Gives the value of an expression that reads only numbers and parameters.
    pub(super) fn value(&mut self, dae: &Dae, e: ExprId) -> Option<f64> {
        if let Some(x) = dae.pool.as_number(e) {
            return Some(x);
        }
        while self.values.len() < dae.pool.len() {
            let next = ExprId(self.values.len() as u32);
            let value = self.compute(dae, next);
            self.values.push(value);
        }
        self.values[e.0 as usize]
    }

    fn compute(&self, dae: &Dae, e: ExprId) -> Option<f64> {
        let at = |a: ExprId| self.values[a.0 as usize];
        Some(match dae.pool.node(e) {
            Node::Number(bits) => f64::from_bits(bits),
            Node::Symbol(s) => match dae.symbols.get(s.0 as usize)?.role {
                Role::Parameter { value, .. } => value,
                _ => return None,
            },
            Node::Neg(a) => -at(a)?,
            Node::Add(a, b) => at(a)? + at(b)?,
            Node::Sub(a, b) => at(a)? - at(b)?,
            Node::Mul(a, b) => at(a)? * at(b)?,
            Node::Div(a, b) => at(a)? / at(b)?,
            Node::Power(a, b) => power(at(a)?, at(b)?),
            Node::Call1(f, a) => f.eval(at(a)?),
            Node::Call2(f, a, b) => f.eval(at(a)?, at(b)?),
            Node::Compare(c, a, b) => f64::from(u8::from(c.holds(at(a)?, at(b)?))),
            Node::Not(a) => 1.0 - at(a)?,
            Node::And(a, b) => f64::from(u8::from(at(a)? != 0.0 && at(b)? != 0.0)),
            Node::Or(a, b) => f64::from(u8::from(at(a)? != 0.0 || at(b)? != 0.0)),
            Node::If(a, b, c) => {
                // All three must be fixed, though only one of the branches counts.
                let (condition, yes, no) = (at(a)?, at(b)?, at(c)?);
                if condition != 0.0 { yes } else { no }
            }
            Node::Smooth(a) => at(a)?,
            Node::External(f, args, output) => {
                let mut inputs = Vec::new();
                for &a in dae.pool.args(args) {
                    inputs.push(at(a)?);
                }
                let function = dae.pool.external(f);
                let mut outputs = vec![0.0; function.n_outputs()];
                match function.call(&inputs, &mut outputs) {
                    Ok(()) => outputs.get(output as usize).copied().unwrap_or(f64::NAN),
                    Err(_) => f64::NAN,
                }
            }
            Node::ExternalSlope(..) => {
                let mut is_fixed = true;
                for_each_argument(&dae.pool, e, |a| is_fixed &= at(a).is_some());
                return is_fixed.then_some(f64::NAN);
            }
        })
    }
}
