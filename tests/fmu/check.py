"""Checks FMUs by an independent tool: fmpy validates and simulates them, `paynter run` gives the reference.

Usage: check.py PAYNTER FOLDER [--all] [NAME ...]

For every experiment in CASES: exports FMI 2.0 and 3.0, validates the model description against the schemas of the
standard, simulates Model Exchange (with the CVode of fmpy) and Co-Simulation (our own integrator), and compares all
recorded columns with `paynter run`: within 1e-6 of the range of each. Then two FMUs are coupled step by step and
compared with the model that holds both. `--all` takes every experiment of the gallery, which needs half an hour.
"""

import csv
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu

ROOT = Path(__file__).resolve().parents[2]

# folder, or file in it, experiment (None: the first), what may differ, relative to the range
CASES = [
    ("circuit", None, 1e-6),
    ("spring_mass_damper", None, 1e-6),
    ("gyroscope", None, 1e-6),
    ("rate_gyro/rate_gyro_reduced", None, 1e-6),
    ("gear_train", None, 1e-6),
    ("wheatstone", None, 1e-6),
    ("disc", None, 1e-6),
    ("pendulum", None, 1e-6),
    ("ball_joint", None, 1e-6),
    ("flight_table", None, 1e-6),
    ("platform", None, 1e-6),
    ("missile", None, 1e-6),
    ("servo", None, 1e-6),
    ("slider_crank", "slidercrank_RC_1e7_200", 1e-6),
]
# Longer runs are cut: CVode takes every tick of a sampled controller as an event, and the gyroscopes of the platform
# nutate at hundreds of hertz.
LONGEST = {"servo": 0.15, "platform": 0.5, "slidercrank_RC_1e7_200": 0.3}
# Experiments with `constraints = parasitic`, of rates up to 10^6 per second.
TOO_STIFF = {"slidercrank_RC_1e7_200"}


def call(*args):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, args))}\n{done.stderr}")
    return done.stdout


def read_csv(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    names = rows[0]
    values = np.array([[float(x) for x in row] for row in rows[1:]])
    return {name: values[:, k] for k, name in enumerate(names)}


def shown_unit(description, variable):
    """Factor and offset from SI to the unit that the model shows."""
    for unit in description.unitDefinitions:
        if unit.name == variable.unit:
            for display in unit.displayUnits:
                if display.name == variable.displayUnit:
                    return float(display.factor), float(display.offset or 0)
    return 1.0, 0.0


def compare(case, fmu, kind, reference, within):
    description = read_model_description(str(fmu), validate=False)
    variables = {v.name: v for v in description.modelVariables}
    columns = {}
    for name in reference:
        if name not in ("time", "t"):
            own = f"outputs.{name}" if f"outputs.{name}" in variables else name
            columns[name] = own if own in variables else None
    missing = [name for name, own in columns.items() if own is None]
    if missing:
        raise RuntimeError(f"{case}: no variables for {missing}")
    times = reference["time"]
    begin = time.perf_counter()
    result = simulate_fmu(
        str(fmu),
        validate=False,
        fmi_type=kind,
        start_time=float(times[0]),
        stop_time=float(times[-1]),
        output_interval=float(times[1] - times[0]),
        # Global errors of the importer's multistep method are hundreds of times its tolerance.
        relative_tolerance=1e-8 if kind == "CoSimulation" else 1e-11,
        output=list(columns.values()),
        record_events=False,
    )
    took = time.perf_counter() - begin
    worst, where = 0.0, ""
    for name, own in columns.items():
        factor, offset = shown_unit(description, variables[own])
        expected = reference[name]
        got = np.interp(times, result["time"], result[own]) * factor + offset
        size = max(np.ptp(expected), 0.1 * np.max(np.abs(expected)), 1e-12)  # what is conserved has no range
        error = np.max(np.abs(got - expected)) / size
        if not error <= worst:
            worst, where = error, name
    print(f"  {kind:14} error {worst:.1e} ({where}), {took:.2f} s", flush=True)
    if not worst <= within:
        raise RuntimeError(f"{case}: {kind} differs by {worst:.1e} of the range in `{where}`")


def check(paynter, folder, name, experiment, within):
    place, _, file = name.partition("/")
    name = file or place
    model = ROOT / "gallery" / place / f"{name}.bond"
    chosen = ["--experiment", experiment] if experiment else []
    table = folder / f"{name}.csv"
    call(paynter, "run", model, *chosen, "--out", table)
    reference = read_csv(table)
    longest = LONGEST.get(experiment, LONGEST.get(name))
    if longest:
        keep = reference["time"] <= longest
        reference = {k: v[keep] for k, v in reference.items()}
    for version in (2, 3):
        fmu = folder / f"{name}{version}.fmu"
        call(paynter, "export", "fmu", model, *chosen, "--fmi", version, "--out", fmu)
        print(f"{name}{f' ({experiment})' if experiment else ''}, FMI {version}.0", flush=True)
        problems = validate_fmu(str(fmu))
        if problems:
            raise RuntimeError(f"{name}: {problems}")
        # More steps than the CVode of fmpy allows: 217 000, and stiff springs in place of joints.
        is_long = name == "platform" or experiment in TOO_STIFF
        for kind in ("CoSimulation",) if is_long else ("ModelExchange", "CoSimulation"):
            compare(name, fmu, kind, reference, within)


class Slave:
    """A Co-Simulation FMU of either version, by names."""

    def __init__(self, fmu, name):
        description = read_model_description(str(fmu), validate=False)
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        self.is_three = description.fmiVersion.startswith("3")
        self.folder = extract(str(fmu))
        make = FMU3Slave if self.is_three else FMU2Slave
        self.fmu = make(
            guid=description.guid,
            unzipDirectory=self.folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=name,
        )
        self.fmu.instantiate()
        if self.is_three:
            self.fmu.enterInitializationMode(startTime=0.0)
        else:
            self.fmu.setupExperiment(startTime=0.0)
            self.fmu.enterInitializationMode()

    def set(self, name, value):
        put = self.fmu.setFloat64 if self.is_three else self.fmu.setReal
        put([self.references[name]], [value])

    def get(self, name):
        take = self.fmu.getFloat64 if self.is_three else self.fmu.getReal
        return float(take([self.references[name]])[0])

    def close(self):
        self.fmu.terminate()
        self.fmu.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)


