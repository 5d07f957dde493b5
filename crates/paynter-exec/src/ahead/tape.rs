//! Functions of time as a list of operations that can be run over a whole stretch of time at once.
//!
//! In:  an expression that reads time, what is held between events, and perhaps states, which then go along a line.
//! Out: a [`Tape`]: bounds of the value, slope and curvature over any stretch.
//!
//! **Invariant:** operations read earlier registers only, and those that do not depend on time come first: they are
//! computed once for each set of held values.

use std::sync::Arc;

use paynter_symbolic::dae::Role;
use paynter_symbolic::expr::{Comparison, ExprId, External, Function1, Function2, Node, SymbolId};
use paynter_symbolic::walk::for_each_argument;
use rustc_hash::FxHashMap;

use super::functions::{call1, call2, external, power};
use super::interval::{Interval, Jet};
use crate::emit::Emitter;
use crate::plan::{Plan, Source};

/// What an expression depends on, beside numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reads {
    /// What is held between events: parameters, discrete values, modes.
    Held,
    /// Time as well.
    Time,
    /// States as well.
    States,
    /// Unknowns of blocks, integrals, functions without bounds.
    More,
}

/// Remembers what expressions depend on.
#[derive(Debug)]
pub(crate) struct Dependences {
    known: FxHashMap<ExprId, Reads>,
    /// Positions of the states among the variables.
    states: FxHashMap<SymbolId, usize>,
}

impl Dependences {
    pub(crate) fn of_states(states: &FxHashMap<SymbolId, usize>) -> Self {
        Dependences {
            known: FxHashMap::default(),
            states: states.clone(),
        }
    }

    /// Tells what an expression depends on.
    pub(crate) fn of(&mut self, plan: &Plan, e: ExprId) -> Reads {
        let mut stack = vec![(e, false)];
        while let Some((e, is_ready)) = stack.pop() {
            if is_ready {
                let reads = self.look(plan, e);
                self.known.insert(e, reads);
                continue;
            }
            if self.known.contains_key(&e) {
                continue;
            }
            // Until known otherwise it may read anything, which also ends definitions in a cycle.
            self.known.insert(e, Reads::More);
            stack.push((e, true));
            for_each_input(plan, e, |a| stack.push((a, false)));
        }
        self.known[&e]
    }

    fn look(&self, plan: &Plan, e: ExprId) -> Reads {
        let mut reads = match plan.dae.pool.node(e) {
            Node::Symbol(s) if plan.sources[s.0 as usize] == Source::Input => {
                match plan.dae.symbols[s.0 as usize].role {
                    Role::Time => Reads::Time,
                    Role::Parameter { .. }
                    | Role::Discrete { .. }
                    | Role::Mode { .. }
                    | Role::Pre { .. } => Reads::Held,
                    _ if self.states.contains_key(&s) => Reads::States,
                    _ => Reads::More,
                }
            }
            Node::Symbol(s) => match plan.sources[s.0 as usize] {
                Source::Forward(_) | Source::Assign(_) => Reads::Held,
                _ => Reads::More,
            },
            Node::External(f, args, _) => {
                let has_bounds = plan.dae.pool.external(f).range(0.0, 0.0).is_some();
                let is_plain = plan.dae.pool.args(args).len() == 1 && has_bounds;
                if is_plain { Reads::Held } else { Reads::More }
            }
            Node::ExternalSlope(..) => Reads::More,
            _ => Reads::Held,
        };
        for_each_input(plan, e, |a| reads = reads.max(self.known[&a]));
        reads
    }
}

/// Visits what a node is computed from: its arguments, or what a name stands for.
pub(crate) fn for_each_input(plan: &Plan, e: ExprId, mut f: impl FnMut(ExprId)) {
    match plan
        .dae
        .pool
        .as_symbol(e)
        .map(|s| plan.sources[s.0 as usize])
    {
        Some(Source::Forward(value) | Source::Assign(value)) => f(value),
        Some(_) => {}
        None => for_each_argument(&plan.dae.pool, e, f),
    }
}

