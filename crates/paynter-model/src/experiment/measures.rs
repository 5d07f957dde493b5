//! Measures: numbers read off curves, and arithmetic on them.
//!
//! In:  `rise_time(theta, 10 [%], 90 [%])`, `integral(x)/2`.
//! Out: a [`Measure`] with its dimension.

use paynter_symbolic::{ExprId, Function1, Function2};
use paynter_syntax::{Diagnostic, Span, ast};

use super::settings::{word, wrong_unit};
use super::{Functional, Measure, Measured, NamedRun, Operation, Planner};
use crate::code;
use crate::suggest::nearest;
use crate::units::{Dimension, Unit};

/// One functional: its arguments (one that ends in `?` may be left out) and how it is made.
struct MeasureRow {
    name: &'static str,
    parameters: &'static [&'static str],
    make: fn(&mut Planner, &[Option<&ast::Expr>], Span) -> Option<Known>,
}

/// A measure with what is known of its unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub value: Measure,
    pub dimension: Option<Dimension>,
    pub unit: Option<Unit>,
}

const ROWS: &[MeasureRow] = &[
    MeasureRow {
        name: "final",
        parameters: &["x"],
        make: |p, a, _| p.of_curve(a, Functional::Final),
    },
    MeasureRow {
        name: "max",
        parameters: &["x"],
        make: |p, a, _| p.of_curve(a, Functional::Max),
    },
    MeasureRow {
        name: "min",
        parameters: &["x"],
        make: |p, a, _| p.of_curve(a, Functional::Min),
    },
    MeasureRow {
        name: "mean",
        parameters: &["x"],
        make: |p, a, _| p.of_curve(a, Functional::Mean),
    },
    MeasureRow {
        name: "rms",
        parameters: &["x"],
        make: |p, a, _| p.of_curve(a, Functional::Rms),
    },
    MeasureRow {
        name: "integral",
        parameters: &["x"],
        make: integral,
    },
    MeasureRow {
        name: "peak_time",
        parameters: &["x"],
        make: peak_time,
    },
    MeasureRow {
        name: "at",
        parameters: &["x", "time"],
        make: at,
    },
    MeasureRow {
        name: "rise_time",
        parameters: &["x", "low?", "high?", "target?"],
        make: rise_time,
    },
    MeasureRow {
        name: "overshoot",
        parameters: &["x", "target?", "start?"],
        make: overshoot,
    },
    MeasureRow {
        name: "undershoot",
        parameters: &["x", "target?", "start?"],
        make: undershoot,
    },
    MeasureRow {
        name: "settling_time",
        parameters: &["x", "band?"],
        make: settling_time,
    },
    MeasureRow {
        name: "difference",
        parameters: &["x", "run"],
        make: |p, a, _| p.difference(a, |x, run| Functional::Difference { x, run }),
    },
    MeasureRow {
        name: "rms_difference",
        parameters: &["x", "run"],
        make: |p, a, _| p.difference(a, |x, run| Functional::RmsDifference { x, run }),
    },
    MeasureRow {
        name: "change",
        parameters: &["measure", "run"],
        make: change,
    },
    MeasureRow {
        name: "efficiency",
        parameters: &["from", "to"],
        make: efficiency,
    },
    MeasureRow {
        name: "gain_margin",
        parameters: &["at"],
        make: gain_margin,
    },
    MeasureRow {
        name: "phase_margin",
        parameters: &["at"],
        make: phase_margin,
    },
];

/// Functions of measures.
const FUNCTIONS: &[(&str, Function1)] = &[
    ("abs", Function1::Abs),
    ("sqrt", Function1::Sqrt),
    ("log", Function1::Log),
    ("log10", Function1::Log10),
    ("exp", Function1::Exp),
];

/// Deepest nesting of a measure. The parser stops at 500 operators; this bound keeps the stack
/// safe for trees that were built otherwise.
const DEEPEST: usize = 1000;

