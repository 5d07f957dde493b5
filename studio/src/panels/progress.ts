// How far a run is, in words.

import type { Running } from "../store/store";

/** Before this part is done nobody can say how long the rest takes. */
const FIRST_GUESS = 0.01;

/** Percent done, and about how long the rest takes if it goes on like this. */
export function progressWords(running: Running, now = performance.now()): string {
  const percent = `running, ${Math.floor(100 * running.done)} %`;
  if (running.done < FIRST_GUESS) return percent;
  const left = ((now - running.begin) / 1000) * (1 / running.done - 1);
  return `${percent}, ${durationWords(left)} left`;
}

function durationWords(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}
