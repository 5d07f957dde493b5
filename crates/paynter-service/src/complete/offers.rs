//! Gathers what is offered at a place.
//!
//! In:  the context, the project, the library.
//! Out: completions, each name once.

use super::{Completion, CompletionSort as Sort, enclosing};
use crate::analysis::{Analysis, item_name};
use crate::complete::context::Context;
use crate::describe::{BUILT_IN, SPECIAL, WORDS, element, elements, interface};
use crate::document::Document;
use crate::place::Range;
use crate::signature::Call;
use crate::view::read_model;
use crate::workspace::Workspace;
use paynter::model::functions;
use paynter::model::kinds::Kind;
use paynter::syntax::{Span, ast, parse};
use std::collections::BTreeSet;

/// What is gathered, and for which place.
pub struct Offers<'o> {
    workspace: &'o Workspace,
    document: &'o Document,
    analysis: &'o Analysis,
    offset: usize,
    range: Range,
    found: Vec<Completion>,
}

/// Units that are offered, by what they measure.
const UNITS: &[(&str, &str)] = &[
    ("m", "length"),
    ("mm", "length"),
    ("cm", "length"),
    ("km", "length"),
    ("ft", "length"),
    ("in", "length"),
    ("kg", "mass"),
    ("g", "mass"),
    ("lbm", "mass"),
    ("slug", "mass"),
    ("s", "time"),
    ("ms", "time"),
    ("us", "time"),
    ("min", "time"),
    ("h", "time"),
    ("N", "force"),
    ("kN", "force"),
    ("lbf", "force"),
    ("N*m", "torque"),
    ("J", "energy"),
    ("kJ", "energy"),
    ("W", "power"),
    ("kW", "power"),
    ("hp", "power"),
    ("Pa", "pressure"),
    ("kPa", "pressure"),
    ("MPa", "pressure"),
    ("bar", "pressure"),
    ("psi", "pressure"),
    ("V", "voltage"),
    ("mV", "voltage"),
    ("kV", "voltage"),
    ("A", "current"),
    ("mA", "current"),
    ("C", "charge"),
    ("ohm", "resistance"),
    ("kohm", "resistance"),
    ("mohm", "resistance"),
    ("S", "conductance"),
    ("F", "capacitance"),
    ("uF", "capacitance"),
    ("nF", "capacitance"),
    ("pF", "capacitance"),
    ("mF", "capacitance"),
    ("H", "inductance"),
    ("mH", "inductance"),
    ("uH", "inductance"),
    ("Wb", "flux"),
    ("Hz", "frequency"),
    ("kHz", "frequency"),
    ("rad", "angle"),
    ("deg", "angle"),
    ("rpm", "angular velocity"),
    ("rad/s", "angular velocity"),
    ("m/s", "velocity"),
    ("m/s^2", "acceleration"),
    ("kg*m^2", "inertia"),
    ("N/m", "stiffness"),
    ("N*s/m", "damping"),
    ("N*m*s/rad", "damping"),
    ("N*m/rad", "stiffness"),
    ("m^2", "area"),
    ("m^3", "volume"),
    ("L", "volume"),
    ("m^3/s", "volume flow"),
    ("kg/m^3", "density"),
    ("K", "temperature"),
    ("degC", "temperature"),
    ("degF", "temperature"),
    ("J/K", "heat capacity"),
    ("W/K", "conductance"),
    ("mol", "amount"),
    ("%", "a hundredth"),
    ("dB", "level"),
];

