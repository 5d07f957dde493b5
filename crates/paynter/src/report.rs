//! The report page of a run.
//!
//! In:  a design, what its run gave, and the film of its bodies if it has any.
//! Out: one HTML file with pictures, equations, tables, audit and curves; nothing is asked from outside.

use crate::readable::readable;
use crate::scene::Film;
use paynter_analysis::experiment::Outcome;
use paynter_analysis::simulate::Ending;
use paynter_design::design::Design;
use paynter_draw::diagram::{DiagramOptions, diagram, to_svg};
use paynter_draw::mathml::{self, Equations};
pub use paynter_draw::report::Section;
use paynter_draw::report::{self as page, Message, Report, ReportTable, Severity, report_html};
use paynter_draw::sankey::Energy;
use paynter_model::causality::report::stroke_text;
use paynter_model::causality::{Causality, StorageForm};
use paynter_model::units::format_number;
use paynter_model::{BondId, ElementId};
use paynter_symbolic::Role;
use paynter_symbolic::dae::EnergyRole;
use paynter_syntax::{Diagnostic, render};

/// Longer tables would not be read.
const MOST_ROWS: usize = 300;
/// Beyond this many states the printed equations are longer than any report.
const MOST_STATES: usize = 200;

/// What the page shows beyond the run itself.
#[derive(Debug, Default)]
pub struct Further {
    /// Bodies in motion.
    pub film: Option<Film>,
    /// Answers to further questions.
    pub sections: Vec<Section>,
}

/// Writes the page.
pub fn report(
    design: &Design,
    causality: &Causality,
    outcome: &Outcome,
    further: Further,
) -> String {
    let run = &outcome.run;
    let title = design.plan.name.as_ref().unwrap_or(&design.model);

    report_html(&Report {
        title: title.clone(),
        lead: String::new(),
        summary: summary(design, outcome),
        diagram_svg: picture(design, causality),
        equations: equations(design, run.states.len()),
        tables: vec![
            signals(outcome),
            measures(outcome),
            storages(design, causality),
            strokes(design, causality),
            parameters(design),
        ],
        plots: outcome
            .plots
            .iter()
            .flat_map(|p| p.panels.clone())
            .collect(),
        film: further.film.map(|film| page::Film {
            head: film.head.to_string(),
            time: film.time,
            columns: film.columns,
        }),
        audit: run.audit.as_ref().map(energy),
        sections: further.sections,
        messages: messages(design, outcome),
    })
}

/// The lines at the head of the page: what ran, how, how it ended, and whether it agrees with references.
fn summary(design: &Design, outcome: &Outcome) -> Vec<(String, String)> {
    let run = &outcome.run;
    let statistics = &run.statistics;
    let method = statistics.method().map_or("", |m| m.name());
    let work = format!(
        "{} steps, {} rejected, {} right-hand sides, {} Jacobians, {} events",
        statistics.steps,
        statistics.rejected,
        statistics.rhs,
        statistics.jacobians,
        statistics.state_events + statistics.time_events
    );
    let states = format!("{}: {}", run.states.len(), shorten(&run.states));

    let mut lines = vec![
        ("model".to_owned(), design.model.clone()),
        ("states".to_owned(), states),
        ("method".to_owned(), method.to_owned()),
        (
            "relative tolerance".to_owned(),
            format!("{:e}", design.plan.rtol),
        ),
        ("work".to_owned(), work),
    ];
    match &run.ending {
        Ending::Reached => {}
        Ending::Stopped { time, message } => {
            lines.push(("stopped".to_owned(), format!("at t = {time} s: {message}")));
        }
        Ending::Cancelled { time } => {
            lines.push(("cancelled".to_owned(), format!("at t = {time} s")));
        }
        Ending::Failed { time, .. } => {
            lines.push(("failed".to_owned(), format!("at t = {time} s")));
        }
    }
    lines.extend(outcome.comparisons.iter().map(|compared| {
        let verdict = if compared.is_good() {
            "agrees"
        } else {
            "differs"
        };
        let text = format!(
            "{verdict}: {:.2e} of the range, {:e} allowed",
            compared.result.worst(),
            compared.within
        );
        (compared.path.clone(), text)
    }));
    lines
}

/// The bond graph; submodels of a large one are closed, and like things drawn as one.
fn picture(design: &Design, causality: &Causality) -> String {
    to_svg(&diagram(
        &design.graph,
        Some(causality),
        &DiagramOptions::default(),
    ))
}

fn equations(design: &Design, n_states: usize) -> Equations {
    if n_states > MOST_STATES {
        return Equations::default();
    }
    // The run would not have come so far if the equations could not be reduced.
    let Ok(readable) = readable(design) else {
        return Equations::default();
    };
    mathml::equations(&readable.present_states(), &|s| readable.name(s))
}

fn shorten(names: &[String]) -> String {
    const MOST: usize = 20;
    let shown = names
        .iter()
        .take(MOST)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MOST {
        format!("{shown}, …")
    } else {
        shown
    }
}

