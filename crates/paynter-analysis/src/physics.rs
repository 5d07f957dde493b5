//! Looks whether other parameters make another model: one that elaboration would refuse, warn of, or build
//! in another way.
//!
//! In:  a design, and the parameters that a sweep changes.
//! Out: for each set of values whether all that was found about the design holds for them as well.
//!
//! Laws are checked as elaboration checks them, so that a sweep refuses what a run refuses. Causality looks at
//! signs and zeros of constants, so these must not change either. A point that differs is not refused here: it
//! is elaborated anew, and says itself what is wrong.
//!
//! **Invariant:** only elements whose laws read a changed parameter cost anything.

use paynter_design::design::Design;
use paynter_design::parameters::Parameters;
use paynter_model::laws::check_elements;
use paynter_model::{BondGraph, ElementId, Law};
use paynter_symbolic::evaluate::Evaluator;
use paynter_symbolic::walk::symbols_of;
use paynter_symbolic::{Dae, ExprId, Role, SymbolId};
use paynter_syntax::{Diagnostic, Span};
use std::collections::BTreeSet;

/// What is known of the design, and room to try other values in.
#[derive(Clone, Debug)]
pub(crate) struct Physics {
    graph: BondGraph,
    /// Elements whose laws read changed parameters.
    touched: Vec<ElementId>,
    /// Expressions of their laws, and whether each reads nothing but parameters.
    laws: Vec<(ExprId, bool)>,
    /// Bound parameters that these need or that follow changed ones, in an order in which each finds what it needs.
    bound: Vec<(SymbolId, ExprId)>,
    /// Which of them follow changed ones.
    follows: Vec<bool>,
    evaluator: Evaluator,
    signs: Vec<Option<Sign>>,
    /// Every touched law is one number: whether it is sound is a question of its sign, and nothing else is looked at.
    signs_decide: bool,
    found: Vec<(&'static str, Option<Span>)>,
}

/// As much of a number as decides about causality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Negative,
    Zero,
    Positive,
    NotFinite,
}

impl Physics {
    pub(crate) fn new(design: &Design, changed: &[SymbolId]) -> Self {
        let graph = BondGraph::clone(&design.graph);
        let dae = &design.graph.signals;
        let changes: Vec<(SymbolId, f64)> = changed.iter().map(|&s| (s, 0.0)).collect();
        let parameters = Parameters::new(dae, &changes);

        let mut touched = Vec::new();
        let mut laws = Vec::new();
        for (index, element) in graph.elements.iter().enumerate() {
            let own = element.law.expressions();
            if own.iter().any(|&e| parameters.is_changed(e)) {
                touched.push(ElementId(index as u32));
                laws.extend(own);
            }
        }
        let bound = dae.symbols.iter().enumerate().filter_map(|(index, s)| {
            let symbol = SymbolId(index as u32);
            match s.role {
                Role::Parameter {
                    binding: Some(e), ..
                } if !changed.contains(&symbol) => Some((symbol, e)),
                _ => None,
            }
        });
        let followers = bound.filter(|&(_, e)| parameters.is_changed(e));
        let followers = followers.map(|(symbol, e)| (Some(symbol), e));
        let roots = laws.iter().map(|&e| (None, e)).chain(followers).collect();
        let bound = bound_parameters(dae, roots, changed);
        let follows = bound.iter().map(|b| parameters.is_changed(b.1)).collect();
        let laws = laws.into_iter().map(|e| (e, reads_parameters_only(dae, e)));
        let laws = laws.collect();

        let is_one_number = |id: &ElementId| match graph.element(*id).law {
            Law::Gain(e) | Law::InverseGain(e) => parameters.value(e).is_some(),
            _ => false,
        };
        let signs_decide = touched.iter().all(is_one_number);
        let mut physics = Physics {
            graph,
            signs_decide,
            touched,
            laws,
            bound,
            follows,
            evaluator: Evaluator::new(),
            signs: Vec::new(),
            found: Vec::new(),
        };
        let parameters = Parameters::new(&physics.graph.signals, &[]);
        let sign = |&(e, _): &(ExprId, bool)| parameters.value(e).map(Sign::of);
        physics.signs = physics.laws.iter().map(sign).collect();
        physics.found = physics.check();
        physics
    }

