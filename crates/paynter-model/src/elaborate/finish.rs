//! Last pass: everything is lowered, and the graph is made.
//!
//! In:  things with their bonds, definitions, and what the text demands of the start.
//! Out: the elements of the graph and everything in its `signals`.
//!
//! **Invariant:** every error of the model has been told when this ends; a graph made without
//! errors keeps the promises of [`crate::graph`].

use paynter_symbolic::dae::{Action, Clock, Invariant, Start, When};
use paynter_symbolic::{Equation, ExprId, Role, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};

use super::data::*;
use super::law::Laws;
use super::lower::{Ctx, Target};
use super::read::is_two_port;
use super::value::{Shape, Value, ValueKind};
use super::{Elaborator, Quantity, code};
use crate::graph::{
    BondId, Element, ElementId, ElementKind, End, Law, Output, Reading, ReadingKind,
};
use crate::units::Dimension;

impl<'a> Elaborator<'a> {
    /// Gives values to inputs of parts: `ctrl.cmd = …`.
    pub(super) fn bind_remote(&mut self) {
        for (scope, define) in std::mem::take(&mut self.remote_defines) {
            self.bind_one(scope, define);
        }
    }

    fn bind_one(&mut self, scope: ScopeId, define: &'a ast::Define) {
        let parts = &define.target.parts;
        let Some(instance) = self.scopes[scope.at()].instance else {
            return;
        };
        let mut at = instance;
        let n = parts.len();
        for part in &parts[..n - 1] {
            let parent = self.instances[at.at()].path;
            let Some(path) = self.indexed_path(parent, scope, &part.name.text, &part.index) else {
                return;
            };
            match self.entity(path) {
                Entity::Instance(part) => at = part,
                _ if self.broken_paths.contains(&path) || self.incomplete.contains(&at) => return,
                _ => {
                    let span = part.name.span;
                    let near = crate::suggest::nearest(&part.name.text, self.names_in(at));
                    self.report.add(code::UNKNOWN_NAME, span, || {
                        let message = Diagnostic::error(
                            code::UNKNOWN_NAME,
                            format!("no part is called `{}`", part.name.text),
                        )
                        .primary(span, "unknown part");
                        match near {
                            Some(near) => message.help(format!("did you mean `{near}`?")),
                            None => message,
                        }
                    });
                    return;
                }
            }
        }
        let last = &parts[n - 1];
        let parent = self.instances[at.at()].path;
        let Some(path) = self.indexed_path(parent, scope, &last.name.text, &last.index) else {
            return;
        };
        let span = define.target.span;
        match self.entity(path) {
            Entity::Def(def)
                if self.defs[def.at()].kind == DefKind::Input && !define.is_derivative =>
            {
                let d = &mut self.defs[def.at()];
                let default = d.decl.and_then(|decl| decl.value.as_ref());
                let is_default = d
                    .value
                    .is_none_or(|(v, _)| default.is_some_and(|d| std::ptr::eq(d, v)));
                if is_default {
                    d.value = Some((&define.value, scope));
                    return;
                }
                let first = d.value.map_or(span, |(v, _)| v.span);
                self.report.add(code::DUPLICATE_NAME, span, || {
                    Diagnostic::error(
                        code::DUPLICATE_NAME,
                        format!("the input `{}` is given twice", last.name.text),
                    )
                    .primary(span, "given again")
                    .secondary(first, "first here")
                });
            }
            _ => {
                let model = self.instances[at.at()].model;
                self.report.add(code::NOT_SETTABLE, span, || {
                    Diagnostic::error(
                        code::NOT_SETTABLE,
                        format!(
                            "`{}` is not an input of `{}`",
                            last.name.text, model.name.text
                        ),
                    )
                    .primary(span, "only inputs of a part can be given a signal")
                });
            }
        }
    }

