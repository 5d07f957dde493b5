//! Writes readable equations as text, LaTeX or JSON.
//!
//! In:  a [`Presentation`] and names.
//! Out: one string.
//!
//! **Invariant:** the three carry the same lines in the same order.

use super::wrap;
use super::{Cause, Effect, Happening, ImplicitEquations, Line, MatrixEquation, Presentation};
use crate::expr::SymbolId;
use crate::print::json::json_string;
use crate::print::latex::{latex_name, latex_text};
use crate::print::{Tree, to_json, to_latex, to_text};
use rustc_hash::FxHashSet;
use std::fmt::Write as _;

type Naming<'a> = &'a dyn Fn(SymbolId) -> String;

impl Presentation {
    /// Counts the lines, loops as one.
    pub fn count_lines(&self) -> usize {
        let matrices: usize = self
            .matrices
            .iter()
            .map(|m| 1 + m.matrix.len() + m.right.len())
            .sum();
        let implicit: usize = self.implicit.iter().map(|i| i.residuals.len()).sum();
        let happenings: usize = self.happenings.iter().map(|h| 1 + h.effects.len()).sum();
        let lines = self.states.len() + self.outputs.len() + self.where_lines.len();
        lines + matrices + implicit + happenings
    }

    /// Counts the operations that are written, loops once.
    pub fn count_operations(&self) -> usize {
        self.trees().map(Tree::count_operations).sum()
    }

    /// Counts the operations of the longest line.
    pub fn longest_line(&self) -> usize {
        self.trees().map(Tree::count_operations).max().unwrap_or(0)
    }

    fn trees(&self) -> impl Iterator<Item = &Tree> {
        let lines = self
            .states
            .iter()
            .chain(&self.outputs)
            .chain(&self.where_lines);
        let matrices = self
            .matrices
            .iter()
            .flat_map(|m| m.matrix.iter().map(|entry| &entry.2).chain(&m.right));
        let implicit = self.implicit.iter().flat_map(|i| &i.residuals);
        let effects = self
            .happenings
            .iter()
            .flat_map(|h| h.effects.iter().filter_map(Effect::line));
        let conditions = self.happenings.iter().filter_map(|h| match &h.cause {
            Cause::Event(condition) => Some(condition),
            Cause::Tick(..) => None,
        });
        lines
            .chain(effects)
            .map(|l| &l.right)
            .chain(matrices)
            .chain(implicit)
            .chain(conditions)
    }

    /// Writes plain text.
    pub fn to_text(&self, name: Naming<'_>) -> String {
        let mut out = String::new();
        for line in &self.states {
            let _ = writeln!(out, "{}", wrap::text(&text_line(line, name), ""));
        }
        for (matrix, (m, h)) in self.matrices.iter().zip(self.matrix_names(name)) {
            let unknowns: Vec<String> = matrix.unknowns.iter().map(|&s| name(s)).collect();
            let _ = writeln!(out, "{m}*[{}] = {h}", unknowns.join(", "));
        }

        for system in &self.implicit {
            let unknowns: Vec<String> = system.unknowns.iter().map(|&s| name(s)).collect();
            for (k, residual) in system.residuals.iter().enumerate() {
                let note = if k == 0 {
                    format!("   (solved for {})", unknowns.join(", "))
                } else {
                    String::new()
                };
                let line = format!("0 = {}{note}", to_text(residual, name));
                let _ = writeln!(out, "{}", wrap::text(&line, ""));
            }
        }

        for line in &self.outputs {
            let _ = writeln!(out, "{}", wrap::text(&text_line(line, name), ""));
        }
        for happening in &self.happenings {
            out.push_str(&text_happening(happening, name));
        }
        let entries = self.text_entries(name);
        if !entries.is_empty() || !self.where_lines.is_empty() {
            out.push_str("where\n");
        }
        for entry in entries {
            let _ = writeln!(out, "    {}", wrap::text(&entry, "    "));
        }
        for line in &self.where_lines {
            let line = wrap::text(&text_line(line, name), "    ");
            let _ = writeln!(out, "    {line}");
        }
        out
    }

    /// Names the matrix and the right side of each system: M and h, numbered if there are several;
    /// other letters where the model has these names.
    pub fn matrix_names(&self, name: Naming<'_>) -> Vec<(String, String)> {
        let mut taken: FxHashSet<String> = FxHashSet::default();
        if !self.matrices.is_empty() {
            for tree in self.trees() {
                let text = to_text(tree, name);
                let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                taken.extend(
                    words.map(|w| w.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned()),
                );
            }
        }
        let free = |letters: [&str; 4]| {
            let letter = letters.into_iter().find(|l| !taken.contains(*l));
            letter.unwrap_or(letters[0]).to_owned()
        };
        let (m, h) = (
            free(["M", "A", "K", "matrix"]),
            free(["h", "b", "r", "right"]),
        );
        let n = self.matrices.len();
        let number = |k: usize| {
            if n == 1 {
                String::new()
            } else {
                (k + 1).to_string()
            }
        };
        let names = |k: usize| (format!("{m}{}", number(k)), format!("{h}{}", number(k)));
        (0..n).map(names).collect()
    }

