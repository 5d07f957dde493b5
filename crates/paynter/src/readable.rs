//! State equations as a person would write them.
//!
//! In:  a design.
//! Out: equations in the user's own names: inputs by name, numbers of the text as they were
//!      typed, integrals under the name of the signal they are.
//!
//! **Invariant:** the equations are those that are solved; only names and the grouping of
//! numbers differ.

use paynter_design::compile::{Settings, compile};
use paynter_design::design::Design;
use paynter_design::names::{name_with, nicer_names};
use paynter_model::graph::Element;
use paynter_model::{BondGraph, Law};
use paynter_symbolic::present::{Options, Presentation, present};
use paynter_symbolic::print::text::number;
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::{ExprId, Names, Role, Symbol, SymbolId};
use paynter_syntax::Diagnostic;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Equations with names for reading.
pub struct Readable {
    /// The equations.
    pub reduced: Reduced,
    /// Nicer names, where there are any.
    names: FxHashMap<SymbolId, String>,
    outputs: Vec<SymbolId>,
    inputs: Vec<SymbolId>,
    elements: Vec<Element>,
}

/// Reduces the equations of a design for reading.
///
/// # Errors
///
/// Why the equations have no unique solution, in the model's names.
pub fn readable(design: &Design) -> Result<Readable, Vec<Diagnostic>> {
    let mut graph = BondGraph::clone(&design.graph);
    keep_literals(&mut graph);
    let compiled = compile(Arc::new(graph), Settings::of(&design.plan))?;
    let (graph, reduced) = (compiled.graph, compiled.reduced);
    let outputs = graph
        .outputs
        .iter()
        .filter_map(|o| reduced.dae.pool.as_symbol(o.value))
        .collect();
    let names = nicer_names(&graph, &reduced);
    Ok(Readable {
        names,
        outputs,
        inputs: graph.inputs.clone(),
        elements: graph.elements.clone(),
        reduced,
    })
}

impl Readable {
    /// The name of a symbol: `x'` for derivatives.
    pub fn name(&self, s: SymbolId) -> String {
        name_with(&self.reduced, &self.names, s)
    }

    /// Inputs of the model.
    pub fn inputs(&self) -> &[SymbolId] {
        &self.inputs
    }

    /// Outputs of the model.
    pub fn outputs(&self) -> &[SymbolId] {
        &self.outputs
    }

    /// The elements; their laws are in the expressions of these equations.
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// The equations, with the outputs of the model.
    pub fn present(&self) -> Presentation {
        self.present_with(&self.outputs)
    }

    /// The equations of the states alone.
    pub fn present_states(&self) -> Presentation {
        self.present_with(&[])
    }

    fn present_with(&self, outputs: &[SymbolId]) -> Presentation {
        let name = |s: SymbolId| self.name(s);
        let options = Options {
            name: Some(&name),
            outputs,
            named: &self.inputs,
        };
        present(&self.reduced, &options)
    }
}

/// Makes values of R, C and I that were typed as numbers symbols named by the number, so that
/// they are not multiplied together: `p/4.5e-7` and not `2222222.2 p`.
fn keep_literals(graph: &mut BondGraph) {
    let mut symbols: FxHashMap<u64, ExprId> = FxHashMap::default();
    for i in 0..graph.elements.len() {
        let element = &graph.elements[i];
        if !element.kind.is_resistor() && !element.kind.is_storage() {
            continue;
        }
        let (Law::Gain(value) | Law::InverseGain(value)) = element.law else {
            continue;
        };
        let dae = &mut graph.signals;
        let Some(x) = dae.pool.as_number(value) else {
            continue;
        };
        // Nothing is gained by keeping 1 x, and what is not there stays not there.
        if !x.is_finite() || x.abs() == 1.0 || x == 0.0 {
            continue;
        }
        let origin = element.origin;
        let size = *symbols.entry(x.abs().to_bits()).or_insert_with(|| {
            let name = dae.names.child(Names::ROOT, &number(x.abs()), None);
            let role = Role::Parameter {
                value: x.abs(),
                binding: None,
            };
            let symbol = dae.add_symbol(Symbol {
                name,
                role,
                nominal: 0.0,
                origin,
            });
            dae.pool.symbol(symbol)
        });
        let new = if x < 0.0 { dae.pool.neg(size) } else { size };
        let law = &mut graph.elements[i].law;
        *law = match law {
            Law::InverseGain(_) => Law::InverseGain(new),
            _ => Law::Gain(new),
        };
    }
}