impl Planner<'_> {
    pub(super) fn measure(&mut self, name: &ast::Ident, value: &ast::Expr) {
        if let Some(first) = self.plan.measures.iter().find(|m| m.name == *name.text) {
            let diagnostic = Diagnostic::error(
                code::DUPLICATE_MEASURE,
                format!("`{}` is measured twice", name.text),
            )
            .primary(name.span, "the name is taken")
            .secondary(first.span, "by this one");
            self.report(diagnostic);
            return;
        }
        if let Some(known) = self.measure_of(value, 0) {
            let in_si = || known.dimension.filter(|d| !d.is_one()).map(Dimension::unit);
            self.plan.measures.push(Measured {
                name: name.text.to_string(),
                value: known.value,
                unit: known.unit.or_else(in_si),
                dimension: known.dimension,
                span: name.span,
            });
        }
    }

    /// Reads a measure; the depth is bounded.
    pub(super) fn measure_of(&mut self, e: &ast::Expr, depth: usize) -> Option<Known> {
        if depth == 0 && !self.recorded.is_empty() {
            let (meant, _) = self.as_recorded(e);
            return self.measure_of(&meant, 1);
        }

        if depth > DEEPEST {
            let diagnostic =
                Diagnostic::error(code::NOT_A_MEASURE, "this measure is nested too deep")
                    .primary(e.span, "give parts of it names of their own");
            self.report(diagnostic);
            return None;
        }

        match &e.kind {
            ast::ExprKind::Name(name) => {
                let position = self.plan.measures.iter().position(|m| m.name == *name.text);
                match position {
                    Some(position) => {
                        let earlier = &self.plan.measures[position];
                        Some(Known {
                            value: Measure::Earlier(position),
                            dimension: earlier.dimension,
                            unit: earlier.unit.clone(),
                        })
                    }
                    None => self.fixed(e),
                }
            }
            ast::ExprKind::Unary {
                op: ast::UnaryOp::Neg,
                of,
            } => {
                let known = self.measure_of(of, depth + 1)?;
                Some(Known {
                    value: Measure::Negative(Box::new(known.value)),
                    ..known
                })
            }
            ast::ExprKind::Unary {
                op: ast::UnaryOp::Plus,
                of,
            } => self.measure_of(of, depth + 1),
            ast::ExprKind::Binary { op, left, right } => match operation(*op) {
                Some(operation) => self.arithmetic(operation, left, right, depth),
                None => self.fixed(e),
            },
            ast::ExprKind::Call { .. } => self.measure_call(e, depth),
            _ => self.fixed(e),
        }
    }

    fn measure_call(&mut self, e: &ast::Expr, depth: usize) -> Option<Known> {
        let Some((name, args)) = word(e) else {
            return self.fixed(e);
        };
        let two = match &*name.text {
            "max" => Some(Function2::Max),
            "min" => Some(Function2::Min),
            _ => None,
        };
        if let (Some(function), [a, b]) = (two, args) {
            return self.call2(function, &a.value, &b.value, depth);
        }
        if let Some(row) = ROWS.iter().find(|row| row.name == &*name.text) {
            let slots = self.bind(row, args, e.span)?;
            return (row.make)(self, &slots, e.span);
        }
        let function = FUNCTIONS.iter().find(|(n, _)| *n == &*name.text);
        if let (Some((_, function)), [a]) = (function, args) {
            let known = self.measure_of(&a.value, depth + 1)?;
            let dimension = match function {
                Function1::Abs => known.dimension,
                Function1::Sqrt => known.dimension.map(Dimension::sqrt),
                _ => known.dimension.map(|_| Dimension::ONE),
            };
            let unit = known.unit.filter(|_| *function == Function1::Abs);
            return Some(Known {
                value: Measure::Call1(*function, Box::new(known.value)),
                dimension,
                unit,
            });
        }

        if !crate::functions::is_built_in(&name.text)
            && let Some(meant) = nearest(&name.text, ROWS.iter().map(|row| row.name))
        {
            let diagnostic = Diagnostic::error(
                code::NOT_A_MEASURE,
                format!("there is no measure `{}`", name.text),
            )
            .primary(name.span, "not a measure")
            .help(format!("did you mean `{meant}`?"));
            self.report(diagnostic);
            return None;
        }
        self.fixed(e)
    }

    fn bind<'e>(
        &mut self,
        row: &MeasureRow,
        args: &'e [ast::Arg],
        span: Span,
    ) -> Option<Vec<Option<&'e ast::Expr>>> {
        let usage = format!(
            "{}({})",
            row.name,
            row.parameters.join(", ").replace('?', "")
        );

        let refuse = |span: Span, label: String| {
            Diagnostic::error(
                code::MEASURE_ARGUMENTS,
                format!("`{}` is called with the wrong arguments", row.name),
            )
            .primary(span, label)
            .help(format!("it is called as `{usage}`"))
        };

        let mut slots: Vec<Option<&ast::Expr>> = vec![None; row.parameters.len()];
        for (position, arg) in args.iter().enumerate() {
            let slot = match &arg.name {
                None => Some(position).filter(|p| *p < slots.len()),
                Some(name) => row
                    .parameters
                    .iter()
                    .position(|p| p.trim_end_matches('?') == &*name.text),
            };
            let is_free = slot.is_some_and(|slot| slots[slot].is_none());
            if !is_free {
                self.report(refuse(
                    arg.value.span,
                    "not one of its arguments, or given twice".to_owned(),
                ));
                return None;
            }
            if let Some(slot) = slot {
                slots[slot] = Some(&arg.value);
            }
        }

        for (slot, parameter) in slots.iter().zip(row.parameters) {
            if slot.is_none() && !parameter.ends_with('?') {
                self.report(refuse(span, format!("`{parameter}` is missing")));
                return None;
            }
        }
        Some(slots)
    }

    /// An expression of parameters.
    fn fixed(&mut self, e: &ast::Expr) -> Option<Known> {
        let read = self.scope.read(e)?;
        let [(_, expression)] = read.entries[..] else {
            let diagnostic = Diagnostic::error(code::NOT_A_MEASURE, "a measure is one number")
                .primary(e.span, "this is a vector or matrix");
            self.report(diagnostic);
            return None;
        };
        if !self.scope.is_constant(expression) {
            let text = self.scope.text(e.span);
            let text = text.trim();
            let diagnostic = Diagnostic::error(
                code::NOT_A_MEASURE,
                format!("`{text}` changes during the run, so it is not a single number"),
            )
            .primary(e.span, "which of its values?")
            .help(format!(
                "write `final({text})`, `max({text})`, `mean({text})` …"
            ));
            self.report(diagnostic);
            return None;
        }
        Some(Known {
            value: Measure::Constant(expression),
            dimension: read.dimension,
            unit: read.unit,
        })
    }

    fn arithmetic(
        &mut self,
        operation: Operation,
        left: &ast::Expr,
        right: &ast::Expr,
        depth: usize,
    ) -> Option<Known> {
        let (a, b) = (
            self.measure_of(left, depth + 1),
            self.measure_of(right, depth + 1),
        );
        let (a, b) = (a?, b?);
        let (dimension, unit) = match operation {
            Operation::Add | Operation::Subtract => {
                let dimension = self.agree(&a, &b, right.span)?;
                (dimension, a.unit.or(b.unit))
            }
            Operation::Multiply => (product(a.dimension, b.dimension), None),
            Operation::Divide => (
                product(a.dimension, b.dimension.map(|d| d.pow(-1, 1))),
                None,
            ),
            Operation::Power => (self.power(&a, &b), None),
        };

        let value = Measure::Arithmetic(operation, Box::new(a.value), Box::new(b.value));
        Some(Known {
            value,
            dimension,
            unit,
        })
    }

    fn power(&mut self, base: &Known, exponent: &Known) -> Option<Dimension> {
        match exponent.value {
            Measure::Constant(e) => base.dimension?.powf(self.scope.constant(e)?),
            _ => base.dimension.filter(|d| d.is_one()),
        }
    }

    fn call2(
        &mut self,
        function: Function2,
        left: &ast::Expr,
        right: &ast::Expr,
        depth: usize,
    ) -> Option<Known> {
        let (a, b) = (
            self.measure_of(left, depth + 1),
            self.measure_of(right, depth + 1),
        );
        let (a, b) = (a?, b?);
        let dimension = self.agree(&a, &b, right.span)?;
        let value = Measure::Call2(function, Box::new(a.value), Box::new(b.value));
        Some(Known {
            value,
            dimension,
            unit: a.unit.or(b.unit),
        })
    }

    /// The dimension that two measures share; `None` if they differ, which is reported.
    pub(super) fn agree(&mut self, a: &Known, b: &Known, span: Span) -> Option<Option<Dimension>> {
        match (a.dimension, b.dimension) {
            (Some(left), Some(right)) if left != right => {
                let diagnostic = wrong_unit("this", span, right, left);
                self.report(Diagnostic {
                    message: "measures of different units meet".to_owned(),
                    ..diagnostic
                });
                None
            }
            (left, right) => Some(left.or(right)),
        }
    }

    /// A curve: one number that may change.
    fn curve(&mut self, e: &ast::Expr) -> Option<(ExprId, Option<Dimension>, Option<Unit>)> {
        let read = self.scope.read(e)?;
        match read.entries[..] {
            [(_, x)] => Some((x, read.dimension, read.unit)),
            _ => {
                let diagnostic =
                    Diagnostic::error(code::NOT_A_MEASURE, "a curve is one number over time")
                        .primary(e.span, "this is a vector or matrix")
                        .help("measure one component, such as `x[1]`");
                self.report(diagnostic);
                None
            }
        }
    }

    fn of_curve(
        &mut self,
        args: &[Option<&ast::Expr>],
        make: fn(ExprId) -> Functional,
    ) -> Option<Known> {
        let (x, dimension, unit) = self.curve(args[0]?)?;
        Some(Known {
            value: Measure::Of(make(x)),
            dimension,
            unit,
        })
    }

    /// A curve against the same curve in another run.
    fn difference(
        &mut self,
        args: &[Option<&ast::Expr>],
        make: fn(ExprId, usize) -> Functional,
    ) -> Option<Known> {
        let (x, dimension, unit) = self.curve(args[0]?)?;
        let run = self.named_run(args[1]?, args[0]?, true)?;
        Some(Known {
            value: Measure::Of(make(x, run)),
            dimension,
            unit,
        })
    }

    /// Notes that something is read in another experiment.
    fn named_run(&mut self, name: &ast::Expr, value: &ast::Expr, is_curve: bool) -> Option<usize> {
        let ast::ExprKind::Name(experiment) = &name.kind else {
            let diagnostic = Diagnostic::error(
                code::MEASURE_ARGUMENTS,
                "a run to compare with is the name of an experiment",
            )
            .primary(name.span, "not a name")
            .help("write the name of another experiment of this file, such as `difference(x, nominal)`");
            self.report(diagnostic);
            return None;
        };
        self.plan.named_runs.push(NamedRun {
            experiment: experiment.clone(),
            value: value.clone(),
            is_curve,
        });
        Some(self.plan.named_runs.len() - 1)
    }

    /// A part between 0 and 1, such as `10 [%]`.
    fn part(&mut self, e: Option<&ast::Expr>, name: &str, default: f64) -> Option<f64> {
        let Some(e) = e else { return Some(default) };
        let ident = ast::Ident {
            text: name.into(),
            span: e.span,
        };
        let rule = "a part between 0 and 1, such as `10 [%]`";
        self.number(
            &ident,
            e,
            Some(Dimension::ONE),
            |x| (0.0..=1.0).contains(&x),
            rule,
        )
    }
}

