//! Poles and zeros with what they mean.
//!
//! In:  a [`Linearization`].
//! Out: a [`PoleTable`]: every mode with damping, frequency and the states that move in it, and the
//!      zeros of each channel.

use super::bode::logarithm;
use super::text::{about_point, notes, trim_to_json};
use super::{LinearError, Linearization, no_eigenvalues};
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_linear::{Complex, Mode, modes, zeros};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Poles and zeros of a linear model.
#[derive(Clone, Debug)]
pub struct PoleTable {
    /// Slowest first.
    pub modes: Vec<Mode>,
    /// For each channel asked for: input, output, and its zeros; none where nothing passes.
    pub zeros: Vec<(usize, usize, Option<Vec<Complex>>)>,
}

/// More channels than this are not looked at for zeros unless they are named.
pub const MOST_CHANNELS: usize = 12;

/// Computes poles and zeros.
///
/// # Errors
///
/// The matrices are not finite, or the iteration for eigenvalues does not end.
pub fn poles(design: &Design, linear: &Linearization) -> Result<PoleTable, LinearError> {
    let failed = |_| no_eigenvalues(design);
    let modes = modes(&linear.model.a).map_err(failed)?;
    let (n_in, n_out) = (linear.inputs.len(), linear.outputs.len());
    let mut found = Vec::new();
    if n_in * n_out <= MOST_CHANNELS {
        for input in 0..n_in {
            for output in 0..n_out {
                let own = zeros(&linear.model.channel(input, output)).map_err(failed)?;
                found.push((input, output, own));
            }
        }
    }
    Ok(PoleTable {
        modes,
        zeros: found,
    })
}

/// A pole that rounding may have moved by more than this part of it is shown with how far.
const SURE: f64 = 1e-6;
/// States with at least this part in a mode are named.
const TAKES_PART: f64 = 0.1;
/// And no more of them than this.
const MOST_NAMED: usize = 4;

/// Writes poles and zeros for people.
pub fn poles_to_text(linear: &Linearization, table: &PoleTable) -> String {
    let mut out = format!("{}\n", about_point(linear));
    let unit = match linear.step() {
        None => "[1/s]",
        Some(_) => "z",
    };
    let mut rows: Vec<[String; 5]> = vec![
        [
            &*format!("pole {unit}"),
            "damping",
            "frequency [rad/s]",
            "time constant [s]",
            "moves most",
        ]
        .map(str::to_owned),
    ];

    for mode in table.modes.iter().filter(|m| m.pole.im >= 0.0) {
        rows.push(match linear.step() {
            Some(step) => row_in_steps(linear, mode, step),
            None => row_in_time(linear, mode),
        });
    }

    match table.modes.is_empty() {
        true => out.push_str("\nno states, no poles\n"),
        false => {
            out.push('\n');
            columns(&mut out, &rows);
        }
    }
    write_zeros(&mut out, linear, table, unit);
    write_growing(&mut out, linear, table);

    let n_channels = linear.inputs.len() * linear.outputs.len();
    if table.zeros.is_empty() && n_channels > 0 {
        let _ = writeln!(
            out,
            "\nnote: zeros belong to a channel; choose one of {n_channels} with --from and --to"
        );
    }

    for note in notes(linear) {
        let _ = writeln!(out, "\nnote: {note}");
    }
    out
}

/// A mode of a continuous model: pole, damping, frequency, time constant, what moves.
fn row_in_time(linear: &Linearization, mode: &Mode) -> [String; 5] {
    let seconds = mode.time_constant();
    let pole = match mode.is_at_zero() {
        true => "0".to_owned(),
        false => complex(mode.pole, mode.uncertainty),
    };
    let cell = |x: f64| match mode.is_at_zero() {
        true => "-".to_owned(),
        false => significant(x, 6),
    };
    [
        pole,
        cell(mode.damping()),
        cell(mode.natural_frequency()),
        match seconds.is_finite() {
            true => cell(seconds),
            false => "-".to_owned(),
        },
        movers(linear, mode),
    ]
}

fn write_zeros(out: &mut String, linear: &Linearization, table: &PoleTable, unit: &str) {
    for (input, output, own) in &table.zeros {
        let (input, output) = (&linear.inputs[*input].name, &linear.outputs[*output].name);
        let zeros = match own {
            None => "nothing passes".to_owned(),
            Some(zeros) if zeros.is_empty() => "none".to_owned(),
            Some(zeros) => {
                let upper = zeros.iter().filter(|z| z.im >= 0.0);
                let shown: Vec<String> = upper.map(|&z| complex(z, 0.0)).collect();
                shown.join(", ")
            }
        };
        let _ = writeln!(out, "\nzeros from {input} to {output} {unit}\n  {zeros}");
    }
}

