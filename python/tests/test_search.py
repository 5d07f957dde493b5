"""Searches, exports, Lagrangians and controllers: what the command line can, from Python."""

import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile

import numpy as np
import paynter
import pytest
from conftest import RC, ROOT

#: The time constant L/R is to be 0.2 s, with the power in R1 limited: R1 >= 5/2 binds.
DESIGN = """model M { param R1 = 2 [ohm], L1 = 1 [H]; s: Se(5 [V]) -> j: 1 -> r: R(R1), i: I(L1); output w = i.f }
experiment go of M {
    stop = 30 [s]; record w; measure end = final(w)
    optimize R1 in 1 [ohm] .. 9 [ohm] { maximize end; subject end <= 2 [A] }
}
"""
#: The same with runs that take long.
SLOW = DESIGN.replace("stop = 30 [s]", "stop = 30 [s]; max_step = 0.002 [s]; max_steps = 10000000")


def test_an_optimum_is_the_closed_form():
    found = paynter.model(DESIGN).optimize(local=True, starts=3)
    # 5 V over R1 is 2 A at 2.5 ohm, and the condition limits it.
    assert found.values["R1"] == pytest.approx(2.5, rel=1e-5) and found.units == {"R1": "ohm"}
    assert found.aim == pytest.approx(2, rel=1e-5) and found.is_feasible
    assert found.conditions[0]["is_active"] and found.measures["end"] == pytest.approx(2, rel=1e-5)
    assert len(found.trials.axis) > 0 and "R1" in found.trials
    assert "R1" in repr(found)


def test_an_optimum_goes_back_into_the_model():
    m = paynter.model(DESIGN).set(R1="3 [ohm]")
    found = m.optimize(local=True, starts=2)
    assert found.model().run().measures["end"] == pytest.approx(2, rel=1e-5)
    written = found.written()
    assert written.experiments == ["go", "go_best"] and written.format().text() == written.text()
    assert written.run("go_best").measures["end"] == pytest.approx(2, rel=1e-5)
    assert "best_of_all" in found.written("best_of_all").experiments
    with pytest.raises(paynter.CallError, match="is not a name"):
        found.written("7 of 9")


def test_equal_seeds_give_equal_searches():
    m = paynter.model(DESIGN)
    one, other = (m.optimize(seed=5, starts=2, max_runs=60, jobs=j) for j in (1, 2))
    for name in one.trials:
        np.testing.assert_array_equal(one.trials[name], other.trials[name])


def test_a_search_without_a_feasible_point_is_an_exception_that_holds_the_best():
    impossible = DESIGN.replace("end <= 2 [A]", "end <= 0.1 [A]")
    with pytest.raises(paynter.RunError) as caught:
        paynter.model(impossible).optimize(local=True, starts=2)
    assert not caught.value.result.is_feasible and caught.value.code
    with pytest.raises(paynter.CallError):
        caught.value.result.written()


def test_progress_of_a_search_tells_runs_and_the_best():
    told = []
    m = paynter.model(SLOW)
    m.optimize(local=True, starts=2, max_runs=30, progress=lambda n, best: told.append((n, best)))
    assert told and told[-1][0] > 0
    with pytest.raises(ZeroDivisionError):
        m.optimize(progress=lambda n, best: 1 / 0)


def interrupted_after(seconds):
    main = threading.main_thread().ident
    threading.Timer(seconds, lambda: signal.pthread_kill(main, signal.SIGINT)).start()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_a_search_with_the_best_so_far():
    m = paynter.model(SLOW)
    m.run()
    interrupted_after(1.5)
    begin = time.perf_counter()
    with pytest.raises(paynter.Interrupted) as caught:
        m.optimize(starts=500, max_runs=1_000_000, jobs=1)
    assert time.perf_counter() - begin < 30
    assert caught.value.result.facts["is_cancelled"] and caught.value.result.facts["runs"] > 0


def test_a_fit_finds_what_made_the_data(tmp_path):
    rng = np.random.default_rng(3)
    t = np.linspace(0.02, 0.5, 60)
    # R C = 0.13 s, with noise of 10 mV.
    v = 5 * (1 - np.exp(-t / 0.13)) + rng.normal(0, 0.01, len(t))
    rows = "\n".join(f"{a!r},{b!r}" for a, b in zip(t.tolist(), v.tolist()))
    (tmp_path / "run.csv").write_text(f"time,v\n{rows}\n")
    text = RC + 'experiment measured of RC { stop = 0.5 [s]; record v; fit R1 in 100 [ohm] .. 9000 [ohm] { data "run.csv" } }'
    found = paynter.model(text, name=str(tmp_path / "m.bond")).fit("measured")
    low, high = found.intervals["R1"]
    assert low < 1300 < high and found.deviations["R1"] < 15
    assert found.values["R1"] == pytest.approx(1300, rel=0.02) and found.correlations.shape == (1, 1)
    assert len(found.samples.axis) == 60 and abs(found.samples["residual"]).max() < 0.05
    assert found.model().parameters["R1"] == found.values["R1"]


