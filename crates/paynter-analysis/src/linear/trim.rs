//! Finds a point at which the model rests: f(x, u) = 0.
//!
//! In:  a [`OperatingPoint`] at a first guess, and which quantities may vary.
//! Out: the point moved to the equilibrium, and a [`Trim`] that tells where that is and what is
//!      left of the rates.
//!
//! Newton's method with the exact slopes of the machine. Each step solves all demands at once by
//! least squares, so that a demand that others imply does no harm, and what is left open or cannot be
//! met shows by name. A step is halved while it would lead away or out of the domain of a law.
//!
//! Every rate must vanish that is read back by the dynamics; a coordinate that nothing reads (a
//! heading, the way travelled, an energy) may go on.
//!
//! **Invariant:** states that no named quantity depends on keep their start values.

use super::matrices::label;
use super::operating_point::{OperatingPoint, Slopes};
use super::text::per;
use super::{Label, LinearError, model_error};
use paynter_design::code;
use paynter_design::digits::significant;
use paynter_linear::{Matrix, least_squares};
use paynter_model::experiment::Quantity;
use paynter_symbolic::SymbolId;
use paynter_syntax::{Diagnostic, Span};
use std::collections::HashSet;

/// A point at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Trim {
    /// The quantities that were searched.
    pub values: Vec<Label>,
    /// Rates that vanish: name of the state, what is left of its rate, in its unit per second.
    pub residuals: Vec<Label>,
    /// Coordinates that go on at a constant rate: nothing reads them.
    pub drifting: Vec<Label>,
    /// Iterations of Newton's method.
    pub iterations: usize,
}

/// A quantity that may vary: an input of the point, or a row of its outputs.
pub(super) enum Unknown {
    Input(usize),
    Output(usize),
}

/// Newton converges quadratically or not at all; far starts need some shortened steps first.
const MOST_ITERATIONS: usize = 100;
/// Halvings of one step before it is stopped.
const MOST_HALVINGS: usize = 40;
/// A step this small against the values themselves is rounding.
const CONVERGED: f64 = 1e-13;
/// A search that comes no further has arrived if its step is this small.
const STAGNATED: f64 = 1e-8;
/// Rates are zero below this part of what the values around could make them.
const AT_REST: f64 = 1e-8;

/// Moves a point to the equilibrium.
pub(super) fn trim(
    point: &mut OperatingPoint<'_>,
    unknowns: &[(Unknown, &Quantity)],
) -> Result<Trim, LinearError> {
    let mut slopes = point.slopes()?;
    let search = Search::new(point, &slopes, unknowns)?;
    let mut size = 0.0_f64;
    for iterations in 0..MOST_ITERATIONS {
        let frame = search.frame(&slopes);
        size = size.max(frame.size_of(&search.variables, &point.y));
        let Some(step) = frame.step(&search.demands, &slopes.f) else {
            return Err(search.stuck(point, &slopes, unknowns, false));
        };
        let length = norm(&step);
        if length <= CONVERGED * size || length == 0.0 {
            return search.finish(point, (&slopes, &frame, size), unknowns, iterations);
        }
        let before = point.y.clone();
        let (mut scale, mut is_outside) = (1.0, false);
        let moved = (0..MOST_HALVINGS).any(|_| {
            point.y.clone_from(&before);
            for ((&place, d), column) in search.variables.iter().zip(&step).zip(&frame.columns) {
                point.y[place] += scale * d * column;
            }
            let y = point.y.clone();
            let f = point.rates(&y).ok();
            let f = f.filter(|f| f.iter().all(|x| x.is_finite()));
            is_outside = f.is_none();
            // The step that would be left with the slopes of before must shrink: this test does not
            // depend on units (Deuflhard 2011, §3.3).
            let left = f.and_then(|f| frame.step(&search.demands, &f));
            let is_better = left.is_some_and(|left| norm(&left) <= (1.0 - scale / 4.0) * length);
            scale *= 0.5;
            is_better
        });
        if !moved {
            point.y = before;
            if length <= STAGNATED * size {
                return search.finish(point, (&slopes, &frame, size), unknowns, iterations);
            }
            return Err(search.stuck(point, &slopes, unknowns, is_outside));
        }
        size = size.max(length);
        match point.settle().and_then(|()| point.slopes()) {
            Ok(next) => slopes = next,
            // A root that came to zero, a division by nothing.
            Err(_) => {
                point.y = before;
                return Err(search.stuck(point, &slopes, unknowns, true));
            }
        }
    }
    Err(search.stuck(point, &slopes, unknowns, false))
}

