"""Models: what can be asked of a text.

Every question is one call of the engine. A model is a value: nothing changes it, `set` gives another one.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _paynter
from ._paynter import CallError
from ._values import (
    Value,
    did_you_mean,
    is_quantity,
    refuse_unknown,
    si_quantity,
    split_unit,
    value_text,
)
from .export import Exported, Lagrangian
from .linear import LinearModel, Margins, Methods, Structure
from .progress import Bar
from .result import Columns, Result, SweepResult, read
from .search import Fit, Optimum

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

    A folder with several files has the others under their own names: ``gallery("linear_servo")``.

    >>> "gyroscope" in gallery()
    True
    """
    texts: dict[str, str] = {}
    mains: dict[str, str] = {}
    others: dict[str, str] = {}
    for folder, files in _paynter.gallery():
        for below, text in files:
            path = os.path.abspath(os.path.join("gallery", folder, below))
            texts[path] = text
            if below.endswith(".bond"):
                stem = os.path.basename(below)[: -len(".bond")]
                others[stem] = path
                if folder not in mains or stem == folder:
                    mains[folder] = path
    if name is None:
        return sorted(mains)
    found = mains.get(name) or others.get(name)
    if found is None:
        raise CallError(f"the gallery has no {name!r}{did_you_mean(name, {**others, **mains})}")
    return Model(found, texts[found], others=texts)


