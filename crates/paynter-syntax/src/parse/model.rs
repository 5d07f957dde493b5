//! Reads the statements of a model.
//!
//! In:  the parser at the first token of a statement.
//! Out: one [`ast::Stmt`].
//!
//! Keywords are contextual: a word is one only if what follows cannot follow a name, so
//! that `start cb.e = 200 [V]` is a demand and `start: 1 -> mass` makes a junction.

use super::Parser;
use crate::ast::{self, StmtKind};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind as T;
use crate::tree::{Mark, NodeKind};

/// Words that begin a statement of a model.
const KEYWORDS: [&str; 17] = [
    "param",
    "input",
    "output",
    "port",
    "outer",
    "replaceable",
    "bond",
    "solve",
    "invariant",
    "start",
    "guess",
    "sample",
    "when",
    "for",
    "if",
    "layout",
    "der",
];

impl Parser<'_> {
    /// Reads `{ statement … }`.
    pub(super) fn model_body(&mut self) -> Option<Vec<ast::Stmt>> {
        self.block("`{`", NodeKind::Block, Self::model_statement)
    }

    fn model_statement(&mut self) -> Option<ast::Stmt> {
        let first = self.pos;
        let doc = self.docs_before(first);
        let mut kind = self.model_statement_kind()?;
        match &mut kind {
            StmtKind::Param(decls) | StmtKind::Input(decls) | StmtKind::Output(decls) => {
                if let [only] = decls.as_mut_slice() {
                    only.doc = only.doc.take().or_else(|| doc.clone());
                }
            }
            StmtKind::Define(define) => define.doc = doc.clone(),
            _ => {}
        }
        Some(ast::Stmt {
            doc,
            span: self.span_from(first),
            kind,
        })
    }

    fn model_statement_kind(&mut self) -> Option<StmtKind> {
        match self.kind() {
            T::Ident => {}
            T::If => return self.if_statement(),
            T::Number | T::LParen | T::Underscore => return self.chain_statement(),
            _ => {
                self.not_a_statement(&KEYWORDS);
                return None;
            }
        }

        let next = self.second_kind();
        // What may follow a name at the start of a statement.
        let is_name = next.is_arrow() || matches!(next, T::Colon | T::Eq | T::Dot | T::Comma);
        let is_followed_by_word = next == T::Ident || next == T::End || next.is_reserved_word();

        // `param = 5` has lost its name; a junction or part may well be called `input`.
        let is_declaration =
            is_followed_by_word || matches!(next, T::Eq | T::LBracket | T::Comma | T::Semicolon);
        match self.text_at(self.pos) {
            "param" if is_declaration => self.decls().map(StmtKind::Param),
            "input" if is_declaration => self.decls().map(StmtKind::Input),
            "output" if is_declaration => self.decls().map(StmtKind::Output),
            "port" if is_followed_by_word => self.port_decls(),
            "outer" if is_followed_by_word => self.outer(),
            "replaceable" if is_followed_by_word => self.replaceable(),
            "bond" if is_followed_by_word => self.named_bond(),
            "solve" if is_followed_by_word => self.solve(),
            "start" if is_followed_by_word => self.assigns().map(StmtKind::Start),
            "guess" if is_followed_by_word => self.assigns().map(StmtKind::Guess),
            "for" if is_followed_by_word => self.for_statement(),
            "layout" if is_followed_by_word || next == T::LBrace => self.layout(),
            "invariant" if !is_name => self.invariant(),
            "sample" if !is_name => self.sample(),
            "when" if !is_name => self.when(),
            _ => self.definition_or_chain(),
        }
    }

    fn chain_statement(&mut self) -> Option<StmtKind> {
        let chain = self.chain()?;
        self.checked_chain(chain)
    }

    /// Sees that a chain without arrows makes something.
    fn checked_chain(&mut self, chain: ast::Chain) -> Option<StmtKind> {
        let makes_thing = matches!(
            chain.groups.first().map(Vec::as_slice),
            Some([ast::Node {
                kind: ast::NodeKind::Thing { .. },
                ..
            }])
        );
        let goes_on = !matches!(self.kind(), T::End | T::Semicolon);
        if !chain.arrows.is_empty() || makes_thing {
            return Some(StmtKind::Chain(chain));
        }
        if goes_on {
            self.expected("an arrow or `=`");
        } else {
            self.fail(
                Diagnostic::error(code::NO_EFFECT, "this line does nothing")
                    .primary(chain.span, "neither an arrow nor `=` follows")
                    .help(
                        "write an arrow for power, `name: kind` to make a thing, `=` for a signal",
                    ),
            );
        }
        None
    }

    /// Reads `x = …`, `x [unit] = …`, `der(x) = …` or a chain that begins with a name.
    fn definition_or_chain(&mut self) -> Option<StmtKind> {
        let mark = self.mark();
        let next = self.second_kind();
        if matches!(next, T::Ident | T::Number | T::Text) || next.is_reserved_word() {
            self.two_words(&KEYWORDS);
            return None;
        }
        if next == T::LBrace && !self.is_law_at_second() {
            self.not_a_statement(&KEYWORDS);
            return None;
        }
        if self.is_derivative() {
            return self.definition().map(Box::new).map(StmtKind::Define);
        }
        let target = self.reference("a name")?;
        match self.kind() {
            T::Eq | T::LBracket | T::Prime => self
                .definition_of(mark, target)
                .map(Box::new)
                .map(StmtKind::Define),
            _ => {
                let node = self.node_from(mark, target)?;
                let chain = self.chain_from(mark, node)?;
                self.checked_chain(chain)
            }
        }
    }

    /// Tells whether the braces after the next token are a law in a chain, and not the
    /// block of a statement whose keyword is missing or misspelt.
    fn is_law_at_second(&self) -> bool {
        let close = self.brackets.partner[self.pos as usize + 1];
        close != crate::brackets::NONE && self.kind_at(close + 1).is_arrow()
    }

    fn is_derivative(&self) -> bool {
        self.is_word("der") && self.second_kind() == T::LParen
    }

    /// Reads `x [unit] = expr` or `der(x) [unit] = expr`.
    pub(super) fn definition(&mut self) -> Option<ast::Define> {
        let mark = self.mark();
        if !self.is_derivative() {
            let target = self.reference("a name to define")?;
            return self.definition_of(mark, target);
        }
        self.bump();
        let args = self.mark();
        let open = self.open();
        let target = self.reference("the name of a state")?;
        self.close(open, T::RParen)?;
        self.complete(args, NodeKind::Args);
        let mut define = self.definition_of(mark, target)?;
        define.is_derivative = true;
        Some(define)
    }

    /// Reads the rest of a definition whose target has been read.
    pub(super) fn definition_of(
        &mut self,
        mark: (Mark, u32),
        target: ast::Ref,
    ) -> Option<ast::Define> {
        let unit = self.unit_of_name()?;
        if self.kind() == T::Prime {
            let span = self.span_at(self.pos);
            self.fail(
                Diagnostic::error(
                    code::PRIME_IS_TRANSPOSE,
                    "`'` is the transpose, not a derivative",
                )
                .primary(span, "a definition cannot be transposed")
                .help("write `der(x) = …`"),
            );
            return None;
        }

        if self.kind() == T::Colon && unit.is_some() {
            let diagnostic = self
                .expected_message("`=`")
                .help("the index of an array touches its name: `link[i]: Rod()`");
            self.fail(diagnostic);
            return None;
        }

        self.expect(T::Eq, "`=`")?;
        let value = self.expr()?;
        Some(ast::Define {
            target,
            is_derivative: false,
            unit,
            value,
            doc: None,
            span: self.span_from(mark.1),
        })
    }

    // ---- declarations

    pub(super) fn decls(&mut self) -> Option<Vec<ast::Decl>> {
        self.bump();
        self.list(Self::decl)
    }

    /// Reads `name [":" (shape | path)] [unit] ["=" expr] ["in" range]`.
    pub(super) fn decl(&mut self) -> Option<ast::Decl> {
        let mark = self.mark();
        let doc = self
            .docs_before(self.pos)
            .filter(|_| self.pos > self.statement_start);
        let name = self.name("a name")?;
        let mut shape = None;
        let mut kind = None;
        if self.eat(T::Colon) {
            if self.colon_equals() {
                return None;
            }
            if self.kind() == T::LBracket {
                shape = Some(self.shape()?);
            } else {
                kind = Some(self.path("a shape such as `[3]`, or a type")?);
            }
        }

        let unit = self.unit_of_name()?;
        if matches!(self.kind(), T::Number | T::Minus | T::LParen | T::Text) {
            self.expected("`=`");
            return None;
        }

        let value = if self.eat(T::Eq) {
            Some(self.expr()?)
        } else {
            None
        };
        let range = if self.eat_word("in") {
            Some(self.range()?)
        } else {
            None
        };
        self.complete(mark, NodeKind::Decl);

        Some(ast::Decl {
            name,
            shape,
            kind,
            unit,
            value,
            range,
            doc,
            span: self.span_from(mark.1),
        })
    }

    /// Reads `[3,3]`.
    pub(super) fn shape(&mut self) -> Option<Vec<ast::Expr>> {
        let mark = self.mark();
        let open = self.open();
        let sizes = self.list_until(T::RBracket, Self::expr)?;
        self.close(open, T::RBracket)?;
        self.complete(mark, NodeKind::Shape);
        Some(sizes)
    }

    pub(super) fn port_decls(&mut self) -> Option<StmtKind> {
        self.bump();
        self.list(Self::port_decl).map(StmtKind::Port)
    }

    fn port_decl(&mut self) -> Option<ast::PortDecl> {
        let mark = self.mark();
        let name = self.name("the name of a port")?;
        self.expect(T::Colon, "`:` and a domain such as `electrical`")?;
        let kind = self.path("a domain such as `electrical`, or a port type")?;
        let size = if self.kind() == T::LBracket {
            Some(self.size()?)
        } else {
            None
        };
        let binding = if self.eat(T::Eq) {
            Some(self.port_binding()?)
        } else {
            None
        };
        self.complete(mark, NodeKind::PortDecl);
        Some(ast::PortDecl {
            name,
            kind,
            size,
            binding,
            span: self.span_from(mark.1),
        })
    }

    fn port_binding(&mut self) -> Option<ast::PortBinding> {
        if self.kind() != T::LParen {
            return self
                .reference("a junction or a port")
                .map(ast::PortBinding::Node);
        }
        let mark = self.mark();
        let open = self.open();
        let members = self.list_until(T::RParen, |p| {
            let name = p.name("the name of a member")?;
            p.expect(T::Eq, "`=`")?;
            Some((name, p.expr()?))
        })?;
        self.close(open, T::RParen)?;
        self.complete(mark, NodeKind::Args);
        Some(ast::PortBinding::Members(members))
    }

    fn outer(&mut self) -> Option<StmtKind> {
        self.bump();
        let name = self.name("a name")?;
        self.expect(T::Colon, "`:` and a model")?;
        let path = self.path("a model")?;
        Some(StmtKind::Outer { name, path })
    }

    fn replaceable(&mut self) -> Option<StmtKind> {
        self.bump();
        let name = self.name("a name")?;
        self.expect(T::Colon, "`:` and a model")?;
        let bound = self.path("a model")?;
        let default = if self.eat(T::Eq) {
            Some(self.instantiation()?)
        } else {
            None
        };
        Some(StmtKind::Replaceable {
            name,
            bound,
            default,
        })
    }

    /// Reads `Path` or `Path(arg, …)`.
    pub(super) fn instantiation(&mut self) -> Option<ast::Instantiation> {
        let mark = self.mark();
        let path = self.path("a model")?;
        let args = if self.kind() == T::LParen {
            self.args()?
        } else {
            Vec::new()
        };
        self.complete(mark, NodeKind::Call);
        Some(ast::Instantiation {
            path,
            args,
            span: self.span_from(mark.1),
        })
    }

    fn named_bond(&mut self) -> Option<StmtKind> {
        self.bump();
        let name = self.name("the name of a bond")?;
        self.expect(T::Colon, "`:`")?;
        let chain = self.chain()?;
        let is_one_bond = chain.arrows.len() == 1 && chain.groups.iter().all(|g| g.len() == 1);
        if !is_one_bond && !self.recovering && matches!(self.kind(), T::End | T::Semicolon) {
            self.fail(
                Diagnostic::error(
                    code::NAMED_BOND,
                    format!("the named bond `{}` joins exactly two nodes", name.text),
                )
                .primary(
                    chain.span,
                    "one arrow, with one node at each end, is expected here",
                ),
            );
            return None;
        }
        Some(StmtKind::NamedBond { name, chain })
    }

    // ---- equations and values

    fn solve(&mut self) -> Option<StmtKind> {
        self.bump();
        let unknowns = self.list(|p| p.name("an unknown"))?;
        let equations = self.block("`{` and what must agree", NodeKind::Block, Self::demand)?;
        Some(StmtKind::Solve {
            unknowns,
            equations,
        })
    }

    fn invariant(&mut self) -> Option<StmtKind> {
        self.bump();
        self.demand().map(Box::new).map(StmtKind::Invariant)
    }

    /// Reads `left == right`.
    pub(super) fn demand(&mut self) -> Option<ast::Demand> {
        let first = self.pos;
        let expr = self.expr()?;
        let span = self.span_from(first);
        match expr.kind {
            ast::ExprKind::Binary {
                op: ast::BinaryOp::Eq,
                left,
                right,
            } => Some(ast::Demand {
                left: *left,
                right: *right,
                span,
            }),
            _ if matches!(self.kind(), T::End | T::Semicolon | T::Eq) => {
                let is_definition = self.kind() == T::Eq;
                let span = if is_definition {
                    self.span_here()
                } else {
                    span
                };
                let mut diagnostic =
                    Diagnostic::error(code::NOT_A_DEMAND, "an equation is written with `==`")
                        .primary(span, "`=` would define a name; `==` states an equation");
                if is_definition {
                    diagnostic = diagnostic.help("write `==` instead");
                }
                self.fail(diagnostic);
                None
            }
            _ => {
                self.expected("`==`");
                None
            }
        }
    }

    /// Reads a keyword and `ref = expr {, ref = expr}`.
    pub(super) fn assigns(&mut self) -> Option<Vec<ast::Assign>> {
        self.bump();
        self.list(Self::assign)
    }

    fn assign(&mut self) -> Option<ast::Assign> {
        let first = self.pos;
        let target = self.reference("a name")?;
        self.expect(T::Eq, "`=`")?;
        let value = self.expr()?;
        Some(ast::Assign {
            target,
            value,
            span: self.span_from(first),
        })
    }

    // ---- blocks

    fn sample(&mut self) -> Option<StmtKind> {
        self.bump();
        if !self.eat_word("at") {
            let diagnostic = self
                .expected_message("`at` and a rate")
                .help("a rate is written as a rate: `sample at 6000 [Hz] { … }`");
            self.report(diagnostic);
            self.eat_word("every");
        }
        let rate = if self.kind() == T::LBrace {
            None
        } else {
            self.expr()
        };
        if rate.is_none() {
            self.expected("a rate such as `6000 [Hz]`");
        }
        let body = self.block("`{`", NodeKind::Block, Self::documented_definition)?;
        Some(StmtKind::Sample { rate: rate?, body })
    }

    /// Reads a definition with the documentation above it.
    pub(super) fn documented_definition(&mut self) -> Option<ast::Define> {
        let doc = self.docs_before(self.pos);
        let is_name = self.kind() == T::Ident;
        if is_name && matches!(self.second_kind(), T::Ident | T::Number | T::Text) {
            self.two_words(&[]);
            return None;
        }
        let mut define = self.definition()?;
        define.doc = doc;
        Some(define)
    }

    fn when(&mut self) -> Option<StmtKind> {
        self.bump();
        let has_name = self.kind() == T::Ident && self.second_kind() == T::Colon;
        let name = if has_name {
            let i = self.bump();
            self.bump();
            Some(self.ident(i))
        } else {
            None
        };
        let condition = self.condition();
        let actions = self.block("`{`", NodeKind::Block, Self::action)?;
        Some(StmtKind::When {
            name,
            condition: condition?,
            actions,
        })
    }

    fn action(&mut self) -> Option<ast::Action> {
        let first = self.pos;
        let next = self.second_kind();
        if self.is_word("reinit") && next == T::Ident {
            self.bump();
            return self.assign().map(ast::Action::Reinit);
        }

        if self.is_word("reinit") && next == T::LParen {
            self.bump();
            let diagnostic = self.expected_message("the name of a state");
            self.fail(diagnostic.help("write `reinit x = …`, without parentheses"));
            return None;
        }

        if self.is_word("stop") && matches!(next, T::Text | T::End | T::Semicolon) {
            self.bump();
            let has_message = self.kind() == T::Text;
            let message = if has_message {
                Some(self.quoted()?.0)
            } else {
                None
            };
            return Some(ast::Action::Stop {
                message,
                span: self.span_from(first),
            });
        }

        if self.kind() == T::Ident && matches!(next, T::Ident | T::Number | T::Text) {
            self.two_words(&["reinit", "stop"]);
            return None;
        }
        self.documented_definition().map(ast::Action::Define)
    }

    fn for_statement(&mut self) -> Option<StmtKind> {
        self.bump();
        let header = self.for_header();
        let body = self.model_body()?;
        let (variable, range) = header?;
        Some(StmtKind::For {
            variable,
            range: Box::new(range),
            body,
        })
    }

    fn for_header(&mut self) -> Option<(ast::Ident, ast::Range)> {
        let variable = self.name("the running name")?;
        self.expect_word("in")?;
        let range = self.range()?;
        Some((variable, range))
    }

    fn if_statement(&mut self) -> Option<StmtKind> {
        self.enter()?;
        let statement = self.if_inside();
        self.leave();
        statement
    }

    fn if_inside(&mut self) -> Option<StmtKind> {
        self.bump();
        let condition = self.condition();
        if self.kind() == T::Then {
            let diagnostic = self
                .expected_message("`{`")
                .help("`if … then … else …` is a value; statements are chosen by `if … { … }`");
            self.fail(diagnostic);
            return None;
        }
        let then = self.model_body()?;
        let otherwise = self.else_branch()?;
        Some(StmtKind::If {
            condition: condition?,
            then,
            otherwise,
        })
    }

    fn else_branch(&mut self) -> Option<Vec<ast::Stmt>> {
        if self.raw_kind() != T::Else {
            return Some(Vec::new());
        }
        self.bump();
        if self.raw_kind() != T::If {
            return self.model_body();
        }
        let first = self.pos;
        let kind = self.if_statement()?;
        Some(vec![ast::Stmt {
            doc: None,
            span: self.span_from(first),
            kind,
        }])
    }

    fn layout(&mut self) -> Option<StmtKind> {
        self.bump();
        let places = self.block("`{`", NodeKind::Layout, |p| {
            let first = p.pos;
            let target = p.reference("the name of a thing")?;
            let x = p.coordinate()?;
            let y = p.coordinate()?;
            Some(ast::LayoutEntry {
                target,
                x,
                y,
                span: p.span_from(first),
            })
        })?;
        Some(StmtKind::Layout(places))
    }

    fn coordinate(&mut self) -> Option<f64> {
        let is_negative = self.eat(T::Minus);
        let value = self.number_value()?;
        Some(if is_negative { -value } else { value })
    }

    // ---- what is not a statement

    /// Fails at a token that cannot begin a statement.
    pub(super) fn not_a_statement(&mut self, keywords: &[&str]) {
        let span = self.span_at(self.pos);
        let kind = self.kind();
        let found = self.found();
        if super::expr::is_binary_operator(kind) {
            self.fail(
                Diagnostic::error(
                    code::LINE_STARTS_WITH_OPERATOR,
                    format!("a line cannot start with {found}"),
                )
                .primary(span, "the line above has already ended")
                .help(format!("put {found} at the end of the line above")),
            );
        } else if kind == T::Ident {
            self.unknown_statement(keywords);
        } else {
            self.expected("a statement");
        }
    }

    /// Fails at two words side by side: a keyword is misspelt, or something is missing.
    pub(super) fn two_words(&mut self, keywords: &[&str]) {
        if similar(self.text_at(self.pos), keywords).is_some() {
            self.unknown_statement(keywords);
            return;
        }
        let name = self.text_at(self.pos).to_owned();
        self.bump();
        let mut diagnostic = self.expected_message("`:`, `=` or an arrow");
        let short = |text: &str| -> String { text.chars().take(40).collect() };
        let (shown, thing) = (short(&name), short(self.text_at(self.pos)));
        let is_name = self.kind() == T::Ident;
        if ["lagrangian", "model", "experiment"].contains(&name.as_str()) {
            diagnostic = diagnostic.help(format!(
                "a `{name}` goes beside models, not inside one: move it after the `}}`"
            ));
        } else if is_name && let Some(help) = habit(&name, &thing) {
            diagnostic = diagnostic.help(help);
        } else if is_name && name.starts_with(char::is_uppercase) {
            // `Se source(5)`, as other languages have it.
            diagnostic = diagnostic.help(format!(
                "the name comes first: `{thing}: {shown}`, followed by its value in parentheses"
            ));
        }
        self.fail(diagnostic.secondary(self.span_at(self.pos - 1), format!("after `{shown}`")));
    }

    pub(super) fn unknown_statement(&mut self, keywords: &[&str]) {
        let word = self.found();
        let mut diagnostic = Diagnostic::error(
            code::UNKNOWN_STATEMENT,
            format!("{word} does not begin a statement"),
        )
        .primary(self.span_at(self.pos), "not a statement here");
        if let Some(meant) = similar(self.text_at(self.pos), keywords) {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        }
        self.fail(diagnostic);
    }
}

