import { expect, test } from "vitest";
import { belongs } from "./math";

test("a symbol belongs to the element in its subscript, and to the parts around that", () => {
  expect(belongs("tooth", "tooth")).toBe(true);
  expect(belongs("arm.joint", "arm")).toBe(true);
  expect(belongs("arm, 1", "arm")).toBe(true);
  expect(belongs("tooth2", "tooth")).toBe(false);
  expect(belongs("big.tooth", "tooth")).toBe(false);
  expect(belongs("", "")).toBe(false);
});
