//! Groups expressions that differ only in what they read.
//!
//! In:  a list of expressions.
//! Out: classes: one pattern with holes each, and for every member the symbols and numbers
//!      that fill the holes.
//!
//! **Invariant:** filling the holes of a pattern with a row gives the row's expression, with
//! the arguments of + and · possibly swapped (which keeps every bit of the value). Each
//! expression is in exactly one class; classes come in the order of their first member.
//!
//! 10⁵ cells of a ladder are a handful of classes, so everything that is done per class
//! (differentiate, compile, print) costs the same for 10 cells and for 10⁵.

use crate::expr::{
    ArgsId, Comparison, ExprId, ExternalId, Function1, Function2, Node, Pool, SymbolId,
};
use crate::walk::for_each_argument;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Position in [`Class::pattern`].
pub type Slot = u32;

/// One step of a pattern. Arguments are earlier steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "as in `Node`")]
pub enum PatternOp {
    /// Reads hole number `.0`.
    Hole(u32),
    /// A number that belongs to the shape: a whole exponent, by its bits.
    Number(u64),
    Neg(Slot),
    Add(Slot, Slot),
    Sub(Slot, Slot),
    Mul(Slot, Slot),
    Div(Slot, Slot),
    Power(Slot, Slot),
    Call1(Function1, Slot),
    Call2(Function2, Slot, Slot),
    Compare(Comparison, Slot, Slot),
    Not(Slot),
    And(Slot, Slot),
    Or(Slot, Slot),
    If(Slot, Slot, Slot),
    Smooth(Slot),
    External(ExternalId, Box<[Slot]>, u32),
    ExternalSlope(ExternalId, Box<[Slot]>, u32),
}

/// What fills a hole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hole {
    /// A symbol; a symbol that is read twice fills one hole.
    Symbol(SymbolId),
    /// A number; every place where a number is written is a hole of its own.
    Number(f64),
}

/// One member of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassMember {
    /// Position in the list of expressions.
    pub expression: usize,
    /// What fills the holes, in order.
    pub holes: Vec<Hole>,
}

/// Expressions of one shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Steps in order; the last one is the value.
    pub pattern: Vec<PatternOp>,
    /// How many holes it has.
    pub n_holes: usize,
    /// The members, in order.
    pub rows: Vec<ClassMember>,
}

/// Groups expressions by shape.
///
/// `kind` sorts symbols (state, parameter, mode …): a hole is filled by one kind in all
/// rows of a class, and either by symbols or by numbers.
pub fn classify(pool: &Pool, expressions: &[ExprId], kind: &dyn Fn(SymbolId) -> u8) -> Vec<Class> {
    let hashes = shape_hashes(pool, expressions, kind);
    let mut classes: Vec<Class> = Vec::new();
    let mut known: FxHashMap<(Vec<PatternOp>, Vec<u8>), usize> = FxHashMap::default();
    let mut reader = Reader::new(pool, &hashes, kind);
    for (i, &e) in expressions.iter().enumerate() {
        let (pattern, kinds, holes) = reader.read(e);
        let n_holes = holes.len();
        let class = *known
            .entry((pattern, kinds))
            .or_insert_with_key(|(pattern, _)| {
                classes.push(Class {
                    pattern: pattern.clone(),
                    n_holes,
                    rows: Vec::new(),
                });
                classes.len() - 1
            });
        classes[class].rows.push(ClassMember {
            expression: i,
            holes,
        });
    }
    classes
}

