//! Linear models of designs: A, B, C, D at a point, in the user's names and units.
//!
//! In:  a [`Design`], compiled, and an [`LinearRequest`]: inputs, outputs, and the point.
//! Out: a [`Linearization`], with exact derivatives, and what is to be known about the point.
//!
//! `augment` adds inputs and outputs to the equations, `point` goes to the point, `matrices` reads
//! the linear model off. The mathematics of linear models is in `paynter-linear`.
//!
//! Where a path leads through a sampled block, the model is one in steps (`clocks`, `steps`), or refused where the caller
//! needs a continuous one.
//!
//! **Invariant:** nothing is ever perturbed by a finite amount.

pub(crate) mod augment;
mod bode;
mod clocks;
mod find_point;
mod locus;
mod loops;
mod matrices;
mod operating_point;
mod pictures;
mod poles;
mod step;
mod steps;
mod text;
mod trim;
mod variation;

use augment::Entry;
use paynter_design::code;
use paynter_design::compile::Compiled;
use paynter_design::design::Design;
use paynter_linear::{LinearModel, Look, Mode, SampledModel};
use paynter_model::experiment::{Column, Plan, Quantity};
use paynter_symbolic::{Role, SymbolId};
use paynter_syntax::Diagnostic;

use operating_point::{At, OperatingPoint};
use trim::Unknown;

pub use bode::{Bode, BodeChannel, bode};
pub use locus::{
    LocusReport, locus, matched_transfers, transfers, transfers_in, transfers_to_json,
    transfers_to_text,
};
pub use loops::{ChannelMargins, LoopReport, channel_margins, loop_margins};
pub(crate) use loops::{LoopCuts, MeasuredMargins, margins_of_measures};
pub use operating_point::Rest;
pub use pictures::pole_map;
pub use poles::{MOST_CHANNELS, PoleTable, poles, poles_to_json, poles_to_text};
pub use step::{StepCurve, Steps, steps};
pub use text::{about_point, notes, to_csv, to_json, to_text, trim_to_json, trim_to_text};
pub use trim::Trim;
pub use variation::{
    Followed, Parameter, Sensitivities, Varying, default_parameters, sensitivities,
    sensitivities_to_json, sensitivities_to_text,
};
pub(crate) use variation::{Following, Model as VariedModel, sensitivities_at};

/// Of what, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearRequest {
    /// What small changes are added to.
    pub from: Vec<Quantity>,
    /// What follows them.
    pub to: Vec<Quantity>,
    /// The time of the run at which, s; the start where none is given.
    pub at: Option<f64>,
    /// Open the loops through the inputs: what defines them is held constant.
    pub is_open: bool,
    /// What sampled blocks become.
    pub sampled: Sampled,
    /// Changes are added to what sampled blocks set, where such a quantity is an input; else they replace it.
    pub is_injected: bool,
    /// Outputs of a model in steps are taken just before the first tick of a period instead of just after it.
    pub looks_before: bool,
    /// Storages that act on nothing stay states, as structure counts them; else they are left out where there are outputs.
    pub keeps_storages: bool,
}

/// What becomes of sampled blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sampled {
    /// The caller needs a continuous model: a path through one is refused.
    #[default]
    Refused,
    /// The model is one in steps.
    InSteps {
        /// The gain at which quantisers count; without one a path through them is refused.
        quantiser_gain: Option<f64>,
    },
}

impl LinearRequest {
    fn entry(&self) -> Entry {
        match (self.is_open, self.is_injected) {
            (true, _) => Entry::Open,
            (false, true) => Entry::Injected,
            (false, false) => Entry::Added,
        }
    }

    fn read_off(
        &self,
        point: &mut OperatingPoint<'_>,
        trim: Option<Trim>,
    ) -> Result<Linearization, LinearError> {
        match point.opened {
            None => matrices::read_off(point, self, trim),
            Some(_) if self.looks_before => steps::read_off_steps(point, self, Look::Before),
            Some(_) => steps::read_off_steps(point, self, Look::After),
        }
    }
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
    /// Of a model in steps, what happens within a period; `model` is then the map from period to period.
    pub sampled: Option<SampledModel>,
}

impl Linearization {
    /// The step of a model in steps, s.
    pub fn step(&self) -> Option<f64> {
        self.sampled.as_ref().map(|s| s.period)
    }

