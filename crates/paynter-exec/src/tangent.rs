//! Exact directional derivatives of routines, operation by operation.
//!
//! In:  the steps of a routine, and the slots of the tangents of its inputs.
//! Out: steps that, run after the routine, compute the tangents of its outputs.
//!
//! Where only one of two operands changes, the other half of the rule is not computed.
//!
//! **Invariant:** a slot without a tangent does not depend on any seeded input. A branch of
//! `Select` that is not chosen never enters a tangent.

use std::sync::Arc;

use paynter_symbolic::expr::{Comparison, Function1, Function2};
use paynter_symbolic::slopes::SlopesOf;
use rustc_hash::FxHashMap;

use crate::block::{LinearBlock, LinearTangent, NewtonBlock, NewtonTangent, whole};
use crate::code::{ExternalCall, Instr, Kernel, Op, Step, Straight};
use crate::emit::{Emitter, NO_OWNER, Notes, external_call_of};

/// Slots of tangents, by the slots they belong to.
pub(crate) type Tangents = Notes;

/// Makes the tangent of some steps; new tangents are added to the map.
pub(crate) fn tangent_of(
    emitter: &mut Emitter,
    steps: &[Step],
    tangents: &mut Tangents,
) -> Vec<Step> {
    let mut writer = Writer {
        emitter,
        steps: Vec::new(),
        straight: Straight::default(),
    };
    for step in steps {
        match step {
            Step::Straight(straight) => {
                for i in &straight.instrs {
                    let d = [i.a, i.b, i.c].map(|slot| tangents.get(slot));
                    if let Some(slot) = differentiate(&mut writer, i, d) {
                        tangents.set(i.dst, slot);
                    }
                }
            }
            Step::Kernel(kernel) => writer.kernel(kernel, tangents),
            Step::External(call) => writer.external(call, tangents),
            Step::Linear(linear) => writer.linear(linear, tangents),
            Step::Newton(newton) => writer.newton(newton, tangents),
            Step::LinearTangent(_) | Step::NewtonTangent(_) | Step::Fused(_) => {
                unreachable!("tangents are made of values only, before machine code")
            }
        }
    }

    writer.flush();
    writer.steps
}

/// Something operations can be written to: slots of a routine, or registers of a kernel.
trait Target {
    fn emit(&mut self, op: Op, operands: &[u32]) -> u32;
    fn constant(&mut self, value: f64) -> u32;
}

struct Writer<'a> {
    emitter: &'a mut Emitter,
    steps: Vec<Step>,
    straight: Straight,
}

impl Target for Writer<'_> {
    fn emit(&mut self, op: Op, operands: &[u32]) -> u32 {
        let dst = self.emitter.new_slot();
        self.straight.instrs.push(instr(op, dst, operands));
        self.straight.owners.push(NO_OWNER);
        dst
    }

    fn constant(&mut self, value: f64) -> u32 {
        self.emitter.constant(value)
    }
}

fn instr(op: Op, dst: u32, operands: &[u32]) -> Instr {
    let operand = |k: usize| operands.get(k).copied().unwrap_or(0);
    Instr {
        op,
        dst,
        a: operand(0),
        b: operand(1),
        c: operand(2),
    }
}

