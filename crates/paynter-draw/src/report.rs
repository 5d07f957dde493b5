//! The report of a run: one HTML file that needs nothing else.
//!
//! In:  a [`Report`]: plain values, made by whoever ran the model.
//! Out: HTML with style, script and data inside; no address outside the file is ever asked for.
//!
//! **Invariant:** every word of the model is escaped; only drawings and equations, which this crate
//! made, go in as they are. Curves are thinned so that the data stays below a megabyte.

mod bodies;

pub use bodies::Film;

use crate::mathml::Equations;
use crate::plot::{Panel, Side};
use crate::sankey::{Energy, joules_text, sankey};
use crate::svg::escape;
use crate::thin::{Most, seen};
use std::fmt::Write as _;

/// What a report shows. Empty parts are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Name of the model or experiment.
    pub title: String,
    /// One line below it: the documentation of the experiment.
    pub lead: String,
    /// Facts about the run: (what, value).
    pub summary: Vec<(String, String)>,
    /// The bond graph, from [`crate::diagram::to_svg`].
    pub diagram_svg: String,
    /// The equations, from [`crate::mathml::equations`].
    pub equations: Equations,
    /// Causality, parameters, results.
    pub tables: Vec<ReportTable>,
    /// Curves.
    pub plots: Vec<Panel>,
    /// Bodies in motion.
    pub film: Option<Film>,
    /// The first-law audit.
    pub audit: Option<Energy>,
    /// Answers to further questions, after everything else.
    pub sections: Vec<Section>,
    /// Errors, warnings, notes.
    pub messages: Vec<Message>,
}

/// An answer to a question about the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// What was asked.
    pub title: String,
    /// As the console shows it, in lines.
    pub text: String,
    /// A drawing of this crate; may be empty.
    pub svg: String,
}

/// A table of words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportTable {
    /// Above it.
    pub caption: String,
    /// Of the columns.
    pub header: Vec<String>,
    /// From top to bottom.
    pub rows: Vec<Vec<String>>,
}

/// Something the model or the run has to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// How bad it is.
    pub severity: Severity,
    /// As the console shows it.
    pub text: String,
}

/// How bad a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The result is missing or wrong.
    Error,
    /// The result may not be what was meant.
    Warning,
    /// Worth knowing.
    Note,
}

/// Numbers in all curves together: at 12 letters each, three quarters of a megabyte.
const MAX_NUMBERS: usize = 60_000;
/// Fewer points than this in a curve lose its shape, however many curves there are.
const MIN_POINTS: usize = 100;
/// More curves than this are too many for one page; the rest are in the result file.
const MAX_SERIES: usize = 300;
/// Rows of a table that are worth reading; the rest are counted.
const MAX_ROWS: usize = 300;
/// Equations that are worth reading; the rest are counted.
const MAX_EQUATIONS: usize = 300;
/// More marks than this make a grey wall instead of marks.
const MAX_MARKS: usize = 60;

/// What the colours and weights of bonds say.
const LEGEND: &str = "Bars are causal strokes: the effort is an input there. Blue: as preferred, integral storages. \
    Orange, dashed: dependent storages, in derivative causality. Green, with a round pin: forced by the text. \
    Red, thick: a conflict. Dotted: undetermined. Thin arrows: signals.";

/// The browser itself refuses whatever would ask for something outside the file.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

const STYLE: &str = include_str!("report/style.css");
const SCRIPT: &str = include_str!("report/plots.js");

/// Writes the report.
pub fn report_html(report: &Report) -> String {
    let mut body = String::new();
    let _ = writeln!(body, "<h1>{}</h1>", escape(&report.title));
    if !report.lead.is_empty() {
        let _ = writeln!(body, "<p class=\"lead\">{}</p>", escape(&report.lead));
    }

    write_messages(&mut body, &report.messages);
    if !report.summary.is_empty() {
        body.push_str("<h2 id=\"summary\">Summary</h2>\n<dl>\n");
        for (what, value) in &report.summary {
            let _ = writeln!(body, "<dt>{}</dt><dd>{}</dd>", escape(what), escape(value));
        }
        body.push_str("</dl>\n");
    }

    bodies::write_bodies(&mut body, report.film.as_ref());
    write_plots(&mut body, &report.plots);
    if !report.diagram_svg.is_empty() {
        let _ = writeln!(
            body,
            "<h2 id=\"graph\">Bond graph</h2>\n<div class=\"scroll\">{}</div>\n<p class=\"hint\">{LEGEND}</p>",
            report.diagram_svg
        );
    }

    write_equations(&mut body, &report.equations);
    if let Some(energy) = &report.audit {
        write_audit(&mut body, energy);
    }

    let filled = report.tables.iter().filter(|t| !t.rows.is_empty());
    for (number, table) in filled.enumerate() {
        write_table(&mut body, table, number);
    }
    for section in &report.sections {
        write_section(&mut body, section);
    }

    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n{}{}</body>\n</html>\n",
        escape(&report.title),
        script(&report.plots),
        bodies::script(report.film.as_ref())
    )
}

