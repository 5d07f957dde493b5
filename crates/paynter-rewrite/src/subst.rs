//! Carries texts over to the new names.
//!
//! In:  texts of the old model, and the images of what is gone.
//! Out: the same texts in what is there now.

use crate::expression::bracketed;
use crate::net::{Image, Net, paths_in};
use crate::walk::{self, At, Visit, dotted, dotted_ref, each};
use paynter::syntax::ast::{Expr, ExprKind, ItemKind, Ref};
use paynter::syntax::{FileId, Span, parse};

/// Images may lead to images; a chain longer than this would be a circle.
const MAX_DEPTH: usize = 64;

/// A stretch of text and what stands there instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// First byte.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// The new text.
    pub text: String,
}

/// Carries out edits that do not overlap.
pub fn apply_edits(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|e| (e.start, e.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        if edit.start < at {
            // What is added behind a line that goes is added all the same.
            if edit.start == edit.end && edit.text.starts_with('\n') {
                out.push_str(&edit.text);
                out.push('\n');
            }
            continue;
        }
        out.push_str(text.get(at..edit.start).unwrap_or_default());
        out.push_str(&edit.text);
        at = edit.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Replaces dotted paths of an expression by other expressions, in brackets where it has to be.
pub fn replace_paths(text: &str, new: &dyn Fn(&str) -> Option<String>) -> String {
    let Some(parsed) = crate::expression::parse(text) else {
        return text.to_owned();
    };
    let mut edits = Vec::new();
    expr_edits(&parsed.expr, new, &mut edits);
    let offset = parsed.source.find('=').map_or(0, |k| k + 2);
    let edits = edits.into_iter().map(|e| Edit {
        start: e.start - offset,
        end: e.end - offset,
        ..e
    });
    apply_edits(text, edits.collect())
}

/// Edits for the paths of one expression.
fn expr_edits(e: &Expr, new: &dyn Fn(&str) -> Option<String>, edits: &mut Vec<Edit>) {
    // A whole expression needs no brackets.
    if let Some(text) = dotted(e).and_then(|p| new(&p.join("."))) {
        edits.push(edit(e.span, text));
        return;
    }
    each(e, &mut |inner| match dotted(inner) {
        Some(path) => {
            if let Some(text) = new(&path.join(".")) {
                edits.push(edit(inner.span, bracketed(&text, 8)));
            }
            false
        }
        None => match &inner.kind {
            ExprKind::Call { args, .. } => {
                args.iter().for_each(|a| expr_edits(&a.value, new, edits));
                false
            }
            _ => true,
        },
    });
}

fn edit(span: Span, text: String) -> Edit {
    Edit {
        start: span.start as usize,
        end: span.end as usize,
        text,
    }
}

impl Net {
    /// What a quantity of the old model is now; none if it is what it was.
    pub fn image_of(&self, path: &str) -> Option<String> {
        let image = self.images.get(path)?;
        if path.starts_with("system.") {
            return Some(image.text.clone());
        }
        Some(self.carried(&image.text, MAX_DEPTH))
    }

    /// As [`Net::image_of`]; none as well where nothing read it and what it was went, too.
    pub fn present_image_of(&self, path: &str) -> Option<String> {
        let is_gone = |path: &String| {
            let name = path.split('.').next();
            let mut named = self.things.iter().filter(|t| t.name.as_deref() == name);
            let first = named.next();
            first.is_some_and(|t| !t.is_alive) && named.all(|t| !t.is_alive)
        };
        let image = self.image_of(path)?;
        (!paths_in(&image).iter().any(is_gone)).then_some(image)
    }

    /// An expression in what is there now.
    pub fn carried_text(&self, text: &str) -> String {
        self.carried(text, MAX_DEPTH)
    }

    fn carried(&self, text: &str, depth: usize) -> String {
        if depth == 0 {
            return text.to_owned();
        }
        replace_paths(text, &|path| {
            let image = self.images.get(path)?;
            // What the whole model holds is the rest and a constant: its image reads itself.
            if path.starts_with("system.") {
                return Some(image.text.clone());
            }
            Some(self.carried(&image.text, depth - 1))
        })
    }

    /// A quantity of the new model in those of the old one.
    pub fn origin_of(&self, path: &str) -> Option<String> {
        let mut text = self.origins.get(path)?.clone();
        for _ in 0..MAX_DEPTH {
            let next = replace_paths(&text, &|path| self.origins.get(path).cloned());
            if next == text {
                break;
            }
            text = next;
        }
        Some(text)
    }

    /// Says that a stored quantity is equal to another one in every run. The old states that it stands for follow from that.
    pub fn tie(&mut self, this: &str, other: &str) {
        let other = self.origin_of(other).unwrap_or_else(|| other.to_owned());
        for state in self.stands_for(this) {
            let text = self.carried_text(&state);
            let value = replace_paths(&text, &|path| (path == this).then(|| other.clone()));
            self.ties.push((state, value));
        }
    }

    /// Tells whether no run begins with a stored quantity, or those it stands for, apart from what it would be tied to.
    pub fn may_tie(&self, this: &str) -> bool {
        let stands_for = self.stands_for(this);
        !stands_for.iter().any(|state| self.apart.contains(state))
    }

    /// The old states that a stored quantity stands for; itself, if it is one.
    fn stands_for(&self, this: &str) -> Vec<String> {
        let stands_for = |path: &String| self.target_of(path).is_some_and(|(of, _)| of == this);
        let is_state = |path: &String| path.ends_with(".p") || path.ends_with(".q");
        let old: Vec<String> = self
            .images
            .keys()
            .filter(|p| is_state(p) && !self.origins.contains_key(*p))
            .filter(|p| stands_for(p))
            .cloned()
            .collect();
        match old.is_empty() {
            true => vec![this.to_owned()],
            false => old,
        }
    }

    /// The quantity and the factor that a start value is carried to.
    pub fn target_of(&self, path: &str) -> Option<(String, String)> {
        if let Some(target) = self.targets.get(path) {
            return Some((target.clone(), "1".to_owned()));
        }
        let (mut of, mut factor) = (path.to_owned(), "1".to_owned());
        for _ in 0..MAX_DEPTH {
            let Some(Image { scaled, .. }) = self.images.get(&of) else {
                break;
            };
            let (next, by) = scaled.clone()?;
            factor = crate::expression::product(&factor, &by);
            of = next;
        }
        (of != path).then(|| (of, self.carried_text(&factor)))
    }

    /// A node, `i: I[3](J)`, in what is there now.
    pub fn carried_text_of_node(&self, node: &str) -> String {
        let is_name = |n: &str| n.chars().all(|c| c.is_alphanumeric() || c == '_');
        match node.split_once(": ") {
            Some((name, def)) if is_name(name) => format!("{name}: {}", self.carried_def(def)),
            _ => self.carried_def(node),
        }
    }

    /// The definition of an element, `I(A + A1)`, in what is there now.
    pub fn carried_def(&self, def: &str) -> String {
        self.carried_behind("x: ", def)
    }

    /// A statement of a model in what is there now.
    pub fn carried_line(&self, line: &str) -> String {
        self.carried_behind("", line)
    }

    /// What follows `before` in a statement, in what is there now.
    fn carried_behind(&self, before: &str, text: &str) -> String {
        let before = format!("model M {{\n{before}");
        let parsed = parse(FileId(0), &format!("{before}{text}\n}}"));
        let Some(ItemKind::Model(model)) = parsed.ast.items.first().map(|i| &i.kind) else {
            return text.to_owned();
        };
        let mut carrier = Carrier {
            net: self,
            edits: Vec::new(),
        };
        let statements = model.body.iter();
        statements.for_each(|s| walk::statement(s, &mut carrier));
        let edits = carrier.edits.into_iter().map(|e| Edit {
            start: e.start - before.len(),
            end: e.end - before.len(),
            ..e
        });
        apply_edits(text, edits.collect())
    }
}

/// Collects the edits that carry statements over.
pub struct Carrier<'n> {
    /// Where the images are.
    pub net: &'n Net,
    /// What was found.
    pub edits: Vec<Edit>,
}

impl Visit for Carrier<'_> {
    fn expr(&mut self, e: &Expr) {
        let net = self.net;
        expr_edits(e, &|path| net.image_of(path), &mut self.edits);
    }

    fn reference(&mut self, r: &Ref, at: At<'_>) {
        let Some(path) = dotted_ref(r) else { return };
        let Some((of, factor)) = self.net.target_of(&path.join(".")) else {
            return;
        };
        match at {
            At::Node => {}
            At::Plain => self.edits.push(edit(r.span, of)),
            At::Assigned(assign) => {
                self.edits.push(edit(r.span, of));
                if factor != "1" {
                    // old = factor·new, so new = value/factor. The value may hold names to be carried over, so its text is kept and wrapped.
                    let (start, end) = (assign.value.span.start, assign.value.span.end);
                    let wrap = |at: u32, text: &str| Edit {
                        start: at as usize,
                        end: at as usize,
                        text: text.to_owned(),
                    };
                    self.edits.push(wrap(start, "("));
                    let behind = format!(")/{}", bracketed(&factor, 7));
                    self.edits.push(wrap(end, &behind));
                }
            }
        }
    }
}
