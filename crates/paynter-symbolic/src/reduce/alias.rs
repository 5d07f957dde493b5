//! Removes unknowns that are ± another unknown or a constant.
//!
//! In:  a [`Dae`].
//! Out: the equations that stay, written in the unknowns that stay, and how every removed
//!      unknown is known.
//!
//! **Invariant:** a removed unknown points straight at one that stays. A differential unknown
//! is removed only for another differential one or for a constant; its derivative then follows.
//! Derivatives are never removed by an equation of their own, so chains x, ẋ, ẍ stay chains.

use super::error::{EquationRef, Part, StructuralError};
use super::terms::{Dependence, Term, sum, terms_of};
use crate::dae::{Dae, Equation, Role};
use crate::expr::{ExprId, Node, SymbolId};
use crate::reduced::Known;
use crate::walk::rebuild;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// Removing constants can make further sums short (`e = R f` with f = 0), and each round costs
/// one pass over all expressions; chains longer than this are left to the blocks.
const MAX_ROUNDS: usize = 4;

/// A removal can shorten the sum before it in the list; each pass looks once at every sum that
/// is still open. Bounded for the same reason.
const MAX_PASSES: usize = 4;

/// A sum of more different unknowns than this hardly ever becomes an alias, and looking for
/// equal unknowns in it would cost the square of its length.
const MAX_UNKNOWNS: usize = 8;

/// Constants such as 0.1 + 0.2 and 0.3 that meet along two ways differ by a few roundings.
const CONSTANT_ROUNDING: f64 = 1e-14;

/// What is left after [`remove_aliases`].
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// (equation, its position in the given [`Dae`]).
    pub(crate) rows: Vec<(Equation, usize)>,
    /// For every symbol.
    pub(crate) known: Vec<Known>,
    /// The derivative of each symbol that stays and has one.
    pub(crate) derivative: Vec<Option<SymbolId>>,
    /// Equations that others imply.
    pub(crate) redundant: Vec<EquationRef>,
}

/// Removes aliases and constants from the continuous equations; `dae` itself only gains
/// expressions.
///
/// Linear in the size of the equations. Equations in `untouched` (positions, in order) stay, even
/// if they make an unknown constant.
///
/// # Errors
///
/// Two different constants for one unknown, or an equation between constants that is false.
pub(crate) fn remove_aliases(
    dae: &mut Dae,
    dependence: &mut Dependence,
    untouched: &[usize],
) -> Result<Kept, StructuralError> {
    let mut classes = Classes::new(dae);
    let mut rows: Vec<(Equation, usize)> = dae
        .equations
        .iter()
        .copied()
        .enumerate()
        .map(|(i, e)| (e, i))
        .collect();

    let mut redundant = Vec::new();
    let mut terms = Vec::new();
    for _ in 0..MAX_ROUNDS {
        dependence.update(&dae.pool, &dae.symbols);
        let n_before = rows.len();
        let mut is_open: Vec<bool> = rows
            .iter()
            .map(|(_, index)| untouched.binary_search(index).is_err())
            .collect();
        for _ in 0..MAX_PASSES {
            let mut is_taken = vec![false; rows.len()];
            for (i, (equation, index)) in rows.iter().enumerate() {
                if !is_open[i] {
                    continue;
                }
                let place = EquationRef {
                    index: *index,
                    origin: equation.origin,
                };
                terms_of(&dae.pool, equation, &mut terms);
                match classes.take(dae, dependence, &terms, place)? {
                    Taken::Never => is_open[i] = false,
                    Taken::NotYet => {}
                    Taken::Yes => is_taken[i] = true,
                    Taken::Implied => {
                        is_taken[i] = true;
                        redundant.push(place);
                    }
                }
            }
            if !is_taken.contains(&true) {
                break;
            }
            retain(&mut rows, &is_taken);
            retain(&mut is_open, &is_taken);
        }
        if rows.len() == n_before {
            break;
        }
        rewrite(dae, &mut classes, &mut rows);
    }
    classes.finish(dae, rows, redundant)
}

