// A node as the textbook draws it: letters without a box, the name in italics.

import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { memo, useState } from "react";
import { change } from "../store/actions";
import { written } from "../plots/format";
import type { NodeView } from "../wire/protocol";
import type { Room } from "./around";

export type GraphNodeData = { node: NodeView; room: Room; isTarget: boolean; step: number; isInConflict: boolean; renames: boolean; done: () => void };
export type FlowNode = Node<GraphNodeData, "graph">;

export const GraphNode = memo(function GraphNode({ data, selected }: NodeProps<FlowNode>) {
  const { node, room } = data;
  const classes = ["node", `node-${node.kind}`, selected && "is-selected", data.isTarget && "is-target", data.isInConflict && "is-conflict", node.trouble && "has-trouble"];
  return (
    <div className={classes.filter(Boolean).join(" ")} title={node.trouble || node.doc || undefined}>
      <Handle id="rim" type="source" position={Position.Top} className="rim" isConnectableStart isConnectableEnd tabIndex={-1} aria-hidden />
      <div className="label">{data.renames ? <NameField node={node} done={data.done} /> : <LabelText node={node} />}</div>
      {node.kind === "junction" && node.name && (
        <span className="junction-name" data-x={room.corner[0]} data-y={room.corner[1]}>{node.name}</span>
      )}
      {node.value && node.kind !== "junction" && node.kind !== "box" && <span className={`value value-${room.value}`}>{written(node.value)}</span>}
      {data.step > 0 && <span className="badge">{data.step}</span>}
    </div>
  );
});

function LabelText({ node }: { node: NodeView }) {
  if (node.kind === "box" || node.kind === "signal" || node.kind === "code") {
    return (
      <>
        <b>{node.name || node.letters}</b>
        {node.name && <small>{node.letters}</small>}
      </>
    );
  }
  if (node.kind === "junction") return <b>{node.letters}</b>;
  if (node.kind === "port") return <i>{node.name}</i>;
  return (
    <>
      {node.letters}
      {node.name && <>:<i>{node.name}</i></>}
    </>
  );
}

function NameField({ node, done }: { node: NodeView; done: () => void }) {
  const [name, setName] = useState(node.name);
  const finish = (): void => {
    done();
    if (name && name !== node.name) void change({ kind: "rename", node: node.id, name });
  };
  return (
    <input
      className="name-field nodrag nopan" aria-label={`New name of ${node.name || node.letters}`} autoFocus value={name}
      size={Math.max(3, name.length)} onChange={(e) => setName(e.target.value)} onBlur={finish}
      onKeyDown={(e) => {
        e.stopPropagation();
        if (e.key === "Enter") finish();
        if (e.key === "Escape") done();
      }}
    />
  );
}
