//! Writes the equations of a graph as rows of exact numbers: unknowns, states, inputs.
//!
//! In:  a graph (loosened, see `loosen`), inputs by symbol, outputs by expression.
//! Out: [`Equations`]: Σ aᵢⱼ wⱼ = 0 for each equation, and a row for each output.
//!
//! **Invariant:** columns are numbered unknowns first, then states, then inputs.

use super::field::Number;
use super::loosen::follows;
use super::values::Values;
use paynter::model::BondGraph;
use paynter::model::causality::assign_causality;
use paynter::model::equations::build_equations;
use paynter::symbolic::calculus::{gradient, total_derivative};
use paynter::symbolic::walk::symbols_of;
use paynter::symbolic::{Dae, ExprId, Pool, Role, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A sparse row, sorted by column.
pub type Row = Vec<(usize, Number)>;

/// Linear equations with generic coefficients.
#[derive(Clone, Debug)]
pub struct Equations {
    /// Number of unknowns: efforts, flows, signals, and rates of states.
    pub n_unknowns: usize,
    /// The states; column `n_unknowns + k` is state k.
    pub states: Vec<SymbolId>,
    /// The column of the rate of each state: an unknown, or another state.
    pub rates: Vec<usize>,
    /// Number of inputs; column `n_unknowns + states.len() + i` is input i.
    pub n_inputs: usize,
    /// The equations.
    pub rows: Vec<Row>,
    /// The outputs.
    pub outputs: Vec<Row>,
    /// States that causality would keep, most wanted first.
    pub preferred: Vec<SymbolId>,
    /// The symbols of the unknowns.
    pub unknowns: Vec<SymbolId>,
}

/// Why a graph has no generic equations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unassembled {
    /// Positions that locks hold tie states in ways that only the geometry tells.
    Mechanism,
    /// This input is set by nothing that could be changed, by its number.
    NotAnInput(usize),
    /// As many as this: more than exact elimination can do.
    TooLarge(usize),
}

/// More unknowns than this take minutes of exact elimination.
const MOST_UNKNOWNS: usize = 8000;
/// More states than this take minutes: the work grows with their third power.
const MOST_STATES: usize = 600;

/// Writes the rows.
///
/// # Errors
///
/// See [`Unassembled`].
pub fn assemble(
    graph: &BondGraph,
    inputs: &[SymbolId],
    outputs: &[ExprId],
) -> Result<Equations, Unassembled> {
    if graph.bonds.len() > MOST_UNKNOWNS / 2 {
        return Err(Unassembled::TooLarge(2 * graph.bonds.len()));
    }
    let mut dae = build_equations(graph, &assign_causality(graph));
    if !dae.constraints.is_empty() {
        return Err(Unassembled::Mechanism);
    }
    let columns = Columns::new(&dae);
    if columns.unknowns.len() > MOST_UNKNOWNS || columns.states.len() > MOST_STATES {
        return Err(Unassembled::TooLarge(columns.unknowns.len()));
    }
    let mut writer = Writer {
        values: Values::default(),
        varied: varied(graph, &dae, inputs),
        columns,
    };
    let mut rows = Vec::with_capacity(dae.equations.len());
    for k in 0..dae.equations.len() {
        let equation = dae.equations[k];
        let left = writer.row(&mut dae, equation.left);
        let right = writer.row(&mut dae, equation.right);
        rows.push(minus(&left, &right));
    }
    writer.define_inputs(graph, &dae, inputs, &mut rows)?;
    let outputs = outputs.iter().map(|&e| writer.row(&mut dae, e)).collect();
    let Columns {
        unknowns,
        states,
        rates,
        ..
    } = writer.columns;
    Ok(Equations {
        n_unknowns: unknowns.len(),
        states,
        rates,
        n_inputs: inputs.len(),
        rows,
        outputs,
        preferred: dae.preferred_states,
        unknowns,
    })
}

/// Which symbol has which column.
struct Columns {
    unknowns: Vec<SymbolId>,
    states: Vec<SymbolId>,
    rates: Vec<usize>,
    place: FxHashMap<SymbolId, usize>,
    first_input: usize,
}

impl Columns {
    fn new(dae: &Dae) -> Self {
        let mut derivative: FxHashMap<SymbolId, SymbolId> = FxHashMap::default();
        for (k, symbol) in dae.symbols.iter().enumerate() {
            if let Role::Derivative { of } = symbol.role {
                derivative.insert(of, SymbolId(k as u32));
            }
        }
        let (mut unknowns, mut states) = (Vec::new(), Vec::new());
        for (k, symbol) in dae.symbols.iter().enumerate() {
            let id = SymbolId(k as u32);
            if matches!(symbol.role, Role::Unknown | Role::Derivative { .. }) {
                match derivative.contains_key(&id) {
                    true => states.push(id),
                    false => unknowns.push(id),
                }
            }
        }
        let all = unknowns.iter().chain(&states).enumerate();
        let place: FxHashMap<SymbolId, usize> = all.map(|(k, &s)| (s, k)).collect();
        Columns {
            rates: states.iter().map(|s| place[&derivative[s]]).collect(),
            first_input: unknowns.len() + states.len(),
            unknowns,
            states,
            place,
        }
    }
}

