// What a lesson has said so far.

import type { LessonStep } from "../wire/protocol";

export interface Line {
  step: number;
  text: string;
  isDecision: boolean;
}

/** All sentences of a lesson in their order. */
export function numbered(steps: LessonStep[]): Line[] {
  return steps.flatMap((s, step) => [
    ...(s.decision ? [{ step, text: s.decision.text, isDecision: true }] : []),
    ...s.follows.map((f) => ({ step, text: f.text, isDecision: false })),
  ]);
}

/** Bonds whose stroke is set up to a step; those of the step itself apart. After the last one all are set. */
export function bondsSet(steps: LessonStep[], at: number, all: string[]): { set: Set<string>; now: Set<string> } {
  const of = (s: LessonStep | undefined): string[] => (s ? [...(s.decision?.bonds ?? []), ...s.follows.flatMap((f) => f.bonds)] : []);
  const before = new Set(steps.slice(0, at).flatMap(of));
  const now = new Set(of(steps[at]).filter((b) => !before.has(b)));
  const isLast = at >= steps.length - 1;
  return { set: isLast ? new Set(all) : new Set([...before, ...now]), now };
}
