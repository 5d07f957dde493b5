// The canvas: one level of a model, drawn and changed.

import {
  Background, BackgroundVariant, ConnectionMode, MiniMap, ReactFlow, ReactFlowProvider, SelectionMode, applyNodeChanges,
  useReactFlow, useStore, useStoreApi, type EdgeChange, type EdgeTypes, type FinalConnectionState, type NodeChange, type NodeTypes,
} from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState, type DragEvent, type KeyboardEvent, type MouseEvent } from "react";
import { change, copySelected, enter, hover, notice, removeSelected, select } from "../store/actions";
import type { Places } from "../store/places";
import { get, set, useStudio, type Selection } from "../store/store";
import { BondEdge, SignalEdge, type FlowBond, type FlowSignal } from "./BondEdge";
import { ConnectionLine } from "./ConnectionLine";
import { bondsSet } from "../lesson/steps";
import { flowEdges, flowNodes, pathOf, type Scene } from "./flow";
import { GraphNode, type FlowNode } from "./GraphNode";
import { FindBox } from "./FindBox";
import { fitting, isLow } from "./fit";
import { HoverCard } from "./HoverCard";
import { Legend } from "./Legend";
import { powersAt } from "./powers";
import { boundsOf } from "./brush";
import { FAR, MANY, NEAR, Overview, SmallMap } from "./Overview";
import { reuseEdges, reuseNodes } from "./reuse";
import { QuickInsert } from "./QuickInsert";
import { TimeBar } from "./TimeBar";
import { Toolbar } from "./Toolbar";

const nodeTypes: NodeTypes = { graph: GraphNode };
const edgeTypes: EdgeTypes = { bond: BondEdge, signal: SignalEdge };
const SNAP = 10;
export function Canvas() {
  return (
    <ReactFlowProvider>
      <Inner />
    </ReactFlowProvider>
  );
}

