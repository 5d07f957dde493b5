// Everything that can be done, as commands: what has a button has a name here.

import { setMode } from "../panels/TopBar";
import { askNew, openInsert } from "../panels/Explorer";
import { toggleRoom } from "../panels/rooms";
import { align, saveGraph } from "../canvas/share";
import {
  cancel, chooseExperiment, chooseModel, closeFile, duplicateSelected, exportRun, groupSelected, openFile, openGallery, openSelected, pinRun, redoLast, removeSelected,
  revealItem, rewrite, run, save, select, setTheme, startLesson, undoLast,
} from "../store/actions";
import { askStudy } from "../store/studies";
import { get, set, type DockTab, type Mode, type State } from "../store/store";
import type { Rewriting, StudyKind } from "../wire/protocol";
import type { Command } from "./find";

const MODES: [Mode, string][] = [["model", "Model"], ["causality", "Causality"], ["power", "Power"], ["equations", "Equations"], ["bodies", "3D"]];
const STUDIES: [StudyKind, string][] = [
  ["poles", "Poles and zeros"], ["bode", "Bode plots"], ["step", "Step responses"], ["margins", "Gain and phase margins"], ["sweep", "Sweep over parameters"],
  ["optimize", "Optimize"], ["methods", "Four methods compared"], ["loops", "Loops through dependent storages"],
  ["control", "Controllability and observability"], ["channels", "Relative degrees, zeros and path gains"], ["inverse", "Inverse model"], ["activity", "Activity of elements"],
  ["partition", "Parts that drive others"], ["faults", "Fault signatures"],
];
const REWRITINGS: [Rewriting, string][] = [
  ["simplify", "Simplify: fewer junctions and elements"], ["scalarize", "Scalarize: vector bonds as scalar ones"],
  ["reduce", "Reduce: conserved momenta as parameters"], ["minimal", "Minimal: dependent inertias moved"],
];
const TABS: [DockTab, string][] = [["results", "Results"], ["study", "Studies"], ["energy", "Energy"], ["messages", "Messages"]];

export function commandsOf(state: State): Command[] {
  const command = (group: string, words: string, keys: string, act: () => void): Command => ({ group, words, keys, act });
  const files = state.files.filter((f) => f.kind === "model" && !f.trouble).map((f) => command("Open", f.path, "", () => void openFile(f.path)));
  const common = [
    command("File", "New model", "Ctrl N", askNew),
    command("View", state.theme === "dark" ? "Light colours" : "Dark colours", "", () => setTheme(state.theme === "dark" ? "light" : "dark")),
    command("Help", "Keyboard", "?", () => set({ keysShown: true })),
    command("Help", "About and licences", "", () => set({ aboutShown: true })),
  ];
  const gallery = state.gallery.map((g) => command("Gallery", g.title, "", () => void openGallery(g.name)));
  if (!state.open) return [...common, ...files, ...gallery];
  return [...ofRun(state, command), ...ofView(command), ...ofGraph(command), ...ofItems(state, command), command("File", "Save", "Ctrl S", () => void save()), command("File", "Start page", "", closeFile), ...common, ...files];
}

type Make = (group: string, words: string, keys: string, act: () => void) => Command;

function ofRun(state: State, command: Make): Command[] {
  return [
    command("Run", "Run the experiment", "F5", () => run(false)),
    command("Run", "Cancel the run", "Esc", cancel),
    command("Run", state.live ? "Stop running at every change" : "Run at every change", "", () => set({ live: !state.live })),
    command("Run", "Pin this run", "", pinRun),
    command("Export", "CSV: all recorded points", "", () => exportRun("csv")),
    command("Export", "Parquet: all recorded points", "", () => exportRun("parquet")),
    command("Export", "SVG: the plots", "", () => exportRun("svg")),
    command("Export", "PNG: the plots", "", () => exportRun("png")),
    ...STUDIES.map(([kind, words]) => command("Study", words, "", () => {
      showTab("study");
      askStudy(kind);
    })),
  ];
}

function ofView(command: Make): Command[] {
  return [
    ...MODES.map(([mode, words], i) => command("View", words, `Ctrl ${i + 1}`, () => setMode(mode))),
    ...TABS.map(([tab, words]) => command("View", words, "", () => showTab(tab))),
    command("View", "Explorer", "", () => toggleRoom("explorer")),
    command("View", "Text", "", () => toggleRoom("text")),
    command("View", "Inspector", "", () => toggleRoom("inspector")),
    command("View", "Causality step by step", "", () => void startLesson()),
  ];
}

function ofGraph(command: Make): Command[] {
  return [
    command("Graph", "Insert an element", "/", openInsert),
    command("Graph", "Find a node", "Ctrl F", () => set({ finds: true })),
    command("Graph", "Draw bonds", "B", () => set({ tool: "bond" })),
    command("Graph", "Select all", "Ctrl A", selectAll),
    command("Graph", "Duplicate", "Ctrl D", duplicateSelected),
    command("Graph", "Make a part of the selection", "Ctrl G", groupSelected),
    command("Graph", "Open the part in place", "Ctrl Shift G", openSelected),
    command("Graph", "Put the selection in a row", "", () => align("row")),
    command("Graph", "Put the selection in a column", "", () => align("column")),
    command("Graph", "Delete", "Delete", removeSelected),
    ...REWRITINGS.map(([how, words]) => command("Model", words, "", () => void rewrite(how))),
    command("Export", "SVG: the graph", "", () => void saveGraph("svg")),
    command("Export", "PNG: the graph", "", () => void saveGraph("png")),
    command("Edit", "Undo", "Ctrl Z", undoLast),
    command("Edit", "Redo", "Ctrl Shift Z", redoLast),
  ];
}

function ofItems(state: State, command: Make): Command[] {
  const { analysis } = state;
  const go = (list: "models" | "experiments", name: string): void => {
    if (list === "models") chooseModel(name);
    else chooseExperiment(name);
    revealItem(list, name);
  };
  return [
    ...(analysis?.models.map((m) => command("Model", m.name, "", () => go("models", m.name))) ?? []),
    ...(analysis?.experiments.map((e) => command("Experiment", e.name, "", () => go("experiments", e.name))) ?? []),
  ];
}

function showTab(dock: DockTab): void {
  set({ dock, folded: { ...get().folded, dock: false } });
}

/** All nodes of the level. */
export function selectAll(): void {
  select((get().analysis?.view?.nodes ?? []).map((n) => ({ kind: "node", id: n.id })), false);
}
