import { expect, test } from "vitest";
import { Picture, patched } from "./picture";
import type { BondView, NodeView, View } from "./protocol";

const node = (id: string, value: string): NodeView => ({ id, kind: "element", letters: "R", name: id, value, written: value, at: [1, 2], model: "", trouble: "", doc: "" });
const bond = (id: string, stroke: BondView["stroke"]): BondView => ({ id, tail: "a", head: "b", tailPort: "", headPort: "", dimension: 1, isMulti: false, stroke, class: "plain", forced: false, label: "", trouble: "" });
const view = (): View => ({ model: "M", isForeign: false, level: [], nodes: [node("a", "1"), node("b", "2")], bonds: [bond("a->b", "head")], signals: [], conflict: [] });
const NOTHING = { nodes: [], bonds: [], signals: null, conflict: null };

test("nothing new is the same picture", () => {
  const old = view();
  expect(patched(old, NOTHING)).toBe(old);
});

test("only what is new is another object", () => {
  const old = view();
  const next = patched(old, { ...NOTHING, nodes: [[1, node("b", "25")]] });
  expect(next.nodes[0]).toBe(old.nodes[0]);
  expect(next.nodes[1]?.value).toBe("25");
  expect(next.bonds).toBe(old.bonds);
});

test("a whole view keeps what says the same, places too", () => {
  const picture = new Picture();
  const first = picture.take({ view: view(), change: null }) as View;
  const fresh = view();
  fresh.nodes.push(node("c", "3"));
  (fresh.nodes[1] as NodeView).at = [1, 3];
  const second = picture.take({ view: fresh, change: null }) as View;
  expect(second.nodes[0]).toBe(first.nodes[0]);
  expect(second.nodes[1]?.at).toEqual([1, 3]);
  expect(second.nodes).toHaveLength(3);
  expect(second.bonds[0]).toBe(first.bonds[0]);
});

test("a text without a picture has none, and changes go on from the last", () => {
  const picture = new Picture();
  picture.take({ view: view(), change: null });
  expect(picture.take({ view: null, change: null })).toBeNull();
  expect(picture.take({ view: null, change: { ...NOTHING, bonds: [[0, bond("a->b", "tail")]] } })?.bonds[0]?.stroke).toBe("tail");
});
