//! Last pass: everything is lowered, and the graph is made.
//!
//! In:  things with their bonds, definitions, and what the text demands of the start.
//! Out: the elements of the graph and everything in its `signals`.
//!
//! **Invariant:** every error of the model has been reported when this ends; a graph made without
//! errors keeps the promises of [`crate::graph`].

use paynter_symbolic::dae::{Action, Clock, Invariant, Start, When};
use paynter_symbolic::{Equation, ExprId, PathId, Role, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};

use super::data::*;
use super::lower::{Ctx, Target, UnitAt};
use super::value::{Shape, Value, ValueKind};
use super::{Elaborator, code};
use crate::graph::Output;
use crate::units::{Dimension, Unit};

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

impl<'a> Elaborator<'a> {
    /// Gives values to inputs of parts: `ctrl.cmd = …`.
    pub(super) fn bind_remote(&mut self) {
        for (scope, define) in std::mem::take(&mut self.pending.remote_defines) {
            self.bind_one(scope, define);
        }
    }

    fn bind_one(&mut self, scope: ScopeId, define: &'a ast::Define) {
        let parts = &define.target.parts;
        let Some(instance) = self.tables.scopes[scope.at()].instance else {
            return;
        };
        let mut at = instance;
        let n = parts.len();
        for part in &parts[..n - 1] {
            let parent = self.tables.instances[at.at()].path;
            let Some(path) = self.indexed_path(parent, scope, &part.name.text, &part.index) else {
                return;
            };
            match self.tables.entity(path) {
                Entity::Instance(part) => at = part,
                _ if self.excused.paths.contains(&path)
                    || self.excused.incomplete_parts.contains(&at) =>
                {
                    return;
                }
                _ => {
                    self.report_no_part(&part.name, at);
                    return;
                }
            }
        }

        let last = &parts[n - 1];
        let parent = self.tables.instances[at.at()].path;
        let Some(path) = self.indexed_path(parent, scope, &last.name.text, &last.index) else {
            return;
        };
        let span = define.target.span;
        match self.tables.value_entity(path) {
            Entity::Def(def)
                if self.tables.defs[def.at()].kind == DefKind::Input && !define.is_derivative =>
            {
                let d = &mut self.tables.defs[def.at()];
                let default = d.decl.and_then(|decl| decl.value.as_ref());
                let is_default = d
                    .value
                    .is_none_or(|(v, _)| default.is_some_and(|d| std::ptr::eq(d, v)));
                if is_default {
                    d.value = Some((&define.value, scope));
                    return;
                }
                let first = d.value.map_or(span, |(v, _)| v.span);
                report!(self, code::DUPLICATE_NAME, span, "the input `{}` is given twice", last.name.text;
                    "given again";
                    beside first => "first here");
            }
            _ => {
                let model = self.tables.instances[at.at()].model;
                report!(self, code::NOT_SETTABLE, span, "`{}` is not an input of `{}`", last.name.text, model.name.text;
                    "only inputs of a part can be given a signal");
            }
        }
    }

    /// Reports a name that no part of an instance has.
    fn report_no_part(&mut self, name: &ast::Ident, at: InstanceId) {
        let span = name.span;
        let near = crate::suggest::nearest(&name.text, self.tables.names_in(at));
        self.report.add(code::UNKNOWN_NAME, span, || {
            let message = Diagnostic::error(
                code::UNKNOWN_NAME,
                format!("no part is called `{}`", name.text),
            )
            .primary(span, "unknown part");
            match near {
                Some(near) => message.help(format!("did you mean `{near}`?")),
                None => message,
            }
        });
    }

    /// Lowers all that remains and makes the graph.
    pub(super) fn finish(&mut self) {
        for at in 0..self.tables.defs.len() {
            self.settle(DefId(at as u32));
        }
        self.state_equations();
        self.solve_blocks();
        self.sampled_blocks();
        self.events();
        self.lower_invariants();
        self.lower_starts();
        self.lower_outputs();
        self.expand_matrices();
        self.make_elements();
        if !self.excused.lacks_elements {
            self.define_quantities();
        }
        self.lower_layout();
        self.graph.domains = self.texts.domains.to_graph();
    }

