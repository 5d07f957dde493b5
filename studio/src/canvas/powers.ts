// Power on the bonds at the time of the cursor.

import { number } from "../plots/format";
import type { RunResult } from "../wire/protocol";
import type { BondData } from "./BondEdge";

/** The series of a result of powers are named by the ids of bonds. */
export function powersAt(result: RunResult | null, time: number | null): Map<string, BondData["power"]> {
  const found = new Map<string, BondData["power"]>();
  const panel = result?.head.panels[0];
  const curves = result?.curves[0];
  if (!panel || !curves) return found;
  const largest = largestPower(result);
  const at = time ?? busiestTime(result);
  panel.series.forEach((series, i) => {
    const curve = curves[i];
    if (!curve || curve.x.length === 0) return;
    const p = valueAt(curve.x, curve.y, at);
    const part = largest > 0 ? Math.abs(p) / largest : 0;
    found.set(series.name, { part, forward: p >= 0, text: part < 0.0005 ? "" : `${number(p, 3)} W`, level: part < 0.0005 ? 1 : part < 0.02 ? 2 : 3 });
  });
  return found;
}

/** The largest power on any bond at any time. */
export function largestPower(result: RunResult | null): number {
  let largest = 0;
  for (const curve of result?.curves[0] ?? []) for (const p of curve.y) if (Math.abs(p) > largest) largest = Math.abs(p);
  return largest;
}

/** How wide the band of a part of the largest power is, px. */
export function bandWidth(part: number): number {
  return Math.max(4.5, 30 * Math.sqrt(part));
}

/** When most power flows: what is worth a look before anybody has chosen a time. */
export function busiestTime(result: RunResult): number {
  const curves = result.curves[0] ?? [];
  let best = result.head.to;
  let most = 0;
  for (let k = 0; k <= 200; k++) {
    const t = result.head.from + (k / 200) * (result.head.to - result.head.from);
    const total = curves.reduce((sum, c) => sum + (c.x.length > 0 ? Math.abs(valueAt(c.x, c.y, t)) : 0), 0);
    if (total > most) [most, best] = [total, t];
  }
  return best;
}

/** The value of a curve at a time, on the straight line between its points. */
export function valueAt(x: Float64Array, y: Float64Array, t: number): number {
  let low = 0;
  let high = x.length - 1;
  if (high < 0) return NaN;
  if (t <= (x[0] as number)) return y[0] as number;
  if (t >= (x[high] as number)) return y[high] as number;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((x[middle] as number) <= t) low = middle;
    else high = middle;
  }
  const [a, b] = [x[low] as number, x[high] as number];
  const part = b > a ? (t - a) / (b - a) : 0;
  return (y[low] as number) + part * ((y[high] as number) - (y[low] as number));
}
