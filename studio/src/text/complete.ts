// What could be typed, and what a word means, from what the server last said about the text.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { nameOfNode } from "../canvas/flow";
import { BASIC } from "../canvas/parts";
import type { Analysis, Span } from "../wire/protocol";

const MEMBERS: Record<string, string> = {
  e: "effort", f: "flow", p: "momentum", q: "displacement", energy: "energy through it", stored: "stored energy", power: "power into it",
};
const WORDS = ["model", "experiment", "param", "input", "output", "port", "use", "extends", "with", "record", "plot", "measure", "compare", "stop", "start", "when", "for", "layout"];

export function complete(context: CompletionContext, analysis: Analysis | null): CompletionResult | null {
  const member = context.matchBefore(/\.[\p{L}\p{N}_]*$/u);
  if (member) {
    const options = Object.entries(MEMBERS).map(([label, detail]): Completion => ({ label, detail, type: "property" }));
    return { from: member.from + 1, options, validFor: /^\w*$/ };
  }
  const word = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*$/u);
  if (!word && !context.explicit) return null;
  return { from: word?.from ?? context.pos, options: names(analysis), validFor: /^[\p{L}\p{N}_]*$/u };
}

function names(analysis: Analysis | null): Completion[] {
  const options: Completion[] = BASIC.filter((p) => /[A-Z]/.test(p.kind)).map((p) => ({ label: p.kind, detail: p.words, type: "type", apply: `${p.kind}(` }));
  for (const m of analysis?.models ?? []) options.push({ label: m.name, detail: "model", info: m.doc, type: "class" });
  for (const n of analysis?.view?.nodes ?? []) if (n.name) options.push({ label: n.name, detail: n.letters, type: "variable" });
  for (const p of analysis?.parameters ?? []) options.push({ label: p.name, detail: p.text, info: p.doc, type: "constant" });
  for (const w of WORDS) options.push({ label: w, type: "keyword" });
  return options;
}

/** The node or parameter whose words hold a place. */
export function whatIsAt(offset: number, analysis: Analysis | null): { span: Span; text: string } | null {
  const holds = (s: Span | null): s is Span => s !== null && s.from <= offset && offset <= s.to;
  const nodes = (analysis?.view?.nodes ?? []).filter((n) => holds(n.span));
  const node = nodes.sort((a, b) => size(a.span) - size(b.span))[0];
  if (node?.span) return { span: node.span, text: nameOfNode(node) };
  const parameter = analysis?.parameters.find((p) => holds(p.span));
  return parameter ? { span: parameter.span, text: `${parameter.name} = ${parameter.text}${parameter.doc && `\n${parameter.doc}`}` } : null;
}

function size(s: Span | null): number {
  return s ? s.to - s.from : Infinity;
}
