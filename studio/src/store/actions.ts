// What the user can do, and what the server's news does to the state.
//
// **Invariant:** only this room writes the state; the server holds the truth about texts, so a change of
// the graph goes: ask the server for the change of text, apply it in the editor, which tells the server.

import { complete } from "../text/complete";
import { editors, type Hooks } from "../text/editor";
import type { Marks } from "../text/marks";
import { Connection } from "../wire/connection";
import type { Analysis, BondPreview, Edited, Equations, FileFrame, Film, Focus, Frame, GraphEdit, Hello, LessonStep, Offer, Opened, Parameter, Reason, Rewriting, RunResult, ServerEvent, ShownUnit, Span, Study } from "../wire/protocol";
import { Picture } from "../wire/picture";
import { rasterise } from "../plots/raster";
import { plotWidth } from "../plots/width";
import { announce } from "./announce";
import { keptAnalysis } from "./kept";
import { placesOf } from "./places";
import { remember } from "./recent";
import { failStudy, progressStudy, takeStudy } from "./studies";
import { get, set, type Selection, type Slider, type Theme } from "./store";

/** Below this nothing tells that the page waits, and a hand does not rest, ms: what comes and goes at once is worse than nothing. */
const QUIET = 150;

let connection: Connection;
/** What the server has sent of pictures on this connection. */
let picture = new Picture();

