//! The compiled model: graph, strokes, reduced equations and redundant locks, made once.
//!
//! In:  a bond graph, when a run starts, and how locks are kept.
//! Out: a [`Compiled`], or why the equations have no unique solution, in the model's names.
//!
//! Everything that runs, draws or analyses a model starts from here. A question that needs other
//! equations (readable literals, bond powers, inputs to linearize by) asks for the compilation of
//! another graph, and never changes the one that is there.
//!
//! **Invariant:** nobody writes into a [`Compiled`] after it was made.

use crate::assembly::{LockError, Locked, reduce_locked};
use crate::delayed;
use crate::failure::explain_structure;
use crate::mobility::Mobility;
use crate::parasitic::{SpringScales, energy_without_springs, with_springs};
use paynter_model::causality::{
    Causality, Solved, assign_causality, causality_diagnostics, conflict_diagnostic,
    denies_a_stroke, needs_an_inverse, turn_like, with_reactions,
};
use paynter_model::delay::{Delayed, delay};
use paynter_model::equations::build_equations;
use paynter_model::experiment::{Constraints, Parasitic, Plan};
use paynter_model::graph::{ElementId, ElementKind, Law};
use paynter_model::{BondGraph, code as model_code, relax};
use paynter_symbolic::reduce::{Enforcement, MANY_LOCKS, Options, reduce, reduce_with};
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::{Dae, ExprId, SymbolId};
use paynter_syntax::Diagnostic;
use std::sync::Arc;

/// A model that is ready to be run, drawn or analysed.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The graph that was compiled.
    pub graph: Arc<BondGraph>,
    /// Its strokes.
    pub causality: Causality,
    /// Its equations, of index 1 at most.
    pub reduced: Reduced,
    /// Reactions of redundant locks, which the equations leave out.
    pub released: Vec<SymbolId>,
    /// What the user should know: redundant locks, dead centres, rings.
    pub warnings: Vec<Diagnostic>,
    /// The count of bodies, joints and freedoms, for a mechanism.
    pub mobility: Option<Mobility>,
    /// The locks of the model, whatever replaces them.
    pub locks: Vec<Lock>,
    /// Sizes of what springs replace, where they do.
    pub springs: Option<SpringScales>,
    /// As asked for.
    pub settings: Settings,
    /// Dependent storages that differentiate with a delay.
    pub delayed: Option<Delayed>,
}

/// What shapes the equations beside the graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// When a run starts, s: locks are put together there.
    pub start: f64,
    /// How locks are kept.
    pub treatment: Treatment,
}

/// How locks are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Treatment {
    /// As fits.
    #[default]
    Automatic,
    /// As few variables are integrated as there are freedoms.
    Minimal,
    /// Storages depend on others.
    Implicit,
    /// Reactions are unknowns.
    Multiplier,
    /// Springs and dampers, which swing within this time, s.
    Parasitic(Parasitic, f64),
    /// Dependent storages with these states (all if none is named) differentiate with a delay of one step, s.
    Delayed(f64, Vec<SymbolId>),
}

impl Treatment {
    /// How the equations keep locks.
    fn enforcement(&self) -> Enforcement {
        match self {
            Treatment::Automatic | Treatment::Parasitic(..) => Enforcement::Automatic,
            Treatment::Implicit | Treatment::Delayed(..) => Enforcement::Implicit,
            Treatment::Minimal | Treatment::Multiplier => Enforcement::Multipliers,
        }
    }
}

/// A lock of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// Its name.
    pub name: String,
    /// What it holds at zero.
    pub position: ExprId,
    /// It holds a rotation.
    pub is_turning: bool,
}

/// Lists the locks of a graph.
pub(crate) fn locks_of(graph: &BondGraph) -> Vec<Lock> {
    let ids = (0..graph.elements.len() as u32).map(ElementId);
    ids.filter_map(|id| {
        let element = graph.element(id);
        Some(Lock {
            name: graph.element_name(id),
            position: relax::position(element)?,
            is_turning: relax::is_turning(graph, element),
        })
    })
    .collect()
}

impl Settings {
    /// Those of an experiment.
    pub fn of(plan: &Plan) -> Self {
        Settings {
            start: plan.start,
            treatment: match plan.constraints {
                Constraints::Auto => Treatment::Automatic,
                // Without a step there is no run: `delayed::refuse` says so.
                Constraints::Delayed => match plan.fixed_step {
                    Some(step) => Treatment::Delayed(step, plan.delayed.clone()),
                    None => Treatment::Automatic,
                },
                Constraints::Minimal => Treatment::Minimal,
                Constraints::Implicit => Treatment::Implicit,
                Constraints::Multiplier => Treatment::Multiplier,
                Constraints::Parasitic(asked) => {
                    Treatment::Parasitic(asked, asked.time_scale(plan.stop - plan.start))
                }
            },
        }
    }
}

