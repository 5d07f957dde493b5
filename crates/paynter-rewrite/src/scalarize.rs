//! `scalarize`: vector bonds become scalar ones (Boudon et al. 2019, "future work will automate this").
//!
//! In:  a model with vector junctions, matrix transformers, tuples and vector elements.
//! Out: the same model in scalar junctions, bonds and transformers; what cannot be taken apart stays a field with a tuple of
//!      scalar bonds.
//!
//! A matrix transformer has two scalar structures, and its stroke decides: *flows in, flows out*: 1-junctions before, transformers, 0-junctions behind;
//! *efforts in, efforts out*: 0-junctions before, effort-forward transformers, 1-junctions behind, for matrices whose inverse is their transpose.

use crate::code;
use crate::expression::is_number;
use crate::matrix::{Entries, Shapes};
use crate::net::{Image, Kind, Net, Step, Thing, ThingId};
use crate::read::{Source, free_chain};
use crate::session::{Rewritten, Wish, rewrite};
use paynter::model::graph::{BondGraph, Law};
use paynter::model::project::Loader;
use paynter::syntax::ast::{self, Chain, Expr, ExprKind, KindHead, Node, NodeKind, Stmt, StmtKind};
use paynter::syntax::{Diagnostic, Span};
use paynter::{Choice, DesignError, design_in};
use std::collections::BTreeMap;

/// Writes a model in scalar bonds.
///
/// # Errors
///
/// The file cannot be read or has errors, or something in it cannot be taken apart.
pub fn scalarize<L: Loader + Clone>(
    loader: &mut L,
    path: &str,
    wish: &Wish,
) -> Result<Rewritten, DesignError> {
    let mut own = loader.clone();
    rewrite(loader, path, wish, &mut |net, source| {
        let choice = Choice {
            model: Some(source.model.name.text.to_string()),
            ..Choice::default()
        };
        let graph = design_in(&mut own, path, &choice).ok().map(|d| d.graph);
        let mut scalar = Scalar {
            source,
            shapes: shapes(source),
            graph: graph.as_deref(),
            vectors: BTreeMap::new(),
            steps: Vec::new(),
        };
        scalar.run(net)
    })
}

/// A component of a vector: a thing, or one that does not move.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Component {
    Thing(ThingId),
    Still,
}

struct Scalar<'s, 'a> {
    source: &'s Source<'a>,
    shapes: Shapes<'s>,
    /// The graph with its strokes, where the model can be elaborated alone.
    graph: Option<&'s BondGraph>,
    /// Components of vector junctions and elements, by name.
    vectors: BTreeMap<String, Vec<Component>>,
    steps: Vec<Step>,
}

type Refusal = Vec<Diagnostic>;

impl Scalar<'_, '_> {
    fn run(&mut self, net: &mut Net) -> Result<Vec<Step>, Refusal> {
        let source = self.source;
        let vectors: Vec<(usize, &Stmt, &Chain)> = source
            .model
            .body
            .iter()
            .enumerate()
            .filter(|(_, s)| free_chain(s).is_none())
            .filter_map(|(at, s)| match &s.kind {
                StmtKind::Chain(chain) => Some((at, s, chain)),
                _ => None,
            })
            .collect();
        for &(at, _, chain) in &vectors {
            for node in chain.groups.iter().flatten() {
                if let NodeKind::Thing { name, kind, index } = &node.kind {
                    if !index.is_empty() {
                        return Err(self.refusal(node.span, "arrays of parts are not taken apart"));
                    }
                    self.make(net, at, &name.text, kind)?;
                }
            }
        }
        for &(at, _, chain) in &vectors {
            self.join(net, at, chain)?;
            net.touched.insert(at);
        }
        // Scalar chains that name a component of a vector follow it.
        for (at, statement) in source.model.body.iter().enumerate() {
            if free_chain(statement).is_some() {
                self.follow(net, at);
            }
        }
        Ok(std::mem::take(&mut self.steps))
    }

    fn refusal(&self, span: Span, why: &str) -> Refusal {
        let message = Diagnostic::error(
            code::NOT_SCALAR,
            "this cannot be written in scalar bonds".to_owned(),
        );
        vec![message.primary(span, why.to_owned())]
    }

    fn step(&mut self, text: String) {
        self.steps.push(Step {
            rule: "scalarize",
            text,
        });
    }

