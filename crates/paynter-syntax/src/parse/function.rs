//! Reads functions.
//!
//! In:  the parser at `fn` or `external fn`.
//! Out: an [`ast::Function`].

use super::Parser;
use crate::ast::{self, FunctionBody};
use crate::lex::TokenKind as T;
use crate::tree::NodeKind;

/// One statement of a block body.
enum Line {
    Define(ast::Define),
    Return(Vec<(Option<ast::Ident>, ast::Expr)>),
}

impl Parser<'_> {
    pub(super) fn function(&mut self) -> Option<ast::Function> {
        let is_external = self.eat_word("external");
        self.expect_word("fn")?;
        let header = self.function_header();
        let body = match self.raw_kind() {
            _ if is_external && !self.recovering => FunctionBody::External,
            T::Eq if !self.recovering => {
                self.bump();
                FunctionBody::Expr(self.expr()?)
            }
            _ => self.function_block()?,
        };
        let (name, params, result_shape) = header?;
        Some(ast::Function {
            name,
            params,
            result_shape,
            body,
        })
    }

    fn function_header(&mut self) -> Option<(ast::Ident, Vec<ast::Decl>, Option<Vec<ast::Expr>>)> {
        let name = self.name("the name of the function")?;
        if self.kind() != T::LParen {
            self.expected("`(` and the parameters");
            return None;
        }
        let mark = self.mark();
        let open = self.open();
        let params = self.list_until(T::RParen, Self::decl)?;
        self.close(open, T::RParen)?;
        self.complete(mark, NodeKind::Args);
        let result_shape = if self.eat(T::Arrow) {
            if self.kind() != T::LBracket {
                self.expected("a shape such as `[n,n]`");
                return None;
            }
            Some(self.shape()?)
        } else {
            None
        };
        Some((name, params, result_shape))
    }

    fn function_block(&mut self) -> Option<FunctionBody> {
        let lines = self.block("`=` or `{`", NodeKind::Block, |p| {
            let is_return = p.is_word("return") && p.second_kind() != T::Eq;
            if is_return {
                p.results().map(Line::Return)
            } else {
                p.documented_definition().map(Line::Define)
            }
        })?;
        let mut defines = Vec::new();
        let mut results = Vec::new();
        for line in lines {
            match line {
                Line::Define(define) => defines.push(define),
                Line::Return(values) => results.extend(values),
            }
        }
        Some(FunctionBody::Block { defines, results })
    }

    fn results(&mut self) -> Option<Vec<(Option<ast::Ident>, ast::Expr)>> {
        self.bump();
        self.list(|p| {
            let is_named = p.kind() == T::Ident && p.second_kind() == T::Eq;
            let name = if is_named {
                let i = p.bump();
                p.bump();
                Some(p.ident(i))
            } else {
                None
            };
            Some((name, p.expr()?))
        })
    }
}
