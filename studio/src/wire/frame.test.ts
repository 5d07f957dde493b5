import { expect, test } from "vitest";
import { readFrame } from "./frame";
import type { Film, RunResult } from "./protocol";

function frame(head: object, columns: number[][]): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const start = Math.ceil((4 + text.length) / 8) * 8;
  const bytes = new ArrayBuffer(start + 8 * columns.flat().length);
  new DataView(bytes).setUint32(0, text.length, true);
  new Uint8Array(bytes, 4).set(text);
  new Float64Array(bytes, start).set(columns.flat());
  return bytes;
}

test("columns come back in the order of panels and series", () => {
  const series = (n: number) => ({ name: "a", reference: false, held: false, n });
  const panels = [{ series: [series(2), series(1)] }, { series: [series(3)] }];
  const columns = [[0, 1], [5, 6], [0], [-7], [0, 1, 2], [1, 4, 9]];
  const { curves } = readFrame(frame({ run: 3, panels, title: "θ" }, columns)) as RunResult;
  expect(curves.map((panel) => panel.map((c) => [[...c.x], [...c.y]]))).toEqual([
    [[[0, 1], [5, 6]], [[0], [-7]]],
    [[[0, 1, 2], [1, 4, 9]]],
  ]);
});

test("a film has its times first", () => {
  const film = readFrame(frame({ purpose: "scene", n: 2, columns: 2 }, [[0, 1], [5, 6], [7, 8]])) as Film;
  expect([[...film.time], ...film.columns.map((c) => [...c])]).toEqual([[0, 1], [5, 6], [7, 8]]);
});
