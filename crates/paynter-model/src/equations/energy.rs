//! Power and stored energy of every element, for the first-law audit.
//!
//! In:  elements with their laws.
//! Out: a [`PowerPort`] for each; stored energy comes from the law, never from ∫ e f dt,
//!      so that the audit can see an error in the equations.

use super::Writer;
use crate::graph::{BondId, Element, ElementId, ElementKind, End, Law, Variable};
use paynter_symbolic::dae::{EnergyRole, PowerPort};
use paynter_symbolic::expr::{External, Function1, Function2, Node, Pool};
use paynter_symbolic::{ExprId, Names, SymbolId, evaluate, walk};
use std::sync::Arc;

/// Adds a power port for every element that is not a junction.
pub(super) fn write_power(w: &mut Writer) {
    for index in 0..w.graph.elements.len() {
        let id = ElementId(index as u32);
        let element = w.graph.element(id);
        let role = match element.kind {
            ElementKind::Zero | ElementKind::One => continue,
            _ if element.is_unpowered => EnergyRole::Unpowered,
            ElementKind::Se | ElementKind::Sf => EnergyRole::Source,
            ElementKind::R | ElementKind::Sw | ElementKind::D => EnergyRole::Dissipator,
            ElementKind::C | ElementKind::I => EnergyRole::Storage,
            ElementKind::Tf | ElementKind::Gy | ElementKind::Rs => EnergyRole::Conserving,
        };
        let power = w.element_power(id);
        let energy = (role == EnergyRole::Storage).then(|| w.stored_energy(id));
        let name = element.name.unwrap_or(Names::ROOT);
        w.dae.power.push(PowerPort {
            name,
            role,
            power,
            energy,
            origin: element.origin,
        });
    }
}

impl Writer<'_> {
    /// Tells whether the flow of this bond is itself a power.
    pub(super) fn is_pseudo(&self, bond: BondId) -> bool {
        let domain = self.graph.bond(bond).domain;
        domain.is_some_and(|d| {
            self.graph
                .domains
                .get(d.0 as usize)
                .is_some_and(|d| d.is_pseudo)
        })
    }

    /// Power along the arrow of a bond.
    pub(super) fn bond_power(&mut self, bond: BondId) -> ExprId {
        let flow = self.flow(bond);
        if self.is_pseudo(bond) {
            return flow;
        }
        let effort = self.effort(bond);
        self.dae.pool.mul(effort, flow)
    }

    /// Net power into an element; for a source, out of it.
    pub(super) fn element_power(&mut self, id: ElementId) -> ExprId {
        let element = self.graph.element(id);
        let is_source = matches!(element.kind, ElementKind::Se | ElementKind::Sf);
        let mut total = self.dae.pool.number(0.0);
        // Heat that a pseudo resistor conducts goes on along the other bonds: nothing is lost in it.
        if element.kind == ElementKind::R && element.ports.iter().all(|&bond| self.is_pseudo(bond))
        {
            return total;
        }
        for (port, &bond) in element.ports.iter().enumerate() {
            let enters = self.graph.points_in(
                bond,
                End {
                    element: id,
                    port: port as u32,
                },
            );
            let power = self.bond_power(bond);
            total = if enters == is_source {
                self.dae.pool.sub(total, power)
            } else {
                self.dae.pool.add(total, power)
            };
        }
        total
    }

    /// Energy in a storage, from its law.
    pub(super) fn stored_energy(&mut self, id: ElementId) -> ExprId {
        let element = self.graph.element(id);
        // In a pseudo domain the flow is the power, so the charge is the energy.
        if element.ports.iter().all(|&bond| self.is_pseudo(bond)) {
            let states: Vec<ExprId> = element
                .states
                .iter()
                .map(|&s| self.dae.pool.symbol(s))
                .collect();
            let zero = self.dae.pool.number(0.0);
            return states
                .into_iter()
                .fold(zero, |sum, q| self.dae.pool.add(sum, q));
        }
        match &element.law {
            Law::Explicit(entries) => explicit_energy(self, element, entries),
            Law::Gain(gain) if element.ports.len() == 1 => {
                // H = q²/(2C), p²/(2I)
                let stored = self.dae.pool.symbol(element.states[0]);
                let square = self.dae.pool.powi(stored, 2);
                let two = self.dae.pool.number(2.0);
                let below = self.dae.pool.mul(two, *gain);
                self.dae.pool.div(square, below)
            }
            // Linear laws of any number of ports: H = ½ Σ eᵢ qᵢ or ½ Σ fᵢ pᵢ.
            _ => {
                let mut sum = self.dae.pool.number(0.0);
                for (port, &state) in element.states.iter().enumerate() {
                    let answer = match element.kind {
                        ElementKind::C => self.effort(element.ports[port]),
                        _ => self.flow(element.ports[port]),
                    };
                    let stored = self.dae.pool.symbol(state);
                    let term = self.dae.pool.mul(answer, stored);
                    sum = self.dae.pool.add(sum, term);
                }
                let half = self.dae.pool.number(0.5);
                self.dae.pool.mul(half, sum)
            }
        }
    }
}

