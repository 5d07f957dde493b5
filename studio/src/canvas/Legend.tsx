// What the colours on the canvas mean, with counts.

import { startLesson } from "../store/actions";
import { useStudio } from "../store/store";
import { classCounts } from "./flow";

export function Legend() {
  const view = useStudio((s) => s.analysis?.view);
  const lesson = useStudio((s) => s.lesson);
  if (!view) return null;
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

export function Sample({ kind }: { kind: string }) {
  return (
    <svg className={`bond bond-${kind}`} width="24" height="14" viewBox="0 0 24 14" aria-hidden>
      <path className="line" d="M3 7H22" />
      <path className="barb" d="M15 11.2L22 7" />
      <path className="stroke" d="M3 1V13" />
    </svg>
  );
}
