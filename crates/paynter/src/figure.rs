//! Figures of result files: which columns on which axes, in which units, beside which other runs.
//!
//! In:  tables read from files, and words such as `theta[deg],command`.
//! Out: panels for [`paynter_draw`], or what is wrong with the words.
//!
//! **Invariant:** a number is drawn in the unit that is at its axis; a table that does not say its
//! units is taken to have those of the first one, and that is noted.

use paynter_draw::plot::{Panel, Series, panels_by_unit};
use paynter_draw::thin::looks_held;
use paynter_model::suggest::nearest;
use paynter_model::units::Unit;
use paynter_run::table::EVENT_TIMES;
use paynter_run::table::{Column, Table};

/// What to draw.
#[derive(Clone, Debug, Default)]
pub struct FigureChoice {
    /// One set of axes each: columns with commas between, units in brackets. All columns if empty.
    pub groups: Vec<String>,
    /// The column to the right instead of time.
    pub versus: Option<String>,
}

/// What is drawn.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// What the user should know about it.
    pub notes: Vec<String>,
}

/// More curves of one unit than this are spread over several axes.
const MOST_TOGETHER: usize = 8;

/// Puts the chosen columns of the first table on axes, and those of the others dashed beside them.
/// Tables come with the names that the legend shows.
///
/// # Errors
///
/// A column that is not there, or a unit that does not fit.
pub fn figure(tables: &[(String, Table)], choice: &FigureChoice) -> Result<Figure, String> {
    let Some((_, first)) = tables.first() else {
        return Err("no result file was given; name a .csv, .parquet or .json file".to_owned());
    };
    let versus = choice
        .versus
        .as_ref()
        .map(|text| Asked::read(text, first))
        .transpose()?;
    let groups = chosen_columns(choice, first, versus.as_ref())?;
    let x_label = match &versus {
        Some(asked) => asked.label(),
        None if first.axis_name() == "time" => "time [s]".to_owned(),
        None => first.axis_name().to_owned(),
    };
    let marks = match versus {
        None => event_times(first),
        Some(_) => Vec::new(),
    };

    let mut figure = Figure::default();
    for group in &groups {
        let mut curves = Vec::new();
        for asked in group {
            let found = asked.curves(tables, versus.as_ref(), &mut figure.notes)?;
            if tables.len() > 1 && found.len() == 1 {
                figure
                    .notes
                    .push(format!("no other file has `{}`", asked.name));
            }
            curves.extend(found.into_iter().map(|s| (s, asked.unit.clone())));
        }
        figure
            .panels
            .extend(panels_by_unit(curves, &x_label, &marks));
    }
    Ok(figure)
}

/// The columns on each set of axes.
fn chosen_columns(
    choice: &FigureChoice,
    table: &Table,
    versus: Option<&Asked>,
) -> Result<Vec<Vec<Asked>>, String> {
    if choice.groups.is_empty() {
        return Ok(all_columns(table, versus));
    }
    let read = |group: &String| {
        split_outside_brackets(group)
            .into_iter()
            .map(|text| Asked::read(text, table))
            .collect()
    };
    choice.groups.iter().map(read).collect()
}

/// All columns, those of a unit together. Without a unit nothing says that two belong on one axis.
fn all_columns(table: &Table, versus: Option<&Asked>) -> Vec<Vec<Asked>> {
    let mut groups: Vec<Vec<Asked>> = Vec::new();
    for column in &table.columns {
        if versus.is_some_and(|v| v.name == column.name) {
            continue;
        }
        let asked = Asked::of(column);
        let room = groups
            .iter_mut()
            .find(|g| !asked.unit.is_empty() && g[0].unit == asked.unit && g.len() < MOST_TOGETHER);
        match room {
            Some(group) => group.push(asked),
            None => groups.push(vec![asked]),
        }
    }
    groups
}

fn event_times(table: &Table) -> Vec<f64> {
    let times = table.fact(EVENT_TIMES).unwrap_or_default();
    times
        .split_whitespace()
        .filter_map(|t| t.parse().ok())
        .collect()
}

/// A column and the unit it is drawn in.
#[derive(Clone, Debug)]
struct Asked {
    name: String,
    /// As in the first table; empty if that does not say.
    own_unit: String,
    /// At the axis.
    unit: String,
}

impl Asked {
    fn of(column: &Column) -> Asked {
        Asked {
            name: column.name.clone(),
            own_unit: column.unit.clone(),
            unit: column.unit.clone(),
        }
    }

