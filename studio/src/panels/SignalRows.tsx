// Effort, flow, power and energy of a bond as small curves, with their values at a time.

import { valueAt } from "../canvas/powers";
import { number, unit } from "../plots/format";
import { Spark } from "../plots/Spark";
import type { RunResult } from "../wire/protocol";

const SIGNAL_WORDS: Record<string, string> = { e: "effort", f: "flow", P: "power", E: "energy", q: "displacement", p: "momentum" };

export function SignalRows({ result, at }: { result: RunResult; at: number }) {
  return (
    <>
      {result.head.panels[0]?.series.map((series, i) => {
        const curve = result.curves[0]?.[i];
        if (!curve) return null;
        const [name = "", u = ""] = series.name.split("|");
        return (
          <div key={i} className={`signal-row signal-${name}`}>
            <span className="letter"><i>{name}</i><small>{SIGNAL_WORDS[name] ?? ""}</small></span>
            <Spark curve={curve} at={at} />
            <span className="amount"><b>{number(valueAt(curve.x, curve.y, at))}</b> {unit(u)}</span>
          </div>
        );
      })}
    </>
  );
}
