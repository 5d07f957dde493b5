//! The proof: the written text, read back, against the old one.
//!
//! In:  both texts, and which quantity of the one is which of the other.
//! Out: how far they differ: at random states, times and parameters, or along the runs of the experiments where the
//!      states of a model are tied by constraints and random ones would not do.
//!
//! Both models are elaborated, causality is assigned anew, and both sets of equations are solved: what made the text
//! has no part in it. An energy audit would not do, since a missing gyrator is powerless.

use crate::dice::Dice;
use paynter::compile::Compiled;
use paynter::exec::{Engine, Machine};
use paynter::model::project::Loader;
use paynter::overlay::Overlay;
use paynter::run::{RunChoice, run};
use paynter::simulate::{RunSpec, Wanted, prepare};
use paynter::solve::Method;
use paynter::symbolic::{Role, SymbolId};
use paynter::syntax::Diagnostic;
use paynter::table::Table;
use paynter::{Choice, Design, DesignError, Failed, design_in};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Points compared.
const N_POINTS: usize = 100;

/// Points without a value, or where roundings grow, are drawn again; so often for each one wanted.
const MAX_DRAWS: usize = 10;

/// Points needed, of [`N_POINTS`].
const MIN_POINTS: usize = 20;

/// Largest difference allowed, as a part of the largest value of a quantity: roundings, times what a system of
/// equations may make of them (see [`NUDGE`]).
const ALLOWED: f64 = 1e-9;

/// Largest difference of two runs, as a part of a column's range, and the tolerance they are run with. Different
/// equations take different steps.
const ALLOWED_OF_RUNS: f64 = 1e-6;
const RUN_TOLERANCE: f64 = 1e-10;

/// States are moved by this part of themselves: where a quantity answers by more than [`NUDGED`], roundings would be taken for
/// differences.
const NUDGE: f64 = 1e-13;
const NUDGED: f64 = 1e-10;

/// Steps of Newton's method for states that follow from others, and the step of its differences.
const TIE_STEPS: usize = 3;
const TIE_NUDGE: f64 = 0.5;

/// The name of the experiment that reads the quantities.
const EXPERIMENT: &str = "proof_of_the_rewriting";

/// A model in a text.
pub struct Side<'a> {
    /// The file.
    pub path: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The model.
    pub model: &'a str,
}

/// What is compared.
#[derive(Clone, Debug, Default)]
pub struct Correspondence {
    /// Expressions of the old model, and the same of the new one.
    pub columns: Vec<(String, String)>,
    /// States of the new model in expressions of the old one, where they have another name.
    pub origins: BTreeMap<String, String>,
    /// States of the old model that follow from others: (state, expression).
    pub ties: Vec<(String, String)>,
    /// Parameters and inputs that keep their values.
    pub fixed: Vec<String>,
    /// Parameters of the new model in expressions of the old one.
    pub parameters: Vec<(String, String)>,
    /// `with` lines that inputs and parameters without a value need.
    pub with: String,
    /// Experiments to run where random states do not do.
    pub experiments: Vec<String>,
}

/// What a proof found.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Points compared; zero if runs were.
    pub n_points: usize,
    /// Quantities compared.
    pub n_columns: usize,
    /// Experiments run.
    pub runs: Vec<String>,
    /// Largest difference.
    pub largest: f64,
    /// Where.
    pub worst: Option<String>,
    /// Why nothing could be compared.
    pub failed: Option<String>,
}

impl Proof {
    fn allowed(&self) -> f64 {
        match self.runs.is_empty() {
            true => ALLOWED,
            false => ALLOWED_OF_RUNS,
        }
    }

    /// Tells whether both models are equal.
    pub fn holds(&self) -> bool {
        self.failed.is_none() && self.largest <= self.allowed()
    }

    /// One line for the end of the text.
    pub fn line(&self) -> String {
        let allowed = self.allowed();
        match (&self.failed, &self.worst) {
            (Some(why), _) => format!("proof FAILED: {why}"),
            (None, Some(worst)) if !self.holds() => format!(
                "proof FAILED: `{worst}` differs by {:.1e} of its size ({allowed:.0e} allowed)",
                self.largest
            ),
            _ if self.runs.is_empty() => format!(
                "proof: {} quantities are equal at {} random states with random parameters, largest difference {:.1e} ({allowed:.0e} allowed)",
                self.n_columns, self.n_points, self.largest
            ),
            _ => format!(
                "proof: the runs of {} agree, largest difference {:.1e} ({allowed:.0e} allowed); its states are tied, so that random ones would not do",
                self.runs.join(", "),
                self.largest
            ),
        }
    }

