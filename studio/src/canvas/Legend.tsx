// What the colours on the canvas mean, with counts.

import { useMemo } from "react";
import { number } from "../plots/format";
import { startLesson } from "../store/actions";
import { useStudio } from "../store/store";
import { classCounts } from "./flow";
import { bandWidth, largestPower } from "./powers";

export function Legend() {
  const view = useStudio((s) => s.analysis?.view);
  const lesson = useStudio((s) => s.lesson);
  const mode = useStudio((s) => s.mode);
  if (!view) return null;
  if (mode === "power") return <PowerLegend />;
  const counts = classCounts(view);
  return (
    <div className="legend floating" role="note" aria-label="Causality">
      <Sample kind="preferred" /> <b>{counts.integral}</b> integral
      <Sample kind="derivative" /> <b>{counts.derivative}</b> derivative
      {counts.forced > 0 && <><Sample kind="forced" /> <b>{counts.forced}</b> forced</>}
      {counts.conflict > 0 ? <><Sample kind="conflict" /> <b>{counts.conflict}</b> in conflict</> : <><Sample kind="plain" /> implied</>}
      {!lesson && <button className="link" onClick={() => void startLesson()}>Step by step</button>}
    </div>
  );
}

/** In the power mode strokes are in ink, and gold has a meaning. */
function PowerLegend() {
  const powers = useStudio((s) => s.powers);
  const largest = useMemo(() => largestPower(powers), [powers]);
  if (largest === 0) return null;
  return (
    <div className="legend floating" role="note" aria-label="Power">
      <Band part={1} level={3} /> <b>{number(largest, 3)} W</b>
      <Band part={0.1} level={3} /> {number(0.1 * largest, 2)} W
      <Band part={0.01} level={2} /> {number(0.01 * largest, 2)} W
      <span className="quiet">width as √power</span>
    </div>
  );
}

function Band({ part, level }: { part: number; level: 1 | 2 | 3 }) {
  const width = bandWidth(part);
  return (
    <svg className={`power power-${level}`} width="26" height={Math.max(8, width + 2)} aria-hidden>
      <path className="band-edge" d={`M1 ${Math.max(8, width + 2) / 2}H25`} strokeWidth={width + 1.5} />
      <path className="band" d={`M1.8 ${Math.max(8, width + 2) / 2}H24.2`} strokeWidth={width} />
    </svg>
  );
}

export function Sample({ kind }: { kind: string }) {
  return (
    <svg className={`bond bond-${kind}`} width="24" height="14" viewBox="0 0 24 14" aria-hidden>
      <path className="line" d="M3 7H22" />
      <path className="barb" d="M15 11.2L22 7" />
      <path className="stroke" d="M3 1V13" />
    </svg>
  );
}
