//! The library in the page: what can be placed on the canvas, with pictures for the start page.

use crate::wire::PartCard;
use paynter::draw::diagram::{DiagramOptions, diagram, to_svg};
use paynter_service::Workspace;
use paynter_service::part::placed;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Lists the parts of the library; made once.
pub fn parts() -> &'static [PartCard] {
    static PARTS: OnceLock<Vec<PartCard>> = OnceLock::new();
    PARTS.get_or_init(|| {
        let all = placed().into_iter();
        let cards = all.map(|part| PartCard {
            kind: format!("{}.{}", part.library, part.name),
            words: part.doc.replace('`', ""),
            from: part.library,
            value: part.arguments,
        });
        cards.collect()
    })
}

/// In the place of a part that has no bonds.
const NO_GRAPH: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 200 100\"><text x=\"100\" y=\"54\" text-anchor=\"middle\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#5d6675\">signals only</text></svg>";

/// Draws what is inside of a part, `electromechanical.DcMotor`; none if there is no such part. Each is drawn once.
pub fn picture(kind: &str) -> Option<String> {
    static DRAWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let drawn = || DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = drawn().get(kind) {
        return Some(known.clone());
    }
    let (library, name) = kind.split_once('.')?;
    if !parts().iter().any(|p| p.kind == kind) {
        return None;
    }
    let workspace = Workspace::new([]);
    let flat = workspace
        .analysis(&format!("library:{library}"))
        .and_then(|a| a.flat(name))
        .filter(|f| !f.graph.elements.is_empty());
    let svg = match flat {
        Some(flat) => {
            let options = DiagramOptions::default();
            // What its ports are given decides the strokes of a part that is alone.
            let strokes = (!flat.is_open).then_some(&flat.causality);
            to_svg(&diagram(&flat.graph, strokes, &options))
        }
        None => NO_GRAPH.to_owned(),
    };
    drawn().insert(kind.to_owned(), svg.clone());
    Some(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_words_and_most_have_pictures() {
        let all = parts();
        assert!(all.iter().all(|p| !p.words.is_empty()), "{all:?}");
        let few = all.iter().step_by(9);
        let is_drawn = |p: &&PartCard| picture(&p.kind).is_some_and(|svg| svg != NO_GRAPH);
        let n_drawn = few.clone().filter(is_drawn).count();
        assert!(2 * n_drawn > few.count(), "{n_drawn}");
        assert!(picture("electrical.Nothing").is_none() && picture("../x.y").is_none());
    }
}
