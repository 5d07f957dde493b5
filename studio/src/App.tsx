// The page: start, or the rooms around an open file.

import { useEffect, useSyncExternalStore } from "react";
import { BodiesPanel } from "./bodies/BodiesPanel";
import { Canvas } from "./canvas/Canvas";
import { countWords } from "./canvas/flow";
import { FirstModel } from "./lesson/FirstModel";
import { LessonPanel } from "./lesson/LessonPanel";
import { Dialogs } from "./panels/Dialogs";
import { Dock } from "./panels/Dock";
import { CommandSheet } from "./commands/CommandSheet";
import { Explorer, openInsert } from "./panels/Explorer";
import { Icon } from "./panels/Icon";
import { Inspector } from "./panels/Inspector";
import { NEEDS, toggleRoom } from "./panels/rooms";
import { Start } from "./panels/Start";
import { Status } from "./panels/Status";
import { TextPanel } from "./panels/TextPanel";
import { TopBar } from "./panels/TopBar";
import { handleKey } from "./keys";
import { set, useStudio, type Room } from "./store/store";

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
      <CommandSheet />
      <div id="announcer" className="hidden" role="status" aria-live="polite" />
    </div>
  );
}

function Rooms() {
  const view = useStudio((s) => s.analysis?.view);
  const folded = useStudio((s) => s.folded);
  const over = useStudio((s) => s.over);
  const mode = useStudio((s) => s.mode);
  const lesson = useStudio((s) => s.lesson !== null);
  return (
    <main className={["rooms", ...ROOMS.filter((r) => folded[r]).map((r) => `${r}-folded`), over && !lesson && `${over}-over`].filter(Boolean).join(" ")}>
      {lesson ? <LessonPanel /> : <><Explorer /><Rail /></>}
      <section className="canvas-panel" aria-label="Graph">
        <div className="tabs">
          <span className="tab is-current"><Icon name="graph" size={14} /> {view?.model ?? "Graph"}{view?.isForeign && <small className="quiet"> to look at only</small>}</span>
          <span className="spring" />
          <span className="quiet">{view && countWords(view)}</span>
          <RoomButtons />
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

const ROOMS = ["explorer", "text", "inspector", "dock"] as const;

/** In place of a folded explorer. */
function Rail() {
  return (
    <nav className="rail" aria-label="Rail">
      <button className="icon-button" aria-label="Show the explorer" title="Files, models, experiments, palette" onClick={() => toggleRoom("explorer")}><Icon name="folder" /></button>
      <button className="icon-button" aria-label="Insert an element" title="Insert (/)" onClick={openInsert}><Icon name="plus" /></button>
      <button className="icon-button" aria-label="Commands (Ctrl K)" title="Commands (Ctrl K)" onClick={() => set({ commandsShown: true })}><Icon name="search" /></button>
    </nav>
  );
}

/** Text and inspector, where they are not seen by themselves. */
function RoomButtons() {
  const folded = useStudio((s) => s.folded);
  const over = useStudio((s) => s.over);
  const width = useWidth();
  const hidden = (room: Room): boolean => width < NEEDS[room] || folded[room];
  const button = (room: Room, words: string) => hidden(room) && <button className="room-button" aria-pressed={over === room} onClick={() => toggleRoom(room)}>{words}</button>;
  return <>{button("text", "Text")}{button("inspector", "Inspector")}</>;
}

function useWidth(): number {
  return useSyncExternalStore((changed) => {
    window.addEventListener("resize", changed);
    return () => window.removeEventListener("resize", changed);
  }, () => window.innerWidth);
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