fn write_section(body: &mut String, section: &Section) {
    let _ = writeln!(body, "<h2>{}</h2>", escape(&section.title));
    let _ = writeln!(
        body,
        "<pre class=\"scroll\">{}</pre>",
        escape(section.text.trim_end())
    );
    if !section.svg.is_empty() {
        let _ = writeln!(body, "<div class=\"scroll\">{}</div>", section.svg);
    }
}

fn write_messages(body: &mut String, messages: &[Message]) {
    for message in messages {
        let class = match message.severity {
            Severity::Error => "message error",
            Severity::Warning => "message warning",
            Severity::Note => "message",
        };
        let _ = writeln!(
            body,
            "<div class=\"{class}\">{}</div>",
            escape(&message.text)
        );
    }
}

fn write_plots(body: &mut String, plots: &[Panel]) {
    if plots.is_empty() {
        return;
    }
    body.push_str(
        "<h2 id=\"plots\">Curves</h2>\n<p class=\"hint\">Drag to zoom, double-click to see all, click a name to hide its curve.</p>\n",
    );
    for (number, plot) in plots.iter().enumerate() {
        let names: Vec<&str> = plot
            .series
            .iter()
            .take(8)
            .map(|s| s.name.as_str())
            .collect();
        let _ = writeln!(
            body,
            "<div class=\"plot\" id=\"plot-{number}\"><div class=\"legend\"></div><canvas role=\"img\" aria-label=\"{}\"></canvas></div>",
            escape(&names.join(", "))
        );
    }
}

fn script(plots: &[Panel]) -> String {
    if plots.is_empty() {
        return String::new();
    }
    format!(
        "<script type=\"application/json\" id=\"plot-data\">{}</script>\n<script>\n{SCRIPT}</script>\n",
        plot_data(plots)
    )
}

/// The curves as JSON.
fn plot_data(plots: &[Panel]) -> String {
    let n_series = plots
        .iter()
        .map(|p| p.series.len())
        .sum::<usize>()
        .clamp(1, MAX_SERIES);
    let n_points = (MAX_NUMBERS / 2 / n_series).max(MIN_POINTS);
    let mut n_left = MAX_SERIES;
    let mut out = String::from("[");
    for (number, plot) in plots.iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        let _ = write!(
            out,
            "{{\"x_label\":{},\"y_label\":{},\"right_label\":{},\"marks\":",
            quoted(&plot.x_label),
            quoted(&plot.y_label),
            quoted(&plot.right_label)
        );
        let marks = if plot.marks.len() <= MAX_MARKS {
            plot.marks.as_slice()
        } else {
            &[]
        };
        numbers(&mut out, marks);
        out.push_str(",\"series\":[");
        for (k, series) in plot.series.iter().take(n_left).enumerate() {
            if k > 0 {
                out.push(',');
            }
            let (x, y) = seen(
                series,
                Most {
                    over_time: n_points,
                    phase: n_points,
                },
            );
            let _ = write!(
                out,
                "{{\"name\":{},\"is_reference\":{},\"is_held\":{},\"side\":{},\"x\":",
                quoted(&series.name),
                series.is_reference,
                series.is_held,
                usize::from(series.side == Side::Right)
            );
            numbers(&mut out, &x);
            out.push_str(",\"y\":");
            numbers(&mut out, &y);
            out.push('}');
        }
        n_left -= plot.series.len().min(n_left);
        out.push_str("]}");
    }

    out.push(']');
    out
}

/// A string of JSON that can be inside HTML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // `</script>` would end the element, wherever it is.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Six digits are more than a screen shows; what is not finite is a gap.
fn numbers(out: &mut String, list: &[f64]) {
    out.push('[');
    for (k, &x) in list.iter().enumerate() {
        if k > 0 {
            out.push(',');
        }
        if !x.is_finite() {
            out.push_str("null");
            continue;
        }
        // Rounded to six digits, then in the shortest form that reads back as the same number.
        let rounded: f64 = format!("{x:.5e}").parse().unwrap_or(0.0);
        let plain = format!("{rounded}");
        let scientific = format!("{rounded:e}");
        out.push_str(if plain.len() <= scientific.len() {
            &plain
        } else {
            &scientific
        });
    }
    out.push(']');
}

fn write_equations(body: &mut String, equations: &Equations) {
    let n = equations.main.len() + equations.definitions.len();
    if n == 0 {
        return;
    }
    body.push_str("<h2 id=\"equations\">Equations</h2>\n");
    let mut n_left = MAX_EQUATIONS;
    for (lead, lines) in [("", &equations.main), ("where", &equations.definitions)] {
        if lines.is_empty() {
            continue;
        }
        if !lead.is_empty() {
            let _ = writeln!(body, "<p class=\"hint\">{lead}</p>");
        }
        body.push_str("<ul class=\"equations\">\n");
        for line in lines.iter().take(n_left) {
            let _ = writeln!(body, "<li>{line}</li>");
        }
        body.push_str("</ul>\n");
        n_left -= lines.len().min(n_left);
    }
    if n > MAX_EQUATIONS {
        let _ = writeln!(body, "<p class=\"hint\">and {} more</p>", n - MAX_EQUATIONS);
    }
}

