//! Makes a model of some nodes, and a part of that model in their place.
//!
//! In:  nodes of a view, and a name for the new model.
//! Out: a model above the present one: the chosen nodes with the bonds between them, a port for every bond that leads out, a
//!      parameter or input for everything else that they read. In their place a part, with the same bonds. Whatever read a
//!      node by its name reads it in the part: signals, experiments, other files.
//!
//! Bonds at a junction share a port that stands for it; an element or a part has a port of its own for each bond.
//!
//! **Invariant:** the flat graph is the same as before ([`same_model`](super::verify::same_model)).

use super::draft::{Draft, INDENT};
use super::names::{fresh_name, is_name, numbered, taken};
use super::transplant::{Swap, chain_refs, is_within, path_end, swapped, trailing_comment};
use super::{Refusal, TextEdit, delete, layout, verify};
use crate::rename::mentions;
use crate::symbol::{Occurrence, Symbol, occurrences};
use crate::view::{Bond, BondEnd, Node, NodeSort, StrokeAt, View};
use crate::workspace::Workspace;
use paynter::model::domains::Domains;
use paynter::model::kinds::ElementKind;
use paynter::syntax::{Span, ast};
use std::collections::{BTreeMap, BTreeSet};

/// Groups nodes.
///
/// # Errors
///
/// Why these nodes cannot be a model of their own.
pub fn group(
    workspace: &Workspace,
    mut draft: Draft<'_>,
    ids: &[String],
    model: &str,
) -> Result<Vec<TextEdit>, Refusal> {
    check_name(&draft, model)?;
    let path = draft.analysis.path.clone();
    let view = workspace
        .view(&path, &draft.model)
        .ok_or_else(|| Refusal::new(format!("there is no model `{}`", draft.model)))?;
    let chosen = choose(&view, ids)?;
    let mut plan = Plan::new(&draft, &view, &chosen)?;
    let inputs = plan.read_from_outside(&draft, (&view, &chosen))?;
    let part = fresh_name(&draft, model);
    let text = plan.model_text(&draft, model, &inputs)?;

    let (own, others) = plan.mentioned_elsewhere(workspace, &draft, &part)?;
    let whole = swapped(draft.text(), 0, &own);
    let length = draft.text().len();
    draft.replace(0, length, &whole)?;
    let names: Vec<String> = plan.names.values().cloned().collect();
    delete::delete(&mut draft, &names, &[])?;
    let arguments = inputs.arguments();
    draft.add_statement(&format!("{part}: {model}({arguments})"))?;
    for line in plan.outer_bonds(&part) {
        draft.add_statement(&line)?;
    }
    if let Some((x, y)) = centre(&chosen) {
        layout::place(&mut draft, &part, x, y)?;
    }
    add_model(&mut draft, &text)?;
    let mut edits = draft.finish()?;
    edits.extend(others);
    verify::same_model(workspace, (&path, &view.model), &edits)?;
    Ok(edits)
}

fn check_name(draft: &Draft<'_>, model: &str) -> Result<(), Refusal> {
    let is_taken = |k: ElementKind| !k.describe().yields_to_models;
    if !is_name(model) || ElementKind::called(model).is_some_and(is_taken) {
        return Err(Refusal::new(format!("`{model}` is not a name for a model")));
    }
    if draft.analysis.find_name(model, 0).is_some() {
        return Err(Refusal::new(format!("there is a `{model}` already")));
    }
    Ok(())
}

/// The chosen nodes, if each of them can stand in a model of its own.
fn choose<'v>(view: &'v View, ids: &[String]) -> Result<Vec<&'v Node>, Refusal> {
    if ids.is_empty() {
        return Err(Refusal::new("nothing is chosen"));
    }
    let mut chosen: Vec<&Node> = Vec::new();
    for id in ids {
        let node = view.nodes.iter().find(|n| n.id == *id);
        let node = node.ok_or_else(|| Refusal::new(format!("there is no `{id}`")))?;
        let can_move = matches!(
            node.sort,
            NodeSort::Junction | NodeSort::Element | NodeSort::Part
        );
        let is_one_of_many = node.name.as_ref().is_some_and(|n| n.contains('['));
        if !can_move || node.inherited.is_some() || is_one_of_many {
            return Err(Refusal::new(format!("`{id}` cannot be moved into a model")));
        }
        if !chosen.iter().any(|n| n.id == *id) {
            chosen.push(node);
        }
    }
    for node in &view.nodes {
        if let Some(member) = node.members.iter().find(|m| ids.contains(m)) {
            return Err(Refusal::new(format!(
                "`{}` joins `{member}`, so that it cannot be moved",
                node.id
            )));
        }
    }
    chosen.sort_by_key(|n| n.range.bytes);
    Ok(chosen)
}