function Inner() {
  const view = useStudio((s) => s.analysis?.view ?? null);
  const places = useStudio((s) => s.places);
  const selection = useStudio((s) => s.selection);
  const why = useStudio((s) => s.why);
  const tool = useStudio((s) => s.tool);
  const mode = useStudio((s) => s.mode);
  const powerFrames = useStudio((s) => s.powers);
  // Only power bands follow the cursor: else every move of the mouse over a plot would draw the graph again.
  const cursor = useStudio((s) => (s.mode === "power" ? s.cursor : null));
  const lesson = useStudio((s) => s.lesson);
  const [renaming, setRenaming] = useState<string | null>(null);
  const [nodes, setNodes] = useState<FlowNode[]>([]);
  const [mouse, setMouse] = useState<readonly [number, number] | null>(null);
  const flow = useReactFlow();
  const api = useStoreApi();
  const isFar = useStore((s) => s.transform[2] < FAR);
  const isLarge = (view?.nodes.length ?? 0) > MANY;
  const isOverview = isLarge && isFar;

  const powers = useMemo(() => (mode === "power" ? powersAt(powerFrames, cursor) : new Map()), [mode, powerFrames, cursor]);
  const scene: Scene | null = useMemo(
    () =>
      view && {
        view, places, selected: new Set(selection.map((s) => s.id)), path: why || view.conflict.length > 0 ? pathOf(get()) : [],
        isWhy: why !== null,
        renaming, done: () => setRenaming(null), powers,
        lesson: lesson && bondsSet(lesson.steps, lesson.at, view.bonds.map((b) => b.id)),
      },
    [view, places, selection, why, renaming, powers, lesson],
  );

  useEffect(() => setNodes((old) => (scene ? reuseNodes(old, flowNodes(scene)) : [])), [scene]);
  const drawn = useRef<(FlowBond | FlowSignal)[]>([]);
  const edges = useMemo(() => (drawn.current = scene ? reuseEdges(drawn.current, flowEdges(scene)) : []), [scene]);

  const isShallow = useStore((s) => isLow(s.width, s.height));
  const room = useCallback(() => {
    const { width, height } = api.getState();
    return fitting(width, height, get().mode === "power");
  }, [api]);
  const where = view ? `${view.model}/${view.level.join("/")}` : "";
  const fitted = useRef("");
  const isChosen = useRef(false);
  const isMeasured = nodes.length > 0 && nodes.every((n) => n.measured);
  useEffect(() => {
    if (!isMeasured || fitted.current === where) return;
    fitted.current = where;
    isChosen.current = false;
    if (isLarge) goToStart(flow, places);
    else void flow.fitView({ ...room(), duration: 0 });
  }, [isMeasured, isLarge, where, flow, places, room]);
  // Another size of the window or of a room: who has not chosen a part of the graph goes on seeing all of it.
  const size = useStore((s) => `${s.width} ${s.height}`);
  useEffect(() => {
    if (fitted.current === where && !isChosen.current && !isLarge) void flow.fitView({ ...room(), duration: 0 });
  }, [size, mode === "power"]);
  // So does who has not moved the graph when a new node, or one that the layout has moved, would be out of sight.
  const known = useRef<Places>(places);
  useEffect(() => {
    const before = known.current;
    known.current = places;
    if (fitted.current !== where || isChosen.current || isLarge) return;
    const isByHand = (id: string): boolean => waiting.has(id) || (view?.nodes.find((n) => n.id === id)?.at ?? null) !== null;
    const others = [...places].filter(([id, at]) => String(before.get(id)) !== String(at) && (!before.has(id) || !isByHand(id)));
    if (isInSight(others, api.getState())) return;
    void flow.fitView({ ...room(), duration: 160 });
  }, [places]);
  const fit = useCallback(() => {
    isChosen.current = false;
    if (isLarge) void flow.fitBounds(boundsOf(get().places), { padding: 0.06, duration: 160 });
    else void flow.fitView({ ...room(), duration: 160 });
  }, [flow, isLarge, room]);

  const takeSelects = useCallback((changes: (NodeChange | EdgeChange)[], kind: Selection["kind"]) => {
    const selects = changes.filter((c) => c.type === "select");
    if (selects.length === 0) return;
    const off = new Set(selects.filter((c) => !c.selected).map((c) => c.id));
    const on = selects.filter((c) => c.selected).map((c): Selection => ({ kind, id: c.id }));
    const before = get().selection;
    const next = [...before.filter((s) => !off.has(s.id) && !on.some((o) => o.id === s.id)), ...on];
    if (next.map((s) => s.id).join() !== before.map((s) => s.id).join()) select(next);
  }, []);

  const onNodesChange = useCallback(
    (changes: NodeChange<FlowNode>[]) => {
      takeSelects(changes, "node");
      const rest = changes.filter((c) => c.type !== "select" && c.type !== "remove");
      setNodes((old) => applyNodeChanges(rest, old));
      const moved = rest.filter((c) => c.type === "position" && c.dragging === false && c.position);
      if (moved.length > 0) commitMoves(moved.map((c) => ({ node: (c as { id: string }).id, at: point((c as { position: { x: number; y: number } }).position) })));
    },
    [takeSelects],
  );

  const onConnectEnd = useCallback(
    (event: globalThis.MouseEvent | TouchEvent, state: FinalConnectionState) => {
      if (!state.fromNode || get().analysis?.view?.isForeign) return;
      const from = state.fromNode.id;
      const place = "clientX" in event ? event : (event.changedTouches[0] as Touch);
      if (state.toNode && state.toNode.id !== from) {
        void change({ kind: "connect", from, to: state.toNode.id });
        return;
      }
      if (state.toNode) return;
      const at = flow.screenToFlowPosition({ x: place.clientX, y: place.clientY });
      set({ insert: { at: [snap(at.x), snap(at.y)], screen: [place.clientX, place.clientY], text: "", from } });
    },
    [flow],
  );

  const onKeyDown = useCallback(
    (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (target.closest("input, textarea, .quick-insert")) return;
      const { selection: chosen } = get();
      const only = chosen.length === 1 ? chosen[0] : undefined;
      const word = event.ctrlKey || event.metaKey || event.altKey ? "" : event.key;
      if (word === "Delete" || word === "Backspace") removeSelected();
      else if (word === "F2" && only?.kind === "node") setRenaming(only.id);
      else if (word === "x" && only?.kind === "bond") void change({ kind: "reverse", bond: only.id });
      else if (word === "c" && only?.kind === "bond") forceNext(only.id);
      else if (word === "f") fit();
      else if (word === "v") set({ tool: "select" });
      else if (word === "h") set({ tool: "pan" });
      else if (word === "b") set({ tool: "bond" });
      else if (word === "Enter" && only?.kind === "node" && !target.classList.contains("react-flow__node")) enter(only.id);
      else if (word === "/" || (/^[A-Za-z01]$/.test(word) && !"xcfvhb".includes(word))) {
        openInsert(word === "/" ? "" : word, flow.screenToFlowPosition, api.getState().domNode);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    },
    [flow, api, fit],
  );

  // A part from the palette: onto a bond it goes into it, onto a node it is joined to it.
  const onDrop = useCallback(
    (event: DragEvent) => {
      const data = event.dataTransfer.getData("application/x-part");
      if (!data || get().analysis?.view?.isForeign) return;
      event.preventDefault();
      const [part, value] = JSON.parse(data) as [string, string];
      const under = (selector: string): string | null => (event.target as HTMLElement).closest<HTMLElement>(selector)?.dataset["id"] ?? null;
      const [bond, to] = [under(".react-flow__edge"), under(".react-flow__node")];
      const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
      if (bond) void change({ kind: "insert", bond, part, value });
      else void change({ kind: "add", part, value, at: to ? null : [snap(at.x), snap(at.y)], to });
    },
    [flow],
  );

  const isForeign = view?.isForeign ?? false;
  useClipboard(flow.screenToFlowPosition, api);
  return (
    <div className={`canvas tool-${tool} mode-${mode}${isShallow ? " is-low" : ""}`} onDragOver={(e) => e.preventDefault()} onDrop={onDrop} onClick={putOut} onKeyDown={onKeyDown} role="application" aria-label="Bond graph" tabIndex={-1}>
      <ReactFlow<FlowNode, FlowBond | FlowSignal>
        nodes={isOverview ? NO_NODES : nodes}
        edges={isOverview ? NO_EDGES : edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        nodeOrigin={[0.5, 0.5]}
        onNodesChange={onNodesChange}
        onEdgesChange={(changes) => takeSelects(changes, "bond")}
        onConnectEnd={onConnectEnd}
        onMoveStart={(event) => event && (isChosen.current = true)}
        onPaneClick={(e) => isOverview && goNear(flow, e)}
        onNodeDoubleClick={(_, node) => (node.data.node.model ? enter(node.id) : isForeign || setRenaming(node.id))}
        onNodeMouseEnter={(_, node) => hover({ kind: "node", id: node.id })}
        onNodeMouseLeave={() => hover(null)}
        onEdgeMouseEnter={(e, edge) => {
          setMouse([e.clientX, e.clientY]);
          hover({ kind: "bond", id: edge.id });
        }}
        onEdgeMouseLeave={() => hover(null)}
        connectionLineComponent={ConnectionLine}
        connectionMode={ConnectionMode.Loose}
        connectionRadius={30}
        nodesDraggable={tool === "select" && !isForeign}
        nodesConnectable={!isForeign}
        snapToGrid
        snapGrid={[SNAP, SNAP]}
        panOnDrag={tool === "pan" ? [0, 1, 2] : [1, 2]}
        panOnScroll={false}
        selectionOnDrag={tool === "select"}
        selectionMode={SelectionMode.Partial}
        multiSelectionKeyCode={["Control", "Meta", "Shift"]}
        deleteKeyCode={null}
        zoomOnDoubleClick={false}
        minZoom={0.02}
        maxZoom={3}
        onlyRenderVisibleElements={isLarge}
        elevateEdgesOnSelect={false}
        attributionPosition="bottom-right"
      >
        <Background variant={BackgroundVariant.Dots} gap={20} size={1.2} color="var(--dots)" />
        {nodes.length > 40 && !isLarge && <MiniMap pannable zoomable position="bottom-left" ariaLabel="Small map of the graph" nodeColor="var(--ink3)" maskColor="color-mix(in srgb, var(--bg) 70%, transparent)" />}
      </ReactFlow>
      {isOverview && <Overview />}
      {isLarge && !isOverview && <SmallMap />}
      <Legend />
      <Toolbar fit={fit} />
      {mode === "power" && <TimeBar />}
      <FindBox />
      <QuickInsert />
      <HoverCard at={mouse} />
      {view && view.nodes.length === 0 && <EmptyModel />}
    </div>
  );
}

/** A click beside everything puts out what is lit; where something was selected, the drawing library says so. */
function putOut(event: MouseEvent<Element>): void {
  if (event.target instanceof HTMLElement && event.target.classList.contains("react-flow__pane") && get().why) select([]);
}

/** Copy, cut and paste: as text of the language, so that it can go into any editor and come from one. */
function useClipboard(toFlow: (p: { x: number; y: number }) => { x: number; y: number }, api: ReturnType<typeof useStoreApi>): void {
  useEffect(() => {
    const isHere = (e: ClipboardEvent): boolean => !(e.target instanceof HTMLElement && e.target.closest("input, textarea, .cm-editor")) && window.getSelection()?.isCollapsed !== false;
    const take = (e: ClipboardEvent, isCut: boolean): void => {
      if (!isHere(e) || !get().selection.some((s) => s.kind === "node")) return;
      e.preventDefault();
      void copySelected().then((text) => {
        if (text === null) return;
        void navigator.clipboard.writeText(text).then(() => isCut && removeSelected(), () => notice("the browser did not allow to copy"));
      });
    };
    const copy = (e: ClipboardEvent): void => take(e, false);
    const cut = (e: ClipboardEvent): void => take(e, true);
    const paste = (e: ClipboardEvent): void => {
      const text = e.clipboardData?.getData("text/plain") ?? "";
      if (!isHere(e) || !text.trim() || get().analysis?.view?.isForeign !== false) return;
      e.preventDefault();
      const area = api.getState().domNode?.getBoundingClientRect();
      const middle = area ? toFlow({ x: area.left + area.width / 2, y: area.top + area.height / 3 }) : { x: 0, y: 0 };
      void change({ kind: "paste", text, at: [snap(middle.x), snap(middle.y)] });
    };
    document.addEventListener("copy", copy);
    document.addEventListener("cut", cut);
    document.addEventListener("paste", paste);
    return () => {
      document.removeEventListener("copy", copy);
      document.removeEventListener("cut", cut);
      document.removeEventListener("paste", paste);
    };
  }, [toFlow, api]);
}

const NO_NODES: FlowNode[] = [];
const NO_EDGES: (FlowBond | FlowSignal)[] = [];

function isInSight(places: [string, [number, number]][], { transform: [left, top, zoom], width, height }: { transform: [number, number, number]; width: number; height: number }): boolean {
  const isInside = ([x, y]: [number, number]): boolean => {
    const [px, py] = [x * zoom + left, y * zoom + top];
    return px > 0 && py > 0 && px < width && py < height;
  };
  return places.every(([, at]) => isInside(at));
}

type Flow = ReturnType<typeof useReactFlow>;

/** A large level begins at its top left corner, at a size that can be read. */
function goToStart(flow: Flow, places: Places): void {
  const { x, y } = boundsOf(places);
  void flow.setViewport({ x: 40 - NEAR * x, y: 64 - NEAR * y, zoom: NEAR }, { duration: 0 });
}

function goNear(flow: Flow, event: MouseEvent<Element>): void {
  const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }, { snapToGrid: false });
  void flow.setCenter(at.x, at.y, { zoom: NEAR, duration: 160 });
}

