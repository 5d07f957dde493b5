//! The files of one model: the main file and everything it uses.
//!
//! In:  the text of the main file, and a [`Loader`] that finds libraries and other files.
//! Out: a [`Project`]: every file parsed once, imports resolved to files and items.
//!
//! **Invariant:** file 0 is the main file; an import points at a file of the same project,
//! and files never import each other in a cycle.

use paynter_fmi::Problem;
use paynter_syntax::{Diagnostic, FileId, SourceMap, Span, Tree, ast};
use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::elaborate::code;
use crate::foreign::{self, Foreign, Shared};
use crate::lagrange::{Block, Derived, Style, derive};
use crate::suggest::nearest;

/// Finds the texts that a model uses. The model crate reads no disk by itself.
pub trait Loader {
    /// Gives the text of a library file such as `mechanics3d`, if there is one.
    fn library(&mut self, name: &str) -> Option<String>;

    /// Gives a file named by another one: its canonical name (equal for equal files) and text.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, in a few words.
    fn file(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String>;

    /// Gives the text of a data file, such as the CSV of a table.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, in a few words.
    fn data(&mut self, path: &str, from: Option<&str>) -> Result<String, String> {
        self.file(path, from).map(|(_, text)| text)
    }

    /// Gives a file as it is: the main file, a table to compare with.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, in a few words.
    fn bytes(&mut self, path: &str, from: Option<&str>) -> Result<Vec<u8>, String> {
        self.data(path, from).map(String::into_bytes)
    }

    /// Tells whether [`Loader::bytes`] would give something.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, in a few words.
    fn can_read(&mut self, path: &str, from: Option<&str>) -> Result<(), String> {
        self.bytes(path, from).map(drop)
    }

    /// Lists the names of libraries, for "did you mean".
    fn libraries(&self) -> Vec<String> {
        Vec::new()
    }

    /// Reads a text that becomes this file of a project. A loader that keeps what it has read gives that.
    fn read(&mut self, file: FileId, _name: &str, text: &str) -> Arc<ReadText> {
        Arc::new(ReadText::new(file, text))
    }
}

/// A text that was read: its tree, its meaning and the messages about it.
#[derive(Debug)]
pub struct ReadText {
    /// The text as a tree, nothing left out.
    pub tree: Tree,
    /// What it means. Parts with errors are missing.
    pub ast: Arc<ast::File>,
    /// In text order.
    pub diagnostics: Vec<Diagnostic>,
}

impl ReadText {
    /// Reads a text.
    pub fn new(file: FileId, text: &str) -> Self {
        let parsed = paynter_syntax::parse(file, text);
        ReadText {
            tree: parsed.tree,
            ast: Arc::new(parsed.ast),
            diagnostics: parsed.diagnostics,
        }
    }

    /// Tells whether the file cannot be used.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Knows no library and no other file.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn library(&mut self, _: &str) -> Option<String> {
        None
    }

    fn file(&mut self, _: &str, _: Option<&str>) -> Result<(String, String), String> {
        Err("no other file can be read here".to_owned())
    }
}

/// All files of a model, parsed.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The texts.
    pub sources: SourceMap,
    /// In the order in which they were met; the first is the main file.
    pub files: Vec<LoadedFile>,
}

/// One parsed file.
#[derive(Clone, Debug)]
pub struct LoadedFile {
    /// Its place in [`Project::sources`].
    pub file: FileId,
    /// Equal for equal files: `library:control`, or what the loader says.
    pub canonical_name: String,
    /// Its meaning.
    pub ast: Arc<ast::File>,
    /// What it uses, in text order.
    pub imports: Vec<Import>,
    /// The text did not parse without errors, so that things may be missing from `ast`.
    pub is_broken: bool,
    /// Texts of data files named in it.
    pub data: FxHashMap<String, Result<String, String>>,
    /// FMUs named in it.
    pub foreign: Vec<Foreign>,
}

/// A `use` whose file was found.
#[derive(Clone, Debug)]
pub struct Import {
    /// Position in [`Project::files`].
    pub file: usize,
    /// The word before the dot in `mechanics3d.World`; none for a file in quotes.
    pub prefix: Option<String>,
    /// The names taken; empty means all.
    pub names: Vec<ast::Ident>,
    /// The `use`.
    pub span: Span,
}