    fn lowered(&mut self, e: &ast::Expr, scope: ScopeId) -> Option<Value> {
        self.lower_or_report(e, Ctx::of(scope))
    }

    fn state_equations(&mut self) {
        for at in 0..self.tables.defs.len() {
            if self.tables.defs[at].kind != DefKind::State {
                continue;
            }
            let Some((expr, scope)) = self.tables.defs[at].value else {
                continue;
            };
            let Some(own) = self.tables.def_value(DefId(at as u32)) else {
                continue;
            };
            let Some(rate) = self.lowered(expr, scope) else {
                continue;
            };
            let span = self.tables.defs[at].span;
            if !self.fits(&own, &rate, span, expr.span) {
                continue;
            }
            match (own.dimension, rate.dimension) {
                (Some(own), Some(found)) => {
                    let wanted = own.per(Dimension::TIME);
                    if wanted != found {
                        let implied = UnitAt::implied(wanted, span);
                        self.report_units(implied, rate.unit_at(found, expr.span));
                    }
                }
                (None, Some(found)) => {
                    let learned = found.times(Dimension::TIME);
                    self.units.learned.insert(DefId(at as u32), learned);
                }
                _ => {}
            }
            let origin = self.origin(span);
            for (&x, &right) in own.elements.iter().zip(&rate.elements) {
                let Some(x) = self.graph.signals.pool.as_symbol(x) else {
                    continue;
                };
                let d = self.derivative_symbol(x);
                let left = self.pool().symbol(d);
                let equation = Equation {
                    left,
                    right,
                    solves: Some(d),
                    origin,
                };
                self.graph.signals.equations.push(equation);
            }
        }
    }

    fn fits(&mut self, own: &Value, value: &Value, own_span: Span, span: Span) -> bool {
        if value.is_numeric() && own.shape.rows_columns() == value.shape.rows_columns() {
            return true;
        }
        let (a, b) = (own.describe(), value.describe());
        report!(self, code::SHAPES, span, "shapes do not agree";
            "this is {b}";
            beside own_span => "this is {a}";
            help: "a `start` or `guess` value tells the shape of a state: `start Q = [1, 0, 0, 0]`");
        false
    }

    fn solve_blocks(&mut self) {
        for block in std::mem::take(&mut self.pending.solves) {
            let origin = self.origin(block.span);
            let n_unknowns = block.sought.len();
            let mut n_equations = 0;
            let mut is_complete = true;
            for demand in block.equations {
                let (Some(left), Some(right)) = (
                    self.lowered(&demand.left, block.scope),
                    self.lowered(&demand.right, block.scope),
                ) else {
                    is_complete = false;
                    continue;
                };
                let (l, r) = (demand.left.span, demand.right.span);
                if self.need_same_shape(&left, &right, l, r).is_err() {
                    is_complete = false;
                    continue;
                }
                self.agree(&left, &right, l, r);
                for (side, dimension) in [
                    (&demand.left, right.dimension.or(left.dimension)),
                    (&demand.right, left.dimension.or(right.dimension)),
                ] {
                    if let Some(dimension) = dimension {
                        self.learn_inside(side, dimension, block.scope, &block.sought);
                    }
                }
                for (&left, &right) in left.elements.iter().zip(&right.elements) {
                    n_equations += 1;
                    self.graph.signals.equations.push(Equation {
                        left,
                        right,
                        solves: None,
                        origin,
                    });
                }
            }
            if is_complete && n_equations != n_unknowns {
                let span = block.span;
                report!(self, code::UNSOLVABLE, span, "{n_unknowns} unknown{} and {n_equations} equation{}", plural(n_unknowns), plural(n_equations);
                    "a `solve` block needs as many equations as unknowns");
            }
        }
    }

