//! `paynter export c|fmu FILE`: the model for other simulators.

use crate::commands::outputs::Outputs;
use crate::console::{MODEL_WRONG, OK, call_error, choice, open, show, wants_colour};
use crate::{ModelArgs, say, tell};
use clap::Args;
use paynter::LinearChoice;
use paynter_export::{Export, c, fmu};
use std::path::{Path, PathBuf};

/// What to write, and where.
#[derive(Args)]
pub struct ExportArgs {
    /// The format
    #[arg(value_enum)]
    format: Format,
    #[command(flatten)]
    model: ModelArgs,
    /// Where to write it; default: the name of the model, in the current folder
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// C: single precision
    #[arg(long)]
    float: bool,
    /// FMU: version of the standard
    #[arg(long, value_name = "2|3", default_value = "2", value_parser = clap::value_parser!(u8).range(2..=3))]
    fmi: u8,
    /// FMU: sources only, even where a C compiler is found
    #[arg(long)]
    sources_only: bool,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// One .c and one .h, C99 with no library but math.h
    C,
    /// A functional mock-up unit: Model Exchange and Co-Simulation in one file
    Fmu,
}

/// Writes the files.
pub fn export(args: &ExportArgs) -> u8 {
    if args.float && args.format == Format::Fmu {
        return call_error("an FMU is always in double precision; leave out --float");
    }
    let mut choice = match choice(&args.model) {
        Ok(choice) => choice,
        Err(message) => return call_error(message),
    };

    // Units of all quantities are wanted.
    choice.linear = Some(LinearChoice::default());
    let design = match open(&args.model, &choice) {
        Ok(design) => design,
        Err(status) => return status,
    };
    let ending = match args.format {
        Format::C => "c",
        Format::Fmu => "fmu",
    };
    let outputs = Outputs::of(&design);
    let path = args.out.clone();
    let path =
        path.unwrap_or_else(|| PathBuf::from(format!("{}.{ending}", design.model.to_lowercase())));
    let all = [path.clone(), path.with_extension("h")];

    for path in &all[..if args.format == Format::C { 2 } else { 1 }] {
        let checked = match args.out {
            Some(_) => outputs.check(path, &[ending, "h"]),
            None => outputs.check_unasked(path, "--out"),
        };
        if let Err(message) = checked {
            return call_error(message);
        }
    }

    let made = match args.format {
        Format::C => paynter_export::export(&design),
        Format::Fmu => paynter_export::export_audited(&design, &choice),
    };
    let export = match made {
        Ok(export) => export,
        Err(messages) => {
            show(&design.failed(messages), args.model.json);
            return MODEL_WRONG;
        }
    };

    if !args.model.json && !export.warnings.is_empty() {
        let sources = &design.project.sources;
        eprint!(
            "{}",
            paynter::syntax::render(&export.warnings, sources, wants_colour())
        );
    }

    let written = match args.format {
        Format::C => write_c(args, &export, &outputs, &path),
        Format::Fmu => write_fmu(args, &export, &outputs, &path),
    };

    match written {
        Ok(()) => OK,
        Err(message) => call_error(message),
    }
}

fn write_c(
    args: &ExportArgs,
    export: &Export,
    outputs: &Outputs,
    path: &Path,
) -> Result<(), String> {
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let options = c::Options {
        is_float: args.float,
        prefix: stem,
    };
    let files = c::write(export, &options);
    // The source names the header by what all its names begin with.
    let header = path.with_file_name(format!("{}.h", files.prefix));
    outputs.write(path, files.source.as_bytes())?;
    outputs.write(&header, files.header.as_bytes())?;
    tell(args, &[path, &header]);
    Ok(())
}

fn write_fmu(
    args: &ExportArgs,
    export: &Export,
    outputs: &Outputs,
    path: &Path,
) -> Result<(), String> {
    let options = fmu::Options {
        version: match args.fmi {
            2 => fmu::Version::Two,
            _ => fmu::Version::Three,
        },
        is_sources_only: args.sources_only,
    };
    let fmu = fmu::write(export, &options)?;
    outputs.write(path, &fmu.bytes)?;
    if let Some(reason) = &fmu.no_binary
        && !args.sources_only
    {
        tell!(
            "warning: {} has sources and no binary: {reason}",
            path.display()
        );
    }
    tell(args, &[path]);
    Ok(())
}

fn tell(args: &ExportArgs, paths: &[&Path]) {
    if args.model.json {
        let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
        say!("{}", serde_json::json!({ "written": names }));
        return;
    }
    for path in paths {
        tell!("written to {}", path.display());
    }
}
