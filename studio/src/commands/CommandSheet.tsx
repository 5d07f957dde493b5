// Ctrl K: type what to do, Enter does it.

import { useEffect, useMemo, useRef, useState } from "react";
import { get, set, useStudio } from "../store/store";
import { commandsOf } from "./commands";
import { find, type Command } from "./find";

export function CommandSheet() {
  const isShown = useStudio((s) => s.commandsShown);
  return isShown ? <Open /> : null;
}

function Open() {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const all = useMemo(() => commandsOf(get()), []);
  const found = useMemo(() => find(all, text), [all, text]);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, found]);
  const close = (): void => set({ commandsShown: false });
  const take = (command: Command | undefined): void => {
    if (!command) return;
    close();
    // After the sheet is gone, so that what the command focuses keeps the focus.
    setTimeout(command.act);
  };
  const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
  return (
    <dialog ref={dialog} className="commands floating" aria-label="Commands" onClose={close} onClick={(e) => e.target === dialog.current && close()}>
      <input
        autoFocus value={text} placeholder="Type a command, a model, an experiment or a file" aria-label="Command" role="combobox" aria-expanded="true" aria-controls="command-list" aria-activedescendant={`command-${chosen}`} spellCheck={false}
        onChange={(e) => {
          setText(e.target.value);
          setChosen(0);
        }}
        onKeyDown={(e) => {
          e.stopPropagation();
          const step = steps[e.key];
          if (step !== undefined) setChosen(Math.min(Math.max(chosen + step, 0), Math.max(found.length - 1, 0)));
          else if (e.key === "Enter") take(found[chosen]);
          // At once: left to the dialog it would be closed a moment later, and Ctrl K would not open it meanwhile.
          else if (e.key === "Escape") close();
          else return;
          e.preventDefault();
        }}
      />
      <ul ref={list} id="command-list" role="listbox" aria-label="Commands found">
        {found.map((c, i) => (
          <li key={`${c.group} ${c.words}`} id={`command-${i}`} role="option" aria-selected={i === chosen} onMouseMove={() => i !== chosen && setChosen(i)} onClick={() => take(c)}>
            <small>{c.group}</small> <span>{c.words}</span> {c.keys && <kbd>{c.keys}</kbd>}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="empty">No command has these words.</p>}
    </dialog>
  );
}
