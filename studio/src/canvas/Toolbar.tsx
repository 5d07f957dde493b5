// Tools at the foot of the canvas.

import { Icon } from "../panels/Icon";
import { set, useStudio, type Tool } from "../store/store";

const TOOLS: [Tool, string, "pointer" | "hand" | "bond"][] = [
  ["select", "Select and move (V)", "pointer"],
  ["pan", "Pan (H)", "hand"],
  ["bond", "Draw bonds (B)", "bond"],
];

export function Toolbar({ zoom, fit }: { zoom: number; fit: () => void }) {
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
      <span className="zoom">{Math.round(100 * zoom)} %</span>
    </div>
  );
}
