//! What is worth knowing about a thing, in a few lines of Markdown.
//!
//! In:  a symbol, or a word of the language.
//! Out: its declaration as written, its documentation, and what may be read of it.

use crate::analysis::{Analysis, item_name};
use crate::symbol::Symbol;
use crate::view::{kind_text, path_text};
use paynter::model::functions;
use paynter::model::kinds::{ElementKind, Kind};
use paynter::syntax::{Span, ast};

/// Describes the element or junction with these letters.
pub fn element(letters: &str) -> Option<&'static Kind> {
    elements().find(|kind| kind.letters == letters)
}

/// Junctions and elements, each once.
pub fn elements() -> impl Iterator<Item = &'static Kind> {
    let junctions = [ElementKind::Zero, ElementKind::One].into_iter();
    let kinds = junctions.chain(ElementKind::named());
    kinds.map(ElementKind::describe)
}

/// Words of the language and what they do.
pub const WORDS: &[(&str, &str)] = &[
    ("model", "a system or a part of one: `model Name { … }`"),
    (
        "extends",
        "inherits everything of another model and adds to it",
    ),
    (
        "experiment",
        "what is tried with a model: `experiment name of Model { … }`",
    ),
    (
        "use",
        "takes names from the library (`use electrical: Resistor`) or from a file (`use \"part.bond\"`)",
    ),
    (
        "units",
        "`units strict`: a bare number where a unit is expected is an error",
    ),
    (
        "param",
        "a value that is fixed during a run: `param R = 50 [ohm]`",
    ),
    ("input", "a signal that comes in: `input u = 0 [V]`"),
    ("output", "a signal to look at: `output v [V] = c1.e`"),
    (
        "port",
        "where bonds join a part: `port a: electrical`, or `port a: electrical = junction`",
    ),
    (
        "outer",
        "the nearest enclosing part of this name: `outer world: World`",
    ),
    (
        "replaceable",
        "a part that an experiment may exchange: `replaceable ctrl: Controller = NL1()`",
    ),
    ("bond", "a bond with a name: `bond shaft: motor -> load`"),
    (
        "solve",
        "values that satisfy equations: `solve x, y { a*x == y; … }`",
    ),
    (
        "invariant",
        "what the exact solution keeps: `invariant dot(Q, Q) == 1`",
    ),
    (
        "start",
        "a value required at the start: `start c1.e = 5 [V]`",
    ),
    (
        "guess",
        "a hint to the solver at the start: `guess x = 1 [m]`",
    ),
    (
        "sample",
        "signals that change at clock ticks: `sample at 1 [kHz] { … }`",
    ),
    (
        "when",
        "what happens when a condition comes true: `when hit: x < 0 [m] { … }`",
    ),
    (
        "reinit",
        "sets a state at an event: `reinit mass.p = -mass.p`",
    ),
    ("layout", "places of nodes in the diagram"),
    ("for", "repeats statements: `for i in 1 .. n { … }`"),
    (
        "with",
        "changes parameters, inputs and replaceable parts for this experiment",
    ),
    ("record", "columns of the result: `record x, v.f as speed`"),
    ("plot", "curves of the report: `plot x, v`, `plot x vs y`"),
    (
        "measure",
        "numbers of the result: `measure rise = rise_time(x)`",
    ),
    ("sweep", "runs over many values: `sweep k in [1, 2, 4]`"),
    ("optimize", "searches for the best values"),
    (
        "compare",
        "compares with a table: `compare \"reference.csv\" within 1e-6`",
    ),
    ("trim", "finds an equilibrium"),
    ("linearize", "makes a linear model: `linearize from u to y`"),
    ("stop", "when the run ends: `stop = 10 [s]`"),
    ("method", "the integration method: `method = auto`"),
    ("rtol", "relative tolerance of the integration"),
    ("atol", "absolute tolerance of the integration"),
    ("output_step", "time between recorded points"),
    (
        "domain",
        "an energy domain: `domain acoustic { effort p [Pa]; flow U [m^3/s] }`",
    ),
    ("fn", "a function: `fn square(x) = x^2`"),
    (
        "unpowered",
        "after a law: it may give power, and the audit lists it as a source",
    ),
    (
        "of",
        "the model of an experiment: `experiment name of Model`",
    ),
    ("as", "the name of a column: `record v.f as speed`"),
    (
        "within",
        "how much two tables may differ: `compare \"reference.csv\" within 1e-6`",
    ),
    (
        "strict",
        "`units strict`: a bare number where a unit is expected is an error",
    ),
    (
        "from",
        "the inputs of a linear model: `linearize from u to y`",
    ),
    (
        "to",
        "the outputs of a linear model: `linearize from u to y`",
    ),
    (
        "at",
        "when: `sample at 1 [kHz]`, `step(time, 5, at = 0.1 [s])`",
    ),
    (
        "in",
        "the values that are gone through: `for i in 1 .. n`, `sweep k in [1, 2, 4]`",
    ),
    ("by", "the step of a range: `1 .. 2 by 0.25`"),
    ("vs", "a phase plot: `plot x vs y`"),
    ("versus", "a phase plot: `plot x versus y`"),
    (
        "signal",
        "a member of a composite port that carries no power",
    ),
    ("return", "the result of a function"),
    (
        "position",
        "the place that a lock keeps: `Sf(0, position = x)`",
    ),
    ("max_step", "the largest step of the integration"),
    ("min_step", "the smallest step of the integration"),
    ("max_steps", "after so many steps a run is given up"),
    ("output_start", "from when on points are recorded"),
    (
        "constraints",
        "how locks are kept: minimal, implicit, multiplier or parasitic",
    ),
    ("minimal", "locks are kept by minimal coordinates"),
    ("implicit", "locks are kept by implicit equations"),
    ("multiplier", "locks are kept by Lagrange multipliers"),
    ("parasitic", "locks are stiff springs with dampers"),
    ("minimize", "the objective of a search: `minimize cost`"),
    ("maximize", "the objective of a search: `maximize range`"),
    (
        "subject",
        "conditions of a search: `subject over <= 20 [%]`",
    ),
    ("worst", "further experiments of a search: the worst counts"),
    (
        "mean",
        "further experiments of a search: the mean counts; or the mean of a curve",
    ),
    (
        "fit",
        "finds parameters from data: `fit k in 1 .. 9 { data \"run.csv\" }`",
    ),
    ("data", "a table of measured columns"),
    (
        "limit",
        "what a measure must keep in every run: `limit rise < 2 [s]`",
    ),
    (
        "lagrangian",
        "a model written as energies: `lagrangian Crane { … }`",
    ),
    (
        "coordinate",
        "what the energies depend on: `coordinate theta [rad]`",
    ),
    ("rate", "a velocity: `rate across = der(phi)*sin(theta)`"),
    (
        "speed",
        "rates that are the states (Kane's generalised speeds): `speed across, spin`",
    ),
    ("kinetic", "a kinetic energy: `kinetic bob = 0.5*m*v^2`"),
    (
        "potential",
        "a potential energy: `potential weight = -m*g*l*cos(theta)`",
    ),
    (
        "loss",
        "half of the power that is lost: `loss rail = 0.5*b*v^2`",
    ),
    (
        "effort",
        "a generalised force: `effort theta = N`; in a domain its effort",
    ),
    ("flow", "the flow of a domain: `flow U [m^3/s]`"),
    (
        "given",
        "a motion that is given: `given s = 0.1 [m]*sin(w*time)`",
    ),
    (
        "constraint",
        "what must hold: `constraint rod: x^2 + y^2 == l^2`",
    ),
    (
        "final",
        "the last value of a curve: `measure end = final(x)`",
    ),
    (
        "overshoot",
        "how far a curve goes beyond its end, %: `overshoot(x, command)`",
    ),
    ("undershoot", "how far a curve goes the other way first, %"),
    ("rise_time", "the time from 10 % to 90 %: `rise_time(x)`"),
    (
        "settling_time",
        "the time after which a curve stays near its end",
    ),
    (
        "gain_margin",
        "by how much the gain of a loop may grow: `gain_margin(u)`",
    ),
    (
        "phase_margin",
        "how far the phase of a loop is from -180°: `phase_margin(u)`",
    ),
    (
        "num",
        "the numerator of a transfer function, highest power first",
    ),
    (
        "den",
        "the denominator of a transfer function, highest power first",
    ),
    (
        "threshold",
        "the effort at which a diode conducts or friction slips",
    ),
    ("auto", "the program chooses"),
    ("dop853", "explicit Runge–Kutta method of order 8"),
    ("dopri5", "explicit Runge–Kutta method of order 5"),
    ("bdf", "implicit multistep method for stiff models"),
    (
        "rodas5p",
        "implicit method of order 5 for stiff models and constraints",
    ),
    (
        "radau5",
        "implicit Runge–Kutta method of order 5 for stiff models",
    ),
];

