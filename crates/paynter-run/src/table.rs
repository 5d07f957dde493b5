//! Results as columns over time, and the files they live in.
//!
//! In:  columns of numbers with names and units, or a file.
//! Out: CSV, JSON or Parquet by the ending of the file name, and back.
//!
//! **Invariant:** all columns are as long as `time`; numbers survive a round trip bit for bit.

use paynter_design::loader::{Sort, read_bytes};
use paynter_design::output::{FileError, Staged, can_write, write_whole};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The fact of a result that holds the times of its state events, in s, with spaces between.
pub const EVENT_TIMES: &str = "event_times";

/// One recorded column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Its name in the file.
    pub name: String,
    /// The unit its numbers are in; empty for SI or none.
    pub unit: String,
    /// One number per time.
    pub values: Vec<f64>,
}

/// Columns over time, or over the points of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Name of the first column; empty means `time`.
    pub axis: String,
    /// Times in seconds, never falling; or numbers of points.
    pub time: Vec<f64>,
    /// In the order in which they were recorded.
    pub columns: Vec<Column>,
    /// Facts about the run: model hash, method, tolerances, counters.
    pub metadata: Vec<(String, String)>,
}

/// Why a table could not be read or written.
pub type TableError = FileError;

impl Table {
    /// Name of the first column.
    pub fn axis_name(&self) -> &str {
        if self.axis.is_empty() {
            "time"
        } else {
            &self.axis
        }
    }

