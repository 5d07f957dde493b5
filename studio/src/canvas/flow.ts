// Turns a view into what the drawing library wants: nodes and edges with names for screen readers.

import { Position } from "@xyflow/react";
import type { Places } from "../store/places";
import type { State } from "../store/store";
import type { BondView, NodeView, Reason, View } from "../wire/protocol";
import { roomsOf } from "./around";
import { guessed } from "./drawing";
import type { BondData, FlowBond, FlowSignal } from "./BondEdge";
import type { FlowNode } from "./GraphNode";
import { MANY } from "./Overview";

export interface Scene {
  view: View;
  places: Places;
  selected: ReadonlySet<string>;
  path: Reason[];
  /** The path is the answer to why; else it is that of a conflict. */
  isWhy: boolean;
  renaming: string | null;
  done: () => void;
  powers: ReadonlyMap<string, BondData["power"]>;
  /** In a lesson: bonds whose stroke is set so far, and those of the present step. */
  lesson: { set: ReadonlySet<string>; now: ReadonlySet<string> } | null;
}

export function flowNodes(scene: Scene): FlowNode[] {
  const rooms = roomsOf(scene.view, scene.places);
  const inConflict = new Set(scene.view.conflict.flatMap((r) => r.nodes));
  const isLarge = scene.view.nodes.length > MANY;
  return scene.view.nodes.map((node): FlowNode => {
    const [x, y] = scene.places.get(node.id) ?? [0, 0];
    const step = scene.path.findIndex((r) => r.nodes[0] === node.id) + 1;
    return {
      id: node.id,
      type: "graph",
      position: { x, y },
      selected: scene.selected.has(node.id),
      ariaLabel: nameOfNode(node),
      ...(isLarge ? guessedSize(node) : {}),
      data: {
        node,
        room: rooms.get(node.id) ?? { value: "below", corner: [1, -1] },
        isTarget: false,
        step,
        isInConflict: inConflict.has(node.id),
        renames: scene.renaming === node.id,
        done: scene.done,
      },
    };
  });
}

/** A size for nodes of a large level: so those out of sight need not be drawn to be measured. What is seen is measured. */
function guessedSize(node: NodeView): Pick<FlowNode, "measured" | "handles"> {
  const { width, height } = guessed(node);
  return { measured: { width, height }, handles: [{ id: "rim", type: "source", position: Position.Top, x: -10, y: -10, width: width + 20, height: height + 20 }] };
}

export function flowEdges(scene: Scene): (FlowBond | FlowSignal)[] {
  const between = new Map<string, number>();
  const onPath = new Set(scene.path.flatMap((r) => r.bonds));
  const names = new Map(scene.view.nodes.map((n) => [n.id, n]));
  const { lesson } = scene;
  const bonds = scene.view.bonds.map((own): FlowBond => {
    const bond: BondView = lesson && !lesson.set.has(own.id) ? { ...own, stroke: "none", class: "undetermined", forced: false } : own;
    const pair = [bond.tail, bond.head].sort().join("\n");
    const n = between.get(pair) ?? 0;
    between.set(pair, n + 1);
    return {
      id: bond.id,
      type: "bond",
      source: bond.tail,
      target: bond.head,
      sourceHandle: "rim",
      targetHandle: "rim",
      selected: scene.selected.has(bond.id),
      ariaLabel: nameOfBond(bond, names),
      data: {
        bond,
        aside: 14 * n,
        step: scene.path.findIndex((r) => r.nodes.length === 0 && r.bonds[0] === bond.id) + 1,
        isOnPath: onPath.has(bond.id) || (lesson?.now.has(bond.id) ?? false),
        isConflictPath: onPath.has(bond.id) && !scene.isWhy,
        power: scene.powers.get(bond.id) ?? null,
      },
    };
  });
  const signals = scene.view.signals.map((signal): FlowSignal => ({
    id: signal.id, type: "signal", source: signal.from, target: signal.to, sourceHandle: "rim", targetHandle: "rim",
    selectable: false, focusable: false, data: { signal },
  }));
  return [...signals, ...bonds];
}

export function nameOfNode(node: NodeView): string {
  const words = KIND_WORDS[node.letters.replace(/^M(?=[A-Z])/, "")] ?? node.letters;
  const name = node.name ? `${node.name}, ${words}` : words;
  return [name, node.value, node.trouble].filter(Boolean).join(", ");
}

export const KIND_WORDS: Record<string, string> = {
  R: "loss R", C: "storage C", I: "inertia I", Se: "source of effort", Sf: "source of flow", TF: "transformer", GY: "gyrator",
  "0": "0-junction", "1": "1-junction", D: "diode", Sw: "switch", RS: "loss with heat",
};

export const CLASS_WORDS: Record<BondView["class"], string> = {
  plain: "implied", preferred: "integral", derivative: "derivative", forced: "forced", undetermined: "no stroke yet", conflict: "in conflict",
};

function nameOfBond(bond: BondView, names: Map<string, NodeView>): string {
  const of = (id: string): string => names.get(id)?.name || names.get(id)?.letters || id;
  const from = bond.stroke === "head" ? of(bond.tail) : bond.stroke === "tail" ? of(bond.head) : "";
  const effort = from && `, effort from ${from}`;
  return `bond from ${of(bond.tail)} to ${of(bond.head)}, ${CLASS_WORDS[bond.class]}${effort}${bond.trouble && `, ${bond.trouble}`}`;
}

/** Words for the count above the canvas. */
export function countWords(view: View): string {
  const is = (n: NodeView): boolean => n.kind === "junction";
  const parts = [
    [view.nodes.filter((n) => !is(n)).length, "element"],
    [view.nodes.filter(is).length, "junction"],
    [view.bonds.length, "bond"],
  ] as const;
  return parts.map(([n, word]) => `${n} ${word}${n === 1 ? "" : "s"}`).join(" · ");
}

export function classCounts(view: View | null | undefined): { integral: number; derivative: number; conflict: number; forced: number } {
  const count = (c: BondView["class"]): number => view?.bonds.filter((b) => b.class === c).length ?? 0;
  return { integral: count("preferred"), derivative: count("derivative"), conflict: count("conflict"), forced: count("forced") };
}

export function pathOf(state: State): Reason[] {
  const view = state.analysis?.view;
  if (!view) return [];
  if (state.why) return state.why.reasons;
  return view.conflict;
}
