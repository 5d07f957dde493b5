// A bond: line, half arrow, causal stroke, label; a signal: a thin line with a full tip.

import { useInternalNode, type Edge, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import type { BondView, SignalView } from "../wire/protocol";
import { bandWidth } from "./powers";
import { barb, bondLine, direction, labelPlace, path, signalCurve, strokeAt, type Box, type Point } from "./geometry";

export type BondData = {
  bond: BondView;
  /** Beside another bond between the same nodes. */
  aside: number;
  step: number;
  isOnPath: boolean;
  isConflictPath: boolean;
  /** Power at the cursor as a part of the largest, with its value; none outside of the power mode. */
  power: { part: number; text: string; forward: boolean; level: 1 | 2 | 3 } | null;
};
export type FlowBond = Edge<BondData, "bond">;
export type FlowSignal = Edge<{ signal: SignalView }, "signal">;

function useBox(id: string): Box | null {
  const node = useInternalNode(id);
  if (!node?.measured.width || !node.measured.height) return null;
  const { x, y } = node.internals.positionAbsolute;
  const { width, height } = node.measured;
  return { x: x + width / 2, y: y + height / 2, width, height };
}

export const BondEdge = memo(function BondEdge({ source, target, data, selected }: EdgeProps<FlowBond>) {
  const tail = useBox(source);
  const head = useBox(target);
  if (!tail || !head || !data) return null;
  const { bond } = data;
  const [a, b] = bondLine(tail, head, data.aside);
  const { isMulti } = bond;
  const label = labelPlace(a, b, isMulti ? 14 : 12);
  const classes = `bond bond-${bond.class}${selected ? " is-selected" : ""}${data.isOnPath ? " is-path" : ""}${data.isConflictPath ? " is-conflict-path" : ""}${bond.trouble ? " has-trouble" : ""}`;
  return (
    <g className={classes}>
      {(selected || data.isOnPath || bond.class === "conflict") && <path className="halo" d={path(a, b)} />}
      {data.power && <PowerBand a={a} b={b} power={data.power} />}
      {isMulti ? <DoubleLine a={a} b={b} /> : <path className="line" d={path(a, b)} />}
      <path className="barb" d={path(barb(a, b), b)} />
      {(bond.stroke === "tail" || bond.stroke === "both") && <Stroke at={a} from={b} isHalf={bond.stroke === "both"} />}
      {(bond.stroke === "head" || bond.stroke === "both") && <Stroke at={b} from={a} isHalf={bond.stroke === "both"} />}
      {bond.forced && <Pin at={bond.stroke === "tail" ? a : b} from={bond.stroke === "tail" ? b : a} />}
      <path className="react-flow__edge-interaction" d={path(a, b)} />
      {(bond.label || bond.dimension > 1) && <text className="bond-label" x={label.x} y={label.y}>{bond.label || bond.dimension}</text>}
      {bond.tailPort && <PortName at={a} from={b} text={bond.tailPort} />}
      {bond.headPort && <PortName at={b} from={a} text={bond.headPort} />}
      {data.power && <PowerLabel a={a} b={b} power={data.power} />}
      {data.step > 0 && <Badge at={label} text={String(data.step)} />}
    </g>
  );
});

function DoubleLine({ a, b }: { a: Point; b: Point }) {
  const d = direction(a, b);
  const shift = (p: Point, by: number): Point => ({ x: p.x - by * d.y, y: p.y + by * d.x });
  return (
    <>
      <path className="line" d={path(shift(a, 2), shift(b, 2))} />
      <path className="line" d={path(shift(a, -2), shift(b, -2))} />
    </>
  );
}

function Stroke({ at, from, isHalf }: { at: Point; from: Point; isHalf: boolean }) {
  const [p, q] = strokeAt(at, from);
  return <path className={isHalf ? "stroke is-mixed" : "stroke"} d={path(p, q)} />;
}

function Pin({ at, from }: { at: Point; from: Point }) {
  const [p, q] = strokeAt(at, from, 34);
  const top = p.y < q.y ? p : q;
  const [near] = [strokeAt(at, from)].map(([s, t]) => (s.y < t.y ? s : t));
  return (
    <g className="pin">
      <path d={path(near as Point, top)} />
      <circle cx={top.x} cy={top.y} r={4.5} />
    </g>
  );
}

function PortName({ at, from, text }: { at: Point; from: Point; text: string }) {
  const d = direction(at, from);
  const isFlat = Math.abs(d.x) > Math.abs(d.y);
  const place = isFlat ? { x: at.x + 4 * d.x, y: at.y - 7 } : { x: at.x - 8, y: at.y + 12 * d.y };
  return <text className="port-name" x={place.x} y={place.y} textAnchor={isFlat ? (d.x > 0 ? "start" : "end") : "end"}>{text}</text>;
}

function Badge({ at, text }: { at: Point; text: string }) {
  return (
    <g className="edge-badge">
      <circle cx={at.x} cy={at.y - 6} r={9} />
      <text x={at.x} y={at.y - 6}>{text}</text>
    </g>
  );
}

function PowerBand({ a, b, power }: { a: Point; b: Point; power: NonNullable<BondData["power"]> }) {
  const width = bandWidth(power.part);
  return (
    <g className={`power power-${power.level}`}>
      <path className="band-edge" d={path(a, b)} strokeWidth={width + 1.5} />
      <path className="band" d={path(a, b)} strokeWidth={width} />
      <path className={power.forward ? "run" : "run is-back"} d={path(a, b)} />
    </g>
  );
}

/** Beside the band, however wide it is. */
function PowerLabel({ a, b, power }: { a: Point; b: Point; power: NonNullable<BondData["power"]> }) {
  const isFlat = Math.abs(b.x - a.x) >= Math.abs(b.y - a.y);
  const at = labelPlace(a, b, bandWidth(power.part) / 2 + (isFlat ? 8 : 6));
  return <text className={isFlat ? "power-label" : "power-label is-beside"} x={at.x} y={at.y}>{power.text}</text>;
}

export const SignalEdge = memo(function SignalEdge({ source, target, data }: EdgeProps<FlowSignal>) {
  const from = useBox(source);
  const to = useBox(target);
  if (!from || !to || !data) return null;
  const { line, tip, label } = signalCurve(from, to);
  return (
    <g className="signal">
      <path className="line" d={line} />
      <path className="tip" d={tip} />
      {data.signal.label && <text className="signal-label" x={label.x} y={label.y}>{data.signal.label}</text>}
    </g>
  );
});