    /// A proof that could not be made.
    pub fn failed(why: String) -> Proof {
        Proof {
            n_points: 0,
            n_columns: 0,
            runs: Vec::new(),
            largest: f64::INFINITY,
            worst: None,
            failed: Some(why),
        }
    }
}

/// Compares a new text with the old one.
pub fn prove<L: Loader + Clone>(
    loader: &L,
    old: &Side<'_>,
    new: &Side<'_>,
    with: &Correspondence,
) -> Proof {
    match at_random(loader, old, new, with) {
        Ok(proof) => proof,
        Err(Unfit::Broken(why)) => Proof::failed(why),
        Err(Unfit::Tied) => along_runs(loader, old, new, with).unwrap_or_else(Proof::failed),
    }
}

/// Why random states do not do.
enum Unfit {
    /// They are tied to each other, or have a value hardly anywhere.
    Tied,
    /// One of the models is wrong.
    Broken(String),
}

/// A model that is evaluated at states.
struct Probe {
    design: Design,
    compiled: Compiled,
    machine: Machine,
    n_columns: usize,
}

impl Probe {
    fn new<L: Loader + Clone>(
        loader: &L,
        side: &Side<'_>,
        with: &str,
        columns: &[String],
    ) -> Result<Probe, Unfit> {
        let records: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(k, e)| format!("    record {e} as proved_{k}\n"))
            .collect();
        let text = format!(
            "{}\nexperiment {EXPERIMENT} of {} {{\n{with}\n    stop = 1 [s]\n{}}}\n",
            side.text,
            side.model,
            records.concat()
        );
        let choice = Choice {
            experiment: Some(EXPERIMENT.to_owned()),
            ..Choice::default()
        };
        let design = designed(loader, side.path, &text, &choice).map_err(Unfit::Broken)?;
        let compiled = design.compile().map_err(|m| Unfit::Broken(first(&m)))?;
        let reduced = &compiled.reduced;
        if !reduced.constraints.is_empty() || reduced.is_selection_dynamic {
            return Err(Unfit::Tied);
        }
        let wanted = design.plan.columns.iter().map(|c| Wanted {
            name: c.name.clone(),
            value: c.value,
            unit: String::new(),
            factor: 1.0,
            offset: 0.0,
        });
        let spec = spec(wanted.collect());
        let machine = prepare(&compiled, &spec).map_err(|m| Unfit::Broken(first(&m)))?;
        Ok(Probe {
            n_columns: design.plan.columns.len(),
            design,
            compiled,
            machine,
        })
    }

    fn name(&self, symbol: SymbolId) -> String {
        self.compiled.reduced.dae.name_of(symbol)
    }

    fn states(&self) -> Vec<String> {
        self.machine
            .states()
            .iter()
            .map(|&s| self.name(s))
            .collect()
    }

    /// Parameters that may have any value: (symbol, name, value).
    fn parameters(&self) -> Vec<(SymbolId, String, f64)> {
        let dae = &self.compiled.reduced.dae;
        let all = self.machine.parameter_symbols().into_iter();
        let free = all.filter(|s| !self.design.structural.contains(s));
        free.filter_map(|s| match dae.symbol(s).role {
            Role::Parameter {
                value,
                binding: None,
            } => Some((s, self.name(s), value)),
            _ => None,
        })
        .collect()
    }

    fn at(&mut self, t: f64, y: &[f64]) -> Option<Vec<f64>> {
        let mut out = vec![0.0; self.n_columns];
        self.machine.observe(t, y, &mut out).ok()?;
        out.iter().all(|x| x.is_finite()).then_some(out)
    }
}

fn spec(wanted: Vec<Wanted>) -> RunSpec {
    RunSpec {
        start: 0.0,
        stop: 1.0,
        output_times: vec![0.0],
        method: Method::Dop853,
        fixed_step: None,
        rtol: 1e-8,
        atol: None,
        max_step: None,
        max_steps: None,
        initial_step: None,
        engine: Engine::Interpreter,
        wanted,
        measured: Vec::new(),
        wants_ranges: false,
        wants_areas: None,
        parameters: Vec::new(),
        keeps_past: false,
        is_minimal: false,
        rest: Vec::new(),
        onlooker: None,
    }
}

