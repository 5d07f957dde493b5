// What a bond carries at the time of the cursor, beside the mouse that rests on it.

import { useStudio } from "../store/store";
import { SignalRows } from "../panels/SignalRows";
import { number } from "../plots/format";
import { Sample } from "./Legend";
import { CLASS_WORDS } from "./flow";

/** Off the mouse, px: what is pointed at stays seen. */
const OFF = 18;
const WIDTH = 310;
const HEIGHT = 160;

export function HoverCard({ at }: { at: readonly [number, number] | null }) {
  const hovered = useStudio((s) => s.hovered);
  const curves = useStudio((s) => s.hoverCurves);
  const cursor = useStudio((s) => (s.hoverCurves ? s.cursor : null));
  const view = useStudio((s) => s.analysis?.view);
  const bond = hovered?.kind === "bond" ? view?.bonds.find((b) => b.id === hovered.id) : undefined;
  if (!at || !bond || !curves) return null;
  const nameOf = (id: string): string => {
    const node = view?.nodes.find((n) => n.id === id);
    return node?.name || node?.letters || id;
  };
  const time = cursor ?? curves.head.to;
  const left = at[0] + OFF + WIDTH > window.innerWidth ? at[0] - OFF - WIDTH : at[0] + OFF;
  const top = Math.min(at[1] + OFF, window.innerHeight - HEIGHT);
  return (
    <div className="bond-card floating" aria-hidden style={{ left, top, width: WIDTH }}>
      <p><b><i className="name">{nameOf(bond.tail)}</i> ⇀ <i className="name">{nameOf(bond.head)}</i></b> <span className="quiet">at {number(time)} s</span></p>
      <p className="quiet"><Sample kind={bond.class} /> {CLASS_WORDS[bond.class]}</p>
      <SignalRows result={curves} at={time} />
    </div>
  );
}