    /// Finds a column by name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// Writes a file; its ending (.csv, .json, .parquet) chooses the format.
    ///
    /// A CSV holds nothing but the table; its metadata goes to `NAME.meta.json` beside it.
    ///
    /// # Errors
    ///
    /// An ending that is none of these, or a file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), TableError> {
        let fail = |message: String| TableError {
            file: path.display().to_string(),
            message,
        };
        match ending(path).as_str() {
            "csv" => self.write_csv(path),
            "json" => write_whole(path, self.to_json().to_string().as_bytes()),
            "parquet" => {
                let bytes = self.to_parquet().map_err(fail)?;
                write_whole(path, &bytes)
            }
            other => Err(fail(format!(
                "unknown ending `.{other}`; use .csv, .json or .parquet"
            ))),
        }
    }

    /// Tells whether [`Table::write`] will be able to write there, before hours are spent on what to write.
    ///
    /// Leaves nothing behind.
    ///
    /// # Errors
    ///
    /// An ending that is not known, a folder that cannot be made, a file that cannot be written.
    pub fn can_write(path: &Path) -> Result<(), TableError> {
        if !["csv", "json", "parquet"].contains(&ending(path).as_str()) {
            return Table::default().write(path);
        }
        can_write(path)
    }

    /// Writes a CSV, and beside it what a CSV cannot hold.
    ///
    /// At no time is there a `meta.json` beside a CSV that it does not describe: units would be read
    /// from it.
    fn write_csv(&self, path: &Path) -> Result<(), TableError> {
        let side = meta_path(path);
        let table = Staged::new(path, self.to_csv().as_bytes())?;
        let facts = Staged::new(&side, self.metadata_json().to_string().as_bytes())?;
        facts.remove_old()?;
        table.put()?;
        facts.put()
    }

    /// Reads a file written by [`Table::write`], or any CSV with numbers whose first column is time.
    ///
    /// # Errors
    ///
    /// A missing file, or one that is not a table of numbers.
    pub fn read(path: &Path) -> Result<Table, TableError> {
        let fail = |message: String| TableError {
            file: path.display().to_string(),
            message,
        };
        let bytes = read_bytes(path, Sort::Any).map_err(fail)?;
        let mut table = Table::from_bytes(&path.display().to_string(), &bytes).map_err(fail)?;
        let side = meta_path(path);
        if ending(path) == "csv"
            && let Ok(bytes) = read_bytes(&side, Sort::Regular)
        {
            table.add_metadata(&bytes).map_err(|message| TableError {
                file: side.display().to_string(),
                message,
            })?;
        }
        Ok(table)
    }

    /// Reads the bytes of a table; the ending of its name tells the format.
    ///
    /// # Errors
    ///
    /// Why they are not a table of numbers.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Table, String> {
        match ending(Path::new(name)).as_str() {
            "json" => Table::from_json(bytes),
            "parquet" => Table::from_parquet(bytes.to_vec()),
            _ => {
                let text = std::str::from_utf8(bytes).map_err(|_| "not a text file")?;
                Table::from_csv(text)
            }
        }
    }

    /// Takes units and facts from the file beside a CSV.
    fn add_metadata(&mut self, bytes: &[u8]) -> Result<(), String> {
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        let facts = value
            .as_object()
            .ok_or("this JSON does not describe a result of paynter")?;
        for (key, value) in facts {
            match value {
                serde_json::Value::Object(units) if key == "units" => {
                    for column in &mut self.columns {
                        if let Some(unit) = units.get(&column.name).and_then(|u| u.as_str()) {
                            column.unit = unit.to_owned();
                        }
                    }
                }
                value => self
                    .metadata
                    .extend(fact_text(value).map(|text| (key.clone(), text))),
            }
        }
        Ok(())
    }

    /// Finds a fact about the run.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.metadata
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, v)| v.as_str())
    }

    /// Prints as CSV: `time` first, then the columns, with digits that read back to the same bits.
    pub fn to_csv(&self) -> String {
        let mut out = self.axis_name().to_owned();
        for column in &self.columns {
            out.push(',');
            out.push_str(&csv_name(&column.name));
        }
        out.push('\n');
        for (row, t) in self.time.iter().enumerate() {
            let _ = write!(out, "{t:?}");
            for column in &self.columns {
                let _ = write!(out, ",{:?}", column.values[row]);
            }
            out.push('\n');
        }
        out
    }

    /// Reads CSV. Lines that start with `#` are skipped; the first column is time.
    ///
    /// # Errors
    ///
    /// What is wrong and in which line.
    pub fn from_csv(text: &str) -> Result<Table, String> {
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'));
        let (_, header) = lines.next().ok_or("the file is empty")?;
        let names = split_csv(header);
        if names.iter().all(|n| n.trim().parse::<f64>().is_ok()) {
            return Err("the first line has no column names".to_owned());
        }

        // Quotes make a number a name; without them a broken row would be taken for names, and lost.
        let mut bare = header.split(',').map(str::trim);
        let is_number =
            |c: &&str| c.parse::<f64>().is_ok() && c.contains(|c: char| c.is_ascii_digit());
        if let Some(number) = bare.find(is_number) {
            return Err(format!(
                "the first line is neither a row of numbers nor a line of names: it has `{number}` beside words"
            ));
        }

        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        for (number, line) in lines {
            let cells = split_csv(line);
            if cells.len() != names.len() {
                return Err(format!(
                    "line {} has {} numbers, the header has {} names",
                    number + 1,
                    cells.len(),
                    names.len()
                ));
            }
            for (column, cell) in columns.iter_mut().zip(&cells) {
                let value = cell.trim().parse().map_err(|_| {
                    format!("line {}: `{}` is not a number", number + 1, cell.trim())
                })?;
                column.push(value);
            }
        }

        let names_first = names
            .first()
            .map(|n| n.trim().to_owned())
            .unwrap_or_default();
        let mut columns = columns.into_iter();
        let time = columns.next().unwrap_or_default();
        let columns = names
            .into_iter()
            .skip(1)
            .zip(columns)
            .map(|(name, values)| Column {
                name: name.trim().to_owned(),
                unit: String::new(),
                values,
            })
            .collect();

        Ok(Table {
            axis: names_first,
            time,
            columns,
            metadata: Vec::new(),
        })
    }

    fn metadata_json(&self) -> serde_json::Value {
        let mut map = serde_json::Map::new();
        for (key, value) in &self.metadata {
            map.insert(key.clone(), fact_json(key, value));
        }
        let units: serde_json::Map<String, serde_json::Value> = self
            .columns
            .iter()
            .map(|c| (c.name.clone(), c.unit.clone().into()))
            .collect();
        map.insert("units".to_owned(), units.into());
        map.into()
    }

    /// Prints as JSON. Numbers that are not finite are written as strings, since JSON has none.
    pub fn to_json(&self) -> serde_json::Value {
        let numbers = |values: &[f64]| -> serde_json::Value {
            values
                .iter()
                .map(|&x| json_number(x))
                .collect::<Vec<_>>()
                .into()
        };
        let columns: Vec<serde_json::Value> = self
            .columns
            .iter()
            .map(|c| serde_json::json!({ "name": c.name, "unit": c.unit, "values": numbers(&c.values) }))
            .collect();
        serde_json::json!({
            "axis": self.axis_name(),
            "time": numbers(&self.time),
            "columns": columns,
            "metadata": self.metadata_json(),
        })
    }

    fn from_json(bytes: &[u8]) -> Result<Table, String> {
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        let numbers = |v: &serde_json::Value| -> Option<Vec<f64>> {
            v.as_array()?
                .iter()
                .map(|x| x.as_f64().or_else(|| x.as_str()?.parse().ok()))
                .collect()
        };

        let not_one = || "this JSON is not a result of paynter".to_owned();
        let time = value.get("time").and_then(numbers).ok_or_else(not_one)?;
        let mut columns = Vec::new();
        for c in value
            .get("columns")
            .and_then(|c| c.as_array())
            .ok_or_else(not_one)?
        {
            let name = c
                .get("name")
                .and_then(|n| n.as_str())
                .ok_or_else(not_one)?
                .to_owned();
            let unit = c
                .get("unit")
                .and_then(|n| n.as_str())
                .unwrap_or("")
                .to_owned();
            let values = c.get("values").and_then(numbers).ok_or_else(not_one)?;
            if values.len() != time.len() {
                return Err(format!("column `{name}` is not as long as time"));
            }
            columns.push(Column { name, unit, values });
        }

        let metadata = value
            .get("metadata")
            .and_then(|m| m.as_object())
            .map(|m| {
                m.iter()
                    .filter_map(|(k, v)| Some((k.clone(), fact_text(v)?)))
                    .collect()
            })
            .unwrap_or_default();

        let axis = value
            .get("axis")
            .and_then(|a| a.as_str())
            .unwrap_or("time")
            .to_owned();

        Ok(Table {
            axis,
            time,
            columns,
            metadata,
        })
    }

    /// The bytes of a Parquet file.
    ///
    /// # Errors
    ///
    /// What the format cannot hold.
    pub fn to_parquet(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        self.write_parquet(&mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes)
    }

    fn write_parquet(&self, out: &mut Vec<u8>) -> Result<(), parquet::errors::ParquetError> {
        use parquet::basic::{Compression, Repetition, Type as PhysicalType};
        use parquet::data_type::DoubleType;
        use parquet::file::metadata::KeyValue;
        use parquet::file::properties::WriterProperties;
        use parquet::file::writer::SerializedFileWriter;
        use parquet::schema::types::Type;

        let names =
            std::iter::once(self.axis_name()).chain(self.columns.iter().map(|c| c.name.as_str()));
        let fields = names
            .map(|name| {
                Type::primitive_type_builder(name, PhysicalType::DOUBLE)
                    .with_repetition(Repetition::REQUIRED)
                    .build()
                    .map(Arc::new)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(
            Type::group_type_builder("paynter")
                .with_fields(fields)
                .build()?,
        );
        let mut facts: Vec<KeyValue> = self
            .metadata
            .iter()
            .map(|(k, v)| KeyValue::new(k.clone(), v.clone()))
            .collect();
        facts.extend(
            self.columns
                .iter()
                .map(|c| KeyValue::new(format!("unit:{}", c.name), c.unit.clone())),
        );
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(facts))
            .build();
        let mut file = SerializedFileWriter::new(&mut *out, schema, Arc::new(properties))?;
        let mut group = file.next_row_group()?;
        for values in std::iter::once(&self.time).chain(self.columns.iter().map(|c| &c.values)) {
            let mut column = group
                .next_column()?
                .expect("one column for each field of the schema");
            column
                .typed::<DoubleType>()
                .write_batch(values, None, None)?;
            column.close()?;
        }
        group.close()?;
        file.close()?;
        Ok(())
    }

    fn from_parquet(bytes: Vec<u8>) -> Result<Table, String> {
        use parquet::file::reader::{FileReader, SerializedFileReader};
        use parquet::record::RowAccessor;

        let reader =
            SerializedFileReader::new(bytes::Bytes::from(bytes)).map_err(|e| e.to_string())?;
        let file = reader.metadata().file_metadata();
        let fields = file.schema_descr().columns().iter();
        let names: Vec<String> = fields.map(|c| c.name().to_owned()).collect();
        let Some(axis) = names.first().cloned() else {
            return Err("the file has no columns".to_owned());
        };
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        for row in reader.get_row_iter(None).map_err(|e| e.to_string())? {
            let row = row.map_err(|e| e.to_string())?;
            for (index, column) in columns.iter_mut().enumerate() {
                column.push(row.get_double(index).map_err(|e| e.to_string())?);
            }
        }

        // Units and facts are both kept as words beside the columns.
        let words: Vec<(String, String)> = file
            .key_value_metadata()
            .into_iter()
            .flatten()
            .map(|f| (f.key.clone(), f.value.clone().unwrap_or_default()))
            .collect();
        let unit_of = |name: &str| {
            let key = format!("unit:{name}");
            let found = words.iter().find(|(k, _)| *k == key);
            found.map(|(_, unit)| unit.clone()).unwrap_or_default()
        };
        let mut columns = columns.into_iter();
        let time = columns.next().unwrap_or_default();
        let columns = names
            .iter()
            .skip(1)
            .zip(columns)
            .map(|(name, values)| Column {
                name: name.clone(),
                unit: unit_of(name),
                values,
            })
            .collect();
        let is_fact = |word: &&(String, String)| !word.0.starts_with("unit:");
        let metadata = words.iter().filter(is_fact).cloned().collect();
        Ok(Table {
            axis,
            time,
            columns,
            metadata,
        })
    }
}