/// Keeps what is not taken.
fn retain<T>(list: &mut Vec<T>, is_taken: &[bool]) {
    let mut i = 0;
    list.retain(|_| {
        i += 1;
        !is_taken[i - 1]
    });
}

/// Puts what is known into the equations that stay.
fn rewrite(dae: &mut Dae, classes: &mut Classes, rows: &mut [(Equation, usize)]) {
    let n_nodes = dae.pool.len();
    let mut new: Vec<ExprId> = Vec::with_capacity(n_nodes);
    for id in 0..n_nodes as u32 {
        let e = match dae.pool.node(ExprId(id)) {
            Node::Symbol(s) => classes.value(dae, s),
            _ => rebuild(&mut dae.pool, ExprId(id), &|a| new[a.0 as usize]),
        };
        new.push(e);
    }
    let mut terms: Vec<Term> = Vec::new();
    for (equation, _) in rows {
        equation.left = new[equation.left.0 as usize];
        equation.right = new[equation.right.0 as usize];
        equation.solves = equation.solves.map(|s| classes.find(s).0);
        if terms_of(&dae.pool, equation, &mut terms) {
            equation.left = sum(&mut dae.pool, terms.iter().copied());
            equation.right = dae.pool.number(0.0);
        }
    }
}

enum Taken {
    /// It is not a sum of unknowns and constants.
    Never,
    /// It is a sum of too many unknowns at present.
    NotYet,
    /// It removed an unknown.
    Yes,
    /// It says nothing new.
    Implied,
}

/// Sets of unknowns that are ± each other. The root of a set is the one that stays.
struct Classes {
    parent: Vec<u32>,
    /// Sign with respect to the parent.
    negated: Vec<bool>,
    derivative: Vec<Option<SymbolId>>,
    /// Place in the list of preferred states; the smaller stays.
    preference: Vec<u32>,
    constant: FxHashMap<u32, (ExprId, EquationRef)>,
}

impl Classes {
    fn new(dae: &Dae) -> Self {
        let n = dae.symbols.len();
        let mut derivative = vec![None; n];
        for (i, symbol) in dae.symbols.iter().enumerate() {
            if let Role::Derivative { of } = symbol.role {
                derivative[of.0 as usize] = Some(SymbolId(i as u32));
            }
        }
        let mut preference = vec![u32::MAX; n];
        for (place, s) in dae.preferred_states.iter().enumerate().rev() {
            preference[s.0 as usize] = place as u32;
        }
        Classes {
            parent: (0..n as u32).collect(),
            negated: vec![false; n],
            derivative,
            preference,
            constant: FxHashMap::default(),
        }
    }

    /// Gives the symbol that stays for `s`, and whether `s` is its negative.
    fn find(&mut self, s: SymbolId) -> (SymbolId, bool) {
        let mut root = s.0;
        let mut sign = false;
        while self.parent[root as usize] != root {
            sign ^= self.negated[root as usize];
            root = self.parent[root as usize];
        }
        // Every symbol on the way now points at the root.
        let (mut at, mut left) = (s.0, sign);
        while at != root {
            let next = self.parent[at as usize];
            let own = self.negated[at as usize];
            self.parent[at as usize] = root;
            self.negated[at as usize] = left;
            left ^= own;
            at = next;
        }
        (SymbolId(root), sign)
    }

    /// Gives what stands for `s` in the equations that stay.
    fn value(&mut self, dae: &mut Dae, s: SymbolId) -> ExprId {
        let (root, negated) = self.find(s);
        let e = match self.constant.get(&root.0) {
            Some(&(value, _)) => value,
            None => dae.pool.symbol(root),
        };
        if negated { dae.pool.neg(e) } else { e }
    }

