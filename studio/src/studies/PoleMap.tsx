// Poles and zeros in the plane of complex numbers: × and ○, what lies at the left decays.

import { number } from "../plots/format";

const W = 420;
const H = 210;
const PAD = 28;

export function PoleMap({ poles, zeros }: { poles: [number, number][]; zeros: [number, number][] }) {
  // Zeros far outside would press the poles together.
  const reach = Math.max(...poles.map(([x, y]) => Math.hypot(x, y)), 1e-12);
  const near = zeros.filter(([x, y]) => Math.hypot(x, y) < 20 * reach);
  const all = [...poles, ...near];
  const x1 = Math.max(...all.map(([x]) => x), 0.15 * reach);
  const x0 = Math.min(...all.map(([x]) => x), -0.15 * reach);
  const y1 = Math.max(...all.map(([, y]) => Math.abs(y)), 0.4 * (x1 - x0) * (H / W));
  const px = (x: number): number => PAD + ((x - x0) / (x1 - x0)) * (W - 2 * PAD);
  const py = (y: number): number => H / 2 - (y / y1) * (H / 2 - PAD);
  const words = poles.map(([x, y]) => `${number(x, 3)}${y ? ` ± ${number(Math.abs(y), 3)} j` : ""}`);
  return (
    <figure className="pole-map">
      <figcaption><b>Poles ×{near.length > 0 && " and zeros ○"}</b> <span className="quiet">[1/s]</span></figcaption>
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`Poles at ${[...new Set(words)].join(", ")}`}>
        <rect className="grows" x={px(0)} y="0" width={Math.max(W - px(0), 0)} height={H} />
        <path className="axis" d={`M0 ${H / 2}H${W}M${px(0)} 0V${H}`} />
        {near.map(([x, y], i) => <circle key={i} className="zero" cx={px(x)} cy={py(y)} r="5" />)}
        {poles.map(([x, y], i) => <path key={i} className={x < 0 ? "pole" : "pole is-bad"} d={`M${px(x) - 5} ${py(y) - 5}l10 10m0-10l-10 10`} />)}
        <text x={PAD} y={H - 6}>{number(x0, 3)}</text>
        <text x={W - PAD} y={H - 6} textAnchor="end">{number(x1, 3)}</text>
        <text x={px(0) + 4} y="12">{number(y1, 3)} j</text>
      </svg>
    </figure>
  );
}