/// Settings and words of an experiment with what is typed.
const EXPERIMENT: &[(&str, &str)] = &[
    ("with", "with ${1:name} = ${2:value}"),
    ("start", "start ${1:c1.e} = ${2:0}"),
    ("guess", "guess ${1:x} = ${2:0}"),
    ("stop", "stop = ${1:1} [s]"),
    ("output_step", "output_step = ${1:1} [ms]"),
    ("method", "method = ${1:auto}"),
    ("rtol", "rtol = ${1:1e-6}"),
    ("atol", "atol = ${1:1e-9}"),
    ("max_step", "max_step = ${1:1} [ms]"),
    ("record", "record ${1:x}"),
    ("plot", "plot ${1:x}"),
    ("measure", "measure ${1:name} = ${2:final(x)}"),
    ("sweep", "sweep ${1:k} in ${2:[1, 2, 4]}"),
    ("compare", "compare \"${1:reference.csv}\" within ${2:1e-6}"),
    ("trim", "trim ${1:x}"),
    ("linearize", "linearize from ${1:u} to ${2:y}"),
];

/// Words of a model's body with what is typed.
const STATEMENTS: &[(&str, &str)] = &[
    ("param", "param ${1:name} = ${2:1} [${3:ohm}]"),
    ("input", "input ${1:name} = ${2:0} [${3:V}]"),
    ("output", "output ${1:name} = ${2:c1.e}"),
    ("port", "port ${1:name}: ${2:electrical}"),
    (
        "replaceable",
        "replaceable ${1:name}: ${2:Bound} = ${3:Model}()",
    ),
    ("outer", "outer ${1:world}: ${2:World}"),
    ("bond", "bond ${1:name}: ${2:a} -> ${3:b}"),
    ("start", "start ${1:c1.e} = ${2:0} [${3:V}]"),
    ("guess", "guess ${1:x} = ${2:0}"),
    ("solve", "solve ${1:x} { ${2:x} == ${3:1} }"),
    ("invariant", "invariant ${1:x} == ${2:1}"),
    ("sample", "sample at ${1:1} [kHz] {\n    $0\n}"),
    ("when", "when ${1:name}: ${2:x > 1} {\n    $0\n}"),
    ("for", "for ${1:i} in 1 .. ${2:n} {\n    $0\n}"),
    ("if", "if ${1:condition} {\n    $0\n}"),
    ("der", "der(${1:x}) = ${2:j.f}"),
];

/// Words at the top of a file.
const ITEMS: &[(&str, &str)] = &[
    ("model", "model ${1:Name} {\n    $0\n}"),
    (
        "experiment",
        "experiment ${1:name} of ${2:Model} {\n    stop = ${3:1} [s]\n    record ${4:x}\n}",
    ),
    ("use", "use ${1:electrical}: ${2:Resistor}"),
    (
        "lagrangian",
        "lagrangian ${1:Name} {\n    coordinate ${2:x} [${3:m}]\n    $0\n}",
    ),
    ("units strict", "units strict"),
    ("fn", "fn ${1:name}(${2:x}) = ${3:x}"),
    (
        "domain",
        "domain ${1:name} { effort ${2:p} [${3:Pa}]; flow ${4:U} [${5:m^3/s}] }",
    ),
    ("port", "port ${1:Name} {\n    $0\n}"),
];

impl<'o> Offers<'o> {
    /// Starts with nothing; the word that is being typed is what is replaced.
    pub fn new(
        workspace: &'o Workspace,
        document: &'o Document,
        analysis: &'o Analysis,
        found: &Context,
        offset: usize,
    ) -> Self {
        let is_letter = |c: char| match found {
            Context::Unit => c.is_alphanumeric() || matches!(c, '_' | '*' | '/' | '^' | '%'),
            Context::File => !matches!(c, '"' | '\n'),
            _ => c.is_alphanumeric() || c == '_',
        };
        let word = document.text[..offset]
            .chars()
            .rev()
            .take_while(|&c| is_letter(c));
        let start = offset - word.map(char::len_utf8).sum::<usize>();
        Offers {
            workspace,
            document,
            analysis,
            offset,
            range: document.bytes(start, offset),
            found: Vec::new(),
        }
    }

    /// Hands out what was gathered, each label once.
    pub fn finish(self) -> Vec<Completion> {
        let mut seen = BTreeSet::new();
        let found = self.found.into_iter();
        found
            .filter(|c| seen.insert((c.label.clone(), c.detail.clone())))
            .collect()
    }