    /// Tells whether a mode of this model does not decay.
    pub fn lasts(&self, mode: &Mode) -> bool {
        match self.sampled {
            None => mode.pole.re >= 0.0 || mode.is_at_zero(),
            // The estimate of the uncertainty is of first order, so a few times it.
            Some(_) => mode.pole.norm() >= 1.0 - 10.0 * mode.uncertainty,
        }
    }

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
        // In steps x(k+1) − x(k) = (A − 1) x(k).
        let slope = |k: usize, j: usize| match self.step() {
            None => self.model.a[(k, j)],
            Some(step) => (self.model.a[(k, j)] - f64::from(u8::from(k == j))) / step,
        };
        let worst = (0..self.rates.len()).map(|k| {
            let size = |j: usize| (self.states[j].value * self.states[j].factor).abs();
            let terms: f64 = (0..self.rates.len())
                .map(|j| slope(k, j).abs() * size(j))
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
    request: &LinearRequest,
) -> Result<Linearization, LinearError> {
    if design.plan.trim.is_empty() {
        let at = At {
            time: request.at,
            entry: request.entry(),
            sampled: request.sampled,
            ..At::default()
        };
        let mut point = OperatingPoint::new((design, compiled), &request.from, &request.to, &at)?;
        return request.read_off(&mut point, None);
    }
    if request.at.is_some() {
        let (_, rest) = find_rest(design, compiled)?;
        let at = At {
            time: request.at,
            rest: Some(&rest),
            entry: request.entry(),
            sampled: request.sampled,
            ..At::default()
        };
        let mut point = OperatingPoint::new((design, compiled), &request.from, &request.to, &at)?;
        return request.read_off(&mut point, None);
    }
    let (mut point, trim) = trimmed((design, compiled), request, false)?;
    request.read_off(&mut point, Some(trim))
}

/// Carries out the `trim` of an experiment: gives the point at rest, and what a run needs to start from it.
///
/// # Errors
///
/// Why no such point was found.
pub fn find_rest(design: &Design, compiled: &Compiled) -> Result<(Trim, Rest), LinearError> {
    let (mut point, trim) = trimmed((design, compiled), &LinearRequest::default(), true)?;
    let slopes = point.slopes()?;
    let parameters = searched_inputs(design);
    let n = parameters.len();
    // Inputs of the point are those that were searched: nothing else was asked for.
    let values = point.input_values.iter().copied();
    let parameters: Vec<(SymbolId, f64)> = parameters.into_iter().zip(values).collect();
    debug_assert_eq!(parameters.len(), n);
    let rest = point.rest(&slopes, parameters);
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

/// A point at the point at rest, with the inputs and outputs that are asked for first.
fn trimmed<'a>(
    (design, compiled): (&'a Design, &Compiled),
    request: &LinearRequest,
    wants_states: bool,
) -> Result<(OperatingPoint<'a>, Trim), LinearError> {
    let (mut inputs, mut outputs) = (request.from.clone(), request.to.clone());
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
    if request.is_open {
        let (trim, rest) = find_rest(design, compiled)?;
        let at = At {
            rest: Some(&rest),
            entry: Entry::Open,
            ..At::default()
        };
        return Ok((
            OperatingPoint::new((design, compiled), &request.from, &request.to, &at)?,
            trim,
        ));
    }

    let at = At {
        wants_states,
        ..At::default()
    };
    let mut point = OperatingPoint::new((design, compiled), &inputs, &outputs, &at)?;
    let trim = trim::trim(&mut point, &unknowns)?;
    Ok((point, trim))
}

/// Tells whether the margins of measures are all that needs a linear model in an experiment.
pub(crate) fn asks_margins_only(plan: &Plan) -> bool {
    plan.trim.is_empty() && plan.linearize.is_empty()
}

/// What is asked for where the call leaves it open: the experiment's first `linearize`, else from the
/// inputs of the model (or what its sources set) to what is recorded.
pub fn linear_request(design: &Design, at: Option<f64>, is_open: bool) -> LinearRequest {
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
    LinearRequest {
        from: from.unwrap_or_default(),
        to: to.unwrap_or_else(|| {
            // What nothing but a measure reads is not an output of the dynamics.
            let is_constant = |c: &&Column| graph.signals.pool.as_number(c.value).is_some();
            let all = design.plan.columns.iter();
            all.filter(|c| !is_constant(c)).map(column).collect()
        }),
        at,
        is_open,
        sampled: in_steps(design),
        is_injected: false,
        looks_before: false,
        keeps_storages: false,
    }
}

/// Sampled blocks in steps, quantisers at the gain that the experiment or the call states.
pub fn in_steps(design: &Design) -> Sampled {
    Sampled::InSteps {
        quantiser_gain: design.linear.quantiser_gain.or(design.plan.quantiser_gain),
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