fn operation(op: ast::BinaryOp) -> Option<Operation> {
    match op {
        ast::BinaryOp::Add => Some(Operation::Add),
        ast::BinaryOp::Sub => Some(Operation::Subtract),
        ast::BinaryOp::Mul => Some(Operation::Multiply),
        ast::BinaryOp::Div => Some(Operation::Divide),
        ast::BinaryOp::Pow => Some(Operation::Power),
        _ => None,
    }
}

fn product(a: Option<Dimension>, b: Option<Dimension>) -> Option<Dimension> {
    Some(a?.times(b?))
}

fn shown_as(value: Functional, dimension: Dimension, unit: &str) -> Option<Known> {
    let unit = Unit::parse_text(unit).expect("measures are shown in units of the table");
    Some(Known {
        value: Measure::Of(value),
        dimension: Some(dimension),
        unit: Some(unit),
    })
}

fn integral(p: &mut Planner, args: &[Option<&ast::Expr>], _: Span) -> Option<Known> {
    let (x, dimension, _) = p.curve(args[0]?)?;
    let dimension = dimension.map(|d| d.times(Dimension::TIME));
    Some(Known {
        value: Measure::Of(Functional::Integral(x)),
        dimension,
        unit: None,
    })
}

fn peak_time(p: &mut Planner, args: &[Option<&ast::Expr>], _: Span) -> Option<Known> {
    let (x, ..) = p.curve(args[0]?)?;
    shown_as(Functional::PeakTime(x), Dimension::TIME, "s")
}

