//! Textbook answers about control and observation, by name.

mod kit;

use kit::findings;
use paynter::overlay::{LibraryOnly, Overlay};
use paynter::{Choice, design_in};
use paynter_structure::{Findings, SideFindings};

fn sides(text: &str, from: &str, to: &str) -> (SideFindings, SideFindings) {
    let Findings {
        control, observe, ..
    } = findings(text, from, to).unwrap_or_else(|e| panic!("{e:?}"));
    (
        control.expect("it has inputs"),
        observe.expect("it has outputs"),
    )
}

/// States out of reach whatever the parameters are, by name.
fn hidden(side: &SideFindings) -> Vec<Vec<String>> {
    let reach = side.generic.as_ref().expect("it has an exact rank");
    let names = |set: &Vec<usize>| set.iter().map(|&k| side.states[k].clone()).collect();
    reach.hidden.iter().map(names).collect()
}

const FLOATING: &str = "model Floating {
    push: Se(1) -> a: 1 -> m1: I(1)
    a -> gap: 0 -> spring: C(2)
    gap -> b: 1 -> m2: I(3)
}";

#[test]
fn the_force_of_a_spring_does_not_tell_how_two_masses_drift() {
    // Two masses on one spring: the force reaches everything, but the spring sees differences only. In derivative form one storage
    // stays in integral form: the drift (Sueur & Dauphin-Tanguy 1991, on systems with a null mode).
    let (control, observe) = sides(FLOATING, "push.e", "spring.e");
    assert!(control.is_whole());
    assert_eq!(control.causal.as_ref().map(|c| c.rank), Some(3));
    assert!(!observe.is_whole());
    let reach = observe.generic.as_ref().expect("exact");
    assert_eq!((reach.order, reach.rank, reach.dimension), (3, 2, 2));
    assert_eq!(
        observe.causal.as_ref().map(|c| (c.rank, c.integral.len())),
        Some((2, 1))
    );
    assert!(
        observe.paths.iter().all(|p| p.path.is_some()),
        "every mass acts on the spring"
    );
    // Any sensor of speed cures it, and nothing at the spring does.
    let cures: Vec<&str> = observe.cures.iter().map(|c| c.add[0].as_str()).collect();
    assert_eq!(cures.len(), 2, "{cures:?}");
    assert!(cures.contains(&"`a.f`") && cures.contains(&"`b.f`"));
}

#[test]
fn two_storages_in_series_hide_their_difference() {
    // Two springs in a row carry the same flow: only the sum of their displacements matters.
    let text = "model Series {
        push: Se(1) -> v: 1 -> m: I(1), k1: C(2), k2: C(3), r: R(1)
    }";
    let (control, observe) = sides(text, "push.e", "v.f");
    for side in [&control, &observe] {
        let reach = side.generic.as_ref().expect("exact");
        assert_eq!((reach.order, reach.rank, reach.dimension), (3, 2, 2));
        assert_eq!(side.causal.as_ref().map(|c| c.rank), Some(2));
        assert_eq!(hidden(side), [["k1.q", "k2.q"]]);
    }
}

#[test]
fn what_no_path_reaches_is_named_and_cured_where_it_stands() {
    let text = "model Parts {
        push: Se(1) -> near: 1 -> m: I(1), b: R(1)
        far: 1 -> n: I(1), c: C(2), d: R(1)
    }";
    let (control, _) = sides(text, "push.e", "near.f");
    assert_eq!(hidden(&control), [["n.p"], ["c.q"]]);
    let unreached: Vec<&str> = control.unreached().map(|p| p.name.as_str()).collect();
    assert_eq!(unreached, ["c.q", "n.p"]);
    assert_eq!(control.cures[0].add, ["Se at `far`"]);
    assert!(control.cures[0].margin.is_some_and(|m| m > 1e-3));
}

#[test]
fn two_apart_parts_need_two_sources() {
    let text = "model Parts {
        push: Se(1) -> near: 1 -> m: I(1), b: R(1)
        left: 1 -> n: I(1), c: C(2), d: R(1)
        right: 0 -> o: I(1), e: C(3), f: R(2)
    }";
    let (control, _) = sides(text, "push.e", "near.f");
    assert_eq!(control.cures.len(), 1, "{:?}", control.cures);
    assert_eq!(control.cures[0].add, ["Se at `left`", "Sf at `right`"]);
}

#[test]
fn a_balanced_bridge_is_controllable_but_for_its_numbers() {
    let bridge = |r4: f64| {
        format!(
            "model Bridge {{
                supply: Se(1) -> s: 1 -> rs: R(1), top: 0
                top -> a: 1 -> r1: R(1), left: 0
                top -> b: 1 -> r2: R(2), right: 0
                left -> r3: R(3)
                right -> r4: R({r4})
                left -> across: 1 -> right
                across -> l: I(1)
            }}"
        )
    };
    let found = findings(&bridge(6.0), "supply.e", "across.f").expect("it is regular");
    let control = found.control.expect("it has an input");
    assert!(control.is_whole());
    assert_eq!(control.numeric.expect("it is linear").dimension, 0);
    assert!(found.warnings.iter().any(|w| w.code == "W0852"));
    let found = findings(&bridge(5.0), "supply.e", "across.f").expect("it is regular");
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}

