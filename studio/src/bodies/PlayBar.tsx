// The time of the film: play, a slider, a speed.

import { useEffect, useState } from "react";
import { Icon } from "../panels/Icon";
import { number } from "../plots/format";
import { get, set, useStudio } from "../store/store";
import type { Film } from "../wire/protocol";
import { goodSpeed, SPEEDS } from "./film";

export function PlayBar({ film }: { film: Film }) {
  const { from, to } = film.head;
  const time = useStudio((s) => s.cursor) ?? from;
  const [plays, setPlays] = useState(false);
  const [speed, setSpeed] = useState(() => goodSpeed(to - from));
  useEffect(() => setSpeed(goodSpeed(to - from)), [from, to]);
  useEffect(() => {
    if (!plays) return;
    let last = performance.now();
    let frame = requestAnimationFrame(function step(now) {
      const t = (get().cursor ?? from) + ((now - last) / 1000) * speed;
      last = now;
      set({ cursor: t > to || t < from ? from : t });
      frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [plays, speed, from, to]);
  return (
    <div className="play-bar" role="group" aria-label="Time">
      <button className="primary round" data-play aria-label={plays ? "Pause" : "Play"} title="Space" onClick={() => setPlays(!plays)}><Icon name={plays ? "pause" : "play"} size={13} /></button>
      <b className="clock">{time.toFixed(3)} s</b>
      <select aria-label="Speed" value={speed} onChange={(e) => setSpeed(Number(e.target.value))}>
        {SPEEDS.map((s) => <option key={s} value={s}>{s >= 1 ? s : `1/${Math.round(1 / s)}`} ×</option>)}
      </select>
      <input
        type="range" aria-label="Time of the film" min={from} max={to} step={(to - from) / 1000} value={Math.min(Math.max(time, from), to)}
        onInput={(e) => {
          setPlays(false);
          set({ cursor: Number(e.currentTarget.value) });
        }}
      />
      <span className="quiet">{number(to)} s</span>
    </div>
  );
}
