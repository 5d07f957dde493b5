// Finds commands by typed words.
//
// In:  commands, and what was typed.
// Out: those with every word in their name, those that begin with it first.

export interface Command {
  /** What it is about: Run, View, File … */
  group: string;
  words: string;
  keys: string;
  act: () => void;
}

export function find(commands: Command[], typed: string): Command[] {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (c: Command): number => {
    const name = c.words.toLowerCase();
    const whole = `${c.group} ${c.words}`.toLowerCase();
    if (!wanted.every((w) => whole.includes(w))) return -1;
    const first = wanted[0] ?? "";
    if (name.startsWith(first)) return 0;
    return name.split(/[\s._/]+/).some((w) => w.startsWith(first)) ? 1 : 2;
  };
  const ranked = commands.map((c) => [rank(c), c] as const).filter(([r]) => r >= 0);
  // Sorting keeps the order of equals: that of the list.
  return ranked.sort(([a], [b]) => a - b).map(([, c]) => c);
}
