//! Expressions as a graph in which equal parts are stored once.
//!
//! In:  calls of the constructors of [`Pool`].
//! Out: [`ExprId`]s; equal ids mean equal expressions.
//!
//! **Invariant:** arguments have smaller ids than the node that uses them, so a
//! loop over ids visits arguments first and no walk needs recursion.
//! Constructors fold constants and drop neutral elements, nothing more; the value
//! at any point where the written expression is finite is kept exactly.

use crate::node_index::NodeIndex;
use crate::walk::below;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Names an expression of a [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// Names something an expression can read; an index into a table of symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId(pub u32);

/// Names a list of arguments of an external function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArgsId(pub u32);

/// Names an external function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExternalId(pub u32);

/// Functions of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are those of mathematics")]
pub enum Function1 {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Log10,
    Sqrt,
    Abs,
    /// −1, 0 or 1.
    Sign,
    Floor,
    Ceil,
    Round,
}

/// Functions of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Function2 {
    /// Angle of the point (second, first): `atan2(y, x)`.
    Atan2,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// `a − b floor(a/b)`.
    Mod,
    /// √(a² + b²).
    Hypot,
}

/// Comparisons; they are 1 where they hold and 0 elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// One node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A number, by its bits.
    Number(u64),
    /// Something read.
    Symbol(SymbolId),
    /// −a
    Neg(ExprId),
    /// a + b
    Add(ExprId, ExprId),
    /// a − b
    Sub(ExprId, ExprId),
    /// a b
    Mul(ExprId, ExprId),
    /// a / b
    Div(ExprId, ExprId),
    /// aᵇ
    Power(ExprId, ExprId),
    /// f(a)
    Call1(Function1, ExprId),
    /// f(a, b)
    Call2(Function2, ExprId, ExprId),
    /// 1 where it holds, else 0
    Compare(Comparison, ExprId, ExprId),
    /// 1 − a for truth values
    Not(ExprId),
    /// both (truth values)
    And(ExprId, ExprId),
    /// either (truth values)
    Or(ExprId, ExprId),
    /// b where a ≠ 0, else c. Only the chosen branch decides the value.
    If(ExprId, ExprId, ExprId),
    /// Promises that what is inside is continuous: its switches make no events.
    Smooth(ExprId),
    /// Output number `.2` of an external function.
    External(ExternalId, ArgsId, u32),
    /// ∂output/∂input of an external function; number = output · n_inputs + input.
    ExternalSlope(ExternalId, ArgsId, u32),
}

/// A function computed outside the expression graph: a table, a Riccati solver.
pub trait External: std::fmt::Debug + Send + Sync {
    /// Its name in printed equations.
    fn name(&self) -> &str;
    /// How many numbers it takes.
    fn n_inputs(&self) -> usize;
    /// How many numbers it gives.
    fn n_outputs(&self) -> usize;
    /// Computes the outputs.
    ///
    /// # Errors
    ///
    /// A sentence that says for which inputs there is no answer.
    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String>;
    /// Computes ∂output/∂input, row by output.
    ///
    /// # Errors
    ///
    /// As for [`External::call`].
    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String>;
    /// How a call of it is written in the model language: the name, and arguments that stand
    /// before the inputs because they never change.
    fn written(&self) -> (String, Vec<String>) {
        (self.name().to_owned(), Vec::new())
    }
    /// What it computes, where code that runs without this program can compute it as well.
    fn recipe(&self) -> Recipe<'_> {
        Recipe::Unknown
    }
    /// Tells whether it wants to know of every step of an integrator.
    fn minds_steps(&self) -> bool {
        false
    }
    /// Hears that a step ended at these inputs. What follows from that shows in its next call.
    fn step_done(&self, _inputs: &[f64]) {}
    /// Tells whether its slopes are derivatives; else they are differences, good to some ten digits at best.
    fn has_exact_slopes(&self) -> bool {
        true
    }
    /// The function whose outputs are its slopes, row by output, where it knows one that has exact slopes itself.
    fn slope_function(&self) -> Option<Arc<dyn External>> {
        None
    }
    /// Arguments at which the function has a corner in its only input, ascending.
    fn corners(&self) -> &[f64] {
        &[]
    }
    /// Bounds of the output and of its slope while the only input goes from `lo` to `hi`, if they are known. Slopes
    /// without bounds mean that it jumps.
    fn range(&self, _lo: f64, _hi: f64) -> Option<[(f64, f64); 2]> {
        None
    }
}

