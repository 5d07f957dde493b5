//! A model that was elaborated, and how more of it is read: expressions, names, units.
//!
//! In:  an elaborator that finished without errors.
//! Out: [`Elaborated`], from which experiments read quantities by name or by expression.
//!
//! **Invariant:** reading may add symbols and definitions to the graph; it changes none.

use paynter_symbolic::{ExprId, Names, Origin, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};
use rustc_hash::FxHashMap;

use super::data::*;
use super::lower::Ctx;
use super::value::Value;
use super::{Elaborator, Limit, code, report, with_stack};
use crate::domains::Domains;
use crate::graph::{BondGraph, Memory};
use crate::units::{Dimension, Unit};

/// A model without errors: its graph, and everything needed to read more of it.
#[derive(Debug)]
pub struct Elaborated<'a> {
    pub(super) elaborator: Elaborator<'a>,
    /// The model.
    pub model: &'a ast::Model,
    /// The experiment, if one was asked for.
    pub experiment: Option<&'a ast::Experiment>,
    /// Parameters that shape the graph (sizes, `for`, `if`), directly or through others: a sweep
    /// over one of them has to elaborate again.
    pub structural: Vec<SymbolId>,
    /// Ranges that parameters must keep when a sweep changes them.
    pub limits: Vec<Limit>,
}

impl<'a> Elaborated<'a> {
    /// Gives the graph.
    pub fn graph(&self) -> &BondGraph {
        &self.elaborator.graph
    }

    /// Gives the graph for further work on its expressions.
    pub fn graph_mut(&mut self) -> &mut BondGraph {
        &mut self.elaborator.graph
    }

    /// Gives up the scope and keeps the graph.
    pub fn into_graph(self) -> BondGraph {
        self.into_oriented_graph().0
    }

    /// Gives up the scope and keeps the graph, with matrix transformers in the direction that strokes ask for, and the
    /// parameters whose values decide about that.
    pub fn into_oriented_graph(self) -> (BondGraph, Vec<SymbolId>) {
        let mut graph = self.elaborator.graph;
        let decided_by = crate::causality::orient_transformers(&mut graph);
        (graph, decided_by)
    }

    /// The graph as it is without anything around: none of a model that may wait for parts around it, whose graph
    /// lacks what those would give. `before` is the graph before more was read.
    pub(crate) fn alone(self, before: Option<BondGraph>) -> Option<BondGraph> {
        if self.elaborator.asked.is_lenient && !self.elaborator.tables.outers.is_empty() {
            return None;
        }
        let mut graph = before.unwrap_or(self.elaborator.graph);
        crate::causality::orient_transformers(&mut graph);
        Some(graph)
    }

    /// Gives the energy domains with their units.
    pub fn domains(&self) -> &Domains {
        &self.elaborator.texts.domains
    }

    /// Lowers an expression in the scope of the top model, as seen from the file of the
    /// experiment or model. It may make new symbols, equations and readings in the graph.
    ///
    /// # Errors
    ///
    /// The messages about it.
    pub fn lower(&mut self, e: &ast::Expr) -> Result<Value, Vec<Diagnostic>> {
        let scope = self.elaborator.asked.reading_scope();
        with_stack(|| self.reporting(|this| this.lower_or_report(e, Ctx::of(scope))))
    }

    /// Tells whether an expression can be read, without a message and without a trace: the next one that cannot be read is reported.
    pub fn can_read(&mut self, e: &ast::Expr) -> bool {
        let reported = self.elaborator.told.unknown_names.clone();
        let is_read = self.lower(e).is_ok();
        self.elaborator.told.unknown_names = reported;
        is_read
    }

    /// Lowers a reference such as the target of a sweep, in the same scope.
    ///
    /// # Errors
    ///
    /// The messages about it.
    pub fn lower_ref(&mut self, r: &ast::Ref) -> Result<Value, Vec<Diagnostic>> {
        let scope = self.elaborator.asked.reading_scope();
        self.reporting(|this| this.read_ref(r, scope))
    }

    /// Reads a quantity by its path: `inner.ix.p`, `link[3].b.f`.
    ///
    /// # Errors
    ///
    /// The messages about it.
    pub fn read(&mut self, path: &str) -> Result<Value, Vec<Diagnostic>> {
        let r = ref_from_text(path).ok_or_else(|| {
            vec![Diagnostic::error(
                code::UNKNOWN_NAME,
                format!("`{path}` is not a path"),
            )]
        })?;
        self.lower_ref(&r)
    }

    /// Gives the value of an expression that reads only numbers and parameters. What it reads becomes
    /// structural: the value is built into the plan.
    pub fn constant(&mut self, e: ExprId) -> Option<f64> {
        let elaborator = &mut self.elaborator;
        let value = elaborator
            .fixed
            .constants
            .value(&elaborator.graph.signals, e)?;
        elaborator.mark_structural(e);
        self.structural = elaborator.structural_closure();
        Some(value)
    }

    /// Tells whether an expression reads only numbers and parameters.
    pub fn is_constant(&mut self, e: ExprId) -> bool {
        let elaborator = &mut self.elaborator;
        let value = elaborator
            .fixed
            .constants
            .value(&elaborator.graph.signals, e);
        value.is_some()
    }

    /// Reads a unit as written in an experiment.
    ///
    /// # Errors
    ///
    /// The message about it.
    pub fn unit(&self, unit: &ast::Unit) -> Result<Unit, Box<Diagnostic>> {
        Unit::parse(unit).map_err(|e| Box::new(e.to_diagnostic()))
    }

