//! Linear models of designs: A, B, C, D at a point, in the user's names and units.
//!
//! In:  a [`Design`], compiled, and an [`Ask`]: inputs, outputs, and the point.
//! Out: a [`Linearization`], with exact derivatives, and what is to be known about the point.
//!
//! `augment` adds inputs and outputs to the equations, `site` goes to the point, `matrices` reads
//! the linear model off. The mathematics of linear models is in `paynter-linear`.
//!
//! **Invariant:** a model with a path through a sampled block has no linear form and is refused;
//! nothing is ever perturbed by a finite amount.

pub(crate) mod augment;
mod bode;
mod loops;
mod matrices;
mod poles;
mod site;
mod step;
mod text;
mod trim;

use crate::code;
use crate::compile::Compiled;
use crate::design::Design;
use paynter_linear::LinearModel;
use paynter_model::experiment::{Column, Plan, Quantity};
use paynter_symbolic::{Role, SymbolId};
use paynter_syntax::Diagnostic;

use site::{At, Site};
use trim::Unknown;

pub use bode::{Bode, BodeChannel, bode};
pub use loops::{ChannelMargins, LoopReport, channel_margins, loop_margins};
pub(crate) use loops::{margins_in, margins_of_measures};
pub use poles::{MOST_CHANNELS, PoleTable, poles, poles_to_json, poles_to_text};
pub use site::Rest;
pub use step::{StepCurve, Steps, steps};
pub use text::{about_point, notes, to_csv, to_json, to_text, trim_to_json, trim_to_text};
pub use trim::Trim;

/// Of what, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// What small changes are added to.
    pub from: Vec<Quantity>,
    /// What follows them.
    pub to: Vec<Quantity>,
    /// The time of the run at which, s; the start where none is given.
    pub at: Option<f64>,
    /// Open the loops through the inputs: what defines them stands still.
    pub is_open: bool,
}

/// Why there is no linear model.
#[derive(Clone, Debug)]
pub enum LinearError {
    /// The model, or what is asked of it, has none.
    Model(Vec<Diagnostic>),
    /// The run to the point failed.
    Run(Vec<Diagnostic>),
}

impl LinearError {
    /// Gives the messages.
    pub fn into_messages(self) -> Vec<Diagnostic> {
        match self {
            LinearError::Model(messages) | LinearError::Run(messages) => messages,
        }
    }
}

/// A state, input or output of a linear model.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Its name in the model.
    pub name: String,
    /// The unit it is shown in; empty for SI or a plain number.
    pub unit: String,
    /// SI value of one such unit.
    pub factor: f64,
    /// Its value at the point, in that unit.
    pub value: f64,
}

/// A linear model at a point.
#[derive(Clone, Debug)]
pub struct Linearization {
    /// The matrices, in SI units.
    pub model: LinearModel,
    /// x
    pub states: Vec<Label>,
    /// u
    pub inputs: Vec<Label>,
    /// y
    pub outputs: Vec<Label>,
    /// The time of the point, s.
    pub time: f64,
    /// ẋ at the point, SI.
    pub rates: Vec<f64>,
    /// States that inputs shift: x in the matrices is the state less what it follows at once.
    pub shifted: Vec<String>,
    /// Integrals that nothing reads back, left out.
    pub left_out: Vec<String>,
    /// Coordinates that constraints fix by the others, left out.
    pub dependent: Vec<String>,
    /// The rates depend on time itself: time stands still in the linear model.
    pub is_time_frozen: bool,
    /// How the point was found, if it was searched.
    pub trim: Option<Trim>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

impl Linearization {
    /// The matrices in the units of the labels.
    pub fn in_units(&self) -> LinearModel {
        use paynter_linear::Matrix;
        let scaled = |m: &Matrix, to: &[Label], from: &[Label]| {
            Matrix::from_fn(m.n_rows(), m.n_columns(), |i, j| {
                m[(i, j)] * from[j].factor / to[i].factor
            })
        };
        let (x, u, y) = (&self.states, &self.inputs, &self.outputs);
        LinearModel {
            a: scaled(&self.model.a, x, x),
            b: scaled(&self.model.b, x, u),
            c: scaled(&self.model.c, y, x),
            d: self.model.d.iter().map(|d| scaled(d, y, u)).collect(),
        }
    }

