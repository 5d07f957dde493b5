//! What a structural question is about: a model, its inputs and its outputs.
//!
//! In:  a design and an [`LinearRequest`].
//! Out: a [`Subject`] with causal graph, generic model, and the linear model where it has one.
//!
//! **Invariant:** inputs and outputs are not empty where a question needs them; see [`Subject::needs_input`].

use crate::code;
use crate::findings::{Sensors, Side};
use crate::generic::{GenericModel, Unassembled, Unsolved, assemble, loosen, solve};
use crate::reach::{Way, held_from, reach, read_by, set_by};
use paynter::linear::{LinearError, LinearRequest, Linearization, Sampled, linearize};
use paynter::model::causality::{Causality, LinkKind, Links, assign_causality, draw_links};
use paynter::model::experiment::{Column, Quantity};
use paynter::model::graph::{BondGraph, ElementId, ElementKind, Law};
use paynter::symbolic::walk::symbols_of;
use paynter::symbolic::{ExprId, Role, SymbolId};
use paynter::syntax::Diagnostic;
use paynter::{Compiled, Design};
use rustc_hash::FxHashSet;

/// A model with what is asked of it.
pub struct Subject<'a> {
    /// The design.
    pub design: &'a Design,
    /// Inputs and outputs.
    pub ask: LinearRequest,
    /// Strokes in integral form.
    pub causality: Causality,
    /// The causal graph.
    pub links: Links,
    /// The symbols of the inputs.
    pub inputs: Vec<SymbolId>,
    /// The values of the outputs.
    pub outputs: Vec<ExprId>,
}

/// Why there is no generic model, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoGeneric(pub String);

/// Inputs and outputs where the call leaves them open: `linearize` of the experiment, else what [`paynter::linear::linear_request`]
/// gives, with the outputs of the model before what is recorded.
pub fn ask(design: &Design, at: Option<f64>) -> LinearRequest {
    let mut ask = paynter::linear::linear_request(design, at, false);
    // Structure is asked of the continuous plant.
    ask.sampled = Sampled::Refused;
    let is_open = design.linear.to.is_empty() && design.plan.linearize.is_empty();
    let graph = &design.graph;
    let varies = |e: ExprId| varies(graph, e);
    ask.to.retain(|q| varies(q.column.value));
    if is_open && graph.outputs.iter().any(|o| varies(o.value)) {
        let place = design.plan.places.whole.unwrap_or_default();
        let outputs = graph.outputs.iter().filter(|o| varies(o.value));
        ask.to = outputs
            .map(|output| Quantity {
                column: Column {
                    name: graph.signals.names.display(output.name),
                    value: output.value,
                    unit: output.unit.clone(),
                },
                span: place,
            })
            .collect();
    }
    ask
}

impl Subject<'_> {
    /// Tells what stands for outputs where none are named and the model has none.
    pub(crate) fn sensors(&self) -> Sensors {
        let design = self.design;
        let is_open = design.linear.to.is_empty() && design.plan.linearize.is_empty();
        let mut outputs = design.graph.outputs.iter();
        let mut words = design.plan.places.words.iter();
        match is_open && !outputs.any(|o| varies(&design.graph, o.value)) {
            false => Sensors::Named,
            true if words.any(|(word, _)| word.starts_with("record ")) => Sensors::Recorded,
            true => Sensors::AllStates,
        }
    }
}