    /// Uses an equation Σ terms = 0 if it makes an unknown ± another one or constant.
    fn take(
        &mut self,
        dae: &mut Dae,
        dependence: &mut Dependence,
        terms: &[Term],
        place: EquationRef,
    ) -> Result<Taken, StructuralError> {
        // Unknowns that stay, with whole-number coefficients.
        let mut unknowns: Vec<(SymbolId, i32)> = Vec::new();
        let mut constants: Vec<Term> = Vec::new();
        let mut sources: Vec<Option<EquationRef>> = Vec::new();
        for &(e, negated) in terms {
            if dependence.is_constant(e) {
                constants.push((e, negated));
                sources.push(None);
                continue;
            }
            let symbol = dae.pool.as_symbol(e).filter(|&s| is_unknown(dae, s));
            let Some(symbol) = symbol else {
                return Ok(Taken::Never);
            };
            let (root, sign) = self.find(symbol);
            let negated = negated ^ sign;
            match self.constant.get(&root.0) {
                Some(&(value, source)) => {
                    constants.push((value, negated));
                    sources.push(Some(source));
                }
                None => add_to(&mut unknowns, root, if negated { -1 } else { 1 }),
            }
            if unknowns.len() > MAX_UNKNOWNS {
                return Ok(Taken::NotYet);
            }
        }

        unknowns.retain(|&(_, n)| n != 0);
        let is_rate = |u: &(SymbolId, i32)| matches!(dae.symbol(u.0).role, Role::Derivative { .. });
        if unknowns.len() > 2 || unknowns.iter().any(is_rate) {
            return Ok(Taken::NotYet);
        }
        let rest = sum(&mut dae.pool, constants);
        dependence.update(&dae.pool, &dae.symbols);
        match unknowns[..] {
            [] => self.check(dae, rest, terms, place),
            [(s, n)] => {
                let minus_n = dae.pool.number(f64::from(-n));
                let value = dae.pool.div(rest, minus_n);
                dependence.update(&dae.pool, &dae.symbols);
                // A copy of a constant is blamed on what made that constant.
                let source = match sources[..] {
                    [Some(source)] => source,
                    _ => place,
                };
                self.fix(dae, s, value, source);
                Ok(Taken::Yes)
            }
            [(a, n), (b, m)] if n.abs() == m.abs() && dae.pool.as_number(rest) == Some(0.0) => {
                self.join(dae, a, b, n == m);
                Ok(Taken::Yes)
            }
            _ => Ok(Taken::NotYet),
        }
    }

    /// Looks at an equation `rest = 0` without unknowns.
    fn check(
        &self,
        dae: &Dae,
        rest: ExprId,
        terms: &[Term],
        place: EquationRef,
    ) -> Result<Taken, StructuralError> {
        // Terms that are numbers, or stand for one.
        let size = terms.iter().fold(0.0_f64, |size, &(e, _)| {
            let e = match dae.pool.as_symbol(e) {
                Some(s) => self
                    .constant
                    .get(&self.find_slowly(s).0.0)
                    .map_or(e, |c| c.0),
                None => e,
            };
            size + dae.pool.as_number(e).map_or(0.0, f64::abs)
        });

        let is_rounding = |x: f64| x.abs() <= CONSTANT_ROUNDING * size;
        if dae.pool.as_number(rest).is_some_and(is_rounding) {
            return Ok(Taken::Implied);
        }
        let earlier = terms.iter().find_map(|&(e, negated)| {
            let symbol = dae.pool.as_symbol(e)?;
            let (root, sign) = self.find_slowly(symbol);
            let &(value, earlier) = self.constant.get(&root.0)?;
            Some((symbol, value, sign, negated, earlier))
        });

        let number = |e: ExprId| dae.pool.as_number(e);
        match (earlier, number(rest)) {
            (Some((symbol, value, sign, negated, earlier)), Some(residual)) => {
                // residual = ±symbol + others, so the other value of symbol is value ∓ residual.
                let first = number(value).map_or(f64::NAN, |v| if sign { -v } else { v });
                let second = if negated {
                    first + residual
                } else {
                    first - residual
                };
                Err(StructuralError::Contradiction {
                    symbol,
                    values: (first, second),
                    equations: (earlier, place),
                })
            }
            (Some((symbol, _, _, _, earlier)), None) => {
                let mut equations = vec![earlier, place];
                equations.sort_unstable();
                Err(StructuralError::OverDetermined(Part {
                    equations,
                    unknowns: vec![symbol],
                }))
            }
            (None, Some(residual)) => Err(StructuralError::False {
                equation: place,
                residual,
            }),
            (None, None) => Err(StructuralError::OverDetermined(Part {
                equations: vec![place],
                unknowns: Vec::new(),
            })),
        }
    }

