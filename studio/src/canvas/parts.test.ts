import { expect, test } from "vitest";
import { wishOf } from "../store/places";
import type { KindCard, NodeView } from "../wire/protocol";
import { basicParts, offers } from "./parts";

const kind = (kind: string, nature: KindCard["nature"], words: string, value = "1", also: string[] = []): KindCard => ({ kind, nature, words, what: words, also, value });
const KINDS: KindCard[] = [
  kind("0", "junction", "one effort", ""), kind("1", "junction", "one flow", ""), kind("Se", "source", "source of effort"), kind("Sf", "source", "source of flow"),
  kind("R", "loss", "resistance or damper"), kind("C", "storage", "capacitance or spring", "1", ["capac", "spring"]), kind("I", "storage", "inertia"),
  kind("TF", "twoport", "transformer or lever"), kind("GY", "twoport", "gyrator or motor"), kind("RS", "twoport", "resistor whose loss becomes entropy"),
  kind("Sw", "loss", "ideal switch", "time > 1 [s]", ["switch"]), kind("D", "loss", "ideal diode", "", ["diode"]), kind("M", "loss", "memristor", "{ e = (100 + 3*q)*f }", ["memrist"]),
  kind("New", "loss", "a kind that the page has never heard of"),
];
const PARTS = basicParts(KINDS);
const node = (name: string, letters = "1"): NodeView => ({ id: name, kind: "junction", letters, name, value: "", written: "", at: null, model: "", trouble: "", doc: "" });
const first = (typed: string, from: string | null = null) => offers(typed, PARTS, [node("mesh"), node("out")], from)[0];

test("the palette has every kind that the server knows, the usual ones first", () => {
  expect(PARTS.map((p) => p.kind).slice(0, 9)).toEqual(["Se", "Sf", "I", "C", "R", "TF", "GY", "1", "0"]);
  expect(new Set(PARTS.map((p) => p.kind))).toEqual(new Set(KINDS.map((k) => k.kind)));
  expect(PARTS.find((p) => p.kind === "New")?.words).toBe("a kind that the page has never heard of");
});

test("letters, words and values are read", () => {
  expect(first("R 0.3 [ohm]")).toMatchObject({ part: { kind: "R" }, value: "0.3 [ohm]" });
  expect(first("1")).toMatchObject({ part: { kind: "1" } });
  expect(first("storage")).toMatchObject({ part: { kind: "C" }, value: "1" });
  expect(first("se 5")).toMatchObject({ part: { kind: "Se" }, value: "5" });
});

test("switches, diodes, heating resistors and memristors are found by letters and by words", () => {
  expect(first("Sw")).toMatchObject({ part: { kind: "Sw" }, value: "time > 1 [s]" });
  expect(first("switch time > 2")).toMatchObject({ part: { kind: "Sw" }, value: "time > 2" });
  expect(first("D")).toMatchObject({ part: { kind: "D" }, value: "" });
  expect(first("RS 3")).toMatchObject({ part: { kind: "RS" }, value: "3" });
  expect(first("M")).toMatchObject({ part: { kind: "M" }, value: "{ e = (100 + 3*q)*f }" });
  expect(first("spring")).toMatchObject({ part: { kind: "C" } });
});

test("losses stand above their junction, storages below, sources left, whatever their letters", () => {
  const natures = new Map(KINDS.map((k) => [k.kind, k.nature]));
  expect(["Se", "MSf", "R", "M", "D", "Sw", "C", "I", "TF", "MTF", "1"].map((l) => wishOf(node("n", l), natures))).toEqual(["left", "left", "up", "up", "up", "up", "down", "down", "none", "none", "none"]);
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
