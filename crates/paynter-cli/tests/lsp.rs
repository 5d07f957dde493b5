//! `paynter lsp` driven by a scripted client over standard input and output.

mod kit;

use kit::Folder;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longer than any answer takes on a busy machine; an answer that never comes fails the test.
const PATIENCE: Duration = Duration::from_secs(60);

fn uri_in(folder: &Folder, name: &str) -> String {
    format!("file://{}", folder.0.join(name).display())
}

/// The other end of the line.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications and requests of the server that were read on the way to an answer.
    heard: Vec<Value>,
    next_id: i64,
}

impl Client {
    fn start() -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_paynter"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command was built");
        let output = child.stdout.take().expect("it is piped");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            input: child.stdin.take(),
            child,
            messages,
            heard: Vec::new(),
            next_id: 0,
        }
    }

    fn greeted(root: &Path) -> Client {
        let mut client = Client::start();
        let params = json!({
            "processId": null,
            "rootUri": format!("file://{}", root.display()),
            "capabilities": { "window": { "workDoneProgress": true } },
        });
        let result = client.ask("initialize", params);
        assert_eq!(result["serverInfo"]["name"], "paynter");
        client.tell("initialized", json!({}));
        client
    }

    fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the line is open");
        input.write_all(bytes).expect("the server listens");
        input.flush().expect("the server listens");
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn request(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn receive(&mut self) -> Value {
        self.messages
            .recv_timeout(PATIENCE)
            .expect("the server answers")
    }

    fn wait(&mut self, id: i64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message;
            }
            self.heard.push(message);
        }
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let answer = self.wait(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "bond", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, uri: &str, range: Value, text: &str) {
        let changes = json!([{ "range": range, "text": text }]);
        self.tell(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": changes }),
        );
    }

    /// The next diagnostics of a text.
    fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        let is_it = |m: &Value| {
            m["method"] == "textDocument/publishDiagnostics" && m["params"]["uri"] == uri
        };
        if let Some(at) = self.heard.iter().position(is_it) {
            let found = self.heard.remove(at);
            return found["params"]["diagnostics"]
                .as_array()
                .cloned()
                .unwrap_or_default();
        }
        loop {
            let message = self.receive();
            if is_it(&message) {
                return message["params"]["diagnostics"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
            }
            self.heard.push(message);
        }
    }

    /// Waits until the diagnostics of a text are as wanted.
    fn until(&mut self, uri: &str, wanted: impl Fn(&[Value]) -> bool) {
        let start = Instant::now();
        loop {
            let found = self.diagnostics(uri);
            if wanted(&found) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{found:?}");
        }
    }

    fn leave(mut self) {
        let id = self.request("shutdown", Value::Null);
        self.wait(id);
        self.tell("exit", Value::Null);
        let status = self.child.wait().expect("it was started");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            line => {
                if let Some(n) = line.strip_prefix("Content-Length: ") {
                    length = n.parse().ok()?;
                }
            }
        }
    }
    let mut bytes = vec![0; length];
    output.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn at(line: usize, character: usize) -> Value {
    json!({ "line": line, "character": character })
}

fn place(uri: &str, line: usize, character: usize) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": at(line, character) })
}

