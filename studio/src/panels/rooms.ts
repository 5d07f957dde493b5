// Which rooms are seen. A wide window has all of them, unless one is folded; in a narrow one some lie over the others.
//
// **Invariant:** whatever the width, every room can be reached by a button and by a command.

import { get, set, type Room } from "../store/store";

/** Narrower than this a room has no place of its own, px. */
export const NEEDS: Record<Room, number> = { explorer: 1000, text: 1000, inspector: 1280 };

/** Tells whether a room is seen in a window of this width. */
export function isSeen(room: Room, width: number, folded: Record<Room, boolean>, over: Room | null): boolean {
  return width < NEEDS[room] ? over === room : !folded[room];
}

/** Shows a room that is not seen, and puts away one that is. */
export function toggleRoom(room: Room): void {
  const { folded, over } = get();
  if (window.innerWidth < NEEDS[room]) set({ over: over === room ? null : room });
  else set({ folded: { ...folded, [room]: !folded[room] } });
}

/** A room that somebody asked for is seen. */
export function showRoom(room: Room): void {
  const { folded, over } = get();
  if (!isSeen(room, window.innerWidth, folded, over)) toggleRoom(room);
}
