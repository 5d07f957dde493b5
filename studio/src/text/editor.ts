// The editors of the open files: one state per file, so that each keeps its history.
//
// In:  texts from the server, words of the user.
// Out: steps of the text, the same for both; changes of the graph come in here as well, so that one
//      history undoes all.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { diagnosticCount, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, hoverTooltip, keymap, lineNumbers, type Tooltip } from "@codemirror/view";
import type { Message, Span, TextChange } from "../wire/protocol";
import { bondLanguage } from "./bond-language";
import { plain } from "./complete";
import { hasMarks, marks, setMarks, type Marks } from "./marks";
import { toDiagnostics } from "./messages";
import { isSynced, receive, resume, syncedVersion, syncing, type Wire } from "./sync";

export interface Hooks extends Wire {
  changed(): void;
  moved(line: number, column: number, offset: number): void;
  complete(context: CompletionContext): Promise<CompletionResult | null>;
  hover(offset: number): Promise<(Span & { text: string }) | null>;
}

const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";

function extensions(version: number, hooks: Hooks): Extension[] {
  return [
    EditorView.cspNonce.of(nonce),
    EditorState.lineSeparator.of("\n"),
    EditorState.tabSize.of(4),
    indentUnit.of("    "),
    lineNumbers(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    EditorView.lineWrapping,
    lintGutter(),
    autocompletion({ override: [(context) => hooks.complete(context)], activateOnTyping: true }),
    hoverTooltip((view, pos) => hoverCard(view, pos, hooks), { hoverTime: 250 }),
    bondLanguage(),
    marks,
    overSelection,
    syncing(version, hooks),
    EditorView.contentAttributes.of({ "aria-label": "Model text", tabindex: "0", spellcheck: "false", translate: "no" }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) hooks.changed();
      if (update.docChanged || update.selectionSet) {
        const offset = update.state.selection.main.head;
        const line = update.state.doc.lineAt(offset);
        hooks.moved(line.number, offset - line.from + 1, update.selectionSet && !update.docChanged ? offset : -1);
      }
    }),
    keymap.of([
      ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap,
      indentWithTab,
    ]),
  ];
}

/** Typing over a selection: left to itself the browser would carry the colours of what goes into styles of its own, which the content policy refuses. */
const overSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { main } = view.state.selection;
    const text = event.data;
    if (event.inputType !== "insertText" || text === null || main.empty || view.composing) return false;
    const insert = (): ReturnType<typeof view.state.update> => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
    const isTaken = view.state.facet(EditorView.inputHandler).some((take) => take(view, main.from, main.to, text, insert));
    if (!isTaken) view.dispatch(insert());
    event.preventDefault();
    return true;
  },
});

async function hoverCard(view: EditorView, pos: number, hooks: Hooks): Promise<Tooltip | null> {
  const found = await hooks.hover(pos);
  if (!found || found.to > view.state.doc.length) return null;
  return {
    pos: found.from,
    end: found.to,
    above: true,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "hover-card";
      dom.textContent = plain(found.text);
      return { dom };
    },
  };
}

/** The editors of a page: one view, one state for each file. */
export class Editors {
  private states = new Map<string, EditorState>();
  private view: EditorView | null = null;
  private parent: HTMLElement | null = null;
  path = "";

  has(path: string): boolean {
    return this.states.has(path);
  }

  /** Holds the text of the server; `mine` is what it becomes by one step that the server does not have yet. */
  put(path: string, text: string, version: number, hooks: Hooks, mine = text): void {
    const theirs = EditorState.create({ doc: text, extensions: extensions(version, hooks) });
    const state = mine === text ? theirs : theirs.update({ changes: { from: 0, to: text.length, insert: mine } }).state;
    this.states.set(path, state);
    if (path === this.path) this.view?.setState(state);
  }

  /** Tells whether the text that is held here is that of the server, but for steps that are on their way. */
  follows(path: string, version: number): boolean {
    const state = path === this.path ? this.view?.state : this.states.get(path);
    return state !== undefined && syncedVersion(state) === version;
  }

  forget(path: string): void {
    this.states.delete(path);
  }

  show(path: string): void {
    this.keep();
    this.path = path;
    const state = this.states.get(path);
    if (!state) return;
    if (this.view) this.view.setState(state);
    else this.view = new EditorView({ state, ...(this.parent ? { parent: this.parent } : {}) });
  }

  mount(parent: HTMLElement): void {
    this.parent = parent;
    if (this.view) parent.append(this.view.dom);
  }

  text(): string {
    return this.view?.state.doc.toString() ?? "";
  }

  textOf(path: string): string {
    return path === this.path ? this.text() : (this.states.get(path)?.doc.toString() ?? "");
  }

  receive(path: string, version: number, updates: Parameters<typeof receive>[2]): void {
    const isShown = path === this.path && this.view !== null;
    const state = isShown ? this.view?.state : this.states.get(path);
    const step = state && receive(state, version, updates);
    if (!step) return;
    if (isShown) this.view?.dispatch(step);
    else this.states.set(path, step.state);
  }

  resume(): void {
    if (this.view) resume(this.view);
  }

  /** Waits until the server has every step of the text, though not for long. */
  async synced(): Promise<void> {
    for (let i = 0; i < 30 && this.view && !isSynced(this.view.state); i++) await new Promise((done) => setTimeout(done, 10));
  }

  /** Applies a change of the graph as one step of the history. */
  apply(changes: TextChange[]): void {
    const length = this.view?.state.doc.length ?? 0;
    if (changes.some((c) => c.to > length)) return;
    this.view?.dispatch({ changes, annotations: isolateHistory.of("full"), userEvent: "input.graph" });
  }

  undo(): boolean {
    return this.view ? undo(this.view) : false;
  }

  redo(): boolean {
    return this.view ? redo(this.view) : false;
  }

  depths(): [number, number] {
    return this.view ? [undoDepth(this.view.state), redoDepth(this.view.state)] : [0, 0];
  }

  mark(value: Marks): void {
    this.view?.dispatch({ effects: setMarks.of(value) });
  }

  reveal(span: Span, take: boolean): void {
    const view = this.view;
    if (!view || span.to > view.state.doc.length) return;
    view.dispatch({ effects: EditorView.scrollIntoView(span.from, { y: "nearest", yMargin: 60 }) });
    if (take) {
      view.dispatch({ selection: { anchor: span.from, head: span.to } });
      view.focus();
    }
  }

  /** Shows messages and marks in one step: each step lays the text out again. */
  messages(messages: Message[], marks: Marks): void {
    const view = this.view;
    if (!view) return;
    const found = toDiagnostics(messages, view.state.doc.length, (changes) => this.apply(changes));
    const effects = hasMarks(view.state) || marks.selected.length + marks.hovered.length > 0 ? [setMarks.of(marks)] : [];
    const isSilent = found.length === 0 && diagnosticCount(view.state) === 0;
    if (isSilent && effects.length === 0) return;
    if (isSilent) view.dispatch({ effects });
    else view.dispatch(setDiagnostics(view.state, found), { effects });
  }

  focus(): void {
    this.view?.focus();
  }

  private keep(): void {
    if (this.view && this.path) this.states.set(this.path, this.view.state);
  }
}

export const editors = new Editors();
