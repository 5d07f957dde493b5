"""Runs and their results."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import paynter
from paynter.progress import Bar
import pytest
from conftest import LONG, RC, ROOT, charged


def test_a_run_is_the_closed_form(rc):
    result = rc.run()
    np.testing.assert_allclose(result["v"], charged(result.time), atol=1e-6)
    assert result.ending == "reached" and result.is_good
    assert result.audit["is_good"] and abs(result.audit["residual"]) < 1e-9
    assert result.units["v"] == "V"
    np.testing.assert_allclose(result.measures["end"], charged(0.5), rtol=1e-6)
    assert result.statistics["steps"] > 0 and result.statistics["method"]


def test_columns_share_the_memory_of_the_engine(rc):
    result = rc.run()
    column = result["v"]
    assert column is result["v"] and column.dtype == np.float64
    assert not column.flags.owndata and not column.flags.writeable
    with pytest.raises(ValueError):
        column[0] = 1
    del result
    np.testing.assert_allclose(column[-1], charged(0.5), rtol=1e-6)


def test_the_first_run_and_later_ones_have_the_same_bits():
    m = paynter.load(ROOT / "gallery/gyroscope/gyroscope.bond")
    first, second, third = (m.run() for _ in range(3))
    slow = m.run(engine="interpreter")
    for name in first:
        for other in (second, third, slow):
            np.testing.assert_array_equal(first[name], other[name])


def test_times_can_be_chosen(rc):
    times = np.linspace(0, 0.5, 7)
    result = rc.run(times=times)
    np.testing.assert_array_equal(result.time, times)
    np.testing.assert_allclose(result["v"], charged(times), atol=1e-6)


def test_a_gallery_run_agrees_with_its_reference():
    result = paynter.load(ROOT / "gallery/gyroscope/gyroscope.bond").run()
    assert result.facts["comparisons"] and result.is_good


def test_an_unknown_column_is_answered_with_the_nearest():
    result = paynter.load(ROOT / "gallery/gyroscope/gyroscope.bond").run()
    with pytest.raises(KeyError, match="did you mean 'theta'"):
        result["theat"]


def test_the_pictures_of_a_result(rc, tmp_path):
    result = rc.run()
    assert "<svg" in result._repr_html_() and "accounted for" in result._repr_html_()
    assert result.plot("v[mV]")._repr_svg_().startswith("<svg")
    assert result.report(tmp_path / "r.html").lower().startswith("<!doctype html>")
    with pytest.raises(paynter.CallError, match="nobody"):
        result.plot("nobody")


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_a_file_has_the_bits_of_the_result(rc, tmp_path, ending):
    result = rc.run()
    result.save(tmp_path / f"r.{ending}")
    again = paynter.read(tmp_path / f"r.{ending}")
    np.testing.assert_array_equal(again["v"], result["v"])
    np.testing.assert_array_equal(again.axis, result.time)
    assert again.units["v"] == "V"
    with pytest.raises(paynter.CallError, match="ending"):
        result.save(tmp_path / "r.xls")


def test_tables_of_other_libraries(rc):
    pandas = pytest.importorskip("pandas")
    xarray = pytest.importorskip("xarray")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    result = rc.run()
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.attrs["units"]["v"] == "V"
    data = result.to_xarray()
    assert isinstance(data, xarray.Dataset) and data["v"].attrs["units"] == "V"
    assert data["time"].attrs["units"] == "s"
    table = result.to_arrow()
    assert isinstance(table, pyarrow.Table) and table.field("v").metadata == {b"unit": b"V"}
    columns = [frame["v"], data["v"], result.to_polars()["v"], table["v"]]
    for column in columns:
        np.testing.assert_array_equal(np.asarray(column), result["v"])


def test_arrow_does_not_copy(rc):
    pyarrow = pytest.importorskip("pyarrow")
    result = rc.run()
    table = pyarrow.table(result)
    address = table["v"].chunk(0).buffers()[1].address
    assert address == result["v"].__array_interface__["data"][0]
    del result
    np.testing.assert_allclose(table["v"][-1].as_py(), charged(0.5), rtol=1e-6)
    # A stream that nobody reads is released with its capsule.
    for _ in range(100):
        rc.run().__arrow_c_stream__()


def test_events_are_told():
    text = """model Ball { g: Se(-9.81) -> v: 1 -> m: I(1); der(x) = v.f; start x = 1
        when x < 0 { reinit m.p = -0.8*m.p } }
    experiment drop of Ball { stop = 1; record x }"""
    # The first bounce: sqrt(2 h / g).
    np.testing.assert_allclose(paynter.model(text).run().events[0], np.sqrt(2 / 9.81), rtol=1e-6)


def test_a_failed_run_keeps_what_was_computed():
    text = """model M { s: Se(1) -> j: 1 -> i: I(1); j -> r: R { e = 1/(2 - time) } }
    experiment go of M { stop = 3; record i.f }"""
    with pytest.raises(paynter.RunError) as caught:
        paynter.model(text).run()
    result = caught.value.result
    assert len(result.time) > 0 and result.ending == "failed"
    assert caught.value.messages and caught.value.code


def test_threads_run_at_once(rc):
    results = {}

    def work(k):
        results[k] = rc.set(R1=100 * (k + 1)).run()["v"][-1]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, end in results.items():
        np.testing.assert_allclose(end, charged(0.5, 100 * (k + 1)), rtol=1e-6)


def test_python_goes_on_while_a_run_works():
    """A thread that counts is not held up by a run: the interpreter lock is released."""
    m = paynter.model(LONG.replace("stop = 1e5", "stop = 20"))
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    begin = time.perf_counter()
    m.run()
    elapsed = time.perf_counter() - begin
    stop.set()
    counter.join()
    # Under a held lock it would count to hardly one; half the possible leaves room for a busy machine.
    assert elapsed < 0.05 or counted[0] > elapsed / 0.001 * 0.02


def test_an_exception_in_progress_stops_the_run():
    def progress(share):
        assert 0 <= share <= 1
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        paynter.model(LONG).run(progress=progress)


def test_an_interrupt_stops_the_run_and_keeps_what_was_computed():
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(paynter.Interrupted) as caught:
        paynter.model(LONG).run()
    timer.join()
    result = caught.value.result
    assert result.ending == "cancelled" and len(result.time) > 1
    assert isinstance(caught.value, KeyboardInterrupt)


def test_an_interrupted_sweep_keeps_its_points():
    text = LONG.replace("stop = 1e5", "stop = 30").replace("R(1)", "R(k)").replace("{ s:", "{ param k = 1; s:")
    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(paynter.Interrupted) as caught:
        paynter.model(text).sweep(over={"k": np.linspace(1, 2, 20_000)})
    timer.join()
    reasons = set(caught.value.result.failures)
    assert reasons == {None, "cancelled"}


LEAK = """
import paynter, resource, sys
text = {text!r}
def cycle(n):
    for _ in range(n):
        m = paynter.model(text)
        m.run()["v"]
        m.run()
cycle(200)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
cycle(1500)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
sys.exit(f"grew by {{grown}} kB" if grown > 3000 else 0)
"""


def test_many_models_leave_no_memory_behind():
    """1500 models, 3000 runs: what leaks 2 kB a time is seen. BENCHMARKS.md has 10⁶ cycles."""
    done = subprocess.run(
        [sys.executable, "-c", LEAK.format(text=RC)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_bar_on_the_terminal(capsys):
    """How often a run tells where it is depends on the clock; what is shown of it does not."""
    with Bar(True) as tell:
        tell(0.5)
    shown = capsys.readouterr().err
    assert "█" in shown and "50 %" in shown and shown.endswith("\r")
    m = paynter.model(RC)
    m.run()
    m.run(progress=False)
    assert capsys.readouterr().err == ""