/// Applies edits of one text, positions in UTF-16.
fn apply(text: &str, edits: &Value) -> String {
    let offset = |p: &Value| {
        let line = p["line"].as_u64().expect("a line") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut units = p["character"].as_u64().expect("a column") as usize;
        let mut at = start;
        for c in text[start..].chars() {
            if units == 0 {
                break;
            }
            units -= c.len_utf16();
            at += c.len_utf8();
        }
        at
    };
    let mut list: Vec<(usize, usize, &str)> = edits
        .as_array()
        .expect("a list")
        .iter()
        .map(|e| {
            (
                offset(&e["range"]["start"]),
                offset(&e["range"]["end"]),
                e["newText"].as_str().expect("a text"),
            )
        })
        .collect();
    list.sort();
    let mut out = text.to_owned();
    for (start, end, new) in list.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

const MODEL: &str = "units strict

/// A coil and a resistor: θ is not an angle here.
model Coil {
    param R1 = 50 [ohm], L1 = 2 [mH]
    supply: Se(10 [V]) -> mesh: 1 -> r1: R(R1), l1: I(L1)
    output i [A] = l1.f
}

experiment on of Coil { stop = 1 [ms]; record i }
";

#[test]
fn messages_follow_what_is_typed_letter_by_letter() {
    let folder = Folder::new();
    let mut client = Client::greeted(&folder.0);
    let uri = uri_in(&folder, "coil.bond");
    client.open(&uri, MODEL);
    assert_eq!(client.diagnostics(&uri), Vec::<Value>::new());
    // `R1` of `R(R1)` becomes `R9`, which nothing declares.
    let line = MODEL.lines().nth(5).expect("it is there");
    let column = line.find("R(R1)").expect("it is there") + 3;
    let range = json!({ "start": at(5, column), "end": at(5, column + 1) });
    client.change(&uri, range.clone(), "9");
    client.until(&uri, |found| {
        found.iter().any(|d| {
            d["severity"] == 1
                && d["range"]["start"] == at(5, column - 1)
                && d["message"].as_str().is_some_and(|m| m.contains("R9"))
        })
    });
    client.change(&uri, range, "1");
    client.until(&uri, <[Value]>::is_empty);
    client.leave();
}

#[test]
fn positions_behind_letters_outside_the_basic_plane_are_right() {
    let folder = Folder::new();
    let mut client = Client::greeted(&folder.0);
    let uri = uri_in(&folder, "u.bond");
    // 𝛾 is one letter, two UTF-16 units, four bytes.
    let text = "// 𝛾𝛾\nmodel M { /* */ }\n";
    client.open(&uri, text);
    client.until(&uri, |found| !found.is_empty());
    client.change(&uri, json!({ "start": at(0, 3), "end": at(0, 7) }), "γ");
    client.change(
        &uri,
        json!({ "start": at(1, 10), "end": at(1, 15) }),
        "j: 1 -> r: R(1)",
    );
    let symbols = client.ask(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": uri } }),
    );
    assert_eq!(symbols[0]["children"][1]["name"], "r");
    assert_eq!(
        symbols[0]["children"][1]["selectionRange"]["start"],
        at(1, 18)
    );
    client.leave();
}

#[test]
fn completion_knows_kinds_members_units_and_arguments() {
    let folder = Folder::new();
    let mut client = Client::greeted(&folder.0);
    let (uri, other) = (uri_in(&folder, "c.bond"), uri_in(&folder, "d.bond"));
    let text = "use electrical: Resistor\nmodel M {\n    s: Se(1) -> j: 1 -> c: C(1)\n    r: \n}\n";
    client.open(&uri, text);
    client.open(
        &other,
        "use electrical: Resistor\nmodel M {\n    param k = 5 [o]\n    s: Se(1) -> j: 1 -> c: C(1)\n    p: Resistor()\n    x = c.\n}\n",
    );
    let mut labels = |uri: &str, line: usize, character: usize| -> Vec<String> {
        let list = client.ask("textDocument/completion", place(uri, line, character));
        let items = list["items"].as_array().expect("a list").clone();
        items
            .iter()
            .map(|i| i["label"].as_str().expect("a label").to_owned())
            .collect()
    };
    let kinds = labels(&uri, 3, 7);
    for kind in ["R", "C", "TF", "1", "Resistor", "Inductor", "DcMotor"] {
        assert!(kinds.iter().any(|k| k == kind), "{kind}: {kinds:?}");
    }
    let members = labels(&other, 5, 10);
    assert!(
        members.contains(&"q".to_owned()) && members.contains(&"stored".to_owned()),
        "{members:?}"
    );
    assert!(!members.contains(&"p".to_owned()), "{members:?}");
    let units = labels(&other, 2, 18);
    assert!(units.contains(&"ohm".to_owned()), "{units:?}");
    let arguments = labels(&other, 4, 16);
    assert!(arguments.contains(&"R".to_owned()), "{arguments:?}");
    // What is not used yet brings its `use`.
    let list = client.ask("textDocument/completion", place(&uri, 3, 7));
    let inductor = list["items"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|i| i["label"] == "Inductor");
    let others = &inductor.expect("it is offered")["additionalTextEdits"];
    assert!(
        apply(text, others).starts_with("use electrical: Resistor, Inductor\n"),
        "{others}"
    );
    client.leave();
}

#[test]
fn hover_tells_the_stroke_and_why() {
    let folder = Folder::new();
    let mut client = Client::greeted(&folder.0);
    let uri = uri_in(&folder, "coil.bond");
    client.open(&uri, MODEL);
    let line = MODEL.lines().nth(5).expect("it is there");
    let mut text = |line: usize, column: usize| {
        let hover = client.ask("textDocument/hover", place(&uri, line, column));
        hover["contents"]["value"].as_str().unwrap_or("").to_owned()
    };
    let arrow = text(5, line.find("->").expect("it is there"));
    assert!(
        arrow.contains("supply ->| mesh") && arrow.contains("is a source of effort"),
        "{arrow}"
    );
    let node = text(5, line.find("l1").expect("it is there"));
    assert!(
        node.contains("l1: I(L1)") && node.contains("integral form"),
        "{node}"
    );
    let parameter = text(5, line.find("R1)").expect("it is there"));
    assert!(parameter.contains("param R1 = 50 [ohm]"), "{parameter}");
    let word = text(9, 1);
    assert!(word.contains("what is tried with a model"), "{word}");
    client.leave();
}

#[test]
fn rename_goes_through_three_files_and_experiments() {
    let folder = Folder::new();
    let part = "model Load {\n    param resistance = 2\n    port p: electrical = n\n    n: 0 -> r: R(resistance)\n}\n";
    let middle = "use \"load.bond\": Load\nmodel Pair extends Load {\n    x = resistance\n}\nmodel Two {\n    port q: electrical = a.p\n    a: Load(resistance = 3)\n}\n";
    let main = "use \"load.bond\": Load\nuse \"pair.bond\": Two\nmodel M {\n    s: Se(10) -> j: 1 -> i: I(1)\n    load: Load(resistance = 4)\n    two: Two()\n    j -> load.p\n    y = load.resistance + two.a.resistance\n}\nexperiment go of M { with load.resistance = 5, two.a.resistance = 6; stop = 1; record i.f }\n";
    for (name, text) in [
        ("load.bond", part),
        ("pair.bond", middle),
        ("main.bond", main),
    ] {
        folder.write(name, text);
    }
    let mut client = Client::greeted(&folder.0);
    let uri = uri_in(&folder, "load.bond");
    client.open(&uri, part);
    let mut params = place(&uri, 1, 12);
    params["newName"] = json!("ohms");
    let result = client.ask("textDocument/rename", params.clone());
    for (name, text) in [
        ("load.bond", part),
        ("pair.bond", middle),
        ("main.bond", main),
    ] {
        let edits = &result["changes"][uri_in(&folder, name)];
        assert!(edits.is_array(), "{name}: {result}");
        assert_eq!(
            apply(text, edits),
            text.replace("resistance", "ohms"),
            "{name}"
        );
    }
    // A name that is taken would change meanings.
    params["newName"] = json!("n");
    let id = client.request("textDocument/rename", params);
    let answer = client.wait(id);
    assert!(
        answer["error"]["message"]
            .as_str()
            .is_some_and(|m| m.contains("means something else")),
        "{answer}"
    );
    // References and definition agree with it.
    let main_uri = uri_in(&folder, "main.bond");
    client.open(&main_uri, main);
    let definition = client.ask("textDocument/definition", place(&main_uri, 7, 16));
    assert_eq!(definition[0]["uri"], json!(uri));
    assert_eq!(definition[0]["range"]["start"], at(1, 10));
    let references = client.ask("textDocument/references", place(&main_uri, 7, 16));
    assert_eq!(references.as_array().map(Vec::len), Some(9), "{references}");
    client.leave();
}

#[test]
fn format_and_quick_fix_change_what_they_say() {
    let folder = Folder::new();
    let mut client = Client::greeted(&folder.0);
    let uri = uri_in(&folder, "f.bond");
    let text = "model M{\n  param resistance=5\n  s: Se(1)->j:1->r: R(resistence)\n}\n";
    client.open(&uri, text);
    let edits = client.ask(
        "textDocument/formatting",
        json!({ "textDocument": { "uri": uri }, "options": {} }),
    );
    let laid_out = apply(text, &edits);
    assert_eq!(
        laid_out,
        "model M {\n    param resistance = 5\n    s: Se(1) -> j: 1 -> r: R(resistence)\n}\n"
    );
    client.until(&uri, |found| !found.is_empty());
    let range = json!({ "start": at(2, 0), "end": at(2, 40) });
    let actions = client.ask(
        "textDocument/codeAction",
        json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } }),
    );
    let fix = &actions[0];
    assert_eq!(fix["kind"], "quickfix", "{actions}");
    assert_eq!(
        apply(text, &fix["edit"]["changes"][&uri]),
        text.replace("resistence", "resistance")
    );
    client.leave();
}

