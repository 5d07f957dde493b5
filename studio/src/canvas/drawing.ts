// The graph as a drawing of its own, as it stands on the canvas: to be put into a paper or a mail.
//
// In:  a view, the places and sizes of its nodes, colours by name.
// Out: SVG with the lines of the canvas and words as text.
//
// **Invariant:** names and values are written as text, whatever characters they have.

import type { Places } from "../store/places";
import { written } from "../plots/format";
import type { BondView, NodeView, View } from "../wire/protocol";
import { roomsOf, type Room } from "./around";
import { barb, bondLine, direction, labelPlace, path, signalCurve, strokeAt, type Box, type Point } from "./geometry";

/** Around the outermost nodes, px: values stand beside them. */
const MARGIN = 60;
const COLOURS: Record<BondView["class"], string> = { plain: "ink", preferred: "preferred", derivative: "derivative", forced: "forced", undetermined: "ink3", conflict: "conflict" };

export type Sizes = ReadonlyMap<string, { width: number; height: number }>;

export function drawing(view: View, places: Places, sizes: Sizes, colour: (name: string) => string): string {
  const boxes = new Map<string, Box>();
  for (const node of view.nodes) {
    const [x, y] = places.get(node.id) ?? [0, 0];
    boxes.set(node.id, { x, y, ...(sizes.get(node.id) ?? guessed(node)) });
  }
  const rooms = roomsOf(view, places);
  const between = new Map<string, number>();
  const bonds = view.bonds.map((bond) => {
    const pair = [bond.tail, bond.head].sort().join("\n");
    const n = between.get(pair) ?? 0;
    between.set(pair, n + 1);
    const [tail, head] = [boxes.get(bond.tail), boxes.get(bond.head)];
    return tail && head ? bondOf(bond, bondLine(tail, head, 14 * n), colour) : "";
  });
  const signals = view.signals.map((signal) => {
    const [from, to] = [boxes.get(signal.from), boxes.get(signal.to)];
    if (!from || !to) return "";
    const { line, tip, label } = signalCurve(from, to);
    return `<path d="${line}" fill="none" stroke="${colour("signal")}" stroke-width="1.25"/><path d="${tip}" fill="${colour("signal")}"/>${words(label, signal.label, `font-style="italic" font-size="14" fill="${colour("ink2")}"`)}`;
  });
  const nodes = view.nodes.map((node) => nodeOf(node, boxes.get(node.id) as Box, rooms.get(node.id), colour));
  const { x, y, width, height } = around([...boxes.values()]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}" font-family="'STIX Two Text', 'Times New Roman', serif" text-anchor="middle">`,
    `<title>${escaped(`Bond graph of ${view.model}`)}</title>`,
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${colour("canvas")}"/>`,
    ...signals, ...bonds, ...nodes, "</svg>", "",
  ].filter((line, i, all) => line !== "" || i === all.length - 1).join("\n");
}

function around(boxes: Box[]): { x: number; y: number; width: number; height: number } {
  const edge = (of: (b: Box) => number, pick: (...values: number[]) => number): number => boxes.reduce((found, b) => pick(found, of(b)), of(boxes[0] ?? { x: 0, y: 0, width: 0, height: 0 }));
  const [left, top] = [edge((b) => b.x - b.width / 2, Math.min), edge((b) => b.y - b.height / 2, Math.min)];
  const [right, bottom] = [edge((b) => b.x + b.width / 2, Math.max), edge((b) => b.y + b.height / 2, Math.max)];
  return { x: Math.floor(left - MARGIN), y: Math.floor(top - MARGIN / 2), width: Math.ceil(right - left + 2 * MARGIN), height: Math.ceil(bottom - top + MARGIN) };
}

/** For a node that is not in sight and so was never measured. */
export function guessed(node: NodeView): { width: number; height: number } {
  const n = node.kind === "junction" ? 1 : node.letters.length + node.name.length;
  return { width: 8 + 9 * n, height: 28 };
}

