//! `paynter structure`: what the structure of a model tells.

use crate::ModelArgs;
use crate::commands::linear::LinearArgs;
use crate::commands::outputs::Outputs;
use crate::commands::smaller::{no_share, read_share, smaller};
use crate::console::{OK, call_error, refuse, show};
use crate::say;
use clap::Args;
use paynter::refused::Refused;
use paynter::syntax::Diagnostic;
use paynter::table::Table;
use paynter::{Design, LinearChoice};
use paynter_structure::text::{
    activity_json, activity_text, along_json, along_text, balances_json, balances_on_json,
    balances_on_text, balances_text, bicausal_json, bicausal_text, channels_json, channels_text,
    control_json, control_text, estimates_json, estimates_text, faults_json, faults_text, gains,
    inverse_json, inverse_text, loops_json, loops_text, partition_json, partition_text,
};
use paynter_structure::{
    Subject, activities, along, ask, balances, balances_on, bicausal, channels, control,
    draw_activities, draw_bicausal, draw_control, estimate, faults, inverse, loops, partition,
};
use std::path::PathBuf;

/// Of what, and which question; controllability and observability unless another is asked.
#[derive(Args)]
pub struct StructureArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Inputs, comma-separated: `input`s, signals, what sources set (`supply.e`)
    #[arg(long, value_name = "NAMES")]
    from: Option<String>,
    /// Outputs (sensors), comma-separated: anything that can be recorded
    #[arg(long, value_name = "NAMES")]
    to: Option<String>,
    /// For numbers: linearize at this time of the run, s; default: at its start
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    at: Option<f64>,
    /// Numerical ranks at this many instants of the run
    #[arg(long, value_name = "N", group = "question", value_parser = clap::value_parser!(u16).range(2..=1000))]
    along: Option<u16>,
    /// Relative degrees, zeros, decoupling and invertibility, with the gain of every causal path
    #[arg(long, group = "question")]
    channels: bool,
    /// Run the experiment: the energy that every element moved, the power that every bond carries
    #[arg(long, group = "question")]
    activity: bool,
    /// Propose a model that keeps this share of the activity, such as `99%`
    #[arg(long, value_name = "SHARE", group = "question")]
    reduce: Option<String>,
    /// Parts that drive others and hardly react: cut bonds that move less energy than this share of others at their junction
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "5%", group = "question")]
    partition: Option<String>,
    /// Faults of elements, inputs and sensors: which are shown, which can be told apart, by which residuals
    #[arg(long, group = "question")]
    faults: bool,
    /// With `--faults` compute the balances at the sensors, with `--estimate` sizes of elements, on this table of measured columns (.csv, .parquet, .json)
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Sizes of these elements from what the sensors measured, comma-separated; needs `--data`
    #[arg(long, value_name = "NAMES", group = "question", requires = "data")]
    estimate: Option<String>,
    /// Loops through dependent storages: the gain of every class-1 causal path as a formula, over all angles and along the run
    #[arg(long, group = "question")]
    loops: bool,
    /// Invert: the inputs that these curves of the outputs need, comma-separated, such as "sin(time)"
    #[arg(long, value_name = "CURVES", group = "question")]
    want: Option<String>,
    /// Bicausal strokes of the inverse: the lines from outputs to inputs, and the states that are left
    #[arg(long, group = "question")]
    bicausal: bool,
    /// Write the reduced model (.bond), the needed inputs, the balances, or effort and flow of estimated elements (.csv, .parquet, .json) here
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the answer on the diagram (.svg, .png): storages out of reach, activities, or bicausal bonds
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Answers.
pub fn structure(args: &StructureArgs) -> u8 {
    let linear = LinearArgs {
        model: args.model.clone(),
        from: args.from.clone(),
        to: args.to.clone(),
        at: args.at,
        open: false,
        quantiser_gain: None,
    };

    let asked = LinearChoice {
        want: args.want.clone(),
        ..LinearChoice::default()
    };
    let design = match linear.open_with(asked) {
        Ok((design, _)) => design,
        Err(status) => return status,
    };
    if args.data.is_some() && !args.faults && args.estimate.is_none() {
        return call_error("`--data` is read by `--faults` and `--estimate`".to_owned());
    }

    let answered = match (&args.reduce, &args.partition) {
        (Some(share), _) => {
            let written = ("--reduce", share.as_str());
            smaller(&args.model, &design, written, args.out.as_deref())
        }
        (_, Some(share)) => parts(args, &design, share),
        _ if args.want.is_some() => inversion(args, &design),
        _ if args.estimate.is_some() => estimation(args, &design),
        _ if args.channels => input_output(args, &design),
        _ if args.activity => activity(args, &design),
        _ if args.faults => signatures(args, &design),
        _ if args.loops => class_one(args, &design),
        _ if args.bicausal => two_way(args, &design),
        _ if args.along.is_some() => over_the_run(args, &design),
        _ => controllability(args, &design),
    };

    match answered {
        Ok(()) => OK,
        Err(why) => refuse(&design, why, args.model.json),
    }
}

