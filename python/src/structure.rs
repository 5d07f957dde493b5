//! What the structure tells: control, channels, activity, a smaller model, parts, faults, sizes from data, the inverse, loops; along a run.

use crate::columns::Table;
use crate::design::Design;
use crate::errors::unknown;
use paynter::Choice;
use paynter::refused::Refused;
use paynter::syntax::{Diagnostic, render};
use paynter_structure::text::{
    activity_json, activity_text, along_json, along_text, balances_json, balances_on_json,
    balances_on_text, balances_text, bicausal_json, bicausal_text, channels_json, channels_text,
    control_json, control_text, estimates_json, estimates_text, faults_json, faults_text, gains,
    inverse_json, inverse_text, loops_json, loops_text, partition_json, partition_text,
    proposal_json, proposal_text,
};
use paynter_structure::{
    Subject, activities, along, ask, balances, balances_on, bicausal, channels, control,
    draw_activities, draw_bicausal, draw_control, estimate, faults, inverse, loops, partition,
    reduce,
};
use pyo3::prelude::*;
use serde_json::Value;

/// An answer.
#[derive(Default)]
struct Answer {
    text: String,
    json: Value,
    warnings: Vec<Diagnostic>,
    table: Option<paynter::table::Table>,
    model: Option<String>,
    picture: Option<String>,
}

/// Text, JSON, warnings, table, text of a smaller model, picture.
type Told = (
    String,
    String,
    String,
    Option<Table>,
    Option<String>,
    Option<String>,
);

/// Answers a question about the structure: `instants` of a run for `along`, `share` for `reduce` and `partition`.
#[pyfunction]
#[pyo3(signature = (design, question, *, at, share, instants, data, elements))]
pub fn structure(
    py: Python<'_>,
    design: PyRef<'_, Design>,
    question: &str,
    at: Option<f64>,
    share: f64,
    instants: usize,
    data: Option<PyRef<'_, Table>>,
    elements: Vec<String>,
) -> PyResult<Told> {
    design.check_time(at)?;
    let (inner, choice) = (&design.inner, &design.choice);
    let held = data.map(|table| table.held.clone());
    let answered = py.detach(|| match question {
        "control" => controllability(inner, at),
        "channels" => input_output(inner, at),
        "activity" => activity(inner),
        "reduce" => smaller(inner, choice, share),
        "partition" => parts(inner, share),
        "along" => over_the_run(inner, instants),
        "faults" => match held {
            Some(held) => on_data(inner, at, (*held).as_ref()),
            None => signatures(inner, at),
        },
        "estimate" => match held {
            Some(held) => estimation(inner, at, &elements, (*held).as_ref()),
            None => Err(Refused::Call(
                "name the data: data=\"measured.csv\"".to_owned(),
            )),
        },
        "inverse" => inversion(inner, at),
        "bicausal" => two_way(inner, at),
        "loops" => class_one(inner),
        _ => Err(Refused::Call(String::new())),
    });
    let sources = &inner.project.sources;
    match answered {
        Ok(found) => Ok((
            found.text,
            found.json.to_string(),
            render(&found.warnings, sources, false),
            found.table.map(Table::alone),
            found.model,
            found.picture,
        )),
        Err(Refused::Call(message)) if message.is_empty() => {
            let known = "control, channels, activity, reduce, partition, along, faults, estimate, inverse, bicausal or loops";
            Err(unknown("question", question, known))
        }
        Err(why) => Err(design.refused(py, why)),
    }
}

fn controllability(design: &paynter::Design, at: Option<f64>) -> Result<Answer, Refused> {
    let compiled = design.compile()?;
    let subject = Subject::new(design, ask(design, at))?;
    let found = control(&subject, &compiled)?;
    Ok(Answer {
        text: control_text(&found),
        json: control_json(&found),
        picture: Some(draw_control(design, &found)),
        warnings: found.warnings,
        ..Answer::default()
    })
}

fn input_output(design: &paynter::Design, at: Option<f64>) -> Result<Answer, Refused> {
    let compiled = design.compile()?;
    let subject = Subject::new(design, ask(design, at))?;
    let found = channels(&subject, &compiled)?;
    let (text, paths) = gains(&subject);
    let mut json = channels_json(&found);
    json["paths"] = paths;
    Ok(Answer {
        text: format!("{}\n{text}", channels_text(&found)),
        json,
        ..Answer::default()
    })
}

