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

/// The lines of a picture in an order that does not depend on that of the text.
fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn order_of_lines_changes_nothing() {
    let lines = [
        "param R1 = k*2, k = 3 [ohm]",
        "supply: Se(v) -> mesh: 1 -> r: R(R1)",
        "mesh -> part.p",
        "part: Part(c = C0)",
        "param C0 = 1 [uF]",
        "v = 2*u",
        "u = sin(phi)*1 [V]",
        "der(phi) = mesh.f/1 [A*s]",
        "for i in 1 .. n { mesh -> l[i]: I(1 [mH]) }",
        "n = m - 1",
        "param m = 3",
    ];
    let part = "model Part { port p: electrical = j; j: 0 -> cap: C(c); param c [F] }\n";
    let forwards = format!("{part}model M {{\n{}\n}}", lines.join("\n"));
    let backwards: Vec<&str> = lines.into_iter().rev().collect();
    let backwards = format!("{part}model M {{\n{}\n}}", backwards.join("\n"));
    let (a, b) = (graph_of(&forwards), graph_of(&backwards));
    assert_sound(&a);
    assert_eq!(sorted(&picture(&a)), sorted(&picture(&b)));
}

#[test]
fn values_are_si_whatever_unit_they_are_written_in() {
    let mut elaborated = Values::of(
        "model M {
            a = 5 [mm]; b = 334 [N*m/deg]; c = 20 [degC]; d = 1 [ft]; e = [1, 2] [km]
            f = 50 [%]; g = 10 [uF]
            s: Se(1 [V]) -> j: 1 -> r: R(1 [ohm])
        }",
    );
    assert_eq!(elaborated.value("a"), 5e-3);
    // 334 N·m/deg in N·m/rad, rounded once or twice.
    let per_radian = 334.0 * 180.0 / std::f64::consts::PI;
    assert!((elaborated.value("b") - per_radian).abs() < 4.0 * f64::EPSILON * per_radian);
    assert_eq!(elaborated.value("c"), 293.15);
    assert_eq!(elaborated.value("d"), 0.3048);
    assert_eq!(elaborated.value("e[2]"), 2000.0);
    assert_eq!(elaborated.value("f"), 0.5);
    assert_eq!(elaborated.value("g"), 1e-5);
}

#[test]
fn matrices_follow_linear_algebra() {
    let mut elaborated = Values::of(
        "fn gains(a, b = 2*a) { c = a + b; return sum = c, product = a*b }
        model M {
            A = [1, 2; 3, 4]; x = [5, 6]
            y = A*x
            t = A'
            xx = x'*x; outer_ = x*x'
            z = inv(A)*y
            w = solve(A, y)
            c = cross([1, 0, 0], [0, 1, 0])
            n = sum(i^2 for i in 1 .. 4)
            g = gains(3)
            h = gains(b = 1, a = 5)
            p = g.sum + h.product
            s: Se(1 [V]) -> j: 1 -> r: R(1 [ohm])
        }",
    );
    assert_eq!(elaborated.values("y"), [17.0, 39.0]);
    assert_eq!(elaborated.values("t"), [1.0, 3.0, 2.0, 4.0]);
    assert_eq!(elaborated.value("xx"), 61.0);
    assert_eq!(elaborated.values("outer_"), [25.0, 30.0, 30.0, 36.0]);
    assert_eq!(elaborated.value("c.z"), 1.0);
    assert_eq!(elaborated.value("n"), 30.0);
    assert_eq!(elaborated.value("p"), 9.0 + 5.0);
    // Elimination of a 2×2 matrix of small whole numbers is exact to a few roundings.
    for name in ["z", "w"] {
        for (found, exact) in elaborated.values(name).into_iter().zip([5.0, 6.0]) {
            assert!((found - exact).abs() < 1e-13, "{name}: {found}");
        }
    }
}

#[test]
fn a_bond_through_ports_is_one_bond() {
    let graph = graph_of(
        "model Wire { port a: electrical, b: electrical; a -> inner.a; inner.b -> b; inner: Core() }
        model Core { port a: electrical, b: electrical; a -> r: TF(2) -> b }
        model M { w: Wire(); s: Se(1 [V]) -> w -> load: R(1 [ohm]) }",
    );
    assert_sound(&graph);
    assert_eq!(
        picture(&graph),
        "s -> w.inner.r
w.inner.r -> load
w.inner.r: TF 2
s: Se 1
load: R 1
"
    );
}

