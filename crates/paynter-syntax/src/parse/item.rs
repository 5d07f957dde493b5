//! Reads the top level of a file.
//!
//! In:  the parser at the start of the text.
//! Out: an [`ast::File`].
//!
//! Lines that are not item are reported once per run of such lines.

use super::Parser;
use crate::ast::{self, ItemKind, PortMember, UseFrom};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind as T;
use crate::tree::NodeKind;

/// Words that begin an item.
const KEYWORDS: [&str; 9] = [
    "use",
    "domain",
    "port",
    "model",
    "lagrangian",
    "fn",
    "external",
    "experiment",
    "units",
];

impl Parser<'_> {
    pub(super) fn file(&mut self) -> ast::File {
        let mut file = ast::File::default();
        let mut is_lost = false;
        while self.raw_kind() != T::End {
            if self.raw_kind() != T::Ident || !self.is_item() {
                if is_lost {
                    self.skip_silently();
                    continue;
                }
                if self.eat_stray_separator() {
                    continue;
                }
            }
            let (units_strict, items) = (&mut file.units_strict, &mut file.items);
            self.statement(&mut |p: &mut Self| {
                is_lost = !p.is_item();
                if p.is_word("units") && p.second_kind() != T::Eq {
                    *units_strict = p.units_strict();
                } else {
                    items.extend(p.item());
                }
                Some(())
            });
            self.finish_statement();
        }
        file
    }

    /// Steps over a line that follows one already reported as no item.
    fn skip_silently(&mut self) {
        self.statement_start = self.pos;
        self.open_brackets.clear();
        self.skip_statement();
        if self.pos == self.statement_start || self.raw_kind() == T::Semicolon {
            self.bump();
        }
    }

    /// Tells whether the next tokens begin an item.
    fn is_item(&self) -> bool {
        if self.raw_kind() != T::Ident {
            return false;
        }
        let word = self.text_at(self.pos);
        let next = self.second_kind();
        KEYWORDS.contains(&word) || matches!(next, T::Eq | T::LBracket)
    }

    fn units_strict(&mut self) -> Option<crate::Span> {
        let mark = self.mark();
        self.bump();
        self.expect_word("strict")?;
        self.complete(mark, NodeKind::UnitsStrict);
        Some(self.span_from(mark.1))
    }

    fn item(&mut self) -> Option<ast::Item> {
        let mark = self.mark();
        let doc = self.docs_before(self.pos);
        let next = self.second_kind();
        let is_constant = matches!(next, T::Eq | T::LBracket);
        let word = if self.kind() == T::Ident {
            self.text_at(self.pos)
        } else {
            ""
        };
        let (node, kind) = match word {
            _ if is_constant && !word.is_empty() => {
                let mut define = self.definition()?;
                define.doc = doc.clone();
                (NodeKind::Constant, ItemKind::Constant(define))
            }
            "use" => (NodeKind::Use, ItemKind::Use(self.use_item()?)),
            "domain" => (NodeKind::Domain, ItemKind::Domain(self.domain()?)),
            "port" => (NodeKind::PortType, ItemKind::PortType(self.port_type()?)),
            "model" => (NodeKind::Model, ItemKind::Model(self.model()?)),
            "lagrangian" => (NodeKind::Model, ItemKind::Lagrangian(self.lagrangian()?)),
            "fn" | "external" => (NodeKind::Function, ItemKind::Function(self.function()?)),
            "experiment" => (
                NodeKind::Experiment,
                ItemKind::Experiment(self.experiment()?),
            ),
            _ => {
                self.not_an_item();
                return None;
            }
        };

        self.complete(mark, node);
        Some(ast::Item {
            doc,
            span: self.span_from(mark.1),
            kind,
        })
    }

    fn not_an_item(&mut self) {
        let found = self.found();
        let mut diagnostic = Diagnostic::error(
            code::UNKNOWN_ITEM,
            format!("{found} does not begin an item of a file"),
        )
        .primary(
            self.span_at(self.pos),
            "expected `model`, `experiment`, `fn`, `use` …",
        );
        let word = self.text_at(self.pos);
        if let Some(meant) = super::model::similar(word, &KEYWORDS) {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        } else if matches!(self.second_kind(), T::Colon) || self.second_kind().is_arrow() {
            diagnostic = diagnostic.help("bonds and signals go inside `model Name { … }`");
        }
        self.fail(diagnostic);
    }

    fn use_item(&mut self) -> Option<ast::Use> {
        self.bump();
        let from = if self.kind() == T::Text {
            let (path, span) = self.quoted()?;
            UseFrom::File { path, span }
        } else {
            UseFrom::Library(self.path("a library or a file in quotes")?)
        };
        let names = if self.eat(T::Colon) {
            self.list(|p| p.name("a name to use"))?
        } else {
            Vec::new()
        };
        Some(ast::Use { from, names })
    }

    fn domain(&mut self) -> Option<ast::Domain> {
        self.bump();
        let name = self.name("the name of the domain");
        let pseudo = self.is_word("pseudo").then(|| self.span_at(self.pos));
        if pseudo.is_some() {
            self.bump();
        }
        let variables = self.block("`{`", NodeKind::Block, |p| {
            let role = p.name("`effort`, `flow`, `momentum` or `displacement`")?;
            let is_named = p.kind() == T::Ident;
            let name = if is_named {
                Some(p.name("a letter")?)
            } else {
                None
            };
            Some((role, name, p.unit_of_name()?))
        })?;
        Some(ast::Domain {
            name: name?,
            variables,
            pseudo,
        })
    }

    fn port_type(&mut self) -> Option<ast::PortType> {
        self.bump();
        let name = self.name("the name of the port type");
        let members = self.block("`{`", NodeKind::Block, Self::port_member)?;
        Some(ast::PortType {
            name: name?,
            members,
        })
    }

    fn port_member(&mut self) -> Option<PortMember> {
        if self.is_word("signal") && self.second_kind() == T::Ident {
            let doc = self.docs_before(self.pos);
            self.bump();
            let mut decl = self.decl()?;
            decl.doc = decl.doc.take().or(doc);
            return Some(PortMember::Signal(decl));
        }
        let name = self.name("the name of a member")?;
        self.expect(T::Colon, "`:` and a domain such as `electrical`")?;
        let domain = self.path("a domain")?;
        let size = if self.kind() == T::LBracket {
            Some(self.size()?)
        } else {
            None
        };
        Some(PortMember::Power { name, domain, size })
    }

    fn model(&mut self) -> Option<ast::Model> {
        self.bump();
        let name = self.name("the name of the model");
        let mut extends = None;
        if !self.recovering && self.eat_word("extends") {
            extends = self.instantiation();
        }
        let body = self.model_body()?;
        Some(ast::Model {
            name: name?,
            extends,
            body,
        })
    }
}
