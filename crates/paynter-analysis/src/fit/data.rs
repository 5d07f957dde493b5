//! Measured data beside the runs that should give them.
//!
//! In:  the fit of a plan, and its data files.
//! Out: [`Measured`]: residuals at any values of the parameters.
//!
//! **Invariant:** residuals have the same order and number at every point, or there are none.

use super::Watch;
use crate::evaluator::{Anew, Ran, Settings, Shared, Worker, plain_parameter};
use crate::linear::{Sensitivities, Varying, sensitivities_at};
use crate::optimize::{Axis, change, present_values};
use paynter_design::code;
use paynter_design::design::{Choice, Design, DesignError};
use paynter_exec::Engine;
use paynter_model::experiment::{FitData, Quantity};
use paynter_model::project::Override;
use paynter_optimize::dense::Dense;
use paynter_optimize::levenberg::Fit;
use paynter_run::table::Table;
use paynter_syntax::Diagnostic;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Tolerance of runs whose experiment gives none.
const RTOL: f64 = 1e-9;

/// One data file with its experiment.
struct Set {
    design: Design,
    shared: Option<Shared>,
    idle: Mutex<Vec<Worker>>,
    settings: Settings,
    times: Vec<f64>,
    channels: Vec<Channel>,
}

/// A column of a data file that the run records as well.
struct Channel {
    /// Position among the recorded columns.
    recorded: usize,
    /// (row of the run, value), in the column's unit.
    samples: Vec<(usize, f64)>,
    /// Position in [`Measured::columns`].
    column: usize,
}

/// A quantity that is compared.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    pub name: String,
    pub unit: String,
    /// Deviation of the data, in its unit.
    pub sigma: f64,
    /// It was given.
    pub is_given: bool,
    pub n: usize,
}

/// All data of a fit.
pub(super) struct Measured<'a> {
    pub axes: Vec<Axis>,
    pub columns: Vec<Compared>,
    sets: Vec<Set>,
    choice: &'a Choice,
    engine: Engine,
    n_runs: AtomicUsize,
    failure: Mutex<Option<String>>,
    /// Exact slopes were refused once: differences from then on.
    is_inexact: AtomicBool,
}

/// Reads the data and compiles the models.
///
/// # Errors
///
/// Files that cannot be read or have nothing to compare, and models that do not compile.
pub(super) fn measured<'a>(
    design: &Design,
    choice: &'a Choice,
    engine: Engine,
) -> Result<Measured<'a>, Vec<Diagnostic>> {
    let fit = design.plan.fit.as_ref().expect("the caller has looked");
    let axes: Vec<Axis> = fit.over.iter().map(Axis::new).collect();
    let mut all = Measured {
        axes,
        columns: Vec::new(),
        sets: Vec::new(),
        choice,
        engine,
        n_runs: AtomicUsize::new(0),
        failure: Mutex::new(None),
        is_inexact: AtomicBool::new(false),
    };

    for (asked, found) in fit.data.iter().zip(&design.fit_data) {
        let bytes = found.bytes.as_ref().map_err(String::clone);
        let table = bytes.and_then(|b| Table::from_bytes(&asked.path, &filled(&asked.path, b)));
        let table = table.map_err(|why| {
            let why = format!("{}: {why}", asked.path);
            vec![paynter_design::check::unreadable_reference(why, asked.span)]
        })?;
        let own = case(design, choice, asked)?;
        let set = all.set(own, asked, &table)?;
        all.sets.push(set);
    }

    for (name, sigma) in &fit.sigmas {
        for column in all
            .columns
            .iter_mut()
            .filter(|c| c.name == name.text.as_ref())
        {
            (column.sigma, column.is_given) = (*sigma, true);
        }
        if !all.columns.iter().any(|c| c.name == name.text.as_ref()) {
            let message = format!("`{}` is in no data file", name.text);
            let message = Diagnostic::error(code::FIT_DATA, message);
            return Err(vec![
                message.primary(name.span, "nothing is compared with it"),
            ]);
        }
    }

    let n_samples: usize = all.columns.iter().map(|c| c.n).sum();
    if n_samples <= all.axes.len() {
        let message = format!(
            "{n_samples} samples are too few for {} parameters",
            all.axes.len()
        );
        return Err(vec![
            Diagnostic::error(code::FIT_DATA, message).primary(fit.span, "fitted here"),
        ]);
    }
    Ok(all)
}