    /// Makes the components of a vector junction or element.
    fn make(
        &mut self,
        net: &mut Net,
        at: usize,
        name: &str,
        kind: &ast::Kind,
    ) -> Result<(), Refusal> {
        let Some(size) = &kind.size else {
            return self.revive(net, at, name, kind);
        };
        let n = self.size(size)?;
        let sort = sort_of(kind);
        let Some(entries) = self.component_values(kind, sort, n) else {
            // A field, a law, or a part of many ports: it keeps its text, and scalar bonds lead to it.
            return Ok(());
        };
        let mut components = Vec::new();
        for (k, value) in entries.iter().enumerate() {
            let own = net.fresh(&format!("{name}_{}", letter(k, n)));
            let id = match sort {
                Kind::Zero | Kind::One => {
                    let id = net.make(Some(own), sort, "", at);
                    net.things[id].def = sort.letters().to_owned();
                    net.things[id].gain = None;
                    id
                }
                _ => net.make(Some(own), sort, value, at),
            };
            components.push(Component::Thing(id));
        }
        self.give_images(net, name, (sort, n), &components);
        self.vectors.insert(name.to_owned(), components);
        let names: Vec<String> = (0..n)
            .map(|k| format!("`{name}_{}`", letter(k, n)))
            .collect();
        self.step(format!("`{name}` is {}", names.join(", ")));
        Ok(())
    }

    /// A scalar thing that was made in a line with vectors.
    fn revive(
        &mut self,
        net: &mut Net,
        at: usize,
        name: &str,
        kind: &ast::Kind,
    ) -> Result<(), Refusal> {
        let sort = sort_of(kind);
        let found = net
            .things
            .iter()
            .position(|t| t.name.as_deref() == Some(name));
        if let Some(id) = found {
            net.things[id].kind = sort;
            net.things[id].owner = Some(at);
        }
        Ok(())
    }

    fn size(&self, size: &Expr) -> Result<usize, Refusal> {
        let text = self.source.slice(size.span);
        match text.parse::<usize>() {
            Ok(n) if (1..=12).contains(&n) => Ok(n),
            _ => Err(self.refusal(size.span, "its size is not a number between 1 and 12")),
        }
    }

    /// The value of each component; empty texts for junctions. None if the element has to stay whole.
    fn component_values(&self, kind: &ast::Kind, sort: Kind, n: usize) -> Option<Vec<String>> {
        if sort.is_junction() {
            return Some(vec![String::new(); n]);
        }
        let [arg] = kind.args.as_deref()? else {
            return None;
        };
        if arg.name.is_some() || kind.law.is_some() || !sort.is_one_port() {
            return None;
        }
        let entries = self.shapes.entries(&arg.value)?;
        if entries.len() != n {
            return None;
        }
        match sort {
            Kind::Se | Kind::Sf => entries
                .iter()
                .map(|row| (row.len() == 1).then(|| row[0].clone()))
                .collect(),
            _ => diagonal(&entries),
        }
    }

    /// `w.f` is a vector of components, `w.y.f` one of them.
    fn give_images(
        &self,
        net: &mut Net,
        name: &str,
        (sort, n): (Kind, usize),
        components: &[Component],
    ) {
        let quantities: &[&str] = match sort {
            Kind::One => &["f"],
            Kind::Zero => &["e"],
            Kind::I => &["e", "f", "p"],
            Kind::C => &["e", "f", "q"],
            _ => &["e", "f"],
        };
        let own = |net: &Net, c: &Component| match c {
            Component::Thing(id) => net.things[*id].name.clone().unwrap_or_default(),
            Component::Still => String::new(),
        };
        for q in quantities {
            let all: Vec<String> = components
                .iter()
                .map(|c| format!("{}.{q}", own(net, c)))
                .collect();
            let list = format!("[{}]", all.join(", "));
            net.images.insert(format!("{name}.{q}"), Image::of(list));
            for (k, path) in all.iter().enumerate() {
                let old = format!("{name}.{q}[{}]", k + 1);
                // The flow of a 1-junction is a state where no inertia gives it.
                if matches!(*q, "p" | "q") || sort.is_junction() {
                    net.origins.insert(path.clone(), old.clone());
                }
                net.compared.push((old, path.clone()));
                for old in [
                    format!("{name}.{}.{q}", letter(k, n)),
                    format!("{name}.{q}.{}", letter(k, n)),
                ] {
                    net.images.insert(old, Image::same(path));
                }
            }
        }
        if let Some(id) = net
            .things
            .iter()
            .position(|t| t.name.as_deref() == Some(name))
        {
            net.things[id].is_alive = false;
        }
    }

