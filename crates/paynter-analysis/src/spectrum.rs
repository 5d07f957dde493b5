//! Amplitude spectra of recorded signals.
//!
//! In:  columns of a [`Table`] at equal distances in time, and a window.
//! Out: a [`Spectrum`]: the amplitude of each frequency from 0 to half the sampling rate, and the largest peaks.
//!
//! A sine of amplitude a has a peak of height a whatever the window. Transforms of any length by Bluestein's algorithm, so that no
//! sample is left out or made up.
//!
//! **Invariant:** with the rectangular window, a sine with a whole number of periods in the record shows in one line alone.

use paynter_design::digits::significant;
use paynter_draw::plot::{Plot, Series, panels_by_unit};
use paynter_linear::Complex;
use paynter_run::table::Table;
use serde_json::{Value, json};
use std::f64::consts::{PI, TAU};
use std::fmt::Write as _;

/// How samples are weighted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// All samples alike: exact for whole periods.
    Rectangular,
    /// 0.5 − 0.5 cos: the usual choice.
    #[default]
    Hann,
    /// 0.54 − 0.46 cos.
    Hamming,
    /// Three terms: low side lobes.
    Blackman,
    /// Five terms: amplitudes right to 0.1 % wherever the frequency lies between the lines.
    FlatTop,
}

impl Window {
    /// Coefficients of the cosines, with alternating signs.
    fn terms(self) -> &'static [f64] {
        match self {
            Window::Rectangular => &[1.0],
            Window::Hann => &[0.5, 0.5],
            Window::Hamming => &[0.54, 0.46],
            Window::Blackman => &[0.42, 0.5, 0.08],
            // Five terms whose sum is 1; the top is flat to 0.01 dB.
            Window::FlatTop => &[
                0.215_578_95,
                0.416_631_58,
                0.277_263_158,
                0.083_578_947,
                0.006_947_368,
            ],
        }
    }

    /// The weight of sample k of n; periodic, so that the sum of the weights is n times the first term.
    fn weight(self, k: usize, n: usize) -> f64 {
        let angle = TAU * k as f64 / n as f64;
        let terms = self.terms().iter().enumerate();
        terms
            .map(|(m, a)| a * (angle * m as f64).cos() * if m % 2 == 0 { 1.0 } else { -1.0 })
            .sum()
    }
}

/// The spectrum of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Its name.
    pub name: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Hz
    pub frequency: Vec<f64>,
    /// In the unit of the column; at 0 Hz the mean.
    pub amplitude: Vec<f64>,
    /// Frequency and amplitude of the largest peaks, largest first.
    pub peaks: Vec<(f64, f64)>,
}

/// Peaks that are listed.
const MOST_PEAKS: usize = 5;
/// Times may differ from equal distances by this part of a step: what printing them leaves.
const EQUAL: f64 = 1e-6;

/// Computes the spectra of columns between two times.
///
/// # Errors
///
/// Unknown columns, too few samples, unequal distances, values that are not numbers: in words.
pub fn spectra(
    table: &Table,
    columns: &[String],
    window: Window,
    (from, to): (Option<f64>, Option<f64>),
) -> Result<Vec<Spectrum>, String> {
    let first = table
        .time
        .partition_point(|&t| from.is_some_and(|from| t < from));
    let last = table.time.partition_point(|&t| to.is_none_or(|to| t <= to));
    let time = table.time.get(first..last).unwrap_or(&[]);
    let n = time.len();
    if n < 4 {
        return Err(format!(
            "a spectrum needs at least 4 samples; there are {n}"
        ));
    }

    let step = (time[n - 1] - time[0]) / (n - 1) as f64;
    let off = |k: usize| (time[k] - time[0] - step * k as f64).abs();
    if let Some(k) = (0..n).find(|&k| off(k) > EQUAL * step) {
        return Err(format!(
            "samples are not equally spaced near t = {} s; give the experiment an `output_step`",
            significant(time[k], 6)
        ));
    }

    let unknown = columns.iter().find(|c| table.column(c).is_none());
    if let Some(name) = unknown {
        let known: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
        return Err(format!(
            "there is no column `{name}`; there are {}",
            known.join(", ")
        ));
    }

    let chosen = table
        .columns
        .iter()
        .filter(|c| columns.is_empty() || columns.contains(&c.name));
    let mut found = Vec::new();
    for column in chosen {
        let values = &column.values[first..last];
        if values.iter().any(|x| !x.is_finite()) {
            return Err(format!("`{}` is not a number at some times", column.name));
        }
        let (frequency, amplitude) = amplitudes(values, step, window);
        found.push(Spectrum {
            name: column.name.clone(),
            unit: column.unit.clone(),
            peaks: peaks(&frequency, &amplitude, window),
            frequency,
            amplitude,
        });
    }
    Ok(found)
}

