//! Walks over expressions: what they read, how large they are, the same with other arguments.
//!
//! In:  a pool and expressions in it.
//! Out: lists of symbols, counts, rebuilt expressions.
//!
//! **Invariant:** no walk recurses, and each visits a shared part once: cost is linear in
//! the number of different nodes below the expression, never in the size of the written text.

use crate::expr::{ArgsId, ExprId, Node, Pool, SymbolId};
use rustc_hash::FxHashSet;

/// Lists the symbols that an expression reads, ascending.
pub fn symbols_of(pool: &Pool, e: ExprId) -> Vec<SymbolId> {
    let mut symbols: Vec<SymbolId> = below(pool, &[e])
        .into_iter()
        .filter_map(|id| pool.as_symbol(id))
        .collect();
    symbols.sort_unstable();
    symbols
}

/// Tells whether an expression reads a symbol.
pub fn depends_on(pool: &Pool, e: ExprId, symbol: SymbolId) -> bool {
    below(pool, &[e])
        .into_iter()
        .any(|id| pool.as_symbol(id) == Some(symbol))
}

/// Puts expressions in the place of symbols; `None` leaves a symbol as it is.
///
/// All at once: what is put in is not searched again.
pub fn substitute(pool: &mut Pool, e: ExprId, map: &dyn Fn(SymbolId) -> Option<ExprId>) -> ExprId {
    substitute_all(pool, &[e], map)[0]
}

/// As [`substitute`] for many expressions; parts that they share are rebuilt once.
pub fn substitute_all(
    pool: &mut Pool,
    expressions: &[ExprId],
    map: &dyn Fn(SymbolId) -> Option<ExprId>,
) -> Vec<ExprId> {
    let order = below(pool, expressions);
    let rebuilt = substitute_below(pool, &order, map);
    expressions
        .iter()
        .map(|&e| rebuilt[place(&order, e)])
        .collect()
}

/// As [`substitute`], for each node of a list made by [`below`].
pub(crate) fn substitute_below(
    pool: &mut Pool,
    order: &[ExprId],
    map: &dyn Fn(SymbolId) -> Option<ExprId>,
) -> Vec<ExprId> {
    let mut rebuilt: Vec<ExprId> = Vec::with_capacity(order.len());
    for &id in order {
        let new = match pool.node(id) {
            Node::Symbol(s) => map(s).unwrap_or(id),
            _ => rebuild(pool, id, &|a| rebuilt[place(order, a)]),
        };
        rebuilt.push(new);
    }
    rebuilt
}

/// Where a node is in a list made by [`below`].
pub(crate) fn place(order: &[ExprId], id: ExprId) -> usize {
    order
        .binary_search(&id)
        .expect("the list holds the arguments of its nodes")
}

/// Counts the operations that computing an expression takes, shared parts once.
pub fn count_operations(pool: &Pool, e: ExprId) -> usize {
    below(pool, &[e])
        .into_iter()
        .filter(|&id| {
            !matches!(
                pool.node(id),
                Node::Number(_) | Node::Symbol(_) | Node::Smooth(_)
            )
        })
        .count()
}

/// Counts the operations in the written text of an expression: shared parts as often as they
/// are written. Stops growing at `usize::MAX`.
pub fn count_written_operations(pool: &Pool, e: ExprId) -> usize {
    count_written_with(pool, e, &|_| 0)
}

/// As [`count_written_operations`], with as many operations for a symbol as `weight` tells.
pub fn count_written_with(pool: &Pool, e: ExprId, weight: &dyn Fn(SymbolId) -> usize) -> usize {
    let order = below(pool, &[e]);
    let mut counts: Vec<usize> = Vec::with_capacity(order.len());
    for &id in &order {
        let mut n = match pool.node(id) {
            Node::Number(_) | Node::Smooth(_) => 0,
            Node::Symbol(s) => weight(s),
            _ => 1,
        };
        for_each_argument(pool, id, |a| {
            n = usize::saturating_add(n, counts[place(&order, a)]);
        });
        counts.push(n);
    }
    counts[place(&order, e)]
}

/// Calls a function for each argument of a node, first to last.
pub fn for_each_argument(pool: &Pool, e: ExprId, f: impl FnMut(ExprId)) {
    pool.each_argument(e, f);
}

/// Makes the node anew with other arguments, through the folding constructors.
///
/// A node whose arguments all stay the same stays the same.
pub fn rebuild(pool: &mut Pool, e: ExprId, new: &dyn Fn(ExprId) -> ExprId) -> ExprId {
    let mut is_same = true;
    for_each_argument(pool, e, |a| is_same &= new(a) == a);
    if is_same {
        return e;
    }

    match pool.node(e) {
        Node::Number(_) | Node::Symbol(_) => e,
        Node::Neg(a) => pool.neg(new(a)),
        Node::Add(a, b) => pool.add(new(a), new(b)),
        Node::Sub(a, b) => pool.sub(new(a), new(b)),
        Node::Mul(a, b) => pool.mul(new(a), new(b)),
        Node::Div(a, b) => pool.div(new(a), new(b)),
        Node::Power(a, b) => pool.pow(new(a), new(b)),
        Node::Call1(f, a) => pool.call1(f, new(a)),
        Node::Call2(f, a, b) => pool.call2(f, new(a), new(b)),
        Node::Compare(c, a, b) => pool.compare(c, new(a), new(b)),
        Node::Not(a) => pool.not(new(a)),
        Node::And(a, b) => pool.and(new(a), new(b)),
        Node::Or(a, b) => pool.or(new(a), new(b)),
        Node::If(a, b, c) => pool.if_else(new(a), new(b), new(c)),
        Node::Smooth(a) => pool.smooth(new(a)),
        Node::External(f, args, output) => {
            let args = rebuild_args(pool, args, new);
            pool.intern(Node::External(f, args, output))
        }
        Node::ExternalSlope(f, args, slope) => {
            let args = rebuild_args(pool, args, new);
            pool.intern(Node::ExternalSlope(f, args, slope))
        }
    }
}

