"""Models: what can be asked of a text.

Every question is one call of the engine. A model is a value: nothing changes it, `set` gives another one.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _paynter
from ._paynter import CallError
from ._values import Value, did_you_mean, refuse_unknown, split_unit, value_text
from .linear import LinearModel, Margins, Structure
from .result import Result, SweepResult

F = TypeVar("F", bound=Callable[..., Any])


def load(path: str | os.PathLike[str]) -> Model:
    """Opens a `.bond` file; its text is read now, the files that it uses when they are needed.

    >>> load("nowhere.bond")
    Traceback (most recent call last):
    ...
    paynter.CallError: nowhere.bond: there is no such file
    """
    try:
        path = os.fspath(path)
    except TypeError:
        raise TypeError(f"a path is a text, not {type(path).__name__}") from None
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if not os.path.exists(path):
        raise CallError(f"{path}: there is no such file")
    if os.path.isdir(path):
        raise CallError(f"{path}: is a folder, not a file")
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise CallError(f"{path}: is not a text file: byte {error.start + 1} is not UTF-8") from None
    except OSError as error:
        raise CallError(f"{path}: {error.strerror}") from None
    return Model(os.path.abspath(path), text)


def model(text: str, *, name: str = "model.bond") -> Model:
    """Makes a model of a text; files that it uses are found from the folder of `name`.

    >>> model("model M { s: Se(1) -> j: 1 -> r: R(2) }").causality().order
    0
    """
    if not isinstance(text, str):
        raise TypeError(f"a model is a text, not {type(text).__name__}")
    return Model(os.path.abspath(name), text)


def gallery(name: str | None = None) -> Any:
    """A model of the gallery by name; without a name, all names.

    >>> "gyroscope" in gallery()
    True
    """
    texts: dict[str, str] = {}
    mains: dict[str, str] = {}
    for folder, files in _paynter.gallery():
        for below, text in files:
            path = os.path.abspath(os.path.join("gallery", folder, below))
            texts[path] = text
            if below.endswith(".bond"):
                stem = os.path.basename(below)[: -len(".bond")]
                if folder not in mains or stem == folder:
                    mains[folder] = path
    if name is None:
        return sorted(mains)
    if name not in mains:
        raise CallError(f"the gallery has no {name!r}{did_you_mean(name, mains)}")
    return Model(mains[name], texts[mains[name]], others=texts)


def _options(call: F) -> F:
    """Answers an unknown keyword with the nearest one there is."""
    parameters = [p for p in inspect.signature(call).parameters.values() if p.name != "self"]
    known = {p.name for p in parameters}

    @functools.wraps(call)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not known.issuperset(kwargs):
            unknown = {k: v for k, v in kwargs.items() if k not in known}
            refuse_unknown(call.__name__, unknown, [p.name for p in parameters])
        return call(self, *args, **kwargs)

    return checked  # type: ignore[return-value]


class Model:
    """A text, with values changed.

    >>> m = model("model M { param R1 = 2; s: Se(1) -> j: 1 -> r: R(R1), i: I(1) }")
    >>> m.parameters, m.set(R1=5).parameters
    ({'R1': 2.0}, {'R1': 5.0})
    """

    def __init__(
        self,
        path: str,
        text: str,
        changes: Mapping[str, Value] | None = None,
        others: Mapping[str, str] | None = None,
    ) -> None:
        self._path = path
        self._text = text
        self._changes = {name: value_text(value) for name, value in (changes or {}).items()}
        #: Texts of files that are used and need not be on the disk.
        self._others = dict(others or {})
        self._designs: dict[Any, _paynter.Design] = {}

    def __repr__(self) -> str:
        changed = f", {len(self._changes)} values changed" if self._changes else ""
        return f"<paynter.Model {os.path.basename(self._path)}{changed}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Model, (self._path, self._text, self._changes, self._others)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((self._path, self._text, tuple(sorted(self._changes.items()))))

    def text(self) -> str:
        """The text of the model."""
        return self._text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the text to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text)

    def set(self, changes: Mapping[str, Value] | None = None, /, **more: Value) -> Model:
        """The same model with other values: numbers in SI units, texts with units, pint quantities.

        Paths with dots are given in a mapping: ``m.set({"motor.R": "2 [ohm]"}, J=1e-3)``. A plain
        number for a parameter that the text declares in another unit than SI is refused: name the
        unit, as in ``m.set(R1="2 [kohm]")`` or ``m.set({"R1 [kohm]": 2})``.
        """
        if changes is not None and not isinstance(changes, Mapping):
            raise TypeError(f"set() takes a mapping of names to values, not {type(changes).__name__}")
        values = dict(self._changes)
        for given, value in {**(changes or {}), **more}.items():
            name, unit = split_unit(given)
            text = value_text(value)
            values[name] = f"{text} [{unit}]" if unit else text
        return Model(self._path, self._text, values, self._others)

    def _texts(self) -> dict[str, str]:
        return {**self._others, self._path: self._text}

    def _design(
        self,
        model: str | None = None,
        experiment: str | None = None,
        linear: tuple[str | None, str | None, str | None] | None = None,
        over: tuple[tuple[str, ...], bool] | None = None,
    ) -> _paynter.Design:
        """The design for a choice; made once."""
        for name, given in (("model", model), ("experiment", experiment)):
            if given is not None and not isinstance(given, str):
                raise TypeError(f"{name} is a name, not {given!r}")
        key = (model, experiment, linear, over)
        design = self._designs.get(key)
        if design is None:
            design = _paynter.open(
                self._path,
                self._texts(),
                model=model,
                experiment=experiment,
                set=list(self._changes.items()),
                linear=linear,
                over=None if over is None else (list(over[0]), over[1]),
            )
            # Loops over many values must not fill the memory with designs nobody asks for again.
            if len(self._designs) >= 16:
                self._designs.pop(next(iter(self._designs)))
            self._designs[key] = design
        return design

    @property
    def name(self) -> str:
        """Name of the model that is taken."""
        return self._design().model

    @property
    def experiments(self) -> list[str]:
        """Names of the experiments of the file."""
        return self._design().experiments

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters and their values in SI units."""
        return dict(self._design().parameters)

    @property
    def warnings(self) -> str:
        """Warnings about the model, as the command line shows them."""
        return self._design().warnings

    def check(self) -> Check:
        """Looks for errors in the whole file: every model and experiment.

        >>> bool(model("model M { s: Se(1) -> j: 1 -> r: R(x) }").check())
        False
        """
        return Check(*_paynter.check(self._path, self._texts()))

    def format(self) -> Model:
        """The model with its text as `paynter fmt` lays it out."""
        text = _paynter.format(self._path, self._text)
        return Model(self._path, text, self._changes, self._others)

    @_options
    def causality(self, *, model: str | None = None, experiment: str | None = None) -> Causality:
        """Strokes, states, dependent storages and loops."""
        return Causality(self._design(model, experiment))

    @_options
    def equations(
        self,
        *,
        form: str = "state",
        model: str | None = None,
        experiment: str | None = None,
    ) -> Equations:
        """The equations in the model's own names; form is state, dae, blocks or matrix."""
        design = self._design(model, experiment)
        text, latex = design.equations(form, "text"), design.equations(form, "latex")
        return Equations(text, latex, design.equations(form, "json"))

    @_options
    def diagram(
        self,
        format: str = "svg",
        *,
        model: str | None = None,
        experiment: str | None = None,
        parts: str = "auto",
        numbers: bool = False,
        signals: bool = True,
        frames: bool = False,
        theme: str = "auto",
        power: str | float | bool | None = None,
    ) -> Picture:
        """The bond graph as the textbook draws it: svg, png, pdf or tikz.

        `parts` is auto, open or closed; `frames` shows the assignment of causality step by step;
        `power=True` runs the experiment and shows where power flows on average, `power=0.1` or
        `power="20 [ms]"` at an instant.
        """
        when = None
        if power is not None and power is not False:
            when = "mean" if power is True else str(power)
        design = self._design(model, experiment)
        drawn = design.diagram(
            format,
            parts=parts,
            numbers=numbers,
            signals=signals,
            frames=frames,
            theme=theme,
            power=when,
        )
        return Picture(drawn, format)

    @_options
    def linearize(
        self,
        *,
        inputs: str | Sequence[str] | None = None,
        outputs: str | Sequence[str] | None = None,
        at: float | None = None,
        open_loop: bool = False,
        model: str | None = None,
        experiment: str | None = None,
    ) -> LinearModel:
        """The linear model at the start, at a time of the run, or where the experiment trims.

        >>> m = model("model M { s: Se(1) -> j: 1 -> r: R(2), i: I(4); output w = i.f }")
        >>> linear = m.linearize(outputs="w")
        >>> linear.A, linear.states
        (array([[-0.5]]), ['i.p'])
        """
        names = (_names("inputs", inputs), _names("outputs", outputs), None)
        design = self._design(model, experiment, names)
        return LinearModel(design.linearize(_number("at", at), bool(open_loop)))

    @_options
    def margins(
        self,
        cut: str | Sequence[str],
        *,
        inputs: str | Sequence[str] | None = None,
        outputs: str | Sequence[str] | None = None,
        at: float | None = None,
        open_loop: bool = False,
        model: str | None = None,
        experiment: str | None = None,
    ) -> Margins:
        """Gain, phase and delay margins of the loops at the signals `cut`."""
        names = (_names("inputs", inputs), _names("outputs", outputs), _names("cut", cut))
        design = self._design(model, experiment, names)
        wants_channels = inputs is not None or outputs is not None
        return Margins(*design.margins(_number("at", at), bool(open_loop), wants_channels))

    @_options
    def structure(
        self,
        *,
        inputs: str | Sequence[str] | None = None,
        outputs: str | Sequence[str] | None = None,
        at: float | None = None,
        model: str | None = None,
        experiment: str | None = None,
    ) -> Structure:
        """Controllability and observability, by the structure and with the present numbers."""
        names = (_names("inputs", inputs), _names("outputs", outputs), None)
        return Structure(*self._design(model, experiment, names).structure(_number("at", at)))

    @_options
    def run(
        self,
        experiment: str | None = None,
        *,
        model: str | None = None,
        engine: str = "auto",
        times: Sequence[float] | np.ndarray | None = None,
        progress: Callable[[float], Any] | bool | None = None,
    ) -> Result:
        """Simulates an experiment: the one named, or the first of the file.

        `times` records at these times in s; `progress` is called with the share that is done, or
        `True` for a bar. `RunError` is raised if the solver gives up, `Interrupted` on Ctrl-C; the
        `result` of both holds what was computed until then.
        """
        design = self._design(model, experiment)
        with _bar(progress) as call:
            try:
                run = design.run(engine=engine, times=_times(times), progress=call)
            except (_paynter.RunError, _paynter.Interrupted) as error:
                if hasattr(error, "result"):
                    error.result = Result(error.result)
                raise
        return Result(run)

    @_options
    def sweep(
        self,
        experiment: str | None = None,
        *,
        over: Mapping[str, Any] | None = None,
        paired: bool = False,
        model: str | None = None,
        engine: str = "auto",
        jobs: int | None = None,
        executor: Any = None,
        client: Any = None,
        shards: int | None = None,
        out: str | os.PathLike[str] | None = None,
        progress: Callable[[float], Any] | bool | None = None,
    ) -> SweepResult:
        """Runs an experiment at many values: those of `over`, or of its own `sweep` lines.

        Several names make a grid, the last varies fastest; with `paired` all take their first values,
        then all their second ones. Values are as for `set`: ``over={"R1 [kohm]": [1, 2]}``. A point
        that fails is a row with its reason.

        The work is done by `jobs` threads here, by a `concurrent.futures` executor, or by a Dask
        `client`: cut into `shards` that each worker compiles once. Bits and order do not depend on
        who did it. With `out`, a folder, each shard is written there as it comes, and the table that
        is returned is read from there when it is asked for.

        >>> m = model('''model M { param R1 = 2; s: Se(1) -> j: 1 -> r: R(R1), i: I(1); output w = i.f }
        ... experiment go of M { stop = 30; record w; measure w_end = final(w) }''')
        >>> m.sweep(over={"R1": [1, 2, 4]})["w_end"].round(6)
        array([1.  , 0.5 , 0.25])
        """
        from . import cluster

        with _bar(progress) as call:
            return cluster.sweep(
                cluster.Task(self, experiment, model, over, bool(paired), engine),
                cluster.Workers(jobs, executor, client, shards, out),
                call,
            )

    def graph(self, *, model: str | None = None, experiment: str | None = None) -> dict[str, Any]:
        """The flat bond graph: elements with name and kind, bonds between them by number."""
        elements, bonds = self._design(model, experiment).graph
        return {
            "elements": [{"name": n, "kind": k} for n, k in elements],
            "bonds": [{"name": n, "from": a, "to": b} for n, a, b in bonds],
        }

    def explore(self, experiment: str | None = None, **ranges: Any) -> Any:
        """Sliders that run the experiment live, in a notebook; needs anywidget.

        ``m.explore(R1=(10, 1000), C1=("1 [uF]", "1 [mF]"))``
        """
        from .widget import Explorer

        return Explorer(self, experiment, ranges)

    def _repr_svg_(self) -> str:
        return self.diagram()._repr_svg_() or ""


