"""Questions beside runs: gains and observers, loci, spectra, sensitivities, screening, trade-offs, rewriting; with numbers."""

import json
import subprocess

import numpy as np
import paynter
import pytest
from conftest import RC
from paynter import matrices
from test_parity import PROGRAM, needs_program

OSCILLATOR = """model M { param k = 4, b = 0.5; s: Se(1) -> j: 1 -> m: I(2), r: R(b), c: C(1/k); output x = c.q, v = m.f }
experiment go of M { stop = 10 [s]; output_step = 0.01 [s]; record x, v; measure top = max(x) }"""
#: A first-order plant behind a sampled proportional controller.
SAMPLED = """model S {
    input target = 1
    sample at 10 [Hz] { u = 2*(target - i.f) }
    t: Se(u) -> j: 1 -> i: I(1), r: R(1)
}
experiment go of S { stop = 2 [s]; record i.f }"""


@pytest.fixture
def plant():
    return paynter.model(OSCILLATOR).linearize(inputs="s.e", outputs="x")


def test_transfer_functions_are_those_of_the_textbook(plant):
    found = plant.transfer_functions()
    # x/F = (1/2)/(s^2 + s/4 + 2)
    above, below = found["x from s.e"]
    np.testing.assert_allclose(above, [0.5], rtol=1e-12)
    np.testing.assert_allclose(below, [1, 0.25, 2], rtol=1e-12)
    assert found.names == ["x from s.e"]
    with pytest.raises(KeyError, match="x from s.e"):
        found["x"]


def test_integral_gains_leave_no_error(plant):
    control = pytest.importorskip("control")
    gains = plant.lqi(q=[1, 1, 30], r=[1])
    assert gains.K.shape == (1, 3) and gains.integrals
    # The same problem, put together by hand: s' = r - x.
    a = np.block([[plant.A, np.zeros((2, 1))], [-plant.C, np.zeros((1, 1))]])
    b = np.vstack([plant.B, [[0]]])
    known = control.lqr(a, b, np.diag([1, 1, 30]), [[1]])[0]
    np.testing.assert_allclose(abs(gains.K), abs(known), rtol=1e-8)


def test_a_kalman_filter_is_that_of_python_control(plant):
    control = pytest.importorskip("control")
    found = plant.lqe(q=[3], r=[0.2])
    gain, covariance, poles = control.lqe(plant.A, plant.B, plant.C, [[3]], [[0.2]])
    np.testing.assert_allclose(found.L, gain, rtol=1e-8)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-8)
    np.testing.assert_allclose(np.sort_complex(found.poles), np.sort_complex(poles), rtol=1e-8)
    assert np.all(abs(plant.lqe(step=0.1).poles) < 1)


def test_noise_spreads_as_lyapunov_says(plant):
    control = pytest.importorskip("control")
    found = plant.lyap(q=[3])
    known = control.lyap(plant.A, 3 * plant.B @ plant.B.T)
    np.testing.assert_allclose(found.covariance, known, rtol=1e-9, atol=1e-12)
    assert found.deviations["x"] == pytest.approx(float((plant.C @ known @ plant.C.T)[0, 0]) ** 0.5)


def test_roots_are_at_their_places_in_steps(plant):
    above, below = plant.matched(0.1)["x from s.e"]
    poles = np.exp(0.1 * np.linalg.eigvals(plant.A))
    np.testing.assert_allclose(below, np.poly(poles).real, rtol=1e-12)
    # The gain at rest stays: 1/k.
    assert np.polyval(above, 1) / np.polyval(below, 1) == pytest.approx(0.25, rel=1e-12)
    assert plant.matched(0.1).facts["step"] == 0.1


