"""Models: what can be asked of a text.

Every question is one call of the engine. A model is a value: nothing changes it, `set` gives another one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _paynter
from ._options import (
    count,
    kept,
    names_text,
    number,
    options,
    path_text,
    seconds,
    share,
    texts,
    time_list,
)
from ._paynter import CallError
from ._values import Value, did_you_mean, split_unit, value_text
from .answers import Causality, Check, Equations, Picture
from .export import Exported, Imported, Lagrangian, Rewritten
from .linear import LinearModel, Locus, Margins, Methods, Structure
from .progress import Bar
from .result import Columns, Result, SweepResult, read
from .search import Fit, Optimum, Screening, Sensitivities, TradeOff

#: Inputs, outputs, cuts, wanted curves, the gain of quantisers.
Asked = tuple[str | None, str | None, str | None, str | None, float | None]


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


def explain(code: str | None = None, *, all: bool = False) -> str:
    """What the code of a message means; without one a list of all codes, with `all` every explanation.

    >>> explain("E0301").splitlines()[0]
    'E0301: unknown unit'
    """
    codes = _paynter.codes()
    if all or code is None:
        if code is not None:
            raise CallError("give a code, or all=True, not both")
        return "\n".join(f"{c}: {title}\n\n{text}\n" if all else f"{c}  {title}" for c, title, text in codes)
    if not isinstance(code, str):
        raise TypeError(f"a code is a text such as 'E0301', not {code!r}")
    digits = code.lstrip("EeWw")
    for wanted in (code.upper(), f"E{digits}", f"W{digits}"):
        for found, title, text in codes:
            if found == wanted:
                return f"{found}: {title}\n\n{text}"
    raise CallError(f"there is no message {code!r}{did_you_mean(code.upper(), {c: '' for c, _, _ in codes})}")


def import_urdf(path: str | os.PathLike[str]) -> Imported:
    """Makes a model of a robot in URDF: links, joints, inertias, limits, frames.

    `.model` is the model, `.warnings` says what was not imported.
    """
    name = path_text(path, "")
    try:
        with open(name, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CallError(f"{name} cannot be read: {error}") from None
    made, warnings = _paynter.import_urdf(name, text)
    stem = os.path.splitext(os.path.basename(name))[0]
    return Imported(Model(os.path.abspath(f"{stem}.bond"), made), warnings)


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
        linear: Asked | None = None,
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

    @options
    def causality(self, *, model: str | None = None, experiment: str | None = None) -> Causality:
        """Strokes, states, dependent storages and loops."""
        return Causality(self._design(model, experiment))

    @options
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

    @options
    def diagram(
        self,
        format: str = "svg",
        *,
        model: str | None = None,
        experiment: str | None = None,
        parts: str = "auto",
        scalar: bool = False,
        numbers: bool = False,
        signals: bool = True,
        frames: bool = False,
        theme: str = "auto",
        power: str | float | bool | None = None,
        result: Columns | None = None,
    ) -> Picture:
        """The bond graph as the textbook draws it: svg, png, pdf or tikz.

        `parts` is auto, open or closed; `scalar` draws vector bonds as scalar ones; `frames` shows the assignment of causality step by step;
        `power=True` runs the experiment and shows where power flows on average, `power=0.1` or
        `power="20 [ms]"` at an instant; with a `result` power is taken from its columns.
        """
        when = None
        if power is not None and power is not False:
            when = power if isinstance(power, str) else repr(seconds("power", power))
            when = "mean" if power is True else when
        if result is not None and not isinstance(result, Columns):
            raise TypeError(f"result takes the result of a run, not {result!r}")
        if result is not None and when is None:
            raise CallError("result= belongs to power=: give power=True for the mean")
        shown = self
        if scalar:
            made = _paynter.scalarize(self._path, self._texts(), model=model, experiment=experiment)
            shown = self._with_text(made[0])
        design = shown._design(model, experiment)
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

    @options
    def linearize(
        self,
        *,
        inputs: str | Sequence[str] | None = None,
        outputs: str | Sequence[str] | None = None,
        at: Value = None,
        open_loop: bool = False,
        quantiser_gain: float | None = None,
        model: str | None = None,
        experiment: str | None = None,
    ) -> LinearModel:
        """The linear model at the start, at a time of the run, or where the experiment trims.

        `open_loop` holds still what defines the inputs. Paths through sampled blocks give a model in steps;
        quantisers on them count with the gain `quantiser_gain`.

        >>> m = model("model M { s: Se(1) -> j: 1 -> r: R(2), i: I(4); output w = i.f }")
        >>> linear = m.linearize(outputs="w")
        >>> linear.A, linear.states
        (array([[-0.5]]), ['i.p'])
        """
        gain = number("quantiser_gain", quantiser_gain)
        names = (names_text("inputs", inputs), names_text("outputs", outputs), None, None, gain)
        design = self._design(model, experiment, names)
        return LinearModel(design.linearize(seconds("at", at), bool(open_loop)))

    @options
    def margins(
        self,
        cut: str | Sequence[str],
        *,
        inputs: str | Sequence[str] | None = None,
        outputs: str | Sequence[str] | None = None,
        at: Value = None,
        open_loop: bool = False,
        quantiser_gain: float | None = None,
        model: str | None = None,
        experiment: str | None = None,
    ) -> Margins:
        """Gain, phase and delay margins of the loops at the signals `cut`; with inputs or outputs also of those channels.

        >>> m = globals()["model"]('''model M { s: Se(1) -> j: 1 -> i: I(1), r: R(1); u = 8*(1 - i.f)
        ...     t: Se(u) -> j }''')
        >>> round(m.margins("u").facts["loops"][0]["margins"]["phase_margin_deg"], 2)   # 8/(s + 1)
        97.18
        """
        gain = number("quantiser_gain", quantiser_gain)
        names = (
            names_text("inputs", inputs),
            names_text("outputs", outputs),
            names_text("cut", cut),
            None,
            gain,
        )
        design = self._design(model, experiment, names)
        wants_channels = inputs is not None or outputs is not None
        return Margins(*design.margins(seconds("at", at), bool(open_loop), wants_channels))

    @options
    def locus(
        self,
        cut: str,
        *,
        low: float = 0.001,
        high: float = 1000.0,
        at: Value = None,
        quantiser_gain: float | None = None,
        model: str | None = None,
        experiment: str | None = None,
    ) -> Locus:
        """How the poles of the loop at the signal `cut` move with a factor on its gain, from `low` to `high`.

        >>> m = globals()["model"]('''model M { s: Se(1) -> j: 1 -> i: I(1), r: R(1); u = 8*(1 - i.f)
        ...     t: Se(u) -> j }''')
        >>> m.locus("u", low=1, high=2).branches[0, [0, -1]].real.round(9)
        array([ -9., -17.])
        """
        gain = number("quantiser_gain", quantiser_gain)
        design = self._design(model, experiment, (None, None, names_text("cut", cut), None, gain))
        ends = number("low", low), number("high", high)
        return Locus(*design.locus(seconds("at", at), ends[0] or 0.0, ends[1] or 0.0))

    @options
    def sensitivity(
        self,
        experiment: str | None = None,
        *,
        by: str | Sequence[str] | None = None,
        of: str | Sequence[str] | None = None,
        model: str | None = None,
    ) -> Sensitivities:
        """How quantities follow parameters along the run, exactly, with a ranking.

        `by` names parameters, all of the top model unless given; `of` quantities, what is recorded unless given.

        >>> m = globals()["model"]('''model M { param R1 = 2; s: Se(1) -> j: 1 -> r: R(R1), i: I(1); output w = i.f }
        ... experiment go of M { stop = 1; record w }''')
        >>> found = m.sensitivity(by="R1")
        >>> found.names
        ['w', 'd(w)/d(R1)']
        >>> from math import exp          # w = (1 - exp(-R t))/R
        >>> bool(abs(found["d(w)/d(R1)"][-1] - (exp(-2)/2 - (1 - exp(-2))/4)) < 1e-8)
        True
        """
        names = (names_text("by", by), names_text("of", of), None, None, None)
        design = self._design(model, experiment, names)
        return Sensitivities(*design.sensitivity(by is not None))

    @options
    def screen(
        self,
        ranges: Mapping[str, Any],
        *,
        experiment: str | None = None,
        method: str = "morris",
        size: int | None = None,
        seed: int = 1,
        model: str | None = None,
        jobs: int | None = None,
        progress: Callable[[float], Any] | bool | None = None,
    ) -> Screening:
        """Which parameters the measures depend on over their whole ranges.

        `ranges` has two ends for each name, values as for `set`: ``{"R1 [kohm]": (1, 5)}``. `morris` finds elementary
        effects with `size` ways (20), `sobol` shares of the variance with `size` base points (512) and many runs.

        >>> m = globals()["model"]('''model M { param a = 1, b = 1; s: Se(a + 0.1*b) -> j: 1 -> r: R(1); output w = r.f }
        ... experiment go of M { stop = 1; record w; measure end = final(w) }''')
        >>> found = m.screen({"a": (0, 1), "b": (0, 1)})
        >>> [round(e["size"], 6) for e in found["end"]]
        [1.0, 0.1]
        """
        if not isinstance(ranges, Mapping):
            raise TypeError(f"ranges takes a mapping of names to two ends, not {ranges!r}")
        over = tuple(_range(*split_unit(name), ends) for name, ends in ranges.items())
        if not over:
            raise CallError("ranges has no names; write ranges={'R1': (10, 50)}")
        with Bar(progress) as call:
            told = _paynter.screen(
                self._design(model, experiment, over=(over, True)),
                method=method,
                size=None if size is None else count("size", size, 2, 1_000_000),
                seed=count("seed", seed, 0),
                jobs=None if jobs is None else count("jobs", jobs, 1),
                progress=call,
            )
        return Screening(*told)

    @options
    def structure(
        self,
        question: str = "control",
        *,
        inputs: str | Sequence[str] | None = None,
        outputs: str | Sequence[str] | None = None,
        at: Value = None,
        keep: float | str = 0.99,
        limit: float | str = 0.05,
        instants: int | None = None,
        want: str | Sequence[str] | None = None,
        data: Columns | str | os.PathLike[str] | None = None,
        estimate: str | Sequence[str] | None = None,
        model: str | None = None,
        experiment: str | None = None,
    ) -> Structure:
        """What the structure tells.

        - `control`: controllability and observability, by the structure and with the present numbers
        - `channels`: relative degrees, zeros, decoupling, and the gain of every causal path
        - `activity`: runs the experiment; the energy that every element moved
        - `reduce`: a smaller model that keeps the part `keep` of the activity; `.model` has it
        - `partition`: parts that drive others and hardly feel them: bonds are cut that move less than `limit`
          of what others of their junction do
        - `along`: numeric ranks at so many `instants` of the run
        - `faults`: which are shown, which can be told apart; with `data` the balances at the sensors
          computed on measured columns, `.table` has them
        - `estimate`: sizes of the elements `estimate` from what the `outputs` measured in `data`;
          `.table` has their efforts and flows
        - `inverse`: the inputs that the curves `want` of the outputs need, `.table` has them
        - `bicausal`: the lines along which the graph computes inputs from outputs, and the states left
        - `loops`: the gain of every loop through dependent storages as a formula, over all angles and along the run

        `control`, `activity`, `inverse` and `bicausal` have a picture: `.plot()`.

        >>> m = globals()["model"]("model M { s: Se(1) -> j: 1 -> r: R(2), i: I(4); output w = i.f }")
        >>> m.structure("bicausal", inputs="s.e", outputs="w").facts["integral"]
        []
        """
        if instants is not None and question != "along":
            raise CallError('instants= belongs to the question "along"')
        if want is not None and question != "inverse":
            raise CallError('want= belongs to the question "inverse"')
        if data is not None and question not in ("faults", "estimate"):
            raise CallError('data= belongs to the questions "faults" and "estimate"')
        if (estimate is not None) != (question == "estimate"):
            raise CallError('the question "estimate" and estimate="damper" belong together')
        if question == "inverse" and want is None:
            raise CallError('name the target curves of the outputs: want="sin(time)"')
        names = (
            names_text("inputs", inputs),
            names_text("outputs", outputs),
            None,
            names_text("want", want),
            None,
        )
        if isinstance(data, (str, os.PathLike)):
            data = read(data)
        if data is not None and not isinstance(data, Columns):
            raise TypeError(f"data takes the path of a table or a result, not {data!r}")
        told = _paynter.structure(
            self._design(model, experiment, names),
            question,
            at=seconds("at", at),
            share=share("limit", limit) if question == "partition" else share("keep", keep),
            instants=2 if instants is None else count("instants", instants, 2, 1000),
            data=None if data is None else data._table,
            elements=(names_text("estimate", estimate) or "").replace(" ", "").split(","),
        )
        text, json_text, warnings, table, smaller, picture = told
        return Structure(
            text,
            json_text,
            warnings,
            None if table is None else Columns(table),
            None if smaller is None else self._with_text(smaller),
            picture,
        )

    @options
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
        with Bar(progress) as call, kept(Result):
            run = design.run(engine=engine, times=time_list(times), progress=call)
        return Result(run)

    @options
    def sweep(
        self,
        experiment: str | None = None,
        *,
        over: Mapping[str, Any] | None = None,
        paired: bool = False,
        draws: Columns | str | os.PathLike[str] | None = None,
        curves: bool = False,
        timed: bool = False,
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
        that fails is a row with its reason. Values may be drawn as in the language, correlated where that is
        said: ``over={"k": "latin(50, mean = 4, deviation = 0.4)", "b": "latin(50, mean = 1, deviation = 0.1,
        with = k, correlation = 0.7)"}``; `draws` is a table, or its file, with a row for each run. Samples have
        `.statistics`.

        `curves` keeps what every run records: `.curves`, `.bands`, `.family()`; `timed` adds steps and run times
        to the table. `.plot_measures()` draws the measures.

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
                cluster.Task(
                    self, experiment, model, over, bool(paired), engine, draws, bool(curves), bool(timed)
                ),
                cluster.Workers(jobs, executor, client, shards, out),
                call,
            )

    @options
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
        with Bar(progress) as call, kept(lambda found: Optimum(found, self)):
            found = _paynter.optimize(
                design,
                starts=count("starts", starts, 0),
                is_local=bool(local),
                max_runs=None if max_runs is None else count("max_runs", max_runs, 1),
                seed=count("seed", seed, 0),
                jobs=None if jobs is None else count("jobs", jobs, 1),
                engine=engine,
                progress=call,
            )
        return Optimum(found, self)

    @options
    def pareto(
        self,
        experiment: str | None = None,
        *,
        points: int = 11,
        starts: int = 10,
        local: bool = False,
        max_runs: int | None = None,
        seed: int = 1,
        model: str | None = None,
        engine: str = "auto",
        jobs: int | None = None,
        progress: Callable[..., Any] | bool | None = None,
    ) -> TradeOff:
        """What one of the two objectives of the experiment's `optimize` costs in terms of the other, at so many `points`.

        Searched as by `optimize`. `RunError` is raised where no point meets the conditions, `Interrupted` on
        Ctrl-C; its `result` holds what was found.

        >>> m = model('''model M { param x = 0.5; s: Se(x) -> j: 1 -> r: R(1); output w = r.f }
        ... experiment go of M { stop = 1; record w; measure a = final(w)^2, b = (final(w) - 1)^2
        ...     optimize x in 0 .. 1 { minimize a, b } }''')
        >>> front = m.pareto(points=3, local=True, starts=2)
        >>> bool(abs(front["a"]**0.5 + front["b"]**0.5 - 1).max() < 1e-3)   # the curve is exact
        True
        """
        design = self._design(model, experiment)
        with Bar(progress) as call, kept(lambda found: TradeOff(*found)):
            found = _paynter.trade_off(
                design,
                count("points", points, 2, 1000),
                starts=count("starts", starts, 0),
                is_local=bool(local),
                max_runs=None if max_runs is None else count("max_runs", max_runs, 1),
                seed=count("seed", seed, 0),
                jobs=None if jobs is None else count("jobs", jobs, 1),
                engine=engine,
                progress=call,
            )
        return TradeOff(*found)

    @options
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
        with Bar(progress) as call, kept(lambda found: Fit(found, self)):
            found = _paynter.fit(
                design,
                starts=count("starts", starts, 1),
                jobs=None if jobs is None else count("jobs", jobs, 1),
                engine=engine,
                progress=call,
            )
        return Fit(found, self)

    @options
    def compare_methods(
        self,
        experiment: str | None = None,
        *,
        model: str | None = None,
        progress: Callable[[float], Any] | bool | None = None,
    ) -> Methods:
        """Runs an experiment with every method of handling constraints, side by side.

        minimal coordinates, implicit equations, Lagrange multipliers, and stiff springs: work, and how
        far their curves and locks are apart.
        """
        design = self._design(model, experiment)
        with Bar(progress) as call:
            return Methods(*_paynter.compare_methods(design, progress=call))

    @options
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

    @options
    def simplify(
        self, model: str | None = None, *, only: str | Sequence[str] | None = None
    ) -> Rewritten:
        """The model with fewer junctions and elements, with its proof.

        `only` names the rules to apply: zero, idle, ring, merge, junction, chain, over, motor, parallel.

        >>> m = globals()["model"]("model M { s: Se(1) -> j: 1 -> a: R(2), b: R(3), i: I(1); output w = i.f }")
        >>> found = m.simplify(only="parallel")
        >>> found.steps[0][0], found.proof["largest"] < 1e-9
        ('parallel', True)
        """
        self._needs_own_values("simplify")
        rules = texts("only", only)
        return self._rewritten(
            _paynter.simplify(self._path, self._texts(), model=model, only=rules)
        )

    @options
    def reduce(
        self,
        model: str | None = None,
        *,
        experiment: str | None = None,
        cyclic: str | Sequence[str] | None = None,
        assume: str | Sequence[str] | None = None,
        minimal: bool = False,
        inertia: str | Sequence[str] | None = None,
        activity: float | str | None = None,
    ) -> Rewritten:
        """The model without coordinates whose momentum is conserved, with its proof.

        `cyclic` names them, all that can be unless given. With `assume`, such as ``"turn.f = 0"``, the model under that
        assumption, with the error that it makes in each experiment. With `minimal`, dependent inertias are moved over
        transformers to the velocities they follow from: all of them, or those that `inertia` names. With `activity`, such as
        ``"99%"``, the experiment is run and elements are left out that move little energy, so that this share is kept; nothing
        is proved then, and the last lines have the errors of what is recorded.
        """
        self._needs_own_values("reduce")
        if activity is not None:
            if minimal or cyclic is not None or assume is not None or inertia is not None:
                raise CallError("give activity= without cyclic=, assume=, minimal= and inertia=")
            return self._by_activity(model, experiment, activity)
        if minimal and (cyclic is not None or assume is not None):
            raise CallError("give minimal= without cyclic= and assume=")
        if inertia is not None and not minimal:
            raise CallError("inertia= names what minimal=True moves; give both")
        if cyclic is not None and assume is not None:
            raise CallError("give cyclic= or assume=, not both")
        return self._rewritten(
            _paynter.reduce(
                self._path,
                self._texts(),
                model=model,
                experiment=experiment,
                cyclic=texts("cyclic", cyclic),
                assume=texts("assume", assume),
                minimal=texts("inertia", inertia) if minimal else None,
            )
        )

    @options
    def scalarize(self, model: str | None = None) -> Rewritten:
        """The model with vector bonds as scalar ones, with its proof."""
        self._needs_own_values("scalarize")
        return self._rewritten(_paynter.scalarize(self._path, self._texts(), model=model))

    def _needs_own_values(self, call: str) -> None:
        """A rule may hold for the value of the text and not for another."""
        if self._changes:
            names = ", ".join(self._changes)
            raise CallError(f"{call}() works on the text, and {names} was set beside it; write the values into the text")

    def _by_activity(self, model: str | None, experiment: str | None, keep: float | str) -> Rewritten:
        """What moved little energy in a run is left out; errors stand in place of a proof."""
        found = self.structure("reduce", keep=keep, model=model, experiment=experiment)
        assert found.model is not None
        steps = [
            ("activity", f"{e['name']} at {e['junction']}: {e['change']}, {100*e['share']:.3g} % of the activity")
            for e in found.facts["left_out"]
        ]
        kept = [f"{name} stays: {why}" for name, why in found.facts["kept"]]
        return Rewritten(found.model, steps, {}, kept, found.text.rstrip().split("\n"), None)

    def _rewritten(self, told: _paynter._Rewritten) -> Rewritten:
        text, steps, names, refused, lines, proof = told
        facts = None
        if proof is not None:
            line, largest, n_points, runs = proof
            facts = {"line": line, "largest": largest, "points": n_points, "runs": runs}
        return Rewritten(self._with_text(text), steps, dict(names), refused, lines, facts)

    @options
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
        design = self._design(model, experiment, (None, None, None, None, None))
        where = path_text(path, f"{design.model.lower()}.fmu")
        warnings, platform = _paynter.export_fmu(
            design, where, fmi=count("fmi", fmi, 2, 3), sources_only=bool(sources_only)
        )
        return Exported([where], warnings, platform)

    @options
    def export_c(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        single: bool = False,
        model: str | None = None,
        experiment: str | None = None,
    ) -> Exported:
        """Writes the model in C99, a source and a header; `single` for single precision."""
        design = self._design(model, experiment, (None, None, None, None, None))
        where = path_text(path, f"{design.model.lower()}.c")
        warnings, header = _paynter.export_c(design, where, is_float=bool(single))
        return Exported([where, os.fspath(header)], warnings)

    @options
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


def _range(name: str, unit: str, ends: Any) -> str:
    """A range as a sweep over its two ends."""
    if isinstance(ends, str) or not hasattr(ends, "__len__") or len(ends) != 2:
        raise CallError(f"{name} takes the two ends of a range such as (10, 50), not {ends!r}")
    low, high = (value_text(end) for end in ends)
    return f"{name} in [{low}, {high}]" + (f" [{unit}]" if unit else "")
