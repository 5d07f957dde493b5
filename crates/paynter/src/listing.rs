//! Lists equations as they stand before and after reduction, and linear models as matrices.
//!
//! In:  a design, or equations made readable.
//! Out: text, LaTeX or JSON, in the model's own names.
//!
//! **Invariant:** the three carry the same equations in the same order.

use crate::readable::Readable;
use paynter_design::design::Design;
use paynter_model::causality::Causality;
use paynter_model::equations::build_equations;
use paynter_model::{ElementKind, Law};
use paynter_symbolic::dae::Switch;
use paynter_symbolic::print::json::json_string;
use paynter_symbolic::print::latex::{latex_name, latex_text};
use paynter_symbolic::print::{Style, Tree, to_json, to_latex, to_text, tree_of};
use paynter_symbolic::reduced::Block;
use paynter_symbolic::state_space::{NotLinear, StateSpace, state_space};
use paynter_symbolic::{ExprId, Pool, SymbolId};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// How to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Plain text.
    Text,
    /// LaTeX.
    Latex,
    /// JSON.
    Json,
}

pub(crate) type Naming<'a> = &'a dyn Fn(SymbolId) -> String;

/// One entry of a list.
pub(crate) enum ListEntry {
    /// Words.
    Note(String),
    /// An equation.
    Equation { left: Tree, right: Tree },
    /// An equation whose left side is not a symbol: `A[1,2]`.
    Named { left: String, right: Tree },
}

fn tree(pool: &Pool, e: ExprId, name: Naming<'_>) -> Tree {
    let style = Style {
        name,
        is_state: &|_| true,
    };
    tree_of(pool, e, &style).for_reading(name)
}

/// Lists the state equations, everything else eliminated or named.
pub fn state(readable: &Readable, format: Format) -> String {
    let name = |s: SymbolId| readable.name(s);
    let presentation = readable.present();
    match format {
        Format::Text => presentation.to_text(&name),
        Format::Latex => presentation.to_latex(&name),
        Format::Json => presentation.to_json(&name),
    }
}

/// Lists every equation as the elements and signals give it.
pub fn dae(design: &Design, causality: &Causality, format: Format) -> String {
    let dae = build_equations(&design.graph, causality);
    let name = |s: SymbolId| dae.name_of(s);
    let mut entries: Vec<ListEntry> = dae
        .equations
        .iter()
        .map(|equation| ListEntry::Equation {
            left: tree(&dae.pool, equation.left, &name),
            right: tree(&dae.pool, equation.right, &name),
        })
        .collect();

    // What a switch stands for: between events it keeps its value.
    for mode in &dae.modes {
        let right = match mode.switch {
            Switch::Relation {
                comparison,
                left,
                right,
            } => Tree::Compare(
                comparison,
                Box::new(tree(&dae.pool, left, &name)),
                Box::new(tree(&dae.pool, right, &name)),
            ),
            Switch::Floor { of } => {
                Tree::Call("floor".to_owned(), vec![tree(&dae.pool, of, &name)])
            }
            Switch::Sign { of } => Tree::Call("sign".to_owned(), vec![tree(&dae.pool, of, &name)]),
        };
        entries.push(ListEntry::Equation {
            left: Tree::Symbol(mode.symbol),
            right,
        });
    }

    for (rate, equations) in dae.clocks.iter().map(|c| (c.rate, &c.equations)) {
        entries.push(ListEntry::Note(format!("at {} Hz", fraction(rate))));
        for &(symbol, e) in equations {
            entries.push(ListEntry::Equation {
                left: Tree::Symbol(symbol),
                right: tree(&dae.pool, e, &name),
            });
        }
    }
    write(&entries, format, &name)
}

fn fraction((n, d): (u64, u64)) -> String {
    if d == 1 {
        n.to_string()
    } else {
        format!("{n}/{d}")
    }
}

/// Lists the blocks in the order in which they are solved.
pub fn blocks(readable: &Readable, format: Format) -> String {
    let name = |s: SymbolId| readable.name(s);
    let states: Vec<SymbolId> = readable.reduced.states.iter().map(|s| s.symbol).collect();
    let mut list = BlockList {
        pool: &readable.reduced.dae.pool,
        name: &name,
        entries: Vec::new(),
    };

    list.note(format!("states: {}", list.joined(&states)));
    for block in &readable.reduced.blocks {
        list.block(block);
    }
    write(&list.entries, format, &name)
}

/// The entries of a list of blocks, while it is written.
struct BlockList<'a> {
    pool: &'a Pool,
    name: Naming<'a>,
    entries: Vec<ListEntry>,
}

