import { expect, test } from "vitest";
import { unpack, type PackedFilm } from "./unpack";

/** Numbers as the report packs them: 32 bits, little endian, in base64. */
function pack(numbers: number[]): string {
  const view = new DataView(new ArrayBuffer(4 * numbers.length));
  numbers.forEach((x, i) => view.setFloat32(4 * i, x, true));
  return btoa(String.fromCharCode(...new Uint8Array(view.buffer)));
}

test("columns come back, and one number stands for a column that does not change", () => {
  const film = unpack({ head: {}, time: pack([0, 0.5, 1]), columns: [pack([1, -2, 3.25]), 7] } as unknown as PackedFilm);
  expect([...film.time]).toEqual([0, 0.5, 1]);
  expect([...(film.columns[0] as Float64Array)]).toEqual([1, -2, 3.25]);
  expect([...(film.columns[1] as Float64Array)]).toEqual([7, 7, 7]);
});
