// A guided first model of five minutes: what to do next, ticked off as it is done, in the real page on a real file.

import { useEffect } from "react";
import { newFile, select } from "../store/actions";
import { set, useStudio, type State } from "../store/store";
import { Icon } from "../panels/Icon";

interface Task {
  words: string;
  keys: string;
  isDone(state: State): boolean;
}

const has = (letters: string) => (s: State): boolean => s.analysis?.view?.nodes.some((n) => n.letters === letters) ?? false;
const joined = (letters: string) => (s: State): boolean => {
  const view = s.analysis?.view;
  const ids = new Set(view?.nodes.filter((n) => n.letters === letters).map((n) => n.id));
  return view?.bonds.some((b) => ids.has(b.tail) || ids.has(b.head)) ?? false;
};

export const TASKS: Task[] = [
  { words: "A loop of a circuit has one current: place a 1-junction. Click “same flow” in the palette, or type on the canvas", keys: "1", isDone: has("1") },
  { words: "A battery sets the voltage: a source of effort. With the junction selected, type", keys: "Se 5 [V]", isDone: joined("Se") },
  { words: "A resistor loses energy. With the junction selected, type", keys: "R 1000 [ohm]", isDone: joined("R") },
  { words: "A capacitor stores it. With the junction selected, type", keys: "C 1 [uF]", isDone: joined("C") },
  { words: "The strokes appeared by themselves: blue means that the capacitor integrates, so its charge is the state. Click its bond to read why", keys: "", isDone: (s) => s.why !== null && s.why.reasons.length > 0 },
  { words: "Run it: the curves are below", keys: "F5", isDone: (s) => s.result !== null && s.result.head.complete && s.result.head.panels.length > 0 && joined("C")(s) },
  { words: "See where the energy goes: choose Power at the top, and move the time", keys: "Ctrl 3", isDone: (s) => s.mode === "power" },
  { words: "The text at the right is the truth: change 1000 to 2000 in it, and the curve follows", keys: "", isDone: (s) => s.analysis?.view?.nodes.some((n) => n.letters === "R" && /2000/.test(n.written)) ?? false },
  { words: "Save it. The command line runs the same file", keys: "Ctrl S", isDone: (s) => s.open !== null && !s.open.dirty },
];

export function beginFirstModel(): void {
  set({ tour: 0 });
  void newFile("first.bond", "/// My first model.\nmodel First {\n}\n\nexperiment go of First { stop = 5 [ms] }\n").then(() => select([]));
}

export function FirstModel() {
  const at = useStudio((s) => s.tour);
  const task = at === null ? undefined : TASKS[at];
  const isDone = useStudio((s) => (task ? task.isDone(s) : false));
  useEffect(() => {
    if (isDone && at !== null) set({ tour: at + 1 });
  }, [isDone, at]);
  if (at === null) return null;
  return (
    <div className="first-model floating" role="note" aria-label="First model" aria-live="polite">
      <b>First model <span className="quiet">{Math.min(at + 1, TASKS.length)} of {TASKS.length}</span></b>
      {task ? (
        <p>{task.words}{task.keys && <> <kbd>{task.keys}</kbd></>}.</p>
      ) : (
        <p><Icon name="check" size={13} /> Done: a model, its strokes, its curves, its energy and its file. Sliders for <code>param</code>s, Studies and 3D wait for the next one.</p>
      )}
      <span className="buttons">
        {task && <button onClick={() => set({ tour: at + 1 })}>Skip</button>}
        <button onClick={() => set({ tour: null })}>{task ? "Leave" : "Close"}</button>
      </span>
    </div>
  );
}