    /// Bonds of a chain with vectors.
    fn join(&mut self, net: &mut Net, at: usize, chain: &Chain) -> Result<(), Refusal> {
        let mut k = 0;
        while k < chain.arrows.len() {
            let behind = &chain.groups[k + 1];
            let is_tf =
                matches!(behind.as_slice(), [n] if is_matrix_tf(n)) && k + 1 < chain.arrows.len();
            for tail in &chain.groups[k] {
                if is_tf {
                    for head in &chain.groups[k + 2] {
                        self.transformer(net, at, (tail, &behind[0], head))?;
                    }
                } else {
                    for head in behind {
                        self.bonds(net, at, tail, head)?;
                    }
                }
            }
            k += if is_tf { 2 } else { 1 };
        }
        Ok(())
    }

    /// Bonds between two vectors, or to an element that stays whole.
    fn bonds(&mut self, net: &mut Net, at: usize, tail: &Node, head: &Node) -> Result<(), Refusal> {
        for (whole, other, is_head) in [(head, tail, true), (tail, head, false)] {
            if let Some(kind) = self.whole(whole) {
                let components = self.components(net, other, None)?;
                return self.field(net, (whole, kind), &components, is_head);
            }
        }
        let hint = self.known_size(tail).or_else(|| self.known_size(head));
        let (a, b) = (
            self.components(net, tail, hint)?,
            self.components(net, head, hint)?,
        );
        for (x, y) in a.iter().zip(&b) {
            match (*x, *y) {
                (Component::Thing(x), Component::Thing(y)) => {
                    net.bond(x, y, at);
                }
                (Component::Still, Component::Thing(y)) => {
                    let still = net.make(None, Kind::Sf, "0", at);
                    net.bond(still, y, at);
                }
                (Component::Thing(x), Component::Still) => {
                    let still = net.make(None, Kind::Sf, "0", at);
                    net.bond(x, still, at);
                }
                (Component::Still, Component::Still) => {}
            }
        }
        Ok(())
    }

