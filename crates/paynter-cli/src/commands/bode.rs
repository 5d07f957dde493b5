//! `paynter bode`: frequency responses.

use crate::commands::linear::{LinearArgs, needs_channel};
use crate::commands::outputs::{Outputs, PICTURES, ending};
use crate::console::{OK, call_error, refuse};
use crate::say;
use clap::Args;
use paynter::linear::{Bode, Linearization};
use std::path::PathBuf;

/// Which responses, and where to put them.
#[derive(Args)]
pub struct BodeArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// Experiments to compare with this one, comma-separated
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    also: Vec<String>,
    /// From this frequency, rad/s
    #[arg(
        long,
        value_name = "OMEGA",
        allow_negative_numbers = true,
        requires = "high"
    )]
    low: Option<f64>,
    /// To this frequency, rad/s
    #[arg(
        long,
        value_name = "OMEGA",
        allow_negative_numbers = true,
        requires = "low"
    )]
    high: Option<f64>,
    /// Write the curves here (.csv, .json)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw gain and phase here (.svg, .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Computes and writes the responses.
pub fn bode(args: &BodeArgs) -> u8 {
    let json = args.linear.model.json;
    let range = args.low.zip(args.high);
    if let Some((low, high)) = range
        && !(low > 0.0 && high > low && high.is_finite())
    {
        return call_error("frequencies must be positive, and `--low` below `--high`");
    }

    let (design, linear) = match args.linear.linearize() {
        Ok(done) => done,
        Err(status) => return status,
    };
    if let Err(status) = needs_channel(&linear) {
        return status;
    }

    let outputs = Outputs::of(&design);
    let checked = [(&args.out, &["csv", "json"][..]), (&args.plot, PICTURES)];
    for (path, endings) in checked {
        if let Some(Err(message)) = path.as_ref().map(|path| outputs.check(path, endings)) {
            return call_error(message);
        }
    }

    let mut bode = match paynter::linear::bode(&design, &linear, range) {
        Ok(bode) => bode,
        Err(error) => return refuse(&design, error, json),
    };
    if !args.also.is_empty() {
        let own = design
            .plan
            .name
            .clone()
            .unwrap_or_else(|| design.model.clone());
        bode.call_after(&own);
    }

    for name in &args.also {
        let mut other = args.linear.clone();
        other.model.experiment = Some(name.clone());
        let (design, linear) = match other.linearize() {
            Ok(done) => done,
            Err(status) => return status,
        };
        let mut found = match paynter::linear::bode(&design, &linear, range) {
            Ok(found) => found,
            Err(error) => return refuse(&design, error, json),
        };
        found.call_after(name);
        bode.channels.extend(found.channels);
    }

    let title = design.plan.name.as_ref().unwrap_or(&design.model);
    if let Err(message) = write_files(args, &outputs, (&bode, &linear), title) {
        return call_error(message);
    }

    if json {
        say!("{}", bode.to_json(&linear));
    } else {
        say!("{}", bode.to_text(&linear).trim_end());
    }
    OK
}

/// Writes numbers and picture as asked.
fn write_files(
    args: &BodeArgs,
    outputs: &Outputs,
    (bode, linear): (&Bode, &Linearization),
    title: &str,
) -> Result<(), String> {
    if let Some(path) = &args.out {
        let text = match ending(path).as_str() {
            "csv" => bode.to_csv(),
            _ => bode.to_json(linear).to_string(),
        };
        outputs.write(path, text.as_bytes())?;
    }
    if let Some(path) = &args.plot {
        outputs.write_svg(path, &bode.plot(title).to_svg())?;
    }
    Ok(())
}
