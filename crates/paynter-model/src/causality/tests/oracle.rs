//! Compares with brute force on random graphs, junction loops included.

use super::builder::Builder;
use crate::causality::{StorageForm, assign_causality};
use crate::graph::{BondGraph, BondId, ElementId, ElementKind, End, Stroke};

/// xorshift64*: a fixed sequence on every machine.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n as u64) as usize
    }
}

const MAX_BONDS: usize = 12;

/// Junctions joined at random by bonds, TFs and GYs, with one-ports on the rest.
pub(super) fn random_graph(random: &mut Random, has_vanishing: bool) -> BondGraph {
    use ElementKind::{C, Gy, I, One, R, Se, Sf, Tf, Zero};
    let mut g = Builder::new();
    let n_bonds = 2 + random.below(MAX_BONDS - 1);
    let n_junctions = 1 + random.below(6);
    let junctions: Vec<ElementId> = (0..n_junctions)
        .map(|i| {
            g.add(
                &format!("j{i}"),
                if random.below(2) == 0 { Zero } else { One },
                0.0,
            )
        })
        .collect();
    let n_one_ports = random.below(n_bonds.min(7));
    let mut n = 0;
    let connect = |g: &mut Builder, random: &mut Random, a: ElementId, b: ElementId| {
        if random.below(2) == 0 {
            g.connect(a, b)
        } else {
            g.connect(b, a)
        }
    };
    while g.graph.bonds.len() + n_one_ports < n_bonds {
        let a = junctions[random.below(n_junctions)];
        let b = junctions[random.below(n_junctions)];
        let kind = [Tf, Gy, Zero, Zero][random.below(4)];
        if kind == Zero || g.graph.bonds.len() + n_one_ports + 1 >= n_bonds {
            connect(&mut g, random, a, b);
            continue;
        }
        n += 1;
        // Ratios that never multiply to 1, so that no ring of two-ports is redundant by chance.
        let two = g.add(&format!("t{n}"), kind, (2.0 + 0.377 * n as f64).sqrt());
        g.graph.elements[two.0 as usize].can_vanish = has_vanishing && random.below(3) == 0;
        connect(&mut g, random, a, two);
        connect(&mut g, random, two, b);
    }
    for i in 0..n_one_ports {
        let kind = [C, I, C, I, R, R, Se, Sf][random.below(8)];
        let one = g.add(&format!("p{i}"), kind, 1.0 + i as f64);
        let junction = junctions[random.below(n_junctions)];
        connect(&mut g, random, junction, one);
    }
    g.graph
}

/// Tries all strokes, bond by bond; gives the largest number of integral storages, none if nothing fits.
///
/// Ports that close a ring of bonds are left out: they take what their junction shares.
fn brute_force(graph: &BondGraph, left_out: &[End]) -> Option<usize> {
    let mut strokes = vec![None; graph.bonds.len()];
    let mut best = None;
    try_bond((graph, left_out), &mut strokes, 0, 0, &mut best);
    best
}

fn try_bond(
    (graph, left_out): (&BondGraph, &[End]),
    strokes: &mut [Option<Stroke>],
    at: usize,
    n_integral: usize,
    best: &mut Option<usize>,
) {
    if at == strokes.len() {
        *best = (*best).max(Some(n_integral));
        return;
    }
    for stroke in [Stroke::Head, Stroke::Tail] {
        strokes[at] = Some(stroke);
        let bond = &graph.bonds[at];
        let mut more = 0;
        let fits = [bond.tail, bond.head].iter().all(|&end| {
            let effort_in = (bond.head == end) == (stroke == Stroke::Head);
            match graph.element(end.element).kind {
                ElementKind::Se => !effort_in,
                ElementKind::Sf => effort_in,
                ElementKind::C => {
                    more += usize::from(!effort_in);
                    true
                }
                ElementKind::I => {
                    more += usize::from(effort_in);
                    true
                }
                ElementKind::R => true,
                ElementKind::Zero if left_out.contains(&end) => effort_in,
                ElementKind::One if left_out.contains(&end) => !effort_in,
                _ => obeys((graph, left_out), strokes, end.element),
            }
        });
        if fits {
            try_bond((graph, left_out), strokes, at + 1, n_integral + more, best);
        }
    }
    strokes[at] = None;
}

