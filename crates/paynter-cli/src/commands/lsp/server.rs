//! The loop: takes messages in order, answers requests, keeps the texts, hands out work.
//!
//! In:  messages of the client, events of the workers.
//! Out: answers, diagnostics, progress.
//!
//! **Invariant:** a request is answered exactly once; the texts are what the client has, change by change.

use super::answers::{answer, capabilities};
use super::convert::{diagnostic, path_of, to_position, uri_of};
use super::jobs::{Run, check, start_run};
use super::transport::{Incoming, read};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use paynter_service::world::Stamp;
use paynter_service::{Message as Remark, Workspace};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::io::{self, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Messages that may wait; a client that sends faster waits for its pipe.
const MAX_WAITING: usize = 4096;

/// What the loop hears of.
pub enum Event {
    /// From the client.
    Incoming(Incoming),
    /// A text was checked.
    Checked {
        /// Which.
        path: String,
        /// As it was then.
        stamp: Stamp,
        /// What was found.
        messages: Arc<[Remark]>,
    },
    /// The checker has nothing left to do.
    Idle,
    /// A run goes on.
    Progress {
        /// Whose.
        token: Value,
        /// How far.
        value: Value,
    },
    /// A run ended.
    RunDone {
        /// The request.
        id: RequestId,
        /// Its progress.
        token: Option<Value>,
        /// What came out.
        result: Result<Value, String>,
    },
}

/// Answers the client at standard input until it goes.
///
/// # Errors
///
/// The output cannot be written.
pub fn serve() -> Result<(), String> {
    let (sender, events) = sync_channel(MAX_WAITING);
    let reader = sender.clone();
    std::thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        loop {
            let next = read(&mut input);
            let is_end = matches!(next, Incoming::End);
            if reader.send(Event::Incoming(next)).is_err() || is_end {
                return;
            }
        }
    });
    let mut server = Server {
        workspace: Workspace::new([]),
        output: io::stdout(),
        sender,
        state: State::Fresh,
        dirty: BTreeSet::new(),
        is_checking: false,
        published: BTreeMap::new(),
        runs: Vec::new(),
        cancelled: HashSet::new(),
        n_requests: 0,
        shows_progress: false,
    };
    server
        .run(&events)
        .map_err(|e| format!("the editor cannot be reached: {e}"))
}

/// How far the greeting went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Fresh,
    Ready,
    ShutDown,
}

struct Server {
    workspace: Workspace,
    output: io::Stdout,
    sender: SyncSender<Event>,
    state: State,
    /// Texts whose messages may have changed.
    dirty: BTreeSet<String>,
    is_checking: bool,
    /// What the client was told last.
    published: BTreeMap<String, Arc<[Remark]>>,
    runs: Vec<Run>,
    /// Requests whose cancel waits behind them.
    cancelled: HashSet<RequestId>,
    n_requests: i32,
    shows_progress: bool,
}

impl Server {
    fn run(&mut self, events: &Receiver<Event>) -> io::Result<()> {
        let mut waiting: VecDeque<Event> = VecDeque::new();
        loop {
            if waiting.is_empty() {
                self.start_check();
                match events.recv() {
                    Ok(event) => waiting.push_back(event),
                    Err(_) => return Ok(()),
                }
            }
            // Whatever came meanwhile may take back what waits.
            while waiting.len() < MAX_WAITING
                && let Ok(event) = events.try_recv()
            {
                self.cancelled.extend(cancelled_by(&event));
                waiting.push_back(event);
            }
            let Some(event) = waiting.pop_front() else {
                continue;
            };
            if let Some(id) = cancelled_by(&event) {
                self.cancelled.remove(&id);
            }
            if self.event(event)? == Next::Leave {
                return Ok(());
            }
        }
    }

    fn event(&mut self, event: Event) -> io::Result<Next> {
        match event {
            Event::Incoming(Incoming::End) => return Ok(Next::Leave),
            Event::Incoming(Incoming::Nonsense(why)) => {
                let error = json!({ "code": ErrorCode::ParseError as i32, "message": why });
                self.write(&json!({ "jsonrpc": "2.0", "id": null, "error": error }))?;
            }
            Event::Incoming(Incoming::Message(Message::Request(request))) => {
                self.request(request)?;
            }
            Event::Incoming(Incoming::Message(Message::Notification(n))) => {
                if n.method == "exit" {
                    return Ok(Next::Leave);
                }
                self.notification(&n)?;
            }
            // Answers to what the server asked: none of them matters.
            Event::Incoming(Incoming::Message(Message::Response(_))) => {}
            Event::Checked {
                path,
                stamp,
                messages,
            } => self.publish(path, &stamp, messages)?,
            Event::Idle => self.is_checking = false,
            Event::Progress { token, value } => self.progress(&token, &value)?,
            Event::RunDone { id, token, result } => self.run_done(id, token, result)?,
        }
        Ok(Next::GoOn)
    }

    // ---- requests

