//! Proposes a smaller model: elements that moved little energy in a run are left out.
//!
//! In:  a design with the [`Activities`] of its run, and the part of the activity to keep.
//! Out: a [`Proposal`]: the text of the reduced model, what was done to each element, and the error it makes on the
//!      recorded columns, from a run of the reduced text.
//!
//! An element that moved little power has little effort or little flow. At a 1-junction without it its effort is zero; at a 0-junction its flow is.
//! That is `remove`. Where it is the shared variable that is small, the junction is held: a 1 stands still (rigid), a 0 has no effort (ground). Each is
//! written as a source of zero in the place of the element, so that the text stays as it is around it.
//!
//! **Invariant:** the text is read, compiled and run before it is proposed. An element that something reads, or that stands in a part from elsewhere, stays.

use crate::activity::Activities;
use crate::reach::short_name;
use paynter::exec::Engine;
use paynter::model::graph::{BondGraph, ElementId, ElementKind};
use paynter::overlay::Overlay;
use paynter::refused::Refused;
use paynter::run::{RunChoice, run};
use paynter::simulate::Ending;
use paynter::syntax::ast::ItemKind;
use paynter::syntax::{Diagnostic, parse};
use paynter::table::Table;
use paynter::{Choice, Design, DesignError, Failed, design_in};
use std::ops::ControlFlow;

/// What is done to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its effort (at a 1) or flow (at a 0) is zero.
    Remove,
    /// The 1-junction it stands at does not move.
    Rigid,
    /// The 0-junction it stands at has no effort.
    Ground,
}

/// An element that is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Its junction.
    pub junction: String,
    /// How.
    pub change: Change,
    /// Its share of the activity.
    pub share: f64,
}

/// What a column of the reduced model differs by.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnError {
    /// Its name.
    pub name: String,
    /// Largest difference, relative to the largest value of the column; infinite where that is zero.
    pub worst: f64,
}

/// A smaller model.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The text of the main file.
    pub text: String,
    /// What was left out, the least active first.
    pub left_out: Vec<LeftOut>,
    /// Elements below the limit that stay: (name, why).
    pub kept: Vec<(String, String)>,
    /// Part of the activity that stays.
    pub activity: f64,
    /// The error on each recorded column.
    pub errors: Vec<ColumnError>,
}

/// Why there is no proposal.
#[derive(Clone, Debug)]
pub enum NoProposal {
    /// The part to keep makes no sense.
    Share(f64),
    /// Nothing is below the limit, or all of it has to stay: (name, why).
    Nothing(Vec<(String, String)>),
    /// The whole model does not run.
    Run(Vec<Diagnostic>),
}

impl NoProposal {
    /// Says it to who asked for this share.
    pub fn refused(self, share: &str) -> Refused {
        match self {
            NoProposal::Share(_) => Refused::Call(format!(
                "{share} is not a share of the activity: it lies between 0 and 1, such as 99% or 0.99"
            )),
            NoProposal::Run(messages) => Refused::Run(messages),
            NoProposal::Nothing(kept) => {
                let reasons = kept.iter();
                let reasons = reasons.map(|(name, why)| format!("; `{name}` stays: {why}"));
                let reasons: String = reasons.collect();
                Refused::Call(format!(
                    "nothing can be left out with {share} of the activity kept{reasons}"
                ))
            }
        }
    }
}

/// Leaves out what together moved no more than `1 − keep` of the energy.
///
/// # Errors
///
/// See [`NoProposal`].
pub fn reduce(
    design: &Design,
    activities: &Activities,
    keep: f64,
    choice: &Choice,
) -> Result<Proposal, NoProposal> {
    if !(keep > 0.0 && keep < 1.0) {
        return Err(NoProposal::Share(keep));
    }
    let whole = table_of(design).map_err(NoProposal::Run)?;
    let mut proposal = Proposal {
        text: String::new(),
        left_out: Vec::new(),
        kept: Vec::new(),
        activity: 1.0,
        errors: Vec::new(),
    };
    let mut edits: Vec<Edit> = Vec::new();
    let candidates = activities.elements.iter().filter(|e| e.share.is_some());
    for element in candidates.rev() {
        let share = element.share.unwrap_or(0.0);
        if proposal.activity - share < keep {
            break;
        }
        let tried = edit(design, activities, element.element).and_then(|(edit, mut out)| {
            out.share = share;
            let mut all = edits.clone();
            all.push(edit.clone());
            let reduced = redesign(design, &apply(design, &all), choice)?;
            reduced.compile().map_err(first_message)?;
            Ok((edit, out))
        });
        match tried {
            Ok((edit, out)) => {
                edits.push(edit);
                proposal.left_out.push(out);
                proposal.activity -= share;
            }
            Err(why) => proposal.kept.push((element.name.clone(), why)),
        }
    }
    if edits.is_empty() {
        return Err(NoProposal::Nothing(proposal.kept));
    }
    proposal.text = apply(design, &edits);
    let reduced = redesign(design, &proposal.text, choice);
    let table = reduced.and_then(|d| table_of(&d).map_err(first_message));
    match table {
        Ok(table) => proposal.errors = compare(&whole, &table),
        Err(why) => proposal.kept.push(("the reduced model".to_owned(), why)),
    }
    Ok(proposal)
}

