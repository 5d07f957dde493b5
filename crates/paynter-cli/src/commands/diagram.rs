//! `paynter diagram`: the bond graph as the textbook draws it.

use crate::commands::outputs::{Outputs, ending};
use crate::commands::picture::Paper;
use crate::console::{MODEL_WRONG, OK, call_error, choice, design, refuse, show};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::draw::diagram::{
    BondLabels, DiagramOptions, Parts, PowerFlow, Shown, diagram as draw, frames_svg, to_pdf,
};
use paynter::draw::{to_svg, to_tikz};
use paynter::exec::Engine;
use paynter::loader::DiskLoader;
use paynter::overlay::Overlay;
use paynter::power::{powers_of_run, powers_of_table, read_when};
use paynter::table::Table;
use paynter::{Design, DesignError, design_in};
use paynter_rewrite::{Wish, scalarize};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// What to draw and where to put it.
#[derive(Args)]
pub struct DiagramArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Write here: .svg, .png, .pdf, or .tex for TikZ; default MODEL.svg
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the inside of submodels
    #[arg(long, conflicts_with = "closed")]
    open: bool,
    /// Draw submodels as boxes
    #[arg(long)]
    closed: bool,
    /// Draw vector bonds as scalar ones
    #[arg(long)]
    scalar: bool,
    /// Number the bonds
    #[arg(long)]
    numbers: bool,
    /// Leave out the signals
    #[arg(long)]
    no_signals: bool,
    /// Draw the assignment of causality step by step
    #[arg(long, conflicts_with = "power")]
    frames: bool,
    /// Colour theme of .svg and .png
    #[arg(long, value_name = "THEME", value_enum, default_value_t)]
    theme: Paper,
    /// Show how much power flows where: `--power` runs the experiment and takes means,
    /// `--power=0.1` or `--power="20 [ms]"` takes an instant
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "mean")]
    power: Option<String>,
    /// Take the power from the columns of this result instead of running
    #[arg(long, value_name = "FILE", requires = "power")]
    result: Option<PathBuf>,
}

/// The model written in scalar bonds, as `paynter scalarize` does.
fn scalar_design(args: &DiagramArgs) -> Result<Design, u8> {
    let choice = choice(&args.model).map_err(call_error)?;
    let path = args.model.file.display().to_string();
    let wish = Wish {
        model: args.model.model.clone(),
        experiment: args.model.experiment.clone(),
    };
    let explain = |e: DesignError| match e {
        DesignError::Unreadable(message) => call_error(message),
        DesignError::Model(failed) => {
            show(&failed, args.model.json);
            MODEL_WRONG
        }
    };
    let written = scalarize(&mut DiskLoader::default(), &path, &wish).map_err(explain)?;
    if let Some(failed) = written.failed() {
        return Err(explain(DesignError::Model(failed)));
    }
    let mut world = Overlay::new(DiskLoader::default());
    world.set(&path, written.text);
    design_in(&mut world, &path, &choice).map_err(explain)
}

/// Draws; a model with conflicts is drawn too, with the conflict marked.
pub fn diagram(args: &DiagramArgs) -> u8 {
    let found = match args.scalar {
        true => scalar_design(args),
        false => design(&args.model),
    };
    let design = match found {
        Ok(design) => design,
        Err(status) => return status,
    };

    let mut outputs = Outputs::of(&design);
    if let Some(result) = &args.result {
        outputs = outputs.and_keep(result);
    }

    let path = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.svg", design.model)));
    let checked = match &args.out {
        Some(path) => outputs.check(path, &["svg", "png", "pdf", "tex"]),
        None => outputs.check_unasked(&path, "-o"),
    };
    if let Err(message) = checked {
        return call_error(message);
    }

    let causality = design.causality();
    let power = match power_flow(args, &design) {
        Ok(power) => power,
        Err(status) => return status,
    };
    let options = DiagramOptions {
        power,
        title: design.model.clone(),
        ..args.options()
    };

    let drawn = || draw(&design.graph, Some(&causality), &options);
    let written = match (ending(&path).as_str(), args.frames) {
        ("svg" | "png", true) => {
            let frames = frames_svg(&design.graph, &causality, &options);
            outputs.write_svg(&path, &args.theme.of(&frames))
        }
        ("tex", false) => outputs.write(&path, to_tikz(&drawn()).as_bytes()),
        ("pdf", false) => outputs.write(&path, &to_pdf(&drawn())),
        ("tex" | "pdf", true) => return call_error("frames can only be written as .svg or .png"),
        _ => outputs.write_svg(&path, &args.theme.of(&to_svg(&drawn()))),
    };

    if let Err(message) = written {
        return call_error(message);
    }
    if args.model.json {
        say!("{}", drawn_json(&design, &path));
    } else {
        say!("drawn in {}", path.display());
    }
    OK
}

impl DiagramArgs {
    /// What is shown, and how.
    fn options(&self) -> DiagramOptions {
        DiagramOptions {
            parts: match (self.open, self.closed) {
                (true, _) => Parts::Open,
                (_, true) => Parts::Closed,
                _ => Parts::Automatic,
            },
            signals: if self.no_signals {
                Shown::Never
            } else {
                Shown::WhenFew
            },
            bond_labels: if self.numbers {
                BondLabels::Numbers
            } else {
                BondLabels::Names
            },
            ..DiagramOptions::default()
        }
    }
}

/// What was drawn, as JSON: elements by number, and the bonds between them.
fn drawn_json(design: &Design, path: &Path) -> serde_json::Value {
    let graph = &design.graph;
    let name = |path| graph.signals.names.display(path);
    let elements = graph.elements.iter().map(|element| {
        serde_json::json!({ "name": element.name.map(name), "kind": element.kind.letters() })
    });
    let bonds = graph.bonds.iter().map(|bond| {
        serde_json::json!({
            "name": bond.name.map(name),
            "from": bond.tail.element.0,
            "to": bond.head.element.0,
        })
    });
    serde_json::json!({
        "file": path.display().to_string(),
        "model": design.model,
        "elements": elements.collect::<Vec<_>>(),
        "bonds": bonds.collect::<Vec<_>>(),
    })
}

/// The powers that the drawing shows, if any.
fn power_flow(args: &DiagramArgs, design: &Design) -> Result<Option<PowerFlow>, u8> {
    let Some(text) = &args.power else {
        return Ok(None);
    };
    let when = read_when(text).map_err(call_error)?;
    let found = match &args.result {
        Some(path) => {
            let table = Table::read(path).map_err(call_error)?;
            powers_of_table(design, &table, when)
        }
        None => powers_of_run(design, when, Engine::Auto, &mut |_| {
            ControlFlow::Continue(())
        }),
    };
    let found = found.map_err(|why| refuse(design, why, args.model.json))?;
    Ok(Some(found))
}
