//! FMUs of others as parts: `motor: Fmu("motor.fmu")`.
//!
//! In:  the bytes of an FMU, and where it is named.
//! Out: [`Foreign`]: a model in this language whose lines call functions of the FMU, for Model Exchange and for
//!      Co-Simulation, as far as the FMU has them; or why it cannot be a part.
//!
//! The model is a text of its own among the sources, as that of a `lagrangian` is; messages about it are shown where the
//! FMU is named. Its states, events and samples are then like those of any part.
//!
//! **Invariant:** reading an FMU runs nothing of it.

mod text;
mod units;

use paynter_fmi::{Causality, Fmu, Interface, Part, Problem, Variability};
use paynter_symbolic::expr::External;
use paynter_syntax::{Diagnostic, FileId, SourceMap, Span, ast};
use std::sync::Arc;

use crate::elaborate::code;
use text::{Kind, write};

/// The word that names an FMU in a model.
pub(crate) const WORD: &str = "Fmu";
/// The argument that makes it a sampled part.
pub(crate) const PERIOD: &str = "period";
/// The function that calls an FMU; only derived texts can say it.
pub(crate) const CALL: &str = "foreign";

/// An FMU that is named in a text.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// Where its word is.
    pub place: Span,
    /// As a part with continuous states.
    pub exchange: Outcome,
    /// As a sampled part.
    pub sampled: Outcome,
}

/// A model, or the message why there is none.
pub type Outcome = Result<Arc<ForeignModel>, Box<Diagnostic>>;

/// A model that was written for an FMU.
#[derive(Clone, Debug)]
pub struct ForeignModel {
    /// The model.
    pub model: ast::Model,
    /// What its text calls, by number.
    pub functions: Vec<Arc<dyn External>>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// Where an FMU is named: the word `Fmu`, and the text after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named<'t> {
    /// First byte of the word.
    pub at: usize,
    /// Path of the file.
    pub path: &'t str,
}

/// Finds FMUs by their looks. One too many (inside a comment) does no harm: what is wrong with it matters only where
/// it is used.
pub(crate) fn named(text: &str) -> impl Iterator<Item = Named<'_>> {
    text.match_indices(WORD).filter_map(|(at, word)| {
        let rest = text[at + word.len()..].trim_start().strip_prefix('(')?;
        let rest = rest.trim_start().strip_prefix('"')?;
        let end = rest.find(['"', '\n'])?;
        let is_closed = rest[end..].starts_with('"');
        is_closed.then(|| Named {
            at,
            path: &rest[..end],
        })
    })
}

/// Functions of both kinds of an FMU, shared by all parts that name its file.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    fmu: Fmu,
    exchange: Option<Part>,
    sampled: Option<Part>,
    /// Units that nobody knows, with a variable of each.
    unknown_units: Vec<(String, String)>,
}

/// Reads an FMU.
pub(crate) fn read(bytes: Result<Vec<u8>, String>) -> Result<Shared, Problem> {
    let bytes = bytes.map_err(Problem::Archive)?;
    let mut fmu = Fmu::read(&bytes)?;
    let unknown_units = units::settle(&mut fmu.description);
    let description = &fmu.description;
    let exchange = description.model_exchange.as_ref();
    let sampled = description.co_simulation.as_ref();
    Ok(Shared {
        exchange: exchange.map(|interface| paynter_fmi::model_exchange(&fmu, interface)),
        sampled: sampled.map(|interface| paynter_fmi::co_simulation(&fmu, interface)),
        unknown_units,
        fmu,
    })
}

/// Makes the models of an FMU that is named at a place.
pub(crate) fn models(
    shared: &Result<Shared, Problem>,
    path: &str,
    place: Span,
    sources: &mut SourceMap,
) -> Foreign {
    let shared = match shared {
        Ok(shared) => shared,
        Err(problem) => {
            let message = Box::new(explain(problem, path, place));
            return Foreign {
                place,
                exchange: Err(message.clone()),
                sampled: Err(message),
            };
        }
    };
    let mut one = |kind: Kind| make(shared, kind, path, place, sources);
    Foreign {
        place,
        exchange: one(Kind::Exchange),
        sampled: one(Kind::Sampled),
    }
}

fn explain(problem: &Problem, path: &str, place: Span) -> Diagnostic {
    let code = match problem {
        Problem::Archive(_) | Problem::Description(_) => code::FMU_UNREADABLE,
        Problem::Version(_) | Problem::Platform { .. } => code::FMU_OF_ANOTHER_KIND,
    };
    let message = Diagnostic::error(code, format!("the FMU `{path}` cannot be used"))
        .primary(place, problem.to_string());
    match problem {
        Problem::Platform { found, .. } if found.is_empty() => {
            message.help("compile its sources, or export it again where a C compiler is installed")
        }
        Problem::Platform { .. } => message.help("export it for this platform"),
        _ => message,
    }
}

