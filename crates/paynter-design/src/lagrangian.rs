//! From a file with `lagrangian` blocks to one with models, and the proof that they are the same.
//!
//! In:  a `.bond` text found by a [`Loader`], which block is meant, and how gyrators are to be put.
//! Out: the text with the blocks replaced by models, and for each block a proof.
//!
//! **Invariant:** a proof is made from the text as it is written: parsed, elaborated, and compared with the
//! energies of the block. What derived the text has no part in it.

use crate::design::{DesignError, Failed, open};
use paynter_model::elaborate::elaborate;
use paynter_model::lagrange::{Block, Derived, Proof, Style, derive, prove};
use paynter_model::project::{Loader, Project, Request, load};
use paynter_syntax::ast::LagrangianKind;
use paynter_syntax::{Diagnostic, Span};

/// A text with models in place of `lagrangian` blocks.
#[derive(Clone, Debug)]
pub struct Written {
    /// The whole text; the proofs are its last lines.
    pub text: String,
    /// Each model with its proof.
    pub models: Vec<(Derived, Proof)>,
}

impl Written {
    /// Tells whether every model is equal to its block.
    pub fn holds(&self) -> bool {
        self.models.iter().all(|(_, proof)| proof.holds())
    }
}

/// Writes the models of the `lagrangian` blocks of a file, or of the one that is named.
///
/// # Errors
///
/// The file cannot be read, has errors, or has no such block.
pub fn write_lagrangians(
    loader: &mut dyn Loader,
    path: &str,
    model: Option<&str>,
    style: Style,
) -> Result<Written, DesignError> {
    let (project, diagnostics) = open(loader, path).map_err(DesignError::Unreadable)?;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(failed(project, diagnostics));
    }
    let blocks = blocks(&project, path, model)?;
    let mut derived = Vec::new();
    for (block, span) in &blocks {
        match derive(block, style) {
            Ok(found) => derived.push((*span, found)),
            Err(messages) => return Err(failed(project.clone(), messages)),
        }
    }

    // What is wrong with a model is said at the user's own lines, before its text is written.
    for (block, _) in &blocks {
        let mut own = project.clone();
        let request = request_for(&mut own, block);
        let elaboration = elaborate(&own, &request);
        if elaboration.elaborated.is_none() {
            let diagnostics = elaboration.diagnostics;
            return Err(failed(own.clone(), diagnostics));
        }
    }

    let text = replaced(&project, &derived);
    let mut models = Vec::new();
    for ((block, _), (_, derived)) in blocks.iter().zip(derived) {
        let proof = proof_of(loader, path, &text, block)?;
        models.push((derived, proof));
    }
    let mut written = Written { text, models };
    for (derived, proof) in &written.models {
        let name = match written.models.len() {
            1 => String::new(),
            _ => format!("{}: ", derived.name),
        };
        written
            .text
            .push_str(&format!("// {name}{}\n", proof.line()));
    }
    Ok(written)
}

fn failed(project: Project, diagnostics: Vec<Diagnostic>) -> DesignError {
    DesignError::Model(Failed {
        sources: project.sources,
        diagnostics,
    })
}

/// The blocks that are meant, and where they are.
fn blocks<'p>(
    project: &'p Project,
    path: &str,
    model: Option<&str>,
) -> Result<Vec<(Block<'p>, Span)>, DesignError> {
    let n_items = project.files[0].ast.items.len();
    let all = (0..n_items).filter_map(|k| {
        let block = project.block(0, k)?;
        Some((block, project.files[0].ast.items[k].span))
    });
    let all: Vec<(Block<'p>, Span)> = all.collect();
    let names: Vec<String> = all
        .iter()
        .map(|(block, _)| block.lagrangian.name.text.to_string())
        .collect();
    let is_meant = |block: &Block<'_>| model.is_none_or(|m| *block.lagrangian.name.text == *m);
    let meant: Vec<_> = all.into_iter().filter(|(b, _)| is_meant(b)).collect();
    if !meant.is_empty() {
        return Ok(meant);
    }
    let what = model.map_or(String::new(), |m| format!(" `{m}`"));
    let known = match names.as_slice() {
        [] => String::new(),
        names => format!("; it has `{}`", names.join("`, `")),
    };
    Err(DesignError::Unreadable(format!(
        "{path} has no `lagrangian`{what}{known}"
    )))
}

/// The main file with blocks replaced by models.
fn replaced(project: &Project, derived: &[(Span, Derived)]) -> String {
    let text = &project.sources.file(project.files[0].file).text;
    let mut out = String::new();
    let mut at = 0;
    for (span, derived) in derived {
        out.push_str(text.get(at..span.start as usize).unwrap_or_default());
        out.push_str(derived.text().0.trim_end());
        at = span.end as usize;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    let mut out = out.trim_end().to_owned();
    out.push('\n');
    out
}

/// Reads a written text back, elaborates a model of it, and compares it with its block.
///
/// # Errors
///
/// The text has errors.
pub fn proof_of(
    loader: &mut dyn Loader,
    path: &str,
    text: &str,
    block: &Block<'_>,
) -> Result<Proof, DesignError> {
    let (mut project, diagnostics) = load(path, text, loader);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(failed(project, diagnostics));
    }
    let request = request_for(&mut project, block);
    let elaboration = elaborate(&project, &request);
    let Some(elaborated) = elaboration.elaborated else {
        let diagnostics = elaboration.diagnostics;
        return Err(failed(project.clone(), diagnostics));
    };
    let graph = elaborated.into_graph();
    prove(block, &graph).map_err(|messages| {
        DesignError::Model(Failed {
            sources: block.sources.clone(),
            diagnostics: messages,
        })
    })
}

/// The model of a block. A part whose parameters are given where it is used has no values of its own: any will do.
fn request_for(project: &mut Project, block: &Block<'_>) -> Request {
    let mut request = Request {
        model: Some(block.lagrangian.name.text.to_string()),
        ..Request::default()
    };
    for (name, unit) in open_values(block) {
        if let Ok(value) = project.parse_override(&name, &format!("1 {unit}")) {
            request.overrides.push(value);
        }
    }
    request
}

/// Parameters and inputs without a value, with their units.
fn open_values(block: &Block<'_>) -> Vec<(String, String)> {
    let statements = block.lagrangian.body.iter();
    let decls = statements.filter_map(|s| match &s.kind {
        LagrangianKind::Param(decls) | LagrangianKind::Input(decls) => Some(decls),
        _ => None,
    });
    decls
        .flatten()
        .filter(|decl| decl.value.is_none())
        .map(|decl| {
            let unit = decl.unit.as_ref().map(|u| block.sources.text(u.span));
            (decl.name.text.to_string(), unit.unwrap_or("").to_owned())
        })
        .collect()
}
