//! Every code of structure, start and run has a model that provokes it, and its message reads as
//! it was read by a person.
//!
//! A fixture is `tests/diagnostics/E0701_name.bond`, the expected text stands beside it as
//! `.txt`. With `UPDATE_FIXTURES` set, the texts are written anew: read the difference.

use crate::fixtures::Fixtures;
use crate::kit::run_design;
use paynter::exec::Engine;
use paynter::optimize::{Progress, SearchRequest, optimize, trade_off};
use paynter::simulate::Ending;
use paynter::syntax::{Diagnostic, render};
use paynter::{Choice, Design, DesignError};
use std::ops::ControlFlow;

fn fixtures() -> Fixtures {
    Fixtures::of(env!("CARGO_MANIFEST_DIR"))
}

/// All messages about a fixture: of the file, the structure, the start, the run, and warnings.
fn messages(name: &str) -> (Vec<Diagnostic>, String) {
    let folder = fixtures().folder;
    let path = folder.join(name);
    let (found, sources) = match paynter::design(&path, &Choice::default()) {
        Err(DesignError::Unreadable(message)) => panic!("{message}"),
        Err(DesignError::Model(failed)) => (failed.diagnostics, failed.sources),
        Ok(design) => {
            let mut found = design.diagnostics.clone();
            match run_design(&design, Engine::Auto) {
                Err(messages) => found.extend(messages),
                Ok(outcome) => {
                    found.extend(outcome.warnings);
                    if let Ending::Failed {
                        why: diagnostics, ..
                    } = outcome.run.ending
                    {
                        found.extend(diagnostics);
                    }
                }
            }
            found.extend(match name.starts_with("E0840") {
                true => of_trade_off(&design),
                false => of_search(&design),
            });
            found.extend(of_fit(&design));
            // Sensitivities are asked for in the call, not in the experiment.
            if name.starts_with("E0761") {
                found.extend(of_sensitivities(&design));
            }
            (found, design.project.sources)
        }
    };
    let place = format!("{}/", folder.display());
    let text = render(&found, &sources, false).replace(&place, "");
    (found, calm(&text))
}

/// What a search says, where the experiment has one.
fn of_search(design: &Design) -> Vec<Diagnostic> {
    if design.plan.optimize.is_none() {
        return Vec::new();
    }
    let ask = SearchRequest {
        n_starts: 3,
        max_runs: Some(300),
        ..SearchRequest::default()
    };
    let go_on = |_: &Progress| ControlFlow::Continue(());
    match optimize(design, &Choice::default(), &ask, &go_on) {
        Ok(optimum) => optimum.messages,
        Err(messages) => messages,
    }
}

/// Why there is no trade-off.
fn of_trade_off(design: &Design) -> Vec<Diagnostic> {
    let go_on = |_: &Progress| ControlFlow::Continue(());
    let found = trade_off(
        design,
        &Choice::default(),
        (&SearchRequest::default(), 3),
        &go_on,
    );
    found.err().unwrap_or_default()
}

/// What a fit says, where the experiment has one.
fn of_fit(design: &Design) -> Vec<Diagnostic> {
    if design.plan.fit.is_none() {
        return Vec::new();
    }
    let go_on = |_: usize| ControlFlow::Continue(());
    let ask = paynter::fit::FitRequest::default();
    match paynter::fit::fit(design, &Choice::default(), &ask, &go_on) {
        Ok(fitted) => fitted.messages,
        Err(messages) => messages,
    }
}

/// Why sensitivities cannot be followed.
fn of_sensitivities(design: &Design) -> Vec<Diagnostic> {
    use paynter::linear::{default_parameters, linear_request, sensitivities};
    let compiled = design.compile().expect("compiles");
    let (over, to) = (
        default_parameters(design),
        linear_request(design, None, false).to,
    );
    let found = sensitivities(design, &compiled, (&over, &to));
    found.map_or_else(|e| e.into_messages(), |_| Vec::new())
}

/// Hides digits that a better integrator may change: numbers with an exponent or more than
/// three decimals.
fn calm(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut end = 0;
        let bytes = rest.as_bytes();
        let is_part = |i: usize| {
            let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
            match bytes.get(i) {
                Some(b'0'..=b'9') => true,
                Some(b'.') => digit(i + 1),
                Some(b'e') => digit(i + 1) || bytes.get(i + 1) == Some(&b'-') && digit(i + 2),
                Some(b'-') => i > 0 && bytes[i - 1] == b'e',
                _ => false,
            }
        };
        while is_part(end) {
            end += 1;
        }
        let number = &rest[..end];
        let decimals = number.split_once('.').map_or(0, |(_, d)| d.len());
        let is_shaky = number.contains("e-") || decimals > 3;
        out.push_str(if is_shaky { "…" } else { number });
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[test]
fn every_message_reads_as_expected() {
    fixtures().check(|name| {
        let (found, text) = messages(name);
        (found.iter().map(|m| m.code.to_owned()).collect(), text)
    });
}

#[test]
fn no_code_lacks_a_fixture() {
    fixtures().cover(paynter::code::TABLE.iter().map(|row| row.0));
}

#[test]
fn codes_of_all_stages_differ() {
    let mut codes: Vec<&str> = paynter::codes().iter().map(|row| row.0).collect();
    let n = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), n);
}

#[test]
fn every_message_has_a_place_in_the_text() {
    for name in fixtures().names() {
        let (found, text) = messages(&name);
        for message in found {
            assert!(
                message.primary.is_some(),
                "{name}: {}\n{text}",
                message.code
            );
        }
    }
}
