import { expect, test } from "vitest";
import type { FlowBond } from "./BondEdge";
import type { FlowNode } from "./GraphNode";
import { reuseEdges, reuseNodes } from "./reuse";

const node = (x: number, from: number, value = "1"): FlowNode => ({
  id: "r", type: "graph", position: { x, y: 0 }, selected: false, ariaLabel: "r",
  data: { node: { id: "r", letters: "R", name: "r", value, span: { from, to: from + 1 } }, room: { value: "below", corner: [1, -1] }, isTarget: false, step: 0, isInConflict: false, renames: false, done: () => undefined },
}) as unknown as FlowNode;

test("a node that only moved in the text is the same one, any other is new and keeps its size", () => {
  const old = { ...node(0, 5), measured: { width: 40, height: 20 } };
  expect(reuseNodes([old], [node(0, 9)])[0]).toBe(old);
  const other = reuseNodes([old], [node(0, 9, "2")])[0];
  expect(other).not.toBe(old);
  expect(other?.measured).toEqual({ width: 40, height: 20 });
  expect(reuseNodes([old], [node(7, 5)])[0]).not.toBe(old);
});

test("a bond with another stroke is new", () => {
  const bond = (stroke: string, from: number): FlowBond => ({ id: "b", type: "bond", source: "a", target: "c", data: { bond: { id: "b", stroke, span: { from, to: from } } } }) as unknown as FlowBond;
  const old = bond("head", 3);
  expect(reuseEdges([old], [bond("head", 8)])[0]).toBe(old);
  expect(reuseEdges([old], [bond("tail", 3)])[0]).not.toBe(old);
});