    fn add(&mut self, label: &str, sort: Sort, detail: &str) -> &mut Completion {
        self.found.push(Completion {
            label: label.to_owned(),
            sort,
            detail: detail.to_owned(),
            doc: None,
            insert: label.to_owned(),
            is_snippet: false,
            range: self.range,
            others: Vec::new(),
        });
        self.found.last_mut().expect("it was just pushed")
    }

    fn snippets(&mut self, list: &[(&str, &str)]) {
        for (word, insert) in list {
            let what = WORDS
                .iter()
                .find(|(w, _)| w == word)
                .map_or("", |(_, what)| what);
            let added = self.add(word, Sort::Keyword, "");
            added.doc = (!what.is_empty()).then(|| what.to_owned());
            added.insert = (*insert).to_owned();
            added.is_snippet = insert.contains('$');
        }
    }

    /// Words that begin an item.
    pub fn item_words(&mut self) {
        self.snippets(ITEMS);
    }

    /// Words that begin a statement of a model.
    pub fn statement_words(&mut self) {
        self.snippets(STATEMENTS);
    }

    /// Words that begin a statement of an experiment.
    pub fn experiment_words(&mut self) {
        self.snippets(EXPERIMENT);
    }

    /// Words that begin a statement of a Lagrangian.
    pub fn lagrangian_words(&mut self) {
        self.snippets(crate::lagrangian::WORDS);
    }

    /// Names of the Lagrangian around.
    fn names_of_block(&mut self) {
        let mut items = self.document.parsed.ast.items.iter();
        let offset = self.offset;
        let item = items.rfind(|i| (i.span.start as usize) <= offset);
        let Some(ast::ItemKind::Lagrangian(block)) = item.map(|i| &i.kind) else {
            return;
        };
        for made in crate::lagrangian::made(block) {
            let text = format!("{} {}", made.word, self.document.slice(made.span));
            let doc = made.doc.map(str::to_owned);
            let name = made.name.text.to_string();
            self.add(&name, Sort::Signal, text.trim()).doc = doc;
        }
    }

    /// Elements, models of the text, models of the library.
    pub fn kinds(&mut self) {
        for kind in elements() {
            let Kind {
                letters,
                what,
                example,
                readable,
                ..
            } = kind;
            let value = example.split_once(": ").map_or("", |(_, kind)| kind);
            let added = self.add(letters, Sort::Element, what);
            added.doc = Some(format!("```bond\n{example}\n```\nreadable: `{readable}`"));
            if let Some((head, rest)) = value.split_once('(') {
                let inside = rest.trim_end_matches(')');
                added.insert = match inside.is_empty() {
                    true => format!("{head}()"),
                    false => format!("{head}(${{1:{inside}}})"),
                };
                added.is_snippet = !inside.is_empty();
            }
        }
        self.parts();
    }

    fn parts(&mut self) {
        let files = &self.analysis.project.files;
        let mut known = BTreeSet::new();
        for (file, loaded) in files.iter().enumerate() {
            for item in &loaded.ast.items {
                let ast::ItemKind::Model(model) = &item.kind else {
                    continue;
                };
                let is_known = self
                    .analysis
                    .find_name(&model.name.text, 0)
                    .is_some_and(|(f, i)| f == file && i.span == item.span);
                if is_known {
                    known.insert(model.name.text.to_string());
                    self.part(model, file, item.doc.clone());
                }
            }
        }
        for library in paynter::library::library_names() {
            let Some(text) = paynter::library::library(library) else {
                continue;
            };
            for item in parse(Default::default(), text).ast.items {
                let ast::ItemKind::Model(model) = &item.kind else {
                    continue;
                };
                if known.contains(&*model.name.text) || model.name.text.starts_with("Example") {
                    continue;
                }
                let use_edit = self.use_edit(library, &model.name.text);
                let insert = own_call(model);
                let doc = item.doc.clone();
                let added = self.add(&model.name.text, Sort::Model, library);
                added.doc = doc;
                added.is_snippet = insert.contains('$');
                added.insert = insert;
                added.others = use_edit.into_iter().collect();
            }
        }
    }

