"""Times exported code: rates against hand-written C, Co-Simulation against `paynter run`.

Usage: speed.py PAYNTER FOLDER

Needs a C compiler and Python's own library only. Not part of ./ci; its figures stand in BENCHMARKS.md.
"""

import ctypes
import re
import subprocess
import sys
import time
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


def co_simulation(paynter, folder):
    """Whole runs of 10 s at rtol 1e-8, outputs every 0.1 s, both without starting a program."""
    fmu = folder / "gyro.fmu"
    call(paynter, "export", "fmu", folder / "gyro.bond", *EXPERIMENT, "--out", fmu)
    with zipfile.ZipFile(fmu) as files:
        name = next(n for n in files.namelist() if n.startswith("binaries/"))
        description = files.read("modelDescription.xml").decode()
        library = folder / Path(name).name
        library.write_bytes(files.read(name))
    guid = re.search(r'guid="([^"]+)"', description)[1].encode()
    outputs = re.findall(r'valueReference="(\d+)"[^>]*causality="output"', description)
    fmi = ctypes.CDLL(str(library.resolve()))
    fmi.fmi2Instantiate.restype = ctypes.c_void_p

    class Callbacks(ctypes.Structure):
        _fields_ = [(n, ctypes.c_void_p) for n in ("logger", "allocate", "free", "finished", "environment")]

    callbacks = Callbacks()
    number, pointer, flag = ctypes.c_double, ctypes.c_void_p, ctypes.c_int
    references = (ctypes.c_uint * len(outputs))(*map(int, outputs))
    values = (ctypes.c_double * len(outputs))()

    def run():
        c = pointer(fmi.fmi2Instantiate(b"gyro", 1, guid, b"", ctypes.byref(callbacks), 0, 0))
        begin = time.perf_counter()
        status = fmi.fmi2SetupExperiment(c, flag(1), number(1e-8), number(0), flag(1), number(10))
        status |= fmi.fmi2EnterInitializationMode(c) | fmi.fmi2ExitInitializationMode(c)
        for k in range(100):
            status |= fmi.fmi2DoStep(c, number(0.1 * k), number(0.1), flag(1))
            status |= fmi.fmi2GetReal(c, references, ctypes.c_size_t(len(outputs)), values)
        took = time.perf_counter() - begin
        fmi.fmi2FreeInstance(c)
        if status:
            raise RuntimeError(f"the FMU gave {status}")
        return took

    ours = []
    for _ in range(15):
        text = call(paynter, "run", folder / "gyro.bond", *EXPERIMENT, "--no-report")
        ours.append(float(re.search(r"([\d.]+) ms", text)[1]))
    theirs = [1e3 * run() for _ in range(51)]
    ratio = median(theirs) / median(ours)
    print(f"Co-Simulation: paynter run {median(ours):.2f} ms, FMU {median(theirs):.2f} ms, {ratio:.2f} x")


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
    co_simulation(paynter, folder)


main()