#[test]
fn a_ladder_of_ten_thousand_bonds_is_answered_by_strokes() {
    let text = "model Ladder {
        src: Se(1) -> a[0]: 1 -> r0: R(1), i0: I(1)
        for k in 1 .. 2000 {
            a[k-1] -> b[k]: 0 -> c[k]: C(1)
            b[k] -> a[k]: 1 -> l[k]: I(1), r[k]: R(1)
        }
    }";
    let (control, observe) = sides(text, "src.e", "a[2000].f");
    for side in [&control, &observe] {
        assert_eq!(side.is_whole_by_strokes(), Some(true));
        assert_eq!(side.paths.len(), 4001);
    }
    let farthest = control
        .paths
        .iter()
        .filter_map(|p| p.path.as_ref())
        .map(|p| p.0)
        .max();
    assert_eq!(farthest, Some(4001));
}

#[test]
fn gramians_of_a_tank_are_those_of_the_formula() {
    // q' = u − q/6: W = 1/(2/6) for the input, (1/2)²·3 for the level q/2.
    let text = "model Tank { pump: Sf(1) -> t: 0 -> c: C(2), r: R(3) }";
    let (control, observe) = sides(text, "pump.f", "t.e");
    for (side, expected) in [(control, 3.0), (observe, 0.75)] {
        let numeric = side.numeric.expect("it has numbers");
        let (names, w) = numeric.gramian.expect("it is stable");
        assert_eq!(names, ["c.q"]);
        assert!((w[(0, 0)] - expected).abs() < 1e-12, "{w:?}");
    }
    // A mass without friction drifts: no bound, no Gramian.
    let (control, _) = sides(
        "model M { push: Se(1) -> v: 1 -> m: I(1) }",
        "push.e",
        "v.f",
    );
    assert!(control.numeric.expect("it has numbers").gramian.is_none());
}

#[test]
fn an_input_that_acts_later_reaches_later() {
    let text = "model M {
        input u = 0
        push: Se(u*time) -> v: 1 -> m: I(1), r: R(1)
    }
    experiment e of M { stop = 1 [s]; record v.f }";
    let design = kit::design(text, "u", "v.f");
    let compiled = design.compile().expect("it compiles");
    let found = paynter_structure::along(&design, &compiled, 3).expect("it has an input");
    let reached: Vec<usize> = found
        .iter()
        .map(|i| {
            let rank = i.control.as_ref().expect("it has an input").as_ref();
            rank.expect("it has numbers").dimension
        })
        .collect();
    assert_eq!(reached, [0, 1, 1]);
    assert!(found.iter().all(|i| {
        let seen = i.observe.as_ref().expect("it has an output").as_ref();
        seen.expect("it has numbers").dimension == 1
    }));
}

/// The report page of a run asks about inputs that the run has filled in.
#[test]
fn a_report_asks_about_the_inputs_of_the_run() {
    let text = "model M {
    input road = 0
    Sf(road) -> t: 0 -> tyre: C(1)
    t -> wheel: 1 -> m: I(2), r: R(0.5)
    output v = m.f
}
experiment bump of M { with road = sin(time); stop = 1; record m.f }
";
    let mut loader = Overlay::new(LibraryOnly);
    loader.set("model.bond", text);
    let choice = Choice::default();
    let design = design_in(&mut loader, "model.bond", &choice);
    let design = design.unwrap_or_else(|_| panic!("it has no errors"));
    let all = paynter_structure::sections(&design, &choice);
    let all: Vec<String> = all.into_iter().map(|s| s.text).collect();
    let all = all.join("\n");
    assert!(all.contains("controllable from `road`"), "{all}");
    assert!(!all.contains("nothing acts on this model"), "{all}");
}

/// Where nothing acts, or nothing is measured, it is said.
#[test]
fn what_was_not_asked_is_said() {
    let text = "model M { a: 1 -> m: I(1), r: R(1), k: C(1) }";
    let found = findings(text, "", "").expect("it is compiled");
    let words = paynter_structure::text::control_text(&found);
    assert!(
        words.contains("nothing acts on this model") && words.contains("all states are taken"),
        "{words}"
    );
    let text =
        "model M { input u = 0; output x = k.q; Se(u) -> a: 1 -> m: I(1), r: R(1), k: C(1) }";
    let found = findings(text, "", "").expect("it is compiled");
    let words = paynter_structure::text::control_text(&found);
    assert!(
        !words.contains("nothing acts") && !words.contains("are taken"),
        "{words}"
    );
    let text = "model M { Se(1) -> a: 1 -> m: I(1), r: R(1), k: C(1) }\nexperiment e of M { stop = 1; record k.q }";
    let found = findings(text, "", "").expect("it is compiled");
    let words = paynter_structure::text::control_text(&found);
    assert!(
        words.contains("what the experiment records is taken for measured"),
        "{words}"
    );
}

