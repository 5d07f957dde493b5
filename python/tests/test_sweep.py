"""Sweeps: here, in processes, on a Dask cluster; the same bits everywhere."""

import concurrent.futures as futures
import multiprocessing
import os
import subprocess
import threading
import time

import numpy as np
import paynter
import pytest
from conftest import RC, ROOT, charged
from hide import hide
from paynter import cluster


def test_a_sweep_is_its_single_runs(rc):
    sweep = rc.sweep("grid")
    ends = [rc.set(R1=r).run("grid").measures["end"] for r in (100, 200, 500)]
    np.testing.assert_array_equal(sweep["end"], ends)
    assert sweep.failures == [None, None, None] and sweep.n_failed == 0


def test_values_from_python_make_a_grid_or_go_together(rc):
    r, c = [100.0, 200.0, 300.0], [1e-4, 2e-4, 3e-4]
    grid = rc.sweep("charge", over={"R1": r, "C1": c})
    assert len(grid.axis) == 9
    np.testing.assert_array_equal(grid["R1"], np.repeat(r, 3))
    np.testing.assert_array_equal(grid["C1"], np.tile(c, 3))
    paired = rc.sweep("charge", over={"R1": r, "C1": c}, paired=True)
    np.testing.assert_array_equal(paired["end"], grid["end"][[0, 4, 8]])
    np.testing.assert_allclose(paired["end"], charged(0.5, np.array(r), np.array(c)), rtol=1e-6)


def test_values_with_units_and_ranges(rc):
    assert list(rc.sweep("charge", over={"R1": ["1 [kohm]", "2 [kohm]"]})["R1"]) == [1000, 2000]
    assert list(rc.sweep("charge", over={"R1": "[1, 2] [kohm]"})["R1"]) == [1000, 2000]


def test_a_point_that_fails_is_a_row_with_its_reason():
    text = """model M { param k = 1; s: Se(1) -> j: 1 -> i: I(1); j -> r: R { e = 1/(k - time) } }
    experiment go of M { stop = 3; record i.f; measure end = final(i.f) }"""
    sweep = paynter.model(text).sweep(over={"k": [5.0, 2.0, 6.0]})
    assert [f is None for f in sweep.failures] == [True, False, True]
    assert sweep["failed"].tolist() == [0, 1, 0] and "2" in sweep.failures[1]
    frame = pytest.importorskip("pyarrow").table(sweep).to_pydict()
    assert frame["failure"][1] == sweep.failures[1] and frame["failure"][0] is None


WRONG = [
    (dict(over={"nobody": [1, 2]}), paynter.ModelError, "nobody"),
    (dict(over={"R1": [1, 2], "C1": [1, 2, 3]}, paired=True), paynter.CallError, "as many values"),
    (dict(over={"R1": ["1 [ohm]"], "C1": ["1 [F]", "2 [F]"]}, paired=True), paynter.ModelError, "as many values"),
    (dict(over={"R1": []}), paynter.CallError, "no values"),
    (dict(over={"R1": 3}), TypeError, "list"),
    (dict(over={"R1": [[1, 2]]}), paynter.CallError, "dimensions"),
    (dict(over={"R1": [1, float("nan")]}), paynter.CallError, "finite"),
    (dict(over={"R1": [object()]}), TypeError, "not a value"),
    (dict(over={"R1": ["1 [m]"]}), paynter.ModelError, "R1"),
    (dict(over={"R1 in [1] }": [1]}), paynter.ModelError, ""),
    (dict(over={1: [1]}), TypeError, "text"),
    (dict(over=[1]), TypeError, "mapping"),
    (dict(over={}), paynter.CallError, "no names"),
    (dict(jobs=0), paynter.CallError, "jobs"),
    (dict(jobs="many"), paynter.CallError, "jobs"),
    (dict(shards=-1), paynter.CallError, "shards"),
    (dict(executor=3), TypeError, "submit"),
    (dict(client=3), TypeError, "client"),
    (dict(ovr={"R1": [1]}), paynter.CallError, "did you mean 'over'"),
]


@pytest.mark.parametrize("options, kind, words", WRONG)
def test_wrong_sweeps_say_what_is_wrong(rc, options, kind, words):
    with pytest.raises(kind) as caught:
        rc.sweep("charge", **{"over": {"R1": [1.0, 2.0]}, **options} if "ovr" not in options else options)
    assert words in str(caught.value)


def test_nothing_to_sweep_is_said(rc):
    with pytest.raises(paynter.CallError, match="nothing to sweep"):
        rc.sweep("charge")


def monte_carlo(n, seed=1):
    rng = np.random.default_rng(seed)
    return {"R1": rng.uniform(500, 1500, n), "C1": rng.uniform(5e-5, 1.5e-4, n)}


def same(one, other):
    assert one.names == other.names and one.units == other.units
    assert one.failures == other.failures
    for name in ("point", *one.names):
        np.testing.assert_array_equal(one[name], other[name])


