//! `reduce --assume`: a model under assumptions, made simpler, with the error that the assumptions make.
//!
//! In:  a model, and assumptions `junction.f = value` (of a 1-junction) or `junction.e = value` (of a 0-junction).
//! Out: the model in which a source holds the junction at that value, simplified: with zero the junction is at rest and what hangs on it goes
//!      (the assumption is *specialised*), with another value what moves with it only loads the source (it is *substituted*).
//!
//! An assumption changes the model, so that no proof can show the new text equal to the old one. What is proved is the simplification; the
//! assumption is measured: how far the full model is from it along the run of each experiment, and how far the recorded columns are apart.
//!
//! **Invariant:** nothing is left out silently: start values that an assumption takes away are named.

use crate::code;
use crate::net::{Kind, Net, Step, ThingId};
use crate::proof::designed;
use crate::read::{Source, read};
use crate::references::without_references;
use crate::session::{Rewritten, Wish, source_of};
use crate::simplify::simplify;
use crate::truncate::{Smallness, truncate};
use crate::write::write;
use paynter::compare::compare;
use paynter::model::project::Loader;
use paynter::overlay::Overlay;
use paynter::run::{RunChoice, run};
use paynter::simulate::Ending;
use paynter::syntax::ast::{Assign, ExperimentKind, StmtKind};
use paynter::syntax::{Diagnostic, Span};
use paynter::table::Table;
use paynter::{Choice, DesignError};
use std::ops::ControlFlow;

/// What is assumed.
struct Assumption {
    junction: String,
    letter: &'static str,
    value: String,
}

/// Rewrites a model under assumptions.
///
/// # Errors
///
/// The file cannot be read or has errors, or an assumption names no junction of the model.
pub fn assume<L: Loader + Clone>(
    loader: &mut L,
    path: &str,
    wish: &Wish,
    asked: &[String],
) -> Result<Rewritten, DesignError> {
    let mut assumed = String::new();
    let mut assumptions = Vec::new();
    let mut steps = Vec::new();
    let (small, fixed): (Vec<&String>, Vec<&String>) = asked
        .iter()
        .partition(|a| a.contains("<<") || a.contains(">>"));
    let (own, said) = (loader.clone(), joined(&fixed));
    source_of(loader, path, wish, &mut |source| {
        let net = read(source);
        assumptions.clear();
        for text in &fixed {
            assumptions.push(understand(source, &net, text)?);
        }
        (assumed, steps) = held(source, &net, &assumptions);
        fits(&own, path, wish, (source, &assumed)).map_err(|why| not_assumed(source, &said, &why))
    })?;
    let mut world = Overlay::new(loader.clone());
    let mut shares = Vec::new();
    for text in small {
        world.set(path, assumed.clone());
        let mut cut = String::new();
        source_of(&mut world, path, wish, &mut |source| {
            let found = cut_moduli(source, text)?;
            cut = found.0;
            steps.extend(found.1);
            shares.extend(found.2);
            Ok(())
        })?;
        assumed = cut;
    }
    world.set(path, assumed.clone());
    let mut rewritten = simplify(&mut world, path, wish, &[])?;
    let what = Measured {
        assumptions: &assumptions,
        shares: &shares,
    };
    let (measured, moved) = measure(loader, path, &rewritten, (wish, &what));
    let (text, mut lost) = without_references(&rewritten.text, &moved);
    steps.append(&mut lost);
    let mut text = text.trim_end().to_owned();
    text.push('\n');
    for step in steps.iter().chain(&measured) {
        text.push_str(&format!("// {}: {}\n", step.rule, step.text));
    }
    rewritten.text = text;
    steps.append(&mut rewritten.steps);
    steps.extend(measured);
    rewritten.steps = steps;
    Ok(rewritten)
}

/// What is measured along the runs.
struct Measured<'m> {
    assumptions: &'m [Assumption],
    /// Dropped and kept parts of moduli.
    shares: &'m [(String, String)],
}

/// A text with cut moduli, what was done, and what was dropped beside what was kept.
type CutModuli = (String, Vec<Step>, Vec<(String, String)>);