/// Beyond the size of exact and numeric ranks paths are all there is, and the headline says so.
#[test]
fn a_model_too_large_for_ranks_is_not_called_uncontrollable() {
    let ladder = |source: &str| {
        "model L {
    param n = 400
    input u = 0
    SOURCE -> s[1]
    for k in 1..n {
        s[k]: 1 -> m[k]: I(1), r[k]: R(0.1)
        s[k] -> z[k]: 0 -> c[k]: C(1)
    }
    for k in 1..n-1 { z[k] -> s[k+1] }
    output y = z[n].e
}"
        .replace("SOURCE", source)
    };
    let first = |source: &str| {
        let found = findings(&ladder(source), "", "").expect("it is compiled");
        let words = paynter_structure::text::control_text(&found);
        words.lines().next().unwrap_or_default().to_owned()
    };
    // Strokes see a source, and not a law between the input and it.
    assert_eq!(first("Se(u)"), "controllable from `u`");
    let by_paths = first("Se(u + 2*u^3)");
    assert!(
        by_paths.starts_with("controllable from `u` as far as paths tell"),
        "{by_paths}"
    );
}

/// A sampled controller passes on at its ticks what it reads: paths go through it, and there is no exact rank. What it holds is an input of the plant.
#[test]
fn an_input_of_a_sampled_controller_is_not_out_of_reach() {
    let text = "model M {
    input cmd = 0
    sample at 1 [kHz] { u = 10*(cmd - c.q) }
    s: Se(u) -> a: 1 -> m: I(1), r: R(1), c: C(1)
    output x = c.q
}
experiment e of M { stop = 1; record c.q }";
    let side = |from: &str| {
        let found = findings(text, from, "x").expect("it is compiled");
        (found.control.clone().expect("it has an input"), found)
    };
    let (control, found) = side("cmd");
    assert_eq!(control.verdict(), None, "{control:?}");
    assert!(
        control.paths.iter().all(|p| p.path.is_some()),
        "{control:?}"
    );
    let why = control.generic.expect_err("there is no exact rank");
    assert!(why.contains("`--from u`"), "{why}");
    let words = paynter_structure::text::control_text(&found);
    assert!(
        !words.contains("not controllable") && !words.contains("out of reach"),
        "{words}"
    );
    // What is held is given from outside then, whatever sets it.
    let (control, _) = side("u");
    assert!(control.is_whole() && control.generic.is_ok(), "{control:?}");
    let design = kit::design(text, "cmd", "x");
    let subject = paynter_structure::Subject::new(&design, paynter_structure::ask(&design, None))
        .expect("an input");
    let compiled = design.compile().expect("it compiles");
    for messages in [
        paynter_structure::channels(&subject, &compiled).err(),
        paynter_structure::faults(&subject).err(),
    ] {
        let messages = messages.expect("no exact answer");
        assert_eq!(messages[0].code, "E0855");
        assert!(
            messages[0].message.contains("sampled block"),
            "{messages:?}"
        );
    }
}

/// Strokes have their answer for an `input` that is the value of a source, too.
#[test]
fn strokes_answer_for_an_input_by_name() {
    let text = "model M {
    input u = 0
    s: Se(u) -> a: 1 -> m: I(1), r: R(1), c: C(1), c2: C(2)
}
experiment e of M { stop = 1; record c.q }";
    let (control, _) = sides(text, "u", "a.f");
    assert_eq!(
        control.causal.map(|c| (c.rank, c.integral.len())),
        Some((2, 1))
    );
}

/// Full rank in numbers is full rank: coordinates that geometry ties have no paths of their own.
#[test]
fn a_crank_is_not_called_uncontrollable() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../gallery/slider_crank/slider_crank.bond"
    );
    let choice = Choice {
        linear: Some(paynter::LinearChoice::default()),
        ..Choice::default()
    };
    let design = paynter::design(std::path::Path::new(path), &choice).expect("it has no errors");
    let compiled = design.compile().expect("it compiles");
    let subject = paynter_structure::Subject::new(&design, paynter_structure::ask(&design, None))
        .expect("an input");
    let found = paynter_structure::control(&subject, &compiled).expect("an answer");
    let control = found.control.expect("it has sources");
    let numbers = control.numeric.as_ref().expect("numbers");
    assert_eq!(numbers.dimension, numbers.order);
    assert_eq!(control.verdict(), Some(true));
}
