// The two sheets over the page: keys, and what it is made of.

import { useEffect, useRef, useState, type ReactNode } from "react";
import { set, useStudio } from "../store/store";

const KEYS: [string, string][] = [
  ["Ctrl K", "commands"], ["/ or letters", "insert by typing"], ["Ctrl S", "save"], ["Ctrl Z, Ctrl Shift Z", "undo, redo: text and graph"], ["F5", "run"], ["Esc", "cancel, deselect"],
  ["F2", "rename"], ["Delete", "delete"], ["X", "reverse a bond"], ["C", "force a stroke"], ["B, V, H", "draw bonds, select, pan"], ["F", "fit to window"],
  ["Ctrl C, X, V", "copy, cut, paste as text"], ["Ctrl D", "duplicate"], ["Ctrl G, Ctrl Shift G", "make a part of the selection, open a part in place"], ["Ctrl F", "find on the canvas"], ["Ctrl A", "select all"], ["Ctrl .", "messages and fixes"], ["Space", "play, pause"], ["Tab", "next node or bond"], ["Arrows", "move the selection"], ["Ctrl 1 … 5", "modes"], ["F6", "next panel"], ["Ctrl N", "new model"], ["Double-click", "enter a part"],
];

export function Dialogs() {
  const keys = useStudio((s) => s.keysShown);
  const about = useStudio((s) => s.aboutShown);
  if (keys) return <Sheet title="Keyboard" close={() => set({ keysShown: false })}><dl className="keys">{KEYS.map(([key, words]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{words}</dd></div>)}</dl></Sheet>;
  if (about) return <About />;
  return null;
}

function About() {
  const version = useStudio((s) => s.version);
  const [text, setText] = useState("");
  useEffect(() => {
    void fetch("./licenses.txt").then((r) => r.text()).then(setText);
  }, []);
  return (
    <Sheet title="About Paynter Studio" close={() => set({ aboutShown: false })}>
      <p>Paynter {version}. Everything runs on this machine: the page talks to the program that opened it, and to nobody else.</p>
      <p>Paynter is under MIT or Apache-2.0. The page carries these works of others:</p>
      <pre tabIndex={0} className="licenses">{text}</pre>
    </Sheet>
  );
}

function Sheet({ title, close, children }: { title: string; close: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="sheet floating" aria-label={title} onClose={close} onClick={(e) => e.target === dialog.current && close()}>
      <header><h2>{title}</h2><button onClick={close}>Close <kbd>Esc</kbd></button></header>
      {children}
    </dialog>
  );
}