/// Carries out `turn.f << Omega`.
fn cut_moduli(source: &Source<'_>, text: &str) -> Result<CutModuli, Vec<Diagnostic>> {
    let what = match (text.split_once("<<"), text.split_once(">>")) {
        (Some((small, large)), _) | (_, Some((large, small))) => Smallness {
            small: small.trim().to_owned(),
            large: large.trim().to_owned(),
        },
        _ => unreachable!("only such texts come here"),
    };
    let mut net = read(source);
    let found = truncate(&mut net, &what).map_err(|why| {
        let message = format!("`{text}` cannot be assumed: {why}");
        vec![
            Diagnostic::error(code::NOT_ASSUMED, message)
                .primary(source.model.name.span, "of this model")
                .help("write what is small beside what, both as moduli read them: `--assume \"turn.f << Omega\"`"),
        ]
    })?;
    let mut lines = Vec::new();
    for (k, (dropped, kept)) in found.shares.iter().enumerate() {
        let name = match k {
            0 => net.fresh("dropped"),
            k => net.fresh(&format!("dropped_{}", k + 1)),
        };
        let share = net.carried_text(&crate::expression::quotient(dropped, kept));
        lines.push(format!("measure {name} = max(abs({share}))"));
    }
    for experiment in source.experiments() {
        let name = experiment.name.text.to_string();
        let lines = lines.iter().map(|line| (name.clone(), line.clone()));
        net.added_to.extend(lines);
    }
    Ok((write(source, &net), found.steps, found.shares))
}

fn joined(asked: &[&String]) -> String {
    let all: Vec<&str> = asked.iter().map(|a| a.as_str()).collect();
    all.join(", ")
}

fn not_assumed(source: &Source<'_>, text: &str, why: &str) -> Vec<Diagnostic> {
    vec![
        Diagnostic::error(code::NOT_ASSUMED, format!("`{text}` cannot be assumed: {why}"))
            .primary(source.model.name.span, "of this model")
            .help("write the flow of a 1-junction or the effort of a 0-junction and its value: `--assume \"turn.f = 0\"`"),
    ]
}

