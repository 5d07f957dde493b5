//! `paynter structure`: what the structure of a model tells.

use crate::ModelArgs;
use crate::commands::linear::LinearArgs;
use crate::console::{MODEL_WRONG, OK, show};
use crate::say;
use clap::Args;
use paynter::Design;
use paynter::syntax::Diagnostic;
use paynter_structure::text::{control_json, control_text};
use paynter_structure::{Subject, ask, control};

/// Of what, and which question.
#[derive(Args)]
pub struct StructureArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Inputs, with commas between: `input`s, signals, what sources set (`supply.e`)
    #[arg(long, value_name = "NAMES")]
    from: Option<String>,
    /// Outputs (sensors), with commas between: anything that can be recorded
    #[arg(long, value_name = "NAMES")]
    to: Option<String>,
    /// For numbers: linearize where the run of the experiment is at this time, s; else at its start
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    at: Option<f64>,
}

/// Answers.
pub fn structure(args: &StructureArgs) -> u8 {
    let linear = LinearArgs {
        model: args.model.clone(),
        from: args.from.clone(),
        to: args.to.clone(),
        at: args.at,
        open: false,
    };
    let design = match linear.open(None) {
        Ok((design, _)) => design,
        Err(status) => return status,
    };
    let answered = controllability(args, &design);
    match answered {
        Ok(()) => OK,
        Err(messages) => {
            show(&design.failed(messages), args.model.json);
            MODEL_WRONG
        }
    }
}

fn controllability(args: &StructureArgs, design: &Design) -> Result<(), Vec<Diagnostic>> {
    let compiled = design.compile()?;
    let subject = Subject::new(design, ask(design, args.at))?;
    let found = control(&subject, &compiled)?;
    if args.model.json {
        let mut answer = control_json(&found);
        let warnings = paynter::diagnostics_json(&found.warnings, &design.project.sources);
        answer["warnings"] = serde_json::from_str(&warnings).unwrap_or_default();
        say!("{answer}");
        return Ok(());
    }
    say!("{}", control_text(&found).trim_end());
    show(&design.failed(found.warnings), false);
    Ok(())
}
