// Causality as a lesson: one decision after the other, with what follows from it; the graph shows the strokes set so far.

import { useEffect, useState } from "react";
import { stepLesson } from "../store/actions";
import { get, useStudio } from "../store/store";
import { Icon } from "../panels/Icon";
import { Words } from "../panels/Words";
import { numbered } from "./steps";

const RULES: [string, string][] = [
  ["Se, Sf", "a source sets its effort or its flow: its stroke is fixed"],
  ["0", "one effort in: exactly one stroke at the 0"],
  ["1", "one flow in: exactly one bond without a stroke at the 1"],
  ["TF", "passes it on: one stroke at the TF"],
  ["GY", "turns it over: two strokes at the GY, or none"],
  ["I, C", "a storage likes to integrate: effort into the I, flow into the C; then it is a state"],
  ["R", "takes what is left"],
];
const PAUSE_MS = 1400;

export function LessonPanel() {
  const lesson = useStudio((s) => s.lesson);
  const [plays, setPlays] = useState(false);
  useEffect(() => {
    if (!plays) return;
    const timer = setInterval(() => {
      const now = get().lesson;
      if (!now || now.at >= now.steps.length - 1) setPlays(false);
      else stepLesson(now.at + 1);
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, [plays]);
  if (!lesson) return null;
  const { steps, at } = lesson;
  const lines = numbered(steps);
  return (
    <aside className="explorer lesson" aria-label="Lesson">
      <header>
        <span className="pill">Lesson</span>
        <h2>Causality, step by step</h2>
        <p className="lesson-bar" role="progressbar" aria-label="Steps" aria-valuemin={1} aria-valuemax={steps.length} aria-valuenow={at + 1}>{steps.map((_, i) => <span key={i} className={i < at ? "is-done" : i === at ? "is-now" : ""} />)}</p>
        <p className="quiet">{at + 1} of {steps.length}</p>
      </header>
      <ol className="lesson-steps" tabIndex={0}>
        {lines.filter((line) => line.isDecision || line.step <= at).map((line, i) => (
          <li key={i} className={line.step < at ? "is-done" : line.step === at ? "is-now" : "is-open"}>
            <button className="row" aria-current={line.step === at && line.isDecision ? "step" : undefined} onClick={() => stepLesson(line.step)}>
              <span className="number">{line.isDecision ? line.step + 1 : "→"}</span>
              <span>{line.step <= at ? <Words text={line.text} /> : "…"}</span>
            </button>
          </li>
        ))}
      </ol>
      <section className="rules" aria-label="Rules">
        <h3>The rules on one card</h3>
        <dl>{RULES.map(([who, words]) => <div key={who}><dt>{who}</dt><dd>{words}</dd></div>)}</dl>
      </section>
      <footer className="buttons">
        <button disabled={at === 0} onClick={() => stepLesson(at - 1)}>Back</button>
        <button onClick={() => setPlays(!plays)}><Icon name={plays ? "pause" : "play"} size={11} /> {plays ? "Pause" : "Play the rest"}</button>
        {at < steps.length - 1 ? <button className="primary" onClick={() => stepLesson(at + 1)}>Next</button> : <button className="primary" onClick={() => stepLesson(null)}>Done</button>}
        <button onClick={() => stepLesson(null)}>Leave</button>
      </footer>
    </aside>
  );
}
