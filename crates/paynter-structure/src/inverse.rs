//! Inversion: from wanted outputs the inputs they need.
//!
//! In:  a [`Subject`] with as many outputs as inputs, a wanted curve for each output, and the compiled model.
//! Out: an [`Inverse`]: the needed inputs over time, how often the target curves are differentiated, and what the
//!      sources must give: peak, mean and energy.
//!
//! In a bond graph the sensor and the source become SS elements and the bonds between them bicausal (Gawthrop 1995): the output is
//! given, the input is read. In equations the definition of the input is taken out and `output = wanted` put in; index
//! reduction then finds which equations have to be differentiated. The zero dynamics of the model are the dynamics of its inverse.
//!
//! **Invariant:** no inverse is run that does not exist for almost all parameters, whose zero dynamics grow, or whose wanted curve is not
//! smooth enough.

use crate::begin::{
    StartState, begin_at, model_start, other_start, plain, plain_layout, start_columns,
};
use crate::channels::{Channels, channels};
use crate::code;
use crate::reach::short_name;
use crate::subject::Subject;
use paynter::Compiled;
use paynter::exec::Engine;
use paynter::experiment::{Layout, run_spec};
use paynter::linear::{LinearError, Linearization};
use paynter::linear_algebra::{Complex, LinearModel, Matrix, eigenvalues, least_squares, zeros};
use paynter::model::BondGraph;
use paynter::model::equations::build_equations;
use paynter::model::experiment::Quantity;
use paynter::model::graph::ElementId;
use paynter::simulate::{Ending, Run, Wanted, prepare, simulate};
use paynter::symbolic::calculus::total_derivative;
use paynter::symbolic::dae::{Dae, Equation, Origin, Symbol};
use paynter::symbolic::evaluate::evaluate;
use paynter::symbolic::reduce::reduce;
use paynter::symbolic::walk::symbols_of;
use paynter::symbolic::{ExprId, Names, Reduced, Role, SymbolId};
use paynter::syntax::Diagnostic;
use paynter::table::{Column, Table};
use std::ops::{ControlFlow, Range};

/// What a source has to give.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Name of the input.
    pub name: String,
    /// Unit of the input.
    pub unit: String,
    /// Smallest and largest value, in that unit.
    pub range: (f64, f64),
    /// The sources whose value the input is, or that it acts on at once.
    pub sources: Vec<ActuatorPower>,
}

/// Power of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct ActuatorPower {
    /// Its name, or its kind for one without a name.
    pub source: String,
    /// Largest power given, W.
    pub peak: f64,
    /// Largest power taken back, W.
    pub braking: f64,
    /// Energy given, J.
    pub given: f64,
    /// Energy taken back, J.
    pub taken: f64,
}

impl ActuatorPower {
    /// Energy given less energy taken back, J.
    pub fn energy(&self) -> f64 {
        self.given - self.taken
    }
}

/// A run of the inverse.
#[derive(Clone, Debug)]
pub struct Inverse {
    /// Needed inputs and the outputs that result, over time.
    pub table: Table,
    /// What each source has to give.
    pub actuators: Vec<Actuator>,
    /// How often the wanted curve of each output is differentiated.
    pub differentiations: Vec<i64>,
    /// Zeros: the poles of the inverse.
    pub zeros: Vec<Complex>,
    /// Number of states of the inverse.
    pub n_states: usize,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// Real parts below this part of the largest zero are on the axis but for rounding.
const ON_AXIS: f64 = 1e-9;

/// Computes the inputs that wanted outputs need.
///
/// # Errors
///
/// Why there is no inverse, in the model's names.
pub fn inverse(
    subject: &Subject<'_>,
    compiled: &Compiled,
    wanted: &[Quantity],
) -> Result<Inverse, Vec<Diagnostic>> {
    let frame = Frame {
        start: model_start(subject, compiled)?,
        ..Frame::default()
    };
    inverse_within(subject, compiled, wanted, &frame).map(|(found, _)| found)
}

/// What else is recorded of the inverse, and when.
#[derive(Default)]
pub(crate) struct Frame<'f> {
    /// Columns beside inputs and outputs.
    pub beside: Vec<Wanted>,
    /// Instants; those of the experiment where there are none.
    pub times: &'f [f64],
    /// The start of the model; none where it may begin anywhere.
    pub start: Vec<StartState>,
}

