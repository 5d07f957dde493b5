// Curves of one panel as the plotting library wants them: one x for all, gaps where a curve has no point.

import uPlot from "uplot";
import type { Curve, RunResult, SeriesHead, ShownUnit } from "../wire/protocol";
import type { RunName } from "./look";

export interface Drawn {
  head: SeriesHead;
  curve: Curve;
  /** Which run it belongs to: now, or pinned. */
  run: RunName;
  /** Which of the pinned runs, from 0. */
  pin: number;
}

/** The curves of a panel: pinned runs, then the present one, in the unit they are shown in. */
export function drawnCurves(panel: number, now: RunResult, pinned: RunResult[], shown?: ShownUnit): Drawn[] {
  const title = now.head.panels[panel]?.title;
  const of = (result: RunResult, run: RunName, pin = 0): Drawn[] => {
    const at = result === now ? panel : result.head.panels.findIndex((p) => p.title === title);
    const heads = result.head.panels[at]?.series ?? [];
    return heads
      .map((head, i): Drawn => ({ head, curve: inUnit(result.curves[at]?.[i] as Curve, shown), run, pin }))
      .filter((d) => run === "now" || !d.head.reference);
  };
  return [...pinned.flatMap((p, i) => (p === now ? [] : of(p, "pinned", i))), ...of(now, "now")];
}

/** A curve at an earlier position of a slider; a held one has steps. */
export interface Ghost {
  curve: Curve;
  isHeld: boolean;
}

export function ghostCurves(panel: number, now: RunResult, ghosts: RunResult[], shown?: ShownUnit): Ghost[] {
  const title = now.head.panels[panel]?.title;
  return ghosts.flatMap((ghost) => {
    const at = ghost.head.panels.findIndex((p) => p.title === title);
    const heads = ghost.head.panels[at]?.series ?? [];
    return heads.flatMap((head, i) => (head.reference ? [] : [{ curve: inUnit(ghost.curves[at]?.[i] as Curve, shown), isHeld: head.held }]));
  });
}

function inUnit(curve: Curve, shown: ShownUnit | undefined): Curve {
  return shown ? { x: curve.x, y: curve.y.map((v) => v * shown.factor + shown.offset) } : curve;
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
