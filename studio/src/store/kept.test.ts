import { expect, test } from "vitest";
import type { Analysis } from "../wire/protocol";
import { keptAnalysis, says } from "./kept";

const analysis = (change: Partial<Analysis>): Analysis => ({
  event: "analysis", path: "a.bond", top: "M", version: 1, messages: [], view: null, change: null, spans: { nodes: [], bonds: [] }, ms: 1,
  models: [{ name: "M", span: { from: 0, to: 9 }, doc: "", isPart: false }],
  experiments: [], parameters: [{ name: "R1", text: "1", value: 1, unit: "", doc: "", span: { from: 3, to: 5 } }],
  facts: { order: 1, states: ["c.q"], dependent: [], nLoops: 0, loops: [], strict: false },
  ...change,
});

test("what says the same is the same object, though it stands elsewhere in the text", () => {
  const first = keptAnalysis(null, analysis({}));
  const moved = analysis({ version: 2, models: [{ name: "M", span: { from: 1, to: 10 }, doc: "", isPart: false }] });
  const next = keptAnalysis(first, moved);
  expect(next.models).toBe(first.models);
  expect(next.facts).toBe(first.facts);
  expect(next.parameters).toBe(first.parameters);
  expect(next.itemSpans.models).toEqual([{ from: 1, to: 10 }]);
  expect(next.version).toBe(2);
});

test("what says something else is news", () => {
  const first = keptAnalysis(null, analysis({}));
  const next = keptAnalysis(first, analysis({ facts: { order: 2, states: ["c.q", "l.p"], dependent: [], nLoops: 0, loops: [], strict: false } }));
  expect(next.facts.states).toEqual(["c.q", "l.p"]);
  expect(says([1], [1, 2])).toBe(false);
  expect(says({ a: null }, { a: 0 })).toBe(false);
  expect(says({ a: undefined }, { b: undefined })).toBe(false);
});
