// Studies of the model: what takes a linear model or many runs; tables, curves, and what to know about them.

import { useState } from "react";
import { askStudy, cancelStudy, useValues } from "../store/studies";
import { useStudio } from "../store/store";
import { number, unit } from "../plots/format";
import { Icon } from "../panels/Icon";
import { Words } from "../panels/Words";
import { ChartPanel } from "../plots/ChartPanel";
import type { Study, StudyKind, StudySheet } from "../wire/protocol";
import { PoleMap } from "./PoleMap";

const KINDS: [StudyKind, string, string][] = [
  ["poles", "Poles", "poles, zeros and what moves in them"],
  ["bode", "Bode", "frequency responses"],
  ["step", "Step", "responses to a step"],
  ["margins", "Margins", "gain and phase margins of a loop"],
  ["sweep", "Sweep", "one experiment over many values, drawn ones too"],
  ["optimize", "Optimize", "the search of the experiment"],
  ["methods", "Four methods", "every treatment of the locks"],
  ["loops", "Loops", "loops through dependent storages, with their gains"],
  ["control", "Control", "what inputs reach and outputs see, with the paths"],
  ["channels", "Channels", "relative degrees, zeros, decoupling, gains of paths"],
  ["inverse", "Inverse", "the inputs that target curves need; without curves the bicausal strokes"],
  ["activity", "Activity", "the energy that elements moved, the power of bonds"],
  ["partition", "Parts", "parts that drive others and hardly feel them"],
  ["faults", "Faults", "which faults the outputs show, and tell apart"],
];
const LINEAR: StudyKind[] = ["poles", "bode", "step", "control", "channels", "inverse", "faults"];

