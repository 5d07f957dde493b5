//! A table for the page: numbers stay numbers, so that the page can round and sort them.

use paynter::table::Table;
use serde::Serialize;
use serde_json::{Value, json};

/// A table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sheet {
    /// Above it.
    pub title: String,
    /// Names of its columns, each with its unit.
    pub columns: Vec<(String, String)>,
    /// Numbers, texts, or nothing.
    pub rows: Vec<Vec<Value>>,
}

impl Sheet {
    /// Starts a table with columns, each `name` or `name [unit]`.
    pub fn new(title: &str, columns: &[&str]) -> Self {
        let split = |c: &&str| match c.strip_suffix(']').and_then(|c| c.split_once(" [")) {
            Some((name, unit)) => (name.to_owned(), unit.to_owned()),
            None => ((*c).to_owned(), String::new()),
        };
        Sheet {
            title: title.to_owned(),
            columns: columns.iter().map(split).collect(),
            rows: Vec::new(),
        }
    }

    /// Takes a table of the engine; its axis is the first column.
    pub fn of(title: &str, table: &Table) -> Self {
        let mut columns = vec![(table.axis_name().to_owned(), String::new())];
        columns.extend(
            table
                .columns
                .iter()
                .map(|c| (c.name.clone(), c.unit.clone())),
        );
        let row = |i: usize| {
            let first = std::iter::once(number(table.time[i]));
            first
                .chain(table.columns.iter().map(|c| number(c.values[i])))
                .collect()
        };
        Sheet {
            title: title.to_owned(),
            columns,
            rows: (0..table.time.len()).map(row).collect(),
        }
    }

    /// The place of a column.
    #[cfg(test)]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.0 == name)
    }
}

/// A number, or nothing where it is none.
pub fn number(x: f64) -> Value {
    match x.is_finite() {
        true => json!(x),
        false => Value::Null,
    }
}