/// H of a law written out: the work along the straight line from 0,
/// H(q) = ∫₀¹ Σ qᵢ eᵢ(u q) du; for a law q(e), H = Σ eᵢ qᵢ − ∫₀¹ Σ eᵢ qᵢ(u e) du.
///
/// The path does not matter for a reciprocal law, and elaboration refuses others.
fn explicit_energy(
    w: &mut Writer,
    element: &Element,
    entries: &[(u32, Variable, ExprId)],
) -> ExprId {
    let gives_stored = entries
        .iter()
        .all(|&(_, variable, _)| variable == Variable::Stored);
    let scaled: Vec<SymbolId> = entries
        .iter()
        .map(|&(port, ..)| {
            let bond = w.graph.bond(element.ports[port as usize]);
            match (gives_stored, element.kind) {
                (false, _) => element.states[port as usize],
                (true, ElementKind::C) => bond.effort,
                (true, _) => bond.flow,
            }
        })
        .collect();
    let mut products = w.dae.pool.number(0.0);
    let mut law_sum = w.dae.pool.number(0.0);
    for (&(port, _, value), &symbol) in entries.iter().zip(&scaled) {
        let x = w.dae.pool.symbol(symbol);
        let term = w.dae.pool.mul(x, value);
        law_sum = w.dae.pool.add(law_sum, term);
        let stored = w.dae.pool.symbol(element.states[port as usize]);
        let product = w.dae.pool.mul(x, stored);
        products = w.dae.pool.add(products, product);
    }
    let work = line_work(w, &scaled, law_sum);
    if gives_stored {
        w.dae.pool.sub(products, work)
    } else {
        work
    }
}

/// ∫₀¹ g(u x)/u du with g(x) = Σ xᵢ lawᵢ(x), as an external function of the scaled symbols and
/// of whatever else the law reads.
fn line_work(w: &mut Writer, scaled: &[SymbolId], law_sum: ExprId) -> ExprId {
    let mut inputs = scaled.to_vec();
    inputs.extend(
        walk::symbols_of(&w.dae.pool, law_sum)
            .into_iter()
            .filter(|s| !scaled.contains(s)),
    );
    let (pool, root) = w.dae.pool.extract(law_sum);
    let (pool, switches) = switch_differences(pool, root);
    let work = LineWork {
        pool,
        root,
        switches,
        inputs: inputs.clone(),
        n_scaled: scaled.len(),
    };
    let args: Vec<ExprId> = inputs.iter().map(|&s| w.dae.pool.symbol(s)).collect();
    let external = w.dae.pool.add_external(Arc::new(work));
    w.dae.pool.call_external(external, &args, 0)
}

