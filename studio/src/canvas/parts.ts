// What can be placed on the canvas, and how a typed line is read: `R 0.3 [ohm]`, `1`, `Gear`.

import type { KindCard, ModelItem, NodeView } from "../wire/protocol";

export interface Part {
  /** As written in the text. */
  kind: string;
  words: string;
  /** Where it comes from, for library parts and models. */
  from: string;
  /** The value a new one gets; empty for junctions. */
  value: string;
  /** Beginnings of further words that it is looked for by. */
  also?: string[];
  /** In a line, where there is more to say. */
  what?: string;
}

/** What is used most comes first; kinds that are not named here follow. */
const ORDER = ["Se", "Sf", "I", "C", "R", "TF", "GY", "1", "0"];

/** Words that fit under a tile; a kind that is not named here has those of the server. */
const SHORT: Record<string, string> = {
  Se: "effort", Sf: "flow", I: "inertia", C: "storage", R: "loss", TF: "transformer", GY: "gyrator", "1": "same flow", "0": "same effort",
  Sw: "switch", D: "diode", RS: "heating", M: "memristor",
};

/** The kinds of element as parts, in the order of the palette. */
export function basicParts(kinds: KindCard[]): Part[] {
  const rank = (k: KindCard): number => (ORDER.indexOf(k.kind) + ORDER.length + 1) % (ORDER.length + 1);
  return [...kinds].sort((a, b) => rank(a) - rank(b)).map((k) => ({ kind: k.kind, words: SHORT[k.kind] ?? k.words, from: "", value: k.value, also: k.also, what: k.what }));
}

export type Offer = { kind: "part"; part: Part; value: string } | { kind: "bond"; to: NodeView };

/** The best offers for a typed line; the first is what Enter takes. */
export function offers(typed: string, parts: Part[], nodes: NodeView[], from: string | null): Offer[] {
  const line = typed.trim();
  const [word = "", ...rest] = line.split(/\s+/);
  const value = rest.join(" ");
  const rank = (p: Part): number => matchRank(word, p);
  const found: Offer[] = parts
    .filter((p) => rank(p) < 9)
    .sort((a, b) => rank(a) - rank(b))
    .map((part) => ({ kind: "part", part, value: value || part.value }));
  const bonds: Offer[] =
    from === null || word === "" ? [] : nodes.filter((n) => n.id !== from && n.name && n.name.toLowerCase().startsWith(word.toLowerCase())).map((to) => ({ kind: "bond", to }));
  const isName = nodes.some((n) => n.name === word);
  return (isName ? [...bonds, ...found] : [...found, ...bonds]).slice(0, 8);
}

function matchRank(word: string, part: Part): number {
  if (word === "") return 5;
  // Parts of the library are found by their own name: `electromechanical.DcMotor` by `dcm`.
  const kind = (part.kind.split(".").pop() ?? part.kind).toLowerCase();
  const low = word.toLowerCase();
  if (part.kind === word) return 0;
  if (kind === low || part.kind.toLowerCase() === low) return 1;
  if (kind.startsWith(low)) return 2;
  if (part.words.toLowerCase().startsWith(low) || part.also?.some((word) => low.length > 2 && (low.startsWith(word) || word.startsWith(low)))) return 3;
  if (kind.includes(low) || part.words.toLowerCase().includes(low)) return 4;
  return 9;
}

export function modelParts(models: ModelItem[], shown: string): Part[] {
  return models.filter((m) => m.isPart && m.name !== shown).map((m) => ({ kind: m.name, words: m.doc.split("\n")[0] ?? "", from: "this file", value: "" }));
}