export function connect(): void {
  const address = new URL("./socket", window.location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.search = "";
  address.hash = "";
  connection = new Connection(address.href, {
    event: take,
    result: takeResult,
    connected: (again) => void begin(again),
    lost: (retryIn) => set({ link: "lost", retryIn, running: null }),
  });
}

/** Says something in the bar at the foot, for a while. */
export function notice(text: string): void {
  set({ notice: text });
  announce(text);
  setTimeout(() => get().notice === text && set({ notice: "" }), 6000);
}

function trouble(error: unknown): void {
  notice(error instanceof Error ? error.message : String(error));
}

async function begin(again: boolean): Promise<void> {
  picture = new Picture();
  lastText = "";
  const hello = await connection.ask<Hello>("hello");
  const path = get().open?.path ?? pathInAddress() ?? hello.opened;
  set({ version: hello.version, folder: hello.folder, files: hello.files, gallery: hello.gallery, parts: hello.parts, kinds: hello.kinds });
  if (again) await restore(path);
  if (path) await openFile(path, again).catch(trouble);
  set({ link: "open" });
}

/** The server may have started anew: what was typed in files that are not looked at is put over what it read from the disk. */
async function restore(shown: string | null): Promise<void> {
  for (const path of get().unsaved) {
    if (path === shown || !editors.has(path)) continue;
    const opened = await connection.ask<Opened>("open", { path }).catch(() => null);
    if (opened) editors.put(path, opened.text, opened.version, hooksOf(path), editors.textOf(path));
  }
}

function markUnsaved(path: string, isUnsaved: boolean): void {
  const { unsaved } = get();
  if (unsaved.has(path) === isUnsaved) return;
  const next = new Set(unsaved);
  if (isUnsaved) next.add(path);
  else next.delete(path);
  set({ unsaved: next });
}

/** What the address says about where the user was: it survives a reload. */
function pathInAddress(): string | null {
  const words = new URLSearchParams(window.location.hash.slice(1));
  return words.get("file");
}

function writeAddress(): void {
  const { open, model, level, experiment } = get();
  const words = new URLSearchParams();
  if (open) words.set("file", open.path);
  if (model) words.set("model", model);
  if (level.length > 0) words.set("level", level.join("."));
  if (experiment) words.set("experiment", experiment);
  window.history.replaceState(null, "", words.size > 0 ? `#${words}` : window.location.pathname);
}

export async function openFile(path: string, again = false): Promise<void> {
  const isSame = get().open?.path === path;
  const opened = await connection.ask<Opened>("open", { path });
  // After a lost connection the server may have started anew: what the page holds is newer than the disk.
  const mine = again && editors.has(path) ? editors.textOf(path) : null;
  if (editors.follows(path, opened.version) && (!again || editors.textOf(path) === opened.text)) {
    // What was open before still has its history.
    editors.show(path);
    editors.resume();
  } else {
    editors.put(path, opened.text, opened.version, hooksOf(path), mine ?? opened.text);
    editors.show(path);
    editors.resume();
  }
  const isUnsaved = opened.dirty || editors.textOf(path) !== opened.text;
  markUnsaved(path, isUnsaved);
  const words = new URLSearchParams(window.location.hash.slice(1));
  const isFromAddress = words.get("file") === path;
  const kept = isSame ? { model: get().model, level: get().level, experiment: get().experiment } : null;
  set({
    open: { path, dirty: isUnsaved, disk: "same" },
    model: kept ? kept.model : isFromAddress ? words.get("model") : null,
    level: kept ? kept.level : isFromAddress ? (words.get("level")?.split(".") ?? []) : [],
    experiment: kept ? kept.experiment : isFromAddress ? words.get("experiment") : null,
    ...(isSame ? {} : { selection: [], why: null, result: null, ghosts: [], pinned: [], sliders: [], analysis: null, bondCurves: null, film: null, filmTrouble: "", study: null, studyTrouble: "", runTrouble: "" }),
  });
  set({ historyDepths: editors.depths() });
  remember(get().folder, path);
  focus();
}

export function closeFile(): void {
  set({ open: null, analysis: null, result: null, selection: [], model: null, level: [], experiment: null, sliders: [] });
  writeAddress();
}

export async function openGallery(name: string): Promise<void> {
  const { path } = await connection.ask<{ path: string }>("take", { name });
  await openFile(path);
}

export async function newFile(name: string, text: string): Promise<void> {
  try {
    const { path } = await connection.ask<{ path: string }>("new", { name, text });
    await openFile(path);
  } catch (error) {
    trouble(error);
  }
}

/** Says which model at which level is looked at; the server answers with an analysis at every change. */
export function focus(): void {
  const { open, model, level, experiment } = get();
  if (!open) return;
  const focus: Focus = { path: open.path, model, level, experiment };
  connection.ask("focus", focus).catch(trouble);
  writeAddress();
}

function hooksOf(path: string): Hooks {
  return {
    push: (version, updates) => connection.ask("push", { path, version, updates }),
    changed: () => {
      const { open } = get();
      markUnsaved(path, true);
      if (open?.path === path && !open.dirty) set({ open: { ...open, dirty: true } });
      const [undoes, redoes] = editors.depths();
      const [knownUndoes, knownRedoes] = get().historyDepths;
      if (undoes !== knownUndoes || redoes !== knownRedoes) set({ historyDepths: [undoes, redoes] });
      growStale();
    },
    moved: (line, column, offset) => {
      set({ caret: { line, column } });
      if (offset >= 0) selectAt(offset);
    },
    complete: (context) => complete(context, async () => {
      await editors.synced();
      return connection.ask<Offer[]>("complete", { path, at: context.pos });
    }),
    hover: (at) => connection.ask<(Span & { text: string }) | null>("hover", { path, at }).catch(() => null),
  };
}

// ------------------------------------------------------------------ news

function take(event: ServerEvent): void {
  const { open } = get();
  switch (event.event) {
    case "analysis": {
      const view = picture.take(event);
      if (event.path === open?.path) takeAnalysis({ ...event, view });
      return;
    }
    case "updates":
      editors.receive(event.path, event.version, event.updates);
      return;
    case "saved":
      markUnsaved(event.path, false);
      if (event.path === open?.path) set({ open: { ...open, dirty: false, disk: "same" } });
      return;
    case "disk":
      if (event.path === open?.path) set({ open: { ...open, disk: event.state } });
      return;
    case "files":
      set({ files: event.files });
      return;
    case "no_curves":
      if (event.of === only(get().selection)?.id) set({ bondCurves: null });
      return;
    case "study_progress":
      progressStudy(event.study, event.done);
      return;
    case "study_failed":
      failStudy(event.study, event.why);
      return;
    case "no_scene":
      set({ film: null, filmTrouble: event.why });
      return;
    case "failed":
      if (get().running?.run === event.run) set({ running: null, runTrouble: event.why, stale: true });
      staysFresh();
      return;
    case "progress": {
      const { running } = get();
      if (running && running.run === event.run) set({ running: { ...running, done: event.done } });
    }
  }
}

/** What the last analysis was of. */
let lastText = "";

function takeAnalysis(news: Analysis): void {
  const before = get().analysis;
  const analysis = keptAnalysis(before, news);
  const view = analysis.view;
  const wanted = pendingSelection;
  const chosen = get().selection;
  // What is the same stays the same object: nothing of it is drawn again.
  const isKnown = (s: Selection): boolean => (s.kind === "node" ? view?.nodes : view?.bonds)?.some((x) => x.id === s.id) ?? false;
  const isOther = before?.view !== view;
  set({
    analysis,
    places: view && isOther ? placesOf(before?.view ?? null, get().places, view, get().kinds) : get().places,
    selection: chosen.every(isKnown) ? chosen : chosen.filter(isKnown),
    why: null,
    lesson: !isOther || sameGraph(before?.view ?? null, view) ? get().lesson : null,
    sliders: followParameters(get().sliders, analysis.parameters),
  });
  editors.messages(analysis.messages, marksNow());
  if (wanted && isKnown(wanted)) {
    pendingSelection = null;
    select([wanted]);
  }
  const errors = analysis.messages.filter((m) => m.severity === "error");
  announce(errors.length > 0 ? `${errors.length} errors: ${errors[0]?.text}` : "no errors");
  const isFirst = before === null || before.path !== analysis.path;
  // Who enters a part or comes back has changed nothing.
  const text = `${analysis.path} ${analysis.version} ${analysis.top} ${get().experiment}`;
  const isOtherText = before === null || text !== lastText;
  lastText = text;
  // An error elsewhere in the file does not keep this experiment from running; the server says if one does.
  if (isOtherText && (get().live || (isFirst && errors.length === 0))) run(false);
  if (get().mode === "equations" || get().equations) void loadEquations();
}

/** A lesson goes on while the graph has the same nodes and bonds. */
function sameGraph(a: Analysis["view"], b: Analysis["view"]): boolean {
  const ids = (v: Analysis["view"]): string => [...(v?.nodes ?? []), ...(v?.bonds ?? [])].map((x) => x.id).join();
  return ids(a) === ids(b);
}

/** A slider stays where it is unless the text gives its parameter another value. */
export function followParameters(sliders: Slider[], parameters: Parameter[]): Slider[] {
  return sliders.filter((s) => parameters.some((p) => p.name === s.name && p.value !== null));
}

// ------------------------------------------------------------------ looking

let pendingSelection: Selection | null = null;

export function select(selection: Selection[], reveal = true): void {
  set({ selection, why: null });
  markWords(reveal);
  const chosen = only(selection);
  if (chosen?.kind === "bond") void askWhy(chosen.id);
  void loadBondCurves();
}

export function hover(hovered: Selection | null): void {
  if (get().hovered?.id === hovered?.id) return;
  set({ hovered, hoverCurves: null });
  markWords(false);
  clearTimeout(restTimer);
  if (hovered?.kind === "bond") restTimer = setTimeout(() => askHovered(hovered.id), QUIET);
}

let restTimer: ReturnType<typeof setTimeout> | undefined;
/** Curves of a bond take a run of their own: a longer one is not worth a glance, ms. */
const LONGEST_FOR_A_GLANCE = 250;

function askHovered(bond: string): void {
  const { result, selection, bondCurves, hovered } = get();
  if (hovered?.id !== bond || !result || result.head.stats.ms > LONGEST_FOR_A_GLANCE) return;
  if (only(selection)?.id === bond && bondCurves) return set({ hoverCurves: bondCurves });
  connection.ask("curves", { of: bond, width: 120 }).catch(() => undefined);
}

function spanOf(s: Selection): Span | null {
  const { analysis } = get();
  const list = s.kind === "node" ? analysis?.view?.nodes : analysis?.view?.bonds;
  const spans = s.kind === "node" ? analysis?.spans.nodes : analysis?.spans.bonds;
  return spanAt(spans ?? [], list?.findIndex((x) => x.id === s.id) ?? -1);
}

function spanAt(spans: number[], at: number): Span | null {
  const [from, to] = [spans[2 * at], spans[2 * at + 1]];
  return from === undefined || to === undefined || from < 0 ? null : { from, to };
}

function marksNow(): Marks {
  const { selection, hovered } = get();
  const of = (list: Selection[]): Span[] => list.map(spanOf).filter((s) => s !== null);
  return { selected: of(selection), hovered: hovered ? of([hovered]) : [] };
}

function markWords(reveal = false): void {
  const marks = marksNow();
  editors.mark(marks);
  if (reveal && marks.selected[0]) editors.reveal(marks.selected[0], false);
}

/** The caret went to a place of the text: what stands there is selected on the canvas. */
function selectAt(offset: number): void {
  const { analysis } = get();
  const view = analysis?.view;
  if (!view) return;
  const spans = view.nodes.map((_, at) => spanAt(analysis.spans.nodes, at));
  let found = -1;
  spans.forEach((s, at) => {
    if (s && s.from <= offset && offset <= s.to && width(s) < width(spans[found] ?? null)) found = at;
  });
  const id = view.nodes[found]?.id;
  const selection: Selection[] = id !== undefined ? [{ kind: "node", id }] : [];
  if (selection[0]?.id === get().selection[0]?.id && selection.length === get().selection.length) return;
  set({ selection, why: null });
  queueMicrotask(() => markWords(false));
}

function width(s: Span | null): number {
  return s ? s.to - s.from : Infinity;
}

export async function askWhy(bond: string): Promise<void> {
  const { open } = get();
  if (!open) return;
  try {
    const reasons = await connection.ask<Reason[]>("why", { bond });
    if (get().selection.some((s) => s.id === bond)) set({ why: { bond, reasons } });
  } catch (error) {
    trouble(error);
  }
}

/** Lights an algebraic loop on the graph, bond by bond in its order; once more puts it out. */
export function showLoop(at: number): void {
  const { analysis, why } = get();
  const name = `loop ${at}`;
  const loop = analysis?.facts.loops[at];
  if (!loop || why?.bond === name) return set({ why: null });
  const here = new Set(analysis?.view?.bonds.map((b) => b.id));
  const reasons = loop.bonds.filter((b) => here.has(b)).map((b): Reason => ({ text: "", nodes: [], bonds: [b] }));
  if (reasons.length === 0) return notice("this loop runs inside of parts: enter them to see it");
  set({ selection: [], why: { bond: name, reasons } });
}

/** Selects the dependent storages, or the parts that they are in. */
export function selectDependent(): void {
  const { analysis } = get();
  const nodes = analysis?.view?.nodes ?? [];
  const found = new Set((analysis?.facts.dependent ?? []).map((name) => nodes.find((n) => name === n.id || name.startsWith(`${n.id}.`) || name.startsWith(`${n.id}[`))?.id));
  const selection = [...found].filter((id) => id !== undefined).map((id): Selection => ({ kind: "node", id }));
  if (selection.length > 0) select(selection);
}

export async function loadEquations(): Promise<void> {
  const { open } = get();
  if (!open) return;
  const equations = await connection.ask<Equations>("equations").catch(() => null);
  set({ equations });
}

export function enter(node: string): void {
  const { analysis, level } = get();
  const found = analysis?.view?.nodes.find((n) => n.id === node);
  if (!found?.model) return;
  set({ level: [...level, found.name], selection: [], why: null });
  focus();
}

export function leaveTo(depth: number): void {
  set({ level: get().level.slice(0, depth), selection: [], why: null });
  focus();
}

export function chooseModel(model: string): void {
  const { analysis, experiment } = get();
  const fits = analysis?.experiments.find((e) => e.name === experiment)?.model === model;
  const other = analysis?.experiments.find((e) => e.model === model)?.name ?? null;
  set({ model, level: [], selection: [], why: null, sliders: [], ghosts: [], film: null, filmTrouble: "", experiment: fits ? experiment : other });
  focus();
}

export function chooseExperiment(experiment: string): void {
  const model = get().analysis?.experiments.find((e) => e.name === experiment)?.model ?? null;
  set({ experiment, model, level: [], sliders: [], ghosts: [], result: null, range: null, film: null, filmTrouble: "", cursor: null });
  focus();
}

/** Shows where the text has a model, an experiment or a parameter. */
export function revealItem(list: "models" | "experiments" | "parameters", name: string): void {
  const { analysis } = get();
  const span = analysis?.itemSpans[list][analysis[list].findIndex((item) => item.name === name)];
  if (span && analysis?.path === editors.path) editors.reveal(span, false);
}

export function setTheme(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
  localStorage.setItem("theme", theme);
  set({ theme });
}

// ------------------------------------------------------------------ changing

/** Changes the graph: the server says what to write, the editor writes it. */
export async function change(edit: GraphEdit): Promise<boolean> {
  const { open } = get();
  if (!open) return false;
  try {
    const edited = await connection.ask<Edited>("edit", { path: open.path, edit });
    pendingSelection = edited.select ? { kind: "node", id: edited.select } : null;
    editors.apply(edited.changes);
    return true;
  } catch (error) {
    trouble(error);
    return false;
  }
}

/** Writes the whole model in other words: one step of the history, and what was done as a notice. */
export async function rewrite(how: Rewriting): Promise<void> {
  const { open } = get();
  if (!open) return;
  try {
    const edited = await connection.ask<Edited>("edit", { path: open.path, edit: { kind: "rewrite", how } });
    editors.apply(edited.changes);
    notice(edited.said.filter((line) => !line.startsWith("map ")).join("; "));
  } catch (error) {
    trouble(error);
  }
}

export function removeSelected(): void {
  const { selection } = get();
  if (selection.length === 0) return;
  const of = (kind: Selection["kind"]): string[] => selection.filter((s) => s.kind === kind).map((s) => s.id);
  void change({ kind: "delete", nodes: of("node"), bonds: of("bond") });
}

function selectedNodes(): string[] {
  return get().selection.filter((s) => s.kind === "node").map((s) => s.id);
}

export function duplicateSelected(): void {
  const nodes = selectedNodes();
  if (nodes.length > 0) void change({ kind: "duplicate", nodes });
}

/** Makes a model of what is selected, under a name that is free; it can be renamed in the text. */
export function groupSelected(): void {
  const nodes = selectedNodes();
  if (nodes.length === 0) return notice("select the nodes that are to become a part");
  const taken = new Set(get().analysis?.models.map((m) => m.name));
  let name = "Group";
  for (let n = 2; taken.has(name); n++) name = `Group${n}`;
  void change({ kind: "group", nodes, name });
}

/** Puts the content of the selected part in its place. */
export function openSelected(): void {
  const [node, ...others] = selectedNodes();
  if (!node || others.length > 0) return notice("select one part to open it in place");
  void change({ kind: "ungroup", node });
}

export function undoLast(): void {
  editors.undo();
}

export function redoLast(): void {
  editors.redo();
}

export async function save(over = false): Promise<void> {
  const { open } = get();
  if (!open) return;
  try {
    const answer = await connection.ask<{ changed: boolean }>("save", { path: open.path, over });
    if (answer.changed) set({ open: { ...open, disk: "changed" } });
    else notice(`${open.path} saved`);
  } catch (error) {
    trouble(error);
  }
}

/** Takes the text on disk in place of the one in the page; undo brings the latter back. */
export async function takeDisk(): Promise<void> {
  const { open } = get();
  if (!open) return;
  try {
    const { text } = await connection.ask<{ text: string }>("disk", { path: open.path });
    editors.apply([{ from: 0, to: editors.text().length, insert: text }]);
    set({ open: { ...open, disk: "same" } });
    await save(true);
  } catch (error) {
    trouble(error);
  }
}

// ------------------------------------------------------------------ running

let lastRun = 0;
/** A run is expected to follow the text sooner than this, ms; later the curves are those of an older text. */
const FRESH = 400;
let staleTimer: ReturnType<typeof setTimeout> | undefined;

/** The text has changed: unless a run follows soon, its curves are old. */
function growStale(): void {
  clearTimeout(staleTimer);
  staleTimer = setTimeout(() => get().stale || set({ stale: true }), FRESH);
}

function staysFresh(): void {
  clearTimeout(staleTimer);
}

export function run(rough: boolean): void {
  const { open } = get();
  if (!open) return;
  const number = ++lastRun;
  const { experiment: chosen, model: shown, values } = runChoice();
  set({ running: { run: number, done: 0, isLong: false, begin: performance.now() }, runTrouble: "" });
  setTimeout(() => {
    const { running } = get();
    if (running?.run === number) set({ running: { ...running, isLong: true } });
  }, QUIET);
  const [from, to] = get().range ?? [null, null];
  const what = { run: number, path: open.path, experiment: chosen, model: shown, set: values, rough, width: plotWidth(), from, to };
  connection.ask("run", what).catch((error: unknown) => {
    if (get().running?.run === number) set({ running: null });
    trouble(error);
  });
}

/** What a run or study is of: experiment, model, and the values of sliders. */
export function runChoice(): { experiment: string | null; model: string | null; values: [string, string][] } {
  const { analysis, experiment, model, sliders } = get();
  const shown = analysis?.models.some((m) => m.name === model) ? model : (analysis?.top ?? null);
  const first = analysis?.experiments.find((e) => e.model === shown)?.name ?? null;
  // An experiment that the text has no more is not run: the first of the model is.
  const chosen = analysis?.experiments.some((e) => e.name === experiment) ? experiment : first;
  return { experiment: chosen, model: shown, values: changedValues(sliders) };
}

/** Asks the server; for the rooms that have actions of their own. */
export function askServer<T>(what: string, details: object = {}): Promise<T> {
  return connection.ask<T>(what, details);
}

/** Hands a file to the user. */
export function saveText(name: string, content: string | Blob, kind = "text/plain"): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type: kind }) : content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Values of sliders as one would type them, with the unit of the parameter. */
function changedValues(sliders: Slider[]): [string, string][] {
  return sliders.map((s) => {
    const unit = get().analysis?.parameters.find((p) => p.name === s.name)?.unit;
    return [s.name, unit ? `${s.value} [${unit}]` : String(s.value)];
  });
}