fn write_audit(body: &mut String, energy: &Energy) {
    body.push_str("<h2 id=\"audit\">Energy</h2>\n");
    let sum = |list: &[(String, f64)]| list.iter().map(|x| x.1).sum::<f64>();
    let _ = writeln!(
        body,
        "<p>supplied {} = lost {} + stored {}, but for {}</p>",
        joules_text(sum(&energy.supplied)),
        joules_text(sum(&energy.dissipated)),
        joules_text(sum(&energy.stored)),
        joules_text(energy.residual)
    );
    if let Some(svg) = sankey(energy) {
        let _ = writeln!(body, "<div class=\"scroll\">{svg}</div>");
    }
}

fn write_table(body: &mut String, table: &ReportTable, number: usize) {
    let _ = writeln!(
        body,
        "<h2 id=\"table-{number}\">{}</h2>\n<div class=\"scroll\"><table>",
        escape(&table.caption)
    );
    if !table.header.is_empty() {
        body.push_str("<thead><tr>");
        for cell in &table.header {
            let _ = write!(body, "<th>{}</th>", escape(cell));
        }
        body.push_str("</tr></thead>\n");
    }
    body.push_str("<tbody>\n");
    for row in table.rows.iter().take(MAX_ROWS) {
        body.push_str("<tr>");
        for cell in row {
            let _ = write!(body, "<td>{}</td>", escape(cell));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></div>\n");
    if table.rows.len() > MAX_ROWS {
        let _ = writeln!(
            body,
            "<p class=\"hint\">and {} more</p>",
            table.rows.len() - MAX_ROWS
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Series;

    #[test]
    fn no_word_of_the_model_becomes_markup() {
        let evil = "</script><b>\"&".to_owned();
        let series = Series {
            name: evil.clone(),
            x: vec![0.0],
            y: vec![1.0],
            ..Series::default()
        };
        let report = Report {
            title: evil.clone(),
            lead: evil.clone(),
            summary: vec![(evil.clone(), evil.clone())],
            tables: vec![ReportTable {
                caption: evil.clone(),
                header: vec![evil.clone()],
                rows: vec![vec![evil.clone()]],
            }],
            plots: vec![Panel {
                y_label: evil.clone(),
                x_label: evil.clone(),
                series: vec![series],
                ..Panel::default()
            }],
            audit: Some(Energy {
                supplied: vec![(evil.clone(), 1.0)],
                ..Energy::default()
            }),
            messages: vec![Message {
                severity: Severity::Error,
                text: evil,
            }],
            ..Report::default()
        };
        let html = report_html(&report);
        assert!(!html.contains("<b>"));
        assert_eq!(html.matches("</script>").count(), 2);
    }

    #[test]
    fn nothing_is_asked_from_outside() {
        let html = report_html(&Report {
            plots: vec![Panel::default()],
            ..Report::default()
        });
        let without_names = html
            .replace("http://www.w3.org/2000/svg", "")
            .replace("http-equiv", "");
        assert!(!without_names.contains("http") && !html.contains("src="));
        assert!(html.contains("default-src 'none'"));
    }

    #[test]
    fn a_long_run_of_many_quantities_stays_below_two_megabytes() {
        let x: Vec<f64> = (0..100_000).map(|i| i as f64 * 1.234_567e-4).collect();
        let y: Vec<f64> = x.iter().map(|t| (17.0 * t).sin() * 1.234_567e-5).collect();
        let series = |k: usize| Series {
            name: format!("x{k}"),
            x: x.clone(),
            y: y.clone(),
            ..Series::default()
        };
        let plots = vec![Panel {
            series: (0..60).map(series).collect(),
            ..Panel::default()
        }];
        let rows = vec![vec!["name".to_owned(); 5]; 100_000];
        let tables = vec![ReportTable {
            caption: "t".into(),
            header: vec![],
            rows,
        }];
        let html = report_html(&Report {
            plots,
            tables,
            equations: Equations {
                main: vec!["<math></math>".into(); 10_000],
                definitions: vec!["<math></math>".into(); 10_000],
            },
            ..Report::default()
        });
        assert!(html.len() < 2_000_000, "{} bytes", html.len());
    }

    #[test]
    fn values_that_are_not_finite_are_gaps() {
        let mut out = String::new();
        numbers(
            &mut out,
            &[0.1, f64::NAN, f64::INFINITY, 1e-20, 123_456_789.0, -2.0],
        );
        assert_eq!(out, "[0.1,null,null,1e-20,123457000,-2]");
    }
}
