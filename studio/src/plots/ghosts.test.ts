import { expect, test, vi } from "vitest";

vi.mock("uplot", () => ({ default: { rangeNum: (low: number, high: number) => [low, high] } }));
const { drawGhosts, extent, rangeWith } = await import("./ghosts");
import type { Ghost } from "./data";

const ghost = (y: number[], isHeld = false): Ghost => ({ curve: { x: Float64Array.from(y.keys()), y: Float64Array.from(y) }, isHeld });

test("the range holds the ghosts in sight, and no others", () => {
  expect(extent([ghost([0, 5, NaN, -9])], 0, 2)).toEqual([0, 5]);
  const range = rangeWith(() => [ghost([-2, 1, 30])]) as unknown as (u: object, low: number | null, high: number | null) => [number, number];
  expect(range({ scales: { x: { min: 0, max: 1 } } }, 0, 3)).toEqual([-2, 3]);
  expect(range({ scales: { x: { min: 0, max: 1 } } }, null, null)).toEqual([null, null]);
});

test("a held ghost is drawn in steps, and a value that is no number breaks the line", () => {
  vi.stubGlobal("window", { devicePixelRatio: 1 });
  vi.stubGlobal("document", { documentElement: {} });
  vi.stubGlobal("getComputedStyle", () => ({ getPropertyValue: () => "grey" }));
  const drawn: string[] = [];
  const note = (name: string) => (...at: number[]) => void drawn.push(`${name} ${at.join(" ")}`);
  const quiet = (): void => undefined;
  const ctx = { save: quiet, restore: quiet, beginPath: quiet, rect: quiet, clip: quiet, stroke: quiet, moveTo: note("to"), lineTo: note("line") };
  const u = { ctx, bbox: { left: 0, top: 0, width: 100, height: 10 }, scales: { x: { min: 0, max: 10 }, y: { min: 0, max: 10 } } };
  drawGhosts(u as never, [ghost([0, 5, NaN, 1], true)]);
  expect(drawn).toEqual(["to 0 10", "line 10 10", "line 10 5", "to 30 9"]);
  vi.unstubAllGlobals();
});
