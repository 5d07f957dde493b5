//! Studies of the structure: the questions of `paynter structure`, with their drawings on the graph.
//!
//! In:  a design, and inputs and outputs where the question needs them.
//! Out: tables of numbers, sentences, and under `facts` the drawing (`svg`).

use super::table::number;
use super::{Answer, Sheet, StudyAsk, words};
use paynter::Design;
use paynter::draw::plot::{Panel, Plot, Series};
use paynter::refused::Refused;
use paynter::syntax::Diagnostic;
use paynter_structure::{
    FaultKind, Gain, Inverse, SideFindings, Subject, activities, ask as asked, bicausal,
    draw_activities, draw_bicausal, draw_control, loops as find_loops, text,
};
use serde_json::{Value, json};

/// The gain of every loop through a dependent storage, as a formula and in numbers.
pub fn loops(design: &Design) -> Result<Answer, String> {
    let found = find_loops(design).map_err(refused)?;
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

fn refused(error: Refused) -> String {
    match error {
        Refused::Call(why) => why,
        Refused::Model(messages) | Refused::Run(messages) => words(&messages),
    }
}

fn subject<'d>(design: &'d Design, ask: &StudyAsk) -> Result<Subject<'d>, String> {
    Subject::new(design, asked(design, ask.at)).map_err(|m| words(&m))
}

/// The lines of a text, as sentences.
fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(|l| l.trim().to_owned());
    lines.filter(|l| !l.is_empty()).collect()
}

fn warned(warnings: &[Diagnostic]) -> Vec<String> {
    let one = |w: &Diagnostic| {
        let facts = w.notes.iter().chain(&w.help).cloned();
        let all: Vec<String> = std::iter::once(w.message.clone()).chain(facts).collect();
        format!("{}: {}", w.code, all.join("; "))
    };
    warnings.iter().map(one).collect()
}

/// What inputs reach and outputs see, with the causal paths.
pub fn control(design: &Design, ask: &StudyAsk) -> Result<Answer, String> {
    let compiled = design.compile().map_err(|m| words(&m))?;
    let subject = subject(design, ask)?;
    let found = paynter_structure::control(&subject, &compiled).map_err(|m| words(&m))?;
    let sides = [&found.control, &found.observe].into_iter().flatten();
    let mut notes: Vec<String> = sides
        .clone()
        .flat_map(|side| lines(&text::verdict(side)))
        .collect();
    notes.extend(lines(&text::beside(&found)));
    notes.extend(warned(&found.warnings));
    Ok(Answer {
        sheets: sides.map(paths).collect(),
        notes,
        facts: json!({ "svg": draw_control(design, &found) }),
        ..Answer::default()
    })
}

fn paths(side: &SideFindings) -> Sheet {
    let ports = side.ports.join(", ");
    let title = match side.side {
        paynter_structure::Side::Control => format!("Paths from {ports}"),
        paynter_structure::Side::Observe => format!("Paths to {ports}"),
    };
    let mut sheet = Sheet::new(&title, &["state", "integrations", "path"]);
    sheet.rows.extend(side.paths.iter().map(|p| match &p.path {
        Some((n, names)) => vec![json!(p.name), json!(n), json!(names.join(" – "))],
        None => vec![json!(p.name), Value::Null, json!("none")],
    }));
    sheet
}

/// Relative degrees, zeros, decoupling, and the gains of all paths and loops.
pub fn channels(design: &Design, ask: &StudyAsk) -> Result<Answer, String> {
    let compiled = design.compile().map_err(|m| words(&m))?;
    let subject = subject(design, ask)?;
    let found = paynter_structure::channels(&subject, &compiled).map_err(|m| words(&m))?;
    let columns = [
        "from",
        "to",
        "relative degree",
        "order",
        "zeros [1/s]",
        "shortest path",
    ];
    let mut sheet = Sheet::new("Inputs to outputs", &columns);
    for c in &found.channels {
        let zeros = match &c.zeros {
            Ok(zeros) => text::zero_list(zeros).join(", "),
            Err(why) => why.clone(),
        };
        let path = c
            .path
            .as_ref()
            .map_or_else(String::new, |p| p.1.join(" – "));
        sheet.rows.push(vec![
            json!(c.input),
            json!(c.output),
            c.relative_degree.map_or(Value::Null, |d| json!(d)),
            json!(c.order),
            json!(zeros),
            json!(path),
        ]);
    }
    let (gains, _) = text::gains(&subject);
    let mut notes = lines(&text::together(&found));
    notes.extend(lines(&gains));
    Ok(Answer {
        sheets: vec![sheet],
        notes,
        ..Answer::default()
    })
}

/// The inputs that target curves need, and what their sources have to give.
pub fn inverse(design: &Design, ask: &StudyAsk) -> Result<Answer, String> {
    let compiled = design.compile().map_err(|m| words(&m))?;
    let subject = subject(design, ask)?;
    let found = paynter_structure::inverse(&subject, &compiled, &design.linear.want)
        .map_err(|m| words(&m))?;
    // Strokes that cannot be reversed leave the curves without a drawing.
    let svg = bicausal(&subject).map(|b| draw_bicausal(&subject, &b)).ok();
    let n_heads = 2;
    let mut notes: Vec<String> = lines(&text::inverse_text(&found))
        .into_iter()
        .take(n_heads)
        .collect();
    notes.extend(warned(&found.warnings));
    Ok(Answer {
        plots: vec![curves(&found)],
        sheets: sizes(&found),
        notes,
        facts: json!({ "svg": svg }),
    })
}

