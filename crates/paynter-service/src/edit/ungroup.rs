//! Puts the content of a part in its place.
//!
//! In:  a part of a view.
//! Out: the statements of its model among those of this one, under names that are free; the bonds of the part join what its
//!      ports stood for. Whatever read something of the part reads it here: signals, experiments, other files.
//!
//! A parameter whose argument is a name is that name from now on; another one is a parameter of this model. The model of the
//! part stays where it is: others may use it.
//!
//! **Invariant:** the flat graph is the same as before ([`same_model`](super::verify::same_model)).

use super::connect::node;
use super::draft::Draft;
use super::names::{names_in_scope, numbered};
use super::transplant::{Swap, chain_refs, is_within, swapped, trailing_comment};
use super::{Refusal, TextEdit, delete, layout, verify};
use crate::rename::mentions;
use crate::symbol::{Symbol, occurrences};
use crate::view::{Bond, BondEnd, Node, NodeSort, StrokeAt};
use crate::workspace::Workspace;
use paynter::syntax::{TokenKind, ast, lex};
use std::collections::BTreeMap;

/// Opens a part in place.
///
/// # Errors
///
/// Why its content cannot stand here.
pub fn ungroup(
    workspace: &Workspace,
    mut draft: Draft<'_>,
    id: &str,
) -> Result<Vec<TextEdit>, Refusal> {
    let path = draft.analysis.path.clone();
    let own_model = draft.model.clone();
    let part = node(&draft, id)?;
    let inside = Inside::new(&draft, &part)?;
    let bonds = bonds_of(&draft, &part)?;
    let outside = Outside::new(workspace, &draft, &part)?;
    let plan = Plan::new(&draft, &inside, &outside, &bonds)?;

    let whole = swapped(draft.text(), 0, &plan.own);
    let length = draft.text().len();
    draft.replace(0, length, &whole)?;
    let part_now = part.name.clone().unwrap_or_else(|| part.id.clone());
    delete::delete(&mut draft, &[part_now], &[])?;
    for line in &plan.lines {
        draft.add_statement(line)?;
    }
    for (name, x, y) in &plan.places {
        layout::place(&mut draft, name, *x, *y)?;
    }
    let mut edits = draft.finish()?;
    edits.extend(plan.others);
    verify::same_model(workspace, (&path, &own_model), &edits)?;
    Ok(edits)
}

/// The model of the part, with the text that it stands in.
struct Inside<'a> {
    file: usize,
    model: &'a ast::Model,
    text: &'a str,
    name: String,
    arguments: BTreeMap<String, String>,
}

impl<'a> Inside<'a> {
    fn new(draft: &Draft<'a>, part: &Node) -> Result<Self, Refusal> {
        let name = part.name.clone();
        let name = name.ok_or_else(|| Refusal::new("give the part a name first"))?;
        if part.sort != NodeSort::Part || part.inherited.is_some() || name.contains('[') {
            return Err(Refusal::new(format!("`{name}` cannot be opened in place")));
        }
        let analysis = draft.analysis;
        let kind = kind_of(draft, part)?;
        let ast::KindHead::Named(path) = &kind.head else {
            return Err(Refusal::new(format!("`{name}` is not a part")));
        };
        let found = analysis.find_model(path, 0);
        let (file, model) =
            found.ok_or_else(|| Refusal::new(format!("there is no model `{}`", part.kind)))?;
        if model.extends.is_some() {
            return Err(Refusal::new(format!(
                "`{}` extends another model, so that its content is not in one place",
                model.name.text
            )));
        }
        let mut arguments = BTreeMap::new();
        for argument in kind.args.iter().flatten() {
            let Some(argument_name) = &argument.name else {
                return Err(Refusal::new(format!(
                    "an argument of `{name}` has no name; write `name = value`"
                )));
            };
            let value = draft.slice(argument.value.span);
            arguments.insert(argument_name.text.to_string(), value);
        }
        let loaded = &analysis.project.files[file];
        Ok(Inside {
            file,
            model,
            text: &analysis.project.sources.file(loaded.file).text,
            name,
            arguments,
        })
    }

