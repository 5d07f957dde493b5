//! Pages about parts: what `paynter doc` prints and the book shows.
//!
//! In:  the name of a part of the library or of a file.
//! Out: Markdown: documentation, ports, parameters, inputs, outputs, an example.

use crate::analysis::Analysis;
use crate::describe::{interface, source};
use crate::workspace::Workspace;
use crate::world::LIBRARY;
use paynter::model::suggest::nearest;
use paynter::syntax::ast;

/// Texts that are looked into: a file, or the whole library.
fn texts(file: Option<&str>) -> Vec<String> {
    match file {
        Some(file) => vec![file.to_owned()],
        None => paynter::library::library_names()
            .map(|n| format!("{LIBRARY}{n}"))
            .collect(),
    }
}

/// Lists parts: library or file, name, first line of the documentation. Examples are left out.
pub fn parts(file: Option<&str>) -> Vec<(String, String, String)> {
    let workspace = Workspace::new([]);
    let mut found = Vec::new();
    for path in texts(file) {
        let Some(document) = workspace.document(&path) else {
            continue;
        };
        for item in &document.parsed.ast.items {
            let ast::ItemKind::Model(model) = &item.kind else {
                continue;
            };
            if is_example(&model.name.text) {
                continue;
            }
            let doc = item.doc.as_deref().unwrap_or("");
            let line = doc.trim_start().lines().next().unwrap_or("").to_owned();
            let home = path.strip_prefix(LIBRARY).unwrap_or(&path).to_owned();
            found.push((home, model.name.text.to_string(), line));
        }
    }
    found
}

/// A part of the library as a canvas places it.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The library it is in.
    pub library: String,
    /// Its name.
    pub name: String,
    /// First line of its documentation.
    pub doc: String,
    /// Arguments for what must be given, to be changed by the user: `ratio = 1, R = 1 [ohm]`.
    pub arguments: String,
}

/// Lists the parts of the library as they are placed.
pub fn placed() -> Vec<Placed> {
    let workspace = Workspace::new([]);
    let all = parts(None).into_iter();
    let placed = all.filter_map(|(library, name, doc)| {
        let analysis = workspace.analysis(&format!("{LIBRARY}{library}"))?;
        let (_, item) = analysis.find_name(&name, 0)?;
        let ast::ItemKind::Model(model) = &item.kind else {
            return None;
        };
        let wanted = interface(&analysis, 0, model).into_iter();
        let wanted = wanted.filter(|(title, _)| matches!(*title, "Parameters" | "Inputs"));
        // What a model gives to the one that it extends is given.
        let levels = analysis.lineage(model, 0);
        let given: Vec<&str> = levels
            .iter()
            .filter_map(|(_, level)| level.extends.as_ref())
            .flat_map(|base| &base.args)
            .filter_map(|arg| arg.name.as_ref().map(|n| &*n.text))
            .collect();
        let open = wanted.flat_map(|(_, lines)| lines);
        let open = open.filter(|l| l.is_open && !given.contains(&&*l.name));
        let arguments: Vec<String> = open.map(|l| argument(&l.name, &l.text)).collect();
        Some(Placed {
            library,
            name,
            doc,
            arguments: arguments.join(", "),
        })
    });
    placed.collect()
}

/// A first value for a parameter, in the shape and unit of its declaration: `R [ohm]` gets `R = 1 [ohm]`.
fn argument(name: &str, declared: &str) -> String {
    let rest = declared.strip_prefix(name).unwrap_or(declared).trim();
    let in_brackets = |text: &str| -> Option<(String, String)> {
        let (inner, after) = text.trim().strip_prefix('[')?.split_once(']')?;
        Some((inner.trim().to_owned(), after.to_owned()))
    };
    let shape = rest.strip_prefix(':').and_then(in_brackets);
    let (shape, rest) = match shape {
        Some((shape, after)) => (shape, after),
        None => (String::new(), rest.to_owned()),
    };
    let unit = in_brackets(&rest).map(|(unit, _)| format!(" [{unit}]"));
    format!("{name} = {}{}", ones(&shape), unit.unwrap_or_default())
}

/// 1 in this shape: a number, a vector of ones for `3`, the identity for `3, 3`.
fn ones(shape: &str) -> String {
    let sizes: Vec<usize> = shape
        .split(',')
        .filter_map(|n| n.trim().parse().ok())
        .collect();
    let row = |n: usize, one: &dyn Fn(usize) -> bool| {
        let entries = (0..n).map(|k| if one(k) { "1" } else { "0" });
        entries.collect::<Vec<_>>().join(", ")
    };
    match sizes.as_slice() {
        [n] => format!("[{}]", row(*n, &|_| true)),
        [m, n] => {
            let rows: Vec<String> = (0..*m).map(|i| row(*n, &|k| k == i)).collect();
            format!("[{}]", rows.join("; "))
        }
        _ => "1".to_owned(),
    }
}

