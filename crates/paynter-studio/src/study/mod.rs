//! Studies: what takes more than one run, or a linear model. One at a time for each window, and cancel works at once.
//!
//! In:  which study, of which experiment with which values.
//! Out: a frame with curves, tables and notes, or why there is none; progress on the way.
//!
//! **Invariant:** a study never holds up runs: it has a thread of its own. The newest wins.

mod linear;
mod many;
mod structure;
mod table;

use crate::hub::{Hub, Out};
use crate::result::Shown;
use paynter::draw::plot::Plot;
use paynter::syntax::Diagnostic;
use paynter::{Choice, Design, DesignError, LinearChoice, SweepChoice, design_in};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
pub use table::Sheet;

/// A study to be made.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct StudyAsk {
    /// Comes back with the answer; newer ones are larger.
    pub study: u64,
    /// Which one.
    pub what: What,
    /// The file.
    pub path: String,
    /// The experiment; the model's first where none is named.
    pub experiment: Option<String>,
    /// The model, where there is no experiment.
    pub model: Option<String>,
    /// Changed parameters, as typed.
    pub set: Vec<(String, String)>,
    /// Inputs, with commas between; empty for those of the model.
    #[serde(default)]
    pub from: String,
    /// Outputs; empty for what is recorded.
    #[serde(default)]
    pub to: String,
    /// Target curves of the outputs, for the inverse.
    #[serde(default)]
    pub want: String,
    /// Where a loop is cut.
    #[serde(default)]
    pub cut: String,
    /// The time of the run at which, s.
    #[serde(default)]
    pub at: Option<f64>,
    /// `R1 in [10, 20] [ohm]`; empty for the sweeps of the experiment.
    #[serde(default)]
    pub over: Vec<String>,
}

/// The studies there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Poles and zeros.
    #[default]
    Poles,
    /// Frequency responses.
    Bode,
    /// Step responses.
    Step,
    /// Margins of a loop.
    Margins,
    /// One experiment over many values, drawn ones included.
    Sweep,
    /// The search of an experiment.
    Optimize,
    /// Every treatment of the locks.
    Methods,
    /// Loops through dependent storages.
    Loops,
    /// Controllability and observability.
    Control,
    /// Relative degrees, zeros and gains of paths.
    Channels,
    /// The inputs that target curves need, or bicausal strokes.
    Inverse,
    /// Energy that elements moved, power of bonds.
    Activity,
    /// Parts that drive others.
    Partition,
    /// What sensors show of faults.
    Faults,
}

impl What {
    /// It asks about inputs and outputs.
    fn has_ports(self) -> bool {
        use What::{Bode, Channels, Control, Faults, Inverse, Margins, Poles, Step};
        matches!(
            self,
            Poles | Bode | Step | Margins | Control | Channels | Inverse | Faults
        )
    }
}

/// What came of a study.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Curves.
    pub plots: Vec<Plot>,
    /// Tables.
    pub sheets: Vec<Sheet>,
    /// Sentences.
    pub notes: Vec<String>,
    /// Further facts for the page, such as poles to be drawn.
    pub facts: Value,
}

/// Asked while a study runs, with how much of it is done: may it go on?
pub type Watch<'w> = &'w (dyn Fn(f64) -> ControlFlow<()> + Sync);

const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// The bench of one window.
pub struct Bench {
    waiting: Mutex<(Option<StudyAsk>, bool)>,
    wake: Condvar,
    is_cancelled: AtomicBool,
    newest: AtomicU64,
}

impl Bench {
    /// Starts the thread.
    pub fn start(hub: Arc<Hub>, out: Out) -> Arc<Self> {
        let bench = Arc::new(Bench {
            waiting: Mutex::default(),
            wake: Condvar::new(),
            is_cancelled: AtomicBool::new(false),
            newest: AtomicU64::new(0),
        });
        let own = bench.clone();
        std::thread::spawn(move || own.work(&hub, &out));
        bench
    }