#[test]
fn a_run_reports_progress_and_can_be_cancelled() {
    let folder = Folder::new();
    let mut client = Client::greeted(&folder.0);
    let uri = uri_in(&folder, "run.bond");
    client.open(&uri, MODEL);
    let command = json!({ "command": "paynter.run", "arguments": [uri, "on"] });
    let result = client.ask("workspace/executeCommand", command);
    assert_eq!(result["ending"], "reached the end", "{result}");
    let kinds: Vec<&Value> = client
        .heard
        .iter()
        .filter(|m| m["method"] == "$/progress")
        .map(|m| &m["params"]["value"]["kind"])
        .collect();
    assert_eq!(kinds.first(), Some(&&json!("begin")));
    assert_eq!(kinds.last(), Some(&&json!("end")));
    // A run that would take minutes ends at once.
    let long = MODEL
        .replace("Se(10 [V])", "Se(10 [V]*sin(1e6 [rad/s]*time))")
        .replace(
            "stop = 1 [ms]",
            "stop = 90 [s]; output_step = 10 [s]; method = rk4(step = 1e-6 [s])",
        );
    let slow = uri_in(&folder, "slow.bond");
    client.open(&slow, &long);
    let id = client.request(
        "workspace/executeCommand",
        json!({ "command": "paynter.run", "arguments": [slow, "on"] }),
    );
    std::thread::sleep(Duration::from_millis(300));
    client.tell("$/cancelRequest", json!({ "id": id }));
    let answer = client.wait(id);
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    client.leave();
}

