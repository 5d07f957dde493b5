import { expect, test } from "vitest";
import type { BondView, NodeView, View } from "../wire/protocol";
import { drawing } from "./drawing";

const node = (id: string, letters: string, more: Partial<NodeView> = {}): NodeView => ({ id, kind: "element", letters, name: id, written: "", value: "", at: null, model: "", trouble: "", doc: "", ...more });
const bond = (tail: string, head: string, more: Partial<BondView> = {}): BondView => ({ id: `${tail}-${head}`, tail, head, tailPort: "", headPort: "", dimension: 1, isMulti: false, stroke: "head", class: "plain", forced: false, label: "", trouble: "", ...more });
const view = (nodes: NodeView[], bonds: BondView[]): View => ({ model: "A<B", level: [], isForeign: false, nodes, bonds, signals: [], conflict: [] });
const places = new Map<string, [number, number]>([["u", [0, 0]], ["j", [100, 0]], ["c", [100, 100]]]);

test("every bond has its line, half arrow and stroke in the colour of its causality", () => {
  const svg = drawing(view([node("u", "Se", { value: "5 [V]" }), node("j", "1", { kind: "junction" }), node("c", "C")], [bond("u", "j"), bond("j", "c", { class: "derivative" })]), places, new Map(), (name) => `#${name}`);
  expect(svg.match(/stroke="#ink" /g)?.length).toBe(3);
  expect(svg.match(/stroke="#derivative"/g)?.length).toBe(3);
  expect(svg).toContain('stroke-width="4"');
  expect(svg).toContain('stroke-dasharray="7 3.5"');
  expect(svg).toContain(">Se:<tspan font-style=\"italic\">u</tspan>");
  expect(svg).toContain(">5 V<");
});

test("a name is text, never markup, and the sheet holds all nodes", () => {
  const svg = drawing(view([node("u", "R", { name: "<script>&" })], []), places, new Map([["u", { width: 40, height: 20 }]]), () => "black");
  expect(svg).toContain("&lt;script&gt;&amp;");
  expect(svg).not.toContain("<script");
  expect(svg).toContain("<title>Bond graph of A&lt;B</title>");
  expect(svg).toContain('viewBox="-80 -40 160 80"');
});

test("a multibond has two lines and its dimension", () => {
  const svg = drawing(view([node("u", "Se"), node("j", "1", { kind: "junction" })], [bond("u", "j", { dimension: 3, isMulti: true, stroke: "none" })]), places, new Map(), () => "black");
  expect(svg.match(/<path/g)?.length).toBe(3);
  expect(svg).toContain(">3</text>");
});
