//! One window of the page: its questions in order, its analysis, its runs.
//!
//! In:  asks as JSON texts.
//! Out: answers, events and frames, through the window's queue.
//!
//! Four threads serve a window, so that none waits for another: the clerk answers asks in order, the analyst
//! follows the text, the runner runs, the bench makes studies. All end with the socket.

use crate::analyse::{analyse, chosen_model, lesson, why};
use crate::derived::is_lagrangian;
use crate::edits;
use crate::export::{Format, units};
use crate::gallery;
use crate::hub::{Hub, Out};
use crate::library;
use crate::rewrites::rewrite;
use crate::runner::Runner;
use crate::study::{Bench, StudyAsk};
use crate::told::Told;
use crate::ways::ways;
use crate::wire::{Ask, Focus, GraphEdit, RunAsk, Update, answer};
use crate::words::{card, offers};
use paynter::{Choice, design_in};
use serde_json::{Value, json};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Serves a window until its asks end.
pub fn serve(hub: &Arc<Hub>, out: &Out, asks: &std::sync::mpsc::Receiver<String>) {
    let focus = Arc::new(Mutex::new(Focus::default()));
    let analyst = Analyst::start(hub.clone(), out.clone(), focus.clone());
    let runner = Runner::start(hub.clone(), out.clone(), focus.clone());
    let bench = Bench::start(hub.clone(), out.clone());
    let nudged = (analyst.clone(), focus.clone());
    let nudge = Box::new(move |path: &str| {
        let is_own = nudged.1.lock().unwrap_or_else(PoisonError::into_inner).path == path;
        if is_own {
            nudged.0.nudge();
        }
    });
    let id = hub.enter(out.clone(), nudge);
    let clerk = Clerk {
        hub,
        out,
        focus: &focus,
        analyst: &analyst,
        runner: &runner,
        bench: &bench,
    };
    while let Ok(text) = asks.recv() {
        clerk.hear(&text);
    }
    hub.leave(id);
    analyst.close();
    runner.close();
    bench.close();
}

struct Clerk<'c> {
    hub: &'c Arc<Hub>,
    out: &'c Out,
    focus: &'c Mutex<Focus>,
    analyst: &'c Analyst,
    runner: &'c Runner,
    bench: &'c Bench,
}

/// What an ask gives, or why it cannot be done.
type Answer = Result<Value, String>;

/// Does what has no answer.
fn done(act: impl FnOnce()) -> Answer {
    act();
    Ok(Value::Null)
}

