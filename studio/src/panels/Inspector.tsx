// What is selected: its value, its causality with reasons, its curves, its equations.

import { useEffect, useState } from "react";
import { change, duplicateSelected, enter, groupSelected, openSelected, removeSelected, select, showLoop } from "../store/actions";
import { useStudio } from "../store/store";
import { KIND_WORDS } from "../canvas/flow";
import { Sample } from "../canvas/Legend";
import { align } from "../canvas/share";
import { number } from "../plots/format";
import type { AlgebraicLoop, BondView, KindCard, NodeView, Reason } from "../wire/protocol";
import { EquationsWith } from "./EquationList";
import { Icon } from "./Icon";
import { toggleRoom } from "./rooms";
import { SignalRows } from "./SignalRows";
import { Words } from "./Words";

export function Inspector() {
  const selection = useStudio((s) => s.selection);
  const view = useStudio((s) => s.analysis?.view);
  const only = selection.length === 1 ? selection[0] : undefined;
  const node = only?.kind === "node" ? view?.nodes.find((n) => n.id === only.id) : undefined;
  const bond = only?.kind === "bond" ? view?.bonds.find((b) => b.id === only.id) : undefined;
  return (
    <aside className="inspector" aria-label="Inspector" tabIndex={0}>
      <button className="icon-button small close-room" aria-label="Fold the inspector" title="Fold the inspector" onClick={() => toggleRoom("inspector")}><Icon name="right" size={14} /></button>
      {node && <NodeSheet key={node.id} node={node} />}
      {bond && <BondSheet key={bond.id} bond={bond} />}
      {!node && !bond && <ModelSheet count={selection.length} />}
    </aside>
  );
}

function NodeSheet({ node }: { node: NodeView }) {
  const view = useStudio((s) => s.analysis?.view);
  const bonds = view?.bonds.filter((b) => b.tail === node.id || b.head === node.id) ?? [];
  return (
    <>
      <header>
        <h2 className="element-title">{node.letters}{node.name && <>:<i>{node.name}</i></>}</h2>
        <p>{node.doc || KIND_WORDS[node.letters.replace(/^M(?=[A-Z])/, "")] || (node.model ? `part of model ${node.model}` : "")}</p>
        {node.trouble && <p className="bad">{node.trouble}</p>}
      </header>
      {!view?.isForeign && <NodeFields node={node} />}
      {bonds.length > 0 && (
        <section>
          <h3>Bonds</h3>
          <ul className="bond-rows">
            {bonds.map((b) => (
              <li key={b.id}><button className="row" onClick={() => select([{ kind: "bond", id: b.id }])}><Sample kind={b.class} /> {nameOf(view?.nodes, b.tail)} → {nameOf(view?.nodes, b.head)}</button></li>
            ))}
          </ul>
        </section>
      )}
      <Signals />
      <EquationsWith name={node.name} />
      {!view?.isForeign && (
        <section className="buttons">
          {node.model && <button onClick={() => enter(node.id)}>Enter</button>}
          {node.model && <button onClick={openSelected}>Open in place</button>}
          <button onClick={duplicateSelected}>Duplicate</button>
          <button onClick={removeSelected}>Delete</button>
        </section>
      )}
    </>
  );
}

function nameOf(nodes: NodeView[] | undefined, id: string): string {
  const node = nodes?.find((n) => n.id === id);
  return node?.name || node?.letters || id;
}

/** Name and value; a change becomes one step of the text. */
function NodeFields({ node }: { node: NodeView }) {
  return (
    <section className="fields">
      <Field label="Name" value={node.name} take={(name) => void change({ kind: "rename", node: node.id, name })} />
      <KindChoice node={node} />
      {node.kind === "box" && <Field label="Arguments" value={node.written} take={(value) => void change({ kind: "value", node: node.id, value })} isCode />}
      {node.kind !== "junction" && node.kind !== "box" && <Field label="Value" value={node.written} take={(value) => void change({ kind: "value", node: node.id, value })} isCode />}
    </section>
  );
}

/** Kinds that can take one another's place: the same number of ports, and a value that means the same thing in the text. */
function KindChoice({ node }: { node: NodeView }) {
  const kinds = useStudio((s) => s.kinds);
  const own = kinds.find((k) => k.kind === node.letters);
  const ports = (k: KindCard): string => (k.nature === "junction" || k.nature === "twoport" ? k.nature : "oneport");
  const like = kinds.filter((k) => own && ports(k) === ports(own) && k.value === own.value);
  if (like.length < 2) return null;
  return (
    <label className="field">
      <span>Kind</span>
      <select value={node.letters} onChange={(e) => void change({ kind: "kind", node: node.id, part: e.target.value })}>
        {like.map((k) => <option key={k.kind} value={k.kind}>{k.kind}, {KIND_WORDS[k.kind] ?? k.words}</option>)}
      </select>
    </label>
  );
}

function Field({ label, value, take, isCode }: { label: string; value: string; take: (v: string) => void; isCode?: boolean }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const finish = (): void => {
    if (text.trim() && text !== value) take(text.trim());
    else setText(value);
  };
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className={isCode ? "code" : ""} value={text} spellCheck={false} onChange={(e) => setText(e.target.value)} onBlur={finish}
        onKeyDown={(e) => {
          if (e.key === "Enter") finish();
          if (e.key === "Escape") setText(value);
        }}
      />
    </label>
  );
}

const CLASS_NAMES: Record<BondView["class"], string> = { plain: "implied", preferred: "integral", derivative: "derivative", forced: "forced", undetermined: "no stroke", conflict: "conflict" };