    fn slice(&self, span: paynter::syntax::Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }
}

/// The kind of a part as it is written.
fn kind_of(draft: &Draft<'_>, part: &Node) -> Result<ast::Kind, Refusal> {
    let (_, own) = draft.syntax();
    let mut nodes: Vec<&ast::Node> = Vec::new();
    for statement in &own.body {
        if let ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. } =
            &statement.kind
        {
            nodes.extend(chain.groups.iter().flatten());
        }
    }
    let found = nodes.into_iter().find_map(|n| match &n.kind {
        ast::NodeKind::Thing { kind, .. }
            if (n.span.start as usize, n.span.end as usize) == part.range.bytes =>
        {
            Some(ast::Kind::clone(kind))
        }
        _ => None,
    });
    found.ok_or_else(|| Refusal::new(format!("`{}` is one of a tuple or a block", part.id)))
}

/// The bonds of the part, each with the text of its other end.
fn bonds_of(draft: &Draft<'_>, part: &Node) -> Result<Vec<(Bond, String)>, Refusal> {
    let reading = draft.read();
    let mut found = Vec::new();
    for node in &reading.view.nodes {
        if node.members.contains(&part.id) {
            return Err(Refusal::new(format!(
                "`{}` joins `{}`, so that it cannot be opened",
                node.id, part.id
            )));
        }
    }
    for bond in &reading.view.bonds {
        let (is_from, is_to) = (bond.from.node == part.id, bond.to.node == part.id);
        let other = match (is_from, is_to) {
            (true, true) => return Err(Refusal::new("the part is joined to itself")),
            (true, false) => &bond.to,
            (false, true) => &bond.from,
            (false, false) => continue,
        };
        if bond.inherited.is_some() {
            return Err(Refusal::new(format!("the bond `{}` is inherited", bond.id)));
        }
        let beyond = reading.view.nodes.iter().find(|n| n.id == other.node);
        let beyond = beyond.ok_or_else(|| Refusal::new("a bond of the part has a loose end"))?;
        let name = beyond.name.clone().ok_or_else(|| {
            Refusal::new(format!(
                "the {} beside the part has no name to join it by; give it one first",
                beyond.kind
            ))
        })?;
        if matches!(beyond.sort, NodeSort::For | NodeSort::If) {
            return Err(Refusal::new("the part is joined to a block"));
        }
        found.push((bond.clone(), end_text(&name, other)));
    }
    Ok(found)
}

fn end_text(name: &str, end: &BondEnd) -> String {
    match &end.port {
        Some(port) if port.starts_with('[') => format!("{name}{port}"),
        Some(port) => format!("{name}.{port}"),
        None => name.to_owned(),
    }
}

/// Where members of the part are read, by name: (text, first byte, end).
struct Outside {
    read: BTreeMap<String, Vec<(String, usize, usize)>>,
}

impl Outside {
    fn new(workspace: &Workspace, draft: &Draft<'_>, part: &Node) -> Result<Self, Refusal> {
        let name = part.name.clone().unwrap_or_default();
        let path = draft.analysis.path.clone();
        let symbol = Symbol::Member {
            path: draft.analysis.project.files[0].canonical_name.clone(),
            model: draft.model.clone(),
            name: name.clone(),
        };
        let (_, own) = draft.syntax();
        let chains = chain_refs(&own.body, false);
        let mut read: BTreeMap<String, Vec<(String, usize, usize)>> = BTreeMap::new();
        for mention in mentions(workspace, &path, &symbol) {
            let is_here = mention.path == path;
            let is_place = own.body.iter().any(|s| {
                matches!(s.kind, ast::StmtKind::Layout(_))
                    && s.span.start <= mention.span.start
                    && mention.span.end <= s.span.end
            });
            if is_here
                && (mention.is_definition || is_place || chains.contains(&mention.span.start))
            {
                continue;
            }
            let text = workspace.text(&mention.path).unwrap_or_default();
            let behind = text[mention.span.end as usize..].strip_prefix('.');
            let member: Option<String> = behind.map(|rest| {
                let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
                rest.chars().take_while(is_word).collect()
            });
            let Some(member) = member.filter(|m| !m.is_empty()) else {
                return Err(Refusal::new(format!(
                    "`{name}` is changed as a whole in {}, so that it has to stay a part",
                    mention.path
                )));
            };
            let end = mention.span.end as usize + 1 + member.len();
            let places = read.entry(member).or_default();
            places.push((mention.path, mention.span.start as usize, end));
        }
        Ok(Outside { read })
    }
}

