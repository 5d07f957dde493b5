// Places for nodes that have none: a spine of junctions and two-ports, one-ports hung around it.
//
// In:  nodes with their bonds and signals; some have a fixed place.
// Out: a place for each, on a grid; equal input gives equal places.
//
// First every node takes the best free cell beside the neighbour that has one; then each tries other
// cells as long as the drawing gets better: fewer crossings, straight bonds, short ways.

export interface LayoutNode {
  id: string;
  /** Hangs on one bond and prefers a side: sources left, losses up, storages down. */
  wish: "left" | "up" | "down" | "right" | "none";
  fixed: [number, number] | null;
  width: number;
}

export interface LayoutEdge {
  tail: string;
  head: string;
  weight: number;
}

type Cell = { column: number; row: number };

export const PITCH_X = 122;
export const PITCH_Y = 96;
/** Beyond this many nodes cells are taken as they come; trying others would be felt. */
const MOST_IMPROVED = 90;

export function layOut(nodes: LayoutNode[], edges: LayoutEdge[]): Map<string, [number, number]> {
  const board = new Board(nodes, edges);
  for (const node of nodes) if (node.fixed) board.put(node.id, toCell(node.fixed));
  if (board.at.size === 0) placeSpines(nodes, board);
  for (const id of order(nodes, board)) if (!board.at.has(id)) board.put(id, board.best(id));
  if (nodes.length <= MOST_IMPROVED) board.improve(nodes.filter((n) => !n.fixed).map((n) => n.id));
  const places = new Map<string, [number, number]>();
  for (const node of nodes) places.set(node.id, node.fixed ?? toPoint(board.at.get(node.id) as Cell));
  return places;
}

function toCell([x, y]: [number, number]): Cell {
  return { column: Math.round((2 * x) / PITCH_X) / 2, row: Math.round((2 * y) / PITCH_Y) / 2 };
}

function toPoint(cell: Cell): [number, number] {
  return [cell.column * PITCH_X, cell.row * PITCH_Y];
}

/** A spine longer than this goes on in the next row, backwards; a very long one in rows that make about a square of it. */
const LONGEST_ROW = 5;
const VERY_LONG = 40;
/** Rows between two spines: room for what hangs below the one and stands above the other. */
const ROWS_BETWEEN = 3;

/** Lays the longest chain of each part of the graph along a row. */
function placeSpines(nodes: LayoutNode[], board: Board): void {
  const seen = new Set<string>();
  let first = 0;
  for (const node of nodes) {
    if (seen.has(node.id)) continue;
    const part = board.reach(node.id);
    for (const id of part) seen.add(id);
    const spine = board.spine(part);
    const square = Math.round(Math.sqrt((spine.length * ROWS_BETWEEN * PITCH_Y) / PITCH_X));
    const longest = spine.length > VERY_LONG ? square : LONGEST_ROW;
    spine.forEach((id, i) => {
      const row = Math.floor(i / longest);
      const along = i % longest;
      const column = row % 2 === 0 ? along : longest - 1 - along;
      board.put(id, { column, row: first + ROWS_BETWEEN * row });
    });
    first += ROWS_BETWEEN * Math.ceil(spine.length / longest) + 1;
  }
}

/** What hangs on placed nodes, nearest first; what leads further goes before what ends there. */
function order(nodes: LayoutNode[], board: Board): string[] {
  const done = new Set<string>(board.at.keys());
  const queue = [...done, ...nodes.map((n) => n.id)];
  const found: string[] = [];
  for (let i = 0; i < queue.length; i++) {
    const id = queue[i] as string;
    if (!done.has(id)) {
      done.add(id);
      found.push(id);
    }
    const next = (board.neighbours.get(id) ?? []).map((n) => n.id).filter((n) => !done.has(n));
    next.sort((a, b) => board.degree(b) - board.degree(a));
    for (const n of next) {
      if (done.has(n)) continue;
      done.add(n);
      found.push(n);
      queue.splice(i + 1 + next.indexOf(n), 0, n);
    }
  }
  return found;
}

interface Neighbour {
  id: string;
  /** The bond points to the neighbour. */
  outward: boolean;
  weight: number;
}

class Board {
  readonly at = new Map<string, Cell>();
  readonly neighbours = new Map<string, Neighbour[]>();
  private readonly taken = new Map<string, string>();
  private readonly wishes = new Map<string, LayoutNode["wish"]>();
  private readonly isLarge: boolean;