    /// Asks for a study; what is under way ends.
    pub fn ask(&self, ask: StudyAsk) {
        self.is_cancelled.store(false, Ordering::SeqCst);
        self.newest.store(ask.study, Ordering::SeqCst);
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .0 = Some(ask);
        self.wake.notify_all();
    }

    /// Breaks off what is under way.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
    }

    /// Ends the thread.
    pub fn close(&self) {
        self.cancel();
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .1 = true;
        self.wake.notify_all();
    }

    fn next(&self) -> Option<StudyAsk> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if waiting.1 {
                return None;
            }
            if let Some(ask) = waiting.0.take() {
                return Some(ask);
            }
            waiting = self
                .wake
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self, hub: &Arc<Hub>, out: &Out) {
        while let Some(ask) = self.next() {
            let told = Mutex::new(Instant::now());
            let watch = |done: f64| {
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                if told.elapsed() > PROGRESS_EVERY {
                    *told = Instant::now();
                    out.event(
                        &json!({ "event": "study_progress", "study": ask.study, "done": done }),
                    );
                }
                let is_old = self.newest.load(Ordering::SeqCst) != ask.study;
                match is_old || self.is_cancelled.load(Ordering::SeqCst) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            let begin = Instant::now();
            match study(hub, &ask, &watch) {
                Ok(answer) => out.binary(shown(&ask, answer, begin)),
                Err(why) => {
                    out.event(&json!({ "event": "study_failed", "study": ask.study, "why": why }))
                }
            }
        }
    }
}

/// Makes a study.
fn study(hub: &Arc<Hub>, ask: &StudyAsk, watch: Watch<'_>) -> Result<Answer, String> {
    let full = hub.full(&ask.path)?;
    let choice = choice_of(ask);
    let design = match design_in(&mut hub.world(), &full, &choice) {
        Ok(design) => design,
        Err(DesignError::Unreadable(why)) => return Err(why),
        Err(DesignError::Model(failed)) => return Err(words(&failed.diagnostics)),
    };
    answer(&design, &choice, ask, watch)
}

fn answer(
    design: &Design,
    choice: &Choice,
    ask: &StudyAsk,
    watch: Watch<'_>,
) -> Result<Answer, String> {
    match ask.what {
        What::Poles => linear::poles(design, ask),
        What::Bode => linear::bode(design, ask),
        What::Step => linear::step(design, ask),
        What::Margins => linear::margins(design, ask),
        What::Sweep => many::sweep(design, choice, watch),
        What::Optimize => many::optimize(design, choice, watch),
        What::Methods => many::methods(design, watch),
        What::Loops => structure::loops(design),
        What::Control => structure::control(design, ask),
        What::Channels => structure::channels(design, ask),
        What::Inverse if design.linear.want.is_empty() => structure::strokes(design, ask),
        What::Inverse => structure::inverse(design, ask),
        What::Activity => structure::activity(design),
        What::Partition => structure::partition(design),
        What::Faults => structure::faults(design, ask),
    }
}

fn choice_of(ask: &StudyAsk) -> Choice {
    let text = |t: &String| Some(t.trim().to_owned()).filter(|t| !t.is_empty());
    let over: Vec<String> = ask.over.iter().filter_map(text).collect();
    Choice {
        model: ask.model.clone().filter(|_| ask.experiment.is_none()),
        experiment: ask.experiment.clone(),
        overrides: ask.set.clone(),
        linear: ask.what.has_ports().then(|| LinearChoice {
            from: text(&ask.from),
            to: text(&ask.to),
            cut: text(&ask.cut).filter(|_| ask.what == What::Margins),
            want: text(&ask.want).filter(|_| ask.what == What::Inverse),
            ..LinearChoice::default()
        }),
        sweep: (ask.what == What::Sweep && !over.is_empty()).then_some(SweepChoice {
            over,
            is_paired: false,
        }),
    }
}

/// The headline of the first error, with what to do.
pub fn words(messages: &[Diagnostic]) -> String {
    let first = messages.iter().find(|m| m.is_error()).or(messages.first());
    first.map_or_else(
        || "there is no answer".to_owned(),
        |m| match m.help.first() {
            Some(help) => format!("{}: {}; {help}", m.code, m.message),
            None => format!("{}: {}", m.code, m.message),
        },
    )
}

