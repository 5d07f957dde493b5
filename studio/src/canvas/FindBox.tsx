// Finds nodes by name, kind or value; Enter goes to the next one.

import { useReactFlow } from "@xyflow/react";
import { useState } from "react";
import { select } from "../store/actions";
import { get, set, useStudio } from "../store/store";
import type { NodeView } from "../wire/protocol";

export function FindBox() {
  const finds = useStudio((s) => s.finds);
  return finds ? <Box /> : null;
}

function Box() {
  const flow = useReactFlow();
  const [words, setWords] = useState("");
  const [at, setAt] = useState(-1);
  const nodes = useStudio((s) => s.analysis?.view?.nodes);
  const found = words.trim() ? (nodes ?? []).filter((n) => isLike(n, words.trim().toLowerCase())) : [];
  const go = (i: number): void => {
    const node = found[((i % found.length) + found.length) % found.length];
    if (!node) return;
    setAt(i);
    select([{ kind: "node", id: node.id }]);
    const [x, y] = get().places.get(node.id) ?? [0, 0];
    void flow.setCenter(x, y, { zoom: Math.max(flow.getZoom(), 0.8), duration: 160 });
  };
  const close = (): void => {
    set({ finds: false });
    document.querySelector<HTMLElement>(".canvas")?.focus();
  };
  return (
    <div className="find-box floating" role="search">
      <input
        autoFocus aria-label="Find on the canvas" placeholder="Find a name, a kind, a value" value={words}
        onChange={(e) => {
          setWords(e.target.value);
          setAt(-1);
        }}
        onKeyDown={(e) => {
          if (e.key === "Enter") go(at + (e.shiftKey ? -1 : 1));
          else if (e.key === "Escape") close();
          else return;
          e.preventDefault();
          e.stopPropagation();
        }}
        onBlur={() => set({ finds: false })}
      />
      <small role="status">{words.trim() ? `${found.length} found${found.length > 0 ? "; Enter goes to the next" : ""}` : ""}</small>
    </div>
  );
}

function isLike(node: NodeView, words: string): boolean {
  return `${node.name} ${node.letters} ${node.written} ${node.model}`.toLowerCase().includes(words);
}
