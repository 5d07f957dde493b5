// Asking for studies, and what their news does to the state.

import type { Study, StudyKind } from "../wire/protocol";
import { askServer, notice, runChoice, saveText, slide, addSlider } from "./actions";
import { get, set, type StudyFields } from "./store";

let last = 0;

/** Starts a study; a newer one replaces it. */
export function askStudy(kind: StudyKind): void {
  const { open, studyFields: f } = get();
  if (!open) return;
  const study = ++last;
  set({ studyKind: kind, studyTrouble: "", studyRunning: { study, done: 0 } });
  const { experiment, model, values } = runChoice();
  const at = f.at.trim() === "" ? null : Number(f.at);
  if (at !== null && !Number.isFinite(at)) return set({ studyTrouble: `${f.at} is no time`, studyRunning: null });
  const over = kind === "sweep" && f.over.trim() ? f.over.split(";") : [];
  askServer("study", { study, what: kind, path: open.path, experiment, model, set: values, from: f.from, to: f.to, cut: f.cut, want: f.want, at, over }).catch((error: unknown) => {
    set({ studyRunning: null, studyTrouble: error instanceof Error ? error.message : String(error) });
  });
}

askStudy.field = (name: keyof StudyFields, text: string): void => set({ studyFields: { ...get().studyFields, [name]: text } });
askStudy.save = (name: string, text: string): void => saveText(name, text, "text/csv");

export function cancelStudy(): void {
  if (get().studyRunning) askServer("cancel_study").catch(() => undefined);
}

export function takeStudy(study: Study): void {
  const { studyRunning, studyKind } = get();
  if (studyRunning?.study !== study.head.run) return;
  set({ study: { ...study, head: { ...study.head, what: studyKind } }, studyRunning: null });
}

export function failStudy(number: number, why: string): void {
  if (get().studyRunning?.study === number) set({ studyRunning: null, studyTrouble: why });
}

export function progressStudy(number: number, done: number): void {
  if (get().studyRunning?.study === number) set({ studyRunning: { study: number, done } });
}

/** Puts sliders where a search ended, and runs. */
export function useValues(study: Study): void {
  let n = 0;
  for (const [name, value] of study.head.facts?.values ?? []) {
    const parameter = get().analysis?.parameters.find((p) => p.name === name && p.value !== null);
    if (!parameter) continue;
    addSlider(parameter);
    slide(name, value, false);
    n += 1;
  }
  if (n > 0) set({ dock: "results" });
  else notice("what was searched is no parameter of the model itself");
}
