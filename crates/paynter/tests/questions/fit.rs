//! Fits: the truth from seeded data, intervals that hold it as often as they say, and data that cannot tell.

use crate::kit::{self, design};
use paynter::fit::{Estimated, FitRequest, fit, to_json, to_text};
use paynter::optimization::Random;
use paynter::syntax::Diagnostic;
use paynter::{Choice, Design};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A data file beside the models of these tests, which disappears with its value.
struct Data(PathBuf);

impl Data {
    fn new(text: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("paynter-fit-{}-{n}.csv", std::process::id()));
        std::fs::write(&path, text).expect("the temporary folder can be written");
        Data(path)
    }

    fn name(&self) -> String {
        self.0
            .file_name()
            .expect("it has one")
            .to_string_lossy()
            .into_owned()
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn try_fit(design: &Design, jobs: usize) -> Result<Estimated, Vec<Diagnostic>> {
    let ask = FitRequest {
        jobs,
        ..FitRequest::default()
    };
    fit(design, &Choice::default(), &ask, &|_| {
        ControlFlow::Continue(())
    })
}

/// A body that slows down: v = v0 e^{−b t/m}, x = v0 m/b (1 − e^{−b t/m}).
const BRAKE: &str = "\
model M {
    param b = 1 [N*s/m], m = 2 [kg], v0 = 1 [m/s]
    x: 1 -> body: I(m), R(b)
    start x.f = v0
    s [m] = integral(x.f)
}
experiment e of M {
    stop = 4 [s]; record x.f as v, s [cm] as way
    fit b in 0.1 [N*s/m] .. 9 [N*s/m], v0 in 0.2 [m/s] .. 5 [m/s] { data \"FILE\" SIGMA }
}
";

fn samples(b: f64, v0: f64, n: usize, random: &mut Random, sigma: (f64, f64)) -> String {
    let mut text = String::from("time,v,way\n");
    for k in 0..n {
        let t = 4.0 * (k as f64 + 0.5) / n as f64;
        let decay = (-b * t / 2.0).exp();
        let v = v0 * decay + sigma.0 * random.normal();
        let way = 100.0 * v0 * 2.0 / b * (1.0 - decay) + sigma.1 * random.normal();
        // A third of the ways was not measured.
        let way = if k % 3 == 1 {
            String::new()
        } else {
            way.to_string()
        };
        text.push_str(&format!("{t},{v},{way}\n"));
    }
    text
}

fn brake(data: &Data, sigma: &str) -> Design {
    design(&BRAKE.replace("FILE", &data.name()).replace("SIGMA", sigma))
}

#[test]
fn exact_data_give_the_parameters_back() {
    let data = Data::new(&samples(1.7, 2.5, 25, &mut Random::new(1, 0), (0.0, 0.0)));
    let found = try_fit(&brake(&data, ""), 2).expect("it starts");
    for (value, truth) in found.values.iter().zip([1.7, 2.5]) {
        assert!((value.value - truth).abs() < 1e-6 * truth, "{value:?}");
    }
    assert!(found.unresolved.is_empty() && found.messages.is_empty());
    assert_eq!(
        found.columns.iter().map(|c| c.n).collect::<Vec<_>>(),
        [25, 17]
    );
}

#[test]
fn intervals_hold_the_truth_in_95_of_100_experiments() {
    let mut random = Random::new(2, 0);
    let mut n_inside = [0usize; 2];
    let mut n_inside_given = [0usize; 2];
    const REPEATED: usize = 200;
    for _ in 0..REPEATED {
        let data = Data::new(&samples(1.7, 2.5, 30, &mut random, (0.02, 3.0)));
        let given = "; sigma v = 2 [cm/s], way = 3 [cm]";
        for (sigma, counts) in [("", &mut n_inside), (given, &mut n_inside_given)] {
            let ask = FitRequest {
                n_starts: 1,
                ..FitRequest::default()
            };
            let design = brake(&data, sigma);
            let found = fit(&design, &Choice::default(), &ask, &|_| {
                ControlFlow::Continue(())
            });
            let found = found.expect("it starts");
            for (k, truth) in [1.7, 2.5].into_iter().enumerate() {
                let (low, high) = found.values[k].interval.expect("the data fix both");
                counts[k] += usize::from(low <= truth && truth <= high);
            }
        }
    }
    // 190 of 200 within three deviations of the count (3.1); learned weights take a little of the freedom.
    for n in n_inside_given {
        assert!((181..=199).contains(&n), "{n_inside_given:?}");
    }
    for n in n_inside {
        assert!((178..=199).contains(&n), "{n_inside:?}");
    }
}

#[test]
fn what_the_data_cannot_tell_apart_is_said() {
    let data = Data::new(&samples(1.7, 2.5, 25, &mut Random::new(3, 0), (0.01, 1.0)));
    let text = BRAKE
        .replace("FILE", &data.name())
        .replace("SIGMA", "")
        .replace(
            "v0 in 0.2 [m/s] .. 5 [m/s]",
            "m in 0.5 [kg] .. 9 [kg], v0 in 0.2 [m/s] .. 5 [m/s]",
        );
    let found = try_fit(&design(&text), 1).expect("it starts");
    // Only b/m is seen.
    let [one] = &found.unresolved[..] else {
        panic!("{:?}", found.unresolved);
    };
    assert_eq!(
        one.changes.iter().map(|c| c.0.as_str()).collect::<Vec<_>>(),
        ["b", "m"]
    );
    assert!(
        (one.changes[0].1 - one.changes[1].1).abs() < 0.02,
        "{one:?}"
    );
    // The speed at the start is known all the same.
    let (low, high) = found.values[2].interval.expect("the data fix it");
    assert!(low < 2.5 && 2.5 < high, "{low} {high}");
    assert!(found.values[0].interval.is_none() && found.values[1].interval.is_none());
    let ratio = found.values[0].value / found.values[1].value;
    assert!((ratio - 0.85).abs() < 0.02, "{ratio}");
    assert_eq!(
        found.messages.iter().map(|m| m.code).collect::<Vec<_>>(),
        ["W0839"]
    );
    assert!(to_text(&found).contains("not fixed by the data"));
}

#[test]
fn several_runs_and_any_number_of_threads() {
    let mut random = Random::new(5, 0);
    let first = Data::new(&samples(1.7, 2.5, 25, &mut random, (0.01, 1.0)));
    let second = Data::new(&samples(3.4, 2.5, 25, &mut random, (0.01, 1.0)));
    let text = BRAKE
        .replace("FILE", &first.name())
        .replace("SIGMA", &format!("; data \"{}\" of light", second.name()));
    // Half the mass and the same brake.
    let text = format!(
        "{text}experiment light of M {{ with m = 1 [kg]; stop = 4 [s]; record x.f as v, s [cm] as way }}\n"
    );
    let design = design(&text);
    let by = |jobs| try_fit(&design, jobs).expect("it starts");
    let (one, three) = (by(1), by(3));
    assert_eq!(to_json(&one)["values"], to_json(&three)["values"]);
    assert!((one.values[0].value - 1.7).abs() < 0.05, "{:?}", one.values);
    assert_eq!(one.columns[0].n, 50);
}

#[test]
fn data_that_cannot_be_used_are_refused() {
    let codes = |data: &str, sigma: &str| -> Vec<&'static str> {
        let data = Data::new(data);
        let text = BRAKE.replace("FILE", &data.name()).replace("SIGMA", sigma);
        match kit::try_design(&text) {
            Err(failed) => failed.diagnostics.iter().map(|m| m.code).collect(),
            Ok(design) => match try_fit(&design, 1) {
                Err(messages) => messages.iter().map(|m| m.code).collect(),
                Ok(found) => found.messages.iter().map(|m| m.code).collect(),
            },
        }
    };
    let good = "time,v\n0,2\n1,1\n2,0.5\n";
    assert_eq!(codes(good, ""), [""; 0]);
    assert_eq!(codes("time,speed\n0,2\n1,1\n2,0.5\n", ""), ["E0838"]);
    assert_eq!(codes("time,v\n0,2\n1,1\n9,0.5\n", ""), ["E0838"]);
    assert_eq!(codes("time,v\n0,2\n1,1\n", ""), ["E0838"]);
    assert_eq!(codes("nothing", ""), ["E0838"]);
    assert_eq!(codes("time,v\n0,x\n", ""), ["E0731"]);
    assert_eq!(codes(good, "; sigma way = 1 [cm]"), ["E0838"]);
    assert_eq!(codes(good, "; data \"no.csv\""), ["E0731"]);
    assert_eq!(codes(good, "; sigma v = 1 [kg]").len(), 1);
    assert_eq!(codes(good, "; sigma v = 0 [m/s]").len(), 1);
}

#[test]
fn slopes_are_exact_where_the_model_allows_it() {
    let data = Data::new(&samples(1.7, 2.5, 25, &mut Random::new(1, 0), (0.0, 0.0)));
    let found = try_fit(&brake(&data, ""), 2).expect("it starts");
    assert!(found.has_exact_slopes);
    assert!(to_text(&found).contains("exact slopes"));
    // With exact data and exact slopes the last digits of the runs are reached.
    for (value, truth) in found.values.iter().zip([1.7, 2.5]) {
        assert!((value.value - truth).abs() < 1e-8 * truth, "{value:?}");
    }
    // A sampled value that depends on the motion cannot be followed: differences, and it says so.
    let text = BRAKE
        .replace(
            "    s [m]",
            "    sample at 10 [Hz] { seen = x.f }\n    s [m]",
        )
        .replace("record x.f as v,", "record x.f as v, seen,")
        .replace("FILE", &data.name())
        .replace("SIGMA", "");
    let found = try_fit(&design(&text), 2).expect("it starts");
    assert!(!found.has_exact_slopes);
    for (value, truth) in found.values.iter().zip([1.7, 2.5]) {
        assert!((value.value - truth).abs() < 1e-6 * truth, "{value:?}");
    }
}
