//! Reads the graph of a model from its syntax.
//!
//! In:  the main file of a project and the name of a model in it.
//! Out: a [`Net`], and which statements it owns: chains of scalar bonds between named and unnamed things.
//!
//! Vectors, tuples, arrays, `for`, `if` and what a model extends are not taken apart: their statements stay as they
//! are, and what they bond to is marked.

use crate::net::{Bond, Kind, Net, Thing, ThingId};
use crate::walk::{self, At, Visit, dotted, dotted_ref, each};
use paynter::syntax::ast::{
    Chain, Experiment, Expr, File, ItemKind, KindHead, Model, Node, NodeKind, Ref, Stmt, StmtKind,
};
use std::collections::BTreeMap;

/// A model, and where it stands.
pub struct Source<'a> {
    /// The file.
    pub file: &'a File,
    /// Its text.
    pub text: &'a str,
    /// The model.
    pub model: &'a Model,
}

impl Source<'_> {
    /// The experiments of the model.
    pub fn experiments(&self) -> impl Iterator<Item = &Experiment> {
        let own = &self.model.name.text;
        self.file
            .items
            .iter()
            .filter_map(move |item| match &item.kind {
                ItemKind::Experiment(e) => {
                    let name = e.of.segments.last().map(|s| &s.text);
                    (name == Some(own) && e.of.segments.len() == 1).then_some(e)
                }
                _ => None,
            })
    }

    /// Where a name is made in the model.
    pub fn place_of(&self, name: &str) -> paynter::syntax::Span {
        let whole = self.model.name.span;
        let body = self.model.body.iter();
        let found = body.filter_map(|s| match &s.kind {
            StmtKind::Chain(chain) => chain.groups.iter().flatten().find_map(|n| match &n.kind {
                NodeKind::Thing { name: own, .. } if *own.text == *name => Some(own.span),
                _ => None,
            }),
            StmtKind::Define(d) if self.slice(d.target.span) == name => Some(d.span),
            _ => None,
        });
        found.into_iter().next().unwrap_or(whole)
    }

    /// The text under a span, on one line.
    pub fn slice(&self, span: paynter::syntax::Span) -> String {
        let text = self.text.get(span.start as usize..span.end as usize);
        without_comments(text.unwrap_or_default())
    }
}

/// A text on one line, without comments.
fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|l| match l.find("//") {
        Some(at) if !l[..at].contains('"') => &l[..at],
        _ => l,
    });
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

/// Reads the graph of a model.
pub fn read(source: &Source<'_>) -> Net {
    let mut reader = Reader {
        source,
        net: Net::default(),
        by_name: BTreeMap::new(),
        by_node: BTreeMap::new(),
    };
    let body = &source.model.body;
    for (at, statement) in body.iter().enumerate() {
        if let Some((chain, _)) = free_chain(statement) {
            reader.make(chain, at);
        } else {
            reader.hide(statement);
        }
    }
    for (at, statement) in body.iter().enumerate() {
        if let Some((chain, name)) = free_chain(statement) {
            reader.join(chain, at, name);
        }
    }
    reader.mark_hidden();
    reader.find_reads();
    reader.find_constants();
    reader.net
}

/// The chain of a statement that the net owns, and the name of its bond.
pub fn free_chain(statement: &Stmt) -> Option<(&Chain, Option<&str>)> {
    let (chain, name) = match &statement.kind {
        StmtKind::Chain(chain) => (chain, None),
        StmtKind::NamedBond { name, chain } => (chain, Some(&*name.text)),
        _ => return None,
    };
    let is_scalar = |n: &Node| match &n.kind {
        NodeKind::Thing { index, kind, .. } => index.is_empty() && kind.size.is_none(),
        NodeKind::Anonymous(kind) => kind.size.is_none(),
        NodeKind::Ref(_) => true,
        NodeKind::Tuple(_) | NodeKind::Fixed => false,
    };
    let is_free =
        chain.arrows.iter().all(|a| !a.multi) && chain.groups.iter().flatten().all(is_scalar);
    is_free.then_some((chain, name))
}

struct Reader<'s, 'a> {
    source: &'s Source<'a>,
    net: Net,
    by_name: BTreeMap<String, ThingId>,
    /// Unnamed nodes and references, by where they stand.
    by_node: BTreeMap<u32, ThingId>,
}

