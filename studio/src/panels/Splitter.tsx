// A bar between two rooms: drag it, or move it by arrows; a double-click puts it back.

import { useRef, type KeyboardEvent, type PointerEvent } from "react";

interface Props {
  label: string;
  /** Which way it moves: the text beside the canvas, or the results below it. */
  axis: "x" | "y";
  /** The property of the page that holds the size, px. */
  name: "--text-width" | "--dock-height";
}

/** One press of an arrow, px. */
const STEP = 16;

export function Splitter({ label, axis, name }: Props) {
  const from = useRef<{ at: number; size: number } | null>(null);
  const bar = useRef<HTMLDivElement>(null);
  const size = (): number => {
    const room = bar.current?.parentElement?.getBoundingClientRect();
    return Math.round((axis === "x" ? room?.width : room?.height) ?? 0);
  };
  const resize = (wanted: number): void => {
    const most = 0.6 * (axis === "x" ? window.innerWidth : window.innerHeight);
    document.documentElement.style.setProperty(name, `${Math.round(Math.min(Math.max(wanted, axis === "x" ? 260 : 120), most))}px`);
    bar.current?.setAttribute("aria-valuenow", String(size()));
  };
  const key = (e: KeyboardEvent): void => {
    const grow = { ArrowLeft: axis === "x", ArrowUp: axis === "y" }[e.key];
    const shrink = { ArrowRight: axis === "x", ArrowDown: axis === "y" }[e.key];
    if (!grow && !shrink) return;
    resize(size() + (grow ? STEP : -STEP));
    e.preventDefault();
    e.stopPropagation();
  };
  const place = (e: PointerEvent): number => (axis === "x" ? e.clientX : e.clientY);
  return (
    <div
      ref={bar} className={`splitter splitter-${axis}`} role="separator" tabIndex={0} aria-label={label} aria-orientation={axis === "x" ? "vertical" : "horizontal"} aria-valuenow={axis === "x" ? 440 : 312} aria-valuemin={axis === "x" ? 260 : 120} aria-valuemax={4000}
      onPointerDown={(e) => {
        e.currentTarget.setPointerCapture(e.pointerId);
        from.current = { at: place(e), size: size() };
      }}
      onPointerMove={(e) => from.current && resize(from.current.size + from.current.at - place(e))}
      onPointerUp={() => (from.current = null)}
      onDoubleClick={() => document.documentElement.style.removeProperty(name)}
      onKeyDown={key}
    />
  );
}
