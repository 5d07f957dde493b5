//! Inputs to outputs: relative degrees, zeros, orders at infinity, decoupling, invertibility.
//!
//! In:  a [`Subject`].
//! Out: [`Channels`]: for every pair how many integrations lie between, how many zeros its transfer function has
//!      for almost all parameters, and where they are with the present numbers; for all together whether outputs
//!      can be decoupled, and whether the model can be inverted.
//!
//! The relative degree is the order of the first Markov parameter that does not vanish for all parameter values; the
//! shortest causal path is a lower bound of it. Orders at infinity come from ranks of Toeplitz matrices of
//! Markov parameters (Van Dooren, Dewilde & Vandewalle 1979); all are exact.

use crate::generic::{GenericModel, Matrix, Number};
use crate::ranks::krylov;
use crate::reach::{Way, names_along, reach, read_by, set_by};
use crate::subject::Subject;
use paynter::Compiled;
use paynter::linear::Linearization;
use paynter::linear_algebra::{Complex, zeros};
use paynter::syntax::Diagnostic;

/// One input and one output.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelFindings {
    /// Name of the input.
    pub input: String,
    /// Name of the output.
    pub output: String,
    /// Integrations between them for almost all parameters, negative where the output reads rates of the input; none if the output does
    /// not depend on the input.
    pub relative_degree: Option<i64>,
    /// The order of the transfer function: what of the states lies between the two.
    pub order: usize,
    /// The path with the fewest integrations, and their number.
    pub path: Option<(u32, Vec<String>)>,
    /// Zeros with the present numbers, or why there are none.
    pub zeros: Result<Vec<Complex>, String>,
}

/// All inputs and outputs together.
#[derive(Clone, Debug, PartialEq)]
pub struct Channels {
    /// Every pair, by output and then by input.
    pub channels: Vec<ChannelFindings>,
    /// The rank of the transfer matrix for almost all s.
    pub rank: usize,
    /// Integrations between each output and the nearest input.
    pub row_degrees: Vec<Option<i64>>,
    /// Orders of the zeros at infinity of the whole, ascending.
    pub infinite: Vec<usize>,
    /// Number of finite zeros of the whole; none where inputs and outputs are not equally many or the rank is short.
    pub n_zeros: Option<usize>,
    /// Whether static state feedback can make every input act on one output only; none where inputs and outputs are not equally many.
    pub is_decouplable: Option<bool>,
    /// Number of inputs and outputs.
    pub shape: (usize, usize),
    /// Number of states.
    pub n_states: usize,
}

impl Channels {
    /// Tells whether outputs can be given and inputs computed: as many independent ones.
    pub fn is_invertible(&self) -> bool {
        self.shape.0 == self.shape.1 && self.rank == self.shape.0
    }
}

/// More pairs than this are not looked at one by one; in a large model each takes seconds.
const MOST_CHANNELS: usize = 64;
const MOST_CHANNELS_IF_LARGE: usize = 4;
/// States of a large model.
const LARGE: usize = 150;

/// Answers for all pairs.
///
/// # Errors
///
/// No inputs, no outputs, or no generic model.
pub fn channels(subject: &Subject<'_>, compiled: &Compiled) -> Result<Channels, Vec<Diagnostic>> {
    subject.needs_input()?;
    subject.needs_output()?;
    let model = subject
        .generic()
        .map_err(|why| vec![subject.no_generic(&why)])?;
    let linear = subject.linear(compiled).map_err(|e| {
        let messages = e.into_messages();
        messages
            .first()
            .map_or_else(String::new, |m| m.message.clone())
    });
    let markov = Markov::new(&model);
    let (n_inputs, n_outputs) = (subject.inputs.len(), subject.outputs.len());
    let mut list = Vec::new();
    let pairs = (0..n_outputs).flat_map(|i| (0..n_inputs).map(move |j| (i, j)));
    let most = match model.a.n_rows() > LARGE {
        true => MOST_CHANNELS_IF_LARGE,
        false => MOST_CHANNELS,
    };
    for (i, j) in pairs.take(most) {
        list.push(ChannelFindings {
            input: subject.ask.from[j].column.name.clone(),
            output: subject.ask.to[i].column.name.clone(),
            relative_degree: markov.degree(i, j),
            order: channel_order(&model, i, j),
            path: shortest_path(subject, i, j),
            zeros: numeric_zeros(linear.as_ref(), i, j),
        });
    }
    let rank = normal_rank(&model);
    let infinite = markov.infinite_orders(rank);
    let is_square = n_inputs == n_outputs;
    let n_zeros = (is_square && rank == n_inputs && infinite.len() == rank && model.d.len() == 1)
        .then(|| model.a.n_rows() - infinite.iter().sum::<usize>());
    Ok(Channels {
        channels: list,
        rank,
        row_degrees: (0..n_outputs).map(|i| markov.row_degree(i)).collect(),
        infinite,
        n_zeros,
        is_decouplable: is_square.then(|| markov.decoupling_rank() == n_outputs),
        shape: (n_outputs, n_inputs),
        n_states: model.a.n_rows(),
    })
}

/// D of the highest order first, down to D₀, then C B, C A B, …
struct Markov {
    /// Order of the first: the number of rates of inputs that outputs read.
    n_rates: usize,
    terms: Vec<Matrix>,
}