impl Class {
    /// Makes the pattern an expression in which `SymbolId(k)` stands for hole k.
    pub fn representative(&self, pool: &mut Pool) -> ExprId {
        let mut made: Vec<ExprId> = Vec::with_capacity(self.pattern.len());
        for op in &self.pattern {
            let at = |slot: Slot| made[slot as usize];
            let node = match *op {
                PatternOp::Hole(k) => Node::Symbol(SymbolId(k)),
                PatternOp::Number(bits) => Node::Number(bits),
                PatternOp::Neg(a) => Node::Neg(at(a)),
                PatternOp::Add(a, b) => Node::Add(at(a), at(b)),
                PatternOp::Sub(a, b) => Node::Sub(at(a), at(b)),
                PatternOp::Mul(a, b) => Node::Mul(at(a), at(b)),
                PatternOp::Div(a, b) => Node::Div(at(a), at(b)),
                PatternOp::Power(a, b) => Node::Power(at(a), at(b)),
                PatternOp::Call1(f, a) => Node::Call1(f, at(a)),
                PatternOp::Call2(f, a, b) => Node::Call2(f, at(a), at(b)),
                PatternOp::Compare(c, a, b) => Node::Compare(c, at(a), at(b)),
                PatternOp::Not(a) => Node::Not(at(a)),
                PatternOp::And(a, b) => Node::And(at(a), at(b)),
                PatternOp::Or(a, b) => Node::Or(at(a), at(b)),
                PatternOp::If(a, b, c) => Node::If(at(a), at(b), at(c)),
                PatternOp::Smooth(a) => Node::Smooth(at(a)),
                PatternOp::External(f, ref args, output) => {
                    let args: Vec<ExprId> = args.iter().map(|&a| at(a)).collect();
                    Node::External(f, pool.intern_args(&args), output)
                }
                PatternOp::ExternalSlope(f, ref args, slope) => {
                    let args: Vec<ExprId> = args.iter().map(|&a| at(a)).collect();
                    Node::ExternalSlope(f, pool.intern_args(&args), slope)
                }
            };
            made.push(pool.intern(node));
        }
        *made.last().expect("a pattern has at least one step")
    }
}

/// Marks a hole for numbers among the kinds of symbols.
const NUMBER_KIND: u8 = u8::MAX;

/// Reads expressions into patterns, with scratch that lives through all of them.
struct Reader<'a> {
    pool: &'a Pool,
    hashes: &'a FxHashMap<ExprId, u64>,
    kind: &'a dyn Fn(SymbolId) -> u8,
    slots: FxHashMap<ExprId, Slot>,
    pattern: Vec<PatternOp>,
    kinds: Vec<u8>,
    holes: Vec<Hole>,
    stack: Vec<(ExprId, Visit)>,
}

#[derive(Clone, Copy)]
enum Visit {
    Enter,
    Leave,
}

impl<'a> Reader<'a> {
    fn new(
        pool: &'a Pool,
        hashes: &'a FxHashMap<ExprId, u64>,
        kind: &'a dyn Fn(SymbolId) -> u8,
    ) -> Self {
        Reader {
            pool,
            hashes,
            kind,
            slots: FxHashMap::default(),
            pattern: Vec::new(),
            kinds: Vec::new(),
            holes: Vec::new(),
            stack: Vec::new(),
        }
    }

    fn read(&mut self, e: ExprId) -> (Vec<PatternOp>, Vec<u8>, Vec<Hole>) {
        self.slots.clear();
        self.stack.push((e, Visit::Enter));
        // Number leaves get their hole when their user is left, so that each use has its own.
        while let Some((id, visit)) = self.stack.pop() {
            if self.slots.contains_key(&id) {
                continue;
            }
            match visit {
                Visit::Enter => {
                    self.stack.push((id, Visit::Leave));
                    self.push_arguments(id);
                }
                Visit::Leave => {
                    let op = self.op(id);
                    let slot = self.push(op);
                    self.slots.insert(id, slot);
                }
            }
        }
        (
            std::mem::take(&mut self.pattern),
            std::mem::take(&mut self.kinds),
            std::mem::take(&mut self.holes),
        )
    }

    /// Pushes so that the first argument is visited first; + and · in the order of shapes.
    fn push_arguments(&mut self, id: ExprId) {
        let from = self.stack.len();
        match self.pool.node(id) {
            Node::Add(a, b) | Node::Mul(a, b) | Node::And(a, b) | Node::Or(a, b) => {
                let (a, b) = self.ordered(a, b);
                self.stack.push((a, Visit::Enter));
                self.stack.push((b, Visit::Enter));
            }
            _ => {
                let stack = &mut self.stack;
                for_each_argument(self.pool, id, |a| stack.push((a, Visit::Enter)));
            }
        }
        self.stack[from..].reverse();
        let pool = self.pool;
        let mut kept = from;
        for i in from..self.stack.len() {
            if pool.as_number(self.stack[i].0).is_none() {
                self.stack.swap(kept, i);
                kept += 1;
            }
        }
        self.stack.truncate(kept);
    }

