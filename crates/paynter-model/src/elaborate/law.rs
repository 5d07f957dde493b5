//! Values in parentheses and laws in braces become the laws of elements.
//!
//! In:  a thing as written, with its bonds.
//! Out: a [`Law`] over the symbols of its own bonds, or scalars and fields of several.
//!
//! **Invariant:** a two-port ends up with a modulus (`Gain` or `InverseGain`); a one-port law
//! gives exactly one variable of each port.

use paynter_symbolic::linear::linear_in;
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};

use super::data::*;
use super::lower::{Ctx, Locals, Stop, UnitAt, unit_to_write};
use super::read::holder;
use super::value::{Shape, Value};
use super::{Elaborator, code};
use crate::graph::{DomainId, ElementKind, Law, Memory, Variable};
use crate::suggest::nearest;
use crate::units::Dimension;

/// What the elements of a thing obey.
#[derive(Clone, Debug)]
pub(super) enum Laws {
    /// One scalar element per component.
    Scalars(Vec<Law>),
    /// One element with all components as ports.
    Field(Law),
}

/// Arguments of an element: positional value and named ones.
struct ElementArguments<'e> {
    value: Option<&'e ast::Expr>,
    named: Vec<(&'e ast::Ident, &'e ast::Expr)>,
}

impl<'a> Elaborator<'a> {
    /// Lowers the law of a one-port (or n-port) thing.
    pub(super) fn one_port_laws(&mut self, thing: ThingId) -> Result<Laws, Stop> {
        let t = &self.tables.things[thing.at()];
        let (kind, written, size) = (t.kind, t.written, t.size);
        let Some(written) = written else {
            // `_`, and what stands in for the world around a model checked alone.
            let zero = self.pool().number(0.0);
            return Ok(Laws::Scalars(vec![Law::Source {
                value: zero,
                position: None,
            }]));
        };

        match kind {
            ElementKind::Se | ElementKind::Sf => self.source(thing, written, size),
            ElementKind::Ic => self.mixed(thing, written),
            _ if kind.is_storage() || kind.is_resistor() => match &written.law {
                Some(law) => {
                    if let Some(arg) = written.args.as_ref().and_then(|a| a.first()) {
                        return Err(self.bad_law(
                            arg.value.span,
                            "a law in braces takes no value in parentheses",
                        ));
                    }
                    self.explicit(thing, law)
                }
                None => self.valued(thing, written, size),
            },
            ElementKind::Gy => match &written.law {
                Some(law) => self.explicit(thing, law),
                None => Err(self.bad_law(
                    written.span,
                    "a one-port GY needs a law in braces, such as `{ e = cross(f, i.p) }`",
                )),
            },
            ElementKind::Sw => self.switch(thing, written, size),
            ElementKind::D => self.diode(thing, written, size),
            _ => Err(Stop::Reported),
        }
    }

    pub(super) fn bad_law(&mut self, span: Span, text: &str) -> Stop {
        report!(self, code::BAD_LAW, span, "this law does not fit the element"; "{text}");
        Stop::Reported
    }

    /// Sorts the arguments of an element.
    fn arguments(
        &mut self,
        written: &'a ast::Kind,
        kind: ElementKind,
        allowed: &[&str],
    ) -> Result<ElementArguments<'a>, Stop> {
        let mut given = ElementArguments {
            value: None,
            named: Vec::new(),
        };

        for arg in written.args.as_deref().unwrap_or(&[]) {
            let span = arg.value.span;
            match &arg.name {
                None if given.value.is_none() => given.value = Some(&arg.value),
                None => {
                    report!(self, code::ARGUMENTS, span, "{} takes one value", kind.letters();
                        "one too many";
                        help: "{}", named_help(allowed));
                    return Err(Stop::Reported);
                }
                Some(name) if allowed.contains(&&*name.text) => {
                    given.named.push((name, &arg.value));
                }
                Some(name) => {
                    self.report.add(code::ARGUMENTS, name.span, || {
                        let message = Diagnostic::error(
                            code::ARGUMENTS,
                            format!("{} has no argument `{}`", kind.letters(), name.text),
                        )
                        .primary(name.span, "unknown argument");
                        match nearest(&name.text, allowed.iter()) {
                            Some(near) => message.help(format!("did you mean `{near}`?")),
                            None if &*name.text == "start" || &*name.text == "initial" => message
                                .help(
                                    "start values go on a line of their own: `start c.e = 5 [V]`",
                                ),
                            None => message.help(named_help(allowed)),
                        }
                    });
                    return Err(Stop::Reported);
                }
            }
        }