    fn sampled_blocks(&mut self) {
        for block in std::mem::take(&mut self.pending.clocks) {
            let rate = self.rate(block.rate, block.scope);
            let mut equations = Vec::new();
            for def in block.defs {
                let Some((expr, scope)) = self.tables.defs[def.at()].value else {
                    continue;
                };
                let Some(own) = self.tables.def_value(def) else {
                    continue;
                };
                let Some(value) = self.lowered(expr, scope) else {
                    continue;
                };
                let span = self.tables.defs[def.at()].span;
                if !self.fits(&own, &value, span, expr.span) {
                    continue;
                }
                self.agree(&own, &value, span, expr.span);
                self.units.learn(def, &own, &value);
                for (&x, &value) in own.elements.iter().zip(&value.elements) {
                    if let Some(x) = self.graph.signals.pool.as_symbol(x) {
                        equations.push((x, value));
                    }
                }
            }
            self.check_sample_circle(&equations, block.span);
            if let Some(rate) = rate {
                let origin = self.origin(block.span);
                self.graph.signals.clocks.push(Clock {
                    rate,
                    equations,
                    origin,
                });
            }
        }
    }

    /// Within one tick, values may not wait for each other.
    fn check_sample_circle(&mut self, equations: &[(SymbolId, ExprId)], span: Span) {
        let position: rustc_hash::FxHashMap<SymbolId, usize> = equations
            .iter()
            .enumerate()
            .map(|(k, (s, _))| (*s, k))
            .collect();

        let pool = &self.graph.signals.pool;
        let reads: Vec<Vec<usize>> = equations
            .iter()
            .map(|(_, e)| {
                paynter_symbolic::walk::symbols_of(pool, *e)
                    .into_iter()
                    .filter_map(|s| position.get(&s).copied())
                    .collect()
            })
            .collect();

        // Take away what depends on nothing left, again and again; a cycle remains.
        let mut n_reads: Vec<usize> = reads.iter().map(Vec::len).collect();
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); equations.len()];
        for (k, list) in reads.iter().enumerate() {
            for &r in list {
                readers[r].push(k);
            }
        }

        let mut ready: Vec<usize> = (0..equations.len()).filter(|&k| n_reads[k] == 0).collect();
        let mut n_done = 0;
        while let Some(k) = ready.pop() {
            n_done += 1;
            for &r in &readers[k] {
                n_reads[r] -= 1;
                if n_reads[r] == 0 {
                    ready.push(r);
                }
            }
        }

        if n_done == equations.len() {
            return;
        }

        // What only reads the cycle is not part of it: it goes, until everything left is read by the rest.
        let mut is_left: Vec<bool> = n_reads.iter().map(|&n| n > 0).collect();
        while let Some(k) = (0..equations.len())
            .find(|&k| is_left[k] && !readers[k].iter().any(|&reader| is_left[reader]))
        {
            is_left[k] = false;
        }
        let names: Vec<String> = (0..equations.len())
            .filter(|&k| is_left[k])
            .map(|k| format!("`{}`", self.graph.signals.name_of(equations[k].0)))
            .collect();

        report!(self, code::SIGNAL_CYCLE, span, "sampled values depend on each other in a cycle";
            "in this block";
            fact: "the cycle runs through {}", names.join(", ");
            help: "read the value of the last tick somewhere: `pre(x)`");
    }

    /// Evaluates a sample rate to an exact fraction.
    fn rate(&mut self, rate: &'a ast::Expr, scope: ScopeId) -> Option<(u64, u64)> {
        let value = self.lowered(rate, scope)?;
        let span = rate.span;
        if let ast::ExprKind::Binary {
            op: ast::BinaryOp::Div,
            right,
            ..
        } = &rate.kind
            && let ast::ExprKind::Number {
                value: period,
                unit: Some(unit),
            } = &right.kind
            && let Some(unit) = self.unit(unit)
            && unit.dimension == Dimension::TIME
        {
            // 1/6000 [s] is 1/(6000 s), a rate in Hz, and never what is meant.
            let period = *period;
            let written = self.project.sources.text(right.span).trim();
            let number = written.split('[').next().unwrap_or(written).trim();
            let unit = unit.text.clone();
            // Nobody samples every 6000 s, and nobody at 0.3 Hz by way of a fraction.
            let help = match period >= 1.0 {
                true => format!("write `sample at {number} [Hz]`"),
                false => format!(
                    "for a tick every {number} {unit} write `sample at 1/{number}*1 [1/{unit}]`"
                ),
            };
            report!(self, code::UNIT_MISMATCH, span, "this is a tick every {number} {unit}, since the unit belongs to the {number}";
                "a rate is written in Hz";
                help: "{help}");
            return None;
        }

        if let Some(d) = value.dimension
            && d != Dimension::FREQUENCY
        {
            self.report_rate_unit(d, span);
            return None;
        }

        let x = self.number_of(rate, Ctx::of(scope))?;
        match fraction(x) {
            Some(rate) => Some(rate),
            None => {
                report!(self, code::OUT_OF_RANGE, span, "{x} Hz is not a usable sample rate";
                    "must be positive, and a fraction of whole numbers");
                None
            }
        }
    }

    /// Reports a sample rate in something else than Hz.
    fn report_rate_unit(&mut self, d: Dimension, span: Span) {
        let text = self.project.sources.text(span);
        self.report.add(code::UNIT_MISMATCH, span, || {
            let what = match d.is_one() {
                true => "a plain number".to_owned(),
                false => format!("in {}", d.describe()),
            };
            Diagnostic::error(
                code::UNIT_MISMATCH,
                format!("a sample rate is in Hz, not {what}"),
            )
            .primary(span, format!("this is {what}"))
            .help(match d == Dimension::TIME {
                true => {
                    "write the rate, not the time between ticks: `sample at 6000 [Hz]`".to_owned()
                }
                false if d.is_one() => format!("write `{text} [Hz]`"),
                false => "write a rate, such as `sample at 6000 [Hz]`".to_owned(),
            })
        });
    }

    fn events(&mut self) {
        for event in std::mem::take(&mut self.pending.whens) {
            let origin = self.origin(event.span);
            let Some(condition) = self.lowered(event.condition, event.scope) else {
                continue;
            };
            let span = event.condition.span;
            if condition.kind != ValueKind::Truth {
                let what = condition.describe();
                report!(self, code::WRONG_TYPE, span, "`when` needs a condition";
                    "this is {what}";
                    help: "compare: `when x > limit {{ … }}`");
                continue;
            }
            let Some(condition) = condition.as_scalar() else {
                continue;
            };
            let mut actions = Vec::new();
            let mut defs = event.defs.iter();
            let mut reinits: Vec<&ast::Ref> = Vec::new();
            for action in event.actions {
                if let ast::Action::Reinit(assign) = action {
                    let text = |r: &ast::Ref| self.project.sources.text(r.span);
                    let own = text(&assign.target);
                    if let Some(first) = reinits.iter().find(|r| text(r) == own) {
                        self.report_set_twice(&assign.target, first.span);
                        continue;
                    }
                    reinits.push(&assign.target);
                }
                match action {
                    ast::Action::Stop { message, .. } => {
                        let message = message.clone().unwrap_or_default();
                        actions.push(Action::Stop { message });
                    }
                    ast::Action::Define(_) => {
                        let Some(&(def, expr)) = defs.next() else {
                            continue;
                        };
                        self.assign(def, expr, event.scope, &mut actions);
                    }
                    ast::Action::Reinit(assign) => self.reinit(assign, event.scope, &mut actions),
                }
            }
            let name = event.path;
            self.graph.signals.whens.push(When {
                name,
                condition,
                actions,
                origin,
            });
        }
    }

    /// An assignment inside a `when`, entry by entry.
    fn assign(
        &mut self,
        def: DefId,
        expr: &'a ast::Expr,
        scope: ScopeId,
        actions: &mut Vec<Action>,
    ) {
        let Some(own) = self.tables.def_value(def) else {
            return;
        };
        let Some(value) = self.lowered(expr, scope) else {
            return;
        };
        let span = self.tables.defs[def.at()].span;
        let origin = self.origin(expr.span);
        if !self.fits(&own, &value, span, expr.span) {
            return;
        }
        self.agree(&own, &value, span, expr.span);
        self.units.learn(def, &own, &value);
        for (&x, &value) in own.elements.iter().zip(&value.elements) {
            if let Some(target) = self.graph.signals.pool.as_symbol(x) {
                actions.push(Action::Assign {
                    target,
                    value,
                    origin,
                });
            }
        }
    }

    fn reinit(&mut self, assign: &'a ast::Assign, scope: ScopeId, actions: &mut Vec<Action>) {
        let Some((target, value)) = self.assigned(assign, scope) else {
            return;
        };
        let origin = self.origin(assign.span);
        for (&x, &value) in target.elements.iter().zip(&value.elements) {
            let symbol = self.graph.signals.pool.as_symbol(x);
            let role = symbol.map(|s| self.graph.signals.symbol(s).role);
            match (symbol, role) {
                (Some(target), Some(Role::Unknown)) => {
                    actions.push(Action::Reinit {
                        target,
                        value,
                        origin,
                    });
                }
                _ => {
                    let span = assign.target.span;
                    report!(self, code::NOT_SETTABLE, span, "`reinit` sets a continuous quantity";
                        "this is not one";
                        help: "a parameter is fixed; a discrete value is set by `name = …`");
                }
            }
        }
    }

    /// Lowers both sides of `target = value`.
    fn assigned(&mut self, assign: &'a ast::Assign, scope: ScopeId) -> Option<(Value, Value)> {
        let target = loop {
            match self.ref_target(&assign.target, Ctx::of(scope)) {
                Ok(target) => break target,
                Err(super::lower::Stop::Reported) => return None,
                Err(super::lower::Stop::Blocked(def)) => self.settle(def),
            }
        };
        let Target::Value(target) = target else {
            let span = assign.target.span;
            report!(self, code::NOT_SETTABLE, span, "this is not a quantity";
                "name a quantity of it";
                help: "write its effort, flow or state, such as `c1.e`, `mesh.f`, `mass.p`");
            return None;
        };
        let value = self.lowered(&assign.value, scope)?;
        let (a, b) = (assign.target.span, assign.value.span);
        // One number may start every component.
        let value = match (target.shape, value.as_scalar()) {
            (Shape::Scalar, _) | (_, None) => value,
            (shape, Some(e)) => Value {
                shape,
                elements: vec![e; shape.len()],
                ..value
            },
        };
        self.need_same_shape(&target, &value, a, b).ok()?;
        self.agree(&target, &value, a, b);
        Some((target, value))
    }

    fn lower_invariants(&mut self) {
        for (scope, demand) in std::mem::take(&mut self.pending.invariants) {
            let (Some(left), Some(right)) = (
                self.lowered(&demand.left, scope),
                self.lowered(&demand.right, scope),
            ) else {
                continue;
            };
            let (l, r) = (demand.left.span, demand.right.span);
            if self.need_same_shape(&left, &right, l, r).is_err() {
                continue;
            }
            self.agree(&left, &right, l, r);
            let origin = self.origin(demand.span);
            for (&a, &b) in left.elements.iter().zip(&right.elements) {
                let residual = self.pool().sub(a, b);
                self.graph
                    .signals
                    .invariants
                    .push(Invariant { residual, origin });
            }
        }
    }

    fn lower_starts(&mut self) {
        // Demands of the experiment come last and replace those of the model on the same quantity. A guess of the
        // surrounding model replaces what a part has for a default: who uses a part knows where it is.
        let mut position: rustc_hash::FxHashMap<(ExprId, bool), (usize, usize)> =
            Default::default();
        for (scope, assign, is_guess) in std::mem::take(&mut self.pending.starts) {
            let Some((target, value)) = self.assigned(assign, scope) else {
                continue;
            };
            let origin = self.origin(assign.span);
            let is_from_experiment = Some(scope) == self.asked.experiment_scope;
            let depth = self.depth_of(scope);
            for (&target, &value) in target.elements.iter().zip(&value.elements) {
                if let Some(symbol) = self.graph.signals.pool.as_symbol(target) {
                    match self.graph.signals.symbol(symbol).role {
                        Role::Discrete { .. } => {
                            self.start_discrete(symbol, value, assign.value.span);
                            continue;
                        }
                        Role::Parameter { .. } | Role::Time => {
                            let span = assign.target.span;
                            report!(self, code::NOT_SETTABLE, span, "this does not vary, so it has no start";
                                "fixed during a run");
                            continue;
                        }
                        _ => {}
                    }
                }
                let start = Start {
                    target,
                    value,
                    is_guess,
                    origin,
                };
                self.choose_turn(start);
                let starts = &mut self.graph.signals.starts;
                match position.get(&(target, is_guess)) {
                    Some(&(_, given_at)) if is_guess && depth > given_at => {}
                    Some(&(at, _)) if is_from_experiment || is_guess => {
                        position.insert((target, is_guess), (at, depth));
                        starts[at] = start;
                    }
                    _ => {
                        position.insert((target, is_guess), (starts.len(), depth));
                        starts.push(start);
                    }
                }
            }
        }
    }

    /// How deep the part that a scope belongs to lies inside of others.
    fn depth_of(&self, scope: ScopeId) -> usize {
        let instance = self.tables.scopes[scope.at()].instance;
        let path = instance.map(|i| self.tables.instances[i.at()].path);
        std::iter::successors(path, |&p| self.graph.signals.names.parent(p)).count()
    }

    fn start_discrete(&mut self, symbol: SymbolId, value: ExprId, span: Span) {
        match self.fixed.constants.value(&self.graph.signals, value) {
            Some(start) => {
                self.mark_structural(value);
                self.graph.signals.symbols[symbol.0 as usize].role = Role::Discrete { start };
            }
            None => {
                report!(self, code::NOT_CONSTANT, span, "the start of a discrete value must be fixed";
                "reads something that varies")
            }
        }
    }

    fn lower_outputs(&mut self) {
        for def in std::mem::take(&mut self.pending.top_outputs) {
            let Some(value) = self.tables.def_value(def) else {
                continue;
            };
            let path = self.tables.defs[def.at()].path;
            let unit = self.shown_unit(def, value.dimension);
            for (k, &e) in value.elements.iter().enumerate() {
                let name = self.component_path(path, value.shape, k);
                self.graph.outputs.push(Output {
                    name,
                    value: e,
                    unit: unit.clone(),
                });
            }
        }
    }

    /// The unit a named value is shown in: as declared with its name, or with the signal that
    /// it only passes on, or as its domain or the SI has it.
    pub(super) fn shown_unit(&mut self, def: DefId, dimension: Option<Dimension>) -> Option<Unit> {
        // As many names as anyone passes a signal through; a cycle was refused before.
        const MAX_PASSED: usize = 16;
        let mut at = def;
        for _ in 0..MAX_PASSED {
            let d = &self.tables.defs[at.at()];
            let declared = d.decl.and_then(|d| d.unit.as_ref()).or(d.unit);
            let value = d.value;
            let literal = match value.map(|(e, _)| &e.kind) {
                Some(ast::ExprKind::Number { unit, .. } | ast::ExprKind::Matrix { unit, .. }) => {
                    unit.as_ref()
                }
                _ => None,
            };
            if let Some(unit) = declared.or(literal) {
                return self.unit(unit).map(|u| (*u).clone());
            }
            let Some((e, scope)) = value else { break };
            if let ast::ExprKind::Field { name, .. } = &e.kind
                && let Some(dimension) = dimension
                && let Some(unit) = self.texts.domains.unit_of(&name.text, dimension)
            {
                return Some(unit.clone());
            }
            let (ast::ExprKind::Name(name), Some(instance)) =
                (&e.kind, self.tables.scopes[scope.at()].instance)
            else {
                break;
            };
            let parent = self.tables.instances[instance.at()].path;
            let path = self.graph.signals.names.find(parent, &name.text, None);
            match path.map(|p| self.tables.value_entity(p)) {
                Some(Entity::Def(next)) => at = next,
                _ => break,
            }
        }
        dimension.filter(|d| !d.is_one()).map(Dimension::unit)
    }

    fn lower_layout(&mut self) {
        let mut placed: rustc_hash::FxHashMap<PathId, Span> = Default::default();
        for (scope, place) in std::mem::take(&mut self.pending.layouts) {
            let Some(instance) = self.tables.scopes[scope.at()].instance else {
                continue;
            };
            let mut at = self.tables.instances[instance.at()].path;
            let mut is_found = true;
            for part in &place.target.parts {
                let index = match part.index.as_slice() {
                    [] => None,
                    [i] => self.whole_number(i, Ctx::of(scope)),
                    _ => None,
                };
                match self.graph.signals.names.find(at, &part.name.text, index) {
                    Some(next) if self.tables.entity(next) != Entity::Nothing => at = next,
                    _ => {
                        is_found = false;
                        break;
                    }
                }
            }
            if is_found {
                if let Some(first) = placed.insert(at, place.target.span) {
                    self.placed_twice(first, place.target.span);
                }
                self.graph.layout.push((at, place.x, place.y));
            } else if !self.excused.incomplete_parts.contains(&instance) {
                let span = place.target.span;
                let text = self.project.sources.text(span);
                self.report.add(code::STALE_LAYOUT, span, || {
                    Diagnostic::warning(
                        code::STALE_LAYOUT,
                        format!("the layout names `{text}`, which does not exist"),
                    )
                    .primary(span, "nothing of this name")
                    .help("delete this entry")
                });
            }
        }
    }
}

