import { expect, test } from "vitest";
import type { Film } from "../wire/protocol";
import { goodSpeed, largestForce, pictureAt, roomOf, vectorAt } from "./film";

const film = {
  head: {
    bodies: [{ name: "b", class: "Rod", mass: 1, planar: true, r: 0, turn: 2, shape: { kind: "rod", length: 2, radius: 0.1 } }],
    joints: [{ name: "j", class: "Pin", planar: true, a: 0, aTurn: 0, b: 0, axis: null, force: 3, isVector: true, isLine: false, holds: ["", "b"] }],
    pushes: [],
  },
  time: Float64Array.of(0, 1, 2),
  columns: [Float64Array.of(0, 2, 4), Float64Array.of(0, 0, 3), Float64Array.of(0, 0, 0), Float64Array.of(3, 0, 0), Float64Array.of(4, 0, 1)],
} as unknown as Film;

test("times between pictures lie on straight lines, others at the ends", () => {
  expect(vectorAt(film, 0, true, pictureAt(film.time, 0.5))).toEqual([1, 0, 0]);
  expect(vectorAt(film, 0, true, pictureAt(film.time, 1.5))).toEqual([3, 1.5, 0]);
  expect(vectorAt(film, 0, true, pictureAt(film.time, 9))).toEqual([4, 3, 0]);
  expect(vectorAt(film, 0, true, pictureAt(film.time, -9))).toEqual([0, 0, 0]);
  expect(pictureAt(new Float64Array(0), 1)).toEqual([0, 0]);
});

test("the largest force and the room are those of the whole run", () => {
  expect(largestForce(film)).toBe(5);
  expect(roomOf(film)).toEqual({ low: [-1, -1, -1], high: [5, 4, 1] });
});

test("a run is neither over in a blink nor endless", () => {
  expect(goodSpeed(10)).toBe(1);
  expect(goodSpeed(2)).toBe(0.5);
  expect(goodSpeed(0.001)).toBe(0.01);
  expect(goodSpeed(500)).toBe(100);
});
