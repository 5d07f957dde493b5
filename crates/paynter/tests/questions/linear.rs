//! Laws of linear models: exact against closed forms, equal to differences of the model itself, and
//! the numbers of the thesis.

use crate::kit::{self, assert_close, gallery, last, run_text, scratch};
use paynter::linear::{
    LinearError, LinearRequest, Linearization, bode, channel_margins, find_rest, linear_request,
    linearize, loop_margins, poles as pole_table, poles_to_text, steps,
};
use paynter::linear_algebra::{Complex, Response, eigenvalues};
use paynter::syntax::render;
use paynter::{Choice, Compiled, Design, DesignError, LinearChoice};
use std::path::Path;

fn open(path: &Path, experiment: Option<&str>, from: &str, to: &str) -> Design {
    open_with(path, experiment, (from, to), &[])
}

fn open_with(
    path: &Path,
    experiment: Option<&str>,
    (from, to): (&str, &str),
    changes: &[(&str, &str)],
) -> Design {
    let given = |s: &str| (!s.is_empty()).then(|| s.to_owned());
    let pairs = changes.iter().map(|(a, b)| (a.to_string(), b.to_string()));
    let choice = Choice {
        experiment: experiment.map(str::to_owned),
        overrides: pairs.collect(),
        linear: Some(LinearChoice {
            from: given(from),
            to: given(to),
            cut: None,
            ..LinearChoice::default()
        }),
        ..Choice::default()
    };
    paynter::design(path, &choice).unwrap_or_else(|e| match e {
        DesignError::Model(f) => panic!("{}", render(&f.diagnostics, &f.sources, false)),
        DesignError::Unreadable(message) => panic!("{message}"),
    })
}

fn compiled(design: &Design) -> Compiled {
    let compiled = design.compile();
    compiled.unwrap_or_else(|m| panic!("{}", render(&m, &design.project.sources, false)))
}

fn made(design: &Design, at: Option<f64>) -> Linearization {
    linearize(
        design,
        &compiled(design),
        &linear_request(design, at, false),
    )
    .unwrap_or_else(|e| {
        panic!(
            "{}",
            render(&e.into_messages(), &design.project.sources, false)
        )
    })
}

fn linear(text: &str, from: &str, to: &str) -> Linearization {
    let file = scratch(text);
    made(&open(&file.0, None, from, to), None)
}

fn refused(text: &str, from: &str, to: &str) -> String {
    let file = scratch(text);
    let design = open(&file.0, None, from, to);
    let error = linearize(
        &design,
        &compiled(&design),
        &linear_request(&design, None, false),
    )
    .expect_err("has no linear form");
    let (LinearError::Model(messages) | LinearError::Run(messages)) = error;
    messages[0].code.to_owned()
}

/// Poles without those of integrals, largest imaginary part first.
fn poles(linear: &Linearization) -> Vec<Complex> {
    eigenvalues(&linear.model.a).expect("finite")
}

fn response(linear: &Linearization, s: Complex) -> Complex {
    Response::new(&linear.model.channel(0, 0)).at(s)
}

const RLC: &str = "model M {
    input V = 5
    src: Se(V) -> loop: 1 -> r: R(3), l: I(0.5), c: C(0.25)
    output i = loop.f, v = c.e
}";

#[test]
fn matrices_of_a_series_circuit_are_exact() {
    let m = linear(RLC, "V", "i,v");
    let names: Vec<&str> = m.states.iter().map(|s| s.name.as_str()).collect();
    let at = |name: &str| names.iter().position(|n| *n == name).expect("a state");
    let (q, p) = (at("c.q"), at("l.p"));
    assert_eq!(m.model.a[(p, p)], -6.0);
    assert_eq!(m.model.a[(p, q)], -4.0);
    assert_eq!(m.model.a[(q, p)], 2.0);
    assert_eq!(m.model.a[(q, q)], 0.0);
    assert_eq!((m.model.b[(p, 0)], m.model.b[(q, 0)]), (1.0, 0.0));
    assert_eq!((m.model.c[(0, p)], m.model.c[(1, q)]), (2.0, 4.0));
    assert!(m.model.d[0].is_zero() && m.model.d.len() == 1);
}

#[test]
fn what_a_source_sets_is_an_input_as_good_as_its_signal() {
    let by_signal = linear(RLC, "V", "i");
    let by_source = linear(RLC, "src.e", "i");
    assert_eq!(by_signal.model, by_source.model);
    let by_default = linear(RLC, "", "i");
    assert_eq!(by_default.inputs[0].name, "V");
}