    /// Reads `name` or `name[unit]`.
    fn read(text: &str, table: &Table) -> Result<Asked, String> {
        let text = text.trim();
        // An index is part of the name: `x[1]`.
        if let Some(column) = table.column(text) {
            return Ok(Asked::of(column));
        }
        let bracket = text
            .strip_suffix(']')
            .and_then(|t| t.rsplit_once('['))
            .map(|(name, unit)| (name.trim(), unit.trim()));
        let (name, unit) = bracket.unwrap_or((text, ""));
        let column = table
            .column(name)
            .ok_or_else(|| no_column(if bracket.is_some() { name } else { text }, table))?;
        let mut asked = Asked::of(column);
        if !unit.is_empty() {
            asked.unit = unit.to_owned();
            asked.factor(&asked.own_unit)?;
        }
        Ok(asked)
    }

    fn label(&self) -> String {
        if self.unit.is_empty() {
            self.name.clone()
        } else {
            format!("{} [{}]", self.name, self.unit)
        }
    }

    /// The units to convert from and to; none if they are one. A column without a unit is in SI.
    fn factor(&self, from: &str) -> Result<Option<(Unit, Unit)>, String> {
        if from == self.unit {
            return Ok(None);
        }
        let parse = |text: &str| {
            Unit::parse_text(text).map_err(|e| {
                let help = e.suggestion.map(|s| format!("; {s}")).unwrap_or_default();
                format!("`{}`: there is no unit `{text}`{help}", self.name)
            })
        };
        let to = parse(&self.unit)?;
        if from.is_empty() {
            let si = to.dimension.unit();
            return Ok(Some((si, to)));
        }
        let from = parse(from)?;
        if from.dimension != to.dimension {
            return Err(format!(
                "`{}` is in {}, which cannot be shown in {}",
                self.name, from.text, to.text
            ));
        }
        Ok(Some((from, to)))
    }

    /// One curve for each table that has the column, over time or over another column.
    fn curves(
        &self,
        tables: &[(String, Table)],
        versus: Option<&Asked>,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Series>, String> {
        let mut found = Vec::new();
        for (index, (file, table)) in tables.iter().enumerate() {
            let Some(y) = self.values(table, notes, file)? else {
                continue;
            };
            let x = match versus {
                None => table.time.clone(),
                Some(versus) => match versus.values(table, notes, file)? {
                    Some(x) => x,
                    None => continue,
                },
            };
            found.push(Series {
                name: if tables.len() > 1 {
                    format!("{} ({file})", self.name)
                } else {
                    self.name.clone()
                },
                is_held: versus.is_none() && looks_held(&y),
                x,
                y,
                is_reference: index > 0,
                ..Series::default()
            });
        }
        Ok(found)
    }

    /// The values in a table, in the unit of the axis; none if the table has no such column.
    fn values(
        &self,
        table: &Table,
        notes: &mut Vec<String>,
        file: &str,
    ) -> Result<Option<Vec<f64>>, String> {
        let Some(column) = table.column(&self.name) else {
            return Ok(None);
        };

        // A reference without units is compared in those of the result, as `compare` does.
        let own = match column.unit.as_str() {
            "" => self.own_unit.as_str(),
            unit => unit,
        };
        if self.unit.is_empty() && !own.is_empty() {
            notes.push(format!(
                "`{}` is in {own} in {file}, and without a unit in the first file",
                self.name
            ));
            return Ok(Some(column.values.clone()));
        }

        let Some((from, to)) = self.factor(own)? else {
            return Ok(Some(column.values.clone()));
        };
        if own.is_empty() {
            notes.push(format!(
                "{file} does not say the unit of `{}`; it is taken as SI ({})",
                self.name, from.text
            ));
        }

        let turned = |x: &f64| to.from_si(from.to_si(*x));
        Ok(Some(column.values.iter().map(turned).collect()))
    }
}

fn no_column(name: &str, table: &Table) -> String {
    let known: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("there is no column `{name}`; is `{near}` meant?"),
        None => format!(
            "there is no column `{name}`; the file has {}",
            known.join(", ")
        ),
    }
}

