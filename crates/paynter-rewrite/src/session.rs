//! One rewriting from beginning to end: find the model, change its net, write it, prove it.
//!
//! In:  a file, a [`Wish`] of the model, and what is done to the net.
//! Out: a [`Rewritten`].

use crate::code;
use crate::net::{Kind, Net, Step};
use crate::proof::{Correspondence, Proof, Side, prove};
use crate::read::{Source, read};
use crate::starts::{begun_apart, carry_starts};
use crate::write::write;
use paynter::design::open;
use paynter::model::project::{Loader, Project};
use paynter::syntax::ast::{Experiment, ExperimentKind, File, ItemKind, Model, StmtKind};
use paynter::syntax::{Diagnostic, SourceMap, Span, parse};
use paynter::{DesignError, Failed};
use std::collections::{BTreeMap, BTreeSet};

/// Which model of the file is meant.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Its name; that of the experiment, else the first with experiments, else the last where none is given.
    pub model: Option<String>,
    /// An experiment of it.
    pub experiment: Option<String>,
}

/// A model written anew.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The whole file; what was done and the proof are its last lines.
    pub text: String,
    /// The model.
    pub model: String,
    /// What was done.
    pub steps: Vec<Step>,
    /// Old names and what they are now.
    pub map: Vec<(String, String)>,
    /// What could not be done, and why.
    pub refused: Vec<String>,
    /// The proof; none where nothing was changed.
    pub proof: Option<Proof>,
    /// What the proof compares.
    pub correspondence: Correspondence,
    /// Where the model is named in the old text.
    place: Span,
    sources: SourceMap,
}

impl Rewritten {
    /// Tells whether the new text may be used.
    pub fn holds(&self) -> bool {
        self.proof.as_ref().is_none_or(Proof::holds)
    }

    /// What is wrong, if the proof fails.
    pub fn failed(&self) -> Option<Failed> {
        let proof = self.proof.as_ref().filter(|p| !p.holds())?;
        let message = Diagnostic::error(
            code::NO_PROOF,
            format!(
                "the new text of `{}` is not shown to be equal to the old one",
                self.model
            ),
        )
        .primary(self.place, proof.line());
        Some(Failed {
            sources: self.sources.clone(),
            diagnostics: vec![message],
        })
    }

    /// Steps, map, refusals and proof, one line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        lines.extend(self.steps.iter().map(|s| format!("{}: {}", s.rule, s.text)));
        lines.extend(
            self.map
                .iter()
                .map(|(old, new)| format!("map {old} = {new}")),
        );
        lines.extend(self.refused.iter().map(|r| format!("not done: {r}")));
        match &self.proof {
            Some(proof) => lines.push(proof.line()),
            None => lines.push("nothing to do: no rule applies".to_owned()),
        }
        lines
    }
}

/// Changes the net of a model.
pub type Change<'c> =
    &'c mut dyn FnMut(&mut Net, &Source<'_>) -> Result<Vec<Step>, Vec<Diagnostic>>;

/// Rewrites a model.
///
/// # Errors
///
/// The file cannot be read or has errors, or the model is none that can be rewritten.
pub fn rewrite<L: Loader + Clone>(
    loader: &mut L,
    path: &str,
    wish: &Wish,
    change: Change<'_>,
) -> Result<Rewritten, DesignError> {
    let (project, name, choice) = opened(loader, path, wish)?;
    let main = &project.files[0];
    let text = project.sources.file(main.file).text.to_string();
    // The project has models in the place of Lagrangians; here the text counts as it is written.
    let parsed = parse(main.file, &text);
    let source = Source {
        file: &parsed.ast,
        text: &text,
        model: model_in(&parsed.ast, &name)
            .ok_or_else(|| failed(&project, vec![not_a_model(&parsed.ast, &name)]))?,
    };
    let before = read(&source);
    let (mut net, mut steps) =
        changed(loader, path, (&source, &before), change).map_err(|m| failed(&project, m))?;
    if steps.is_empty() {
        let place = source.model.name.span;
        return Ok(unchanged((&project, place), text.clone(), name, net));
    }

    let correspondence = correspondence(&source, &before, &net);
    let started = carry_starts(loader, path, &source, &mut net, &correspondence);
    let written = write(&source, &net);
    let side = |text| Side {
        path,
        text,
        model: &name,
    };
    let proof = match started {
        Ok(further) => {
            steps.extend(further);
            prove(loader, &side(&text), &side(&written), &correspondence)
        }
        Err(why) => Proof::failed(why),
    };
    if !proof.holds() {
        // A model that is wrong by itself cannot be proved equal to anything: its own messages say more.
        paynter::design_in(loader, path, &choice)?;
    }
    let mut rewritten = Rewritten {
        text: written,
        model: name,
        steps,
        map: map(&before, &net),
        refused: net.refused.iter().cloned().collect(),
        proof: Some(proof),
        correspondence,
        place: source.model.name.span,
        sources: project.sources.clone(),
    };
    rewritten.append_report();
    Ok(rewritten)
}