/// Elaborates a text.
pub fn designed<L: Loader + Clone>(
    loader: &L,
    path: &str,
    text: &str,
    choice: &Choice,
) -> Result<Design, String> {
    let mut world = Overlay::new(loader.clone());
    world.set(path, text);
    design_in(&mut world, path, choice).map_err(|e| match e {
        DesignError::Unreadable(message) => message,
        DesignError::Model(Failed { diagnostics, .. }) => first(&diagnostics),
    })
}

/// The first error among messages.
pub fn first(messages: &[Diagnostic]) -> String {
    let mut errors = messages.iter().filter(|m| m.is_error());
    errors
        .next()
        .map_or_else(String::new, |m| m.message.clone())
}

fn at_random<L: Loader + Clone>(
    loader: &L,
    old: &Side<'_>,
    new: &Side<'_>,
    with: &Correspondence,
) -> Result<Proof, Unfit> {
    let new_columns: Vec<String> = with.columns.iter().map(|c| c.1.clone()).collect();
    let mut new_probe = Probe::new(loader, new, &with.with, &new_columns)?;
    // The old model is asked for the states of the new one as well, in its own names.
    let bare = Probe::new(loader, old, &with.with, &[])?;
    let old_states = bare.states();
    let mut columns: Vec<String> = with.columns.iter().map(|c| c.0.clone()).collect();
    let (sources, n_own) = (
        sources(&new_probe.states(), &old_states, with)?,
        columns.len(),
    );
    let values = with.parameters.iter().map(|p| p.1.clone());
    columns.extend(sources.iter().filter_map(|s| match s {
        Source::Expression(e) => Some(e.clone()),
        Source::State(_) => None,
    }));
    columns.extend(values);
    let n_asked = columns.len();
    columns.extend(with.ties.iter().flat_map(|t| [t.0.clone(), t.1.clone()]));
    let mut old_probe = Probe::new(loader, old, &with.with, &columns)?;
    let mut points = Points::new(old_probe.states().len(), with);
    let mut rows: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for _ in 0..N_POINTS * MAX_DRAWS {
        if rows.len() == N_POINTS {
            break;
        }
        let (t, mut y) = points.next(&mut old_probe, &mut new_probe);
        if points.tie(&mut old_probe, t, &mut y, n_asked).is_none() {
            continue;
        }
        let Some(row) = well_conditioned(&mut old_probe, t, &y) else {
            continue;
        };
        let mut further = row[n_own..].iter().copied();
        let states: Vec<f64> = sources
            .iter()
            .map(|s| match s {
                Source::State(k) => y[*k],
                Source::Expression(_) => further.next().unwrap_or(f64::NAN),
            })
            .collect();
        set_parameters(&mut new_probe, with, further);
        if let Some(found) = new_probe.at(t, &states) {
            rows.push((row[..n_own].to_vec(), found));
        }
    }
    if rows.len() < MIN_POINTS {
        return Err(Unfit::Tied);
    }
    Ok(compared(&rows, with))
}

/// Where a state of the new model has its value from.
enum Source {
    /// A state of the old one.
    State(usize),
    /// An expression of the old one.
    Expression(String),
}

fn sources(new: &[String], old: &[String], with: &Correspondence) -> Result<Vec<Source>, Unfit> {
    let mut used = vec![false; old.len()];
    let mut found: Vec<Option<Source>> = Vec::new();
    let is_made_up = |name: &str| name.starts_with("integral[") || !name.contains('.');
    for name in new {
        let same = old
            .iter()
            .enumerate()
            .position(|(k, o)| o == name && !used[k]);
        found.push(match (with.origins.get(name), same) {
            (Some(e), _) => Some(Source::Expression(e.clone())),
            (None, Some(k)) if !is_made_up(name) || same_count(new, old, name) => {
                used[k] = true;
                Some(Source::State(k))
            }
            _ if name.contains('.') && !name.contains('[') => {
                Some(Source::Expression(name.clone()))
            }
            _ => None,
        });
    }
    // Integrals and storages without a name are in the order of the text in both.
    let mut left = (0..old.len()).filter(|&k| !used[k]);
    let all = found.into_iter().zip(new).map(|(s, name)| match s {
        Some(s) => Ok(s),
        None => left.next().map(Source::State).ok_or_else(|| {
            Unfit::Broken(format!(
                "the state `{name}` of the new model does not exist in the old one"
            ))
        }),
    });
    all.collect()
}

