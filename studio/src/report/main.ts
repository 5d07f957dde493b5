// Bodies in motion inside a report page: the stage of Studio with a few plain buttons.
//
// In:  the element `bodies`, and the film as JSON in the element `film-data`.
// Out: a picture that plays, turns and follows; the cursor of the curves goes with its time.

import { goodSpeed, SPEEDS } from "../bodies/film";
import { Stage, VIEWS, type Look } from "../bodies/stage";
import { MOST_TAGS, moveTags } from "../bodies/tags";
import { number } from "../plots/format";
import type { Film } from "../wire/protocol";
import { unpack, type PackedFilm } from "./unpack";

const STEP = Math.PI / 24;
/** What curves and bodies tell each other: the time that is looked at. */
const TIME_EVENT = "paynter-time";

function add<K extends keyof HTMLElementTagNameMap>(to: HTMLElement, tag: K, facts: Partial<HTMLElementTagNameMap[K]> = {}, words = ""): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  Object.assign(made, facts);
  if (words) made.textContent = words;
  to.append(made);
  return made;
}

function labelled<T extends HTMLElement>(element: T, words: string): T {
  element.setAttribute("aria-label", words);
  return element;
}

function option(to: HTMLSelectElement, value: string, words: string): void {
  add(to, "option", { value }, words);
}

/** The picture with the words beside its joints. */
class View {
  readonly stage: Stage;
  readonly canvas: HTMLCanvasElement;
  private readonly look: Look = { theme: "", forces: true, paths: true, selected: null, follow: null };
  private time: number;

  constructor(place: HTMLElement, film: Film) {
    const box = add(place, "div", { className: "bodies-view" });
    this.canvas = labelled(add(box, "canvas", { tabIndex: 0 }), `Bodies of ${film.head.model}; arrows turn the view, plus and minus zoom`);
    this.canvas.setAttribute("role", "img");
    const tags = add(box, "div", { className: "tags", ariaHidden: "true" });
    if (film.head.joints.length <= MOST_TAGS) for (const j of film.head.joints) tagOf(tags, j.name, j.class.toLowerCase());
    this.stage = new Stage(this.canvas, film, (seen) => moveTags(tags, seen));
    this.time = film.head.from;
    this.tools(box, film);
    const words = [film.head.mobility, this.stage.largest > 0 ? `longest arrow ${number(this.stage.largest, 3)} N` : ""];
    add(box, "p", { className: "stage-key" }, words.filter(Boolean).join(" · "));
    this.canvas.addEventListener("keydown", (e) => this.key(e));
    const resize = (): void => this.stage.resize(this.canvas.clientWidth, this.canvas.clientHeight);
    new ResizeObserver(resize).observe(this.canvas);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const paint = (): void => this.change({ theme: dark.matches ? "dark" : "light" });
    dark.addEventListener("change", paint);
    resize();
    paint();
  }

  show(time: number): void {
    this.time = time;
    this.stage.show(time, this.look);
  }

  private change(what: Partial<Look>): void {
    Object.assign(this.look, what);
    // The stage looks whether anything is new.
    this.stage.show(this.time, { ...this.look });
  }

  private tools(box: HTMLElement, film: Film): void {
    const tools = labelled(add(box, "div", { className: "stage-tools" }), "View");
    tools.setAttribute("role", "toolbar");
    const follow = labelled(add(tools, "select"), "Follow a body");
    option(follow, "", "Orbit");
    for (const body of film.head.bodies) option(follow, body.name, `Follow ${body.name}`);
    follow.addEventListener("change", () => this.change({ follow: follow.value || null }));
    for (const [name, words] of VIEWS) add(tools, "button", { type: "button" }, words).addEventListener("click", () => this.stage.see(name));
    for (const what of ["forces", "paths"] as const) {
      const button = add(tools, "button", { type: "button", ariaPressed: "true" }, what === "forces" ? "Forces" : "Paths");
      button.addEventListener("click", () => {
        this.change({ [what]: !this.look[what] });
        button.ariaPressed = String(this.look[what]);
      });
    }
  }

  private key(e: KeyboardEvent): void {
    const turns: Record<string, [number, number, number]> = {
      ArrowLeft: [-STEP, 0, 1], ArrowRight: [STEP, 0, 1], ArrowUp: [0, STEP, 1], ArrowDown: [0, -STEP, 1], "+": [0, 0, 0.85], "-": [0, 0, 1 / 0.85],
    };
    const turn = turns[e.key];
    if (!turn || e.ctrlKey || e.metaKey) return;
    this.stage.orbit(...turn);
    e.preventDefault();
  }
}

function tagOf(place: HTMLElement, name: string, kind: string): void {
  const tag = add(place, "span", { className: "tag" });
  tag.dataset.tag = name;
  add(tag, "b", {}, name);
  tag.append(` ${kind}`);
  add(tag, "small");
}

/** Play, a slider and a speed. */
function playBar(place: HTMLElement, film: Film, view: View): void {
  const { from, to } = film.head;
  const bar = labelled(add(place, "div", { className: "play-bar" }), "Time");
  bar.setAttribute("role", "group");
  const play = labelled(add(bar, "button", { type: "button", className: "play" }, "▶"), "Play");
  const clock = add(bar, "b", { className: "clock" });
  const speed = labelled(add(bar, "select"), "Speed");
  for (const s of SPEEDS) option(speed, String(s), `${s >= 1 ? s : `1/${Math.round(1 / s)}`} ×`);
  speed.value = String(goodSpeed(to - from));
  const slider = labelled(add(bar, "input", { type: "range", min: String(from), max: String(to), step: String((to - from) / 1000 || "any") }), "Time of the film");
  let time = from;
  let frame = 0;

  const go = (t: number, tell: boolean): void => {
    time = Math.min(Math.max(t, from), to);
    slider.value = String(time);
    clock.textContent = `${time.toFixed(3)} s`;
    view.show(time);
    if (tell) window.dispatchEvent(new CustomEvent(TIME_EVENT, { detail: { time, by: "bodies" } }));
  };
  const stop = (): void => {
    cancelAnimationFrame(frame);
    frame = 0;
    play.textContent = "▶";
    labelled(play, "Play");
  };
  const start = (): void => {
    let last = performance.now();
    play.textContent = "❚❚";
    labelled(play, "Pause");
    frame = requestAnimationFrame(function step(now) {
      const next = time + ((now - last) / 1000) * Number(speed.value);
      last = now;
      go(next > to ? from : next, true);
      frame = requestAnimationFrame(step);
    });
  };
  play.addEventListener("click", () => (frame ? stop() : start()));
  slider.addEventListener("input", () => {
    stop();
    go(Number(slider.value), true);
  });
  window.addEventListener(TIME_EVENT, (e) => {
    const { time: t, by } = (e as CustomEvent<{ time: number; by: string }>).detail;
    if (by === "bodies") return;
    stop();
    go(t, false);
  });
  go(from, false);
}

function begin(): void {
  const place = document.getElementById("bodies-stage");
  const data = document.getElementById("film-data");
  if (!place || !data) return;
  const film = unpack(JSON.parse(data.textContent ?? "") as PackedFilm);
  try {
    playBar(place, film, new View(place, film));
  } catch {
    // Places and forces are among the curves and tables as well.
    place.replaceChildren();
    add(place, "p", { className: "hint" }, "This browser shows no 3D pictures (WebGL is missing).");
  }
}

begin();
