//! Linear models in matrix form: ẋ = A x + B u + f, y = C x + D u + g.
//!
//! In:  a [`Reduced`], which symbols are inputs, which are outputs.
//! Out: the entries as expressions of parameters; also in other variables (thesis 3.8, 3.11).
//!
//! **Invariant:** entries read no state and no input. A model that is not affine in states
//! and inputs together gives an error that names the quantity that is not.

use crate::eliminate::{Elimination, Keep, eliminate};
use crate::expr::{ExprId, Pool, SymbolId};
use crate::linear::linear_in;
use crate::normal::normal_form;
use crate::print::json::json_string;
use crate::print::{Style, Tree, to_latex, to_text};
use crate::reduced::Reduced;
use crate::walk::symbols_of;
use rustc_hash::{FxHashMap, FxHashSet};

/// Larger groups would be solved by formulas with hundreds of terms.
const SOLVE_UP_TO: usize = 4;

/// A matrix by its entries that are not zero: (row, column, value).
pub type Entries = Vec<(u32, u32, ExprId)>;

/// ẋ = A x + B u + f, y = C x + D u + g.
#[derive(Clone, Debug)]
pub struct StateSpace {
    /// Holds the entries.
    pub pool: Pool,
    /// x
    pub states: Vec<SymbolId>,
    /// u
    pub inputs: Vec<SymbolId>,
    /// y
    pub outputs: Vec<SymbolId>,
    /// A
    pub a: Entries,
    /// B
    pub b: Entries,
    /// C
    pub c: Entries,
    /// D
    pub d: Entries,
    /// f
    pub state_offsets: Vec<ExprId>,
    /// g
    pub output_offsets: Vec<ExprId>,
}

/// Why there is no matrix form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotLinear {
    /// This quantity is not affine in states and inputs.
    Curved {
        /// Which.
        symbol: SymbolId,
    },
    /// These are solved together and have no short formula.
    Group {
        /// Which.
        unknowns: Vec<SymbolId>,
    },
}

/// Writes a linear model in matrix form.
///
/// `inputs` may be any symbols but states; one that is computed from time keeps its name.
///
/// # Errors
///
/// The first quantity that is not affine, or a group of equations without a formula.
pub fn state_space(
    reduced: &Reduced,
    inputs: &[SymbolId],
    outputs: &[SymbolId],
) -> Result<StateSpace, NotLinear> {
    let rates: Vec<SymbolId> = reduced.states.iter().map(|s| s.derivative).collect();
    let states: Vec<SymbolId> = reduced.states.iter().map(|s| s.symbol).collect();
    let mut roots = rates.clone();
    roots.extend(outputs);
    let none = FxHashSet::default();
    let keep = Keep::Only(inputs);
    let mut elimination = eliminate(reduced, &roots, SOLVE_UP_TO, &none, keep);
    if let Some((_, system)) = elimination.systems.first() {
        return Err(NotLinear::Group {
            unknowns: system.unknowns.clone(),
        });
    }

    let mut variables = states.clone();
    variables.extend(inputs.iter().map(|&u| elimination.original(u)));
    let dynamics = rows(&mut elimination, &rates, &variables, states.len())?;
    let readout = rows(&mut elimination, outputs, &variables, states.len())?;
    Ok(StateSpace {
        pool: elimination.pool,
        states,
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        a: dynamics.by_states,
        b: dynamics.by_inputs,
        c: readout.by_states,
        d: readout.by_inputs,
        state_offsets: dynamics.offsets,
        output_offsets: readout.offsets,
    })
}

struct Rows {
    by_states: Entries,
    by_inputs: Entries,
    offsets: Vec<ExprId>,
}

fn rows(
    elimination: &mut Elimination,
    symbols: &[SymbolId],
    variables: &[SymbolId],
    n_states: usize,
) -> Result<Rows, NotLinear> {
    let places: FxHashMap<SymbolId, usize> =
        variables.iter().enumerate().map(|(i, &s)| (s, i)).collect();
    let mut rows = Rows {
        by_states: Vec::new(),
        by_inputs: Vec::new(),
        offsets: Vec::new(),
    };

    for (row, &symbol) in symbols.iter().enumerate() {
        let value = elimination.full_of_symbol(symbol);
        let pool = &mut elimination.pool;
        // Only what is read: a row of a long ladder has three entries, not 10⁵.
        let read: Vec<SymbolId> = symbols_of(pool, value)
            .into_iter()
            .filter(|s| places.contains_key(s))
            .collect();
        let Some((coefficients, rest)) = linear_in(pool, value, &read) else {
            return Err(NotLinear::Curved { symbol });
        };
        let mut entries: Vec<(usize, ExprId)> =
            read.iter().map(|s| places[s]).zip(coefficients).collect();
        entries.sort_unstable();
        for (place, value) in entries {
            if pool.as_number(value) == Some(0.0) {
                continue;
            }
            if place < n_states {
                rows.by_states.push((row as u32, place as u32, value));
            } else {
                rows.by_inputs
                    .push((row as u32, (place - n_states) as u32, value));
            }
        }
        rows.offsets.push(rest);
    }
    Ok(rows)
}

