"""Imports the public Reference FMUs of the Modelica Association into Paynter and compares the runs with closed forms.

Usage: references.py PAYNTER FOLDER

Their sources come inside of the crate `fmi-sys` (two-clause BSD licence): cargo fetches it, the C compiler builds FMI 2.0
libraries, and models of ours have them as parts, in Model Exchange and in Co-Simulation. The FMI 3.0 descriptions of that copy
are those of a release candidate, which nobody reads any more.
"""

import csv
import json
import math
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

CRATE = ("fmi-sys", "=0.5.0")
FMUS = ["Dahlquist", "VanDerPol", "BouncingBall", "Stair", "Feedthrough"]

MODELS = """
model Decay { d: Fmu("Dahlquist.fmu", k = 2); output x = d.x }
experiment decay of Decay { stop = 3 [s]; rtol = 1e-9; atol = 1e-12; output_step = 0.1 [s]; record x }

model Swing { v: Fmu("VanDerPol.fmu"); output x0 = v.x0, x1 = v.x1 }
experiment swing of Swing { stop = 20 [s]; rtol = 1e-9; atol = 1e-12; output_step = 0.1 [s]; record x0, x1 }
model Own { der(a) = b; der(b) = (1 - a^2)*b - a; output x0 = a, x1 = b }
experiment own of Own { start a = 2, b = 0; stop = 20 [s]; rtol = 1e-9; atol = 1e-12; output_step = 0.1 [s]; record x0, x1 }

model Ball { b: Fmu("BouncingBall.fmu"); output h = b.h }
experiment fall of Ball { stop = 1.5 [s]; rtol = 1e-9; atol = 1e-12; output_step = 0.01 [s]; record h }
experiment heavy of Ball { with b.g = -20 [m/s^2]; stop = 0.3 [s]; rtol = 1e-9; atol = 1e-12; output_step = 0.01 [s]; record h }

model Steps { s: Fmu("Stair.fmu"); output n = s.counter }
experiment count of Steps { stop = 8.9 [s]; output_step = 0.25 [s]; record n }

model Sampled { d: Fmu("Dahlquist.fmu", period = 0.1 [s]); output x = d.x }
experiment sampled of Sampled { stop = 2 [s]; output_step = 0.1 [s]; record x }
"""


def sources(folder):
    """The folder with the sources; cargo fetches the crate that has them."""
    place = folder / "sources"
    place.mkdir(parents=True, exist_ok=True)
    (place / "lib.rs").write_text("")
    name, version = CRATE
    manifest = f'[package]\nname = "references"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n[lib]\npath = "lib.rs"\n[dependencies]\n{name} = "{version}"\n'
    (place / "Cargo.toml").write_text(manifest)
    call = ["cargo", "metadata", "--format-version", "1", "--manifest-path", str(place / "Cargo.toml")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the sources of the Reference FMUs cannot be fetched:\n{done.stderr}")
    packages = json.loads(done.stdout)["packages"]
    crate = next(p for p in packages if p["name"] == name)
    return Path(crate["manifest_path"]).parent / "fmi-standard3" / "docs" / "Reference-FMUs"


def build(tree, name, folder):
    """One FMU: a library for this machine, and its description."""
    library = folder / f"{name}.so"
    files = [tree / "src" / "fmi2Functions.c", tree / name / "model.c", tree / "src" / "cosimulation.c"]
    flags = ["-O1", "-w", "-shared", "-fPIC", "-DFMI_VERSION=2", "-DDISABLE_PREFIX"]
    paths = [f"-I{tree / 'include'}", f"-I{tree / name}"]
    subprocess.run(["cc", *flags, *paths, *map(str, files), "-o", str(library), "-lm"], check=True)
    with zipfile.ZipFile(folder / f"{name}.fmu", "w") as made:
        made.write(tree / name / "FMI2.xml", "modelDescription.xml")
        made.write(library, f"binaries/linux64/{name}.so")


def run(paynter, folder, experiment):
    table = folder / f"{experiment}.csv"
    call = [str(paynter), "run", str(folder / "references.bond"), "-e", experiment, "--no-report", "-o", str(table)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{experiment}: {done.stderr}")
    with open(table, newline="") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    return {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}


def bouncing(t, g=9.81, e=0.7):
    """Height of a ball that is dropped from 1 m and keeps the part e of its speed."""
    begin, speed = math.sqrt(2 / g), math.sqrt(2 * g)
    if t <= begin:
        return 1 - g * t * t / 2
    while True:
        speed *= e
        flight = 2 * speed / g
        if t <= begin + flight:
            return speed * (t - begin) - g * (t - begin) ** 2 / 2
        begin += flight


def compare(what, found, exact, within):
    worst = max(abs(a - b) for a, b in zip(found, exact, strict=True))
    print(f"  {what:44} error {worst:.1e}", flush=True)
    if not worst <= within:
        raise RuntimeError(f"{what} differs by {worst:.1e}")


def main():
    paynter, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve() / "references"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tree = sources(folder)
    for name in FMUS:
        build(tree, name, folder)
    (folder / "references.bond").write_text(MODELS)
    print("public Reference FMUs, FMI 2.0, as parts of our models", flush=True)
    found = run(paynter, folder, "decay")
    compare("Dahlquist, k = 2: exp(-2 t)", found["x"], [math.exp(-2 * t) for t in found["time"]], 1e-7)
    theirs, ours = run(paynter, folder, "swing"), run(paynter, folder, "own")
    for name in ("x0", "x1"):
        compare(f"VanDerPol, {name}: our own equations", theirs[name], ours[name], 1e-6)
    found = run(paynter, folder, "fall")
    compare("BouncingBall, two bounces", found["h"], [bouncing(t) for t in found["time"]], 1e-6)
    found = run(paynter, folder, "heavy")
    compare("BouncingBall, another parameter", found["h"], [bouncing(t, 20.0) for t in found["time"]], 1e-6)
    found = run(paynter, folder, "count")
    # At an event the row behind it counts.
    away = [(t, n) for t, n in zip(found["time"], found["n"]) if abs(t - round(t)) > 1e-6]
    compare("Stair, time events", [n for _, n in away], [1.0 + math.floor(t) for t, _ in away], 0)
    found = run(paynter, folder, "sampled")
    # Its own method is Euler's with 0.1 s.
    compare("Dahlquist in Co-Simulation: 0.9^k", found["x"], [0.9 ** round(10 * t) for t in found["time"]], 1e-12)


main()
