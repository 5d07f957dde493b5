//! Names: what `x`, `link[i-1].b`, `middle.y.f` mean where they are.
//!
//! In:  a dotted, indexed name and the scope it is read in.
//! Out: a [`Target`]: a value, or a thing, part or port on the way to one.
//!
//! **Invariant:** locals hide loop variables, these hide the names of the part, these hide
//! what the file defines or imports, and that hides what is built in.

use paynter_syntax::{Diagnostic, Span, ast};

use super::data::*;
use super::lower::{Ctx, Lowered, Stop, Target, letter_component};
use super::value::{Shape, Value, ValueKind};
use super::{Elaborator, Item, code};
use crate::graph::ElementKind;
use crate::suggest::nearest;
use crate::units::Dimension;

impl<'a> Elaborator<'a> {
    /// Follows a dotted, indexed name.
    pub(super) fn target(&mut self, e: &ast::Expr, ctx: Ctx<'_>) -> Result<Target, Stop> {
        let in_front = Ctx {
            means_part: true,
            ..ctx
        };
        match &e.kind {
            ast::ExprKind::Name(name) => self.name(name, &[], ctx),
            ast::ExprKind::Field { of, name } => {
                let target = self.target(of, in_front)?;
                self.field(target, name, &[], ctx)
            }
            ast::ExprKind::Index { of, index } => match &of.kind {
                ast::ExprKind::Name(name) => self.name(name, index, ctx),
                ast::ExprKind::Field { of, name } => {
                    let target = self.target(of, in_front)?;
                    self.field(target, name, index, ctx)
                }
                _ => {
                    let target = self.target(of, ctx)?;
                    self.index(target, index, ctx)
                }
            },
            _ => Ok(Target::Value(self.lower(e, ctx.of_value())?)),
        }
    }

    /// Follows a reference of a chain, `start` or `reinit`.
    pub(super) fn ref_target(&mut self, r: &ast::Ref, ctx: Ctx<'_>) -> Result<Target, Stop> {
        let [first, rest @ ..] = r.parts.as_slice() else {
            return Err(Stop::Reported);
        };
        let followed_by = |n_more: usize| Ctx {
            means_part: ctx.means_part || n_more > 0,
            ..ctx
        };
        let mut target = self.name(&first.name, &first.index, followed_by(rest.len()))?;
        for (at, part) in rest.iter().enumerate() {
            let ctx = followed_by(rest.len() - 1 - at);
            target = self.field(target, &part.name, &part.index, ctx)?;
        }
        Ok(target)
    }

    /// Looks a name up: locals, loop variables, the part, the file, what is built in.
    pub(super) fn name(
        &mut self,
        name: &ast::Ident,
        index: &[ast::Expr],
        ctx: Ctx<'_>,
    ) -> Result<Target, Stop> {
        let text = &*name.text;
        if let Some(value) = ctx.locals.and_then(|l| l.find(text)) {
            let target = Target::Value(value.clone());
            return self.index(target, index, ctx);
        }
        let mut at = ctx.scope;
        loop {
            let scope = self.tables.scopes[at.at()];
            if let Some((variable, value)) = scope.variable
                && variable == text
            {
                let e = self.pool().number(value);
                return self.index(Target::Value(Value::scalar(e)), index, ctx);
            }
            match scope.parent {
                Some(parent) => at = parent,
                None => break,
            }
        }

        let scope = self.tables.scopes[at.at()];
        if let Some(instance) = scope.instance {
            let parent = self.tables.instances[instance.at()].path;
            if let Some(found) = self.part_name(parent, name, index, ctx)? {
                return Ok(found);
            }
        }

        let target = match self.texts.files[scope.file as usize]
            .names
            .get(text)
            .copied()
        {
            Some(Item::Constant(define, file)) => Target::Value(self.constant(define, file)?),
            Some(Item::Missing(_)) => return Err(Stop::Reported),
            Some(_) => {
                self.report_no_value(name);
                return Err(Stop::Reported);
            }
            None => match self.built_in_name(text, at) {
                Some(target) => target,
                None => {
                    self.report_unknown(name, scope);
                    return Err(Stop::Reported);
                }
            },
        };
        self.index(target, index, ctx)
    }