fn ending(path: &Path) -> String {
    path.extension()
        .map(|e| e.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default()
}

/// The file that holds units and facts of a CSV.
pub fn meta_path(csv: &Path) -> PathBuf {
    csv.with_extension("csv.meta.json")
}

/// Facts that are words even where they look like numbers.
const WORDS: [&str; 5] = [
    "generator",
    "model",
    "model_hash",
    "sweep_hash",
    "experiment",
];

/// A fact as JSON: a number where it is one, a list where it is a list of numbers.
fn fact_json(key: &str, text: &str) -> serde_json::Value {
    let number = |text: &str| match serde_json::from_str(text) {
        Ok(serde_json::Value::Number(number)) => Some(serde_json::Value::Number(number)),
        _ => None,
    };
    let is_word = WORDS.contains(&key) || key.starts_with("failure of point");
    if is_word {
        return text.into();
    }
    let list = || {
        let entries: Option<Vec<_>> = text.split(' ').map(number).collect();
        entries.filter(|_| key == EVENT_TIMES)
    };
    match (list(), number(text)) {
        (Some(entries), _) => entries.into(),
        (None, Some(number)) => number,
        (None, None) => text.into(),
    }
}

/// A fact as it is kept: numbers with the digits they were written with.
fn fact_text(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(number) => Some(number.to_string()),
        serde_json::Value::Array(entries) => {
            let texts: Option<Vec<String>> = entries.iter().map(fact_text).collect();
            texts.map(|t| t.join(" "))
        }
        _ => None,
    }
}

