//! Energy of a storage by quadrature of its law, from an anchor to the present.
//!
//! In:  the law of each port, as a function of the stored quantities (or of the efforts, where it is given so).
//! Out: an external function of the present arguments, the anchor and the energy there. It gives the energy at present,
//!      the panels that this took and what is open about it.
//!
//! **Invariant:** bounded work, whatever the law does. Where the law has no value on the way, the energy is not a number
//! and the doubt infinite; nothing is made up.

use paynter_symbolic::evaluate::Evaluator;
use paynter_symbolic::expr::{External, Function1, Function2, Node, Pool};
use paynter_symbolic::{ExprId, SymbolId, walk};

/// Output: energy at present, J.
pub(super) const ENERGY: usize = 0;
/// Output: number of panels that were summed.
pub(super) const PANELS: usize = 1;
/// Output: what the energy may be wrong by, J.
pub(super) const DOUBT: usize = 2;

/// The law of one port.
pub(super) struct PortLaw {
    /// What it is a function of.
    pub argument: SymbolId,
    /// What it gives.
    pub value: ExprId,
    /// It gives the stored quantity, as a function of the effort or flow.
    pub gives_stored: bool,
}

/// Work along the straight line from the anchor to the present.
///
/// With direct ports e(q) and inverse ports q(e), G = H − Σ e q (over inverse ports) has the differential
/// dG = Σ e dq − Σ q de, so that H follows from a line integral of what the laws give.
#[derive(Debug)]
pub(super) struct LineWork {
    /// The laws alone.
    pool: Pool,
    laws: Vec<ExprId>,
    gives_stored: Vec<bool>,
    /// Where one of these changes sign the law has a corner: the line is cut there, since a
    /// corner between the points of a quadrature rule would not be seen.
    switches: Vec<ExprId>,
    /// What the laws read: the arguments of the ports, then the rest.
    symbols: Vec<SymbolId>,
}

/// Part of the whole work to which the adaptive rule refines: below what any audit looks at.
const WORK_TOLERANCE: f64 = 1e-13;
/// A switch this near to zero, as a part of its values at the ends, lies on the cut.
const ON_CUT: f64 = 1e-13;
/// Halvings of the line; a kink is then enclosed in 2⁻⁴⁰ of it.
const MAX_DEPTH: u32 = 40;
/// Panels of one call: some hundred corners or oscillations. A run moves its anchor long before.
const MOST_PANELS: usize = 4096;
/// So many panels without a value are not a single point any more, but a gap in the law.
const MOST_EMPTY_PANELS: usize = 64;

impl LineWork {
    pub(super) fn new(pool: &Pool, ports: &[PortLaw]) -> Self {
        let values: Vec<ExprId> = ports.iter().map(|port| port.value).collect();
        let mut symbols: Vec<SymbolId> = ports.iter().map(|port| port.argument).collect();
        for &value in &values {
            for symbol in walk::symbols_of(pool, value) {
                if !symbols.contains(&symbol) {
                    symbols.push(symbol);
                }
            }
        }
        let (pool, laws) = pool.extract_all(&values);
        let (pool, switches) = switch_differences(pool, &laws);
        LineWork {
            pool,
            laws,
            gives_stored: ports.iter().map(|port| port.gives_stored).collect(),
            switches,
            symbols,
        }
    }

    /// What the laws read beside their arguments.
    pub(super) fn others(&self) -> &[SymbolId] {
        &self.symbols[self.laws.len()..]
    }
}

/// What changes sign where a law has a corner: a − b of every comparison, a of |a| …
fn switch_differences(mut pool: Pool, roots: &[ExprId]) -> (Pool, Vec<ExprId>) {
    let mut differences = Vec::new();
    for id in walk::below(&pool, roots) {
        let difference = match pool.node(id) {
            Node::Compare(_, a, b) | Node::Call2(Function2::Min | Function2::Max, a, b) => {
                pool.sub(a, b)
            }
            Node::Call1(Function1::Abs | Function1::Sign, a) => a,
            _ => continue,
        };
        differences.push(difference);
    }
    differences.sort_unstable();
    differences.dedup();
    (pool, differences)
}