/// As [`inverse`], with columns of its own.
///
/// # Errors
///
/// As [`inverse`].
pub(crate) fn inverse_within(
    subject: &Subject<'_>,
    compiled: &Compiled,
    wanted: &[Quantity],
    frame: &Frame<'_>,
) -> Result<(Inverse, Vec<Column>), Vec<Diagnostic>> {
    is_asked_in_pairs(subject, wanted)?;
    let found = channels(subject, compiled)?;
    exists(subject, &found)?;
    let linear = subject
        .linear(compiled)
        .map_err(LinearError::into_messages)?;
    let zeros = zeros_of(&linear, &found);
    refuse_growth(subject, zeros.as_deref())?;

    let most = found.infinite.iter().max().copied().unwrap_or(0);
    for quantity in wanted {
        smooth_enough(subject, quantity, most)?;
    }
    let (dae, origins) = inverted(subject, compiled, wanted)?;
    let mut reduced = reduce(dae).map_err(|_| {
        vec![no_inverse(
            subject,
            "its equations have no unique solution for the inputs".to_owned(),
            "with the structure as it is, other inputs or outputs are needed",
        )]
    })?;
    let switches = &reduced.differentiated_switches;
    if switches.iter().any(|s| !origins.contains(&s.0)) {
        return Err(vec![not_smooth(
            &wanted[0],
            most,
            "what it reads switches, and that is differentiated",
        )]);
    }
    let degrees = found
        .row_degrees
        .iter()
        .map(|d| d.unwrap_or(0).max(0))
        .collect();
    if !frame.start.is_empty() {
        begin_at(&mut reduced, &frame.start);
    }
    let plan = Columns::of(subject, &mut reduced, frame);
    let run = run(subject, compiled, reduced, (&plan, frame))?;
    let (mut found, beside, begin) =
        told(subject, &plan, run, (degrees, zeros.unwrap_or_default()));
    let start = (&frame.start[..], &begin[..]);
    found
        .warnings
        .extend(other_start(subject, wanted, start, most));
    Ok((found, beside))
}

