//! `paynter causality`: everything the graph knows before an equation exists.

use crate::console::{MODEL_WRONG, OK, call_error, design, show};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::compile::Strokes;
use paynter::model::causality::{alternatives, causality_diagnostics, report, steps, why};

/// What to show.
#[derive(Args)]
pub struct CausalityArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Say why the bonds of this element, or this named bond, have their strokes
    #[arg(long, value_name = "NAME")]
    why: Option<String>,
    /// Show the assignment step by step
    #[arg(long)]
    steps: bool,
    /// Show other assignments with as few dependent storages (at most this many)
    #[arg(long, num_args = 0..=1, default_missing_value = "10", require_equals = true, value_name = "N")]
    alternatives: Option<usize>,
}

/// Assigns and reports; a conflict is an error of the model.
pub fn causality(args: &CausalityArgs) -> u8 {
    let design = match design(&args.model) {
        Ok(design) => design,
        Err(status) => return status,
    };
    let Strokes {
        graph,
        causality,
        solved,
    } = &design.strokes();

    if args.model.json {
        say!("{}", report::to_json(graph, causality, solved));
    } else if let Some(name) = &args.why {
        let bonds = design.bonds_called(name);
        if bonds.is_empty() {
            return call_error(format!("there is no element or bond called `{name}`"));
        }
        for bond in bonds {
            say!("{}", report::stroke_text(graph, causality, bond));
            for line in why(graph, causality, bond) {
                say!("  {line}");
            }
        }
    } else if args.steps {
        for (number, step) in steps(graph, causality).iter().enumerate() {
            say!("{:>3}. {}", number + 1, step.decision);
            for line in &step.follows {
                say!("       {line}");
            }
        }
    } else if let Some(limit) = args.alternatives {
        say!(
            "{}",
            report::alternatives_to_text(graph, &alternatives(graph, limit)).trim_end()
        );
    } else {
        say!("{}", report::to_text(graph, causality, solved).trim_end());
    }

    let messages = causality_diagnostics(graph, causality, solved);
    let is_wrong = messages.iter().any(|m| m.is_error());
    if !args.model.json {
        show(&design.failed(messages), false);
    }
    if is_wrong { MODEL_WRONG } else { OK }
}
