//! What causality says of the equations is true of them.

use crate::kit::{assert_close, design, last, run_text};
use paynter::compile::Strokes;
use paynter::model::causality::{causality_diagnostics, report};

/// A mass in the hole of a disc (Tiernego & Bos 1985); `mx` and `my` are its inertias at rest.
fn disc(arrow: &str, experiment: &str) -> String {
    format!(
        "model Disc {{
            drive: Se(0) -> spin: 1 -> disc: I(0.05)
            slide: 1 -> friction: R(0)
            slide -> TF(cos(gamma)) -> sum_x: 0 -> east: 1
            slide -> TF(sin(gamma)) -> sum_y: 0 -> north: 1
            spin -> TF(-x*sin(gamma)) -> sum_x
            spin -> TF(x*cos(gamma)) -> sum_y
            mx: I(0.5)
            my: I(0.5)
            east {arrow} mx
            north {arrow} my
            der(x) = slide.f
            der(gamma) = spin.f
        }}
        {experiment}"
    )
}

fn warnings(text: &str) -> Vec<&'static str> {
    let design = design(text);
    let strokes = design.strokes();
    let messages = causality_diagnostics(&design.graph, &strokes.causality, &strokes.solved);
    messages.iter().map(|m| m.code).collect()
}

#[test]
fn disc_is_not_said_to_divide_by_a_sine() {
    let text = disc("->", "");
    let design = design(&text);
    let causality = design.strokes().causality;
    let reduced = design.compile().map(|c| c.reduced);
    assert_eq!(causality.order(), 4);
    assert_eq!(reduced.expect("regular").states.len(), 4);
    assert!(causality.reversed_moduli.is_empty());
    assert!(warnings(&text).is_empty());
}

#[test]
fn disc_with_forced_strokes_turns_moduli_round_but_its_equations_do_not_divide_by_them() {
    let text = disc("->|", "");
    let Strokes {
        causality, solved, ..
    } = design(&text).strokes();
    assert_eq!(causality.loops.len(), 2, "the double loop of fig. 11");
    assert!(!causality.reversed_moduli.is_empty());
    assert_eq!(solved.harmless_moduli, causality.reversed_moduli);
    assert!(warnings(&text).is_empty());
}

/// All of γ = 0, x = 0 at the start: every one of the four moduli passes through zero on the way.
#[test]
fn strokes_do_not_change_how_the_disc_moves_through_its_singular_places() {
    let experiment = "experiment run of Disc {
        start x = -0.1, slide.f = 0.5, spin.f = 5, gamma = -0.4
        stop = 1; rtol = 1e-10; record x, gamma, system.energy as E }";
    let free = run_text(&disc("->", experiment));
    let forced = run_text(&disc("->|", experiment));
    for name in ["x", "gamma", "E"] {
        assert_close(last(&free, name), last(&forced, name), 1e-7);
    }
}

/// The crank's speed is the piston's divided by a sine, whatever is solved together.
#[test]
fn crank_driven_by_its_piston_is_said_to_divide_by_its_sine() {
    let text = "model Crank {
            piston: Sf(1) -> slide: 1
            crank: 1 -> TF(0.1*sin(angle)) -> slide
            crank -> brake: R(1)
            der(angle) = crank.f
        }";
    assert_eq!(warnings(text), ["W0606"]);
}

#[test]
fn structural_index_stands_beside_the_classes_of_paths() {
    for (text, index) in [
        ("model M { s: Se(1) -> j: 1 -> r: R(1), c: C(1) }", 1),
        ("model M { s: Se(1) -> w: 1 -> a: I(1), b: I(3) }", 2),
    ] {
        let design = design(text);
        let Strokes {
            causality, solved, ..
        } = design.strokes();
        let shown = report::to_text(&design.graph, &causality, &solved);
        let line = format!("structural index of the equations: {index}\n");
        assert!(shown.contains(&line), "{shown}");
        let json = report::to_json(&design.graph, &causality, &solved);
        assert!(
            json.contains(&format!("\"structural_index\":{index}")),
            "{json}"
        );
    }
}