/// How the content stands in this model.
struct Plan {
    lines: Vec<String>,
    places: Vec<(String, f64, f64)>,
    own: Vec<Swap>,
    others: Vec<TextEdit>,
}

impl Plan {
    fn new(
        draft: &Draft<'_>,
        inside: &Inside<'_>,
        outside: &Outside,
        bonds: &[(Bond, String)],
    ) -> Result<Self, Refusal> {
        let mut names = new_names(draft, inside);
        let mut lines = declarations(draft, inside, outside, &mut names)?;
        let ports = Ports::new(inside, bonds, &names)?;
        let changes = changes(draft, inside, &names, &ports)?;
        lines.extend(statements(inside, &changes));
        lines.extend(ports.lines);
        let mut plan = Plan {
            lines,
            places: places(inside, &names),
            own: Vec::new(),
            others: Vec::new(),
        };
        for (member, places) in &outside.read {
            let new = ports.stands_for.get(member).or_else(|| names.get(member));
            let new = new.ok_or_else(|| {
                Refusal::new(format!(
                    "`{}.{member}` is read elsewhere and has no counterpart here",
                    inside.name
                ))
            })?;
            for (path, start, end) in places {
                match *path == draft.analysis.path {
                    true => plan.own.push(Swap::new(*start, *end, new.clone())),
                    false => {
                        return Err(Refusal::new(format!(
                            "`{path}` reads `{}.{member}`; change it there first",
                            inside.name
                        )));
                    }
                }
            }
        }
        Ok(plan)
    }
}

/// Places that the model's own layout gives.
fn places(inside: &Inside<'_>, names: &BTreeMap<String, String>) -> Vec<(String, f64, f64)> {
    let blocks = inside.model.body.iter().filter_map(|s| match &s.kind {
        ast::StmtKind::Layout(list) => Some(list),
        _ => None,
    });
    let found = blocks.flatten().filter_map(|p| {
        let mut words = inside.slice(p.span).split_whitespace();
        let name = names.get(words.next()?)?.clone();
        let (x, y) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((name, x, y))
    });
    found.collect()
}

/// A free name for everything that the model makes.
fn new_names(draft: &Draft<'_>, inside: &Inside<'_>) -> BTreeMap<String, String> {
    let mut used = names_in_scope(draft);
    let own = &draft.analysis.project.files[inside.file].canonical_name;
    let mut names = BTreeMap::new();
    for occurrence in occurrences(draft.analysis, inside.file) {
        let Symbol::Member { path, model, name } = &occurrence.symbol else {
            continue;
        };
        let is_own = path == own && **model == *inside.model.name.text;
        if !occurrence.is_definition || !is_own || names.contains_key(name) {
            continue;
        }
        let longer = format!("{}_{name}", inside.name);
        let new = match (used.contains(name), used.contains(&longer)) {
            (false, _) => name.clone(),
            (true, false) => longer,
            (true, true) => numbered(&longer, |n| used.contains(n)),
        };
        used.insert(new.clone());
        names.insert(name.clone(), new);
    }
    names
}

