// The film of a run: columns of numbers, and where to read in them.
//
// In:  the frame of the server: what there is, and columns over even times.
// Out: numbers at any time, on the straight line between two pictures.

import type { Film, SceneJoint } from "../wire/protocol";

/** The picture at or before a time, and how far the time lies towards the next one. */
export function pictureAt(time: Float64Array, t: number): [number, number] {
  const last = time.length - 1;
  if (last < 1 || t <= (time[0] as number)) return [0, 0];
  if (t >= (time[last] as number)) return [last - 1, 1];
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((time[middle] as number) <= t) low = middle;
    else high = middle;
  }
  const [a, b] = [time[low] as number, time[high] as number];
  return [low, b > a ? (t - a) / (b - a) : 0];
}

export function numberAt(film: Film, column: number, [i, part]: [number, number]): number {
  const values = film.columns[column];
  const a = values?.[i] ?? 0;
  const b = values?.[Math.min(i + 1, (values?.length ?? 1) - 1)] ?? a;
  return a + part * (b - a);
}

export type Vec = [number, number, number];

/** A place or force: two or three columns; what lies in a plane has no third. */
export function vectorAt(film: Film, first: number, isPlanar: boolean, at: [number, number]): Vec {
  return [numberAt(film, first, at), numberAt(film, first + 1, at), isPlanar ? 0 : numberAt(film, first + 2, at)];
}

/** Size of a joint's force; none if it tells none. */
export function forceAt(film: Film, joint: SceneJoint, at: [number, number]): number | null {
  if (joint.force === null) return null;
  if (!joint.isVector) return Math.abs(numberAt(film, joint.force, at));
  return Math.hypot(...vectorAt(film, joint.force, joint.planar, at));
}

/** The largest force of all joints and pushes over the whole run: the longest arrow. */
export function largestForce(film: Film): number {
  const { joints, pushes } = film.head;
  let most = 0;
  const n = film.time.length;
  for (const j of [...joints.filter((x) => x.isVector), ...pushes]) {
    if (j.force === null) continue;
    for (let i = 0; i < n; i++) most = Math.max(most, Math.hypot(...vectorAt(film, j.force, j.planar, [i, 0])));
  }
  return most;
}

/** Corners of the room that all bodies and joints keep to. */
export function roomOf(film: Film): { low: Vec; high: Vec } {
  const low: Vec = [Infinity, Infinity, Infinity];
  const high: Vec = [-Infinity, -Infinity, -Infinity];
  const take = (first: number, isPlanar: boolean, reach: number): void => {
    for (let i = 0; i < film.time.length; i++) {
      vectorAt(film, first, isPlanar, [i, 0]).forEach((x, k) => {
        low[k] = Math.min(low[k] as number, x - reach);
        high[k] = Math.max(high[k] as number, x + reach);
      });
    }
  };
  for (const b of film.head.bodies) take(b.r, b.planar, reachOf(b.shape));
  for (const j of film.head.joints) {
    take(j.a, j.planar, 0);
    take(j.b, j.planar, 0);
  }
  return { low, high };
}

type Shape = Film["head"]["bodies"][number]["shape"];

/** How far a shape reaches from its centre. */
export function reachOf(shape: Shape): number {
  if (!shape) return 0;
  switch (shape.kind) {
    case "rod": return Math.max(shape.length / 2, shape.radius);
    case "ball": return shape.radius;
    case "cylinder": return Math.hypot(shape.length / 2, shape.radius);
    case "box": return Math.hypot(...shape.edges) / 2;
  }
}

/** Speeds to choose from; 1 is that of the clock. */
export const SPEEDS = [0.01, 0.1, 0.25, 0.5, 1, 2, 10, 100];

/** The speed at which a run of so many seconds is well seen. */
export function goodSpeed(seconds: number): number {
  const fits = SPEEDS.filter((s) => seconds / s >= 3);
  return fits.length > 0 ? (seconds / 1 >= 3 && seconds <= 40 ? 1 : (fits.at(-1) as number)) : (SPEEDS[0] as number);
}

/** Even times for the pictures of a strip. */
export function stripTimes(from: number, to: number, n: number): number[] {
  return Array.from({ length: n }, (_, i) => from + (i / Math.max(n - 1, 1)) * (to - from));
}
