//! Where an inverse begins: where its model does.
//!
//! In:  a subject and its compiled model; a run of the inverse.
//! Out: the model's own start; and a warning where the target curves need another one.
//!
//! Target curves and their derivatives fix as many states of the model as there are differentiations. The others, the states of the
//! inverse, are free, and have the values that the model has at its start: those that its start values and its sources give.
//!
//! **Invariant:** an inverse whose curves begin elsewhere than its model says so.

use crate::code;
use crate::subject::Subject;
use paynter::Compiled;
use paynter::digits::significant;
use paynter::exec::Engine;
use paynter::experiment::{Layout, run_spec};
use paynter::linear::{LinearError, find_rest};
use paynter::model::experiment::Quantity;
use paynter::simulate::{Wanted, prepare, simulate};
use paynter::symbolic::dae::{Origin, Start};
use paynter::symbolic::{ExprId, Reduced, SymbolId};
use paynter::syntax::Diagnostic;
use paynter::table::Column;
use std::ops::ControlFlow;

/// A state of the model at its start, SI units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartState {
    state: SymbolId,
    value: f64,
    /// The model may begin with any value of it.
    is_free: bool,
}

/// Two values that differ by less than this part of the largest of the run are equal: starts are solved for.
const SAME: f64 = 1e-6;
/// States that are listed.
const MOST_LISTED: usize = 6;

/// Storages and coordinates at the start of the model, free or not.
///
/// # Errors
///
/// What keeps the model from starting.
pub(crate) fn model_start(
    subject: &Subject<'_>,
    compiled: &Compiled,
) -> Result<Vec<StartState>, Vec<Diagnostic>> {
    let mut compiled = compiled.clone();
    let states = states_of(subject);
    let pool = &mut compiled.reduced.dae.pool;
    let values = states.iter().map(|&s| pool.symbol(s)).collect();
    let plan = &subject.design.plan;
    let mut spec = run_spec(plan, &plain_layout(values), &[], Engine::Interpreter);
    (spec.stop, spec.output_times) = (spec.start, vec![spec.start]);
    if !plan.trim.is_empty() {
        let found = find_rest(subject.design, &compiled).map_err(LinearError::into_messages)?;
        spec.rest = found.1.states;
        spec.parameters.extend(found.1.parameters);
    }
    let mut machine = prepare(&compiled, &spec)?;
    let go_on = &mut |_: f64| ControlFlow::Continue(());
    let run = simulate(&mut machine, &compiled, &spec, go_on)?;
    let free = &compiled.reduced.states;
    let columns = states.iter().zip(&run.table.columns);
    let first = columns.filter_map(|(&state, column)| {
        Some(StartState {
            state,
            value: *column.values.first()?,
            is_free: free.iter().any(|f| f.symbol == state),
        })
    });
    Ok(first.collect())
}

/// Storages and coordinates.
fn states_of(subject: &Subject<'_>) -> Vec<SymbolId> {
    let stored = crate::subject::storages(subject.graph());
    stored
        .chain(subject.links.coordinates.iter().copied())
        .collect()
}

/// Lets the states of an inverse begin there.
pub(crate) fn begin_at(reduced: &mut Reduced, start: &[StartState]) {
    let dae = &mut reduced.dae;
    // The start of the model has met its demands.
    dae.starts.retain(|s| s.is_guess);
    for known in start {
        if reduced.states.iter().any(|s| s.symbol == known.state) {
            let begin = Start {
                target: dae.pool.symbol(known.state),
                value: dae.pool.number(known.value),
                is_guess: true,
                origin: Origin::default(),
            };
            dae.starts.push(begin);
        }
    }
}

/// Columns that [`other_start`] reads.
pub(crate) fn start_columns(reduced: &mut Reduced, start: &[StartState]) -> Vec<Wanted> {
    let pool = &mut reduced.dae.pool;
    start.iter().map(|s| plain(pool.symbol(s.state))).collect()
}

/// Says where the inverse begins elsewhere than the model; `table` has the columns of [`start_columns`].
pub(crate) fn other_start(
    subject: &Subject<'_>,
    wanted: &[Quantity],
    (start, columns): (&[StartState], &[Column]),
    most: usize,
) -> Option<Diagnostic> {
    let moved = start.iter().zip(columns).filter_map(|(known, column)| {
        let first = *column.values.first()?;
        let largest = column
            .values
            .iter()
            .fold(known.value.abs(), |m, x| m.max(x.abs()));
        let is_other = known.is_free && (first - known.value).abs() > SAME * largest;
        let name = subject.name(known.state);
        let (needed, own) = (significant(first, 4), significant(known.value, 4));
        is_other.then(|| format!("`{name}` at {needed} (the model: {own})"))
    });
    let moved: Vec<String> = moved.collect();
    if moved.is_empty() {
        return None;
    }
    let more = match moved.len() > MOST_LISTED {
        true => format!(" and {} more", moved.len() - MOST_LISTED),
        false => String::new(),
    };
    let shown = moved[..moved.len().min(MOST_LISTED)].join(", ");
    let message = "the target curves begin elsewhere than the model: from its own start the inputs would need an impulse";
    let message = Diagnostic::warning(code::OTHER_START, message)
        .primary(wanted.first()?.span, "to begin like this")
        .fact(format!("the inverse begins with, SI: {shown}{more}"));
    let derivatives = match most {
        0 | 1 => {
            "begin the curve at the value that the output has at the start of the model".to_owned()
        }
        n => format!(
            "begin the curve with the value, and the derivatives up to order {}, that the output has at the start of the model",
            n - 1
        ),
    };
    Some(message.help(format!(
        "{derivatives}, or give the model these start values"
    )))
}

/// A layout of values alone.
pub(crate) fn plain_layout(values: Vec<ExprId>) -> Layout {
    Layout::of(values.into_iter().map(plain).collect())
}

/// A value without name and unit.
pub(crate) fn plain(value: ExprId) -> Wanted {
    Wanted {
        name: String::new(),
        value,
        unit: String::new(),
        factor: 1.0,
        offset: 0.0,
    }
}
