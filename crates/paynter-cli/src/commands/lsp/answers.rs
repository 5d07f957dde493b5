//! Answers to requests, one function for each method.
//!
//! In:  the workspace, the method, its parameters.
//! Out: the result, or a code and a sentence.

use super::convert::{
    diagnostic, location, offset, path_of, position, range, text_edit, uri_of, workspace_edit,
};
use lsp_server::ErrorCode;
use paynter_service::complete::{CompletionSort, complete};
use paynter_service::hints::hints;
use paynter_service::hover::hover;
use paynter_service::outline::{
    Outline, OutlineSort, folds, outline, selections, workspace_symbols,
};
use paynter_service::rename::{home_of, mentions, rename_at, symbol_at};
use paynter_service::signature::signature;
use paynter_service::tokens::{LEGEND, tokens};
use paynter_service::{Edit, Message, Refusal, TextEdit, Workspace};
use serde_json::{Value, json};

/// Why there is no answer.
pub type Refused = (i32, String);

/// What the server can do.
pub fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": [".", ":", "[", ">", "(", "\""] },
        "signatureHelpProvider": { "triggerCharacters": ["(", ","] },
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": { "prepareProvider": true },
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "documentFormattingProvider": true,
        "documentRangeFormattingProvider": true,
        "inlayHintProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix"] },
        "codeLensProvider": {},
        "semanticTokensProvider": {
            "legend": { "tokenTypes": LEGEND, "tokenModifiers": [] },
            "full": true,
        },
        "executeCommandProvider": { "commands": ["paynter.run"], "workDoneProgress": true },
        "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
    })
}

/// Answers a request.
///
/// # Errors
///
/// The method is not known, or the parameters name nothing.
pub fn answer(workspace: &Workspace, method: &str, params: &Value) -> Result<Value, Refused> {
    let path = || {
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
        uri.map(path_of).ok_or_else(|| {
            (
                ErrorCode::InvalidParams as i32,
                "no document is named".to_owned(),
            )
        })
    };

    let at = |path: &str| offset(workspace, path, &params["position"]);
    let span = |path: &str| {
        let end_at = |end: &str| offset(workspace, path, &params["range"][end]);
        (end_at("start"), end_at("end"))
    };

    match method {
        "textDocument/hover" => path().map(|p| hover_answer(workspace, &p, at(&p))),
        "textDocument/completion" => path().map(|p| completion(workspace, &p, at(&p))),
        "textDocument/signatureHelp" => path().map(|p| signature_help(workspace, &p, at(&p))),
        "textDocument/definition" => {
            path().map(|p| places(workspace, &p, at(&p), Which::Definition))
        }
        "textDocument/references" => path().map(|p| places(workspace, &p, at(&p), Which::All)),
        "textDocument/documentHighlight" => path().map(|p| highlights(workspace, &p, at(&p))),
        "textDocument/prepareRename" => path().map(|p| prepare_rename(workspace, &p, at(&p))),
        "textDocument/rename" => {
            let name = params["newName"].as_str().unwrap_or("");
            path().and_then(|p| edit_answer(rename_at(workspace, &p, at(&p), name)))
        }
        "textDocument/documentSymbol" => path().map(|p| document_symbols(workspace, &p)),
        "workspace/symbol" => Ok(symbols(workspace, params["query"].as_str().unwrap_or(""))),
        "textDocument/foldingRange" => path().map(|p| folding(workspace, &p)),
        "textDocument/selectionRange" => {
            path().map(|p| selection(workspace, &p, &params["positions"]))
        }
        "textDocument/formatting" => path().map(|p| formatting(workspace, &p, None)),
        "textDocument/rangeFormatting" => path().map(|p| formatting(workspace, &p, Some(span(&p)))),
        "textDocument/semanticTokens/full" => path().map(|p| semantic_tokens(workspace, &p)),
        "textDocument/inlayHint" => path().map(|p| inlay_hints(workspace, &p, span(&p))),
        "textDocument/codeAction" => path().map(|p| code_actions(workspace, &p, span(&p))),
        "textDocument/codeLens" => path().map(|p| code_lenses(workspace, &p)),
        "paynter/view" => path().and_then(|p| view_answer(workspace, &p, params)),
        "paynter/edit" => path().and_then(|p| graph_edit(workspace, &p, params)),
        _ => Err((
            ErrorCode::MethodNotFound as i32,
            format!("`{method}` is not supported"),
        )),
    }
}

