// The start page: gallery and library with pictures and search, new models, recent files, the files of the folder.

import { useState } from "react";
import { newFile, openFile, openGallery } from "../store/actions";
import { useStudio } from "../store/store";
import { ago, recentOf } from "../store/recent";
import type { PartCard } from "../wire/protocol";
import { beginFirstModel } from "../lesson/FirstModel";
import { askNew } from "./Explorer";
import { Icon, type IconName } from "./Icon";

const STARTERS: [string, IconName, string, string][] = [
  ["Electrical circuit", "graph", "circuit.bond", "/// A source charges a capacitor through a resistor.\nmodel Circuit {\n    param R1 = 1000 [ohm], C1 = 1 [uF]\n\n    supply: Se(5 [V]) -> loop: 1 -> r: R(R1), c: C(C1)\n\n    output v [V] = c.e\n}\n\nexperiment charge of Circuit {\n    stop = 5 [ms]\n    record v; plot v\n}\n"],
  ["Drive train", "link", "drive.bond", "/// A motor turns a load through a gear with soft teeth.\nmodel Drive {\n    param torque = 2 [N*m], ratio = 5, K = 50 [N*m/rad]\n\n    motor: Se(torque) -> shaft: 1 -> jm: I(0.01 [kg*m^2]), bm: R(0.02 [N*m*s/rad])\n    shaft -> gear: TF(ratio) -> teeth: 0 -> load: 1\n    teeth -> k: C(1/K)\n    load -> jl: I(0.5 [kg*m^2]), bl: R(0.4 [N*m*s/rad])\n\n    output speed [rad/s] = jl.f\n}\n\nexperiment run_up of Drive {\n    stop = 5 [s]\n    record speed; plot speed\n}\n"],
  ["Spring, mass, damper", "flask", "mass.bond", "/// A mass on a spring with a damper, pulled by a force.\nmodel Oscillator {\n    param m = 1 [kg], k = 100 [N/m], d = 1 [N*s/m], F = 10 [N]\n\n    pull: Se(F) -> speed: 1 -> mass: I(m), spring: C(1/k), damper: R(d)\n\n    output x [m] = spring.q\n}\n\nexperiment swing of Oscillator {\n    stop = 5 [s]\n    record x; plot x\n}\n"],
];

export function Start() {
  const gallery = useStudio((s) => s.gallery);
  const parts = useStudio((s) => s.parts);
  const [words, setWords] = useState("");
  const [shelf, setShelf] = useState<"gallery" | "library">("gallery");
  const isLike = (...texts: string[]): boolean => words.toLowerCase().split(/\s+/).every((w) => texts.join(" ").toLowerCase().includes(w));
  const systems = gallery.filter((g) => isLike(g.name, g.title, g.story));
  const found = parts.filter((p) => isLike(p.kind, p.words));
  const isGallery = shelf === "gallery";
  return (
    <main className="start">
      <section className="beginnings" aria-label="Start">
        <h1>Start</h1>
        <h2>New from</h2>
        <button className="card-row" onClick={askNew}><Icon name="plus" /> <span>Empty model</span> <kbd>Ctrl N</kbd></button>
        <button className="card-row is-first" onClick={beginFirstModel}><Icon name="play" size={13} /> <span>First model, guided</span> <small className="quiet">five minutes</small></button>
        {STARTERS.map(([name, icon, file, text]) => <button key={name} className="card-row" onClick={() => void newFile(file, text)}><Icon name={icon} /> <span>{name}</span></button>)}
        <RecentFiles />
        <FolderFiles />
      </section>
      <section className="gallery" aria-label={isGallery ? "Gallery" : "Library"}>
        <div className="gallery-head">
          <h1>{isGallery ? "Gallery" : "Library"}</h1>
          <p>{isGallery ? `${gallery.length} systems from the literature` : `${parts.length} parts for models of your own`}</p>
        </div>
        <div className="shelf">
          <label className="search"><Icon name="search" size={14} /><input type="search" aria-label="Search the gallery and the library" placeholder="Search gallery and library" value={words} onChange={(e) => setWords(e.target.value)} /></label>
          <div className="modes" role="radiogroup" aria-label="Shelf">
            <button role="radio" aria-checked={isGallery} onClick={() => setShelf("gallery")}>Gallery{words && ` ${systems.length}`}</button>
            <button role="radio" aria-checked={!isGallery} onClick={() => setShelf("library")}>Library{words && ` ${found.length}`}</button>
          </div>
        </div>
        <ul className="cards">
          {isGallery && systems.map((g) => (
            <li key={g.name}>
              <button className="card" onClick={() => void openGallery(g.name)}>
                <span className="picture"><img src={`./gallery/${g.name}.svg`} alt="" loading="lazy" /></span>
                <b>{g.title}</b>
                <span className="story">{g.story}</span>
                <span className="chips"><small>{g.files.length === 1 ? "1 file" : `${g.files.length} files`}</small>{g.checks > 0 && <small className="good">{g.checks === 1 ? "1 check" : `${g.checks} checks`}</small>}</span>
              </button>
            </li>
          ))}
          {!isGallery && found.map((p) => <li key={p.kind}><PartButton part={p} /></li>)}
        </ul>
        {(isGallery ? systems : found).length === 0 && <p className="empty">Nothing in the {shelf} is like “{words}”.</p>}
      </section>
    </main>
  );
}

/** A part of the library: a click begins a model with it. */
function PartButton({ part }: { part: PartCard }) {
  const name = part.kind.split(".").pop() ?? part.kind;
  const text = `use ${part.from}: ${name}\n\nmodel My${name} {\n    part: ${name}(${part.value})\n}\n`;
  return (
    <button className="card" onClick={() => void newFile(`${name.toLowerCase()}.bond`, text)}>
      <span className="picture"><img src={`./library/${part.kind}.svg`} alt="" loading="lazy" /></span>
      <b>{name}</b>
      <span className="story">{part.words}</span>
      <span className="chips"><small>{part.from}</small></span>
    </button>
  );
}

function RecentFiles() {
  const folder = useStudio((s) => s.folder);
  const files = useStudio((s) => s.files);
  const recent = recentOf(folder).filter((r) => files.some((f) => f.path === r.path));
  if (recent.length === 0) return null;
  return (
    <>
      <h2>Recent</h2>
      <ul className="recent">
        {recent.map((r) => <li key={r.path}><button className="row" onClick={() => void openFile(r.path)}><Icon name="file" size={14} /> <span>{r.path}</span><small className="quiet">{ago(r.at)}</small></button></li>)}
      </ul>
    </>
  );
}

function FolderFiles() {
  const files = useStudio((s) => s.files).filter((f) => f.kind === "model");
  const folder = useStudio((s) => s.folder);
  if (files.length === 0) return null;
  return (
    <>
      <h2>In {folder.split("/").filter(Boolean).pop() ?? "/"}</h2>
      <ul className="recent">
        {files.slice(0, 30).map((f) => (
          <li key={f.path}><button className="row" disabled={f.trouble !== ""} onClick={() => void openFile(f.path)}><Icon name="file" size={14} /> <span>{f.path}</span>{f.trouble && <small className="trouble">{f.trouble}</small>}</button></li>
        ))}
      </ul>
    </>
  );
}
