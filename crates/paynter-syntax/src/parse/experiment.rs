//! Reads experiments.
//!
//! In:  the parser after `experiment`.
//! Out: an [`ast::Experiment`].

use super::Parser;
use crate::ast::{self, ExperimentKind};
use crate::lex::TokenKind as T;
use crate::tree::NodeKind;

/// Words that begin a statement of an experiment.
const KEYWORDS: [&str; 13] = [
    "with",
    "start",
    "guess",
    "record",
    "plot",
    "measure",
    "sweep",
    "optimize",
    "fit",
    "limit",
    "compare",
    "trim",
    "linearize",
];

/// Words that begin a statement of `optimize`.
const AIMS: [&str; 5] = ["minimize", "maximize", "subject", "worst", "mean"];

impl Parser<'_> {
    pub(super) fn experiment(&mut self) -> Option<ast::Experiment> {
        self.bump();
        let header = self.experiment_header();
        let body = self.block("`{`", NodeKind::Block, Self::experiment_statement)?;
        let (name, of, extends) = header?;
        Some(ast::Experiment {
            name,
            of,
            extends,
            inherited: Vec::new(),
            body,
        })
    }

    fn experiment_header(&mut self) -> Option<(ast::Ident, ast::Path, Option<ast::Ident>)> {
        let name = self.name("the name of the experiment")?;
        if self.eat_word("extends") {
            let base = self.name("the name of an experiment")?;
            // Its model is that of the base, once the whole file is read.
            let of = ast::Path {
                segments: vec![base.clone()],
                span: base.span,
            };
            return Some((name, of, Some(base)));
        }
        if !self.eat_word("of") {
            let diagnostic = self
                .expected_message("`of` and a model")
                .help("write `experiment name of Model { … }`");
            self.fail(diagnostic);
            return None;
        }
        let of = self.path("a model")?;
        Some((name, of, None))
    }

    fn experiment_statement(&mut self) -> Option<ast::ExperimentStmt> {
        let first = self.pos;
        let kind = self.experiment_kind()?;
        Some(ast::ExperimentStmt {
            span: self.span_from(first),
            kind,
        })
    }

    fn experiment_kind(&mut self) -> Option<ExperimentKind> {
        if self.kind() != T::Ident {
            self.not_a_statement(&KEYWORDS);
            return None;
        }

        if self.second_kind() == T::Eq {
            let i = self.bump();
            self.bump();
            let name = self.ident(i);
            return Some(ExperimentKind::Setting {
                name,
                value: self.expr()?,
            });
        }

        match self.text_at(self.pos) {
            "with" => self.assigns().map(ExperimentKind::With),
            "start" => self.assigns().map(ExperimentKind::Start),
            "guess" => self.assigns().map(ExperimentKind::Guess),
            "record" => self.records(),
            "plot" => self.plot(),
            "measure" => self.measure(),
            "sweep" => self.sweep(),
            "optimize" => self.optimize(),
            "fit" => self.fit(),
            "limit" => {
                self.bump();
                self.list(Self::expr).map(ExperimentKind::Limit)
            }
            "compare" => self.compare(),
            "trim" => self.trim(),
            "linearize" => self.linearize(),
            _ => {
                self.unknown_experiment_statement();
                None
            }
        }
    }

    fn unknown_experiment_statement(&mut self) {
        let is_word_alone = matches!(self.second_kind(), T::End | T::Semicolon);
        let is_similar = super::model::similar(self.text_at(self.pos), &KEYWORDS).is_some();
        if is_similar || is_word_alone || self.second_kind() == T::LBrace {
            self.unknown_statement(&KEYWORDS);
            return;
        }
        self.bump();
        let diagnostic = self.expected_message("`=`").help(
            "a setting is written `stop = 1 [s]`; the model is changed by `with name = value`",
        );
        self.fail(diagnostic);
    }

    fn records(&mut self) -> Option<ExperimentKind> {
        self.bump();
        self.list(|p| {
            p.allows_unit_behind = true;
            let value = p.expr();
            p.allows_unit_behind = false;
            let value = value?;
            let mut unit = p.unit_of_name()?;
            let alias = if p.eat_word("as") {
                Some(p.name("a name for the column")?)
            } else {
                None
            };
            if unit.is_none() {
                unit = p.unit_of_name()?;
            }
            Some(ast::Record { value, alias, unit })
        })
        .map(ExperimentKind::Record)
    }

    fn plot(&mut self) -> Option<ExperimentKind> {
        self.bump();
        let ys = self.list(Self::expr)?;
        let versus = if self.eat_word("vs") {
            Some(self.expr()?)
        } else {
            None
        };
        Some(ExperimentKind::Plot { ys, versus })
    }

    fn measure(&mut self) -> Option<ExperimentKind> {
        self.bump();
        self.list(|p| {
            let name = p.name("a name for the result")?;
            p.expect(T::Eq, "`=`")?;
            Some((name, p.expr()?))
        })
        .map(ExperimentKind::Measure)
    }

    fn sweep(&mut self) -> Option<ExperimentKind> {
        self.bump();
        let (target, over) = self.varied()?;
        Some(ExperimentKind::Sweep { target, over })
    }

    /// Reads `ref in range`.
    fn varied(&mut self) -> Option<(ast::Ref, ast::Range)> {
        let target = self.reference("the name of a parameter")?;
        self.expect_word("in")?;
        Some((target, self.range()?))
    }

    fn optimize(&mut self) -> Option<ExperimentKind> {
        self.bump();
        let over = self.list(Self::varied);
        let aims = self.block("`{` and what to minimize", NodeKind::Block, |p| {
            let i = p.pos;
            let word = p.text_at(i);
            if p.kind() != T::Ident || !AIMS.contains(&word) {
                p.not_a_statement(&AIMS);
                return None;
            }
            p.bump();
            Some((word, p.list(Self::expr)?))
        })?;
        let of = |aim: &str| {
            aims.iter()
                .filter(|(word, _)| *word == aim)
                .flat_map(|(_, e)| e.clone())
                .collect()
        };
        Some(ExperimentKind::Optimize {
            over: over?,
            minimize: of("minimize"),
            maximize: of("maximize"),
            subject: of("subject"),
            worst: of("worst"),
            mean: of("mean"),
        })
    }

    fn fit(&mut self) -> Option<ExperimentKind> {
        self.bump();
        let over = self.list(Self::varied);
        let mut sigmas = Vec::new();
        let data = self.block("`{` and the data", NodeKind::Block, |p| {
            if p.kind() == T::Ident && p.text_at(p.pos) == "sigma" {
                p.bump();
                let list = p.list(|p| {
                    let name = p.name("the name of a column")?;
                    p.expect(T::Eq, "`=`")?;
                    Some((name, p.expr()?))
                })?;
                sigmas.extend(list);
                return Some(None);
            }
            if p.kind() != T::Ident || p.text_at(p.pos) != "data" {
                p.not_a_statement(&["data", "sigma"]);
                return None;
            }
            p.bump();
            let (path, path_span) = p.quoted()?;
            let of = match p.eat_word("of") {
                true => Some(p.name("the name of an experiment")?),
                false => None,
            };
            Some(Some(ast::DataFile {
                path,
                path_span,
                of,
            }))
        })?;

        Some(ExperimentKind::Fit {
            over: over?,
            data: data.into_iter().flatten().collect(),
            sigmas,
        })
    }

    fn compare(&mut self) -> Option<ExperimentKind> {
        self.bump();
        let (path, path_span) = self.quoted()?;
        let within = if self.eat_word("within") {
            Some(self.expr()?)
        } else {
            None
        };
        Some(ExperimentKind::Compare {
            path,
            path_span,
            within,
        })
    }

    fn trim(&mut self) -> Option<ExperimentKind> {
        self.bump();
        self.list(|p| p.reference("a state"))
            .map(ExperimentKind::Trim)
    }

    fn linearize(&mut self) -> Option<ExperimentKind> {
        self.bump();
        self.expect_word("from")?;
        let from = self.list(|p| p.reference("an input"))?;
        self.expect_word("to")?;
        let to = self.list(|p| p.reference("an output"))?;
        Some(ExperimentKind::Linearize { from, to })
    }
}
