//! Draws every model of the files named on the command line into a folder: SVG, TikZ, the steps of
//! its causality, and a report page with the curves of a reference file beside the model.
//!
//! `cargo run -p paynter-draw --example gallery -- FOLDER FILE.bond …`

use paynter_draw::diagram::{DiagramOptions, Parts, diagram, frames_svg, to_pdf, to_svg, to_tikz};
use paynter_draw::plot::{Panel, Plot, Series};
use paynter_draw::report::{Message, Report, Severity, Table, report_html};
use paynter_draw::sankey::Energy;
use paynter_model::causality::{assign_causality, report::stroke_text};
use paynter_model::elaborate::elaborate;
use paynter_model::graph::{BondGraph, BondId};
use paynter_model::project::{Loader, Request, load};
use paynter_syntax::ast::ItemKind;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("the first argument is a folder")?;
    for file in arguments {
        let text = std::fs::read_to_string(&file)?;
        let (project, _) = load(&file, &text, &mut Disk);
        let stem = Path::new(&file)
            .file_stem()
            .ok_or("not a file")?
            .to_string_lossy()
            .into_owned();
        for item in &project.files[0].ast.items {
            let ItemKind::Model(model) = &item.kind else {
                continue;
            };
            let request = Request {
                model: Some(model.name.text.to_string()),
                ..Request::default()
            };
            let Some(elaborated) = elaborate(&project, &request).elaborated else {
                println!("{stem} {}: cannot stand by itself", model.name.text);
                continue;
            };
            let base = format!("{folder}/{stem}-{}", model.name.text);
            draw(elaborated.graph(), &base, Path::new(&file))?;
        }
    }
    Ok(())
}

/// Reads files beside the model, and the library.
struct Disk;

impl Loader for Disk {
    fn library(&mut self, name: &str) -> Option<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library");
        std::fs::read_to_string(folder.join(format!("{name}.bond"))).ok()
    }

    fn file(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String> {
        let file = Path::new(from.unwrap_or_default()).with_file_name(path);
        let file = file.canonicalize().map_err(|e| e.to_string())?;
        let text = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
        Ok((file.to_string_lossy().into_owned(), text))
    }
}

fn draw(graph: &BondGraph, base: &str, file: &Path) -> std::io::Result<()> {
    let causality = assign_causality(graph);
    let options = DiagramOptions::default();
    let drawing = diagram(graph, Some(&causality), &options);
    println!(
        "{base}: {} nodes, {:?}",
        drawing.nodes.len(),
        drawing.faults()
    );
    std::fs::write(format!("{base}.svg"), to_svg(&drawing))?;
    std::fs::write(format!("{base}.tex"), to_tikz(&drawing))?;
    std::fs::write(format!("{base}.pdf"), to_pdf(&drawing))?;
    std::fs::write(
        format!("{base}-steps.svg"),
        frames_svg(graph, &causality, &options),
    )?;
    let closed = DiagramOptions {
        parts: Parts::Closed,
        ..options
    };
    std::fs::write(
        format!("{base}-closed.svg"),
        to_svg(&diagram(graph, Some(&causality), &closed)),
    )?;
    let bonds = (0..graph.bonds.len() as u32).map(BondId);
    let plots = curves(file);
    std::fs::write(
        format!("{base}-plot.svg"),
        Plot {
            title: String::new(),
            panels: plots.clone(),
        }
        .to_svg(),
    )?;
    let report = Report {
        title: base.rsplit('/').next().unwrap_or_default().to_owned(),
        lead: "drawn by the gallery example".to_owned(),
        summary: vec![
            ("elements".into(), graph.elements.len().to_string()),
            ("bonds".into(), graph.bonds.len().to_string()),
            ("order".into(), causality.order().to_string()),
        ],
        diagram_svg: to_svg(&drawing),
        equations: vec![
            "der(I5.p) = -R1*x^2*cos(theta) + u".into(),
            "der(theta) = I1.p/(A + A1)".into(),
        ],
        tables: vec![Table {
            caption: "Causality".into(),
            header: vec!["bond".into(), "status".into()],
            rows: bonds
                .map(|b| {
                    vec![
                        stroke_text(graph, &causality, b),
                        format!("{:?}", causality.status(b)),
                    ]
                })
                .collect(),
        }],
        plots,
        // Numbers to look at; a run fills in its own.
        audit: Some(Energy {
            supplied: vec![("battery".into(), 12.0), ("motor".into(), -1.0)],
            dissipated: vec![
                ("r1".into(), 7.0),
                ("r2".into(), 1.5),
                ("brake".into(), 0.5),
            ],
            stored: vec![("j1".into(), 4.0), ("c1".into(), -2.0)],
            residual: 1e-9,
        }),
        messages: vec![Message {
            severity: Severity::Note,
            text: "an example, not the result of a run".into(),
        }],
    };
    std::fs::write(format!("{base}-report.html"), report_html(&report))
}

/// The columns of the first reference file beside the model, over the first of them.
fn curves(file: &Path) -> Vec<Panel> {
    let folder = file.with_file_name("reference");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|f| f.path())
        .collect();
    files.sort();
    let text = files
        .first()
        .and_then(|f| std::fs::read_to_string(f).ok())
        .unwrap_or_default();
    let mut lines = text.lines().filter(|l| !l.starts_with('#'));
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let rows: Vec<Vec<f64>> = lines
        .map(|l| {
            l.split(',')
                .map(|x| x.trim().parse().unwrap_or(f64::NAN))
                .collect()
        })
        .collect();
    let column = |k: usize| {
        rows.iter()
            .map(|r| r.get(k).copied().unwrap_or(f64::NAN))
            .collect::<Vec<_>>()
    };
    let series = |k: usize| Series {
        name: names[k].to_owned(),
        x: column(0),
        y: column(k),
        is_reference: k.is_multiple_of(2),
    };
    let all: Vec<Series> = (1..names.len()).map(series).collect();
    let panel = |part: &[Series]| Panel {
        x_label: "time in s".into(),
        y_label: "SI".into(),
        series: part.to_vec(),
        marks: vec![0.5],
    };
    all.chunks(3).map(panel).collect()
}