/// Parameters, inputs and outputs as declarations of this model. A plain name given as argument takes the place of its
/// parameter.
fn declarations(
    draft: &Draft<'_>,
    inside: &Inside<'_>,
    outside: &Outside,
    names: &mut BTreeMap<String, String>,
) -> Result<Vec<String>, Refusal> {
    let found = declared(inside.model);

    for (decl, word) in &found {
        let name = decl.name.text.to_string();
        let argument = inside.arguments.get(&name);
        if let Some(argument) = argument.filter(|a| is_path(a) && !word.is_empty())
            && !outside.read.contains_key(&name)
        {
            names.insert(name, argument.clone());
        }
    }

    let changes = changes(draft, inside, names, &Ports::default())?;
    let mut lines = Vec::new();
    for (decl, word) in found {
        let name = decl.name.text.to_string();
        let argument = inside.arguments.get(&name);
        if argument.is_some_and(|a| names.get(&name) == Some(a)) {
            continue;
        }
        let (start, end) = (decl.span.start as usize, decl.span.end as usize);
        let mut own = changes.clone();
        // An input that is bound is defined here, no input any more.
        let word = match (argument, word) {
            (Some(_), "input ") => "",
            (_, word) => word,
        };
        let mut text = match (argument, &decl.value) {
            (Some(argument), Some(value)) => {
                own.retain(|s| !s.is_between(value.span.start as usize, value.span.end as usize));
                own.push(Swap::new(
                    value.span.start as usize,
                    value.span.end as usize,
                    argument.clone(),
                ));
                swapped(&inside.text[start..end], start, &own)
            }
            _ => swapped(&inside.text[start..end], start, &own),
        };
        if let (Some(argument), None) = (argument, &decl.value) {
            text = format!("{text} = {argument}");
        }
        // An output without a value is defined by a line of its own.
        if decl.value.is_none() && argument.is_none() && word.is_empty() {
            continue;
        }
        lines.push(format!("{word}{text}"));
    }
    Ok(lines)
}

/// What a model declares, each with the word that it is declared by.
fn declared(model: &ast::Model) -> Vec<(&ast::Decl, &'static str)> {
    let mut found: Vec<(&ast::Decl, &str)> = Vec::new();
    for statement in &model.body {
        let (list, word) = match &statement.kind {
            ast::StmtKind::Param(list) => (list, "param "),
            ast::StmtKind::Input(list) => (list, "input "),
            ast::StmtKind::Output(list) => (list, ""),
            _ => continue,
        };
        found.extend(list.iter().map(|d| (d, word)));
    }
    found
}

/// A name, or names with dots between.
fn is_path(text: &str) -> bool {
    let tokens = lex(text);
    (0..tokens.len()).all(|i| match i % 2 {
        0 => tokens.kind(i) == TokenKind::Ident,
        _ => tokens.kind(i) == TokenKind::Dot,
    }) && tokens.len() % 2 == 1
}

/// What ports become.
#[derive(Default)]
struct Ports {
    /// Junction ports: the node they stand for, under its new name.
    stands_for: BTreeMap<String, String>,
    /// Bond ports: what is joined there.
    joined: BTreeMap<String, String>,
    /// Bonds of junction ports.
    lines: Vec<String>,
}

impl Ports {
    fn new(
        inside: &Inside<'_>,
        bonds: &[(Bond, String)],
        names: &BTreeMap<String, String>,
    ) -> Result<Self, Refusal> {
        let mut ports = Ports::default();
        let declared = inside.model.body.iter().filter_map(|s| match &s.kind {
            ast::StmtKind::Port(list) => Some(list),
            _ => None,
        });
        for port in declared.flatten() {
            match &port.binding {
                Some(ast::PortBinding::Node(target)) => {
                    let text = inside.slice(target.span);
                    let first = target.parts.first().map(|p| p.name.text.to_string());
                    let new = first.as_ref().and_then(|f| names.get(f));
                    let new = new.ok_or_else(|| {
                        Refusal::new("a port of this part is joined to nothing inside")
                    })?;
                    let rest = &text[first.map_or(0, |f| f.len())..];
                    let name = port.name.text.to_string();
                    ports.stands_for.insert(name, format!("{new}{rest}"));
                }
                Some(ast::PortBinding::Members(_)) => {
                    return Err(Refusal::new(format!(
                        "the port `{}` has several members, which cannot be joined here",
                        port.name.text
                    )));
                }
                None => {}
            }
        }
        for (bond, other) in bonds {
            ports.join(inside, bond, other)?;
        }
        Ok(ports)
    }