impl Writer<'_> {
    fn flush(&mut self) {
        if !self.straight.instrs.is_empty() {
            self.steps
                .push(Step::Straight(std::mem::take(&mut self.straight)));
        }
    }

    fn new_tangents(&mut self, of: &[u32], tangents: &mut Tangents) -> Vec<u32> {
        of.iter()
            .map(|&slot| {
                let tangent = self.emitter.new_slot();
                tangents.set(slot, tangent);
                tangent
            })
            .collect()
    }

    /// ẏ = Σ ∂y/∂u u̇, with the slopes that the function itself gives.
    fn external(&mut self, call: &ExternalCall, tangents: &mut Tangents) {
        let changing: Vec<(usize, u32)> = call
            .inputs
            .iter()
            .enumerate()
            .filter_map(|(k, slot)| Some((k, tangents.get(*slot)?)))
            .collect();

        if changing.is_empty() {
            return;
        }
        self.flush();

        // Slopes of slopes exist only where reduction differentiated the function already.
        let function = if call.wants_slopes {
            Arc::new(SlopesOf::new(call.function.clone()))
        } else {
            call.function.clone()
        };
        let n_inputs = function.n_inputs() as u32;
        let slopes = external_call_of(self.emitter, function, true, &call.inputs);
        let first = slopes.first_output;
        self.steps.push(Step::External(slopes));

        for output in 0..call.n_outputs {
            let mut sum = None;
            for &(k, tangent) in &changing {
                let slope = first + output * n_inputs + k as u32;
                let term = self.emit(Op::Mul, &[slope, tangent]);
                sum = Some(match sum {
                    None => term,
                    Some(sum) => self.emit(Op::Add, &[sum, term]),
                });
            }
            if let Some(slot) = sum {
                tangents.set(call.first_output + output, slot);
            }
        }
    }

    /// A ẏ = ḃ − Ȧ y; nothing where neither the matrix nor the right side changes.
    fn linear(&mut self, linear: &LinearBlock, tangents: &mut Tangents) {
        let of = |slot: u32| tangents.get(slot);
        let matrix: Vec<_> = whole(&linear.matrix, linear.is_positive_definite)
            .filter_map(|(r, c, slot)| Some((r, c, of(slot)?)))
            .collect();
        let right = (0..).zip(&linear.right);
        let right: Vec<_> = right
            .filter_map(|(r, &slot)| Some((r, of(slot)?)))
            .collect();
        if matrix.is_empty() && right.is_empty() {
            return;
        }
        self.flush();
        let slots = self.new_tangents(&linear.unknowns, tangents);
        let tangent = LinearTangent {
            block: linear.block,
            unknowns: linear.unknowns.clone(),
            tangents: slots,
            matrix,
            right,
        };
        self.steps.push(Step::LinearTangent(Arc::new(tangent)));
    }

    /// The tangent of a block that is solved by iteration, at its solution.
    fn newton(&mut self, newton: &Arc<NewtonBlock>, tangents: &mut Tangents) {
        self.flush();
        let slots = self.new_tangents(&newton.unknowns, tangents);
        let body = tangent_of(self.emitter, &newton.body, tangents);
        let residuals = (0..).zip(&newton.residuals);
        let residuals = residuals.filter_map(|(r, slot)| Some((r, tangents.get(*slot)?)));
        let tangent = NewtonTangent {
            newton: newton.clone(),
            tangents: slots,
            body,
            residuals: residuals.collect(),
        };
        self.steps.push(Step::NewtonTangent(Arc::new(tangent)));
    }

    /// Differentiates one shape once for each set of leaves that change in some rows.
    fn kernel(&mut self, kernel: &Kernel, tangents: &mut Tangents) {
        self.flush();
        let n_rows = kernel.dst.len();
        let mut groups: FxHashMap<Vec<bool>, Vec<usize>> = FxHashMap::default();
        let mut order: Vec<Vec<bool>> = Vec::new();
        let mut changes: Vec<bool> = Vec::new();
        for row in 0..n_rows {
            let leaf = |leaf: usize| kernel.leaves[leaf * n_rows + row];
            changes.clear();
            changes.extend((0..kernel.n_leaves).map(|k| tangents.get(leaf(k)).is_some()));
            if !changes.contains(&true) {
                continue;
            }
            match groups.get_mut(&changes) {
                Some(rows) => rows.push(row),
                None => {
                    order.push(changes.clone());
                    groups.insert(changes.clone(), vec![row]);
                }
            }
        }
        for changes in order {
            let rows = &groups[&changes];
            if let Some(step) = self.kernel_for(kernel, &changes, rows, tangents) {
                self.steps.push(Step::Kernel(step));
            }
        }
    }

    fn kernel_for(
        &mut self,
        kernel: &Kernel,
        changes: &[bool],
        rows: &[usize],
        tangents: &mut Tangents,
    ) -> Option<Kernel> {
        let mut local = Local::new(kernel.n_leaves, changes);
        let mut values: Vec<u32> = (0..kernel.n_leaves as u32).collect();
        let mut rates: Vec<Option<u32>> = local.seeds.clone();
        for i in kernel.body.iter() {
            // The row computes its values again: cheaper than keeping them for all rows.
            let operands = [i.a, i.b, i.c].map(|r| values[r as usize]);
            let value = local.emit(i.op, &operands[..i.op.n_operands()]);
            values.push(value);
            let d = [i.a, i.b, i.c].map(|r| rates[r as usize]);
            let moved = instr(i.op, value, &operands[..i.op.n_operands()]);
            rates.push(differentiate(&mut local, &moved, d));
        }

        let result = (*rates.last()?)?;
        let n_rows = kernel.dst.len();
        let own = |leaf: usize, row: usize| kernel.leaves[leaf * n_rows + row];
        let mut leaves: Vec<u32> = Vec::with_capacity(local.n_given * rows.len());
        for leaf in 0..kernel.n_leaves {
            leaves.extend(rows.iter().map(|&row| own(leaf, row)));
        }

        for leaf in (0..kernel.n_leaves).filter(|&leaf| changes[leaf]) {
            let tangent = |row: usize| tangents.get(own(leaf, row));
            let moving = rows.iter().map(|&row| tangent(row));
            leaves.extend(moving.map(|slot| slot.expect("this leaf changes in all these rows")));
        }

        let constants: Vec<u32> = local
            .constants
            .iter()
            .map(|&x| self.emitter.constant(x))
            .collect();
        let dst: Vec<u32> = rows
            .iter()
            .map(|&row| {
                let slot = self.emitter.new_slot();
                tangents.set(kernel.dst[row], slot);
                slot
            })
            .collect();

        let (body, n_leaves) = local.finish(result);
        for &constant in &constants {
            leaves.extend(std::iter::repeat_n(constant, rows.len()));
        }

        let owners = vec![NO_OWNER; dst.len()];
        Some(Kernel {
            body: body.into(),
            n_leaves,
            leaves,
            dst,
            owners,
            compiled: None,
        })
    }
}

