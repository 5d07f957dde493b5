//! Adds to the equations of a model what its linear model is read off: inputs and outputs.
//!
//! In:  the equations, which quantities small changes are added to, which quantities follow.
//! Out: equations with a chain u₀' = u₁, u₁' = u₂, … for every input, u₀ added where the input is
//!      defined; and, once they are reduced, with an integral z' = y for every output.
//!
//! The Jacobian of these equations then holds A, B, C and D, each entry an exact derivative through
//! every algebraic loop. The chain carries the rates of the input to wherever index reduction
//! differentiated it: a capacitor at a source follows the rate of the source.
//!
//! **Invariant:** at u = 0 the equations are those of the model.

use paynter_design::code;
use paynter_model::BondGraph;
use paynter_model::experiment::Quantity;
use paynter_model::graph::{Element, ElementKind, Law};
use paynter_symbolic::dae::{Dae, Equation, Origin, Role, Symbol};
use paynter_symbolic::reduced::{Block, Known, Reduced, State};
use paynter_symbolic::walk::{Walker, symbols_of};
use paynter_symbolic::{ExprId, Names, PathId, SymbolId};
use paynter_syntax::{Diagnostic, Span};
use std::collections::{HashMap, HashSet};

/// An input that was added.
pub(super) struct Input {
    /// u₀, u₁, …
    pub chain: Vec<SymbolId>,
    /// What stands still there while the change is added.
    pub held: Option<Held>,
}

/// A value at the point that a parameter of its own stands for.
pub(super) enum Held {
    /// What a sampled block has set.
    Sampled {
        /// Its symbol in the model.
        symbol: SymbolId,
        /// The parameter.
        parameter: SymbolId,
    },
    /// The input itself, whose definition no longer counts: the loop through it is open.
    Own {
        /// The parameter.
        parameter: SymbolId,
    },
}

/// What happens to what defines an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Entry {
    /// The change is added to it; what a sampled block sets is replaced.
    #[default]
    Added,
    /// It stands still.
    Open,
    /// The change is added to it, also to what a sampled block sets.
    Injected,
}

/// Adds a chain of integrators for one input.
///
/// # Errors
///
/// Why nothing can be added to this quantity.
pub(super) fn add_input(
    dae: &mut Dae,
    graph: &BondGraph,
    input: &Quantity,
    n_rates: usize,
    entry: Entry,
) -> Result<Input, Box<Diagnostic>> {
    let place = find_place(dae, graph, input)?;
    let origin = match place {
        Place::Definition(k) => dae.equations[k].origin,
        Place::Parameter(symbol) | Place::Held(symbol) => dae.symbol(symbol).origin,
    };
    let chain = add_chain(dae, origin, n_rates);
    let change = dae.pool.symbol(chain[0]);
    let mut held = None;
    match place {
        Place::Definition(k) => {
            let mut right = dae.equations[k].right;
            if entry == Entry::Open {
                let name = dae.names.child(Names::ROOT, "change", None);
                let parameter = stand_still(dae, name, origin);
                right = dae.pool.symbol(parameter);
                held = Some(Held::Own { parameter });
            }
            dae.equations[k].right = dae.pool.add(right, change);
        }
        Place::Parameter(symbol) => vary_parameter(dae, symbol, change),
        Place::Held(symbol) if entry == Entry::Injected => inject(dae, symbol, change),
        Place::Held(symbol) => {
            let parameter = vary_held(dae, symbol, change);
            held = Some(Held::Sampled { symbol, parameter });
        }
    }
    Ok(Input { chain, held })
}

/// Adds u₀' = u₁, u₁' = u₂, …; gives u₀, u₁, …
pub(super) fn add_chain(dae: &mut Dae, origin: Origin, n_rates: usize) -> Vec<SymbolId> {
    let name = dae.names.child(Names::ROOT, "change", None);
    let mut add = |role: Role| {
        dae.add_symbol(Symbol {
            name,
            role,
            nominal: 0.0,
            origin,
        })
    };

    let chain: Vec<SymbolId> = (0..=n_rates).map(|_| add(Role::Unknown)).collect();
    let rates: Vec<SymbolId> = chain
        .iter()
        .map(|&of| add(Role::Derivative { of }))
        .collect();
    for (k, &rate) in rates.iter().enumerate() {
        let left = dae.pool.symbol(rate);
        let right = match chain.get(k + 1) {
            Some(&next) => dae.pool.symbol(next),
            None => dae.pool.number(0.0),
        };
        dae.equations.push(Equation {
            left,
            right,
            solves: Some(rate),
            origin,
        });
    }

    // Before all storages: of two that are tied together the input is the one that is given.
    dae.preferred_states.splice(0..0, chain.iter().copied());
    chain
}

