//! Runs on a thread of their own: one at a time for each window, the newest wins, and cancel works at once.
//!
//! In:  asks of a window.
//! Out: frames with results, events with progress, or why a run cannot start.
//!
//! **Invariant:** at most one run is under way and one of each kind waits; a newer ask replaces the waiting one.

use crate::analyse::enter;
use crate::bonds::{want_powers, want_signals};
use crate::export::{Format, file, file_frame};
use crate::frame::{Curve, film_frame};
use crate::hub::{Hub, Out};
use crate::result::{Begun, Made, Shown};
use crate::seen::Seen;
use crate::wire::{Focus, RunAsk};
use paynter::draw::plot::Plot;
use paynter::model::graph::BondId;
use paynter::run::{RunChoice, run};
use paynter::scene::film;
use paynter::simulate::Ending;
use paynter::syntax::Diagnostic;
use paynter::table::Table;
use paynter::watching::Watch;
use paynter::{Choice, Design, DesignError, design_in};
use serde_json::json;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// While a slider moves, curves are drawn to this tolerance: a pixel is a thousandth.
const ROUGH_TOLERANCE: f64 = 1e-6;
/// A run under a moving slider may finish although a newer one waits, unless it takes longer than this:
/// else no curve would be seen before the hand is still.
const PATIENCE: Duration = Duration::from_millis(300);
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// A run that takes longer than this shows its curves while it goes on.
const LONG: Duration = Duration::from_millis(250);

/// What waits to be done.
#[derive(Default)]
struct Waiting {
    run: Option<RunAsk>,
    curves: Option<(String, usize)>,
    powers: Option<usize>,
    scene: bool,
    is_closed: bool,
}

/// The runner of one window.
pub struct Runner {
    waiting: Mutex<Waiting>,
    wake: Condvar,
    is_cancelled: AtomicBool,
    /// Number of the newest run asked for, and whether it is for a moving slider.
    newest: AtomicU64,
    newest_is_rough: AtomicBool,
    last: Mutex<Option<Last>>,
    seen: Arc<Mutex<Seen>>,
}

/// The last finished run.
struct Last {
    ask: RunAsk,
    name: String,
    table: Arc<Table>,
    plots: Vec<Plot>,
}

/// The last run once more, for the bonds of the level that is looked at.
struct Again {
    design: Design,
    level: paynter_service::View,
    /// The scalar bonds of the design's graph behind each drawn bond.
    behind: Vec<(String, Vec<BondId>)>,
    path: String,
}

impl Runner {
    /// Starts the thread.
    pub fn start(hub: Arc<Hub>, out: Out, focus: Arc<Mutex<Focus>>) -> Arc<Self> {
        let runner = Arc::new(Runner {
            waiting: Mutex::default(),
            wake: Condvar::new(),
            is_cancelled: AtomicBool::new(false),
            newest: AtomicU64::new(0),
            newest_is_rough: AtomicBool::new(false),
            last: Mutex::new(None),
            seen: Arc::default(),
        });
        let own = runner.clone();
        std::thread::spawn(move || own.work(&hub, &out, &focus));
        runner
    }

    /// Asks for a run.
    pub fn run(&self, ask: RunAsk) {
        self.newest_is_rough.store(ask.rough, Ordering::SeqCst);
        self.newest.store(ask.run, Ordering::SeqCst);
        self.is_cancelled.store(false, Ordering::SeqCst);
        self.look(|seen| seen.look_at(ask.from.zip(ask.to), ask.width));
        self.change(|w| w.run = Some(ask));
    }

    /// Asks for the signals of a node or bond.
    pub fn curves(&self, of: String, width: usize) {
        self.change(|w| w.curves = Some((of, width)));
    }

    /// Asks for the powers of all bonds.
    pub fn powers(&self, width: usize) {
        self.change(|w| w.powers = Some(width));
    }

    /// Asks for the film of the bodies.
    pub fn scene(&self) {
        self.change(|w| w.scene = true);
    }