    fn request(&mut self, request: Request) -> io::Result<()> {
        let refuse = |code: ErrorCode, text: &str| {
            Response::new_err(request.id.clone(), code as i32, text.to_owned())
        };
        let response = match (self.state, request.method.as_str()) {
            _ if self.cancelled.contains(&request.id) => {
                refuse(ErrorCode::RequestCanceled, "cancelled")
            }
            (State::Fresh, "initialize") => {
                self.initialize(&request.params);
                let result = json!({
                    "capabilities": capabilities(),
                    "serverInfo": { "name": "paynter", "version": env!("CARGO_PKG_VERSION") },
                });
                Response::new_ok(request.id, result)
            }
            (State::Fresh, _) => refuse(
                ErrorCode::ServerNotInitialized,
                "the first request is `initialize`",
            ),
            (State::ShutDown, _) => refuse(ErrorCode::InvalidRequest, "the server is shut down"),
            (State::Ready, "initialize") => {
                refuse(ErrorCode::InvalidRequest, "`initialize` was called already")
            }
            (State::Ready, "shutdown") => {
                self.state = State::ShutDown;
                for run in &self.runs {
                    run.cancel.store(true, Ordering::Relaxed);
                }
                Response::new_ok(request.id, Value::Null)
            }
            (State::Ready, "workspace/executeCommand") => return self.execute(request),
            (State::Ready, method) => {
                let work = || answer(&self.workspace, method, &request.params);
                match catch_unwind(AssertUnwindSafe(work)) {
                    Ok(Ok(result)) => Response::new_ok(request.id, result),
                    Ok(Err((code, message))) => Response::new_err(request.id, code, message),
                    Err(_) => refuse(
                        ErrorCode::InternalError,
                        "this is a bug in paynter; please report it",
                    ),
                }
            }
        };
        self.send(Message::Response(response))
    }

