// One panel of curves: zoom by wheel and by Shift-drag, pan by drag, double-click fits; the cursor is one for all.

import { memo, useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { showUnit, unitsLike, zoom } from "../store/actions";
import { get, set, useStudio } from "../store/store";
import { valueAt } from "../canvas/powers";
import type { RunResult, ShownUnit } from "../wire/protocol";
import { aligned, drawnCurves, ghostCurves, type Drawn, type Ghost } from "./data";
import { number, unit } from "./format";
import { drawGhosts, rangeWith } from "./ghosts";
import { axisStyle, colour, dash, phasePath, seriesStyle, token } from "./look";

interface Props {
  index: number;
  result: RunResult;
  height: number;
}

export const PlotPanel = memo(function PlotPanel({ index, result, height }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useStudio((s) => s.theme);
  const pinned = useStudio((s) => s.pinned);
  const ghosts = useStudio((s) => s.ghosts);
  const stale = useStudio((s) => s.stale);
  const range = useStudio((s) => s.range);
  const panel = result.head.panels[index];
  const shown = useStudio((s) => s.shownUnits[panel?.unit ?? ""]);
  const unitText = shown?.unit ?? panel?.unit ?? "";
  const isPhase = panel?.isPhase ?? false;
  const curves = useMemo(() => drawnCurves(index, result, pinned, isPhase ? undefined : shown), [index, result, pinned, isPhase, shown]);
  // Earlier positions of a slider are no series of the plot: one more at every move would need a new plot.
  const shades = useRef<Ghost[]>([]);
  const earlier = useMemo(() => (isPhase ? [] : ghostCurves(index, result, ghosts, shown)), [index, result, ghosts, isPhase, shown]);
  shades.current = earlier;
  const words = useMemo(() => summary(panel?.title ?? "", unitText, curves), [panel, unitText, curves]);
  const look = `${theme} ${curves.map((c) => `${c.head.name}${c.run}${c.pin}${c.head.reference}${c.head.held}`).join()} ${isPhase}`;

  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    const made = new uPlot(options(parent, curves, isPhase, height, () => shades.current), isPhase ? phaseData(curves) : aligned(curves), parent);
    plot.current = made;
    if (!isPhase) attach(made);
    const size = new ResizeObserver(() => made.setSize({ width: parent.clientWidth, height: made.height }));
    size.observe(parent);
    return () => {
      size.disconnect();
      made.destroy();
      plot.current = null;
    };
    // A new look needs a new plot; new numbers do not.
  }, [look]);

  useEffect(() => {
    const made = plot.current;
    if (made && made.height !== height) made.setSize({ width: made.width, height });
  }, [height]);

  useEffect(() => {
    const made = plot.current;
    if (!made) return;
    // A run that goes on grows into the whole of its time.
    const seen = range ?? (result.head.underWay ? [result.head.from, result.head.to] : null);
    made.setData(isPhase ? phaseData(curves) : aligned(curves), isPhase || seen === null);
    if (seen && !isPhase) made.setScale("x", { min: seen[0] as number, max: seen[1] as number });
  }, [curves, range, earlier]);

  if (!panel) return null;
  return (
    <figure className={`plot${isPhase ? " is-phase" : ""}${stale ? " is-stale" : ""}`} aria-label={words}>
      <figcaption>
        <b>{panel.title}{isPhase && panel.unit && ` [${unit(panel.unit)}]`}</b>{isPhase && <span className="quiet">over {unit(panel.xLabel)}</span>}
        {!isPhase && panel.unit && <UnitChoice own={panel.unit} shown={unitText} title={panel.title} />}
        <Keys curves={curves} />
        {!isPhase && <Readout curves={curves} unitText={unitText} />}
      </figcaption>
      <div ref={place} className="plot-place" />
    </figure>
  );
});

/** The unit of a panel, and others of the same dimension. */
function UnitChoice({ own, shown, title }: { own: string; shown: string; title: string }) {
  const [like, setLike] = useState<ShownUnit[]>([]);
  const load = (): void => {
    if (like.length === 0) void unitsLike(own).then(setLike);
  };
  const all = like.some((u) => u.unit === own) ? like : [{ unit: own, factor: 1, offset: 0 }, ...like];
  return (
    <select className="unit-choice" aria-label={`Unit of ${title}`} value={shown} onFocus={load} onPointerEnter={load} onChange={(e) => showUnit(own, all.find((u) => u.unit === e.target.value))}>
      {!all.some((u) => u.unit === shown) && <option value={shown}>[{unit(shown)}]</option>}
      {all.map((u) => <option key={u.unit} value={u.unit}>[{unit(u.unit) || "1"}]</option>)}
    </select>
  );
}

function Keys({ curves }: { curves: Drawn[] }) {
  const own = curves.filter((c) => c.run === "now");
  if (own.length < 2) return null;
  // References have a look of their own: they take no colour from the curves.
  const places = own.map((c, i) => (c.head.reference ? 0 : own.slice(0, i).filter((o) => !o.head.reference).length));
  return (
    <span className="curve-keys">
      {own.map((c, at) => [c, places[at] as number] as const).map(([c, i]) => <span key={c.head.name}><svg width="18" height="6" aria-hidden><path d="M0 3H18" stroke={colour(c.head, c.run, i)} strokeWidth="2" strokeDasharray={dash(c.head, c.run, i).join(" ")} /></svg>{c.head.name}</span>)}
    </span>
  );
}

