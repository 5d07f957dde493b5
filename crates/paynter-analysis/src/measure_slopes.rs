//! How the measures of an experiment follow parameters: exact, from the sensitivities along its run.
//!
//! In:  a design with measures, and the parameters that vary.
//! Out: for each measure its value and ∂measure/∂θ, or why it has no slope.

use crate::evaluator::{Gradients, Here, Shared, Worker};
use crate::linear::Varying;
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_exec::Engine;
use paynter_model::experiment::Measured;
use paynter_model::units::Unit;
use paynter_symbolic::Role;
use paynter_syntax::Diagnostic;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A measure with its slopes.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureSlopes {
    /// Its name.
    pub name: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Its value in that unit, and for each parameter ∂measure/∂θ in this unit per unit of the parameter; or why there
    /// is none.
    pub found: Result<(f64, Vec<f64>), String>,
    /// What 1 % of each parameter does to it, in its unit; of one that is zero, a hundredth of its unit.
    pub by_one_percent: Vec<f64>,
}

/// Computes how every measure follows these parameters.
///
/// # Errors
///
/// What keeps the model from being compiled.
pub fn measure_slopes(
    design: &Design,
    over: &[Varying],
) -> Result<Vec<MeasureSlopes>, Vec<Diagnostic>> {
    let measures = &design.plan.measures;
    let symbols: Option<Vec<_>> = over.iter().map(|p| p.symbol).collect();
    let shared = match symbols {
        Some(symbols) if !measures.is_empty() => Shared::new(design, symbols, Engine::Auto)?,
        _ => None,
    };
    let values: Vec<f64> = over.iter().map(|p| value(design, p)).collect();
    let here = Here {
        values: &values,
        units: &vec![1.0; over.len()],
    };
    let graded = shared.ok_or("other values make another model".to_owned());
    let graded = graded.and_then(|shared| {
        let gradients = Gradients::new(design, &shared, over)?;
        Worker::new(&shared).measure_slopes(design, (&shared, &gradients), here)
    });
    let factor = |unit: Option<&Unit>| unit.map_or(1.0, |u| u.factor);
    let named = measures.iter().enumerate().map(|(k, measured)| {
        let unit = shown_in(measured);
        let found = graded.clone().and_then(|all| all[k].clone()).map(|g| {
            let pairs = g.slopes.iter().zip(over);
            let own = factor(unit.as_ref());
            let slopes = pairs.map(|(s, p)| s * factor(p.unit.as_ref()) / own);
            let value = unit.as_ref().map_or(g.value, |u| u.from_si(g.value));
            (value, slopes.collect::<Vec<f64>>())
        });
        let step = |p: &Varying, si: f64| match p.unit.as_ref().map_or(si, |u| u.from_si(si)) {
            0.0 => 0.01,
            value => 0.01 * value.abs(),
        };
        let slopes = found.as_ref().map_or(&[][..], |f| &f.1);
        let steps = slopes.iter().zip(over.iter().zip(&values));
        MeasureSlopes {
            name: measured.name.clone(),
            unit: unit.map_or(String::new(), |u| u.text),
            by_one_percent: steps.map(|(s, (p, v))| s * step(p, *v)).collect(),
            found,
        }
    });
    Ok(named.collect())
}

fn value(design: &Design, parameter: &Varying) -> f64 {
    match parameter
        .symbol
        .map(|s| design.graph.signals.symbol(s).role)
    {
        Some(Role::Parameter { value, .. }) => value,
        _ => 0.0,
    }
}

fn shown_in(measured: &Measured) -> Option<Unit> {
    let in_si = || measured.dimension.filter(|d| !d.is_one()).map(|d| d.unit());
    measured.unit.clone().or_else(in_si)
}

/// Writes for people what 1 % of each parameter does to each measure, largest first.
pub fn measure_slopes_to_text(found: &[MeasureSlopes], over: &[Varying]) -> String {
    let mut out = String::new();
    let width = over
        .iter()
        .map(|p| p.name.chars().count())
        .max()
        .unwrap_or(0);
    for measure in found {
        let unit = match measure.unit.as_str() {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let value = match &measure.found {
            Ok((value, _)) => *value,
            Err(why) => {
                let _ = writeln!(out, "\n{}: no exact slopes: {why}", measure.name);
                continue;
            }
        };
        let _ = writeln!(
            out,
            "\n{} = {}{unit}: what 1 % more of each does",
            measure.name,
            significant(value, 8)
        );
        let changes = measure.by_one_percent.iter().enumerate();
        let mut changes: Vec<(usize, f64)> = changes.map(|(k, c)| (k, *c)).collect();
        changes.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        for (k, change) in changes {
            let name = &over[k].name;
            let _ = match change {
                0.0 => writeln!(out, "  {name:<width$}  nothing"),
                change => writeln!(out, "  {name:<width$}  {}{unit}", significant(change, 5)),
            };
        }
    }
    out
}

/// The same for machines.
pub fn measure_slopes_to_json(found: &[MeasureSlopes]) -> Value {
    let one = |m: &MeasureSlopes| {
        let (value, slopes) = m.found.as_ref().ok().cloned().unzip();
        json!({
            "name": m.name, "unit": m.unit, "value": value, "slopes": slopes,
            "change_by_one_percent": m.found.is_ok().then_some(&m.by_one_percent),
            "reason": m.found.as_ref().err(),
        })
    };
    found.iter().map(one).collect()
}
