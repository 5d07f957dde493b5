//! Names of things in a tree of parts, stored once.
//!
//! In:  segments such as `middle`, `link` with index 3, `f`.
//! Out: [`PathId`]s that print as `middle.link[3].f`.
//!
//! **Invariant:** equal paths have equal ids.

use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// Names a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Segment {
    parent: u32,
    text: u32,
    /// Index in brackets; `i64::MIN` means none.
    index: i64,
}

/// All paths of one model.
#[derive(Clone, Debug)]
pub struct Names {
    texts: Vec<Box<str>>,
    text_ids: FxHashMap<Box<str>, u32>,
    segments: Vec<Segment>,
    segment_ids: FxHashMap<Segment, u32>,
}

const NO_INDEX: i64 = i64::MIN;

impl Default for Names {
    fn default() -> Self {
        let root = Segment {
            parent: u32::MAX,
            text: u32::MAX,
            index: NO_INDEX,
        };
        Names {
            texts: Vec::new(),
            text_ids: FxHashMap::default(),
            segments: vec![root],
            segment_ids: FxHashMap::default(),
        }
    }
}

impl Names {
    /// The model itself: the empty path.
    pub const ROOT: PathId = PathId(0);

    /// Makes an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the path `parent.text` or `parent.text[index]`.
    pub fn child(&mut self, parent: PathId, text: &str, index: Option<i64>) -> PathId {
        let text = match self.text_ids.get(text) {
            Some(&id) => id,
            None => {
                let id = self.texts.len() as u32;
                self.texts.push(text.into());
                self.text_ids.insert(text.into(), id);
                id
            }
        };
        let segment = Segment {
            parent: parent.0,
            text,
            index: index.unwrap_or(NO_INDEX),
        };
        let segments = &mut self.segments;
        PathId(*self.segment_ids.entry(segment).or_insert_with(|| {
            segments.push(segment);
            (segments.len() - 1) as u32
        }))
    }

    /// Finds `parent.text[index]` if it was ever made.
    pub fn find(&self, parent: PathId, text: &str, index: Option<i64>) -> Option<PathId> {
        let text = *self.text_ids.get(text)?;
        let segment = Segment {
            parent: parent.0,
            text,
            index: index.unwrap_or(NO_INDEX),
        };
        self.segment_ids.get(&segment).map(|&id| PathId(id))
    }

    /// Gives the enclosing path; the root has none.
    pub fn parent(&self, path: PathId) -> Option<PathId> {
        let parent = self.segments[path.0 as usize].parent;
        (parent != u32::MAX).then_some(PathId(parent))
    }

    /// Gives the last segment: its text and index.
    pub fn last(&self, path: PathId) -> (&str, Option<i64>) {
        let s = self.segments[path.0 as usize];
        let text = self.texts.get(s.text as usize).map_or("", |t| t);
        (text, (s.index != NO_INDEX).then_some(s.index))
    }

    /// Prints the whole path.
    pub fn display(&self, path: PathId) -> String {
        let mut chain = Vec::new();
        let mut at = path;
        while let Some(parent) = self.parent(at) {
            chain.push(at);
            at = parent;
        }
        let mut out = String::new();
        for &p in chain.iter().rev() {
            let (text, index) = self.last(p);
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(text);
            if let Some(i) = index {
                let _ = write!(out, "[{i}]");
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_prints_as_it_is_written() {
        let mut names = Names::new();
        let link = names.child(Names::ROOT, "link", Some(3));
        let f = names.child(link, "f", None);
        assert_eq!(names.display(f), "link[3].f");
        assert_eq!(names.child(link, "f", None), f);
        assert_eq!(names.find(link, "g", None), None);
    }
}
