//! Experiments that extend one another, names of columns in plots and measures, and units of swept values.

use crate::kit::{self, assert_close, last, messages, run_text, scratch};
use paynter::syntax::render;
use paynter::{Choice, Design, DesignError};

const FALL: &str = "model Fall {
    param g = 10 [m/s^2], v0 = 0 [m/s], m = 2 [g]
    der(x) = v; der(v) = -g
    start v = v0
    output height [m] = x
}
";

fn open(text: &str, experiment: &str) -> Result<Design, String> {
    let file = scratch(text);
    let choice = Choice {
        experiment: Some(experiment.to_owned()),
        ..Choice::default()
    };
    paynter::design(&file.0, &choice).map_err(|e| match e {
        DesignError::Model(f) => render(&f.diagnostics, &f.sources, false),
        DesignError::Unreadable(message) => message,
    })
}

fn run(text: &str, experiment: &str) -> paynter::experiment::Outcome {
    let design = open(text, experiment).unwrap_or_else(|m| panic!("{m}"));
    kit::run_design(&design, paynter::exec::Engine::Auto).expect("runs")
}

fn measure(outcome: &paynter::experiment::Outcome, name: &str) -> f64 {
    let found = outcome.measures.iter().find(|m| m.name == name);
    found.and_then(|m| m.value).expect("measured")
}

#[test]
fn an_experiment_takes_over_what_it_does_not_replace() {
    let text = format!(
        "{FALL}
        experiment a of Fall {{
            with g = 4 [m/s^2], v0 = 1 [m/s]
            stop = 2 [s]; rtol = 1e-10; record x, v; measure low = min(x), end = final(v)
        }}
        experiment b extends a {{ with v0 = 3 [m/s]; stop = 1 [s] }}
        experiment c extends b {{ record v as speed; measure end = 2*final(v) }}"
    );
    let a = run(&text, "a");
    assert_close(last(&a, "v"), 1.0 - 8.0, 1e-9);
    let b = run(&text, "b");
    assert_close(last(&b, "v"), 3.0 - 4.0, 1e-9);
    assert_close(measure(&b, "end"), -1.0, 1e-9);
    let c = run(&text, "c");
    assert_close(last(&c, "speed"), -1.0, 1e-9);
    assert!(c.run.table.column("x").is_none(), "`record` was replaced");
    assert_close(measure(&c, "end"), -2.0, 1e-9);
    assert!(c.measures.iter().any(|m| m.name == "low"));
}

#[test]
fn bases_may_stand_below_and_must_not_be_circles() {
    let text = format!(
        "experiment b extends a {{ stop = 1 [s] }}\n{FALL}\nexperiment a of Fall {{ stop = 2 [s]; record v }}"
    );
    assert_close(last(&run(&text, "b"), "v"), -10.0, 1e-6);
    for (text, code) in [
        ("experiment b extends b { stop = 1 [s] }", "E0125"),
        (
            "experiment a extends b { }\nexperiment b extends a { }",
            "E0125",
        ),
        ("experiment b extends nobody { }", "E0125"),
        ("experiment b extends Fall { }", "E0125"),
        ("experiment b extends { }", "E0101"),
    ] {
        let (found, told) = messages(&format!("{FALL}\n{text}"));
        assert!(found.iter().any(|m| m.code == code), "{text}\n{told}");
    }
}

#[test]
fn names_of_columns_are_read_by_plots_and_measures() {
    let text = format!(
        "{FALL}
        experiment a of Fall {{
            plot way, speed vs way
            stop = 1 [s]; rtol = 1e-10
            record x [cm] as way, v as speed
            measure low = min(way), both = final(speed) + 2*low/1 [s]
        }}"
    );
    let outcome = run_text(&text);
    assert_close(measure(&outcome, "low"), -5.0, 1e-8);
    assert_close(measure(&outcome, "both"), -20.0, 1e-8);
    let design = open(&text, "a").unwrap_or_else(|m| panic!("{m}"));
    let way = &design.plan.plots[0].ys[0];
    assert_eq!(way.name, "way");
    assert_eq!(way.unit.as_ref().map(|u| u.text.as_str()), Some("cm"));
}

#[test]
fn a_name_of_the_model_keeps_its_meaning() {
    let text = format!(
        "{FALL}
        experiment a of Fall {{ stop = 1 [s]; rtol = 1e-10; record x as v; measure end = final(v) }}"
    );
    assert_close(measure(&run_text(&text), "end"), -10.0, 1e-8);
}

#[test]
fn swept_values_need_the_unit_that_with_needs() {
    let refused = |line: &str| {
        let text = format!("{FALL}\nexperiment a of Fall {{ stop = 1 [s]; record v; {line} }}");
        messages(&text)
            .0
            .iter()
            .map(|m| m.code.to_owned())
            .collect::<Vec<_>>()
    };
    for line in [
        "with m = 100",
        "sweep m in [100, 200]",
        "sweep m in 1 .. 5 by 1",
        "optimize m in 1 .. 5 { minimize final(v) }",
    ] {
        let codes = refused(line);
        assert!(!codes.is_empty(), "{line}");
        assert!(codes.iter().all(|c| c == "E0321"), "{line}: {codes:?}");
    }
    for line in [
        "sweep m in [1, 2] [g]",
        "sweep m in 1 [g] .. 5 [g] by 1 [g]",
        "sweep g in [1, 2]",
        "sweep m in [0, 1 [g]]",
    ] {
        assert_eq!(refused(line), Vec::<String>::new(), "{line}");
    }
}
