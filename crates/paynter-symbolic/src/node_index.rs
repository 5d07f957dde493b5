//! Finds an expression node by its content.
//!
//! In:  nodes, in the order in which they are made.
//! Out: the id of each, old if an equal node was made before.
//!
//! Nodes are filed under their newest argument. Parts of a model are written one after the other, so the newest
//! argument of what is being made was itself made a moment ago, and its line is still in the cache; a hash
//! table over all nodes would touch a random place in memory for each. A line that is full passes nodes on to
//! such a table, so that a node with any number of users costs no more than hashing does.
//!
//! **Invariant:** no two nodes are equal. Looking up or adding a node takes bounded work (plus, rarely, one pass over
//! all nodes when their number has doubled).

use crate::expr::{ExprId, Node};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Ids of nodes by content.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeIndex {
    /// Ids of symbol nodes, by symbol; [`NONE`] where there is none.
    symbols: Vec<u32>,
    /// Each is one line of the processor's cache. Their number is a power of two, or 0.
    lines: Vec<[u64; ENTRIES]>,
    n_in_lines: usize,
    /// Numbers, symbols far from all others, and what found its line full.
    others: FxHashMap<Node, ExprId>,
    n_far_symbols: usize,
}

const NONE: u32 = u32::MAX;

/// Entries of a line: 32 bits of a hash, then the id.
const ENTRIES: usize = 8;

const EMPTY: u64 = u64::MAX;

/// Arguments that share a line. A node has one user on average, so lines are half full at most.
const ARGUMENTS_OF_LINE: u32 = 4;

const FEWEST_LINES: usize = 8;

/// Room for symbols beyond twice the number of nodes: more would be mostly empty.
const SPARE_SYMBOLS: usize = 64;

impl NodeIndex {
    /// Gives the id of a node, adding it to `nodes` if it is new.
    pub(crate) fn find_or_add(&mut self, nodes: &mut Vec<Node>, node: Node) -> ExprId {
        if let Node::Symbol(s) = node {
            return self.symbol(nodes, s.0);
        }
        let Some(newest) = newest_argument(node) else {
            return *self.others.entry(node).or_insert_with(|| push(nodes, node));
        };
        if self.n_in_lines >= ENTRIES / 2 * self.lines.len() {
            self.grow(nodes);
        }
        let hash = fingerprint(node);
        let at = self.line_of(newest);
        let line = &mut self.lines[at];
        for entry in line {
            if *entry == EMPTY {
                let id = push(nodes, node);
                *entry = hash << 32 | u64::from(id.0);
                self.n_in_lines += 1;
                return id;
            }
            let id = *entry as u32;
            if *entry >> 32 == hash && nodes[id as usize] == node {
                return ExprId(id);
            }
        }
        *self.others.entry(node).or_insert_with(|| push(nodes, node))
    }

    fn symbol(&mut self, nodes: &mut Vec<Node>, s: u32) -> ExprId {
        let node = Node::Symbol(crate::expr::SymbolId(s));
        let place = s as usize;
        match self.symbols.get(place) {
            Some(&NONE) | None => {}
            Some(&id) => return ExprId(id),
        }
        if self.n_far_symbols > 0
            && let Some(&id) = self.others.get(&node)
        {
            return id;
        }
        let id = push(nodes, node);
        if place < self.symbols.len().max(2 * nodes.len() + SPARE_SYMBOLS) {
            if place >= self.symbols.len() {
                self.symbols.resize(place + 1, NONE);
            }
            self.symbols[place] = id.0;
        } else {
            self.others.insert(node, id);
            self.n_far_symbols += 1;
        }
        id
    }

    fn line_of(&self, newest: u32) -> usize {
        (newest / ARGUMENTS_OF_LINE) as usize & (self.lines.len() - 1)
    }

    /// Doubles the number of lines, and files all nodes anew.
    fn grow(&mut self, nodes: &[Node]) {
        let n_lines = (2 * self.lines.len()).max(FEWEST_LINES);
        let old = std::mem::take(&mut self.lines);
        self.lines = vec![[EMPTY; ENTRIES]; n_lines];
        self.n_in_lines = 0;
        let mut passed_on: Vec<(Node, ExprId)> = Vec::new();
        self.others.retain(|&node, &mut id| {
            let stays = newest_argument(node).is_none();
            if !stays {
                passed_on.push((node, id));
            }
            stays
        });
        for entry in old.into_iter().flatten().filter(|&entry| entry != EMPTY) {
            self.file(nodes[entry as u32 as usize], entry);
        }
        for (node, id) in passed_on {
            self.file(node, fingerprint(node) << 32 | u64::from(id.0));
        }
    }