#[test]
fn a_matrix_transformer_keeps_power_entry_by_entry() {
    let graph = graph_of(
        "model M {
            param k = 2
            a: 1[2] => i: I[2](eye(2))
            a => TF([1, 0; k, -1]) => z: 0[2] => c: C[2](eye(2))
        }",
    );
    assert_sound(&graph);
    let text = picture(&graph);
    // f₂₁ = f₁₁ is a plain bond, f₂₂ = k f₁₁ − f₁₂ two transformers, the zero is nothing.
    assert_eq!(
        text.lines().filter(|l| l.contains(": TF")).count(),
        2,
        "{text}"
    );
    assert!(
        text.contains(": TF k\n") && text.contains(": TF -1\n"),
        "{text}"
    );
    let groups: Vec<u32> = graph.groups.iter().map(|g| g.size).collect();
    assert!(groups.contains(&2));
}

#[test]
fn a_law_in_either_form_gives_the_modulus() {
    let graph = graph_of(
        "model M {
            p = sin(time/1 [s])
            s: Se(1 [V]) -> a: 1 -> TF { e2 = p*e1 } -> b: 1 -> TF { e1 = 3*e2 } -> c: 1
            c -> GY { e2 = f1*4 } -> d: 1 -> i: I(1)
            a -> l: I(1); b -> m: I(1); c -> n: I(1)
        }",
    );
    let text = picture(&graph);
    for law in ["TF inverse p modulated, can vanish", "TF 3\n", "GY 4\n"] {
        assert!(text.contains(law), "{law} in {text}");
    }
}

#[test]
fn experiments_and_settings_change_parameters_inputs_and_parts() {
    let text = "
        model Law { input u; output y }
        model Twice extends Law { y = 2*u }
        model Thrice extends Law { param k = 3; y = k*u }
        model Part { param r = 1 [ohm]; port p: electrical = j; j: 0 -> res: R(r) }
        model M {
            input v = 1 [V]
            param n = 1
            replaceable law: Law = Twice()
            law.u = v
            part: Part()
            s: Se(law.y) -> j: 1 -> part.p
            for i in 1 .. n { j -> l[i]: I(1 [H]) }
        }
        experiment e of M { with v = 5 [V], law = Thrice(k = 7), part.r = 4 [ohm] }";
    let mut project = project(text, &[]);
    let set = project.parse_override("n", "2").expect("a number");
    let over = project
        .parse_override("part.r", "9 [ohm]")
        .expect("a number");
    let request = paynter_model::project::Request {
        experiment: Some("e".to_owned()),
        overrides: vec![set, over],
        ..Default::default()
    };
    let elaboration = paynter_model::elaborate::elaborate(&project, &request);
    let mut elaborated = elaboration.elaborated.expect("no errors");
    let names: Vec<String> = elaborated
        .structural
        .iter()
        .map(|&s| elaborated.graph().signals.name_of(s))
        .collect();
    assert_eq!(names, ["n"]);
    // What is asked for as a constant is built into the plan, and so becomes structural.
    let mut number = |path: &str| {
        let value = elaborated.read(path).expect("a name");
        elaborated.constant(value.elements[0]).expect("a constant")
    };
    assert_eq!(number("law.y"), 35.0);
    assert_eq!(number("part.r"), 9.0);
    assert!(elaborated.read("l[2].p").is_ok());
    assert!(elaborated.read("l[3].p").is_err());
}

#[test]
fn sampled_values_events_and_starts_arrive() {
    let graph = graph_of(
        "model M {
            weight: Se(-1 [N]) -> v: 1 -> mass: I(1 [kg])
            der(h) = v.f
            sample at 1200 [Hz] { u = pre(u) + h/1 [m] }
            when bounce: h < 0 [m] and v.f < 0 [m/s] {
                reinit mass.p = -0.8*mass.p
                count = pre(count) + 1
                stop \"enough\"
            }
            start h = 1 [m], u = 3, v.f = 2 [m/s]
            guess mass.p = 2 [N*s]
            invariant h == h
        }",
    );
    assert_eq!(graph.signals.clocks[0].rate, (1200, 1));
    assert_eq!(graph.signals.whens[0].actions.len(), 3);
    // `u` is discrete, so its start is part of its symbol.
    assert_eq!(graph.signals.starts.len(), 3);
    assert!(
        graph
            .signals
            .symbols
            .iter()
            .any(|s| matches!(s.role, paynter_symbolic::Role::Discrete { start: 3.0 }))
    );
}

