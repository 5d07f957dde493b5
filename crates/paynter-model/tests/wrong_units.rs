//! Wrong units are refused with both units named (and right ones are not).

use paynter_model::check::check;
use paynter_model::project::{NoFiles, load};
use paynter_syntax::Diagnostic;

fn messages(text: &str) -> Vec<Diagnostic> {
    let (project, mut messages) = load("model.bond", text, &mut NoFiles);
    if !messages.iter().any(Diagnostic::is_error) {
        messages.extend(check(&project));
    }
    messages
}

/// Everything a message says.
fn words(messages: &[Diagnostic]) -> String {
    let mut all = String::new();
    for m in messages {
        all.push_str(&m.message);
        for label in m.primary.iter().chain(&m.secondary) {
            all.push_str(&format!(" | {}", label.text));
        }
        for line in m.help.iter().chain(&m.notes) {
            all.push_str(&format!(" | {line}"));
        }
        all.push('\n');
    }
    all
}

/// A mass on a spring, a circuit and a line of signals around the statement under test.
fn model(statement: &str) -> String {
    format!(
        "model M {{\n\
         param F = 3 [N], x = 2 [m], t = 1 [s], p = 4 [psi], U = 5 [V], a = 10 [deg]\n\
         push: Se(F) -> v: 1 -> mass: I(1 [kg]), spring: C(1 [m/N]), damper: R(2 [N*s/m])\n\
         supply: Se(U) -> i: 1 -> coil: I(1 [mH]), wire: R(1 [ohm])\n\
         {statement}\n}}"
    )
}

#[test]
fn wrong_units_name_both_sides() {
    // The statement, and what the message must mention. Where a unit decides the domain of a
    // bond, the two domains are named.
    let wrong: &[(&str, &[&str])] = &[
        ("y = F + x", &["N", "m"]),
        ("y = F - U", &["N", "V"]),
        ("y = x*F + F", &["N*m", "N"]),
        ("y [deg] = x", &["angle", "m"]),
        ("y = if x > t then 1 else 2", &["m", "s"]),
        ("y = if x > x then F else U", &["N", "V"]),
        ("y = min(F, x)", &["N", "m"]),
        ("y = sin(x)", &["m"]),
        ("y = exp(t)", &["s"]),
        ("y = step(time, 1 [V], at = 1 [m])", &["s", "m"]),
        ("other: Se(p) -> i", &["hydraulic", "electrical"]),
        ("other: Se(1 [V]) -> v", &["electrical", "translational"]),
        ("i -> r2: R(3 [N*s/m])", &["translational", "electrical"]),
        ("v -> c2: C(3 [F])", &["electrical", "translational"]),
        ("v -> i", &["translational", "electrical"]),
        ("q = 3 [W/degC]", &["degC", "K"]),
        ("start mass.f = 3 [m]", &["m/s", "m"]),
        ("start spring.q = 3 [N]", &["N", "m"]),
        ("sample at 0.1 [s] { u = F }", &["s", "Hz"]),
        ("sample at 1/6000 [s] { u = F }", &["s", "Hz"]),
        ("der(z) = x\n start z = 1 [m]", &["m*s", "m"]),
        ("param g = 3 [m/s^2] in 0 [m] .. 9 [m]", &["m/s^2", "m"]),
        ("y = hypot(x, a)", &["m"]),
        ("w = F*x/1 [J] + U", &["V"]),
        ("y = x^2 + x", &["m^2", "m"]),
    ];
    let mut missing = String::new();
    for (statement, units) in wrong {
        let found = messages(&model(statement));
        let said = words(&found);
        let names_all = units.iter().all(|unit| said.contains(unit));
        if !found.iter().any(Diagnostic::is_error) || !names_all {
            missing.push_str(&format!("{statement} should name {units:?}:\n{said}\n"));
        }
        assert!(found.len() <= 2, "{statement}: {said}");
    }
    assert!(missing.is_empty(), "\n{missing}");
}

#[test]
fn right_units_pass() {
    for statement in [
        "y = F + 3 [lbf]",
        "y = x + 1 [ft] - 2 [in]",
        "y [deg] = a + 1 [rad]",
        "y = sin(a) + 1",
        "y = F*x + 2 [J]",
        "y = p + 1 [bar]",
        "y = if x > 3 [ft] then F else 2",
        "y = 20 [degC] - 10 [degC] + 5 [K]",
        "y = hypot(x, 3 [ft])/x",
        "y = sqrt(x*x) + x",
        "sample at 6 [kHz] { u = F/1 [N] }",
        "other: Se(3 [lbf]) -> v",
        "i -> r2: R(3 [kohm])",
        "start mass.f = 3 [ft/s]",
        "y = 1 + x/1 [m]",
        "y = 2*F + 3",
    ] {
        let found = messages(&model(statement));
        assert!(
            !found.iter().any(Diagnostic::is_error),
            "{statement}: {}",
            words(&found)
        );
    }
}