/// The project of a file, the model that is meant, and the choice of it. What is wrong with the model is said at the
/// user's own lines, before anything is changed.
fn opened<L: Loader>(
    loader: &mut L,
    path: &str,
    wish: &Wish,
) -> Result<(Project, String, paynter::Choice), DesignError> {
    let (project, diagnostics) = open(loader, path).map_err(DesignError::Unreadable)?;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(failed(&project, diagnostics));
    }
    let name = model_name(&project, path, wish)?;
    let choice = paynter::Choice {
        model: wish.experiment.is_none().then(|| name.clone()),
        experiment: wish.experiment.clone(),
        ..paynter::Choice::default()
    };
    if wish.experiment.is_some() {
        paynter::design_in(loader, path, &choice)?;
    }
    Ok((project, name, choice))
}

/// What is said of a model to which no rule applies.
fn unchanged(
    (project, place): (&Project, Span),
    text: String,
    model: String,
    net: Net,
) -> Rewritten {
    Rewritten {
        text,
        model,
        steps: Vec::new(),
        map: Vec::new(),
        refused: net.refused.into_iter().collect(),
        proof: None,
        correspondence: Correspondence::default(),
        place,
        sources: project.sources.clone(),
    }
}

/// The net after a change that takes nothing for granted that a run does not begin with.
fn changed<L: Loader + Clone>(
    loader: &L,
    path: &str,
    (source, before): (&Source<'_>, &Net),
    change: Change<'_>,
) -> Result<(Net, Vec<Step>), Vec<Diagnostic>> {
    let mut apart = BTreeSet::new();
    loop {
        let mut net = before.clone();
        net.apart.clone_from(&apart);
        let steps = change(&mut net, source)?;
        let with = correspondence(source, before, &net);
        let found = begun_apart(loader, path, source, (&net.ties, &with));
        let n_before = apart.len();
        apart.extend(found);
        if apart.len() == n_before {
            return Ok((net, steps));
        }
    }
}

/// Looks at a model as it is written.
///
/// # Errors
///
/// The file cannot be read or has errors, the model is none that can be rewritten, or what `look` says.
pub(crate) fn source_of<L: Loader>(
    loader: &mut L,
    path: &str,
    wish: &Wish,
    look: &mut dyn FnMut(&Source<'_>) -> Result<(), Vec<Diagnostic>>,
) -> Result<(), DesignError> {
    let (project, diagnostics) = open(loader, path).map_err(DesignError::Unreadable)?;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(failed(&project, diagnostics));
    }
    let name = model_name(&project, path, wish)?;
    let main = &project.files[0];
    let text = project.sources.file(main.file).text.to_string();
    let parsed = parse(main.file, &text);
    let source = Source {
        file: &parsed.ast,
        text: &text,
        model: model_in(&parsed.ast, &name)
            .ok_or_else(|| failed(&project, vec![not_a_model(&parsed.ast, &name)]))?,
    };
    look(&source).map_err(|m| failed(&project, m))
}

fn model_in<'f>(file: &'f File, name: &str) -> Option<&'f Model> {
    file.items.iter().find_map(|item| match &item.kind {
        ItemKind::Model(m) if *m.name.text == *name => Some(m),
        _ => None,
    })
}

impl Rewritten {
    fn append_report(&mut self) {
        let mut text = self.text.trim_end().to_owned();
        text.push_str(&format!("\n\n// {} was rewritten:\n", self.model));
        for line in self.lines() {
            text.push_str(&format!("// {line}\n"));
        }
        self.text = text;
    }
}

fn failed(project: &Project, diagnostics: Vec<Diagnostic>) -> DesignError {
    DesignError::Model(Failed {
        sources: project.sources.clone(),
        diagnostics,
    })
}

