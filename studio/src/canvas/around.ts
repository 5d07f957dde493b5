// On which side of a node there is room for its small text.

import type { Places } from "../store/places";
import type { View } from "../wire/protocol";

export type Side = "below" | "right" | "above";

export interface Room {
  /** Where the value of an element stands. */
  value: Side;
  /** The quadrant for the name of a junction: 1 or −1 for each axis. */
  corner: [number, number];
}

/** Below elements on a horizontal bond, right of those on a vertical one; junction names where no bond is. */
export function roomsOf(view: View, places: Places): Map<string, Room> {
  const directions = new Map<string, [number, number][]>(view.nodes.map((n) => [n.id, []]));
  const lines = [...view.bonds.map((b) => [b.tail, b.head]), ...view.signals.map((s) => [s.from, s.to])];
  for (const [a, b] of lines as [string, string][]) {
    const [p, q] = [places.get(a), places.get(b)];
    if (!p || !q) continue;
    const length = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1;
    const d: [number, number] = [(q[0] - p[0]) / length, (q[1] - p[1]) / length];
    directions.get(a)?.push(d);
    directions.get(b)?.push([-d[0], -d[1]]);
  }
  const rooms = new Map<string, Room>();
  for (const [id, around] of directions) rooms.set(id, { value: valueSide(around), corner: freeCorner(around) });
  return rooms;
}

function valueSide(around: [number, number][]): Side {
  const isVertical = around.length === 1 && Math.abs(around[0]?.[1] ?? 0) > Math.abs(around[0]?.[0] ?? 0);
  if (isVertical) return "right";
  const isBelowTaken = around.some(([x, y]) => y > 0.7 && Math.abs(x) < 0.7);
  const isAboveTaken = around.some(([x, y]) => y < -0.7 && Math.abs(x) < 0.7);
  if (isBelowTaken && isAboveTaken) return "right";
  return isBelowTaken ? "above" : "below";
}

const CORNERS: [number, number][] = [[1, -1], [1, 1], [-1, -1], [-1, 1]];

function freeCorner(around: [number, number][]): [number, number] {
  const nearness = (c: [number, number]): number =>
    around.reduce((worst, d) => Math.max(worst, (c[0] * d[0] + c[1] * d[1]) / Math.SQRT2), -1);
  let best = CORNERS[0] as [number, number];
  for (const corner of CORNERS) if (nearness(corner) < nearness(best) - 0.05) best = corner;
  return best;
}
