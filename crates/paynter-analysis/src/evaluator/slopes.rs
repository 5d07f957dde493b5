//! Slopes of what a search looks at, by the values it searches: exact, from the variational equations of a run.
//!
//! In:  a model compiled once, values of its parameters, and what one unit of each search variable is.
//! Out: aims and both sides of conditions with their slopes, or why they have none without differences of runs.
//!
//! Curves bring their slopes along (`paynter_run::following`), numbers made of parameters are differentiated as expressions,
//! and arithmetic follows the chain rule. Margins are not numbers of a run: theirs are differences of linear models,
//! which are exact to rounding and cost no run.
//!
//! **Invariant:** the slopes are those of the numbers that a run gives; where one has none, nothing is given.

use super::{Shared, Worker};
use crate::layout::Named;
use crate::linear::{Following, LinearError, LoopCuts, MeasuredMargins, VariedModel, Varying};
use paynter_design::compile::Compiled;
use paynter_design::design::Design;
use paynter_design::parameters::Parameters;
use paynter_model::experiment::{Column, Functional, Measure, Operation, Plan, Quantity};
use paynter_run::following::{Dual, Following as Curves, Instant};
use paynter_run::trace::{Measured, Trace};
use paynter_symbolic::calculus::derivative;
use paynter_symbolic::walk::{substitute, symbols_of};
use paynter_symbolic::{Dae, ExprId, Function1, Function2, Role, SymbolId};
use std::collections::HashMap;

/// A number with its slope by each search variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Graded {
    pub value: f64,
    pub slopes: Vec<f64>,
}

/// What a search looks at, SI.
#[derive(Clone, Debug)]
pub(crate) struct SearchSlopes {
    pub aims: Vec<Graded>,
    pub conditions: Vec<(Graded, Graded)>,
}

/// Why there are no exact slopes.
pub(crate) type NoSlopes = String;

/// A model whose measures have slopes.
pub(crate) struct Gradients {
    model: VariedModel,
    /// Numbers made of parameters, in the pool of these equations, with their slopes.
    dae: Dae,
    constants: HashMap<ExprId, Vec<ExprId>>,
    /// Columns of each curve that measures read: its value, then its slopes.
    measured: Vec<Measured>,
}

/// Part of the unit cube by which parameters move for slopes of margins: rounding and curvature weigh the same about here.
const MARGIN_STEP: f64 = 1e-5;

impl Gradients {
    /// Compiles the variational equations of everything that measures read.
    ///
    /// # Errors
    ///
    /// Why they cannot be followed.
    pub(crate) fn new(
        design: &Design,
        shared: &Shared,
        over: &[Varying],
    ) -> Result<Self, NoSlopes> {
        let compiled = &shared.compiled;
        let place = design.plan.places.whole.unwrap_or_default();
        let curves = &shared.layout.measured;
        let quantity = |&(value, _): &(ExprId, Measured)| Quantity {
            column: Column {
                name: String::new(),
                value,
                unit: None,
            },
            span: place,
        };

        let to: Vec<Quantity> = curves.iter().map(quantity).collect();
        let mut model = VariedModel::new((design, compiled), over, &to).map_err(headline)?;
        model.compile();
        let wide = 1 + over.len();
        let columns = curves.iter().enumerate().flat_map(|(m, curve)| {
            (0..wide).map(move |k| Measured {
                column: m * wide + k,
                ..curve.1
            })
        });

        let (dae, constants) = constant_slopes(&design.plan, compiled, &shared.symbols);
        Ok(Gradients {
            model,
            dae,
            constants,
            measured: columns.collect(),
        })
    }
}

fn headline(error: LinearError) -> NoSlopes {
    super::headline(&error.into_messages()).1
}

/// Differentiates every number made of parameters.
fn constant_slopes(
    plan: &Plan,
    compiled: &Compiled,
    symbols: &[SymbolId],
) -> (Dae, HashMap<ExprId, Vec<ExprId>>) {
    let mut dae = compiled.reduced.dae.clone();
    let mut found = HashMap::new();
    let mut open: Vec<&Measure> = plan.all_measures().into_iter().map(|m| m.2).collect();
    while let Some(measure) = open.pop() {
        match measure {
            Measure::Constant(e) => {
                let unbound = without_bindings(&mut dae, *e, symbols);
                let by = symbols
                    .iter()
                    .map(|&s| derivative(&mut dae.pool, unbound, s));
                found.insert(*e, by.collect());
            }
            Measure::Of(_) | Measure::Earlier(_) => {}
            Measure::Negative(a) | Measure::Call1(_, a) => open.push(a),
            Measure::Arithmetic(_, a, b) | Measure::Call2(_, a, b) => open.extend([&**a, &**b]),
        }
    }
    (dae, found)
}

