//! Computes the value of expressions at a point.
//!
//! In:  expressions, and the values of the symbols they read.
//! Out: numbers.
//!
//! **Invariant:** of an `if` only the chosen branch is computed. The same bits as every
//! other engine: functions and powers come from [`crate::expr`].

use crate::expr::{ExprId, Node, Pool, SymbolId, power};
use crate::walk::for_each_argument;

/// Computes one expression.
///
/// # Errors
///
/// What an external function says when it has no answer.
pub fn evaluate(pool: &Pool, e: ExprId, env: &dyn Fn(SymbolId) -> f64) -> Result<f64, String> {
    Evaluator::new().evaluate(pool, e, env)
}

/// Computes many expressions at one point; parts that they share are computed once.
#[derive(Clone, Debug, Default)]
pub struct Evaluator {
    values: Vec<f64>,
    stamps: Vec<u32>,
    generation: u32,
    stack: Vec<ExprId>,
}

impl Evaluator {
    /// Makes an evaluator.
    pub fn new() -> Self {
        Evaluator {
            generation: 1,
            ..Self::default()
        }
    }

    /// Forgets all values; to be called when the point changes.
    pub fn restart(&mut self) {
        if self.generation == u32::MAX {
            self.stamps.fill(0);
            self.generation = 0;
        }
        self.generation += 1;
    }

    /// Computes one expression with the symbols' values since the last restart.
    ///
    /// # Errors
    ///
    /// What an external function says when it has no answer.
    pub fn evaluate(
        &mut self,
        pool: &Pool,
        e: ExprId,
        env: &dyn Fn(SymbolId) -> f64,
    ) -> Result<f64, String> {
        if self.stamps.len() < pool.len() {
            self.stamps.resize(pool.len(), 0);
            self.values.resize(pool.len(), 0.0);
        }
        self.stack.clear();
        self.stack.push(e);
        while let Some(&id) = self.stack.last() {
            if self.is_known(id) {
                self.stack.pop();
                continue;
            }
            let before = self.stack.len();
            self.push_needed(pool, id);
            if self.stack.len() > before {
                continue;
            }
            let value = self.compute(pool, id, env)?;
            self.values[id.0 as usize] = value;
            self.stamps[id.0 as usize] = self.generation;
            self.stack.pop();
        }
        Ok(self.value(e))
    }

    fn is_known(&self, id: ExprId) -> bool {
        self.stamps[id.0 as usize] == self.generation
    }

    fn value(&self, id: ExprId) -> f64 {
        self.values[id.0 as usize]
    }

    fn push_needed(&mut self, pool: &Pool, id: ExprId) {
        if let Node::If(condition, a, b) = pool.node(id) {
            let next = if !self.is_known(condition) {
                condition
            } else if self.value(condition) != 0.0 {
                a
            } else {
                b
            };
            if !self.is_known(next) {
                self.stack.push(next);
            }
            return;
        }
        let (stamps, generation, stack) = (&self.stamps, self.generation, &mut self.stack);
        for_each_argument(pool, id, |a| {
            if stamps[a.0 as usize] != generation {
                stack.push(a);
            }
        });
    }

    fn compute(
        &self,
        pool: &Pool,
        id: ExprId,
        env: &dyn Fn(SymbolId) -> f64,
    ) -> Result<f64, String> {
        let truth = |holds: bool| f64::from(u8::from(holds));
        let v = |a: ExprId| self.value(a);
        Ok(match pool.node(id) {
            Node::Number(bits) => f64::from_bits(bits),
            Node::Symbol(s) => env(s),
            Node::Neg(a) => -v(a),
            Node::Add(a, b) => v(a) + v(b),
            Node::Sub(a, b) => v(a) - v(b),
            Node::Mul(a, b) => v(a) * v(b),
            Node::Div(a, b) => v(a) / v(b),
            Node::Power(a, b) => power(v(a), v(b)),
            Node::Call1(f, a) => f.eval(v(a)),
            Node::Call2(f, a, b) => f.eval(v(a), v(b)),
            Node::Compare(c, a, b) => truth(c.holds(v(a), v(b))),
            Node::Not(a) => truth(v(a) == 0.0),
            Node::And(a, b) => truth(v(a) != 0.0 && v(b) != 0.0),
            Node::Or(a, b) => truth(v(a) != 0.0 || v(b) != 0.0),
            Node::If(condition, a, b) => v(if v(condition) != 0.0 { a } else { b }),
            Node::Smooth(a) => v(a),
            Node::External(f, args, output) => {
                let function = pool.external(f);
                let inputs: Vec<f64> = pool.args(args).iter().map(|&a| v(a)).collect();
                let mut outputs = vec![0.0; function.n_outputs()];
                function.call(&inputs, &mut outputs)?;
                outputs[output as usize]
            }
            Node::ExternalSlope(f, args, slope) => {
                let function = pool.external(f);
                let inputs: Vec<f64> = pool.args(args).iter().map(|&a| v(a)).collect();
                let mut slopes = vec![0.0; function.n_outputs() * function.n_inputs()];
                function.slopes(&inputs, &mut slopes)?;
                slopes[slope as usize]
            }
        })
    }
}
