//! Points at which laws are tried.
//!
//! In:  the symbols of a graph.
//! Out: the value of any expression with parameters at their values and everything else at
//!      fixed pseudo-random values, the same on every run and machine.
//!
//! **Invariant:** points come in pairs x and −x, so that the sign of a bare signal is never
//! the same at all of them.

use paynter_symbolic::evaluate::Evaluator;
use paynter_symbolic::walk::for_each_argument;
use paynter_symbolic::{ExprId, Node, Pool, Role, Symbol, SymbolId};

/// Sizes of the values at the points, in units of a symbol's typical size: laws may be harmless
/// when small and not when large, or the other way round.
const SIZES: [f64; 4] = [1.0, 0.1, 1e-3, 10.0];

/// Number of points: each size with both signs.
pub(super) const N_POINTS: usize = 2 * SIZES.len();

/// A table of points.
pub(super) struct Points {
    symbols: Vec<Sampled>,
    evaluators: [Evaluator; N_POINTS],
    /// For each expression whether it reads anything but parameters; filled as the pool grows.
    varies: Vec<bool>,
}

/// How a symbol gets its values.
#[derive(Clone, Copy)]
enum Sampled {
    Parameter(f64),
    Time,
    /// Of this typical size.
    Varying(f64),
}

impl Points {
    pub(super) fn new(pool: &Pool, symbols: &[Symbol]) -> Self {
        let sampled = |s: &Symbol| match s.role {
            Role::Parameter { value, .. } => Sampled::Parameter(value),
            Role::Time => Sampled::Time,
            _ => Sampled::Varying(if s.nominal > 0.0 { s.nominal } else { 1.0 }),
        };
        let mut points = Points {
            symbols: symbols.iter().map(sampled).collect(),
            evaluators: std::array::from_fn(|_| Evaluator::new()),
            varies: Vec::with_capacity(pool.len()),
        };
        points.catch_up(pool);
        points
    }

    /// Arguments have smaller ids, so one pass over new nodes suffices.
    fn catch_up(&mut self, pool: &Pool) {
        for index in self.varies.len()..pool.len() {
            let id = ExprId(index as u32);
            let mut varies = match pool.node(id) {
                Node::Symbol(s) => {
                    !matches!(self.symbols.get(s.0 as usize), Some(Sampled::Parameter(_)))
                }
                _ => false,
            };
            for_each_argument(pool, id, |a| varies |= self.varies[a.0 as usize]);
            self.varies.push(varies);
        }
    }

    /// Tells whether an expression reads parameters only.
    pub(super) fn is_constant(&mut self, pool: &Pool, e: ExprId) -> bool {
        self.catch_up(pool);
        !self.varies[e.0 as usize]
    }

    /// The value of an expression that reads parameters only; NaN if it has none.
    pub(super) fn constant(&mut self, pool: &Pool, e: ExprId) -> Option<f64> {
        self.is_constant(pool, e)
            .then(|| self.evaluate(pool, e, 0).unwrap_or(f64::NAN))
    }

    /// The value at a point; `None` where it is not finite.
    pub(super) fn at(&mut self, pool: &Pool, e: ExprId, point: usize) -> Option<f64> {
        self.evaluate(pool, e, point).filter(|x| x.is_finite())
    }

    fn evaluate(&mut self, pool: &Pool, e: ExprId, point: usize) -> Option<f64> {
        let symbols = &self.symbols;
        let env = |s: SymbolId| value_at(symbols, s, point);
        self.evaluators[point].evaluate(pool, e, &env).ok()
    }

    /// The value of a symbol at a point.
    pub(super) fn symbol(&self, s: SymbolId, point: usize) -> f64 {
        value_at(&self.symbols, s, point)
    }
}

fn value_at(symbols: &[Sampled], s: SymbolId, point: usize) -> f64 {
    let index = s.0 as usize;
    match symbols.get(index) {
        Some(Sampled::Parameter(value)) => *value,
        Some(Sampled::Time) => random(index, point / 2).abs(),
        Some(Sampled::Varying(typical)) => {
            let sign = if point.is_multiple_of(2) { 1.0 } else { -1.0 };
            sign * typical * SIZES[point / 2] * random(index, point / 2)
        }
        None => f64::NAN,
    }
}

/// A number between 0.5 and 1.5, or its negative: never near zero, where products vanish.
fn random(index: usize, point: usize) -> f64 {
    // SplitMix64 (Steele, Lea & Flood 2014): every bit of the input reaches every bit out.
    let mut z = (index as u64)
        .wrapping_mul(SIZES.len() as u64)
        .wrapping_add(point as u64 + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let size = 0.5 + (z >> 12) as f64 / (1u64 << 52) as f64;
    if z & 1 == 0 { size } else { -size }
}
