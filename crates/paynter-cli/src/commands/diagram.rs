//! `paynter diagram`: the bond graph as the textbook draws it.

use crate::console::{OK, call_error, design};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::draw::diagram::{
    BondLabels, DiagramOptions, Parts, Shown, diagram as draw, frames_svg, to_pdf,
};
use paynter::draw::{to_svg, to_tikz};
use std::path::PathBuf;

/// What to draw and where to put it.
#[derive(Args)]
pub struct DiagramArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Write here: .svg, .pdf, or .tex for TikZ; MODEL.svg unless given
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw submodels opened
    #[arg(long, conflicts_with = "closed")]
    open: bool,
    /// Draw submodels as boxes
    #[arg(long)]
    closed: bool,
    /// Number the bonds
    #[arg(long)]
    numbers: bool,
    /// Leave out the signals
    #[arg(long)]
    no_signals: bool,
    /// Draw the assignment of causality step by step
    #[arg(long)]
    frames: bool,
}

/// Draws; a model with conflicts is drawn too, with the conflict marked.
pub fn diagram(args: &DiagramArgs) -> u8 {
    let design = match design(&args.model) {
        Ok(design) => design,
        Err(status) => return status,
    };
    let causality = design.causality();
    let options = DiagramOptions {
        title: design.model.clone(),
        parts: match (args.open, args.closed) {
            (true, _) => Parts::Open,
            (_, true) => Parts::Closed,
            _ => Parts::Automatic,
        },
        signals: if args.no_signals {
            Shown::Never
        } else {
            Shown::WhenFew
        },
        bond_labels: if args.numbers {
            BondLabels::Numbers
        } else {
            BondLabels::Names
        },
    };
    let path = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.svg", design.model)));
    let ending = path
        .extension()
        .map(|e| e.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    let text = match (ending.as_str(), args.frames) {
        ("svg", true) => frames_svg(&design.graph, &causality, &options).into_bytes(),
        ("svg", false) => to_svg(&draw(&design.graph, Some(&causality), &options)).into_bytes(),
        ("tex", false) => to_tikz(&draw(&design.graph, Some(&causality), &options)).into_bytes(),
        ("pdf", false) => to_pdf(&draw(&design.graph, Some(&causality), &options)),
        ("tex" | "pdf", true) => return call_error("frames can only be written as .svg"),
        _ => {
            return call_error(format!(
                "unknown ending of {}; use .svg, .pdf or .tex",
                path.display()
            ));
        }
    };
    if let Err(error) = std::fs::write(&path, text) {
        return call_error(format!("{}: cannot be written: {error}", path.display()));
    }
    say!("drawn in {}", path.display());
    OK
}