impl Markov {
    fn new(model: &GenericModel) -> Self {
        let mut terms: Vec<Matrix> = model.d.iter().rev().cloned().collect();
        let mut power = model.b.clone();
        // What has not come through after as many integrations as there are states never does.
        for _ in 0..model.a.n_rows() {
            terms.push(model.c.times(&power));
            power = model.a.times(&power);
        }
        Markov {
            n_rates: model.d.len() - 1,
            terms,
        }
    }

    fn degree(&self, i: usize, j: usize) -> Option<i64> {
        let first = self.terms.iter().position(|t| !t[(i, j)].is_zero());
        first.map(|k| k as i64 - self.n_rates as i64)
    }

    fn row_degree(&self, i: usize) -> Option<i64> {
        let is_there = |t: &Matrix| t.row(i).iter().any(|x| !x.is_zero());
        let first = self.terms.iter().position(is_there);
        first.map(|k| k as i64 - self.n_rates as i64)
    }

    /// The rank of the matrix of first Markov parameters of each row (Falb & Wolovich 1967).
    fn decoupling_rank(&self) -> usize {
        let n_outputs = self.terms[0].n_rows();
        let n_inputs = self.terms[0].n_columns();
        let first: Vec<Option<usize>> = (0..n_outputs)
            .map(|i| {
                let is_there = |t: &Matrix| t.row(i).iter().any(|x| !x.is_zero());
                self.terms.iter().position(is_there)
            })
            .collect();
        Matrix::from_fn(n_outputs, n_inputs, |i, j| match first[i] {
            Some(k) => self.terms[k][(i, j)],
            None => Number::ZERO,
        })
        .rank()
    }

    /// Orders of zeros at infinity: rank of the k-th block Toeplitz matrix less that of the one before is the number of
    /// orders up to k.
    fn infinite_orders(&self, rank: usize) -> Vec<usize> {
        let (p, m) = (self.terms[0].n_rows(), self.terms[0].n_columns());
        let mut orders: Vec<usize> = Vec::new();
        let mut before = 0;
        for k in 0..self.terms.len() {
            let n = k + 1;
            let toeplitz = Matrix::from_fn(n * p, n * m, |i, j| {
                let (block_i, block_j) = (i / p, j / m);
                match block_i >= block_j {
                    true => self.terms[block_i - block_j][(i % p, j % m)],
                    false => Number::ZERO,
                }
            });
            let now = toeplitz.rank();
            let n_up_to = now - before;
            before = now;
            while orders.len() < n_up_to {
                orders.push(k);
            }
            if orders.len() >= rank {
                break;
            }
        }
        orders
    }
}

/// The rank of the transfer matrix at almost all s, from that of the system matrix.
fn normal_rank(model: &GenericModel) -> usize {
    let s = Number::random(7, 7);
    let n = model.a.n_rows();
    let (p, m) = (model.c.n_rows(), model.b.n_columns());
    let direct = |i: usize, j: usize| {
        let mut sum = Number::ZERO;
        for d in model.d.iter().rev() {
            sum = sum * s + d[(i, j)];
        }
        sum
    };
    let system = Matrix::from_fn(n + p, n + m, |i, j| match (i < n, j < n) {
        (true, true) if i == j => model.a[(i, j)] - s,
        (true, true) => model.a[(i, j)],
        (true, false) => model.b[(i, j - n)],
        (false, true) => model.c[(i - n, j)],
        (false, false) => direct(i - n, j - n),
    });
    system.rank() - n
}

/// The order of one transfer function: the rank of what its output sees of what its input reaches.
fn channel_order(model: &GenericModel, i: usize, j: usize) -> usize {
    let reached = krylov(&model.a, &model.b.columns(&[j])).vectors();
    let seen = krylov(&model.a.transposed(), &model.c.rows(&[i]).transposed()).vectors();
    let n = model.a.n_rows();
    let reached = Matrix::from_fn(n, reached.len(), |r, c| reached[c][r]);
    let seen = Matrix::from_fn(seen.len(), n, |r, c| seen[r][c]);
    seen.times(&reached).rank()
}

fn shortest_path(subject: &Subject<'_>, i: usize, j: usize) -> Option<(u32, Vec<String>)> {
    let graph = subject.graph();
    let starts = set_by(graph, &subject.causality, subject.inputs[j]);
    let n_symbols = graph.signals.symbols.len();
    let reached = reach(&subject.links, n_symbols, &starts, Way::Forward);
    let ends = read_by(graph, subject.outputs[i]);
    let nearest = ends
        .into_iter()
        .filter_map(|s| Some((reached.integrations(s)?, s)))
        .min()?;
    let names = names_along(graph, &subject.links, &reached.path(nearest.1));
    Some((nearest.0, names))
}

fn numeric_zeros(
    linear: Result<&Linearization, &String>,
    i: usize,
    j: usize,
) -> Result<Vec<Complex>, String> {
    let linear = linear.map_err(String::clone)?;
    match zeros(&linear.model.channel(j, i)) {
        Ok(Some(list)) => Ok(list),
        Ok(None) => Err("nothing passes with these numbers".to_owned()),
        Err(_) => Err("they could not be computed".to_owned()),
    }
}
