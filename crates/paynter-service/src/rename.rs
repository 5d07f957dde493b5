//! Gives a thing another name in every text that mentions it.
//!
//! In:  a place in a text, and the new name.
//! Out: one edit for every mention, in all texts of the workspace.
//!
//! **Invariant:** afterwards every name means what it meant before; a rename that would change a meaning is refused.

use crate::edit::{Refusal, TextEdit};
use crate::symbol::{Occurrence, Symbol, occurrences};
use crate::workspace::Workspace;
use crate::world::LIBRARY;
use paynter::syntax::{Span, TokenKind, ast, lex};

/// One mention of a symbol in some text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The text.
    pub path: String,
    /// Where.
    pub span: Span,
    /// It makes the symbol.
    pub is_definition: bool,
}

/// Finds the symbol that is named at a byte of a text, and the place of its name.
pub fn symbol_at(workspace: &Workspace, path: &str, offset: usize) -> Option<(Symbol, Span)> {
    let analysis = workspace.analysis(path)?;
    let at = offset as u32;
    let all = occurrences(&analysis, 0);
    let found = all
        .into_iter()
        .find(|o| o.span.start <= at && at <= o.span.end)?;
    Some((found.symbol, found.span))
}

/// Finds every mention of a symbol in the workspace, in the order of files and texts.
pub fn mentions(workspace: &Workspace, path: &str, symbol: &Symbol) -> Vec<Mention> {
    let mut paths: Vec<String> = match symbol {
        Symbol::Local { .. } => Vec::new(),
        _ => workspace.files(),
    };
    paths.push(crate::world::plain(path));
    paths.extend(home_of(symbol).map(str::to_owned));
    paths.sort_unstable();
    paths.dedup();
    let found = paths.iter().flat_map(|p| mentions_in(workspace, p, symbol));
    found.collect()
}

/// Finds every mention of a symbol in one text.
pub fn mentions_in(workspace: &Workspace, path: &str, symbol: &Symbol) -> Vec<Mention> {
    let Some(analysis) = workspace.analysis(path) else {
        return Vec::new();
    };
    // A text that does not use the home of the symbol cannot mention it.
    let files = &analysis.project.files;
    let knows = |home: &str| files.iter().any(|f| f.canonical_name == home);
    if !home_of(symbol).is_none_or(knows) {
        return Vec::new();
    }
    let own = occurrences(&analysis, 0).into_iter();
    let found = own.filter(|o| o.symbol == *symbol).map(|o| Mention {
        path: analysis.path.clone(),
        span: o.span,
        is_definition: o.is_definition,
    });
    found.collect()
}

/// The file in which a symbol is made; none for a library.
pub fn home_of(symbol: &Symbol) -> Option<&str> {
    match symbol {
        Symbol::Item { path, .. }
        | Symbol::Experiment { path, .. }
        | Symbol::Member { path, .. }
        | Symbol::PortMember { path, .. }
        | Symbol::Measure { path, .. }
        | Symbol::Local { path, .. } => Some(path),
        Symbol::Library(_) => None,
    }
}

/// Renames what is named at a byte of a text.
///
/// # Errors
///
/// Nothing is named there, it belongs to the library, or the new name would be taken for something else.
pub fn rename_at(
    workspace: &Workspace,
    path: &str,
    offset: usize,
    name: &str,
) -> Result<Vec<TextEdit>, Refusal> {
    let (symbol, span) = symbol_at(workspace, path, offset)
        .ok_or_else(|| Refusal::new("there is no name here that can be changed"))?;
    if home_of(&symbol).is_none_or(|home| home.starts_with(LIBRARY)) {
        return Err(Refusal::new("names of the library cannot be changed"));
    }
    let tokens = lex(name);
    if tokens.len() != 1 || tokens.kind(0) != TokenKind::Ident {
        return Err(Refusal::new(format!("`{name}` is not a name")));
    }
    let document = workspace
        .document(path)
        .ok_or_else(|| Refusal::new(format!("there is no text `{path}`")))?;
    let old = document.slice(span).to_owned();
    if old == name {
        return Ok(Vec::new());
    }
    refuse_outer(workspace, &symbol, &old)?;
    let all = mentions(workspace, path, &symbol);
    refuse_broken(workspace, &all)?;
    let mut edits = Vec::new();
    for mention in &all {
        edits.push(TextEdit {
            path: mention.path.clone(),
            range: workspace.range(
                &mention.path,
                mention.span.start as usize,
                mention.span.end as usize,
            ),
            text: name.to_owned(),
        });
    }
    check_meanings(workspace, &edits, &symbol, (&old, name))?;
    Ok(edits)
}

