// Numbers as they are read: a true minus, few digits, a power of ten beyond what a person reads at a glance.

export function number(x: number, digits = 4): string {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "not a number" : x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? scientific(x, digits) : plain(x, digits);
  return text.replace("-", "−");
}

function plain(x: number, digits: number): string {
  return String(Number(x.toPrecision(digits)));
}

const SMALL: Record<string, string> = { "-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹" };

function scientific(x: number, digits: number): string {
  const [mantissa = "", exponent = ""] = x.toExponential(Math.max(0, digits - 1)).split("e");
  const power = [...exponent.replace("+", "")].map((c) => SMALL[c] ?? c).join("");
  return `${String(Number(mantissa))}·10${power}`;
}

/** A unit as a textbook prints it: `N*m/rad` as `N·m/rad`. */
export function unit(text: string): string {
  return text.replaceAll("*", "·").replace(/\^(-?\d+)/g, (_, n: string) => [...n].map((c) => SMALL[c] ?? c).join("")).replace(/\bohm\b/g, "Ω").replace(/\bdeg\b/g, "°").replace(/^u(?=[A-Z])/, "µ");
}

/** An element's value as written, for the canvas: `0.6 [ohm]` as `0.6 Ω`. */
export function written(text: string): string {
  return text.replace(/\s*\[([^\]]*)\]/g, (_, u: string) => ` ${unit(u)}`).replace(/(\d)e(-?\d+)/g, (_, d: string, n: string) => `${d}·10${[...n].map((c) => SMALL[c] ?? c).join("")}`).replaceAll("*", "·");
}
