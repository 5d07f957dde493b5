import { expect, test, vi } from "vitest";

vi.mock("../store/actions", () => ({ change: vi.fn(), notice: vi.fn(), saveText: vi.fn() }));
vi.mock("../plots/look", () => ({ token: () => "" }));
const { aligned } = await import("./share");

const places = new Map<string, [number, number]>([["a", [0, 10]], ["b", [50, 30]], ["c", [90, 10]]]);

test("nodes go into the row or the column of the first, those in line stay", () => {
  expect(aligned(["a", "b", "c"], places, "row")).toEqual([{ node: "b", at: [50, 10] }]);
  expect(aligned(["b", "a", "c"], places, "column")).toEqual([{ node: "a", at: [50, 10] }, { node: "c", at: [50, 10] }]);
  expect(aligned([], places, "row")).toEqual([]);
});
