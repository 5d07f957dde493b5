//! What was found of the items of a file, kept for as long as their texts stay the same.
//!
//! In:  a project, and for each model or experiment of its main file what looking at it gave.
//! Out: the same when an item and everything it can name have the same texts again, with its places moved to where these
//!      texts are now.
//!
//! An item can name another one only by a word of its text, so that what it depends on are the items that it and these
//! name, the other files, and what is at the top of the file beside models and experiments.
//!
//! **Invariant:** what is kept changes no answer: an entry is found only if all these texts are equal, letter by letter.

use paynter_model::BondGraph;
use paynter_model::elaborate::Prepared;
use paynter_model::project::{Project, item_name};
use paynter_syntax::{Diagnostic, FileId, Span, ast};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Versions of one item that are kept: the present one, and the one that undo leads back to.
const MAX_VERSIONS: usize = 2;

/// A file with more items than this, or whose items name so many others that their texts together are this many times
/// the file, is looked at as a whole every time.
const MAX_ITEMS: usize = 1000;
const MAX_TIMES: usize = 64;

/// A longer text is a generated one, which nobody types in: comparing would take longer than it saves.
const MAX_BYTES: usize = 4 << 20;

/// What was found of the items of one file. `T` can be moved.
#[derive(Debug)]
pub struct Memo<T> {
    /// What all items may depend on.
    surroundings: String,
    /// By the place of the item, newest last.
    items: FxHashMap<usize, Vec<Entry<T>>>,
}

#[derive(Debug)]
struct Entry<T> {
    key: String,
    /// Where the items of the file were.
    spans: Arc<[Span]>,
    found: T,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo {
            surroundings: String::new(),
            items: FxHashMap::default(),
        }
    }
}

impl<T: Movable> Memo<T> {
    /// Forgets everything if the surroundings are others.
    pub fn renew(&mut self, texts: &Texts) {
        if self.surroundings != texts.surroundings {
            self.surroundings.clone_from(&texts.surroundings);
            self.items.clear();
        }
    }

    /// Gives what was found of an item with these texts.
    pub fn find(&self, texts: &Texts, place: usize) -> Option<T> {
        let key = texts.keys.get(place)?;
        let versions = self.items.get(&place)?;
        let entry = versions.iter().find(|e| e.key == *key)?;
        match entry.spans == texts.spans {
            true => Some(entry.found.clone()),
            false => entry.found.moved(&Move {
                from: &entry.spans,
                to: &texts.spans,
            }),
        }
    }

    /// Keeps what was found of an item with these texts.
    pub fn keep(&mut self, texts: &Texts, place: usize, found: T) {
        let Some(key) = texts.keys.get(place) else {
            return;
        };
        let versions = self.items.entry(place).or_default();
        versions.retain(|e| e.key != *key);
        if versions.len() >= MAX_VERSIONS {
            versions.remove(0);
        }
        versions.push(Entry {
            key: key.clone(),
            spans: texts.spans.clone(),
            found,
        });
    }
}

/// Something with places in a text.
pub trait Movable: Clone {
    /// The same at other places; none if one of its places lies in no item.
    fn moved(&self, by: &Move<'_>) -> Option<Self>;
}

/// From where items were to where they are.
#[derive(Clone, Copy, Debug)]
pub struct Move<'m> {
    from: &'m [Span],
    to: &'m [Span],
}

impl Move<'_> {
    /// Moves a place with the item that it lies in. Other files stay where they are.
    pub fn span(&self, span: Span) -> Option<Span> {
        if span.file != FileId(0) || span == Span::default() {
            return Some(span);
        }
        let after = self.from.partition_point(|item| item.start <= span.start);
        let at = after.checked_sub(1)?;
        if span.end > self.from[at].end {
            return None;
        }
        let shift = |byte: u32| byte - self.from[at].start + self.to[at].start;
        Some(Span {
            start: shift(span.start),
            end: shift(span.end),
            ..span
        })
    }
}

impl<T: Movable> Movable for Vec<T> {
    fn moved(&self, by: &Move<'_>) -> Option<Self> {
        self.iter().map(|x| x.moved(by)).collect()
    }
}

impl<T: Movable> Movable for Arc<T> {
    fn moved(&self, by: &Move<'_>) -> Option<Self> {
        T::moved(self, by).map(Arc::new)
    }
}

impl<T: Movable> Movable for Option<T> {
    fn moved(&self, by: &Move<'_>) -> Option<Self> {
        match self {
            Some(x) => x.moved(by).map(Some),
            None => Some(None),
        }
    }
}

impl Movable for Diagnostic {
    fn moved(&self, by: &Move<'_>) -> Option<Self> {
        let mut moved = self.clone();
        for label in moved.primary.iter_mut().chain(&mut moved.secondary) {
            label.span = by.span(label.span)?;
        }
        Some(moved)
    }
}

