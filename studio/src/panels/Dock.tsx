// Results under the canvas: sliders, plots, runs and measures, the energy audit.

import { useEffect, useRef, useState } from "react";
import { addSlider, exportRun, pinRun, removeSlider, slide, unpinRun } from "../store/actions";
import { get, isMoved, set, useStudio, type DockTab, type Slider } from "../store/store";
import { saveGraph } from "../canvas/share";
import { ago } from "../store/recent";
import { number, unit } from "../plots/format";
import { PlotPanel } from "../plots/PlotPanel";
import { watchRoom } from "../plots/width";
import type { RunResult } from "../wire/protocol";
import { EnergyStrip, EnergyTable } from "./Energy";
import { StudyPanel } from "../studies/StudyPanel";
import { Icon } from "./Icon";
import { progressWords } from "./progress";
import { MessageList } from "./MessageList";
import { Splitter } from "./Splitter";
import { Words } from "./Words";

const TABS: [DockTab, string][] = [["results", "Results"], ["study", "Studies"], ["energy", "Energy"], ["messages", "Messages"]];

export function Dock() {
  const tab = useStudio((s) => s.dock);
  const folded = useStudio((s) => s.folded.dock);
  const count = useStudio((s) => s.analysis?.messages.length ?? 0);
  return (
    <section className={`dock ${folded ? "is-folded" : ""}`} aria-label="Results">
      {!folded && <Splitter label="Height of the results" axis="y" name="--dock-height" />}
      <div className="tabs">
        <div className="tab-list" role="tablist" aria-label="Results">
        {TABS.map(([name, words]) => (
          <button key={name} role="tab" id={`tab-${name}`} aria-controls="dock-body" className="tab" aria-selected={tab === name} onClick={() => set({ dock: name, folded: { ...get().folded, dock: false } })}>
            {words}{name === "messages" && count > 0 && <span className="count">{count}</span>}
          </button>
        ))}
        </div>
        <span className="spring" />
        <ExportMenu />
        <button className="icon-button small" aria-label={folded ? "Unfold results" : "Fold results"} onClick={() => set({ folded: { ...get().folded, dock: !folded } })}><Icon name="down" size={14} /></button>
      </div>
      {!folded && (
        <div className="dock-body" id="dock-body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          {tab === "results" && <><Sliders /><Plots /><Runs /></>}
          {tab === "study" && <StudyPanel />}
          {tab === "energy" && <EnergyTable />}
          {tab === "messages" && <MessageList />}
        </div>
      )}
      {!folded && <EnergyStrip />}
    </section>
  );
}

const FORMATS = [["csv", "CSV: all recorded points"], ["parquet", "Parquet: all recorded points"], ["svg", "SVG: the plots"], ["png", "PNG: the plots"]] as const;

function ExportMenu() {
  const hasRun = useStudio((s) => s.result !== null);
  const hasGraph = useStudio((s) => s.analysis?.view != null);
  const menu = useRef<HTMLDetailsElement>(null);
  if (!hasRun && !hasGraph) return null;
  const take = (work: () => void): void => {
    work();
    if (menu.current) menu.current.open = false;
  };
  return (
    <details className="menu" ref={menu}>
      <summary><Icon name="share" size={13} /> Export</summary>
      <div className="floating">
        {hasRun && FORMATS.map(([format, words]) => <button key={format} onClick={() => take(() => exportRun(format))}>{words}</button>)}
        {hasGraph && (["svg", "png"] as const).map((format) => <button key={format} onClick={() => take(() => void saveGraph(format))}>{format.toUpperCase()}: the graph</button>)}
      </div>
    </details>
  );
}

function Sliders() {
  const sliders = useStudio((s) => s.sliders);
  const parameters = useStudio((s) => s.analysis?.parameters);
  const free = parameters?.filter((p) => p.value !== null && !sliders.some((s) => s.name === p.name)) ?? [];
  return (
    <div className="sliders" role="group" aria-label="Parameters">
      <h3>Parameters <span className="quiet">{sliders.length > 0 ? "runs as you drag" : ""}</span></h3>
      {sliders.map((s) => <SliderRow key={s.name} slider={s} />)}
      {free.map((p) => (
        <button key={p.name} className="row add-slider" onClick={() => addSlider(p)} title={p.doc || undefined}>
          <code>{p.name}</code> <span className="quiet">{p.doc || "make a slider"}</span> <b>{p.text}</b>
        </button>
      ))}
      {parameters?.length === 0 && <p className="quiet">The model has no <code>param</code> to move.</p>}
    </div>
  );
}

