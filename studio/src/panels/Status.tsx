// The line at the foot: what the engine knows about the model and the last run.

import { set, useStudio } from "../store/store";
import { number } from "../plots/format";
import { Icon } from "./Icon";

export function Status() {
  const analysis = useStudio((s) => s.analysis);
  const result = useStudio((s) => s.result);
  const notice = useStudio((s) => s.notice);
  const errors = analysis?.messages.filter((m) => m.severity === "error").length ?? 0;
  const warnings = (analysis?.messages.length ?? 0) - errors;
  const facts = analysis?.facts;
  return (
    <footer className="status" aria-label="Status">
      {facts && <span>Order <b>{facts.order ?? "not known"}</b></span>}
      {facts && facts.order !== null && <span><b>{facts.loops}</b> algebraic loops</span>}
      {facts && facts.order !== null && <span><b>{facts.dependent.length}</b> dependent</span>}
      {analysis && (
        <button className={errors > 0 ? "bad" : warnings > 0 ? "" : "good"} onClick={() => set({ dock: "messages" })}>
          <Icon name={errors + warnings > 0 ? "warning" : "check"} size={13} /> {errors > 0 ? `${errors} error${errors > 1 ? "s" : ""}` : warnings > 0 ? `${warnings} warning${warnings > 1 ? "s" : ""}` : "No messages"}
        </button>
      )}
      {notice && <span className="notice" role="status">{notice}</span>}
      <span className="spring" />
      {analysis && <span>compiled {number(analysis.ms, 2)} ms</span>}
      {result && <span>run <b>{number(result.head.stats.ms, 2)} ms</b></span>}
      {result && <span>{result.head.stats.method}, {result.head.stats.steps} steps, rtol {result.head.stats.rtol.toExponential().replace("+", "").replace("e", "e")}{result.head.rough ? " while dragging" : ""}</span>}
      {facts?.strict && <span>Units strict</span>}
    </footer>
  );
}