    /// Reports a name of something that has no value.
    fn report_no_value(&mut self, name: &ast::Ident) {
        let text = &*name.text;
        let span = name.span;
        let own = self
            .tables
            .instances
            .first()
            .map(|top| &*top.model.name.text);
        let is_own = own == Some(text);
        self.report.add(code::WRONG_TYPE, span, || {
                    let message =
                        Diagnostic::error(code::WRONG_TYPE, format!("`{text}` is not a value"))
                            .primary(span, "names a model, function or port type");
                    match is_own {
                        true => message.help(format!(
                            "names are those inside `{text}`: leave out `{text}.`, and read a quantity such as `c1.e`"
                        )),
                        false => message,
                    }
                });
    }

    /// Seconds in a strict file. Elsewhere a model that mentions no units just works, so `sin(time)` must.
    pub(super) fn dimension_of_time(&self, scope: ScopeId) -> Option<Dimension> {
        let file = self.tables.scopes[scope.at()].file as usize;
        self.texts.files[file].is_strict.then_some(Dimension::TIME)
    }

    pub(super) fn built_in_name(&mut self, text: &str, scope: ScopeId) -> Option<Target> {
        // Standard gravity, m/s² (CGPM 1901: exact).
        const STANDARD_GRAVITY: f64 = 9.806_65;
        Some(match text {
            "time" => {
                let time = self.graph.signals.time.expect("made at the beginning");
                let e = self.pool().symbol(time);
                let dimension = self.dimension_of_time(scope);
                Target::Value(Value::scalar(e).measured(dimension, None))
            }
            "pi" => {
                let e = self.pool().number(std::f64::consts::PI);
                Target::Value(Value::scalar(e).measured(Some(Dimension::ONE), None))
            }
            "g0" => {
                let e = self.pool().number(STANDARD_GRAVITY);
                let dimension = Dimension::si(0, 1, -2, 0);
                Target::Value(Value::scalar(e).measured(Some(dimension), None))
            }
            "system" => Target::System,
            _ => return None,
        })
    }

    /// Finds `name` or `name[i]` among the names of a part.
    pub(super) fn part_name(
        &mut self,
        parent: paynter_symbolic::PathId,
        name: &ast::Ident,
        index: &[ast::Expr],
        ctx: Ctx<'_>,
    ) -> Result<Option<Target>, Stop> {
        let text = &*name.text;
        let whole = self.graph.signals.names.find(parent, text, None);
        if let Some(path) = whole {
            // Of a vector `k` and elements `k[i]`, chains and dots mean the elements.
            let is_element = ctx.means_part && !index.is_empty();
            if !is_element || !matches!(self.tables.entity(path), Entity::Def(_)) {
                let target = self.named_target(path, name, ctx)?;
                if let Some(target) = target {
                    return self.index(target, index, ctx).map(Some);
                }
            }
        }

        if index.is_empty() {
            return Ok(None);
        }
        let mut numbers = Vec::with_capacity(index.len());
        for i in index {
            match self.whole_number(i, ctx.of_value()) {
                Some(n) => numbers.push(n),
                None => return Err(Stop::Reported),
            }
        }

        let names = &self.graph.signals.names;
        let path = match numbers.as_slice() {
            [i] => names.find(parent, text, Some(*i)),
            [i, j] => names.find(parent, &format!("{text}[{i}]"), Some(*j)),
            _ => None,
        };
        if let Some(path) = path
            && let Some(target) = self.named_target(path, name, ctx)?
        {
            return Ok(Some(target));
        }
        if let Some(path) = whole
            && let Some(target) = self.named_target(path, name, ctx)?
        {
            return self.index(target, index, ctx).map(Some);
        }
        if let Some((first, last)) = self.array_range(parent, text) {
            let span = name.span;
            let shown: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            report!(self, code::BAD_INDEX, span, "there is no `{text}[{}]`", shown.join(",");
                "`{text}` goes from {first} to {last}");
            return Err(Stop::Reported);
        }
        Ok(None)
    }