impl Reader<'_, '_> {
    /// Makes the things of a chain.
    fn make(&mut self, chain: &Chain, statement: usize) {
        for node in chain.groups.iter().flatten() {
            let (name, kind) = match &node.kind {
                NodeKind::Thing { name, kind, .. } => (Some(name.text.to_string()), kind),
                NodeKind::Anonymous(kind) => (None, kind),
                _ => continue,
            };
            let def = self.source.slice(kind.span);
            let (sort, gain) = self.sort(kind);
            let thing = Thing {
                name: name.clone(),
                kind: sort,
                def,
                gain,
                has_hidden_bonds: false,
                is_pinned: false,
                owner: Some(statement),
                is_alive: true,
            };
            self.net.things.push(thing);
            let id = self.net.things.len() - 1;
            match name {
                Some(name) => self.by_name.insert(name, id),
                None => self.by_node.insert(node.span.start, id),
            };
        }
    }

    fn sort(&self, kind: &paynter::syntax::ast::Kind) -> (Kind, Option<String>) {
        let sort = match &kind.head {
            KindHead::Zero(_) => Kind::Zero,
            KindHead::One(_) => Kind::One,
            KindHead::Named(path) => match &*path.segments[0].text {
                _ if path.segments.len() > 1 => Kind::Other,
                "Se" => Kind::Se,
                "Sf" => Kind::Sf,
                "R" => Kind::R,
                "C" => Kind::C,
                "I" => Kind::I,
                "TF" => Kind::Tf,
                "GY" => Kind::Gy,
                _ => Kind::Other,
            },
        };
        let has_more = kind.law.is_some() || !kind.flags.is_empty();
        let gain = match kind.args.as_deref() {
            Some([only]) if only.name.is_none() && !has_more => {
                Some(self.source.slice(only.value.span))
            }
            _ => None,
        };
        // The rules know `KIND(value)`; what has a law keeps it.
        (sort, gain)
    }

    /// Adds the bonds of a chain.
    fn join(&mut self, chain: &Chain, statement: usize, name: Option<&str>) {
        for (k, arrow) in chain.arrows.iter().enumerate() {
            for tail in &chain.groups[k] {
                for head in &chain.groups[k + 1] {
                    let bond = Bond {
                        tail: self.means(tail),
                        head: self.means(head),
                        stroke: arrow.stroke,
                        name: name.map(str::to_owned),
                        owner: statement,
                        is_alive: true,
                    };
                    self.net.bonds.push(bond);
                }
            }
        }
    }

    fn means(&mut self, node: &Node) -> ThingId {
        match &node.kind {
            NodeKind::Thing { name, .. } => self.by_name[&*name.text],
            NodeKind::Ref(r) => self.elsewhere(r),
            _ => self.by_node[&node.span.start],
        }
    }

    /// What a reference means; something that is not made here becomes a thing that is left alone.
    fn elsewhere(&mut self, r: &Ref) -> ThingId {
        let text = self.source.slice(r.span);
        if let Some(&id) = self.by_name.get(&text) {
            return id;
        }
        self.net.things.push(Thing {
            name: Some(text.clone()),
            kind: Kind::Other,
            def: String::new(),
            gain: None,
            has_hidden_bonds: true,
            is_pinned: true,
            owner: None,
            is_alive: true,
        });
        let id = self.net.things.len() - 1;
        self.by_name.insert(text, id);
        id
    }

    /// Things that are made in a statement which stays as it is.
    fn hide(&mut self, statement: &Stmt) {
        let chains: Vec<&Chain> = match &statement.kind {
            StmtKind::Chain(chain) | StmtKind::NamedBond { chain, .. } => vec![chain],
            _ => return,
        };
        for node in chains.iter().flat_map(|c| c.groups.iter().flatten()) {
            let NodeKind::Thing { name, kind, .. } = &node.kind else {
                continue;
            };
            let def = self.source.slice(kind.span);
            self.net.things.push(Thing {
                name: Some(name.text.to_string()),
                kind: Kind::Other,
                def,
                gain: None,
                has_hidden_bonds: true,
                is_pinned: true,
                owner: None,
                is_alive: true,
            });
            let id = self.net.things.len() - 1;
            self.by_name.insert(name.text.to_string(), id);
        }
    }

    /// Marks what ports, blocks and vectors bond to.
    fn mark_hidden(&mut self) {
        struct Nodes(Vec<String>);
        impl Visit for Nodes {
            fn expr(&mut self, e: &Expr) {
                // A composite port names junctions as values; `j.f` is a reading.
                if let Some([name]) = dotted(e).as_deref() {
                    self.0.push(name.clone());
                }
            }
            fn reference(&mut self, r: &Ref, at: At<'_>) {
                if at == At::Node {
                    self.0.push(r.parts[0].name.text.to_string());
                }
            }
        }
        let mut nodes = Nodes(Vec::new());
        for statement in &self.source.model.body {
            if free_chain(statement).is_none() {
                walk::statement(statement, &mut nodes);
            }
        }
        for name in nodes.0 {
            // A name that is only read is no node; a junction is never read by its bare name.
            if let Some(&id) = self.by_name.get(&name) {
                self.net.things[id].has_hidden_bonds = true;
            }
        }
    }