/// Letters that a law may read, and what they are.
pub const LAW_LETTERS: &[(&str, &str)] = &[
    ("e", "effort of this element"),
    ("f", "flow of this element"),
    ("q", "displacement of this element: ∫ flow"),
    ("p", "momentum of this element: ∫ effort"),
    ("e1", "effort at the first port"),
    ("f1", "flow at the first port"),
    ("e2", "effort at the second port"),
    ("f2", "flow at the second port"),
    ("q1", "displacement at the first port"),
    ("q2", "displacement at the second port"),
    ("p1", "momentum at the first port"),
    ("p2", "momentum at the second port"),
];

/// Names that are always there.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("time", "the time of the run, s"),
    ("pi", "3.14159…"),
    (
        "system",
        "the whole model: `.energy .supplied .dissipated .residual`",
    ),
];

/// Functions that make states or need the scope.
pub const SPECIAL: &[(&str, &str)] = &[
    ("der(x)", "rate of change; `der(x) = …` makes x a state"),
    ("pre(x)", "the value at the last tick or before the event"),
    ("integral(x)", "∫ x since the start"),
    (
        "smooth(x)",
        "promises that x is continuous: no events inside",
    ),
    ("tf(num, den, u)", "a transfer function of a signal"),
    ("unwrap(angle, rate)", "an angle that counts turns"),
    ("sum(x[i] for i in 1 .. n)", "a sum"),
];