#[test]
fn the_order_of_elements_does_not_move_a_pole() {
    let other = "model M {
        input V = 5
        c: C(0.25); l: I(0.5)
        loop: 1 -> c, l, r: R(3)
        src: Se(V) -> loop
    }";
    let (a, b) = (linear(RLC, "V", "loop.f"), linear(other, "V", "loop.f"));
    for (a, b) in poles(&a).iter().zip(poles(&b)) {
        assert!((a - b).norm() < 1e-14 * a.norm());
    }
}

/// Loops of nonlinear resistors, a cubic spring, a dependent inertia.
const NET: &str = "model Net {
    param q0 = 0.3, p0 = 0.2
    input V = 2
    src: Se(V) -> m: 1 -> rs: R { e = f + 0.5*f^3 }
    m -> n: 0 -> rp: R { e = sinh(f) }
    n -> b: 1 -> rb: R { e = 2*f + f*abs(f) }, c: C { e = q + q^3 }
    n -> d: 1 -> l: I(0.5)
    d -> k: TF(2) -> e: 1 -> l2: I { f = p/0.7 }
    e -> r2: R(0.3)
    start c.q = q0, l.p = p0
    output qr = c.f, pr = l.f, out = n.e*l.f
}
experiment now of Net { stop = 1e-9 [s]; output_step = 1e-9 [s]; record c.f as x, out, l.f as y }";

/// (c.q', out) at the start with changed values, from the model itself.
fn at_start(changes: &[(&str, &str)]) -> [f64; 2] {
    let file = scratch(NET);
    let design = open_with(&file.0, None, ("", ""), changes);
    let outcome = kit::run_design(&design, paynter::exec::Engine::Auto).expect("runs");
    ["x", "out"].map(|name| kit::column(&outcome, name)[0])
}

#[test]
fn slopes_are_those_of_differences_of_the_model() {
    let m = linear(NET, "V", "c.f,out");
    let names: Vec<&str> = m.states.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    // Central differences: the error of h² and that of rounding/h meet near 1e-10 of the values.
    let h = 1e-5;
    let slope = |name: &str, x: f64| {
        let (up, down) = (format!("{:?}", x + h), format!("{:?}", x - h));
        let (up, down) = (at_start(&[(name, &up)]), at_start(&[(name, &down)]));
        [(up[0] - down[0]) / (2.0 * h), (up[1] - down[1]) / (2.0 * h)]
    };
    let column = |name: &str| names.iter().position(|n| *n == name).expect("a state");
    for (parameter, value, state) in [
        ("q0", 0.3, Some("c.q")),
        ("p0", 0.2, Some("l.p")),
        ("V", 2.0, None),
    ] {
        let expected = slope(parameter, value);
        for (row, expected) in expected.into_iter().enumerate() {
            let found = match state {
                Some(state) => m.model.c[(row, column(state))],
                None => m.model.d[0][(row, 0)],
            };
            assert_close(found, expected, 1e-8 * expected.abs().max(1.0));
            assert!(expected.abs() > 1e-3, "{parameter} acts on {row}");
        }
    }
    // c.f is the rate of c.q.
    let q = column("c.q");
    for j in 0..2 {
        assert_close(m.model.a[(q, j)], m.model.c[(0, j)], 1e-14);
    }
    assert_close(m.model.b[(q, 0)], m.model.d[0][(0, 0)], 1e-14);
}

#[test]
fn a_dependent_inertia_adds_to_the_other() {
    // J₁ + n² J₂ against b: one pole.
    let text = "model M { input T = 0; Se(T) -> a: 1 -> j1: I(2), b: R(3)
        a -> TF(4) -> s: 1 -> j2: I(0.5) }";
    let m = linear(text, "T", "a.f");
    assert_eq!(m.states.len(), 1);
    assert_close(m.model.a[(0, 0)], -3.0 / (2.0 + 16.0 * 0.5), 1e-15);
    let s = Complex::new(0.0, 0.7);
    let exact = Complex::new(1.0, 0.0) / (s * 10.0 + 3.0);
    assert!((response(&m, s) - exact).norm() < 1e-15);
}