    /// Gives the unit that a named signal of the top model is shown in.
    pub fn display_unit(&mut self, path: &str) -> Option<Unit> {
        let elaborator = &mut self.elaborator;
        let mut at = Names::ROOT;
        for part in &ref_from_text(path)?.parts {
            let index = match part.index.as_slice() {
                [
                    ast::Expr {
                        kind: ast::ExprKind::Number { value, .. },
                        ..
                    },
                ] => Some(*value as i64),
                _ => None,
            };
            at = elaborator
                .graph
                .signals
                .names
                .find(at, &part.name.text, index)?;
        }

        let Entity::Def(def) = elaborator.tables.entity(at) else {
            return None;
        };
        let d = &elaborator.tables.defs[def.at()];

        // `input cmd = 0 [deg]` says as much as `input cmd [deg] = 0`.
        let of_literal = |e: &'a ast::Expr| match &e.kind {
            ast::ExprKind::Number { unit, .. } | ast::ExprKind::Matrix { unit, .. } => {
                unit.as_ref()
            }
            _ => None,
        };

        let of_decl = |d: &'a ast::Decl| {
            d.unit
                .as_ref()
                .or_else(|| d.value.as_ref().and_then(of_literal))
        };
        let unit = d.unit.or_else(|| d.decl.and_then(of_decl))?;
        elaborator.unit(unit).map(|u| (*u).clone())
    }

    /// Gives the unit that each state is shown in, where it is known.
    pub fn state_units(&mut self) -> FxHashMap<SymbolId, Unit> {
        let mut units = FxHashMap::default();
        let elaborator = &mut self.elaborator;
        for element in &elaborator.graph.elements {
            if !element.kind.is_storage() {
                continue;
            }
            for (port, &state) in element.states.iter().enumerate() {
                let bond = element.ports.get(port).map(|&b| elaborator.graph.bond(b));
                let own = bond.and_then(|b| b.domain).or(element.domain);
                let Some(domain) = own.map(|d| elaborator.texts.domains.get(d)) else {
                    continue;
                };
                let quantity = match element.memory(port) {
                    Some(Memory::Momentum) => domain.momentum.as_ref(),
                    _ => Some(&domain.displacement),
                };
                units.extend(quantity.map(|q| (state, q.unit.clone())));
            }
        }

        for at in 0..elaborator.tables.defs.len() {
            let d = &elaborator.tables.defs[at];
            let (DefKind::State, Progress::Done(value)) = (d.kind, &d.progress) else {
                continue;
            };
            let (elements, dimension) = (value.elements.clone(), value.dimension);
            // What comes after `der(x) =` is the rate, so only the unit of the name counts.
            let declared = d.unit.or_else(|| d.decl.and_then(|d| d.unit.as_ref()));
            let unit = match declared {
                Some(unit) => elaborator.unit(unit).map(|u| (*u).clone()),
                None => dimension.filter(|d| !d.is_one()).map(Dimension::unit),
            };
            let Some(unit) = unit else { continue };
            let pool = &elaborator.graph.signals.pool;
            let symbols = elements.iter().filter_map(|&e| pool.as_symbol(e));
            units.extend(symbols.map(|s| (s, unit.clone())));
        }
        units
    }

    /// Gives the text under a span.
    pub fn text(&self, span: Span) -> &str {
        self.elaborator.project.sources.text(span)
    }

    /// Finds what an experiment may set: a parameter or input (`Some(false)`) or a part
    /// (`Some(true)`).
    pub fn settable(&self, r: &ast::Ref) -> Option<bool> {
        let mut at = Names::ROOT;
        for part in &r.parts {
            let index = match part.index.as_slice() {
                [
                    ast::Expr {
                        kind: ast::ExprKind::Number { value, .. },
                        ..
                    },
                ] => Some(*value as i64),
                _ => None,
            };
            at = self
                .elaborator
                .graph
                .signals
                .names
                .find(at, &part.name.text, index)?;
        }
        match self.elaborator.tables.entity(at) {
            Entity::Def(def) => {
                let kind = self.elaborator.tables.defs[def.at()].kind;
                matches!(kind, DefKind::Param | DefKind::Input).then_some(false)
            }
            Entity::Instance(_) => Some(true),
            _ => None,
        }
    }

    /// Makes an origin for something that a later stage adds.
    pub fn origin(&mut self, span: Span) -> Origin {
        self.elaborator.origin(span)
    }

    fn reporting<T>(
        &mut self,
        f: impl FnOnce(&mut Elaborator<'a>) -> Option<T>,
    ) -> Result<T, Vec<Diagnostic>> {
        let elaborator = &mut self.elaborator;
        elaborator.report = report::Report::default();
        let found = f(elaborator);
        elaborator.define_quantities();
        let told = std::mem::take(&mut elaborator.report);
        match found {
            Some(found) if !told.has_errors() => Ok(found),
            _ => Err(told.list),
        }
    }
}

/// Turns `link[3].b.f` into a reference without a place in the text.
fn ref_from_text(path: &str) -> Option<ast::Ref> {
    let span = Span::default();
    let mut parts = Vec::new();
    for segment in path.split('.') {
        let (name, index) = match segment.split_once('[') {
            None => (segment, Vec::new()),
            Some((name, rest)) => {
                let numbers = rest.strip_suffix(']')?.split([',', '[']);
                let mut index = Vec::new();
                for number in numbers {
                    let value: f64 = number.trim().trim_end_matches(']').parse().ok()?;
                    index.push(ast::Expr {
                        span,
                        kind: ast::ExprKind::Number { value, unit: None },
                    });
                }
                (name, index)
            }
        };
        if name.is_empty() {
            return None;
        }
        parts.push(ast::RefPart {
            name: ast::Ident {
                text: name.into(),
                span,
            },
            index,
        });
    }
    Some(ast::Ref { parts, span })
}
