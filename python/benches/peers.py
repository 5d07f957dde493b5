"""The same problems from Python with Paynter, SciPy, CasADi and scikit-sundae, in one run; see BENCHMARKS.md.

    pip install scipy casadi scikit-sundae && python python/benches/peers.py

Each solver runs at the loosest half decade of rtol that keeps the error at the end within the bound, compiled before;
then all run in turn, and the medians are compared. A package that is not installed is left out.
"""

import math
import pathlib
import statistics
import time

import numpy as np
import paynter

MODELS = pathlib.Path(__file__).parents[2] / "benches/models"


class Problem:
    """Rates as a function of (sin, cos, t, y), the model file, and what of it are the states."""

    def __init__(self, name, rates, start, stop, bound, atol, is_stiff, edits):
        self.name, self.rates, self.start, self.stop = name, rates, np.array(start, float), stop
        self.bound, self.atol, self.is_stiff = bound, atol, is_stiff
        self.text = (MODELS / f"{name}.bond").read_text()
        for old, new in edits.items():
            assert old in self.text, old
            self.text = self.text.replace(old, new)

    def plain(self, t, y):
        return self.rates(math.sin, math.cos, t, y)

    def scaled_error(self, found, exact):
        """Relative to the size of each state, where it has one."""
        return float(np.max(abs(np.asarray(found) - exact) / np.maximum(abs(exact), self.atol * 1e3)))


def gyroscope(sin, cos, t, y):
    a, a1, b1, c, c1, c2 = 2, 1.4, 1.2, 4, 2.6, 2.2
    p1, p2, p3, theta = y[0], y[1], y[2], y[3]
    n_theta, n_phi, n_psi = sin(t), 0.5 * cos(2 * t), 0.3 * sin(0.5 * t)
    s, k = sin(theta), cos(theta)
    turn, tilt, across = p2 / c2, p1 / (a + a1), a + b1
    m = c2 + c1 * k * k + across * s * s
    return [
        n_theta - turn * p3 * s + turn * turn * s * k * (across - c1),
        c2 * (n_phi - n_psi * k + 2 * tilt * turn * s * k * (c1 - across) + tilt * p3 * s) / m,
        n_psi,
        tilt,
        turn,
        p3 / c - turn * k,
    ]


def robertson(sin, cos, t, y):
    first, third = -0.04 * y[0] + 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    return [first, -first - third, third]


def van_der_pol(sin, cos, t, y):
    return [y[1], 1000 * (1 - y[0] * y[0]) * y[1] - y[0]]


PROBLEMS = [
    Problem("gyroscope", gyroscope, [0, 0, 0, 0.2, 0, 0], 10, 1e-6, 1e-3, False, {
        "record theta, phi, psi\n}": "record I1.p, I2.p, I3.p, theta, phi, psi\n}", "rtol = 1e-8": "rtol = RTOL; atol = ATOL"}),
    Problem("robertson", robertson, [1, 0, 0], 4e10, 1e-5, 1e-12, True, {"rtol = 1e-8": "rtol = RTOL", "atol = 1e-14": "atol = ATOL"}),
    Problem("van_der_pol", van_der_pol, [2, 0], 2000, 1e-4, 1e-6, True, {"rtol = 1e-8": "rtol = RTOL", "atol = 1e-10": "atol = ATOL"}),
]


def with_paynter(problem):
    def made(rtol, atol):
        text = problem.text.replace("RTOL", repr(rtol)).replace("ATOL", repr(atol))
        m = paynter.model(text)
        ends = [0, problem.stop]
        m.run(times=ends), m.run(times=ends)  # machine code is made at the second run

        def run():
            result = m.run(times=ends)
            return [result[name][-1] for name in result.names[: len(problem.start)]]

        return run

    return made


def with_scipy(problem):
    from scipy.integrate import solve_ivp

    method = "LSODA" if problem.is_stiff else "DOP853"

    def made(rtol, atol):
        return lambda: solve_ivp(
            problem.plain, (0, problem.stop), problem.start, method=method, rtol=rtol, atol=atol
        ).y[:, -1]

    return made


def with_sundae(problem):
    from sksundae.cvode import CVODE

    def rates(t, y, f):
        f[:] = problem.plain(t, y)

    def made(rtol, atol):
        method = "BDF" if problem.is_stiff else "Adams"
        solver = CVODE(rates, method=method, rtol=rtol, atol=atol, max_num_steps=10**7)
        times = np.array([0, problem.stop / 2, problem.stop])
        return lambda: solver.solve(times, problem.start).y[-1]

    return made


def with_casadi(problem):
    import casadi

    y, t = casadi.SX.sym("y", len(problem.start)), casadi.SX.sym("t")
    rates = casadi.vertcat(*problem.rates(casadi.sin, casadi.cos, t, y))

    def made(rtol, atol):
        options = {"reltol": rtol, "abstol": atol, "max_num_steps": 10**7}
        if not problem.is_stiff:
            options |= {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"}
        integrator = casadi.integrator("f", "cvodes", {"x": y, "t": t, "ode": rates}, 0, problem.stop, options)
        return lambda: np.array(integrator(x0=problem.start)["xf"]).ravel()

    return made


SOLVERS = {"Paynter": with_paynter, "SciPy": with_scipy, "CasADi": with_casadi, "scikit-sundae": with_sundae}


def loosest(made, problem, exact):
    """The run at the loosest half decade that is good enough, with its rtol and error."""
    for k in range(6, 27):
        rtol = 10 ** (-0.5 * k)
        try:
            run = made(rtol, rtol * problem.atol)
            error = problem.scaled_error(run(), exact)
        except Exception:  # a solver that gives up at loose tolerances is asked for tighter ones
            continue
        if error <= problem.bound:
            return run, rtol, error
    return None


def compare(problem, n=15):
    # The tightest run of Paynter is what errors are measured against; peers check it.
    exact = np.array(with_paynter(problem)(1e-13, 1e-13 * problem.atol)())
    found = {}
    for name, solver in SOLVERS.items():
        try:
            made = solver(problem)
        except ImportError:
            print(f"  {name}: not installed")
            continue
        best = loosest(made, problem, exact)
        if best is None:
            print(f"  {name}: never within {problem.bound:.0e}")
        else:
            found[name] = (*best, [])
    for _ in range(n):
        for run, _, _, times in found.values():
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
    ours = statistics.median(found["Paynter"][3])
    for name, (_, rtol, error, times) in found.items():
        median = statistics.median(times)
        print(f"  {name:14} rtol {rtol:.1e}  error {error:.1e}  {median * 1e6:10.1f} us  {median / ours:7.1f} x Paynter")


if __name__ == "__main__":
    for problem in PROBLEMS:
        print(f"{problem.name}, error within {problem.bound:.0e}")
        compare(problem)