#[test]
fn a_request_that_waits_can_be_cancelled() {
    let folder = Folder::new();
    let mut client = Client::greeted(&folder.0);
    let uri = uri_in(&folder, "m.bond");
    client.open(&uri, MODEL);
    // All at once, so that the last one still waits when its cancel is read.
    let mut batch = String::new();
    let ids: Vec<i64> = (1000..1050).collect();
    for id in &ids {
        let text =
            json!({ "jsonrpc": "2.0", "id": id, "method": "textDocument/inlayHint", "params": {
            "textDocument": { "uri": uri }, "range": { "start": at(0, 0), "end": at(99, 0) } } })
            .to_string();
        batch.push_str(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }
    let text = json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": 1049 } })
        .to_string();
    batch.push_str(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    client.raw(batch.as_bytes());
    let mut n_answers = 0;
    for id in ids {
        let answer = client.wait(id);
        n_answers += 1;
        if id == 1049 {
            // Answered or taken back, but answered.
            assert!(
                answer.get("result").is_some() || answer["error"]["code"] == -32800,
                "{answer}"
            );
        }
    }
    assert_eq!(n_answers, 50);
    client.leave();
}

#[test]
fn nonsense_is_survived() {
    let folder = Folder::new();
    let mut client = Client::start();
    // Before the greeting.
    let id = client.request("textDocument/hover", json!({}));
    assert_eq!(client.wait(id)["error"]["code"], -32002);
    client.raw(b"Content-Length: 7\r\n\r\nnot one");
    client.raw(b"no header at all\r\n\r\n");
    client.raw(b"Content-Length: 2\r\n\r\n[]");
    client.raw(b"Content-Length: 4\r\n\r\n\xff\xfe\xfd\xfc");
    let params = json!({ "rootUri": format!("file://{}", folder.0.display()), "capabilities": {} });
    client.ask("initialize", params);
    for params in [
        json!(null),
        json!([]),
        json!({ "textDocument": 5 }),
        json!({ "textDocument": { "uri": "::" } }),
        json!({ "textDocument": { "uri": "file:///nowhere.bond" }, "position": { "line": -5, "character": 1e99 } }),
    ] {
        for method in [
            "textDocument/hover",
            "textDocument/completion",
            "textDocument/rename",
            "textDocument/codeAction",
            "textDocument/semanticTokens/full",
            "textDocument/selectionRange",
            "textDocument/formatting",
            "workspace/symbol",
            "workspace/executeCommand",
            "paynter/view",
            "paynter/edit",
            "made/up",
        ] {
            let id = client.request(method, params.clone());
            let answer = client.wait(id);
            assert!(
                answer.get("result").is_some() || answer.get("error").is_some(),
                "{method} {answer}"
            );
        }
        for method in [
            "textDocument/didOpen",
            "textDocument/didChange",
            "textDocument/didClose",
            "$/cancelRequest",
            "made/up",
        ] {
            client.tell(method, params.clone());
        }
    }
    let uri = uri_in(&folder, "m.bond");
    client.open(&uri, "model M {");
    client.change(
        &uri,
        json!({ "start": at(900, 900), "end": at(0, 2) }),
        "x\u{0}\r\r\n",
    );
    client.until(&uri, |found| !found.is_empty());
    client.leave();
}

#[test]
fn a_client_that_dies_takes_the_server_with_it() {
    let folder = Folder::new();
    let mut client = Client::greeted(&folder.0);
    client.raw(b"Content-Length: 100\r\n\r\n{\"half");
    client.input = None;
    let start = Instant::now();
    loop {
        if let Some(status) = client.child.try_wait().expect("it was started") {
            assert!(status.success(), "{status}");
            break;
        }
        assert!(start.elapsed() < PATIENCE, "it still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn thousands_of_changes_are_followed() {
    let folder = Folder::new();
    let mut client = Client::greeted(&folder.0);
    let uri = uri_in(&folder, "many.bond");
    client.open(&uri, "");
    let mut text = String::new();
    let word = "model M { j: 1 -> r: R(1) }";
    for k in 0..5000 {
        let letter = &word[k % word.len()..=k % word.len()];
        if text.len() >= word.len() {
            client.change(
                &uri,
                json!({ "start": at(0, 0), "end": at(0, text.len()) }),
                "",
            );
            text.clear();
        }
        client.change(
            &uri,
            json!({ "start": at(0, text.len()), "end": at(0, text.len()) }),
            letter,
        );
        text.push_str(letter);
    }
    let symbols = client.ask(
        "textDocument/foldingRange",
        json!({ "textDocument": { "uri": uri } }),
    );
    assert!(symbols.is_array());
    let view = client.ask(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": uri } }),
    );
    // 5000 = 185 words of 27 letters and 5 more: `model`.
    assert_eq!(text, "model");
    assert_eq!(view, json!([]));
    client.leave();
}