function bondOf(bond: BondView, [a, b]: [Point, Point], colour: (name: string) => string): string {
  const ink = colour(COLOURS[bond.class]);
  const dash = bond.class === "derivative" ? ' stroke-dasharray="7 3.5"' : bond.class === "undetermined" ? ' stroke-dasharray="1.5 4.5"' : "";
  const line = (d: string, width: number, more = ""): string => `<path d="${d}" fill="none" stroke="${ink}" stroke-width="${width}"${more}/>`;
  const isHeavy = bond.class === "derivative" || bond.class === "conflict";
  const stroke = (at: Point, from: Point): string => line(path(...strokeAt(at, from)), isHeavy ? 4 : 3);
  const d = direction(a, b);
  const shift = (p: Point, by: number): Point => ({ x: p.x - by * d.y, y: p.y + by * d.x });
  const width = bond.class === "conflict" ? 2 : 1.6;
  const { isMulti } = bond;
  const lines = isMulti ? [2, -2].map((by) => line(path(shift(a, by), shift(b, by)), width, dash)) : [line(path(a, b), width, dash)];
  const label = labelPlace(a, b, isMulti ? 14 : 12);
  return [
    ...lines,
    line(path(barb(a, b), b), width, ' stroke-linecap="round"'),
    bond.stroke === "tail" || bond.stroke === "both" ? stroke(a, b) : "",
    bond.stroke === "head" || bond.stroke === "both" ? stroke(b, a) : "",
    words(label, bond.label || (bond.dimension > 1 ? String(bond.dimension) : ""), small(colour)),
  ].join("");
}

function nodeOf(node: NodeView, box: Box, room: Room | undefined, colour: (name: string) => string): string {
  const ink = `fill="${colour(node.trouble ? "conflict" : "ink")}"`;
  const middle = { x: box.x, y: box.y };
  if (node.kind === "junction") {
    const [across, down] = room?.corner ?? [1, -1];
    const name = { x: box.x + 12 * across, y: box.y + 14 * down };
    return words(middle, node.letters, `font-size="21" font-weight="700" ${ink}`) + words(name, node.name, `${small(colour)} text-anchor="${across > 0 ? "start" : "end"}"`);
  }
  if (node.kind === "box" || node.kind === "signal" || node.kind === "code" || node.kind === "many") {
    const frame = `<rect x="${box.x - box.width / 2}" y="${box.y - box.height / 2}" width="${box.width}" height="${box.height}" rx="8" fill="${colour("panel")}" stroke="${colour("ink2")}" stroke-width="1.4"/>`;
    const sans = "font-family=\"Inter, sans-serif\"";
    const kind = node.name ? words({ x: box.x, y: box.y + 8 }, node.letters, `${sans} font-size="11" fill="${colour("ink3")}"`) : "";
    return frame + words({ x: box.x, y: node.name ? box.y - 7 : box.y }, node.name || node.letters, `${sans} font-size="12.5" font-weight="600" ${ink}`) + kind;
  }
  const name = node.name ? `:<tspan font-style="italic">${escaped(node.name)}</tspan>` : "";
  const label = node.kind === "port" ? `<tspan font-style="italic">${escaped(node.name)}</tspan>` : escaped(node.letters) + name;
  return `<text x="${box.x}" y="${box.y}" dominant-baseline="central" font-size="19" ${ink}>${label}</text>${valueOf(node, box, room, colour)}`;
}

function valueOf(node: NodeView, box: Box, room: Room | undefined, colour: (name: string) => string): string {
  const side = room?.value ?? "below";
  const at = side === "right" ? { x: box.x + box.width / 2 + 8, y: box.y } : { x: box.x, y: box.y + (side === "below" ? 1 : -1) * (box.height / 2 + 7) };
  return words(at, written(node.value), `${small(colour)}${side === "right" ? ' text-anchor="start"' : ""}`);
}

const small = (colour: (name: string) => string): string => `font-family="Inter, sans-serif" font-size="11" fill="${colour("ink2")}"`;

function words(at: Point, text: string, look: string): string {
  return text ? `<text x="${Math.round(10 * at.x) / 10}" y="${Math.round(10 * at.y) / 10}" dominant-baseline="central" ${look}>${escaped(text)}</text>` : "";
}

const MARKS: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => MARKS[c] as string);
}
