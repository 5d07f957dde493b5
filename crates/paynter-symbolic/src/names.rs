//! Names of things in a tree of parts, stored once.
//!
//! In:  segments such as `middle`, `link` with index 3, `f`.
//! Out: [`PathId`]s that print as `middle.link[3].f`.
//!
//! **Invariant:** equal paths have equal ids.

use rustc_hash::{FxHashMap, FxHasher};
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};

/// Names a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(pub u32);

/// One name below another. Names below one parent form a list through `next`.
#[derive(Clone, Copy, Debug)]
struct Segment {
    parent: u32,
    text: u32,
    /// Index in brackets; `i64::MIN` means none.
    index: i64,
    first_child: u32,
    next: u32,
    n_children: u32,
}

/// All paths of one model.
///
/// Most names have a handful of names below them, made one after the other: these are found by
/// walking their list, which lies together in memory. A hash table over all paths would touch
/// a random place for each name, and that is what made 100 000 parts cost more than ten
/// times 10 000.
#[derive(Clone, Debug)]
pub struct Names {
    texts: Texts,
    segments: Vec<Segment>,
    /// (parent, text): the child without index, of parents with many children; but see [`Text::parent`].
    plain: FxHashMap<(u32, u32), u32>,
    /// (parent, text): the children by index, of parents with many children.
    families: FxHashMap<(u32, u32), Family>,
}

/// Texts of segments, each once, one after another in one piece of memory.
#[derive(Clone, Debug, Default)]
struct Texts {
    all: String,
    entries: Vec<Text>,
    /// The last text of each hash.
    by_hash: FxHashMap<u32, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Text {
    /// Where it ends.
    end: usize,
    /// The text before it with the same hash.
    before: u32,
    /// The first large family with a child of this name and no index, and that child. Most names of a large
    /// file are given once: this saves a table over all of them.
    parent: u32,
    child: u32,
}

impl Texts {
    /// A text; that of the root is empty.
    fn get(&self, id: u32) -> &str {
        let Some(text) = self.entries.get(id as usize) else {
            return "";
        };
        let start = if id == 0 {
            0
        } else {
            self.entries[id as usize - 1].end
        };
        &self.all[start..text.end]
    }

    fn find(&self, text: &str) -> Option<u32> {
        self.find_hashed(text, hash(text))
    }

    fn find_hashed(&self, text: &str, hash: u32) -> Option<u32> {
        let mut at = self.by_hash.get(&hash).copied();
        while let Some(id) = at {
            if self.get(id) == text {
                return at;
            }
            at = Some(self.entries[id as usize].before).filter(|&id| id != NONE);
        }
        None
    }

    fn intern(&mut self, text: &str) -> u32 {
        let hash = hash(text);
        if let Some(id) = self.find_hashed(text, hash) {
            return id;
        }
        let id = self.entries.len() as u32;
        self.all.push_str(text);
        let before = self.by_hash.insert(hash, id).unwrap_or(NONE);
        self.entries.push(Text {
            end: self.all.len(),
            before,
            parent: NONE,
            child: NONE,
        });
        id
    }
}

fn hash(text: &str) -> u32 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    (hasher.finish() >> 32) as u32
}

/// `cell[1]`, `cell[2]` and so on below one parent.
#[derive(Clone, Debug, Default)]
struct Family {
    /// By index from 0; [`NONE`] where there is no such child.
    near: Vec<u32>,
    n_near: usize,
    /// Those far from all others.
    far: FxHashMap<i64, u32>,
}

const NO_INDEX: i64 = i64::MIN;

/// No segment.
const NONE: u32 = u32::MAX;

/// Children up to which a list is walked: comparing two numbers this often costs about as
/// much as one access to memory that is not in the cache.
const FEW: u32 = 16;

impl Family {
    fn get(&self, index: i64) -> Option<u32> {
        match usize::try_from(index).ok().and_then(|i| self.near.get(i)) {
            Some(&NONE) | None => self.far.get(&index).copied(),
            found => found.copied(),
        }
    }

    fn insert(&mut self, index: i64, id: u32) {
        // The list may be twice as long as what is in it, so that memory stays in proportion.
        match usize::try_from(index) {
            Ok(i) if i < 2 * self.n_near + FEW as usize => {
                self.n_near += 1;
                if i >= self.near.len() {
                    self.near.resize(i + 1, NONE);
                }
                self.near[i] = id;
            }
            _ => {
                self.far.insert(index, id);
            }
        }
    }
}