    /// Tells whether the point is at rest: every rate is small against what its terms could make it.
    pub fn is_at_rest(&self) -> bool {
        self.worst_rate().is_none()
    }

    /// The state that moves most against its own size and pace, if the point is not at rest.
    pub fn worst_rate(&self) -> Option<(usize, f64)> {
        // Rates below this part of the sizes and slopes around are rounding.
        const REST: f64 = 1e-9;
        let a = &self.model.a;
        let worst = (0..self.rates.len()).map(|k| {
            let size = |j: usize| (self.states[j].value * self.states[j].factor).abs();
            let terms: f64 = (0..self.rates.len())
                .map(|j| a[(k, j)].abs() * size(j))
                .sum();
            let rate = self.rates[k].abs();
            let share = if rate == 0.0 {
                0.0
            } else {
                rate / terms.max(rate)
            };
            (k, share)
        });
        let worst = worst.max_by(|a, b| a.1.total_cmp(&b.1));
        worst.filter(|w| w.1 > REST)
    }
}

/// Makes the linear model of a design: where `trim` finds rest, if the experiment has it, else at the start; or
/// where the run of the experiment is at a later time.
///
/// # Errors
///
/// What has no linear form, or the failed run to the point.
pub fn linearize(
    design: &Design,
    compiled: &Compiled,
    ask: &Ask,
) -> Result<Linearization, LinearError> {
    if design.plan.trim.is_empty() {
        let at = At {
            time: ask.at,
            is_open: ask.is_open,
            ..At::default()
        };
        let mut site = Site::new((design, compiled), &ask.from, &ask.to, &at)?;
        return matrices::read_off(&mut site, ask, None);
    }
    if ask.at.is_some() {
        let (_, rest) = find_rest(design, compiled)?;
        let at = At {
            time: ask.at,
            rest: Some(&rest),
            is_open: ask.is_open,
            ..At::default()
        };
        let mut site = Site::new((design, compiled), &ask.from, &ask.to, &at)?;
        return matrices::read_off(&mut site, ask, None);
    }
    let (mut site, trim) = trimmed((design, compiled), ask, false)?;
    matrices::read_off(&mut site, ask, Some(trim))
}

/// Carries out the `trim` of an experiment: gives the point at rest, and what a run needs to start from it.
///
/// # Errors
///
/// Why no such point was found.
pub fn find_rest(design: &Design, compiled: &Compiled) -> Result<(Trim, Rest), LinearError> {
    let (mut site, trim) = trimmed((design, compiled), &Ask::default(), true)?;
    let slopes = site.slopes()?;
    let parameters = searched_inputs(design);
    let n = parameters.len();
    // Inputs of the site are those that were searched: nothing else was asked for.
    let values = site.input_values.iter().copied();
    let parameters: Vec<(SymbolId, f64)> = parameters.into_iter().zip(values).collect();
    debug_assert_eq!(parameters.len(), n);
    let rest = site.rest(&slopes, parameters);
    Ok((trim, rest))
}

/// Inputs with a constant value that the experiment trims, in order.
fn searched_inputs(design: &Design) -> Vec<SymbolId> {
    let found = design
        .plan
        .trim
        .iter()
        .filter_map(|q| constant_input(design, q));
    found.collect()
}

fn constant_input(design: &Design, quantity: &Quantity) -> Option<SymbolId> {
    let dae = &design.graph.signals;
    let symbol = dae.pool.as_symbol(quantity.column.value)?;
    let is_constant = matches!(dae.symbol(symbol).role, Role::Parameter { .. });
    (is_constant && design.graph.inputs.contains(&symbol)).then_some(symbol)
}

/// A site at the point at rest, with the inputs and outputs that are asked for first.
fn trimmed<'a>(
    (design, compiled): (&'a Design, &Compiled),
    ask: &Ask,
    wants_states: bool,
) -> Result<(Site<'a>, Trim), LinearError> {
    let (mut inputs, mut outputs) = (ask.from.clone(), ask.to.clone());
    let mut unknowns = Vec::new();
    for quantity in &design.plan.trim {
        let list = match constant_input(design, quantity) {
            Some(_) => &mut inputs,
            None => &mut outputs,
        };
        let same = |q: &Quantity| q.column.value == quantity.column.value;
        let at = list.iter().position(same).unwrap_or(list.len());
        if at == list.len() {
            list.push(quantity.clone());
        }
        unknowns.push(match constant_input(design, quantity) {
            Some(_) => (Unknown::Input(at), quantity),
            None => (Unknown::Output(at), quantity),
        });
    }
    // A loop that is open in the linear model is closed while rest is searched.
    if ask.is_open {
        let (trim, rest) = find_rest(design, compiled)?;
        let at = At {
            rest: Some(&rest),
            is_open: true,
            ..At::default()
        };
        return Ok((
            Site::new((design, compiled), &ask.from, &ask.to, &at)?,
            trim,
        ));
    }
    let at = At {
        wants_states,
        ..At::default()
    };
    let mut site = Site::new((design, compiled), &inputs, &outputs, &at)?;
    let trim = trim::trim(&mut site, &unknowns)?;
    Ok((site, trim))
}

/// Tells whether an experiment asks for what needs a linear model.
pub fn is_asked(plan: &Plan) -> bool {
    let mut margins = plan.all_measures().into_iter().map(|m| margins_in(m.2));
    !plan.trim.is_empty() || !plan.linearize.is_empty() || margins.any(|m| !m.is_empty())
}

/// What is asked for where the call leaves it open: the experiment's first `linearize`, else from the
/// inputs of the model (or what its sources set) to what is recorded.
pub fn ask(design: &Design, at: Option<f64>, is_open: bool) -> Ask {
    let written = design.plan.linearize.first();
    let graph = &design.graph;
    let place = design.plan.places.whole.unwrap_or_default();
    let or = |given: &[Quantity], written: Option<&Vec<Quantity>>| match given {
        [] => written.cloned(),
        given => Some(given.to_vec()),
    };
    let from = or(&design.linear.from, written.map(|l| &l.from));
    let to = or(&design.linear.to, written.map(|l| &l.to));
    let column = |column: &Column| Quantity {
        column: column.clone(),
        span: place,
    };
    Ask {
        from: from.unwrap_or_default(),
        to: to.unwrap_or_else(|| {
            // What nothing but a measure reads is no output of the dynamics.
            let is_constant = |c: &&Column| graph.signals.pool.as_number(c.value).is_some();
            let all = design.plan.columns.iter();
            all.filter(|c| !is_constant(c)).map(column).collect()
        }),
        at,
        is_open,
    }
}

/// The iteration for eigenvalues gave up, or a matrix overflowed.
fn no_eigenvalues(design: &Design) -> LinearError {
    let place = design.plan.places.of(&["linearize", "trim"]);
    let message = Diagnostic::error(
        code::NO_LINEAR_FORM,
        "the matrices of this linear model have no eigenvalues that could be computed",
    );
    let message = message.help("look at them with `paynter linearize`: entries that differ by hundreds of orders of magnitude overflow");
    model_error(match place {
        Some(span) => message.primary(span, "of this linear model"),
        None => message,
    })
}

fn model_error(diagnostic: Diagnostic) -> LinearError {
    LinearError::Model(vec![diagnostic])
}