/// The model that is meant.
fn model_name(project: &Project, path: &str, wish: &Wish) -> Result<String, DesignError> {
    if let Some(name) = &wish.model {
        return Ok(name.clone());
    }
    let items = &project.files[0].ast.items;
    let mut experiments = items.iter().filter_map(|item| match &item.kind {
        ItemKind::Experiment(e) => Some(e),
        _ => None,
    });
    let of = |e: &paynter::syntax::ast::Experiment| {
        e.of.segments
            .last()
            .map_or(String::new(), |s| s.text.to_string())
    };
    if let Some(wanted) = &wish.experiment {
        let found = experiments.find(|e| *e.name.text == **wanted);
        return found.map(of).ok_or_else(|| {
            DesignError::Unreadable(format!("{path}: there is no experiment `{wanted}`"))
        });
    }
    if let Some(first) = experiments.next() {
        return Ok(of(first));
    }
    let last = items.iter().rev().find_map(|item| match &item.kind {
        ItemKind::Model(m) => Some(m.name.text.to_string()),
        _ => None,
    });
    last.ok_or_else(|| DesignError::Unreadable(format!("{path}: there is no model")))
}

fn not_a_model(file: &File, name: &str) -> Diagnostic {
    let items = &file.items;
    let block = items.iter().find_map(|item| match &item.kind {
        ItemKind::Lagrangian(l) if *l.name.text == *name => Some(l.name.span),
        _ => None,
    });
    let message = Diagnostic::error(
        code::NOT_A_MODEL,
        match block {
            Some(_) => format!("`{name}` is a Lagrangian and has no bonds to rewrite"),
            None => format!("there is no model `{name}` in this file"),
        },
    );
    match block {
        Some(span) => message
            .primary(span, "its graph is not written yet")
            .help("write it with `paynter lagrangian FILE --out NEW.bond`, and rewrite that file"),
        None => message
            .primary(
                Span::default(),
                "only models of the file itself are rewritten",
            )
            .help("name one of its models with `--model`"),
    }
}

/// Every quantity that both models have.
fn correspondence(source: &Source<'_>, before: &Net, net: &Net) -> Correspondence {
    let mut columns = Vec::new();
    for (id, thing) in before.things.iter().enumerate() {
        let Some(name) = thing.name.clone().filter(|_| thing.owner.is_some()) else {
            continue;
        };
        for quantity in quantities(thing.kind) {
            let path = format!("{name}.{quantity}");
            if net.unlike.contains(&path) {
                continue;
            }
            match net.present_image_of(&path) {
                Some(image) => columns.push((path, image)),
                None if net.things[id].is_alive => columns.push((path.clone(), path)),
                None => {}
            }
        }
    }
    for (at, statement) in source.model.body.iter().enumerate() {
        if let StmtKind::Define(d) = &statement.kind
            && !net.replaced.contains_key(&at)
            && let [part] = d.target.parts.as_slice()
            && part.index.is_empty()
        {
            let name = part.name.text.to_string();
            if d.is_derivative {
                let rate = format!("der({name})");
                columns.push((rate.clone(), rate));
            }
        }
    }
    columns.extend(net.compared.iter().cloned());
    let origins = net.origins.keys();
    let origins = origins.filter_map(|k| Some((k.clone(), net.origin_of(k)?)));
    let experiments = source.experiments().map(|e| e.name.text.to_string());
    Correspondence {
        columns,
        origins: origins.collect::<BTreeMap<_, _>>(),
        ties: net.ties.clone(),
        fixed: net.fixed.iter().cloned().collect(),
        parameters: net.parameters.clone(),
        with: with_lines(source, net),
        experiments: experiments
            .filter(|e| !net.dropped_experiments.contains(e))
            .collect(),
    }
}

fn quantities(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::One => &["f"],
        Kind::Zero => &["e"],
        Kind::C => &["e", "f", "q"],
        Kind::I => &["e", "f", "p"],
        Kind::R | Kind::Se | Kind::Sf => &["e", "f"],
        Kind::Tf | Kind::Gy | Kind::Other => &[],
    }
}

/// What the first experiment sets: inputs without a value need one.
pub(crate) fn with_lines(source: &Source<'_>, net: &Net) -> String {
    let is_kept = |e: &&Experiment| !net.dropped_experiments.contains(&*e.name.text);
    let Some(first) = source.experiments().find(is_kept) else {
        return String::new();
    };
    let lines = first
        .statements()
        .filter(|s| matches!(s.kind, ExperimentKind::With(_)))
        .map(|s| source.slice(s.span));
    lines.collect::<Vec<String>>().join("\n")
}

/// Old names that mean something else now; those that nothing reads are reported once for each element.
fn map(before: &Net, net: &Net) -> Vec<(String, String)> {
    let mut map = Vec::new();
    for thing in before.things.iter().filter(|t| t.owner.is_some()) {
        let Some(name) = &thing.name else { continue };
        for quantity in quantities(thing.kind) {
            let path = format!("{name}.{quantity}");
            if let Some(image) = net.present_image_of(&path) {
                map.push((path, image));
            }
        }
    }
    map
}
