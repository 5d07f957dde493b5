//! Orders elements and bonds by their names, so that text order never decides anything.
//!
//! In:  a bond graph.
//! Out: a [`Ranking`]: one number for each element and bond.
//!
//! **Invariant:** two graphs that differ only in the order of their elements and bonds give
//! the same ranks to the same names. Elements without a name are ranked by what they are, by
//! their neighbours and by their law; only exact twins are left in the order of the graph.

use crate::graph::{Bond, BondGraph, BondId, ElementId, End};
use paynter_symbolic::{ExprId, Node};
use std::cmp::Ordering;
use std::fmt::Write as _;

/// Ranks of elements and bonds, lower first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranking {
    /// By [`ElementId`].
    pub element: Vec<u32>,
    /// By [`BondId`].
    pub bond: Vec<u32>,
    /// All bonds, lowest rank first.
    pub bonds: Vec<BondId>,
}

/// Ranks everything in the graph.
pub(super) fn rank(graph: &BondGraph) -> Ranking {
    let n_elements = graph.elements.len();
    let mut keys = Keys::with_capacity(n_elements);
    let mut text = String::new();
    for i in 0..n_elements {
        text.clear();
        element_key(graph, ElementId(i as u32), &mut text);
        keys.push(&text);
    }

    let heads = (0..n_elements).map(|i| keys.head(i)).collect();
    let element = inverse(&sorted(heads, |a, b| keys.get(a).cmp(keys.get(b))));
    let bond_key = |bond: &Bond| {
        // A junction numbers its ports in text order; every other element by its law.
        let port = |end: End| {
            if graph.element(end.element).kind.is_junction() {
                0
            } else {
                end.port
            }
        };
        let parts = [
            element[bond.tail.element.0 as usize],
            element[bond.head.element.0 as usize],
            port(bond.tail),
            port(bond.head),
        ];
        parts
            .into_iter()
            .fold(0, |key, part| key << 32 | u128::from(part))
    };

    let name = |i: usize| {
        graph.bonds[i]
            .name
            .map(|p| graph.signals.names.display(p))
            .unwrap_or_default()
    };

    let order = sorted(graph.bonds.iter().map(bond_key).collect(), |a, b| {
        natural(&name(a), &name(b))
    });
    Ranking {
        element,
        bond: inverse(&order),
        bonds: order.into_iter().map(BondId).collect(),
    }
}

/// Sorts 0, 1, … by numbers, equal numbers by `compare`, equal ones by themselves.
fn sorted(heads: Vec<u128>, compare: impl Fn(usize, usize) -> Ordering) -> Vec<u32> {
    let mut order: Vec<(u128, u32)> = heads.into_iter().zip(0..).collect();
    order.sort_unstable_by(|a, b| {
        a.0.cmp(&b.0)
            .then_with(|| compare(a.1 as usize, b.1 as usize))
            .then(a.1.cmp(&b.1))
    });
    order.into_iter().map(|(_, i)| i).collect()
}

/// Gives each number its place in the list.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    for (position, &i) in order.iter().enumerate() {
        place[i as usize] = position as u32;
    }
    place
}

/// Texts written so that comparing bytes is comparing as [`natural`] does.
struct Keys {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Keys {
    fn with_capacity(n: usize) -> Self {
        Keys {
            bytes: Vec::new(),
            ends: Vec::with_capacity(n),
        }
    }