fn same_count(new: &[String], old: &[String], name: &str) -> bool {
    let count = |all: &[String]| all.iter().filter(|n| *n == name).count();
    count(new) == count(old)
}

/// The old model at a point; none where it has no value, or where roundings grow.
fn well_conditioned(probe: &mut Probe, t: f64, y: &[f64]) -> Option<Vec<f64>> {
    let row = probe.at(t, y)?;
    let nudged: Vec<f64> = y.iter().map(|x| x * (1.0 + NUDGE)).collect();
    let beside = probe.at(t, &nudged)?;
    let is_calm = row.iter().zip(&beside).all(|(a, b)| {
        (a - b).abs() <= NUDGED * a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
            || (a - b).abs() < 1e-9
    });
    is_calm.then_some(row)
}

fn set_parameters(probe: &mut Probe, with: &Correspondence, values: impl Iterator<Item = f64>) {
    let own = probe.parameters();
    for ((name, _), value) in with.parameters.iter().zip(values) {
        if let Some((symbol, ..)) = own.iter().find(|p| p.1 == *name) {
            let _ = probe.machine.set_parameter(*symbol, value);
        }
    }
}

/// Random states, times and parameters.
struct Points {
    dice: Dice,
    n_states: usize,
    n_ties: usize,
    fixed: Vec<String>,
    n_drawn: usize,
}

impl Points {
    fn new(n_states: usize, with: &Correspondence) -> Self {
        Points {
            dice: Dice(0x5eed),
            n_states,
            n_ties: with.ties.len(),
            fixed: with.fixed.clone(),
            n_drawn: 0,
        }
    }

    fn next(&mut self, old: &mut Probe, new: &mut Probe) -> (f64, Vec<f64>) {
        self.n_drawn += 1;
        let new_parameters = new.parameters();
        for (symbol, name, value) in old.parameters() {
            if self.fixed.contains(&name) {
                continue;
            }
            // Values near the user's own, and values of size one, in which nothing is small beside another.
            let factor = 2.0_f64.powf(self.dice.between(-1.0, 1.0));
            let drawn = match self.n_drawn.is_multiple_of(2) && value != 0.0 {
                true => value * factor,
                false if value < 0.0 => -factor,
                false => factor,
            };
            let _ = old.machine.set_parameter(symbol, drawn);
            if let Some((symbol, ..)) = new_parameters.iter().find(|p| p.1 == name) {
                let _ = new.machine.set_parameter(*symbol, drawn);
            }
        }
        let y: Vec<f64> = (0..self.n_states)
            .map(|_| self.dice.between(-1.0, 1.0))
            .collect();
        (self.dice.between(0.0, 3.0), y)
    }
}

impl Points {
    /// Moves the states to where all ties hold, by Newton's method with the shortest steps: what is tied may be no state itself
    /// but depend on some, and what it is tied to may depend on it.
    fn tie(&self, old: &mut Probe, t: f64, y: &mut [f64], first: usize) -> Option<()> {
        if self.n_ties == 0 {
            return Some(());
        }
        let gaps = |old: &mut Probe, y: &[f64]| -> Option<Vec<f64>> {
            let row = old.at(t, y)?;
            let pairs = row[first..].chunks(2).take(self.n_ties);
            Some(pairs.map(|pair| pair[1] - pair[0]).collect())
        };
        for _ in 0..TIE_STEPS {
            let r = gaps(old, y)?;
            let mut slopes = vec![vec![0.0; y.len()]; r.len()];
            for j in 0..y.len() {
                // Most of it is linear, where a large step is exact.
                let mut beside = y.to_vec();
                beside[j] += TIE_NUDGE;
                for (i, g) in gaps(old, &beside)?.into_iter().enumerate() {
                    slopes[i][j] = (g - r[i]) / TIE_NUDGE;
                }
            }
            let step = shortest(slopes, &r)?;
            y.iter_mut().zip(step).for_each(|(y, dy)| *y -= dy);
        }
        Some(())
    }
}

