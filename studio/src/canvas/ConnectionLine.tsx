// The bond while it is drawn.

import type { ConnectionLineComponentProps } from "@xyflow/react";
import { barb, clip, path } from "./geometry";
import type { FlowNode } from "./GraphNode";

export function ConnectionLine({ fromNode, toNode, toX, toY }: ConnectionLineComponentProps<FlowNode>) {
  const box = (n: typeof fromNode) => {
    const { x, y } = n.internals.positionAbsolute;
    const { width = 0, height = 0 } = n.measured;
    return { x: x + width / 2, y: y + height / 2, width, height };
  };
  const isOther = toNode && toNode.id !== fromNode.id;
  const end = isOther ? clip(box(toNode as typeof fromNode), box(fromNode)) : { x: toX, y: toY };
  const start = clip(box(fromNode), end);
  return (
    <g className="connection">
      {isOther && <circle cx={box(toNode as typeof fromNode).x} cy={box(toNode as typeof fromNode).y} r={Math.max(box(toNode as typeof fromNode).width / 2 + 8, 20)} />}
      <path d={path(start, end)} />
      <path className="barb" d={path(barb(start, end), end)} />
    </g>
  );
}
