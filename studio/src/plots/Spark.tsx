// A curve as small as a word.

import type { Curve } from "../wire/protocol";
import { valueAt } from "../canvas/powers";

const W = 120;
const H = 30;

export function Spark({ curve, at }: { curve: Curve; at: number }) {
  const { x, y } = curve;
  if (x.length < 2) return <svg className="spark" width={W} height={H} aria-hidden />;
  let low = 0;
  let high = 0;
  for (const v of y) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  const [first, last] = [x[0] as number, x[x.length - 1] as number];
  const px = (t: number): number => ((t - first) / (last - first || 1)) * (W - 4) + 2;
  const py = (v: number): number => H - 3 - ((v - low) / (high - low || 1)) * (H - 6);
  let line = "";
  for (let i = 0; i < x.length; i++) line += `${i === 0 ? "M" : "L"}${px(x[i] as number).toFixed(1)} ${py(y[i] as number).toFixed(1)}`;
  return (
    <svg className="spark" width={W} height={H} aria-hidden>
      <path className="area" d={`${line}L${W - 2} ${py(0)}L2 ${py(0)}Z`} />
      <path className="curve" d={line} />
      <path className="now" d={`M${px(at)} 2V${H - 2}`} />
      <circle cx={px(at)} cy={py(valueAt(x, y, at))} r="2.6" />
    </svg>
  );
}
