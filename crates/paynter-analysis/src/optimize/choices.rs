//! What a search varies that is not a number between bounds: lists, whole numbers, replaceable parts.
//!
//! In:  the search of a plan.
//! Out: every [`Combination`] of such values; each has a search of its own.

use crate::evaluator::{path_of, plain_parameter};
use paynter_design::code;
use paynter_design::design::{Choice, Design};
use paynter_model::experiment::{Optimize, Searched, SweepSetting, Varied};
use paynter_model::project::Override;
use paynter_syntax::{Diagnostic, ast};

/// More searches than this are a slip in a list.
const MOST_COMBINATIONS: usize = 1000;

/// One value of each choice.
#[derive(Clone)]
pub(super) struct Combination {
    /// (name, value as written)
    pub labels: Vec<(String, String)>,
    /// What it changes in the model.
    pub changes: Vec<Override>,
    /// What is left to be searched between bounds.
    pub open: Vec<Varied>,
}

/// Lists all combinations, the last choice varying fastest.
///
/// # Errors
///
/// Too many.
pub(super) fn combinations(
    design: &Design,
    choice: &Choice,
    search: &Optimize,
) -> Result<Vec<Combination>, Vec<Diagnostic>> {
    let none = Combination {
        labels: Vec::new(),
        changes: Vec::new(),
        open: Vec::new(),
    };
    let mut all = vec![none];
    for varied in &search.over {
        let values = values(design, choice, varied);
        let Some(values) = values else {
            all.iter_mut().for_each(|c| c.open.push(varied.clone()));
            continue;
        };
        if all.len() * values.len() > MOST_COMBINATIONS {
            let n = all.len() * values.len();
            let message = format!("{n} combinations of choices are too many");
            let message = Diagnostic::error(code::MANY_CHOICES, message)
                .primary(
                    varied.span,
                    format!("at most {MOST_COMBINATIONS}, each with a search of its own"),
                )
                .help("search between bounds, `name in low .. high`, or shorten the lists");
            return Err(vec![message]);
        }
        let with_each = all.iter().flat_map(|c| {
            values.iter().map(|(label, value)| {
                let mut c = c.clone();
                c.labels.push((varied.variable.path.clone(), label.clone()));
                c.changes.push(change(varied, value.clone()));
                c
            })
        });
        all = with_each.collect();
    }
    Ok(all)
}

/// What setting a varied quantity changes.
pub(crate) fn change(varied: &Varied, value: ast::Expr) -> Override {
    Override {
        path: path_of(&varied.target),
        value,
        span: varied.span,
    }
}

/// The values of a choice, as shown and as set; none for what is searched between bounds.
fn values(design: &Design, choice: &Choice, varied: &Varied) -> Option<Vec<(String, ast::Expr)>> {
    match &varied.range {
        Searched::Among(list) => {
            let value = |s: &SweepSetting| match s {
                SweepSetting::Number(_, e) | SweepSetting::Expression(e) => Some(e.clone()),
                SweepSetting::Constraints(_) | SweepSetting::Method(..) => None,
            };
            Some(
                list.iter()
                    .filter_map(|v| Some((v.label.clone(), value(&v.setting)?)))
                    .collect(),
            )
        }
        Searched::Between(low, high) => {
            let is_whole = low.fract() == 0.0 && high.fract() == 0.0 && high - low <= 1e6;
            if !is_whole || plain_parameter(design, &varied.variable.path).is_some() {
                return None;
            }
            // A size of the model: what lies between whole numbers is refused by the model itself.
            let between = change(varied, varied.expression(low + 0.5));
            if design.varied(choice, &[between]).is_ok() {
                return None;
            }
            let n = (high - low) as usize;
            let numbers = (0..=n).map(|k| low + k as f64);
            Some(
                numbers
                    .map(|x| (x.to_string(), varied.expression(x)))
                    .collect(),
            )
        }
    }
}
