"""Times exported code: rates against hand-written C, Co-Simulation against `paynter run`.

Usage: speed.py PAYNTER FOLDER

Needs a C compiler and Python's own library only. Not part of ./ci; its figures stand in BENCHMARKS.md.
"""

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "gallery" / "gyroscope" / "gyroscope.bond"
EXPERIMENT = ["--experiment", "gyro2_sin"]


def call(*args):
    return subprocess.run([str(a) for a in args], check=True, capture_output=True, text=True).stdout


def rates(paynter, folder):
    text = folder / "gyro.c"
    call(paynter, "export", "c", folder / "gyro.bond", *EXPERIMENT, "--out", text)
    program = folder / "speed"
    source = Path(__file__).with_name("speed.c")
    call("cc", "-std=c99", "-O2", "-ffp-contract=off", f"-I{folder}", source, text, "-lm", "-o", program)
    hand, made, _ = call(program).split()
    print(f"rates: by hand {hand} ns, exported {made} ns, {float(made) / float(hand):.2f} x")


def co_simulation(paynter, folder, seconds):
    """Whole runs at rtol 1e-8, outputs every 0.1 s, both without starting a program."""
    fmu = folder / "gyro.fmu"
    model = folder / f"gyro_{seconds}.bond"
    model.write_text(re.sub(r"stop = [0-9.]+", f"stop = {seconds}", (folder / "gyro.bond").read_text()))
    call(paynter, "export", "fmu", model, *EXPERIMENT, "--sources-only", "--out", fmu)
    with zipfile.ZipFile(fmu) as files:
        description = files.read("modelDescription.xml").decode()
        sources = [name for name in files.namelist() if name.startswith("sources/")]
        files.extractall(folder, sources)
    guid = re.search(r'guid="([^"]+)"', description)[1]
    output = re.search(r'name="theta" valueReference="(\d+)"', description)[1]
    program = folder / "speed_steps"
    driver = Path(__file__).with_name("speed_steps.c")
    text = next(folder / name for name in sources if name.endswith(".c"))
    defines = [f'-DGUID="{guid}"', f"-DOUTPUT={output}", f"-DSTEPS={10 * seconds}"]
    call("cc", "-std=c99", "-O2", *defines, driver, text, "-lm", "-o", program)
    ours, theirs = [], []
    for _ in range(15):
        told = call(paynter, "run", model, *EXPERIMENT, "--no-report")
        ours.append(float(re.search(r"([\d.]+) ms", told)[1]))
        theirs.append(float(call(program).split()[0]))
    ratio = median(theirs) / median(ours)
    print(f"Co-Simulation over {seconds} s: paynter run {median(ours):.2f} ms, FMU {median(theirs):.2f} ms, {ratio:.2f} x")


def main():
    paynter, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    # The tolerance of both is 1e-8.
    text = MODEL.read_text().replace("rtol = 1e-11", "rtol = 1e-8")
    text = re.sub(r"compare .*", "", text)
    # An integral of the supplied power would be a state that the equations by hand do not have.
    text = re.sub(r", system.energy as E, system.supplied as work", "", text)
    (folder / "gyro.bond").write_text(re.sub(r"measure .*", "", text))
    rates(paynter, folder)
    for seconds in (10, 200):
        co_simulation(paynter, folder, seconds)


main()