function EmptyModel() {
  return (
    <div className="empty-model">
      <b>Empty model</b>
      <p>Type <kbd>Se</kbd> to place a source, or pick from the palette.</p>
    </div>
  );
}

function snap(x: number): number {
  return Math.round(x / SNAP) * SNAP;
}

function point(p: { x: number; y: number }): [number, number] {
  return [snap(p.x), snap(p.y)];
}

let timer: ReturnType<typeof setTimeout> | undefined;
let waiting = new Map<string, [number, number]>();

/** Writes new places into the text, once the hand or the arrow keys are still. */
function commitMoves(moves: { node: string; at: [number, number] }[]): void {
  const places = new Map(get().places);
  const isReal = moves.some((m) => String(places.get(m.node)) !== String(m.at));
  if (!isReal) return;
  for (const m of moves) {
    places.set(m.node, m.at);
    waiting.set(m.node, m.at);
  }
  set({ places });
  clearTimeout(timer);
  timer = setTimeout(() => {
    const nodes = [...waiting].map(([node, at]) => ({ node, at }));
    waiting = new Map();
    void change({ kind: "move", nodes });
  }, 250);
}

/** Steps through: stroke at the head, at the tail, free. */
function forceNext(id: string): void {
  const bond = get().analysis?.view?.bonds.find((b) => b.id === id);
  if (!bond) return;
  const end = !bond.forced ? (bond.stroke === "head" ? "tail" : "head") : bond.stroke === "head" ? "tail" : "none";
  void change({ kind: "force", bond: id, end });
}

/** Opens quick insert beside the selected node, or in the middle of what is seen. */
function openInsert(text: string, toFlow: (p: { x: number; y: number }) => { x: number; y: number }, dom: HTMLElement | null): void {
  if (get().analysis?.view?.isForeign) return;
  const only = get().selection.length === 1 ? get().selection[0] : undefined;
  const from = only?.kind === "node" ? only.id : null;
  const element = from && dom?.querySelector(`.react-flow__node[data-id="${CSS.escape(from)}"]`);
  const area = (element || dom)?.getBoundingClientRect();
  if (!area) return;
  const screen: [number, number] = element ? [area.right + 8, area.bottom + 8] : [area.left + area.width / 2 - 130, area.top + area.height / 3];
  const at = toFlow({ x: screen[0], y: screen[1] });
  set({ insert: { at: [snap(at.x), snap(at.y)], screen, text, from } });
}