/// Registers of a tangent kernel while it is made: leaves, tangents of leaves, constants,
/// results; the number of constants is known at the end only.
struct Local {
    n_given: usize,
    seeds: Vec<Option<u32>>,
    constants: Vec<f64>,
    instrs: Vec<Instr>,
}

const CONSTANT: u32 = 1 << 30;
const RESULT: u32 = 1 << 31;

impl Local {
    fn new(n_leaves: usize, changes: &[bool]) -> Self {
        let mut next = n_leaves as u32;
        let seeds = changes
            .iter()
            .map(|&does| {
                does.then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        Local {
            n_given: next as usize,
            seeds,
            constants: Vec::new(),
            instrs: Vec::new(),
        }
    }

    /// Keeps what the result needs and numbers the registers.
    fn finish(self, result: u32) -> (Vec<Instr>, usize) {
        let n_leaves = self.n_given + self.constants.len();
        let mut is_needed = vec![false; self.instrs.len()];
        if result & RESULT != 0 {
            is_needed[(result & !RESULT) as usize] = true;
        }

        for k in (0..self.instrs.len()).rev() {
            if is_needed[k] {
                for operand in self.instrs[k].operands().filter(|o| o & RESULT != 0) {
                    is_needed[(operand & !RESULT) as usize] = true;
                }
            }
        }

        let mut places = vec![0; self.instrs.len()];
        let mut body: Vec<Instr> = Vec::new();
        let register = |operand: u32, places: &[u32]| {
            if operand & RESULT != 0 {
                places[(operand & !RESULT) as usize]
            } else if operand & CONSTANT != 0 {
                (operand & !CONSTANT) + self.n_given as u32
            } else {
                operand
            }
        };

        for (k, i) in self
            .instrs
            .iter()
            .enumerate()
            .filter(|&(k, _)| is_needed[k])
        {
            places[k] = (n_leaves + body.len()) as u32;
            let operands: Vec<u32> = i.operands().map(|o| register(o, &places)).collect();
            body.push(instr(i.op, places[k], &operands));
        }

        if result & RESULT == 0 {
            // The tangent is that of a leaf: a kernel must compute something.
            let from = register(result, &places);
            body.push(instr(Op::Copy, (n_leaves + body.len()) as u32, &[from]));
        }
        (body, n_leaves)
    }
}

impl Target for Local {
    fn emit(&mut self, op: Op, operands: &[u32]) -> u32 {
        let dst = RESULT | self.instrs.len() as u32;
        self.instrs.push(instr(op, dst, operands));
        dst
    }

    fn constant(&mut self, value: f64) -> u32 {
        let known = self
            .constants
            .iter()
            .position(|c| c.to_bits() == value.to_bits());
        let place = known.unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        });
        CONSTANT | place as u32
    }
}