/// The shortest x with A x = b, row by row (Gram–Schmidt); none where rows contradict each other.
fn shortest(rows: Vec<Vec<f64>>, b: &[f64]) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut x = vec![0.0; rows.first().map_or(0, Vec::len)];
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for (row, b) in rows.into_iter().zip(b) {
        let size = dot(&row, &row).sqrt();
        let missing = b - dot(&row, &x);
        let mut rest = row;
        for known in basis.iter().chain(&basis) {
            let part = dot(&rest, known);
            rest.iter_mut().zip(known).for_each(|(r, k)| *r -= part * k);
        }
        let left = dot(&rest, &rest).sqrt();
        if left <= 1e-9 * size || left == 0.0 {
            // A row that others imply; it must not ask for more.
            if missing.abs() > 1e-7 {
                return None;
            }
            continue;
        }
        rest.iter_mut().for_each(|r| *r /= left);
        x.iter_mut()
            .zip(&rest)
            .for_each(|(x, r)| *x += missing / left * r);
        basis.push(rest);
    }
    Some(x)
}

fn compared(rows: &[(Vec<f64>, Vec<f64>)], with: &Correspondence) -> Proof {
    let mut proof = Proof {
        n_points: rows.len(),
        n_columns: with.columns.len(),
        runs: Vec::new(),
        largest: 0.0,
        worst: None,
        failed: None,
    };
    let largest = |k: usize| {
        rows.iter()
            .fold(0.0_f64, |m, (a, b)| m.max(a[k].abs()).max(b[k].abs()))
    };
    let overall = (0..with.columns.len()).map(largest).fold(0.0, f64::max);
    for k in 0..with.columns.len() {
        // What cancels to zero keeps the roundings of its terms.
        let size = largest(k).max(1e-6 * overall);
        for (a, b) in rows {
            let difference = (a[k] - b[k]).abs() / size.max(f64::MIN_POSITIVE);
            if difference > proof.largest {
                proof.largest = difference;
                proof.worst = Some(with.columns[k].0.clone());
            }
        }
    }
    proof
}

/// Runs every experiment with both texts.
fn along_runs<L: Loader + Clone>(
    loader: &L,
    old: &Side<'_>,
    new: &Side<'_>,
    with: &Correspondence,
) -> Result<Proof, String> {
    if with.experiments.is_empty() {
        return Err(
            "the states are tied by constraints and the file has no experiment to run with both"
                .to_owned(),
        );
    }
    let mut proof = Proof {
        n_points: 0,
        n_columns: 0,
        runs: Vec::new(),
        largest: 0.0,
        worst: None,
        failed: None,
    };
    for name in &with.experiments {
        let a = table(loader, old, name)?;
        let b = table(loader, new, name)?;
        if a.columns.len() != b.columns.len() || a.time.len() != b.time.len() {
            return Err(format!("`{name}` records something else"));
        }
        for (x, y) in a.columns.iter().zip(&b.columns) {
            let range = x.values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let worst = x.values.iter().zip(&y.values);
            let worst = worst.map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
            let difference = worst / range.max(1e-9);
            if difference > proof.largest {
                proof.largest = difference;
                proof.worst = Some(x.name.clone());
            }
        }
        proof.n_columns += a.columns.len();
        proof.runs.push(name.clone());
    }
    Ok(proof)
}

fn table<L: Loader + Clone>(loader: &L, side: &Side<'_>, name: &str) -> Result<Table, String> {
    let choice = Choice {
        experiment: Some(name.to_owned()),
        ..Choice::default()
    };
    let mut design = designed(loader, side.path, side.text, &choice)?;
    design.plan.rtol = design.plan.rtol.min(RUN_TOLERANCE);
    design.plan.comparisons.clear();
    design.plan.sweeps.clear();
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    let outcome = outcome.map_err(|m| format!("`{name}` does not run: {}", first(&m)))?;
    match outcome.run.ending {
        paynter::simulate::Ending::Failed {
            why: diagnostics, ..
        } => Err(format!("`{name}` does not run: {}", first(&diagnostics))),
        _ => Ok(outcome.run.table),
    }
}
