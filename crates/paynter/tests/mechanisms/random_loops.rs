//! Closed loops of random bodies against Kane's equations with reactions, at default methods.
//!
//! In:  seeds. From each a tree of bodies, one point of which is tied to the ground or to another body.
//! Out: the bodies move as the equations written out by hand say, to 1e-8.

use crate::kane::{
    Link, Loop, closed, random_plane_tree, random_tree, reference, text_in_plane, text_of,
};
use crate::kit::{column, run_text};

const T_END: f64 = 0.5;

fn check(seed: u64, (tree, loops): (&[Link], &[Loop]), text: &str) {
    let expected = reference(tree, loops, T_END);
    let outcome = run_text(text);
    for (k, r) in expected.iter().enumerate() {
        for (i, x) in r.iter().enumerate() {
            // In a plane there is no third component.
            if i == 2 && text.contains("mechanics2d") {
                continue;
            }
            let got = column(&outcome, &format!("r{k}[{}]", i + 1));
            let got = got[got.len() - 1];
            assert!(
                (got - x).abs() < 1e-8,
                "seed {seed}, body {k}: {got} for {x}\n{text}"
            );
        }
    }
}

#[test]
fn random_loops_in_space_move_as_by_kanes_equations() {
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for seed in 1..=12 {
        let tree = random_tree(seed, 3 + seed as usize % 3);
        let (tree, loops) = closed(seed, tree, &axes);
        check(seed, (&tree, &loops), &text_of(&tree, &loops, T_END));
    }
}

#[test]
fn random_loops_in_a_plane_move_as_by_kanes_equations() {
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    for seed in 1..=12 {
        let tree = random_plane_tree(seed, 3 + seed as usize % 4);
        let (tree, loops) = closed(seed, tree, &axes);
        check(seed, (&tree, &loops), &text_in_plane(&tree, &loops, T_END));
    }
}

#[test]
fn random_trees_in_a_plane_move_as_by_kanes_equations() {
    for seed in 1..=8 {
        let tree = random_plane_tree(seed, 2 + seed as usize % 4);
        check(seed, (&tree, &[]), &text_in_plane(&tree, &[], T_END));
    }
}
