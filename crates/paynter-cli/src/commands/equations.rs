//! `paynter equations`: the state equations in the model's own names.

use crate::console::{MODEL_WRONG, OK, design, show};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::Design;
use paynter::symbolic::present::{Options, plain_name, present};
use paynter::symbolic::{Reduced, SymbolId};

/// Which equations and how.
#[derive(Args)]
pub struct EquationsArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Which form
    #[arg(long, value_enum, default_value = "state")]
    form: Form,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// For reading
    Text,
    /// For papers
    Latex,
    /// For machines
    Json,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Form {
    /// State equations, everything else eliminated or named
    State,
    /// All equations as the elements give them
    Dae,
    /// Blocks in the order in which they are solved
    Blocks,
    /// A, B, C, D of a linear model, in its states and in efforts and flows
    Matrix,
}

/// Prints the equations.
pub fn equations(args: &EquationsArgs) -> u8 {
    let design = match design(&args.model) {
        Ok(design) => design,
        Err(status) => return status,
    };
    let format = if args.model.json {
        Format::Json
    } else {
        args.format
    };
    let causality = design.causality();
    let text = match args.form {
        Form::Dae => paynter::listing::dae(&design, &causality, format == Format::Latex),
        Form::State | Form::Blocks | Form::Matrix => {
            let reduced = match design.reduce(&causality) {
                Ok(reduced) => reduced,
                Err(messages) => {
                    show(&design.failed(messages), args.model.json);
                    return MODEL_WRONG;
                }
            };
            match args.form {
                Form::Blocks => paynter::listing::blocks(&reduced),
                Form::Matrix => {
                    match paynter::listing::matrices(&design, &reduced, format == Format::Latex) {
                        Ok(text) => text,
                        Err(why) => {
                            eprintln!("error: {why}");
                            return MODEL_WRONG;
                        }
                    }
                }
                _ => state_form(&design, &reduced, format),
            }
        }
    };
    say!("{}", text.trim_end());
    OK
}

fn state_form(design: &Design, reduced: &Reduced, format: Format) -> String {
    let outputs: Vec<SymbolId> = design
        .graph
        .outputs
        .iter()
        .filter_map(|o| reduced.dae.pool.as_symbol(o.value))
        .collect();
    let name = |s: SymbolId| plain_name(reduced, s);
    let presentation = present(
        reduced,
        &Options {
            name: Some(&name),
            outputs: &outputs,
        },
    );
    match format {
        Format::Text => presentation.to_text(&name),
        Format::Latex => presentation.to_latex(&name),
        Format::Json => presentation.to_json(&name),
    }
}
