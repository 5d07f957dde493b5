//! What a model declares, and where a path of names leads.
//!
//! In:  a model, and names inside it.
//! Out: its members, each with what it is; the place that a path means.

use super::*;

/// Everything that the body of one model declares.
pub(super) fn declared_members<'a>(
    model: &'a ast::Model,
    file: usize,
) -> BTreeMap<&'a str, What<'a>> {
    let mut found = BTreeMap::new();
    let mut open: Vec<&ast::Stmt> = model.body.iter().rev().collect();
    while let Some(statement) = open.pop() {
        use ast::StmtKind as S;
        let mut declare = |name: &'a ast::Ident, what: What<'a>| {
            found.entry(&*name.text).or_insert(what);
        };
        match &statement.kind {
            S::Param(list) | S::Input(list) | S::Output(list) => {
                for decl in list {
                    // `port x: Frame` of older texts is no value; a type behind the colon leads on.
                    let kind = decl.kind.as_ref();
                    declare(
                        &decl.name,
                        kind.map_or(What::Value, |k| What::Part(k, file)),
                    );
                }
            }
            S::Port(list) => list
                .iter()
                .for_each(|p| declare(&p.name, What::Port(&p.kind, file))),
            S::Outer { name, path } => declare(name, What::Part(path, file)),
            S::Replaceable { name, bound, .. } => declare(name, What::Part(bound, file)),
            S::NamedBond { name, chain } => {
                declare(name, What::Value);
                nodes_declared(chain, file, &mut found);
            }
            S::Chain(chain) => nodes_declared(chain, file, &mut found),
            S::Define(define) => define_declared(define, &mut found),
            S::Solve { unknowns, .. } => unknowns.iter().for_each(|n| declare(n, What::Value)),
            S::Sample { body, .. } => body.iter().for_each(|d| define_declared(d, &mut found)),
            S::When { name, actions, .. } => {
                name.iter().for_each(|n| declare(n, What::Value));
                for action in actions {
                    if let ast::Action::Define(define) = action {
                        define_declared(define, &mut found);
                    }
                }
            }
            S::For { body, .. } => open.extend(body.iter().rev()),
            S::If {
                then, otherwise, ..
            } => open.extend(then.iter().chain(otherwise).rev()),
            S::Invariant(_) | S::Start(_) | S::Guess(_) | S::Layout(_) => {}
        }
    }
    found
}

fn define_declared<'a>(define: &'a ast::Define, found: &mut BTreeMap<&'a str, What<'a>>) {
    if let [only] = define.target.parts.as_slice() {
        found.entry(&*only.name.text).or_insert(What::Value);
    }
}

fn nodes_declared<'a>(chain: &'a ast::Chain, file: usize, found: &mut BTreeMap<&'a str, What<'a>>) {
    let mut open: Vec<&ast::Node> = chain.groups.iter().flatten().collect();
    while let Some(node) = open.pop() {
        match &node.kind {
            ast::NodeKind::Thing { name, kind, .. } => {
                let what = match &kind.head {
                    ast::KindHead::Named(path) if !is_element(kind) => What::Part(path, file),
                    _ => What::Value,
                };
                found.entry(&*name.text).or_insert(what);
            }
            ast::NodeKind::Tuple(members) => open.extend(members),
            _ => {}
        }
    }
}

/// Where a path of names leads.
pub enum Place<'a> {
    /// A part: its model.
    Model(usize, &'a ast::Model),
    /// A composite port.
    PortType(&'a ast::PortType),
    /// An element or junction, by its letters.
    Element(String),
    /// A bond with a name, or a port with one domain.
    Bond,
}

/// Follows a path of names from a model.
pub fn follow<'a>(
    analysis: &'a Analysis,
    model: ModelAt<'a>,
    path: &[String],
) -> Option<Place<'a>> {
    let (first, rest) = path.split_first()?;
    for (file, level) in analysis.lineage(model.1, model.0).into_iter().rev() {
        let Some(what) = declared_members(level, file).get(first.as_str()).copied() else {
            continue;
        };
        let place = match what {
            What::Part(path, file) => {
                let (file, model) = analysis.find_model(path, file)?;
                if !rest.is_empty() {
                    return follow(analysis, (file, model), rest);
                }
                Place::Model(file, model)
            }
            What::Port(path, file) => match analysis.find(path, file).map(|(_, item)| &item.kind) {
                Some(ast::ItemKind::PortType(port)) => Place::PortType(port),
                _ => Place::Bond,
            },
            What::Value => Place::Element(letters_of(level, first)?),
        };
        return rest.is_empty().then_some(place);
    }
    None
}

/// The letters of the element or junction of this name.
fn letters_of(model: &ast::Model, name: &str) -> Option<String> {
    let mut open: Vec<&ast::Stmt> = model.body.iter().collect();
    while let Some(statement) = open.pop() {
        match &statement.kind {
            ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. } => {
                let mut nodes: Vec<&ast::Node> = chain.groups.iter().flatten().collect();
                while let Some(node) = nodes.pop() {
                    match &node.kind {
                        ast::NodeKind::Thing { name: n, kind, .. } if &*n.text == name => {
                            return Some(crate::view::kind_text(kind));
                        }
                        ast::NodeKind::Tuple(members) => nodes.extend(members),
                        _ => {}
                    }
                }
                if matches!(&statement.kind, ast::StmtKind::NamedBond { name: n, .. } if &*n.text == name)
                {
                    return Some("R".to_owned());
                }
            }
            ast::StmtKind::For { body, .. } => open.extend(body),
            ast::StmtKind::If {
                then, otherwise, ..
            } => open.extend(then.iter().chain(otherwise)),
            _ => {}
        }
    }
    None
}

/// Lists the names that a model and those it extends declare, each with what it is.
pub fn member_names(analysis: &Analysis, model: ModelAt<'_>) -> Vec<(String, String)> {
    let mut found = BTreeMap::new();
    for (file, level) in analysis.lineage(model.1, model.0).into_iter().rev() {
        for (name, what) in declared_members(level, file) {
            let detail = match what {
                What::Part(path, _) | What::Port(path, _) => crate::view::path_text(path),
                What::Value => letters_of(level, name).unwrap_or_default(),
            };
            found.entry(name.to_owned()).or_insert(detail);
        }
    }
    found.into_iter().collect()
}
