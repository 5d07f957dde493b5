// The energy of a run as a picture: ribbons as wide as joules, from what gave it to what took it.

import { number } from "../plots/format";
import type { AuditHead } from "../wire/protocol";
import { outline, ribbons, type Ribbon } from "./ribbons";

const [WIDTH, HEIGHT, TOP] = [620, 200, 26];
/** The bar in the middle, and where ribbons end. */
const [LEFT, BAR, RIGHT] = [150, 250, 420];

const WORDS: Record<Ribbon["role"], [string, string]> = {
  source: ["supplied", "taken back"], loss: ["given off", "lost"], storage: ["given by the store", "stored"], other: ["other", "other"],
  rest: ["each below 0.4 %", "each below 0.4 %"], missing: ["not accounted for", "not accounted for"],
};

export function EnergyFlow({ audit }: { audit: AuditHead }) {
  const found = ribbons(audit, HEIGHT);
  if (found.length === 0) return <p className="empty">No energy moved in this run.</p>;
  const [low, high] = [Math.min(...found.map((r) => r.inner)), Math.max(...found.map((r) => r.inner + r.height))];
  const end = Math.max(...found.map((r) => r.outer + r.height), HEIGHT);
  const words = found.map((r) => `${r.name} ${WORDS[r.role][r.isGiver ? 0 : 1]} ${number(r.energy)} J`).join("; ");
  return (
    <svg className="energy-flow" viewBox={`0 0 ${WIDTH} ${end + 2 * TOP}`} role="img" aria-label={`Where the energy went: ${words}`}>
      <g transform={`translate(0 ${TOP})`}>
        {found.map((r) => (
          <g key={`${r.isGiver} ${r.name}`} className={`ribbon ribbon-${r.role}`}>
            <path d={r.isGiver ? outline(LEFT, r.outer, BAR, r.inner, r.height) : outline(BAR, r.inner, RIGHT, r.outer, r.height)} />
            <rect x={r.isGiver ? LEFT - 5 : RIGHT} y={r.outer} width="5" height={r.height} />
            <text x={r.isGiver ? LEFT - 12 : RIGHT + 12} y={r.outer + r.height / 2 - 3} textAnchor={r.isGiver ? "end" : "start"}><tspan className="name">{r.name}</tspan> <tspan className="joules">{number(r.energy)} J</tspan></text>
            <text className="share-words" x={r.isGiver ? LEFT - 12 : RIGHT + 12} y={r.outer + r.height / 2 + 12} textAnchor={r.isGiver ? "end" : "start"}>{percent(r.part)} {WORDS[r.role][r.isGiver ? 0 : 1]}</text>
          </g>
        ))}
        <rect className="bar" x={BAR - 2.5} y={low} width="5" height={high - low} />
      </g>
    </svg>
  );
}

function percent(part: number): string {
  return `${number(100 * part, part > 0.995 ? 4 : 3)} %`;
}