fn rebuild_args(pool: &mut Pool, args: ArgsId, new: &dyn Fn(ExprId) -> ExprId) -> ArgsId {
    let args: Vec<ExprId> = pool.args(args).iter().map(|&a| new(a)).collect();
    pool.intern_args(&args)
}

/// Lists every node below some expressions, themselves included, arguments before their users.
pub fn below(pool: &Pool, expressions: &[ExprId]) -> Vec<ExprId> {
    // Most expressions are so small that looking through a list beats hashing.
    const FEW: usize = 24;
    let mut found: Vec<ExprId> = Vec::new();
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut stack: Vec<ExprId> = expressions.to_vec();
    while let Some(e) = stack.pop() {
        let is_new = if found.len() < FEW {
            !found.contains(&e)
        } else {
            if seen.is_empty() {
                seen.extend(found.iter().copied());
            }
            seen.insert(e)
        };
        if is_new {
            found.push(e);
            for_each_argument(pool, e, |a| stack.push(a));
        }
    }
    // Arguments have smaller ids than their users, so ascending ids are an order of computation.
    found.sort_unstable();
    found
}

/// Visits many expressions in one pool with memory that is set up once.
///
/// Each visit costs as much as the expression has different nodes; starting over
/// ([`Walker::restart`]) costs nothing.
#[derive(Clone, Debug, Default)]
pub struct Walker {
    stamps: Vec<u32>,
    generation: u32,
    stack: Vec<ExprId>,
}

impl Walker {
    /// Makes a walker.
    pub fn new() -> Self {
        Walker {
            stamps: Vec::new(),
            generation: 1,
            stack: Vec::new(),
        }
    }

    /// Forgets which nodes were visited.
    pub fn restart(&mut self) {
        if self.generation == u32::MAX {
            self.stamps.fill(0);
            self.generation = 0;
        }
        self.generation += 1;
    }

    /// Calls `f` for every node below `e` that was not visited since the last restart.
    ///
    /// Users may come before their arguments.
    pub fn visit(&mut self, pool: &Pool, e: ExprId, mut f: impl FnMut(ExprId)) {
        if self.stamps.len() < pool.len() {
            self.stamps.resize(pool.len(), 0);
        }
        self.stack.push(e);
        while let Some(e) = self.stack.pop() {
            let stamp = &mut self.stamps[e.0 as usize];
            if *stamp == self.generation {
                continue;
            }
            *stamp = self.generation;
            f(e);
            let stack = &mut self.stack;
            for_each_argument(pool, e, |a| stack.push(a));
        }
    }

    /// Collects the symbols of one expression, ascending, into a list that is emptied first.
    pub fn symbols_of(&mut self, pool: &Pool, e: ExprId, symbols: &mut Vec<SymbolId>) {
        symbols.clear();
        self.restart();
        self.visit(pool, e, |id| symbols.extend(pool.as_symbol(id)));
        symbols.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xy() -> (Pool, ExprId, ExprId) {
        let mut pool = Pool::new();
        let (x, y) = (pool.symbol(SymbolId(0)), pool.symbol(SymbolId(1)));
        (pool, x, y)
    }

    #[test]
    fn symbols_are_listed_once_and_sorted() {
        let (mut pool, x, y) = xy();
        let e = pool.mul(y, x);
        let e = pool.add(e, x);
        assert_eq!(symbols_of(&pool, e), [SymbolId(0), SymbolId(1)]);
        assert!(depends_on(&pool, e, SymbolId(1)));
        let mut list = vec![SymbolId(9)];
        let mut walker = Walker::new();
        walker.symbols_of(&pool, e, &mut list);
        walker.symbols_of(&pool, e, &mut list);
        assert_eq!(list, [SymbolId(0), SymbolId(1)]);
    }

    #[test]
    fn substitution_is_simultaneous_and_folds() {
        let (mut pool, x, y) = xy();
        let e = pool.sub(x, y);
        let swapped = substitute(&mut pool, e, &|s| {
            Some(if s == SymbolId(0) { y } else { x })
        });
        assert_eq!(pool.node(swapped), Node::Sub(y, x));
        let zero = substitute(&mut pool, e, &|_| Some(x));
        assert_eq!(pool.as_number(zero), Some(0.0));
    }

    #[test]
    fn a_million_levels_deep_is_walked_without_recursion() {
        let (mut pool, x, y) = xy();
        let mut e = x;
        for _ in 0..1_000_000 {
            e = pool.mul(e, y);
            e = pool.add(e, x);
        }
        assert_eq!(count_operations(&pool, e), 2_000_000);
        let at_one = pool.number(1.0);
        let new = substitute(&mut pool, e, &|_| Some(at_one));
        assert_eq!(pool.as_number(new), Some(1_000_001.0));
    }

    #[test]
    fn written_operations_count_shared_parts_each_time() {
        let (mut pool, x, _) = xy();
        let square = pool.mul(x, x);
        let sum = pool.add(square, x);
        let e = pool.mul(square, sum);
        assert_eq!(count_operations(&pool, e), 3);
        assert_eq!(count_written_operations(&pool, e), 4);
    }
}