#[test]
fn quantities_are_read_once_and_sources_count_outwards() {
    let graph = graph_of(
        "model M {
            s: Se(2 [V]) -> j: 1 -> r: R(1 [ohm]), c: C(1 [F])
            bond tap: j -> l: I(1 [H])
            a = s.power; b = s.power; d = c.stored; e = r.energy; f = tap.energy; g = system.energy
            h = integral(r.f) + integral(r.f)
        }",
    );
    assert_eq!(graph.readings.len(), 5);
    assert!(picture(&graph).contains("s.power = s.e*s.f\n"));
    assert!(picture(&graph).contains("h = (integral[1] + integral[1])\n"));
}

#[test]
fn composite_ports_join_power_and_pass_signals_from_their_giver() {
    let graph = graph_of(
        "port Frame { lin: translational[2]; signal r: [2] [m] }
        model Body {
            port cg: Frame = (lin = v, r = r)
            v: 1[2] => i: I[2](2*eye(2))
            der(r) = v.f
        }
        model Spring {
            port a: Frame, b: Frame
            d = b.r - a.r
            a.lin => gap: 0[2] => b.lin
            gap => c: C[2](eye(2))
        }
        model M { one: Body(); two: Body(); k: Spring(); one => k => two }",
    );
    assert_sound(&graph);
    let text = picture(&graph);
    assert!(text.contains("k.d[1] = (two.r[1] - one.r[1])"), "{text}");
    assert!(text.contains("one.v[1] -> k.gap[1]"), "{text}");
    assert!(text.contains("k.gap[2] -> two.v[2]"), "{text}");
}

#[test]
fn a_chain_of_definitions_may_be_long_in_any_order() {
    let n = 20_000;
    let mut text = String::from("model M {\n s: Se(x1) -> j: 1 -> r: R(1)\n");
    for i in 1..n {
        text.push_str(&format!(" x{i} = x{} + 1\n", i + 1));
    }
    text.push_str(&format!(" x{n} = time\n}}"));
    let graph = graph_of(&text);
    assert_eq!(graph.signals.equations.len(), n);
}

#[test]
fn an_error_in_a_repeated_part_is_told_once() {
    let told = errors_of(
        "model Cell { port p: electrical = j; j: 0 -> c: C(capacity) }
        model M { s: Se(1 [V]) -> bus: 1; for i in 1 .. 1000 { cell[i]: Cell(); bus -> cell[i].p } }",
    );
    assert_eq!(
        told.lines().filter(|l| l.starts_with('E')).count(),
        1,
        "{told}"
    );
}

#[test]
fn a_wrong_end_of_a_bond_is_told_once() {
    let parts = "port Cut { lin: translational; signal r [m] }
        model Ground { port fixed: Cut = (lin = v, r = 0 [m]); Sf(0 [m/s]) -> v: 1 }
        model Mass { param m [kg]; port cg: Cut = (lin = v, r = r); v: 1 -> i: I(m); der(r) = v.f }
        model Spring { port a: Cut, b: Cut; a.lin -> d: 0 -> b.lin; d -> C(1e-3 [m/N]); output x [m] = b.r - a.r }";
    let joined = |how: &str| {
        errors_of(&format!(
            "{parts}
            model M {{ g: Ground(); m: Mass(m = 1 [kg]); {how} }}"
        ))
    };
    assert_eq!(joined("g.fixed => s: Spring => m.cg"), "");
    for wrong in [
        "g.fixed => s: Spring => m.cx",
        "s: Spring(); g.fixed => s.a; s.b => m.cx",
    ] {
        let told = joined(wrong);
        assert!(told.starts_with("E0201"), "{told}");
        assert_eq!(
            told.lines().filter(|l| l.starts_with('E')).count(),
            1,
            "{told}"
        );
    }
    let open = joined("s: Spring(); g.fixed => s.a");
    assert!(open.contains("nothing gives the signals"), "{open}");
}