def test_a_loop_in_steps_is_no_continuous_plant():
    m = paynter.model(SAMPLED)
    assert m.check(), m.check()
    linear = m.linearize(inputs="target", outputs="i.f")
    back = linear.d2c()
    # What the sampled loop does, a continuous model does too: expm(A T) is the map from step to step.
    np.testing.assert_allclose(matrices.expm(back.A * back.step), linear.A, atol=1e-9)
    for call in (linear.lqr, linear.lqi, linear.lqe, linear.lyap, lambda: linear.c2d(0.1), lambda: linear.place([-1])):
        with pytest.raises(paynter.ModelError) as caught:
            call()
        assert "sample" in str(caught.value)


def test_a_model_that_is_continuous_has_nothing_to_turn_back(plant):
    with pytest.raises(paynter.CallError, match="continuous already"):
        plant.d2c()


def test_matrices_solve_their_equations():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(4, 4)), rng.normal(size=(4, 2))
    c, d = rng.normal(size=(3, 4)), rng.normal(size=(3, 2))
    q, r = np.diag([1.0, 2, 3, 4]), np.array([[2.0, 0.3], [0.3, 1.0]])
    p = matrices.care(a, b, q, r)
    np.testing.assert_allclose(a.T @ p + p @ a - p @ b @ np.linalg.solve(r, b.T @ p) + q, 0, atol=1e-9)
    k, _, poles = matrices.lqr(a, b, q, r)
    np.testing.assert_allclose(k, np.linalg.solve(r, b.T @ p), rtol=1e-9)
    assert np.all(poles.real < 0)
    p = matrices.dare(a, b, q, r)
    gain = np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
    np.testing.assert_allclose(a.T @ p @ a - a.T @ p @ b @ gain + q - p, 0, atol=1e-8)
    np.testing.assert_allclose(matrices.dlqr(a, b, q, r)[0], gain, rtol=1e-8)
    x = matrices.lyap(a, q)
    np.testing.assert_allclose(a @ x + x @ a.T + q, 0, atol=1e-9)
    x = matrices.dlyap(a / 4, q)
    np.testing.assert_allclose(a @ x @ a.T / 16 - x + q, 0, atol=1e-9)
    k = matrices.place(a, b, [-1, -2, -3 + 1j, -3 - 1j])
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(a - b @ k)), np.sort_complex([-1, -2, -3 + 1j, -3 - 1j]), rtol=1e-6
    )
    gain, covariance, _ = matrices.lqe(a, c, q, np.eye(3))
    np.testing.assert_allclose(gain, covariance @ c.T, rtol=1e-8)
    for method in ("zoh", "tustin"):
        there = matrices.c2d(a, b, c, d, 0.01, method)
        for new, old in zip(matrices.d2c(*there, 0.01, method), (a, b, c, d)):
            np.testing.assert_allclose(new, old, atol=1e-8)


def test_the_pictures_of_a_loop_are_there(tmp_path):
    m = paynter.model("model M { s: Se(1) -> j: 1 -> i: I(1), r: R(1); u = 8*(1 - i.f); t: Se(u) -> j }")
    found = m.margins("u")
    # 8/(s + 1) has the gain 1 at sqrt(63) rad/s.
    margin = 180 - np.degrees(np.arctan(np.sqrt(63)))
    assert found.facts["loops"][0]["margins"]["phase_margin_deg"] == pytest.approx(margin, rel=1e-9)
    pictures = [found.plot(), found.nyquist(), found.nichols()]
    assert len({picture.svg for picture in pictures}) == 3
    for picture in pictures:
        picture.save(tmp_path / "p.png")
        assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_a_locus_has_the_poles_of_the_closed_loop():
    m = paynter.model("model M { s: Se(1) -> j: 1 -> i: I(1), r: R(1); u = 8*(1 - i.f); t: Se(u) -> j }")
    found = m.locus("u", low=0.5, high=2)
    # i' = -(1 + 8 g) i
    np.testing.assert_allclose(found.branches[0], -(1 + 8 * found.gains), rtol=1e-9)
    assert found.plot().svg.startswith("<svg")