/// Assigns causality, writes the equations and reduces them.
///
/// # Errors
///
/// Why the equations have no unique solution. Where causality has found a conflict it explains better
/// than the equations what is wrong.
pub fn compile(graph: Arc<BondGraph>, settings: Settings) -> Result<Compiled, Vec<Diagnostic>> {
    let locks = locks_of(&graph);
    match settings.treatment {
        Treatment::Parasitic(asked, time) if !locks.is_empty() => {
            let springs = with_springs(&graph, settings.start, (asked, time))?;
            let causality = assign_causality(&springs.graph);
            let mut compiled = compile_with(Arc::new(springs.graph), causality, settings)?;
            compiled.reduced.decided_by.extend(springs.decided_by);
            let of_lock = |lock: &Lock| format!("{}.C", lock.name);
            let names: Vec<String> = locks.iter().map(of_lock).collect();
            let scales = SpringScales {
                time: springs.time,
                length: springs.length,
                energy: energy_without_springs(&mut compiled.reduced, &names),
            };
            Ok(Compiled {
                locks,
                mobility: springs.mobility,
                springs: Some(scales),
                ..compiled
            })
        }
        Treatment::Minimal | Treatment::Multiplier if !locks.is_empty() => {
            compile_reactions(&graph, settings)
        }
        Treatment::Automatic if locks.len() > MANY_LOCKS => compile_reactions(&graph, settings),
        _ => {
            let causality = assign_causality(&graph);
            compile_with(graph, causality, settings)
        }
    }
}

/// Compiles a graph whose locks are kept by reactions that are unknowns: strokes are those of sources of effort.
fn compile_reactions(graph: &BondGraph, settings: Settings) -> Result<Compiled, Vec<Diagnostic>> {
    let (free, decided_by) = with_reactions(graph, &[]);
    let causality = assign_causality(&free);
    let mut turned = graph.clone();
    turn_like(&mut turned, &free);
    let mut compiled = compile_with(Arc::new(turned), causality, settings)?;
    compiled.reduced.decided_by.extend(decided_by);
    Ok(compiled)
}

/// Writes the equations of a graph with its strokes and reduces them.
fn compile_with(
    graph: Arc<BondGraph>,
    causality: Causality,
    settings: Settings,
) -> Result<Compiled, Vec<Diagnostic>> {
    let messages = causality_diagnostics(&graph, &causality, &Solved::default());
    refuse_hopeless(&graph, &causality, &messages)?;

    let mut dae = build_equations(&graph, &causality);
    let delayed = match &settings.treatment {
        Treatment::Delayed(step, states) => {
            let found = delay(&mut dae, &graph, &causality, (*step, states));
            Some(found.map_err(|why| vec![delayed::explain(&why, &graph)])?)
        }
        _ => None,
    };
    let reduced = reduce_locked(
        dae,
        &graph,
        settings.start,
        settings.treatment.enforcement(),
    );
    let Locked {
        reduced,
        messages: mut warnings,
        released,
        mobility,
    } = reduced.map_err(|error| explain(error, &graph, &causality, &messages))?;

    warnings.extend(of_code(&messages, model_code::RING_REDUNDANT));
    Ok(Compiled {
        locks: locks_of(&graph),
        graph,
        causality,
        reduced,
        released,
        warnings,
        mobility,
        springs: None,
        settings,
        delayed,
    })
}

/// Refuses what the equations would not complain of, or not in words that help.
fn refuse_hopeless(
    graph: &BondGraph,
    causality: &Causality,
    messages: &[Diagnostic],
) -> Result<(), Vec<Diagnostic>> {
    // A law that nothing can invert leaves values open, or has none, even where the structure is regular;
    // a stroke written in the text is a promise about the physics that the model breaks.
    let stuck = causality
        .conflicts
        .iter()
        .filter(|c| needs_an_inverse(graph, c) || denies_a_stroke(c));
    let stuck: Vec<Diagnostic> = stuck.map(|c| conflict_diagnostic(graph, c)).collect();
    if !stuck.is_empty() {
        return Err(stuck);
    }

    // The equations of a ring that holds itself at zero can be solved; nobody wants the answer.
    let held: Vec<Diagnostic> = of_code(messages, model_code::RING_LOCKS).collect();
    if held.is_empty() { Ok(()) } else { Err(held) }
}

fn of_code<'m>(
    messages: &'m [Diagnostic],
    code: &'m str,
) -> impl Iterator<Item = Diagnostic> + use<'m> {
    messages.iter().filter(move |m| m.code == code).cloned()
}

fn explain(
    error: LockError,
    graph: &BondGraph,
    causality: &Causality,
    messages: &[Diagnostic],
) -> Vec<Diagnostic> {
    let conflicts: Vec<Diagnostic> = messages.iter().filter(|m| m.is_error()).cloned().collect();
    match error {
        LockError::Explained(messages) => messages,
        // `reduce` took the equations apart; names for a message are read from new ones.
        LockError::Structure(error) if conflicts.is_empty() => {
            explain_structure(&error, &build_equations(graph, causality), graph)
        }
        LockError::Structure(_) => conflicts,
    }
}

impl Compiled {
    /// Writes the equations once more, before they were reduced: for those who add to them.
    pub fn equations(&self) -> Dae {
        build_equations(&self.graph, &self.causality)
    }

