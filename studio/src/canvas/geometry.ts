// Lines of the drawing: where a bond begins and ends, its half arrow and its stroke.
//
// Units are CSS pixels at 100 % zoom; y points down. Numbers from the drawing metrics of the design.

export type Point = { x: number; y: number };

export interface Box {
  /** Centre. */
  x: number;
  y: number;
  width: number;
  height: number;
}

export const GAP = 6;
const BARB_BACK = 11;
const BARB_ASIDE = 6.3;
export const STROKE_LENGTH = 16;

/** Where the line from the centre of a box to a point leaves the box and its gap. */
export function clip(box: Box, towards: Point, gap = GAP): Point {
  const dx = towards.x - box.x;
  const dy = towards.y - box.y;
  if (dx === 0 && dy === 0) return { x: box.x, y: box.y };
  const scale = Math.min(
    dx === 0 ? Infinity : (box.width / 2 + gap) / Math.abs(dx),
    dy === 0 ? Infinity : (box.height / 2 + gap) / Math.abs(dy),
  );
  const part = Math.min(scale, 0.5);
  return { x: box.x + part * dx, y: box.y + part * dy };
}

/** The clipped line between two boxes, moved aside for a second bond between the same nodes. */
export function bondLine(tail: Box, head: Box, aside = 0): [Point, Point] {
  const a = clip(tail, head);
  const b = clip(head, tail);
  if (aside === 0) return [a, b];
  const n = aside_of(direction(a, b));
  return [
    { x: a.x + aside * n.x, y: a.y + aside * n.y },
    { x: b.x + aside * n.x, y: b.y + aside * n.y },
  ];
}

export function direction(a: Point, b: Point): Point {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  return { x: (b.x - a.x) / length, y: (b.y - a.y) / length };
}

/** The side of the barb: below horizontal bonds, right of vertical ones. */
function aside_of(d: Point): Point {
  const right = { x: -d.y, y: d.x };
  const isHorizontal = Math.abs(d.x) >= Math.abs(d.y);
  const isGood = isHorizontal ? right.y > 0 : right.x > 0;
  return isGood ? right : { x: -right.x, y: -right.y };
}

export function barb(a: Point, b: Point): Point {
  const d = direction(a, b);
  const n = aside_of(d);
  return { x: b.x - BARB_BACK * d.x + BARB_ASIDE * n.x, y: b.y - BARB_BACK * d.y + BARB_ASIDE * n.y };
}

/** The stroke at the end `at` of a line that comes from `from`: two ends, square to the line. */
export function strokeAt(at: Point, from: Point, length = STROKE_LENGTH): [Point, Point] {
  const d = direction(from, at);
  const half = length / 2;
  return [
    { x: at.x - half * d.y, y: at.y + half * d.x },
    { x: at.x + half * d.y, y: at.y - half * d.x },
  ];
}

/** Where a label of a bond stands: 12 off its middle, on the side without barb. */
export function labelPlace(a: Point, b: Point, off = 12): Point {
  const n = aside_of(direction(a, b));
  return { x: (a.x + b.x) / 2 - off * n.x, y: (a.y + b.y) / 2 - off * n.y };
}

/** A signal between two boxes: its bent line, its tip, and where its name stands. */
export function signalCurve(from: Box, to: Box): { line: string; tip: string; label: Point } {
  const [a, b] = bondLine(from, to);
  const d = direction(a, b);
  const bend = Math.min(40, 0.18 * Math.hypot(b.x - a.x, b.y - a.y));
  const middle = { x: (a.x + b.x) / 2 + bend * d.y, y: (a.y + b.y) / 2 - bend * d.x };
  const e = direction(middle, b);
  const side = (sign: number): Point => ({ x: b.x - 9 * e.x + sign * 3.6 * e.y, y: b.y - 9 * e.y - sign * 3.6 * e.x });
  const line = `M${round(a.x)} ${round(a.y)}Q${round(middle.x)} ${round(middle.y)} ${round(b.x - 6 * e.x)} ${round(b.y - 6 * e.y)}`;
  return { line, tip: `${path(b, side(1), side(-1))}Z`, label: { x: middle.x, y: middle.y - 4 } };
}

export function path(...points: Point[]): string {
  return points.map((p, i) => `${i === 0 ? "M" : "L"}${round(p.x)} ${round(p.y)}`).join("");
}

function round(x: number): number {
  return Math.round(100 * x) / 100;
}
