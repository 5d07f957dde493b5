// The place of the bodies: their program is fetched when they are first looked at.

import { lazy, Suspense, useEffect } from "react";
import { loadScene } from "../store/actions";
import { useStudio } from "../store/store";
import { Words } from "../panels/Words";

const Bodies = lazy(() => import("./Bodies"));

export function BodiesPanel() {
  const film = useStudio((s) => s.film);
  const trouble = useStudio((s) => s.filmTrouble);
  const result = useStudio((s) => s.result?.head.run);
  useEffect(() => loadScene(), [result]);
  if (trouble && !film) return <p className="empty"><Words text={trouble} /></p>;
  if (!film) return <p className="empty">{result === undefined ? "Run an experiment to see its bodies move." : "…"}</p>;
  return (
    <Suspense fallback={<p className="empty">…</p>}>
      <Bodies film={film} />
    </Suspense>
  );
}
