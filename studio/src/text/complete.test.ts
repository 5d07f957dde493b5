import { expect, test } from "vitest";
import { plain, toTemplate } from "./complete";

test("places to fill in become those of the editor", () => {
  expect(toTemplate("R(${1:value})$0")).toBe("R(#{value})#{}");
  expect(toTemplate("stop = $1")).toBe("stop = #{}");
});

test("words of the service lose their marks", () => {
  expect(plain("**R** `loss`\n```bond\nr: R(1)\n```")).toBe("R loss\n\nr: R(1)");
});
