//! The last run as a file, and the units its curves can be shown in.
//!
//! In:  the table and pictures of a run; a unit.
//! Out: a frame with the bytes of a file; units of the same dimension with what turns numbers into them.

use paynter::draw::plot::Plot;
use paynter::model::units::Unit;
use paynter::table::Table;
use serde::Deserialize;
use serde_json::{Value, json};

/// What a run can be saved as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// All recorded columns, all points.
    Csv,
    /// The same.
    Parquet,
    /// The pictures of the experiment.
    Svg,
}

/// Makes the file: its name's ending and its bytes.
///
/// # Errors
///
/// What the run does not have.
pub fn file(format: Format, table: &Table, plots: &[Plot]) -> Result<Vec<u8>, String> {
    match format {
        Format::Csv => Ok(table.to_csv().into_bytes()),
        Format::Parquet => table.to_parquet(),
        Format::Svg => match plots {
            [] => Err("the experiment has no plot".to_owned()),
            [only] => Ok(only.to_svg().into_bytes()),
            [first, ..] => {
                let panels = plots.iter().flat_map(|p| p.panels.clone()).collect();
                let all = Plot {
                    title: first.title.clone(),
                    panels,
                };
                Ok(all.to_svg().into_bytes())
            }
        },
    }
}

/// Writes the frame of a file: u32 length of the head, the head, filled up to 8 bytes, then the bytes.
pub fn file_frame(format: Format, name: &str, bytes: &[u8]) -> Vec<u8> {
    let (ending, kind) = match format {
        Format::Csv => ("csv", "text/csv"),
        Format::Parquet => ("parquet", "application/vnd.apache.parquet"),
        Format::Svg => ("svg", "image/svg+xml"),
    };
    let head = json!({ "purpose": "file", "name": format!("{name}.{ending}"), "kind": kind, "n": bytes.len(), "panels": [] });
    let mut all = crate::frame::frame(&head, &[]);
    all.extend(bytes);
    all
}

/// Units that people ask for; those of another dimension are left out by the engine's own reading.
const ASKED: &[&str] = &[
    "m", "mm", "cm", "km", "um", "in", "ft", "rad", "deg", "rev", "m/s", "km/h", "mm/s", "ft/s",
    "rad/s", "deg/s", "rpm", "Hz", "m/s^2", "rad/s^2", "deg/s^2", "N", "kN", "mN", "lbf", "N*m",
    "mN*m", "kN*m", "Pa", "kPa", "bar", "MPa", "psi", "V", "mV", "kV", "A", "mA", "uA", "W", "mW",
    "kW", "J", "mJ", "kJ", "kW*h", "K", "degC", "s", "ms", "us", "min", "h", "kg", "g", "kg/s",
    "m^3/s", "L/min", "m^3", "L", "ohm", "kohm", "F", "uF", "H", "mH", "C", "Wb", "N*s", "N*m*s",
    "1", "%",
];

/// Lists units of the dimension of this one, each with factor and offset: shown = (value·factor + offset).
pub fn units(text: &str) -> Vec<Value> {
    let Ok(own) = Unit::parse_text(if text.is_empty() { "1" } else { text }) else {
        return Vec::new();
    };
    let alike = ASKED.iter().filter_map(|name| {
        let unit = Unit::parse_text(name).ok()?;
        (unit.dimension == own.dimension).then_some((*name, unit))
    });
    let shown = |(name, unit): (&str, Unit)| {
        // Both ways are straight lines: two points tell them.
        let at = |x: f64| unit.from_si(own.to_si(x));
        json!({ "unit": if name == "1" { "" } else { name }, "factor": at(1.0) - at(0.0), "offset": at(0.0) })
    };
    alike.map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(from: &str, to: &str) -> (f64, f64) {
        let all = units(from);
        let found = all.iter().find(|u| u["unit"] == to).expect(to);
        (
            found["factor"].as_f64().expect("a number"),
            found["offset"].as_f64().expect("a number"),
        )
    }

    #[test]
    fn units_of_one_dimension_are_offered_with_their_factors() {
        assert!((one("m", "mm").0 - 1000.0).abs() < 1e-9);
        assert!((one("deg", "rad").0 - std::f64::consts::PI / 180.0).abs() < 1e-12);
        let (factor, offset) = one("K", "degC");
        assert!((factor - 1.0).abs() < 1e-9 && (offset + 273.15).abs() < 1e-9);
        assert!(units("m").iter().all(|u| u["unit"] != "N"));
        assert!(units("no such unit").is_empty());
    }

    #[test]
    fn a_table_is_saved_whole() {
        let table = Table {
            time: vec![0.0, 1.0],
            columns: vec![paynter::table::Column {
                name: "x".to_owned(),
                unit: "m".to_owned(),
                values: vec![1.0, 2.5],
            }],
            ..Table::default()
        };
        let csv = file(Format::Csv, &table, &[]).expect("a file");
        assert!(String::from_utf8_lossy(&csv).contains("2.5"));
        let parquet = file(Format::Parquet, &table, &[]).expect("a file");
        assert_eq!(&parquet[..4], b"PAR1");
        assert!(file(Format::Svg, &table, &[]).is_err());
        let framed = file_frame(Format::Parquet, "x", &parquet);
        assert!(framed.ends_with(&parquet));
    }
}
