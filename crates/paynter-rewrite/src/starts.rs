//! Makes runs of the new text begin where those of the old one do.
//!
//! In:  both texts, and which quantity of the one is which of the other.
//! Out: `start` lines for the model or its experiments, kept in the net; or why they cannot be found.
//!
//! A state that nobody gives a value starts at zero. Of storages that depend on each other only some are states, and in
//! the new graph these can be others: the same zero then means another motion, although both graphs are equal at every
//! state. What began at zero in the old text is asked to do so in the new one.

use crate::expression::{parse as parse_expression, quotient};
use crate::net::{Net, Step};
use crate::proof::{Correspondence, designed, first};
use crate::read::Source;
use crate::walk::dotted;
use crate::write::write;
use paynter::Choice;
use paynter::model::experiment::Column;
use paynter::model::project::Loader;
use paynter::run::{RunChoice, run};
use paynter::syntax::ast::{File, ItemKind, StmtKind};
use paynter::syntax::{FileId, parse};
use paynter::table::Table;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Starts are found to 1e-9 of what they are made of (`paynter-exec/src/start.rs`), and other equations add up other terms.
const SAME_START: f64 = 1e-6;

/// What roundings leave where terms cancel, as a part of the largest quantity of the same letter.
const ROUNDED: f64 = 1e-12;

/// The same for efforts and flows, which are sums of terms of any size: as a part of the largest quantity of all.
const CANCELLED: f64 = 1e-9;

/// The last time of a run of which only the first instant counts, s after the first.
const AN_INSTANT: f64 = 1e-9;

/// The letter of what storages and own states hold.
const STORED: &str = "p";

/// The experiment of a model without any.
const ALONE: &str = "start_of_the_model";

/// How a run begins.
pub struct Beginning {
    /// What was asked for: all components of each, in SI.
    pub values: Vec<Vec<f64>>,
    /// The first component of each as it is written, with its unit: `0.3 [m/s]`.
    pub texts: Vec<String>,
    /// States, by name.
    states: Vec<String>,
    /// Those that begin at zero because nobody gave a value.
    defaulted: Vec<String>,
}

/// Finds what quantities are at the start of an experiment.
///
/// # Errors
///
/// What keeps the experiment from starting.
pub fn beginning<L: Loader + Clone>(
    loader: &L,
    (path, text): (&str, &str),
    experiment: &str,
    asked: &[String],
) -> Result<Beginning, String> {
    let records = asked.iter().enumerate();
    let records: String = records
        .map(|(k, e)| format!("record {e} as begins_{k}\n    "))
        .collect();
    let parsed = parse(FileId(0), text);
    let at = lines_of(&parsed.ast, experiment).ok_or("the experiment has no lines")?;
    let text = format!("{}{records}{}", &text[..at], &text[at..]);
    let choice = Choice {
        experiment: Some(experiment.to_owned()),
        ..Choice::default()
    };
    let mut design = designed(loader, path, &text, &choice)?;
    let plan = &mut design.plan;
    plan.comparisons.clear();
    plan.measures.clear();
    plan.sweeps.clear();
    plan.linearize.clear();
    plan.stop = plan.start + AN_INSTANT;
    let choice = RunChoice {
        times: Some(vec![plan.start]),
        ..RunChoice::default()
    };
    let outcome = run(&design, &choice, &mut |_| ControlFlow::Continue(()));
    let run = outcome.map_err(|m| first(&m))?.run;
    let columns = &design.plan.columns;
    let of_each = (0..asked.len()).map(|k| first_of(columns, &run.table, &format!("begins_{k}")));
    let (values, texts) = of_each.unzip();
    Ok(Beginning {
        values,
        texts,
        states: run.states,
        defaulted: run.defaulted,
    })
}