/// A CSV in which empty cells are not numbers instead of errors: what was not measured is left out.
fn filled(path: &str, bytes: &[u8]) -> Vec<u8> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if path.to_ascii_lowercase().ends_with(".csv") => text,
        _ => return bytes.to_vec(),
    };
    let cell = |c: &str| match c.trim() {
        "" => "NaN".to_owned(),
        c => c.to_owned(),
    };
    let line = |l: &str| match l.trim() {
        l if l.is_empty() || l.starts_with('#') => l.to_owned(),
        l => l.split(',').map(cell).collect::<Vec<_>>().join(","),
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    (lines.join("\n") + "\n").into_bytes()
}

/// The design whose run gives a data file.
fn case(design: &Design, choice: &Choice, asked: &FitData) -> Result<Design, Vec<Diagnostic>> {
    let Some(name) = &asked.of else {
        return Ok(design.clone());
    };
    if !design.experiments.iter().any(|e| **e == *name.text) {
        let message = Diagnostic::error(
            code::FIT_DATA,
            format!("there is no experiment `{}`", name.text),
        );
        return Err(vec![message.primary(name.span, "not in this file")]);
    }
    let choice = Choice {
        experiment: Some(name.text.to_string()),
        ..choice.clone()
    };
    design.varied(&choice, &[]).map_err(|e| match e {
        DesignError::Unreadable(_) => unreachable!("no file is read"),
        DesignError::Model(failed) => failed.diagnostics,
    })
}

