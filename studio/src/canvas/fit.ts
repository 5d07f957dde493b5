// Where the graph is put in the canvas: clear of the legend, the tools and the time.
//
// In:  the size of the canvas, px.
// Out: what the drawing library keeps free around the graph.

import type { FitViewOptions } from "@xyflow/react";

/** Lower than this the canvas has no room for tools below the graph, px. */
const LOW = 430;
/** Narrower than this the tools do not fit beside the legend, px. */
const BOTH = 640;
/** Narrower than this every pixel beside the graph counts, px. */
const NARROW = 560;

/** The tools stand beside the legend, above the graph. */
export function isLow(width: number, height: number): boolean {
  return height < LOW && width >= BOTH;
}

export function fitting(width: number, height: number, hasTime: boolean): FitViewOptions {
  const low = isLow(width, height);
  const bottom = (low ? 28 : 76) + (hasTime ? 44 : 0);
  // Values stand to the right of elements.
  const [left, right] = width < NARROW ? [28, 60] : [56, 84];
  return { padding: { top: `${hasTime ? 72 : 64}px`, bottom: `${bottom}px`, left: `${left}px`, right: `${right}px` }, maxZoom: 1.15 };
}