/// Describes a symbol; none if its declaration cannot be found.
pub fn describe(analysis: &Analysis, symbol: &Symbol) -> Option<String> {
    let files = &analysis.project.files;
    let file_of = |path: &str| files.iter().position(|f| f.canonical_name == path);
    match symbol {
        Symbol::Item { path, name } => {
            let file = file_of(path)?;
            let mut items = files[file].ast.items.iter();
            let item = items.find(|i| item_name(i).is_some_and(|n| &*n.text == name.as_str()))?;
            Some(item_text(analysis, file, item))
        }
        Symbol::Experiment { path, name } => {
            let (item, experiment) = experiment_named(analysis, file_of(path)?, name)?;
            let head = format!("experiment {} of {}", name, path_text(&experiment.of));
            Some(with_doc(&head, item.doc.as_deref()))
        }
        Symbol::Member { path, model, name } => member_text(analysis, file_of(path)?, model, name),
        Symbol::PortMember { path, port, name } => {
            let file = file_of(path)?;
            let items = &files[file].ast.items;
            items.iter().find_map(|item| match &item.kind {
                ast::ItemKind::PortType(p) if &*p.name.text == port.as_str() => {
                    port_member_text(analysis, file, p, name)
                }
                _ => None,
            })
        }
        Symbol::Measure {
            path,
            experiment,
            name,
        } => {
            let file = file_of(path)?;
            let (_, experiment) = experiment_named(analysis, file, experiment)?;
            measure_text(analysis, file, experiment, name)
        }
        Symbol::Local { path, at } => {
            let text = &analysis
                .project
                .sources
                .file(files[file_of(path)?].file)
                .text;
            let start = text[..*at as usize].rfind('\n').map_or(0, |i| i + 1);
            let end = text[start..].find('\n').map_or(text.len(), |i| start + i);
            Some(with_doc(text[start..end].trim(), None))
        }
        Symbol::Library(name) => library_text(name),
    }
}

