// What changes of a text would do, as lines that go and lines that come.

import type { TextChange } from "../wire/protocol";

export interface Line {
  sign: "-" | "+";
  text: string;
}

/** In order of the text; changes on the same lines are one difference. */
export function difference(text: string, changes: TextChange[]): Line[] {
  const sorted = changes.filter((c) => c.to <= text.length).sort((a, b) => a.from - b.from);
  const found: Line[] = [];
  for (let i = 0; i < sorted.length; ) {
    const from = text.lastIndexOf("\n", (sorted[i] as TextChange).from - 1) + 1;
    let to = lineEnd(text, (sorted[i] as TextChange).to);
    let after = "";
    let at = from;
    while (i < sorted.length && (sorted[i] as TextChange).from <= to) {
      const change = sorted[i++] as TextChange;
      after += text.slice(at, change.from) + change.insert;
      at = change.to;
      to = Math.max(to, lineEnd(text, change.to));
    }
    after += text.slice(at, to);
    found.push(...lines(text.slice(from, to), after));
  }
  return found;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Lines that are the same at both ends are no difference. */
function lines(before: string, after: string): Line[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  while (old.length > 0 && now.length > 0 && old[0] === now[0]) old.shift(), now.shift();
  while (old.length > 0 && now.length > 0 && old.at(-1) === now.at(-1)) old.pop(), now.pop();
  const of = (sign: Line["sign"], list: string[]): Line[] => list.filter((l) => l.trim() !== "").map((l) => ({ sign, text: l.trim() }));
  return [...of("-", old), ...of("+", now)];
}