#[test]
fn a_capacitor_at_a_source_follows_its_rate() {
    // i = C V' + V/R: no state, and a direct gain that grows with the frequency.
    let text = "model M { input V = 1; src: Se(V) -> n: 0 -> c: C(0.25), r: R(2) }";
    let m = linear(text, "V", "src.f");
    assert!(m.states.is_empty() && m.model.is_improper());
    assert_eq!(m.model.d[0][(0, 0)], 0.5);
    assert_eq!(m.model.d[1][(0, 0)], 0.25);
}

#[test]
fn a_capacitive_divider_takes_the_rate_of_its_source_into_its_state() {
    // v₂/V = s R C₁/(1 + s R (C₁ + C₂)): q₂' contains V'.
    let (r, c1, c2) = (2.0, 0.25, 0.75);
    let text = "model M { input V = 1; src: Se(V) -> a: 1 -> c1: C(0.25); a -> n: 0 -> c2: C(0.75), r: R(2) }";
    let m = linear(text, "V", "n.e");
    for omega in [0.01, 1.0, 100.0] {
        let s = Complex::new(0.0, omega);
        let exact = s * (r * c1) / (s * (r * (c1 + c2)) + 1.0);
        let found = response(&m, s);
        assert!(
            (found - exact).norm() < 1e-14 * exact.norm(),
            "{found} {exact}"
        );
    }
}

#[test]
fn passive_networks_have_their_poles_on_the_left() {
    let text = "model M {
        src: Se(1) -> a: 1 -> r1: R(3), l1: I(0.2); a -> n1: 0 -> c1: C(0.5); n1 -> b: 1 -> l2: I(2); b -> GY(1.5) -> w: 1 -> j: I(0.1), br: R(0.01)
        b -> n2: 0 -> c2: C(0.1), r2: R(100)
    }";
    let m = linear(text, "", "n1.e");
    assert_eq!(m.states.len(), 5);
    assert!(poles(&m).iter().all(|p| p.re < 0.0));
}

#[test]
fn a_lossless_network_has_its_poles_on_the_axis() {
    let text = "model M { src: Se(1) -> a: 1 -> l: I(2), c: C(3); a -> TF(0.5) -> b: 0 -> c2: C(5); b -> d: 1 -> l3: I(7) }";
    for pole in poles(&linear(text, "", "a.f")) {
        assert!(pole.re.abs() < 1e-14, "{pole}");
    }
}

const ROD: &str = "use mechanics3d: World, Rod, Revolute, ez
    model M {
        world: World(gravity = [0, -9.81, 0])
        rod: Rod(m = 1, l = 1)
        world => hinge: Revolute(axis = ez) => rod.a
        guess hinge.angle = -1.5707963267948966
    }";

#[test]
fn a_hanging_rod_swings_at_its_natural_frequency_however_its_joint_is_kept() {
    // A uniform rod on a hinge: ω² = 3 g/(2 l).
    let omega = (1.5_f64 * 9.81).sqrt();
    for settings in ["", "constraints = multiplier;"] {
        let text = format!(
            "{ROD}\nexperiment e of M {{ start hinge.angle = -1.5707963267948966, hinge.rate = 0; {settings} stop = 1 [s]; record hinge.angle }}"
        );
        let m = linear(&text, "", "hinge.angle");
        let swing: Vec<Complex> = poles(&m).into_iter().filter(|p| p.norm() > 1e-3).collect();
        let found: Vec<&Complex> = swing.iter().filter(|p| p.im > 0.0).collect();
        assert_eq!(found.len(), 1, "{settings} {:?}", poles(&m));
        assert_close(found[0].im, omega, 1e-9);
        assert!(found[0].re.abs() < 1e-9);
    }
}

#[test]
fn a_point_of_a_run_is_where_the_run_is() {
    // x' = −x³ + u from 1: x(t) = 1/√(1 + 2t), slope −3x².
    let text = "model M { input u = 0; der(x) = u - x^3; start x = 1 }
        experiment e of M { stop = 4 [s]; rtol = 1e-11; record x }";
    let file = scratch(text);
    let design = open(&file.0, None, "u", "x");
    let (at_start, later) = (made(&design, None), made(&design, Some(4.0)));
    assert_eq!(at_start.model.a[(0, 0)], -3.0);
    assert_close(later.model.a[(0, 0)], -3.0 / 9.0, 1e-9);
    assert_eq!(later.time, 4.0);
    assert!(!later.is_at_rest());
}