/// The first values of all parts of a recorded column, in SI, and that of the first part as it is written.
fn first_of(columns: &[Column], table: &Table, name: &str) -> (Vec<f64>, String) {
    let is_part = |c: &&Column| {
        let rest = c.name.strip_prefix(name);
        rest.is_some_and(|r| !r.starts_with(|c: char| c.is_ascii_digit()))
    };
    let parts: Vec<&Column> = columns.iter().filter(is_part).collect();
    let shown = |c: &Column| table.column(&c.name)?.values.first().copied();
    let in_si = |c: &&Column| {
        let (factor, offset) = c.unit.as_ref().map_or((1.0, 0.0), |u| (u.factor, u.offset));
        Some(shown(c)? * factor + offset)
    };
    let values = parts.iter().filter_map(in_si).collect();

    let number = match parts.first().and_then(|c| shown(c)) {
        Some(number) if number != 0.0 => format!("{number:?}"),
        _ => "0".to_owned(),
    };
    let unit = parts.first().and_then(|c| c.unit.as_ref());
    let text = match unit.filter(|u| !u.text.is_empty()) {
        Some(unit) => format!("{number} [{}]", unit.text),
        None => number,
    };
    (values, text)
}

/// As [`beginning`], of a run without an experiment; `with` has the values that the model needs.
///
/// # Errors
///
/// What keeps the model from starting.
pub fn beginning_alone<L: Loader + Clone>(
    loader: &L,
    path: &str,
    (source, with): (&Source<'_>, &str),
    asked: &[String],
) -> Result<Beginning, String> {
    let text = format!("{}{}", source.text, alone(source, with));
    beginning(loader, (path, &text), ALONE, asked)
}

/// Finds states that a run does not begin with as the rules took for granted: (state, expression), in names of the old text.
///
/// Storages that share their rate stay as far apart as they begin. A start value of something else may set them apart.
pub fn begun_apart<L: Loader + Clone>(
    loader: &L,
    path: &str,
    source: &Source<'_>,
    (ties, with): (&[(String, String)], &Correspondence),
) -> Vec<String> {
    if ties.is_empty() {
        return Vec::new();
    }
    let (left, right) = (ties.iter().map(|t| &t.0), ties.iter().map(|t| &t.1));
    let asked: Vec<String> = left.chain(right).cloned().collect();
    let text = format!("{}{}", source.text, alone(source, &with.with));
    let experiments = with.experiments.iter().map(String::as_str);
    let mut apart = Vec::new();
    for experiment in experiments.chain([ALONE]) {
        let Ok(found) = beginning(loader, (path, &text), experiment, &asked) else {
            continue;
        };
        let columns: Vec<(String, String)> =
            asked.iter().map(|a| (a.clone(), String::new())).collect();
        let size = sizes(&columns, [&found, &found]);
        for (k, (state, _)) in ties.iter().enumerate() {
            let (a, b) = (&found.values[k], &found.values[k + ties.len()]);
            if !is_same(a, b, size[letter(state)]) {
                apart.push(state.clone());
            }
        }
    }
    apart
}

/// Where the lines of an experiment begin.
fn lines_of(file: &File, experiment: &str) -> Option<usize> {
    file.items.iter().find_map(|item| match &item.kind {
        ItemKind::Experiment(e) if *e.name.text == *experiment => {
            Some(e.body.first()?.span.start as usize)
        }
        _ => None,
    })
}

/// Adds `start` lines to the net until both texts begin alike; gives a step for what was added.
///
/// # Errors
///
/// An experiment that begins elsewhere, and how far.
pub fn carry_starts<L: Loader + Clone>(
    loader: &L,
    path: &str,
    source: &Source<'_>,
    net: &mut Net,
    with: &Correspondence,
) -> Result<Vec<Step>, String> {
    let starts = Starts {
        loader,
        path,
        source,
        columns: with
            .columns
            .iter()
            .cloned()
            .chain(own_states(source, net))
            .collect(),
        alone: alone(source, &with.with),
    };
    let all = with.experiments.iter().map(|e| (e.as_str(), starts.old(e)));
    // An experiment that does not start says so by itself, in the old text as in the new one.
    let all: Vec<(&str, Beginning)> = all.filter_map(|(e, old)| Some((e, old?))).collect();
    let mut steps = starts.in_model(net, &all)?;
    for (experiment, old) in &all {
        let apart = starts.apart(net, experiment, old)?;
        let lines = apart.iter().filter_map(Apart::line);
        let lines = lines.map(|line| ((*experiment).to_owned(), line));
        net.added_to.extend(lines);
        steps.extend(apart.iter().map(|a| a.step(&format!("`{experiment}`"))));
        if !apart.is_empty()
            && let Some(left) = starts.apart(net, experiment, old)?.first()
        {
            return Err(left.words(experiment));
        }
    }
    Ok(steps)
}

/// An experiment that adds nothing to the model but values that it needs.
fn alone(source: &Source<'_>, with: &str) -> String {
    format!(
        "\nexperiment {ALONE} of {} {{\n{with}\n    stop = 1 [s]\n}}\n",
        source.model.name.text
    )
}

/// The states that the text itself integrates: (old, new).
fn own_states(source: &Source<'_>, net: &Net) -> Vec<(String, String)> {
    let mut own = Vec::new();
    for (at, statement) in source.model.body.iter().enumerate() {
        if let StmtKind::Define(d) = &statement.kind
            && d.is_derivative
            && !net.replaced.contains_key(&at)
        {
            let name = source.slice(d.target.span);
            own.push((name.clone(), name));
        }
    }
    own
}

/// Both texts at their first instant.
struct Starts<'s, 'a, L> {
    loader: &'s L,
    path: &'s str,
    source: &'s Source<'a>,
    /// Quantities of the old model, and the same of the new one.
    columns: Vec<(String, String)>,
    /// An experiment that adds nothing to the model.
    alone: String,
}

/// A state of the old model that begins elsewhere in the new one.
struct Apart {
    /// Its name.
    state: String,
    /// What its value sets in the new text, and the factor between them.
    target: Option<(String, String)>,
    /// Its value, as it is written.
    value: String,
    /// Its value in the new text.
    new: f64,
}

impl<L: Loader + Clone> Starts<'_, '_, L> {
    fn old(&self, experiment: &str) -> Option<Beginning> {
        let asked: Vec<String> = self.columns.iter().map(|c| c.0.clone()).collect();
        self.beginning(self.source.text, experiment, &asked).ok()
    }

    fn beginning(
        &self,
        text: &str,
        experiment: &str,
        asked: &[String],
    ) -> Result<Beginning, String> {
        let text = match experiment == ALONE {
            true => format!("{text}{}", self.alone),
            false => text.to_owned(),
        };
        beginning(self.loader, (self.path, &text), experiment, asked)
    }

    /// Adds lines to the model, for runs of it alone and experiments that nobody has written yet.
    ///
    /// # Errors
    ///
    /// The model has no experiments, and begins elsewhere.
    fn in_model(&self, net: &mut Net, all: &[(&str, Beginning)]) -> Result<Vec<Step>, String> {
        let Some(old) = self.old(ALONE) else {
            return Ok(Vec::new());
        };
        match self.lines_for_model(net, &old, all) {
            Ok((trial, steps)) => {
                *net = trial;
                Ok(steps)
            }
            Err(why) if all.is_empty() => Err(why),
            Err(why) => {
                net.refuse("start", &why);
                Ok(Vec::new())
            }
        }
    }

    /// The net with lines that make a run without an experiment begin as before, and all experiments can still run.
    ///
    /// # Errors
    ///
    /// There are no such lines.
    fn lines_for_model(
        &self,
        net: &Net,
        old: &Beginning,
        all: &[(&str, Beginning)],
    ) -> Result<(Net, Vec<Step>), String> {
        let apart = self.apart(net, ALONE, old)?;
        let mut trial = net.clone();
        let Some(first) = apart.first() else {
            return Ok((trial, Vec::new()));
        };
        trial.added.extend(apart.iter().filter_map(Apart::line));
        if let Some(left) = self.apart(&trial, ALONE, old)?.first() {
            return Err(left.words(ALONE));
        }
        // An experiment may give another value to what depends on it.
        let can_begin = |(e, old): &(&str, Beginning)| self.apart(&trial, e, old).is_ok();
        match all.iter().all(can_begin) {
            true => Ok((trial, apart.iter().map(|a| a.step("every run")).collect())),
            false => Err(first.words(ALONE)),
        }
    }

    /// States that begin elsewhere.
    ///
    /// # Errors
    ///
    /// The new text does not start, or something that is no state is different.
    fn apart(&self, net: &Net, experiment: &str, old: &Beginning) -> Result<Vec<Apart>, String> {
        let text = write(self.source, net);
        let asked: Vec<String> = self.columns.iter().map(|c| c.1.clone()).collect();
        let new = self.beginning(&text, experiment, &asked);
        let new = new.map_err(|why| format!("{} does not start: {why}", called(experiment)))?;
        let mut apart = Vec::new();
        let mut other = None;
        let sizes = sizes(&self.columns, [old, &new]);
        let largest = CANCELLED / ROUNDED * sizes.values().fold(0.0, |m: f64, s| m.max(*s));
        for (k, (path, image)) in self.columns.iter().enumerate() {
            let size = match letter(path) {
                STORED => sizes[STORED],
                _ => largest,
            };
            if is_same(&old.values[k], &new.values[k], size) {
                continue;
            }
            let (&[was], &[is]) = (&*old.values[k], &*new.values[k]) else {
                return Err(format!("`{path}` has another shape"));
            };
            if !old.states.contains(path) {
                other.get_or_insert((path, was, is));
                continue;
            }
            let value = match old.defaulted.contains(path) {
                true => "0".to_owned(),
                false => old.texts[k].clone(),
            };
            let itself = is_path(image).then(|| (image.clone(), "1".to_owned()));
            apart.push(Apart {
                state: path.clone(),
                target: net.target_of(path).or(itself),
                value,
                new: is,
            });
        }
        match other {
            Some((path, was, is)) if apart.is_empty() => {
                let who = called(experiment);
                Err(format!(
                    "{who} begins with `{path}` = {is}, and with {was} before"
                ))
            }
            _ => Ok(apart),
        }
    }
}

impl Apart {
    /// The line that gives the old value.
    fn line(&self) -> Option<String> {
        let (of, factor) = self.target.as_ref()?;
        let value = match self.value.as_str() {
            "0" => "0".to_owned(),
            value => quotient(value, factor),
        };
        Some(format!("start {of} = {value}"))
    }

    fn step(&self, of: &str) -> Step {
        let state = &self.state;
        let value = match self.value.as_str() {
            "0" => "0 as before".to_owned(),
            value => format!("{value} as before (with the present values of parameters)"),
        };
        Step {
            rule: "start",
            text: format!(
                "{of} begins with `{state}` = {value}, where another storage is the state now"
            ),
        }
    }

    fn words(&self, experiment: &str) -> String {
        let (who, state) = (called(experiment), &self.state);
        format!(
            "{who} begins with `{state}` = {}, and with {} before",
            self.new, self.value
        )
    }
}

/// How an experiment is called in messages.
fn called(experiment: &str) -> String {
    match experiment {
        ALONE => "a run of the model without an experiment".to_owned(),
        name => format!("`{name}`"),
    }
}

/// The largest values of quantities of one letter, by that letter: roundings of one are seen against those beside it.
fn sizes(columns: &[(String, String)], sides: [&Beginning; 2]) -> BTreeMap<&'static str, f64> {
    let mut sizes = BTreeMap::new();
    for (k, (path, _)) in columns.iter().enumerate() {
        let size: &mut f64 = sizes.entry(letter(path)).or_insert(0.0);
        let all = sides.iter().flat_map(|s| &s.values[k]);
        *size = all
            .filter(|v| v.is_finite())
            .fold(*size, |m, v| m.max(v.abs()));
    }
    sizes
}

/// `e` or `f` of a path that ends so, and of rates; all that is stored goes by one letter, since gyrators make p of q.
fn letter(path: &str) -> &'static str {
    let last = path.rsplit('.').next().unwrap_or(path);
    match last.split('[').next() {
        Some("e") => "e",
        Some("f") => "f",
        _ if path.starts_with("der(") => "f",
        _ => STORED,
    }
}

/// Tells whether two starts are one; what has no value in either is.
fn is_same(old: &[f64], new: &[f64], size: f64) -> bool {
    let is_near = |(a, b): (&f64, &f64)| {
        let apart = (a - b).abs();
        !apart.is_finite() || apart <= (SAME_START * a.abs().max(b.abs())).max(ROUNDED * size)
    };
    old.len() == new.len() && old.iter().zip(new).all(is_near)
}

/// Tells whether a text is a dotted name.
fn is_path(text: &str) -> bool {
    parse_expression(text).is_some_and(|p| dotted(&p.expr).is_some())
}