impl<'a> Measured<'a> {
    fn set(
        &mut self,
        design: Design,
        asked: &FitData,
        table: &Table,
    ) -> Result<Set, Vec<Diagnostic>> {
        let wrong = |what: String| {
            vec![Diagnostic::error(code::FIT_DATA, what).primary(asked.span, "this data")]
        };
        let (start, stop) = (design.plan.start, design.plan.stop);
        let slack = 1e-9 * (stop - start);
        let outside = |t: &&f64| **t < start - slack || **t > stop + slack;
        if let Some(t) = table.time.iter().find(outside) {
            return Err(wrong(format!(
                "{} has a sample at t = {t} s, outside the run from {start} s to {stop} s",
                asked.path
            )));
        }

        let mut times: Vec<f64> = table.time.iter().map(|t| t.clamp(start, stop)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let channels = self.channels(&design, table, &times);
        if channels.iter().all(|c| c.samples.is_empty()) {
            let names = design.plan.columns.iter().map(|c| c.name.as_str());
            let names: Vec<&str> = names.collect();
            return Err(wrong(format!(
                "{} has no column that the experiment records ({})",
                asked.path,
                names.join(", ")
            )));
        }

        let plain = |a: &Axis| plain_parameter(&design, &a.varied.variable.path);
        let symbols: Option<Vec<_>> = self.axes.iter().map(plain).collect();
        let mut shared = match symbols {
            Some(symbols) => Shared::new(&design, symbols, self.engine)?,
            None => None,
        };

        let has_tolerance = design.plan.places.words.iter().any(|w| w.0 == "rtol");
        let settings = Settings {
            rtol: (!has_tolerance).then(|| design.plan.rtol.min(RTOL)),
            ..Settings::default()
        };
        if let Some(shared) = &mut shared {
            shared.set(&settings);
            shared.record_at(&times);
        }

        Ok(Set {
            design,
            shared,
            idle: Mutex::new(Vec::new()),
            settings,
            times,
            channels,
        })
    }

    /// The columns of the data that the experiment records, with the row of the run for each sample.
    fn channels(&mut self, design: &Design, table: &Table, times: &[f64]) -> Vec<Channel> {
        let (start, stop) = (design.plan.start, design.plan.stop);
        let row_of = |t: f64| times.partition_point(|own| *own < t.clamp(start, stop));
        let mut channels = Vec::new();
        for (k, recorded) in design.plan.columns.iter().enumerate() {
            let Some(column) = table.column(&recorded.name) else {
                continue;
            };
            let samples: Vec<(usize, f64)> = table
                .time
                .iter()
                .zip(&column.values)
                .filter(|(_, v)| v.is_finite())
                .map(|(t, v)| (row_of(*t), *v))
                .collect();
            let unit = recorded
                .unit
                .as_ref()
                .map_or(String::new(), |u| u.text.clone());
            let at = self.column(&recorded.name, unit, &samples);
            channels.push(Channel {
                recorded: k,
                samples,
                column: at,
            });
        }
        channels
    }

    /// Finds or adds a compared quantity; its first weight is the spread of its data.
    fn column(&mut self, name: &str, unit: String, samples: &[(usize, f64)]) -> usize {
        let at = self
            .columns
            .iter()
            .position(|c| c.name == name)
            .unwrap_or(self.columns.len());
        if at == self.columns.len() {
            self.columns.push(Compared {
                name: name.to_owned(),
                unit,
                sigma: 1.0,
                is_given: false,
                n: 0,
            });
        }
        let column = &mut self.columns[at];
        column.n += samples.len();
        let mean = samples.iter().map(|s| s.1).sum::<f64>() / samples.len().max(1) as f64;
        let spread =
            samples.iter().map(|s| (s.1 - mean).powi(2)).sum::<f64>() / samples.len().max(1) as f64;
        if spread > 0.0 {
            column.sigma = spread.sqrt();
        } else if mean != 0.0 {
            column.sigma = mean.abs();
        }
        at
    }

    pub(super) fn nominal(&self) -> Option<Vec<f64>> {
        present_values(&self.sets[0].design, &self.axes)
    }

    pub(super) fn n_runs(&self) -> usize {
        self.n_runs.load(Ordering::Relaxed)
    }

    pub(super) fn failure(&self) -> Option<String> {
        self.failure
            .lock()
            .expect("no thread panics with it")
            .clone()
    }

    /// (Model − data)/σ of every sample; none where a run fails or the fit is ended.
    pub(super) fn residuals(&self, x: &[f64], watch: Watch<'_>) -> Option<Vec<f64>> {
        let values: Vec<f64> = self.axes.iter().zip(x).map(|(a, x)| a.value(*x)).collect();
        let may_go_on = || watch(self.n_runs());
        let mut all = Vec::new();
        for set in &self.sets {
            if may_go_on().is_break() {
                return None;
            }
            let ran = self.run(set, &values, &may_go_on);
            self.n_runs.fetch_add(1, Ordering::Relaxed);
            if let Some((_, why)) = ran.failure {
                *self.failure.lock().expect("no thread panics with it") = Some(why);
                return None;
            }
            let table = ran.table?;
            if table.time.len() != set.times.len() {
                return None;
            }
            for channel in &set.channels {
                let curve = &table.columns[channel.recorded].values;
                let sigma = self.columns[channel.column].sigma;
                all.extend(
                    channel
                        .samples
                        .iter()
                        .map(|(row, v)| (curve[*row] - v) / sigma),
                );
            }
        }
        all.iter().all(|r| r.is_finite()).then_some(all)
    }

    /// Tells whether slopes are exact.
    pub(super) fn is_exact(&self) -> bool {
        !self.is_inexact.load(Ordering::Relaxed)
    }

    /// Slopes of all residuals by the parts of the ranges, from the variational equations of the runs; none where the model does
    /// not allow them.
    pub(super) fn slopes(&self, x: &[f64], watch: Watch<'_>) -> Option<Dense> {
        if !self.is_exact() || watch(self.n_runs()).is_break() {
            return None;
        }
        let values: Vec<f64> = self.axes.iter().zip(x).map(|(a, x)| a.value(*x)).collect();
        let mut rows = Vec::new();
        for set in &self.sets {
            let Some(followed) = self.followed(set, &values) else {
                self.is_inexact.store(true, Ordering::Relaxed);
                return None;
            };
            self.n_runs.fetch_add(1, Ordering::Relaxed);
            if followed.time.len() != set.times.len() {
                return None;
            }
            for (channel, curve) in set.channels.iter().zip(&followed.outputs) {
                let sigma = self.columns[channel.column].sigma;
                for (row, _) in &channel.samples {
                    let axes = self.axes.iter().zip(x).enumerate();
                    rows.extend(
                        axes.map(|(k, (a, x))| curve.slopes[k][*row] * a.slope(*x) / sigma),
                    );
                }
            }
        }

        let n = self.axes.len();
        rows.iter().all(|s| s.is_finite()).then(|| Dense {
            n_rows: rows.len() / n.max(1),
            n_columns: n,
            entries: rows,
        })
    }

    /// The recorded channels of a data file with what they owe to the parameters.
    fn followed(&self, set: &Set, values: &[f64]) -> Option<Sensitivities> {
        let choice = Choice {
            experiment: set.design.plan.name.clone(),
            ..self.choice.clone()
        };
        let anew = Anew {
            design: &set.design,
            choice: &choice,
            engine: self.engine,
        };
        let mut design = anew.varied(&self.changes(values)).ok()?;
        design.plan.rtol = set.settings.rtol.unwrap_or(design.plan.rtol);
        let compiled = design.compile().ok()?;
        let over: Option<Vec<Varying>> = self
            .axes
            .iter()
            .map(|a| {
                let path = &a.varied.variable.path;
                Some(Varying {
                    name: path.clone(),
                    symbol: Some(plain_parameter(&design, path)?),
                    unit: None,
                    span: a.varied.span,
                })
            })
            .collect();

        let to = set.channels.iter().map(|c| Quantity {
            column: design.plan.columns[c.recorded].clone(),
            span: set.design.plan.places.whole.unwrap_or_default(),
        });
        let to: Vec<Quantity> = to.collect();
        sensitivities_at(&design, &compiled, (&over?, &to), Some(&set.times)).ok()
    }

    /// What these values change in the model.
    fn changes(&self, values: &[f64]) -> Vec<Override> {
        let open = self.axes.iter().zip(values);
        open.map(|(a, v)| change(&a.varied, a.varied.expression(*v)))
            .collect()
    }

    /// Which column each residual belongs to, with its time and value.
    pub(super) fn samples(&self) -> Vec<(usize, f64, f64)> {
        let sets = self.sets.iter().flat_map(|set| {
            set.channels.iter().flat_map(move |c| {
                c.samples
                    .iter()
                    .map(move |(row, v)| (c.column, set.times[*row], *v))
            })
        });
        sets.collect()
    }

    fn run(&self, set: &Set, values: &[f64], may_go_on: &dyn Fn() -> ControlFlow<()>) -> Ran {
        if let Some(shared) = &set.shared {
            let idle = set.idle.lock().expect("no thread panics with it").pop();
            let mut worker = idle.unwrap_or_else(|| Worker::new(shared));
            let ran = worker
                .can_take(shared, values)
                .then(|| worker.run(&set.design, shared, may_go_on));
            set.idle
                .lock()
                .expect("no thread panics with it")
                .push(worker);
            if let Some(ran) = ran {
                return ran;
            }
        }
        let choice = Choice {
            experiment: set.design.plan.name.clone(),
            ..self.choice.clone()
        };
        let anew = Anew {
            design: &set.design,
            choice: &choice,
            engine: self.engine,
        };
        let settings = Settings {
            times: Some(set.times.clone()),
            ..set.settings.clone()
        };
        anew.ran(&self.changes(values), &settings, may_go_on)
    }

    /// Takes the scatter of each column without a σ as its σ; tells the largest relative change.
    pub(super) fn learn_weights(&mut self, fit: &Fit) -> f64 {
        let samples = self.samples();
        let freedom = |n: usize| {
            // Parameters take their share of the freedom of all samples.
            let part = 1.0 - self.axes.len() as f64 / samples.len() as f64;
            (n as f64 * part).max(1.0)
        };
        let mut change: f64 = 0.0;
        let mut sigmas = Vec::new();
        for (k, column) in self.columns.iter().enumerate() {
            let own = samples.iter().zip(&fit.residuals).filter(|(s, _)| s.0 == k);
            let sum: f64 = own.map(|(_, r)| r * r).sum();
            let factor = (sum / freedom(column.n)).sqrt();
            // Data without scatter would get all the weight there is.
            let factor = if column.is_given {
                1.0
            } else {
                factor.max(1e-12)
            };
            change = change.max((factor - 1.0).abs());
            sigmas.push(column.sigma * factor);
        }
        for (column, sigma) in self.columns.iter_mut().zip(sigmas) {
            column.sigma = sigma;
        }
        change
    }
}
