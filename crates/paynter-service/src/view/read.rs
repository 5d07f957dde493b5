//! Reads one level of a model from its syntax.
//!
//! In:  a document and the name of a model.
//! Out: a [`Reading`]: the view without strokes, and where in the text each node and bond stands.
//!
//! **Invariant:** ids are unique, and depend on names and neighbours, not on lines.

use super::names::{indexed, kind_text, label, names_read, path_text, slice, tight};
use super::{Bond, BondEnd, Node, NodeSort, Port, Signal, SignalSort, StrokeAt, Unresolved, View};
use crate::analysis::Analysis;
use crate::document::Document;
use crate::place::{LineIndex, Range};
use paynter::model::kinds::ElementKind;
use paynter::syntax::{Span, ast};
use std::collections::{BTreeMap, BTreeSet};

/// Tells whether a kind is an element: letters of one, and where people give these letters to models, with the law or value
/// of an element behind them.
pub fn is_element(kind: &ast::Kind) -> bool {
    let ast::KindHead::Named(path) = &kind.head else {
        return false;
    };
    let [name] = path.segments.as_slice() else {
        return false;
    };
    let has_value = || {
        let first = kind.args.iter().flatten().next();
        kind.law.is_some() || first.is_some_and(|arg| arg.name.is_none())
    };
    ElementKind::called(&name.text)
        .is_some_and(|found| !found.describe().yields_to_models || has_value())
}

/// A view with the places that made it.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The view, without strokes.
    pub view: View,
    /// The model's own syntax.
    pub model: &'a ast::Model,
    /// The statement, chain and arrow of each bond of the view, in the same order.
    pub bond_places: Vec<BondPlace>,
    /// The place of each node of the view, in the same order.
    pub node_spans: Vec<Span>,
    /// Which node each written name means.
    pub names: BTreeMap<String, String>,
}

impl Reading<'_> {
    /// Gives the id of the node that a reference of the model itself means.
    pub fn means(&self, source: &str, r: &ast::Ref) -> Option<String> {
        let first = r.parts.first()?;
        let whole = indexed(source, &first.name, &first.index);
        let found = self
            .names
            .get(&whole)
            .or_else(|| self.names.get(&*first.name.text));
        found.cloned()
    }
}

/// Where a bond stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BondPlace {
    /// The arrow.
    pub arrow_span: Span,
    /// Statement of the model's body; none for an inherited one.
    pub statement: Option<usize>,
    /// Which arrow of the chain.
    pub arrow: usize,
    /// Which node of the group before it.
    pub tail: usize,
    /// Which node of the group behind it.
    pub head: usize,
}

/// Reads a model of the main text; none if there is no such model.
pub fn read_model<'a>(
    analysis: &Analysis,
    document: &'a Document,
    name: &str,
) -> Option<Reading<'a>> {
    let (item, model) = document.model(name)?;
    let mut reader = Reader {
        analysis,
        document,
        source: &document.text,
        lines: None,
        inherited: None,
        file: 0,
        nodes: Vec::new(),
        spans: Vec::new(),
        bonds: Vec::new(),
        places: Vec::new(),
        signals: Vec::new(),
        unresolved: Vec::new(),
        names: BTreeMap::new(),
        chain_ids: BTreeMap::new(),
        counts: BTreeMap::new(),
    };
    let bases = reader.bases(model);
    for (file, base) in &bases {
        reader.level(*file, base, true, Pass::Make);
    }
    reader.level(0, model, false, Pass::Make);
    for (file, base) in &bases {
        reader.level(*file, base, true, Pass::Join);
    }
    reader.level(0, model, false, Pass::Join);
    reader.place_nodes(bases.iter().map(|b| b.1).chain([model]));
    Some(Reading {
        view: View {
            model: name.to_owned(),
            path: analysis.path.clone(),
            range: document.range(item.span),
            doc: item.doc.clone(),
            extends: model
                .extends
                .as_ref()
                .map(|e| document.slice(e.span).to_owned()),
            nodes: reader.nodes,
            bonds: reader.bonds,
            signals: reader.signals,
            unresolved: reader.unresolved,
            ..View::default()
        },
        model,
        bond_places: reader.places,
        node_spans: reader.spans,
        names: reader.names,
    })
}