/// The graph of a model, for a canvas.
fn view_answer(workspace: &Workspace, path: &str, params: &Value) -> Result<Value, Refused> {
    let model = params["model"].as_str().unwrap_or("");
    serde_json::to_value(workspace.view(path, model))
        .map_err(|e| (ErrorCode::InternalError as i32, e.to_string()))
}

/// An edit of a graph, as edits of texts.
fn graph_edit(workspace: &Workspace, path: &str, params: &Value) -> Result<Value, Refused> {
    let model = params["model"].as_str().unwrap_or("");
    let edit: Edit = serde_json::from_value(params["edit"].clone())
        .map_err(|e| (ErrorCode::InvalidParams as i32, e.to_string()))?;
    edit_answer(workspace.edit(path, model, &edit))
}

/// Edits of texts as editors take them, or why there are none.
fn edit_answer(edits: Result<Vec<TextEdit>, Refusal>) -> Result<Value, Refused> {
    edits
        .map(|e| workspace_edit(&e))
        .map_err(|r| (ErrorCode::RequestFailed as i32, r.message))
}

fn hover_answer(workspace: &Workspace, path: &str, at: usize) -> Value {
    match hover(workspace, path, at) {
        Some(h) => json!({
            "contents": { "kind": "markdown", "value": h.text },
            "range": range(&h.range),
        }),
        None => Value::Null,
    }
}

fn completion(workspace: &Workspace, path: &str, at: usize) -> Value {
    let items = complete(workspace, path, at)
        .into_iter()
        .enumerate()
        .map(|(i, c)| {
            let kind = match c.sort {
                CompletionSort::Keyword => 14,
                CompletionSort::Element => 7,
                CompletionSort::Model => 7,
                CompletionSort::Function => 3,
                CompletionSort::Node => 5,
                CompletionSort::Signal => 6,
                CompletionSort::Member => 10,
                CompletionSort::Unit => 11,
                CompletionSort::Library => 9,
                CompletionSort::File => 17,
                CompletionSort::Domain => 8,
                CompletionSort::Argument => 5,
            };
            let others: Vec<Value> = c.others.iter().map(|(r, t)| text_edit(r, t)).collect();
            let mut item = json!({
                "label": c.label,
                "kind": kind,
                "detail": c.detail,
                "sortText": format!("{i:05}"),
                "insertTextFormat": if c.is_snippet { 2 } else { 1 },
                "textEdit": text_edit(&c.range, &c.insert),
            });
            if let Some(doc) = c.doc {
                item["documentation"] = json!({ "kind": "markdown", "value": doc });
            }
            if !others.is_empty() {
                item["additionalTextEdits"] = Value::Array(others);
            }
            item
        });
    json!({ "isIncomplete": false, "items": items.collect::<Vec<_>>() })
}

fn signature_help(workspace: &Workspace, path: &str, at: usize) -> Value {
    let Some(found) = signature(workspace, path, at) else {
        return Value::Null;
    };
    let utf16 = |n: usize| found.label[..n].encode_utf16().count();
    let parameters: Vec<Value> = found
        .arguments
        .iter()
        .map(|&(start, end)| json!({ "label": [utf16(start), utf16(end)] }))
        .collect();
    let mut signature = json!({ "label": found.label, "parameters": parameters });
    if let Some(doc) = &found.doc {
        signature["documentation"] = json!({ "kind": "markdown", "value": doc });
    }
    json!({ "signatures": [signature], "activeSignature": 0, "activeParameter": found.active })
}

/// Which places of a symbol are asked for.
#[derive(Clone, Copy, PartialEq)]
enum Which {
    Definition,
    All,
}