    /// The kind of a node that is an element with several ports.
    fn whole<'n>(&self, node: &'n Node) -> Option<&'n ast::Kind> {
        let kind = match &node.kind {
            NodeKind::Thing { name, kind, .. } if !self.vectors.contains_key(&*name.text) => kind,
            NodeKind::Anonymous(kind) => kind,
            _ => return None,
        };
        let is_source = matches!(sort_of(kind), Kind::Se | Kind::Sf)
            && matches!(node.kind, NodeKind::Anonymous(_));
        (kind.size.is_some() && !is_source).then_some(kind)
    }

    /// An element that stays a field: a ring for ω × p, else a tuple of scalar bonds.
    fn field(
        &mut self,
        net: &mut Net,
        (node, kind): (&Node, &ast::Kind),
        components: &[Component],
        is_head: bool,
    ) -> Result<(), Refusal> {
        let names: Option<Vec<String>> = components
            .iter()
            .map(|c| match c {
                Component::Thing(id) => net.things[*id].name.clone(),
                Component::Still => Some("_".to_owned()),
            })
            .collect();
        let names = names.ok_or_else(|| self.refusal(node.span, "a component has no name"))?;
        if let (Some(momentum), [x, y, z], true) = (cross_with(kind), names.as_slice(), is_head) {
            let p = self.vector_text(net, momentum)?;
            let line = format!(
                "{x} -> GY({}) -> {y} -> GY({}) -> {z} -> GY({}) -> {x}",
                p[2], p[0], p[1]
            );
            net.added.push(line);
            self.step("ω × p is the Eulerian ring of three gyrators".to_owned());
            return Ok(());
        }
        let whole = net.carried_text_of_node(&self.source.slice(node.span));
        let tuple = format!("({})", names.join(", "));
        net.added.push(match is_head {
            true => format!("{tuple} => {whole}"),
            false => format!("{whole} => {tuple}"),
        });
        let what = self.source.slice(kind.span);
        self.step(format!(
            "`{what}` stays a field: it is not diagonal, or has a law"
        ));
        if let NodeKind::Thing { name, .. } = &node.kind
            && let Some(id) = net
                .things
                .iter()
                .position(|t| t.name.as_deref() == Some(&*name.text))
        {
            net.things[id].is_pinned = true;
        }
        Ok(())
    }

    /// The three components of a vector expression.
    fn vector_text(&self, net: &Net, e: &Expr) -> Result<Vec<String>, Refusal> {
        if let Some(path) = crate::walk::dotted(e) {
            let path = path.join(".");
            let whole = |k: usize| format!("{path}[{k}]");
            return Ok(match net.images.get(&path) {
                Some(image) => {
                    let inner = image.text.trim_start_matches('[').trim_end_matches(']');
                    inner.split(", ").map(str::to_owned).collect()
                }
                None => (1..=3).map(whole).collect(),
            });
        }
        let entries = self.shapes.entries(e).filter(|v| v.len() == 3);
        let column = entries.map(|v| v.into_iter().map(|mut r| r.remove(0)).collect());
        column.ok_or_else(|| self.refusal(e.span, "its components cannot be written down"))
    }

    /// The size that a node is known to have.
    fn known_size(&self, node: &Node) -> Option<usize> {
        match &node.kind {
            NodeKind::Thing { name, .. } => self.vectors.get(&*name.text).map(Vec::len),
            NodeKind::Ref(r) => {
                let text = self.source.slice(r.span);
                self.vectors.get(&text).map(Vec::len)
            }
            NodeKind::Tuple(nodes) => {
                let sizes = nodes.iter().map(|n| self.known_size(n).unwrap_or(1));
                Some(sizes.sum())
            }
            NodeKind::Anonymous(kind) => {
                let size = kind.size.as_ref()?;
                self.source.slice(size.span).parse().ok()
            }
            NodeKind::Fixed => Some(1),
        }
    }

    fn components(
        &mut self,
        net: &mut Net,
        node: &Node,
        hint: Option<usize>,
    ) -> Result<Vec<Component>, Refusal> {
        match &node.kind {
            NodeKind::Fixed => Ok(vec![Component::Still]),
            NodeKind::Tuple(nodes) => {
                let mut all = Vec::new();
                for n in nodes {
                    all.extend(self.components(net, n, Some(1))?);
                }
                Ok(all)
            }
            NodeKind::Thing { name, .. } => Ok(self.named(net, &name.text, hint)),
            NodeKind::Ref(r) => {
                let text = self.source.slice(r.span);
                Ok(self.named(net, &text, hint))
            }
            NodeKind::Anonymous(kind) => {
                let n = match &kind.size {
                    Some(size) => self.size(size)?,
                    None => 1,
                };
                let sort = sort_of(kind);
                let values = self.component_values(kind, sort, n);
                let values = values.ok_or_else(|| {
                    self.refusal(node.span, "its components cannot be written down")
                })?;
                let owner = self.owner_of(node.span);
                let made = values.iter().map(|v| net.make(None, sort, v, owner));
                Ok(made.map(Component::Thing).collect())
            }
        }
    }

    fn owner_of(&self, span: Span) -> usize {
        let body = &self.source.model.body;
        let holds = |s: &Stmt| s.span.start <= span.start && span.end <= s.span.end;
        body.iter().position(holds).unwrap_or(0)
    }

    /// The components of a name: those that were made, a scalar thing, or the components of a port.
    fn named(&self, net: &mut Net, text: &str, hint: Option<usize>) -> Vec<Component> {
        if let Some(found) = self.vectors.get(text) {
            return found.clone();
        }
        let scalar = |t: &Thing| t.name.as_deref() == Some(text);
        let known = net.things.iter().position(scalar);
        let n = hint.unwrap_or(1);
        if let (Some(id), 1) = (known, n) {
            return vec![Component::Thing(
                self.component_named(net, text).unwrap_or(id),
            )];
        }
        let one = |net: &mut Net, path: String| match net
            .things
            .iter()
            .position(|t| t.name.as_deref() == Some(&*path))
        {
            Some(id) => id,
            None => elsewhere(net, path),
        };
        (0..n)
            .map(|k| {
                let path = match n {
                    1 => text.to_owned(),
                    _ => format!("{text}.{}", letter(k, n)),
                };
                Component::Thing(one(net, path))
            })
            .collect()
    }

    /// `j.y` as the component of a vector that was taken apart.
    fn component_named(&self, net: &Net, text: &str) -> Option<ThingId> {
        let (of, which) = text.rsplit_once('.')?;
        let components = self.vectors.get(of)?;
        let n = components.len();
        let k = (0..n).find(|&k| letter(k, n) == which)?;
        match components[k] {
            Component::Thing(id) if net.things[id].is_alive => Some(id),
            _ => None,
        }
    }

    /// Scalar bonds to a component of a vector lead to its junction.
    fn follow(&self, net: &mut Net, at: usize) {
        for bond in 0..net.bonds.len() {
            if net.bonds[bond].owner != at {
                continue;
            }
            for end in [net.bonds[bond].tail, net.bonds[bond].head] {
                let name = net.things[end].name.clone().unwrap_or_default();
                if let Some(id) = self.component_named(net, &name) {
                    net.move_end(bond, end, id);
                }
            }
        }
    }

    /// A matrix transformer between two vectors.
    fn transformer(
        &mut self,
        net: &mut Net,
        at: usize,
        (tail, node, head): (&Node, &Node, &Node),
    ) -> Result<(), Refusal> {
        let NodeKind::Anonymous(kind) = &node.kind else {
            return Err(self.refusal(node.span, "a matrix transformer with a name stays as it is"));
        };
        let arg = kind.args.as_deref().and_then(|a| a.first());
        let arg = arg.ok_or_else(|| self.refusal(node.span, "it has no matrix"))?;
        let entries = self.shapes.entries(&arg.value).ok_or_else(|| {
            self.refusal(
                arg.value.span,
                "the entries of this matrix cannot be written down",
            )
        })?;
        let (m, n) = (entries.len(), entries.first().map_or(0, Vec::len));
        let before = self.components(net, tail, Some(n))?;
        let behind = self.components(net, head, Some(m))?;
        if before.len() != n || behind.len() != m {
            return Err(self.refusal(node.span, "its matrix does not fit what it is bonded to"));
        }
        let is_backward = self.is_backward(node.span) && self.shapes.is_rotation(&arg.value);
        let structure = Structure {
            at,
            entries: &entries,
            is_backward,
        };
        structure.build(net, &before, &behind);
        let matrix = self.source.slice(arg.value.span);
        self.step(match is_backward {
            true => format!("TF({matrix}) has efforts in and out: 0-junctions before, transformers of efforts, 1-junctions behind"),
            false => format!("TF({matrix}) has flows in and out: 1-junctions before, transformers, 0-junctions behind"),
        });
        Ok(())
    }

    /// Tells whether strokes ask for the transformer the other way round.
    fn is_backward(&self, span: Span) -> bool {
        let Some(graph) = self.graph else {
            return false;
        };
        graph.elements.iter().any(|e| {
            let place = graph.span(e.origin);
            let is_it = place.start <= span.start && span.end <= place.end || place == span;
            is_it && e.part_of.is_some() && matches!(e.law, Law::InverseGain(_))
        })
    }
}