fn norm(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |sum: f64, x| sum.hypot(*x))
}

/// Slopes of the demands by what varies, with rows and columns brought to size one.
struct Frame {
    matrix: Matrix,
    /// A change of one in the frame is this much of each variable.
    columns: Vec<f64>,
    /// A demand of one is this much in the frame.
    rows: Vec<f64>,
}

impl Frame {
    /// The size of the variables in the frame.
    fn size_of(&self, variables: &[usize], y: &[f64]) -> f64 {
        let pairs = variables.iter().zip(&self.columns);
        norm(&pairs.map(|(&k, c)| y[k] / c).collect::<Vec<f64>>())
    }

    /// The step that would meet the demands; none where slopes are not finite.
    fn step(&self, demands: &[usize], f: &[f64]) -> Option<Vec<f64>> {
        let pairs = demands.iter().zip(&self.rows);
        let right: Vec<f64> = pairs.map(|(&i, scale)| -f[i] * scale).collect();
        least_squares(&self.matrix, &right).map(|s| s.x)
    }
}

/// A state: its place in `y`, and its symbol.
type State = (usize, SymbolId);

struct Search {
    /// Places in `y` that vary.
    variables: Vec<usize>,
    /// Rows that must vanish: rates of states, then constraints.
    demands: Vec<usize>,
    /// States whose rates are demanded.
    resting: Vec<State>,
    drifting: Vec<State>,
}

/// Tells whether a state only counts the turns of an angle: it has no slope on anything, and keeps its start.
fn counts_turns(point: &OperatingPoint<'_>, place: usize) -> bool {
    let of_place = point.states.iter().find(|s| s.0 == place);
    of_place.is_some_and(|s| {
        let name = point.reduced.dae.name_of(s.1);
        name.rsplit('.')
            .next()
            .is_some_and(|last| last.starts_with("unwrap["))
    })
}

impl Search {
    fn new(
        point: &OperatingPoint<'_>,
        slopes: &Slopes,
        unknowns: &[(Unknown, &Quantity)],
    ) -> Result<Self, LinearError> {
        let is_state: HashSet<usize> = point.states.iter().map(|s| s.0).collect();
        let mut variables = places_of(point, slopes, unknowns)?;
        let varies: HashSet<usize> = variables.iter().copied().collect();
        let (drifting, resting) = drifting_and_resting(point, slopes, &varies);

        // Coordinates that constraints bind move along.
        let bound: HashSet<usize> = slopes
            .entries
            .iter()
            .filter(|e| point.constraints.contains(&e.0) && is_state.contains(&e.1))
            .map(|e| e.1)
            .collect();
        if bound.iter().any(|b| varies.contains(b)) {
            variables.extend(bound.into_iter().filter(|b| !varies.contains(b)));
            variables.sort_unstable();
        }

        let mut demands: Vec<usize> = resting.iter().map(|s| s.0).collect();
        demands.extend(&point.constraints);
        Ok(Search {
            variables,
            demands,
            resting,
            drifting,
        })
    }

    fn frame(&self, slopes: &Slopes) -> Frame {
        let mut m = slopes.part(&self.demands, &self.variables);
        let (n_rows, n) = (m.n_rows(), m.n_columns());
        let (mut columns, mut rows) = (vec![1.0; n], vec![1.0; n_rows]);
        for _ in 0..3 {
            for i in 0..n_rows {
                let size = m.row(i).iter().fold(0.0_f64, |s, x| s.max(x.abs()));
                if size > 0.0 {
                    rows[i] /= size;
                    (0..n).for_each(|j| m[(i, j)] /= size);
                }
            }
            for j in 0..n {
                let size = m.column(j).iter().fold(0.0_f64, |s, x| s.max(x.abs()));
                if size > 0.0 {
                    columns[j] /= size;
                    (0..n_rows).for_each(|i| m[(i, j)] /= size);
                }
            }
        }
        Frame {
            matrix: m,
            columns,
            rows,
        }
    }

