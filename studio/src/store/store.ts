// The one state of the page: what the server said last, and what the user looks at.
//
// **Invariant:** values are replaced, never changed in place; panels read, `actions.ts` writes.

import { useSyncExternalStore } from "react";
import type { Kept } from "./kept";
import type { Places } from "./places";
import type { Part } from "../canvas/parts";
import type { BondPreview, Equations, Film, GalleryCard, Entry, KindCard, Reason, RunResult, LessonStep, ShownUnit, Study, StudyKind } from "../wire/protocol";

export type Mode = "model" | "causality" | "power" | "equations" | "bodies";
export type Tool = "select" | "pan" | "bond";
export type DockTab = "results" | "study" | "energy" | "messages";
export type Theme = "light" | "dark";
/** Rooms that can be put away. */
export type Room = "explorer" | "text" | "inspector";

export type Selection = { kind: "node" | "bond"; id: string };

export interface OpenFile {
  path: string;
  dirty: boolean;
  disk: "same" | "changed" | "deleted";
}

export interface Slider {
  name: string;
  value: number;
  min: number;
  max: number;
}

/** A run under way. Most are over before anybody could read of them: what shows them waits until they are long. */
export interface Running {
  run: number;
  done: number;
  isLong: boolean;
  /** By the clock of the page, ms. */
  begin: number;
}

/** What a study is told; empty means what the experiment says. */
export interface StudyFields {
  from: string;
  to: string;
  at: string;
  cut: string;
  over: string;
  want: string;
}

export interface State {
  link: "connecting" | "open" | "lost";
  retryIn: number;
  version: string;
  folder: string;
  files: Entry[];
  gallery: GalleryCard[];
  /** On the start page there is no open file. */
  open: OpenFile | null;
  /** Files with changes that are not on disk, whether they are looked at or not. */
  unsaved: ReadonlySet<string>;
  analysis: Kept | null;
  places: Places;
  model: string | null;
  level: string[];
  experiment: string | null;
  mode: Mode;
  tool: Tool;
  selection: Selection[];
  hovered: Selection | null;
  why: { bond: string; reasons: Reason[] } | null;
  equations: Equations | null;
  insert: { at: [number, number]; screen: [number, number]; text: string; from: string | null } | null;
  sliders: Slider[];
  live: boolean;
  running: Running | null;
  result: RunResult | null;
  /** When it came, by the clock. */
  resultAt: number;
  /** The curves belong to an older text. */
  stale: boolean;
  ghosts: RunResult[];
  /** Kept to compare with, oldest first. */
  pinned: RunResult[];
  /** Units that curves are shown in, by the unit they come in. */
  shownUnits: Record<string, ShownUnit>;
  /** The task of the guided first model; none when nobody is guided. */
  tour: number | null;
  finds: boolean;
  /** What the bond under the hand would be, or why it cannot be. */
  preview: { from: string; to: string; found: BondPreview | null; why: string } | null;
  lesson: { steps: LessonStep[]; at: number } | null;
  bondCurves: RunResult | null;
  /** The same for the bond under the mouse, while it rests there. */
  hoverCurves: RunResult | null;
  runTrouble: string;
  cursor: number | null;
  range: [number, number] | null;
  dock: DockTab;
  folded: Record<Room | "dock", boolean>;
  /** In a narrow window: the room that lies over the others. */
  over: Room | null;
  theme: Theme;
  keysShown: boolean;
  aboutShown: boolean;
  commandsShown: boolean;
  caret: { line: number; column: number };
  notice: string;
  historyDepths: [number, number];
  powers: RunResult | null;
  film: Film | null;
  filmTrouble: string;
  study: Study | null;
  studyKind: StudyKind;
  studyFields: StudyFields;
  studyRunning: { study: number; done: number } | null;
  studyTrouble: string;
  parts: Part[];
  kinds: KindCard[];
}

export const first: State = {
  link: "connecting", retryIn: 0, version: "", folder: "", files: [], gallery: [], open: null, unsaved: new Set(), analysis: null, places: new Map(),
  model: null, level: [], experiment: null, mode: "model", tool: "select", selection: [], hovered: null, why: null,
  equations: null, insert: null, sliders: [], live: true, running: null, result: null, resultAt: 0, stale: false, ghosts: [],
  pinned: [], shownUnits: {}, lesson: null, tour: null, finds: false, preview: null, bondCurves: null, hoverCurves: null, runTrouble: "", cursor: null, range: null, dock: "results",
  folded: { explorer: false, text: false, inspector: false, dock: false }, over: null, theme: "light", keysShown: false, aboutShown: false,
  commandsShown: false, caret: { line: 1, column: 1 }, notice: "", historyDepths: [0, 0], powers: null, film: null, filmTrouble: "", parts: [], kinds: [],
  study: null, studyKind: "poles", studyFields: { from: "", to: "", at: "", cut: "", over: "", want: "" }, studyRunning: null, studyTrouble: "",
};

/** A slider has left the value of the text: what is shown is not the experiment as written. */
export function isMoved(s: State): boolean {
  return s.sliders.some((slider) => slider.value !== s.analysis?.parameters.find((p) => p.name === slider.name)?.value);
}

type Listen = () => void;

let state = first;
const listeners = new Set<Listen>();

export function get(): State {
  return state;
}

export function set(change: Partial<State>): void {
  state = { ...state, ...change };
  for (const listen of listeners) listen();
}

export function subscribe(listen: Listen): () => void {
  listeners.add(listen);
  return () => listeners.delete(listen);
}

/** Reads a part of the state; the panel is drawn again when that part is another one. */
export function useStudio<T>(pick: (state: State) => T): T {
  return useSyncExternalStore(subscribe, () => pick(state));
}
