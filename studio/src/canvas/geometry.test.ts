import { expect, test } from "vitest";
import { barb, bondLine, clip, strokeAt } from "./geometry";

const box = (x: number, y: number) => ({ x, y, width: 20, height: 10 });

test("a bond is clipped to the boxes and their gap", () => {
  const [a, b] = bondLine(box(0, 0), box(100, 0));
  expect([a, b]).toEqual([{ x: 16, y: 0 }, { x: 84, y: 0 }]);
});

test("nodes upon each other give a line without length, not a wild one", () => {
  const [a, b] = bondLine(box(0, 0), box(4, 0));
  expect(a.x).toBeLessThanOrEqual(b.x);
  expect(clip(box(1, 1), { x: 1, y: 1 })).toEqual({ x: 1, y: 1 });
});

test("the barb is below a horizontal bond, whichever way it points", () => {
  expect(barb({ x: 0, y: 0 }, { x: 50, y: 0 }).y).toBeGreaterThan(0);
  expect(barb({ x: 50, y: 0 }, { x: 0, y: 0 }).y).toBeGreaterThan(0);
});

test("the barb is right of a vertical bond, whichever way it points", () => {
  expect(barb({ x: 0, y: 0 }, { x: 0, y: 50 }).x).toBeGreaterThan(0);
  expect(barb({ x: 0, y: 50 }, { x: 0, y: 0 }).x).toBeGreaterThan(0);
});

test("a stroke is square to its bond and 16 long", () => {
  const [a, b] = strokeAt({ x: 30, y: 40 }, { x: 0, y: 0 });
  expect((b.x - a.x) * 30 + (b.y - a.y) * 40).toBeCloseTo(0, 12);
  expect(Math.hypot(b.x - a.x, b.y - a.y)).toBeCloseTo(16, 12);
});
