import { expect, test } from "vitest";
import type { NodeView } from "../wire/protocol";
import type { FlowBond } from "./BondEdge";
import type { FlowNode } from "./GraphNode";
import { reuseEdges, reuseNodes } from "./reuse";

const seen = (value: string): NodeView => ({ id: "r", kind: "element", letters: "R", name: "r", value, written: value, at: null, model: "", trouble: "", doc: "" });
const ONE = seen("1");

const node = (x: number, view = ONE): FlowNode => ({
  id: "r", type: "graph", position: { x, y: 0 }, selected: false, ariaLabel: "r",
  data: { node: view, room: { value: "below", corner: [1, -1] }, isTarget: false, step: 0, isInConflict: false, renames: false, done: () => undefined },
});

test("a node that shows the same is the same one, any other is new and keeps its size", () => {
  const old = { ...node(0), measured: { width: 40, height: 20 } };
  const list = [old];
  expect(reuseNodes(list, [node(0)])).toBe(list);
  const other = reuseNodes(list, [node(0, seen("2"))])[0];
  expect(other).not.toBe(old);
  expect(other?.measured).toEqual({ width: 40, height: 20 });
  expect(reuseNodes(list, [node(7)])[0]).not.toBe(old);
  expect(reuseNodes(list, [node(0), { ...node(1), id: "s" }])[0]).toBe(old);
});

test("a bond with another stroke is new", () => {
  const [head, tail] = [{ id: "b", stroke: "head" }, { id: "b", stroke: "tail" }];
  const bond = (view: object): FlowBond => ({ id: "b", type: "bond", source: "a", target: "c", data: { bond: view, power: null } }) as unknown as FlowBond;
  const old = bond(head);
  expect(reuseEdges([old], [bond(head)])[0]).toBe(old);
  expect(reuseEdges([old], [bond(tail)])[0]).not.toBe(old);
});
