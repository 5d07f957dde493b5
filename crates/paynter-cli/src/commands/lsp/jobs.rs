//! Work that takes long: checks of texts, and runs with progress and cancel.
//!
//! In:  a copy of the workspace, which shares what is known already.
//! Out: events for the server's loop; the loop itself never waits for them.

use super::convert::path_of;
use super::server::Event;
use paynter::design::{Choice, Design, DesignError, design_in};
use paynter::experiment::Outcome;
use paynter::run::{RunChoice, run};
use paynter::simulate::Ending;
use paynter_service::Workspace;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// Reports of progress are at least this far apart: more often than anyone sees.
const BETWEEN_REPORTS: Duration = Duration::from_millis(100);

/// Checks texts on a thread of its own and reports each.
pub fn check(workspace: Workspace, paths: Vec<String>, events: SyncSender<Event>) {
    std::thread::spawn(move || {
        for path in paths {
            let checked = catch_unwind(AssertUnwindSafe(|| workspace.messages(&path)));
            let stamp = workspace.stamp(&path);
            // A panic is our fault, not the user's: the text keeps its last messages.
            if let Ok(messages) = checked
                && events
                    .send(Event::Checked {
                        path,
                        stamp,
                        messages,
                    })
                    .is_err()
            {
                return;
            }
        }
        let _ = events.send(Event::Idle);
    });
}

/// A run that was asked for.
pub struct Run {
    /// Answers the request with this id.
    pub id: lsp_server::RequestId,
    /// Set to stop it.
    pub cancel: Arc<AtomicBool>,
    /// Names its progress, if the client wants to see it.
    pub token: Option<Value>,
}

/// Runs an experiment on a thread of its own: arguments are the URI and the experiment's name.
pub fn start_run(workspace: Workspace, arguments: &[Value], run: &Run, events: SyncSender<Event>) {
    let path = arguments
        .first()
        .and_then(Value::as_str)
        .map(path_of)
        .unwrap_or_default();
    let experiment = arguments.get(1).and_then(Value::as_str).map(str::to_owned);
    let (id, cancel, token) = (run.id.clone(), run.cancel.clone(), run.token.clone());
    std::thread::spawn(move || {
        let work = || {
            carry_out(
                &workspace,
                &path,
                experiment,
                &cancel,
                token.as_ref(),
                &events,
            )
        };
        let result = catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Err("the run failed unexpectedly; please report it".to_owned()));
        let _ = events.send(Event::RunDone { id, token, result });
    });
}

fn carry_out(
    workspace: &Workspace,
    path: &str,
    experiment: Option<String>,
    cancel: &AtomicBool,
    token: Option<&Value>,
    events: &SyncSender<Event>,
) -> Result<Value, String> {
    let choice = Choice {
        experiment,
        ..Choice::default()
    };
    let design = workspace.with_loader(|loader| design_in(loader, path, &choice));
    let design = design.map_err(|e| match e {
        DesignError::Unreadable(message) => message,
        DesignError::Model(failed) => {
            paynter::syntax::render(&failed.diagnostics, &failed.sources, false)
        }
    })?;

    let mut last = Instant::now();
    let outcome = run(&design, &RunChoice::default(), &mut |time| {
        if let Some(token) = token.filter(|_| last.elapsed() >= BETWEEN_REPORTS) {
            last = Instant::now();
            let span = (design.plan.stop - design.plan.start).max(f64::MIN_POSITIVE);
            let part = ((time - design.plan.start) / span * 100.0).clamp(0.0, 100.0);
            let report = json!({ "kind": "report", "percentage": part as u32, "message": format!("t = {time:.4} s") });
            // A full queue means that nobody looks; the next report is as good.
            let _ = events.try_send(Event::Progress {
                token: token.clone(),
                value: report,
            });
        }
        match cancel.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });

    let outcome = outcome
        .map_err(|messages| paynter::syntax::render(&messages, &design.project.sources, false))?;
    summary_of(&design, &outcome)
}

/// How the run ended, with its last values.
fn summary_of(design: &Design, outcome: &Outcome) -> Result<Value, String> {
    let ending = match &outcome.run.ending {
        Ending::Reached => "reached the end".to_owned(),
        Ending::Stopped { time, message } => format!("stopped at {time} s: {message}"),
        Ending::Cancelled { .. } => "cancelled".to_owned(),
        Ending::Failed {
            why: diagnostics, ..
        } => {
            return Err(paynter::syntax::render(
                diagnostics,
                &design.project.sources,
                false,
            ));
        }
    };
    let columns: serde_json::Map<String, Value> = outcome
        .run
        .table
        .columns
        .iter()
        .map(|c| (c.name.clone(), json!(c.values.last())))
        .collect();
    Ok(json!({
        "ending": ending,
        "steps": outcome.run.statistics.steps,
        "final": columns,
        "comparisons": outcome.comparisons.iter().map(|c| c.is_good()).collect::<Vec<_>>(),
    }))
}