    /// Gives what a path names, if anything: of a value and a part of one name, the one that is meant.
    fn named_target(
        &mut self,
        path: paynter_symbolic::PathId,
        name: &ast::Ident,
        ctx: Ctx<'_>,
    ) -> Result<Option<Target>, Stop> {
        let is_broken = self.excused.paths.contains(&path);
        let entity = match ctx.means_part {
            true => self.tables.entity(path),
            false => self.tables.value_entity(path),
        };
        let is_value = matches!(entity, Entity::Def(_));
        match entity {
            Entity::Nothing if !is_broken => Ok(None),
            Entity::Nothing => Err(Stop::Reported),
            _ if is_broken && is_value && ctx.means_part => Err(Stop::Reported),
            _ => self.entity_target(entity, name).map(Some),
        }
    }

    /// Tells from where to where the array of that name goes, if there is one.
    fn array_range(&self, parent: paynter_symbolic::PathId, name: &str) -> Option<(i64, i64)> {
        let names = &self.graph.signals.names;
        let is_there = |i: i64| {
            let path = names.find(parent, name, Some(i));
            path.is_some_and(|p| self.tables.entity(p) != Entity::Nothing)
        };
        let first = [1, 0].into_iter().find(|&i| is_there(i))?;
        let mut last = first;
        while is_there(last + 1) {
            last += 1;
        }
        let first = if first == 1 && is_there(0) { 0 } else { first };
        Some((first, last))
    }

    /// Says that an array was named where one of its members is meant.
    fn report_array(&mut self, name: &ast::Ident, (first, last): (i64, i64)) {
        let (span, text) = (name.span, &name.text);
        let help = match first == last {
            true => format!("write `{text}[{first}]`"),
            false => format!("write one of `{text}[{first}]` to `{text}[{last}]`"),
        };
        report!(self, code::BAD_INDEX, span, "`{text}` is an array";
            "which of them is meant?";
            help: "{help}");
    }

    pub(super) fn entity_target(
        &mut self,
        entity: Entity,
        name: &ast::Ident,
    ) -> Result<Target, Stop> {
        Ok(match entity {
            Entity::Nothing => return Err(Stop::Reported),
            Entity::Def(def) => Target::Value(self.read_def(def)?),
            Entity::Thing(thing) => Target::Thing {
                thing,
                component: None,
            },
            Entity::Instance(instance) => Target::Instance(instance),
            Entity::Port(port) => Target::Port(port),
            Entity::Bond(bond) => Target::Bond(bond),
            Entity::Event(_) => {
                let span = name.span;
                report!(self, code::NOT_READABLE, span, "`{}` is the name of an event", name.text; "has no value");
                return Err(Stop::Reported);
            }
            Entity::Outer(outer) => Target::Instance(self.outer(outer)?),
        })
    }

    /// The line that makes a part; for one inside of a library part, the line of the user that makes that.
    pub(super) fn line_of_user(&self, instance: InstanceId) -> Span {
        let around = |id: &InstanceId| self.tables.instances[id.at()].parent;
        let parts = || std::iter::successors(Some(instance), around);
        let spans = || parts().map(|id| &self.tables.instances[id.at()]);
        let outermost = spans().find(|part| part.depth <= 1);
        let file = outermost.map(|part| part.span.file);
        let own = self.tables.instances[instance.at()].span;
        let in_file = spans().map(|part| part.span).find(|s| Some(s.file) == file);
        in_file.unwrap_or(own)
    }

    /// Finds the enclosing part that an `outer` means.
    pub(super) fn outer(&mut self, outer: u32) -> Result<InstanceId, Stop> {
        let (instance, name, scope, path) = {
            let o = &self.tables.outers[outer as usize];
            (o.instance, o.name, o.scope, o.path)
        };
        let mut at = self.tables.instances[instance.at()].parent;
        while let Some(id) = at {
            let around = &self.tables.instances[id.at()];
            let found = self.graph.signals.names.find(around.path, &name.text, None);
            match found.map(|path| self.tables.entity(path)) {
                Some(Entity::Instance(part)) => {
                    let file = self.tables.scopes[scope.at()].file;
                    let Some((promise, _)) = self.find_model(path, file) else {
                        return Err(Stop::Reported);
                    };
                    let part_data = &self.tables.instances[part.at()];
                    if part_data.lineage.has(promise) {
                        return Ok(part);
                    }
                    let (own, at_part) = (part_data.model, part_data.span);
                    let span = name.span;
                    report!(self, code::NO_OUTER, span, "the enclosing `{}` is not a `{}`", name.text, promise.name.text;
                        "looked for here";
                        beside at_part => "this one is made of `{}`", own.name.text);
                    return Err(Stop::Reported);
                }
                _ => at = around.parent,
            }
        }

        // A part checked alone may get it from a model around it that this file does not show.
        let is_whole = self.asked.is_whole && self.tables.instances[instance.at()].parent.is_some();
        if !self.asked.is_lenient || is_whole {
            let span = name.span;
            let model = path.segments.last().map_or("", |s| &*s.text);
            let user = self.line_of_user(instance);
            self.report.add(code::NO_OUTER, span, || {
                let message = Diagnostic::error(
                    code::NO_OUTER,
                    format!("no enclosing part is called `{}`", name.text),
                );
                let message = match user.file == span.file {
                    true => message.primary(span, "looked for in the parts around"),
                    false => message
                        .primary(user, format!("this part needs a `{model}` around it"))
                        .secondary(span, "looked for in the parts around"),
                };
                message.help(format!(
                    "add `{}: {model}()` to the model that holds this part",
                    name.text
                ))
            });
        }
        Err(Stop::Reported)
    }

