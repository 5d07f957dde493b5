//! Root loci and transfer functions, in the user's names.
//!
//! In:  a design and the signal at which its loop is cut; or a [`Linearization`].
//! Out: a [`LocusReport`], or the transfer function of every channel.

use super::loops::cut_loop;
use super::poles::complex;
use super::text::{about_point, notes, per};
use super::{LinearError, Linearization, no_eigenvalues};
use paynter_design::compile::Compiled;
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_linear::{Border, Complex, Locus, Transfer, matched, root_locus, transfer};
use paynter_model::experiment::Quantity;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Gains that are looked at.
const POINTS: usize = 600;

/// How the poles of a loop move with a factor on its gain.
#[derive(Clone, Debug)]
pub struct LocusReport {
    /// The signal at which the factor is put.
    pub cut: String,
    /// The linear model with the loop closed at factor 1.
    pub linear: Linearization,
    /// The ways of the poles.
    pub locus: Locus,
}

/// Computes the root locus over factors from `low` to `high`.
///
/// # Errors
///
/// As for margins.
pub fn locus(
    design: &Design,
    compiled: &Compiled,
    (cut, at): (&Quantity, Option<f64>),
    (low, high): (f64, f64),
) -> Result<LocusReport, LinearError> {
    let (linear, open) = cut_loop(design, compiled, cut, at)?;
    let border = match linear.step() {
        None => Border::Axis,
        Some(_) => Border::Circle,
    };
    let step = (high / low).ln() / (POINTS - 1) as f64;
    let gains: Vec<f64> = (0..POINTS).map(|k| low * (step * k as f64).exp()).collect();
    let locus = root_locus(&open, &gains, border).map_err(|_| no_eigenvalues(design))?;
    Ok(LocusReport {
        cut: cut.column.name.clone(),
        linear,
        locus,
    })
}

impl LocusReport {
    /// Writes where stability changes, for people.
    pub fn to_text(&self) -> String {
        let gains = &self.locus.gains;
        let ends = (gains.first(), gains.last());
        let shown = |g: Option<&f64>| significant(g.copied().unwrap_or(0.0), 6);
        let mut out = format!(
            "{}\n\nloop cut at {}, its gain times {} to {}\n",
            about_point(&self.linear),
            self.cut,
            shown(ends.0),
            shown(ends.1)
        );
        for (gain, pole) in &self.locus.crossings {
            let at = match self.linear.step() {
                None => format!("{} 1/s", complex(*pole, 0.0)),
                Some(_) => format!("z = {}", complex(*pole, 0.0)),
            };
            let _ = writeln!(
                out,
                "  stability changes at gain times {}, pole {at}",
                significant(*gain, 9)
            );
        }
        if self.locus.crossings.is_empty() {
            out.push_str("  stability changes nowhere in this range\n");
        }
        for note in notes(&self.linear) {
            let _ = writeln!(out, "\nnote: {note}");
        }
        out
    }

    /// Writes everything for machines.
    pub fn to_json(&self) -> Value {
        let pair = |z: &Complex| json!([z.re, z.im]);
        json!({
            "cut": self.cut,
            "step": self.linear.step(),
            "gains": self.locus.gains,
            "branches": self.locus.branches.iter().map(|b| b.iter().map(pair).collect::<Vec<_>>()).collect::<Vec<_>>(),
            "crossings": self.locus.crossings.iter().map(|(g, z)| json!({"gain": g, "pole": pair(z)})).collect::<Vec<_>>(),
            "notes": notes(&self.linear),
        })
    }
}

/// The transfer function of every channel, in the units of inputs and outputs: name, unit, function.
///
/// # Errors
///
/// As for the poles.
pub fn transfers(
    design: &Design,
    linear: &Linearization,
) -> Result<Vec<NamedTransfer>, LinearError> {
    let model = linear.in_units();
    let mut found = Vec::new();
    for (o, output) in linear.outputs.iter().enumerate() {
        for (i, input) in linear.inputs.iter().enumerate() {
            let own = transfer(&model.channel(i, o)).map_err(|_| no_eigenvalues(design))?;
            let name = format!("{} from {}", output.name, input.name);
            found.push((name, per(&output.unit, &input.unit), own));
        }
    }
    Ok(found)
}