/// Adds a change to what a sampled block sets.
fn inject(dae: &mut Dae, symbol: SymbolId, change: ExprId) {
    let Dae { clocks, pool, .. } = dae;
    let lines = clocks.iter_mut().flat_map(|c| &mut c.equations);
    for (_, value) in lines.filter(|line| line.0 == symbol) {
        *value = pool.add(*value, change);
    }
}

/// Where a small change is added.
enum Place {
    /// To the right-hand side of this equation.
    Definition(usize),
    /// To an input that has a constant value.
    Parameter(SymbolId),
    /// To what a sampled block sets.
    Held(SymbolId),
}

fn find_place(dae: &Dae, graph: &BondGraph, input: &Quantity) -> Result<Place, Box<Diagnostic>> {
    let name = &input.column.name;
    let refuse = |label: &str, help: String| {
        let message = format!("`{name}` cannot be an input of a linear model");
        let message = Diagnostic::error(code::NOT_AN_INPUT, message);
        Box::new(message.primary(input.span, label).help(help))
    };
    let sources = || match sources(graph).first() {
        Some(first) => format!(
            "name an `input` of the model, a signal, or what a source sets, such as `{first}`"
        ),
        None => "name an `input` of the model, a signal, or what a source sets".to_owned(),
    };
    let Some(symbol) = dae.pool.as_symbol(input.column.value) else {
        return Err(refuse("this is not a single quantity", sources()));
    };

    match dae.symbol(symbol).role {
        Role::Parameter { .. } if graph.inputs.contains(&symbol) => {
            return Ok(Place::Parameter(symbol));
        }
        Role::Parameter { .. } => {
            let help = format!(
                "declare it as `input {name} = …` if it varies while the model runs; {}",
                sources()
            );
            return Err(refuse("a parameter is constant during a run", help));
        }
        Role::Discrete { .. } if is_sampled(dae, symbol) => return Ok(Place::Held(symbol)),
        Role::Unknown => {}
        _ => return Err(refuse("this does not vary continuously", sources())),
    }

    let left = |e: &Equation| dae.pool.as_symbol(e.left) == Some(symbol);
    let n_signals = graph.signals.equations.len();
    let signal = dae.equations.iter().take(n_signals).position(left);
    if let Some(k) = signal {
        return Ok(Place::Definition(k));
    }

    let driven = driven_by(graph, symbol);
    match driven.map(|e| &e.law) {
        Some(Law::Source {
            position: Some(_), ..
        }) => Err(refuse("a lock holds this at zero", sources())),
        Some(_) => {
            let own = |e: &Equation| left(e) && e.solves == Some(symbol);
            let found = dae.equations.iter().position(own);
            found
                .map(Place::Definition)
                .ok_or_else(|| refuse("no equation gives this alone", sources()))
        }
        None => Err(refuse(
            "this is computed from the states and laws of the model",
            sources(),
        )),
    }
}

/// The source that sets this effort or flow.
fn driven_by(graph: &BondGraph, symbol: SymbolId) -> Option<&Element> {
    graph.elements.iter().find(|element| {
        let bond = |k: usize| graph.bond(element.ports[k]);
        match element.kind {
            ElementKind::Se => bond(0).effort == symbol,
            ElementKind::Sf => bond(0).flow == symbol,
            _ => false,
        }
    })
}

/// What sources set, by name, apart from locks.
fn sources(graph: &BondGraph) -> Vec<String> {
    let names = graph.elements.iter().filter_map(|element| {
        let letter = match element.kind {
            ElementKind::Se => "e",
            ElementKind::Sf => "f",
            _ => return None,
        };
        let Law::Source {
            value,
            position: None,
        } = element.law
        else {
            return None;
        };
        // A ground or a clamp.
        if graph.signals.pool.as_number(value) == Some(0.0) {
            return None;
        }
        let path = graph.signals.names.display(element.name?);
        Some(format!("{path}.{letter}"))
    });
    names.collect()
}

fn is_sampled(dae: &Dae, symbol: SymbolId) -> bool {
    let mut sampled = dae.clocks.iter().flat_map(|c| &c.equations);
    sampled.any(|&(s, _)| s == symbol)
}

/// Lists a parameter and every parameter that follows from it, in order.
pub(crate) fn followers(dae: &Dae, symbol: SymbolId) -> Vec<SymbolId> {
    let mut varying: HashSet<SymbolId> = HashSet::from([symbol]);
    loop {
        let follows = |(k, s): (usize, &Symbol)| match s.role {
            Role::Parameter {
                binding: Some(binding),
                ..
            } => {
                let own = SymbolId(k as u32);
                let reads = symbols_of(&dae.pool, binding);
                (!varying.contains(&own) && reads.iter().any(|r| varying.contains(r)))
                    .then_some(own)
            }
            _ => None,
        };
        let found: Vec<SymbolId> = dae.symbols.iter().enumerate().filter_map(follows).collect();
        if found.is_empty() {
            break;
        }
        varying.extend(found);
    }
    let mut varying: Vec<SymbolId> = varying.into_iter().collect();
    varying.sort_unstable();
    varying
}

