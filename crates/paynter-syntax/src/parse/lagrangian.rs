//! Reads a `lagrangian` block: coordinates, rates, energies.
//!
//! In:  the parser at the word `lagrangian`.
//! Out: one [`ast::Lagrangian`].

use super::Parser;
use crate::ast::{self, LagrangianKind, StmtKind};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind as T;
use crate::tree::NodeKind;

/// Words that begin a statement of a `lagrangian` block.
const KEYWORDS: [&str; 15] = [
    "param",
    "input",
    "output",
    "port",
    "start",
    "guess",
    "coordinate",
    "rate",
    "speed",
    "kinetic",
    "potential",
    "loss",
    "effort",
    "given",
    "constraint",
];

/// Those of them that give something a name and a formula.
const NAMED: [&str; 6] = ["rate", "kinetic", "potential", "loss", "effort", "given"];

impl Parser<'_> {
    /// Reads `lagrangian Name { … }`.
    pub(super) fn lagrangian(&mut self) -> Option<ast::Lagrangian> {
        self.bump();
        let name = self.name("the name of the system");
        let body = self.block("`{`", NodeKind::Block, Self::lagrangian_statement)?;
        Some(ast::Lagrangian { name: name?, body })
    }

    fn lagrangian_statement(&mut self) -> Option<ast::LagrangianStmt> {
        let first = self.pos;
        let doc = self.docs_before(first);
        let kind = self.lagrangian_kind()?;
        Some(ast::LagrangianStmt {
            doc,
            span: self.span_from(first),
            kind,
        })
    }

    fn lagrangian_kind(&mut self) -> Option<LagrangianKind> {
        if self.kind() != T::Ident {
            self.not_a_statement(&KEYWORDS);
            return None;
        }

        let next = self.second_kind();
        if next.is_arrow() || next == T::Colon {
            self.bond_in_lagrangian();
            return None;
        }

        if next == T::Eq && NAMED.contains(&self.text_at(self.pos)) {
            self.nameless();
            return None;
        }

        if next == T::Eq || next == T::LBracket {
            return self.definition().map(Box::new).map(LagrangianKind::Define);
        }
        match self.text_at(self.pos) {
            "param" => self.decls().map(LagrangianKind::Param),
            "input" => self.decls().map(LagrangianKind::Input),
            "output" => self.decls().map(LagrangianKind::Output),
            "coordinate" => self.decls().map(LagrangianKind::Coordinate),
            "rate" => self.decls().map(LagrangianKind::Rate),
            "speed" => self.decls().map(LagrangianKind::Speed),
            "kinetic" => self.decls().map(LagrangianKind::Kinetic),
            "potential" => self.decls().map(LagrangianKind::Potential),
            "loss" => self.decls().map(LagrangianKind::Loss),
            "effort" => self.decls().map(LagrangianKind::Effort),
            "given" => self.decls().map(LagrangianKind::Given),
            "start" => self.assigns().map(LagrangianKind::Start),
            "guess" => self.assigns().map(LagrangianKind::Guess),
            "port" => match self.port_decls()? {
                StmtKind::Port(ports) => Some(LagrangianKind::Port(ports)),
                _ => None,
            },
            "constraint" => self.constraint(),
            _ => {
                self.not_a_statement(&KEYWORDS);
                None
            }
        }
    }

    /// Reads `constraint name: left == right`.
    fn constraint(&mut self) -> Option<LagrangianKind> {
        self.bump();
        let name = self.name("the name of the constraint")?;
        self.expect(T::Colon, "`:` and what must hold")?;
        let demand = self.demand()?;
        Some(LagrangianKind::Constraint {
            name,
            demand: Box::new(demand),
        })
    }

    /// Fails at `kinetic = …`, which would define a signal of that name.
    fn nameless(&mut self) {
        let word = self.text_at(self.pos).to_owned();
        self.bump();
        let diagnostic = self.expected_message("a name");
        let name = match word.as_str() {
            "kinetic" => "T",
            "potential" => "V",
            "loss" => "D",
            "effort" => "q",
            _ => "v",
        };
        self.fail(diagnostic.help(format!("write `{word} {name} = …`")));
    }

    fn bond_in_lagrangian(&mut self) {
        self.fail(
            Diagnostic::error(
                code::NO_EFFECT,
                "a `lagrangian` has no bonds of its own: they are derived from the energies",
            )
            .primary(self.span_at(self.pos), "this line makes a part or a bond")
            .help("declare a `port` and bond to it from a model that uses this system as a part"),
        );
    }
}
