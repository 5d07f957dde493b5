"""Sweeps: here with threads, or cut into shards for processes and clusters.

In:  a task (model, experiment, values) and who is to do it.
Out: a `SweepResult` in the order of the points.

A shard is small: texts, names and its own values. A worker compiles a sweep once and keeps it. Shards
are taken in their order and at most a few per worker are under way, so that memory stays bounded. A
point depends on its values alone, so neither the number of shards nor of workers changes a bit.
"""

from __future__ import annotations

import collections
import concurrent.futures as futures
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _paynter
from ._paynter import CallError
from ._values import is_quantity, si_number, si_quantity, split_unit, value_text
from .result import Columns, SweepResult, read

if TYPE_CHECKING:
    from .model import Model

Progress = Callable[[float], Any]

#: Points of a shard unless the caller says: much longer than sending it, and soon done.
POINTS_PER_SHARD = 1000
#: Shards for each worker at least, so that a slow one does not keep the others waiting.
SHARDS_PER_WORKER = 4
#: How often a shard is given to another worker when its worker dies, before its points count as failed.
MOST_DEATHS = 3


@dataclass(frozen=True)
class Task:
    """What is to be run."""

    model: Model
    experiment: str | None
    model_name: str | None
    over: Mapping[str, Any] | None
    paired: bool
    engine: str
    draws: Columns | str | os.PathLike[str] | None = None
    curves: bool = False
    timed: bool = False


@dataclass(frozen=True)
class Workers:
    """Who runs it."""

    jobs: int | None
    executor: Any
    client: Any
    shards: int | None
    out: str | os.PathLike[str] | None


@dataclass(frozen=True)
class Base:
    """What all shards of a sweep share; equal for equal sweeps but for their numbers."""

    path: str
    texts: tuple[tuple[str, str], ...]
    changes: tuple[tuple[str, str], ...]
    model: str | None
    experiment: str | None
    engine: str
    over: tuple[tuple[str, ...], bool] | None
    timed: bool = False
    curves: bool = False


@dataclass(frozen=True)
class Shard:
    """One part of a sweep, as it is sent to a worker."""

    base: Base
    #: Its own numbers, as bytes of doubles; none where the texts have all values.
    values: tuple[bytes, ...] | None
    start: int
    stop: int
    #: What is added to its numbers of points.
    offset: int
    index: int
    count: int
    n_points: int
    hash: str


def sweep(task: Task, workers: Workers, progress: Progress | None) -> SweepResult:
    """Runs a task."""
    _check_workers(workers)
    is_here = workers.executor is None and workers.client is None and workers.out is None
    if task.curves and not is_here:
        raise CallError("curves=True keeps the runs in memory; leave out executor, client and out")
    whole = _Whole(task)
    if is_here:
        return _run_here(whole, workers.jobs, progress)
    pool = _pool(workers)
    _check_package(pool)
    count = workers.shards or _n_shards(whole.n_points, pool.n_workers)
    shards = [whole.shard(index, count) for index in range(count)]
    keep = _Folder(workers.out) if workers.out is not None else _Memory()
    return _run_shards(pool, shards, keep, progress)


def _check_workers(workers: Workers) -> None:
    for name in ("jobs", "shards"):
        value = getattr(workers, name)
        is_count = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if value is not None and not (is_count and value > 0):
            raise CallError(f"{name} takes a whole number above 0, not {value!r}")
    if workers.executor is not None and workers.client is not None:
        raise CallError("give an executor or a client, not both")
    if workers.client is not None and not hasattr(workers.client, "nthreads"):
        raise TypeError(f"client takes a dask.distributed.Client, not {workers.client!r}")
    executor = workers.executor
    if executor is not None and not callable(executor) and not hasattr(executor, "submit"):
        raise TypeError(f"executor takes something with `submit`, not {executor!r}")


#: What a worker is asked first; a text, since whatever needs the package could not be sent there.
_PROBE = "__import__('paynter').__version__"


