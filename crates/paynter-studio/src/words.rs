//! What could be typed at a place, and what stands there: the service's own answers for the editor of the page.
//!
//! Places count UTF-16 units.

use paynter_service::Workspace;
use paynter_service::complete::complete;
use paynter_service::hover::hover;
use serde_json::{Value, json};

/// The byte of a text at which so many UTF-16 units have gone by.
fn byte_at(text: &str, units: usize) -> usize {
    let mut seen = 0;
    for (byte, c) in text.char_indices() {
        if seen >= units {
            return byte;
        }
        seen += c.len_utf16();
    }
    text.len()
}

/// Completions at a place.
pub fn offers(workspace: &Workspace, full: &str, at: usize) -> Value {
    let Some(text) = workspace.text(full) else {
        return json!([]);
    };
    let found = complete(workspace, full, byte_at(&text, at));
    let show = |c: &paynter_service::complete::Completion| {
        json!({
            "label": c.label, "detail": c.detail, "doc": c.doc, "insert": c.insert, "isSnippet": c.is_snippet,
            "sort": format!("{:?}", c.sort).to_lowercase(), "from": c.range.utf16.0, "to": c.range.utf16.1,
        })
    };
    json!(found.iter().map(show).collect::<Vec<_>>())
}

/// What stands at a place; nothing where nothing is to be said.
pub fn card(workspace: &Workspace, full: &str, at: usize) -> Value {
    let Some(text) = workspace.text(full) else {
        return Value::Null;
    };
    let found = hover(workspace, full, byte_at(&text, at));
    found.map_or(
        Value::Null,
        |h| json!({ "from": h.range.utf16.0, "to": h.range.utf16.1, "text": h.text }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words_are_offered_and_explained() {
        let text = "// θ𝛼\nmodel M {\n    param kap = 3 [N/m]\n    s: Se(1) -> j: 1 -> c: C(1/kap), r: R(1)\n}\n";
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", text);
        let units = |byte: usize| text[..byte].encode_utf16().count();
        let inside = text.find("1/kap").expect("there") + 4;
        let offered = offers(&workspace, "/m.bond", units(inside));
        let all = offered.as_array().expect("a list");
        let kap = all.iter().find(|o| o["label"] == "kap").expect("kap");
        assert_eq!(
            kap["from"],
            json!(units(text.find("1/kap").expect("there") + 2))
        );
        let card = card(&workspace, "/m.bond", units(inside));
        assert!(
            card["text"].as_str().expect("a card").contains('3'),
            "{card}"
        );
        assert_eq!(byte_at("θ𝛼x", 3), "θ𝛼".len());
    }
}