/** Values of the present run where the cursor is. */
function Readout({ curves, unitText }: { curves: Drawn[]; unitText: string }) {
  const cursor = useStudio((s) => s.cursor);
  const own = curves.filter((c) => c.run === "now" && !c.head.reference);
  const end = own[0]?.curve.x.at(-1);
  const at = cursor ?? end;
  if (at === undefined) return null;
  return (
    <span className="readout">
      <span className="at">{number(at)} s</span>
      {own.map((c) => <output key={c.head.name} data-name={c.head.name}>{own.length > 1 && `${c.head.name} `}<b>{number(valueAt(c.curve.x, c.curve.y, at), 5)}</b> {unit(unitText)}</output>)}
    </span>
  );
}

function summary(title: string, unitText: string, curves: Drawn[]): string {
  const own = curves.filter((c) => c.run === "now" && !c.head.reference);
  const words = own.map((c) => {
    let low = Infinity;
    let high = -Infinity;
    for (const v of c.curve.y) {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
    return `${c.head.name} from ${number(low)} to ${number(high)}, final ${number(c.curve.y.at(-1) ?? NaN)}`;
  });
  return `Plot of ${title}${unitText && ` in ${unitText}`}: ${words.join("; ")}`;
}

function options(parent: HTMLElement, curves: Drawn[], isPhase: boolean, height: number, shades: () => Ghost[]): uPlot.Options {
  let own = 0;
  const series = curves.map((c): uPlot.Series => {
    const i = c.run === "now" && !c.head.reference ? own++ : 0;
    return seriesStyle(c.head, c.run, i, c.pin);
  });
  const axis = axisStyle();
  const base: Partial<uPlot.Options> = isPhase
    ? { mode: 2, scales: { x: { time: false, auto: true }, y: { auto: true } } }
    : { scales: { x: { time: false }, y: { range: rangeWith(shades) } } };
  return {
    ...base,
    width: Math.max(parent.clientWidth, 100), height,
    padding: [6, 22, 0, 0],
    series: isPhase ? [{}, ...series.map((s) => ({ ...s, facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }], paths: phasePath }))] : [{}, ...series],
    axes: [{ ...axis, size: 26 }, { ...axis, size: 58 }],
    legend: { show: false },
    cursor: { drag: { x: false, y: false, setScale: false }, y: false, points: { size: 7 }, sync: { key: "runs" } },
    hooks: {
      drawAxes: isPhase ? [] : [(u) => drawGhosts(u, shades())],
      draw: isPhase ? [] : [drawEvents],
      setCursor: [
        (u) => {
          const { left } = u.cursor;
          if (isPhase || left == null || left < 0) return;
          const t = u.posToVal(left, "x");
          if (t !== get().cursor) set({ cursor: t });
        },
      ],
    },
  };
}

/** More marks than this make a grey wall. */
const MOST_MARKS = 120;

/** Thin lines where events were. */
function drawEvents(u: uPlot): void {
  const events = get().result?.head.events ?? [];
  const { min = 0, max = 0 } = u.scales["x"] ?? {};
  const seen = events.filter((t) => t >= (min ?? 0) && t <= (max ?? 0));
  if (seen.length === 0 || seen.length > MOST_MARKS) return;
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = token("--derivative");
  ctx.globalAlpha = 0.55;
  ctx.lineWidth = 1;
  ctx.setLineDash([2, 4]);
  ctx.beginPath();
  for (const t of seen) {
    const x = Math.round(u.valToPos(t, "x", true)) + 0.5;
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
  }
  ctx.stroke();
  ctx.restore();
}

function phaseData(curves: Drawn[]): uPlot.AlignedData {
  return [null, ...curves.map((c) => [c.curve.x, c.curve.y])] as unknown as uPlot.AlignedData;
}

/** Wheel, drag and double-click; the library has no panning of its own. */
function attach(u: uPlot): void {
  const bounds = (): [number, number] => [u.scales["x"]?.min ?? 0, u.scales["x"]?.max ?? 1];
  const limits = (): [number, number] => {
    const head = get().result?.head;
    return [head?.from ?? 0, head?.to ?? 1];
  };
  u.over.addEventListener("wheel", (e) => {
    e.preventDefault();
    const [low, high] = bounds();
    const t = u.posToVal(e.offsetX, "x");
    const factor = e.deltaY > 0 ? 1.25 : 0.8;
    later(within([t - (t - low) * factor, t + (high - t) * factor], limits()));
  }, { passive: false });
  u.over.addEventListener("dblclick", () => later(null));
  u.over.addEventListener("mousedown", (e) => {
    const [low, high] = bounds();
    const start = u.posToVal(e.offsetX, "x");
    const from = e.clientX;
    const isBox = e.shiftKey;
    const move = (m: MouseEvent): void => {
      if (isBox) return;
      const by = ((from - m.clientX) / u.over.clientWidth) * (high - low);
      if (Math.abs(from - m.clientX) > 3) later(within([low + by, high + by], limits()));
    };
    const up = (m: MouseEvent): void => {
      window.removeEventListener("mousemove", move);
      window.removeEventListener("mouseup", up);
      if (!isBox) return;
      const end = u.posToVal(m.clientX - u.over.getBoundingClientRect().left, "x");
      if (Math.abs(m.clientX - from) > 4) later(within([Math.min(start, end), Math.max(start, end)], limits()));
    };
    window.addEventListener("mousemove", move);
    window.addEventListener("mouseup", up);
  });
}

/** A range no wider than the run, moved inside of it. */
export function within([low, high]: [number, number], [first, last]: [number, number]): [number, number] | null {
  const width = Math.max(high - low, (last - first) * 1e-6);
  if (width >= last - first) return null;
  const from = Math.min(Math.max(low, first), last - width);
  return [from, from + width];
}

let frame = 0;

function later(range: [number, number] | null): void {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => zoom(range));
}