/// Things are made by all lines before any line joins them: order of lines never matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Make,
    Join,
}

struct Reader<'a> {
    analysis: &'a Analysis,
    document: &'a Document,
    /// The text that is read at present.
    source: &'a str,
    /// Its lines, for a text other than the main one.
    lines: Option<LineIndex>,
    /// The model that is read at present, if it is one that the model extends.
    inherited: Option<String>,
    file: usize,
    nodes: Vec<Node>,
    spans: Vec<Span>,
    bonds: Vec<Bond>,
    places: Vec<BondPlace>,
    signals: Vec<Signal>,
    unresolved: Vec<Unresolved>,
    /// Node id by name as written.
    names: BTreeMap<String, String>,
    /// Node id of every unnamed node, tuple and `_` of a chain, by its span.
    chain_ids: BTreeMap<(u32, u32, u32), String>,
    counts: BTreeMap<String, usize>,
}

impl<'a> Reader<'a> {
    /// The models that this one extends, the furthest first.
    fn bases<'m>(&self, model: &'m ast::Model) -> Vec<(usize, &'m ast::Model)>
    where
        'a: 'm,
    {
        let Some(base) = &model.extends else {
            return Vec::new();
        };
        let Some((file, found)) = self.analysis.find_model(&base.path, 0) else {
            return Vec::new();
        };
        let mut levels = self.analysis.lineage(found, file);
        // A model that extends itself is an error; it is shown once.
        levels.retain(|(file, m)| *file != 0 || m.name.span != model.name.span);
        levels.reverse();
        levels
    }

    fn level(&mut self, file: usize, model: &ast::Model, is_inherited: bool, pass: Pass) {
        let analysis = self.analysis;
        let document = self.document;
        self.file = file;
        (self.source, self.lines) = match file {
            0 => (&document.text, None),
            _ => {
                let text = &analysis
                    .project
                    .sources
                    .file(analysis.project.files[file].file)
                    .text;
                (text, Some(LineIndex::new(text)))
            }
        };
        self.inherited = is_inherited.then(|| model.name.text.to_string());
        if pass == Pass::Join {
            self.name_ports(&model.body);
        }
        for (at, statement) in model.body.iter().enumerate() {
            match pass {
                Pass::Make => self.make(statement),
                Pass::Join => self.join(at, statement),
            }
        }
    }

    fn range(&self, span: Span) -> Range {
        match &self.lines {
            Some(lines) => lines.range(self.source, span.start as usize, span.end as usize),
            None => self.document.range(span),
        }
    }

    fn unique(&mut self, id: String) -> String {
        let count = self.counts.entry(id.clone()).or_insert(0);
        *count += 1;
        match *count {
            1 => id,
            n => format!("{id}#{n}"),
        }
    }

    // ---- first pass: who is there

    fn make(&mut self, statement: &ast::Stmt) {
        match &statement.kind {
            ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. } => {
                self.make_chain(chain);
            }
            ast::StmtKind::Outer { name, path } => {
                self.declare(name, NodeSort::Outer, path, None, statement.span);
            }
            ast::StmtKind::Replaceable {
                name,
                bound,
                default,
            } => {
                let value = default
                    .as_ref()
                    .map(|d| slice(self.source, d.span).to_owned());
                self.declare(name, NodeSort::Replaceable, bound, value, statement.span);
            }
            ast::StmtKind::Port(ports) => ports.iter().for_each(|p| self.make_port(p)),
            ast::StmtKind::For { body, .. } => self.make_block(NodeSort::For, statement, &[body]),
            ast::StmtKind::If {
                then, otherwise, ..
            } => self.make_block(NodeSort::If, statement, &[then, otherwise]),
            _ => {}
        }
    }

    fn make_chain(&mut self, chain: &ast::Chain) {
        for (at, group) in chain.groups.iter().enumerate() {
            let side = |group: Option<&Vec<ast::Node>>| {
                let first = group.and_then(|g| g.first());
                first.map_or_else(String::new, |n| label(self.source, n))
            };
            let left = side(at.checked_sub(1).and_then(|i| chain.groups.get(i)));
            let right = side(chain.groups.get(at + 1));
            for node in group {
                self.make_node(node, &left, &right);
            }
        }
    }

    fn make_node(&mut self, node: &ast::Node, left: &str, right: &str) {
        match &node.kind {
            ast::NodeKind::Thing { name, index, kind } => {
                let name_text = indexed(self.source, name, index);
                let id = self.unique(name_text.clone());
                self.names.entry(name_text.clone()).or_insert(id.clone());
                let mut made = self.blank(id, self.sort_of(kind), node.span);
                made.name_range = self.range(name.span);
                made.name = Some(name_text);
                self.fill(&mut made, kind);
                self.push(made, node.span);
            }
            ast::NodeKind::Anonymous(kind) => {
                let id = self.unique(format!("{left}>{}>{right}", kind_text(kind)));
                self.chain_ids.insert(key(node.span), id.clone());
                let mut made = self.blank(id, self.sort_of(kind), node.span);
                self.fill(&mut made, kind);
                self.push(made, node.span);
            }
            ast::NodeKind::Tuple(members) => {
                for member in members {
                    self.make_node(member, "()", right);
                }
                let text = tight(slice(self.source, node.span));
                let id = self.unique(format!("{left}>{text}>{right}"));
                self.chain_ids.insert(key(node.span), id.clone());
                let mut made = self.blank(id, NodeSort::Tuple, node.span);
                made.kind = "()".to_owned();
                self.push(made, node.span);
            }
            ast::NodeKind::Fixed => {
                let id = self.unique(format!("{left}>_>{right}"));
                self.chain_ids.insert(key(node.span), id.clone());
                let mut made = self.blank(id, NodeSort::Fixed, node.span);
                made.kind = "_".to_owned();
                self.push(made, node.span);
            }
            ast::NodeKind::Ref(_) => {}
        }
    }

    fn blank(&self, id: String, sort: NodeSort, span: Span) -> Node {
        Node {
            id,
            sort,
            kind: String::new(),
            name: None,
            value: None,
            law: None,
            size: None,
            dimension: None,
            domain: None,
            is_modulated: false,
            range: self.range(span),
            name_range: self.range(span),
            position: None,
            ports: Vec::new(),
            members: Vec::new(),
            reads: Vec::new(),
            form: None,
            inherited: self.inherited.clone(),
            errors: Vec::new(),
        }
    }

    fn push(&mut self, node: Node, span: Span) {
        self.nodes.push(node);
        self.spans.push(span);
    }

    fn sort_of(&self, kind: &ast::Kind) -> NodeSort {
        let ast::KindHead::Named(path) = &kind.head else {
            return NodeSort::Junction;
        };
        if is_element(kind) {
            NodeSort::Element
        } else if self.analysis.find_model(path, self.file).is_some() {
            NodeSort::Part
        } else {
            NodeSort::Unknown
        }
    }

    fn fill(&self, node: &mut Node, kind: &ast::Kind) {
        node.kind = kind_text(kind);
        node.size = kind
            .size
            .as_ref()
            .map(|s| slice(self.source, s.span).to_owned());
        node.value = kind
            .args
            .as_ref()
            .map(|args| match (args.first(), args.last()) {
                (Some(first), Some(last)) => {
                    slice(self.source, arg_span(first).to(arg_span(last))).to_owned()
                }
                _ => String::new(),
            });
        node.law = kind
            .law
            .as_ref()
            .map(|law| match (law.first(), law.last()) {
                (Some(first), Some(last)) => {
                    slice(self.source, first.span.to(last.span)).to_owned()
                }
                _ => String::new(),
            });
        if let ast::KindHead::Named(path) = &kind.head
            && let Some((file, model)) = self.analysis.find_model(path, self.file)
        {
            node.ports = self.ports_of(model, file);
        }
    }

    fn ports_of(&self, model: &ast::Model, file: usize) -> Vec<Port> {
        let ports = self.analysis.ports(model, file);
        ports.into_iter().map(|p| self.port(p, file)).collect()
    }

    fn declare(
        &mut self,
        name: &ast::Ident,
        sort: NodeSort,
        kind: &ast::Path,
        value: Option<String>,
        span: Span,
    ) {
        let id = self.unique(name.text.to_string());
        self.names
            .entry(name.text.to_string())
            .or_insert(id.clone());
        let mut made = self.blank(id, sort, span);
        made.name = Some(name.text.to_string());
        made.name_range = self.range(name.span);
        made.kind = path_text(kind);
        made.value = value;
        if let Some((file, model)) = self.analysis.find_model(kind, self.file) {
            made.ports = self.ports_of(model, file);
        }
        self.push(made, span);
    }

    fn make_port(&mut self, declared: &ast::PortDecl) {
        // A port that stands for a node is another name of it, and shown there.
        if let Some(ast::PortBinding::Node(_)) = &declared.binding {
            return;
        }
        let id = self.unique(declared.name.text.to_string());
        self.names
            .entry(declared.name.text.to_string())
            .or_insert(id.clone());
        let mut made = self.blank(id, NodeSort::Port, declared.span);
        made.name = Some(declared.name.text.to_string());
        made.name_range = self.range(declared.name.span);
        made.kind = path_text(&declared.kind);
        made.size = declared
            .size
            .as_ref()
            .map(|s| slice(self.source, s.span).to_owned());
        made.ports = vec![self.port(declared, self.file)];
        self.push(made, declared.span);
    }

    fn make_block(&mut self, sort: NodeSort, statement: &ast::Stmt, bodies: &[&Vec<ast::Stmt>]) {
        let text = slice(self.source, statement.span);
        let head = tight(text.split('{').next().unwrap_or(""));
        let id = self.unique(head);
        let mut made = self.blank(id.clone(), sort, statement.span);
        made.kind = if sort == NodeSort::For { "for" } else { "if" }.to_owned();
        made.value = Some(text.to_owned());
        self.push(made, statement.span);
        for body in bodies {
            self.name_inside(body, &id);
        }
    }

    /// What a block makes is found in its box.
    fn name_inside(&mut self, body: &[ast::Stmt], id: &str) {
        for statement in body {
            match &statement.kind {
                ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. } => {
                    let nodes = chain.groups.iter().flatten();
                    let tuples = nodes.flat_map(|n| match &n.kind {
                        ast::NodeKind::Tuple(members) => members.iter().collect(),
                        _ => vec![n],
                    });
                    for node in tuples {
                        if let ast::NodeKind::Thing { name, .. } = &node.kind {
                            self.names
                                .entry(name.text.to_string())
                                .or_insert(id.to_owned());
                        }
                    }
                }
                ast::StmtKind::Replaceable { name, .. } => {
                    self.names
                        .entry(name.text.to_string())
                        .or_insert(id.to_owned());
                }
                ast::StmtKind::For { body, .. } => self.name_inside(body, id),
                ast::StmtKind::If {
                    then, otherwise, ..
                } => {
                    self.name_inside(then, id);
                    self.name_inside(otherwise, id);
                }
                _ => {}
            }
        }
    }

    // ---- second pass: what is joined and read

    /// A port that stands for a node is another name of it.
    fn name_ports(&mut self, body: &[ast::Stmt]) {
        for statement in body {
            let ast::StmtKind::Port(ports) = &statement.kind else {
                continue;
            };
            for declared in ports {
                if let Some(ast::PortBinding::Node(r)) = &declared.binding
                    && let Some((id, None)) = self.resolve(r)
                {
                    self.names
                        .entry(declared.name.text.to_string())
                        .or_insert(id);
                }
            }
        }
    }

    fn join(&mut self, at: usize, statement: &ast::Stmt) {
        match &statement.kind {
            ast::StmtKind::Chain(chain) => self.join_chain(at, chain, None),
            ast::StmtKind::NamedBond { name, chain } => self.join_chain(at, chain, Some(name)),
            ast::StmtKind::Param(list) => self.declarations(list, SignalSort::Param),
            ast::StmtKind::Input(list) => self.declarations(list, SignalSort::Input),
            ast::StmtKind::Output(list) => self.declarations(list, SignalSort::Output),
            ast::StmtKind::Define(define) => {
                let sort = match define.is_derivative {
                    true => SignalSort::Derivative,
                    false => SignalSort::Define,
                };
                self.definition(define, sort);
            }
            ast::StmtKind::Sample { body, .. } => {
                body.iter()
                    .for_each(|d| self.definition(d, SignalSort::Sampled));
            }
            ast::StmtKind::Solve { unknowns, .. } => {
                for name in unknowns {
                    self.signal(&name.text, SignalSort::Solved, None, None, statement.span);
                }
            }
            ast::StmtKind::Port(ports) => {
                for declared in ports {
                    let port = self.port(declared, self.file);
                    if let Some(ast::PortBinding::Node(r)) = &declared.binding
                        && let Some((id, _)) = self.resolve(r)
                        && let Some(node) = self.nodes.iter_mut().find(|n| n.id == id)
                        && matches!(node.sort, NodeSort::Junction | NodeSort::Element)
                    {
                        node.ports.push(port);
                    }
                }
            }
            ast::StmtKind::For { body, .. } => self.touch(statement, &[body]),
            ast::StmtKind::If {
                then, otherwise, ..
            } => self.touch(statement, &[then, otherwise]),
            _ => {}
        }
    }

    fn join_chain(&mut self, at: usize, chain: &ast::Chain, name: Option<&ast::Ident>) {
        for node in chain.groups.iter().flatten() {
            self.see_node(node);
        }
        for (i, arrow) in chain.arrows.iter().enumerate() {
            let (Some(tails), Some(heads)) = (chain.groups.get(i), chain.groups.get(i + 1)) else {
                continue;
            };
            for (tail_at, tail) in tails.iter().enumerate() {
                for (head_at, head) in heads.iter().enumerate() {
                    let place = BondPlace {
                        arrow_span: arrow.span,
                        statement: self.inherited.is_none().then_some(at),
                        arrow: i,
                        tail: tail_at,
                        head: head_at,
                    };
                    self.join_pair(tail, head, *arrow, name, place);
                }
            }
        }
    }

    fn join_pair(
        &mut self,
        tail: &ast::Node,
        head: &ast::Node,
        arrow: ast::Arrow,
        name: Option<&ast::Ident>,
        place: BondPlace,
    ) {
        let (from, to) = (self.end(tail, true), self.end(head, false));
        let text = |end: &BondEnd| match &end.port {
            Some(port) if !end.is_implied => format!("{}.{port}", end.node),
            _ => end.node.clone(),
        };
        let id = self.unique(format!("{}->{}", text(&from), text(&to)));
        self.bonds.push(Bond {
            id,
            name: name.map(|n| n.text.to_string()),
            from,
            to,
            is_multi: arrow.multi,
            forced: arrow.stroke.map(|s| match s {
                ast::StrokeAt::Tail => StrokeAt::Tail,
                ast::StrokeAt::Head => StrokeAt::Head,
            }),
            stroke: None,
            decided: None,
            is_derivative: false,
            is_integral: false,
            is_conflict: false,
            reasons: Vec::new(),
            dimension: None,
            domain: None,
            range: self.range(arrow.span),
            inherited: self.inherited.clone(),
            errors: Vec::new(),
        });
        self.places.push(place);
    }

    /// The end of an arrow: a node, and the port that is meant.
    fn end(&mut self, node: &ast::Node, is_tail: bool) -> BondEnd {
        let (id, port) = match &node.kind {
            ast::NodeKind::Thing { name, index, .. } => {
                let text = indexed(self.source, name, index);
                let id = self.names.get(&text).cloned();
                (id.unwrap_or(text), None)
            }
            ast::NodeKind::Ref(r) => match self.resolve(r) {
                Some(found) => found,
                None => {
                    let name = tight(slice(self.source, r.span));
                    self.add_unresolved(&name, r.span);
                    (name, None)
                }
            },
            _ => {
                let id = self.chain_ids.get(&key(node.span)).cloned();
                (id.unwrap_or_default(), None)
            }
        };
        let implied = || {
            let node = self.nodes.iter().find(|n| n.id == id)?;
            let is_part = matches!(
                node.sort,
                NodeSort::Part | NodeSort::Replaceable | NodeSort::Outer
            );
            let ports = Some(&node.ports).filter(|_| is_part)?;
            let second = ports.get(1).filter(|_| is_tail);
            second.or(ports.first()).map(|p| p.name.clone())
        };
        let is_implied = port.is_none();
        let port = port.or_else(implied);
        BondEnd {
            is_implied: is_implied && port.is_some(),
            node: id,
            port,
        }
    }

    fn add_unresolved(&mut self, name: &str, span: Span) {
        let range = self.range(span);
        if !self.unresolved.iter().any(|u| u.range == range) {
            self.unresolved.push(Unresolved {
                name: name.to_owned(),
                range,
            });
        }
    }

    /// Finds the node that a reference means, and what it names of it.
    fn resolve(&self, r: &ast::Ref) -> Option<(String, Option<String>)> {
        let first = r.parts.first()?;
        let whole = indexed(self.source, &first.name, &first.index);
        let (id, mut rest) = match self.names.get(&whole) {
            Some(id) => (id.clone(), String::new()),
            None => {
                let id = self.names.get(&*first.name.text)?;
                let node = self.nodes.iter().find(|n| n.id == *id)?;
                let is_block = matches!(node.sort, NodeSort::For | NodeSort::If);
                let index = &whole[first.name.text.len()..];
                let rest = if is_block {
                    whole.clone()
                } else {
                    index.to_owned()
                };
                (id.clone(), rest)
            }
        };
        for part in &r.parts[1..] {
            if !rest.is_empty() {
                rest.push('.');
            }
            rest.push_str(&indexed(self.source, &part.name, &part.index));
        }
        Some((id, (!rest.is_empty()).then_some(rest)))
    }

    /// Notes what the value of a node reads, and the members of a tuple.
    fn see_node(&mut self, node: &ast::Node) {
        let (id, kind) = match &node.kind {
            ast::NodeKind::Thing { name, index, kind } => {
                let text = indexed(self.source, name, index);
                (self.names.get(&text).cloned(), kind)
            }
            ast::NodeKind::Anonymous(kind) => (self.chain_ids.get(&key(node.span)).cloned(), kind),
            ast::NodeKind::Tuple(members) => {
                members.iter().for_each(|m| self.see_node(m));
                let ids: Vec<String> = members.iter().map(|m| self.end(m, true).node).collect();
                let id = self.chain_ids.get(&key(node.span)).cloned();
                if let Some(tuple) = self.nodes.iter_mut().find(|n| Some(&n.id) == id.as_ref()) {
                    tuple.members = ids;
                }
                return;
            }
            _ => return,
        };
        let mut reads = BTreeSet::new();
        let args = kind.args.iter().flatten().map(|a| &a.value);
        let laws = kind.law.iter().flatten().map(|l| &l.value);
        for expr in args.chain(laws) {
            self.reads(expr, &mut reads);
        }
        if let Some(made) = self.nodes.iter_mut().find(|n| Some(&n.id) == id.as_ref()) {
            made.reads = reads.into_iter().collect();
        }
    }

    fn reads(&self, expr: &ast::Expr, found: &mut BTreeSet<String>) {
        names_read(expr, &mut |name| {
            if let Some(id) = self.names.get(&*name.text) {
                found.insert(id.clone());
            }
        });
    }

    fn declarations(&mut self, list: &[ast::Decl], sort: SignalSort) {
        for decl in list {
            let unit = decl.unit.as_ref();
            self.signal(&decl.name.text, sort, decl.value.as_ref(), unit, decl.span);
            if let Some(last) = self.signals.last_mut() {
                last.doc.clone_from(&decl.doc);
            }
        }
    }

    fn definition(&mut self, define: &ast::Define, sort: SignalSort) {
        let name = tight(slice(self.source, define.target.span));
        let (value, unit) = (Some(&define.value), define.unit.as_ref());
        self.signal(&name, sort, value, unit, define.span);
        if let Some(last) = self.signals.last_mut() {
            last.doc.clone_from(&define.doc);
        }
    }

    fn signal(
        &mut self,
        name: &str,
        sort: SignalSort,
        value: Option<&ast::Expr>,
        unit: Option<&ast::Unit>,
        span: Span,
    ) {
        let mut reads = BTreeSet::new();
        if let Some(value) = value {
            self.reads(value, &mut reads);
        }
        let unit = unit.map(|u| slice(self.source, u.span));
        self.signals.push(Signal {
            name: name.to_owned(),
            sort,
            value: value.map(|v| slice(self.source, v.span).to_owned()),
            unit: unit.map(|u| u.trim_matches(['[', ']']).to_owned()),
            doc: None,
            range: self.range(span),
            reads: reads.into_iter().collect(),
            inherited: self.inherited.clone(),
        });
    }

    /// Notes what the text of a block joins outside of it.
    fn touch(&mut self, statement: &ast::Stmt, bodies: &[&Vec<ast::Stmt>]) {
        let range = self.range(statement.span);
        let Some(block) = self.nodes.iter().position(|n| n.range == range) else {
            return;
        };
        let mut found = BTreeSet::new();
        let mut open: Vec<&ast::Stmt> = bodies.iter().flat_map(|b| b.iter()).collect();
        while let Some(statement) = open.pop() {
            match &statement.kind {
                ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. } => {
                    let mut nodes: Vec<&ast::Node> = chain.groups.iter().flatten().collect();
                    while let Some(node) = nodes.pop() {
                        match &node.kind {
                            ast::NodeKind::Tuple(members) => nodes.extend(members),
                            ast::NodeKind::Ref(r) => found.extend(self.resolve(r).map(|f| f.0)),
                            _ => {}
                        }
                    }
                }
                ast::StmtKind::For { body, .. } => open.extend(body),
                ast::StmtKind::If {
                    then, otherwise, ..
                } => open.extend(then.iter().chain(otherwise)),
                _ => {}
            }
        }
        found.remove(&self.nodes[block].id);
        self.nodes[block].members = found.into_iter().collect();
    }

    /// Puts nodes where the `layout` blocks say.
    fn place_nodes<'m>(&mut self, models: impl Iterator<Item = &'m ast::Model>) {
        let mut places = BTreeMap::new();
        for statement in models.flat_map(|m| &m.body) {
            if let ast::StmtKind::Layout(list) = &statement.kind {
                for place in list {
                    let parts = place.target.parts.iter();
                    let texts = parts.map(|p| {
                        let index = p.index.iter().map(|e| match &e.kind {
                            ast::ExprKind::Number { value, .. } => format!("{value}"),
                            _ => String::new(),
                        });
                        let index: Vec<String> = index.collect();
                        match index.is_empty() {
                            true => p.name.text.to_string(),
                            false => format!("{}[{}]", p.name.text, index.join(",")),
                        }
                    });
                    let name: Vec<String> = texts.collect();
                    places.insert(name.join("."), (place.x, place.y));
                }
            }
        }
        for node in &mut self.nodes {
            if let Some(name) = &node.name {
                node.position = places.get(name).copied();
            }
        }
    }
}

fn key(span: Span) -> (u32, u32, u32) {
    (span.file.0, span.start, span.end)
}

impl Reader<'_> {
    fn port(&self, declared: &ast::PortDecl, file: usize) -> Port {
        let item = self
            .analysis
            .find(&declared.kind, file)
            .map(|(_, item)| &item.kind);
        let is_composite = matches!(item, Some(ast::ItemKind::PortType(_)));
        Port {
            name: declared.name.text.to_string(),
            kind: path_text(&declared.kind),
            joins_many: matches!(declared.binding, Some(ast::PortBinding::Node(_))),
            is_multi: declared.size.is_some() || is_composite,
        }
    }
}

/// The place of an argument with its name.
pub fn arg_span(arg: &ast::Arg) -> Span {
    match &arg.name {
        Some(name) => name.span.to(arg.value.span),
        None => arg.value.span,
    }
}
