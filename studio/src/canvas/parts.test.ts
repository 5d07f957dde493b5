import { expect, test } from "vitest";
import type { NodeView } from "../wire/protocol";
import { offers } from "./parts";

const node = (name: string): NodeView => ({ id: name, kind: "junction", letters: "1", name, value: "", written: "", at: null, model: "", trouble: "", doc: "" });
const first = (typed: string, from: string | null = null) => offers(typed, [], [node("mesh"), node("out")], from)[0];

test("letters, words and values are read", () => {
  expect(first("R 0.3 [ohm]")).toMatchObject({ part: { kind: "R" }, value: "0.3 [ohm]" });
  expect(first("1")).toMatchObject({ part: { kind: "1" } });
  expect(first("storage")).toMatchObject({ part: { kind: "C" }, value: "1" });
  expect(first("se 5")).toMatchObject({ part: { kind: "Se" }, value: "5" });
});

test("the name of a node is a bond to it, if there is something to draw it from", () => {
  expect(first("mesh", "out")).toMatchObject({ kind: "bond", to: { name: "mesh" } });
  expect(first("mesh")).toBeUndefined();
});

test("a part of the library is found by its own name, with what it must be given", () => {
  const library = [{ kind: "mechanics.Gear", words: "two wheels", from: "mechanics", value: "ratio = 1" }];
  const [first] = offers("gea", library, [], null);
  expect(first).toEqual({ kind: "part", part: library[0], value: "ratio = 1" });
  expect(offers("Gear ratio = 5", library, [], null)[0]).toMatchObject({ value: "ratio = 5" });
});