export function cancel(): void {
  if (get().running) connection.ask("cancel").catch(trouble);
}

function takeResult(result: Frame): void {
  if (result.head.purpose === "file") return takeFile(result as FileFrame);
  if (result.head.purpose === "study") return takeStudy(result as Study);
  if (isFilm(result)) return set({ film: result, filmTrouble: "" });
  takeRun(result as RunResult);
}

function isFilm(result: Frame): result is Film {
  return result.head.purpose === "scene";
}

function takeRun(result: RunResult): void {
  const state = get();
  if (result.head.purpose === "curves") return takeCurves(result);
  if (result.head.purpose === "powers") return set({ powers: result });
  if (result.head.purpose === "zoom") return takeZoom(result);
  if (result.head.run < (state.result?.head.run ?? 0)) return;
  const isLast = state.running?.run === result.head.run;
  if (isLast) staysFresh();
  if (result.head.underWay) return set({ result, stale: false, range: sameSpan(state.result, result) ? state.range : null });
  // A curve that was only begun is no earlier position of a slider.
  const before = state.result?.head.underWay ? null : state.result;
  const ghosts = before && result.head.rough ? [...state.ghosts, before].slice(-MOST_GHOSTS) : result.head.rough ? state.ghosts : [];
  set({
    result,
    resultAt: Date.now(),
    ghosts,
    stale: false,
    ...(isLast ? { running: null } : {}),
    range: sameSpan(state.result, result) ? state.range : null,
  });
  if (result.head.rough) return;
  void loadBondCurves();
  if (state.mode === "power") void loadPowers();
}

