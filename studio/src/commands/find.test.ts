import { expect, test } from "vitest";
import { find, type Command } from "./find";

const command = (group: string, words: string): Command => ({ group, words, keys: "", act: () => undefined });
const all = [command("Run", "Run the experiment"), command("View", "Power"), command("Model", "PowerTrain"), command("Experiment", "step_power"), command("File", "Save")];
const names = (typed: string): string[] => find(all, typed).map((c) => c.words);

test("nothing typed gives all, in their order", () => {
  expect(names("  ")).toEqual(all.map((c) => c.words));
});

test("what begins with the word comes first, and every word must be there", () => {
  expect(names("power")).toEqual(["Power", "PowerTrain", "step_power"]);
  expect(names("view pow")).toEqual(["Power"]);
  expect(names("experiment")).toEqual(["Run the experiment", "step_power"]);
  expect(names("nothing")).toEqual([]);
});
