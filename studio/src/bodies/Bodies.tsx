// Bodies in motion: the stage with its tools, words beside the joints, and a list for those who cannot see it.

import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from "react";
import { Icon } from "../panels/Icon";
import { number } from "../plots/format";
import { saveText, select } from "../store/actions";
import { get, useStudio } from "../store/store";
import type { Film } from "../wire/protocol";
import { forceAt, pictureAt, roomOf, stripTimes, vectorAt } from "./film";
import { PlayBar } from "./PlayBar";
import { Stage, VIEWS, type Look } from "./stage";
import { MOST_TAGS, moveTags } from "./tags";

const STEP = Math.PI / 24;
/** Pictures of a film strip. */
const STRIP = 5;

export default function Bodies({ film }: { film: Film }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<Stage | null>(null);
  const labels = useRef<HTMLDivElement>(null);
  const theme = useStudio((s) => s.theme);
  const time = useStudio((s) => s.cursor) ?? film.head.from;
  const selection = useStudio((s) => s.selection);
  const [shown, setShown] = useState({ forces: true, paths: true });
  const [follow, setFollow] = useState<string | null>(null);
  const names = useMemo(() => new Set(film.head.bodies.map((b) => b.name)), [film]);
  const selected = selection.find((s) => names.has(s.id))?.id ?? null;
  const look: Look = { theme, selected, follow, ...shown };

  useEffect(() => {
    const place = canvas.current;
    if (!place) return;
    const made = new Stage(place, film, (tags) => labels.current && moveTags(labels.current, tags));
    stage.current = made;
    const size = new ResizeObserver(() => made.resize(place.clientWidth, place.clientHeight));
    size.observe(place);
    made.resize(place.clientWidth, place.clientHeight);
    made.show(time, look);
    return () => {
      size.disconnect();
      made.dispose();
      stage.current = null;
    };
    // Another film is another stage; time and look are shown below.
  }, [film]);
  useEffect(() => stage.current?.show(time, look));

  const click = (e: MouseEvent): void => {
    const box = e.currentTarget.getBoundingClientRect();
    const name = stage.current?.bodyAt(e.clientX - box.left, e.clientY - box.top) ?? null;
    choose(name);
  };
  const key = (e: KeyboardEvent): void => {
    const turns: Record<string, [number, number, number]> = {
      ArrowLeft: [-STEP, 0, 1], ArrowRight: [STEP, 0, 1], ArrowUp: [0, STEP, 1], ArrowDown: [0, -STEP, 1], "+": [0, 0, 0.85], "-": [0, 0, 1 / 0.85],
    };
    const turn = turns[e.key];
    if (!turn || e.ctrlKey || e.metaKey) return;
    stage.current?.orbit(...turn);
    e.preventDefault();
  };
  const saveStrip = (): void => {
    const [from, to] = get().range ?? [film.head.from, film.head.to];
    stage.current?.strip(stripTimes(from, to, STRIP)).toBlob((blob) => blob && saveText(`${film.head.model}.png`, blob));
  };
  const at = pictureAt(film.time, time);
  const tagged = film.head.joints.length <= MOST_TAGS;
  return (
    <div className="bodies">
      <div className="bodies-view">
        <canvas ref={canvas} tabIndex={0} role="img" aria-label={`Bodies of ${film.head.model} at ${number(time)} seconds; arrows turn the view, plus and minus zoom`} onClick={click} onKeyDown={key} />
        <div ref={labels} className="tags" aria-hidden>
          {tagged && film.head.joints.map((j) => <span key={j.name} className="tag" data-tag={j.name}><b>{j.name}</b> {j.class.toLowerCase()}<small /></span>)}
          {selected && film.head.bodies.filter((b) => b.name === selected).map((b) => <span key={b.name} className="tag is-body" data-tag={b.name}><b>{b.name}</b> {number(b.mass)} kg<small /></span>)}
        </div>
        <div className="stage-tools floating" role="toolbar" aria-label="View">
          <button aria-pressed={follow === null} onClick={() => setFollow(null)}>Orbit</button>
          <select aria-label="Follow a body" value={follow ?? ""} onChange={(e) => setFollow(e.target.value || null)}>
            <option value="">Follow …</option>
            {film.head.bodies.map((b) => <option key={b.name} value={b.name}>Follow {b.name}</option>)}
          </select>
          <span className="divider" />
          {VIEWS.map(([name, words]) => <button key={name} onClick={() => stage.current?.see(name)}>{words}</button>)}
          <span className="divider" />
          {(["forces", "paths"] as const).map((what) => <button key={what} aria-pressed={shown[what]} onClick={() => setShown({ ...shown, [what]: !shown[what] })}>{what === "forces" ? "Forces" : "Paths"}</button>)}
          <span className="divider" />
          <button title="Five pictures over the time that the plots show, as one PNG" onClick={saveStrip}>Film strip</button>
        </div>
        <p className="stage-key floating quiet">{film.head.mobility}{shown.forces && stage.current && stage.current.largest > 0 ? ` · longest arrow ${number(stage.current.largest, 3)} N` : ""}</p>
      </div>
      <PlayBar film={film} />
      <JointList film={film} at={at} />
    </div>
  );
}

function choose(name: string | null): void {
  const isNode = get().analysis?.view?.nodes.some((n) => n.id === name);
  select(name && isNode ? [{ kind: "node", id: name }] : []);
}

/** The same in words: every joint with its force, every body with its place. */
function JointList({ film, at }: { film: Film; at: [number, number] }) {
  // What is nothing against the size of the scene is rounding.
  const { low, high } = useMemo(() => roomOf(film), [film]);
  const least = 1e-9 * Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
  const place = (column: number, planar: boolean): string => vectorAt(film, column, planar, at).slice(0, planar ? 2 : 3).map((x) => number(Math.abs(x) < least ? 0 : x, 3)).join(", ");
  return (
    <details className="joint-list">
      <summary><Icon name="graph" size={13} /> {film.head.bodies.length} bodies, {film.head.joints.length} joints</summary>
      <table>
        <thead><tr><th scope="col">Part</th><th scope="col">is</th><th scope="col">holds</th><th scope="col">place [m]</th><th scope="col">force [N]</th></tr></thead>
        <tbody>
          {film.head.bodies.map((b) => <tr key={b.name} data-body={b.name}><th scope="row"><i className="name">{b.name}</i></th><td>{b.class}</td><td>–</td><td>{place(b.r, b.planar)}</td><td>–</td></tr>)}
          {film.head.joints.map((j) => <tr key={j.name} data-joint={j.name}><th scope="row"><i className="name">{j.name}</i></th><td>{j.class}</td><td>{j.holds.filter(Boolean).join(", ")}</td><td>{place(j.b, j.planar)}</td><td>{forceText(film, j, at)}</td></tr>)}
        </tbody>
      </table>
    </details>
  );
}

function forceText(film: Film, joint: Film["head"]["joints"][number], at: [number, number]): string {
  const force = forceAt(film, joint, at);
  return force === null ? "–" : number(force, 4);
}
