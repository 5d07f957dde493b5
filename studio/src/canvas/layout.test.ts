import { expect, test } from "vitest";
import { layOut, type LayoutEdge, type LayoutNode } from "./layout";

const node = (id: string, wish: LayoutNode["wish"] = "none", fixed: [number, number] | null = null): LayoutNode => ({ id, wish, fixed, width: 40 });
const bond = (tail: string, head: string): LayoutEdge => ({ tail, head, weight: 1 });

const circuit = {
  nodes: [node("supply", "left"), node("mesh"), node("node"), node("branch"), node("r1", "up"), node("c1", "down"), node("r2", "up"), node("l1", "down")],
  bonds: [bond("supply", "mesh"), bond("mesh", "node"), bond("node", "branch"), bond("mesh", "r1"), bond("node", "c1"), bond("branch", "r2"), bond("branch", "l1")],
};

test("a ladder stands on one row, with losses above and storages below", () => {
  const at = layOut(circuit.nodes, circuit.bonds);
  const [supply, mesh, junction, branch] = ["supply", "mesh", "node", "branch"].map((id) => at.get(id) as [number, number]);
  expect(new Set([supply, mesh, junction, branch].map((p) => p?.[1])).size).toBe(1);
  expect([supply, mesh, junction, branch].map((p) => p?.[0])).toEqual([supply, mesh, junction, branch].map((p) => p?.[0]).sort((a, b) => (a ?? 0) - (b ?? 0)));
  expect(at.get("r1")?.[1]).toBeLessThan(mesh?.[1] ?? 0);
  expect(at.get("c1")?.[1]).toBeGreaterThan(junction?.[1] ?? 0);
});

test("no two nodes stand at one place, and equal graphs are placed equally", () => {
  const at = layOut(circuit.nodes, circuit.bonds);
  expect(new Set([...at.values()].map(String)).size).toBe(circuit.nodes.length);
  expect(layOut(circuit.nodes, circuit.bonds)).toEqual(at);
});

test("a node with a place keeps it", () => {
  const nodes = circuit.nodes.map((n) => (n.id === "node" ? node("node", "none", [333, -77]) : n));
  expect(layOut(nodes, circuit.bonds).get("node")).toEqual([333, -77]);
});

test("parts that nothing joins are placed as well", () => {
  const at = layOut([node("a"), node("b"), node("c")], [bond("a", "b")]);
  expect(new Set([...at.values()].map(String)).size).toBe(3);
});

test("a large level is placed in a moment", () => {
  const nodes = Array.from({ length: 2000 }, (_, i) => node(`n${i}`));
  const bonds = nodes.slice(1).map((n, i) => bond(`n${Math.floor(i / 3)}`, n.id));
  // Time of the processor: other programs do not lengthen it.
  const begin = process.cpuUsage();
  expect(layOut(nodes, bonds).size).toBe(2000);
  expect(process.cpuUsage(begin).user).toBeLessThan(2_000_000);
});