  constructor(
    nodes: LayoutNode[],
    private readonly edges: LayoutEdge[],
  ) {
    this.isLarge = nodes.length > MOST_IMPROVED;
    for (const node of nodes) {
      this.neighbours.set(node.id, []);
      this.wishes.set(node.id, node.wish);
    }
    for (const e of edges) {
      if (e.tail === e.head) continue;
      this.neighbours.get(e.tail)?.push({ id: e.head, outward: true, weight: e.weight });
      this.neighbours.get(e.head)?.push({ id: e.tail, outward: false, weight: e.weight });
    }
  }

  degree(id: string): number {
    return (this.neighbours.get(id) ?? []).reduce((sum, n) => sum + n.weight, 0);
  }

  put(id: string, cell: Cell): void {
    const old = this.at.get(id);
    if (old) this.taken.delete(key(old));
    this.at.set(id, cell);
    this.taken.set(key(cell), id);
  }

  /** All nodes that bonds and signals lead to. */
  reach(start: string): string[] {
    const found = new Set([start]);
    for (const id of found) for (const n of this.neighbours.get(id) ?? []) found.add(n.id);
    return [...found];
  }

  /** The longest of the shortest ways through a part of the graph, along nodes that do not hang on the side. */
  spine(part: string[]): string[] {
    const isAside = (id: string): boolean => this.degree(id) <= 1 && !["left", "right"].includes(this.wishes.get(id) ?? "");
    const inner = new Set(part.filter((id) => !isAside(id)));
    const start = [...inner][0] ?? part[0];
    if (start === undefined) return [];
    const end = this.way(start, inner).pop() ?? start;
    const way = this.way(end, inner);
    // Power runs from left to right along most of the chain.
    const along = way.reduce((sum, id, i) => {
      const bond = this.neighbours.get(id)?.find((n) => n.id === way[i + 1]);
      return sum + (bond ? (bond.outward ? 1 : -1) : 0);
    }, 0);
    return along < 0 ? way.reverse() : way;
  }

  /** The way from a node to the one farthest from it. */
  private way(start: string, inner: Set<string>): string[] {
    const from = new Map<string, string | null>([[start, null]]);
    const queue = [start];
    for (const id of queue) {
      for (const n of this.neighbours.get(id) ?? []) {
        if (from.has(n.id) || n.weight < 1 || !inner.has(n.id)) continue;
        from.set(n.id, id);
        queue.push(n.id);
      }
    }
    const way: string[] = [];
    for (let id: string | null = queue[queue.length - 1] ?? start; id !== null; id = from.get(id) ?? null) way.unshift(id);
    return way;
  }

  /** The free cell that suits a node best beside those that have a place. */
  best(id: string): Cell {
    const placed = (this.neighbours.get(id) ?? []).filter((n) => this.at.has(n.id));
    if (placed.length === 0) return this.emptyRow();
    const cells: Cell[] = [];
    for (const n of placed) {
      const at = this.at.get(n.id) as Cell;
      for (let d = 1; d <= 4; d++) {
        cells.push(
          { column: at.column + d, row: at.row }, { column: at.column, row: at.row - d },
          { column: at.column, row: at.row + d }, { column: at.column - d, row: at.row },
          { column: at.column + d, row: at.row + d }, { column: at.column + d, row: at.row - d },
          { column: at.column - d, row: at.row + d }, { column: at.column - d, row: at.row - d },
        );
      }
    }
    return this.cheapest(id, cells) ?? this.emptyRow();
  }

  improve(ids: string[]): void {
    for (let round = 0; round < 6; round++) {
      let isBetter = false;
      for (const id of ids) {
        const old = this.at.get(id) as Cell;
        const cost = this.cost(id, old);
        if (cost < 1e-9) continue;
        const cells: Cell[] = [];
        for (let c = -2; c <= 2; c++) for (let r = -2; r <= 2; r++) cells.push({ column: old.column + c, row: old.row + r });
        const next = this.cheapest(id, cells);
        if (next && this.cost(id, next) < cost - 1e-6) {
          this.put(id, next);
          isBetter = true;
        }
      }
      if (!isBetter) return;
    }
  }