/// One operation; operands are registers.
#[derive(Clone, Debug)]
enum Op {
    Time,
    /// A state, by its position.
    State(usize),
    /// What a slot of the machine holds.
    Slot(u32),
    Number(f64),
    Neg(u32),
    Add(u32, u32),
    Sub(u32, u32),
    Mul(u32, u32),
    Div(u32, u32),
    Power(u32, u32),
    Call1(Function1, u32),
    Call2(Function2, u32, u32),
    Compare(Comparison, u32, u32),
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    Select(u32, u32, u32),
    External(Arc<dyn External>, u32),
}

/// A function of time.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    ops: Vec<Op>,
    /// So many of them do not depend on time.
    n_held: usize,
    result: u32,
    /// The slots it reads.
    pub slots: Vec<u32>,
}

/// States that go along a line or a parabola: where they were at `t0`, how fast they move from one end to the other,
/// and how much they bend: y₀ + s τ + c τ (h − τ).
#[derive(Clone, Debug, Default)]
pub(crate) struct Drift {
    pub t0: f64,
    pub h: f64,
    pub y0: Vec<f64>,
    pub slopes: Vec<f64>,
    /// Empty for lines.
    pub bends: Vec<f64>,
}

impl Drift {
    fn state(&self, k: usize, t: Interval) -> Jet {
        let slope = Interval::point(self.slopes[k]);
        let passed = t.sub(Interval::point(self.t0));
        let bend = self.bends.get(k).copied().unwrap_or(0.0);
        if bend == 0.0 {
            return Jet {
                value: Interval::point(self.y0[k]).add(slope.mul(passed)),
                slope,
                curve: Interval::ZERO,
            };
        }
        let left = Interval::point(self.h).sub(passed);
        let slope_now = slope.add(left.sub(passed).scale(bend));
        // Around the middle m of the stretch: y(m) + y′ (t − m).
        let middle = passed.middle();
        let there = middle * (self.slopes[k] + bend * (self.h - middle));
        let reach = passed.sub(Interval::point(middle));
        Jet {
            value: Interval::point(self.y0[k] + there).add(slope_now.mul(reach)),
            slope: slope_now,
            curve: Interval::point(-2.0 * bend),
        }
    }
}

impl Tape {
    /// Writes the tape of an expression that reads nothing but time and what is held.
    pub(crate) fn new(emitter: &mut Emitter, dependences: &mut Dependences, e: ExprId) -> Tape {
        let mut writer = Writer {
            held: Vec::new(),
            moving: Vec::new(),
            registers: FxHashMap::default(),
            slots: Vec::new(),
        };
        let mut stack = vec![(e, false)];
        while let Some((e, is_ready)) = stack.pop() {
            if writer.registers.contains_key(&e) {
                continue;
            }
            if is_ready {
                writer.write(emitter, dependences, e);
            } else {
                stack.push((e, true));
                for_each_input(&emitter.plan, e, |a| stack.push((a, false)));
            }
        }
        writer.finish(e)
    }

    /// Computes what does not depend on time.
    pub(crate) fn bind(&self, registers: &mut Vec<Jet>, slots: &[f64]) {
        registers.resize(self.ops.len(), Jet::ENTIRE);
        for k in 0..self.n_held {
            registers[k] = match self.ops[k] {
                Op::Slot(slot) => Jet::constant(Interval::point(slots[slot as usize])),
                ref op => apply(op, registers, Interval::ZERO, None),
            };
        }
    }

    /// Bounds the function over a stretch of time, after [`Tape::bind`].
    pub(crate) fn over(&self, registers: &mut [Jet], t: Interval) -> Jet {
        self.along(registers, t, None)
    }

    /// The same with states that drift.
    pub(crate) fn along(&self, registers: &mut [Jet], t: Interval, drift: Option<&Drift>) -> Jet {
        for k in self.n_held..self.ops.len() {
            registers[k] = apply(&self.ops[k], registers, t, drift);
        }
        registers[self.result as usize]
    }