    /// Lowers all that remains and makes the graph.
    pub(super) fn finish(&mut self) {
        for at in 0..self.defs.len() {
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
        if !self.is_incomplete {
            self.define_quantities();
        }
        self.lower_layout();
        self.graph.domains = self.domains.to_graph();
    }

    fn lowered(&mut self, e: &ast::Expr, scope: ScopeId) -> Option<Value> {
        self.lower_or_report(e, Ctx::of(scope))
    }

    fn def_value(&self, def: DefId) -> Option<Value> {
        match &self.defs[def.at()].progress {
            Progress::Done(value) => Some(value.clone()),
            _ => None,
        }
    }

    fn state_equations(&mut self) {
        for at in 0..self.defs.len() {
            if self.defs[at].kind != DefKind::State {
                continue;
            }
            let Some((expr, scope)) = self.defs[at].value else {
                continue;
            };
            let Some(own) = self.def_value(DefId(at as u32)) else {
                continue;
            };
            let Some(rate) = self.lowered(expr, scope) else {
                continue;
            };
            let span = self.defs[at].span;
            if !self.fits(&own, &rate, span, expr.span) {
                continue;
            }
            if let (Some(own), Some(found)) = (own.dimension, rate.dimension) {
                let wanted = own.per(Dimension::TIME);
                if wanted != found {
                    self.report_units(wanted, None, span, found, rate.dimension_from, expr.span);
                }
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
        self.report.add(code::SHAPES, span, || {
            Diagnostic::error(code::SHAPES, "shapes do not agree")
                .primary(span, format!("this is {b}"))
                .secondary(own_span, format!("this is {a}"))
                .help("a `start` or `guess` value tells the shape of a state: `start Q = [1, 0, 0, 0]`")
        });
        false
    }

    fn solve_blocks(&mut self) {
        for block in std::mem::take(&mut self.solves) {
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
                let ctx = Ctx::of(block.scope);
                let (l, r) = (demand.left.span, demand.right.span);
                if self.need_same_shape(&left, &right, l, r).is_err() {
                    is_complete = false;
                    continue;
                }
                self.agree(&left, &right, l, r, ctx);
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
                self.report.add(code::UNSOLVABLE, span, || {
                    Diagnostic::error(
                        code::UNSOLVABLE,
                        format!("{n_unknowns} unknowns and {n_equations} equations"),
                    )
                    .primary(span, "a `solve` block needs as many equations as unknowns")
                });
            }
        }
    }

    fn sampled_blocks(&mut self) {
        for block in std::mem::take(&mut self.clocks) {
            let rate = self.rate(block.rate, block.scope);
            let mut equations = Vec::new();
            for def in block.defs {
                let Some((expr, scope)) = self.defs[def.at()].value else {
                    continue;
                };
                let Some(own) = self.def_value(def) else {
                    continue;
                };
                let Some(value) = self.lowered(expr, scope) else {
                    continue;
                };
                let span = self.defs[def.at()].span;
                if !self.fits(&own, &value, span, expr.span) {
                    continue;
                }
                self.agree(&own, &value, span, expr.span, Ctx::of(scope));
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
        // Take away what depends on nothing left, again and again; a circle remains.
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
        let names: Vec<String> = (0..equations.len())
            .filter(|&k| n_reads[k] > 0)
            .map(|k| format!("`{}`", self.graph.signals.name_of(equations[k].0)))
            .collect();
        self.report.add(code::SIGNAL_CYCLE, span, || {
            Diagnostic::error(
                code::SIGNAL_CYCLE,
                "sampled values depend on each other in a circle",
            )
            .primary(span, "in this block")
            .fact(format!("the circle is among {}", names.join(", ")))
            .help("read the value of the last tick somewhere: `pre(x)`")
        });
    }

    /// Evaluates a sample rate to an exact fraction.
    fn rate(&mut self, rate: &'a ast::Expr, scope: ScopeId) -> Option<(u64, u64)> {
        let value = self.lowered(rate, scope)?;
        let span = rate.span;
        if let ast::ExprKind::Binary { op: ast::BinaryOp::Div, right, .. } = &rate.kind
            && let ast::ExprKind::Number { value: period, unit: Some(unit) } = &right.kind
            && self.unit(unit).is_some_and(|u| u.dimension == Dimension::TIME)
        {
            // 1/6000 [s] is 1/(6000 s), a rate in Hz, and never what is meant.
            let period = *period;
            self.report.add(code::UNIT_MISMATCH, span, || {
                Diagnostic::error(
                    code::UNIT_MISMATCH,
                    format!("this is a tick every {period} s, since the unit belongs to the {period}"),
                )
                .primary(span, "a rate in Hz is written as one number")
                .help(format!("write `sample at {period} [Hz]`"))
            });
            return None;
        }
        if let Some(d) = value.dimension
            && d != Dimension::FREQUENCY
        {
            self.report.add(code::UNIT_MISMATCH, span, || {
                let message = Diagnostic::error(
                    code::UNIT_MISMATCH,
                    format!("a sample rate is in Hz, not in {}", d.describe()),
                )
                .primary(span, format!("this is in {}", d.describe()));
                match d == Dimension::TIME {
                    true => message
                        .help("write the rate, not the time between ticks: `sample at 6000 [Hz]`"),
                    false => message,
                }
            });
            return None;
        }
        let x = self.number_of(rate, Ctx::of(scope))?;
        match fraction(x) {
            Some(rate) => Some(rate),
            None => {
                self.report.add(code::OUT_OF_RANGE, span, || {
                    Diagnostic::error(
                        code::OUT_OF_RANGE,
                        format!("{x} Hz is not a usable sample rate"),
                    )
                    .primary(span, "must be positive, and a fraction of whole numbers")
                });
                None
            }
        }
    }

    fn events(&mut self) {
        for event in std::mem::take(&mut self.whens) {
            let origin = self.origin(event.span);
            let Some(condition) = self.lowered(event.condition, event.scope) else {
                continue;
            };
            let span = event.condition.span;
            if condition.kind != ValueKind::Truth {
                let what = condition.describe();
                self.report.add(code::WRONG_TYPE, span, || {
                    Diagnostic::error(code::WRONG_TYPE, "`when` needs a condition")
                        .primary(span, format!("this is {what}"))
                        .help("compare: `when x > limit { … }`")
                });
                continue;
            }
            let Some(condition) = condition.as_scalar() else {
                continue;
            };
            let mut actions = Vec::new();
            let mut defs = event.defs.iter();
            for action in event.actions {
                match action {
                    ast::Action::Stop { message, .. } => {
                        let message = message.clone().unwrap_or_default();
                        actions.push(Action::Stop { message });
                    }
                    ast::Action::Define(_) => {
                        let Some(&(def, expr)) = defs.next() else {
                            continue;
                        };
                        let Some(own) = self.def_value(def) else {
                            continue;
                        };
                        let Some(value) = self.lowered(expr, event.scope) else {
                            continue;
                        };
                        let span = self.defs[def.at()].span;
                        if !self.fits(&own, &value, span, expr.span) {
                            continue;
                        }
                        self.agree(&own, &value, span, expr.span, Ctx::of(event.scope));
                        for (&x, &value) in own.elements.iter().zip(&value.elements) {
                            if let Some(target) = self.graph.signals.pool.as_symbol(x) {
                                actions.push(Action::Assign { target, value });
                            }
                        }
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
                    self.report.add(code::NOT_SETTABLE, span, || {
                        Diagnostic::error(code::NOT_SETTABLE, "`reinit` sets a continuous quantity")
                            .primary(span, "this is not one")
                            .help("a parameter is fixed; a discrete value is set by `name = …`")
                    });
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
            self.report.add(code::NOT_SETTABLE, span, || {
                Diagnostic::error(code::NOT_SETTABLE, "this is not a quantity")
                    .primary(span, "name a quantity of it")
                    .help("write its effort, flow or state, such as `c1.e`, `mesh.f`, `mass.p`")
            });
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
        self.agree(&target, &value, a, b, Ctx::of(scope));
        Some((target, value))
    }

    fn lower_invariants(&mut self) {
        for (scope, demand) in std::mem::take(&mut self.invariants) {
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
            self.agree(&left, &right, l, r, Ctx::of(scope));
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
        // Demands of the experiment come last and replace those of the model on the same quantity.
        let mut position: rustc_hash::FxHashMap<(ExprId, bool), usize> = Default::default();
        for (scope, assign, is_guess) in std::mem::take(&mut self.starts) {
            let Some((target, value)) = self.assigned(assign, scope) else {
                continue;
            };
            let origin = self.origin(assign.span);
            let is_from_experiment = Some(scope) == self.experiment_scope;
            for (&target, &value) in target.elements.iter().zip(&value.elements) {
                if let Some(symbol) = self.graph.signals.pool.as_symbol(target) {
                    match self.graph.signals.symbol(symbol).role {
                        Role::Discrete { .. } => {
                            self.start_discrete(symbol, value, assign.value.span);
                            continue;
                        }
                        Role::Parameter { .. } | Role::Time => {
                            let span = assign.target.span;
                            self.report.add(code::NOT_SETTABLE, span, || {
                                Diagnostic::error(
                                    code::NOT_SETTABLE,
                                    "this does not vary, so it has no start",
                                )
                                .primary(span, "fixed during a run")
                            });
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
                let starts = &mut self.graph.signals.starts;
                match position.get(&(target, is_guess)) {
                    Some(&at) if is_from_experiment => starts[at] = start,
                    _ => {
                        position.insert((target, is_guess), starts.len());
                        starts.push(start);
                    }
                }
            }
        }
    }

    fn start_discrete(&mut self, symbol: SymbolId, value: ExprId, span: Span) {
        match self.constants.value(&self.graph.signals, value) {
            Some(start) => {
                self.graph.signals.symbols[symbol.0 as usize].role = Role::Discrete { start };
            }
            None => self.report.add(code::NOT_CONSTANT, span, || {
                Diagnostic::error(
                    code::NOT_CONSTANT,
                    "the start of a discrete value must be fixed",
                )
                .primary(span, "reads something that varies")
            }),
        }
    }

    fn lower_outputs(&mut self) {
        for def in std::mem::take(&mut self.top_outputs) {
            let Some(value) = self.def_value(def) else {
                continue;
            };
            let (path, unit) = {
                let d = &self.defs[def.at()];
                (d.path, d.decl.and_then(|d| d.unit.as_ref()).or(d.unit))
            };
            let unit = unit
                .and_then(|u| self.unit(u))
                .map(|u| (u.text.clone(), u.factor));
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

    // -------------------------------------------------------------------------------
    // Matrix transformers and gyrators
    // -------------------------------------------------------------------------------

    /// Expands matrix two-ports: a junction for every input and output, a scalar two-port for
    /// every entry that is not zero.
    fn expand_matrices(&mut self) {
        for at in 0..self.things.len() {
            let t = &self.things[at];
            if !is_two_port(t) || t.kind == ElementKind::Rs || t.preset.is_some() {
                continue;
            }
            if t.size <= 1 && t.size_out <= 1 && !t.is_vector {
                continue;
            }
            self.expand_matrix(ThingId(at as u32));
        }
    }

    fn expand_matrix(&mut self, thing: ThingId) {
        let (kind, n_in, n_out, span, scope, name) = {
            let t = &self.things[thing.at()];
            (t.kind, t.size, t.size_out, t.span, t.scope, t.name)
        };
        if n_in == 0 || n_out == 0 {
            // One side is open; reported with the elements.
            return;
        }
        let Some((modulus, is_inverse)) = self.modulus(thing) else {
            self.things[thing.at()].is_expanded = true;
            return;
        };
        let modulus = match (modulus.as_scalar(), n_in == n_out) {
            // One number on a multibond is that number times the unit matrix.
            (Some(e), true) if n_in > 1 => {
                let zero = self.pool().number(0.0);
                let n = n_in as usize;
                let elements = (0..n * n)
                    .map(|k| if k % (n + 1) == 0 { e } else { zero })
                    .collect();
                Value {
                    shape: Shape::Matrix(n_in, n_in),
                    elements,
                    ..modulus
                }
            }
            _ => modulus,
        };
        if modulus.shape.rows_columns() != (n_out, n_in) {
            let what = modulus.describe();
            self.report.add(code::SHAPES, span, || {
                Diagnostic::error(
                    code::SHAPES,
                    format!("the matrix of this {} has the wrong shape", kind.letters()),
                )
                .primary(span, format!("this is {what}; it leads from {n_in} to {n_out} components, so [{n_out},{n_in}] is needed"))
            });
            self.things[thing.at()].is_expanded = true;
            return;
        }
        let group = self.add_group(name, Some(kind), n_in.max(n_out), span);
        // Flows add up at a 0-junction, efforts at a 1-junction.
        let (at_input, at_output) = match (kind, is_inverse) {
            (ElementKind::Tf, false) => (ElementKind::One, ElementKind::Zero),
            (ElementKind::Tf, true) => (ElementKind::Zero, ElementKind::One),
            (_, false) => (ElementKind::One, ElementKind::One),
            (_, true) => (ElementKind::Zero, ElementKind::Zero),
        };
        let junction = |this: &mut Self, kind: ElementKind, part: u32| {
            let id = this.add_thing(None, kind, None, scope, span);
            let t = &mut this.things[id.at()];
            (t.group, t.part) = (Some(group), part);
            id
        };
        let inputs: Vec<ThingId> = (0..n_in).map(|k| junction(self, at_input, k)).collect();
        let outputs: Vec<ThingId> = (0..n_out)
            .map(|k| junction(self, at_output, n_in + k))
            .collect();
        for (port, bond) in std::mem::take(&mut self.things[thing.at()].bonds) {
            let (side, k) = (port % 2, (port / 2) as usize);
            let new = if side == 0 { inputs[k] } else { outputs[k] };
            self.things[new.at()].bonds.push((0, bond));
            let bond = &mut self.graph.bonds[bond as usize];
            let end = if bond.head.element.0 == thing.0 {
                &mut bond.head
            } else {
                &mut bond.tail
            };
            *end = End {
                element: ElementId(new.0),
                port: 0,
            };
        }
        let mut part = n_in + n_out;
        for (i, &output) in outputs.iter().enumerate() {
            for (j, &input) in inputs.iter().enumerate() {
                let entry = modulus.elements[i * n_in as usize + j];
                let number = self.graph.signals.pool.as_number(entry);
                if number == Some(0.0) {
                    continue;
                }
                let is_plain = kind == ElementKind::Tf && number == Some(1.0);
                self.entry_between(
                    input,
                    output,
                    kind,
                    entry,
                    is_inverse,
                    is_plain,
                    (group, part),
                );
                part += 1;
            }
        }
        self.things[thing.at()].is_expanded = true;
    }

    fn entry_between(
        &mut self,
        input: ThingId,
        output: ThingId,
        kind: ElementKind,
        entry: ExprId,
        is_inverse: bool,
        is_plain: bool,
        (group, part): (crate::graph::GroupId, u32),
    ) {
        let (span, scope) = (self.things[input.at()].span, self.things[input.at()].scope);
        let domain_of = |this: &Self, thing: ThingId| {
            this.things[thing.at()]
                .bonds
                .first()
                .and_then(|b| this.bond_domain(b.1))
        };
        let (first, second) = (domain_of(self, input), domain_of(self, output));
        let end = |thing, port| Terminal::Thing { thing, port };
        let bond = |this: &mut Self, tail, head, domain| {
            let made = this.make_bond(tail, head, None, span, Some((group, part)), None);
            if let Some(bond) = made {
                this.graph.bonds[bond as usize].domain = domain;
            }
        };
        if is_plain {
            bond(self, end(input, 0), end(output, 0), first);
            return;
        }
        let two_port = self.add_thing(None, kind, None, scope, span);
        let t = &mut self.things[two_port.at()];
        t.preset = Some(if is_inverse {
            Law::InverseGain(entry)
        } else {
            Law::Gain(entry)
        });
        (t.size, t.size_out, t.group, t.part) = (1, 1, Some(group), part);
        bond(self, end(input, 0), end(two_port, 0), first);
        bond(self, end(two_port, 1), end(output, 0), second);
    }

    fn modulus(&mut self, thing: ThingId) -> Option<(Value, bool)> {
        loop {
            match self.two_port_modulus(thing) {
                Ok(found) => return Some(found),
                Err(super::lower::Stop::Reported) => return None,
                Err(super::lower::Stop::Blocked(def)) => self.settle(def),
            }
        }
    }

    // -------------------------------------------------------------------------------
    // Elements
    // -------------------------------------------------------------------------------

    fn make_elements(&mut self) {
        let unset = End {
            element: ElementId(u32::MAX),
            port: 0,
        };
        let mut ends: Vec<[End; 2]> = vec![[unset; 2]; self.graph.bonds.len()];
        self.graph.elements.reserve(self.things.len());
        for at in 0..self.things.len() {
            if !self.things[at].is_expanded {
                self.make_element(ThingId(at as u32), &mut ends);
            }
        }
        // A bond whose element could not be made: errors were told, or a model is checked alone.
        self.is_incomplete |= ends.iter().flatten().any(|end| end.element.0 == u32::MAX);
        for (bond, [tail, head]) in self.graph.bonds.iter_mut().zip(ends) {
            (bond.tail, bond.head) = (tail, head);
        }
    }

    fn make_element(&mut self, thing: ThingId, ends: &mut [[End; 2]]) {
        let first = self.graph.elements.len() as u32;
        self.things[thing.at()].first = first;
        let kind = self.things[thing.at()].kind;
        if kind.is_junction() {
            self.make_junctions(thing, ends);
        } else if is_two_port(&self.things[thing.at()]) {
            self.make_two_port(thing, ends);
        } else {
            self.make_one_ports(thing, ends);
        }
        self.things[thing.at()].n_elements = self.graph.elements.len() as u32 - first;
    }

    fn new_element(&mut self, thing: ThingId, component: Option<u32>, law: Law) -> Element {
        let t = &self.things[thing.at()];
        let (name, kind, span, scope) = (t.name, t.kind, t.span, t.scope);
        let part_of = match (t.group, component) {
            (Some(group), Some(k)) => Some((group, k)),
            (Some(group), None) => Some((group, t.part)),
            _ => None,
        };
        let is_unpowered = t
            .written
            .is_some_and(|w| w.flags.iter().any(|f| &*f.text == "unpowered"));
        let size = t.size;
        let name = match (name, component) {
            (Some(path), Some(k)) => {
                Some(self.component_path(path, Shape::Vector(size), k as usize))
            }
            (name, _) => name,
        };
        let depth = self.scopes[scope.at()]
            .instance
            .map_or(0, |i| self.instances[i.at()].depth);
        Element {
            name,
            kind,
            ports: Vec::new(),
            states: Vec::new(),
            law,
            is_modulated: false,
            can_vanish: false,
            is_unpowered,
            depth,
            part_of,
            domain: None,
            origin: self.origin(span),
        }
    }

    /// Puts an element into the graph, with the bonds at its ports.
    fn add_element(
        &mut self,
        thing: ThingId,
        mut element: Element,
        ports: impl Iterator<Item = (u32, u32)>,
        ends: &mut [[End; 2]],
    ) {
        let id = ElementId(self.graph.elements.len() as u32);
        for (port, bond) in ports {
            let place = element.ports.len() as u32;
            element.ports.push(BondId(bond));
            let b = &self.graph.bonds[bond as usize];
            let is_tail = b.tail.element.0 == thing.0
                && b.tail.port == port
                && ends[bond as usize][0].element.0 == u32::MAX;
            ends[bond as usize][usize::from(!is_tail)] = End {
                element: id,
                port: place,
            };
        }
        element.domain = element.ports.first().and_then(|b| self.bond_domain(b.0));
        self.mark_modulation(&mut element);
        self.graph.elements.push(element);
    }

    fn mark_modulation(&mut self, element: &mut Element) {
        let mut exprs: Vec<ExprId> = Vec::new();
        match &element.law {
            Law::Junction => return,
            Law::Source { value, .. } => exprs.push(*value),
            Law::Gain(e) | Law::InverseGain(e) => exprs.push(*e),
            Law::Field(list) | Law::InverseField(list) => exprs.extend(list),
            Law::Explicit(list) => exprs.extend(list.iter().map(|l| l.2)),
            Law::Switch { on, r_on, g_off } => exprs.extend([*on, *r_on, *g_off]),
            Law::Diode {
                r_on,
                g_off,
                threshold,
            } => exprs.extend([*r_on, *g_off, *threshold]),
        }
        let mut own: Vec<SymbolId> = Vec::new();
        if matches!(element.law, Law::Explicit(_)) {
            own.extend(&element.states);
            for bond in &element.ports {
                let bond = self.graph.bond(*bond);
                own.extend([bond.effort, bond.flow]);
            }
        }
        for e in exprs {
            if self.constants.value(&self.graph.signals, e).is_some() {
                continue;
            }
            element.is_modulated |= paynter_symbolic::walk::symbols_of(&self.graph.signals.pool, e)
                .into_iter()
                .any(|s| {
                    !own.contains(&s)
                        && !matches!(self.graph.signals.symbol(s).role, Role::Parameter { .. })
                });
        }
        element.can_vanish =
            element.is_modulated && matches!(element.kind, ElementKind::Tf | ElementKind::Gy);
    }

    fn make_junctions(&mut self, thing: ThingId, ends: &mut [[End; 2]]) {
        let t = &self.things[thing.at()];
        let (is_vector, size) = (t.is_vector, t.size);
        let bonds = t.bonds.clone();
        if !is_vector {
            let element = self.new_element(thing, None, Law::Junction);
            self.add_element(thing, element, bonds.into_iter(), ends);
            return;
        }
        let mut by_component: Vec<Vec<(u32, u32)>> = vec![Vec::new(); size as usize];
        for (port, bond) in bonds {
            by_component[port as usize].push((port, bond));
        }
        for (k, bonds) in by_component.into_iter().enumerate() {
            let element = self.new_element(thing, Some(k as u32), Law::Junction);
            self.add_element(thing, element, bonds.into_iter(), ends);
        }
    }

    fn make_two_port(&mut self, thing: ThingId, ends: &mut [[End; 2]]) {
        let t = &self.things[thing.at()];
        let (kind, preset) = (t.kind, t.preset.clone());
        let find = |side: u32| t.bonds.iter().find(|(p, _)| p % 2 == side).copied();
        let (Some(entrance), Some(exit)) = (find(0), find(1)) else {
            let (span, name) = (t.span, self.thing_name(thing));
            let which = if find(0).is_none() { "into" } else { "out of" };
            if t.is_excused {
                return;
            }
            self.report.add(code::PORT_OPEN, span, || {
                Diagnostic::error(code::PORT_OPEN, format!("{name} has no bond {which} it"))
                    .primary(span, "a two-port has one bond in and one bond out")
            });
            return;
        };
        let law = match (preset, kind) {
            (Some(law), _) => Some(law),
            (None, ElementKind::Rs) => loop {
                match self.heating_law(thing) {
                    Ok(law) => break Some(law),
                    Err(super::lower::Stop::Reported) => break None,
                    Err(super::lower::Stop::Blocked(def)) => self.settle(def),
                }
            },
            _ => {
                let Some((modulus, is_inverse)) = self.modulus(thing) else {
                    return;
                };
                let span = self.things[thing.at()].span;
                let Ok(e) = self.scalar_of(&modulus, span) else {
                    return;
                };
                Some(if is_inverse {
                    Law::InverseGain(e)
                } else {
                    Law::Gain(e)
                })
            }
        };
        let Some(law) = law else { return };
        let element = self.new_element(thing, None, law);
        self.add_element(thing, element, [entrance, exit].into_iter(), ends);
    }

    fn make_one_ports(&mut self, thing: ThingId, ends: &mut [[End; 2]]) {
        let t = &self.things[thing.at()];
        let (size, is_vector) = (t.size, t.is_vector);
        let mut bonds: Vec<(u32, u32)> = t.bonds.clone();
        bonds.sort_unstable();
        if bonds.len() < size as usize {
            let (span, kind, name) = (t.span, t.kind, self.thing_name(thing));
            let n = bonds.len();
            if !t.is_excused {
                self.report.add(code::PORT_OPEN, span, || {
                    let text = match (n, is_vector) {
                        (0, _) => "no bond leads to it".to_owned(),
                        _ => format!("{n} of its {size} components are joined"),
                    };
                    Diagnostic::error(code::PORT_OPEN, format!("{name} is not connected"))
                        .primary(span, text)
                        .help(format!(
                            "join it to a junction: `junction -> name: {}(…)`",
                            kind.letters()
                        ))
                });
            }
            // Its values may hold errors of their own.
        }
        let laws = loop {
            match self.one_port_laws(thing) {
                Ok(laws) => break laws,
                Err(super::lower::Stop::Reported) => return,
                Err(super::lower::Stop::Blocked(def)) => self.settle(def),
            }
        };
        if bonds.len() < size as usize {
            return;
        }
        match laws {
            Laws::Field(law) => {
                let mut element = self.new_element(thing, None, law);
                element.states = self.things[thing.at()].states.clone();
                self.things[thing.at()].expansion = Expansion::Field;
                self.add_element(thing, element, bonds.into_iter(), ends);
            }
            Laws::Scalars(list) => {
                for (k, law) in list.into_iter().enumerate() {
                    let component = is_vector.then_some(k as u32);
                    let mut element = self.new_element(thing, component, law);
                    element.states = self.things[thing.at()]
                        .states
                        .get(k)
                        .copied()
                        .into_iter()
                        .collect();
                    self.add_element(thing, element, std::iter::once(bonds[k]), ends);
                }
            }
        }
    }

    // -------------------------------------------------------------------------------
    // Quantities that were read
    // -------------------------------------------------------------------------------

    pub(super) fn define_quantities(&mut self) {
        let wanted = std::mem::take(&mut self.undefined_quantities);
        for ((thing, what), symbol) in wanted {
            let t = &self.things[thing.at()];
            let elements: Vec<ElementId> =
                (t.first..t.first + t.n_elements).map(ElementId).collect();
            let span = t.span;
            match what {
                Quantity::Power => {
                    let powers: Vec<ExprId> =
                        elements.iter().map(|&e| self.element_power(e)).collect();
                    self.define_sum(symbol, powers, span);
                }
                Quantity::Stored => {
                    self.define_readings(symbol, &elements, ReadingKind::Stored, span)
                }
                Quantity::Energy => {
                    self.define_readings(symbol, &elements, ReadingKind::ElementEnergy, span);
                }
            }
        }
        let wanted = std::mem::take(&mut self.undefined_bond_quantities);
        for ((bond, what), symbol) in wanted {
            let named = &self.named_bonds[bond.at()];
            let (bonds, span) = (named.bonds.clone(), named.span);
            match what {
                Quantity::Power => {
                    let powers: Vec<ExprId> =
                        bonds.iter().map(|&b| self.bond_power(BondId(b))).collect();
                    self.define_sum(symbol, powers, span);
                }
                _ => match bonds.as_slice() {
                    [only] => {
                        let what = ReadingKind::BondEnergy(BondId(*only));
                        self.graph.readings.push(Reading { symbol, what });
                    }
                    many => {
                        let parts = many.iter().map(|&b| ReadingKind::BondEnergy(BondId(b)));
                        let parts: Vec<ReadingKind> = parts.collect();
                        self.define_parts(symbol, parts, span);
                    }
                },
            }
        }
    }

    fn define_readings(
        &mut self,
        symbol: SymbolId,
        elements: &[ElementId],
        kind: fn(ElementId) -> ReadingKind,
        span: Span,
    ) {
        match elements {
            [only] => self.graph.readings.push(Reading {
                symbol,
                what: kind(*only),
            }),
            many => {
                let parts = many.iter().map(|&e| kind(e)).collect();
                self.define_parts(symbol, parts, span);
            }
        }
    }

    fn define_parts(&mut self, symbol: SymbolId, parts: Vec<ReadingKind>, span: Span) {
        let name = self.graph.signals.symbol(symbol).name;
        let n = parts.len() as u32;
        let mut terms = Vec::new();
        for (k, what) in parts.into_iter().enumerate() {
            let path = self.component_path(name, Shape::Vector(n), k);
            let origin = self.origin(span);
            let part = self.graph.signals.add_symbol(paynter_symbolic::Symbol {
                name: path,
                role: Role::Unknown,
                nominal: 0.0,
                origin,
            });
            self.graph.readings.push(Reading { symbol: part, what });
            terms.push(self.pool().symbol(part));
        }
        self.define_sum(symbol, terms, span);
    }

    fn define_sum(&mut self, symbol: SymbolId, terms: Vec<ExprId>, span: Span) {
        let mut right = self.pool().number(0.0);
        for term in terms {
            right = self.pool().add(right, term);
        }
        let left = self.pool().symbol(symbol);
        let origin = self.origin(span);
        let equation = Equation {
            left,
            right,
            solves: Some(symbol),
            origin,
        };
        self.graph.signals.equations.push(equation);
    }

    fn bond_power(&mut self, bond: BondId) -> ExprId {
        let b = self.graph.bond(bond);
        let (e, f, domain) = (b.effort, b.flow, b.domain);
        let f = self.pool().symbol(f);
        if domain.is_some_and(|d| self.domains.get(d).is_pseudo) {
            return f;
        }
        let e = self.pool().symbol(e);
        self.pool().mul(e, f)
    }

    /// Power into an element; out of a source.
    fn element_power(&mut self, id: ElementId) -> ExprId {
        let element = self.graph.element(id);
        let (kind, ports) = (element.kind, element.ports.clone());
        let is_source = matches!(kind, ElementKind::Se | ElementKind::Sf);
        let mut total = self.pool().number(0.0);
        // Of an RS, what it takes from the first port; all of it leaves by the second as heat.
        let counted = if kind == ElementKind::Rs {
            1
        } else {
            ports.len()
        };
        for (port, &bond) in ports.iter().take(counted).enumerate() {
            let power = self.bond_power(bond);
            let end = End {
                element: id,
                port: port as u32,
            };
            let is_into = self.graph.points_in(bond, end);
            total = match is_into != is_source {
                true => self.pool().add(total, power),
                false => self.pool().sub(total, power),
            };
        }
        total
    }

    fn lower_layout(&mut self) {
        for (scope, place) in std::mem::take(&mut self.layouts) {
            let Some(instance) = self.scopes[scope.at()].instance else {
                continue;
            };
            let mut at = self.instances[instance.at()].path;
            let mut is_found = true;
            for part in &place.target.parts {
                let index = match part.index.as_slice() {
                    [] => None,
                    [i] => self.whole_number(i, Ctx::of(scope)),
                    _ => None,
                };
                match self.graph.signals.names.find(at, &part.name.text, index) {
                    Some(next) if self.entity(next) != Entity::Nothing => at = next,
                    _ => {
                        is_found = false;
                        break;
                    }
                }
            }
            if is_found {
                self.graph.layout.push((at, place.x, place.y));
            } else if !self.incomplete.contains(&instance) {
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

/// Writes a positive number as the fraction that was typed: 6000, 1200, 22.05e3, 1/3.
fn fraction(x: f64) -> Option<(u64, u64)> {
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