  private cheapest(id: string, cells: Cell[]): Cell | null {
    let best: Cell | null = null;
    let least = Infinity;
    for (const cell of cells) {
      const there = this.taken.get(key(cell));
      if (there !== undefined && there !== id) continue;
      const cost = this.cost(id, cell);
      if (cost < least - 1e-9) {
        least = cost;
        best = cell;
      }
    }
    return best;
  }

  private emptyRow(): Cell {
    const rows = [...this.at.values()].map((c) => c.row);
    return { column: 0, row: rows.length === 0 ? 0 : Math.ceil(Math.max(...rows)) + 2 };
  }

  private cost(id: string, cell: Cell): number {
    let cost = 0;
    for (const n of this.neighbours.get(id) ?? []) {
      const there = this.at.get(n.id);
      if (!there || n.id === id) continue;
      cost += n.weight * this.wayCost(id, n, cell, there);
      if (this.isLarge) continue;
      cost += n.weight * 4 * this.crossings(id, n.id, cell, there);
      cost += n.weight * 6 * this.pierced(id, n.id, cell, there);
    }
    return this.isLarge ? cost : cost + 3 * this.covered(id, cell);
  }

  private wayCost(id: string, n: Neighbour, cell: Cell, there: Cell): number {
    const dx = cell.column - there.column;
    const dy = cell.row - there.row;
    const isStraight = dx === 0 || dy === 0;
    const length = Math.abs(dx) + Math.abs(dy);
    let cost = length - 1 + (isStraight ? 0 : 1.4);
    // Shorter than a pitch is too short for names.
    if (length < 1) cost += 8;
    const leaf = this.degree(id) <= 1;
    if (leaf) return cost + wishCost(this.wishes.get(id) ?? "none", dx, dy);
    if (this.degree(n.id) > 1) {
      // The spine runs to the right, in the direction of its arrows.
      const forward = n.outward ? -dx : dx;
      if (forward < 0) cost += 0.35;
      if (dx === 0) cost += 0.3;
    }
    return cost;
  }

  private crossings(id: string, other: string, a: Cell, b: Cell): number {
    let count = 0;
    for (const e of this.edges) {
      if (e.tail === id || e.head === id || e.tail === other || e.head === other) continue;
      const c = this.at.get(e.tail);
      const d = this.at.get(e.head);
      if (c && d && cross(a, b, c, d)) count += 1;
    }
    return count;
  }

  /** Nodes that the way to a neighbour would run through. */
  private pierced(id: string, other: string, a: Cell, b: Cell): number {
    let count = 0;
    for (const [name, at] of this.at) if (name !== id && name !== other && lies(at, a, b)) count += 1;
    return count;
  }

  /** Bonds of others that a node in this cell would cover. */
  private covered(id: string, cell: Cell): number {
    let count = 0;
    for (const e of this.edges) {
      if (e.tail === id || e.head === id || e.weight < 1) continue;
      const a = this.at.get(e.tail);
      const b = this.at.get(e.head);
      if (a && b && lies(cell, a, b)) count += 1;
    }
    return count;
  }
}

function key(c: Cell): string {
  return `${c.column},${c.row}`;
}

function wishCost(wish: LayoutNode["wish"], dx: number, dy: number): number {
  const isGot =
    (wish === "left" && dx < 0) || (wish === "right" && dx > 0) || (wish === "up" && dy < 0) || (wish === "down" && dy > 0);
  return wish === "none" || isGot ? 0 : 0.6;
}

/** A cell lies on the way between two others, or so near that names would meet. */
function lies(p: Cell, a: Cell, b: Cell): boolean {
  const dx = b.column - a.column;
  const dy = b.row - a.row;
  const square = dx * dx + dy * dy;
  if (square === 0) return p.column === a.column && p.row === a.row;
  const along = ((p.column - a.column) * dx + (p.row - a.row) * dy) / square;
  if (along <= 0.02 || along >= 0.98) return p.column === a.column && p.row === a.row;
  const aside = Math.abs((p.column - a.column) * dy - (p.row - a.row) * dx) / Math.sqrt(square);
  return aside < 0.3;
}

function cross(a: Cell, b: Cell, c: Cell, d: Cell): boolean {
  const side = (p: Cell, q: Cell, r: Cell): number =>
    Math.sign((q.column - p.column) * (r.row - p.row) - (q.row - p.row) * (r.column - p.column));
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}