    /// Reduces equations that were made from [`Compiled::equations`], with the same locks.
    ///
    /// # Errors
    ///
    /// Why they have no unique solution.
    pub fn reduce_others(&self, dae: Dae) -> Result<Reduced, Vec<Diagnostic>> {
        let again = dae.clone();
        let (start, enforcement) = (self.settings.start, self.settings.treatment.enforcement());
        match reduce_locked(dae, &self.graph, start, enforcement) {
            Ok(locked) => Ok(locked.reduced),
            Err(LockError::Explained(messages)) => Err(messages),
            Err(LockError::Structure(error)) => Err(explain_structure(&error, &again, &self.graph)),
        }
    }
}

impl Compiled {
    /// Reduces the equations with other locks left out as redundant; none where these have no unique solution.
    pub fn with_released(&self, locks: &[usize]) -> Option<Reduced> {
        let enforcement = match self.settings.treatment {
            Treatment::Implicit => Enforcement::Implicit,
            _ => Enforcement::Multipliers,
        };
        let options = Options {
            released: locks.to_vec(),
            enforcement,
            ..Options::default()
        };
        reduce_with(self.equations(), &options).ok()
    }
}

/// Strokes as they are shown: redundant locks are left out of the graph, since they set no flow.
#[derive(Clone, Debug)]
pub struct Strokes {
    /// The graph that the strokes belong to.
    pub graph: Arc<BondGraph>,
    /// The strokes.
    pub causality: Causality,
    /// What the equations say; empty where they have no solution.
    pub solved: Solved,
}

/// Assigns the strokes that reports show, and says of every modulus that they turn round whether the
/// equations divide by it.
pub fn strokes(graph: Arc<BondGraph>, settings: Settings) -> Strokes {
    let Ok(compiled) = compile(graph.clone(), settings) else {
        return Strokes {
            causality: assign_causality(&graph),
            graph,
            solved: Solved::default(),
        };
    };
    let (graph, causality) = shown(&compiled);
    let reduced = &compiled.reduced;
    let turned = causality.reversed_moduli.iter().copied();
    let harmless_moduli = if keeps_all_storages(&graph, reduced) {
        turned.collect()
    } else {
        let probed = turned.take(MAX_PROBED);
        probed
            .filter(|&e| stays_regular_without(&graph, e, reduced))
            .collect()
    };
    let solved = Solved {
        structural_index: Some(reduced.structural_index),
        harmless_moduli,
    };
    Strokes {
        graph,
        causality,
        solved,
    }
}

/// The graph and the strokes that reports show of a compiled model.
pub(crate) fn shown(compiled: &Compiled) -> (Arc<BondGraph>, Causality) {
    let graph = &compiled.graph;
    let graph = if compiled.settings.treatment == Treatment::Multiplier {
        with_reactions(graph, &compiled.released).0
    } else if compiled.released.is_empty() {
        return (graph.clone(), compiled.causality.clone());
    } else {
        without_locks(graph, &compiled.released)
    };
    let causality = assign_causality(&graph);
    (Arc::new(graph), causality)
}

/// Moduli that are looked at one by one, each by reducing the whole model once more; the warning stands for
/// those beyond.
const MAX_PROBED: usize = 16;

/// A graph in which locks with these reactions are sources of no effort: they hold nothing.
fn without_locks(graph: &BondGraph, reactions: &[SymbolId]) -> BondGraph {
    let mut graph = graph.clone();
    let zero = graph.signals.pool.number(0.0);
    for bond in graph.bonds.iter().filter(|b| reactions.contains(&b.effort)) {
        for end in [bond.tail, bond.head] {
            let element = &mut graph.elements[end.element.0 as usize];
            if element.kind == ElementKind::Sf {
                element.kind = ElementKind::Se;
                element.law = Law::Source {
                    value: zero,
                    position: None,
                };
            }
        }
    }
    graph
}

/// Tells whether every storage is a state, as when locks are kept by multipliers: then no stroke is followed
/// through a transformer, and no modulus is divided by.
fn keeps_all_storages(graph: &BondGraph, reduced: &Reduced) -> bool {
    let states: Vec<SymbolId> = reduced.states.iter().map(|s| s.symbol).collect();
    let mut stored = graph.elements.iter().flat_map(|e| &e.states).peekable();
    stored.peek().is_some() && stored.all(|s| states.contains(s))
}

/// Tells whether the equations stay solvable, with as many states, where the modulus of an element is
/// zero: then nothing divides by it.
fn stays_regular_without(graph: &BondGraph, element: ElementId, reduced: &Reduced) -> bool {
    let mut graph = graph.clone();
    let zero = graph.signals.pool.number(0.0);
    let law = &mut graph.elements[element.0 as usize].law;
    match law {
        Law::Gain(modulus) | Law::InverseGain(modulus) => *modulus = zero,
        _ => return false,
    }
    let causality = assign_causality(&graph);
    causality.is_complete()
        && reduce(build_equations(&graph, &causality))
            .is_ok_and(|r| r.states.len() == reduced.states.len())
}
