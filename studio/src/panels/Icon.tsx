// The icons of the page: thin lines in ink.

const PATHS = {
  pointer: "M5 3l13 7-6 1.6L9.4 18z",
  hand: "M12 3v18M3 12h18M12 3l-3 3M12 3l3 3M12 21l-3-3M12 21l3-3M3 12l3-3M3 12l3 3M21 12l-3-3M21 12l-3 3",
  bond: "M3 13h16M12 18l7-5M3.5 8v10",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  play: "M8 5l11 7-11 7z",
  stop: "M6 6h12v12H6z",
  pause: "M7 5h4v14H7zM13 5h4v14h-4z",
  undo: "M9 6L4 11l5 5M4 11h10a5 5 0 0 1 0 10h-3",
  redo: "M15 6l5 5-5 5M20 11H10a5 5 0 0 0 0 10h3",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  moon: "M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  folder: "M3 6h6l2 2h10v11H3z",
  plus: "M12 5v14M5 12h14",
  check: "M5 12.5l4.5 4.5L19 7.5",
  close: "M6 6l12 12M18 6L6 18",
  warning: "M12 4l9.5 16h-19zM12 10v4.5M12 17v.5",
  flask: "M10 3h4M11 3v6l-6 10a1.5 1.5 0 0 0 1.3 2.2h11.4A1.5 1.5 0 0 0 19 19L13 9V3",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4",
  down: "M6 9l6 6 6-6",
  left: "M14 6l-6 6 6 6",
  right: "M10 6l6 6-6 6",
  graph: "M5 4h5v5H5zM14 15h5v5h-5zM7.5 9v8.5H14",
  link: "M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 5.7 5.7l1-1",
  save: "M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6",
  home: "M4 11l8-7 8 7M6 10v10h12V10",
  info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v6M12 7.5v.5",
  share: "M12 15V4M8 8l4-4 4 4M5 13v7h14v-7",
  pin: "M9 3h6l-1 6 3 4H7l3-4zM12 13v8",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  const isFilled = name === "play" || name === "stop" || name === "pause";
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill={isFilled ? "currentColor" : "none"} stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" strokeLinejoin="round" aria-hidden>
      <path d={PATHS[name]} />
    </svg>
  );
}