fn controllability(args: &StructureArgs, design: &Design) -> Result<(), Refused> {
    let compiled = design.compile()?;
    let subject = Subject::new(design, ask(design, args.at))?;
    let found = control(&subject, &compiled)?;
    if let Some(path) = &args.svg {
        write_picture(design, path, &draw_control(design, &found))?;
    }
    if args.model.json {
        let mut answer = control_json(&found);
        answer["warnings"] = warnings_json(design, &found.warnings);
        say!("{answer}");
        return Ok(());
    }
    say!("{}", control_text(&found).trim_end());
    show(&design.failed(found.warnings), false);
    Ok(())
}

fn over_the_run(args: &StructureArgs, design: &Design) -> Result<(), Refused> {
    let compiled = design.compile()?;
    let found = along(design, &compiled, args.along.unwrap_or(2).into())?;
    match args.model.json {
        true => say!("{}", along_json(&found)),
        false => say!("{}", along_text(&found).trim_end()),
    }
    Ok(())
}

fn input_output(args: &StructureArgs, design: &Design) -> Result<(), Refused> {
    let compiled = design.compile()?;
    let subject = Subject::new(design, ask(design, args.at))?;
    let found = channels(&subject, &compiled)?;
    let (text, json) = gains(&subject);
    if args.model.json {
        let mut answer = channels_json(&found);
        answer["paths"] = json;
        say!("{answer}");
    } else {
        say!("{}\n{}", channels_text(&found), text.trim_end());
    }
    Ok(())
}

fn signatures(args: &StructureArgs, design: &Design) -> Result<(), Refused> {
    let subject = Subject::new(design, ask(design, args.at))?;
    if let Some(path) = &args.data {
        return on_data(args, &subject, path);
    }
    let found = faults(&subject)?;
    // Sensors that cannot be reversed have signatures all the same.
    let at_sensors = balances(&subject);
    if args.model.json {
        let mut answer = faults_json(&subject, &found);
        answer["balances"] =
            at_sensors.map_or_else(|_| Default::default(), |b| balances_json(&subject, &b));
        say!("{answer}");
        return Ok(());
    }
    say!("{}", faults_text(&subject, &found).trim_end());
    match at_sensors {
        Ok(list) => say!("{}", balances_text(&subject, &list).trim_end()),
        Err(messages) => {
            let why = messages
                .first()
                .map(|m| m.message.as_str())
                .unwrap_or_default();
            say!("no balances that run on data: {why}");
        }
    }
    Ok(())
}

/// Computes the balances at the sensors on measured data.
fn on_data(
    args: &StructureArgs,
    subject: &Subject<'_>,
    path: &std::path::Path,
) -> Result<(), Refused> {
    let outputs = Outputs::of(subject.design).and_keep(path);
    if let Some(path) = &args.out {
        outputs
            .check(path, &["csv", "parquet", "json"])
            .map_err(Refused::Call)?;
    }
    let data = Table::read(path).map_err(|e| Refused::Call(e.to_string()))?;
    let (table, found) = balances_on(subject, &data)?;
    if let Some(path) = &args.out {
        outputs.write_table(path, &table).map_err(Refused::Call)?;
    }
    match args.model.json {
        true => say!("{}", balances_on_json(&found)),
        false => say!("{}", balances_on_text(&found).trim_end()),
    }
    Ok(())
}

