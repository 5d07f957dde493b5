//! `paynter plot`: curves of result files.

use crate::commands::outputs::{Outputs, PICTURES, ending};
use crate::commands::picture::Paper;
use crate::console::{OK, call_error};
use crate::say;
use clap::Args;
use paynter::draw::Plot;
use paynter::figure::{FigureChoice, figure};
use paynter::table::Table;
use std::path::{Path, PathBuf};

/// What to plot and where to put it.
#[derive(Args)]
pub struct PlotArgs {
    /// Result files (.csv, .parquet, .json), then columns.
    ///
    /// Further files are drawn dashed, for comparison. Columns separated by commas share axes, a unit
    /// in brackets is the unit of the axis: `plot r.csv "theta[deg],command[deg]" current`.
    /// Without columns all are plotted, those of a unit together.
    #[arg(required = true, value_name = "RESULT|COLUMNS")]
    what: Vec<String>,
    /// Columns to plot, each with an axis of its own
    #[arg(long, short, value_name = "NAME", value_delimiter = ',')]
    columns: Vec<String>,
    /// Column on the horizontal axis instead of time: a phase plot
    #[arg(long, value_name = "NAME")]
    versus: Option<String>,
    /// Title above the plot
    #[arg(long, value_name = "TEXT", default_value = "")]
    title: String,
    /// Colour theme of the picture
    #[arg(long, value_name = "THEME", value_enum, default_value_t)]
    theme: Paper,
    /// Write here (.svg, .png); default RESULT.svg
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Plots.
pub fn plot(args: &PlotArgs) -> u8 {
    let is_file = |word: &&String| {
        let path = Path::new(word);
        matches!(ending(path).as_str(), "csv" | "parquet" | "json") || path.is_file()
    };
    let (files, groups): (Vec<&String>, Vec<&String>) = args.what.iter().partition(is_file);
    let mut tables = Vec::new();
    for file in &files {
        match Table::read(Path::new(file)) {
            Ok(table) => tables.push((legend_name(file, &files), table)),
            Err(error) => return call_error(error),
        }
    }

    let choice = FigureChoice {
        groups: groups.into_iter().chain(&args.columns).cloned().collect(),
        versus: args.versus.clone(),
    };
    let figure = match figure(&tables, &choice) {
        Ok(figure) => figure,
        Err(message) => return call_error(message),
    };
    for note in &figure.notes {
        crate::tell!("note: {note}");
    }

    let plot = Plot {
        title: args.title.clone(),
        panels: figure.panels,
    };
    let outputs = Outputs::beside(files.iter().map(|file| Path::new(file.as_str())));
    let path = match &args.out {
        Some(path) => path.clone(),
        None => Path::new(files[0]).with_extension("svg"),
    };
    let checked = match &args.out {
        Some(path) => outputs.check(path, PICTURES),
        None => outputs.check_unasked(&path, "-o"),
    };
    let written = checked.and_then(|()| {
        let svg = args.theme.of(&plot.to_svg());
        outputs.write_svg(&path, &svg)
    });
    if let Err(message) = written {
        return call_error(message);
    }

    say!("plotted in {}", path.display());
    OK
}

/// The file's name without folder and ending, where that tells it from the others.
fn legend_name(file: &str, all: &[&String]) -> String {
    let stem = |f: &str| {
        Path::new(f)
            .file_stem()
            .map(|s| s.to_string_lossy().into_owned())
    };
    let own = stem(file);
    let n_same = all.iter().filter(|f| stem(f) == own).count();
    own.filter(|_| n_same == 1)
        .unwrap_or_else(|| file.to_owned())
}