    fn text_entries(&self, name: Naming<'_>) -> Vec<String> {
        let mut entries = Vec::new();
        for (matrix, (m, h)) in self.matrices.iter().zip(self.matrix_names(name)) {
            for (row, column, value) in &matrix.matrix {
                let mirrored = if matrix.is_symmetric && row != column {
                    format!(" = {m}[{},{}]", column + 1, row + 1)
                } else {
                    String::new()
                };
                entries.push(format!(
                    "{m}[{},{}]{mirrored} = {}",
                    row + 1,
                    column + 1,
                    to_text(value, name)
                ));
            }
            for (row, value) in matrix.right.iter().enumerate() {
                entries.push(format!("{h}[{}] = {}", row + 1, to_text(value, name)));
            }
        }
        entries
    }

    /// Writes LaTeX: `align*` environments (amsmath), "where" as text between them.
    pub fn to_latex(&self, name: Naming<'_>) -> String {
        let mut lines: Vec<String> = self
            .states
            .iter()
            .map(|line| latex_line(line, name))
            .collect();

        let mut entries: Vec<String> = Vec::new();
        for (matrix, names) in self.matrices.iter().zip(self.matrix_names(name)) {
            let (m, h) = (latex_name(&names.0), latex_name(&names.1));
            let unknowns: Vec<String> = matrix
                .unknowns
                .iter()
                .map(|&s| latex_name(&name(s)))
                .collect();
            lines.push(format!(
                "{m} \\begin{{bmatrix}} {} \\end{{bmatrix}} &= {h}",
                unknowns.join(" \\\\ ")
            ));
            entries.extend(latex_entries(matrix, &names, name));
        }

        for system in &self.implicit {
            lines.extend(
                system
                    .residuals
                    .iter()
                    .map(|r| format!("0 &= {}", wrap::latex(r, name))),
            );
        }

        lines.extend(self.outputs.iter().map(|line| latex_line(line, name)));
        entries.extend(self.where_lines.iter().map(|line| latex_line(line, name)));
        let mut out = align(&lines);
        for happening in &self.happenings {
            out.push_str(&latex_happening(happening, name));
        }
        if !entries.is_empty() {
            out.push_str("where\n");
            out.push_str(&align(&entries));
        }
        out
    }

    /// Writes one JSON object.
    pub fn to_json(&self, name: Naming<'_>) -> String {
        let lines = |lines: &[Line]| {
            let lines: Vec<String> = lines.iter().map(|l| json_line(l, name)).collect();
            format!("[{}]", lines.join(","))
        };
        let matrices: Vec<String> = self.matrices.iter().map(|m| json_matrix(m, name)).collect();
        let implicit: Vec<String> = self
            .implicit
            .iter()
            .map(|i| json_implicit(i, name))
            .collect();
        let happenings: Vec<String> = self
            .happenings
            .iter()
            .map(|h| json_happening(h, name))
            .collect();
        format!(
            "{{\"states\":{},\"matrices\":[{}],\"implicit\":[{}],\"outputs\":{},\"happenings\":[{}],\"where\":{}}}",
            lines(&self.states),
            matrices.join(","),
            implicit.join(","),
            lines(&self.outputs),
            happenings.join(","),
            lines(&self.where_lines)
        )
    }
}

/// As the model language writes it.
fn text_happening(happening: &Happening, name: Naming<'_>) -> String {
    let mut out = match &happening.cause {
        Cause::Tick(rate, 1) => format!("sample at {rate} [Hz] {{\n"),
        Cause::Tick(rate, divisor) => format!("sample at {rate}/{divisor} [Hz] {{\n"),
        Cause::Event(condition) => format!("when {} {{\n", to_text(condition, name)),
    };
    for effect in &happening.effects {
        let line = match effect {
            Effect::Set(line) => text_line(line, name),
            Effect::Jump(line) => format!("reinit {}", text_line(line, name)),
            Effect::Stop(message) => format!("stop {message:?}"),
        };
        let _ = writeln!(out, "    {}", wrap::text(&line, "    "));
    }
    out.push_str("}\n");
    out
}

fn latex_happening(happening: &Happening, name: Naming<'_>) -> String {
    let mut out = match &happening.cause {
        Cause::Tick(rate, 1) => format!("at {rate} Hz\n"),
        Cause::Tick(rate, divisor) => format!("at {rate}/{divisor} Hz\n"),
        Cause::Event(condition) => {
            format!("when \\({}\\) becomes true\n", to_latex(condition, name))
        }
    };
    let lines: Vec<String> = happening
        .effects
        .iter()
        .map(|effect| match effect {
            Effect::Set(line) => latex_line(line, name),
            Effect::Jump(line) => {
                let left = latex_name(&name(line.symbol));
                format!("{left} &:= {}", wrap::latex(&line.right, name))
            }
            Effect::Stop(message) => format!("&\\text{{stop: {}}}", latex_text(message)),
        })
        .collect();
    out.push_str(&align(&lines));
    out
}