#[test]
fn a_bare_number_agrees_with_anything_unless_units_are_strict() {
    let loose = "model M { s: Se(10) -> j: 1 -> r: R(5 [ohm]), l: I(2) }";
    assert_eq!(errors_of(loose), "");
    let strict = errors_of(&format!("units strict\n{loose}"));
    assert!(
        strict.contains("write `10 [V]`") && strict.contains("write `2 [H]`"),
        "{strict}"
    );
}

#[test]
fn all_sketches_are_right() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sketches");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a sketch");
    let (servo, mechanics) = (read("s10_servo.bond"), read("lib_mechanics3d.bond"));
    let files = [
        ("control", ""),
        ("mechanics3d", &*mechanics),
        ("s10_servo.bond", &*servo),
    ];
    let mut n = 0;
    for entry in std::fs::read_dir(&folder).expect("the sketches") {
        let name = entry
            .expect("a file")
            .file_name()
            .into_string()
            .expect("a plain name");
        let told = check_text(&read(&name), &files);
        assert!(
            !told.lines().any(|l| l.starts_with("E0")),
            "{name}:\n{told}"
        );
        n += 1;
    }
    assert_eq!(n, 13);
}

#[test]
fn no_broken_file_makes_the_elaborator_fail() {
    // Leave out every word once: parsing and checking must go on, whatever is missing.
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sketches");
    for name in [
        "s1_gyroscope.bond",
        "s2_table_multi.bond",
        "s10_servo.bond",
        "ball.bond",
        "switched.bond",
    ] {
        let text = std::fs::read_to_string(folder.join(name)).expect("a sketch");
        let words: Vec<(usize, &str)> = text
            .split_inclusive(|c: char| !c.is_alphanumeric() && c != '_')
            .scan(0, |at, word| {
                *at += word.len();
                Some((*at - word.len(), word))
            })
            .collect();
        // Every third word of a file is enough to meet every construct, and keeps the test short.
        for (at, word) in words.iter().step_by(3) {
            let broken = format!("{}{}", &text[..*at], &text[at + word.len()..]);
            let (project, _) = alone(&broken);
            let _ = paynter_model::check::check(&project);
        }
    }
}

/// Codes of all messages of `check`.
fn codes(text: &str) -> Vec<&'static str> {
    let (project, mut found) = alone(text);
    found.extend(paynter_model::check::check(&project));
    found.iter().map(|m| m.code).collect()
}

#[test]
fn what_multiplies_without_end_is_told_once() {
    let doubling: String = (1..40)
        .map(|i| format!("fn f{i}(x) = f{}(x) + f{}(2*x)\n", i - 1, i - 1))
        .collect();
    let text = format!("fn f0(x) = x + 1\n{doubling}model M {{ y = f39(time) }}");
    assert_eq!(codes(&text), ["E0230"]);
    assert_eq!(
        codes("model M { for i in 1 .. 1e9 { x[i] = i } }"),
        ["E0230"]
    );
    assert_eq!(codes("model M { j: 1[1e9] }"), ["E0227"]);
    assert_eq!(codes("model M { A = eye(1000)\n B = A*A }"), ["E0230"]);
    assert_eq!(codes("model M { A = eye(900)\n B = inv(A) }"), ["E0332"]);
}

#[test]
fn a_long_line_of_extends_is_told_once() {
    let chain = |n: usize| -> String {
        let models = (1..n).map(|i| format!("model M{i} extends M{} {{ }}\n", i - 1));
        std::iter::once("model M0 { x = 1 }\n".to_owned())
            .chain(models)
            .collect()
    };
    assert!(codes(&chain(60)).is_empty());
    assert_eq!(codes(&chain(300)), ["E0216"]);
}

#[test]
fn models_of_a_file_do_not_slow_each_other_down() {
    // Time is not a fact; that it ends at once is. Each model was read anew for every other one.
    let text: String = (0..5_000)
        .map(|i| format!("model M{i} {{ Se(1) -> j: 1 -> r: R(1) }}\nfn f{i}(x) = x + {i}\n"))
        .collect();
    assert!(codes(&text).is_empty());
}

