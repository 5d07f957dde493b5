//! Orders elements and bonds by their names, so that text order never decides anything.
//!
//! In:  a bond graph.
//! Out: a [`Ranking`]: one number for each element and bond.
//!
//! **Invariant:** two graphs that differ only in the order of their elements and bonds give
//! the same ranks to the same names. Elements without a name are ranked by what they are, by
//! their neighbours and by their law; only exact twins are left in the order of the graph.

use crate::graph::{BondGraph, BondId, ElementId, Law};
use paynter_symbolic::{ExprId, Node};
use std::cmp::Ordering;
use std::fmt::Write as _;

/// Ranks of elements and bonds, lower first.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranking {
    /// By [`ElementId`].
    pub element: Vec<u32>,
    /// By [`BondId`].
    pub bond: Vec<u32>,
    /// All bonds, lowest rank first.
    pub bonds: Vec<BondId>,
}

/// Ranks everything in the graph.
pub(super) fn rank(graph: &BondGraph) -> Ranking {
    let keys: Vec<String> = (0..graph.elements.len())
        .map(|i| element_key(graph, ElementId(i as u32)))
        .collect();
    let element = ranks(graph.elements.len(), |&a, &b| natural(&keys[a], &keys[b]));
    let bond_key = |i: usize| {
        let bond = &graph.bonds[i];
        // A junction numbers its ports in text order; every other element by its law.
        let port = |end: crate::graph::End| {
            if graph.element(end.element).kind.is_junction() {
                0
            } else {
                end.port
            }
        };
        (
            element[bond.tail.element.0 as usize],
            element[bond.head.element.0 as usize],
            port(bond.tail),
            port(bond.head),
        )
    };
    let name = |i: usize| {
        graph.bonds[i]
            .name
            .map(|p| graph.signals.names.display(p))
            .unwrap_or_default()
    };
    let bond = ranks(graph.bonds.len(), |&a, &b| {
        bond_key(a)
            .cmp(&bond_key(b))
            .then_with(|| natural(&name(a), &name(b)))
    });
    let mut bonds: Vec<BondId> = (0..graph.bonds.len() as u32).map(BondId).collect();
    bonds.sort_by_key(|b| bond[b.0 as usize]);
    Ranking {
        element,
        bond,
        bonds,
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
fn element_key(graph: &BondGraph, id: ElementId) -> String {
    let element = graph.element(id);
    if let Some(path) = element.name {
        return graph.signals.names.display(path);
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
    let mut key = format!("~{} {}", element.kind.letters(), around.join(" "));
    for expression in law_expressions(&element.law)
        .into_iter()
        .take(MAX_SHOWN_NEIGHBOURS)
    {
        let mut budget = KEY_NODES;
        key.push(' ');
        write_key(graph, expression, &mut key, &mut budget);
    }
    key
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
                let text = format!("{node:?}");
                key.push_str(text.split('(').next().unwrap_or_default());
                key.push(' ');
                stack.extend(super::laws::children(&graph.signals.pool, e).iter().rev());
            }
        }
    }
}

pub(super) fn law_expressions(law: &Law) -> Vec<ExprId> {
    match law {
        Law::Junction => Vec::new(),
        Law::Source { value, .. } => vec![*value],
        Law::Gain(e) | Law::InverseGain(e) => vec![*e],
        Law::Field(m) | Law::InverseField(m) => m.clone(),
        Law::Explicit(rows) => rows.iter().map(|&(_, _, e)| e).collect(),
        Law::Switch { on, r_on, g_off } => vec![*on, *r_on, *g_off],
        Law::Diode {
            r_on,
            g_off,
            threshold,
        } => vec![*r_on, *g_off, *threshold],
    }
}

fn ranks(n: usize, compare: impl Fn(&usize, &usize) -> Ordering) -> Vec<u32> {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(compare);
    let mut rank = vec![0; n];
    for (position, &i) in order.iter().enumerate() {
        rank[i] = position as u32;
    }
    rank
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
    use super::natural;
    use std::cmp::Ordering;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        assert_eq!(natural("cell[2].c", "cell[10].c"), Ordering::Less);
        assert_eq!(natural("r9", "r10"), Ordering::Less);
        assert_eq!(natural("r1", "r1"), Ordering::Equal);
        assert_eq!(natural("r01", "r1"), Ordering::Greater);
        assert_eq!(natural("a", "ab"), Ordering::Less);
    }
}
