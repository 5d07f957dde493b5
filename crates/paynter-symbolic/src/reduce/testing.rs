//! What tests of this folder share: equations from text, and a slow solver for blocks.
//!
//! In:  lines such as `der(q) = f -> der(q)`, `param R = 2`, `prefer p`, `tear e`, `mode m = 1`.
//! Out: a [`Dae`]; the values of all symbols at given states.

use super::{Reduced, StructuralError, reduce};
use crate::calculus::gradient;
use crate::dae::{Dae, Equation, Origin, Role, Symbol};
use crate::evaluate::evaluate;
use crate::expr::{ExprId, Function1, SymbolId};
use crate::names::Names;
use crate::reduced::{Block, Known};
use std::collections::{BTreeMap, HashMap};

/// Makes a [`Dae`] from lines in the given order; the origin of an equation is its line number.
pub(crate) fn dae(text: &str) -> Dae {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    dae_from_lines(&lines, &(0..lines.len()).collect::<Vec<_>>())
}

/// As [`dae`], with lines and symbols in an order made from a seed.
pub(crate) fn shuffled_dae(text: &str, seed: u64) -> Dae {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    let mut random = crate::testing::RandomExpressions::new(seed);
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    dae_from_lines(&lines, &order)
}

impl Reader {
    /// Reads `left = right`, with `-> symbol` if it says what it is solved for.
    fn equation(&mut self, line: &str, origin: Origin) -> Equation {
        let (equation, solves) = match line.split_once("->") {
            Some((equation, solves)) => (equation, Some(solves)),
            None => (line, None),
        };
        let (left, right) = equation.split_once('=').expect("an equation");
        let (left, right) = (self.expression(left), self.expression(right));
        let solves = solves.map(|text| {
            let e = self.expression(text);
            self.dae.pool.as_symbol(e).expect("a symbol to solve for")
        });
        Equation {
            left,
            right,
            solves,
            origin,
        }
    }
}

fn dae_from_lines(lines: &[&str], order: &[usize]) -> Dae {
    let mut reader = Reader {
        dae: Dae::default(),
        symbols: HashMap::new(),
    };

    // Roles that are declared must be known before equations use the names, but symbols are
    // made in the order of the lines.
    for &i in order {
        let words: Vec<&str> = lines[i].split_whitespace().collect();
        match words[..] {
            ["param", name, "=", value] => {
                let value = value.parse().expect("a number");
                let binding = None;
                reader.declare(name, Role::Parameter { value, binding });
            }
            ["mode", name, "=", _] => reader.declare(name, Role::Mode { mode: 0 }),
            ["discrete", name, "=", value] => {
                let start = value.parse().expect("a number");
                reader.declare(name, Role::Discrete { start });
            }
            _ => {}
        }
    }

    // Lists of wishes keep their own order.
    for line in lines {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("prefer") => {
                for name in words {
                    let s = reader.symbol(name);
                    reader.dae.preferred_states.push(s);
                }
            }
            Some("tear") => {
                for name in words {
                    let s = reader.symbol(name);
                    reader.dae.tearing.push(s);
                }
            }
            _ => {}
        }
    }

    for &i in order {
        let first = lines[i].split_whitespace().next().unwrap_or_default();
        if ["param", "mode", "discrete", "prefer", "tear"].contains(&first) {
            continue;
        }
        let equation = reader.equation(lines[i], Origin(i as u32));
        reader.dae.equations.push(equation);
    }
    reader.dae
}

struct Reader {
    dae: Dae,
    symbols: HashMap<String, SymbolId>,
}

impl Reader {
    fn declare(&mut self, name: &str, role: Role) {
        let path = self.dae.names.child(Names::ROOT, name, None);
        let symbol = Symbol {
            name: path,
            role,
            nominal: 0.0,
            origin: Origin(0),
        };
        let id = self.dae.add_symbol(symbol);
        self.symbols.insert(name.to_owned(), id);
    }

    fn symbol(&mut self, name: &str) -> SymbolId {
        if !self.symbols.contains_key(name) {
            let role = if name == "time" {
                Role::Time
            } else {
                Role::Unknown
            };
            self.declare(name, role);
        }
        self.symbols[name]
    }

    fn derivative(&mut self, of: SymbolId) -> SymbolId {
        let name = format!("der({})", self.dae.name_of(of));
        if !self.symbols.contains_key(&name) {
            self.declare(&name, Role::Derivative { of });
        }
        self.symbols[&name]
    }

    fn expression(&mut self, text: &str) -> ExprId {
        let text: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        let mut at = 0;
        let e = self.sum(&text, &mut at);
        assert_eq!(at, text.len(), "unread text in {text:?}");
        e
    }

