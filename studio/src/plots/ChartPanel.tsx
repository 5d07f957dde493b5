// A panel of curves that are not over the time of a run: over frequency, over a swept value, in a plane.

import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { useStudio } from "../store/store";
import type { Curve, PanelHead } from "../wire/protocol";
import { number, unit } from "./format";
import { axisStyle, phasePath, seriesStyle } from "./look";

interface Props {
  panel: PanelHead;
  curves: Curve[];
  height: number;
}

export function ChartPanel({ panel, curves, height }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const readout = useRef<HTMLSpanElement>(null);
  const theme = useStudio((s) => s.theme);
  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    const data = [null, ...curves.map((c) => [c.x, c.y])] as unknown as uPlot.AlignedData;
    const made = new uPlot(options(panel, curves, Math.max(parent.clientWidth, 100), height, (x, ys) => {
      if (readout.current) readout.current.textContent = x === null ? "" : `${number(x, 4)}: ${ys.map((y) => (Number.isFinite(y) ? number(y, 4) : "–")).join(", ")}`;
    }), data, parent);
    const size = new ResizeObserver(() => made.setSize({ width: parent.clientWidth, height }));
    size.observe(parent);
    return () => {
      size.disconnect();
      made.destroy();
    };
  }, [panel, curves, height, theme]);
  return (
    <figure className="plot" aria-label={`Plot of ${panel.title} over ${panel.xLabel}`}>
      <figcaption><b>{panel.title}{panel.unit && ` [${unit(panel.unit)}]`}</b> <span className="quiet">over {panel.xLabel}</span><span className="readout" ref={readout} /></figcaption>
      <div ref={place} className="plot-place" />
    </figure>
  );
}

function options(panel: PanelHead, curves: Curve[], width: number, height: number, tell: (x: number | null, ys: number[]) => void): uPlot.Options {
  const isLog = panel.isLog ?? false;
  const marks = curves.every((c) => c.x.length <= 40);
  const axis = axisStyle();
  return {
    mode: 2, width, height, padding: [6, 22, 0, 0],
    scales: { x: { time: false, auto: true, distr: isLog ? 3 : 1 }, y: { auto: true } },
    series: [{}, ...panel.series.map((s, i): uPlot.Series => ({
      ...seriesStyle(s, "now", i), facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }], paths: phasePath,
      points: { show: marks, size: 5 },
    }))],
    axes: [{ ...axis, size: 26 }, { ...axis, size: 58 }],
    legend: { show: false },
    cursor: { drag: { x: false, y: false, setScale: false }, y: false, points: { show: false } },
    hooks: {
      setCursor: [(u) => {
        const { left } = u.cursor;
        if (left == null || left < 0) return tell(null, []);
        const x = u.posToVal(left, "x");
        tell(x, panel.isPhase && !isLog && panel.xLabel === "real" ? [u.posToVal(u.cursor.top ?? 0, "y")] : curves.map((c) => nearest(c, x)));
      }],
    },
  };
}

/** The value on the straight line between the two points around a place; x ascends but for curves in a plane. */
function nearest({ x, y }: Curve, at: number): number {
  for (let i = 1; i < x.length; i++) {
    const [a, b] = [x[i - 1] as number, x[i] as number];
    if (a <= at && at <= b) return b > a ? (y[i - 1] as number) + ((at - a) / (b - a)) * ((y[i] as number) - (y[i - 1] as number)) : (y[i] as number);
  }
  return NaN;
}