fn places(workspace: &Workspace, path: &str, at: usize, which: Which) -> Value {
    let Some((symbol, _)) = symbol_at(workspace, path, at) else {
        return Value::Null;
    };
    if let paynter_service::symbol::Symbol::Library(name) = &symbol {
        let path = format!("library:{name}");
        return json!([location(&path, &workspace.range(&path, 0, 0))]);
    }
    let found = match which {
        // What makes a symbol is in its home.
        Which::Definition => home_of(&symbol)
            .map(|home| mentions_in(workspace, home, &symbol))
            .unwrap_or_default(),
        Which::All => mentions(workspace, path, &symbol),
    };
    let has_definition = found.iter().any(|m| m.is_definition);
    let found = found
        .iter()
        .filter(|m| which == Which::All || m.is_definition || !has_definition);
    let list = found.map(|m| {
        let r = workspace.range(&m.path, m.span.start as usize, m.span.end as usize);
        location(&m.path, &r)
    });
    Value::Array(list.collect())
}

fn mentions_in(
    workspace: &Workspace,
    home: &str,
    symbol: &paynter_service::symbol::Symbol,
) -> Vec<paynter_service::rename::Mention> {
    paynter_service::rename::mentions_in(workspace, home, symbol)
}

fn highlights(workspace: &Workspace, path: &str, at: usize) -> Value {
    let Some((symbol, _)) = symbol_at(workspace, path, at) else {
        return Value::Null;
    };
    let found = paynter_service::rename::mentions_in(workspace, path, &symbol);
    let list = found.iter().map(|m| {
        let r = workspace.range(path, m.span.start as usize, m.span.end as usize);
        json!({ "range": range(&r), "kind": if m.is_definition { 3 } else { 2 } })
    });
    Value::Array(list.collect())
}

fn prepare_rename(workspace: &Workspace, path: &str, at: usize) -> Value {
    let found = symbol_at(workspace, path, at);
    let is_own = |symbol: &paynter_service::symbol::Symbol| {
        home_of(symbol).is_some_and(|h| !Workspace::is_library(h))
    };
    match found.filter(|(symbol, _)| is_own(symbol)) {
        Some((_, span)) => {
            let r = workspace.range(path, span.start as usize, span.end as usize);
            let name = workspace
                .text(path)
                .map(|t| t[span.start as usize..span.end as usize].to_owned());
            json!({ "range": range(&r), "placeholder": name })
        }
        None => Value::Null,
    }
}

fn symbol_kind(sort: OutlineSort) -> u32 {
    match sort {
        OutlineSort::Model => 5,
        OutlineSort::Experiment => 24,
        OutlineSort::Function => 12,
        OutlineSort::Constant => 14,
        OutlineSort::Domain => 3,
        OutlineSort::PortType => 11,
        OutlineSort::Param | OutlineSort::Input => 7,
        OutlineSort::Output | OutlineSort::Signal => 13,
        OutlineSort::Port => 11,
        OutlineSort::Node => 8,
    }
}

fn document_symbols(workspace: &Workspace, path: &str) -> Value {
    fn symbol(entry: &Outline) -> Value {
        json!({
            "name": entry.name,
            "detail": entry.detail,
            "kind": symbol_kind(entry.sort),
            "range": range(&entry.range),
            "selectionRange": range(&entry.name_range),
            "children": entry.children.iter().map(symbol).collect::<Vec<_>>(),
        })
    }
    let document = workspace.document(path);
    let entries = document.map(|d| outline(&d)).unwrap_or_default();
    Value::Array(entries.iter().map(symbol).collect())
}

fn symbols(workspace: &Workspace, query: &str) -> Value {
    let list = workspace_symbols(workspace, query)
        .into_iter()
        .map(|found| {
            json!({
                "name": found.symbol.name,
                "kind": symbol_kind(found.symbol.sort),
                "location": location(&found.path, &found.symbol.name_range),
                "containerName": found.container,
            })
        });
    Value::Array(list.collect())
}

