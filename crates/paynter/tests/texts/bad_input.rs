//! What a user can get wrong: a message that names the thing, never a panic, never a wrong number.

use crate::kit::{
    self, assert_close, column, gallery, gallery_files, last, messages, run_text, try_design,
};
use paynter::run::{RunChoice, run};
use paynter::simulate::Ending;
use std::ops::ControlFlow;
use std::path::Path;

/// Fails unless the only message has this code and its headline these words.
#[track_caller]
fn assert_message(text: &str, code: &str, words: &[&str]) {
    let (found, shown) = messages(text);
    let errors: Vec<_> = found.iter().filter(|d| d.is_error()).collect();
    assert_eq!(errors.len(), 1, "one message is wanted:\n{shown}");
    assert_eq!(errors[0].code, code, "{shown}");
    for word in words {
        assert!(
            errors[0].message.contains(word),
            "`{word}` is not in the headline:\n{shown}"
        );
    }
    assert!(errors[0].primary.is_some(), "it points nowhere:\n{shown}");
}

#[test]
fn nan_born_in_an_expression_is_named_with_its_time() {
    assert_message(
        "model M { y = sqrt(1 - time/1 [s]); der(x) = y }
         experiment e of M { stop = 2 [s]; record x }",
        paynter::code::NOT_FINITE,
        &["`y`", "t = 1 s"],
    );
}

#[test]
fn nan_is_named_where_it_is_born_not_where_it_is_used() {
    // It is born beyond the last good state, and used two definitions and a bond further on.
    for method in ["auto", "tsit5", "rodas5p", "bdf", "rk4(step = 0.01)"] {
        for (law, end) in [
            ("sqrt(1 - x)", 1.0),
            ("log(1 - x)", 1.0),
            ("asin(2*x)", 0.5),
        ] {
            let text = format!(
                "model M {{
                    der(x) = 1
                    born = {law}
                    used = 2*born + 1
                    s: Se(used*x) -> j: 1 -> r: R(1), m: I(1)
                }}
                experiment e of M {{ stop = 2; method = {method}; record m.p }}"
            );
            let outcome = kit::try_run(&text).unwrap_or_else(|f| panic!("{:?}", f.diagnostics));
            let Ending::Failed {
                time,
                why: diagnostics,
            } = &outcome.run.ending
            else {
                panic!("{law}, {method}: {:?}", outcome.run.ending);
            };
            assert!((time - end).abs() < 0.02, "{law}, {method}: {time}");
            let headline = &diagnostics[0].message;
            assert!(headline.contains("`born`"), "{law}, {method}: {headline}");
        }
    }
}

#[test]
fn run_that_meets_a_nan_keeps_what_was_computed() {
    let outcome = kit::try_run(
        "model M { y = sqrt(1 - time/1 [s]); der(x) = y }
         experiment e of M { stop = 2 [s]; output_step = 0.1 [s]; record x }",
    )
    .unwrap_or_else(|f| panic!("{:?}", f.diagnostics));
    let x = column(&outcome, "x");
    assert_eq!(x.len(), 10);
    assert!(x.iter().all(|x| x.is_finite()));
}

#[test]
fn stop_before_start_is_refused() {
    assert_message(
        "model M { a: 1 -> m: I(2), k: C(1) }
         experiment e of M { start = 3 [s]; stop = 2 [s]; record a.f }",
        "E0504",
        &["2 s", "3 s"],
    );
}

#[test]
fn tolerance_of_zero_is_refused() {
    for rtol in ["0", "-1e-6", "2"] {
        assert_message(
            &format!(
                "model M {{ a: 1 -> m: I(2), k: C(1) }}
                 experiment e of M {{ stop = 2 [s]; rtol = {rtol}; record a.f }}"
            ),
            "E0502",
            &["`rtol`"],
        );
    }
}

#[test]
fn unknown_record_name_is_named() {
    assert_message(
        "model M { a: 1 -> m: I(2), k: C(1) }
         experiment e of M { stop = 2 [s]; record a.f, spring.q }",
        "E0201",
        &["`spring`"],
    );
}

