//! The shape of a file over its tokens, with nothing left out.
//!
//! In:  nodes as the parser completes them.
//! Out: a flat list of nodes in post-order (children before their parent).
//!
//! **Invariant:** the nodes of a subtree are contiguous and end with its root, and the
//! tokens of the root are all tokens of the text. There are no pointers, so a tree of any
//! shape is dropped and walked without recursion.

use crate::lex::Tokens;
use std::ops::Range;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(
    missing_docs,
    reason = "each is named after the struct of `ast` that it becomes"
)]
pub enum NodeKind {
    File,
    Use,
    UnitsStrict,
    Domain,
    PortType,
    Model,
    Function,
    Experiment,
    Constant,
    Statement,
    Block,
    Law,
    Layout,
    Decl,
    PortDecl,
    Chain,
    Tuple,
    Kind,
    Size,
    Shape,
    Ref,
    Path,
    Index,
    Args,
    Unit,
    Range,
    Literal,
    Matrix,
    Name,
    Field,
    Call,
    Unary,
    Binary,
    Transpose,
    IfExpr,
    Paren,
    /// Tokens that were stepped over to find the next statement.
    Skipped,
}

/// Names a node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

/// One node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    kind: NodeKind,
    first_token: u32,
    end_token: u32,
    /// Index of the first node of its subtree; its own index if it has no children.
    first_node: u32,
}

/// A lossless tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    tokens: Tokens,
    nodes: Vec<Node>,
}

impl Tree {
    /// Gives the node of the whole file.
    pub fn root(&self) -> NodeId {
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Gives what a node is.
    pub fn kind(&self, node: NodeId) -> NodeKind {
        self.nodes[node.0 as usize].kind
    }

    /// Gives the tokens, of which nodes hold ranges.
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Gives the tokens of a node, those of its children included.
    pub fn token_range(&self, node: NodeId) -> Range<usize> {
        let node = &self.nodes[node.0 as usize];
        node.first_token as usize..node.end_token as usize
    }

    /// Gives the bytes of a node.
    pub fn byte_range(&self, node: NodeId) -> Range<usize> {
        let tokens = self.token_range(node);
        self.tokens.range(tokens.start).start..self.tokens.range(tokens.end).start
    }

    /// Gives the children of a node, last first.
    pub fn children_backwards(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let first = self.nodes[node.0 as usize].first_node;
        let mut next = node.0;
        std::iter::from_fn(move || {
            if next <= first {
                return None;
            }
            let child = NodeId(next - 1);
            next = self.nodes[child.0 as usize].first_node;
            Some(child)
        })
    }

    /// Gives all nodes, children before their parents.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// Puts the tokens together again: gives `text` back if that is the text that was parsed.
    pub fn to_text(&self, text: &str) -> String {
        (0..self.tokens.len())
            .map(|i| self.tokens.text(i, text))
            .collect()
    }

    /// Draws the nodes, one a line, children indented under their parent.
    pub fn outline(&self) -> String {
        let mut lines = Vec::new();
        let mut open = vec![(self.root(), 0)];
        while let Some((node, depth)) = open.pop() {
            lines.push(format!("{}{:?}", "  ".repeat(depth), self.kind(node)));
            // The stack hands them out again in text order.
            open.extend(
                self.children_backwards(node)
                    .map(|child| (child, depth + 1)),
            );
        }
        lines.join("\n")
    }

    /// Tells for each token the kind of the innermost node that holds it.
    pub fn innermost_kinds(&self) -> Vec<NodeKind> {
        let mut kinds = vec![NodeKind::File; self.tokens.len()];
        let mut is_set = vec![false; self.tokens.len()];
        for node in &self.nodes {
            // Children have claimed their tokens already. Walking over them again costs one
            // step per level, and the parser bounds the levels.
            let range = node.first_token as usize..node.end_token as usize;
            for i in range {
                if !is_set[i] && !self.tokens.kind(i).is_trivia() {
                    is_set[i] = true;
                    kinds[i] = node.kind;
                }
            }
        }
        kinds
    }
}

/// Where a node began, to be completed later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    node: u32,
}

/// Collects nodes while the parser runs.
#[derive(Debug, Default)]
pub(crate) struct TreeBuilder {
    nodes: Vec<Node>,
}

impl TreeBuilder {
    /// Remembers that a node begins here.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            node: self.nodes.len() as u32,
        }
    }

    /// Completes a node over `tokens`: all nodes since `mark` become its descendants.
    pub(crate) fn complete(&mut self, mark: Mark, kind: NodeKind, tokens: Range<u32>) {
        self.nodes.push(Node {
            kind,
            first_token: tokens.start,
            end_token: tokens.end.max(tokens.start),
            first_node: mark.node,
        });
    }

    /// Completes the file.
    pub(crate) fn finish(mut self, tokens: Tokens) -> Tree {
        let all = 0..tokens.len() as u32;
        self.complete(Mark { node: 0 }, NodeKind::File, all);
        Tree {
            tokens,
            nodes: self.nodes,
        }
    }
}