    /// Looks for every enclosing part that an `outer` asks for, read or not.
    pub(super) fn check_outers(&mut self) {
        for outer in 0..self.tables.outers.len() as u32 {
            let (scope, path) = {
                let o = &self.tables.outers[outer as usize];
                (o.scope, o.path)
            };
            let file = self.tables.scopes[scope.at()].file;
            if self.find_model(path, file).is_some() {
                // What is wrong with it was reported; nothing waits for the answer here.
                let _ = self.outer(outer);
            }
        }
    }

    pub(super) fn report_unknown(&mut self, name: &ast::Ident, scope: Scope<'a>) {
        if scope
            .instance
            .is_some_and(|i| self.excused.incomplete_parts.contains(&i))
        {
            return;
        }
        let parent = scope.instance.map(|i| self.tables.instances[i.at()].path);
        if let Some(range) = parent.and_then(|parent| self.array_range(parent, &name.text)) {
            self.report_array(name, range);
            return;
        }
        let span = name.span;

        // A name that is missing is missing wherever it is read: once for a model is enough.
        let model = scope.instance.map_or_else(Span::default, |i| {
            self.tables.instances[i.at()].model.name.span
        });
        if !self.told.unknown_names.insert((model, name.text.clone())) {
            self.report.is_silent = true;
            return;
        }
        let mut candidates: Vec<String> = Vec::new();

        // Where this much is wrong, one cause is behind it all, and no slip of the finger.
        let is_slip = self.told.unknown_names.len() <= MAX_SLIPS;
        if let Some(instance) = scope.instance.filter(|_| is_slip) {
            candidates.extend(self.tables.names_in(instance));
        }
        candidates.extend(
            self.texts.files[scope.file as usize]
                .names
                .keys()
                .map(|n| (*n).to_owned()),
        );

        candidates.extend(["time", "pi", "g0", "system"].map(str::to_owned));
        candidates.sort_unstable();
        let is_later = scope
            .instance
            .is_some_and(|i| self.tables.always_makes(i, &name.text));
        self.report.add(code::UNKNOWN_NAME, span, || {
            let message = Diagnostic::error(
                code::UNKNOWN_NAME,
                format!("nothing is called `{}`", name.text),
            )
            .primary(span, "unknown name");
            with_hint(message, &name.text, candidates, is_later)
        });
    }

    /// Reads `target.name[index]`.
    pub(super) fn field(
        &mut self,
        target: Target,
        name: &ast::Ident,
        index: &[ast::Expr],
        ctx: Ctx<'_>,
    ) -> Result<Target, Stop> {
        let found = match target {
            Target::Instance(instance) => {
                let parent = self.tables.instances[instance.at()].path;
                return match self.part_name(parent, name, index, ctx)? {
                    Some(found) => Ok(found),
                    None => {
                        self.report_unknown_in(instance, name);
                        Err(Stop::Reported)
                    }
                };
            }
            Target::Value(value) => Target::Value(self.value_field(&value, name)?),
            // `field.p[2]` is `field[2].p`: the ports of an IC have different letters.
            Target::Thing { thing, .. } if self.tables.is_mixed_state(thing, name, index) => {
                let port = self.index(target, index, ctx)?;
                return self.field(port, name, &[], ctx);
            }
            Target::Thing { thing, component } => self.thing_field(thing, component, name)?,
            Target::Side { thing, side } => self.side_field(thing, side, name)?,
            Target::Port(port) => self.port_field(port, name)?,
            Target::Member {
                port,
                member,
                component,
            } => self.member_field(port, member, component, name)?,
            Target::Bond(bond) => Target::Value(self.bond_field(bond, name)?),
            Target::System => Target::Value(self.system_field(name)?),
        };
        self.index(found, index, ctx)
    }