/// The value of a curve at one time.
fn at(p: &mut Planner, args: &[Option<&ast::Expr>], _: Span) -> Option<Known> {
    let curve = p.curve(args[0]?);
    let when = args[1]?;
    let ident = ast::Ident {
        text: "time".into(),
        span: when.span,
    };
    let rule = "a time of the run, such as `0.2 [s]`";
    let time = p.number(&ident, when, Some(Dimension::TIME), f64::is_finite, rule);
    let ((x, dimension, unit), time) = (curve?, time?);
    p.instants.push((time, when.span));
    Some(Known {
        value: Measure::Of(Functional::At { x, time }),
        dimension,
        unit,
    })
}

/// A measure less what it is in another run.
fn change(p: &mut Planner, args: &[Option<&ast::Expr>], _: Span) -> Option<Known> {
    let known = p.measure_of(args[0]?, 1)?;
    let run = p.named_run(args[1]?, args[0]?, false)?;
    let there = Measure::Of(Functional::InRun(run));
    let both = (Box::new(known.value), Box::new(there));
    Some(Known {
        value: Measure::Arithmetic(Operation::Subtract, both.0, both.1),
        ..known
    })
}

fn rise_time(p: &mut Planner, args: &[Option<&ast::Expr>], span: Span) -> Option<Known> {
    let curve = with_target(p, &[args[0], args[3]]);
    // The usual definition of rise time.
    let (low, high) = (p.part(args[1], "low", 0.1), p.part(args[2], "high", 0.9));
    let ((x, target), low, high) = (curve?, low?, high?);
    if low >= high {
        let diagnostic = Diagnostic::error(
            code::MEASURE_ARGUMENTS,
            "`rise_time` needs `low` below `high`",
        )
        .primary(span, format!("from {low} to {high}"));
        p.report(diagnostic);
        return None;
    }
    let functional = Functional::RiseTime {
        x,
        low,
        high,
        target,
    };
    shown_as(functional, Dimension::TIME, "s")
}

