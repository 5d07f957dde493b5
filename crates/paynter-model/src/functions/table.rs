//! Tables: straight lines between given points.
//!
//! In:  `table([x…], [y…], u)`, or `table("file.csv", u, column = "name")`.
//! Out: an external function with its corners, so that the engine stops at them, and its slopes.
//!
//! Beyond the first and last point the end value holds. Two points with one x make a jump:
//! the value there is the later one (each piece owns its left end).
//!
//! **Invariant:** x never falls from one point to the next; all numbers are finite and SI.

use std::sync::Arc;

use paynter_symbolic::expr::{External, Recipe};
use paynter_syntax::Diagnostic;

use super::{Call, Dimensioned, FunctionRow, Refusal, Value, give};
use crate::code;
use crate::suggest::nearest;
use crate::units::{Dimension, Unit};

pub(super) const ROWS: &[FunctionRow] = &[FunctionRow {
    name: "table",
    parameters: &["x", "y?", "u?", "column?"],
    summary: "straight lines between points, from two vectors or a CSV file; ends hold",
    lower,
}];

/// Points joined by straight lines.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupTable {
    name: String,
    x: Vec<f64>,
    y: Vec<f64>,
    corners: Vec<f64>,
}

impl LookupTable {
    /// Makes a table.
    ///
    /// # Errors
    ///
    /// A sentence: too few points, vectors of different length, x that falls, a value that is
    /// not a finite number.
    pub fn new(name: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Result<Self, String> {
        if x.len() != y.len() {
            return Err(format!("there are {} x but {} y", x.len(), y.len()));
        }
        if x.is_empty() {
            return Err("there is no point".to_owned());
        }
        if let Some(at) = x
            .iter()
            .zip(&y)
            .position(|(x, y)| !x.is_finite() || !y.is_finite())
        {
            return Err(format!("point {} is not a finite number", at + 1));
        }
        if let Some(at) = x.windows(2).position(|w| w[1] < w[0]) {
            return Err(format!(
                "x falls from {} to {} at point {}",
                x[at],
                x[at + 1],
                at + 2
            ));
        }
        let corners = corners(&x, &y);
        Ok(LookupTable {
            name: name.into(),
            x,
            y,
            corners,
        })
    }

    /// The piece that holds u: `None` before the first and after the last point.
    fn piece(&self, u: f64) -> Option<usize> {
        // The first point beyond u: with equal x this passes all of them, so the later value wins.
        let after = self.x.partition_point(|&x| x <= u);
        (after > 0 && after < self.x.len()).then(|| after - 1)
    }

    fn slope(&self, piece: usize) -> f64 {
        (self.y[piece + 1] - self.y[piece]) / (self.x[piece + 1] - self.x[piece])
    }

    fn value(&self, u: f64) -> f64 {
        match self.piece(u) {
            Some(piece) => {
                // Weights that sum to one: exact at both ends, and never beyond them.
                let part = (u - self.x[piece]) / (self.x[piece + 1] - self.x[piece]);
                self.y[piece] * (1.0 - part) + self.y[piece + 1] * part
            }
            None if u < self.x[0] => self.y[0],
            None => *self.y.last().expect("a table has a point"),
        }
    }
}

/// Where the line bends or jumps.
fn corners(x: &[f64], y: &[f64]) -> Vec<f64> {
    // Points that lie on one line to rounding do not bend it: stopping there costs steps.
    const STRAIGHT: f64 = 1e-12;
    let mut corners = Vec::new();
    let piece_slope = |i: usize| (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
    for i in 0..x.len() {
        let before = if i == 0 { 0.0 } else { piece_slope(i - 1) };
        let after = if i + 1 == x.len() {
            0.0
        } else {
            piece_slope(i)
        };
        // A vertical piece has an infinite slope or, without a jump, none.
        let jumps = !before.is_finite() || !after.is_finite();
        let bends = (after - before).abs() > STRAIGHT * before.abs().max(after.abs());
        if (jumps || bends) && corners.last() != Some(&x[i]) {
            corners.push(x[i]);
        }
    }
    corners
}

/// The name of tables whose points are in the text.
const OF_VECTORS: &str = "table";

/// A vector as it is written, the middle of a long one left out.
fn vector(numbers: &[f64]) -> String {
    const MOST: usize = 12;
    let text = |x: &f64| crate::units::format_number(*x);
    let shown: Vec<String> = if numbers.len() <= MOST {
        numbers.iter().map(text).collect()
    } else {
        let (first, last) = (&numbers[..MOST / 2], &numbers[numbers.len() - 2..]);
        let first = first.iter().map(text);
        let last = last.iter().map(text);
        first.chain(["…".to_owned()]).chain(last).collect()
    };
    format!("[{}]", shown.join(", "))
}

impl External for LookupTable {
    fn name(&self) -> &str {
        &self.name
    }

    fn written(&self) -> (String, Vec<String>) {
        let fixed = if self.name == OF_VECTORS {
            vec![vector(&self.x), vector(&self.y)]
        } else {
            vec![format!("{:?}", self.name)]
        };
        ("table".to_owned(), fixed)
    }

    fn n_inputs(&self) -> usize {
        1
    }

    fn n_outputs(&self) -> usize {
        1
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        if inputs[0].is_nan() {
            return Err(format!("the argument of `{}` is not a number", self.name));
        }
        outputs[0] = self.value(inputs[0]);
        Ok(())
    }

    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        slopes[0] = self.piece(inputs[0]).map_or(0.0, |piece| self.slope(piece));
        Ok(())
    }

    fn recipe(&self) -> Recipe<'_> {
        Recipe::Table {
            x: &self.x,
            y: &self.y,
        }
    }

