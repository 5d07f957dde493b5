// The start page: gallery with pictures and search, new models, the files of the folder.

import { useState } from "react";
import { newFile, openFile, openGallery } from "../store/actions";
import { useStudio } from "../store/store";
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
  const [words, setWords] = useState("");
  const found = gallery.filter((g) => `${g.name} ${g.title} ${g.story}`.toLowerCase().includes(words.toLowerCase()));
  return (
    <main className="start">
      <section className="beginnings" aria-label="Start">
        <h1>Start</h1>
        <h2>New from</h2>
        <button className="card-row" onClick={askNew}><Icon name="plus" /> <span>Empty model</span> <kbd>Ctrl N</kbd></button>
        <button className="card-row is-first" onClick={beginFirstModel}><Icon name="play" size={13} /> <span>First model, guided</span> <small className="quiet">five minutes</small></button>
        {STARTERS.map(([name, icon, file, text]) => <button key={name} className="card-row" onClick={() => void newFile(file, text)}><Icon name={icon} /> <span>{name}</span></button>)}
        <FolderFiles />
      </section>
      <section className="gallery" aria-label="Gallery">
        <div className="gallery-head">
          <h1>Gallery</h1>
          <p>{gallery.length} systems from the literature</p>
        </div>
        <label className="search"><Icon name="search" size={14} /><input type="search" aria-label="Search the gallery" placeholder="Search the gallery" value={words} onChange={(e) => setWords(e.target.value)} /></label>
        <ul className="cards">
          {found.map((g) => (
            <li key={g.name}>
              <button className="card" onClick={() => void openGallery(g.name)}>
                <span className="picture"><img src={`./gallery/${g.name}.svg`} alt="" loading="lazy" /></span>
                <b>{g.title}</b>
                <span className="story">{g.story}</span>
                <span className="chips"><small>{g.files.length === 1 ? "1 file" : `${g.files.length} files`}</small>{g.checks > 0 && <small className="good">{g.checks === 1 ? "1 check" : `${g.checks} checks`}</small>}</span>
              </button>
            </li>
          ))}
        </ul>
        {found.length === 0 && <p className="empty">Nothing in the gallery is like “{words}”.</p>}
      </section>
    </main>
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