SWING = """
/// A pendulum
lagrangian Swing {
    param m = 1 [kg], l = 2 [m], g = 9.81 [m/s^2]
    coordinate phi [rad]
    kinetic bob = 0.5*m*(l*der(phi))^2
    potential weight = -m*g*l*cos(phi)
}
experiment fall of Swing { stop = 1 [s]; start phi = 0.1 [rad]; record phi }
"""


def test_a_lagrangian_becomes_a_graph_with_a_proof():
    m = paynter.model(SWING)
    found = m.lagrangian()
    assert [p["name"] for p in found.proofs] == ["Swing"] and found.proofs[0]["holds"]
    assert found.proofs[0]["largest"] < 1e-9 and found.proofs[0]["points"] > 0
    assert "model Swing" in found.text and "lagrangian Swing" not in found.text
    # Both are the same pendulum.
    np.testing.assert_allclose(found.model.run()["phi"], m.run()["phi"], rtol=1e-7)
    assert found._repr_svg_().startswith("<svg")
    listed = found.model.equations(form="lagrange")
    assert "T = " in listed.text and listed.latex
    assert "H = " in found.model.equations(form="hamiltonian").text


def test_a_circuit_has_no_lagrange_form_of_motion_and_says_so(rc):
    with pytest.raises(paynter.PaynterError):
        rc.lagrangian()


@pytest.mark.parametrize("fmi", [2, 3])
def test_an_fmu_is_a_zip_with_its_description(rc, tmp_path, fmi):
    made = rc.export_fmu(tmp_path / "rc.fmu", fmi=fmi, sources_only=True)
    assert os.fspath(made) == str(tmp_path / "rc.fmu") and made.platform is None
    with zipfile.ZipFile(made) as file:
        assert file.testzip() is None
        description = file.read("modelDescription.xml").decode()
    assert f'fmiVersion="{fmi}.0"' in description and '"R1"' in description


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_an_fmu_has_a_binary_where_there_is_a_compiler(rc, tmp_path):
    made = rc.export_fmu(tmp_path / "rc.fmu")
    assert made.platform and not made.warnings
    with zipfile.ZipFile(io.BytesIO((tmp_path / "rc.fmu").read_bytes())) as file:
        assert any(name.startswith("binaries/") for name in file.namelist())


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("single", [False, True])
def test_exported_c_compiles(rc, tmp_path, single):
    made = rc.export_c(tmp_path / "rc.c", single=single)
    assert [os.path.basename(f) for f in made.files] == ["rc.c", "rc.h"]
    call = ["cc", "-std=c99", "-Wall", "-Werror", "-c", "rc.c", "-o", "rc.o"]
    subprocess.run(call, cwd=tmp_path, check=True)


OSCILLATOR = """model M { param k = 4; s: Se(1) -> j: 1 -> m: I(2), r: R(0.5), c: C(1/k); output x = c.q }
experiment go of M { stop = 10 [s]; record x, j.f, s.e }"""


def test_gains_are_those_of_python_control():
    control = pytest.importorskip("control")
    linear = paynter.model(OSCILLATOR).linearize(inputs="s.e", outputs="x")
    a, b = linear.A, linear.B
    gains = linear.lqr(q=[3, 5], r=[0.5])
    np.testing.assert_allclose(gains.K, control.lqr(a, b, np.diag([3, 5]), [[0.5]])[0], rtol=1e-8)
    np.testing.assert_allclose(sorted(gains.poles), sorted(np.linalg.eigvals(a - b @ gains.K)), rtol=1e-8)
    sampled = linear.lqr(q=[3, 5], r=[0.5], step=0.1)
    discrete = control.c2d(control.ss(a, b, np.eye(2), 0), 0.1)
    assert np.all(abs(sampled.poles) < 1)
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(discrete.A - discrete.B @ sampled.K)), np.sort_complex(sampled.poles), rtol=1e-6
    )
    placed = linear.place([-2 + 1j, -2 - 1j])
    np.testing.assert_allclose(placed.K, control.place(a, b, [-2 + 1j, -2 - 1j]), rtol=1e-8)
    np.testing.assert_allclose(linear.place("-2+1i, -2-1i").K, placed.K)
    for method in ("zoh", "tustin"):
        steps = linear.c2d(0.05, method)
        known = control.c2d(control.ss(a, b, linear.C, linear.D), 0.05, method)
        np.testing.assert_allclose(steps.A, known.A, rtol=1e-9)
        np.testing.assert_allclose(steps.C @ steps.B + steps.D, known.C @ known.B + known.D, rtol=1e-8)
        assert steps.step == 0.05


