// Earlier positions of a slider, drawn under the curves of a plot.
//
// In:  curves of earlier runs, in the unit of the panel.
// Out: thin grey lines, and a vertical range that holds them.

import uPlot from "uplot";
import type { Ghost } from "./data";
import { token } from "./look";

/** Room above and below the curves, as a part of their height: what the plotting library takes by itself. */
const ROOM = 0.1;

/** The range of the vertical axis: what the library found for its curves, and the ghosts in sight. */
export function rangeWith(ghosts: () => Ghost[]): uPlot.Scale.Range {
  return (u, low, high) => {
    if (low == null || high == null) return [null, null];
    const [first, last] = extent(ghosts(), u.scales["x"]?.min ?? -Infinity, u.scales["x"]?.max ?? Infinity);
    return uPlot.rangeNum(Math.min(low, first), Math.max(high, last), ROOM, true);
  };
}

/** Lowest and highest value between two times. */
export function extent(ghosts: Ghost[], from: number, to: number): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const { curve: { x, y } } of ghosts) {
    for (let i = 0; i < x.length; i++) {
      const [t, v] = [x[i] as number, y[i] as number];
      if (t < from || t > to || !Number.isFinite(v)) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  return [low, high];
}

export function drawGhosts(u: uPlot, ghosts: Ghost[]): void {
  if (ghosts.length === 0) return;
  const { ctx, bbox } = u;
  const [left, right] = [u.scales["x"]?.min ?? 0, u.scales["x"]?.max ?? 1];
  const [low, high] = [u.scales["y"]?.min ?? 0, u.scales["y"]?.max ?? 1];
  const [across, up] = [bbox.width / (right - left), bbox.height / (high - low)];
  const bottom = bbox.top + bbox.height;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = token("--ghost");
  ctx.lineWidth = window.devicePixelRatio || 1;
  for (const { curve: { x, y }, isHeld } of ghosts) {
    ctx.beginPath();
    let isDown = false;
    let before = 0;
    for (let i = 0; i < x.length; i++) {
      const v = y[i] as number;
      if (!Number.isFinite(v)) {
        isDown = false;
        continue;
      }
      const [px, py] = [bbox.left + ((x[i] as number) - left) * across, bottom - (v - low) * up];
      if (isDown && isHeld) ctx.lineTo(px, before);
      if (isDown) ctx.lineTo(px, py);
      else ctx.moveTo(px, py);
      isDown = true;
      before = py;
    }
    ctx.stroke();
  }
  ctx.restore();
}
