// What an analysis says again is the same object as before, so that no panel is drawn again for it.
//
// In:  the last analysis of the page, and the news.
// Out: the news, with the old objects where they say the same; views are kept by `wire/picture.ts`.

import type { Analysis, Span } from "../wire/protocol";

/** An analysis as the page keeps it. Places in the text move with every keystroke, so they are kept apart. */
export interface Kept extends Analysis {
  itemSpans: { models: Span[]; experiments: Span[]; parameters: Span[] };
}

export function keptAnalysis(before: Kept | null, news: Analysis): Kept {
  const keep = <K extends keyof Analysis>(key: K): Analysis[K] => (before && says(before[key], news[key]) ? before[key] : news[key]);
  const places = (items: { span: Span }[]): Span[] => items.map((i) => i.span);
  return {
    ...news,
    // A text that cannot be read at all keeps the last picture.
    ...(news.view || !before ? {} : { view: before.view, spans: before.spans }),
    messages: keep("messages"),
    parameters: keep("parameters"),
    facts: keep("facts"),
    models: keep("models"),
    experiments: keep("experiments"),
    itemSpans: { models: places(news.models), experiments: places(news.experiments), parameters: places(news.parameters) },
  };
}

/** Tells whether two values of the wire are the same all the way down, wherever in the text they stand. */
export function says(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => key === "span" || (key in right && says(left[key], right[key])));
}
