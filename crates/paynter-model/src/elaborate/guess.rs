//! Shape and unit of an expression, as far as the text alone tells them.
//!
//! In:  an expression that may not be lowered yet.
//! Out: a [`Guess`]; what is not known is left open.
//!
//! **Invariant:** nothing is resolved, so guessing never runs in circles; a guess that is
//! made is right, since lowering would give the same.

use paynter_symbolic::PathId;
use paynter_syntax::ast;

use super::Elaborator;
use super::data::*;
use super::value::{Shape, ValueKind};
use crate::graph::Variable;
use crate::units::Dimension;

impl<'a> Elaborator<'a> {
    /// Guesses shape and unit of an expression without resolving any definition, for states
    /// (which are read before their equation can be lowered) and for domains.
    pub(super) fn guess(&mut self, e: &ast::Expr, scope: ScopeId, depth: u32) -> Guess {
        // Deeper than this the guess is not worth its time; unknown is always allowed.
        const MAX_GUESS_DEPTH: u32 = 40;
        if depth > MAX_GUESS_DEPTH {
            return Guess::default();
        }

        let next = depth + 1;
        match &e.kind {
            ast::ExprKind::Number { unit, .. } => {
                let unit = unit.as_ref().and_then(|u| self.unit(u));
                Guess::number(Shape::Scalar, unit.map(|u| u.dimension))
            }
            ast::ExprKind::Bool(_) => Guess::TRUTH,
            ast::ExprKind::Matrix { rows, unit } => {
                let dimension = match unit {
                    Some(unit) => self.unit(unit).map(|u| u.dimension),
                    None => self.guess_shared(rows.iter().flatten(), scope, next),
                };
                Guess::number(shape_of_rows(rows), dimension)
            }
            ast::ExprKind::Unary { op, of } => match op {
                ast::UnaryOp::Not => Guess::TRUTH,
                _ => self.guess(of, scope, next),
            },
            ast::ExprKind::Transpose(of) => {
                let guess = self.guess(of, scope, next);
                Guess {
                    shape: guess.shape.map(transposed),
                    ..guess
                }
            }
            ast::ExprKind::If {
                then, otherwise, ..
            } => {
                let then = self.guess(then, scope, next);
                then.or(self.guess(otherwise, scope, next))
            }
            ast::ExprKind::Binary { op, left, right } => {
                let a = self.guess(left, scope, next);
                let b = self.guess(right, scope, next);
                if *op == ast::BinaryOp::Div && super::lower::is_literal_one(left) {
                    let dimension = b.dimension.map(|d| d.pow(-1, 1));
                    return Guess { dimension, ..a };
                }
                guess_binary(*op, a, b)
            }
            ast::ExprKind::Name(_) | ast::ExprKind::Field { .. } | ast::ExprKind::Index { .. } => {
                self.guess_name(e, scope, next)
            }
            ast::ExprKind::Call { function, args } => {
                let name = function.segments.last().map_or("", |s| &*s.text);
                let first = match args.first() {
                    Some(arg) => self.guess(&arg.value, scope, next),
                    None => Guess::default(),
                };
                guess_call(name, first)
            }
            ast::ExprKind::Comprehension { body, .. } => self.guess(body, scope, next),
            ast::ExprKind::Text(_) => Guess::default(),
        }
    }