/// Ways to make a quantity `q` without saying its unit, and the unit that follows.
const UNDECLARED: &[(&str, &str)] = &[
    ("q = 2 [m]", "m"),
    ("param q = 3 [kg]", "kg"),
    ("der(q) = 2 [m/s]", "m"),
    ("q = integral(5 [W])", "J"),
    ("solve q { q + 1 [V] == 3 [V] }", "V"),
    ("solve q { 2 [ohm]*q == 3 [V] }", "A"),
    ("sample at 10 [Hz] { q = 4 [Pa] }", "Pa"),
    ("sample at 10 [Hz] { q = pre(q) + 1 [K] }", "K"),
    ("q = tf(num = [1], den = [1, 1], u = 2 [N])", "N"),
    ("q = sqrt(4 [m^2])", "m"),
    ("q = max(1 [Hz], 2 [Hz])", "1/s"),
    ("q = if time > 1 [s] then 1 [A] else 2 [A]", "A"),
    ("a = 3 [m]\n q = a*a*a", "m^3"),
    ("q = table([0, 1] [s], [0, 2] [mol], time)", "mol"),
    ("q = double(2 [N*m])", "J"),
    (
        "Se(1 [V]) -> j: 1 -> r: R(1 [ohm]), l: I(1 [H])\n q = l.p",
        "Wb",
    ),
    (
        "Se(1 [Pa]) -> j: 1 -> r: R(1 [Pa*s/m^3])\n q = j.f",
        "m^3/s",
    ),
    (
        "for i in 1 .. 3 { a[i] = 1 [mm] }\n q = sum(a[i] for i in 1 .. 3)",
        "m",
    ),
    ("der(a) = q\n der(q) = 1 [m/s^2]\n b = a + 1 [m]", "m/s"),
];

#[test]
fn units_follow_from_equations_whatever_the_order_of_lines() {
    let wrong = |unit: &str| if unit == "s" { "m" } else { "s" };
    for (made, unit) in UNDECLARED {
        for read in [
            "y = q + 1 [UNIT]",
            "y = if q > 1 [UNIT] then 1 else 2",
            "y [UNIT] = q",
        ] {
            let good = read.replace("UNIT", unit);
            let bad = read.replace("UNIT", wrong(unit));
            for (line, expected) in [(good, vec![]), (bad, vec!["E0320"])] {
                for body in [format!("{made}\n {line}"), format!("{line}\n {made}")] {
                    let text = format!("fn double(x) = x + x\nmodel M {{\n {body}\n}}\n");
                    assert_eq!(codes(&text), expected, "{text}");
                }
            }
        }
    }
}

#[test]
fn a_unit_passes_through_a_line_of_states() {
    // Each reads the next, and only the last one has a unit.
    let text = |unit: &str| {
        format!(
            "model M {{\n y = a + 1 [{unit}]\n der(a) = b\n solve b {{ b == c }}\n c = d\n d = 2 [m/s]\n}}"
        )
    };
    assert!(codes(&text("m")).is_empty());
    assert_eq!(codes(&text("kg")), ["E0320"]);
}

#[test]
fn deep_and_long_models_end_with_at_most_one_message() {
    let n = 10_000;
    let parts: String = (1..n)
        .map(|i| format!("model M{i} {{ a: M{}() }}\n", i - 1))
        .collect();
    assert_eq!(codes(&format!("model M0 {{ x = 1 }}\n{parts}")), ["E0216"]);
    let functions: String = (1..n)
        .map(|i| format!("fn f{i}(x) = f{}(x)\n", i - 1))
        .collect();
    let text = format!("fn f0(x) = x\n{functions}model M {{ y = f{}(1) }}", n - 1);
    assert_eq!(codes(&text), ["E0216"]);
    let signals: String = (1..n).map(|i| format!("x{i} = x{} + 1\n", i - 1)).collect();
    assert!(codes(&format!("model M {{\nx0 = time\n{signals}}}")).is_empty());
    let chain: String = (1..n).map(|i| format!(" -> j{i}: 0")).collect();
    assert!(codes(&format!("model M {{ Se(1) -> j0: 0{chain} -> R(1) }}")).is_empty());
}

#[test]
fn a_transformer_may_join_a_speed_and_a_turn() {
    let text = "model HalfCar {
        param a = 1.2 [m], b = 1.5 [m]
        heave: 1 -> I(800 [kg])
        pitch: 1 -> I(1200 [kg*m^2])
        (heave, pitch) => TF([1, a; 1, -b]) => body: 1[2] => R[2]([1, 0; 0, 1] [kN*s/m])
    }";
    assert!(codes(text).is_empty(), "{:?}", codes(text));
    assert!(codes(&format!("units strict\n{text}")).is_empty());
}