impl Movable for BondGraph {
    fn moved(&self, by: &Move<'_>) -> Option<Self> {
        let mut graph = self.clone();
        for span in &mut graph.origins {
            *span = by.span(*span)?;
        }
        for (_, span) in &mut graph.parts {
            *span = by.span(*span)?;
        }
        Some(graph)
    }
}

/// The texts that items depend on.
#[derive(Debug)]
pub struct Texts {
    surroundings: String,
    spans: Arc<[Span]>,
    /// Of each item: itself and the items it can name, with their texts. Empty where nothing can be kept.
    keys: Vec<String>,
}

impl Texts {
    /// Gathers the texts of a project.
    pub fn of(project: &Project, prepared: &Prepared<'_>) -> Self {
        let main = project.files.first();
        let items = main.map_or(&[][..], |main| &main.ast.items[..]);
        let spans: Arc<[Span]> = items.iter().map(|i| i.span).collect();
        let in_order = spans.windows(2).all(|w| w[0].end <= w[1].start);
        // What is derived from a text lies in texts of its own, whose numbers may change.
        let is_derived = items
            .iter()
            .any(|i| i.span.file != FileId(0) || matches!(i.kind, ast::ItemKind::Lagrangian(_)));
        let has_foreign = project.files.iter().any(|f| !f.foreign.is_empty());
        let text = main.map_or("", |main| &*project.sources.file(main.file).text);
        let is_large = items.len() > MAX_ITEMS || text.len() > MAX_BYTES;
        if is_derived || has_foreign || !in_order || is_large {
            return Texts {
                surroundings: String::new(),
                spans,
                keys: Vec::new(),
            };
        }
        Texts {
            surroundings: surroundings(project, items, prepared.is_misnamed()),
            keys: keys(text, items),
            spans,
        }
    }
}

fn is_kept(item: &ast::Item) -> bool {
    use ast::ItemKind as Kind;
    matches!(item.kind, Kind::Model(_) | Kind::Experiment(_))
}

/// Other files with their data, the names of all items, and the items that are not models and no experiments.
fn surroundings(project: &Project, items: &[ast::Item], is_misnamed: bool) -> String {
    let mut out = format!("{is_misnamed}\n");
    for (k, file) in project.files.iter().enumerate() {
        let _ = writeln!(
            out,
            "{} {:?}",
            file.canonical_name,
            file.ast.units_strict.is_some()
        );
        if k > 0 {
            out.push_str(&project.sources.file(file.file).text);
        }
        let mut data: Vec<_> = file.data.iter().collect();
        data.sort_unstable_by_key(|d| d.0);
        for (path, text) in data {
            let is_there = text.is_ok();
            let (Ok(text) | Err(text)) = text;
            let _ = writeln!(out, "{path} {is_there} {text}");
        }
    }

    for item in items {
        let name = item_name(item).map_or("", |n| &*n.text);
        let text = match is_kept(item) {
            true => "",
            false => project.sources.text(item.span),
        };
        let kind = std::mem::discriminant(&item.kind);
        let _ = writeln!(out, "{kind:?} {name} {text}");
    }
    out
}

/// For each item the texts of itself and of all items that it can name, with their places in the file.
fn keys(text: &str, items: &[ast::Item]) -> Vec<String> {
    let own = |item: &ast::Item| &text[item.span.start as usize..item.span.end as usize];
    let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (place, item) in items.iter().enumerate() {
        if let Some(name) = item_name(item) {
            by_name.entry(&name.text).or_default().push(place);
        }
    }

    let named: Vec<Vec<usize>> = items
        .iter()
        .map(|item| {
            let is_letter = |c: char| c.is_alphanumeric() || c == '_';
            let words = own(item).split(move |c| !is_letter(c));
            let mut found: Vec<usize> = words
                .filter_map(|w| by_name.get(w))
                .flatten()
                .copied()
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        })
        .collect();

    let mut keys = Vec::new();
    let mut room = MAX_TIMES * text.len();
    for place in 0..items.len() {
        let mut key = String::new();
        for at in reached(&named, place) {
            let _ = writeln!(key, "{at} {}", own(&items[at]));
        }
        match room.checked_sub(key.len()) {
            Some(left) => room = left,
            None => return Vec::new(),
        }
        keys.push(key);
    }
    keys
}

/// All items that one leads to, itself among them, in order.
fn reached(named: &[Vec<usize>], place: usize) -> Vec<usize> {
    let mut is_found = vec![false; named.len()];
    is_found[place] = true;
    let mut open = vec![place];
    while let Some(at) = open.pop() {
        for &next in &named[at] {
            if !std::mem::replace(&mut is_found[next], true) {
                open.push(next);
            }
        }
    }
    (0..named.len()).filter(|&k| is_found[k]).collect()
}
