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
use paynter_symbolic::{ExprId, Role, SymbolId};
use paynter_syntax::{Diagnostic, Span};

/// What is known of the design, and room to try other values in.
#[derive(Clone, Debug)]
pub(crate) struct Physics {
    graph: BondGraph,
    /// Elements whose laws read changed parameters.
    touched: Vec<ElementId>,
    /// Expressions of their laws.
    laws: Vec<ExprId>,
    /// Parameters bound to changed ones.
    followers: Vec<(SymbolId, ExprId)>,
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
        let followers = bound.filter(|&(_, e)| parameters.is_changed(e)).collect();

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
            followers,
            signs: Vec::new(),
            found: Vec::new(),
        };
        let parameters = Parameters::new(&physics.graph.signals, &[]);
        physics.signs = signs(&physics.laws, &parameters).collect();
        physics.found = physics.check();
        physics
    }

    /// Tells whether everything that holds for the design holds for these values.
    pub(crate) fn is_as_before(&mut self, changes: &[(SymbolId, f64)]) -> bool {
        let parameters = Parameters::new(&self.graph.signals, changes);
        let followed: Option<Vec<(SymbolId, f64)>> = self
            .followers
            .iter()
            .map(|&(symbol, binding)| Some((symbol, parameters.value(binding)?)))
            .collect();
        let Some(followed) = followed else {
            return false;
        };
        let values = || changes.iter().chain(&followed);
        if values().any(|(_, value)| !value.is_finite()) {
            return false;
        }
        if !signs(&self.laws, &parameters).eq(self.signs.iter().copied()) {
            return false;
        }
        if self.signs_decide {
            return true;
        }

        for &(symbol, new) in values() {
            let role = &mut self.graph.signals.symbols[symbol.0 as usize].role;
            if let Role::Parameter { value, .. } = role {
                *value = new;
            }
        }
        self.check() == self.found
    }

    fn check(&mut self) -> Vec<(&'static str, Option<Span>)> {
        let messages = check_elements(&mut self.graph, &self.touched);
        let place = |m: &Diagnostic| (m.code, m.primary.as_ref().map(|p| p.span));
        messages.iter().map(place).collect()
    }
}

/// Signs of all constants in laws.
fn signs<'a>(
    laws: &'a [ExprId],
    parameters: &'a Parameters<'a>,
) -> impl Iterator<Item = Option<Sign>> + 'a {
    let sign = |x: f64| match x {
        _ if !x.is_finite() => Sign::NotFinite,
        _ if x == 0.0 => Sign::Zero,
        _ if x < 0.0 => Sign::Negative,
        _ => Sign::Positive,
    };
    laws.iter().map(move |&e| parameters.value(e).map(sign))
}