    fn find_reads(&mut self) {
        struct Reads<'n>(&'n mut Net);
        impl Visit for Reads<'_> {
            fn expr(&mut self, e: &Expr) {
                each(e, &mut |e| match dotted(e) {
                    Some(path) => {
                        self.0.reads.insert(path.join("."));
                        false
                    }
                    None => true,
                });
            }
            fn reference(&mut self, r: &Ref, at: At<'_>) {
                let Some(path) = dotted_ref(r) else { return };
                match at {
                    At::Assigned(_) => self.0.assigned.insert(path.join(".")),
                    At::Plain => self.0.plain.insert(path.join(".")),
                    At::Node => false,
                };
            }
        }
        let mut reads = Reads(&mut self.net);
        for statement in &self.source.model.body {
            walk::statement(statement, &mut reads);
        }
        for e in self.source.experiments() {
            e.body.iter().for_each(|s| walk::experiment(s, &mut reads));
        }
        self.find_foreign_reads();
    }

    /// What other models and their experiments name stays as it is, where this model is a part of them.
    fn find_foreign_reads(&mut self) {
        #[derive(Default)]
        struct Segments(Vec<String>);
        impl Visit for Segments {
            fn expr(&mut self, e: &Expr) {
                each(e, &mut |e| {
                    if let paynter::syntax::ast::ExprKind::Field { name, .. } = &e.kind {
                        self.0.push(name.text.to_string());
                    }
                    true
                });
            }
            fn reference(&mut self, r: &Ref, _: At<'_>) {
                let parts = r.parts.iter().skip(1);
                self.0.extend(parts.map(|p| p.name.text.to_string()));
            }
        }
        let own = &self.source.model.name.text;
        let mut found = Segments::default();
        for item in &self.source.file.items {
            match &item.kind {
                ItemKind::Model(m) if m.name.text != *own => {
                    m.body.iter().for_each(|s| walk::statement(s, &mut found));
                    // A model that extends this one may name anything in it.
                    let base = m.extends.as_ref().and_then(|e| e.path.segments.last());
                    if base.is_some_and(|s| s.text == *own) {
                        self.net.things.iter_mut().for_each(|t| {
                            t.is_pinned = true;
                            t.has_hidden_bonds = true;
                        });
                    }
                }
                ItemKind::Experiment(e) if e.of.segments.last().is_none_or(|s| s.text != *own) => {
                    e.body.iter().for_each(|s| walk::experiment(s, &mut found));
                }
                _ => {}
            }
        }
        let is_part = self.is_part_of_another();
        for name in found.0.iter().filter(|_| is_part) {
            if let Some(&id) = self.by_name.get(name) {
                self.net.things[id].is_pinned = true;
                self.net.things[id].has_hidden_bonds = true;
            }
        }
    }

    /// Tells whether another model of the file has this one as a part. The text is looked at: the name in any other
    /// item will do.
    fn is_part_of_another(&self) -> bool {
        let own = &*self.source.model.name.text;
        self.source.file.items.iter().any(|item| match &item.kind {
            ItemKind::Model(m) if *m.name.text != *own => {
                let text = self.source.slice(item.span);
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                text.split(|c| !is_word(c)).any(|word| word == own)
            }
            _ => false,
        })
    }

    /// Parameters, constants of the file, and signals that read nothing else.
    fn find_constants(&mut self) {
        let net = &mut self.net;
        net.constants.insert("pi".to_owned());
        let mut signals: Vec<(String, String)> = Vec::new();
        for item in &self.source.file.items {
            if let ItemKind::Constant(d) = &item.kind {
                net.constants.insert(self.source.slice(d.target.span));
            }
        }
        for statement in &self.source.model.body {
            match &statement.kind {
                StmtKind::Param(decls) => {
                    net.constants
                        .extend(decls.iter().map(|d| d.name.text.to_string()));
                }
                StmtKind::Define(d) if !d.is_derivative && d.target.parts.len() == 1 => {
                    signals.push((
                        d.target.parts[0].name.text.to_string(),
                        self.source.slice(d.value.span),
                    ));
                }
                _ => {}
            }
        }
        loop {
            let n = net.constants.len();
            for (name, value) in &signals {
                if net.is_constant(value) {
                    net.constants.insert(name.clone());
                }
            }
            if net.constants.len() == n {
                break;
            }
        }
        let words = |c: char| !(c.is_alphanumeric() || c == '_');
        net.names = self.source.text.split(words).map(str::to_owned).collect();
    }
}