#[test]
fn output_that_cannot_be_written_says_why() {
    let outcome = run_text(
        "model M { a: 1 -> m: I(2), k: C(1) }\n experiment e of M { stop = 1; record a.f }",
    );
    let table = &outcome.run.table;
    // A file where a folder would have to be.
    let file = kit::scratch("");
    let error = table
        .write(&file.0.join("x.csv"))
        .expect_err("no such folder");
    assert!(error.to_string().contains("cannot be written"), "{error}");
    let error = table
        .write(&file.0.with_extension("xls"))
        .expect_err("unknown");
    assert!(error.to_string().contains(".csv"), "{error}");
}

#[test]
fn model_without_states_runs_as_algebra_over_time() {
    let outcome = run_text(
        "model M { s: Se(4 [V]*sin(2 [1/s]*time)) -> a: 1 -> r: R(2 [ohm]) }
         experiment e of M { stop = 2 [s]; output_step = 0.5 [s]; record a.f as i, system.dissipated as D }",
    );
    for (t, i) in outcome.run.table.time.iter().zip(column(&outcome, "i")) {
        assert_close(*i, 2.0 * (2.0 * t).sin(), 1e-14);
    }
    // ∫ R i² = 8 ∫ sin²(2t) = 4 t − sin(4t)
    assert_close(last(&outcome, "D"), 8.0 - 8.0_f64.sin(), 1e-6);
}

#[test]
fn model_without_anything_that_moves_runs() {
    let outcome =
        run_text("model M { param a = 2; y = 3*a }\n experiment e of M { stop = 1; record y }");
    assert_eq!(last(&outcome, "y"), 6.0);
}

#[test]
fn blow_up_in_finite_time_is_reported_and_the_rest_kept() {
    let text = "model M { der(x) = x^2; start x = 1 }
         experiment e of M { stop = 2; output_step = 0.1; record x }";
    assert_message(text, paynter::code::STEP_TOO_SMALL, &["`x`", "t = 1 s"]);
    let outcome = kit::try_run(text).unwrap_or_else(|f| panic!("{:?}", f.diagnostics));
    let Ending::Failed { time, .. } = outcome.run.ending else {
        panic!("{:?}", outcome.run.ending)
    };
    assert_close(time, 1.0, 1e-5);
    for (t, x) in outcome
        .run
        .table
        .time
        .iter()
        .zip(column(&outcome, "x"))
        .take(9)
    {
        // 1/(1 − t) at rtol 1e-6.
        assert_close(x * (1.0 - t), 1.0, 1e-5);
    }
}

#[test]
fn storage_of_size_zero_is_refused() {
    assert_message(
        "model M { s: Se(1) -> w: 1 -> a: I(0), b: R(1) }
         experiment e of M { stop = 2; record w.f }",
        "E0452",
        &["`a`", "zero"],
    );
}

#[test]
fn two_sources_of_effort_on_one_junction_are_refused() {
    assert_message(
        "model M { s: Se(1) -> n: 0; t: Se(2) -> n; n -> r: R(1) }
         experiment e of M { stop = 2; record r.f }",
        "E0601",
        &["`n`"],
    );
}

#[test]
fn stroke_that_the_model_cannot_have_is_refused() {
    // A source of effort has its stroke at the far end; the equations could be solved all the same.
    for bond in ["s |-> j", "j ->| s"] {
        let text = format!(
            "model M {{ s: Se(1); j: 1 -> r: R(2); {bond} }}
             experiment e of M {{ stop = 2; record r.f }}"
        );
        assert_message(&text, "E0604", &["`s`", "`j`"]);
        let turned = match bond {
            "s |-> j" => text.replace(bond, "s ->| j"),
            _ => text.replace(bond, "j |-> s"),
        };
        assert!(messages(&turned).0.is_empty(), "{}", messages(&turned).1);
    }
}

#[test]
fn two_sources_of_flow_in_one_loop_are_refused() {
    let (found, shown) = messages(
        "model M { s: Sf(1) -> j: 1; t: Sf(2) -> j; j -> r: R(1) }
         experiment e of M { stop = 2; record r.f }",
    );
    assert_eq!(found.len(), 1, "{shown}");
    assert!(shown.contains("`j`"), "{shown}");
}

