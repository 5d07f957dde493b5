// Keeps what has not changed: a node or bond that looks as before is the same object as before, so that nothing of it is drawn again.
//
// In:  what was drawn, and what is to be drawn; views keep the objects of what says the same (see `wire/picture.ts`).
// Out: what is to be drawn, with the old objects where nothing shows; the old list itself where nothing at all does.

import type { FlowBond, FlowSignal } from "./BondEdge";
import type { FlowNode } from "./GraphNode";

export function reuseNodes(old: FlowNode[], fresh: FlowNode[]): FlowNode[] {
  return reused(old, fresh, (before, n) => {
    if (isSameNode(before, n)) return before;
    // What the library has measured stays with the node, or the bonds would vanish for a moment.
    return before.measured ? { ...n, measured: before.measured } : n;
  });
}

type FlowEdge = FlowBond | FlowSignal;

export function reuseEdges(old: FlowEdge[], fresh: FlowEdge[]): FlowEdge[] {
  return reused(old, fresh, (before, e) => (isSameEdge(before, e) ? before : e));
}

function reused<T extends { id: string }>(old: T[], fresh: T[], choose: (before: T, now: T) => T): T[] {
  const known = new Map(old.map((x) => [x.id, x]));
  let isAll = old.length === fresh.length;
  const list = fresh.map((x, at) => {
    const before = known.get(x.id);
    const chosen = before ? choose(before, x) : x;
    isAll &&= chosen === old[at];
    return chosen;
  });
  return isAll ? old : list;
}

function isSameNode(a: FlowNode, b: FlowNode): boolean {
  const [p, q] = [a.data, b.data];
  return (
    a.position.x === b.position.x && a.position.y === b.position.y && a.selected === b.selected && p.node === q.node && p.step === q.step &&
    p.isTarget === q.isTarget && p.isInConflict === q.isInConflict && p.renames === q.renames &&
    p.room.value === q.room.value && p.room.corner[0] === q.room.corner[0] && p.room.corner[1] === q.room.corner[1]
  );
}

function isSameEdge(a: FlowEdge, b: FlowEdge): boolean {
  if (a.type !== b.type || a.source !== b.source || a.target !== b.target || a.selected !== b.selected || a.ariaLabel !== b.ariaLabel) return false;
  const [p, q] = [a.data, b.data];
  if (!p || !q) return p === q;
  if ("signal" in p || "signal" in q) return "signal" in p && "signal" in q && p.signal.label === q.signal.label;
  return (
    p.bond === q.bond && p.aside === q.aside && p.step === q.step && p.isOnPath === q.isOnPath && p.isConflictPath === q.isConflictPath && isSamePower(p.power, q.power)
  );
}

type Power = NonNullable<FlowBond["data"]>["power"];

function isSamePower(a: Power, b: Power): boolean {
  return a === b || (a !== null && b !== null && a.part === b.part && a.text === b.text && a.forward === b.forward && a.level === b.level);
}
