//! The report as JSON.
//!
//! In:  the same as the text.
//! Out: one object, its lists in the order of the text.

use super::*;

/// Writes the report as JSON.
pub fn to_json(graph: &BondGraph, causality: &Causality, solved: &Solved) -> String {
    let json = Json {
        graph,
        causality,
        names: VariableNames::new(graph),
    };
    let index = solved.structural_index;
    let free = causality.free.iter().map(|f| f.junction);
    let split = causality.split_multibonds.iter().map(|bonds| {
        let strokes = bonds.iter().map(|&b| stroke_text(graph, causality, b));
        array(strokes.map(|s| text(&s)))
    });

    object(&[
        ("complete", causality.is_complete().to_string()),
        ("order", causality.order().to_string()),
        ("independent", json.ports(&causality.independent)),
        ("independent_junctions", json.elements(free)),
        ("dependent", json.dependent()),
        ("coordinates", json.variables(&causality.coordinates)),
        ("not_states", json.variables(&causality.outside)),
        ("loops", json.loops()),
        ("zero_order_paths", json.paths()),
        (
            "structural_index",
            index.map_or("null".to_owned(), |i| i.to_string()),
        ),
        (
            "reversed_moduli",
            json.elements(causality.reversed_moduli.iter().copied()),
        ),
        (
            "harmless_moduli",
            json.elements(solved.harmless_moduli.iter().copied()),
        ),
        ("inverted_laws", json.ports(&causality.inverted_laws)),
        ("split_multibonds", array(split)),
        ("conflicts", json.conflicts()),
        ("bonds", json.bonds()),
    ])
}

/// What every list is written from.
struct Json<'g> {
    graph: &'g BondGraph,
    causality: &'g Causality,
    names: VariableNames<'g>,
}

impl Json<'_> {
    fn ports(&self, ends: &[End]) -> String {
        array(ends.iter().map(|&end| text(&port_name(self.graph, end))))
    }

    fn elements(&self, list: impl Iterator<Item = ElementId>) -> String {
        array(list.map(|e| text(&plain(self.graph, e))))
    }

    fn variables(&self, symbols: &[SymbolId]) -> String {
        array(symbols.iter().map(|&s| text(&self.names.name(s))))
    }

    fn dependent(&self) -> String {
        let one = |d: &crate::causality::Dependent| {
            let on = d.on.iter().map(|on| {
                let way = between(on, d.storage);
                object(&[
                    ("element", text(&plain(self.graph, on.element))),
                    ("through", self.elements(way.into_iter())),
                ])
            });
            object(&[
                ("storage", text(&port_name(self.graph, d.storage))),
                ("set_by", array(on)),
            ])
        };
        array(self.causality.dependent.iter().map(one))
    }

    /// Algebraic loops, then those through dependent storages.
    fn loops(&self) -> String {
        let algebraic = self.causality.loops.iter().map(|l| {
            let class = l.class.map(|c| c.number().to_string());
            object(&[
                ("tearing", text(&self.names.name(l.tearing))),
                ("class", class.unwrap_or_else(|| "null".to_owned())),
                ("path", self.variables(&l.path)),
            ])
        });
        let through_storages = self.causality.storage_loops.iter().map(|l| {
            let together = l.together_with.iter().map(|&e| rate(self.graph, e));
            let shown = l.dependent.len().min(MAX_LINES);
            object(&[
                ("tearing", text(&rate(self.graph, l.independent))),
                ("class", "1".to_owned()),
                ("path", self.variables(&l.path)),
                ("dependent", self.ports(&l.dependent[..shown])),
                ("together_with", array(together.map(|name| text(&name)))),
            ])
        });
        array(algebraic.chain(through_storages))
    }

    fn paths(&self) -> String {
        array(self.causality.zero_order_paths.iter().map(|p| {
            object(&[
                ("class", p.class.number().to_string()),
                ("elements", self.elements(p.elements.iter().copied())),
            ])
        }))
    }

    fn bonds(&self) -> String {
        let (graph, causality) = (self.graph, self.causality);
        array(rank(graph).bonds.into_iter().map(|b| {
            let ends = graph.bond(b);
            let stroke = match causality.stroke(b) {
                Some(Stroke::Head) => text("head"),
                Some(Stroke::Tail) => text("tail"),
                None => "null".to_owned(),
            };
            let name = ends.name.map(|p| text(&graph.signals.names.display(p)));
            let reason = causality.stroke(b).map(|stroke| {
                let hop = super::super::Hop {
                    bond: b,
                    stroke,
                    reason: causality.reason(b),
                };
                text(&sentence(graph, hop))
            });
            object(&[
                ("name", name.unwrap_or_else(|| "null".to_owned())),
                ("tail", text(&plain(graph, ends.tail.element))),
                ("head", text(&plain(graph, ends.head.element))),
                ("stroke", stroke),
                ("status", text(status_word(causality.status(b)))),
                ("reason", reason.unwrap_or_else(|| "null".to_owned())),
            ])
        }))
    }

    fn conflicts(&self) -> String {
        array(self.causality.conflicts.iter().map(|c| {
            let sides = c.sides.iter().map(|side| {
                let sentences = side.iter().map(|&hop| sentence(self.graph, hop));
                array(sentences.map(|s| text(&s)))
            });
            let headline = super::super::diagnostics::headline(self.graph, c);
            object(&[
                ("message", text(&headline)),
                ("elements", self.elements(c.elements.iter().copied())),
                ("chains", array(sides)),
            ])
        }))
    }
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(key, value)| format!("{}:{value}", text(key)))
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// A JSON string.
fn text(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + 2);
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