#[test]
fn integrals_that_nothing_reads_are_left_out() {
    let text = "model M { input u = 0; der(x) = u - 2*x; w = integral(x^2) }
        experiment e of M { stop = 1 [s]; record x, w }";
    let m = linear(text, "u", "x");
    assert_eq!(m.states.len(), 1);
    assert_eq!(m.left_out.len(), 1);
    // An output that reads it keeps it.
    assert_eq!(linear(text, "u", "w").states.len(), 2);
}

#[test]
fn units_are_those_of_the_names() {
    let text = "units strict
        model M {
            input u = 3 [deg]
            der(x) = (u - x)/2 [s]
            output angle [deg] = x
        }";
    let m = linear(text, "u", "angle,x");
    let shown = m.in_units();
    assert_eq!(m.inputs[0].unit, "deg");
    assert_close(m.inputs[0].value, 3.0, 1e-14);
    // Per degree of u, in radians of x.
    assert_close(shown.b[(0, 0)], 0.5 * std::f64::consts::PI / 180.0, 1e-17);
    assert_close(shown.c[(0, 0)], 180.0 / std::f64::consts::PI, 1e-13);
}

const SAMPLED: &str = "model M {
        input r = 1
        sample at 10 [Hz] { u = floor(10*(r - x))/10 }
        der(x) = u - x
    }
    experiment e of M { stop = 1 [s]; record x }";

#[test]
fn sampled_blocks_are_never_linearized_through() {
    assert_eq!(refused(SAMPLED, "r", "x"), "E0751");
    // The plant between what the block sets and what it reads is continuous.
    let plant = linear(SAMPLED, "u", "x");
    assert_eq!(plant.model.a[(0, 0)], -1.0);
    assert_eq!(plant.model.b[(0, 0)], 1.0);
    assert_eq!(plant.inputs[0].value, 1.0);
}

#[test]
fn what_cannot_be_an_input_is_refused() {
    assert_eq!(refused(RLC, "c.q", "i"), "E0750");
    assert_eq!(refused(RLC, "r.e", "i"), "E0750");
    assert_eq!(refused(RLC, "3", "i"), "E0750");
    let text = "model M { param R = 2; Se(1) -> a: 1 -> r: R(R), c: C(1) }";
    assert_eq!(refused(text, "R", "a.f"), "E0750");
}

#[test]
fn slopes_without_bound_and_ideal_contacts_are_refused() {
    let root = "model M { der(x) = -sqrt(x); start x = 0; input u = 0; y = u }";
    assert_eq!(refused(root, "u", "x"), "E0752");
    let contact = "model M { Se(1) -> a: 1 -> d: D(), r: R(1), c: C(1) }";
    assert_eq!(refused(contact, "", "a.f"), "E0752");
}

fn missile(experiment: &str, from: &str, to: &str) -> Linearization {
    let path = gallery().join("missile/missile.bond");
    made(&open(&path, Some(experiment), from, to), None)
}

#[test]
fn poles_of_the_autopilot_are_those_of_the_tables() {
    // McBride 2005, Tables 6.2 and 6.4.
    for (set, pair, real) in [
        ("gains_set1", (-51.51644, 51.51436), -17.17151),
        ("gains_set3", (-22.44933, 21.86430), -7.83149),
        ("gains_set4", (-26.84440, 28.46122), -36.70699),
        ("gains_set5", (-26.57618, 28.17617), -36.70706),
    ] {
        let m = missile(set, "Gc", "G");
        let all = poles(&m);
        assert_eq!(all.len(), 3);
        let upper = all.iter().find(|p| p.im > 0.0).expect("a pair");
        let single = all.iter().find(|p| p.im == 0.0).expect("a real one");
        // The tables have five decimals.
        assert_close(upper.re, pair.0, 6e-6);
        assert_close(upper.im, pair.1, 6e-6);
        assert_close(single.re, real, 6e-6);
    }
}

#[test]
fn zeros_of_the_airframe_are_those_of_the_thesis() {
    let m = missile("gains_set1", "pilot.delta", "G");
    // Cutting nothing: the zeros from the fin to the acceleration do not move with the loop closed.
    let found = paynter::linear_algebra::zeros(&m.model.channel(0, 0));
    let found = found.expect("finite").expect("something passes");
    let pair: Vec<&Complex> = found.iter().filter(|z| z.norm() > 30.0).collect();
    assert_eq!(pair.len(), 2, "{found:?}");
    for zero in pair {
        assert_close(zero.re.abs(), 39.0639376644534, 1e-9);
        assert_eq!(zero.im, 0.0);
    }
}

