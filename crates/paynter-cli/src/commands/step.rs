//! `paynter step`: step responses of the linear model.

use crate::commands::linear::{LinearArgs, needs_channel};
use crate::commands::outputs::{Outputs, PICTURES};
use crate::console::{OK, call_error, refuse};
use crate::say;
use clap::Args;
use std::path::PathBuf;

/// Which responses, and where to put them.
#[derive(Args)]
pub struct StepArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// Duration, s; by default until the slowest visible mode has decayed
    #[arg(long = "for", value_name = "SECONDS", allow_negative_numbers = true)]
    horizon: Option<f64>,
    /// Write the curves here (.csv, .parquet, .json)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the curves here (.svg, .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Computes and writes the responses.
pub fn step(args: &StepArgs) -> u8 {
    let json = args.linear.model.json;
    if args.horizon.is_some_and(|t| !(t > 0.0 && t.is_finite())) {
        return call_error("`--for` takes a positive time in seconds");
    }

    let (design, linear) = match args.linear.linearize() {
        Ok(done) => done,
        Err(status) => return status,
    };
    if let Err(status) = needs_channel(&linear) {
        return status;
    }

    let outputs = Outputs::of(&design);
    let checked = [
        args.out.as_ref().map(|path| outputs.check_table(path)),
        args.plot.as_ref().map(|path| outputs.check(path, PICTURES)),
    ];
    if let Err(message) = checked.into_iter().flatten().collect::<Result<Vec<_>, _>>() {
        return call_error(message);
    }

    let steps = match paynter::linear::steps(&design, &linear, args.horizon) {
        Ok(steps) => steps,
        Err(error) => return refuse(&design, error, json),
    };
    if let Some(path) = &args.out
        && let Err(error) = outputs.write_table(path, &steps.table())
    {
        return call_error(error);
    }

    if let Some(path) = &args.plot {
        let title = design.plan.name.as_ref().unwrap_or(&design.model);
        if let Err(message) = outputs.write_svg(path, &steps.plot(title).to_svg()) {
            return call_error(message);
        }
    }

    if json {
        say!("{}", steps.to_json(&linear));
    } else {
        say!("{}", steps.to_text(&linear).trim_end());
    }
    OK
}