    /// Whether it depends on more than time.
    pub(crate) fn reads_states(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::State(_)))
    }

    /// Bounds of what the last operation was done on, after [`Tape::along`].
    pub(crate) fn argument(&self, registers: &[Jet]) -> Interval {
        match self.ops[self.result as usize] {
            Op::Call1(_, a) | Op::Power(a, _) => registers[a as usize].value,
            // In parts of the divisor: what doubles or halves it bends the quotient once.
            Op::Div(_, b) => {
                let b = registers[b as usize].value;
                let nearest = b.lo.abs().min(b.hi.abs());
                match b.contains(0.0) {
                    true => Interval::ENTIRE,
                    false => Interval::new(0.0, b.width() / nearest),
                }
            }
            // An angle is its own measure.
            Op::Call2(Function2::Atan2, ..) => registers[self.result as usize].value,
            // A table has no scale of its own.
            _ => Interval::ENTIRE,
        }
    }

    /// Bounds the function at an instant: what is left is rounding.
    pub(crate) fn at(&self, registers: &mut [Jet], t: f64) -> Jet {
        self.over(registers, Interval::point(t))
    }
}

fn apply(op: &Op, registers: &[Jet], t: Interval, drift: Option<&Drift>) -> Jet {
    let r = |k: u32| registers[k as usize];
    match *op {
        Op::Time => Jet {
            value: t,
            slope: Interval::point(1.0),
            curve: Interval::ZERO,
        },
        Op::State(k) => drift.map_or(Jet::ENTIRE, |drift| drift.state(k, t)),
        Op::Slot(_) => Jet::ENTIRE,
        Op::Number(x) => Jet::constant(Interval::point(x)),
        Op::Neg(a) => r(a).neg(),
        Op::Add(a, b) => r(a).add(r(b)),
        Op::Sub(a, b) => r(a).sub(r(b)),
        Op::Mul(a, b) if a == b => {
            let a = r(a);
            let twice = a.value.scale(2.0);
            a.chain([a.value.square(), twice, Interval::point(2.0)])
        }
        Op::Mul(a, b) => r(a).mul(r(b)),
        Op::Div(a, b) => r(a).div(r(b)),
        Op::Power(a, b) => power(r(a), r(b)),
        Op::Call1(f, a) => call1(f, r(a)),
        Op::Call2(f, a, b) => call2(f, r(a), r(b)),
        Op::Compare(comparison, a, b) => compare(comparison, r(a).value.sub(r(b).value)),
        Op::Not(a) => truth(certain(r(a)).map(|is| !is)),
        Op::And(a, b) => truth(match (certain(r(a)), certain(r(b))) {
            (Some(a), Some(b)) => Some(a && b),
            (Some(false), _) | (_, Some(false)) => Some(false),
            _ => None,
        }),
        Op::Or(a, b) => truth(match (certain(r(a)), certain(r(b))) {
            (Some(a), Some(b)) => Some(a || b),
            (Some(true), _) | (_, Some(true)) => Some(true),
            _ => None,
        }),
        Op::Select(condition, a, b) => match certain(r(condition)) {
            Some(true) => r(a),
            Some(false) => r(b),
            None => Jet::jumping(r(a).value.hull(r(b).value)),
        },
        Op::External(ref function, a) => external(function.as_ref(), r(a)),
    }
}

/// Whether a truth value is known over the whole stretch.
fn certain(truth: Jet) -> Option<bool> {
    if truth.value.is_zero() {
        Some(false)
    } else {
        (!truth.value.contains(0.0)).then_some(true)
    }
}

fn truth(is: Option<bool>) -> Jet {
    match is {
        Some(is) => Jet::constant(Interval::point(f64::from(u8::from(is)))),
        None => Jet::jumping(Interval::new(0.0, 1.0)),
    }
}

fn compare(comparison: Comparison, difference: Interval) -> Jet {
    let holds_at = |x: f64| comparison.holds(x, 0.0);
    // Where one end is zero, the comparison is certain if it holds there as it does beyond.
    let is_certain = difference.has_sign()
        || difference.is_zero()
        || (difference.lo == 0.0 && holds_at(0.0) == holds_at(1.0))
        || (difference.hi == 0.0 && holds_at(0.0) == holds_at(-1.0));
    truth(is_certain.then(|| holds_at(difference.lo)))
}

