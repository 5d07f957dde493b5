//! Angles in files that are `units strict`: radians are plain numbers, so a bare 30 would pass for one.
//!
//! In:  values that meet, and arguments of sine, cosine and tangent.
//! Out: a question for `[deg]` or `[rad]` after a bare number that stands for an angle.

use paynter_symbolic::ExprId;
use paynter_syntax::{Span, ast};

use super::data::*;
use super::value::Value;
use super::{Elaborator, code};
use crate::graph::ElementKind;

impl<'a> Elaborator<'a> {
    /// Asks for the unit of a bare number that is set to, added to or compared with an angle.
    pub(super) fn ask_for_angle(&mut self, angle: &Value, span: Span) {
        let is_angle = angle.elements.first().is_some_and(|&e| self.is_angle(e));
        if is_angle && self.is_bare_number(span) {
            self.report_angle(span);
        }
    }

    /// Asks for the unit of `30` in `sin(30)`.
    pub(super) fn ask_for_angle_in(&mut self, args: &[ast::Arg], file: u32) {
        let is_strict = self.texts.files[file as usize].is_strict;
        if let [arg] = args
            && is_strict
            && self.is_bare_number(arg.value.span)
        {
            self.report_angle(arg.value.span);
        }
    }

    fn is_bare_number(&self, span: Span) -> bool {
        let text = self.project.sources.text(span).trim();
        let text = text.strip_prefix('-').unwrap_or(text);
        text.parse::<f64>().is_ok_and(|x| x != 0.0)
    }

    fn report_angle(&mut self, span: Span) {
        let text = self.project.sources.text(span).trim().to_owned();
        report!(self, code::BARE_NUMBER, span, "a number without a unit where an angle is expected";
            "degrees or radians?";
            help: "write `{text} [deg]` or `{text} [rad]`");
    }

    /// Tells whether a symbol is known to be an angle: the displacement of a C on a bond whose
    /// displacement is in rad, or a name that is declared in rad or deg.
    fn is_angle(&self, e: ExprId) -> bool {
        let signals = &self.graph.signals;
        let Some(symbol) = signals.pool.as_symbol(e) else {
            return false;
        };
        let path = signals.symbol(symbol).name;
        if let Entity::Def(def) = self.tables.value_entity(path) {
            let d = &self.tables.defs[def.at()];
            let unit = d.decl.and_then(|d| d.unit.as_ref()).or(d.unit);
            let text = unit.map_or("", |u| self.project.sources.text(u.span));
            return matches!(text.trim_matches(['[', ']', ' ']), "rad" | "deg" | "rev");
        }
        let of = signals.names.parent(path).map(|p| self.tables.entity(p));
        let Some(Entity::Thing(thing)) = of else {
            return false;
        };
        let t = &self.tables.things[thing.at()];
        if t.kind != ElementKind::C || !t.states.contains(&symbol) {
            return false;
        }
        let domain = t.bonds.first().and_then(|b| self.bond_domain(b.1));
        match domain {
            Some(domain) => self.texts.domains.get(domain).displacement.unit.text == "rad",
            // Nothing but its law tells what it is.
            None => {
                let laws = t.written.and_then(|kind| kind.law.as_ref());
                laws.is_some_and(|laws| laws.iter().any(|law| takes_sine_of_q(&law.value)))
            }
        }
    }
}

/// Tells whether an expression holds `sin(q)`, `cos(q)` or `tan(q)`.
fn takes_sine_of_q(e: &ast::Expr) -> bool {
    use ast::ExprKind as Kind;
    let is_q = |e: &ast::Expr| matches!(&e.kind, Kind::Name(name) if &*name.text == "q");
    match &e.kind {
        Kind::Call { function, args } => {
            let name = function.segments.last().map_or("", |s| &*s.text);
            let is_sine = matches!(name, "sin" | "cos" | "tan");
            is_sine && args.iter().any(|a| is_q(&a.value))
                || args.iter().any(|a| takes_sine_of_q(&a.value))
        }
        Kind::Binary { left, right, .. } => takes_sine_of_q(left) || takes_sine_of_q(right),
        Kind::Unary { of, .. } => takes_sine_of_q(of),
        Kind::If {
            then, otherwise, ..
        } => takes_sine_of_q(then) || takes_sine_of_q(otherwise),
        _ => false,
    }
}