const TRIMMED: &str = "
    experiment rest of OpenLoop {
        with delta = 5 [deg]
        trim body.alpha_shown, body.q
        stop = 0.2 [s]; rtol = 1e-11; record body.alpha_shown as alpha, G
    }
    experiment fin of OpenLoop { start body.alpha = -4.448879 [deg]; trim delta, body.q; stop = 0.2 [s]; record G }";

fn missile_with(text: &str) -> kit::Scratch {
    let models = kit::gallery_text("missile/missile.bond");
    let servo = gallery().join("servo/servo.bond");
    let models = models.replace("../servo/servo.bond", &servo.display().to_string());
    scratch(&format!("{models}{text}"))
}

#[test]
fn the_missile_is_trimmed_where_the_thesis_has_it() {
    let file = missile_with(TRIMMED);
    let design = open(&file.0, Some("rest"), "", "");
    let (trim, rest) = find_rest(&design, &compiled(&design)).expect("an equilibrium");
    assert_close(trim.values[0].value, -4.448879, 5e-7);
    assert_eq!(rest.parameters, vec![]);
    let outcome = kit::run_design(&design, paynter::exec::Engine::Auto).expect("runs");
    // It stays where it starts, at the acceleration of the thesis.
    assert_close(kit::column(&outcome, "alpha")[0], -4.448879, 5e-7);
    assert_close(
        last(&outcome, "alpha"),
        kit::column(&outcome, "alpha")[0],
        1e-9,
    );
    assert_close(last(&outcome, "G"), -12.92201, 5e-6);
    // The other way round: which fin holds this angle.
    let design = open(&file.0, Some("fin"), "", "");
    let (trim, rest) = find_rest(&design, &compiled(&design)).expect("an equilibrium");
    assert_close(trim.values[0].value, 5.0, 1e-5);
    assert_eq!(rest.parameters.len(), 1);
    let outcome = kit::run_design(&design, paynter::exec::Engine::Auto).expect("runs");
    assert_close(last(&outcome, "G"), -12.92201, 5e-5);
}

#[test]
fn an_experiment_makes_the_linear_models_it_asks_for() {
    let outcome = run_text(
        "model M { input u = 2; der(x) = u - x^2; start x = 1 }
         experiment e of M { trim x; linearize from u to x; stop = 1 [s]; record x }",
    );
    let root = 2.0_f64.sqrt();
    assert_close(last(&outcome, "x"), root, 1e-12);
    assert_close(outcome.linear[0].model.a[(0, 0)], -2.0 * root, 1e-12);
    assert!(outcome.linear[0].is_at_rest());
    let trim = outcome.trim.expect("trimmed");
    assert_close(trim.values[0].value, root, 1e-14);
}

#[test]
fn a_mechanism_with_constraints_is_trimmed_to_where_it_hangs() {
    for settings in ["", "constraints = multiplier;"] {
        let text = format!(
            "{ROD}\nexperiment e of M {{ start hinge.angle = -1.2, hinge.rate = 0; trim hinge.angle, hinge.rate; {settings} stop = 1 [s]; record hinge.angle }}"
        );
        let file = scratch(&text);
        let design = open(&file.0, None, "", "hinge.angle");
        let (trim, _) = find_rest(&design, &compiled(&design)).unwrap_or_else(|e| {
            panic!(
                "{}",
                render(&e.into_messages(), &design.project.sources, false)
            )
        });
        assert_close(trim.values[0].value, -std::f64::consts::FRAC_PI_2, 1e-9);
    }
}

#[test]
fn coordinates_that_nothing_reads_may_go_on() {
    let outcome = run_text(
        "model M { input F = 3; Se(F) -> a: 1 -> m: I(2), b: R(1.5); der(x) = a.f }
         experiment e of M { trim a.f; stop = 1 [s]; record a.f as v, x }",
    );
    assert_close(last(&outcome, "v"), 2.0, 1e-12);
    assert_close(last(&outcome, "x"), 2.0, 1e-9);
    let trim = outcome.trim.expect("trimmed");
    assert_eq!(trim.drifting.len(), 1);
    assert_close(trim.drifting[0].value, 2.0, 1e-12);
}

fn trim_refused(text: &str) -> String {
    let file = scratch(text);
    let design = open(&file.0, None, "", "");
    let error = find_rest(&design, &compiled(&design)).expect_err("no point at rest");
    error.into_messages()[0].code.to_owned()
}

