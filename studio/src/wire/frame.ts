// Reads the binary frames in which results come.
//
// In:  u32 length of the head (little endian), the head as JSON, filled up to 8 bytes, then for each
//      series of each panel its x and y as 64-bit floats; for a film its times, then its columns.
// Out: the head, and views of the columns: nothing is copied.

import type { Curve, FileFrame, Film, Frame, RunHead, RunResult, Study } from "./protocol";

export function readFrame(bytes: ArrayBuffer): Frame {
  const length = new DataView(bytes).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as RunHead | Film["head"] | Study["head"] | FileFrame["head"];
  let at = Math.ceil((4 + length) / 8) * 8;
  const column = (n: number): Float64Array => {
    const values = new Float64Array(bytes, at, n);
    at += 8 * n;
    return values;
  };
  if (head.purpose === "file") return { head, bytes: new Uint8Array(bytes, at, head.n) };
  if (head.purpose === "scene") {
    const time = column(head.n);
    return { head, time, columns: Array.from({ length: head.columns }, () => column(head.n)) };
  }
  const curves = head.panels.map((panel) => panel.series.map((s): Curve => ({ x: column(s.n), y: column(s.n) })));
  return { head, curves } as RunResult | Study;
}