function SliderRow({ slider }: { slider: Slider }) {
  const parameter = useStudio((s) => s.analysis?.parameters.find((p) => p.name === slider.name));
  const step = (slider.max - slider.min) / 100;
  const move = (value: number, rough: boolean): void => slide(slider.name, value, rough);
  return (
    <div className="slider">
      <div>
        <label htmlFor={`slider-${slider.name}`}><code>{slider.name}</code> <span className="quiet">{parameter?.doc}</span></label>
        <input
          className="amount" aria-label={`Value of ${slider.name}`} key={slider.value} defaultValue={String(Number(slider.value.toPrecision(5)))}
          onKeyDown={(e) => e.key === "Enter" && e.currentTarget.blur()}
          onBlur={(e) => {
            const value = Number(e.currentTarget.value);
            if (e.currentTarget.value.trim() && Number.isFinite(value) && value !== slider.value) move(value, false);
          }}
        />
        <span className="quiet">{unit(parameter?.unit ?? "")}</span>
        <button className="icon-button small" aria-label={`Remove the slider of ${slider.name}`} onClick={() => removeSlider(slider.name)}><Icon name="close" size={11} /></button>
      </div>
      <input
        id={`slider-${slider.name}`} type="range" min={slider.min} max={slider.max} step={step / 10} value={slider.value}
        onInput={(e) => move(Number(e.currentTarget.value), true)}
        onPointerUp={(e) => move(Number(e.currentTarget.value), false)}
        onKeyUp={(e) => e.key.startsWith("Arrow") && move(Number(e.currentTarget.value), false)}
        onKeyDown={(e) => {
          const by = e.key === "ArrowRight" || e.key === "ArrowUp" ? step : e.key === "ArrowLeft" || e.key === "ArrowDown" ? -step : 0;
          if (by === 0) return;
          e.preventDefault();
          const value = slider.value + by * (e.shiftKey ? 10 : 1);
          move(Math.min(slider.max, Math.max(slider.min, value)), true);
        }}
      />
    </div>
  );
}

/** Room for two panels; more are scrolled. */
const PANEL_HEIGHT = 104;
/** A curve in a plane is no narrow band. */
const PHASE_HEIGHT = 220;
/** One panel fills the room, within these, px. */
const [LOWEST, HIGHEST] = [130, 480];
/** A line of words above it, px. */
const LINE = 18;
/** Its caption, and space around it, px. */
const AROUND = 30;

function Plots() {
  const result = useStudio((s) => s.result);
  const running = useStudio((s) => s.running !== null);
  const stale = useStudio((s) => s.stale);
  const trouble = useStudio((s) => s.runTrouble);
  const at = useStudio((s) => s.resultAt);
  const many = (result?.head.panels.length ?? 0) > 1;
  const room = useRef<HTMLDivElement>(null);
  const [free, setFree] = useState(242);
  useEffect(() => (room.current ? watchRoom(room.current, setFree) : undefined), []);
  const isCut = result !== null && !result.head.complete && !result.head.underWay && !trouble;
  const isStale = stale && result !== null && !running;
  const lines = [trouble !== "", isCut, isStale].filter(Boolean).length;
  const whole = Math.min(HIGHEST, Math.max(LOWEST, free - AROUND - LINE * lines));
  return (
    <div ref={room} className="plots" tabIndex={0} role="group" aria-label="Curves">
      <Progress />
      {trouble && <p className="trouble-line"><Icon name="warning" size={13} /> <span><Words text={trouble} /></span></p>}
      {isCut && <p className="trouble-line"><Icon name="warning" size={13} /> {result.head.ending}: the curves end there</p>}
      {isStale && <StaleLine at={at} />}
      {!result && !trouble && <p className="empty">Run an experiment to see its curves. <kbd>F5</kbd></p>}
      {result?.head.panels.map((p, i) => <PlotPanel key={`${p.title}${i}`} index={i} result={result} height={p.isPhase ? Math.max(whole, PHASE_HEIGHT) : many ? PANEL_HEIGHT : whole} />)}
    </div>
  );
}