/// Writes the tangent of one instruction, given those of its operands; `None` is zero.
fn differentiate(w: &mut dyn Target, i: &Instr, d: [Option<u32>; 3]) -> Option<u32> {
    let (a, b, y) = (i.a, i.b, i.dst);
    let [da, db, dc] = d;
    match i.op {
        Op::Compare(_) | Op::Not | Op::And | Op::Or => None,
        Op::Copy => da,
        Op::Neg => da.map(|da| w.emit(Op::Neg, &[da])),
        Op::Add => match (da, db) {
            (Some(da), Some(db)) => Some(w.emit(Op::Add, &[da, db])),
            (da, db) => da.or(db),
        },
        Op::Sub => match (da, db) {
            (Some(da), Some(db)) => Some(w.emit(Op::Sub, &[da, db])),
            (Some(da), None) => Some(da),
            (None, db) => db.map(|db| w.emit(Op::Neg, &[db])),
        },
        Op::Mul => {
            let left = da.map(|da| w.emit(Op::Mul, &[da, b]));
            let right = db.map(|db| w.emit(Op::Mul, &[a, db]));
            add(w, left, right)
        }
        Op::Div => {
            let part = db.map(|db| w.emit(Op::Mul, &[y, db]));
            differentiate_quotient(w, b, (da, part))
        }
        Op::PowerWhole(n) => differentiate_whole_power(w, n, (a, y), da?),
        Op::Power => differentiate_power(w, (a, b, y), (da, db)),
        Op::Call1(f) => {
            let da = da?;
            differentiate_function(w, f, a, y, da)
        }
        Op::Call2(f) => differentiate_function2(w, f, (a, b, y), (da, db)),
        Op::Select => {
            if db.is_none() && dc.is_none() {
                return None;
            }
            let zero = w.constant(0.0);
            Some(w.emit(Op::Select, &[a, db.unwrap_or(zero), dc.unwrap_or(zero)]))
        }
    }
}

/// (a/b)' = (a' − y b') / b, from a' and y b'.
fn differentiate_quotient(
    w: &mut dyn Target,
    b: u32,
    (da, part): (Option<u32>, Option<u32>),
) -> Option<u32> {
    let top = match (da, part) {
        (None, None) => return None,
        (Some(da), None) => da,
        (None, Some(part)) => w.emit(Op::Neg, &[part]),
        (Some(da), Some(part)) => w.emit(Op::Sub, &[da, part]),
    };
    Some(w.emit(Op::Div, &[top, b]))
}

/// (aⁿ)' = n aⁿ⁻¹ a'
fn differentiate_whole_power(
    w: &mut dyn Target,
    n: i8,
    (a, y): (u32, u32),
    da: u32,
) -> Option<u32> {
    let slope = match n {
        0 => return None,
        1 => return Some(da),
        2 => w.emit(Op::Add, &[a, a]),
        _ => {
            let factor = w.constant(f64::from(n));
            // −64 is the last whole power that has one below it.
            let power = if n > -64 {
                w.emit(Op::PowerWhole(n - 1), &[a])
            } else {
                w.emit(Op::Div, &[y, a])
            };
            w.emit(Op::Mul, &[factor, power])
        }
    };
    Some(w.emit(Op::Mul, &[slope, da]))
}

/// (aᵇ)' = b aᵇ⁻¹ a' + y ln a b'
fn differentiate_power(
    w: &mut dyn Target,
    (a, b, y): (u32, u32, u32),
    (da, db): (Option<u32>, Option<u32>),
) -> Option<u32> {
    let left = da.map(|da| {
        let one = w.constant(1.0);
        let less = w.emit(Op::Sub, &[b, one]);
        let power = w.emit(Op::Power, &[a, less]);
        let slope = w.emit(Op::Mul, &[b, power]);
        w.emit(Op::Mul, &[slope, da])
    });
    let right = db.map(|db| {
        let log = w.emit(Op::Call1(Function1::Log), &[a]);
        let slope = w.emit(Op::Mul, &[y, log]);
        w.emit(Op::Mul, &[slope, db])
    });
    add(w, left, right)
}

fn add(w: &mut dyn Target, a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(w.emit(Op::Add, &[a, b])),
        (a, b) => a.or(b),
    }
}

