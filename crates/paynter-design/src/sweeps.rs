//! The numbers that the sweeps of a design go over.
//!
//! In:  a design whose plan has sweeps.
//! Out: their numbers in SI units, read or replaced without elaborating anything again.

use crate::design::Design;
use paynter_model::experiment::{Sweep, SweepSetting, SweepTarget, SweepValue};
use paynter_model::units::format_number;
use paynter_syntax::{Span, ast};

impl Design {
    /// The numbers of each sweep in SI units; none where some are not numbers, or settings of the run.
    pub fn sweep_values(&self) -> Option<Vec<Vec<f64>>> {
        let number = |value: &SweepValue| match value.setting {
            SweepSetting::Number(x, _) => Some(x),
            _ => None,
        };
        let sweeps = self.plan.sweeps.iter();
        sweeps
            .map(|sweep| match sweep.target {
                SweepTarget::Variable { .. } => sweep.values.iter().map(number).collect(),
                _ => None,
            })
            .collect()
    }

    /// Gives the sweeps other numbers, in SI units: one list for each sweep.
    ///
    /// # Errors
    ///
    /// Lists that do not fit the sweeps, or numbers that are not finite.
    pub fn set_sweep_values(&mut self, values: &[Vec<f64>]) -> Result<(), String> {
        let sweeps = &mut self.plan.sweeps;
        if sweeps.len() != values.len() {
            let (n, m) = (sweeps.len(), values.len());
            return Err(format!("there are {n} sweeps and {m} lists of values"));
        }

        for (sweep, list) in sweeps.iter_mut().zip(values) {
            let name = target_name(&sweep.target);
            if !matches!(sweep.target, SweepTarget::Variable { .. }) || !is_numeric(sweep) {
                return Err(format!("`{name}` does not take numbers"));
            }
            if let Some(at) = list.iter().position(|x| !x.is_finite()) {
                return Err(format!(
                    "value {} of `{name}` is {}, not a finite number",
                    at + 1,
                    list[at]
                ));
            }
            let span = sweep.span;
            sweep.values = list.iter().map(|&x| sweep_number(x, span)).collect();
        }

        let mut drawn = self.plan.sweeps.iter().filter(|s| s.drawn.is_some());
        let first = drawn.next().map_or(0, |s| s.values.len());
        if drawn.any(|s| s.values.len() != first) {
            return Err(
                "sweeps that are drawn together must have as many values as each other".to_owned(),
            );
        }

        if self.plan.is_paired && values.iter().any(|list| list.len() != values[0].len()) {
            return Err(
                "sweeps that vary together must have as many values as each other".to_owned(),
            );
        }
        Ok(())
    }
}

/// Tells whether all values of a sweep are numbers.
pub fn is_numeric(sweep: &Sweep) -> bool {
    let is_number = |s: &SweepSetting| matches!(s, SweepSetting::Number(..));
    sweep.values.iter().all(|v| is_number(&v.setting))
}

/// The name of what a sweep varies.
pub fn target_name(target: &SweepTarget) -> String {
    match target {
        SweepTarget::Variable { variable, .. } => variable.path.clone(),
        SweepTarget::Constraints => "constraints".to_owned(),
        SweepTarget::Method => "method".to_owned(),
        SweepTarget::Rtol => "rtol".to_owned(),
    }
}

fn sweep_number(x: f64, span: Span) -> SweepValue {
    let kind = ast::ExprKind::Number {
        value: x,
        unit: None,
    };
    SweepValue {
        label: format_number(x),
        setting: SweepSetting::Number(x, ast::Expr { span, kind }),
    }
}