#[test]
fn a_trim_without_an_answer_says_why() {
    let with = |model: &str, trim: &str| {
        format!("model M {{ {model} }}\nexperiment e of M {{ trim {trim}; stop = 1 [s] }}")
    };
    // Too few: y keeps its start value and moves.
    let two = "der(x) = y - x; der(y) = 1 - x*y; start x = 0, y = 3";
    assert_eq!(trim_refused(&with(two, "x")), "E0754");
    // Nothing of the states is in it.
    assert_eq!(
        trim_refused(&with("der(x) = 1 - x; y = time", "y")),
        "E0754"
    );
    // A mass without a spring rests anywhere.
    let mass = "Se(0) -> a: 1 -> m: I(1), b: R(1); der(x) = a.f; y = 2*x";
    assert_eq!(trim_refused(&with(mass, "x, a.f")), "E0755");
    // No root.
    assert_eq!(trim_refused(&with("der(x) = 1 + x^2", "x")), "E0756");
    assert_eq!(
        trim_refused(&with("der(x) = 1 + sqrt(x); start x = 1", "x")),
        "E0756"
    );
}

#[test]
fn an_ask_without_anything_is_the_dynamics_alone() {
    let file = scratch(RLC);
    let design = open(&file.0, None, "", "");
    let m =
        linearize(&design, &compiled(&design), &LinearRequest::default()).expect("a linear model");
    assert_eq!(
        (m.model.n_states(), m.inputs.len(), m.outputs.len()),
        (2, 0, 0)
    );
}

fn missile_design(experiment: &str, cut: &str) -> Design {
    let choice = Choice {
        experiment: Some(experiment.to_owned()),
        linear: Some(LinearChoice {
            from: Some("Gc".to_owned()),
            to: Some("G".to_owned()),
            cut: Some(cut.to_owned()),
            ..LinearChoice::default()
        }),
        ..Choice::default()
    };
    let path = gallery().join("missile/missile.bond");
    paynter::design(&path, &choice).unwrap_or_else(|_| panic!("{experiment} opens"))
}

#[test]
fn margins_of_the_autopilot_are_those_of_the_loop_and_those_of_the_thesis() {
    // The thesis prints `margin()` of the closed loop; the loop itself is cut at the fin command.
    for (set, toolbox_gain, phase) in [("gains_set1", 3.3949, 66.9), ("gains_set4", 2.9619, 71.0)] {
        let design = missile_design(set, "pilot.delta");
        let report =
            loop_margins(&design, &compiled(&design), &design.linear.cut[0], None).expect("a loop");
        assert!(report.is_stable());
        assert_close(
            report.phase_margin().expect("crosses").to_degrees(),
            phase,
            0.05,
        );
        let closed = linearize(
            &design,
            &compiled(&design),
            &linear_request(&design, None, false),
        )
        .expect("a linear model");
        let channels = channel_margins(&design, &closed).expect("finite");
        let gain = channels[0]
            .margins
            .gain_margin()
            .expect("crosses")
            .gain_margin;
        // Printed to four decimals, cut off rather than rounded.
        assert_close(20.0 * gain.log10(), toolbox_gain, 1e-4);
    }
}

#[test]
fn a_loop_is_open_where_it_is_cut() {
    // From the fin to itself with the loop open: −L. 1 + L = 0 at the closed poles.
    let mut design = missile_design("gains_set1", "pilot.delta");
    let closed_poles = poles(&made(&design, None));
    let report =
        loop_margins(&design, &compiled(&design), &design.linear.cut[0], None).expect("a loop");
    design.linear.from = design.linear.cut.clone();
    let open = linearize(
        &design,
        &compiled(&design),
        &linear_request(&design, None, true),
    )
    .expect("a linear model");
    // The airframe alone has two poles; the integrator of the autopilot goes nowhere and nothing reads the momentum of the mass: left out.
    assert_eq!(open.model.n_states(), 2);
    assert_eq!(open.left_out.len(), 3, "{:?}", open.left_out);
    let determinant = |poles: &[Complex], s: Complex| {
        poles
            .iter()
            .fold(Complex::new(1.0, 0.0), |p, z| p * (s - z))
    };
    for k in [report.sweep.omega.len() / 3, report.sweep.omega.len() / 2] {
        let s = Complex::new(0.0, report.sweep.omega[k]);
        // 1 + L is the ratio of the closed and the open characteristic polynomial.
        let expected = determinant(&closed_poles, s) / (determinant(&poles(&open), s) * s);
        let found = report.sweep.values[k] + 1.0;
        assert!(
            (found - expected).norm() < 1e-9 * expected.norm(),
            "{found} {expected}"
        );
    }
}