def spawned(n=2):
    return futures.ProcessPoolExecutor(n, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("paired", [True, False])
def test_processes_give_the_bits_of_this_one(rc, paired):
    over = {k: v[:40] if paired else v[:6] for k, v in monte_carlo(40).items()}
    here = rc.sweep("charge", over=over, paired=paired)
    with spawned() as pool:
        for shards in (1, 5, None):
            there = rc.sweep("charge", over=over, paired=paired, executor=pool, shards=shards)
            same(here, there)
        same(rc.sweep("grid"), rc.sweep("grid", executor=pool))
    with futures.ThreadPoolExecutor(3) as pool:
        same(here, rc.sweep("charge", over=over, paired=paired, executor=pool))


def test_a_worker_compiles_once(rc):
    cluster._cache.clear()
    before = cluster.n_compiled
    with futures.ThreadPoolExecutor(3) as pool:
        rc.sweep("charge", over=monte_carlo(50), paired=True, executor=pool, shards=20)
    assert cluster.n_compiled == before + 1


def test_results_can_stream_into_a_folder(rc, tmp_path):
    over = monte_carlo(30)
    out = rc.sweep("charge", over=over, paired=True, out=tmp_path / "parts", shards=4)
    assert len(os.listdir(tmp_path / "parts")) == 4 == len(out.files)
    same(out, rc.sweep("charge", over=over, paired=True))
    with pytest.raises(paynter.CallError, match="already"):
        rc.sweep("charge", over=over, paired=True, out=tmp_path / "parts")
    dataset = pytest.importorskip("pyarrow.parquet")
    assert dataset.read_table(tmp_path / "parts").num_rows == 30


def kill_me_once(flag):
    """Runs in a worker: dies at the first call."""
    if not os.path.exists(flag):
        open(flag, "w").close()
        os._exit(1)


def test_a_pool_whose_worker_dies_loses_nothing(rc, tmp_path):
    over = monte_carlo(60)
    here = rc.sweep("charge", over=over, paired=True)
    pool = spawned()
    pool.submit(kill_me_once, str(tmp_path / "flag"))
    same(here, rc.sweep("charge", over=over, paired=True, executor=pool, shards=12))


def test_a_worker_without_the_package_is_told(rc):
    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(1, mp_context=context, initializer=hide) as pool:
        with pytest.raises(paynter.CallError, match="pip install"):
            rc.sweep("charge", over=monte_carlo(4), paired=True, executor=pool)


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as local, distributed.Client(local) as client:
        yield client


def test_a_dask_cluster_gives_the_bits_of_this_process(rc, dask_client):
    over = monte_carlo(500)
    here = rc.sweep("charge", over=over, paired=True)
    same(here, rc.sweep("charge", over=over, paired=True, client=dask_client))
    same(here, rc.sweep("charge", over=over, paired=True, client=dask_client, shards=3))
    pids = set(dask_client.run(os.getpid).values())
    assert len(pids) == 2 and os.getpid() not in pids


def test_a_monte_carlo_of_a_hundred_thousand_runs_streams(rc, dask_client, tmp_path):
    resource = pytest.importorskip("resource")
    over = monte_carlo(100_000)
    size = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rc.sweep("charge", over=monte_carlo(100), paired=True, client=dask_client)
    before = size()
    found = rc.sweep("charge", over=over, paired=True, client=dask_client, out=tmp_path / "parts")
    # Shards are written as they come: 100 MB (kB, on Linux) is far less than all curves would take.
    assert size() - before < 100_000
    np.testing.assert_allclose(found["end"], charged(0.5, over["R1"], over["C1"]), rtol=1e-5)
    assert found.n_failed == 0 and len(found.files) == 100


def test_a_dask_worker_killed_in_the_middle_loses_nothing(dask_client):
    m = paynter.load(ROOT / "gallery/gyroscope/gyroscope.bond")
    over = {"A [kg*m^2]": 2 * np.linspace(0.9, 1.1, 1500)}
    here = m.sweep(over=over)
    killed = []

    def kill():
        pids = dask_client.run(os.getpid)
        killed.append(next(iter(pids.values())))
        os.kill(killed[0], 9)

    def progress(share):
        if share > 0.1 and not killed:
            kill()

    there = m.sweep(over=over, client=dask_client, shards=60, progress=progress)
    assert killed
    same(here, there)
    for _ in range(300):
        if len(dask_client.nthreads()) == 2:
            break
        time.sleep(0.1)
    assert killed[0] not in set(dask_client.run(os.getpid).values())


def test_a_dask_worker_without_the_package_is_told(rc):
    distributed = pytest.importorskip("distributed")

    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as local, distributed.Client(local) as client:
        client.run(hide)
        with pytest.raises(paynter.CallError, match="cannot import paynter"):
            rc.sweep("charge", over=monte_carlo(4), paired=True, client=client)


def test_the_command_line_has_the_same_shards(rc, tmp_path):
    binary = os.environ.get("PAYNTER_BINARY")
    if not binary:
        pytest.skip("PAYNTER_BINARY does not name the command line")
    (tmp_path / "m.bond").write_text(RC)
    call = [binary, "sweep", "m.bond", "-e", "grid"]
    for k in (1, 2):
        subprocess.run([*call, "--shard", f"{k}/2", "-o", f"{k}.parquet"], cwd=tmp_path, check=True)
    merge = [binary, "sweep", "--merge", "2.parquet", "1.parquet", "-o", "all.parquet"]
    subprocess.run(merge, cwd=tmp_path, check=True)
    whole = paynter.read(tmp_path / "all.parquet")
    ours = rc.sweep("grid")
    for name in ours:
        np.testing.assert_array_equal(whole[name], ours[name])


def test_threads_share_one_sweep(rc):
    results = []
    work = lambda: results.append(rc.sweep("charge", over=monte_carlo(50), paired=True, jobs=1))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in results[1:]:
        same(results[0], other)
