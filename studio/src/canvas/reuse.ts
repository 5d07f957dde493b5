// Keeps what has not changed: a node or bond that looks as before is the same object as before, so that nothing of it is drawn again.
//
// Every keystroke moves the places in the text behind it; those do not show on the canvas.

import type { FlowBond, FlowSignal } from "./BondEdge";
import type { FlowNode } from "./GraphNode";

export function reuseNodes(old: FlowNode[], fresh: FlowNode[]): FlowNode[] {
  const known = new Map(old.map((n) => [n.id, n]));
  return fresh.map((n) => {
    const before = known.get(n.id);
    if (before && looksOfNode(before) === looksOfNode(n)) return before;
    // What the library has measured stays with the node, or the bonds would vanish for a moment.
    return before?.measured ? { ...n, measured: before.measured } : n;
  });
}

function looksOfNode(n: FlowNode): string {
  const { node, room, isTarget, step, isInConflict, renames } = n.data;
  const { letters, name, value, written, kind, model, trouble, doc } = node;
  return JSON.stringify([n.position, n.selected, n.ariaLabel, letters, name, value, written, kind, model, trouble, doc, room, isTarget, step, isInConflict, renames]);
}

type FlowEdge = FlowBond | FlowSignal;

export function reuseEdges(old: FlowEdge[], fresh: FlowEdge[]): FlowEdge[] {
  const known = new Map(old.map((e) => [e.id, e]));
  return fresh.map((e) => {
    const before = known.get(e.id);
    return before && looksOfEdge(before) === looksOfEdge(e) ? before : e;
  });
}

function looksOfEdge(e: FlowEdge): string {
  return JSON.stringify([e.type, e.source, e.target, e.selected, e.ariaLabel, e.data], (key, value: unknown) => (key === "span" ? undefined : value));
}
