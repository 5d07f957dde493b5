//! What is printed reads well, says the truth, and does not depend on the order of the text.

use super::builder::Builder;
use super::oracle::{Random, describe, random_graph};
use super::systems::{circuit, disc, gyroscope, wheatstone};
use crate::causality::{Solved, alternatives, assign_causality, report, steps, why};
use crate::graph::ElementKind::{C, I, One, R, Se, Zero};
use crate::graph::{BondGraph, BondId, ElementId, End};
use insta::assert_snapshot;

fn text(g: &Builder) -> String {
    report::to_text(&g.graph, &assign_causality(&g.graph), &Solved::default())
}

#[test]
fn report_of_the_gyroscope_names_what_ties_the_dependent_inertias() {
    assert_snapshot!(text(&gyroscope()), @r#"
    order 4: 3 independent storages and 1 coordinate

    storages
      i1  integral
      i2  integral
      i3  integral
      i4  derivative, set by `i2` through turn → tf_cos → along
      i5  derivative, set by `i2` through turn → tf_sin → across

    coordinates
      theta  state of the dynamics

    algebraic loops
      solve i2.f'  class 1: i2 → turn → tf_cos → along → i4 and back

    zero-order causal paths
      class 1  i2 → turn → tf_cos → along → i4
      class 1  i2 → turn → tf_sin → across → i5

    bonds
      SE6 ->| rotor      fixed
      SE12 ->| turn      fixed
      SE15 ->| tilt      fixed
      across |-> i5      propagated
      along |-> gy5      preferred
      along |-> i4       propagated
      along |-> sum      propagated
      gy3 ->| across     propagated
      gy4 ->| across     propagated
      gy5 ->| tilt       propagated
      rotor ->| sum      propagated
      spin ->| i3        propagated
      sum ->| spin       propagated
      tf_cos |-> along   preferred
      tf_sin |-> across  preferred
      tilt |-> gy3       preferred
      tilt |-> gy4       preferred
      tilt ->| i1        propagated
      turn ->| i2        propagated
      turn |-> tf_cos    propagated
      turn |-> tf_sin    propagated
    "#);
}

#[test]
fn report_of_the_bridge_names_the_tearing_variable() {
    assert_snapshot!(text(&wheatstone()), @r#"
    order 2: 2 independent storages

    storages
      c1  integral
      c2  integral

    algebraic loops
      tear r3.e  class 2: r3.e → b.e → r2.e → r2.f → ab.f → r3.f →

    zero-order causal paths
      class 2  r3 → b → ab → r2 → ab → b

    bonds
      a ->| ab       propagated
      a ->| ad       propagated
      a |-> c1       preferred
      ab |-> b       propagated
      ab ->| r2      chosen
      ad |-> d       propagated
      ad ->| r4      propagated
      b |-> r3       chosen
      bridge |-> b   propagated
      bridge |-> c2  preferred
      d |-> bridge   propagated
      d ->| r5       propagated
      in |-> a       propagated
      in ->| r1      propagated
      supply ->| in  fixed
    "#);
}

#[test]
fn report_of_the_disc_shows_two_velocities_and_the_double_loop() {
    assert_snapshot!(text(&disc()), @r#"
    order 4: 2 independent velocities and 2 coordinates

    storages
      j   integral
      mx  derivative, set by `j` through gamma → radius → y1 → t12 → x0 → vx, set by `x1` through t11 → x0 → vx
      my  derivative, set by `j` through gamma → radius → y1 → t22 → y0 → vy, set by `x1` through t21 → y0 → vy
      x1  junction, an independent velocity: its flow is a state, so that no modulus that can vanish is divided by

    coordinates
      angle  state of the dynamics
      x      state of the dynamics

    algebraic loops
      solve j.f'   class 1, together with x1.f': j → gamma → radius → y1 → t12 → x0 → vx → mx and back
      solve x1.f'  class 1, together with j.f': x1 → t11 → x0 → vx → mx and back

    zero-order causal paths
      class 1  j → gamma → radius → y1 → t12 → x0 → vx → mx
      class 1  x1 → t11 → x0 → vx → mx
      class 1  j → gamma → radius → y1 → t22 → y0 → vy → my
      class 1  x1 → t21 → y0 → vy → my

    bonds
      gamma ->| j       propagated
      gamma |-> radius  propagated
      gravity ->| vy    fixed
      radius |-> y1     preferred
      t11 |-> x0        propagated
      t12 |-> x0        propagated
      t21 |-> y0        propagated
      t22 |-> y0        propagated
      vx |-> mx         propagated
      vy |-> my         propagated
      x0 |-> vx         propagated
      x1 |-> friction   preferred
      x1 |-> t11        preferred
      x1 |-> t21        preferred
      y0 |-> vy         propagated
      y1 |-> t12        propagated
      y1 |-> t22        propagated
    "#);
}

#[test]
fn report_of_the_disc_of_fig_11_shows_which_moduli_are_divided_by() {
    let mut g = disc();
    for name in ["mx", "my"] {
        let bond = g.graph.element(g.id(name)).ports[0];
        g.force(bond, crate::graph::Stroke::Head);
    }
    assert_snapshot!(text(&g), @r#"
    order 4: 2 independent storages and 2 coordinates

    storages
      j   derivative, set by `mx` through vx → x0 → t12 → y1 → radius → gamma, set by `my` through vy → y0 → t21 → x1 → t11 → x0 → t12 → y1 → radius → gamma
      mx  integral
      my  integral

    coordinates
      angle  state of the dynamics
      x      state of the dynamics

    algebraic loops
      tear x0.e     class 4: x0.e → bond4.e → bond10.e → y0.e → bond14.e → bond8.e → x0.e →
      tear bond5.f  class 4: bond5.f → bond9.f → y1.f → bond15.f → bond11.f → x1.f →
      solve mx.f'   class 1, together with my.f': mx → vx → x0 → t12 → y1 → radius → gamma → j and back
      solve my.f'   class 1, together with mx.f': my → vy → y0 → t21 → x1 → t11 → x0 → t12 → y1 → radius → gamma → j and back

    zero-order causal paths
      class 1  mx → vx → x0 → t12 → y1 → radius → gamma → j
      class 1  my → vy → y0 → t21 → x1 → t11 → x0 → t12 → y1 → radius → gamma → j
      class 4  x0 → t11 → x1 → t21 → y0 → t22 → y1 → t12
      class 4  t11 → x0 → t12 → y1 → t22 → y0 → t21 → x1

    used against the written direction
      radius  divides by a modulus that can vanish
      t12     divides by a modulus that can vanish
      t21     divides by a modulus that can vanish

    bonds
      gamma |-> j       propagated
      gamma ->| radius  propagated
      gravity ->| vy    fixed
      radius ->| y1     propagated
      t11 |-> x0        preferred
      t12 ->| x0        propagated
      t21 ->| y0        propagated
      t22 |-> y0        propagated
      vx ->| mx         forced
      vy ->| my         forced
      x0 ->| vx         propagated
      x1 |-> friction   propagated
      x1 |-> t11        propagated
      x1 ->| t21        propagated
      y0 ->| vy         propagated
      y1 ->| t12        propagated
      y1 |-> t22        propagated
    "#);
}

#[test]
fn steps_follow_the_textbook() {
    let g = circuit();
    let c = assign_causality(&g.graph);
    let mut out = String::new();
    for (number, step) in steps(&g.graph, &c).iter().enumerate() {
        out += &format!("{}. {}\n", number + 1, step.decision);
        step.follows
            .iter()
            .for_each(|line| out += &format!("   {line}\n"));
    }
    assert_snapshot!(out, @r#"
    1. `supply` is a source of effort: it gives effort to `mesh`
    2. `l1` is integral: it gives flow to `branch`
       `branch` has its flow from `l1`, so it gives flow to `r2`
       `branch` has its flow from `l1`, so it gives flow to `node`
    3. `c1` is integral: it gives effort to `node`
       `node` has its effort from `c1`, so it gives effort to `mesh`
       nothing else gives flow to `mesh`, so `r1` does
    "#);
}

#[test]
fn why_gives_the_shortest_chain() {
    let g = gyroscope();
    let c = assign_causality(&g.graph);
    let i5 = g.graph.element(g.id("i5")).ports[0];
    assert_snapshot!(why(&g.graph, &c, i5).join("\n"), @r#"
    the modulus of `tf_sin` can vanish, so its law is used as written: it gives flow to `across`
    `across` has its flow from `tf_sin`, so it gives flow to `i5`
    "#);
}

#[test]
fn alternatives_of_the_bridge_move_the_loop_to_other_resistors() {
    let g = wheatstone();
    assert_snapshot!(report::alternatives_to_text(&g.graph, &alternatives(&g.graph, 10)), @r#"
    alternative 1
      `r2` gives effort
      `r3` gives flow
    alternative 2
      `r3` gives flow
      `r5` gives effort
    alternative 3
      `r3` gives flow
      `r4` gives effort
    "#);
}

#[test]
fn alternatives_of_two_inertias_on_a_shaft_swap_them() {
    let mut g = Builder::new();
    g.add("shaft", One, 0.0);
    g.add("motor", I, 1.0);
    g.add("load", I, 2.0);
    g.add("torque", Se, 1.0);
    g.chain("torque shaft motor");
    g.chain("shaft load");
    assert_snapshot!(report::alternatives_to_text(&g.graph, &alternatives(&g.graph, 10)), @r#"
    alternative 1
      `load` becomes derivative
      `motor` becomes integral
    "#);
}

#[test]
fn alternatives_are_bounded_and_differ_from_each_other() {
    let mut g = Builder::new();
    let node = g.add("node", Zero, 0.0);
    for i in 0..20 {
        let c = g.add(&format!("c{i}"), C, 1.0);
        g.connect(node, c);
    }
    let found = alternatives(&g.graph, 7);
    assert_eq!(found.len(), 7);
    for (i, a) in found.iter().enumerate() {
        assert!(found[..i].iter().all(|b| a.strokes != b.strokes));
    }
}

#[test]
fn a_circuit_without_choice_has_no_alternative() {
    let g = circuit();
    assert!(alternatives(&g.graph, 10).is_empty());
}

#[test]
fn json_is_one_object_with_escaped_names() {
    let mut g = Builder::new();
    g.add("a\"b\\c", Se, 1.0);
    g.add("mesh", One, 0.0);
    g.add("r", R, 1.0);
    g.chain("a\"b\\c mesh r");
    let json = report::to_json(&g.graph, &assign_causality(&g.graph), &Solved::default());
    assert!(
        json.contains(r#""tail":"a\"b\\c","head":"mesh","stroke":"head","status":"fixed""#),
        "{json}"
    );
    assert!(json.starts_with('{') && json.ends_with('}'));
}

/// The same graph with its elements, bonds and junction ports in another order.
fn shuffle(graph: &BondGraph, random: &mut Random) -> (BondGraph, Vec<BondId>) {
    let permutation = |n: usize, random: &mut Random| {
        let mut new_place: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            new_place.swap(i, random.below(i + 1));
        }
        new_place
    };
    let element_place = permutation(graph.elements.len(), random);
    let bond_place = permutation(graph.bonds.len(), random);
    let bond_id = |b: BondId| BondId(bond_place[b.0 as usize] as u32);
    let mut other = graph.clone();
    let mut port_place: Vec<Vec<usize>> = Vec::new();
    for element in &graph.elements {
        let n = element.ports.len();
        // Only a junction may number its ports as it likes.
        let places = if element.kind.is_junction() {
            permutation(n, random)
        } else {
            (0..n).collect()
        };
        port_place.push(places);
    }
    for (old, element) in graph.elements.iter().enumerate() {
        let mut moved = element.clone();
        for (port, &b) in element.ports.iter().enumerate() {
            moved.ports[port_place[old][port]] = bond_id(b);
        }
        other.elements[element_place[old]] = moved;
    }
    let end = |e: End| End {
        element: ElementId(element_place[e.element.0 as usize] as u32),
        port: port_place[e.element.0 as usize][e.port as usize] as u32,
    };
    for (old, bond) in graph.bonds.iter().enumerate() {
        let mut moved = bond.clone();
        moved.tail = end(bond.tail);
        moved.head = end(bond.head);
        other.bonds[bond_place[old]] = moved;
    }
    let places = (0..graph.bonds.len() as u32)
        .map(|b| bond_id(BondId(b)))
        .collect();
    (other, places)
}

#[test]
fn order_of_elements_and_bonds_changes_no_byte_of_the_report() {
    let mut random = Random(3);
    for g in [gyroscope(), wheatstone(), disc(), circuit()] {
        let expected = text(&g);
        let json = report::to_json(&g.graph, &assign_causality(&g.graph), &Solved::default());
        for _ in 0..20 {
            let (other, _) = shuffle(&g.graph, &mut random);
            let causality = assign_causality(&other);
            assert_eq!(
                report::to_text(&other, &causality, &Solved::default()),
                expected
            );
            assert_eq!(
                report::to_json(&other, &causality, &Solved::default()),
                json
            );
        }
    }
}

#[test]
fn order_changes_no_stroke_of_random_graphs() {
    let mut random = Random(11);
    for _ in 0..5_000 {
        let graph = random_graph(&mut random, true);
        // Two bonds between the same things are twins: nothing tells them apart. A bond from
        // a thing to itself is its own twin.
        let mut pairs: Vec<_> = graph
            .bonds
            .iter()
            .map(|b| (b.tail.element, b.head.element))
            .collect();
        pairs.sort_unstable();
        if pairs.windows(2).any(|p| p[0] == p[1]) || pairs.iter().any(|(a, b)| a == b) {
            continue;
        }
        let (other, places) = shuffle(&graph, &mut random);
        let (a, b) = (assign_causality(&graph), assign_causality(&other));
        for (old, &new) in places.iter().enumerate() {
            assert_eq!(
                a.stroke(BondId(old as u32)),
                b.stroke(new),
                "{:#?}",
                describe(&graph)
            );
            assert_eq!(a.status(BondId(old as u32)), b.status(new));
        }
        assert_eq!(a.conflicts.len(), b.conflicts.len());
    }
}

#[test]
fn renaming_changes_nothing_where_depth_and_size_decide() {
    let mut g = Builder::new();
    g.add("shaft", One, 0.0);
    g.add("a", I, 1.0);
    g.add("b", I, 2.0);
    g.chain("shaft a");
    g.chain("shaft b");
    let larger = |g: &Builder, name: &str| {
        let c = assign_causality(&g.graph);
        c.independent.len() == 1 && g.graph.element_name(c.independent[0].element) == name
    };
    assert!(larger(&g, "b"), "the larger one is the state");
    let mut renamed = Builder::new();
    renamed.add("shaft", One, 0.0);
    renamed.add("z", I, 1.0);
    renamed.add("y", I, 2.0);
    renamed.chain("shaft z");
    renamed.chain("shaft y");
    assert!(larger(&renamed, "y"));
    // Depth beats size.
    let b = g.id("b");
    g.graph.elements[b.0 as usize].depth = 1;
    assert!(larger(&g, "a"));
}