    pub(super) fn report_unknown_in(&mut self, instance: InstanceId, name: &ast::Ident) {
        if self.excused.incomplete_parts.contains(&instance) {
            return;
        }
        if let Some(range) = self.array_range(self.tables.instances[instance.at()].path, &name.text)
        {
            self.report_array(name, range);
            return;
        }
        let (span, model) = (name.span, self.tables.instances[instance.at()].model);
        let candidates = self.tables.names_in(instance);
        let is_later = self.tables.always_makes(instance, &name.text);
        self.report.add(code::UNKNOWN_NAME, span, || {
            let message = Diagnostic::error(
                code::UNKNOWN_NAME,
                format!("`{}` has nothing called `{}`", model.name.text, name.text),
            )
            .primary(span, "unknown name")
            .secondary(model.name.span, "looked for in this model");
            with_hint(message, &name.text, candidates, is_later)
        });
    }

    pub(super) fn value_field(&mut self, value: &Value, name: &ast::Ident) -> Lowered {
        if let ValueKind::Results(results) = &value.kind {
            if let Some((_, found)) = results.iter().find(|(n, _)| *n == name.text) {
                return Ok(found.clone());
            }
            let names: Vec<String> = results.iter().map(|(n, _)| n.to_string()).collect();
            let span = name.span;
            report!(self, code::UNKNOWN_NAME, span, "no result is called `{}`", name.text;
                "unknown result";
                help: "the function gives `{}`", names.join("`, `"));
            return Err(Stop::Reported);
        }
        if let Some(k) = letter_component(&name.text)
            && let Shape::Vector(n) = value.shape
            && k < n
        {
            return Ok(value.clone().entry(k as usize));
        }
        let (span, what) = (name.span, value.describe());
        report!(self, code::NOT_READABLE, span, "there is no `.{}` here", name.text; "this is read from {what}");
        Err(Stop::Reported)
    }

    /// Reads `target[index]`.
    pub(super) fn index(
        &mut self,
        target: Target,
        index: &[ast::Expr],
        ctx: Ctx<'_>,
    ) -> Result<Target, Stop> {
        let [first, ..] = index else {
            return Ok(target);
        };
        let at = first.span;
        let mut numbers = Vec::with_capacity(index.len());
        for i in index {
            let n = self.whole_number(i, ctx.of_value());
            numbers.push(n.ok_or(Stop::Reported)?);
        }

        match target {
            Target::Value(value) => self.entry_of(value, &numbers, at).map(Target::Value),
            Target::Thing {
                thing,
                component: None,
            } => {
                let size = self.tables.things[thing.at()].size;
                let component = Some(self.component(&numbers, size, at)?);
                Ok(Target::Thing { thing, component })
            }
            Target::Member {
                port,
                member,
                component: None,
            } => {
                let size = match &self.tables.ports[port.at()].members {
                    Some(members) => match members[member as usize].what {
                        MemberKind::Power { size, .. } => size,
                        MemberKind::Signal(_) => 1,
                    },
                    None => 1,
                };
                let component = Some(self.component(&numbers, size, at)?);
                Ok(Target::Member {
                    port,
                    member,
                    component,
                })
            }
            Target::Port(port) => match self.follow_port(port)? {
                Some(target) => self.index(target, index, ctx),
                None => {
                    self.report_component(at, 1);
                    Err(Stop::Reported)
                }
            },
            _ => {
                report!(self, code::BAD_INDEX, at, "this has no components"; "cannot be indexed");
                Err(Stop::Reported)
            }
        }
    }