def _check_package(pool: _Pool) -> None:
    """Every worker has the package, in this version."""
    try:
        versions = pool.ask(_PROBE)
    except ImportError as error:
        pool.close()
        raise CallError(
            f"a worker cannot import paynter ({error}); install it there: pip install paynter"
        ) from error
    for version in versions:
        if version != _paynter.__version__:
            pool.close()
            here = _paynter.__version__
            raise CallError(f"a worker has paynter {version}, and here is {here}; install the same")


def _n_shards(n_points: int, n_workers: int) -> int:
    wanted = max(SHARDS_PER_WORKER * n_workers, -(-n_points // POINTS_PER_SHARD))
    return max(1, min(n_points, wanted))


class _Whole:
    """A sweep with all its values."""

    def __init__(self, task: Task) -> None:
        _refuse_bare_numbers(task)
        texts, arrays = _axes(task.over)
        over = None if texts is None else (texts, task.paired)
        if task.draws is not None:
            over = (_rows(task), True)
        design = task.model._design(task.model_name, task.experiment, over=over)
        self.base = Base(
            task.model._path,
            tuple(design.files),
            tuple(task.model._changes.items()),
            task.model_name,
            task.experiment,
            task.engine,
            over,
            task.timed,
            task.curves,
        )
        compiled = _compiled(self.base, design)
        self.is_sample = task.draws is not None
        self.is_paired = task.paired
        self.sweeper = compiled
        self.arrays: list[np.ndarray] | None = None
        if arrays is not None:
            self.arrays = [_in_si(a, compiled, k) for k, a in enumerate(arrays)]
            self.sweeper = compiled.with_values([a.tobytes() for a in self.arrays])
        self.n_points = self.sweeper.n_points
        self.hash = self.sweeper.hash

    def shard(self, index: int, count: int) -> Shard:
        start, stop = _paynter.shard_range(index, count, self.n_points)
        values, offset = None, 0
        if self.arrays is not None and self.is_paired:
            # Only its own values travel.
            values = tuple(a[start:stop].tobytes() for a in self.arrays)
            start, stop, offset = 0, stop - start, start
        elif self.arrays is not None:
            values = tuple(a.tobytes() for a in self.arrays)
        return Shard(
            self.base, values, start, stop, offset, index, count, self.n_points, self.hash
        )


def _axes(
    over: Mapping[str, Any] | None,
) -> tuple[tuple[str, ...] | None, list[np.ndarray] | None]:
    """Texts for the engine, and arrays where all values are plain numbers.

    The text of an array has 0 and 1 in its unit: the engine looks at names and units once, and tells
    what they are in SI units.
    """
    if over is None:
        return None, None
    if not isinstance(over, Mapping):
        raise TypeError(f"over takes a mapping of names to values, not {over!r}")
    if not over:
        raise CallError("over has no names; write over={'R1': [10, 20, 50]}")
    axes = [_axis(*split_unit(name), values) for name, values in over.items()]
    if all(isinstance(values, np.ndarray) for _, _, values in axes):
        return tuple(f"{n} in [0, 1]{_bracket(u)}" for n, u, _ in axes), [a for _, _, a in axes]
    texts = (v if isinstance(v, str) else value_text(v) for _, _, v in axes)
    return tuple(f"{n} in {t}{_bracket(u)}" for (n, u, _), t in zip(axes, texts, strict=True)), None


def _rows(task: Task) -> tuple[str, ...]:
    """The rows of a table as values to run over."""
    if task.over is not None:
        raise CallError("give over= or draws=, not both")
    table = task.draws
    if isinstance(table, (str, os.PathLike)):
        table = read(table)
    if not isinstance(table, Columns):
        raise TypeError(f"draws takes the path of a table or a result, not {table!r}")
    design = task.model._design(task.model_name, task.experiment)
    return tuple(design.rows_of(table._table))


def _refuse_bare_numbers(task: Task) -> None:
    """A number for a parameter in kΩ could mean Ω or kΩ: what `set` refuses, a sweep does not guess."""
    over = task.over if isinstance(task.over, Mapping) else {}
    bare = {}
    for given, values in over.items():
        name, unit = split_unit(given)
        is_bare = not unit and not is_quantity(values) and isinstance(values, (list, tuple, np.ndarray))
        numbers = [n for n in map(si_number, values) if n and np.isfinite(n)] if is_bare else []
        if numbers:
            bare[name] = numbers[0]
    if not bare:
        return
    try:
        task.model.set(bare)._design(task.model_name, task.experiment)
    except _paynter.ModelError as error:
        # Anything else is the business of the point with that value.
        if any(message["code"] == "E0321" for message in error.messages):
            raise


def _bracket(unit: str) -> str:
    return f" [{unit}]" if unit else ""


def _axis(name: str, unit: str, values: Any) -> tuple[str, str, Any]:
    """Name, unit, and an array of plain numbers or the text of other values."""
    if isinstance(values, str):
        return name, unit, values
    if is_quantity(values):
        values, unit = si_quantity(values)
    if np.ndim(values) == 0:
        raise TypeError(f"{name} takes a list of values, not {values!r}")
    if np.ndim(values) != 1:
        raise CallError(f"{name} takes a plain list, not one with {np.ndim(values)} dimensions")
    items = list(values)
    if not items:
        raise CallError(f"there are no values for {name!r}")
    numbers = [si_number(v) for v in items]
    if any(n is None for n in numbers):
        return name, unit, "[" + ", ".join(value_text(v) for v in items) + "]"
    array = np.array(numbers, dtype=float)
    if not np.all(np.isfinite(array)):
        k = int(np.flatnonzero(~np.isfinite(array))[0])
        raise CallError(f"value {k + 1} of {name!r} is {array[k]}, not a finite number")
    return name, unit, array


def _in_si(array: np.ndarray, compiled: _paynter.Sweeper, k: int) -> np.ndarray:
    """Numbers in the unit of sweep k, in SI units; the sweep was compiled with 0 and 1 of that unit."""
    probes = compiled.values
    if probes is None:
        raise CallError("this cannot be swept over numbers")
    zero, one = np.frombuffer(probes[k])
    in_si: np.ndarray = array * (one - zero) + zero
    return in_si


def _run_here(whole: _Whole, jobs: int | None, progress: Progress | None) -> SweepResult:
    try:
        done = whole.sweeper.run(0, whole.n_points, jobs=jobs, progress=progress)
    except _paynter.Interrupted as error:
        error.result = _from_points(error.result, whole)
        raise
    return _from_points(done, whole)


def _from_points(done: _paynter.Sweep, whole: _Whole) -> SweepResult:
    result = SweepResult(done.table, done.failures, done.warnings, done, whole.is_sample)
    result._has_curves = whole.base.curves
    return result


_cache: collections.OrderedDict[Base, _paynter.Sweeper] = collections.OrderedDict()
_cache_lock = threading.Lock()
#: How often this process has compiled a sweep; for tests.
n_compiled = 0


def _compiled(base: Base, design: _paynter.Design | None = None) -> _paynter.Sweeper:
    """The compiled sweep of a base: once per process."""
    global n_compiled
    with _cache_lock:
        found = _cache.get(base)
        if found is None:
            if design is None:
                design = _paynter.open(
                    base.path,
                    dict(base.texts),
                    model=base.model,
                    experiment=base.experiment,
                    set=list(base.changes),
                    over=None if base.over is None else (list(base.over[0]), base.over[1]),
                )
            found = _cache[base] = design.sweeper(base.engine, base.curves, base.timed)
            n_compiled += 1
            if len(_cache) > 8:
                _cache.popitem(last=False)
        else:
            _cache.move_to_end(base)
        return found


def run_shard(shard: Shard) -> bytes:
    """Runs one shard, in whatever process: the bytes of its Parquet file."""
    sweeper = _compiled(shard.base)
    if shard.values is not None:
        sweeper = sweeper.with_values(list(shard.values))
    done = sweeper.run(shard.start, shard.stop, offset=shard.offset, jobs=1)
    return done.shard(shard.index, shard.count, shard.n_points, shard.hash)


def _lost_shard(shard: Shard, reason: str) -> bytes:
    """A shard whose points all failed for one reason."""
    sweeper = _compiled(shard.base)
    if shard.values is not None:
        sweeper = sweeper.with_values(list(shard.values))
    lost = sweeper.refuse(shard.start, shard.stop, reason, offset=shard.offset)
    return lost.shard(shard.index, shard.count, shard.n_points, shard.hash)


class _Memory:
    """Keeps shards in memory."""

    def __init__(self) -> None:
        self._shards: list[tuple[str, bytes | None]] = []

    def add(self, shard: Shard, data: bytes) -> None:
        self._shards.append((f"shard {shard.index + 1}/{shard.count}", data))

    def result(self, partial: bool = False) -> SweepResult:
        table = _paynter.merge_shards(self._shards, partial)
        return SweepResult(table, _failures(table))


class _Folder:
    """Writes shards to a folder as they come."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        os.makedirs(self._path, exist_ok=True)
        if any(name.endswith(".parquet") for name in os.listdir(self._path)):
            raise CallError(f"{self._path} has Parquet files already; choose an empty folder")
        self._files: list[tuple[str, bytes | None]] = []

    def add(self, shard: Shard, data: bytes) -> None:
        name = os.path.join(self._path, f"shard-{shard.index + 1:06d}-of-{shard.count:06d}.parquet")
        unfinished = name + ".tmp"
        with open(unfinished, "wb") as file:
            file.write(data)
        os.replace(unfinished, name)
        self._files.append((name, None))

    def result(self, partial: bool = False) -> SweepResult:
        return _Lazy(self._files, partial)


class _Lazy(SweepResult):
    """A result in files; read when its numbers are asked for."""

    def __init__(self, files: list[tuple[str, bytes | None]], partial: bool) -> None:
        self._partial = partial
        #: The Parquet files of the shards, in order.
        self.files = [name for name, _ in files]
        self.warnings = ""
        self._sweep = None

    def __getattr__(self, name: str) -> Any:
        if name not in ("_table", "failures"):
            raise AttributeError(name)
        self._table = _paynter.merge_shards([(f, None) for f in self.files], self._partial)
        self.failures = _failures(self._table)
        return getattr(self, name)


def _failures(table: _paynter.Table) -> list[str | None]:
    prefix = "failure of point "
    reasons = {int(k[len(prefix) :]): v for k, v in table.metadata if k.startswith(prefix)}
    return [reasons.get(int(number)) for number in np.asarray(table.time)]


def _pool(workers: Workers) -> _Pool:
    if workers.client is not None:
        return _Dask(workers.client)
    if workers.executor is not None:
        return _Executor(workers.executor)
    return _Here(workers.jobs)


class _Pool:
    """Somebody who runs shards."""

    n_workers: int

    def submit(self, shard: Shard) -> Any:
        """Starts a shard; gives something with `result` and `cancel`."""
        raise NotImplementedError

    def ask(self, question: str) -> list[str]:
        """What the workers answer."""
        return []

    def revive(self) -> bool:
        """Makes a broken pool work again; false if that cannot be."""
        return True

    #: Whether the death of one worker fails the shards of all others.
    dies_together = False

    def is_death(self, error: BaseException) -> bool:
        """Tells whether a worker died, rather than the work failing."""
        return False

    def close(self) -> None:
        """Ends what was started here."""


class _Here(_Pool):
    """Threads of this process, for results in a folder."""

    def __init__(self, jobs: int | None) -> None:
        self.n_workers = jobs or os.cpu_count() or 1
        self._threads = futures.ThreadPoolExecutor(self.n_workers)

    def submit(self, shard: Shard) -> Any:
        return self._threads.submit(run_shard, shard)

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)


class _Executor(_Pool):
    """Anything like `concurrent.futures`: an executor, or a function that makes one."""

    dies_together = True

    def __init__(self, executor: Any) -> None:
        self._make = executor if not hasattr(executor, "submit") else None
        self._executor = executor if self._make is None else self._make()
        self._is_ours = self._make is not None
        self.n_workers = getattr(self._executor, "_max_workers", None) or os.cpu_count() or 1

    def submit(self, shard: Shard) -> Any:
        return self._executor.submit(run_shard, shard)

    def ask(self, question: str) -> list[str]:
        try:
            return [self._executor.submit(eval, question).result()]
        except futures.BrokenExecutor:
            # A pool that broke before: the work itself makes a new one.
            return []

    def is_death(self, error: BaseException) -> bool:
        return isinstance(error, futures.BrokenExecutor)

    def revive(self) -> bool:
        old = self._executor
        if self._make is not None:
            self._executor = self._make()
        elif type(old) is futures.ProcessPoolExecutor:
            self._executor = futures.ProcessPoolExecutor(
                self.n_workers,
                mp_context=old._mp_context,
                initializer=old._initializer,
                initargs=old._initargs,
            )
            self._is_ours = True
        else:
            return False
        old.shutdown(wait=False, cancel_futures=True)
        return True

    def close(self) -> None:
        if self._is_ours:
            self._executor.shutdown(cancel_futures=True)


class _Dask(_Pool):
    """A Dask cluster: it gives the shard of a dead worker to another by itself."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.n_workers = sum(client.nthreads().values())
        if self.n_workers == 0:
            raise CallError("the Dask cluster has no workers")

    def ask(self, question: str) -> list[str]:
        return list(self._client.run(eval, question).values())

    def submit(self, shard: Shard) -> Any:
        return self._client.submit(run_shard, shard, pure=False)

    def is_death(self, error: BaseException) -> bool:
        return type(error).__name__ == "KilledWorker"


def _run_shards(
    pool: _Pool, shards: list[Shard], keep: _Memory | _Folder, progress: Progress | None
) -> SweepResult:
    """Runs all shards in order, a few per worker at a time."""
    waiting = collections.deque(shards)
    under_way: collections.deque[tuple[Shard, Any]] = collections.deque()
    deaths: collections.Counter[int] = collections.Counter()
    n_done = 0
    # After a death that failed the shards of others too, they run alone until it is clear which one kills.
    suspects: set[int] = set()
    try:
        while waiting or under_way:
            room = 1 if suspects else 2 * pool.n_workers + 1
            while waiting and len(under_way) < room:
                shard = waiting.popleft()
                under_way.append((shard, _submitted(pool, shard)))
            shard, future = under_way.popleft()
            try:
                data = future.result()
            except BaseException as error:
                if not pool.is_death(error):
                    raise
                deaths[shard.index] += 1
                lost = [shard, *(other for other, _ in under_way)]
                if pool.dies_together:
                    under_way.clear()
                    suspects.update(s.index for s in lost)
                    if not pool.revive():
                        raise CallError(
                            f"the executor broke ({error}); give a function that makes one, so that "
                            "the work can go on: executor=lambda: ProcessPoolExecutor(4)"
                        ) from error
                    waiting.extendleft(reversed(lost))
                    is_given_up = len(lost) == 1 and deaths[shard.index] >= MOST_DEATHS
                    if not is_given_up:
                        continue
                    waiting.popleft()
                reason = f"the worker died {MOST_DEATHS} times while it ran this shard"
                data = _lost_shard(shard, reason)
            suspects.discard(shard.index)
            keep.add(shard, data)
            n_done += 1
            if progress is not None:
                progress(n_done / len(shards))
    except BaseException as error:
        for _, future in under_way:
            future.cancel()
        told = _explained(error, keep)
        if told is error:
            raise
        raise told from error
    finally:
        pool.close()
    return keep.result()


class _Broken:
    """A future of a pool that broke before it took the work."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def result(self) -> bytes:
        raise self._error

    def cancel(self) -> None:
        pass


def _submitted(pool: _Pool, shard: Shard) -> Any:
    try:
        return pool.submit(shard)
    except BaseException as error:
        if not pool.is_death(error):
            raise
        return _Broken(error)


def _explained(error: BaseException, keep: _Memory | _Folder) -> BaseException:
    """What the user is told: what was computed is kept."""
    if isinstance(error, KeyboardInterrupt):
        told: BaseException = _paynter.Interrupted(
            "the sweep was interrupted; `result` holds the shards that are done"
        )
    else:
        told = error
    try:
        told.result = keep.result(partial=True)  # type: ignore[attr-defined]
    except _paynter.PaynterError:
        pass
    return told