    fn part(&mut self, model: &ast::Model, file: usize, doc: Option<String>) {
        let lines = interface(self.analysis, file, model);
        let open: Vec<String> = lines
            .iter()
            .filter(|(title, _)| matches!(*title, "Parameters" | "Inputs"))
            .flat_map(|(_, lines)| lines.iter().filter(|l| l.is_open).map(|l| l.name.clone()))
            .collect();
        let args: Vec<String> = open
            .iter()
            .enumerate()
            .map(|(i, name)| format!("{name} = ${}", i + 1))
            .collect();
        let added = self.add(&model.name.text, Sort::Model, "model");
        added.doc = doc;
        added.is_snippet = !args.is_empty();
        added.insert = format!("{}({})", model.name.text, args.join(", "));
    }

    /// The edit that takes a name from a library.
    fn use_edit(&self, library: &str, name: &str) -> Option<(Range, String)> {
        crate::fix::use_edit(self.document, library, name)
    }

    /// Domains and port types.
    pub fn domains(&mut self) {
        for (_, domain) in paynter::model::domains::Domains::built_in().iter() {
            let detail = format!(
                "{} [{}], {} [{}]",
                domain.effort.name,
                domain.effort.unit.text,
                domain.flow.name,
                domain.flow.unit.text
            );
            self.add(&domain.name, Sort::Domain, &detail);
        }
        for loaded in &self.analysis.project.files {
            for item in &loaded.ast.items {
                if let ast::ItemKind::PortType(_) | ast::ItemKind::Domain(_) = &item.kind
                    && let Some(name) = item_name(item)
                {
                    let doc = item.doc.clone();
                    self.add(&name.text, Sort::Domain, "port").doc = doc;
                }
            }
        }
    }

    /// Nodes and ports of the model.
    pub fn nodes(&mut self) {
        let Some(model) = self.own_model() else {
            return;
        };
        let Some(reading) = read_model(self.analysis, self.document, &model) else {
            return;
        };
        for node in &reading.view.nodes {
            if let Some(name) = &node.name {
                self.add(name, Sort::Node, &node.kind);
            }
        }
        let ports = reading.model.body.iter().filter_map(|s| match &s.kind {
            ast::StmtKind::Port(ports) => Some(ports),
            _ => None,
        });
        for port in ports.flatten() {
            self.add(&port.name.text, Sort::Node, "port");
        }
    }

    fn own_model(&self) -> Option<String> {
        let mut items = self.document.parsed.ast.items.iter();
        let item = items.rfind(|i| (i.span.start as usize) <= self.offset)?;
        match &item.kind {
            ast::ItemKind::Model(model) => Some(model.name.text.to_string()),
            _ => None,
        }
    }

    /// What may stand behind a dot.
    pub fn members(&mut self, path: &[String]) {
        if path == ["system"] {
            for word in ["energy", "supplied", "dissipated", "residual"] {
                self.add(word, Sort::Member, "J");
            }
            return;
        }
        let prefix = self.analysis.project.files.first().and_then(|f| {
            let import = f
                .imports
                .iter()
                .find(|i| i.prefix.as_ref() == path.first())?;
            Some(import.file).filter(|_| path.len() == 1)
        });
        if let Some(file) = prefix {
            for item in &self.analysis.project.files[file].ast.items {
                if let Some(name) = item_name(item) {
                    let doc = item.doc.clone();
                    self.add(&name.text, Sort::Model, "").doc = doc;
                }
            }
        }
        let Some((file, model)) = enclosing(self.document, self.analysis, self.offset) else {
            return;
        };
        match crate::symbol::follow(self.analysis, (file, model), path) {
            Some(crate::symbol::Place::Model(file, model)) => self.members_of_model(file, model),
            Some(crate::symbol::Place::PortType(port)) => {
                for member in &port.members {
                    match member {
                        ast::PortMember::Power { name, domain, .. } => {
                            self.add(&name.text, Sort::Member, &crate::view::path_text(domain));
                        }
                        ast::PortMember::Signal(decl) => {
                            self.add(&decl.name.text, Sort::Member, "signal");
                        }
                    }
                }
            }
            Some(crate::symbol::Place::Element(letters)) => {
                let readable = element(&letters).map_or("", |kind| kind.readable);
                for word in readable.split_whitespace() {
                    self.add(word.trim_start_matches('.'), Sort::Member, quantity(word));
                }
            }
            Some(crate::symbol::Place::Bond) => {
                for word in [".e", ".f", ".power", ".energy"] {
                    self.add(word.trim_start_matches('.'), Sort::Member, quantity(word));
                }
            }
            None => {}
        }
    }

