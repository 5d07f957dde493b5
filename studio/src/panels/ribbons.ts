// Where the energy of a run went, as ribbons: what gave energy on the left, what took it on the right.
//
// In:  the audit of a run.
// Out: ribbons with places in a picture of given size; both sides are as high as the energy that moved.

import type { AuditHead } from "../wire/protocol";

export interface Ribbon {
  name: string;
  role: AuditHead["elements"][number]["role"] | "rest" | "missing";
  energy: number;
  /** Part of all that moved. */
  part: number;
  isGiver: boolean;
  /** Where it leaves the bar in the middle, and where it ends, from the top. */
  inner: number;
  outer: number;
  height: number;
}

/** Ribbons thinner than this part of the whole are gathered. */
const THINNEST = 0.004;
/** Room between two ribbons at their ends, for their words. */
const GAP = 30;

type Share = Pick<Ribbon, "name" | "role" | "energy">;

export function ribbons(audit: AuditHead, height: number): Ribbon[] {
  const shares: Share[] = audit.elements.filter((e) => e.energy !== 0).map((e) => ({ name: e.name, role: e.role, energy: e.role === "source" ? e.energy : -e.energy }));
  // Positive gives, negative takes; what is left over is shown, not hidden.
  const sum = shares.reduce((s, x) => s + x.energy, 0);
  const moved = Math.max(shares.reduce((s, x) => s + Math.max(x.energy, 0), 0), shares.reduce((s, x) => s + Math.max(-x.energy, 0), 0));
  if (!(moved > 0)) return [];
  if (Math.abs(sum) > THINNEST * moved) shares.push({ name: sum > 0 ? "not accounted for" : "from nowhere", role: "missing", energy: -sum });
  return [true, false].flatMap((isGiver) => side(shares.filter((s) => s.energy > 0 === isGiver), moved, isGiver, height));
}

function side(shares: Share[], moved: number, isGiver: boolean, height: number): Ribbon[] {
  const size = (s: Share): number => Math.abs(s.energy) / moved;
  const large = shares.filter((s) => size(s) >= THINNEST).sort((a, b) => size(b) - size(a));
  const small = shares.filter((s) => size(s) < THINNEST);
  if (small.length === 1) large.push(small[0] as Share);
  else if (small.length > 1) large.push({ name: `${small.length} others`, role: "rest", energy: small.reduce((sum, s) => sum + s.energy, 0) });
  const inside = height - GAP * Math.max(large.length - 1, 0);
  const scale = Math.max(inside, 0.3 * height);
  const bar = (height - scale) / 2;
  let [inner, outer] = [bar, 0];
  return large.map((s) => {
    const h = Math.max(size(s) * scale, 1);
    const ribbon: Ribbon = { name: s.name, role: s.role, energy: Math.abs(s.energy), part: size(s), isGiver, inner, outer, height: h };
    inner += h;
    outer += h + GAP;
    return ribbon;
  });
}

/** The outline of a ribbon between two places, as a path. */
export function outline(x0: number, y0: number, x1: number, y1: number, height: number): string {
  const middle = (x0 + x1) / 2;
  return `M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}V${y1 + height}C${middle} ${y1 + height} ${middle} ${y0 + height} ${x0} ${y0 + height}Z`;
}