function BondSheet({ bond }: { bond: BondView }) {
  const view = useStudio((s) => s.analysis?.view);
  const why = useStudio((s) => s.why);
  return (
    <>
      <header>
        <h2 className="element-title"><i>{nameOf(view?.nodes, bond.tail)}</i> ⇀ <i>{nameOf(view?.nodes, bond.head)}</i></h2>
        <p>{bond.dimension > 1 ? `multibond of ${bond.dimension}` : bond.isMulti ? "multibond" : "bond"}</p>
        {bond.trouble && <p className="bad">{bond.trouble}</p>}
      </header>
      <section>
        <h3>Causality <span className={`pill pill-${bond.class}`}>{CLASS_NAMES[bond.class]}</span></h3>
        {why?.bond === bond.id ? <Reasons reasons={why.reasons} /> : <p className="quiet">…</p>}
        {!view?.isForeign && (
          <p className="buttons">
            <button onClick={() => void change({ kind: "reverse", bond: bond.id })}>Reverse <kbd>X</kbd></button>
            {bond.forced ? (
              <button onClick={() => void change({ kind: "force", bond: bond.id, end: "none" })}>Free the stroke</button>
            ) : (
              <>
                <button onClick={() => void change({ kind: "force", bond: bond.id, end: "tail" })}>Force at tail</button>
                <button onClick={() => void change({ kind: "force", bond: bond.id, end: "head" })}>at head</button>
              </>
            )}
          </p>
        )}
      </section>
      <Signals />
      {!view?.isForeign && <section className="buttons"><button onClick={removeSelected}>Delete</button></section>}
    </>
  );
}

export function Reasons({ reasons }: { reasons: Reason[] }) {
  if (reasons.length === 0) return <p className="quiet">No stroke is set here yet.</p>;
  return (
    <ol className="reasons">
      {reasons.map((r, i) => <li key={i}><Words text={r.text} /></li>)}
    </ol>
  );
}

/** e, f and power of what is selected, at the time of the cursor. */
function Signals() {
  const result = useStudio((s) => s.bondCurves);
  const cursor = useStudio((s) => s.cursor);
  if (!result?.head.panels[0]) return null;
  const end = result.curves[0]?.[0]?.x.at(-1) ?? 0;
  const at = cursor ?? end;
  return (
    <section>
      <h3>Signals <span className="quiet">at {number(at)} s</span></h3>
      <SignalRows result={result} at={at} />
    </section>
  );
}

function SeveralSheet({ count, isForeign }: { count: number; isForeign: boolean }) {
  return (
    <>
      <header><h2>{count} selected</h2><p>Arrows move them.</p></header>
      {!isForeign && (
        <section className="buttons">
          <button onClick={groupSelected}>Make a part <kbd>Ctrl G</kbd></button>
          <button onClick={() => align("row")}>In a row</button>
          <button onClick={() => align("column")}>In a column</button>
          <button onClick={duplicateSelected}>Duplicate</button>
          <button onClick={removeSelected}>Delete</button>
        </section>
      )}
    </>
  );
}

/** More names than this are a wall. */
const MOST_NAMES = 60;

function Names({ names, kind }: { names: string[]; kind?: string }) {
  return (
    <p className="names">
      {names.slice(0, MOST_NAMES).map((s) => <code key={s} className={kind}>{s}</code>)}
      {names.length > MOST_NAMES && <span className="quiet">and {names.length - MOST_NAMES} more</span>}
    </p>
  );
}

function ModelSheet({ count }: { count: number }) {
  const facts = useStudio((s) => s.analysis?.facts);
  const view = useStudio((s) => s.analysis?.view);
  const doc = useStudio((s) => s.analysis?.models.find((m) => m.name === s.analysis?.view?.model)?.doc);
  if (!facts) return null;
  if (count > 1) return <SeveralSheet count={count} isForeign={view?.isForeign ?? true} />;
  return (
    <>
      <header>
        <h2>{view?.model ?? "No model"}</h2>
        <p>{doc}</p>
      </header>
      {facts.order !== null && (
        <section>
          <h3>States <span className="quiet">order {facts.order}</span></h3>
          <Names names={facts.states} />
          {facts.dependent.length > 0 && <><h3>Dependent storages</h3><Names names={facts.dependent} kind="derivative" /></>}
        </section>
      )}
      {facts.loops.length > 0 && (
        <section>
          <h3>Algebraic loops <span className="quiet">solved together</span></h3>
          {facts.loops.slice(0, MOST_LOOPS).map((loop, i) => <LoopRow key={i} at={i} loop={loop} />)}
          {facts.nLoops > MOST_LOOPS && <p className="quiet">and {facts.nLoops - MOST_LOOPS} more</p>}
        </section>
      )}
      <Inputs />
    </>
  );
}

const MOST_LOOPS = 20;

function LoopRow({ at, loop: { variables, nVariables } }: { at: number; loop: AlgebraicLoop }) {
  const isLit = useStudio((s) => s.why?.bond === `loop ${at}`);
  const more = nVariables - variables.length;
  return <button className="row loop-row" aria-pressed={isLit} title="Show the loop on the graph" onClick={() => showLoop(at)}><span>{variables.join(" → ")}{more > 0 && ` and ${more} more`}</span></button>;
}

function Inputs() {
  const parameters = useStudio((s) => s.analysis?.parameters);
  if (!parameters || parameters.length === 0) return null;
  return (
    <section>
      <h3>Parameters</h3>
      <dl className="parameters">
        {parameters.map((p) => <div key={p.name} title={p.doc || undefined}><dt><code>{p.name}</code></dt><dd>{p.text}</dd></div>)}
      </dl>
    </section>
  );
}
