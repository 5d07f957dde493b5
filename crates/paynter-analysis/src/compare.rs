//! Lays a result beside a reference.
//!
//! In:  two tables, and the smallest movement that the run resolves, as a part of a column's size.
//! Out: for each shared column the largest scaled difference and when it occurs.
//!
//! A difference is measured by the range of the reference column. A column that moves less than the run resolves
//! is a constant: its range is noise, and the difference is measured by its size; by 1 where that is zero.
//!
//! **Invariant:** only times present in both tables are compared; nothing is interpolated.

use paynter_run::table::Table;

/// How one column compares.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDifference {
    /// Its name.
    pub name: String,
    /// Largest |a − b| divided by the range of the reference column, or by its size if it is constant.
    pub scaled: f64,
    /// Largest |a − b|.
    pub absolute: f64,
    /// When.
    pub time: f64,
}

/// How two tables compare.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// For every column of the reference that the result has too.
    pub columns: Vec<ColumnDifference>,
    /// Columns of the reference that the result lacks.
    pub missing: Vec<String>,
    /// Number of times compared.
    pub n_times: usize,
    /// Times of the reference that the result lacks.
    pub n_times_missing: usize,
}

impl Comparison {
    /// The largest scaled difference.
    pub fn worst(&self) -> f64 {
        // A NaN on either side must not pass for agreement.
        self.columns
            .iter()
            .map(|c| {
                if c.scaled.is_nan() {
                    f64::INFINITY
                } else {
                    c.scaled
                }
            })
            .fold(0.0, f64::max)
    }
}

/// Two times count as equal within this part of the larger one: output times are sums of decimal
/// steps, so they differ by roundings only.
const SAME_TIME: f64 = 1e-9;

/// A column whose range is this small a part of its size is a constant with roundings, whatever the tolerance.
const ROUNDINGS: f64 = 1e-12;
/// A movement of fewer relative tolerances than this may be the error of the run.
const UNRESOLVED_TOLERANCES: f64 = 10.0;

/// Compares every column that both tables have, at the times they share. `rtol` is the relative tolerance of the
/// run.
pub fn compare(result: &Table, reference: &Table, rtol: f64) -> Comparison {
    let resolved = ROUNDINGS.max(UNRESOLVED_TOLERANCES * rtol);
    let pairs = shared_times(&result.time, &reference.time);
    let mut comparison = Comparison {
        n_times: pairs.len(),
        n_times_missing: reference.time.len() - pairs.len(),
        ..Comparison::default()
    };
    for theirs in &reference.columns {
        let Some(ours) = result.column(&theirs.name) else {
            comparison.missing.push(theirs.name.clone());
            continue;
        };
        let (low, high) = theirs
            .values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| {
                (low.min(x), high.max(x))
            });
        let largest = low.abs().max(high.abs());
        let range = if high - low > resolved * largest {
            high - low
        } else if largest > 0.0 {
            largest
        } else {
            1.0
        };
        let mut difference = ColumnDifference {
            name: theirs.name.clone(),
            scaled: 0.0,
            absolute: 0.0,
            time: f64::NAN,
        };
        for &(i, j) in &pairs {
            let d = (ours.values[i] - theirs.values[j]).abs();
            if d > difference.absolute || d.is_nan() {
                difference.absolute = d;
                difference.scaled = d / range;
                difference.time = result.time[i];
            }
            if d.is_nan() {
                break;
            }
        }
        comparison.columns.push(difference);
    }
    comparison
}

fn shared_times(ours: &[f64], theirs: &[f64]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut i = 0;
    for (j, &t) in theirs.iter().enumerate() {
        let width = SAME_TIME * t.abs().max(SAME_TIME);
        while i < ours.len() && ours[i] < t - width {
            i += 1;
        }
        if i < ours.len() && (ours[i] - t).abs() <= width {
            pairs.push((i, j));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(csv: &str) -> Table {
        Table::from_csv(csv).expect("well formed")
    }

    #[test]
    fn differences_are_scaled_by_the_range_of_the_reference() {
        let result = table("time,x\n0,0\n1,10.001\n2,5\n");
        let c = compare(&result, &table("t,x,y\n0,0,1\n1,10,1\n3,7,1\n"), 1e-6);
        assert_eq!((c.n_times, c.n_times_missing), (2, 1));
        assert_eq!(c.missing, ["y"]);
        assert!((c.worst() - 1e-4).abs() < 1e-9);
        assert_eq!(c.columns[0].time, 1.0);
    }

    #[test]
    fn nan_never_passes_for_agreement() {
        let c = compare(&table("t,x\n0,NaN\n"), &table("t,x\n0,1\n"), 1e-6);
        assert_eq!(c.worst(), f64::INFINITY);
    }

    #[test]
    fn a_constant_is_measured_by_its_size() {
        // A reference printed with ten digits, and a run that is right to its tolerance.
        let reference = table("t,x,z\n0,5.000000001,0\n1,4.999999999,0\n");
        let c = compare(&table("t,x,z\n0,5,0\n1,5.000001,1e-9\n"), &reference, 1e-6);
        assert!((c.columns[0].scaled - 2e-7).abs() < 1e-9, "{c:?}");
        assert_eq!(c.columns[1].scaled, 1e-9);
        // What moves by more than the run resolves is measured by its range.
        let reference = table("t,x\n0,300\n1,300.1\n");
        let c = compare(&table("t,x\n0,300\n1,300.2\n"), &reference, 1e-6);
        assert!((c.worst() - 1.0).abs() < 1e-9, "{c:?}");
    }
}
