//! Work grows linearly, and order of text decides nothing.

use super::builder::Builder;
use crate::causality::{Causality, assign_causality};
use crate::graph::ElementKind::{self, C, I, One, R, Se, Sf, Zero};

/// Ports looked at per bond: each bond has two ends, each looked at when its stroke is set and
/// when its junction is filled; trials that are taken back may repeat that a few times.
const MAX_VISITS_PER_BOND: u64 = 12;

const LARGE: usize = 100_000;

fn assert_linear(g: &Builder) {
    assert!(assert_linear_work(g).is_complete());
}

fn assert_linear_work(g: &Builder) -> Causality {
    let c = assign_causality(&g.graph);
    let n = g.graph.bonds.len() as u64;
    assert!(
        c.n_visits <= MAX_VISITS_PER_BOND * n,
        "{} visits for {n} bonds",
        c.n_visits
    );
    c
}

fn star(kind: ElementKind, hub: ElementKind) -> Builder {
    let mut g = Builder::new();
    let center = g.add("hub", hub, 0.0);
    for i in 0..LARGE {
        let leaf = g.add(&format!("leaf{i}"), kind, 1.0);
        g.connect(center, leaf);
    }
    g
}

#[test]
fn star_of_100_000_inertias_is_linear() {
    assert_linear(&star(I, One));
}

#[test]
fn star_of_100_000_capacitors_in_series_is_linear() {
    // Every capacitor is integral without a say in the flow, until the last.
    assert_linear(&star(C, One));
}

#[test]
fn star_of_100_000_branches_is_linear() {
    let mut g = Builder::new();
    let ground = g.add("ground", Zero, 0.0);
    for i in 0..LARGE / 3 {
        let branch = g.add(&format!("branch{i}"), One, 0.0);
        let coil = g.add(&format!("coil{i}"), I, 1.0 + i as f64);
        let loss = g.add(&format!("loss{i}"), R, 1.0);
        g.connect(ground, branch);
        g.connect(branch, coil);
        g.connect(branch, loss);
    }
    assert_linear(&g);
}

#[test]
fn ring_of_100_000_bonds_is_linear() {
    let mut g = Builder::new();
    let n = LARGE / 4;
    let junctions: Vec<_> = (0..2 * n)
        .map(|i| g.add(&format!("j{i}"), if i % 2 == 0 { One } else { Zero }, 0.0))
        .collect();
    for i in 0..2 * n {
        g.connect(junctions[i], junctions[(i + 1) % (2 * n)]);
        let (name, kind) = if i % 2 == 0 {
            (format!("i{i}"), I)
        } else {
            (format!("c{i}"), C)
        };
        let leaf = g.add(&name, kind, 1.0);
        g.connect(junctions[i], leaf);
    }
    assert_linear(&g);
}

#[test]
fn bare_ring_of_100_000_bonds_is_linear() {
    let mut g = Builder::new();
    let junctions: Vec<_> = (0..LARGE)
        .map(|i| g.add(&format!("j{i}"), if i % 2 == 0 { One } else { Zero }, 0.0))
        .collect();
    for i in 0..LARGE {
        g.connect(junctions[i], junctions[(i + 1) % LARGE]);
    }
    // Nothing is on it, so that nothing sets its level; it is refused, in linear work.
    assert_linear_work(&g);
}

#[test]
fn ladder_of_100_000_bonds_is_linear() {
    let mut g = Builder::new();
    let mut last = g.add("supply", Se, 1.0);
    for i in 0..LARGE / 5 {
        let mesh = g.add(&format!("mesh{i}"), One, 0.0);
        let node = g.add(&format!("node{i}"), Zero, 0.0);
        let (r, l, c) = (
            g.add(&format!("r{i}"), R, 1.0),
            g.add(&format!("l{i}"), I, 1.0),
            g.add(&format!("c{i}"), C, 1.0),
        );
        g.connect(last, mesh);
        g.connect(mesh, r);
        g.connect(mesh, l);
        g.connect(mesh, node);
        g.connect(node, c);
        last = node;
    }
    assert_linear(&g);
}

#[test]
fn resistive_ladder_of_100_000_bonds_is_linear() {
    let mut g = Builder::new();
    let mut last = g.add("supply", Sf, 1.0);
    for i in 0..LARGE / 4 {
        let node = g.add(&format!("node{i}"), Zero, 0.0);
        let mesh = g.add(&format!("mesh{i}"), One, 0.0);
        let (series, shunt) = (
            g.add(&format!("r{i}"), R, 1.0),
            g.add(&format!("g{i}"), R, 1.0),
        );
        g.connect(last, node);
        g.connect(node, shunt);
        g.connect(node, mesh);
        g.connect(mesh, series);
        last = mesh;
    }
    assert_linear(&g);
}
