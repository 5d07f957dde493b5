// How curves and axes look: colours and dashes of the page, read from its tokens.

import uPlot from "uplot";
import type { SeriesHead } from "../wire/protocol";
import { number } from "./format";

export type RunName = "now" | "pinned";

export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

export function colour(head: SeriesHead, run: RunName, i: number, pin = 0): string {
  if (head.reference) return token("--ink3");
  if (run === "pinned") return token(`--run${[2, 4, 3][pin % 3]}`);
  return token(`--run${[1, 3, 4, 2][i % 4]}`);
}

export function dash(head: SeriesHead, run: RunName, i: number, pin = 0): number[] {
  if (head.reference) return [4, 4];
  return (run === "pinned" ? DASHES[1 + (pin % 3)] : DASHES[i % 4]) ?? [];
}

export function seriesStyle(head: SeriesHead, run: RunName, i: number, pin = 0): uPlot.Series {
  return {
    label: head.name, stroke: colour(head, run, i, pin), dash: dash(head, run, i, pin), width: head.reference ? 1.2 : 1.8,
    points: { show: false }, spanGaps: true, pxAlign: 0,
    ...(head.held ? { paths: uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder } : {}),
  };
}

export function axisStyle(): uPlot.Axis {
  return {
    stroke: token("--ink2"), grid: { stroke: token("--grid"), width: 1 }, ticks: { show: false }, font: `11px ${token("--sans")}`,
    values: (_, splits) => splits.map((v) => (v == null ? "" : number(v, 6))),
  };
}

/** A curve in a plane is one line through its points in their order; a point that is no number breaks it. */
export const phasePath: uPlot.Series.PathBuilder = (u, index) => {
  const line = new Path2D();
  const [xs, ys] = u.data[index] as unknown as [Float64Array, Float64Array];
  let isDown = false;
  for (let i = 0; i < xs.length; i++) {
    const x = u.valToPos(xs[i] as number, "x", true);
    const y = u.valToPos(ys[i] as number, "y", true);
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      isDown = false;
      continue;
    }
    if (isDown) line.lineTo(x, y);
    else line.moveTo(x, y);
    isDown = true;
  }
  return { stroke: line, fill: null, clip: null, band: null } as unknown as uPlot.Series.Paths;
};
