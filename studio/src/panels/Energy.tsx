// Where the energy of a run went: a strip at the foot; a flow picture and tables in a tab of their own.

import { useStudio } from "../store/store";
import { number } from "../plots/format";
import type { AuditHead } from "../wire/protocol";
import { EnergyFlow } from "./EnergyFlow";
import { Icon } from "./Icon";

export function EnergyStrip() {
  const audit = useStudio((s) => s.result?.head.audit ?? null);
  if (!audit) return <div className="energy-strip" role="note" aria-label="Energy"><b>Energy</b> <span className="quiet">no audit yet</span></div>;
  const parts = largest(audit);
  const total = parts.reduce((sum, p) => sum + Math.abs(p.energy), 0) || 1;
  const isGood = Math.abs(audit.residual) <= audit.allowed;
  return (
    <div className="energy-strip" role="note" aria-label="Energy">
      <b>Energy</b>
      <span><b>{number(audit.supplied)} J</b> supplied</span>
      <span className="bar-parts" aria-hidden>
        {parts.map((p) => <span key={p.name} className={`part-${p.role}`} style={{ flexGrow: Math.max(Math.abs(p.energy) / total, 0.004) }} />)}
      </span>
      {parts.slice(0, 3).map((p) => <span key={p.name} className="part-key"><span className={`swatch part-${p.role}`} /> {p.name} <b>{number(p.energy)} J</b></span>)}
      <span className={isGood ? "good" : "bad"}><Icon name={isGood ? "check" : "warning"} size={13} /> residual {number(audit.residual, 1)} J</span>
    </div>
  );
}

/** What took most of the energy: losses, then what is stored. */
function largest(audit: AuditHead): AuditHead["elements"] {
  const takers = audit.elements.filter((e) => e.role !== "source" && e.energy !== 0);
  return takers.sort((a, b) => Math.abs(b.energy) - Math.abs(a.energy)).slice(0, 8);
}

const ROLE_WORDS = { source: "supplied", loss: "dissipated", storage: "stored", other: "other" } as const;

export function EnergyTable() {
  const audit = useStudio((s) => s.result?.head.audit ?? null);
  if (!audit) return <p className="empty">Run an experiment to see where its energy goes.</p>;
  const rows: [string, number][] = [["supplied", audit.supplied], ["dissipated", audit.dissipated], ["stored", audit.stored], ["unpowered", audit.unpowered], ["jumps", audit.jumps], ["residual", audit.residual]];
  const max = Math.max(...audit.elements.map((e) => Math.abs(e.energy)), 1e-300);
  return (
    <div className="energy-table" tabIndex={0} role="group" aria-label="Energy of elements">
      <EnergyFlow audit={audit} />
      <table>
        <thead><tr><th scope="col">The whole</th><th scope="col">J</th></tr></thead>
        <tbody>{rows.filter(([name, v]) => v !== 0 || name === "residual").map(([name, v]) => <tr key={name}><th scope="row">{name}</th><td>{number(v, 6)}</td></tr>)}</tbody>
      </table>
      <table className="elements">
        <thead><tr><th scope="col">Element</th><th scope="col">Part</th><th scope="col">J</th><th scope="col"><span className="hidden">share</span></th></tr></thead>
        <tbody>
          {[...audit.elements].sort((a, b) => Math.abs(b.energy) - Math.abs(a.energy)).map((e) => (
            <tr key={e.name}><th scope="row"><i className="name">{e.name}</i></th><td>{ROLE_WORDS[e.role]}</td><td>{number(e.energy, 6)}</td><td><span className={`share part-${e.role}`} style={{ width: `${(100 * Math.abs(e.energy)) / max}%` }} /></td></tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