impl Elaborator<'_> {
    fn placed_twice(&mut self, first: Span, second: Span) {
        let text = self.project.sources.text(second);
        self.report.add(code::PLACED_TWICE, second, || {
            Diagnostic::warning(
                code::PLACED_TWICE,
                format!("the layout places `{text}` twice"),
            )
            .primary(second, "this one counts")
            .secondary(first, "placed here before")
            .help("delete one of them")
        });
    }
}

/// Writes a positive number as the fraction that was typed: 6000, 1200, 22.05e3, 1/3.
pub(crate) fn fraction(x: f64) -> Option<(u64, u64)> {
    // Rates are typed with a few digits; a fraction with a larger denominator is a rounding.
    const LARGEST_DENOMINATOR: u64 = 1_000_000;
    // Two roundings of the unit conversion.
    const ROUNDING: f64 = 4.0 * f64::EPSILON;
    if !(x.is_finite() && x > 0.0 && x < 1e12) {
        return None;
    }
    // Continued fractions: each step gives the best fraction of its size.
    let (mut p0, mut q0, mut p1, mut q1) = (0_u64, 1_u64, 1_u64, 0_u64);
    let mut rest = x;
    for _ in 0..64 {
        let whole = rest.floor();
        let a = whole as u64;
        let p2 = a.checked_mul(p1)?.checked_add(p0)?;
        let q2 = a.checked_mul(q1)?.checked_add(q0)?;
        if q2 > LARGEST_DENOMINATOR {
            return None;
        }
        (p0, q0, p1, q1) = (p1, q1, p2, q2);
        if (p1 as f64 / q1 as f64 - x).abs() <= ROUNDING * x {
            return (p1 > 0).then_some((p1, q1));
        }
        rest = 1.0 / (rest - whole);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::fraction;

    #[test]
    fn rates_are_the_fractions_that_were_typed() {
        assert_eq!(fraction(6000.0), Some((6000, 1)));
        assert_eq!(fraction(0.1), Some((1, 10)));
        assert_eq!(fraction(22050.5), Some((44101, 2)));
        assert_eq!(fraction(1.0 / 3.0), Some((1, 3)));
        assert_eq!(fraction(0.0), None);
        assert_eq!(fraction(-1.0), None);
        assert_eq!(fraction(f64::NAN), None);
        assert_eq!(fraction(std::f64::consts::PI), None);
    }
}