/// How an external function is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recipe<'a> {
    /// In a way that only its own code knows.
    Unknown,
    /// By an FMU.
    Foreign,
    /// Straight lines between points; ends hold, and of two points at one x the later counts.
    Table {
        /// Arguments, never falling.
        x: &'a [f64],
        /// Values.
        y: &'a [f64],
    },
    /// A⁻¹ of a square matrix, row by row.
    Inverse {
        /// Rows.
        n: usize,
    },
    /// A⁻¹ B, from A and B, row by row.
    Solve {
        /// Rows of A.
        n: usize,
        /// Columns of B.
        columns: usize,
    },
}

/// Holds expressions.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    nodes: Vec<Node>,
    ids: NodeIndex,
    args: Vec<Box<[ExprId]>>,
    args_ids: FxHashMap<Box<[ExprId]>, ArgsId>,
    externals: Vec<Arc<dyn External>>,
    /// For functions whose slopes were differentiated: the slopes as a function.
    slopes: FxHashMap<ExternalId, ExternalId>,
}

impl Pool {
    /// Makes an empty pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the node of an expression.
    pub fn node(&self, e: ExprId) -> Node {
        self.nodes[e.0 as usize]
    }

    /// Counts the nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Tells whether nothing was made yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Stores a node as it is, without folding.
    pub fn intern(&mut self, node: Node) -> ExprId {
        self.ids.find_or_add(&mut self.nodes, node)
    }

