// Where the nodes of a view stand: as the text says, else where they stood, else where the layout puts them.
//
// **Invariant:** what was there, joined to something, and has no new place in the text does not move.

import { layOut, type LayoutEdge, type LayoutNode } from "../canvas/layout";
import type { KindCard, NodeView, View } from "../wire/protocol";

export type Places = Map<string, [number, number]>;

/** Signals pull nodes together less than bonds do. */
const SIGNAL_WEIGHT = 0.2;

export function placesOf(before: View | null, old: Places, now: View, kinds: KindCard[]): Places {
  const natures = new Map(kinds.map((k) => [k.kind, k.nature]));
  const isSame = before !== null && before.model === now.model && before.level.join() === now.level.join();
  const kept = isSame ? now.nodes.filter((n) => old.has(n.id)).length : 0;
  // Most of it is another graph, such as after a paste: it is laid out anew.
  const isKept = isSame && 2 * kept >= now.nodes.length;
  // What was alone while it was typed, or joined to names half typed, goes to what it is joined to now.
  const alone = isKept && before ? aloneIn(before, now) : new Set<string>();
  const aloneNow = aloneIn(now, now);
  const nodes = now.nodes.map((node): LayoutNode => {
    const isJoined = alone.has(node.id) && !aloneNow.has(node.id);
    const stood = isKept && !isJoined ? (old.get(node.id) ?? null) : null;
    return { id: node.id, wish: wishOf(node, natures), fixed: node.at ?? stood, width: 60 };
  });
  if (nodes.every((n) => n.fixed)) {
    const isUnmoved = old.size === nodes.length && nodes.every((n) => isEqual(old.get(n.id), n.fixed));
    return isUnmoved ? old : new Map(nodes.map((n) => [n.id, n.fixed as [number, number]]));
  }
  const edges: LayoutEdge[] = now.bonds.map((b) => ({ tail: b.tail, head: b.head, weight: 1 }));
  for (const s of now.signals) edges.push({ tail: s.from, head: s.to, weight: SIGNAL_WEIGHT });
  return layOut(nodes, edges);
}

/** Nodes that a view joins to none of those that are left. */
function aloneIn(view: View, left: View): Set<string> {
  const isLeft = new Set(left.nodes.map((n) => n.id));
  const alone = new Set(view.nodes.map((n) => n.id));
  const join = (a: string, b: string): void => {
    if (isLeft.has(b)) alone.delete(a);
    if (isLeft.has(a)) alone.delete(b);
  };
  for (const b of view.bonds) join(b.tail, b.head);
  for (const s of view.signals) join(s.from, s.to);
  return alone;
}

function isEqual(a: [number, number] | undefined, b: [number, number] | null): boolean {
  return a !== undefined && b !== null && a[0] === b[0] && a[1] === b[1];
}

/** Where a node likes to stand beside its junction: sources left, losses above, storages below. */
export function wishOf(node: NodeView, natures: Map<string, KindCard["nature"]>): LayoutNode["wish"] {
  // A modulated element has an M before its letters; the memristor is an M alone.
  const nature = natures.get(node.letters) ?? natures.get(node.letters.replace(/^M/, ""));
  if (nature === "source") return "left";
  if (nature === "loss") return "up";
  if (nature === "storage") return "down";
  return "none";
}