impl StateSpace {
    /// Writes the model in the variables zᵢ = scaleᵢ · xᵢ: the diagonal transformation that
    /// turns bond graph variables into common ones (p/I is a flow, q/C an effort).
    ///
    /// `scale` are expressions of [`StateSpace::pool`] that are never zero, one for each state.
    pub fn in_variables(&self, scale: &[ExprId]) -> StateSpace {
        let mut new = self.clone();
        let pool = &mut new.pool;
        for (row, column, value) in &mut new.a {
            let product = pool.mul(scale[*row as usize], *value);
            *value = pool.div(product, scale[*column as usize]);
        }
        for (row, _, value) in &mut new.b {
            *value = pool.mul(scale[*row as usize], *value);
        }
        for (_, column, value) in &mut new.c {
            *value = pool.div(*value, scale[*column as usize]);
        }
        for (row, value) in new.state_offsets.iter_mut().enumerate() {
            *value = pool.mul(scale[row], *value);
        }
        new
    }

    /// Writes A, B, C, D, and f and g if they are not zero, row by row as text.
    pub fn to_text(&mut self, name: &dyn Fn(SymbolId) -> String) -> String {
        let mut out = String::new();
        for (letter, table) in self.tables(name) {
            let cells: Vec<Vec<String>> = table
                .iter()
                .map(|row| row.iter().map(|tree| to_text(tree, name)).collect())
                .collect();
            let n_columns = cells.first().map_or(0, Vec::len);
            let widths: Vec<usize> = (0..n_columns)
                .map(|k| {
                    cells
                        .iter()
                        .map(|row| row[k].chars().count())
                        .max()
                        .unwrap_or(0)
                })
                .collect();
            for (i, row) in cells.iter().enumerate() {
                let padded: Vec<String> = row
                    .iter()
                    .zip(&widths)
                    .map(|(cell, &w)| format!("{cell:<w$}"))
                    .collect();
                let start = if i == 0 {
                    format!("{letter} = [")
                } else {
                    "     ".to_owned()
                };
                let end = if i + 1 == cells.len() { "]" } else { "" };
                out.push_str(&format!("{start}{}", padded.join("  ")));
                out.truncate(out.trim_end().len());
                out.push_str(end);
                out.push('\n');
            }
        }
        out
    }

    /// Writes A, B, C, D, and f and g if they are not zero, as LaTeX matrices.
    pub fn to_latex(&mut self, name: &dyn Fn(SymbolId) -> String) -> String {
        let mut lines = Vec::new();
        for (letter, table) in self.tables(name) {
            let rows: Vec<String> = table
                .iter()
                .map(|row| {
                    let cells: Vec<String> = row.iter().map(|tree| to_latex(tree, name)).collect();
                    cells.join(" & ")
                })
                .collect();
            let rows = rows.join(" \\\\ ");
            lines.push(format!(
                "{letter} &= \\begin{{bmatrix}} {rows} \\end{{bmatrix}}"
            ));
        }
        format!(
            "\\begin{{align*}}\n{}\n\\end{{align*}}\n",
            lines.join(" \\\\\n")
        )
    }

    /// Writes one JSON object: rows of texts by the letter of the matrix.
    pub fn to_json(&mut self, name: &dyn Fn(SymbolId) -> String) -> String {
        let names = |symbols: &[SymbolId]| {
            let names: Vec<String> = symbols.iter().map(|&s| json_string(&name(s))).collect();
            format!("[{}]", names.join(","))
        };
        let mut fields = vec![
            format!("\"x\":{}", names(&self.states)),
            format!("\"u\":{}", names(&self.inputs)),
            format!("\"y\":{}", names(&self.outputs)),
        ];
        for (letter, table) in self.tables(name) {
            let rows: Vec<String> = table
                .iter()
                .map(|row| {
                    let cells: Vec<String> = row
                        .iter()
                        .map(|tree| json_string(&to_text(tree, name)))
                        .collect();
                    format!("[{}]", cells.join(","))
                })
                .collect();
            fields.push(format!("\"{letter}\":[{}]", rows.join(",")));
        }
        format!("{{{}}}", fields.join(","))
    }