/// What changes sign where the law has a corner: a − b of every comparison, a of |a| …
fn switch_differences(mut pool: Pool, root: ExprId) -> (Pool, Vec<ExprId>) {
    let mut differences = Vec::new();
    for id in walk::below(&pool, &[root]) {
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

/// Work done along the straight line from 0 to the present charge.
#[derive(Debug)]
struct LineWork {
    /// The law alone.
    pool: Pool,
    root: ExprId,
    /// Where one of these changes sign the law has a corner: the line is cut there, since a
    /// corner between the points of a quadrature rule would not be seen.
    switches: Vec<ExprId>,
    inputs: Vec<SymbolId>,
    n_scaled: usize,
}

/// Part of the whole work to which the adaptive rule refines: below what any audit looks at.
const WORK_TOLERANCE: f64 = 1e-13;
/// A switch this near to zero, as a part of its values at the ends, lies on the cut.
const ON_CUT: f64 = 1e-13;
/// Halvings of the line; a kink is then enclosed in 2⁻⁴⁰ of it.
const MAX_DEPTH: u32 = 40;

impl LineWork {
    /// The integrand Σ xᵢ lawᵢ(u x) at u.
    fn integrand(&self, u: f64, inputs: &[f64]) -> Result<f64, String> {
        // law_sum(u x) = Σ u xᵢ lawᵢ(u x), so dividing by u leaves the integrand.
        Ok(self.at(self.root, u, inputs)? / u)
    }

    /// An expression at the part u of the line.
    fn at(&self, e: ExprId, u: f64, inputs: &[f64]) -> Result<f64, String> {
        evaluate::evaluate(&self.pool, e, &|symbol| {
            let position = self
                .inputs
                .iter()
                .position(|&s| s == symbol)
                .expect("inputs list every symbol");
            if position < self.n_scaled {
                u * inputs[position]
            } else {
                inputs[position]
            }
        })
    }

    /// Ends of the smooth pieces of the line, 0 and 1 included.
    fn cuts(&self, inputs: &[f64]) -> Result<Vec<f64>, String> {
        let mut cuts = vec![0.0, 1.0];
        for &difference in &self.switches {
            let (mut low, mut high) = (0.0, 1.0);
            let (first, last) = (
                self.at(difference, low, inputs)?,
                self.at(difference, high, inputs)?,
            );
            if first == 0.0 || last == 0.0 || (first > 0.0) == (last > 0.0) {
                continue;
            }
            // Straight for almost every law: then the first guess is exact.
            let guess = first / (first - last);
            if self.at(difference, guess, inputs)?.abs() <= ON_CUT * first.abs().max(last.abs()) {
                cuts.push(guess);
                continue;
            }
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if self.at(difference, middle, inputs)? * first > 0.0 {
                    low = middle
                } else {
                    high = middle
                }
            }
            cuts.push(0.5 * (low + high));
        }
        cuts.sort_by(f64::total_cmp);
        Ok(cuts)
    }

    /// Five-point Gauss–Legendre on [a, b]; no end points, so u = 0 is never asked for.
    fn gauss(&self, a: f64, b: f64, inputs: &[f64]) -> Result<f64, String> {
        // Nodes and weights of the 5-point rule (Abramowitz & Stegun, table 25.4).
        const X: [f64; 3] = [0.0, 0.538_469_310_105_683_1, 0.906_179_845_938_664];
        const W: [f64; 3] = [
            0.568_888_888_888_888_9,
            0.478_628_670_499_366_47,
            0.236_926_885_056_189_1,
        ];
        let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
        let mut sum = W[0] * self.integrand(middle, inputs)?;
        for i in 1..3 {
            sum += W[i]
                * (self.integrand(middle - half * X[i], inputs)?
                    + self.integrand(middle + half * X[i], inputs)?);
        }
        Ok(sum * half)
    }
}

impl External for LineWork {
    fn name(&self) -> &str {
        "stored_energy"
    }

    fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    fn n_outputs(&self) -> usize {
        1
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        outputs[0] = 0.0;
        if inputs[..self.n_scaled].iter().all(|&x| x == 0.0) {
            return Ok(());
        }
        let mut open = Vec::new();
        let mut scale = 0.0f64;
        for piece in self.cuts(inputs)?.windows(2).rev() {
            let whole = self.gauss(piece[0], piece[1], inputs)?;
            scale += whole.abs();
            open.push((piece[0], piece[1], whole, 0u32));
        }
        let mut total = 0.0;
        while let Some((a, b, coarse, depth)) = open.pop() {
            let middle = 0.5 * (a + b);
            let left = self.gauss(a, middle, inputs)?;
            let right = self.gauss(middle, b, inputs)?;
            scale = scale.max((total + left + right).abs());
            if depth >= MAX_DEPTH || (left + right - coarse).abs() <= WORK_TOLERANCE * scale {
                total += left + right;
            } else {
                open.push((middle, b, right, depth + 1));
                open.push((a, middle, left, depth + 1));
            }
        }
        outputs[0] = total;
        Ok(())
    }

    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        // Central differences: nothing but the audit and `.stored` read this energy, and no Newton depends on it.
        let mut shifted = inputs.to_vec();
        for i in 0..inputs.len() {
            let h = f64::EPSILON.cbrt() * inputs[i].abs().max(1e-6);
            let mut out = [0.0];
            shifted[i] = inputs[i] + h;
            self.call(&shifted, &mut out)?;
            let above = out[0];
            shifted[i] = inputs[i] - h;
            self.call(&shifted, &mut out)?;
            slopes[i] = (above - out[0]) / (2.0 * h);
            shifted[i] = inputs[i];
        }
        Ok(())
    }
}
