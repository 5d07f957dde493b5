//! Recorded columns and plots.
//!
//! In:  expressions with optional names and units; or a whole graph.
//! Out: [`Column`]s.

use paynter_symbolic::{ExprId, Role, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};
use rustc_hash::FxHashMap;

use super::settings::wrong_unit;
use super::{Column, Places, Plan, Planner, Plot, Quantity, Read, Scope, expression_of};
use crate::code;
use crate::elaborate::Elaborated;
use crate::graph::BondGraph;
use crate::units::{Dimension, Unit};

/// Plans a run of a model without experiment: every output, or every state if there is none.
pub fn default_plan(model: &mut Elaborated<'_>) -> Plan {
    let columns = default_columns(model);
    let plots = columns
        .iter()
        .map(|c| Plot {
            ys: vec![c.clone()],
            versus: None,
        })
        .collect();
    // A picture each, but no wall of them: a model with more outputs is better recorded.
    const MOST_PLOTS: usize = 12;
    let mut plots: Vec<Plot> = plots;
    plots.truncate(MOST_PLOTS);
    let places = Places {
        whole: Some(model.model.name.span),
        ..Places::default()
    };
    Plan {
        columns,
        plots,
        places,
        ..Plan::default()
    }
}

/// Gives the columns recorded when nobody asks for any: outputs of the top model, else states.
pub fn default_columns(model: &mut Elaborated<'_>) -> Vec<Column> {
    let units = match model.graph().outputs.is_empty() {
        true => model.state_units(),
        false => FxHashMap::default(),
    };
    columns_of(model.graph_mut(), &units)
}

pub(super) fn columns_of(graph: &mut BondGraph, units: &FxHashMap<SymbolId, Unit>) -> Vec<Column> {
    if !graph.outputs.is_empty() {
        let names = &graph.signals.names;
        return graph
            .outputs
            .iter()
            .map(|output| Column {
                name: names.display(output.name),
                value: output.value,
                unit: output.unit.clone(),
            })
            .collect();
    }

    let mut states: Vec<SymbolId> = graph
        .elements
        .iter()
        .flat_map(|e| e.states.clone())
        .collect();
    states.extend(graph.signals.symbols.iter().filter_map(|s| match s.role {
        Role::Derivative { of } => Some(of),
        _ => None,
    }));
    let mut seen = rustc_hash::FxHashSet::default();
    states.retain(|s| seen.insert(*s));
    states
        .into_iter()
        .map(|state| Column {
            name: graph.signals.name_of(state),
            value: graph.signals.pool.symbol(state),
            unit: units.get(&state).cloned(),
        })
        .collect()
}

impl Planner<'_> {
    pub(super) fn record(&mut self, record: &ast::Record) {
        let Some(read) = self.scope.read(&record.value) else {
            return;
        };
        let unit = match &record.unit {
            None => shown_in(&read),
            Some(written) => match self.record_unit(&read, written) {
                Some(unit) => Some(unit),
                None => return,
            },
        };

        let name = match &record.alias {
            Some(alias) => alias.text.to_string(),
            None => self.scope.text(record.value.span).trim().to_owned(),
        };

        for (ending, value) in read.entries {
            let column = Column {
                name: format!("{name}{ending}"),
                value,
                unit: unit.clone(),
            };
            let is_known = self.plan.columns.iter().find(|c| c.name == column.name);
            match is_known {
                // The same thing twice does no harm.
                Some(first) if *first == column => {}
                Some(_) => {
                    let span = record.alias.as_ref().map_or(record.value.span, |a| a.span);
                    let message = format!("two columns are called `{}`", column.name);
                    let diagnostic = Diagnostic::error(code::DUPLICATE_COLUMN, message)
                        .primary(span, "the name is taken")
                        .help("give one of them another name with `as`");
                    self.report(diagnostic);
                }
                None => {
                    let word = format!("record {}", column.name);
                    self.plan.places.words.push((word, record.value.span));
                    self.plan.columns.push(column);
                }
            }
        }
    }

    fn record_unit(&mut self, read: &Read, written: &ast::Unit) -> Option<Unit> {
        let unit = match Unit::parse(written) {
            Ok(unit) => unit,
            Err(error) => {
                self.report(error.to_diagnostic());
                return None;
            }
        };
        match read.dimension {
            Some(found) if found != unit.dimension => {
                let diagnostic = wrong_unit(&unit.text, written.span, unit.dimension, found);
                self.report(Diagnostic {
                    message: format!("this cannot be shown in `{}`", unit.text),
                    ..diagnostic
                });
                None
            }
            _ => Some(unit),
        }
    }

    pub(super) fn plot(&mut self, ys: &[ast::Expr], versus: Option<&ast::Expr>) {
        let mut columns = Vec::new();
        for y in ys {
            columns.extend(self.curves(y));
        }
        let versus = match versus {
            None => None,
            Some(e) => match &self.curves(e)[..] {
                [only] => Some(only.clone()),
                // Nothing was reported by the scope, or the expression is a vector.
                [] => return,
                _ => {
                    let diagnostic = Diagnostic::error(
                        code::SETTING_VALUE,
                        "a plot has one quantity on the horizontal axis",
                    )
                    .primary(e.span, "this is not one number");
                    self.report(diagnostic);
                    return;
                }
            },
        };
        if !columns.is_empty() {
            self.plan.plots.push(Plot {
                ys: columns,
                versus,
            });
        }
    }

    /// An expression as curves; empty if it could not be read.
    fn curves(&mut self, e: &ast::Expr) -> Vec<Column> {
        let (meant, column_unit) = self.as_recorded(e);
        let Some(read) = self.scope.read(&meant) else {
            return Vec::new();
        };
        let unit = column_unit.or_else(|| shown_in(&read));
        let name = self.scope.text(e.span).trim().to_owned();
        let column = |(ending, value): (String, ExprId)| Column {
            name: format!("{name}{ending}"),
            value,
            unit: unit.clone(),
        };
        read.entries.into_iter().map(column).collect()
    }

    /// What references name, number by number.
    pub(super) fn readings(&mut self, references: &[ast::Ref]) -> Vec<Quantity> {
        let mut found = Vec::new();
        for reference in references {
            let (meant, _) = self.as_recorded(&expression_of(reference));
            found.extend(quantity(self.scope, &meant, reference.span));
        }
        found
    }
}

/// The numbers of an expression; empty if it could not be read.
pub(super) fn quantity(scope: &mut dyn Scope, e: &ast::Expr, span: Span) -> Vec<Quantity> {
    let Some(read) = scope.read(e) else {
        return Vec::new();
    };
    let unit = shown_in(&read);
    let name = scope.text(span).trim().to_owned();
    let entries = read.entries.into_iter();
    let column = |(ending, value): (String, ExprId)| Column {
        name: format!("{name}{ending}"),
        value,
        unit: unit.clone(),
    };
    let quantities = entries.map(|entry| Quantity {
        column: column(entry),
        span,
    });
    quantities.collect()
}

/// The unit a value is shown in: as declared, or in SI; none for a plain number.
pub(super) fn shown_in(read: &Read) -> Option<Unit> {
    let in_si = || read.dimension.filter(|d| !d.is_one()).map(Dimension::unit);
    read.unit.clone().or_else(in_si)
}