/// Estimates elements from measured data.
fn estimation(args: &StructureArgs, design: &Design) -> Result<(), Refused> {
    let Some(path) = &args.data else {
        return Err(Refused::Call("`--estimate` needs `--data FILE`".to_owned()));
    };
    let names = args.estimate.as_deref().unwrap_or_default().split(',');
    let names: Vec<String> = names.map(|name| name.trim().to_owned()).collect();
    let outputs = Outputs::of(design).and_keep(path);
    if let Some(path) = &args.out {
        outputs
            .check(path, &["csv", "parquet", "json"])
            .map_err(Refused::Call)?;
    }
    let data = Table::read(path).map_err(|e| Refused::Call(e.to_string()))?;
    let found = estimate(design, ask(design, args.at), &names, &data)?;
    if let Some(path) = &args.out {
        outputs
            .write_table(path, &found.table)
            .map_err(Refused::Call)?;
    }
    match args.model.json {
        true => say!("{}", estimates_json(&found)),
        false => say!("{}", estimates_text(&found).trim_end()),
    }
    Ok(())
}

fn activity(args: &StructureArgs, design: &Design) -> Result<(), Refused> {
    let found = activities(design)?;
    if let Some(path) = &args.svg {
        write_picture(design, path, &draw_activities(design, &found))?;
    }
    match args.model.json {
        true => say!("{}", activity_json(&found)),
        false => say!("{}", activity_text(&found).trim_end()),
    }
    Ok(())
}

fn class_one(args: &StructureArgs, design: &Design) -> Result<(), Refused> {
    let found = loops(design)?;
    match args.model.json {
        true => say!("{}", loops_json(&found)),
        false => say!("{}", loops_text(&found).trim_end()),
    }
    Ok(())
}

fn two_way(args: &StructureArgs, design: &Design) -> Result<(), Refused> {
    let subject = Subject::new(design, ask(design, args.at))?;
    let found = bicausal(&subject)?;
    if let Some(path) = &args.svg {
        write_picture(design, path, &draw_bicausal(&subject, &found))?;
    }
    match args.model.json {
        true => say!("{}", bicausal_json(&found)),
        false => say!("{}", bicausal_text(&found).trim_end()),
    }
    Ok(())
}

fn parts(args: &StructureArgs, design: &Design, share: &str) -> Result<(), Refused> {
    let limit = read_share(share).ok_or_else(|| no_share("--partition", share, "5% or 0.05"))?;
    let found = activities(design)?;
    let found = partition(design, &found, limit).map_err(Refused::Run)?;
    let Some(found) = found else {
        return Err(Refused::Call(format!(
            "the model cannot be partitioned: no bond between storages moves less than {share} of the energy of the others at its junction"
        )));
    };
    match args.model.json {
        true => say!("{}", partition_json(&found)),
        false => say!("{}", partition_text(&found).trim_end()),
    }
    Ok(())
}

fn inversion(args: &StructureArgs, design: &Design) -> Result<(), Refused> {
    let outputs = Outputs::of(design);
    if let Some(path) = &args.out {
        outputs
            .check(path, &["csv", "parquet", "json"])
            .map_err(Refused::Call)?;
    }
    let compiled = design.compile()?;
    let subject = Subject::new(design, ask(design, args.at))?;
    let found = inverse(&subject, &compiled, &design.linear.want)?;
    if let Some(path) = &args.svg {
        let turned = bicausal(&subject)?;
        write_picture(design, path, &draw_bicausal(&subject, &turned))?;
    }
    if let Some(path) = &args.out {
        outputs
            .write_table(path, &found.table)
            .map_err(Refused::Call)?;
    }
    if args.model.json {
        let mut answer = inverse_json(&found);
        answer["warnings"] = warnings_json(design, &found.warnings);
        say!("{answer}");
        return Ok(());
    }
    say!("{}", inverse_text(&found).trim_end());
    show(&design.failed(found.warnings), false);
    Ok(())
}

fn warnings_json(design: &Design, warnings: &[Diagnostic]) -> serde_json::Value {
    let warnings = paynter::diagnostics_json(warnings, &design.project.sources);
    serde_json::from_str(&warnings).unwrap_or_default()
}

/// Writes a picture of the answer; its ending is looked at first.
fn write_picture(design: &Design, path: &std::path::Path, svg: &str) -> Result<(), Refused> {
    let outputs = Outputs::of(design);
    outputs
        .check(path, &["svg", "png"])
        .and_then(|()| outputs.write_svg(path, svg))
        .map_err(Refused::Call)
}