/// Curve and target of a shoot, in one unit.
fn with_target(p: &mut Planner, args: &[Option<&ast::Expr>]) -> Option<(ExprId, Option<ExprId>)> {
    let (x, dimension, _) = p.curve(args[0]?)?;
    let Some(target) = args[1] else {
        return Some((x, None));
    };
    let (goal, goal_dimension, _) = p.curve(target)?;
    if let (Some(expected), Some(found)) = (dimension, goal_dimension)
        && expected != found
    {
        let diagnostic = wrong_unit("target", target.span, found, expected);
        p.report(diagnostic);
        return None;
    }
    Some((x, Some(goal)))
}

/// Curve, target and start of the way, in one unit.
type Way = (ExprId, Option<ExprId>, Option<f64>);

fn way(p: &mut Planner, args: &[Option<&ast::Expr>]) -> Option<Way> {
    let (x, target) = with_target(p, args)?;
    let Some(start) = args[2] else {
        return Some((x, target, None));
    };
    let (_, dimension, _) = p.curve(args[0]?)?;
    let ident = ast::Ident {
        text: "start".into(),
        span: start.span,
    };
    let rule = "a fixed number in the unit of the curve";
    let start = p.number(&ident, start, dimension, f64::is_finite, rule)?;
    Some((x, target, Some(start)))
}