    fn members_of_model(&mut self, file: usize, model: &ast::Model) {
        for (title, lines) in interface(self.analysis, file, model) {
            for line in lines {
                let added = self.add(&line.name, Sort::Member, &line.text);
                added.doc = line
                    .doc
                    .or(Some(title.trim_end_matches('s').to_lowercase()));
            }
        }
        for (name, detail) in crate::symbol::member_names(self.analysis, (file, model)) {
            if !self.found.iter().any(|c| c.label == name) {
                self.add(&name, Sort::Member, &detail);
            }
        }
    }

    /// Units.
    pub fn units(&mut self) {
        for (unit, what) in UNITS {
            self.add(unit, Sort::Unit, what);
        }
    }

    /// Library files.
    pub fn libraries(&mut self) {
        for name in paynter::library::library_names() {
            let doc = crate::describe::library_text(name);
            self.add(name, Sort::Library, "library").doc = doc;
        }
    }

    /// What a library offers.
    pub fn names_of_library(&mut self, library: &str) {
        let Some(text) = paynter::library::library(library) else {
            return;
        };
        for item in parse(Default::default(), text).ast.items {
            if let Some(name) = item_name(&item)
                && !matches!(item.kind, ast::ItemKind::Experiment(_))
                && !name.text.starts_with("Example")
            {
                let sort = match item.kind {
                    ast::ItemKind::Function(_) => Sort::Function,
                    _ => Sort::Model,
                };
                let doc = item.doc.clone();
                self.add(&name.text, sort, library).doc = doc;
            }
        }
    }

    /// Model files beside this one.
    pub fn files(&mut self) {
        let own = std::path::Path::new(&self.analysis.path).to_owned();
        let Some(folder) = own.parent() else { return };
        for path in self.workspace.files() {
            let path = std::path::PathBuf::from(path);
            if path == own {
                continue;
            }
            if let Ok(below) = path.strip_prefix(folder) {
                self.add(&below.display().to_string(), Sort::File, "");
            }
        }
    }

    /// Models that an experiment may be of, or a model extend.
    pub fn models(&mut self) {
        for loaded in &self.analysis.project.files {
            for item in &loaded.ast.items {
                if let ast::ItemKind::Model(model) = &item.kind
                    && self.analysis.find_name(&model.name.text, 0).is_some()
                {
                    let doc = item.doc.clone();
                    self.add(&model.name.text, Sort::Model, "model").doc = doc;
                }
            }
        }
    }

    /// Integration methods.
    pub fn methods(&mut self) {
        for (name, what) in [
            ("auto", "chooses by the model"),
            ("dop853", "order 8, for smooth models"),
            ("tsit5", "order 5, for loose tolerances"),
            ("rodas5p", "order 5, for stiff models"),
            ("bdf", "orders 1 to 5, for large stiff models"),
            ("euler", "fixed step"),
            ("rk4", "fixed step"),
            ("ab2", "fixed step"),
        ] {
            self.add(name, Sort::Keyword, what);
        }
    }

