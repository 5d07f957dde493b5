//! Rates as 1-forms: f = Σ t_i(q) q̇_i.
//!
//! In:  rates as they are written, in velocities and other rates.
//! Out: for each rate the terms it is made of, and its coefficients over velocities.
//!
//! **Invariant:** coefficients read positions and constants only.

use super::points::is_zero;
use super::system::{Named, Role, System};
use crate::code;
use paynter_symbolic::calculus::gradient;
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::Diagnostic;
use rustc_hash::FxHashMap;

/// One term of a rate as written: a coefficient times a velocity or another rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub source: SymbolId,
    pub coefficient: ExprId,
}

/// A rate, term by term and over velocities.
#[derive(Clone, Debug, Default)]
pub(super) struct Form {
    /// As written.
    pub terms: Vec<Term>,
    /// Coefficients that are not zero, by coordinate.
    pub over: Vec<(usize, ExprId)>,
}

/// The forms of all rates.
#[derive(Clone, Debug, Default)]
pub(super) struct Forms {
    /// In the order of [`System::rates`].
    pub rates: Vec<Form>,
    /// Of each velocity itself.
    pub velocities: Vec<Form>,
}

impl Forms {
    /// The form of a velocity or rate.
    pub fn of(&self, system: &System, symbol: SymbolId) -> &Form {
        match system.role(symbol) {
            Role::Rate(k) => &self.rates[k],
            Role::Velocity(i) => &self.velocities[i],
            _ => unreachable!("only velocities and rates have forms"),
        }
    }

    /// Coefficients over velocities of a sum of terms.
    pub fn over(&self, system: &mut System, terms: &[Term]) -> Vec<(usize, ExprId)> {
        let mut sums: FxHashMap<usize, ExprId> = FxHashMap::default();
        for term in terms {
            for &(i, part) in &self.of(system, term.source).over {
                let product = system.pool.mul(term.coefficient, part);
                let sum = match sums.get(&i) {
                    Some(&sum) => system.pool.add(sum, product),
                    None => product,
                };
                sums.insert(i, sum);
            }
        }
        let mut over: Vec<(usize, ExprId)> = sums.into_iter().collect();
        over.sort_unstable_by_key(|entry| entry.0);
        for (_, e) in &mut over {
            *e = system.simplify(*e);
        }
        over.retain(|&(_, e)| !is_zero(system, e));
        over
    }

    /// Adds the form of a rate that was made after the others.
    pub fn push(&mut self, system: &mut System, terms: Vec<Term>) {
        let over = self.over(system, &terms);
        self.rates.push(Form { terms, over });
    }
}

