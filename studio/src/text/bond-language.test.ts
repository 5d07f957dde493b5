import { EditorState } from "@codemirror/state";
import { ensureSyntaxTree } from "@codemirror/language";
import { expect, test } from "vitest";
import { bondLanguage } from "./bond-language";

/** Words of a text with the names of their colours. */
function coloured(doc: string): string[] {
  const state = EditorState.create({ doc, extensions: [bondLanguage()] });
  const found: string[] = [];
  ensureSyntaxTree(state, doc.length, 1000)?.iterate({ enter: (n) => { if (n.node.firstChild === null && n.name !== "bond") found.push(`${n.name} ${doc.slice(n.from, n.to)}`); } });
  return found;
}

test("elements are coloured where they are placed, not where a parameter has their letters", () => {
  const words = coloured("model M {\n    param C = 1 [F]\n    s: Se(C) -> j: 1 -> c: C(2*C), d: R { e = C*f }\n}");
  expect(words.filter((w) => w.startsWith("kind "))).toEqual(["kind Se", "kind 1", "kind C", "kind R"]);
  expect(words).toContain("unit [F]");
});

test("words of experiments and Lagrangians are keywords", () => {
  const words = coloured("lagrangian P {\n    coordinate x [m]\n    kinetic m*x\n    speed = 3\n}\nexperiment e of P { optimize k in 1 .. 2 { minimize a }; plot x vs y; limit a < 1 }");
  for (const word of ["lagrangian", "coordinate", "kinetic", "optimize", "minimize", "vs", "limit"]) expect(words).toContain(`keyword ${word}`);
  expect(words).not.toContain("keyword speed");
});