/// The experiment of this name in a file.
fn experiment_named<'a>(
    analysis: &'a Analysis,
    file: usize,
    name: &str,
) -> Option<(&'a ast::Item, &'a ast::Experiment)> {
    let items = &analysis.project.files[file].ast.items;
    items.iter().find_map(|item| match &item.kind {
        ast::ItemKind::Experiment(e) if &*e.name.text == name => Some((item, e)),
        _ => None,
    })
}

/// Describes a member of a port type.
fn port_member_text(
    analysis: &Analysis,
    file: usize,
    p: &ast::PortType,
    name: &str,
) -> Option<String> {
    p.members.iter().find_map(|m| match m {
        ast::PortMember::Power {
            name: n,
            domain,
            size,
        } if &*n.text == name => {
            let end = size.as_ref().map_or(domain.span.end, |s| s.span.end + 1);
            let span = Span { end, ..n.span };
            Some(with_doc(source(analysis, file, span), None))
        }
        ast::PortMember::Signal(decl) if &*decl.name.text == name => Some(with_doc(
            source(analysis, file, decl.span),
            decl.doc.as_deref(),
        )),
        _ => None,
    })
}

/// Describes a measure of an experiment.
fn measure_text(
    analysis: &Analysis,
    file: usize,
    e: &ast::Experiment,
    name: &str,
) -> Option<String> {
    let lists = e.body.iter().filter_map(|s| match &s.kind {
        ast::ExperimentKind::Measure(list) => Some(list),
        _ => None,
    });
    let (n, value) = lists.flatten().find(|(n, _)| &*n.text == name)?;
    let text = source(analysis, file, n.span.to(value.span));
    Some(with_doc(&format!("measure {text}"), None))
}

/// The comment at the head of a library file, and what it offers.
pub fn library_text(name: &str) -> Option<String> {
    let text = paynter::library::library(name)?;
    let head = text.lines().skip_while(|l| !l.starts_with("// "));
    let head: Vec<&str> = head
        .take_while(|l| l.starts_with("//"))
        .map(|l| l.trim_start_matches('/').trim())
        .collect();
    let parsed = paynter::syntax::parse(Default::default(), text);
    let offers = parsed.ast.items.iter().filter_map(|i| match &i.kind {
        ast::ItemKind::Model(m) if !m.name.text.starts_with("Example") => {
            Some(format!("`{}`", m.name.text))
        }
        _ => None,
    });
    let offers: Vec<String> = offers.collect();
    Some(format!(
        "```bond\nuse {name}\n```\n{}\n\n{}",
        head.join(" "),
        offers.join(", ")
    ))
}

/// The text under a span of a file of the project.
pub fn source(analysis: &Analysis, file: usize, span: Span) -> &str {
    // What is derived from a Lagrangian stands in a text of its own.
    let _ = file;
    analysis.project.sources.text(span)
}

fn with_doc(code: &str, doc: Option<&str>) -> String {
    match doc {
        Some(doc) => format!("```bond\n{code}\n```\n{doc}"),
        None => format!("```bond\n{code}\n```"),
    }
}

fn item_text(analysis: &Analysis, file: usize, item: &ast::Item) -> String {
    let code = match &item.kind {
        ast::ItemKind::Model(model) => return model_text(analysis, file, item, model),
        ast::ItemKind::Function(f) => function_text(analysis, file, f),
        _ => {
            let text = source(analysis, file, item.span);
            text.lines().take(12).collect::<Vec<_>>().join("\n")
        }
    };
    with_doc(&code, item.doc.as_deref())
}

/// A function's head as written.
pub fn function_text(analysis: &Analysis, file: usize, f: &ast::Function) -> String {
    let params = f.params.iter().map(|p| source(analysis, file, p.span));
    format!(
        "fn {}({})",
        f.name.text,
        params.collect::<Vec<_>>().join(", ")
    )
}