    fn initialize(&mut self, params: &Value) {
        let folders = params["workspaceFolders"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let mut roots: Vec<PathBuf> = folders
            .iter()
            .filter_map(|f| f["uri"].as_str())
            .map(|uri| PathBuf::from(path_of(uri)))
            .collect();
        if roots.is_empty() {
            roots.extend(
                params["rootUri"]
                    .as_str()
                    .map(|uri| PathBuf::from(path_of(uri))),
            );
        }
        for root in roots {
            self.workspace.add_root(root);
        }
        let progress = params.pointer("/capabilities/window/workDoneProgress");
        self.shows_progress = progress.and_then(Value::as_bool).unwrap_or(false);
        self.state = State::Ready;
    }

    fn execute(&mut self, request: Request) -> io::Result<()> {
        let command = request.params["command"].as_str().unwrap_or("");
        if command != "paynter.run" {
            let message = format!("there is no command `{command}`");
            let response = Response::new_err(request.id, ErrorCode::InvalidParams as i32, message);
            return self.send(Message::Response(response));
        }

        let arguments = request.params["arguments"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let given = request.params.get("workDoneToken").cloned();
        let token = match given {
            Some(token) => Some(token),
            None if self.shows_progress => {
                self.n_requests += 1;
                let token = json!(format!("paynter-run-{}", self.n_requests));
                let ask = Request::new(
                    RequestId::from(self.n_requests),
                    "window/workDoneProgress/create".to_owned(),
                    json!({ "token": token }),
                );
                self.send(Message::Request(ask))?;
                Some(token)
            }
            None => None,
        };

        if let Some(token) = &token {
            let title = arguments
                .get(1)
                .and_then(Value::as_str)
                .unwrap_or("experiment");
            let begin = json!({ "kind": "begin", "title": format!("run {title}"), "cancellable": true, "percentage": 0 });
            self.progress(token, &begin)?;
        }

        let run = Run {
            id: request.id,
            cancel: Arc::new(AtomicBool::new(false)),
            token,
        };
        start_run(
            self.workspace.clone(),
            &arguments,
            &run,
            self.sender.clone(),
        );

        self.runs.push(run);
        Ok(())
    }

    fn run_done(
        &mut self,
        id: RequestId,
        token: Option<Value>,
        result: Result<Value, String>,
    ) -> io::Result<()> {
        let was_cancelled = self
            .runs
            .iter()
            .any(|r| r.id == id && r.cancel.load(Ordering::Relaxed));
        self.runs.retain(|r| r.id != id);
        if let Some(token) = token {
            let message = result
                .as_ref()
                .map_or("failed", |v| v["ending"].as_str().unwrap_or("done"));
            self.progress(&token, &json!({ "kind": "end", "message": message }))?;
        }
        let response = match result {
            Ok(_) if was_cancelled => Response::new_err(
                id,
                ErrorCode::RequestCanceled as i32,
                "cancelled".to_owned(),
            ),
            Ok(value) => Response::new_ok(id, value),
            Err(message) => Response::new_err(id, ErrorCode::RequestFailed as i32, message),
        };
        self.send(Message::Response(response))
    }

    fn progress(&mut self, token: &Value, value: &Value) -> io::Result<()> {
        let params = json!({ "token": token, "value": value });
        self.send(Message::Notification(Notification::new(
            "$/progress".to_owned(),
            params,
        )))
    }

    // ---- notifications

    fn notification(&mut self, n: &Notification) -> io::Result<()> {
        let uri = n
            .params
            .pointer("/textDocument/uri")
            .and_then(Value::as_str);
        let path = uri.map(path_of);
        match (n.method.as_str(), path) {
            ("textDocument/didOpen", Some(path)) => {
                let text = n
                    .params
                    .pointer("/textDocument/text")
                    .and_then(Value::as_str);
                self.workspace.open(&path, text.unwrap_or(""));
                self.all_dirty();
            }
            ("textDocument/didChange", Some(path)) => {
                self.change(&path, &n.params["contentChanges"]);
                self.all_dirty();
            }
            ("textDocument/didClose", Some(path)) => {
                self.workspace.close(&path);
                self.dirty.remove(&path);
                self.published.remove(&path);
                // What is closed has no messages.
                self.publish_list(&path, &[])?;
                self.all_dirty();
            }
            ("textDocument/didSave" | "workspace/didChangeWatchedFiles", _) => self.all_dirty(),
            ("workspace/didChangeWorkspaceFolders", _) => self.change_folders(&n.params["event"]),
            ("$/cancelRequest", _) => self.cancel_run(
                |run, id| serde_json::to_value(&run.id).is_ok_and(|i| i == *id),
                &n.params["id"],
            ),
            ("window/workDoneProgress/cancel", _) => {
                self.cancel_run(
                    |run, token| run.token.as_ref() == Some(token),
                    &n.params["token"],
                );
            }
            _ => {}
        }
        Ok(())
    }

    fn cancel_run(&mut self, is_it: impl Fn(&Run, &Value) -> bool, name: &Value) {
        for run in self.runs.iter().filter(|r| is_it(r, name)) {
            run.cancel.store(true, Ordering::Relaxed);
        }
    }

    fn change_folders(&mut self, event: &Value) {
        let paths = |list: &Value| -> Vec<PathBuf> {
            let list = list.as_array().cloned().unwrap_or_default();
            list.iter()
                .filter_map(|f| f["uri"].as_str())
                .map(|u| PathBuf::from(path_of(u)))
                .collect()
        };
        for root in paths(&event["removed"]) {
            self.workspace.remove_root(&root);
        }
        for root in paths(&event["added"]) {
            self.workspace.add_root(root);
        }
    }

    /// Applies changes one after the other, each to what the one before left.
    fn change(&mut self, path: &str, changes: &Value) {
        let Some(changes) = changes.as_array() else {
            return;
        };
        let mut text = self
            .workspace
            .text(path)
            .map(|t| t.to_string())
            .unwrap_or_default();
        for change in changes {
            let new = change["text"].as_str().unwrap_or("");
            match change.get("range").filter(|r| r.is_object()) {
                None => text = new.to_owned(),
                Some(range) => {
                    let lines = paynter_service::LineIndex::new(&text);
                    let a = lines.offset(&text, to_position(&range["start"]));
                    let b = lines.offset(&text, to_position(&range["end"]));
                    text.replace_range(a.min(b)..a.max(b), new);
                }
            }
        }
        self.workspace.change(path, text);
    }

    // ---- messages of texts

    fn all_dirty(&mut self) {
        // A text may use any other; what did not change is found again at once.
        self.dirty.extend(self.workspace.open_files());
    }

    fn start_check(&mut self) {
        if self.is_checking || self.dirty.is_empty() || self.state != State::Ready {
            return;
        }
        self.is_checking = true;
        let paths = std::mem::take(&mut self.dirty).into_iter().collect();
        check(self.workspace.clone(), paths, self.sender.clone());
    }

    fn publish(&mut self, path: String, stamp: &Stamp, messages: Arc<[Remark]>) -> io::Result<()> {
        // A text that changed meanwhile is being checked again.
        if self.workspace.stamp(&path) != *stamp || !self.workspace.is_open(&path) {
            return Ok(());
        }
        if self.published.get(&path) == Some(&messages) {
            return Ok(());
        }
        self.publish_list(&path, &messages)?;
        self.published.insert(path, messages);
        Ok(())
    }

    fn publish_list(&mut self, path: &str, messages: &[Remark]) -> io::Result<()> {
        let list: Vec<Value> = messages.iter().map(|m| diagnostic(path, m)).collect();
        let params = json!({ "uri": uri_of(path), "diagnostics": list });
        let method = "textDocument/publishDiagnostics".to_owned();
        self.send(Message::Notification(Notification::new(method, params)))
    }

    fn send(&mut self, message: Message) -> io::Result<()> {
        let mut output = self.output.lock();
        message.write(&mut output)
    }

    fn write(&mut self, value: &Value) -> io::Result<()> {
        let text = value.to_string();
        let mut output = self.output.lock();
        write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        output.flush()
    }
}

/// Whether the loop goes on.
#[derive(PartialEq, Eq)]
enum Next {
    GoOn,
    Leave,
}

/// The request that a message takes back.
fn cancelled_by(event: &Event) -> Option<RequestId> {
    match event {
        Event::Incoming(Incoming::Message(Message::Notification(n)))
            if n.method == "$/cancelRequest" =>
        {
            serde_json::from_value(n.params["id"].clone()).ok()
        }
        _ => None,
    }
}