    fn ordered(&self, a: ExprId, b: ExprId) -> (ExprId, ExprId) {
        if self.hashes[&b] < self.hashes[&a] {
            (b, a)
        } else {
            (a, b)
        }
    }

    fn push(&mut self, op: PatternOp) -> Slot {
        self.pattern.push(op);
        (self.pattern.len() - 1) as Slot
    }

    fn hole(&mut self, filled: Hole, kind: u8) -> PatternOp {
        self.holes.push(filled);
        self.kinds.push(kind);
        PatternOp::Hole((self.holes.len() - 1) as u32)
    }

    fn slot(&mut self, a: ExprId) -> Slot {
        match self.pool.as_number(a) {
            Some(x) => {
                let op = self.hole(Hole::Number(x), NUMBER_KIND);
                self.push(op)
            }
            None => self.slots[&a],
        }
    }

    fn slots_of(&mut self, args: ArgsId) -> Box<[Slot]> {
        self.pool.args(args).iter().map(|&a| self.slot(a)).collect()
    }

    fn op(&mut self, id: ExprId) -> PatternOp {
        match self.pool.node(id) {
            Node::Number(bits) => self.hole(Hole::Number(f64::from_bits(bits)), NUMBER_KIND),
            Node::Symbol(s) => self.hole(Hole::Symbol(s), (self.kind)(s)),
            Node::Neg(a) => PatternOp::Neg(self.slot(a)),
            Node::Add(a, b) => {
                let (a, b) = self.ordered(a, b);
                PatternOp::Add(self.slot(a), self.slot(b))
            }
            Node::Mul(a, b) => {
                let (a, b) = self.ordered(a, b);
                PatternOp::Mul(self.slot(a), self.slot(b))
            }
            Node::And(a, b) => {
                let (a, b) = self.ordered(a, b);
                PatternOp::And(self.slot(a), self.slot(b))
            }
            Node::Or(a, b) => {
                let (a, b) = self.ordered(a, b);
                PatternOp::Or(self.slot(a), self.slot(b))
            }
            Node::Sub(a, b) => PatternOp::Sub(self.slot(a), self.slot(b)),
            Node::Div(a, b) => PatternOp::Div(self.slot(a), self.slot(b)),
            // x² is another machine operation than x³: the exponent belongs to the shape.
            Node::Power(a, n) => {
                let a = self.slot(a);
                let n = match self.pool.node(n) {
                    Node::Number(bits) => self.push(PatternOp::Number(bits)),
                    _ => self.slot(n),
                };
                PatternOp::Power(a, n)
            }
            Node::Call1(f, a) => PatternOp::Call1(f, self.slot(a)),
            Node::Call2(f, a, b) => PatternOp::Call2(f, self.slot(a), self.slot(b)),
            Node::Compare(c, a, b) => PatternOp::Compare(c, self.slot(a), self.slot(b)),
            Node::Not(a) => PatternOp::Not(self.slot(a)),
            Node::If(a, b, c) => PatternOp::If(self.slot(a), self.slot(b), self.slot(c)),
            Node::Smooth(a) => PatternOp::Smooth(self.slot(a)),
            Node::External(f, args, output) => PatternOp::External(f, self.slots_of(args), output),
            Node::ExternalSlope(f, args, slope) => {
                PatternOp::ExternalSlope(f, self.slots_of(args), slope)
            }
        }
    }
}