export function StudyPanel() {
  const kind = useStudio((s) => s.studyKind);
  const study = useStudio((s) => s.study);
  const running = useStudio((s) => s.studyRunning);
  const trouble = useStudio((s) => s.studyTrouble);
  const shown = study && study.head.what === kind ? study : null;
  return (
    <div className="study">
      <div className="study-asks" role="group" aria-label="Study">
        <div className="study-kinds" role="radiogroup" aria-label="Which study">
          {KINDS.map(([name, words, doc]) => <button key={name} role="radio" aria-checked={kind === name} title={doc} onClick={() => askStudy(name)}>{words}</button>)}
        </div>
        <Fields kind={kind} />
        {running ? (
          <p className="buttons"><button className="primary" onClick={cancelStudy}><Icon name="stop" size={12} /> Cancel study</button><progress aria-label="Study" max={1} value={running.done} /></p>
        ) : (
          <p className="buttons"><button className="primary" onClick={() => askStudy(kind)}><Icon name="play" size={12} /> {KINDS.find((k) => k[0] === kind)?.[1]}</button></p>
        )}
        {shown && <ul className="notes">{shown.head.notes.map((n, i) => <li key={i}><Words text={n} /></li>)}</ul>}
      </div>
      <div className="study-curves" tabIndex={0} role="group" aria-label="Curves of the study">
        {shown?.head.facts?.poles && <PoleMap poles={shown.head.facts.poles} zeros={shown.head.facts.zeros ?? []} />}
        {shown?.head.panels.map((p, i) => <ChartPanel key={i} panel={p} curves={shown.curves[i] ?? []} height={shown.head.panels.length > 1 ? 112 : 220} />)}
        {trouble && <p className="study-trouble bad" role="alert"><Icon name="warning" size={13} /> <span><Words text={trouble} /></span></p>}
        {!shown && !running && !trouble && <p className="empty">Choose a study of {kindWords(kind)}.</p>}
      </div>
      <div className="study-tables" tabIndex={0} role="group" aria-label="Tables of the study">
        {shown?.head.facts?.svg && <img className="study-drawing" alt={`The graph with the answer: ${kindWords(kind)}`} src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(shown.head.facts.svg)}`} />}
        {shown?.head.sheets.map((s, i) => <SheetTable key={i} sheet={s} />)}
        {shown && kind === "optimize" && <button onClick={() => useValues(shown)}>Put sliders at these values</button>}
        {shown && shown.head.sheets.length > 0 && <button onClick={() => saveSheets(shown)}>Tables as CSV</button>}
      </div>
    </div>
  );
}

function kindWords(kind: StudyKind): string {
  return KINDS.find((k) => k[0] === kind)?.[2] ?? "";
}

/** What a study wants to be told; empty fields mean what the experiment says. */
function Fields({ kind }: { kind: StudyKind }) {
  const fields = useStudio((s) => s.studyFields);
  const parameters = useStudio((s) => s.analysis?.parameters ?? null);
  const first = parameters?.find((p) => p.value !== null && p.value !== 0);
  const example = first ? `${first.name} in ${first.value} .. ${2 * (first.value ?? 1)} by ${(first.value ?? 1) / 4}`.replace(/(\d)(?= (\.\.|by)|$)/g, `$1${first.unit && ` [${first.unit}]`}`) : "R1 in [10, 20, 50] [ohm]";
  if (LINEAR.includes(kind)) {
    return (
      <>
        <StudyField name="from" label="From" placeholder="inputs of the model" value={fields.from} />
        <StudyField name="to" label="To" placeholder="what is recorded" value={fields.to} />
        <StudyField name="at" label="At [s]" placeholder="the start, or at rest" value={fields.at} />
        {kind === "inverse" && <StudyField name="want" label="Want" placeholder="a curve for each output, such as sin(time)" value={fields.want} />}
      </>
    );
  }
  if (kind === "margins") return <StudyField name="cut" label="Cut at" placeholder="a signal, such as ctrl.u" value={fields.cut} />;
  if (kind === "sweep") return <StudyField name="over" label="Over" placeholder={`the experiment's, or ${example}`} value={fields.over} />;
  return null;
}

function StudyField({ name, label, placeholder, value }: { name: "from" | "to" | "at" | "cut" | "over" | "want"; label: string; placeholder: string; value: string }) {
  const kind = useStudio((s) => s.studyKind);
  const [text, setText] = useState(value);
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="code" value={text} placeholder={placeholder} title={placeholder} spellCheck={false}
        onChange={(e) => {
          setText(e.target.value);
          askStudy.field(name, e.target.value);
        }}
        onKeyDown={(e) => e.key === "Enter" && askStudy(kind)}
      />
    </label>
  );
}

const MOST_ROWS = 400;

function SheetTable({ sheet }: { sheet: StudySheet }) {
  const rows = sheet.rows.slice(0, MOST_ROWS);
  return (
    <table className="sheet-table">
      <caption>{sheet.title}</caption>
      <thead><tr>{sheet.columns.map(([name, u], i) => <th key={i} scope="col">{name}{u && <small> [{unit(u)}]</small>}</th>)}</tr></thead>
      <tbody>
        {rows.map((row, i) => <tr key={i}>{row.map((cell, k) => (k === 0 ? <th key={k} scope="row">{cellText(cell)}</th> : <td key={k}>{cellText(cell)}</td>))}</tr>)}
      </tbody>
      {sheet.rows.length > MOST_ROWS && <tfoot><tr><td colSpan={sheet.columns.length}>and {sheet.rows.length - MOST_ROWS} rows more, in the CSV</td></tr></tfoot>}
    </table>
  );
}

function cellText(cell: number | string | null): string {
  return cell === null ? "–" : typeof cell === "number" ? number(cell, 6) : cell;
}

function saveSheets(study: Study): void {
  const quote = (x: number | string | null): string => (x === null ? "" : typeof x === "number" ? String(x) : /[",\n]/.test(x) ? `"${x.replaceAll('"', '""')}"` : x);
  const text = study.head.sheets.map((s) => [s.columns.map(([n, u]) => quote(u ? `${n} [${u}]` : n)).join(","), ...s.rows.map((r) => r.map(quote).join(","))].join("\n")).join("\n\n");
  askStudy.save(`${study.head.what}.csv`, text);
}