/// Longest chain of files that use each other. Real ones have three levels; the bound keeps
/// a generated chain from using up the memory.
const MAX_IMPORT_DEPTH: usize = 200;

/// Reads the main file and everything it uses.
pub fn load(
    main_name: &str,
    main_text: &str,
    loader: &mut dyn Loader,
) -> (Project, Vec<Diagnostic>) {
    let mut reading = Reading {
        project: Project::default(),
        diagnostics: Vec::new(),
        by_name: FxHashMap::default(),
        fmus: FxHashMap::default(),
        loader,
    };

    reading.add(main_name.to_owned(), main_name, main_text);
    // Files are visited depth first with an explicit stack: (file, next item).
    let mut stack = vec![(0_usize, 0_usize)];
    while let Some((file, item)) = stack.pop() {
        let Some(next) = reading.project.files[file].ast.items.get(item) else {
            continue;
        };
        stack.push((file, item + 1));
        let ast::ItemKind::Use(used) = &next.kind else {
            continue;
        };
        let (used, span) = (used.clone(), next.span);
        let n_files = reading.project.files.len();
        let Some(found) = reading.find(&used, span, file) else {
            continue;
        };
        if let Some(position) = stack.iter().position(|&(open, _)| open == found) {
            reading.report_cycle(&stack[position..], span);
            continue;
        }
        let prefix = match &used.from {
            ast::UseFrom::Library(path) => path.segments.last().map(|s| s.text.to_string()),
            ast::UseFrom::File { .. } => None,
        };
        let import = Import {
            file: found,
            prefix,
            names: used.names,
            span,
        };
        reading.project.files[file].imports.push(import);
        let is_new = found >= n_files;
        if is_new && stack.len() < MAX_IMPORT_DEPTH {
            stack.push((found, 0));
        }
    }

    reading.derive_lagrangians();
    reading.check_imported_names();
    (reading.project, reading.diagnostics)
}

struct Reading<'l> {
    project: Project,
    diagnostics: Vec<Diagnostic>,
    by_name: FxHashMap<String, usize>,
    /// FMUs by the file that names them and their path.
    fmus: FxHashMap<(String, String), Result<Shared, Problem>>,
    loader: &'l mut dyn Loader,
}

