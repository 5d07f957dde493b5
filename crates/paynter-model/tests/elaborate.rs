//! Models become flat graphs: facts about elaboration, shown on the smallest models.

mod support;
use support::*;

#[test]
fn the_circuit_of_the_design_reaches_its_graph() {
    let graph = graph_of(
        r"model Circuit {
            param R1 = 100 [ohm], C1 = 100 [uF], R2 = 10 [ohm], L1 = 0.1 [H]
            supply: Se(10*sin(100*pi*time)) -> mesh: 1 -> node: 0 -> branch: 1
            mesh   -> r1: R(R1)
            node   -> c1: C(C1)
            branch -> r2: R(R2), l1: I(L1)
            output v_cap = c1.e, i_ind = l1.f
        }",
    );
    assert_sound(&graph);
    assert_eq!(
        picture(&graph),
        "supply -> mesh
mesh -> node
node -> branch
mesh -> r1
node -> c1
branch -> r2
branch -> l1
supply: Se 10*sin(314.1592653589793*time) modulated
r1: R R1
c1: C C1
r2: R R2
l1: I L1
v_cap = c1.e
i_ind = l1.f
"
    );
}