    fn join(&mut self, inside: &Inside<'_>, bond: &Bond, other: &str) -> Result<(), Refusal> {
        let is_out = bond.from.node == inside.name;
        let end = if is_out { &bond.from } else { &bond.to };
        let port = end.port.clone();
        let port =
            port.ok_or_else(|| Refusal::new(format!("`{}` has no such port", inside.name)))?;
        if let Some(node) = self.stands_for.get(&port) {
            let line = match is_out {
                true => format!("{node} {} {other}", arrow(bond)),
                false => format!("{other} {} {node}", arrow(bond)),
            };
            self.lines.push(match &bond.name {
                Some(name) => format!("bond {name}: {line}"),
                None => line,
            });
            return Ok(());
        }
        if bond.forced.is_some() || bond.name.is_some() {
            return Err(Refusal::new(format!(
                "the bond at `{}.{port}` has a stroke or a name of its own; remove that first",
                inside.name
            )));
        }
        match self.joined.insert(port.clone(), other.to_owned()) {
            None => Ok(()),
            Some(_) => Err(Refusal::new(format!(
                "`{}.{port}` is joined more than once",
                inside.name
            ))),
        }
    }
}

fn arrow(bond: &Bond) -> &'static str {
    match (bond.is_multi, bond.forced) {
        (false, None) => "->",
        (false, Some(StrokeAt::Tail)) => "|->",
        (false, Some(_)) => "->|",
        (true, None) => "=>",
        (true, Some(StrokeAt::Tail)) => "|=>",
        (true, Some(_)) => "=>|",
    }
}

/// Every name of the model's text as it reads here.
fn changes(
    draft: &Draft<'_>,
    inside: &Inside<'_>,
    names: &BTreeMap<String, String>,
    ports: &Ports,
) -> Result<Vec<Swap>, Refusal> {
    let own = &draft.analysis.project.files[inside.file].canonical_name;
    let range = [(
        inside
            .model
            .body
            .first()
            .map_or(0, |s| s.span.start as usize),
        inside.model.body.last().map_or(0, |s| s.span.end as usize),
    )];
    let mut found = Vec::new();
    for occurrence in occurrences(draft.analysis, inside.file) {
        if !is_within(occurrence.span, &range) {
            continue;
        }
        let (start, end) = (occurrence.span.start as usize, occurrence.span.end as usize);
        match &occurrence.symbol {
            Symbol::Member { path, model, name }
                if path == own && **model == *inside.model.name.text =>
            {
                if inside.text[..start].trim_end().ends_with('.') {
                    continue;
                }
                let new = ports
                    .joined
                    .get(name)
                    .or_else(|| ports.stands_for.get(name));
                if let Some(new) = new.or_else(|| names.get(name)) {
                    found.push(Swap::new(start, end, new.clone()));
                }
            }
            // What the model takes from its own file has to be known here as well.
            Symbol::Item { path, name } if inside.file != 0 => {
                let here = draft.analysis.find_name(name, 0);
                let is_same = here.is_some_and(|(file, _)| {
                    draft.analysis.project.files[file].canonical_name == *path
                });
                if !is_same {
                    return Err(Refusal::new(format!(
                        "`{}` uses `{name}`, which this text does not know; take it in with `use` first",
                        inside.model.name.text
                    )));
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The statements that are no declarations.
fn statements(inside: &Inside<'_>, changes: &[Swap]) -> Vec<String> {
    let mut lines = Vec::new();
    for statement in &inside.model.body {
        use ast::StmtKind as S;
        if matches!(
            statement.kind,
            S::Param(_) | S::Input(_) | S::Output(_) | S::Port(_) | S::Layout(_)
        ) {
            continue;
        }
        let (start, end) = (statement.span.start as usize, statement.span.end as usize);
        let text = swapped(&inside.text[start..end], start, changes);
        let comment = trailing_comment(inside.text, end);
        lines.push(format!("{text}{comment}"));
    }
    lines
}