impl Reading<'_> {
    fn add(&mut self, canonical_name: String, shown_name: &str, text: &str) -> usize {
        let file = self.project.sources.add(shown_name, text);
        let read = self.loader.read(file, &canonical_name, text);
        let is_broken = read.has_errors();
        self.diagnostics.extend(read.diagnostics.iter().cloned());
        let mut data = FxHashMap::default();
        for path in data_files(text) {
            let text = self.loader.data(path, Some(&canonical_name));
            data.insert(path.to_owned(), text);
        }
        let foreign = self.foreign(&canonical_name, file, text);
        let index = self.project.files.len();
        self.by_name.insert(canonical_name.clone(), index);
        self.project.files.push(LoadedFile {
            file,
            canonical_name,
            ast: read.ast.clone(),
            imports: Vec::new(),
            is_broken,
            data,
            foreign,
        });
        index
    }

    /// Reads the FMUs that a text names. A library names none: nothing lies beside it.
    fn foreign(&mut self, canonical_name: &str, file: FileId, text: &str) -> Vec<Foreign> {
        let mut found = Vec::new();
        for named in foreign::named(text) {
            let key = (canonical_name.to_owned(), named.path.to_owned());
            let loader = &mut *self.loader;
            let shared = self
                .fmus
                .entry(key)
                .or_insert_with(|| foreign::read(loader.bytes(named.path, Some(canonical_name))));
            let place = Span::new(file, named.at, named.at + foreign::WORD.len());
            let sources = &mut self.project.sources;
            found.push(foreign::models(shared, named.path, place, sources));
        }
        found
    }

    /// Puts the model that each `lagrangian` block stands for beside it.
    ///
    /// The model is a text of its own among the sources; messages about it are shown at the block.
    fn derive_lagrangians(&mut self) {
        for at in 0..self.project.files.len() {
            for k in 0..self.project.files[at].ast.items.len() {
                // What is left of a block that cannot be read would give errors that are none.
                if self.is_unreadable(self.project.files[at].ast.items[k].span) {
                    continue;
                }
                let derived = self
                    .project
                    .block(at, k)
                    .map(|block| derive(&block, Style::default()));
                match derived {
                    None => {}
                    Some(Ok(derived)) => self.add_derived(at, k, &derived),
                    Some(Err(messages)) => {
                        self.project.files[at].is_broken = true;
                        self.diagnostics.extend(messages);
                    }
                }
            }
        }
    }

    /// Tells whether the text has an error within the span.
    fn is_unreadable(&self, span: Span) -> bool {
        let mut errors = self.diagnostics.iter().filter(|d| d.is_error());
        errors.any(|d| {
            let at = d.primary.as_ref().map(|label| label.span);
            at.is_some_and(|e| e.file == span.file && span.start <= e.start && e.start <= span.end)
        })
    }

    fn add_derived(&mut self, at: usize, k: usize, derived: &Derived) {
        let (text, origins) = derived.text();
        let name = format!("lagrangian {}", derived.name);
        let source = self
            .project
            .sources
            .add_derived(name, text.as_str(), origins);
        let parsed = paynter_syntax::parse(source, &text);
        self.diagnostics.extend(parsed.diagnostics);
        let items = &mut Arc::make_mut(&mut self.project.files[at].ast).items;
        let doc = items[k].doc.clone();
        let models = parsed.ast.items.into_iter();
        items.extend(models.map(|model| ast::Item {
            doc: doc.clone(),
            ..model
        }));
    }

    fn find(&mut self, used: &ast::Use, span: Span, from: usize) -> Option<usize> {
        match &used.from {
            ast::UseFrom::Library(path) => {
                let name: Vec<&str> = path.segments.iter().map(|s| &*s.text).collect();
                let name = name.join(".");
                let canonical = format!("library:{name}");
                if let Some(&known) = self.by_name.get(&canonical) {
                    return Some(known);
                }
                let Some(text) = self.loader.library(&name) else {
                    let mut message = Diagnostic::error(
                        code::UNKNOWN_LIBRARY,
                        format!("there is no library `{name}`"),
                    )
                    .primary(path.span, "not found");
                    let known = self.loader.libraries();
                    let list = known.join("`, `");
                    if !known.is_empty() {
                        message = message.fact(format!("the libraries are `{list}`"));
                    }
                    if let Some(near) = nearest(&name, known) {
                        message = message.help(format!("did you mean `{near}`?"));
                    } else {
                        message = message.help(format!(
                            "a file beside this one is written in quotes: `use \"{name}.bond\"`"
                        ));
                    }
                    self.diagnostics.push(message);
                    return None;
                };
                Some(self.add(canonical.clone(), &format!("{name}.bond"), &text))
            }
            ast::UseFrom::File { path, span: at } => {
                let from = self.project.files[from].canonical_name.clone();
                match self.loader.file(path, Some(&from)) {
                    Ok((canonical, text)) => Some(match self.by_name.get(&canonical) {
                        Some(&known) => known,
                        None => self.add(canonical.clone(), &canonical, &text),
                    }),
                    Err(why) => {
                        let at = if *at == Span::default() { span } else { *at };
                        self.diagnostics.push(
                            Diagnostic::error(
                                code::MISSING_FILE,
                                format!("the file `{path}` cannot be read"),
                            )
                            .primary(at, why),
                        );
                        None
                    }
                }
            }
        }
    }

    fn report_cycle(&mut self, cycle: &[(usize, usize)], span: Span) {
        let name = |file: usize| {
            self.project
                .sources
                .file(self.project.files[file].file)
                .name
                .clone()
        };
        let mut names: Vec<String> = cycle
            .iter()
            .map(|&(file, _)| format!("`{}`", name(file)))
            .collect();
        names.push(names[0].clone());
        self.diagnostics.push(
            Diagnostic::error(code::IMPORT_CYCLE, "files use each other in a cycle")
                .primary(span, "this closes the cycle")
                .fact(names.join(" uses "))
                .help("move what both files need into a third one"),
        );
    }

    fn check_imported_names(&mut self) {
        for file in &self.project.files {
            for import in &file.imports {
                let from = &self.project.files[import.file];
                if from.is_broken {
                    continue;
                }
                let offered = || {
                    from.ast
                        .items
                        .iter()
                        .filter_map(item_name)
                        .map(|n| &*n.text)
                };
                for name in &import.names {
                    // A library may offer what is built in: `use control: tf`.
                    if offered().any(|n| n == &*name.text) || is_built_in(&name.text) {
                        continue;
                    }
                    let from_name = &self.project.sources.file(from.file).name;
                    let mut message = Diagnostic::error(
                        code::UNKNOWN_IMPORT,
                        format!("`{from_name}` has nothing called `{}`", name.text),
                    )
                    .primary(name.span, "not found there");
                    if let Some(near) = nearest(&name.text, offered()) {
                        message = message.help(format!("did you mean `{near}`?"));
                    }
                    self.diagnostics.push(message);
                }
            }
        }
    }
}

