// Keeps the text of the page and the text of the server equal, while both may change.
//
// In:  local steps of the editor, and steps of other windows from the server.
// Out: both in one order: the server's. A step that came second is moved over the first.
//
// **Invariant:** one push is under way at a time; what was typed while the connection was lost is
// pushed when it is back.

import { collab, getClientID, getSyncedVersion, receiveUpdates, sendableUpdates } from "@codemirror/collab";
import { ChangeSet, type EditorState, type Extension, type Transaction } from "@codemirror/state";
import { EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import type { Update } from "../wire/protocol";

export interface Wire {
  push(version: number, updates: Update[]): Promise<boolean>;
}

export function syncing(version: number, wire: Wire): Extension {
  const plugin = ViewPlugin.define((view) => {
    let busy = false;
    const push = async (): Promise<void> => {
      const updates = sendableUpdates(view.state);
      if (busy || updates.length === 0) return;
      busy = true;
      try {
        const own = updates.map((u): Update => ({ client: u.clientID, changes: u.changes.toJSON() as unknown }));
        await wire.push(getSyncedVersion(view.state), own);
      } catch {
        // The connection is lost: `resume` pushes again.
      }
      busy = false;
      const left = sendableUpdates(view.state);
      if (left.length === 0) return;
      // What was typed meanwhile goes at once. A step that was refused because another window was first waits for its steps.
      const isRefused = left[0] === updates[0];
      setTimeout(() => void push(), isRefused ? 30 : 0);
    };
    pushers.set(view, () => void push());
    return {
      update(update: ViewUpdate) {
        if (update.docChanged) void push();
      },
      destroy: () => pushers.delete(view),
    };
  });
  return [collab({ startVersion: version }), plugin];
}

const pushers = new Map<EditorView, () => void>();

/** Pushes what is left over after the connection came back. */
export function resume(view: EditorView): void {
  pushers.get(view)?.();
}

/** Takes in steps that the server has put in order; those known already are left out. */
export function receive(state: EditorState, version: number, updates: Update[]): Transaction | null {
  const known = getSyncedVersion(state);
  const first = version - updates.length;
  const fresh = updates.slice(Math.max(0, known - first));
  if (fresh.length === 0) return null;
  const steps = fresh.map((u) => ({ clientID: u.client, changes: ChangeSet.fromJSON(u.changes) }));
  return receiveUpdates(state, steps);
}

export function syncedVersion(state: EditorState): number {
  return getSyncedVersion(state);
}

export function isSynced(state: EditorState): boolean {
  return sendableUpdates(state).length === 0;
}

export function clientOf(state: EditorState): string {
  return getClientID(state);
}
