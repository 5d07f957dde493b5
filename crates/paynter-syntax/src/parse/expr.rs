//! Reads expressions, ranges, arguments and references.
//!
//! In:  the parser before an expression.
//! Out: its `ast`; nothing if it was reported as unreadable.
//!
//! Operators from loose to tight: `or`, `and`, `not`, comparisons, `+ -`, `* /`, unary
//! minus, `^` (to the right), then `.name`, `[index]`, `(args)` and `'`.
//!
//! **A bracket is read by where it is.** Behind a number or a matrix it is a unit.
//! Behind a name, `)` or `]` it is an index if it touches it, and otherwise the error
//! that a unit cannot be there.

use super::{MAX_EXPR_HEIGHT, Parser};
use crate::ast::{self, BinaryOp, Expr, ExprKind, UnaryOp};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind as T;
use crate::tree::{Mark, NodeKind};

/// How tightly a prefix `not` and a unary minus hold their operand.
const NOT_POWER: u8 = 3;
const MINUS_POWER: u8 = 7;

/// Gives operator, its power on the left and on the right.
fn binary_operator(kind: T) -> Option<(BinaryOp, u8, u8)> {
    Some(match kind {
        T::Or => (BinaryOp::Or, 1, 2),
        T::And => (BinaryOp::And, 2, 3),
        T::Lt => (BinaryOp::Lt, 4, 5),
        T::Le => (BinaryOp::Le, 4, 5),
        T::Gt => (BinaryOp::Gt, 4, 5),
        T::Ge => (BinaryOp::Ge, 4, 5),
        T::EqEq => (BinaryOp::Eq, 4, 5),
        T::NotEq => (BinaryOp::Ne, 4, 5),
        T::Plus => (BinaryOp::Add, 5, 6),
        T::Minus => (BinaryOp::Sub, 5, 6),
        T::Star => (BinaryOp::Mul, 6, 7),
        T::Slash => (BinaryOp::Div, 6, 7),
        // To the right, and `2^-x` is read: a minus may come after it.
        T::Caret => (BinaryOp::Pow, 8, 7),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Reads an expression.
    pub(super) fn expr(&mut self) -> Option<Expr> {
        self.expr_above(0)
    }

    /// Reads an expression of operators that hold at least as tightly as `power`.
    fn expr_above(&mut self, power: u8) -> Option<Expr> {
        self.enter()?;
        let expr = self.expr_inside(power);
        self.leave();
        expr
    }

    fn expr_inside(&mut self, power: u8) -> Option<Expr> {
        let mark = self.mark();
        let mut left = self.operand()?;
        while let Some((op, left_power, right_power)) = binary_operator(self.kind()) {
            if left_power < power {
                break;
            }
            let left_height = self.height;
            self.bump();
            if op == BinaryOp::Mul && self.kind() == T::Star && self.is_adjacent() {
                self.power_with_stars();
                return None;
            }
            let right = self.expr_above(right_power)?;
            self.grow(left_height.max(self.height))?;
            let kind = ExprKind::Binary {
                op,
                left: Box::new(left),
                right: Box::new(right),
            };
            left = self.complete_expr(mark, NodeKind::Binary, kind);
        }
        Some(left)
    }

    /// Reports `a**2`, of which the first star was read.
    fn power_with_stars(&mut self) {
        let span = self.span_at(self.pos - 1).to(self.span_at(self.pos));
        self.fail(
            Diagnostic::error(code::UNEXPECTED, "`**` is not an operator")
                .primary(span, "a power is written with `^`")
                .help("write `^` instead"),
        );
    }

    /// Notes an expression one higher than `below`, or fails if it is too high.
    fn grow(&mut self, below: u32) -> Option<()> {
        self.height = below + 1;
        if self.height <= MAX_EXPR_HEIGHT {
            return Some(());
        }
        self.fail(
            Diagnostic::error(
                code::NESTED_TOO_DEEP,
                "this expression is too long to be read",
            )
            .primary(
                self.span_behind(),
                format!("more than {MAX_EXPR_HEIGHT} operators up to here"),
            )
            .help("give parts of it names of their own, or use `sum(… for i in 1 .. n)`"),
        );
        None
    }

    fn complete_expr(&mut self, mark: (Mark, u32), node: NodeKind, kind: ExprKind) -> Expr {
        self.complete(mark, node);
        Expr {
            span: self.span_from(mark.1),
            kind,
        }
    }

    fn operand(&mut self) -> Option<Expr> {
        let mark = self.mark();
        let (op, power) = match self.kind() {
            T::Minus => (UnaryOp::Neg, MINUS_POWER),
            // `a* + b` has lost a factor; a sign belongs to a number.
            T::Plus if self.second_kind() == T::Number => (UnaryOp::Plus, MINUS_POWER),
            T::Plus => {
                self.expected("a value before `+`");
                return None;
            }
            T::Not => (UnaryOp::Not, NOT_POWER),
            T::If => return self.if_expr(),
            _ => return self.postfix(),
        };
        self.bump();
        let of = Box::new(self.expr_above(power)?);
        self.grow(self.height)?;
        Some(self.complete_expr(mark, NodeKind::Unary, ExprKind::Unary { op, of }))
    }

    /// Reads what is true or false. `x = 0` is reported and read as the comparison that is meant.
    pub(super) fn condition(&mut self) -> Option<Expr> {
        let mark = self.mark();
        let left = self.expr()?;
        if self.kind() != T::Eq {
            return Some(left);
        }
        let height = self.height;
        self.report(
            Diagnostic::error(code::UNEXPECTED, "two values are compared with `==`")
                .primary(self.span_here(), "`=` would give a name its value")
                .help("write `==` instead"),
        );
        self.bump();
        let right = self.expr()?;
        self.grow(height.max(self.height))?;
        let kind = ExprKind::Binary {
            op: BinaryOp::Eq,
            left: Box::new(left),
            right: Box::new(right),
        };
        Some(self.complete_expr(mark, NodeKind::Binary, kind))
    }

    fn if_expr(&mut self) -> Option<Expr> {
        let mark = self.mark();
        self.bump();
        let condition = Box::new(self.condition()?);
        let mut height = self.height;
        self.expect(T::Then, "`then`")?;
        let then = Box::new(self.expr()?);
        height = height.max(self.height);
        self.expect(T::Else, "`else`")?;
        let otherwise = Box::new(self.expr()?);
        self.grow(height.max(self.height))?;
        Some(self.complete_expr(
            mark,
            NodeKind::IfExpr,
            ExprKind::If {
                condition,
                then,
                otherwise,
            },
        ))
    }

    fn postfix(&mut self) -> Option<Expr> {
        let mark = self.mark();
        let is_name = self.kind() == T::Ident;
        let mut expr = self.primary()?;
        loop {
            let height = self.height;
            let is_on_line = self.is_on_line_of_previous(self.pos);
            match self.kind() {
                T::Dot => {
                    self.bump();
                    let name = self.name("a name after the dot")?;
                    let kind = ExprKind::Field {
                        of: Box::new(expr),
                        name,
                    };
                    expr = self.complete_expr(mark, NodeKind::Field, kind);
                }
                T::Prime => {
                    self.bump();
                    let kind = ExprKind::Transpose(Box::new(expr));
                    expr = self.complete_expr(mark, NodeKind::Transpose, kind);
                }
                T::LBracket if self.is_adjacent() => {
                    let index = self.index()?;
                    let kind = ExprKind::Index {
                        of: Box::new(expr),
                        index,
                    };
                    expr = self.complete_expr(mark, NodeKind::Index, kind);
                }
                T::LBracket if is_on_line && !self.allows_unit_behind => {
                    self.unit_behind_expression(&expr);
                    return None;
                }
                T::LParen if is_on_line => {
                    let Some(function) = as_path(&expr).filter(|_| is_name) else {
                        self.call_of_expression();
                        return None;
                    };
                    expr = self.call(mark, function)?;
                }
                _ => return Some(expr),
            }
            self.grow(height.max(self.height))?;
        }
    }

    fn unit_behind_expression(&mut self, expr: &Expr) {
        let bracket = self.pos;
        let close = self.brackets.partner[bracket as usize];
        let end = if close == crate::brackets::NONE {
            bracket
        } else {
            close
        };
        let span = self.span_at(bracket).to(self.span_at(end));
        let unit = self
            .text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("[…]");
        let name = self
            .text
            .get(expr.span.start as usize..expr.span.end as usize)
            .unwrap_or("x");
        let is_short = !unit.contains('\n') && unit.len() + name.len() < 60;
        let mut diagnostic = Diagnostic::error(
            code::UNIT_AFTER_EXPRESSION,
            "a unit may follow only a number, a matrix or a name being declared",
        )
        .primary(
            span,
            "here it follows an expression, which has its unit already",
        );

        diagnostic = match self.name_being_defined() {
            _ if !is_short => diagnostic,
            Some(defined) => diagnostic.help(format!(
                "the unit goes after the name that is defined: `{defined} {unit} = …`"
            )),
            None => diagnostic.help(format!(
                "leave it out; where `{name}` is a plain number, write `{name}*1 {unit}`, and for an index `{name}{unit}`"
            )),
        };
        self.fail(diagnostic);
    }

    /// The name that the statement read here gives a value to: `x` in `output x = …`.
    fn name_being_defined(&self) -> Option<&str> {
        let mut at = self.pos;
        let mut depth = 0;
        while at > self.statement_start {
            at -= 1;
            match self.kind_at(at) {
                T::RParen | T::RBracket | T::RBrace => depth += 1,
                T::LParen | T::LBracket | T::LBrace if depth == 0 => return None,
                T::LParen | T::LBracket | T::LBrace => depth -= 1,
                T::Eq if depth == 0 => {
                    let is_name = at > self.statement_start && self.kind_at(at - 1) == T::Ident;
                    return is_name.then(|| self.text_at(at - 1));
                }
                _ => {}
            }
        }
        None
    }

    fn call_of_expression(&mut self) {
        let span = self.span_at(self.pos);
        self.fail(
            Diagnostic::error(code::CALL_OF_EXPRESSION, "only a name can be called")
                .primary(
                    span,
                    "these parentheses follow something that is not a name",
                )
                .help("write `*` for a product"),
        );
    }

    /// Reads the arguments of a call whose name has been read.
    fn call(&mut self, mark: (Mark, u32), function: ast::Path) -> Option<Expr> {
        let args_mark = self.mark();
        let open = self.open();
        let mut height = 0;
        let mut comprehension = None;
        let args = self.list_until(T::RParen, |p| {
            let arg = p.arg()?;
            height = height.max(p.height);
            if p.eat_word("for") {
                let variable = p.name("the running name")?;
                p.expect_word("in")?;
                let range = p.range()?;
                height = height.max(p.height);
                comprehension = Some((variable, Box::new(range)));
            }
            Some(arg)
        })?;

        self.close(open, T::RParen)?;
        self.complete(args_mark, NodeKind::Args);
        self.height = height;
        let mut args = args;
        let kind = match comprehension {
            None => ExprKind::Call { function, args },
            Some((variable, range)) => {
                let body = args
                    .pop()
                    .filter(|arg| args.is_empty() && arg.name.is_none());
                let Some(body) = body else {
                    self.fail(
                        Diagnostic::error(
                            code::UNEXPECTED,
                            "a `for` is allowed only in a call with one argument",
                        )
                        .primary(variable.span, "this one runs over one of several arguments"),
                    );
                    return None;
                };
                ExprKind::Comprehension {
                    function,
                    body: Box::new(body.value),
                    variable,
                    range,
                }
            }
        };
        Some(self.complete_expr(mark, NodeKind::Call, kind))
    }

    /// Reads `( arg, … )`.
    pub(super) fn args(&mut self) -> Option<Vec<ast::Arg>> {
        let mark = self.mark();
        let open = self.open();
        let args = self.list_until(T::RParen, Self::arg)?;
        self.close(open, T::RParen)?;
        self.complete(mark, NodeKind::Args);
        Some(args)
    }

    fn arg(&mut self) -> Option<ast::Arg> {
        let is_named = self.kind() == T::Ident && self.second_kind() == T::Eq;
        let name = if is_named {
            let i = self.bump();
            self.bump();
            Some(self.ident(i))
        } else {
            None
        };
        Some(ast::Arg {
            name,
            value: self.expr()?,
        })
    }

    /// Reads `[ expr, … ]` as indices, sizes or a shape.
    pub(super) fn index(&mut self) -> Option<Vec<Expr>> {
        let mark = self.mark();
        let open = self.open();
        if self.raw_kind() == T::RBracket {
            self.expected("an index");
            return None;
        }
        let mut height = 0;
        let index = self.list_until(T::RBracket, |p| {
            let expr = p.expr();
            height = height.max(p.height);
            expr
        })?;
        self.close(open, T::RBracket)?;
        self.height = height;
        self.complete(mark, NodeKind::Index);
        Some(index)
    }

    fn primary(&mut self) -> Option<Expr> {
        let mark = self.mark();
        self.height = 1;
        match self.kind() {
            T::Number => self.number(),
            T::Ident => {
                let i = self.bump();
                let kind = ExprKind::Name(self.ident(i));
                Some(self.complete_expr(mark, NodeKind::Name, kind))
            }
            T::True | T::False => {
                let value = self.kind() == T::True;
                self.bump();
                Some(self.complete_expr(mark, NodeKind::Literal, ExprKind::Bool(value)))
            }
            T::Text => {
                let (text, _) = self.quoted()?;
                Some(self.complete_expr(mark, NodeKind::Literal, ExprKind::Text(text)))
            }
            T::LBracket => self.matrix(),
            T::LParen => {
                let open = self.open();
                let inner = self.condition()?;
                self.close(open, T::RParen)?;
                Some(self.complete_expr(mark, NodeKind::Paren, inner.kind))
            }
            _ => {
                self.expected("a value");
                None
            }
        }
    }

    /// Reads a string in quotes and gives what is between them.
    pub(super) fn quoted(&mut self) -> Option<(String, crate::Span)> {
        let i = self.expect(T::Text, "a string in quotes")?;
        let text = self.text_at(i).trim_end_matches('\r');
        let inner = text.strip_prefix('"').unwrap_or(text);
        let inner = inner.strip_suffix('"').unwrap_or(inner);
        Some((inner.to_owned(), self.span_at(i)))
    }

    fn number(&mut self) -> Option<Expr> {
        let mark = self.mark();
        let value = self.number_value()?;
        let unit = self.unit_of_literal()?;
        let kind = ExprKind::Number { value, unit };
        Some(self.complete_expr(mark, NodeKind::Literal, kind))
    }

    /// Reads a number without a unit.
    pub(super) fn number_value(&mut self) -> Option<f64> {
        let i = self.expect(T::Number, "a number")?;
        let value: f64 = self.text_at(i).parse().unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            self.report(
                Diagnostic::error(code::NUMBER_TOO_LARGE, "this number is too large")
                    .primary(self.span_at(i), "larger than 1.8e308"),
            );
        }
        Some(value)
    }

    fn matrix(&mut self) -> Option<Expr> {
        let mark = self.mark();
        let open = self.open();
        let mut height = 0;
        let mut rows = Vec::with_capacity(1);
        loop {
            let row = self.list_until(T::RBracket, |p| {
                let entry = p.expr();
                height = height.max(p.height);
                entry
            })?;
            rows.push(row);
            if !self.eat(T::Semicolon) {
                break;
            }
        }
        self.close(open, T::RBracket)?;
        let unit = self.unit_of_literal()?;
        self.grow(height)?;
        Some(self.complete_expr(mark, NodeKind::Matrix, ExprKind::Matrix { rows, unit }))
    }

    /// Reads `expr [".." expr ["by" expr]]`.
    pub(super) fn range(&mut self) -> Option<ast::Range> {
        let mark = self.mark();
        let from = self.expr()?;
        let mut to = None;
        let mut by = None;
        if self.eat(T::DotDot) {
            to = Some(self.expr()?);
            if self.eat_word("by") {
                by = Some(self.expr()?);
            }
        }
        self.complete(mark, NodeKind::Range);
        Some(ast::Range {
            from,
            to,
            by,
            span: self.span_from(mark.1),
        })
    }

    /// Reads `name [index] {"." name [index]}`.
    pub(super) fn reference(&mut self, what: &str) -> Option<ast::Ref> {
        let mark = self.mark();
        let mut parts = Vec::with_capacity(1);
        loop {
            let name = self.name(if parts.is_empty() {
                what
            } else {
                "a name after the dot"
            })?;
            let is_index = self.kind() == T::LBracket && self.is_adjacent();
            let index = if is_index { self.index()? } else { Vec::new() };
            parts.push(ast::RefPart { name, index });
            if !self.eat(T::Dot) {
                break;
            }
        }
        self.complete(mark, NodeKind::Ref);
        Some(ast::Ref {
            parts,
            span: self.span_from(mark.1),
        })
    }

    /// Reads `name {"." name}`.
    pub(super) fn path(&mut self, what: &str) -> Option<ast::Path> {
        let mark = self.mark();
        let mut segments = vec![self.name(what)?];
        while self.eat(T::Dot) {
            segments.push(self.name("a name after the dot")?);
        }
        self.complete(mark, NodeKind::Path);
        Some(ast::Path {
            segments,
            span: self.span_from(mark.1),
        })
    }
}

/// Turns `a.b.c` into a path; anything else is not one.
fn as_path(expr: &Expr) -> Option<ast::Path> {
    let mut segments = Vec::with_capacity(1);
    let mut at = expr;
    loop {
        match &at.kind {
            ExprKind::Name(name) => {
                segments.push(name.clone());
                break;
            }
            ExprKind::Field { of, name } => {
                segments.push(name.clone());
                at = of;
            }
            _ => return None,
        }
    }
    segments.reverse();
    Some(ast::Path {
        segments,
        span: expr.span,
    })
}

/// Tells whether a token is between two operands.
pub(super) fn is_binary_operator(kind: T) -> bool {
    binary_operator(kind).is_some() || kind == T::DotDot
}
