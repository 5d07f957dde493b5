//! Studies of the structure: loops through dependent storages, and the strokes of the inverse.

use super::table::number;
use super::{Answer, Sheet, StudyAsk, words};
use paynter::Design;
use paynter::refused::Refused;
use paynter_structure::{Gain, Subject, ask as asked, bicausal, loops as find_loops};
use serde_json::{Value, json};

/// The gain of every loop through a dependent storage, as a formula and in numbers.
pub fn loops(design: &Design) -> Result<Answer, String> {
    let found = find_loops(design).map_err(|error| match error {
        Refused::Call(why) => why,
        Refused::Model(messages) | Refused::Run(messages) => words(&messages),
    })?;
    let mut answer = Answer::default();
    if found.paths.is_empty() && found.unknown.is_empty() {
        let none = "no storage depends on another: there is no loop of class 1";
        answer.notes.push(none.to_owned());
        return Ok(answer);
    }
    let columns = [
        "loop",
        "gain",
        "min in the run",
        "max in the run",
        "max over all angles",
    ];
    let mut each = Sheet::new("Loops of class 1", &columns);
    for path in &found.paths {
        each.rows.push(row(path.through.join(" – "), &path.gain));
    }
    let columns = [
        "storage",
        "gain",
        "min in the run",
        "max in the run",
        "max over all angles",
    ];
    let mut totals = Sheet::new("All loops of one storage", &columns);
    for (name, gain) in &found.totals {
        totals.rows.push(row(name.clone(), gain));
    }
    answer.sheets = vec![each, totals];
    if let Some((low, high)) = found.together {
        answer.notes.push(format!(
            "all loops together: {low:.6} to {high:.6} in the run"
        ));
    }
    answer.notes.extend(found.unknown.iter().map(|name| {
        format!("no formula for `{name}`: it is a field, depends on one, or on a junction whose flow is a state")
    }));
    answer.notes.push("differentiation delayed by a step is stable below 1 (Euler, Runge-Kutta 4), below 1/2 (Adams-Bashforth 2)".to_owned());
    Ok(answer)
}

fn row(name: String, gain: &Gain) -> Vec<Value> {
    let of = |x: Option<f64>| x.map_or(Value::Null, number);
    vec![
        json!(name),
        json!(gain.formula),
        of(gain.visited.map(|v| v.0)),
        of(gain.visited.map(|v| v.1)),
        of(gain.angles.map(|a| a.1)),
    ]
}

/// The lines along which the graph computes inputs from outputs, and the states that the inverse has.
pub fn inverse(design: &Design, ask: &StudyAsk) -> Result<Answer, String> {
    let subject = Subject::new(design, asked(design, ask.at)).map_err(|m| words(&m))?;
    let found = bicausal(&subject).map_err(|m| words(&m))?;
    let mut lines = Sheet::new("Bicausal lines", &["from", "to", "through"]);
    for names in &found.names {
        let end = |name: Option<&String>| json!(name.map_or("", String::as_str));
        let through = names.join(" – ");
        lines
            .rows
            .push(vec![end(names.first()), end(names.last()), json!(through)]);
    }
    let mut storages = Sheet::new("Storages of the inverse", &["storage", "form"]);
    let forms = [
        (&found.integral, "integral"),
        (&found.derivative, "derivative"),
    ];
    for (names, form) in forms {
        let rows = names.iter().map(|name| vec![json!(name), json!(form)]);
        storages.rows.extend(rows);
    }
    let n = found.integral.len();
    Ok(Answer {
        sheets: vec![lines, storages],
        notes: vec![match n {
            0 => "the inverse has no states: all is algebra and differentiation".to_owned(),
            1 => "the inverse has 1 state".to_owned(),
            n => format!("the inverse has {n} states"),
        }],
        ..Answer::default()
    })
}
