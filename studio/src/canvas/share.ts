// Saves the graph as a picture, and puts selected nodes in line.

import { change, notice, saveText } from "../store/actions";
import { get } from "../store/store";
import { rasterise } from "../plots/raster";
import { token } from "../plots/look";
import { drawing, type Sizes } from "./drawing";

/** The level that is looked at, as it stands on the canvas. */
export async function saveGraph(format: "svg" | "png"): Promise<void> {
  const { analysis, places } = get();
  const view = analysis?.view;
  if (!view) return;
  const svg = drawing(view, places, measured(), (name) => token(`--${name}`));
  const blob = new Blob([svg], { type: "image/svg+xml" });
  try {
    saveText(`${view.model}.${format}`, format === "svg" ? blob : await rasterise(blob));
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error));
  }
}

/** Sizes of the nodes in sight, as the browser laid them out. */
function measured(): Sizes {
  const nodes = document.querySelectorAll<HTMLElement>(".react-flow__node");
  return new Map([...nodes].map((n) => [n.dataset["id"] ?? "", { width: n.offsetWidth, height: n.offsetHeight }]));
}

/** Puts the selected nodes in one row or one column: that of the first one chosen. */
export function align(axis: "row" | "column"): void {
  const { selection, places } = get();
  const moves = aligned(selection.filter((s) => s.kind === "node").map((s) => s.id), places, axis);
  if (moves.length > 0) void change({ kind: "move", nodes: moves });
  else notice("select two nodes or more that are not in line");
}

export function aligned(nodes: string[], places: ReadonlyMap<string, [number, number]>, axis: "row" | "column"): { node: string; at: [number, number] }[] {
  const first = places.get(nodes[0] ?? "");
  if (!first) return [];
  const found = nodes.flatMap((node) => {
    const at = places.get(node);
    return at ? [{ node, from: at, at: (axis === "row" ? [at[0], first[1]] : [first[0], at[1]]) as [number, number] }] : [];
  });
  return found.filter((m) => m.at[0] !== m.from[0] || m.at[1] !== m.from[1]).map(({ node, at }) => ({ node, at }));
}