fn shown(ask: &StudyAsk, answer: Answer, begin: Instant) -> Vec<u8> {
    let head = json!({
        "purpose": "study", "run": ask.study, "path": ask.path,
        "sheets": answer.sheets, "notes": answer.notes, "facts": answer.facts,
        "ms": 1e3 * begin.elapsed().as_secs_f64(),
    });
    Shown::of_plots(head, &answer.plots).frame(None, None, WIDTH)
}

/// Studies are not zoomed: this many pixels are enough for any.
const WIDTH: usize = 4000;

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_service::Workspace;

    const LOOP: &str = "model M {\n    param k = 4 [N/m], d = 0.4 [N*s/m]\n    input F [N] = 1 [N]\n    push: Se(F) -> j: 1 -> m: I(1 [kg]), c: C(1/k), r: R(d)\n    output x [m] = c.q\n}\n\
        experiment e of M { stop = 10 [s]; record x; measure top = max(x), end = final(x) }\n\
        experiment best of M { stop = 10 [s]; record x; measure top = max(x); optimize d in 0.1 [N*s/m] .. 4 [N*s/m] { minimize top; subject d <= 3 [N*s/m] } }\n";

    fn make(text: &str, ask: &StudyAsk, watch: Watch<'_>) -> Result<Answer, String> {
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", text);
        let choice = choice_of(ask);
        let design = workspace
            .with_loader(|loader| design_in(loader, "/m.bond", &choice))
            .map_err(|e| match e {
                DesignError::Unreadable(why) => why,
                DesignError::Model(failed) => words(&failed.diagnostics),
            })?;
        answer(&design, &choice, ask, watch)
    }

    fn ask(what: What, experiment: &str) -> StudyAsk {
        StudyAsk {
            what,
            experiment: Some(experiment.to_owned()),
            ..StudyAsk::default()
        }
    }

    const GO: Watch<'_> = &|_| ControlFlow::Continue(());

    /// Two masses on one junction: the gain of the loop is −m2/m1.
    #[test]
    fn a_loop_through_a_dependent_storage_has_its_gain() {
        let text = "model M {\n    param m1 = 4, m2 = 1\n    s: Se(1) -> j: 1 -> a: I(m1), b: I(m2), r: R(1)\n}\n\
            experiment e of M { stop = 1 [s]; record j.f }\n";
        let found = make(text, &ask(What::Loops, "e"), GO).expect("loops");
        let row = &found.sheets[0].rows[0];
        assert_eq!(
            row[2].as_f64().map(|x| (x.abs() * 1e9).round() / 1e9),
            Some(0.25),
            "{row:?}"
        );
        let none = make(LOOP, &ask(What::Loops, "e"), GO).expect("an answer");
        assert!(none.sheets.is_empty() && none.notes[0].contains("no storage depends"));
    }

    /// The six questions about the structure, with the numbers of the mass on its spring.
    #[test]
    fn every_question_about_the_structure_is_a_study() {
        let wish = |what: What, from: &str, to: &str| StudyAsk {
            from: from.to_owned(),
            to: to.to_owned(),
            ..ask(what, "e")
        };
        let has_drawing = |a: &Answer| a.facts["svg"].as_str().is_some_and(|s| s.contains("<svg"));
        let found = make(LOOP, &wish(What::Control, "F", "x"), GO).expect("an answer");
        assert_eq!(found.sheets.len(), 2, "{:?}", found.sheets);
        assert!(
            found.notes.iter().any(|n| n == "controllable from `F`"),
            "{:?}",
            found.notes
        );
        assert!(has_drawing(&found));
        let found = make(LOOP, &wish(What::Channels, "F", "x"), GO).expect("an answer");
        assert_eq!(found.sheets[0].rows[0][2].as_i64(), Some(2));
        assert!(
            found.notes.iter().any(|n| n.contains("gain")),
            "{:?}",
            found.notes
        );
        let found = make(LOOP, &ask(What::Activity, "e"), GO).expect("an answer");
        let share: f64 = found.sheets[0]
            .rows
            .iter()
            .filter_map(|r| r[3].as_f64())
            .sum();
        assert!(
            (share - 100.0).abs() < 1e-9 && has_drawing(&found),
            "{share}"
        );
        let found = make(LOOP, &wish(What::Faults, "F", "j.f"), GO).expect("an answer");
        let names: Vec<_> = found.sheets[0]
            .rows
            .iter()
            .filter_map(|r| r[0].as_str())
            .collect();
        assert!(names.contains(&"c") && names.contains(&"j.f"), "{names:?}");
        let found = make(LOOP, &ask(What::Partition, "e"), GO).expect("an answer");
        assert!(
            found.notes[0].contains("does not fall apart"),
            "{:?}",
            found.notes
        );
        let mut wanted = wish(What::Inverse, "F", "x");
        wanted.want = "1 [m]*(1 - cos(1 [rad/s]*time))".to_owned();
        let found = make(LOOP, &wanted, GO).expect("an answer");
        // m ẍ + d ẋ + k x, largest where its parts turn together; the source of F is sized.
        let most = found.sheets[0].rows[0][2].as_f64().expect("a number");
        assert!((most - 7.026_549).abs() < 1e-5, "{most}");
        assert_eq!(found.sheets[1].rows[0][0].as_str(), Some("push"));
        assert_eq!(found.plots[0].panels.len(), 2);
        wanted.want = "1 [m]".to_owned();
        let found = make(LOOP, &wanted, GO).expect("an answer");
        assert!(
            found.notes.iter().any(|n| n.starts_with("W0865")),
            "{:?}",
            found.notes
        );
    }

    /// From the flow of the mass to its force: nothing is left to integrate but the spring, which the flow drives.
    #[test]
    fn the_inverse_has_its_line_and_its_states() {
        let mut wish = ask(What::Inverse, "e");
        (wish.from, wish.to) = ("push.e".to_owned(), "j.f".to_owned());
        let found = make(LOOP, &wish, GO).expect("an inverse");
        assert_eq!(found.sheets[0].rows.len(), 1, "{:?}", found.sheets);
        let forms: Vec<_> = found.sheets[1]
            .rows
            .iter()
            .map(|r| (r[0].as_str(), r[1].as_str()))
            .collect();
        assert!(forms.contains(&(Some("c"), Some("integral"))), "{forms:?}");
        assert!(
            forms.contains(&(Some("m"), Some("derivative"))),
            "{forms:?}"
        );
        wish.to = "x".to_owned();
        assert!(
            make(LOOP, &wish, GO)
                .expect_err("no junction has it")
                .contains("E0860")
        );
    }

    /// s² + 0.4 s + 4: ω = 2, ζ = 0.1.
    #[test]
    fn poles_have_their_damping_and_frequency() {
        let found = make(LOOP, &ask(What::Poles, "e"), GO).expect("given");
        let row = &found.sheets[0].rows[0];
        assert!(
            (row[2].as_f64().expect("given") - 0.1).abs() < 1e-9,
            "{row:?}"
        );
        assert!(
            (row[3].as_f64().expect("given") - 2.0).abs() < 1e-9,
            "{row:?}"
        );
        assert_eq!(found.facts["poles"].as_array().expect("given").len(), 2);
    }

    /// The resonance lies at ω √(1 − 2ζ²) with 1/(2 ζ √(1 − ζ²)) times the gain at rest, 1/4.
    #[test]
    fn the_frequency_response_has_its_peak() {
        let found = make(LOOP, &ask(What::Bode, "e"), GO).expect("given");
        let row = &found.sheets[0].rows[0];
        let peak = 0.25 / (0.2 * (1.0 - 0.01_f64).sqrt());
        assert!(
            (row[2].as_f64().expect("given") - 20.0 * peak.log10()).abs() < 1e-3,
            "{row:?}"
        );
        assert!(
            (row[3].as_f64().expect("given") - 2.0 * (1.0 - 0.02_f64).sqrt()).abs() < 1e-2,
            "{row:?}"
        );
        assert!(found.plots[0].panels.len() >= 2 && found.plots[0].panels[0].is_x_logarithmic);
    }

    #[test]
    fn a_step_ends_at_its_gain() {
        let found = make(LOOP, &ask(What::Step, "e"), GO).expect("given");
        assert!((found.sheets[0].rows[0][2].as_f64().expect("given") - 0.25).abs() < 1e-9);
        assert!(found.plots[0].panels[0].series[0].y.len() > 100);
    }

    #[test]
    fn margins_need_a_signal_and_a_model_without_loop_says_so() {
        let why = make(LOOP, &ask(What::Margins, "e"), GO).expect_err("refused");
        assert!(why.contains("cut"), "{why}");
        // L = 3/(s² + 0.4 s + 1) has gain 1 where ω⁴ − 1.84 ω² − 8 = 0.
        let held = LOOP
            .replace("push: Se(F)", "u [N] = F - 3 [N/m]*c.q\n    push: Se(u)")
            .replace("k = 4", "k = 1");
        let cut = StudyAsk {
            cut: "u".to_owned(),
            ..ask(What::Margins, "e")
        };
        let found = make(&held, &cut, GO).expect("given");
        let w = (0.92 + (0.92_f64.powi(2) + 8.0).sqrt()).sqrt();
        let phase = 180.0 - (0.4 * w).atan2(1.0 - w * w).to_degrees();
        let seen = found.sheets[0].rows[0][2].as_f64().expect("given");
        assert!((seen - phase).abs() < 1e-6, "{seen} {phase}");
    }

    #[test]
    fn a_sweep_has_a_row_for_each_value_and_curves_over_them() {
        let over = StudyAsk {
            over: vec!["k in [1, 4, 16] [N/m]".to_owned()],
            ..ask(What::Sweep, "e")
        };
        let found = make(LOOP, &over, GO).expect("given");
        assert_eq!(found.sheets[0].rows.len(), 3);
        // At rest x = F/k; the overshoot is exp(−πζ/√(1−ζ²)), ζ = d/(2√k).
        let end = found.sheets[0].column("top").expect("given");
        let k = 4.0_f64;
        let zeta = 0.4 / (2.0 * k.sqrt());
        let top = 0.25 * (1.0 + (-std::f64::consts::PI * zeta / (1.0 - zeta * zeta).sqrt()).exp());
        let seen = found.sheets[0].rows[1][end].as_f64().expect("given");
        assert!((seen - top).abs() < 1e-5, "{seen} {top}");
        assert!(found.plots[0].panels[0].series[0].x.len() == 3);
        // The runs over one another, each with its value.
        let runs = &found.plots[1].panels[0].series;
        assert!(
            runs.len() == 3 && runs[1].name.starts_with("k = 4"),
            "{runs:?}"
        );
    }

    #[test]
    fn a_drawn_sample_has_statistics() {
        let over = StudyAsk {
            over: vec!["k in latin(20, mean = 4 [N/m], deviation = 0.4 [N/m])".to_owned()],
            ..ask(What::Sweep, "e")
        };
        match make(LOOP, &over, GO) {
            Ok(found) => assert!(
                found.sheets.iter().any(|s| s.title.contains("sample")),
                "{:?}",
                found.sheets
            ),
            Err(why) => panic!("{why}"),
        }
    }

    #[test]
    fn a_search_finds_the_bound_and_ends_when_told() {
        let found = make(LOOP, &ask(What::Optimize, "best"), GO).expect("given");
        let d = found.sheets[0].rows[0][1].as_f64().expect("given");
        assert!((d - 3.0).abs() < 1e-3, "{d}");
        let ended = make(LOOP, &ask(What::Optimize, "best"), &|_| {
            ControlFlow::Break(())
        });
        assert!(
            ended.is_err()
                || ended
                    .expect("given")
                    .notes
                    .iter()
                    .any(|n| n.contains("cancelled"))
        );
        let why = make(LOOP, &ask(What::Optimize, "e"), GO).expect_err("refused");
        assert!(why.contains("no `optimize`"), "{why}");
    }
}