/// Says how many poles make the model unstable, if any do.
fn write_growing(out: &mut String, linear: &Linearization, table: &PoleTable) {
    let grows = |m: &&Mode| match linear.step() {
        None => m.pole.re > 0.0 && !m.is_at_zero(),
        Some(_) => m.pole.norm() > 1.0 + 10.0 * m.uncertainty,
    };
    let n_growing = table.modes.iter().filter(grows).count();
    if n_growing > 0 {
        let _ = writeln!(
            out,
            "\nunstable: {n_growing} pole{} {}",
            if n_growing == 1 { "" } else { "s" },
            if linear.step().is_none() {
                "on the right"
            } else {
                "outside the unit circle"
            }
        );
    }
}

/// A pole z with damping, frequency and time constant of the s with e^{sT} = z.
fn row_in_steps(linear: &Linearization, mode: &Mode, step: f64) -> [String; 5] {
    if mode.is_at_zero() {
        // Gone after as many steps as there are such poles.
        let none = || "-".to_owned();
        return ["0".to_owned(), none(), none(), none(), movers(linear, mode)];
    }
    let same = Mode {
        pole: logarithm(mode.pole, step),
        ..mode.clone()
    };
    let is_at_one = (mode.pole.re - 1.0).hypot(mode.pole.im) <= 10.0 * mode.uncertainty;
    let cell = |x: f64| match x.is_finite() && !is_at_one {
        true => significant(x, 6),
        false => "-".to_owned(),
    };
    [
        complex(mode.pole, mode.uncertainty),
        cell(same.damping()),
        cell(same.natural_frequency()),
        cell(same.time_constant()),
        movers(linear, mode),
    ]
}

/// `-3.2 ± 4i`, with how far rounding may have moved it where that shows.
pub(super) fn complex(z: Complex, uncertainty: f64) -> String {
    const DIGITS: usize = 9;
    let mut text = significant(z.re, DIGITS);
    if z.im != 0.0 {
        // A part far below the other is what rounding leaves of zero.
        let is_imaginary = z.re.abs() < 1e-12 * z.im.abs();
        let im = significant(z.im.abs(), DIGITS);
        text = match is_imaginary {
            true => format!("± {im}i"),
            false => format!("{text} ± {im}i"),
        };
    }
    if uncertainty > SURE * z.norm() {
        let _ = write!(text, " (to {})", significant(uncertainty, 1));
    }
    text
}

fn movers(linear: &Linearization, mode: &Mode) -> String {
    let mut states: Vec<usize> = (0..mode.participation.len())
        .filter(|&k| mode.participation[k] >= TAKES_PART)
        .collect();
    states.sort_by(|&a, &b| {
        mode.participation[b]
            .total_cmp(&mode.participation[a])
            .then(a.cmp(&b))
    });
    let names = states
        .iter()
        .take(MOST_NAMED)
        .map(|&k| linear.states[k].name.as_str());
    names.collect::<Vec<&str>>().join(", ")
}

/// Writes rows with their columns below each other.
pub(super) fn columns<const N: usize>(out: &mut String, rows: &[[String; N]]) {
    let width = |k: usize| rows.iter().map(|r| r[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (cell, &width) in row.iter().zip(&widths) {
            let _ = write!(line, "  {cell:<width$}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// Writes poles and zeros for machines.
pub fn poles_to_json(linear: &Linearization, table: &PoleTable) -> Value {
    let pair = |z: &Complex| json!([z.re, z.im]);
    let mode = |own: &Mode| {
        // Damping and frequency of a pole z are those of the s with e^{sT} = z.
        let m = match linear.step() {
            Some(step) if !own.is_at_zero() => &Mode {
                pole: logarithm(own.pole, step),
                ..own.clone()
            },
            _ => own,
        };
        let parts = linear.states.iter().zip(&m.participation);
        json!({
            "pole": pair(&own.pole),
            "uncertainty": own.uncertainty,
            "is_at_zero": own.is_at_zero(),
            "damping": m.damping(),
            "frequency": m.natural_frequency(),
            "time_constant": Some(m.time_constant()).filter(|t| t.is_finite()),
            "participation": parts.map(|(s, p)| json!([s.name, p])).collect::<Vec<_>>(),
        })
    };

    let channel = |(input, output, own): &(usize, usize, Option<Vec<Complex>>)| {
        json!({
            "from": linear.inputs[*input].name,
            "to": linear.outputs[*output].name,
            "zeros": own.as_ref().map(|zeros| zeros.iter().map(pair).collect::<Vec<_>>()),
        })
    };

    json!({
        "time": linear.time,
        "is_at_rest": linear.is_at_rest(),
        "step": linear.step(),
        "poles": table.modes.iter().map(mode).collect::<Vec<_>>(),
        "zeros": table.zeros.iter().map(channel).collect::<Vec<_>>(),
        "trim": linear.trim.as_ref().map(trim_to_json),
        "notes": notes(linear),
    })
}
