// Draws a whole level at once, small: bonds as lines in the colours of causality, nodes as letters or dots.
//
// In:  a view with its places, and how it lies on the paper.
// Out: ink on a canvas element; one element for thousands of nodes, where one each would make the page slow.

import type { Places } from "../store/places";
import type { BondView, View } from "../wire/protocol";

/** Points of the level lie at `x·zoom + left`, `y·zoom + top` on the paper, in CSS pixels. */
export interface Lie {
  left: number;
  top: number;
  zoom: number;
}

/** The box around all places, with room for letters. */
export function boundsOf(places: Places): { x: number; y: number; width: number; height: number } {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of places.values()) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x);
    bottom = Math.max(bottom, y);
  }
  if (left > right) return { x: 0, y: 0, width: 1, height: 1 };
  return { x: left - 40, y: top - 40, width: right - left + 80, height: bottom - top + 80 };
}

/** How a box lies in the middle of paper of this size. */
export function lieOf(box: { x: number; y: number; width: number; height: number }, width: number, height: number): Lie {
  const zoom = Math.min(width / box.width, height / box.height);
  return { zoom, left: width / 2 - zoom * (box.x + box.width / 2), top: height / 2 - zoom * (box.y + box.height / 2) };
}

const CLASSES: BondView["class"][] = ["plain", "undetermined", "forced", "preferred", "derivative", "conflict"];
/** Letters smaller than this are dots. */
const SMALLEST_LETTERS = 5;

export function paint(canvas: HTMLCanvasElement, view: View, places: Places, selected: ReadonlySet<string>, lie: Lie): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const colour = colours(canvas);
  const at = (id: string): [number, number] | null => {
    const place = places.get(id);
    return place ? [place[0] * lie.zoom + lie.left, place[1] * lie.zoom + lie.top] : null;
  };
  for (const kind of CLASSES) {
    context.beginPath();
    for (const bond of view.bonds) {
      if (bond.class !== kind) continue;
      const [a, b] = [at(bond.tail), at(bond.head)];
      if (!a || !b || isOutside(a, b, width, height)) continue;
      context.moveTo(a[0], a[1]);
      context.lineTo(b[0], b[1]);
    }
    context.strokeStyle = colour(kind);
    context.lineWidth = kind === "conflict" ? 2 : Math.max(0.6, 1.6 * lie.zoom);
    context.setLineDash(kind === "derivative" ? [3, 2] : []);
    context.stroke();
  }
  context.setLineDash([]);
  const size = 19 * lie.zoom;
  context.font = `${size}px ${getComputedStyle(canvas).getPropertyValue("--serif")}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const node of view.nodes) {
    const place = at(node.id);
    if (!place || isOutside(place, place, width, height)) continue;
    const isChosen = selected.has(node.id);
    context.fillStyle = isChosen ? colour("select") : node.trouble ? colour("conflict") : colour("ink");
    if (size >= SMALLEST_LETTERS) {
      // Lines end before letters.
      const ink = context.fillStyle;
      context.fillStyle = colour("canvas");
      context.fillRect(place[0] - 0.6 * size * node.letters.length * 0.6, place[1] - 0.6 * size, 0.72 * size * node.letters.length, 1.2 * size);
      context.fillStyle = ink;
      context.fillText(node.letters, place[0], place[1]);
    } else {
      const radius = isChosen ? 3 : Math.max(0.8, 5 * lie.zoom);
      context.fillRect(place[0] - radius, place[1] - radius, 2 * radius, 2 * radius);
    }
  }
}

function isOutside(a: [number, number], b: [number, number], width: number, height: number): boolean {
  return Math.max(a[0], b[0]) < 0 || Math.max(a[1], b[1]) < 0 || Math.min(a[0], b[0]) > width || Math.min(a[1], b[1]) > height;
}

/** Colours of the theme, each looked up once. */
function colours(canvas: HTMLCanvasElement): (name: string) => string {
  const style = getComputedStyle(canvas);
  const names: Record<string, string> = { plain: "--ink2", undetermined: "--signal", select: "--select", ink: "--ink", canvas: "--canvas" };
  const known = new Map<string, string>();
  return (name) => {
    let found = known.get(name);
    if (found === undefined) {
      found = style.getPropertyValue(names[name] ?? `--${name}`).trim();
      known.set(name, found);
    }
    return found;
  };
}
