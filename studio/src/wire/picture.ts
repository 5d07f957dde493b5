// The picture that the server knows this page to have: views come whole or as what is new of the last one.
//
// **Invariant:** what looks as before is the same object as before, so that nothing of it is drawn again.

import type { View, ViewChange } from "./protocol";

/** Puts what is new into a view. */
export function patched(view: View, change: ViewChange): View {
  const { nodes, bonds, signals, conflict } = change;
  if (nodes.length === 0 && bonds.length === 0 && !signals && !conflict) return view;
  return { ...view, nodes: replaced(view.nodes, nodes), bonds: replaced(view.bonds, bonds), signals: signals ?? view.signals, conflict: conflict ?? view.conflict };
}

function replaced<T>(list: T[], changes: [number, T][]): T[] {
  if (changes.length === 0) return list;
  const next = [...list];
  for (const [at, item] of changes) next[at] = item;
  return next;
}

/** A whole view, with the objects of the last one where they say the same. */
export function kept(last: View | null, view: View): View {
  if (!last || last.model !== view.model) return view;
  return { ...view, nodes: keptIn(last.nodes, view.nodes), bonds: keptIn(last.bonds, view.bonds) };
}

function keptIn<T extends { id: string }>(last: T[], list: T[]): T[] {
  const known = new Map(last.map((x) => [x.id, x]));
  return list.map((x) => {
    const before = known.get(x.id);
    return before && isSame(before, x) ? before : x;
  });
}

/** Fields are words, numbers, or places. */
function isSame<T extends object>(a: T, b: T): boolean {
  for (const key of Object.keys(b) as (keyof T)[]) if (a[key] !== b[key] && String(a[key]) !== String(b[key])) return false;
  return true;
}

/** Follows the pictures of one connection. */
export class Picture {
  private last: View | null = null;

  take(news: { view: View | null; change: ViewChange | null }): View | null {
    if (news.view) this.last = kept(this.last, news.view);
    else if (news.change && this.last) this.last = patched(this.last, news.change);
    else return null;
    return this.last;
  }
}