impl Default for Names {
    fn default() -> Self {
        let root = Segment {
            parent: NONE,
            text: NONE,
            index: NO_INDEX,
            first_child: NONE,
            next: NONE,
            n_children: 0,
        };
        Names {
            texts: Texts::default(),
            segments: vec![root],
            plain: FxHashMap::default(),
            families: FxHashMap::default(),
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
        let text = self.texts.intern(text);
        let index = index.unwrap_or(NO_INDEX);
        match self.lookup(parent.0, text, index) {
            Some(id) => PathId(id),
            None => PathId(self.add(parent.0, text, index)),
        }
    }

    /// Finds `parent.text[index]` if it was ever made.
    pub fn find(&self, parent: PathId, text: &str, index: Option<i64>) -> Option<PathId> {
        let text = self.texts.find(text)?;
        self.lookup(parent.0, text, index.unwrap_or(NO_INDEX))
            .map(PathId)
    }

    fn lookup(&self, parent: u32, text: u32, index: i64) -> Option<u32> {
        let around = &self.segments[parent as usize];
        if around.n_children > FEW {
            return match index {
                NO_INDEX => self.plain_child(parent, text),
                _ => self.families.get(&(parent, text))?.get(index),
            };
        }
        let mut at = around.first_child;
        while let Some(segment) = self.segments.get(at as usize) {
            if segment.text == text && segment.index == index {
                return Some(at);
            }
            at = segment.next;
        }
        None
    }

    /// The child without index of a parent with many children.
    fn plain_child(&self, parent: u32, text: u32) -> Option<u32> {
        let first = self.texts.entries.get(text as usize)?;
        match first.parent {
            NONE => None,
            of if of == parent => Some(first.child),
            _ => self.plain.get(&(parent, text)).copied(),
        }
    }

    fn add(&mut self, parent: u32, text: u32, index: i64) -> u32 {
        let id = self.segments.len() as u32;
        let around = &mut self.segments[parent as usize];
        let next = std::mem::replace(&mut around.first_child, id);
        around.n_children += 1;
        let n_children = around.n_children;
        self.segments.push(Segment {
            parent,
            text,
            index,
            first_child: NONE,
            next,
            n_children: 0,
        });
        if n_children == FEW + 1 {
            let mut at = id;
            while let Some(&segment) = self.segments.get(at as usize) {
                self.enter(at, segment);
                at = segment.next;
            }
        } else if n_children > FEW {
            self.enter(id, self.segments[id as usize]);
        }
        id
    }

    /// Makes a child of a large family findable without a walk.
    fn enter(&mut self, id: u32, segment: Segment) {
        let key = (segment.parent, segment.text);
        if segment.index == NO_INDEX {
            let text = &mut self.texts.entries[segment.text as usize];
            if text.parent == NONE {
                (text.parent, text.child) = (segment.parent, id);
            } else {
                self.plain.insert(key, id);
            }
        } else {
            self.families
                .entry(key)
                .or_default()
                .insert(segment.index, id);
        }
    }

    /// Gives the enclosing path; the root has none.
    pub fn parent(&self, path: PathId) -> Option<PathId> {
        let parent = self.segments[path.0 as usize].parent;
        (parent != NONE).then_some(PathId(parent))
    }

    /// Gives the last segment: its text and index.
    pub fn last(&self, path: PathId) -> (&str, Option<i64>) {
        let s = self.segments[path.0 as usize];
        let text = self.texts.get(s.text);
        (text, (s.index != NO_INDEX).then_some(s.index))
    }

    /// Prints the whole path.
    pub fn display(&self, path: PathId) -> String {
        let mut out = String::new();
        self.write_path(path, &mut out);
        out
    }

    /// Prints the whole path after what is in `out`.
    pub fn write_path(&self, path: PathId, out: &mut String) {
        // Few paths are deeper; those take a list.
        let mut near = [PathId(NONE); 12];
        let mut deep = Vec::new();
        let mut depth = 0;
        let mut at = path;
        while let Some(parent) = self.parent(at) {
            match near.get_mut(depth) {
                Some(place) => *place = at,
                None => deep.push(at),
            }
            depth += 1;
            at = parent;
        }
        let near = &near[..depth.min(near.len())];
        let start = out.len();
        for &p in deep.iter().rev().chain(near.iter().rev()) {
            let (text, index) = self.last(p);
            if out.len() > start {
                out.push('.');
            }
            out.push_str(text);
            if let Some(i) = index {
                let _ = write!(out, "[{i}]");
            }
        }
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

    #[test]
    fn large_families_are_found_like_small_ones() {
        let mut names = Names::new();
        // Far, negative and repeated indices, with and without index, above and below `FEW`.
        let indices = [None, Some(-7), Some(i64::MAX), Some(1 << 40), Some(0)];
        let all =
            |k: i64| -> Vec<Option<i64>> { indices.into_iter().chain((1..k).map(Some)).collect() };
        for (parent, k) in [
            ("small", 3),
            ("large", 5_000),
            ("middle", 40),
            ("again", 900),
        ] {
            let at = names.child(Names::ROOT, parent, None);
            let made: Vec<PathId> = all(k)
                .into_iter()
                .map(|i| names.child(at, "x", i))
                .collect();
            let other: Vec<PathId> = all(k)
                .into_iter()
                .rev()
                .map(|i| names.child(at, "y", i))
                .collect();
            let mut distinct = made.clone();
            distinct.extend(&other);
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), made.len() + other.len());
            // One name below several large families.
            let plain: Vec<PathId> = (0..k)
                .map(|i| names.child(at, &format!("z{i}"), None))
                .collect();
            let mut other_plain = plain.clone();
            other_plain.sort_unstable();
            other_plain.dedup();
            assert_eq!(other_plain.len(), plain.len());
            for (i, &path) in plain.iter().enumerate() {
                assert_eq!(names.find(at, &format!("z{i}"), None), Some(path));
                assert_eq!(names.parent(path), Some(at));
            }
            for (i, &path) in all(k).into_iter().zip(&made) {
                assert_eq!(names.find(at, "x", i), Some(path));
                assert_eq!(names.child(at, "x", i), path);
                assert_eq!(names.last(path), ("x", i));
            }
            assert_eq!(names.find(at, "x", Some(k)), None);
            assert_eq!(names.find(at, "x", Some(-8)), None);
        }
    }
}