/// Hashes the shape of every node: what is left when symbols become their kind and numbers
/// become one mark. Equal shapes have equal hashes, whatever the order of ids.
fn shape_hashes(
    pool: &Pool,
    expressions: &[ExprId],
    kind: &dyn Fn(SymbolId) -> u8,
) -> FxHashMap<ExprId, u64> {
    let mut hashes: FxHashMap<ExprId, u64> = FxHashMap::default();
    for id in crate::walk::below(pool, expressions) {
        let mut hasher = FxHasher::default();
        let node = pool.node(id);
        std::mem::discriminant(&node).hash(&mut hasher);
        match node {
            Node::Number(_) => {}
            Node::Symbol(s) => kind(s).hash(&mut hasher),
            Node::Add(a, b) | Node::Mul(a, b) | Node::And(a, b) | Node::Or(a, b) => {
                let (a, b) = (hashes[&a], hashes[&b]);
                (a.min(b), a.max(b)).hash(&mut hasher);
            }
            Node::Call1(f, a) => (f, hashes[&a]).hash(&mut hasher),
            Node::Call2(f, a, b) => (f, hashes[&a], hashes[&b]).hash(&mut hasher),
            Node::Compare(c, a, b) => (c, hashes[&a], hashes[&b]).hash(&mut hasher),
            Node::External(f, _, k) | Node::ExternalSlope(f, _, k) => {
                (f, k).hash(&mut hasher);
                for_each_argument(pool, id, |a| hashes[&a].hash(&mut hasher));
            }
            _ => for_each_argument(pool, id, |a| hashes[&a].hash(&mut hasher)),
        }
        hashes.insert(id, hasher.finish());
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{RandomExpressions, evaluate_at};

    #[test]
    fn filling_a_pattern_gives_the_same_bits_as_the_expression() {
        let mut random = RandomExpressions::new(5);
        let mut pool = Pool::new();
        let expressions: Vec<ExprId> = (0..2000).map(|_| random.any(&mut pool, 3, 4)).collect();
        let at = random.point(4);
        let classes = classify(&pool, &expressions, &|_| 0);
        assert!(classes.len() < expressions.len());
        let mut n_rows = 0;
        for class in &classes {
            let mut own = Pool::new();
            let pattern = class.representative(&mut own);
            for row in &class.rows {
                n_rows += 1;
                let filled: Vec<f64> = row
                    .holes
                    .iter()
                    .map(|hole| match *hole {
                        Hole::Symbol(s) => at[s.0 as usize],
                        Hole::Number(x) => x,
                    })
                    .collect();
                let expected = evaluate_at(&pool, expressions[row.expression], &at);
                let found = evaluate_at(&own, pattern, &filled);
                assert!(
                    expected.is_nan() && found.is_nan()
                        || expected.to_bits() == found.to_bits()
                        || expected == found
                );
            }
        }
        assert_eq!(n_rows, expressions.len());
    }

    /// dq[i]/dt of a ladder, (v[i−1] − v[i])/R − (v[i] − v[i+1])/R with v = q/C.
    fn ladder(n: u32) -> (Pool, Vec<ExprId>) {
        let mut pool = Pool::new();
        let mut rows = Vec::new();
        let resistance = pool.symbol(SymbolId(0));
        for i in 1..n {
            let mut v = [i - 1, i, i + 1].map(|k| {
                let (q, c) = (
                    pool.symbol(SymbolId(2 * k + 1)),
                    pool.symbol(SymbolId(2 * k + 2)),
                );
                pool.div(q, c)
            });
            // Some rows are built the other way round.
            if i % 3 == 0 {
                v.reverse();
            }
            let (left, right) = (pool.sub(v[0], v[1]), pool.sub(v[1], v[2]));
            let (left, right) = (pool.div(left, resistance), pool.div(right, resistance));
            rows.push(pool.sub(left, right));
        }
        (pool, rows)
    }

    #[test]
    fn a_long_ladder_is_one_class() {
        let (pool, rows) = ladder(100_000);
        let classes = classify(&pool, &rows, &|s| u8::from(s.0 % 2 == 1));
        assert_eq!(classes.len(), 1);
        assert_eq!(classes[0].n_holes, 7);
        assert_eq!(classes[0].rows.len(), 99_999);
    }

    #[test]
    fn the_order_of_creation_does_not_split_a_class() {
        let mut pool = Pool::new();
        let s: Vec<ExprId> = (0..4).map(|i| pool.symbol(SymbolId(i))).collect();
        let sin = pool.call1(Function1::Sin, s[1]);
        let first = pool.add(s[0], sin);
        let sin = pool.call1(Function1::Sin, s[2]);
        // Here the sine is older than the symbol it is added to.
        let late = pool.symbol(SymbolId(9));
        let second = pool.add(sin, late);
        assert_eq!(classify(&pool, &[first, second], &|_| 0).len(), 1);
        let square = pool.powi(s[0], 2);
        let cube = pool.powi(s[1], 3);
        assert_eq!(classify(&pool, &[square, cube], &|_| 0).len(), 2);
        let same = pool.mul(s[0], s[0]);
        let different = pool.mul(s[0], s[1]);
        assert_eq!(classify(&pool, &[same, different], &|_| 0).len(), 2);
    }
}
