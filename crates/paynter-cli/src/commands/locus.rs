//! `paynter locus` and `paynter tf`: root loci and transfer functions.

use crate::commands::linear::{LinearArgs, needs_channel, warn};
use crate::commands::outputs::{Outputs, PICTURES};
use crate::console::{OK, call_error, refuse};
use crate::say;
use clap::Args;
use paynter::linear::{LinearError, transfers, transfers_to_json, transfers_to_text};
use std::path::PathBuf;

/// Which loop, and how far.
#[derive(Args)]
pub struct LocusArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// The signal at which a factor is put on the gain of the loop
    #[arg(long, value_name = "NAME")]
    cut: String,
    /// The smallest factor
    #[arg(long, value_name = "FACTOR", default_value_t = 0.001)]
    low: f64,
    /// The largest factor
    #[arg(long, value_name = "FACTOR", default_value_t = 1000.0)]
    high: f64,
    /// Draw the paths of the poles here (.svg, .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Of which channels.
#[derive(Args)]
pub struct TfArgs {
    #[command(flatten)]
    linear: LinearArgs,
}

/// Prints where the stability of a loop changes with its gain.
pub fn locus(args: &LocusArgs) -> u8 {
    let json = args.linear.model.json;
    if !(args.low > 0.0 && args.high > args.low && args.high.is_finite()) {
        return call_error("factors must be positive, and `--low` below `--high`");
    }

    let (design, _) = match args.linear.open(Some(&args.cut)) {
        Ok(opened) => opened,
        Err(status) => return status,
    };
    let [cut] = &design.linear.cut[..] else {
        return call_error("name one signal at which the loop is cut, such as `--cut ctrl.u`");
    };
    let outputs = Outputs::of(&design);
    if let Some(path) = &args.plot
        && let Err(message) = outputs.check(path, PICTURES)
    {
        return call_error(message);
    }

    let found = design
        .compile()
        .map_err(LinearError::Model)
        .and_then(|compiled| {
            let range = (args.low, args.high);
            paynter::linear::locus(&design, &compiled, (cut, args.linear.at), range)
        });

    let report = match found {
        Ok(report) => report,
        Err(error) => return refuse(&design, error, json),
    };
    if let Some(path) = &args.plot {
        let title = design.plan.name.as_ref().unwrap_or(&design.model);
        if let Err(message) = outputs.write_svg(path, &report.plot(title).to_svg()) {
            return call_error(message);
        }
    }

    match json {
        true => say!("{}", report.to_json()),
        false => say!("{}", report.to_text().trim_end()),
    }

    warn(&design, &report.linear, json);
    OK
}

/// Prints transfer functions.
pub fn tf(args: &TfArgs) -> u8 {
    let json = args.linear.model.json;
    let (design, linear) = match args.linear.linearize() {
        Ok(done) => done,
        Err(status) => return status,
    };
    if let Err(status) = needs_channel(&linear) {
        return status;
    }
    let found = match transfers(&design, &linear) {
        Ok(found) => found,
        Err(error) => return refuse(&design, error, json),
    };
    match json {
        true => say!("{}", transfers_to_json(&linear, &found)),
        false => say!("{}", transfers_to_text(&linear, &found).trim_end()),
    }
    OK
}