    fn corners(&self) -> &[f64] {
        &self.corners
    }

    fn range(&self, lo: f64, hi: f64) -> Option<[(f64, f64); 2]> {
        // Points after the beginning, and the values at both ends: between them the lines are straight.
        let first = self.x.partition_point(|&x| x <= lo);
        let after = self.x.partition_point(|&x| x <= hi);
        let mut value = (f64::INFINITY, f64::NEG_INFINITY);
        let inside = self.y.get(first..after).unwrap_or_default().iter().copied();
        for y in inside.chain([self.value(lo), self.value(hi)]) {
            value = (value.0.min(y), value.1.max(y));
        }
        // The piece that ends at each point met, and the one after the last; before the first and after the last
        // point the line is flat.
        let mut slope = (f64::INFINITY, f64::NEG_INFINITY);
        for end in first..=after.max(first) {
            let is_piece = end > 0 && end < self.x.len();
            let here = if is_piece { self.slope(end - 1) } else { 0.0 };
            if !here.is_finite() {
                slope = (f64::NEG_INFINITY, f64::INFINITY);
                break;
            }
            slope = (slope.0.min(here), slope.1.max(here));
        }
        // Interpolation rounds.
        let margin = 4.0 * f64::EPSILON * value.0.abs().max(value.1.abs());
        Some([(value.0 - margin, value.1 + margin), slope])
    }
}

// ---------------------------------------------------------------------------------------
// Calls
// ---------------------------------------------------------------------------------------

fn lower(call: &mut Call) -> Result<Value, Refusal> {
    let (table, x_dimension, y_dimension, u_slot) = match call.slots[0].map(|a| &a.value) {
        Some(Value::Text(path)) => {
            let (table, x, y) = from_file(call, path)?;
            // `table("f.csv", u)`: the second argument is u; `u = …` by name works too.
            let slot = if call.is_given(1) { 1 } else { 2 };
            (table, x, y, slot)
        }
        _ => {
            let (table, x, y) = from_vectors(call)?;
            (table, x, y, 2)
        }
    };

    let u = match (call.is_given(u_slot), call.context.time) {
        (true, _) => match x_dimension {
            Some(dimension) => call.number_in(u_slot, dimension)?,
            None => call.number(u_slot)?,
        },
        (false, Some(time)) => match x_dimension {
            Some(found) if Some(found) != time.dimension && time.dimension.is_some() => {
                return Err(call.wrong_unit(0, found, Dimension::TIME, None));
            }
            _ => time,
        },
        (false, None) => return Err(call.wrong_shape(u_slot, "a number")),
    };

    let pool = call.pool();
    let function = pool.add_external(Arc::new(table));
    let expr = pool.call_external(function, &[u.expr], 0);
    give(expr, y_dimension)
}

type WithDimensions = (LookupTable, Option<Dimension>, Option<Dimension>);

fn from_vectors(call: &mut Call) -> Result<WithDimensions, Refusal> {
    let read = |slot: usize| {
        let entries = call.vector(slot)?;
        let mut dimension: Option<Dimension> = None;
        let mut numbers = Vec::with_capacity(entries.len());
        for Dimensioned {
            expr,
            dimension: found,
        } in entries
        {
            let Some(number) = call.context.pool.as_number(expr) else {
                return Err(call.refuse(
                    code::TABLE_DATA,
                    "the points of a table must be numbers".to_owned(),
                    slot,
                    "this changes, or follows from a parameter that may change".to_owned(),
                ));
            };
            match (dimension, found) {
                (Some(expected), Some(found)) if expected != found => {
                    return Err(call.wrong_unit(slot, found, expected, None));
                }
                (None, found) => dimension = found,
                _ => {}
            }
            numbers.push(number);
        }
        Ok((numbers, dimension))
    };

    let (x, x_dimension) = read(0)?;
    let (y, y_dimension) = read(1)?;
    let table = LookupTable::new(OF_VECTORS, x, y).map_err(|why| bad_data(call, why))?;
    Ok((table, x_dimension, y_dimension))
}

