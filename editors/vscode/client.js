// The Paynter client for VS Code: starts `paynter lsp`, and shows diagram and report beside the text.
//
// In:  texts of the language `bond`.
// Out: everything `paynter lsp` answers, through vscode-languageclient.

"use strict";

const { execFile } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

function command() {
  return vscode.workspace.getConfiguration("paynter").get("path", "paynter");
}

function startClient() {
  const server = { command: command(), args: ["lsp"] };
  const hints = () => vscode.workspace.getConfiguration("paynter").get("inlayHints", false);
  client = new LanguageClient("paynter", "Paynter", server, {
    documentSelector: [{ language: "bond" }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.bond") },
    middleware: {
      provideInlayHints: (document, range, token, next) => (hints() ? next(document, range, token) : []),
    },
  });
  return client.start();
}

/** The file that a command is about: the one of the code lens, or the one on the screen. */
function fileOf(uri) {
  const target = uri ? vscode.Uri.parse(uri) : vscode.window.activeTextEditor?.document.uri;
  if (!target || target.scheme !== "file") {
    throw new Error("Open a .bond file first, and save it.");
  }
  return target.fsPath;
}

async function save() {
  await vscode.window.activeTextEditor?.document.save();
}

/** Runs paynter and gives what it printed; messages of a failure are shown as they are. */
function call(args, cwd) {
  return new Promise((resolve, reject) => {
    execFile(command(), args, { cwd, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (error) {
        reject(new Error(stderr.trim() || error.message));
      } else {
        resolve(stdout);
      }
    });
  });
}

function show(title, html) {
  const panel = vscode.window.createWebviewPanel("paynter", title, vscode.ViewColumn.Beside, { enableScripts: true });
  panel.webview.html = html;
}

async function draw(uri, model) {
  await save();
  const file = fileOf(uri);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "paynter-"));
  const picture = path.join(folder, "diagram.svg");
  try {
    await call(["diagram", file, ...(model ? ["--model", model] : []), "-o", picture], path.dirname(file));
    const svg = fs.readFileSync(picture, "utf8");
    show(`Diagram ${model ?? path.basename(file)}`, `<!doctype html><body style="background:white">${svg}</body>`);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function report(uri, experiment) {
  await save();
  const file = fileOf(uri);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "paynter-"));
  const page = path.join(folder, "report.html");
  try {
    await call(["run", file, ...(experiment ? ["--experiment", experiment] : []), "--report", page], path.dirname(file));
    show(`Report ${experiment ?? path.basename(file)}`, fs.readFileSync(page, "utf8"));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function shown(work) {
  return (...args) => work(...args).catch((error) => vscode.window.showErrorMessage(String(error.message ?? error)));
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("paynter.diagram", shown(draw)),
    vscode.commands.registerCommand("paynter.report", shown(report)),
    vscode.commands.registerCommand("paynter.restart", shown(async () => client?.restart())),
  );
  await startClient();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
