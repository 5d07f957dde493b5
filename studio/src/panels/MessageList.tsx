// Messages in the engine's own words, with the way of a conflict and what would fix it.

import { useEffect, useState } from "react";
import { askServer } from "../store/actions";
import { editors } from "../text/editor";
import { useStudio } from "../store/store";
import { difference } from "../text/difference";
import type { Fix, Message, Way } from "../wire/protocol";
import { Icon } from "./Icon";
import { Reasons } from "./Inspector";
import { Words } from "./Words";

/** A hand that types rests for so long, ms. */
const REST = 250;

export function MessageList() {
  const messages = useStudio((s) => s.analysis?.messages);
  const conflict = useStudio((s) => s.analysis?.view?.conflict);
  if (!messages) return null;
  if (messages.length === 0) return <p className="empty good"><Icon name="check" /> No messages</p>;
  return (
    <ul className="messages">
      {messages.map((m, i) => (
        <li key={i} className={`message message-${m.severity}`}>
          <button className="head" onClick={() => m.at && m.at.path === "" && editors.reveal(m.at, true)}>
            <span className="pill"><Icon name="warning" size={12} /> {m.severity}</span> <small>{m.code}</small>
            <b><Words text={m.text} /></b>
          </button>
          {m.at?.text && <p><Words text={m.at.text} /></p>}
          {m.others.map((o, k) => (o.text ? <p key={k} className="quiet"><Words text={o.text} /></p> : null))}
          {!(isConflict(m) && conflict?.length) && m.facts.map((f, k) => <p key={k} className="quiet"><Words text={f} /></p>)}
          {isConflict(m) && conflict && conflict.length > 0 && <Reasons reasons={conflict} />}
          {m.help.map((h, k) => <p key={k} className="help"><Words text={h} /></p>)}
          {m.fixes.map((f, k) => <FixCard key={k} fix={f} />)}
          {isConflict(m) && conflict && conflict.length > 0 && <WaysOut />}
        </li>
      ))}
    </ul>
  );
}

/** What the help says, as changes that the engine has tried on a copy. */
function WaysOut() {
  const version = useStudio((s) => s.analysis?.version);
  const path = useStudio((s) => s.open?.path);
  const [found, setFound] = useState<{ version: number; ways: Way[] } | null>(null);
  useEffect(() => {
    if (version === undefined || !path) return;
    let isWanted = true;
    // Who types is not asked for ways out at every letter.
    const timer = setTimeout(() => askServer<Way[]>("ways", { path }).then((ways) => isWanted && setFound({ version, ways }), () => undefined), REST);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [version, path]);
  if (!found || found.version !== version || found.ways.length === 0) return null;
  return (
    <div className="ways">
      <h4>Ways out</h4>
      {found.ways.map((way) => <FixCard key={way.title} fix={way} after={`no conflict · order ${way.order}${way.dependent.length > 0 ? ` · ${way.dependent.join(", ")} dependent` : ""}`} />)}
    </div>
  );
}

/** A fix shows what it would write before it is taken, and what is known of the model after it. */
function FixCard({ fix, after }: { fix: Fix; after?: string }) {
  const lines = difference(editors.text(), fix.changes);
  return (
    <div className="fix-card">
      <p><b><Words text={fix.title} /></b> {after && <span className="good"><Icon name="check" size={12} /> {after}</span>} <button className="primary fix" onClick={() => editors.apply(fix.changes)}>Apply</button></p>
      <pre>{lines.map((l, i) => <span key={i} className={l.sign === "+" ? "comes" : "goes"}>{l.sign} {l.text}{"\n"}</span>)}</pre>
    </div>
  );
}

/** Conflicts of causality have codes E06xx. */
function isConflict(m: Message): boolean {
  return m.severity === "error" && /^E06/.test(m.code);
}