/// A transfer function with its name and unit.
pub type NamedTransfer = (String, String, Transfer);

/// The same in steps: poles and zeros at their places. None where the step is not positive, or no frequency is left at
/// which gains could be compared.
///
/// # Errors
///
/// As for [`transfers`].
pub fn matched_transfers(
    design: &Design,
    linear: &Linearization,
    step: f64,
) -> Result<Option<Vec<NamedTransfer>>, LinearError> {
    let all = transfers(design, linear)?.into_iter();
    let all = all.map(|(name, unit, own)| Some((name, unit, matched(&own, step)?)));
    Ok(all.collect())
}

/// Writes transfer functions for people.
pub fn transfers_to_text(linear: &Linearization, all: &[NamedTransfer]) -> String {
    let letter = if linear.step().is_some() { "z" } else { "s" };
    transfers_in(linear, all, letter)
}

/// As [`transfers_to_text`], in another letter.
pub fn transfers_in(linear: &Linearization, all: &[NamedTransfer], letter: &str) -> String {
    let mut out = format!("{}\n", about_point(linear));
    for (name, unit, own) in all {
        let unit = match unit.as_str() {
            "" => String::new(),
            unit => format!(" [{unit}]"),
        };
        let above = polynomial(&own.numerator, letter);
        let below = polynomial(&own.denominator, letter);
        let line = "-".repeat(above.chars().count().max(below.chars().count()));
        let _ = writeln!(out, "\n{name}{unit}\n  {above}\n  {line}\n  {below}");
        let roots = |roots: &[Complex]| {
            let upper = roots.iter().filter(|z| z.im >= 0.0);
            let shown: Vec<String> = upper.map(|&z| complex(z, 0.0)).collect();
            match shown.is_empty() {
                true => "none".to_owned(),
                false => shown.join(", "),
            }
        };
        let _ = writeln!(out, "  gain   {}", significant(own.gain, 9));
        let _ = writeln!(out, "  zeros  {}", roots(&own.zeros));
        let _ = writeln!(out, "  poles  {}", roots(&own.poles));
    }
    for note in notes(linear) {
        let _ = writeln!(out, "\nnote: {note}");
    }
    out
}

/// `2*s^2 + 3*s - 1`
fn polynomial(coefficients: &[f64], letter: &str) -> String {
    let degree = coefficients.len().saturating_sub(1);
    let mut out = String::new();
    for (k, &c) in coefficients.iter().enumerate() {
        if c == 0.0 {
            continue;
        }
        let power = match degree - k {
            0 => String::new(),
            1 => letter.to_owned(),
            n => format!("{letter}^{n}"),
        };
        let number = significant(c.abs(), 9);
        let size = match (number == "1", power.is_empty()) {
            (true, false) => power,
            (_, true) => number,
            (false, false) => format!("{number}*{power}"),
        };
        let sign = match (out.is_empty(), c < 0.0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        let _ = write!(out, "{sign}{size}");
    }

    match out.is_empty() {
        true => "0".to_owned(),
        false => out,
    }
}

/// Writes transfer functions for machines.
pub fn transfers_to_json(linear: &Linearization, all: &[NamedTransfer]) -> Value {
    let pair = |z: &Complex| json!([z.re, z.im]);
    let one = |(name, unit, own): &(String, String, Transfer)| {
        json!({
            "name": name, "unit": unit, "gain": own.gain,
            "numerator": own.numerator, "denominator": own.denominator,
            "zeros": own.zeros.iter().map(pair).collect::<Vec<_>>(),
            "poles": own.poles.iter().map(pair).collect::<Vec<_>>(),
        })
    };
    json!({
        "step": linear.step(),
        "channels": all.iter().map(one).collect::<Vec<_>>(),
        "notes": notes(linear),
    })
}