/// A part that is found from inside by `outer name` is found by its name.
fn refuse_outer(workspace: &Workspace, symbol: &Symbol, old: &str) -> Result<(), Refusal> {
    let Symbol::Member { path, .. } = symbol else {
        return Ok(());
    };
    let Some(analysis) = workspace.analysis(path) else {
        return Ok(());
    };
    let items = analysis.project.files.iter().flat_map(|f| &f.ast.items);
    for item in items {
        let ast::ItemKind::Model(model) = &item.kind else {
            continue;
        };
        let is_outer = |s: &ast::Stmt| match &s.kind {
            ast::StmtKind::Outer { name, .. } => &*name.text == old,
            _ => false,
        };
        if model.body.iter().any(is_outer) {
            return Err(Refusal::new(format!(
                "`{}` finds this part by the name `{old}` (`outer {old}`), so it keeps its name",
                model.name.text
            )));
        }
    }
    Ok(())
}

/// In a text with errors of syntax mentions may be missing.
fn refuse_broken(workspace: &Workspace, mentions: &[Mention]) -> Result<(), Refusal> {
    for mention in mentions {
        let document = workspace.document(&mention.path);
        if document.is_some_and(|d| d.parsed.has_errors()) {
            return Err(Refusal::new(format!(
                "`{}` cannot be read to its end; fix its errors first",
                mention.path
            )));
        }
    }
    Ok(())
}

/// Reads the texts with the new name: every mention must mean the renamed symbol, and nothing else may.
fn check_meanings(
    workspace: &Workspace,
    edits: &[TextEdit],
    symbol: &Symbol,
    (old, new): (&str, &str),
) -> Result<(), Refusal> {
    let mut after = Workspace::new(workspace.roots().to_vec());
    for path in workspace.open_files() {
        if let Some(text) = workspace.text(&path) {
            after.open(&path, text);
        }
    }
    after.apply(edits);
    let mut paths: Vec<&String> = edits.iter().map(|e| &e.path).collect();
    paths.dedup();
    for path in paths {
        let (Some(before), Some(now)) = (workspace.analysis(path), after.analysis(path)) else {
            continue;
        };
        let was = occurrences(&before, 0);
        let is = occurrences(&now, 0);
        let target = renamed(symbol, new);
        let is_taken = target != *symbol && was.iter().any(|o| o.symbol == target);
        let same = !is_taken
            && was.len() == is.len()
            && was.iter().zip(&is).all(|(a, b)| {
                let meant = match a.symbol == *symbol {
                    true => target.clone(),
                    false => a.symbol.clone(),
                };
                is_like(&meant, &b.symbol) && maker(&was, &a.symbol) == maker(&is, &b.symbol)
            });
        if !same {
            return Err(Refusal::new(format!(
                "`{new}` means something else already where `{old}` is used"
            )));
        }
    }
    Ok(())
}

/// The symbol under its new name.
fn renamed(symbol: &Symbol, new: &str) -> Symbol {
    let mut symbol = symbol.clone();
    match &mut symbol {
        Symbol::Item { name, .. }
        | Symbol::Experiment { name, .. }
        | Symbol::Member { name, .. }
        | Symbol::PortMember { name, .. }
        | Symbol::Measure { name, .. } => new.clone_into(name),
        Symbol::Local { .. } | Symbol::Library(_) => {}
    }
    symbol
}

/// Which occurrence makes a symbol: the same one before and after a rename.
fn maker(list: &[Occurrence], symbol: &Symbol) -> Option<usize> {
    match symbol {
        Symbol::Local { .. } => list
            .iter()
            .position(|o| o.is_definition && o.symbol == *symbol),
        _ => None,
    }
}

/// Tells whether a symbol is the same afterwards. Locals are known by their place, which moves; members carry the
/// name of their model, port or experiment, which may be what is renamed.
fn is_like(before: &Symbol, after: &Symbol) -> bool {
    use Symbol as S;
    match (before, after) {
        (S::Local { path: a, .. }, S::Local { path: b, .. }) => a == b,
        (
            S::Member {
                path: a, name: n, ..
            },
            S::Member {
                path: b, name: m, ..
            },
        )
        | (
            S::PortMember {
                path: a, name: n, ..
            },
            S::PortMember {
                path: b, name: m, ..
            },
        )
        | (
            S::Measure {
                path: a, name: n, ..
            },
            S::Measure {
                path: b, name: m, ..
            },
        ) => a == b && n == m,
        (a, b) => a == b,
    }
}