    /// Gives the value of a number node.
    pub fn as_number(&self, e: ExprId) -> Option<f64> {
        match self.node(e) {
            Node::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Gives the symbol of a symbol node.
    pub fn as_symbol(&self, e: ExprId) -> Option<SymbolId> {
        match self.node(e) {
            Node::Symbol(s) => Some(s),
            _ => None,
        }
    }

    /// A number. Minus zero becomes zero, so that equal numbers are one node.
    pub fn number(&mut self, x: f64) -> ExprId {
        let x = if x == 0.0 { 0.0 } else { x };
        self.intern(Node::Number(x.to_bits()))
    }

    /// A symbol.
    pub fn symbol(&mut self, s: SymbolId) -> ExprId {
        self.intern(Node::Symbol(s))
    }

    /// −a
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        match self.node(a) {
            Node::Number(bits) => self.number(-f64::from_bits(bits)),
            Node::Neg(x) => x,
            Node::Sub(x, y) => self.sub(y, x),
            _ => self.intern(Node::Neg(a)),
        }
    }

    /// a + b
    pub fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_number(a), self.as_number(b)) {
            (Some(x), Some(y)) => self.number(x + y),
            (Some(0.0), _) => b,
            (_, Some(0.0)) => a,
            _ => match (self.node(a), self.node(b)) {
                (_, Node::Neg(y)) => self.sub(a, y),
                (Node::Neg(x), _) => self.sub(b, x),
                // Addition commutes exactly in IEEE arithmetic: one order makes equal sums one node.
                _ => self.intern(Node::Add(a.min(b), a.max(b))),
            },
        }
    }

    /// a − b
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_number(a), self.as_number(b)) {
            (Some(x), Some(y)) => self.number(x - y),
            (Some(0.0), _) => self.neg(b),
            (_, Some(0.0)) => a,
            _ if a == b => self.number(0.0),
            _ => match self.node(b) {
                Node::Neg(y) => self.add(a, y),
                _ => self.intern(Node::Sub(a, b)),
            },
        }
    }

    /// a b
    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_number(a), self.as_number(b)) {
            (Some(x), Some(y)) => self.number(x * y),
            (Some(0.0), _) | (_, Some(0.0)) => self.number(0.0),
            (Some(1.0), _) => b,
            (_, Some(1.0)) => a,
            (Some(-1.0), _) => self.neg(b),
            (_, Some(-1.0)) => self.neg(a),
            _ => match (self.node(a), self.node(b)) {
                (Node::Neg(x), Node::Neg(y)) => self.mul(x, y),
                (Node::Neg(x), _) => {
                    let p = self.mul(x, b);
                    self.neg(p)
                }
                (_, Node::Neg(y)) => {
                    let p = self.mul(a, y);
                    self.neg(p)
                }
                _ => self.intern(Node::Mul(a.min(b), a.max(b))),
            },
        }
    }

    /// a / b. A division by the number 0 stays as written and is found when evaluated.
    pub fn div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_number(a), self.as_number(b)) {
            (Some(x), Some(y)) if y != 0.0 => self.number(x / y),
            (_, Some(1.0)) => a,
            (_, Some(-1.0)) => self.neg(a),
            (Some(0.0), None) => self.number(0.0),
            _ => match (self.node(a), self.node(b)) {
                (Node::Neg(x), Node::Neg(y)) => self.div(x, y),
                (Node::Neg(x), _) => {
                    let q = self.div(x, b);
                    self.neg(q)
                }
                (_, Node::Neg(y)) => {
                    let q = self.div(a, y);
                    self.neg(q)
                }
                _ => self.intern(Node::Div(a, b)),
            },
        }
    }

    /// aᵇ
    pub fn pow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_number(a), self.as_number(b)) {
            (Some(x), Some(y)) if power(x, y).is_finite() => self.number(power(x, y)),
            (_, Some(0.0)) => self.number(1.0),
            (_, Some(1.0)) => a,
            _ => self.intern(Node::Power(a, b)),
        }
    }

    /// a raised to a whole power.
    pub fn powi(&mut self, a: ExprId, n: i32) -> ExprId {
        let n = self.number(f64::from(n));
        self.pow(a, n)
    }

    /// f(a)
    pub fn call1(&mut self, f: Function1, a: ExprId) -> ExprId {
        if let Some(x) = self.as_number(a) {
            let y = f.eval(x);
            if y.is_finite() {
                return self.number(y);
            }
        }
        self.intern(Node::Call1(f, a))
    }

    /// f(a, b)
    pub fn call2(&mut self, f: Function2, a: ExprId, b: ExprId) -> ExprId {
        if let (Some(x), Some(y)) = (self.as_number(a), self.as_number(b)) {
            let z = f.eval(x, y);
            if z.is_finite() {
                return self.number(z);
            }
        }
        self.intern(Node::Call2(f, a, b))
    }

    /// 1 where the comparison holds, else 0
    pub fn compare(&mut self, c: Comparison, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_number(a), self.as_number(b)) {
            (Some(x), Some(y)) => self.number(f64::from(u8::from(c.holds(x, y)))),
            _ => self.intern(Node::Compare(c, a, b)),
        }
    }

    /// not a
    pub fn not(&mut self, a: ExprId) -> ExprId {
        match self.node(a) {
            Node::Number(bits) => self.number(f64::from(u8::from(f64::from_bits(bits) == 0.0))),
            Node::Not(x) => x,
            _ => self.intern(Node::Not(a)),
        }
    }

    /// a and b
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_number(a), self.as_number(b)) {
            (Some(0.0), _) | (_, Some(0.0)) => self.number(0.0),
            (Some(_), _) => b,
            (_, Some(_)) => a,
            _ => self.intern(Node::And(a.min(b), a.max(b))),
        }
    }

    /// a or b
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_number(a), self.as_number(b)) {
            (Some(0.0), _) => b,
            (_, Some(0.0)) => a,
            (Some(_), _) | (_, Some(_)) => self.number(1.0),
            _ => self.intern(Node::Or(a.min(b), a.max(b))),
        }
    }

    /// a where the condition holds, else b
    pub fn if_else(&mut self, condition: ExprId, a: ExprId, b: ExprId) -> ExprId {
        match self.as_number(condition) {
            Some(0.0) => b,
            Some(_) => a,
            None if a == b => a,
            None => self.intern(Node::If(condition, a, b)),
        }
    }

    /// Promises continuity.
    pub fn smooth(&mut self, a: ExprId) -> ExprId {
        match self.node(a) {
            Node::Number(_) | Node::Symbol(_) | Node::Smooth(_) => a,
            _ => self.intern(Node::Smooth(a)),
        }
    }

    /// Registers an external function.
    pub fn add_external(&mut self, function: Arc<dyn External>) -> ExternalId {
        self.externals.push(function);
        ExternalId((self.externals.len() - 1) as u32)
    }

    /// Gives an external function.
    pub fn external(&self, id: ExternalId) -> &Arc<dyn External> {
        &self.externals[id.0 as usize]
    }

    /// Gives all external functions, by [`ExternalId`].
    pub fn externals(&self) -> &[Arc<dyn External>] {
        &self.externals
    }

    /// Gives the function whose outputs are the slopes of another, row by output.
    ///
    /// Where the function does not know better, its own slopes are found by differences: see [`crate::slopes::SlopesOf`].
    pub fn slopes_as_external(&mut self, id: ExternalId) -> ExternalId {
        if let Some(&known) = self.slopes.get(&id) {
            return known;
        }
        let function = self.external(id);
        let function = function
            .slope_function()
            .unwrap_or_else(|| Arc::new(crate::slopes::SlopesOf::new(function.clone())));
        let slopes = self.add_external(function);
        self.slopes.insert(id, slopes);
        slopes
    }

    /// Gives a list of arguments.
    pub fn args(&self, id: ArgsId) -> &[ExprId] {
        &self.args[id.0 as usize]
    }

    /// Output number `output` of an external function.
    pub fn call_external(&mut self, f: ExternalId, args: &[ExprId], output: u32) -> ExprId {
        let args = self.intern_args(args);
        self.intern(Node::External(f, args, output))
    }

    /// Copies one expression into a pool of its own; symbols keep their ids.
    ///
    /// Costs as much as the expression is large, however large this pool is.
    pub fn extract(&self, root: ExprId) -> (Pool, ExprId) {
        let (pool, roots) = self.extract_all(&[root]);
        (pool, roots[0])
    }

    /// As [`Pool::extract`], for several expressions that share parts.
    pub fn extract_all(&self, roots: &[ExprId]) -> (Pool, Vec<ExprId>) {
        let old_ids = below(self, roots);
        let mut pool = Pool::default();
        let mut functions: FxHashMap<ExternalId, ExternalId> = FxHashMap::default();
        let mut new_ids: Vec<ExprId> = Vec::with_capacity(old_ids.len());
        for &old in &old_ids {
            let node = self.node(old);
            let at = |e: ExprId| {
                let place = old_ids.binary_search(&e);
                new_ids[place.expect("arguments are below their user")]
            };
            let copy = match node {
                Node::Number(_) | Node::Symbol(_) => node,
                Node::Neg(a) => Node::Neg(at(a)),
                Node::Add(a, b) => Node::Add(at(a), at(b)),
                Node::Sub(a, b) => Node::Sub(at(a), at(b)),
                Node::Mul(a, b) => Node::Mul(at(a), at(b)),
                Node::Div(a, b) => Node::Div(at(a), at(b)),
                Node::Power(a, b) => Node::Power(at(a), at(b)),
                Node::Call1(f, a) => Node::Call1(f, at(a)),
                Node::Call2(f, a, b) => Node::Call2(f, at(a), at(b)),
                Node::Compare(c, a, b) => Node::Compare(c, at(a), at(b)),
                Node::Not(a) => Node::Not(at(a)),
                Node::And(a, b) => Node::And(at(a), at(b)),
                Node::Or(a, b) => Node::Or(at(a), at(b)),
                Node::If(c, a, b) => Node::If(at(c), at(a), at(b)),
                Node::Smooth(a) => Node::Smooth(at(a)),
                Node::External(f, args, o) | Node::ExternalSlope(f, args, o) => {
                    let args: Vec<ExprId> = self.args(args).iter().map(|&a| at(a)).collect();
                    let args = pool.intern_args(&args);
                    let f = *functions
                        .entry(f)
                        .or_insert_with(|| pool.add_external(self.external(f).clone()));
                    match node {
                        Node::External(..) => Node::External(f, args, o),
                        _ => Node::ExternalSlope(f, args, o),
                    }
                }
            };
            new_ids.push(pool.intern(copy));
        }

        let copy_of = |root: &ExprId| {
            let place = old_ids.binary_search(root);
            new_ids[place.expect("a root is below itself")]
        };
        let roots = roots.iter().map(copy_of).collect();
        (pool, roots)
    }

    /// Visits the direct arguments of a node.
    pub fn each_argument(&self, e: ExprId, mut visit: impl FnMut(ExprId)) {
        match self.node(e) {
            Node::Number(_) | Node::Symbol(_) => {}
            Node::Neg(a) | Node::Call1(_, a) | Node::Not(a) | Node::Smooth(a) => visit(a),
            Node::Add(a, b)
            | Node::Sub(a, b)
            | Node::Mul(a, b)
            | Node::Div(a, b)
            | Node::Power(a, b)
            | Node::Call2(_, a, b)
            | Node::Compare(_, a, b)
            | Node::And(a, b)
            | Node::Or(a, b) => {
                visit(a);
                visit(b);
            }
            Node::If(c, a, b) => {
                visit(c);
                visit(a);
                visit(b);
            }
            Node::External(_, args, _) | Node::ExternalSlope(_, args, _) => {
                for &a in self.args(args) {
                    visit(a);
                }
            }
        }
    }

    /// Stores a list of arguments.
    pub fn intern_args(&mut self, args: &[ExprId]) -> ArgsId {
        if let Some(&id) = self.args_ids.get(args) {
            return id;
        }
        let id = ArgsId(self.args.len() as u32);
        self.args.push(args.into());
        self.args_ids.insert(args.into(), id);
        id
    }
}