/// Inputs that are parameters, or held by a sampled block: with the slopes of what follows from them.
type Varied = Vec<Option<(SymbolId, FxHashSet<SymbolId>)>>;

fn varied(graph: &BondGraph, dae: &Dae, inputs: &[SymbolId]) -> Varied {
    let of = |input: &SymbolId| match dae.symbol(*input).role {
        Role::Parameter { .. } => {
            let all = (0..dae.symbols.len() as u32).map(SymbolId);
            let within = all.filter(|s| s.0 < graph.signals.symbols.len() as u32);
            let followers = within.filter(|s| follows(graph, *s, &[*input])).collect();
            Some((*input, followers))
        }
        Role::Discrete { .. } => Some((*input, FxHashSet::from_iter([*input]))),
        _ => None,
    };
    inputs.iter().map(of).collect()
}

struct Writer {
    values: Values,
    varied: Varied,
    columns: Columns,
}

impl Writer {
    /// The slopes of an expression by unknowns, states and varied inputs.
    fn row(&mut self, dae: &mut Dae, e: ExprId) -> Row {
        let read: Vec<SymbolId> = symbols_of(&dae.pool, e);
        let known = |s: &SymbolId| self.columns.place.contains_key(s);
        let symbols: Vec<SymbolId> = read.iter().copied().filter(known).collect();
        let slopes = gradient(&mut dae.pool, e, &symbols);
        let mut row: Row = Vec::with_capacity(symbols.len());
        for (s, slope) in symbols.iter().zip(slopes) {
            let value = self.values.of(dae, slope);
            row.push((self.columns.place[s], value));
        }
        for i in 0..self.varied.len() {
            let Some((input, followers)) = self.varied[i].clone() else {
                continue;
            };
            if read.iter().any(|s| followers.contains(s)) {
                let slope = input_slope(dae, e, input, &followers);
                let value = self.values.of(dae, slope);
                row.push((self.columns.first_input + i, value));
            }
        }
        row.retain(|entry| !entry.1.is_zero());
        row.sort_unstable_by_key(|entry| entry.0);
        row
    }

    /// Adds inputs to what defines them.
    fn define_inputs(
        &self,
        graph: &BondGraph,
        dae: &Dae,
        inputs: &[SymbolId],
        rows: &mut [Row],
    ) -> Result<(), Unassembled> {
        let n_signals = graph.signals.equations.len();
        for (i, &input) in inputs.iter().enumerate() {
            if self.varied[i].is_some() {
                continue;
            }
            // A signal by its definition, what a source sets by the law of the source.
            let is_own = |k: usize| {
                let equation = &dae.equations[k];
                dae.pool.as_symbol(equation.left) == Some(input)
                    && (k < n_signals || equation.solves == Some(input))
            };
            let own = (0..dae.equations.len()).find(|&k| is_own(k));
            let Some(k) = own else {
                return Err(Unassembled::NotAnInput(i));
            };
            rows[k].push((self.columns.first_input + i, -Number::ONE));
        }
        Ok(())
    }
}

/// The slope of an expression by an input that parameters follow: each follower by its binding.
fn input_slope(
    dae: &mut Dae,
    e: ExprId,
    input: SymbolId,
    followers: &FxHashSet<SymbolId>,
) -> ExprId {
    let bindings: FxHashMap<SymbolId, Option<ExprId>> = followers
        .iter()
        .map(|&s| match dae.symbol(s).role {
            Role::Parameter { binding, .. } if s != input => (s, binding),
            _ => (s, None),
        })
        .collect();
    slope_through(&mut dae.pool, e, &bindings)
}

fn slope_through(
    pool: &mut Pool,
    e: ExprId,
    bindings: &FxHashMap<SymbolId, Option<ExprId>>,
) -> ExprId {
    total_derivative(pool, e, &mut |pool, s| match bindings.get(&s) {
        None => None,
        Some(Some(binding)) => Some(slope_through(pool, *binding, bindings)),
        Some(None) => Some(pool.number(1.0)),
    })
}

/// left − right.
fn minus(left: &Row, right: &Row) -> Row {
    let mut sum: Row = left.clone();
    for &(column, value) in right {
        match sum.binary_search_by_key(&column, |entry| entry.0) {
            Ok(k) => sum[k].1 = sum[k].1 - value,
            Err(k) => sum.insert(k, (column, -value)),
        }
    }
    sum.retain(|entry| !entry.1.is_zero());
    sum
}