/// One of the two scalar structures of a matrix transformer.
struct Structure<'e> {
    at: usize,
    entries: &'e Entries,
    is_backward: bool,
}

impl Structure<'_> {
    fn build(&self, net: &mut Net, before: &[Component], behind: &[Component]) {
        let (spread, gather) = match self.is_backward {
            false => (Kind::One, Kind::Zero),
            true => (Kind::Zero, Kind::One),
        };
        let is_there = |i: usize, j: usize| {
            before[j] != Component::Still && !is_number(&self.entries[i][j], 0.0)
        };
        let (m, n) = (behind.len(), before.len());
        let from: Vec<Option<ThingId>> = (0..n)
            .map(|j| {
                let Component::Thing(id) = before[j] else {
                    return None;
                };
                let n_used = (0..m).filter(|&i| is_there(i, j)).count();
                let needs = n_used > 1 && net.things[id].kind != spread;
                Some(if needs {
                    self.beside(net, id, spread, false)
                } else {
                    id
                })
            })
            .collect();
        for i in 0..m {
            let Component::Thing(to) = behind[i] else {
                continue;
            };
            let used: Vec<usize> = (0..n).filter(|&j| is_there(i, j)).collect();
            if used.is_empty() {
                let still = net.make(None, Kind::Sf, "0", self.at);
                net.bond(still, to, self.at);
                continue;
            }
            let needs = used.len() > 1 && net.things[to].kind != gather;
            let to = if needs {
                self.beside(net, to, gather, true)
            } else {
                to
            };
            for j in used {
                if let Some(from) = from[j] {
                    self.entry(net, from, to, &self.entries[i][j]);
                }
            }
        }
    }

    /// A junction of the other kind beside a component.
    fn beside(&self, net: &mut Net, id: ThingId, kind: Kind, is_before: bool) -> ThingId {
        let own = net.things[id].name.clone().unwrap_or_default();
        let word = if kind == Kind::Zero { "sum" } else { "rate" };
        let name = net.fresh(&format!("{}_{word}", own.replace(['.', '[', ']'], "_")));
        let made = net.make(Some(name), kind, "", self.at);
        net.things[made].def = kind.letters().to_owned();
        net.things[made].gain = None;
        match is_before {
            true => net.bond(made, id, self.at),
            false => net.bond(id, made, self.at),
        };
        made
    }

    fn entry(&self, net: &mut Net, from: ThingId, to: ThingId, value: &str) {
        if is_number(value, 1.0) {
            net.bond(from, to, self.at);
            return;
        }
        let tf = net.make(None, Kind::Tf, value, self.at);
        if self.is_backward {
            let factor = crate::expression::product(value, "e1");
            net.things[tf].def = format!("TF {{ e2 = {factor} }}");
            net.things[tf].gain = None;
        }
        net.bond(from, tf, self.at);
        net.bond(tf, to, self.at);
    }
}