/// One call: the line, and room to evaluate on it.
struct Line<'a> {
    work: &'a LineWork,
    present: &'a [f64],
    anchor: &'a [f64],
    others: &'a [f64],
    evaluator: Evaluator,
}

/// A part of the line, from one share of it to another.
#[derive(Clone, Copy)]
struct Panel {
    from: f64,
    to: f64,
    value: f64,
    depth: u32,
}

/// An integral, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Integral {
    value: f64,
    n_panels: usize,
    doubt: f64,
}

impl<'a> Line<'a> {
    fn new(work: &'a LineWork, inputs: &'a [f64]) -> (Self, f64) {
        let n = work.laws.len();
        let line = Line {
            work,
            present: &inputs[..n],
            anchor: &inputs[n..2 * n],
            others: &inputs[2 * n + 1..],
            evaluator: Evaluator::new(),
        };
        (line, inputs[2 * n])
    }

    /// An expression at the part u of the line; not a number where it has no value.
    fn at(&mut self, e: ExprId, u: f64) -> f64 {
        let n = self.present.len();
        let (work, present, anchor, others) = (self.work, self.present, self.anchor, self.others);
        let env = |symbol: SymbolId| {
            let place = work.symbols.iter().position(|&s| s == symbol);
            match place.expect("every symbol of the laws is listed") {
                k if k >= n => others[k - n],
                k if u == 1.0 => present[k],
                k => anchor[k] + u * (present[k] - anchor[k]),
            }
        };
        let value = self.evaluator.evaluate(&work.pool, e, &env);
        // A table that ends has no value beyond.
        value.unwrap_or(f64::NAN)
    }

    /// dG/du at u.
    fn integrand(&mut self, u: f64) -> f64 {
        self.evaluator.restart();
        let work = self.work;
        let mut sum = 0.0;
        for (k, &law) in work.laws.iter().enumerate() {
            let way = self.present[k] - self.anchor[k];
            if way != 0.0 {
                let term = way * self.at(law, u);
                sum += if work.gives_stored[k] { -term } else { term };
            }
        }
        sum
    }

    /// Σ e q over the ports whose law gives q.
    fn products(&mut self, u: f64) -> f64 {
        self.evaluator.restart();
        let work = self.work;
        let mut sum = 0.0;
        for (k, &law) in work.laws.iter().enumerate() {
            if work.gives_stored[k] {
                let argument = if u == 1.0 {
                    self.present[k]
                } else {
                    self.anchor[k]
                };
                sum += argument * self.at(law, u);
            }
        }
        sum
    }

    fn switch(&mut self, difference: ExprId, u: f64) -> f64 {
        self.evaluator.restart();
        self.at(difference, u)
    }