fn curves(found: &Inverse) -> Plot {
    let panels = found.table.columns.iter().map(|c| Panel {
        x_label: "time [s]".to_owned(),
        y_label: match c.unit.is_empty() {
            true => c.name.clone(),
            false => format!("{} [{}]", c.name, c.unit),
        },
        series: vec![Series {
            name: c.name.clone(),
            x: found.table.time.clone(),
            y: c.values.clone(),
            ..Series::default()
        }],
        ..Panel::default()
    });
    Plot {
        panels: panels.collect(),
        ..Plot::default()
    }
}

fn sizes(found: &Inverse) -> Vec<Sheet> {
    let mut inputs = Sheet::new("Inputs", &["input", "min", "max", "unit"]);
    let columns = [
        "source",
        "peak [W]",
        "back [W]",
        "energy given [J]",
        "taken back [J]",
    ];
    let mut sources = Sheet::new("Sources", &columns);
    for a in &found.actuators {
        let (low, high) = (number(a.range.0), number(a.range.1));
        inputs
            .rows
            .push(vec![json!(a.name), low, high, json!(a.unit)]);
        sources.rows.extend(a.sources.iter().map(|p| {
            let numbers = [p.peak, p.braking, p.given, p.taken].map(number);
            std::iter::once(json!(p.source)).chain(numbers).collect()
        }));
    }
    match sources.rows.is_empty() {
        true => vec![inputs],
        false => vec![inputs, sources],
    }
}

/// The energy that elements moved in the run, and the power of bonds.
pub fn activity(design: &Design) -> Result<Answer, String> {
    let found = activities(design).map_err(refused)?;
    let mut elements = Sheet::new(
        "Elements",
        &["element", "kind", "activity [J]", "share [%]", "sum [%]"],
    );
    let percent = |x: Option<f64>| x.map_or(Value::Null, |x| number(100.0 * x));
    elements.rows.extend(found.elements.iter().map(|e| {
        vec![
            json!(e.name),
            json!(e.kind),
            number(e.joules),
            percent(e.share),
            percent(e.cumulative),
        ]
    }));
    let columns = [
        "bond",
        "peak [W]",
        "back [W]",
        "mean [W]",
        "moved [J]",
        "effort rms",
        "flow rms",
    ];
    let mut bonds = Sheet::new("Bonds, along the half arrow", &columns);
    bonds.rows.extend(found.bonds.iter().map(|b| {
        let numbers = [b.peak.0, b.peak.1, b.mean, b.joules, b.effort, b.flow].map(number);
        std::iter::once(json!(b.name)).chain(numbers).collect()
    }));
    let (start, end) = found.span;
    Ok(Answer {
        sheets: vec![elements, bonds],
        notes: vec![format!(
            "activity from {start} s to {end} s: {} J in all",
            paynter::digits::significant(found.total, 6)
        )],
        facts: json!({ "svg": draw_activities(design, &found) }),
        ..Answer::default()
    })
}

/// Bonds that move less than this part of others at their junction are cut.
const LIMIT: f64 = 0.05;

/// Parts that drive others and hardly feel them.
pub fn partition(design: &Design) -> Result<Answer, String> {
    let found = activities(design).map_err(refused)?;
    let found = paynter_structure::partition(design, &found, LIMIT).map_err(|m| words(&m))?;
    let notes = match found {
        None => vec![format!(
            "the model does not fall apart: no bond between storages moves less than {} % of what others of its junction do",
            100.0 * LIMIT
        )],
        Some(found) => lines(&text::partition_text(&found)),
    };
    Ok(Answer {
        notes,
        ..Answer::default()
    })
}

/// Which faults the outputs show, and by which residuals.
pub fn faults(design: &Design, ask: &StudyAsk) -> Result<Answer, String> {
    let subject = subject(design, ask)?;
    let found = paynter_structure::faults(&subject).map_err(|m| words(&m))?;
    let n = found.residuals.len();
    let heads: Vec<String> = (1..=n).map(|k| format!("#{k}")).collect();
    let mut columns = vec!["fault", "of"];
    columns.extend(heads.iter().map(String::as_str));
    columns.extend(["shown", "alone"]);
    let mut sheet = Sheet::new("Fault signatures", &columns);
    for (k, fault) in found.faults.iter().enumerate() {
        let yes = |x: bool| json!(if x { "yes" } else { "no" });
        let of = match fault.kind {
            FaultKind::Element => "element",
            FaultKind::Input => "input",
            FaultKind::Sensor => "sensor",
        };
        let mut row = vec![json!(fault.name), json!(of)];
        row.extend(
            found
                .residuals
                .iter()
                .map(|r| json!(u8::from(r.faults.contains(&k)))),
        );
        row.extend([
            yes(fault.is_detectable),
            yes(fault.is_detectable && fault.same_as.is_empty()),
        ]);
        sheet.rows.push(row);
    }
    let told = text::faults_text(&subject, &found);
    // Behind the table.
    let notes = lines(&told).into_iter().skip(2 + found.faults.len());
    Ok(Answer {
        sheets: vec![sheet],
        notes: notes.collect(),
        ..Answer::default()
    })
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
pub fn strokes(design: &Design, ask: &StudyAsk) -> Result<Answer, String> {
    let subject = subject(design, ask)?;
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
        facts: json!({ "svg": draw_bicausal(&subject, &found) }),
        ..Answer::default()
    })
}
