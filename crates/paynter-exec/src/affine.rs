//! Recognises expressions that are straight lines in time between events.
//!
//! In:  an expression.
//! Out: slope and offset as expressions free of time and of states, so that the instant at
//!      which the line reaches a value can be computed instead of searched.
//!
//! **Invariant:** what is accepted reads time, parameters, discrete symbols, modes, and states that change at events
//! only.

use paynter_symbolic::SymbolId;
use paynter_symbolic::dae::Role;
use paynter_symbolic::expr::{ExprId, Function1, Node, Pool};
use paynter_symbolic::reduced::State;
use paynter_symbolic::walk::for_each_argument;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::{Plan, Source};

/// slope · t + offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub slope: ExprId,
    pub offset: ExprId,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Depends on states, or on time in another way.
    Other,
    /// Free of time.
    Free(ExprId),
    Line(Line),
}

/// Remembers what was found out about nodes.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    forms: FxHashMap<ExprId, Form>,
    /// States whose rate is zero.
    held: FxHashSet<SymbolId>,
}

impl Lines {
    /// Knows which states change at events only: those with the rate 0.
    pub(crate) fn with_held(states: &[State], plan: &Plan) -> Lines {
        let is_held = |state: &&State| match plan.sources[state.derivative.0 as usize] {
            Source::Forward(rate) | Source::Assign(rate) => {
                plan.dae.pool.as_number(rate) == Some(0.0)
            }
            _ => false,
        };
        Lines {
            forms: FxHashMap::default(),
            held: states.iter().filter(is_held).map(|s| s.symbol).collect(),
        }
    }

    /// Gives the line that an expression is, if it is one that moves with time.
    pub(crate) fn line(&mut self, plan: &mut Plan, e: ExprId) -> Option<Line> {
        let mut stack = vec![(e, false)];
        while let Some((e, is_ready)) = stack.pop() {
            if !is_ready && self.forms.contains_key(&e) {
                continue;
            }
            if is_ready {
                let form = self.form_of(plan, e);
                self.forms.insert(e, form);
                continue;
            }
            // Until known otherwise it is not a line, which also ends definitions in a cycle.
            self.forms.insert(e, Form::Other);
            stack.push((e, true));
            match plan
                .dae
                .pool
                .as_symbol(e)
                .map(|s| plan.sources[s.0 as usize])
            {
                Some(Source::Forward(value) | Source::Assign(value)) => stack.push((value, false)),
                Some(_) => {}
                None => for_each_argument(&plan.dae.pool, e, |a| stack.push((a, false))),
            }
        }
        match self.forms[&e] {
            Form::Line(line) => Some(line),
            Form::Other | Form::Free(_) => None,
        }
    }

    /// How large the terms of an offset are, taken without their signs: where they cancel, the offset is only as exact as
    /// they are.
    pub(crate) fn size_of_terms(plan: &mut Plan, e: ExprId) -> ExprId {
        // Deeper than anyone writes by hand; what is farther down counts by its value.
        const DEEPEST: usize = 64;
        fn size(plan: &mut Plan, e: ExprId, depth: usize) -> ExprId {
            let node = plan.dae.pool.node(e);
            let mut part = |a: ExprId| size(plan, a, depth + 1);
            match node {
                _ if depth > DEEPEST => plan.dae.pool.call1(Function1::Abs, e),
                Node::Neg(a) | Node::Smooth(a) => part(a),
                Node::Add(a, b) | Node::Sub(a, b) => {
                    let (a, b) = (part(a), part(b));
                    plan.dae.pool.add(a, b)
                }
                Node::Mul(a, b) => {
                    let (a, b) = (part(a), part(b));
                    plan.dae.pool.mul(a, b)
                }
                Node::Div(a, b) => {
                    let a = part(a);
                    let b = plan.dae.pool.call1(Function1::Abs, b);
                    plan.dae.pool.div(a, b)
                }
                Node::Symbol(s) => match plan.sources[s.0 as usize] {
                    Source::Forward(value) | Source::Assign(value) => size(plan, value, depth + 1),
                    _ => plan.dae.pool.call1(Function1::Abs, e),
                },
                _ => plan.dae.pool.call1(Function1::Abs, e),
            }
        }
        size(plan, e, 0)
    }

    fn form_of(&self, plan: &mut Plan, e: ExprId) -> Form {
        let form = |a: ExprId| self.forms[&a];
        let pool = &mut plan.dae.pool;
        match pool.node(e) {
            Node::Number(_) => Form::Free(e),
            Node::Symbol(s) => match plan.sources[s.0 as usize] {
                Source::Forward(value) | Source::Assign(value) => form(value),
                Source::Input => match plan.dae.symbols[s.0 as usize].role {
                    Role::Time => Form::Line(Line {
                        slope: pool.number(1.0),
                        offset: pool.number(0.0),
                    }),
                    Role::Parameter { .. } | Role::Discrete { .. } | Role::Mode { .. } => {
                        Form::Free(e)
                    }
                    _ if self.held.contains(&s) => Form::Free(e),
                    _ => Form::Other,
                },
                Source::Nowhere | Source::Solved(_) => Form::Other,
            },
            Node::Smooth(a) => form(a),
            Node::Neg(a) => match form(a) {
                Form::Line(Line { slope, offset }) => Form::Line(Line {
                    slope: pool.neg(slope),
                    offset: pool.neg(offset),
                }),
                Form::Free(_) => Form::Free(e),
                Form::Other => Form::Other,
            },
            Node::Add(a, b) => sum((e, true), (form(a), form(b)), pool),
            Node::Sub(a, b) => sum((e, false), (form(a), form(b)), pool),
            Node::Mul(a, b) => match (form(a), form(b)) {
                (Form::Free(_), Form::Free(_)) => Form::Free(e),
                (Form::Line(line), Form::Free(factor)) | (Form::Free(factor), Form::Line(line)) => {
                    Form::Line(Line {
                        slope: pool.mul(line.slope, factor),
                        offset: pool.mul(line.offset, factor),
                    })
                }
                _ => Form::Other,
            },
            Node::Div(a, b) => match (form(a), form(b)) {
                (Form::Free(_), Form::Free(_)) => Form::Free(e),
                (Form::Line(line), Form::Free(divisor)) => Form::Line(Line {
                    slope: pool.div(line.slope, divisor),
                    offset: pool.div(line.offset, divisor),
                }),
                _ => Form::Other,
            },
            _ => {
                let mut is_free = true;
                for_each_argument(&plan.dae.pool, e, |a| {
                    is_free &= matches!(form(a), Form::Free(_));
                });
                if is_free { Form::Free(e) } else { Form::Other }
            }
        }
    }
}

/// The form of the sum or difference `e` of two parts.
fn sum((e, is_sum): (ExprId, bool), parts: (Form, Form), pool: &mut Pool) -> Form {
    let zero = pool.number(0.0);
    let as_line = |form: Form| match form {
        Form::Other => None,
        Form::Free(value) => Some(Line {
            slope: zero,
            offset: value,
        }),
        Form::Line(line) => Some(line),
    };
    if let (Form::Free(_), Form::Free(_)) = parts {
        return Form::Free(e);
    }
    match (as_line(parts.0), as_line(parts.1)) {
        (Some(a), Some(b)) if is_sum => Form::Line(Line {
            slope: pool.add(a.slope, b.slope),
            offset: pool.add(a.offset, b.offset),
        }),
        (Some(a), Some(b)) => Form::Line(Line {
            slope: pool.sub(a.slope, b.slope),
            offset: pool.sub(a.offset, b.offset),
        }),
        _ => Form::Other,
    }
}
