//! Settings of an experiment: times, tolerances, method, constraints.
//!
//! In:  `name = value`.
//! Out: fields of the plan, in SI.

use paynter_syntax::{Diagnostic, Span, ast};

use super::{Constraints, Method, Parasitic, Planner};
use crate::code;
use crate::suggest::nearest;
use crate::units::{Dimension, format_number};

/// Every setting there is.
const SETTINGS: [&str; 13] = [
    "start",
    "stop",
    "method",
    "rtol",
    "atol",
    "output_step",
    "output_start",
    "max_step",
    "max_steps",
    "initial_step",
    "constraints",
    "step",
    "quantiser_gain",
];

const CONSTRAINTS: [&str; 6] = [
    "auto",
    "minimal",
    "multiplier",
    "parasitic",
    "implicit",
    "delayed",
];

/// Below this relative tolerance double precision has no digits left for the steps.
const SMALLEST_RTOL: f64 = 1e-14;

impl Planner<'_> {
    pub(super) fn setting(&mut self, name: &ast::Ident, value: &ast::Expr) {
        let text = &*name.text;
        if let Some((_, first)) = self.given.iter().find(|(given, _)| given == text) {
            let diagnostic =
                Diagnostic::error(code::SETTING_TWICE, format!("`{text}` is set twice"))
                    .primary(name.span, "set again")
                    .secondary(*first, "first here");
            self.report(diagnostic);
            return;
        }

        self.given.push((text.to_owned(), name.span));
        let positive: fn(f64) -> bool = |x| x > 0.0;
        let is_count: fn(f64) -> bool = |x| x >= 1.0 && x.fract() == 0.0;
        match text {
            "start" => self
                .time(name, value, |_| true, "a time")
                .map(|t| self.plan.start = t),
            "stop" => self.time(name, value, |_| true, "a time").map(|t| {
                self.plan.stop = t;
                self.plan.is_stop_default = false;
            }),
            "output_start" => self
                .time(name, value, |_| true, "a time")
                .map(|t| self.plan.output_start = Some(t)),
            "output_step" => self
                .time(name, value, positive, POSITIVE)
                .map(|t| self.plan.output_step = Some(t)),
            "max_step" => self
                .time(name, value, positive, POSITIVE)
                .map(|t| self.plan.max_step = Some(t)),
            "max_steps" => self
                .number(name, value, Some(Dimension::ONE), is_count, COUNT)
                .map(|n| self.plan.max_steps = Some(n as usize)),
            "initial_step" => self
                .time(name, value, positive, POSITIVE)
                .map(|t| self.plan.initial_step = Some(t)),
            "step" => self
                .time(name, value, positive, POSITIVE)
                .map(|t| self.plan.fixed_step = Some(t)),
            "quantiser_gain" => self
                .number(name, value, Some(Dimension::ONE), |_| true, "a number")
                .map(|x| self.plan.quantiser_gain = Some(x)),
            "rtol" => self.rtol(name, value).map(|x| self.plan.rtol = x),
            // A single absolute tolerance serves quantities of all units: any unit is accepted.
            "atol" => self
                .number(name, value, None, positive, POSITIVE)
                .map(|x| self.plan.atol = Some(x)),
            "method" => self.method(value).map(|(method, step)| {
                self.plan.method = method;
                self.plan.fixed_step = step.or(self.plan.fixed_step);
            }),
            "constraints" => self.constraints(value).map(|c| self.plan.constraints = c),
            _ => {
                self.unknown_setting(name);
                None
            }
        };
    }

    fn unknown_setting(&mut self, name: &ast::Ident) {
        let message = format!("an experiment has no setting `{}`", name.text);
        let diagnostic =
            Diagnostic::error(code::UNKNOWN_SETTING, message).primary(name.span, "not a setting");
        let diagnostic = match nearest(&name.text, SETTINGS) {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None => diagnostic.help(format!(
                "values of the model are changed by `with {} = …`",
                name.text
            )),
        };
        self.report(diagnostic);
    }

    fn time(
        &mut self,
        name: &ast::Ident,
        value: &ast::Expr,
        holds: fn(f64) -> bool,
        rule: &str,
    ) -> Option<f64> {
        self.number(name, value, Some(Dimension::TIME), holds, rule)
    }

    pub(super) fn rtol(&mut self, name: &ast::Ident, value: &ast::Expr) -> Option<f64> {
        let is_tolerance: fn(f64) -> bool = |x| (SMALLEST_RTOL..1.0).contains(&x);
        let rule = "between 1e-14 and 1";
        self.number(name, value, Some(Dimension::ONE), is_tolerance, rule)
    }

    /// A fixed finite number in SI that obeys a rule.
    pub(super) fn number(
        &mut self,
        name: &ast::Ident,
        value: &ast::Expr,
        dimension: Option<Dimension>,
        holds: fn(f64) -> bool,
        rule: &str,
    ) -> Option<f64> {
        let (number, found) = self.constant(value)?;
        if let (Some(found), Some(expected)) = (found, dimension)
            && found != expected
        {
            let diagnostic = wrong_unit(&name.text, value.span, found, expected);
            self.report(diagnostic);
            return None;
        }
        if number.is_finite() && holds(number) {
            return Some(number);
        }
        let message = format!("`{}` must be {rule}", name.text);
        let diagnostic = Diagnostic::error(code::SETTING_VALUE, message).primary(
            value.span,
            format!("this is {} in SI units", format_number(number)),
        );
        self.report(diagnostic);
        None
    }

    /// The value of an expression that is one number and does not change.
    pub(super) fn constant(&mut self, value: &ast::Expr) -> Option<(f64, Option<Dimension>)> {
        let read = self.scope.read(value)?;
        let refuse = |label: &str| {
            Diagnostic::error(code::SETTING_VALUE, "a fixed number is needed here")
                .primary(value.span, label)
        };
        let [(_, e)] = read.entries[..] else {
            self.report(refuse("this is not one number"));
            return None;
        };
        match self.scope.constant(e) {
            Some(number) => Some((number, read.dimension)),
            None => {
                self.report(refuse("this changes during a run"));
                None
            }
        }
    }

    pub(super) fn method(&mut self, value: &ast::Expr) -> Option<(Method, Option<f64>)> {
        let Some((word, args)) = word(value) else {
            self.unknown_method("this", value.span);
            return None;
        };
        let Some(method) = Method::named(&word.text) else {
            self.unknown_method(&word.text, value.span);
            return None;
        };
        let step = self.only_argument(args, "step", Dimension::TIME);
        if method.has_fixed_step() && step.is_none() && self.plan.fixed_step.is_none() {
            let example = format!("write `method = {}(step = 1 [ms])`", method.name());
            let message = format!("the method `{}` needs a step", method.name());
            let diagnostic = Diagnostic::error(code::SETTING_VALUE, message)
                .primary(value.span, "takes steps of one size")
                .help(example);
            self.report(diagnostic);
            return None;
        }
        Some((method, step))
    }

    fn unknown_method(&mut self, text: &str, span: Span) {
        let names = || Method::ALL.iter().map(|m| m.name());
        let diagnostic =
            Diagnostic::error(code::UNKNOWN_METHOD, format!("there is no method `{text}`"))
                .primary(span, "not a method");
        // Radau methods are asked for by habit; the Rosenbrock method serves the same problems.
        let diagnostic = if text.starts_with("radau") {
            diagnostic.help("for stiff systems of moderate size write `method = rodas5p`")
        } else if let Some(meant) = nearest(text, names()) {
            diagnostic.help(format!("did you mean `{meant}`?"))
        } else {
            let names: Vec<String> = names().map(|n| format!("`{n}`")).collect();
            diagnostic.help(format!("the methods are {}", names.join(", ")))
        };
        self.report(diagnostic);
    }

    /// The argument `name` of `ab2(step = …)`; anything else is refused.
    fn only_argument(&mut self, args: &[ast::Arg], name: &str, unit: Dimension) -> Option<f64> {
        let mut found = None;
        for arg in args {
            let is_it = arg.name.as_ref().is_none_or(|n| &*n.text == name);
            if !is_it || found.is_some() {
                let message = format!("the only argument here is `{name}`");
                let diagnostic = Diagnostic::error(code::SETTING_VALUE, message)
                    .primary(arg.value.span, "unknown");
                self.report(diagnostic);
                continue;
            }
            let ident = ast::Ident {
                text: name.into(),
                span: arg.value.span,
            };
            found = self.number(&ident, &arg.value, Some(unit), |x| x > 0.0, POSITIVE);
        }
        found
    }

    pub(super) fn constraints(&mut self, value: &ast::Expr) -> Option<Constraints> {
        let found = word(value).map(|(word, args)| (&*word.text, args));
        match found {
            Some(("auto", [])) => Some(Constraints::Auto),
            Some(("minimal", [])) => Some(Constraints::Minimal),
            Some(("multiplier", [])) => Some(Constraints::Multiplier),
            Some(("implicit", [])) => Some(Constraints::Implicit),
            Some(("delayed", args)) => self.delayed(args),
            Some(("parasitic", args)) => self.parasitic(args),
            Some((text, _)) => {
                let diagnostic = match nearest(text, CONSTRAINTS) {
                    Some(meant) if meant != text => unknown_constraints(text, value.span)
                        .help(format!("did you mean `{meant}`?")),
                    Some(_) => unknown_constraints(text, value.span).help("it takes no arguments"),
                    None => unknown_constraints(text, value.span),
                };
                self.report(diagnostic);
                None
            }
            None => {
                self.report(unknown_constraints("this", value.span));
                None
            }
        }
    }

    /// `delayed`, or `delayed(gimbal.iy.p, gimbal.iz.p)`.
    fn delayed(&mut self, args: &[ast::Arg]) -> Option<Constraints> {
        for arg in args {
            let read = self.scope.read(&arg.value)?;
            let symbol = match &read.entries[..] {
                [(_, value)] => self.scope.pool().as_symbol(*value),
                _ => None,
            };
            let Some(symbol) = symbol.filter(|_| arg.name.is_none()) else {
                let diagnostic = Diagnostic::error(
                    code::UNKNOWN_CONSTRAINTS,
                    "`delayed` takes momenta and displacements of single storages",
                )
                .primary(arg.value.span, "not one of these")
                .help("write `delayed(gimbal.iy.p, gimbal.iz.p)`, or `delayed` for all dependent storages");
                self.report(diagnostic);
                return None;
            };
            self.plan.delayed.push(symbol);
        }
        Some(Constraints::Delayed)
    }

    fn parasitic(&mut self, args: &[ast::Arg]) -> Option<Constraints> {
        let mut asked = Parasitic::default();
        for arg in args {
            let Some(name) = arg.name.clone() else {
                self.report(unknown_spring(arg.value.span));
                return None;
            };
            let slot = match &*name.text {
                "k" => &mut asked.k,
                "b" => &mut asked.b,
                "k_turn" => &mut asked.k_turn,
                "b_turn" => &mut asked.b_turn,
                "time" => {
                    asked.time = Some(self.time(&name, &arg.value, |x| x > 0.0, POSITIVE)?);
                    continue;
                }
                _ => {
                    self.report(unknown_spring(name.span));
                    return None;
                }
            };
            // Stiffness of a turning joint is in N*m/rad, of a sliding one in N/m: one number may stand for
            // both, so the unit is not checked.
            *slot = Some(self.number(&name, &arg.value, None, |x| x > 0.0, POSITIVE)?);
        }
        Some(Constraints::Parasitic(asked))
    }

    /// Checks that need all settings.
    /// Measures read curves while there is a run.
    pub(super) fn check_instants(&mut self) {
        let (start, stop) = (self.plan.start, self.plan.stop);
        for (time, span) in std::mem::take(&mut self.instants) {
            if stop > start && !(start..=stop).contains(&time) {
                let message = format!("the measure reads a curve at {time} s, outside the run");
                let diagnostic = Diagnostic::error(code::SETTING_VALUE, message)
                    .primary(span, format!("the run goes from {start} s to {stop} s"));
                self.report(diagnostic);
            }
        }
    }

    pub(super) fn check_times(&mut self) {
        let (start, stop) = (self.plan.start, self.plan.stop);
        let span_of = |given: &[(String, Span)], name: &str| {
            given.iter().find(|(n, _)| n == name).map(|(_, span)| *span)
        };
        let stop_span = span_of(&self.given, "stop");
        if stop <= start && (stop_span.is_some() || start > 0.0) {
            let message = match stop < start {
                true => format!("the run ends at {stop} s, before it starts at {start} s"),
                false => {
                    format!("the run ends at {stop} s, where it starts: nothing would be computed")
                }
            };
            let place = stop_span
                .or(span_of(&self.given, "start"))
                .unwrap_or_default();
            let diagnostic = Diagnostic::error(code::STOP_BEFORE_START, message)
                .primary(place, "the end must come after the start")
                .help("write how long to run, such as `stop = 10 [s]`");
            self.report(diagnostic);
            return;
        }

        if let Some(first) = self.plan.output_start
            && !(start..=stop).contains(&first)
        {
            let place = span_of(&self.given, "output_start").unwrap_or_default();
            let message = format!("the first output at {first} s lies outside the run");
            let diagnostic = Diagnostic::error(code::STOP_BEFORE_START, message)
                .primary(place, format!("the run goes from {start} s to {stop} s"));
            self.report(diagnostic);
        }

        // A file of more rows is a slip of units (1 ms for 1 h) rather than a wish.
        const MOST_ROWS: f64 = 1e8;
        if let Some(step) = self.plan.output_step
            && (stop - start) / step > MOST_ROWS
        {
            let place = span_of(&self.given, "output_step").unwrap_or_default();
            let rows = (stop - start) / step;
            let diagnostic = Diagnostic::error(
                code::SETTING_VALUE,
                "`output_step` is too small for the run",
            )
            .primary(place, format!("would make {rows:.1e} rows"));
            self.report(diagnostic);
        }
    }
}

