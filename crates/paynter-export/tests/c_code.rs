//! The C code computes what the interpreter computes, and compiles without a warning under sanitizers.
//!
//! Without a C compiler these tests say so and pass; `PAYNTER_NEEDS_CC` makes that a failure.

mod kit;

use kit::{Model, compile, has_compiler, random, work_folder};
use paynter::solve::System;
use std::fmt::Write as _;

/// Models that between them have everything the seam has.
const SMALL: &[(&str, &str)] = &[
    (
        "circuit",
        "model Circuit {
            param R1 = 100 [ohm], C1 = 100 [uF], R2 = 10 [ohm], L1 = 0.1 [H]
            supply: Se(10*sin(100*pi*time)) -> mesh: 1 -> node: 0 -> branch: 1
            mesh -> r1: R(R1)
            node -> c1: C(C1)
            branch -> r2: R(R2), l1: I(L1)
            output v = c1.e, i = l1.f
        }",
    ),
    (
        // A resistive bridge: a linear block that is too large to be written out.
        "bridge",
        "model Bridge {
            input u = 5 [V]
            src: Se(u) -> a: 0
            g: Se(0 [V]) -> d: 0
            a -> l1: 1 -> b: 0
            l1 -> r1: R(10 [ohm])
            a -> l2: 1 -> c: 0
            l2 -> r2: R(20 [ohm])
            b -> l3: 1 -> d
            l3 -> r3: R(30 [ohm])
            c -> l4: 1 -> d
            l4 -> r4: R(15 [ohm])
            b -> l5: 1 -> c
            l5 -> r5: R(7 [ohm])
            l5 -> l: I(0.1 [H])
            output vb = b.e, vc = c.e
        }",
    ),
    (
        // Newton's method: a diode law against a resistor.
        "clipper",
        "model Clipper {
            param Is = 1e-9 [A], vt = 0.026 [V]
            input u = 1 [V]
            src: Se(u) -> m: 1 -> n: 0
            m -> r: R(1000 [ohm])
            n -> d: R { f = Is*(exp(e/vt) - 1) }
            n -> k: 1 -> c: C(1 [uF])
            k -> rc: R(50 [ohm])
            output v = n.e
        }",
    ),
    (
        "tables",
        "model Tables {
            src: Se(table([0, 0.1, 0.1, 0.5], [0, 1, 2, 0], time)) -> m: 1
            m -> r: R(2), i: I(0.5)
            spring: C { e = table([-1, 0, 2], [-5, 0, 3], q) }
            m -> spring
            output f = m.f, e = spring.e
        }",
    ),
];

#[test]
fn rates_and_outputs_agree_with_the_interpreter() {
    if !has_compiler() {
        return;
    }
    let gallery = [
        "gyroscope",
        "servo",
        "pendulum",
        "ball_joint",
        "platform",
        "disc",
        "wheatstone",
        "missile",
    ];
    let mut models: Vec<Model> = SMALL
        .iter()
        .map(|(name, text)| Model::of_text(name, text))
        .collect();
    models.extend(gallery.iter().map(|name| Model::of_gallery(name)));
    for mut model in models {
        compare_points(&mut model);
    }
}

