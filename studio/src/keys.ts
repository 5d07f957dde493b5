// Keys that work everywhere on the page.

import { selectAll } from "./commands/commands";
import { askNew } from "./panels/Explorer";
import { setMode } from "./panels/TopBar";
import { cancel, duplicateSelected, groupSelected, openSelected, redoLast, run, save, select, undoLast } from "./store/actions";
import { get, set, type Mode } from "./store/store";

const MODES: Mode[] = ["model", "causality", "power", "equations", "bodies"];
const PANELS = [".explorer button", ".canvas .react-flow__node, .canvas", ".cm-content", ".inspector button, .inspector input", ".dock button"];

export function handleKey(event: KeyboardEvent): void {
  const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, .cm-content") !== null;
  const word = `${event.ctrlKey || event.metaKey ? "Ctrl " : ""}${event.shiftKey ? "Shift " : ""}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`;
  if (act(word, isTyping, event)) event.preventDefault();
}

function act(word: string, isTyping: boolean, event: KeyboardEvent): boolean {
  const isInEditor = event.target instanceof HTMLElement && event.target.closest(".cm-content") !== null;
  switch (word) {
    case "Ctrl s": void save(); return true;
    case "F5": if (get().open) run(false); return true;
    case "Ctrl n": askNew(); return true;
    case "Ctrl k": set({ commandsShown: !get().commandsShown }); return true;
    case "Ctrl .": if (!get().open) return false; showMessages(); return true;
    case "Ctrl a": if (isTyping || !isOnCanvas(event)) return false; selectAll(); return true;
    case " ": return !isTyping && playOrPause(event);
    case "F6": nextPanel(); return true;
    case "Ctrl z": if (isInEditor || isTyping) return false; undoLast(); return true;
    case "Ctrl Shift z": case "Ctrl y": if (isInEditor || isTyping) return false; redoLast(); return true;
    case "Ctrl f": if (isTyping || !get().open || get().mode === "bodies") return false; set({ finds: true }); return true;
    case "Ctrl d": if (isTyping || !get().open) return false; duplicateSelected(); return true;
    case "Ctrl g": if (isTyping || !get().open) return false; groupSelected(); return true;
    case "Ctrl Shift g": if (isTyping || !get().open) return false; openSelected(); return true;
    // Who has used it already, such as a list of completions, has closed something of its own.
    case "Escape": if (event.defaultPrevented) return false; else if (get().over) set({ over: null }); else if (get().running) cancel(); else if (!isTyping && (get().selection.length > 0 || get().why)) select([]); return false;
    case "?": case "Shift ?": if (isTyping) return false; set({ keysShown: true }); return true;
  }
  const mode = /^Ctrl ([1-5])$/.exec(word)?.[1];
  if (mode && get().open) {
    setMode(MODES[Number(mode) - 1] as Mode);
    return true;
  }
  return false;
}

function isOnCanvas(event: KeyboardEvent): boolean {
  return event.target === document.body || (event.target instanceof HTMLElement && event.target.closest(".canvas") !== null);
}

/** Messages with their fixes, the first of which gets the focus. */
function showMessages(): void {
  set({ dock: "messages", folded: { ...get().folded, dock: false } });
  requestAnimationFrame(() => document.querySelector<HTMLElement>(".messages .fix, .messages .head")?.focus());
}

/** Space plays where there is time to play, but presses a button that has the focus. */
function playOrPause(event: KeyboardEvent): boolean {
  if (event.target instanceof HTMLElement && event.target.closest("button, summary, a, [role=tab]")) return false;
  const button = document.querySelector<HTMLButtonElement>(".play-bar [data-play], .time-bar [data-play]");
  button?.click();
  return button !== null;
}

/** Explorer, canvas, text, inspector, results, and round again. */
function nextPanel(): void {
  const here = PANELS.findIndex((p) => document.activeElement?.matches(p));
  for (let i = 1; i <= PANELS.length; i++) {
    const next = document.querySelector<HTMLElement>(PANELS[(here + i) % PANELS.length] ?? "");
    if (next) return next.focus();
  }
}