    /// Rows that are not zero at the end of a search: what is left of each as a part of what the values
    /// around could make it.
    fn left(
        &self,
        point: &OperatingPoint<'_>,
        (slopes, frame, size): (&Slopes, &Frame, f64),
    ) -> Vec<usize> {
        let mut around = vec![0.0_f64; point.y.len()];
        for &(i, j, x) in &slopes.entries {
            around[i] += (x * point.y[j]).abs();
        }
        let is_left = |&k: &usize| {
            let (row, rate) = (self.demands[k], slopes.f[self.demands[k]].abs());
            // By what varies, where it does anything; else by all that the rate depends on.
            let varies = frame.matrix.row(k).iter().any(|&x| x != 0.0);
            let by_variables = if varies { size / frame.rows[k] } else { 0.0 };
            rate > AT_REST * around[row].max(by_variables)
        };
        (0..self.demands.len())
            .filter(is_left)
            .map(|k| self.demands[k])
            .collect()
    }

    fn name_of(&self, point: &OperatingPoint<'_>, place: usize) -> String {
        let state = point.states.iter().find(|s| s.0 == place);
        state.map_or("an input".to_owned(), |s| format!("`{}`", point.name(s.1)))
    }

    fn finish(
        &self,
        point: &mut OperatingPoint<'_>,
        found: (&Slopes, &Frame, f64),
        unknowns: &[(Unknown, &Quantity)],
        iterations: usize,
    ) -> Result<Trim, LinearError> {
        let (slopes, frame, _) = found;
        if !self.left(point, found).is_empty() {
            return Err(self.stuck(point, slopes, unknowns, false));
        }

        let solved = least_squares(&frame.matrix, &vec![0.0; self.demands.len()]);
        if let Some(open) = solved.and_then(|s| s.open) {
            let largest = (0..open.len()).max_by(|&a, &b| open[a].abs().total_cmp(&open[b].abs()));
            let place = largest.map_or(0, |k| self.variables[k]);
            return Err(self.left_open(point, unknowns, place));
        }

        point.take_values(slopes);
        let per_second = |&(place, symbol): &(usize, SymbolId)| {
            let unit = point.design.state_units.get(&symbol);
            let mut own = label(&point.name(symbol), unit, 0.0);
            own.value = slopes.f[place] / own.factor;
            own
        };

        let values = unknowns.iter().map(|(unknown, quantity)| {
            let value = match *unknown {
                Unknown::Input(k) => point.input_values[k],
                Unknown::Output(k) => point.output_values[k],
            };
            label(&quantity.column.name, quantity.column.unit.as_ref(), value)
        });

        Ok(Trim {
            values: values.collect(),
            residuals: self.resting.iter().map(per_second).collect(),
            drifting: self.drifting.iter().map(per_second).collect(),
            iterations,
        })
    }

    fn left_open(
        &self,
        point: &OperatingPoint<'_>,
        unknowns: &[(Unknown, &Quantity)],
        place: usize,
    ) -> LinearError {
        let what = self.name_of(point, place);
        let span = unknowns.first().map_or(point.asked, |u| u.1.span);
        model_error(
            Diagnostic::error(
                code::TRIM_OPEN,
                format!("the model is in equilibrium at other values of {what} as well"),
            )
            .primary(span, "nothing determines all of these")
            .help("leave it out of `trim` and give its value with `start` or `with`"),
        )
    }

    /// Why the search came to an end away from rest.
    fn stuck(
        &self,
        point: &mut OperatingPoint<'_>,
        slopes: &Slopes,
        unknowns: &[(Unknown, &Quantity)],
        is_outside: bool,
    ) -> LinearError {
        let frame = self.frame(slopes);
        let size = frame.size_of(&self.variables, &point.y);
        let mut left = self.left(point, (slopes, &frame, size));
        left.retain(|i| self.resting.iter().any(|s| s.0 == *i));
        let moving = self.changing(point, slopes, &left);

        let span = unknowns.first().map_or(point.asked, |u| u.1.span);
        let names: Vec<String> = unknowns
            .iter()
            .map(|u| format!("`{}`", u.1.column.name))
            .collect();
        let named = names.join(", ");
        let is_short = self.variables.len() < self.resting.len();
        if is_short && !is_outside {
            return self.too_few(point, (&named, &moving), span);
        }

        let message = if is_outside {
            format!("the search for an equilibrium leaves the domain of a law: {moving}")
        } else {
            format!("no equilibrium was found near the start values: {moving}")
        };
        model_error(
            Diagnostic::error(code::TRIM_FAILED, message)
                .primary(span, "the search began at the start values of these")
                .help("give `start` values nearer to an equilibrium, or other values of the inputs: the model may have no equilibrium"),
        )
    }

