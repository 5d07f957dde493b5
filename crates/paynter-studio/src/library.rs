//! What can be placed on the canvas: the kinds of element, and the library with pictures for the start page.

use crate::wire::{KindCard, PartCard};
use paynter::draw::diagram::{DiagramOptions, diagram, to_svg};
use paynter::model::kinds::{ElementKind, Nature};
use paynter_service::Workspace;
use paynter_service::part::placed;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Lists the kinds of element that can be placed, each once. A field of mixed ports is written, with its energy.
pub fn kinds() -> Vec<KindCard> {
    let junctions = ElementKind::ALL.iter().copied();
    let junctions = junctions.filter(|k| k.is_junction());
    junctions
        .chain(ElementKind::named())
        .filter(|kind| !is_mixed_field(*kind))
        .map(kind_card)
        .collect()
}

fn is_mixed_field(kind: ElementKind) -> bool {
    let about = kind.describe();
    about.nature == Nature::Storage && about.memory.is_none()
}

fn kind_card(kind: ElementKind) -> KindCard {
    let about = kind.describe();
    let (head, rest) = about.what.split_once(": ").unwrap_or((about.what, ""));
    let words = match about.nature {
        Nature::Junction => rest,
        _ => head,
    };
    let words = words.split(',').next().unwrap_or(words);
    let (nature, value) = match about.nature {
        Nature::Junction => ("junction", ""),
        Nature::Source => ("source", "1"),
        Nature::Storage => ("storage", "1"),
        Nature::TwoPort | Nature::Heater => ("twoport", "1"),
        // What must have a law begins with that of the example, what must have a condition with its condition.
        Nature::Resistor if about.needs.starts_with("write a law") => ("loss", law(about.example)),
        Nature::Resistor => ("loss", "1"),
        Nature::Contact => ("loss", arguments(about.example)),
    };
    KindCard {
        kind: about.letters,
        nature,
        words: words.replace('`', ""),
        what: about.what.replace('`', ""),
        also: about.words.0.to_vec(),
        value,
    }
}

/// `{ e = … }` of `m: M { e = … }`
fn law(example: &'static str) -> &'static str {
    example.find('{').map_or("", |at| &example[at..])
}

/// `time > 1 [s]` of `s: Sw(time > 1 [s])`
fn arguments(example: &'static str) -> &'static str {
    let inside = example.split_once('(').map_or("", |(_, inside)| inside);
    inside.strip_suffix(')').unwrap_or(inside)
}

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
            let strokes = (!flat.is_open).then_some(&*flat.causality);
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
    fn every_kind_is_offered_with_words() {
        let all = kinds();
        let letters: Vec<&str> = all.iter().map(|k| k.kind).collect();
        for kind in [
            "0", "1", "Se", "Sf", "R", "C", "I", "TF", "GY", "RS", "Sw", "D", "M",
        ] {
            assert!(letters.contains(&kind), "{letters:?}");
        }
        assert!(all.iter().all(|k| !k.words.is_empty()), "{all:?}");
    }

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