fn bad_data(call: &Call, why: String) -> Refusal {
    call.refuse(
        code::TABLE_DATA,
        "these points do not make a table".to_owned(),
        0,
        why,
    )
}

fn from_file(call: &mut Call, path: &str) -> Result<WithDimensions, Refusal> {
    let text = (call.context.read_file)(path).map_err(|why| {
        Box::new(
            Diagnostic::error(code::TABLE_FILE, format!("cannot read the table `{path}`"))
                .primary(call.span(0), why),
        )
    })?;
    let csv = Csv::read(&text).map_err(|why| bad_data(call, why))?;
    let column = match call.slots[3].map(|a| &a.value) {
        None => 1,
        Some(Value::Text(name)) => csv.column(name).ok_or_else(|| {
            let message =
                Diagnostic::error(code::TABLE_DATA, format!("`{path}` has no column `{name}`"))
                    .primary(call.span(3), "not in the first line of the file");
            Box::new(
                match nearest(name, csv.headers.iter().map(|h| h.name.as_str())) {
                    Some(meant) => message.help(format!("did you mean `{meant}`?")),
                    None => message,
                },
            )
        })?,
        Some(_) => return Err(call.wrong_shape(3, "a string, such as \"theta\"")),
    };

    if column >= csv.headers.len() {
        return Err(bad_data(call, "the file has one column only".to_owned()));
    }
    let read = |column: usize| -> Vec<f64> {
        let unit = csv.headers[column].unit.as_ref();
        let numbers = csv.rows.iter().map(|row| row[column]);
        numbers
            .map(|x| unit.map_or(x, |unit| unit.to_si(x)))
            .collect()
    };

    let dimension = |column: usize| csv.headers[column].unit.as_ref().map(|u| u.dimension);
    let table = LookupTable::new(path, read(0), read(column)).map_err(|why| bad_data(call, why))?;
    Ok((table, dimension(0), dimension(column)))
}

/// A file of numbers: an optional line of names, `theta [deg]` with a unit, then rows.
struct Csv {
    headers: Vec<Header>,
    rows: Vec<Vec<f64>>,
}

struct Header {
    name: String,
    unit: Option<Unit>,
}

impl Csv {
    fn read(text: &str) -> Result<Csv, String> {
        let mut headers: Vec<Header> = Vec::new();
        let mut rows = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim_start_matches('\u{feff}').trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let separator = if line.contains(';') { ';' } else { ',' };
            let cells: Vec<&str> = line
                .split(separator)
                .map(|c| c.trim().trim_matches('"'))
                .collect();
            let numbers: Option<Vec<f64>> = cells.iter().map(|c| c.parse().ok()).collect();
            match numbers {
                Some(numbers) => {
                    if headers.is_empty() {
                        let unnamed = |_| Header {
                            name: String::new(),
                            unit: None,
                        };
                        headers = numbers.iter().map(unnamed).collect();
                    }
                    if numbers.len() != headers.len() {
                        return Err(format!(
                            "line {} has {} columns instead of {}",
                            at + 1,
                            numbers.len(),
                            headers.len()
                        ));
                    }
                    rows.push(numbers);
                }
                None if headers.is_empty() => {
                    let bare: Vec<&str> = line.split(separator).map(str::trim).collect();
                    no_numbers(&bare, at + 1)?;
                    headers = cells
                        .iter()
                        .map(|c| Header::read(c))
                        .collect::<Result<_, _>>()?;
                }
                None => return Err(format!("line {} is not a row of numbers", at + 1)),
            }
        }
        Ok(Csv { headers, rows })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.headers.iter().position(|h| h.name == name)
    }
}

/// Refuses a first line that mixes names and numbers: taken for names, a broken row would be lost.
fn no_numbers(cells: &[&str], line: usize) -> Result<(), String> {
    let is_number =
        |c: &&&str| c.parse::<f64>().is_ok() && c.contains(|c: char| c.is_ascii_digit());
    let Some(number) = cells.iter().find(is_number) else {
        return Ok(());
    };
    let word = cells.iter().find(|c| c.parse::<f64>().is_err());
    Err(format!(
        "line {line} is neither a row of numbers nor a line of names: it has `{number}` beside `{}`",
        word.unwrap_or(&"")
    ))
}

impl Header {
    fn read(cell: &str) -> Result<Header, String> {
        let Some((name, rest)) = cell.split_once('[') else {
            return Ok(Header {
                name: cell.to_owned(),
                unit: None,
            });
        };
        let text = rest.trim_end().trim_end_matches(']');
        let unit =
            Unit::parse_text(text).map_err(|_| format!("`{text}` in the first line is no unit"))?;
        Ok(Header {
            name: name.trim().to_owned(),
            unit: Some(unit),
        })
    }
}
