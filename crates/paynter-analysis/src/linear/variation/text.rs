//! Sensitivities as text, JSON, table and plot.
//!
//! In:  [`Sensitivities`].
//! Out: a ranking of the parameters for people, everything for machines.

use super::super::text::per;
use super::{Followed, Sensitivities};
use paynter_design::digits::significant;
use paynter_draw::plot::{Plot, Series, panels_by_unit};
use paynter_run::table::{Column, Table};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What a change of a parameter by 1 % does at most.
struct Effect {
    parameter: usize,
    /// In the unit of the output, with its sign.
    change: f64,
    /// When, s.
    at: f64,
    /// As a part of the range of the output.
    share: Option<f64>,
}

impl Sensitivities {
    /// The parameters by how much a change of 1 % of each does to an output, largest first. One that is zero is changed by
    /// a hundredth of its unit.
    fn ranking(&self, output: &Followed) -> Vec<Effect> {
        let finite = |m: (f64, f64), &x: &f64| (m.0.min(x), m.1.max(x));
        let (low, high) = output
            .values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), finite);
        let mut all: Vec<Effect> = (0..self.parameters.len())
            .map(|k| {
                let value = self.parameters[k].value;
                let step = 0.01 * if value == 0.0 { 1.0 } else { value.abs() };
                let slopes = &output.slopes[k];
                let largest = (0..slopes.len()).max_by(|&a, &b| {
                    let size = |i: usize| slopes[i].abs();
                    size(a).total_cmp(&size(b)).then(b.cmp(&a))
                });
                let change = largest.map_or(0.0, |i| slopes[i] * step);
                Effect {
                    parameter: k,
                    change,
                    at: largest.map_or(0.0, |i| self.time[i]),
                    share: (high > low).then(|| change.abs() / (high - low)),
                }
            })
            .collect();
        all.sort_by(|a, b| {
            let size = b.change.abs().total_cmp(&a.change.abs());
            size.then(a.parameter.cmp(&b.parameter))
        });
        all
    }

    /// Values and slopes as columns: `v`, `d(v)/d(R1)`, …
    pub fn table(&self) -> Table {
        let mut columns = Vec::new();
        for output in &self.outputs {
            columns.push(Column {
                name: output.name.clone(),
                unit: output.unit.clone(),
                values: output.values.clone(),
            });
        }
        for output in &self.outputs {
            for (parameter, slopes) in self.parameters.iter().zip(&output.slopes) {
                columns.push(Column {
                    name: format!("d({})/d({})", output.name, parameter.name),
                    unit: per(&output.unit, &parameter.unit),
                    values: slopes.clone(),
                });
            }
        }
        Table {
            time: self.time.clone(),
            columns,
            ..Table::default()
        }
    }

    /// Draws what a change of 1 % of each parameter does to each output.
    pub fn plot(&self, title: &str) -> Plot {
        let mut curves = Vec::new();
        for output in &self.outputs {
            for (parameter, slopes) in self.parameters.iter().zip(&output.slopes) {
                let step = 0.01
                    * if parameter.value == 0.0 {
                        1.0
                    } else {
                        parameter.value.abs()
                    };
                let series = Series {
                    name: format!("{} by 1 % of {}", output.name, parameter.name),
                    x: self.time.clone(),
                    y: slopes.iter().map(|x| x * step).collect(),
                    ..Series::default()
                };
                curves.push((series, output.unit.clone()));
            }
        }
        Plot {
            title: title.to_owned(),
            panels: panels_by_unit(curves, "time [s]", &[]),
        }
    }
}

/// Writes the rankings for people.
pub fn sensitivities_to_text(found: &Sensitivities) -> String {
    let mut out = format!(
        "sensitivities from {} to {} s at {} times, {} event{} passed\n",
        significant(found.time.first().copied().unwrap_or(0.0), 6),
        significant(found.time.last().copied().unwrap_or(0.0), 6),
        found.time.len(),
        found.n_events,
        if found.n_events == 1 { "" } else { "s" }
    );

    let width = found.parameters.iter().map(|p| p.name.chars().count());
    let width = width.max().unwrap_or(0);
    for output in &found.outputs {
        let _ = writeln!(out, "\n{}: largest effect of 1 % more of each", output.name);
        for effect in found.ranking(output) {
            let parameter = &found.parameters[effect.parameter];
            if effect.change == 0.0 {
                let _ = writeln!(out, "  {:<width$}  nothing", parameter.name);
                continue;
            }
            let share = effect.share.map_or(String::new(), |share| {
                format!(" = {} % of its range", significant(100.0 * share, 3))
            });
            let unit = match output.unit.as_str() {
                "" => String::new(),
                unit => format!(" {unit}"),
            };
            let zero = match parameter.value {
                0.0 => ", for 0.01 more, since it is zero",
                _ => "",
            };
            let _ = writeln!(
                out,
                "  {:<width$}  {}{unit} at t = {} s{share}{zero}",
                parameter.name,
                significant(effect.change, 5),
                significant(effect.at, 5)
            );
        }
    }
    out
}

/// Writes everything for machines.
pub fn sensitivities_to_json(found: &Sensitivities) -> Value {
    let output = |o: &Followed| {
        let ranking = found.ranking(o);
        json!({
            "name": o.name,
            "unit": o.unit,
            "values": o.values,
            "slopes": o.slopes,
            "ranking": ranking.iter().map(|e| json!({
                "parameter": found.parameters[e.parameter].name,
                "change_by_one_percent": e.change,
                "time": e.at,
                "share_of_range": e.share,
            })).collect::<Vec<_>>(),
        })
    };
    json!({
        "time": found.time,
        "parameters": found.parameters.iter().map(|p| json!({"name": p.name, "unit": p.unit, "value": p.value})).collect::<Vec<_>>(),
        "outputs": found.outputs.iter().map(output).collect::<Vec<_>>(),
        "events": found.n_events,
    })
}