def doc(part: str | None = None, *, file: str | os.PathLike[str] | None = None) -> str:
    """The page of a part of the library, or of a file: ports, parameters, an example; without a name, all parts.

    >>> print(doc("DcMotor").splitlines()[0])
    DcMotor    use electromechanical: DcMotor
    """
    where = None if file is None else os.fsdecode(file)
    if part is not None:
        if not isinstance(part, str):
            raise TypeError(f"a part has a name, not {part!r}")
        return _paynter.doc(part, where)
    rows = _paynter.all_parts(where)
    return "\n".join(f"{library + '.' + name:32} {line}".rstrip() for library, name, line in rows)


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

    def _with_text(self, text: str, without: Iterable[str] = ()) -> Model:
        """The same file with another text, and some of the changed values as the text has them."""
        kept = {name: value for name, value in self._changes.items() if name not in set(without)}
        return Model(self._path, text, kept, self._others)

    def _texts(self) -> dict[str, str]:
        return {**self._others, self._path: self._text}

    def _design(
        self,
        model: str | None = None,
        experiment: str | None = None,
        linear: tuple[str | None, str | None, str | None, str | None] | None = None,
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
        return self._with_text(_paynter.format(self._path, self._text))

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
        """The equations in the model's own names.

        `form` is state, dae, blocks, matrix, lagrange (T, V, D and the equations of Euler and
        Lagrange) or hamiltonian (H, J, R, g).
        """
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
        result: Columns | None = None,
    ) -> Picture:
        """The bond graph as the textbook draws it: svg, png, pdf or tikz.

        `parts` is auto, open or closed; `frames` shows the assignment of causality step by step;
        `power=True` runs the experiment and shows where power flows on average, `power=0.1` or
        `power="20 [ms]"` at an instant; with a `result` power is taken from its columns.
        """
        when = None
        if power is not None and power is not False:
            when = power if isinstance(power, str) else repr(_seconds("power", power))
            when = "mean" if power is True else when
        if result is not None and not isinstance(result, Columns):
            raise TypeError(f"result takes the result of a run, not {result!r}")
        if result is not None and when is None:
            raise CallError("result= belongs to power=: give power=True for the mean")
        design = self._design(model, experiment)
        drawn = design.diagram(
            format,
            parts=parts,
            numbers=numbers,
            signals=signals,
            frames=frames,
            theme=theme,
            power=when,
            result=None if result is None else result._table,
        )
        return Picture(drawn, format)

    @_options
    def linearize(
        self,
        *,
        inputs: str | Sequence[str] | None = None,
        outputs: str | Sequence[str] | None = None,
        at: Value = None,
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
        names = (_names("inputs", inputs), _names("outputs", outputs), None, None)
        design = self._design(model, experiment, names)
        return LinearModel(design.linearize(_seconds("at", at), bool(open_loop)))

    @_options
    def margins(
        self,
        cut: str | Sequence[str],
        *,
        inputs: str | Sequence[str] | None = None,
        outputs: str | Sequence[str] | None = None,
        at: Value = None,
        open_loop: bool = False,
        model: str | None = None,
        experiment: str | None = None,
    ) -> Margins:
        """Gain, phase and delay margins of the loops at the signals `cut`."""
        names = (_names("inputs", inputs), _names("outputs", outputs), _names("cut", cut), None)
        design = self._design(model, experiment, names)
        wants_channels = inputs is not None or outputs is not None
        return Margins(*design.margins(_seconds("at", at), bool(open_loop), wants_channels))

    @_options
    def structure(
        self,
        question: str = "control",
        *,
        inputs: str | Sequence[str] | None = None,
        outputs: str | Sequence[str] | None = None,
        at: Value = None,
        keep: float = 0.99,
        want: str | Sequence[str] | None = None,
        data: Columns | str | os.PathLike[str] | None = None,
        model: str | None = None,
        experiment: str | None = None,
    ) -> Structure:
        """What the structure tells.

        - `control`: controllability and observability, by the structure and with the present numbers
        - `channels`: relative degrees, zeros, decoupling, and the gain of every causal path
        - `activity`: runs the experiment; the energy that every element moved
        - `reduce`: a smaller model that keeps the part `keep` of the activity; `.model` has it
        - `faults`: which are shown, which can be told apart; with `data` the balances at the sensors
          computed on measured columns, `.table` has them
        - `inverse`: the inputs that the curves `want` of the outputs need, `.table` has them
        - `bicausal`: the lines along which the graph computes inputs from outputs, and the states left
        - `loops`: the gain of every loop through dependent storages
        """
        if want is not None and question != "inverse":
            raise CallError('want= belongs to the question "inverse"')
        if data is not None and question != "faults":
            raise CallError('data= belongs to the question "faults"')
        if question == "inverse" and want is None:
            raise CallError('name the wanted curves of the outputs: want="sin(time)"')
        names = (
            _names("inputs", inputs),
            _names("outputs", outputs),
            None,
            _names("want", want),
        )
        if isinstance(data, (str, os.PathLike)):
            data = read(data)
        if data is not None and not isinstance(data, Columns):
            raise TypeError(f"data takes the path of a table or a result, not {data!r}")
        told = _paynter.structure(
            self._design(model, experiment, names),
            question,
            at=_seconds("at", at),
            keep=_share("keep", keep),
            data=None if data is None else data._table,
        )
        text, json_text, warnings, table, smaller = told
        return Structure(
            text,
            json_text,
            warnings,
            None if table is None else Columns(table),
            None if smaller is None else self._with_text(smaller),
        )

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

        `times` records at these times: numbers in s, texts with units, or a pint quantity. `progress` is
        called with the share that is done; `True` is a bar, which a notebook shows by itself. `RunError` is raised if the solver gives up, `Interrupted` on Ctrl-C; the
        `result` of both holds what was computed until then.
        """
        design = self._design(model, experiment)
        with Bar(progress) as call, _kept(Result):
            run = design.run(engine=engine, times=_times(times), progress=call)
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

        with Bar(progress) as call:
            return cluster.sweep(
                cluster.Task(self, experiment, model, over, bool(paired), engine),
                cluster.Workers(jobs, executor, client, shards, out),
                call,
            )

    @_options
    def optimize(
        self,
        experiment: str | None = None,
        *,
        starts: int = 10,
        local: bool = False,
        max_runs: int | None = None,
        seed: int = 1,
        model: str | None = None,
        engine: str = "auto",
        jobs: int | None = None,
        progress: Callable[..., Any] | bool | None = None,
    ) -> Optimum:
        """Searches the values that the experiment's `optimize` asks for.

        `starts` descents and, unless `local`, an evolution; equal seeds give equal answers. `progress`
        is called with the number of runs and the best value so far. `RunError` is raised where no
        point meets the conditions, `Interrupted` on Ctrl-C; the `result` of both holds the best point.

        >>> m = model('''model M { param R1 = 2; s: Se(1) -> j: 1 -> r: R(R1), i: I(1); output w = i.f }
        ... experiment go of M { stop = 30; record w; measure e = abs(final(w) - 0.4)
        ...     optimize R1 in 1 .. 9 { minimize e } }''')
        >>> round(m.optimize(local=True, starts=2).values["R1"], 3)
        2.5
        """
        design = self._design(model, experiment)
        with Bar(progress) as call, _kept(lambda found: Optimum(found, self)):
            found = _paynter.optimize(
                design,
                starts=_count("starts", starts, 0),
                is_local=bool(local),
                max_runs=None if max_runs is None else _count("max_runs", max_runs, 1),
                seed=_count("seed", seed, 0),
                jobs=None if jobs is None else _count("jobs", jobs, 1),
                engine=engine,
                progress=call,
            )
        return Optimum(found, self)

    @_options
    def fit(
        self,
        experiment: str | None = None,
        *,
        starts: int = 5,
        model: str | None = None,
        engine: str = "auto",
        jobs: int | None = None,
        progress: Callable[..., Any] | bool | None = None,
    ) -> Fit:
        """Finds the parameters that the experiment's `fit` names from its measured data, with intervals."""
        design = self._design(model, experiment)
        with Bar(progress) as call, _kept(lambda found: Fit(found, self)):
            found = _paynter.fit(
                design,
                starts=_count("starts", starts, 1),
                jobs=None if jobs is None else _count("jobs", jobs, 1),
                engine=engine,
                progress=call,
            )
        return Fit(found, self)

    @_options
    def compare_methods(
        self,
        experiment: str | None = None,
        *,
        model: str | None = None,
        progress: Callable[[float], Any] | bool | None = None,
    ) -> Methods:
        """Runs an experiment under every treatment of its locks, side by side.

        minimal coordinates, implicit equations, Lagrange multipliers, and stiff springs: work, and how
        far their curves and locks are apart.
        """
        design = self._design(model, experiment)
        with Bar(progress) as call:
            return Methods(*_paynter.compare_methods(design, progress=call))

    @_options
    def lagrangian(self, model: str | None = None, *, gyrators: str = "ring") -> Lagrangian:
        """The bond graphs of the `lagrangian` blocks of the text, or of one, with their proof.

        `gyrators` says where they are put: ring, factored or coordinate.

        >>> swing = globals()["model"]('''lagrangian Swing { param m = 1 [kg], l = 2 [m], g = 9.81 [m/s^2]
        ...     coordinate phi [rad]
        ...     kinetic bob = 0.5*m*(l*der(phi))^2
        ...     potential weight = -m*g*l*cos(phi) }''')
        >>> found = swing.lagrangian()
        >>> found.model.causality().order, found.proofs[0]["holds"]
        (2, True)
        """
        if model is not None and not isinstance(model, str):
            raise TypeError(f"model is a name, not {model!r}")
        text, found = _paynter.lagrangian(
            self._path, self._texts(), model=model, gyrators=gyrators
        )
        keys = ("name", "line", "largest", "points", "holds", "gyrators", "cyclic", "singular")
        proofs = [dict(zip(keys, one, strict=True)) for one in found]
        for proof in proofs:
            if not proof["holds"]:
                raise CallError(f"the graph is not equal to the Lagrangian: {proof['line']}")
        return Lagrangian(self._with_text(text), proofs)

    @_options
    def export_fmu(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        fmi: int = 2,
        sources_only: bool = False,
        model: str | None = None,
        experiment: str | None = None,
    ) -> Exported:
        """Writes a functional mock-up unit, Model Exchange and Co-Simulation in one file.

        `fmi` is the version of the standard, 2 or 3. Without a C compiler the FMU has sources only.
        """
        design = self._design(model, experiment, (None, None, None, None))
        where = _path(path, f"{design.model.lower()}.fmu")
        warnings, platform = _paynter.export_fmu(
            design, where, fmi=_count("fmi", fmi, 2, 3), sources_only=bool(sources_only)
        )
        return Exported([where], warnings, platform)

    @_options
    def export_c(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        single: bool = False,
        model: str | None = None,
        experiment: str | None = None,
    ) -> Exported:
        """Writes the model in C99, a source and a header; `single` for single precision."""
        design = self._design(model, experiment, (None, None, None, None))
        where = _path(path, f"{design.model.lower()}.c")
        warnings, header = _paynter.export_c(design, where, is_float=bool(single))
        return Exported([where, os.fspath(header)], warnings)

    @_options
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


def _seconds(option: str, value: Any) -> float | None:
    """A time: a number in s, a text such as "20 [ms]", or a pint quantity."""
    if value is None:
        return None
    if is_quantity(value):
        number, unit = si_quantity(value)
        if unit != "s":
            raise CallError(f"{option} takes a time, not {value}")
        return float(number)
    if isinstance(value, str) and "[" in value:
        return _paynter.seconds(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f'{option} takes a number in s or a text such as "20 [ms]", not {value!r}') from None


def _times(times: Any) -> list[float] | None:
    if times is None:
        return None
    if is_quantity(times):
        times, unit = si_quantity(times)
        if unit != "s":
            raise CallError(f"times takes times, not values in {unit or 'no unit'}")
    array = np.asarray(times)
    if array.ndim == 1 and array.dtype.kind == "U":
        return [_seconds("times", str(t)) or 0.0 for t in array]
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise TypeError(f"times takes a list of numbers in s, not {times!r}")
    return [float(t) for t in array]


def _count(option: str, value: Any, low: int, high: int | None = None) -> int:
    is_count = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    limit = f"from {low} to {high}" if high is not None else f"not below {low}"
    if not is_count or value < low or (high is not None and value > high):
        raise CallError(f"{option} takes a whole number {limit}, not {value!r}")
    return int(value)


def _share(option: str, value: Any) -> float:
    """A part of one: 0.99, or "99%"."""
    text = value.strip().removesuffix("%") if isinstance(value, str) else value
    try:
        number = float(text)
    except (TypeError, ValueError):
        raise CallError(f'{option} takes a part such as 0.99 or "99%", not {value!r}') from None
    return number / 100 if isinstance(value, str) and value.strip().endswith("%") else number


def _path(path: Any, usual: str) -> str:
    if path is None:
        if os.path.exists(usual):
            raise CallError(f"{usual} is there already; name the file to write")
        return usual
    try:
        return os.fsdecode(path)
    except TypeError:
        raise TypeError(f"a path is a text, not {type(path).__name__}") from None


@contextlib.contextmanager
def _kept(wrap: Callable[[Any], Any]) -> Iterator[None]:
    """What was found before a search ended reaches the caller in the exception, as if it had ended well."""
    try:
        yield
    except (_paynter.RunError, _paynter.Interrupted) as error:
        if hasattr(error, "result"):
            error.result = wrap(error.result)
        raise


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
