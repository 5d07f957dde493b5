// Quick insert: type what to place; Enter places the first offer, with a bond to the selected node.

import { useEffect, useMemo, useRef, useState } from "react";
import { change } from "../store/actions";
import { get, set, useStudio } from "../store/store";
import { written } from "../plots/format";
import { basicParts, modelParts, offers, type Offer } from "./parts";

export function QuickInsert() {
  const insert = useStudio((s) => s.insert);
  return insert ? <Open key={insert.at.join()} /> : null;
}

function Open() {
  const insert = useStudio((s) => s.insert);
  const analysis = useStudio((s) => s.analysis);
  const library = useStudio((s) => s.parts);
  const kinds = useStudio((s) => s.kinds);
  const [text, setText] = useState(insert?.text ?? "");
  const [chosen, setChosen] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(99, 99);
  }, []);
  const view = analysis?.view;
  const found = useMemo(
    () => offers(text, [...basicParts(kinds), ...modelParts(analysis?.models ?? [], view?.model ?? ""), ...library], view?.nodes ?? [], insert?.from ?? null),
    [text, analysis, view, insert, library, kinds],
  );
  if (!insert) return null;
  const close = (): void => {
    set({ insert: null });
    document.querySelector<HTMLElement>(".canvas")?.focus();
  };
  const take = (offer: Offer | undefined): void => {
    if (!offer) return;
    const { from, at } = get().insert ?? { from: null, at: null };
    close();
    if (offer.kind === "bond") void change({ kind: "connect", from: from as string, to: offer.to.id });
    else void change({ kind: "add", part: offer.part.kind, value: offer.value, at: from ? null : at, to: from });
  };
  const [x, y] = insert.screen;
  return (
    <div className="quick-insert floating" style={{ left: Math.max(8, Math.min(x, window.innerWidth - 320)), top: Math.max(8, Math.min(y, window.innerHeight - 340)) }}>
      <input
        ref={field} value={text} aria-label="Insert: element, junction or part, with its value" placeholder="R 0.3 [ohm], 1, Gear …"
        role="combobox" aria-expanded="true" aria-controls="offers" aria-activedescendant={`offer-${chosen}`}
        onChange={(e) => {
          setText(e.target.value);
          setChosen(0);
        }}
        onBlur={(e) => e.relatedTarget === null || (e.relatedTarget as HTMLElement).closest(".quick-insert") || close()}
        onKeyDown={(e) => {
          e.stopPropagation();
          if (e.key === "Escape") close();
          else if (e.key === "Enter") take(found[chosen]);
          else if (e.key === "ArrowDown") setChosen(Math.min(chosen + 1, found.length - 1));
          else if (e.key === "ArrowUp") setChosen(Math.max(chosen - 1, 0));
          else return;
          e.preventDefault();
        }}
      />
      <ul id="offers" role="listbox" aria-label="Offers">
        {found.map((offer, i) => (
          <li key={i} id={`offer-${i}`} role="option" aria-selected={i === chosen} onMouseEnter={() => setChosen(i)} onMouseDown={(e) => { e.preventDefault(); take(offer); }}>
            {offer.kind === "bond" ? (
              <><span className="symbol">⇀</span><b>bond to {offer.to.name}</b></>
            ) : (
              <><span className="symbol">{offer.part.kind.length > 2 ? "▢" : offer.part.kind}</span><b title={offer.part.words}>{offer.part.kind.length > 2 ? offer.part.kind.split(".").pop() : offer.part.words}{offer.value && `, ${written(offer.value)}`}</b><small>{offer.part.from || (insert.from ? `on ${nameOf(insert.from)}` : "")}</small></>
            )}
          </li>
        ))}
        {found.length === 0 && <li className="none">nothing has this name</li>}
      </ul>
    </div>
  );
}

function nameOf(id: string): string {
  const node = get().analysis?.view?.nodes.find((n) => n.id === id);
  return node?.name || node?.letters || id;
}
