//! Linear models in matrix form: the thesis' (3.8) and, in common variables, (3.11).

use paynter::Choice;
use std::path::Path;

#[test]
fn circuit_of_the_thesis_has_its_matrices() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery/circuit/circuit.bond");
    let design = paynter::design(&file, &Choice::default()).expect("part of the gallery");
    let reduced = design
        .reduce(&design.causality())
        .expect("a circuit can be solved");
    let text = paynter::listing::matrices(&design, &reduced, false).expect("it is linear");
    let expected = "\
x = (c1.q, l1.p)
u = ()
y = (v_cap, i_ind)
A = [-1/(C1*R1)  -1/L1
     1/C1        -R2/L1]
C = [1/C1  0
     0     1/L1]

in efforts and flows, z = T x with T = diag(1/C1, 1/L1)
A = [-1/(C1*R1)  -1/C1
     1/L1        -R2/L1]
C = [1  0
     0  1]
";
    assert_eq!(text.trim_end(), expected.trim_end());
}

#[test]
fn a_curved_model_is_refused_by_name() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery/gyroscope/gyroscope.bond");
    let design = paynter::design(&file, &Choice::default()).expect("part of the gallery");
    let reduced = design
        .reduce(&design.causality())
        .expect("the gyroscope can be solved");
    let why = paynter::listing::matrices(&design, &reduced, false).expect_err("it is not linear");
    assert!(why.contains("I1.p"), "{why}");
}