fn table(caption: &str, header: &[&str], rows: Vec<Vec<String>>) -> ReportTable {
    ReportTable {
        caption: caption.to_owned(),
        header: header.iter().map(|&h| h.to_owned()).collect(),
        rows,
    }
}

fn signals(outcome: &Outcome) -> ReportTable {
    let rows = outcome
        .run
        .table
        .columns
        .iter()
        .map(|c| {
            let low = c.values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = c.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let last = c.values.last().copied().unwrap_or(f64::NAN);
            let numbers = [low, high, last].map(format_number);
            std::iter::once(c.name.clone())
                .chain(numbers)
                .chain([c.unit.clone()])
                .collect()
        })
        .collect();
    table(
        "Recorded signals",
        &["signal", "min", "max", "final", "unit"],
        rows,
    )
}

fn measures(outcome: &Outcome) -> ReportTable {
    let rows = outcome
        .measures
        .iter()
        .map(|m| {
            vec![
                m.name.clone(),
                m.value.map_or("never".to_owned(), format_number),
                m.unit.clone(),
            ]
        })
        .collect();
    table("Measures", &["measure", "value", "unit"], rows)
}

fn storages(design: &Design, causality: &Causality) -> ReportTable {
    let graph = &design.graph;
    let mut rows = Vec::new();
    for (index, element) in graph.elements.iter().enumerate().take(MOST_ROWS * 10) {
        let id = ElementId(index as u32);
        for port in 0..element.states.len() {
            let form = match causality.form(graph, id, port as u32) {
                Some(StorageForm::Integral) => "integral: a state",
                Some(StorageForm::Derivative) => "derivative: depends on others",
                None => "undecided",
            };
            rows.push(vec![
                graph.element_name(id),
                element.kind.letters().to_owned(),
                form.to_owned(),
            ]);
        }
    }
    rows.truncate(MOST_ROWS);
    table("Storages", &["element", "kind", "causality"], rows)
}

fn strokes(design: &Design, causality: &Causality) -> ReportTable {
    let graph = &design.graph;
    let rows = (0..graph.bonds.len().min(MOST_ROWS) as u32)
        .map(|b| {
            let status = format!("{:?}", causality.status(BondId(b))).to_lowercase();
            vec![stroke_text(graph, causality, BondId(b)), status]
        })
        .collect();
    table("Causal strokes", &["bond", "status"], rows)
}

fn parameters(design: &Design) -> ReportTable {
    let dae = &design.graph.signals;
    let rows = dae
        .symbols
        .iter()
        .filter_map(|s| match s.role {
            Role::Parameter { value, .. } => {
                Some(vec![dae.names.display(s.name), format_number(value)])
            }
            _ => None,
        })
        .take(MOST_ROWS)
        .collect();
    table("Parameters, in SI units", &["parameter", "value"], rows)
}

fn energy(audit: &paynter_run::audit::Audit) -> Energy {
    let of = |role: EnergyRole| -> Vec<(String, f64)> {
        audit
            .elements
            .iter()
            .filter(|(_, r, _)| *r == role)
            .map(|(n, _, e)| (n.clone(), *e))
            .collect()
    };

    let mut energy = Energy {
        supplied: of(EnergyRole::Source),
        dissipated: of(EnergyRole::Dissipator),
        stored: of(EnergyRole::Storage),
        residual: audit.residual,
    };

    if audit.elements.is_empty() {
        let total = |name: &str, joules: f64| vec![(name.to_owned(), joules)];
        energy.supplied = total("all sources", audit.supplied);
        energy.dissipated = total("all resistors", audit.dissipated);
        energy.stored = total("all storages", audit.stored);
        energy
            .supplied
            .extend(total("all `unpowered`", audit.unpowered));
    } else {
        let unpowered = of(EnergyRole::Unpowered).into_iter();
        let given = unpowered.map(|(name, joules)| (format!("{name}, unpowered"), -joules));
        energy.supplied.extend(given);
    }

    energy
        .supplied
        .push(("set by reinit".to_owned(), audit.jumps));
    energy.supplied.retain(|(_, joules)| *joules != 0.0);
    energy
}

fn messages(design: &Design, outcome: &Outcome) -> Vec<Message> {
    let failures = match &outcome.run.ending {
        Ending::Failed {
            why: diagnostics, ..
        } => diagnostics.as_slice(),
        _ => &[],
    };
    let tell = |d: &Diagnostic| Message {
        severity: match d.severity {
            paynter_syntax::Severity::Error => Severity::Error,
            paynter_syntax::Severity::Warning => Severity::Warning,
            paynter_syntax::Severity::Note => Severity::Note,
        },
        text: render(std::slice::from_ref(d), &design.project.sources, false),
    };
    failures
        .iter()
        .chain(&design.diagnostics)
        .map(tell)
        .collect()
}
