//! What a window was sent last of the picture, so that a key stroke sends only what is new.
//!
//! In:  analyses in the order in which a window gets them.
//! Out: the same, where the view is left out in favour of what changed since the last one.
//!
//! **Invariant:** the view sent last with all changes since put in is the view of the present analysis.

use crate::wire::{Analysis, Span, Spans, View, ViewChange};

/// The picture that a window has.
#[derive(Debug, Default)]
pub struct Told {
    view: Option<View>,
}

impl Told {
    /// Leaves out of an analysis what the window has.
    pub fn shorten(&mut self, analysis: &mut Analysis) {
        // A text without any picture leaves the last one on the page.
        let Some(view) = analysis.view.take() else {
            return;
        };
        analysis.spans = Spans {
            nodes: flat(&view.node_spans),
            bonds: flat(&view.bond_spans),
        };
        match self.view.as_ref().and_then(|old| change(old, &view)) {
            Some(change) => {
                analysis.change = Some(change);
                self.view = Some(view);
            }
            None => {
                self.view = Some(view.clone());
                analysis.view = Some(view);
            }
        }
    }
}

/// What is new; none if nodes or bonds came, went or changed places, or if most are others.
fn change(old: &View, new: &View) -> Option<ViewChange> {
    let is_same = old.model == new.model
        && old.is_foreign == new.is_foreign
        && old.level == new.level
        && old.nodes.len() == new.nodes.len()
        && old.bonds.len() == new.bonds.len()
        && old.nodes.iter().zip(&new.nodes).all(|(a, b)| a.id == b.id)
        && old.bonds.iter().zip(&new.bonds).all(|(a, b)| a.id == b.id);
    if !is_same {
        return None;
    }
    let nodes = differing(&old.nodes, &new.nodes);
    let bonds = differing(&old.bonds, &new.bonds);
    let is_small = 2 * (nodes.len() + bonds.len()) <= new.nodes.len() + new.bonds.len();
    is_small.then(|| ViewChange {
        nodes,
        bonds,
        signals: (old.signals != new.signals).then(|| new.signals.clone()),
        conflict: (old.conflict != new.conflict).then(|| new.conflict.clone()),
    })
}

fn differing<T: Clone + PartialEq>(old: &[T], new: &[T]) -> Vec<(usize, T)> {
    let pairs = old.iter().zip(new).enumerate();
    let others = pairs.filter(|(_, (a, b))| a != b);
    others.map(|(at, (_, b))| (at, b.clone())).collect()
}

fn flat(spans: &[Option<Span>]) -> Vec<i64> {
    let ends = |s: &Option<Span>| match s {
        Some(s) => [s.from as i64, s.to as i64],
        None => [-1, -1],
    };
    spans.iter().flat_map(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::analyse;
    use crate::wire::Focus;
    use paynter_service::Workspace;

    /// A chain of so many resistors.
    fn text(n: usize, first: &str) -> String {
        let arms: Vec<String> = (1..n).map(|k| format!("r{k}: R({k})")).collect();
        format!(
            "model M {{\n    s: Se(1) -> j: 1 -> r0: R({first}), c: C(1), {}\n}}\n",
            arms.join(", ")
        )
    }

    /// What the page does with what it gets.
    fn put_in(seen: &mut Option<View>, told: &Analysis) {
        if let Some(view) = &told.view {
            *seen = Some(view.clone());
        }
        let (Some(view), Some(change)) = (seen.as_mut(), &told.change) else {
            return;
        };
        for (at, node) in &change.nodes {
            view.nodes[*at] = node.clone();
        }
        for (at, bond) in &change.bonds {
            view.bonds[*at] = bond.clone();
        }
        if let Some(signals) = &change.signals {
            view.signals.clone_from(signals);
        }
        if let Some(conflict) = &change.conflict {
            view.conflict.clone_from(conflict);
        }
    }

    #[test]
    fn changes_put_in_give_the_view_and_are_small() {
        let mut workspace = Workspace::new([]);
        let mut told = Told::default();
        let mut seen = None;
        let texts = [
            text(20, "7"),
            text(20, "75"),
            format!("// a comment\n{}", text(20, "75")),
            text(20, "k"),
            text(21, "75"),
            format!("{}/", text(21, "75")),
            text(21, "75").replace("s: Se(1)", "s: Sf(1)"),
        ];
        let mut sizes = Vec::new();
        for text in texts {
            workspace.open("/m.bond", text);
            let mut found = analyse(&workspace, "/m.bond", &Focus::default(), 1);
            let whole = found.view.clone();
            told.shorten(&mut found);
            sizes.push(
                serde_json::to_string(&found)
                    .expect("it can be written")
                    .len(),
            );
            put_in(&mut seen, &found);
            let Some(whole) = whole else { continue };
            let seen = seen.as_ref().expect("a view was sent");
            assert_eq!((&seen.nodes, &seen.bonds), (&whole.nodes, &whole.bonds));
            assert_eq!(
                (&seen.signals, &seen.conflict),
                (&whole.signals, &whole.conflict)
            );
            assert_eq!(found.spans.nodes.len(), 2 * whole.nodes.len());
        }
        assert!(
            3 * sizes[1] < sizes[0] && 3 * sizes[2] < sizes[0],
            "{sizes:?}"
        );
    }
}
