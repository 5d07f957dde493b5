//! Looks through the functions of the text, whether anybody calls them or not.
//!
//! In:  the `fn` items of all files.
//! Out: messages about names and functions that do not exist and names that are used twice.
//!
//! **Invariant:** what is right passes, whatever it will be called with: shapes and units depend on
//! the arguments and are checked at each call. Expressions are as high as the parser lets them be.

use paynter_syntax::ast;

use super::call::is_built_in_call;
use super::{Elaborator, Item, code};

/// Names that can be read at some place of a function, and those that stand further below.
#[derive(Clone, Default)]
struct Known<'a> {
    above: Vec<&'a ast::Ident>,
    below: Vec<&'a ast::Ident>,
}

impl<'a> Elaborator<'a> {
    /// Checks every function of every file.
    pub(super) fn check_functions(&mut self) {
        for (file, loaded) in self.project.files.iter().enumerate() {
            for item in &loaded.ast.items {
                if let ast::ItemKind::Function(function) = &item.kind {
                    self.check_function(function, file as u32);
                }
            }
        }
    }

    fn check_function(&mut self, function: &'a ast::Function, file: u32) {
        let mut known = Known::default();
        for param in &function.params {
            if let Some(default) = &param.value {
                self.check_formula(default, &mut known, file);
            }
            self.add_local(&param.name, &mut known);
        }
        match &function.body {
            ast::FunctionBody::External => {}
            ast::FunctionBody::Expr(e) => self.check_formula(e, &mut known, file),
            ast::FunctionBody::Block { defines, results } => {
                let targets = || defines.iter().filter_map(|d| d.target.parts.first());
                known.below = targets().map(|part| &part.name).collect();
                for define in defines {
                    self.check_formula(&define.value, &mut known, file);
                    if let Some(part) = define.target.parts.first() {
                        self.add_local(&part.name, &mut known);
                    }
                }
                for (_, result) in results {
                    self.check_formula(result, &mut known, file);
                }
            }
        }
    }

    fn add_local(&mut self, name: &'a ast::Ident, known: &mut Known<'a>) {
        if let Some(first) = known.above.iter().find(|n| n.text == name.text) {
            let (first, span) = (first.span, name.span);
            report!(self, code::DUPLICATE_NAME, span, "`{}` is defined twice", name.text;
                "defined again";
                beside first => "first here";
                help: "each name of a function has one value: give this one another name");
        }
        known.above.push(name);
    }

    fn check_formula(&mut self, e: &'a ast::Expr, known: &mut Known<'a>, file: u32) {
        match &e.kind {
            ast::ExprKind::Number { .. } | ast::ExprKind::Bool(_) | ast::ExprKind::Text(_) => {}
            ast::ExprKind::Name(name) => self.check_read(name, known, file),
            ast::ExprKind::Matrix { rows, .. } => {
                for entry in rows.iter().flatten() {
                    self.check_formula(entry, known, file);
                }
            }
            ast::ExprKind::Field { of, .. }
            | ast::ExprKind::Unary { of, .. }
            | ast::ExprKind::Transpose(of) => self.check_formula(of, known, file),
            ast::ExprKind::Index { of, index } => {
                self.check_formula(of, known, file);
                for i in index {
                    self.check_formula(i, known, file);
                }
            }
            ast::ExprKind::Call { function, args } => {
                self.check_called(function, file);
                for arg in args {
                    self.check_formula(&arg.value, known, file);
                }
            }
            ast::ExprKind::Comprehension {
                body,
                variable,
                range,
                ..
            } => {
                let ends = [Some(&range.from), range.to.as_ref(), range.by.as_ref()];
                for end in ends.into_iter().flatten() {
                    self.check_formula(end, known, file);
                }
                known.above.push(variable);
                self.check_formula(body, known, file);
                known.above.pop();
            }
            ast::ExprKind::Binary { left, right, .. } => {
                self.check_formula(left, known, file);
                self.check_formula(right, known, file);
            }
            ast::ExprKind::If {
                condition,
                then,
                otherwise,
            } => {
                for part in [condition, then, otherwise] {
                    self.check_formula(part, known, file);
                }
            }
        }
    }

    fn check_read(&mut self, name: &'a ast::Ident, known: &Known<'a>, file: u32) {
        let text = &*name.text;
        let scope = self.texts.scopes[file as usize];
        if known.above.iter().any(|n| n.text == name.text)
            || self.texts.files[file as usize].names.contains_key(text)
            || self.built_in_name(text, scope).is_some()
        {
            return;
        }
        let Some(later) = known.below.iter().find(|n| n.text == name.text) else {
            return self.report_unknown(name, self.tables.scopes[scope.at()]);
        };
        let (later, span) = (later.span, name.span);
        report!(self, code::UNKNOWN_NAME, span, "`{text}` has no value yet";
            "read here";
            beside later => "defined only here";
            help: "the lines of a function are read from top to bottom: move the definition up");
    }

    fn check_called(&mut self, function: &'a ast::Path, file: u32) {
        let is_known = is_built_in_call(function)
            || matches!(
                self.texts.find_item(function, file),
                Some(Item::Function(..) | Item::Missing(_))
            );
        if !is_known {
            self.report_no_function(function, file);
        }
    }
}
