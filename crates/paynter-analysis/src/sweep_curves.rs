//! The curves of all runs of a sweep: one long table, and quantile bands of a drawn sample.
//!
//! In:  the points of a sweep that keeps curves.
//! Out: a table with a row for each run and time; a table of quantiles over time.
//!
//! **Invariant:** runs record at the times of their experiment, so rows of equal number are at one time. A run that ended early
//! has no rows after its end, and does not count in the bands there.

use crate::sweep::Point;
use crate::sweep_table::target_unit;
use paynter_design::design::Design;
use paynter_design::sweeps::target_name;
use paynter_optimize::statistics::quantile_of;
use paynter_run::table::{Column, Table};

/// Quantiles of a band.
pub const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// One row for each run and time: number of the run, time, swept values, recorded columns.
pub fn to_table(design: &Design, points: &[Point]) -> Table {
    let with_curves = || points.iter().filter_map(|p| Some((p, p.curves.as_ref()?)));
    let spread = |value: &dyn Fn(&Point) -> f64| -> Vec<f64> {
        with_curves()
            .flat_map(|(p, t)| std::iter::repeat_n(value(p), t.time.len()))
            .collect()
    };
    let mut table = Table {
        axis: "point".to_owned(),
        time: spread(&|p| (p.number + 1) as f64),
        ..Table::default()
    };
    table.columns.push(Column {
        name: "time".to_owned(),
        unit: "s".to_owned(),
        values: with_curves().flat_map(|(_, t)| t.time.clone()).collect(),
    });

    for (k, sweep) in design.plan.sweeps.iter().enumerate() {
        table.columns.push(Column {
            name: target_name(&sweep.target),
            unit: target_unit(&sweep.target),
            values: spread(&|p| p.values[k]),
        });
    }

    let first = with_curves().next().map(|(_, t)| t);
    for (k, column) in first.map_or(&[][..], |t| &t.columns).iter().enumerate() {
        table.columns.push(Column {
            values: with_curves()
                .flat_map(|(_, t)| t.columns[k].values.clone())
                .collect(),
            ..column.clone()
        });
    }
    table
}

/// Quantiles of one recorded column at one time after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Bands {
    /// The column.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Times, s.
    pub time: Vec<f64>,
    /// Runs that count at each time.
    pub n: Vec<usize>,
    /// In the order of [`QUANTILES`]; not a number where no run counts.
    pub quantiles: [Vec<f64>; 5],
}

/// Quantiles over time of every recorded column, from all runs that have a value.
pub fn bands(points: &[Point]) -> Vec<Bands> {
    let tables: Vec<&Table> = points.iter().filter_map(|p| p.curves.as_ref()).collect();
    let Some(longest) = tables.iter().max_by_key(|t| t.time.len()) else {
        return Vec::new();
    };
    let of_column = |k: usize| {
        let mut found = Bands {
            name: longest.columns[k].name.clone(),
            unit: longest.columns[k].unit.clone(),
            time: longest.time.clone(),
            n: Vec::new(),
            quantiles: Default::default(),
        };
        for row in 0..longest.time.len() {
            let at = |t: &&&Table| t.time.get(row) == longest.time.get(row);
            let values = tables.iter().filter(at).map(|t| t.columns[k].values[row]);
            let mut values: Vec<f64> = values.filter(|x| x.is_finite()).collect();
            values.sort_by(f64::total_cmp);
            found.n.push(values.len());
            for (list, p) in found.quantiles.iter_mut().zip(QUANTILES) {
                list.push(match values.is_empty() {
                    true => f64::NAN,
                    false => quantile_of(&values, p).value,
                });
            }
        }
        found
    };
    (0..longest.columns.len()).map(of_column).collect()
}

/// The bands as a table over time.
pub fn bands_to_table(bands: &[Bands]) -> Table {
    let mut table = Table {
        time: bands.first().map_or(Vec::new(), |b| b.time.clone()),
        ..Table::default()
    };
    for band in bands {
        for (values, p) in band.quantiles.iter().zip(QUANTILES) {
            table.columns.push(Column {
                name: format!("{} {} %", band.name, 100.0 * p),
                unit: band.unit.clone(),
                values: values.clone(),
            });
        }
        table.columns.push(Column {
            name: format!("{} runs", band.name),
            unit: String::new(),
            values: band.n.iter().map(|&n| n as f64).collect(),
        });
    }
    table
}