    /// Ends of the smooth pieces of the line, 0 and 1 included.
    fn cuts(&mut self) -> Vec<f64> {
        let mut cuts = vec![0.0, 1.0];
        for &difference in &self.work.switches {
            let (mut low, mut high) = (0.0, 1.0);
            let (first, last) = (self.switch(difference, low), self.switch(difference, high));
            if first == 0.0 || last == 0.0 || (first > 0.0) == (last > 0.0) {
                continue;
            }
            // Straight for almost every law: then the first guess is exact.
            let guess = first / (first - last);
            if self.switch(difference, guess).abs() <= ON_CUT * first.abs().max(last.abs()) {
                cuts.push(guess);
                continue;
            }
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if self.switch(difference, middle) * first > 0.0 {
                    low = middle
                } else {
                    high = middle
                }
            }
            cuts.push(0.5 * (low + high));
        }
        cuts.sort_by(f64::total_cmp);
        cuts
    }

    /// Five-point Gauss–Legendre on a part of the line; no end points, so that a law may be infinite there.
    fn gauss(&mut self, a: f64, b: f64) -> f64 {
        // Nodes and weights of the 5-point rule (Abramowitz & Stegun, table 25.4).
        const X: [f64; 3] = [0.0, 0.538_469_310_105_683_1, 0.906_179_845_938_664];
        const W: [f64; 3] = [
            0.568_888_888_888_888_9,
            0.478_628_670_499_366_47,
            0.236_926_885_056_189_1,
        ];
        let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
        let mut sum = W[0] * self.integrand(middle);
        for i in 1..3 {
            let pair = self.integrand(middle - half * X[i]) + self.integrand(middle + half * X[i]);
            sum += W[i] * pair;
        }
        sum * half
    }

    /// G between the ends of the line. `size` is an energy against whose rounding the work may be small.
    fn integrate(&mut self, size: f64) -> Integral {
        let mut open = Vec::new();
        let mut scale = 0.0f64;
        for piece in self.cuts().windows(2).rev() {
            let value = self.gauss(piece[0], piece[1]);
            if value.is_finite() {
                scale += value.abs();
            }
            open.push(Panel {
                from: piece[0],
                to: piece[1],
                value,
                depth: 0,
            });
        }

        let mut total = Integral {
            value: 0.0,
            n_panels: 0,
            doubt: 0.0,
        };

        let mut n_empty = 0;
        while let Some(panel) = open.pop() {
            let middle = 0.5 * (panel.from + panel.to);
            let left = self.gauss(panel.from, middle);
            let right = self.gauss(middle, panel.to);
            let error = (left + right - panel.value).abs();
            scale = scale.max((total.value + left + right).abs());
            n_empty += usize::from(!error.is_finite());
            total.n_panels += 1;
            if n_empty > MOST_EMPTY_PANELS {
                break;
            }
            let is_last = panel.depth >= MAX_DEPTH || total.n_panels >= MOST_PANELS;
            if is_last || error <= WORK_TOLERANCE * scale.max(size) {
                total.value += left + right;
                total.doubt += error;
                continue;
            }
            for (from, to, value) in [(middle, panel.to, right), (panel.from, middle, left)] {
                open.push(Panel {
                    from,
                    to,
                    value,
                    depth: panel.depth + 1,
                });
            }
        }

        if !total.value.is_finite() || n_empty > MOST_EMPTY_PANELS {
            total.value = f64::NAN;
            total.doubt = f64::INFINITY;
        }
        total
    }
}

impl External for LineWork {
    fn name(&self) -> &str {
        "stored_energy"
    }

    fn n_inputs(&self) -> usize {
        2 * self.laws.len() + 1 + self.others().len()
    }

    fn n_outputs(&self) -> usize {
        3
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        let (mut line, energy_at_anchor) = Line::new(self, inputs);
        if line.present == line.anchor {
            outputs.copy_from_slice(&[energy_at_anchor, 0.0, 0.0]);
            return Ok(());
        }
        let work = line.integrate(energy_at_anchor.abs());
        let products = if self.gives_stored.contains(&true) {
            line.products(1.0) - line.products(0.0)
        } else {
            0.0
        };
        outputs[ENERGY] = energy_at_anchor + (products + work.value);
        outputs[PANELS] = work.n_panels as f64;
        outputs[DOUBT] = work.doubt;
        Ok(())
    }

    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        slopes.fill(0.0);
        let n = self.laws.len();
        slopes[2 * n] = 1.0;
        // dH = Σ e dq: the law itself, exactly.
        let is_direct = !self.gives_stored.contains(&true);
        if is_direct {
            let (mut line, _) = Line::new(self, inputs);
            for (slope, &law) in slopes.iter_mut().zip(&self.laws) {
                *slope = line.at(law, 1.0);
            }
        }
        // Central differences for the rest: nothing but the audit and `.stored` read this energy, and no Newton
        // depends on it.
        let rest = (0..n).filter(|_| !is_direct);
        let mut shifted = inputs.to_vec();
        for i in rest.chain(2 * n + 1..inputs.len()) {
            let h = f64::EPSILON.cbrt() * inputs[i].abs().max(1e-6);
            let mut out = [0.0; 3];
            shifted[i] = inputs[i] + h;
            self.call(&shifted, &mut out)?;
            let above = out[ENERGY];
            shifted[i] = inputs[i] - h;
            self.call(&shifted, &mut out)?;
            slopes[i] = (above - out[ENERGY]) / (2.0 * h);
            shifted[i] = inputs[i];
        }
        Ok(())
    }
}
