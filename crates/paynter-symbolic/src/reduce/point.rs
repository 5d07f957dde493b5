//! Made-up points, at which the matrices of constraints are looked at in numbers.
//!
//! In:  a [`System`] and a number for each quantity that may have any value.
//! Out: the values of expressions.
//!
//! **Invariant:** a quantity that an equation gives explicitly has the value of that equation: the
//! direction cosines of a body belong to one quaternion and cannot all vanish. Invariants hold as far as
//! each can be met by moving what it reads.

use super::system::System;
use crate::evaluate::Evaluator;
use crate::expr::{ExprId, SymbolId};
use crate::walk::symbols_of;
use rustc_hash::FxHashMap;

/// For each unknown the expression that an equation gives for it, if there is one.
pub(crate) struct Definitions {
    of: Vec<Option<ExprId>>,
}

impl Definitions {
    pub(crate) fn new(system: &System) -> Definitions {
        let pool = &system.dae.pool;
        let mut of = vec![None; system.dae.symbols.len()];
        for row in system.rows.iter().filter(|r| r.integral.is_none()) {
            let equation = row.equation;
            let Some(s) = equation.solves else { continue };
            let derivative = system.derivative[s.0 as usize];
            let is_differential =
                derivative.is_some_and(|d| (d.0 as usize) < system.n_given_symbols);
            if is_differential || !system.is_unknown[s.0 as usize] {
                continue;
            }
            let sides = [
                (equation.left, equation.right),
                (equation.right, equation.left),
            ];
            let given = sides.iter().find(|(x, _)| pool.as_symbol(*x) == Some(s));
            of[s.0 as usize] = given.map(|&(_, e)| e);
        }
        Definitions { of }
    }

    pub(crate) fn of(&self, s: SymbolId) -> Option<ExprId> {
        self.of.get(s.0 as usize).copied().flatten()
    }
}

/// Newton's method makes a quaternion of length 5 one of length 1 in fewer steps than this.
const N_SWEEPS: usize = 12;

/// Slopes of invariants are needed to a few digits only.
const DIFFERENCE: f64 = 1e-7;

/// One point.
pub(crate) struct Point<'a> {
    system: &'a System,
    definitions: &'a Definitions,
    /// The number for what no equation gives.
    free: &'a dyn Fn(SymbolId) -> f64,
    evaluator: Evaluator,
    values: FxHashMap<SymbolId, f64>,
}