/// xⁿ as every engine computes it: whole powers up to 64 by repeated squaring, others by `powf`.
///
/// Interpreter, machine code and constant folding share this routine, so they give the same bits.
pub fn power(x: f64, n: f64) -> f64 {
    if n.fract() != 0.0 || n.abs() > 64.0 {
        return x.powf(n);
    }
    let mut left = n.abs() as u32;
    let (mut base, mut result) = (x, 1.0);
    while left > 0 {
        if left & 1 == 1 {
            result *= base;
        }
        base *= base;
        left >>= 1;
    }
    if n < 0.0 { 1.0 / result } else { result }
}

impl Function1 {
    /// Computes the function.
    #[inline(always)]
    pub fn eval(self, x: f64) -> f64 {
        match self {
            Function1::Sin => crate::angle::sin(x),
            Function1::Cos => crate::angle::cos(x),
            Function1::Tan => x.tan(),
            Function1::Asin => x.asin(),
            Function1::Acos => x.acos(),
            Function1::Atan => x.atan(),
            Function1::Sinh => x.sinh(),
            Function1::Cosh => x.cosh(),
            Function1::Tanh => x.tanh(),
            Function1::Exp => x.exp(),
            Function1::Log => x.ln(),
            Function1::Log10 => x.log10(),
            Function1::Sqrt => x.sqrt(),
            Function1::Abs => x.abs(),
            Function1::Sign => {
                if x > 0.0 {
                    1.0
                } else if x < 0.0 {
                    -1.0
                } else {
                    // Zero and NaN: a NaN must stay visible.
                    x * 0.0
                }
            }
            Function1::Floor => x.floor(),
            Function1::Ceil => x.ceil(),
            Function1::Round => x.round(),
        }
    }
}