fn centre(chosen: &[&Node]) -> Option<(f64, f64)> {
    let places: Vec<(f64, f64)> = chosen.iter().filter_map(|n| n.position).collect();
    let n = places.len() as f64;
    let sum = places
        .iter()
        .fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
    (n > 0.0).then_some(((sum.0 / n).round(), (sum.1 / n).round()))
}

/// A bond that leads out of the group.
struct Crossing<'v> {
    bond: &'v Bond,
    /// The inner end takes power.
    is_in: bool,
    /// The port it goes through.
    port: String,
}

/// How the nodes become a model.
struct Plan<'v> {
    /// Chosen node, and each unnamed node that a bond leads to: the name it has or gets.
    names: BTreeMap<String, String>,
    /// Names that unnamed nodes get: where in the text.
    given: Vec<Swap>,
    /// What the model's own text says, per chosen node.
    ranges: Vec<(usize, usize)>,
    inner: Vec<&'v Bond>,
    crossings: Vec<Crossing<'v>>,
    /// Outer unnamed nodes by id: the names they get.
    outer: BTreeMap<String, String>,
    /// Declarations of ports, and lines that join them.
    ports: Vec<String>,
    joins: Vec<String>,
    /// Changes of the moved texts.
    moved: Vec<Swap>,
    positions: Vec<(String, f64, f64)>,
    symbols: BTreeSet<String>,
}

/// Parameters and inputs of the new model.
#[derive(Default)]
struct Inputs {
    /// Declaration and the argument of the part, by name.
    list: BTreeMap<String, (String, String)>,
}

impl Inputs {
    fn arguments(&self) -> String {
        let all = self.list.iter();
        let all: Vec<String> = all
            .map(|(name, (_, value))| format!("{name} = {value}"))
            .collect();
        all.join(", ")
    }
}