    /// Tells whether everything that holds for the design holds for these values.
    pub(crate) fn is_as_before(&mut self, changes: &[(SymbolId, f64)]) -> bool {
        let mut known = changes.to_vec();
        let Some(has_same_signs) = self.has_same_signs(&mut known) else {
            return false;
        };
        let followed = known[changes.len()..].iter().zip(&self.follows);
        let followed = followed.filter(|f| *f.1).map(|f| f.0);
        let mut values = changes.iter().chain(followed.clone());
        if !has_same_signs || values.any(|(_, value)| !value.is_finite()) {
            return false;
        }
        if self.signs_decide {
            return true;
        }

        for &(symbol, new) in changes.iter().chain(followed) {
            let role = &mut self.graph.signals.symbols[symbol.0 as usize].role;
            if let Role::Parameter { value, .. } = role {
                *value = new;
            }
        }
        self.check() == self.found
    }

    /// Adds the values of bound parameters to those that are known, and tells whether the constants in laws have the
    /// signs that they had. None where one has no value.
    fn has_same_signs(&mut self, known: &mut Vec<(SymbolId, f64)>) -> Option<bool> {
        let dae = &self.graph.signals;
        let value_of = |known: &[(SymbolId, f64)], symbol: SymbolId| {
            let found = known.iter().find(|k| k.0 == symbol).map(|k| k.1);
            found.unwrap_or_else(|| match dae.symbol(symbol).role {
                Role::Parameter { value, .. } => value,
                _ => f64::NAN,
            })
        };
        let evaluator = &mut self.evaluator;
        evaluator.restart();
        for &(symbol, binding) in &self.bound {
            let value = evaluator.evaluate(&dae.pool, binding, &|s| value_of(known, s));
            known.push((symbol, value.ok()?));
        }
        let mut laws = self.laws.iter().zip(&self.signs);
        Some(laws.all(|(&(law, is_number), &before)| {
            let value =
                is_number.then(|| evaluator.evaluate(&dae.pool, law, &|s| value_of(known, s)));
            value.and_then(Result::ok).map(Sign::of) == before
        }))
    }

    fn check(&mut self) -> Vec<(&'static str, Option<Span>)> {
        let messages = check_elements(&mut self.graph, &self.touched);
        let place = |m: &Diagnostic| (m.code, m.primary.as_ref().map(|p| p.span));
        messages.iter().map(place).collect()
    }
}

impl Sign {
    fn of(x: f64) -> Self {
        match x {
            _ if !x.is_finite() => Sign::NotFinite,
            _ if x == 0.0 => Sign::Zero,
            _ if x < 0.0 => Sign::Negative,
            _ => Sign::Positive,
        }
    }
}

/// Lists the bound parameters below some expressions, each after those that its binding reads; and the parameters that
/// the expressions themselves are bindings of. Changed ones no longer follow their bindings.
fn bound_parameters(
    dae: &Dae,
    roots: Vec<(Option<SymbolId>, ExprId)>,
    changed: &[SymbolId],
) -> Vec<(SymbolId, ExprId)> {
    let mut order = Vec::new();
    let mut done = BTreeSet::new();
    // Each entry waits for those above it.
    let mut open = roots;
    while let Some(&(symbol, e)) = open.last() {
        let before = open.len();
        for needed in symbols_of(&dae.pool, e) {
            if let Role::Parameter {
                binding: Some(binding),
                ..
            } = dae.symbol(needed).role
                && !changed.contains(&needed)
                && !done.contains(&needed)
            {
                open.push((Some(needed), binding));
            }
        }
        if open.len() > before {
            continue;
        }
        open.pop();
        if let Some(symbol) = symbol
            && done.insert(symbol)
        {
            order.push((symbol, e));
        }
    }
    order
}

/// Tells whether an expression, bindings followed, reads nothing but parameters.
fn reads_parameters_only(dae: &Dae, e: ExprId) -> bool {
    let is_parameter = |s: &SymbolId| matches!(dae.symbol(*s).role, Role::Parameter { .. });
    let bound = bound_parameters(dae, vec![(None, e)], &[]);
    let all = std::iter::once(e).chain(bound.into_iter().map(|b| b.1));
    let mut symbols = all.flat_map(|e| symbols_of(&dae.pool, e));
    symbols.all(|s| is_parameter(&s))
}
