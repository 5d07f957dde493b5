// The bond while it is drawn.

import type { ConnectionLineComponentProps } from "@xyflow/react";
import { useEffect } from "react";
import { previewBond } from "../store/actions";
import { useStudio } from "../store/store";
import { barb, clip, path, strokeAt } from "./geometry";
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
  const preview = useStudio((s) => s.preview);
  const other = isOther ? (toNode as typeof fromNode).id : null;
  useEffect(() => previewBond(fromNode.id, other), [fromNode.id, other]);
  useEffect(() => () => previewBond(null, null), []);
  const found = preview?.to === other ? preview?.found : null;
  // As drawn: from the hand's node to the other; a bond that will be turned has its ends swapped.
  const [tail, head] = found?.isTurned ? [end, start] : [start, end];
  const words = found ? (found.isConflict ? "conflict" : "no conflict") : preview?.to === other ? preview?.why : "";
  return (
    <g className="connection">
      {isOther && <circle cx={box(toNode as typeof fromNode).x} cy={box(toNode as typeof fromNode).y} r={Math.max(box(toNode as typeof fromNode).width / 2 + 8, 20)} />}
      <path d={path(start, end)} />
      <path className="barb" d={path(barb(tail, head), head)} />
      {found?.stroke === "tail" && <path className="stroke" d={path(...strokeAt(tail, head))} />}
      {found?.stroke === "head" && <path className="stroke" d={path(...strokeAt(head, tail))} />}
      {words && <text className={found && !found.isConflict ? "good" : "bad"} x={(start.x + end.x) / 2 + 10} y={(start.y + end.y) / 2 - 12}>{words}</text>}
    </g>
  );
}
