// Files, models, experiments, and the palette at the foot.

import { change, chooseExperiment, chooseModel, newFile, openFile, revealItem } from "../store/actions";
import { get, isMoved, set, useStudio } from "../store/store";
import type { RunResult } from "../wire/protocol";
import { basicParts } from "../canvas/parts";
import { Icon } from "./Icon";
import { toggleRoom } from "./rooms";

export function Explorer() {
  return (
    <aside className="explorer" aria-label="Explorer">
      <div className="lists">
        <Files />
        <Models />
        <Experiments />
      </div>
      <Palette />
    </aside>
  );
}

function Files() {
  const files = useStudio((s) => s.files);
  const open = useStudio((s) => s.open);
  const folder = useStudio((s) => s.folder);
  const unsaved = useStudio((s) => s.unsaved);
  return (
    <section aria-label="Files">
      <h2>
        <span className="heading">Files</span>
        <button className="icon-button small" aria-label="New model (Ctrl N)" title="New model (Ctrl N)" onClick={askNew}><Icon name="plus" size={13} /></button>
        <button className="icon-button small" aria-label="Fold the explorer" title="Fold the explorer" onClick={() => toggleRoom("explorer")}><Icon name="left" size={13} /></button>
      </h2>
      <ul>
        <li className="folder"><Icon name="folder" size={14} /> {folder.split("/").filter(Boolean).pop() ?? "/"}</li>
        {files.map((f) => (
          <li key={f.path} style={{ paddingLeft: 12 + 12 * (f.depth + 1) }}>
            {f.kind === "model" && !f.trouble ? (
              <button className="row" aria-current={open?.path === f.path} onClick={() => void openFile(f.path)}>
                <Icon name="file" size={14} /> <span>{f.name}</span>
                {unsaved.has(f.path) && <span className="dirty" role="img" aria-label="not saved" />}
              </button>
            ) : (
              <span className="row still" title={f.trouble || undefined}>
                <Icon name={f.kind === "folder" ? "folder" : "file"} size={14} /> <span>{f.name}</span>
                {f.trouble && <small className="trouble">{f.trouble}</small>}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function askNew(): void {
  const taken = new Set(get().files.map((f) => f.path));
  let name = "model.bond";
  for (let n = 2; taken.has(name); n++) name = `model${n}.bond`;
  void newFile(name, "model Model {\n}\n\nexperiment run of Model { stop = 1 [s] }\n");
}

function Models() {
  const models = useStudio((s) => s.analysis?.models);
  const shown = useStudio((s) => s.analysis?.top);
  const order = useStudio((s) => s.analysis?.facts.order);
  if (!models || models.length === 0) return null;
  return (
    <section aria-label="Models">
      <h2>Models <span>order</span></h2>
      <ul>
        {models.map((m) => (
          <li key={m.name}>
            <button className="row" aria-current={shown === m.name} title={m.doc || undefined} onClick={() => { chooseModel(m.name); revealItem("models", m.name); }}>
              <i className="letter">{m.isPart ? "P" : "M"}</i> <span>{m.name}</span>
              {shown === m.name && order != null && <small>{order}</small>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Experiments() {
  const experiments = useStudio((s) => s.analysis?.experiments);
  const shown = useStudio((s) => s.experiment ?? s.result?.head.experiment);
  const result = useStudio((s) => s.result);
  const moved = useStudio(isMoved);
  if (!experiments || experiments.length === 0) return null;
  return (
    <section aria-label="Experiments">
      <h2>Experiments <span>{experiments.length}</span></h2>
      <ul>
        {experiments.map((e) => (
          <li key={e.name}>
            <button className="row" aria-current={shown === e.name} onClick={() => { chooseExperiment(e.name); revealItem("experiments", e.name); }}>
              <Icon name="flask" size={14} /> <code>{e.name}</code>
              {result?.head.experiment === e.name && result.head.comparisons.length > 0 && !(moved && !isGood(result)) && <Verdict good={isGood(result)} />}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function isGood(result: RunResult): boolean {
  return result.head.comparisons.every((c) => c.good);
}

export function Verdict({ good }: { good: boolean }) {
  return <span className={good ? "good" : "bad"} role="img" aria-label={good ? "agrees with its reference" : "differs from its reference"}><Icon name={good ? "check" : "close"} size={13} /></span>;
}

function Palette() {
  const kinds = useStudio((s) => s.kinds);
  const isForeign = useStudio((s) => s.analysis?.view?.isForeign ?? true);
  const place = (kind: string, value: string): void => {
    const { selection } = get();
    const only = selection.length === 1 && selection[0]?.kind === "node" ? selection[0].id : null;
    void change({ kind: "add", part: kind, value, at: only ? null : freePlace(), to: only });
  };
  return (
    <section className="palette" aria-label="Palette">
      <button className="insert-field" onClick={openInsert} disabled={isForeign}>
        <Icon name="search" size={13} /> Insert: R, 1, Gear … <kbd>/</kbd>
      </button>
      <div className="tiles">
        {basicParts(kinds).map((part) => (
          <button
            key={part.kind} disabled={isForeign} draggable title={`${part.what ?? part.words}: click to place, or drag onto the canvas`}
            onDragStart={(e) => e.dataTransfer.setData("application/x-part", JSON.stringify([part.kind, part.value]))}
            onClick={() => place(part.kind, part.value)}
          >
            <b className={/^[01]$/.test(part.kind) ? "junction" : ""}>{part.kind}</b>
            <small>{part.words}</small>
          </button>
        ))}
      </div>
    </section>
  );
}

export function openInsert(): void {
  const area = document.querySelector(".canvas")?.getBoundingClientRect();
  if (!area) return;
  const { selection } = get();
  const from = selection.length === 1 && selection[0]?.kind === "node" ? selection[0].id : null;
  set({ insert: { at: freePlace(), screen: [area.left + 40, area.top + area.height / 3], text: "", from } });
}

/** A place right of everything. */
export function freePlace(): [number, number] {
  const places = [...get().places.values()];
  if (places.length === 0) return [0, 0];
  const right = Math.max(...places.map((p) => p[0]));
  return [right + 110, (places[0] as [number, number])[1]];
}
