//! The IC field: an inertia that depends on a place, with one energy for both of its ports.

use crate::kit::{column, messages, run_text};

/// A mass slides in a turning disc: H = p₁²/(2(J + m q²)) + p₂²/(2m). Energy and angular momentum are constant, and with h = (J + m x²) ω
/// the radius follows ẋ² = 2E/m − h²/(m(J + m x²)).
#[test]
fn a_mass_in_a_turning_disc_keeps_energy_and_momentum() {
    let outcome = run_text(
        "units strict
         model Disc {
             param J = 0.05 [kg*m^2], m = 0.5 [kg]
             spin: 1
             slide: 1 -> i: I(m)
             (spin, slide) => field: IC[2] { energy = p[1]^2/(2*(J + m*q[2]^2)) }
             start field.q[2] = 0.1 [m], spin.f = 5 [rad/s], slide.f = 0 [m/s]
         }
         experiment go of Disc { stop = 1 [s]; output_step = 0.01 [s]; rtol = 1e-11; record field.q[2] as x, field.p[1] as h, spin.f as w, slide.f as v, field.f, system.energy as E }",
    );
    let (x, h, w, v) = (
        column(&outcome, "x"),
        column(&outcome, "h"),
        column(&outcome, "w"),
        column(&outcome, "v"),
    );
    let energy = column(&outcome, "E");
    for k in 0..x.len() {
        let inertia = 0.05 + 0.5 * x[k] * x[k];
        assert!((h[k] - 0.275).abs() < 1e-9, "{}", h[k]);
        assert!((w[k] - 0.275 / inertia).abs() < 1e-8);
        let square = 2.0 * energy[0] / 0.5 - 0.275 * 0.275 / (0.5 * inertia);
        assert!(
            (v[k] * v[k] - square).abs() < 1e-7,
            "{} {square}",
            v[k] * v[k]
        );
        assert!((energy[k] - 0.6875).abs() < 1e-8, "{}", energy[k]);
    }
    let audit = outcome.run.audit.as_ref().expect("there is one");
    assert!(audit.is_good(), "{}", audit.relative());
    // disc_conservative of the gallery ends at x = 4.47 m or so: the mass has left the middle.
    assert!(x.last().expect("rows") > &1.0);
}

#[test]
fn each_port_has_its_own_letter_and_unit() {
    let field = |read: &str, energy: &str| {
        format!(
            "units strict
             model Disc {{
                 param J = 0.05 [kg*m^2], m = 0.5 [kg]
                 spin: 1
                 slide: 1 -> i: I(m)
                 (spin, slide) => field: IC[2] {{ energy = {energy} }}
                 spin -> r: R(1 [N*m*s/rad])
                 y = {read}
             }}"
        )
    };
    let right = "p[1]^2/(2*(J + m*q[2]^2))";
    assert_eq!(messages(&field("field.q[2]", right)).1, "");
    let found = messages(&field("field.p[2]", right)).1;
    assert!(
        found.contains("port 2 of an IC has no `.p`") && found.contains("q[2]"),
        "{found}"
    );
    let found = messages(&field("field.q", right)).1;
    assert!(found.contains("name one port"), "{found}");
    let found = messages(&field("field.q[2]", "p[1]^2/(2*(J + m*q[2]))")).1;
    assert!(found.contains("error"), "{found}");
}
