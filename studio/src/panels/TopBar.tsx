// The bar at the top: where we are, undo, modes, experiment, run.

import { cancel, chooseExperiment, closeFile, leaveTo, loadEquations, loadPowers, redoLast, run, setTheme, undoLast } from "../store/actions";
import { get, set, useStudio, type Mode } from "../store/store";
import { Icon } from "./Icon";

const MODES: [Mode, string][] = [["model", "Model"], ["causality", "Causality"], ["power", "Power"], ["equations", "Equations"], ["bodies", "3D"]];

export function TopBar() {
  const open = useStudio((s) => s.open);
  return (
    <header className="top-bar">
      <div className="place">
        <button className="mark" aria-label="Start page" title="Start page" onClick={() => closeFile()}>
          <img src="./mark.svg" alt="" width="24" height="24" />
        </button>
        {open ? <Breadcrumb /> : <b>Paynter Studio</b>}
        {open && <Undo />}
      </div>
      {open && <Modes />}
      <div className="acts">
        {open && <Run />}
        <ThemeButton />
      </div>
    </header>
  );
}

function Breadcrumb() {
  const folder = useStudio((s) => s.folder);
  const open = useStudio((s) => s.open);
  const model = useStudio((s) => s.analysis?.view?.model ?? "");
  const root = useStudio((s) => s.analysis?.top ?? "");
  const level = useStudio((s) => s.level);
  return (
    <nav className="breadcrumb" aria-label="Where">
      <span>{folder.split("/").filter(Boolean).pop() ?? folder}</span>
      <span>{open?.path}</span>
      {level.length > 0 ? <button onClick={() => leaveTo(0)}>{root}</button> : <b>{model}</b>}
      {level.map((name, i) =>
        i + 1 < level.length ? <button key={i} onClick={() => leaveTo(i + 1)}>{name}</button> : <b key={i}>{name}</b>,
      )}
    </nav>
  );
}

function Undo() {
  const [undoes, redoes] = useStudio((s) => s.historyDepths);
  return (
    <div className="undo">
      <button className="icon-button" aria-label="Undo (Ctrl Z)" title="Undo (Ctrl Z)" disabled={undoes === 0} onClick={undoLast}><Icon name="undo" /></button>
      <button className="icon-button" aria-label="Redo (Ctrl Shift Z)" title="Redo (Ctrl Shift Z)" disabled={redoes === 0} onClick={redoLast}><Icon name="redo" /></button>
    </div>
  );
}

export function setMode(mode: Mode): void {
  set({ mode });
  if (mode === "equations") void loadEquations();
  if (mode === "power") void loadPowers();
}

function Modes() {
  const mode = useStudio((s) => s.mode);
  return (
    <div className="modes" role="radiogroup" aria-label="Mode">
      {MODES.map(([name, words], i) => (
        <button key={name} role="radio" aria-checked={mode === name} title={`Ctrl ${i + 1}`} onClick={() => setMode(name)}>{words}</button>
      ))}
    </div>
  );
}

function Run() {
  const experiments = useStudio((s) => s.analysis?.experiments ?? null);
  const shown = useStudio((s) => s.result?.head.experiment ?? "");
  const experiment = useStudio((s) => s.experiment);
  const running = useStudio((s) => s.running?.isLong ?? false);
  const live = useStudio((s) => s.live);
  return (
    <div className="run">
      <label className="experiment">
        <Icon name="flask" />
        <select aria-label="Experiment" value={experiment ?? shown} onChange={(e) => chooseExperiment(e.target.value)} disabled={!experiments?.length}>
          {!experiments?.length && <option value="">no experiment</option>}
          {experiments?.map((e) => <option key={e.name} value={e.name}>{e.name}</option>)}
        </select>
      </label>
      <button className="live" aria-pressed={live} title="Run by itself at every change" onClick={() => { set({ live: !live }); if (!get().live) return; run(false); }}>
        <span className="dot" /> Live
      </button>
      {running ? (
        <button className="primary" onClick={cancel}><Icon name="stop" size={12} /> Cancel <kbd>Esc</kbd></button>
      ) : (
        <button className="primary" onClick={() => run(false)}><Icon name="play" size={12} /> Run <kbd>F5</kbd></button>
      )}
    </div>
  );
}

function ThemeButton() {
  const theme = useStudio((s) => s.theme);
  const next = theme === "dark" ? "light" : "dark";
  return (
    <>
      <button className="icon-button" aria-label="Keyboard (?)" title="Keyboard (?)" onClick={() => set({ keysShown: true })}><kbd>?</kbd></button>
      <button className="icon-button" aria-label="About" title="About" onClick={() => set({ aboutShown: true })}><Icon name="info" /></button>
      <button className="icon-button" aria-label={`Change to ${next}`} title={`Change to ${next}`} onClick={() => setTheme(next)}><Icon name={theme === "dark" ? "sun" : "moon"} /></button>
    </>
  );
}