    /// Counts the component of a thing or port from 0.
    fn component(&mut self, numbers: &[i64], size: u32, at: Span) -> Result<u32, Stop> {
        match numbers {
            [i] if (1..=i64::from(size)).contains(i) => Ok((*i - 1) as u32),
            _ => {
                self.report_component(at, size);
                Err(Stop::Reported)
            }
        }
    }

    /// Reads an entry of a vector or matrix.
    fn entry_of(&mut self, value: Value, numbers: &[i64], at: Span) -> Result<Value, Stop> {
        let (rows, columns) = value.shape.rows_columns();
        let n = i64::from(rows) * i64::from(columns);
        let place = match (value.shape, numbers) {
            (Shape::Vector(_), [i]) => inside(*i, n),
            // One index runs along a matrix that is a single row or column.
            (Shape::Matrix(1, _) | Shape::Matrix(_, 1), [i]) => inside(*i, n),
            (Shape::Matrix(..), [i, j]) => inside(*i, i64::from(rows))
                .zip(inside(*j, i64::from(columns)))
                .map(|(i, j)| i * columns as usize + j),
            _ => None,
        };
        match place {
            Some(place) if value.is_numeric() => Ok(value.entry(place)),
            _ => {
                let what = value.describe();
                let shown: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                report!(self, code::BAD_INDEX, at, "there is no entry [{}]", shown.join(","); "this is an index into {what}");
                Err(Stop::Reported)
            }
        }
    }

    pub(super) fn report_component(&mut self, span: Span, size: u32) {
        self.report.add(code::BAD_INDEX, span, || {
            let text = match size {
                0 | 1 => "it has a single component".to_owned(),
                n => format!("components go from 1 to {n}"),
            };
            Diagnostic::error(code::BAD_INDEX, "there is no such component").primary(span, text)
        });
    }

    /// Gives the value that a dotted name stands for in an expression.
    pub(super) fn value_of(&mut self, target: Target, span: Span) -> Lowered {
        let (what, help) = match target {
            Target::Value(value) => return Ok(value),
            Target::Instance(_) => ("a part", "read one of its outputs or parts: `part.name`"),
            Target::Thing { thing, .. } => match self.tables.things[thing.at()].kind.letters() {
                "0" => ("a 0-junction", "its effort is `.e`"),
                "1" => ("a 1-junction", "its flow is `.f`"),
                "TF" | "GY" | "RS" => ("a two-port", "read `.in.e`, `.out.f` and so on"),
                _ => ("an element", "read `.e`, `.f` or `.power`"),
            },
            Target::Side { .. } => ("a side of a two-port", "read its `.e` or `.f`"),
            Target::Port(_) | Target::Member { .. } => ("a port", "read its `.e` or `.f`"),
            Target::Bond(_) => ("a bond", "read its `.e`, `.f`, `.power` or `.energy`"),
            Target::System => ("the whole model", "read `system.energy` and so on"),
        };
        report!(self, code::NOT_READABLE, span, "{what} is not a value"; "a value is needed here"; help: "{help}");
        Err(Stop::Reported)
    }
}

/// Unknown names for which a likely one is looked for, among all names.
const MAX_SLIPS: usize = 200;

/// Adds what was meant instead of a name that does not exist, if that can be guessed.
/// `is_later` says that it will exist, but not before sizes and conditions are known.
fn with_hint(
    message: Diagnostic,
    name: &str,
    candidates: Vec<String>,
    is_later: bool,
) -> Diagnostic {
    if is_later {
        return message.help(format!(
            "`{name}` is made after sizes are known: sizes, `for` and `if {{ }}` may read parameters only"
        ));
    }
    if candidates.iter().any(|c| c == name) {
        return message.help(format!(
            "`{name}` is made inside an `if` or `for` that does not apply here"
        ));
    }
    let is_kind = ElementKind::called(name).is_some();
    match nearest(name, candidates) {
        _ if matches!(name, "t" | "Time" | "TIME") => message.help("the time is called `time`"),
        _ if name == "Pi" || name == "PI" => message.help("write `pi`"),
        _ if is_kind => message.help(format!(
            "`{name}` is a kind of element; one of them is made by `name: {name}(value)`"
        )),
        Some(near) => message.help(format!("did you mean `{near}`?")),
        None => message,
    }
}

fn inside(i: i64, n: i64) -> Option<usize> {
    (1..=n).contains(&i).then(|| (i - 1) as usize)
}