/// Splits at commas that are not part of an index or a unit.
fn split_outside_brackets(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(move |c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .filter(|part| !part.trim().is_empty())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_draw::plot::Side;

    fn table(columns: &[(&str, &str, f64)]) -> Table {
        Table {
            time: vec![0.0, 1.0],
            columns: columns
                .iter()
                .map(|&(name, unit, last)| Column {
                    name: name.to_owned(),
                    unit: unit.to_owned(),
                    values: vec![0.0, last],
                })
                .collect(),
            ..Table::default()
        }
    }

    fn drawn(tables: &[Table], groups: &[&str], versus: Option<&str>) -> Result<Figure, String> {
        let named: Vec<(String, Table)> = tables
            .iter()
            .enumerate()
            .map(|(k, t)| (format!("f{k}"), t.clone()))
            .collect();
        let choice = FigureChoice {
            groups: groups.iter().map(|g| (*g).to_owned()).collect(),
            versus: versus.map(str::to_owned),
        };
        figure(&named, &choice)
    }

    fn last(figure: &Figure, panel: usize, series: usize) -> f64 {
        figure.panels[panel].series[series].y[1]
    }

    #[test]
    fn a_unit_in_brackets_turns_the_numbers() {
        let result = table(&[("theta", "rad", std::f64::consts::PI), ("v", "V", 2.0)]);
        let figure = drawn(&[result], &["theta[deg], v [mV]"], None).expect("both units fit");
        // 180 comes out of a division of doubles, exact to rounding.
        assert!((last(&figure, 0, 0) - 180.0).abs() < 1e-12);
        assert_eq!(last(&figure, 0, 1), 2000.0);
        assert_eq!(figure.panels[0].y_label, "[deg]");
        assert_eq!(figure.panels[0].right_label, "[mV]");
        assert_eq!(figure.panels[0].series[1].side, Side::Right);
        assert!(figure.notes.is_empty());
    }

    #[test]
    fn a_table_without_units_is_in_those_of_the_first_and_else_in_si_with_a_note() {
        let result = table(&[("theta", "deg", 90.0)]);
        let reference = table(&[("theta", "", 45.0)]);
        let both = drawn(&[result, reference.clone()], &["theta[rad]"], None).expect("one column");
        assert!((last(&both, 0, 1) * 2.0 - last(&both, 0, 0)).abs() < 1e-12);
        assert!(both.panels[0].series[1].is_reference && both.notes.is_empty());
        let alone = drawn(&[reference], &["theta[deg]"], None).expect("taken as SI");
        assert_eq!(alone.notes.len(), 1, "{:?}", alone.notes);
        assert!((last(&alone, 0, 0) - 45.0_f64.to_degrees()).abs() < 1e-9);
    }

    #[test]
    fn runs_in_different_units_meet_on_one_axis() {
        let a = table(&[("v", "V", 1.0)]);
        let b = table(&[("v", "mV", 1000.0)]);
        let figure = drawn(&[a, b], &[], None).expect("one column");
        assert_eq!(last(&figure, 0, 0), last(&figure, 0, 1));
    }

    #[test]
    fn columns_of_one_unit_share_axes_unless_chosen_otherwise() {
        let result = table(&[
            ("a", "V", 1.0),
            ("i", "A", 2.0),
            ("b", "V", 3.0),
            ("n", "", 1.0),
        ]);
        let all = drawn(std::slice::from_ref(&result), &[], None).expect("columns are there");
        let sizes: Vec<usize> = all.panels.iter().map(|p| p.series.len()).collect();
        assert_eq!(sizes, [2, 1, 1]);
        let phase = drawn(&[result], &["b"], Some("a[mV]")).expect("columns are there");
        assert_eq!(phase.panels[0].x_label, "a [mV]");
        assert_eq!(phase.panels[0].series[0].x, [0.0, 1000.0]);
    }

    #[test]
    fn an_index_is_no_unit() {
        let result = table(&[("x[1]", "m", 1.0)]);
        assert!(drawn(std::slice::from_ref(&result), &["x[1]"], None).is_ok());
        let mm = drawn(&[result], &["x[1][mm]"], None).expect("millimetres");
        assert_eq!(last(&mm, 0, 0), 1000.0);
    }

    #[test]
    fn events_are_marked_over_time_only() {
        let mut result = table(&[("a", "V", 1.0), ("b", "V", 1.0)]);
        result.metadata = vec![(EVENT_TIMES.to_owned(), "0.25 0.5".to_owned())];
        let over_time = drawn(std::slice::from_ref(&result), &[], None).expect("columns");
        assert_eq!(over_time.panels[0].marks, [0.25, 0.5]);
        let phase = drawn(&[result], &["a"], Some("b")).expect("columns");
        assert!(phase.panels[0].marks.is_empty());
    }

    #[test]
    fn wrong_words_are_explained() {
        let result = table(&[("theta", "rad", 1.0)]);
        let wrong = |group: &str| {
            drawn(std::slice::from_ref(&result), &[group], None).expect_err("it does not fit")
        };
        assert_eq!(
            wrong("thet"),
            "there is no column `thet`; is `theta` meant?"
        );
        assert_eq!(
            wrong("theta[V]"),
            "`theta` is in rad, which cannot be shown in V"
        );
        assert!(wrong("theta[degg]").contains("there is no unit `degg`"));
        assert_eq!(
            wrong("zzz[V]"),
            "there is no column `zzz`; the file has theta"
        );
    }
}
