import { expect, test } from "vitest";
import { number, unit, written } from "./format";
import { valueAt } from "../canvas/powers";

test("numbers have a true minus and powers of ten where they need them", () => {
  expect([number(-0.5), number(0), number(1.23456789), number(4.5e-7, 2), number(-2.5e9, 2), number(NaN)]).toEqual([
    "−0.5", "0", "1.235", "4.5·10⁻⁷", "−2.5·10⁹", "not a number",
  ]);
});

test("units read as in a textbook", () => {
  expect([unit("N*m*s/rad"), unit("kg*m^2"), unit("ohm"), unit("uF")]).toEqual(["N·m·s/rad", "kg·m²", "Ω", "µF"]);
  expect([written("0.6 [ohm]"), written("4.5e-7 [kg*m^2]"), written("1/K")]).toEqual(["0.6 Ω", "4.5·10⁻⁷ kg·m²", "1/K"]);
});

test("a value between two points lies on the line between them", () => {
  const x = Float64Array.of(0, 1, 3);
  const y = Float64Array.of(0, 10, 30);
  expect([-1, 0.5, 2, 9].map((t) => valueAt(x, y, t))).toEqual([0, 5, 20, 30]);
});