impl Function2 {
    /// Computes the function. `Min` and `Max` give NaN if either argument is NaN.
    #[inline(always)]
    pub fn eval(self, a: f64, b: f64) -> f64 {
        match self {
            Function2::Atan2 => a.atan2(b),
            Function2::Min => {
                if a.is_nan() || b.is_nan() {
                    f64::NAN
                } else if b < a {
                    b
                } else {
                    a
                }
            }
            Function2::Max => {
                if a.is_nan() || b.is_nan() {
                    f64::NAN
                } else if b > a {
                    b
                } else {
                    a
                }
            }
            Function2::Mod => a - b * (a / b).floor(),
            Function2::Hypot => a.hypot(b),
        }
    }
}

impl Comparison {
    /// Tells whether it holds.
    pub fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Comparison::Less => a < b,
            Comparison::LessEqual => a <= b,
            Comparison::Greater => a > b,
            Comparison::GreaterEqual => a >= b,
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// n x
    #[derive(Debug)]
    struct Times(f64);

    impl External for Times {
        fn name(&self) -> &str {
            "times"
        }

        fn n_inputs(&self) -> usize {
            1
        }

        fn n_outputs(&self) -> usize {
            1
        }

        fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
            outputs[0] = self.0 * inputs[0];
            Ok(())
        }

        fn slopes(&self, _: &[f64], slopes: &mut [f64]) -> Result<(), String> {
            slopes[0] = self.0;
            Ok(())
        }
    }

    #[test]
    fn what_is_extracted_has_the_same_value_and_holds_nothing_else() {
        let mut pool = Pool::new();
        let functions: Vec<ExternalId> = (0..5)
            .map(|k| pool.add_external(Arc::new(Times(f64::from(k)))))
            .collect();
        let x = pool.symbol(SymbolId(7));
        // Others fill the pool around what is wanted.
        let mut around = x;
        for k in 0..1000 {
            let n = pool.number(f64::from(k));
            around = pool.mul(around, n);
            around = pool.add(around, x);
        }
        let inside = pool.call_external(functions[3], &[x], 0);
        let square = pool.powi(inside, 2);
        let wanted = pool.call_external(functions[4], &[square], 0);
        let (own, root) = pool.extract(wanted);
        assert_eq!(own.externals().len(), 2);
        assert_eq!(own.len(), 5);
        let value = |pool: &Pool, e| crate::evaluate::evaluate(pool, e, &|_| 2.0);
        assert_eq!(value(&own, root), Ok(144.0));
        assert_eq!(value(&own, root), value(&pool, wanted));
    }
}
