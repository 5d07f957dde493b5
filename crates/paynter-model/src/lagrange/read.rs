//! Reads the statements of a `lagrangian` block into a [`System`].
//!
//! In:  the block, the files whose functions and constants it may read, and their texts.
//! Out: coordinates, rates and energies over one pool of expressions.
//!
//! **Invariant:** the order of statements does not matter: names first, then rates, then all that reads them.

use super::Block;
use super::clock::make_time_a_coordinate;
use super::expressions::Scope;
use super::measure::dimension;
use super::names::{junction_of, original, velocity_junction};
use super::system::{Coordinate, Effort, Kept, Named, Rate, Role, System};
use crate::code;
use crate::suggest::nearest;
use crate::units::{Dimension, Unit};
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::ast::{self, ExprKind, LagrangianKind};
use paynter_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

/// Reads a block.
///
/// # Errors
///
/// Names that are not there or there twice, expressions that have no derivative here.
pub(super) fn read(block: &Block<'_>) -> Result<System, Vec<Diagnostic>> {
    let mut reader = Reader {
        system: System {
            name: block.lagrangian.name.text.to_string(),
            span: block.lagrangian.name.span,
            is_strict: block.is_strict,
            ..System::default()
        },
        scope: Scope::new(block.sources),
        values: FxHashMap::default(),
        elements: FxHashMap::default(),
        errors: Vec::new(),
    };
    let files = block.files.iter().rev();
    for item in files.flat_map(|file| &file.items) {
        match &item.kind {
            ast::ItemKind::Function(f) => {
                reader.scope.functions.insert(f.name.text.to_string(), f);
            }
            ast::ItemKind::Constant(define) => reader.remember(define),
            _ => {}
        }
    }
    reader.declare(block.lagrangian);
    reader.rates(block.lagrangian);
    if reader.errors.is_empty() {
        reader.fill(block.lagrangian);
    }
    if reader.errors.is_empty() {
        reader.system.values_named = reader.values.into_keys().collect();
        make_time_a_coordinate(&mut reader.system);
        Ok(reader.system)
    } else {
        Err(reader.errors)
    }
}

