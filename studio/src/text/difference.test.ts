import { expect, test } from "vitest";
import { difference } from "./difference";

const text = "model M {\n    a: Se(1) -> j: 1\n    j -> r: R(2)\n}\n";

test("a change of a line is the old line and the new one", () => {
  const at = text.indexOf("Se(1)");
  expect(difference(text, [{ from: at, to: at + 2, insert: "Sf" }])).toEqual([{ sign: "-", text: "a: Se(1) -> j: 1" }, { sign: "+", text: "a: Sf(1) -> j: 1" }]);
});

test("a new line is only a line that comes", () => {
  const at = text.indexOf("}");
  expect(difference(text, [{ from: at, to: at, insert: "    j -> c: C(1)\n" }])).toEqual([{ sign: "+", text: "j -> c: C(1)" }]);
});

test("two changes of one line are one difference, others their own", () => {
  const [a, one, r] = [text.indexOf("a:"), text.indexOf("Se(1)") + 3, text.indexOf("R(2)")];
  const changes = [{ from: r, to: r + 1, insert: "C" }, { from: a, to: a + 1, insert: "b" }, { from: one, to: one + 1, insert: "9" }];
  expect(difference(text, changes)).toEqual([
    { sign: "-", text: "a: Se(1) -> j: 1" }, { sign: "+", text: "b: Se(9) -> j: 1" },
    { sign: "-", text: "j -> r: R(2)" }, { sign: "+", text: "j -> r: C(2)" },
  ]);
});