/// A model's head, its documentation, parameters, inputs, outputs and ports.
fn model_text(analysis: &Analysis, file: usize, item: &ast::Item, model: &ast::Model) -> String {
    let mut head = format!("model {}", model.name.text);
    if let Some(base) = &model.extends {
        head.push_str(&format!(" extends {}", source(analysis, file, base.span)));
    }
    let mut text = with_doc(&head, item.doc.as_deref());
    for (title, lines) in interface(analysis, file, model) {
        if !lines.is_empty() {
            text.push_str(&format!("\n\n**{title}**"));
            for line in lines {
                text.push_str(&format!("\n- `{}`", line.text));
                if let Some(doc) = line.doc {
                    text.push_str(&format!(" — {}", doc.replace('\n', " ")));
                }
            }
        }
    }
    text
}

/// A declaration that users of a model see.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// As written.
    pub text: String,
    /// Its documentation.
    pub doc: Option<String>,
    /// It must be given a value.
    pub is_open: bool,
}

/// Ports, parameters, inputs and outputs of a model with those it inherits.
pub fn interface(
    analysis: &Analysis,
    file: usize,
    model: &ast::Model,
) -> [(&'static str, Vec<Line>); 5] {
    let mut found: [(&'static str, Vec<Line>); 5] = [
        ("Ports", Vec::new()),
        ("Parameters", Vec::new()),
        ("Inputs", Vec::new()),
        ("Outputs", Vec::new()),
        ("Replaceable parts", Vec::new()),
    ];
    for (file, level) in analysis.lineage(model, file).into_iter().rev() {
        for statement in &level.body {
            let decls = |list: &[ast::Decl]| {
                let lines = list.iter().map(|d| Line {
                    name: d.name.text.to_string(),
                    text: source(analysis, file, d.span).to_owned(),
                    doc: d.doc.clone(),
                    is_open: d.value.is_none(),
                });
                lines.collect::<Vec<_>>()
            };
            match &statement.kind {
                ast::StmtKind::Port(ports) => found[0].1.extend(ports.iter().map(|p| Line {
                    name: p.name.text.to_string(),
                    text: source(analysis, file, p.span).to_owned(),
                    doc: statement.doc.clone().filter(|_| ports.len() == 1),
                    is_open: p.binding.is_none(),
                })),
                ast::StmtKind::Param(list) => found[1].1.extend(decls(list)),
                ast::StmtKind::Input(list) => found[2].1.extend(decls(list)),
                ast::StmtKind::Output(list) => found[3].1.extend(decls(list)),
                ast::StmtKind::Replaceable { name, .. } => found[4].1.push(Line {
                    name: name.text.to_string(),
                    text: source(analysis, file, statement.span).to_owned(),
                    doc: statement.doc.clone(),
                    is_open: false,
                }),
                _ => {}
            }
        }
    }
    found
}

fn member_text(analysis: &Analysis, file: usize, model: &str, name: &str) -> Option<String> {
    let items = &analysis.project.files[file].ast.items;
    let of_block = items.iter().find_map(|i| match &i.kind {
        ast::ItemKind::Lagrangian(l) if &*l.name.text == model => {
            let mut made = crate::lagrangian::made(l).into_iter();
            made.find(|m| &*m.name.text == name)
        }
        _ => None,
    });
    if let Some(made) = of_block {
        let text = format!("{} {}", made.word, source(analysis, file, made.span));
        return Some(with_doc(text.trim(), made.doc));
    }

    let model = items.iter().find_map(|i| match &i.kind {
        ast::ItemKind::Model(m) if &*m.name.text == model => Some(m),
        _ => None,
    })?;

    let mut open: Vec<&ast::Stmt> = model.body.iter().rev().collect();
    while let Some(statement) = open.pop() {
        use ast::StmtKind as S;
        match &statement.kind {
            S::For { body, .. } => open.extend(body.iter().rev()),
            S::If {
                then, otherwise, ..
            } => {
                open.extend(then.iter().chain(otherwise).rev());
            }
            _ => {}
        }
        let found = declared_by(analysis, file, statement, name);
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Describes what a statement by itself declares under this name.
fn declared_by(
    analysis: &Analysis,
    file: usize,
    statement: &ast::Stmt,
    name: &str,
) -> Option<String> {
    use ast::StmtKind as S;
    let doc = statement.doc.as_deref();
    let whole = |doc: Option<&str>| with_doc(source(analysis, file, statement.span), doc);
    match &statement.kind {
        S::Param(list) => declared(analysis, file, "param", list, name),
        S::Input(list) => declared(analysis, file, "input", list, name),
        S::Output(list) => declared(analysis, file, "output", list, name),
        S::Port(list) => list
            .iter()
            .find(|p| &*p.name.text == name)
            .map(|p| with_doc(&format!("port {}", source(analysis, file, p.span)), doc)),
        S::Chain(chain) | S::NamedBond { chain, .. } => node_text(analysis, file, chain, name, doc)
            .or_else(|| named_bond(analysis, file, statement, name)),
        S::Outer { name: n, .. } | S::Replaceable { name: n, .. } if &*n.text == name => {
            Some(whole(doc))
        }
        S::Define(d) if is_target(d, name) => {
            Some(with_doc(source(analysis, file, d.span), d.doc.as_deref()))
        }
        S::Sample { body, .. } => body.iter().find(|d| is_target(d, name)).map(|d| {
            with_doc(
                &format!("{}   // sampled", source(analysis, file, d.span)),
                d.doc.as_deref(),
            )
        }),
        S::Solve { unknowns, .. } if unknowns.iter().any(|n| &*n.text == name) => Some(whole(doc)),
        S::When {
            name: n, actions, ..
        } => {
            let is_name = n.as_ref().is_some_and(|n| &*n.text == name);
            let sets = actions
                .iter()
                .any(|a| matches!(a, ast::Action::Define(d) if is_target(d, name)));
            (is_name || sets).then(|| whole(None))
        }
        _ => None,
    }
}

fn is_target(define: &ast::Define, name: &str) -> bool {
    matches!(define.target.parts.as_slice(), [only] if &*only.name.text == name)
}

fn declared(
    analysis: &Analysis,
    file: usize,
    word: &str,
    list: &[ast::Decl],
    name: &str,
) -> Option<String> {
    let decl = list.iter().find(|d| &*d.name.text == name)?;
    let code = format!("{word} {}", source(analysis, file, decl.span));
    Some(with_doc(&code, decl.doc.as_deref()))
}

fn named_bond(
    analysis: &Analysis,
    file: usize,
    statement: &ast::Stmt,
    name: &str,
) -> Option<String> {
    match &statement.kind {
        ast::StmtKind::NamedBond { name: n, .. } if &*n.text == name => Some(format!(
            "{}\n\nreadable: `.e .f .power .energy`",
            with_doc(
                source(analysis, file, statement.span),
                statement.doc.as_deref()
            )
        )),
        _ => None,
    }
}

fn node_text(
    analysis: &Analysis,
    file: usize,
    chain: &ast::Chain,
    name: &str,
    doc: Option<&str>,
) -> Option<String> {
    let mut open: Vec<&ast::Node> = chain.groups.iter().flatten().collect();
    while let Some(node) = open.pop() {
        match &node.kind {
            ast::NodeKind::Thing { name: n, kind, .. } if &*n.text == name => {
                let mut text = with_doc(source(analysis, file, node.span), doc);
                let letters = kind_text(kind);
                if let Some(Kind { what, readable, .. }) = element(&letters) {
                    text.push_str(&format!("\n\n{what}\n\nreadable: `{readable}`"));
                } else if let ast::KindHead::Named(path) = &kind.head
                    && let Some((at, item)) = analysis.find(path, file)
                {
                    text.push_str("\n\n");
                    text.push_str(&item_text(analysis, at, item));
                }
                return Some(text);
            }
            ast::NodeKind::Tuple(members) => open.extend(members),
            _ => {}
        }
    }
    None
}

/// How a built-in function is called and what it gives.
pub fn built_in_function(name: &str) -> Option<(String, String)> {
    let is_it = |signature: &str| signature.split('(').next() == Some(name);
    if let Some((signature, summary)) = functions::reference().find(|(s, _)| is_it(s)) {
        return Some((signature, summary.to_owned()));
    }
    let special = SPECIAL.iter().find(|(s, _)| is_it(s))?;
    Some((special.0.to_owned(), special.1.to_owned()))
}