    fn sum(&mut self, text: &[char], at: &mut usize) -> ExprId {
        let mut e = self.product(text, at);
        while let Some(&c @ ('+' | '-')) = text.get(*at) {
            *at += 1;
            let next = self.product(text, at);
            e = if c == '+' {
                self.dae.pool.add(e, next)
            } else {
                self.dae.pool.sub(e, next)
            };
        }
        e
    }

    fn product(&mut self, text: &[char], at: &mut usize) -> ExprId {
        let mut e = self.factor(text, at);
        while let Some(&c @ ('*' | '/')) = text.get(*at) {
            *at += 1;
            let next = self.factor(text, at);
            e = if c == '*' {
                self.dae.pool.mul(e, next)
            } else {
                self.dae.pool.div(e, next)
            };
        }
        e
    }

    fn factor(&mut self, text: &[char], at: &mut usize) -> ExprId {
        if text[*at] == '-' {
            *at += 1;
            let e = self.factor(text, at);
            return self.dae.pool.neg(e);
        }
        let e = self.atom(text, at);
        if text.get(*at) == Some(&'^') {
            *at += 1;
            let n = self.atom(text, at);
            return self.dae.pool.pow(e, n);
        }
        e
    }

    fn atom(&mut self, text: &[char], at: &mut usize) -> ExprId {
        if text[*at] == '(' {
            *at += 1;
            let e = self.sum(text, at);
            assert_eq!(text[*at], ')');
            *at += 1;
            return e;
        }

        let start = *at;
        while text
            .get(*at)
            .is_some_and(|c| c.is_alphanumeric() || ['.', '_'].contains(c))
        {
            *at += 1;
        }
        let word: String = text[start..*at].iter().collect();
        if let Ok(x) = word.parse() {
            return self.dae.pool.number(x);
        }
        if text.get(*at) != Some(&'(') {
            let s = self.symbol(&word);
            return self.dae.pool.symbol(s);
        }
        *at += 1;
        let e = self.sum(text, at);
        *at += 1;
        let function = match &word[..] {
            "der" => {
                let of = self.dae.pool.as_symbol(e).expect("der of a symbol");
                let d = self.derivative(of);
                return self.dae.pool.symbol(d);
            }
            "sin" => Function1::Sin,
            "cos" => Function1::Cos,
            "exp" => Function1::Exp,
            "tanh" => Function1::Tanh,
            "sqrt" => Function1::Sqrt,
            _ => panic!("no function {word}"),
        };
        self.dae.pool.call1(function, e)
    }
}

/// Reduces text that has a solution.
pub(crate) fn reduced(text: &str) -> Reduced {
    reduce(dae(text)).expect("a regular system")
}

/// Reduces text that has none.
pub(crate) fn failure(text: &str) -> StructuralError {
    reduce(dae(text)).expect_err("no regular system")
}

/// Lists the names of the states.
pub(crate) fn state_names(reduced: &Reduced) -> Vec<String> {
    reduced
        .states
        .iter()
        .map(|s| reduced.dae.name_of(s.symbol))
        .collect()
}

/// The values of all symbols by name.
pub(crate) type Values = BTreeMap<String, f64>;

/// Runs the blocks at states and other given values; where nothing is given, guesses are 0.8.
pub(crate) fn run(reduced: &Reduced, given: &[(&str, f64)]) -> Values {
    let mut values: Vec<f64> = vec![0.8; reduced.dae.symbols.len()];
    for (s, symbol) in reduced.dae.symbols.iter().enumerate() {
        let name = reduced.dae.name_of(SymbolId(s as u32));
        match symbol.role {
            Role::Parameter { value, .. } => values[s] = value,
            Role::Discrete { start } => values[s] = start,
            _ => {}
        }
        if let Some((_, value)) = given.iter().find(|(n, _)| *n == name) {
            values[s] = *value;
        }
    }
    for block in &reduced.blocks {
        run_block(reduced, block, &mut values);
    }
    let at = |s: SymbolId| match reduced.known[s.0 as usize] {
        Known::Itself => values[s.0 as usize],
        Known::Alias { of, negated: false } => values[of.0 as usize],
        Known::Alias { of, negated: true } => -values[of.0 as usize],
        Known::Expression(e) => value(reduced, e, &values),
    };
    (0..values.len() as u32)
        .map(|s| (reduced.dae.name_of(SymbolId(s)), at(SymbolId(s))))
        .collect()
}

fn value(reduced: &Reduced, e: ExprId, values: &[f64]) -> f64 {
    evaluate(&reduced.dae.pool, e, &|s| values[s.0 as usize]).expect("no external functions")
}

