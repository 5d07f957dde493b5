"""What a call from Python costs beside the engine's own work; see BENCHMARKS.md.

    python python/benches/overhead.py [path of the paynter command]
"""

import resource
import subprocess
import sys
import threading
import time

import numpy as np
import paynter

TINY = """model M { param R1 = 2; s: Se(1) -> j: 1 -> r: R(R1), i: I(1); output w = i.f }
experiment go of M { stop = 1; output_step = 0.5; record w }"""


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
        m.save("/tmp/gyroscope_bench.bond")
        over = "A in 1.8 [kg*m^2] .. 2.2 [kg*m^2] by 4.0004e-5 [kg*m^2]"
        experiment = m.experiments[0]
        call = [command, "sweep", "/tmp/gyroscope_bench.bond", "-e", experiment, "--over", over]
        theirs = best(lambda: subprocess.run(call, capture_output=True, check=False), 3)[0]
        print(f"the same by the command: {theirs:.3f} s; ratio {ours / theirs:.3f}")


def threads():
    m = paynter.gallery("gyroscope")
    m.run(), m.run()

    def work():
        for _ in range(2000):
            m.run()

    one = best(work, 2)[0]

    def both():
        pair = [threading.Thread(target=work) for _ in range(2)]
        for t in pair:
            t.start()
        for t in pair:
            t.join()

    two = best(both, 2)[0]
    print(f"2000 runs in one thread {one:.2f} s, in each of two threads {two:.2f} s: speed-up {2 * one / two:.2f}")


def leaks(n=1_000_000):
    m = paynter.model(TINY)

    def cycle(n):
        for k in range(n):
            m.run()["w"]
            made = paynter.model(TINY)
            if k % 20 == 0:
                made.run()

    def size():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    cycle(5000)
    before = size()
    cycle(n)
    print(f"{n} models and results made and dropped, {n // 20} compiled: grew by {size() - before} kB")


if __name__ == "__main__":
    overhead()
    sweep(sys.argv[1] if len(sys.argv) > 1 else None)
    threads()
    leaks()