/// The expression in free parameters, those that vary among them.
fn without_bindings(dae: &mut Dae, mut e: ExprId, varied: &[SymbolId]) -> ExprId {
    loop {
        let mut bound: HashMap<SymbolId, ExprId> = HashMap::new();
        for symbol in symbols_of(&dae.pool, e) {
            if let Role::Parameter {
                binding: Some(binding),
                ..
            } = dae.symbol(symbol).role
                && !varied.contains(&symbol)
            {
                bound.insert(symbol, binding);
            }
        }
        if bound.is_empty() {
            return e;
        }
        e = substitute(&mut dae.pool, e, &|s| bound.get(&s).copied());
    }
}

/// Values of the searched parameters, and what one unit of each search variable is, SI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here<'a> {
    pub values: &'a [f64],
    pub units: &'a [f64],
}

impl Worker {
    /// Aims and conditions with their slopes.
    ///
    /// # Errors
    ///
    /// Why they have none at these values.
    pub(crate) fn slopes(
        &mut self,
        design: &Design,
        (shared, gradients): (&Shared, &Gradients),
        here: Here<'_>,
    ) -> Result<SearchSlopes, NoSlopes> {
        self.graded(design, (shared, gradients), here, |g| {
            g.search(&design.plan)
        })
    }

    /// Every measure with its slopes.
    ///
    /// # Errors
    ///
    /// Why none has any.
    pub(crate) fn measure_slopes(
        &mut self,
        design: &Design,
        (shared, gradients): (&Shared, &Gradients),
        here: Here<'_>,
    ) -> Result<Vec<Result<Graded, NoSlopes>>, NoSlopes> {
        self.graded(design, (shared, gradients), here, |g| {
            Ok(g.measures(&design.plan))
        })
    }

    /// Follows a run, and reads something off it.
    fn graded<R>(
        &mut self,
        design: &Design,
        (shared, gradients): (&Shared, &Gradients),
        here: Here<'_>,
        read: impl FnOnce(&Grading<'_>) -> Result<R, NoSlopes>,
    ) -> Result<R, NoSlopes> {
        if !self.can_take(shared, here.values) {
            return Err("these values make another model".to_owned());
        }
        let margins = graded_margins(design, shared, here)?;
        let request = Following {
            values: here.values,
            scales: here.units,
            times: Some(&[]),
            measured: &gradients.measured,
            rtol: Some(self.spec.rtol),
            max_steps: self.spec.max_steps,
        };

        let run = gradients.model.follow(design, &request).map_err(headline)?;
        if !run.is_whole {
            return Err("the run ends before its stop time".to_owned());
        }

        let grading = Grading {
            shared,
            gradients,
            parameters: Parameters::new(&gradients.dae, &self.spec.parameters),
            here,
            traces: &run.traces,
            instants: &run.instants,
            margins: &margins,
        };
        read(&grading)
    }
}

/// Gain and phase margin of a loop with their slopes; none where it is not stable.
type GradedMargins = (ExprId, Option<(Graded, Graded)>);

/// Margins at the present values, and their differences around them.
fn graded_margins(
    design: &Design,
    shared: &Shared,
    here: Here<'_>,
) -> Result<Vec<GradedMargins>, NoSlopes> {
    let at = |loops: &LoopCuts, k: usize, step: f64| -> Result<Vec<MeasuredMargins>, NoSlopes> {
        let pairs = shared.symbols.iter().zip(here.values).enumerate();
        let moved = pairs.map(|(j, (&symbol, value))| match j == k {
            true => (symbol, value + step * here.units[k]),
            false => (symbol, *value),
        });
        let moved: Vec<(SymbolId, f64)> = moved.collect();
        loops.margins(design, &moved).map_err(headline)
    };

    let middle = at(&shared.loops, 0, 0.0)?;
    let mut found: Vec<GradedMargins> = Vec::new();
    let blank = |value: f64| Graded {
        value,
        slopes: Vec::new(),
    };
    for &(x, margins) in &middle {
        found.push((x, margins.map(|(gain, phase)| (blank(gain), blank(phase)))));
    }
    if middle.is_empty() {
        return Ok(found);
    }

    for k in 0..here.values.len() {
        let below = at(&shared.loops, k, -MARGIN_STEP)?;
        let above = at(&shared.loops, k, MARGIN_STEP)?;
        for (graded, (a, b)) in found.iter_mut().zip(below.iter().zip(&above)) {
            let Some((gain, phase)) = &mut graded.1 else {
                continue;
            };
            let ends =
                a.1.zip(b.1)
                    .ok_or("the loop is at its limit of stability")?;
            gain.slopes.push(difference(ends.0.0, ends.1.0)?);
            phase.slopes.push(difference(ends.0.1, ends.1.1)?);
        }
    }
    Ok(found)
}

/// A central difference; a margin that is infinite on both sides stays so.
fn difference(below: f64, above: f64) -> Result<f64, NoSlopes> {
    match (below.is_finite(), above.is_finite()) {
        (true, true) => Ok((above - below) / (2.0 * MARGIN_STEP)),
        (false, false) => Ok(0.0),
        _ => Err("a margin becomes infinite here".to_owned()),
    }
}

/// Everything that one gradient is read off.
struct Grading<'a> {
    shared: &'a Shared,
    gradients: &'a Gradients,
    parameters: Parameters<'a>,
    here: Here<'a>,
    traces: &'a [Trace],
    instants: &'a [Instant],
    margins: &'a [GradedMargins],
}