/// Reads all rates as forms.
///
/// # Errors
///
/// Rates that are not linear in velocities, or that are made of themselves.
pub(super) fn forms(system: &mut System) -> Result<Forms, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut terms: Vec<Vec<Term>> = Vec::new();
    for k in 0..system.rates.len() {
        let rate = &system.rates[k];
        let named = Named {
            name: rate.name.clone(),
            value: rate.value,
            span: rate.span,
        };
        match linear_terms(system, &named) {
            Ok(found) => terms.push(found),
            Err(message) => {
                errors.push(*message);
                terms.push(Vec::new());
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let order = order(system, &terms).map_err(|circle| vec![*circle])?;

    let mut forms = Forms {
        rates: vec![Form::default(); terms.len()],
        velocities: (0..system.coordinates.len())
            .map(|i| unit_form(system, i))
            .collect(),
    };
    for k in order {
        let over = forms.over(system, &terms[k]);
        if over.is_empty() {
            errors.push(
                Diagnostic::error(
                    code::RATE_FORM,
                    format!("the rate `{}` is always zero", system.rates[k].name),
                )
                .primary(system.rates[k].span, "its terms cancel")
                .help("remove it"),
            );
        }
        let terms = std::mem::take(&mut terms[k]);
        forms.rates[k] = Form { terms, over };
    }
    if errors.is_empty() {
        Ok(forms)
    } else {
        Err(errors)
    }
}

fn unit_form(system: &mut System, index: usize) -> Form {
    let one = system.pool.number(1.0);
    Form {
        terms: vec![Term {
            source: system.coordinates[index].velocity,
            coefficient: one,
        }],
        over: vec![(index, one)],
    }
}

/// The terms of a rate: linear in velocities and other rates, the same at all times.
///
/// # Errors
///
/// What is not so.
pub(super) fn linear_terms(
    system: &mut System,
    named: &Named,
) -> Result<Vec<Term>, Box<Diagnostic>> {
    let Some((terms, free)) = affine_terms(system, named.value) else {
        return Err(Box::new(
            Diagnostic::error(
                code::RATE_FORM,
                format!("`{}` is not linear in the rates", named.name),
            )
            .primary(
                named.span,
                "a rate is a sum of der(…) times functions of coordinates",
            )
            .help("products of rates belong in `kinetic` and `loss`"),
        ));
    };
    if let Some(term) = terms.iter().find(|t| system.reads_time(t.coefficient)) {
        return Err(depends_on_time(system, named, term.coefficient));
    }
    if is_zero(system, free) {
        return Ok(terms);
    }
    if system.reads_time(free) {
        return Err(depends_on_time(system, named, free));
    }
    Err(Box::new(
        Diagnostic::error(
            code::RATE_FORM,
            format!("`{}` has a part without any rate", named.name),
        )
        .primary(named.span, "not zero where all coordinates are at rest")
        .help(
            "a constant speed is the rate of a given motion: `given s = v*time`, and der(s) for v here; so is that of a turning frame",
        ),
    ))
}

/// Refuses what changes by itself: the power for that must come from somewhere.
pub(super) fn depends_on_time(system: &System, named: &Named, e: ExprId) -> Box<Diagnostic> {
    let found = system.reads(e, |role| role == Role::Input);
    let what = found.first().map_or("time", |&s| system.symbol_name(s));
    Box::new(
        Diagnostic::error(
            code::LAGRANGIAN_TIME,
            format!("`{}` depends on `{what}` directly", named.name),
        )
        .primary(named.span, "power would come from nowhere")
        .help("an input changes in a way that is not known here: write it as `given s = …` of time, or as a coordinate with a constraint or port"),
    )
}

/// Coefficients of velocities and rates, and what is left without any; none where it is not linear in them.
pub(super) fn affine_terms(system: &mut System, e: ExprId) -> Option<(Vec<Term>, ExprId)> {
    let sources = system.rates_in(e);
    let slopes = gradient(&mut system.pool, e, &sources);
    let mut terms = Vec::new();
    let mut is_plain = true;
    for (&source, slope) in sources.iter().zip(slopes) {
        let mut coefficient = system.simplify(slope);
        let moving = system.rates_in(coefficient);
        if !moving.is_empty() {
            let bends = gradient(&mut system.pool, coefficient, &moving);
            if !bends.iter().all(|&bend| is_zero(system, bend)) {
                return None;
            }
            // Linear after all: the coefficient is what it is at rest.
            coefficient = system.at_rest(coefficient);
            is_plain = false;
        }
        if !is_zero(system, coefficient) {
            terms.push(Term {
                source,
                coefficient,
            });
        }
    }
    let free = system.at_rest(e);
    // |q̇| bends nowhere but at rest, and is not linear.
    (is_plain || is_sum(system, e, &terms, free)).then_some((terms, free))
}

/// Tells whether an expression is the sum of these terms and what is left at rest.
fn is_sum(system: &mut System, e: ExprId, terms: &[Term], free: ExprId) -> bool {
    let mut rest = system.pool.sub(e, free);
    for term in terms {
        let source = system.pool.symbol(term.source);
        let part = system.pool.mul(term.coefficient, source);
        rest = system.pool.sub(rest, part);
    }
    is_zero(system, rest)
}

/// Rates so that each stands behind those it is made of.
fn order(system: &System, terms: &[Vec<Term>]) -> Result<Vec<usize>, Box<Diagnostic>> {
    let mut order = Vec::new();
    let mut is_done = vec![false; terms.len()];
    loop {
        let n_before = order.len();
        for k in 0..terms.len() {
            let is_ready = terms[k].iter().all(|t| match system.role(t.source) {
                Role::Rate(other) => is_done[other],
                _ => true,
            });
            if is_ready && !is_done[k] {
                is_done[k] = true;
                order.push(k);
            }
        }
        if order.len() == n_before {
            break;
        }
    }
    let stuck: Vec<usize> = (0..terms.len()).filter(|&k| !is_done[k]).collect();
    let Some(&first) = stuck.first() else {
        return Ok(order);
    };
    let names: Vec<&str> = stuck.iter().map(|&k| &*system.rates[k].name).collect();
    Err(Box::new(
        Diagnostic::error(
            code::RATE_FORM,
            format!("rates are made of each other: `{}`", names.join("`, `")),
        )
        .primary(system.rates[first].span, "one of them")
        .help("write one of them in der(…) of coordinates"),
    ))
}
