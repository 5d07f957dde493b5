// Tools at the foot of the canvas.

import { useStore } from "@xyflow/react";
import { Icon } from "../panels/Icon";
import { set, useStudio, type Tool } from "../store/store";

const TOOLS: [Tool, string, "pointer" | "hand" | "bond"][] = [
  ["select", "Select and move (V)", "pointer"],
  ["pan", "Pan (H)", "hand"],
  ["bond", "Draw bonds (B)", "bond"],
];

export function Toolbar({ fit }: { fit: () => void }) {
  const zoom = useStore((s) => Math.round(100 * s.transform[2]));
  const tool = useStudio((s) => s.tool);
  return (
    <div className="toolbar floating" role="toolbar" aria-label="Canvas tools">
      {TOOLS.map(([name, words, icon]) => (
        <button key={name} className="icon-button" aria-label={words} title={words} aria-pressed={tool === name} onClick={() => set({ tool: name })}>
          <Icon name={icon} />
        </button>
      ))}
      <span className="divider" />
      <button className="icon-button" aria-label="Fit to window (F)" title="Fit to window (F)" onClick={fit}>
        <Icon name="fit" />
      </button>
      <span className="zoom">{zoom} %</span>
    </div>
  );
}