impl Clerk<'_> {
    fn hear(&self, text: &str) {
        // What is no ask has no number to answer to; an ask that cannot be read is answered with why.
        let number = serde_json::from_str::<Value>(text)
            .ok()
            .and_then(|v| v.get("id")?.as_u64());
        let Some(id) = number else { return };
        let result = match serde_json::from_str::<Ask>(text) {
            Ok(ask) => self.answer(ask),
            Err(error) => Err(format!("the page asked something unknown: {error}")),
        };
        self.out.text(answer(id, result));
    }

    fn focus(&self) -> Focus {
        self.focus
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn answer(&self, ask: Ask) -> Answer {
        match ask {
            Ask::Hello => Ok(self.hello()),
            Ask::Open { path } => self.open(&path),
            Ask::Push {
                path,
                version,
                updates,
            } => self.push(&path, version, &updates),
            Ask::Focus(focus) => self.look_at(focus),
            Ask::Save { path, over } => self.save(&path, over),
            Ask::Disk { path } => self.on_disk(&path),
            Ask::New { name, text } => self.make(&name, &text),
            Ask::Take { name } => self.take(&name),
            Ask::Run(ask) => self.run(ask),
            Ask::Zoom { from, to, width } => self.zoom(from.zip(to), width),
            Ask::Export { format } => self.export(format),
            Ask::Study(ask) => self.study(ask),
            Ask::Cancel => done(|| self.runner.cancel()),
            Ask::Pin { runs } => done(|| self.runner.pin(&runs)),
            Ask::Curves { of, width } => done(|| self.runner.curves(of, width.min(MAX_WIDTH))),
            Ask::Powers { width } => done(|| self.runner.powers(width.min(MAX_WIDTH))),
            Ask::Scene => done(|| self.runner.scene()),
            Ask::CancelStudy => done(|| self.bench.cancel()),
            Ask::Units { unit } => Ok(json!(units(&unit))),
            Ask::Complete { path, at } => self.complete(&path, at),
            Ask::Hover { path, at } => self.hover(&path, at),
            Ask::Lesson => self.lesson(),
            Ask::Copy { path, nodes } => self.copy(&path, &nodes),
            Ask::Ways { path } => self.ways(&path),
            Ask::Preview { path, from, to } => self.preview(&path, &from, &to),
            Ask::Why { bond } => self.why(&bond),
            Ask::Equations => self.equations(),
            Ask::Edit { path, edit } => self.edit(&path, &edit),
        }
    }

    fn open(&self, path: &str) -> Answer {
        let (text, version, dirty) = self.hub.open(path)?;
        Ok(json!({ "path": path, "text": text, "version": version, "dirty": dirty }))
    }

    fn push(&self, path: &str, version: usize, updates: &[Update]) -> Answer {
        let is_taken = self.hub.push(path, version, updates)?;
        if !is_taken {
            self.catch_up(path, version);
        }
        Ok(json!(is_taken))
    }

    fn look_at(&self, focus: Focus) -> Answer {
        self.hub.full(&focus.path)?;
        *self.focus.lock().unwrap_or_else(PoisonError::into_inner) = focus;
        self.analyst.nudge();
        Ok(Value::Null)
    }

    fn on_disk(&self, path: &str) -> Answer {
        let text = self.hub.folder.read(path)?;
        Ok(json!({ "text": text.replace("\r\n", "\n") }))
    }

    /// Copies a model of the gallery into the folder.
    fn take(&self, name: &str) -> Answer {
        let hub = self.hub;
        let path = gallery::take(&hub.folder, name)?;
        hub.tell(&json!({ "event": "files", "files": hub.folder.list() }));
        Ok(json!({ "path": path }))
    }

    fn run(&self, ask: RunAsk) -> Answer {
        self.hub.full(&ask.path)?;
        self.runner.run(ask);
        Ok(Value::Null)
    }

    fn zoom(&self, range: Option<(f64, f64)>, width: usize) -> Answer {
        for frame in self.runner.zoom(range, width.min(MAX_WIDTH)) {
            self.out.binary(frame);
        }
        Ok(Value::Null)
    }

    fn export(&self, format: Format) -> Answer {
        self.out.binary(self.runner.export(format)?);
        Ok(Value::Null)
    }

    fn study(&self, ask: StudyAsk) -> Answer {
        self.hub.full(&ask.path)?;
        self.bench.ask(ask);
        Ok(Value::Null)
    }

    fn complete(&self, path: &str, at: usize) -> Answer {
        let full = self.hub.full(path)?;
        Ok(offers(&self.hub.workspace(), &full, at))
    }

    fn hover(&self, path: &str, at: usize) -> Answer {
        let full = self.hub.full(path)?;
        Ok(card(&self.hub.workspace(), &full, at))
    }

    fn lesson(&self) -> Answer {
        let focus = self.focus();
        let full = self.hub.full(&focus.path)?;
        Ok(json!(lesson(&self.hub.workspace(), &full, &focus)))
    }

    fn why(&self, bond: &str) -> Answer {
        let focus = self.focus();
        let full = self.hub.full(&focus.path)?;
        Ok(json!(why(&self.hub.workspace(), &full, &focus, bond)))
    }

    fn copy(&self, path: &str, nodes: &[String]) -> Answer {
        let (full, model) = self.level(path)?;
        let text = paynter_service::edit::copy(&self.hub.workspace(), &full, &model, nodes);
        text.map(|text| json!(text)).map_err(|r| r.to_string())
    }

    fn ways(&self, path: &str) -> Answer {
        let (full, model) = self.level(path)?;
        Ok(json!(ways(&self.hub.workspace(), &full, &model)))
    }

    fn preview(&self, path: &str, from: &str, to: &str) -> Answer {
        let (full, model) = self.level(path)?;
        let found = edits::preview(&self.hub.workspace(), &full, &model, (from, to))?;
        let stroke = found.stroke.map(|s| format!("{s:?}").to_lowercase());
        Ok(json!({
            "isTurned": found.is_turned, "stroke": stroke, "isConflict": found.is_conflict
        }))
    }

    fn hello(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "folder": self.hub.folder.root().display().to_string(),
            "opened": self.hub.opened,
            "files": self.hub.folder.list(),
            "gallery": gallery::cards(),
            "parts": library::parts(),
            "kinds": library::kinds(),
        })
    }

    /// Sends the steps that a window lacks.
    fn catch_up(&self, path: &str, version: usize) {
        let texts = self.hub.texts();
        let Some(text) = texts.get(path) else { return };
        let missing = text.steps.get(version..).unwrap_or_default();
        self.out.event(&json!({ "event": "updates", "path": path, "version": text.version(), "updates": missing }));
    }

    fn save(&self, path: &str, over: bool) -> Answer {
        let mut texts = self.hub.texts();
        let is_saved = texts.save(&self.hub.folder, path, over)?;
        let version = texts.get(path).map_or(0, crate::texts::Text::version);
        drop(texts);
        if is_saved {
            self.hub
                .tell(&json!({ "event": "saved", "path": path, "version": version }));
        }
        Ok(json!({ "changed": !is_saved }))
    }

    /// Makes a file; one of that name gets a number.
    fn make(&self, name: &str, text: &str) -> Answer {
        let stem = name
            .strip_suffix(".bond")
            .ok_or("a model file ends with .bond")?;
        let folder = &self.hub.folder;
        let names =
            std::iter::once(name.to_owned()).chain((2..1000).map(|n| format!("{stem}{n}.bond")));
        let mut free = names.filter(|n| folder.stamp(n).is_none());
        let path = free.next().ok_or("there are too many files of this name")?;
        folder.write_new(&path, text)?;
        self.hub
            .tell(&json!({ "event": "files", "files": folder.list() }));
        Ok(json!({ "path": path }))
    }

    fn edit(&self, path: &str, edit: &GraphEdit) -> Answer {
        let (full, model) = self.level(path)?;
        if let GraphEdit::Rewrite { how } = edit {
            let old = self.hub.workspace().text(&full);
            let old = old.ok_or("the text is not open")?;
            let found = rewrite(&mut self.hub.world(), (&full, &old), &model, *how)?;
            return Ok(json!({ "changes": found.changes, "select": null, "said": found.said }));
        }
        let edited = edits::edit(&self.hub.workspace(), &full, &model, edit)?;
        Ok(json!({ "changes": edited.changes, "select": edited.select, "said": [] }))
    }

    /// The text and the model of the level looked at, if it can be changed here.
    fn level(&self, path: &str) -> Result<(String, String), String> {
        let focus = self.focus();
        let full = self.hub.full(path)?;
        let workspace = self.hub.workspace();
        let top = chosen_model(&workspace, &full, &focus).ok_or("there is no model to change")?;
        let (home, level) = crate::analyse::enter(&workspace, &full, &top, &focus.level)
            .ok_or("there is no model to change")?;
        if is_lagrangian(&workspace, &full, &top) {
            return Err(format!(
                "the graph of {top} follows from its energies; change those in the text"
            ));
        }
        if home != full {
            return Err(format!(
                "{} is in another file; open that to change it",
                level.model
            ));
        }
        Ok((full, level.model))
    }

    fn equations(&self) -> Answer {
        let focus = self.focus();
        let full = self.hub.full(&focus.path)?;
        let model = chosen_model(&self.hub.workspace(), &full, &focus);
        let choice = Choice {
            experiment: focus.experiment,
            model,
            ..Choice::default()
        };
        let choice = Choice {
            model: choice.model.filter(|_| choice.experiment.is_none()),
            ..choice
        };
        let design =
            design_in(&mut self.hub.world(), &full, &choice).map_err(|_| "the model has errors")?;
        let readable = paynter::readable::readable(&design)
            .map_err(|_| "the equations have no unique solution")?;
        let presentation = readable.present();
        let name = |s| readable.name(s);
        let found = paynter::draw::mathml::equations(&presentation, &name);
        let lines = found.main.iter().chain(&found.definitions).map(|math| {
            math.replacen(
                "<math",
                "<math xmlns=\"http://www.w3.org/1998/Math/MathML\"",
                1,
            )
            .replace("&nbsp;", "\u{a0}")
        });
        let lines: Vec<String> = lines.collect();
        Ok(json!({ "lines": lines }))
    }
}