/// `x`, `y`, `z` for up to three components, numbers for more.
fn letter(k: usize, n: usize) -> String {
    match n {
        2 | 3 => ["x", "y", "z"][k].to_owned(),
        _ => format!("{}", k + 1),
    }
}

fn diagonal(entries: &Entries) -> Option<Vec<String>> {
    let n = entries.len();
    for (i, row) in entries.iter().enumerate() {
        let is_plain = row.len() == n && (0..n).all(|j| i == j || is_number(&row[j], 0.0));
        if !is_plain {
            return None;
        }
    }
    Some((0..n).map(|k| entries[k][k].clone()).collect())
}

/// p of a law `e = cross(f, p)`.
fn cross_with(kind: &ast::Kind) -> Option<&Expr> {
    let [law] = kind.law.as_deref()? else {
        return None;
    };
    let ExprKind::Call { function, args } = &law.value.kind else {
        return None;
    };
    let is_cross = function
        .segments
        .last()
        .is_some_and(|s| *s.text == *"cross");
    let is_gyrator = sort_of(kind) == Kind::Gy && *law.target.text == *"e" && law.index.is_none();
    match args.as_slice() {
        [f, p] if is_cross && is_gyrator => {
            let is_f = matches!(&f.value.kind, ExprKind::Name(n) if *n.text == *"f");
            is_f.then_some(&p.value)
        }
        _ => None,
    }
}

fn sort_of(kind: &ast::Kind) -> Kind {
    match &kind.head {
        KindHead::Zero(_) => Kind::Zero,
        KindHead::One(_) => Kind::One,
        KindHead::Named(path) => match &*path.segments[0].text {
            "Se" => Kind::Se,
            "Sf" => Kind::Sf,
            "R" => Kind::R,
            "C" => Kind::C,
            "I" => Kind::I,
            "TF" => Kind::Tf,
            "GY" => Kind::Gy,
            _ => Kind::Other,
        },
    }
}

fn is_matrix_tf(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Anonymous(kind) | NodeKind::Thing { kind, .. } => sort_of(kind) == Kind::Tf,
        _ => false,
    }
}

/// Something that is made elsewhere.
fn elsewhere(net: &mut Net, path: String) -> ThingId {
    net.things.push(Thing {
        name: Some(path),
        kind: Kind::Other,
        def: String::new(),
        gain: None,
        has_hidden_bonds: true,
        is_pinned: true,
        owner: None,
        is_alive: true,
    });
    net.things.len() - 1
}

/// Shapes of parameters and inputs.
fn shapes<'s>(source: &Source<'s>) -> Shapes<'s> {
    let mut of = BTreeMap::new();
    for statement in &source.model.body {
        let (StmtKind::Param(decls) | StmtKind::Input(decls)) = &statement.kind else {
            continue;
        };
        for d in decls {
            let sizes: Option<Vec<usize>> = d
                .shape
                .iter()
                .flatten()
                .map(|e| source.slice(e.span).parse().ok())
                .collect();
            match sizes.as_deref() {
                Some([n]) => of.insert(d.name.text.to_string(), (*n, 1)),
                Some([m, n]) => of.insert(d.name.text.to_string(), (*m, *n)),
                _ => None,
            };
        }
    }
    let known = Shapes {
        of,
        text: source.text,
    };
    // `param J = diag(…)` says its shape by its value.
    let mut of = known.of.clone();
    for statement in &source.model.body {
        if let StmtKind::Param(decls) = &statement.kind {
            for d in decls {
                let found = d.value.as_ref().and_then(|v| known.entries(v));
                if let Some(e) = found {
                    let shape = (e.len(), e.first().map_or(0, Vec::len));
                    of.entry(d.name.text.to_string()).or_insert(shape);
                }
            }
        }
    }
    Shapes {
        of,
        text: source.text,
    }
}
