// The text beside the canvas, or the equations in its place.

import { useEffect, useRef } from "react";
import { editors } from "../text/editor";
import { save, takeDisk } from "../store/actions";
import { set, useStudio } from "../store/store";
import { EquationList } from "./EquationList";
import { Icon } from "./Icon";
import { toggleRoom } from "./rooms";
import { Splitter } from "./Splitter";

export function TextPanel() {
  const open = useStudio((s) => s.open);
  const mode = useStudio((s) => s.mode);
  const caret = useStudio((s) => s.caret);
  const errors = useStudio((s) => s.analysis?.messages.filter((m) => m.severity === "error").length ?? 0);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current) editors.mount(place.current);
  }, []);
  return (
    <section className="text-panel" aria-label="Text">
      <Splitter label="Width of the text" axis="x" name="--text-width" />
      <div className="tabs">
        <span className={`tab ${mode === "equations" ? "" : "is-current"}`}>
          <button className="plain" onClick={() => set({ mode: mode === "equations" ? "model" : mode })}><Icon name="file" size={14} /> {open?.path}</button>
          {open?.dirty && <span className="dirty" role="img" aria-label="not saved" />}
        </span>
        {mode === "equations" && <span className="tab is-current">Equations</span>}
        <span className="spring" />
        {errors > 0 ? <span className="bad">{errors === 1 ? "1 error" : `${errors} errors`}</span> : <span className="quiet">Ln {caret.line}, Col {caret.column}</span>}
        <button className="icon-button small" aria-label="Save (Ctrl S)" title="Save (Ctrl S)" onClick={() => void save()}><Icon name="save" size={14} /></button>
        <button className="icon-button small" aria-label="Fold the text" title="Fold the text" onClick={() => toggleRoom("text")}><Icon name="right" size={14} /></button>
      </div>
      <DiskBar />
      <div className={`editor ${mode === "equations" ? "is-hidden" : ""}`} ref={place} />
      {mode === "equations" && <EquationList />}
    </section>
  );
}

/** Trouble outside of the model is said where it concerns, never in a dialog. */
function DiskBar() {
  const open = useStudio((s) => s.open);
  if (!open || open.disk === "same") return null;
  const isDeleted = open.disk === "deleted";
  return (
    <div className="bar bar-disk" role="alert">
      <b><Icon name="warning" size={14} /> {isDeleted ? "Deleted on disk" : "Changed on disk"}</b>
      <span>{isDeleted ? `${open.path} is gone; the text is still here.` : `${open.path} was changed by another program.`}</span>
      <span className="buttons">
        <button onClick={() => void save(true)}>{isDeleted ? "Write it again" : "Keep mine"}</button>
        {!isDeleted && <button onClick={() => void takeDisk()}>Take disk</button>}
      </span>
    </div>
  );
}
