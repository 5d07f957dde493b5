//! `paynter sensitivity`: how recorded quantities follow parameters along a run.

use crate::ModelArgs;
use crate::commands::outputs::{Outputs, PICTURES};
use crate::console::{OK, call_error, choice, open, refuse};
use crate::say;
use clap::Args;
use paynter::linear::{
    LinearError, Sensitivities, Varying, default_parameters, linear_request, sensitivities,
    sensitivities_to_json, sensitivities_to_text,
};
use paynter::measure_slopes::{measure_slopes, measure_slopes_to_json, measure_slopes_to_text};
use paynter::syntax::Diagnostic;
use paynter::{Design, LinearChoice};
use std::path::PathBuf;

/// By what, of what, and where to put it.
#[derive(Args)]
pub struct SensitivityArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Parameters, comma-separated; default: all of the top model
    #[arg(long, value_name = "NAMES")]
    by: Option<String>,
    /// Quantities that follow, comma-separated; default: what is recorded
    #[arg(long, value_name = "NAMES")]
    of: Option<String>,
    /// Write values and derivatives over time here (.csv, .parquet, .json)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw what 1 % of each parameter does here (.svg, .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Computes and writes sensitivities.
pub fn sensitivity(args: &SensitivityArgs) -> u8 {
    let json = args.model.json;
    let mut choice = match choice(&args.model) {
        Ok(choice) => choice,
        Err(message) => return call_error(message),
    };
    choice.linear = Some(LinearChoice {
        from: args.by.clone(),
        to: args.of.clone(),
        ..LinearChoice::default()
    });
    let design = match open(&args.model, &choice) {
        Ok(design) => design,
        Err(status) => return status,
    };
    let over: Vec<Varying> = match &args.by {
        Some(_) => {
            let named = design.linear.from.iter();
            named.map(|q| Varying::of(&design, q)).collect()
        }
        None => default_parameters(&design),
    };

    let to = linear_request(&design, None, false).to;
    if over.is_empty() || to.is_empty() {
        return call_error("name parameters with `--by` and quantities with `--of`");
    }

    let outputs = Outputs::of(&design);
    let checked = [
        args.out.as_ref().map(|path| outputs.check_table(path)),
        args.plot.as_ref().map(|path| outputs.check(path, PICTURES)),
    ];
    if let Err(message) = checked.into_iter().flatten().collect::<Result<Vec<_>, _>>() {
        return call_error(message);
    }

    let found = design
        .compile()
        .map_err(LinearError::Model)
        .and_then(|compiled| sensitivities(&design, &compiled, (&over, &to)));
    let found = match found {
        Ok(found) => found,
        Err(error) => return refuse(&design, error, json),
    };
    if let Some(path) = &args.out
        && let Err(error) = outputs.write_table(path, &found.table())
    {
        return call_error(error);
    }

    if let Some(path) = &args.plot {
        let title = design.plan.name.as_ref().unwrap_or(&design.model);
        if let Err(message) = outputs.write_svg(path, &found.plot(title).to_svg()) {
            return call_error(message);
        }
    }

    match print(&design, &over, &found, json) {
        Ok(()) => OK,
        Err(messages) => refuse(&design, messages, json),
    }
}

/// Prints the sensitivities of what is recorded, then those of the measures.
fn print(
    design: &Design,
    over: &[Varying],
    found: &Sensitivities,
    is_json: bool,
) -> Result<(), Vec<Diagnostic>> {
    let measures = measure_slopes(design, over)?;
    if is_json {
        let mut all = sensitivities_to_json(found);
        all["measures"] = measure_slopes_to_json(&measures);
        say!("{all}");
    } else {
        let text = sensitivities_to_text(found) + &measure_slopes_to_text(&measures, over);
        say!("{}", text.trim_end());
    }
    Ok(())
}