/// Looks whether the sources that hold what is assumed may have the values that they are given.
///
/// # Errors
///
/// What is wrong with one, where nothing is wrong without them: a name that nothing has, another unit, sources that fight.
fn fits<L: Loader + Clone>(
    loader: &L,
    path: &str,
    wish: &Wish,
    (source, assumed): (&Source<'_>, &str),
) -> Result<(), String> {
    let choice = Choice {
        model: (wish.experiment.is_none()).then(|| source.model.name.text.to_string()),
        experiment: wish.experiment.clone(),
        ..Choice::default()
    };
    if designed(loader, path, source.text, &choice).is_err() {
        return Ok(());
    }
    designed(loader, path, assumed, &choice).map(|_| ())
}

/// Reads `turn.f = 0 [rad/s]`.
fn understand(source: &Source<'_>, net: &Net, text: &str) -> Result<Assumption, Vec<Diagnostic>> {
    let wrong = |why: String| not_assumed(source, text, &why);
    let Some((left, value)) = text.split_once('=') else {
        return Err(wrong("it is not an equation".to_owned()));
    };
    // `==` means the same here.
    let value = value.strip_prefix('=').unwrap_or(value);
    let (left, value) = (left.trim(), value.trim());
    let (junction, letter) = left.rsplit_once('.').unwrap_or((left, ""));
    let things = net.things.iter();
    let mut named = things.filter(|t| t.name.as_deref() == Some(junction) && t.owner.is_some());
    let kind = named.next().map(|t| t.kind);
    let letter = match (kind, letter) {
        (Some(Kind::One), "f") => "f",
        (Some(Kind::Zero), "e") => "e",
        (Some(Kind::One), _) => {
            return Err(wrong(format!(
                "`{junction}` is a 1-junction and shares its flow, `{junction}.f`"
            )));
        }
        (Some(Kind::Zero), _) => {
            return Err(wrong(format!(
                "`{junction}` is a 0-junction and shares its effort, `{junction}.e`"
            )));
        }
        _ => {
            return Err(wrong(format!(
                "`{junction}` is not a junction of `{}`",
                source.model.name.text
            )));
        }
    };
    if value.is_empty() {
        return Err(wrong("it has no value".to_owned()));
    }
    if crate::expression::parse(value).is_none() {
        return Err(wrong(format!("`{value}` cannot be read as a value")));
    }
    Ok(Assumption {
        junction: junction.to_owned(),
        letter,
        value: value.to_owned(),
    })
}

/// The text in which sources hold what is assumed, without the start values that they take away.
fn held(source: &Source<'_>, net: &Net, assumptions: &[Assumption]) -> (String, Vec<Step>) {
    let mut edits: Vec<(Span, String)> = Vec::new();
    let mut steps = Vec::new();
    let mut lines = String::new();
    let mut gone: Vec<String> = Vec::new();
    for a in assumptions {
        let kind = if a.letter == "f" { "Sf" } else { "Se" };
        let name = free_name(net, &format!("assumed_{}", a.junction));
        lines.push_str(&format!(
            "\n    {name}: {kind}({}) -> {}",
            a.value, a.junction
        ));
        gone.extend(starts_at(net, a));
        steps.push(Step {
            rule: "assume",
            text: format!(
                "`{}.{}` is {}: a source holds it",
                a.junction, a.letter, a.value
            ),
        });
    }
    let model = source.model.body.iter().filter_map(|s| match &s.kind {
        StmtKind::Start(list) => Some((s.span, list)),
        _ => None,
    });
    let experiments = source.experiments().flat_map(|e| &e.body);
    let experiments = experiments.filter_map(|s| match &s.kind {
        ExperimentKind::Start(list) => Some((s.span, list)),
        _ => None,
    });
    for (span, list) in model.chain(experiments) {
        edits.extend(without(source, span, list, &gone, &mut steps));
    }
    if let Some(last) = source.model.body.last() {
        let end = Span {
            start: last.span.end,
            ..last.span
        };
        edits.push((end, lines));
    }
    (edited(source.text, edits), steps)
}

/// Start values of what a source holds from now on.
fn starts_at(net: &Net, a: &Assumption) -> Vec<String> {
    let mut gone = vec![format!("{}.{}", a.junction, a.letter)];
    let is_it = |t: &ThingId| net.things[*t].name.as_deref() == Some(&a.junction);
    let Some(junction) = net.alive().into_iter().find(is_it) else {
        return gone;
    };
    for bond in net.at(junction) {
        let thing = &net.things[net.across(bond, junction)];
        let stored = match (thing.kind, a.letter) {
            (Kind::I, "f") => ["p", "f"],
            (Kind::C, "e") => ["q", "e"],
            _ => continue,
        };
        let name = thing.name.iter();
        gone.extend(name.flat_map(|n| stored.map(|s| format!("{n}.{s}"))));
    }
    gone
}

/// A start line without some of its values; none if it has none of them.
fn without(
    source: &Source<'_>,
    span: Span,
    list: &[Assign],
    gone: &[String],
    steps: &mut Vec<Step>,
) -> Option<(Span, String)> {
    let target = |a: &&Assign| source.slice(a.target.span);
    let (dropped, kept): (Vec<&Assign>, Vec<&Assign>) =
        list.iter().partition(|a| gone.contains(&target(a)));
    if dropped.is_empty() {
        return None;
    }
    for a in dropped {
        steps.push(Step {
            rule: "assume",
            text: format!(
                "the start value `{}` goes: the assumption sets it",
                source.slice(a.span)
            ),
        });
    }
    let kept: Vec<String> = kept.iter().map(|a| source.slice(a.span)).collect();
    if !kept.is_empty() {
        return Some((span, format!("start {}", kept.join(", "))));
    }
    // The mark that separated it from the next statement goes with it.
    let after = &source.text[span.end as usize..];
    let n_spaces = after.len() - after.trim_start_matches(' ').len();
    let mark = usize::from(after[n_spaces..].starts_with(';'));
    let end = span.end + (mark * (n_spaces + 1)) as u32;
    Some((Span { end, ..span }, String::new()))
}

fn free_name(net: &Net, wish: &str) -> String {
    let mut name = wish.to_owned();
    while net.names.contains(&name) {
        name.push('_');
    }
    name
}

/// Puts texts in the place of spans.
fn edited(text: &str, mut edits: Vec<(Span, String)>) -> String {
    edits.sort_by_key(|(span, _)| span.start);
    let mut out = String::new();
    let mut at = 0;
    for (span, new) in edits {
        out.push_str(&text[at..span.start as usize]);
        out.push_str(&new);
        at = span.end as usize;
    }
    out.push_str(&text[at..]);
    out
}

/// How far the full model is from the assumptions, and the new one from the full one, for each experiment; the latter also as a number.
fn measure<L: Loader + Clone>(
    loader: &mut L,
    path: &str,
    new: &Rewritten,
    (wish, what): (&Wish, &Measured<'_>),
) -> (Vec<Step>, Vec<(String, f64)>) {
    let (mut steps, mut moved) = (Vec::new(), Vec::new());
    let mut asked: Vec<(String, String)> = Vec::new();
    let _ = source_of(loader, path, wish, &mut |source| {
        asked = source
            .experiments()
            .filter(|e| wish.experiment.as_ref().is_none_or(|w| **w == *e.name.text))
            .filter_map(|e| {
                Some((
                    e.name.text.to_string(),
                    recording(source, e.body.first()?.span, what),
                ))
            })
            .collect();
        Ok(())
    });
    for (name, old) in &asked {
        let text = match (
            ran(loader, path, old, name),
            ran(loader, path, &new.text, name),
        ) {
            (Ok(old), Ok(new)) => {
                let (text, worst) = compared(&old, &new, what);
                moved.push((name.clone(), worst));
                text
            }
            (Err(why), _) => format!("the full model does not run: {why}"),
            (_, Err(why)) => format!("the model under the assumption does not run: {why}"),
        };
        steps.push(Step {
            rule: "error",
            text: format!("in `{name}` {text}"),
        });
    }
    (steps, moved)
}

/// The text with what the assumptions leave out recorded as well.
fn recording(source: &Source<'_>, first: Span, what: &Measured<'_>) -> String {
    let columns = what.assumptions.iter().enumerate();
    let columns = columns.map(|(k, a)| {
        format!(
            "{}.{} - ({}) as left_out_{k}",
            a.junction, a.letter, a.value
        )
    });
    let shares = what.shares.iter().enumerate();
    let shares = shares.flat_map(|(k, (dropped, kept))| {
        [
            format!("{dropped} as left_out_dropped_{k}"),
            format!("{kept} as left_out_kept_{k}"),
        ]
    });
    let columns: Vec<String> = columns.chain(shares).collect();
    let at = first.start as usize;
    format!(
        "{}record {}\n    {}",
        &source.text[..at],
        columns.join(", "),
        &source.text[at..]
    )
}

fn ran<L: Loader + Clone>(
    loader: &L,
    path: &str,
    text: &str,
    experiment: &str,
) -> Result<Table, String> {
    let choice = Choice {
        experiment: Some(experiment.to_owned()),
        ..Choice::default()
    };
    let mut design = designed(loader, path, text, &choice)?;
    design.plan.comparisons.clear();
    design.plan.measures.clear();
    let first = |m: &[Diagnostic]| m.first().map_or_else(String::new, |d| d.message.clone());
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    let outcome = outcome.map_err(|m| first(&m))?;
    match &outcome.run.ending {
        Ending::Failed {
            why: diagnostics, ..
        } => Err(first(diagnostics)),
        _ => Ok(outcome.run.table),
    }
}

/// A model that is wrong by this share of what it shows stands for nothing.
const USELESS: f64 = 0.1;

/// The largest size of what is left out and the differences of columns in words, and the largest of these.
fn compared(old: &Table, new: &Table, what: &Measured<'_>) -> (String, f64) {
    let largest_of = |name: &str| {
        let values = old.column(name).map(|c| c.values.as_slice());
        let values = values.unwrap_or_default().iter();
        values.fold(0.0_f64, |m, x| m.max(x.abs()))
    };
    let shares = what.shares.iter().enumerate().map(|(k, (dropped, _))| {
        let most = largest_of(&format!("left_out_dropped_{k}"));
        let kept = largest_of(&format!("left_out_kept_{k}"));
        format!("`{dropped}` is up to {:.3e} of what is kept", most / kept)
    });
    let left_out = what.assumptions.iter().enumerate().map(|(k, a)| {
        let column = old.column(&format!("left_out_{k}"));
        let values = column.map(|c| c.values.as_slice()).unwrap_or_default();
        let largest = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let unit = column.map(|c| c.unit.clone()).unwrap_or_default();
        let unit = if unit.is_empty() {
            unit
        } else {
            format!(" {unit}")
        };
        format!(
            "`{}.{}` is up to {largest:.3e}{unit} from {}",
            a.junction, a.letter, a.value
        )
    });
    let left_out: Vec<String> = left_out.chain(shares).collect();
    let mut reference = old.clone();
    reference
        .columns
        .retain(|c| !c.name.starts_with("left_out_"));
    let differences = compare(new, &reference, 1e-9);
    let columns = differences.columns.iter();
    let worst = columns.clone().fold(0.0_f64, |m, c| m.max(c.scaled));
    let columns = columns.map(|c| format!("{} {:.2e}", c.name, c.scaled));
    let columns: Vec<String> = columns.collect();
    let verdict = match worst > USELESS {
        true => "; the assumption does not hold in this run",
        false => "",
    };
    let text = format!(
        "{}; recorded columns differ by, of their ranges: {}{verdict}",
        left_out.join(", "),
        columns.join(", ")
    );
    (text, worst)
}