impl<'a> Subject<'a> {
    /// Draws the causal graph of a design.
    ///
    /// # Errors
    ///
    /// An input that is no single quantity.
    pub fn new(design: &'a Design, ask: LinearRequest) -> Result<Self, Vec<Diagnostic>> {
        let ask = LinearRequest {
            keeps_storages: true,
            ..ask
        };
        let graph = &design.graph;
        let mut inputs = Vec::new();
        let mut refused = Vec::new();
        for quantity in &ask.from {
            match graph.signals.pool.as_symbol(quantity.column.value) {
                Some(symbol) if can_be_input(graph, symbol) => inputs.push(symbol),
                found => {
                    let why = match found {
                        Some(_) => {
                            "this is computed from the states and laws of the model, or stays as it is"
                        }
                        None => "this is not a single quantity",
                    };
                    let message = format!("`{}` cannot be an input", quantity.column.name);
                    let message = Diagnostic::error(paynter::code::NOT_AN_INPUT, message);
                    refused.push(message.primary(quantity.span, why).help(
                        "name an `input` of the model, a signal, or what a source sets, such as `supply.e`",
                    ));
                }
            }
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        let causality = assign_causality(graph);
        Ok(Subject {
            design,
            links: draw_links(graph, &causality),
            causality,
            inputs,
            outputs: ask.to.iter().map(|q| q.column.value).collect(),
            ask,
        })
    }

    /// The graph.
    pub fn graph(&self) -> &BondGraph {
        &self.design.graph
    }

    /// Refuses a question about inputs where there are none.
    ///
    /// # Errors
    ///
    /// E0850.
    pub fn needs_input(&self) -> Result<(), Vec<Diagnostic>> {
        if !self.inputs.is_empty() {
            return Ok(());
        }
        let message = Diagnostic::error(
            code::NO_INPUT,
            "nothing acts on this model: it has no input and no source",
        );
        Err(vec![
            self.placed(message)
                .help("name an input with `--from`, or add a source"),
        ])
    }

    /// Refuses a question about outputs where there are none.
    ///
    /// # Errors
    ///
    /// E0851.
    pub fn needs_output(&self) -> Result<(), Vec<Diagnostic>> {
        if !self.outputs.is_empty() {
            return Ok(());
        }
        let message = Diagnostic::error(code::NO_OUTPUT, "nothing of this model is measured");
        Err(vec![self.placed(message).help(
            "name an output with `--to`, such as `--to spring.q`",
        )])
    }

    /// A value that a sampled block holds, through which an input acts on the model, or which an output is: the continuous plant, of which
    /// structure is asked, does not pass it on.
    pub fn held(&self, side: Side) -> Option<SymbolId> {
        match side {
            Side::Control => self
                .inputs
                .iter()
                .find_map(|&input| self.acts_through(input)),
            Side::Observe => self.outputs.iter().find_map(|&output| self.is_held(output)),
        }
    }

    /// The held value that acts on the states at once; what defines the inputs themselves does not act any more.
    fn acts_through(&self, input: SymbolId) -> Option<SymbolId> {
        let graph = self.graph();
        let n_symbols = graph.signals.symbols.len();
        let role = |s: SymbolId| &graph.signals.symbol(s).role;
        let is_held =
            |s: SymbolId| matches!(role(s), Role::Discrete { .. }) && !self.inputs.contains(&s);
        let starts = set_by(graph, &self.causality, input);
        let at_once = reach(&self.links, n_symbols, &starts, Way::Forward);
        let ticks = self.links.all().iter();
        let ticks = ticks.filter(|l| l.kind == LinkKind::Sampled);
        let ticks = ticks.filter(|l| at_once.integrations(l.from).is_some());
        let mut open: Vec<SymbolId> = ticks.map(|link| link.to).collect();
        open.extend(held_from(graph, input));
        open.retain(|&s| is_held(s));
        let mut seen: FxHashSet<SymbolId> = open.iter().copied().collect();
        let states = causal_states(self);
        while let Some(symbol) = open.pop() {
            if is_held(symbol) {
                let plant = reach(&self.links, n_symbols, &[symbol], Way::Forward);
                if states.iter().any(|&s| plant.integrations(s).is_some()) {
                    return Some(symbol);
                }
            }
            let next = self.links.out_of(symbol).map(|link| link.to);
            let next = next.filter(|s| !self.inputs.contains(s));
            open.extend(next.filter(|&s| seen.insert(s)).collect::<Vec<_>>());
        }
        None
    }

    fn is_held(&self, output: ExprId) -> Option<SymbolId> {
        let dae = &self.graph().signals;
        let mut read = symbols_of(&dae.pool, output);
        read.retain(|s| matches!(dae.symbol(*s).role, Role::Discrete { .. }));
        let is_all = read_by(self.graph(), output).is_empty();
        read.first().copied().filter(|_| is_all)
    }

    /// Refuses an exact answer about what sampled blocks pass on.
    ///
    /// # Errors
    ///
    /// Through which held value an input acts, or which an output is.
    pub fn refuse_held(&self, side: Side) -> Result<(), NoGeneric> {
        let Some(held) = self.held(side) else {
            return Ok(());
        };
        let (name, option) = (
            self.name(held),
            match side {
                Side::Control => "--from",
                Side::Observe => "--to",
            },
        );
        Err(NoGeneric(match side {
            Side::Control => format!(
                "`{}` acts through `{name}`, which a sampled block holds; `{option} {name}` asks about the continuous part",
                self.names_of(&self.ask.from)
            ),
            Side::Observe => {
                format!("`{name}` is held by a sampled block; name what it reads with `{option}`")
            }
        }))
    }

    fn names_of(&self, list: &[Quantity]) -> String {
        let names: Vec<&str> = list.iter().map(|q| &*q.column.name).collect();
        names.join("`, `")
    }

    /// Points a message at the experiment, where there is one.
    pub fn placed(&self, message: Diagnostic) -> Diagnostic {
        match self.design.plan.places.whole {
            Some(span) => message.primary(span, "in this experiment"),
            None => message,
        }
    }

    /// Says why there is no generic model, where a question needs one.
    pub fn no_generic(&self, why: &NoGeneric) -> Diagnostic {
        let message = format!("the structure has no exact answer here: {}", why.0);
        self.placed(Diagnostic::error(code::NO_EXACT_ANSWER, message))
            .help("`paynter structure` without this option still shows causal paths and strokes")
    }

    /// Makes the generic model.
    ///
    /// # Errors
    ///
    /// Why there is none, in words.
    pub fn generic(&self) -> Result<GenericModel, NoGeneric> {
        self.refuse_held(Side::Control)?;
        self.refuse_held(Side::Observe)?;
        self.generic_part()
    }

    /// Makes the generic model of the continuous part, whatever sampled blocks pass on.
    ///
    /// # Errors
    ///
    /// Why there is none, in words.
    pub fn generic_part(&self) -> Result<GenericModel, NoGeneric> {
        let mut graph = self.graph().clone();
        loosen(&mut graph, &self.inputs);
        self.generic_of(&graph, &self.inputs, &self.outputs)
    }

    /// Makes the generic model of a changed graph.
    ///
    /// # Errors
    ///
    /// Why there is none, in words.
    pub fn generic_of(
        &self,
        graph: &BondGraph,
        inputs: &[SymbolId],
        outputs: &[ExprId],
    ) -> Result<GenericModel, NoGeneric> {
        let equations =
            assemble(graph, inputs, outputs).map_err(|e| NoGeneric(self.unassembled(&e)))?;
        let model = solve(&equations).map_err(|e| NoGeneric(unsolved(e).to_owned()))?;
        let stored: FxHashSet<SymbolId> = storages(graph).collect();
        Ok(model.without_idle(&|s| stored.contains(&s), true))
    }

    fn unassembled(&self, why: &Unassembled) -> String {
        match why {
            Unassembled::Mechanism => {
                "positions that locks hold tie the states by geometry, which has no generic value"
                    .to_owned()
            }
            Unassembled::NotAnInput(k) => {
                format!(
                    "`{}` is computed from the states and laws of the model",
                    self.ask.from[*k].column.name
                )
            }
            Unassembled::TooLarge(n) => format!("{n} unknowns are too many for exact elimination"),
        }
    }

    /// Makes the linear model at the point that is asked for.
    ///
    /// # Errors
    ///
    /// As [`linearize`].
    pub fn linear(&self, compiled: &Compiled) -> Result<Linearization, LinearError> {
        linearize(self.design, compiled, &self.ask)
    }

    /// Leaves out integrals that act on nothing: energies, measures. Inputs do not have to reach them.
    pub fn dynamics(&self, model: GenericModel) -> GenericModel {
        let stored: FxHashSet<SymbolId> = storages(self.graph()).collect();
        model.without_idle(&|s| stored.contains(&s), false)
    }

    /// The same for the linear model at a point.
    pub fn linear_dynamics(&self, mut linear: Linearization) -> Linearization {
        let stored: FxHashSet<String> = storages(self.graph()).map(|s| self.name(s)).collect();
        loop {
            let a = &linear.model.a;
            let n = a.n_rows();
            let is_read = |j: usize| (0..n).any(|i| a[(i, j)] != 0.0);
            let idle = (0..n).find(|&j| !stored.contains(&linear.states[j].name) && !is_read(j));
            let Some(idle) = idle else {
                return linear;
            };
            let kept: Vec<usize> = (0..n).filter(|&k| k != idle).collect();
            let model = &mut linear.model;
            let all = |n: usize| -> Vec<usize> { (0..n).collect() };
            model.a = model.a.part(&kept, &kept);
            model.b = model.b.part(&kept, &all(model.b.n_columns()));
            model.c = model.c.part(&all(model.c.n_rows()), &kept);
            linear.states.remove(idle);
            linear.rates.remove(idle);
        }
    }

    /// Sources that an input is the value of, where it is that of one alone.
    pub fn driven(&self) -> Vec<ElementId> {
        let inputs = self.inputs.iter();
        inputs.filter_map(|&input| self.source_of(input)).collect()
    }

    /// The one source whose value is this input, by name or by its definition.
    pub fn source_of(&self, input: SymbolId) -> Option<ElementId> {
        let one = |found: Vec<ElementId>| match found[..] {
            [source] => Some(source),
            _ => None,
        };
        one(sources_of(self.graph(), &[input])).or_else(|| {
            let is_value = |value: ExprId| resolve(self, value) == Some(input);
            one(self.sources_whose(&is_value))
        })
    }

    /// Sources whose value an input changes at once: its own, or others through a gain or a control law.
    pub fn acting(&self, input: SymbolId) -> Vec<ElementId> {
        if let Some(source) = self.source_of(input) {
            return vec![source];
        }
        let graph = self.graph();
        let starts = set_by(graph, &self.causality, input);
        let n_symbols = graph.signals.symbols.len();
        let found = reach(&self.links, n_symbols, &starts, Way::Forward);
        let is_changed = |symbol: SymbolId| found.integrations(symbol) == Some(0);
        let sources = (0..graph.elements.len() as u32).map(ElementId);
        sources
            .filter(|&id| set_value(graph, id).is_some_and(is_changed))
            .collect()
    }

    fn sources_whose(&self, value_is: &dyn Fn(ExprId) -> bool) -> Vec<ElementId> {
        let elements = self.graph().elements.iter().enumerate();
        let sources = elements.filter(|(_, element)| match (element.kind, &element.law) {
            (ElementKind::Se | ElementKind::Sf, Law::Source { value, .. }) => value_is(*value),
            _ => false,
        });
        sources.map(|(k, _)| ElementId(k as u32)).collect()
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: SymbolId) -> String {
        self.graph().signals.name_of(symbol)
    }
}

/// States of the causal graph: storages in integral form, free junctions, coordinates.
pub fn causal_states(subject: &Subject<'_>) -> Vec<SymbolId> {
    let causality = &subject.causality;
    let stored = causality.independent.iter().filter_map(|end| {
        let element = subject.graph().element(end.element);
        element.states.get(end.port as usize).copied()
    });
    let free = causality.free.iter().map(|f| f.symbol);
    stored
        .chain(free)
        .chain(causality.coordinates.iter().copied())
        .collect()
}

/// Follows definitions `a = b` to the effort or flow behind an output.
pub fn resolve(subject: &Subject<'_>, output: ExprId) -> Option<SymbolId> {
    let dae = &subject.graph().signals;
    let mut symbol = dae.pool.as_symbol(output)?;
    for _ in 0..dae.equations.len() + 1 {
        let definition = dae
            .equations
            .iter()
            .find(|e| dae.pool.as_symbol(e.left) == Some(symbol));
        match definition.map(|e| dae.pool.as_symbol(e.right)) {
            None => return Some(symbol),
            Some(next) => symbol = next?,
        }
    }
    None
}

/// Tells whether a quantity is given from outside: an `input`, a signal with a definition, what a source sets or a sampled block holds.
fn can_be_input(graph: &BondGraph, symbol: SymbolId) -> bool {
    let dae = &graph.signals;
    match dae.symbol(symbol).role {
        Role::Parameter { .. } => graph.inputs.contains(&symbol),
        Role::Discrete { .. } => true,
        Role::Unknown => {
            let mut definitions = dae.equations.iter();
            let is_defined = definitions.any(|e| dae.pool.as_symbol(e.left) == Some(symbol));
            is_defined || !sources_of(graph, &[symbol]).is_empty()
        }
        _ => false,
    }
}

/// Tells whether an expression reads anything but constants.
fn varies(graph: &BondGraph, e: ExprId) -> bool {
    let dae = &graph.signals;
    let is_constant = |s: SymbolId| {
        let definition = dae.equations.iter();
        let mut own = definition.filter(|e| dae.pool.as_symbol(e.left) == Some(s));
        own.any(|e| dae.pool.as_number(e.right).is_some())
    };
    read_by(graph, e).into_iter().any(|s| !is_constant(s))
}

/// States of storages.
pub fn storages(graph: &BondGraph) -> impl Iterator<Item = SymbolId> + '_ {
    graph.elements.iter().flat_map(|e| e.states.iter().copied())
}

/// Sources whose effort or flow is one of these symbols.
pub fn sources_of(graph: &BondGraph, symbols: &[SymbolId]) -> Vec<ElementId> {
    let all = (0..graph.elements.len() as u32).map(ElementId);
    let is_driven = |&id: &ElementId| set_value(graph, id).is_some_and(|s| symbols.contains(&s));
    all.filter(is_driven).collect()
}

/// What a source sets: the effort of an Se, the flow of an Sf.
fn set_value(graph: &BondGraph, id: ElementId) -> Option<SymbolId> {
    let element = graph.element(id);
    let bond = || graph.bond(element.ports[0]);
    match element.kind {
        ElementKind::Se => Some(bond().effort),
        ElementKind::Sf => Some(bond().flow),
        _ => None,
    }
}

fn unsolved(why: Unsolved) -> &'static str {
    match why {
        Unsolved::Singular => "the equations have no unique solution for generic parameters",
        Unsolved::InputsTied => "the inputs are tied to each other",
        Unsolved::TooManyRates => "the model reads rates of inputs of too high an order",
    }
}
