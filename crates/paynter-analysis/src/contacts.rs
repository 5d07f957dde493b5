//! What a run tells of its contacts and switches.
//!
//! In:  a run that has ended.
//! Out: a warning for energy lost where ideal contacts joined storages, a note for each switch that slid, a warning for
//!      each that could not be followed.

use crate::simulate::Run;
use paynter_design::code;
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_design::failure::seconds;
use paynter_model::equations::ideal_contacts;
use paynter_symbolic::reduced::Reduced;
use paynter_syntax::Diagnostic;

/// Tells of energy lost in contacts, of switches that slid and of those that could not be followed.
pub(crate) fn reports(design: &Design, reduced: &Reduced, run: &Run) -> Vec<Diagnostic> {
    let graph = &design.graph;
    let mut found = Vec::new();
    if let Some(&(t, contact, _)) = run.losses.first() {
        let lost: f64 = run.losses.iter().map(|loss| loss.2).sum();
        let times = match run.losses.len() {
            1 => format!("at t = {}", seconds(t)),
            n => format!("at {n} instants, first at t = {}", seconds(t)),
        };
        let d = Diagnostic::warning(
            code::CONTACT_LOSS,
            format!(
                "ideal contacts equalized storages instantly {times}: {} J less are stored",
                significant(lost, 4)
            ),
        );
        let element = ideal_contacts(graph).get(contact).copied();
        found.push(match element {
            Some(id) => d.primary(graph.span(graph.element(id).origin), "closes here"),
            None => d,
        });
    }

    for &(symbol, t, times) in &run.slides {
        let often = if times == 1 {
            String::new()
        } else {
            format!(", {times} times in all")
        };
        found.push(
            Diagnostic::note(
                code::SLIDING,
                format!(
                    "a law slides between its two sides from t = {}{often}",
                    seconds(t)
                ),
            )
            .primary(
                graph.span(reduced.dae.symbol(symbol).origin),
                "driven back from both sides: it sticks, or gives its mean",
            ),
        );
    }

    for &(symbol, t) in &run.unresolved {
        let message = format!(
            "a switch changes faster than can be followed from t = {}: events may be missing",
            seconds(t)
        );
        found.push(
            Diagnostic::warning(code::UNRESOLVED_SWITCH, message)
                .primary(
                    graph.span(reduced.dae.symbol(symbol).origin),
                    "switches here",
                )
                .help("neighbouring instants cannot be told apart at this frequency: make it slower, or begin nearer to t = 0"),
        );
    }
    found
}
