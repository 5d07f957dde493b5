"""What a call from Python costs beside the engine's own work; see BENCHMARKS.md.

    python python/benches/overhead.py [path of the paynter command]
"""

import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent import futures

import numpy as np
import paynter

TINY = """model M { param R1 = 2; s: Se(1) -> j: 1 -> r: R(R1), i: I(1); output w = i.f }
experiment go of M { stop = 1; output_step = 0.5; record w }"""

#: A run that takes a millisecond or so in the engine.
LONG = """model M { s: Se(sin(30*time)) -> j: 1 -> i: I(1), c: C(0.01), r: R(0.1) }
experiment go of M { stop = 30; output_step = 1; record i.f; max_step = 0.01 }"""
RC = """model RC { param R1 = 1000 [ohm], C1 = 1e-4 [F]
    supply: Se(5 [V]) -> loop: 1 -> r: R(R1), c: C(C1); output v [V] = c.e }
experiment charge of RC { stop = 0.5 [s]; record v; measure v_end = final(v) }"""


def best(call, n):
    """The least of n times, s."""
    times = []
    for _ in range(n):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times), sorted(times)[len(times) // 2]


def overhead():
    m = paynter.model(TINY)
    elapsed = []

    def call():
        result = m.run()
        result["w"]
        elapsed.append(result._run.elapsed)

    for _ in range(10):
        call()
    whole = [best(call, 1)[0] for _ in range(2000)]
    beside = np.array(whole) - np.array(elapsed[-2000:])
    print(f"a run: {np.median(whole) * 1e6:.0f} µs, of which engine {np.median(elapsed) * 1e6:.0f} µs;"
          f" beside it {np.median(beside) * 1e6:.0f} µs (min {beside.min() * 1e6:.0f})")
    print(f"a value set, compiled anew and run: {best(lambda: m.set(R1=3).run(), 200)[1] * 1e6:.0f} µs")


def sweep(command):
    m = paynter.gallery("gyroscope")
    values = np.linspace(1.8, 2.2, 10_000)
    m.sweep(over={"A [kg*m^2]": values[:10]})
    ours = best(lambda: m.sweep(over={"A [kg*m^2]": values}), 3)[0]
    print(f"10 000 gyroscopes from Python: {ours:.3f} s")
    if command:
        over = "A in 1.8 [kg*m^2] .. 2.2 [kg*m^2] by 4.0004e-5 [kg*m^2]"
        experiment = m.experiments[0]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "gyroscope.bond")
            m.save(path)
            call = [command, "sweep", path, "-e", experiment, "--over", over]
            theirs = best(lambda: subprocess.run(call, capture_output=True, check=False), 3)[0]
        print(f"the same by the command: {theirs:.3f} s; ratio {ours / theirs:.3f}")


def many(n):
    """Runs of a millisecond, one after another."""
    m = paynter.model(LONG)
    for _ in range(n):
        m.run()


def threads(n=400):
    """Two threads, two processes and one thread in turn, so that all meet the same machine; the best of several rounds counts.

    Processes share no interpreter lock: as long as threads are as fast as they are, the lock holds nobody up.
    """

    def at_once(pool):
        for done in [pool.submit(many, n) for _ in range(2)]:
            done.result()

    spawn = multiprocessing.get_context("spawn")
    with futures.ThreadPoolExecutor(2) as pair, futures.ProcessPoolExecutor(2, mp_context=spawn) as apart:
        at_once(apart)
        calls = (lambda: at_once(pair), lambda: at_once(apart), lambda: many(n))
        rounds = [[best(call, 1)[0] for call in calls] for _ in range(7)]
    in_threads, in_processes, one = (min(times) for times in zip(*rounds))
    print(f"{n} runs each in two threads {in_threads:.2f} s, in two processes {in_processes:.2f} s: ratio"
          f" {in_threads / in_processes:.2f}; in one thread {one:.2f} s: {2 * one / in_threads:.2f} at once")


def monte_carlo(n=100_000):
    """On a Dask cluster of two processes, streamed into files: how much this process grows."""
    from dask.distributed import Client, LocalCluster

    m = paynter.model(RC)
    rng = np.random.default_rng(1)
    over = {"R1": rng.normal(1000, 50, n), "C1": rng.normal(1e-4, 5e-6, n)}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        Client(local) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        m.sweep(over={k: v[:100] for k, v in over.items()}, paired=True, client=client)
        before = size()
        begin = time.perf_counter()
        found = m.sweep(over=over, paired=True, client=client, out=os.path.join(folder, "parts"))
        seconds, grown = time.perf_counter() - begin, size() - before
        print(f"Monte Carlo of {n} runs: {seconds:.1f} s in {len(found.files)} files; this process grew by {grown} kB"
              f" from {before} kB; mean of v_end {found['v_end'].mean():.6f} V")


def size():
    """The most memory that this process has had, kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def leaks(n=1_000_000):
    m = paynter.model(TINY)

    def cycle(n):
        for k in range(n):
            m.run()["w"]
            made = paynter.model(TINY)
            if k % 20 == 0:
                made.run()

    cycle(5000)
    before = size()
    cycle(n)
    print(f"{n} models and results made and dropped, {n // 20} compiled: grew by {size() - before} kB")


if __name__ == "__main__":
    overhead()
    sweep(sys.argv[1] if len(sys.argv) > 1 else None)
    threads()
    monte_carlo()
    leaks()