fn first_message(messages: Vec<Diagnostic>) -> String {
    messages
        .first()
        .map_or_else(String::new, |m| m.message.clone())
}

/// A part of the main text and what stands there instead.
#[derive(Clone, Debug)]
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// How to leave out one element.
fn edit(
    design: &Design,
    activities: &Activities,
    id: ElementId,
) -> Result<(Edit, LeftOut), String> {
    let graph = &design.graph;
    let element = graph.element(id);
    let [bond] = element.ports[..] else {
        return Err("it has several ports".to_owned());
    };
    let bond = graph.bond(bond);
    let other = match bond.head.element == id {
        true => bond.tail.element,
        false => bond.head.element,
    };
    let is_one = match graph.element(other).kind {
        ElementKind::One => true,
        ElementKind::Zero => false,
        _ => return Err("it is not at a junction".to_owned()),
    };
    let change = change(graph, activities, id, other);
    let source = match (change, is_one) {
        (Change::Remove, true) | (Change::Ground, _) => "Se",
        (Change::Remove, false) | (Change::Rigid, _) => "Sf",
    };
    let (start, end) = place(design, id)?;
    let out = LeftOut {
        name: graph.element_name(id),
        junction: short_name(graph, other),
        change,
        share: 0.0,
    };
    let text = format!("{source}(0)");
    Ok((Edit { start, end, text }, out))
}

/// Whether the own variable of an element is small against those beside it, or the shared one.
fn change(
    graph: &BondGraph,
    activities: &Activities,
    id: ElementId,
    junction: ElementId,
) -> Change {
    let is_one = graph.element(junction).kind == ElementKind::One;
    let own = graph.element(id).ports[0];
    // At a 1-junction efforts differ and the flow is shared.
    let differing = |k: paynter::model::BondId| {
        let load = &activities.bonds[k.0 as usize];
        if is_one { load.effort } else { load.flow }
    };
    let shared_of = |k: paynter::model::BondId| {
        let load = &activities.bonds[k.0 as usize];
        if is_one { load.flow } else { load.effort }
    };
    let beside = graph.element(junction).ports.iter().filter(|b| **b != own);
    let largest = beside.map(|&b| differing(b)).fold(0.0, f64::max);
    let own_part = differing(own) / largest.max(f64::MIN_POSITIVE);
    // The shared variable against that of the junctions of the other kind around.
    let mut around = 0.0_f64;
    for &b in &graph.element(junction).ports {
        let bond = graph.bond(b);
        let far = match bond.head.element == junction {
            true => bond.tail.element,
            false => bond.head.element,
        };
        if graph.element(far).kind.is_junction() {
            let of_far = graph.element(far).ports.iter().filter(|x| **x != b);
            around = of_far.map(|&x| shared_of(x)).fold(around, f64::max);
        }
    }
    let shared_part = match around > 0.0 {
        true => shared_of(own) / around,
        false => f64::INFINITY,
    };
    match (own_part <= shared_part, is_one) {
        (true, _) => Change::Remove,
        (false, true) => Change::Rigid,
        (false, false) => Change::Ground,
    }
}

/// Where the kind and value of an element stand in the main file: behind `name:`.
fn place(design: &Design, id: ElementId) -> Result<(usize, usize), String> {
    let graph = &design.graph;
    let element = graph.element(id);
    if element.depth > 0 {
        return Err("it is inside a part, which others may use as well".to_owned());
    }
    if element.part_of.is_some() {
        return Err("it is a component of a vector element".to_owned());
    }
    let path = element.name.ok_or("it has no name")?;
    let name = graph.signals.names.display(path);
    let main = design
        .project
        .files
        .first()
        .ok_or("there is no main file")?;
    let text = &design.project.sources.file(main.file).text;
    let letters = element.kind.letters();
    // Models of one file may use the same names; what this one extends may stand elsewhere.
    let models = parse(main.file, text).ast.items.into_iter();
    let mut models = models.filter_map(|item| match item.kind {
        ItemKind::Model(m) if *m.name.text == *design.model => Some(item.span),
        _ => None,
    });
    let own = models.next().and_then(|span| {
        let (start, end) = (span.start as usize, span.end as usize);
        let (from, to) = find_constructor(&text[start..end], &name, letters)?;
        Some((start + from, start + to))
    });
    let found = own.or_else(|| find_constructor(text, &name, letters));
    found.ok_or_else(|| {
        "its line could not be found in the main file, or its name appears there more than once"
            .to_owned()
    })
}