    fn file(&mut self, node: Node, entry: u64) {
        let newest = newest_argument(node).expect("lines hold nodes with arguments");
        let line = self.line_of(newest);
        match self.lines[line].iter_mut().find(|e| **e == EMPTY) {
            Some(free) => {
                *free = entry;
                self.n_in_lines += 1;
            }
            None => {
                self.others.insert(node, ExprId(entry as u32));
            }
        }
    }
}

fn push(nodes: &mut Vec<Node>, node: Node) -> ExprId {
    let id = u32::try_from(nodes.len()).expect("fewer than 2^32 expressions");
    assert!(id != NONE, "fewer than 2^32 - 1 expressions");
    nodes.push(node);
    ExprId(id)
}

/// The argument with the largest id; none for numbers and symbols.
fn newest_argument(node: Node) -> Option<u32> {
    Some(match node {
        Node::Number(_) | Node::Symbol(_) => return None,
        Node::Neg(a) | Node::Call1(_, a) | Node::Not(a) | Node::Smooth(a) => a.0,
        Node::Add(a, b)
        | Node::Sub(a, b)
        | Node::Mul(a, b)
        | Node::Div(a, b)
        | Node::Power(a, b)
        | Node::Call2(_, a, b)
        | Node::Compare(_, a, b)
        | Node::And(a, b)
        | Node::Or(a, b) => a.0.max(b.0),
        Node::If(c, a, b) => c.0.max(a.0).max(b.0),
        Node::External(_, args, _) | Node::ExternalSlope(_, args, _) => args.0,
    })
}

/// 32 bits that tell nodes apart, nearly always.
fn fingerprint(node: Node) -> u64 {
    let mut hasher = FxHasher::default();
    node.hash(&mut hasher);
    hasher.finish() >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Function1, SymbolId};

    /// Nodes of every family, many of them under one argument, many equal.
    fn scattered(n: u32) -> Vec<Node> {
        let mut x = 12_345_u64;
        let mut next = move |below: u32| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (x >> 33) as u32 % below
        };
        (0..n)
            .map(|i| {
                let (a, b) = (ExprId(next(i + 1)), ExprId(next(i / 2 + 1)));
                match next(9) {
                    0 => Node::Number(u64::from(next(50))),
                    1 => Node::Symbol(SymbolId(next(400))),
                    2 => Node::Symbol(SymbolId(1_000_000_000 + next(400))),
                    3 => Node::Neg(b),
                    4 => Node::Call1(Function1::Sin, a),
                    // All of these are filed under one argument.
                    5 => Node::Mul(b, ExprId(n)),
                    6 => Node::If(a, b, a),
                    _ => Node::Add(a.min(b), a.max(b)),
                }
            })
            .collect()
    }

    #[test]
    fn equal_nodes_have_equal_ids_whatever_their_users() {
        let mut index = NodeIndex::default();
        let mut nodes = Vec::new();
        let mut known: FxHashMap<Node, ExprId> = FxHashMap::default();
        for node in scattered(20_000) {
            let id = index.find_or_add(&mut nodes, node);
            assert_eq!(*known.entry(node).or_insert(id), id);
            assert_eq!(nodes[id.0 as usize], node);
        }
        assert_eq!(nodes.len(), known.len());
        for (&node, &id) in &known {
            assert_eq!(index.find_or_add(&mut nodes, node), id);
        }
        assert_eq!(nodes.len(), known.len());
    }

    #[test]
    fn memory_stays_in_proportion() {
        let mut index = NodeIndex::default();
        let mut nodes = Vec::new();
        for node in scattered(50_000) {
            index.find_or_add(&mut nodes, node);
        }
        assert!(index.symbols.len() <= 2 * nodes.len() + SPARE_SYMBOLS);
        assert!(index.lines.len() * ENTRIES <= 4 * nodes.len());
    }
}