fn is_example(name: &str) -> bool {
    name.starts_with("Example")
}

/// Gives the page of a part.
///
/// # Errors
///
/// There is none of this name, or several.
pub fn part_page(part: &str, file: Option<&str>) -> Result<String, String> {
    let (library, name) = match part.rsplit_once('.') {
        Some((library, name)) => (Some(library), name),
        None => (None, part),
    };
    let all = parts(file);
    let is_it =
        |row: &&(String, String, String)| row.1 == name && library.is_none_or(|l| row.0 == l);
    let found: Vec<_> = all.iter().filter(is_it).collect();
    match found.as_slice() {
        [] => {
            let near = nearest(name, all.iter().map(|r| r.1.as_str()));
            let help = near.map_or_else(
                || "; `paynter doc` lists all".to_owned(),
                |near| format!("; did you mean `{near}`?"),
            );
            Err(format!("there is no part `{part}`{help}"))
        }
        [(home, ..)] => {
            let path = match file {
                Some(file) => file.to_owned(),
                None => format!("{LIBRARY}{home}"),
            };
            page(&path, name).ok_or_else(|| format!("`{part}` cannot be read"))
        }
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|r| format!("`{}.{}`", r.0, r.1))
                .collect();
            Err(format!("there are several: {}", names.join(", ")))
        }
    }
}

fn page(path: &str, name: &str) -> Option<String> {
    let workspace = Workspace::new([]);
    let analysis = workspace.analysis(path)?;
    let items = &analysis.project.files.first()?.ast.items;
    let (item, model) = items.iter().find_map(|item| match &item.kind {
        ast::ItemKind::Model(model) if &*model.name.text == name => Some((item, model)),
        _ => None,
    })?;
    let mut page = match path.strip_prefix(LIBRARY) {
        Some(library) => format!("{name}    use {library}: {name}\n"),
        None => format!("{name}\n"),
    };
    if let Some(base) = &model.extends {
        page.push_str(&format!("extends {}\n", source(&analysis, 0, base.span)));
    }
    if let Some(doc) = &item.doc {
        page.push_str(&format!("\n{}\n", doc.trim()));
    }
    for (title, lines) in interface(&analysis, 0, model) {
        if lines.is_empty() {
            continue;
        }
        page.push_str(&format!("\n{title}\n"));
        for line in lines {
            let must = match title {
                "Parameters" | "Inputs" if line.is_open => "   (must be given)",
                _ => "",
            };
            page.push_str(&format!("    {}{must}\n", line.text));
            if let Some(doc) = line.doc {
                page.push_str(&format!(
                    "        {}\n",
                    doc.trim().replace('\n', "\n        ")
                ));
            }
        }
    }
    if let Some(example) = example(&analysis, name) {
        page.push_str(&format!("\nExample\n{example}\n"));
    }
    Some(page)
}

/// The first example of the same text that uses the part, as written.
fn example(analysis: &Analysis, name: &str) -> Option<String> {
    let items = &analysis.project.files.first()?.ast.items;
    let uses = |text: &str| {
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
        })
    };
    let found = items.iter().find_map(|item| match &item.kind {
        ast::ItemKind::Model(model) if &*model.name.text != name => {
            let text = source(analysis, 0, item.span);
            uses(text).then_some(text)
        }
        _ => None,
    })?;
    let lines = found.lines().map(|l| format!("    {l}"));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Edit;

    #[test]
    fn every_part_of_the_library_can_be_placed() {
        let all = placed();
        assert!(all.len() > 50, "{}", all.len());
        for part in all {
            let mut workspace = Workspace::new([]);
            workspace.open("m.bond", "model M {\n}\n");
            let add = Edit::AddNode {
                kind: format!("{}.{}", part.library, part.name),
                name: None,
                value: Some(part.arguments.clone()).filter(|a| !a.is_empty()),
                at: None,
            };
            let edits = workspace.edit("m.bond", "M", &add);
            workspace.apply(&edits.unwrap_or_else(|r| panic!("{part:?}: {r}")));
            let text = workspace.text("m.bond").expect("it is open");
            let messages = workspace.messages("m.bond");
            // Ports wait for bonds; nothing else may be missing or unknown.
            let others: Vec<_> = messages
                .iter()
                .filter(|m| matches!(&*m.code, "E0201" | "E0206" | "E0207"))
                .collect();
            assert!(others.is_empty(), "{text}\n{others:?}");
        }
    }

    #[test]
    fn what_must_be_given_has_its_unit() {
        assert_eq!(argument("R", "R [ohm] in 0 .. 5"), "R = 1 [ohm]");
        assert_eq!(argument("ratio", "ratio"), "ratio = 1");
        assert_eq!(argument("c", "c: [2] [m]"), "c = [1, 1] [m]");
        assert_eq!(argument("J", "J: [2,2]"), "J = [1, 0; 0, 1]");
    }
}