/// Finds `name: KIND(…)` or `name: KIND { … }`; none unless there is exactly one.
fn find_constructor(text: &str, name: &str, kind: &str) -> Option<(usize, usize)> {
    let mut found = None;
    for (at, _) in text.match_indices(name) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.')
            || is_comment(text, at)
        {
            continue;
        }
        let rest = &text[at + name.len()..];
        let Some(rest) = rest.trim_start().strip_prefix(':') else {
            continue;
        };
        let rest = rest.trim_start();
        let start = text.len() - rest.len();
        let Some(body) = rest.strip_prefix(kind) else {
            continue;
        };
        let end = start + kind.len() + closed(body)?;
        if found.replace((start, end)).is_some() {
            return None;
        }
    }
    found
}

fn is_comment(text: &str, at: usize) -> bool {
    let line = text[..at].rfind('\n').map_or(0, |k| k + 1);
    text[line..at].contains("//")
}

/// The length of what stands in brackets at the beginning.
fn closed(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (k, c) in text.char_indices() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(k + 1);
                }
            }
            c if depth == 0 && !c.is_whitespace() => return None,
            _ => {}
        }
    }
    None
}

fn apply(design: &Design, edits: &[Edit]) -> String {
    let main = design
        .project
        .files
        .first()
        .expect("a design has a main file");
    let mut text = design.project.sources.file(main.file).text.to_string();
    let mut sorted = edits.to_vec();
    sorted.sort_by_key(|e| std::cmp::Reverse(e.start));
    for edit in sorted {
        text.replace_range(edit.start..edit.end, &edit.text);
    }
    text
}

/// Reads the changed text; other files are those on disk.
fn redesign(design: &Design, text: &str, choice: &Choice) -> Result<Design, String> {
    let path = design.path.display().to_string();
    let mut loader = Overlay::new(paynter::loader::DiskLoader::default());
    loader.set(&path, text);
    design_in(&mut loader, &path, choice).map_err(|e| match e {
        DesignError::Unreadable(message) => message,
        DesignError::Model(Failed { diagnostics, .. }) => {
            let errors = diagnostics.into_iter().filter(Diagnostic::is_error);
            first_message(errors.collect())
        }
    })
}

/// Runs the experiment.
pub(crate) fn table_of(design: &Design) -> Result<Table, Vec<Diagnostic>> {
    let mut design = design.clone();
    // References belong to the whole model.
    design.plan.comparisons.clear();
    let choice = RunChoice {
        engine: Engine::Auto,
        ..RunChoice::default()
    };
    let outcome = run(&design, &choice, &mut |_| ControlFlow::Continue(()))?;
    match outcome.run.ending {
        Ending::Failed {
            why: diagnostics, ..
        } => Err(diagnostics),
        _ => Ok(outcome.run.table),
    }
}

/// How far the columns of one run are from those of another.
pub(crate) fn compare(whole: &Table, reduced: &Table) -> Vec<ColumnError> {
    let columns = whole.columns.iter().filter_map(|column| {
        let other = reduced.column(&column.name)?;
        let mut worst = 0.0_f64;
        for (t, value) in whole.time.iter().zip(&column.values) {
            let beside = at(reduced, &other.values, *t)?;
            worst = worst.max((beside - value).abs());
        }
        let size = column.values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        Some(ColumnError {
            name: column.name.clone(),
            worst: match (worst, size) {
                (0.0, _) => 0.0,
                (_, 0.0) => f64::INFINITY,
                (worst, size) => worst / size,
            },
        })
    });
    columns.collect()
}

/// The value at a time, between rows on a straight line.
fn at(table: &Table, values: &[f64], t: f64) -> Option<f64> {
    let next = table
        .time
        .partition_point(|x| *x < t)
        .min(values.len().checked_sub(1)?);
    if next == 0 || table.time[next] <= t {
        return Some(values[next]);
    }
    let part = (t - table.time[next - 1]) / (table.time[next] - table.time[next - 1]);
    Some(values[next - 1] + part * (values[next] - values[next - 1]))
}

#[cfg(test)]
mod tests {
    use super::find_constructor;

    #[test]
    fn a_constructor_is_found_by_its_name_and_kind_only_once() {
        let text = "a -> m: I(2 [kg]), mm: I(3)\n// m: I(9)\nb -> k: C { e = (1 + q)*q }";
        let (start, end) = find_constructor(text, "m", "I").expect("it is there");
        assert_eq!(&text[start..end], "I(2 [kg])");
        let (start, end) = find_constructor(text, "k", "C").expect("it is there");
        assert_eq!(&text[start..end], "C { e = (1 + q)*q }");
        assert_eq!(find_constructor("m: I(1)\nm: I(2)", "m", "I"), None);
        assert_eq!(find_constructor(text, "k", "I"), None);
    }
}
