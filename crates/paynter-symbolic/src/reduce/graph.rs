//! Which equation mentions which unknown, as lists in one array.
//!
//! In:  rows pushed one after the other.
//! Out: slices of column numbers.
//!
//! **Invariant:** a row once pushed never changes.

/// No row, no column.
pub(crate) const NONE: u32 = u32::MAX;

/// Rows of column numbers.
#[derive(Clone, Debug)]
pub(crate) struct Incidence {
    starts: Vec<u32>,
    columns: Vec<u32>,
}

impl Default for Incidence {
    fn default() -> Self {
        Incidence {
            starts: vec![0],
            columns: Vec::new(),
        }
    }
}

impl Incidence {
    /// Appends a row.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        self.columns.extend(row);
        self.starts
            .push(u32::try_from(self.columns.len()).expect("fewer than 2^32 incidences"));
    }

    /// Counts the rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Gives the columns of a row.
    pub(crate) fn row(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.columns[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// Makes the rows of columns: for each column the rows that mention it.
    pub(crate) fn transposed(&self, n_columns: usize) -> Incidence {
        let mut starts = vec![0u32; n_columns + 1];
        for &c in &self.columns {
            starts[c as usize + 1] += 1;
        }
        for c in 0..n_columns {
            starts[c + 1] += starts[c];
        }
        let mut next = starts.clone();
        let mut columns = vec![0; self.columns.len()];
        for r in 0..self.n_rows() as u32 {
            for &c in self.row(r) {
                let place = &mut next[c as usize];
                columns[*place as usize] = r;
                *place += 1;
            }
        }
        Incidence { starts, columns }
    }
}

/// A set of small numbers that is emptied in no time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    stamps: Vec<u32>,
    generation: u32,
}

impl Marks {
    /// Empties the set and makes room for numbers below `n`.
    pub(crate) fn restart(&mut self, n: usize) {
        if self.generation == u32::MAX {
            self.stamps.fill(0);
            self.generation = 0;
        }
        self.generation += 1;
        if self.stamps.len() < n {
            self.stamps.resize(n, 0);
        }
    }

    /// Adds a number; tells whether it is new.
    pub(crate) fn add(&mut self, i: u32) -> bool {
        let stamp = &mut self.stamps[i as usize];
        let is_new = *stamp != self.generation;
        *stamp = self.generation;
        is_new
    }

    /// Tells whether a number is in the set.
    pub(crate) fn has(&self, i: u32) -> bool {
        self.stamps.get(i as usize) == Some(&self.generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_twice_gives_the_same_rows() {
        let mut a = Incidence::default();
        a.push([0, 2]);
        a.push([]);
        a.push([1, 2]);
        let twice = a.transposed(3).transposed(a.n_rows());
        for r in 0..3 {
            assert_eq!(a.row(r), twice.row(r));
        }
        assert_eq!(a.transposed(3).row(2), [0, 2]);
    }
}
