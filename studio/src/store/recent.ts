// Files opened lately, kept by the browser: for each folder its own.

export interface Recent {
  path: string;
  /** When, in ms since 1970. */
  at: number;
}

const MOST = 6;
const keyOf = (folder: string): string => `recent ${folder}`;

/** The files opened last in a folder, newest first. */
export function recentOf(folder: string): Recent[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(keyOf(folder)) ?? "[]");
    return Array.isArray(list) ? list.filter(isRecent).slice(0, MOST) : [];
  } catch {
    // Somebody else wrote there, or the browser keeps nothing.
    return [];
  }
}

function isRecent(x: unknown): x is Recent {
  return typeof x === "object" && x !== null && typeof (x as Recent).path === "string" && typeof (x as Recent).at === "number";
}

export function remember(folder: string, path: string, now = Date.now()): void {
  const rest = recentOf(folder).filter((r) => r.path !== path);
  try {
    localStorage.setItem(keyOf(folder), JSON.stringify([{ path, at: now }, ...rest].slice(0, MOST)));
  } catch {
    // A browser that keeps nothing has no recent files.
  }
}

/** How long ago, in words. */
export function ago(at: number, now = Date.now()): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  const days = Math.floor(minutes / (24 * 60));
  if (days === 1) return "yesterday";
  return days < 7 ? new Date(at).toLocaleDateString("en", { weekday: "long" }) : new Date(at).toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" });
}