def test_sensitivities_are_those_of_the_closed_form():
    found = paynter.model(RC).sensitivity("charge", by="R1", of="v")
    t = found.axis
    # v = 5 (1 - exp(-t/(R C))), dv/dR = -5 t/(R^2 C) exp(-t/(R C))
    np.testing.assert_allclose(found["d(v)/d(R1)"], -5 * t / (1000**2 * 1e-4) * np.exp(-t / 0.1), atol=1e-9)
    assert found.plot().svg.startswith("<svg") and found.facts


def test_a_spectrum_finds_its_lines(tmp_path):
    text = """model M { s: Se(3*sin(2*pi*5*time) + sin(2*pi*12*time)) -> j: 1 -> r: R(1); output w [A] = r.f }
    experiment go of M { stop = 4; output_step = 0.01; record w }"""
    found = paynter.model(text).run().spectrum("w", window="rectangular", stop=3.99)
    (f1, a1), (f2, a2) = found.peaks("w")[:2]
    assert (f1, f2) == pytest.approx((5, 12)) and (a1, a2) == pytest.approx((3, 1), rel=1e-6)
    assert found.amplitudes("w").shape == found.frequencies("w").shape
    found.save(tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text().startswith("column,unit,frequency_Hz,amplitude")


def test_screening_ranks_what_counts():
    m = paynter.model(OSCILLATOR)
    found = m.screen({"k": (3, 5), "b": (0.4, 0.6)}, size=8, seed=3)
    assert found.n_runs == 8 * 3 and found.n_failed == 0
    sizes = {e["parameter"]: e["size"] for e in found["top"]}
    assert sizes["k"] > 3 * sizes["b"] > 0
    again = m.screen({"k": (3, 5), "b": (0.4, 0.6)}, size=8, seed=3, jobs=1)
    assert again.facts == found.facts
    shares = m.screen({"k": (3, 5), "b": (0.4, 0.6)}, method="sobol", size=64)["top"]
    assert sum(s["first"] for s in shares) == pytest.approx(1, abs=0.1)
    with pytest.raises(KeyError, match="top"):
        found["bottom"]


TRADE = """model M { param x = 0.5; s: Se(x) -> j: 1 -> r: R(1); output w = r.f }
experiment go of M { stop = 1; record w; measure a = final(w)^2, b = (final(w) - 1)^2
    optimize x in 0 .. 1 { minimize a, b } }"""


def test_a_trade_off_is_the_known_curve(tmp_path):
    found = paynter.model(TRADE).pareto(points=5, local=True, starts=3)
    np.testing.assert_allclose(np.sqrt(found["a"]) + np.sqrt(found["b"]), 1, atol=1e-4)
    assert len(found.axis) == 5 and np.ptp(found["x"]) > 0.95
    found.plot().save(tmp_path / "t.svg")
    with pytest.raises(paynter.PaynterError, match="two objectives"):
        paynter.model(TRADE.replace("minimize a, b", "minimize a")).pareto()


def test_parts_and_ranks_along_a_run():
    m = paynter.model(OSCILLATOR)
    along = m.structure("along", inputs="s.e", outputs="x", instants=3)
    assert along.facts and "0" in along.text
    for question in ("control", "bicausal"):
        drawn = m.structure(question, inputs="s.e", outputs="j.f").plot()
        assert drawn.svg.startswith("<svg")
    assert m.structure("activity").plot().svg.startswith("<svg")
    with pytest.raises(paynter.CallError, match="no picture"):
        m.structure("loops").plot()
    with pytest.raises(paynter.CallError, match="does not fall apart"):
        m.structure("partition", limit="1%")


def test_a_sweep_keeps_its_curves(tmp_path):
    m = paynter.model(RC)
    found = m.sweep("charge", over={"R1": [500, 1000, 2000]}, curves=True, timed=True)
    curves = found.curves
    assert len(curves.axis) == 3 * 11
    for k, r in enumerate((500, 1000, 2000)):
        own = curves["v"][11 * k : 11 * (k + 1)]
        np.testing.assert_allclose(own, 5 * (1 - np.exp(-np.arange(11) * 0.05 / (r * 1e-4))), atol=1e-5)
    assert {"steps", "run"} <= {name.split()[0] for name in found.names}
    for picture in (found.family(), found.plot_measures()):
        picture.save(tmp_path / "p.svg")
        assert picture.svg.startswith("<svg")
    assert found.statistics is None
    with pytest.raises(paynter.CallError, match="curves=True"):
        m.sweep("charge", over={"R1": [500]}).family()
    with pytest.raises(paynter.CallError, match="leave out"):
        m.sweep("charge", over={"R1": [500]}, curves=True, out=tmp_path / "x")


def test_drawn_values_are_correlated_and_described():
    m = paynter.model(RC)
    over = {
        "R1": "latin(200, mean = 1000 [ohm], deviation = 50 [ohm])",
        "C1": "latin(200, mean = 1e-4 [F], deviation = 5e-6 [F], with = R1, correlation = 0.8)",
    }
    found = m.sweep("charge", over=over, curves=True)
    assert len(found.axis) == 200
    assert np.corrcoef(found["R1"], found["C1"])[0, 1] == pytest.approx(0.8, abs=0.08)
    told = found.statistics["measures"][0]
    assert told["mean"]["value"] == pytest.approx(found["end"].mean(), rel=1e-9)
    assert found.bands.names and found.family().svg != found.plot_measures().svg


def test_draws_come_from_a_table(tmp_path):
    m = paynter.model(RC)
    (tmp_path / "d.csv").write_text("draw,R1,C1\n1,500,1e-4\n2,2000,2e-4\n")
    from_file = m.sweep("charge", draws=tmp_path / "d.csv")
    exact = [5 * (1 - np.exp(-0.5 / t)) for t in (0.05, 0.4)]
    np.testing.assert_allclose(from_file["end"], exact, rtol=1e-5)
    from_table = m.sweep("charge", draws=paynter.read(tmp_path / "d.csv"))
    np.testing.assert_array_equal(from_file["end"], from_table["end"])
    assert from_file.statistics["measures"]


def test_shards_are_put_together(tmp_path):
    m = paynter.model(RC)
    over = {"R1": np.linspace(500, 2000, 7)}
    whole = m.sweep("charge", over=over)
    parts = m.sweep("charge", over=over, shards=3, out=tmp_path / "parts")
    merged = paynter.merge(parts.files)
    np.testing.assert_array_equal(merged["end"], whole["end"])
    with pytest.raises(paynter.CallError, match="shards"):
        merged.plot_measures()
    with pytest.raises(TypeError, match="list of files"):
        paynter.merge(parts.files[0])


PENDULUM = """model M { s: Se(0) -> j: 1 -> m: I(2), a: R(0.5), b: R(1.5), c: C(0.25); output x = c.q }
experiment go of M { stop = 5 [s]; start c.q = 1; record x }"""


GYRO = """model Gyro {
    input N = 0
    tilt: 1 -> i1: I(3.4)
    turn: 1 -> i2: I(2.2)
    turn -> TF(cos(theta)) -> along: 1 -> i4: I(2.6)
    turn -> TF(sin(theta)) -> across: 1 -> i5: I(3.2)
    along -> sum: 0 -> spin: 1 -> i3: I(4)
    rotor: 1 -> sum
    drive: Se(N) -> rotor
    along -> GY(i5.p) -> tilt
    tilt -> GY(i3.p) -> across
    tilt -> GY(i4.p) -> across
    der(theta) = tilt.f
    output psi = integral(rotor.f)
}
experiment free of Gyro { start theta = 0.5, tilt.f = 0.3, turn.f = 0.8, rotor.f = 5; stop = 10; record theta }"""
DISCS = """model Discs {
    param J = 2, k = 1e6
    input M = 0
    push: Se(M) -> one: 1 -> j1: I(J), r: R(1)
    one -> gap: 0 -> two: 1 -> j2: I(3)
    gap -> slip: 1 -> spring: C(1/k), d: R(100)
}
experiment e of Discs { with M = sin(time); start two.f = 0; stop = 5 [s]; rtol = 1e-9; record one.f as w1 }"""


def test_a_simpler_model_runs_the_same():
    m = paynter.model(PENDULUM)
    found = m.simplify()
    assert found.proof["largest"] < 1e-9 and len(found.steps) >= 2
    assert len(found.model.graph()["elements"]) < len(m.graph()["elements"])
    np.testing.assert_allclose(found.model.run()["x"], m.run()["x"], atol=1e-7)
    only = m.simplify(only=["parallel"])
    assert {rule for rule, _ in only.steps} == {"parallel"} and only.map
    with pytest.raises(paynter.CallError, match="written|set beside"):
        m.set({"c.q": 1}).simplify()


def test_a_cyclic_coordinate_is_taken_out():
    m = paynter.model(GYRO)
    found = m.reduce(cyclic="psi")
    assert found.proof["largest"] < 1e-9 and found.model.causality().order < m.causality().order
    np.testing.assert_allclose(found.model.run()["theta"], m.run()["theta"], atol=1e-5)
    with pytest.raises(paynter.CallError, match="not both"):
        m.reduce(cyclic="psi", assume="x.f = 0")


def test_dependent_inertias_are_moved():
    m = paynter.model("""model M { s: Se(1) -> a: 1 -> m1: I(2)
        a -> g: TF(3) -> b: 1 -> m2: I(5) }
        experiment e of M { stop = 2; record a.f }""")
    found = m.reduce(minimal=True, inertia="m2")
    # J = 2 + 9 · 5 in one inertia.
    assert "I(47)" in found.text and found.proof["largest"] < 1e-9
    assert found.model.run()["a.f"][-1] == pytest.approx(2 / 47, rel=1e-9)
    with pytest.raises(paynter.CallError, match="give both"):
        m.reduce(inertia="m2")
    with pytest.raises(paynter.CallError, match="without cyclic"):
        m.reduce(minimal=True, cyclic="x")


def test_an_assumption_tells_its_error():
    found = paynter.model(DISCS).reduce(assume="slip.f = 0")
    (error,) = [text for rule, text in found.steps if rule == "error"]
    # Rigid discs move as the stiff coupling does, but for M/k.
    assert "slip.f" in error and float(error.rsplit("w1 ", 1)[1]) < 1e-4
    assert "spring: C" not in found.text and found.model.causality().order < 3


def test_what_moves_little_energy_is_left_out():
    car = paynter.model("""model Car {
        road: Sf(0.1*sin(10*time)) -> tyre: 0 -> kt: C(1/193.9e3)
        tyre -> wheel: 1 -> mw: I(36.6)
        wheel -> gap: 0 -> body: 1 -> mb: I(267)
        gap -> susp: 1 -> k: C(1/18.7e3), b: R(700) }
        experiment drive of Car { stop = 5; record body.f as v }""")
    found = car.reduce(activity="95%")
    assert "mw: Se(0)" in found.text and found.proof is None
    assert found.text == car.structure("reduce", keep=0.95).model.text()
    (step,) = found.steps
    assert step[0] == "activity" and step[1].startswith("mw at wheel: remove")
    assert found.lines[-1].split()[0] == "v"
    with pytest.raises(paynter.CallError, match="without cyclic"):
        car.reduce(activity="95%", minimal=True)
    with pytest.raises(paynter.CallError, match="not a share"):
        car.reduce(activity=2)


def test_vector_bonds_become_scalar_ones():
    m = paynter.gallery("gyroscope")
    assert m.diagram(scalar=True).data.startswith(b"<svg")
    assert m.scalarize().text


ROBOT = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="2"/><origin xyz="0.5 0 0"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 0 1"/></joint></robot>"""


def test_a_robot_is_imported(tmp_path):
    (tmp_path / "arm.urdf").write_text(ROBOT)
    found = paynter.import_urdf(tmp_path / "arm.urdf")
    assert found.model.check() and "hinge" in found.text
    (tmp_path / "bad.urdf").write_text("<robot><link></robot>")
    with pytest.raises(paynter.ModelError) as caught:
        paynter.import_urdf(tmp_path / "bad.urdf")
    assert caught.value.file.endswith("bad.urdf")
    with pytest.raises(paynter.CallError, match="cannot be read"):
        paynter.import_urdf(tmp_path / "none.urdf")


def test_codes_are_explained():
    assert paynter.explain("e0301") == paynter.explain("0301") and "E0301" in paynter.explain()
    assert len(paynter.explain(all=True)) > len(paynter.explain())
    assert paynter.explain("E0900")
    with pytest.raises(paynter.CallError, match="no message"):
        paynter.explain("E9999")


def test_matrices_and_responses_are_written(plant, tmp_path):
    plant.save(tmp_path / "m.csv")
    plant.save(tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["A"] == plant.A.tolist()
    stiff = paynter.model(OSCILLATOR).set(k=8).linearize(inputs="s.e", outputs="x")
    both = plant.bode(0.1, 10, also={"stiff": stiff})
    assert any("stiff" in channel["name"] for channel in both.facts["channels"])
    both.save(tmp_path / "b.csv")
    plant.step(5).save(tmp_path / "s.parquet")
    assert len(paynter.read(tmp_path / "s.parquet").axis) > 10
    with pytest.raises(paynter.CallError, match=".csv or .json"):
        plant.save(tmp_path / "m.xlsx")
    assert plant.poles().plot().svg.startswith("<svg")


def test_curves_are_drawn_beside_one_another(tmp_path):
    m = paynter.model(RC)
    one, other = m.run("charge"), m.set(R1=2000).run("charge")
    drawn = one.plot("v", beside={"slow": other}, theme="dark", title="both")
    assert "slow" in drawn.svg and drawn.svg != one.plot("v").svg
    with pytest.raises(paynter.CallError, match="ending"):
        drawn.save(tmp_path / "x.gif")


@needs_program
def test_numbers_are_those_of_the_command_line(tmp_path):
    """Both doors lead to the same numbers."""
    (tmp_path / "m.bond").write_text(OSCILLATOR)
    m = paynter.load(tmp_path / "m.bond")
    plant = m.linearize(inputs="s.e", outputs="x")
    ends = ["--from", "s.e", "--to", "x"]
    both = [
        (["lqe", *ends, "--q", "3", "--r", "0.2"], plant.lqe([3], [0.2]).facts),
        (["lqi", *ends, "--q", "1,1,30"], plant.lqi([1, 1, 30]).facts),
        (["lyap", *ends, "--q", "3"], plant.lyap([3]).facts),
        (["c2d", *ends, "--step", "0.1", "--method", "matched"], plant.matched(0.1).facts),
        (["tf", *ends], plant.transfer_functions().facts),
        (["sensitivity", "--by", "k"], m.sensitivity(by="k").facts),
        (["screen", "--range", "k=3..5", "--size", "4"], m.screen({"k": (3, 5)}, size=4).facts),
        (["structure", "--along", "3", *ends], m.structure("along", instants=3, inputs="s.e", outputs="x").facts),
        (["structure", "--loops"], m.structure("loops").facts),
    ]
    for words, facts in both:
        call = [PROGRAM, words[0], str(tmp_path / "m.bond"), *words[1:], "--json"]
        told = subprocess.run(call, capture_output=True, text=True, check=True).stdout
        assert json.loads(told) == facts, words


WRONG = [
    (lambda m: m.linearize(inputs="supply.e").lqe(q=[1, 2]), paynter.CallError, "q needs 1"),
    (lambda m: m.linearize(inputs="supply.e").lyap(q=[-1]), paynter.CallError, "negative"),
    (lambda m: m.linearize(quantiser_gain="x"), TypeError, "quantiser_gain"),
    (lambda m: m.linearize().c2d(0.1, "matched"), paynter.CallError, "matched(step)"),
    (lambda m: m.linearize(inputs="supply.e").matched(-1), paynter.CallError, "positive"),
    (lambda m: m.linearize().bode(also={"x": 3}), TypeError, "linear models"),
    (lambda m: m.locus("nobody"), paynter.PaynterError, "nobody"),
    (lambda m: m.locus("v", low=-1), paynter.CallError, "positive"),
    (lambda m: m.screen({}), paynter.CallError, "no names"),
    (lambda m: m.screen({"R1": 3}), paynter.CallError, "two ends"),
    (lambda m: m.screen({"R1": (100, 200)}, method="guess"), paynter.CallError, "morris or sobol"),
    (lambda m: m.screen({"R1": (100, 200)}, size=1), paynter.CallError, "size"),
    (lambda m: m.screen({"R9": (100, 200)}), paynter.PaynterError, "R9"),
    (lambda m: m.screen({"R1": (100, 100)}), paynter.CallError, "range"),
    (lambda m: m.sensitivity(by="R9"), paynter.PaynterError, "R9"),
    (lambda m: m.pareto(), paynter.CallError, "no `optimize`"),
    (lambda m: m.pareto(points=1), paynter.CallError, "points"),
    (lambda m: m.structure("along", instants=1), paynter.CallError, "instants"),
    (lambda m: m.structure(instants=3), paynter.CallError, "along"),
    (lambda m: m.structure("partition", limit=3), paynter.CallError, "limit"),
    (lambda m: m.simplify(only="magic"), paynter.CallError, "no rule"),
    (lambda m: m.simplify("Nobody"), paynter.PaynterError, "Nobody"),
    (lambda m: m.reduce(assume="nonsense"), paynter.PaynterError, "nonsense"),
    (lambda m: m.sweep(draws=3), TypeError, "draws"),
    (lambda m: m.sweep(draws="nowhere.csv"), paynter.CallError, "no such file"),
    (lambda m: m.sweep(draws="nowhere.csv", over={"R1": [1]}), paynter.CallError, "not both"),
    (lambda m: m.run().spectrum("w"), paynter.CallError, "w"),
    (lambda m: m.run().spectrum("v", window="square"), paynter.CallError, "hann"),
    (lambda m: m.run().spectrum("v", start="soon"), TypeError, "time"),
    (lambda m: matrices.lqr([[0, 1]], [[1]], [[1]], [[1]]), paynter.CallError, "as many rows"),
    (lambda m: matrices.lqr([[0]], [[1]], [[1, 0], [0, 1]], [[1]]), paynter.CallError, "needs 1 by 1"),
    (lambda m: matrices.care([[0, 1], [0, 0]], [[0], [1]], [[1, 2], [0, 1]], [[1]]), paynter.CallError, "symmetric"),
    (lambda m: matrices.lqr([[1]], [[0]], [[1]], [[1]]), paynter.CallError, "stable"),
    (lambda m: matrices.lqr([[1]], [[1]], [[1]], [[-1]]), paynter.CallError, "positive"),
    (lambda m: matrices.lyap([[0]], [[1]]), paynter.CallError, "no single solution"),
    (lambda m: matrices.place([[0]], [[1]], [1j]), paynter.CallError, "conjugate"),
    (lambda m: matrices.expm("x"), TypeError, "rows of numbers"),
    (lambda m: matrices.expm([[float("nan")]]), paynter.CallError, "finite"),
    (lambda m: matrices.c2d([[0]], [[1]], [[1]], [[0]], 0), paynter.CallError, "positive"),
]


@pytest.mark.parametrize("call, kind, words", WRONG)
def test_wrong_calls_say_what_is_wrong(rc, tmp_path, monkeypatch, call, kind, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as caught:
        call(rc)
    assert words in str(caught.value), str(caught.value)
