"""Measures how the cost of mechanisms grows with the number of bodies.

In:  the program `paynter-bench`; a folder for the models; perhaps sizes.
Out: for each kind of mechanism a line per size, and the exponents of set-up, memory, code and right-hand side; for
     the chain in space the forward dynamics of Pinocchio and MuJoCo on the same bodies, where Python has them
     (`pip install pin mujoco numpy`).

Each size runs in a process of its own. Times are CPU time of the thread that works.
"""

import math
import os
import re
import subprocess
import sys
import time


def chain3(n):
    return f"""units strict
use mechanics3d: World, Rod, Revolute, ey, ez
model Chain {{
    world: World(gravity = [0, 0, -9.81] [m/s^2])
    for i in 1 .. {n} {{
        link[i]: Rod(m = 1 [kg], l = 1 [m], radius = 5 [cm])
        hinge[i]: Revolute(axis = if mod(i, 2) == 1 then ey else ez)
        hinge[i] => link[i].a
        guess link[i].r = [(i-0.5)*1 [m], 0 [m], 0 [m]]
        start hinge[i].angle = 0 [rad], hinge[i].rate = 0.5 [rad/s]
    }}
    world => hinge[1]
    for i in 2 .. {n} {{ link[i-1].b => hinge[i] }}
    output tip [m] = link[{n}].b.r[3]
}}
experiment run of Chain {{ stop = 1 [s]; output_step = 0.1 [s]; rtol = 1e-7; record tip }}
"""


def chain2(n):
    return f"""units strict
use mechanics2d: Ground, Bar, Pin
model Chain {{
    ground: Ground()
    for i in 1 .. {n} {{
        link[i]: Bar(m = 1 [kg], l = 1 [m])
        hinge[i]: Pin()
        hinge[i] => link[i].a
        Se[2]([0, -9.81] [N]) => link[i].v
        guess link[i].r = [(i-0.5)*1 [m], 0 [m]]
        start hinge[i].angle = 0 [rad], hinge[i].rate = 0 [rad/s]
    }}
    ground => hinge[1]
    for i in 2 .. {n} {{ link[i-1].b => hinge[i] }}
    output tip [m] = link[{n}].b.r[2]
}}
experiment run of Chain {{ stop = 1 [s]; output_step = 0.1 [s]; rtol = 1e-7; record tip }}
"""


def depth(i):
    return int(math.log2(i)) + 1


def tree3(n):
    """Every body carries two more: body i hangs on body i // 2."""
    return f"""units strict
use mechanics3d: World, Rod, Revolute, ey, ez
model Tree {{
    world: World(gravity = [0, 0, -9.81] [m/s^2])
    for i in 1 .. {n} {{
        link[i]: Rod(m = 1 [kg], l = 1 [m], radius = 5 [cm])
        hinge[i]: Revolute(axis = if mod(i, 2) == 1 then ey else ez)
        hinge[i] => link[i].a
        guess link[i].r = [(floor(log(i + 0.5)/log(2)) + 0.5)*1 [m], 0 [m], 0 [m]]
        start hinge[i].angle = 0 [rad], hinge[i].rate = 0.5 [rad/s]
    }}
    world => hinge[1]
    for i in 2 .. {n} {{ link[floor(i/2)].b => hinge[i] }}
    output tip [m] = link[{n}].b.r[3]
}}
experiment run of Tree {{ stop = 1 [s]; output_step = 0.1 [s]; rtol = 1e-7; record tip }}
"""


def tree2(n):
    return f"""units strict
use mechanics2d: Ground, Bar, Pin
model Tree {{
    ground: Ground()
    for i in 1 .. {n} {{
        link[i]: Bar(m = 1 [kg], l = 1 [m])
        hinge[i]: Pin()
        hinge[i] => link[i].a
        Se[2]([0, -9.81] [N]) => link[i].v
        guess link[i].r = [(floor(log(i + 0.5)/log(2)) + 0.5)*1 [m], 0 [m]]
        start hinge[i].angle = 0 [rad], hinge[i].rate = mod(i, 3)*0.1 [rad/s]
    }}
    ground => hinge[1]
    for i in 2 .. {n} {{ link[floor(i/2)].b => hinge[i] }}
    output tip [m] = link[{n}].b.r[2]
}}
experiment run of Tree {{ stop = 1 [s]; output_step = 0.1 [s]; rtol = 1e-7; record tip }}
"""


def fourbars(n, rtol="1e-7"):
    """N four-bars in a row (IFToMM A02): 2 N + 1 bars."""
    return f"""units strict
use mechanics2d: Ground, Bar, Pin
model FourBars {{
    for i in 1 .. {n + 1} {{
        g[i]: Ground(r = [(i-1)*1 [m], 0 [m]])
        c[i]: Bar(m = 1 [kg], l = 1 [m])
        g[i].fixed => j[i]: Pin => c[i].a
        Se[2]([0, -9.81] [N]) => c[i].v
        guess c[i].angle = 90 [deg], c[i].r = [(i-1)*1 [m], 0.5 [m]]
        guess c[i].w.f = -1 [rad/s]
    }}
    for i in 1 .. {n} {{
        k[i]: Bar(m = 1 [kg], l = 1 [m])
        c[i].b => h[i]: Pin => k[i].a
        k[i].b => e[i]: Pin => c[i+1].b
        Se[2]([0, -9.81] [N]) => k[i].v
        guess k[i].angle = 0 [deg], k[i].r = [(i-0.5)*1 [m], 1 [m]]
    }}
    start c[1].angle = 90 [deg], c[1].w.f = -1 [rad/s]
    output x [m] = c[1].b.r[1], y [m] = c[1].b.r[2]
}}
experiment run of FourBars {{ stop = 10 [s]; output_step = 0.1 [s]; rtol = {rtol}; record x, y }}
"""


