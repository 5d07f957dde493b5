"""Measures how the CPU time of a stage grows with the size of a model, each run in a process of its own.

In:  the program `paynter-bench`, the folder with the models of `make_models.py`, the stage, repetitions.
Out: for each kind of model the median CPU milliseconds at 10^3, 10^4, 10^5, and the growth of the last decade.

A process that does small models again and again finds its memory warm, which no user's run does.
"""

import resource
import statistics
import subprocess
import sys


def cpu_of(command):
    """CPU seconds of a process, start and end included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(bench, folder, stage, repetitions):
    sizes = (1_000, 10_000, 100_000)
    for kind in ("flat", "ladder", "cells", "star", "ring"):
        times = {size: [] for size in sizes}
        for _ in range(repetitions):
            for size in sizes:
                times[size].append(cpu_of([bench, "stages", f"{folder}/{kind}{size}.bond", stage]))
        median = [statistics.median(times[size]) * 1e3 for size in sizes]
        print(f"{kind:8} {median[0]:8.1f} {median[1]:8.1f} {median[2]:8.1f} ms, grows {median[2] / median[1]:.1f}-fold")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