/// The textbook rules, written as the textbook has them.
fn obeys(
    (graph, left_out): (&BondGraph, &[End]),
    strokes: &[Option<Stroke>],
    id: ElementId,
) -> bool {
    let element = graph.element(id);
    let (mut n_effort_in, mut n_flow_in, mut n_open) = (0, 0, 0);
    let mut in_at = Vec::new();
    for (port, &b) in element.ports.iter().enumerate() {
        let end = End {
            element: id,
            port: port as u32,
        };
        if left_out.contains(&end) {
            continue;
        }
        match strokes[b.0 as usize] {
            None => n_open += 1,
            Some(s) => {
                let effort_in = (graph.bond(b).head == end) == (s == Stroke::Head);
                n_effort_in += usize::from(effort_in);
                n_flow_in += usize::from(!effort_in);
                in_at.push(effort_in);
            }
        }
    }
    match element.kind {
        // A junction without bonds has nothing to agree on.
        ElementKind::Zero | ElementKind::One if n_open == 0 && in_at.is_empty() => true,
        ElementKind::Zero => n_effort_in <= 1 && n_effort_in + n_open >= 1,
        ElementKind::One => n_flow_in <= 1 && n_flow_in + n_open >= 1,
        ElementKind::Tf => n_open > 0 || in_at[0] != in_at[1],
        ElementKind::Gy => n_open > 0 || in_at[0] == in_at[1],
        _ => true,
    }
}

fn gives_to_all(
    (graph, left_out): (&BondGraph, &[End]),
    strokes: &[Option<Stroke>],
    id: ElementId,
) -> bool {
    let element = graph.element(id);
    element.ports.iter().enumerate().all(|(port, &b)| {
        let end = End {
            element: id,
            port: port as u32,
        };
        let effort_in =
            (graph.bond(b).head == end) == (strokes[b.0 as usize] == Some(Stroke::Head));
        left_out.contains(&end) || effort_in == (element.kind == ElementKind::One)
    })
}

fn compare(seed: u64, n_graphs: usize, has_vanishing: bool) {
    let mut random = Random(seed);
    let (mut n_feasible, mut n_conflicts, mut n_matched, mut n_free) = (0, 0, 0, 0);
    let mut n_redundant = 0;
    for number in 0..n_graphs {
        let graph = random_graph(&mut random, has_vanishing);
        let causality = assign_causality(&graph);
        // A two-port both ways round an isolated junction: left out, and no rule of strokes binds it.
        if causality.rings.iter().any(|r| r.left_out().is_some()) {
            n_redundant += 1;
            continue;
        }
        let rings = causality.rings.iter();
        let left_out: Vec<End> = rings.filter_map(|r| r.left_out_port()).collect();
        let expected = brute_force(&graph, &left_out);
        let storages = (0..graph.elements.len() as u32)
            .filter(|&e| causality.form(&graph, ElementId(e), 0) == Some(StorageForm::Integral))
            .count();
        n_matched += usize::from(causality.is_matched);
        let show = || format!("graph {number} of seed {seed}: {:#?}", describe(&graph));
        match expected {
            Some(best) => {
                n_feasible += 1;
                assert!(
                    causality.conflicts.is_empty(),
                    "false conflict in {}",
                    show()
                );
                assert!(causality.is_complete(), "open bonds in {}", show());
                assert_eq!(
                    storages + causality.free.len(),
                    best,
                    "independent variables in {}",
                    show()
                );
                let strokes: Vec<_> = (0..graph.bonds.len() as u32)
                    .map(|b| causality.stroke(BondId(b)))
                    .collect();
                n_free += causality.free.len();
                for e in 0..graph.elements.len() as u32 {
                    // A free junction gives its variable to all its bonds, as if a source stood there.
                    if let Some(f) = causality.free.iter().find(|f| f.junction.0 == e) {
                        assert!(
                            gives_to_all((&graph, &left_out), &strokes, f.junction),
                            "{}",
                            show()
                        );
                        continue;
                    }
                    assert!(
                        obeys((&graph, &left_out), &strokes, ElementId(e)),
                        "rule of element {e} in {}",
                        show()
                    );
                }
            }
            None => {
                n_conflicts += 1;
                assert!(
                    !causality.conflicts.is_empty(),
                    "missed conflict in {}",
                    show()
                );
            }
        }
    }
    // The law is worth something only if all three kinds of graph occur.
    assert!(n_redundant * 20 < n_graphs, "{n_redundant} left aside");
    assert!(n_feasible * 10 > n_graphs, "{n_feasible} feasible");
    assert!(n_conflicts * 10 > n_graphs, "{n_conflicts} conflicts");
    assert!(n_matched * 200 > n_graphs, "{n_matched} needed a matching");
    assert_eq!(n_free > 0, has_vanishing, "{n_free} free junctions");
}

pub(super) fn describe(graph: &BondGraph) -> Vec<String> {
    let name = |e: ElementId| {
        format!(
            "{}:{}",
            graph.element_name(e),
            graph.element(e).kind.letters()
        )
    };
    graph
        .bonds
        .iter()
        .map(|b| format!("{} -> {}", name(b.tail.element), name(b.head.element)))
        .collect()
}

#[test]
fn conflicts_and_integral_storages_equal_brute_force_on_50_000_graphs() {
    compare(1, 50_000, false);
}

#[test]
fn conflicts_and_integral_storages_equal_brute_force_on_30_000_more_graphs() {
    compare(0x5EED, 30_000, false);
}

#[test]
fn moduli_that_can_vanish_cost_no_integral_storage_on_20_000_graphs() {
    compare(77, 20_000, true);
}
