import { expect, test } from "vitest";
import { boundsOf, lieOf } from "./brush";

test("a level lies in the middle of the paper and fits", () => {
  const box = boundsOf(new Map([["a", [0, 0]], ["b", [920, 120]]]));
  expect(box).toEqual({ x: -40, y: -40, width: 1000, height: 200 });
  const lie = lieOf(box, 200, 100);
  expect(lie.zoom).toBeCloseTo(0.2);
  expect(box.x * lie.zoom + lie.left).toBeCloseTo(0);
  expect((box.y + box.height / 2) * lie.zoom + lie.top).toBeCloseTo(50);
});

test("nothing has bounds all the same", () => {
  expect(boundsOf(new Map()).width).toBe(1);
});
