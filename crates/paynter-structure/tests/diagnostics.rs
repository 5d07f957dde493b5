//! Every code of this crate has a model that provokes it, and its message reads as it was read by a person.
//!
//! A fixture is `tests/diagnostics/E0850_name.bond`; its first line may say `// structure OPTIONS`. The expected
//! text stands beside it as `.txt`. With `UPDATE_FIXTURES` set, the texts are written anew: read the difference.

#[path = "../../paynter/tests/kit/fixtures.rs"]
mod fixtures;
mod kit;

use fixtures::Fixtures;
use kit::try_design_wanting;
use paynter::syntax::render;
use paynter::table::{Column, Table};
use paynter_structure::{
    Subject, ask, balances, balances_on, bicausal, channels, control, estimate, inverse,
};
use std::fs;

fn fixtures() -> Fixtures {
    Fixtures::of(env!("CARGO_MANIFEST_DIR"))
}

/// The value of an option in the first line.
fn option(text: &str, name: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let Some((_, rest)) = line.split_once(&format!("--{name} ")) else {
        return String::new();
    };
    rest.split(" --")
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn messages(name: &str) -> (Vec<String>, String) {
    let text = fs::read_to_string(fixtures().folder.join(name)).expect("the fixture is there");
    let want = option(&text, "want");
    let ports = [&*option(&text, "from"), &*option(&text, "to"), &*want];
    let design = try_design_wanting(&text, ports)
        .unwrap_or_else(|f| panic!("{name}: {}", render(&f.diagnostics, &f.sources, false)));
    let found = design.compile().and_then(|compiled| {
        let subject = Subject::new(&design, ask(&design, None))?;
        subject.needs_input()?;
        subject.needs_output()?;
        let mut warnings = Vec::new();
        if !want.is_empty() {
            warnings = inverse(&subject, &compiled, &design.linear.want)?.warnings;
        }
        if text.contains("--faults") {
            balances(&subject)?;
        }
        if text.contains("--data") {
            balances_on(&subject, &Table::default())?;
        }
        let named = option(&text, "estimate");
        if !named.is_empty() {
            let column = |name: &str| Column {
                name: name.to_owned(),
                values: vec![0.0, 1.0],
                ..Column::default()
            };
            let data = Table {
                time: vec![0.0, 1.0],
                columns: vec![column(&option(&text, "to"))],
                ..Table::default()
            };
            estimate(&design, ask(&design, None), &[named], &data)?;
        }
        if text.contains("--bicausal") {
            bicausal(&subject)?;
        }
        if text.contains("--channels") {
            channels(&subject, &compiled)?;
        }
        warnings.extend(control(&subject, &compiled)?.warnings);
        Ok(warnings)
    });
    let found = found.unwrap_or_else(|messages| messages);
    let codes = found.iter().map(|m| m.code.to_owned()).collect();
    (codes, render(&found, &design.project.sources, false))
}

#[test]
fn every_message_reads_as_expected() {
    fixtures().check(messages);
}

#[test]
fn no_code_lacks_a_fixture() {
    fixtures().cover(paynter_structure::code::TABLE.iter().map(|row| row.0));
}

#[test]
fn codes_differ_from_those_of_all_other_stages() {
    let others = paynter::codes();
    for (code, _, _) in paynter_structure::code::TABLE {
        assert!(others.iter().all(|row| row.0 != *code), "{code} is taken");
    }
}
