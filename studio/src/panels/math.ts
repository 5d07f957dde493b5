// Equations as MathML: what is read from the server, and which symbols belong to an element.

const MATHML = "http://www.w3.org/1998/Math/MathML";

/** MathML comes from the server's own printer; it is read as XML, and nothing but MathML elements is taken. */
export function readMath(text: string): Element | null {
  const root = new DOMParser().parseFromString(text, "application/xml").documentElement;
  const isMath = root.namespaceURI === MATHML && [...root.querySelectorAll("*")].every((e) => e.namespaceURI === MATHML && !e.hasAttribute("href"));
  return isMath ? root : null;
}

/** Symbols of these elements: those with their name as subscript. */
export function symbolsOf(root: Element, names: readonly string[]): Element[] {
  const found = [...root.querySelectorAll("msub, msubsup")];
  return found.filter((symbol) => names.some((name) => belongs(symbol.children[1]?.textContent ?? "", name)));
}

/** The term that a symbol is in: a summand of the right side, or all of it where it is no sum; none for a symbol on the left. */
export function termOf(symbol: Element): Element | null {
  let term: Element | null = null;
  for (let at = symbol; at.parentElement; at = at.parentElement) {
    const siblings = [...at.parentElement.children];
    const signs = siblings.filter((e) => e.localName === "mo").map((e) => e.textContent);
    // The outermost sum counts: what is inside of parentheses is part of a term.
    if (signs.some((sign) => sign === "+" || sign === "−")) term = at;
    if (signs.includes("=")) return siblings.indexOf(at) > siblings.findIndex((e) => e.textContent === "=") ? (term ?? at) : null;
  }
  return term;
}

/** `q` with the subscript `tooth` belongs to `tooth`, and so does what lies deeper: `arm.joint`, `arm,1` to `arm`. */
export function belongs(subscript: string, name: string): boolean {
  return name !== "" && subscript.split(",").some((part) => part.trim() === name || part.trim().startsWith(`${name}.`));
}