def _names(option: str, names: str | Sequence[str] | None) -> str | None:
    if names is None or isinstance(names, str):
        return names
    try:
        names = list(names)
    except TypeError:
        raise TypeError(f"{option} takes a name or a list of names, not {names!r}") from None
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{option} takes names, not {name!r}")
    return ", ".join(names)


def _number(option: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{option} takes a number, not {value!r}") from None


def _times(times: Any) -> list[float] | None:
    if times is None:
        return None
    array = np.asarray(times)
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise TypeError(f"times takes a list of numbers in s, not {times!r}")
    return [float(t) for t in array]


class _bar:
    """A progress call; `True` is a bar on the terminal or in the notebook."""

    def __init__(self, progress: Any) -> None:
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress takes a function or True, not {progress!r}")
        self._progress = progress
        self._shown = False

    def __enter__(self) -> Callable[[float], Any] | None:
        if self._progress is True:
            return self._show
        return self._progress or None

    def _show(self, share: float) -> None:
        width = 40
        n = min(width, max(0, round(share * width)))
        self._shown = True
        print(f"\r[{'█' * n}{'·' * (width - n)}] {100 * share:3.0f} %", end="", file=sys.stderr)

    def __exit__(self, *error: Any) -> None:
        if self._shown:
            print("\r" + " " * 50 + "\r", end="", file=sys.stderr)


class Check:
    """What is wrong with a file; true if nothing is."""

    def __init__(self, text: str, messages: list[dict[str, Any]]) -> None:
        #: As the command line shows it.
        self.text = text
        #: Each with severity, code, message, primary (file, line, column), help.
        self.messages = messages

    def __bool__(self) -> bool:
        return not any(m.get("severity") == "error" for m in self.messages)

    def __repr__(self) -> str:
        return self.text.rstrip() or "no errors found"


class Causality:
    """Strokes, states and loops."""

    def __init__(self, design: _paynter.Design) -> None:
        self._design = design
        self.text, self.facts, self.conflicts = design.causality()

    text: str
    #: The whole report as plain objects.
    facts: dict[str, Any]
    #: Messages about the strokes; empty if they fit.
    conflicts: str

    @property
    def order(self) -> int:
        """Number of states."""
        return int(self.facts["order"])

    def why(self, name: str) -> str:
        """Why the bonds of an element, or a named bond, have their strokes."""
        return self._design.why(name)

    def steps(self) -> list[tuple[str, list[str]]]:
        """The assignment step by step: each decision, and what follows from it."""
        return self._design.steps()

    def alternatives(self, limit: int = 10) -> str:
        """Other assignments with as few dependent storages."""
        return self._design.alternatives(limit)

    def __repr__(self) -> str:
        return (self.text + self.conflicts).rstrip()


class Equations:
    """Equations, as text and as LaTeX; a notebook shows the latter."""

    def __init__(self, text: str, latex: str, json_text: str) -> None:
        self.text = text
        self.latex = latex
        self._json = json_text

    @property
    def facts(self) -> Any:
        """The equations as plain objects."""
        import json

        return json.loads(self._json)

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_latex_(self) -> str:
        return f"$${self.latex.strip()}$$"


class Picture:
    """A drawing; a notebook shows it."""

    def __init__(self, data: bytes, format: str) -> None:
        self.data = data
        self.format = format

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file."""
        with open(path, "wb") as file:
            file.write(self.data)

    def __repr__(self) -> str:
        return f"<paynter.Picture {self.format}, {len(self.data)} bytes>"

    def _repr_svg_(self) -> str | None:
        return self.data.decode() if self.format == "svg" else None

    def _repr_png_(self) -> bytes | None:
        return self.data if self.format == "png" else None
