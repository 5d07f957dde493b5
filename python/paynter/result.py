"""Results: columns as arrays without copying, and everything small as plain objects."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from . import _paynter
from ._paynter import CallError
from ._values import did_you_mean


def read(path: str | os.PathLike[str]) -> Columns:
    """Reads a result file: .csv, .parquet or .json."""
    return Columns(_paynter.read_table(os.fspath(path)))


def merge(shards: Sequence[str | os.PathLike[str]]) -> SweepResult:
    """Puts the shards of a sweep together: Parquet files of ``sweep(out=…)`` or of ``paynter sweep --shard``."""
    if isinstance(shards, (str, os.PathLike)):
        raise TypeError("merge() takes a list of files; one alone is read by read()")
    table = _paynter.merge_shards([(os.fsdecode(path), None) for path in shards])
    prefix = "failure of point "
    reasons = {int(k[len(prefix) :]): v for k, v in table.metadata if k.startswith(prefix)}
    return SweepResult(table, [reasons.get(int(number)) for number in np.asarray(table.time)])


class Columns:
    """Columns by name: ``columns["v"]`` is an array that shares the engine's memory, read-only."""

    _kind = "column"

    def __init__(self, table: _paynter.Table) -> None:
        self._table = table

    @cached_property
    def _columns(self) -> dict[str, tuple[str, _paynter.Column]]:
        return {name: (unit, values) for name, unit, values in self._table.columns}

    @cached_property
    def _arrays(self) -> dict[str, np.ndarray]:
        return {}

    @cached_property
    def axis(self) -> np.ndarray:
        """The first column: times in s, or numbers of points."""
        return np.asarray(self._table.time)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column; empty for SI or a plain number."""
        return {name: unit for name, (unit, _) in self._columns.items()}

    @property
    def metadata(self) -> dict[str, str]:
        """Facts about where the numbers come from."""
        return dict(self._table.metadata)

    def __getitem__(self, name: str) -> np.ndarray:
        array = self._arrays.get(name)
        if array is None:
            if name not in self._columns:
                if name == self._table.axis:
                    return self.axis
                hint = did_you_mean(name, self._columns) or f"; there are {', '.join(self._columns)}"
                raise KeyError(f"there is no {self._kind} {name!r}{hint}")
            array = self._arrays[name] = np.asarray(self._columns[name][1])
        return array

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def keys(self) -> list[str]:
        """Names of the columns."""
        return self.names

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file: .csv, .parquet or .json; numbers survive bit for bit."""
        self._table.write(os.fspath(path))

    def plot(
        self,
        *columns: str,
        versus: str | None = None,
        title: str = "",
        theme: str = "auto",
        beside: Mapping[str, Columns] | None = None,
    ) -> Plot:
        """Draws columns: ``result.plot("theta[deg],command[deg]", "current")``.

        Columns separated by commas share axes, a unit in brackets is the unit of the axis. Results in `beside` are
        drawn dashed, under their names; `theme` is the paper: auto, light or dark.
        """
        for column in columns:
            if not isinstance(column, str):
                raise TypeError(f"plot() takes names of columns, not {column!r}")
        tables = [("result", self._table)]
        for name, other in (beside or {}).items():
            if not isinstance(other, Columns):
                raise TypeError(f"beside takes results by name, not {other!r}")
            tables.append((name, other._table))
        return Plot(_paynter.figure(tables, list(columns), versus, title, theme))

    def spectrum(
        self,
        *columns: str,
        window: str = "hann",
        start: float | None = None,
        stop: float | None = None,
    ) -> Spectrum:
        """Amplitude spectra of columns with samples at equal distances; of all unless some are named.

        `window` is rectangular (exact for whole periods), hann, hamming, blackman or flat-top; `start` and `stop` are
        times in s.

        >>> import paynter
        >>> m = paynter.model('''model M { s: Se(3*sin(2*pi*5*time)) -> j: 1 -> r: R(1); output w = r.f }
        ... experiment go of M { stop = 2; output_step = 0.01; record w }''')
        >>> frequency, amplitude = m.run().spectrum("w", stop=1.99, window="rectangular").peaks("w")[0]
        >>> round(frequency, 6), round(amplitude, 6)
        (5.0, 3.0)
        """
        for column in columns:
            if not isinstance(column, str):
                raise TypeError(f"spectrum() takes names of columns, not {column!r}")
        ends = tuple(None if t is None else _seconds(t) for t in (start, stop))
        return Spectrum(*_paynter.spectrum(self._table, list(columns), window, (ends[0], ends[1])))

    def to_pandas(self) -> Any:
        """A pandas data frame with the first column as its index; units are in `attrs`."""
        pandas = _needed("pandas")
        index = pandas.Index(self.axis, name=self._table.axis)
        frame = pandas.DataFrame({n: self[n] for n in self}, index=index, copy=False)
        frame.attrs["units"] = self.units
        return frame

    def to_xarray(self) -> Any:
        """An xarray data set; units are attributes of the variables."""
        xarray = _needed("xarray")
        axis = self._table.axis
        variables = {n: (axis, self[n], {"units": self.units[n]}) for n in self}
        facts = {"units": "s"} if axis == "time" else {}
        return xarray.Dataset(variables, coords={axis: (axis, self.axis, facts)})

    def to_polars(self) -> Any:
        """A polars data frame, through Arrow."""
        return _needed("polars").DataFrame(self)

    def to_arrow(self) -> Any:
        """A pyarrow table; units are metadata of the fields."""
        return _needed("pyarrow").table(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def _needed(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise CallError(f"{module} is not installed: pip install {module}") from None


class Plot:
    """Curves as a picture; a notebook shows it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file: .svg or .png."""
        ending = os.path.splitext(os.fsdecode(path))[1].lower()
        if ending not in (".svg", ".png"):
            raise CallError(f"unknown ending of {os.fsdecode(path)}; use .svg or .png")
        data = self.svg.encode() if ending == ".svg" else _paynter.png(self.svg)
        with open(path, "wb") as file:
            file.write(data)

    def __repr__(self) -> str:
        return f"<paynter.Plot {len(self.svg)} bytes>"

    def _repr_svg_(self) -> str:
        return self.svg


def write_text(path: str | os.PathLike[str], csv: str, json_text: str) -> None:
    """Writes one of two forms by the ending of the file: .csv or .json."""
    ending = os.path.splitext(os.fsdecode(path))[1].lower()
    if ending not in (".csv", ".json"):
        raise CallError(f"unknown ending of {os.fsdecode(path)}; use .csv or .json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(csv if ending == ".csv" else json_text)


def _seconds(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"start and stop take a time in s, not {value!r}") from None


class Spectrum:
    """Amplitudes over frequencies; a notebook shows them."""

    def __init__(self, text: str, json_text: str, svg: str, csv: str) -> None:
        #: For reading: the largest peaks.
        self.text = text
        #: Everything as plain objects.
        self.facts: Any = json.loads(json_text)
        self.svg = svg
        self._forms = csv, json_text

    def _of(self, column: str) -> dict[str, Any]:
        for found in self.facts["spectra"]:
            if found["name"] == column:
                return dict(found)
        known = ", ".join(found["name"] for found in self.facts["spectra"])
        raise KeyError(f"there is no spectrum of {column!r}; there are {known}")

    def frequencies(self, column: str) -> np.ndarray:
        """Frequencies of the lines, Hz."""
        return np.array(self._of(column)["frequency"], dtype=float)

    def amplitudes(self, column: str) -> np.ndarray:
        """Amplitudes of the lines, in the unit of the column."""
        return np.array(self._of(column)["amplitude"], dtype=float)

    def peaks(self, column: str) -> list[tuple[float, float]]:
        """Frequency (Hz) and amplitude of the largest peaks, largest first."""
        return [(p["frequency"], p["amplitude"]) for p in self._of(column)["peaks"]]

    def plot(self) -> Plot:
        """The amplitudes as a picture."""
        return Plot(self.svg)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the lines: .csv or .json."""
        write_text(path, *self._forms)

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_svg_(self) -> str:
        return self.svg


class Result(Columns):
    """A run: ``result["theta"]`` is the recorded signal, ``result.time`` its times in s."""

    _kind = "recorded signal"

    def __init__(self, run: _paynter.Run) -> None:
        super().__init__(run.table)
        self._run = run

    @property
    def time(self) -> np.ndarray:
        """Times of the rows, s."""
        return self.axis

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Everything that `paynter run --json` prints beside the curves."""
        return self._run.facts

    @property
    def is_good(self) -> bool:
        """It reached its end, keeps the first law and agrees with its references."""
        return bool(self.facts["is_good"])

    @property
    def audit(self) -> dict[str, Any] | None:
        """The first law: supplied, dissipated, stored, residual (J)."""
        audit: dict[str, Any] | None = self.facts["audit"]
        return audit

    @property
    def measures(self) -> dict[str, float | None]:
        """Measures of the experiment, in their own units; None where the curve never does it."""
        return {m["name"]: m["value"] for m in self.facts["measures"]}

    @property
    def statistics(self) -> dict[str, Any]:
        """The work: method, steps, rejected, right-hand sides, Jacobians, events, seconds."""
        keys = ("method", "steps", "rejected", "rhs", "jacobians", "events")
        return {**{key: self.facts[key] for key in keys}, "elapsed": self._run.elapsed}

    @property
    def events(self) -> np.ndarray:
        """Times of state events, s."""
        return np.array(self._run.event_times)

    @property
    def ending(self) -> str:
        """How the run ended: reached, stopped, cancelled or failed."""
        return str(self.facts["ending"]["kind"])

    @property
    def warnings(self) -> str:
        """Warnings as the command line shows them."""
        return self._run.warnings

    @property
    def plots(self) -> list[Plot]:
        """The plots that the experiment asks for."""
        return [Plot(svg) for svg in self._run.plots]

    def report(self, path: str | os.PathLike[str] | None = None, *, structure: bool = False) -> str:
        """The report page as HTML; written to a file if a path is given.

        With `structure` it answers the questions of :meth:`Model.structure`, too.
        """
        page = self._run.report(structure)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def __repr__(self) -> str:
        return f"<paynter.Result {len(self)} signals, {len(self.time)} rows, {self.ending}>"

    def _repr_html_(self) -> str:
        lines = [f"<p><b>{len(self)} signals, {len(self.time)} rows</b>, {self.ending}</p>"]
        lines += self._run.plots or ([self.plot().svg] if len(self) and len(self.time) > 1 else [])
        for name, value in self.measures.items():
            shown = "never" if value is None else f"{value:.6g}"
            lines.append(f"<p>{html.escape(name)} = {shown}</p>")
        audit = self.audit
        if audit:
            verdict = "accounted for" if audit["is_good"] else "<b>NOT ACCOUNTED FOR</b>"
            lines.append(f"<p>energy residual {audit['residual']:.3g} J: {verdict}</p>")
        if self.warnings:
            lines.append(f"<pre>{html.escape(self.warnings)}</pre>")
        return "".join(lines)


class SweepResult(Columns):
    """One row for each point: swept values, measures, final values, and why a point failed."""

    def __init__(
        self,
        table: _paynter.Table,
        failures: list[str | None],
        warnings: str = "",
        sweep: _paynter.Sweep | None = None,
        is_sample: bool = False,
    ) -> None:
        super().__init__(table)
        self._sweep = sweep
        self._is_sample = is_sample
        #: Why a point failed; None for those that did not.
        self.failures = failures
        #: Warnings, each once.
        self.warnings = warnings

    def _points(self, what: str, needs_curves: bool = False) -> _paynter.Sweep:
        if self._sweep is None:
            raise CallError(f"{what} need the runs themselves, and this result was put together from shards")
        if needs_curves and not self._has_curves:
            raise CallError(f"{what} need the curves of all runs: give curves=True to sweep()")
        return self._sweep

    #: Whether the sweep kept its curves.
    _has_curves = False

    @property
    def curves(self) -> Columns:
        """The recorded curves, one row for each run and time; needs ``curves=True``."""
        return Columns(self._points("curves", True).curves)

    @property
    def bands(self) -> Columns:
        """Quantiles of the recorded curves over time; needs ``curves=True``."""
        return Columns(self._points("bands", True).bands)

    def family(self) -> Plot:
        """The recorded curves of all runs as a picture, of a sample its quantiles; needs ``curves=True``."""
        return Plot(self._points("families", True).family())

    def plot_measures(self) -> Plot:
        """The measures as a picture: over the swept value, as a map over two, as histograms of a sample."""
        return Plot(self._points("pictures of measures").plot())

    @property
    def statistics(self) -> dict[str, Any] | None:
        """Means, deviations, quantiles, intervals and yields of a sample; None for a grid."""
        found = self._points("statistics").statistics(self._is_sample)
        facts: dict[str, Any] | None = None if found is None else json.loads(found[1])
        return facts

    @property
    def n_failed(self) -> int:
        """Number of points that failed."""
        return sum(reason is not None for reason in self.failures)

    def to_pandas(self) -> Any:
        """A pandas data frame with one row for each point, and a column with reasons."""
        frame = super().to_pandas()
        frame["failure"] = self.failures
        return frame

    def __repr__(self) -> str:
        return f"<paynter.SweepResult {len(self.axis)} points, {self.n_failed} failed>"

    def _repr_html_(self) -> str:
        try:
            return f"<p>{html.escape(repr(self))}</p>{self.to_pandas().head(20).to_html()}"
        except CallError:
            return f"<p>{html.escape(repr(self))}</p>"