/// As many inputs as outputs, and a curve for each.
fn is_asked_in_pairs(subject: &Subject<'_>, wanted: &[Quantity]) -> Result<(), Vec<Diagnostic>> {
    subject.needs_input()?;
    subject.needs_output()?;
    let n = subject.inputs.len();
    if subject.outputs.len() == n && wanted.len() == n {
        return Ok(());
    }
    Err(vec![no_inverse(
        subject,
        format!(
            "{} for {} and {}",
            count(wanted.len(), "wanted curve"),
            count(subject.outputs.len(), "output"),
            count(n, "input")
        ),
        "name as many inputs with `--from` as outputs with `--to`, and a curve for each with `--want`",
    )])
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn no_inverse(subject: &Subject<'_>, why: String, help: &str) -> Diagnostic {
    let message = Diagnostic::error(
        code::NO_INVERSE,
        format!("the model cannot be inverted: {why}"),
    );
    let message = match subject.ask.to.first() {
        Some(output) => message.primary(output.span, "from this output"),
        None => subject.placed(message),
    };
    message.help(help)
}

fn exists(subject: &Subject<'_>, found: &Channels) -> Result<(), Vec<Diagnostic>> {
    if found.is_invertible() {
        return Ok(());
    }
    let names: Vec<&str> = subject
        .ask
        .to
        .iter()
        .map(|q| q.column.name.as_str())
        .collect();
    let inputs: Vec<&str> = subject
        .ask
        .from
        .iter()
        .map(|q| q.column.name.as_str())
        .collect();
    let why = match found.rank {
        0 => format!(
            "`{}` does not depend on `{}`, whatever the parameters are",
            names.join("`, `"),
            inputs.join("`, `")
        ),
        rank => format!(
            "only {rank} of the outputs `{}` can be given independently",
            names.join("`, `")
        ),
    };
    Err(vec![no_inverse(
        subject,
        why,
        "choose an input that acts on the output, or another output",
    )])
}

/// The zeros of the model.
fn zeros_of(linear: &Linearization, found: &Channels) -> Option<Vec<Complex>> {
    let model = &linear.model;
    if found.shape == (1, 1) {
        return zeros(&model.channel(0, 0)).ok().flatten();
    }
    if model.d.len() > 1 {
        return None;
    }
    if found.is_decouplable != Some(true) {
        return zeros_by_shift(model, found.n_zeros?);
    }
    let degrees: Option<Vec<usize>> = found
        .row_degrees
        .iter()
        .map(|d| d.and_then(|d| usize::try_from(d).ok()))
        .collect();
    zeros_when_decouplable(model, &degrees?)
}

/// With rᵢ integrations before output i and the first Markov parameters D* invertible, the zeros are the eigenvalues of
/// A − B D*⁻¹ C*, C*ᵢ = cᵢ Aʳⁱ, on the states with cᵢ Aᵏ x = 0 for k < rᵢ (Isidori 1995, §5.1).
fn zeros_when_decouplable(model: &LinearModel, degrees: &[usize]) -> Option<Vec<Complex>> {
    let (n, p) = (model.n_states(), degrees.len());
    let mut held: Vec<Vec<f64>> = Vec::new();
    let (mut first, mut last) = (Matrix::zeros(p, p), Matrix::zeros(p, n));
    for (i, &degree) in degrees.iter().enumerate() {
        let mut row = Matrix::from_fn(1, n, |_, j| model.c[(i, j)]);
        for k in 0..degree {
            held.push(row.row(0).to_vec());
            if k + 1 == degree {
                let markov = row.times(&model.b);
                (0..p).for_each(|j| first[(i, j)] = markov[(0, j)]);
            }
            row = row.times(&model.a);
        }
        if degree == 0 {
            (0..p).for_each(|j| first[(i, j)] = model.d[0][(i, j)]);
        }
        (0..n).for_each(|j| last[(i, j)] = row[(0, j)]);
    }
    let mut gain = Matrix::zeros(p, n);
    for j in 0..n {
        let solved = least_squares(&first, &last.column(j)).filter(|s| s.rank == p)?;
        (0..p).for_each(|i| gain[(i, j)] = solved.x[i]);
    }
    let closed = model.a.plus(-1.0, &model.b.times(&gain));
    let basis = kernel(&held, n);
    let inner = Matrix::from_fn(basis.len(), basis.len(), |i, j| {
        let moved: Vec<f64> = (0..n)
            .map(|r| (0..n).map(|c| closed[(r, c)] * basis[j][c]).sum())
            .collect();
        basis[i].iter().zip(&moved).map(|(a, b)| a * b).sum()
    });
    eigenvalues(&inner).ok()
}

/// Finite zeros of a square model as a whole are those s at which [A − sI, B; C, D] is singular. With a shift σ at which it is not, they are
/// σ + 1/μ, μ the eigenvalues of its inverse there times diag(I, 0); zeros at infinity have μ = 0. None where numbers do not tell the two apart.
fn zeros_by_shift(model: &LinearModel, n_zeros: usize) -> Option<Vec<Complex>> {
    /// Eigenvalues of a zero at infinity, which is a multiple one, beside those of finite zeros.
    const GAP: f64 = 1e-3;
    let (n, p) = (model.n_states(), model.b.n_columns());
    if n_zeros == 0 {
        return Some(Vec::new());
    }
    let entry = |i: usize, j: usize| match (i < n, j < n) {
        (true, true) => model.a[(i, j)],
        (true, false) => model.b[(i, j - n)],
        (false, true) => model.c[(i - n, j)],
        (false, false) => model.d.first().map_or(0.0, |d| d[(i - n, j - n)]),
    };
    let size = (0..n).fold(0.0_f64, |m, i| {
        (0..n).fold(m, |m, j| m.max(model.a[(i, j)].abs()))
    });
    // No number that a model is likely to have among its zeros.
    let shift = 0.618_034 * size.max(1.0).sqrt();
    let shifted = Matrix::from_fn(n + p, n + p, |i, j| {
        entry(i, j) - if i == j && i < n { shift } else { 0.0 }
    });
    let mut inverse = Matrix::zeros(n + p, n + p);
    for j in 0..n {
        let unit: Vec<f64> = (0..n + p).map(|i| f64::from(u8::from(i == j))).collect();
        let column = least_squares(&shifted, &unit).filter(|s| s.rank == n + p)?;
        (0..n + p).for_each(|i| inverse[(i, j)] = column.x[i]);
    }
    let mut found = eigenvalues(&inverse).ok()?;
    found.sort_by(|a, b| b.norm().total_cmp(&a.norm()));
    let (finite, infinite) = found.split_at_checked(n_zeros)?;
    let smallest = finite.last()?.norm();
    let is_apart = infinite.iter().all(|m| m.norm() < GAP * smallest);
    let at = |m: &Complex| {
        let size = m.norm() * m.norm();
        Complex::new(shift + m.re / size, -m.im / size)
    };
    is_apart.then(|| finite.iter().map(at).collect())
}

/// An orthonormal basis of the vectors that all rows send to zero, by Gram and Schmidt, twice.
fn kernel(rows: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    let mut span: Vec<Vec<f64>> = Vec::new();
    let remove = |v: &mut Vec<f64>, span: &[Vec<f64>]| {
        for _ in 0..2 {
            for u in span {
                let part: f64 = u.iter().zip(v.iter()).map(|(a, b)| a * b).sum();
                v.iter_mut().zip(u).for_each(|(v, u)| *v -= part * u);
            }
        }
    };
    let length = |v: &[f64]| v.iter().fold(0.0_f64, |s, x| s.hypot(*x));
    for row in rows {
        let mut v = row.clone();
        let before = length(&v);
        remove(&mut v, &span);
        let after = length(&v);
        if after > 1e-12 * before {
            v.iter_mut().for_each(|x| *x /= after);
            span.push(v);
        }
    }
    let n_rows = span.len();
    while span.len() < n {
        // The axis that is farthest from the span.
        let rest = (0..n).map(|k| {
            let mut v = vec![0.0; n];
            v[k] = 1.0;
            remove(&mut v, &span);
            v
        });
        let best = rest.max_by(|a, b| length(a).total_cmp(&length(b)));
        let mut v = best.expect("there are axes");
        let size = length(&v);
        v.iter_mut().for_each(|x| *x /= size);
        span.push(v);
    }
    span.split_off(n_rows)
}

fn refuse_growth(subject: &Subject<'_>, zeros: Option<&[Complex]>) -> Result<(), Vec<Diagnostic>> {
    let Some(zeros) = zeros else {
        return Err(vec![no_inverse(
            subject,
            "its zeros could not be computed, so it is not known whether the inverse is stable"
                .to_owned(),
            "invert one input and one output at a time, or outputs that can be decoupled",
        )]);
    };
    let largest = zeros.iter().fold(0.0_f64, |m, z| m.max(z.norm()));
    let growing: Vec<String> = zeros
        .iter()
        .filter(|z| z.re > ON_AXIS * largest && z.im >= 0.0)
        .map(|z| complex(*z))
        .collect();
    if growing.is_empty() {
        return Ok(());
    }
    let message = Diagnostic::error(
        code::UNSTABLE_INVERSE,
        format!(
            "the inverse is unstable: zero{} of the model at {} in the right half plane",
            if growing.len() == 1 { "" } else { "s" },
            growing.join(", ")
        ),
    );
    let message = match subject.ask.to.first() {
        Some(output) => message.primary(output.span, "to give this"),
        None => message,
    };
    Err(vec![message.help(
        "take an output nearer to the input: collocated ones have no such zeros",
    )])
}

/// `1.5 ± 2j`, 1/s.
pub fn complex(z: Complex) -> String {
    let number = |x: f64| {
        format!("{x:.5}")
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned()
    };
    let short = |x: f64| match x == 0.0 || (1e-3..1e5).contains(&x.abs()) {
        true => number(x),
        false => format!("{x:.4e}"),
    };
    match z.im.abs() <= 1e-12 * z.norm() {
        true => format!("{} 1/s", short(z.re)),
        false => format!("{} ± {}j 1/s", short(z.re), short(z.im.abs())),
    }
}

/// The equations with outputs given and inputs unknown; and the origins of the wanted curves.
fn inverted(
    subject: &Subject<'_>,
    compiled: &Compiled,
    wanted: &[Quantity],
) -> Result<(Dae, Vec<Origin>), Vec<Diagnostic>> {
    // As signals of the graph, wanted curves have their switches found like all others.
    let mut graph = BondGraph::clone(&compiled.graph);
    let n_own = graph.signals.equations.len();
    let curves: Vec<(SymbolId, Origin)> = wanted.iter().map(|q| add_curve(&mut graph, q)).collect();
    let mut dae = build_equations(&graph, &compiled.causality);
    let n_signals = n_own;
    for (k, &input) in subject.inputs.iter().enumerate() {
        let origin = dae.symbol(input).origin;
        match dae.symbol(input).role {
            Role::Parameter { .. } => free_parameter(&mut dae, input),
            _ => {
                let is_own = |(i, e): (usize, &Equation)| {
                    let is_left = dae.pool.as_symbol(e.left) == Some(input);
                    (is_left && (i < n_signals || e.solves == Some(input))).then_some(i)
                };
                let own = dae.equations.iter().enumerate().find_map(is_own);
                let Some(own) = own else {
                    let name = &subject.ask.from[k].column.name;
                    return Err(vec![no_inverse(
                        subject,
                        format!("`{name}` is computed from the states and laws of the model"),
                        "name an input of the model or what a source sets",
                    )]);
                };
                dae.equations.remove(own);
            }
        }
        let right = dae.pool.symbol(curves[k].0);
        dae.equations.push(Equation {
            left: subject.outputs[k],
            right,
            solves: None,
            origin,
        });
    }
    // Strokes say what is computed from what in the model, not in its inverse.
    dae.equations.iter_mut().for_each(|e| e.solves = None);
    dae.tearing.clear();
    Ok((dae, curves.iter().map(|c| c.1).collect()))
}

/// Adds a wanted curve as a signal of its own.
fn add_curve(graph: &mut BondGraph, quantity: &Quantity) -> (SymbolId, Origin) {
    let origin = Origin(graph.origins.len() as u32);
    graph.origins.push(quantity.span);
    let dae = &mut graph.signals;
    let name = dae.names.child(Names::ROOT, "wanted", None);
    let symbol = dae.add_symbol(Symbol {
        name,
        role: Role::Unknown,
        nominal: 0.0,
        origin,
    });
    let left = dae.pool.symbol(symbol);
    dae.equations.push(Equation {
        left,
        right: quantity.column.value,
        solves: Some(symbol),
        origin,
    });
    (symbol, origin)
}

/// Refuses a curve of time whose derivatives below the highest one jump: the input would be an impulse.
fn smooth_enough(
    subject: &Subject<'_>,
    quantity: &Quantity,
    most: usize,
) -> Result<(), Vec<Diagnostic>> {
    let mut dae = subject.graph().signals.clone();
    let mut curve = quantity.column.value;
    let is_given =
        |s: &SymbolId| matches!(dae.symbol(*s).role, Role::Time | Role::Parameter { .. });
    // What else it reads is judged when the equations are differentiated.
    if !symbols_of(&dae.pool, curve).iter().all(is_given) {
        return Ok(());
    }
    let plan = &subject.design.plan;
    for order in 0..most {
        if let Some(t) = first_jump(&dae, curve, (plan.start, plan.stop)) {
            let what = match order {
                0 => "it jumps".to_owned(),
                1 => "its slope jumps".to_owned(),
                n => format!("its derivative of order {n} jumps"),
            };
            return Err(vec![not_smooth(
                quantity,
                most,
                &format!("{what} at {t:.6} s"),
            )]);
        }
        let one = dae.pool.number(1.0);
        let time = dae.time;
        curve = total_derivative(&mut dae.pool, curve, &mut |_, s| {
            (Some(s) == time).then_some(one)
        });
    }
    Ok(())
}

/// Parts of the run that are looked at for a jump.
const PARTS: usize = 4000;
/// Largest changes that are looked into: more jumps than this need not be found, one is enough.
const LOOKED_INTO: usize = 12;

/// Finds a jump of a curve of time: a change that stays however near two instants come.
fn first_jump(dae: &Dae, curve: ExprId, (start, stop): (f64, f64)) -> Option<f64> {
    let at = |t: f64| {
        let value = |s: SymbolId| match dae.symbol(s).role {
            Role::Parameter { value, .. } => value,
            _ => t,
        };
        evaluate(&dae.pool, curve, &value).unwrap_or(f64::NAN)
    };
    let time = |k: usize| start + (stop - start) * k as f64 / PARTS as f64;
    let values: Vec<f64> = (0..=PARTS).map(|k| at(time(k))).collect();
    let size = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let mut parts: Vec<usize> = (0..PARTS).collect();
    parts.sort_by(|&a, &b| {
        let change = |k: usize| (values[k + 1] - values[k]).abs();
        change(b).total_cmp(&change(a))
    });
    let jumps = parts.iter().take(LOOKED_INTO).filter_map(|&k| {
        let (mut a, mut b) = (time(k), time(k + 1));
        // Down to neighbouring doubles, nearly.
        for _ in 0..40 {
            let middle = 0.5 * (a + b);
            let (left, right) = ((at(middle) - at(a)).abs(), (at(b) - at(middle)).abs());
            match left > right {
                true => b = middle,
                false => a = middle,
            }
        }
        ((at(b) - at(a)).abs() > 1e-6 * size).then_some(b)
    });
    jumps.min_by(f64::total_cmp)
}

/// Turns a constant input, and parameters that follow from it, into unknowns.
fn free_parameter(dae: &mut Dae, input: SymbolId) {
    let mut open = vec![input];
    let mut freed = vec![input];
    while let Some(symbol) = open.pop() {
        for k in 0..dae.symbols.len() as u32 {
            let other = SymbolId(k);
            if let Role::Parameter {
                binding: Some(binding),
                ..
            } = dae.symbol(other).role
                && !freed.contains(&other)
                && symbols_of(&dae.pool, binding).contains(&symbol)
            {
                let left = dae.pool.symbol(other);
                dae.equations.push(Equation {
                    left,
                    right: binding,
                    solves: Some(other),
                    origin: Origin::default(),
                });
                freed.push(other);
                open.push(other);
            }
        }
    }
    for symbol in freed {
        dae.symbols[symbol.0 as usize].role = Role::Unknown;
    }
}

/// Runs the inverse.
fn run(
    subject: &Subject<'_>,
    compiled: &Compiled,
    reduced: Reduced,
    (plan, frame): (&Columns, &Frame<'_>),
) -> Result<Run, Vec<Diagnostic>> {
    let inverse = Compiled {
        reduced,
        released: Vec::new(),
        ..compiled.clone()
    };
    let layout = Layout {
        wanted: plan.all.clone(),
        ..plain_layout(Vec::new())
    };
    let mut spec = run_spec(&subject.design.plan, &layout, &[], Engine::Auto);
    spec.wants_areas = Some(plan.powers.clone());
    if let [first, .., last] = frame.times {
        (spec.start, spec.stop) = (*first, *last);
        spec.output_times = frame.times.to_vec();
    }
    let mut machine = prepare(&inverse, &spec)?;
    let run = simulate(&mut machine, &inverse, &spec, &mut |_| {
        ControlFlow::Continue(())
    })?;
    match run.ending {
        Ending::Failed {
            why: diagnostics, ..
        } => Err(diagnostics),
        _ => Ok(run),
    }
}

/// What a run of the inverse records, in this order: inputs and outputs, powers of sources, what was asked for beside, and states for the start.
struct Columns {
    all: Vec<Wanted>,
    /// Places of the powers.
    powers: Range<usize>,
    /// For each of these the input, by number, and the source.
    sources: Vec<(usize, String)>,
    n_beside: usize,
    n_states: usize,
}

impl Columns {
    fn of(subject: &Subject<'_>, reduced: &mut Reduced, frame: &Frame<'_>) -> Self {
        let of = |q: &Quantity| {
            let unit = q.column.unit.as_ref();
            Wanted {
                name: q.column.name.clone(),
                unit: unit.map(|u| u.text.clone()).unwrap_or_default(),
                factor: unit.map_or(1.0, |u| u.factor),
                offset: unit.map_or(0.0, |u| u.offset),
                ..plain(q.column.value)
            }
        };
        let ports = subject.ask.from.iter().chain(&subject.ask.to);
        let mut all: Vec<Wanted> = ports.map(of).collect();
        let first = all.len();
        let mut sources = Vec::new();
        for (k, &input) in subject.inputs.iter().enumerate() {
            for source in subject.acting(input) {
                let power = power_given(subject.graph(), &mut reduced.dae, source);
                all.push(plain(power));
                sources.push((k, short_name(subject.graph(), source)));
            }
        }
        let powers = first..all.len();
        all.extend(frame.beside.iter().cloned());
        all.extend(start_columns(reduced, &frame.start));
        Columns {
            all,
            powers,
            sources,
            n_beside: frame.beside.len(),
            n_states: reduced.states.len(),
        }
    }
}

/// The power that a source gives.
fn power_given(graph: &BondGraph, dae: &mut Dae, source: ElementId) -> ExprId {
    let bond = graph.bond(graph.element(source).ports[0]);
    let domain = bond.domain.and_then(|d| graph.domains.get(d.0 as usize));
    let pool = &mut dae.pool;
    let (effort, flow) = (pool.symbol(bond.effort), pool.symbol(bond.flow));
    let power = match domain.is_some_and(|d| d.is_pseudo) {
        true => flow,
        false => pool.mul(effort, flow),
    };
    match bond.tail.element == source {
        true => power,
        false => pool.neg(power),
    }
}

/// What a run of the inverse says; the columns that were asked for beside; states, for the start.
fn told(
    subject: &Subject<'_>,
    plan: &Columns,
    run: Run,
    (differentiations, zeros): (Vec<i64>, Vec<Complex>),
) -> (Inverse, Vec<Column>, Vec<Column>) {
    let n = subject.inputs.len();
    let actuators = (0..n).map(|k| actuator(subject, plan, &run, k)).collect();
    let mut table = run.table;
    let mut beside = table.columns.split_off(plan.powers.end);
    table.columns.truncate(plan.powers.start);
    let states = beside.split_off(plan.n_beside);
    let found = Inverse {
        table,
        actuators,
        differentiations,
        zeros,
        n_states: plan.n_states,
        warnings: Vec::new(),
    };
    (found, beside, states)
}

fn not_smooth(wanted: &Quantity, most: usize, why: &str) -> Diagnostic {
    let s = if most == 1 { "" } else { "s" };
    let message = format!("the target curve is not smooth enough: {why}");
    Diagnostic::error(code::NOT_SMOOTH, message)
        .primary(wanted.span, format!("this is differentiated {most} time{s}"))
        .help(format!(
            "only its derivative of order {most} may jump: blend steps with polynomials, or pass them through a lag of order {most}"
        ))
}

fn actuator(subject: &Subject<'_>, plan: &Columns, run: &Run, k: usize) -> Actuator {
    let column = &subject.ask.from[k].column;
    let unit = column.unit.as_ref();
    let in_unit = |x: f64| unit.map_or(x, |u| (x - u.offset) / u.factor);
    let powers = plan.sources.iter().zip(&run.areas[plan.powers.clone()]);
    let own = powers.filter(|((input, _), _)| *input == k);
    let sources = own.map(|((_, source), area)| ActuatorPower {
        source: source.clone(),
        peak: area.high.max(0.0),
        braking: (-area.low).max(0.0),
        given: 0.5 * (area.size + area.signed),
        taken: 0.5 * (area.size - area.signed),
    });
    Actuator {
        name: column.name.clone(),
        unit: unit.map(|u| u.text.clone()).unwrap_or_default(),
        range: (in_unit(run.areas[k].low), in_unit(run.areas[k].high)),
        sources: sources.collect(),
    }
}