    /// The unit of all entries of a matrix; zeros fit to any.
    fn guess_shared<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e ast::Expr>,
        scope: ScopeId,
        depth: u32,
    ) -> Option<Dimension> {
        let mut shared = None;
        for entry in entries {
            let is_zero = matches!(
                entry.kind,
                ast::ExprKind::Number {
                    value: 0.0,
                    unit: None
                }
            );
            match self.guess(entry, scope, depth).dimension {
                None if is_zero => {}
                None => return None,
                found if shared.is_none() => shared = found,
                found if shared == found => {}
                Some(_) => return None,
            }
        }
        shared
    }

    /// Finds the units of unknowns in an expression whose own unit is known: in `2 [ohm]*i == 3 [V]`
    /// that of `i`.
    pub(super) fn learn_inside(
        &mut self,
        e: &ast::Expr,
        dimension: Dimension,
        scope: ScopeId,
        sought: &[DefId],
    ) {
        use ast::BinaryOp as Op;
        let mut open = vec![(e, dimension)];
        while let Some((e, dimension)) = open.pop() {
            match &e.kind {
                ast::ExprKind::Name(_) => {
                    if let Some(def) = self.sought_called(e, scope, sought)
                        && self
                            .tables
                            .def_value(def)
                            .is_some_and(|v| v.dimension.is_none())
                    {
                        self.units.learned.insert(def, dimension);
                    }
                }
                ast::ExprKind::Unary {
                    op: ast::UnaryOp::Neg | ast::UnaryOp::Plus,
                    of,
                } => open.push((of, dimension)),
                ast::ExprKind::If {
                    then, otherwise, ..
                } => open.extend([(&**then, dimension), (&**otherwise, dimension)]),
                ast::ExprKind::Binary { op, left, right } => {
                    let mut known = |e: &ast::Expr| self.guess(e, scope, 0).dimension;
                    match op {
                        Op::Add | Op::Sub => {
                            open.extend([(&**left, dimension), (&**right, dimension)]);
                        }
                        Op::Mul => {
                            if let Some(other) = known(right) {
                                open.push((left, dimension.per(other)));
                            }
                            if let Some(other) = known(left) {
                                open.push((right, dimension.per(other)));
                            }
                        }
                        Op::Div => {
                            if let Some(other) = known(right) {
                                open.push((left, dimension.times(other)));
                            }
                            if let Some(other) = known(left) {
                                open.push((right, other.per(dimension)));
                            }
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }

    /// Tells which of these definitions a bare name means.
    fn sought_called(&self, e: &ast::Expr, scope: ScopeId, sought: &[DefId]) -> Option<DefId> {
        let ast::ExprKind::Name(name) = &e.kind else {
            return None;
        };
        let mut root = scope;
        while let Some(parent) = self.tables.scopes[root.at()].parent {
            root = parent;
        }
        let instance = self.tables.scopes[root.at()].instance?;
        let names = &self.graph.signals.names;
        let path = names.find(self.tables.instances[instance.at()].path, &name.text, None)?;
        match self.tables.value_entity(path) {
            Entity::Def(def) if sought.contains(&def) => Some(def),
            _ => None,
        }
    }

    pub(super) fn guess_name(&mut self, e: &ast::Expr, scope: ScopeId, depth: u32) -> Guess {
        let Some((segments, port)) = path_of(e) else {
            return Guess::default();
        };
        if let Some(guess) = self.guess_letter(&segments, port) {
            return guess;
        }
        let mut root = scope;
        while let Some(parent) = self.tables.scopes[root.at()].parent {
            root = parent;
        }
        let Some(instance) = self.tables.scopes[root.at()].instance else {
            return Guess::default();
        };

        let mut path = self.tables.instances[instance.at()].path;
        for (position, &(text, indexed)) in segments.iter().enumerate() {
            let rest = &segments[position + 1..];
            let found = self.graph.signals.names.find(path, text, None);
            if indexed {
                return match found {
                    Some(found) if rest.is_empty() => self.guess_entry(found, depth),
                    _ => Guess::default(),
                };
            }
            let Some(next) = found else {
                return match segments.len() {
                    1 => self.guess_global(text, root),
                    _ => Guess::default(),
                };
            };
            let named = match rest.is_empty() {
                true => self.tables.value_entity(next),
                false => self.tables.entity(next),
            };
            match named {
                Entity::Def(def) if rest.is_empty() => return self.guess_def(def, depth),
                Entity::Thing(thing) => return self.guess_thing(thing, rest),
                Entity::Port(port) => {
                    return match self.follow_port(port) {
                        Ok(Some(super::lower::Target::Thing {
                            thing,
                            component: None,
                        })) => self.guess_thing(thing, rest),
                        _ => Guess::default(),
                    };
                }
                Entity::Instance(part) => path = self.tables.instances[part.at()].path,
                _ => return Guess::default(),
            }
        }
        Guess::default()
    }

    /// The letters of a law whose unit is looked for: `p[k]` of a field, `e`, `f`, `q`, `p` of an element.
    fn guess_letter(&self, segments: &[(&str, bool)], port: Option<i64>) -> Option<Guess> {
        if let ([("p" | "q", true)], Some(field)) = (segments, &self.units.guessed_field) {
            let place = port.and_then(|k| usize::try_from(k - 1).ok());
            return Some(Guess {
                shape: Some(Shape::Scalar),
                dimension: place.and_then(|k| field.get(k).copied().flatten()),
                is_truth: false,
            });
        }
        let ([(letter, false)], Some((domain, kind))) = (segments, self.units.guessed_law) else {
            return None;
        };
        let variable = super::domain::variable_called(letter)?;
        Some(Guess {
            shape: Some(Shape::Scalar),
            dimension: Some(self.texts.dimension_in(domain, variable, kind)),
            is_truth: false,
        })
    }

    /// One entry of a value: a number, if anything is known of the value.
    fn guess_entry(&mut self, path: PathId, depth: u32) -> Guess {
        let guess = match self.tables.value_entity(path) {
            Entity::Def(def) => self.guess_def(def, depth),
            _ => Guess::default(),
        };
        Guess {
            shape: guess.shape.map(|_| Shape::Scalar),
            ..guess
        }
    }

    pub(super) fn guess_global(&mut self, text: &str, scope: ScopeId) -> Guess {
        let scalar = |dimension| Guess {
            shape: Some(Shape::Scalar),
            dimension,
            is_truth: false,
        };
        match text {
            "time" => scalar(self.dimension_of_time(scope)),
            "pi" => scalar(Some(Dimension::ONE)),
            "g0" => scalar(Some(Dimension::si(0, 1, -2, 0))),
            _ => {
                let file = self.tables.scopes[scope.at()].file as usize;
                match self.texts.files[file].names.get(text).copied() {
                    Some(super::Item::Constant(define, file)) => {
                        match self.constant(define, file) {
                            Ok(value) => Guess {
                                shape: Some(value.shape),
                                dimension: value.dimension,
                                is_truth: false,
                            },
                            Err(_) => Guess::default(),
                        }
                    }
                    _ => Guess::default(),
                }
            }
        }
    }

    pub(super) fn guess_def(&mut self, def: DefId, depth: u32) -> Guess {
        let d = &self.tables.defs[def.at()];
        if let Progress::Done(value) = &d.progress {
            return Guess {
                shape: Some(value.shape),
                dimension: value.dimension,
                is_truth: value.kind == ValueKind::Truth,
            };
        }

        let (decl, unit, value, is_state, decl_scope) = (
            d.decl,
            d.unit,
            d.value,
            d.kind == DefKind::State,
            d.decl_scope,
        );
        let unit = unit.or_else(|| decl.and_then(|d| d.unit.as_ref()));
        let dimension = unit.and_then(|u| self.unit(u)).map(|u| u.dimension);
        let shape = match decl {
            Some(decl) if decl.shape.is_some() => {
                self.declared_shape(decl, decl_scope).ok().flatten()
            }
            _ => None,
        };
        if dimension.is_some() && shape.is_some() {
            return Guess {
                shape,
                dimension,
                is_truth: false,
            };
        }

        // Each name read again costs a walk of its definition, so this is bounded more tightly.
        const COST_OF_NAME: u32 = 8;
        let own = match value {
            Some((e, scope)) if !is_state => self.guess(e, scope, depth + COST_OF_NAME),
            _ => Guess::default(),
        };

        Guess {
            shape: shape.or(own.shape),
            dimension: dimension.or(own.dimension),
            ..own
        }
    }

    pub(super) fn guess_thing(&mut self, thing: ThingId, rest: &[(&str, bool)]) -> Guess {
        let t = &self.tables.things[thing.at()];
        let letter = match rest {
            [(letter, false)] => *letter,
            _ => return Guess::default(),
        };
        let shape = if t.is_vector {
            Shape::Vector(t.size)
        } else {
            Shape::Scalar
        };
        let (kind, bond) = (t.kind, t.bonds.first().map(|b| b.1));
        let variable = match letter {
            "e" => Variable::Effort,
            "f" => Variable::Flow,
            "q" | "p" => Variable::Stored,
            _ => return Guess::default(),
        };
        let domain = bond.and_then(|b| self.bond_domain(b));
        let dimension = domain.map(|d| self.texts.dimension_in(d, variable, kind));
        Guess {
            shape: Some(shape),
            dimension,
            is_truth: false,
        }
    }
}

/// The shape of `[1, 2; 3, 4]`; one row is a vector.
fn shape_of_rows(rows: &[Vec<ast::Expr>]) -> Shape {
    let columns = rows.first().map_or(0, Vec::len) as u32;
    match rows.len() {
        0 | 1 => Shape::Vector(columns),
        n => Shape::Matrix(n as u32, columns),
    }
}

/// What can be said of an expression without resolving names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guess {
    pub shape: Option<Shape>,
    pub dimension: Option<Dimension>,
    pub is_truth: bool,
}

impl Guess {
    const TRUTH: Guess = Guess {
        shape: Some(Shape::Scalar),
        dimension: None,
        is_truth: true,
    };

    fn number(shape: Shape, dimension: Option<Dimension>) -> Guess {
        Guess {
            shape: Some(shape),
            dimension,
            is_truth: false,
        }
    }

    fn or(self, other: Guess) -> Guess {
        Guess {
            shape: self.shape.or(other.shape),
            dimension: self.dimension.or(other.dimension),
            is_truth: self.is_truth && other.is_truth,
        }
    }
}

fn transposed(shape: Shape) -> Shape {
    match shape {
        Shape::Scalar => Shape::Scalar,
        Shape::Vector(n) => Shape::Matrix(1, n),
        Shape::Matrix(1, n) => Shape::Vector(n),
        Shape::Matrix(n, m) => Shape::Matrix(m, n),
    }
}

fn guess_binary(op: ast::BinaryOp, a: Guess, b: Guess) -> Guess {
    use ast::BinaryOp as Op;
    match op {
        Op::Add | Op::Sub => a.or(b),
        Op::Mul => {
            let dimension = match (a.dimension, b.dimension) {
                (Some(x), Some(y)) => Some(x.times(y)),
                _ => None,
            };
            let shape = match (a.shape, b.shape) {
                (Some(Shape::Scalar), s) | (s, Some(Shape::Scalar)) => s,
                (Some(x), Some(y)) => {
                    let ((n, _), (_, m)) = (x.rows_columns(), y.rows_columns());
                    Some(Shape::of_product(n, m, matches!(y, Shape::Vector(_))))
                }
                (x, y) => x.or(y),
            };
            Guess {
                shape,
                dimension,
                is_truth: false,
            }
        }
        Op::Div => {
            let dimension = match (a.dimension, b.dimension) {
                (Some(x), Some(y)) => Some(x.per(y)),
                _ => None,
            };
            Guess { dimension, ..a }
        }
        Op::Pow => Guess {
            shape: Some(Shape::Scalar),
            dimension: None,
            is_truth: false,
        },
        _ => Guess {
            shape: Some(Shape::Scalar),
            dimension: None,
            is_truth: true,
        },
    }
}

fn guess_call(name: &str, first: Guess) -> Guess {
    let scalar = Guess {
        shape: Some(Shape::Scalar),
        dimension: None,
        is_truth: false,
    };
    match name {
        "quaternion_rate" => Guess {
            shape: Some(Shape::Vector(4)),
            ..Guess::default()
        },
        "rotation" | "skew" | "rot_x" | "rot_y" | "rot_z" | "basis" => Guess {
            shape: Some(Shape::Matrix(3, 3)),
            ..Guess::default()
        },
        "cross" => Guess {
            shape: Some(Shape::Vector(3)),
            ..Guess::default()
        },
        "smooth" | "abs" | "min" | "max" | "clamp" | "pre" => first,
        "sin" | "cos" | "tan" | "exp" | "log" | "atan2" | "sqrt" | "dot" | "norm" | "sign"
        | "floor" | "unwrap" | "step" | "pulse" | "ramp" | "pwm" => scalar,
        _ => Guess::default(),
    }
}

/// A name of a path, and whether it has an index.
type Segment<'e> = (&'e str, bool);

/// Takes `x`, `part.x`, `thing.p[1]` apart: the names, and the last index if it is a number. None for anything else.
fn path_of(e: &ast::Expr) -> Option<(Vec<Segment<'_>>, Option<i64>)> {
    let mut segments: Vec<Segment<'_>> = Vec::new();
    let (mut at, mut is_indexed, mut port) = (e, false, None);
    loop {
        match &at.kind {
            ast::ExprKind::Name(name) => {
                segments.push((&name.text, is_indexed));
                break;
            }
            ast::ExprKind::Field { of, name } => {
                segments.push((&name.text, is_indexed));
                is_indexed = false;
                at = of;
            }
            ast::ExprKind::Index { of, index } => {
                is_indexed = true;
                port = super::mixed::port_number(index);
                at = of;
            }
            _ => return None,
        }
    }
    segments.reverse();
    Some((segments, port))
}