KINDS = {
    "chain3": (chain3, (10, 30, 100, 300, 1000), lambda n: n),
    "tree3": (tree3, (10, 30, 100, 300, 1000), lambda n: n),
    "chain2": (chain2, (10, 30, 100, 300, 1000), lambda n: n),
    "tree2": (tree2, (10, 30, 100, 300, 1000), lambda n: n),
    "fourbars": (fourbars, (2, 10, 40, 100, 200), lambda n: 2 * n + 1),
}

LINE = re.compile(r"set-up ([\d.]+) s, ([\d.]+) MB, code (\d+) bytes, right-hand side ([\d.]+) us")


def exponent(sizes, values):
    """Slope of a straight line through the logarithms."""
    x = [math.log(s) for s in sizes]
    y = [math.log(max(v, 1e-9)) for v in values]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def measure(bench, folder, kind, most):
    write, sizes, count = KINDS[kind]
    done, rows = [], []
    for n in (n for n in sizes if n <= most):
        path = os.path.join(folder, f"{kind}_{n}.bond")
        with open(path, "w") as out:
            out.write(write(n))
        run = subprocess.run([bench, "bodies", path, str(count(n))], capture_output=True, text=True)
        print(f"{kind:9} {n:5}: {run.stdout.strip() or run.stderr.strip()[:300]}", flush=True)
        found = LINE.search(run.stdout)
        if found:
            done.append(count(n))
            rows.append([float(x) for x in found.groups()])
    if len(done) > 2:
        names = ("set-up", "memory", "code", "right-hand side")
        fits = (f"{name} {exponent(done, [r[k] for r in rows]):.2f}" for k, name in enumerate(names))
        print(f"{kind:9} exponents over all sizes: " + ", ".join(fits), flush=True)


def peers(sizes):
    """Forward dynamics of the chain in space by Pinocchio and MuJoCo, microseconds a link."""
    try:
        import numpy as np
        import pinocchio as pin
    except ImportError:
        print("no Pinocchio here")
        return
    for n in sizes:
        model = pin.Model()
        parent = 0
        inertia = pin.Inertia(1.0, np.array([0.5, 0, 0]), np.diag([6 * 0.05**2, 1, 1]) / 12)
        for i in range(1, n + 1):
            joint = pin.JointModelRY() if i % 2 else pin.JointModelRZ()
            place = pin.SE3(np.eye(3), np.array([0.0 if i == 1 else 1.0, 0, 0]))
            parent = model.addJoint(parent, joint, place, f"j{i}")
            model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
        data = model.createData()
        q, v, tau = np.zeros(n), np.full(n, 0.5), np.zeros(n)
        times = max(3, 200_000 // n)
        best = math.inf
        for _ in range(5):
            begin = time.thread_time()
            for _ in range(times):
                pin.aba(model, data, q, v, tau)
            best = min(best, (time.thread_time() - begin) / times)
        print(f"Pinocchio {n:5}: {best * 1e6:.2f} us, {best * 1e6 / n:.3f} us per link", flush=True)
    try:
        import mujoco
    except ImportError:
        print("no MuJoCo here")
        return
    for n in sizes:
        text = ""
        for i in range(1, n + 1):
            axis = "0 1 0" if i % 2 else "0 0 1"
            text += (f'<body pos="{0 if i == 1 else 1} 0 0"><joint axis="{axis}"/><inertial mass="1" pos="0.5 0 0" '
                     f'diaginertia="{6 * 0.05**2 / 12} {1 / 12} {1 / 12}"/>')
        model = mujoco.MjModel.from_xml_string(
            f"<mujoco><worldbody>{text}{'</body>' * n}</worldbody></mujoco>")
        data = mujoco.MjData(model)
        data.qvel[:] = 0.5
        times = max(3, 20_000 // n)
        begin = time.thread_time()
        for _ in range(times):
            mujoco.mj_forward(model, data)
        each = (time.thread_time() - begin) / times
        print(f"MuJoCo    {n:5}: {each * 1e6:.2f} us, {each * 1e6 / n:.3f} us per link", flush=True)


def main(bench, folder, kinds, most):
    os.makedirs(folder, exist_ok=True)
    for kind in kinds:
        if kind == "peers":
            peers((10, 100))
        else:
            measure(bench, folder, kind, most)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: bodies.py BENCH FOLDER [LARGEST [KIND ...]]")
    largest = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    main(sys.argv[1], sys.argv[2], sys.argv[4:] or [*KINDS, "peers"], largest)
