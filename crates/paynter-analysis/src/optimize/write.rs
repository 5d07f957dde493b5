//! Writes found values back as an experiment.
//!
//! In:  the text of a model, the design that was searched, the optimum.
//! Out: the text with one more experiment: the searched one without its search, with the values that were found.

use super::optimum::Optimum;
use paynter_design::design::{Design, format_text};
use paynter_syntax::ast;

/// The first words of the comment above an experiment that was written here.
const MARK: &str = "/// Found by `paynter optimize`";

/// Why nothing is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// No values, or none that meet all conditions.
    NothingFound,
    /// An experiment of this name is there and was written by somebody else.
    Taken(String),
    /// The text cannot be laid out.
    Unreadable,
}

impl std::fmt::Display for WriteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WriteError::NothingFound => write!(
                f,
                "there are no values that meet all conditions, so nothing is written"
            ),
            WriteError::Taken(name) => write!(
                f,
                "the file has an experiment `{name}` already; choose another name with --write NAME"
            ),
            WriteError::Unreadable => {
                write!(f, "the model has errors, so nothing is written into it")
            }
        }
    }
}

/// The experiment with the found values, as text.
///
/// # Errors
///
/// Nothing was found.
pub fn experiment_text(
    design: &Design,
    optimum: &Optimum,
    name: &str,
) -> Result<String, WriteError> {
    if !optimum.is_feasible || optimum.values.is_empty() {
        return Err(WriteError::NothingFound);
    }
    let experiment = experiment_named(design, &optimum.experiment).ok_or(WriteError::Unreadable)?;
    let source = |span| design.project.sources.text(span).trim();
    let mut lines = kept_lines(design, optimum, experiment);

    let found: Vec<String> = optimum
        .values
        .iter()
        .map(|v| format!("{} = {}", v.name, v.written))
        .collect();
    lines.insert(0, format!("with {}", found.join(", ")));
    let aim = optimum.aim.as_ref().map_or(String::new(), |a| {
        format!(
            ": {} = {}",
            a.text,
            paynter_design::digits::significant(a.value, a.digits)
        )
    });
    Ok(format!(
        "{MARK} from `{}`{aim}.\nexperiment {name} of {} {{\n    {}\n}}\n",
        optimum.experiment,
        source(experiment.of.span),
        lines.join("\n    ")
    ))
}

/// The statements that stay: all but the search, and settings of what was found.
fn kept_lines(design: &Design, optimum: &Optimum, experiment: &ast::Experiment) -> Vec<String> {
    let source = |span| design.project.sources.text(span).trim();
    let is_found = |target: &ast::Ref| {
        let own = source(target.span);
        optimum.values.iter().any(|v| v.name == own)
    };
    let mut lines = Vec::new();
    for statement in experiment.statements() {
        match &statement.kind {
            ast::ExperimentKind::Optimize { .. } => {}
            ast::ExperimentKind::With(list) => {
                let kept = list.iter().filter(|a| !is_found(&a.target));
                let kept =
                    kept.map(|a| format!("{} = {}", source(a.target.span), source(a.value.span)));
                let kept: Vec<String> = kept.collect();
                if !kept.is_empty() {
                    lines.push(format!("with {}", kept.join(", ")));
                }
            }
            // Lines that were taken over in part.
            ast::ExperimentKind::Start(list) if !list.is_empty() => {
                let each = list
                    .iter()
                    .map(|a| format!("{} = {}", source(a.target.span), source(a.value.span)));
                lines.push(format!("start {}", each.collect::<Vec<_>>().join(", ")));
            }
            ast::ExperimentKind::Measure(list) if !list.is_empty() => {
                let each = list
                    .iter()
                    .map(|(name, e)| format!("{} = {}", name.text, source(e.span)));
                lines.push(format!("measure {}", each.collect::<Vec<_>>().join(", ")));
            }
            ast::ExperimentKind::Start(_) | ast::ExperimentKind::Measure(_) => {}
            _ => lines.push(source(statement.span).to_owned()),
        }
    }
    lines
}

/// The text of the main file with the experiment in it, replacing one that was written before.
///
/// # Errors
///
/// Nothing was found, or the name is taken.
pub fn with_experiment(
    design: &Design,
    text: &str,
    optimum: &Optimum,
    name: &str,
) -> Result<String, WriteError> {
    let own = experiment_text(design, optimum, name)?;
    let mut text = text.to_owned();
    if experiment_named(design, name).is_some() {
        let before =
            written_before(&text, name).ok_or_else(|| WriteError::Taken(name.to_owned()))?;
        text.replace_range(before, "");
    }
    let text = format!("{}\n\n{own}", text.trim_end());
    match format_text("model", &text) {
        Ok(laid_out) => Ok(laid_out.unwrap_or(text)),
        Err(_) => Err(WriteError::Unreadable),
    }
}

/// Where an experiment with our mark is in a text, up to its closing brace.
fn written_before(text: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let head = format!("\nexperiment {name} of ");
    let at = text.find(&head)?;
    let above = text[..at].rfind('\n').map_or(0, |k| k + 1);
    if !text[above..].starts_with(MARK) {
        return None;
    }
    let end = text[at..].find("\n}")? + at + 2;
    Some(above..end)
}

fn experiment_named<'d>(design: &'d Design, name: &str) -> Option<&'d ast::Experiment> {
    let items = design.project.files.first()?.ast.items.iter();
    let mut experiments = items.filter_map(|item| match &item.kind {
        ast::ItemKind::Experiment(e) => Some(e),
        _ => None,
    });
    experiments.find(|e| &*e.name.text == name)
}