/// Compares rates and outputs at points around the start.
fn compare_points(model: &mut Model) {
    const POINTS: usize = 12;
    let (n_x, n_u, n_y) = (
        model.export.states.len(),
        model.export.inputs.len(),
        model.export.outputs.len(),
    );
    let prefix = model.files.prefix.clone();
    let mut main = format!(
        "#include <stdio.h>\n#include \"{prefix}.h\"\nstatic {prefix} m;\nint main(void) {{\n"
    );
    let _ = writeln!(main, "double v[{}]; int i, s;", n_x.max(n_y).max(1));
    let _ = writeln!(
        main,
        "{prefix}_defaults(&m); if ((s = {prefix}_init(&m, 0)) != 0) {{ puts({prefix}_message(&m, s)); return 1; }}"
    );
    let mut points = Vec::new();
    let mut random = random(7);
    for k in 0..POINTS {
        let size = if k == 0 { 0.0 } else { 0.3 };
        let t = size * (random() + 1.0);
        let mut y = model.start.clone();
        for y in &mut y {
            *y += size * (random() * y.abs() + 0.1 * random());
        }
        let _ = writeln!(main, "m.t = {t:?};");
        for (k, state) in model.export.states.iter().enumerate() {
            let _ = writeln!(main, "m.x[{k}] = {:?};", y[state.variable]);
        }
        for (k, input) in model.export.inputs.iter().enumerate() {
            let _ = writeln!(main, "m.u[{k}] = {:?};", y[input.variable]);
        }
        let _ = writeln!(
            main,
            "s = {prefix}_derivatives(&m, v); for (i = 0; i < {n_x}; ++i) printf(\"%.17g \", s ? 9e99 : v[i]);"
        );
        let _ = writeln!(
            main,
            "s = {prefix}_outputs(&m, v); for (i = 0; i < {n_y}; ++i) printf(\"%.17g \", s ? 9e99 : v[i]); puts(\"\");"
        );
        points.push((t, y));
    }
    main.push_str("return 0; }\n");
    let _ = n_u;
    let printed = compile(model, &main).run();
    for ((t, y), line) in points.iter().zip(printed.lines()) {
        let got: Vec<f64> = line
            .split_whitespace()
            .map(|w| w.parse().expect("a number"))
            .collect();
        let mut rates = vec![0.0; y.len()];
        let mut outputs = vec![0.0; n_y];
        let has_rates = model.machine.rhs(*t, y, &mut rates).is_ok();
        let has_outputs = model.machine.observe(*t, y, &mut outputs).is_ok();
        let states = model.export.states.iter();
        let mut expected: Vec<f64> = states
            .map(|s| if has_rates { rates[s.variable] } else { 9e99 })
            .collect();
        expected.extend(outputs.iter().map(|&x| if has_outputs { x } else { 9e99 }));
        let largest = expected
            .iter()
            .filter(|x| x.is_finite())
            .fold(0.0_f64, |m, x| m.max(x.abs()));
        for (k, (got, expected)) in got.iter().zip(&expected).enumerate() {
            // A block of ten unknowns loses a digit or two; elsewhere operations are the same.
            let allowed = model.tolerance * (expected.abs() + 1e-3 * largest.min(1e6));
            let is_same = got == expected
                || (got.is_nan() && expected.is_nan())
                || (got - expected).abs() <= allowed;
            assert!(
                is_same,
                "{}: value {k} at t = {t}: C {got:e}, interpreter {expected:e}",
                model.name
            );
        }
        assert_eq!(got.len(), expected.len(), "{}", model.name);
    }
}

#[test]
fn single_precision_and_many_instances_compile_and_run() {
    if !has_compiler() {
        return;
    }
    let model = Model::of_text_with("circuit", SMALL[0].1, true);
    let main = "#include <stdio.h>\n#include \"circuit.h\"\nstatic circuit a, b;\nint main(void) {
        float y[4]; int k, s = 0;
        circuit_defaults(&a); circuit_defaults(&b);
        b.p.R1 = 50;
        s |= circuit_init(&a, 0); s |= circuit_init(&b, 0);
        for (k = 0; k < 1000; ++k) { s |= circuit_step(&a, 1e-4F); s |= circuit_step(&b, 1e-4F); }
        s |= circuit_outputs(&a, y); printf(\"%.9g \", y[0]);
        s |= circuit_outputs(&b, y); printf(\"%.9g %d\\n\", y[0], s);
        return 0; }";
    let printed = compile(&model, main).run();
    let values: Vec<f64> = printed
        .split_whitespace()
        .map(|w| w.parse().expect("a number"))
        .collect();
    // Single precision sums a thousand steps of time: the phase of the source is off by some 1e-3.
    let expected = [kit::circuit_at(0.1, 100.0), kit::circuit_at(0.1, 50.0)];
    for (got, expected) in values.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-2, "{got} instead of {expected}");
    }
    assert_eq!(values[2], 0.0);
}

#[test]
fn limited_signals_and_whole_numbers_rest_on_their_bounds() {
    if !has_compiler() {
        return;
    }
    let text = "model Limits {
        der(w) = 2*cos(time)
        der(x) = 1
        der(a) = if min(w, 1) > 1 then 1 else 0
        der(b) = if min(w, 1) <= 1 then 1 else 0
        der(c) = sign(max(w, 0))
        der(d) = if max(w - 0.5, 0) == 0 then 1 else 0
        der(e) = mod(floor(x), 2)
        der(f) = floor(0.5*floor(x))
        output oa = a, ob = b, oc = c, od = d, oe = e, of = f
    }";
    let model = Model::of_text("limits", text);
    let main = "#include <stdio.h>\n#include \"limits.h\"\nstatic limits m;\nint main(void) {
        double y[8]; int k, s;
        limits_defaults(&m);
        s = limits_init(&m, 0);
        for (k = 0; k < 1000 && !s; ++k) s = limits_step(&m, 0.01);
        if (s) { puts(limits_message(&m, s)); return 1; }
        limits_outputs(&m, y);
        for (k = 0; k < 6; ++k) printf(\"%.17g \", y[k]);
        return 0; }";
    let values = compile(&model, main).numbers();
    let positive = 2.0 * std::f64::consts::PI;
    let below = 10.0 - 2.0 * (0.5 * positive - 2.0 * 0.25_f64.asin());
    let expected = [0.0, 10.0, positive, below, 5.0, 20.0];
    for (got, expected) in values.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-4, "{got} instead of {expected}");
    }
}