/// Marks registers of what moves with time, until the number of the others is known.
const MOVING: u32 = 1 << 31;

struct Writer {
    held: Vec<Op>,
    moving: Vec<Op>,
    registers: FxHashMap<ExprId, u32>,
    slots: Vec<u32>,
}

impl Writer {
    fn write(&mut self, emitter: &mut Emitter, dependences: &mut Dependences, e: ExprId) {
        let node = emitter.plan.dae.pool.node(e);
        let r = |a: ExprId| self.registers[&a];
        let op = match node {
            Node::Number(bits) => Op::Number(f64::from_bits(bits)),
            Node::Symbol(s) => match emitter.plan.sources[s.0 as usize] {
                // Another name for the same register.
                Source::Forward(value) | Source::Assign(value) => {
                    let register = r(value);
                    self.registers.insert(e, register);
                    return;
                }
                _ if emitter.plan.dae.symbols[s.0 as usize].role == Role::Time => Op::Time,
                _ if dependences.states.contains_key(&s) => Op::State(dependences.states[&s]),
                _ => {
                    let slot = emitter.input(s);
                    self.slots.push(slot);
                    Op::Slot(slot)
                }
            },
            Node::Smooth(a) => {
                let register = r(a);
                self.registers.insert(e, register);
                return;
            }
            Node::Neg(a) => Op::Neg(r(a)),
            Node::Add(a, b) => Op::Add(r(a), r(b)),
            Node::Sub(a, b) => Op::Sub(r(a), r(b)),
            Node::Mul(a, b) => Op::Mul(r(a), r(b)),
            Node::Div(a, b) => Op::Div(r(a), r(b)),
            Node::Power(a, b) => Op::Power(r(a), r(b)),
            Node::Call1(f, a) => Op::Call1(f, r(a)),
            Node::Call2(f, a, b) => Op::Call2(f, r(a), r(b)),
            Node::Compare(c, a, b) => Op::Compare(c, r(a), r(b)),
            Node::Not(a) => Op::Not(r(a)),
            Node::And(a, b) => Op::And(r(a), r(b)),
            Node::Or(a, b) => Op::Or(r(a), r(b)),
            Node::If(c, a, b) => Op::Select(r(c), r(a), r(b)),
            Node::External(f, args, _) => {
                let pool = &emitter.plan.dae.pool;
                Op::External(pool.external(f).clone(), r(pool.args(args)[0]))
            }
            Node::ExternalSlope(..) => unreachable!("slopes of external functions have no bounds"),
        };

        let register = if dependences.of(&emitter.plan, e) == Reads::Held {
            self.held.push(op);
            self.held.len() as u32 - 1
        } else {
            self.moving.push(op);
            (self.moving.len() as u32 - 1) | MOVING
        };
        self.registers.insert(e, register);
    }

    fn finish(self, e: ExprId) -> Tape {
        let n_held = self.held.len();
        let place = |register: u32| {
            if register & MOVING == 0 {
                register
            } else {
                (register & !MOVING) + n_held as u32
            }
        };
        let mut ops = self.held;
        ops.extend(self.moving);
        for op in &mut ops {
            for_each_operand(op, |register| *register = place(*register));
        }
        Tape {
            ops,
            n_held,
            result: place(self.registers[&e]),
            slots: self.slots,
        }
    }
}

fn for_each_operand(op: &mut Op, mut f: impl FnMut(&mut u32)) {
    match op {
        Op::Time | Op::State(_) | Op::Slot(_) | Op::Number(_) => {}
        Op::Neg(a) | Op::Not(a) | Op::Call1(_, a) | Op::External(_, a) => f(a),
        Op::Add(a, b)
        | Op::Sub(a, b)
        | Op::Mul(a, b)
        | Op::Div(a, b)
        | Op::Power(a, b)
        | Op::Call2(_, a, b)
        | Op::Compare(_, a, b)
        | Op::And(a, b)
        | Op::Or(a, b) => {
            f(a);
            f(b);
        }
        Op::Select(a, b, c) => {
            f(a);
            f(b);
            f(c);
        }
    }
}
