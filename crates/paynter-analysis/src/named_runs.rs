//! Runs of other experiments that measures compare with.
//!
//! In:  a design whose measures name other experiments: `difference(x, nominal)`, `change(over, nominal)`.
//! Out: for each its curve with all points, or its number. An experiment runs once, whatever is read of it.
//!
//! **Invariant:** a named run is that of the text: what a sweep, a search or the command line changes does not reach it.

use crate::experiment::Outcome;
use crate::layout::{Named, lay_out};
use crate::simulate::Ending;
use paynter_design::code;
use paynter_design::design::{Choice, Design, DesignError};
use paynter_model::experiment::{Functional, Measure, NamedRun, Plan};
use paynter_syntax::{Diagnostic, ast};
use std::sync::Arc;

/// Runs an experiment by itself.
pub(crate) type Runs<'r> = &'r dyn Fn(&Design) -> Result<Outcome, Vec<Diagnostic>>;

/// Runs every experiment that measures of a plan compare with.
///
/// # Errors
///
/// A name that is no other experiment, what cannot be read there, or a run that fails.
pub(crate) fn named_runs(design: &Design, run: Runs<'_>) -> Result<Vec<Named>, Vec<Diagnostic>> {
    let asked = &design.plan.named_runs;
    let mut found: Vec<Option<Named>> = vec![None; asked.len()];
    for k in 0..asked.len() {
        if found[k].is_some() {
            continue;
        }
        let name = &asked[k].experiment;
        let same = |j: &usize| asked[*j].experiment.text == name.text;
        let together: Vec<usize> = (k..asked.len()).filter(same).collect();
        let readings: Vec<&NamedRun> = together.iter().map(|&j| &asked[j]).collect();
        for (j, named) in together
            .iter()
            .zip(read_in((design, run), name, &readings)?)
        {
            found[*j] = Some(named);
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// Runs one experiment and reads these off it.
fn read_in(
    (design, run): (&Design, Runs<'_>),
    name: &ast::Ident,
    readings: &[&NamedRun],
) -> Result<Vec<Named>, Vec<Diagnostic>> {
    check_name(design, name)?;
    let mut other = with_readings(design, name, readings)?;
    if !other.plan.named_runs.is_empty() {
        let message = format!("`{}` compares with another run itself", name.text);
        let help = "compare with an experiment that does not compare with another one";
        return Err(refuse(name, message, ("this chain has no end", help)));
    }

    let first = other.plan.measures.len() - readings.len();
    for (measured, reading) in other.plan.measures[first..].iter_mut().zip(readings) {
        if let Measure::Of(Functional::Final(x)) = measured.value
            && reading.is_curve
        {
            measured.value = Measure::Of(Functional::Kept(x));
        }
    }
    // Its own references are not looked at here.
    other.plan.comparisons.clear();
    other.references.clear();

    let outcome = run(&other)?;
    if let Ending::Failed { why, .. } = &outcome.run.ending {
        let about = |m: &Diagnostic| {
            let message = format!("the run of `{}` fails: {}", name.text, m.message);
            let help = "run that experiment alone";
            refuse(name, message, ("compared with here", help))
        };
        return Err(why.iter().flat_map(about).collect());
    }
    Ok(read_off(&other.plan, &outcome, first))
}

fn refuse(name: &ast::Ident, message: String, (label, help): (&str, &str)) -> Vec<Diagnostic> {
    let message = Diagnostic::error(code::NO_NAMED_RUN, message);
    vec![message.primary(name.span, label).help(help)]
}

/// Refuses what is no other experiment of the file.
fn check_name(design: &Design, name: &ast::Ident) -> Result<(), Vec<Diagnostic>> {
    if design.plan.name.as_deref() == Some(&*name.text) {
        let message = format!("`{}` is compared with itself", name.text);
        let help = "name another experiment of this file";
        return Err(refuse(name, message, ("this experiment", help)));
    }
    if design.experiments.iter().any(|e| **e == *name.text) {
        return Ok(());
    }
    let message = format!("there is no experiment `{}` to compare with", name.text);
    let known = design.experiments.iter().map(|e| format!("`{e}`"));
    let help = format!("this file has {}", known.collect::<Vec<_>>().join(", "));
    Err(refuse(name, message, ("not in this file", &help)))
}

/// The measures of a run from this one on, in SI, and the curves that were kept.
fn read_off(plan: &Plan, outcome: &Outcome, first: usize) -> Vec<Named> {
    let layout = lay_out(plan);
    let of = |k: usize| match plan.measures[k].value {
        Measure::Of(Functional::Kept(x)) => {
            let mut measured = layout.measured.iter();
            let at = measured.position(|m| m.0 == x && m.1.at.is_none());
            let at = at.expect("what a measure reads is laid out");
            Named::Curve(outcome.run.traces[at].clone())
        }
        _ => {
            let unit = plan.measures[k].unit.as_ref();
            let value = outcome.measures[k].value;
            Named::Number(value.map(|v| unit.map_or(v, |u| u.to_si(v))))
        }
    };
    (first..plan.measures.len()).map(of).collect()
}

/// The design of another experiment, with further measures after its own.
fn with_readings(
    design: &Design,
    name: &ast::Ident,
    readings: &[&NamedRun],
) -> Result<Design, Vec<Diagnostic>> {
    let measures = readings.iter().enumerate().map(|(k, reading)| {
        let span = reading.value.span;
        // No identifier of a text has a space in it.
        let ident = |text: String| ast::Ident {
            text: text.into(),
            span,
        };
        let value = match reading.is_curve {
            true => call(ident("final".to_owned()), reading.value.clone()),
            false => reading.value.clone(),
        };
        (ident(format!("reading {k}")), value)
    });

    let statement = ast::ExperimentStmt {
        kind: ast::ExperimentKind::Measure(measures.collect()),
        span: name.span,
    };
    let mut design = design.clone();
    for item in &mut Arc::make_mut(&mut design.project.files[0].ast).items {
        if let ast::ItemKind::Experiment(e) = &mut item.kind
            && e.name.text == name.text
        {
            e.body.push(statement.clone());
        }
    }

    let choice = Choice {
        experiment: Some(name.text.to_string()),
        ..Choice::default()
    };

    design.varied(&choice, &[]).map_err(|e| match e {
        DesignError::Unreadable(_) => unreachable!("no file is read"),
        DesignError::Model(failed) => {
            let about = |m: Diagnostic| m.secondary(name.span, "read in this experiment");
            failed.diagnostics.into_iter().map(about).collect()
        }
    })
}

fn call(function: ast::Ident, argument: ast::Expr) -> ast::Expr {
    let span = argument.span;
    let path = ast::Path {
        segments: vec![function],
        span,
    };
    let args = vec![ast::Arg {
        name: None,
        value: argument,
    }];
    ast::Expr {
        span,
        kind: ast::ExprKind::Call {
            function: path,
            args,
        },
    }
}