/** A part of the present curves or of pinned ones, in finer points. */
function takeZoom(part: RunResult): void {
  const { result, pinned } = get();
  const finer = (run: RunResult): RunResult => ({ head: { ...run.head, panels: part.head.panels, from: part.head.from, to: part.head.to }, curves: part.curves });
  const isIt = (run: RunResult | null): run is RunResult => run?.head.run === part.head.run;
  if (isIt(result)) {
    // A pinned run may be the present one.
    const next = finer(result);
    return set({ result: next, pinned: pinned.includes(result) ? pinned.map((p) => (p === result ? next : p)) : pinned });
  }
  if (pinned.some(isIt)) set({ pinned: pinned.map((p) => (isIt(p) ? finer(p) : p)) });
}

/** Curves of the selected bond or node, or of the one under the mouse. */
function takeCurves(result: RunResult): void {
  const of = result.head.panels[0]?.title;
  const { selection, hovered } = get();
  if (of === only(selection)?.id) set({ bondCurves: result });
  if (of === hovered?.id) set({ hoverCurves: result });
}

function only(selection: Selection[]): Selection | undefined {
  return selection.length === 1 ? selection[0] : undefined;
}

/** Asks for the bodies of the last run; they are kept until another run has others. */
export function loadScene(): void {
  const { open, result, mode } = get();
  if (!open || !result || mode !== "bodies" || result.head.rough) return;
  connection.ask("scene").catch(() => undefined);
}