    fn find_slowly(&self, s: SymbolId) -> (SymbolId, bool) {
        let mut root = s.0;
        let mut sign = false;
        while self.parent[root as usize] != root {
            sign ^= self.negated[root as usize];
            root = self.parent[root as usize];
        }
        (SymbolId(root), sign)
    }

    /// Makes a root constant; its derivatives become 0.
    fn fix(&mut self, dae: &mut Dae, s: SymbolId, value: ExprId, place: EquationRef) {
        self.constant.insert(s.0, (value, place));
        let zero = dae.pool.number(0.0);
        let mut at = s;
        while let Some(d) = self.derivative[at.0 as usize] {
            self.constant.insert(d.0, (zero, place));
            at = d;
        }
    }

    /// Makes two roots one set, and their derivatives too.
    fn join(&mut self, dae: &Dae, a: SymbolId, b: SymbolId, negated: bool) {
        let (mut keep, mut drop) = if self.compare(dae, a, b).is_le() {
            (a, b)
        } else {
            (b, a)
        };
        loop {
            self.parent[drop.0 as usize] = keep.0;
            self.negated[drop.0 as usize] = negated;
            match (
                self.derivative[keep.0 as usize],
                self.derivative[drop.0 as usize],
            ) {
                (Some(k), Some(d)) => (keep, drop) = (k, d),
                // `compare` keeps the longer chain, so nothing of the dropped one is left over.
                _ => break,
            }
        }
    }

    /// Orders two unknowns: the first stays. Longer chains of derivatives, then preferred states,
    /// then names where it matters for the choice of states, so that text order decides nothing.
    fn compare(&self, dae: &Dae, a: SymbolId, b: SymbolId) -> Ordering {
        let depth =
            |s: SymbolId| std::iter::successors(Some(s), |s| self.derivative[s.0 as usize]).count();
        let preference = |s: SymbolId| self.preference[s.0 as usize];
        depth(b)
            .cmp(&depth(a))
            .then(preference(a).cmp(&preference(b)))
            .then_with(|| {
                if depth(a) > 1 {
                    dae.name_of(a).cmp(&dae.name_of(b)).then(a.cmp(&b))
                } else {
                    a.cmp(&b)
                }
            })
    }

    fn finish(
        mut self,
        dae: &mut Dae,
        rows: Vec<(Equation, usize)>,
        redundant: Vec<EquationRef>,
    ) -> Result<Kept, StructuralError> {
        let n = dae.symbols.len();
        let mut known = Vec::with_capacity(n);
        for i in 0..n as u32 {
            let s = SymbolId(i);
            let (root, negated) = self.find(s);
            known.push(match self.constant.get(&root.0) {
                Some(&(value, _)) if negated => Known::Expression(dae.pool.neg(value)),
                Some(&(value, _)) => Known::Expression(value),
                None if root == s => Known::Itself,
                None => Known::Alias { of: root, negated },
            });
        }

        let mut derivative = self.derivative;
        for (s, d) in derivative.iter_mut().enumerate() {
            if known[s] != Known::Itself {
                *d = None;
            }
        }

        Ok(Kept {
            rows,
            known,
            derivative,
            redundant,
        })
    }
}

fn is_unknown(dae: &Dae, s: SymbolId) -> bool {
    matches!(dae.symbol(s).role, Role::Unknown | Role::Derivative { .. })
}