    fn push(&mut self, text: &str) {
        write_natural(text.as_bytes(), &mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    fn get(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    /// The first bytes as a number; a text that ends before continues with zeros.
    fn head(&self, i: usize) -> u128 {
        let key = self.get(i);
        let n = key.len().min(16);
        let mut head = [0; 16];
        head[..n].copy_from_slice(&key[..n]);
        u128::from_be_bytes(head)
    }
}

/// Writes numbers as how many digits they have, the digits, and the zeros before them. What tells how many digits
/// is a digit itself, so that numbers stay between what they are between in a text.
fn write_natural(mut text: &[u8], key: &mut Vec<u8>) {
    while let Some(&c) = text.first() {
        if !c.is_ascii_digit() {
            key.push(c);
            text = &text[1..];
            continue;
        }
        let n = text.iter().take_while(|c| c.is_ascii_digit()).count();
        let zeros = text[..n].iter().take_while(|&&c| c == b'0').count();
        let n_digits = n - zeros;
        key.push(b'0' + n_digits.min(9) as u8);
        if n_digits >= 9 {
            key.extend((n_digits as u64).to_be_bytes());
        }
        key.extend(&text[zeros..n]);
        key.push(zeros.min(255) as u8);
        if zeros >= 255 {
            key.extend((zeros as u64).to_be_bytes());
        }
        text = &text[n..];
    }
}

/// Names an element for messages: `` `mesh` ``, or "the TF between `turn` and `along`".
pub(super) fn describe(graph: &BondGraph, id: ElementId) -> String {
    match graph.element(id).name {
        Some(path) => format!("`{}`", graph.signals.names.display(path)),
        None => unnamed(graph, id),
    }
}

/// Names a bond for messages: `` bond `shaft` ``, or "the bond `mesh` -> `r1`".
pub(super) fn describe_bond(graph: &BondGraph, id: BondId) -> String {
    let bond = graph.bond(id);
    match bond.name {
        Some(path) => format!("bond `{}`", graph.signals.names.display(path)),
        None => format!(
            "{} -> {}",
            describe(graph, bond.tail.element),
            describe(graph, bond.head.element)
        ),
    }
}

fn unnamed(graph: &BondGraph, id: ElementId) -> String {
    let element = graph.element(id);
    let neighbours: Vec<String> = neighbours(graph, id)
        .take(MAX_SHOWN_NEIGHBOURS)
        .map(|n| match graph.element(n).name {
            Some(path) => format!("`{}`", graph.signals.names.display(path)),
            None => format!("a {}", graph.element(n).kind.letters()),
        })
        .collect();
    let kind = element.kind.letters();
    match neighbours.as_slice() {
        [] => format!("the {kind} without bonds"),
        [one] => format!("the {kind} at {one}"),
        many => format!("the {kind} between {}", many.join(" and ")),
    }
}

/// Two ends tell where a two-port is; a junction without a name needs no complete list.
const MAX_SHOWN_NEIGHBOURS: usize = 3;

fn neighbours(graph: &BondGraph, id: ElementId) -> impl Iterator<Item = ElementId> + '_ {
    graph.element(id).ports.iter().map(move |&b| {
        let bond = graph.bond(b);
        if bond.tail.element == id {
            bond.head.element
        } else {
            bond.tail.element
        }
    })
}

/// Named things come first, in natural order of their names.
fn element_key(graph: &BondGraph, id: ElementId, key: &mut String) {
    let element = graph.element(id);
    if let Some(path) = element.name {
        return graph.signals.names.write_path(path, key);
    }
    let mut around: Vec<String> = neighbours(graph, id)
        .take(MAX_SHOWN_NEIGHBOURS)
        .map(|n| match graph.element(n).name {
            Some(path) => graph.signals.names.display(path),
            None => graph.element(n).kind.letters().to_owned(),
        })
        .collect();
    if element.kind.is_junction() {
        around.sort();
    }
    // `~` sorts after letters, digits and brackets.
    let _ = write!(key, "~{} {}", element.kind.letters(), around.join(" "));
    for expression in element
        .law
        .expressions()
        .into_iter()
        .take(MAX_SHOWN_NEIGHBOURS)
    {
        let mut budget = KEY_NODES;
        key.push(' ');
        write_key(graph, expression, key, &mut budget);
    }
}

/// How much of a law is read to tell two unnamed elements apart: enough for `-sin(beta)`,
/// little enough that a shared huge expression costs nothing.
const KEY_NODES: usize = 24;

fn write_key(graph: &BondGraph, expression: ExprId, key: &mut String, budget: &mut usize) {
    let mut stack = vec![expression];
    while let Some(e) = stack.pop() {
        if *budget == 0 {
            return;
        }
        *budget -= 1;
        match graph.signals.pool.node(e) {
            Node::Number(bits) => {
                let _ = write!(key, "{} ", f64::from_bits(bits));
            }
            Node::Symbol(s) => {
                let _ = write!(key, "{} ", graph.signals.name_of(s));
            }
            Node::Call1(f, a) => {
                let _ = write!(key, "{f:?} ");
                stack.push(a);
            }
            node => {
                key.push_str(operation(node));
                key.push(' ');
                super::laws::push_children(&graph.signals.pool, e, &mut stack);
            }
        }
    }
}

/// What a node does, in a word.
fn operation(node: Node) -> &'static str {
    match node {
        Node::Number(_) => "Number",
        Node::Symbol(_) => "Symbol",
        Node::Neg(_) => "Neg",
        Node::Add(..) => "Add",
        Node::Sub(..) => "Sub",
        Node::Mul(..) => "Mul",
        Node::Div(..) => "Div",
        Node::Power(..) => "Power",
        Node::Call1(..) => "Call1",
        Node::Call2(..) => "Call2",
        Node::Compare(..) => "Compare",
        Node::Not(_) => "Not",
        Node::And(..) => "And",
        Node::Or(..) => "Or",
        Node::If(..) => "If",
        Node::Smooth(_) => "Smooth",
        Node::External(..) => "External",
        Node::ExternalSlope(..) => "ExternalSlope",
    }
}

/// Compares names as people do: `cell[2]` before `cell[10]`.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let (Some(&x), Some(&y)) = (a.first(), b.first()) else {
            return a.len().cmp(&b.len());
        };
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let digits = |s: &[u8]| s.iter().take_while(|c| c.is_ascii_digit()).count();
            let (n, m) = (digits(a), digits(b));
            let strip = |s: &[u8]| s.iter().take_while(|&&c| c == b'0').count();
            let (za, zb) = (strip(&a[..n]), strip(&b[..m]));
            let (left, right) = (&a[za..n], &b[zb..m]);
            let order = left
                .len()
                .cmp(&right.len())
                .then_with(|| left.cmp(right))
                .then(za.cmp(&zb));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (&a[n..], &b[m..]);
        } else if x == y {
            (a, b) = (&a[1..], &b[1..]);
        } else {
            return x.cmp(&y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Keys, natural};
    use std::cmp::Ordering;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        assert_eq!(natural("cell[2].c", "cell[10].c"), Ordering::Less);
        assert_eq!(natural("r9", "r10"), Ordering::Less);
        assert_eq!(natural("r1", "r1"), Ordering::Equal);
        assert_eq!(natural("r01", "r1"), Ordering::Greater);
        assert_eq!(natural("a", "ab"), Ordering::Less);
    }

    #[test]
    fn keys_are_in_the_order_of_the_names() {
        let zeros = "0".repeat(300);
        let long = ["9".repeat(8), "1".repeat(9), "2".repeat(9), "1".repeat(300)];
        let mut names: Vec<String> = [
            "",
            "a",
            "ab",
            "a.b",
            "a[1]",
            "a[2]",
            "a[10]",
            "a[10].x",
            "a[010]",
            "a[0]",
            "a[00]",
            "a1",
            "a01",
            "a1b",
            "a1.5",
            "a1a",
            "a-1",
            "~TF a b",
            "~R a 0.5 ",
            "Ω[3]",
            "Ω[12]",
            "a[9].z[1]",
            "a[9].z[01]",
            "9",
            "10",
            "x:1",
        ]
        .map(str::to_owned)
        .to_vec();
        for number in long.iter().chain([&zeros]) {
            names.extend([
                format!("a{number}"),
                format!("a{number}z"),
                format!("a0{number}"),
            ]);
        }
        let mut keys = Keys::with_capacity(names.len());
        names.iter().for_each(|name| keys.push(name));
        for (i, a) in names.iter().enumerate() {
            for (j, b) in names.iter().enumerate() {
                let order = natural(a, b);
                assert_eq!(keys.get(i).cmp(keys.get(j)), order, "{a} and {b}");
                assert!(keys.head(i).cmp(&keys.head(j)) != order.reverse() || order.is_eq());
            }
        }
    }
}