/** More earlier positions of a slider than this hide the curve. */
const MOST_GHOSTS = 12;

function sameSpan(a: RunResult | null, b: RunResult): boolean {
  return a !== null && a.head.experiment === b.head.experiment && a.head.path === b.head.path;
}

export function zoom(range: [number, number] | null): void {
  set({ range });
  const [from, to] = range ?? [null, null];
  connection.ask("zoom", { from, to, width: plotWidth() }).catch(() => undefined);
}

async function loadBondCurves(): Promise<void> {
  const { selection, open, result } = get();
  const chosen = only(selection);
  if (!chosen || !open || !result) {
    if (get().bondCurves) set({ bondCurves: null });
    return;
  }
  await connection.ask("curves", { of: chosen.id, width: 300 }).catch(() => set({ bondCurves: null }));
}

/** Power on every bond over time, for the bands on the canvas. */
export async function loadPowers(): Promise<void> {
  const { open, result } = get();
  if (!open || !result) return;
  await connection.ask("powers", { width: 400 }).catch(() => set({ powers: null }));
}

export function addSlider(parameter: Parameter): void {
  if (parameter.value === null) return;
  set({ sliders: [...get().sliders.filter((s) => s.name !== parameter.name), sliderFor(parameter.name, parameter.value)] });
}

