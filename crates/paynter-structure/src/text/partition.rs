//! Parts of a model that drive others.

use super::activity::{errors_json, errors_text, percent};
use crate::partition::Partition;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Lists the parts, the bonds between them, and the error of cutting these.
pub fn partition_text(found: &Partition) -> String {
    let mut out = format!("{} parts, those that drive first\n", found.parts.len());
    for (k, part) in found.parts.iter().enumerate() {
        let _ = writeln!(out, "  {}: {}", k + 1, part.join(", "));
    }
    out.push_str("bonds that act one way\n");
    for cut in &found.cuts {
        let (from, to) = cut.from_to;
        let _ = writeln!(
            out,
            "  {}: the {} of `{}` drives, {} to {}; it moves {} of the most active bond there",
            cut.name,
            cut.gives,
            cut.junction,
            from + 1,
            to + 1,
            percent(cut.share)
        );
    }
    out.push_str(&errors_text(&found.errors));
    out
}

/// Gives the parts as JSON.
pub fn partition_json(found: &Partition) -> Value {
    let cuts = found.cuts.iter().map(|c| {
        json!({
            "bond": c.name, "junction": c.junction, "gives": c.gives, "share": c.share,
            "from": c.from_to.0, "to": c.from_to.1,
        })
    });
    json!({
        "parts": found.parts,
        "cuts": cuts.collect::<Vec<_>>(),
        "errors": errors_json(&found.errors),
    })
}
