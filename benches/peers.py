"""Runs the benchmark problems with CVODE (scikit-sundae), CasADi and SciPy.

In:  the problem: gyroscope, ladder, stiff.
Out: times (median of interleaved repetitions), steps, errors.
"""

import statistics
import sys
import time
from math import cos, sin

import numpy as np
from sksundae.cvode import CVODE

A, A1, B1, C, C1, C2 = 2, 1.4, 1.2, 4, 2.6, 2.2


def gyroscope_rates(t, y, f):
    p1, p2, p3, theta, _, _ = y
    n_theta, n_phi, n_psi = sin(t), 0.5 * cos(2 * t), 0.3 * sin(0.5 * t)
    s, c = sin(theta), cos(theta)
    turn, tilt, across = p2 / C2, p1 / (A + A1), A + B1
    m = C2 + C1 * c * c + across * s * s
    f[0] = n_theta - turn * p3 * s + turn * turn * s * c * (across - C1)
    f[1] = C2 * (n_phi - n_psi * c + 2 * tilt * turn * s * c * (C1 - across) + tilt * p3 * s) / m
    f[2] = n_psi
    f[3] = tilt
    f[4] = turn
    f[5] = p3 / C - turn * c


def casadi_integrator(rtol):
    import casadi

    y = casadi.SX.sym("y", 6)
    t = casadi.SX.sym("t")
    p1, p2, p3, theta = y[0], y[1], y[2], y[3]
    n_theta, n_phi, n_psi = casadi.sin(t), 0.5 * casadi.cos(2 * t), 0.3 * casadi.sin(0.5 * t)
    s, c = casadi.sin(theta), casadi.cos(theta)
    turn, tilt, across = p2 / C2, p1 / (A + A1), A + B1
    m = C2 + C1 * c * c + across * s * s
    rates = casadi.vertcat(
        n_theta - turn * p3 * s + turn * turn * s * c * (across - C1),
        C2 * (n_phi - n_psi * c + 2 * tilt * turn * s * c * (C1 - across) + tilt * p3 * s) / m,
        n_psi,
        tilt,
        turn,
        p3 / C - turn * c,
    )
    options = {"reltol": rtol, "abstol": rtol * 1e-2, "linear_multistep_method": "adams",
               "nonlinear_solver_iteration": "functional", "max_num_steps": 10**6}
    return casadi.integrator("gyroscope", "cvodes", {"x": y, "t": t, "ode": rates}, 0, 10, options)


def gyroscope():
    from scipy.integrate import solve_ivp

    start = np.array([0, 0, 0, 0.2, 0, 0], float)

    def rates(t, y):
        f = np.empty(6)
        gyroscope_rates(t, y, f)
        return f

    exact = solve_ivp(rates, (0, 10), start, method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]

    def sundials(rtol):
        solver = CVODE(gyroscope_rates, method="Adams", rtol=rtol, atol=rtol * 1e-2, max_num_steps=10**6)
        return solver.solve(np.array([0, 10.0]), start).y[-1]

    def casadi_run(rtol):
        if rtol not in integrators:
            integrators[rtol] = casadi_integrator(rtol)
        return np.array(integrators[rtol](x0=start)["xf"]).ravel()

    def casadi_all(rtol):
        return np.array(casadi_integrator(rtol)(x0=start)["xf"]).ravel()

    def scipy_run(rtol):
        return solve_ivp(rates, (0, 10), start, method="DOP853", rtol=rtol, atol=rtol * 1e-2).y[:, -1]

    integrators = {}
    found = {}
    for name, run in [("scikit-sundae", sundials), ("casadi, compiled before", casadi_run),
                      ("casadi, from its expressions", casadi_all), ("scipy DOP853", scipy_run)]:
        for k in range(8, 28):
            rtol = 10 ** (-0.5 * k)
            error = abs(run(rtol) - exact).max()
            if error <= 1e-7:
                found[name] = (run, rtol, error, [])
                break
        else:
            print(f"{name}: never below 1e-7")
    for _ in range(31):
        for run, rtol, _, times in found.values():
            begin = time.perf_counter()
            run(rtol)
            times.append(time.perf_counter() - begin)
    for name, (_, rtol, error, times) in found.items():
        print(f"{name:30} rtol {rtol:.1e} error {error:.1e} {statistics.median(times)*1e6:10.1f} us")


def ladder():
    n, g = 10_000, 1e6

    def rates(t, y, f):
        f[1:-1] = g * (y[:-2] - 2 * y[1:-1] + y[2:])
        f[0] = g * (1 - 2 * y[0] + y[1])
        f[-1] = g * (y[-2] - y[-1])

    times = []
    for _ in range(7):
        solver = CVODE(rates, method="BDF", rtol=1e-6, atol=1e-9, linsolver="band", lband=1, uband=1,
                       max_num_steps=10**6)
        begin = time.process_time()
        found = solver.solve(np.array([0, 0.5, 1.0]), np.zeros(n))
        times.append(time.process_time() - begin)
    # With two times the solver would keep every step of 10 000 values; count them apart.
    solver = CVODE(rates, method="BDF", rtol=1e-6, atol=1e-9, linsolver="band", lband=1, uband=1,
                   max_num_steps=10**6)
    steps = len(solver.solve(np.array([0, 1.0]), np.zeros(n)).t) - 1
    print(f"CVODE band: {steps} steps, {found.nfev} evaluations, {statistics.median(times)*1e3:.1f} ms CPU,"
          f" v_near {found.y[-1][9]:.10f}")


def stiff():
    def robertson(t, y, f):
        f[0] = -0.04 * y[0] + 1e4 * y[1] * y[2]
        f[2] = 3e7 * y[1] ** 2
        f[1] = -f[0] - f[2]

    def van_der_pol(t, y, f):
        f[0] = y[1]
        f[1] = 1000 * (1 - y[0] ** 2) * y[1] - y[0]

    for name, rates, start, stop, atol in [
        ("robertson", robertson, [1, 0, 0], 4e10, 1e-14),
        ("van_der_pol", van_der_pol, [2, 0], 2000, 1e-10),
    ]:
        for rtol in (1e-8, 1e-12):
            solver = CVODE(rates, method="BDF", rtol=rtol, atol=atol * rtol / 1e-8, max_num_steps=10**7)
            found = solver.solve(np.array([0, stop]), np.array(start, float))
            print(f"{name} rtol {rtol:.0e}: {len(found.t) - 1} steps, {found.nfev} evaluations, end {found.y[-1]}")


{"gyroscope": gyroscope, "ladder": ladder, "stiff": stiff}[sys.argv[1]]()
