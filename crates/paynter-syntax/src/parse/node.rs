//! Reads chains: nodes and the arrows between them.
//!
//! In:  the parser before a node.
//! Out: groups of nodes and arrows.
//!
//! `0` and `1` are junctions exactly where a node may occur.

use super::Parser;
use crate::ast::{self, KindHead, NodeKind as Node, StrokeAt};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind as T;
use crate::tree::{Mark, NodeKind};

/// Words that may come after a law.
const FLAGS: [&str; 1] = ["unpowered"];

impl Parser<'_> {
    /// Reads `nodes arrow {node arrow} nodes`.
    pub(super) fn chain(&mut self) -> Option<ast::Chain> {
        let mark = self.mark();
        let first = self.node()?;
        self.chain_from(mark, first)
    }

    /// Reads the rest of a chain whose first node has been read.
    pub(super) fn chain_from(&mut self, mark: (Mark, u32), first: ast::Node) -> Option<ast::Chain> {
        let mut group = vec![first];
        self.more_nodes(&mut group)?;
        // Most chains have two nodes.
        let mut groups = Vec::with_capacity(2);
        groups.push(group);
        let mut arrows = Vec::with_capacity(1);
        while let Some(arrow) = self.arrow() {
            if !arrows.is_empty() && groups.last().is_some_and(|group| group.len() > 1) {
                self.list_inside_chain(&groups, arrow);
                return None;
            }
            arrows.push(arrow);
            let mut group = vec![self.node()?];
            self.more_nodes(&mut group)?;
            groups.push(group);
        }
        self.complete(mark, NodeKind::Chain);
        Some(ast::Chain {
            groups,
            arrows,
            span: self.span_from(mark.1),
        })
    }

    fn more_nodes(&mut self, group: &mut Vec<ast::Node>) -> Option<()> {
        while self.eat(T::Comma) {
            group.push(self.node()?);
        }
        Some(())
    }

    fn list_inside_chain(&mut self, groups: &[Vec<ast::Node>], arrow: ast::Arrow) {
        let Some([first, .., last]) = groups.last().map(Vec::as_slice) else {
            return;
        };
        self.fail(
            Diagnostic::error(
                code::LIST_INSIDE_CHAIN,
                "a list is allowed only at the start or at the end of a chain",
            )
            .primary(arrow.span, "the chain goes on here")
            .secondary(first.span.to(last.span), "after this list")
            .help("write a node before this arrow, on a line of its own"),
        );
    }

    fn arrow(&mut self) -> Option<ast::Arrow> {
        let (multi, stroke) = match self.kind() {
            T::Arrow => (false, None),
            T::DoubleArrow => (true, None),
            T::ArrowStroke => (false, Some(StrokeAt::Head)),
            T::DoubleArrowStroke => (true, Some(StrokeAt::Head)),
            T::StrokeArrow => (false, Some(StrokeAt::Tail)),
            T::StrokeDoubleArrow => (true, Some(StrokeAt::Tail)),
            _ => return None,
        };
        let i = self.bump();
        Some(ast::Arrow {
            multi,
            stroke,
            span: self.span_at(i),
        })
    }

    /// Reads a node.
    pub(super) fn node(&mut self) -> Option<ast::Node> {
        let first = self.pos;
        let kind = match self.kind() {
            T::Underscore => {
                self.bump();
                Node::Fixed
            }
            T::LParen => Node::Tuple(self.tuple()?),
            T::Number => Node::Anonymous(Box::new(self.kind_of_thing()?)),
            T::Ident => return self.named_node(),
            _ => {
                self.expected("a node");
                return None;
            }
        };
        // `1: C(…)` is a slip for `name: 1`; say what a node is.
        if self.kind() == T::Colon {
            let message = self.expected_message("an arrow");
            self.fail(message.help("the name comes first: `loop: 1`, `bus: 0`"));
            return None;
        }
        Some(ast::Node {
            span: self.span_from(first),
            kind,
        })
    }

    fn tuple(&mut self) -> Option<Vec<ast::Node>> {
        self.enter()?;
        let mark = self.mark();
        let open = self.open();
        let nodes = self.list_until(T::RParen, Self::node);
        self.leave();
        let nodes = nodes?;
        if nodes.is_empty() {
            self.expected("a node");
            return None;
        }
        self.close(open, T::RParen)?;
        self.complete(mark, NodeKind::Tuple);
        Some(nodes)
    }

    /// Reads `name: kind`, `Kind(…)`, `Kind { … }` or a reference.
    fn named_node(&mut self) -> Option<ast::Node> {
        let mark = self.mark();
        let reference = self.reference("a node")?;
        self.node_from(mark, reference)
    }

    /// Reads the rest of a node that begins with `reference`.
    pub(super) fn node_from(
        &mut self,
        mark: (Mark, u32),
        mut reference: ast::Ref,
    ) -> Option<ast::Node> {
        let is_simple = reference.parts.len() == 1;
        let kind = match self.kind() {
            T::Colon if is_simple => {
                self.bump();
                if self.colon_equals() {
                    return None;
                }
                let part = reference.parts.remove(0);
                Node::Thing {
                    name: part.name,
                    index: part.index,
                    kind: Box::new(self.kind_of_thing()?),
                }
            }
            T::LParen | T::LBrace if self.is_on_line_of_previous(self.pos) => {
                Node::Anonymous(Box::new(self.anonymous(mark, reference)?))
            }
            _ => Node::Ref(reference),
        };
        Some(ast::Node {
            span: self.span_from(mark.1),
            kind,
        })
    }

    /// Reports `x := 3`, of which the colon was read.
    pub(super) fn colon_equals(&mut self) -> bool {
        let is_there = self.kind() == T::Eq && self.is_adjacent();
        if is_there {
            let span = self.span_at(self.pos - 1).to(self.span_at(self.pos));
            self.fail(
                Diagnostic::error(code::UNEXPECTED, "`:=` is not an operator of the language")
                    .primary(span, "a value is given with `=`")
                    .help("write `x = 3` for a value, and `x: R(3)` for an element"),
            );
        }
        is_there
    }

    /// Turns `Sf[3]`, read as a reference, into a kind: the index is its size.
    fn anonymous(&mut self, mark: (Mark, u32), reference: ast::Ref) -> Option<ast::Kind> {
        let n = reference.parts.len();
        let mut segments = Vec::with_capacity(n);
        let mut size = None;
        for (i, part) in reference.parts.into_iter().enumerate() {
            segments.push(part.name);
            let mut index = part.index.into_iter();
            size = index.next();
            if let Some(wrong) = if i + 1 < n { size.take() } else { index.next() } {
                self.fail(
                    Diagnostic::error(code::UNEXPECTED, "a kind has one size, after its name")
                        .primary(wrong.span, "this is not a size"),
                );
                return None;
            }
        }
        let path = ast::Path {
            segments,
            span: reference.span,
        };
        self.values_and_laws(mark, KindHead::Named(path), size)
    }

    /// Reads `("0"|"1"|path) [size] [args] [law] {flag}`.
    fn kind_of_thing(&mut self) -> Option<ast::Kind> {
        let mark = self.mark();
        let head = match self.kind() {
            T::Number => self.junction()?,
            _ => KindHead::Named(self.path("a kind, such as `1`, `R` or a model")?),
        };
        let has_size = self.kind() == T::LBracket && self.is_on_line_of_previous(self.pos);
        let size = if has_size { Some(self.size()?) } else { None };
        self.values_and_laws(mark, head, size)
    }

    fn junction(&mut self) -> Option<KindHead> {
        let span = self.span_at(self.pos);
        let text = self.text_at(self.pos);
        let head = match text {
            "0" => KindHead::Zero(span),
            "1" => KindHead::One(span),
            _ => {
                self.fail(
                    Diagnostic::error(code::NOT_A_JUNCTION, "a junction is `0` or `1`")
                        .primary(span, "this number is neither"),
                );
                return None;
            }
        };
        self.bump();
        Some(head)
    }

    /// Reads `[n]`.
    pub(super) fn size(&mut self) -> Option<ast::Expr> {
        let mark = self.mark();
        let open = self.open();
        let size = self.expr()?;
        self.close(open, T::RBracket)?;
        self.complete(mark, NodeKind::Size);
        Some(size)
    }

    fn values_and_laws(
        &mut self,
        mark: (Mark, u32),
        head: KindHead,
        size: Option<ast::Expr>,
    ) -> Option<ast::Kind> {
        let is_on_line = |p: &Self| p.is_on_line_of_previous(p.pos);
        let args = if self.kind() == T::LParen && is_on_line(self) {
            Some(self.args()?)
        } else {
            None
        };
        let law = if self.kind() == T::LBrace && is_on_line(self) {
            Some(self.block("`{`", NodeKind::Law, Self::law_equation)?)
        } else {
            None
        };
        let mut flags = Vec::new();
        while self.is_flag() {
            let i = self.bump();
            flags.push(self.ident(i));
        }

        self.complete(mark, NodeKind::Kind);
        Some(ast::Kind {
            head,
            size,
            args,
            law,
            flags,
            span: self.span_from(mark.1),
        })
    }

    /// Tells whether a word that may come after a law is next.
    pub(super) fn is_flag(&self) -> bool {
        self.kind() == T::Ident && FLAGS.contains(&self.text_at(self.pos))
    }

    /// Reads `e[1] = k*q[1]`.
    fn law_equation(&mut self) -> Option<ast::LawEquation> {
        let first = self.pos;
        let target = self.name("a letter of the law, such as `e` or `f`")?;
        let index = if self.kind() == T::LBracket {
            Some(self.size()?)
        } else {
            None
        };
        self.expect(T::Eq, "`=`")?;
        let value = self.expr()?;
        Some(ast::LawEquation {
            target,
            index,
            value,
            span: self.span_from(first),
        })
    }
}
