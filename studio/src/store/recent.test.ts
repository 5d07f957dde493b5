import { beforeEach, expect, test, vi } from "vitest";
import { ago, recentOf, remember } from "./recent";

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", { getItem: (k: string) => kept.get(k) ?? null, setItem: (k: string, v: string) => kept.set(k, v) });
});

test("the newest file stands first, each once, for each folder its own", () => {
  for (const path of ["a", "b", "a", "c", "d", "e", "f", "g"]) remember("/x", path, 1);
  remember("/y", "z", 1);
  expect(recentOf("/x").map((r) => r.path)).toEqual(["g", "f", "e", "d", "c", "a"]);
  expect(recentOf("/y").map((r) => r.path)).toEqual(["z"]);
});

test("what somebody else wrote there is no list", () => {
  localStorage.setItem("recent /x", "{oops");
  expect(recentOf("/x")).toEqual([]);
  localStorage.setItem("recent /x", JSON.stringify([1, { path: "a" }, { path: "b", at: 2 }]));
  expect(recentOf("/x")).toEqual([{ path: "b", at: 2 }]);
});

test("times are said in words", () => {
  const now = Date.UTC(2030, 5, 20, 12);
  expect(ago(now - 30_000, now)).toBe("just now");
  expect(ago(now - 5 * 60_000, now)).toBe("5 min ago");
  expect(ago(now - 3 * 3_600_000, now)).toBe("3 h ago");
  expect(ago(now - 25 * 3_600_000, now)).toBe("yesterday");
  expect(ago(now - 20 * 86_400_000, now)).toContain("2030");
});
