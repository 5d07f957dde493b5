//! Prints equations as they stand before and after reduction.
//!
//! In:  a design, or its reduced equations.
//! Out: text, one equation a line, in the model's own names.

use crate::design::Design;
use paynter_model::causality::Causality;
use paynter_model::equations::build_equations;
use paynter_model::{ElementKind, Law};
use paynter_symbolic::print::latex::latex_name;
use paynter_symbolic::print::{Style, to_latex, to_text, tree_of};
use paynter_symbolic::reduced::{Block, Reduced};
use paynter_symbolic::state_space::{NotLinear, state_space};
use paynter_symbolic::{Dae, ExprId, Pool, Role, SymbolId};
use rustc_hash::FxHashMap;
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

fn in_pool(pool: &Pool, e: ExprId, name: &dyn Fn(SymbolId) -> String) -> String {
    let style = Style {
        name,
        is_state: &|_| true,
    };
    to_text(&tree_of(pool, e, &style), name)
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

/// Writes a linear model as ẋ = A x + B u, y = C x + D u: first in its states, then in common variables,
/// efforts and flows, with the transformation between them.
///
/// # Errors
///
/// Why there is no matrix form, in a sentence.
pub fn matrices(design: &Design, reduced: &Reduced, is_latex: bool) -> Result<String, String> {
    let dae = &reduced.dae;
    let is_constant = |s: &SymbolId| matches!(dae.symbol(*s).role, Role::Parameter { .. });
    let inputs: Vec<SymbolId> = design
        .graph
        .inputs
        .iter()
        .copied()
        .filter(is_constant)
        .collect();
    let outputs: Vec<SymbolId> = design
        .graph
        .outputs
        .iter()
        .filter_map(|o| dae.pool.as_symbol(o.value))
        .collect();
    let mut plain = state_space(reduced, &inputs, &outputs).map_err(|e| match e {
        NotLinear::Curved { symbol } => {
            format!(
                "the model is not linear: `{}` is not a sum of states and inputs",
                dae.name_of(symbol)
            )
        }
        NotLinear::Group { unknowns } => {
            let names: Vec<String> = unknowns
                .iter()
                .map(|&s| format!("`{}`", dae.name_of(s)))
                .collect();
            format!(
                "{} are solved together and have no short formula",
                names.join(", ")
            )
        }
    })?;
    let name = |s: SymbolId| dae.name_of(s);
    let print = |m: &mut paynter_symbolic::state_space::StateSpace,
                 name: &dyn Fn(SymbolId) -> String| {
        if is_latex {
            m.to_latex(name)
        } else {
            m.to_text(name)
        }
    };
    let mut out = String::new();
    for (letter, symbols) in [
        ("x", &plain.states),
        ("u", &plain.inputs),
        ("y", &plain.outputs),
    ] {
        let names: Vec<String> = symbols.iter().map(|&s| dae.name_of(s)).collect();
        let _ = writeln!(out, "{letter} = ({})", names.join(", "));
    }
    out.push_str(&print(&mut plain, &name));
    // q = C e and p = I f: the common variable is 1/C or 1/I of the state.
    let mut common: FxHashMap<SymbolId, (ExprId, String)> = FxHashMap::default();
    for element in &design.graph.elements {
        if let (Law::Gain(gain), [state], Some(path)) =
            (&element.law, &element.states[..], element.name)
        {
            let letter = if element.kind == ElementKind::C {
                "e"
            } else {
                "f"
            };
            common.insert(
                *state,
                (*gain, format!("{}.{letter}", dae.names.display(path))),
            );
        }
    }
    if plain.states.iter().any(|s| !common.contains_key(s)) {
        return Ok(out);
    }
    let one = plain.pool.number(1.0);
    let scale: Vec<ExprId> = plain
        .states
        .clone()
        .iter()
        .map(|s| plain.pool.div(one, common[s].0))
        .collect();
    out.push_str("\nin efforts and flows, z = T x with T = diag(");
    let entries: Vec<String> = scale
        .iter()
        .map(|&e| in_pool(&plain.pool, e, &name))
        .collect();
    let _ = writeln!(out, "{})", entries.join(", "));
    let common_name = |s: SymbolId| {
        common
            .get(&s)
            .map_or_else(|| dae.name_of(s), |(_, name)| name.clone())
    };
    out.push_str(&print(&mut plain.in_variables(&scale), &common_name));
    Ok(out)
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