fn amplitudes(values: &[f64], step: f64, window: Window) -> (Vec<f64>, Vec<f64>) {
    let n = values.len();
    // The mean is taken out first: its side lobes would cover slow oscillations.
    let mean = values.iter().sum::<f64>() / n as f64;
    let weighted: Vec<Complex> = values
        .iter()
        .enumerate()
        .map(|(k, x)| Complex::new((x - mean) * window.weight(k, n), 0.0))
        .collect();
    let sum = window.terms()[0] * n as f64;
    let lines = transform(&weighted);
    let frequency = |k: usize| k as f64 / (n as f64 * step);
    let amplitude = |k: usize| match k {
        0 => mean.abs(),
        // Half the sampling rate is its own mirror.
        k if 2 * k == n => lines[k].norm() / sum,
        k => 2.0 * lines[k].norm() / sum,
    };
    let count = n / 2 + 1;
    (
        (0..count).map(frequency).collect(),
        (0..count).map(amplitude).collect(),
    )
}

/// Lines that are higher than their neighbours, with the frequency and the amplitude that a sine between the lines would have.
fn peaks(frequency: &[f64], amplitude: &[f64], window: Window) -> Vec<(f64, f64)> {
    let largest = amplitude.iter().skip(1).fold(0.0_f64, |m, &a| m.max(a));
    let mut found = Vec::new();
    for k in 1..amplitude.len().saturating_sub(1) {
        let (a, b, c) = (amplitude[k - 1], amplitude[k], amplitude[k + 1]);
        // The mean is not a neighbour.
        let a = if k == 1 { 0.0 } else { a };
        // What is a thousandth of the largest is hardly ever meant.
        if b > a && b >= c && b > 1e-3 * largest {
            let (shift, height) = between((a, b, c), window);
            let width = frequency[k] - frequency[k - 1];
            found.push((frequency[k] + shift * width, height));
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.truncate(MOST_PEAKS);
    found
}

/// How far from the middle of three lines a sine lies, in lines, and its amplitude.
///
/// For the rectangular window and that of Hann the two highest lines tell both exactly (Rife & Vincent 1970), as far as
/// other sines are far away; else a parabola through three lines tells the place.
fn between((a, b, c): (f64, f64, f64), window: Window) -> (f64, f64) {
    let (side, other) = if c >= a { (1.0, c) } else { (-1.0, a) };
    let ratio = other / b;
    let bend = a - 2.0 * b + c;
    let parabola = if bend < 0.0 {
        0.5 * (a - c) / bend
    } else {
        0.0
    };
    let shift = match window {
        Window::Rectangular => ratio / (1.0 + ratio),
        Window::Hann => ((2.0 * ratio - 1.0) / (1.0 + ratio)).max(0.0),
        Window::Hamming | Window::Blackman | Window::FlatTop => return (parabola, b),
    };
    let lobe = match shift * PI {
        0.0 => 1.0,
        angle => angle / angle.sin(),
    };
    let height = match window {
        Window::Rectangular => b * lobe,
        _ => b * lobe * (1.0 - shift * shift),
    };
    (side * shift, height)
}

/// Σ x e^{−2πi jk/n} for any n (Bluestein 1970).
fn transform(x: &[Complex]) -> Vec<Complex> {
    let n = x.len();
    if n.is_power_of_two() {
        let mut own = x.to_vec();
        halve(&mut own, false);
        return own;
    }
    // j k = (j² + k² − (k − j)²)/2, with squares modulo 2n so that angles stay small.
    let chirp = |k: usize| {
        let square = (k as u128 * k as u128 % (2 * n as u128)) as f64;
        let (sin, cos) = (PI * square / n as f64).sin_cos();
        Complex::new(cos, -sin)
    };
    let m = (2 * n - 1).next_power_of_two();
    let zero = Complex::new(0.0, 0.0);
    let (mut a, mut b) = (vec![zero; m], vec![zero; m]);
    for k in 0..n {
        a[k] = x[k] * chirp(k);
        let back = chirp(k).conj();
        b[k] = back;
        b[(m - k) % m] = back;
    }
    halve(&mut a, false);
    halve(&mut b, false);
    a.iter_mut().zip(&b).for_each(|(a, b)| *a *= *b);
    halve(&mut a, true);
    (0..n).map(|k| a[k] * chirp(k) / m as f64).collect()
}

/// The transform of a power of two, in place (Cooley & Tukey 1965); backwards without the factor 1/n.
fn halve(x: &mut [Complex], is_backward: bool) {
    let n = x.len();
    let bits = n.trailing_zeros();
    for k in 0..n {
        let mirror = if bits == 0 {
            0
        } else {
            k.reverse_bits() >> (usize::BITS - bits)
        };
        if mirror > k {
            x.swap(k, mirror);
        }
    }

    let mut size = 2;
    while size <= n {
        let turn = if is_backward { TAU } else { -TAU } / size as f64;
        let turns: Vec<Complex> = (0..size / 2)
            .map(|k| {
                let (sin, cos) = (turn * k as f64).sin_cos();
                Complex::new(cos, sin)
            })
            .collect();
        for block in x.chunks_exact_mut(size) {
            let (low, high) = block.split_at_mut(size / 2);
            for ((a, b), turn) in low.iter_mut().zip(high).zip(&turns) {
                let turned = *b * *turn;
                *b = *a - turned;
                *a += turned;
            }
        }
        size *= 2;
    }
}

/// Writes the peaks for people.
pub fn spectra_to_text(all: &[Spectrum]) -> String {
    let mut out = String::new();
    for own in all {
        let with_unit = |x: f64| {
            let text = format!("{} {}", significant(x, 6), own.unit);
            text.trim_end().to_owned()
        };
        let highest = own.frequency.last().copied().unwrap_or(0.0);
        let width = own.frequency.get(1).copied().unwrap_or(0.0);
        let _ = writeln!(
            out,
            "{}: lines every {} Hz up to {} Hz",
            own.name,
            significant(width, 6),
            significant(highest, 6)
        );
        let _ = writeln!(
            out,
            "  mean  {}",
            with_unit(own.amplitude.first().copied().unwrap_or(0.0))
        );
        for (frequency, amplitude) in &own.peaks {
            let _ = writeln!(
                out,
                "  peak  {} at {} Hz = {} rad/s",
                with_unit(*amplitude),
                significant(*frequency, 6),
                significant(TAU * frequency, 6)
            );
        }
        out.push('\n');
    }
    out
}

/// Writes everything for machines.
pub fn spectra_to_json(all: &[Spectrum]) -> Value {
    let one = |s: &Spectrum| {
        json!({
            "name": s.name, "unit": s.unit, "frequency": s.frequency, "amplitude": s.amplitude,
            "peaks": s.peaks.iter().map(|p| json!({"frequency": p.0, "amplitude": p.1})).collect::<Vec<_>>(),
        })
    };
    json!({"spectra": all.iter().map(one).collect::<Vec<_>>()})
}

/// Writes one row per line and column: `column,frequency_Hz,amplitude`.
pub fn spectra_to_csv(all: &[Spectrum]) -> String {
    let mut out = String::from("column,unit,frequency_Hz,amplitude\n");
    for own in all {
        for (frequency, amplitude) in own.frequency.iter().zip(&own.amplitude) {
            let _ = writeln!(
                out,
                "\"{}\",\"{}\",{frequency:?},{amplitude:?}",
                own.name.replace('"', "\"\""),
                own.unit
            );
        }
    }
    out
}

/// Draws amplitudes over frequency.
pub fn spectra_plot(all: &[Spectrum], title: &str) -> Plot {
    let curves = all.iter().map(|own| {
        let series = Series {
            name: own.name.clone(),
            x: own.frequency.clone(),
            y: own.amplitude.clone(),
            ..Series::default()
        };
        (series, own.unit.clone())
    });
    Plot {
        title: title.to_owned(),
        panels: panels_by_unit(curves.collect(), "frequency [Hz]", &[]),
    }
}