fn is_built_in(name: &str) -> bool {
    crate::functions::is_built_in(name) || crate::elaborate::SPECIAL_FUNCTIONS.contains(&name)
}

/// Gives the name of a top-level item.
pub fn item_name(item: &ast::Item) -> Option<&ast::Ident> {
    match &item.kind {
        // The derived model has the name of the block.
        ast::ItemKind::Use(_) | ast::ItemKind::Lagrangian(_) => None,
        ast::ItemKind::Domain(d) => Some(&d.name),
        ast::ItemKind::PortType(p) => Some(&p.name),
        ast::ItemKind::Model(m) => Some(&m.name),
        ast::ItemKind::Function(f) => Some(&f.name),
        ast::ItemKind::Experiment(e) => Some(&e.name),
        ast::ItemKind::Constant(c) => c.target.parts.first().map(|p| &p.name),
    }
}

/// Finds the names of data files, `table("f.csv")`, by their looks. One too many (inside a
/// comment) does no harm: a file that cannot be read matters only where it is used.
fn data_files(text: &str) -> impl Iterator<Item = &str> {
    text.split("table(").skip(1).filter_map(|rest| {
        let rest = rest.trim_start().strip_prefix('"')?;
        let end = rest.find(['"', '\n'])?;
        rest[end..].starts_with('"').then(|| &rest[..end])
    })
}

/// What is to be elaborated, and with which changes.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The model; none means that of the experiment, or the only or last one of the file.
    pub model: Option<String>,
    /// The experiment; none means no experiment.
    pub experiment: Option<String>,
    /// `--set path=value`.
    pub overrides: Vec<Override>,
    /// Inputs of the top model that rest at zero if nothing gives them a value: a linear model is made from them.
    pub free_inputs: Vec<String>,
}

/// A value given from outside.
#[derive(Clone, Debug)]
pub struct Override {
    /// Dotted path of a parameter, input or replaceable part: names with an optional index.
    pub path: Vec<(String, Option<i64>)>,
    /// Its value.
    pub value: ast::Expr,
    /// Where it is written.
    pub span: Span,
}

impl Project {
    /// Gives an item of a file as a `lagrangian` block with what it may read, if it is one.
    pub fn block(&self, file: usize, item: usize) -> Option<Block<'_>> {
        let own = &self.files[file];
        let ast::ItemKind::Lagrangian(lagrangian) = &own.ast.items.get(item)?.kind else {
            return None;
        };
        let imported = own.imports.iter().map(|import| &self.files[import.file]);
        Some(Block {
            lagrangian,
            files: std::iter::once(own)
                .chain(imported)
                .map(|f| &*f.ast)
                .collect(),
            sources: &self.sources,
            is_strict: own.ast.units_strict.is_some(),
        })
    }

    /// Reads a `--set path=value`. The value may have a unit: `12 [V]`.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn parse_override(&mut self, path: &str, value: &str) -> Result<Override, Vec<Diagnostic>> {
        // Messages show what was typed; what is parsed has a plain name of the same length.
        let (shown, parsed) = (
            format!("{path} = {value}"),
            format!("{} = {value}", "x".repeat(path.len().max(1))),
        );
        let file = self.sources.add("--set", shown.as_str());
        let parsed = paynter_syntax::parse(file, &parsed);
        let span = Span::new(file, 0, path.len());
        let bad = |what: String| {
            vec![
                Diagnostic::error(code::BAD_OVERRIDE, what)
                    .primary(span, "")
                    .help("write `path=value`, such as `motor.R=2 [ohm]`"),
            ]
        };
        if parsed.has_errors() {
            return Err(parsed.diagnostics);
        }
        let mut items = parsed.ast.items;
        let value = match (items.pop().map(|i| i.kind), items.is_empty()) {
            (Some(ast::ItemKind::Constant(define)), true) => define.value,
            _ => return Err(bad(format!("`{value}` is not a value"))),
        };
        let segments: Option<Vec<_>> = path.split('.').map(parse_segment).collect();
        match segments {
            Some(path) => Ok(Override { path, value, span }),
            None => Err(bad(format!("`{path}` is not the path of a parameter"))),
        }
    }
}