    /// Arguments that the call round the place still takes.
    pub fn arguments(&mut self, call: &Call) {
        let segments = call.name.split('.').map(|s| ast::Ident {
            text: s.into(),
            span: Span::default(),
        });
        let path = ast::Path {
            segments: segments.collect(),
            span: Span::default(),
        };
        let analysis = self.analysis;
        match analysis
            .find(&path, 0)
            .map(|(file, item)| (file, &item.kind))
        {
            Some((file, ast::ItemKind::Model(model))) => {
                for (title, lines) in interface(analysis, file, model) {
                    if !matches!(title, "Parameters" | "Inputs" | "Replaceable parts") {
                        continue;
                    }
                    for line in lines.into_iter().filter(|l| !call.given.contains(&l.name)) {
                        self.argument(&line.name, &line.text, line.doc);
                    }
                }
            }
            Some((_, ast::ItemKind::Function(f))) => {
                for param in f
                    .params
                    .iter()
                    .filter(|p| !call.given.iter().any(|g| **g == *p.name.text))
                {
                    self.argument(&param.name.text, "", param.doc.clone());
                }
            }
            _ => {}
        }
    }

    fn argument(&mut self, name: &str, text: &str, doc: Option<String>) {
        let added = self.add(name, Sort::Argument, text);
        added.insert = format!("{name} = ");
        added.doc = doc;
    }

    /// Names that an expression may read.
    pub fn names(&mut self) {
        self.names_of_block();
        if let Some((file, model)) = enclosing(self.document, self.analysis, self.offset) {
            for (title, lines) in interface(self.analysis, file, model) {
                for line in lines {
                    let sort = if title == "Ports" || title == "Replaceable parts" {
                        Sort::Node
                    } else {
                        Sort::Signal
                    };
                    self.add(&line.name, sort, &line.text).doc = line.doc;
                }
            }
            for (name, detail) in crate::symbol::member_names(self.analysis, (file, model)) {
                if !self
                    .found
                    .iter()
                    .any(|c| c.label == name && c.sort != Sort::Argument)
                {
                    self.add(&name, Sort::Node, &detail);
                }
            }
        }
        for (name, what) in BUILT_IN {
            self.add(name, Sort::Signal, what);
        }
        let special = SPECIAL.iter().map(|(s, what)| ((*s).to_owned(), *what));
        for (signature, what) in functions::reference().chain(special) {
            let name = signature.split('(').next().unwrap_or("").to_owned();
            let added = self.add(&name, Sort::Function, &signature);
            added.doc = Some(what.to_owned());
            added.insert = format!("{name}($1)");
            added.is_snippet = true;
        }
        for item in self
            .analysis
            .project
            .files
            .iter()
            .flat_map(|f| &f.ast.items)
        {
            let Some(name) = item_name(item) else {
                continue;
            };
            let sort = match item.kind {
                ast::ItemKind::Function(_) => Sort::Function,
                ast::ItemKind::Constant(_) => Sort::Signal,
                _ => continue,
            };
            if self.analysis.find_name(&name.text, 0).is_some() {
                let doc = item.doc.clone();
                self.add(&name.text, sort, "").doc = doc;
            }
        }
    }
}

/// A call of a model of another text, with places for the values it needs.
fn own_call(model: &ast::Model) -> String {
    let mut args = Vec::new();
    for statement in &model.body {
        if let ast::StmtKind::Param(list) | ast::StmtKind::Input(list) = &statement.kind {
            for decl in list.iter().filter(|d| d.value.is_none()) {
                args.push(format!("{} = ${}", decl.name.text, args.len() + 1));
            }
        }
    }
    format!("{}({})", model.name.text, args.join(", "))
}

fn quantity(word: &str) -> &'static str {
    match word {
        ".e" => "effort",
        ".f" => "flow",
        ".q" => "displacement",
        ".p" => "momentum",
        ".stored" => "energy in the storage",
        ".power" => "effort · flow",
        ".energy" => "∫ power since the start",
        ".ratio" => "modulus",
        _ => "",
    }
}
