//! Numbers noted beside ids, forgotten all at once.
//!
//! In:  ids that are small whole numbers: expressions, symbols, slots.
//! Out: what was noted since the last [`Notes::forget`], which costs nothing however much was noted.

/// A number for each of some ids.
#[derive(Debug)]
pub(crate) struct Notes {
    /// For each id the age in which it was noted, and the number.
    entries: Vec<(u32, u32)>,
    age: u32,
}

impl Default for Notes {
    fn default() -> Self {
        Notes {
            entries: Vec::new(),
            age: 1,
        }
    }
}

impl Notes {
    /// Forgets everything.
    pub(crate) fn forget(&mut self) {
        self.age = match self.age.checked_add(1) {
            Some(age) => age,
            None => {
                self.entries.clear();
                1
            }
        };
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<u32> {
        match self.entries.get(id as usize) {
            Some(&(age, value)) if age == self.age => Some(value),
            _ => None,
        }
    }

    /// Notes a number; tells whether there was none before.
    #[inline]
    pub(crate) fn set(&mut self, id: u32, value: u32) -> bool {
        let id = id as usize;
        if id >= self.entries.len() {
            self.entries.resize(id + 1, (0, 0));
        }
        let is_new = self.entries[id].0 != self.age;
        self.entries[id] = (self.age, value);
        is_new
    }

    pub(crate) fn remove(&mut self, id: u32) {
        if let Some(entry) = self.entries.get_mut(id as usize) {
            entry.0 = 0;
        }
    }

    /// Everything noted, in the order of the ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let is_now = |entry: &(usize, &(u32, u32))| entry.1.0 == self.age;
        self.entries
            .iter()
            .enumerate()
            .filter(is_now)
            .map(|(id, &(_, value))| (id as u32, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_not_found_and_can_be_noted_anew() {
        let mut notes = Notes::default();
        assert!(notes.set(3, 7));
        assert!(!notes.set(3, 8));
        assert_eq!(
            (notes.get(3), notes.get(2), notes.get(9)),
            (Some(8), None, None)
        );
        notes.forget();
        assert_eq!(notes.get(3), None);
        assert!(notes.set(3, 1));
        notes.remove(3);
        assert_eq!(notes.iter().count(), 0);
    }
}
