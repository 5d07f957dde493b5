//! `paynter plot`: curves of result files.

use crate::console::{OK, call_error};
use crate::say;
use clap::Args;
use paynter::draw::{Panel, Plot, Series};
use paynter::table::Table;
use std::path::PathBuf;

/// What to plot and where to put it.
#[derive(Args)]
pub struct PlotArgs {
    /// Result files (.csv, .parquet, .json); further ones are drawn dashed, for comparison
    #[arg(required = true)]
    results: Vec<PathBuf>,
    /// Columns to plot, each with an axis of its own; all unless given
    #[arg(long, short, value_name = "NAME", value_delimiter = ',')]
    columns: Vec<String>,
    /// Column to the right instead of time
    #[arg(long, value_name = "NAME")]
    versus: Option<String>,
    /// Write here (.svg); RESULT.svg unless given
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Plots.
pub fn plot(args: &PlotArgs) -> u8 {
    let mut tables = Vec::new();
    for path in &args.results {
        match Table::read(path) {
            Ok(table) => tables.push((path.display().to_string(), table)),
            Err(error) => return call_error(error),
        }
    }
    let Some((_, first)) = tables.first() else {
        return call_error("no result file was given");
    };
    let names: Vec<String> = if args.columns.is_empty() {
        first
            .columns
            .iter()
            .map(|c| c.name.clone())
            .filter(|n| Some(n) != args.versus.as_ref())
            .collect()
    } else {
        args.columns.clone()
    };
    let mut panels = Vec::new();
    for name in &names {
        let Some(column) = first.column(name) else {
            let known: Vec<&str> = first.columns.iter().map(|c| c.name.as_str()).collect();
            return call_error(format!(
                "there is no column `{name}`; the file has {}",
                known.join(", ")
            ));
        };
        let mut series = Vec::new();
        for (index, (file, table)) in tables.iter().enumerate() {
            let Some(column) = table.column(name) else {
                continue;
            };
            let x = match &args.versus {
                None => table.time.clone(),
                Some(versus) => match table.column(versus) {
                    Some(x) => x.values.clone(),
                    None => return call_error(format!("there is no column `{versus}` in {file}")),
                },
            };
            let label = if tables.len() > 1 {
                format!("{name} ({file})")
            } else {
                name.clone()
            };
            series.push(Series {
                name: label,
                x,
                y: column.values.clone(),
                is_reference: index > 0,
            });
        }
        panels.push(Panel {
            y_label: if column.unit.is_empty() {
                String::new()
            } else {
                format!("[{}]", column.unit)
            },
            x_label: args
                .versus
                .clone()
                .unwrap_or_else(|| format!("{} [s]", first.axis_name())),
            series,
            ..Panel::default()
        });
    }
    let path = args
        .out
        .clone()
        .unwrap_or_else(|| args.results[0].with_extension("svg"));
    let plot = Plot {
        title: String::new(),
        panels,
    };
    if let Err(error) = std::fs::write(&path, plot.to_svg()) {
        return call_error(format!("{}: cannot be written: {error}", path.display()));
    }
    say!("plotted in {}", path.display());
    OK
}
