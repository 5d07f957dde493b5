// How many pixels there are for curves.
//
// **Invariant:** nobody who asks makes the browser lay out the page: the size is heard of when it changes.

/** Before there are plots. */
const USUAL = 800;
let width = USUAL;

export function plotWidth(): number {
  return width;
}

/** Follows the width of the room of the plots; gives what ends it. */
export function watchWidth(room: HTMLElement): () => void {
  const observer = new ResizeObserver(([entry]) => {
    if (entry && entry.contentRect.width > 0) width = Math.round(entry.contentRect.width);
  });
  observer.observe(room);
  return () => observer.disconnect();
}
