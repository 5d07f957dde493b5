// How many pixels there are for curves.
//
// **Invariant:** nobody who asks makes the browser lay out the page: the size is heard of when it changes.

/** Before there are plots. */
const USUAL = 800;
let width = USUAL;

export function plotWidth(): number {
  return width;
}

/** Follows the size of the room of the plots, and tells its height; gives what ends it. */
export function watchRoom(room: HTMLElement, tellHeight: (height: number) => void): () => void {
  const observer = new ResizeObserver(([entry]) => {
    if (!entry || entry.contentRect.width === 0) return;
    width = Math.round(entry.contentRect.width);
    tellHeight(Math.round(entry.contentRect.height));
  });
  observer.observe(room);
  return () => observer.disconnect();
}