fn run_block(reduced: &Reduced, block: &Block, values: &mut [f64]) {
    let run_inner = |inner: &[(SymbolId, ExprId)], values: &mut [f64]| {
        for &(s, e) in inner {
            values[s.0 as usize] = value(reduced, e, values);
        }
    };

    match block {
        Block::Assign { symbol, value: e } => {
            values[symbol.0 as usize] = value(reduced, *e, values);
        }
        Block::Linear {
            unknowns,
            matrix,
            right,
            inner,
            ..
        } => {
            let a = dense(
                unknowns.len(),
                matrix
                    .iter()
                    .map(|&(i, j, e)| (i, j, value(reduced, e, values))),
            );
            let b = right.iter().map(|&e| value(reduced, e, values)).collect();
            let z = solve(a, b);
            unknowns
                .iter()
                .zip(z)
                .for_each(|(s, z)| values[s.0 as usize] = z);
            run_inner(inner, values);
        }
        Block::Nonlinear {
            unknowns,
            inner,
            residuals,
            jacobian,
            ..
        } => {
            for _ in 0..50 {
                run_inner(inner, values);
                let r: Vec<f64> = residuals
                    .iter()
                    .map(|&e| value(reduced, e, values))
                    .collect();
                let a = dense(
                    unknowns.len(),
                    jacobian
                        .iter()
                        .map(|&(i, j, e)| (i, j, value(reduced, e, values))),
                );
                let step = solve(a, r);
                unknowns
                    .iter()
                    .zip(&step)
                    .for_each(|(s, d)| values[s.0 as usize] -= d);
            }
            run_inner(inner, values);
        }
    }
}

/// Gathers entries into rows.
pub(crate) fn dense(n: usize, entries: impl Iterator<Item = (u32, u32, f64)>) -> Vec<Vec<f64>> {
    let mut a = vec![vec![0.0; n]; n];
    entries.for_each(|(i, j, x)| a[i as usize][j as usize] += x);
    a
}

/// Gauss elimination with partial pivoting.
pub(crate) fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let p = (k..n)
            .max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))
            .expect("a row");
        a.swap(k, p);
        b.swap(k, p);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k][k];
    }
    b
}

/// Gives the largest |left − right| of all equations, differentiated ones included.
pub(crate) fn largest_residual(reduced: &Reduced, values: &Values) -> f64 {
    let at = |s: SymbolId| values[&reduced.dae.name_of(s)];
    let residual = |e: &Equation| {
        let left = evaluate(&reduced.dae.pool, e.left, &at).expect("no external functions");
        let right = evaluate(&reduced.dae.pool, e.right, &at).expect("no external functions");
        let residual = (left - right).abs();
        if residual.is_nan() {
            f64::INFINITY
        } else {
            residual
        }
    };
    reduced
        .dae
        .equations
        .iter()
        .map(residual)
        .fold(0.0, f64::max)
}

/// Solves the given equations as one dense system by Newton's method, without any structure:
/// unknown is everything but the states.
pub(crate) fn run_dense(dae: &Dae, states: &[SymbolId], given: &[(&str, f64)]) -> Values {
    let mut dae = dae.clone();
    let unknowns: Vec<SymbolId> = (0..dae.symbols.len() as u32)
        .map(SymbolId)
        .filter(|s| matches!(dae.symbol(*s).role, Role::Unknown | Role::Derivative { .. }))
        .filter(|s| !states.contains(s))
        .collect();
    assert_eq!(unknowns.len(), dae.equations.len());
    let mut values: Vec<f64> = vec![0.8; dae.symbols.len()];
    for s in 0..values.len() {
        let name = dae.name_of(SymbolId(s as u32));
        if let Role::Parameter { value, .. } = dae.symbols[s].role {
            values[s] = value;
        }
        if let Some((_, value)) = given.iter().find(|(n, _)| *n == name) {
            values[s] = *value;
        }
    }

    let equations = dae.equations.clone();
    let rows: Vec<(ExprId, Vec<ExprId>)> = equations
        .iter()
        .map(|e| {
            let residual = dae.pool.sub(e.left, e.right);
            (residual, gradient(&mut dae.pool, residual, &unknowns))
        })
        .collect();

    for _ in 0..100 {
        let at = |e: ExprId| evaluate(&dae.pool, e, &|s| values[s.0 as usize]).expect("finite");
        let r: Vec<f64> = rows.iter().map(|(e, _)| at(*e)).collect();
        let a = rows
            .iter()
            .map(|(_, row)| row.iter().map(|&e| at(e)).collect())
            .collect();
        let step = solve(a, r);
        unknowns
            .iter()
            .zip(step)
            .for_each(|(s, d)| values[s.0 as usize] -= d);
    }

    (0..values.len())
        .map(|s| (dae.name_of(SymbolId(s as u32)), values[s]))
        .collect()
}

/// Asserts that two sets of values agree; both come from well-conditioned systems of a few
/// unknowns of size one, so only rounding may differ.
pub(crate) fn assert_same_values(a: &Values, b: &Values) {
    for (name, x) in a {
        let y = b[name];
        assert!(
            (x - y).abs() <= 1e-9 * (1.0 + x.abs()),
            "{name}: {x} and {y}"
        );
    }
}