export function removeSlider(name: string): void {
  set({ sliders: get().sliders.filter((s) => s.name !== name) });
  run(false);
}

/** From nothing to twice the value; around zero where the value says nothing. */
export function sliderFor(name: string, value: number): Slider {
  if (value === 0) return { name, value, min: -1, max: 1 };
  return value > 0 ? { name, value, min: 0, max: 2 * value } : { name, value, min: 2 * value, max: 0 };
}

export function slide(name: string, value: number, rough: boolean): void {
  const sliders = get().sliders.map((s) =>
    s.name === name ? { ...s, value, min: Math.min(s.min, value), max: Math.max(s.max, value) } : s,
  );
  set({ sliders });
  run(rough);
}

/** More than these cannot be told apart. */
const MOST_PINNED = 3;

/** Keeps the present run to compare with. */
export function pinRun(): void {
  const { result, pinned } = get();
  if (result && !result.head.underWay && !pinned.includes(result)) setPinned([...pinned, result].slice(-MOST_PINNED));
}

export function unpinRun(run: RunResult): void {
  setPinned(get().pinned.filter((p) => p !== run));
}

/** The server keeps the whole curves of pinned runs, for zooming. */
function setPinned(pinned: RunResult[]): void {
  set({ pinned });
  connection.ask("pin", { runs: pinned.map((p) => p.head.run) }).catch(() => undefined);
}

