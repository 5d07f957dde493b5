// Large levels: far away the whole is drawn on one sheet, near by a small map shows where one is.

import { useReactFlow, useStore } from "@xyflow/react";
import { useEffect, useMemo, useRef, type PointerEvent } from "react";
import { useStudio } from "../store/store";
import { boundsOf, lieOf, paint } from "./brush";

/** Beyond this many nodes only what is in sight is kept in the page. */
export const MANY = 250;
/** Below this zoom names of a large level cannot be read, and the whole is drawn on one sheet. */
export const FAR = 0.3;
/** A large level is first seen at this zoom, and a click from far away goes here. */
export const NEAR = 0.8;

/** The whole level from far away; a click goes near. */
export function Overview() {
  const paper = useRef<HTMLCanvasElement>(null);
  const [left, top, zoom] = useStore((s) => s.transform);
  const size = useStore((s) => `${s.width} ${s.height}`);
  const view = useStudio((s) => s.analysis?.view ?? null);
  const places = useStudio((s) => s.places);
  const selection = useStudio((s) => s.selection);
  const theme = useStudio((s) => s.theme);
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      if (paper.current && view) paint(paper.current, view, places, new Set(selection.map((s) => s.id)), { left, top, zoom });
    });
    return () => cancelAnimationFrame(frame);
  }, [left, top, zoom, size, view, places, selection, theme]);
  return (
    <>
      <canvas ref={paper} className="overview" aria-hidden />
      <p className="overview-note floating" role="note">{view?.nodes.length} nodes from far away: click to go near</p>
    </>
  );
}

/** Where one is in a large level; a drag goes elsewhere. */
export function SmallMap() {
  const paper = useRef<HTMLCanvasElement>(null);
  const flow = useReactFlow();
  const view = useStudio((s) => s.analysis?.view ?? null);
  const places = useStudio((s) => s.places);
  const selection = useStudio((s) => s.selection);
  const theme = useStudio((s) => s.theme);
  const [left, top, zoom] = useStore((s) => s.transform);
  const [width, height] = [useStore((s) => s.width), useStore((s) => s.height)];
  const lie = useMemo(() => lieOf(boundsOf(places), WIDTH, HEIGHT), [places]);
  useEffect(() => {
    if (paper.current && view) paint(paper.current, view, places, new Set(selection.map((s) => s.id)), lie);
  }, [view, places, selection, theme, lie]);
  const go = (e: PointerEvent): void => {
    if (e.buttons !== 1) return;
    const box = e.currentTarget.getBoundingClientRect();
    void flow.setCenter((e.clientX - box.left - lie.left) / lie.zoom, (e.clientY - box.top - lie.top) / lie.zoom, { zoom, duration: 0 });
  };
  const frame = {
    left: (-left / zoom) * lie.zoom + lie.left, top: (-top / zoom) * lie.zoom + lie.top,
    width: (width / zoom) * lie.zoom, height: (height / zoom) * lie.zoom,
  };
  return (
    <div className="small-map" role="img" aria-label="Small map of the graph" onPointerDown={go} onPointerMove={go}>
      <canvas ref={paper} style={{ width: WIDTH, height: HEIGHT }} />
      <i style={frame} />
    </div>
  );
}

const WIDTH = 180;
const HEIGHT = 130;