#[test]
fn a_signal_that_nothing_reads_is_in_no_loop() {
    // `speed` is a name for the state; the loop reads the state itself.
    let text = "model M { input r = 1; der(x) = r - 3*x; speed = 2*x }
        experiment e of M { stop = 1 [s]; measure g = gain_margin(speed) }";
    let (found, _) = kit::messages(text);
    assert_eq!(found[0].code, "E0757");
}

#[test]
fn margins_are_measures_of_an_experiment() {
    // L = 4/(s + 1)³: gain margin 2 = 6.02 dB.
    let outcome = run_text(
        "model M {
            input r = 1
            u = r - z
            der(x) = 4*u - x; der(y) = x - y; der(z) = y - z
        }
        experiment e of M { stop = 1 [s]; record z; measure gm = gain_margin(u), pm = phase_margin(u) }",
    );
    let value = |name: &str| {
        let found = outcome.measures.iter().find(|m| m.name == name);
        found.expect("measured").value.expect("has a value")
    };
    assert_close(value("gm"), 20.0 * 2.0_f64.log10(), 1e-10);
    let omega = (4.0_f64.powf(2.0 / 3.0) - 1.0).sqrt();
    assert_close(value("pm"), 180.0 - 3.0 * omega.atan().to_degrees(), 1e-9);
}

#[test]
fn the_step_of_the_linear_model_is_the_run_of_a_linear_model() {
    let design = missile_design("gains_set1", "pilot.delta");
    let m = made(&design, None);
    let found = steps(&design, &m, Some(1.0)).expect("finite");
    // The command of the experiment is −12.92 from rest.
    let outcome = kit::run_design(&design, paynter::exec::Engine::Auto).expect("runs");
    let (time, run) = (&outcome.run.table.time, kit::column(&outcome, "Az_G"));
    for (t, g) in time.iter().zip(run).step_by(20) {
        let k = (t / 1.0 * (found.time.len() - 1) as f64).round() as usize;
        assert_close(found.time[k], *t, 1e-12);
        assert_close(-12.92 * found.curves[0].values[k], *g, 1e-8);
    }
}

#[test]
fn resonances_of_a_circuit_stand_in_its_bode_diagram() {
    let text =
        "model M { input V = 1; param R = 1e-3; Se(V) -> a: 1 -> r: R(R), l: I(1), c: C(1) }";
    let file = scratch(text);
    let diagram = |resistance: &str| {
        let design = open_with(&file.0, None, ("V", "c.e"), &[("R", resistance)]);
        let m = made(&design, None);
        bode(&design, &m, None).expect("finite")
    };
    for resistance in ["1e-3", "0.2", "1.3"] {
        let found = diagram(resistance);
        let (omega, gain) = found.channels[0].peak.expect("a peak");
        // ζ = R/2 √(C/L): the peak is 1/(2ζ√(1 − ζ²)) at ω₀√(1 − 2ζ²).
        let zeta = 0.5 * resistance.parse::<f64>().expect("a number");
        let exact = 1.0 / (2.0 * zeta * (1.0 - zeta * zeta).sqrt());
        assert_close(gain / exact, 1.0, 1e-12);
        assert_close(omega, (1.0 - 2.0 * zeta * zeta).sqrt(), 1e-7);
        assert_close(found.channels[0].at_rest.expect("finite"), 1.0, 1e-15);
    }
    let found = diagram("1e-3");
    let svg = found.plot("t").to_svg();
    assert!(svg.contains("gain [dB]") && svg.contains("phase [deg]") && !svg.contains("NaN"));
}

#[test]
fn a_double_pole_says_how_exact_it_is() {
    let text =
        "model M { input u = 0; der(x) = u - x; der(y) = x - y; der(z) = y - z; der(w) = z - w }";
    let file = scratch(text);
    let design = open(&file.0, None, "u", "w");
    let m = made(&design, None);
    let table = pole_table(&design, &m).expect("finite");
    let shown = poles_to_text(&m, &table);
    assert!(shown.contains("(to "), "{shown}");
    assert!(shown.contains("zeros from u to w [1/s]\n  none"), "{shown}");
}
