// The time of the power bands: a slider, and play.

import { useEffect, useState } from "react";
import { Icon } from "../panels/Icon";
import { number } from "../plots/format";
import { get, set, useStudio } from "../store/store";
import { busiestTime } from "./powers";

/** A run is played in this time, s. */
const PLAY_SECONDS = 8;

export function TimeBar() {
  const powers = useStudio((s) => s.powers);
  const cursor = useStudio((s) => s.cursor);
  const hasRun = useStudio((s) => s.result !== null);
  const [plays, setPlays] = useState(false);
  const [from, to] = powers ? [powers.head.from, powers.head.to] : [0, 1];
  useEffect(() => {
    if (!plays) return;
    let last = performance.now();
    let frame = requestAnimationFrame(function step(now) {
      const t = (get().cursor ?? from) + ((now - last) / 1000 / PLAY_SECONDS) * (to - from);
      last = now;
      set({ cursor: t > to ? from : t });
      frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [plays, from, to]);
  if (!powers) return <div className="time-bar floating quiet">{hasRun ? "The powers of this run are worked out …" : "Run an experiment to see its power."}</div>;
  const time = cursor ?? busiestTime(powers);
  return (
    <div className="time-bar floating" role="group" aria-label="Time">
      <button className="icon-button" data-play title="Space" aria-label={plays ? "Pause" : "Play"} onClick={() => setPlays(!plays)}><Icon name={plays ? "stop" : "play"} size={12} /></button>
      <input type="range" aria-label="Time of the powers" min={from} max={to} step={(to - from) / 1000} value={time} onInput={(e) => set({ cursor: Number(e.currentTarget.value) })} />
      <b>{number(time)} s</b>
    </div>
  );
}
