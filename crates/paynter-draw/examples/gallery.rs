//! Draws every model of the files named on the command line into a folder, as SVG.
//!
//! `cargo run -p paynter-draw --example gallery -- FOLDER FILE.bond …`

use paynter_draw::diagram::{DiagramOptions, Shown, diagram, frames_svg, to_svg, to_tikz};
use paynter_model::causality::assign_causality;
use paynter_model::elaborate::elaborate;
use paynter_model::project::{NoFiles, Request, load};
use paynter_syntax::ast::ItemKind;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("the first argument is a folder")?;
    for file in arguments {
        let text = std::fs::read_to_string(&file)?;
        let (project, _) = load(&file, &text, &mut NoFiles);
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
            let elaboration = elaborate(&project, &request);
            let Some(elaborated) = elaboration.elaborated else {
                println!("{stem} {}: not complete", model.name.text);
                continue;
            };
            let graph = elaborated.graph();
            let causality = assign_causality(graph);
            let options = DiagramOptions {
                signals: Shown::WhenFew,
                ..DiagramOptions::default()
            };
            let drawing = diagram(graph, Some(&causality), &options);
            println!(
                "{stem} {}: {} nodes, {:?}",
                model.name.text,
                drawing.nodes.len(),
                drawing.faults()
            );
            let path = |end: &str| format!("{folder}/{stem}-{}{end}", model.name.text);
            std::fs::write(path(".svg"), to_svg(&drawing))?;
            std::fs::write(path(".tex"), to_tikz(&drawing))?;
            std::fs::write(path("-steps.svg"), frames_svg(graph, &causality, &options))?;
        }
    }
    Ok(())
}