impl Project {
    /// Reads expressions given outside of any file, such as `--to theta,omega`, with commas between.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn parse_expressions(
        &mut self,
        option: &str,
        text: &str,
    ) -> Result<Vec<ast::Expr>, Vec<Diagnostic>> {
        // Messages show what was typed; what is parsed is the definition of a name as long as the option's.
        let name = option.trim_start_matches('-');
        let list = format!("[{text}]");
        let (shown, parsed) = (
            format!("{name} = {list}"),
            format!("{} = {list}", "x".repeat(name.len().max(1))),
        );
        let file = self.sources.add(option, shown.as_str());
        let parsed = paynter_syntax::parse(file, &parsed);
        if parsed.has_errors() {
            return Err(parsed.diagnostics);
        }

        let mut items = parsed.ast.items;
        let value = match (items.pop().map(|i| i.kind), items.is_empty()) {
            (Some(ast::ItemKind::Constant(define)), true) => Some(define.value),
            _ => None,
        };
        if let Some(ast::Expr {
            kind: ast::ExprKind::Matrix { rows, .. },
            ..
        }) = value
            && let [row] = &rows[..]
        {
            return Ok(row.clone());
        }

        let message = format!("`{text}` is not a list of quantities");
        let span = Span::new(file, 0, shown.len());
        Err(vec![
            Diagnostic::error(code::BAD_OVERRIDE, message)
                .primary(span, "")
                .help(format!(
                    "separate names by commas, such as `{option} theta,shaft.f`"
                )),
        ])
    }
}

impl Project {
    /// Reads a sweep given outside of any file: `--over "R1 in [10, 20] [ohm]"`.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn parse_sweep(&mut self, text: &str) -> Result<ast::ExperimentStmt, Vec<Diagnostic>> {
        let whole = format!("experiment over of it {{ sweep {text} }}");
        let file = self.sources.add("--over", whole.as_str());
        let parsed = paynter_syntax::parse(file, &whole);
        if parsed.has_errors() {
            return Err(parsed.diagnostics);
        }
        let mut items = parsed.ast.items;
        if let (Some(ast::ItemKind::Experiment(experiment)), true) =
            (items.pop().map(|i| i.kind), items.is_empty())
            && let [statement] = &experiment.body[..]
            && matches!(statement.kind, ast::ExperimentKind::Sweep { .. })
        {
            return Ok(statement.clone());
        }
        let message = format!("`{text}` is not one sweep");
        let span = Span::new(file, 0, whole.len());
        Err(vec![
            Diagnostic::error(code::BAD_OVERRIDE, message)
                .primary(span, "")
                .help("write `R1 in [10, 20, 50] [ohm]` or `n in 1 .. 5`"),
        ])
    }
}

fn parse_segment(text: &str) -> Option<(String, Option<i64>)> {
    let is_name = |s: &str| {
        s.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && s.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    match text.split_once('[') {
        None => is_name(text).then(|| (text.to_owned(), None)),
        Some((name, index)) => {
            let index = index.strip_suffix(']')?.trim().parse().ok()?;
            is_name(name).then(|| (name.to_owned(), Some(index)))
        }
    }
}