#[test]
fn sources_that_fight_through_a_transformer_are_refused() {
    let (found, shown) = messages(
        "model M { s: Se(1) -> a: 0 -> TF(2) -> b: 0 -> r: R(1); t: Se(5) -> b }
         experiment e of M { stop = 2; record r.f }",
    );
    assert_eq!(found.len(), 1, "{shown}");
    assert!(found[0].is_error(), "{shown}");
}

#[test]
fn law_that_cannot_be_inverted_is_named() {
    // No effort gives a flow of −1.
    let (found, shown) = messages(
        "model M { s: Sf(-1) -> a: 0 -> r: R { f = exp(e) } }
         experiment e of M { stop = 2; record r.e }",
    );
    assert!(found.iter().any(|d| d.is_error()), "{shown}");
}

#[test]
fn law_with_a_flat_piece_in_the_wrong_causality_is_refused_by_name() {
    // The source sets the effort; below q = 1 every charge gives the same.
    for source in ["Se(0.5)", "Se(1)", "Se(2)"] {
        let text = format!(
            "model M {{ s: {source} -> n: 0 -> c: C {{ e = max(q, 1) }} }}
             experiment e of M {{ stop = 1; record c.q }}"
        );
        assert_message(&text, "E0601", &["`n`"]);
    }
}

#[test]
fn charge_that_no_start_gives_is_named() {
    let text = "model M { s: Se(-1) -> n: 0 -> c: C { e = q^2 } }
         experiment e of M { stop = 1; record c.q }";
    assert_message(text, "E0713", &["`c.q`"]);
}

#[test]
fn law_without_a_solution_at_the_start_is_named() {
    let (found, shown) = messages(
        "model M { s: Sf(-1) -> a: 0 -> r: R { f = e^2 }, l: R(1e9); }
         experiment e of M { stop = 2; record r.e }",
    );
    assert!(found.iter().any(|d| d.is_error()), "{shown}");
}

#[test]
fn division_by_a_parameter_that_is_zero_names_the_element() {
    let (found, shown) = messages(
        "model M { param k = 0; s: Se(1) -> a: 1 -> m: I(1), r: R { e = f/k } }
         experiment e of M { stop = 2; record a.f }",
    );
    let errors: Vec<_> = found.iter().filter(|d| d.is_error()).collect();
    assert_eq!(errors.len(), 1, "{shown}");
    assert!(errors[0].message.contains("`r.e`"), "{shown}");
    // At the element, not at the arrow that leads to it; and the zero itself is shown.
    assert!(shown.contains(":1:53"), "{shown}");
    assert!(shown.contains("this is zero"), "{shown}");
}

/// Takes a text as far as it goes: all checks, and the start of the run if it has one.
fn go_through(text: &str) {
    let file = kit::scratch(text);
    let checked = paynter::check(&file.0).expect("it was just written");
    if checked.diagnostics.iter().any(|d| d.is_error()) {
        return;
    }
    if let Ok(design) = try_design(text) {
        let _ = run(&design, &RunChoice::default(), &mut |_| {
            ControlFlow::Break(())
        });
    }
}

fn gallery_texts() -> Vec<String> {
    let servo = gallery().join("servo/servo.bond").display().to_string();
    let texts = gallery_files().into_iter().map(|file| {
        let text = std::fs::read_to_string(file).expect("part of the project");
        text.replace("../servo/servo.bond", &servo)
    });
    texts.collect()
}

#[test]
fn gallery_files_cut_off_anywhere_never_panic() {
    const CUTS: usize = 50;
    for text in gallery_texts() {
        for k in 0..CUTS {
            let at = text.floor_char_boundary(text.len() * k / CUTS);
            go_through(&text[..at]);
        }
    }
}

/// Splits into words, numbers, blanks and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    let class = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' || c == '.' => 0,
        _ if c.is_whitespace() => 1,
        _ => 2,
    };
    while let Some(first) = rest.chars().next() {
        let end = rest
            .char_indices()
            .find(|&(at, c)| at > 0 && (class(c) != class(first) || class(c) == 2))
            .map_or(rest.len(), |(at, _)| at);
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    found
}

