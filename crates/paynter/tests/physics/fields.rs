//! Fields over several domains, and storages that are given by their energy.

use crate::kit::{self, column, messages, run_text};

/// A condenser microphone: a plate that moves between an electric and a mechanical port.
fn microphone(law: &str) -> String {
    format!(
        "units strict
model Microphone {{
    param eps = 1e-12 [F*m], d = 1e-3 [m], m = 1e-3 [kg], k = 100 [N/m], R0 = 1e6 [ohm], E = 100 [V], b = 0.1 [N*s/m]
    supply: Se(E) -> circuit: 1 -> r: R(R0)
    plate: 1 -> mass: I(m), spring: C(1/k), damp: R(b)
    (circuit, plate) => cap: C[2] {{ {law} }}
}}
experiment e of Microphone {{
    stop = 20 [ms]; output_step = 1 [ms]; rtol = 1e-11
    record cap.q[1] as charge, cap.q[2] as x, cap.e[2] as pull, cap.e as both
}}"
    )
}

const WRITTEN: &str = "e[1] = q[1]*(d + q[2])/eps\n e[2] = q[1]^2/(2*eps)";
const BY_ENERGY: &str = "energy = q[1]^2*(d + q[2])/(2*eps)";

#[test]
fn a_field_has_the_units_of_each_of_its_ports() {
    let outcome = run_text(&microphone(WRITTEN));
    let unit = |name: &str| {
        let found = outcome.run.table.columns.iter().find(|c| c.name == name);
        found.unwrap_or_else(|| panic!("no {name}")).unit.clone()
    };
    assert_eq!(unit("charge"), "C");
    assert_eq!(unit("x"), "m");
    assert_eq!(unit("pull"), "N");
    // At rest the plate holds E eps/d, less what the pull moves it.
    let charge = kit::last(&outcome, "charge");
    assert!((0.5e-7..2e-7).contains(&charge), "{charge}");
}

#[test]
fn a_law_by_its_energy_is_the_law_of_its_slopes() {
    let written = run_text(&microphone(WRITTEN));
    let by_energy = run_text(&microphone(BY_ENERGY));
    for name in ["charge", "x", "pull"] {
        let (a, b) = (column(&written, name), column(&by_energy, name));
        let size = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-9 * size, "{name}: {a} {b}");
        }
    }
}

#[test]
fn an_inertia_may_be_given_by_its_energy() {
    let text = |law: &str| {
        format!(
            "model M {{ param m = 2; Se(1) -> v: 1 -> i: I {law}, r: R(0.5) }}
experiment e of M {{ stop = 3 [s]; output_step = 0.5 [s]; rtol = 1e-11; record v.f as f }}"
        )
    };
    let (plain, by_energy) = (
        run_text(&text("(m)")),
        run_text(&text("{ energy = p^2/(2*m) }")),
    );
    let pairs = column(&plain, "f").iter().zip(column(&by_energy, "f"));
    for (a, b) in pairs {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn wrong_energies_are_refused() {
    let code = |law: &str| {
        let (found, text) = messages(&microphone(law));
        assert!(!found.is_empty(), "{law}");
        (found[0].code, text)
    };
    // Not in joules.
    assert_eq!(code("energy = q[1]^2/(2*eps)").0, "E0320");
    // A co-energy reads efforts.
    let (_, text) = code("energy = e[1]^2*eps/(2*(d + q[2]))");
    assert!(text.contains("function of `q`"), "{text}");
    // A second equation has nothing left to say.
    let (_, text) = code("energy = q[1]^2*(d + q[2])/(2*eps)\n e[1] = q[1]*d/eps");
    assert!(text.contains("`energy` alone"), "{text}");
    // Ports of other units cannot be mixed up.
    assert_eq!(
        code("e[1] = q[1]^2/(2*eps)\n e[2] = q[1]*(d + q[2])/eps").0,
        "E0320"
    );
}