impl BlockList<'_> {
    fn joined(&self, symbols: &[SymbolId]) -> String {
        let names: Vec<String> = symbols.iter().map(|&s| (self.name)(s)).collect();
        names.join(", ")
    }

    fn note(&mut self, words: String) {
        self.entries.push(ListEntry::Note(words));
    }

    fn equation(&mut self, left: Tree, right: ExprId) {
        let right = tree(self.pool, right, self.name);
        self.entries.push(ListEntry::Equation { left, right });
    }

    fn named(&mut self, left: String, right: ExprId) {
        let right = tree(self.pool, right, self.name);
        self.entries.push(ListEntry::Named { left, right });
    }

    fn assignments(&mut self, list: &[(SymbolId, ExprId)]) {
        for &(symbol, value) in list {
            self.equation(Tree::Symbol(symbol), value);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Assign { symbol, value } => self.assignments(&[(*symbol, *value)]),
            Block::Linear {
                unknowns,
                matrix,
                right,
                positive_definite,
                inner,
                ..
            } => {
                let kind = if *positive_definite {
                    "symmetric positive definite "
                } else {
                    ""
                };
                let names = self.joined(unknowns);
                self.note(format!(
                    "solve the {kind}linear equations A z = b for z = {names}"
                ));
                for &(row, column, value) in matrix {
                    self.named(format!("A[{},{}]", row + 1, column + 1), value);
                }
                for (row, &value) in right.iter().enumerate() {
                    self.named(format!("b[{}]", row + 1), value);
                }
                if !inner.is_empty() {
                    self.note("then".to_owned());
                }
                self.assignments(inner);
            }
            Block::Nonlinear {
                unknowns,
                inner,
                residuals,
                ..
            } => {
                let names = self.joined(unknowns);
                self.note(format!("solve by Newton's method for {names}"));
                self.assignments(inner);
                for &residual in residuals {
                    self.equation(Tree::Number(0.0), residual);
                }
            }
        }
    }
}

pub(crate) fn write(entries: &[ListEntry], format: Format, name: Naming<'_>) -> String {
    match format {
        Format::Text => write_text(entries, name),
        Format::Latex => write_latex(entries, name),
        Format::Json => write_json(entries, name),
    }
}

fn write_text(entries: &[ListEntry], name: Naming<'_>) -> String {
    let mut out = String::new();
    for entry in entries {
        let _ = match entry {
            ListEntry::Note(words) => writeln!(out, "{words}"),
            ListEntry::Equation { left, right } => {
                writeln!(out, "{} = {}", to_text(left, name), to_text(right, name))
            }
            ListEntry::Named { left, right } => writeln!(out, "{left} = {}", to_text(right, name)),
        };
    }
    out
}

fn write_latex(entries: &[ListEntry], name: Naming<'_>) -> String {
    let mut out = String::new();
    let mut lines: Vec<String> = Vec::new();
    let close = |lines: &mut Vec<String>, out: &mut String| {
        if !lines.is_empty() {
            let _ = writeln!(
                out,
                "\\begin{{align*}}\n{}\n\\end{{align*}}",
                lines.join(" \\\\\n")
            );
            lines.clear();
        }
    };

    for entry in entries {
        match entry {
            ListEntry::Note(words) => {
                close(&mut lines, &mut out);
                let _ = writeln!(out, "{}", latex_text(words));
            }
            ListEntry::Equation { left, right } => lines.push(format!(
                "{} &= {}",
                to_latex(left, name),
                to_latex(right, name)
            )),
            ListEntry::Named { left, right } => {
                lines.push(format!("{} &= {}", latex_name(left), to_latex(right, name)));
            }
        }
    }

    close(&mut lines, &mut out);
    out
}

fn write_json(entries: &[ListEntry], name: Naming<'_>) -> String {
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| match entry {
            ListEntry::Note(words) => format!("{{\"note\":{}}}", json_string(words)),
            ListEntry::Equation { left, right } => format!(
                "{{\"left\":{},\"right\":{},\"text\":{}}}",
                to_json(left, name),
                to_json(right, name),
                json_string(&format!(
                    "{} = {}",
                    to_text(left, name),
                    to_text(right, name)
                ))
            ),
            ListEntry::Named { left, right } => format!(
                "{{\"entry\":{},\"right\":{},\"text\":{}}}",
                json_string(left),
                to_json(right, name),
                json_string(&format!("{left} = {}", to_text(right, name)))
            ),
        })
        .collect();
    format!("[{}]", lines.join(","))
}

