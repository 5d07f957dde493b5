// The equations as a textbook writes them; those with the selected element are lit.

import { useEffect, useRef } from "react";
import { useStudio } from "../store/store";
import type { Equations } from "../wire/protocol";

export function EquationList() {
  const equations = useStudio((s) => s.equations);
  const selection = useStudio((s) => s.selection);
  if (!equations) return <p className="empty">The equations appear when the model has no errors.</p>;
  const names = selection.map((s) => s.id);
  return (
    <div className="equations" tabIndex={0} role="region" aria-label="Equations">
      {equations.lines.map((line, i) => (
        <MathLine key={i} line={line} isLit={names.some((n) => mentions(line.text, n))} />
      ))}
    </div>
  );
}

export function mentions(text: string, name: string): boolean {
  return new RegExp(`(^|[^\\w.])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}([^\\w]|$)`).test(text);
}

/** MathML comes from the server's own printer; it is read as XML, and nothing but MathML elements is taken. */
function MathLine({ line, isLit }: { line: Equations["lines"][number]; isLit: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parsed = new DOMParser().parseFromString(line.mathml, "application/xml");
    const root = parsed.documentElement;
    const isMath = root.namespaceURI === MATHML && [...root.querySelectorAll("*")].every((e) => e.namespaceURI === MATHML && !e.hasAttribute("href"));
    // The fonts of the page have no accent U+02D9; a full stop above the letter is the same dot.
    for (const accent of root.querySelectorAll("mover > mo:last-child")) accent.textContent = accent.textContent?.replaceAll("˙", ".") ?? "";
    if (isMath) place.current?.replaceChildren(document.importNode(root, true));
    else place.current?.replaceChildren(line.text);
  }, [line]);
  return <div className={isLit ? "equation is-lit" : "equation"} ref={place} title={line.text} />;
}

const MATHML = "http://www.w3.org/1998/Math/MathML";