impl Grading<'_> {
    fn search(&self, plan: &Plan) -> Result<SearchSlopes, NoSlopes> {
        let search = plan.optimize.as_ref().ok_or("there is no search")?;
        let named = self.measures(plan);
        let graded = |m: &Measure| self.of_measure(m, &named);
        let aims = search.aims.iter().map(|a| graded(&a.value));
        let conditions = search.conditions.iter();
        let conditions = conditions.map(|c| Ok((graded(&c.left)?, graded(&c.right)?)));
        Ok(SearchSlopes {
            aims: aims.collect::<Result<_, NoSlopes>>()?,
            conditions: conditions.collect::<Result<_, NoSlopes>>()?,
        })
    }

    /// The measures with names, in order.
    fn measures(&self, plan: &Plan) -> Vec<Result<Graded, NoSlopes>> {
        let mut named: Vec<Result<Graded, NoSlopes>> = Vec::new();
        for measured in &plan.measures {
            let graded = self.of_measure(&measured.value, &named);
            named.push(graded);
        }
        named
    }

    fn of_measure(
        &self,
        measure: &Measure,
        earlier: &[Result<Graded, NoSlopes>],
    ) -> Result<Graded, NoSlopes> {
        let again = |m: &Measure| self.of_measure(m, earlier);
        match measure {
            Measure::Constant(e) => self.of_constant(*e),
            Measure::Of(functional) => self.of_functional(functional),
            Measure::Earlier(k) => earlier[*k].clone(),
            Measure::Negative(a) => Ok(again(a)?.through(|x| (-x, -1.0))),
            Measure::Call1(f, a) => call1(*f, &again(a)?),
            Measure::Arithmetic(operation, a, b) => {
                Ok(arithmetic(*operation, again(a)?, again(b)?))
            }
            Measure::Call2(f, a, b) => call2(*f, again(a)?, again(b)?),
        }
    }

    fn of_constant(&self, e: ExprId) -> Result<Graded, NoSlopes> {
        let value = |e: ExprId| self.parameters.value(e).ok_or("a number has no value");
        let by = self.gradients.constants[&e].iter().zip(self.here.units);
        let slopes = by.map(|(&slope, unit)| Ok(value(slope)? * unit));
        Ok(Graded {
            value: value(e)?,
            slopes: slopes.collect::<Result<_, NoSlopes>>()?,
        })
    }

    fn of_functional(&self, functional: &Functional) -> Result<Graded, NoSlopes> {
        match *functional {
            Functional::Final(x) => self.read((x, None), |c, _| c.last()),
            Functional::At { x, time } => self.read((x, Some(time)), |c, _| c.last()),
            Functional::Max(x) => self.read((x, None), |c, _| c.extreme(1.0)),
            Functional::Min(x) => self.read((x, None), |c, _| c.extreme(-1.0)),
            Functional::Mean(x) => self.read((x, None), |c, _| c.mean()),
            Functional::Rms(x) => self.read((x, None), |c, _| c.rms()),
            Functional::Integral(x) => self.read((x, None), |c, _| Some(c.integral())),
            Functional::SettlingTime { x, band } => {
                self.read((x, None), |c, _| c.settling_time(band))
            }
            Functional::RiseTime {
                x,
                low,
                high,
                target,
            } => self.read((x, None), |c, k| {
                c.rise_time(low, high, self.end_of(target.unwrap_or(x), k)?)
            }),
            Functional::Overshoot { x, target, start } => self.read((x, None), |c, k| {
                c.overshoot(start, self.end_of(target.unwrap_or(x), k)?)
            }),
            Functional::Undershoot { x, target, start } => self.read((x, None), |c, k| {
                c.undershoot(start, self.end_of(target.unwrap_or(x), k)?)
            }),
            Functional::GainMargin(x) => self.margin(x).map(|m| m.0.clone()),
            Functional::PhaseMargin(x) => self.margin(x).map(|m| m.1.clone()),
            Functional::Kept(x) => self.read((x, None), |c, _| c.last()),
            Functional::InRun(run) => match self.shared.layout.named.get(run) {
                Some(&Named::Number(Some(value))) => Ok(Graded {
                    value,
                    slopes: vec![0.0; self.here.values.len()],
                }),
                _ => Err("a measure has no value in another run".to_owned()),
            },
            Functional::Difference { .. } | Functional::RmsDifference { .. } => {
                Err("a difference from another run has no exact slope here".to_owned())
            }
            Functional::PeakTime(_) => Err("the time of a peak has no exact slope here".to_owned()),
        }
    }

    /// Reads a number and its slopes off a curve, one parameter after the other.
    fn read(
        &self,
        curve: (ExprId, Option<f64>),
        number: impl Fn(&Curves<'_>, usize) -> Option<Dual>,
    ) -> Result<Graded, NoSlopes> {
        let mut graded = Graded {
            value: f64::NAN,
            slopes: Vec::new(),
        };
        for k in 0..self.here.values.len() {
            let curves = self.curves(curve, k).ok_or("a curve has too many points")?;
            let missing = "a measure has no value, or no slope, at a point of the search";
            let (value, slope) = number(&curves, k).ok_or(missing)?;
            graded.value = value;
            graded.slopes.push(slope);
        }
        Ok(graded)
    }

    /// A curve beside its slope by parameter `k`.
    fn curves(&self, (x, at): (ExprId, Option<f64>), k: usize) -> Option<Curves<'_>> {
        let mut measured = self.shared.layout.measured.iter();
        let m = measured.position(|m| m.0 == x && m.1.at == at)?;
        let first = m * (1 + self.here.values.len());
        let both = (
            self.traces.get(first)?.curve(),
            self.traces.get(first + 1 + k)?.curve(),
        );
        Curves::new(both, self.instants, k)
    }

    fn end_of(&self, x: ExprId, k: usize) -> Option<Dual> {
        self.curves((x, None), k)?.last()
    }

    fn margin(&self, x: ExprId) -> Result<&(Graded, Graded), NoSlopes> {
        let own = self.margins.iter().find(|m| m.0 == x);
        let own = own.and_then(|m| m.1.as_ref());
        own.ok_or_else(|| "a loop is not stable at a point of the search".to_owned())
    }
}

