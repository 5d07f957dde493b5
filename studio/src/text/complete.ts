// What could be typed at a place, as the server's service tells it.

import { snippet, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import type { Offer } from "../wire/protocol";

/** Sorts of the service as the editor's icons know them. */
const TYPES: Record<string, string> = {
  keyword: "keyword", element: "type", model: "class", function: "function", node: "variable", signal: "constant", member: "property", unit: "enum", library: "namespace",
  file: "text", domain: "interface", argument: "property",
};

export async function complete(context: CompletionContext, ask: () => Promise<Offer[]>): Promise<CompletionResult | null> {
  const isMember = context.matchBefore(/[.[]\s*[\p{L}\p{N}_]*$/u) !== null;
  const word = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*$/u);
  if (!word && !isMember && !context.explicit) return null;
  const offers = await ask().catch(() => []);
  const [first] = offers;
  if (!first || context.aborted) return null;
  return { from: first.from, options: offers.filter((o) => o.from === first.from).map(toCompletion), validFor: /^[\p{L}\p{N}_]*$/u };
}

function toCompletion(offer: Offer): Completion {
  return {
    label: offer.label,
    detail: offer.detail,
    type: TYPES[offer.sort] ?? "text",
    ...(offer.doc ? { info: plain(offer.doc) } : {}),
    apply: offer.isSnippet ? snippet(toTemplate(offer.insert)) : offer.insert,
  };
}

/** `$1`, `${1:name}` and `$0` of the service as `#{1:name}` of the editor. */
export function toTemplate(text: string): string {
  return text.replace(/\$\{(\d+):([^}]*)\}/g, "#{$2}").replace(/\$\d+/g, "#{}");
}

/** Words without marks: names keep their backticks off, code fences go. */
export function plain(markdown: string): string {
  return markdown.replace(/^```.*$/gm, "").replace(/\*\*|`/g, "").replace(/\n{3,}/g, "\n\n").trim();
}
