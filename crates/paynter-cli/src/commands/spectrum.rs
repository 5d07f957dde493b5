//! `paynter spectrum`: amplitudes of the frequencies in columns of a result file.

use crate::commands::outputs::{Outputs, PICTURES, ending};
use crate::console::{OK, call_error};
use crate::say;
use clap::{Args, ValueEnum};
use paynter::spectrum::{
    Window, spectra, spectra_plot, spectra_to_csv, spectra_to_json, spectra_to_text,
};
use paynter::table::Table;
use std::path::PathBuf;

/// Of what, and where to put it.
#[derive(Args)]
pub struct SpectrumArgs {
    /// Result file (.csv, .parquet, .json) with equally spaced samples
    #[arg(value_name = "RESULT")]
    file: PathBuf,
    /// Columns, comma-separated; default: all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    of: Vec<String>,
    /// How samples are weighted
    #[arg(long, value_enum, default_value = "hann")]
    window: WindowName,
    /// From this time on, s
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    from: Option<f64>,
    /// Up to this time, s
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    to: Option<f64>,
    /// Write the lines here (.csv, .json)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the amplitudes here (.svg, .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// How samples are weighted.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum WindowName {
    /// All samples alike: exact for whole periods
    Rectangular,
    /// The usual choice
    Hann,
    /// Narrow, with higher side lobes
    Hamming,
    /// Low side lobes
    Blackman,
    /// Accurate amplitudes between the lines
    FlatTop,
}

/// Prints the largest peaks.
pub fn spectrum(args: &SpectrumArgs) -> u8 {
    let window = match args.window {
        WindowName::Rectangular => Window::Rectangular,
        WindowName::Hann => Window::Hann,
        WindowName::Hamming => Window::Hamming,
        WindowName::Blackman => Window::Blackman,
        WindowName::FlatTop => Window::FlatTop,
    };

    let outputs = Outputs::beside([args.file.as_path()]);
    let checked = [(&args.out, &["csv", "json"][..]), (&args.plot, PICTURES)];
    for (path, endings) in checked {
        if let Some(Err(message)) = path.as_ref().map(|path| outputs.check(path, endings)) {
            return call_error(message);
        }
    }

    let table = match Table::read(&args.file) {
        Ok(table) => table,
        Err(error) => return call_error(error),
    };
    let found = match spectra(&table, &args.of, window, (args.from, args.to)) {
        Ok(found) => found,
        Err(message) => return call_error(message),
    };

    if let Some(path) = &args.out {
        let text = match ending(path).as_str() {
            "csv" => spectra_to_csv(&found),
            _ => spectra_to_json(&found).to_string(),
        };
        if let Err(message) = outputs.write(path, text.as_bytes()) {
            return call_error(message);
        }
    }

    if let Some(path) = &args.plot
        && let Err(message) = outputs.write_svg(path, &spectra_plot(&found, "").to_svg())
    {
        return call_error(message);
    }

    match args.json {
        true => say!("{}", spectra_to_json(&found)),
        false => say!("{}", spectra_to_text(&found).trim_end()),
    }
    OK
}