def test_every_question_about_the_structure_has_an_answer(rc, tmp_path):
    m = paynter.model(OSCILLATOR)
    ends = dict(inputs="s.e", outputs="x")
    assert m.structure(**ends).facts and m.structure("channels", **ends).facts["paths"] is not None
    assert m.structure("activity").text and m.structure("faults", **ends).text
    needed = m.structure("inverse", want="1 - cos(time)", **ends)
    # F = 2 x'' + 0.5 x' + 4 x along x = 1 - cos t.
    t = needed.table.axis
    force = 2 * np.cos(t) + 0.5 * np.sin(t) + 4 * (1 - np.cos(t))
    np.testing.assert_allclose(needed.table[needed.table.names[0]], force, atol=1e-5)
    run = m.run()
    run.save(tmp_path / "r.csv")
    ends = dict(inputs="s.e", outputs="j.f")
    from_file = m.structure("faults", data=tmp_path / "r.csv", **ends)
    from_run = m.structure("faults", data=run, **ends)
    assert from_file.text == from_run.text and from_run.table is not None


def test_a_smaller_model_keeps_what_matters():
    text = """model M { s: Se(sin(time)) -> j: 1 -> m: I(2), r: R(0.5), tiny: R(1e-7), c: C(0.25); output x = c.q }
    experiment go of M { stop = 10 [s]; record x }"""
    m = paynter.model(text)
    found = m.structure("reduce", keep="99.9%")
    assert "R(1e-7)" not in found.model.text() and "r: R(0.5)" in found.model.text()
    np.testing.assert_allclose(found.model.run()["x"], m.run()["x"], atol=1e-5)


def test_methods_agree_on_a_loop():
    found = paynter.gallery("cart_pendulum").compare_methods()
    assert [row["method"] for row in found.facts["methods"]] == ["minimal", "implicit", "multiplier", "parasitic"]
    assert max(d["relative"] for d in found["implicit"]["differences"]) < 1e-5
    with pytest.raises(KeyError, match="minimal"):
        found["maximal"]


def test_parts_are_described():
    assert "electromechanical.DcMotor" in paynter.doc()
    assert paynter.doc("DcMotor").startswith("DcMotor")
    with pytest.raises(paynter.CallError, match="did you mean"):
        paynter.doc("DcMotr")


def test_power_is_taken_from_a_result():
    m = paynter.model(RC.replace("record v;", "record supply.e, supply.f, r.e, r.f, c.e, c.f, v;"))
    drawn = m.diagram(power="200 [ms]", result=m.run("charge"), experiment="charge")
    assert drawn.data.startswith(b"<svg") and drawn.data != m.diagram().data
    with pytest.raises(paynter.CallError, match="power"):
        m.diagram(result=m.run("charge"))


def test_times_have_units_where_they_are_named(rc):
    assert list(rc.run(times=["0 [s]", "100 [ms]", "0.2 [s]"]).time) == [0, 0.1, 0.2]
    assert rc.linearize(at="10 [ms]").facts["time"] == pytest.approx(0.01)
    pint = pytest.importorskip("pint")
    u = pint.UnitRegistry()
    assert list(rc.run(times=[0, 100] * u.ms).time) == [0, 0.1]
    assert rc.linearize(at=10 * u.ms).facts["time"] == pytest.approx(0.01)
    with pytest.raises(paynter.CallError, match="time"):
        rc.run(times=[0, 1] * u.m)


