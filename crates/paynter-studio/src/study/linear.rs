//! Studies of the linear model: poles, frequency and step responses, margins.

use super::table::number;
use super::{Answer, Sheet, StudyAsk, words};
use paynter::Design;
use paynter::draw::plot::{Panel, Plot, Series};
use paynter::linear::{
    LinearError, Linearization, PoleTable, linear_request, linearize, loop_margins, poles_to_json,
};
use paynter::linear_algebra::Mode;
use serde_json::{Value, json};

/// States with at least this part in a mode are named.
const TAKES_PART: f64 = 0.1;
/// And no more of them than this.
const MOST_NAMED: usize = 4;

fn failed(error: LinearError) -> String {
    words(&error.into_messages())
}

fn model(design: &Design, ask: &StudyAsk) -> Result<Linearization, String> {
    if let Some(at) = ask.at
        && !(at.is_finite() && at >= design.plan.start)
    {
        return Err(format!(
            "{at} s is not a time of the run, which starts at {} s",
            design.plan.start
        ));
    }
    let compiled = design.compile().map_err(|m| words(&m))?;
    linearize(design, &compiled, &linear_request(design, ask.at, false)).map_err(failed)
}

fn needs_channel(linear: &Linearization) -> Result<(), String> {
    match (linear.inputs.is_empty(), linear.outputs.is_empty()) {
        (true, _) => Err("the model has no inputs and no sources; name one under From".to_owned()),
        (_, true) => Err("name an output under To".to_owned()),
        _ => Ok(()),
    }
}

/// Where the model was linearized, and what to know about it.
fn notes(linear: &Linearization) -> Vec<String> {
    let mut all = vec![paynter::linear::about_point(linear)];
    all.extend(paynter::linear::notes(linear));
    all.extend(
        linear
            .warnings
            .iter()
            .map(|w| format!("{}: {}", w.code, w.message)),
    );
    all
}

/// Poles and zeros.
pub fn poles(design: &Design, ask: &StudyAsk) -> Result<Answer, String> {
    let linear = model(design, ask)?;
    let table = paynter::linear::poles(design, &linear).map_err(failed)?;
    let mut sheet = Sheet::new(
        "Poles",
        &[
            "real [1/s]",
            "imaginary [1/s]",
            "damping",
            "frequency [rad/s]",
            "time constant [s]",
            "moves most",
        ],
    );

    for mode in table.modes.iter().filter(|m| m.pole.im >= 0.0) {
        sheet.rows.push(row_of(&linear, mode));
    }
    let zeros = zeros_sheet(&linear, &table);

    let facts = poles_to_json(&linear, &table);
    let pairs = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let all: Vec<Value> = pairs(&facts["poles"])
        .iter()
        .map(|p| p["pole"].clone())
        .collect();
    let all_zeros: Vec<Value> = pairs(&facts["zeros"])
        .iter()
        .flat_map(|z| pairs(&z["zeros"]))
        .collect();

    Ok(Answer {
        sheets: if zeros.rows.is_empty() {
            vec![sheet]
        } else {
            vec![sheet, zeros]
        },
        notes: notes(&linear),
        facts: json!({ "poles": all, "zeros": all_zeros }),
        ..Answer::default()
    })
}

/// A mode: its pole, damping, frequency, time constant, and the states that move in it.
fn row_of(linear: &Linearization, mode: &Mode) -> Vec<Value> {
    let mut parts: Vec<(&str, f64)> = linear
        .states
        .iter()
        .map(|s| s.name.as_str())
        .zip(mode.participation.iter().copied())
        .filter(|p| p.1 >= TAKES_PART)
        .collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let names: Vec<&str> = parts.iter().take(MOST_NAMED).map(|p| p.0).collect();
    let zero = mode.is_at_zero();
    vec![
        if zero {
            json!(0.0)
        } else {
            number(mode.pole.re)
        },
        if zero {
            json!(0.0)
        } else {
            number(mode.pole.im)
        },
        if zero {
            Value::Null
        } else {
            number(mode.damping())
        },
        if zero {
            json!(0.0)
        } else {
            number(mode.natural_frequency())
        },
        number(mode.time_constant()),
        json!(names.join(", ")),
    ]
}

fn zeros_sheet(linear: &Linearization, table: &PoleTable) -> Sheet {
    let mut zeros = Sheet::new("Zeros", &["from", "to", "zeros [1/s]"]);
    for (input, output, own) in &table.zeros {
        let list = match own {
            None => "nothing passes".to_owned(),
            Some(own) if own.is_empty() => "none".to_owned(),
            Some(own) => own
                .iter()
                .map(|z| complex(z.re, z.im))
                .collect::<Vec<_>>()
                .join(", "),
        };
        zeros.rows.push(vec![
            json!(linear.inputs[*input].name),
            json!(linear.outputs[*output].name),
            json!(list),
        ]);
    }
    zeros
}

