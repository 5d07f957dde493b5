// Words beside joints and bodies, moved with them at every picture: plain elements, for Studio and the report page.

import { number } from "../plots/format";
import type { Tag } from "./stage";

const TAG_WIDTH = 120;
const TAG_HEIGHT = 36;
/** With more joints than these the words hide the bodies. */
export const MOST_TAGS = 12;

/** Puts every word of `place` with a `data-tag` beside its joint or body. */
export function moveTags(place: HTMLElement, tags: Tag[]): void {
  const taken: [number, number][] = [];
  for (const tag of tags) {
    const word = place.querySelector<HTMLElement>(`[data-tag="${CSS.escape(tag.name)}"]`);
    if (!word) continue;
    const [x, y] = freePlace(taken, tag.x + 14, tag.y - 36);
    word.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    word.style.visibility = tag.isHidden ? "hidden" : "visible";
    const small = word.querySelector("small");
    if (small && tag.force !== null) small.textContent = `${number(tag.force, 3)} N`;
  }
}

/** Words that would cover others stand below or above them. */
function freePlace(taken: [number, number][], x: number, y: number): [number, number] {
  const isFree = (at: number): boolean => taken.every(([u, v]) => Math.abs(u - x) > TAG_WIDTH || Math.abs(v - at) > TAG_HEIGHT);
  const tries = [0, 1, -1, 2, -2, 3, -3].map((k) => y + k * (TAG_HEIGHT + 2));
  const found = tries.find(isFree) ?? y;
  taken.push([x, found]);
  return [x, found];
}