WRONG_CALLS = [
    (lambda m: m.optimize(), paynter.CallError, "no `optimize`"),
    (lambda m: m.fit(), paynter.CallError, "no `fit`"),
    (lambda m: m.optimize(stars=3), paynter.CallError, "did you mean 'starts'"),
    (lambda m: m.optimize(starts=-1), paynter.CallError, "starts takes a whole number"),
    (lambda m: m.optimize(starts=2.5), paynter.CallError, "starts takes a whole number"),
    (lambda m: m.optimize(seed="x"), paynter.CallError, "seed"),
    (lambda m: m.fit(jobs=0), paynter.CallError, "jobs"),
    (lambda m: m.lagrangian(gyrators="square"), paynter.CallError, "ring, factored or coordinate"),
    (lambda m: m.lagrangian("Nobody"), paynter.CallError, "Nobody"),
    (lambda m: m.lagrangian(), paynter.CallError, "no `lagrangian`"),
    (lambda m: m.lagrangian(3), TypeError, "name"),
    (lambda m: m.export_fmu("m.zip"), paynter.CallError, ".fmu"),
    (lambda m: m.export_fmu("m.fmu", fmi=4), paynter.CallError, "fmi"),
    (lambda m: m.export_fmu("m.fmu", fmi="two"), paynter.CallError, "fmi"),
    (lambda m: m.export_fmu("/nowhere/at/all/m.fmu/x.fmu", sources_onli=True), paynter.CallError, "did you mean"),
    (lambda m: m.export_fmu("/dev/null/m.fmu"), paynter.CallError, "/dev/null"),
    (lambda m: m.export_fmu(3), TypeError, "path"),
    (lambda m: m.export_c("m.h"), paynter.CallError, ".c"),
    (lambda m: m.structure("weather"), paynter.CallError, "control, channels"),
    (lambda m: m.structure("inverse"), paynter.CallError, "want"),
    (lambda m: m.structure(want="time"), paynter.CallError, "inverse"),
    (lambda m: m.structure("faults", data=3), TypeError, "data"),
    (lambda m: m.structure("faults", data="nowhere.csv"), paynter.CallError, "no such file"),
    (lambda m: m.structure("reduce", keep=2), paynter.CallError, "share of the activity"),
    (lambda m: m.structure("reduce", keep="all"), paynter.CallError, "keep"),
    (lambda m: m.linearize(inputs="supply.e").lqr(q=[1, 2, 3]), paynter.CallError, "q needs 1"),
    (lambda m: m.linearize(inputs="supply.e").lqr(r=[-1]), paynter.CallError, "positive"),
    (lambda m: m.linearize(inputs="supply.e").lqr(q="x"), TypeError, "q takes"),
    (lambda m: m.linearize(inputs="supply.e").place([-1, -2]), paynter.CallError, "needs 1 poles"),
    (lambda m: m.linearize(inputs="supply.e").place([1j]), paynter.CallError, "conjugate"),
    (lambda m: m.linearize(inputs="supply.e").place("fast"), TypeError, "poles"),
    (lambda m: m.linearize(inputs="supply.e").place([float("nan")]), paynter.CallError, "finite"),
    (lambda m: m.linearize().c2d(0), paynter.CallError, "positive"),
    (lambda m: m.linearize().c2d(0.1, "euler"), paynter.CallError, "zoh or tustin"),
    (lambda m: m.linearize().c2d(0.1, at_frequency=3), paynter.CallError, "tustin"),
    (lambda m: m.linearize().c2d("soon"), TypeError, "step"),
    (lambda m: m.run(times=["soon"]), TypeError, "soon"),
    (lambda m: m.linearize(at="1 [m]"), paynter.CallError, "no time"),
    (lambda m: paynter.doc(3), TypeError, "name"),
    (lambda m: m.graph(modle="RC"), paynter.CallError, "did you mean 'model'"),
]


@pytest.mark.parametrize("call, kind, words", WRONG_CALLS)
def test_wrong_calls_say_what_is_wrong(rc, tmp_path, monkeypatch, call, kind, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as caught:
        call(rc)
    assert words in str(caught.value)
    assert not os.listdir(tmp_path)


def test_no_export_is_written_over_a_model_or_without_being_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rc = paynter.model(RC)
    (tmp_path / "rc.fmu").write_text("mine")
    with pytest.raises(paynter.CallError, match="already"):
        rc.export_fmu()
    assert (tmp_path / "rc.fmu").read_text() == "mine"
    rc.export_fmu("rc.fmu", sources_only=True)
    assert zipfile.is_zipfile("rc.fmu")


def test_the_gallery_searches_work_from_python():
    """Every experiment of the gallery that searches or fits is found by the same call as on the command line."""
    for name in paynter.gallery():
        assert paynter.gallery(name).check(), name
    assert ROOT.is_dir()