/// What to write instead of a statement of another language that begins with `word`, followed by a name.
fn habit(word: &str, name: &str) -> Option<String> {
    Some(match word {
        "parameter" | "parameters" | "constant" | "const" | "par" => {
            format!("write `param {name} = …`")
        }
        "Real" | "Integer" | "Boolean" | "real" | "float" | "double" | "variable" | "variables"
        | "var" | "let" | "signal" => format!(
            "a signal is not declared: write `{name} = …`, for a value to set `param {name} = …`, for a state \
             `der({name}) = …`"
        ),
        "initial" | "init" => format!("write `start {name} = …`"),
        "clock" | "at" | "every" | "sampled" => {
            "what a controller does at its ticks goes in a block: `sample at 100 [Hz] { … }`"
                .to_owned()
        }
        "import" | "include" | "using" => "write `use \"file.bond\"` above the models".to_owned(),
        _ => return None,
    })
}

/// Gives the word that `word` is a likely misspelling of.
pub(super) fn similar<'k>(word: &str, words: &[&'k str]) -> Option<&'k str> {
    words
        .iter()
        .map(|candidate| (distance(word, candidate), *candidate))
        // One slip in a short word, two in a long one.
        .filter(|&(d, candidate)| d > 0 && d <= if candidate.len() < 6 { 1 } else { 2 })
        .min_by_key(|&(d, _)| d)
        .map(|(_, candidate)| candidate)
}

/// Counts the letters to insert, delete, replace or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(32).collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if swapped {
                    best.min(rows[i - 2][j - 2] + 1)
                } else {
                    best
                }
            };
        }
    }
    rows[a.len()][b.len()]
}
