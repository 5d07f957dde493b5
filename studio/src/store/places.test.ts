import { expect, test } from "vitest";
import type { BondView, KindCard, NodeView, View } from "../wire/protocol";
import { placesOf } from "./places";

const node = (id: string, letters: string): NodeView => ({ id, kind: letters === "1" ? "junction" : "element", letters, name: id, written: "", value: "", at: null, model: "", trouble: "", doc: "" });
const bond = (tail: string, head: string): BondView => ({ id: `${tail}-${head}`, tail, head, tailPort: "", headPort: "", dimension: 1, isMulti: false, stroke: "none", class: "plain", forced: false, label: "", trouble: "" });
const view = (nodes: NodeView[], bonds: BondView[]): View => ({ model: "M", level: [], isForeign: false, nodes, bonds, signals: [], conflict: [] });
const kinds = [{ kind: "Se", nature: "source" }, { kind: "R", nature: "loss" }] as KindCard[];

test("a node typed before its bond goes to what it is joined to, and nothing else moves", () => {
  const nodes = [node("u", "Se"), node("j", "1"), node("r", "R")];
  const first = view(nodes, [bond("u", "j"), bond("j", "r")]);
  const start = placesOf(null, new Map(), first, kinds);
  const typed = view([...nodes, node("x", "R")], first.bonds);
  const alone = placesOf(first, start, typed, kinds);
  const joined = view(typed.nodes, [...first.bonds, bond("j", "x")]);
  const last = placesOf(typed, alone, joined, kinds);
  for (const id of ["u", "j", "r"]) expect(last.get(id)).toEqual(start.get(id));
  const far = (places: typeof last): number => Math.hypot((places.get("x")?.[0] ?? 0) - (places.get("j")?.[0] ?? 0), (places.get("x")?.[1] ?? 0) - (places.get("j")?.[1] ?? 0));
  expect(far(last)).toBeLessThan(far(alone));
  expect(far(last)).toBeLessThan(160);
  // Joined once, it stays where it is.
  expect(placesOf(joined, last, view(joined.nodes, [...joined.bonds, bond("u", "x")]), kinds).get("x")).toEqual(last.get("x"));
});

test("a node that was joined to a name half typed goes to its junction once that is written", () => {
  const nodes = [node("u", "Se"), node("j", "1"), node("r", "R")];
  const first = view(nodes, [bond("u", "j"), bond("j", "r")]);
  const start = placesOf(null, new Map(), first, kinds);
  // `x -> jo`, on the way to `x -> j`.
  const half = view([...nodes, node("x", "R"), node("jo", "?")], [...first.bonds, bond("x", "jo")]);
  const typed = placesOf(first, start, half, kinds);
  const whole = view([...nodes, node("x", "R")], [...first.bonds, bond("x", "j")]);
  const last = placesOf(half, typed, whole, kinds);
  for (const id of ["u", "j", "r"]) expect(last.get(id)).toEqual(start.get(id));
  const [x, j] = [last.get("x"), last.get("j")];
  expect(Math.hypot((x?.[0] ?? 0) - (j?.[0] ?? 0), (x?.[1] ?? 0) - (j?.[1] ?? 0))).toBeLessThan(160);
});