struct Reader<'a> {
    system: System,
    scope: Scope<'a>,
    /// Where values (parameters, coordinates, signals) and elements (rates, energies) were declared.
    /// A value may have the name of an element, as everywhere in the language; rates are both.
    values: FxHashMap<String, Span>,
    elements: FxHashMap<String, Span>,
    errors: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn remember(&mut self, define: &'a ast::Define) {
        if let [part] = define.target.parts.as_slice() {
            let name = part.name.text.to_string();
            self.scope.definitions.insert(name, &define.value);
        }
    }

    // ---- names

    /// Gives every name its symbol, so that the order of lines does not matter.
    fn declare(&mut self, lagrangian: &'a ast::Lagrangian) {
        let time = self.system.add("time", Role::Time);
        self.scope.names.insert("time".to_owned(), time);
        for statement in &lagrangian.body {
            match &statement.kind {
                LagrangianKind::Param(decls) => self.constants(decls, Role::Constant),
                LagrangianKind::Input(decls) => self.constants(decls, Role::Input),
                LagrangianKind::Coordinate(decls) => {
                    decls.iter().for_each(|decl| self.coordinate(decl));
                }
                LagrangianKind::Define(define) => self.signal(define),
                LagrangianKind::Output(decls) => {
                    for decl in decls {
                        self.claim_value(&decl.name);
                        if let Some(value) = &decl.value {
                            let name = decl.name.text.to_string();
                            self.scope.definitions.insert(name, value);
                        }
                    }
                }
                _ => {}
            }
        }
        // Given motions behind the free coordinates.
        for statement in &lagrangian.body {
            if let LagrangianKind::Given(decls) = &statement.kind {
                decls.iter().for_each(|decl| self.coordinate(decl));
            }
        }
        for statement in &lagrangian.body {
            if let LagrangianKind::Rate(decls) = &statement.kind {
                decls.iter().for_each(|decl| self.rate(decl));
            }
        }
        if self.system.coordinates.is_empty() && self.errors.is_empty() {
            self.errors.push(
                Diagnostic::error(
                    code::LAGRANGIAN_NAME,
                    format!("`{}` has no coordinate", self.system.name),
                )
                .primary(self.system.span, "nothing can move in it")
                .help("write `coordinate x [m]` for what the energies depend on"),
            );
        }
    }

    fn constants(&mut self, decls: &'a [ast::Decl], role: Role) {
        for decl in decls {
            let symbol = self.claim(&decl.name, role);
            if let Some(shape) = decl.shape.as_ref().and_then(|shape| shape.first()) {
                self.errors.push(
                    Diagnostic::error(
                        code::LAGRANGIAN_NAME,
                        format!("`{}` is not a single number", decl.name.text),
                    )
                    .primary(shape.span, "a Lagrangian is made of numbers")
                    .help("declare each entry by itself"),
                );
            }
            let unit = decl.unit.as_ref().and_then(|u| Unit::parse(u).ok());
            if let Some(unit) = &unit {
                self.system.dimensions.insert(symbol, unit.dimension);
            }
            let Some(value) = &decl.value else { continue };
            let (number, own) = plain_number(value);
            if let Some(own) = &own {
                self.system.dimensions.insert(symbol, own.dimension);
            }
            if let (Some(x), Role::Constant) = (number, role) {
                let shown_in = own.or(unit);
                let x = shown_in.map_or(x, |unit| unit.to_si(x));
                self.system.values.insert(symbol, x);
            }
        }
    }

    fn signal(&mut self, define: &'a ast::Define) {
        let [part] = define.target.parts.as_slice() else {
            self.refuse_signal(define, "a name of the block stands here");
            return;
        };
        if define.is_derivative {
            self.refuse_signal(define, "the coordinates are the states of a Lagrangian");
            return;
        }
        self.claim_value(&part.name);
        self.remember(define);
    }

    fn refuse_signal(&mut self, define: &ast::Define, why: &str) {
        self.errors.push(
            Diagnostic::error(
                code::LAGRANGIAN_NAME,
                "only signals are defined in a `lagrangian`",
            )
            .primary(define.target.span, why)
            .help("write `name = …`; what has a rate of its own is a `coordinate`"),
        );
    }

    fn claim(&mut self, name: &ast::Ident, role: Role) -> SymbolId {
        self.claim_value(name);
        let symbol = self.system.add(&name.text, role);
        self.scope.names.insert(name.text.to_string(), symbol);
        symbol
    }

    fn claim_value(&mut self, name: &ast::Ident) {
        if matches!(&*name.text, "time" | "pi" | "g0" | "system") {
            self.errors.push(
                Diagnostic::error(
                    code::LAGRANGIAN_NAME,
                    format!("`{}` is built in and cannot be declared", name.text),
                )
                .primary(name.span, "choose another name"),
            );
        }
        let first = self.values.insert(name.text.to_string(), name.span);
        self.refuse_twice(name, first);
    }

    fn claim_element(&mut self, name: &ast::Ident) {
        self.system.taken.insert(name.text.to_string());
        let first = self.elements.insert(name.text.to_string(), name.span);
        self.refuse_twice(name, first);
    }

    fn refuse_twice(&mut self, name: &ast::Ident, first: Option<Span>) {
        let Some(first) = first else { return };
        self.errors.push(
            Diagnostic::error(
                code::LAGRANGIAN_NAME,
                format!("`{}` is declared twice", name.text),
            )
            .primary(name.span, "again here")
            .secondary(first, "first here"),
        );
    }

    fn coordinate(&mut self, decl: &ast::Decl) {
        let index = self.system.coordinates.len();
        let position = self.claim(&decl.name, Role::Position(index));
        let name = decl.name.text.to_string();
        let velocity = self
            .system
            .add(&format!("der({name})"), Role::Velocity(index));
        if let Some(unit) = &decl.unit {
            match Unit::parse(unit) {
                Ok(unit) => {
                    let dimension = unit.dimension;
                    self.system.dimensions.insert(position, dimension);
                    let rate = dimension.per(Dimension::TIME);
                    self.system.dimensions.insert(velocity, rate);
                }
                Err(error) => self.errors.push(error.to_diagnostic()),
            }
        }
        let unit = decl.unit.as_ref().map_or("", |u| self.text(u.span));
        self.system.coordinates.push(Coordinate {
            unit: unit.to_owned(),
            name,
            position,
            velocity,
            given: None,
            span: decl.span,
        });
    }

    fn rate(&mut self, decl: &ast::Decl) {
        let index = self.system.rates.len();
        let symbol = self.claim(&decl.name, Role::Rate(index));
        self.claim_element(&decl.name);
        let value = self.system.pool.number(0.0);
        let text = decl.value.as_ref().map_or("", |v| self.text(v.span));
        self.system.rates.push(Rate {
            name: decl.name.text.to_string(),
            symbol,
            value,
            text: one_line(text),
            span: decl.span,
        });
    }

    // ---- values

    /// Reads given motions and rates, which everything else may read.
    fn rates(&mut self, lagrangian: &'a ast::Lagrangian) {
        let mut rate = 0;
        for statement in &lagrangian.body {
            match &statement.kind {
                LagrangianKind::Given(decls) => decls.iter().for_each(|decl| self.given(decl)),
                LagrangianKind::Rate(decls) => {
                    for decl in decls {
                        if let Some(named) = self.named(decl) {
                            self.system.rates[rate].value = named.value;
                        }
                        rate += 1;
                    }
                }
                LagrangianKind::Kinetic(decls)
                | LagrangianKind::Potential(decls)
                | LagrangianKind::Loss(decls) => {
                    decls.iter().for_each(|decl| self.claim_element(&decl.name));
                }
                LagrangianKind::Constraint { name, .. } => self.claim_element(name),
                LagrangianKind::Port(ports) => {
                    ports.iter().for_each(|port| self.claim_element(&port.name));
                }
                _ => {}
            }
        }
        for i in 0..self.system.coordinates.len() {
            let junction = velocity_junction(&self.system, i);
            self.system.taken.insert(junction);
        }
    }

    fn given(&mut self, decl: &'a ast::Decl) {
        let Some(named) = self.named(decl) else {
            return;
        };
        let moving = |role: Role| !matches!(role, Role::Constant | Role::Time);
        if let Some(&wrong) = self.system.reads(named.value, moving).first() {
            let wrong = self.system.symbol_name(wrong).to_owned();
            self.errors.push(
                Diagnostic::error(
                    code::GIVEN_FORM,
                    format!("the given motion `{}` reads `{wrong}`", named.name),
                )
                .primary(decl.span, "its rate would not be known")
                .help("a given motion is written in time and parameters; one that follows coordinates is a `constraint`"),
            );
        }
        let Some(i) = self
            .system
            .coordinates
            .iter()
            .position(|c| c.name == named.name)
        else {
            return;
        };
        self.system.coordinates[i].given = Some(named.value);
        let Coordinate {
            position, velocity, ..
        } = self.system.coordinates[i];
        if let (None, Some(known)) = (&decl.unit, dimension(&self.system, named.value)) {
            self.system.dimensions.insert(position, known);
            self.system
                .dimensions
                .insert(velocity, known.per(Dimension::TIME));
        }
    }

    /// Reads everything but rates.
    fn fill(&mut self, lagrangian: &'a ast::Lagrangian) {
        for statement in &lagrangian.body {
            let span = statement.span;
            match &statement.kind {
                LagrangianKind::Param(_) | LagrangianKind::Input(_) => {
                    let text = self.text(span).to_owned();
                    self.system.head.push(Kept { text, span });
                }
                LagrangianKind::Port(ports) => ports.iter().for_each(|port| self.port(port)),
                LagrangianKind::Coordinate(decls) => self.refuse_values(decls),
                LagrangianKind::Given(_) | LagrangianKind::Rate(_) => {}
                LagrangianKind::Speed(decls) => decls.iter().for_each(|decl| self.speed(decl)),
                LagrangianKind::Kinetic(decls) => {
                    let all: Vec<Named> = decls.iter().filter_map(|d| self.named(d)).collect();
                    self.system.kinetic.extend(all);
                }
                LagrangianKind::Potential(decls) => {
                    let all: Vec<Named> = decls.iter().filter_map(|d| self.named(d)).collect();
                    self.system.potential.extend(all);
                }
                LagrangianKind::Loss(decls) => {
                    let all: Vec<Named> = decls.iter().filter_map(|d| self.named(d)).collect();
                    self.system.loss.extend(all);
                }
                LagrangianKind::Effort(decls) => decls.iter().for_each(|d| self.effort(d)),
                LagrangianKind::Constraint { name, demand } => self.constraint(name, demand),
                LagrangianKind::Output(decls) => self.outputs(decls, span),
                LagrangianKind::Define(define) => self.define(define, span),
                LagrangianKind::Start(assigns) => self.starts("start", assigns),
                LagrangianKind::Guess(assigns) => self.starts("guess", assigns),
            }
        }
    }

    fn port(&mut self, port: &'a ast::PortDecl) {
        let target = match &port.binding {
            Some(ast::PortBinding::Node(node)) => match node.parts.as_slice() {
                [part] if part.index.is_empty() => self.target(&part.name),
                _ => None,
            },
            _ => None,
        };
        let Some(target) = target else {
            let place = match &port.binding {
                Some(ast::PortBinding::Node(node)) => node.span,
                _ => port.span,
            };
            let example = self.coordinates_and_rates().first().cloned();
            let example = example.unwrap_or_else(|| "x".to_owned());
            self.errors.push(
                Diagnostic::error(
                    code::LAGRANGIAN_NAME,
                    format!(
                        "the port `{}` is not at a coordinate or rate",
                        port.name.text
                    ),
                )
                .primary(place, "no coordinate or rate of this name")
                .help(format!(
                    "write `port {}: {} = {example}`",
                    port.name.text,
                    self.text(port.kind.span)
                )),
            );
            return;
        };
        self.system.ports.push(target);
        let junction = junction_of(&self.system, target);
        let kind = self.text(port.kind.span);
        let text = format!("port {}: {kind} = {junction}", port.name.text);
        let span = port.span;
        self.system.head.push(Kept { text, span });
    }

    /// Chooses a rate as a state.
    fn speed(&mut self, decl: &ast::Decl) {
        let name = &decl.name.text;
        let wrong = |message: String| Diagnostic::error(code::SPEEDS, message);
        if let Some(value) = &decl.value {
            let text = one_line(self.text(value.span));
            self.errors.push(
                wrong(format!("`speed {name}` has a value"))
                    .primary(value.span, "a speed is a rate that is declared elsewhere")
                    .help(format!("write `rate {name} = {text}` and `speed {name}`")),
            );
            return;
        }
        if let Some(unit) = &decl.unit {
            self.errors.push(
                wrong(format!("`speed {name}` has a unit"))
                    .primary(unit.span, "a speed has the unit of its rate")
                    .help(format!("write `speed {name}`")),
            );
            return;
        }
        let Some(symbol) = self.target(&decl.name) else {
            let mut message = wrong(format!("there is no rate `{name}` to be a speed")).primary(
                decl.name.span,
                "a speed is a rate, or a coordinate for its der(…)",
            );
            if let Some(near) = nearest(name, self.coordinates_and_rates()) {
                message = message.help(format!("did you mean `{near}`?"));
            }
            self.errors.push(message);
            return;
        };
        let symbol = original(&self.system, symbol);
        let known = self.system.speeds.iter().find(|s| s.0 == symbol);
        if let Some(&(_, first)) = known {
            self.errors.push(
                wrong(format!("`{name}` is chosen as a speed twice"))
                    .primary(decl.span, "again here")
                    .secondary(first, "first here"),
            );
            return;
        }
        if let Role::Velocity(i) = self.system.role(symbol)
            && self.system.coordinates[i].given.is_some()
        {
            self.errors.push(
                wrong(format!("`{name}` is given, and cannot be a speed"))
                    .primary(decl.span, "its motion is known")
                    .help("remove it here"),
            );
            return;
        }
        self.system.speeds.push((symbol, decl.span));
    }

    /// The velocity or rate that a name stands for.
    fn target(&self, name: &ast::Ident) -> Option<SymbolId> {
        let &symbol = self.scope.names.get(&*name.text)?;
        match self.system.role(symbol) {
            Role::Position(i) => Some(self.system.coordinates[i].velocity),
            Role::Rate(_) => Some(symbol),
            _ => None,
        }
    }

    fn refuse_values(&mut self, decls: &[ast::Decl]) {
        for value in decls.iter().filter_map(|d| d.value.as_ref()) {
            self.errors.push(
                Diagnostic::error(
                    code::LAGRANGIAN_NAME,
                    "a coordinate has no value of its own",
                )
                .primary(value.span, "the equations of motion decide it")
                .help("write `start` for where it begins, or `given` for a prescribed motion"),
            );
        }
    }

    fn named(&mut self, decl: &'a ast::Decl) -> Option<Named> {
        let Some(value) = &decl.value else {
            self.errors.push(
                Diagnostic::error(
                    code::LAGRANGIAN_NAME,
                    format!("`{}` has no value", decl.name.text),
                )
                .primary(decl.span, "write `= …` after it"),
            );
            return None;
        };
        let value = self.read(value)?;
        Some(Named {
            name: decl.name.text.to_string(),
            value,
            span: decl.span,
        })
    }

    fn read(&mut self, e: &'a ast::Expr) -> Option<ExprId> {
        match self.scope.read(&mut self.system, e) {
            Ok(value) => Some(value),
            Err(message) => {
                self.errors.push(*message);
                None
            }
        }
    }

    fn effort(&mut self, decl: &'a ast::Decl) {
        let Some(on) = self.target(&decl.name) else {
            let known = self.coordinates_and_rates();
            let mut message = Diagnostic::error(
                code::LAGRANGIAN_NAME,
                format!("there is no coordinate or rate `{}`", decl.name.text),
            )
            .primary(decl.name.span, "an effort acts on a coordinate or a rate");
            if let Some(near) = nearest(&decl.name.text, known) {
                message = message.help(format!("did you mean `{near}`?"));
            }
            self.errors.push(message);
            return;
        };
        let Some(value) = &decl.value else {
            self.named(decl);
            return;
        };
        let text = self.scope.rewritten(&self.system, value);
        let wanted = match &value.kind {
            ExprKind::Name(name) => name.text.to_string(),
            _ => format!("{}_effort", decl.name.text),
        };
        let name = self.system.fresh(&wanted);
        // A force may be a table or a step, which have no derivative, and need none.
        let value = self.scope.read(&mut self.system, value).ok();
        self.system.effort.push(Effort {
            on,
            name,
            text: one_line(&text),
            value,
            span: decl.span,
        });
    }

    fn coordinates_and_rates(&self) -> Vec<String> {
        let system = &self.system;
        let coordinates = system.coordinates.iter().map(|c| c.name.clone());
        coordinates
            .chain(system.rates.iter().map(|r| r.name.clone()))
            .collect()
    }

    fn constraint(&mut self, name: &ast::Ident, demand: &'a ast::Demand) {
        let left = self.read(&demand.left);
        let right = self.read(&demand.right);
        if let (Some(left), Some(right)) = (left, right) {
            let value = self.system.pool.sub(left, right);
            self.system.constraints.push(Named {
                name: name.text.to_string(),
                value,
                span: demand.span,
            });
        }
    }

    // ---- lines that are taken over

    fn starts(&mut self, word: &str, assigns: &[ast::Assign]) {
        for assign in assigns {
            let target = self.text(assign.target.span);
            let flow = self.scope.flow_of(&self.system, target);
            let target = flow.unwrap_or_else(|| target.to_owned());
            let value = self.scope.rewritten(&self.system, &assign.value);
            let text = format!("{word} {target} = {}", one_line(&value));
            let span = assign.span;
            self.system.tail.push(Kept { text, span });
        }
    }

    fn outputs(&mut self, decls: &[ast::Decl], span: Span) {
        for decl in decls {
            let unit = decl.unit.as_ref().map_or("", |u| self.text(u.span));
            let value = decl.value.as_ref();
            let value = value.map(|v| self.scope.rewritten(&self.system, v));
            let value = value.map_or(String::new(), |v| format!(" = {}", one_line(&v)));
            let text = format!("output {}{}{value}", decl.name.text, spaced(unit));
            self.system.tail.push(Kept { text, span });
        }
    }

    fn define(&mut self, define: &ast::Define, span: Span) {
        let target = self.text(define.target.span);
        let unit = define.unit.as_ref().map_or("", |u| self.text(u.span));
        let value = self.scope.rewritten(&self.system, &define.value);
        let text = format!("{target}{} = {}", spaced(unit), one_line(&value));
        self.system.tail.push(Kept { text, span });
    }

    fn text(&self, span: Span) -> &'a str {
        self.scope.sources.text(span)
    }
}

/// The number that an expression is, with its unit.
fn plain_number(e: &ast::Expr) -> (Option<f64>, Option<Unit>) {
    match &e.kind {
        ExprKind::Number { value, unit } => {
            let unit = unit.as_ref().and_then(|u| Unit::parse(u).ok());
            (Some(*value), unit)
        }
        ExprKind::Unary {
            op: ast::UnaryOp::Neg,
            of,
        } => {
            let (value, unit) = plain_number(of);
            (value.map(|x| -x), unit)
        }
        _ => (None, None),
    }
}

/// A unit behind a name.
pub(super) fn spaced(unit: &str) -> String {
    if unit.is_empty() {
        String::new()
    } else {
        format!(" {unit}")
    }
}

/// Text without line breaks and comments: each statement of the model has one line.
pub(super) fn one_line(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ")
}
