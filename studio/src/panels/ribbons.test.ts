import { expect, test } from "vitest";
import type { AuditHead } from "../wire/protocol";
import { ribbons } from "./ribbons";

const audit = (elements: AuditHead["elements"]): AuditHead => ({ supplied: 0, dissipated: 0, stored: 0, unpowered: 0, jumps: 0, residual: 0, allowed: 1, elements });

test("what is given is as high as what is taken, largest first", () => {
  const found = ribbons(audit([{ name: "amp", role: "source", energy: 10 }, { name: "k", role: "storage", energy: 1 }, { name: "bm", role: "loss", energy: 9 }]), 200);
  expect(found.map((r) => [r.name, r.isGiver])).toEqual([["amp", true], ["bm", false], ["k", false]]);
  const high = (isGiver: boolean): number => found.filter((r) => r.isGiver === isGiver).reduce((s, r) => s + r.part, 0);
  expect(high(true)).toBeCloseTo(high(false));
});

test("a storage that empties gives, and small takers are gathered", () => {
  const few = Array.from({ length: 5 }, (_, i) => ({ name: `r${i}`, role: "loss" as const, energy: 0.001 }));
  const found = ribbons(audit([{ name: "c", role: "storage", energy: -1 }, { name: "r", role: "loss", energy: 0.995 }, ...few]), 200);
  expect(found.map((r) => [r.name, r.isGiver])).toEqual([["c", true], ["r", false], ["5 others", false]]);
});

test("energy that is missing has a ribbon of its own", () => {
  const found = ribbons(audit([{ name: "s", role: "source", energy: 10 }, { name: "r", role: "loss", energy: 8 }]), 200);
  expect(found.find((r) => r.role === "missing")?.energy).toBeCloseTo(2);
  expect(ribbons(audit([]), 200)).toEqual([]);
});