    /// Tells whether something constant is added to the rates, and to the outputs.
    pub fn has_offsets(&self) -> (bool, bool) {
        let is_there = |list: &[ExprId]| list.iter().any(|&e| self.pool.as_number(e) != Some(0.0));
        (
            is_there(&self.state_offsets),
            is_there(&self.output_offsets),
        )
    }

    /// The matrices that are not empty, dense and rearranged for reading.
    fn tables(&mut self, name: &dyn Fn(SymbolId) -> String) -> Vec<(char, Vec<Vec<Tree>>)> {
        let (n, m, k) = (self.states.len(), self.inputs.len(), self.outputs.len());
        let pool = &mut self.pool;
        let style = Style {
            name,
            is_state: &|_| false,
        };

        let shapes = [
            ('A', &self.a, n, n),
            ('B', &self.b, n, m),
            ('C', &self.c, k, n),
            ('D', &self.d, k, m),
        ];

        let mut tables = Vec::new();
        for (letter, entries, n_rows, n_columns) in shapes {
            if n_rows == 0 || n_columns == 0 {
                continue;
            }
            let mut table = vec![vec![Tree::Number(0.0); n_columns]; n_rows];
            for &(row, column, value) in entries {
                table[row as usize][column as usize] =
                    normal_form(pool, value, &style).for_reading(name);
            }
            tables.push((letter, table));
        }

        for (letter, offsets) in [('f', &self.state_offsets), ('g', &self.output_offsets)] {
            let column: Vec<Vec<Tree>> = offsets
                .iter()
                .map(|&e| vec![normal_form(pool, e, &style).for_reading(name)])
                .collect();
            if column.iter().any(|row| row[0] != Tree::Number(0.0)) {
                tables.push((letter, column));
            }
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present::plain_name;
    use crate::reduce::reduce;
    use crate::testing::dae;
    use insta::assert_snapshot;

    const CIRCUIT: &str = "
        param Vs R1 C1 R2 L1
        prefer q p
        der(q) = (Vs - e4)/R1 - f5
        e4 = q/C1
        f5 = p/L1
        der(p) = e4 - R2*f5
    ";

    fn symbol(reduced: &Reduced, name: &str) -> SymbolId {
        let ids = (0..reduced.dae.symbols.len() as u32).map(SymbolId);
        ids.into_iter()
            .find(|&s| plain_name(reduced, s) == name)
            .expect("a name of the model")
    }

    #[test]
    fn the_circuit_of_the_thesis_has_the_matrices_3_8() {
        let reduced = reduce(dae(CIRCUIT)).expect("a regular system");
        let name = |s: SymbolId| plain_name(&reduced, s);
        let (input, output) = (symbol(&reduced, "Vs"), symbol(&reduced, "f5"));
        let mut model = state_space(&reduced, &[input], &[output]).expect("a linear model");
        assert_snapshot!(model.to_text(&name), @r"
    A = [-1/(C1*R1)  -1/L1
         1/C1        -R2/L1]
    B = [1/R1
         0]
    C = [0  1/L1]
    D = [0]
    ");
        assert!(
            model
                .state_offsets
                .iter()
                .all(|&e| model.pool.as_number(e) == Some(0.0))
        );
    }

    #[test]
    fn the_circuit_in_common_variables_has_the_matrices_3_11() {
        let reduced = reduce(dae(CIRCUIT)).expect("a regular system");
        let name = |s: SymbolId| plain_name(&reduced, s);
        let input = symbol(&reduced, "Vs");
        let mut model = state_space(&reduced, &[input], &[]).expect("a linear model");
        let one = model.pool.number(1.0);
        let scale: Vec<ExprId> = ["C1", "L1"]
            .into_iter()
            .map(|p| {
                let p = model.pool.symbol(symbol(&reduced, p));
                model.pool.div(one, p)
            })
            .collect();
        assert_snapshot!(model.in_variables(&scale).to_text(&name), @r"
    A = [-1/(C1*R1)  -1/C1
         1/L1        -R2/L1]
    B = [1/(C1*R1)
         0]
    ");
        assert_snapshot!(model.to_latex(&name), @r"
    \begin{align*}
    A &= \begin{bmatrix} -\frac{1}{C_{1} R_{1}} & -\frac{1}{L_{1}} \\ \frac{1}{C_{1}} & -\frac{R_{2}}{L_{1}} \end{bmatrix} \\
    B &= \begin{bmatrix} \frac{1}{R_{1}} \\ 0 \end{bmatrix}
    \end{align*}
    ");
    }

    #[test]
    fn a_curved_law_is_named() {
        let reduced = reduce(dae("param k\nprefer x\nder(x) = -k*x*x")).expect("regular");
        let rate = reduced.states[0].derivative;
        assert_eq!(
            state_space(&reduced, &[], &[]).err(),
            Some(NotLinear::Curved { symbol: rate })
        );
    }
}