        if let (Some(law), false) = (&written.law, allowed.contains(&"law")) {
            let span = law.first().map_or(written.span, |l| l.span);
            return Err(self.bad_law(span, "this element takes no law in braces"));
        }
        Ok(given)
    }

    pub(super) fn missing_value(&mut self, written: &ast::Kind, kind: ElementKind) -> Stop {
        let span = written.span;
        self.report.add(code::ARGUMENTS, span, || {
            let l = kind.letters();
            Diagnostic::error(code::ARGUMENTS, format!("this {l} has no value"))
                .primary(span, "no value and no law")
                .help(kind.describe().needs)
        });
        Stop::Reported
    }

    /// Lowers a value of an element in the scope of its thing.
    fn element_value(&mut self, thing: ThingId, e: &ast::Expr) -> Result<Value, Stop> {
        let scope = self.tables.things[thing.at()].scope;
        let value = self.lower(e, Ctx::of(scope))?;
        self.need_numbers(&value, e.span)?;
        Ok(value)
    }

    /// Spreads a value over the components of a thing: one number serves them all.
    fn components(
        &mut self,
        value: &Value,
        size: u32,
        span: Span,
        kind: ElementKind,
    ) -> Result<Vec<ExprId>, Stop> {
        match value.shape {
            Shape::Scalar => Ok(vec![value.elements[0]; size as usize]),
            shape if shape.rows_columns() == (size, 1) => Ok(value.elements.clone()),
            _ => {
                let what = value.describe();
                report!(self, code::SHAPES, span, "the value of this {} has the wrong shape", kind.letters();
                    "this is {what}, and it has {size} components");
                Err(Stop::Reported)
            }
        }
    }

    fn source(&mut self, thing: ThingId, written: &'a ast::Kind, size: u32) -> Result<Laws, Stop> {
        let kind = self.tables.things[thing.at()].kind;
        let allowed: &[&str] = if kind == ElementKind::Sf {
            &["position"]
        } else {
            &[]
        };
        let given = self.arguments(written, kind, allowed)?;
        let Some(e) = given.value else {
            return Err(self.missing_value(written, kind));
        };
        let value = self.element_value(thing, e)?;
        let variable = if kind == ElementKind::Se {
            Variable::Effort
        } else {
            Variable::Flow
        };

        self.check_element_unit(thing, &value, e, |this, d| {
            this.texts.dimension_in(d, variable, kind)
        });
        let values = self.components(&value, size, e.span, kind)?;
        let positions = match given.named.first() {
            None => None,
            Some((_, e)) => {
                let value = self.element_value(thing, e)?;
                Some(self.components(&value, size, e.span, kind)?)
            }
        };

        Ok(Laws::Scalars(
            values
                .into_iter()
                .enumerate()
                .map(|(k, value)| Law::Source {
                    value,
                    position: positions.as_ref().map(|p| p[k]),
                })
                .collect(),
        ))
    }

    fn valued(&mut self, thing: ThingId, written: &'a ast::Kind, size: u32) -> Result<Laws, Stop> {
        let kind = self.tables.things[thing.at()].kind;
        let given = self.arguments(written, kind, &["inverse"])?;
        let (e, is_inverse) = match (given.value, given.named.first()) {
            (Some(e), None) => (e, false),
            (None, Some((_, e))) => (*e, true),
            (Some(_), Some((name, _))) => {
                let span = name.span;
                report!(self, code::ARGUMENTS, span, "a value and its inverse are both given";
                    "one of them is enough");
                return Err(Stop::Reported);
            }
            (None, None) => return Err(self.missing_value(written, kind)),
        };

        let value = self.element_value(thing, e)?;
        self.check_element_unit(thing, &value, e, |this, d| {
            let dim = |v| this.texts.dimension_in(d, v, kind);
            let gain = match kind.describe().value {
                Some((given, Some(each))) => dim(given).per(dim(each)),
                _ => unreachable!("a value relates two variables of a resistor or storage"),
            };
            if is_inverse { gain.pow(-1, 1) } else { gain }
        });

        let gain = |e| {
            if is_inverse {
                Law::InverseGain(e)
            } else {
                Law::Gain(e)
            }
        };

        let n = size as usize;
        match value.shape {
            Shape::Scalar => Ok(Laws::Scalars(vec![gain(value.elements[0]); n])),
            Shape::Matrix(rows, columns) if rows == size && columns == size => {
                let is_diagonal = (0..n).all(|i| {
                    (0..n).all(|j| {
                        i == j
                            || self.graph.signals.pool.as_number(value.elements[i * n + j])
                                == Some(0.0)
                    })
                });
                Ok(if is_diagonal {
                    Laws::Scalars((0..n).map(|i| gain(value.elements[i * n + i])).collect())
                } else if is_inverse {
                    Laws::Field(Law::InverseField(value.elements))
                } else {
                    Laws::Field(Law::Field(value.elements))
                })
            }
            _ => {
                self.report_value_shape(kind, size, &value, e.span);
                Err(Stop::Reported)
            }
        }
    }

    /// Reports a value that does not fit the components of its element.
    fn report_value_shape(&mut self, kind: ElementKind, size: u32, value: &Value, span: Span) {
        let what = value.describe();
        let is_vector = matches!(value.shape, Shape::Vector(_));
        self.report.add(code::SHAPES, span, || {
            let message = Diagnostic::error(
                code::SHAPES,
                format!("the value of this {} has the wrong shape", kind.letters()),
            )
            .primary(
                span,
                format!("this is {what}, and it has {size} components"),
            );
            match is_vector {
                true => message.help("a matrix is needed: `diag(…)` makes one of a vector"),
                false => message,
            }
        });
    }

    fn switch(&mut self, thing: ThingId, written: &'a ast::Kind, size: u32) -> Result<Laws, Stop> {
        let given = self.arguments(written, ElementKind::Sw, &["Ron", "Roff"])?;
        let Some(e) = given.value else {
            return Err(self.missing_value(written, ElementKind::Sw));
        };
        let value = self.element_value(thing, e)?;
        self.need_truth(&value, e)?;
        let on = self.components(&value, size, e.span, ElementKind::Sw)?;
        let (r_on, g_off) = self.resistances(thing, &given)?;
        Ok(Laws::Scalars(
            on.into_iter()
                .map(|on| Law::Switch { on, r_on, g_off })
                .collect(),
        ))
    }

    fn diode(&mut self, thing: ThingId, written: &'a ast::Kind, size: u32) -> Result<Laws, Stop> {
        let given = self.arguments(written, ElementKind::D, &["Ron", "Roff", "threshold"])?;
        if let Some(e) = given.value {
            let span = e.span;
            report!(self, code::ARGUMENTS, span, "D takes no value without a name";
                "what is this?";
                help: "{}", named_help(&["Ron", "Roff", "threshold"]));
            return Err(Stop::Reported);
        }
        let (r_on, g_off) = self.resistances(thing, &given)?;
        let threshold = match given.named.iter().find(|(n, _)| &*n.text == "threshold") {
            Some((_, e)) => {
                let value = self.element_value(thing, e)?;
                self.scalar_of(&value, e.span)?
            }
            None => self.pool().number(0.0),
        };
        Ok(Laws::Scalars(vec![
            Law::Diode {
                r_on,
                g_off,
                threshold
            };
            size as usize
        ]))
    }

    /// Resistance when closed and conductance when open, both 0 unless given.
    fn resistances(
        &mut self,
        thing: ThingId,
        given: &ElementArguments<'a>,
    ) -> Result<(ExprId, ExprId), Stop> {
        let (mut r_on, mut g_off) = (self.pool().number(0.0), self.pool().number(0.0));
        for (name, e) in &given.named {
            if &*name.text == "threshold" {
                continue;
            }
            let value = self.element_value(thing, e)?;
            self.check_element_unit(thing, &value, e, |this, d| {
                let dim = |v| this.texts.dimension_in(d, v, ElementKind::R);
                dim(Variable::Effort).per(dim(Variable::Flow))
            });
            let r = self.scalar_of(&value, e.span)?;
            match &*name.text {
                "Ron" => r_on = r,
                // 0 stands for an ideal switch, which lets nothing through.
                _ if self.fixed.constants.value(&self.graph.signals, r) == Some(0.0) => {
                    self.structural(r, e.span);
                }
                _ => {
                    let one = self.pool().number(1.0);
                    g_off = self.pool().div(one, r);
                }
            }
        }
        Ok((r_on, g_off))
    }

    /// Compares the unit of a value with what the domain of the thing's bond expects.
    fn check_element_unit(
        &mut self,
        thing: ThingId,
        value: &Value,
        e: &ast::Expr,
        expected: impl FnOnce(&Self, DomainId) -> Dimension,
    ) {
        let bond = self.tables.things[thing.at()].bonds.first().map(|b| b.1);
        let Some(domain) = bond.and_then(|b| self.bond_domain(b)) else {
            return;
        };
        let Some(found) = value.dimension else { return };
        let wanted = expected(self, domain);
        if found == wanted {
            return;
        }
        self.report_element_unit(thing, wanted, Some(domain), value.unit_at(found, e.span));
    }

    fn report_element_unit(
        &mut self,
        thing: ThingId,
        wanted: Dimension,
        domain: Option<DomainId>,
        value: UnitAt,
    ) {
        let UnitAt {
            dimension: found,
            from,
            span,
        } = value;
        if found.is_one() && self.is_bare_literal(from) {
            self.report_units(UnitAt::implied(wanted, span), value);
            return;
        }

        if self.told.is_blamed(from, span) {
            self.report.is_silent = true;
            return;
        }
        let kind = self.tables.things[thing.at()].kind;
        let domain = domain.map(|d| self.texts.domains.get(d).name.clone());
        let given = self.project.sources.text(span).trim().to_owned();
        let help = match found == wanted.pow(-1, 1) {
            true => format!(
                "{} {} takes the inverse of it: write `{}(1/{given})`",
                article(kind),
                kind.letters(),
                kind.letters()
            ),
            false => format!("give it in `[{}]`", unit_to_write(wanted)),
        };

        self.report.add(code::UNIT_NOT_OF_DOMAIN, span, || {
            let place = domain.map_or(String::new(), |d| {
                format!(" on {} {d} bond", article_of(&d))
            });
            let message = Diagnostic::error(
                code::UNIT_NOT_OF_DOMAIN,
                format!(
                    "the value of {} {}{place} is in {}, not in {}",
                    article(kind),
                    kind.letters(),
                    wanted.describe(),
                    found.describe()
                ),
            )
            .primary(span, format!("this is in {}", found.describe()))
            .help(help);
            match from {
                Some(from) if from.start < span.start || from.end > span.end => {
                    message.secondary(from, "the unit comes from here")
                }
                _ => message,
            }
        });
    }

    pub(super) fn is_bare_literal(&self, from: Option<Span>) -> bool {
        from.is_some_and(|s| self.project.sources.text(s).trim().parse::<f64>().is_ok())
    }

    // -------------------------------------------------------------------------------
    // Laws in braces
    // -------------------------------------------------------------------------------

    /// Gives one variable of all components as a local name.
    fn letter(
        &mut self,
        thing: ThingId,
        variable: Variable,
        side: Option<u32>,
    ) -> Result<Value, Stop> {
        let t = &self.tables.things[thing.at()];
        let (kind, is_vector) = (t.kind, t.is_vector);
        let n = match side {
            Some(1) => t.size_out.max(1),
            _ => t.size.max(1),
        };
        let mut symbols: Vec<SymbolId> = Vec::with_capacity(n as usize);
        let mut dimensions = Vec::with_capacity(n as usize);
        for k in 0..n {
            let port = side.map_or(k, |side| 2 * k + side);
            let bond = self.tables.bond_of(thing, port)?;
            let domain = self.bond_domain(bond);
            let kind = match variable {
                Variable::Stored => holder(
                    self.tables.things[thing.at()]
                        .memories
                        .get(k as usize)
                        .copied(),
                ),
                _ => kind,
            };
            dimensions.push(domain.map(|d| self.texts.dimension_in(d, variable, kind)));
            let b = &self.graph.bonds[bond as usize];
            symbols.push(match variable {
                Variable::Effort => b.effort,
                Variable::Flow => b.flow,
                Variable::Stored => self.tables.things[thing.at()].states[k as usize],
            });
        }

        let shape = if is_vector {
            Shape::Vector(n)
        } else {
            Shape::Scalar
        };
        let elements = symbols.into_iter().map(|s| self.pool().symbol(s)).collect();
        Ok(Value::array(shape, elements).measured_apart(dimensions))
    }

    /// A law in braces: one value for each port.
    pub(super) fn explicit(
        &mut self,
        thing: ThingId,
        law: &'a [ast::LawEquation],
    ) -> Result<Laws, Stop> {
        let t = &self.tables.things[thing.at()];
        let (kind, size, scope, span) = (t.kind, t.size, t.scope, t.span);
        let mut locals = Locals::default();
        for &(letter, variable) in kind.describe().letters_of_law {
            let value = self.letter(thing, variable, None)?;
            locals.names.push((letter, value));
        }

        let ctx = Ctx {
            scope,
            locals: Some(&locals),
            calls: 0,
            means_part: false,
        };

        let mut outputs: Vec<Option<(Variable, ExprId)>> = vec![None; size as usize];
        let equations = match law {
            [only] if kind.is_storage() && &*only.target.text == "energy" => {
                outputs = self.slopes_of_energy(thing, only, ctx)?;
                &[]
            }
            law => law,
        };
        for equation in equations {
            let (variable, first, values) = self.law_equation(thing, equation, ctx)?;
            for (port, e) in (first..).zip(values) {
                if outputs[port].replace((variable, e)).is_some() {
                    return Err(self.bad_law(equation.span, "this port already has a law"));
                }
            }
        }

        if let Some(port) = outputs.iter().position(Option::is_none) {
            let text = match size {
                1 => "the braces are empty: a law says what follows, such as `e = …`".to_owned(),
                _ => format!("component {} has no law", port + 1),
            };
            return Err(self.bad_law(span, &text));
        }

        let outputs: Vec<(Variable, ExprId)> = outputs.into_iter().flatten().collect();
        if self.are_separate(thing, &outputs) {
            let scalars = outputs.into_iter();
            let scalars = scalars.map(|(v, e)| Law::Explicit(vec![(0, v, e)]));
            return Ok(Laws::Scalars(scalars.collect()));
        }

        let rows = outputs.into_iter().enumerate();
        let rows = rows.map(|(k, (v, e))| (k as u32, v, e));
        Ok(Laws::Field(Law::Explicit(rows.collect())))
    }

    /// One equation of a law: which variable it gives, from which port on, and its values.
    fn law_equation(
        &mut self,
        thing: ThingId,
        equation: &'a ast::LawEquation,
        ctx: Ctx<'_>,
    ) -> Result<(Variable, usize, Vec<ExprId>), Stop> {
        let kind = self.tables.things[thing.at()].kind;
        let target = &*equation.target.text;
        let variable = self.law_target(kind, &equation.target)?;
        let value = self.lower(&equation.value, ctx)?;
        let first = self.law_place(thing, equation, &value, ctx)?;

        let names = ctx.locals.map_or(&[][..], |locals| &locals.names);
        let own = names.iter().find(|(l, _)| *l == target).map(|(_, v)| v);
        // The ports of a field may lie in several domains.
        let wanted = own.and_then(|v| match &equation.index {
            Some(_) => v.clone().entry(first).dimension,
            None => v.dimension,
        });
        if let (Some(wanted), Some(found)) = (wanted, value.dimension)
            && wanted != found
        {
            let declared = UnitAt::declared(wanted, equation.target.span);
            self.report_units(declared, value.unit_at(found, equation.value.span));
        }

        let own: &[ExprId] = own.map_or(&[], |v| &v.elements);
        let pool = &self.graph.signals.pool;
        let reads_itself = (first..).zip(&value.elements).any(|(port, &e)| {
            let symbol = own.get(port).and_then(|&own| pool.as_symbol(own));
            symbol.is_some_and(|s| paynter_symbolic::walk::depends_on(pool, e, s))
        });
        if reads_itself {
            return Err(self.bad_law(
                equation.span,
                "the variable on the left appears on the right as well",
            ));
        }
        Ok((variable, first, value.elements))
    }

    /// The variable that the left side of a law stands for.
    fn law_target(&mut self, kind: ElementKind, target: &ast::Ident) -> Result<Variable, Stop> {
        let row = kind.describe();
        let is_target =
            |(l, _): &&(&str, Variable)| **l == *target.text && row.law_gives.contains(l);
        if let Some(&(_, variable)) = row.letters_of_law.iter().find(is_target) {
            return Ok(variable);
        }
        let text = format!(
            "a law of {} gives `{}`{}",
            row.letters,
            row.law_gives.join("` or `"),
            if kind.is_storage() {
                ", or `energy` alone"
            } else {
                ""
            }
        );
        Err(self.bad_law(target.span, &text))
    }

    /// The port from which on an equation of a law gives values; they must be as many as the ports.
    fn law_place(
        &mut self,
        thing: ThingId,
        equation: &'a ast::LawEquation,
        value: &Value,
        ctx: Ctx<'_>,
    ) -> Result<usize, Stop> {
        let t = &self.tables.things[thing.at()];
        let (size, is_vector) = (t.size, t.is_vector);
        match &equation.index {
            Some(index) => {
                let k = self.whole_number(index, ctx).ok_or(Stop::Reported)?;
                if !is_vector || !(1..=i64::from(size)).contains(&k) {
                    self.report_component(index.span, size);
                    return Err(Stop::Reported);
                }
                self.scalar_of(value, equation.value.span)?;
                Ok((k - 1) as usize)
            }
            None if value.shape.rows_columns() != (size, 1) => {
                let what = value.describe();
                let text = format!("this is {what}, and the element has {size} components");
                Err(self.bad_law(equation.value.span, &text))
            }
            None => Ok(0),
        }
    }

    /// Tells whether the components of a law do not see each other: then they are so many scalars.
    fn are_separate(&self, thing: ThingId, outputs: &[(Variable, ExprId)]) -> bool {
        let t = &self.tables.things[thing.at()];
        let own_symbols = |port: u32| -> Vec<SymbolId> {
            let mut own: Vec<SymbolId> = t.states.get(port as usize).copied().into_iter().collect();
            if let Some(&(_, bond)) = t.bonds.iter().find(|(p, _)| *p == port) {
                let b = &self.graph.bonds[bond as usize];
                own.extend([b.effort, b.flow]);
            }
            own
        };
        let all: Vec<Vec<SymbolId>> = (0..t.size).map(own_symbols).collect();
        t.kind != ElementKind::Gy
            && outputs.iter().enumerate().all(|(k, (_, e))| {
                let read = paynter_symbolic::walk::symbols_of(&self.graph.signals.pool, *e);
                let sees = |own: &[SymbolId]| own.iter().any(|s| read.binary_search(s).is_ok());
                let mut others = all.iter().enumerate().filter(|&(j, _)| j != k);
                !others.any(|(_, own)| sees(own))
            })
    }

    /// The law of a storage by its energy: what each port answers is the slope along its own state, so that the field is reciprocal.
    fn slopes_of_energy(
        &mut self,
        thing: ThingId,
        equation: &'a ast::LawEquation,
        ctx: Ctx<'_>,
    ) -> Result<Vec<Option<(Variable, ExprId)>>, Stop> {
        let value = self.lower(&equation.value, ctx)?;
        let energy = self.scalar_of(&value, equation.value.span)?;
        if let Some(found) = value.dimension
            && found != Dimension::ENERGY
        {
            let declared = UnitAt::declared(Dimension::ENERGY, equation.target.span);
            self.report_units(declared, value.unit_at(found, equation.value.span));
        }

        let t = &self.tables.things[thing.at()];
        let (kind, states) = (t.kind, t.states.clone());
        let memories = t.memories.clone();
        let bonds: Vec<u32> = t.bonds.iter().map(|b| b.1).collect();
        let powers = bonds.iter().flat_map(|&b| {
            let bond = &self.graph.bonds[b as usize];
            [bond.effort, bond.flow]
        });
        let powers: Vec<SymbolId> = powers.collect();
        let read = paynter_symbolic::walk::symbols_of(&self.graph.signals.pool, energy);
        if read.iter().any(|s| powers.contains(s)) {
            let text = match kind {
                ElementKind::C => "the energy of a C is a function of `q`",
                ElementKind::Ic => "the energy of an IC is a function of `p` and `q`",
                _ => "the energy of an I is a function of `p`",
            };
            return Err(self.bad_law(equation.value.span, text));
        }

        let pool = &mut self.graph.signals.pool;
        let slopes = paynter_symbolic::calculus::gradient(pool, energy, &states);
        let given = |memory: &Memory| match memory {
            Memory::Displacement => Variable::Effort,
            Memory::Momentum => Variable::Flow,
        };
        let rows = slopes.into_iter().zip(&memories);
        Ok(rows.map(|(e, m)| Some((given(m), e))).collect())
    }

    /// Lowers the modulus of a TF or GY; true if it is of the inverse form.
    pub(super) fn two_port_modulus(&mut self, thing: ThingId) -> Result<(Value, bool), Stop> {
        let t = &self.tables.things[thing.at()];
        let (kind, written, scope) = (t.kind, t.written, t.scope);
        let written = written.ok_or(Stop::Reported)?;
        let Some(law) = written.law.as_deref() else {
            let value = self.given_ratio(thing, written)?;
            return Ok((value, false));
        };
        let [equation] = law else {
            return Err(self.bad_law(
                written.span,
                "one equation is enough: the other follows, since power is kept",
            ));
        };

        let Some((output, input, is_inverse)) = two_port_form(kind, &equation.target.text) else {
            return Err(self.bad_law(equation.target.span, "a two-port gives e1, f1, e2 or f2"));
        };

        let locals = self.two_port_letters(thing)?;
        let ctx = Ctx {
            scope,
            locals: Some(&locals),
            calls: 0,
            means_part: false,
        };
        let value = self.lower(&equation.value, ctx)?;
        self.need_numbers(&value, equation.value.span)?;
        let modulus = self.modulus_of_law(&value, &locals, (output, input), equation.value.span)?;

        // M is written from the first side to the second; a law that gives the first side has Mᵀ.
        let modulus = match output.ends_with('1') {
            true => super::lower::transpose(&modulus),
            false => modulus,
        };
        Ok((modulus, is_inverse))
    }

    /// Lowers the ratio in parentheses.
    fn given_ratio(&mut self, thing: ThingId, written: &'a ast::Kind) -> Result<Value, Stop> {
        let t = &self.tables.things[thing.at()];
        let (kind, scope) = (t.kind, t.scope);
        let given = self.arguments(written, kind, &[])?;
        let Some(e) = given.value else {
            report!(self, code::ARGUMENTS, written.span, "this {} has no ratio", kind.letters();
                "no value and no law";
                help: "{}", kind.describe().needs);
            return Err(Stop::Reported);
        };
        let value = self.lower(e, Ctx::of(scope))?;
        self.need_numbers(&value, e.span)?;
        self.check_ratio_unit(thing, &value, false, e.span);
        Ok(value)
    }

    /// Reads M off `output = M*input`: each row must be linear in the inputs and read nothing else of the two-port.
    fn modulus_of_law(
        &mut self,
        value: &Value,
        locals: &Locals<'_>,
        (output, input): (&str, &str),
        span: Span,
    ) -> Result<Value, Stop> {
        let find = |name: &str| {
            let found = locals.names.iter().find(|(l, _)| *l == name);
            found.map_or(Vec::new(), |(_, v)| v.elements.clone())
        };
        let (outs, ins) = (find(output), find(input));
        if value.elements.len() != outs.len() {
            let text = format!("this is {}, and `{output}` is not", value.describe());
            return Err(self.bad_law(span, &text));
        }

        let pool = &mut self.graph.signals.pool;
        let symbols: Vec<SymbolId> = ins.iter().filter_map(|&e| pool.as_symbol(e)).collect();
        let letters = locals.names.iter().flat_map(|(_, v)| &v.elements);
        let others: Vec<SymbolId> = letters
            .filter_map(|&e| pool.as_symbol(e))
            .filter(|s| !symbols.contains(s))
            .collect();

        let mut elements: Vec<ExprId> = Vec::new();
        for &e in &value.elements {
            let reads_other = others
                .iter()
                .any(|&s| paynter_symbolic::walk::depends_on(pool, e, s));
            match linear_in(pool, e, &symbols) {
                Some((row, rest)) if !reads_other && pool.as_number(rest) == Some(0.0) => {
                    elements.extend(row);
                }
                _ => {
                    let text = format!(
                        "`{output}` must be something times `{input}`, so that power is kept"
                    );
                    return Err(self.bad_law(span, &text));
                }
            }
        }

        Ok(match (outs.len(), ins.len()) {
            (1, 1) => Value::scalar(elements[0]),
            (rows, columns) => Value::array(Shape::Matrix(rows as u32, columns as u32), elements),
        })
    }

    fn two_port_letters(&mut self, thing: ThingId) -> Result<Locals<'static>, Stop> {
        let mut locals = Locals::default();
        for (letter, variable, side) in [
            ("e1", Variable::Effort, 0),
            ("f1", Variable::Flow, 0),
            ("e2", Variable::Effort, 1),
            ("f2", Variable::Flow, 1),
        ] {
            let value = self.letter(thing, variable, Some(side))?;
            locals.names.push((letter, value));
        }
        Ok(locals)
    }

    fn check_ratio_unit(&mut self, thing: ThingId, value: &Value, is_inverse: bool, span: Span) {
        let t = &self.tables.things[thing.at()];
        let side = |side: u32| {
            t.bonds
                .iter()
                .find(|(p, _)| p % 2 == side)
                .and_then(|b| self.bond_domain(b.1))
        };
        let (Some(first), Some(second), Some(found)) = (side(0), side(1), value.dimension) else {
            return;
        };
        let kind = t.kind;
        let dim = |d, v| self.texts.dimension_in(d, v, kind);
        let wanted = match kind {
            ElementKind::Tf => dim(second, Variable::Flow).per(dim(first, Variable::Flow)),
            _ => dim(first, Variable::Effort).per(dim(second, Variable::Flow)),
        };
        let wanted = if is_inverse {
            wanted.pow(-1, 1)
        } else {
            wanted
        };
        if found != wanted {
            self.report_element_unit(thing, wanted, None, value.unit_at(found, span));
        }
    }

    /// Lowers the law of an RS.
    pub(super) fn heating_law(&mut self, thing: ThingId) -> Result<Law, Stop> {
        let t = &self.tables.things[thing.at()];
        let (written, scope) = (t.written, t.scope);
        let written = written.ok_or(Stop::Reported)?;
        let Some(law) = &written.law else {
            let given = self.arguments(written, ElementKind::Rs, &[])?;
            let Some(e) = given.value else {
                return Err(self.missing_value(written, ElementKind::Rs));
            };
            let value = self.lower(e, Ctx::of(scope))?;
            let r = self.scalar_of(&value, e.span)?;
            let bond = self.tables.bond_of(thing, 0)?;
            let flow = self.graph.bonds[bond as usize].flow;
            let flow = self.pool().symbol(flow);
            let effort = self.pool().mul(r, flow);
            return Ok(Law::Explicit(vec![(0, Variable::Effort, effort)]));
        };

        let [equation] = law.as_slice() else {
            return Err(self.bad_law(
                written.span,
                "one equation is enough: all loss becomes entropy at the second port",
            ));
        };

        let variable = match &*equation.target.text {
            "e1" => Variable::Effort,
            "f1" => Variable::Flow,
            _ => {
                return Err(self.bad_law(equation.target.span, "a law of RS gives `e1` or `f1`"));
            }
        };

        let locals = self.two_port_letters(thing)?;
        let ctx = Ctx {
            scope,
            locals: Some(&locals),
            calls: 0,
            means_part: false,
        };
        let e = self.lower_scalar(&equation.value, ctx)?;
        Ok(Law::Explicit(vec![(0, variable, e)]))
    }
}

fn article_of(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    }
}

pub(super) fn article(kind: ElementKind) -> &'static str {
    kind.describe().article
}

fn named_help(allowed: &[&str]) -> String {
    match allowed {
        [] => "a second value has no meaning here: delete it".to_owned(),
        names => format!("its named arguments are `{}`", names.join("`, `")),
    }
}

/// What a law of a two-port gives, from what, and whether that is the inverse of its ratio.
fn two_port_form(kind: ElementKind, target: &str) -> Option<(&'static str, &'static str, bool)> {
    Some(match (kind, target) {
        (ElementKind::Tf, "f2") => ("f2", "f1", false),
        (ElementKind::Tf, "e1") => ("e1", "e2", false),
        (ElementKind::Tf, "e2") => ("e2", "e1", true),
        (ElementKind::Tf, "f1") => ("f1", "f2", true),
        (_, "e1") => ("e1", "f2", false),
        (_, "e2") => ("e2", "f1", false),
        (_, "f1") => ("f1", "e2", true),
        (_, "f2") => ("f2", "e1", true),
        _ => return None,
    })
}