/// Turns a constant input, and every parameter that follows from it, into signals.
pub(super) fn vary_parameter(dae: &mut Dae, symbol: SymbolId, change: ExprId) {
    for follower in followers(dae, symbol) {
        let Role::Parameter { value, binding } = dae.symbol(follower).role else {
            continue;
        };
        let mut right = binding.unwrap_or_else(|| dae.pool.number(value));
        if follower == symbol {
            right = dae.pool.add(right, change);
        }
        define(dae, follower, right);
    }
}

/// Turns what a sampled block holds into a signal; the block no longer sets it.
fn vary_held(dae: &mut Dae, symbol: SymbolId, change: ExprId) -> SymbolId {
    for clock in &mut dae.clocks {
        clock.equations.retain(|&(s, _)| s != symbol);
    }
    // What it holds at the point is given to the machine as a parameter of its own.
    let Symbol { name, origin, .. } = *dae.symbol(symbol);
    let parameter = stand_still(dae, name, origin);
    let held = dae.pool.symbol(parameter);
    let right = dae.pool.add(held, change);
    define(dae, symbol, right);
    parameter
}

/// Finds what continuous equations or the outputs read of sampled blocks, where the caller needs a continuous model.
///
/// # Errors
///
/// What is read, and where it is set.
pub(super) fn refuse_sampled(
    dae: &Dae,
    graph: &BondGraph,
    outputs: &[ExprId],
    asked: Span,
) -> Result<(), Box<Diagnostic>> {
    if dae.clocks.is_empty() {
        return Ok(());
    }
    let mut set_by: HashMap<SymbolId, Origin> = HashMap::new();
    for clock in &dae.clocks {
        set_by.extend(clock.equations.iter().map(|&(s, _)| (s, clock.origin)));
    }

    let sides = dae.equations.iter().flat_map(|e| [e.left, e.right]);
    let mut walker = Walker::new();
    let mut read: Vec<SymbolId> = Vec::new();
    for e in sides.chain(outputs.iter().copied()) {
        walker.visit(&dae.pool, e, |id| read.extend(dae.pool.as_symbol(id)));
    }

    let origin_of = |s: SymbolId| {
        let of = match dae.symbol(s).role {
            Role::Pre { of } => of,
            _ => s,
        };
        Some((of, *set_by.get(&of)?))
    };

    read.sort_unstable();
    let Some((symbol, origin)) = read.into_iter().find_map(origin_of) else {
        return Ok(());
    };
    let name = dae.name_of(symbol);
    let message = Diagnostic::error(
        code::SAMPLED_PATH,
        format!("the model has no continuous linear form: `{name}` is set by a sampled block"),
    );
    let message = message
        .primary(asked, "asked for here")
        .secondary(graph.span(origin), "changes at its ticks only")
        .help(format!(
            "to see the plant that this block drives, take what it sets as the input: from `{name}`"
        ));
    Err(Box::new(message))
}

/// Makes a parameter for a value that is known at the point only.
pub(super) fn stand_still(dae: &mut Dae, name: PathId, origin: Origin) -> SymbolId {
    dae.add_symbol(Symbol {
        name,
        role: Role::Parameter {
            value: 0.0,
            binding: None,
        },
        nominal: 0.0,
        origin,
    })
}

/// Turns a symbol into a signal with this definition.
pub(crate) fn define(dae: &mut Dae, symbol: SymbolId, right: ExprId) {
    let left = dae.pool.symbol(symbol);
    let origin = dae.symbol(symbol).origin;
    dae.symbols[symbol.0 as usize].role = Role::Unknown;
    dae.equations.push(Equation {
        left,
        right,
        solves: Some(symbol),
        origin,
    });
}

/// Adds an integral z' = y to reduced equations; gives z.
pub(super) fn add_output(reduced: &mut Reduced, value: ExprId) -> SymbolId {
    let name = reduced.dae.names.child(Names::ROOT, "change", None);
    let mut add = |role: Role| {
        reduced.known.push(Known::Itself);
        reduced.dae.add_symbol(Symbol {
            name,
            role,
            nominal: 0.0,
            origin: Origin::default(),
        })
    };
    let z = add(Role::Unknown);
    let rate = add(Role::Derivative { of: z });
    reduced.states.push(State {
        symbol: z,
        derivative: rate,
    });
    reduced.blocks.push(Block::Assign {
        symbol: rate,
        value,
    });
    z
}
