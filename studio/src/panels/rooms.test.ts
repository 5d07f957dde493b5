import { expect, test } from "vitest";
import { isSeen } from "./rooms";

const none = { explorer: false, text: false, inspector: false };

test("a wide window has every room that is not folded", () => {
  expect(isSeen("text", 1440, none, null)).toBe(true);
  expect(isSeen("text", 1440, { ...none, text: true }, null)).toBe(false);
  expect(isSeen("inspector", 1440, none, "text")).toBe(true);
});

test("a narrow window shows one room over the others, folded or not", () => {
  expect(isSeen("inspector", 1200, none, null)).toBe(false);
  expect(isSeen("inspector", 1200, { ...none, inspector: true }, "inspector")).toBe(true);
  expect(isSeen("explorer", 1200, none, null)).toBe(true);
  expect(isSeen("explorer", 900, none, null)).toBe(false);
  expect(isSeen("text", 900, none, "text")).toBe(true);
});