/** Units that a unit can be shown in. */
export function unitsLike(unit: string): Promise<ShownUnit[]> {
  return connection.ask<ShownUnit[]>("units", { unit }).catch(() => []);
}

export function showUnit(own: string, shown: ShownUnit | undefined): void {
  const { [own]: _, ...rest } = get().shownUnits;
  set({ shownUnits: shown && shown.unit !== own ? { ...rest, [own]: shown } : rest });
}

let wantsPicture = false;

/** Saves the last run: all recorded points, or its pictures. */
export function exportRun(format: "csv" | "parquet" | "svg" | "png"): void {
  wantsPicture = format === "png";
  connection.ask("export", { format: format === "png" ? "svg" : format }).catch(trouble);
}

function takeFile({ head, bytes }: FileFrame): void {
  const blob = new Blob([bytes], { type: head.kind });
  if (!wantsPicture) return saveText(head.name, blob);
  wantsPicture = false;
  rasterise(blob).then((picture) => saveText(head.name.replace(/svg$/, "png"), picture), trouble);
}

/** Steps through the assignment of causality; nothing ends the lesson. */
export async function startLesson(): Promise<void> {
  const steps = await connection.ask<LessonStep[]>("lesson").catch(() => []);
  if (steps.length === 0) return notice("there is no lesson: the model has errors, or nothing to decide");
  set({ lesson: { steps, at: 0 }, mode: "causality", why: null, selection: [] });
}

