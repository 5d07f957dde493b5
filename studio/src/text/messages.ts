// Messages of the server as the editor shows them: underlined words, a mark in the margin.

import type { Action, Diagnostic } from "@codemirror/lint";
import type { Message, TextChange } from "../wire/protocol";

export function toDiagnostics(messages: Message[], length: number, apply: (c: TextChange[]) => void): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const message of messages) {
    const severity = message.severity === "note" ? "info" : message.severity;
    const text = [`${message.text}`, ...message.help.map((h) => `help: ${h}`)].join("\n");
    const actions: Action[] = message.fixes.map((f) => ({ name: f.title, apply: () => apply(f.changes) }));
    const place = message.at && message.at.path === "" ? message.at : { from: 0, to: 0, text: "" };
    found.push({ ...clip(place, length), severity, message: text, source: message.code, actions });
    for (const other of message.others) {
      if (other.path !== "" || other.text === "") continue;
      found.push({ ...clip(other, length), severity: "info", message: other.text, source: message.code });
    }
  }
  return found.sort((a, b) => a.from - b.from);
}

function clip(span: { from: number; to: number }, length: number): { from: number; to: number } {
  const from = Math.min(span.from, length);
  return { from, to: Math.max(from, Math.min(span.to, length)) };
}