/// No screen is wider.
const MAX_WIDTH: usize = 10_000;

/// Follows the text: after every change a new analysis, the newest only.
pub struct Analyst {
    state: Mutex<Pending>,
    wake: Condvar,
}

#[derive(Default)]
struct Pending {
    is_due: bool,
    is_closed: bool,
}

impl Analyst {
    fn start(hub: Arc<Hub>, out: Out, focus: Arc<Mutex<Focus>>) -> Arc<Self> {
        let analyst = Arc::new(Analyst {
            state: Mutex::default(),
            wake: Condvar::new(),
        });
        let own = analyst.clone();
        std::thread::spawn(move || own.work(&hub, &out, &focus));
        analyst
    }

    /// The text or the focus has changed.
    pub fn nudge(&self) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_due = true;
        self.wake.notify_all();
    }

    fn close(&self) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_closed = true;
        self.wake.notify_all();
    }

    fn wait(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.is_due && !state.is_closed {
            state = self
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.is_due = false;
        !state.is_closed
    }

    fn work(&self, hub: &Arc<Hub>, out: &Out, focus: &Mutex<Focus>) {
        let mut told = Told::default();
        while self.wait() {
            let focus = focus.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let Ok(full) = hub.full(&focus.path) else {
                continue;
            };
            let (version, workspace) = hub.at_version(&focus.path);
            let mut found = analyse(&workspace, &full, &focus, version);
            told.shorten(&mut found);
            out.event(&found);
        }
    }
}