fn overshoot(p: &mut Planner, args: &[Option<&ast::Expr>], _: Span) -> Option<Known> {
    let (x, target, start) = way(p, args)?;
    let functional = Functional::Overshoot { x, target, start };
    shown_as(functional, Dimension::ONE, "%")
}

fn undershoot(p: &mut Planner, args: &[Option<&ast::Expr>], _: Span) -> Option<Known> {
    let (x, target, start) = way(p, args)?;
    let functional = Functional::Undershoot { x, target, start };
    shown_as(functional, Dimension::ONE, "%")
}

fn settling_time(p: &mut Planner, args: &[Option<&ast::Expr>], _: Span) -> Option<Known> {
    let (curve, band) = (p.curve(args[0]?), p.part(args[1], "band", 0.02));
    let ((x, ..), band) = (curve?, band?);
    shown_as(Functional::SettlingTime { x, band }, Dimension::TIME, "s")
}

fn gain_margin(p: &mut Planner, args: &[Option<&ast::Expr>], _: Span) -> Option<Known> {
    let (x, ..) = p.curve(args[0]?)?;
    shown_as(Functional::GainMargin(x), Dimension::LEVEL, "dB")
}

fn phase_margin(p: &mut Planner, args: &[Option<&ast::Expr>], _: Span) -> Option<Known> {
    let (x, ..) = p.curve(args[0]?)?;
    shown_as(Functional::PhaseMargin(x), Dimension::ONE, "deg")
}

/// η = ∫ stored(to)/max(energy(from), 1 µJ) dt   (McBride 2005, ch. 5)
fn efficiency(p: &mut Planner, args: &[Option<&ast::Expr>], span: Span) -> Option<Known> {
    let ident = |text: &str| ast::Ident {
        text: text.into(),
        span,
    };

    let field = |of: &ast::Expr, name: &str| ast::Expr {
        span: of.span,
        kind: ast::ExprKind::Field {
            of: Box::new(of.clone()),
            name: ident(name),
        },
    };

    let (from, to) = (args[0]?, args[1]?);
    // Below a microjoule nothing was given yet; the bound keeps the quotient finite at the start.
    let joule = ast::UnitFactor {
        name: ident("J"),
        exponent: (1, 1),
    };

    let least = ast::Expr {
        span,
        kind: ast::ExprKind::Number {
            value: 1e-6,
            unit: Some(ast::Unit {
                factors: vec![joule],
                span,
            }),
        },
    };

    let argument = |value: ast::Expr| ast::Arg { name: None, value };
    let given = ast::Expr {
        span,
        kind: ast::ExprKind::Call {
            function: ast::Path {
                segments: vec![ident("max")],
                span,
            },
            args: vec![argument(field(from, "energy")), argument(least)],
        },
    };

    let quotient = ast::Expr {
        span,
        kind: ast::ExprKind::Binary {
            op: ast::BinaryOp::Div,
            left: Box::new(field(to, "stored")),
            right: Box::new(given),
        },
    };
    integral(p, &[Some(&quotient)], span)
}