    /// Breaks off what is under way and what waits.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
    }

    /// Ends the thread.
    pub fn close(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
        self.change(|w| w.is_closed = true);
    }

    /// Gives a part of the curves that are seen, finely.
    pub fn zoom(&self, range: Option<(f64, f64)>, width: usize) -> Vec<Vec<u8>> {
        self.look(|seen| seen.zoom(range, width))
    }

    /// Keeps the curves of these runs for zooming.
    pub fn pin(&self, runs: &[u64]) {
        self.look(|seen| seen.pin(runs));
    }

    fn look<R>(&self, look: impl FnOnce(&mut Seen) -> R) -> R {
        look(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives the last run as a file.
    ///
    /// # Errors
    ///
    /// There is no run, or nothing of this kind in it.
    pub fn export(&self, format: Format) -> Result<Vec<u8>, String> {
        let (name, table, plots) = {
            let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let last = last.as_ref().ok_or("there is no run to save")?;
            (last.name.clone(), last.table.clone(), last.plots.clone())
        };
        Ok(file_frame(format, &name, &file(format, &table, &plots)?))
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut waiting);
        self.wake.notify_all();
    }

    /// The next thing to do: runs first; none when the window is closed.
    fn next(&self) -> Option<Job> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if waiting.is_closed {
                return None;
            }
            if let Some(ask) = waiting.run.take() {
                return Some(Job::Run(ask));
            }
            if let Some((of, width)) = waiting.curves.take() {
                return Some(Job::Curves(of, width));
            }
            if let Some(width) = waiting.powers.take() {
                return Some(Job::Powers(width));
            }
            if std::mem::take(&mut waiting.scene) {
                return Some(Job::Scene);
            }
            waiting = self
                .wake
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self, hub: &Arc<Hub>, out: &Out, focus: &Mutex<Focus>) {
        while let Some(job) = self.next() {
            match job {
                Job::Run(ask) => self.carry_out(hub, out, ask),
                Job::Curves(of, width) => {
                    let focus = focus.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    // What cannot be shown is not shown: a multibond has no one effort.
                    if let Some(frame) = self.signals(hub, &focus, &of, width) {
                        out.binary(frame);
                    } else {
                        out.event(&json!({ "event": "no_curves", "of": of }));
                    }
                }
                Job::Powers(width) => {
                    let focus = focus.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    if let Some(frame) = self.all_powers(hub, &focus, width) {
                        out.binary(frame);
                    }
                }
                Job::Scene => match self.film(hub) {
                    Ok(frame) => out.binary(frame),
                    Err(why) => out.event(&json!({ "event": "no_scene", "why": why })),
                },
            }
        }
    }

    fn carry_out(&self, hub: &Arc<Hub>, out: &Out, ask: RunAsk) {
        let begin = Instant::now();
        let failed =
            |why: String| out.event(&json!({ "event": "failed", "run": ask.run, "why": why }));
        let mut design = match design_of(hub, &ask) {
            Ok(design) => design,
            Err(why) => return failed(why),
        };
        if ask.rough {
            design.plan.rtol = design.plan.rtol.max(ROUGH_TOLERANCE);
        }
        let compile_ms = 1e3 * begin.elapsed().as_secs_f64();
        let made = Made {
            run: ask.run,
            path: &ask.path,
            rough: ask.rough,
            compile_ms,
        };
        let (start, stop) = (design.plan.start, design.plan.stop);
        let mut told = Instant::now();
        let mut progress = |t: f64| {
            if told.elapsed() > PROGRESS_EVERY {
                told = Instant::now();
                let done = (t - start) / (stop - start).max(f64::MIN_POSITIVE);
                out.event(&json!({ "event": "progress", "run": ask.run, "done": done }));
            }
            self.goes_on(&ask, begin)
        };
        let choice = RunChoice {
            watch: Some(self.watch(out, Begun::new(&design, &made))),
            ..RunChoice::default()
        };
        let outcome = match run(&design, &choice, &mut progress) {
            Ok(outcome) => outcome,
            Err(messages) => return failed(words(&messages)),
        };
        let is_cancelled = matches!(outcome.run.ending, Ending::Cancelled { .. });
        if is_cancelled && self.newest.load(Ordering::SeqCst) != ask.run {
            return;
        }
        let shown = Shown::new(&design, &outcome, &made);
        out.binary(self.look(|seen| seen.show(shown)));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let name = design.plan.name.clone().unwrap_or(design.model);
        *last = Some(Last {
            ask,
            name,
            table: Arc::new(outcome.run.table),
            plots: outcome.plots,
        });
    }

    /// Sends the curves of a long run while it goes on.
    fn watch(&self, out: &Out, begun: Begun) -> Watch {
        let (seen, out) = (self.seen.clone(), out.clone());
        Watch::new(LONG, PROGRESS_EVERY, move |plots| {
            let shown = Shown::so_far(&begun, &plots);
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            out.binary(seen.show(shown));
        })
    }

    fn goes_on(&self, ask: &RunAsk, begin: Instant) -> ControlFlow<()> {
        let is_old = self.newest.load(Ordering::SeqCst) != ask.run;
        let may_finish =
            ask.rough && self.newest_is_rough.load(Ordering::SeqCst) && begin.elapsed() < PATIENCE;
        match self.is_cancelled.load(Ordering::SeqCst) || (is_old && !may_finish) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// The design of the last run, and what is drawn of the level that is looked at.
    fn again(&self, hub: &Arc<Hub>, focus: &Focus) -> Option<Again> {
        let ask = {
            let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            last.as_ref()?.ask.clone()
        };
        let design = design_of(hub, &ask).ok()?;
        let full = hub.full(&ask.path).ok()?;
        let workspace = hub.workspace();
        let (path, level) = enter(&workspace, &full, &design.model, &focus.level)?;
        let graph = (&*design.graph, &design.project);
        let behind = workspace.bonds_behind((&path, &level.model), graph, &focus.level)?;
        drop(workspace);
        Some(Again {
            design,
            level,
            behind,
            path: ask.path,
        })
    }

    fn signals(&self, hub: &Arc<Hub>, focus: &Focus, of: &str, width: usize) -> Option<Vec<u8>> {
        let mut again = self.again(hub, focus)?;
        let bonds = &again.level.bonds;
        let touching = || {
            let near = bonds.iter();
            near.filter(|b| b.from.node == of || b.to.node == of)
        };
        let own = bonds.iter().find(|b| b.id == of);
        let drawn = own.or_else(|| touching().next().filter(|_| touching().count() == 1))?;
        let (_, behind) = again.behind.iter().find(|(id, _)| *id == drawn.id)?;
        want_signals(&mut again.design, behind)?;
        let curves = self.columns(&again.design)?;
        Some(Shown::of_curves("curves", &again.path, of, curves).frame(None, None, width))
    }

    fn all_powers(&self, hub: &Arc<Hub>, focus: &Focus, width: usize) -> Option<Vec<u8>> {
        let mut again = self.again(hub, focus)?;
        want_powers(&mut again.design, &again.behind);
        let curves = self.columns(&again.design)?;
        Some(Shown::of_curves("powers", &again.path, "power", curves).frame(None, None, width))
    }

    /// The film of the bodies of the last run.
    fn film(&self, hub: &Arc<Hub>) -> Result<Vec<u8>, String> {
        let ask = {
            let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let last = last.as_ref().ok_or("run an experiment first")?;
            last.ask.clone()
        };
        let (design, choice) = (design_of(hub, &ask)?, choice_of(&ask));
        let newest = self.newest.load(Ordering::SeqCst);
        let film = film(&design, &choice, &mut |_| self.is_wanted(newest))?;
        Ok(film_frame(film, &ask.path))
    }

    /// Side runs end when a newer run waits.
    fn is_wanted(&self, newest: u64) -> ControlFlow<()> {
        let is_old = self.newest.load(Ordering::SeqCst) != newest;
        match is_old || self.is_cancelled.load(Ordering::SeqCst) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn columns(&self, design: &Design) -> Option<Vec<(String, Curve)>> {
        let newest = self.newest.load(Ordering::SeqCst);
        let mut progress = |_: f64| self.is_wanted(newest);
        let outcome = run(design, &RunChoice::default(), &mut progress).ok()?;
        let table = outcome.run.table;
        let curves = table.columns.into_iter().map(|c| {
            (
                c.name,
                Curve {
                    x: table.time.clone(),
                    y: c.values,
                },
            )
        });
        Some(curves.collect())
    }
}

enum Job {
    Run(RunAsk),
    Curves(String, usize),
    Powers(usize),
    Scene,
}

/// Reads and elaborates what a run asks for.
fn design_of(hub: &Arc<Hub>, ask: &RunAsk) -> Result<Design, String> {
    let full = hub.full(&ask.path)?;
    let mut world = hub.world();
    match design_in(&mut world, &full, &choice_of(ask)) {
        Ok(design) => Ok(design),
        Err(DesignError::Unreadable(why)) => Err(why),
        Err(DesignError::Model(failed)) => Err(words(&failed.diagnostics)),
    }
}

fn choice_of(ask: &RunAsk) -> Choice {
    Choice {
        model: ask.model.clone().filter(|_| ask.experiment.is_none()),
        experiment: ask.experiment.clone(),
        overrides: ask.set.clone(),
        ..Choice::default()
    }
}

/// The headline of the first error.
fn words(messages: &[Diagnostic]) -> String {
    let first = messages.iter().find(|m| m.is_error()).or(messages.first());
    first.map_or_else(
        || "the run cannot start".to_owned(),
        |m| format!("{}: {}", m.code, m.message),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;
    use axum::extract::ws::Message;
    use serde_json::Value;
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    const ENDLESS: &str = "model M {\n    s: Se(sin(1000*time)) -> j: 1 -> i: I(1), c: C(1e-6), r: R(0.001)\n}\nexperiment long of M { stop = 1e6; output_step = 0.1; record i.p; plot i.p }\n";

    fn head(bytes: &[u8]) -> Value {
        let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        serde_json::from_slice(&bytes[4..4 + length]).expect("the head is JSON")
    }

    /// The head of the next frame.
    fn next_frame(heard: &mut UnboundedReceiver<Message>) -> Value {
        loop {
            if let Message::Binary(bytes) = heard.blocking_recv().expect("the runner talks") {
                return head(&bytes);
            }
        }
    }

    #[test]
    fn a_run_that_never_ends_shows_its_curves_and_can_be_cancelled() {
        let root = std::env::temp_dir().join(format!("paynter-runner-{}", std::process::id()));
        std::fs::create_dir_all(&root).expect("a temporary folder can be made");
        std::fs::write(root.join("m.bond"), ENDLESS).expect("it can be written");
        let hub = Arc::new(Hub::new(Folder::open(&root).expect("it is there"), None));
        hub.open("m.bond").expect("it can be read");
        let (sender, mut heard) = unbounded_channel();
        let runner = Runner::start(hub, Out::new(sender), Arc::default());
        runner.run(RunAsk {
            run: 1,
            path: "m.bond".to_owned(),
            experiment: Some("long".to_owned()),
            model: None,
            set: Vec::new(),
            rough: false,
            width: 100,
            from: None,
            to: None,
        });
        let n_points = |part: &Value| part["panels"][0]["series"][0]["n"].as_u64().unwrap_or(0);
        let mut part = next_frame(&mut heard);
        let first = n_points(&part);
        // However slow the machine is, there is more of it later.
        while n_points(&part) < first + 10 {
            assert_eq!(part["underWay"], true, "{part}");
            assert_eq!(
                (part["run"].as_u64(), part["to"].as_f64()),
                (Some(1), Some(1e6))
            );
            part = next_frame(&mut heard);
        }
        runner.cancel();
        let mut last = next_frame(&mut heard);
        while last["underWay"] == true {
            last = next_frame(&mut heard);
        }
        let ending = last["ending"].as_str().unwrap_or_default();
        assert!(ending.starts_with("cancelled at"), "{ending}");
        runner.close();
        let _ = std::fs::remove_dir_all(root);
    }
}
