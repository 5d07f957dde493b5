//! `paynter equations`: the state equations in the model's own names.

use crate::console::{MODEL_WRONG, OK, design, show};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::listing;
use paynter::readable::readable;

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
    /// Plain text
    Text,
    /// LaTeX
    Latex,
    /// JSON
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
    /// T, V, D, forces, and the equations of Euler and Lagrange
    Lagrange,
    /// H, J, R, g, outputs and Casimirs
    Hamiltonian,
}

/// Prints the equations.
pub fn equations(args: &EquationsArgs) -> u8 {
    let design = match design(&args.model) {
        Ok(design) => design,
        Err(status) => return status,
    };
    let format = match (args.model.json, args.format) {
        (true, _) | (_, Format::Json) => listing::Format::Json,
        (_, Format::Latex) => listing::Format::Latex,
        (_, Format::Text) => listing::Format::Text,
    };

    if args.form == Form::Dae {
        say!(
            "{}",
            listing::dae(&design, &design.causality(), format).trim_end()
        );
        return OK;
    }

    let energies = match args.form {
        Form::Lagrange => Some(paynter::energies::lagrange(&design, format)),
        Form::Hamiltonian => Some(paynter::energies::hamiltonian(&design, format)),
        _ => None,
    };
    if let Some(listed) = energies {
        return match listed {
            Ok(text) => {
                say!("{}", text.trim_end());
                OK
            }
            Err(why) => {
                crate::tell!("error: {why}");
                MODEL_WRONG
            }
        };
    }

    let readable = match readable(&design) {
        Ok(readable) => readable,
        Err(messages) => {
            show(&design.failed(messages), args.model.json);
            return MODEL_WRONG;
        }
    };

    let text = match args.form {
        Form::Blocks => listing::blocks(&readable, format),
        Form::Matrix => match listing::matrices(&design, &readable, format) {
            Ok(text) => text,
            Err(why) => {
                crate::tell!("error: {why}");
                return MODEL_WRONG;
            }
        },
        Form::State | Form::Dae | Form::Lagrange | Form::Hamiltonian => {
            listing::state(&readable, format)
        }
    };

    say!("{}", text.trim_end());
    OK
}