def check_coupled(paynter, folder):
    """Two FMUs, also of different versions, exchange values every 10 ms."""
    model = ROOT / "tests" / "fmu" / "coupled.bond"
    table = folder / "together.csv"
    call(paynter, "run", model, "--experiment", "together", "--no-report", "--out", table)
    reference = read_csv(table)
    for versions in ((2, 2), (3, 3), (2, 3)):
        slaves = []
        for name, version in zip(("plant", "controller"), versions):
            fmu = folder / f"{name}{version}.fmu"
            call(paynter, "export", "fmu", model, "--experiment", name, "--fmi", version, "--out", fmu)
            slaves.append(Slave(fmu, name))
        plant, controller = slaves
        for slave in slaves:
            slave.fmu.exitInitializationMode()
        step, n = 0.01, len(reference["time"])
        rows = []
        for k in range(n):
            y, u = plant.get("y"), controller.get("u")
            plant.set("u", u)
            controller.set("e", 1 - y)
            # As the model that holds both: outputs with the inputs of this instant.
            rows.append((plant.get("y"), controller.get("u")))
            if k + 1 < n:
                for slave in slaves:
                    slave.fmu.doStep(k * step, step)
        for slave in slaves:
            slave.close()
        rows = np.array(rows)
        worst = max(
            np.max(np.abs(rows[:, column] - reference[name])) / np.ptp(reference[name])
            for column, name in enumerate(("y", "u"))
        )
        print(f"two FMUs coupled, FMI {versions[0]}.0 and {versions[1]}.0: error {worst:.1e}", flush=True)
        if not worst <= 1e-6:
            raise RuntimeError(f"coupled FMUs differ by {worst:.1e}")


def gallery():
    """Every experiment of the gallery."""
    for model in sorted((ROOT / "gallery").glob("*/*.bond")):
        if model.stem == model.parent.name:
            for name in re.findall(r"^experiment (\w+) of", model.read_text(), re.MULTILINE):
                yield model.stem, name, 1e-6


def main():
    paynter, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    is_all = "--all" in sys.argv
    wanted = [name for name in sys.argv[3:] if name != "--all"]
    failed = []
    if not wanted or "coupled" in wanted:
        try:
            check_coupled(paynter, folder)
        except Exception as error:  # all cases are looked at before the end
            failed.append(f"coupled: {error}")
            print(f"  FAILED: {error}", flush=True)
    for name, experiment, within in gallery() if is_all else CASES:
        if wanted and name not in wanted:
            continue
        try:
            check(paynter, folder, name, experiment, within)
        except Exception as error:  # all cases are looked at before the end
            failed.append(f"{name}: {error}")
            print(f"  FAILED: {error}", flush=True)
    print(json.dumps({"failed": failed}))
    sys.exit(1 if failed else 0)


main()
