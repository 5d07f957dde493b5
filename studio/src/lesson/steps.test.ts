import { expect, test } from "vitest";
import { bondsSet, numbered } from "./steps";

const steps = [
  { decision: { text: "s sets", nodes: ["s"], bonds: ["a"] }, follows: [] },
  { decision: { text: "i integrates", nodes: ["i"], bonds: ["b"] }, follows: [{ text: "so r", nodes: ["r"], bonds: ["a", "c"] }] },
  { decision: { text: "c integrates", nodes: ["c"], bonds: ["d"] }, follows: [] },
];

test("strokes are shown as far as the lesson has come", () => {
  const all = ["a", "b", "c", "d", "e"];
  expect([...bondsSet(steps, 0, all).set]).toEqual(["a"]);
  expect([...bondsSet(steps, 1, all).set]).toEqual(["a", "b", "c"]);
  expect([...bondsSet(steps, 1, all).now]).toEqual(["b", "c"]);
  expect([...bondsSet(steps, 2, all).set]).toEqual(all);
  expect(numbered(steps).map((l) => l.step)).toEqual([0, 1, 1, 2]);
});
