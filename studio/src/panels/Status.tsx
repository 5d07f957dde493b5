// The line at the foot: what the engine knows about the model and the last run.

import { selectDependent, showLoop } from "../store/actions";
import { set, useStudio } from "../store/store";
import { number } from "../plots/format";
import { Icon } from "./Icon";
import { progressWords } from "./progress";

/** One click after the other lights one loop after the other, then none. */
function Loops({ count, told }: { count: number; told: number }) {
  const lit = useStudio((s) => /^loop (\d+)$/.exec(s.why?.bond ?? "")?.[1]);
  const words = `algebraic loop${count === 1 ? "" : "s"}`;
  if (count === 0) return <span><b>0</b> {words}</span>;
  const next = lit === undefined ? 0 : Number(lit) + 1;
  return <button aria-pressed={lit !== undefined} title="Show the loop on the graph" onClick={() => showLoop(next < told ? next : Number(lit))}>{lit !== undefined && count > 1 && `${Number(lit) + 1} of `}<b>{count}</b> {words}</button>;
}

export function Status() {
  const analysis = useStudio((s) => s.analysis);
  const result = useStudio((s) => s.result);
  const notice = useStudio((s) => s.notice);
  const running = useStudio((s) => (s.running?.isLong ? s.running : null));
  const errors = analysis?.messages.filter((m) => m.severity === "error").length ?? 0;
  const warnings = (analysis?.messages.length ?? 0) - errors;
  const facts = analysis?.facts;
  return (
    <footer className="status" aria-label="Status">
      {facts && <span>Order <b>{facts.order ?? "not known"}</b></span>}
      {facts && facts.order !== null && <Loops count={facts.nLoops} told={facts.loops.length} />}
      {facts && facts.order !== null && (facts.dependent.length === 0 ? <span><b>0</b> dependent</span> : <button onClick={selectDependent} title="Select the dependent storages"><b>{facts.dependent.length}</b> dependent</button>)}
      {analysis && (
        <button className={errors > 0 ? "bad" : warnings > 0 ? "" : "good"} onClick={() => set({ dock: "messages" })}>
          <Icon name={errors + warnings > 0 ? "warning" : "check"} size={13} /> {errors > 0 ? `${errors} error${errors > 1 ? "s" : ""}` : warnings > 0 ? `${warnings} warning${warnings > 1 ? "s" : ""}` : "No messages"}
        </button>
      )}
      {notice && <span className="notice" role="status">{notice}</span>}
      <span className="spring" />
      {running && <span className="running">{progressWords(running)}</span>}
      {analysis && <span>compiled {number(analysis.ms, 2)} ms</span>}
      {result && !result.head.underWay && <span>run <b>{number(result.head.stats.ms, 2)} ms</b></span>}
      {result && !result.head.underWay && <span>{result.head.stats.method}, {result.head.stats.steps} steps, rtol {result.head.stats.rtol.toExponential().replace("+", "").replace("e", "e")}{result.head.rough ? " while dragging" : ""}</span>}
      {facts?.strict && <span>Units strict</span>}
    </footer>
  );
}