impl Graded {
    /// A function of one number: its value and slope there.
    fn through(&self, f: impl Fn(f64) -> Dual) -> Graded {
        let (value, slope) = f(self.value);
        Graded {
            value,
            slopes: self.slopes.iter().map(|s| slope * s).collect(),
        }
    }

    /// value with the slopes p · own + q · other.
    fn with(&self, other: &Graded, (value, p, q): (f64, f64, f64)) -> Graded {
        let pairs = self.slopes.iter().zip(&other.slopes);
        // A factor of a number that does not move may be infinite: the logarithm of zero in 0^2.
        let part = |factor: f64, slope: f64| if slope == 0.0 { 0.0 } else { factor * slope };
        Graded {
            value,
            slopes: pairs.map(|(a, b)| part(p, *a) + part(q, *b)).collect(),
        }
    }
}

fn arithmetic(operation: Operation, a: Graded, b: Graded) -> Graded {
    let (x, y) = (a.value, b.value);
    let by = match operation {
        Operation::Add => (x + y, 1.0, 1.0),
        Operation::Subtract => (x - y, 1.0, -1.0),
        Operation::Multiply => (x * y, y, x),
        Operation::Divide => (x / y, 1.0 / y, -x / (y * y)),
        Operation::Power => {
            let power = paynter_symbolic::expr::power;
            let value = power(x, y);
            (value, y * power(x, y - 1.0), value * x.ln())
        }
    };
    a.with(&b, by)
}

fn call1(f: Function1, a: &Graded) -> Result<Graded, NoSlopes> {
    let slope = |x: f64| match f {
        Function1::Abs => Some(x.signum()),
        Function1::Sqrt => Some(0.5 / x.sqrt()),
        Function1::Log => Some(1.0 / x),
        Function1::Log10 => Some(1.0 / (x * std::f64::consts::LN_10)),
        Function1::Exp => Some(x.exp()),
        _ => None,
    };
    let by = slope(a.value).ok_or_else(|| format!("the slope of `{f:?}` is not known here"))?;
    Ok(a.through(|x| (f.eval(x), by)))
}

/// The larger or smaller of two numbers moves with the one that it is.
fn call2(f: Function2, a: Graded, b: Graded) -> Result<Graded, NoSlopes> {
    let is_first = match f {
        Function2::Max => a.value >= b.value,
        Function2::Min => a.value <= b.value,
        _ => return Err(format!("the slope of `{f:?}` is not known here")),
    };
    Ok(if is_first { a } else { b })
}