/** Over curves of an older text: how old they are. */
function StaleLine({ at }: { at: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 5000);
    return () => clearInterval(timer);
  }, []);
  return <p className="quiet stale-line">Last good run, {ago(at, now)}: the text has changed since.</p>;
}

function Progress() {
  const running = useStudio((s) => (s.running?.isLong ? s.running : null));
  return running === null ? null : (
    <div className="progress" role="progressbar" aria-label="Run" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(100 * running.done)} aria-valuetext={progressWords(running)}>
      <span style={{ width: `${100 * running.done}%` }} />
    </div>
  );
}

function Runs() {
  const result = useStudio((s) => s.result);
  const pinned = useStudio((s) => s.pinned);
  if (!result) return <div className="runs" />;
  const { head } = result;
  const others = pinned.filter((p) => p !== result);
  return (
    <div className="runs">
      <h3>Runs <button className="link" onClick={pinRun} disabled={pinned.includes(result) || head.underWay}>Pin this run</button></h3>
      <p className="run-key"><RunLine name="now" /> {head.experiment || head.model}, now {head.underWay ? <span>under way</span> : <span>{head.events.length > 0 && `${head.events.length} event${head.events.length === 1 ? "" : "s"}, `}{number(head.stats.ms, 2)} ms</span>}</p>
      {others.map((p, i) => (
        <p key={p.head.run} className="run-key">
          <RunLine name={`pinned${pinned.indexOf(p)}`} /> {p.head.experiment || p.head.model}, pinned <span>{number(p.head.stats.ms, 2)} ms</span>
          <button className="icon-button small" aria-label={`Unpin run ${i + 1}`} onClick={() => unpinRun(p)}><Icon name="close" size={11} /></button>
        </p>
      ))}
      {head.measures.length > 0 && (
        <table>
          <caption className="hidden">Measures</caption>
          <thead><tr><th scope="col">Measures</th><th scope="col">now</th>{others.map((p) => <th key={p.head.run} scope="col">pinned</th>)}<th scope="col"><span className="hidden">unit</span></th></tr></thead>
          <tbody>
            {head.measures.map((m) => (
              <tr key={m.name}><th scope="row"><code>{m.name}</code></th><td>{m.value === null ? "–" : number(m.value, 5)}</td>{others.map((p) => <td key={p.head.run} className="pinned">{measureOf(p, m.name)}</td>)}<td>{unit(m.unit)}</td></tr>
            ))}
          </tbody>
        </table>
      )}
      {head.comparisons.map((c) => (
        <Comparison key={c.path} file={c.path.split("/").pop() ?? c.path} worst={c.worst} good={c.good} />
      ))}
      {!head.underWay && head.ending !== "reached" && <p className="bad">{head.ending}</p>}
      {head.messages.slice(0, 3).map((m, i) => <p key={i} className="quiet">{m.text}</p>)}
    </div>
  );
}

/** A run with other values than those of the text need not agree with the reference of the experiment. */
function Comparison({ file, worst, good }: { file: string; worst: number; good: boolean }) {
  const moved = useStudio(isMoved);
  if (moved && !good) return <p className="quiet">With the sliders moved, {number(worst, 2)} apart from {file}</p>;
  return <p className={good ? "good" : "bad"}><Icon name={good ? "check" : "warning"} size={13} /> {good ? "Agrees with" : "Differs from"} {file}, {number(worst, 2)}</p>;
}

function measureOf(run: RunResult, name: string): string {
  const value = run.head.measures.find((m) => m.name === name)?.value;
  return value == null ? "" : number(value);
}

const LINES: Record<string, [string, string]> = { now: ["--run1", ""], pinned0: ["--run2", "6 3"], pinned1: ["--run4", "2 3"], pinned2: ["--run3", "8 3 2 3"] };

function RunLine({ name }: { name: string }) {
  const [stroke, dashes] = LINES[name] ?? ["--run1", ""];
  return <svg width="18" height="6" aria-hidden><path d="M0 3H18" stroke={`var(${stroke})`} strokeWidth="2" strokeDasharray={dashes} /></svg>;
}