fn complex(re: f64, im: f64) -> String {
    let digits = |x: f64| paynter::digits::significant(x, 5);
    match im == 0.0 {
        true => digits(re),
        false => format!(
            "{} {} {}j",
            digits(re),
            if im < 0.0 { "−" } else { "+" },
            digits(im.abs())
        ),
    }
}

/// Frequency responses.
pub fn bode(design: &Design, ask: &StudyAsk) -> Result<Answer, String> {
    let linear = model(design, ask)?;
    needs_channel(&linear)?;
    let found = paynter::linear::bode(design, &linear, None).map_err(failed)?;
    let mut sheet = Sheet::new(
        "Responses",
        &[
            "channel",
            "gain at rest [dB]",
            "largest gain [dB]",
            "there [rad/s]",
            "bandwidth [rad/s]",
            "unit",
        ],
    );
    let decibel = |g: f64| number(20.0 * g.abs().log10());
    for c in &found.channels {
        sheet.rows.push(vec![
            json!(c.name),
            c.at_rest.map_or(Value::Null, decibel),
            c.peak.map_or(Value::Null, |p| decibel(p.1)),
            c.peak.map_or(Value::Null, |p| number(p.0)),
            c.bandwidth.map_or(Value::Null, number),
            json!(c.unit),
        ]);
    }
    let mut plot = found.plot("");
    plot.panels.push(nyquist(&found));
    Ok(Answer {
        plots: vec![plot],
        sheets: vec![sheet],
        notes: notes(&linear),
        ..Answer::default()
    })
}

/// The same responses in the plane of complex numbers.
fn nyquist(found: &paynter::linear::Bode) -> Panel {
    let series = found.channels.iter().map(|c| Series {
        name: c.name.clone(),
        x: c.sweep.values.iter().map(|z| z.re).collect(),
        y: c.sweep.values.iter().map(|z| z.im).collect(),
        ..Series::default()
    });
    Panel {
        x_label: "real".to_owned(),
        y_label: "imaginary".to_owned(),
        series: series.collect(),
        ..Panel::default()
    }
}

/// Step responses.
pub fn step(design: &Design, ask: &StudyAsk) -> Result<Answer, String> {
    let linear = model(design, ask)?;
    needs_channel(&linear)?;
    let found = paynter::linear::steps(design, &linear, None).map_err(failed)?;
    let mut sheet = Sheet::new(
        "Steps",
        &["channel", "step", "settles at", "unit", "largest"],
    );
    for c in &found.curves {
        let largest = c.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        sheet.rows.push(vec![
            json!(c.name),
            json!(c.step),
            c.settles_at.map_or(Value::Null, number),
            json!(c.unit),
            number(largest),
        ]);
    }
    let mut notes = notes(&linear);
    if found.curves.iter().any(|c| c.has_impulse) {
        notes.push(
            "an output follows the rate of its input: the impulse at time 0 is not shown"
                .to_owned(),
        );
    }
    Ok(Answer {
        plots: vec![found.plot("")],
        sheets: vec![sheet],
        notes,
        ..Answer::default()
    })
}

/// Margins of the loops that are cut.
pub fn margins(design: &Design, ask: &StudyAsk) -> Result<Answer, String> {
    if design.linear.cut.is_empty() {
        return Err("name the signal at which the loop is cut, such as `ctrl.u`".to_owned());
    }
    let compiled = design.compile().map_err(|m| words(&m))?;
    let mut sheet = Sheet::new(
        "Margins",
        &[
            "cut at",
            "gain margin [dB]",
            "phase margin [deg]",
            "closed loop",
        ],
    );
    let mut answer = Answer::default();
    for cut in &design.linear.cut {
        let report = loop_margins(design, &compiled, cut, ask.at).map_err(failed)?;
        sheet.rows.push(vec![
            json!(report.cut),
            report
                .gain_margin()
                .map_or(Value::Null, |g| number(20.0 * g.log10())),
            report
                .phase_margin()
                .map_or(Value::Null, |p| number(p.to_degrees())),
            json!(if report.is_stable() {
                "stable"
            } else {
                "not stable"
            }),
        ]);
        answer.notes.extend(
            report
                .to_text()
                .lines()
                .skip(1)
                .map(|l| l.trim().to_owned())
                .filter(|l| !l.is_empty()),
        );
        answer.plots.push(Plot {
            title: report.cut.clone(),
            ..report.plot("")
        });
    }
    answer.sheets.push(sheet);
    Ok(answer)
}
