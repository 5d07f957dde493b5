// The page: start, or the rooms around an open file.

import { useEffect } from "react";
import { BodiesPanel } from "./bodies/BodiesPanel";
import { Canvas } from "./canvas/Canvas";
import { countWords } from "./canvas/flow";
import { FirstModel } from "./lesson/FirstModel";
import { LessonPanel } from "./lesson/LessonPanel";
import { Dialogs } from "./panels/Dialogs";
import { Dock } from "./panels/Dock";
import { Explorer } from "./panels/Explorer";
import { Icon } from "./panels/Icon";
import { Inspector } from "./panels/Inspector";
import { Start } from "./panels/Start";
import { Status } from "./panels/Status";
import { TextPanel } from "./panels/TextPanel";
import { TopBar } from "./panels/TopBar";
import { handleKey } from "./keys";
import { useStudio } from "./store/store";

export function App() {
  const open = useStudio((s) => s.open !== null);
  const link = useStudio((s) => s.link);
  useEffect(() => {
    window.addEventListener("keydown", handleKey);
    return () => window.removeEventListener("keydown", handleKey);
  }, []);
  return (
    <div className={`page ${open ? "is-working" : "is-start"}`}>
      <TopBar />
      {link === "lost" && <LostBar />}
      {open ? <Rooms /> : link === "connecting" ? <main className="start" /> : <Start />}
      {open && <Status />}
      <Dialogs />
      <div id="announcer" className="hidden" role="status" aria-live="polite" />
    </div>
  );
}

function Rooms() {
  const view = useStudio((s) => s.analysis?.view);
  const folded = useStudio((s) => s.folded);
  const mode = useStudio((s) => s.mode);
  const lesson = useStudio((s) => s.lesson !== null);
  return (
    <main className={`rooms ${folded.dock ? "dock-folded" : ""}`}>
      {lesson ? <LessonPanel /> : <Explorer />}
      <section className="canvas-panel" aria-label="Graph">
        <div className="tabs">
          <span className="tab is-current"><Icon name="graph" size={14} /> {view?.model ?? "Graph"}{view?.isForeign && <small className="quiet"> to look at only</small>}</span>
          <span className="spring" />
          <span className="quiet">{view && countWords(view)}</span>
        </div>
        <FirstModel />
        {mode === "bodies" ? <BodiesPanel /> : <Canvas />}
      </section>
      <TextPanel />
      <Inspector />
      <Dock />
    </main>
  );
}

function LostBar() {
  const retry = useStudio((s) => s.retryIn);
  return (
    <div className="bar bar-lost" role="alert">
      <b><Icon name="link" size={14} /> Connection lost, again in {retry} s</b>
      <span>You can go on editing; nothing is lost. If paynter was stopped, start it again with the same address.</span>
    </div>
  );
}