impl<'v> Plan<'v> {
    fn new(draft: &Draft<'_>, view: &'v View, chosen: &[&'v Node]) -> Result<Self, Refusal> {
        let mut used = taken(draft);
        let mut plan = Plan {
            names: BTreeMap::new(),
            given: Vec::new(),
            ranges: chosen.iter().map(|n| n.range.bytes).collect(),
            inner: Vec::new(),
            crossings: Vec::new(),
            outer: BTreeMap::new(),
            ports: Vec::new(),
            joins: Vec::new(),
            moved: Vec::new(),
            positions: Vec::new(),
            symbols: BTreeSet::new(),
        };
        for node in chosen {
            let name = plan.name_of(node, &mut used);
            plan.symbols.extend(node.name.clone());
            if let Some((x, y)) = node.position {
                plan.positions.push((name.clone(), x, y));
            }
            plan.names.insert(node.id.clone(), name);
        }
        let is_chosen = |end: &BondEnd| chosen.iter().any(|n| n.id == end.node);
        for bond in &view.bonds {
            match (is_chosen(&bond.from), is_chosen(&bond.to)) {
                (true, true) => plan.inner.push(bond),
                (false, false) => {}
                (_, is_in) => plan.cross(view, bond, is_in, &mut used)?,
            }
        }
        Ok(plan)
    }

    /// The name of a node; an unnamed one gets one.
    fn name_of(&mut self, node: &Node, used: &mut BTreeSet<String>) -> String {
        if let Some(name) = &node.name {
            return name.clone();
        }
        let kind = node.kind.to_lowercase();
        let stem = match node.kind.as_str() {
            "0" => "n",
            "1" => "j",
            _ => &kind,
        };
        let name = numbered(stem, |n| used.contains(n));
        used.insert(name.clone());
        let at = node.range.bytes.0;
        self.given.push(Swap::new(at, at, format!("{name}: ")));
        name
    }

    /// Leads a bond through a port.
    fn cross(
        &mut self,
        view: &View,
        bond: &'v Bond,
        is_in: bool,
        used: &mut BTreeSet<String>,
    ) -> Result<(), Refusal> {
        let (inner, outer) = match is_in {
            true => (&bond.to, &bond.from),
            false => (&bond.from, &bond.to),
        };
        if bond.inherited.is_some() {
            return Err(Refusal::new(format!(
                "the bond `{}` is inherited; `{}` cannot be moved",
                bond.id, inner.node
            )));
        }
        let find = |id: &str| view.nodes.iter().find(|n| n.id == id);
        let (Some(node), Some(beyond)) = (find(&inner.node), find(&outer.node)) else {
            return Err(Refusal::new(format!(
                "the bond `{}` has a loose end",
                bond.id
            )));
        };
        if matches!(
            beyond.sort,
            NodeSort::Tuple | NodeSort::Fixed | NodeSort::For | NodeSort::If
        ) {
            return Err(Refusal::new(format!(
                "`{}` is joined to a {}; it cannot be moved",
                node.id, beyond.kind
            )));
        }
        if beyond.name.is_none() && !self.outer.contains_key(&beyond.id) {
            let name = self.name_of(beyond, used);
            self.outer.insert(beyond.id.clone(), name);
        }
        let port = self.port(bond, (node, inner), is_in, used)?;
        self.crossings.push(Crossing { bond, is_in, port });
        Ok(())
    }

    /// The port of a bond: one for all bonds of a junction or of a port of a part, else its own.
    fn port(
        &mut self,
        bond: &Bond,
        (node, end): (&Node, &BondEnd),
        is_in: bool,
        used: &mut BTreeSet<String>,
    ) -> Result<String, Refusal> {
        let name = &self.names[&node.id];
        let is_part = node.sort == NodeSort::Part;
        let is_component = end.port.as_ref().is_some_and(|p| p.starts_with('['));
        if is_component {
            return Err(Refusal::new(format!(
                "a bond joins one component of `{name}`; it cannot be moved without the other end"
            )));
        }
        let target = match (&end.port, is_part) {
            (Some(port), true) => Some(format!("{name}.{port}")),
            (None, true) => return Err(Refusal::new(format!("`{name}` has no port to join"))),
            _ => (node.sort == NodeSort::Junction).then(|| name.clone()),
        };
        let declared = self.ports.iter().find_map(|p| {
            let (head, binding) = p.split_once(" = ")?;
            (Some(binding) == target.as_deref())
                .then(|| head.split(':').next().unwrap_or("").to_owned())
        });
        if let Some(port) = declared {
            return Ok(port);
        }
        let kind = self.kind_of(bond, node, end)?;
        let port = ('a'..='z')
            .map(String::from)
            .find(|n| !used.contains(n))
            .unwrap_or_else(|| numbered("p", |n| used.contains(n)));
        used.insert(port.clone());
        match target {
            Some(target) => self.ports.push(format!("{port}: {kind} = {target}")),
            None => {
                let arrow = if bond.is_multi { "=>" } else { "->" };
                let name = self.names[&node.id].clone();
                self.joins.push(match is_in {
                    true => format!("{port} {arrow} {name}"),
                    false => format!("{name} {arrow} {port}"),
                });
                self.ports.push(format!("{port}: {kind}"));
            }
        }
        Ok(port)
    }

    /// Domain or port type of a port, with its size.
    fn kind_of(&self, bond: &Bond, node: &Node, end: &BondEnd) -> Result<String, Refusal> {
        let declared = node
            .ports
            .iter()
            .find(|p| node.sort == NodeSort::Part && Some(&p.name) == end.port.as_ref());
        let domain = bond
            .domain
            .clone()
            .or_else(|| declared.map(|p| p.kind.clone()));
        let domain = domain.ok_or_else(|| {
            Refusal::new(format!(
                "the domain of the bond `{}` is not known: give a value with its unit to an element there",
                bond.id
            ))
        })?;
        let size = match (bond.is_multi, bond.dimension) {
            (false, _) => String::new(),
            (true, Some(n)) => format!("[{n}]"),
            (true, None) => {
                return Err(Refusal::new(format!(
                    "the size of the bond `{}` is not known",
                    bond.id
                )));
            }
        };
        Ok(format!("{domain}{size}"))
    }

    /// What the chosen nodes read from outside: parameters stay parameters, everything else is an input.
    fn read_from_outside(
        &mut self,
        draft: &Draft<'_>,
        (view, chosen): (&View, &[&Node]),
    ) -> Result<Inputs, Refusal> {
        let all = occurrences(draft.analysis, 0);
        let mut inputs = Inputs::default();
        let reads = all
            .iter()
            .filter(|o| !o.is_definition && is_within(o.span, &self.ranges));
        let roots: Vec<&Occurrence> = reads
            .filter(|o| self.is_own_root(draft, o) && !is_chosen(chosen, o))
            .collect();
        let mut used = taken(draft);
        for root in roots {
            let name = draft.slice(root.span);
            if let Some(declaration) = parameter(draft, &name) {
                add_parameter(draft, &mut inputs, &name, &declaration, &all)?;
                continue;
            }
            let end = path_end(draft.text(), root.span.end as usize);
            if draft.text()[end..].starts_with('[') {
                return Err(Refusal::new(format!(
                    "the nodes read a component of `{name}`, which cannot be handed to a part alone"
                )));
            }
            let text = draft.text()[root.span.start as usize..end].to_owned();
            let known = inputs.list.iter().find(|(_, (_, value))| *value == text);
            let own = match known {
                Some((own, _)) => own.clone(),
                None if is_name(&text) => text.clone(),
                None => {
                    let stem = text.replace('.', "_");
                    match used.contains(&stem) {
                        true => numbered(&stem, |n| used.contains(n)),
                        false => stem,
                    }
                }
            };
            used.insert(own.clone());
            let unit = unit_of(view, &text).map_or(String::new(), |u| format!(" [{u}]"));
            let declaration = format!("input {own}{unit}");
            self.moved
                .push(Swap::new(root.span.start as usize, end, own.clone()));
            inputs.list.insert(own, (declaration, text));
        }
        Ok(inputs)
    }

    /// The name begins a path that is read in this model.
    fn is_own_root(&self, draft: &Draft<'_>, occurrence: &Occurrence) -> bool {
        let Symbol::Member { path, model, .. } = &occurrence.symbol else {
            return false;
        };
        let before = draft.text()[..occurrence.span.start as usize].trim_end();
        let (_, own) = draft.syntax();
        let levels = draft.analysis.lineage(own, 0);
        let is_level = levels.iter().any(|(file, level)| {
            *level.name.text == **model
                && draft.analysis.project.files[*file].canonical_name == *path
        });
        !before.ends_with('.') && is_level
    }

    /// The text of the new model.
    fn model_text(
        &self,
        draft: &Draft<'_>,
        model: &str,
        inputs: &Inputs,
    ) -> Result<String, Refusal> {
        let mut lines: Vec<String> = Vec::new();
        lines.extend(
            inputs
                .list
                .values()
                .map(|(declaration, _)| declaration.clone()),
        );
        if !self.ports.is_empty() {
            lines.push(format!("port {}", self.ports.join(", ")));
        }
        let mut changes: Vec<Swap> = self.moved.clone();
        changes.extend(self.given.iter().cloned());
        let (_, own) = draft.syntax();
        let whole = self.whole_statements(draft, own);
        for statement in own.body.iter().filter(|s| whole.contains(&s.span.start)) {
            let span = (statement.span.start as usize, statement.span.end as usize);
            for doc in statement.doc.iter().flat_map(|d| d.lines()) {
                lines.push(format!("/// {}", doc.trim()));
            }
            let text = swapped(&draft.text()[span.0..span.1], span.0, &changes);
            lines.push(format!("{text}{}", trailing_comment(draft.text(), span.1)));
        }
        let is_whole = |at: usize| {
            let mut all = own.body.iter().filter(|s| whole.contains(&s.span.start));
            all.any(|s| (s.span.start as usize..s.span.end as usize).contains(&at))
        };
        for &(start, end) in self.ranges.iter().filter(|r| !is_whole(r.0)) {
            lines.push(swapped(&draft.text()[start..end], start, &changes));
        }
        let bonds = self.inner.iter().filter(|b| !is_whole(b.range.bytes.0));
        lines.extend(bonds.map(|b| self.bond_text(b, &b.from, &b.to)));
        lines.extend(self.joins.iter().cloned());
        if !self.positions.is_empty() {
            let places = self.positions.iter();
            let places: Vec<String> = places.map(|(n, x, y)| format!("{n} {x} {y}")).collect();
            let gap = format!("\n{INDENT}{INDENT}");
            lines.push(format!("layout {{{gap}{}\n{INDENT}}}", places.join(&gap)));
        }
        let gap = format!("\n{INDENT}");
        Ok(format!("model {model} {{{gap}{}\n}}\n\n", lines.join(&gap)))
    }

    /// Chains all of whose nodes are chosen move as they are written.
    fn whole_statements(&self, draft: &Draft<'_>, own: &ast::Model) -> BTreeSet<u32> {
        let reading = draft.read();
        let is_inside = |node: &ast::Node| match &node.kind {
            ast::NodeKind::Ref(r) => reading
                .means(draft.text(), r)
                .is_some_and(|id| self.names.contains_key(&id)),
            ast::NodeKind::Thing { .. } | ast::NodeKind::Anonymous(_) => {
                let at = (node.span.start as usize, node.span.end as usize);
                self.ranges.contains(&at)
            }
            _ => false,
        };
        let whole = own.body.iter().filter(|s| match &s.kind {
            ast::StmtKind::Chain(chain) | ast::StmtKind::NamedBond { chain, .. } => {
                chain.groups.iter().flatten().all(is_inside)
            }
            _ => false,
        });
        whole.map(|s| s.span.start).collect()
    }

    /// A bond on a line of its own.
    fn bond_text(&self, bond: &Bond, from: &BondEnd, to: &BondEnd) -> String {
        let end = |end: &BondEnd| {
            let name = self.names.get(&end.node).or(self.outer.get(&end.node));
            let name = name.unwrap_or(&end.node);
            match end.port.as_ref().filter(|_| !end.is_implied) {
                Some(port) if port.starts_with('[') => format!("{name}{port}"),
                Some(port) => format!("{name}.{port}"),
                None => name.clone(),
            }
        };
        let arrow = match (bond.is_multi, bond.forced) {
            (false, None) => "->",
            (false, Some(StrokeAt::Tail)) => "|->",
            (false, Some(_)) => "->|",
            (true, None) => "=>",
            (true, Some(StrokeAt::Tail)) => "|=>",
            (true, Some(_)) => "=>|",
        };
        let line = format!("{} {arrow} {}", end(from), end(to));
        match &bond.name {
            Some(name) => format!("bond {name}: {line}"),
            None => line,
        }
    }

    /// The bonds of the part.
    fn outer_bonds(&self, part: &str) -> Vec<String> {
        let lines = self.crossings.iter().map(|crossing| {
            let bond = crossing.bond;
            let own = BondEnd {
                node: part.to_owned(),
                port: Some(crossing.port.clone()),
                is_implied: false,
            };
            // A port that is meant by the node alone is written: in another place it could be another one.
            let written = |end: &BondEnd| BondEnd {
                is_implied: false,
                ..end.clone()
            };
            match crossing.is_in {
                true => self.bond_text(bond, &written(&bond.from), &own),
                false => self.bond_text(bond, &own, &written(&bond.to)),
            }
        });
        lines.collect()
    }

    /// Changes of this text and of others where a chosen node is read by its name: it stands in the part now.
    fn mentioned_elsewhere(
        &self,
        workspace: &Workspace,
        draft: &Draft<'_>,
        part: &str,
    ) -> Result<(Vec<Swap>, Vec<TextEdit>), Refusal> {
        let (_, model) = draft.syntax();
        let file = &draft.analysis.project.files[0];
        let mut own: Vec<Swap> = self.given.clone();
        let mut others = Vec::new();
        let here = chain_refs(&model.body, false);
        let whole = self.whole_statements(draft, model);
        for name in self.moved_names(model, &whole) {
            let symbol = Symbol::Member {
                path: file.canonical_name.clone(),
                model: draft.model.clone(),
                name: name.clone(),
            };
            let path = draft.analysis.path.clone();
            for mention in mentions(workspace, &path, &symbol) {
                let is_here = mention.path == path;
                let is_chain = here.contains(&mention.span.start);
                let is_layout = is_in_layout(model, mention.span);
                if is_here
                    && (mention.is_definition
                        || is_chain
                        || is_layout
                        || is_within(mention.span, &self.ranges))
                {
                    continue;
                }
                refuse_joined(workspace, &mention.path, mention.span, &name)?;
                let (start, end) = (mention.span.start as usize, mention.span.end as usize);
                let text = format!("{part}.{name}");
                match is_here {
                    true => own.push(Swap::new(start, end, text)),
                    false => others.push(TextEdit {
                        range: workspace.range(&mention.path, start, end),
                        path: mention.path,
                        text,
                    }),
                }
            }
        }
        Ok((own, others))
    }

    /// Names of chosen nodes, and of bonds that move with them.
    fn moved_names(&self, model: &ast::Model, whole: &BTreeSet<u32>) -> Vec<String> {
        let mut names: Vec<String> = self.symbols.iter().cloned().collect();
        let bonds = model.body.iter().filter(|s| whole.contains(&s.span.start));
        names.extend(bonds.filter_map(|s| match &s.kind {
            ast::StmtKind::NamedBond { name, .. } => Some(name.text.to_string()),
            _ => None,
        }));
        names
    }
}

fn is_chosen(chosen: &[&Node], occurrence: &Occurrence) -> bool {
    let Symbol::Member { name, .. } = &occurrence.symbol else {
        return false;
    };
    chosen.iter().any(|n| n.name.as_ref() == Some(name))
}

fn is_in_layout(model: &ast::Model, span: Span) -> bool {
    model.body.iter().any(|s| {
        matches!(s.kind, ast::StmtKind::Layout(_))
            && s.span.start <= span.start
            && span.end <= s.span.end
    })
}

/// A chain of another model, or inside of a block, can join a node by its name; inside of a part it cannot be joined.
fn refuse_joined(workspace: &Workspace, path: &str, span: Span, name: &str) -> Result<(), Refusal> {
    let Some(document) = workspace.document(path) else {
        return Ok(());
    };
    for item in &document.parsed.ast.items {
        if let ast::ItemKind::Model(model) = &item.kind
            && chain_refs(&model.body, true).contains(&span.start)
        {
            return Err(Refusal::new(format!(
                "`{}` joins `{name}` by its name, so that it cannot be moved into a part",
                model.name.text
            )));
        }
    }
    Ok(())
}

/// The text of a parameter's declaration, if it is one.
fn parameter(draft: &Draft<'_>, name: &str) -> Option<ast::Decl> {
    let (_, own) = draft.syntax();
    let lists = own.body.iter().filter_map(|s| match &s.kind {
        ast::StmtKind::Param(list) => Some(list),
        _ => None,
    });
    lists.flatten().find(|d| &*d.name.text == name).cloned()
}

/// A parameter of the new model: as it is declared, with the parameters that its value reads.
fn add_parameter(
    draft: &Draft<'_>,
    inputs: &mut Inputs,
    name: &str,
    declaration: &ast::Decl,
    all: &[Occurrence],
) -> Result<(), Refusal> {
    if inputs.list.contains_key(name) {
        return Ok(());
    }
    let text = format!("param {}", draft.slice(declaration.span));
    inputs.list.insert(name.to_owned(), (text, name.to_owned()));
    let range = [(
        declaration.span.start as usize,
        declaration.span.end as usize,
    )];
    for read in all
        .iter()
        .filter(|o| !o.is_definition && is_within(o.span, &range))
    {
        let other = draft.slice(read.span);
        if let Some(declaration) = parameter(draft, &other) {
            add_parameter(draft, inputs, &other, &declaration, all)?;
        }
    }
    Ok(())
}

/// The unit of what is read, as far as the text or the domain of a node says.
fn unit_of(view: &View, path: &str) -> Option<String> {
    let declared = view.signals.iter().find(|s| s.name == path);
    if let Some(unit) = declared.and_then(|s| s.unit.clone()) {
        return Some(unit);
    }
    // `rotor.f`: the domain of the node says what it is.
    let (node, letter) = path.rsplit_once('.')?;
    let found = view.nodes.iter().find(|n| n.id == node)?;
    let domains = Domains::built_in();
    let domain = domains.get(domains.find(found.domain.as_ref()?)?);
    let quantity = match letter {
        "e" => &domain.effort,
        "f" => &domain.flow,
        "q" => &domain.displacement,
        "p" => domain.momentum.as_ref()?,
        "power" => return Some("W".to_owned()),
        _ => return None,
    };
    Some(quantity.unit.text.clone())
}

/// Puts the new model above the present one and its documentation.
fn add_model(draft: &mut Draft<'_>, text: &str) -> Result<(), Refusal> {
    let (item, _) = draft.syntax();
    let mut first = draft.text()[..item.span.start as usize]
        .rfind('\n')
        .map_or(0, |i| i + 1);
    while let Some(above) = draft.text()[..first].strip_suffix('\n') {
        let line = above.rfind('\n').map_or(0, |i| i + 1);
        if !draft.text()[line..first].trim_start().starts_with("//") {
            break;
        }
        first = line;
    }
    draft.replace(first, first, text)
}
