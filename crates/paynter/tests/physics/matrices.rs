//! Linear models in matrix form: the thesis' (3.8) and, in common variables, (3.11).

use crate::kit;
use paynter::listing::{Format, matrices};
use paynter::readable::readable;
use paynter::{Choice, Design};
use std::path::Path;

fn gallery_design(name: &str) -> Design {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../gallery")
        .join(name);
    paynter::design(&file, &Choice::default()).expect("part of the gallery")
}

fn written(design: &Design, format: Format) -> Result<String, String> {
    let readable = readable(design).expect("it can be solved");
    matrices(design, &readable, format)
}

#[test]
fn circuit_of_the_thesis_has_its_matrices() {
    let design = gallery_design("circuit/circuit.bond");
    let text = written(&design, Format::Text).expect("it is linear");
    let expected = "\
x = (c1.q, l1.p)
u = (Vs)
y = (v_cap, i_ind)
x' = A x + B u, y = C x + D u
A = [-1/(C1*R1)  -1/L1
     1/C1        -R2/L1]
B = [1/R1
     0]
C = [1/C1  0
     0     1/L1]
D = [0
     0]

in efforts and flows, z = T x with T = diag(1/C1, 1/L1)
z = (c1.e, l1.f)
u = (Vs)
y = (v_cap, i_ind)
z' = A z + B u, y = C z + D u
A = [-1/(C1*R1)  -1/C1
     1/L1        -R2/L1]
B = [1/(C1*R1)
     0]
C = [1  0
     0  1]
D = [0
     0]
";
    assert_eq!(text.trim_end(), expected.trim_end());
}

#[test]
fn what_does_not_depend_on_states_or_inputs_is_not_forgotten() {
    let design = kit::design(
        "model Rest {
            param m = 2, k = 3, g = 9.81
            body: 1 -> mass: I(m), spring: C(1/k)
            weight: Se(-m*g) -> body
            output pull = spring.e - m*g
        }",
    );
    let text = written(&design, Format::Text).expect("it is linear");
    assert!(text.contains("x' = A x + f, y = C x + g"), "{text}");
    assert!(
        text.contains("f = [-g*m") && text.contains("g = [-g*m]"),
        "{text}"
    );
}

#[test]
fn every_format_carries_the_matrices() {
    let design = gallery_design("circuit/circuit.bond");
    let latex = written(&design, Format::Latex).expect("it is linear");
    assert!(latex.contains("\\begin{bmatrix}") && latex.contains("\\operatorname{diag}"));
    let json = written(&design, Format::Json).expect("it is linear");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["states"]["B"][0][0], "1/R1");
    assert_eq!(json["T"][1], "1/L1");
    assert_eq!(json["common"]["A"][1][0], "1/L1");
}

#[test]
fn a_curved_model_is_refused_by_name() {
    let design = gallery_design("gyroscope/gyroscope.bond");
    let why = written(&design, Format::Text).expect_err("it is not linear");
    assert!(why.contains("I1.p"), "{why}");
}
