//! Prints equations as they stand before and after reduction.
//!
//! In:  a design, or its reduced equations.
//! Out: text, one equation a line, in the model's own names.

use crate::design::Design;
use paynter_model::causality::Causality;
use paynter_model::equations::build_equations;
use paynter_symbolic::print::latex::latex_name;
use paynter_symbolic::print::{Style, to_latex, to_text, tree_of};
use paynter_symbolic::reduced::{Block, Reduced};
use paynter_symbolic::{Dae, ExprId, SymbolId};
use std::fmt::Write as _;

fn expression(dae: &Dae, e: ExprId, is_latex: bool) -> String {
    let name = |s: SymbolId| dae.name_of(s);
    let is_state = |_: SymbolId| true;
    let style = Style {
        name: &name,
        is_state: &is_state,
    };
    let tree = tree_of(&dae.pool, e, &style);
    if is_latex {
        to_latex(&tree, &name)
    } else {
        to_text(&tree, &name)
    }
}

/// Lists every equation as the elements and signals give it.
pub fn dae(design: &Design, causality: &Causality, is_latex: bool) -> String {
    let dae = build_equations(&design.graph, causality);
    let mut out = String::new();
    if is_latex {
        out.push_str("\\begin{align*}\n");
    }
    for equation in &dae.equations {
        let left = expression(&dae, equation.left, is_latex);
        let right = expression(&dae, equation.right, is_latex);
        let _ = if is_latex {
            writeln!(out, "{left} &= {right} \\\\")
        } else {
            writeln!(out, "{left} = {right}")
        };
    }
    if is_latex {
        out.push_str("\\end{align*}\n");
    }
    for mode in &dae.modes {
        let name = dae.name_of(mode.symbol);
        let name = if is_latex { latex_name(&name) } else { name };
        let _ = writeln!(
            out,
            "{name} is frozen between events: {:?}",
            kind(mode.switch)
        );
    }
    out
}

fn kind(switch: paynter_symbolic::dae::Switch) -> &'static str {
    match switch {
        paynter_symbolic::dae::Switch::Relation { .. } => "a comparison",
        paynter_symbolic::dae::Switch::Floor { .. } => "a whole number",
        paynter_symbolic::dae::Switch::Sign { .. } => "a sign",
    }
}

/// Lists the blocks in the order in which they are solved.
pub fn blocks(reduced: &Reduced) -> String {
    let dae = &reduced.dae;
    let mut out = String::new();
    let states: Vec<String> = reduced
        .states
        .iter()
        .map(|s| dae.name_of(s.symbol))
        .collect();
    let _ = writeln!(out, "states: {}", states.join(", "));
    for block in &reduced.blocks {
        match block {
            Block::Assign { symbol, value } => {
                let _ = writeln!(
                    out,
                    "{} = {}",
                    dae.name_of(*symbol),
                    expression(dae, *value, false)
                );
            }
            Block::Linear {
                unknowns,
                matrix,
                right,
                positive_definite,
                inner,
                ..
            } => {
                let names: Vec<String> = unknowns.iter().map(|&s| dae.name_of(s)).collect();
                let kind = if *positive_definite {
                    "symmetric positive definite "
                } else {
                    ""
                };
                let _ = writeln!(
                    out,
                    "solve the {kind}linear equations A z = b for z = {}",
                    names.join(", ")
                );
                for &(row, column, value) in matrix {
                    let _ = writeln!(
                        out,
                        "    A[{},{}] = {}",
                        row + 1,
                        column + 1,
                        expression(dae, value, false)
                    );
                }
                for (row, &value) in right.iter().enumerate() {
                    let _ = writeln!(
                        out,
                        "    b[{}] = {}",
                        row + 1,
                        expression(dae, value, false)
                    );
                }
                write_inner(&mut out, dae, inner);
            }
            Block::Nonlinear {
                unknowns,
                inner,
                residuals,
                ..
            } => {
                let names: Vec<String> = unknowns.iter().map(|&s| dae.name_of(s)).collect();
                let _ = writeln!(out, "solve by Newton's method for {}", names.join(", "));
                write_inner(&mut out, dae, inner);
                for &residual in residuals {
                    let _ = writeln!(out, "    0 = {}", expression(dae, residual, false));
                }
            }
        }
    }
    out
}

fn write_inner(out: &mut String, dae: &Dae, inner: &[(SymbolId, ExprId)]) {
    for &(symbol, value) in inner {
        let _ = writeln!(
            out,
            "    {} = {}",
            dae.name_of(symbol),
            expression(dae, value, false)
        );
    }
}
