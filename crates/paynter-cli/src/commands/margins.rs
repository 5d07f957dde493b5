//! `paynter margins`: how far a loop is from losing stability.

use crate::commands::linear::{LinearArgs, warn};
use crate::commands::outputs::{Outputs, PICTURES};
use crate::console::{OK, call_error, refuse};
use crate::say;
use clap::Args;
use paynter::linear::{ChannelMargins, LoopReport, channel_margins, linearize, loop_margins};
use std::path::PathBuf;

/// Which loop.
#[derive(Args)]
pub struct MarginsArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// The signals at which loops are cut, one after the other, comma-separated
    #[arg(long, value_name = "NAMES")]
    cut: String,
    /// Draw gain and phase of the first loop here (.svg, .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Draw the first loop in the complex plane here (.svg, .png)
    #[arg(long, value_name = "FILE")]
    nyquist: Option<PathBuf>,
    /// Draw gain over phase of the first loop here (.svg, .png)
    #[arg(long, value_name = "FILE")]
    nichols: Option<PathBuf>,
}

/// Prints the margins of each loop, and, where `--from` and `--to` are given, what a toolbox's
/// `margin()` gives for that closed-loop channel.
pub fn margins(args: &MarginsArgs) -> u8 {
    let json = args.linear.model.json;
    let (design, ask) = match args.linear.open(Some(&args.cut)) {
        Ok(opened) => opened,
        Err(status) => return status,
    };
    if design.linear.cut.is_empty() {
        return call_error("name the signal at which the loop is cut, such as `--cut ctrl.u`");
    }

    let outputs = Outputs::of(&design);
    for path in [&args.plot, &args.nyquist, &args.nichols]
        .into_iter()
        .flatten()
    {
        if let Err(message) = outputs.check(path, PICTURES) {
            return call_error(message);
        }
    }

    let compiled = match design.compile() {
        Ok(compiled) => compiled,
        Err(messages) => return refuse(&design, messages, json),
    };

    let mut loops = Vec::new();
    for cut in &design.linear.cut {
        match loop_margins(&design, &compiled, cut, args.linear.at) {
            Ok(report) => loops.push(report),
            Err(error) => return refuse(&design, error, json),
        }
    }

    let mut channels = Vec::new();
    if args.linear.from.is_some() || args.linear.to.is_some() {
        let found = linearize(&design, &compiled, &ask).and_then(|l| channel_margins(&design, &l));
        match found {
            Ok(found) => channels = found,
            Err(error) => return refuse(&design, error, json),
        }
    }

    if let Some(first) = loops.first() {
        let title = design.plan.name.as_ref().unwrap_or(&design.model);
        if let Err(message) = write_pictures(args, &outputs, title, first) {
            return call_error(message);
        }
    }

    if json {
        say!("{}", margins_json(&loops, &channels));
        return OK;
    }

    let mut parts: Vec<String> = loops.iter().map(|l| l.to_text()).collect();
    parts.extend(channels.iter().map(|c| c.to_text()));
    say!("{}", parts.join("\n").trim_end());
    if let Some(first) = loops.first() {
        warn(&design, &first.linear, json);
    }
    OK
}

fn margins_json(loops: &[LoopReport], channels: &[ChannelMargins]) -> serde_json::Value {
    serde_json::json!({
        "loops": loops.iter().map(|l| l.to_json()).collect::<Vec<_>>(),
        "closed_loop_channels": channels.iter().map(|c| c.to_json()).collect::<Vec<_>>(),
    })
}

/// Draws the loop as asked.
fn write_pictures(
    args: &MarginsArgs,
    outputs: &Outputs,
    title: &str,
    first: &LoopReport,
) -> Result<(), String> {
    let pictures = [
        (&args.plot, first.plot(title)),
        (&args.nyquist, first.nyquist(title)),
        (&args.nichols, first.nichols(title)),
    ];
    for (path, picture) in pictures {
        let Some(path) = path else {
            continue;
        };
        outputs.write_svg(path, &picture.to_svg())?;
    }
    Ok(())
}