fn add_to(unknowns: &mut Vec<(SymbolId, i32)>, s: SymbolId, n: i32) {
    match unknowns.iter_mut().find(|(u, _)| *u == s) {
        Some((_, count)) => *count += n,
        None => unknowns.push((s, n)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{dae, failure, reduced, run};
    use super::*;

    fn kept(text: &str) -> (Dae, Kept) {
        let mut dae = dae(text);
        let kept = remove_aliases(&mut dae, &mut Dependence::default(), &[]).expect("no conflict");
        (dae, kept)
    }

    #[test]
    fn chains_of_copies_end_in_one_unknown_with_the_right_signs() {
        let (dae, kept) = kept(
            "a = -b
             b = c
             0 = c + d
             d = sin(time)",
        );
        assert_eq!(kept.rows.len(), 1);
        let of: Vec<Known> = (0..dae.symbols.len())
            .filter(|&s| kept.known[s] != Known::Itself)
            .map(|s| kept.known[s])
            .collect();
        assert_eq!(of.len(), 3);
        let v = run(
            &reduced("a = -b\n b = c\n 0 = c + d\n d = sin(time)"),
            &[("time", 1.0)],
        );
        let d = 1.0_f64.sin();
        assert_eq!((v["a"], v["b"], v["c"], v["d"]), (d, -d, -d, d));
    }

    #[test]
    fn a_differential_unknown_stays_and_its_copy_follows_with_its_derivative() {
        let r = reduced(
            "y = -x
             z = y
             der(x) = -2*x
             w = der(y)",
        );
        assert_eq!(r.states.len(), 1);
        let name = r.dae.name_of(r.states[0].symbol);
        assert!(name == "x" || name == "y");
        let at = if name == "x" { 3.0 } else { -3.0 };
        let v = run(&r, &[(&name, at)]);
        assert_eq!((v["x"], v["y"], v["z"]), (3.0, -3.0, -3.0));
        assert_eq!((v["der(x)"], v["der(y)"], v["w"]), (-6.0, 6.0, 6.0));
    }

    #[test]
    fn constants_spread_through_sums_and_products() {
        let (_, kept) = kept(
            "f = 0
             e = 3*f
             0 = a - b + e
             c = a - f
             b = 7",
        );
        assert!(kept.rows.is_empty());
    }

    #[test]
    fn a_constant_has_no_rate() {
        let r = reduced("x = 5\n i = 2*der(x)");
        assert!(r.states.is_empty());
        assert_eq!(run(&r, &[])["i"], 0.0);
    }

    #[test]
    fn two_constants_for_one_unknown_name_both_equations() {
        let error = failure("x = 1\n y = x\n y = 2");
        let StructuralError::Contradiction {
            values, equations, ..
        } = error
        else {
            panic!("{error:?}")
        };
        assert_eq!(values, (1.0, 2.0));
        assert_eq!((equations.0.index, equations.1.index), (0, 2));
        assert!(matches!(
            failure("x = 1\n 3 = 4"),
            StructuralError::False { .. }
        ));
        let error = failure("param a = 1\n param b = 1\n x = a\n x = b");
        assert!(matches!(error, StructuralError::OverDetermined(p) if p.equations.len() == 2));
    }

    #[test]
    fn rounding_is_no_contradiction() {
        let error = failure("x = 0.1\n y = 0.2\n z = 0.3\n x + y = z\n w*w = w*time*v");
        let StructuralError::UnderDetermined { redundant, .. } = error else {
            panic!("{error:?}")
        };
        assert_eq!(redundant.len(), 1);
    }

    #[test]
    fn a_million_copies_in_a_chain_are_one_unknown() {
        let mut dae = dae("x0 = sin(time)");
        let origin = crate::dae::Origin(0);
        let mut symbol = dae.symbols[0].clone();
        symbol.role = Role::Unknown;
        let first = SymbolId(
            dae.symbols
                .iter()
                .position(|s| s.role == Role::Unknown)
                .expect("x0") as u32,
        );
        let mut before = dae.pool.symbol(first);
        for _ in 0..1_000_000 {
            let s = dae.add_symbol(symbol.clone());
            let right = dae.pool.symbol(s);
            dae.equations.push(Equation {
                left: before,
                right,
                solves: None,
                origin,
            });
            before = right;
        }
        let kept = remove_aliases(&mut dae, &mut Dependence::default(), &[]).expect("no conflict");
        assert_eq!(kept.rows.len(), 1);
    }
}