    /// The first few of these states with their rates, in words.
    fn changing(&self, point: &OperatingPoint<'_>, slopes: &Slopes, left: &[usize]) -> String {
        let shown: Vec<String> = left
            .iter()
            .take(3)
            .map(|&i| {
                let state = point.states.iter().find(|s| s.0 == i).map(|s| s.1);
                let unit = state.and_then(|s| point.design.state_units.get(&s));
                let rate = slopes.f[i] / unit.map_or(1.0, |u| u.factor);
                let unit = per(unit.map_or("", |u| &u.text), "s");
                format!(
                    "{} by {} {unit}",
                    self.name_of(point, i),
                    significant(rate, 3)
                )
            })
            .collect();
        match shown.is_empty() {
            true => "a constraint is not met".to_owned(),
            false => format!("there changes {}", shown.join(", ")),
        }
    }

    /// Too few unknowns for the rates that must vanish.
    fn too_few(
        &self,
        point: &OperatingPoint<'_>,
        (named, moving): (&str, &str),
        span: Span,
    ) -> LinearError {
        let free: HashSet<usize> = self.variables.iter().copied().collect();
        let fixed = self.resting.iter().filter(|s| !free.contains(&s.0));
        let fixed: Vec<String> = fixed.map(|s| format!("`{}`", point.name(s.1))).collect();
        model_error(
            Diagnostic::error(
                code::TRIM_UNKNOWN,
                format!("no values of {named} alone bring the model to equilibrium: {moving}"),
            )
            .primary(
                span,
                format!(
                    "{} to vary, {} rates to vanish",
                    self.variables.len(),
                    self.resting.len()
                ),
            )
            .help(format!(
                "free more quantities: `trim` holds {} at the start value{}",
                fixed.join(", "),
                if fixed.len() == 1 { "" } else { "s" }
            )),
        )
    }
}

/// Places in `y` of the unknowns: inputs, or the states that an output follows from.
fn places_of(
    point: &OperatingPoint<'_>,
    slopes: &Slopes,
    unknowns: &[(Unknown, &Quantity)],
) -> Result<Vec<usize>, LinearError> {
    let is_state: HashSet<usize> = point.states.iter().map(|s| s.0).collect();
    let mut variables: Vec<usize> = Vec::new();
    for (unknown, quantity) in unknowns {
        match *unknown {
            Unknown::Input(k) => variables.push(point.inputs[k][0]),
            Unknown::Output(k) => {
                let row = point.outputs[k];
                let reads: Vec<usize> = slopes
                    .entries
                    .iter()
                    .filter(|e| e.0 == row && is_state.contains(&e.1))
                    .map(|e| e.1)
                    .filter(|&place| !counts_turns(point, place))
                    .collect();
                if reads.is_empty() {
                    let name = &quantity.column.name;
                    return Err(model_error(
                            Diagnostic::error(
                                code::TRIM_UNKNOWN,
                                format!("`{name}` follows from no state, so `trim` cannot vary it"),
                            )
                            .primary(quantity.span, "this follows from no state")
                            .help("name states, quantities that follow from them, or an `input` with a constant value"),
                        ));
                }
                variables.extend(reads);
            }
        }
    }

    variables.sort_unstable();
    variables.dedup();
    Ok(variables)
}

/// Divides the states: one that no other rate reads, nor its own, drifts without effect.
fn drifting_and_resting(
    point: &OperatingPoint<'_>,
    slopes: &Slopes,
    varies: &HashSet<usize>,
) -> (Vec<State>, Vec<State>) {
    let (mut drifting, mut resting): (Vec<_>, Vec<_>) = (point.states.iter().copied())
        .partition(|s| counts_turns(point, s.0) && !varies.contains(&s.0));
    loop {
        let rows: HashSet<usize> = resting.iter().map(|s| s.0).collect();
        let read: HashSet<usize> = slopes
            .entries
            .iter()
            .filter(|e| rows.contains(&e.0) || point.constraints.contains(&e.0))
            .map(|e| e.1)
            .collect();
        let idle = |s: &(usize, SymbolId)| !read.contains(&s.0) && !varies.contains(&s.0);
        let Some(at) = resting.iter().position(idle) else {
            break;
        };
        drifting.push(resting.remove(at));
    }
    drifting.sort_unstable();
    (drifting, resting)
}