fn json_number(x: f64) -> serde_json::Value {
    serde_json::Number::from_f64(x).map_or_else(|| format!("{x}").into(), Into::into)
}

fn csv_name(name: &str) -> String {
    if name.contains([',', '"', '\n']) || name.parse::<f64>().is_ok() {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

/// Splits one line at commas outside quotes.
fn split_csv(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut chars = line.trim_end_matches('\r').chars().peekable();
    while let Some(c) = chars.next() {
        let cell = cells.last_mut().expect("there is always a last cell");
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cell.push(c),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn sample() -> Table {
        Table {
            axis: "time".into(),
            time: vec![0.0, 0.1, 1.0 / 3.0],
            columns: vec![
                Column {
                    name: "a.e".into(),
                    unit: "V".into(),
                    values: vec![1e-300, -0.1, std::f64::consts::PI],
                },
                Column {
                    name: "odd, \"name\"".into(),
                    unit: String::new(),
                    values: vec![1.0, 2.0, 1e22],
                },
            ],
            metadata: vec![
                ("method".into(), "dop853".into()),
                ("rtol".into(), "1e-6".into()),
                ("steps".into(), "120".into()),
                ("model_hash".into(), "0012345678901234".into()),
                (EVENT_TIMES.into(), "0.1 0.30000000000000004".into()),
            ],
        }
    }

    #[test]
    fn numbers_survive_every_format_bit_for_bit() {
        let folder = std::env::temp_dir().join(format!("paynter-table-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder can be made");
        for ending in ["csv", "json", "parquet"] {
            let path = folder.join(format!("t.{ending}"));
            sample().write(&path).expect("writable");
            let back = Table::read(&path).expect("readable");
            assert_eq!(back.time, sample().time, "{ending}");
            for (a, b) in back.columns.iter().zip(&sample().columns) {
                assert_eq!((&a.name, &a.values), (&b.name, &b.values), "{ending}");
                assert_eq!(a.unit, b.unit, "{ending}");
            }
            for (key, value) in &sample().metadata {
                assert_eq!(back.fact(key), Some(value.as_str()), "{ending}");
            }
        }
        fs::remove_dir_all(folder).expect("made above");
    }

    #[test]
    fn facts_that_are_numbers_are_written_as_numbers() {
        let facts = sample().metadata_json();
        assert_eq!(facts["rtol"], serde_json::json!(1e-6));
        assert_eq!(facts["steps"], serde_json::json!(120));
        assert_eq!(facts["method"], "dop853");
        assert_eq!(facts["model_hash"], "0012345678901234");
        assert_eq!(
            facts[EVENT_TIMES][1],
            serde_json::json!(0.30000000000000004)
        );
    }

    #[test]
    fn a_broken_first_row_is_not_taken_for_names() {
        for text in ["0,n/a\n1,1\n2,2\n", "n/a,0\n1,1\n"] {
            let why = Table::from_csv(text).expect_err("a row is broken");
            assert!(why.contains("neither a row of numbers nor"), "{why}");
        }
        // A name that is a number is in quotes, and is written so.
        let table = Table::from_csv("t,\"2\"\n0,1\n").expect("names");
        assert_eq!(table.columns[0].name, "2");
        assert_eq!(table.to_csv(), "t,\"2\"\n0.0,1.0\n");
    }

    #[test]
    fn a_file_that_is_not_a_table_is_explained() {
        assert_eq!(
            Table::from_csv("").expect_err("it is not a table"),
            "the file is empty"
        );
        assert_eq!(
            Table::from_csv("t,x\n0,1\n1\n").expect_err("it is not a table"),
            "line 3 has 1 numbers, the header has 2 names"
        );
        assert_eq!(
            Table::from_csv("t,x\n0,abc\n").expect_err("it is not a table"),
            "line 2: `abc` is not a number"
        );
    }
}