#[test]
fn gallery_files_with_one_token_missing_never_panic() {
    const DELETIONS: usize = 80;
    for text in gallery_texts() {
        let tokens = tokens(&text);
        let worth: Vec<usize> = (0..tokens.len())
            .filter(|&k| !tokens[k].trim().is_empty())
            .collect();
        let step = (worth.len() / DELETIONS).max(1);
        for &gone in worth.iter().step_by(step) {
            let kept: Vec<&str> = (0..tokens.len())
                .filter(|&k| k != gone)
                .map(|k| tokens[k])
                .collect();
            go_through(&kept.concat());
        }
    }
}

#[test]
fn small_models_with_any_token_missing_doubled_or_swapped_never_panic() {
    for file in [
        "circuit/circuit.bond",
        "pendulum/pendulum.bond",
        "wheatstone/wheatstone.bond",
    ] {
        let text = kit::gallery_text(file);
        let tokens = tokens(&text);
        for k in 0..tokens.len() {
            if tokens[k].trim().is_empty() {
                continue;
            }
            let with = |middle: &[&str]| {
                let parts = [&tokens[..k], middle, &tokens[k + 1..]];
                parts.concat().concat()
            };
            go_through(&with(&[]));
            go_through(&with(&[tokens[k], " ", tokens[k]]));
            go_through(&with(&["0"]));
        }
    }
}

#[test]
fn sampled_value_that_is_not_a_number_is_named_where_it_is_born() {
    let (all, text) = kit::messages(
        "model S {
            s: Se(u) -> j: 1 -> r: R(1), c: C(1)
            sample at 10 [Hz] { a = sqrt(0.5 - c.e); b = 2*a; u = if b > 0.2 then 1 else 0.5 }
        }
        experiment x of S { stop = 5 }",
    );
    assert!(all.iter().any(|d| d.code == "E0721"), "{text}");
    assert!(text.contains("`a` is not a number at t = 0.7 s"), "{text}");
}

#[test]
fn run_whose_end_is_out_of_reach_ends_and_says_so() {
    let (all, text) = kit::messages(
        "model L { der(x) = v; der(v) = -x; start x = 1 }
        experiment l of L { stop = 1e300 }",
    );
    assert!(all.iter().any(|d| d.code == "E0727"), "{text}");
}

#[test]
fn a_model_that_contains_itself_twice_ends_at_once() {
    for text in [
        "model R { s: Se(1) -> a: 1 -> r1: R(1), r2: R(2) }",
        "model Tree { a: Tree(), b: Tree(), c: Tree() }",
        "model A { b[10]: B() }\nmodel B { a[10]: A() }",
    ] {
        let found = paynter::check_text(Path::new("m.bond"), text);
        assert!(!found.diagnostics.is_empty(), "{text}");
        // More than this would be the parts of many levels.
        assert!(found.diagnostics.len() < 50, "{}", found.diagnostics.len());
    }
}

#[test]
fn a_port_that_stands_for_a_two_port_is_refused() {
    for two_port in ["TF(2)", "GY(2)"] {
        let text =
            format!("model M {{ port a: electrical = w\n s: Se(1) -> w: {two_port} -> r: R(1) }}");
        let found = paynter::check_text(Path::new("m.bond"), &text);
        let codes: Vec<&str> = found.diagnostics.iter().map(|d| d.code).collect();
        assert!(codes.contains(&"E0408"), "{two_port}: {codes:?}");
    }
}

#[test]
fn a_broken_first_row_of_a_table_is_told() {
    let folder = std::env::temp_dir().join(format!("paynter-table-row-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let path = folder.join("m.bond");
    let check = |rows: &str| {
        std::fs::write(folder.join("t.csv"), rows).expect("the folder is there");
        let text = "model A { der(z) = table(\"t.csv\") }";
        let found = paynter::check_text(&path, text).diagnostics;
        found.iter().filter(|d| d.is_error()).count()
    };
    assert_eq!(check("0,n/a\n1,1\n2,2\n"), 1);
    assert_eq!(check("n/a,0\n1,1\n2,2\n"), 1);
    assert_eq!(check("t,y\n1,1\n2,2\n"), 0);
    assert_eq!(check("t,\"2\"\n1,1\n2,2\n"), 0);
    assert_eq!(check("1,1\n2,2\n"), 0);
    std::fs::remove_dir_all(&folder).expect("made above");
}