/// Ball on a floor: bounces at times known exactly.
#[test]
fn what_becomes_true_right_after_the_start_acts_there() {
    if !has_compiler() {
        return;
    }
    let text = "model First {
        der(x) = 1
        when a: time > 0 { na = pre(na) + 1 }
        when b: time >= 0 { nb = pre(nb) + 1 }
        when c: 1 - time < 1 { nc = pre(nc) + 1 }
        when d: x > 0.2 { nd = pre(nd) + 1 }
        output oa = na, ob = nb, oc = nc, od = nd
    }";
    let model = Model::of_text("first", text);
    let main = "#include <stdio.h>\n#include \"first.h\"\nstatic first m;\nint main(void) {
        double y[8]; int k, s;
        first_defaults(&m);
        s = first_init(&m, 0);
        for (k = 0; k < 50 && !s; ++k) s = first_step(&m, 0.01);
        if (s) { puts(first_message(&m, s)); return 1; }
        first_outputs(&m, y);
        for (k = 0; k < 4; ++k) printf(\"%.17g \", y[k]);
        return 0; }";
    assert_eq!(compile(&model, main).numbers(), [1.0, 0.0, 1.0, 1.0]);
}

const BALL: &str = "model Ball {
    param m = 1 [kg], k = 0.8, h0 = 1 [m]
    weight: Se(-9.81*m) -> body: 1 -> mass: I(m)
    der(h) = body.f
    when bounce: h < 0 and body.f < 0 { reinit mass.p = -k*mass.p }
    start h = h0
    output height = h, speed = body.f
}";

#[test]
fn a_ball_bounces_where_it_should_in_fixed_steps() {
    if !has_compiler() {
        return;
    }
    let model = Model::of_text("ball", BALL);
    let main = "#include <stdio.h>\n#include \"ball.h\"\nstatic ball b;\nint main(void) {
        double y[8]; int k, s;
        ball_defaults(&b); b.p.h0 = 2;
        s = ball_init(&b, 0);
        for (k = 0; k < 150 && !s; ++k) s = ball_step(&b, 0.01);
        if (s) { puts(ball_message(&b, s)); return 1; }
        ball_outputs(&b, y);
        printf(\"%.17g %.17g %lu %.17g\\n\", y[0], y[1], b.events, b.t); return 0; }";
    let values = compile(&model, main).numbers();
    // Free fall from 2 m, then up again with 0.8 of the speed.
    let g = 9.81_f64;
    let first = (2.0 * 2.0 / g).sqrt();
    let up = 0.8 * g * first;
    let left = 1.5 - first;
    assert!(left < 2.0 * up / g, "one bounce only");
    let (h, v) = (up * left - g * left * left / 2.0, up - g * left);
    assert!((values[0] - h).abs() < 1e-9, "{} instead of {h}", values[0]);
    assert!((values[1] - v).abs() < 1e-9, "{} instead of {v}", values[1]);
    assert!(values[2] >= 1.0);
    assert!((values[3] - 1.5).abs() < 1e-12);
}

/// A sampled controller around a first-order lag.
const SAMPLED: &str = "model Sampled {
    input w = 1
    der(x) = u - x
    sample at 10 [Hz] { u = pre(u) + 0.5*(w - x) }
    start x = 0
    output x_out = x, u_out = u
}";

#[test]
fn ticks_come_at_their_instants() {
    if !has_compiler() {
        return;
    }
    let model = Model::of_text("sampled", SAMPLED);
    let main = "#include <stdio.h>\n#include \"sampled.h\"\nstatic sampled b;\nint main(void) {
        double y[8]; int k, s;
        sampled_defaults(&b); s = sampled_init(&b, 0);
        for (k = 0; k < 97 && !s; ++k) s = sampled_step(&b, 0.03);
        sampled_outputs(&b, y);
        printf(\"%.17g %.17g %d\\n\", y[0], y[1], s); return 0; }";
    let values = compile(&model, main).numbers();
    // Between ticks x' = u - x is solved exactly.
    let (mut x, mut u) = (0.0_f64, 0.0_f64);
    for tick in 0..30 {
        u += 0.5 * (1.0 - x);
        let span = if tick == 29 { 97.0 * 0.03 - 2.9 } else { 0.1 };
        x = u + (x - u) * f64::exp(-span);
    }
    assert!((values[0] - x).abs() < 1e-6, "{} instead of {x}", values[0]);
    assert!((values[1] - u).abs() < 1e-6, "{} instead of {u}", values[1]);
    assert_eq!(values[2], 0.0);
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    let (a, b) = (
        Model::of_text("clipper", SMALL[2].1),
        Model::of_text("clipper", SMALL[2].1),
    );
    assert_eq!(a.files.source, b.files.source);
    assert_eq!(a.files.header, b.files.header);
    assert!(work_folder().exists());
}
