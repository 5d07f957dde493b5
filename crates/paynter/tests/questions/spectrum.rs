//! Laws of spectra: whole periods in one line, Parseval, amplitudes between the lines, refusals.

use paynter::spectrum::{Window, spectra};
use paynter::table::{Column, Table};
use std::f64::consts::TAU;

fn table(n: usize, step: f64, f: impl Fn(f64) -> f64) -> Table {
    let time: Vec<f64> = (0..n).map(|k| k as f64 * step).collect();
    Table {
        columns: vec![Column {
            name: "x".to_owned(),
            unit: "V".to_owned(),
            values: time.iter().map(|&t| f(t)).collect(),
        }],
        time,
        ..Table::default()
    }
}

#[test]
fn whole_periods_show_in_one_line_for_any_length() {
    for n in [4, 60, 64, 97, 100, 1000, 1023] {
        let step = 1.0 / n as f64;
        let t = table(n, step, |t| 3.0 + 2.0 * (TAU * t).cos());
        let own = &spectra(&t, &[], Window::Rectangular, (None, None)).expect("fine")[0];
        assert!((own.amplitude[0] - 3.0).abs() < 1e-12);
        assert!(
            (own.amplitude[1] - 2.0).abs() < 1e-11,
            "{n}: {}",
            own.amplitude[1]
        );
        assert!((own.frequency[1] - 1.0).abs() < 1e-12);
        let rest = own.amplitude.iter().skip(2).fold(0.0_f64, |m, &a| m.max(a));
        assert!(rest < 1e-11, "{n}: {rest}");
    }
}

#[test]
fn squares_of_lines_are_squares_of_samples() {
    // Parseval: the mean square is mean² + Σ a²/2, the last line of an even number counting whole. Fixed seed.
    let mut seed = 5_u64;
    for n in [5, 8, 33, 250] {
        let mut t = table(n, 0.1, |_| 0.0);
        for x in &mut t.columns[0].values {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            *x = (seed >> 40) as f64 / 1e7 - 0.8;
        }
        let own = &spectra(&t, &[], Window::Rectangular, (None, None)).expect("fine")[0];
        let square = t.columns[0].values.iter().map(|x| x * x).sum::<f64>() / n as f64;
        let lines = own.amplitude.iter().enumerate().map(|(k, a)| match k {
            0 => a * a,
            k if 2 * k == n => a * a,
            _ => a * a / 2.0,
        });
        let ratio = lines.sum::<f64>() / square;
        assert!((ratio - 1.0).abs() < 1e-12, "{n}: {ratio}");
    }
}

#[test]
fn a_flat_top_finds_amplitudes_between_the_lines() {
    let t = table(1000, 1e-3, |t| 1.5 * (TAU * 50.37 * t).sin());
    let own = &spectra(&t, &[], Window::FlatTop, (None, None)).expect("fine")[0];
    let (frequency, amplitude) = own.peaks[0];
    assert!((amplitude - 1.5).abs() < 3e-3, "{amplitude}");
    assert!((frequency - 50.37).abs() < 0.5, "{frequency}");
    let own = &spectra(&t, &[], Window::Hann, (None, None)).expect("fine")[0];
    assert!((own.peaks[0].0 - 50.37).abs() < 1e-3, "{}", own.peaks[0].0);
    assert!((own.peaks[0].1 - 1.5).abs() < 1e-3, "{}", own.peaks[0].1);
}

#[test]
fn what_has_no_spectrum_is_refused() {
    let good = table(10, 0.1, |t| t);
    let refused =
        |t: &Table, name: &str| spectra(t, &[name.to_owned()], Window::Hann, (None, None)).is_err();
    assert!(!refused(&good, "x") && refused(&good, "y"));
    assert!(refused(&table(3, 0.1, |t| t), "x"));
    assert!(refused(&table(10, 0.1, |t| 1.0 / (t - 0.5).max(0.0)), "x"));
    let mut uneven = good.clone();
    uneven.time[4] += 0.02;
    assert!(refused(&uneven, "x"));
    assert!(spectra(&good, &[], Window::Hann, (Some(5.0), None)).is_err());
}