fn folding(workspace: &Workspace, path: &str) -> Value {
    let document = workspace.document(path);
    let list = document
        .map(|d| folds(&d))
        .unwrap_or_default()
        .into_iter()
        .map(|f| {
            let mut fold = json!({ "startLine": f.start, "endLine": f.end });
            if f.is_comment {
                fold["kind"] = json!("comment");
            }
            fold
        });
    Value::Array(list.collect())
}

fn selection(workspace: &Workspace, path: &str, positions: &Value) -> Value {
    let Some(document) = workspace.document(path) else {
        return Value::Null;
    };
    let positions = positions.as_array().cloned().unwrap_or_default();
    let list = positions.iter().map(|p| {
        let at = offset(workspace, path, p);
        // From the outside in, so that each has its parent.
        let mut nested = Value::Null;
        for r in selections(&document, at).iter().rev() {
            let mut next = json!({ "range": range(r) });
            if !nested.is_null() {
                next["parent"] = nested;
            }
            nested = next;
        }
        nested
    });
    Value::Array(list.collect())
}

fn formatting(workspace: &Workspace, path: &str, within: Option<(usize, usize)>) -> Value {
    let edits = paynter_service::edit::formatting(workspace, path, within);
    let list = edits.iter().map(|e| text_edit(&e.range, &e.text));
    Value::Array(list.collect())
}

fn semantic_tokens(workspace: &Workspace, path: &str) -> Value {
    let (Some(document), Some(analysis)) = (workspace.document(path), workspace.analysis(path))
    else {
        return Value::Null;
    };
    let mut data: Vec<u32> = Vec::new();
    let (mut line, mut character) = (0, 0);
    for token in tokens(&document, &analysis) {
        let r = document.bytes(token.start, token.end);
        let length = r.utf16.1 - r.utf16.0;
        let start = r.start;
        let step = if start.line == line {
            start.character - character
        } else {
            start.character
        };
        data.extend([start.line - line, step, length as u32, token.sort as u32, 0]);
        (line, character) = (start.line, start.character);
    }
    json!({ "data": data })
}

fn inlay_hints(workspace: &Workspace, path: &str, (start, end): (usize, usize)) -> Value {
    let Some(document) = workspace.document(path) else {
        return Value::Null;
    };
    let list = hints(workspace, path)
        .into_iter()
        .filter(|h| h.at >= start && h.at <= end);
    let list = list.map(|h| {
        let mut hint = json!({
            "position": position(document.lines.position(&document.text, h.at)),
            "label": h.text,
        });
        if !h.why.is_empty() {
            hint["tooltip"] = json!(h.why.join("\n"));
        }
        hint
    });
    Value::Array(list.collect())
}

fn code_actions(workspace: &Workspace, path: &str, (start, end): (usize, usize)) -> Value {
    let messages = workspace.messages(path);
    let touches = |m: &&Message| m.range.bytes.0 <= end && start <= m.range.bytes.1;
    let mut list = Vec::new();
    for message in messages.iter().filter(touches) {
        for fix in &message.fixes {
            let edits: Vec<Value> = fix.edits.iter().map(|(r, t)| text_edit(r, t)).collect();
            let mut changes = serde_json::Map::new();
            changes.insert(uri_of(path), Value::Array(edits));
            list.push(json!({
                "title": fix.title,
                "kind": "quickfix",
                "diagnostics": [diagnostic(path, message)],
                "isPreferred": message.fixes.len() == 1,
                "edit": { "changes": changes },
            }));
        }
    }
    Value::Array(list)
}

fn code_lenses(workspace: &Workspace, path: &str) -> Value {
    let Some(document) = workspace.document(path) else {
        return Value::Null;
    };
    let mut list = Vec::new();
    for entry in outline(&document) {
        let (title, command) = match entry.sort {
            OutlineSort::Experiment => ("▶ run", "paynter.run"),
            OutlineSort::Model => ("draw", "paynter.diagram"),
            _ => continue,
        };
        list.push(json!({
            "range": range(&entry.name_range),
            "command": { "title": title, "command": command, "arguments": [uri_of(path), entry.name] },
        }));
    }
    Value::Array(list)
}
