// Curves of one panel as the plotting library wants them: one x for all, gaps where a curve has no point.

import uPlot from "uplot";
import type { Curve, RunResult, SeriesHead } from "../wire/protocol";

export interface Drawn {
  head: SeriesHead;
  curve: Curve;
  /** Which run it belongs to: now, pinned, or an earlier place of a slider. */
  run: "now" | "pinned" | "ghost";
}

/** All curves of a panel: ghosts below, the pinned run, then the present one. */
export function drawnCurves(panel: number, now: RunResult, pinned: RunResult | null, ghosts: RunResult[]): Drawn[] {
  const title = now.head.panels[panel]?.title;
  const of = (result: RunResult, run: Drawn["run"]): Drawn[] => {
    const at = result === now ? panel : result.head.panels.findIndex((p) => p.title === title);
    const heads = result.head.panels[at]?.series ?? [];
    return heads
      .map((head, i): Drawn => ({ head, curve: result.curves[at]?.[i] as Curve, run }))
      .filter((d) => run === "now" || !d.head.reference);
  };
  return [...ghosts.flatMap((g) => of(g, "ghost")), ...(pinned && pinned !== now ? of(pinned, "pinned") : []), ...of(now, "now")];
}

export function aligned(curves: Drawn[]): uPlot.AlignedData {
  const [only] = curves;
  const tables = curves.map((d): uPlot.AlignedData => [d.curve.x as unknown as number[], numbers(d.curve.y)]);
  if (curves.length === 1 && only) return tables[0] as uPlot.AlignedData;
  return uPlot.join(tables);
}

/** A value that is no number is a gap. */
function numbers(y: Float64Array): number[] {
  return Array.from(y, (v) => (Number.isFinite(v) ? v : (null as unknown as number)));
}