fn make(shared: &Shared, kind: Kind, path: &str, place: Span, sources: &mut SourceMap) -> Outcome {
    let description = &shared.fmu.description;
    let (part, interface) = match kind {
        Kind::Exchange => (&shared.exchange, &description.model_exchange),
        Kind::Sampled => (&shared.sampled, &description.co_simulation),
    };
    let (Some(part), Some(interface)) = (part, interface) else {
        return Err(Box::new(missing_kind(shared, kind, path, place)));
    };
    refuse(shared, interface, kind, path, place)?;
    if let Err(problem) = shared.fmu.check_platform(interface) {
        return Err(Box::new(explain(&problem, path, place)));
    }
    let text = write(description, part, kind);
    let source = sources.add_derived(
        format!("{WORD}(\"{path}\")"),
        text.as_str(),
        vec![(u32::MAX, place)],
    );
    let parsed = paynter_syntax::parse(source, &text);
    let model = parsed
        .ast
        .items
        .into_iter()
        .find_map(|item| match item.kind {
            ast::ItemKind::Model(model) => Some(model),
            _ => None,
        });

    Ok(Arc::new(ForeignModel {
        model: model.expect("the text of an FMU is a model"),
        functions: part.functions.clone(),
        warnings: warnings(shared, path, place),
    }))
}

fn missing_kind(shared: &Shared, kind: Kind, path: &str, place: Span) -> Diagnostic {
    let has_other = match kind {
        Kind::Exchange => shared.sampled.is_some(),
        Kind::Sampled => shared.exchange.is_some(),
    };
    let (what, help) = match (kind, has_other) {
        (_, false) => (
            "it has neither Model Exchange nor Co-Simulation",
            "export it again as one of these".to_owned(),
        ),
        (Kind::Exchange, _) => (
            "it has Co-Simulation only, which is sampled",
            format!("give the period of its steps: `{WORD}(\"{path}\", {PERIOD} = 1 [ms])`"),
        ),
        (Kind::Sampled, _) => (
            "it has Model Exchange only, which is not sampled",
            format!("leave `{PERIOD}` out"),
        ),
    };
    Diagnostic::error(
        code::FMU_OF_ANOTHER_KIND,
        format!("the FMU `{path}` cannot be used in this way"),
    )
    .primary(place, what)
    .help(help)
}

/// Refuses what would be left out in silence.
fn refuse(
    shared: &Shared,
    interface: &Interface,
    kind: Kind,
    path: &str,
    place: Span,
) -> Result<(), Box<Diagnostic>> {
    let no = |why: String, help: Option<String>| {
        let message = Diagnostic::error(
            code::FMU_NOT_SUPPORTED,
            format!("the FMU `{path}` needs something that is not implemented"),
        )
        .primary(place, why);
        Err(Box::new(match help {
            Some(help) => message.help(help),
            None => message,
        }))
    };

    if interface.needs_tool {
        return no("it starts another program".to_owned(), None);
    }
    let variables = &shared.fmu.description.variables;
    let states = &shared.fmu.description.states;
    if let Some(&k) = states.iter().find(|&&k| variables[k].is_array) {
        return no(
            format!("its state `{}` is an array", variables[k].name),
            None,
        );
    }

    for input in variables.iter().filter(|v| v.causality == Causality::Input) {
        let name = &input.name;
        if input.is_array {
            return no(format!("its input `{name}` is an array"), None);
        }
        if !input.sort.is_number() {
            return no(format!("its input `{name}` is a string or a clock"), None);
        }
        let jumps = !input.sort.is_real() || input.variability != Variability::Continuous;
        if kind == Kind::Exchange && jumps {
            let why = format!("its input `{name}` may change at events only");
            let help = format!("run it sampled: `{WORD}(\"{path}\", {PERIOD} = 1 [ms])`");
            let help = shared.sampled.is_some().then_some(help);
            return no(why, help);
        }
    }
    Ok(())
}

fn warnings(shared: &Shared, path: &str, place: Span) -> Vec<Diagnostic> {
    let unknown = shared.unknown_units.iter();
    unknown
        .map(|(unit, variable)| {
            Diagnostic::warning(
                code::FMU_UNIT,
                format!("the unit `{unit}` of `{variable}` in `{path}` is not known"),
            )
            .primary(place, "its numbers are used unchanged")
            .help("multiply what is given to it and what it gives by the right factor")
        })
        .collect()
}

/// Gives what a derived text calls.
pub(crate) fn functions<'p>(
    files: impl IntoIterator<Item = &'p Foreign>,
    source: FileId,
) -> Option<&'p [Arc<dyn External>]> {
    let all = files.into_iter().flat_map(|f| [&f.exchange, &f.sampled]);
    let mut models = all.filter_map(|outcome| outcome.as_ref().ok());
    let of_source = |m: &&Arc<ForeignModel>| m.model.name.span.file == source;
    models.find(of_source).map(|m| m.functions.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fmus_are_found_by_their_looks() {
        let text = "a: Fmu(\"x.fmu\", k = 1)\nb: Fmu ( \"dir/y.fmu\" ) Fmu(3) Fmu(\"open\n";
        let found: Vec<&str> = named(text).map(|n| n.path).collect();
        assert_eq!(found, ["x.fmu", "dir/y.fmu"]);
    }
}