impl<'a> Point<'a> {
    pub(crate) fn new(
        system: &'a System,
        definitions: &'a Definitions,
        free: &'a dyn Fn(SymbolId) -> f64,
    ) -> Point<'a> {
        let mut point = Point {
            system,
            definitions,
            free,
            evaluator: Evaluator::new(),
            values: FxHashMap::default(),
        };
        for _ in 0..N_SWEEPS {
            for invariant in &system.dae.invariants {
                point.approach(invariant.residual);
            }
        }
        point
    }

    /// Moves the quantities that an invariant reads by one step of Newton's method towards it.
    fn approach(&mut self, residual: ExprId) {
        let symbols = symbols_of(&self.system.dae.pool, residual);
        let is_free = |s: &SymbolId| self.system.is_unknown[s.0 as usize];
        if !symbols
            .iter()
            .all(|s| is_free(s) == self.definitions.of(*s).is_none())
        {
            return;
        }
        let Some(error) = self.value(residual) else {
            return;
        };
        let moved: Vec<SymbolId> = symbols.into_iter().filter(is_free).collect();
        let mut slopes = Vec::with_capacity(moved.len());
        for s in &moved {
            let x = self.values[s];
            let step = DIFFERENCE * (1.0 + x.abs());
            self.values.insert(*s, x + step);
            let shifted = self.evaluate(residual).unwrap_or(error);
            self.values.insert(*s, x);
            slopes.push((shifted - error) / step);
        }
        let square: f64 = slopes.iter().map(|d| d * d).sum();
        if square > 0.0 {
            for (s, slope) in moved.iter().zip(slopes) {
                *self.values.entry(*s).or_default() -= error * slope / square;
            }
        }
    }

    /// Gives the value of an expression; `None` if it has none here.
    pub(crate) fn value(&mut self, e: ExprId) -> Option<f64> {
        // (symbol, whether what it reads has been put above it)
        let mut open: Vec<(SymbolId, bool)> = Vec::new();
        let pool = &self.system.dae.pool;
        open.extend(symbols_of(pool, e).into_iter().map(|s| (s, false)));
        while let Some((s, is_ready)) = open.pop() {
            if !is_ready && self.values.contains_key(&s) {
                continue;
            }
            let Some(definition) = self.definitions.of(s) else {
                self.values.insert(s, (self.free)(s));
                continue;
            };
            if is_ready {
                let value = self.evaluate(definition).unwrap_or(f64::NAN);
                self.values.insert(s, value);
            } else {
                // Whoever reads `s` on a cycle takes the made-up number.
                self.values.insert(s, (self.free)(s));
                open.push((s, true));
                let reads = symbols_of(pool, definition).into_iter();
                open.extend(reads.map(|s| (s, false)));
            }
        }
        self.evaluate(e)
    }

    fn evaluate(&mut self, e: ExprId) -> Option<f64> {
        let values = &self.values;
        let at = |s: SymbolId| values.get(&s).copied().unwrap_or(f64::NAN);
        // Numbers of a cycle may have been replaced since: nothing is kept from earlier calls.
        self.evaluator.restart();
        let value = self.evaluator.evaluate(&self.system.dae.pool, e, &at);
        value.ok().filter(|v| v.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dae::Invariant;
    use crate::reduce::alias::remove_aliases;
    use crate::reduce::terms::Dependence;
    use crate::reduce::testing::dae;

    /// A system with the angle of a turn given twice: by signals, and by two numbers on a circle.
    fn turned() -> System {
        let mut dae = dae("a = cos(q) -> a
            b = sin(q) -> b
            der(q) = a*c - b*s -> der(q)
            der(c) = 0 -> der(c)
            der(s) = 0 -> der(s)
            ");
        let square = |dae: &mut crate::dae::Dae, name: &str| {
            let i = (0..dae.symbols.len()).find(|&s| dae.name_of(SymbolId(s as u32)) == name);
            let e = dae.pool.symbol(SymbolId(i.expect("a symbol") as u32));
            dae.pool.powi(e, 2)
        };
        let (c, s) = (square(&mut dae, "c"), square(&mut dae, "s"));
        let sum = dae.pool.add(c, s);
        let one = dae.pool.number(1.0);
        let residual = dae.pool.sub(sum, one);
        let origin = crate::dae::Origin::default();
        dae.invariants.push(Invariant { residual, origin });
        let kept = remove_aliases(&mut dae, &mut Dependence::default(), &[]).expect("no conflict");
        System::new(dae, kept)
    }

    #[test]
    fn signals_have_the_value_of_their_definition_and_invariants_hold() {
        let mut system = turned();
        let invariant = system.dae.invariants[0].residual;
        let definitions = Definitions::new(&system);
        let find = |name: &str| {
            let symbols = 0..system.dae.symbols.len() as u32;
            symbols
                .map(SymbolId)
                .find(|&s| system.dae.name_of(s) == name)
                .expect("a symbol")
        };
        let [a, b] = [find("a"), find("b")];
        let [a, b] = [a, b].map(|s| {
            let e = system.dae.pool.symbol(s);
            system.dae.pool.powi(e, 2)
        });
        let sum = system.dae.pool.add(a, b);
        for number in 0..5 {
            let free = |s: SymbolId| 0.3 + 0.7 * f64::from(s.0 + number);
            let mut point = Point::new(&system, &definitions, &free);
            assert!((point.value(sum).expect("a number") - 1.0).abs() < 1e-15);
            assert!(point.value(invariant).expect("a number").abs() < 1e-12);
        }
    }
}