export function stepLesson(at: number | null): void {
  const { lesson } = get();
  if (!lesson) return;
  set({ lesson: at === null ? null : { ...lesson, at: Math.min(Math.max(at, 0), lesson.steps.length - 1) } });
}

/** Asks what a bond between two nodes would be, once for each pair. */
export function previewBond(from: string | null, to: string | null): void {
  const { open, preview } = get();
  if (!open || from === null || to === null || from === to) {
    if (preview) set({ preview: null });
    return;
  }
  if (preview?.from === from && preview.to === to) return;
  const show = (found: BondPreview | null, why: string): void => {
    if (get().preview?.from === from && get().preview?.to === to) set({ preview: { from, to, found, why } });
  };
  set({ preview: { from, to, found: null, why: "" } });
  connection.ask<BondPreview>("preview", { path: open.path, from, to }).then((found) => show(found, ""), (error: unknown) => show(null, error instanceof Error ? error.message : String(error)));
}

/** What is selected as statements of the language; none if nothing is. */
export async function copySelected(): Promise<string | null> {
  const { open, selection } = get();
  const nodes = selection.filter((s) => s.kind === "node").map((s) => s.id);
  if (!open || nodes.length === 0) return null;
  try {
    return await connection.ask<string>("copy", { path: open.path, nodes });
  } catch (error) {
    trouble(error);
    return null;
  }
}