const POSITIVE: &str = "greater than zero";
const COUNT: &str = "a whole number above zero";

pub(super) fn wrong_unit(
    what: &str,
    span: Span,
    found: Dimension,
    expected: Dimension,
) -> Diagnostic {
    let describe = |d: Dimension| match d.is_one() {
        true => "a plain number".to_owned(),
        false => format!("in {}", d.describe()),
    };
    Diagnostic::error(
        code::SETTING_UNIT,
        format!("`{what}` must be {}", describe(expected)),
    )
    .primary(span, format!("this is {}", describe(found)))
    .help(match expected.is_one() {
        true => "write it without a unit".to_owned(),
        false => {
            let unit = expected.unit().text;
            format!("write its unit after the number, such as `5 [{unit}]`")
        }
    })
}

fn unknown_constraints(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        code::UNKNOWN_CONSTRAINTS,
        format!("`{text}` is not a way to enforce constraints"),
    )
    .primary(
        span,
        "one of `auto`, `minimal`, `multiplier`, `parasitic(k = …, b = …)`, `implicit`, `delayed(…)`",
    )
}

fn unknown_spring(span: Span) -> Diagnostic {
    Diagnostic::error(
        code::UNKNOWN_CONSTRAINTS,
        "`parasitic` takes `k`, `b`, `k_turn`, `b_turn` and `time`",
    )
    .primary(span, "none of these")
    .help("write `parasitic(k = 1e7 [N/m], b = 200 [N*s/m])`, or `parasitic` alone: then stiffness follows from the masses")
}

/// A bare word, or a call: `auto`, `ab2(step = …)`.
pub(super) fn word(value: &ast::Expr) -> Option<(&ast::Ident, &[ast::Arg])> {
    match &value.kind {
        ast::ExprKind::Name(name) => Some((name, &[])),
        ast::ExprKind::Call { function, args } => match &function.segments[..] {
            [name] => Some((name, args)),
            _ => None,
        },
        _ => None,
    }
}
