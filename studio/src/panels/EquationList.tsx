// The equations as a textbook writes them; symbols of the selected elements are lit, with their lines.

import { useEffect, useMemo, useRef } from "react";
import { useStudio } from "../store/store";
import { readMath, symbolsOf, termOf } from "./math";

export function EquationList() {
  const equations = useStudio((s) => s.equations);
  const selection = useStudio((s) => s.selection);
  const names = useMemo(() => selection.map((s) => s.id), [selection]);
  if (!equations) return <p className="empty">The equations appear when the model has no errors.</p>;
  return (
    <div className="equations" tabIndex={0} role="region" aria-label="Equations">
      {equations.lines.map((line, i) => <MathLine key={i} mathml={line} names={names} />)}
    </div>
  );
}

/** Only the equations with symbols of one element. */
export function EquationsWith({ name }: { name: string }) {
  const equations = useStudio((s) => s.equations);
  const lines = useMemo(() => equations?.lines.filter((line) => {
    const root = readMath(line);
    return root !== null && symbolsOf(root, [name]).length > 0;
  }) ?? [], [equations, name]);
  const names = useMemo(() => [name], [name]);
  if (lines.length === 0) return null;
  return (
    <section className="terms">
      <h3>In the equations <span className="quiet">{lines.length} of {equations?.lines.length} rows</span></h3>
      {lines.map((line, i) => <MathLine key={i} mathml={line} names={names} />)}
    </section>
  );
}

function MathLine({ mathml, names }: { mathml: string; names: readonly string[] }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const root = readMath(mathml);
    if (!root || !place.current) return;
    const math = document.importNode(root, true);
    const lit = symbolsOf(math, names);
    for (const symbol of lit) {
      symbol.classList.add("lit");
      termOf(symbol)?.classList.add("lit-term");
    }
    place.current.replaceChildren(math);
    place.current.classList.toggle("is-lit", lit.length > 0);
  }, [mathml, names]);
  return <div className="equation" ref={place} />;
}