fn two_way(design: &paynter::Design, at: Option<f64>) -> Result<Answer, Refused> {
    let subject = Subject::new(design, ask(design, at))?;
    let found = bicausal(&subject)?;
    Ok(Answer {
        picture: Some(draw_bicausal(&subject, &found)),
        text: bicausal_text(&found),
        json: bicausal_json(&found),
        ..Answer::default()
    })
}

fn class_one(design: &paynter::Design) -> Result<Answer, Refused> {
    let found = loops(design)?;
    Ok(Answer {
        text: loops_text(&found),
        json: loops_json(&found),
        ..Answer::default()
    })
}

fn activity(design: &paynter::Design) -> Result<Answer, Refused> {
    let found = activities(design)?;
    Ok(Answer {
        picture: Some(draw_activities(design, &found)),
        text: activity_text(&found),
        json: activity_json(&found),
        ..Answer::default()
    })
}

fn over_the_run(design: &paynter::Design, instants: usize) -> Result<Answer, Refused> {
    let compiled = design.compile()?;
    let found = along(design, &compiled, instants)?;
    Ok(Answer {
        text: along_text(&found),
        json: along_json(&found),
        ..Answer::default()
    })
}

fn parts(design: &paynter::Design, limit: f64) -> Result<Answer, Refused> {
    if !(limit > 0.0 && limit < 1.0) {
        return Err(Refused::Call(format!(
            "limit = {limit} is not a share of the activity; it lies between 0 and 1, such as 0.05"
        )));
    }
    let found = activities(design)?;
    let found = partition(design, &found, limit).map_err(Refused::Run)?;
    let found = found.ok_or_else(|| {
        Refused::Call(format!(
            "the model does not fall apart: no bond between storages moves less than {limit} of what others of its junction do"
        ))
    })?;
    Ok(Answer {
        text: partition_text(&found),
        json: partition_json(&found),
        ..Answer::default()
    })
}

fn smaller(design: &paynter::Design, choice: &Choice, keep: f64) -> Result<Answer, Refused> {
    let choice = Choice {
        linear: None,
        ..choice.clone()
    };
    let found = activities(design)?;
    let proposal =
        reduce(design, &found, keep, &choice).map_err(|why| why.refused(&keep.to_string()))?;
    Ok(Answer {
        text: proposal_text(&proposal),
        json: proposal_json(&proposal),
        model: Some(proposal.text),
        ..Answer::default()
    })
}

fn signatures(design: &paynter::Design, at: Option<f64>) -> Result<Answer, Refused> {
    let subject = Subject::new(design, ask(design, at))?;
    let found = faults(&subject)?;
    let mut answer = Answer {
        text: faults_text(&subject, &found),
        json: faults_json(&subject, &found),
        ..Answer::default()
    };
    // Sensors that cannot be reversed have signatures all the same.
    match balances(&subject) {
        Ok(list) => {
            answer.text.push_str(&balances_text(&subject, &list));
            answer.json["balances"] = balances_json(&subject, &list);
        }
        Err(messages) => {
            let why = messages.first().map_or("", |m| m.message.as_str());
            answer
                .text
                .push_str(&format!("no balances that run on data: {why}\n"));
            answer.json["balances"] = Value::Null;
        }
    }
    Ok(answer)
}

fn on_data(
    design: &paynter::Design,
    at: Option<f64>,
    data: &paynter::table::Table,
) -> Result<Answer, Refused> {
    let subject = Subject::new(design, ask(design, at))?;
    let (table, found) = balances_on(&subject, data)?;
    Ok(Answer {
        text: balances_on_text(&found),
        json: balances_on_json(&found),
        table: Some(table),
        ..Answer::default()
    })
}

fn estimation(
    design: &paynter::Design,
    at: Option<f64>,
    elements: &[String],
    data: &paynter::table::Table,
) -> Result<Answer, Refused> {
    let found = estimate(design, ask(design, at), elements, data)?;
    Ok(Answer {
        text: estimates_text(&found),
        json: estimates_json(&found),
        table: Some(found.table),
        ..Answer::default()
    })
}

fn inversion(design: &paynter::Design, at: Option<f64>) -> Result<Answer, Refused> {
    let compiled = design.compile()?;
    let subject = Subject::new(design, ask(design, at))?;
    let found = inverse(&subject, &compiled, &design.linear.want)?;
    // Strokes that cannot be reversed leave the curves without a picture.
    let turned = bicausal(&subject).ok();
    Ok(Answer {
        picture: turned.map(|b| draw_bicausal(&subject, &b)),
        text: inverse_text(&found),
        json: inverse_json(&found),
        warnings: found.warnings,
        table: Some(found.table),
        ..Answer::default()
    })
}
