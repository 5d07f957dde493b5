//! Every example of the domain library against values found without Paynter.
//!
//! `library/expected.csv` holds them: formulas, equilibria, a hand-written integration.

use paynter::Choice;
use paynter::run::RunChoice;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

struct Expected {
    measure: String,
    value: f64,
    tolerance: f64,
}

fn expectations() -> BTreeMap<(String, String), Vec<Expected>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/expected.csv");
    let text = std::fs::read_to_string(path).expect("part of the project");
    let mut all: BTreeMap<(String, String), Vec<Expected>> = BTreeMap::new();
    for line in text.lines().skip(1).filter(|l| !l.is_empty()) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |k: usize| {
            cells[k]
                .parse()
                .unwrap_or_else(|_| panic!("no number in {line}"))
        };
        all.entry((cells[0].to_owned(), cells[1].to_owned()))
            .or_default()
            .push(Expected {
                measure: cells[2].to_owned(),
                value: number(3),
                tolerance: number(5),
            });
    }
    all
}

#[test]
fn every_example_gives_the_value_found_by_hand() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library");
    let all = expectations();
    assert!(all.len() > 30, "the library has many examples");
    for ((file, experiment), expected) in all {
        let path = library.join(format!("{file}.bond"));
        let choice = Choice {
            experiment: Some(experiment.clone()),
            ..Choice::default()
        };
        let design =
            paynter::design(&path, &choice).unwrap_or_else(|e| panic!("{experiment}: {e:?}"));
        let outcome = paynter::run::run(&design, &RunChoice::default(), &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap_or_else(|e| panic!("{experiment}: {e:?}"));
        for Expected {
            measure,
            value,
            tolerance,
        } in expected
        {
            let found = outcome
                .measures
                .iter()
                .find(|m| m.name == measure)
                .and_then(|m| m.value);
            let found = found.unwrap_or_else(|| panic!("{experiment}: `{measure}` has no value"));
            assert!(
                (found - value).abs() <= tolerance,
                "{experiment}: {measure} = {found}, not {value}"
            );
        }
    }
}

#[test]
fn every_file_checks_without_an_error_and_can_be_used_by_name() {
    for name in paynter::library::library_names() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../library/{name}.bond"));
        let checked = paynter::check(&path).expect("part of the project");
        let text = paynter::syntax::render(&checked.diagnostics, &checked.sources, false);
        assert!(!checked.diagnostics.iter().any(|d| d.is_error()), "{text}");
        assert!(paynter::library::library(name).is_some());
    }
}