fn json_happening(happening: &Happening, name: Naming<'_>) -> String {
    let cause = match &happening.cause {
        Cause::Tick(rate, divisor) => format!("\"rate\":[{rate},{divisor}]"),
        Cause::Event(condition) => format!(
            "\"when\":{},\"text\":{}",
            to_json(condition, name),
            json_string(&to_text(condition, name))
        ),
    };
    let effects: Vec<String> = happening
        .effects
        .iter()
        .map(|effect| match effect {
            Effect::Set(line) => format!("{{\"set\":{}}}", json_line(line, name)),
            Effect::Jump(line) => format!("{{\"reinit\":{}}}", json_line(line, name)),
            Effect::Stop(message) => format!("{{\"stop\":{}}}", json_string(message)),
        })
        .collect();
    format!("{{{cause},\"effects\":[{}]}}", effects.join(","))
}

/// Names in a line: those of its loop first.
fn name_in(line: &Line, s: SymbolId, name: Naming<'_>) -> String {
    line.range
        .as_ref()
        .and_then(|range| range.names.get(&s).cloned())
        .unwrap_or_else(|| name(s))
}

fn text_line(line: &Line, name: Naming<'_>) -> String {
    let named = |s: SymbolId| name_in(line, s, name);
    let equation = format!("{} = {}", named(line.symbol), to_text(&line.right, &named));
    match &line.range {
        Some(range) => {
            format!(
                "for {} in {} .. {}: {equation}",
                range.variable, range.from, range.to
            )
        }
        None => equation,
    }
}

fn latex_line(line: &Line, name: Naming<'_>) -> String {
    let named = |s: SymbolId| name_in(line, s, name);
    let equation = format!(
        "{} &= {}",
        latex_name(&named(line.symbol)),
        wrap::latex(&line.right, &named)
    );
    match &line.range {
        Some(range) => format!(
            "{equation}, \\quad {} = {}, \\ldots, {}",
            range.variable, range.from, range.to
        ),
        None => equation,
    }
}

fn latex_entries(
    matrix: &MatrixEquation,
    (m, h): &(String, String),
    name: Naming<'_>,
) -> Vec<String> {
    let entry = |letter: &str, index: String| format!("{letter}_{{{index}}}");
    let mut entries = Vec::new();
    for (row, column, value) in &matrix.matrix {
        let left = entry(&brace(m), format!("{},{}", row + 1, column + 1));
        entries.push(format!("{left} &= {}", wrap::latex(value, name)));
    }
    for (row, value) in matrix.right.iter().enumerate() {
        let left = entry(&brace(h), (row + 1).to_string());
        entries.push(format!("{left} &= {}", wrap::latex(value, name)));
    }
    entries
}

/// A name that already has a subscript takes another one only in braces.
fn brace(name: &str) -> String {
    format!("{{{}}}", latex_name(name))
}

fn align(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "\\begin{{align*}}\n{}\n\\end{{align*}}\n",
        lines.join(" \\\\\n")
    )
}

fn json_line(line: &Line, name: Naming<'_>) -> String {
    let named = |s: SymbolId| name_in(line, s, name);
    let mut out = format!(
        "{{\"symbol\":{},\"value\":{},\"text\":{}",
        json_string(&named(line.symbol)),
        to_json(&line.right, &named),
        json_string(&to_text(&line.right, &named))
    );
    if let Some(range) = &line.range {
        let _ = write!(
            out,
            ",\"for\":{{\"variable\":{},\"from\":{},\"to\":{}}}",
            json_string(&range.variable),
            range.from,
            range.to
        );
    }
    out.push('}');
    out
}

fn json_names(symbols: &[SymbolId], name: Naming<'_>) -> String {
    let names: Vec<String> = symbols.iter().map(|&s| json_string(&name(s))).collect();
    format!("[{}]", names.join(","))
}

fn json_matrix(matrix: &MatrixEquation, name: Naming<'_>) -> String {
    let entries: Vec<String> = matrix
        .matrix
        .iter()
        .map(|(row, column, value)| format!("[{row},{column},{}]", to_json(value, name)))
        .collect();
    let right: Vec<String> = matrix
        .right
        .iter()
        .map(|value| to_json(value, name))
        .collect();
    format!(
        "{{\"unknowns\":{},\"matrix\":[{}],\"right\":[{}],\"symmetric\":{}}}",
        json_names(&matrix.unknowns, name),
        entries.join(","),
        right.join(","),
        matrix.is_symmetric
    )
}

fn json_implicit(system: &ImplicitEquations, name: Naming<'_>) -> String {
    let residuals: Vec<String> = system.residuals.iter().map(|r| to_json(r, name)).collect();
    format!(
        "{{\"unknowns\":{},\"residuals\":[{}]}}",
        json_names(&system.unknowns, name),
        residuals.join(",")
    )
}