fn differentiate_function(
    w: &mut dyn Target,
    f: Function1,
    a: u32,
    y: u32,
    da: u32,
) -> Option<u32> {
    let one = w.constant(1.0);
    let slope = match f {
        Function1::Sin => w.emit(Op::Call1(Function1::Cos), &[a]),
        Function1::Cos => {
            let sin = w.emit(Op::Call1(Function1::Sin), &[a]);
            w.emit(Op::Neg, &[sin])
        }
        Function1::Tan => {
            let square = w.emit(Op::Mul, &[y, y]);
            w.emit(Op::Add, &[one, square])
        }
        Function1::Asin | Function1::Acos => {
            let square = w.emit(Op::Mul, &[a, a]);
            let inside = w.emit(Op::Sub, &[one, square]);
            let root = w.emit(Op::Call1(Function1::Sqrt), &[inside]);
            let quotient = w.emit(Op::Div, &[da, root]);
            return Some(if f == Function1::Asin {
                quotient
            } else {
                w.emit(Op::Neg, &[quotient])
            });
        }
        Function1::Atan => {
            let square = w.emit(Op::Mul, &[a, a]);
            let sum = w.emit(Op::Add, &[one, square]);
            return Some(w.emit(Op::Div, &[da, sum]));
        }
        Function1::Sinh => w.emit(Op::Call1(Function1::Cosh), &[a]),
        Function1::Cosh => w.emit(Op::Call1(Function1::Sinh), &[a]),
        Function1::Tanh => {
            let square = w.emit(Op::Mul, &[y, y]);
            w.emit(Op::Sub, &[one, square])
        }
        Function1::Exp => y,
        Function1::Log => return Some(w.emit(Op::Div, &[da, a])),
        Function1::Log10 => {
            let ln10 = w.constant(std::f64::consts::LN_10);
            let bottom = w.emit(Op::Mul, &[ln10, a]);
            return Some(w.emit(Op::Div, &[da, bottom]));
        }
        Function1::Sqrt => {
            let twice = w.emit(Op::Add, &[y, y]);
            return Some(w.emit(Op::Div, &[da, twice]));
        }
        Function1::Abs => w.emit(Op::Call1(Function1::Sign), &[a]),
        Function1::Sign | Function1::Floor | Function1::Ceil | Function1::Round => return None,
    };
    Some(w.emit(Op::Mul, &[slope, da]))
}

fn differentiate_function2(
    w: &mut dyn Target,
    f: Function2,
    (a, b, y): (u32, u32, u32),
    (da, db): (Option<u32>, Option<u32>),
) -> Option<u32> {
    if da.is_none() && db.is_none() {
        return None;
    }
    match f {
        Function2::Min | Function2::Max => {
            // As `Function2::eval`: the first argument where both are equal.
            let comparison = if f == Function2::Min {
                Comparison::Less
            } else {
                Comparison::Greater
            };
            let second = w.emit(Op::Compare(comparison), &[b, a]);
            let zero = w.constant(0.0);
            Some(w.emit(
                Op::Select,
                &[second, db.unwrap_or(zero), da.unwrap_or(zero)],
            ))
        }
        Function2::Atan2 => {
            // (a' b − a b') / (a² + b²)
            let (a2, b2) = (w.emit(Op::Mul, &[a, a]), w.emit(Op::Mul, &[b, b]));
            let bottom = w.emit(Op::Add, &[a2, b2]);
            let left = da.map(|da| w.emit(Op::Mul, &[da, b]));
            let right = db.map(|db| w.emit(Op::Mul, &[a, db]));
            let top = match (left, right) {
                (Some(left), Some(right)) => w.emit(Op::Sub, &[left, right]),
                (Some(left), None) => left,
                (None, right) => w.emit(Op::Neg, &[right?]),
            };
            Some(w.emit(Op::Div, &[top, bottom]))
        }
        Function2::Hypot => {
            let left = da.map(|da| w.emit(Op::Mul, &[a, da]));
            let right = db.map(|db| w.emit(Op::Mul, &[b, db]));
            let top = add(w, left, right)?;
            Some(w.emit(Op::Div, &[top, y]))
        }
        Function2::Mod => {
            let right = db.map(|db| {
                let ratio = w.emit(Op::Div, &[a, b]);
                let turns = w.emit(Op::Call1(Function1::Floor), &[ratio]);
                let part = w.emit(Op::Mul, &[turns, db]);
                w.emit(Op::Neg, &[part])
            });
            add(w, da, right)
        }
    }
}
