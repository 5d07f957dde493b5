//! Inputs of a model as quantities that are given from outside while it runs.
//!
//! In:  a design and its compiled model, in which inputs with a constant value are parameters.
//! Out: equations in which each of them is a variable u with u' = 0 and its value as the start: whoever runs the
//!      equations writes u whenever it changes, and derivatives with respect to u are there like those of states.
//!
//! An input that the experiment gives as a signal (`with cmd = step(…)`) stays what the experiment made of it.
//!
//! **Invariant:** the rate of no input is read: an input whose rate the equations need is refused, since nobody
//! outside gives it.

use crate::linear::augment::{define, followers};
use paynter_design::compile::Compiled;
use paynter_design::design::Design;
use paynter_design::failure::{explain_lowering, explain_start};
use paynter_exec::{Engine, Form, Lowering, Machine, StartReport, lower_with};
use paynter_symbolic::dae::{Dae, Equation, Role, Start, Symbol};
use paynter_symbolic::reduced::{Block, Known, Reduced};
use paynter_symbolic::walk::symbols_of;
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::Diagnostic;

/// Equations whose inputs are given from outside.
#[derive(Clone, Debug)]
pub struct Driven {
    /// The equations.
    pub reduced: Reduced,
    /// The inputs, each a state of the equations, in the order of the text.
    pub inputs: Vec<SymbolId>,
}

/// Why inputs cannot be given from outside.
#[derive(Clone, Debug)]
pub enum DriveError {
    /// The equations read the rate of this input.
    RateIsRead(SymbolId),
    /// The experiment asks for what cannot be done, or the equations have no unique solution with inputs that vary.
    Refused(Vec<Diagnostic>),
}

/// Makes every input that has a constant value a variable that is given from outside.
///
/// # Errors
///
/// The equations need the rate of an input, or cannot be solved for inputs that vary.
pub fn drive(design: &Design, compiled: &Compiled) -> Result<Driven, DriveError> {
    let refused = paynter_design::unsupported::in_plan(&design.plan);
    if !refused.is_empty() {
        return Err(DriveError::Refused(refused));
    }
    let mut dae = compiled.equations();
    let is_constant = |s: &SymbolId| matches!(dae.symbol(*s).role, Role::Parameter { .. });
    let shapes = |s: &SymbolId| design.structural.contains(s);
    let inputs = design.graph.inputs.iter().copied();
    let inputs: Vec<SymbolId> = inputs.filter(|s| is_constant(s) && !shapes(s)).collect();
    if inputs.is_empty() {
        let reduced = compiled.reduced.clone();
        return Ok(Driven { reduced, inputs });
    }

    let rates: Vec<[SymbolId; 2]> = inputs.iter().map(|&s| vary(&mut dae, s)).collect();
    // Of a storage and an input that are tied together, the input is the one that is given.
    dae.preferred_states.splice(0..0, inputs.iter().copied());
    let reduced = compiled.reduce_others(dae).map_err(DriveError::Refused)?;
    for (&input, rates) in inputs.iter().zip(&rates) {
        let is_state = reduced.states.iter().any(|s| s.symbol == input);
        if !is_state || is_read(&reduced, rates) {
            return Err(DriveError::RateIsRead(input));
        }
    }
    Ok(Driven { reduced, inputs })
}

/// Makes the machine of driven equations whose program can be exported, at the start of the experiment.
///
/// # Errors
///
/// Why the equations cannot be run, or have no start.
pub fn machine_for_export(
    design: &Design,
    driven: &Driven,
    wanted: &[ExprId],
) -> Result<(Machine, StartReport), Vec<Diagnostic>> {
    let lowering = Lowering {
        engine: Engine::Interpreter,
        form: Form::Explicit,
        straight_limit: usize::MAX,
        is_for_export: true,
    };
    let (reduced, graph) = (&driven.reduced, &design.graph);
    let mut machine = lower_with(reduced, wanted, lowering)
        .map_err(|error| vec![explain_lowering(&error, reduced, graph)])?;
    let start = machine.initialise(design.plan.start);
    let start = start.map_err(|error| explain_start(&error, reduced, graph))?;
    Ok((machine, start))
}

/// Turns an input into a variable with a rate that nothing else reads; gives the rate and what it is.
fn vary(dae: &mut Dae, input: SymbolId) -> [SymbolId; 2] {
    let Role::Parameter { value, binding } = dae.symbol(input).role else {
        unreachable!("only inputs with a constant value are varied");
    };
    for follower in followers(dae, input) {
        if let Role::Parameter {
            binding: Some(binding),
            ..
        } = dae.symbol(follower).role
            && follower != input
        {
            define(dae, follower, binding);
        }
    }

    let Symbol { name, origin, .. } = *dae.symbol(input);
    dae.symbols[input.0 as usize].role = Role::Unknown;
    let mut add = |role: Role| {
        dae.add_symbol(Symbol {
            name,
            role,
            nominal: 0.0,
            origin,
        })
    };
    let rate = add(Role::Derivative { of: input });
    let zero = add(Role::Parameter {
        value: 0.0,
        binding: None,
    });
    let (left, right) = (dae.pool.symbol(rate), dae.pool.symbol(zero));
    dae.equations.push(Equation {
        left,
        right,
        solves: Some(rate),
        origin,
    });
    let value = binding.unwrap_or_else(|| dae.pool.number(value));
    dae.starts.push(Start {
        target: dae.pool.symbol(input),
        value,
        is_guess: false,
        origin,
    });
    [rate, zero]
}

/// Tells whether anything but the rate of the input itself reads one of these symbols.
fn is_read(reduced: &Reduced, rates: &[SymbolId; 2]) -> bool {
    let pool = &reduced.dae.pool;
    let reads = |e: ExprId| symbols_of(pool, e).iter().any(|s| rates.contains(s));
    let own = |s: SymbolId| rates.contains(&s);
    let by_name = reduced.known.iter().enumerate().any(|(k, known)| {
        let is_own = own(SymbolId(k as u32));
        match *known {
            Known::Itself => false,
            Known::Alias { of, .. } => !is_own && own(of),
            Known::Expression(e) => !is_own && reads(e),
        }
    });
    let inner_reads = |inner: &[(SymbolId, ExprId)]| inner.iter().any(|&(_, e)| reads(e));
    let entries_read = |matrix: &[(u32, u32, ExprId)]| matrix.iter().any(|&(_, _, e)| reads(e));
    by_name
        || reduced.blocks.iter().any(|block| match block {
            Block::Assign { symbol, value } => !own(*symbol) && reads(*value),
            Block::Linear {
                matrix,
                right,
                inner,
                ..
            } => entries_read(matrix) || right.iter().any(|&e| reads(e)) || inner_reads(inner),
            Block::Nonlinear {
                inner, residuals, ..
            } => residuals.iter().any(|&e| reads(e)) || inner_reads(inner),
        })
}