/// Writes a linear model as ẋ = A x + B u, y = C x + D u: first in its states, then in common variables,
/// efforts and flows, with the transformation between them.
///
/// # Errors
///
/// Why there is no matrix form, in a sentence.
pub fn matrices(design: &Design, readable: &Readable, format: Format) -> Result<String, String> {
    let name = |s: SymbolId| readable.name(s);
    let mut plain = state_space(&readable.reduced, readable.inputs(), readable.outputs())
        .map_err(|e| not_linear(&e, &name))?;
    let common = common_variables(design, readable);
    let common_name = |s: SymbolId| common.get(&s).map_or_else(|| name(s), |c| c.1.clone());
    let scaled = in_common_variables(&mut plain, &common, &name);

    Ok(match format {
        Format::Text => {
            let mut out = text_of(&mut plain, "x", &name);
            if let Some((mut model, diagonal)) = scaled {
                let entries: Vec<String> = diagonal.iter().map(|t| to_text(t, &name)).collect();
                let _ = write!(
                    out,
                    "\nin efforts and flows, z = T x with T = diag({})\n{}",
                    entries.join(", "),
                    text_of(&mut model, "z", &common_name)
                );
            }
            out
        }
        Format::Latex => {
            let mut out = plain.to_latex(&name);
            if let Some((mut model, diagonal)) = scaled {
                let entries: Vec<String> = diagonal.iter().map(|t| to_latex(t, &name)).collect();
                let _ = write!(
                    out,
                    "in efforts and flows, \\(z = T x\\) with \\(T = \\operatorname{{diag}}\\left({}\\right)\\)\n{}",
                    entries.join(", "),
                    model.to_latex(&common_name)
                );
            }
            out
        }
        Format::Json => {
            let own = plain.to_json(&name);
            match scaled {
                Some((mut model, diagonal)) => {
                    let entries: Vec<String> = diagonal
                        .iter()
                        .map(|t| json_string(&to_text(t, &name)))
                        .collect();
                    format!(
                        "{{\"states\":{own},\"T\":[{}],\"common\":{}}}",
                        entries.join(","),
                        model.to_json(&common_name)
                    )
                }
                None => format!("{{\"states\":{own}}}"),
            }
        }
    })
}

/// The effort or flow that each state of a linear storage stands for: the gain (q = C e, p = I f) and its name.
type CommonVariables = FxHashMap<SymbolId, (ExprId, String)>;

fn common_variables(design: &Design, readable: &Readable) -> CommonVariables {
    let mut found = CommonVariables::default();
    for element in readable.elements() {
        if let (Law::Gain(gain), [state], Some(path)) =
            (&element.law, &element.states[..], element.name)
        {
            let letter = if element.kind == ElementKind::C {
                "e"
            } else {
                "f"
            };
            let path = design.graph.signals.names.display(path);
            found.insert(*state, (*gain, format!("{path}.{letter}")));
        }
    }
    found
}

/// The model in efforts and flows, with the diagonal of the transformation there; none if a state has no such variable.
fn in_common_variables(
    plain: &mut StateSpace,
    common: &CommonVariables,
    name: Naming<'_>,
) -> Option<(StateSpace, Vec<Tree>)> {
    let mut scale: Vec<ExprId> = Vec::new();
    for state in &plain.states {
        // The common variable is 1/C or 1/I of the state.
        let (gain, _) = common.get(state)?;
        let one = plain.pool.number(1.0);
        scale.push(plain.pool.div(one, *gain));
    }
    if scale.is_empty() {
        return None;
    }

    let diagonal = scale.iter().map(|&e| tree(&plain.pool, e, name)).collect();
    Some((plain.in_variables(&scale), diagonal))
}

/// The model with the letter x for its states, and what the matrices stand for.
fn text_of(model: &mut StateSpace, x: &str, name: Naming<'_>) -> String {
    let list = |symbols: &[SymbolId]| {
        let names: Vec<String> = symbols.iter().map(|&s| name(s)).collect();
        names.join(", ")
    };
    let mut out = String::new();
    for (letter, symbols) in [
        (x, &model.states),
        ("u", &model.inputs),
        ("y", &model.outputs),
    ] {
        if !symbols.is_empty() {
            let _ = writeln!(out, "{letter} = ({})", list(symbols));
        }
    }

    let by_inputs = |letter: &str| {
        if model.inputs.is_empty() {
            String::new()
        } else {
            format!(" + {letter} u")
        }
    };

    let (has_f, has_g) = model.has_offsets();
    let offset = |has: bool, letter: &str| {
        if has {
            format!(" + {letter}")
        } else {
            String::new()
        }
    };

    let _ = write!(out, "{x}' = A {x}{}{}", by_inputs("B"), offset(has_f, "f"));
    if !model.outputs.is_empty() {
        let _ = write!(out, ", y = C {x}{}{}", by_inputs("D"), offset(has_g, "g"));
    }

    out.push('\n');
    out.push_str(&model.to_text(name));
    out
}

fn not_linear(why: &NotLinear, name: Naming<'_>) -> String {
    match why {
        NotLinear::Curved { symbol } => {
            format!(
                "the model is not linear: `{}` is not a sum of states and inputs",
                name(*symbol)
            )
        }
        NotLinear::Group { unknowns } => {
            let names: Vec<String> = unknowns.iter().map(|&s| format!("`{}`", name(s))).collect();
            format!(
                "{} are solved together and have no short formula",
                names.join(", ")
            )
        }
    }
}
